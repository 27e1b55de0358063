"""The e-value of a batch: the Bayes factor of everything so far over its mean for relabellings of this batch.

Let T be positive and depend on the labels of this batch, on its rows as one set, and on earlier batches in any way.
Where the rows of the batch are exchangeable, each labelling is as likely to be the one observed, so that
e = T(observed) / mean T(labellings) has mean 1 given the past, for every distribution and every size. Products of such
e-values are a test martingale.

T is the Bayes factor of all batches so far, with the labels of this one in question. It is the Bayes factor of the
earlier ones, which cancels, times the predictive Bayes factor of this one given them. It averages the tests of a plan,
which are components of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference.evidence import Difference, Hypotheses
from twosample.inference.relabelling import Blind, generator_for, pair_symmetric, pairs_in_order, pool_in_order
from twosample.models import Model
from twosample.places import local
from twosample.plan import Plan

__all__ = ["AMPLITUDES", "Batch", "Component", "Learnt", "components_of", "log_evalue", "log_statistics"]

# One in this many amplitudes of the test is used, as labellings are only compared with each other: log BF10 is off by
# some thousandths where there is no difference, and by up to 1 and more where there is a strong one.
AMPLITUDES = 4
# One in this many lengthscales of the grid of all columns is used: two in a factor of 2.
_STRIDE = 3
# Values of a component, over labellings, lengthscales and points, that are worked on at the same time.
_VALUES = 1 << 23
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
        here, chosen = statistics, self.tests
        if self.part is not None:
            here, chosen = statistics.parts[self.part].select(self.tests, self.count), slice(None)
        found = [here.differences] if here.x is None else [here.x, here.y]
        return tuple(Moments(one.count, one.mean[chosen], one.scatter[chosen]) for one in found if one is not None)

    def shifts(self, rows: tuple[Array, ...], flags: Flags, center: Array) -> Array:
        """What a batch adds to `Learnt.shift` for L labellings each, (m, L, s).

        Rows and flags are those of a `Batch`, and the center is the mean of the features of its pooled rows, (m, s).
        """
        paired = len(rows) == 2

        def weights(block: slice) -> Array:
            of_rows = flags[block].T.astype(np.float64)
            return 1.0 - 2.0 * of_rows if paired else of_rows

        return local.weighted_sums(self.features, rows, self.lengthscales, weights, None if paired else center)


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
    or of the difference of one pair, whichever sample the rows are of. Streams may drift together: a batch is compared
    with itself alone.
    """

    weight: float  # Σ h
    shift: Array  # Σ h Δ, (m, s)
    rows: float  # number of rows, or of pairs
    scatter: Array  # sum of the scatters within batches, or of differences around zero, (m, s, s)

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
            weight, rows, delta, within = float(pairs.count), pairs.count, pairs.mean, pairs.scatter
        else:
            x, y = moments
            weight, rows = x.count * y.count / (x.count + y.count), x.count + y.count
            delta, within = x.mean - y.mean, x.scatter + y.scatter
        between = weight * delta[:, :, np.newaxis] * delta[:, np.newaxis, :]
        return cls(weight, weight * delta, float(rows), within + between)

    def add(self, other: Learnt, share: float = 1.0) -> Learnt:
        """With what another batch taught; of this the share is remembered."""
        return Learnt(
            share * self.weight + other.weight,
            share * self.shift + other.shift,
            share * self.rows + other.rows,
            share * self.scatter + other.scatter,
        )

    def difference(self, paired: bool) -> Difference:
        """How well the weighted mean of the differences is known, which is left out."""
        noise = self.scatter / (self.rows * self.weight)
        size = self.weight * (1.0 if paired else 2.0)
        return Difference(np.zeros_like(self.shift), noise, size, self.rows, even=2.0 * size)


class Batch:
    """The rows of a batch in an order that does not know the labels, and `count` labellings of them, or all there are.

    The observed labelling is among them. Labels of pairs are changed by swaps within pairs.
    """

    rows: tuple[Array, ...]  # the pooled rows, or both sides of the pairs
    flags: Flags  # (n, L): which rows are in the first sample, or which pairs change places
    observed: int  # which labelling is that of the data
    mirrored: bool  # whether every labelling also stands for the one with x and y exchanged
    sign: float  # -1 where the first sample is y

    def __init__(self, x: Array, y: Array, count: int, paired: bool, generator: np.random.Generator) -> None:
        if paired:
            self.rows = pairs_in_order(x, y)
            observed = np.zeros(len(x), dtype=bool)
            few, size = len(x) < 60 and 2 ** len(x) <= count, 0
        else:
            rows, observed = pool_in_order(x, y)
            self.rows, size = (rows,), min(len(x), len(y))
            few = math.comb(len(rows), size) <= count
        self.sign = 1.0 if paired or len(x) <= len(y) else -1.0
        self.mirrored = not few and (paired or len(x) == len(y))
        if few:
            if paired:
                self.flags = np.array(list(product((False, True), repeat=len(x)))).T
            else:
                self.flags = _all_splits(len(observed), size)
            self.observed = int(np.flatnonzero((self.flags == observed[:, np.newaxis]).all(axis=0))[0])
        else:
            generator = generator_for(generator, *(pair_symmetric(x, y) if paired else self.rows))
            others = range(1, count // 2 if self.mirrored else count)
            drawn = (generator.random(len(x)) < 0.5 if paired else generator.permutation(observed) for _ in others)
            self.flags, self.observed = np.stack([observed, *drawn], axis=1), 0


def _all_splits(n: int, size: int) -> Flags:
    """All ways to choose `size` of n rows, (n, L)."""
    chosen = list(combinations(range(n), size))
    flags = np.zeros((n, len(chosen)), dtype=bool)
    for column, places in enumerate(chosen):
        flags[list(places), column] = True
    return flags


def log_evalue(log_values: Array, observed: int) -> float:
    """Log of the value observed over the mean of all."""
    return float(math.log(len(log_values)) - np.logaddexp.reduce(log_values - log_values[observed]))


def log_statistics(
    components: Sequence[Component], past: Sequence[Learnt], new: Sequence[Learnt], batch: Batch, model: Model
) -> Array:
    """Log of the Bayes factor of everything so far for every labelling of the batch, (L,); mirrored ones last, (2L,).

    The Bayes factors of the components are averaged; earlier batches have taught `past` about each, and this one `new`.
    """
    paired, count = len(batch.rows) == 2, batch.flags.shape[1]
    total = np.full((1 + batch.mirrored, count), -np.inf)
    for component, before, here in zip(components, past, new, strict=True):
        after = before.add(here)
        center = np.zeros_like(here.shift) if paired else _pooled_mean(component, batch)
        judged = Blind(
            Hypotheses.of(after.difference(paired), model, component.features, component.lengthscales), AMPLITUDES
        )
        block = max(1, _VALUES // here.shift.size)
        for first in range(0, count, block):
            part = slice(first, first + block)
            shifts = batch.sign * component.shifts(batch.rows, batch.flags[:, part], center)
            if batch.mirrored:
                shifts = np.concatenate([shifts, -shifts], axis=1)
            found = judged.log_bf10((before.shift[:, np.newaxis] + shifts) / after.weight)
            log_bf10 = np.logaddexp.reduce(component.log_prior[:, np.newaxis] + found, axis=0)
            total[:, part] = np.logaddexp(total[:, part], log_bf10.reshape(len(total), -1))
    return total.ravel()


def _pooled_mean(component: Component, batch: Batch) -> Array:
    """The mean of the features of all rows, (m, s), whatever the labels."""
    everything = np.ones((len(batch.flags), 1), dtype=bool)
    nothing = np.zeros((len(component.lengthscales), component.features.count))
    return np.asarray(component.shifts(batch.rows, everything, nothing)[:, 0] / len(batch.flags))
