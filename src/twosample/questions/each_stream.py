"""One test a column of data larger than memory: a pilot of rows fixes the ranks, and a second pass collects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from typing import Any, Literal

import numpy as np

from twosample import places as backends
from twosample.common.arguments import flag_of, share_of
from twosample.common.arrays import Array, Flags, Indices
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.data import Choice, Limits, Ranks, Samples, View
from twosample.data.choosing import EVERYTHING
from twosample.data.complete import check_policy, check_sizes
from twosample.data.parts import Layout, Sources
from twosample.data.sketch import Sketch
from twosample.data.two_tables import no_second_sample, read_two, without_label
from twosample.data.views import MOST_KNOTS
from twosample.errors import (
    AccuracyWarning,
    DroppedDataWarning,
    FlatFeaturesWarning,
    InputError,
    collected_warnings,
    warn,
)
from twosample.features.maps import StackFeatures
from twosample.features.statistics import FeatureStatistics, Moments, merged_parts
from twosample.features.subsets import multiples_of, single_part
from twosample.inference.mixture import Contrast, stack_log_bf10
from twosample.kernels import RBF
from twosample.models import Model
from twosample.places.streaming import (
    Cluster,
    Stream,
    first_pass,
    of_first_rows,
    pilot_in_words,
    said,
    table_of,
    with_levels,
)
from twosample.questions import each
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

__all__ = ["ColumnPlan", "ColumnStatistics", "run"]

# Columns of a pass: the statistics of one are 31 kB for each sample, and every core has some.
_MOST_COLUMNS = 1024
_NOTHING = Moments(0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """What the tests of single columns need of some rows: moments of each column, of as many values as it has.

    Attributes
    ----------
    n_x, n_y
        Rows of each sample.
    x, y
        Moments of the features of each column, (m, s); of none where only differences count.
    differences
        The same of the differences of pairs, where these count.
    scores_x, scores_y, scores_differences
        Moments of normal scores and levels, (2, 1), and those of the differences of pairs.
    """

    n_x: int
    n_y: int
    x: tuple[Moments, ...]
    y: tuple[Moments, ...]
    differences: tuple[Moments, ...]
    scores_x: tuple[Moments, ...]
    scores_y: tuple[Moments, ...]
    scores_differences: tuple[Moments, ...]

    def merge(self, *others: ColumnStatistics) -> ColumnStatistics:
        """Those of all rows together."""
        return reduce(_merge, others, self)


def _merge(one: ColumnStatistics, other: ColumnStatistics) -> ColumnStatistics:
    moments = (
        tuple(map(Moments.merge, getattr(one, field.name), getattr(other, field.name)))
        for field in fields(ColumnStatistics)[2:]
    )
    return ColumnStatistics(one.n_x + other.n_x, one.n_y + other.n_y, *moments)


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """The tests of single columns, blind to which row is in which sample; collects as a `Plan` does.

    Attributes
    ----------
    features
        From rows to the features of each column, by its ranks.
    model, paired
        As in the test.
    """

    features: StackFeatures
    model: Model
    paired: bool
    key: str = "columns"

    @classmethod
    def of(cls, pooled: Array, model: Model, paired: bool) -> ColumnPlan:
        """That of some pooled rows (N, C), NaN where a value is missing, of columns that vary.

        Examples
        --------
        >>> from twosample.models import PRESETS
        >>> rows = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 6.0], [8.0, 9.0]])
        >>> plan = ColumnPlan.of(rows, PRESETS["adaptive"], paired=False)
        >>> plan.features.view.apply(np.array([[4.0, 6.0]])).round(3)
        array([[0.319, 0.   ]])
        """
        sizes = np.count_nonzero(~np.isnan(pooled), axis=0)
        count = pooled.shape[1]
        knots, levels = (np.empty((min(MOST_KNOTS, int(sizes.max())), count)) for _ in range(2))
        points, typical = [np.empty(0)] * count, np.empty(count)
        for alike in of_equal_sizes(sizes, sizes):
            ordered = np.sort(compressed(pooled, alike, int(sizes[alike[0]])), axis=0)
            ranks = Ranks.of_sorted(ordered)
            part, used = single_part(ranks), len(ranks.knots)
            # Knots after the last are the last once more.
            knots[:, alike], levels[:, alike] = ranks.knots[-1], ranks.levels[-1]
            knots[:used, alike], levels[:used, alike] = ranks.knots, ranks.levels
            typical[alike] = part.typical
            for place, of_column in zip(alike, part.points, strict=True):
                points[place] = of_column
        places = np.arange(count)[:, np.newaxis]
        features = StackFeatures(RBF(), Ranks(knots, levels), places, np.stack(points), typical, multiples_of(model))
        return cls(features, model, paired)

    def select(self, places: Indices) -> ColumnPlan:
        """That of some of the columns alone."""
        view, numbers = self.features.view.select(places), np.arange(len(places))[:, np.newaxis]
        return replace(self, features=replace(self.features.select(places), view=view, columns=numbers))

    def missing(self, known: ColumnStatistics | None) -> None:
        """Nothing is ever added to statistics."""

    def completed(self, known: ColumnStatistics | None, found: ColumnStatistics) -> ColumnStatistics:
        """What was found."""
        return found

    def collect_parts(
        self, parts: Iterable[Samples], counter: WorkCounter | None = None, known: ColumnStatistics | None = None
    ) -> ColumnStatistics:
        """The statistics of samples in parts, on all cores, each of which has one part in memory; counts rows."""
        return merged_parts(partial(self.collect_part, None), parts, counter)

    def collect_part(self, missing: Array | None, samples: Samples) -> ColumnStatistics:
        """Statistics of a part of the rows, in which values may be missing."""
        x, y = samples.x, samples.y
        lacking: Flags = np.zeros(len(self.features.points), dtype=bool)
        if isinstance(x, np.ndarray):  # those elsewhere are finite
            lacking = np.asarray(np.isnan(x).any(axis=0) | np.isnan(y).any(axis=0))
        if not lacking.any():
            return ColumnStatistics(x.shape[0], y.shape[0], *self._moments(x, y))
        found: list[list[Moments]] = [[_NOTHING] * len(lacking) for _ in fields(ColumnStatistics)[2:]]
        for places in (np.flatnonzero(~lacking), *np.flatnonzero(lacking)[:, np.newaxis]):
            of_x, of_y = x[:, places], y[:, places]
            if len(places) == 1:
                of_x, of_y = (rows[~np.isnan(rows[:, 0])] for rows in (of_x, of_y))
            for of_all, of_some in zip(found, self.select(places)._moments(of_x, of_y), strict=True):
                for place, moments in zip(places, of_some, strict=True):
                    of_all[place] = moments
        return ColumnStatistics(len(x), len(y), *map(tuple, found))

    def _moments(self, x: Any, y: Any) -> list[tuple[Moments, ...]]:
        """Moments of each column, in the order of the statistics, of rows without missing values."""
        engine, count = backends.of(x), len(self.features.points)
        alone = self.model.takes_differences_alone(self.paired)
        nothing = (_NOTHING,) * count
        stacks = engine.stack_moments(self.features, x, y, paired=alone) if count else (None,) * 3
        found = []
        for stack in stacks:
            if stack is None or not stack.count:
                found.append(nothing)
            else:
                mean, scatter = (np.split(part, count) for part in (stack.mean, stack.scatter))
                found.append(tuple(map(partial(Moments, stack.count), mean, scatter)))
        for rows, others in ((x, None), (y, None), *([(x, y)] if self.paired else [])):
            of_scores = engine.column_moments(self.features.view, rows, others)
            mean, scatter = of_scores.mean.swapaxes(0, 1), of_scores.scatter.swapaxes(0, 1)
            found.append(tuple(map(partial(Moments, of_scores.count), mean, scatter)))
        return found if self.paired else [*found, nothing]

    def evaluate(self, statistics: ColumnStatistics) -> tuple[Array, Array, list[str]]:
        """Log BF10, P(x > y) + ½P(x = y) and the direction of each column."""
        n_x, n_y = (np.array([one.count for one in of]) for of in (statistics.scores_x, statistics.scores_y))
        log_bf10, auc, direction = np.empty(len(n_x)), np.empty(len(n_x)), np.empty(len(n_x), dtype="<U16")
        for alike in of_equal_sizes(n_x, n_y):
            features = self.features.select(alike)
            statistics_of = partial(_stacked, statistics, features, alike)
            [log_bf10[alike]] = stack_log_bf10(features, statistics_of, (self.model,))
            of_scores = (statistics.scores_x, statistics.scores_y, statistics.scores_differences)
            x, y, pairs = (_joined([of[place] for place in alike], np.stack, 1) for of in of_scores)
            assert x is not None and y is not None
            contrast = Contrast.of(x, y, pairs)
            auc[alike], direction[alike] = contrast.auc, contrast.direction
        return log_bf10, auc, direction.tolist()


def _stacked(statistics: ColumnStatistics, features: StackFeatures, places: Indices, tests: slice) -> FeatureStatistics:
    """Those of some tests of columns with as many values, at these places."""
    x, y, differences = (
        _joined([of[place] for place in places[tests]], np.concatenate, 0)
        for of in (statistics.x, statistics.y, statistics.differences)
    )
    return FeatureStatistics(features.select(tests).lengthscales, x, y, differences)


def _joined(moments: Sequence[Moments], join: Callable[..., Array], axis: int) -> Moments | None:
    """Moments of several columns as one; None where there are none."""
    if not moments[0].count:
        return None
    mean, scatter = (join([getattr(one, name) for one in moments], axis=axis) for name in ("mean", "scatter"))
    return Moments(moments[0].count, mean, scatter)


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
    joint: Callable[..., TwoSampleResult],
    cluster: Cluster | None = None,
) -> EachResult:
    """Test each column and each group of columns of samples in parts; arguments as for `each.run`."""
    fdr, paired = share_of(fdr, "fdr"), flag_of(paired, "paired")
    check_model(model)
    if y is None and choice.by is None:
        raise no_second_sample()
    check_policy(nan_policy)
    sources = Sources.of(x, y, choice, paired=paired, nan_policy=nan_policy, apart=True)
    with progress_bar(progress) as report:
        rows, layout, pilot = (first_pass if cluster is None else cluster.first_pass)(sources, report, None)
    layout, pilot, nameless = with_levels(layout, pilot)
    names = ("x", "y") if choice.by is None else rows.labels.two(choice.groups)
    check_sizes(rows.rows[0], rows.rows[1], paired)
    unlabelled = said(without_label(rows.unlabelled, choice) for _ in range(min(rows.unlabelled, 1)))
    x_table, y_table = (
        table_of(of_sample, layout, pilot.rows(sample) if pilot.whole else pilot.head(sample), nameless)
        for sample, of_sample in enumerate(layout.tables)
    )
    how: dict[str, Any] = {"fdr": fdr, "model": model, "paired": paired}
    if pilot.whole:
        result = each.run(
            x_table,
            y_table,
            choice=EVERYTHING,
            groups=groups,
            nan_policy=nan_policy,
            progress=progress,
            joint=joint,
            **how,
        )
        return replace(result, notes=unlabelled + result.notes)

    tables, limits, pooled = read_two(x_table, y_table), pilot.limits, pilot.pooled()
    columns, (n_x, n_y) = tables.columns, pilot.present
    members = groups_of(groups, columns)
    limits.check_size(columns)
    kept, skipped = to_be_tested(columns, n_x, n_y, limits)
    varies = np.fmin.reduce(pooled, axis=0) < np.fmax.reduce(pooled, axis=0)
    skipped |= {columns[place]: "one value throughout the pilot" for place in kept[~varies[kept]]}
    kept = kept[varies[kept]]
    missing = missing_in_words(pilot.counts[0] - n_x, pilot.counts[1] - n_y, paired)
    notes = said(DroppedDataWarning(note, argument="x and y") for note in missing)
    notes += (pilot_in_words(pilot, pooled), *of_first_rows(x_table, y_table, columns, paired))

    nothing = np.empty((0, 0))
    like = Samples(nothing, nothing, (), View.none(0), np.zeros(len(columns), dtype=bool), paired, (), names=names)
    stream = Stream(
        like,
        whole=False,
        sizes=(pilot.counts[0], pilot.counts[1]),
        sources=sources,
        layout=layout,
        sketches=(Sketch.empty(), Sketch.empty()),
        cluster=cluster,
    )
    coded = np.array([bool(tables.levels) and tables.levels[place] is not None for place in kept], dtype=bool)
    categories, kept = kept[coded], kept[~coded]
    batches = [kept[first : first + _MOST_COLUMNS] for first in range(0, len(kept), _MOST_COLUMNS)]
    found = []
    with progress_bar(progress) as report, one_thread():
        counter = WorkCounter(report, sum(pilot.counts) * (len(batches) + len(categories) + len(members)))
        for places in batches:
            plan = ColumnPlan.of(pooled[:, places], model, paired)
            found.append(plan.evaluate(_only(stream, columns, places).collect(plan, counter)))

        def question(columns: Sequence[str | int]) -> TwoSampleResult:
            asked = [column for column in columns if str(column) in choice.categories] or None
            return joint(
                x,
                y,
                by=choice.by,
                groups=choice.groups,
                columns=columns,
                categories=asked,
                model=model,
                paired=paired,
                nan_policy=nan_policy,
            )

        for place in categories.tolist():
            found.append(_test_categories(question, columns[place]))
            counter(sum(pilot.counts))
        kept = np.concatenate([kept, categories])
        together = _test_groups(question, layout, limits, members, skipped, partial(counter, sum(pilot.counts)))
        counter.finish()
    log_bf10, auc = (np.concatenate([one[number] for one in found] or [np.empty(0)]) for number in (0, 1))
    direction = tuple(word for one in found for word in one[2])
    return table(
        Rows(tuple(columns[place] for place in kept), n_x[kept], n_y[kept], log_bf10, auc, direction),
        together,
        groups={name: tuple(columns[place] for place in places) for name, places in members.items()},
        unused={one.column: one.reason for one in tables.left_out},
        skipped={name: skipped[name] for name in (*columns, *members) if name in skipped},
        notes=unlabelled + tables.notes + notes,
        **how,
    )


def _test_categories(question: Callable[..., TwoSampleResult], column: str) -> tuple[Array, Array, list[str]]:
    """What `evaluate` returns, of one column of categories, with passes of its own."""
    with collected_warnings():  # of rows and columns, all was said before
        result = question(columns=[column])
    assert result.by_subset is not None
    return np.array([result.log_bf10]), result.by_subset.auc, list(result.by_subset.direction)


def _only(stream: Stream, columns: tuple[str, ...], places: Indices) -> Stream:
    """The stream of some of its columns."""
    flags = np.zeros(len(columns), dtype=bool)
    flags[places] = True
    chosen = tuple(columns[place] for place in places)
    empty = np.empty((0, len(places)))
    samples = replace(stream.samples, x=empty, y=empty, columns=chosen, view=View.none(len(places)), kept=flags)
    return replace(stream, samples=samples)


def _test_groups(
    question: Callable[..., TwoSampleResult],
    layout: Layout,
    limits: Limits,
    members: dict[str, list[int]],
    skipped: dict[str, str],
    tick: Callable[[], object],
) -> Rows:
    """One test for each group, with passes of its own; those that cannot be tested are added to skipped."""
    names, results = [], []
    named = {sample.is_frame for sample in layout.tables}
    if members and len(named) > 1:
        raise InputError(
            "groups: one of the samples has names of columns, and the other has none",
            argument="groups",
            remedy="give both samples as data frames",
        )
    for name, places in members.items():
        low_x, high_x, low_y, high_y = limits.select(np.array(places))
        chosen = [layout.columns[place] for place in places]
        if (low_x == high_x).all() and (low_y == high_y).all():
            skipped[name] = "one value throughout" if (low_x == low_y).all() else "one value in each sample"
        else:
            try:
                with collected_warnings() as found:  # of rows and columns, all was said before
                    results.append(question(columns=chosen if True in named else [int(column) for column in chosen]))
                names.append(name)
            except InputError as error:
                skipped[name] = error.message
            for warning in found:
                if isinstance(warning, AccuracyWarning | FlatFeaturesWarning):
                    warn(warning)
        tick()
    n_x, n_y = np.array([(one.n_x, one.n_y) for one in results], dtype=np.int64).reshape(-1, 2).T
    log_bf10, auc = np.array([one.log_bf10 for one in results]), np.full(len(names), np.nan)
    return Rows(tuple(names), n_x, n_y, log_bf10, auc, ("",) * len(names))
