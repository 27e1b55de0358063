"""The base of all results: a frozen record with facts, tables and panels, and all outputs that follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np

from twosample.common.calls import Call
from twosample.common.constraints import Positive
from twosample.common.frames import FrameKind
from twosample.common.records import Record
from twosample.common.words import log_bf10_text, probability_in_words, pvalue_text
from twosample.errors import InputError
from twosample.inference.bayes_factor import CONCLUSIONS, probability, verdict
from twosample.show.content import DataTable, Fact, Facts, Panel, text_of_facts, text_of_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.common.progress import Progress
    from twosample.results.robustness import Robustness

__all__ = ["BayesFactor", "InMemory", "Result", "RowsResult", "no_data"]

_Row = TypeVar("_Row")


def no_data(function: str) -> tuple[str, str]:
    """Why `robustness` is refused to a result that was read from a file, and the function to call instead."""
    remedy = f"call it on what {function} returned, before it is written or copied to another process"
    return "this result has no data to look at again", remedy


class InMemory(Record):
    """A record that may hold the data, or functions that look at them again; neither JSON nor pickles contain these."""

    _internal: ClassVar[tuple[str, ...]] = ("changed", "made_by", "remember", "remembered")
    _memory: ClassVar[Mapping[str, Any]] = {}

    def remember(
        self,
        look: Any = None,
        sequence: Any = None,
        votes: Any = None,
        *,
        objects: Any = None,
        call: Call | None = None,
        copied: Any = None,
    ) -> Self:
        """Keep functions of the data, in this record only, after those that the record `copied` has.

        With a `progress`, `look` tests with other assumptions and returns a `Robustness`. `sequence` goes through the
        rows in their order and returns a `Monitor`, `votes` returns log Bayes factors of blocks of rows. `objects` are
        those of both samples, and the witness as a function of new ones. The `call` made this record.
        """
        given = {"look": look, "sequence": sequence, "votes": votes, "objects": objects, "call": call}
        known = {} if copied is None else copied._memory
        memory = {**known, **{name: value for name, value in given.items() if value is not None}}
        object.__setattr__(self, "_memory", memory)
        return self

    def remembered(
        self, name: str, caller: str, remedy: str, why: str = "this result has no data to look at again"
    ) -> Any:
        """One of the functions in memory; where there is none, `caller` is refused with this remedy."""
        try:
            return self._memory[name]
        except KeyError:
            raise InputError(f"{caller}: {why}", remedy=remedy) from None

    @property
    def made_by(self) -> Call | None:
        """The call that made it, as lines that make it again; None for what was read from a file."""
        return self._memory.get("call")

    def changed(self, **fields: Any) -> Self:
        """The same with other values of some fields, and the same memory."""
        return replace(self, **fields).remember(copied=self)

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles hold: everything but the memory."""
        return {name: value for name, value in self.__dict__.items() if name != "_memory"}


@dataclass(frozen=True, eq=False, repr=False)
class Result(InMemory):
    """A record that prints, draws, reports and describes itself from its `facts`, `tables` and `panels`.

    Class attributes name what is more than generic: `page` a module of `twosample.show.report`, `figure` a function of
    `twosample.show.plots`.
    """

    page: ClassVar[str] = "any_page"
    figure: ClassVar[str] = "plot_panels"
    # The conclusions from a large and from a small Bayes factor.
    _conclusions: ClassVar[tuple[str, str]] = CONCLUSIONS
    # Why `robustness` is refused where nothing is remembered, and what to do.
    _no_look: ClassVar[tuple[str, str]] = (
        "this kind of result has no data to test again with other assumptions",
        "call it on what test returned for the two samples in question",
    )
    # Tables that a summary prints below the facts, and one that is shown beside the facts in notebooks.
    _printed: ClassVar[tuple[str, ...]] = ()

    def facts(self) -> Facts:
        """The answer in words and numbers, in the order in which they are read."""
        raise NotImplementedError

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name, the main one first; the facts where there is no other."""
        facts = self.facts()
        rows = [(fact.label, f"{fact.value}{fact.detail}") for fact in facts.lines]
        return {"facts": DataTable(facts.title, {"fact": "fact", "value": "value"}, rows)}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures, by name."""
        return {}

    def summary(self) -> str:
        """The answer in a few lines of text."""
        lines, tables = text_of_facts(self.facts()), self.tables()
        for name in self._printed:
            table = tables.get(name)
            if table is not None and len(table):
                lines += ["", *text_of_table(table), *([table.note] if table.note else [])]
        return "\n".join(lines)

    def to_frame(self, kind: FrameKind = "pandas", *, table: str | None = None) -> Any:
        """One of the tables as a data frame.

        Parameters
        ----------
        kind
            Which library's: "pandas", "polars" or "pyarrow".
        table
            Which table, by its name in `tables()`; the first one if None.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> x, y = np.random.default_rng(0).normal(size=(2, 30, 2))
        >>> ts.test(x, y).to_frame("polars").columns  # doctest: +ELLIPSIS
        ['column', 'prob', 'log_bf10', 'words', 'auc', 'mean_difference', 'mean_low', 'mean_high', ...]
        """
        tables = self.tables()
        name = next(iter(tables)) if table is None else table
        if not isinstance(name, str) or name not in tables:
            raise InputError(
                f"table: {name!r} is unknown", argument="table", remedy=f"use one of {', '.join(map(repr, tables))}"
            )
        return tables[name].to_frame(kind)

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the result (needs the `plot` extra).

        Save the figure with ``result.plot().savefig("result.png")``; `figsize` is in inches.
        """
        from twosample.show import plots

        return cast("Figure", getattr(plots, self.figure)(self, figsize=figsize))

    def report(self, path: str | Path, *, progress: Progress = False) -> Path:
        """Write the answer as one page that needs nothing else, to be sent round or printed (extra `report`).

        Where the data are still in memory, it also says how the answer depends on what was assumed (`robustness`),
        which takes a few times as long as the test did.

        Parameters
        ----------
        path
            Where to write it; it ends in .html. The page holds no rows of the data, unless `keep_rows` was asked for.
        progress
            As in `twosample.test`.

        Returns
        -------
        pathlib.Path
            The path.

        Examples
        --------
        >>> import tempfile, twosample as ts
        >>> result = ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(f"{folder}/answer.html").name
        'answer.html'
        """
        from twosample.show import report

        return report.write(self, path, self.robustness(progress=progress) if self.has_robustness else None)

    def text(self) -> str:
        """The answer as a paragraph for a paper: what was compared, the model, the numbers, and what to cite.

        Examples
        --------
        >>> import twosample as ts
        >>> ts.test([0.1, 0.4, 0.7, 0.9, 1.2, 0.3], [2.1, 2.4, 2.6, 2.9, 3.2, 2.2]).text()[:44]
        'We compared x with y (n = 6 and 6; 1 column)'
        """
        from twosample.show.report import paragraph

        return paragraph(self)

    @property
    def has_robustness(self) -> bool:
        """Whether `robustness` has data to look at again, and a prior that can be varied."""
        model = getattr(self, "model", None)
        varies = model is None or (model.amplitude is not None and not model.needs_pairs)
        return varies and "look" in self._memory

    def robustness(self, *, progress: Progress = False) -> Robustness:
        """How log BF10 depends on what was assumed: the test again with other priors and numbers of points.

        It is for results in memory, which have the data to look at again. It takes about four times as long as the
        test did.

        Parameters
        ----------
        progress
            As in `twosample.test`.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(1)
        >>> found = ts.test(rng.normal(0, 1, 60), rng.normal(2, 1, 60)).robustness()
        >>> found.sentence[:60]
        'The verdict holds for scales of the amplitude from 0.05 to 2'
        """
        why, remedy = self._no_look
        found = self.remembered("look", "robustness", remedy, why)(progress=progress)
        return replace(cast("Robustness", found), conclusions=self._claims)

    @property
    def _claims(self) -> tuple[str, str]:
        """The conclusions from a large and from a small Bayes factor."""
        return self._conclusions

    def with_notes(self, notes: tuple[str, ...]) -> Self:
        """The same result, with what was noted when its data were read before its own notes."""
        own = getattr(self, "diagnostics", None)
        if own is None:
            return self.changed(notes=(*notes, *self.notes))  # type: ignore[attr-defined]
        return self.changed(diagnostics=replace(own, notes=(*notes, *own.notes)))

    def _repr_html_(self) -> str:
        """Return the head of the report, for notebooks."""
        from twosample.show.report import head

        return head(self)


class RowsResult(Result, Generic[_Row]):
    """A result with a row for each of several comparisons; its fields are the columns of the table.

    Iteration gives the rows, as named tuples of the type `_row`.
    """

    _row: ClassVar[type[Any]]
    # Fields of the rows in which numbers may not be known, which are NaN.
    _with_gaps: ClassVar[tuple[str, ...]] = ("auc",)

    def _cells(self, name: str) -> Sequence[Any]:
        """The values of a field of the rows."""
        values = getattr(self, name)
        return values.tolist() if isinstance(values, np.ndarray) else values  # type: ignore[no-any-return]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._cells(self._row._fields[0]))

    def __iter__(self) -> Iterator[_Row]:
        """Go over the rows."""
        return map(self._row, *map(self._cells, self._row._fields))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, one list for each column of the table.

        Numbers that are not known are None, which JSON and most data frames know, unlike NaN.
        """
        content = super().to_dict()
        gaps = {name: [None if math.isnan(one) else one for one in content[name]] for name in self._with_gaps}
        return {**content, **gaps}


@dataclass(frozen=True, eq=False, repr=False)
class BayesFactor(Result):
    """A log Bayes factor and what follows from it."""

    _derived: ClassVar[tuple[str, ...]] = ("prob_h1", "prob_h0", "verdict")

    # What the probability of H1 is called.
    _hypothesis: ClassVar[str] = "P(different | data)"

    log_bf10: float  # positive for different, negative for the same
    prior_odds: Positive  # of "different" against "the same"

    def _evidence_facts(
        self, relabelled: tuple[float | None, float | None, str] = (None, None, ""), bound: str = ""
    ) -> list[Fact]:
        """Probability, prior odds, log BF10 and how it is a bound; p-value, e-value and what they are counted in."""
        found = [Fact(self._hypothesis, probability_in_words(self.prob_h1), large=True)]
        if self.prior_odds != 1.0:
            found.append(Fact("prior odds", f"{self.prior_odds:g}"))
        found.append(Fact("log BF10", f"{log_bf10_text(self.log_bf10)}{bound}", large=True))
        pvalue, evalue, counted = relabelled
        if pvalue is not None:
            found.append(Fact("p-value", pvalue_text(pvalue), f" ({counted})", large=True))
        if evalue is not None:
            found.append(Fact("e-value", f"{evalue:.3g}", large=True))
        return found

    @property
    def bf10(self) -> float:
        """Bayes factor of H1 ("different", "dependent") over H0; infinite where it exceeds the floating-point range."""
        return _exponential(self.log_bf10)

    @property
    def bf01(self) -> float:
        """Bayes factor of H0 over H1, 1/BF10; infinite where it exceeds the floating-point range."""
        return _exponential(-self.log_bf10)

    @property
    def prob_h1(self) -> float:
        """Posterior probability of H1: that the samples come from different distributions, or x and y are dependent."""
        return probability(self.log_bf10 + math.log(self.prior_odds))

    @property
    def prob_h0(self) -> float:
        """Posterior probability of H0: that the samples come from the same distribution, or x and y are independent."""
        return probability(-self.log_bf10 - math.log(self.prior_odds))

    @property
    def verdict(self) -> str:
        """The Bayes factor in words, on the scale of Kass and Raftery (1995), in both directions."""
        return verdict(self.log_bf10, flat=self._is_uninformative, conclusions=self._claims)

    @property
    def _is_uninformative(self) -> bool:
        """Whether the features do not vary, so that nothing follows from them."""
        return False

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return (
            f"{type(self).__name__}(log_bf10={self.log_bf10:.4g}, prob_h1={self.prob_h1:.4g}, verdict={self.verdict!r})"
        )


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
