"""Results of the baselines: small frozen records of a Bayes factor or of a p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from twosample.common.constraints import SampleSize, Share
from twosample.common.words import data_in_words, pvalue_text, sentence
from twosample.data import Samples
from twosample.errors import InputError
from twosample.results.result import BayesFactor, Result
from twosample.show.content import Fact, Facts

__all__ = ["BayesResult", "PValueResult", "check_one_column", "described"]

_LEVELS = ((0.001, "0.1 %"), (0.01, "1 %"), (0.05, "5 %"))


@dataclass(frozen=True, eq=False, repr=False)
class _Baseline(Result):
    """Description of the data, and the outputs that all baselines share."""

    test: ClassVar[str]

    n_x: SampleSize
    n_y: SampleSize
    columns: tuple[str, ...]
    paired: bool
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The answer in words."""
        raise NotImplementedError

    def _answer(self) -> list[Fact]:
        """The numbers that answer the question."""
        raise NotImplementedError

    def _details(self) -> list[tuple[str, str]]:
        """Names and values that only this test has."""
        return []

    def facts(self) -> Facts:
        """The answer in words and numbers, in the order in which they are read."""
        data = data_in_words(self.n_x, self.n_y, len(self.columns), self.paired)
        rows = (*self._details(), ("data", data), ("test", self.test))
        return Facts(
            title=self.test,
            verdict=f"{sentence(self.verdict)}.",
            lines=(*self._answer(), *(Fact(name, value) for name, value in rows)),
            notes=self.notes,
        )


@dataclass(frozen=True, eq=False, repr=False)
class BayesResult(_Baseline, BayesFactor):
    """Result of a Bayesian test.

    Attributes
    ----------
    log_bf10
        Natural logarithm of the Bayes factor: positive for different, negative for the same. All else follows.
    prior_odds
        Prior odds of "different" against "the same".
    n_x, n_y
        Sample sizes used.
    columns
        Names of the columns used.
    paired
        Whether the rows are pairs.
    notes
        One sentence for everything that was dropped or warned about.
    """

    verdict = BayesFactor.verdict

    def _answer(self) -> list[Fact]:
        return self._evidence_facts()


@dataclass(frozen=True, eq=False, repr=False)
class PValueResult(_Baseline):
    """Result of a test with a p-value.

    Attributes
    ----------
    statistic
        The test statistic: larger for samples that differ more.
    pvalue
        How probable a statistic at least as large is if the samples come from the same distribution.
    n_x, n_y, columns, paired, notes
        As in `BayesResult`.
    """

    _derived: ClassVar[tuple[str, ...]] = ("verdict",)

    statistic: float
    pvalue: Share

    @property
    def verdict(self) -> str:
        """The p-value in words. A large one is no evidence that the distributions are the same."""
        level = next((words for level, words in _LEVELS if self.pvalue <= level), None)
        if level is None:
            return "no significant difference at the 5 % level"
        return f"the samples differ significantly at the {level} level"

    def _answer(self) -> list[Fact]:
        statistic = f"{self.statistic:.4g}"
        return [Fact("p-value", pvalue_text(self.pvalue), large=True), Fact("statistic", statistic, large=True)]

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return (
            f"{type(self).__name__}(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}, verdict={self.verdict!r})"
        )


def described(samples: Samples) -> dict[str, Any]:
    """The fields of a result that describe the data."""
    return {name: getattr(samples, name) for name in ("n_x", "n_y", "columns", "paired", "notes")}


def check_one_column(samples: Samples, test: str) -> None:
    """Refuse samples of several columns."""
    if samples.n_columns > 1:
        raise InputError(
            f"x and y have {samples.n_columns} columns",
            argument="x and y",
            remedy=f"{test} compares a single one: choose it, or use another test",
        )
