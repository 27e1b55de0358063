"""Whether the first line of a file holds names or numbers of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl
import polars.selectors as cs

from twosample.data.files.dialect import MISSING, is_number, quoted
from twosample.errors import InputError, Setting

__all__ = ["check_header", "kind_of_first_line"]

Kind = Literal["names", "numbers", "both"]
_FEWEST_ROWS = 3


def kind_of_first_line(cells: Sequence[str], decimal: str) -> Kind:
    """Whether the cells are names, numbers (or missing ones), or some of each.

    Examples
    --------
    >>> [kind_of_first_line(cells, ".") for cells in (["u", "v"], ["1", "NA"], ["id", "400"])]
    ['names', 'numbers', 'both']
    """
    numbers = sum(is_number(cell, decimal) for cell in cells)
    if not numbers:
        return "names"
    return (
        "numbers"
        if numbers + sum(cell in MISSING and not is_number(cell, decimal) for cell in cells) == len(cells)
        else "both"
    )


def check_header(kind: Kind, cells: Sequence[str], frame: pl.DataFrame, name: str, place: str) -> None:
    """Refuse a first line that may be names or data, where nobody said which.

    A line of names and numbers ("id", "400", "402") is names if a name stands above a column of numbers, dates
    or true and false, to which it cannot belong; else it is asked about.

    A line of numbers is data, unless it looks like names. It does where it rises or falls throughout (three columns or
    more; or it counts 0, 1, 2, ... or 1, 2, 3, ...) and is unlike what is below it in most columns, with three rows or
    more: whole numbers above fractions, fractions above whole numbers, or so far from the values of its column that the
    distance is more than their range. An empty first cell, followed by numbers, above a column without gaps looks like
    the names of a table with row numbers. A single number is data.

    Parameters
    ----------
    kind, cells
        The first line.
    frame
        The typed rows: below the line where it is not of numbers, else with it.
    name, place
        The file, and the line, in words.
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
