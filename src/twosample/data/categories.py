"""Columns of categories: their levels as codes, in one dictionary for both samples, and codes as coordinates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.data.cells import as_text, is_missing
from twosample.data.files.dialect import MISSING as MISSING_CELLS

__all__ = [
    "MISSING",
    "OTHER",
    "Growing",
    "Levels",
    "codes_of",
    "distance_of_levels",
    "expanded",
    "kept_levels",
    "many_in_words",
    "many_levels",
    "name_rows",
    "numbers_of",
    "places_of",
    "recoded",
    "rows_without_many",
    "sizes_of",
    "starts_of",
    "unknown_in_words",
    "with_coordinates",
    "without_many",
]

#: The levels of each column, None for a column of numbers; nothing at all where there are only numbers. The code of a
#: level is its place, most common first, and one more is the code of all other values. The first levels have
#: coordinates of their own, and all codes beyond those have one.
Levels = tuple[tuple[str, ...] | None, ...]

# What missing values and levels without a code of their own are called.
MISSING, OTHER = "(missing)", "(other)"
# Levels with a coordinate of their own; and the rows of a level that counts.
_MOST_COORDINATES, _FEWEST_ROWS = 31, 2
# Text with more levels than this, and more than that share of the rows, names the rows.
_MANY_LEVELS, _MOST_DIFFERENT = 100, 0.5
# Of the chance that two rows differ: a column that hardly varies must not put its rare rows out of reach.
_SMALLEST_CHANCE = 0.25
# Levels that are told apart while rows are read block by block.
_MOST_SEEN = 1 << 16
# Text that stands for numbers, but for one in this many different values and rows; and codes, like 007.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CODE = re.compile(r"[+-]?0\d", re.ASCII)
_ONE_IN = 10


def codes_of(values: Iterable[Any]) -> tuple[Array, tuple[str, ...]]:
    """The codes of values of any kind, and the names of the levels, sorted."""
    listed = list(values)
    names: dict[Any, str] = {}
    try:
        names = {value: _level_name(value) for value in dict.fromkeys(listed)}
        texts = [names[value] for value in listed]
    except TypeError:  # values that cannot be hashed
        texts = [_level_name(value) for value in listed]
    levels = tuple(sorted(set(texts)))
    code = {level: float(place) for place, level in enumerate(levels)}
    return np.array([code[text] for text in texts], dtype=np.float64), levels


def _level_name(value: Any) -> str:
    return MISSING if is_missing(value) else as_text(value)


def numbers_of(levels: Sequence[str], counts: Sequence[float] = ()) -> tuple[Array, tuple[str, ...]] | None:
    """The numbers that levels of text stand for, NaN where for none, and those that are none; None for categories.

    Numbers with leading zeros are codes, and so categories. With the `counts` of the levels, up to one in ten of the
    different values and of the rows may be no number; without them, none. Cells that files take for missing are so.

    Examples
    --------
    >>> numbers_of(["1.5", "-2", "NA"])
    (array([ 1.5, -2. ,  nan]), ())
    >>> numbers_of(["007", "12"]), numbers_of(["12", "high"])
    (None, None)
    """
    texts = [MISSING_CELLS[0] if level == MISSING else level.strip() for level in levels]
    values = np.array([float(text) if _NUMBER.fullmatch(text) else math.nan for text in texts])
    numbers = np.array([bool(_NUMBER.fullmatch(text)) for text in texts], dtype=bool)
    others = np.array([text not in MISSING_CELLS for text in texts], dtype=bool) & ~numbers
    if not numbers.any() or any(_CODE.match(text) for text, flag in zip(texts, numbers, strict=True) if flag):
        return None
    if others.any():
        if not len(counts):
            return None
        rows = np.asarray(counts, dtype=np.float64)
        if _ONE_IN * others.sum() > numbers.sum() or _ONE_IN * rows[others].sum() > rows[numbers].sum():
            return None
    return values, tuple(level for level, flag in zip(levels, others, strict=True) if flag)


def recoded(codes: Array, old: Sequence[str], new: Sequence[str]) -> Array:
    """Codes in another dictionary, where levels that it lacks have the code of all others."""
    if tuple(old) == tuple(new):
        return codes
    place = {level: code for code, level in enumerate(new)}
    table = np.array([place.get(level, len(new)) for level in (*old, OTHER)], dtype=np.float64)
    return np.asarray(table[codes.astype(np.intp)])


def kept_levels(codes: Array, levels: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """The levels that rows share, most common in both samples first, and why they say nothing, if so."""
    counts = np.bincount(codes.astype(np.intp), minlength=len(levels) + 1)
    seen = int(np.count_nonzero(counts))
    order = sorted(
        np.flatnonzero(counts[: len(levels)] >= _FEWEST_ROWS).tolist(), key=lambda at: (-counts[at], levels[at])
    )
    kept = tuple(levels[place] for place in order)
    if not kept or name_rows(seen, len(codes)):
        return kept, f"text that is different in {seen:,} of {len(codes):,} rows"
    return kept, None


def name_rows(different: int, rows: int) -> bool:
    """Whether a column of text with this number of different values names the rows rather than categories."""
    return different == rows or (different > _MANY_LEVELS and different > _MOST_DIFFERENT * rows)


def distance_of_levels(codes: Array, size: int) -> float:
    """The distance c of two different levels: √(2/q), q the chance that two rows differ, but not less than ¼.

    Two rows of a column are then as far apart on average as two standard normal numbers: E(a - b)² = 2.
    """
    shares = np.bincount(np.minimum(codes, size - 1).astype(np.intp), minlength=size) / max(len(codes), 1)
    return math.sqrt(2.0 / max(1.0 - float(shares @ shares), _SMALLEST_CHANCE))


def with_coordinates(levels: tuple[str, ...]) -> tuple[str, ...]:
    """The levels of a column that have a coordinate of their own, and the name of all others."""
    return (*levels[:_MOST_COORDINATES], OTHER)


def many_levels(levels: Levels) -> tuple[int, ...]:
    """The places of the columns that have more levels than coordinates."""
    return tuple(place for place, names in enumerate(levels) if names is not None and len(names) > _MOST_COORDINATES)


def without_many(levels: Levels) -> Levels:
    """The levels that have coordinates of their own, where all others are to be taken as one."""
    return tuple(None if names is None else names[:_MOST_COORDINATES] for names in levels)


def many_in_words(columns: tuple[str, ...], levels: Levels) -> tuple[str, ...]:
    """A note of each column with more levels than coordinates, for where all others count as one level."""
    return tuple(
        f"Column {columns[place]!r} has {len(levels[place] or ()):,} levels that several rows share: the "
        f"{_MOST_COORDINATES} most common ones are compared, and all others as one."
        for place in many_levels(levels)
    )


def unknown_in_words(columns: tuple[str, ...], levels: Levels) -> tuple[str, ...]:
    """A note of each column with more levels than coordinates, where they are those of a pilot."""
    return tuple(
        f"The levels of column {columns[place]!r} are the {len(levels[place] or ()):,} that several rows of the pilot "
        "share: all others are compared as one."
        for place in many_levels(levels)
    )


def rows_without_many(rows: Array, levels: Levels) -> Array:
    """Rows (n, D) in which all codes beyond the levels with coordinates of their own are that of all others."""
    if not many_levels(levels):
        return rows
    most = [np.inf if names is None else len(with_coordinates(names)) - 1.0 for names in levels]
    return np.minimum(rows, most)


def sizes_of(levels: Levels) -> Indices | None:
    """How many coordinates each column of codes has, (D,), 0 for numbers; None where there are only numbers."""
    if not any(level is not None for level in levels):
        return None
    return np.array([0 if level is None else len(with_coordinates(level)) for level in levels], dtype=np.int64)


def starts_of(sizes: Indices) -> Indices:
    """Where the coordinates of each column start, and where those of the last end, (D + 1,)."""
    return np.concatenate([[0], np.cumsum(np.maximum(sizes, 1))])


def places_of(columns: Indices, sizes: Indices, width: int | None = None) -> Indices:
    """The coordinates of some columns (P, k), one column after the other, (P, K); short rows end beyond the last."""
    starts = starts_of(sizes)
    found = [np.concatenate([np.arange(starts[column], starts[column + 1]) for column in row]) for row in columns]
    width = max(map(len, found)) if width is None else width
    places = np.full((len(found), width), starts[-1])
    for row, one in zip(places, found, strict=True):
        row[: len(one)] = one
    return places


def expanded(seen: Any, sizes: Indices, heights: Array, xp: Any = np) -> Any:
    """Rows (n, D) whose columns of categories hold codes, as coordinates: one for each code, of that height or 0.

    Levels are corners of a simplex, all equally far apart: √2 times the height. `xp` is the library of the array.
    """
    if xp is np:
        starts = starts_of(sizes)
        found = np.zeros((len(seen), int(starts[-1])))
        numbers = sizes == 0
        found[:, starts[:-1][numbers]] = seen[:, numbers]
        each = np.arange(len(seen))
        for column in np.flatnonzero(~numbers).tolist():
            codes = np.clip(np.rint(seen[:, column]), 0, sizes[column] - 1).astype(np.intp)
            found[each, starts[column] + codes] = heights[column]
        return found
    columns = []
    for column, size in enumerate(sizes.tolist()):
        values = seen[:, column]
        if not size:
            columns.append(values)
            continue
        height, nothing = xp.zeros_like(values) + float(heights[column]), xp.zeros_like(values)
        columns += [xp.where(values == float(code), height, nothing) for code in range(size - 1)]
        columns.append(xp.where(values >= size - 1.0, height, nothing))
    return xp.stack(columns, axis=1)


class Growing:
    """A dictionary of levels that grows while rows are read; rows with too many levels are not told apart."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels so far, in the order of their codes."""
        return tuple(self._places)

    def codes(self, codes: Array, levels: Sequence[str]) -> Array:
        """Codes of this dictionary, for those of another one."""
        for level in levels:
            if level not in self._places:
                full = len(self._places) >= _MOST_SEEN
                self._places.setdefault(OTHER if full else level, len(self._places))
        table = [self._places.get(level, self._places.get(OTHER, 0)) for level in levels]
        return np.asarray(np.array(table, dtype=np.float64)[codes.astype(np.intp)])
