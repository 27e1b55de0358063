"""Reads files into the tables to compare: two files, or one file that a column splits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from twosample.cli.messages import refusals
from twosample.data import Choice
from twosample.data.two_tables import read_two, row_labels
from twosample.errors import DuplicateRowsWarning, InputError, warn
from twosample.files.reading import Reading, quoted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from twosample.files.table import FileTable

__all__ = ["Given", "Source", "two_tables"]


class Given(NamedTuple):
    """The tables of a command, as the functions of the library take them.

    Attributes
    ----------
    x, y
        Two tables; or one that holds all rows, and None.
    choice
        What to say of them: `by`, `groups`, `columns` and `drop`.
    names
        What the two samples are called.
    notes
        What was said of their cells.
    groups
        How many groups there are.
    """

    x: pl.DataFrame
    y: pl.DataFrame | None
    choice: dict[str, Any]
    names: tuple[str, str]
    notes: tuple[str, ...]
    groups: int = 2


@dataclass(frozen=True)
class Source:
    """What a command says of where the samples are.

    Attributes
    ----------
    files
        Two files; one, if it is split.
    by
        The column to split the file by.
    groups
        The two values of that column to compare; None if it has only two.
    columns, drop
        The columns to compare, and those to leave out; None for all that hold numbers.
    reading
        How the files are to be read.
    """

    files: tuple[Path, ...]
    by: str | None
    groups: tuple[str, ...] | None
    columns: tuple[str, ...] | None
    drop: tuple[str, ...] | None
    reading: Reading

    def read(self, nan_policy: Literal["raise", "omit"], *, several: bool = False) -> Given:
        """Read the tables; a cell without a number where one is needed is refused, or left out with a note.

        Parameters
        ----------
        nan_policy
            Which of the two.
        several
            Whether there may be more than two groups.
        """
        given = {"by": self.by, "columns": self.columns, "drop": self.drop}
        choice: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return self._two(choice, nan_policy) if self.by is None else self._split(choice, nan_policy, several)

    def _two(self, choice: dict[str, Any], nan_policy: Literal["raise", "omit"]) -> Given:
        """Two files."""
        from twosample.files.table import read_table

        _check_two(self.files, self.groups)
        x, y = (read_table(path, self.reading) for path in self.files)
        same = self.files[0].name == self.files[1].name
        first, second = (str(path) if same else path.name for path in self.files)
        with refusals((first, second)):
            used = _used([x.frame, y.frame], Choice.of(**choice))
        notes = tuple(note for table in (x, y) for note in table.check(used, nan_policy))
        return Given(x.frame, y.frame, choice, (first, second), notes)

    def _split(self, choice: dict[str, Any], nan_policy: Literal["raise", "omit"], several: bool) -> Given:
        """One file that a column splits."""
        from twosample.files.table import read_table

        assert self.by is not None
        if len(self.files) != 1:
            raise InputError(f"--by: needs one file, not {len(self.files)}")
        table = read_table(self.files[0], self.reading)
        with refusals((str(self.files[0]),)):
            pair = Choice.of(self.by, self.groups).groups
            frame = _with_labels(table, self.by)
            labels = row_labels(frame, self.by)
            many = several and pair is None and len(labels.counts) > 2
            names = ("", "") if many else labels.two(pair)
            used = _used([frame], Choice.of(**choice))
        if pair is not None:
            choice["groups"] = pair
        rows = _flags(frame.height, [labels.rows(group) for group in (labels.counts if many else names)])
        notes = table.check(used, nan_policy, rows)
        return Given(frame, None, choice, names, notes, len(labels.counts) if many else 2)

    def read_one(
        self, nan_policy: Literal["raise", "omit"], columns: tuple[str, ...] | None = None
    ) -> tuple[pl.DataFrame, tuple[str, ...]]:
        """Read the one file; returns also what was said of its cells.

        Parameters
        ----------
        nan_policy
            As in `read`.
        columns
            The columns that are used; None for those of the source.
        """
        from twosample.files.table import read_table

        table = read_table(self.files[0], self.reading)
        choice = Choice.of(columns=self.columns, drop=self.drop)
        if columns is not None:
            choice = Choice(columns=tuple(column for column in columns if column in table.frame.columns))
        with refusals((str(self.files[0]),)):
            used = _used([table.frame], choice)
        return table.frame, table.check(used, nan_policy)


def two_tables(given: Given) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two tables of numbers with the same columns, for what takes nothing else."""
    import polars as pl

    two = read_two(given.x, given.y, Choice.of(**given.choice))
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


def _with_labels(table: FileTable, by: str) -> pl.DataFrame:
    """The table, with every label as the file has it, also where most of them are numbers."""
    return table.frame.with_columns(table.labels(by)) if by in table.texts else table.frame


def _used(frames: list[pl.DataFrame], choice: Choice) -> list[str]:
    """The columns that hold numbers, or dates, in all tables and are to be compared."""
    import polars as pl

    usable = [
        {
            column
            for column, kind in frame.schema.items()
            if column and (kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean)
        }
        for frame in frames
    ]
    present = tuple(frames[0].columns)
    return [present[place] for place in choice.places(present, "x") if all(present[place] in one for one in usable)]


def _flags(n: int, places: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """True at the places."""
    import numpy as np

    flags = np.zeros(n, dtype=bool)
    flags[np.concatenate(places)] = True
    return flags
