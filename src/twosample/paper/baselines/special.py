"""Ratios of gamma functions that keep their digits for large arguments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from twosample.common.arrays import Array

__all__ = ["log_rising"]


_LARGE = 16.0


def log_rising(start: ArrayLike, count: ArrayLike) -> Array:
    """Log of the rising factorial a (a + 1) … (a + n - 1), for all a in `start` and n in `count`, broadcast.

    The difference log Γ(a + n) - log Γ(a) loses digits where a is large; Stirling's series for it does not.
    """
    a, n = np.asarray(start, dtype=np.float64), np.asarray(count, dtype=np.float64)
    large = np.maximum(a, _LARGE)
    stirling = (large - 0.5) * np.log1p(n / large) + n * (np.log(large + n) - 1.0)
    stirling += _stirling_rest(large + n) - _stirling_rest(large)
    return np.where(a < _LARGE, gammaln(a + n) - gammaln(a), stirling)


def _stirling_rest(a: Array) -> Array:
    """Remainder of Stirling's formula for log Γ(a), to 1e-14 for a ≥ 16."""
    square = 1.0 / np.square(a)
    return np.asarray((1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / a)
