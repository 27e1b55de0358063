"""Adaptive integration over the lengthscale, on logarithms, for posteriors of any width and many modes.

The target is known only through log curves that are smooth in log ℓ, however peaked their exponentials are. So the
curves are interpolated (Chebyshev polynomials on panels) and the exponentials of the interpolants are integrated.
Panels shrink to where the mass is, and gain nodes or split until the estimated error is small enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from twosample.common.arrays import Array
from twosample.errors import InputError
from twosample.inference.intervals import FIRST_ORDER, Panel, lobatto, masses, refine
from twosample.inference.search import brackets, refine_bounds, runs, scan

__all__ = ["Quadrature", "integrate"]

Curves = Callable[[Array], Array]

# Panels of this order are fine enough to judge by, wherever the mass is in them.
_TRUSTED_ORDER = 96


@dataclass(frozen=True, eq=False)
class Quadrature:
    """An integration rule fitted to log curves."""

    grid: Array  # locations of the rule, increasing, (G,)
    weights: Array  # not negative, (G,)
    curves: Array  # the log curves there, (G, K)
    error: float  # as estimated, of the logarithms of the integrals
    evaluations: int  # nodes at which the target was computed
    converged: bool = True  # whether the error is as small as was wanted; not where the curves are too rough


def integrate(
    target: Curves,
    low: float,
    high: float,
    *,
    integrands: Curves = lambda curves: curves,
    tolerance: float | Callable[[Array], float] = 1e-6,
    caution: float = 1.0,
    limit: int = 1000,
    look_first: bool | Curves = False,
) -> Quadrature:
    """Fit a rule to the log curves of `target`, (m, K) at m locations, on [low, high].

    The curves (Q, K) are interpolated, and their `integrands` (Q, F), by default the same, are the logarithms of what
    is integrated. The `tolerance` is the wanted error of the logarithms of the integrals, or a function of them that
    says it; `caution` is a factor on the estimated errors of panels of low order, which now and then seem to converge
    by chance; and after `limit` evaluations it stops, however large the error.

    Curves that are too steep for one polynomial are to be looked at first, on a grid of ratio √2 that starts at `high`,
    for where the mass is. Where they are costly, `look_first` are other curves for this, whose integrands are upper
    bounds: the curves themselves are then computed where a bound leaves room for mass, the highest bounds first.
    """
    panels = _Panels(target, integrands)
    if look_first:
        intervals = panels.where_mass_is(low, high, look_first if callable(look_first) else None)
        if not intervals:
            raise InputError(
                "x and y: some rows are so far from the others that at no lengthscale they have a likelihood",
                argument="x and y",
                remedy="remove them, or change the units",
            )
        trusted = 2 * FIRST_ORDER  # of intervals that end where the mass does
    else:
        intervals, trusted = [(low, high)], _TRUSTED_ORDER
    panels.start(intervals)
    while True:
        panels.shrink()
        errors, log_integrals = panels.errors(trusted, caution)
        wanted = tolerance(log_integrals) if callable(tolerance) else tolerance
        converged = sum(errors) <= wanted
        if converged or (panels.evaluations > limit and np.isfinite(errors).all()):
            return panels.rule(sum(errors), wanted, log_integrals, converged)
        panels.refine(errors, wanted / len(errors))


class _Panels:
    """The panels that cover the mass, and what is known of the curves beyond them."""

    def __init__(self, target: Curves, integrands: Curves) -> None:
        self._target, self._integrands = target, integrands
        self._panels: list[Panel] = []
        self._outside: list[tuple[float, Array]] = []
        self.evaluations = 0

    def _values(self, t: Array) -> Array:
        self.evaluations += len(t)
        return self._target(t)

    def start(self, intervals: list[tuple[float, float]]) -> None:
        """One panel of low order on each interval more."""
        self._panels += [Panel(a, b, self._values(lobatto(a, b, FIRST_ORDER))) for a, b in intervals]

    def where_mass_is(self, low: float, high: float, bound: Curves | None) -> list[tuple[float, float]]:
        """Intervals by a look at a coarse grid, of bounds of the curves where there are some."""
        nodes, curves = scan(bound or self._target, low, high, self._integrands)
        self.evaluations += len(nodes)
        known = np.ones(len(nodes), dtype=bool)
        if bound is not None:
            curves, known = refine_bounds(nodes, curves, self._values, self._integrands)
            known &= np.isfinite(self._integrands(curves)).all(axis=1)  # as in the scan, of the curves themselves
        self._outside += zip(nodes[known].tolist(), curves[known], strict=True)
        sampled = [(nodes[run], self._integrands(curves[run])) for run in runs(known)]
        return brackets(sampled) if sampled else []

    def shrink(self) -> None:
        """Replace panels that are mostly without mass by smaller ones, as long as there are any."""
        shrunk = True
        while shrunk:
            best = np.max([self._integrands(panel.values).max(axis=0) for panel in self._panels], axis=0)
            panels, self._panels, shrunk = self._panels, [], False
            for panel in panels:
                intervals = panel.reach(best, self._integrands)
                if sum(b - a for a, b in intervals) < 0.5 * (panel.high - panel.low):
                    self._outside += zip(panel.nodes.tolist(), panel.values, strict=True)
                    self.start(intervals)
                    shrunk = True
                else:
                    self._panels.append(panel)

    def errors(self, trusted: int, caution: float) -> tuple[list[float], Array]:
        """The estimated error of each panel, and the log integrals of all together."""
        shares, log_integrals = masses(self._panels, self._integrands)
        errors = [
            panel.error(share, trusted, self._integrands) * (caution if panel.order < _TRUSTED_ORDER else 1.0)
            for panel, share in zip(self._panels, shares, strict=True)
        ]
        return errors, log_integrals

    def refine(self, errors: list[float], allowed: float) -> None:
        """More nodes for the panels whose error is larger than is allowed."""
        self._panels = [
            part
            for panel, error in zip(self._panels, errors, strict=True)
            for part in ([panel] if error <= allowed else refine(panel, self._values))
        ]

    def rule(self, error: float, wanted: float, log_integrals: Array, converged: bool) -> Quadrature:
        """The integration rule on all panels; what lies beyond them has no weight."""
        pieces = [
            panel.pieces(self._integrands, log_integrals, 0.1 * wanted / len(self._panels)) for panel in self._panels
        ]
        rules = [
            (*panel.fine(edges), panel.interpolate(pieces=edges))
            for panel, (edges, _) in zip(self._panels, pieces, strict=True)
        ]
        grid, weight, curves = (np.concatenate(parts) for parts in zip(*rules, strict=True))
        beyond = [(t, v) for t, v in self._outside if all(t < panel.low or t > panel.high for panel in self._panels)]
        if beyond:
            grid = np.concatenate([grid, [t for t, _ in beyond]])
            weight = np.concatenate([weight, np.zeros(len(beyond))])
            curves = np.concatenate([curves, [v for _, v in beyond]])
        order = np.argsort(grid)
        change = sum(change for _, change in pieces)
        return Quadrature(
            grid[order], weight[order], curves[order], float(error + change), self.evaluations,
            converged=converged and change <= wanted,
        )  # fmt: skip
