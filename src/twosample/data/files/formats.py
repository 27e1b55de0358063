"""Kinds of files, told by their first bytes: compressed ones are unpacked, tables with types read, the rest is text."""

from __future__ import annotations

import glob
import io
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

import numpy as np
import polars as pl

from twosample.data.files.dialect import Reading, quoted
from twosample.data.files.header import Grid, under_header
from twosample.data.files.text import read_text
from twosample.data.files.unpacking import DEEPEST, check_members, check_rows, unpacked_once
from twosample.errors import InputError, MissingExtraError, ReadingWarning, warn

__all__ = ["check_schema", "damage", "parquet_parts", "read_grid", "standard_input"]

_PARQUET, _ARROW, _ARROW_STREAM, _FEATHER_1 = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_TYPED_SUFFIXES = {
    ".parquet": "Parquet", ".pq": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow",
    ".xlsx": "Excel", ".xls": "Excel", ".ods": "OpenDocument", ".gz": "gzip", ".zip": "zip", ".zst": "Zstandard",
}  # fmt: skip
_PARQUET_SUFFIXES = (".parquet", ".pq")


def read_grid(source: Path | str | tuple[str, bytes], how: Reading) -> tuple[str, Grid]:
    """The rows of a file, a folder or pattern of Parquet parts, or bytes, and their name; "-" is standard input."""
    if isinstance(source, tuple):
        return source[0], _from_bytes(source[1], source[0], how)
    path = Path(source)
    name = str(path)
    if name == "-":
        return "standard input", _from_bytes(standard_input(), "standard input", how)
    parts = parquet_parts(path)
    for part in parts or ():
        check_rows(pl.scan_parquet(part, glob=False), str(part), how)
    if parts == [path]:
        return name, _rows(pl.read_parquet(path, glob=False))
    if parts is not None:
        return name, _parts(parts, name)
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(_ARROW))
        if start == _ARROW:
            check_rows(pl.scan_ipc(path), name, how)
            return name, _rows(pl.read_ipc(path))
    return name, _from_bytes(path.read_bytes(), name, how)


def standard_input() -> bytes:
    """All of it; refused where it is closed."""
    if sys.stdin is None:
        raise InputError("standard input is closed", remedy="name a file")
    return sys.stdin.buffer.read()


def parquet_parts(path: Path) -> list[Path] | None:
    """The Parquet files that a path means: itself, those in a folder or of a pattern; None where it is another file."""
    name = str(path)
    if path.is_dir():
        parts = sorted(
            part
            for part in path.rglob("*")
            if part.suffix.lower() in _PARQUET_SUFFIXES
            and part.is_file()
            and not any(piece.startswith((".", "_")) for piece in part.relative_to(path).parts)
        )
        if not parts:
            raise InputError(f"{quoted(name)} is a folder without Parquet files", remedy="pass a file in it")
        return parts
    if not path.exists():
        if glob.has_magic(name):
            return _pattern(name)
        raise InputError(f"there is no file {quoted(name)}")
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return [path] if file.read(len(_PARQUET)) == _PARQUET else None


def _from_bytes(content: bytes, name: str, how: Reading, depth: int = 0) -> Grid:
    if not content:
        raise InputError(f"{quoted(name)} is empty")
    if content.startswith(_PARQUET):
        check_rows(pl.scan_parquet(io.BytesIO(content)), name, how)
        return _rows(pl.read_parquet(content))
    if content.startswith(_ARROW):
        check_rows(pl.scan_ipc(io.BytesIO(content)), name, how)
        return _rows(pl.read_ipc(io.BytesIO(content)))
    if content.startswith(_ARROW_STREAM):
        return _rows(pl.read_ipc_stream(io.BytesIO(content)))
    if content.startswith(_FEATHER_1):
        raise InputError(
            f"{quoted(name)} is of the old Feather version 1", remedy="save it as version 2, or as Parquet"
        )
    if content.startswith(_OLE) or (content.startswith(_ZIP) and _is_workbook(content)):
        if content.startswith(_ZIP):
            check_members(content, name, how)
        return _workbook(content, name, how)
    inner, unpacked = unpacked_once(content, name, how)
    if unpacked is not None:
        if depth == DEEPEST:
            raise InputError(f"{quoted(name)} is compressed more than {DEEPEST} times")
        return _from_bytes(unpacked, inner, how, depth + 1)
    kind = _TYPED_SUFFIXES.get(PurePath(name).suffix.lower())
    if kind is not None:
        raise InputError(f"{quoted(name)} cannot be read: it is not a {kind} file, or damaged")
    return read_text(content, name, how)


def _rows(frame: pl.DataFrame) -> Grid:
    return Grid(frame, np.arange(1, frame.height + 1), has_types=True)


def _pattern(name: str) -> list[Path]:
    parts = [Path(part) for part in sorted(glob.glob(name, recursive=True))]
    if not parts:
        raise InputError(f"there is no file {quoted(name)}: nothing fits the pattern")
    other = next((part for part in parts if part.suffix.lower() not in _PARQUET_SUFFIXES), None)
    if other is not None:
        raise InputError(
            f"{quoted(name)}: {quoted(other)} is not a Parquet file", remedy="a pattern is for parts in Parquet files"
        )
    return parts


def _parts(paths: list[Path], name: str) -> Grid:
    frames: list[pl.DataFrame] = []
    for path in paths:
        with damage(path, name):
            frame = pl.read_parquet(path, glob=False)
        if frames:
            check_schema(frame.schema, frames[0].schema, path, paths[0], name)
        frames.append(frame)
    numbers = np.concatenate([np.arange(1, frame.height + 1) for frame in frames])
    parts = tuple((str(path), frame.height) for path, frame in zip(paths, frames, strict=True))
    return Grid(pl.concat(frames), numbers, parts=parts, has_types=True)


@contextmanager
def damage(path: Path, name: str) -> Iterator[None]:
    """Refuse a file, or a part of a table, that cannot be read, by its name."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException):
        if str(path) == name:
            raise InputError(f"{quoted(name)} cannot be read as a table: it is damaged") from None
        size = path.stat().st_size if path.exists() else 0
        why = "is damaged or not a Parquet file" if size else "is empty"
        raise InputError(f"{quoted(name)}: its part {quoted(path)} {why}", remedy="repair or remove it") from None


def check_schema(found: pl.Schema, first: pl.Schema, path: Path, first_path: Path, name: str) -> None:
    """Refuse a part whose columns differ from those of the first."""
    if found == first:
        return
    differing = [column for column in {**first, **found} if first.get(column) != found.get(column)]
    column = differing[0] if differing else next(iter(found))
    here, there = (str(schema.get(column, "absent")) for schema in (found, first))
    what = f"column {column!r} is {here}, not {there}" if differing else "the columns are in another order"
    raise InputError(
        f"{quoted(name)}: its part {quoted(path)} differs from {quoted(first_path)}: {what}",
        remedy="the parts must have the same columns of the same types",
    )


def _is_workbook(content: bytes) -> bool:
    try:
        names = set(zipfile.ZipFile(io.BytesIO(content)).namelist())
    except zipfile.BadZipFile:
        return False
    return "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= names


def _workbook(content: bytes, name: str, how: Reading) -> Grid:
    """The first sheet of a workbook, as text, so that one odd cell does not decide about its column."""
    try:
        import fastexcel
    except ImportError:
        raise MissingExtraError("reading Excel files", "fastexcel", "excel") from None

    try:
        book = fastexcel.read_excel(content)
        sheet = book.load_sheet(0, header_row=None, skip_rows=0, dtypes="string")
        cells = sheet.to_polars()
    except fastexcel.FastExcelError as error:
        raise InputError(f"{quoted(name)} cannot be read as a workbook: {str(error).splitlines()[0]}") from None
    if len(book.sheet_names) > 1:
        others = ", ".join(map(repr, book.sheet_names[1:5])) + (", ..." if len(book.sheet_names) > 5 else "")
        warn(
            ReadingWarning(
                f"{quoted(name)} has {len(book.sheet_names)} sheets; the first, {book.sheet_names[0]!r}, was read, and "
                f"not {others}",
                remedy="save another sheet as a file of its own to use it",
            )
        )
    filled = (
        ~cells.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy() if cells.width else np.array([])
    )
    places = np.flatnonzero(filled)
    if not len(places):
        raise InputError(f"{quoted(name)}: its sheet {book.sheet_names[0]!r} is empty")
    cells = cells.filter(pl.Series(filled))
    first = ["" if cell is None else cell.strip() for cell in cells.row(0)]
    return under_header(first, places + 1, lambda has_header: cells[int(has_header) :], name, how)
