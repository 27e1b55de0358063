"""Which lines of a text are rows, how many cells they have, and which lines cannot be rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Flags, Indices
from twosample.common.words import count_in_words
from twosample.data.files.dialect import quoted
from twosample.errors import InputError, Setting

__all__ = ["COMMENT", "Lines"]

COMMENT = b"\0"  # what stands for a comment line; no other line holds it


@dataclass(frozen=True, eq=False)
class Lines:
    """Where the rows of a text are: a row is a line, or several where a cell in quotes goes on.

    Blank lines and comments are no rows, but in a single column a blank line between others is a missing value.
    """

    name: str
    content: bytes
    delimiter: str
    starts: Indices
    ends: Indices
    numbers: Indices
    whole: bool

    @classmethod
    def of(cls, content: bytes, delimiter: str, name: str) -> Lines:
        """Find the rows; refuses a quote that is not closed."""
        data = np.frombuffer(content, np.uint8)
        breaks = np.flatnonzero(data == ord("\n"))
        ends = breaks
        if b'"' in content:
            inside = _in_quotes(data)
            if inside[-1]:
                raise _unclosed(content, name)
            ends = breaks[~inside[breaks]]
        if not content.endswith(b"\n"):
            ends = np.append(ends, len(content))
        starts = np.append(0, ends[:-1] + 1)
        numbers = np.searchsorted(breaks, starts) + 1
        lengths = ends - starts
        first = data[np.minimum(starts, len(data) - 1)]
        blank = (lengths == 0) | ((lengths == 1) & (first == ord("\r")))
        gaps = b" \r" if delimiter == "\t" else b" \t\r"
        for place in np.flatnonzero(~blank & ((first == ord(" ")) | (first == ord("\t")))):
            blank[place] = not content[starts[place] : ends[place]].strip(gaps)
        comment = (lengths > 0) & (first == 0)
        rows = np.flatnonzero(~blank & ~comment)
        keep = ~comment
        if len(rows) and delimiter.encode() not in content[starts[rows[0]] : ends[rows[0]]]:
            keep[: rows[0]] = keep[rows[-1] + 1 :] = False  # in one column a blank line is a missing value
        else:
            keep &= ~blank
        return cls(name, content, delimiter, starts[keep], ends[keep], numbers[keep], whole=bool(keep.all()))

    def cells(self, row: int) -> list[str]:
        """The cells of a row, without blanks around them."""
        text = self.content[self.starts[row] : self.ends[row]].decode("utf-8")
        csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
        return [
            cell.strip() for cell in next(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter), [""])
        ]

    def below(self, has_header: bool) -> bytes:
        """The text of the rows."""
        if self.whole:
            return self.content[self.starts[1] :] if has_header else self.content
        pairs: Iterator[tuple[int, int]] = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        if has_header:
            next(pairs)
        return b"\n".join(self.content[start:end] for start, end in pairs) + b"\n"

    def widths(self) -> Indices:
        """How many cells each row has."""
        data = np.frombuffer(self.content, np.uint8)
        between = data == ord(self.delimiter)
        if b'"' in self.content:
            between &= ~_in_quotes(data)
        before = np.zeros(len(self.starts) * 2, np.int64)
        edges = np.column_stack([self.starts, self.ends]).ravel()
        inner = edges < len(data)
        before[inner] = np.add.reduceat(between, edges[inner], dtype=np.int64)
        return np.where(self.ends > self.starts, before[::2], 0) + 1

    def check_widths(self, expected: int) -> None:
        """Refuse a row that has not the expected number of cells; may miss a longer and a shorter one together."""
        between = self.content.count(self.delimiter.encode())
        if b'"' not in self.content and self.whole and between == (expected - 1) * len(self.starts):
            return  # the common case, for which counting is enough: polars finds a longer line
        self.refuse_widths(expected)

    def refuse_widths(self, expected: int) -> None:
        """Refuse the first row that has not the expected number of cells, if there is one."""
        widths = self.widths()
        others = np.flatnonzero(widths != expected)
        if expected == 1:
            blank = self.ends == self.starts
            others = others[~blank[others]]
        if not len(others):
            return
        row = int(others[0])
        line = f"line {self.numbers[row]}"
        first = f"as line {self.numbers[0]}"
        raw = self.content[self.starts[row] : self.ends[row]]
        counted = f"{line} has {count_in_words(widths[row], 'cell')}, not {expected} {first}"
        remedy: tuple[str | Setting, ...] = (
            "fix the line, or pass the field delimiter with ",
            Setting("delimiter", ";"),
        )
        sign = next((sign for sign in ("%", "//", "!", "#", "*") if raw.lstrip().startswith(sign.encode())), None)
        if sign is not None:
            remedy = ("skip comments with ", Setting("comment", sign))
        elif b"\n" in raw:
            counted += f'; a quote (") of {line} ends in another line'
            remedy = ("close the quote, or remove it",)
        elif expected == 1 and self.delimiter == ",":
            remedy = ("fix the line; if its comma is a decimal sign pass ", Setting("decimal", ","))
        elif len(others) == len(widths) - 1 and (widths[1:] == expected + 1).all():
            counted = f"every row has {expected + 1} cells, and line {self.numbers[0]} has {expected} names"
            remedy = ("give every column a name, also that of row names",)
        more = f" ({len(others)} such lines)" if len(others) > 1 else ""
        raise InputError(f"{quoted(self.name)}: {counted}{more}", remedy=remedy)

    def check_comments(self, *, is_named: bool) -> None:
        """Refuse lines that begin with # as comments do: followed by a blank or another sign, or with other cells.

        The first line is left alone where it is known to hold names.
        """
        data = np.frombuffer(self.content, np.uint8)
        marked = np.flatnonzero(data[np.minimum(self.starts, len(data) - 1)] == ord("#"))
        if is_named:
            marked = marked[marked > 0]
        if not len(marked):
            return
        widths = self.widths()
        plain = np.setdiff1d(np.arange(len(widths)), marked)
        expected = widths[plain[0]] if len(plain) else 0
        following = data[np.minimum(self.starts[marked] + 1, len(data) - 1)]
        comments = marked[np.isin(following, list(b" \t#!\r\n")) | (widths[marked] != expected)]
        if len(comments):
            more = f" ({len(comments)} such lines)" if len(comments) > 1 else ""
            raise InputError(
                f"{quoted(self.name)}: line {self.numbers[comments[0]]} looks like a comment{more}",
                argument="comment",
                remedy=("skip such lines with ", Setting("comment", "#")),
            )

    def refuse_quotes(self) -> None:
        """Refuse the first line whose quotes are not around cells, if there is one."""
        texts = self.content.split(b"\n")
        if any(text.count(b'"') % 2 for text in texts):
            raise _unclosed(self.content, self.name)
        sign = re.escape(self.delimiter.encode())
        odd = re.compile(rb'"[^' + sign + rb'\r"]|[^' + sign + rb'"]"')
        whole = re.compile(rb"(?:^|(?<=" + sign + rb'))\s*"(?:[^"]|"")*"\s*(?=' + sign + rb"|\r?$)")
        for number, text in enumerate(texts, 1):
            if odd.search(whole.sub(b"", text)):
                raise InputError(
                    f'{quoted(self.name)}: line {number} holds a quote (") within a cell',
                    remedy="put quotes around the whole cell and double those within it, or remove them",
                )


def _in_quotes(data: NDArray[np.uint8]) -> Flags:
    """Whether an odd number of quotes stands up to each byte; a doubled quote counts twice."""
    odd: Flags = (np.cumsum(data == ord('"'), dtype=np.uint8) & 1).view(np.bool_)
    return odd


def _unclosed(content: bytes, name: str) -> InputError:
    number = next(number for number, line in enumerate(content.split(b"\n"), 1) if line.count(b'"') % 2)
    line = content.split(b"\n", number)[number - 1].lstrip()
    if line.startswith(b"#"):
        return InputError(
            f'{quoted(name)}: line {number} looks like a comment, and holds a quote (") that is not closed',
            remedy=("skip comments with ", Setting("comment", "#")),
        )
    return InputError(
        f'{quoted(name)}: line {number} holds a quote (") that is not closed', remedy="close it, double it or remove it"
    )
