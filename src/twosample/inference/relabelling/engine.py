"""The engine of relabelling: the p-value and the e-value of log BF10 among its values for relabelled data.

Under H0 the labels of independent rows, the order within pairs, and the pairing of two sides are exchangeable, and data
sets drawn from a law are like the observed one. All else that enters the statistic (scaling, evaluation points,
lengthscales and their weights) is a symmetric function of the pooled rows, and the observed labels go through the same
arithmetic as the others. Hence the level is exact.

What is drawn depends on the seed and on the data, of rows on those without their labels. Relabellings from the seed
alone would be the same for every data set: all would be judged by the same few values, and the share of data sets
beyond, say, the fifth of 99 of them is not 5 %.

`compare` runs any kind of `Relabelling`; `kinds` has those of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Indices
from twosample.common.records import digest
from twosample.common.threads import in_order
from twosample.features.maps import FeatureMap
from twosample.inference.mixture import prior_weights

if TYPE_CHECKING:
    from twosample.features.maps import StackFeatures
    from twosample.plan import Plan

__all__ = [
    "LevelTest",
    "Relabelled",
    "Relabelling",
    "Statistic",
    "WeightedTest",
    "all_tests",
    "as_extreme",
    "as_pvalue",
    "by_test",
    "compare",
    "generator_for",
    "log_bf10_values",
    "rule",
    "stacked_tests",
    "tests_of",
    "work",
    "work_of",
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
# What a value is rounded to, in halves of the range of its column: no fraction of it, so that it is between two of them
# for no value of a grid.
_STEP = 1e-6 / math.sqrt(2.0)
# For progress bars: relabelling this many rows costs as much as one row in a pass of the plain test, at a lengthscale.
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
    """The rank of log BF10 among its values for relabelled data.

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
        """From log BF10 of the observed labels, followed by those of random ones.

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
    """A way to draw data sets that are as likely as the observed one if H0 holds.

    To add a kind, write a class with these six members: `compare` needs nothing else. Where rows belong to units, the
    labels of whole units are exchangeable, and where they belong to strata, the labels within each stratum. Such a kind
    stands in `kinds`, beside those of single rows, and differs from them in `draw` and in the weights that `statistic`
    gives to the features of the rows.
    """

    @property
    def observed(self) -> Any:
        """The observed labels, or what stands for them: an array."""

    @property
    def identity(self) -> tuple[Array, ...]:
        """What tells these data from others, (n, C) each: the random numbers depend on it. Of rows nothing labelled."""

    def draw(self, generator: np.random.Generator) -> Any:
        """Random labels, of the same shape."""

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
        Says what is drawn, together with the data (`generator_for`).
    count
        Is called with the work just done.
    """
    own = generator_for(generator, *relabelling.identity)
    return Relabelled.of(log_bf10_values(relabelling, tests, permutations, own, count))


def generator_for(generator: np.random.Generator, *identity: Array) -> np.random.Generator:
    """A generator for these data: from the next number of the given one, and from what tells them from others.

    It depends on the values of each column between its smallest and its largest, to six digits. So it is the same for
    columns and rows in another order, and in other units unless rounding moves a value across a step, which is rare.

    Examples
    --------
    >>> rows = np.array([[1.0], [4.0], [2.0]])
    >>> data_sets = rows, 1.8 * rows[::-1] + 32, rows**2
    >>> first, in_other_units, others = (generator_for(np.random.default_rng(0), one).random() for one in data_sets)
    >>> first == in_other_units, first == others
    (True, False)
    """
    keys = sorted(digest(column) for some in identity for column in _in_steps(some).T)
    return np.random.default_rng([int(generator.integers(2**63)), int(digest(tuple(keys)), 16)])


def _in_steps(rows: Array) -> NDArray[np.int64]:
    """The values of each column between -1 and 1 for its smallest and largest, in whole steps and sorted."""
    half = 0.5 * rows  # their differences do not overflow
    low, high = half.min(axis=0, initial=np.inf), half.max(axis=0, initial=-np.inf)
    width = np.where(high > low, high - low, 1.0)
    return np.sort(np.rint(((half - low) - (high - half)) / width / _STEP).astype("<i8"), axis=0)


def log_bf10_values(
    relabelling: Relabelling[_Test],
    tests: Sequence[_Test],
    permutations: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> Array:
    """Log BF10 of the observed labels and then of random ones, (1 + permutations,).

    Parameters are as for `compare`; here the generator draws them by itself.
    """

    def labels(numbers: range) -> Any:
        return np.stack([relabelling.draw(generator) if number else relabelling.observed for number in numbers])

    return np.concatenate(
        [np.logaddexp.reduce(found, axis=0) for found in by_test(relabelling, tests, labels, 1 + permutations, count)]
    )


def by_test(
    relabelling: Relabelling[_Test],
    tests: Sequence[_Test],
    labels: Callable[[range], Any],
    total: int,
    count: Callable[[int], object],
) -> Iterator[Array]:
    """The statistic of each test for `total` relabellings, block by block, (T, B).

    Parameters
    ----------
    relabelling, tests, count
        As for `compare`.
    labels
        The relabellings with some numbers, of which each is asked for once, in order.
    total
        How many there are.
    """
    kept: dict[int, Statistic] = {}

    def of_test(labels: Any, number: int) -> Array:
        statistic = kept.get(number) or relabelling.statistic(tests[number])
        if number < _KEPT:
            kept[number] = statistic
        return statistic(labels)

    size = max(1, _BLOCK_BYTES // relabelling.bytes_of(tests[0]))
    for start in range(0, total, size):
        block = labels(range(start, min(start + size, total)))
        values = []
        for test, found in zip(tests, in_order(partial(of_test, block), range(len(tests))), strict=True):
            values.append(found)
            count(len(block) * relabelling.work_of(test))
        yield np.stack(values)


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

    @property
    def count(self) -> int:
        """Numbers that are held for one relabelling at one lengthscale."""
        return self.features.count

    def sum(self, log_bf10: Array) -> Array:
        """Log of Σ prior weight × BF10 from log BF10 at every lengthscale, (m, ...), as (...)."""
        weights = self.log_weights.reshape(-1, *[1] * (log_bf10.ndim - 1))
        return np.asarray(np.logaddexp.reduce(weights + log_bf10, axis=0))


@dataclass(frozen=True, eq=False)
class LevelTest(WeightedTest):
    """A test of all levels of a column by their counts: one lengthscale stands for none, and there are no features.

    Attributes
    ----------
    place
        Of the column.
    size
        The number of codes.
    """

    place: int
    size: int

    @classmethod
    def of(cls, column: int, levels: tuple[str, ...] | None) -> LevelTest:
        """Return that of a column with these levels."""

        def none() -> FeatureMap:
            raise AssertionError("a test of all levels has no features")

        return cls(np.ones(1), np.zeros(1), np.array([column]), none, column, 1 + len(levels or ()))

    @property
    def count(self) -> int:
        """One for each level."""
        return self.size


def tests_of(*plans: Plan) -> list[WeightedTest]:
    """The tests of plans that have prior weight; those of all columns as scaled come first in each."""
    return [
        replace(test, log_weights=test.log_weights + math.log(prior))
        for plan in plans
        for test, prior in zip(all_tests(plan), prior_weights(plan).tolist(), strict=True)
        if prior
    ]


def all_tests(plan: Plan, count: int = _LENGTHSCALES) -> Iterator[WeightedTest]:
    """All tests of a plan in the order of `prior_weights`, each as if it were the only one; `count` as for `rule`."""
    yield WeightedTest(*rule(plan, count), slice(None), partial(getattr, plan, "features"))
    for number in range(len(plan.parts)):
        yield from stacked_tests(plan.features_of(number))
    for place in plan.many:
        yield LevelTest.of(place, plan.levels[place])


def stacked_tests(stack: StackFeatures) -> Iterator[WeightedTest]:
    """The tests of a stack, each as if it were the only one."""
    log_weights = np.full(len(stack.multiples), -math.log(len(stack.multiples)))
    for test, columns in enumerate(stack.columns):
        yield WeightedTest(stack.typical[test] * stack.multiples, log_weights, columns, partial(stack.alone, test))


def rule(plan: Plan, count: int = _LENGTHSCALES) -> tuple[Array, Array]:
    """Lengthscales, `count` of them, and the logarithms of their weights: one fixed rule for the prior.

    The weights add up to one, so that log Σ weight × BF10 is the integrated log BF10.
    """
    if plan.fixed:
        assert plan.lengthscales is not None
        return plan.lengthscales, np.full(len(plan.lengthscales), -np.log(len(plan.lengthscales)))
    lengthscale_prior = plan.model.lengthscale
    low, high = np.log(plan.bounds)
    nodes, weights = np.polynomial.legendre.leggauss(count)
    log_lengthscales = low + 0.5 * (high - low) * (1.0 + nodes)
    log_weights = np.log(weights) + lengthscale_prior.log_density(log_lengthscales)
    return np.exp(log_lengthscales), log_weights - np.logaddexp.reduce(log_weights)


def work(tests: Sequence[WeightedTest], rows: int, permutations: int) -> int:
    """The work of `compare` for labels of that many rows, in rows × lengthscales of the plain test."""
    return (1 + permutations) * sum(work_of(rows, test) for test in tests)


def work_of(rows: int, test: WeightedTest) -> int:
    """The work of one relabelling of that many rows."""
    return len(test.lengthscales) * (1 + rows // _ROWS_PER_PASS)
