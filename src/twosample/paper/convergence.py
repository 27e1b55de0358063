"""Convergence diagnostics of chains: R-hat and effective sample size; nothing here needs JAX."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from twosample.common.arrays import Array

__all__ = ["effective_size", "known_well", "r_hat"]

_LARGEST_R_HAT = 1000.0
# Thresholds of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021).
_AGREE = 1.01
_ENOUGH_DRAWS = 400


def known_well(quantities: Iterable[Array]) -> bool:
    """Whether the chains (chains, draws) of every quantity agree, with enough effective draws to judge it.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(4, 200))
    >>> known_well([draws]), known_well([draws, draws[:, :50]]), known_well([draws + np.arange(4.0)[:, None]])
    (True, False, False)
    """
    return all(r_hat(draws) <= _AGREE and effective_size(draws) >= _ENOUGH_DRAWS for draws in quantities)


def effective_size(draws: Array) -> float:
    """Effective sample size of chains (chains, draws); the number of draws where nothing varies.

    By Geyer's initial monotone sequence of the autocorrelations of all chains together, as in Stan.
    """
    if np.ptp(draws) == 0.0:
        return float(draws.size)
    chains, n = draws.shape
    means = draws.mean(axis=1)
    transformed = np.fft.rfft(draws - means[:, None], n=2 * n)
    autocovariance = np.fft.irfft(np.abs(transformed) ** 2, n=2 * n)[:, :n].mean(axis=0) / n
    variance = autocovariance[0] + (means.var(ddof=1) if chains > 1 else 0.0)
    if not (draws != draws[:, :1]).any() or autocovariance[0] <= 0.0:
        return 1.0
    even = n - n % 2
    correlation = 1.0 - (autocovariance[0] * n / (n - 1.0) - autocovariance[:even]) / variance
    correlation[0] = 1.0
    pairs = correlation[0::2] + correlation[1::2]
    positive = int(np.argmin(pairs > 0.0)) if (pairs <= 0.0).any() else len(pairs)
    total = 2.0 * np.minimum.accumulate(pairs[:positive]).sum() - 1.0
    if 0 < positive < len(pairs):
        total += max(correlation[2 * positive], 0.0)
    return float(max(1.0, draws.size / max(total, 1.0 / np.log10(draws.size))))


def r_hat(draws: Array) -> float:
    """Potential scale reduction of chains (chains, draws), split in half; 1 where nothing varies, at most 1,000."""
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    if np.ptp(draws) == 0.0:
        return 1.0
    within, between = float(halves.var(axis=1, ddof=1).mean()), float(halves.mean(axis=1).var(ddof=1))
    if within <= between / _LARGEST_R_HAT**2:
        return _LARGEST_R_HAT
    return min(_LARGEST_R_HAT, float(np.sqrt(between / within + (half - 1) / half)))
