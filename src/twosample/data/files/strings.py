"""Files of strings: one a line, or one a record of FASTA."""

from __future__ import annotations

from pathlib import Path, PurePath

from twosample.common.words import count_in_words
from twosample.data.files.dialect import Reading, quoted
from twosample.data.files.encodings import as_utf8
from twosample.data.files.formats import standard_input
from twosample.data.files.unpacking import unpacked
from twosample.errors import InputError, ReadingWarning, warn

__all__ = ["read_strings"]

_FASTA = (".fasta", ".fa", ".fna", ".faa", ".ffn", ".frn")


def read_strings(source: Path | str | tuple[str, bytes], how: Reading | None = None) -> list[str]:
    r"""Read the strings of a text file, packed or not; "-" is standard input.

    A file of FASTA, by its name, has one string a record: its lines without the one that begins with ">". Any other has
    one a line. Blank lines are left out, with a warning, and so are those that begin with the sign of comments.
    """
    how = Reading() if how is None else how
    if isinstance(source, tuple):
        name, content = source
    elif str(source) == "-":
        name, content = "standard input", standard_input()
    else:
        path = Path(source)
        if not path.exists():
            raise InputError(f"there is no file {quoted(path)}")
        name, content = str(path), path.read_bytes()
    name, content = unpacked(content, name, how)
    lines = as_utf8(content, name, how.encoding).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if how.comment is not None:
        lines = [line for line in lines if not line.startswith(how.comment)]
    strings = _records(lines, name) if PurePath(name).suffix.lower() in _FASTA else _lines(lines, name)
    if not strings:
        raise InputError(f"{quoted(name)} is empty")
    return strings


def _lines(lines: list[str], name: str) -> list[str]:
    found = [line for line in lines if line.strip()]
    blank = len(lines) - len(found) - (not lines[-1])  # the end of the last line starts no other
    if blank > 0 and found:
        warn(ReadingWarning(f"{quoted(name)} has {count_in_words(blank, 'blank line')}, left out"))
    return found


def _records(lines: list[str], name: str) -> list[str]:
    records: list[list[str]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            records.append([])
        elif line.strip():
            if not records:
                raise InputError(
                    f"{quoted(name)} is not FASTA: line {number} comes before the first line that begins with '>'",
                    remedy="name it .txt if it has one string a line",
                )
            records[-1].append("".join(line.split()))
    strings = ["".join(parts) for parts in records]
    empty = sum(not one for one in strings)
    if empty:
        warn(ReadingWarning(f"{quoted(name)} has {count_in_words(empty, 'record')} without a sequence, left out"))
    return [one for one in strings if one]
