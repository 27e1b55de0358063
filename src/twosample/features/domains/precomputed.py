"""Features of objects that are kernel values computed beforehand; where lengthscales stand elsewhere are parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from twosample.common.arrays import Array, Flags

__all__ = ["BlockFeatures"]

# Relative differences of kernel values below this are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class BlockFeatures:
    """A `FeatureMap` of objects: rows (n, 1) are places of objects in a block, and lengthscale j is parameter j.

    Attributes
    ----------
    block
        Kernel values of all objects at the points, for every parameter, (m, n, s).
    at_points
        Those between the points, (m, s, s).

    Examples
    --------
    >>> features = BlockFeatures(np.arange(6.0).reshape(1, 3, 2), np.eye(2)[None])
    >>> features.at(np.array([[2.0]]), 1.0)
    array([[4., 5.]])
    """

    block: Array
    at_points: Array
    typical: float = 1.0

    @property
    def count(self) -> int:
        """Number of points, s."""
        return int(self.block.shape[-1])

    @property
    def parameters(self) -> Array:
        """The numbers of the parameters, from 1 on, (m,)."""
        return np.arange(1.0, 1.0 + len(self.block))

    def rows(self, chosen: Flags | None = None) -> Array:
        """The rows of all objects, or of those that are flagged."""
        places = np.arange(self.block.shape[1]) if chosen is None else np.flatnonzero(chosen)
        return places[:, None].astype(np.float64)

    def values(self, rows: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
        """Features (n, s) for every parameter."""
        for index, number in enumerate(lengthscales.tolist()):
            yield index, self.at(rows, number)

    def at(self, rows: Array, lengthscale: float) -> Array:
        """Features (n, s) for one parameter."""
        return np.asarray(self.block[round(lengthscale) - 1][rows[:, 0].astype(np.intp)])

    def between(self, lengthscales: Array) -> Array:
        """The kernel between the points, (m, s, s)."""
        return np.asarray(self.at_points[np.round(lengthscales).astype(np.intp) - 1])

    @property
    def flat(self) -> bool:
        """Whether the features vary for no parameter, so that nothing follows from them."""
        spread = np.ptp(self.block, axis=1).max(axis=1)
        return bool((spread <= _ROUNDING * np.abs(self.block).max(axis=(1, 2))).all())

    def convolved(self, rows: Array, lengthscale: float) -> NoReturn:
        """Refuse: only the models of the paper need it."""
        raise NotImplementedError

    def convolved_between(self, lengthscales: Array) -> NoReturn:
        """Refuse: only the models of the paper need it."""
        raise NotImplementedError

    def log_self_convolution(self, lengthscales: Array) -> NoReturn:
        """Refuse: only the models of the paper need it."""
        raise NotImplementedError

    def jacobians(self, x: Array, y: Array) -> NoReturn:
        """Refuse: only the models of the paper need it."""
        raise NotImplementedError
