"""Few rows: the tests of a plan for every labelling of them, by whose mean a Bayes factor is divided if it exceeds 1.

Given the rows without their labels, every labelling is as likely as the observed one if H0 holds. So the mean of BF10
over all of them is what it is to be expected under H0. A Bayes factor that is divided by it where it is more than 1 has
a mean of at most 1, whatever the distribution of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.common.progress import WorkCounter
from twosample.inference.mixture import prior_weights
from twosample.inference.relabelling.engine import WeightedTest, all_tests, as_extreme, by_test, work
from twosample.inference.relabelling.kinds import Labels, Signs, of_rows

if TYPE_CHECKING:
    from twosample.models import Model
    from twosample.plan import Plan

__all__ = ["EveryLabelling", "are_few", "labellings", "log_means"]

# 8 rows against 8 have 12,870 labellings, and 13 pairs have 8,192.
_MOST = 13_000
# The most labellings × lengthscales of all tests together: two seconds.
_MOST_WORK = 4_000_000
# The evidence of few rows is smooth: with so many lengthscales and every second amplitude, means of BF10 are off by
# less than 1e-4.
_LENGTHSCALES, _AMPLITUDES = 16, 2


def labellings(n_x: int, n_y: int, *, paired: bool = False) -> int:
    """How many labellings of the rows there are: the ways to choose the rows of x, or to swap the members of pairs.

    Examples
    --------
    >>> labellings(5, 5), labellings(5, 5, paired=True)
    (252, 32)
    """
    return 1 << n_x if paired else math.comb(n_x + n_y, n_x)


@dataclass(frozen=True, eq=False)
class EveryLabelling:
    """The tests of a plan for every labelling of a few rows.

    Attributes
    ----------
    log_means
        Log of what BF10 of each test of the plan is divided by, (T,), all columns as scaled first: of its mean over all
        labellings, or 0 where that is less than 1.
    observed
        Log BF10 of all tests together, each divided by that, of the observed labelling.
    values
        The same of every labelling; of labellings that only exchange equal samples, of one of both.
    count
        The number of labellings.
    """

    log_means: Array
    observed: float
    values: Array
    count: int

    @classmethod
    def of(cls, plan: Plan, x: Array, y: Array, counter: WorkCounter | None = None) -> EveryLabelling | None:
        """Evaluate all labellings of rows in the units of the data; None where there are too many for that."""
        if plan.lengthscales is None or not are_few(len(x), len(y), plan.model, paired=plan.paired):
            return None
        log_bf10 = _by_test(list(all_tests(plan, _LENGTHSCALES)), x, y, plan.paired, plan.model, counter)
        if log_bf10 is None:
            return None
        log_means = _log_means(log_bf10)
        with np.errstate(divide="ignore"):
            log_weights = np.log(prior_weights(plan)) - log_means
        values = np.logaddexp.reduce(log_bf10 + log_weights[:, np.newaxis], axis=0)
        few = labellings(len(x), len(y), paired=plan.paired)
        return cls(log_means, float(values[0]), values[1:], few)

    @classmethod
    def average(cls, found: Sequence[EveryLabelling]) -> EveryLabelling:
        """The same labellings of several plans, whose Bayes factors are averaged; the rest is that of the first."""
        observed, values = (
            np.logaddexp.reduce(np.array(logs), axis=0) - math.log(len(found))
            for logs in ([one.observed for one in found], [one.values for one in found])
        )
        return replace(found[0], observed=float(observed), values=values)

    def of_parts(self, plan: Plan) -> tuple[Array, ...]:
        """The logs of the means of the tests of each stack of the plan, and of the tests of all levels of a column."""
        return tuple(np.split(self.log_means[1:], np.cumsum([len(part.points) for part in plan.parts])))

    @property
    def pvalue(self) -> float:
        """The share of labellings with a log BF10 that is at least as large."""
        return as_extreme(self.observed, self.values) / len(self.values)

    @property
    def evalue(self) -> float:
        """BF10 over its mean for all labellings."""
        return math.exp(self.observed - _log_mean(self.values))

    @property
    def largest(self) -> float:
        """The largest log BF10 of any labelling."""
        return float(self.values.max())


def log_means(tests: Sequence[WeightedTest], x: Array, y: Array, model: Model, *, paired: bool) -> Array | None:
    """Log of what BF10 of each test is divided by, as in `EveryLabelling`; None where there are many labellings."""
    if not are_few(len(x), len(y), model, paired=paired):
        return None
    log_bf10 = _by_test(tests, x, y, paired, model)
    return None if log_bf10 is None else _log_means(log_bf10)


def are_few(n_x: int, n_y: int, model: Model, *, paired: bool = False) -> bool:
    """Whether samples of these sizes have so few labellings that all of them can be evaluated."""
    countable = 2 <= min(n_x, n_y) < _MOST.bit_length()  # in no time; of more there are too many
    return model.few and model.relabels and countable and labellings(n_x, n_y, paired=paired) <= _MOST


def _by_test(
    tests: Sequence[WeightedTest], x: Array, y: Array, paired: bool, model: Model, counter: WorkCounter | None = None
) -> Array | None:
    """Log BF10 of each test for the observed labelling and then for all of them; None where that takes too long."""
    few = labellings(len(x), len(y), paired=paired)
    if few * sum(len(test.lengthscales) for test in tests) > _MOST_WORK:
        return None
    relabelling = of_rows(x, y, model, paired=paired, every=_AMPLITUDES)
    labels = np.concatenate([relabelling.observed[np.newaxis], _all(relabelling)])
    counter = WorkCounter(None, 1) if counter is None else counter
    counter.expect(work(tests, len(relabelling.rows), len(labels) - 1))
    blocks = by_test(relabelling, tests, lambda numbers: labels[numbers.start : numbers.stop], len(labels), counter)
    return np.concatenate(list(blocks), axis=1)


def _log_means(log_bf10: Array) -> Array:
    """Logs of what the Bayes factors of each test are divided by: their mean where that is more than 1, else 1."""
    return np.asarray(np.maximum(_log_mean(log_bf10[:, 1:]), 0.0))


def _log_mean(log_values: Array) -> Any:
    """Log of the mean over all labellings, the last axis."""
    return np.logaddexp.reduce(log_values, axis=-1) - math.log(log_values.shape[-1])


def _all(relabelling: Labels | Signs) -> Flags:
    """All labels, (B, N); of labels whose complement is as good, one of both, which has the same Bayes factor."""
    size = len(relabelling.rows)
    if isinstance(relabelling, Signs):
        numbers = np.arange(1 << (size - 1))[:, np.newaxis]
        return np.asarray((numbers >> np.arange(size)) & 1 == 1)
    first = int(relabelling.observed.sum())
    if 2 * first == size:
        chosen = np.array([(0, *others) for others in combinations(range(1, size), first - 1)])
    else:
        chosen = np.array(list(combinations(range(size), first)))
    labels = np.zeros((len(chosen), size), dtype=bool)
    labels[np.arange(len(chosen))[:, np.newaxis], chosen] = True
    return labels
