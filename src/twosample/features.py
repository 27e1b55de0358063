"""Feature maps: from rows of the data to features at the evaluation points. Nothing after them knows coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from twosample.arrays import Array
from twosample.data import View
from twosample.jacobian import Jacobians
from twosample.kernels import Kernel

__all__ = ["FeatureMap", "PointFeatures"]


# Squaring doubles the relative error: 2**8 roundings stay below 1e-13.
_MOST_SQUARINGS = 8


class FeatureMap(Protocol):
    """What the test needs to know of a domain. Rows are in the units of the data, lengthscales are not.

    The first four are enough for models that weigh lengthscales by their evidence, such as `adaptive`.
    """

    @property
    def count(self) -> int:
        """Number of features, s."""

    @property
    def typical(self) -> float:
        """A lengthscale in the middle of those that make sense: the median heuristic."""

    def values(self, rows: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
        """Features (n, s) of the rows for every lengthscale, with its index, in any order; the next overwrites it."""

    def between(self, lengthscales: Array) -> Array:
        """The kernel between the points, K(Z, Z), for every lengthscale, (m, s, s)."""

    def at(self, rows: Array, lengthscale: float) -> Array:
        """Features (n, s) at one lengthscale."""

    def convolved(self, rows: Array, lengthscale: float) -> Array:
        """The self-convolution of the kernel between rows and points, over its value at zero, (n, s)."""

    def convolved_between(self, lengthscales: Array) -> Array:
        """The same between the points, (m, s, s)."""

    def log_self_convolution(self, lengthscales: Array) -> Array:
        """The logarithm of its value at zero, (m,)."""

    def jacobians(self, x: Array, y: Array) -> Jacobians:
        """The Jacobians of φ(x) - φ(y) at pairs of rows."""


@dataclass(frozen=True, eq=False)
class PointFeatures:
    """Kernel values of the rows of a table at evaluation points.

    Attributes
    ----------
    kernel
        The kernel.
    view
        What is done to the columns before anything else.
    points
        Evaluation points (s, D), as the view shows them.
    typical
        The median heuristic there.

    Examples
    --------
    >>> view = View(center=np.zeros(1), scale=np.array([2.0]))
    >>> from twosample.kernels import RBF
    >>> features = PointFeatures(RBF(), view, points=np.array([[0.0], [1.0]]), typical=1.0)
    >>> features.at(np.array([[2.0]]), 1.0).round(4)
    array([[0.6065, 1.    ]])
    """

    kernel: Kernel
    view: View
    points: Array
    typical: float

    @property
    def count(self) -> int:
        """Number of points, s."""
        return len(self.points)

    def _distances(self, rows: Array) -> Array:
        with np.errstate(over="ignore"):  # an infinite distance is far enough
            return np.asarray(self.kernel.distances(self.view.apply(rows), self.points))

    def values(self, rows: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
        """Kernel values (n, s) for every lengthscale, one after the other in the same memory.

        On a geometric grid whose ratio is a root of 2 most of them are squares of others.
        """
        distances = self._distances(rows)
        values = np.empty_like(distances)
        for chain in _chains(lengthscales) if self.kernel.squares else [[i] for i in range(len(lengthscales))]:
            for step, index in enumerate(chain):
                if step:
                    np.multiply(values, values, out=values)
                else:
                    with np.errstate(over="ignore"):
                        values = self.kernel.value(distances, float(lengthscales[index]), out=values)
                yield index, values

    def at(self, rows: Array, lengthscale: float) -> Array:
        """Kernel values (n, s) at one lengthscale."""
        with np.errstate(over="ignore"):
            return np.asarray(self.kernel.value(self._distances(rows), lengthscale))

    def between(self, lengthscales: Array) -> Array:
        """K(Z, Z) for every lengthscale, (m, s, s)."""
        with np.errstate(over="ignore"):
            distances = self.kernel.distances(self.points, self.points)
            return np.asarray(self.kernel.value(distances, lengthscales[:, None, None]))

    def convolved(self, rows: Array, lengthscale: float) -> Array:
        """The self-convolution of the kernel between rows and points, (n, s)."""
        with np.errstate(over="ignore"):
            return np.asarray(self.kernel.self_convolution(self._distances(rows), lengthscale))

    def convolved_between(self, lengthscales: Array) -> Array:
        """The self-convolution between the points, (m, s, s)."""
        with np.errstate(over="ignore"):
            distances = self.kernel.distances(self.points, self.points)
            return np.asarray(self.kernel.self_convolution(distances, lengthscales[:, None, None]))

    def log_self_convolution(self, lengthscales: Array) -> Array:
        """Log of the self-convolution at zero, (m,)."""
        return np.asarray(self.kernel.log_self_convolution(lengthscales, self.points.shape[1]))

    def jacobians(self, x: Array, y: Array) -> Jacobians:
        """The Jacobians at pairs of rows."""
        return Jacobians(self.view.apply(x), self.view.apply(y), self.points, self.kernel)


def _chains(lengthscales: Array) -> list[list[int]]:
    """Group the lengthscales into runs in which each is the one before divided by √2."""
    steps = 2.0 * np.log2(lengthscales)
    phase = np.round(steps - np.floor(steps), 9) % 1.0
    order = np.lexsort((-steps, phase))
    follows = np.abs(np.diff(steps[order]) + 1.0) < 1e-12
    chains: list[list[int]] = []
    for index, follow in zip(order.tolist(), [False, *follows.tolist()], strict=True):
        if follow and len(chains[-1]) <= _MOST_SQUARINGS:
            chains[-1].append(index)
        else:
            chains.append([index])
    return chains
