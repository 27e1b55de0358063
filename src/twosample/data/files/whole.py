"""The rows of a file in batches, and a hash of those that were read, however they are cut into tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from twosample.data.files.bookmark import Bookmark
from twosample.data.files.dialect import Reading
from twosample.data.files.table import FileTable, read_table

__all__ = ["RowHash", "WholeFile"]


class RowHash:
    """A running hash of rows in some columns: the values count, not how they are written."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.rows = 0
        self._columns = columns
        self._hash = hashlib.sha256()

    def add(self, table: FileTable) -> None:
        """Go on with the rows of a table."""
        codes = [_codes(table, name) for name in self._columns if name in table.frame.columns]
        if codes:
            self._hash.update(np.column_stack(codes).astype("<u8").tobytes())
        self.rows += table.frame.height

    def bookmark(self, path: Path, device: int, inode: int) -> Bookmark:
        """Where the file of these rows was read up to."""
        name = "standard input" if str(path) == "-" else str(path.absolute())
        return Bookmark(name, device, inode, self.rows, self._hash.hexdigest())

    def agrees_with(self, mark: Bookmark) -> bool:
        """Whether these are the rows that were read up to there."""
        return (self.rows, self._hash.hexdigest()) == (mark.rows, mark.digest)


class WholeFile:
    """The rows of a file to its end, in batches, from a bookmark on; from the first one where that is of another file.

    Then `found` is False.
    """

    def __init__(
        self, path: Path, how: Reading, batch: int, columns: Sequence[str] = (), mark: Bookmark | None = None
    ) -> None:
        self._path, self._batch = path, batch
        self._table, self._read, self.found = read_table(path, how), RowHash(columns), mark is None
        if mark is not None:
            read = RowHash(columns)
            read.add(self._table.some(slice(mark.rows)))
            if read.agrees_with(mark):
                self._read, self.found = read, True

    def tables(self) -> Iterator[tuple[FileTable, Bookmark]]:
        """Tables of `batch` rows each, the last one of what is left, and where they end."""
        status = None if str(self._path) == "-" or not self._path.exists() else self._path.stat()
        device, inode = (0, 0) if status is None else (status.st_dev, status.st_ino)
        for first in range(self._read.rows, self._table.frame.height, self._batch):
            part = self._table.some(slice(first, first + self._batch))
            self._read.add(part)
            yield part, self._read.bookmark(self._path, device, inode)


def _codes(table: FileTable, name: str) -> NDArray[np.uint64]:
    """A number for each cell: the bits of its value, or a hash of text; a table of other rows may have other types."""
    column, texts = table.frame[name], table.texts.get(name)
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64)
    else:
        texts = table.labels(name)
        numbers = texts.cast(pl.Float64, strict=False)
    values: NDArray[Any] = numbers.fill_null(np.nan).to_numpy() + 0.0  # no zero is negative
    values[np.isnan(values)] = np.nan
    codes = values.astype("<f8").view("<u8")
    if texts is not None:
        others = (numbers.is_null() & texts.is_not_null()).to_numpy()
        codes[others] = [_code(text) for text in texts.filter(others)]
    return codes


def _code(text: str) -> int:
    plain = text.strip().lower()  # true and True are the same
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), "little")
