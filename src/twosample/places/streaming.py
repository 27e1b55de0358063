"""Data larger than memory: a pilot of rows fixes the plan in a first pass, and a second one collects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from twosample import places
from twosample.common.arrays import Array, Flags, doubles, take_rows
from twosample.common.progress import Report, WorkCounter
from twosample.data import Choice, LeftOut, Samples
from twosample.data.categories import recoded, unknown_in_words
from twosample.data.complete import check_left, check_policy, check_sizes
from twosample.data.identifiers import identifiers
from twosample.data.levels import settled
from twosample.data.parts import Layout, Pass, Sources
from twosample.data.pilot import Pilot
from twosample.data.reading import Table
from twosample.data.sketch import Sketch, sketches
from twosample.data.two_tables import (
    Tables,
    about_identifiers,
    about_rows,
    no_second_sample,
    read_two,
    without_label,
)
from twosample.data.views import MOST_KNOTS
from twosample.errors import DroppedDataWarning, InputError, emit
from twosample.features.statistics import Mergeable

__all__ = [
    "Cluster", "Collector", "Opened", "Stream", "Where", "empty_pilot", "first_pass", "from_pilot", "of_first_rows",
    "open_pilot", "open_stream", "pilot_in_words", "samples_of", "stays",
]  # fmt: skip

_Found = TypeVar("_Found", bound=Mergeable)


class Collector(Protocol[_Found]):
    """What a pass collects: a plan, or what is like one in this."""

    @property
    def key(self) -> str:
        """Tells it from others."""

    def missing(self, known: _Found | None) -> Array | None:
        """As `Plan.missing`."""

    def collect_part(self, missing: Array | None, samples: Samples) -> _Found:
        """As `Plan.collect_part`."""

    def collect_parts(self, parts: Iterable[Samples], counter: WorkCounter | None, known: _Found | None) -> _Found:
        """As `Plan.collect_parts`."""

    def completed(self, known: _Found | None, found: _Found) -> _Found:
        """As `Plan.completed`."""


@runtime_checkable
class Cluster(Protocol):
    """Compute backend other than this process."""

    def first_pass(
        self, sources: Sources, report: Report | None, refusal: InputError | None
    ) -> tuple[Pass, Layout, Pilot]:
        """As the function `first_pass`."""

    def collect(self, stream: Stream, plan: Collector[_Found], counter: WorkCounter, known: _Found | None) -> _Found:
        """As `Plan.collect_parts` of the parts of the stream."""


class Where(TypedDict, total=False):
    """Where the passes over the rows are made."""

    report: Report | None  # is called with the number of rows read
    refusal: InputError | None  # to raise if the rows are too many to be held, where the question needs all of them
    move: Callable[[Array], Any] | None  # takes rows to a device; None leaves them where they are
    cluster: Cluster | None  # the compute backend; None is this process


@dataclass(frozen=True, eq=False)
class Stream:
    """Two samples that can be read again."""

    samples: Samples  # all rows, where they are few; else the pilot, for a plan
    whole: bool  # whether these are all
    sizes: tuple[int, int]  # how many rows each sample has
    sources: Sources
    layout: Layout
    sketches: tuple[Sketch, Sketch]  # a few rows of each sample, where the rows are on a device
    # As in `Where`.
    move: Callable[[Array], Any] | None = None
    cluster: Cluster | None = None

    def parts(self) -> Iterator[Samples]:
        """The rows again, part after part."""
        again = Pass(self.sources, self.layout)
        yield from samples_of(again, self.samples, self.move)
        self.check_sizes(again.complete)

    def collect(self, plan: Collector[_Found], counter: WorkCounter, known: _Found | None = None) -> _Found:
        """The statistics of all rows; of those that are known at some lengthscales, the rest is added."""
        if self.cluster is not None:
            return self.cluster.collect(self, plan, counter, known)
        return plan.collect_parts(self.parts(), counter, known)

    def check_sizes(self, found: Sequence[int]) -> None:
        """Refuse other numbers of rows than the first pass found."""
        for name, before, now in zip(("x", "y"), self.sizes, found, strict=True):
            if before != now:
                raise InputError(
                    f"{name} has {now} rows in the second pass and had {before} in the first",
                    argument=name,
                    remedy="its blocks must be the same each time they are read",
                )


def samples_of(
    parts: Iterable[tuple[Any, Any]], like: Samples, move: Callable[[Array], Any] | None = None
) -> Iterator[Samples]:
    """Parts of the rows as samples, with the columns that are kept in others."""
    for x, y in parts:
        x, y = (rows if like.kept.all() else _columns(rows, like.kept) for rows in (x, y))
        if move is not None:
            x, y = (move(rows) if isinstance(rows, np.ndarray) else rows for rows in (x, y))
        yield replace(like, x=x, y=y, notes=(), copies=None)


def _columns(rows: Any, kept: Flags) -> Any:
    with doubles(rows):
        return rows[:, kept] if isinstance(rows, np.ndarray) else take_rows(rows.T, kept).T


@dataclass(frozen=True, eq=False)
class Opened:
    """Samples in parts after the first pass over them."""

    sources: Sources
    rows: Pass  # the pass, which counted and checked them
    # With codes for the levels that are common in the pilot.
    layout: Layout
    pilot: Pilot
    nameless: tuple[LeftOut, ...]  # columns of text that name the rows
    where: Where

    @classmethod
    def of(cls, sources: Sources, where: Where) -> Opened:
        """Go once over the rows: count and check them, and keep a pilot."""
        check_policy(sources.nan_policy)
        cluster = where.get("cluster")
        go = first_pass if cluster is None else cluster.first_pass
        rows, layout, pilot = go(sources, where.get("report"), where.get("refusal"))
        return cls(sources, rows, *with_levels(layout, pilot), where)

    def checked(self) -> tuple[str, str]:
        """The names of two samples, each of which must have enough rows."""
        choice, rows = self.sources.choice, self.rows
        names = ("x", "y") if choice.by is None else rows.labels.two(choice.groups)
        check_sizes(rows.rows[0], rows.rows[1], self.sources.paired)
        check_left(rows.rows, rows.dropped, 2)
        return names

    def warn_of_rows(self, argument: str = "x and y") -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Warn of rows without a group and of rows that lack a value; returns the sentences of either."""
        missing, note = self.rows.unlabelled, self.rows.note
        unlabelled = emit([without_label(missing, self.sources.choice)] if missing else [])
        return unlabelled, emit([] if note is None else [DroppedDataWarning(note, argument=argument)])

    def tables(self) -> tuple[Table, Table]:
        """All rows of both samples where these are few, else their first rows."""
        pilot = self.pilot
        x, y = (self.table(sample, pilot.rows(sample) if pilot.whole else pilot.head(sample)) for sample in (0, 1))
        return x, y

    def table(self, sample: int, rows: Array) -> Table:
        """Some rows of a sample, as a table with the columns of the layout."""
        table, layout = self.layout.tables[sample], self.layout
        return table._replace(
            rows=rows,
            columns=layout.columns if self.nameless else layout.named,
            levels=layout.known_levels,
            settled=True,
            left_out=table.left_out + self.nameless,
        )

    def stream(self, samples: Samples) -> Stream:
        """The samples, to be read again; without the pilot, which takes memory."""
        pilot, kept, where = self.pilot, samples.kept, self.where
        both = sketches(pilot.some(0)[:, kept], pilot.some(1)[:, kept], paired=samples.paired)
        sizes = pilot.counts[0], pilot.counts[1]
        elsewhere = where.get("move"), where.get("cluster")
        return Stream(samples, pilot.whole, sizes, self.sources, self.layout, both, *elsewhere)


def open_stream(
    x: object,
    y: object,
    choice: Choice,
    *,
    paired: bool,
    scale: ArrayLike,
    nan_policy: Literal["raise", "omit"],
    **where: Unpack[Where],
) -> Stream:
    """Go once over the rows of two samples: count and check them, and make a plan's samples of a pilot.

    The arguments are those of `Samples.from_data`.
    """
    if y is None and choice.by is None:
        raise no_second_sample()
    opened = Opened.of(Sources.of(x, y, choice, paired=paired, nan_policy=nan_policy), where)
    names = opened.checked()
    unlabelled, dropped = opened.warn_of_rows()
    tables = opened.tables()
    if opened.pilot.whole:
        samples = Samples.from_data(*tables, paired=paired, scale=scale, say_copies=False)
    else:
        samples = from_pilot(opened.pilot, *tables, paired, scale)
    notes, column_notes = dropped + samples.notes, unlabelled + samples.column_notes
    return opened.stream(replace(samples, names=names, notes=notes, column_notes=column_notes))


def open_pilot(
    x: object,
    choice: Choice,
    *,
    paired: bool,
    scale: ArrayLike,
    nan_policy: Literal["raise", "omit"],
    cluster: Cluster | None = None,
) -> Samples:
    """The samples that a plan is made from, of one table with rows of both; as `Samples.from_pilot`."""
    opened = Opened.of(Sources.of(x, None, choice, paired=False, nan_policy=nan_policy), {"cluster": cluster})
    _, dropped = opened.warn_of_rows("x")
    samples = Samples.from_pilot(opened.table(0, opened.pilot.pooled()), paired=paired, scale=scale)
    return replace(samples, notes=dropped + samples.notes)


def with_levels(layout: Layout, pilot: Pilot) -> tuple[Layout, Pilot, tuple[LeftOut, ...]]:
    """Codes for the levels that are common in the pilot, and no columns of text that names the rows."""
    if not layout.levels:
        return layout, pilot, ()
    old, pooled = layout.known_levels, pilot.pooled()
    _, columns, levels, nameless = settled(
        [pooled], layout.columns, old, layout.tables[0].asked, is_label=pilot.limits.is_label
    )
    kept = [layout.columns.index(column) for column in columns]
    codes = {}
    for place, new in zip(kept, levels or [None] * len(kept), strict=True):
        before = old[place]
        if new is not None and before is not None:
            codes[place] = recoded(np.arange(len(before) + 1.0), before, new)
    return layout.with_levels(kept, levels), pilot.recoded(kept, codes), nameless


def first_pass(
    sources: Sources, report: Report | None = None, refusal: InputError | None = None
) -> tuple[Pass, Layout, Pilot]:
    """Count and check the rows, find their columns, and choose the pilot."""
    rows, layout = Pass.first(sources, stays(sources))
    pilot = empty_pilot(sources, layout)
    for part in rows:
        for sample, of_sample in enumerate(part):
            if of_sample.shape[0]:
                pilot.add(sample, of_sample)
        if refusal is not None and not pilot.whole:
            raise refusal
        if report is not None:
            report(0.0, f"first pass: {sum(pilot.counts):,} rows")
    return rows, layout, pilot


def stays(sources: Sources) -> Callable[[Any], bool]:
    """Tells arrays that are not copied to NumPy: those on a device, unless they may hold NaN."""
    return _never if sources.keeps_rows else places.stays


def _never(values: Any) -> bool:
    return False


def empty_pilot(sources: Sources, layout: Layout) -> Pilot:
    """A pilot without rows; columns that are looked at one by one have enough for the knots of their ranks."""
    return Pilot(len(layout.columns), 2 * MOST_KNOTS) if sources.apart else Pilot(len(layout.columns))


def from_pilot(pilot: Pilot, x_head: Table, y_head: Table, paired: bool, scale: ArrayLike) -> Samples:
    """Samples that stand for all rows in a plan; of the order of rows and of copies, the first rows tell."""
    two = read_two(x_head, y_head)
    columns, limits = two.columns, pilot.limits
    limits.check_size(columns)
    varies = limits.columns_to_keep()
    pooled = pilot.pooled()
    # Dealt out, so that both have whatever values there are: a plan is of all rows together.
    samples = Samples.checked(pooled[::2], pooled[1::2], columns, False, scale, "raise", look=False, levels=two.levels)
    rare = [columns[place] for place in np.flatnonzero(varies & ~samples.kept)]
    constant = [columns[place] for place in np.flatnonzero(~varies)]
    left_out = [LeftOut(column, "one value throughout") for column in constant]
    left_out += [LeftOut(column, "one value throughout the pilot") for column in rare]
    return replace(
        samples,
        paired=paired,
        notes=(pilot_in_words(len(pooled), sum(pilot.counts)), *of_first_rows(two, paired)),
        column_notes=two.notes + samples.column_notes + unknown_in_words(samples.columns, samples.levels),
        left_out=two.left_out + tuple(left_out),
    )


def pilot_in_words(pooled: int, rows: int) -> str:
    """What a plan was made from: how many of the rows."""
    return f"The plan was made from a pilot of {pooled:,} of {rows:,} rows."


def of_first_rows(tables: Tables, paired: bool) -> tuple[str, ...]:
    """Warn of copies, dependent rows and identifiers among the first rows, and return what was said."""
    # Numbers that go on from the end of one sample in the other show in the first rows of each alone.
    counting = set.intersection(*(set(identifiers(rows, rows[:0], None)) for rows in tables.rows))
    counting -= set(identifiers(tables.x, tables.y, tables.columns if tables.named else None))
    found = [*about_rows(tables, paired), *about_identifiers(tables, sorted(counting))]
    return emit(
        type(one)(f"Of the first rows of each sample: {one.message}", argument=one.argument, remedy=one.remedy)
        for one in found
    )
