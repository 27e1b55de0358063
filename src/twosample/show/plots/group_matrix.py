"""The picture of several groups: the likeliest partitions, and how likely each two groups are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.common.words import log_bf10_text, printable, probability_in_words, sentence
from twosample.show.plots.axes import DIFFER_COLOR, INK, X_COLOR, as_text, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.results.ksample_result import KSampleResult

__all__ = ["plot_ksample"]

_PARTITIONS = 8
_LONGEST_NAME = 18
# Of a label: with more groups the probabilities are colours alone.
_LONGEST_LABEL = 44
_MOST_NUMBERS = 10


def plot_ksample(result: KSampleResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the probabilities of the likeliest partitions, and a matrix of P(same) for each pair of groups.

    Parameters
    ----------
    result
        What `twosample.ksample` returned.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("groups.png")``. It belongs to no window and no global state.
    """
    k = len(result.names)
    figure = new_figure(11.0, max(4.4, 1.6 + 0.3 * k), figsize)
    left, right = figure.subplots(1, 2)
    rows = result.partitions[:_PARTITIONS]
    places = np.arange(len(rows))
    same = [len(row.groups) == 1 for row in rows]
    left.barh(places, [row.posterior for row in rows], color=[X_COLOR if one else DIFFER_COLOR for one in same])
    left.set_yticks(places)
    for label in left.set_yticklabels([_partition(row.groups) for row in rows]):
        as_text(label)
    left.invert_yaxis()
    left.set(xlim=(0.0, 1.0), xlabel="probability", title="which groups are alike")
    for side in ("top", "right"):
        left.spines[side].set_visible(False)

    alike = np.eye(k)
    above = np.triu_indices(k, 1)
    alike[above] = alike.T[above] = [row.prob_same for row in result.pairs]
    right.imshow(alike, vmin=0.0, vmax=1.0, cmap="Blues")
    names = [_short(name) for name in result.names]
    right.set_xticks(np.arange(k), names, rotation=90 if k > 4 else 0)
    right.set_yticks(np.arange(k), names)
    for label in (*right.get_xticklabels(), *right.get_yticklabels()):
        as_text(label)
    if k <= _MOST_NUMBERS:
        for row, column in zip(*np.nonzero(~np.eye(k, dtype=bool)), strict=True):
            value = alike[row, column]
            right.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if value > 0.6 else INK)
    right.set_title("P(same) for each pair of groups")
    numbers = f"P(not all alike) {probability_in_words(result.prob_h1)}, log BF10 {log_bf10_text(result.log_bf10)}"
    as_text(figure.suptitle(f"{sentence(result.verdict)}\n{numbers}", fontsize="x-large", color=INK))
    return figure


def _partition(groups: tuple[tuple[str, ...], ...]) -> str:
    words = " | ".join(", ".join(_short(name) for name in block) for block in groups)
    return words if len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 3]}..."


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}..."
