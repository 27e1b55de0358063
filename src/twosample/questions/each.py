"""One test a column, for thousands: the share of columns that differ, and which ones, with few false ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twosample.common.arrays import Array, Flags, Indices
from twosample.common.progress import WorkCounter, progress_bar
from twosample.common.threads import in_order, one_thread
from twosample.data import Choice, Limits, Ranks, View, ranks, read_columns
from twosample.data.categories import Levels, many_in_words, many_levels, sizes_of
from twosample.data.complete import complete
from twosample.data.reading import Table
from twosample.data.two_tables import Tables, about_rows
from twosample.data.views import MOST_KNOTS
from twosample.errors import DroppedDataWarning, emit, warn
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.statistics import FeatureStatistics
from twosample.features.subsets import Part, categorical_parts, multiples_of, single_part
from twosample.inference.all_levels import LevelCounts, by_column, counted
from twosample.inference.effect import OfColumns
from twosample.inference.mixture import stack_log_bf10, stack_with_sizes, with_all_levels
from twosample.inference.relabelling import LevelTest, Splits, WeightedTest, are_few, log_means, stacked_tests
from twosample.kernels import RBF
from twosample.models import Model
from twosample.places import local
from twosample.questions.each_table import (
    Asked,
    Rows,
    Tested,
    compressed,
    groups_of,
    missing_in_words,
    of_equal_sizes,
    table,
    to_be_tested,
)
from twosample.results.each_result import EachResult
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["InMemory", "Place", "run", "single_columns"]

# How many values are ranked at a time, and the memory of labels in a block.
_BLOCK_VALUES = 1 << 20
_LABELLED_BYTES = 1 << 22


def single_columns(
    x: Array, y: Array, *, paired: bool, model: Model, counter: WorkCounter
) -> tuple[Array, OfColumns | None]:
    """Log BF10 of the normal scores of each column, (C,), as the mixture of the default test has it for one column.

    With it the effect in each, for models that say.

    Parameters
    ----------
    x, y
        Samples (n_x, C) and (n_y, C) without missing values, of columns that vary within a sample.
    paired, model
        As in the test.
    counter
        Is called with n_x + n_y for each column done.
    """
    log_bf10, sizes = np.empty(x.shape[1]), np.empty((2, x.shape[1]))
    rows = len(x) + len(y)
    width = max(1, _BLOCK_VALUES // rows)
    for start in range(0, len(log_bf10), width):
        block = np.arange(start, min(start + width, len(log_bf10)))
        pooled = np.concatenate([x[:, block], y[:, block]])
        order = np.argsort(pooled, axis=0)
        pooled = np.take_along_axis(pooled, order, axis=0)
        shared = np.zeros(pooled.shape[1], dtype=bool)
        if not paired and rows <= MOST_KNOTS and model.relabels:
            shared = (pooled[1:] != pooled[:-1]).all(axis=0)
        apart = block[~shared]
        for places, (found, effect) in (
            (block[shared], _without_ties(order[:, shared] < len(x), model, counter)),
            (apart, _one_by_one(x[:, apart], y[:, apart], pooled[:, ~shared], paired, model, counter)),
        ):
            log_bf10[places] = found
            if effect is not None:
                sizes[:, places] = effect
    return log_bf10, OfColumns(*sizes) if model.has_effect else None


def _without_ties(in_x: Flags, model: Model, counter: WorkCounter) -> tuple[Array, OfColumns | None]:
    """Log BF10 of columns without ties, which have the same normal scores: only the labels (N, C) of these differ."""
    if not in_x.shape[1]:
        return np.empty(0), None
    view = Ranks.of_sorted(np.arange(float(len(in_x)))[:, np.newaxis])
    n_x = int(in_x[:, 0].sum())
    part = single_part(view)
    features = PointFeatures(RBF(), View.none(1), part.points[0], float(part.typical[0]))
    lengthscales = features.typical * multiples_of(model)
    log_mean = 0.0
    log_weights = np.full(len(lengthscales), -math.log(len(lengthscales)))
    alone = WeightedTest(lengthscales, log_weights, slice(None), lambda: features)
    means = log_means([alone], view.scores[:n_x], view.scores[n_x:], model, paired=False)
    if means is not None:
        log_mean = float(means[0])
    splits = Splits.of(view.scores, n_x, features, lengthscales, model)
    size = max(1, _LABELLED_BYTES // splits.bytes_each)
    logs, sizes = [], []
    for by_lengthscale, effect in in_order(
        splits.with_sizes, [in_x[:, first : first + size] for first in range(0, in_x.shape[1], size)]
    ):
        logs.append(np.logaddexp.reduce(by_lengthscale, axis=0) - math.log(len(lengthscales)) - log_mean)
        if effect is not None:
            sizes.append(effect)
        counter(in_x.shape[0] * by_lengthscale.shape[1])
    return np.concatenate(logs), OfColumns(*np.concatenate(sizes, axis=1)) if sizes else None


def _one_by_one(
    x: Array, y: Array, pooled: Array, paired: bool, model: Model, counter: WorkCounter
) -> tuple[Array, OfColumns | None]:
    """Log BF10 of columns whose normal scores have features of their own, and the effect."""
    if not x.shape[1]:
        return np.empty(0), None
    view = Ranks.of_sorted(pooled)
    part = single_part(view)
    return _of_stack(part, view, x, y, paired=paired, model=model, counter=counter, sized=model.has_effect)


def _of_stack(
    part: Part, view: Ranks, x: Array, y: Array, *, paired: bool, model: Model, counter: WorkCounter, sized: bool
) -> tuple[Array, OfColumns | None]:
    """Log BF10 of each test of a stack, and with `sized` the effect."""
    features = StackFeatures(RBF(), view, part.columns, part.points, part.typical, multiples_of(model))
    alone = model.takes_differences_alone(paired)

    def statistics_of(tests: slice) -> FeatureStatistics:
        chosen = features.select(tests)
        return FeatureStatistics(chosen.lengthscales, *local.stack_moments(chosen, x, y, paired=alone))

    rows = len(x) + len(y)
    means = _means_of_few(features, x, y, paired, model)
    effect = None
    if sized:
        log_bf10, effect = stack_with_sizes(features, statistics_of, model, lambda tests: counter(rows * tests))
    else:
        [log_bf10] = stack_log_bf10(features, statistics_of, (model,), lambda tests: counter(rows * tests))
    return np.asarray(log_bf10 if means is None else log_bf10 - means), effect


def _means_of_few(features: StackFeatures, x: Array, y: Array, paired: bool, model: Model) -> Array | None:
    """Log of the mean of BF10 over all labellings for each test of a stack; columns with the same ties have the same.

    None where there are too many labellings.
    """
    if not are_few(len(x), len(y), model, paired=paired):
        return None
    tests = list(stacked_tests(features))
    first = same = np.arange(len(tests))
    if not paired and features.view.sizes is None:
        pooled = np.sort(features.view.apply(np.concatenate([x, y])), axis=0)
        _, first, same = np.unique(pooled, axis=1, return_index=True, return_inverse=True)
    means = log_means([tests[place] for place in first], x, y, model, paired=paired)
    return None if means is None else means[same.ravel()]


@dataclass(frozen=True, eq=False)
class Place(ABC):
    """Where the rows are: tests of their columns, and what is known of them beforehand.

    Attributes
    ----------
    tables
        The rows, in which values may be missing, or the first ones where there are too many for memory.
    limits
        The smallest and largest value of each column of either sample.
    n_x, n_y
        How many values each column has in either sample, (C,).
    sizes
        How many rows each sample has.
    asked
        The options.
    """

    tables: Tables
    limits: Limits
    n_x: Indices
    n_y: Indices
    sizes: tuple[int, int]
    asked: Asked

    @abstractmethod
    def warn_of_rows(self) -> tuple[str, ...]:
        """Warn of copied and dependent rows; returns what was said."""

    @abstractmethod
    def work(self, kept: Indices, groups: Sequence[list[int]]) -> int:
        """The work of all tests, for a progress bar."""

    @abstractmethod
    def test_columns(self, kept: Indices, counter: WorkCounter) -> tuple[Tested, tuple[str, ...]]:
        """What is found of each of these columns, and what else is to be said of levels."""

    @abstractmethod
    def test_group(self, places: list[int], counter: WorkCounter) -> TwoSampleResult | str:
        """The test of these columns together, or why there is none."""

    def untestable(self) -> dict[str, str]:
        """Columns that cannot be tested here, of those that vary, and why."""
        return {}

    def answer(self) -> EachResult:
        """Test each column and each group of columns."""
        columns, n_x, n_y, paired = self.tables.columns, self.n_x, self.n_y, self.asked.paired
        members = groups_of(self.asked.groups, columns)
        kept, skipped = to_be_tested(columns, n_x, n_y, self.limits)
        skipped = self.untestable() | skipped
        kept = kept[[columns[at] not in skipped for at in kept]]
        missing = missing_in_words(self.sizes[0] - n_x, self.sizes[1] - n_y, paired)
        for note in missing:
            warn(DroppedDataWarning(note, argument="x and y"))
        notes = (*self.tables.notes, *missing, *self.warn_of_rows())
        with progress_bar(self.asked.progress) as report, one_thread():
            counter = WorkCounter(report, self.work(kept, list(members.values())))
            found, of_levels = self.test_columns(kept, counter)
            of_groups = {name: self.test_group(places, counter) for name, places in members.items()}
            counter.finish()
        skipped |= {name: reason for name, reason in of_groups.items() if isinstance(reason, str)}
        return table(
            Rows(tuple(columns[at] for at in kept), n_x[kept], n_y[kept], found),
            Rows.of_groups(
                {name: result for name, result in of_groups.items() if not isinstance(result, str)}, self.asked.rope
            ),
            self.asked,
            groups={name: tuple(columns[at] for at in places) for name, places in members.items()},
            unused={one.column: one.reason for one in self.tables.left_out},
            skipped={name: skipped[name] for name in (*columns, *members) if name in skipped},
            notes=(*notes, *of_levels),
        )


def run(x: object, y: object, *, choice: Choice, **options: Any) -> EachResult:
    """Test each column and each group of columns of samples in memory; the options are those of `Asked`."""
    return InMemory.of(x, y, choice, Asked(**options).checked()).answer()


class InMemory(Place):
    """Columns of samples in memory."""

    @classmethod
    def of(cls, x: object, y: object, choice: Choice, asked: Asked) -> InMemory:
        """Read two samples."""
        tables, limits = read_columns(x, y, paired=asked.paired, nan_policy=asked.nan_policy, choice=choice)
        n_x, n_y = (np.count_nonzero(~np.isnan(rows), axis=0) for rows in tables.rows)
        return cls(tables, limits, n_x, n_y, (len(tables.x), len(tables.y)), asked)

    def warn_of_rows(self) -> tuple[str, ...]:
        """Warn of copied and dependent rows; returns what was said."""
        return emit(about_rows(self.tables, self.asked.paired))

    def work(self, kept: Indices, groups: Sequence[list[int]]) -> int:
        """One for each value."""
        return int(self.n_x[kept].sum() + self.n_y[kept].sum()) + sum(self.sizes) * sum(map(len, groups))

    def test_columns(self, kept: Indices, counter: WorkCounter) -> tuple[Tested, tuple[str, ...]]:
        """What is found of columns of equal sizes at a time, and of those of categories apart."""
        (x, y), n_x, n_y = self.tables.rows, self.n_x[kept], self.n_y[kept]
        how: dict[str, Any] = {"paired": self.asked.paired, "model": self.asked.model, "counter": counter}
        found, rope = Tested.nothing(len(kept)), self.asked.rope
        levels = self.tables.levels_at(kept)
        coded = np.array([known is not None for known in levels], dtype=bool)
        of_categories, of_numbers = np.flatnonzero(coded), np.flatnonzero(~coded)
        if of_categories.size:
            names, places = tuple(levels[at] for at in of_categories), kept[of_categories]
            found.log_bf10[of_categories] = category_columns(x[:, places], y[:, places], names, **how)
        for among in of_equal_sizes(n_x[of_numbers], n_y[of_numbers]):
            alike = of_numbers[among]
            parts = (compressed(rows, kept[alike], int(size[alike[0]])) for rows, size in ((x, n_x), (y, n_y)))
            found.put(alike, *single_columns(*parts, **how), rope)
        width = max(1, _BLOCK_VALUES // (len(x) + len(y)))
        for start in range(0, len(kept), width):
            block = slice(start, start + width)
            found.larger[block], found.direction[block] = _contrast(
                x[:, kept[block]], y[:, kept[block]], self.asked.paired
            )
        notes = list[str]()
        if self.asked.paired:
            notes += many_in_words(tuple(self.tables.columns[at] for at in kept), levels)
        for at in of_categories.tolist():
            both, known = (x[:, kept[at]], y[:, kept[at]]), levels[at] or ()
            in_x, in_y = (np.bincount(one.astype(np.intp), minlength=len(known) + 1) for one in both)
            counts = LevelCounts(in_x.astype(np.float64), in_y.astype(np.float64))
            variance = _variance_of_levels(*both, len(known) + 1) if self.asked.paired else None
            found.direction[at], found.larger[at] = counts.moved(known, self.asked.model, variance)
            only = counts.only_in_one(self.tables.columns[kept[at]], known)
            notes += [one.words((self.tables.names[0], self.tables.names[1])) for one in only]
        return found.with_levels() if self.asked.model.has_effect else found, tuple(notes)

    def test_group(self, places: list[int], counter: WorkCounter) -> TwoSampleResult | str:
        """The test of the rows without missing values."""
        counter(sum(self.sizes) * len(places))
        parts = [rows[:, places] for rows in self.tables.rows]
        (x, y), _ = complete(parts, (), "omit", paired=self.asked.paired, fewest=0)
        for role, rows in (("x", x), ("y", y)):
            if len(rows) < 2:
                return f"fewer than 2 complete rows in {role}"
        same = x[0] == y[0]
        varies = (x != x[0]).any(axis=0) | (y != y[0]).any(axis=0)
        if not varies.any():
            return "one value throughout" if same.all() else "one value in each sample"
        used = np.flatnonzero(varies | ~same)
        levels = tuple(self.tables.levels[places[at]] for at in used) if self.tables.levels else ()
        both = (Table(rows[:, used], levels=levels, settled=True) for rows in (x, y))
        return self.asked.joint(*both, model=self.asked.model, paired=self.asked.paired)


def category_columns(x: Array, y: Array, levels: Levels, *, paired: bool, model: Model, counter: WorkCounter) -> Array:
    """Log BF10 of each column of categories, (C,), as the mixture of the default test has it for one column.

    Parameters
    ----------
    x, y
        Codes (n_x, C) and (n_y, C).
    levels
        Their levels.
    paired, model, counter
        As for `single_columns`.
    """
    view = Ranks.of(x, y, sizes_of(levels))
    columns = np.arange(x.shape[1])[:, np.newaxis]
    log_bf10 = np.empty(len(columns))
    for part in categorical_parts(columns, view, np.empty((0, view.width)), 1.0, 0):
        how: dict[str, Any] = {"paired": paired, "model": model, "counter": counter}
        log_bf10[part.columns[:, 0]], _ = _of_stack(part, view, x, y, sized=False, **how)
    tests = [] if paired else [LevelTest.of(place, levels[place]) for place in many_levels(levels)]
    if not tests:
        return log_bf10
    means = log_means(tests, x, y, model, paired=False)
    counts = by_column([counted(rows, levels) for rows in (x, y)], levels)
    for number, (place, both) in enumerate(zip(many_levels(levels), counts, strict=True)):
        of_levels = LevelCounts(*both).log_bf10(model) - (0.0 if means is None else means[number])
        log_bf10[place] = with_all_levels(log_bf10[place], of_levels)
    return log_bf10


def _variance_of_levels(x: Array, y: Array, count: int) -> Array:
    """The variance of the difference of having each level, for pairs, (L,)."""
    alone, codes = x != y, np.concatenate([x, y]).astype(np.intp)
    times = np.bincount(codes[np.tile(alone, 2)], minlength=count)
    surplus = np.bincount(x.astype(np.intp), minlength=count) - np.bincount(y.astype(np.intp), minlength=count)
    return np.asarray((times - surplus**2 / len(x)) / (len(x) - 1.0))


def _contrast(x: Array, y: Array, paired: bool) -> tuple[Array, list[str]]:
    """Which sample is larger and in which way they differ, for each column; NaN is missing."""
    of_ranks = ranks.mid_ranks(np.concatenate((x, y)))
    scores = ranks.normal_scores(of_ranks)
    (n_x, mean_x, x_parts), (n_y, mean_y, y_parts) = _centered(scores[: len(x)]), _centered(scores[len(x) :])
    variance_x, variance_y = (np.square(p).sum(axis=0) / (n - 1) for p, n in ((x_parts, n_x), (y_parts, n_y)))
    covariance = (x_parts * y_parts).sum(axis=0) / (n_x - 1) if paired else 0.0
    words = ranks.direction(mean_x, mean_y, variance_x, variance_y, n_x, n_y, covariance)
    return ranks.probability_larger(of_ranks, len(x)), words.tolist()


def _centered(scores: Array) -> tuple[Indices, Array, Array]:
    """How many there are in each column, their mean, and their distances from it; 0 where they are missing."""
    missing = np.isnan(scores)
    counts = np.count_nonzero(~missing, axis=0)
    means = np.where(missing, 0.0, scores).sum(axis=0) / counts
    return counts, means, np.where(missing, 0.0, scores - means)
