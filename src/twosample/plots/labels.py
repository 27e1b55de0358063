"""What pictures say in words: names of samples and columns, units, and the numbers of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twosample.words import log_bf10_text, printable, probability_in_words

if TYPE_CHECKING:
    from twosample.baselines import HolmesResult
    from twosample.gibbs_result import GibbsResult
    from twosample.result import TwoSampleResult

__all__ = ["answer_in_words", "column_labels", "sample_labels", "sampled_answer_in_words", "short", "unit_in_words"]

_LONGEST_NAME = 28


def short(name: str) -> str:
    """A name without its middle where it is long: names that start alike often differ at the end."""
    shown = printable(str(name))
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[:14]}...{shown[17 - _LONGEST_NAME :]}"


def column_labels(result: TwoSampleResult | GibbsResult | HolmesResult) -> list[str]:
    """What to call the columns; those without a name go by their position."""
    if len(result.columns) == 1 and result.columns[0].isdigit():
        return ["value"]
    return [f"column {name}" if name.isdigit() else short(name) for name in result.columns]


def sample_labels(result: TwoSampleResult, names: tuple[str, str]) -> list[str]:
    """Names of the samples with their sizes, and how many of the rows are shown where that is not all."""
    labels = []
    for name, n, shown in zip(names, (result.n_x, result.n_y), (result.shown_x, result.shown_y), strict=True):
        labels.append(f"{name} ({n:,} rows)" if len(shown) == n else f"{name} ({len(shown):,} of {n:,} rows)")
    return labels


def unit_in_words(result: TwoSampleResult | GibbsResult) -> str:
    """The unit of a lengthscale, in brackets."""
    if len(result.columns) == 1:
        return (
            "(in the units of the data)"
            if result.columns[0].isdigit()
            else f"(in the units of {short(result.columns[0])})"
        )
    if (result.scale == 1.0).all():
        return "(in the units of the columns)"
    return "(1 = the typical spread of a column)"


def answer_in_words(result: TwoSampleResult | HolmesResult) -> tuple[str, str]:
    """P(different) and log BF10."""
    return f"P(different | data) {_probability(result.prob_h1)}", _log_bayes_factor(result.log_bf10)


def sampled_answer_in_words(result: GibbsResult) -> tuple[str, str]:
    """P(different) and log BF10 with their Monte Carlo errors."""
    probability = _probability(result.prob_h1)
    error = f" ± {result.prob_h1_error:.1g}" if probability.startswith("=") else ""
    return (
        f"P(different | data) {probability}{error}",
        f"{_log_bayes_factor(result.log_bf10)} ± {result.log_bf10_error:.2g}",
    )


def _probability(probability: float) -> str:
    words = probability_in_words(probability)
    return words if words[0] in "<>" else f"= {words}"


def _log_bayes_factor(log_bf10: float) -> str:
    return f"log BF10 = {log_bf10_text(log_bf10)}"
