"""What a test of several groups returns: a line for each, as text, data frame and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from twosample import models
from twosample.common.arrays import Array, Indices
from twosample.common.frames import FrameKind, to_frame
from twosample.common.records import Record
from twosample.common.words import aligned, columns_in_words, log_bf10_text, printable, probability_in_words
from twosample.data import LeftOut, some
from twosample.inference.columns import Table
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["GroupRow", "GroupsResult"]

_LONGEST_NAME = 32


class GroupRow(NamedTuple):
    """One line of the table: one group against the reference.

    Attributes
    ----------
    group
        Name of the group.
    n
        How many rows it has.
    n_other
        How many rows it is compared with.
    log_bf10
        Log Bayes factor: positive for different, negative for the same.
    prob_h1
        Probability that the group differs, as if it had been the only one compared.
    auc
        How much it differs: mean of the AUC of the witness; NaN for models that do not say.
    verdict
        Evidence and size of the difference in words.
    """

    group: str
    n: int
    n_other: int
    log_bf10: float
    prob_h1: float
    auc: float
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class GroupsResult(Record):
    """One two-sample test for each group; iteration gives a `GroupRow` each, in the order of the data.

    Attributes
    ----------
    by
        The column that says which group a row is in; empty where labels were given.
    reference
        The group that the others are compared with.
    group
        Names of the groups compared, (G,).
    n, n_other
        How many rows each has, and how many it is compared with, missing values left out, (G,).
    log_bf10
        Log Bayes factors, (G,).
    prob_h1
        Probabilities that they differ, (G,); not adjusted for how many comparisons there are.
    auc
        Means of the AUC of the witness, (G,); NaN for models that do not say.
    verdict
        The answers in words, (G,).
    prior_odds
        Prior odds of "different" against "the same", of each comparison.
    columns
        Names of the columns used in any of them.
    left_out
        Columns that were not used, and why.
    model
        The model with all its constants.
    notes
        One sentence for everything that was left out or warned about.
    results
        The whole result of each comparison, by group; not part of the JSON form, and so empty when read back.
    """

    by: str
    reference: str
    group: tuple[str, ...]
    n: Indices
    n_other: Indices
    log_bf10: Array
    prob_h1: Array
    auc: Array
    verdict: tuple[str, ...]
    prior_odds: float
    columns: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    model: models.Model
    notes: tuple[str, ...]
    results: dict[str, TwoSampleResult] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of comparisons."""
        return len(self.group)

    def __iter__(self) -> Iterator[GroupRow]:
        """Go over the comparisons."""
        for index, name in enumerate(self.group):
            yield GroupRow(
                name,
                int(self.n[index]),
                int(self.n_other[index]),
                float(self.log_bf10[index]),
                float(self.prob_h1[index]),
                float(self.auc[index]),
                self.verdict[index],
            )

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"GroupsResult({len(self)} groups against {self.reference!r})"

    @property
    def table(self) -> Table[GroupRow]:
        """All lines of the table."""
        return Table(tuple(self), GroupRow._fields)

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """The table as a data frame: group, n, n_other, log_bf10, prob_h1, auc, verdict."""
        content = {name: [getattr(row, name) for row in self] for name in GroupRow._fields}
        return to_frame({**content, "auc": self._auc_or_none()}, kind)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, one list for each column of the table."""
        content = Record.to_dict(replace(self, results={}))
        del content["results"]
        return {**content, "auc": self._auc_or_none()}

    def summary(self) -> str:
        """The answer in a few lines of text."""
        other = printable(repr(self.reference))
        lines = [
            f"{len(self)} group{'s' * (len(self) != 1)}, each against {other}.",
            f"  columns used         {columns_in_words(len(self.columns))}: "
            f"{printable(some(self.columns, quote=False))}",
        ]
        if self.left_out:
            words = [f"{printable(one.column)} ({one.reason})" for one in self.left_out]
            lines.append(f"  columns left out     {some(words, quote=False)}")
        if self.prior_odds != 1.0:
            lines.append(f"  prior odds           {self.prior_odds:g}, of each comparison")
        lines.append(f"  model                {self.model.name}")
        lines += [f"  note                 {printable(note)}" for note in self.notes]
        lines += ["", *_aligned(list(self)), ""]
        lines.append(
            f"The comparisons share rows (the rows of {other} are in all of them), so they are not independent; "
            "probabilities are not adjusted for how many there are."
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the table with what to keep in mind, for notebooks."""
        from twosample.show.report import head

        return head(self)

    def _auc_or_none(self) -> list[float | None]:
        return [None if math.isnan(value) else value for value in self.auc.tolist()]


def _aligned(rows: list[GroupRow]) -> list[str]:
    """The rows as a table with a head; names and words to the left, numbers to the right."""
    table = [("group", "n", "against", "log BF10", "P(different)", "AUC", "verdict"), *map(_cells, rows)]
    return aligned(table, "<>>>>><")


def _cells(row: GroupRow) -> tuple[str, ...]:
    name = printable(row.group)
    return (
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}...",
        str(row.n),
        str(row.n_other),
        log_bf10_text(row.log_bf10),
        probability_in_words(row.prob_h1),
        "-" if math.isnan(row.auc) else f"{row.auc:.3f}",
        row.verdict,
    )
