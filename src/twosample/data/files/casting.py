"""Cells of text as numbers, dates and times, true and false; a column is what most of its cells are."""

from __future__ import annotations

import re

import polars as pl
import polars.selectors as cs

from twosample.common.arrays import Indices
from twosample.data.files.dialect import MISSING, Reading, is_number
from twosample.errors import Setting

__all__ = ["sign_that_reads", "typed"]

_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+$"
_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2})"
_BLANKS = "[ \u00a0\u202f]"


def sign_that_reads(cell: str) -> Setting | None:
    """What to pass so that a cell is a number: that its comma stands between thousands, or in place of the point."""
    if re.search(_THOUSANDS, cell):
        return Setting("thousands", ",")
    return Setting("decimal", ",") if re.search(_DECIMAL_COMMA, cell) else None


def typed(
    frame: pl.DataFrame, how: Reading, decimal: str = ".", has_types: bool = False
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Give every column of text the type that at least half of its cells have, missing ones not counted.

    Cells are null where they are missing or of another kind than their column. Other columns stay as they are but for
    missing values, and so do columns of text where the file has types. Returned as well are the cells, without blanks
    around them, of the columns of which some cannot be read, or that are dates or times.
    """
    frame = _without_tokens(frame, how)
    columns = [column for column in frame.get_columns() if column.dtype == pl.String]
    if not columns or frame.is_empty():
        return frame, {}
    cells = pl.concat(columns, rechunk=True).str.strip_chars()  # all columns as one: much faster for thousands
    cells = cells.set(cells.is_in(list(dict.fromkeys((*MISSING, *how.missing)))), None)
    plain = _plain(cells, how.thousands, decimal)
    numbers = plain.cast(pl.Float64, strict=False)
    integers = plain.cast(pl.Int64, strict=False)
    present, read, fit = (_counts(one, len(columns)) for one in (cells, numbers, integers))

    made: dict[str, pl.Series] = {}
    texts: dict[str, pl.Series] = {}
    for place, column in enumerate(columns):
        start, count = place * len(column), len(column)
        text, number, integer = (one.slice(start, count).alias(column.name) for one in (cells, numbers, integers))
        if has_types or not present[place]:
            made[column.name] = text
        elif _is_numeric(text, present[place], read[place]):
            made[column.name] = integer if fit[place] == present[place] else number
            if read[place] < present[place]:
                texts[column.name] = text
        else:
            made[column.name] = _other(text)
            if made[column.name].dtype.is_temporal():
                texts[column.name] = text
    return pl.DataFrame({column.name: made.get(column.name, column) for column in frame.get_columns()}), texts


def _counts(cells: pl.Series, columns: int) -> Indices:
    """How many cells of each column are not null, of columns one after the other."""
    counts: Indices = cells.is_not_null().to_numpy().reshape(columns, -1).sum(axis=1)
    return counts


def _is_numeric(text: pl.Series, present: int, read: int) -> bool:
    """Whether at least half of the cells are numbers, or would be with another sign for decimals or thousands."""
    if 2 * read >= present:
        return True
    return bool(2 * (read + text.str.contains(f"{_THOUSANDS}|{_DECIMAL_COMMA}").sum()) >= present)


def _without_tokens(frame: pl.DataFrame, how: Reading) -> pl.DataFrame:
    """Numbers that were named as tokens for missing values are missing; numbers too long for 64 bits are floats."""
    if pl.Int128 in frame.dtypes:
        frame = frame.cast({cs.by_dtype(pl.Int128): pl.Float64})
    values = [float(token) for token in how.missing if is_number(token)]
    numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric()] if values else []
    if not numeric:
        return frame
    return frame.with_columns(
        pl.when(~pl.col(name).cast(pl.Float64).is_in(values)).then(pl.col(name)) for name in numeric
    )


def _plain(cells: pl.Series, thousands: str | None, decimal: str) -> pl.Series:
    """Numbers with a point and no thousands; null where a sign stands in the wrong place."""
    if thousands is not None:
        sign = _BLANKS if thousands.isspace() else re.escape(thousands)
        grouped = rf"^[+-]?\d{{1,3}}({sign}\d{{3}})+({re.escape(decimal)}\d*)?$"
        misplaced = cells.str.contains(sign) & ~cells.str.contains(grouped)
        cells = cells.set(misplaced, None).str.replace_all(sign, "")
    if decimal == ",":
        cells = cells.set(cells.str.contains(".", literal=True), None).str.replace(",", ".", literal=True)
    return cells


def _other(text: pl.Series) -> pl.Series:
    """A column of true and false, dates or times, if at least half of it is; else the text."""
    count = text.count()
    lower = text.str.to_lowercase()
    if lower.is_in(["true", "false"]).sum() == count:
        return lower == "true"
    dates = text.str.contains(rf"^{_DATE}([T ]{_TIME}{_ZONE}?)?$").sum()
    if 2 * dates >= count:
        days = text.str.to_date("%Y-%m-%d", strict=False)
        if 2 * days.count() >= count and days.count() == dates:
            return days
        moments = _moments(text)
        midnight = moments.dt.truncate("1d") == moments
        return moments.dt.date() if moments.dtype == pl.Datetime("us") and midnight.all() else moments
    if 2 * text.str.contains(rf"^{_TIME}$").sum() >= count:
        full = text.str.replace(r"^(\d{1,2}:\d{2})$", "$1:00")
        return full.str.to_time("%H:%M:%S%.f", strict=False).cast(pl.Duration("us"))
    return text


def _moments(text: pl.Series) -> pl.Series:
    """Dates with times, in UTC if at least half of them name a zone."""
    full = (
        text.str.replace("T", " ", literal=True)
        .str.replace(rf"^({_DATE})$", "$1 00:00:00")
        .str.replace(rf"^({_DATE} \d{{1,2}}:\d{{2}})({_ZONE}?)$", "$1:00$2")
        .str.replace(r"Z$", "+0000")
    )
    if 2 * text.str.contains(rf"{_TIME}{_ZONE}$").sum() >= text.count():
        return full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%z", time_unit="us", time_zone="UTC", strict=False)
    return full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
