"""Bytes of a text file as UTF-8, whatever their encoding."""

from __future__ import annotations

import codecs

from twosample.data.files.dialect import quoted
from twosample.errors import InputError, ReadingWarning, Setting, warn

__all__ = ["as_utf8"]

_SNIFFED_BYTES = 1 << 16
# UTF-32 first: its mark in little-endian order begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def as_utf8(content: bytes, name: str, encoding: str | None) -> bytes:
    r"""The content in UTF-8, without a byte order mark.

    Without an encoding, a byte order mark or the places of NUL bytes tell UTF-16; what is not UTF-8 is read as
    Windows-1252 (a superset of printable Latin-1), with a warning, as nothing in such a file says which encoding it is.
    """
    mark, told = next(((mark, kind) for mark, kind in _MARKS if content.startswith(mark)), (b"", None))
    if encoding is None and told is not None:
        content, encoding = content[len(mark) :], told
    if encoding is None:
        encoding = _wide(content)
    if encoding is not None:
        text = _decoded(content, name, encoding).removeprefix("\ufeff")
        content = text.encode("utf-8", errors="replace")
        return _without_nul(content, name)
    _without_nul(content, name)
    if content.isascii():
        return content
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        for guess in ("cp1252", "latin-1"):
            try:
                text = content.decode(guess)
            except UnicodeDecodeError:
                continue
            warn(
                ReadingWarning(
                    f"{quoted(name)} is not in UTF-8 (line {line}) and was read as {guess}",
                    argument="encoding",
                    remedy=("if letters look wrong pass its encoding, such as ", Setting("encoding", "cp1250")),
                )
            )
            return text.encode("utf-8")
    return content


def _decoded(content: bytes, name: str, encoding: str) -> str:
    try:
        text = codecs.decode(content, encoding)
    except (UnicodeDecodeError, LookupError, ValueError) as error:
        place = ""
        if isinstance(error, UnicodeDecodeError):
            before = content[: error.start].decode(encoding, errors="replace")
            place = f" (line {before.count(chr(10)) + 1})"
        raise InputError(
            f"{quoted(name)} is not text in the encoding {encoding}{place}",
            argument="encoding",
            remedy=("pass another one, such as ", Setting("encoding", "cp1252")),
        ) from None
    assert isinstance(text, str)
    return text


def _wide(content: bytes) -> str | None:
    """UTF-16 without a byte order mark: every other byte of plain text is NUL, and no other byte is."""
    start = content[:_SNIFFED_BYTES]
    if len(content) % 2 or len(start) < 4:
        return None
    even, odd = start[::2], start[1::2]
    for filled, empty, encoding in ((even, odd, "utf-16-le"), (odd, even, "utf-16-be")):
        if b"\0" not in filled and empty.count(b"\0") > 0.7 * len(empty):
            return encoding
    return None


def _without_nul(content: bytes, name: str) -> bytes:
    place = content.find(b"\0")
    if place >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise InputError(
            f"{quoted(name)} is not text: line {line} holds a NUL byte",
            remedy="pass a text, Parquet, Arrow or Excel file, or its encoding",
        )
    return content
