"""A text file that grows: its rows as tables of a given number of rows each, as soon as these are written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import FileIO
from itertools import chain, groupby, islice
from pathlib import Path

import numpy as np

from twosample.common.words import shortened
from twosample.data.files.bookmark import Bookmark
from twosample.data.files.dialect import MISSING, Reading, is_number, quoted
from twosample.data.files.following import Follower, Line, opened
from twosample.data.files.table import FileTable, read_table
from twosample.data.files.whole import RowHash
from twosample.errors import InputError, ReadingWarning, warn

__all__ = ["Tail"]

# Rows that are read anew at a time.
_AT_A_TIME = 10_000
# Of a line in a message.
_LONGEST = 60


class Tail:
    """The rows of a text file, in batches; a row is a whole line, and none is read twice.

    It goes on from a bookmark: where the file does not hold the rows that were read, because another one has taken its
    name, with the rest of that one first, if it is still in the same folder. Where that is not there either,
    `found` is False, and the rows are those from the first one.
    """

    def __init__(
        self, path: Path, how: Reading, batch: int, columns: Sequence[str] = (), mark: Bookmark | None = None
    ) -> None:
        self._path, self._how, self._batch, self._columns = path, how, batch, columns
        self._first = path  # where the rows begin
        self._known: os.stat_result | None = None  # of that file, where it has rows that were read
        self._read, self.found = RowHash(columns), mark is None
        if mark is not None:
            self._go_on(mark)

    def _go_on(self, mark: Bookmark) -> None:
        """Look for the file of the bookmark."""
        for candidate in (self._path, *_moved(self._path, mark)):
            with opened(candidate) as file:
                read, status = self._hashed(file, mark), os.fstat(file.fileno())
            if read.agrees_with(mark):
                self._first, self._known, self._read, self.found = candidate, status, read, True
                if candidate != self._path:
                    other = f"{quoted(self._path)} is another file than before"
                    warn(ReadingWarning(f"{other}; the rest of {quoted(candidate)} is read first"))
                return

    def _opened(self) -> FileIO:
        file = opened(self._first)
        if self._known is not None and not os.path.samestat(os.fstat(file.fileno()), self._known):
            file.close()
            raise InputError(f"{quoted(self._first)} was replaced at this moment", remedy="run the command again")
        return file

    def tables(self) -> Iterator[tuple[FileTable, Bookmark]]:
        """Tables of `batch` rows each and where they end, for ever; waits for lines that are not there yet."""
        rows, part, total = _Rows(self._path, self._how, self._batch), 0, self._read
        follower = Follower(self._path, self._opened(), self._how.comment)
        waiting = islice(rows.among(follower.lines()), total.rows, None)
        try:
            while True:
                lines = list(islice(waiting, self._batch))
                table, first = rows.table(lines), 0
                for number, group in groupby(lines, lambda line: line.part):
                    count = len(list(group))
                    if number != part:
                        part, total = number, RowHash(self._columns)
                    total.add(table.some(slice(first, first + count)))
                    first += count
                yield table, total.bookmark(self._path, lines[-1].device, lines[-1].inode)
        finally:
            follower.close()

    def _hashed(self, file: FileIO, mark: Bookmark) -> RowHash:
        """The hash of the rows of the file up to the bookmark, or of as many as there are."""
        found, rows = RowHash(self._columns), _Rows(self._path, self._how, self._batch)
        lines = islice(rows.among(Follower(self._path, file, self._how.comment).to_end()), mark.rows)
        with contextlib.suppress(InputError):  # then it is another file
            while part := list(islice(lines, _AT_A_TIME)):
                found.add(rows.table(part))
        return found


def _moved(path: Path, mark: Bookmark) -> Iterator[Path]:
    """The file of the bookmark, if it had this name and is there, in the same folder, under another one."""
    if not mark.inode or mark.name != str(path.absolute()):
        return
    for entry in os.scandir(path.absolute().parent):
        if entry.inode() == mark.inode and entry.is_file() and not entry.is_symlink():
            status = entry.stat()
            if status.st_dev == mark.device and not os.path.samestat(status, path.stat()):
                yield path.with_name(entry.name)


class _Rows:
    """Which lines are rows, and how they are read: each content may begin with the names of the columns."""

    def __init__(self, path: Path, how: Reading, batch: int) -> None:
        self._path, self._how, self._batch = path, how, batch
        self._header: bytes | None = None  # the line of names; empty where there is none, None as long as is not known
        self._example = b""  # the first row

    def among(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines that are rows; the first ones as soon as there are more than a batch has."""
        first: list[Line] = []
        part = -1
        for line in chain(lines, (None,)):
            if line is not None:
                first.append(line)
            if self._header is None and first:
                if line is not None and line.part == first[0].part and len(first) <= self._batch:
                    continue
                self._look_at([one.content for one in first])
            for one in first:
                if one.part == part or not self._has_names(one):
                    yield one
                part = one.part
            first = []

    def table(self, lines: list[Line]) -> FileTable:
        """Rows as a table."""
        numbers = [line.number for line in lines]
        name = f"{self._path} from line {numbers[0]}"
        how = replace(self._how, header=bool(self._header))
        table = read_table((name, (self._header or b"") + b"".join(line.content for line in lines)), how)
        if table.frame.height != len(lines):
            raise InputError(f"{quoted(name)} has cells of several lines, which cannot be followed")
        return replace(table, name=str(self._path), grid=replace(table.grid, numbers=np.array(numbers)))

    def _look_at(self, lines: list[bytes]) -> None:
        """Find out whether the first line holds names."""
        has_names = read_table((str(self._path), b"".join(lines)), self._how).frame.height == len(lines) - 1
        self._header, self._example = lines[0] if has_names else b"", lines[has_names]

    def _has_names(self, line: Line) -> bool:
        """Whether the first line of a content repeats the names; other names are refused."""
        if self._header and line.content.strip() == self._header.strip():
            return True
        if self._all_words(line.content) and not self._all_words(self._example):
            was = f"the names were {_shown(self._header)}" if self._header else "there were no names"
            raise InputError(
                f"{quoted(self._path)} was replaced, and begins with {_shown(line.content)}, where {was}",
                remedy="follow files with the same columns",
            )
        return False

    def _all_words(self, line: bytes) -> bool:
        grid = read_table((str(self._path), line), replace(self._how, header=False)).grid
        return not any(cell in MISSING or is_number(cell, grid.decimal) for cell in grid.first)


def _shown(line: bytes) -> str:
    return quoted(shortened(line.decode(errors="replace").strip(), _LONGEST))
