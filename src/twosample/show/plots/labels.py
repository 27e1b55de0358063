"""What pictures say in words: names of samples and columns, units, and the numbers of the answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from twosample.common.words import log_bf10_text, probability_in_words, share_in_words, short
from twosample.show.numbers import is_or_sign

if TYPE_CHECKING:
    from twosample.inference.columns import ColumnEvidence
    from twosample.inference.witness import Driver
    from twosample.paper.baselines import HolmesResult
    from twosample.paper.gibbs_result import GibbsResult
    from twosample.results.comparison import Comparison
    from twosample.results.result_parts import Lengthscale
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = [
    "LONGEST_WITHIN",
    "answer_in_words",
    "beyond_in_words",
    "column_in_words",
    "column_labels",
    "outside_in_words",
    "pair_in_words",
    "prior_and_posterior",
    "probability_label",
    "sample_labels",
    "sampled_answer_in_words",
    "shown_drivers",
    "unit_in_words",
]

_LONGEST_NAME = 28
# Of a name within a line of words.
LONGEST_WITHIN = 16


def column_labels(result: TwoSampleResult | GibbsResult | HolmesResult, longest: int = _LONGEST_NAME) -> list[str]:
    """What to call the columns; those without a name go by their position."""
    if len(result.columns) == 1 and result.columns[0].isdigit():
        return ["value"]
    return [f"column {name}" if name.isdigit() else short(name, longest) for name in result.columns]


def sample_labels(result: TwoSampleResult, names: tuple[str, str]) -> list[str]:
    """Names of the samples with their sizes, and how many of the rows are shown where that is not all."""
    labels = []
    for name, n, shown in zip(names, (result.n_x, result.n_y), result.picture.rows, strict=True):
        labels.append(f"{name} ({n:,} rows)" if shown == n else f"{name} ({shown:,} of {n:,} rows)")
    return labels


def beyond_in_words(result: TwoSampleResult, counts: Iterable[int], names: tuple[str, str], side: int) -> str:
    """How many rows of each sample lie beyond an edge, the left (0) or the right one (1); empty if none do."""
    words = _rows_in_words(result, counts, names)
    if not words:
        return ""
    return f"{words} beyond \N{RIGHTWARDS ARROW}" if side else f"\N{LEFTWARDS ARROW} {words} beyond"


def outside_in_words(result: TwoSampleResult, counts: Iterable[int], names: tuple[str, str]) -> str:
    """How many rows of each sample are out of view; empty if none are."""
    words = _rows_in_words(result, counts, names)
    return f"{words} out of view" if words else ""


def _rows_in_words(result: TwoSampleResult, counts: Iterable[int], names: tuple[str, str]) -> str:
    """Numbers of rows where all of them were looked at, else the shares of those that were."""
    words, sizes = [], (result.n_x, result.n_y)
    for name, count, looked_at, n in zip(names, counts, result.picture.rows, sizes, strict=True):
        if count:
            number = f"{count:,}" if looked_at == n else share_in_words(count / looked_at)
            words.append(f"{number} of {short(name, LONGEST_WITHIN)}")
    return ", ".join(words)


def column_in_words(row: ColumnEvidence) -> list[str]:
    """How likely a column differs and, if it is likely, which way and how much."""
    words = f"P(differs) {is_or_sign(probability_in_words(row.prob))}"
    return [words, row.words] if row.prob > 0.5 else [words]


def pair_in_words(result: TwoSampleResult, columns: tuple[int, ...]) -> list[str]:
    """The evidence that the samples differ in two columns together."""
    names = tuple(result.columns[place] for place in columns)
    log_bf10 = next(row.log_bf10 for row in result.subsets if row.columns == names)
    return [f"log BF10 = {log_bf10_text(log_bf10)} of these two", "in how they go together"]


def probability_label(probability: float) -> str:
    """A probability in two digits, for a bar."""
    return "< 0.01" if probability < 0.01 else "> 0.99" if probability > 0.99 else f"{probability:.2f}"


def unit_in_words(result: TwoSampleResult | GibbsResult) -> str:
    """The unit of a lengthscale, in brackets."""
    if len(result.columns) == 1:
        return f"(in the units of {'the data' if result.columns[0].isdigit() else short(result.columns[0])})"
    return "(in the units of the columns)" if (result.scale == 1.0).all() else "(1 = the typical spread of a column)"


def shown_drivers(result: TwoSampleResult) -> tuple[Driver, ...]:
    """The witness of the columns that are shown: that of the picture, else those of the columns that drive it."""
    own = result.witness_picture
    return result.drivers if own is None else (own,)


def prior_and_posterior(result: TwoSampleResult) -> tuple[Lengthscale, Any, float, str]:
    """Posterior and prior of the lengthscale, the unit of the prior, and the unit of the axis in words."""
    unit = float(result.scale[0]) if len(result.columns) == 1 else 1.0
    return result.lengthscale, result.model.lengthscale, unit, unit_in_words(result)


def answer_in_words(result: Comparison | GibbsResult | HolmesResult) -> tuple[str, str]:
    """P(different) and log BF10."""
    probability = is_or_sign(probability_in_words(result.prob_h1))
    return f"P(different | data) {probability}", f"log BF10 = {log_bf10_text(result.log_bf10)}"


def sampled_answer_in_words(result: GibbsResult) -> tuple[str, str]:
    """P(different) and log BF10 with their Monte Carlo errors."""
    probability, evidence = answer_in_words(result)
    error = f" ± {result.prob_h1_error:.1g}" if " = " in probability else ""
    return f"{probability}{error}", f"{evidence} ± {result.log_bf10_error:.2g}"
