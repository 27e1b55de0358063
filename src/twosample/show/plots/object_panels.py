"""The picture of a test of objects: the witness at those of both samples, and the evidence with each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.common.words import printable
from twosample.show.plots.axes import DIFFER_COLOR, FAINT, X_COLOR, Y_COLOR, add_legend, as_text, headline, new_figure
from twosample.show.plots.labels import answer_in_words
from twosample.show.plots.panels import sample_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.results.objects_result import ObjectsResult

__all__ = ["plot_objects"]

_BINS = 24
# Height of the strips below the histograms, as a share of the highest bar.
_STRIP = 0.06


def plot_objects(
    result: ObjectsResult, *, names: tuple[str, str] | None = None, figsize: tuple[float, float] | None = None
) -> Figure:
    """Draw the witness at the objects of both samples, and the log Bayes factor with each parameter of the kernel.

    Parameters
    ----------
    result
        What `twosample.test` returned for objects.
    names
        What to call the two samples, if not as in the result.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("result.png")``. It belongs to no window and no global state.

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.test(["ab" * 5, "abb" * 4, "aab"], ["bb" * 4, "bba" * 3, "ba"], kernel="kmer")
    >>> [axes.get_xlabel() for axes in plot_objects(result).axes]
    ['witness', 'parameter of kmer']
    """
    labels = sample_names(result, names)
    several = len(result.parameters) > 1
    figure = new_figure(11.0 if several else 7.5, 4.6, figsize)
    if several:
        left, right = figure.subplots(1, 2, width_ratios=(1.6, 1.0))
        _draw_parameters(result, right)
    else:
        left = figure.subplots()
    _draw_witness(result, labels, left)
    headline(figure, result, *answer_in_words(result))
    return figure


def _draw_witness(result: ObjectsResult, names: tuple[str, str], axes: Axes) -> None:
    both = np.concatenate([result.witness_x, result.witness_y])
    low, high = float(both.min()), float(both.max())
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    tallest, handles = 0.0, []
    for values, color in ((result.witness_x, X_COLOR), (result.witness_y, Y_COLOR)):
        shares = np.histogram(values, edges)[0] / len(values)
        tallest = max(tallest, float(shares.max()))
        handles.append(axes.stairs(shares, edges, color=color, fill=True, alpha=0.35))
        axes.stairs(shares, edges, color=color)
    for place, (values, color) in enumerate(((result.witness_x, X_COLOR), (result.witness_y, Y_COLOR)), 1):
        axes.plot(values, np.full(len(values), -place * _STRIP * tallest), "|", color=color, markersize=6)
    axes.axvline(0.0, color=FAINT, linewidth=0.8)
    axes.set(xlabel="witness", ylabel="share of the objects", yticks=[tick for tick in axes.get_yticks() if tick >= 0])
    axes.set_ylim(-3.0 * _STRIP * tallest, 1.08 * tallest)
    as_text(axes.set_title("The witness at the objects", loc="left", fontsize="medium"))
    sizes = (result.n_x, result.n_y)
    add_legend(axes, handles, [f"{name} ({n:,} objects)" for name, n in zip(names, sizes, strict=True)], ncols=2)


def _draw_parameters(result: ObjectsResult, axes: Axes) -> None:
    places = np.arange(len(result.parameters))
    axes.bar(places, result.parameter_log_bf10, color=DIFFER_COLOR, width=0.6)
    axes.axhline(0.0, color=FAINT, linewidth=0.8)
    axes.set_xticks(places, [printable(name) for name in result.parameters])
    for text in axes.get_xticklabels():
        as_text(text)
    as_text(axes.xaxis.get_label()).set_text(f"parameter of {printable(result.kernel)}")
    axes.set_ylabel("log BF10")
    as_text(axes.set_title("With each parameter alone", loc="left", fontsize="medium"))
