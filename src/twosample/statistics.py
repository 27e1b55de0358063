"""All that the test needs of the data, in one pass that is linear in n and can be split and merged.

For fixed evaluation points and lengthscales these are the means and scatter matrices of the kernel features, and for
the pseudo-likelihood those of the paired differences with their Jacobian volumes. Everything after this module works
on s×s matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twosample.errors import InputError
from twosample.jacobian import log_volumes
from twosample.kernels import features, squared_distances

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FeatureStatistics", "Moments"]

Array = NDArray[np.float64]

# Rows in a block: its features stay in the cache (2,048 rows × 40 points are 640 kB).
BLOCK_ROWS = 2048


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, mean and scatter of feature vectors, for each of m lengthscales.

    Attributes
    ----------
    count
        Number of feature vectors.
    mean
        Their mean, (m, s).
    scatter
        Sum of outer products of the deviations from the mean, (m, s, s).
    """

    count: int
    mean: Array
    scatter: Array

    @classmethod
    def empty(cls, n_lengthscales: int, n_points: int) -> Moments:
        """Moments of no observations: the neutral element of `merge`."""
        return cls(0, np.zeros((n_lengthscales, n_points)), np.zeros((n_lengthscales, n_points, n_points)))

    def merge(self, other: Moments) -> Moments:
        """Moments of both sets together, by the pairwise update of Chan, Golub and LeVeque."""
        if self.count == 0 or other.count == 0:
            return other if self.count == 0 else self
        count = self.count + other.count
        shift = other.mean - self.mean
        weight = self.count * (other.count / count)
        return Moments(
            count,
            self.mean + shift * (other.count / count),
            self.scatter + other.scatter + weight * (shift[:, :, None] * shift[:, None, :]),
        )

    @property
    def covariance(self) -> Array:
        """Scatter divided by the number of observations, (m, s, s)."""
        return self.scatter / max(self.count, 1)


class _Accumulator:
    """Moments that grow block by block, in place."""

    def __init__(self, n_lengthscales: int, n_points: int) -> None:
        self.count = 0
        self.mean = np.zeros((n_lengthscales, n_points))
        self.scatter = np.zeros((n_lengthscales, n_points, n_points))
        self._centered = np.empty((0, n_points))
        self._ones = np.ones(0)

    def add(self, index: int, block: Array) -> None:
        """Merge a block of feature vectors (rows) into lengthscale `index`; `close_block` ends the block."""
        rows = len(block)
        if len(self._centered) < rows:
            self._centered, self._ones = np.empty_like(block), np.ones(rows)
        centered = self._centered[:rows]
        mean = self._ones[:rows] @ block
        mean /= rows
        np.subtract(block, mean, out=centered)
        scatter = centered.T @ centered
        shift = mean - self.mean[index]
        total = self.count + rows
        self.mean[index] += shift * (rows / total)
        self.scatter[index] += scatter
        if self.count:
            self.scatter[index] += np.outer(shift, shift * (self.count * (rows / total)))

    def close_block(self, rows: int) -> None:
        self.count += rows

    def moments(self) -> Moments:
        return Moments(self.count, self.mean, self.scatter)


@dataclass(frozen=True, eq=False)
class FeatureStatistics:
    """Sufficient statistics of two samples for the test at fixed points and lengthscales.

    Attributes
    ----------
    points
        Evaluation points (s, D).
    lengthscales
        Lengthscales (m,).
    x, y
        Moments of the features of each sample; of zero observations when only pairs were asked for.
    pairs
        Moments of the differences φ(x_i) - φ(y_i), or None.
    log_volume
        Sum over the pairs of log vol J_i for each lengthscale (m,), or None.
    """

    points: Array
    lengthscales: Array
    x: Moments
    y: Moments
    pairs: Moments | None = None
    log_volume: Array | None = None

    @classmethod
    def from_samples(
        cls,
        x: Array,
        y: Array,
        points: Array,
        lengthscales: Array,
        *,
        pairs: tuple[Array, Array] | None = None,
        volumes: NDArray[np.bool_] | None = None,
        log_volumes: Callable[..., Array] = log_volumes,
        prepare: Callable[[Array], Array] | None = None,
        tick: Callable[[int], object] | None = None,
    ) -> FeatureStatistics:
        """Go once over the data.

        Parameters
        ----------
        x, y
            Samples (n_x, D) and (n_y, D). Either may be empty.
        points
            Evaluation points (s, D), in the units that `prepare` returns.
        lengthscales
            Positive lengthscales (m,).
        pairs
            Rows (n, D) of both samples that belong together, for the moments of the differences.
        volumes
            Which pairs (n,) to sum the log volumes of the Jacobians over; None for no volumes at all.
        log_volumes
            Computes them; `log_volume_bounds` is cheaper where an upper bound will do.
        prepare
            Applied to each block of rows before anything else, e.g. to standardise the columns.
        tick
            Called with the number of rows done, for progress bars.

        Examples
        --------
        >>> x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [4.0]])
        >>> whole = FeatureStatistics.from_samples(x, y, points=x, lengthscales=np.array([1.0]))
        >>> first = FeatureStatistics.from_samples(x[:1], y[:1], points=x, lengthscales=np.array([1.0]))
        >>> rest = FeatureStatistics.from_samples(x[1:], y[1:], points=x, lengthscales=np.array([1.0]))
        >>> bool(np.allclose(first.merge(rest).x.scatter, whole.x.scatter))
        True
        """
        points = np.asarray(points, dtype=np.float64)
        lengthscales = np.asarray(lengthscales, dtype=np.float64)
        shape = (len(lengthscales), len(points))

        def rows(sample: Array, start: int) -> Array:
            block = sample[start : start + BLOCK_ROWS]
            return block if prepare is None else prepare(block)

        def moments(sample: Array) -> Moments:
            total = _Accumulator(*shape)
            for start in range(0, len(sample), BLOCK_ROWS):
                block = rows(sample, start)
                for index, values in features(squared_distances(block, points), lengthscales):
                    total.add(index, values)
                total.close_block(len(block))
                if tick is not None:
                    tick(len(block))
            return total.moments()

        pair_moments = log_volume = None
        if pairs is not None:
            total, log_volume = _Accumulator(*shape), np.zeros(len(lengthscales))
            for start in range(0, len(pairs[0]), BLOCK_ROWS):
                left, right = rows(pairs[0], start), rows(pairs[1], start)
                d_left, d_right = squared_distances(left, points), squared_distances(right, points)
                both = zip(features(d_left, lengthscales), features(d_right, lengthscales), strict=True)
                for (index, values), (_, other) in both:
                    total.add(index, values - other)
                total.close_block(len(left))
                if volumes is not None:
                    kept = volumes[start : start + BLOCK_ROWS]
                    block = left[kept], right[kept], points
                    for index, lengthscale in enumerate(lengthscales):
                        log_volume[index] += log_volumes(*block, lengthscale, d_left[kept], d_right[kept]).sum()
                if tick is not None:
                    tick(2 * len(left))
            pair_moments = total.moments()
        return cls(points, lengthscales, moments(x), moments(y), pair_moments, None if volumes is None else log_volume)

    def merge(self, *others: FeatureStatistics) -> FeatureStatistics:
        """Statistics of all the data together; the parts must share points and lengthscales."""
        return reduce(_merge, others, self)

    @property
    def delta(self) -> Array:
        """Difference of the mean features, (m, s): the empirical witness at the points."""
        if self.x.count == 0 and self.pairs is not None:
            return self.pairs.mean
        return self.x.mean - self.y.mean


def _merge(first: FeatureStatistics, second: FeatureStatistics) -> FeatureStatistics:
    same = np.array_equal(first.points, second.points) and np.array_equal(first.lengthscales, second.lengthscales)
    if not same:
        raise InputError("merge: the statistics were computed at different points or lengthscales")
    if (first.pairs is None) != (second.pairs is None) or (first.log_volume is None) != (second.log_volume is None):
        raise InputError("merge: one of the statistics has pairs (or Jacobian volumes) and the other has not")
    return replace(
        first,
        x=first.x.merge(second.x),
        y=first.y.merge(second.y),
        pairs=None if first.pairs is None or second.pairs is None else first.pairs.merge(second.pairs),
        log_volume=(
            None if first.log_volume is None or second.log_volume is None else first.log_volume + second.log_volume
        ),
    )
