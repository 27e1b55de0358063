"""The passes over Dask collections, a task a partition; and over other data, whose parts are sent to Dask.

Whatever scheduler is active runs the tasks, and none is started here. What comes back is small: counts, then the pilot,
then the statistics, joined eight at a time where the partitions are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any, TypeVar

import numpy as np

from twosample import engines
from twosample.data import Choice, Samples
from twosample.data.blocks import Block, Blocks, as_blocks, block_rows, is_dask
from twosample.data.parts import Layout, Pass, Sources, first_table
from twosample.data.reading import Table
from twosample.data.sizes import check_pairs
from twosample.errors import InputError, InputTypeError, MissingExtraError, Setting
from twosample.frames import needed
from twosample.pilot import Pilot
from twosample.plan import Plan
from twosample.progress import Report, WorkCounter
from twosample.statistics import FeatureStatistics
from twosample.streaming import Cluster, Stream, first_pass, samples_of
from twosample.threads import one_of_many

__all__ = ["cluster_for"]

_T = TypeVar("_T")

# How many results a task joins, and how many parts are sent at a time.
_FAN_IN = 8
_SENT_PARTS = 32


def cluster_for(engine: object, x: object, y: object) -> Cluster:
    """Who goes over the rows, where the samples are Dask collections or the engine is "dask"."""
    if not (is_dask(x) or is_dask(y)):
        _import_dask()
        return _Sender()
    if engine not in ("auto", "dask"):
        raise InputError(
            f"engine: a Dask collection is worked on by Dask, not by {engine!r}",
            argument="engine",
            remedy=("use ", Setting("engine", "auto")),
        )
    return _Collections()


def _import_dask() -> Any:
    try:
        import dask
    except ImportError:
        raise MissingExtraError("the engine dask", "dask", "dask") from None
    return dask


@dataclass(frozen=True, eq=False)
class _Piece:
    """A partition of x, one of y, or one of each where they are pairs.

    Attributes
    ----------
    partitions
        Those of x and of y, delayed, or None.
    number
        The number of the partition, for messages.
    labels
        The labels of its rows, delayed, where they were given as a list.
    """

    partitions: tuple[Any, Any]
    number: int
    labels: Any = None


@dataclass(frozen=True, eq=False)
class _Counts:
    """What the rows of a partition are: as the attributes of `Pass`."""

    rows: list[int]
    dropped: list[int]
    unlabelled: int
    groups: dict[str, int]

    @property
    def complete(self) -> list[int]:
        """Rows of each sample that were not left out."""
        return [rows - dropped for rows, dropped in zip(self.rows, self.dropped, strict=True)]


class _Collections:
    """Goes over samples of which at least one is a Dask array or data frame."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []

    def first_pass(
        self, sources: Sources, report: Report | None, refusal: InputError | None
    ) -> tuple[Pass, Layout, Pilot]:
        samples = [_given(source) for source in (sources.x, sources.y) if source is not None]
        if sources.paired:
            if sources.y is None and sources.choice.by is not None:
                raise InputError(
                    "by: the rows of a Dask collection are not put in pairs",
                    argument="by",
                    remedy="pass the groups as two collections with the same partitions",
                )
            samples = _cut_alike(*samples)
        parts = [_partitions(values, sources, name) for values, name in zip(samples, "xy", strict=False)]
        layout = self._layout(parts, sources)
        self._pieces = _pieces(samples, parts, sources)
        lent, counts = _lent(sources), None
        if sources.choice.by is None and sources.nan_policy == "raise":
            counts = _known_counts(samples, sources.paired)
        if counts is None:
            _say(report, f"counting the rows of {len(self._pieces):,} partitions")
            counts = _compute_all(self._tasks(_counted, lent, layout))
        counts = _in_order(counts, sources.choice)
        rows = _added_up(counts, sources, layout)
        if sources.choice.by is not None:
            lent = replace(lent, choice=replace(lent.choice, groups=rows.labels.two(sources.choice.groups)))
        starts = np.cumsum([(0, 0), *(found.complete for found in counts)], axis=0).tolist()
        total = sum(starts[-1])
        _say(report, f"first pass: {total:,} rows")
        empty = _lend(Pilot(len(layout.columns)))
        tasks = self._tasks(_pilot, lent, layout, [(empty, start, total) for start in starts[:-1]])
        pilot = _compute_tree(tasks, Pilot.joined)
        if refusal is not None and not pilot.whole:
            raise refusal
        return rows, layout, pilot

    def collect(
        self, stream: Stream, plan: Plan, counter: WorkCounter, known: FeatureStatistics | None
    ) -> FeatureStatistics:
        sources, samples = stream.sources, stream.samples
        lent = _lent(sources)
        if sources.choice.by is not None:
            lent = replace(lent, choice=replace(lent.choice, groups=samples.names))
        like = _lend(replace(samples, x=samples.x[:0], y=samples.y[:0], notes=(), copies=None))
        extra = (_lend(_keyed(plan)), like, _lend(plan.missing(known)))
        tasks = self._tasks(_statistics, lent, stream.layout, [extra] * len(self._pieces))
        found = _compute_tree(tasks, _merged)
        stream.check_sizes((found.n_x, found.n_y))
        counter(found.n_x + found.n_y)
        return plan.completed(known, found)

    def _layout(self, parts: list[list[Any]], sources: Sources) -> Layout:
        """That of the first partitions that have rows."""
        tables: list[Table] = []
        for name, partitions in zip("xy", parts, strict=False):
            names = "xy" if len(parts) == 1 else name
            for partition in partitions:
                found = _compute_all([_task(_first_tables)(partition, names, _without_labels(sources.choice))])[0]
                if found:
                    tables.extend(found)
                    break
            else:
                raise InputError(f"{name} is empty", argument=name, remedy="pass at least 2 rows and 1 column")
        return Layout.of_tables((tables[0], tables[-1]), sources.choice, engines.stays)

    def _tasks(
        self, work: Callable[..., Any], sources: Sources, layout: Layout, extra: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """One for each piece."""
        layout = replace(layout, choice=_without_labels(layout.choice))
        lent, do = (_lend(sources), _lend(layout)), _task(work)
        more: Sequence[tuple[Any, ...]] = extra or [()] * len(self._pieces)
        return [
            do(*piece.partitions, piece.number, piece.labels, *lent, *one)
            for piece, one in zip(self._pieces, more, strict=True)
        ]


class _Sender:
    """Goes over data that are here: the first pass is done here too, and then their parts are sent to Dask."""

    def first_pass(
        self, sources: Sources, report: Report | None, refusal: InputError | None
    ) -> tuple[Pass, Layout, Pilot]:
        return first_pass(sources, report, refusal)

    def collect(
        self, stream: Stream, plan: Plan, counter: WorkCounter, known: FeatureStatistics | None
    ) -> FeatureStatistics:
        extra = _lend(_keyed(plan)), _lend(plan.missing(known))
        parts, do = stream.parts(), _task(_statistics_of_samples)
        total: FeatureStatistics | None = None
        while batch := [do(_lend(part), *extra) for part in islice(parts, _SENT_PARTS)]:
            found = _compute_tree(batch, _merged)
            counter(found.n_x + found.n_y)
            total = found if total is None else total.merge(found)
        assert total is not None
        return plan.completed(known, total)


# ---- collections and their partitions


def _given(source: Blocks) -> Any:
    """What was given as a sample."""
    return source.source[0] if isinstance(source.source, tuple) and not source.by_caller else source


def _is_array(values: Any) -> bool:
    return is_dask(values) and type(values).__module__.startswith("dask.array")


def _partitions(values: Any, sources: Sources, name: str) -> list[Any]:
    """The partitions, delayed; of an array each has all columns."""
    if _is_array(values):
        whole = values.rechunk(dict.fromkeys(range(1, values.ndim), -1)) if values.ndim > 1 else values
        return list(whole.to_delayed().ravel().tolist())
    if is_dask(values):
        if not type(values).__module__.startswith(("dask.dataframe", "dask_expr")):
            raise InputTypeError(
                f"{name}: expected a Dask array or data frame, got {type(values).__name__} of Dask",
                argument=name,
                remedy="make it one, as with its to_dataframe",
            )
        choice = sources.choice
        if choice.columns is not None and not choice.drop and hasattr(values, "columns"):
            used = choice.columns if choice.by_column is None else (*choice.columns, choice.by_column)
            names = list(values.columns)
            if all(isinstance(column, str) for column in names):
                values = values[needed(names, used)]
        return list(values.to_delayed())
    if as_blocks(values) is not None:
        raise InputTypeError(
            f"{name} is in blocks and the other sample is a Dask collection",
            argument=name,
            remedy="make both Dask collections",
        )
    if isinstance(values, np.ndarray) and values.ndim and not sources.paired:
        size = _SENT_PARTS * block_rows(values.shape[1] if values.ndim > 1 else 1)
        return [_lend(values[start : start + size]) for start in range(0, max(len(values), 1), size)]
    return [_lend(values)]


def _cut_alike(x: Any, y: Any) -> list[Any]:
    """Two samples of pairs, the second cut where the first is, if that can be done."""
    cuts = _known_heights(x), _known_heights(y)
    if None in cuts or cuts[0] == cuts[1] or len(x) != len(y):
        return [x, y]
    return [x, y.rechunk({0: x.chunks[0]})]


def _pieces(samples: list[Any], parts: list[list[Any]], sources: Sources) -> list[_Piece]:
    labels = sources.choice.by if sources.choice.by_column is None else None
    if sources.paired and len(parts) == 2:
        x_heights, y_heights = map(_heights, samples, parts)
        check_pairs(sum(x_heights), sum(y_heights))
        if x_heights != y_heights:
            raise InputError(
                "paired: the partitions of x and y have different numbers of rows",
                argument="paired",
                remedy="give both the same partitions",
            )
        return [_Piece(both, number) for number, both in enumerate(zip(*parts, strict=True))]
    of_labels: list[Any] = [None] * len(parts[0])
    if isinstance(labels, list):
        heights = _heights(samples[0], parts[0])
        starts = list(accumulate(heights, initial=0))
        if starts[-1] != len(labels):
            raise InputError(
                f"by: has {len(labels)} labels for {starts[-1]} rows", argument="by", remedy="give one for each row"
            )
        of_labels = [_lend(labels[start:][:height]) for start, height in zip(starts, heights, strict=False)]
    return [
        _Piece((None, partition) if sample else (partition, None), number, None if sample else of_labels[number])
        for sample, partitions in enumerate(parts)
        for number, partition in enumerate(partitions)
    ]


def _lent(sources: Sources) -> Sources:
    """What tasks need to know, without data."""
    nothing = Blocks((), by_caller=False)
    y = None if sources.y is None else nothing
    return replace(sources, x=nothing, y=y, choice=_without_labels(sources.choice))


def _without_labels(choice: Choice) -> Choice:
    return replace(choice, by=[]) if isinstance(choice.by, list) else choice


def _heights(values: Any, partitions: list[Any]) -> list[int]:
    """How many rows the partitions have."""
    known = _known_heights(values)
    return _compute_all([_task(_height)(partition) for partition in partitions]) if known is None else known


def _known_heights(values: Any) -> list[int] | None:
    """The sizes of the chunks of an array that has such."""
    if not _is_array(values) or values.ndim not in (1, 2) or np.isnan(values.chunks[0]).any():
        return None
    return [int(size) for size in values.chunks[0]]


def _known_counts(samples: list[Any], paired: bool) -> list[_Counts] | None:
    """What is known of arrays before they are read; rows that lack a value are refused later."""
    heights = [_known_heights(values) for values in samples]
    if paired:
        return None if heights[0] is None else [_Counts([n, n], [0, 0], 0, {}) for n in heights[0]]
    counts = []
    for sample, known in enumerate(heights):
        if known is None:
            return None
        counts += [_Counts([0, n] if sample else [n, 0], [0, 0], 0, {}) for n in known]
    return counts


def _in_order(counts: list[_Counts], choice: Choice) -> list[_Counts]:
    """The counts with the groups in one order: where they were not named, each partition has them in its own."""
    if choice.by is None or choice.groups is not None:
        return counts
    order = dict.fromkeys(group for found in counts for group in found.groups)
    first = list(order)[:2]
    placed = []
    for found in counts:
        here = [list(found.groups).index(group) if group in list(found.groups)[:2] else None for group in first]
        rows, dropped = ([0 if k is None else some[k] for k in here] for some in (found.rows, found.dropped))
        placed.append(replace(found, rows=rows, dropped=dropped))
    return placed


def _added_up(counts: list[_Counts], sources: Sources, layout: Layout) -> Pass:
    """The pass over all partitions."""
    total = Pass(sources, layout, [])
    for found in counts:
        for sample, (rows, dropped) in enumerate(zip(found.rows, found.dropped, strict=True)):
            total.rows[sample] += rows
            total.dropped[sample] += dropped
        for group, count in found.groups.items():
            total.groups[group] = total.groups.get(group, 0) + count
        total.unlabelled += found.unlabelled
    return total


# ---- tasks


def _lend(values: Any) -> Any:
    """An object that tasks share, sent once to each worker."""
    return _import_dask().delayed(values, traverse=False)


def _task(work: Callable[..., Any]) -> Any:
    """A function that is done by a worker; a refusal is its answer, so that the first one of all can be raised."""
    return _import_dask().delayed(_Careful(work), pure=False)


@dataclass(frozen=True)
class _Careful:
    work: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return f"twosample{self.work.__name__}"

    def __call__(self, *arguments: Any) -> Any:
        try:
            with one_of_many():
                return self.work(*arguments)
        except (InputError, InputTypeError) as error:
            return error


def _compute_all(tasks: list[Any]) -> list[Any]:
    found = list(_import_dask().compute(*tasks))
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found


def _compute_tree(tasks: list[Any], join: Callable[[list[_T]], _T]) -> _T:
    """What `join` makes of all, eight at a time and in their order."""
    do = _import_dask().delayed(_Join(join), pure=False)
    while len(tasks) > 1:
        tasks = [do(tasks[start : start + _FAN_IN]) for start in range(0, len(tasks), _FAN_IN)]
    [found] = _compute_all(tasks)
    assert found is not None
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Join:
    join: Callable[[list[Any]], Any]

    __name__ = "twosample_join"

    def __call__(self, found: list[Any]) -> Any:
        found = [one for one in found if one is not None]
        refused = [one for one in found if isinstance(one, Exception)]
        if refused:
            return refused[0]
        return self.join(found) if found else None


def _opened(partition: Any, number: int) -> Iterator[Block]:
    for block in () if partition is None else Blocks((partition,), by_caller=False).pieces():
        yield block._replace(number=number)


def _pass(x: Any, y: Any, number: int, labels: list[Any] | None, sources: Sources, layout: Layout) -> Pass:
    """The pass over one piece."""
    if labels is not None:
        sources = replace(sources, choice=replace(sources.choice, by=labels))
    return Pass(sources, layout, [_opened(partition, number) for partition in (x, y)][: 1 if sources.y is None else 2])


def _first_tables(partition: Any, names: str, choice: Choice) -> list[Table]:
    for block in _opened(partition, 0):
        return [first_table(block.values, name, choice, engines.stays) for name in names]
    return []


def _height(partition: Any) -> int:
    return sum(len(block.values) for block in _opened(partition, 0))


def _counted(*piece: Any) -> _Counts:
    rows = _pass(*piece)
    for _ in rows:
        pass
    return _Counts(rows.rows, rows.dropped, rows.unlabelled, rows.groups)


def _pilot(x: Any, y: Any, number: int, labels: Any, sources: Sources, layout: Layout, *start: Any) -> Pilot:
    empty, first, total = start
    pilot: Pilot = empty.beginning(first, total)
    for part in _pass(x, y, number, labels, sources, layout):
        for sample, rows in enumerate(part):
            if rows.shape[0]:
                pilot.add(sample, rows)
    return pilot


def _statistics(*arguments: Any) -> FeatureStatistics | None:
    *piece, plan, like, missing = arguments
    total: FeatureStatistics | None = None
    for samples in samples_of(_pass(*piece), like):
        found = plan.collect_part(missing, samples)
        total = found if total is None else total.merge(found)
    return total


def _statistics_of_samples(samples: Samples, plan: Plan, missing: Any) -> FeatureStatistics:
    return plan.collect_part(missing, samples)


def _merged(found: list[FeatureStatistics]) -> FeatureStatistics:
    return found[0].merge(*found[1:])


def _keyed(plan: Plan) -> Plan:
    """The plan with its key, which each task would otherwise find again."""
    assert plan.key
    return plan


def _say(report: Report | None, words: str) -> None:
    if report is not None:
        report(0.0, words)
