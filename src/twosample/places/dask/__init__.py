"""The passes over Dask collections, a task a partition; and over other data, whose parts are sent to Dask.

Whatever scheduler is active runs the tasks, and none is started here. What comes back is small: counts, then the pilot,
then the statistics, joined eight at a time where the partitions are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from twosample.common.progress import Report, WorkCounter
from twosample.data.blocks import is_dask
from twosample.data.parts import Layout, Pass, Sources
from twosample.data.pilot import Pilot
from twosample.data.reading import Table
from twosample.errors import InputError, Setting
from twosample.features.statistics import Mergeable
from twosample.places.dask import tasks
from twosample.places.dask.chunks import (
    Piece,
    cut_alike,
    given,
    in_order,
    known_counts,
    lent,
    partitions_of,
    pieces,
    without_labels,
)
from twosample.places.dask.tasks import compute_all, compute_tree, import_dask, keyed, lend, task
from twosample.places.streaming import Cluster, Collector, Stream, empty_pilot, first_pass, stays

__all__ = ["cluster_for"]

_Found = TypeVar("_Found", bound=Mergeable)

# How many parts are sent at a time, of at most 8 MB each.
_SENT_PARTS = 16


def cluster_for(engine: object, x: object, y: object) -> Cluster:
    """The compute backend where the samples are Dask collections or the engine is "dask"."""
    if not (is_dask(x) or is_dask(y)):
        import_dask()
        return _Sender()
    if engine not in ("auto", "dask"):
        raise InputError(
            f"engine: a Dask collection is worked on by Dask, not by {engine!r}",
            argument="engine",
            remedy=("use ", Setting("engine", "auto")),
        )
    return _Collections()


class _Collections:
    """Passes over samples of which at least one is a Dask array or data frame."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []

    def first_pass(
        self, sources: Sources, report: Report | None, refusal: InputError | None
    ) -> tuple[Pass, Layout, Pilot]:
        samples = _samples(sources)
        parts = [partitions_of(values, sources, name) for values, name in zip(samples, "xy", strict=False)]
        layout = self._layout(parts, sources)
        self._pieces = pieces(samples, parts, sources)
        told, counts = lent(sources), None
        if sources.choice.by is None and (sources.nan_policy == "raise" or sources.keeps_rows):
            counts = known_counts(samples, sources.paired)
        if counts is None:
            _say(report, f"counting the rows of {len(self._pieces):,} partitions")
            counts = compute_all(self._tasks(tasks.counted, told, layout))
        counts = in_order(counts, sources.choice)
        rows = Pass(sources, layout, [])
        for found in counts:
            rows.add(found)
        if sources.choice.by is not None:
            told = replace(told, choice=replace(told.choice, groups=rows.labels.two(sources.choice.groups)))
        starts = np.cumsum([(0, 0), *(found.complete for found in counts)], axis=0).tolist()
        total = sum(starts[-1])
        _say(report, f"first pass: {total:,} rows")
        empty = lend(empty_pilot(sources, layout))
        of_pilot = self._tasks(tasks.pilot, told, layout, [(empty, start, total) for start in starts[:-1]])
        pilot = compute_tree(of_pilot, Pilot.joined)
        if refusal is not None and not pilot.whole:
            raise refusal
        return rows, layout, pilot

    def collect(self, stream: Stream, plan: Collector[_Found], counter: WorkCounter, known: _Found | None) -> _Found:
        sources, samples = stream.sources, stream.samples
        told = lent(sources)
        if sources.choice.by is not None:
            told = replace(told, choice=replace(told.choice, groups=samples.names))
        like = lend(replace(samples, x=samples.x[:0], y=samples.y[:0], notes=(), copies=None))
        extra = (lend(keyed(plan)), like, lend(plan.missing(known)))
        of_parts = self._tasks(tasks.statistics, told, stream.layout, [extra] * len(self._pieces))
        found: _Found = compute_tree(of_parts, tasks.merged)
        stream.check_sizes((found.n_x, found.n_y))
        counter(found.n_x + found.n_y)
        return plan.completed(known, found)

    def _layout(self, parts: list[list[Any]], sources: Sources) -> Layout:
        """That of the first partitions that have rows."""
        tables: list[Table] = []
        for name, partitions in zip("xy", parts, strict=False):
            names = "xy" if len(parts) == 1 else name
            for partition in partitions:
                found = compute_all([task(tasks.first_tables)(partition, names, without_labels(sources.choice))])[0]
                if found:
                    tables.extend(found)
                    break
            else:
                raise InputError(f"{name} is empty", argument=name, remedy="pass at least 2 rows and 1 column")
        return Layout.of_tables((tables[0], tables[-1]), sources.choice, stays(sources))

    def _tasks(
        self, work: Callable[..., Any], sources: Sources, layout: Layout, extra: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """One for each piece."""
        layout = replace(layout, choice=without_labels(layout.choice))
        shared, do = (lend(sources), lend(layout)), task(work)
        more: Sequence[tuple[Any, ...]] = extra or [()] * len(self._pieces)
        return [
            do(*piece.partitions, piece.number, piece.labels, *shared, *one)
            for piece, one in zip(self._pieces, more, strict=True)
        ]


class _Sender:
    """Passes over data of this process: the first pass is made here, and then parts of the rows are sent to Dask."""

    first_pass = staticmethod(first_pass)

    def collect(self, stream: Stream, plan: Collector[_Found], counter: WorkCounter, known: _Found | None) -> _Found:
        extra = lend(keyed(plan)), lend(plan.missing(known))
        parts, do = stream.parts(), task(tasks.statistics_of_samples)
        total: _Found | None = None
        while batch := [do(lend(part), *extra) for part in islice(parts, _SENT_PARTS)]:
            with warnings.catch_warnings():  # data that are here cannot but be sent
                warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
                found: _Found = compute_tree(batch, tasks.merged)
            counter(found.n_x + found.n_y)
            total = found if total is None else total.merge(found)
        assert total is not None
        return plan.completed(known, total)


def _samples(sources: Sources) -> list[Any]:
    """What was given, pairs with the same partitions where that can be done."""
    samples = [given(source) for source in (sources.x, sources.y) if source is not None]
    if not sources.paired:
        return samples
    if sources.y is None and sources.choice.by is not None:
        raise InputError(
            "by: the rows of a Dask collection are not put in pairs",
            argument="by",
            remedy="pass the groups as two collections with the same partitions",
        )
    return cut_alike(*samples)


def _say(report: Report | None, words: str) -> None:
    if report is not None:
        report(0.0, words)
