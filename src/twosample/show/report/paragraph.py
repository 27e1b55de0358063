"""A result as a paragraph for a paper: what was compared, with what model, and what was found."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from twosample.common.words import (
    columns_in_words,
    log_bf10_text,
    odds_in_words,
    printable,
    probability_in_words,
    pvalue_text,
)

if TYPE_CHECKING:
    from twosample.models import Model
    from twosample.results.comparison import Comparison
    from twosample.results.each_result import EachResult
    from twosample.results.ksample_result import KSampleResult
    from twosample.results.objects_result import ObjectsResult
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = [
    "CITATION",
    "each_paragraph",
    "groups_paragraph",
    "is_or_sign",
    "model_in_words",
    "objects_paragraph",
    "paragraph",
    "version",
]

CITATION = (
    "Q. Zhang, V. Wild, S. Filippi, S. Flaxman and D. Sejdinovic (2022). Bayesian Kernel Two-Sample Testing. "
    "Journal of Computational and Graphical Statistics."
)
_SHOWN_COLUMNS = 5
_LIKELY = 0.5
# What a p-value is of, by the option that asks for one.
_TESTS = {"permutations": "permutation", "simulations": "Monte Carlo"}


def is_or_sign(words: str, sign: str = "=") -> str:
    """A number that may begin with < or >, with a sign before it.

    Examples
    --------
    >>> is_or_sign("0.5"), is_or_sign("> 0.9999")
    ('= 0.5', '> 0.9999')
    """
    return words if words[0] in "<>" else f"{sign} {words}"


def model_in_words(model: Model) -> list[str]:
    """Every assumption of a model, a sentence each.

    Examples
    --------
    >>> from twosample.models import PRESETS
    >>> model_in_words(PRESETS["paper"])[1]
    'The lengthscale of the kernel has a Gamma(2, 2) prior in the units of the data.'
    """
    from twosample.models import LogUniform

    prior = model.lengthscale
    lengthscale = (
        f"The lengthscale of the kernel has a prior that is uniform in its logarithm, from {prior.low:.4g} to "
        f"{prior.high:.4g} times the median heuristic."
        if isinstance(prior, LogUniform)
        else f"The lengthscale of the kernel has a Gamma({prior.shape:g}, {prior.rate:g}) prior in the units of the "
        "data."
    )
    amplitude = (
        "The amplitude of the difference is fixed at 1."
        if model.amplitude is None
        else f"The amplitude of the difference has a half-Cauchy prior of scale {model.amplitude.scale:g}."
    )
    witness = (
        "uniform on the evaluation points, with differences that add up to zero"
        if model.measure == "points"
        else "Lebesgue measure, as in the paper"
    )
    said = [
        f"Under H1 the witness is a Gaussian process; the measure of its prior covariance is {witness}.",
        lengthscale,
        amplitude,
        "The noise of the features counts as estimated (Student's t)."
        if model.student
        else "The noise of the features counts as known (Gaussian).",
    ]
    if model.shrinkage is None:
        said.append("It is estimated from both samples together.")
    said.append(
        "Columns are divided by a robust measure of their spread."
        if model.scale == "robust"
        else "Columns are left in their own units."
    )
    if model.ranks:
        said.append(
            f"The Bayes factor is an average over the columns as scaled and their normal scores, which have a share of "
            f"{model.ranks:g} of the prior weight, all together and in subsets of columns."
        )
    if model.weighing != "evidence":
        said.append(
            f"Lengthscales are weighed by the {model.weighing.replace('published', 'released code of the paper')}."
        )
    return said


def paragraph(result: TwoSampleResult) -> str:
    """The answer of one test as a paragraph."""
    first, second = map(printable, result.names)
    sizes = f"n = {result.n_x} pairs" if result.paired else f"n = {result.n_x} and {result.n_y}"
    if result.call[1] == "law":
        sizes = f"n = {result.n_x}"
    said = [
        f"We compared {first} with {second} ({sizes}; {columns_in_words(len(result.columns))}"
        f"{_named(result.columns)}) by a Bayesian kernel two-sample test (Zhang et al., 2022), which weighs a "
        f"difference of the two distributions (H1) against none (H0).",
        f"The model was {result.model.name}, with {_kernels(result)} "
        f"and {result.diagnostics.points or 'given'} evaluation points: {_model_clauses(result)}.",
        *_answered(result),
        *_columns_that_differ(result),
        *_relabelled(result),
    ]
    if result.left_out:
        named = ", ".join(f"{printable(one.column)} ({one.reason})" for one in result.left_out[:_SHOWN_COLUMNS])
        rest = len(result.left_out) - _SHOWN_COLUMNS
        said.append(f"Left out: {named}{f' and {rest} more' if rest > 0 else ''}.")
    return " ".join([*said, _software()])


def objects_paragraph(result: ObjectsResult) -> str:
    """The answer of a test of objects as a paragraph."""
    first, second = map(printable, result.names)
    values = ", ".join(map(printable, result.parameters))
    averaged = f", averaged over its parameters {values}" if len(result.parameters) > 1 else ""
    said = [
        f"We compared {first} with {second} (n = {result.n_x} and {result.n_y} objects) by a Bayesian kernel "
        "two-sample test (Zhang et al., 2022), which weighs a difference of the two distributions (H1) against none "
        "(H0).",
        f"The model was {result.model.name}, with {_kernel(result.kernel)}{averaged}, at {result.diagnostics.points} "
        "points among the objects.",
        *_answered(result),
        *_relabelled(result),
    ]
    return " ".join([*said, _software()])


def _answered(result: Comparison) -> list[str]:
    """Verdict and numbers, and the size of the difference."""
    said = [
        f"There was {result.verdict} (log BF10 = {log_bf10_text(result.log_bf10)}; P(H1 | data) "
        f"{is_or_sign(probability_in_words(result.prob_h1))} with prior odds of {odds_in_words(result.prior_odds)}).",
    ]
    if result.effect is not None:
        low, high = result.effect.auc.interval(0.9)
        said.append(
            f"The size of the difference, as the AUC of the witness, was {result.effect.auc.mean:.3f} (90 % credible "
            f"interval {low:.3f} to {high:.3f}; 0.5 is none)."
        )
    if result.prob_beyond_rope is not None:
        beyond = is_or_sign(probability_in_words(result.prob_beyond_rope))
        said.append(f"The probability of a difference that matters was P(AUC > {result.rope:g}) {beyond}.")
    return said


def _relabelled(result: Comparison) -> list[str]:
    """What permutations say."""
    said = []
    if result.pvalue is not None:
        evalue = "" if result.evalue is None else f", e-value {result.evalue:.3g}"
        said.append(
            f"A {_TESTS[result.call[2]]} test of the Bayes factor gave p "
            f"{is_or_sign(pvalue_text(result.pvalue))}{evalue} "
            f"({result.diagnostics.permutations} {result.relabelled_words})."
        )
    if result.disagreement:
        said.append(result.disagreement)
    return said


def each_paragraph(result: EachResult) -> str:
    """The answers of one test a column as a paragraph."""
    found = result.discoveries
    named = f": {_some(found)}" if found else ""
    tested = f"{columns_in_words(len(result))}" if not result.groups else f"{len(result)} columns and groups of columns"
    skipped = f" {len(result.skipped)} could not be tested." if result.skipped else ""
    sizes = "pairs of rows" if result.paired else "rows of the two samples"
    n_x, n_y = int(result.n_x.max(initial=0)), int(result.n_y.max(initial=0))
    count = str(n_x) if result.paired else f"{n_x} and {n_y}"
    return (
        f"We compared {sizes} (n = {count}) in {tested}, one at a time, by a Bayesian kernel two-sample test of normal "
        f"scores (Zhang et al., 2022; model {result.model.name}). The share of columns that differ, learnt from all of "
        f"them, was {result.share:.3g} and served as the prior probability of each. {len(found)} of {len(result)} "
        f"differed at a false discovery rate of {result.fdr:g}{named}.{skipped} {_software()}"
    )


def _kernels(result: TwoSampleResult) -> str:
    if not result.kernels:
        return _kernel(result.kernel)
    names = [one.name for one in result.kernels]
    likeliest = f"P = {probability_in_words(result.kernels[0].posterior)}"
    return f"the average over the kernels {', '.join(names)} (likeliest {names[0]}, {likeliest})"


def groups_paragraph(result: KSampleResult) -> str:
    """The answer to whether several groups are alike, and which are.

    Examples
    --------
    >>> import twosample as ts
    >>> groups_paragraph(ts.ksample([[0.1, 0.4, 0.7], [2.1, 2.4, 2.6], [0.2, 0.3, 0.8]]))[:40]
    'We compared 3 groups (n = 3, 3 and 3; 1 '
    """
    *first, last = [f"{n:,}" for n in result.n.tolist()]
    likeliest = result.partitions[0]
    blocks = " | ".join(", ".join(map(printable, block)) for block in likeliest.groups)
    prob = is_or_sign(probability_in_words(result.prob_h1))
    words = [
        f"We compared {len(result.names)} groups (n = {', '.join(first)} and {last}; "
        f"{columns_in_words(len(result.columns))}) by the Bayes factors of their partitions into blocks that share a "
        f"distribution, with the {result.model.name} model of a Bayesian kernel two-sample test (Zhang et al., 2022).",
        f'The log Bayes factor of "not all alike" against "all alike" is '
        f"{'' if result.all_listed else 'at least '}{log_bf10_text(result.log_bf10)}, so that at prior odds of "
        f"{odds_in_words(result.prior_odds)} P(not all alike | data) {prob}.",
        f"The likeliest partition is {blocks} (P {is_or_sign(probability_in_words(likeliest.posterior))}).",
    ]
    if result.pvalue is not None:
        words.append(f"The permutation p-value is {is_or_sign(pvalue_text(result.pvalue), '').strip()}.")
    return " ".join([*words, _software()])


def _kernel(name: str) -> str:
    return "a Gaussian (RBF) kernel" if name == "rbf" else f"the kernel {name}"


def version() -> str:
    """The version of this package, which only the whole package knows."""
    return str(import_module("twosample").__version__)


def _software() -> str:
    return f"The test was computed with twosample {version()}. Reference: {CITATION}"


def _named(columns: tuple[str, ...]) -> str:
    return "" if all(column.isdecimal() for column in columns) else f": {_some(columns)}"


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(printable(name) for name in names[:_SHOWN_COLUMNS])
    rest = len(names) - _SHOWN_COLUMNS
    return f"{shown} and {rest} more" if rest > 0 else shown


def _model_clauses(result: TwoSampleResult) -> str:
    from twosample.models import LogUniform

    prior, model = result.model.lengthscale, result.model
    if result.lengthscale.fixed:
        lengthscale = f"the lengthscale was fixed at {result.lengthscale.grid[0]:.3g}"
    elif isinstance(prior, LogUniform):
        lengthscale = (
            f"the lengthscale was log-uniform between {prior.low:.3g} and {prior.high:.3g} times the median heuristic"
        )
    else:
        lengthscale = f"the lengthscale had a Gamma({prior.shape:g}, {prior.rate:g}) prior"
    amplitude = (
        "the amplitude was fixed at 1"
        if model.amplitude is None
        else f"the amplitude had a half-Cauchy prior of scale {model.amplitude.scale:g}"
    )
    return f"{lengthscale}, and {amplitude}"


def _columns_that_differ(result: TwoSampleResult) -> list[str]:
    if result.by_subset is None or len(result.columns) == 1:
        return []
    likely = [row for row in result.by_column if row.prob > _LIKELY]
    if not likely:
        if result.together is not None:
            first, second = map(printable, result.together)
            return [f"The samples differed in how {first} and {second} go together, not in either of them alone."]
        return ["No single column was more likely to differ than not."]
    shown = [
        f"{printable(row.column)} (P {is_or_sign(probability_in_words(row.prob))}; {row.words})"
        for row in likely[:_SHOWN_COLUMNS]
    ]
    rest = len(likely) - len(shown)
    return [f"The columns that differed were {', '.join(shown)}{f' and {rest} more' if rest else ''}."]
