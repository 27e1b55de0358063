"""What a test of several groups at once returns: P(not all alike), which groups share a law, as text and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from twosample import models
from twosample.common.arrays import Array, Indices
from twosample.common.words import (
    aligned,
    columns_in_words,
    log_bf10_text,
    printable,
    probability_in_words,
    pvalue_text,
    sentence,
)
from twosample.data import LeftOut, some
from twosample.inference.bayes_factor import BayesFactor, strength
from twosample.inference.columns import Table
from twosample.inference.partitions import MOST_LISTED, blocks_of
from twosample.results.result_parts import Diagnostics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        The partitions looked at as block numbers, (P, k); the first has all groups in one block.
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

    _derived: ClassVar[tuple[str, ...]] = ("prob_h1", "prob_h0", "verdict", "partitions", "pairs", "by_column")

    names: tuple[str, ...]
    n: Indices
    assignments: Indices
    partition_log_bf10: Array
    partition_log_prior: Array
    pair_log_bf10: Array
    column_log_bf10: Array
    columns: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    by: str
    model: models.Model
    diagnostics: Diagnostics
    pvalue: float | None = None
    evalue: float | None = None

    @property
    def verdict(self) -> str:
        """The Bayes factor in words, on the scale of Kass and Raftery (1995), in both directions."""
        if self.diagnostics.flat:
            return "no clear evidence either way: the features do not vary"
        words = strength(self.log_bf10)
        if not words:
            return "no clear evidence either way"
        return f"{words} evidence that {'not all' if self.log_bf10 > 0 else 'all'} groups come from one distribution"

    @property
    def all_listed(self) -> bool:
        """Whether all partitions were looked at; else log BF10 is a lower bound."""
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
        """Which groups share a distribution: a `PartitionRow` for each partition looked at, likeliest first.

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
        posterior = self._posterior
        rows = []
        for (first, second), log_bf10 in zip(
            combinations(range(len(self.names)), 2), self.pair_log_bf10.tolist(), strict=True
        ):
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

    def summary(self) -> str:
        """The answer in a few lines of text."""
        likeliest = self.partitions[0]
        lines = [
            f"{sentence(self.verdict)}.",
            f"  P(not all alike)     {probability_in_words(self.prob_h1)}",
            *([] if self.prior_odds == 1.0 else [f"  prior odds           {self.prior_odds:g}"]),
            f"  log BF10             {log_bf10_text(self.log_bf10)}{'' if self.all_listed else ' or more'}",
            *self._permutations_in_words(),
            f"  likeliest            {partition_in_words(likeliest.groups)} "
            f"({probability_in_words(likeliest.posterior)})",
            f"  data                 {len(self.names)} groups, {int(self.n.sum())} rows, "
            f"{columns_in_words(len(self.columns))}",
            *self._columns_in_words(),
            f"  model                {self.model.name}, {self.diagnostics.points} evaluation points",
            *(f"  note                 {printable(note)}" for note in self.diagnostics.notes),
            "",
            *aligned(
                [
                    ("group", "n"),
                    *((_short(name), str(n)) for name, n in zip(self.names, self.n.tolist(), strict=True)),
                ],
                "<>",
            ),
            "",
            *aligned(
                [("partition", "posterior", "log BF10")]
                + [
                    (partition_in_words(row.groups), probability_in_words(row.posterior), log_bf10_text(row.log_bf10))
                    for row in self.partitions[:_SHOWN]
                ],
                "<>>",
            ),
        ]
        if not self.all_listed:
            lines.append(
                f"Of {len(self.names)} groups not all partitions were looked at, but {len(self.assignments)} of them, "
                "the two blocks most alike made one at a time and what is near the best: log BF10 is a lower bound."
            )
        lines += ["", *aligned(self._pairs_table(), "<<>>")]
        more = len(self.pair_log_bf10) - _SHOWN_PAIRS
        return "\n".join(lines + ([f"  and {more} more pairs"] if more > 0 else []))

    def _pairs_table(self) -> list[tuple[str, str, str, str]]:
        head = ("group", "group", "P(alike)", "log BF10, noise of all groups")
        return [head] + [
            (_short(row.first), _short(row.second), probability_in_words(row.prob_same), log_bf10_text(row.log_bf10))
            for row in self.pairs[:_SHOWN_PAIRS]
        ]

    def _permutations_in_words(self) -> list[str]:
        if self.pvalue is None:
            return []
        lines = [f"  p-value              {pvalue_text(self.pvalue)} ({self.diagnostics.permutations} permutations)"]
        return lines if self.evalue is None else [*lines, f"  e-value              {self.evalue:.3g}"]

    def _columns_in_words(self) -> list[str]:
        lines = []
        if len(self.columns) > 1 and len(self.column_log_bf10):
            words = [f"{printable(row.column)} {log_bf10_text(row.log_bf10)}" for row in self.by_column]
            lines.append(f"  log BF10 of columns  {some(words, shown=_SHOWN, quote=False)}")
        elif not all(column.isdecimal() for column in self.columns):
            lines.append(f"  columns used         {printable(some(self.columns, quote=False))}")
        if self.left_out:
            words = [f"{printable(one.column)} ({one.reason})" for one in self.left_out]
            lines.append(f"  columns left out     {some(words, quote=False)}")
        return lines

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the likeliest partitions, and for each two groups how likely they are alike (needs the `plot` extra).

        Save the figure with ``result.plot().savefig("groups.png")``.
        """
        from twosample.show.plots import plot_ksample

        return plot_ksample(self, figsize=figsize)

    def report(self, path: str | Path) -> Path:
        """Write the answer as one page that needs nothing else, to be sent round or printed (extra `report`).

        Parameters
        ----------
        path
            Where to write it; it ends in .html. The page holds no rows of the data.

        Examples
        --------
        >>> import tempfile, twosample as ts
        >>> result = ts.ksample([[0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9], [0.2, 0.3, 0.8, 0.6]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(f"{folder}/groups.html").name
        'groups.html'
        """
        from twosample.show import report

        return report.write(self, path)

    def text(self) -> str:
        """The answer as a paragraph for a paper."""
        from twosample.show.report import groups_paragraph

        return groups_paragraph(self)

    def _repr_html_(self) -> str:
        """Return the head of the report, for notebooks."""
        from twosample.show.report import head

        return head(self)


def partition_in_words(groups: tuple[tuple[str, ...], ...]) -> str:
    """The blocks of a partition, with a bar between those that differ.

    Examples
    --------
    >>> partition_in_words((("a", "c"), ("b",)))
    'a, c | b'
    """
    return " | ".join(", ".join(_short(name) for name in block) for block in groups)


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= 32 else f"{shown[:29]}..."
