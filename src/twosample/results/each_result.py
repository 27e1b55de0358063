"""The result of a test of each column: a table sorted by evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from twosample import models
from twosample.common.arguments import count_of
from twosample.common.arrays import Array, Indices
from twosample.common.words import columns_in_words, printable
from twosample.data import some
from twosample.inference.bayes_factor import strength, verdict
from twosample.results.result import RowsResult
from twosample.show.content import DataTable, Fact, Facts, Panel, text_of_facts, text_of_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EachResult", "EachRow", "some_skipped"]

_SHOWN_ROWS = 10
_SHOWN_SKIPPED = 5
_HEADINGS = {
    "column": "column",
    "n_x": "n_x",
    "n_y": "n_y",
    "log_bf10": "log BF10",
    "prob_h1": "P(differs)",
    "q": "q",
    "auc": "AUC",
    "direction": "how, if it does",
    "verdict": "evidence",
}


class EachRow(NamedTuple):
    """One line of the table: one column, or one group of columns.

    Attributes
    ----------
    column
        Name of the column or the group.
    n_x, n_y
        Sizes of the samples, missing values left out.
    log_bf10
        Log Bayes factor: positive for different, negative for the same. Of a column from its normal scores alone, of a
        group that of `test`.
    prob_h1
        Probability that the samples differ in this column, with the share of such columns as its prior probability.
    q
        Expected share of false discoveries, were this row and all with as much evidence taken as different.
    auc
        P(x > y) + ½P(x = y); of categories of three levels or more that of which sample has more of a level, ½ or more;
        NaN for a group.
    direction
        How the samples differ, if they do; empty for a group.
    verdict
        The Bayes factor in words.
    columns
        The columns tested together.
    """

    column: str
    n_x: int
    n_y: int
    log_bf10: float
    prob_h1: float
    q: float
    auc: float
    direction: str
    verdict: str
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class EachResult(RowsResult[EachRow]):
    """One two-sample test a column, and a group of columns, sorted by evidence; iteration gives an `EachRow` each.

    Attributes
    ----------
    column, n_x, n_y, log_bf10, prob_h1, q, auc, direction
        The fields of the rows as arrays and tuples, by decreasing evidence, (R,).
    share
        Learnt share of the columns that differ.
    group_share
        Learnt share of the groups that differ; None without groups.
    fdr
        The false discovery rate for `discoveries`.
    paired
        Whether the rows are pairs.
    model
        The model with all its constants.
    groups
        The columns of each group.
    skipped
        Columns and groups that were not tested, and why.
    notes
        One sentence for everything that was left out or warned about.
    """

    _row: ClassVar[type[Any]] = EachRow
    _no_look: ClassVar[tuple[str, str]] = (
        "a table of single columns has no data to test again: each was tested by its normal scores alone",
        "call it on what test returns for the columns in question",
    )
    page: ClassVar[str] = "columns_page"
    figure: ClassVar[str] = "plot_each"

    column: tuple[str, ...]
    n_x: Indices
    n_y: Indices
    log_bf10: Array
    prob_h1: Array
    q: Array
    auc: Array
    direction: tuple[str, ...]
    share: float
    group_share: float | None
    fdr: float
    paired: bool
    model: models.Model
    groups: dict[str, tuple[str, ...]]
    skipped: dict[str, str]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Make the arrays unchangeable, and lists that come from JSON tuples."""
        object.__setattr__(self, "groups", {name: tuple(columns) for name, columns in self.groups.items()})
        super().__post_init__()

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"EachResult({len(self)} rows, {len(self.discoveries)} discoveries at fdr={self.fdr:g})"

    @property
    def discoveries(self) -> tuple[str, ...]:
        """Names of the columns and groups that differ, with a false discovery rate of `fdr` at most."""
        return tuple(name for name, q in zip(self.column, self.q.tolist(), strict=True) if q <= self.fdr)

    @property
    def verdict(self) -> tuple[str, ...]:
        """The Bayes factors in words."""
        return tuple(map(verdict, self.log_bf10.tolist()))

    def _cells(self, name: str) -> Sequence[Any]:
        return [self.groups.get(one, (one,)) for one in self.column] if name == "columns" else super()._cells(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, one list for each column of the table."""
        return {**super().to_dict(), "discoveries": list(self.discoveries)}

    def facts(self) -> Facts:
        """The answer in words and numbers."""
        found, singles = self.discoveries, len(self) - sum(name in self.groups for name in self.column)
        groups_found = sum(name in self.groups for name in found)
        counts = [f"{len(found) - groups_found:,} of {columns_in_words(singles)}"] * bool(singles)
        groups = len(self) - singles
        counts += [f"{groups_found} of {groups} group{'s' * (groups != 1)}"] * (groups > 0)
        shares = [f"{self.share:.3g} of the columns"] * bool(singles)
        shares += [] if self.group_share is None else [f"{self.group_share:.3g} of the groups"]
        skipped = Fact("not tested", printable(some_skipped(self.skipped)))
        return Facts(
            title=f"{len(self):,} columns{' and groups' if self.groups else ''}, one at a time",
            verdict=f"{' and '.join(counts)} differ at a false discovery rate of {self.fdr:g}.",
            lines=(
                Fact("share that differs", " and ".join(shares), large=True),
                Fact("data", self._sizes_in_words()),
                Fact("model", self.model.name),
                *([skipped] if self.skipped else []),
            ),
            answer="Each was tested by itself; the share of those that differ is learnt from all of them, and is the "
            "prior probability of each.",
            notes=self.notes,
        )

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `columns`, a row for each column and group."""
        rows = [row._replace(direction=row.direction or None)[: len(_HEADINGS)] for row in self]  # type: ignore[arg-type]
        return {"columns": DataTable("The columns by evidence", _HEADINGS, rows, texts={"verdict": _evidence})}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: log BF10 against the AUC of every column."""
        columns = {"columns": (self.auc, self.log_bf10)}
        return {"evidence": Panel("Evidence and size of the difference", "P(x > y)", "log BF10", columns, "point")}

    def summary(self, top: int = _SHOWN_ROWS) -> str:
        """The answer in a few lines of text, with the first `top` rows of the table."""
        table = text_of_table(self.tables()["columns"], count_of(top, "top", 0))
        return "\n".join([*text_of_facts(self.facts()), *(["", *table] if table else [])])

    def plot(
        self, *, names: tuple[str, str] = ("x", "y"), top: int = _SHOWN_ROWS, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """Draw log BF10 against the AUC of every column (needs the `plot` extra).

        The `top` columns that differ are named; `names` says what to call the samples, `figsize` is in inches. Save it
        with ``result.plot().savefig("columns.png")``.
        """
        from twosample.show.plots import plot_each

        return plot_each(self, names=names, top=count_of(top, "top", 0), figsize=figsize)

    def _sizes_in_words(self) -> str:
        n_x, n_y = ((int(sizes.min()), int(sizes.max())) for sizes in (self.n_x, self.n_y))
        first, second = (str(high) if low == high else f"{low} to {high}" for low, high in (n_x, n_y))
        return f"{first} pairs" if self.paired else f"{first} and {second} rows"


def some_skipped(skipped: dict[str, str]) -> str:
    """The columns that were not tested and the reasons, in words; the first few by name."""
    return some([f"{name!r} ({why})" for name, why in skipped.items()], shown=_SHOWN_SKIPPED, quote=False)


def _evidence(row: Mapping[str, Any]) -> str:
    """The verdict in few words."""
    words = strength(row["log_bf10"])
    return f"{words}: {'different' if row['log_bf10'] > 0 else 'same'}" if words else "not clear"
