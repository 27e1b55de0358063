"""Feature maps: from rows of the data to features at the evaluation points, after which nothing knows coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.data import Ranks, View
from twosample.features.jacobian import Jacobians
from twosample.kernels import Kernel

__all__ = ["FeatureMap", "PointFeatures", "PointKernel", "StackFeatures", "chains", "chains_of", "of_one_column"]


# Squaring doubles the relative error: 2**8 roundings stay below 1e-13.
_MOST_SQUARINGS = 8


class PointKernel(Protocol):
    """The kernel between evaluation points, of which the prior of the witness is made."""

    @property
    def count(self) -> int:
        """Number of features, s."""

    def between(self, lengthscales: Array) -> Array:
        """The kernel between the points, K(Z, Z), for every lengthscale, (m, s, s)."""

    def convolved_between(self, lengthscales: Array) -> Array:
        """The self-convolution of the kernel between the points, over its value at zero, (m, s, s)."""

    def log_self_convolution(self, lengthscales: Array) -> Array:
        """The logarithm of its value at zero, (m,)."""


class FeatureMap(PointKernel, Protocol):
    """The domain of a test. Rows are in the units of the data, lengthscales are not.

    `count`, `between`, `typical` and `values` are enough for models without a pseudo-likelihood, such as `adaptive`.
    """

    @property
    def typical(self) -> float:
        """The median heuristic, to which lengthscales are relative."""

    def values(self, rows: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
        """Features (n, s) of the rows for every lengthscale, with its index, in any order; the next overwrites it."""

    def at(self, rows: Array, lengthscale: float) -> Array:
        """Features (n, s) at one lengthscale."""

    def convolved(self, rows: Array, lengthscale: float) -> Array:
        """The self-convolution of the kernel between rows and points, over its value at zero, (n, s)."""

    def jacobians(self, x: Array, y: Array) -> Jacobians:
        """The Jacobians of φ(x) - φ(y) at pairs of rows."""


class _AtPoints:
    """The kernel between evaluation points (..., s, D), which is the same for one test and for a stack of them."""

    kernel: Kernel
    points: Array

    @property
    def count(self) -> int:
        """Number of points, s."""
        return int(self.points.shape[-2])

    def between(self, lengthscales: Array) -> Array:
        """K(Z, Z) for every lengthscale, (m, s, s); of a stack at those of each of its tests."""
        return self._between(self.kernel.value, lengthscales)

    def convolved_between(self, lengthscales: Array) -> Array:
        """The self-convolution of the kernel between the points, (m, s, s)."""
        return self._between(partial(self.kernel.self_convolution, n_columns=self.points.shape[-1]), lengthscales)

    def log_self_convolution(self, lengthscales: Array) -> Array:
        """Log of the self-convolution at zero, (m,)."""
        return np.asarray(self.kernel.log_self_convolution(lengthscales, self.points.shape[-1]))

    def _between(self, value: Callable[[Array, Array], Array], lengthscales: Array) -> Array:
        with np.errstate(over="ignore"):
            distances = self.kernel.distances(self.points, self.points)
            if self.points.ndim > 2:
                distances = np.repeat(distances, len(lengthscales) // len(self.points), axis=-3)
            return np.asarray(value(distances, lengthscales[:, None, None]))


def of_one_column(features: PointKernel) -> bool:
    """Whether features are those of a single column of numbers, or of two levels, which are as good as 0 and 1."""
    if not isinstance(features, PointFeatures | StackFeatures):
        return False
    if features.points.shape[-1] == 1:
        return True
    sizes = features.view.sizes
    columns = features.columns.shape[1] if isinstance(features, StackFeatures) else 0 if sizes is None else len(sizes)
    return sizes is not None and columns == 1 and features.count == 2


@dataclass(frozen=True, eq=False)
class PointFeatures(_AtPoints):
    """Kernel values of the rows of a table at evaluation points."""

    kernel: Kernel
    view: View | Ranks
    points: Array  # (s, D), as the view shows them
    typical: float

    def _distances(self, rows: Array) -> Array:
        with np.errstate(over="ignore"):  # an infinite distance is far enough
            distances: Array = self.kernel.distances(self.view.apply(rows), self.points)
            return distances

    def values(self, rows: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
        """Kernel values (n, s) for every lengthscale, one after the other in the same memory.

        On a geometric grid whose ratio is a root of 2 most of them are squares of others.
        """
        yield from _values(self.kernel, self._distances(rows), lengthscales)

    def at(self, rows: Array, lengthscale: float) -> Array:
        """Kernel values (n, s) at one lengthscale."""
        with np.errstate(over="ignore"):
            return np.asarray(self.kernel.value(self._distances(rows), lengthscale))

    def convolved(self, rows: Array, lengthscale: float) -> Array:
        """The self-convolution of the kernel between rows and points, (n, s)."""
        with np.errstate(over="ignore"):
            n_columns = self.points.shape[1]
            return np.asarray(self.kernel.self_convolution(self._distances(rows), lengthscale, n_columns))

    def jacobians(self, x: Array, y: Array) -> Jacobians:
        """The Jacobians at pairs of rows."""
        return Jacobians(self.view.apply(x), self.view.apply(y), self.points, self.kernel)


@dataclass(frozen=True, eq=False)
class StackFeatures(_AtPoints):
    """Kernel values for a stack of P tests at once, each of k columns at s points.

    Functions that take lengthscales take those of all tests, one test after the other, (P·m,).
    """

    kernel: Kernel
    view: View | Ranks
    columns: Indices  # of each test, (P, k)
    points: Array  # (P, s, k), as the view shows them; with categories, (P, s, K) for K coordinates
    typical: Array  # (P,)
    multiples: Array  # of the typical one, which are the lengthscales of each test, increasing, (m,)

    @property
    def lengthscales(self) -> Array:
        """Lengthscales of all tests, (P·m,)."""
        return np.outer(self.typical, self.multiples).ravel()

    def select(self, tests: slice | Indices) -> StackFeatures:
        """Some of the tests."""
        return replace(self, columns=self.columns[tests], points=self.points[tests], typical=self.typical[tests])

    @cached_property
    def _needed(self) -> tuple[Indices, Indices, View | Ranks]:
        """The columns that the tests use, the coordinates of each test among them, and the view of these columns."""
        used, places = np.unique(self.columns, return_inverse=True)
        view = self.view.select(used)
        return used, view.places(places.reshape(self.columns.shape), self.points.shape[2]), view

    def values(self, rows: Array) -> Iterator[tuple[int, Array]]:
        """Kernel values (P, n, s) of rows (n, D) for every multiple with its index; the next overwrites them."""
        used, places, view = self._needed
        seen = view.apply(rows[:, used])
        if view.sizes is not None:  # tests with fewer coordinates than others end in zeros, as their points do
            seen = np.concatenate([seen, np.zeros((len(seen), 1))], axis=1)
        seen = seen.T[places].swapaxes(1, 2)
        with np.errstate(over="ignore"):
            distances = np.asarray(self.kernel.distances(np.ascontiguousarray(seen), self.points))
        return _values(self.kernel, distances, self.multiples, self.typical[:, np.newaxis, np.newaxis])

    def alone(self, test: int) -> PointFeatures:
        """The feature map of one test, for rows of its own columns (n, k)."""
        view = self.view.select(self.columns[test])
        return PointFeatures(self.kernel, view, self.points[test][:, : view.width], float(self.typical[test]))


def _values(
    kernel: Kernel, distances: Array, lengthscales: Array, unit: Array | float = 1.0
) -> Iterator[tuple[int, Array]]:
    """The kernel at these distances for every lengthscale, in units, one after the other in the same memory."""
    values: Array | None = None
    for chain in chains_of(kernel, lengthscales):
        for step, index in enumerate(chain):
            if step and values is not None:
                np.multiply(values, values, out=values)
            else:
                with np.errstate(over="ignore"):
                    values = kernel.value(distances, float(lengthscales[index]) * unit, out=values)
            yield index, values


def chains_of(kernel: Kernel, lengthscales: Array) -> list[list[int]]:
    """Runs of lengthscales at which all values of the kernel but the first are squares of the one before."""
    return chains(lengthscales, kernel.degree) if kernel.degree else [[index] for index in range(len(lengthscales))]


def chains(lengthscales: Array, degree: int = 2) -> list[list[int]]:
    """Group the lengthscales into runs in which each is the one before divided by √2, or by that root of 2."""
    steps = degree * np.log2(lengthscales)
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
