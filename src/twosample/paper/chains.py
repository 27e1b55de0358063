"""Settings of the sampler, its chains, whether these agree, and the Bayes factor that follows; nothing needs JAX."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from twosample.common.arguments import count_of, flag_of
from twosample.common.arrays import Array, Indices
from twosample.common.constraints import Count, SampleSize
from twosample.errors import InputError, Setting

__all__ = ["Chains", "Settings", "bridge", "effective_size", "known_well", "log_mean_probability", "r_hat"]

# The least that each setting may be.
_LEAST = {"steps": 8, "burn_in": 0, "thinning": 1, "hmc_steps": 1, "adapt_steps": 0, "chains": 1}
_LARGEST_R_HAT = 1000.0
# Thresholds of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021).
_AGREE = 1.01
_ENOUGH_DRAWS = 400


@dataclass(frozen=True)
class Settings:
    """Settings of the sampler, which `twosample.gibbs` explains; the defaults are the paper's."""

    steps: SampleSize = 2000
    burn_in: Count = 500
    thinning: SampleSize = 2
    hmc_steps: SampleSize = 9
    adapt_steps: Count = 3
    chains: SampleSize = 4
    early_stop: bool = False

    @classmethod
    def checked(
        cls, steps: int, burn_in: int, thinning: int, hmc_steps: int, adapt_steps: int, chains: int, early_stop: bool
    ) -> Settings:
        """Check settings that a user passes."""
        given = steps, burn_in, thinning, hmc_steps, adapt_steps, chains
        counts = {name: count_of(value, name, _LEAST[name]) for name, value in zip(_LEAST, given, strict=True)}
        settings = cls(early_stop=flag_of(early_stop, "early_stop"), **counts)
        if (settings.steps - settings.burn_in) // settings.thinning < 4:
            raise InputError(
                "steps: fewer than 4 draws are left after the burn-in and thinning",
                argument="steps",
                remedy="run more steps",
            )
        if settings.adapt_steps > settings.hmc_steps:
            raise InputError(
                f"adapt_steps: only {settings.hmc_steps} transitions are there to tune",
                argument="adapt_steps",
                remedy=("pass fewer, or more with ", Setting("hmc_steps", settings.adapt_steps)),
            )
        return settings


@dataclass(frozen=True, eq=False)
class Chains:
    """The kept draws of C chains, N draws each, and what is known of their transitions after the burn-in."""

    positions: Array  # unconstrained parameters, (C, N, P)
    given: Indices  # the hypothesis under which each position was drawn, (C, N)
    labels: Indices  # the hypothesis that was then drawn given the position, (C, N)
    log_bf10: Array  # given the position, (C, N)
    switches: Indices  # changes of the hypothesis, kept or not, (C,)
    divergences: Indices  # No-U-Turn transitions that diverged, (C,)
    acceptance: Array  # their mean acceptance probability, (C,)
    leapfrogs: Array  # their mean number of gradients, (C,)
    step_sizes: Array  # (C,)
    steps: int  # Gibbs steps of each chain that were run, the burn-in included


def known_well(quantities: Iterable[Array]) -> bool:
    """Whether the chains (chains, draws) of every quantity agree, with enough effective draws to judge it."""
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


def log_mean_probability(log_odds: Array) -> float:
    """Log of the mean over draws of σ(log odds), the probability with these odds."""
    return float(np.logaddexp.reduce(-np.logaddexp(0.0, -log_odds), axis=None)) - math.log(log_odds.size)


def bridge(given_h0: Array, given_h1: Array, log_prior_odds: float | None = None) -> tuple[float, float, float]:
    """Log BF10, its standard error, and the overlap of the two posteriors (0 to 1), from chains of either hypothesis.

    Both posteriors are of the same parameters, and their unnormalised densities differ by the factor BF10(θ), which is
    given at draws of each, (chains, draws). For any c

        log BF10 = c + log E[σ(log BF10(θ) - c) | H0] - log E[σ(c - log BF10(θ)) | H1],    σ(t) = 1/(1 + e⁻ᵗ),

    and c = log BF10 makes the error smallest (Meng and Wong, 1996; Bennett, 1976). Where the posteriors belong to no
    joint model, c = -`log_prior_odds` gives the answer of the sampler that alternates between them at these odds.
    """

    def log_means(c: float) -> tuple[float, float]:
        return log_mean_probability(given_h0 - c), log_mean_probability(c - given_h1)

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
