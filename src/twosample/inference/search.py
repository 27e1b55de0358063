"""Where the mass is: a coarse scan of steep log curves, and the intervals outside of which nothing matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags

__all__ = ["NEGLIGIBLE", "brackets", "intervals_of", "refine_bounds", "runs", "scan", "widened"]

Integrands = Callable[[Array], Array]
_Values = TypeVar("_Values", Array, Flags)

# What lies this many nats below the best node carries no mass worth a digit (1e-11 of it).
NEGLIGIBLE = 25.0
# Number of nodes of the scan at a time; it ends when all of them are that far below the best, and falling.
_SCAN_STEP = 0.5 * np.log(2.0)
_SCAN_PART = 5
_HOPELESS = 1000.0
# Number of nodes at a time at which the curves are computed after a scan of bounds.
_SEARCH_STEP = 3


def scan(curves: Callable[[Array], Array], low: float, high: float, integrands: Integrands) -> tuple[Array, Array]:
    """Locations, increasing, and curves there, from `high` down to where the integrands have long been falling."""
    steps = np.arange(np.ceil((high - low) / _SCAN_STEP - 1e-9) + 1)
    nodes: list[Array] = []
    sampled: list[Array] = []
    best = -np.inf
    for part in np.split(np.maximum(high - _SCAN_STEP * steps, low), range(_SCAN_PART, len(steps), _SCAN_PART)):
        nodes.insert(0, part[::-1])
        sampled.insert(0, curves(part[::-1]))
        newest = integrands(sampled[0])
        best = np.maximum(best, newest.max(axis=0))
        if (newest < best - _HOPELESS).all() and (newest[1:] > newest[:-1]).all():
            break
    locations, values = np.concatenate(nodes), np.concatenate(sampled)
    possible = np.isfinite(integrands(values)).all(axis=1)
    return locations[possible], values[possible]


def refine_bounds(
    nodes: Array, bounds: Array, values: Callable[[Array], Array], integrands: Integrands
) -> tuple[Array, Flags]:
    """The curves where their bounds reach as high as the best value found, and beside it; the bounds elsewhere."""
    curves = bounds.copy()
    highest = integrands(bounds)
    reach = highest + _rise(nodes, highest)
    known = np.zeros(len(nodes), dtype=bool)

    def compute(places: NDArray[np.intp]) -> None:
        curves[places] = values(nodes[places])
        known[places] = True

    best = np.full(reach.shape[1], -np.inf)
    while (possible := np.flatnonzero(~known & (reach > best - NEGLIGIBLE).any(axis=1))).size:
        compute(possible[np.argsort(reach[possible].max(axis=1))[-_SEARCH_STEP:]])
        best = integrands(curves[known]).max(axis=0)
    if (beside := np.flatnonzero(widened(known) & ~known)).size:
        compute(beside)
    return curves, known


def brackets(sampled: list[tuple[Array, Array]]) -> list[tuple[float, float]]:
    """The intervals outside of which no integrand can have mass, judged from the values at the nodes of some pieces.

    A peak may rise above the nodes beside it; how far is bounded by the curvature seen around the node.
    """
    best = np.max([values.max(axis=0) for _, values in sampled], axis=0)
    intervals = []
    for nodes, values in sampled:
        reachable = (values + _rise(nodes, values) > best - NEGLIGIBLE).any(axis=1)
        # Between two nodes that have no mass there may be some; beyond their neighbours there is none.
        intervals += intervals_of(nodes, widened(reachable))
    return intervals


def widened(values: _Values) -> _Values:
    """The values, each raised to that of its neighbours: of flags those of the neighbours of what is flagged too."""
    wide = values.copy()
    wide[:-1] = np.maximum(wide[:-1], values[1:])
    wide[1:] = np.maximum(wide[1:], values[:-1])
    return wide


def intervals_of(nodes: Array, kept: Flags) -> list[tuple[float, float]]:
    """The intervals from the first to the last node of each run of nodes that are kept."""
    return [(float(nodes[run][0]), float(nodes[run][-1])) for run in runs(kept)]


def runs(flags: Flags) -> list[slice]:
    """Where neighbours are flagged without a gap."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _rise(nodes: Array, values: Array) -> Array:
    """How far a smooth curve may rise between its nodes: twice the largest deviation from linearity nearby."""
    slope = np.diff(values, axis=0) / np.diff(nodes)[:, None]
    bend = np.zeros_like(values)
    bend[1:-1] = np.abs(np.diff(slope, axis=0)) * (nodes[2:] - nodes[:-2])[:, None] / 4.0
    return widened(bend)
