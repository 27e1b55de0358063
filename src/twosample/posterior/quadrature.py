"""Exact integration over the lengthscale: adaptive in log ℓ, on logarithms, for posteriors of any width and many modes.

The target is known only through log curves that are smooth in log ℓ, however peaked their exponentials are. So the
curves are interpolated (Chebyshev polynomials on panels) and the exponentials of the interpolants are integrated.
Panels shrink to where the mass is, and gain nodes or split until the estimated error is small enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Quadrature", "integrate"]

Array = NDArray[np.float64]

# What lies this many nats below the best node carries no mass worth a digit (1e-11 of it).
_NEGLIGIBLE = 25.0
_FIRST_ORDER = 12
# Panels of this order are fine enough to judge by, wherever the mass is in them.
_TRUSTED_ORDER = 96
_LAST_ORDER = 192
# Errors of either sign cancel in an integral, to about this share of their mean size or less.
_CANCELLATION = 0.02
# Safety factor of the error estimate.
_SAFETY = 10.0
# The scan takes so many nodes at a time, and ends when all of them are so far below the best, and falling.
_SCAN_STEP = 0.5 * np.log(2.0)
_SCAN_PART = 5
_HOPELESS = 1000.0
# After a scan of bounds the curves are computed at so many nodes at a time.
_SEARCH_STEP = 3
# Interpolants are integrated by Gauss–Legendre rules on pieces of a panel, which are halved at most so often where an
# integrand has a step.
_PIECES: tuple[float, ...] = (-1.0, -0.5, 0.0, 0.5, 1.0)
_MOST_HALVINGS = 20
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


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
        Estimated error of the logarithms of the integrals.
    evaluations
        Number of nodes at which the target was computed.
    converged
        Whether the error is as small as was wanted; it is not where the curves are too rough.
    """

    grid: Array
    weights: Array
    curves: Array
    error: float
    evaluations: int
    converged: bool = True


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

    def fine(self, pieces: tuple[float, ...] = _PIECES) -> tuple[Array, Array]:
        """Locations and weights of the Gauss–Legendre rules on pieces of the interval."""
        half = 0.5 * (self.high - self.low)
        return self.low + half * (1.0 + _fine_nodes(pieces)), 0.5 * half * np.outer(np.diff(pieces), _WEIGHTS).ravel()

    def interpolate(self, stride: int = 1, pieces: tuple[float, ...] = _PIECES) -> Array:
        """The interpolant through every `stride`-th node at the fine locations."""
        interpolation = _kept_interpolation if len(pieces) < 2 * len(_PIECES) else _interpolation
        return interpolation(self.order // stride, pieces) @ self.values[::stride]

    def log_masses(self, integrands: Callable[[Array], Array], pieces: tuple[float, ...] = _PIECES) -> Array:
        """Logs of the integrands times the weights at the fine locations, (Q, F)."""
        return np.log(self.fine(pieces)[1])[:, None] + integrands(self.interpolate(pieces=pieces))

    def reach(self, best: Array, integrands: Callable[[Array], Array]) -> list[tuple[float, float]]:
        """The intervals outside of which no integrand comes near its best value, by the interpolant and its doubt."""
        finest, coarser = (integrands(self.interpolate(stride)) for stride in (1, 2))
        locations = np.concatenate([self.nodes, self.fine()[0]])
        highest = np.concatenate([integrands(self.values), finest + np.abs(finest - coarser)])
        order = np.argsort(locations)
        inside = np.any(highest[order] > best - _NEGLIGIBLE, axis=1)
        return _intervals(locations[order], _widened(inside))

    def error(self, masses: Array, trusted: int, integrands: Callable[[Array], Array]) -> float:
        """Estimated error of the log integrals, given the mass of each integrand at the fine locations (Q, F).

        The interpolants of half and of a quarter of the order are compared with the best. Convergence is geometric:
        the next doubling gains the square of what the last one gained. Panels of less than the `trusted` order say
        nothing yet.
        """
        if self.order < trusted:
            return np.inf
        best = integrands(self.interpolate())
        fine, coarse = (masses * (best - integrands(self.interpolate(stride))) for stride in (2, 4))
        sizes = (float(np.abs(change).sum()) for change in (fine, coarse))
        signed = (float(np.abs(change.sum(axis=0)).sum()) for change in (fine, coarse))
        return max(_SAFETY * _extrapolate(*signed), _CANCELLATION * _extrapolate(*sizes))

    def pieces(
        self, integrands: Callable[[Array], Array], log_integrals: Array, wanted: float
    ) -> tuple[tuple[float, ...], float]:
        """Pieces on which the rules are accurate, and what halving them all would still change of the log integrals."""
        edges = _PIECES
        for _ in range(_MOST_HALVINGS):
            middles = 0.5 * (np.array(edges[1:]) + edges[:-1])
            logs = [self._log_parts(integrands, e) for e in (edges, _sorted(edges, middles))]
            total = np.max([log_integrals, *(np.logaddexp.reduce(log, axis=0) for log in logs)], axis=0)
            whole, halves = (np.exp(log - total) for log in logs)
            change = np.abs(whole - halves[::2] - halves[1::2]).max(axis=1)
            if change.sum() <= wanted:
                break
            edges = _sorted(edges, middles[change > 0.5 * wanted / len(change)])
        return edges, float(change.sum())

    def _log_parts(self, integrands: Callable[[Array], Array], pieces: tuple[float, ...]) -> Array:
        """Log integrals over each piece, (P, F)."""
        logs = self.log_masses(integrands, pieces)
        return np.asarray(np.logaddexp.reduce(logs.reshape(-1, len(_NODES), logs.shape[1]), axis=1))


def _sorted(*edges: ArrayLike) -> tuple[float, ...]:
    return tuple(np.sort(np.concatenate(edges)).tolist())


def _extrapolate(fine: float, coarse: float) -> float:
    return fine * min(1.0, fine / coarse) ** 2 if coarse > 0 else fine


def _lobatto(low: float, high: float, order: int) -> Array:
    nodes = low + 0.5 * (high - low) * (1.0 - np.cos(np.pi * np.arange(order + 1) / order))
    nodes[-1] = high
    return np.asarray(nodes)


def _fine_nodes(pieces: tuple[float, ...]) -> Array:
    """Nodes of the Gauss–Legendre rules on pieces of [-1, 1], given by their edges."""
    edges = np.array(pieces)
    return np.asarray((0.5 * (edges[1:] + edges[:-1])[:, None] + np.outer(0.5 * np.diff(edges), _NODES)).ravel())


def _interpolation(order: int, pieces: tuple[float, ...]) -> Array:
    """Matrix from values at the Lobatto nodes of [-1, 1] to values at the fine nodes, by the barycentric formula."""
    nodes = _lobatto(-1.0, 1.0, order)
    signs = (-1.0) ** np.arange(order + 1)
    signs[[0, -1]] *= 0.5
    differences = _fine_nodes(pieces)[:, None] - nodes
    differences[differences == 0.0] = np.finfo(np.float64).tiny
    terms = signs / differences
    return np.asarray(terms / terms.sum(axis=1, keepdims=True))


_kept_interpolation = lru_cache(maxsize=32)(_interpolation)


def integrate(
    target: Callable[[Array], Array],
    low: float,
    high: float,
    *,
    integrands: Callable[[Array], Array] = lambda curves: curves,
    tolerance: float | Callable[[Array], float] = 1e-6,
    caution: float = 1.0,
    limit: int = 1000,
    scan: bool = False,
    bound: Callable[[Array], Array] | None = None,
) -> Quadrature:
    """Fit a rule to the log curves of `target` on [low, high].

    Parameters
    ----------
    target
        Log curves (m, K) at m locations. May be called several times.
    low, high
        Ends of the interval.
    integrands
        From the curves (Q, K), which are interpolated, to the logarithms (Q, F) of what is integrated; by default the
        same.
    tolerance
        The wanted error of the logarithms of the integrals, or a function of them that says it.
    caution
        Factor on the estimated errors of panels of low order, which now and then seem to converge by chance.
    limit
        Stop after this many evaluations, however large the error.
    scan
        Whether to look first, on a grid of ratio √2 that starts at `high`, where the mass is: for curves that are too
        steep for one polynomial.
    bound
        Where the curves are costly: curves for the scan whose integrands are upper bounds. The curves themselves are
        then computed where a bound leaves room for mass, the highest bounds first.

    Examples
    --------
    >>> rule = integrate(lambda t: -0.5 * (t[:, None] / 0.01) ** 2, -5.0, 3.0)
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

    intervals, trusted = [(low, high)], _TRUSTED_ORDER
    if scan:
        trusted = 2 * _FIRST_ORDER  # of intervals that end where the mass does
        nodes, found = _scan(bound or target, low, high, integrands)
        evaluations += len(nodes)
        known = np.ones(len(nodes), dtype=bool)
        if bound is not None:
            found, known = _search(nodes, found, values, integrands)
        outside += zip(nodes[known].tolist(), found[known], strict=True)
        intervals = _brackets([(nodes[run], integrands(found[run])) for run in _runs(known)])
    panels = panels_on(intervals)

    while True:
        shrunk: list[_Panel] = []
        best = np.max([integrands(panel.values).max(axis=0) for panel in panels], axis=0)
        for panel in panels:
            intervals = panel.reach(best, integrands)
            if sum(b - a for a, b in intervals) < 0.5 * (panel.high - panel.low):
                outside += zip(panel.nodes.tolist(), panel.values, strict=True)
                shrunk += panels_on(intervals)
            else:
                shrunk.append(panel)
        if shrunk != panels:
            panels = shrunk
            continue
        masses, log_integrals = _masses(panels, integrands)
        errors = [
            panel.error(mass, trusted, integrands) * (caution if panel.order < _TRUSTED_ORDER else 1.0)
            for panel, mass in zip(panels, masses, strict=True)
        ]
        wanted = tolerance(log_integrals) if callable(tolerance) else tolerance
        converged = sum(errors) <= wanted
        if converged or (evaluations > limit and np.isfinite(errors).all()):
            break
        worst = wanted / len(panels)
        panels = [
            part
            for panel, error in zip(panels, errors, strict=True)
            for part in ([panel] if error <= worst else _refine(panel, values))
        ]

    refined = [panel.pieces(integrands, log_integrals, 0.1 * wanted / len(panels)) for panel in panels]
    rules = [
        (*panel.fine(pieces), panel.interpolate(pieces=pieces))
        for panel, (pieces, _) in zip(panels, refined, strict=True)
    ]
    grid, weight, curves = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    beyond = [(t, v) for t, v in outside if all(t < panel.low or t > panel.high for panel in panels)]
    if beyond:
        grid = np.concatenate([grid, [t for t, _ in beyond]])
        weight = np.concatenate([weight, np.zeros(len(beyond))])
        curves = np.concatenate([curves, [v for _, v in beyond]])
    order = np.argsort(grid)
    change = sum(change for _, change in refined)
    return Quadrature(
        grid[order], weight[order], curves[order], float(sum(errors) + change), evaluations,
        converged=converged and change <= wanted,
    )  # fmt: skip


def _scan(
    curves: Callable[[Array], Array], low: float, high: float, integrands: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Locations, increasing, and curves there, from `high` down to where the integrands have long been falling."""
    steps = np.arange(np.ceil((high - low) / _SCAN_STEP) + 1)
    nodes: list[Array] = []
    found: list[Array] = []
    best = -np.inf
    for part in np.split(high - _SCAN_STEP * steps, range(_SCAN_PART, len(steps), _SCAN_PART)):
        nodes.insert(0, part[::-1])
        found.insert(0, curves(part[::-1]))
        newest = integrands(found[0])
        best = np.maximum(best, newest.max(axis=0))
        if (newest < best - _HOPELESS).all() and (newest[1:] > newest[:-1]).all():
            break
    locations, values = np.concatenate(nodes), np.concatenate(found)
    possible = np.isfinite(integrands(values)).all(axis=1)
    return locations[possible], values[possible]


def _search(
    scan: Array, bounds: Array, values: Callable[[Array], Array], integrands: Callable[[Array], Array]
) -> tuple[Array, NDArray[np.bool_]]:
    """The curves where their bounds reach as high as the best value found, and beside it; the bounds elsewhere."""
    found = bounds.copy()
    reach = integrands(bounds)
    reach += _rise(scan, reach)
    known = np.zeros(len(scan), dtype=bool)

    def compute(nodes: NDArray[np.intp]) -> None:
        found[nodes] = values(scan[nodes])
        known[nodes] = True

    best = np.full(reach.shape[1], -np.inf)
    while (possible := np.flatnonzero(~known & (reach > best - _NEGLIGIBLE).any(axis=1))).size:
        compute(possible[np.argsort(reach[possible].max(axis=1))[-_SEARCH_STEP:]])
        best = integrands(found[known]).max(axis=0)
    compute(np.flatnonzero(_widened(known) & ~known))
    return found, known


def _widened(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The flags, raised for the neighbours of what is flagged too."""
    wide = flags.copy()
    wide[:-1] |= flags[1:]
    wide[1:] |= flags[:-1]
    return wide


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


def _masses(panels: list[_Panel], integrands: Callable[[Array], Array]) -> tuple[list[Array], Array]:
    """For each panel the normalised mass of each integrand at its fine locations, (Q, F); their log integrals."""
    logs = [panel.log_masses(integrands) for panel in panels]
    total = np.logaddexp.reduce(np.concatenate(logs), axis=0)
    return [np.exp(log - total) for log in logs], total


def _brackets(sampled: list[tuple[Array, Array]]) -> list[tuple[float, float]]:
    """The intervals outside of which no integrand can have mass, judged from the values at the nodes of some pieces.

    A peak may rise above the nodes beside it; how far is bounded by the curvature seen around the node.
    """
    best = np.max([values.max(axis=0) for _, values in sampled], axis=0)
    intervals = []
    for nodes, values in sampled:
        reachable = (values + _rise(nodes, values) > best - _NEGLIGIBLE).any(axis=1)
        # Between two nodes that have no mass there may be some; beyond their neighbours there is none.
        intervals += _intervals(nodes, _widened(reachable))
    return intervals


def _intervals(nodes: Array, kept: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The intervals from the first to the last node of each run of nodes that are kept."""
    return [(float(nodes[run][0]), float(nodes[run][-1])) for run in _runs(kept)]


def _runs(flags: NDArray[np.bool_]) -> list[slice]:
    """Where neighbours are flagged without a gap."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _rise(nodes: Array, values: Array) -> Array:
    """How far a smooth curve may rise between its nodes: twice the largest deviation from linearity nearby."""
    slope = np.diff(values, axis=0) / np.diff(nodes)[:, None]
    bend = np.zeros_like(values)
    bend[1:-1] = np.abs(np.diff(slope, axis=0)) * (nodes[2:] - nodes[:-2])[:, None] / 4.0
    wide = bend.copy()
    wide[:-1] = np.maximum(wide[:-1], bend[1:])
    wide[1:] = np.maximum(wide[1:], bend[:-1])
    return wide
