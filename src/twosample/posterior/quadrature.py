"""Exact integration over the lengthscale: adaptive in log ℓ, on logarithms, for posteriors of any width and many modes.

The target is known only through log curves that are smooth in log ℓ, however peaked their exponentials are. So the
curves are interpolated (Chebyshev polynomials on panels) and the exponentials of the interpolants are integrated.
Panels shrink to where the mass is, and gain nodes or split until the estimated error is small enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Quadrature", "integrate"]

Array = NDArray[np.float64]

# What lies this many nats below the best node carries no mass worth a digit (1e-11 of it).
_NEGLIGIBLE = 25.0
_FIRST_ORDER = 12
_LAST_ORDER = 192
# Errors of either sign cancel in an integral, to about this share of their mean size or less.
_CANCELLATION = 0.02
# Safety factor of the error estimate.
_SAFETY = 10.0
_MAX_EVALUATIONS = 1000
_SCAN_STEP = 0.5 * np.log(2.0)
_FINE_NODES, _FINE_WEIGHTS = np.polynomial.legendre.leggauss(160)


@dataclass(frozen=True, eq=False)
class Quadrature:
    """An integration rule fitted to the curves.

    Attributes
    ----------
    grid
        Locations of the rule, increasing, (G,).
    weights
        Its positive weights, (G,).
    curves
        The log curves there, (G, K).
    error
        Estimated error of the logarithms of the integrals; above the tolerance where the curves are too rough for it.
    evaluations
        Number of nodes at which the target was computed.
    """

    grid: Array
    weights: Array
    curves: Array
    error: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class _Panel:
    """Values of the curves at the Chebyshev–Lobatto nodes of an interval."""

    low: float
    high: float
    values: Array  # (order + 1, K)

    @property
    def order(self) -> int:
        return len(self.values) - 1

    @property
    def nodes(self) -> Array:
        return _lobatto(self.low, self.high, self.order)

    def fine(self) -> tuple[Array, Array]:
        """Locations and weights of the Gauss–Legendre rule of the interval."""
        half = 0.5 * (self.high - self.low)
        return self.low + half * (1.0 + _FINE_NODES), half * _FINE_WEIGHTS

    def interpolate(self, stride: int = 1) -> Array:
        """The interpolant through every `stride`-th node at the fine locations."""
        return _interpolation(self.order // stride) @ self.values[::stride]

    def error(self, masses: Array) -> float:
        """Estimated error of the log integrals, given the mass of each density at the fine locations (Q, densities).

        The interpolants of half and of a quarter of the order are compared with the best. Convergence is geometric:
        the next doubling gains the square of what the last one gained. Panels of low order say nothing yet.
        """
        if self.order < 4 * _FIRST_ORDER:
            return np.inf
        best = self.interpolate()
        changes = [best - self.interpolate(2), best - self.interpolate(4)]
        densities = masses.shape[1]

        def size(change: Array) -> float:
            own = np.einsum("qk,qk->", masses, change[:, :densities])
            return float(own + np.einsum("qk,qe->", masses, change[:, densities:]))

        def signed(change: Array) -> float:
            own = np.abs(np.einsum("qk,qk->k", masses, change[:, :densities])).sum()
            return float(own + np.abs(masses.T @ change[:, densities:]).sum())

        (fine, coarse), (fine_size, coarse_size) = map(signed, changes), (size(np.abs(c)) for c in changes)
        return max(_SAFETY * _extrapolate(fine, coarse), _CANCELLATION * _extrapolate(fine_size, coarse_size))


def _extrapolate(fine: float, coarse: float) -> float:
    return fine * min(1.0, fine / coarse) ** 2 if coarse > 0 else fine


def _lobatto(low: float, high: float, order: int) -> Array:
    nodes = low + 0.5 * (high - low) * (1.0 - np.cos(np.pi * np.arange(order + 1) / order))
    nodes[-1] = high
    return np.asarray(nodes)


_MATRICES: dict[int, Array] = {}


def _interpolation(order: int) -> Array:
    """Matrix from values at the Lobatto nodes of [-1, 1] to values at the fine nodes, by the barycentric formula."""
    if order not in _MATRICES:
        nodes = _lobatto(-1.0, 1.0, order)
        signs = (-1.0) ** np.arange(order + 1)
        signs[[0, -1]] *= 0.5
        terms = signs / (_FINE_NODES[:, None] - nodes)
        _MATRICES[order] = terms / terms.sum(axis=1, keepdims=True)
    return _MATRICES[order]


def integrate(
    target: Callable[[Array], Array],
    low: float,
    high: float,
    *,
    densities: int,
    tolerance: float = 1e-6,
    bound: Callable[[Array], Array] | None = None,
) -> Quadrature:
    """Fit a rule to the log curves of `target` on [low, high].

    Parameters
    ----------
    target
        Log curves (m, K) at m locations. May be called several times.
    low, high
        Ends of the interval.
    densities
        How many of the curves, counted from the first, are log densities: mass is where one of them is large.
        The others are only interpolated.
    tolerance
        The wanted error of the logarithms of the integrals.
    bound
        Where the curves may be too steep for one polynomial, or costly: upper bounds of them, for a first look at a
        grid of ratio √2 that finds where the mass can be.

    Examples
    --------
    >>> rule = integrate(lambda t: -0.5 * (t[:, None] / 0.01) ** 2, -5.0, 3.0, densities=1)
    >>> bool(np.isclose(rule.weights @ np.exp(rule.curves[:, 0]), 0.01 * np.sqrt(2 * np.pi)))
    True
    """
    evaluations = 0
    outside: list[tuple[float, Array]] = []

    def values(t: Array) -> Array:
        nonlocal evaluations
        evaluations += len(t)
        return target(t)

    def panels_on(intervals: list[tuple[float, float]]) -> list[_Panel]:
        return [_Panel(a, b, values(_lobatto(a, b, _FIRST_ORDER))) for a, b in intervals]

    intervals = [(low, high)]
    if bound is not None:
        scan = high - _SCAN_STEP * np.arange(np.ceil((high - low) / _SCAN_STEP) + 1)[::-1]
        evaluations += len(scan)
        (intervals,) = _brackets([(scan, bound(scan))], densities)
    panels = panels_on(intervals)

    while True:
        shrunk: list[_Panel] = []
        for panel, intervals in zip(
            panels, _brackets([(panel.nodes, panel.values) for panel in panels], densities), strict=True
        ):
            if sum(b - a for a, b in intervals) < 0.5 * (panel.high - panel.low):
                outside += zip(panel.nodes.tolist(), panel.values, strict=True)
                shrunk += panels_on(intervals)
            else:
                shrunk.append(panel)
        if shrunk != panels:
            panels = shrunk
            continue
        masses = _masses(panels, densities)
        errors = [panel.error(mass) for panel, mass in zip(panels, masses, strict=True)]
        exhausted = evaluations > _MAX_EVALUATIONS and np.isfinite(errors).all()
        if sum(errors) <= tolerance or exhausted:
            break
        worst = tolerance / len(panels)
        panels = [
            part
            for panel, error in zip(panels, errors, strict=True)
            for part in ([panel] if error <= worst else _refine(panel, values))
        ]

    grids, weights = zip(*(panel.fine() for panel in panels), strict=True)
    grid, weight = np.concatenate(grids), np.concatenate(weights)
    curves = np.concatenate([panel.interpolate() for panel in panels])
    beyond = [(t, v) for t, v in outside if all(t < panel.low or t > panel.high for panel in panels)]
    if beyond:
        grid = np.concatenate([grid, [t for t, _ in beyond]])
        weight = np.concatenate([weight, np.zeros(len(beyond))])
        curves = np.concatenate([curves, [v for _, v in beyond]])
    order = np.argsort(grid)
    return Quadrature(grid[order], weight[order], curves[order], float(sum(errors)), evaluations)


def _refine(panel: _Panel, values: Callable[[Array], Array]) -> list[_Panel]:
    """A panel of twice the order, or where that is high already two of half the width."""
    if panel.order < _LAST_ORDER:
        merged = np.empty((2 * panel.order + 1, panel.values.shape[1]))
        merged[::2] = panel.values
        merged[1::2] = values(_lobatto(panel.low, panel.high, 2 * panel.order)[1::2])
        return [_Panel(panel.low, panel.high, merged)]
    middle = 0.5 * (panel.low + panel.high)
    return [
        _Panel(a, b, values(_lobatto(a, b, 4 * _FIRST_ORDER))) for a, b in ((panel.low, middle), (middle, panel.high))
    ]


def _masses(panels: list[_Panel], densities: int) -> list[Array]:
    """For each panel the normalised mass of each density at its fine locations, (Q, densities)."""
    weights = [panel.fine()[1] for panel in panels]
    logs = [panel.interpolate()[:, :densities] for panel in panels]
    top = np.max([log.max(axis=0) for log in logs], axis=0)
    masses = [weight[:, None] * np.exp(log - top) for weight, log in zip(weights, logs, strict=True)]
    total = np.sum([mass.sum(axis=0) for mass in masses], axis=0)
    return [mass / total for mass in masses]


def _brackets(sampled: list[tuple[Array, Array]], densities: int) -> list[list[tuple[float, float]]]:
    """For each sampled piece the intervals outside of which no density can have mass, judged from values at nodes.

    A peak may rise above the nodes beside it; how far is bounded by the curvature seen around the node.
    """
    rise = [_rise(nodes, found[:, :densities]) for nodes, found in sampled]
    best = np.max([found[:, :densities].max(axis=0) for _, found in sampled], axis=0)
    pieces = []
    for (nodes, found), above in zip(sampled, rise, strict=True):
        reachable = (found[:, :densities] + above > best - _NEGLIGIBLE).any(axis=1)
        # Between two nodes that have no mass there may be some; beyond their neighbours there is none.
        kept = reachable.copy()
        kept[:-1] |= reachable[1:]
        kept[1:] |= reachable[:-1]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], kept.astype(int), [0]])))
        pieces.append([(float(nodes[a]), float(nodes[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)])
    return pieces


def _rise(nodes: Array, values: Array) -> Array:
    """How far a smooth curve may rise between its nodes: twice the largest deviation from linearity nearby."""
    slope = np.diff(values, axis=0) / np.diff(nodes)[:, None]
    bend = np.zeros_like(values)
    bend[1:-1] = np.abs(np.diff(slope, axis=0)) * (nodes[2:] - nodes[:-2])[:, None] / 4.0
    wide = bend.copy()
    wide[:-1] = np.maximum(wide[:-1], bend[1:])
    wide[1:] = np.maximum(wide[1:], bend[:-1])
    return wide
