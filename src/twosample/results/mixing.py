"""The mixture formulation of the test: how much of the data comes from two different distributions.

The two hypotheses are parts of one model, (1 - a) H0 + a H1, and the posterior of the weight a takes the place of a
choice between them (Kamary, Mengersen, Robert and Rousseau, 2014). With the prior Beta(½, ½) and Bayes factors B₁ … B_B
of blocks of rows that are independent, its density is in proportion to

    a^(-½) (1 - a)^(-½) Π_b (1 - a + a B_b).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np

from twosample.common.arguments import check_level, share_of
from twosample.common.arrays import Array
from twosample.common.constraints import Axes
from twosample.common.words import probability_in_words
from twosample.errors import InputError
from twosample.results.result import InMemory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.common.progress import Progress

__all__ = ["Mixing"]

# With a = sin²θ the prior is uniform in θ on [0, π/2]. The midpoints of these cells are the nodes of a
# Gauss–Chebyshev rule, which is exact for nearly twice as many blocks.
_CELLS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class Mixing(InMemory):
    """The posterior of the share a of H1 in the mixture (1 - a) H0 + a H1 that the data come from.

    `TwoSampleResult.mixture` has it for all rows as one draw from the mixture; with `over_blocks` each block of rows is
    a draw and votes.

    Attributes
    ----------
    log_bf10
        Log Bayes factor of each block, (B,); the one of all rows where there are no blocks.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> mixture = ts.test(rng.normal(0, 1, 300), rng.normal(1, 1, 300)).mixture
    >>> round(mixture.mean, 3)  # at most ¾ from one draw
    0.75
    >>> blocks = mixture.over_blocks(10)
    >>> blocks.mean > 0.8, blocks.exceeding(0.5) > 0.99
    (True, True)
    """

    log_bf10: Annotated[Array, Axes("blocks", least=1)]

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        """Middles of cells of θ, and their posterior probabilities."""
        angles = np.asarray((np.arange(_CELLS) + 0.5) * (0.5 * np.pi / _CELLS), dtype=np.float64)
        log_mass = self._log_likelihood(np.square(np.sin(angles)), np.square(np.cos(angles)))
        mass = np.exp(log_mass - log_mass.max())
        return angles, np.asarray(mass / mass.sum())

    def _log_likelihood(self, share: Array, rest: Array) -> Array:
        """Log Π (1 - a + a B_b) at shares a and rests 1 - a."""
        with np.errstate(divide="ignore"):
            logs = np.log(share)[:, None] + self.log_bf10, np.log(rest)[:, None]
        return np.asarray(np.logaddexp(*logs).sum(axis=1))

    @property
    def mean(self) -> float:
        """Posterior mean of a; between ¼ and ¾ of one draw."""
        angles, mass = self._grid
        return float(mass @ np.square(np.sin(angles)))

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Central credible interval of a."""
        check_level(level)
        tail = 0.5 * (1.0 - level)
        cumulative = np.concatenate([[0.0], np.cumsum(self._grid[1])])
        edges = np.linspace(0.0, 0.5 * np.pi, _CELLS + 1)
        low, high = np.square(np.sin(np.interp([tail, 1.0 - tail], cumulative, edges)))
        return float(low), float(high)

    def exceeding(self, threshold: float) -> float:
        """Posterior probability of a > threshold, such as one half: that most of the mixture is H1."""
        threshold = share_of(threshold, "threshold")
        cumulative = np.concatenate([[0.0], np.cumsum(self._grid[1])])
        edges = np.linspace(0.0, 0.5 * np.pi, _CELLS + 1)
        return float(max(0.0, 1.0 - np.interp(np.arcsin(np.sqrt(threshold)), edges, cumulative)))

    def density(self, at: object) -> Array:
        """Posterior density at shares strictly between 0 and 1, of the shape of `at`."""
        share = np.asarray(at, dtype=np.float64)
        if not ((share > 0.0) & (share < 1.0)).all():
            raise InputError("at: must be between 0 and 1, where the density is finite", argument="at")
        angles, _ = self._grid
        log_prior_mean = self._log_likelihood(np.square(np.sin(angles)), np.square(np.cos(angles)))
        log_evidence = np.logaddexp.reduce(log_prior_mean) - np.log(_CELLS)
        log_prior = -np.log(np.pi) - 0.5 * (np.log(share) + np.log1p(-share))
        log_likelihood = self._log_likelihood(share.ravel(), 1.0 - share.ravel()).reshape(share.shape)
        return np.asarray(np.exp(log_prior + log_likelihood - log_evidence))

    def over_blocks(self, count: int = 10, *, progress: Progress = False) -> Mixing:
        """The posterior where the rows are dealt into blocks, each of which comes from H0 or from H1 and votes.

        It is for results of `test` while they are in memory, which have the data to look at again. Rows are dealt by
        their values and without a seed, so that neither their order nor which sample is called x matters.

        Parameters
        ----------
        count
            Number of blocks, each with the same share of the rows of both samples, at least 2 of each.
        progress
            As in `twosample.test`.
        """
        remedy = "call it on the mixture of what test returned, before that is written or copied"
        votes = self.remembered("votes", "over_blocks", remedy)
        return Mixing(votes(count, progress=progress)).remember(copied=self)

    def summary(self) -> str:
        """The answer in a few lines of text."""
        (low, high), count = self.interval(0.9), len(self.log_bf10)
        draws = "all rows as one draw" if count == 1 else f"{count} blocks of rows"
        return "\n".join(
            [
                f"Share of H1 in the mixture of hypotheses, by {draws}.",
                f"  mean                 {self.mean:.3f} (90 % between {low:.3f} and {high:.3f})",
                f"  P(share > 0.5)       {probability_in_words(self.exceeding(0.5))}",
            ]
        )

    def __repr__(self) -> str:
        """Return the answer in one line."""
        low, high = self.interval(0.9)
        return f"Mixing(mean={self.mean:.4g}, 90 % between {low:.4g} and {high:.4g}, blocks={len(self.log_bf10)})"

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the posterior density (needs the `plot` extra)."""
        from twosample.show.plots import plot_mixing

        return plot_mixing(self, figsize=figsize)
