"""Samples of one column and where they differ: two densities, and the witness as a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.arrays import Array
from twosample.plots.common import (
    FAINT,
    GRID_1D,
    INK,
    X_COLOR,
    Y_COLOR,
    add_legend,
    as_text,
    kernel_density,
    plain_ticks,
)
from twosample.plots.labels import column_labels, sample_labels
from twosample.sketch import shown_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from twosample.result import TwoSampleResult
    from twosample.witness import Witness

__all__ = ["WITNESS_LABELS", "draw_column", "draw_densities", "draw_witness_curve"]

# Width of a character in inches.
_CHARACTER = 0.08
WITNESS_LABELS = ("posterior mean", "95 % band", "50 % band")


def draw_column(samples: Axes, witness: Axes, result: TwoSampleResult, names: tuple[str, str]) -> None:
    """Draw the densities of both samples, and below them the witness."""
    limits = shown_range(np.concatenate([result.shown_x[:, 0], result.shown_y[:, 0]]))
    handles = draw_densities(samples, result.shown_x[:, 0], result.shown_y[:, 0], limits)
    labels = sample_labels(result, names)
    add_legend(samples, handles, labels, ncols=2 if len("".join(labels)) < 48 else 1, above=True)
    curve = result.witness(np.linspace(*limits, GRID_1D))
    handles = draw_witness_curve(witness, curve, names, column_labels(result)[0])
    add_legend(witness, handles, list(WITNESS_LABELS), ncols=3)


def draw_densities(axes: Axes, x: Array, y: Array, limits: tuple[float, float]) -> list[Any]:
    """Draw the densities of the values of both samples, each a line below; returns what a legend needs."""
    at = np.linspace(*limits, GRID_1D)
    handles: list[Any] = []
    top = 0.0
    for values, color in ((x, X_COLOR), (y, Y_COLOR)):
        density = kernel_density(values, at)
        top = max(top, float(density.max()))
        axes.fill_between(at, density, color=color, alpha=0.18, linewidth=0)
        handles += axes.plot(at, density, color=color, linewidth=1.8)
    for values, color, height in ((x, X_COLOR, -0.05 * top), (y, Y_COLOR, -0.12 * top)):
        axes.plot(values, np.full(len(values), height), "|", color=color, markersize=7, alpha=0.45, markeredgewidth=0.7)
    pooled = np.concatenate([x, y])
    outside = int(np.count_nonzero((pooled < limits[0]) | (pooled > limits[1])))
    axes.set(ylim=(-0.17 * top, (1.25 if outside else 1.1) * top), ylabel="density", yticks=[])
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    axes.tick_params(labelbottom=False)
    if outside:
        words = f"{outside} {'row' if outside == 1 else 'rows'} out of view"
        axes.text(0.01, 0.96, words, transform=axes.transAxes, va="top", color=FAINT, fontsize="small")
    return handles


def draw_witness_curve(
    axes: Axes, witness: Witness, names: tuple[str, str], label: str, width: float = 5.5
) -> list[Any]:
    """Draw the witness of one column with its bands, about so many inches wide.

    Returns what a legend needs, with `WITNESS_LABELS`.
    """
    at = witness.at[:, 0]
    bands = {level: witness.band(level) for level in (0.95, 0.5)}
    handles: list[Any] = []
    for (low, high), color in zip(bands.values(), ("#D9D9D9", "#B0B0B0"), strict=True):
        handles.append(axes.fill_between(at, low, high, color=color, linewidth=0))
    handles[:0] = axes.plot(at, witness.mean, color=INK, linewidth=1.6)
    axes.axhline(0.0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))

    lower, upper = bands[0.95]
    reach = max(float(np.max(np.abs([lower, upper]))), np.finfo(float).tiny)
    axes.set(xlim=(at[0], at[-1]), ylim=(-1.35 * reach, 1.35 * reach), ylabel="witness")
    as_text(axes.set_xlabel(label))
    plain_ticks(axes)
    for sign, name, color, clear in (
        (1.0, names[0], X_COLOR, bool((lower > 0).any())),
        (-1.0, names[1], Y_COLOR, bool((upper < 0).any())),
    ):
        signed = sign * witness.mean
        axes.fill_between(at, 0.0, witness.mean, where=(signed > 0).tolist(), color=color, alpha=0.4, linewidth=0)
        if not (signed > 0).any():
            continue
        peak = (at[int(np.argmax(signed))] - at[0]) / (at[-1] - at[0])
        words = f"more {name} here" if clear else f"perhaps more {name} here"
        half = min(0.5 * len(words) * _CHARACTER / width + 0.02, 0.5)
        as_text(
            axes.text(
                float(np.clip(peak, half, 1.0 - half)), 0.5 + 0.47 * sign, words, transform=axes.transAxes, ha="center",
                va="top" if sign > 0 else "bottom", color=color if clear else FAINT,
            )
        )  # fmt: skip
    return handles
