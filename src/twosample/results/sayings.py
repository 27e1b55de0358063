"""Facts and tables that several kinds of result have in common."""

from __future__ import annotations

from collections.abc import Sequence

from twosample.common.words import printable, probability_in_words
from twosample.data import LeftOut, some
from twosample.inference.columns import ColumnEvidence
from twosample.show.content import Fact

__all__ = ["MOST_BARS", "column_facts", "used_columns"]

# Of a panel.
MOST_BARS = 30
# Columns that a summary names.
_SHOWN_COLUMNS = 3


def column_facts(rows: Sequence[ColumnEvidence]) -> list[Fact]:
    """How likely the first columns differ, and how."""
    found = []
    for number, row in enumerate(rows[:_SHOWN_COLUMNS]):
        words = f", {row.words}" if row.prob > 0.5 else ""
        said = f"{printable(row.column)}: {probability_in_words(row.prob)}{words}"
        found.append(Fact("" if number else "P(column differs)", said))
    return found


def used_columns(columns: tuple[str, ...], left_out: tuple[LeftOut, ...]) -> list[Fact]:
    """The columns by name, where they have names, and those left out."""
    found = []
    if not all(column.isdecimal() for column in columns):
        found.append(Fact("columns used", printable(some(columns, quote=False))))
    if left_out:
        words = [f"{printable(one.column)} ({one.reason})" for one in left_out]
        found.append(Fact("columns left out", some(words, quote=False)))
    return found
