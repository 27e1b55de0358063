"""The pictures of where samples differ: the witness as a map of two columns; and samples in a plane."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable
from twosample.show.numbers import number, ticks
from twosample.show.report.panel_charts import tick_names
from twosample.show.report.svg import Canvas, Chart
from twosample.show.sample_panels import SURE, listed

if TYPE_CHECKING:
    from twosample.inference.pictures import ShownPlane
    from twosample.inference.witness import Driver

__all__ = ["samples_in_plane", "witness_cells", "witness_map"]


# The levels of the two columns of a plane, empty for numbers.
PlaneLevels = tuple[tuple[str, ...], tuple[str, ...]]

_PLANE = (440.0, 380.0)
_SHADES = 9
_MOST_PLACES = 3
_TABLE_ROWS = 21
_LARGEST_DOT = 7.0


def samples_in_plane(
    plane: ShownPlane,
    rows: tuple[int, int],
    names: tuple[str, str],
    labels: tuple[str, str],
    outside: str,
    levels: PlaneLevels = ((), ()),
) -> Chart:
    """A dot for each sample in each cell of a plane, as large as its rows are many.

    `levels` are those of the two columns, where they are of categories.
    """
    said = f"Rows of {names[0]} and {names[1]} counted in cells of {labels[0]} and {labels[1]}."
    canvas = _plane_canvas(f"The samples: {labels[0]} and {labels[1]}", said, plane)
    _dots(canvas, plane, 1.0)
    _plane_axes(canvas, plane, labels, levels)
    legend = tuple((f"{kind}-dot", f"{name} ({n:,} rows)") for kind, name, n in zip("xy", names, rows, strict=True))
    order = np.argsort(-plane.counts.sum(axis=0), kind="stable")[:_TABLE_ROWS]
    table = [
        (_value(a, levels[0]), _value(b, levels[1]), str(x), str(y))
        for (a, b), x, y in zip(plane.centers[order].tolist(), *plane.counts[:, order].tolist(), strict=True)
    ]
    note = "A dot for each cell, as large as its rows are many. The table has the fullest cells."
    head = (*labels, f"rows of {names[0]}", f"rows of {names[1]}")
    title = f"{labels[0]} and {labels[1]}"
    return Chart(title, canvas.markup(), legend, head, table, f"{note} {outside}".strip())


def _plane_canvas(title: str, said: str, plane: ShownPlane) -> Canvas:
    first, second = ((float(low), float(high)) for low, high in plane.limits)
    return Canvas(title, said, first, second, numbered=True, size=_PLANE)


def _plane_axes(canvas: Canvas, plane: ShownPlane, labels: tuple[str, str], levels: PlaneLevels = ((), ())) -> None:
    _axes(canvas, [tuple(limits) for limits in plane.limits.tolist()], labels, levels)


def _axes(canvas: Canvas, limits: list[tuple[float, float]], labels: tuple[str, str], levels: PlaneLevels) -> None:
    across, up = (
        tick_names(names) if names else (ticks(*ends), None) for ends, names in zip(limits, levels, strict=True)
    )
    canvas.up(*up)
    canvas.text(canvas.left + 5.0, canvas.top + 12.0, f"↑ {labels[1]}", "label strong", "start")
    canvas.across(labels[0], *across)


def _value(value: float, levels: tuple[str, ...]) -> str:
    """A number, or the name of the level that has it for a code."""
    return printable(levels[min(max(round(value), 0), len(levels) - 1)]) if levels else number(value)


def _dots(canvas: Canvas, plane: ShownPlane, size: float) -> None:
    largest = min(_LARGEST_DOT, 0.62 * (canvas.right - canvas.left) / max(len(plane.first), 1))
    unit = max(int(plane.counts.max(initial=1)), 1)
    aside = 0.17 * (canvas.right - canvas.left) / max(len(plane.first), 1)
    for counts, kind, side in zip(plane.counts, "xy", (-1, 1), strict=True):
        there = counts > 0
        at = plane.centers[there]
        radius = size * np.maximum(largest * np.sqrt(counts[there] / unit), 0.9)
        canvas.dots(at[:, 0], at[:, 1], radius, f"{kind}-dot", side * min(aside, 4.0))


def witness_map(
    driver: Driver,
    plane: ShownPlane | None,
    names: tuple[str, str],
    labels: tuple[str, str],
    levels: PlaneLevels = ((), ()),
) -> Chart:
    """The witness over two columns as shades, with a line around where it is surely not zero; `levels` as above."""
    reach = NormalDist().inv_cdf(0.5 + 0.5 * SURE) * driver.sd
    side = np.where(driver.mean - reach > 0.0, 1, np.where(driver.mean + reach < 0.0, 2, 0))
    edges = [_edges(places) for places in driver.grid]
    said = _map_in_words(side, driver.grid, names, labels, levels)
    title = f"Where they differ: {labels[0]} and {labels[1]}"
    limits = [(float(places[0]), float(places[-1])) for places in driver.grid]
    canvas = Canvas(title, said, limits[0], limits[1], numbered=True, size=_PLANE)
    clipped = [np.clip(one, *limit) for one, limit in zip(edges, limits, strict=True)]
    _shades(canvas, driver.mean, driver.sd, clipped[0], clipped[1])
    outline = _outline(side, clipped[0], clipped[1])
    if len(outline):
        canvas.strokes(outline, "ink-line")
    if plane is not None:
        _dots(canvas, plane, 0.35)
    _axes(canvas, limits, labels, levels)
    legend = (
        ("x-bar", f"more {names[0]}"),
        ("y-bar", f"more {names[1]}"),
        ("ink-line", "inside: surely not zero (95 %)"),
    )
    head = (*labels, "mean of the witness", "95 % from", "to")
    return Chart(f"{labels[0]} and {labels[1]}", canvas.markup(), legend, head, _map_table(driver, reach, levels), said)


def _map_table(driver: Driver, reach: Array, levels: PlaneLevels) -> list[tuple[str, ...]]:
    """The witness at a few places along each column."""
    some = [np.unique(np.linspace(0, len(places) - 1, 5).round().astype(int)) for places in driver.grid]
    return [
        (
            _value(float(driver.grid[0][i]), levels[0]),
            _value(float(driver.grid[1][j]), levels[1]),
            number(float(driver.mean[i, j])),
            number(float(driver.mean[i, j] - reach[i, j])),
            number(float(driver.mean[i, j] + reach[i, j])),
        )
        for i in some[0]
        for j in some[1]
    ]


def _edges(places: Array) -> Array:
    middles = 0.5 * (places[1:] + places[:-1])
    return np.concatenate([places[:1], middles, places[-1:]])


def _shades(canvas: Canvas, mean: Array, sd: Array, first: Array, second: Array) -> None:
    """Cells of the two colours, the paler the smaller the witness beside its uncertainty; runs of a shade as one."""
    reach = max(float(np.abs(mean).max()), 2.0 * float(np.quantile(sd, 0.9)), float(np.finfo(float).tiny))
    shade = np.rint(_SHADES * mean / reach).astype(int)
    boxes: dict[int, list[tuple[float, float, float, float]]] = {}
    for i, column in enumerate(shade):
        for part in np.split(np.arange(len(column)), np.flatnonzero(np.diff(column)) + 1):
            value = int(column[part[0]])
            if value:
                corners = (first[i], first[i + 1], second[part[0]], second[part[-1] + 1])
                boxes.setdefault(value, []).append(tuple(map(float, corners)))  # type: ignore[arg-type]
    for value, corners_of in sorted(boxes.items()):
        canvas.boxes(np.array(corners_of), "x-shade" if value > 0 else "y-shade", 0.9 * abs(value) / _SHADES)


def _outline(side: Array, first: Array, second: Array) -> Array:
    """Lines between cells that are surely not zero and those that are not."""
    lines = []
    for i, j in np.argwhere(np.diff(side, axis=0)):
        lines.append((first[i + 1], second[j], first[i + 1], second[j + 1]))
    for i, j in np.argwhere(np.diff(side, axis=1)):
        lines.append((first[i], second[j + 1], first[i + 1], second[j + 1]))
    return np.array(lines, dtype=float).reshape(-1, 4)


def _range_in_words(label: str, first: float, last: float, levels: tuple[str, ...]) -> str:
    """A range along a column, or the levels in it."""
    if not levels:
        return f"{label} from {first:.2g} to {last:.2g}"
    codes = range(max(round(first), 0), min(round(last), len(levels) - 1) + 1)
    return f"{label} {listed([printable(levels[code]) for code in codes] or [_value(first, levels)])}"


def _map_in_words(
    side: Array, grid: Array, names: tuple[str, str], labels: tuple[str, str], levels: PlaneLevels = ((), ())
) -> str:
    """Where the witness is surely not zero: the largest regions by the ranges they span."""
    from scipy import ndimage

    found = []
    for which in (1, 2):
        regions, _ = ndimage.label(side == which)
        for number_of, where in enumerate(ndimage.find_objects(regions), 1):
            cells = int(np.count_nonzero(regions[where] == number_of))
            ranges = [
                _range_in_words(label, float(places[part.start]), float(places[part.stop - 1]), of)
                for label, places, part, of in zip(labels, grid, where, levels, strict=True)
            ]
            found.append((cells, f"more of {names[which - 1]} within {' and '.join(ranges)}"))
    if not found:
        return "Nowhere is the witness surely different from zero: its 95 % band always holds zero."
    found.sort(key=lambda one: -one[0])
    said = "; ".join(words for _, words in found[:_MOST_PLACES])
    more = "; and in smaller places" if len(found) > _MOST_PLACES else ""
    return f"Surely {said}{more} (the 95 % band leaves out zero there)."


def witness_cells(plane: ShownPlane, names: tuple[str, str], labels: tuple[str, str]) -> Chart:
    """The witness on principal axes, at the cells that are not empty; pale where it may be zero."""
    assert plane.witness is not None
    mean, sd = plane.witness
    reach = NormalDist().inv_cdf(0.5 + 0.5 * SURE) * sd
    clear = np.abs(mean) > reach
    said = (
        f"The witness is surely not zero in {int(clear.sum())} of {len(mean)} cells (large dots)."
        if clear.any()
        else "Nowhere is the witness surely different from zero: its 95 % band always holds zero."
    )
    canvas = _plane_canvas("Where they differ", said, plane)
    largest = min(_LARGEST_DOT, 0.45 * (canvas.right - canvas.left) / max(len(plane.first), 1))
    for kind, there in (("x-dot", mean > 0.0), ("y-dot", mean <= 0.0)):
        at = plane.centers[there]
        canvas.dots(at[:, 0], at[:, 1], np.where(clear[there], largest, 0.35 * largest), kind)
    _plane_axes(canvas, plane, labels)
    order = np.argsort(-np.abs(mean), kind="stable")[:_TABLE_ROWS]
    table = [
        tuple(map(number, (a, b, float(mean[i]), float(mean[i] - reach[i]), float(mean[i] + reach[i]))))
        for i, (a, b) in zip(order, plane.centers[order].tolist(), strict=True)
    ]
    legend = (("x-dot", f"more {names[0]}"), ("y-dot", f"more {names[1]}"))
    head = (*labels, "mean of the witness", "95 % from", "to")
    return Chart("On principal axes", canvas.markup(), legend, head, table, said)
