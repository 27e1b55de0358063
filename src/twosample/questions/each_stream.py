"""One test a column of data larger than memory: a pilot of rows fixes the ranks, and a second pass collects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from twosample import places as backends
from twosample.common.arrays import Array, Flags, Indices
from twosample.common.progress import WorkCounter, progress_bar
from twosample.data import Choice, Ranks, Samples, View
from twosample.data.categories import many_in_words, unknown_in_words
from twosample.data.choosing import EVERYTHING
from twosample.data.parts import Sources
from twosample.data.two_tables import no_second_sample, read_two
from twosample.data.views import MOST_KNOTS
from twosample.errors import AccuracyWarning, FlatFeaturesWarning, InputError, collected_warnings, warn
from twosample.features.maps import StackFeatures
from twosample.features.statistics import FeatureStatistics, Moments, merged_parts
from twosample.features.subsets import multiples_of, single_part
from twosample.inference.mixture import Contrast, stack_log_bf10, stack_with_sizes
from twosample.kernels import RBF
from twosample.models import Model
from twosample.places.streaming import Cluster, Opened, Stream, of_first_rows, pilot_in_words
from twosample.questions import each
from twosample.questions.each_table import Asked, Tested, compressed, of_equal_sizes
from twosample.results.each_result import EachResult
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["ColumnPlan", "ColumnStatistics", "run"]

# Columns of a pass: the statistics of one are 31 kB for each sample, and every core has some.
_MOST_COLUMNS = 1024
_NOTHING = Moments(0, 0.0, 0.0)
_NO_ROWS = np.empty((0, 0))


class OfColumn(NamedTuple):
    """Moments of the rows that have a value in a column; of none where they do not count."""

    # Of the features, (m, s).
    x: Moments
    y: Moments
    differences: Moments  # the same of the differences of pairs
    # Of normal scores and levels, (2, 1), and those of the differences of pairs.
    scores_x: Moments
    scores_y: Moments
    scores_differences: Moments


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Moments of some rows, column by column."""

    n_x: int
    n_y: int
    columns: tuple[OfColumn, ...]

    def merge(self, *others: ColumnStatistics) -> ColumnStatistics:
        """Statistics of all rows together."""
        return reduce(_merge, others, self)


def _merge(one: ColumnStatistics, other: ColumnStatistics) -> ColumnStatistics:
    columns = zip(one.columns, other.columns, strict=True)
    merged = tuple(OfColumn(*map(Moments.merge, *both)) for both in columns)
    return ColumnStatistics(one.n_x + other.n_x, one.n_y + other.n_y, merged)


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """The tests of single columns, blind to which row is in which sample; collects as a `Plan` does."""

    features: StackFeatures  # from rows to the features of each column, by its ranks
    model: Model
    paired: bool
    key: str = "columns"

    @classmethod
    def of(cls, pooled: Array, model: Model, paired: bool) -> ColumnPlan:
        """That of some pooled rows (N, C), NaN where a value is missing, of columns that vary."""
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
        found: dict[int, OfColumn] = {}
        complete = np.flatnonzero(~lacking)
        for places in (*([complete] if complete.size else []), *np.flatnonzero(lacking)[:, np.newaxis]):
            plan, of_x, of_y = self, x, y
            if lacking.any():
                plan, of_x, of_y = self.select(places), x[:, places], y[:, places]
            if lacking[places].any():
                of_x, of_y = (rows[~np.isnan(rows[:, 0])] for rows in (of_x, of_y))
            found |= zip(places.tolist(), plan._moments(of_x, of_y), strict=True)
        return ColumnStatistics(x.shape[0], y.shape[0], tuple(found[place] for place in sorted(found)))

    def _moments(self, x: Any, y: Any) -> Iterator[OfColumn]:
        """Moments of each column, of rows without missing values."""
        engine, count = backends.of(x), len(self.features.points)
        alone = self.model.takes_differences_alone(self.paired)
        found = list(engine.stack_moments(self.features, x, y, paired=alone))
        for rows, others in ((x, None), (y, None), *([(x, y)] if self.paired else [])):
            scores = engine.column_moments(self.features.view, rows, others)
            mean, scatter = (np.concatenate(part.swapaxes(0, 1)) for part in (scores.mean, scores.scatter))
            found.append(Moments(scores.count, mean, scatter))
        found += [None] * (6 - len(found))
        return map(OfColumn, *(_by_column(stack, count) for stack in found))

    def evaluate(self, statistics: ColumnStatistics, rope: float | None = None) -> Tested:
        """What is found of each column."""
        columns = statistics.columns
        n_x, n_y = np.array([(one.scores_x.count, one.scores_y.count) for one in columns]).T
        found = Tested.nothing(len(n_x))
        for alike in of_equal_sizes(n_x, n_y):
            features, chosen = self.features.select(alike), [columns[place] for place in alike]
            statistics_of = partial(_stacked, chosen, features)
            if self.model.has_effect:
                found.put(alike, *stack_with_sizes(features, statistics_of, self.model), rope)
            else:
                [found.log_bf10[alike]] = stack_log_bf10(features, statistics_of, (self.model,))
            x, y, pairs = (_joined(moments, np.stack, 1) for moments in list(zip(*chosen, strict=True))[3:])
            assert x is not None and y is not None
            contrast = Contrast.of(x, y, pairs)
            found.larger[alike], found.direction[alike] = contrast.auc, contrast.direction
        return found


def _by_column(stack: Moments | None, count: int) -> Sequence[Moments]:
    """The moments of each column, of those of all columns, one after the other."""
    if stack is None or not stack.count:
        return [_NOTHING] * count
    mean, scatter = (part.reshape(count, -1, *part.shape[1:]) for part in (stack.mean, stack.scatter))
    return [Moments(stack.count, *both) for both in zip(mean, scatter, strict=True)]


def _stacked(columns: list[OfColumn], features: StackFeatures, tests: slice) -> FeatureStatistics:
    """Statistics for some tests of columns with as many values."""
    x, y, differences = (_joined(moments, np.concatenate, 0) for moments in list(zip(*columns[tests], strict=True))[:3])
    return FeatureStatistics(features.select(tests).lengthscales, x, y, differences)


def _joined(moments: Sequence[Moments], join: Callable[..., Array], axis: int) -> Moments | None:
    """Moments of several columns as one; None where there are none."""
    if not moments[0].count:
        return None
    mean, scatter = (join([getattr(one, name) for one in moments], axis=axis) for name in ("mean", "scatter"))
    return Moments(moments[0].count, mean, scatter)


def run(x: object, y: object, *, choice: Choice, cluster: Cluster | None = None, **options: Any) -> EachResult:
    """Test each column and each group of columns of samples in parts; the options are those of `each_table.Asked`."""
    asked = Asked(**options).checked()
    if y is None and choice.by is None:
        raise no_second_sample()
    sources = Sources.of(x, y, choice, paired=asked.paired, nan_policy=asked.nan_policy, apart=True)
    with progress_bar(asked.progress) as report:
        opened = Opened.of(sources, {"report": report, "cluster": cluster})
    names = opened.checked()
    unlabelled, _ = opened.warn_of_rows()
    heads = opened.tables()
    if opened.pilot.whole:
        result = each.InMemory.of(*heads, EVERYTHING, asked).answer()
        return replace(result, notes=unlabelled + result.notes)
    tables, pilot = read_two(*heads), opened.pilot
    pilot.limits.check_size(tables.columns)
    kept = np.zeros(len(tables.columns), dtype=bool)
    nothing = Samples(_NO_ROWS, _NO_ROWS, (), View.none(0), kept, asked.paired, (), names=names)
    tables = tables._replace(notes=unlabelled + tables.notes)
    stream, joint, (n_x, n_y) = opened.stream(nothing), partial(asked.joint, x, y), pilot.present
    return InParts(tables, pilot.limits, n_x, n_y, stream.sizes, asked, pilot.pooled(), stream, joint).answer()


@dataclass(frozen=True, eq=False)
class InParts(each.Place):
    """Columns of samples in parts."""

    pooled: Array  # the rows of the pilot
    stream: Stream  # the rows, to be read again
    joint: Callable[..., TwoSampleResult]  # the test of the samples, of columns that its options name

    def untestable(self) -> dict[str, str]:
        """Columns that do not vary in the pilot."""
        low, high = (limit.reduce(self.pooled, axis=0) for limit in (np.fmin, np.fmax))
        return {self.tables.columns[place]: "one value throughout the pilot" for place in np.flatnonzero(low == high)}

    def warn_of_rows(self) -> tuple[str, ...]:
        """Warn of copied and dependent rows among the first ones; returns what was said, and what the pilot is."""
        words = pilot_in_words(len(self.pooled), sum(self.sizes))
        return (words, *of_first_rows(self.tables, self.asked.paired))

    def work(self, kept: Indices, groups: Sequence[list[int]]) -> int:
        """One for each row of a pass."""
        batches, categories = self._batches(kept)
        return sum(self.sizes) * (len(batches) + len(categories) + len(groups))

    def _batches(self, kept: Indices) -> tuple[list[Indices], Indices]:
        """Columns of numbers that share a pass, and columns of categories."""
        coded = np.array([known is not None for known in self.tables.levels_at(kept)], dtype=bool)
        numbers = kept[~coded]
        return [numbers[at : at + _MOST_COLUMNS] for at in range(0, len(numbers), _MOST_COLUMNS)], kept[coded]

    def test_columns(self, kept: Indices, counter: WorkCounter) -> tuple[Tested, tuple[str, ...]]:
        """What is found of some columns of numbers in each pass, and of those of categories by themselves."""
        found, rope, notes = Tested.nothing(len(self.tables.columns)), self.asked.rope, list[str]()
        batches, categories = self._batches(kept)
        for places in batches:
            plan = ColumnPlan.of(self.pooled[:, places], self.asked.model, self.asked.paired)
            for values, of_batch in zip(
                found, plan.evaluate(self._only(places).collect(plan, counter), rope), strict=True
            ):
                values[places] = of_batch
        by_levels = replace(self.asked.model, ranks=1.0)  # as in memory: the column as scaled is no other test
        for place in categories.tolist():
            with collected_warnings():  # of rows and columns, all was said before
                result = self._test([self.tables.columns[place]], by_levels)
            assert result.by_subset is not None
            found.log_bf10[place], found.larger[place] = result.log_bf10, result.by_subset.auc[0]
            found.direction[place] = result.by_subset.direction[0]
            notes += [one.words(result.names) for one in result.only_in_one]
            counter(sum(self.sizes))
        notes += (many_in_words if self.asked.paired else unknown_in_words)(self.tables.columns, self.tables.levels)
        found = found.select(kept)
        return found.with_levels() if self.asked.model.has_effect else found, tuple(notes)

    def _only(self, places: Indices) -> Stream:
        """The stream of some of its columns."""
        flags = np.zeros(len(self.tables.columns), dtype=bool)
        flags[places] = True
        chosen, empty = tuple(self.tables.columns[place] for place in places), np.empty((0, len(places)))
        like = self.stream.samples
        samples = replace(like, x=empty, y=empty, columns=chosen, view=View.none(len(places)), kept=flags)
        return replace(self.stream, samples=samples)

    def _test(self, columns: Sequence[str | int], model: Model) -> TwoSampleResult:
        """The test of some columns together, with passes of its own."""
        choice, asked = self.stream.sources.choice, self.asked
        return self.joint(
            by=choice.by,
            groups=choice.groups,
            columns=columns,
            categories=[column for column in columns if str(column) in choice.categories] or None,
            model=model,
            paired=asked.paired,
            nan_policy=asked.nan_policy,
        )

    def test_group(self, places: list[int], counter: WorkCounter) -> TwoSampleResult | str:
        """The test of these columns together, or why there is none."""
        named = {table.is_frame for table in self.stream.layout.tables}
        if len(named) > 1:
            raise InputError(
                "groups: one of the samples has names of columns, and the other has none",
                argument="groups",
                remedy="give both samples as data frames",
            )
        counter(sum(self.sizes))
        low_x, high_x, low_y, high_y = self.limits.select(np.array(places))
        if (low_x == high_x).all() and (low_y == high_y).all():
            return "one value throughout" if (low_x == low_y).all() else "one value in each sample"
        columns = [self.tables.columns[place] for place in places]
        try:
            with collected_warnings() as found:  # of rows and columns, all was said before
                return self._test(columns if True in named else [int(column) for column in columns], self.asked.model)
        except InputError as error:
            return error.message
        finally:
            for warning in found:
                if isinstance(warning, AccuracyWarning | FlatFeaturesWarning):
                    warn(warning)
