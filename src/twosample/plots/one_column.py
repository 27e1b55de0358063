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
    shown_range,
)
from twosample.plots.labels import column_labels, sample_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from twosample.result import TwoSampleResult

__all__ = ["draw_column"]


def draw_column(samples: Axes, witness: Axes, result: TwoSampleResult, names: tuple[str, str]) -> None:
    """Draw the densities of both samples, and below them the witness."""
    pooled = np.concatenate([result.shown_x[:, 0], result.shown_y[:, 0]])
    low, high = shown_range(pooled)
    at = np.linspace(low, high, GRID_1D)

    handles: list[Any] = []
    top = 0.0
    for rows, color in ((result.shown_x[:, 0], X_COLOR), (result.shown_y[:, 0], Y_COLOR)):
        density = kernel_density(rows, at)
        top = max(top, float(density.max()))
        samples.fill_between(at, density, color=color, alpha=0.18, linewidth=0)
        handles += samples.plot(at, density, color=color, linewidth=1.8)
    for rows, color, height in (
        (result.shown_x[:, 0], X_COLOR, -0.05 * top),
        (result.shown_y[:, 0], Y_COLOR, -0.12 * top),
    ):
        samples.plot(rows, np.full(len(rows), height), "|", color=color, markersize=7, alpha=0.45, markeredgewidth=0.7)
    samples.set(ylim=(-0.17 * top, 1.1 * top), ylabel="density", yticks=[])
    samples.axhline(0.0, color=FAINT, linewidth=0.6)
    labels = sample_labels(result, names)
    add_legend(samples, handles, labels, ncols=2 if len("".join(labels)) < 48 else 1, above=True)
    samples.tick_params(labelbottom=False)
    outside = int(np.count_nonzero((pooled < low) | (pooled > high)))
    if outside:
        words = f"{outside} {'row' if outside == 1 else 'rows'} out of view"
        samples.text(0.01, 0.96, words, transform=samples.transAxes, va="top", color=FAINT, fontsize="small")
    _draw_witness_curve(witness, result, at, names)


def _draw_witness_curve(axes: Axes, result: TwoSampleResult, at: Array, names: tuple[str, str]) -> None:
    witness = result.witness(at)
    bands = {level: witness.band(level) for level in (0.95, 0.5)}
    handles: list[Any] = []
    for (low, high), color in zip(bands.values(), ("#D9D9D9", "#B0B0B0"), strict=True):
        handles.append(axes.fill_between(at, low, high, color=color, linewidth=0))
    handles[:0] = axes.plot(at, witness.mean, color=INK, linewidth=1.6)
    axes.axhline(0.0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))

    lower, upper = bands[0.95]
    reach = max(float(np.max(np.abs([lower, upper]))), np.finfo(float).tiny)
    axes.set(xlim=(at[0], at[-1]), ylim=(-1.35 * reach, 1.35 * reach), ylabel="witness")
    as_text(axes.set_xlabel(column_labels(result)[0]))
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
        side = "left" if peak < 0.2 else "right" if peak > 0.8 else "center"
        words = f"more {name} here" if clear else f"perhaps more {name} here"
        as_text(
            axes.text(
                float(np.clip(peak, 0.02, 0.98)), 0.5 + 0.47 * sign, words, transform=axes.transAxes, ha=side,
                va="top" if sign > 0 else "bottom", color=color if clear else FAINT,
            )
        )  # fmt: skip
    add_legend(axes, handles, ["posterior mean", "95 % band", "50 % band"], ncols=3)
