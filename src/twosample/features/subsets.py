"""Subsets of columns that are tested, their prior weights and their evaluation points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Indices
from twosample.common.constraints import POSITIVE, SHARES, Axes, Places
from twosample.common.records import Comparable
from twosample.data import Ranks
from twosample.data.categories import starts_of
from twosample.errors import InputError, InputTypeError, Setting
from twosample.features.orientation import Orientation
from twosample.features.points import cells, choose, choose_among_codes
from twosample.kernels import Kernel, absolute_distances, squared_distances
from twosample.models import LogUniform, Model

__all__ = [
    "POINTS_OF_ONE", "Part", "Subsets", "categorical_parts", "chosen_subsets", "make_parts", "multiples_of",
    "single_part", "typical_of_points",
]  # fmt: skip

# Pairs of columns are tested up to this many columns; all subsets of columns up to that many.
_MOST_COLUMNS_IN_PAIRS = 12
_MOST_COLUMNS_IN_ALL = 10
# Numbers of points for one column, and of intervals of each of two columns.
POINTS_OF_ONE = 16
POINTS_OF_TWO = 5
# Distances below this share of the largest are rounding.
_ROUNDED = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Part(Comparable):
    """A stack of P tests of normal scores, each of k columns at s points."""

    columns: Annotated[Indices, Axes("tests", "k", least=1), Places("D")]  # (P, k)
    # (P, s, k); with categories (P, s, K), with the coordinates of codes, padded with zeros
    points: Annotated[Array, Axes("tests", "points", "coordinates", least=1)]
    typical: Annotated[Array, Axes("tests"), POSITIVE]  # the median heuristic of each test, (P,)
    # The prior probability of each test given that the samples differ, (P,)
    prior: Annotated[Array, Axes("tests"), SHARES]


@dataclass(frozen=True)
class Subsets:
    """Subsets of columns of one size."""

    columns: Indices  # (P, k)
    weight: float  # prior probability of all of them together


def chosen_subsets(subsets: object, columns: tuple[str, ...], kept: NDArray[np.bool_] | None = None) -> list[Subsets]:
    """The subsets that the argument names, by size; sizes have equal prior weight, uniform within a size.

    All single columns are included, with weight 0 if they were not named, because they show which columns differ.
    `kept` flags the columns used among those of the data, which numbers in `subsets` count; None is all.
    """
    count = len(columns)
    if isinstance(subsets, str):
        if subsets not in ("auto", "all"):
            raise _unknown(subsets)
        if subsets == "all" and count > _MOST_COLUMNS_IN_ALL:
            raise InputError(
                f"subsets: 'all' is for up to {_MOST_COLUMNS_IN_ALL} columns, and here are {count}",
                argument="subsets",
                remedy=("use ", Setting("subsets", "auto"), " or name the subsets"),
            )
        sizes = set(range(1, count + 1)) if subsets == "all" else {1, count}
        if count <= _MOST_COLUMNS_IN_PAIRS:
            sizes |= {min(2, count)}
        found = {size: list(combinations(range(count), size)) for size in sizes}
    else:
        found = {}
        places = np.arange(len(columns)) if kept is None else np.flatnonzero(kept)
        for subset in _given(subsets, columns, places.tolist()):
            found.setdefault(len(subset), []).append(subset)
    weight = 1.0 / len(found)
    groups = [Subsets(np.array(found[size], dtype=np.int64), weight) for size in sorted(found)]
    others = np.setdiff1d(np.arange(count), np.array(found.get(1, []), dtype=np.int64))
    return groups if not len(others) else [Subsets(others[:, np.newaxis], 0.0), *groups]


def _unknown(subsets: object) -> InputError:
    return InputError(
        f"subsets: {subsets!r} is unknown",
        argument="subsets",
        remedy="use 'auto', 'all', or a list of tuples of columns",
    )


def _given(subsets: object, columns: tuple[str, ...], numbers: list[int]) -> list[tuple[int, ...]]:
    """The subsets of a list, as sorted places among the columns used, each once."""
    if not isinstance(subsets, Iterable):
        raise _unknown(subsets)
    found = []
    for subset in subsets:
        if isinstance(subset, (str, int)) or not isinstance(subset, Iterable):
            raise InputTypeError(
                f"subsets: {subset!r} is not a tuple of columns",
                argument="subsets",
                remedy="use tuples, as in [('a',), ('a', 'b')]",
            )
        places = set()
        for name in subset:
            known: Sequence[object] = columns if isinstance(name, str) else numbers
            if isinstance(name, bool) or not isinstance(name, str | Integral) or name not in known:
                raise InputError(
                    f"subsets: there is no column {name!r}",
                    argument="subsets",
                    remedy=f"the columns are {', '.join(map(repr, columns[:8]))}{', ...' * (len(columns) > 8)}",
                )
            places.add(known.index(name))
        if not places:
            raise InputError("subsets: a subset is empty", argument="subsets", remedy="name its columns")
        found.append(tuple(sorted(places)))
    if not found:
        raise InputError("subsets: none is given", argument="subsets", remedy="use 'auto'")
    return list(dict.fromkeys(found))


def make_parts(
    groups: list[Subsets], ranks: Ranks, rows: Array, model: Model, count: int, kernel: Kernel | None = None
) -> tuple[Part, ...]:
    """The stacks of tests beside the main one, which is the test of all scaled columns.

    They are of pooled `rows` (N, D), in the units of the data. `count` is the number of points for three or more
    columns, and the most for fewer; the metric of the kernel is that of the median heuristic.
    """
    coordinates = ranks.apply(rows)
    seen = coordinates
    if ranks.sizes is not None:  # of numbers alone
        seen = np.where(ranks.sizes == 0, coordinates[:, starts_of(ranks.sizes)[:-1]], 0.0)
    orientation = Orientation.of(seen)
    parts = []
    for group in groups:
        share = model.ranks if group.columns.shape[1] == rows.shape[1] else 1.0
        each = group.weight * share / len(group.columns)
        columns, with_categories = _by_kind(group.columns, ranks)
        if len(columns):
            if columns.shape[1] == 1:
                points = _points_of_one(ranks.scores[:, columns[:, 0]], min(count, POINTS_OF_ONE))
            else:
                points = _points(seen, columns, orientation, count)
            parts.append(Part(columns, points, typical_of_points(points, kernel), np.full(len(points), each)))
        if len(with_categories):
            parts += categorical_parts(with_categories, ranks, coordinates, each, count, kernel)
    return tuple(parts)


def _by_kind(columns: Indices, ranks: Ranks) -> tuple[Indices, Indices]:
    """The subsets (P, k) of numbers only, and those with categories."""
    if ranks.sizes is None:
        return columns, columns[:0]
    mixed = (ranks.sizes[columns] > 0).any(axis=1)
    return columns[~mixed], columns[mixed]


def categorical_parts(
    columns: Indices, ranks: Ranks, coordinates: Array, prior: float, count: int, kernel: Kernel | None = None
) -> list[Part]:
    """Stacks of tests of subsets (P, k) with categories; the tests of a stack have equal numbers of points.

    A single column has a point for every level. `coordinates` are those of some pooled rows, as the ranks show them,
    and `prior` is the prior probability of each test.
    """
    assert ranks.sizes is not None and ranks.heights is not None
    size = columns.shape[1]
    if size == 2 and len(ranks.sizes) > 2:
        count = min(math.isqrt(count), POINTS_OF_TWO) ** 2
    tests: dict[int, list[tuple[Indices, Array]]] = {}
    for subset in columns:
        if size == 1:  # up to the largest code that there is
            largest = int(ranks.sizes[subset[0]])
            corners = np.eye(min(int(ranks.knots[-1, subset[0]]) + 1, largest), largest)
            points = corners * ranks.heights[subset[0]]
        else:
            points = choose_among_codes(coordinates[:, ranks.places(subset[np.newaxis])[0]], count)
        tests.setdefault(len(points), []).append((subset, points))
    parts = []
    for _, alike in sorted(tests.items()):
        width = max(points.shape[1] for _, points in alike)
        stacked = np.stack([np.pad(points, ((0, 0), (0, width - points.shape[1]))) for _, points in alike])
        of_tests = np.stack([subset for subset, _ in alike])
        parts.append(Part(of_tests, stacked, typical_of_points(stacked, kernel), np.full(len(alike), prior)))
    return parts


def single_part(ranks: Ranks) -> Part:
    """Only the tests of single columns, at as many points as in the default test."""
    points = _points_of_one(ranks.scores, POINTS_OF_ONE)
    count = len(points)
    return Part(np.arange(count)[:, np.newaxis], points, typical_of_points(points), np.full(count, 1.0 / count))


def multiples_of(model: Model) -> Array:
    """The lengthscales of a stack of tests, as multiples of the median heuristic."""
    assert isinstance(model.lengthscale, LogUniform)
    return model.lengthscale.multiples


def _points(seen: Array, columns: Indices, orientation: Orientation, count: int) -> Array:
    """Points of subsets of one size, more than 1, (P, s, k).

    Normal scores of different columns have the same spread, so that the order of the columns would decide which is
    split first; pairs are therefore oriented.
    """
    size = columns.shape[1]
    if size > 2 or seen.shape[1] == 2:
        found = [choose(seen[:, subset], count) for subset in columns]
        return np.stack([np.resize(one, (max(map(len, found)), size)) for one in found])
    places = np.argsort(orientation.order)[columns]
    arranged = np.argsort(places, axis=1)
    chosen = np.take_along_axis(places, arranged, axis=1)
    points = _points_of_two(orientation.turn(seen), chosen, min(math.isqrt(count), POINTS_OF_TWO))
    points *= orientation.signs[chosen][:, np.newaxis, :]
    return np.take_along_axis(points, np.argsort(arranged, axis=1)[:, np.newaxis, :], axis=2)


def _points_of_one(ordered: Array, count: int) -> Array:
    """Means of `count` intervals of equal numbers of values, of each sorted column (N, C), as (C, count, 1)."""
    means = np.stack([ordered[first:last].mean(axis=0) for first, last in cells(len(ordered), count)], axis=1)
    return means[:, :, np.newaxis]


def _points_of_two(seen: Array, columns: Indices, count: int) -> Array:
    """Means of cells: intervals of the first column, and in each intervals of the second, (P, count², 2).

    Ties in the first column are ordered by the second, independently of other columns.
    """
    ordered = np.ascontiguousarray(seen.T)
    order = np.lexsort((ordered[columns[:, 1]], ordered[columns[:, 0]]))  # (P, N)
    points = []
    for first, last in cells(len(seen), count):
        slab = order[:, first:last]
        within = np.argsort(seen[slab, columns[:, [1]]], axis=1, kind="stable")
        slab = np.take_along_axis(slab, within, axis=1)
        rows = np.stack([seen[slab, columns[:, [0]]], seen[slab, columns[:, [1]]]], axis=2)
        points += [rows[:, below:above].mean(axis=1) for below, above in cells(slab.shape[1], count)]
    return np.stack(points, axis=1)


def typical_of_points(points: Array, kernel: Kernel | None = None) -> Array:
    """The median of the distances between the points of each test that are not zero, over √2, (P,); 1 where all are."""
    if points.shape[1] == 1:
        return np.ones(len(points))
    pairs = np.tri(points.shape[1], k=-1, dtype=bool)
    if kernel is not None and kernel.metric == "l1":
        distances = math.sqrt(0.5) * absolute_distances(points, points)[:, pairs]
    else:
        distances = np.sqrt(0.5 * squared_distances(points, points)[:, pairs])
    distances[distances < _ROUNDED * distances.max(axis=1, keepdims=True)] = 0.0  # means of equal values
    distances.sort(axis=1)
    count = np.count_nonzero(distances, axis=1)
    first = distances.shape[1] - count  # zeros come before
    middle = np.minimum(first + np.stack([(count - 1) // 2, count // 2]), distances.shape[1] - 1)
    medians = np.take_along_axis(distances, middle.T, axis=1).mean(axis=1)
    return np.where(count > 0, medians, 1.0)
