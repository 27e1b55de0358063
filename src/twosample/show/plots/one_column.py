"""Samples of one column and where they differ: densities, bars of values, and the witness as a curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import share_in_words, short
from twosample.show import sample_panels
from twosample.show.content import Mark
from twosample.show.plots.axes import FAINT, INK, X_COLOR, Y_COLOR, as_text
from twosample.show.plots.drawing import draw_marks
from twosample.show.plots.labels import LONGEST_WITHIN, beyond_in_words, column_labels
from twosample.show.sample_panels import STRIP_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from twosample.common.arrays import Array
    from twosample.inference.pictures import ShownColumn
    from twosample.inference.witness import Driver
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["STRIP_LABEL", "WITNESS_LABELS", "draw_samples", "draw_witness_curve", "label_values", "ticks"]

# Width of a character in inches.
_CHARACTER = 0.08
WITNESS_LABELS = ("posterior mean", "95 % band", "50 % band")
# More values than these have no ticks of their own, and more point masses no numbers.
_MOST_TICKS = 12
_MOST_NUMBERS = 4
# Of the name of a level, and of all of them side by side.
_LONGEST_LEVEL, _MOST_LETTERS = 16, 40


def draw_samples(axes: Axes, result: TwoSampleResult, shown: ShownColumn, names: tuple[str, str]) -> list[Any]:
    """Draw one column of both samples: bars if it is discrete, else densities with point masses as bars.

    Returns what a legend needs: both samples, and with `STRIP_LABEL` the quantiles where these are drawn.
    """
    from matplotlib.lines import Line2D

    label = column_labels(result)[shown.column]
    panel = sample_panels.samples_of_column(shown, result.picture.rows, names, label)
    low, high = panel.heights or (0.0, 1.0)
    rows = (result.shown_x, result.shown_y)
    if shown.density is not None and rows[0] is not None:
        kept = [mark for mark in panel.marks if mark.kind != "strip"]
        rugs = [
            Mark("rug", style, one[:, shown.column], np.full(len(one), height * high))
            for style, one, height in zip("xy", rows, (-0.06, -0.13), strict=True)
            if one is not None
        ]
        panel = replace(panel, marks=(*kept, *rugs))
    handles = list(draw_marks(panel, axes).values())
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    axes.set_xlabel("")
    if shown.density is not None:
        axes.set_yticks([])
        if rows[0] is None:
            strip = {"color": FAINT, "linewidth": 1.2, "marker": "o", "markersize": 3.0, "markerfacecolor": "white"}
            handles.append(Line2D([], [], **strip))  # type: ignore[arg-type]
        if 0 < len(shown.values) <= _MOST_NUMBERS:
            high *= 1.1
            _number_masses(axes, shown, shown.counts / np.array(result.picture.rows)[:, None], names)
    said = [beyond_in_words(result, shown.outside[:, side], names, side) for side in range(2)]
    for words, (place, align) in zip(said, ((0.01, "left"), (0.99, "right")), strict=True):
        if words:
            text = axes.text(place, 0.97, words, transform=axes.transAxes, va="top", ha=align, color=FAINT)
            as_text(text).set_fontsize("small")
    axes.set_ylim(low, high + (0.14 * (high - low) if any(said) else 0.0))
    return handles


def _number_masses(axes: Axes, shown: ShownColumn, shares: Array, names: tuple[str, str]) -> None:
    """The shares of point masses, written beside their bars."""
    assert shown.density is not None
    unit, width = float(shown.density.max()) or 1.0, 0.012 * (shown.limits[1] - shown.limits[0])
    unit /= max(float(shares.max()), 1e-9)
    middle = 0.5 * sum(shown.limits)
    for value, (x_share, y_share) in zip(shown.values.tolist(), shares.T.tolist(), strict=True):
        held = [
            f"{share_in_words(share)} of {short(name, LONGEST_WITHIN)}"
            for share, name in ((x_share, names[0]), (y_share, names[1]))
            if share
        ]
        before = value > middle
        text = axes.text(
            value + (-1.5 if before else 1.5) * width, 1.01 * unit * max(x_share, y_share),
            f"{', '.join(held)} at {value:.4g}", va="bottom", ha="right" if before else "left", color=INK,
        )  # fmt: skip
        as_text(text).set_fontsize("small")


def label_values(axes: Axes, label: str, shown: ShownColumn) -> None:
    """The name of the column, and ticks; at the values of a discrete column if these are few."""
    as_text(axes.set_xlabel(label))
    ticks(axes.xaxis, shown)


def ticks(axis: Axis, shown: ShownColumn | None) -> None:
    """Ticks at the values of a discrete column, if they are few, else at most seven steps."""
    from matplotlib.axis import XAxis
    from matplotlib.ticker import MaxNLocator

    if shown is not None and shown.labels:
        axis.set_ticks(shown.values, [short(name, _LONGEST_LEVEL) for name in shown.labels])
        across = isinstance(axis, XAxis) and sum(map(len, shown.labels)) > _MOST_LETTERS
        for text in axis.get_ticklabels():
            as_text(text)
            if across:
                text.set(rotation=40, ha="right", rotation_mode="anchor", fontsize="small")
    elif shown is not None and shown.density is None and len(shown.values) <= _MOST_TICKS:
        axis.set_ticks(shown.values, [f"{value:.6g}" for value in shown.values])
    else:
        axis.set_major_locator(MaxNLocator(7))


def draw_witness_curve(
    axes: Axes,
    driver: Driver,
    names: tuple[str, str],
    label: str,
    shown: ShownColumn,
    width: float = 5.5,
) -> list[Any]:
    """Draw the witness of one column with its bands, about `width` inches wide.

    Returns what a legend needs, with `WITNESS_LABELS`.
    """
    panel = sample_panels.witness_of_column(driver, names, label, shown.labels)
    drawn = draw_marks(panel, axes)
    if shown.labels:
        axes.set_xlim(*shown.limits)
    label_values(axes, label, shown)
    [mean] = [mark for mark in panel.marks if mark.style == "ink"]
    [band] = [mark for mark in panel.marks if mark.style == "band-95"]
    at, lower, upper = mean.x, np.asarray(band.low), band.y
    for sign, name, color, clear in (
        (1.0, names[0], X_COLOR, bool((lower > 0).any())),
        (-1.0, names[1], Y_COLOR, bool((upper < 0).any())),
    ):
        signed = sign * mean.y
        axes.fill_between(at, 0.0, mean.y, where=(signed > 0).tolist(), color=color, alpha=0.4, linewidth=0)
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
    return [drawn[label] for label in WITNESS_LABELS]
