"""Cells of text as numbers, dates and times, true and false; a column is what most of its cells are."""

from __future__ import annotations

import re

import polars as pl
import polars.selectors as cs

from twosample.files.reading import MISSING, Reading

__all__ = ["looks_like_decimal_comma", "looks_like_thousands", "typed"]

_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+$"
_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2})"
_BLANKS = "[ \u00a0\u202f]"


def looks_like_thousands(cell: str) -> bool:
    """Whether a cell is a number but for commas between thousands.

    Examples
    --------
    >>> looks_like_thousands("1,234.5"), looks_like_thousands("1,23")
    (True, False)
    """
    return re.search(_THOUSANDS, cell) is not None


def looks_like_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number but for a comma in place of the point.

    Examples
    --------
    >>> looks_like_decimal_comma("1,5"), looks_like_decimal_comma("n,d")
    (True, False)
    """
    return re.search(_DECIMAL_COMMA, cell) is not None


def typed(
    frame: pl.DataFrame, how: Reading, decimal: str = ".", has_types: bool = False
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Give every column of text the type that at least half of its cells have, missing ones not counted.

    Parameters
    ----------
    frame
        Columns of text, and others, which stay as they are but for missing values.
    how
        What stands for missing values, and the sign between thousands.
    decimal
        The decimal sign.
    has_types
        Whether columns of text are known to be that.

    Returns
    -------
    frame
        Numbers, booleans, dates, times and text; null where a cell is missing or of another kind than its column.
    texts
        The cells, without blanks around them, of the columns of which some cannot be read, or that are dates or times.

    Examples
    --------
    >>> frame, texts = typed(pl.DataFrame({"u": ["1", "2.5", " - "], "day": ["2024-05-01", "", ""]}), Reading())
    >>> frame["u"].to_list(), texts["u"].to_list(), frame["day"].dtype
    ([1.0, 2.5, None], ['1', '2.5', '-'], Date)
    """
    frame = _without_tokens(frame, how)
    columns = [column for column, dtype in frame.schema.items() if dtype == pl.String]
    if not columns:
        return frame, {}
    tokens = list(dict.fromkeys((*MISSING, *how.missing)))
    cells = frame.select(pl.col(columns).str.strip_chars().replace(tokens, [None] * len(tokens)))
    if has_types:
        return frame.with_columns(cells) if how.missing else frame, {}
    present = dict(zip(columns, cells.count().row(0), strict=True))
    plain = cells.select(_plain(pl.all(), how.thousands, decimal)) if how.thousands or decimal == "," else cells
    numbers = plain.select(pl.all().cast(pl.Float64, strict=False))
    read = dict(zip(columns, numbers.count().row(0), strict=True))

    whole = [column for column in columns if read[column] == present[column] > 0]
    integers = plain.select(pl.col(whole).cast(pl.Int64, strict=False)) if whole else pl.DataFrame()
    fits = dict(zip(whole, integers.count().row(0), strict=True)) if whole else {}
    rest = [column for column in columns if not 0 < present[column] <= 2 * read[column]]
    almost = cells.select(pl.col(rest).str.contains(f"{_THOUSANDS}|{_DECIMAL_COMMA}").sum()) if rest else pl.DataFrame()
    nearly = dict(zip(rest, almost.row(0), strict=True)) if rest else {}

    made: list[pl.Series] = []
    texts: dict[str, pl.Series] = {}
    for column, text, number in zip(columns, cells.get_columns(), numbers.get_columns(), strict=True):
        if column not in nearly:
            made.append(integers[column] if fits.get(column) == present[column] else number)
            if read[column] < present[column]:
                texts[column] = text
        elif present[column] and 2 * (nearly[column] + read[column]) >= present[column]:
            made.append(number)
            texts[column] = text
        elif present[column]:
            other = _other(text)
            made.append(other)
            if other.dtype.is_temporal():
                texts[column] = text
        else:
            made.append(text)
    return frame.with_columns(made), texts


def _without_tokens(frame: pl.DataFrame, how: Reading) -> pl.DataFrame:
    """Numbers that were named as tokens for missing values are missing; numbers too long for 64 bits are floats."""
    if frame.select(cs.by_dtype(pl.Int128)).width:
        frame = frame.cast({cs.by_dtype(pl.Int128): pl.Float64})
    values = []
    for token in how.missing:
        try:
            values.append(float(token))
        except ValueError:
            continue
    numeric = frame.select(cs.numeric()).columns
    if not values or not numeric:
        return frame
    return frame.with_columns(pl.when(~pl.col(name).is_in(values)).then(pl.col(name)) for name in numeric)


def _plain(cells: pl.Expr, thousands: str | None, decimal: str) -> pl.Expr:
    """Numbers with a point and no thousands; null where a sign stands in the wrong place."""
    if thousands is not None:
        sign = _BLANKS if thousands.isspace() else re.escape(thousands)
        grouped = rf"^[+-]?\d{{1,3}}({sign}\d{{3}})+({re.escape(decimal)}\d*)?$"
        misplaced = cells.str.contains(sign) & ~cells.str.contains(grouped)
        cells = pl.when(~misplaced).then(cells.str.replace_all(sign, ""))
    if decimal == ",":
        cells = pl.when(~cells.str.contains(".", literal=True)).then(cells.str.replace(",", ".", literal=True))
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
