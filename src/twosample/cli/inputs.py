"""Reads files into the tables to compare: two files, or one file that a column splits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from twosample.cli.messages import refusals
from twosample.common.free_memory import available_memory
from twosample.data import Blocks, Choice
from twosample.data.choosing import Labels
from twosample.data.files.dialect import Reading, quoted
from twosample.data.from_files import Given, split_table, two_files, used_columns
from twosample.data.two_tables import read_two, row_labels
from twosample.errors import DuplicateRowsWarning, InputError, warn

if TYPE_CHECKING:
    import polars as pl

    from twosample.data.files.parquet import Parquet

__all__ = ["Source", "two_tables"]

# Parquet files are read in blocks where so many copies of their values, as numbers of 8 bytes, would not be free.
_COPIES = 8


@dataclass(frozen=True)
class Source:
    """What a command says of where the samples are."""

    files: tuple[Path, ...]  # two; one, if it is split
    by: str | None  # the column to split it by
    groups: tuple[str, ...] | None  # the two values of that column to compare; None if it has only two
    columns: tuple[str, ...] | None  # None for all that hold numbers
    drop: tuple[str, ...] | None
    reading: Reading
    categories: tuple[str, ...] | None = None  # columns of numbers that are categories
    pair_by: str | None = None  # the column that identifies pairs

    def read(
        self, nan_policy: Literal["raise", "omit"], *, several: bool = False, stream: bool | None = False
    ) -> Given:
        """Read the tables; a cell without a number where one is needed is refused, or left out with a note.

        There may be `several` groups instead of two. Parquet files are left to be read in blocks with `stream`; where
        they are large beside the memory that is free, if it is None.
        """
        from twosample.data.files.table import read_table

        chosen = self._chosen()
        if self.by is None:
            _check_two(self.files, self.groups)
        elif len(self.files) != 1:
            raise InputError(f"--by: needs one file, not {len(self.files)}")
        streamed = self._streamed(stream)
        if self.by is not None:
            if streamed is not None and streamed[0] is not None:
                in_blocks = self._split_in_blocks(streamed[0], several and stream is None)
                if in_blocks is not None:
                    return in_blocks
            table = read_table(self.files[0], self.reading)
            with refusals((str(self.files[0]),)):
                return split_table(
                    table, self.groups, several=several, nan_policy=nan_policy, key=self.pair_by, **chosen
                )
        names = self._two_names()
        if streamed is not None:
            x, y = (
                read_table(path, self.reading).frame if table is None else _in_blocks(table)
                for path, table in zip(self.files, streamed, strict=True)
            )
            return Given(x, y, chosen, names, ())
        x_table, y_table = (read_table(path, self.reading) for path in self.files)
        with refusals(names):
            return two_files(x_table, y_table, names, nan_policy=nan_policy, key=self.pair_by, **chosen)

    def read_strings(self) -> Given:
        """Read strings, one a line or a record, in place of tables."""
        from twosample.data.files.strings import read_strings

        for option in ("by", "groups", "columns", "drop"):
            if getattr(self, option) is not None:
                raise InputError(f"--{option}: is for tables, not for strings; leave it out")
        _check_two(self.files, self.groups)
        x, y = (read_strings(path, self.reading) for path in self.files)
        return Given(x, y, {}, self._two_names(), ())  # type: ignore[arg-type]

    def _two_names(self) -> tuple[str, str]:
        """What two files are called: by their names alone where these differ."""
        first, second = self.files
        return (str(first), str(second)) if first.name == second.name else (first.name, second.name)

    def _chosen(self) -> dict[str, Any]:
        given = {"by": self.by, "columns": self.columns, "drop": self.drop, "categories": self.categories}
        return {name: value for name, value in given.items() if value is not None}

    def _streamed(self, stream: bool | None) -> list[Parquet | None] | None:
        """The files that are to be read in blocks."""
        if stream is False or (stream is None and self.pair_by is not None):
            return None
        from twosample.data.files.parquet import Parquet

        found = [None if str(path) == "-" else Parquet.at(path) for path in self.files]
        if stream is None:
            values = sum(table.height * len(table.schema) for table in found if table is not None)
            return found if 8 * _COPIES * values > available_memory() else None
        for path, table in zip(self.files, found, strict=True):
            if table is None:
                raise InputError(f"--stream: {quoted(path)} is not a Parquet file", remedy="save it as one")
        return found

    def _split_in_blocks(self, table: Parquet, several: bool) -> Given | None:
        """One file, in blocks, that a column splits; None where `several` groups are to be read whole."""
        import polars as pl

        assert self.by is not None
        choice = self._chosen()
        with refusals((str(self.files[0]),)):
            pair = Choice.of(self.by, self.groups).groups
            row_labels(pl.DataFrame(schema=table.schema), self.by)  # refuses a column that is not there
            found = table.groups(self.by).drop_nulls(self.by)
            counts = dict(zip(row_labels(found, self.by).counts, found[:, 1].to_list(), strict=False))
            if several and pair is None and len(counts) > 2:
                return None
            names = Labels.counted(counts, f"column {self.by!r}").two(pair)
        if pair is not None:
            choice["groups"] = pair
        return Given(_in_blocks(table), None, choice, names, ())

    def read_one(
        self, nan_policy: Literal["raise", "omit"], columns: tuple[str, ...] | None = None
    ) -> tuple[pl.DataFrame, tuple[str, ...]]:
        """Read the one file, of which these columns or those of the source are used; returns also what was noted."""
        from twosample.data.files.table import read_table

        table = read_table(self.files[0], self.reading)
        choice = Choice.of(columns=self.columns, drop=self.drop)
        if columns is not None:
            choice = Choice(columns=tuple(column for column in columns if column in table.frame.columns))
        with refusals((str(self.files[0]),)):
            used = used_columns([table.frame], choice)
        return table.frame, table.check(used, nan_policy)


def two_tables(given: Given, paired: bool | str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two tables of numbers with the same columns, of pairs in the same order, for what takes nothing else."""
    import polars as pl

    two = read_two(given.x, given.y, Choice.of(**given.choice, paired=paired))
    return pl.DataFrame(two.x, schema=list(two.columns)), pl.DataFrame(two.y, schema=list(two.columns))


def _check_two(files: tuple[Path, ...], groups: tuple[str, ...] | None) -> None:
    """Refuse anything but two files; the same one twice is warned of."""
    if groups is not None:
        raise InputError("--groups: needs --by COLUMN, whose values it names")
    if len(files) == 1:
        raise InputError("pass two files, or one file and --by COLUMN")
    if len(files) != 2:
        raise InputError(f"pass two files, not {len(files)}; or one file and --by COLUMN")
    if list(map(str, files)) == ["-", "-"]:
        raise InputError("standard input can be only one of the two files")
    if all(path.is_file() for path in files) and files[0].samefile(files[1]):
        warn(DuplicateRowsWarning(f"{quoted(files[0])} and {quoted(files[1])} are the same file."))


def _in_blocks(table: Parquet) -> Blocks:
    return Blocks(table.blocks, by_caller=False, takes_columns=True)
