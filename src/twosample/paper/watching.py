"""Progress of running chains: share of the work done, time left, and convergence."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.progress import Report, announce, duration
from twosample.common.threads import cores
from twosample.inference.evidence import probability
from twosample.paper.chains import Chains, Settings, bridge, effective_size, known_well

if TYPE_CHECKING:
    from twosample.paper.density import Data, Target

__all__ = ["Progress", "converged", "converged_apart", "log_draws", "prob_h1_error", "rarer"]

# Chains stop when the errors of P(H1) and of log BF10 are below these, and fewer visits than this of a hypothesis that
# was never visited are expected in the remaining steps.
_SMALL_ERROR = 0.01
_SMALL_LOG_ERROR = 0.05
_UNLIKELY_VISITS = 0.05
# The time is announced if it is at least this.
_WORTH_SAYING_SECONDS = 10.0


class Progress:
    """Reports the share of the work done, and once, after the first steps, the time that it will take at most."""

    def __init__(self, report: Report | None, settings: Settings, apart: Settings | None) -> None:
        self._report, self._settings, self._apart = report, settings, apart
        # Chains run in parallel on the cores.
        turns = [0 if one is None else math.ceil(one.chains / cores()) for one in (settings, apart)]
        self._first = turns[0] / sum(turns)
        self._seen: list[tuple[float, float]] = []

    def mixed(self, share: float, probabilities: list[float]) -> None:
        """Report on the chains that move between the hypotheses."""
        self._show(share * self._first, f"P(different) {np.mean(probabilities):.3f}" if probabilities else "burn-in")

    def apart(self, share: float, probabilities: list[float]) -> None:
        """Report on the chains that keep to one hypothesis each."""
        self._show(self._first + share * (1.0 - self._first), "each hypothesis")

    def finish(self) -> None:
        """Report that all chains are done, however many steps they took."""
        if self._report is not None:
            self._report(1.0)

    def _show(self, share: float, words: str) -> None:
        if self._report is None:
            return
        self._report(share, words)
        if len(self._seen) < 2:
            self._seen.append((time.monotonic(), share))
            if len(self._seen) == 2:
                self._estimate()

    def _estimate(self) -> None:
        """Say how long it will take; the first report comes after the compilation, which is not repeated."""
        (before, done), (now, share) = self._seen
        seconds = (now - before) / (share - done) * (1.0 - share)
        if seconds < _WORTH_SAYING_SECONDS:
            return
        settings = self._settings
        chains = f"{settings.chains} chain{'s' if settings.chains > 1 else ''}"
        if self._apart is not None:
            chains += f", and of {self._apart.chains} under one hypothesis each"
        most = "at most " if settings.early_stop else ""
        announce(self._report, f"about {duration(seconds)} for {most}{settings.steps:,} steps of {chains}")


def converged(
    target: Target, data: Data, settings: Settings, log_prior_odds: float, evidence: bool, chains: Chains
) -> bool:
    """Whether P(H1) and all lengthscales are known with small enough errors.

    While one hypothesis was never visited, and no other chains estimate the evidence, that also takes a visit to be
    unlikely in the steps that are left.
    """
    log_odds = chains.log_bf10 + log_prior_odds
    if prob_h1_error(chains, log_odds) > _SMALL_ERROR:
        return False
    under_h1 = chains.given == 1
    if not evidence and (under_h1.all() or not under_h1.any()):
        chance = float(probability(-log_odds if under_h1.all() else log_odds).mean())
        if chance * settings.chains * (settings.steps - chains.steps) > _UNLIKELY_VISITS:
            return False
    return known_well([rarer(log_odds), *log_draws(target.lengthscales_of(chains.positions, data))])


def converged_apart(target: Target, data: Data, coherent: bool, log_prior_odds: float, chains: Chains) -> bool:
    """Whether log BF10 and all lengthscales under each hypothesis are known well enough."""
    h0, h1 = np.split(chains.log_bf10, 2)
    _, error, _ = bridge(h0, h1, None if coherent else log_prior_odds)
    if error > _SMALL_LOG_ERROR:
        return False
    halves = np.split(chains.positions, 2)
    return known_well(draws for half in halves for draws in log_draws(target.lengthscales_of(half, data)))


def log_draws(lengthscales: Array) -> list[Array]:
    """Draws of each log lengthscale, (chains, draws), from lengthscales (chains, draws, L)."""
    return list(np.moveaxis(np.log(lengthscales), -1, 0))


def rarer(log_odds: Array) -> Array:
    """The probability of the less likely hypothesis at each draw, which keeps its digits; as good as that of H1."""
    return min(probability(log_odds), probability(-log_odds), key=lambda given: float(given.mean()))


def prob_h1_error(chains: Chains, log_odds: Array) -> float:
    """Standard error of the mean of P(H1 | parameters): from its autocorrelation or from the labels, the larger one."""
    given = probability(log_odds)
    return max(float(given.std() / np.sqrt(effective_size(given))), _label_error(chains, given, log_odds))


def _label_error(chains: Chains, given: Array, log_odds: Array) -> float:
    """Standard error of the mean of P(H1 | parameters) from how rarely the hypothesis changes.

    The mean is w m₁ + (1 - w) m₀ with w the share of draws under H1 and m the mean under each hypothesis. As a chain of
    two states that moves with probabilities α = m₀ and β = 1 - m₁ the share w has variance 2 w (1 - w)/(N (α + β)).
    Where few draws are effective this sees what the autocorrelation of a short chain hides. If only one hypothesis was
    visited, the probability of the other is known by its order of magnitude at best.
    """
    under_h1 = chains.given == 1
    if under_h1.all() or not under_h1.any():
        return float(rarer(log_odds).mean())
    h0, h1 = float(given[~under_h1].mean()), float(given[under_h1].mean())
    share, rate = h0 / (h0 + 1.0 - h1), h0 + 1.0 - h1
    return abs(h1 - h0) * float(np.sqrt(2.0 * share * (1.0 - share) / (given.size * rate)))
