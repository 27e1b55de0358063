"""The result of comparisons of several groups with one of them: a row for each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from twosample import models
from twosample.common.arrays import Array, Indices
from twosample.common.constraints import GAPS, SHARES, Axes, Positive, Within
from twosample.common.words import columns_in_words, count_in_words, printable
from twosample.data import LeftOut
from twosample.inference.bayes_factor import probability
from twosample.inference.columns import Table
from twosample.results.result import RowsResult
from twosample.results.result_parts import used_columns
from twosample.results.two_sample_result import TwoSampleResult
from twosample.show.content import DataTable, Fact, Facts, Panel

__all__ = ["GroupRow", "GroupsResult"]

_HEADINGS = {
    "group": "group",
    "n": "n",
    "n_other": "against",
    "log_bf10": "log BF10",
    "prob_h1": "P(different)",
    "auc": "AUC",
    "verdict": "verdict",
}


class GroupRow(NamedTuple):
    """One line of the table: one group against the reference.

    Attributes
    ----------
    group
        Name of the group.
    n
        How many rows it has, missing values left out.
    n_other
        How many rows it is compared with.
    log_bf10
        Log Bayes factor: positive for different, negative for the same.
    prob_h1
        Probability that the group differs, as if it were the only one compared: not adjusted for how many there are.
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
class GroupsResult(RowsResult[GroupRow]):
    """One two-sample test for each group; iteration gives a `GroupRow` each, in the order of the data.

    Attributes
    ----------
    by
        The column that says which group a row is in; empty where labels were given.
    reference
        The group that the others are compared with.
    group, n, n_other, log_bf10, prob_h1, auc, verdict
        The fields of the rows as arrays and tuples, in the order of the data, (G,).
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

    _no_look: ClassVar[tuple[str, str]] = (
        "a table of comparisons has no data of its own to test again",
        "call it on one of its `results`, which are in memory as long as the table is",
    )
    _row: ClassVar[type[Any]] = GroupRow
    _printed: ClassVar[tuple[str, ...]] = ("groups",)

    by: str
    reference: str
    group: Annotated[tuple[str, ...], Axes("groups")]
    n: Annotated[Indices, Axes("groups"), Within(1)]
    n_other: Annotated[Indices, Axes("groups"), Within(1)]
    log_bf10: Annotated[Array, Axes("groups")]
    prob_h1: Annotated[Array, Axes("groups"), SHARES]
    auc: Annotated[Array, Axes("groups"), SHARES, GAPS]
    verdict: Annotated[tuple[str, ...], Axes("groups")]
    prior_odds: Positive
    columns: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    model: models.Model
    notes: tuple[str, ...]
    results: dict[str, TwoSampleResult] = field(default_factory=dict)

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if not np.allclose(self.prob_h1, probability(self.log_bf10 + math.log(self.prior_odds)), atol=1e-6):
            yield "prob_h1 is not what follows from log_bf10 and prior_odds"

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"GroupsResult({len(self)} groups against {self.reference!r})"

    @property
    def table(self) -> Table[GroupRow]:
        """All lines of the table."""
        return Table(tuple(self), GroupRow._fields)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, one list for each column of the table."""
        content = super().to_dict()
        del content["results"]
        return content

    def facts(self) -> Facts:
        """The answer in words and numbers."""
        other = printable(self.reference)
        differ = sum(value > 0.5 for value in self.prob_h1.tolist())
        odds = [] if self.prior_odds == 1.0 else [Fact("prior odds", f"{self.prior_odds:g}", ", of each comparison")]
        count = count_in_words(len(self), "group")
        return Facts(
            title=f"{count}, each against {other!r}",
            verdict=f"{count}, each against {other!r}: {differ} more likely to differ than not.",
            lines=(
                Fact("likely to differ", f"{differ} of {len(self)}", large=True),
                Fact("data", f"{int(self.n.sum()):,} rows, {columns_in_words(len(self.columns))}"),
                *used_columns(self.columns, self.left_out),
                *odds,
                Fact("model", self.model.name),
            ),
            answer=f"The comparisons share rows (the rows of {other!r} are in all of them), so they are not "
            "independent; probabilities are not adjusted for how many there are.",
            notes=self.notes,
        )

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `groups`, a row for each comparison."""
        return {"groups": DataTable("Each group", _HEADINGS, self.table, note=self.facts().answer, printed=len(self))}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: how likely each group differs."""
        across = f"group, against {printable(self.reference)}"
        return {"groups": Panel.bars("Which groups differ", across, "P(different)", self.group, self.prob_h1)}
