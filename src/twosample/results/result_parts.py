"""Parts that several results have: posteriors, how the answer was computed, and facts on the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from twosample.common.arguments import check_level
from twosample.common.arrays import Array
from twosample.common.constraints import (
    INCREASING,
    NONNEGATIVE,
    POSITIVE,
    SHARES,
    SORTED,
    Axes,
    Count,
    Nonnegative,
    Ones,
    Share,
)
from twosample.common.records import Comparable
from twosample.common.words import printable, probability_in_words
from twosample.data import LeftOut, some
from twosample.inference.columns import ColumnEvidence
from twosample.inference.evidence import Evidence
from twosample.models import Model
from twosample.results.units_in_words import difference_facts
from twosample.show.content import Fact

__all__ = [
    "MOST_BARS",
    "Amplitude",
    "Diagnostics",
    "KernelEvidence",
    "Lengthscale",
    "column_facts",
    "used_columns",
]

# Of a panel.
MOST_BARS = 30
# Columns that a summary names.
_SHOWN_COLUMNS = 3


class _OnGrid(Comparable):
    """A posterior given by its mass at increasing values, which is the field `_mass`."""

    _mass: ClassVar[str] = "mass"

    grid: Array

    def _quantile(self, level: float) -> float:
        mass = getattr(self, self._mass)
        return float(np.interp(level, np.cumsum(mass) - 0.5 * mass, self.grid))

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Central credible interval, given that the samples differ."""
        check_level(level)
        tail = 0.5 * (1.0 - level)
        return self._quantile(tail), self._quantile(1.0 - tail)


@dataclass(frozen=True, eq=False, repr=False)
class Lengthscale(_OnGrid):
    """Posterior of the kernel's lengthscale: at what scale the samples differ.

    Attributes
    ----------
    grid
        Lengthscales, increasing, (G,). In the units of the data where there is one column or the columns were not
        scaled, else relative to the scale of the columns.
    density_h0, density_h1
        Posterior density of log ℓ under each hypothesis, (G,).
    mass_h0, mass_h1
        Posterior probability of each grid value as an integration rule, (G,); adds up to one.
    prob_h1
        P(H1 | ℓ, data): how sure the test would be with this lengthscale alone, (G,).
    median_heuristic
        The lengthscale of the median heuristic, for comparison.
    fixed
        Whether the lengthscale was given rather than inferred; the grid is then that one value.
    """

    _mass: ClassVar[str] = "mass_h1"

    grid: Annotated[Array, Axes("grid", least=1), NONNEGATIVE, SORTED]
    density_h0: Annotated[Array, Axes("grid"), NONNEGATIVE]
    density_h1: Annotated[Array, Axes("grid"), NONNEGATIVE]
    mass_h0: Annotated[Array, Axes("grid"), Ones()]
    mass_h1: Annotated[Array, Axes("grid"), Ones()]
    prob_h1: Annotated[Array, Axes("grid"), SHARES]
    median_heuristic: Nonnegative
    fixed: bool

    @property
    def mean(self) -> float:
        """Posterior mean given that the samples differ."""
        return float(self.mass_h1 @ self.grid)


@dataclass(frozen=True, eq=False, repr=False)
class Amplitude(_OnGrid):
    """Posterior, given that the samples differ, of the witness's prior standard deviation: how large differences are.

    Attributes
    ----------
    grid
        Amplitudes, increasing, (A,).
    mass
        Their posterior probabilities, (A,).
    fixed
        Whether the model fixes the amplitude at 1.
    """

    grid: Annotated[Array, Axes("amplitudes", least=1), POSITIVE, INCREASING]
    mass: Annotated[Array, Axes("amplitudes"), Ones()]
    fixed: bool

    @classmethod
    def of(cls, evidence: Evidence, shares: Array, model: Model) -> Amplitude:
        """From the evidence at m lengthscales and their posterior probabilities given a difference, (m,)."""
        given_lengthscale = np.exp(evidence.log_mixture - evidence.log_bf10[:, None])
        return cls(np.exp(evidence.log_amplitudes), shares @ given_lengthscale, fixed=model.amplitude is None)

    @property
    def median(self) -> float:
        """Posterior median."""
        return self._quantile(0.5)


@dataclass(frozen=True)
class KernelEvidence:
    """The evidence with one of several kernels.

    Attributes
    ----------
    name
        Of the kernel.
    log_bf10
        With this kernel alone.
    posterior
        Posterior probability of the kernel given that the samples differ; all are equally likely before.
    """

    name: str
    log_bf10: float
    posterior: Share


@dataclass(frozen=True)
class Diagnostics:
    """How the answer was computed.

    Attributes
    ----------
    evaluations
        Number of lengthscales at which the evidence was computed.
    quadrature_error
        Estimated error of log BF10 from the integration over the lengthscale.
    pairs
        Number of pairs in the pseudo-likelihood; 0 for models that use none.
    permutations
        Number of permutations or, for pairs, of random swaps behind the p-value; 0 without one. Of few rows it is the
        number of all there are.
    notes
        One sentence for everything that was dropped or warned about.
    converged
        Whether that error is within the tolerance.
    points
        Number of evaluation points; 0 in files of the first schema.
    flat
        Whether the features of the test of all columns do not vary, so that nothing follows from them.
    largest
        Of few rows, of which all labellings were compared, the largest log BF10 of any of them; else None.
    """

    evaluations: Count
    quadrature_error: Nonnegative
    pairs: Count
    permutations: Count
    notes: tuple[str, ...]
    converged: bool = True
    points: Count = 0
    flat: bool = False
    largest: float | None = None

    @property
    def drawn(self) -> int:
        """Number of relabellings that were drawn at random, as the option `permutations` asks for."""
        return self.permutations if self.largest is None else 0

    def relabelled(self, drawn: str, every: str = "labellings") -> str:
        """What the p-value is counted in, in words: what was drawn or, of few rows, all there are."""
        return drawn if self.largest is None else f"{every}, all there are"


def column_facts(rows: Sequence[ColumnEvidence], names: tuple[str, str]) -> list[Fact]:
    """How likely the first columns differ, and how; and what the first one differs by in its units."""
    found = []
    for number, row in enumerate(rows[:_SHOWN_COLUMNS]):
        words = f", {row.words}" if row.prob > 0.5 else ""
        said = f"{printable(row.column)}: {probability_in_words(row.prob)}{words}"
        found.append(Fact("" if number else "P(column differs)", said))
    return [*found, *difference_facts(rows, names)]


def used_columns(columns: tuple[str, ...], left_out: tuple[LeftOut, ...]) -> list[Fact]:
    """The columns by name, where they have names, and those left out."""
    found = []
    if not all(column.isdecimal() for column in columns):
        found.append(Fact("columns used", printable(some(columns, quote=False))))
    if left_out:
        words = [f"{printable(one.column)} ({one.reason})" for one in left_out]
        found.append(Fact("columns left out", some(words, quote=False)))
    return found
