"""A panel of any result as a chart in SVG, and small pictures for the cells of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable
from twosample.show.content import Mark, Panel
from twosample.show.numbers import log_ticks, number, ticks
from twosample.show.question_panels import some_places
from twosample.show.report.svg import Canvas, Chart
from twosample.show.sample_panels import bars_of

if TYPE_CHECKING:
    from twosample.inference.pictures import ShownColumn

__all__ = ["of_panel", "probability_bar", "small_column", "tick_names"]

# More levels than these do not all have ticks; letters of the names of levels side by side.
_MOST_TICKS, _LETTERS = 12, 90
_SMALL = (120.0, 30.0)

# Class of a mark by its kind, where that is not that of its style.
_CLASSES = {"line": "line", "across": "line", "upright": "line", "area": "area", "steps": "area"}
# Marks that are for larger pictures.
_NOT_HERE = ("rug", "text", "level")
_OWN = ("chosen", "unclear", "band-95", "band-50", "x-sure", "y-sure", "x-text", "y-text")


def of_panel(panel: Panel, title: str = "") -> Chart:
    """The chart of a panel of lines, dots, bars or other marks, with a table that says the same.

    Readers that do not see it are told the `title`, where it is not that of the panel.
    """
    if panel.kind == "bar":
        return _bars(panel)
    marks = [mark for mark in panel.drawn if mark.kind not in _NOT_HERE]
    limits = panel.limits or _limits([mark.x for mark in marks], 0.6 * bool(panel.names))
    heights = panel.heights or _limits([mark.y for mark in marks])
    said = panel.said or f"{panel.up} by {panel.across}."
    numbered = panel.counted != "none"
    canvas = Canvas(title or panel.title, said, limits, heights, log=panel.log, numbered=numbered)
    if numbered:
        at = ticks(*heights, 6)[panel.counted == "root" :]
        canvas.up(at, list(map(panel.number_up, at)) if panel.counted else None)
    for mark in marks:
        _draw(canvas, mark, limits, heights)
    canvas.across(panel.across, *_ticks_across(panel, limits))
    legend = tuple((_class(mark), mark.label) for mark in marks if mark.label and mark.kind != "corner")
    head, rows = (panel.head, panel.rows) if panel.head else (("", panel.across, panel.up), _rows(marks))
    return Chart(panel.title, canvas.markup(), legend, head, rows, panel.note)


def _ticks_across(panel: Panel, limits: tuple[float, float]) -> tuple[list[float], list[str] | None]:
    """Where ticks are, and their names where these are no numbers."""
    if panel.names:
        return tick_names(panel.names)
    return list(panel.places) or (log_ticks if panel.log else ticks)(*limits), None


def _rows(marks: list[Mark]) -> list[tuple[str, ...]]:
    """The lines of a table with some places of each mark."""
    return [
        (mark.label, number(float(mark.x[place])), number(float(mark.y[place])))
        for mark in marks
        if len(mark.x)
        for place in some_places(len(mark.x)).tolist()
    ]


def _class(mark: Mark) -> str:
    if mark.style in _OWN:
        return mark.style
    return f"{mark.style}-{_CLASSES.get(mark.kind, 'bar' if mark.kind == 'bars' else 'dot')}"


def _draw(canvas: Canvas, mark: Mark, limits: tuple[float, float], heights: tuple[float, float]) -> None:
    """One mark, as far as it is within the limits."""
    kind, inside = _class(mark), (mark.x >= limits[0]) & (mark.x <= limits[1])
    low = np.broadcast_to(np.asarray(mark.low, dtype=float), mark.y.shape)
    if mark.kind == "across":
        canvas.strokes(np.array([[limits[0], float(mark.y[0]), limits[1], float(mark.y[0])]]), kind)
    elif mark.kind == "upright":
        canvas.strokes(np.array([[mark.x[0], max(heights[0], 0.0), mark.x[0], heights[1]]]), kind)
    elif mark.kind == "line":
        canvas.line(mark.x[inside], mark.y[inside], kind)
    elif mark.kind == "area":
        canvas.area(mark.x[inside], low[inside], mark.y[inside], kind)
    elif mark.kind == "span":
        canvas.box((float(mark.x[0]), float(mark.x[1])), heights, kind)
    elif mark.kind == "interval":
        canvas.strokes(np.stack([mark.x, low, mark.x, mark.y], axis=1), "ink-line")
    elif mark.kind == "corner":
        at = canvas.top + 12.0 if mark.y[0] > 0.0 else canvas.bottom - 6.0
        canvas.text(canvas.left + 4.0, at, mark.label, f"label {mark.style}", "start")
    elif mark.kind in _SHAPES:
        _SHAPES[mark.kind](canvas, mark, kind)


def _draw_steps(canvas: Canvas, mark: Mark, kind: str) -> None:
    across, up = np.repeat(mark.x, 2)[1:-1], np.repeat(mark.y, 2)
    canvas.area(across, 0.0, up, kind)
    canvas.line(across, up, f"{mark.style}-line")


def _draw_bars(canvas: Canvas, mark: Mark, kind: str) -> None:
    for place, value in zip(mark.x.tolist(), mark.y.tolist(), strict=True):
        canvas.box((place - 0.5 * mark.size, place + 0.5 * mark.size), (min(value, 0.0), max(value, 0.0)), kind)


def _draw_dots(canvas: Canvas, mark: Mark, kind: str) -> None:
    canvas.dots(mark.x, mark.y, np.full(len(mark.x), mark.size), kind)


def _draw_strip(canvas: Canvas, mark: Mark, kind: str) -> None:
    """A line for the outer quantiles, a thick one for the inner ones, and a hole at the middle."""
    first, low, middle, high, last = mark.x.tolist()
    height, unit = float(mark.y[0]), float(canvas.up_per_unit)
    canvas.box((first, last), (height - unit, height + unit), f"{mark.style}-bar")
    canvas.box((low, high), (height - 5.0 * unit, height + 5.0 * unit), f"{mark.style}-bar")
    canvas.dots(np.array([middle]), np.array([height]), np.array([2.6]), "hole")


_SHAPES = {"steps": _draw_steps, "bars": _draw_bars, "dots": _draw_dots, "strip": _draw_strip}


def _bars(panel: Panel) -> Chart:
    """Bars side by side, with a name for each."""
    ((names, values, *_),) = panel.series.values()
    words, heights = tuple(map(str, names)), np.asarray(values, dtype=np.float64)
    places, positive = np.arange(float(len(words))), heights > 0.0
    marks = [
        Mark("bars", style, places[which], heights[which], label, size=0.6)
        for style, which, label in (("differ", positive, panel.up), ("same", ~positive, ""))
    ]
    rows = [(printable(name), number(value)) for name, value in zip(words, heights.tolist(), strict=True)]
    drawn = Panel(
        panel.title, panel.across, panel.up, marks=tuple(marks), limits=(-0.6, len(words) - 0.4),
        heights=_limits([heights, np.zeros(1)]), names=words, head=(panel.across, panel.up), rows=rows,
    )  # fmt: skip
    return of_panel(drawn)


def _limits(values: list[Array], margin: float = 0.0) -> tuple[float, float]:
    whole = np.concatenate([np.zeros(0), *values])
    if not len(whole):
        return 0.0, 1.0
    low, high = float(whole.min()) - margin, float(whole.max()) + margin
    room = 0.06 * (high - low) or 0.5
    return low - (room if low < 0.0 or low == high else 0.0), high + room


def tick_names(labels: tuple[str, ...]) -> tuple[list[float], list[str]]:
    """Where the levels of a column of categories are, and their names, as far as there is room."""
    longest = max(3, _LETTERS // len(labels))
    step = 1 if len(labels) <= _MOST_TICKS else -(-len(labels) // _MOST_TICKS)
    names = [printable(name) for name in labels[::step]]
    return [float(at) for at in range(0, len(labels), step)], [
        name if len(name) <= longest * step else f"{name[: longest * step - 1]}…" for name in names
    ]


def small_column(shown: ShownColumn, rows: tuple[int, int], title: str) -> str:
    """The samples of a column in the height of a line."""
    if shown.density is None:
        marks = bars_of(shown, shown.counts / np.maximum(np.array(rows), 1)[:, None])
        top = max(max(float(mark.y.max(initial=0.0)) for mark in marks), 1e-3)
    else:
        every, top = slice(None, None, 4), float(shown.density.max()) or 1.0
        pairs = list(zip("xy", shown.density, strict=True))
        marks = [Mark(kind, style, shown.places[every], density[every]) for style, density in pairs
                 for kind in ("area", "line")]  # fmt: skip
    canvas = Canvas(title, "", shown.limits, (0.0, top), size=_SMALL, bare=True)
    for mark in marks:
        _draw(canvas, mark, shown.limits, (0.0, top))
    return canvas.markup()


def probability_bar(probability: float, title: str) -> str:
    """A bar for a probability in the height of a line."""
    canvas = Canvas(title, "", (0.0, 1.0), (0.0, 1.0), size=(120.0, 10.0), bare=True)
    canvas.box((0.0, 1.0), (0.0, 1.0), "trough")
    canvas.box((0.0, probability), (0.0, 1.0), "differ-bar")
    return canvas.markup()
