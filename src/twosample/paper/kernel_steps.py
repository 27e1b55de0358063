"""The paper's Algorithm 1: NUTS for the parameters given the hypothesis, a coin for the hypothesis given them.

The No-U-Turn transitions and the tuning of their step size and metric are BlackJAX's. Its kernels are functions of a
density that may change from one call to the next, so that they compose with the draw of the hypothesis and the whole
chain is one compiled loop, over several chains at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.adaptation.mass_matrix import mass_matrix_adaptation
from blackjax.adaptation.step_size import dual_averaging_adaptation
from jax import Array
from numpy.typing import NDArray

from twosample.common.threads import in_order
from twosample.inference.evidence import probability
from twosample.paper.chains import Chains, Settings
from twosample.paper.density import Data, Target

__all__ = ["evaluate", "sample"]

_TARGET_ACCEPTANCE = 0.8
# The metric is relearnt after these shares of the burn-in; earlier draws are forgotten.
_WINDOWS = (0.1, 0.25, 0.5, 0.9)
_SHORTEST_WINDOW = 10
# Gibbs steps in one call of the compiled loop, between which progress is shown.
_CHUNK = 20
# Gibbs steps after the burn-in between two checks for convergence.
_LOOK_EVERY = 100
_FIRST_STEP_SIZE = 0.1
# A start is moved if its log density is lower by this than at one of these offsets of a coordinate.
_HOPELESS = 5000.0
_OFFSETS = np.log(2.0) * np.arange(-20, 9)
_nuts = blackjax.nuts.build_kernel()
_tuning_start, _tune, _tuned = dual_averaging_adaptation(_TARGET_ACCEPTANCE)
_metric_start, _metric_update, _metric_final = mass_matrix_adaptation(is_diagonal_matrix=True)


class _State(NamedTuple):
    position: Array
    label: Array
    step_size: Any
    metric: Any


# Of some Gibbs steps: their numbers, whether they tune, and whether a window of the tuning ends with them.
_Plan = tuple[Array, Array, Array]


class _Step(NamedTuple):
    """Record of a Gibbs step."""

    position: Any
    given: Any
    label: Any
    log_bf10: Any
    divergences: Any
    acceptance: Any
    leapfrogs: Any


def sample(
    posterior: Target,
    data: Data,
    settings: Settings,
    seed: int,
    *,
    log_prior_odds: float = 0.0,
    hypotheses: NDArray[np.int64] | None = None,
    report: Callable[[float, list[float]], object] | None = None,
    enough: Callable[[Chains], bool] | None = None,
) -> Chains:
    """Run the chains; each keeps to one of the `hypotheses` (chains,) where these are given.

    `report` is called with the share of work done and the means of P(H1 | position) in the parts of it after the
    burn-in; `enough` every 100 steps with the chains so far, and sampling ends when it returns True.
    """
    labels = np.arange(settings.chains) % 2 if hypotheses is None else hypotheses
    windows = _windows(settings.burn_in)
    recorded: list[_Step] = []
    probabilities: list[float] = []
    static = posterior, (settings.hmc_steps, settings.adapt_steps)
    rest = data, log_prior_odds, hypotheses is not None
    look = settings.burn_in + _LOOK_EVERY
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(seed), settings.chains)
        position = _first_position(posterior, data)
        states = [_start(position, key, i, label) for i, (key, label) in enumerate(zip(keys, labels, strict=True))]
        for first in range(0, settings.steps, _CHUNK):
            indices = np.arange(first, first + _CHUNK)
            tunes, ends = indices < settings.burn_in, np.isin(indices + 1, windows)
            plan = jnp.asarray(indices), jnp.asarray(tunes), jnp.asarray(ends)
            states, steps = _advanced(static, rest, states, keys, plan)
            recorded.append(steps)
            if first >= settings.burn_in:
                probabilities.append(float(probability(steps.log_bf10 + log_prior_odds).mean()))
            done = min(first + _CHUNK, settings.steps)
            if report is not None:
                report(done / settings.steps, probabilities)
            if enough is not None and look <= done < settings.steps:
                look += _LOOK_EVERY
                if enough(_chains(recorded, states, settings, done)):
                    break
        return _chains(recorded, states, settings, done)


def _chains(recorded: list[_Step], states: list[_State], settings: Settings, steps: int) -> Chains:
    """The chains after that number of steps, without the burn-in and thinned."""
    after = slice(settings.burn_in, steps)
    everything = _Step(*(np.concatenate(parts, axis=1)[:, after] for parts in zip(*recorded, strict=True)))
    kept = _Step(*(part[:, settings.thinning - 1 :: settings.thinning] for part in everything))
    return Chains(
        positions=np.asarray(kept.position),
        given=np.asarray(kept.given),
        labels=np.asarray(kept.label),
        log_bf10=np.asarray(kept.log_bf10),
        switches=np.asarray((everything.given != everything.label).sum(axis=1)),
        divergences=np.asarray(everything.divergences.sum(axis=1)),
        acceptance=np.asarray(everything.acceptance.mean(axis=1)),
        leapfrogs=np.asarray(everything.leapfrogs.mean(axis=1)),
        step_sizes=np.array([float(_tuned(state.step_size)) for state in states]),
        steps=steps,
    )


def _density(posterior: Target, label: Array, data: Data, position: Array) -> Array:
    """Log density of the position given the hypothesis, up to a constant."""
    if posterior.flat_under_h0:  # there the data are not looked at, which saves most of the time
        log_likelihood = jax.lax.cond(
            label == 1, lambda at: posterior.curves(at, data).log_h1, lambda at: jnp.zeros((), at.dtype), position
        )
    else:
        curves = posterior.curves(position, data)
        log_likelihood = jnp.where(label == 1, curves.log_h1, curves.log_h0)
    log_density: Array = log_likelihood + posterior.log_prior(position)
    return log_density


def _windows(burn_in: int) -> list[int]:
    """Steps of the burn-in after which the metric is relearnt, with enough steps before and after each."""
    ends: list[int] = []
    for share in _WINDOWS:
        end = round(share * burn_in)
        if end - (ends[-1] if ends else 0) >= _SHORTEST_WINDOW and burn_in - end >= _SHORTEST_WINDOW:
            ends.append(end)
    return ends


def _tune_start(step_size: Array | float) -> Any:
    """Initial state of the tuning of a step size; without transitions, the tuned step size is this one."""
    state = _tuning_start(step_size)
    return state._replace(log_step_size_avg=state.log_step_size)


def _first_position(posterior: Target, data: Data) -> Array:
    """The posterior's own start, or if that has a very low density the best position along each coordinate in turn.

    From far out in a tail the tuning of the step size would not recover.
    """
    position = np.asarray(posterior.start(data))
    for index in range(len(position)):
        tried = np.repeat(position[None], len(_OFFSETS), axis=0)
        tried[:, index] += _OFFSETS
        log_prior = np.asarray(jax.vmap(posterior.log_prior)(jnp.asarray(tried)))
        log_density = np.nan_to_num(evaluate(posterior, tried, data).max(axis=1) + log_prior, nan=-np.inf)
        best = int(np.argmax(log_density))
        if log_density[best] > log_density[_OFFSETS == 0.0][0] + _HOPELESS:
            position = tried[best]
    return jnp.asarray(position)


def _start(position: Array, key: Array, index: int, label: int) -> _State:
    """Initial state of a chain: the first chain starts at that position, the others near it."""
    if index > 0:
        position += jax.random.uniform(jax.random.fold_in(key, 2**32 - 1), position.shape, minval=-0.5, maxval=0.5)
    state = _State(position, jnp.asarray(label), _tune_start(_FIRST_STEP_SIZE), _metric_start(len(position)))
    # Of the same types as the state that a step returns, so that the step is compiled once.
    kinds = {"f": jnp.float64, "i": jnp.int64}
    typed: _State = jax.tree.map(lambda part: jnp.asarray(part, kinds[jnp.asarray(part).dtype.kind]), state)
    return typed


def _advanced(
    static: tuple[Target, tuple[int, int]],
    rest: tuple[Data, float, bool],
    states: list[_State],
    keys: Array,
    plan: _Plan,
) -> tuple[list[_State], _Step]:
    """All chains after the planned steps: vectorised on an accelerator, in threads on a CPU (slow at batches)."""
    if jax.default_backend() != "cpu":
        stacked, steps = _advance_all(*static, jax.tree.map(lambda *p: jnp.stack(p), *states), keys, plan, *rest)
        alone = [jax.tree.map(lambda part, i=i: part[i], stacked) for i in range(len(states))]
        return alone, jax.tree.map(np.asarray, steps)

    def one(chain: tuple[_State, Array]) -> tuple[_State, _Step]:
        with jax.enable_x64(True):
            state, steps = _advance(*static, *chain, plan, *rest)
            return state, jax.tree.map(np.asarray, steps)

    advanced, recorded = zip(*in_order(one, zip(states, keys, strict=True)), strict=True)
    return list(advanced), jax.tree.map(lambda *parts: np.stack(parts), *recorded)


def _chain(
    posterior: Target,
    transitions: tuple[int, int],
    state: _State,
    key: Array,
    plan: _Plan,
    data: Data,
    log_prior_odds: Array,
    fixed: Array,
) -> tuple[_State, _Step]:
    """The planned Gibbs steps of a chain; `transitions` are the No-U-Turn ones of each, and those that tune."""
    hmc_steps, adapt_steps = transitions

    def gibbs_step(state: _State, planned: _Plan) -> tuple[_State, _Step]:
        index, tuning, window_ends = planned
        density = partial(_density, posterior, state.label, data)
        coin, *keys = jax.random.split(jax.random.fold_in(key, index), hmc_steps + 1)

        def transition(carry: tuple[Any, Any], turn: tuple[Array, Array]) -> tuple[tuple[Any, Any], Any]:
            nuts, step_size = carry
            turn_key, adapts = turn
            current = jnp.where(tuning, jnp.exp(step_size.log_step_size), _tuned(step_size))
            nuts, info = _nuts(turn_key, nuts, density, current, state.metric.inverse_mass_matrix)
            updated = _tune(step_size, info.acceptance_rate)
            step_size = _where(adapts & tuning, updated, step_size)
            return (nuts, step_size), (info.is_divergent, info.acceptance_rate, info.num_integration_steps)

        turns = jnp.stack(keys), jnp.arange(hmc_steps) < adapt_steps
        start = blackjax.nuts.init(state.position, density), state.step_size
        (nuts, step_size), info = jax.lax.scan(transition, start, turns)

        metric = _where(tuning, _metric_update(state.metric, nuts.position), state.metric)
        metric = _where(window_ends, _metric_final(metric), metric)
        step_size = _where(window_ends, _tune_start(_tuned(step_size)), step_size)

        log_bf10 = posterior.curves(nuts.position, data).log_bf10
        drawn = jax.random.bernoulli(coin, jax.nn.sigmoid(log_bf10 + log_prior_odds)).astype(state.label.dtype)
        label = jnp.where(fixed, state.label, drawn)
        step = _Step(nuts.position, state.label, label, log_bf10, info[0].sum(), info[1].mean(), info[2].mean())
        return _State(nuts.position, label, step_size, metric), step

    return jax.lax.scan(gibbs_step, state, plan)


_advance = jax.jit(_chain, static_argnums=(0, 1))
_advance_all = jax.jit(jax.vmap(_chain, (None, None, 0, 0, None, None, None, None)), static_argnums=(0, 1))


def _where(condition: Array, first: Any, second: Any) -> Any:
    return jax.tree.map(partial(jnp.where, condition), first, second)


def evaluate(
    posterior: Target, positions: NDArray[np.float64], data: Data, curves: tuple[str, ...] = ("log_h0", "log_h1")
) -> NDArray[np.float64]:
    """These fields of `Curves` at positions (..., P), as (..., number of fields)."""
    with jax.enable_x64(True):
        found = _evaluate(posterior, curves, positions.reshape(-1, positions.shape[-1]), data)
        return np.asarray(found).reshape(*positions.shape[:-1], len(curves))


@partial(jax.jit, static_argnums=(0, 1))
def _evaluate(posterior: Target, curves: tuple[str, ...], positions: Array, data: Data) -> Array:
    def at(position: Array) -> Array:
        found = posterior.curves(position, data)
        return jnp.stack([getattr(found, name) for name in curves])

    stacked: Array = jax.lax.map(at, positions)
    return stacked
