"""The pictures of where samples differ: the witness as a map of two columns; and samples in a plane."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable
from twosample.show.numbers import number, ticks
from twosample.show.question_panels import TABLE_ROWS, some_places
from twosample.show.report.panel_charts import tick_names
from twosample.show.report.svg import Canvas, Chart
from twosample.show.sample_panels import band, largest_shown, listed, sure_sides

if TYPE_CHECKING:
    from twosample.inference.pictures import ShownPlane
    from twosample.inference.witness import Driver

__all__ = ["samples_in_plane", "witness_cells", "witness_map"]


# The levels of the two columns of a plane, empty for numbers.
PlaneLevels = tuple[tuple[str, ...], tuple[str, ...]]

_PLANE = (440.0, 380.0)
_SHADES = 9
_MOST_PLACES = 3
_WITNESS_HEAD = ("mean of the witness", "95 % from", "to")
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
    title = f"{labels[0]} and {labels[1]}"
    said = f"Rows of {names[0]} and {names[1]} counted in cells of {title}."
    canvas = _canvas(f"The samples: {title}", said, plane.limits)
    _dots(canvas, plane, 1.0)
    _axes(canvas, plane.limits, labels, levels)
    legend = tuple((f"{kind}-dot", f"{name} ({n:,} rows)") for kind, name, n in zip("xy", names, rows, strict=True))
    order = np.argsort(-plane.counts.sum(axis=0), kind="stable")[:TABLE_ROWS]
    table = [
        (_value(a, levels[0]), _value(b, levels[1]), str(x), str(y))
        for (a, b), x, y in zip(plane.centers[order].tolist(), *plane.counts[:, order].tolist(), strict=True)
    ]
    note = "A dot for each cell, as large as its rows are many. The table has the fullest cells."
    head = (*labels, f"rows of {names[0]}", f"rows of {names[1]}")
    return Chart(title, canvas.markup(), legend, head, table, f"{note} {outside}".strip())


def _canvas(title: str, said: str, limits: Array) -> Canvas:
    first, second = limits.tolist()
    return Canvas(title, said, tuple(first), tuple(second), numbered=True, size=_PLANE)


def _axes(canvas: Canvas, limits: Array, labels: tuple[str, str], levels: PlaneLevels = ((), ())) -> None:
    across, up = (
        tick_names(names) if names else (ticks(*ends), None)
        for ends, names in zip(limits.tolist(), levels, strict=True)
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
    low, high = band(driver.mean, driver.sd)
    side = sure_sides(low, high)
    said = _map_in_words(side, driver.grid, names, labels, levels)
    title = f"{labels[0]} and {labels[1]}"
    limits = driver.grid[:, [0, -1]]
    canvas = _canvas(f"Where they differ: {title}", said, limits)
    first, second = (np.concatenate([at[:1], 0.5 * (at[1:] + at[:-1]), at[-1:]]) for at in driver.grid)
    _shades(canvas, driver.mean, driver.sd, first, second)
    outline = _outline(side, first, second)
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
    table = [
        (
            *(_value(float(at[place]), of) for at, place, of in zip(driver.grid, cell, levels, strict=True)),
            *(number(float(values[cell])) for values in (driver.mean, low, high)),
        )
        for cell in product(*(some_places(len(at), 5).tolist() for at in driver.grid))
    ]
    return Chart(title, canvas.markup(), legend, (*labels, *_WITNESS_HEAD), table, said)


def _shades(canvas: Canvas, mean: Array, sd: Array, first: Array, second: Array) -> None:
    """Cells of the two colours, the paler the smaller the witness beside its uncertainty; runs of a shade as one."""
    shade = np.rint(_SHADES * mean / largest_shown(mean, sd)).astype(int)
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
    low, high = band(mean, sd)
    clear = sure_sides(low, high) > 0
    said = (
        f"The witness is surely not zero in {int(clear.sum())} of {len(mean)} cells (large dots)."
        if clear.any()
        else "Nowhere is the witness surely different from zero: its 95 % band always holds zero."
    )
    canvas = _canvas("Where they differ", said, plane.limits)
    largest = min(_LARGEST_DOT, 0.45 * (canvas.right - canvas.left) / max(len(plane.first), 1))
    for kind, there in (("x-dot", mean > 0.0), ("y-dot", mean <= 0.0)):
        at = plane.centers[there]
        canvas.dots(at[:, 0], at[:, 1], np.where(clear[there], largest, 0.35 * largest), kind)
    _axes(canvas, plane.limits, labels)
    order = np.argsort(-np.abs(mean), kind="stable")[:TABLE_ROWS]
    table = [tuple(map(number, row)) for row in np.column_stack([plane.centers, mean, low, high])[order].tolist()]
    legend = (("x-dot", f"more {names[0]}"), ("y-dot", f"more {names[1]}"))
    return Chart("On principal axes", canvas.markup(), legend, (*labels, *_WITNESS_HEAD), table, said)
