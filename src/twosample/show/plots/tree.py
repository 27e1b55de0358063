"""The picture of a Pólya tree of Holmes et al."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.show.plots.axes import DIFFER_COLOR, FAINT, NEUTRAL, as_text, figure_docs, headline, new_figure
from twosample.show.plots.labels import answer_in_words, column_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.paper.baselines import HolmesResult

__all__ = ["plot_tree"]


@figure_docs
def plot_tree(result: HolmesResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw what each node of a Pólya tree adds to log BF10: at which quantile and depth the samples differ.

    A node is a box as wide as its share of the distribution that the tree is centred at.

    Parameters
    ----------
    result
        What `twosample.paper.baselines.holmes` returned.
    {figure}
    """
    figure = new_figure(9.5, 5.6, figsize)
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    axes = figure.subplots()
    left, width, top = result.cells / 2.0**result.levels, 1.0 / 2.0**result.levels, result.levels + 0.5
    corners = [(left, top), (left + width, top), (left + width, top + 1.0), (left, top + 1.0)]
    boxes = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    reach = max(1.0, float(np.abs(result.contributions).max(initial=0.0)))
    colors = LinearSegmentedColormap.from_list("the same, different", [FAINT, NEUTRAL, DIFFER_COLOR])
    drawn = PolyCollection(list(boxes), cmap=colors, norm=Normalize(-reach, reach), edgecolors=FAINT)
    drawn.set_array(result.contributions)
    drawn.set_linewidth(0.3)
    axes.add_collection(drawn)
    axes.set(xlim=(0.0, 1.0), ylim=(result.depth + 0.5, 0.5), ylabel="level of the split")
    axes.set(xlabel="quantile", xticks=[0.0, 0.25, 0.5, 0.75, 1.0], yticks=range(1, result.depth + 1))
    values = axes.secondary_xaxis("top")
    values.set_xticks(np.arange(1, 8) / 8, [f"{value:.3g}" for value in result.octiles])
    as_text(values.set_xlabel(column_labels(result)[0]))
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label("contribution to log BF10 (positive: different)")
    headline(figure, result, *answer_in_words(result))
    return figure
