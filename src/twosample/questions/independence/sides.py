"""One side of a test of independence: its columns as coordinates, and functions of them that are not correlated.

A column of numbers is its normal scores, so that monotone maps of it do not matter. A column of categories is one
coordinate a level, so that a Gaussian kernel of it is exp(-γ · mismatch). Of both sides nothing but their own rows
counts: the choices here are blind to which row of x goes with which row of y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.common.constraints import INCREASING, NONNEGATIVE, POSITIVE, Axes
from twosample.common.records import Comparable
from twosample.data.ranks import interpolated, mid_ranks, normal_quantiles, normal_scores
from twosample.features.points import choose_among_codes, thin
from twosample.features.subsets import typical_of_points
from twosample.kernels import squared_distances

__all__ = ["MULTIPLES", "Axis", "Column", "Side", "blocks_of"]

# Lengthscales, as multiples of the median heuristic: 0.2 to 3.2 for the normal scores of one column.
MULTIPLES: Array = 0.3 * np.exp2(np.arange(5.0))
# Functions of a side at a lengthscale, at most.
_COMPONENTS = 10
# Directions of the kernel matrix of the points, and functions of the rows, that are rounding beside the first.
_ROUNDED = 1e-10
_ROUNDED_VARIANCE = 1e-9
_BLOCK_ROWS = 1 << 13
# Values of a column that say where its normal scores are, at most; and how many rows each stands for, at least.
_KNOTS = 33
_ROWS_OF_A_KNOT = 3
# Levels of a category that have a coordinate of their own; the rarer ones share the last.
MOST_LEVELS = 15
OTHER_LEVELS = "(others)"


@dataclass(frozen=True, eq=False)
class Column:
    """A column as read."""

    name: str
    values: Array  # numbers, NaN where missing, (n,); of categories the places of their levels
    levels: tuple[str, ...] = ()  # the levels of a category, and none of a column of numbers

    @property
    def varies(self) -> bool:
        """Whether it has two different values."""
        return bool((self.values != self.values[0]).any())

    @property
    def key(self) -> Array:
        """A number for each row: the normal score, or the place of the level."""
        return self.values if self.levels else self.coordinates()[:, 0]

    def select(self, rows: NDArray[np.bool_]) -> Column:
        """Some of its rows."""
        return Column(self.name, self.values[rows], self.levels)

    def coordinates(self) -> Array:
        """Coordinates of the rows, (n, d): normal scores, or a column of zeros and ones for each level."""
        if self.levels:
            return np.asarray(self.values[:, None] == np.arange(len(self.levels)), dtype=np.float64)
        return normal_scores(mid_ranks(self.values[:, None]))


@dataclass(frozen=True, eq=False, repr=False)
class Axis(Comparable):
    """Where the values of a column are among the coordinates of its side: for the witness, at any place."""

    name: str
    # Some quantiles of a column of numbers, increasing, (K,); none of a category
    knots: Annotated[Array, Axes("knots"), INCREASING]
    scores: Annotated[Array, Axes("knots")]  # their normal scores, (K,); linear between them
    levels: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column) -> Axis:
        """Return the axis of a column."""
        if column.levels:
            return cls(column.name, np.empty(0), np.empty(0), column.levels)
        ordered = np.sort(column.values)
        count = int(np.clip(len(ordered) // _ROWS_OF_A_KNOT, 2, _KNOTS))
        knots = np.unique(np.quantile(ordered, np.linspace(0.0, 1.0, count)))
        places = (np.searchsorted(ordered, knots, side=side) for side in ("left", "right"))
        levels = np.clip(sum(places) / (2.0 * len(ordered)), 0.5 / len(ordered), 1.0 - 0.5 / len(ordered))
        return cls(column.name, knots, normal_quantiles(levels))

    def knows(self, level: str) -> bool:
        """Whether a category has that level, or one for all that were rare."""
        return level in self.levels or OTHER_LEVELS in self.levels

    def coordinates(self, values: Sequence[object]) -> Array:
        """Coordinates of values in the units of the data, (m, d)."""
        if self.levels:
            place = {level: number for number, level in enumerate(self.levels)}
            others = place.get(OTHER_LEVELS, -1)
            chosen = np.array([place.get(str(value), others) for value in values])
            return np.asarray(chosen[:, None] == np.arange(len(self.levels)), dtype=np.float64)
        numbers = np.asarray(values, dtype=np.float64)
        return interpolated(numbers, self.knots, self.scores)[:, None]


@dataclass(frozen=True, eq=False, repr=False)
class Side(Comparable):
    """Functions of the rows of one side at each lengthscale: uncorrelated, of mean 0 and variance 1 over its rows.

    They are the principal components of the kernel at some points (Nyström).
    """

    points: Annotated[Array, Axes("p", "d", least=1)]  # evaluation points, (p, d)
    lengthscales: Annotated[Array, Axes("m", least=1), POSITIVE]  # (m,), increasing
    means: Annotated[Array, Axes("m", "p")]  # of the features over the rows, (m, p)
    maps: Annotated[Array, Axes("m", "p", "k")]  # from centred features to the functions, (m, p, k)
    # Which share of the variance of the kernel each function has, decreasing, (m, k)
    shares: Annotated[Array, Axes("m", "k"), NONNEGATIVE]
    # Mean of their fourth powers over the rows, (m, k); 0 where there is no function
    kurtosis: Annotated[Array, Axes("m", "k"), NONNEGATIVE]

    @classmethod
    def of(cls, rows: Array, count: int, multiples: Array = MULTIPLES) -> Side:
        """Functions of coordinates (n, d) that vary, at up to `count` points and multiples of the median heuristic."""
        points = _points(rows, count)
        lengthscales = np.asarray(float(typical_of_points(points[np.newaxis])[0]) * multiples, dtype=np.float64)
        roots = np.stack([_root(points, lengthscale) for lengthscale in lengthscales.tolist()])
        side = cls(points, lengthscales, np.zeros(roots.shape[:2]), roots, np.empty((0, 0)), np.empty((0, 0)))
        means = sum(side.features(block).sum(axis=1) for block in blocks_of(rows)) / len(rows)
        side = replace(side, means=means)
        scatter = np.zeros((len(lengthscales), len(points), len(points)))
        for block in blocks_of(rows):
            values = side.functions(block)
            scatter += np.swapaxes(values, 1, 2) @ values
        variances, directions = np.linalg.eigh(scatter / len(rows))
        kept = min(_COMPONENTS, len(points))
        variances, directions = variances[:, ::-1][:, :kept], directions[:, :, ::-1][:, :, :kept]
        there = variances > _ROUNDED_VARIANCE * variances[:, :1]
        scale = there / np.sqrt(np.where(there, variances, 1.0))
        shares = np.where(there, variances, 0.0)
        shares /= shares.sum(axis=1, keepdims=True)
        side = replace(side, maps=roots @ (directions * scale[:, None, :]), shares=shares)
        fourth = sum(np.square(np.square(side.functions(block))).sum(axis=1) for block in blocks_of(rows)) / len(rows)
        return replace(side, kurtosis=fourth)

    def features(self, rows: Array) -> Array:
        """Kernel values at the points for rows (b, d), (m, b, p)."""
        squares = squared_distances(rows, self.points)
        return np.asarray(np.exp(-squares / (2.0 * self.lengthscales[:, None, None] ** 2)))

    def functions(self, rows: Array) -> Array:
        """The functions at rows (b, d), (m, b, k)."""
        return np.asarray((self.features(rows) - self.means[:, None, :]) @ self.maps)


def blocks_of(rows: Array) -> Iterator[Array]:
    """Some rows at a time."""
    for start in range(0, len(rows), _BLOCK_ROWS):
        yield rows[start : start + _BLOCK_ROWS]


def _points(rows: Array, count: int) -> Array:
    """Points among the rows, or normal quantiles for one column of normal scores; all rows where few are different."""
    if rows.shape[1] == 1:
        different = np.unique(rows)
        if len(different) > count:
            different = normal_quantiles((np.arange(count) + 0.5) / count)
        return different[:, None]
    return choose_among_codes(thin(rows), count)


def _root(points: Array, lengthscale: float) -> Array:
    """K^(-½) of the points, up to a rotation, without directions that are rounding, (p, p)."""
    values, vectors = np.linalg.eigh(np.exp(-squared_distances(points, points) / (2.0 * lengthscale**2)))
    there = values > _ROUNDED * values[-1]
    return np.asarray(vectors * (there / np.sqrt(np.where(there, values, 1.0))))
