"""All that the test needs of the data, in one pass that is linear in n and can be split and merged.

For fixed evaluation points and lengthscales these are the means and scatter matrices of the kernel features, and for
the pseudo-likelihood those of the paired differences with their Jacobian volumes. Everything after this module works
on s×s matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from twosample.errors import InputError
from twosample.jacobian import Jacobians
from twosample.kernels import features, squared_distances
from twosample.threads import cores

__all__ = ["FeatureStatistics", "Moments"]

Array = NDArray[np.float64]

_Part = TypeVar("_Part")

# Rows in a block: its features stay in the cache (2,048 rows × 40 points are 640 kB).
BLOCK_ROWS = 2048
# Large samples are worked on in this many parts, in threads.
_PARTS = 16


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
        bound_volumes: bool = False,
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
        bound_volumes
            Whether upper bounds of the volumes, which are cheaper, will do.
        prepare
            Applied to each block of rows before anything else, e.g. to standardise the columns.
        tick
            Called with the number of rows just done, for progress bars.

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

        def blocks(first: int, last: int, *samples: Array) -> Iterator[tuple[Array, ...]]:
            for start in range(first, last, BLOCK_ROWS):
                rows = (sample[start : min(start + BLOCK_ROWS, last)] for sample in samples)
                yield tuple(block if prepare is None else prepare(block) for block in rows)

        def of_sample(sample: Array, first: int, last: int) -> Moments:
            total = _Accumulator(len(lengthscales), len(points))
            for (block,) in blocks(first, last, sample):
                for index, values in features(squared_distances(block, points), lengthscales):
                    total.add(index, values)
                total.close_block(len(block))
            return total.moments()

        def of_pairs(left: Array, right: Array, first: int, last: int) -> tuple[list[Moments], Array]:
            """Moments of the differences and, where the pairs are the samples, of both samples; and the volumes."""
            totals = [_Accumulator(len(lengthscales), len(points)) for _ in range(3 if pairs_are_samples else 1)]
            log_volume = np.zeros(len(lengthscales))
            start = first
            for x_block, y_block in blocks(first, last, left, right):
                d_x, d_y = squared_distances(x_block, points), squared_distances(y_block, points)
                if volumes is not None:
                    kept = volumes[start : start + len(x_block)]
                    rows = slice(None) if kept.all() else kept
                    jacobians = Jacobians(x_block[rows], y_block[rows], points, d_x[rows], d_y[rows])
                    find = jacobians.log_volume_bounds if bound_volumes else jacobians.log_volumes
                both = zip(features(d_x, lengthscales), features(d_y, lengthscales), strict=True)
                for (index, values), (_, other) in both:
                    for total, block in zip(totals, (values - other, values, other), strict=False):
                        total.add(index, block)
                    if volumes is not None:
                        log_volume[index] += find(lengthscales[index], values[rows], other[rows]).sum()
                for total in totals:
                    total.close_block(len(x_block))
                start += len(x_block)
            return [total.moments() for total in totals], log_volume

        def in_parts(n: int, work: Callable[[int, int], _Part], rows_each: int = 1) -> list[_Part]:
            results = []
            for (first, last), result in _in_threads(work, _parts(n)):
                results.append(result)
                if tick is not None:
                    tick(rows_each * (last - first))
            return results

        pair_moments = log_volume = None
        pairs_are_samples = pairs is not None and pairs[0] is x and pairs[1] is y
        if pairs is not None:
            found = in_parts(len(pairs[0]), partial(of_pairs, *pairs), rows_each=2)
            pair_moments, *of_samples = (
                reduce(Moments.merge, part) for part in zip(*(m for m, _ in found), strict=True)
            )
            log_volume = None if volumes is None else np.sum([volume for _, volume in found], axis=0)
        if pairs_are_samples:
            moments_x, moments_y = of_samples
        else:
            moments_x, moments_y = (
                reduce(Moments.merge, in_parts(len(sample), partial(of_sample, sample))) for sample in (x, y)
            )
        return cls(points, lengthscales, moments_x, moments_y, pair_moments, log_volume)

    def merge(self, *others: FeatureStatistics) -> FeatureStatistics:
        """Statistics of all the data together; the parts must share points and lengthscales."""
        return reduce(_merge, others, self)

    def differences_alone(self) -> FeatureStatistics:
        """The same without the moments of either sample."""
        nothing = Moments.empty(len(self.lengthscales), len(self.points))
        return replace(self, x=nothing, y=nothing)

    @property
    def delta(self) -> Array:
        """Difference of the mean features, (m, s): the empirical witness at the points."""
        if self.x.count == 0 and self.pairs is not None:
            return self.pairs.mean
        return self.x.mean - self.y.mean


def _parts(n: int) -> list[tuple[int, int]]:
    """Ranges of rows to work on at the same time; the same on every machine, so that the answer is too."""
    blocks = -(-n // BLOCK_ROWS)
    count = _PARTS if blocks >= 4 * _PARTS else 1
    bounds = [min(n, BLOCK_ROWS * (blocks * part // count)) for part in range(count + 1)]
    return list(pairwise(bounds))


def _in_threads(
    work: Callable[[int, int], _Part], parts: list[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], _Part]]:
    """Each part with what `work` makes of it, in order; on all cores where there are several parts."""
    if len(parts) == 1:
        yield parts[0], work(*parts[0])
        return
    with ThreadPoolExecutor(min(len(parts), cores())) as pool:
        yield from zip(parts, pool.map(lambda part: work(*part), parts), strict=True)


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
