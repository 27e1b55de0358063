"""Rows of cells, which is what every kind of file becomes; and whether its first line holds names or data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
import polars.selectors as cs

from twosample.common.arrays import Indices
from twosample.data.files.dialect import MISSING, Reading, is_number, quoted
from twosample.errors import InputError, Setting

__all__ = ["Grid", "check_header", "kind_of_first_line", "under_header"]

Kind = Literal["names", "numbers", "both"]
_FEWEST_ROWS = 3


@dataclass(frozen=True, eq=False)
class Grid:
    """Rows of cells, some of them still text."""

    frame: pl.DataFrame
    numbers: Indices  # of the line or row of the file that each row stands in, from 1
    unit: str = "row"  # what they number, or "line"
    parts: tuple[tuple[str, int], ...] = ()  # for a file in parts, the name of each and how many of the rows are in it
    first: Sequence[str] = ()  # the cells of the first line, where it may be asked what they are
    first_number: int = 1
    kind: Kind = "names"
    decimal: str = "."
    has_types: bool = False  # whether the file says which columns are text


def under_header(
    first: list[str],
    numbers: Indices,
    rows: Callable[[bool], pl.DataFrame],
    name: str,
    how: Reading,
    *,
    decimal: str = ".",
    unit: str = "row",
) -> Grid:
    """The grid of a file with this first line, below it where it holds names: `rows` is told whether it does."""
    kind = kind_of_first_line(first, decimal)
    has_header = how.header if how.header is not None else kind != "numbers"
    if has_header and len(numbers) == 1:
        raise InputError(f"{quoted(name)} has no rows, only {unit} {numbers[0]}")
    frame = rows(has_header)
    if has_header:
        frame = _named(frame, first, name)
    else:
        frame.columns = [str(place) for place in range(frame.width)]
    below = numbers[int(has_header) :]
    return Grid(frame, below, unit, first=first, first_number=int(numbers[0]), kind=kind, decimal=decimal)


def _named(frame: pl.DataFrame, first: list[str], name: str) -> pl.DataFrame:
    """The frame with the names of the first line; columns with neither a name nor a value are gone."""
    if "" in first:
        kept = [place for place, cell in enumerate(first) if cell or frame.to_series(place).null_count() < frame.height]
        frame, first = frame[:, kept], [first[place] for place in kept]
    seen: set[str] = set()
    for cell in first:
        if cell in seen:
            raise InputError(f"{quoted(name)} has two columns named {cell!r}; rename one")
        seen.add(cell)
    frame.columns = first
    return frame


def kind_of_first_line(cells: Sequence[str], decimal: str) -> Kind:
    """Whether the cells are names, numbers (or missing ones), or some of each."""
    if not any(is_number(cell, decimal) for cell in cells):
        return "names"
    return "numbers" if all(cell in MISSING or is_number(cell, decimal) for cell in cells) else "both"


def check_header(kind: Kind, cells: Sequence[str], frame: pl.DataFrame, name: str, place: str) -> None:
    """Refuse a first line that may be names or data, where nobody said which; `place` says in words where it stands.

    A line of names and numbers ("id", "400", "402") is names if a name stands above a column of numbers, dates
    or true and false, to which it cannot belong; else it is asked about.

    A line of numbers is data, unless it looks like names. It does where it rises or falls throughout (three columns or
    more; or it counts 0, 1, 2, ... or 1, 2, 3, ...) and is unlike what is below it in most columns, with three rows or
    more: whole numbers above fractions, fractions above whole numbers, or so far from the values of its column that the
    distance is more than their range. An empty first cell, followed by numbers, above a column without gaps looks like
    the names of a table with row numbers. A single number is data. The rows are typed; where the line is of numbers it
    is the first of them.
    """
    if kind == "names":
        return
    if kind == "both":
        above_numbers = any(
            not is_number(cell) and cell not in MISSING and dtype != pl.String for cell, dtype in frame.schema.items()
        )
        if above_numbers:
            return
    elif not _looks_like_names(cells, frame):
        return
    shown = ", ".join(map(repr, cells[:4])) + (", ..." if len(cells) > 4 else "")
    raise InputError(
        f"{quoted(name)}: {place} ({shown}) may be names of columns or numbers of the data",
        argument="header",
        remedy=("pass ", Setting("header", True), " if it is names, ", Setting("header", False), " if it is data"),
    )


def _looks_like_names(cells: Sequence[str], frame: pl.DataFrame) -> bool:
    if frame.height <= _FEWEST_ROWS:
        return False
    numbers = frame.select(cs.numeric())
    if not numbers.width:
        return False
    rows = numbers.cast(pl.Float64).to_numpy()
    first, below = rows[0], rows[1:]
    if not cells[0] and frame.width == len(cells) > 1:
        column = frame.to_series(0)
        if column.null_count() == 1 and np.isfinite(first).sum() == len(cells) - 1:
            return True
    known = np.isfinite(first) & np.isfinite(below).any(axis=0)
    first, below = first[known], np.where(np.isfinite(below[:, known]), below[:, known], np.nan)
    steps = np.diff(first)
    counts = len(first) >= 2 and first[0] in (0.0, 1.0) and bool((steps == 1.0).all())
    if not (counts or (len(first) >= 3 and ((steps > 0).all() or (steps < 0).all()))):
        return False
    low, high = np.nanmin(below, axis=0), np.nanmax(below, axis=0)
    far = np.maximum(low - first, first - high) > high - low
    whole, wholes = (
        first == np.floor(first),
        np.nanmean(np.where(np.isnan(below), np.nan, below == np.floor(below)), axis=0),
    )
    unlike = (whole & (wholes == 0.0)) | (~whole & (wholes == 1.0))
    return bool(np.mean(far | unlike) > 0.5)
