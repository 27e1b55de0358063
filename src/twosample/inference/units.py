"""How much two samples of a column differ in the units of the data: means, medians and spreads, with 90 % intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from twosample.common.arrays import Array
from twosample.common.constraints import GAPS, Axes, Count
from twosample.common.records import Comparable
from twosample.data.categories import Levels

__all__ = ["ColumnInUnits", "InUnits"]

# The probability of each tail beyond an interval, and the standard normal quantile there.
_TAIL = 0.05
_Z = 1.6448536269514722
# Fewer values have no distribution-free interval of the median at that level.
_FEWEST = 5
# Values that are looked at at a time.
_BLOCK_VALUES = 1 << 21
_ARRAYS = ("mean", "median", "spread")


class ColumnInUnits(NamedTuple):
    """How much the samples of one column differ in its units: the last fields of `ColumnEvidence`, which says what."""

    mean_difference: float | None = None
    mean_low: float | None = None
    mean_high: float | None = None
    median_difference: float | None = None
    median_low: float | None = None
    median_high: float | None = None
    spread_ratio: float | None = None
    spread_low: float | None = None
    spread_high: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class InUnits(Comparable):
    """The same of all columns, as arrays with a row for the value and each end of its interval, NaN for None."""

    mean: Annotated[Array, Axes(3, "D"), GAPS]
    median: Annotated[Array, Axes(3, "D"), GAPS]
    spread: Annotated[Array, Axes(3, "D"), GAPS]
    rows: tuple[Count, Count]  # how many rows of each sample these are from

    @classmethod
    def of(cls, x: Array, y: Array, *, paired: bool = False, levels: Levels = ()) -> Self | None:
        """From rows (n, D) of both samples; nothing is said of columns of categories. None for fewer than two rows."""
        rows, count = (len(x), len(y)), x.shape[1]
        if min(rows) < 2:
            return None
        found = np.full((3, 3, count), np.nan)
        numbers = np.array([not levels or levels[place] is None for place in range(count)], dtype=bool)
        places = np.flatnonzero(numbers)
        width = max(1, _BLOCK_VALUES // sum(rows))
        for first in range(0, len(places), width):
            block = places[first : first + width]
            found[..., block] = _of_block(x[:, block], y[:, block], paired)
        known = np.isfinite(found).all(axis=1, keepdims=True)
        mean, median, spread = np.where(known, found, np.nan)
        return cls(mean, median, spread, rows)

    def column(self, place: int) -> ColumnInUnits:
        """What there is of one column."""
        values = np.concatenate([self.mean[:, place], self.median[:, place], self.spread[:, place]]).tolist()
        return ColumnInUnits(*(None if math.isnan(value) else value for value in values))

    def to_plain(self) -> dict[str, Any]:
        """Lists, with None for NaN, which JSON does not have."""
        content = {
            name: [[None if math.isnan(one) else one for one in row] for row in getattr(self, name).tolist()]
            for name in _ARRAYS
        }
        return {**content, "rows": list(self.rows)}

    @classmethod
    def from_plain(cls, content: dict[str, Any]) -> Self:
        """The same again."""
        mean, median, spread = (np.array(content[name], dtype=np.float64) for name in _ARRAYS)
        first, second = content["rows"]
        return cls(mean, median, spread, (int(first), int(second)))


def _of_block(x: Array, y: Array, paired: bool) -> Array:
    """Means, medians and spreads of some columns, (3, 3, C), at any magnitude."""
    center = y[0]
    x, y = x - center, y - center
    # Squares must not overflow, nor vanish.
    exponent = np.frexp(np.maximum(np.abs(x).max(axis=0), np.abs(y).max(axis=0)))[1]
    x, y = np.ldexp(x, -exponent), np.ldexp(y, -exponent)
    sorted_x, sorted_y = np.sort(x, axis=0), np.sort(y, axis=0)
    if paired:
        differences = x - y
        mean, median = _mean(differences), _median(np.sort(differences, axis=0))
    else:
        mean, median = _difference_of_means(x, y), _difference_of_medians(sorted_x, sorted_y)
    spread = _ratio_of_spreads(sorted_x, sorted_y, (x, y) if paired else None)
    with np.errstate(over="ignore"):
        return np.stack([np.ldexp(mean, exponent), np.ldexp(median, exponent), spread])


def _mean(values: Array) -> Array:
    """The mean and Student's interval, (3, C)."""
    n = len(values)
    return _student(values.mean(axis=0), values.var(axis=0, ddof=1) / n, n - 1.0)


def _difference_of_means(x: Array, y: Array) -> Array:
    """The difference of the means and Welch's interval, (3, C)."""
    of_x, of_y = (one.var(axis=0, ddof=1) / len(one) for one in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (of_x + of_y) ** 2 / (of_x**2 / (len(x) - 1) + of_y**2 / (len(y) - 1))
    return _student(x.mean(axis=0) - y.mean(axis=0), of_x + of_y, np.nan_to_num(freedom, nan=1.0))


def _student(value: Array, variance: Array, freedom: Array | float) -> Array:
    from scipy.special import stdtrit  # slow to load, and not needed before there are data

    reach = stdtrit(freedom, 1.0 - _TAIL) * np.sqrt(variance)
    return np.stack([value, value - reach, value + reach])


def _difference_of_medians(x: Array, y: Array) -> Array:
    """The difference of the medians of sorted columns, (3, C).

    The interval is recovered from those of the two medians (Zou and Donner, 2008): each side is as far from the
    difference as the sides of these are from their medians, added in squares.
    """
    (of_x, low_x, high_x), (of_y, low_y, high_y) = _median(x), _median(y)
    value = of_x - of_y
    return np.stack(
        [value, value - np.hypot(of_x - low_x, high_y - of_y), value + np.hypot(high_x - of_x, of_y - low_y)]
    )


def _median(ordered: Array) -> Array:
    """The median of sorted columns with a distribution-free interval, (3, C); NaN for few rows.

    The interval is between two order statistics, and interpolated towards the next ones within, which have less than
    the level (Hettmansperger and Sheather, 1986).
    """
    from scipy.special import bdtr, bdtrik  # as above

    n = len(ordered)
    if n < _FEWEST:
        return np.full((3, ordered.shape[1]), np.nan)
    rank = math.floor(bdtrik(_TAIL, n, 0.5)) + 1  # of the last order statistic beyond which is at most that tail
    outer, inner = (1.0 - 2.0 * bdtr(below, n, 0.5) for below in (rank - 1, rank))
    beyond = (outer - (1.0 - 2.0 * _TAIL)) / (outer - inner)
    share = (n - rank) * beyond / (rank + (n - 2 * rank) * beyond)
    low = (1.0 - share) * ordered[rank - 1] + share * ordered[rank]
    high = (1.0 - share) * ordered[n - rank] + share * ordered[n - rank - 1]
    return np.stack([_quantile(ordered, 0.5), low, high])


def _ratio_of_spreads(x: Array, y: Array, pairs: tuple[Array, Array] | None) -> Array:
    """The ratio of the interquartile ranges of sorted columns, (3, C), with an interval that is symmetric in its log.

    Of pairs, whose rows are given too, the covariance of the influences of their members counts.
    """
    of_x, of_y = _Quartiles.of(x), _Quartiles.of(y)
    if min(len(x), len(y)) < _FEWEST:
        return np.full((3, x.shape[1]), np.nan)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        value = of_x.width / of_y.width
        variance = of_x.variance + of_y.variance
        if pairs is not None:
            influences = (of_x.influence(pairs[0]) * of_y.influence(pairs[1])).mean(axis=0)
            variance = np.maximum(variance - 2.0 * influences / len(x), 0.0)
        factor = np.exp(_Z * np.sqrt(variance))
        return np.where(of_x.width > 0.0, np.stack([value, value / factor, value * factor]), np.nan)


class _Quartiles(NamedTuple):
    """The quartiles of columns, (C,), and 1/density at each, from the quantiles one standard error beside it."""

    low: Array
    high: Array
    rareness_low: Array
    rareness_high: Array
    size: int

    @classmethod
    def of(cls, ordered: Array) -> _Quartiles:
        """Of sorted columns (n, C)."""
        n = len(ordered)
        reach = math.sqrt(0.25 * 0.75 / n)
        rareness = []
        for level in (0.25, 0.75):
            below, above = max(level - reach, 0.0), min(level + reach, 1.0)
            rareness.append((_quantile(ordered, above) - _quantile(ordered, below)) / (above - below))
        return cls(_quantile(ordered, 0.25), _quantile(ordered, 0.75), rareness[0], rareness[1], n)

    @property
    def width(self) -> Array:
        """The interquartile range."""
        return self.high - self.low

    @property
    def variance(self) -> Array:
        """Variance of the logarithm of the interquartile range; the quartiles have a correlation of ⅓."""
        low, high = self.rareness_low, self.rareness_high
        squares = 0.25 * 0.75 * (low**2 + high**2) - 2.0 * 0.25 * 0.25 * low * high
        return np.asarray(squares / (self.size * self.width**2))

    def influence(self, rows: Array) -> Array:
        """What each row, (n, C), adds to n times the logarithm of the interquartile range."""
        above = (0.75 - (rows <= self.high)) * self.rareness_high
        return np.asarray((above - (0.25 - (rows <= self.low)) * self.rareness_low) / self.width)


def _quantile(ordered: Array, level: float) -> Array:
    """A quantile of sorted columns: the i-th of n values is at the level (i - ½)/n, and it is linear in between."""
    place = min(max(level * len(ordered) - 0.5, 0.0), len(ordered) - 1.0)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return np.asarray(ordered[below] + (ordered[above] - ordered[below]) * (place - below))
