"""The p-value and the e-value of log BF10 from permuted labels: a relabelling only weighs the features anew.

Under H0 the labels of independent rows, and the order within pairs, are exchangeable. All else that enters the
statistic (scaling, evaluation points, lengthscales and their weights) is a symmetric function of the pooled rows, and
the labels as observed go through the same arithmetic as the others. Hence the level is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twosample.common.arrays import Array, Flags, Indices
from twosample.common.threads import in_order
from twosample.data import Samples
from twosample.features.maps import FeatureMap
from twosample.features.statistics import Moments
from twosample.features.subsets import multiples_of
from twosample.inference import evidence
from twosample.inference.evidence import Difference, Hypotheses
from twosample.models import Model
from twosample.places import local

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = [
    "RankOne",
    "Relabelled",
    "Splits",
    "Swaps",
    "as_extreme",
    "as_pvalue",
    "labellings",
    "pairs_in_order",
    "pool_in_order",
    "rule",
    "test",
    "work",
]


# Of the Gauss–Legendre rule in log ℓ. With the default prior its log BF10 is off by 1e-3 or less where it is small, and
# by up to 1 where it is in the hundreds and every relabelling is far below it.
_LENGTHSCALES = 32
# Values of log BF10 that differ by less, or by less than this share, are tied.
_TIED = 1e-8
# Memory of the relabellings in a block.
_BLOCK_BYTES = 1 << 25
# For progress bars: to relabel so many rows costs as much as a pass of the plain test over one, at a lengthscale.
_ROWS_PER_PASS = 64


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


def test(
    plans: Sequence[Plan],
    samples: Samples,
    permutations: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> Relabelled:
    """Compare log BF10 with its values for random relabellings.

    Parameters
    ----------
    plans
        Of the test, or of tests whose Bayes factors are averaged, with different kernels and otherwise the same; their
        model must need no pairs for a pseudo-likelihood.
    samples
        The checked samples.
    permutations
        Number of random relabellings.
    generator
        Draws them.
    count
        Counts the work done; all of it is `work`.
    """
    if samples.paired:
        x, y = pairs_in_order(samples.x, samples.y)
        observed = np.zeros(len(x), dtype=bool)
    else:
        rows, observed = pool_in_order(samples.x, samples.y)

    model = plans[0].model

    def relabelled(features: FeatureMap, lengthscales: Array, columns: Indices | slice) -> Splits | Swaps:
        if samples.paired:
            return Swaps.of(x[:, columns], y[:, columns], features, lengthscales, model)
        return Splits.of(rows[:, columns], int(observed.sum()), features, lengthscales, model)

    def log_bf10(plan: Plan, main: Splits | Swaps, log_weights: Array, flags: Flags) -> Array:
        """Of a plan for relabellings, (B,)."""

        def of_test(task: tuple[int, int]) -> Array:
            """Log of prior weight × BF10 of one test of a stack, (B,)."""
            part, number = task
            features = plan.features_of(part).alone(number)
            multiples = features.typical * multiples_of(plan.model)
            found = relabelled(features, multiples, plan.parts[part].columns[number]).log_bf10(flags)
            count(_work(len(observed), len(multiples), flags.shape[1]))
            return np.asarray(
                np.logaddexp.reduce(found, axis=0) + np.log(plan.parts[part].prior[number] / len(multiples))
            )

        total = np.full(flags.shape[1], -np.inf)
        if plan.prior:
            total = np.logaddexp.reduce(
                (log_weights + np.log(plan.prior))[:, np.newaxis] + main.log_bf10(flags), axis=0
            )
        count(_work(len(observed), len(log_weights), flags.shape[1]))
        for of_labels in in_order(of_test, _tests(plan)) if plan.parts else ():
            total = np.logaddexp(total, of_labels)
        return total

    rules = [rule(plan) for plan in plans]
    mains = [relabelled(plan.features, rule[0], slice(None)) for plan, rule in zip(plans, rules, strict=True)]
    values = []
    for flags in labellings(observed, permutations, generator, mains[0]):
        by_plan = [
            log_bf10(plan, main, log_weights, flags)
            for plan, main, (_, log_weights) in zip(plans, mains, rules, strict=True)
        ]
        values.append(np.logaddexp.reduce(by_plan, axis=0))
    return Relabelled.of(np.concatenate(values))


def tests_of(plan: Plan) -> list[tuple[FeatureMap, Array, Array, Indices | slice]]:
    """The tests of a plan that have weight: features, lengthscales, log weights of these, and the columns."""
    lengthscales, log_weights = rule(plan)
    tests: list[tuple[FeatureMap, Array, Array, Indices | slice]] = []
    if plan.prior:
        tests.append((plan.features, lengthscales, log_weights + np.log(plan.prior), slice(None)))
    for number, part in enumerate(plan.parts):
        stack, multiples = plan.features_of(number), multiples_of(plan.model)
        for test in np.flatnonzero(part.prior).tolist():
            alone = stack.alone(test)
            weights = np.full(len(multiples), np.log(part.prior[test] / len(multiples)))
            tests.append((alone, alone.typical * multiples, weights, part.columns[test]))
    return tests


def _tests(plan: Plan) -> list[tuple[int, int]]:
    """The tests of the stacks that have prior weight: which stack, and which test of it."""
    return [(number, int(test)) for number, part in enumerate(plan.parts) for test in np.flatnonzero(part.prior)]


def as_extreme(observed: float, others: Array) -> int:
    """How many values are at least as large as the observed one; what differs by rounding alone is equal.

    Examples
    --------
    >>> as_extreme(2.0, np.array([1.0, 2.0 - 1e-12, 3.0]))
    2
    """
    return int((others >= observed - _TIED * max(1.0, abs(float(observed)))).sum())


def rule(plan: Plan) -> tuple[Array, Array]:
    """Lengthscales and the logarithms of their weights: one fixed rule for the prior, whatever the labels.

    The weights add up to one, so that log Σ weight × BF10 is the integrated log BF10.
    """
    if plan.fixed:
        assert plan.lengthscales is not None
        return plan.lengthscales, np.zeros(1)
    lengthscale_prior = plan.model.lengthscale
    low, high = np.log(plan.bounds)
    nodes, weights = np.polynomial.legendre.leggauss(_LENGTHSCALES)
    log_lengthscales = low + 0.5 * (high - low) * (1.0 + nodes)
    log_weights = np.log(weights) + lengthscale_prior.log_density(log_lengthscales)
    return np.exp(log_lengthscales), log_weights - np.logaddexp.reduce(log_weights)


def work(plans: Sequence[Plan], samples: Samples, permutations: int) -> int:
    """The work of `test`, in rows × lengthscales of the plain test."""
    rows = samples.n_x if samples.paired else samples.n_x + samples.n_y
    total = 0
    for plan in plans:
        total += _work(rows, 1 if plan.fixed else _LENGTHSCALES, 1 + permutations)
        if plan.parts:
            total += len(_tests(plan)) * _work(rows, len(multiples_of(plan.model)), 1 + permutations)
    return total


def _work(rows: int, lengthscales: int, relabellings: int) -> int:
    return relabellings * lengthscales * (1 + rows // _ROWS_PER_PASS)


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


def labellings(
    observed: Flags, permutations: int, generator: np.random.Generator, relabelled: Splits | Swaps
) -> Iterator[Flags]:
    """The observed flags and then random ones, (rows, relabellings), as many at a time as memory allows."""
    size = max(1, _BLOCK_BYTES // relabelled.bytes_each)
    for start in range(0, 1 + permutations, size):
        flags = np.empty((len(observed), min(size, 1 + permutations - start)), dtype=bool)
        for column in range(flags.shape[1]):
            flags[:, column] = relabelled.draw(generator) if start + column else observed
        yield flags


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

    def draw(self, generator: np.random.Generator) -> Flags:
        """Random labels, (N,)."""
        return generator.permutation(np.arange(len(self.rows)) < self.counts[0])

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

    @property
    def bytes_each(self) -> int:
        """Memory of one relabelling."""
        return len(self.x) + 8 * len(self.lengthscales) * self.features.count

    def draw(self, generator: np.random.Generator) -> Flags:
        """Random swaps, (n,)."""
        return generator.random(len(self.x)) < 0.5

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
