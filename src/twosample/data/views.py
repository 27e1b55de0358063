"""Ways to see the columns that do not know the labels: their pooled center and scale, or their ranks."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arrays import Array, Flags, Indices, evenly_spread
from twosample.common.constraints import NONNEGATIVE, SHARES, Axes, Ordered
from twosample.common.records import DIGESTED_IF_SET, Comparable
from twosample.data.categories import distance_of_levels, expanded, places_of, starts_of
from twosample.data.limits import Limits
from twosample.data.ranks import interpolated, mid_ranks, normal_quantiles
from twosample.data.reading import from_numpy
from twosample.errors import InputError

__all__ = ["Ranks", "View", "given_scale"]

# A column is divided by at least this share of its largest deviation, so that squares of the result cannot overflow.
_SMALLEST_SHARE = 2.0**-500
# Of a standard normal column: the interquartile range, and the distance within which a quarter of all pairs lie.
_IQR_OF_NORMAL = 1.349
_QUARTER_OF_NORMAL = 0.4506
# A spike of nearly equal values must not set the scale: it is at least this share of what the quartiles say.
_SHARE_OF_IQR = 0.2
_PAIRED_VALUES = 128
# Values of a column that fix its map to normal scores.
MOST_KNOTS = 1024


@dataclass(frozen=True, eq=False, repr=False)
class View(Comparable):
    """A center and a scale for each column, through which rows are standardised.

    A column of categories becomes as many coordinates as it has codes, such that any two levels are 1/scale apart.
    """

    center: Array  # what is subtracted from each column, (D,)
    scale: Array  # what each column is divided by, (D,), all positive
    sizes: Indices | None = None  # how many codes each column has, (D,), 0 for numbers; None where all are numbers

    @classmethod
    def none(cls, n_columns: int) -> "View":
        """Rows as they are."""
        return cls(np.zeros(n_columns), np.ones(n_columns))

    @classmethod
    def robust(cls, x: Array, y: Array, limits: Limits, sizes: Indices | None = None) -> "View":
        """Pooled median and robust scale of each column, from order statistics only; of codes how common each is.

        Close pairs of a clustered column are in one cluster, and say how wide clusters are; quartiles, how far apart.
        """
        n_x = len(x)
        lows, highs = np.minimum(limits.x_low, limits.y_low), np.maximum(limits.x_high, limits.y_high)
        pooled = np.empty(n_x + len(y))
        center, scale = np.empty(x.shape[1]), np.empty(x.shape[1])
        for column, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
            pooled[:n_x], pooled[n_x:] = x[:, column], y[:, column]
            if sizes is not None and sizes[column]:
                center[column], scale[column] = 0.0, 1.0 / distance_of_levels(pooled, int(sizes[column]))
                continue
            pooled.sort()
            first, middle, third = (_quantile(pooled, level) for level in (0.25, 0.5, 0.75))
            if low == high:
                width = 1.0
            elif first < third:
                width = (third - first) / _IQR_OF_NORMAL
                distance = _distance_of_quarter(pooled)
                if distance > 0:
                    width = max(distance / _QUARTER_OF_NORMAL, width * _SHARE_OF_IQR)
            else:
                width = _standard_deviation(pooled, middle)
            farthest = max(high - middle, middle - low)
            center[column] = middle
            scale[column] = max(width, farthest * _SMALLEST_SHARE, np.finfo(np.float64).tiny)
        return cls(center, scale, sizes)

    def select(self, columns: Indices) -> "View":
        """Those of some of the columns."""
        return View(self.center[columns], self.scale[columns], _selected(self.sizes, columns))

    @property
    def width(self) -> int:
        """Number of coordinates that `apply` returns."""
        return _width(self.sizes, len(self.scale))

    def places(self, columns: Indices, width: int | None = None) -> Indices:
        """The coordinates of some columns (P, k), (P, K); `width` is K, and short rows end in one beyond the last."""
        return columns if self.sizes is None else places_of(columns, self.sizes, width)

    @property
    def unit(self) -> float:
        """What a standardised lengthscale is multiplied by when it is shown."""
        return float(self.scale[0]) if len(self.scale) == 1 else 1.0

    def apply(self, rows: Array) -> Array:
        """Return ``(rows - center) / scale`` for rows of shape (m, D) in the units of the data.

        It is infinite for rows of other samples that are too far away.
        """
        numbers = slice(None) if self.sizes is None else self.sizes == 0
        with np.errstate(over="ignore"):
            standardized = rows - self.center
            standardized[:, numbers] /= self.scale[numbers]
        if self.sizes is None:
            return standardized
        found: Array = expanded(standardized, self.sizes, self.heights)
        return found

    @property
    def codes(self) -> Flags:
        """Which coordinates are those of codes, (K,)."""
        sizes = np.zeros(len(self.scale), dtype=np.int64) if self.sizes is None else self.sizes
        return np.repeat(sizes > 0, np.maximum(sizes, 1))

    @property
    def heights(self) -> Array:
        """What a coordinate of a code is where a row has it, (D,)."""
        return np.asarray(math.sqrt(0.5) / self.scale)

    def undo(self, rows: Array) -> Array:
        """Return ``rows * scale + center``: standardised rows of shape (m, D) in the units of the data."""
        if self.sizes is None:
            return rows * self.scale + self.center
        starts, found = starts_of(self.sizes), np.empty((len(rows), len(self.scale)))
        for column, (first, last) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
            if self.sizes[column]:
                found[:, column] = rows[:, first:last].argmax(axis=1)
            else:
                found[:, column] = rows[:, first] * self.scale[column] + self.center[column]
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Comparable):
    """Pooled normal scores: a monotone map of each column after which it is standard normal, whatever it was.

    The map is fixed by knots and linear between them. Up to 1,024 pooled rows all values are knots, and a strictly
    monotone change of a column leaves its scores as they are.
    """

    knots: Annotated[Array, Axes("knots", "D", least=1), Ordered(axis=0)]  # values of each column, increasing, (K, D)
    # (rank - ½)/N of the knots among the pooled rows, (K, D), where equal values share their ranks
    levels: Annotated[Array, Axes("knots", "D"), SHARES, Ordered(axis=0)]
    # As those of a `View`
    sizes: Annotated[Indices, Axes("D"), NONNEGATIVE] | None = field(default=None, metadata=DIGESTED_IF_SET)
    # A coordinate of a code where a row has it
    heights: Annotated[Array, Axes("D"), NONNEGATIVE] | None = field(default=None, metadata=DIGESTED_IF_SET)

    @classmethod
    def of(cls, x: Array, y: Array, sizes: Indices | None = None) -> "Ranks":
        """Those of the pooled rows; codes of categories have no ranks, and stay what they are."""
        pooled = np.concatenate([x, y])
        pooled.sort(axis=0)
        ranks = cls.of_sorted(pooled)
        if sizes is None:
            return ranks
        counts = zip(pooled.T, sizes.tolist(), strict=True)
        apart = [distance_of_levels(codes, size) if size else 0.0 for codes, size in counts]
        return replace(ranks, sizes=sizes, heights=math.sqrt(0.5) * np.array(apart))

    @classmethod
    def of_sorted(cls, pooled: Array) -> "Ranks":
        """Those of columns (N, D) that are sorted each."""
        n = len(pooled)
        if n <= MOST_KNOTS:
            return cls(pooled, (mid_ranks(pooled) - 0.5) / n)
        knots = pooled[np.round(np.linspace(0, n - 1, MOST_KNOTS)).astype(np.intp)]
        levels = np.empty_like(knots)
        for column in range(knots.shape[1]):
            places = (np.searchsorted(pooled[:, column], knots[:, column], side=side) for side in ("left", "right"))
            levels[:, column] = sum(places) / (2.0 * n)
        return cls(knots, levels)

    @cached_property
    def scores(self) -> Array:
        """Normal quantiles of the levels, (K, D)."""
        return normal_quantiles(self.levels)

    def select(self, columns: Indices) -> "Ranks":
        """Those of some of the columns."""
        heights = None if self.heights is None else self.heights[columns]
        chosen = Ranks(self.knots[:, columns], self.levels[:, columns], _selected(self.sizes, columns), heights)
        chosen.__dict__["scores"] = self.scores[:, columns]
        return chosen

    @property
    def width(self) -> int:
        """Number of coordinates that `apply` and `shares` return."""
        return _width(self.sizes, self.knots.shape[1])

    def places(self, columns: Indices, width: int | None = None) -> Indices:
        """As those of a `View`."""
        return columns if self.sizes is None else places_of(columns, self.sizes, width)

    def apply(self, rows: Array) -> Array:
        """Normal scores of rows (m, D) in the units of the data; beyond the knots those of the last one."""
        return self._seen(rows, self.scores, self.heights)

    def shares(self, rows: Array) -> Array:
        """The levels instead of their normal quantiles: the share of pooled rows that are smaller; of codes 0 or 1."""
        return self._seen(rows, self.levels, None if self.heights is None else np.ones(len(self.heights)))

    def _seen(self, rows: Array, values: Array, heights: Array | None) -> Array:
        found = rows.copy()
        for column in range(rows.shape[1]):
            if self.sizes is None or not self.sizes[column]:
                found[:, column] = interpolated(rows[:, column], self.knots[:, column], values[:, column])
        return found if self.sizes is None or heights is None else expanded(found, self.sizes, heights)


def _selected(sizes: Indices | None, columns: Indices) -> Indices | None:
    """The numbers of codes of some columns; None where these hold only numbers."""
    return None if sizes is None or not sizes[columns].any() else sizes[columns]


def _width(sizes: Indices | None, n_columns: int) -> int:
    return n_columns if sizes is None else int(starts_of(sizes)[-1])


def given_scale(scale: ArrayLike, n_columns: int) -> Array | None:
    """The divisors that the argument `scale` names; None where the data say them."""
    if isinstance(scale, str):
        if scale not in ("robust", "raw"):
            raise InputError(
                f'scale must be "robust", "raw" or {n_columns} positive numbers, not {scale!r}', argument="scale"
            )
        return np.ones(n_columns) if scale == "raw" else None
    try:
        divisors = from_numpy(np.atleast_1d(np.asarray(scale)), "scale")
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"scale must be {n_columns} positive numbers, not {scale!r:.40}", argument="scale") from None
    if divisors.shape != (n_columns, 1):
        raise InputError(
            f"scale must be one number for each of the {n_columns} columns, not {np.size(scale)}", argument="scale"
        )
    divisors = divisors[:, 0].copy()
    if not (np.isfinite(divisors) & (divisors > 0)).all():
        raise InputError("scale must be positive, finite numbers", argument="scale")
    if (divisors < np.finfo(np.float64).tiny).any():
        raise InputError(f"scale must be at least {np.finfo(np.float64).tiny:.2g}", argument="scale")
    return divisors


def _quantile(ordered: Array, level: float) -> float:
    place = (len(ordered) - 1) * level
    rank = math.floor(place)
    below = float(ordered[rank])
    above = float(ordered[min(rank + 1, len(ordered) - 1)])
    return below + (above - below) * (place - rank)


def _distance_of_quarter(ordered: Array) -> float:
    """Return the smallest distance within which a quarter of all pairs lie; of many values, those at even ranks.

    It is at most half the range: a third or more of all pairs have both values on one side of the middle.
    """
    if len(ordered) > _PAIRED_VALUES:
        ordered = ordered[evenly_spread(len(ordered), _PAIRED_VALUES)]
    distances = np.subtract.outer(ordered, ordered)[np.tri(len(ordered), k=-1, dtype=bool)]
    rank = -(-len(distances) // 4) - 1
    distances.partition(rank)
    return float(distances[rank])


def _standard_deviation(pooled: Array, middle: float) -> float:
    """Return the standard deviation of sorted values, at any magnitude; overwrites them."""
    pooled -= middle
    exponent = math.frexp(max(-pooled[0], pooled[-1]))[1]
    np.ldexp(pooled, -exponent, out=pooled)
    pooled -= pooled.mean()
    np.square(pooled, out=pooled)
    return math.ldexp(math.sqrt(pooled.mean()), exponent)
