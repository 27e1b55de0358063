"""What the sampler is told and what it returns; nothing here needs JAX."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chains", "Settings"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """How to sample; the defaults are the paper's.

    Attributes
    ----------
    steps
        Gibbs steps of a chain, the burn-in included.
    burn_in
        Gibbs steps that are dropped, in which step size and metric are tuned.
    thinning
        One in this many later Gibbs steps is kept.
    hmc_steps
        No-U-Turn transitions in a Gibbs step.
    adapt_steps
        How many of them, in the burn-in, tune the step size.
    chains
        Number of chains, sampled at the same time.
    """

    steps: int = 2000
    burn_in: int = 500
    thinning: int = 2
    hmc_steps: int = 9
    adapt_steps: int = 3
    chains: int = 4


@dataclass(frozen=True, eq=False)
class Chains:
    """What was kept of the chains, C of them with N draws each.

    Attributes
    ----------
    positions
        Unconstrained parameters, (C, N, P).
    given
        The hypothesis that each position was drawn under, (C, N).
    labels
        The hypothesis that was then drawn given the position, (C, N).
    log_bf10
        Log BF10 given the position, (C, N).
    switches
        Changes of the hypothesis after the burn-in, kept or not, (C,).
    divergences
        No-U-Turn transitions after the burn-in that diverged, (C,).
    acceptance
        Their mean acceptance probability, (C,).
    leapfrogs
        Their mean number of gradients, (C,).
    step_sizes
        Their step size, (C,).
    """

    positions: Array
    given: Labels
    labels: Labels
    log_bf10: Array
    switches: Labels
    divergences: Labels
    acceptance: Array
    leapfrogs: Array
    step_sizes: Array
