"""Data larger than memory: a pilot of rows fixes the plan in a first pass, and a second one collects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from twosample import places
from twosample.common.arrays import Array, Flags, doubles, take_rows
from twosample.common.progress import Report, WorkCounter
from twosample.data import Choice, LeftOut, Samples, find_copies, serial_dependence
from twosample.data.categories import recoded
from twosample.data.complete import check_left, check_policy, check_sizes
from twosample.data.identifiers import identifiers
from twosample.data.levels import settled
from twosample.data.parts import Layout, Pass, Sources
from twosample.data.pilot import Pilot
from twosample.data.reading import Table
from twosample.data.sketch import Sketch
from twosample.data.two_tables import about_identifiers, no_second_sample, read_two, without_label
from twosample.data.views import MOST_KNOTS
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, TwoSampleWarning, warn
from twosample.features.statistics import Mergeable

__all__ = [
    "Cluster", "Collector", "Stream", "empty_pilot", "first_pass", "from_pilot",
    "of_first_rows", "open_pilot", "open_stream", "pilot_in_words", "said", "samples_of", "stays", "table_of",
    "with_levels",
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


class Cluster(Protocol):
    """Who goes over the rows where that is not this process."""

    def first_pass(
        self, sources: Sources, report: Report | None, refusal: InputError | None
    ) -> tuple[Pass, Layout, Pilot]:
        """What the function of that name does."""

    def collect(self, stream: Stream, plan: Collector[_Found], counter: WorkCounter, known: _Found | None) -> _Found:
        """What `Plan.collect_parts` does with the parts of the stream."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Two samples that can be read again.

    Attributes
    ----------
    samples
        All rows, where they are few; else the pilot, for a plan.
    whole
        Whether these are all.
    sizes
        How many rows each sample has.
    sources
        Where they are.
    layout
        Which columns they have.
    sketches
        A few rows of each sample, where the rows are on a device.
    move
        Takes rows to a device, or None.
    cluster
        Who goes over the rows, where that is not this process.
    """

    samples: Samples
    whole: bool
    sizes: tuple[int, int]
    sources: Sources
    layout: Layout
    sketches: tuple[Sketch, Sketch]
    move: Callable[[Array], Any] | None = None
    cluster: Cluster | None = None

    def parts(self) -> Iterator[Samples]:
        """The rows again, part after part."""
        again = Pass(self.sources, self.layout)
        yield from samples_of(again, self.samples, self.move)
        self.check_sizes([rows - dropped for rows, dropped in zip(again.rows, again.dropped, strict=True)])

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


def open_stream(
    x: object,
    y: object,
    choice: Choice,
    *,
    paired: bool,
    scale: ArrayLike,
    nan_policy: Literal["raise", "omit"],
    report: Report | None = None,
    refusal: InputError | None = None,
    move: Callable[[Array], Any] | None = None,
    cluster: Cluster | None = None,
) -> Stream:
    """Go once over the rows: count and check them, and keep a pilot.

    Parameters
    ----------
    x, y, choice, paired, scale, nan_policy
        As in `Samples.from_data`.
    report
        Is told how many rows were read.
    refusal
        What to raise if the rows are too many to be held, where the question needs all of them.
    move
        Takes rows to a device, where their statistics are to be collected; None leaves them where they are.
    cluster
        Who goes over the rows; None is this process.
    """
    if y is None and choice.by is None:
        raise no_second_sample()
    check_policy(nan_policy)
    sources = Sources.of(x, y, choice, paired=paired, nan_policy=nan_policy)
    rows, layout, pilot = (first_pass if cluster is None else cluster.first_pass)(sources, report, refusal)
    layout, pilot, nameless = with_levels(layout, pilot)
    names = ("x", "y") if choice.by is None else rows.labels.two(choice.groups)
    check_sizes(rows.rows[0], rows.rows[1], paired)
    check_left(rows.rows, rows.dropped, 2)
    unlabelled = said(without_label(rows.unlabelled, choice) for _ in range(min(rows.unlabelled, 1)))
    dropped = said(DroppedDataWarning(note, argument="x and y") for note in (rows.note,) if note is not None)
    x_table, y_table = (
        table_of(table, layout, pilot.rows(sample) if pilot.whole else pilot.head(sample), nameless)
        for sample, table in enumerate(layout.tables)
    )
    if pilot.whole:
        samples = Samples.from_data(x_table, y_table, paired=paired, scale=scale, say_copies=False)
    else:
        samples = from_pilot(pilot, x_table, y_table, paired, scale)
    samples = replace(
        samples, names=names, notes=dropped + samples.notes, column_notes=unlabelled + samples.column_notes
    )
    sketches = Sketch.of(pilot.some(0)[:, samples.kept]), Sketch.of(pilot.some(1)[:, samples.kept])
    return Stream(samples, pilot.whole, (pilot.counts[0], pilot.counts[1]), sources, layout, sketches, move, cluster)


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
    check_policy(nan_policy)
    go = first_pass if cluster is None else cluster.first_pass
    rows, layout, pilot = go(Sources.of(x, None, choice, paired=False, nan_policy=nan_policy), None, None)
    dropped = said(DroppedDataWarning(note, argument="x") for note in (rows.note,) if note is not None)
    layout, pilot, nameless = with_levels(layout, pilot)
    table = table_of(layout.tables[0], layout, pilot.pooled(), nameless)
    samples = Samples.from_pilot(table, paired=paired, scale=scale)
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


def table_of(table: Table, layout: Layout, rows: Array, nameless: tuple[LeftOut, ...]) -> Table:
    """Some rows, as a table with the columns of the layout."""
    names = layout.columns if nameless else layout.named
    return table._replace(
        rows=rows, columns=names, levels=layout.known_levels, settled=True, left_out=table.left_out + nameless
    )


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


def said(warnings: Iterable[TwoSampleWarning]) -> tuple[str, ...]:
    """Warn, and return what was said."""
    found = tuple(warnings)
    for warning in found:
        warn(warning)
    return tuple(map(str, found))


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
        notes=(pilot_in_words(pilot, pooled), *of_first_rows(x_head, y_head, columns, paired)),
        column_notes=two.notes + samples.column_notes,
        left_out=two.left_out + tuple(left_out),
    )


def pilot_in_words(pilot: Pilot, pooled: Array) -> str:
    """What a plan was made from."""
    return f"The plan was made from a pilot of {len(pooled):,} of {sum(pilot.counts):,} rows."


def of_first_rows(x: Table, y: Table, columns: tuple[str, ...], paired: bool) -> tuple[str, ...]:
    """Warn of copies, dependent rows and identifiers among the first rows, and return what was said."""
    copies = find_copies(x.rows, y.rows, paired=paired)
    dependent = serial_dependence(x.rows, y.rows, columns, copies, x.levels)
    # Numbers that go on from the end of one sample in the other show in the first rows of each alone.
    counting = set.intersection(*(set(identifiers(head.rows, head.rows[:0], None)) for head in (x, y)))
    counting -= set(identifiers(x.rows, y.rows, x.columns))
    counting -= {place for place, level in enumerate(x.levels) if level is not None}
    found = [*copies.warnings(), *about_identifiers([columns[place] for place in sorted(counting)])]
    found += [DependentRowsWarning(note, argument="x and y") for note in dependent]
    return said(map(_of_first, found))


def _of_first(warning: TwoSampleWarning) -> TwoSampleWarning:
    """The warning, of the first rows only."""
    return type(warning)(
        f"Of the first rows of each sample: {warning.message}", argument=warning.argument, remedy=warning.remedy
    )
