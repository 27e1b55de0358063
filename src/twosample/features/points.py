"""Choosing evaluation points: representative rows of the pooled sample, the same whatever the order of the rows."""

from __future__ import annotations

import math
import numbers

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import LARGEST_LENGTHSCALE
from twosample.common.arrays import Array, Flags, evenly_spread
from twosample.data import Samples, as_rows, check_finite
from twosample.errors import InputError, InputTypeError, Setting
from twosample.features.orientation import Orientation
from twosample.kernels import Kernel, absolute_distances, squared_distances

__all__ = [
    "cells", "choose", "choose_among_codes", "evaluation_points", "in_order", "median_heuristic", "thin",
    "typical_lengthscale",
]  # fmt: skip


REPRESENTATIVES = 1024
# Standardised values are clipped here, so that squares do not overflow.
_FARTHEST = 1e100
# What is smaller beside the largest is rounding: squared distances of codes, and differences of distances.
_ROUNDED = 1e-9


def thin(*samples: Array, limit: int = REPRESENTATIVES, oriented: bool = True) -> Array:
    """At most `limit` rows of the samples together, evenly spread over all rows in lexicographic order.

    The result depends on the rows as a set: not on their order, nor on which sample they are in. Where rows are left
    out, it does not depend on the order and the direction of the columns either, by which rows are put in order, unless
    `oriented` is False.
    """
    n_columns, n_rows = samples[0].shape[1], sum(map(len, samples))
    as_given = not oriented or n_rows <= limit or n_columns == 1
    orientation = Orientation.given(n_columns) if as_given else Orientation.of(*samples)

    def pooled(place: int) -> Array:
        column, sign = orientation.order[place], orientation.signs[place]
        return np.concatenate([sign * sample[:, column] for sample in samples])

    first = pooled(0)
    order = np.argsort(first, kind="stable")
    if n_columns > 1 and (np.diff(first[order]) == 0).any():
        order = np.lexsort([pooled(place) for place in reversed(range(n_columns))])
    if n_rows > limit:
        middles = (np.arange(limit) + 0.5) * (n_rows / limit)
        order = order[evenly_spread(n_rows, limit) if oriented else middles.astype(np.int64)]
    rows = np.empty((len(order), n_columns))
    start = 0
    for sample in samples:
        here = (order >= start) & (order < start + len(sample))
        rows[here] = sample[order[here] - start]
        start += len(sample)
    return rows


def choose(rows: Array, count: int, *, oriented: bool = True) -> Array:
    """At most `count` evaluation points (s, D) among standardised rows.

    The rows are halved repeatedly at the median of the column with the largest variance, until there are `count` cells
    of equal size; the point of a cell is the row nearest to its mean. The choice depends on the rows as a set: not on
    their order, nor on which sample they came from, nor on the order and the direction of the columns; and shifting or
    stretching columns leaves it as it is when the rows are standardised. Repeated points are dropped. Where
    `oriented` is False, columns count in the order and the direction that they have.
    """
    if len(rows) <= count:
        return np.unique(rows, axis=0)
    bounded = np.clip(rows, -_FARTHEST, _FARTHEST)
    if oriented and rows.shape[1] > 1:
        bounded = Orientation.of(bounded).turn(bounded)
    order = np.lexsort(bounded.T[::-1])
    one = oriented and rows.shape[1] == 1
    chosen = _places_of_one(bounded[order, 0], count) if one else _places(bounded[order], count)
    return np.unique(rows[order[chosen]], axis=0)


def _places_of_one(ordered: Array, count: int) -> list[int]:
    """Places of points among the sorted values of one column: the same from either side."""
    middle = 0.5 * (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2])
    chosen = []
    for first, last in cells(len(ordered), count):
        values = ordered[first:last]
        distances = np.abs(values - values.mean())
        nearest = distances <= distances.min() + _ROUNDED * distances.max()
        # Among values at equal distances up to rounding, the one towards the middle of all.
        chosen.append(first + int(np.where(nearest, np.abs(values - middle), np.inf).argmin()))
    return chosen


def _places(rows: Array, count: int) -> list[int]:
    """Places of points among rows in lexicographic order."""
    chosen: list[int] = []
    parts = [(np.arange(len(rows)), count)]
    while parts:
        cell, wanted = parts.pop()
        values = rows[cell]
        variances = values.var(axis=0)
        # Among variances that are equal up to rounding, as those of ranks are, the first.
        widest = int(np.argmax(variances >= variances.max() * (1.0 - _ROUNDED)))
        order = np.argsort(values[:, widest], kind="stable")
        if wanted == 1:
            distances = ((values - values.mean(axis=0)) ** 2).sum(axis=1)[order]
            # Among rows at equal distances up to rounding, the first along the column.
            chosen.append(int(cell[order[np.argmax(distances <= distances.min() * (1.0 + _ROUNDED))]]))
            continue
        left = (wanted + 1) // 2
        split = len(cell) * left // wanted
        parts += [(cell[order[:split]], left), (cell[order[split:]], wanted - left)]
    return chosen


def cells(n: int, count: int) -> list[tuple[int, int]]:
    """First and last places of `count` overlapping cells of n places, the same when the order is reversed."""
    return [(cell * n // count, -(-(cell + 1) * n // count)) for cell in range(count)]


def choose_among_codes(rows: Array, count: int) -> Array:
    """Points among rows some of whose coordinates are those of codes; as `choose`, or all rows if few are different."""
    different = np.unique(rows, axis=0)
    return different if len(different) <= count else choose(rows, count)


def in_order(rows: Array) -> Array:
    """The rows in lexicographic order."""
    return rows[np.lexsort(rows.T[::-1])]


def median_heuristic(rows: Array, kernel: Kernel | None = None, codes: Flags | None = None) -> float:
    """Median of the non-zero distances between the rows, divided by √2; 1 where all rows are equal.

    Distances are Euclidean, or L1 for kernels with that metric. `codes` flags the coordinates of codes of categories,
    if any; there may be many, so their distances are computed by a matrix product.
    """
    absolute = kernel is not None and kernel.metric == "l1"
    distances = absolute_distances(rows, rows) if absolute else _squares(rows, codes)
    distances = distances[np.tri(len(rows), k=-1, dtype=bool)]
    count = np.count_nonzero(distances)
    if not count:
        return 1.0
    middle = distances.size - count + np.array([(count - 1) // 2, count // 2])  # zeros come first
    found = np.partition(distances, middle)[middle]
    return float((found if absolute else np.sqrt(found)).mean() / np.sqrt(2.0))


def _squares(rows: Array, codes: Flags | None) -> Array:
    if codes is None or not codes.any():
        return np.asarray(squared_distances(rows, rows))
    corners = rows[:, codes]
    squares = np.square(corners).sum(axis=1)
    found = squares[:, np.newaxis] + squares - 2.0 * (corners @ corners.T)
    found[found < _ROUNDED] = 0.0
    return found if codes.all() else np.asarray(found + squared_distances(rows[:, ~codes], rows[:, ~codes]))


def typical_lengthscale(rows: Array, kernel: Kernel | None = None, codes: Flags | None = None) -> float:
    """The median heuristic, if it can be squared."""
    median = median_heuristic(rows, kernel, codes) if np.isfinite(rows).all() else math.inf
    if not 1.0 / LARGEST_LENGTHSCALE < median < LARGEST_LENGTHSCALE:
        raise InputError(
            "scale: squares of these values overflow or vanish",
            argument="scale",
            remedy=("use ", Setting("scale", "robust"), " or other units"),
        )
    return median


def evaluation_points(points: int | ArrayLike, samples: Samples, rows: Array, *, oriented: bool = True) -> Array:
    """Evaluation points in standardised units: chosen among the rows (`choose`), or as given."""
    if isinstance(points, numbers.Integral) and not isinstance(points, bool):
        if points < 1:
            raise InputError(f"points: need at least 1 evaluation point, not {points}", argument="points")
        if samples.view.sizes is not None:
            return choose_among_codes(rows, int(points))
        return choose(rows, int(points), oriented=oriented)
    if not isinstance(points, list | tuple) and np.ndim(points) == 0 and not hasattr(points, "columns"):
        raise InputTypeError(f"points: expected a count or an array of points, not {points!r}", argument="points")
    if samples.levels:
        raise InputError(
            "points: of tables with categories they are chosen among the rows",
            argument="points",
            remedy="pass how many there are to be",
        )
    given, names = as_rows(points, "points")
    if names is not None and set(samples.columns) <= set(names):
        given = given[:, [names.index(column) for column in samples.columns]]
    elif given.shape[1] == len(samples.kept):
        given = given[:, samples.kept]
    if given.shape[1] != samples.n_columns:
        raise InputError(
            f"points: must have {samples.n_columns} columns like the samples, not {given.shape[1]}", argument="points"
        )
    check_finite(given, "points")
    standardised = samples.view.apply(given)
    if not np.isfinite(standardised).all():
        raise InputError(
            "points: some are too far from the samples for their distances to be numbers",
            argument="points",
            remedy="they are in the units of the data",
        )
    return standardised
