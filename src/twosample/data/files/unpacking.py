"""Compressed files, unpacked piece by piece, so that no more is unpacked than the limit allows."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import PurePath
from typing import IO

import polars as pl

from twosample.common.free_memory import available_memory
from twosample.data.choosing import some
from twosample.data.files.dialect import Reading, quoted
from twosample.errors import InputError, Setting

__all__ = ["check_members", "check_rows", "limit_of", "unpacked", "unpacked_once"]

_ZIP = b"PK\x03\x04"
_GZIP, _BZIP, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
DEEPEST = 3
_MEGABYTE = 1_000_000
# Bytes; a limit that nobody has set is not smaller.
_LEAST_LIMIT = 1_000 * _MEGABYTE
_PIECE = 1 << 20
# Of Zstandard so many bytes at a time become up to 16 MiB: a block of 128 KiB takes 4 bytes.
_ZSTD_PIECE = 512
# Bytes that a value takes at least: of text, of which short pieces are within the value, and of other kinds.
_TEXT_BYTES, _VALUE_BYTES = 16, 8


def limit_of(how: Reading) -> int:
    """How many bytes a file may be unpacked to: as told, or as much as there is memory."""
    if how.unpacked_limit is not None:
        return round(how.unpacked_limit * _MEGABYTE)
    return max(_LEAST_LIMIT, available_memory())


def _too_large(name: str, limit: int) -> InputError:
    return InputError(
        f"{quoted(name)} unpacks to more than {limit / _MEGABYTE:,.10g} MB, which is the limit",
        argument="unpacked_limit",
        remedy=("if it is what you expect, allow more with ", Setting("unpacked_limit", -(-2 * limit // _MEGABYTE))),
    )


def unpacked(content: bytes, name: str, how: Reading) -> tuple[str, bytes]:
    """The content of a file, with its name, out of all that it is packed in."""
    for _ in range(DEEPEST):
        inner, found = unpacked_once(content, name, how)
        if found is None:
            break
        name, content = inner, found
    return name, content


def unpacked_once(content: bytes, name: str, how: Reading) -> tuple[str, bytes | None]:
    """What a compressed file holds, with its name; None if it is not compressed."""
    suffix = PurePath(name).suffix
    inner = name[: -len(suffix)] if suffix.lower() in (".gz", ".zst", ".bz2", ".xz") else name
    try:
        for start, pieces in _COMPRESSED.items():
            if content.startswith(start) and (start != _BZIP or content[4:10] == b"1AY&SY"):
                return inner, _joined(pieces(content), name, limit_of(how))
        if content.startswith((_ZIP, b"PK\x05\x06")):
            return _from_zip(content, name, limit_of(how))
    except (EOFError, OSError, lzma.LZMAError, zipfile.BadZipFile, zlib.error, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{quoted(name)} cannot be unpacked: it is damaged, cut short or encrypted") from None
    return name, None


def _joined(pieces: Iterator[bytes], name: str, limit: int) -> bytes:
    """All pieces together; refused, and let go, as soon as they are more than the limit."""
    whole = io.BytesIO()
    for piece in pieces:
        if whole.tell() + len(piece) > limit:
            whole.close()  # the error would keep it alive
            raise _too_large(name, limit)
        whole.write(piece)
    return whole.getvalue()


def _pieces(stream: IO[bytes] | io.BufferedIOBase) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(_PIECE):
            yield piece


def _from_zip(content: bytes, name: str, limit: int) -> tuple[str, bytes]:
    """The only file of an archive, with its name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [
            member
            for member in archive.namelist()
            if not member.endswith("/")
            and not member.startswith("__MACOSX/")
            and not PurePath(member).name.startswith(".")
        ]
        if len(members) != 1:
            shown = some(members) if members else "none"
            raise InputError(
                f"{quoted(name)} holds {len(members)} files, not one: {shown}", remedy="unpack it and pass the file"
            )
        return f"{name}/{members[0]}", _joined(_pieces(archive.open(members[0])), name, limit)


def _from_zstd(content: bytes) -> Iterator[bytes]:
    """The pieces of all frames, one after the other."""
    import zstandard

    frame = None
    for start in range(0, len(content), _ZSTD_PIECE):
        packed = content[start : start + _ZSTD_PIECE]
        while packed:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                yield frame.decompress(packed)
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
            packed = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError


def check_members(content: bytes, name: str, how: Reading) -> None:
    """Refuse a workbook, which is an archive, whose members together are larger than the limit when unpacked."""
    limit, total = limit_of(how), 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                for piece in _pieces(archive.open(member)):
                    total += len(piece)
                    if total > limit:
                        raise _too_large(name, limit)
    except (EOFError, OSError, zipfile.BadZipFile, zlib.error, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{quoted(name)} cannot be read as a workbook: it is damaged or encrypted") from None


def check_rows(rows: pl.LazyFrame, name: str, how: Reading) -> None:
    """Refuse a Parquet or Arrow file with more values, by what it says of itself, than the limit has room for.

    A few kilobytes can hold a billion equal values. What is damaged is refused where it is read.
    """
    limit, size = limit_of(how), 0
    with suppress(pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException):
        kinds = rows.collect_schema().dtypes()
        width = sum(_TEXT_BYTES if kind in (pl.String, pl.Binary) else _VALUE_BYTES for kind in kinds)
        size = int(rows.select(pl.len()).collect().item()) * width
    if size > limit:
        raise _too_large(name, limit)


_COMPRESSED: dict[bytes, Callable[[bytes], Iterator[bytes]]] = {
    _GZIP: lambda content: _pieces(gzip.GzipFile(fileobj=io.BytesIO(content))),
    _BZIP: lambda content: _pieces(bz2.BZ2File(io.BytesIO(content))),
    _XZ: lambda content: _pieces(lzma.LZMAFile(io.BytesIO(content))),
    _ZSTD: _from_zstd,
}
