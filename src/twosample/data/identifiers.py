"""Notices columns that number or name the rows: they tell the samples apart without saying anything of them."""

from __future__ import annotations

import math
import re

import numpy as np

from twosample.common.arrays import Array, Flags, Indices

__all__ = ["are_shared", "identifiers", "named_like_one"]

# Rows that columns are screened by, and values of a block.
_SCREENED_ROWS = 32
_BLOCK_VALUES = 1 << 22
_FEWEST_ROWS = 10
_FILLED = 0.5
_CHANCE = 1e-3
_LARGEST = 2.0**53
# Identifiers are shared where each sample has at least this share of all of them.
_SHARED = 0.9

_WORDS = {"id", "ids", "idx", "uid", "uuid", "guid", "identifier", "rowid", "rownum", "rownumber", "key", "nr", "no"}
_ALONE = {"index", "row", "rows", "number", "num", "serial", "record"}
_COUNTED = {"row", "record", "serial", "line", "case", "subject", "patient", "sample"}
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def identifiers(x: Array, y: Array, columns: tuple[str, ...] | None) -> list[int]:
    """The places of columns that look like identifiers; NaN is missing.

    These hold whole numbers that are all different within a sample, and those of one sample are all others than those
    of the other one or among them; they fill at least half of their range, which is unlikely for so many numbers taken
    at random from there. Columns that are named like identifiers need only be whole numbers and mostly different.
    """
    if len(x) + len(y) < _FEWEST_ROWS:
        return []
    named = np.array([named_like_one(name) for name in columns or ()] or [False] * x.shape[1])
    found = np.zeros(x.shape[1], dtype=bool)
    candidates = np.flatnonzero(_screened(x, named) & _screened(y, named))
    width = max(1, _BLOCK_VALUES // (len(x) + len(y)))
    for start in range(0, len(candidates), width):
        block = candidates[start : start + width]
        found[block] = _judged(x[:, block], y[:, block], named[block], x.shape[1])
    return np.flatnonzero(found).tolist()


def are_shared(x: Array, y: Array) -> Flags:
    """Which columns have the same different values in both samples, but for a few; NaN is missing."""
    (_, x_distinct), (_, y_distinct), (_, distinct) = (_counted(rows) for rows in (x, y, np.concatenate((x, y))))
    shared: Flags = np.minimum(x_distinct, y_distinct) >= _SHARED * distinct
    return shared


def named_like_one(name: str) -> bool:
    """Whether a name is that of an identifier."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    if not parts:
        return False
    if re.fullmatch(r"Unnamed: \d+", name):
        return True
    words = parts[:-1] if parts[-1].isdigit() and len(parts) > 1 else parts  # id_1
    return (
        words[-1] in _WORDS
        or (len(words) == 1 and words[0] in _ALONE)
        or (len(words) == 2 and words[0] in _COUNTED and words[1] in {"number", "num", "index"})
    )


def _screened(rows: Array, named: Flags) -> Flags:
    """Which columns may be identifiers by their first rows: whole numbers, and no two alike."""
    first = rows[:_SCREENED_ROWS]
    present = np.isfinite(first)
    whole: Flags = (~present | ((first == np.floor(first)) & (np.abs(first) < _LARGEST))).all(axis=0)
    places = np.flatnonzero(whole & ~named)
    ordered = np.sort(first[:, places], axis=0)
    whole[places] = (ordered[1:] != ordered[:-1]).all(axis=0)
    return whole


def _judged(x: Array, y: Array, named: Flags, n_columns: int) -> Flags:
    pooled = np.concatenate((x, y))
    finite = np.isfinite(pooled)
    whole = (~finite | ((pooled == np.floor(pooled)) & (np.abs(pooled) < _LARGEST))).all(axis=0)
    (n_x, x_distinct), (n_y, y_distinct), (n, distinct) = (_counted(rows) for rows in (x, y, pooled))
    enough = whole & (n >= _FEWEST_ROWS)
    mostly = (2 * x_distinct > n_x) & (2 * y_distinct > n_y) & (distinct > 2)

    with np.errstate(invalid="ignore"):
        limits = np.where(finite, pooled, np.nan)
        span = np.fmax.reduce(limits, axis=0) - np.fmin.reduce(limits, axis=0) + 1.0
    more = np.maximum(n_x, n_y)
    all_different = (x_distinct == n_x) & (y_distinct == n_y)
    apart, within = distinct == n, distinct == more
    numbered: Flags = enough & all_different & (apart | within) & (distinct >= _FILLED * span)
    for place in np.flatnonzero(numbered):
        sizes = (n[place],) if apart[place] else (n_x[place], n_y[place])
        chance = sum(_log_chance_of_no_ties(int(size), int(span[place])) for size in sizes)
        numbered[place] = chance < math.log(_CHANCE / n_columns)
    numbered |= enough & named & mostly
    return numbered


def _counted(rows: Array) -> tuple[Indices, Indices]:
    """How many values each column has, and how many different ones."""
    ordered = np.sort(np.where(np.isfinite(rows), rows, np.nan), axis=0)  # NaN comes last
    present = ~np.isnan(ordered)
    changes = (ordered[1:] != ordered[:-1]) & present[1:]
    return np.count_nonzero(present, axis=0), np.count_nonzero(changes, axis=0) + present[:1].sum(axis=0)


def _log_chance_of_no_ties(count: int, span: int) -> float:
    """Log probability that `count` uniform numbers of a range of `span` all differ; no other law has a larger one."""
    return math.lgamma(span + 1) - math.lgamma(span - count + 1) - count * math.log(span)
