"""The frequentist kernel test: maximum mean discrepancy with permutation p-values, at one lengthscale or several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from twosample.common.arguments import Seed, choice_of, count_of, flag_of, generator_of, is_one_of, lengthscales_of
from twosample.common.arrays import Array
from twosample.common.constraints import POSITIVE, SHARES, Axes, Count, Positive
from twosample.common.floating import own_errors
from twosample.data import Samples
from twosample.errors import InputError
from twosample.features.points import thin, typical_lengthscale
from twosample.inference.relabelling import as_pvalue, pairs_in_order, pool_in_order
from twosample.kernels import squared_distances
from twosample.paper.baselines.results import PValueResult, described

__all__ = ["MmdResult", "mmd"]


_MULTIPLES = 2.0 ** np.arange(-5, 3)
_BLOCK_ROWS = 1024
# The linear estimator compares each row with at least this many others, and with more while the total number of
# comparisons is below the limit, but not with more than this share of the rows: the statistic must be nearly normal.
_LEAST_NEIGHBOURS = 32
_COMPARISONS = 1 << 25
_LARGEST_SHARE = 0.01
# Statistics that differ by less than this share of the largest are tied, and those below this share of a typical kernel
# value are rounding errors.
_TIED = 1e-10
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class MmdResult(PValueResult):
    """Result of `mmd`; see `PValueResult` for the fields that all tests with a p-value have.

    Attributes
    ----------
    lengthscale
        The lengthscale of `statistic`: of several, the one with the smallest p-value.
    lengthscales, statistics, pvalues
        All lengthscales, and MMD² and the p-value of each alone, (L,). Units are as in `twosample.test`.
    permutations
        Number of permutations or, for pairs, of sign vectors; 0 for the normal approximation.
    estimator
        "quadratic" or "linear".
    """

    test: ClassVar[str] = "maximum mean discrepancy (Gretton et al. 2012)"

    lengthscale: Positive
    lengthscales: Annotated[Array, Axes("L", least=1), POSITIVE]
    statistics: Annotated[Array, Axes("L")]
    pvalues: Annotated[Array, Axes("L"), SHARES]
    permutations: Count
    estimator: str

    def _details(self) -> list[tuple[str, str]]:
        several = f", the best of {len(self.lengthscales)}" if len(self.lengthscales) > 1 else ""
        how = "normal approximation"
        if self.permutations:
            how = f"{self.permutations} {'sign vectors' if self.paired else 'permutations'}"
        return [("lengthscale", f"{self.lengthscale:.3g}{several}"), ("null distribution", how)]


@own_errors
def mmd(
    x: object,
    y: object,
    *,
    lengthscale: ArrayLike = "median",
    permutations: int = 1000,
    aggregate: bool = False,
    paired: object = False,
    estimator: Literal["quadratic", "linear"] = "quadratic",
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    rng: Seed = 0,
) -> MmdResult:
    """The kernel two-sample test of Gretton et al. (2012): unbiased MMD² and its permutation p-value.

    With several lengthscales it is the aggregated test of Schrab et al. (2023). Each permutation is given the smallest
    of its p-values over the lengthscales, each found among the same permutations, and the p-value is the rank of the
    data's own smallest among these. The data and their permutations are treated alike throughout, so that a level α is
    kept with any number B of permutations, exactly where α (B + 1) is whole and there are no ties, and the p-value is
    the smallest level at which the aggregated test rejects.

    Parameters
    ----------
    x, y
        The samples, as in `twosample.test`.
    lengthscale
        "median" for the median heuristic, one number, or several. Units are as in `twosample.test`.
    permutations
        Number of permutations; more give a finer p-value.
    aggregate
        Whether to use 1/32, 1/16, …, 4 times a single lengthscale rather than that one alone.
    paired
        Whether rows are pairs, as in `twosample.test`. Pairs are swapped at random (the wild bootstrap) in place of
        permutations, which is exact if the members of a pair are exchangeable when the distributions are the same.
    estimator
        "quadratic" compares all rows. "linear" matches the rows of x and y at random, drops the rest of the longer
        sample, compares each pair with at most 1 % of the others (32 where there are many) and takes the p-value from a
        normal distribution, whose variance is that under random swaps of matched rows: less power, but for large
        samples time linear in the number of rows. It makes no permutations.
    scale
        "auto" and "robust" divide each column by its spread, as in `twosample.test`; "raw" leaves the columns alone,
        and D positive numbers divide the columns by those.
    nan_policy
        As in `twosample.test`.
    rng
        Seed of the permutations; None for a fresh one.

    Returns
    -------
    MmdResult
        MMD² and p-value.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(0, 1, 100), rng.normal(0, 3, 100)
    >>> ts.baselines.mmd(x, y, permutations=199).verdict
    'the samples differ significantly at the 1 % level'
    >>> ts.baselines.mmd(x, y, permutations=199, aggregate=True).lengthscales.shape
    (8,)
    """
    choice_of(estimator, "estimator", ("quadratic", "linear"))
    permutations = count_of(permutations, "permutations", 1)
    generator = generator_of(rng)
    usual = "robust" if is_one_of(scale, ("auto",)) else scale
    samples = Samples.from_data(x, y, paired=paired, scale=usual, nan_policy=nan_policy)
    lengthscales = _lengthscales(lengthscale, flag_of(aggregate, "aggregate"), samples)
    if estimator == "linear" and len(lengthscales) > 1:
        raise InputError(
            "estimator: 'linear' takes one lengthscale", argument="estimator", remedy="use 'quadratic' for several"
        )

    rows = samples.view.apply(samples.x), samples.view.apply(samples.y)
    if estimator == "linear":
        permutations = 0
        best, (statistics, pvalues) = 0, _linear(*rows, lengthscales, generator, paired=samples.paired)
        pvalue = float(pvalues[0])
    else:
        simulated = (_swapped if samples.paired else _permuted)(*rows, lengthscales, permutations, generator)
        statistics = simulated[:, 0].copy()
        pvalue, pvalues, best = _aggregate(simulated)
    return MmdResult(
        statistic=float(statistics[best]),
        pvalue=pvalue,
        **described(samples),
        lengthscale=float(lengthscales[best] * samples.view.unit),
        lengthscales=lengthscales * samples.view.unit,
        statistics=statistics,
        pvalues=pvalues,
        permutations=permutations,
        estimator=estimator,
    )


def _lengthscales(lengthscale: ArrayLike, aggregate: bool, samples: Samples) -> Array:
    """Standardised lengthscales."""
    if is_one_of(lengthscale, ("median",)):
        values = np.array([typical_lengthscale(samples.view.apply(thin(samples.x, samples.y)))])
    else:
        values = lengthscales_of(lengthscale, samples.view.unit)
    return values * _MULTIPLES if aggregate and len(values) == 1 else values


def _aggregate(simulated: Array) -> tuple[float, Array, int]:
    """P-value of the data, column 0, among the columns of (L, 1 + B) statistics, that of each row, and the best row.

    The smallest p-values of many columns are equal; the larger statistic, in standard deviations, goes first.
    """
    tie = _TIED * np.abs(simulated).max(axis=1, keepdims=True)
    pvalues = np.stack([_tail_shares(row, float(slack[0])) for row, slack in zip(simulated, tie, strict=True)])
    centered = simulated - simulated.mean(axis=1, keepdims=True)
    spreads = centered.std(axis=1, keepdims=True)
    heights = centered / np.where(spreads > tie, spreads, np.inf)
    smallest, highest = pvalues.min(axis=0), heights.max(axis=0)
    ahead = (smallest < smallest[0]) | ((smallest == smallest[0]) & (highest >= highest[0] - _TIED))
    best = int(np.lexsort((-heights[:, 0], pvalues[:, 0]))[0])
    return as_pvalue(int(ahead[1:].sum()), simulated.shape[1] - 1), pvalues[:, 0].copy(), best


def _tail_shares(values: Array, slack: float) -> Array:
    """For each value the share of values that are at least as large."""
    ordered = np.sort(values)
    return np.asarray((len(values) - np.searchsorted(ordered, values - slack, side="left")) / len(values))


# Statistics of the data and of their permutations. Kernel values less 1 serve as well, because the ones cancel, and
# keep their digits where the lengthscale is large.


def _kernel_less_one(distances: Array, lengthscale: float) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.expm1(distances * (-0.5 / lengthscale**2)))


def _permuted(x: Array, y: Array, lengthscales: Array, permutations: int, generator: np.random.Generator) -> Array:
    """Unbiased MMD² of the samples and of random splits of the pooled one, (L, 1 + permutations)."""
    smaller, larger = sorted((len(x), len(y)))
    pooled, in_smaller = pool_in_order(x, y)
    labels = np.arange(len(pooled)) < smaller
    member = np.stack([in_smaller, *(generator.permutation(labels) for _ in range(permutations))], axis=1)

    def kernels(i: slice, j: slice) -> Iterator[Array]:
        distances = squared_distances(pooled[i], pooled[j])
        return (_kernel_less_one(distances, lengthscale) for lengthscale in lengthscales)

    within, of_members, total = _quadratic_forms(kernels, member, len(lengthscales))
    across = of_members - within
    within_other = total[:, np.newaxis] - of_members - across
    statistics = (
        within / (smaller * (smaller - 1)) + within_other / (larger * (larger - 1)) - 2.0 * across / (smaller * larger)
    )
    return _without_rounding(statistics, total / len(pooled) ** 2)


def _swapped(x: Array, y: Array, lengthscales: Array, permutations: int, generator: np.random.Generator) -> Array:
    """MMD² over different pairs, of the data and with random pairs swapped, (L, 1 + permutations)."""
    x, y = pairs_in_order(x, y)
    n_rows = len(x)
    swapped = np.stack([np.zeros(n_rows, bool), *(generator.random(n_rows) < 0.5 for _ in range(permutations))], axis=1)
    typical = np.zeros(len(lengthscales))

    def contrasts(i: slice, j: slice) -> Iterator[Array]:
        distances = [squared_distances(a[i], b[j]) for a, b in ((x, x), (y, y), (x, y), (y, x))]
        for index, lengthscale in enumerate(lengthscales):
            xx, yy, xy, yx = (_kernel_less_one(part, lengthscale) for part in distances)
            typical[index] += float(xx.sum() + yy.sum()) / n_rows**2
            contrast = xx + yy - xy - yx
            if i == j:
                np.fill_diagonal(contrast, 0.0)
            yield contrast

    total, *_ = _quadratic_forms(contrasts, 1 - 2 * swapped.astype(np.int8), len(lengthscales))
    return _without_rounding(total / (n_rows * (n_rows - 1)), typical)


def _quadratic_forms(
    matrices: Callable[[slice, slice], Iterable[Array]], vectors: NDArray[Any], count: int
) -> tuple[Array, Array, Array]:
    """vᵀKv, 1ᵀKv and 1ᵀK1 for `count` symmetric matrices K (n, n) and the columns v of `vectors` (n, B).

    `matrices` returns the blocks of all matrices at these rows and columns; shapes are (count, B) twice and (count,).
    """
    forms, sums = np.zeros((2, count, vectors.shape[1]))
    totals = np.zeros(count)
    starts = range(0, len(vectors), _BLOCK_ROWS)
    for i, j in combinations_with_replacement([slice(start, start + _BLOCK_ROWS) for start in starts], 2):
        first, second = vectors[i].astype(np.float64), vectors[j].astype(np.float64)
        for index, block in enumerate(matrices(i, j)):
            products, times = block @ second, 1.0 if i == j else 2.0
            forms[index] += times * np.einsum("ib,ib->b", first, products)
            sums[index] += products.sum(axis=0)
            totals[index] += times * block.sum()
            if i != j:
                sums[index] += block.sum(axis=1) @ first
    return forms, sums, totals


def _without_rounding(statistics: Array, typical: Array) -> Array:
    """Statistics (L, B), with 0 for those below the rounding error of kernel values of a typical size (L,)."""
    return np.where(np.abs(statistics) > _ROUNDING * np.abs(typical)[:, np.newaxis], statistics, 0.0)


def _linear(
    x: Array, y: Array, lengthscales: Array, generator: np.random.Generator, *, paired: bool
) -> tuple[Array, Array]:
    """MMD² over some of the pairs of matched rows, and its p-value from a normal distribution, (1,) each."""
    n_rows = min(len(x), len(y))
    order = generator.permutation(len(x))
    x, y = x[order][:n_rows], y[order if paired else generator.permutation(len(y))][:n_rows]
    total = squares = 0.0
    count = 0
    neighbours = min(max(_LEAST_NEIGHBOURS, _COMPARISONS // n_rows), max(1, int(_LARGEST_SHARE * n_rows)))
    for shift in range(1, neighbours + 1):
        contrast = np.zeros(n_rows - shift)
        for a, b, sign in ((x, x, 1.0), (y, y, 1.0), (x, y, -1.0), (y, x, -1.0)):
            distances = np.square(a[shift:] - b[:-shift]).sum(axis=1)
            contrast += sign * _kernel_less_one(distances, float(lengthscales[0]))
        total += float(contrast.sum())
        squares += float(np.square(contrast).sum())
        count += len(contrast)
    # With a random sign for each matched pair the terms are uncorrelated and have mean 0.
    pvalue = float(ndtr(-total / math.sqrt(squares))) if squares > 0.0 else 1.0
    return np.array([total / count]), np.array([pvalue])
