"""One pass over two samples in blocks: parts of even size, with the columns and the groups that are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, Protocol

import numpy as np

from twosample.common.arrays import Array, Indices, doubles, float64, namespace, take_rows, to_numpy
from twosample.data.blocks import Block, Blocks, as_blocks, block_rows
from twosample.data.categories import Growing, Levels, recoded
from twosample.data.choosing import Choice, Labels
from twosample.data.complete import check_pairs, dropped_in_words
from twosample.data.levels import about_texts, category_columns, with_numbers
from twosample.data.reading import Table, finite_rows, from_numpy, label_list, needed_columns, read
from twosample.data.two_tables import align, row_labels
from twosample.errors import InputError, InputTypeError, Setting, emit

__all__ = ["Counts", "Layout", "Pass", "Sources", "are_blocks", "first_table"]

# Rows of one sample that may wait for those that they are paired with, in values.
_MOST_WAITING = 1 << 24
_MOST_GROUPS = 1000

Stays = Callable[[Any], bool]


class Reader(Protocol):
    """Turns blocks of a sample into rows of the same columns."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def rows(self, block: Block, sample: int) -> Any:
        """The rows of a block of x (0) or y (1), float64, NaN where values are missing."""


def are_blocks(*samples: object) -> bool:
    """Whether any of the samples is read block by block."""
    return any(as_blocks(sample) is not None for sample in samples)


@dataclass(frozen=True, eq=False)
class Layout:
    """Which columns of the blocks are compared, as their first ones say."""

    columns: tuple[str, ...]
    tables: tuple[Table, Table]  # the first block of each sample, without its rows
    places: tuple[Indices, Indices]  # where the columns are among those read, of each sample
    choice: Choice
    stays: Stays  # tells arrays that are not copied to NumPy
    levels: tuple[Growing | tuple[str, ...] | None, ...] = ()  # as `Levels`; dictionaries grow in a first pass

    @classmethod
    def of_tables(cls, tables: tuple[Table, Table], choice: Choice, stays: Stays) -> Layout:
        """That of the first block of each sample, given without rows."""
        choice.check_drop([table.present for table in tables])
        settled = with_numbers(tables)
        emit(about_texts(settled))
        x, y = category_columns(settled, ("x", "y"))
        (x_places, y_places), columns = align((x, y), ("x", "y"))
        of = [[known is not None for known in table.levels_at(own)] for table, own in ((x, x_places), (y, y_places))]
        for column, in_x, in_y in zip(columns, *of, strict=True):
            if in_x != in_y:
                raise InputTypeError(
                    f"column {column!r} holds text in {'x' if in_x else 'y'} and numbers in {'y' if in_x else 'x'}",
                    argument="x and y",
                    remedy="give both in the same way, or leave the column out",
                )
        levels = tuple(Growing() if flag else None for flag in of[0]) if any(of[0]) else ()
        return cls(columns, (x, y), (np.array(x_places), np.array(y_places)), choice, stays, levels)

    @property
    def known_levels(self) -> Levels:
        """The levels that are known by now."""
        return tuple(one.levels if isinstance(one, Growing) else one for one in self.levels)

    def with_levels(self, kept: list[int], levels: Levels) -> Layout:
        """Some of the columns only, with these levels, for another pass."""
        return replace(
            self,
            columns=tuple(self.columns[place] for place in kept),
            places=(self.places[0][kept], self.places[1][kept]),
            levels=levels,
        )

    @property
    def named(self) -> tuple[str, ...] | None:
        """The names of the columns, if the data have any."""
        return self.columns if any(table.columns is not None for table in self.tables) else None

    def rows(self, block: Block, sample: int) -> Any:
        """The rows of a block, (n, D), float64, NaN where values are missing."""
        name, first, places = "xy"[sample], self.tables[sample], self.places[sample]
        values = block.values
        if self.stays(values):
            table = first_table(values, name, self.choice, self.stays)
            self._check(table, first, name, block)
            wanted = np.array([int(column) for column in table.columns or table.present])[places]
            with doubles(values):
                rows = values[:, None] if values.ndim == 1 else values
                if not np.array_equal(wanted, np.arange(rows.shape[1])):
                    rows = take_rows(rows.T, wanted).T
                return float64(rows)
        choice = Choice(columns=first.columns) if first.is_frame else replace(self.choice, texts=False)
        if first.levels:
            names = first.columns or first.present
            categories = [name for name, level in zip(names, first.levels, strict=True) if level is not None]
            choice = replace(choice, categories=tuple(categories))
        try:
            with needed_columns(name, "every block needs the columns of the first"):
                table = read(values, name, choice)
        except (InputError, InputTypeError) as error:
            where = "" if block.number is None else f", in block {block.number}"
            raise type(error)(f"{error.message}{where}", argument=error.argument, remedy=error.remedy) from None
        self._check(table, first, name, block)
        used = places.tolist()
        return self._coded(table.at(used), table.levels_at(used)) if self.levels else table.at(used)

    def _coded(self, rows: Array, of_block: Levels) -> Array:
        """The rows of a block with the codes of the layout."""
        rows = rows.copy()
        for place, (known, own) in enumerate(zip(self.levels, of_block, strict=True)):
            if known is not None and own is not None:
                codes = rows[:, place]
                rows[:, place] = known.codes(codes, own) if isinstance(known, Growing) else recoded(codes, own, known)
        return rows

    def _check(self, table: Table, first: Table, name: str, block: Block) -> None:
        """Refuse a block that is unlike the first one."""
        what = None
        if table.is_frame != first.is_frame:
            kinds = ("an array", "a data frame")
            what = f"{kinds[table.is_frame]}, and the first one is {kinds[first.is_frame]}"
        elif not table.is_frame and len(table.present) != len(first.present):
            what = f"of {len(table.present)} columns, and the first one has {len(first.present)}"
        elif table.times != first.times:
            column = next(iter(set(table.times) ^ set(first.times)))
            here, there = "dates or times", "numbers"
            here, there = (here, there) if column in table.times else (there, here)
            what = f"with {here} in column {column!r}, and the first one has {there}"
        if what is not None:
            which = "a block" if block.number is None else f"block {block.number}"
            raise InputError(f"{name}: {which} is {what}", argument=name, remedy="give all alike")


def first_table(block: Any, name: str, choice: Choice, stays: Stays) -> Table:
    """The first block of a sample, without its rows."""
    if stays(block):
        block = np.empty((0, *block.shape[1:]))
    if isinstance(block, np.ndarray) and not len(block):
        block = np.zeros((1, from_numpy(block, name).shape[1]))
    table = read(block, name, choice)
    return table._replace(rows=np.empty((0, table.rows.shape[1])))


@dataclass(frozen=True, eq=False)
class Sources:
    """Where the rows of two samples come from.

    Where the columns are looked at `apart`, one by one, values that are left out are NaN, in both values of a pair, and
    their rows stay.
    """

    x: Blocks
    y: Blocks | None  # None where the choice splits x, or x has rows of both
    choice: Choice
    paired: bool
    nan_policy: Literal["raise", "omit"]
    apart: bool = False

    @classmethod
    def of(
        cls,
        x: object,
        y: object,
        choice: Choice,
        *,
        paired: bool,
        nan_policy: Literal["raise", "omit"],
        apart: bool = False,
    ) -> Sources:
        """Those of two samples of which one may be in memory, or of one table that is split."""
        if choice.by is not None and y is not None:
            raise InputError("by: splits x, so there must be no y", argument="by", remedy="pass one table, or no by")
        if paired and not isinstance(choice.paired, bool):
            raise InputError(
                "paired: rows can be matched by identifiers only where all of them are in the memory of this machine",
                argument="paired",
                remedy=("put both samples in that order and pass ", Setting("paired", True)),
            )
        if choice.by is not None and choice.by_column is None:
            choice = replace(choice, by=label_list(choice.by))
        given = _blocks(x), None if y is None else _blocks(y)
        if (used := choice.needed) is not None:
            given = given[0].only(used), None if given[1] is None else given[1].only(used)
        return cls(*given, choice, paired, nan_policy, apart)

    @property
    def keeps_rows(self) -> bool:
        """Whether rows that lack a value stay."""
        return self.apart and self.nan_policy == "omit"

    def opened(self) -> list[Iterator[Block]]:
        """Their rows, from the first on."""
        return [source.pieces() for source in (self.x, self.y) if source is not None]


def _blocks(values: object) -> Blocks:
    if values is None:
        return Blocks((), by_caller=False)
    return as_blocks(values) or Blocks((values,), by_caller=False)


@dataclass(eq=False)
class Counts:
    """The numbers of rows that were read."""

    rows: list[int] = field(default_factory=lambda: [0, 0])  # of each sample
    dropped: list[int] = field(default_factory=lambda: [0, 0])  # of these, for a missing or infinite value
    unlabelled: int = 0  # rows that belong to no group
    groups: dict[str, int] = field(default_factory=dict)  # those that were seen, and how many rows each has

    @property
    def complete(self) -> list[int]:
        """Rows of each sample that were not left out."""
        return [rows - dropped for rows, dropped in zip(self.rows, self.dropped, strict=True)]

    def add(self, other: Counts) -> None:
        """Count the rows of another one too."""
        self.rows = [one + more for one, more in zip(self.rows, other.rows, strict=True)]
        self.dropped = [one + more for one, more in zip(self.dropped, other.dropped, strict=True)]
        self.unlabelled += other.unlabelled
        for group, count in other.groups.items():
            self.groups[group] = self.groups.get(group, 0) + count


class Pass(Counts):
    """One pass: iterate over it for parts of the rows of x and y, (n, D) each; of pairs as many of either."""

    def __init__(self, sources: Sources, layout: Reader, opened: list[Iterator[Block]] | None = None) -> None:
        super().__init__()
        self.layout = layout
        self._sources, self._labelled = sources, 0
        self._opened = sources.opened() if opened is None else opened

    @classmethod
    def first(cls, sources: Sources, stays: Stays) -> tuple[Pass, Layout]:
        """The first pass, whose first blocks say which columns there are."""
        opened, found = sources.opened(), list[Block]()
        for pieces, name in zip(opened, ("x", "y"), strict=False):
            block = next(pieces, None)
            if block is None:
                raise InputError(f"{name} is empty", argument=name, remedy="pass at least 2 rows and 1 column")
            found.append(block)
        x, y = (first_table(found[place].values, name, sources.choice, stays) for place, name in ((0, "x"), (-1, "y")))
        layout = Layout.of_tables((x, y), sources.choice, stays)
        again: list[Iterator[Block]] = [chain([block], rest) for block, rest in zip(found, opened, strict=True)]
        return cls(sources, layout, again), layout

    @property
    def labels(self) -> Labels:
        """The groups that were seen."""
        column = self._sources.choice.by_column
        return Labels.counted(self.groups, "by" if column is None else f"column {column!r}")

    @property
    def note(self) -> str | None:
        """What to say of rows that were left out."""
        return dropped_in_words(self.rows, self.dropped, self._sources.paired) if any(self.dropped) else None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """The parts; those of one sample do not depend on the other one, unless they are paired."""
        size = block_rows(len(self.layout.columns))
        waiting = _Waiting(), _Waiting()
        paired, one_table = self._sources.paired, self._sources.y is None
        for sample, rows in self._pieces():
            waiting[sample].add(rows)
            if not isinstance(rows, np.ndarray):  # a device works on as many as it has
                size = max(size, rows.shape[0])
            yield from self._parts(waiting, size, size)
            if paired and one_table and max(map(len, waiting)) * len(self.layout.columns) > _MOST_WAITING:
                raise InputError(
                    "by: too many rows of one group come before those of the other that they are paired with",
                    argument="by",
                    remedy="pass the groups as two samples",
                )
        if paired:
            check_pairs(*self.rows)
        yield from self._parts(waiting, size, 1)

    def _parts(self, waiting: tuple[_Waiting, _Waiting], size: int, fewest: int) -> Iterator[tuple[Any, Any]]:
        """Parts of a size, as long as the fewest rows for one are waiting."""
        if self._sources.paired:
            while min(map(len, waiting)) >= fewest:
                yield self._of_pairs(waiting[0].take(size), waiting[1].take(size))
            return
        for sample in (0, 1):
            while len(waiting[sample]) >= fewest:
                yield _in_place(waiting[sample].take(size), sample)

    def _of_pairs(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Pairs without those that lack a value."""
        with doubles(x, y):
            complete = finite_rows(x) & finite_rows(y)
            if complete.all():
                return x, y
            if self._sources.keeps_rows:
                present = np.isfinite(x) & np.isfinite(y)
                return np.where(present, x, np.nan), np.where(present, y, np.nan)
            for sample in (0, 1):
                self.dropped[sample] += int(np.count_nonzero(~complete))
            return take_rows(x, complete), take_rows(y, complete)

    def _pieces(self) -> Iterator[tuple[int, Any]]:
        """The rows as they come, each with the sample they are of."""
        if self._sources.y is None and self._sources.choice.by is not None:
            for block in self._opened[0]:
                for sample, places in self._split(block):
                    yield sample, self._counted(block, sample, places)
            return
        if not self._sources.paired:
            for sample, opened in enumerate(self._opened):
                for block in opened:
                    yield sample, self._counted(block, sample)
            return
        while True:
            # The one that is behind; at the end of one, what is left of the other is only counted.
            sample = int(self.rows[1] < self.rows[0])
            following = next(self._opened[sample], None)
            if following is None:
                rest = self._opened[1 - sample]
                self.rows[1 - sample] += sum(self.layout.rows(other, 1 - sample).shape[0] for other in rest)
                return
            yield sample, self._counted(following, sample)

    def _counted(self, block: Block, sample: int, places: Indices | None = None) -> Any:
        """The rows of a block; those that lack a value are refused or, where they are not paired, left out."""
        rows = self.layout.rows(block, sample)
        with doubles(rows):
            rows = rows if places is None else take_rows(rows, places)
            self.rows[sample] += rows.shape[0]
            complete = finite_rows(rows)
            if self._sources.nan_policy == "raise" and not complete.all():
                row = int(np.argmin(complete))
                [bad] = ~np.isfinite(to_numpy(take_rows(rows, np.array([row]))))
                where = block.first + (row if places is None else int(places[row]))
                of_block = "" if block.number is None else f" of block {block.number}"
                name = "xy"[sample]
                raise InputError(
                    f"{name} has a missing or infinite value (row {where}{of_block}, column "
                    f"{self.layout.columns[int(np.argmax(bad))]!r})",
                    argument=name,
                    remedy=("remove them or pass ", Setting("nan_policy", "omit")),
                )
            if self._sources.paired or complete.all():
                return rows
            if self._sources.keeps_rows:
                return np.where(np.isfinite(rows), rows, np.nan)
            self.dropped[sample] += int(np.count_nonzero(~complete))
            return take_rows(rows, complete)

    def _split(self, block: Block) -> Iterator[tuple[int, Indices]]:
        """Which rows of a block are in which sample."""
        choice = self._sources.choice
        if choice.by_column is not None:
            labels = row_labels(block.values, choice.by)
        else:
            assert isinstance(choice.by, list)
            height = self.layout.rows(block, 0).shape[0]
            labels = Labels(choice.by[self._labelled : self._labelled + height])
            self._labelled += height
            if labels.count < height:
                raise InputError(
                    f"by: has {len(choice.by)} labels for more rows", argument="by", remedy="give one for each row"
                )
        self.add(Counts(unlabelled=labels.missing, groups=labels.counts))
        if len(self.groups) > _MOST_GROUPS:
            raise InputError(
                f"by: there are more than {_MOST_GROUPS:,} groups",
                argument="by",
                remedy="choose a column of two values",
            )
        wanted = list(self.groups)[:2]
        if choice.groups is not None:
            wanted = [group if group in self.groups else group.capitalize() for group in choice.groups]
        for sample, group in enumerate(wanted):
            if group in labels.counts:
                yield sample, labels.rows(group)


class _Waiting:
    """Rows that wait until there are enough for a part."""

    def __init__(self) -> None:
        self._pieces: deque[Any] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: Any) -> None:
        if rows.shape[0]:
            self._pieces.append(rows)
            self._count += rows.shape[0]

    def take(self, count: int) -> Any:
        """The first rows, up to a limit."""
        taken, missing = [], min(count, self._count)
        self._count -= missing
        while missing:
            rows = self._pieces.popleft()
            if rows.shape[0] > missing:
                with doubles(rows):
                    self._pieces.appendleft(rows[missing:, ...])
                    rows = rows[:missing, ...]
            taken.append(rows)
            missing -= rows.shape[0]
        with doubles(*taken):
            return taken[0] if len(taken) == 1 else namespace(*taken).concat(taken)


def _in_place(rows: Any, sample: int) -> tuple[Any, Any]:
    """Rows of one sample, and none of the other."""
    with doubles(rows):
        return (rows, rows[:0, ...]) if sample == 0 else (rows[:0, ...], rows)
