"""The tests of a plan as components of one statistic, and what earlier batches have taught about each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference.evidence import Difference, Hypotheses, mean_diagonal
from twosample.models import Model
from twosample.places import local
from twosample.plan import Plan

__all__ = ["Component", "Learnt", "components_of"]

# One in this many lengthscales of the grid of all columns is used: two in a factor of 2.
_STRIDE = 3
# Tests of a stack that are worked on at the same time.
_TESTS = 64


@dataclass(frozen=True, eq=False)
class Component:
    """Tests of a plan, each at all of its lengthscales, one test after the other: m in all."""

    features: PointFeatures | StackFeatures  # from rows to features
    lengthscales: Array  # (m,)
    log_prior: Array  # logarithms of their prior weights, (m,)
    # Where the plan and its statistics have them: the number of the stack, None for the test of all columns as scaled,
    # and which tests of the stack or lengthscales of the test.
    part: int | None
    tests: slice
    count: int  # how many tests the whole stack has

    def moments(self, statistics: FeatureStatistics) -> tuple[Moments, ...]:
        """Moments of x and of y, or of pairs those of the differences, (m, s) and (m, s, s)."""
        if self.part is None:
            here = statistics
            chosen = self.tests
        else:
            here, chosen = statistics.parts[self.part].select(self.tests, self.count), slice(None)
        found = [here.differences] if here.x is None else [here.x, here.y]
        return tuple(Moments(one.count, one.mean[chosen], one.scatter[chosen]) for one in found if one is not None)

    def shifts(self, rows: tuple[Array, ...], flags: Flags, center: Array) -> Array:
        """What a batch adds to `Learnt.shift` for L labellings each, (m, L, s).

        Parameters
        ----------
        rows
            The pooled rows; or the first and the second rows of all pairs.
        flags
            (n, L): which rows are in the first sample, or which pairs change places.
        center
            The mean of the features of pooled rows, (m, s).
        """
        paired = len(rows) == 2

        def weights(block: slice) -> Array:
            of_rows = flags[block].T.astype(np.float64)
            return 1.0 - 2.0 * of_rows if paired else of_rows

        return local.weighted_sums(self.features, rows, self.lengthscales, weights, None if paired else center)

    def hypotheses(self, difference: Difference, model: Model) -> Hypotheses:
        """What a difference with that noise is judged by."""
        return Hypotheses.of(difference, model, self.features, self.lengthscales)


def components_of(plan: Plan) -> tuple[Component, ...]:
    """All tests of a plan that have prior weight, a few at a time."""
    assert plan.lengthscales is not None
    found = []
    if plan.prior:
        chosen = slice(None, None, 1 if plan.fixed else _STRIDE << plan.level)
        lengthscales = plan.lengthscales[chosen]
        log_prior = np.full(len(lengthscales), np.log(plan.prior / len(lengthscales)))
        found.append(Component(plan.features, lengthscales, log_prior, None, chosen, 1))
    for number, part in enumerate(plan.parts):
        for first in range(0, len(part.points), _TESTS):
            tests = slice(first, first + _TESTS)
            if not part.prior[tests].any():
                continue
            features = plan.features_of(number).select(tests)
            each = len(features.multiples)
            with np.errstate(divide="ignore"):
                log_prior = np.repeat(np.log(part.prior[tests] / each), each)
            found.append(Component(features, features.lengthscales, log_prior, number, tests, len(part.points)))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What batches have taught about a component: sums over them, so that they add up.

    Batches of two samples count for h = 1/(1/n_x + 1/n_y) each, those of pairs for their number h = n. Then the mean of
    their differences, weighed by h, is that of the witness with noise Σ/Σh, Σ the covariance of the features of one row
    or of the difference of one pair. Streams may drift together: a batch is compared with itself alone.
    """

    weight: float  # Σ h
    shift: Array  # Σ h Δ, (m, s)
    rows: float  # number of rows, or of pairs
    scatter: Array  # sum of the scatters within samples, or of differences, (m, s, s)

    @classmethod
    def nothing(cls, component: Component) -> Learnt:
        """Before the first batch."""
        m, s = len(component.lengthscales), component.features.count
        return cls(0.0, np.zeros((m, s)), 0.0, np.zeros((m, s, s)))

    @classmethod
    def of(cls, moments: tuple[Moments, ...]) -> Learnt:
        """From one batch."""
        if len(moments) == 1:
            [pairs] = moments
            return cls(float(pairs.count), pairs.count * pairs.mean, float(pairs.count), pairs.scatter)
        x, y = moments
        weight = x.count * y.count / (x.count + y.count)
        return cls(weight, weight * (x.mean - y.mean), float(x.count + y.count), x.scatter + y.scatter)

    def blind(self) -> Learnt:
        """Of one batch: with its scatter as it is without labels, that of all rows or of pairs around zero."""
        between = self.shift[:, :, np.newaxis] * self.shift[:, np.newaxis, :] / self.weight
        return replace(self, scatter=self.scatter + between)

    def add(self, other: Learnt, share: float = 1.0) -> Learnt:
        """With what another batch taught; of this the share is remembered."""
        return Learnt(
            share * self.weight + other.weight,
            share * self.shift + other.shift,
            share * self.rows + other.rows,
            share * self.scatter + other.scatter,
        )

    def difference(self, paired: bool) -> Difference:
        """The weighted mean of the differences, and how well it is known."""
        size = self.weight if paired else 2.0 * self.weight
        spread = mean_diagonal(self.scatter) / self.rows
        return Difference(
            delta=self.shift / self.weight,
            noise=self.scatter / (self.rows * self.weight),
            size=size,
            freedom=max(0.5 * (size - 1.0) if paired else size - 1.0, 0.5),
            variance=0.5 * spread if paired else spread,
        )
