"""Pictures of results that are made of panels alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twosample.common.words import log_bf10_text, printable, probability_in_words, sentence
from twosample.errors import InputError
from twosample.show import question_panels
from twosample.show.plots.axes import figure_docs, headline
from twosample.show.plots.drawing import figure_of
from twosample.show.plots.labels import answer_in_words
from twosample.show.plots.panels import sample_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from twosample.questions.independence import IndependenceResult
    from twosample.questions.monitor import HistoryRow, MonitorState
    from twosample.results.each_result import EachResult
    from twosample.results.ksample_result import KSampleResult
    from twosample.results.mixing import Mixing
    from twosample.results.objects_result import ObjectsResult
    from twosample.results.robustness import Robustness

__all__ = [
    "plot_each",
    "plot_independence",
    "plot_ksample",
    "plot_mixing",
    "plot_monitor",
    "plot_objects",
    "plot_panels",
    "plot_robustness",
]


@figure_docs
def plot_panels(result: Any, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw every panel that a result offers, beside each other.

    Parameters
    ----------
    result
        What has `facts()` and `panels()`.
    {figure}

    Examples
    --------
    >>> import twosample as ts
    >>> figure = plot_panels(ts.ksample([[0.1, 0.4, 0.7], [2.1, 2.4, 2.6], [0.2, 0.3, 0.8]]))
    >>> [axes.get_title() for axes in figure.axes]
    ['Which groups are alike', 'Two at a time']
    """
    panels = list(result.panels().values())
    if not panels:
        raise InputError(f"plot: there is nothing to draw of this {type(result).__name__}", remedy="print it")
    return figure_of(panels, printable(result.facts().verdict), size=(5.6 * len(panels), 4.6), figsize=figsize)


@figure_docs
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
    {figure}
    """
    panel = question_panels.each_column(result, names, top)
    return figure_of([replace(panel, title="")], panel.title, size=(8.0, 5.2), figsize=figsize)


@figure_docs
def plot_independence(result: IndependenceResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw where x and y depend on each other, or the evidence of each pair of columns where there are several.

    Parameters
    ----------
    result
        What `twosample.independence` returned.
    {figure}
    """
    numbers = f"P(dependent) {probability_in_words(result.prob_h1)}      log BF10 {log_bf10_text(result.log_bf10)}"
    title = f"{sentence(result.verdict)}\n{numbers}"
    return figure_of([question_panels.dependence(result)], title, size=(7.2, 6.0), figsize=figsize)


@figure_docs
def plot_ksample(result: KSampleResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the probabilities of the likeliest partitions, and a matrix of P(same) for each pair of groups.

    Parameters
    ----------
    result
        What `twosample.ksample` returned.
    {figure}
    """
    numbers = f"P(not all alike) {probability_in_words(result.prob_h1)}, log BF10 {log_bf10_text(result.log_bf10)}"
    size = (11.0, max(4.4, 1.6 + 0.3 * len(result.names)))
    return figure_of(
        question_panels.groups(result), f"{sentence(result.verdict)}\n{numbers}", size=size, figsize=figsize
    )


@figure_docs
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
    {figure}

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.test(["ab" * 5, "abb" * 4, "aab"], ["bb" * 4, "bba" * 3, "ba"], kernel="kmer")
    >>> [axes.get_xlabel() for axes in plot_objects(result).axes]
    ['witness', 'parameter of kmer']
    """
    panels = question_panels.objects(result, sample_names(result, names))
    several = len(panels) > 1
    widths = (1.6, 1.0) if several else None
    figure = figure_of(panels, "", size=(11.0 if several else 7.5, 4.6), figsize=figsize, widths=widths)
    headline(figure, result, *answer_in_words(result))
    return figure


@figure_docs
def plot_monitor(
    history: Sequence[HistoryRow], state: MonitorState, *, figsize: tuple[float, float] | None = None
) -> Figure:
    """Draw the log e-value over time with the limit and the first crossing, and the run-length detector.

    Parameters
    ----------
    history, state
        Those of a `Monitor`.
    {figure}
    """
    panel = replace(question_panels.evidence_over_time(history, state.alpha), title="")
    verdict = f"Alarm at batch {state.crossed_at}" if state.alarm else "No alarm"
    count = f"{state.batches:,} batch{'es' * (state.batches != 1)}"
    title = f"{verdict}\nlog e-value {log_bf10_text(state.log_evalue)} after {count}"
    return figure_of([panel], title, size=(9.0, 4.6), figsize=figsize)


@figure_docs
def plot_robustness(robustness: Robustness, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw log BF10 against each assumption, with the limits of the verdicts.

    Parameters
    ----------
    robustness
        What `TwoSampleResult.robustness` returned.
    {figure}
    """
    panels = [replace(panel, title="") for panel in question_panels.sensitivity(robustness.curves)]
    return figure_of(panels, robustness.sentence, size=(4.2 * len(panels) + 0.6, 4.0), figsize=figsize)


@figure_docs
def plot_mixing(mixing: Mixing, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the posterior density of the share of H1, its mean, and the prior.

    Parameters
    ----------
    mixing
        What `TwoSampleResult.mixture` is, or its `over_blocks` returned.
    {figure}
    """
    return figure_of([question_panels.mixing(mixing)], "", size=(6.4, 3.6), figsize=figsize)
