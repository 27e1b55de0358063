"""From an integration rule over the lengthscale to the Bayes factor and the posteriors that a result shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from twosample.evidence import Evidence
    from twosample.posterior.quadrature import Quadrature

__all__ = ["component_weights", "densities", "log_bayes_factor", "representatives"]

Array = NDArray[np.float64]

H0, H1, GIVEN_LENGTHSCALE = 0, 1, 2
_NEGLIGIBLE_TAIL = 1e-4


def _log_integrals(rule: Quadrature) -> Array:
    """Log ∫ p(D | ℓ, M) p(ℓ) dℓ for M = H0, H1."""
    with np.errstate(divide="ignore"):
        terms = np.log(rule.weights)[:, None] + rule.curves[:, : H1 + 1]
    return np.asarray(np.logaddexp.reduce(terms, axis=0))


def densities(rule: Quadrature) -> tuple[Array, Array]:
    """Posterior density of log ℓ under H0 and H1 at the rule's locations, and the mass of each, both (G, 2)."""
    density = np.exp(rule.curves[:, : H1 + 1] - _log_integrals(rule))
    mass = rule.weights[:, None] * density
    return density, mass / mass.sum(axis=0)


def log_bayes_factor(rule: Quadrature, log_prior_odds: float = 0.0) -> float:
    """Log BF10 with the lengthscale integrated out.

    Two curves are the two weighings of the lengthscale, and the Bayes factor is the ratio of their integrals. A third
    is log BF10 given the lengthscale: then the two weighings are conditionals that belong to no joint model, and the
    answer is the stationary law of the sampler that alternates between them, M | ℓ and ℓ | M: with
    α = E[P(H1 | ℓ) | H0] and β = E[P(H0 | ℓ) | H1] its odds are α/β.
    """
    if rule.curves.shape[1] == H1 + 1:
        log_h0, log_h1 = _log_integrals(rule)
        return float(log_h1 - log_h0)
    with np.errstate(divide="ignore"):
        log_weights = np.log(rule.weights)[:, None]
    log_alpha, log_beta = np.logaddexp.reduce(
        log_weights + stationary_integrands(rule.curves, log_prior_odds), axis=0
    ) - _log_integrals(rule)
    return float(log_alpha - log_beta - log_prior_odds)


def stationary_integrands(curves: Array, log_prior_odds: float) -> Array:
    """Log of P(H1 | ℓ) × the weighing of ℓ under H0, and of P(H0 | ℓ) × the one under H1, (G, 2), from three curves."""
    log_odds = curves[:, GIVEN_LENGTHSCALE] + log_prior_odds
    log_probabilities = -np.logaddexp(0.0, np.stack([-log_odds, log_odds], axis=1))
    return np.asarray(curves[:, : H1 + 1] + log_probabilities)


def representatives(rule: Quadrature, lengthscales: Array, limit: int) -> NDArray[np.intp]:
    """Indices of at most `limit` of the lengthscales, evenly spread in log ℓ over the posterior under H1."""
    nodes = np.log(lengthscales)
    cumulative = np.cumsum(densities(rule)[1][:, H1])
    low, high = np.interp([_NEGLIGIBLE_TAIL, 1.0 - _NEGLIGIBLE_TAIL], cumulative, rule.grid)
    return np.unique(np.abs(nodes - np.linspace(low, high, limit)[:, None]).argmin(axis=1))


def component_weights(rule: Quadrature, evidence: Evidence) -> Array:
    """Posterior probability under H1 of every lengthscale of the evidence (increasing) and every amplitude, (m, A).

    The mass of the rule is shared between the two lengthscales that enclose each location, linearly in log ℓ.
    """
    nodes = np.log(evidence.lengthscales)
    mass = densities(rule)[1][:, H1]
    if len(nodes) == 1:
        node_mass = np.ones(1)
    else:
        right = np.clip(np.searchsorted(nodes, rule.grid), 1, len(nodes) - 1)
        share = np.clip((rule.grid - nodes[right - 1]) / (nodes[right] - nodes[right - 1]), 0.0, 1.0)
        above = np.bincount(right, mass * share, len(nodes))
        below = np.bincount(right - 1, mass * (1.0 - share), len(nodes))
        node_mass = np.asarray(above + below, dtype=np.float64)
    given_node = np.exp(evidence.log_mixture - evidence.log_bf10[:, None])
    return np.asarray(node_mass[:, None] * given_node)
