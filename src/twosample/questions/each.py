"""One test a column, for thousands: the share of columns that differ, and which ones, with few false ones."""

from __future__ import annotations

import math
from typing import Literal, Protocol

import numpy as np

from twosample.common.arguments import flag_of, share_of
from twosample.common.arrays import Array, Flags, Indices
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import in_order, one_thread
from twosample.data import Choice, Ranks, View, find_copies, ranks, read_columns, serial_dependence
from twosample.data.categories import OTHER, Levels, sizes_of
from twosample.data.reading import Table
from twosample.data.two_tables import Tables
from twosample.data.views import MOST_KNOTS
from twosample.errors import DependentRowsWarning, DroppedDataWarning, warn
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.statistics import FeatureStatistics
from twosample.features.subsets import categorical_parts, multiples_of, single_part
from twosample.inference.columns import moved_level
from twosample.inference.mixture import stack_log_bf10
from twosample.inference.relabelling import Splits
from twosample.kernels import RBF
from twosample.models import Model
from twosample.places import local
from twosample.questions.each_table import (
    Rows,
    check_model,
    compressed,
    groups_of,
    missing_in_words,
    of_equal_sizes,
    table,
    to_be_tested,
)
from twosample.results.each_result import EachResult
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["JointTest", "run", "single_columns"]

# How many values are ranked at a time, and the memory of labels in a block.
_BLOCK_VALUES = 1 << 20
_LABELLED_BYTES = 1 << 22


class JointTest(Protocol):
    """The test of several columns together."""

    def __call__(self, x: Table, y: Table, /, *, model: Model, paired: bool) -> TwoSampleResult:
        """Test the samples."""


def single_columns(x: Array, y: Array, *, paired: bool, model: Model, counter: WorkCounter) -> Array:
    """Log BF10 of the normal scores of each column, (C,), as the mixture of the default test has it for one column.

    Parameters
    ----------
    x, y
        Samples (n_x, C) and (n_y, C) without missing values, of columns that vary within a sample.
    paired, model
        As in the test.
    counter
        Is told n_x + n_y for each column done.
    """
    log_bf10 = np.empty(x.shape[1])
    rows = len(x) + len(y)
    width = max(1, _BLOCK_VALUES // rows)
    for start in range(0, len(log_bf10), width):
        block = slice(start, start + width)
        pooled = np.concatenate([x[:, block], y[:, block]])
        order = np.argsort(pooled, axis=0)
        pooled = np.take_along_axis(pooled, order, axis=0)
        shared = np.zeros(pooled.shape[1], dtype=bool)
        if not paired and rows <= MOST_KNOTS:
            shared = (pooled[1:] != pooled[:-1]).all(axis=0)
        found = np.empty(pooled.shape[1])
        found[shared] = _without_ties(order[:, shared] < len(x), model, counter)
        found[~shared] = _one_by_one(
            x[:, block][:, ~shared], y[:, block][:, ~shared], pooled[:, ~shared], paired, model, counter
        )
        log_bf10[block] = found
    return np.asarray(log_bf10)


def _without_ties(in_x: Flags, model: Model, counter: WorkCounter) -> Array:
    """Log BF10 of columns without ties, which have the same normal scores: only the labels (N, C) of these differ."""
    if not in_x.shape[1]:
        return np.empty(0)
    view = Ranks.of_sorted(np.arange(float(len(in_x)))[:, np.newaxis])
    part = single_part(view)
    features = PointFeatures(RBF(), View.none(1), part.points[0], float(part.typical[0]))
    lengthscales = features.typical * multiples_of(model)
    splits = Splits.of(view.scores, int(in_x[:, 0].sum()), features, lengthscales, model)
    size = max(1, _LABELLED_BYTES // splits.bytes_each)
    found = []
    for by_lengthscale in in_order(
        splits.log_bf10, [in_x[:, first : first + size] for first in range(0, in_x.shape[1], size)]
    ):
        found.append(np.logaddexp.reduce(by_lengthscale, axis=0) - math.log(len(lengthscales)))
        counter(in_x.shape[0] * by_lengthscale.shape[1])
    return np.concatenate(found)


def _one_by_one(x: Array, y: Array, pooled: Array, paired: bool, model: Model, counter: WorkCounter) -> Array:
    """Log BF10 of columns whose normal scores have features of their own."""
    if not x.shape[1]:
        return np.empty(0)
    view = Ranks.of_sorted(pooled)
    part = single_part(view)
    features = StackFeatures(RBF(), view, part.columns, part.points, part.typical, multiples_of(model))
    alone = model.takes_differences_alone(paired)

    def statistics_of(tests: slice) -> FeatureStatistics:
        chosen = features.select(tests)
        return FeatureStatistics(chosen.lengthscales, *local.stack_moments(chosen, x, y, paired=alone))

    [log_bf10] = stack_log_bf10(features, statistics_of, (model,), lambda tests: counter(pooled.shape[0] * tests))
    return np.asarray(log_bf10)


def run(
    x: object,
    y: object,
    *,
    choice: Choice,
    fdr: float,
    groups: object,
    model: Model,
    paired: bool,
    nan_policy: Literal["raise", "omit"],
    progress: Progress,
    joint: JointTest,
) -> EachResult:
    """Test each column and each group of columns; `joint` is the test for the groups, all else as in the public one."""
    fdr, paired = share_of(fdr, "fdr"), flag_of(paired, "paired")
    check_model(model)
    tables, limits = read_columns(x, y, paired=paired, nan_policy=nan_policy, choice=choice)
    x_rows, y_rows, columns = tables.x, tables.y, tables.columns
    members = groups_of(groups, columns)
    n_x, n_y = (np.count_nonzero(~np.isnan(rows), axis=0) for rows in (x_rows, y_rows))

    kept, skipped = to_be_tested(columns, n_x, n_y, limits)
    unused = {one.column: one.reason for one in tables.left_out}

    notes = missing_in_words(len(x_rows) - n_x, len(y_rows) - n_y, paired)
    for note in notes:
        warn(DroppedDataWarning(note, argument="x and y"))
    copies = find_copies(x_rows, y_rows, paired=paired)
    dependent = serial_dependence(x_rows, y_rows, columns, copies, tables.levels)
    said = (*copies.warnings(), *(DependentRowsWarning(note, argument="x and y") for note in dependent))
    for warning in said:
        warn(warning)

    with progress_bar(progress) as report, one_thread():
        counter = WorkCounter(report, int(n_x[kept].sum() + n_y[kept].sum()))
        counter.expect(sum((len(x_rows) + len(y_rows)) * len(places) for places in members.values()))
        singles = _test_columns(tables, kept, (n_x, n_y), paired, model, counter)
        together = _test_groups(tables, members, skipped, paired, model, joint, counter)
        counter.finish()
    return table(
        singles,
        together,
        fdr=fdr,
        paired=paired,
        model=model,
        groups={name: tuple(columns[place] for place in places) for name, places in members.items()},
        unused=unused,
        skipped=skipped,
        notes=tables.notes + notes + tuple(map(str, said)),
    )


def _test_columns(
    tables: Tables,
    kept: Indices,
    sizes: tuple[Indices, Indices],
    paired: bool,
    model: Model,
    counter: WorkCounter,
) -> Rows:
    """One test for each of the columns kept; those of equal sizes at a time, and those of categories apart."""
    x, y, columns = tables.x, tables.y, tables.columns
    n_x, n_y = sizes[0][kept], sizes[1][kept]
    log_bf10 = np.empty(len(kept))
    coded = np.array([bool(tables.levels) and tables.levels[place] is not None for place in kept], dtype=bool)
    of_categories = np.flatnonzero(coded)
    if of_categories.size:
        names = tuple(tables.levels[place] for place in kept[of_categories])
        x_part, y_part = x[:, kept[of_categories]], y[:, kept[of_categories]]
        log_bf10[of_categories] = category_columns(x_part, y_part, names, paired=paired, model=model, counter=counter)
    of_numbers = np.flatnonzero(~coded)
    for among in of_equal_sizes(n_x[of_numbers], n_y[of_numbers]):
        alike = of_numbers[among]
        x_part, y_part = (compressed(rows, kept[alike], int(size[alike[0]])) for rows, size in ((x, n_x), (y, n_y)))
        log_bf10[alike] = single_columns(x_part, y_part, paired=paired, model=model, counter=counter)

    auc, direction = np.empty(len(kept)), np.empty(len(kept), dtype="<U16")
    width = max(1, _BLOCK_VALUES // (len(x) + len(y)))
    for start in range(0, len(kept), width):
        block = slice(start, start + width)
        auc[block], direction[block] = _contrast(x[:, kept[block]], y[:, kept[block]], paired)
    ways: list[str] = direction.tolist()
    for place in of_categories.tolist():
        known = tables.levels[kept[place]]
        assert known is not None
        ways[place], auc[place] = _contrast_of_levels(x[:, kept[place]], y[:, kept[place]], known, paired)
    return Rows(tuple(columns[place] for place in kept), n_x, n_y, log_bf10, auc, tuple(ways))


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
    alone = model.takes_differences_alone(paired)
    for part in categorical_parts(columns, view, np.empty((0, view.width)), 1.0, 0):
        features = StackFeatures(RBF(), view, part.columns, part.points, part.typical, multiples_of(model))

        def statistics_of(tests: slice, features: StackFeatures = features) -> FeatureStatistics:
            chosen = features.select(tests)
            return FeatureStatistics(chosen.lengthscales, *local.stack_moments(chosen, x, y, paired=alone))

        found = stack_log_bf10(features, statistics_of, (model,), lambda tests: counter((len(x) + len(y)) * tests))
        log_bf10[part.columns[:, 0]] = found[0]
    return log_bf10


def _contrast_of_levels(x: Array, y: Array, levels: tuple[str, ...], paired: bool) -> tuple[str, float]:
    """Which level of a column moved, in words, and the AUC of having it."""
    codes = np.arange(len(levels) + 1.0)
    has_x, has_y = (one[:, np.newaxis] == codes for one in (x, y))
    variance = np.var(has_x.astype(float) - has_y, axis=0, ddof=1) if paired else None
    return moved_level((*levels, OTHER), has_x.mean(axis=0), has_y.mean(axis=0), len(x), len(y), variance)


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


def _test_groups(
    tables: Tables,
    members: dict[str, list[int]],
    skipped: dict[str, str],
    paired: bool,
    model: Model,
    joint: JointTest,
    counter: WorkCounter,
) -> Rows:
    """One test for each group, of the rows without missing values; those that cannot be tested are added to skipped."""
    x, y = tables.x, tables.y
    names, sizes, log_bf10 = [], [], []
    for name, places in members.items():
        x_part, y_part = x[:, places], y[:, places]
        keep_x, keep_y = (_complete(part) for part in (x_part, y_part))
        if paired:
            keep_x = keep_y = keep_x & keep_y
        x_part, y_part = x_part[keep_x], y_part[keep_y]
        reason = _why_not(x_part, y_part)
        if reason is None:
            varies = (x_part.min(axis=0) < x_part.max(axis=0)) | (y_part.min(axis=0) < y_part.max(axis=0))
            varies |= x_part[0] != y_part[0]
            levels = tuple(tables.levels[place] for place in np.array(places)[varies]) if tables.levels else ()
            both = (Table(part[:, varies], levels=levels, settled=True) for part in (x_part, y_part))
            result = joint(*both, model=model, paired=paired)
            names.append(name)
            sizes.append((result.n_x, result.n_y))
            log_bf10.append(result.log_bf10)
        else:
            skipped[name] = reason
        counter((len(x) + len(y)) * len(places))
    n_x, n_y = np.array(sizes, dtype=np.int64).reshape(-1, 2).T
    auc = np.full(len(names), np.nan)
    return Rows(tuple(names), n_x, n_y, np.array(log_bf10, dtype=np.float64), auc, ("",) * len(names))


def _complete(rows: Array) -> Flags:
    return np.asarray(~np.isnan(rows).any(axis=1))


def _why_not(x: Array, y: Array) -> str | None:
    """Why a group cannot be tested, if it cannot."""
    for name, rows in (("x", x), ("y", y)):
        if len(rows) < 2:
            return f"fewer than 2 complete rows in {name}"
    if (x == x[0]).all() and (y == y[0]).all():
        return "one value throughout" if (x[0] == y[0]).all() else "one value in each sample"
    return None
