"""A text file that grows: its rows as tables of a given number of rows each, as soon as these are written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from twosample.data.files.dialect import Reading, quoted
from twosample.data.files.table import FileTable, read_table
from twosample.errors import InputError

__all__ = ["Tail"]

# Seconds between looks, and bytes read at a time.
_PAUSE = 0.2
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Tail:
    """The rows of a text file, in batches; a row is a whole line."""

    path: Path
    how: Reading
    batch: int  # rows in a table
    skip: int = 0  # how many rows at the start are left out

    def tables(self) -> Iterator[FileTable]:
        """Tables of `batch` rows each, for ever; waits for lines that are not there yet."""
        header: bytes | None = None
        how, skip = self.how, self.skip
        rows: list[tuple[int, bytes]] = []
        for number, line in self._lines():
            if not line.strip() or (how.comment is not None and line.lstrip().startswith(how.comment.encode())):
                continue
            rows.append((number, line))
            if header is None:
                if len(rows) <= self.batch:  # there may be names among them
                    continue
                header, how = self._header([row for _, row in rows], how)
                rows = rows[1:] if header else rows
            passed = min(skip, len(rows))
            skip, rows = skip - passed, rows[passed:]
            while len(rows) >= self.batch:
                yield self._table(header, rows[: self.batch], how)
                rows = rows[self.batch :]

    def _header(self, lines: list[bytes], how: Reading) -> tuple[bytes, Reading]:
        """The first line if it holds names, else nothing; and how the rest is to be read."""
        has_names = read_table((str(self.path), b"".join(lines)), how).frame.height == len(lines) - 1
        return lines[0] if has_names else b"", replace(how, header=has_names)

    def _table(self, header: bytes, rows: list[tuple[int, bytes]], how: Reading) -> FileTable:
        numbers = [number for number, _ in rows]
        name = f"{self.path} from line {numbers[0]}"
        table = read_table((name, header + b"".join(line for _, line in rows)), how)
        if table.frame.height != len(rows):
            raise InputError(f"{quoted(name)} has cells of several lines, which cannot be followed")
        return replace(table, name=str(self.path), grid=replace(table.grid, numbers=np.array(numbers)))

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines and their numbers, for ever."""
        number, rest = 0, b""
        with self.path.open("rb") as file:
            while True:
                chunk = file.read(_CHUNK)
                if not chunk:
                    if self.path.stat().st_size < file.tell():
                        raise InputError(f"{quoted(self.path)} is shorter than it was", remedy="follow the new file")
                    time.sleep(_PAUSE)
                    continue
                if b"\0" in chunk:
                    raise InputError(f"{quoted(self.path)} cannot be followed: it is no text in UTF-8 or the like")
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    number += 1
                    yield number, line + b"\n"
