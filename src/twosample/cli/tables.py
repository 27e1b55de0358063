"""Reads files into the tables to compare: two files, or one file that a column splits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from twosample.cli.messages import refusals
from twosample.data import Choice
from twosample.data.two_tables import read_two
from twosample.errors import DuplicateRowsWarning, InputError, warn
from twosample.files.reading import Reading, quoted
from twosample.tables import Given, split_table, two_files

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Source", "two_tables"]


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
        from twosample.files.table import read_table

        said: dict[str, Any] = {"columns": self.columns, "drop": self.drop, "nan_policy": nan_policy}
        if self.by is not None:
            if len(self.files) != 1:
                raise InputError(f"--by: needs one file, not {len(self.files)}")
            table = read_table(self.files[0], self.reading)
            with refusals((str(self.files[0]),)):
                return split_table(table, self.by, self.groups, several=several, **said)
        _check_two(self.files, self.groups)
        x, y = (read_table(path, self.reading) for path in self.files)
        same = self.files[0].name == self.files[1].name
        first, second = (str(path) if same else path.name for path in self.files)
        with refusals((first, second)):
            return two_files(x, y, (first, second), **said)


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
