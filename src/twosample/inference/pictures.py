"""Aggregates of the samples for pictures: densities, counts of values and of cells, and no rows.

Of a handful of rows even an aggregate tells much: a density of five values has five bumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Indices
from twosample.common.constraints import NONNEGATIVE, SHARES, SORTED, Axes, Count, Places
from twosample.common.records import Comparable
from twosample.data.categories import Levels, rows_without_many, with_coordinates
from twosample.inference.witness import Driver, Witness, locations

__all__ = [
    "QUANTILES", "Shown", "ShownColumn", "ShownPlane", "driver_within", "kernel_density", "levels_at", "limits_of",
    "of_rows", "on_axes", "share_intervals",
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
# Rows are shown no farther from the middle, so that squares do not overflow.
_FARTHEST = 1e140


@dataclass(frozen=True, eq=False, repr=False)
class ShownColumn(Comparable):
    """One column of both samples, for a picture. The first of two rows of an array is of x, the second of y."""

    column: Annotated[int, Places("D")]
    # The range that is shown, wherever the bulk of either sample is.
    limits: Annotated[tuple[float, float], SORTED]
    # Discrete columns: all values in the range, increasing. Other columns: values that many rows hold, (V,).
    values: Annotated[Array, Axes("V"), SORTED]
    counts: Annotated[Indices, Axes(2, "V"), NONNEGATIVE]  # of the rows that hold each of them, (2, V)
    # Of the other rows at `places`, times the width of the range, (2, G): its mean is their share of all rows. None
    # where there are no other rows: the column is discrete.
    density: Annotated[Array, Axes(2, PLACES), NONNEGATIVE] | None
    # Of the other rows, at `QUANTILES`, to the nearest of the places, (2, 5)
    quantiles: Annotated[Array, Axes(2, len(QUANTILES)), SORTED] | None
    outside: Annotated[Indices, Axes(2, 2), NONNEGATIVE]  # rows below and above the range, (2, 2)
    # Of a column of categories the levels, whose codes are `values`
    labels: Annotated[tuple[str, ...], Axes("V", optional=True)] = ()

    @property
    def places(self) -> Array:
        """Where the density is known, (G,)."""
        return np.linspace(*self.limits, PLACES)


@dataclass(frozen=True, eq=False, repr=False)
class ShownPlane(Comparable):
    """Rows of both samples, counted in the cells of a plane."""

    columns: Annotated[tuple[int, ...], Places("D")]  # the two that span it; empty for principal axes
    shares: Annotated[tuple[float, ...], SHARES]  # of the variance along each principal axis; empty for columns
    limits: Annotated[Array, Axes(2, 2), SORTED]  # the range that is shown along each axis, (2, 2)
    # Middles of the cells along each axis: the values of a discrete column, else evenly spaced.
    first: Annotated[Array, Axes("first"), SORTED]
    second: Annotated[Array, Axes("second"), SORTED]
    # Those that are not empty, as places in `first` and in `second`, (K, 2)
    cells: Annotated[Indices, Axes("cells", 2), NONNEGATIVE]
    counts: Annotated[Indices, Axes(2, "cells"), NONNEGATIVE]  # rows of x and of y in each of them, (2, K)
    outside: tuple[Count, Count]  # rows of x and of y in none
    # Mean and standard deviation of the witness at the rows of each cell, on average, (2, K); None for columns.
    witness: Annotated[Array, Axes(2, "cells")] | None = None

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if (len(self.columns), len(self.shares)) not in ((2, 0), (0, 2)):
            yield f"has {len(self.columns)} columns and {len(self.shares)} principal axes"
        if self.cells.size and (self.cells.max(axis=0) >= (len(self.first), len(self.second))).any():
            yield "has cells outside of its places"

    @property
    def centers(self) -> Array:
        """Middles of the cells that are not empty, (K, 2)."""
        return np.stack([self.first[self.cells[:, 0]], self.second[self.cells[:, 1]]], axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Shown(Comparable):
    """The aggregates of the samples that a picture shows."""

    rows: tuple[Count, Count]  # how many of x and of y all of it is from: a random subset where there are many
    columns: tuple[ShownColumn, ...] = ()  # those that are shown alone
    plane: ShownPlane | None = None  # of two columns, or of two principal axes


def levels_at(levels: Levels, column: int) -> int | None:
    """How many coordinates a column of codes has, None for numbers."""
    names = levels[column] if levels else None
    return None if names is None else len(with_coordinates(names))


def driver_within(
    limits: Sequence[tuple[float, float]],
    columns: tuple[int, ...],
    levels: Levels,
    count: int,
    witness: Callable[[Array], tuple[Array, Array]],
) -> Driver:
    """The witness of one or two columns within these limits, at `count` places along each or at the codes of one."""
    if len(columns) == 1 and levels_at(levels, columns[0]) is not None:
        grid = np.arange(math.ceil(limits[0][0]), math.floor(limits[0][1]) + 1.0)[np.newaxis]
    else:
        grid = np.stack([np.linspace(*along, count) for along in limits])
    shape = (grid.shape[1],) * len(grid)
    mean, sd = (values.reshape(shape) for values in witness(locations(grid)))
    return Driver(columns, grid, mean, sd)


def share_intervals(counts: Indices, rows: tuple[int, int]) -> Array:
    """Credible intervals (90 %) of shares by Jeffreys' prior, lower and upper ends, (2, 2, V), for counts (2, V)."""
    from scipy.special import betaincinv

    sizes = np.array(rows)[:, None]
    ends = [betaincinv(counts + 0.5, sizes - counts + 0.5, end) for end in (0.05, 0.95)]
    return np.stack([np.where(counts == 0, 0.0, ends[0]), np.where(counts == sizes, 1.0, ends[1])])


def of_rows(x: Array, y: Array, groups: Sequence[tuple[int, ...]], levels: Levels = ()) -> Shown:
    """The aggregates of columns and of pairs of columns: `groups` are the places of one or two columns each."""
    x, y = (rows_without_many(rows, levels) for rows in (x, y))
    places = dict.fromkeys(place for group in groups for place in group)
    columns = {place: _column(place, x[:, place], y[:, place], levels[place] if levels else None) for place in places}
    plane = next((_plane_of_columns(x, y, columns[a], columns[b]) for a, *more in groups for b in more), None)
    alone = tuple(columns[place] for place in places)
    return Shown((len(x), len(y)), alone, plane)


def limits_of(x: Array, y: Array, codes: int | None = None) -> tuple[float, float]:
    """The range of a column that a picture shows: the bulk of either sample, with a margin, and not to the last digit.

    Of a column of categories, which has so many codes, all levels, and one more for others if there are any.
    """
    if codes is not None:
        shown = codes if codes == 2 or (x >= codes - 1).any() or (y >= codes - 1).any() else codes - 1
        return -0.6, shown - 0.4
    values, rest = _split(x, y)
    if any(map(len, rest)):
        ends = [*values.tolist(), *(end for one in rest if len(one) for end in _bulk(one))]
        low, high = min(ends), max(ends)
        margin = _MARGIN * high - _MARGIN * low
        return _outward(low - margin, high + margin) if margin > 0.0 else _around(low)
    ends = [end for one in (x, y) if len(one) for end in _bulk(one)]
    inside = values[(values >= min(ends)) & (values <= max(ends))]
    if len(inside) == 1:
        return _around(float(inside[0]))
    margin = max(0.6 * float(np.diff(inside).min()), 0.02 * float(inside[-1] - inside[0]))
    return float(inside[0]) - margin, float(inside[-1]) + margin


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
    """Six digits of each number: enough for a picture."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)


def _column(place: int, x: Array, y: Array, levels: tuple[str, ...] | None) -> ShownColumn:
    """A column of numbers, or of categories: all its levels, and the others where there are any."""
    samples = (x, y)
    labels: tuple[str, ...] = ()
    names = None if levels is None else with_coordinates(levels)
    limits = limits_of(x, y, None if names is None else len(names))
    if names is None:
        values, rest = _split(x, y)
    else:
        values, rest = np.arange(float(round(limits[1] + 0.4))), (x[:0], y[:0])
        labels = names[: len(values)]
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
    count, both = _cells_along(len(x) + len(y)), (first, second)
    along = [one.values if one.density is None else _even_middles(one.limits, count) for one in both]
    places = [first.column, second.column]
    return _plane((x[:, places], y[:, places]), (first.limits, second.limits), along, columns=tuple(places))


def _cells_along(rows: int) -> int:
    """More cells along an axis for more rows, so that a cell has several of them."""
    return int(np.clip(math.ceil(1.25 * math.sqrt(rows)), _FEWEST_CELLS, _MOST_CELLS))


def _even_middles(limits: tuple[float, float], count: int) -> Array:
    return np.asarray(limits[0] + (np.arange(count) + 0.5) * ((limits[1] - limits[0]) / count))


def on_axes(x: Array, y: Array, see: Callable[[Array], Array], witness: Callable[[Array], Witness]) -> Shown:
    """The rows on the first two principal axes of what they are seen as, and the witness there.

    The axes are found without the outermost values.
    """
    seen = [np.clip(see(rows), -_FARTHEST, _FARTHEST) for rows in (x, y)]
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
