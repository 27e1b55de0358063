"""Which columns differ: what the mixture over subsets of columns says of each column and of each subset."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self, TypeVar

import numpy as np

from twosample.common.arrays import Array
from twosample.common.constraints import NONNEGATIVE, SHARES, Axes, Count, Places, Share, Within
from twosample.common.frames import FrameKind, to_frame
from twosample.common.records import Comparable, to_plain
from twosample.common.words import printable, share_in_words, shortened
from twosample.data.ranks import clearest_level
from twosample.inference import discoveries
from twosample.inference.effect import size_in_words, weighed
from twosample.inference.units import ColumnInUnits, InUnits

__all__ = ["BySubset", "ColumnEvidence", "OnlyInOne", "SubsetEvidence", "Table", "moved_level"]


# Spreads of normal scores that differ by more are those of a sample of one value, and of another one.
_LARGEST_RATIO = 100.0
# Below this one, two digits of a ratio say 1.
_CLEAR_RATIO = 1.05

# Rows of a table in JSON; and when printed, with the length of a line.
_WRITTEN = 100
_PRINTED, _WIDEST = 20, 160

Row = TypeVar("Row", bound=tuple[Any, ...], covariant=True)


@dataclass(frozen=True)
class OnlyInOne:
    """Levels of a column of categories that one sample has and the other has not, where chance does not explain it.

    Dealt to the samples at random, all c rows of a level are in this one with probability wᶜ, w its share of all rows.
    Levels of so few rows are left out that more than a tenth of what was found could be expected, or as many levels in
    more than one of a thousand cases.

    Attributes
    ----------
    column
        Its name.
    sample
        Which sample has them: 0 is x, and 1 is y.
    rows
        How many of its rows have them.
    share
        What share of its rows that is.
    levels
        The most common of them.
    count
        How many levels there are.
    """

    column: str
    sample: Annotated[int, Within(0, 1)]
    rows: Count
    share: Share
    levels: tuple[str, ...]
    count: Count

    def words(self, names: tuple[str, str]) -> str:
        """The same in a sentence, with the names of the samples.

        Examples
        --------
        >>> OnlyInOne("airport", 1, 37, 0.37, ("EWR2",), 1).words(("yesterday", "today"))
        "37 % of rows of today have a level of 'airport' that yesterday never had: 'EWR2'."
        """
        own, other = (printable(names[place]) for place in (self.sample, 1 - self.sample))
        listed = ", ".join(repr(printable(shortened(level))) for level in self.levels)
        more = f" and {self.count - len(self.levels):,} more" if self.count > len(self.levels) else ""
        return (
            f"{share_in_words(self.share)} of rows of {own} have a level of {printable(self.column)!r} that {other} "
            f"never had: {listed}{more}."
        )


class ColumnEvidence(NamedTuple):
    """The evidence that one column differs.

    Attributes
    ----------
    column
        Its name.
    prob
        Probability that its own distribution differs, from its Bayes factor alone. The prior probability is the share
        of columns that differ, learnt from all of them.
    log_bf10
        Its log Bayes factor, from the normal scores of this column alone.
    words
        Which way it differs and how much, if it does.
    auc
        AUC of the witness of this column alone, from 0.5 to 1: the posterior median if it differs, and 0.5 if not,
        weighed by `prob`. Of categories that of which sample has more of a level. None where the model does not say.
    mean_difference, mean_low, mean_high
        Mean of x less that of y in the units of the data (dates in days), and its 90 % interval: Welch's, or Student's
        of the differences of pairs. These and the next are None for categories.
    median_difference, median_low, median_high
        Median of x less that of y, with a distribution-free 90 % interval; of pairs the median of the differences. None
        for fewer than 5 rows.
    spread_ratio, spread_low, spread_high
        Interquartile range of x over that of y, with a 90 % interval. None for fewer than 5 rows, and where the middle
        half of a sample is one value.
    """

    column: str
    prob: float
    log_bf10: float
    words: str
    auc: float | None = None
    mean_difference: float | None = None
    mean_low: float | None = None
    mean_high: float | None = None
    median_difference: float | None = None
    median_low: float | None = None
    median_high: float | None = None
    spread_ratio: float | None = None
    spread_low: float | None = None
    spread_high: float | None = None


class SubsetEvidence(NamedTuple):
    """The evidence that the samples differ in one subset of columns together, and in no others.

    Subsets exclude each other. Of two columns that both differ only the stronger one has posterior mass as a subset of
    one, so that `by_column` says which columns differ.

    Attributes
    ----------
    columns
        Their names.
    prior, posterior
        Probabilities given that the samples differ.
    log_bf10
        Log Bayes factor.
    """

    columns: tuple[str, ...]
    prior: float
    log_bf10: float
    posterior: float


def moved_level(
    names: tuple[str, ...], share_x: Array, share_y: Array, n_x: int, n_y: int, variance: Array | None = None
) -> tuple[str, float]:
    """Which level of a column of categories moved most clearly, in words, and the AUC of having it.

    After the names of the levels as `twosample.data.ranks.clearest_level`.
    """
    place, z = clearest_level(share_x, share_y, n_x, n_y, variance)
    if not z:
        return "the same shares", 0.5
    before, after = float(share_x[place]), float(share_y[place])
    sample = "x" if before > after else "y"
    auc = 0.5 + 0.5 * (before - after)
    return f"more {printable(names[place])!r} in {sample}: {share_in_words(before)} → {share_in_words(after)}", auc


class Table(tuple[Row, ...]):
    """Rows that are named tuples, with the names of their fields; also as a data frame."""

    _names: tuple[str, ...]

    def __new__(cls, rows: Iterable[Row], fields: tuple[str, ...] = ()) -> Self:
        """Make a table of rows with these fields."""
        table = super().__new__(cls, rows)
        table._names = fields
        return table

    def __repr__(self) -> str:
        """Return the first rows, one a line, and how many more there are."""
        lines = [shortened(repr(row), _WIDEST) for row in self[:_PRINTED]]
        more = len(self) - len(lines)
        return "\n".join([*lines, *([f"... and {more:,} more rows"] if more else [])]) or "no rows"

    def to_plain(self) -> list[dict[str, Any]]:
        """The first hundred rows for JSON, where the record behind the table has all of them."""
        return [dict(zip(self._names, map(to_plain, row), strict=True)) for row in self[:_WRITTEN]]

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """The rows as a data frame of "pandas", "polars" or "pyarrow"."""
        content = {
            name: [list(row[place]) if isinstance(row[place], tuple) else row[place] for row in self]
            for place, name in enumerate(self._names)
        }
        return to_frame(content, kind)


@dataclass(frozen=True, eq=False, repr=False)
class BySubset(Comparable):
    """The evidence of columns and of subsets of columns, as arrays."""

    log_bf10: Annotated[Array, Axes("D")]  # of the normal scores of each column alone, (D,)
    # P(x > y) + ½P(x = y) of each column, (D,); of categories that of how much more common in x a level is, ½ or more,
    # and of two levels that of having the one which moved.
    auc: Annotated[Array, Axes("D"), SHARES]
    # Standard deviation of the normal scores of x over that of y, (D,); 1 for categories
    spread: Annotated[Array, Axes("D"), NONNEGATIVE]
    direction: Annotated[tuple[str, ...], Axes("D")]  # how each column differs, if it does
    # The places of the columns of every subset
    subsets: Annotated[tuple[Annotated[tuple[int, ...], Places("D")], ...], Axes("subsets")]
    prior: Annotated[Array, Axes("subsets"), SHARES]  # probability of each subset given that the samples differ, (S,)
    subset_log_bf10: Annotated[Array, Axes("subsets")]
    # AUC of the witness of each column alone, given that it differs, (D,)
    witness_auc: Annotated[Array, Axes("D"), SHARES] | None = None
    units: InUnits | None = None  # how much each column differs in its units; of some rows where those are very many

    @property
    def probabilities(self) -> Array:
        """Probability of each column that its distribution differs, (D,)."""
        return discoveries.posterior(self.log_bf10, discoveries.learn_share(self.log_bf10))

    @property
    def posterior(self) -> Array:
        """Posterior probability of each subset given that the samples differ, (S,)."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.prior) + self.subset_log_bf10
        return np.asarray(np.exp(logs - np.logaddexp.reduce(logs)))

    def by_column(self, columns: tuple[str, ...], prob_h1: float) -> Table[ColumnEvidence]:
        """The columns, likeliest first. One column alone differs as probably as the samples do."""
        prob = self.probabilities if len(columns) > 1 else np.array([prob_h1])
        rows = [
            ColumnEvidence(
                columns[i],
                float(prob[i]),
                float(self.log_bf10[i]),
                self.words(int(i)),
                None if self.witness_auc is None else float(weighed(self.witness_auc[i], prob[i])),
                *self.in_units(int(i)),
            )
            for i in np.argsort(-self.log_bf10, kind="stable")
        ]
        return Table(rows, ColumnEvidence._fields)

    def by_subset(self, columns: tuple[str, ...]) -> Table[SubsetEvidence]:
        """The subsets, likeliest first."""
        posterior = self.posterior
        rows = [
            SubsetEvidence(
                tuple(columns[place] for place in self.subsets[i]),
                float(self.prior[i]),
                float(self.subset_log_bf10[i]),
                float(posterior[i]),
            )
            for i in np.argsort(-posterior, kind="stable")
        ]
        return Table(rows, SubsetEvidence._fields)

    def words(self, column: int) -> str:
        """Which way a column differs, and how much."""
        way = self.direction[column]
        if way.startswith("larger"):
            auc = float(max(self.auc[column], 1.0 - self.auc[column]))
            auc = auc if self.witness_auc is None else float(self.witness_auc[column])
            return f"{way}, {size_in_words(auc)} (AUC {auc:.2f})"
        if way.startswith("more spread"):
            ratio = math.exp(abs(math.log(float(self.spread[column]))))
            # One value that is repeated throughout has no spread to compare with.
            text = f"{ratio:.2g}" if ratio >= _CLEAR_RATIO else f"{ratio:.3g}"
            return f"{way}, {text} times" if text != "1" and ratio < _LARGEST_RATIO else way
        return way

    def in_units(self, column: int) -> ColumnInUnits:
        """How much a column differs in its units."""
        return ColumnInUnits() if self.units is None else self.units.column(column)

    def together(self, limit: float = 0.5) -> tuple[int, int] | None:
        """The likeliest subset, if it is of two columns neither of which is likely to differ alone."""
        best = self.subsets[int(np.argmax(self.posterior))]
        if len(best) != 2 or (self.probabilities[list(best)] > limit).any():
            return None
        return best[0], best[1]
