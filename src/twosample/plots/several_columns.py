"""Samples of two columns or more and where they differ: rows in a plane, and the witness as colours."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twosample.arrays import Array
from twosample.plots.common import (
    FAINT,
    INK,
    NEUTRAL,
    X_COLOR,
    Y_COLOR,
    add_legend,
    as_text,
    plain_ticks,
)
from twosample.plots.labels import column_labels, sample_labels
from twosample.sketch import SHOWN_SHARE, shown_range
from twosample.witness import locations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize

    from twosample.result import TwoSampleResult
    from twosample.witness import Driver, Witness

__all__ = ["draw_columns", "draw_pair"]


_GRID_2D = 90
_MARKERS = ("o", "^")
# Characters in a line at the colour scale.
_WIDEST = 15


class _Plane(NamedTuple):
    """The rows as they are drawn: in two coordinates, with what to write at the axes."""

    x: Array
    y: Array
    labels: tuple[str, str]
    limits: tuple[tuple[float, float], tuple[float, float]]

    @classmethod
    def of(cls, x: Array, y: Array, labels: tuple[str, str]) -> _Plane:
        """With the limits that these rows need."""
        both = np.concatenate([x, y])
        return cls(x, y, labels, (shown_range(both[:, 0]), shown_range(both[:, 1])))


def draw_columns(samples: Axes, witness: Axes, result: TwoSampleResult, names: tuple[str, str]) -> None:
    """Draw the rows of both samples, and beside them the witness."""
    if len(result.columns) == 2:
        first, second = column_labels(result)
        plane = _Plane.of(result.shown_x, result.shown_y, (first, second))
        grid = np.stack([np.linspace(*limits, _GRID_2D) for limits in plane.limits])
        _draw_witness_map(witness, grid, result.witness(locations(grid)), plane, names)
    else:
        plane = _principal_plane(result)
        _draw_witness_rows(witness, result, plane, names)
    _draw_rows(samples, witness, result, plane, names)


def draw_pair(samples: Axes, witness: Axes, result: TwoSampleResult, pair: Driver, names: tuple[str, str]) -> None:
    """Draw the rows of both samples in two of the columns, and beside them the witness of these."""
    columns, labels = list(pair.columns), column_labels(result)
    first, second = ((float(places[0]), float(places[-1])) for places in pair.grid)
    plane = _Plane(
        result.shown_x[:, columns],
        result.shown_y[:, columns],
        (labels[columns[0]], labels[columns[1]]),
        (first, second),
    )
    _draw_witness_map(witness, pair.grid, pair.witness, plane, names)
    _draw_rows(samples, witness, result, plane, names)


def _draw_rows(samples: Axes, witness: Axes, result: TwoSampleResult, plane: _Plane, names: tuple[str, str]) -> None:
    handles: list[Any] = []
    size = _marker_size(plane)
    for rows, color, marker in zip((plane.x, plane.y), (X_COLOR, Y_COLOR), _MARKERS, strict=True):
        handles.append(samples.scatter(rows[:, 0], rows[:, 1], s=size, c=color, marker=marker, alpha=0.5, linewidths=0))
    for axes in (samples, witness):
        x_limits, y_limits = plane.limits
        axes.set(xlim=x_limits, ylim=y_limits)
        as_text(axes.set_xlabel(plane.labels[0]))
        as_text(axes.set_ylabel(plane.labels[1]))
        plain_ticks(axes)
    add_legend(samples, handles, sample_labels(result, names))


def _marker_size(plane: _Plane) -> float:
    return float(np.clip(6000 / (len(plane.x) + len(plane.y)), 10, 30))


def _principal_plane(result: TwoSampleResult) -> _Plane:
    """The shown rows on their first two principal axes, found without the outermost values."""
    x, y = ((rows - result.center) / result.scale for rows in (result.shown_x, result.shown_y))
    both = np.concatenate([x, y])
    tail = 0.5 * (1.0 - SHOWN_SHARE)
    inner = np.clip(both, *np.quantile(both, (tail, 1.0 - tail), axis=0))
    center = inner.mean(axis=0)
    _, singular, axes = np.linalg.svd(inner - center, full_matrices=False)
    shares = singular**2 / np.sum(singular**2)
    first, second = (f"principal axis {i + 1} of {x.shape[1]} ({shares[i]:.0%} of the variance)" for i in range(2))
    return _Plane.of((x - center) @ axes[:2].T, (y - center) @ axes[:2].T, (first, second))


def _draw_witness_map(axes: Axes, grid: Array, found: Witness, plane: _Plane, names: tuple[str, str]) -> None:
    from matplotlib.lines import Line2D

    first, second = grid
    shape = (len(first), len(second))
    norm = _centered(found.mean, found.sd)
    levels = np.linspace(norm.vmin or 0.0, norm.vmax or 0.0, 22)
    mean = found.mean.reshape(shape).T
    clear = (np.abs(found.mean) - 2.0 * found.sd).reshape(shape).T

    filled = axes.contourf(first, second, mean, levels=levels, cmap=_colors(), norm=norm)
    if clear.min() < 0.0 < clear.max():
        axes.contour(first, second, clear, levels=[0.0], colors=INK, linewidths=1.2)
    for rows, color, marker in zip((plane.x, plane.y), (X_COLOR, Y_COLOR), _MARKERS, strict=True):
        axes.scatter(rows[:, 0], rows[:, 1], s=3, c=color, marker=marker, alpha=0.35, linewidths=0)
    _witness_scale(axes, filled, norm, names)
    words = "inside: more than 2 sd from zero" if clear.max() > 0.0 else "nowhere 2 sd from zero"
    add_legend(axes, [Line2D([], [], color=INK, linewidth=1.2)], [words])


def _draw_witness_rows(axes: Axes, result: TwoSampleResult, plane: _Plane, names: tuple[str, str]) -> None:
    from matplotlib.lines import Line2D

    witness = [result.witness(rows) for rows in (result.shown_x, result.shown_y)]
    mean = np.concatenate([part.mean for part in witness])
    norm = _centered(mean, np.concatenate([part.sd for part in witness]))
    clear = [np.abs(part.mean) > 2.0 * part.sd for part in witness]
    for rows, part, sure, marker in zip((plane.x, plane.y), witness, clear, _MARKERS, strict=True):
        size = np.where(sure, 1.4, 0.5) * _marker_size(plane)
        drawn = axes.scatter(rows[:, 0], rows[:, 1], s=size, c=part.mean, cmap=_colors(), norm=norm, marker=marker)
        drawn.set_edgecolor(FAINT)
        drawn.set_linewidth(0.3)
    _witness_scale(axes, drawn, norm, names)
    large = Line2D([], [], marker="o", markersize=4, linestyle="", markerfacecolor="none", markeredgecolor=FAINT)
    words = "large: more than 2 sd from zero" if any(sure.any() for sure in clear) else "nowhere 2 sd from zero"
    add_legend(axes, [large], [words])


def _centered(mean: Array, sd: Array) -> Normalize:
    """Colours symmetric about zero, pale where the witness is small beside its own uncertainty."""
    from matplotlib.colors import Normalize

    reach = max(float(np.abs(mean).max()), 2.0 * float(np.quantile(sd, 0.9)), float(np.finfo(float).tiny))
    return Normalize(-reach, reach)


def _colors() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("more y, more x", [Y_COLOR, NEUTRAL, X_COLOR])


def _witness_scale(axes: Axes, drawn: object, norm: Normalize, names: tuple[str, str]) -> None:
    """A colour scale that says at its ends which sample has more there."""
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)  # type: ignore[arg-type]
    bar.set_ticks([norm.vmin or 0.0, 0.0, norm.vmax or 0.0])
    low, high = (f"more\n{textwrap.fill(name, _WIDEST)}" for name in (names[1], names[0]))
    bar.set_ticklabels([low, "0", high])
    for text in bar.ax.get_yticklabels():
        as_text(text)
