"""The Bayes factor from draws of the parameters under each hypothesis alone, whether or not a chain moves between them.

Both posteriors are of the same parameters, and their unnormalised densities differ by the factor BF10(θ). For any c

    log BF10 = c + log E[σ(log BF10(θ) - c) | H0] - log E[σ(c - log BF10(θ)) | H1],    σ(t) = 1/(1 + e⁻ᵗ),

and c = log BF10 makes the error smallest (Meng and Wong, 1996; Bennett, 1976).
"""

from __future__ import annotations

import numpy as np

from twosample.common.arrays import Array
from twosample.paper.convergence import effective_size

__all__ = ["bridge"]


def bridge(given_h0: Array, given_h1: Array, log_prior_odds: float | None = None) -> tuple[float, float, float]:
    """Log BF10, its standard error, and the overlap of the two posteriors (0 to 1).

    Parameters
    ----------
    given_h0, given_h1
        Log BF10(θ) at draws of θ under H0 and under H1, each (chains, draws).
    log_prior_odds
        None for two posteriors of one joint model. Where they belong to none, the answer is that of the sampler that
        alternates between them at these prior odds: the formula with c = -log odds.
    """

    def log_means(c: float) -> tuple[float, float]:
        log_h0 = -np.logaddexp(0.0, c - given_h0)
        log_h1 = -np.logaddexp(0.0, given_h1 - c)
        return tuple(float(np.logaddexp.reduce(v, axis=None) - np.log(v.size)) for v in (log_h0, log_h1))  # type: ignore[return-value]

    # The difference of the two falls from above to below zero as c grows: bisection.
    low = min(given_h0.min(), given_h1.min()) - 1.0
    high = max(given_h0.max(), given_h1.max()) + 1.0
    while high - low > 1e-10 * max(1.0, abs(low), abs(high)):
        middle = 0.5 * (low + high)
        log_h0, log_h1 = log_means(middle)
        low, high = (middle, high) if log_h0 > log_h1 else (low, middle)
    overlap = float(2.0 * np.exp(log_means(0.5 * (low + high))[0]))
    c = 0.5 * (low + high) if log_prior_odds is None else -log_prior_odds
    log_h0, log_h1 = log_means(c)
    variance = 0.0
    for draws, sign, log_mean in ((given_h0, 1.0, log_h0), (given_h1, -1.0, log_h1)):
        # Relative to the mean, so that tiny probabilities do not underflow.
        relative = np.exp(-np.logaddexp(0.0, sign * (c - draws)) - log_mean)
        variance += float(relative.var()) / effective_size(relative)
    return float(c + log_h0 - log_h1), float(np.sqrt(variance)), min(1.0, overlap)
