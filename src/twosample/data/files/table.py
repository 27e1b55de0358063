"""A file as a typed table that knows where each of its cells stands in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from twosample.common.arrays import Flags
from twosample.common.words import count_in_words
from twosample.data.files.casting import sign_that_reads, typed
from twosample.data.files.dialect import Reading, quoted
from twosample.data.files.formats import read_grid
from twosample.data.files.header import Grid, check_header
from twosample.errors import DroppedDataWarning, InputError, Setting, warn

__all__ = ["FileTable", "read_table"]

_SHOWN_CELLS = 5
_LONGEST_SHOWN = 40
_BAD, _INFINITE, _MISSING = 1, 2, 3


@dataclass(frozen=True, eq=False)
class FileTable:
    """A file as a typed table."""

    name: str
    frame: pl.DataFrame  # numbers, booleans, dates, times and text; null where a cell is missing or cannot be read
    texts: Mapping[str, pl.Series]  # cells as the file has them, of columns with unreadable ones or dates or times
    grid: Grid  # where the rows stand in the file

    def some(self, rows: slice) -> FileTable:
        """Some of the rows."""
        texts = {name: text[rows] for name, text in self.texts.items()}
        return replace(
            self, frame=self.frame[rows], texts=texts, grid=replace(self.grid, numbers=self.grid.numbers[rows])
        )

    def labels(self, column: str) -> pl.Series:
        """A column as text, with every cell as the file has it; null where it is missing."""
        return self.texts[column] if column in self.texts else self.frame[column].cast(pl.String)

    def place(self, row: int) -> str:
        """Where a row stands in the file, in words."""
        words = f"{self.grid.unit} {self.grid.numbers[row]}"
        for part, height in self.grid.parts:
            if row < height:
                return f"{words} of {quoted(part)}"
            row -= height
        return words

    def check(
        self, columns: Sequence[str], nan_policy: Literal["raise", "omit"], rows: ArrayLike | None = None
    ) -> tuple[str, ...]:
        """Refuse cells without a number in the columns that are used, or warn of them and return that note.

        Only the rows with a True among `rows` are used, if these are given. The refusal names file, line, column and
        cell, and what to do.
        """
        kept = np.ones(self.frame.height, bool) if rows is None else np.asarray(rows, bool)
        names, kinds = self._faults(columns, kept)
        counts = {kind: int(np.count_nonzero(kinds == kind)) for kind in (_BAD, _INFINITE, _MISSING)}
        if not any(counts.values()):
            return ()
        if nan_policy == "raise":
            kind = next(kind for kind, count in counts.items() if count)
            row, at = np.argwhere(kinds == kind)[0]
            raise self._refusal(int(row), names[at], kind, counts)
        places = np.argwhere(kinds)
        shown = ", ".join(self._in_words(int(row), names[at]) for row, at in places[:_SHOWN_CELLS])
        more = ", ..." if len(places) > _SHOWN_CELLS else ""
        what = " and ".join(
            f"{count_in_words(count, 'cell')} that {'is' if count == 1 else 'are'} {word}"
            for count, word in (
                (counts[_BAD], "not a number" if counts[_BAD] == 1 else "not numbers"),
                (counts[_INFINITE], "infinite"),
                (counts[_MISSING], "missing"),
            )
            if count
        )
        note = f"{quoted(self.name)}: left out {what}: {shown}{more}."
        warn(DroppedDataWarning(note, argument="nan_policy"))
        return (note,)

    def _refusal(self, row: int, column: str, kind: int, counts: Mapping[int, int]) -> InputError:
        place = f"{quoted(self.name)}, {self.place(row)}, column {column!r}"
        leave_out = (f", or leave column {column!r} out with ", Setting("drop", [column]))
        bad, missing = counts[_BAD], counts[_MISSING]
        if kind == _MISSING:
            all_in_all = f" ({missing} missing cells in all)" if missing > 1 else ""
            return InputError(
                f"{place}: the cell is missing{all_in_all}",
                argument="nan_policy",
                remedy=("fill it in, pass ", Setting("nan_policy", "omit"), *leave_out),
            )
        if kind == _INFINITE:
            all_in_all = f" ({counts[kind]} such cells in all)" if counts[kind] > 1 else ""
            return InputError(
                f"{place}: {self.frame[column][row]} is not a finite number{all_in_all}",
                argument="nan_policy",
                remedy=("fix the cell, pass ", Setting("nan_policy", "omit"), *leave_out),
            )
        text = self.texts[column][row]
        others = f"{bad} such cells in all" if bad > 1 else ""
        others += f"{', ' * bool(others)}{missing} missing" if missing else ""
        setting = sign_that_reads(text)
        read_it = ("read it as missing with ", Setting("missing", text), " and ")
        if setting is not None:
            read_it = ("pass ", setting, "; or ")
        wanted = "date or time" if self.frame.schema[column].is_temporal() else "number"
        return InputError(
            f"{place}: {_short(text)} is not a {wanted}{f' ({others})' if others else ''}",
            argument="missing",
            remedy=("fix the cell; or ", *read_it, "pass ", Setting("nan_policy", "omit"), *leave_out),
        )

    def _in_words(self, row: int, column: str) -> str:
        text = self.texts[column][row] if column in self.texts else None
        value = self.frame[column][row]
        shown = _short(text) if text is not None else "missing" if value is None or value != value else str(value)
        return f"{self.place(row)}, column {column!r} ({shown})"

    def _faults(self, columns: Sequence[str], rows: Flags) -> tuple[list[str], NDArray[np.int8]]:
        """The columns that lack numbers, and for each row of theirs what is wrong with its cell (0 for nothing)."""
        by_name = dict(zip(self.frame.columns, self.frame.get_columns(), strict=True))
        lacking = [
            column
            for column in map(by_name.__getitem__, columns)
            if column.null_count() or (column.dtype.is_float() and not np.isfinite(float(column.sum())))  # fast
        ]
        kinds = np.zeros((self.frame.height, len(lacking)), np.int8)
        for at, column in enumerate(lacking):
            absent = column.is_null().to_numpy()
            if column.dtype.is_float():
                absent = absent | column.is_nan().fill_null(False).to_numpy()
                kinds[column.is_infinite().fill_null(False).to_numpy(), at] = _INFINITE
            kinds[absent, at] = _MISSING
            if column.name in self.texts:
                kinds[absent & self.texts[column.name].is_not_null().to_numpy(), at] = _BAD
        kinds[~rows] = 0
        return [column.name for column in lacking], kinds


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")


def read_table(source: Path | str | tuple[str, bytes], how: Reading | None = None) -> FileTable:
    """Read a file as a typed table; where it cannot be read, the refusal names the line if there is one.

    The source is the path of a file, "-" for standard input, a folder or a pattern (``parts/*.parquet``) of Parquet
    files whose rows belong together, or a name and the bytes of a file. Text is in UTF-8, UTF-16 or Windows-1252, with
    tabs, semicolons, bars, commas or blanks between cells; others are Parquet, Arrow (Feather) and Excel, which needs
    the extra `excel`. Any may be compressed with gzip, Zstandard, zip, bzip2 or xz. What a file is, its first bytes
    tell.
    """
    how = how or Reading()
    shown = quoted(source[0] if isinstance(source, tuple) else source)
    try:
        name, grid = read_grid(source, how)
        frame, texts = typed(grid.frame, how, grid.decimal, grid.has_types)
    except InputError:
        raise
    except (pl.exceptions.PolarsError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(f"{shown} cannot be read as a table: {reason}") from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror or error}") from None
    except pl.exceptions.PanicException:
        raise InputError(f"{shown} cannot be read as a table: it is damaged, or memory is short") from None
    if frame.is_empty():
        raise InputError(f"{shown} has no rows")
    if how.header is None:
        check_header(grid.kind, grid.first, frame, name, f"{grid.unit} {grid.first_number}")
    return FileTable(name, frame, texts, replace(grid, frame=frame))
