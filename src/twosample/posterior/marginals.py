"""From an integration rule over the lengthscale to the Bayes factor and the posteriors that a result shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from twosample.evidence import Evidence
    from twosample.posterior.quadrature import Quadrature

__all__ = ["component_weights", "densities", "integrands", "log_bayes_factor", "log_ratio", "representatives"]

Array = NDArray[np.float64]

H0, H1, GIVEN_LENGTHSCALE = 0, 1, 2
_NEGLIGIBLE_TAIL = 1e-4


def _log_integrals(weights: Array, logs: Array) -> Array:
    """Log integrals of what has these logarithms, (G, F)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(np.log(weights)[:, None] + logs, axis=0))


def densities(rule: Quadrature) -> tuple[Array, Array]:
    """Posterior density of log ℓ under H0 and H1 at the rule's locations, and the mass of each, both (G, 2)."""
    weighings = rule.curves[:, : H1 + 1]
    density = np.exp(weighings - _log_integrals(rule.weights, weighings))
    mass = rule.weights[:, None] * density
    return density, mass / mass.sum(axis=0)


def log_bayes_factor(rule: Quadrature, log_prior_odds: float = 0.0) -> float:
    """Log BF10 with the lengthscale integrated out.

    Two curves are the two weighings of the lengthscale, and the Bayes factor is the ratio of their integrals. A third
    is log BF10 given the lengthscale: then the two weighings are conditionals that belong to no joint model, and the
    answer is the stationary law of the sampler that alternates between them, M | ℓ and ℓ | M: with
    α = E[P(H1 | ℓ) | H0] and β = E[P(H0 | ℓ) | H1] its odds are α/β.
    """
    return log_ratio(_log_integrals(rule.weights, integrands(rule.curves, log_prior_odds)), log_prior_odds)


def integrands(curves: Array, log_prior_odds: float) -> Array:
    """Logs of what is integrated for the Bayes factor, (G, 2), or (G, 4) where there is a third curve.

    They are the two weighings of ℓ and, with the third curve, P(H1 | ℓ) × that under H0 and P(H0 | ℓ) × that under H1.
    """
    weighings = curves[:, : H1 + 1]
    if curves.shape[1] == H1 + 1:
        return weighings
    log_odds = curves[:, GIVEN_LENGTHSCALE] + log_prior_odds
    log_probabilities = -np.logaddexp(0.0, np.stack([-log_odds, log_odds], axis=1))
    return np.concatenate([weighings, weighings + log_probabilities], axis=1)


def log_ratio(log_integrals: Array, log_prior_odds: float) -> float:
    """Log BF10 from the log integrals of the `integrands`."""
    log_h0, log_h1, *stationary = log_integrals
    if not stationary:
        return float(log_h1 - log_h0)
    log_alpha, log_beta = stationary[0] - log_h0, stationary[1] - log_h1
    return float(log_alpha - log_beta - log_prior_odds)


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
