"""The paper's Algorithm 1: NUTS for the parameters given the hypothesis, a coin for the hypothesis given them.

The No-U-Turn transitions and the tuning of their step size and metric are BlackJAX's. Its kernels are functions of a
density that may change from one call to the next, so that they compose with the draw of the hypothesis and the whole
chain is one compiled loop, over several chains at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.adaptation.mass_matrix import mass_matrix_adaptation
from blackjax.adaptation.step_size import dual_averaging_adaptation, find_reasonable_step_size
from blackjax.diagnostics import effective_sample_size, potential_scale_reduction
from jax import Array
from numpy.typing import NDArray

from twosample.posterior.density import Curves

__all__ = ["Chains", "Posterior", "Settings", "effective_size", "r_hat", "sample"]

_TARGET_ACCEPTANCE = 0.8
# The metric is learned anew at these shares of the burn-in; what came before is forgotten.
_WINDOWS = (0.1, 0.25, 0.5, 0.9)
# Gibbs steps in one call of the compiled loop, between which progress is shown.
_CHUNK = 20
_nuts = blackjax.nuts.build_kernel()
_tune_start, _tune, _tuned = dual_averaging_adaptation(_TARGET_ACCEPTANCE)
_metric_start, _metric_update, _metric_final = mass_matrix_adaptation(is_diagonal_matrix=True)


class Posterior(Protocol):
    """What can be sampled from: a joint law of a hypothesis and of a position, given data. Must be hashable."""

    def start(self, data: Any) -> Array:
        """Where chains start."""

    def log_prior(self, position: Array) -> Array:
        """Log prior density of a position."""

    def curves(self, position: Array, data: Any) -> Curves:
        """What the data say at a position."""


@dataclass(frozen=True)
class Settings:
    """How to sample; the defaults are the paper's.

    Attributes
    ----------
    steps
        Gibbs steps, the burn-in included.
    burn_in
        Gibbs steps that are dropped, in which step size and metric are tuned.
    thin
        One of how many later Gibbs steps is kept.
    hmc_steps
        No-U-Turn transitions in a Gibbs step.
    adapt_steps
        How many of them, in the burn-in, tune the step size.
    chains
        Number of chains, sampled at the same time.
    """

    steps: int = 2000
    burn_in: int = 500
    thin: int = 2
    hmc_steps: int = 9
    adapt_steps: int = 3
    chains: int = 4


@dataclass(frozen=True, eq=False)
class Chains:
    """What was kept of the chains.

    Attributes
    ----------
    positions
        (chains, draws, P).
    given
        The hypothesis that each position was drawn under, (chains, draws).
    labels
        The hypothesis that was then drawn given the position, (chains, draws).
    log_bf10
        Log BF10 given the position, (chains, draws).
    switches
        Changes of the hypothesis after the burn-in, whether kept or not, (chains,).
    divergences
        No-U-Turn transitions after the burn-in that diverged, (chains,).
    acceptance
        Their mean acceptance probability, (chains,).
    leapfrogs
        Their mean number of evaluations of the gradient, (chains,).
    step_sizes
        (chains,).
    """

    positions: NDArray[np.float64]
    given: NDArray[np.int64]
    labels: NDArray[np.int64]
    log_bf10: NDArray[np.float64]
    switches: NDArray[np.int64]
    divergences: NDArray[np.int64]
    acceptance: NDArray[np.float64]
    leapfrogs: NDArray[np.float64]
    step_sizes: NDArray[np.float64]


class _State(NamedTuple):
    position: Array
    label: Array
    step_size: Any
    metric: Any


class _Step(NamedTuple):
    """What is recorded of a Gibbs step."""

    position: Array
    given: Array
    label: Array
    log_bf10: Array
    divergences: Array
    acceptance: Array
    leapfrogs: Array


def sample(
    posterior: Posterior,
    data: Any,
    settings: Settings,
    seed: int,
    *,
    log_prior_odds: float = 0.0,
    hypotheses: NDArray[np.int64] | None = None,
    report: Callable[[float, float], object] | None = None,
) -> Chains:
    """Run the chains.

    Parameters
    ----------
    posterior
        What to sample from.
    data
        Passed on to it.
    settings
        How to sample.
    seed
        Seed of all that is random.
    log_prior_odds
        Log prior odds of H1 against H0.
    hypotheses
        None samples the hypothesis too; else each chain keeps to the one given here, (chains,).
    report
        Called with the share of work done and the mean of P(H1 | position) so far.
    """
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(seed), settings.chains)
        fixed = hypotheses is not None
        labels = np.arange(settings.chains) % 2 if hypotheses is None else hypotheses
        state = _start(posterior, keys, jnp.asarray(labels), data)
        windows = {round(share * settings.burn_in) for share in _WINDOWS}
        recorded: list[_Step] = []
        probability = []
        for first in range(0, settings.steps, _CHUNK):
            indices = np.arange(first, first + _CHUNK)
            ends = np.isin(indices + 1, list(windows))
            state, steps = _advance(
                posterior, settings.hmc_steps, settings.adapt_steps, fixed,
                state, keys, (indices, indices < settings.burn_in, ends), data, log_prior_odds,
            )  # fmt: skip
            recorded.append(jax.tree.map(np.asarray, steps))
            if report is not None:
                if first >= settings.burn_in:
                    probability.append(np.mean(_expit(recorded[-1].log_bf10 + log_prior_odds)))
                done = min(1.0, (first + _CHUNK) / settings.steps)
                report(done, float(np.mean(probability)) if probability else np.nan)
        step_sizes = np.asarray(jax.vmap(_tuned)(state.step_size))
    after = slice(settings.burn_in, settings.steps)
    everything = _Step(*(np.concatenate(parts, axis=1)[:, after] for parts in zip(*recorded, strict=True)))
    kept = _Step(*(part[:, settings.thin - 1 :: settings.thin] for part in everything))
    return Chains(
        positions=np.asarray(kept.position),
        given=np.asarray(kept.given),
        labels=np.asarray(kept.label),
        log_bf10=np.asarray(kept.log_bf10),
        switches=np.asarray((everything.given != everything.label).sum(axis=1)),
        divergences=np.asarray(everything.divergences.sum(axis=1)),
        acceptance=np.asarray(everything.acceptance.mean(axis=1)),
        leapfrogs=np.asarray(everything.leapfrogs.mean(axis=1)),
        step_sizes=step_sizes,
    )


def _density(posterior: Posterior, label: Array, data: Any, position: Array) -> Array:
    """Log density of the position given the hypothesis, up to a constant."""
    curves = posterior.curves(position, data)
    return jnp.where(label == 1, curves.log_h1, curves.log_h0) + posterior.log_prior(position)


@partial(jax.jit, static_argnums=0)
def _start(posterior: Posterior, keys: Array, labels: Array, data: Any) -> _State:
    """The chains before their first step: near the median heuristic, the first one at it."""

    def start(index: Array, key: Array, label: Array) -> _State:
        jitter, search = jax.random.split(jax.random.fold_in(key, -1))
        center = posterior.start(data)
        position = center + jnp.where(index == 0, 0.0, jax.random.uniform(jitter, center.shape, minval=-0.5, maxval=0.5))
        metric = _metric_start(position.shape[0])
        density = partial(_density, posterior, label, data)

        def transition(step_size: Array) -> Callable[..., Any]:
            return lambda key, state: _nuts(key, state, density, step_size, metric.inverse_mass_matrix)

        step_size = find_reasonable_step_size(
            search, transition, blackjax.nuts.init(position, density), 0.1, _TARGET_ACCEPTANCE
        )
        return _State(position, label, _tune_start(step_size), metric)

    return jax.vmap(start)(jnp.arange(len(keys)), keys, labels)


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _advance(
    posterior: Posterior,
    hmc_steps: int,
    adapt_steps: int,
    fixed: bool,
    states: _State,
    keys: Array,
    plan: tuple[Array, Array, Array],
    data: Any,
    log_prior_odds: Array,
) -> tuple[_State, _Step]:
    """Some Gibbs steps of every chain. The plan says of each its number, whether it tunes, and whether a window ends."""

    def gibbs_step(key: Array, state: _State, planned: tuple[Array, Array, Array]) -> tuple[_State, _Step]:
        index, tuning, window_ends = planned
        density = partial(_density, posterior, state.label, data)
        coin, *keys = jax.random.split(jax.random.fold_in(key, index), hmc_steps + 1)

        def transition(carry: tuple[Any, Any], turn: tuple[Array, Array]) -> tuple[tuple[Any, Any], Any]:
            nuts, step_size = carry
            key, adapts = turn
            current = jnp.where(tuning, jnp.exp(step_size.log_step_size), _tuned(step_size))
            nuts, info = _nuts(key, nuts, density, current, state.metric.inverse_mass_matrix)
            updated = _tune(step_size, info.acceptance_rate)
            step_size = jax.tree.map(partial(jnp.where, adapts & tuning), updated, step_size)
            return (nuts, step_size), (info.is_divergent, info.acceptance_rate, info.num_integration_steps)

        turns = jnp.stack(keys), jnp.arange(hmc_steps) < adapt_steps
        start = blackjax.nuts.init(state.position, density), state.step_size
        (nuts, step_size), info = jax.lax.scan(transition, start, turns)

        metric = jax.tree.map(partial(jnp.where, tuning), _metric_update(state.metric, nuts.position), state.metric)
        metric = jax.tree.map(partial(jnp.where, window_ends), _metric_final(metric), metric)
        step_size = jax.tree.map(partial(jnp.where, window_ends), _tune_start(_tuned(step_size)), step_size)

        log_bf10 = posterior.curves(nuts.position, data).log_bf10
        drawn = jax.random.bernoulli(coin, jax.nn.sigmoid(log_bf10 + log_prior_odds)).astype(state.label.dtype)
        label = state.label if fixed else drawn
        step = _Step(nuts.position, state.label, label, log_bf10, info[0].sum(), info[1].mean(), info[2].mean())
        return _State(nuts.position, label, step_size, metric), step

    def chain(key: Array, state: _State) -> tuple[_State, _Step]:
        return jax.lax.scan(partial(gibbs_step, key), state, plan)

    return jax.vmap(chain)(keys, states)


def _expit(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -700.0, 700.0))))
