"""Samples of one column and where they differ: densities, bars of values, and the witness as a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import share_in_words, short
from twosample.inference.pictures import share_intervals
from twosample.inference.witness import Witness
from twosample.show.plots.axes import FAINT, INK, X_COLOR, Y_COLOR, as_text
from twosample.show.plots.labels import LONGEST_WITHIN, beyond_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from twosample.common.arrays import Array
    from twosample.inference.pictures import ShownColumn
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["STRIP_LABEL", "WITNESS_LABELS", "draw_samples", "draw_witness_curve", "label_values", "ticks"]

# Width of a character in inches.
_CHARACTER = 0.08
WITNESS_LABELS = ("posterior mean", "95 % band", "50 % band")
STRIP_LABEL = "median, middle 50 % and 90 %"
_COLORS = (X_COLOR, Y_COLOR)
# More values than these have no ticks of their own, and more point masses no numbers.
_MOST_TICKS = 12
_MOST_NUMBERS = 4
# Of the name of a level, and of all of them side by side.
_LONGEST_LEVEL, _MOST_LETTERS = 16, 40


def draw_samples(axes: Axes, result: TwoSampleResult, shown: ShownColumn, names: tuple[str, str]) -> list[Any]:
    """Draw one column of both samples: bars if it is discrete, else densities with point masses as bars.

    Returns what a legend needs: both samples, and with `STRIP_LABEL` the quantiles where these are drawn.
    """
    handles = _draw_bars(axes, result, shown) if shown.density is None else _draw_densities(axes, result, shown, names)
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    axes.set_xlim(*shown.limits)
    ends = ((0.01, "left"), (0.99, "right"))
    said = [beyond_in_words(result, shown.outside[:, side], names, side) for side in range(2)]
    for words, (place, align) in zip(said, ends, strict=True):
        if words:
            text = axes.text(place, 0.97, words, transform=axes.transAxes, va="top", ha=align, color=FAINT)
            as_text(text).set_fontsize("small")
    if any(said):
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.14 * (high - low))
    return handles


def _draw_bars(axes: Axes, result: TwoSampleResult, shown: ShownColumn) -> list[Any]:
    """Shares of the values, side by side."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    shares = _shares(result, shown)
    gap = _gap(shown)
    handles = [
        axes.bar(shown.values + side * 0.21 * gap, one, width=0.4 * gap, color=color, alpha=0.75)
        for one, color, side in zip(shares, _COLORS, (-1, 1), strict=True)
    ]
    if shown.labels:
        low, high = share_intervals(shown.counts, result.picture.rows)
        for place, side in enumerate((-1, 1)):
            reach = np.maximum([shares[place] - low[place], high[place] - shares[place]], 0.0)
            at = shown.values + side * 0.21 * gap
            axes.errorbar(at, shares[place], yerr=reach, fmt="none", ecolor=INK, elinewidth=0.9, capsize=2.0)
        shares = high
    axes.set(ylim=(0.0, 1.1 * max(float(shares.max(initial=0.0)), 1e-3)), ylabel="share of the rows")
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100.0 * share:.6g} %"))
    return handles


def _shares(result: TwoSampleResult, shown: ShownColumn) -> Array:
    return np.asarray(shown.counts / np.array(result.picture.rows)[:, None])


def _gap(shown: ShownColumn) -> float:
    """The distance of values, as bars need it."""
    span = shown.limits[1] - shown.limits[0]
    return max(float(np.diff(shown.values).min()), 0.01 * span) if len(shown.values) > 1 else 0.4 * span


def _draw_densities(axes: Axes, result: TwoSampleResult, shown: ShownColumn, names: tuple[str, str]) -> list[Any]:
    """Densities of both samples, their point masses, and below a line each for the quantiles or the rows."""
    from matplotlib.lines import Line2D

    assert shown.density is not None and shown.quantiles is not None
    at, handles = shown.places, []
    top = float(shown.density.max()) or 1.0
    for density, color in zip(shown.density, _COLORS, strict=True):
        axes.fill_between(at, density, color=color, alpha=0.18, linewidth=0)
        handles += axes.plot(at, density, color=color, linewidth=1.8)
    highest = _draw_masses(axes, result, shown, top, names)
    rows = (result.shown_x, result.shown_y)
    for place, (color, height) in enumerate(zip(_COLORS, (-0.06 * top, -0.13 * top), strict=True)):
        values = rows[place]
        if values is not None:
            one = values[:, shown.column]
            axes.plot(one, np.full(len(one), height), "|", color=color, markersize=7, alpha=0.45, markeredgewidth=0.7)
        elif shown.density[place].any():
            first, low, middle, high, last = shown.quantiles[place]
            axes.plot([first, last], [height] * 2, color=color, linewidth=1.2, solid_capstyle="butt")
            axes.plot([low, high], [height] * 2, color=color, linewidth=4.5, solid_capstyle="butt")
            axes.plot([middle], [height], "o", color="white", markersize=3.5, markeredgecolor=color)
    axes.set(ylim=(-0.19 * top, 1.1 * highest), ylabel="density", yticks=[])
    if rows[0] is None:
        handles.append(Line2D([], [], color=FAINT, linewidth=1.2, marker="o", markersize=3.0, markerfacecolor="white"))
    return handles


def _draw_masses(axes: Axes, result: TwoSampleResult, shown: ShownColumn, top: float, names: tuple[str, str]) -> float:
    """Bars with their shares written on them, the highest as high as the densities; returns how high all of it is."""
    if not len(shown.values):
        return top
    shares = _shares(result, shown)
    unit, width = top / max(float(shares.max()), 1e-9), 0.012 * (shown.limits[1] - shown.limits[0])
    for one, color, side in zip(shares, _COLORS, (-0.5, 0.5), strict=True):
        axes.bar(shown.values + side * width, unit * one, width=width, color=color, alpha=0.8)
    if len(shown.values) > _MOST_NUMBERS:
        return top
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
    return 1.1 * top


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
    witness: Witness,
    names: tuple[str, str],
    label: str,
    shown: ShownColumn,
    width: float = 5.5,
) -> list[Any]:
    """Draw the witness of one column with its bands, about so many inches wide.

    Returns what a legend needs, with `WITNESS_LABELS`.
    """
    at = witness.at[:, 0]
    bands = {level: witness.band(level) for level in (0.95, 0.5)}
    handles: list[Any] = []
    if shown.labels:  # a step for each level
        at = np.repeat(at, 2) + np.tile([-0.45, 0.45], len(at))
        witness = Witness(at[:, None], np.repeat(witness.mean, 2), np.repeat(witness.sd, 2))
        bands = {level: witness.band(level) for level in bands}
    for (low, high), color in zip(bands.values(), ("#D9D9D9", "#B0B0B0"), strict=True):
        handles.append(axes.fill_between(at, low, high, color=color, linewidth=0))
    handles[:0] = axes.plot(at, witness.mean, color=INK, linewidth=1.6)
    axes.axhline(0.0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))

    lower, upper = bands[0.95]
    reach = max(float(np.max(np.abs([lower, upper]))), np.finfo(float).tiny)
    axes.set(
        xlim=shown.limits if shown.labels else (at[0], at[-1]), ylim=(-1.35 * reach, 1.35 * reach), ylabel="witness"
    )
    label_values(axes, label, shown)
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
