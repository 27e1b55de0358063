"""An e-value of pairs from sums alone: a bet on a bounded score of each pair, made before the batch is seen.

Let d = φ(x) - φ(y) for a pair, w weights that earlier batches chose, and ξ = w·d/c with c so large that |ξ| ≤ 1. Where
the members of pairs are exchangeable ξ has mean zero given the past, and exp{λξ - (-log(1-λ) - λ)ξ²} ≤ 1 + λξ for
0 ≤ λ < 1 and ξ ≥ -1 (Fan, Grama and Liu 2015), so that its mean is at most 1. The product over the pairs of a batch
needs Σd and Σddᵀ only. An average of running products, over λ and over the tests of the plan, is a test martingale.
"""

from __future__ import annotations

import numpy as np

from twosample.common.arrays import Array
from twosample.features.statistics import Moments
from twosample.inference import prior
from twosample.models import Model
from twosample.questions.monitor.components import Component, Learnt
from twosample.questions.monitor.evalues import AMPLITUDES

__all__ = ["BETS", "log_growth", "weights"]

# Values of λ, as likely beforehand.
BETS = 2.0 ** -np.arange(0.5, 9.0)
# Rounding must not make |ξ| larger than 1.
_ROUNDING = 1.0 + 1e-9


def weights(component: Component, past: Learnt, model: Model) -> Array:
    """Weights w of the features after earlier batches, scaled so that |w·d| ≤ 1 for every pair, (m, s).

    They are those of the posterior mean of the witness, a weighted sum of kernels at the points. Kernel values are
    between 0 and 1, hence |w·d| ≤ ‖w‖₁; and |w·d| ≤ √(2wᵀKw), by the inequality of Cauchy and Schwarz.
    """
    if past.weight == 0.0:
        return np.zeros_like(past.shift)
    difference = past.difference(paired=True)
    features, lengthscales = component.features, component.lengthscales
    at = component.hypotheses(difference, model)
    spectra, log_variance = at.spectra, at.amplitudes(AMPLITUDES)[0]
    logs = at.log_mixture(AMPLITUDES)
    share = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    # Mean over the amplitudes of a²(a²R + V)⁻¹Δ.
    variance = np.exp(log_variance)[:, :, np.newaxis]
    damped = (share[:, :, np.newaxis] * variance / (1.0 + variance * spectra.eigenvalues[:, np.newaxis])).sum(axis=1)
    solved = np.einsum("mij,mj->mi", spectra.basis, damped * spectra.scores)
    found = np.einsum("mij,mi->mj", prior.factors(model, features, lengthscales), solved)
    found /= np.maximum(np.abs(found).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    norm = np.einsum("mi,mij,mj->m", found, features.between(lengthscales), found)
    bound = np.minimum(np.abs(found).sum(axis=1), np.sqrt(2.0 * np.maximum(norm, 0.0)))
    usable = bound > 1e-6  # else it is rounding of what cancels
    return np.asarray(np.where(usable, 1.0, 0.0)[:, None] * found / np.where(usable, bound * _ROUNDING, 1.0)[:, None])


def log_growth(weights: Array, pairs: Moments) -> Array:
    """Log of what the batch multiplies each bet with, (m, L): λΣξ - (-log(1-λ) - λ)Σξ².

    Examples
    --------
    >>> pairs = Moments.of(np.array([[0.5], [-0.25]]))
    >>> growth = log_growth(np.ones((1, 1)), Moments(2, pairs.mean[None], pairs.scatter[None]))
    >>> bet = BETS[1]
    >>> bool(abs(growth[0, 1] - sum(bet * xi + (np.log1p(-bet) + bet) * xi**2 for xi in (0.5, -0.25))) < 1e-12)
    True
    """
    total = pairs.count * np.einsum("mi,mi->m", weights, pairs.mean)
    squares = np.einsum("mi,mij,mj->m", weights, pairs.second_moment, weights)
    return np.asarray(np.outer(total, BETS) + np.outer(squares, np.log1p(-BETS) + BETS))
