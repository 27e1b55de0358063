"""A panel of any result as a chart."""

from __future__ import annotations

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import printable
from twosample.show.content import Panel
from twosample.show.report.charts import tick_names
from twosample.show.report.svg import Canvas, Chart, number, ticks

__all__ = ["of_panel"]

_KINDS = ("differ", "x", "y", "ink", "same")
# Rows of the table below a chart.
_TABLE_ROWS = 20


def of_panel(panel: Panel) -> Chart:
    """The chart of a panel of lines, points or bars, with a table that says the same.

    Examples
    --------
    >>> of_panel(Panel.bars("Which columns differ", "column", "P(differs)", ["a", "b"], [0.9, 0.1])).rows
    [('a', '0.9'), ('b', '0.1')]
    """
    if panel.kind == "bar":
        return _bars(panel)
    series = {name: _finite(*values[:2]) for name, values in panel.series.items()}
    x_limits, y_limits = (_limits([values[side] for values in series.values()]) for side in range(2))
    canvas = Canvas(panel.title, _said(panel), x_limits, y_limits, numbered=True)
    canvas.up(ticks(*y_limits, 5))
    kinds = [_KINDS[place % len(_KINDS)] for place in range(len(series))]
    for kind, (across, up) in zip(kinds, series.values(), strict=True):
        if panel.kind == "line":
            canvas.line(across, up, f"{kind}-line")
        else:
            canvas.dots(across, up, np.full(len(across), 2.5), f"{kind}-area")
    canvas.across(panel.across, ticks(*x_limits))
    legend = tuple((f"{kind}-{'line' if panel.kind == 'line' else 'area'}", printable(name))
                   for kind, name in zip(kinds, series, strict=True))  # fmt: skip
    rows = [
        (printable(name), number(float(across[place])), number(float(up[place])))
        for name, (across, up) in series.items()
        for place in np.unique(np.linspace(0, max(len(across) - 1, 0), _TABLE_ROWS).astype(int))
        if len(across)
    ]
    return Chart(panel.title, canvas.markup(), legend, ("", panel.across, panel.up), rows, "")


def _bars(panel: Panel) -> Chart:
    ((names, values),) = panel.series.values()
    words, heights = tuple(map(str, names)), np.asarray(values, dtype=np.float64)
    low, high = _limits([heights, np.zeros(1)])
    canvas = Canvas(panel.title, _said(panel), (-0.6, len(words) - 0.4), (low, high), numbered=True)
    canvas.up(ticks(low, high, 5))
    for place, value in enumerate(heights.tolist()):
        bottom, top = sorted((0.0, value))
        canvas.box((place - 0.3, place + 0.3), (bottom, top), "differ-bar" if value > 0.0 else "same-bar")
    canvas.across(panel.across, *tick_names(words))
    rows = [(name, number(value)) for name, value in zip(words, heights.tolist(), strict=True)]
    return Chart(panel.title, canvas.markup(), (("differ-bar", panel.up),), (panel.across, panel.up), rows, "")


def _said(panel: Panel) -> str:
    return f"{panel.up} by {panel.across}."


def _finite(across: Array | tuple[str, ...], up: Array | tuple[str, ...]) -> tuple[Array, Array]:
    first, second = np.asarray(across, dtype=np.float64), np.asarray(up, dtype=np.float64)
    known = np.isfinite(first) & np.isfinite(second)
    return first[known], second[known]


def _limits(values: list[Array]) -> tuple[float, float]:
    whole = np.concatenate([np.zeros(0), *values])
    if not len(whole):
        return 0.0, 1.0
    low, high = float(whole.min()), float(whole.max())
    room = 0.06 * (high - low) or 0.5
    return low - (room if low < 0.0 or low == high else 0.0), high + room
