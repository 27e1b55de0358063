"""How two samples of a column differ, by ranks alone: which is larger, and which way, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.common.arrays import Array
from twosample.common.versions import require

__all__ = [
    "clearest_level",
    "direction",
    "interpolated",
    "mid_ranks",
    "normal_quantiles",
    "normal_scores",
    "probability_larger",
]

# Between two different knots: normal scores divided by it do not overflow.
_SMALLEST_GAP = 2.0**-1000
# How many standard errors a difference of means or of spreads must have to be what is said of a column.
_CLEAR = 2.0


def mid_ranks(columns: Array) -> Array:
    """Ranks within each column of values (N, C), from 1; equal values share their mean rank, and NaN stays NaN."""
    values = np.ascontiguousarray(columns.T)
    count = values.shape[1]
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    starts = np.ones(values.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    ends = np.ones_like(starts)
    ends[:, :-1] = starts[:, 1:]
    place = np.arange(count)
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, place, count)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, 0.5 * (first + last) + 1.0, axis=1)
    ranks[np.isnan(values)] = np.nan
    return ranks.T


def probability_larger(ranks: Array, rows_of_x: int) -> Array:
    """P(x > y) + ½P(x = y) of a value of each sample, (C,): the statistic of Mann and Whitney, or area under the curve.

    The mid-ranks are those of the pooled columns (N, C), NaN where a value is missing; those of x first.
    """
    present = ~np.isnan(ranks)
    n_x, n_y = present[:rows_of_x].sum(axis=0), present[rows_of_x:].sum(axis=0)
    wins = np.nansum(ranks[:rows_of_x], axis=0) - 0.5 * n_x * (n_x + 1)
    return np.asarray(wins / (n_x * n_y))


def normal_scores(ranks: Array) -> Array:
    """Φ⁻¹((rank - ½)/N) for ranks within columns (N, C): the values, had the column been normal; NaN stays NaN."""
    return normal_quantiles((ranks - 0.5) / (~np.isnan(ranks)).sum(axis=0))


def normal_quantiles(levels: Array) -> Array:
    """Φ⁻¹ of levels between 0 and 1."""
    require("scipy")
    from scipy.special import ndtri  # slow to load, and not needed before there are data

    return np.asarray(ndtri(levels))


def interpolated(at: Array, knots: Array, values: Array) -> Array:
    """As `np.interp`, also between knots that are so close to each other that slopes overflow.

    Examples
    --------
    >>> interpolated(np.array([1e-310, 3e-310]), np.array([0.0, 2e-310, 1.0]), np.array([0.0, 1.0, 2.0]))
    array([0.5, 1. ])
    """
    gaps = np.diff(knots)
    if not ((gaps > 0.0) & (gaps < _SMALLEST_GAP)).any():
        return np.interp(at, knots, values)
    right = np.clip(np.searchsorted(knots, at, side="right"), 1, len(gaps))
    below, gap = knots[right - 1], gaps[right - 1]
    with np.errstate(over="ignore"):
        share = np.clip((at - below) / np.where(gap > 0.0, gap, 1.0), 0.0, 1.0)
    return np.asarray((1.0 - share) * values[right - 1] + share * values[right])


def direction(
    mean_x: ArrayLike,
    mean_y: ArrayLike,
    variance_x: ArrayLike,
    variance_y: ArrayLike,
    n_x: ArrayLike,
    n_y: ArrayLike,
    covariance: ArrayLike = 0.0,
) -> NDArray[np.str_]:
    """How the samples differ, if they do, in words: the clearest of a shift and a spread, or neither.

    A shift has the z-statistic of the difference of the means, a spread that of the log ratio of the variances, which
    for normal scores has the variance 2/(n_x - 1) + 2/(n_y - 1). The larger is said where it is above 2. The means and
    (unbiased) variances are those of the pooled normal scores in each sample, (C,); the sizes are (C,) or numbers. Of
    pairs, both standard errors count the covariance of their scores.
    """
    mean_x, mean_y, variance_x, variance_y, n_x, n_y, covariance = (
        np.asarray(value, dtype=np.float64) for value in (mean_x, mean_y, variance_x, variance_y, n_x, n_y, covariance)
    )
    # A sample of one value has no spread: its ratio is infinite, and 0/0 says nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.maximum(variance_x / n_x + variance_y / n_y - 2.0 * covariance / n_x, 0.0))
        shift = (mean_x - mean_y) / error
        alike = np.nan_to_num(np.square(covariance) / (variance_x * variance_y), nan=0.0)
        error = np.sqrt((2.0 / (n_x - 1.0) + 2.0 / (n_y - 1.0)) * np.maximum(1.0 - alike, 0.0))
        spread = (np.log(variance_x) - np.log(variance_y)) / error
    shift, spread = np.nan_to_num(shift, nan=0.0), np.nan_to_num(spread, nan=0.0)
    shifted = np.abs(shift) >= np.abs(spread)
    words = np.where(
        shifted,
        np.where(shift > 0, "larger in x", "larger in y"),
        np.where(spread > 0, "more spread in x", "more spread in y"),
    )
    return np.where(np.maximum(np.abs(shift), np.abs(spread)) > _CLEAR, words, "different shape")


def clearest_level(
    share_x: Array, share_y: Array, n_x: int, n_y: int, variance: Array | None = None
) -> tuple[int, float]:
    """The level whose share differs most between the samples in units of its standard error, and that z-statistic.

    Of levels that are equally clear, such as two that share all rows, the rarest. Of pairs, `variance` is that of the
    difference of the indicators of a level, (L,).
    """
    pooled = (n_x * share_x + n_y * share_y) / (n_x + n_y)
    if variance is None:
        error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n_x + 1.0 / n_y))
    else:
        error = np.sqrt(variance / n_x)
    z = np.divide(share_x - share_y, error, out=np.zeros_like(error), where=error > 0.0)
    clear = np.abs(z) >= np.abs(z).max() * (1.0 - 1e-9)
    place = int(np.argmin(np.where(clear, pooled, np.inf)))
    return place, float(z[place])
