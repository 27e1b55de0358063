"""The share of columns that differ, learnt from all of them, and false discoveries among those that are taken to."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arrays import Array
from twosample.inference.bayes_factor import probability

__all__ = ["learn_share", "posterior", "q_values"]

# How exactly the log odds of the share are found.
_LOG_ODDS_ERROR = 1e-12


def learn_share(log_bf10: ArrayLike) -> float:
    """The share of columns that differ, learnt from the evidence of all of them.

    It is the π at which EM stands still, with one more column that differs and one that does not, so that it is never
    0 or 1: π = (1 + Σ p_j)/(2 + C) with p_j = π BF_j/(π BF_j + 1 - π). That is where the concave function
    log π + log(1 - π) + Σ log(π BF_j + 1 - π) is largest, so there is one such π, and bisection of its log odds finds
    it to 1e-12; the steps of EM itself become tiny where there is little evidence. `log_bf10` may have any size, (C,).
    """
    evidence = np.asarray(log_bf10, dtype=np.float64)
    # Between 1/(2 + C) and (1 + C)/(2 + C).
    high = math.log1p(evidence.size)
    low = -high
    while high - low > _LOG_ODDS_ERROR:
        middle = 0.5 * (low + high)
        share = probability(middle)
        if 1.0 - 2.0 * share + float(np.sum(probability(evidence + middle) - share)) > 0.0:
            low = middle
        else:
            high = middle
    return probability(0.5 * (low + high))


def posterior(log_bf10: ArrayLike, share: float) -> Array:
    """Probability that each column differs, where that share of columns does: π BF/(π BF + 1 - π)."""
    return probability(np.asarray(log_bf10, dtype=np.float64) + math.log(share) - math.log1p(-share))


def q_values(prob: ArrayLike) -> Array:
    """Expected share of false discoveries, were a column and all that are as probable taken as different.

    That is the mean of P(same) over these columns: sorted by evidence, the running mean. Equal columns have equal q.
    """
    same = 1.0 - np.asarray(prob, dtype=np.float64)
    order = np.argsort(same, kind="stable")
    ordered = same[order]
    # Among equal ones, the mean up to the last.
    last = np.searchsorted(ordered, ordered, side="right")
    q = np.empty_like(same)
    q[order] = np.cumsum(ordered)[last - 1] / last
    return q
