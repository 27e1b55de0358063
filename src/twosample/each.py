"""One test a column, for thousands: the share of columns that differ, and which ones, with few false ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

import numpy as np

from twosample import ranks
from twosample.arguments import flag_of, share_of
from twosample.arrays import Array, Flags, Indices
from twosample.columns import moved_level
from twosample.data import Choice, Ranks, View, find_copies, read_columns
from twosample.data.categories import OTHER, Levels, sizes_of
from twosample.data.reading import Table
from twosample.data.samples import dependence
from twosample.data.two_tables import TwoTables
from twosample.data.views import MOST_KNOTS
from twosample.discoveries import learn_share, posterior, q_values
from twosample.each_result import EachResult, some_skipped
from twosample.engines import local
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, InputTypeError, Setting, warn
from twosample.features import PointFeatures, StackFeatures
from twosample.kernels import RBF
from twosample.mixture import stack_log_bf10
from twosample.models import LogUniform, Model
from twosample.permutation import Splits
from twosample.progress import Progress, WorkCounter, progress_bar
from twosample.result import TwoSampleResult
from twosample.statistics import FeatureStatistics
from twosample.subsets import categorical_parts, multiples_of, single_part
from twosample.threads import in_order, one_thread
from twosample.words import columns_in_words

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


class _Rows(NamedTuple):
    """Rows of the table as they come, in any order."""

    names: tuple[str, ...]
    n_x: Indices
    n_y: Indices
    log_bf10: Array
    auc: Array
    direction: tuple[str, ...]


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
    _check_model(model)
    tables, limits = read_columns(x, y, paired=paired, nan_policy=nan_policy, choice=choice)
    x_rows, y_rows, columns = tables.x, tables.y, tables.columns
    members = _groups(groups, columns)
    n_x, n_y = (np.count_nonzero(~np.isnan(rows), axis=0) for rows in (x_rows, y_rows))

    x_constant, y_constant = limits.x_low == limits.x_high, limits.y_low == limits.y_high
    reasons = (
        (n_x < 2, "fewer than 2 values in x"),
        (n_y < 2, "fewer than 2 values in y"),
        (x_constant & y_constant & (limits.x_low == limits.y_low), "one value throughout"),
        (x_constant & y_constant, "one value in each sample"),
    )
    skipped: dict[str, str] = {}
    tested = np.ones(len(columns), dtype=bool)
    for flags, reason in reasons:
        skipped |= {columns[place]: reason for place in np.flatnonzero(flags & tested)}
        tested &= ~flags
    skipped = {name: skipped[name] for name in columns if name in skipped}
    unused = {one.column: one.reason for one in tables.left_out}

    notes = _missing(len(x_rows) - n_x, len(y_rows) - n_y, paired)
    for note in notes:
        warn(DroppedDataWarning(note, argument="x and y"))
    copies = find_copies(x_rows, y_rows, paired=paired)
    dependent = dependence(x_rows, y_rows, columns, copies, tables.levels)
    said = (*copies.warnings(), *(DependentRowsWarning(note, argument="x and y") for note in dependent))
    for warning in said:
        warn(warning)

    kept = np.flatnonzero(tested)
    with progress_bar(progress) as report, one_thread():
        counter = WorkCounter(report, int(n_x[kept].sum() + n_y[kept].sum()))
        counter.expect(sum((len(x_rows) + len(y_rows)) * len(places) for places in members.values()))
        singles = _test_columns(tables, kept, (n_x, n_y), paired, model, counter)
        together = _test_groups(tables, members, skipped, paired, model, joint, counter)
        counter.finish()
    if not singles.names and not together.names:
        raise InputError(
            f"x and y: nothing can be tested: {some_skipped(skipped)}",
            argument="x and y",
            remedy="pass columns that vary, with at least 2 values in each sample",
        )
    if skipped:
        warn(DroppedDataWarning(f"Did not test {some_skipped(skipped)}.", argument="x and y"))
    return _table(
        singles,
        together,
        fdr=fdr,
        paired=paired,
        model=model,
        groups={name: tuple(columns[place] for place in places) for name, places in members.items()},
        skipped=unused | skipped,
        notes=tables.notes + notes + tuple(map(str, said)),
    )


def _check_model(model: Model) -> None:
    """Refuse models that have no test of the normal scores of a column."""
    if not model.ranks or model.needs_pairs or not isinstance(model.lengthscale, LogUniform):
        raise InputError(
            f"model: {model.name!r} has no test of single columns by their ranks",
            argument="model",
            remedy=("use ", Setting("model", "adaptive")),
        )


def _groups(groups: object, columns: tuple[str, ...]) -> dict[str, list[int]]:
    """The places of the columns of each group."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            f"groups: expected a dictionary, got {type(groups).__name__}",
            argument="groups",
            remedy="pass names of groups with lists of columns, such as {'size': ['height', 'weight']}",
        )
    place = {name: index for index, name in enumerate(columns)}
    members: dict[str, list[int]] = {}
    for label, names in groups.items():
        group = str(label)
        if group in place:
            raise InputError(f"groups: {group!r} is also the name of a column", argument="groups", remedy="rename it")
        if group in members:
            raise InputError(f"groups: names {group!r} twice", argument="groups", remedy="rename one")
        if isinstance(names, str | bytes) or not isinstance(names, Iterable):
            raise InputTypeError(
                f"groups: {group!r} is {type(names).__name__}", argument="groups", remedy="pass a list of columns"
            )
        wanted = [str(name) for name in names]
        if not wanted:
            raise InputError(f"groups: {group!r} has no columns", argument="groups", remedy="name at least one")
        for name in wanted:
            if name not in place:
                raise InputError(
                    f"groups: there is no column {name!r}, which {group!r} names",
                    argument="groups",
                    remedy="use names of columns; they are '0', '1', ... where the data have none",
                )
        if len(set(wanted)) < len(wanted):
            raise InputError(f"groups: {group!r} names a column twice", argument="groups", remedy="name it once")
        members[group] = [place[name] for name in wanted]
    return members


def _missing(absent_x: Indices, absent_y: Indices, paired: bool) -> tuple[str, ...]:
    """What is said of missing values, of which each column has so many."""
    absent = absent_x if paired else absent_x + absent_y
    count = int(absent.sum())
    if not count:
        return ()
    one = count == 1
    kind = f"pair{'' if one else 's'} with a missing or infinite value" if paired else "missing or infinite value"
    what = kind if paired or one else f"{kind}s"
    return (f"Left out {count} {what} in {np.count_nonzero(absent)} of {columns_in_words(len(absent))}.",)


def _test_columns(
    tables: TwoTables,
    kept: Indices,
    sizes: tuple[Indices, Indices],
    paired: bool,
    model: Model,
    counter: WorkCounter,
) -> _Rows:
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
    for among in _alike(n_x[of_numbers], n_y[of_numbers]):
        alike = of_numbers[among]
        x_part, y_part = (_compressed(rows, kept[alike], int(size[alike[0]])) for rows, size in ((x, n_x), (y, n_y)))
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
    return _Rows(tuple(columns[place] for place in kept), n_x, n_y, log_bf10, auc, tuple(ways))


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


def _alike(n_x: Indices, n_y: Indices) -> Iterator[Indices]:
    """The places of the columns of each pair of sizes."""
    order = np.lexsort((n_y, n_x))
    if order.size:
        changes = np.flatnonzero((np.diff(n_x[order]) != 0) | (np.diff(n_y[order]) != 0)) + 1
        yield from np.split(order, changes)


def _compressed(rows: Array, columns: Indices, size: int) -> Array:
    """These columns without their missing values, of which each has as many; in the order of the rows."""
    part = rows[:, columns]
    if size == len(rows):
        return part
    order = np.argsort(np.isnan(part), axis=0, kind="stable")
    return np.take_along_axis(part, order[:size], axis=0)


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
    tables: TwoTables,
    members: dict[str, list[int]],
    skipped: dict[str, str],
    paired: bool,
    model: Model,
    joint: JointTest,
    counter: WorkCounter,
) -> _Rows:
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
    return _Rows(tuple(names), n_x, n_y, np.array(log_bf10, dtype=np.float64), auc, ("",) * len(names))


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


def _table(
    singles: _Rows,
    together: _Rows,
    *,
    fdr: float,
    paired: bool,
    model: Model,
    groups: dict[str, tuple[str, ...]],
    skipped: dict[str, str],
    notes: tuple[str, ...],
) -> EachResult:
    """The result, with columns and groups apart in what is learnt of them and sorted together."""
    shares = [learn_share(rows.log_bf10) for rows in (singles, together)]
    probs = [posterior(rows.log_bf10, share) for rows, share in zip((singles, together), shares, strict=True)]
    log_bf10 = np.concatenate((singles.log_bf10, together.log_bf10))
    order = np.argsort(-log_bf10, kind="stable")
    names, directions = singles.names + together.names, singles.direction + together.direction
    return EachResult(
        column=tuple(names[place] for place in order),
        n_x=np.concatenate((singles.n_x, together.n_x))[order],
        n_y=np.concatenate((singles.n_y, together.n_y))[order],
        log_bf10=log_bf10[order],
        prob_h1=np.concatenate(probs)[order],
        q=np.concatenate([q_values(prob) for prob in probs])[order],
        auc=np.concatenate((singles.auc, together.auc))[order],
        direction=tuple(directions[place] for place in order),
        share=shares[0],
        group_share=shares[1] if groups else None,
        fdr=fdr,
        paired=paired,
        model=model,
        groups=groups,
        skipped=skipped,
        notes=notes,
    )
