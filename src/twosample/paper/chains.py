"""Settings of the sampler and the chains that it returns; nothing here needs JAX."""

from __future__ import annotations

from dataclasses import dataclass

from twosample.common.arguments import count_of, flag_of
from twosample.common.arrays import Array, Indices
from twosample.errors import InputError, Setting

__all__ = ["Chains", "Settings"]


@dataclass(frozen=True)
class Settings:
    """Settings of the sampler; the defaults are the paper's.

    Attributes
    ----------
    steps
        Gibbs steps of a chain, the burn-in included; the most of them where it stops early.
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
    early_stop
        Whether the chains stop once they have converged.
    """

    steps: int = 2000
    burn_in: int = 500
    thinning: int = 2
    hmc_steps: int = 9
    adapt_steps: int = 3
    chains: int = 4
    early_stop: bool = False

    @classmethod
    def checked(
        cls, steps: int, burn_in: int, thinning: int, hmc_steps: int, adapt_steps: int, chains: int, early_stop: bool
    ) -> Settings:
        """Check settings that a user passes."""
        settings = cls(
            count_of(steps, "steps", 8),
            count_of(burn_in, "burn_in", 0),
            count_of(thinning, "thinning", 1),
            count_of(hmc_steps, "hmc_steps", 1),
            count_of(adapt_steps, "adapt_steps", 0),
            count_of(chains, "chains", 1),
            flag_of(early_stop, "early_stop"),
        )
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
    """The kept draws of C chains, N draws each.

    Attributes
    ----------
    positions
        Unconstrained parameters, (C, N, P).
    given
        The hypothesis under which each position was drawn, (C, N).
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
    steps
        Gibbs steps of each chain that were run, the burn-in included.
    """

    positions: Array
    given: Indices
    labels: Indices
    log_bf10: Array
    switches: Indices
    divergences: Indices
    acceptance: Array
    leapfrogs: Array
    step_sizes: Array
    steps: int
