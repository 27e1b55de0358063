"""A panel of any result on axes of matplotlib, and figures that are made of panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.show.plots.axes import (
    DIFFER_COLOR,
    FAINT,
    INK,
    X_COLOR,
    Y_COLOR,
    add_legend,
    as_text,
    centered,
    name_ticks,
    new_figure,
    number_log_axis,
    witness_colors,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.common.arrays import Array
    from twosample.show.content import Mark, Panel

__all__ = ["draw_marks", "draw_panel", "figure_of", "outline_clear"]

_MOST_LEGEND = 8
# With more groups the values of a matrix are colours alone.
_MOST_NUMBERS = 10
# Colour, width and dashes of a line of each style.
_COLORS = {"x": X_COLOR, "y": Y_COLOR, "differ": DIFFER_COLOR, "chosen": INK, "unclear": "#E6E6E6"}
_COLORS |= {"band-95": "#D9D9D9", "band-50": "#B0B0B0"}
_COLORS |= {"same": FAINT, "prior": FAINT, "ink": INK, "zero": INK, "median": INK}
_LINES: dict[str, tuple[float, Any]] = {
    "x": (1.8, "-"),
    "y": (1.8, "-"),
    "differ": (1.8, "-"),
    "same": (1.0, "-"),
    "prior": (1.0, (0, (4, 3))),
    "median": (1.0, ":"),
    "zero": (0.8, (0, (4, 3))),
}


def figure_of(
    panels: Sequence[Panel],
    title: str,
    *,
    size: tuple[float, float],
    figsize: tuple[float, float] | None = None,
    widths: Sequence[float] | None = None,
) -> Figure:
    """Panels beside each other under a title, of the size that is asked for or else of their own."""
    figure = new_figure(*size, figsize)
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False, width_ratios=widths)[0], strict=True):
        draw_panel(panel, axes)
    if title:
        as_text(figure.suptitle(title, fontsize="x-large", color=INK, wrap=True))
    return figure


def draw_panel(panel: Panel, axes: Axes) -> Axes:
    """Draw one panel on axes, and return them."""
    {"bar": _draw_bars, "map": _draw_map, "matrix": _draw_matrix}.get(panel.kind, _draw_marks)(panel, axes)
    if panel.kind in ("map", "matrix"):
        as_text(axes.xaxis.get_label()).set_text(panel.across)
        as_text(axes.yaxis.get_label()).set_text(panel.up)
    as_text(axes.set_title(panel.title))
    return axes


def draw_marks(panel: Panel, axes: Axes) -> dict[str, Any]:
    """Draw the marks of a panel, with its ranges and numbers; returns what a legend shows, by its words."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    drawn = [(mark, _draw(mark, axes)) for mark in panel.drawn]
    if panel.log:
        axes.set_xscale("log")
    if panel.limits is not None:
        axes.set_xlim(*panel.limits)
    if panel.heights is not None:
        axes.set_ylim(*panel.heights)
    if panel.log:
        number_log_axis(axes.xaxis)
    if panel.counted in ("percent", "root"):
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda height, _: panel.number_up(max(height, 0.0))))
    as_text(axes.set_xlabel(panel.across))
    as_text(axes.set_ylabel(panel.up))
    named = [(mark.label, handle) for mark, handle in drawn if mark.label and mark.kind not in ("text", "level")]
    return {label: handle for label, handle in named if handle is not None}


def _draw_marks(panel: Panel, axes: Axes) -> None:
    handles = draw_marks(panel, axes)
    if panel.names:
        name_ticks(axes.xaxis, panel.names)
    elif panel.places:
        axes.set_xticks(panel.places)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if 0 < len(handles) <= _MOST_LEGEND and (panel.marks or len(handles) > 1):
        add_legend(axes, list(handles.values()), list(handles), ncols=2)


def _draw(mark: Mark, axes: Axes) -> Any:
    """One mark; returns what stands for it in a legend, None for marks that only pages have."""
    if mark.kind not in _SHAPES:
        return None
    width, dashes = _LINES.get(mark.style, (1.0, "-"))
    color = _COLORS[mark.style]
    if mark.kind in ("line", "across", "upright"):
        line = {"color": color, "linewidth": width, "linestyle": dashes, "label": mark.label}
        if mark.kind == "across":
            return axes.axhline(mark.y[0], **line)
        return axes.axvline(mark.x[0], **line) if mark.kind == "upright" else axes.plot(mark.x, mark.y, **line)[0]
    return _SHAPES[mark.kind](mark, axes, color)


def _draw_area(mark: Mark, axes: Axes, color: str) -> Any:
    alpha = {"x": 0.18, "y": 0.18, "differ": 0.3}.get(mark.style, 1.0)
    return axes.fill_between(mark.x, mark.low, mark.y, color=color, alpha=alpha, linewidth=0)


def _draw_steps(mark: Mark, axes: Axes, color: str) -> Any:
    axes.stairs(mark.y, mark.x, color=color)
    return axes.stairs(mark.y, mark.x, color=color, fill=True, alpha=0.35)


def _draw_dots(mark: Mark, axes: Axes, color: str) -> Any:
    return axes.scatter(mark.x, mark.y, s=(1.6 * mark.size) ** 2, color=color, linewidths=0, zorder=3)


def _draw_interval(mark: Mark, axes: Axes, color: str) -> Any:
    middle, half = 0.5 * (mark.y + mark.low), 0.5 * (mark.y - mark.low)
    return axes.errorbar(mark.x, middle, yerr=half, fmt="none", ecolor=color, elinewidth=0.9, capsize=2.0)


def _draw_strip(mark: Mark, axes: Axes, color: str) -> Any:
    first, low, middle, high, last = mark.x.tolist()
    for ends, width in (((first, last), 1.2), ((low, high), 4.5)):
        axes.plot(ends, [mark.y[0]] * 2, color=color, linewidth=width, solid_capstyle="butt")
    return axes.plot([middle], [mark.y[0]], "o", color="white", markersize=3.5, markeredgecolor=color)[0]


def _draw_level(mark: Mark, axes: Axes, color: str) -> Any:
    _write(axes, mark.label, (1.0, mark.y[0]), (-3.0, 1.0), FAINT, xycoords=("axes fraction", "data"))
    return axes.axhline(mark.y[0], color=color, linewidth=0.7, linestyle=":")


# By the kind of a mark; lines are drawn where they stand.
_SHAPES: dict[str, Callable[[Mark, Axes, str], Any]] = {
    **dict.fromkeys(("line", "across", "upright"), lambda mark, axes, color: None),
    "area": _draw_area,
    "steps": _draw_steps,
    "dots": _draw_dots,
    "interval": _draw_interval,
    "strip": _draw_strip,
    "level": _draw_level,
    "bars": lambda mark, axes, color: axes.bar(mark.x, mark.y, width=mark.size, color=color, alpha=0.8),
    "rug": lambda mark, axes, color: axes.plot(mark.x, mark.y, "|", color=color, markersize=6)[0],
    "text": lambda mark, axes, color: _write(axes, mark.label, (mark.x[0], mark.y[0]), (mark.size, 3.0), color),
}


def _write(
    axes: Axes, words: str, place: tuple[float, float], aside: tuple[float, float], color: str, **more: Any
) -> Any:
    """Small words beside a place."""
    side = "left" if aside[0] > 0.0 else "right"
    drawn = axes.annotate(
        words, place, aside, textcoords="offset points", ha=side, fontsize="small", color=color, **more
    )
    return as_text(drawn)


def _draw_bars(panel: Panel, axes: Axes) -> None:
    """A bar to the right for each name, the first on top."""
    ((names, values, *styles),) = panel.series.values()
    places = np.arange(len(names))
    colors = [_COLORS[style] for style in styles[0]] if styles else DIFFER_COLOR
    axes.barh(places, np.asarray(values), color=colors)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    name_ticks(axes.yaxis, names)
    axes.invert_yaxis()
    if panel.limits is not None:
        axes.set_xlim(*panel.limits)
    as_text(axes.set_xlabel(panel.up))


def _draw_map(panel: Panel, axes: Axes) -> None:
    """Values in a plane as colours, with a line around where they are clear of zero if their sd is known."""
    ((label, (across, up, values, *more)),) = panel.series.items()
    first, second, mean = (np.asarray(one, dtype=float) for one in (across, up, values))
    sd = np.asarray(more[0], dtype=float) if more else np.zeros_like(mean)
    drawn = axes.pcolormesh(first, second, mean.T, cmap=witness_colors(), norm=centered(mean, sd), shading="nearest")
    as_text(axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02).ax.yaxis.label).set_text(label)
    if panel.names:
        name_ticks(axes.xaxis, panel.names)
    if panel.names_up:
        name_ticks(axes.yaxis, panel.names_up)
    if more:
        outline_clear(axes, first, second, mean, sd)


def outline_clear(axes: Axes, first: Array, second: Array, mean: Array, sd: Array) -> None:
    """A line around where a witness is clear of zero, and what it is in the legend."""
    from matplotlib.lines import Line2D

    clear = (np.abs(mean) - 2.0 * sd).T
    if min(clear.shape) > 1 and clear.min() < 0.0 < clear.max():
        axes.contour(first, second, clear, levels=[0.0], colors=INK, linewidths=1.2)
    words = "inside: more than 2 sd from zero" if clear.max() > 0.0 else "nowhere 2 sd from zero"
    add_legend(axes, [Line2D([], [], color=INK, linewidth=1.2)], [words])


def _draw_matrix(panel: Panel, axes: Axes) -> None:
    """Probabilities for pairs of names."""
    ((across, up, values),) = panel.series.values()
    cells = np.asarray(values, dtype=float)
    axes.imshow(cells, vmin=0.0, vmax=1.0, cmap="Blues")
    name_ticks(axes.xaxis, across, rotation=90 if len(across) > 4 else 0)
    name_ticks(axes.yaxis, up)
    if len(across) <= _MOST_NUMBERS:
        for row, column in np.argwhere(~np.eye(len(cells), dtype=bool)):
            value = cells[row, column]
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if value > 0.6 else INK)
