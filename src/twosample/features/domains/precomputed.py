"""Features of objects whose rows hold kernel values computed beforehand; parameters stand in for lengthscales."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from twosample.common.arrays import Array

__all__ = ["KernelRows"]

# Relative differences of kernel values below this are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class KernelRows:
    """A `FeatureMap` of objects, each of which is a row of its kernel values at the points.

    A row is (place, k(a, z_1; parameter 1), ..., k(a, z_s; parameter m)). The place numbers the objects in an order of
    their own: relabellings sort rows, and so meet the same ones whatever the order the objects were given in.
    """

    at_points: Array  # kernel values between the points, for every parameter, (m, s, s)
    typical: float = 1.0

    @staticmethod
    def rows(places: Array, block: Array) -> Array:
        """Rows of objects from their places (n,) and their kernel values (m, n, s)."""
        values = np.swapaxes(block, 0, 1).reshape(block.shape[1], -1)
        return np.concatenate([np.asarray(places, dtype=np.float64)[:, np.newaxis], values], axis=1)

    @property
    def count(self) -> int:
        """Number of points, s."""
        return int(self.at_points.shape[-1])

    @property
    def parameters(self) -> Array:
        """The numbers of the parameters, from 1 on, (m,)."""
        return np.arange(1.0, 1.0 + len(self.at_points))

    def values(self, rows: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
        """Features (n, s) for every parameter."""
        for index, number in enumerate(lengthscales.tolist()):
            yield index, self.at(rows, number)

    def at(self, rows: Array, lengthscale: float) -> Array:
        """Features (n, s) for one parameter."""
        start = 1 + (round(lengthscale) - 1) * self.count
        return rows[:, start : start + self.count].copy()

    def between(self, lengthscales: Array) -> Array:
        """The kernel between the points, (m, s, s)."""
        return np.asarray(self.at_points[np.round(lengthscales).astype(np.intp) - 1])

    def are_flat(self, rows: Array) -> bool:
        """Whether the features of these rows are constant for every parameter, so that the test is uninformative."""
        values = rows[:, 1:].reshape(len(rows), len(self.at_points), self.count)
        spread = np.ptp(values, axis=0).max(axis=1)
        return bool((spread <= _ROUNDING * np.abs(values).max(axis=(0, 2))).all())

    def _refused(self, *_: object, **__: object) -> NoReturn:
        """Only the models of the paper need it."""
        raise NotImplementedError

    convolved = convolved_between = log_self_convolution = jacobians = _refused
