"""A panel of any result as a chart in SVG."""

from __future__ import annotations

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable
from twosample.show.content import Mark, Panel
from twosample.show.numbers import log_ticks, number, ticks
from twosample.show.pictures import some_places
from twosample.show.report.charts import tick_names
from twosample.show.report.svg import Canvas, Chart

__all__ = ["of_panel"]

# Class of a mark by its kind, where that is not that of its style.
_CLASSES = {"line": "line", "across": "line", "upright": "line", "area": "area", "steps": "area"}
# Marks that are for larger pictures.
_NOT_HERE = ("rug", "text", "level")
_OWN = ("chosen", "unclear", "band-95", "band-50")


def of_panel(panel: Panel) -> Chart:
    """The chart of a panel of lines, dots, bars or other marks, with a table that says the same.

    Examples
    --------
    >>> of_panel(Panel.bars("Which columns differ", "column", "P(differs)", ["a", "b"], [0.9, 0.1])).rows
    [('a', '0.9'), ('b', '0.1')]
    """
    if panel.kind == "bar":
        return _bars(panel)
    marks = [mark for mark in panel.drawn if mark.kind not in _NOT_HERE]
    limits = panel.limits or _limits([mark.x for mark in marks], 0.6 if panel.names else 0.0)
    heights = panel.heights or _limits([mark.y for mark in marks if len(mark.x)])
    said = panel.said or f"{panel.up} by {panel.across}."
    canvas = Canvas(panel.title, said, limits, heights, log=panel.log, numbered=True)
    at = ticks(*heights, 6)[panel.counted == "root" :]
    canvas.up(at, list(map(panel.number_up, at)) if panel.counted else None)
    for mark in marks:
        _draw(canvas, mark, limits, heights)
    if panel.names:
        canvas.across(panel.across, *tick_names(panel.names))
    else:
        canvas.across(panel.across, (log_ticks if panel.log else ticks)(*limits))
    legend = tuple((_class(mark), mark.label) for mark in marks if mark.label)
    head = panel.head or ("", panel.across, panel.up)
    return Chart(panel.title, canvas.markup(), legend, head, panel.rows or _rows(marks), panel.note)


def _rows(marks: list[Mark]) -> list[tuple[str, ...]]:
    """The lines of a table with some places of each mark."""
    chosen = [(mark, some_places(len(mark.x)).tolist()) for mark in marks if len(mark.x)]
    return [
        (mark.label, number(float(mark.x[place])), number(float(mark.y[place])))
        for mark, places in chosen
        for place in places
    ]


def _class(mark: Mark) -> str:
    if mark.style in _OWN:
        return mark.style
    return f"{mark.style}-{_CLASSES.get(mark.kind, 'bar' if mark.kind == 'bars' else 'dot')}"


def _draw(canvas: Canvas, mark: Mark, limits: tuple[float, float], heights: tuple[float, float]) -> None:
    """One mark, as far as it is within the limits."""
    kind, inside = _class(mark), (mark.x >= limits[0]) & (mark.x <= limits[1])
    if mark.kind == "across":
        canvas.strokes(np.array([[limits[0], float(mark.y[0]), limits[1], float(mark.y[0])]]), kind)
    elif mark.kind == "upright":
        canvas.strokes(np.array([[mark.x[0], max(heights[0], 0.0), mark.x[0], heights[1]]]), kind)
    elif mark.kind == "line":
        canvas.line(mark.x[inside], mark.y[inside], kind)
    elif mark.kind == "area":
        low = np.broadcast_to(np.asarray(mark.low, dtype=float), mark.y.shape)
        canvas.area(mark.x[inside], low[inside], mark.y[inside], kind)
    elif mark.kind == "steps":
        across, up = np.repeat(mark.x, 2)[1:-1], np.repeat(mark.y, 2)
        canvas.area(across, 0.0, up, kind)
        canvas.line(across, up, f"{mark.style}-line")
    elif mark.kind == "bars":
        for place, value in zip(mark.x.tolist(), mark.y.tolist(), strict=True):
            bottom, top = sorted((float(np.max(mark.low)), value))
            canvas.box((place - 0.5 * mark.size, place + 0.5 * mark.size), (bottom, top), kind)
    else:
        canvas.dots(mark.x, mark.y, np.full(len(mark.x), mark.size), kind)


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
        panel.title, panel.across, panel.up, kind="marks", marks=tuple(marks), limits=(-0.6, len(words) - 0.4),
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
