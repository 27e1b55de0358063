"""The result of a comparison of one sample with a law: that of a test, with the law in the place of y."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from twosample.common.words import columns_in_words, printable
from twosample.results.comparison import Comparison
from twosample.results.objects_result import ObjectsResult
from twosample.results.result import no_data
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["GoodnessOfObjectsResult", "GoodnessResult"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _OfLaw(Comparison):
    """What answers about a law have in common; its fields are documented in `GoodnessResult`."""

    _conclusions: ClassVar[tuple[str, str]] = ("the sample differs from the law", "the sample comes from the law")
    _relabellings: ClassVar[str] = "simulated data sets"
    _relabelled_data: ClassVar[str] = "simulated data"
    _no_look: ClassVar[tuple[str, str]] = no_data("goodness")

    law: str = ""
    exact: bool = True

    @classmethod
    def of(cls, result: Comparison, **more: Any) -> Self:
        """The result of a test, with what there is to say of the law."""
        content = {field.name: getattr(result, field.name) for field in fields(result)}
        return cls(**{**content, **more}).remember(copied=result)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GoodnessResult(_OfLaw, TwoSampleResult):
    """The answer to "is this sample from this law?"; x is the sample and y the law.

    It has all that `TwoSampleResult` has: P(different), log BF10, witness, effect, columns, plots and reports.

    Attributes
    ----------
    law
        What the law is called.
    exact
        Whether the law is known by its quantiles. Else it is by the `n_y` rows that were drawn, and their noise is
        taken into account.
    pvalue, evalue
        From data sets that were simulated from the law; None without. `diagnostics.permutations` says how many.
    """

    @property
    def _data_words(self) -> str:
        how = "quantiles" if self.exact else "rows drawn from it"
        return (
            f"{self.n_x} rows, {columns_in_words(len(self.columns))}, against {printable(self.law)} "
            f"({self.n_y:,} {how})"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GoodnessOfObjectsResult(_OfLaw, ObjectsResult):
    """The answer to "are these objects from this law?", which draws such objects; as `ObjectsResult`."""

    _no_look: ClassVar[tuple[str, str]] = ObjectsResult._no_look
