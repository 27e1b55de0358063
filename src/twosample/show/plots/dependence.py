"""Pictures of a test of independence: where pairs are more, or less, common than chance; or which columns depend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.common.words import log_bf10_text, printable, probability_in_words, sentence
from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, add_legend, as_text, new_figure
from twosample.show.plots.several_columns import centered, witness_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from twosample.questions.independence import IndependenceResult

__all__ = ["plot_independence"]

_MOST_PAIRS = 20
_LONGEST_NAME = 24


def plot_independence(result: IndependenceResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw where x and y depend on each other, or the evidence of each pair of columns where there are several.

    Parameters
    ----------
    result
        What `twosample.independence` returned.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("independence.png")``.
    """
    figure = new_figure(7.2, 6.0, figsize)
    axes = figure.subplots()
    if result.picture is None:
        _draw_pairs(axes, result)
    else:
        _draw_map(axes, result)
    numbers = f"P(dependent) {probability_in_words(result.prob_h1)}      log BF10 {log_bf10_text(result.log_bf10)}"
    as_text(figure.suptitle(f"{sentence(result.verdict)}\n{numbers}", fontsize="x-large", color=INK))
    return figure


def _draw_map(axes: Axes, result: IndependenceResult) -> None:
    from matplotlib.lines import Line2D

    picture = result.picture
    assert picture is not None
    norm = centered(picture.mean, picture.sd)
    drawn = axes.pcolormesh(
        picture.at_x, picture.at_y, picture.mean.T, cmap=witness_colors(), norm=norm, shading="nearest"
    )
    clear = (np.abs(picture.mean) - 2.0 * picture.sd).T
    if min(clear.shape) > 1 and clear.min() < 0.0 < clear.max():
        axes.contour(picture.at_x, picture.at_y, clear, levels=[0.0], colors=INK, linewidths=1.2)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("mass of the pairs over that of independence, less 1")
    for axis, label, levels in (
        (axes.xaxis, result.labels[0], picture.levels_x),
        (axes.yaxis, result.labels[1], picture.levels_y),
    ):
        _name(axis, label, levels)
    words = "inside: more than 2 sd from zero" if clear.max() > 0.0 else "nowhere 2 sd from zero"
    add_legend(axes, [Line2D([], [], color=INK, linewidth=1.2)], [words])


def _name(axis: Axis, label: str, levels: tuple[str, ...]) -> None:
    as_text(axis.label).set_text(label)
    if levels:
        axis.set_ticks(range(len(levels)))
        axis.set_ticklabels([_short(level) for level in levels])
        for text in axis.get_ticklabels():
            as_text(text)


def _draw_pairs(axes: Axes, result: IndependenceResult) -> None:
    rows = result.by_pair[:_MOST_PAIRS]
    places = np.arange(len(rows))[::-1]
    likely = np.array([row.prob > 0.5 for row in rows])
    colors = np.where(likely, DIFFER_COLOR, FAINT).tolist()
    axes.barh(places, [row.log_bf10 for row in rows], color=colors, height=0.7)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(places, [f"{_short(row.x)} and {_short(row.y)}" for row in rows])
    for text in axes.get_yticklabels():
        as_text(text)
    more = result.pairs.size - len(rows)
    axes.set_xlabel(
        "log BF10 of the pair" + (f" (the {len(rows)} with the most evidence of {result.pairs.size})" * bool(more))
    )


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}..."
