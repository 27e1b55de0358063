"""The result of a test of several groups at once: P(not all alike), and which groups share a law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from twosample import models
from twosample.common.arrays import Array, Indices
from twosample.common.constraints import Axes, Nonnegative, Places, Share, Within
from twosample.common.words import (
    columns_in_words,
    count_in_words,
    log_bf10_text,
    printable,
    probability_in_words,
    sentence,
    shortened,
)
from twosample.data import LeftOut, some
from twosample.inference.columns import Table
from twosample.inference.partitions import MOST_LISTED, blocks_of
from twosample.results.result import BayesFactor, no_data
from twosample.results.result_parts import MOST_BARS, Diagnostics, used_columns
from twosample.show.content import DataTable, Fact, Facts, Panel

__all__ = ["ColumnRow", "KSampleResult", "PairRow", "PartitionRow", "partition_in_words"]

# Lines that a summary has of each table.
_SHOWN = 5
_SHOWN_PAIRS = 15


class PartitionRow(NamedTuple):
    """One partition of the groups.

    Attributes
    ----------
    groups
        Names of the groups of each block; those of a block share a distribution.
    posterior
        Probability of the partition.
    log_bf10
        Log Bayes factor against "all alike".
    prior
        Prior probability.
    """

    groups: tuple[tuple[str, ...], ...]
    posterior: float
    log_bf10: float
    prior: float


class PairRow(NamedTuple):
    """Two of the groups.

    Attributes
    ----------
    first, second
        Their names.
    prob_same
        Probability that they share a distribution, from the partitions of all groups.
    log_bf10
        Log Bayes factor of "different" for the pair within this model, with the noise of all groups. It is not that of
        `test` of the two, which has their own noise only.
    """

    first: str
    second: str
    prob_same: float
    log_bf10: float


class ColumnRow(NamedTuple):
    """One column by itself.

    Attributes
    ----------
    column
        Its name.
    log_bf10
        Log Bayes factor of "not all groups are alike", from the normal scores of this column alone.
    """

    column: str
    log_bf10: float


@dataclass(frozen=True, eq=False, repr=False)
class KSampleResult(BayesFactor):
    """The answer to "are these groups all from the same distribution, and if not, which are?".

    Attributes
    ----------
    log_bf10
        Natural logarithm of the Bayes factor: positive for "not all alike". All else follows.
    prior_odds
        Prior odds of "not all alike" against "all alike".
    names
        Names of the groups, (k,).
    n
        How many rows each has, (k,).
    assignments
        The partitions that were evaluated, as block numbers, (P, k); the first has all groups in one block.
    partition_log_bf10
        Their log Bayes factors against the first, (P,).
    partition_log_prior
        Their log prior probabilities given that not all groups are alike, (P,); 0 for the first.
    pair_log_bf10
        Log Bayes factors of each pair of groups, with the noise of all groups, in the order of `pairs`.
    column_log_bf10
        Log Bayes factors of each column alone, (D,); empty where only all columns together were tested.
    columns
        Names of the columns used.
    left_out
        Columns that were not used, and why.
    by
        The column that says which group a row is in; empty where there was none.
    model
        The model with all its constants.
    diagnostics
        How the answer was computed, and a sentence for everything that was left out or warned about.
    pvalue, evalue
        From permuted labels; None without.
    """

    _derived: ClassVar[tuple[str, ...]] = (*BayesFactor._derived, "partitions", "pairs", "by_column")
    _conclusions: ClassVar[tuple[str, str]] = (
        "not all groups come from one distribution",
        "all groups come from one distribution",
    )
    _hypothesis: ClassVar[str] = "P(not all alike)"
    _no_look: ClassVar[tuple[str, str]] = no_data("ksample")
    _printed: ClassVar[tuple[str, ...]] = ("groups", "partitions", "pairs")
    page: ClassVar[str] = "groups_page"
    figure: ClassVar[str] = "plot_ksample"

    names: Annotated[tuple[str, ...], Axes("groups", least=2)]
    n: Annotated[Indices, Axes("groups"), Within(1)]
    assignments: Annotated[Indices, Axes("partitions", "groups"), Places("groups")]
    partition_log_bf10: Annotated[Array, Axes("partitions", least=1)]
    partition_log_prior: Annotated[Array, Axes("partitions"), Within(high=0)]
    pair_log_bf10: Annotated[Array, Axes("pairs")]
    column_log_bf10: Annotated[Array, Axes("D", optional=True)]
    columns: Annotated[tuple[str, ...], Axes("D")]
    left_out: tuple[LeftOut, ...]
    by: str
    model: models.Model
    diagnostics: Diagnostics
    pvalue: Share | None = None
    evalue: Nonnegative | None = None

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        count = len(self.names)
        if len(self.pair_log_bf10) != count * (count - 1) // 2:
            yield f"pair_log_bf10 has {len(self.pair_log_bf10)} values, which {count} groups do not have"

    @property
    def _is_uninformative(self) -> bool:
        return self.diagnostics.flat

    @property
    def all_listed(self) -> bool:
        """Whether all partitions were evaluated; else log BF10 is a lower bound."""
        return len(self.names) <= MOST_LISTED

    @property
    def _posterior(self) -> Array:
        """Probability of each partition, (P,)."""
        given_different = np.exp(self.partition_log_prior + self.partition_log_bf10 - self.log_bf10)
        given_different[0] = 0.0
        found = self.prob_h1 * given_different / max(given_different.sum(), np.finfo(np.float64).tiny)
        found[0] = self.prob_h0
        return np.asarray(found)

    @property
    def partitions(self) -> Table[PartitionRow]:
        """Which groups share a distribution: a `PartitionRow` for each partition that was evaluated, likeliest first.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(1)
        >>> result = ts.ksample([rng.normal(size=50), rng.normal(2, 1, 50), rng.normal(size=50)])
        >>> result.partitions[0].groups, round(sum(row.posterior for row in result.partitions), 9)
        ((('0', '2'), ('1',)), 1.0)
        """
        posterior = self._posterior
        odds = self.prior_odds / (1.0 + self.prior_odds)
        prior = odds * np.exp(self.partition_log_prior)
        prior[0] = 1.0 - odds
        rows = [
            PartitionRow(
                tuple(tuple(self.names[group] for group in block) for block in blocks_of(self.assignments[place])),
                float(posterior[place]),
                float(self.partition_log_bf10[place]),
                float(prior[place]),
            )
            for place in np.argsort(-posterior, kind="stable")
        ]
        return Table(rows, PartitionRow._fields)

    @property
    def pairs(self) -> Table[PairRow]:
        """Each two groups, in the order of the data."""
        posterior, rows = self._posterior, []
        groups = combinations(range(len(self.names)), 2)
        for (first, second), log_bf10 in zip(groups, self.pair_log_bf10.tolist(), strict=True):
            same = self.assignments[:, first] == self.assignments[:, second]
            together = min(float(posterior[same].sum()), 1.0)
            rows.append(PairRow(self.names[first], self.names[second], together, log_bf10))
        return Table(rows, PairRow._fields)

    @property
    def by_column(self) -> Table[ColumnRow]:
        """Each column by itself, most evidence first; empty where only all columns together were tested."""
        order = np.argsort(-self.column_log_bf10, kind="stable")
        rows = [ColumnRow(self.columns[place], float(self.column_log_bf10[place])) for place in order]
        return Table(rows, ColumnRow._fields)

    def facts(self) -> Facts:
        """The answer in words and numbers, in the order in which they are read."""
        likeliest = self.partitions[0]
        prob = probability_in_words(likeliest.posterior)
        blocks = partition_in_words(likeliest.groups)
        counted = f"{self.diagnostics.permutations:,} {self.diagnostics.relabelled('permutations')}"
        rows = f"{int(self.n.sum())} {f'rows, {columns_in_words(len(self.columns))}' if self.columns else 'objects'}"
        bound = "" if self.all_listed else " or more"
        return Facts(
            title=f"{len(self.names)} groups",
            verdict=f"{sentence(self.verdict)}.",
            lines=(
                *self._evidence_facts((self.pvalue, self.evalue, counted), bound),
                Fact("likeliest", blocks, f" ({prob})"),
                Fact("data", f"{len(self.names)} groups, {rows}"),
                *self._column_facts(),
                Fact("model", self.model.name, f", {count_in_words(self.diagnostics.points, 'evaluation point')}"),
            ),
            answer=f"Likeliest: {blocks} (probability {prob}). A bar stands between groups that differ.",
            notes=self.diagnostics.notes,
        )

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `partitions`, `pairs`, `groups`, and `by_column` where there are several."""
        not_all = (
            f"Of {len(self.names)} groups not all partitions were looked at, but {len(self.assignments)} of them, "
            "the two blocks most alike made one at a time and what is near the best: log BF10 is a lower bound."
        )
        found = {
            "partitions": DataTable(
                "Which groups are alike",
                {"groups": "partition", "posterior": "posterior", "log_bf10": "log BF10", "prior": "prior"},
                self.partitions,
                note="" if self.all_listed else not_all,
                brief=("groups", "posterior", "log_bf10"),
                printed=_SHOWN,
            ),
            "pairs": DataTable(
                "Two at a time",
                {
                    "first": "group",
                    "second": "group",
                    "prob_same": "P(same)",
                    "log_bf10": "log BF10, noise of all groups",
                },
                self.pairs,
                note="P(same) is from the partitions of all groups; log BF10 has the noise of all groups, and so "
                "differs from that of a test of these two.",
                printed=_SHOWN_PAIRS,
            ),
            "groups": DataTable(
                "Rows of each group",
                {"group": "group", "n": "n"},
                list(zip(self.names, self.n.tolist(), strict=True)),
                printed=len(self.names),
            ),
        }
        if len(self.columns) > 1 and len(self.column_log_bf10):
            headings = {"column": "column", "log_bf10": "log BF10"}
            found["by_column"] = DataTable("Each column by itself", headings, self.by_column)
        return found

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: the likeliest partitions, and how likely each two groups are alike."""
        likeliest = self.partitions[:MOST_BARS]
        blocks, posterior = [partition_in_words(row.groups) for row in likeliest], [row.posterior for row in likeliest]
        pairs = self.pairs[:MOST_BARS]
        names, same = [f"{row.first}, {row.second}" for row in pairs], [row.prob_same for row in pairs]
        return {
            "partitions": Panel.bars("Which groups are alike", "partition", "probability", blocks, posterior),
            "pairs": Panel.bars("Two at a time", "groups", "P(same)", names, same),
        }

    def _column_facts(self) -> list[Fact]:
        if not self.columns:
            return []
        if len(self.columns) == 1 or not len(self.column_log_bf10):
            return used_columns(self.columns, self.left_out)
        words = [f"{printable(row.column)} {log_bf10_text(row.log_bf10)}" for row in self.by_column]
        left_out = used_columns((), self.left_out)
        return [Fact("log BF10 of columns", some(words, shown=_SHOWN, quote=False)), *left_out]


def partition_in_words(groups: tuple[tuple[str, ...], ...]) -> str:
    """The blocks of a partition, with a bar between those that differ."""
    return " | ".join(", ".join(shortened(printable(name), 32) for name in block) for block in groups)
