"""The result of a test of each column: a table sorted by evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from twosample import models
from twosample.common.arguments import count_of, is_one_of
from twosample.common.arrays import Array, Flags, Indices
from twosample.common.constraints import GAPS, NONNEGATIVE, SHARES, Axes, Share, Within
from twosample.common.words import columns_in_words, count_in_words, pairs_in_words, printable
from twosample.data import some
from twosample.errors import InputError
from twosample.inference.bayes_factor import strength, verdict
from twosample.inference.effect import size_in_words
from twosample.results.result import RowsResult
from twosample.results.units_in_words import how_many_matter
from twosample.show.content import DataTable, Fact, Facts, Panel, text_of_facts, text_of_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EachResult", "EachRow", "check_sort", "some_skipped"]

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
    "size": "size, if it does",
    "direction": "how, if it does",
    "prob_larger": "P(x > y)",
    "prob_beyond_rope": "P(beyond rope)",
    "verdict": "evidence",
}
# What a summary shows, with the probability that takes the place of q where there is a rope.
_BRIEF = ("column", "n_x", "n_y", "log_bf10", "prob_h1", "q", "auc", "size", "direction", "prob_beyond_rope", "verdict")
_SORTS = ("evidence", "size")


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
        AUC of the witness, from 0.5 to 1: the posterior median if the samples differ, and 0.5 if not, weighed by
        `prob_h1`. That of a column is the `auc` of `by_column` of `test`, and sees a difference in spread or shape as
        well as a shift; of categories it is that of which sample has more of a level. NaN for models that do not say
        how much samples differ.
    size
        How large the difference is in words, if there is one.
    direction
        How the samples differ, if they do; empty for a group.
    prob_larger
        P(x > y) + ½P(x = y); NaN for a group.
    prob_beyond_rope
        P(AUC > `rope` | data); None without a `rope`, NaN for categories.
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
    size: str
    direction: str
    prob_larger: float
    prob_beyond_rope: float | None
    verdict: str
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class EachResult(RowsResult[EachRow]):
    """One two-sample test a column, and a group of columns, sorted by evidence; iteration gives an `EachRow` each.

    Attributes
    ----------
    column, n_x, n_y, log_bf10, prob_h1, q, auc, direction, prob_larger, prob_beyond_rope
        The fields of the rows as arrays and tuples, by decreasing evidence or size, (R,).
    share
        Learnt share of the columns that differ.
    group_share
        Learnt share of the groups that differ; None without groups.
    fdr
        The false discovery rate for `discoveries`.
    rope
        An AUC that counts as no difference that matters, or None.
    paired, paired_by
        Whether the rows are pairs, and what they were matched by, as in the result of `test`.
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
    _with_gaps: ClassVar[tuple[str, ...]] = ("auc", "prob_larger", "prob_beyond_rope")
    _internal: ClassVar[tuple[str, ...]] = (*RowsResult._internal, "found")
    _no_look: ClassVar[tuple[str, str]] = (
        "a table of single columns has no data to test again: each was tested by its normal scores alone",
        "call it on what test returns for the columns in question",
    )
    page: ClassVar[str] = "columns_page"
    figure: ClassVar[str] = "plot_each"

    column: Annotated[tuple[str, ...], Axes("rows")]
    n_x: Annotated[Indices, Axes("rows"), NONNEGATIVE]
    n_y: Annotated[Indices, Axes("rows"), NONNEGATIVE]
    log_bf10: Annotated[Array, Axes("rows")]
    prob_h1: Annotated[Array, Axes("rows"), SHARES]
    q: Annotated[Array, Axes("rows"), SHARES]
    auc: Annotated[Array, Axes("rows"), SHARES, GAPS]
    direction: Annotated[tuple[str, ...], Axes("rows")]
    prob_larger: Annotated[Array, Axes("rows"), SHARES, GAPS]
    prob_beyond_rope: Annotated[Array, Axes("rows"), SHARES, GAPS]
    share: Share
    group_share: Share | None
    fdr: Share
    paired: bool
    model: models.Model
    groups: dict[str, tuple[str, ...]]
    skipped: dict[str, str]
    notes: tuple[str, ...]
    rope: Annotated[float, Within(0.5, 1)] | None = None
    paired_by: str | None = None

    def __post_init__(self) -> None:
        """Make the arrays unchangeable, and lists that come from JSON tuples."""
        object.__setattr__(self, "groups", {name: tuple(columns) for name, columns in self.groups.items()})
        super().__post_init__()

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if not set(self.column).issuperset(self.groups):
            yield "groups names what is not in column"

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"EachResult({len(self)} rows, {len(self.discoveries)} discoveries at fdr={self.fdr:g})"

    @property
    def discoveries(self) -> tuple[str, ...]:
        """Names of the columns and groups that differ, with a false discovery rate of `fdr` at most.

        Each of them is also likelier to differ than not.
        """
        return tuple(name for name, found in zip(self.column, self.found.tolist(), strict=True) if found)

    @property
    def found(self) -> Flags:
        """Which rows are discoveries, (R,)."""
        return (self.q <= self.fdr) & (self.prob_h1 > 0.5)

    @property
    def size(self) -> tuple[str, ...]:
        """How large the differences are in words, if there are any."""
        with np.errstate(divide="ignore", invalid="ignore"):
            given_different = np.clip(0.5 + (self.auc - 0.5) / self.prob_h1, 0.5, 1.0)
        return tuple("" if math.isnan(auc) else size_in_words(auc) for auc in given_different.tolist())

    def sorted_by(self, sort: str) -> Self:
        """The same table by decreasing "evidence" or, with "size", by decreasing AUC."""
        check_sort(sort)
        keys = (-self.log_bf10,) if sort == "evidence" else (-self.log_bf10, -np.nan_to_num(self.auc, nan=0.0))
        order = np.lexsort(keys)
        fields = {name: getattr(self, name) for name in self._row._fields if name in self.__dataclass_fields__}
        return self.changed(
            **{
                name: tuple(values[place] for place in order) if isinstance(values, tuple) else values[order]
                for name, values in fields.items()
            }
        )

    @classmethod
    def _from_older(cls, content: dict[str, Any]) -> dict[str, Any]:
        if "prob_larger" in content or "auc" not in content:
            return content
        nothing = [None] * len(content["auc"])  # `auc` was P(x > y) + ½P(x = y)
        return {**content, "prob_larger": content["auc"], "auc": nothing, "prob_beyond_rope": nothing}

    @property
    def verdict(self) -> tuple[str, ...]:
        """The Bayes factors in words."""
        return tuple(map(verdict, self.log_bf10.tolist()))

    def _cells(self, name: str) -> Sequence[Any]:
        if name == "prob_beyond_rope" and self.rope is None:
            return [None] * len(self)
        return [self.groups.get(one, (one,)) for one in self.column] if name == "columns" else super()._cells(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, one list for each column of the table."""
        return {**super().to_dict(), "discoveries": list(self.discoveries)}

    def facts(self) -> Facts:
        """The answer in words and numbers."""
        alone = np.array([name not in self.groups for name in self.column], dtype=bool)
        found, singles = self.discoveries, int(alone.sum())
        groups_found = sum(name in self.groups for name in found)
        counts = [f"{len(found) - groups_found:,} of {columns_in_words(singles)}"] * bool(singles)
        groups = len(self) - singles
        counts += [f"{groups_found} of {count_in_words(groups, 'group')}"] * (groups > 0)
        shares = [f"{self.share:.3g} of the columns"] * bool(singles)
        shares += [] if self.group_share is None else [f"{self.group_share:.3g} of the groups"]
        skipped = Fact("not tested", printable(some_skipped(self.skipped)))
        return Facts(
            title=f"{len(self):,} columns{' and groups' if self.groups else ''}, one at a time",
            verdict=f"{' and '.join(counts)} differ at a false discovery rate of {self.fdr:g}.",
            lines=(
                *how_many_matter(self.auc[self.found & alone], singles, self.rope),
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
        headings = {name: words for name, words in _HEADINGS.items() if self.rope or name != "prob_beyond_rope"}
        if self.rope:
            headings["prob_beyond_rope"] = f"P(AUC > {self.rope:g})"
        rows = [tuple(None if getattr(row, name) == "" else getattr(row, name) for name in headings) for row in self]
        brief = tuple(name for name in _BRIEF if name in headings)
        return {"columns": DataTable("The columns", headings, rows, brief=brief, texts={"verdict": _evidence})}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: log BF10 against P(x > y) of every column."""
        columns = {"columns": (self.prob_larger, self.log_bf10)}
        return {"evidence": Panel("Evidence and size of the difference", "P(x > y)", "log BF10", columns, "point")}

    def summary(self, top: int = _SHOWN_ROWS) -> str:
        """The answer in a few lines of text, with the first `top` rows of the table."""
        table = text_of_table(self.tables()["columns"], count_of(top, "top", 0))
        return "\n".join([*text_of_facts(self.facts()), *(["", *table] if table else [])])

    def plot(
        self, *, names: tuple[str, str] = ("x", "y"), top: int = _SHOWN_ROWS, figsize: tuple[float, float] | None = None
    ) -> Figure:
        """Draw log BF10 against P(x > y) of every column (needs the `plot` extra).

        The `top` columns that differ are named; `names` says what to call the samples, `figsize` is in inches. Save it
        with ``result.plot().savefig("columns.png")``.
        """
        from twosample.show.plots import plot_each

        return plot_each(self, names=names, top=count_of(top, "top", 0), figsize=figsize)

    def _sizes_in_words(self) -> str:
        n_x, n_y = ((int(sizes.min()), int(sizes.max())) for sizes in (self.n_x, self.n_y))
        first, second = (str(high) if low == high else f"{low} to {high}" for low, high in (n_x, n_y))
        return pairs_in_words(first, self.paired_by) if self.paired else f"{first} and {second} rows"


def check_sort(sort: object) -> None:
    """Refuse orders of the table that there are not."""
    if not is_one_of(sort, _SORTS):
        raise InputError(f"sort: {sort!r} is no order", argument="sort", remedy='use "evidence" or "size"')


def some_skipped(skipped: dict[str, str]) -> str:
    """The columns that were not tested and the reasons, in words; the first few by name."""
    return some([f"{name!r} ({why})" for name, why in skipped.items()], shown=_SHOWN_SKIPPED, quote=False)


def _evidence(row: Mapping[str, Any]) -> str:
    """The verdict in few words."""
    words = strength(row["log_bf10"])
    return f"{words}: {'different' if row['log_bf10'] > 0 else 'same'}" if words else "not clear"
