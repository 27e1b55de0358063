"""Samples in the plane of two columns, or of two principal axes, and the witness there as colours."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.show.plots.axes import FAINT, X_COLOR, Y_COLOR, add_legend, as_text, centered, witness_colors
from twosample.show.plots.drawing import outline_clear
from twosample.show.plots.labels import column_labels, outside_in_words, sample_labels
from twosample.show.plots.one_column import ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

    from twosample.common.arrays import Array
    from twosample.inference.pictures import ShownPlane
    from twosample.inference.witness import Driver
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["CELLS_LABEL", "draw_plane", "draw_witness_plane"]


CELLS_LABEL = "a dot for each cell, as large as its rows are many"
_MARKERS = ("o", "^")
_COLORS = (X_COLOR, Y_COLOR)
# Characters in a line at the colour scale.
_WIDEST = 15
# Points along an axis, about; areas of the largest dots.
_POINTS = 260.0
_LARGEST, _SMALLEST = 700.0, 4.0
# Where in a cell the dots of either sample are, so that both are seen.
_ASIDE = 0.17


def draw_plane(axes: Axes, result: TwoSampleResult, plane: ShownPlane, names: tuple[str, str]) -> None:
    """Draw both samples: their rows where the result has them, else a dot for each cell, as large as its count."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    rows = _rows_of(result, plane)
    if rows is not None:
        size = float(np.clip(6000 / sum(map(len, rows)), 10, 30))
        for one, color, marker in zip(rows, _COLORS, _MARKERS, strict=True):
            handles.append(axes.scatter(one[:, 0], one[:, 1], s=size, c=color, marker=marker, alpha=0.5, linewidths=0))
    else:
        _draw_cells(axes, plane, 1.0)
        handles = [Line2D([], [], linestyle="", marker="o", color=color, alpha=0.6, markersize=4) for color in _COLORS]
    _finish(axes, result, plane)
    words = outside_in_words(result, plane.outside, names)
    if words:
        as_text(axes.set_title(words, loc="right", color=FAINT, fontsize="small"))
    labels = sample_labels(result, names)
    if rows is None:
        handles.append(Line2D([], [], linestyle="", marker="o", markersize=5, color=FAINT, markerfacecolor="none"))
        labels.append(CELLS_LABEL)
    add_legend(axes, handles, labels)


def draw_witness_plane(
    axes: Axes, result: TwoSampleResult, plane: ShownPlane, found: Driver | None, names: tuple[str, str]
) -> None:
    """Draw the witness: as a map of two columns, or of principal axes at the cells that are not empty."""
    if found is None:
        _draw_witness_cells(axes, plane, names)
    else:
        _draw_witness_map(axes, result, plane, found, names)
    _finish(axes, result, plane)


def _finish(axes: Axes, result: TwoSampleResult, plane: ShownPlane) -> None:
    first, second = _axis_labels(result, plane)
    axes.set(xlim=tuple(plane.limits[0]), ylim=tuple(plane.limits[1]))
    as_text(axes.set_xlabel(first))
    as_text(axes.set_ylabel(second))
    shown = {one.column: one for one in result.picture.columns}
    for axis, place in zip((axes.xaxis, axes.yaxis), plane.columns or (None, None), strict=True):
        ticks(axis, None if place is None else shown[place])


def _axis_labels(result: TwoSampleResult, plane: ShownPlane) -> list[str]:
    labels = column_labels(result)
    if plane.columns:
        return [labels[place] for place in plane.columns]
    return [
        f"principal axis {i + 1} of {len(labels)} ({share:.0%} of the variance)" for i, share in enumerate(plane.shares)
    ]


def _rows_of(result: TwoSampleResult, plane: ShownPlane) -> tuple[Array, Array] | None:
    """Rows of two columns, where the result has rows."""
    if result.shown_x is None or result.shown_y is None or not plane.columns:
        return None
    places = list(plane.columns)
    return result.shown_x[:, places], result.shown_y[:, places]


def _draw_cells(axes: Axes, plane: ShownPlane, size: float) -> None:
    """A dot for each sample in each cell, of an area that goes with its count."""
    widths = (plane.limits[:, 1] - plane.limits[:, 0]) / (len(plane.first), len(plane.second))
    largest = min((1.2 * _POINTS / max(len(plane.first), len(plane.second))) ** 2, _LARGEST)
    unit = largest / max(int(plane.counts.max(initial=1)), 1)
    for counts, color, side in zip(plane.counts, _COLORS, (-1, 1), strict=True):
        there = counts > 0
        at = plane.centers[there] + side * _ASIDE * widths * (1.0, 0.0)
        area = size * np.maximum(unit * counts[there], _SMALLEST)
        axes.scatter(at[:, 0], at[:, 1], s=area, c=color, alpha=0.55, linewidths=0)


def _draw_witness_map(
    axes: Axes, result: TwoSampleResult, plane: ShownPlane, driver: Driver, names: tuple[str, str]
) -> None:
    first, second = driver.grid
    norm = centered(driver.mean, driver.sd)
    levels = np.linspace(norm.vmin or 0.0, norm.vmax or 0.0, 22)
    filled = axes.contourf(first, second, driver.mean.T, levels=levels, cmap=witness_colors(), norm=norm)
    outline_clear(axes, first, second, driver.mean, driver.sd)
    rows = _rows_of(result, plane)
    if rows is None:
        _draw_cells(axes, plane, 0.2)
    else:
        for one, color, marker in zip(rows, _COLORS, _MARKERS, strict=True):
            axes.scatter(one[:, 0], one[:, 1], s=3, c=color, marker=marker, alpha=0.35, linewidths=0)
    _witness_scale(axes, filled, norm, names)


def _draw_witness_cells(axes: Axes, plane: ShownPlane, names: tuple[str, str]) -> None:
    from matplotlib.lines import Line2D

    assert plane.witness is not None
    mean, sd = plane.witness
    norm = centered(mean, sd)
    clear = np.abs(mean) > 2.0 * sd
    size = (0.8 * _POINTS / len(plane.first)) ** 2 * np.where(clear, 1.0, 0.3)
    drawn = axes.scatter(plane.centers[:, 0], plane.centers[:, 1], s=size, c=mean, cmap=witness_colors(), norm=norm)
    drawn.set_edgecolor(FAINT)
    drawn.set_linewidth(0.3)
    _witness_scale(axes, drawn, norm, names)
    large = Line2D([], [], marker="o", markersize=4, linestyle="", markerfacecolor="none", markeredgecolor=FAINT)
    words = "large: more than 2 sd from zero" if clear.any() else "nowhere 2 sd from zero"
    add_legend(axes, [large], [words])


def _witness_scale(axes: Axes, drawn: object, norm: Normalize, names: tuple[str, str]) -> None:
    """A colour scale that says at its ends which sample has more there."""
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)  # type: ignore[arg-type]
    bar.set_ticks([norm.vmin or 0.0, 0.0, norm.vmax or 0.0])
    low, high = (f"more\n{textwrap.fill(name, _WIDEST)}" for name in (names[1], names[0]))
    bar.set_ticklabels([low, "0", high])
    for text in bar.ax.get_yticklabels():
        as_text(text)
