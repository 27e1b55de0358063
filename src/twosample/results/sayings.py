"""Facts and tables that several kinds of result have in common."""

from __future__ import annotations

from collections.abc import Sequence

from twosample.common.words import log_bf10_text, printable, probability_in_words, pvalue_text
from twosample.data import LeftOut, some
from twosample.inference.columns import ColumnEvidence
from twosample.show.content import DataTable, Fact, Facts

__all__ = ["MOST_BARS", "column_facts", "evidence_facts", "table_of_facts", "used_columns"]

# Of a panel.
MOST_BARS = 30
# Columns that a summary names.
_SHOWN_COLUMNS = 3


def column_facts(rows: Sequence[ColumnEvidence]) -> list[Fact]:
    """How likely the first columns differ, and how.

    Examples
    --------
    >>> column_facts([ColumnEvidence("dose", 0.9, 2.0, "larger in y"), ColumnEvidence("age", 0.1, -1.0, "")])
    [Fact(label='P(column differs)', value='dose: 0.9000, larger in y', detail='', large=False), \
Fact(label='', value='age: 0.1000', detail='', large=False)]
    """
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


def evidence_facts(
    hypothesis: str,
    prob_h1: float,
    log_bf10: float,
    prior_odds: float,
    relabelled: tuple[float | None, float | None, str] = (None, None, ""),
    bound: str = "",
) -> list[Fact]:
    """Probability, prior odds, log BF10; p-value, e-value and what they are counted in; how log BF10 is a bound.

    Examples
    --------
    >>> [fact.value for fact in evidence_facts("P(dependent | data)", 0.9, 2.2, 1.0)]
    ['0.9000', '+2.20']
    """
    found = [Fact(hypothesis, probability_in_words(prob_h1), large=True)]
    if prior_odds != 1.0:
        found.append(Fact("prior odds", f"{prior_odds:g}"))
    found.append(Fact("log BF10", f"{log_bf10_text(log_bf10)}{bound}", large=True))
    pvalue, evalue, counted = relabelled
    if pvalue is not None:
        found.append(Fact("p-value", pvalue_text(pvalue), f" ({counted})", large=True))
    if evalue is not None:
        found.append(Fact("e-value", f"{evalue:.3g}", large=True))
    return found


def table_of_facts(facts: Facts) -> DataTable:
    """The facts as a table, of results that have no other."""
    rows = [(fact.label, f"{fact.value}{fact.detail}") for fact in facts.lines]
    return DataTable(facts.title, {"fact": "fact", "value": "value"}, rows)
