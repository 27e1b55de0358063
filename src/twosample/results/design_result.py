"""The result of a plan of sizes: how the evidence of samples of each size would be distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from twosample import models
from twosample.common.arguments import flag_of, share_of
from twosample.common.arrays import Array, Indices
from twosample.common.constraints import INCREASING, POSITIVE, SORTED, Axes, SampleSize, Within
from twosample.common.words import columns_in_words, printable
from twosample.errors import InputError
from twosample.results.result import RowsResult
from twosample.show.content import DataTable, Fact, Facts, Mark, Panel

__all__ = ["DesignResult", "DesignRow"]

_HEADINGS = {
    "n": "n",
    "n_y": "n of y",
    "log_bf10": "log BF10",
    "low": "10 %",
    "high": "90 %",
    "found": "P(found)",
    "unclear": "P(unclear)",
    "missed": "P(missed)",
    "log_bf10_same": "log BF10, same",
    "confirmed_same": "P(confirmed)",
    "unclear_same": "P(unclear), same",
    "false_alarm": "P(false alarm)",
}
_BRIEF = ("n", "log_bf10", "low", "high", "found", "unclear", "missed", "confirmed_same", "false_alarm")
# Of the interval of log BF10, and the chance that the verdict is about.
_TENTH, _WANTED = 0.1, 0.9
# Where pictures of log BF10 end: beyond, there is no doubt.
_HIGHEST = 15.0
_CHANCES = ("found", "unclear", "missed", "confirmed_same", "unclear_same", "false_alarm")


class DesignRow(NamedTuple):
    """What samples of one size would say.

    Attributes
    ----------
    n, n_y
        Rows of x and of y; of pairs their number, twice.
    log_bf10, low, high
        Median of log BF10 if the samples differ as the pilot says, and the range that has four fifths of its values.
    found, unclear, missed
        Then the chance that BF10 is above the threshold, between, and below its inverse.
    log_bf10_same
        Median of log BF10 if there is no difference.
    confirmed_same, unclear_same, false_alarm
        Then the chance that BF10 is below the inverse of the threshold, between, and above the threshold.
    """

    n: int
    n_y: int
    log_bf10: float
    low: float
    high: float
    found: float
    unclear: float
    missed: float
    log_bf10_same: float
    confirmed_same: float
    unclear_same: float
    false_alarm: float


@dataclass(frozen=True, eq=False, repr=False)
class DesignResult(RowsResult[DesignRow]):
    """How log BF10 of samples of each size would be distributed; iteration gives a `DesignRow` for each size.

    Attributes
    ----------
    sizes, sizes_y
        Rows of x and of y, increasing, (S,); of pairs their number, twice.
    different
        Log BF10 of samples that differ as the pilot says, (S, B), increasing.
    same
        Log BF10 of samples from one distribution, (S, B), increasing.
    threshold
        The Bayes factor that counts as found; its inverse is that of "the same".
    n_x, n_y
        Rows of the pilot that were used, of each sample.
    columns
        Names of the columns used.
    names
        What the samples are called.
    paired
        Whether row i of x belongs with row i of y.
    model
        The model with all its constants.
    notes
        One sentence for everything that was left out or is to be known.
    """

    _no_look: ClassVar[tuple[str, str]] = (
        "sizes that are planned have no data to test again",
        "call it on what test returned for the samples in question",
    )
    _row: ClassVar[type[Any]] = DesignRow
    _with_gaps: ClassVar[tuple[str, ...]] = ()
    _printed: ClassVar[tuple[str, ...]] = ("sizes",)

    sizes: Annotated[Indices, Axes("sizes", least=1), POSITIVE, INCREASING]
    sizes_y: Annotated[Indices, Axes("sizes"), POSITIVE, SORTED]
    different: Annotated[Array, Axes("sizes", "draws", least=1), SORTED]
    same: Annotated[Array, Axes("sizes", "draws"), SORTED]
    threshold: Annotated[float, Within(1, above=True)]
    n_x: SampleSize
    n_y: SampleSize
    columns: tuple[str, ...]
    names: tuple[str, str]
    paired: bool
    model: models.Model
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return f"DesignResult({len(self)} sizes, size_for(0.9)={self.size_for()})"

    def _cells(self, name: str) -> Sequence[Any]:
        """The values of a field of the rows."""
        limit = math.log(self.threshold)
        values = {
            "n": lambda: self.sizes,
            "n_y": lambda: self.sizes_y,
            "log_bf10": lambda: np.median(self.different, axis=1),
            "low": lambda: np.quantile(self.different, _TENTH, axis=1),
            "high": lambda: np.quantile(self.different, 1.0 - _TENTH, axis=1),
            "found": lambda: (self.different > limit).mean(axis=1),
            "unclear": lambda: (np.abs(self.different) <= limit).mean(axis=1),
            "missed": lambda: (self.different < -limit).mean(axis=1),
            "log_bf10_same": lambda: np.median(self.same, axis=1),
            "confirmed_same": lambda: (self.same < -limit).mean(axis=1),
            "unclear_same": lambda: (np.abs(self.same) <= limit).mean(axis=1),
            "false_alarm": lambda: (self.same > limit).mean(axis=1),
        }
        return values[name]().tolist()  # type: ignore[no-any-return, no-untyped-call]

    def at(self, n: int) -> DesignRow:
        """What samples of one of the sizes would say.

        Parameters
        ----------
        n
            Rows of x, one of `sizes`.
        """
        for row in self:
            if row.n == n:
                return row
        raise InputError(
            f"n: {n!r:.40} is not one of the sizes",
            argument="n",
            remedy=f"use one of {', '.join(map(str, self.sizes))}",
        )

    def size_for(self, chance: float = _WANTED, *, same: bool = False) -> int | None:
        """The number of rows of x at which BF10 decides with this chance; None where none of the sizes is enough.

        Between sizes it is interpolated over the logarithm of the number of rows.

        Parameters
        ----------
        chance
            That BF10 is above the threshold if the samples differ as the pilot says.
        same
            Instead that it is below the inverse of the threshold if they do not differ.
        """
        chance = share_of(chance, "chance")
        found = np.array(self._cells("confirmed_same" if flag_of(same, "same") else "found"))
        enough = np.flatnonzero(found >= chance)
        if not enough.size:
            return None
        place = int(enough[0])
        if place == 0:
            return int(self.sizes[0])
        below, above = found[place - 1], found[place]
        low, high = np.log(self.sizes[place - 1 : place + 1])
        return math.ceil(math.exp(low + (high - low) * (chance - below) / (above - below)) - 1e-9)

    @property
    def _unit(self) -> str:
        if self.paired:
            return "pairs"
        return "rows a sample" if np.array_equal(self.sizes, self.sizes_y) else f"rows of {printable(self.names[0])}"

    @property
    def _limit(self) -> str:
        return f"BF10 > {self.threshold:g}"

    def _enough(self, same: bool) -> tuple[str, str]:
        """How many rows are enough, and for what; or that none of the sizes is."""
        needed = self.size_for(same=same)
        goal = f"BF10 < 1/{self.threshold:g}" if same else self._limit
        if needed is not None:
            return (
                f"{'at most ' * int(needed == self.sizes[0])}{needed:,} {self._unit}",
                f" ({goal} with a chance of {_WANTED:.0%})",
            )
        share = self._cells("confirmed_same" if same else "found")[-1]
        return f"more than {self.sizes[-1]:,} {self._unit}", f" ({goal} with a chance of {share:.0%} there)"

    def facts(self) -> Facts:
        """The answer in words and numbers."""
        first, second = map(printable, self.names)
        if self.size_for() is None:
            words = f"{self.sizes[-1]:,} {self._unit} are not enough for"
        else:
            words = f"{self._enough(False)[0].capitalize()} give"
        verdict = f"{words} {self._limit} with a chance of {_WANTED:.0%}, if they differ as the pilot says."
        pilot = f"{self.n_x:,} pairs" if self.paired else f"{self.n_x:,} and {self.n_y:,} rows"
        of_columns = f", {columns_in_words(len(self.columns))}" if self.columns else ""
        return Facts(
            title=f"Sizes for {first} and {second}",
            verdict=verdict,
            lines=(
                Fact("to find a difference", *self._enough(False), True),
                Fact("to confirm none", *self._enough(True), True),
                Fact("data", f"a pilot of {pilot}{of_columns}"),
                Fact("model", self.model.name),
            ),
            answer="The difference is as uncertain as the pilot leaves it: it is drawn from its posterior, given that "
            "there is one.",
            notes=self.notes,
        )

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `sizes`, a row for each size."""
        texts = {name: _percent(name) for name in _CHANCES}
        note = f"Found is {self._limit}, and confirmed or missed BF10 < 1/{self.threshold:g}."
        table = DataTable(
            "What each size would say", _HEADINGS, list(self), note, brief=_BRIEF, printed=len(self), texts=texts
        )
        return {"sizes": table}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: the chances of each verdict, and log BF10, against the number of rows."""
        across, sizes = self._unit, self.sizes.astype(np.float64)
        chances = (
            ("differ", f"{self._limit} if they differ", "found"),
            ("same", f"BF10 < 1/{self.threshold:g} if they are the same", "confirmed_same"),
            ("x", f"{self._limit} if they are the same", "false_alarm"),
        )
        lines = {label: (sizes, np.array(self._cells(name))) for _, label, name in chances}
        marks = tuple(Mark("line", style, *lines[label], label) for style, label, _ in chances)
        limit = math.log(self.threshold)
        top = max(_HIGHEST, 2.0 * limit)
        bands, medians = list[Mark](), {}
        for style, label, logs in (("differ", "if they differ", self.different), ("same", "if not", self.same)):
            low, middle, high = np.minimum(np.quantile(logs, [_TENTH, 0.5, 1.0 - _TENTH], axis=1), top)
            area = [Mark("area", style, sizes, high, low=low)] if style == "differ" else []
            bands += [*area, Mark("line", style, sizes, middle, label)]
            medians[label] = (sizes, middle)
        for sign, words in ((1.0, self._limit), (-1.0, f"BF10 < 1/{self.threshold:g}")):
            bands.append(Mark("level", "ink", np.zeros(1), np.array([sign * limit]), words))
        range_across = (float(sizes[0]), float(sizes[-1]))
        return {
            "chances": Panel(
                "How likely each verdict is", across, "chance", lines, marks=marks, limits=range_across,
                heights=(0.0, 1.0), log=True,
            ),
            "evidence": Panel(
                "How much evidence there would be", across, "log BF10", medians, marks=tuple(bands),
                limits=range_across, log=True,
                note=f"The band has four fifths of the samples; values stop at {top:.3g}.",
            ),
        }  # fmt: skip


def _percent(name: str) -> Any:
    return lambda row: f"{row[name]:.0%}"
