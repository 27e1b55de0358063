"""Aggregates of the samples for pictures: densities, counts of values and of cells, and no rows.

Of a handful of rows even an aggregate tells much: a density of five values has five bumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Indices
from twosample.common.records import Comparable
from twosample.data.categories import OTHER, Levels
from twosample.inference.witness import Witness

__all__ = [
    "QUANTILES", "Shown", "ShownColumn", "ShownPlane", "kernel_density", "levels_at", "limits_of", "limits_of_codes",
    "of_rows", "on_axes", "places_along", "share_intervals",
]  # fmt: skip

PLACES = 200
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Of each sample the values between these shares of it are its bulk, and half as far again or more is shown.
_TAIL = 0.05
_REACH = 0.75
_MARGIN = 0.05
# Most different values of a discrete column, and the mean number of rows that each takes: more where the values are
# not round, as they are then those of copied rows.
_MOST_VALUES, _ROWS_A_VALUE = 50, 2
_MOST_ODD_VALUES, _ROWS_AN_ODD_VALUE = 12, 5
_DIGITS = 4
# A point mass is that share of a sample, and that many times as many rows as other values have; at most 12 are kept.
_SHARE_OF_MASS, _TIMES_OTHERS, _MOST_MASSES = 0.05, 5, 12
_FEWEST_CELLS, _MOST_CELLS = 8, 40


@dataclass(frozen=True, eq=False, repr=False)
class ShownColumn(Comparable):
    """One column of both samples, for a picture. The first of two rows of an array is of x, the second of y.

    Attributes
    ----------
    column
        Its place.
    limits
        The range that is shown, wherever the bulk of either sample is.
    values
        Discrete columns: all values in the range, increasing. Other columns: values that many rows hold, (V,).
    counts
        How many of the rows hold each of them, (2, V).
    density
        Density of the other rows at `places`, times the width of the range, (2, G): its mean is their share of all
        rows. None where there are no other rows: the column is discrete.
    quantiles
        Of the other rows, at `QUANTILES`, to the nearest of the places, (2, 5); None for discrete columns.
    outside
        How many of the rows lie below and above the range, (2, 2).
    labels
        Of a column of categories the names of the levels, whose codes are `values`; empty for numbers.
    """

    column: int
    limits: tuple[float, float]
    values: Array
    counts: Indices
    density: Array | None
    quantiles: Array | None
    outside: Indices
    labels: tuple[str, ...] = ()

    @property
    def places(self) -> Array:
        """Where the density is known, (G,)."""
        return np.linspace(*self.limits, PLACES)


@dataclass(frozen=True, eq=False, repr=False)
class ShownPlane(Comparable):
    """Rows of both samples, counted in the cells of a plane.

    Attributes
    ----------
    columns
        The two columns that span it; empty for principal axes.
    shares
        Share of the variance along each principal axis; empty for columns.
    limits
        The range that is shown along each axis, (2, 2).
    first, second
        Middles of the cells along each axis: the values of a discrete column, else evenly spaced.
    cells
        The cells that are not empty, as places in `first` and in `second`, (K, 2).
    counts
        How many of the rows of x and of y are in each of them, (2, K).
    outside
        How many of the rows of x and of y are in none.
    witness
        Mean and standard deviation of the witness at the rows of each cell, on average, (2, K); None for columns.
    """

    columns: tuple[int, ...]
    shares: tuple[float, ...]
    limits: Array
    first: Array
    second: Array
    cells: Indices
    counts: Indices
    outside: tuple[int, int]
    witness: Array | None = None

    @property
    def centers(self) -> Array:
        """Middles of the cells that are not empty, (K, 2)."""
        return np.stack([self.first[self.cells[:, 0]], self.second[self.cells[:, 1]]], axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Shown(Comparable):
    """The aggregates of the samples that a picture shows.

    Attributes
    ----------
    rows
        How many rows of x and of y all of it is from: a random subset where there are many.
    columns
        The columns that are shown alone.
    plane
        The plane of two columns, or of two principal axes; None where neither is shown.
    """

    rows: tuple[int, int]
    columns: tuple[ShownColumn, ...] = ()
    plane: ShownPlane | None = None


def levels_at(levels: Levels, column: int) -> int | None:
    """How many codes a column has, None for numbers."""
    names = levels[column] if levels else None
    return None if names is None else len(names) + 1


def places_along(limits: tuple[float, float], count: int, codes: int | None, *, alone: bool) -> Array:
    """Places along a column at which a picture shows the witness: evenly spaced, or the codes of a column alone."""
    if codes is not None and alone:
        return np.arange(math.ceil(limits[0]), math.floor(limits[1]) + 1.0)
    return np.linspace(*limits, count)


def limits_of_codes(x: Array, y: Array, codes: int) -> tuple[float, float]:
    """The range of a column of categories: all levels, and one more for others if there are any.

    Examples
    --------
    >>> limits_of_codes(np.array([0.0, 1.0]), np.array([1.0]), 4), limits_of_codes(np.array([3.0]), np.array([0.0]), 4)
    ((-0.6, 2.6), (-0.6, 3.6))
    """
    shown = codes if codes == 2 or (x == codes - 1).any() or (y == codes - 1).any() else codes - 1
    return -0.6, shown - 0.4


def share_intervals(counts: Indices, rows: tuple[int, int], level: float = 0.9) -> Array:
    """Credible intervals of shares by Jeffreys' prior, lower and upper ends, (2, 2, V), for counts (2, V).

    Examples
    --------
    >>> share_intervals(np.array([[5], [0]]), (10, 10))[:, 0].round(3).ravel()
    array([0.262, 0.738])
    """
    from scipy.special import betaincinv

    sizes, tail = np.array(rows)[:, None], 0.5 * (1.0 - level)
    ends = [betaincinv(counts + 0.5, sizes - counts + 0.5, end) for end in (tail, 1.0 - tail)]
    return np.stack([np.where(counts == 0, 0.0, ends[0]), np.where(counts == sizes, 1.0, ends[1])])


def of_rows(x: Array, y: Array, groups: Sequence[tuple[int, ...]], levels: Levels = ()) -> Shown:
    """The aggregates of columns and of pairs of columns.

    Parameters
    ----------
    x, y
        Rows of the samples, (n, D).
    groups
        Places of one or two columns each.
    levels
        The levels of columns of categories.

    Examples
    --------
    >>> shown = of_rows(np.array([[0.0], [0.0], [1.0]]), np.array([[1.0], [1.0], [1.0]]), [(0,)])
    >>> shown.columns[0].values, shown.columns[0].counts
    (array([0., 1.]), array([[2, 1],
           [0, 3]]))
    """
    places = dict.fromkeys(place for group in groups for place in group)
    columns = {place: _column(place, x[:, place], y[:, place], levels[place] if levels else None) for place in places}
    plane = next((_plane_of_columns(x, y, columns[a], columns[b]) for a, *more in groups for b in more), None)
    alone = tuple(columns[place] for place in places)
    return Shown((len(x), len(y)), alone, plane)


def limits_of(x: Array, y: Array) -> tuple[float, float]:
    """The range of a column that a picture shows: the bulk of either sample, with a margin, and not to the last digit.

    Examples
    --------
    >>> limits_of(np.array([0.0, 1.0, 2.0, 3.0] * 50 + [1e9]), np.array([1.5]))
    (-0.3, 3.3)
    """
    values, rest = _split(x, y)
    if any(map(len, rest)):
        return _continuous_limits(values, rest)
    return _discrete_limits(values, (x, y))


def kernel_density(values: Array, at: Array) -> Array:
    """Gaussian kernel density estimate with Silverman's bandwidth at evenly spaced places, for display."""
    return _density(values, (float(at[0]), float(at[-1])), len(at)) / float(at[-1] - at[0])


def _density(values: Array, limits: tuple[float, float], count: int) -> Array:
    """The density estimate times the width of the range, which has no unit, at `count` places of the range."""
    inside = values[(values >= limits[0]) & (values <= limits[1])]
    if not len(inside):
        return np.zeros(count)
    within = np.clip((inside - limits[0]) / (limits[1] - limits[0]), 0.0, 1.0)
    quartiles = np.quantile(within, (0.25, 0.75))
    spreads = [float(np.std(within)), float(quartiles[1] - quartiles[0]) / 1.349]
    bandwidth = max(0.9 * min(filter(None, spreads), default=0.0) * len(within) ** -0.2, 1 / 150)
    # Each value is shared by the two places around it; the bandwidth is wider than their distance.
    positions = within * (count - 1)
    lower = np.minimum(positions.astype(np.intp), count - 2)
    upper = positions - lower
    counts = np.bincount(lower, 1.0 - upper, count) + np.bincount(lower + 1, upper, count)
    apart = np.exp(-0.5 * (np.arange(count) / ((count - 1) * bandwidth)) ** 2)
    kernel = apart[np.abs(np.subtract.outer(np.arange(count), np.arange(count)))]
    return np.asarray(kernel @ counts / (len(values) * bandwidth * math.sqrt(2.0 * math.pi)))


def rounded(values: Array) -> Array:
    """Six digits of each number: enough for a picture.

    Examples
    --------
    >>> rounded(np.array([1 / 3, 2e10 / 3]))
    array([3.33333e-01, 6.66667e+09])
    """
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)


def _column(place: int, x: Array, y: Array, levels: tuple[str, ...] | None) -> ShownColumn:
    """A column of numbers, or of categories: all its levels, and the others where there are any."""
    samples = (x, y)
    labels: tuple[str, ...] = ()
    if levels is None:
        values, rest = _split(x, y)
        limits = limits_of(x, y)
    else:
        limits = limits_of_codes(x, y, len(levels) + 1)
        values, rest = np.arange(float(round(limits[1] + 0.4))), (x[:0], y[:0])
        labels = (*levels, OTHER)[: len(values)]
    values = values[(values >= limits[0]) & (values <= limits[1])]
    outside = [[np.count_nonzero(one < limits[0]), np.count_nonzero(one > limits[1])] for one in samples]
    counts = [[np.count_nonzero(one == value) for value in values] for one in samples]
    density = quantiles = None
    if any(map(len, rest)):
        at = np.linspace(*limits, PLACES)
        shares = [len(one) / len(whole) for one, whole in zip(rest, samples, strict=True)]
        found = [_density(one, limits, PLACES) * share for one, share in zip(rest, shares, strict=True)]
        density = rounded(np.stack(found))
        nearest = [np.abs(np.subtract.outer(_quantiles(one, limits), at)).argmin(axis=1) for one in rest]
        quantiles = at[np.stack(nearest)]
    return ShownColumn(
        column=place,
        limits=limits,
        values=values,
        counts=np.array(counts, dtype=np.int64).reshape(2, len(values)),
        density=density,
        quantiles=quantiles,
        outside=np.array(outside, dtype=np.int64),
        labels=labels,
    )


def _quantiles(values: Array, limits: tuple[float, float]) -> Array:
    return np.quantile(np.clip(values, *limits), QUANTILES) if len(values) else np.full(len(QUANTILES), limits[0])


def _split(x: Array, y: Array) -> tuple[Array, tuple[Array, Array]]:
    """Values that many rows hold, and the other rows of each sample."""
    pooled = np.concatenate([x, y])
    values, counts = np.unique(pooled, return_counts=True)
    few = len(values) <= _MOST_VALUES
    round_ones = few and all(float(f"{value:.{_DIGITS}g}") == value for value in values.tolist())
    most, each = (_MOST_VALUES, _ROWS_A_VALUE) if round_ones else (_MOST_ODD_VALUES, _ROWS_AN_ODD_VALUE)
    if len(values) <= most and len(pooled) >= each * len(values):
        return values, (x[:0], y[:0])
    held = values[_are_masses(values, counts, x, y)]
    return held, (x[~np.isin(x, held)], y[~np.isin(y, held)])


def _are_masses(values: Array, counts: NDArray[np.intp], x: Array, y: Array) -> NDArray[np.bool_]:
    """Whether each value occurs often enough to stand out of a density."""
    others = (counts.sum() - counts) / max(len(counts) - 1, 1)
    found = counts >= _TIMES_OTHERS * others
    largest = np.sort(counts)[-_MOST_MASSES:][0]
    found &= counts >= max(largest, 3)
    for place in np.flatnonzero(found):
        held = [np.count_nonzero(one == values[place]) / len(one) for one in (x, y)]
        found[place] = max(held) >= _SHARE_OF_MASS
    return np.asarray(found)


def _continuous_limits(masses: Array, rest: tuple[Array, Array]) -> tuple[float, float]:
    ends = [*masses.tolist(), *(end for values in rest if len(values) for end in _bulk(values))]
    low, high = min(ends), max(ends)
    margin = _MARGIN * high - _MARGIN * low
    return _outward(low - margin, high + margin) if margin > 0.0 else _around(low)


def _discrete_limits(values: Array, samples: tuple[Array, Array]) -> tuple[float, float]:
    ends = [end for one in samples if len(one) for end in _bulk(one)]
    inside = values[(values >= min(ends)) & (values <= max(ends))]
    if len(inside) == 1:
        return _around(float(inside[0]))
    margin = max(0.6 * float(np.diff(inside).min()), 0.02 * float(inside[-1] - inside[0]))
    return float(inside[0]) - margin, float(inside[-1]) + margin


def _bulk(values: Array) -> tuple[float, float]:
    """The range of nearly all values, without those far away; of a few values almost all are kept."""
    ordered = np.sort(values)
    inner = math.ceil(_TAIL * (len(ordered) - 1))
    first, last = float(ordered[0]), float(ordered[-1])
    low, high = float(ordered[inner]), float(ordered[len(ordered) - 1 - inner])
    reach = (_REACH + 6.0 / len(ordered)) * high - (_REACH + 6.0 / len(ordered)) * low
    return (max(first, low - reach), min(last, high + reach)) if reach > 0.0 else (first, last)


def _around(value: float) -> tuple[float, float]:
    reach = 0.5 * max(abs(value), 1.0)
    return value - reach, value + reach


def _outward(low: float, high: float) -> tuple[float, float]:
    """The range in steps of a hundredth or less, so that its ends are not those of the rows."""
    step = 10.0 ** (math.floor(math.log10(high - low)) - 2)
    if step == 0.0:
        return low, high
    wide = math.floor(low / step) * step, math.ceil(high / step) * step
    return wide if all(map(math.isfinite, wide)) and wide[0] < wide[1] else (low, high)


def _plane_of_columns(x: Array, y: Array, first: ShownColumn, second: ShownColumn) -> ShownPlane:
    count = _cells_along(len(x) + len(y))
    along = [_middles(column, count) for column in (first, second)]
    places = [first.column, second.column]
    return _plane((x[:, places], y[:, places]), (first.limits, second.limits), along, columns=tuple(places))


def _cells_along(rows: int) -> int:
    """More cells along an axis for more rows, so that a cell has several of them."""
    return int(np.clip(math.ceil(1.25 * math.sqrt(rows)), _FEWEST_CELLS, _MOST_CELLS))


def _middles(column: ShownColumn, count: int) -> Array:
    return column.values if column.density is None else _even_middles(column.limits, count)


def _even_middles(limits: tuple[float, float], count: int) -> Array:
    return np.asarray(limits[0] + (np.arange(count) + 0.5) * ((limits[1] - limits[0]) / count))


def on_axes(x: Array, y: Array, see: Callable[[Array], Array], witness: Callable[[Array], Witness]) -> Shown:
    """The rows on their first two principal axes, found without the outermost values, and the witness there.

    Parameters
    ----------
    x, y
        Rows of the samples, (n, D).
    see
        What is done to the columns.
    witness
        The witness at given rows.
    """
    seen = [see(rows) for rows in (x, y)]
    both = np.concatenate(seen)
    inner = np.clip(both, *np.quantile(both, (0.0025, 0.9975), axis=0))
    middle = inner.mean(axis=0)
    _, singular, axes = np.linalg.svd(inner - middle, full_matrices=False)
    # Of the two directions of an axis that in which its largest component is positive.
    axes = axes[:2] * np.sign(np.take_along_axis(axes[:2], np.abs(axes[:2]).argmax(axis=1)[:, None], axis=1))
    total = float(np.sum(singular**2)) or 1.0
    shares = tuple(round(float(one), 4) for one in singular[:2] ** 2 / total)
    on_plane = tuple((rows - middle) @ axes.T for rows in seen)
    limits = [limits_of(on_plane[0][:, axis], on_plane[1][:, axis]) for axis in range(2)]
    along = [_even_middles(limit, _cells_along(len(both))) for limit in limits]
    found = witness(np.concatenate([x, y]))
    plane = _plane((on_plane[0], on_plane[1]), (limits[0], limits[1]), along, shares=shares, witness=found)
    return Shown((len(x), len(y)), plane=plane)


def _plane(
    samples: tuple[Array, Array],
    limits: tuple[tuple[float, float], tuple[float, float]],
    along: list[Array],
    *,
    columns: tuple[int, ...] = (),
    shares: tuple[float, ...] = (),
    witness: Witness | None = None,
) -> ShownPlane:
    """Rows of both samples (n, 2), counted in cells."""
    low, high = np.array(limits).T
    inside = [((rows >= low) & (rows <= high)).all(axis=1) for rows in samples]
    numbers = []
    for rows, within in zip(samples, inside, strict=True):
        a, b = (np.searchsorted(0.5 * (along[i][1:] + along[i][:-1]), rows[within, i]) for i in range(2))
        numbers.append(a * len(along[1]) + b)
    found, places = np.unique(np.concatenate(numbers), return_inverse=True)
    split = len(numbers[0])
    counts = [np.bincount(part, minlength=len(found)) for part in (places[:split], places[split:])]
    on_average = None
    if witness is not None:
        seen, total = np.concatenate(inside), np.maximum(counts[0] + counts[1], 1)
        sums = [np.bincount(places, one[seen], len(found)) for one in (witness.mean, witness.sd)]
        on_average = rounded(np.stack(sums) / total)
    return ShownPlane(
        columns=columns,
        shares=shares,
        limits=np.array(limits),
        first=along[0],
        second=along[1],
        cells=np.stack(np.divmod(found, len(along[1])), axis=1).astype(np.int64),
        counts=np.stack(counts).astype(np.int64),
        outside=(int(np.count_nonzero(~inside[0])), int(np.count_nonzero(~inside[1]))),
        witness=on_average,
    )
