"""Watches chains while they run: how far they are, how long they will take, and whether they have converged."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.progress import Report, announce, duration
from twosample.common.threads import cores
from twosample.inference.evidence import probability
from twosample.paper.bridge import bridge
from twosample.paper.chains import Chains, Settings
from twosample.paper.convergence import effective_size, known_well

if TYPE_CHECKING:
    from twosample.paper.density import Data, Target

__all__ = ["Progress", "converged", "converged_apart", "prob_h1_error", "rarer"]

# Chains stop where their estimates of P(H1) and of log BF10 have smaller errors than these, and so few visits of the
# other hypothesis are to be expected of the steps that are left.
_SMALL_ERROR = 0.01
_SMALL_LOG_ERROR = 0.05
_UNLIKELY_VISITS = 0.05
# Shorter work is not announced.
_WORTH_SAYING_SECONDS = 10.0


class Progress:
    """Reports how far all chains are, and once, after the first steps, how long they will take at most."""

    def __init__(self, report: Report | None, settings: Settings, apart: Settings | None) -> None:
        self._report, self._settings, self._apart = report, settings, apart
        # As many chains as there are cores take as long as one.
        turns = [0 if one is None else math.ceil(one.chains / cores()) for one in (settings, apart)]
        self._first = turns[0] / sum(turns)
        self._seen: list[tuple[float, float]] = []

    def mixed(self, share: float, probabilities: list[float]) -> None:
        """Of the chains that move between the hypotheses."""
        self._show(share * self._first, f"P(different) {np.mean(probabilities):.3f}" if probabilities else "burn-in")

    def apart(self, share: float, probabilities: list[float]) -> None:
        """Of the chains that keep to one each."""
        self._show(self._first + share * (1.0 - self._first), "each hypothesis")

    def finish(self) -> None:
        """All are done, however many steps that took."""
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
    """Whether P(H1) and all lengthscales are known well enough.

    While one hypothesis was never visited, and no other chains estimate the evidence, that also takes a visit to be
    unlikely in the steps that are left.
    """
    log_odds = chains.log_bf10 + log_prior_odds
    given = probability(log_odds)
    if prob_h1_error(chains, given, log_odds) > _SMALL_ERROR:
        return False
    under_h1 = chains.given == 1
    if not evidence and (under_h1.all() or not under_h1.any()):
        chance = float(probability(-log_odds if under_h1.all() else log_odds).mean())
        if chance * settings.chains * (settings.steps - chains.steps) > _UNLIKELY_VISITS:
            return False
    return known_well([rarer(log_odds), *_log_lengthscales(target, data, chains.positions)])


def converged_apart(target: Target, data: Data, coherent: bool, log_prior_odds: float, chains: Chains) -> bool:
    """Whether log BF10 and all lengthscales under each hypothesis are known well enough."""
    h0, h1 = np.split(chains.log_bf10, 2)
    _, error, _ = bridge(h0, h1, None if coherent else log_prior_odds)
    if error > _SMALL_LOG_ERROR:
        return False
    halves = np.split(chains.positions, 2)
    return known_well(draws for half in halves for draws in _log_lengthscales(target, data, half))


def _log_lengthscales(target: Target, data: Data, positions: Array) -> list[Array]:
    """Of each lengthscale, standardised, (chains, draws)."""
    return list(np.moveaxis(np.log(target.lengthscales_of(positions, data)), -1, 0))


def rarer(log_odds: Array) -> Array:
    """The probability of the less likely hypothesis at each draw, which keeps its digits; as good as that of H1."""
    return min(probability(log_odds), probability(-log_odds), key=lambda given: float(given.mean()))


def prob_h1_error(chains: Chains, given: Array, log_odds: Array) -> float:
    """Standard error of the mean of P(H1 | parameters): from its autocorrelation or from the labels, the larger one."""
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
        rarer = min(np.logaddexp.reduce(-np.logaddexp(0.0, t), axis=None) for t in (log_odds, -log_odds))
        return float(np.exp(rarer) / given.size)
    h0, h1 = float(given[~under_h1].mean()), float(given[under_h1].mean())
    share, rate = h0 / (h0 + 1.0 - h1), h0 + 1.0 - h1
    return abs(h1 - h0) * float(np.sqrt(2.0 * share * (1.0 - share) / (given.size * rate)))
