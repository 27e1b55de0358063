"""Text files as grids of cells: what stands between cells, what the decimal sign is, and the names of the columns."""

from __future__ import annotations

import re
from functools import partial

import polars as pl

from twosample.data.files.dialect import MISSING, Reading, quoted
from twosample.data.files.encodings import as_utf8
from twosample.data.files.header import Grid, under_header
from twosample.data.files.lines import COMMENT, Lines
from twosample.errors import InputError, Setting

__all__ = ["read_text"]

_SNIFFED_LINES = 100
_SNIFFED_BYTES = 1 << 20
_INFERRED_ROWS = 1000
_NUMBER_AND_BLANK = re.compile(r"\d,\d+[ \t]+[-+]?\d+,\d")


def read_text(content: bytes, name: str, how: Reading) -> Grid:
    r"""Read text: its cells are numbers where all of a column is numbers, else text."""
    content = as_utf8(content, name, how.encoding)
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    if not content.strip():
        raise InputError(f"{quoted(name)} is empty")
    if how.comment is not None:
        pattern = rb"(?m)^[ \t]*" + re.escape(how.comment.encode()) + rb"[^\n]*$"
        content = re.sub(pattern, COMMENT, content)
    sample = _sample(content)
    delimiter = how.delimiter or _delimiter(sample, how)
    if delimiter == " ":
        content, delimiter = _without_runs(content), "\t"
        sample = _sample(content)
    decimal = how.decimal or _decimal(sample, delimiter, name, how)
    lines = Lines.of(content, delimiter, name)
    if not len(lines.starts):
        raise InputError(f"{quoted(name)} has no lines but comments", argument="comment")
    if how.comment is None:
        lines.check_comments(is_named=bool(how.header))
    rows = partial(_frame, lines, decimal, how)
    return under_header(lines.cells(0), lines.numbers, rows, name, how, decimal=decimal, unit="line")


def _sample(content: bytes) -> list[str]:
    """The first lines that hold something, without what is in quotes."""
    lines: list[bytes] = []
    start = 0
    while start < len(content) and (len(lines) < 2 or (len(lines) < _SNIFFED_LINES and start < _SNIFFED_BYTES)):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        lines.append(content[start:end])
        start = end + 1
    text = re.sub(r'"[^"]*"', '""', b"\n".join(lines).decode("utf-8", errors="replace"))
    return [line.strip("\r") for line in text.split("\n") if line.strip() and not line.lstrip().startswith(("#", "\0"))]


def _delimiter(sample: list[str], how: Reading) -> str:
    """The sign between cells; " " for runs of blanks."""
    signs = [sign for sign in ("\t", ";", "|", ",") if sign != how.decimal]
    if not sample:
        return signs[-1]
    if how.decimal == "," and any('"",' in line or ',""' in line for line in sample):
        signs.append(",")  # numbers with a comma are in quotes
    if "," in signs and not any(sign in sample[0] for sign in "\t;|") and any(map(_NUMBER_AND_BLANK.search, sample)):
        return " "
    return _common_sign(signs, sample) or _blanks(sample) or _common_sign(signs, sample[1:2]) or signs[-1]


def _common_sign(signs: list[str], sample: list[str]) -> str | None:
    """The first sign that every line has equally often, then that the first line has."""
    in_first = [sign for sign in signs if sample and sign in sample[0]]
    alike = [sign for sign in in_first if len({line.count(sign) for line in sample}) == 1]
    return next(iter(alike + in_first), None)


def _blanks(sample: list[str]) -> str | None:
    """A blank, where runs of blanks cut most lines into as many cells."""
    widths = [len(line.split()) for line in sample]
    usual = max(set(widths), key=widths.count)
    # Where the first line is shorter by one, the rows have names.
    fits = usual > 1 and usual - widths[0] in (0, 1) and 2 * widths.count(usual) >= len(widths)
    return " " if fits else None


def _without_runs(content: bytes) -> bytes:
    """Text with one tab in place of every run of blanks that is not in quotes, and none at the ends of lines."""
    content = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content)
    if b'"' not in content:
        return re.sub(rb"[ \t]+", b"\t", content)
    return re.sub(rb'"[^"]*"|[ \t]+', lambda match: match[0] if match[0].startswith(b'"') else b"\t", content)


def _decimal(sample: list[str], delimiter: str, name: str, how: Reading) -> str:
    """A decimal comma, if cells between other signs hold one and none holds a point."""
    if delimiter == "," or how.thousands is not None:
        return "."
    cells = [cell.strip() for line in sample for cell in line.split(delimiter)]
    commas = [cell for cell in cells if re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", cell)]
    if not commas or any(re.fullmatch(r"[-+]?\d*\.\d+([eE][-+]?\d+)?", cell) for cell in cells):
        return "."
    if all(re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", cell) for cell in commas):
        raise InputError(
            f"{quoted(name)}: the comma of {commas[0]!r} may be a decimal sign or stand between thousands",
            argument="decimal",
            remedy=("pass ", Setting("decimal", ","), " or ", Setting("thousands", ",")),
        )
    return ","


def _frame(lines: Lines, decimal: str, how: Reading, has_header: bool) -> pl.DataFrame:
    """The rows; polars finds out which columns are numbers, unless their signs are others than it knows."""
    width = len(lines.cells(0))
    lines.check_widths(width)
    body = lines.below(has_header)
    foreign = how.thousands is not None or (decimal == "," == lines.delimiter)

    def read(**inference: object) -> pl.DataFrame:
        return pl.read_csv(
            body,
            separator=lines.delimiter,
            has_header=False,
            null_values=[*MISSING, *how.missing],
            decimal_comma=decimal == "," and not foreign,
            glob=False,
            **inference,  # type: ignore[arg-type]
        )

    try:
        try:
            frame = read(infer_schema=False) if foreign else read(infer_schema_length=_INFERRED_ROWS)
        except pl.exceptions.ComputeError:  # a cell after the first rows is of another kind, or a line is longer
            frame = read(infer_schema=False)
    except pl.exceptions.ComputeError:
        lines.refuse_widths(width)
        lines.refuse_quotes()
        raise
    if frame.shape != (len(lines.starts) - has_header, width):
        lines.refuse_widths(width)
        lines.refuse_quotes()
        raise InputError(f"{quoted(lines.name)} cannot be read as a table: its lines are not clear")
    return frame
