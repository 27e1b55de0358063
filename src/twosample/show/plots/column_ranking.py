"""The picture of one test a column: evidence against the direction of the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.common.words import columns_in_words, printable
from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, add_legend, as_text, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.results.each_result import EachResult

__all__ = ["plot_each"]

_LONGEST_NAME = 24


def plot_each(
    result: EachResult,
    *,
    names: tuple[str, str] = ("x", "y"),
    top: int = 10,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Draw the log BF10 of every column against its AUC, with the columns that differ marked.

    Columns at the right are larger in the first sample, at the left in the second; those that differ in spread or shape
    are in the middle. Groups of columns have no AUC and are not shown.

    Parameters
    ----------
    result
        What `twosample.test_each` returned.
    names
        What to call the samples.
    top
        How many of the columns that differ are named, those with the most evidence.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("columns.png")``.
    """
    figure = new_figure(8.0, 5.2, figsize)
    axes = figure.subplots()
    single = np.isfinite(result.auc)
    found = single & (result.q <= result.fdr)
    others = axes.scatter(*_places(result, single & ~found), s=9, color=FAINT, alpha=0.5, linewidths=0)
    differ = axes.scatter(*_places(result, found), s=22, color=DIFFER_COLOR, linewidths=0)
    axes.axvline(0.5, color=FAINT, linewidth=0.8, linestyle=":")
    axes.axhline(0.0, color=FAINT, linewidth=0.8)
    for number, place in enumerate(np.flatnonzero(found)[:top]):
        label = printable(result.column[place])
        label = label if len(label) <= _LONGEST_NAME else f"{label[: _LONGEST_NAME - 3]}..."
        as_text(
            axes.annotate(
                label,
                (result.auc[place], result.log_bf10[place]),
                ((4, -4)[number % 2], 3),  # names of neighbours go to different sides
                textcoords="offset points",
                ha=("left", "right")[number % 2],
                fontsize="small",
                color=INK,
            )
        )
    first, second = map(printable, names)
    reach = 1.15 * max(0.05, float(np.abs(result.auc[single] - 0.5).max(initial=0.0)))
    axes.set(xlim=(0.5 - reach, 0.5 + reach), ylabel="log BF10")
    as_text(
        axes.set_xlabel(f"larger in {second}  \u2190  AUC: chance that {first} is larger  \u2192  larger in {first}")
    )
    kept = f"the others, {columns_in_words(int((single & ~found).sum()))}"
    add_legend(axes, [differ, others], [f"different at a false discovery rate of {result.fdr:g}", kept], ncols=2)
    title = f"{int(found.sum())} of {columns_in_words(int(single.sum()))} differ"
    as_text(figure.suptitle(title, fontsize="x-large", color=INK))
    return figure


def _places(result: EachResult, chosen: Flags) -> tuple[Array, Array]:
    return result.auc[chosen], result.log_bf10[chosen]
