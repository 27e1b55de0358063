"""The p-value and the e-value of log BF10 among its values for relabelled data.

Under H0 the labels of independent rows, the order within pairs, and the pairing of two sides are exchangeable, and data
sets drawn from a law are like the observed one. All else that enters the statistic (scaling, evaluation points,
lengthscales and their weights) is a symmetric function of the pooled rows, and the labels as observed go through the
same arithmetic as the others. Hence the level is exact. A relabelling only weighs the features anew.

`compare` runs any kind of `Relabelling`. Those of two samples, of pairs and of several groups are here; those of a law
and of pairings are with their questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags, Indices
from twosample.common.threads import in_order
from twosample.data import Samples
from twosample.features.maps import FeatureMap
from twosample.features.statistics import Moments
from twosample.features.subsets import multiples_of
from twosample.inference import evidence, partitions
from twosample.inference.contrasts import Contrasts
from twosample.inference.evidence import Difference, Hypotheses
from twosample.models import Model
from twosample.places import local

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = [
    "GroupLabels",
    "Labels",
    "RankOne",
    "Relabelled",
    "Relabelling",
    "Signs",
    "Splits",
    "Swaps",
    "WeightedTest",
    "as_extreme",
    "as_pvalue",
    "compare",
    "log_bf10_values",
    "of_samples",
    "pairs_in_order",
    "pool_in_order",
    "rule",
    "tests_of",
    "work",
]

_Test = TypeVar("_Test", contravariant=True)
Statistic = Callable[[Any], Array]

# Of the Gauss–Legendre rule in log ℓ. With the default prior its log BF10 is off by 1e-3 or less where it is small, and
# by up to 1 where it is in the hundreds and every relabelling is far below it.
_LENGTHSCALES = 32
# Values of log BF10 that differ by less, or by less than this share, are tied.
_TIED = 1e-8
# Memory of the relabellings in a block, and the number of tests that are set up once for all blocks.
_BLOCK_BYTES = 1 << 25
_KEPT = 16
# For progress bars: to relabel so many rows costs as much as a pass of the plain test over one, at a lengthscale.
_ROWS_PER_PASS = 64
# The statistic of so many groups has all partitions.
_MOST_GROUPS = 4


def as_pvalue(as_extreme: int, permutations: int) -> float:
    """The p-value of a permutation test, the data themselves counted as one of the permutations.

    Examples
    --------
    >>> as_pvalue(4, 99)
    0.05
    """
    return (1 + as_extreme) / (1 + permutations)


class Relabelled(NamedTuple):
    """What log BF10 is worth among its values for relabelled data.

    Attributes
    ----------
    pvalue
        The share of labellings, the labels as they are among them, with a log BF10 that is at least as large.
    evalue
        BF10 over its mean for all these labellings. Where the labels are exchangeable, each of them is as likely to be
        the one observed, so that the mean of this is 1, for every distribution and every n.
    """

    pvalue: float
    evalue: float

    @classmethod
    def of(cls, log_bf10: Array) -> Relabelled:
        """Of log BF10 for the labels as they are, and then for random ones.

        Examples
        --------
        >>> found = Relabelled.of(np.log([8.0, 1.0, 2.0, 1.0]))
        >>> found.pvalue, round(found.evalue, 3)
        (0.25, 2.667)
        """
        return cls(
            pvalue=as_pvalue(as_extreme(log_bf10[0], log_bf10[1:]), len(log_bf10) - 1),
            evalue=len(log_bf10) * float(np.exp(-np.logaddexp.reduce(log_bf10 - log_bf10[0]))),
        )


def as_extreme(observed: float, others: Array) -> int:
    """How many values are at least as large as the observed one; what differs by rounding alone is equal.

    Examples
    --------
    >>> as_extreme(2.0, np.array([1.0, 2.0 - 1e-12, 3.0]))
    2
    """
    return int((others >= observed - _TIED * max(1.0, abs(float(observed)))).sum())


class Relabelling(Protocol[_Test]):
    """Data sets that are as likely as the observed one if H0 holds: to add a kind of them, write such a class."""

    @property
    def observed(self) -> Any:
        """The labels, or what stands for them, as they are: an array."""

    def draw(self, generator: np.random.Generator) -> Any:
        """Random ones, of the same shape."""

    def statistic(self, test: _Test) -> Statistic:
        """Log of prior weight × BF10 of a test, (B,), as a function of the labels of B data sets, (B, ...)."""

    def bytes_of(self, test: _Test) -> int:
        """Memory that the test takes for one data set."""

    def work_of(self, test: _Test) -> int:
        """Work of the test for one data set, for progress bars."""


def compare(
    relabelling: Relabelling[_Test],
    tests: Sequence[_Test],
    permutations: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> Relabelled:
    """Compare log BF10 with its values for random relabellings.

    Parameters
    ----------
    relabelling
        What is drawn, and the statistic of each test.
    tests
        The tests whose Bayes factors are averaged.
    permutations
        Number of random relabellings.
    generator
        Draws them.
    count
        Is called with the work just done.
    """
    return Relabelled.of(log_bf10_values(relabelling, tests, permutations, generator, count))


def log_bf10_values(
    relabelling: Relabelling[_Test],
    tests: Sequence[_Test],
    permutations: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> Array:
    """Log BF10 of the observed labels and then of random ones, (1 + permutations,); parameters as for `compare`."""
    kept: dict[int, Statistic] = {}

    def of_test(labels: Any, number: int) -> Array:
        statistic = kept.get(number) or relabelling.statistic(tests[number])
        if number < _KEPT:
            kept[number] = statistic
        return statistic(labels)

    size = max(1, _BLOCK_BYTES // relabelling.bytes_of(tests[0]))
    values = []
    for start in range(0, 1 + permutations, size):
        numbers = range(start, min(start + size, 1 + permutations))
        labels = np.stack([relabelling.draw(generator) if number else relabelling.observed for number in numbers])
        total = np.full(len(labels), -np.inf)
        for test, found in zip(tests, in_order(partial(of_test, labels), range(len(tests))), strict=True):
            total = np.logaddexp(total, found)
            count(len(labels) * relabelling.work_of(test))
        values.append(total)
    return np.concatenate(values)


@dataclass(frozen=True, eq=False)
class WeightedTest:
    """A test of some columns at fixed lengthscales, with prior weights.

    Attributes
    ----------
    lengthscales
        (m,).
    log_weights
        Logarithms of their prior weights, (m,).
    columns
        The columns of its rows.
    features_of
        Makes its features, which take memory.
    """

    lengthscales: Array
    log_weights: Array
    columns: Indices | slice
    features_of: Callable[[], FeatureMap]

    @property
    def features(self) -> FeatureMap:
        """From rows of its columns to features."""
        return self.features_of()

    def sum(self, log_bf10: Array) -> Array:
        """Log of Σ prior weight × BF10 from log BF10 at every lengthscale, (m, ...), as (...)."""
        weights = self.log_weights.reshape(-1, *[1] * (log_bf10.ndim - 1))
        return np.asarray(np.logaddexp.reduce(weights + log_bf10, axis=0))


def tests_of(*plans: Plan) -> list[WeightedTest]:
    """The tests of plans that have prior weight; those of all columns as scaled come first in each."""
    tests = []
    for plan in plans:
        lengthscales, log_weights = rule(plan)
        if plan.prior:
            tests.append(
                WeightedTest(lengthscales, log_weights + np.log(plan.prior), slice(None), partial(_features, plan))
            )
        for number, part in enumerate(plan.parts):
            stack, multiples = plan.features_of(number), multiples_of(plan.model)
            for test in np.flatnonzero(part.prior).tolist():
                log_weight = np.full(len(multiples), np.log(part.prior[test] / len(multiples)))
                of_test = partial(stack.alone, test)
                tests.append(WeightedTest(stack.typical[test] * multiples, log_weight, part.columns[test], of_test))
    return tests


def _features(plan: Plan) -> FeatureMap:
    return plan.features


def rule(plan: Plan) -> tuple[Array, Array]:
    """Lengthscales and the logarithms of their weights: one fixed rule for the prior, whatever the labels.

    The weights add up to one, so that log Σ weight × BF10 is the integrated log BF10.
    """
    if plan.fixed:
        assert plan.lengthscales is not None
        return plan.lengthscales, np.full(len(plan.lengthscales), -np.log(len(plan.lengthscales)))
    lengthscale_prior = plan.model.lengthscale
    low, high = np.log(plan.bounds)
    nodes, weights = np.polynomial.legendre.leggauss(_LENGTHSCALES)
    log_lengthscales = low + 0.5 * (high - low) * (1.0 + nodes)
    log_weights = np.log(weights) + lengthscale_prior.log_density(log_lengthscales)
    return np.exp(log_lengthscales), log_weights - np.logaddexp.reduce(log_weights)


def work(tests: Sequence[WeightedTest], rows: int, permutations: int) -> int:
    """The work of `compare` for labels of so many rows, in rows × lengthscales of the plain test."""
    return (1 + permutations) * sum(_work_of(rows, test) for test in tests)


def _work_of(rows: int, test: WeightedTest) -> int:
    return len(test.lengthscales) * (1 + rows // _ROWS_PER_PASS)


def _bytes_of(rows: int, test: WeightedTest, groups: int = 1) -> int:
    return rows + 8 * groups * len(test.lengthscales) * test.features.count


def pool_in_order(x: Array, y: Array) -> tuple[Array, Flags]:
    """The pooled rows in lexicographic order, and which of them are of the smaller sample (of x if none is).

    Random labels then meet the same rows whatever the order of the rows and of the samples.

    Examples
    --------
    >>> rows, in_smaller = pool_in_order(np.array([[3.0], [1.0]]), np.array([[2.0]]))
    >>> rows.ravel(), in_smaller
    (array([1., 2., 3.]), array([False,  True, False]))
    """
    rows = np.concatenate([x, y])
    in_smaller = (np.arange(len(rows)) < len(x)) == (len(x) <= len(y))
    order = np.lexsort(rows.T[::-1])
    return rows[order], in_smaller[order]


def pairs_in_order(x: Array, y: Array) -> tuple[Array, Array]:
    """The pairs in an order that is the same if members of pairs change places.

    Examples
    --------
    >>> left, right = pairs_in_order(np.array([[3.0], [1.0]]), np.array([[2.0], [0.0]]))
    >>> left.ravel(), right.ravel()
    (array([1., 3.]), array([0., 2.]))
    """
    order = np.lexsort([*np.abs(x - y).T[::-1], *(x + y).T[::-1]])
    return x[order], y[order]


def of_samples(samples: Samples, model: Model) -> Labels | Signs:
    """The relabelling of two checked samples; the model must need no pairs for a pseudo-likelihood."""
    if samples.paired:
        return Signs(*pairs_in_order(samples.x, samples.y), model)
    return Labels(*pool_in_order(samples.x, samples.y), model)


@dataclass(frozen=True, eq=False)
class Labels:
    """Permuted labels of the pooled rows of two samples.

    Attributes
    ----------
    rows
        Pooled rows (N, D), in an order that does not depend on the labels.
    observed
        Which of them are in the first sample, (N,).
    model
        The model of the tests.
    """

    rows: Array
    observed: Flags
    model: Model

    def draw(self, generator: np.random.Generator) -> Flags:
        """Random labels, (N,)."""
        return generator.permutation(np.arange(len(self.rows)) < self.observed.sum())

    def statistic(self, test: WeightedTest) -> Statistic:
        """Log BF10 of labels (B, N)."""
        rows, first = self.rows[:, test.columns], int(self.observed.sum())
        splits = Splits.of(rows, first, test.features, test.lengthscales, self.model)
        return lambda labels: test.sum(splits.log_bf10(labels.T))

    def bytes_of(self, test: WeightedTest) -> int:
        """Memory of one relabelling."""
        return _bytes_of(len(self.rows), test)

    def work_of(self, test: WeightedTest) -> int:
        """Work of one relabelling."""
        return _work_of(len(self.rows), test)


@dataclass(frozen=True, eq=False)
class Signs:
    """Swaps within pairs.

    Attributes
    ----------
    x, y
        The pairs, (n, D) each, in an order that does not depend on who is x.
    model
        The model of the tests.
    """

    x: Array
    y: Array
    model: Model

    @property
    def observed(self) -> Flags:
        """No pair is swapped, (n,)."""
        return np.zeros(len(self.x), dtype=bool)

    def draw(self, generator: np.random.Generator) -> Flags:
        """Random swaps, (n,)."""
        return generator.random(len(self.x)) < 0.5

    def statistic(self, test: WeightedTest) -> Statistic:
        """Log BF10 of swaps (B, n)."""
        x, y = self.x[:, test.columns], self.y[:, test.columns]
        swaps = Swaps.of(x, y, test.features, test.lengthscales, self.model)
        return lambda swapped: test.sum(swaps.log_bf10(swapped.T))

    def bytes_of(self, test: WeightedTest) -> int:
        """Memory of one relabelling."""
        return _bytes_of(len(self.x), test)

    def work_of(self, test: WeightedTest) -> int:
        """Work of one relabelling."""
        return _work_of(len(self.x), test)


@dataclass(frozen=True, eq=False)
class GroupLabels:
    """Permuted labels of the pooled rows of several groups.

    The covariance is that of all rows, whatever the labels, so that one decomposition serves all relabellings.

    Attributes
    ----------
    rows
        Pooled rows (N, D), in an order that does not depend on the labels.
    observed
        The number of the group of each, (N,).
    labels
        The same numbers, increasing.
    model
        The model of the tests.
    """

    rows: Array
    observed: NDArray[np.int8]
    labels: NDArray[np.int8]
    model: Model

    @classmethod
    def of(cls, groups: Sequence[Array], model: Model) -> GroupLabels:
        """Of the rows of each group.

        Groups are numbered by size: those of one size are exchangeable, so that their order does not matter.
        """
        by_size = sorted(groups, key=len)
        rows = np.concatenate(by_size)
        labels = np.repeat(np.arange(len(groups), dtype=np.int8), [len(one) for one in by_size])
        order = np.lexsort(rows.T[::-1])
        return cls(rows[order], labels[order], labels, model)

    @cached_property
    def sizes(self) -> Array:
        """Number of rows of each group, (k,)."""
        return np.bincount(self.labels).astype(np.float64)

    def draw(self, generator: np.random.Generator) -> NDArray[np.int8]:
        """Random labels, (N,)."""
        return generator.permutation(self.labels)

    def statistic(self, test: WeightedTest) -> Statistic:
        """Log BF10 of labels (B, N), the average over partitions of the groups."""
        rows, features, lengthscales, sizes = self.rows[:, test.columns], test.features, test.lengthscales, self.sizes
        [pooled] = local.sample_moments(features, (rows,), lengthscales)
        variance = evidence.mean_diagonal(pooled.covariance)
        contrasts = Contrasts.around(sizes, pooled.covariance, variance, features, lengthscales, self.model).coarse()
        chosen = _fixed_partitions(len(sizes))
        log_prior = partitions.log_prior(chosen)
        log_prior = log_prior - np.logaddexp.reduce(log_prior)
        groups = np.arange(len(sizes))[:, np.newaxis]

        def log_bf10(labels: NDArray[np.int8]) -> Array:
            def weights(block: slice) -> Array:
                member = labels[:, np.newaxis, block] == groups
                return np.asarray((member / sizes[:, np.newaxis]).reshape(len(labels) * len(sizes), -1))

            means = local.weighted_sums(features, (rows,), lengthscales, weights, pooled.mean)
            shaped = means.reshape(len(means), len(labels), len(sizes), -1)
            by_partition = contrasts.with_means(shaped).log_bf(chosen)  # (m, B, P)
            return test.sum(np.logaddexp.reduce(by_partition + log_prior, axis=2))

        return log_bf10

    def bytes_of(self, test: WeightedTest) -> int:
        """Memory of one relabelling."""
        return _bytes_of(len(self.rows), test, 2 * len(self.sizes))

    def work_of(self, test: WeightedTest) -> int:
        """Work of one relabelling."""
        return _work_of(len(self.rows), test)


def _fixed_partitions(k: int) -> Indices:
    """The partitions of the statistic, which depend on nothing but k: all, or for many groups those of one and others.

    Of many groups they are all different, and each group against all others.
    """
    if k <= _MOST_GROUPS:
        return partitions.all_partitions(k)[1:]
    alone = [partitions.normalised(int(group == other) for other in range(k)) for group in range(k)]
    return np.array([tuple(range(k)), *alone], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Splits:
    """Log BF10 of two independent samples for any labels of the pooled rows.

    V is that of the pooled covariance within the samples, which is what the default model has; for samples of equal
    size it is the same in every model.

    Attributes
    ----------
    rows
        Pooled rows (N, D).
    counts
        Number of rows in the first and in the second sample.
    features, lengthscales
        From rows to features, and lengthscales (m,).
    pooled
        Mean of the pooled features, (m, s).
    rank_one
        What is the same for all labels.
    """

    rows: Array
    counts: tuple[int, int]
    features: FeatureMap
    lengthscales: Array
    pooled: Array
    rank_one: RankOne

    @classmethod
    def of(cls, rows: Array, n_first: int, features: FeatureMap, lengthscales: Array, model: Model) -> Splits:
        """Go once over the rows."""
        [pooled] = local.sample_moments(features, (rows,), lengthscales)
        counts = n_first, len(rows) - n_first
        # The scatter within the samples is that of all rows less (n/2) ΔΔᵀ, n the harmonic mean of the sizes.
        size = 2.0 / (1.0 / counts[0] + 1.0 / counts[1])
        difference = Difference(
            delta=np.zeros_like(pooled.mean),
            noise=pooled.scatter * (2.0 / (size * len(rows))),
            size=size,
            freedom=size - 1.0,
            variance=evidence.mean_diagonal(pooled.covariance),
        )
        rank_one = RankOne(Hypotheses.of(difference, model, features, lengthscales), 1.0 / len(rows))
        return cls(rows, counts, features, lengthscales, pooled.mean, rank_one)

    @property
    def bytes_each(self) -> int:
        """Memory of one relabelling."""
        return len(self.rows) + 8 * len(self.lengthscales) * self.features.count

    def log_bf10(self, is_first: Flags) -> Array:
        """Log BF10 at every lengthscale for labels (N, B) that say which rows are in the first sample, (m, B)."""
        sums = local.weighted_sums(
            self.features,
            (self.rows,),
            self.lengthscales,
            lambda block: is_first[block].T.astype(np.float64),
            self.pooled,
        )
        # The centered features add up to zero.
        return self.rank_one.log_bf10((1.0 / self.counts[0] + 1.0 / self.counts[1]) * sums)


@dataclass(frozen=True, eq=False)
class Swaps:
    """Log BF10 of pairs for any swaps within pairs, which change the signs of the differences of features.

    Attributes
    ----------
    x, y
        The pairs, (n, D) each.
    features, lengthscales
        From rows to features, and lengthscales (m,).
    rank_one
        What is the same for all swaps.
    """

    x: Array
    y: Array
    features: FeatureMap
    lengthscales: Array
    rank_one: RankOne

    @classmethod
    def of(cls, x: Array, y: Array, features: FeatureMap, lengthscales: Array, model: Model) -> Swaps:
        """Go once over the pairs."""
        moments = local.pair_moments(features, x, y, lengthscales, halves=False).differences
        n = moments.count
        # The signs cancel in the sum of squares.
        squares = Moments(n, np.zeros_like(moments.mean), moments.second_moment)
        rank_one = RankOne(Hypotheses.of(Difference.of_pairs(squares), model, features, lengthscales), 1.0 / n)
        return cls(x, y, features, lengthscales, rank_one)

    def log_bf10(self, swapped: Flags) -> Array:
        """Log BF10 at every lengthscale if the pairs flagged in each column of (n, B) change places, (m, B)."""
        sums = local.weighted_sums(
            self.features,
            (self.x, self.y),
            self.lengthscales,
            lambda block: 1.0 - 2.0 * swapped[block].T.astype(np.float64),
        )
        return self.rank_one.log_bf10(sums / len(self.x))


@dataclass(frozen=True, eq=False)
class RankOne:
    """Log BF10 where the relabelling enters through Δ alone: V = V₀ - c ΔΔᵀ, with V₀ the same for all relabellings.

    Then one decomposition of V₀ and R serves all of them, by the formulas of Sherman and Morrison. With u the scores of
    Δ in the metric of V₀ and q(a) = Σ u²/(1+a²λ), Δᵀ(a²R+V)⁻¹Δ = q(a)/(1 - c q(a)) and
    |a²R+V| = |a²R+V₀| (1 - c q(a)).
    """

    hypotheses: Hypotheses  # with V₀ for V
    c: float
    every: int = 1  # one in so many amplitudes is used

    def log_bf10(self, deltas: Array) -> Array:
        """Log BF10 at every lengthscale for Δ of every relabelling, (m, B, s), as (m, B)."""
        return np.stack([self._at(index, delta) for index, delta in enumerate(deltas)])

    def _at(self, index: int, delta: Array) -> Array:
        given = self.hypotheses
        log_variance, log_weight = given.amplitudes(self.every)
        basis = given.spectra.basis[index]
        shares, log_determinants = evidence.signal_shares(given.spectra.eigenvalues[index], log_variance[index])
        scores = delta @ basis
        squares = np.square(scores)
        whole = squares.sum(axis=1, keepdims=True)  # q(0)
        difference = squares @ shares.T  # q(0) - q(a), (B, A)
        left = np.maximum(1.0 - self.c * whole, np.finfo(np.float64).eps)
        growth = self.c * difference / left
        explained = difference / (left * left * (1.0 + growth))
        dimensions = given.dimensions[index]
        if self.c:
            more = self.c * np.square(scores @ basis.T).sum(axis=1, keepdims=True) / left
            dimensions = dimensions - given.noise.floor[index] * more
        given_amplitude = evidence.compare(
            explained, log_determinants + np.log1p(growth), whole / left, given.noise.freedom, dimensions
        )
        log_mixture = given_amplitude + log_weight
        top = log_mixture.max(axis=1)
        return np.asarray(top + np.log(np.exp(log_mixture - top[:, np.newaxis]).sum(axis=1)))
