"""Parquet files in blocks of rows, for data larger than memory; other files whole, as one block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from twosample.common.frames import needed
from twosample.data.files.dialect import quoted
from twosample.data.files.formats import check_schema, damage, parquet_parts
from twosample.data.files.table import read_table
from twosample.errors import InputError

__all__ = ["Parquet", "blocks_of"]

# Rows and values of a block; fewer, and parts of a file would be decompressed more than once.
_MOST_ROWS = 1 << 17
_MOST_VALUES = 1 << 21


_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Parquet:
    """A Parquet file, or parts of one table in several."""

    name: str
    parts: tuple[tuple[Path, int, _Stamp], ...]  # the files, how many rows each has, and what tells that it changed
    schema: pl.Schema

    @classmethod
    def at(cls, path: Path) -> Parquet | None:
        """What a path, a folder or a pattern means, without its rows; None where that is another kind of file."""
        paths = parquet_parts(path)
        if paths is None:
            return None
        parts: list[tuple[Path, int, _Stamp]] = []
        schema = first = pl.Schema()
        for part in paths:
            with damage(part, str(path)):
                stamp = _stamp(part)
                rows = pl.scan_parquet(part, glob=False)
                schema, height = rows.collect_schema(), int(rows.select(pl.len()).collect().item())
            if parts:
                check_schema(schema, first, part, paths[0], str(path))
            else:
                first = schema
            parts.append((part, height, stamp))
        return cls(str(path), tuple(parts), first)

    @property
    def height(self) -> int:
        """How many rows it has."""
        return sum(height for _, height, _ in self.parts)

    def groups(self, column: str) -> pl.DataFrame:
        """The values of a column in the order of their first rows, and in a second column how many rows each has."""
        rows = pl.scan_parquet([part for part, *_ in self.parts], glob=False)
        with damage(self.parts[0][0], self.name):
            return rows.group_by(column, maintain_order=True).agg(pl.len().alias(f"rows of {column}")).collect()

    def blocks(self, columns: tuple[str, ...] | None = None) -> Iterator[pl.DataFrame]:
        """Its rows, of these columns or of all; refused where a file is not the one that it was at first."""
        names = needed(self.schema, columns)
        size = max(1, min(_MOST_ROWS, _MOST_VALUES // max(len(names), 1)))
        for part, height, stamp in self.parts:
            rows = pl.scan_parquet(part, glob=False).select(names)
            for start in range(0, height, size):
                _check(part, stamp)
                with damage(part, self.name):
                    frame = rows.slice(start, size).collect()
                _check(part, stamp)
                yield frame


def _stamp(path: Path) -> _Stamp:
    """Which file a path means, and in which state: its rows are read more than once."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _check(path: Path, stamp: _Stamp) -> None:
    if _stamp(path) != stamp:
        raise InputError(f"{quoted(path)} has changed while it was read", remedy="try again once it is written")


def blocks_of(path: Path) -> Iterator[pl.DataFrame]:
    """The rows of a file, or of a folder or pattern of Parquet parts, in blocks."""
    table = Parquet.at(path)
    if table is None:
        yield read_table(path).frame
    else:
        yield from table.blocks()
