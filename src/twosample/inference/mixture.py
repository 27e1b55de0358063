"""The tests of a plan as one: an average of Bayes factors, over which columns differ and how they are seen, is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.common.threads import in_order
from twosample.data.categories import Levels, sizes_of, starts_of
from twosample.data.ranks import direction
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference import evidence
from twosample.inference.all_levels import LevelCounts, by_column
from twosample.inference.columns import BySubset, OnlyInOne
from twosample.inference.effect import OfColumns, PartEffect, of_columns, of_part
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import Curves, LengthscalePosterior
from twosample.inference.pictures import levels_at
from twosample.inference.witness import WitnessPosterior

if TYPE_CHECKING:
    from twosample.features.maps import PointFeatures, StackFeatures
    from twosample.models import Model
    from twosample.plan import Plan

__all__ = [
    "Contrast",
    "Mixture",
    "OneTest",
    "StatisticsOf",
    "evaluate_parts",
    "level_counts",
    "log_mean",
    "prior_weights",
    "stack_log_bf10",
    "stack_with_sizes",
    "with_all_levels",
    "with_levels",
]

StatisticsOf = Callable[[int, slice], FeatureStatistics]

# Sums of squares of normal scores below this are rounding.
_ROUNDED = 1e-24
# Tests of a stack that are evaluated at the same time.
_TESTS = 64


@dataclass(frozen=True, eq=False)
class OneTest:
    """One test of a mixture by itself: its columns, evidence, posterior of the lengthscale, and features."""

    columns: tuple[int, ...]
    evidence: Evidence
    posterior: LengthscalePosterior
    features: PointFeatures

    def witness(self, plan: Plan) -> WitnessPosterior:
        """The witness of the test.

        The lengthscale of one column of categories only says how similar different levels are. At the shortest one they
        are not similar at all, and the witness is the difference of the shares.
        """
        found, posterior = self.evidence, self.posterior
        if len(self.columns) == 1 and levels_at(plan.levels, self.columns[0]) is not None:
            found = found.select(np.array([0]))
            posterior = LengthscalePosterior.given(found, Curves(coherent=True))
        return WitnessPosterior.of(found, posterior, self.features, plan.model)

    def effect(self, model: Model, x: Array, y: Array) -> PartEffect:
        """How much the samples differ by this test, from some rows of each, (n, D)."""
        shares = self.posterior.shares(self.evidence.lengthscales)
        return of_part(self.evidence, shares, self.features, model, x[:, self.columns], y[:, self.columns])


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
    log_means
        By what Bayes factors were divided, those of the tests of every stack, (P,) each, and those of the tests of all
        levels of a column; empty where by nothing.
    sizes
        AUC of the witness of each column of numbers alone, given that it differs, (D,); None where that is not known.
    """

    plan: Plan
    main: float
    parts: tuple[Array, ...]
    statistics: FeatureStatistics
    statistics_of: StatisticsOf
    log_means: tuple[Array, ...] = ()
    sizes: Array | None = None

    @cached_property
    def log_bf10(self) -> float:
        """Log BF10 of the mixture."""
        return log_mean(np.concatenate([[self.main], *self.parts, self.of_levels]), prior_weights(self.plan))

    @cached_property
    def counts(self) -> tuple[LevelCounts, ...]:
        """How many rows have each level of the columns with a test of all levels."""
        return level_counts(self.plan, self.statistics)

    @cached_property
    def of_levels(self) -> Array:
        """Log BF10 of the tests of all levels of a column."""
        found = np.array([counts.log_bf10(self.plan.model) for counts in self.counts])
        return found - self.log_means[-1] if self.log_means else found

    @property
    def share_of_main(self) -> float:
        """Posterior probability of the test of all columns as scaled, given that the samples differ."""
        return float(self._posterior(np.array([self.plan.prior]), np.array([self.main]))[0])

    def _posterior(self, prior: Array, log_bf10: Array) -> Array:
        """Posterior probabilities of tests given that the samples differ."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(np.minimum(np.log(prior) + log_bf10 - self.log_bf10, 0.0)))

    def test(self, part: int, number: int) -> OneTest:
        """One test of a stack."""
        features = self.plan.features_of(part)
        alone = slice(number, number + 1)
        by_lengthscale = evidence.evaluate(self.statistics_of(part, alone), features.select(alone), self.plan.model)
        if self.log_means:
            by_lengthscale = by_lengthscale.over(self.log_means[part][number])
        posterior = LengthscalePosterior.given(by_lengthscale, Curves(coherent=True))
        columns = tuple(features.columns[number].tolist())
        return OneTest(columns, by_lengthscale, posterior, features.alone(number))

    def likely(self, least: float) -> list[tuple[float, int, int]]:
        """Tests of the stacks with at least that posterior probability, with it, given that the samples differ."""
        found = []
        priors, _ = _priors(self.plan)
        for number, (prior, log_bf10) in enumerate(zip(priors, self.parts, strict=True)):
            posterior = self._posterior(prior, log_bf10)
            found += [(float(posterior[test]), number, int(test)) for test in np.flatnonzero(posterior >= least)]
        return found

    def effects_of_levels(self, least: float) -> list[tuple[float, PartEffect]]:
        """How much the samples differ by the tests of all levels with at least that posterior probability, with it."""
        posterior = self._posterior(_priors(self.plan)[1], self.of_levels)
        found = zip(posterior.tolist(), self.counts, strict=True)
        return [(weight, counts.effect(self.plan.model)) for weight, counts in found if weight >= least]

    @cached_property
    def _counts_of_columns(self) -> dict[int, LevelCounts]:
        """How many rows have each level, of every column of categories."""
        plan, moments = self.plan, (self.statistics.columns_x, self.statistics.columns_y)
        sizes, found = sizes_of(plan.levels), dict(zip(plan.many, self.counts, strict=True))
        if sizes is None:
            return {}
        starts = starts_of(sizes)
        for place in np.flatnonzero(sizes).tolist():
            if place not in found:
                here = slice(int(starts[place]), int(starts[place + 1]))
                shares = ((one.count, one.mean[1, here, 0]) for one in moments if one is not None)
                found[place] = LevelCounts(*(np.rint(count * share) for count, share in shares))
        return found

    def _moved(self) -> dict[int, tuple[str, float]]:
        """The level of each column of categories that moved most, in words, and the AUC of its levels."""
        plan, differences, found = self.plan, self.statistics.columns_differences, {}
        for place, counts in self._counts_of_columns.items():
            variance = None
            if differences is not None:
                sizes = sizes_of(plan.levels)
                assert sizes is not None
                start, end = starts_of(sizes)[place : place + 2]
                variance = differences.scatter[1, start:end, 0, 0] / max(differences.count - 1, 1)
            found[place] = counts.moved(plan.levels[place] or (), plan.model, variance)
        return found

    def only_in_one(self) -> tuple[OnlyInOne, ...]:
        """The levels of columns of categories that one sample has and the other has not."""
        plan, found = self.plan, list[OnlyInOne]()
        for place, counts in self._counts_of_columns.items():
            found += counts.only_in_one(plan.columns[place], plan.levels[place] or ())
        return tuple(found)

    def _tests(self) -> Iterator[tuple[tuple[int, ...], float, float]]:
        """The columns, the prior weight and log BF10 of all tests but those of all levels of a column."""
        plan = self.plan
        if plan.prior:
            yield tuple(range(len(plan.columns))), plan.prior, self.main
        priors, _ = _priors(plan)
        for part, prior, log_bf10 in zip(plan.parts, priors, self.parts, strict=True):
            yield from zip(map(tuple, part.columns.tolist()), prior.tolist(), log_bf10.tolist(), strict=True)

    def by_subset(self) -> BySubset:
        """The evidence of columns and of subsets of columns."""
        plan, count = self.plan, len(self.plan.columns)
        logs: dict[tuple[int, ...], list[tuple[float, float]]] = {}
        alone = np.empty(count)
        for columns, prior, value in self._tests():
            if len(columns) == 1:
                alone[columns[0]] = value
            if prior:
                logs.setdefault(columns, []).append((prior, value))
        _, of_levels = _priors(plan)
        for place, prior, value in zip(plan.many, of_levels.tolist(), self.of_levels.tolist(), strict=True):
            alone[place] = with_all_levels(alone[place], value)
            if prior:
                logs.setdefault((place,), []).append((prior, value))
        total = np.array([sum(prior for prior, _ in found) for found in logs.values()])
        values = [
            log_mean(np.array([value for _, value in found]), np.array([prior for prior, _ in found]))
            for found in logs.values()
        ]
        x, y = self.statistics.columns_x, self.statistics.columns_y
        assert x is not None and y is not None
        contrast = Contrast.of(x, y, self.statistics.columns_differences, plan.levels, self._moved())
        return BySubset(
            log_bf10=alone if count > 1 else np.array([self.log_bf10]),
            **contrast._asdict(),
            witness_auc=None if self.sizes is None else with_levels(self.sizes, contrast.auc),
            subsets=tuple(logs),
            prior=total,
            subset_log_bf10=np.array(values) - np.log(total),
        )


class Contrast(NamedTuple):
    """How two samples of each column differ, as in `BySubset`."""

    auc: Array
    spread: Array
    direction: tuple[str, ...]

    @classmethod
    def of(
        cls,
        x: Moments,
        y: Moments,
        differences: Moments | None = None,
        levels: Levels = (),
        of_categories: Mapping[int, tuple[str, float]] = MappingProxyType({}),
    ) -> Contrast:
        """From the moments of normal scores and levels of D columns, (2, D, 1), and of pairs those of differences.

        Columns of categories have several coordinates; direction and AUC are known of each.
        """
        sizes = sizes_of(levels)
        if sizes is not None:
            first = starts_of(sizes)[:-1]
            x, y = _some(x, first), _some(y, first)
            differences = None if differences is None else _some(differences, first)
        (mean_x, level_x), (mean_y, level_y) = x.mean[..., 0], y.mean[..., 0]
        # As unbiased variances; a column of one value in a sample has none.
        var_x, var_y = (np.maximum(of.scatter[0, :, 0, 0], _ROUNDED) / (of.count - 1) for of in (x, y))
        covariance = np.zeros(len(var_x))
        if differences is not None:
            covariance = 0.5 * (var_x + var_y - differences.scatter[0, :, 0, 0] / (x.count - 1))
        words = direction(mean_x, mean_y, var_x, var_y, x.count, y.count, covariance).tolist()
        auc, spread = np.clip(0.5 + level_x - level_y, 0.0, 1.0), np.sqrt(var_x / var_y)
        for place, (way, of_level) in of_categories.items():
            words[place], auc[place], spread[place] = way, of_level, 1.0
        return cls(auc, spread, tuple(words))


def _some(moments: Moments, places: Indices) -> Moments:
    return Moments(moments.count, moments.mean[:, places], moments.scatter[:, places])


def level_counts(plan: Plan, statistics: FeatureStatistics) -> tuple[LevelCounts, ...]:
    """How many rows have each level of the columns with a test of all levels."""
    x, y = statistics.levels_x, statistics.levels_y
    return () if x is None or y is None else tuple(LevelCounts(*both) for both in by_column((x, y), plan.levels))


def prior_weights(plan: Plan) -> Array:
    """Prior probability of each test of a plan given that the samples differ, (T,).

    All columns together come first, and the tests of all levels of a column last.
    """
    parts, of_levels = _priors(plan)
    return np.concatenate([[plan.prior], *parts, of_levels])


def _priors(plan: Plan) -> tuple[list[Array], Array]:
    """Those of the tests of every stack, and of the tests of all levels of a column: half of what the column has."""
    found, of_levels = [part.prior.copy() for part in plan.parts], np.zeros(len(plan.many))
    for part, prior in zip(plan.parts, found, strict=True):
        if part.columns.shape[1] == 1:
            for number, place in enumerate(plan.many):
                prior[part.columns[:, 0] == place] *= 0.5
                of_levels[number] += prior[part.columns[:, 0] == place].sum()
    return found, of_levels


def with_all_levels(coded: float, of_levels: float) -> float:
    """Log BF10 of a column by the test of its most common levels and by that of all of them, of equal weight.

    Examples
    --------
    >>> round(with_all_levels(math.log(3.0), math.log(5.0)), 9) == round(math.log(4.0), 9)
    True
    """
    return float(np.logaddexp(coded, of_levels)) - math.log(2.0)


def log_mean(log_values: Array, weights: Array) -> float:
    """Log Σ weight × value.

    Examples
    --------
    >>> round(log_mean(np.log([1.0, 5.0]), np.array([0.5, 0.5])), 6) == round(math.log(3.0), 6)
    True
    """
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(np.log(weights) + log_values))


def with_levels(sizes: Array, auc: Array) -> Array:
    """AUCs of columns, of which those of categories, NaN, are those of which sample has more of a level."""
    return np.where(np.isnan(sizes), np.maximum(auc, 1.0 - auc), sizes)


def evaluate_parts(
    plan: Plan, statistics_of: StatisticsOf, tick: Callable[[int], object] | None = None
) -> tuple[tuple[Array, ...], Array | None]:
    """Log BF10 of every test of every stack, and the `sizes` of a `Mixture`; `tick` is called with numbers of tests."""
    found, sizes = [], np.full(len(plan.columns), np.nan)
    for number, part in enumerate(plan.parts):
        features, of_part = plan.features_of(number), partial(statistics_of, number)
        columns = part.columns[:, 0]
        single = part.columns.shape[1] == 1 and not any(plan.levels and plan.levels[column] for column in columns)
        if single and plan.model.has_effect:
            log_bf10, effect = stack_with_sizes(features, of_part, plan.model, tick)
            sizes[columns] = effect.auc
        else:
            [log_bf10] = stack_log_bf10(features, of_part, (plan.model,), tick)
        found.append(log_bf10)
    return tuple(found), sizes if plan.model.has_effect else None


def stack_log_bf10(
    features: StackFeatures,
    statistics_of: Callable[[slice], FeatureStatistics],
    models: Sequence[Model],
    tick: Callable[[int], object] | None = None,
) -> Array:
    """Log BF10 of every test of a stack by each model, (M, P): the mean over lengthscales with equal prior weight.

    Models that differ in what follows the statistics share one pass. The tests are evaluated a few at a time, in
    threads where there are many. `tick` as for `evaluate_parts`.
    """

    def of(statistics: FeatureStatistics, of_tests: StackFeatures) -> Array:
        found = [evidence.evaluate(statistics, of_tests, model) for model in models]
        return np.stack([_log_mean_of(one, of_tests) for one in found])

    return _over_tests(of, features, statistics_of, tick)


def stack_with_sizes(
    features: StackFeatures,
    statistics_of: Callable[[slice], FeatureStatistics],
    model: Model,
    tick: Callable[[int], object] | None = None,
) -> tuple[Array, OfColumns]:
    """Log BF10 of every test of a stack of single columns, (P,), and its effect; as `stack_log_bf10`."""

    def of(statistics: FeatureStatistics, of_tests: StackFeatures) -> Array:
        found = evidence.evaluate(statistics, of_tests, model)
        return np.stack([_log_mean_of(found, of_tests), *of_columns(statistics, found, of_tests, model)])

    log_bf10, *sizes = _over_tests(of, features, statistics_of, tick)
    return log_bf10, OfColumns(*sizes)


def _log_mean_of(found: Evidence, features: StackFeatures) -> Array:
    """Log BF10 of each test, (P,), averaged over its lengthscales."""
    count = len(features.multiples)
    return np.asarray(np.logaddexp.reduce(found.log_bf10.reshape(-1, count), axis=1) - math.log(count))


def _over_tests(
    of: Callable[[FeatureStatistics, StackFeatures], Array],
    features: StackFeatures,
    statistics_of: Callable[[slice], FeatureStatistics],
    tick: Callable[[int], object] | None,
) -> Array:
    """Values of every test, (..., P), a few tests at a time."""

    def of_some(tests: slice) -> Array:
        return of(statistics_of(tests), features.select(tests))

    found = []
    for values in in_order(of_some, [slice(at, at + _TESTS) for at in range(0, len(features.points), _TESTS)]):
        found.append(values)
        if tick is not None:
            tick(values.shape[-1])
    return np.concatenate(found, axis=-1)
