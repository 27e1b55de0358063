"""The posterior of the lengthscale: from an integration rule to the Bayes factor and what a result shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.inference.bayes_factor import probability
from twosample.inference.quadrature import Quadrature

if TYPE_CHECKING:
    from twosample.inference.evidence import Evidence
    from twosample.models import Gamma, LogUniform

__all__ = ["Curves", "LengthscalePosterior", "wanted_error"]


H0, H1, GIVEN_LENGTHSCALE = range(3)


@dataclass(frozen=True)
class Curves:
    """The integrands over log ℓ, from three log curves (m, 3): the weight of ℓ under H0, under H1, and log BF10.

    Where the two weighings belong to one joint law (`coherent`), log BF10 with ℓ integrated out is the ratio of their
    integrals. Where they do not, the answer is the stationary law of the sampler that alternates between them, M | ℓ
    and ℓ | M: with α = E[P(H1 | ℓ) | H0] and β = E[P(H0 | ℓ) | H1] its odds are α/β, and two more integrals are needed.
    """

    coherent: bool
    log_prior_odds: float = 0.0

    @staticmethod
    def of(evidence: Evidence, prior: LogUniform | Gamma) -> Array:
        """The three curves at the lengthscales of the evidence."""
        log_prior = prior.log_density(np.log(evidence.lengthscales))
        return np.stack([evidence.log_h0 + log_prior, evidence.log_h1 + log_prior, evidence.log_bf10], axis=1)

    def integrands(self, curves: Array) -> Array:
        """Logs of what is integrated, (m, 2) or (m, 4)."""
        weighings = curves[:, :GIVEN_LENGTHSCALE]
        if self.coherent:
            return weighings
        log_odds = curves[:, GIVEN_LENGTHSCALE] + self.log_prior_odds
        log_probabilities = -np.logaddexp(0.0, np.stack([-log_odds, log_odds], axis=1))
        return np.concatenate([weighings, weighings + log_probabilities], axis=1)

    def log_bf10(self, log_integrals: Array) -> float:
        """Log BF10 from the log integrals of the `integrands`."""
        if self.coherent:
            log_h0, log_h1 = log_integrals
            return float(log_h1 - log_h0)
        log_h0, log_h1, of_h1, of_h0 = log_integrals
        return float((of_h1 - log_h0) - (of_h0 - log_h1) - self.log_prior_odds)


def wanted_error(log_bf10: float, tolerance: float) -> float:
    """The tolerance of log BF10: relative where that is more than 1."""
    return tolerance * max(1.0, abs(log_bf10))


@dataclass(frozen=True)
class LengthscalePosterior:
    """The posterior of the lengthscale."""

    rule: Quadrature  # in log ℓ, with the three curves
    curves: Curves  # what they mean

    @classmethod
    def given(cls, evidence: Evidence, curves: Curves) -> LengthscalePosterior:
        """At the lengthscales of the evidence alone, with equal prior weight; usually there is one."""
        count = len(evidence.lengthscales)
        values = np.stack([np.zeros(count), evidence.log_bf10, evidence.log_bf10], axis=1)
        weights = np.full(count, 1.0 / count)
        rule = Quadrature(np.log(evidence.lengthscales), weights, values, error=0.0, evaluations=count)
        return cls(rule, replace(curves, coherent=True))

    @property
    def log_bf10(self) -> float:
        """Log BF10 with the lengthscale integrated out."""
        return self.curves.log_bf10(self._log_integrals(self.curves.integrands(self.rule.curves)))

    def _log_integrals(self, logs: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp.reduce(np.log(self.rule.weights)[:, None] + logs, axis=0))

    @cached_property
    def density(self) -> Array:
        """Posterior density of log ℓ under H0 and H1 at the rule's locations, (G, 2)."""
        weighings = self.rule.curves[:, :GIVEN_LENGTHSCALE]
        return np.exp(weighings - self._log_integrals(weighings))

    @cached_property
    def mass(self) -> Array:
        """Posterior probability of each location under H0 and H1, (G, 2), each adding up to one."""
        mass = self.rule.weights[:, None] * self.density
        return np.asarray(mass / mass.sum(axis=0))

    @property
    def prob_h1(self) -> Array:
        """P(H1 | ℓ, data) at the locations, (G,)."""
        return probability(self.rule.curves[:, GIVEN_LENGTHSCALE] + self.curves.log_prior_odds)

    def shares(self, lengthscales: Array) -> Array:
        """Probability under H1 of each of some lengthscales (m,), increasing.

        The mass of the rule is shared between the two that enclose each location, linearly in log ℓ.
        """
        nodes, mass = np.log(lengthscales), self.mass[:, H1]
        if len(nodes) == 1:
            return np.ones(1)
        right = np.clip(np.searchsorted(nodes, self.rule.grid), 1, len(nodes) - 1)
        share = np.clip((self.rule.grid - nodes[right - 1]) / (nodes[right] - nodes[right - 1]), 0.0, 1.0)
        above = np.bincount(right, mass * share, len(nodes))
        below = np.bincount(right - 1, mass * (1.0 - share), len(nodes))
        return np.asarray(above + below, dtype=np.float64)
