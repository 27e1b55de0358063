"""How much columns differ in the units of the data, in words and as cells of tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.words import columns_in_words, printable
from twosample.inference.columns import ColumnEvidence
from twosample.inference.effect import SMALL_AUC
from twosample.inference.units import ColumnInUnits, InUnits
from twosample.show.content import Fact
from twosample.show.numbers import number

__all__ = ["CELLS", "HEADINGS", "difference_facts", "how_many_matter", "in_units", "note_on_units"]

HEADINGS = {
    "mean_difference": "difference of means",
    "mean_low": "from",
    "mean_high": "to",
    "median_difference": "difference of medians",
    "median_low": "from",
    "median_high": "to",
    "spread_ratio": "ratio of interquartile ranges",
    "spread_low": "from",
    "spread_high": "to",
}
# The names of values, each before the ends of its interval; one cell shows all three.
_MEAN, _MEDIAN, _SPREAD = (ColumnInUnits._fields[place : place + 3] for place in (0, 3, 6))
# Where widths are between these, numbers are written with decimals as few as two digits of the width need.
_SMALLEST_WIDTH, _LARGEST_WIDTH = 1e-4, 1e7
# Where so many columns differ, and as large a share of all, what matters is by how much.
_FEWEST_TO_COUNT, _NEARLY_ALL = 3, 0.8


def _cell(names: Sequence[str]) -> Callable[[Mapping[str, Any]], str]:
    def text(row: Mapping[str, Any]) -> str:
        if row[names[0]] is None:
            return "–"
        return "{} ({} to {})".format(*_as_texts(*(row[name] for name in names)))

    return text


# By the name of its value, what writes a cell.
CELLS = {names[0]: _cell(names) for names in (_MEAN, _MEDIAN, _SPREAD)}


def _as_texts(value: float, low: float, high: float) -> list[str]:
    """A number and the ends of its interval, with as many digits as that is exact.

    Examples
    --------
    >>> _as_texts(-1.8312, -2.6401, -1.0514), _as_texts(2.0, 2.0, 2.0)
    (['-1.8', '-2.6', '-1.1'], ['2', '2', '2'])
    """
    width = high - low
    if not _SMALLEST_WIDTH < width < _LARGEST_WIDTH:
        return [number(one) for one in (value, low, high)]
    decimals = max(1 - math.floor(math.log10(width)), 0)
    return [f"{round(one, decimals) + 0.0:.{decimals}f}" for one in (value, low, high)]


def in_units(row: ColumnEvidence, names: tuple[str, str]) -> str:
    """How much a column differs in its units, in a few words; empty where no number agrees with how it differs.

    Examples
    --------
    >>> row = ColumnEvidence("dose", 0.9, 3.0, "larger in b, large (AUC 0.72)", 0.7, -1.84, -2.62, -1.06)
    >>> in_units(row, ("a", "b"))
    'mean 1.8 larger in b (90 % interval 1.1 to 2.6)'
    """
    values = row._asdict()
    for first, name in zip((True, False), map(printable, names), strict=True):
        if row.words.startswith(f"larger in {name},"):
            for what, fields in (("mean", _MEAN), ("median", _MEDIAN)):
                value, low, high = (values[field] for field in fields)
                if value is not None and (value > 0.0 if first else value < 0.0):
                    ends = (value, low, high) if first else (-value, -high, -low)
                    value_text, low_text, high_text = _as_texts(*ends)
                    return f"{what} {value_text} larger in {name} (90 % interval {low_text} to {high_text})"
        if f"{row.words},".startswith(f"more spread in {name},"):
            value, low, high = (values[field] for field in _SPREAD)
            if value is not None and (value > 1.0 if first else value < 1.0):
                ends = (value, low, high) if first else (1.0 / value, 1.0 / high, 1.0 / low)
                ratio, low_text, high_text = _as_texts(*ends)
                between = f"(90 % interval {low_text} to {high_text})"
                return f"interquartile range {ratio} times as large in {name} {between}"
    return ""


def difference_facts(rows: Sequence[ColumnEvidence], names: tuple[str, str]) -> list[Fact]:
    """What the likeliest column differs by in its units, if it is likely to."""
    words = in_units(rows[0], names) if rows and rows[0].prob > 0.5 else ""
    return [Fact("difference", f"{printable(rows[0].column)}: {words}" if len(rows) > 1 else words)] if words else []


def how_many_matter(auc: Array, total: int, rope: float | None) -> list[Fact]:
    """Where nearly all columns differ, how many of them by an amount that matters, from the AUCs of those that do.

    Examples
    --------
    >>> [fact] = how_many_matter(np.array([0.51, 0.53, 0.6]), 3, None)
    >>> fact.value
    '3 of 3 columns differ; 1 of them by more than a very small amount (AUC above 0.56)'
    """
    if len(auc) < max(_FEWEST_TO_COUNT, _NEARLY_ALL * total) or np.isnan(auc).any():
        return []
    if rope is None:
        limit, amount = SMALL_AUC, f"a very small amount (AUC above {SMALL_AUC:.2f})"
    else:
        limit, amount = rope, f"the rope (AUC above {rope:g})"
    many = int((auc > limit).sum())
    return [Fact("how much", f"{len(auc)} of {columns_in_words(total)} differ; {many} of them by more than {amount}")]


def note_on_units(units: InUnits | None, sizes: tuple[int, int], names: tuple[str, str]) -> str:
    """What differences in the units of the data are, and of which rows, for a table of columns."""
    if units is None:
        return "The rows are not known here, and so no differences in the units of the data."
    first, second = map(printable, names)
    words = (
        f"Differences are of {first} less {second} in the units of the data (dates in days), ratios of {first} to "
        f"{second}, with 90 % intervals; – where there is no such number, as of categories."
    )
    if units.rows == sizes:
        return words
    return f"{words} They are from {units.rows[0]:,} and {units.rows[1]:,} rows, a random part of all."
