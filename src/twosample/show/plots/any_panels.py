"""The picture of any result, from its panels alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import printable
from twosample.errors import InputError
from twosample.show.plots.axes import DIFFER_COLOR, INK, add_legend, as_text, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.show.content import Panel

__all__ = ["draw_panel", "plot_panels"]

_MOST_LEGEND = 8


def plot_panels(result: Any, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw every panel that a result offers, beside each other.

    Parameters
    ----------
    result
        What has `facts()` and `panels()`.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("result.png")``. It belongs to no window and no global state.

    Examples
    --------
    >>> import twosample as ts
    >>> figure = plot_panels(ts.ksample([[0.1, 0.4, 0.7], [2.1, 2.4, 2.6], [0.2, 0.3, 0.8]]))
    >>> [axes.get_title() for axes in figure.axes]
    ['Which groups are alike', 'Two at a time']
    """
    panels = list(result.panels().values())
    if not panels:
        raise InputError(f"plot: there is nothing to draw of this {type(result).__name__}", remedy="print it")
    figure = new_figure(5.6 * len(panels), 4.6, figsize)
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        draw_panel(panel, axes)
    as_text(figure.suptitle(printable(result.facts().verdict), fontsize="x-large", color=INK, wrap=True))
    return figure


def draw_panel(panel: Panel, axes: Axes) -> Axes:
    """Draw one panel on axes, and return them."""
    if panel.kind == "bar":
        ((names, values),) = panel.series.values()
        places = np.arange(len(names))
        axes.barh(places, np.asarray(values), color=DIFFER_COLOR)
        axes.set_yticks(places, [str(name) for name in names])
        axes.invert_yaxis()
        axes.set(xlabel=panel.up)
        for label in axes.get_yticklabels():
            as_text(label)
    elif panel.kind == "map":
        ((across, up, values),) = panel.series.values()
        axes.pcolormesh(np.asarray(across), np.asarray(up), np.asarray(values).T, cmap="coolwarm", shading="nearest")
    else:
        handles = [
            axes.plot(np.asarray(across), np.asarray(up), "-" if panel.kind == "line" else ".")[0]
            for across, up in panel.series.values()
        ]
        if 1 < len(handles) <= _MOST_LEGEND:
            add_legend(axes, handles, [printable(name) for name in panel.series], ncols=2)
    if panel.kind != "bar":
        as_text(axes.xaxis.get_label()).set_text(panel.across)
        as_text(axes.yaxis.get_label()).set_text(panel.up)
    as_text(axes.set_title(panel.title))
    return axes
