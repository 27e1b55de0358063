"""The tests of a plan as one: an average of Bayes factors, over which columns differ and how they are seen, is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twosample import evidence
from twosample.arrays import Array
from twosample.statistics import FeatureStatistics

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = ["Mixture", "StatisticsOf", "evaluate_parts", "log_mean"]

StatisticsOf = Callable[[int, slice], FeatureStatistics]

# Tests of a stack that are evaluated at the same time.
_TESTS = 128


@dataclass(frozen=True, eq=False)
class Mixture:
    """Log Bayes factors of all tests of a plan.

    Attributes
    ----------
    plan
        Says which tests these are, and their prior weights.
    main
        Of the test of all columns as scaled.
    parts
        Of the tests of every stack, (P,) each.
    statistics
        All that was collected.
    statistics_of
        What was collected for some tests of a stack.
    """

    plan: Plan
    main: float
    parts: tuple[Array, ...]
    statistics: FeatureStatistics
    statistics_of: StatisticsOf

    @property
    def log_bf10(self) -> float:
        """Of the mixture."""
        return log_mean(
            np.concatenate([[self.main], *self.parts]),
            np.concatenate([[self.plan.prior], *(part.prior for part in self.plan.parts)]),
        )

    @property
    def share_of_main(self) -> float:
        """Posterior probability of the test of all columns as scaled, given that the samples differ."""
        return self.plan.prior * math.exp(min(self.main - self.log_bf10, 0.0)) if self.plan.prior else 0.0


def log_mean(log_values: Array, weights: Array) -> float:
    """Log Σ weight × value.

    Examples
    --------
    >>> round(log_mean(np.log([1.0, 5.0]), np.array([0.5, 0.5])), 6) == round(math.log(3.0), 6)
    True
    """
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(np.log(weights) + log_values))


def evaluate_parts(plan: Plan, statistics_of: StatisticsOf) -> tuple[Array, ...]:
    """Log BF10 of every test of every stack, a few tests at a time."""
    return tuple(_log_bf10(plan, part, statistics_of) for part in range(len(plan.parts)))


def _log_bf10(plan: Plan, part: int, statistics_of: StatisticsOf) -> Array:
    """Log BF10 of every test of a stack, (P,): the mean over its lengthscales."""
    features = plan.features_of(part)
    found = []
    for first in range(0, len(features.points), _TESTS):
        tests = slice(first, first + _TESTS)
        chosen, _ = features.select(tests)
        by_lengthscale = evidence.evaluate(statistics_of(part, tests), chosen, plan.model).log_bf10
        by_lengthscale = by_lengthscale.reshape(len(chosen.points), -1)
        found.append(np.logaddexp.reduce(by_lengthscale, axis=1) - math.log(by_lengthscale.shape[1]))
    return np.concatenate(found)
