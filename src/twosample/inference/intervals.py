"""Panels: log curves between two ends as Chebyshev polynomials, and the integrals of their exponentials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from twosample.common.arrays import Array
from twosample.inference.search import NEGLIGIBLE, intervals_of, widened

__all__ = ["Panel", "by_piece", "halved", "lobatto", "masses", "refine", "rules_on"]

Integrands = Callable[[Array], Array]

FIRST_ORDER = 12
_LAST_ORDER = 192
# Errors of either sign cancel in an integral, to about this share of their mean size or less.
_CANCELLATION = 0.02
# Safety factor of the error estimate.
_SAFETY = 10.0
# Interpolants are integrated by Gauss–Legendre rules on pieces of a panel, which are halved at most so often where an
# integrand has a step.
_PIECES: tuple[float, ...] = (-1.0, -0.5, 0.0, 0.5, 1.0)
_MOST_HALVINGS = 20
# More pieces than this are about rounding.
_MOST_PIECES = 500
_RULE = np.polynomial.legendre.leggauss(40)


@dataclass(frozen=True, eq=False)
class Panel:
    """Values of the curves at the Chebyshev–Lobatto nodes of an interval."""

    low: float
    high: float
    values: Array  # (order + 1, K)

    @property
    def order(self) -> int:
        """Degree of the polynomials."""
        return len(self.values) - 1

    @property
    def nodes(self) -> Array:
        """Where the values are."""
        return lobatto(self.low, self.high, self.order)

    def fine(self, pieces: tuple[float, ...] = _PIECES) -> tuple[Array, Array]:
        """Locations and weights of the Gauss–Legendre rules on pieces of the interval."""
        half, (places, weights) = 0.5 * (self.high - self.low), rules_on(pieces, _RULE)
        return self.low + half * (1.0 + places), half * weights

    def interpolate(self, stride: int = 1, pieces: tuple[float, ...] = _PIECES) -> Array:
        """The interpolant through every `stride`-th node at the fine locations."""
        interpolation = _kept_interpolation if len(pieces) < 2 * len(_PIECES) else _interpolation
        return interpolation(self.order // stride, pieces) @ self.values[::stride]

    def log_masses(self, integrands: Integrands, pieces: tuple[float, ...] = _PIECES) -> Array:
        """Logs of the integrands times the weights at the fine locations, (Q, F)."""
        return np.log(self.fine(pieces)[1])[:, None] + integrands(self.interpolate(pieces=pieces))

    def reach(self, best: Array, integrands: Integrands) -> list[tuple[float, float]]:
        """The intervals outside of which no integrand comes near its best value, by the interpolant and its doubt."""
        finest, coarser = (integrands(self.interpolate(stride)) for stride in (1, 2))
        locations = np.concatenate([self.nodes, self.fine()[0]])
        highest = np.concatenate([integrands(self.values), finest + np.abs(finest - coarser)])
        order = np.argsort(locations)
        inside = np.any(highest[order] > best - NEGLIGIBLE, axis=1)
        return intervals_of(locations[order], widened(inside))

    def error(self, masses: Array, trusted: int, integrands: Integrands) -> float:
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

    def pieces(self, integrands: Integrands, log_integrals: Array, wanted: float) -> tuple[tuple[float, ...], float]:
        """Pieces on which the rules are accurate, and what halving them all would still change of the log integrals."""

        def log_parts(pieces: tuple[float, ...]) -> Array:
            return by_piece(self.log_masses(integrands, pieces), _RULE)

        edges, _, change = halved(_PIECES, log_parts, lambda total: wanted, _MOST_PIECES, log_integrals)
        return edges, change


def halved(
    edges: tuple[float, ...],
    log_parts: Callable[[tuple[float, ...]], Array],
    allowed: Callable[[Array], float],
    most: int,
    log_whole: Array | float = -np.inf,
) -> tuple[tuple[float, ...], Array, float]:
    """Halve pieces with these edges until halving all of them would change the log integrals by what is allowed.

    `log_parts` are the log integrals over each piece, (P, F), `log_whole` those that they are a part of, (F,); beyond
    the largest number of pieces, `most`, the change is rounding. Returns the edges, the log integrals and the change.
    """
    parts = log_parts(edges)
    for _ in range(_MOST_HALVINGS):
        middles = tuple(0.5 * (a + b) for a, b in pairwise(edges))
        halves = log_parts(tuple(sorted(edges + middles)))
        log_integrals = np.logaddexp.reduce(halves, axis=0)
        wanted = allowed(log_integrals)
        # Where a rule hits or misses a peak by chance, the whole may be far more than its halves.
        largest = np.maximum(np.maximum(log_integrals, np.logaddexp.reduce(parts, axis=0)), log_whole)
        whole, first, second = (np.exp(logs - largest) for logs in (parts, halves[::2], halves[1::2]))
        change = np.abs(whole - (first + second)).max(axis=1)
        if change.sum() <= wanted or len(edges) > most:
            break
        chosen = change > 0.5 * wanted / len(change)
        edges = tuple(sorted(edges + tuple(m for m, halve in zip(middles, chosen, strict=True) if halve)))
        parts = log_parts(edges)
    return edges, log_integrals, float(change.sum())


def _extrapolate(fine: float, coarse: float) -> float:
    return fine * min(1.0, fine / coarse) ** 2 if coarse > 0 else fine


def lobatto(low: float, high: float, order: int) -> Array:
    """The Chebyshev–Lobatto nodes of an interval, increasing."""
    nodes = low + 0.5 * (high - low) * (1.0 - np.cos(np.pi * np.arange(order + 1) / order))
    nodes[-1] = high
    return np.asarray(nodes)


def rules_on(edges: tuple[float, ...], rule: tuple[Array, Array]) -> tuple[Array, Array]:
    """Locations and weights of a rule for [-1, 1], nodes and weights, on each of the pieces between the edges."""
    bounds = np.array(edges)
    half = 0.5 * np.diff(bounds)
    places = (bounds[:-1] + half)[:, None] + np.outer(half, rule[0])
    return places.ravel(), np.outer(half, rule[1]).ravel()


def by_piece(logs: Array, rule: tuple[Array, Array]) -> Array:
    """Log integrals over each piece, (P, F), from the logs of integrands times weights at the locations of a rule."""
    return np.asarray(np.logaddexp.reduce(logs.reshape(-1, len(rule[0]), logs.shape[1]), axis=1))


def _interpolation(order: int, pieces: tuple[float, ...]) -> Array:
    """Matrix from values at the Lobatto nodes of [-1, 1] to values at the fine nodes, by the barycentric formula."""
    nodes = lobatto(-1.0, 1.0, order)
    signs = (-1.0) ** np.arange(order + 1)
    signs[[0, -1]] *= 0.5
    differences = rules_on(pieces, _RULE)[0][:, None] - nodes
    differences[differences == 0.0] = np.finfo(np.float64).tiny
    terms = signs / differences
    return np.asarray(terms / terms.sum(axis=1, keepdims=True))


_kept_interpolation = lru_cache(maxsize=32)(_interpolation)


def refine(panel: Panel, values: Callable[[Array], Array]) -> list[Panel]:
    """A panel of twice the order, or where that is high already two of half the width."""
    if panel.order < _LAST_ORDER:
        merged = np.empty((2 * panel.order + 1, panel.values.shape[1]))
        merged[::2] = panel.values
        merged[1::2] = values(lobatto(panel.low, panel.high, 2 * panel.order)[1::2])
        return [Panel(panel.low, panel.high, merged)]
    middle = 0.5 * (panel.low + panel.high)
    return [Panel(a, b, values(lobatto(a, b, 4 * FIRST_ORDER))) for a, b in ((panel.low, middle), (middle, panel.high))]


def masses(panels: list[Panel], integrands: Integrands) -> tuple[list[Array], Array]:
    """For each panel the normalised mass of each integrand at its fine locations, (Q, F); their log integrals."""
    logs = [panel.log_masses(integrands) for panel in panels]
    total = np.logaddexp.reduce(np.concatenate(logs), axis=0)
    return [np.exp(log - total) for log in logs], total
