"""The one pass over rows in memory: in blocks that stay in the cache, in threads, the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.common.threads import in_order
from twosample.data import Ranks
from twosample.features.maps import FeatureMap, StackFeatures
from twosample.features.statistics import Moments

__all__ = [
    "PairMoments",
    "Volumes",
    "column_moments",
    "joined",
    "pair_moments",
    "sample_moments",
    "stack_moments",
    "weighted_sums",
]

Tick = Callable[[int], object]

# Rows in a block: its features stay in the cache (2,048 rows × 40 points are 640 kB).
BLOCK_ROWS = 2048
# Rows in a block where each has many weights.
_WEIGHTED_ROWS = 512
# Values of features that a stack of tests has at the same time.
_STACK_VALUES = 1 << 17
# Large samples are worked on in this many parts, in threads.
_PARTS = 16


def _over(
    rows: tuple[int, int], found: Callable[[slice], Iterable[tuple[int, Array]]], shape: tuple[int, ...]
) -> Moments:
    """Moments (..., m, s) of the features (..., rows, s) that are found in a block of the rows for each lengthscale."""
    total = Moments(0, np.zeros(shape), np.zeros((*shape, shape[-1])))
    for block in _blocks(*rows):
        count = block.stop - block.start
        mean, scatter, ones = np.empty(shape), np.empty((*shape, shape[-1])), np.ones(count)
        for index, values in found(block):
            mean[..., index, :] = center = ones @ values / count
            centered = values - center[..., np.newaxis, :]
            scatter[..., index, :, :] = centered.swapaxes(-1, -2) @ centered
        total = total.merge(Moments(count, mean, scatter))
    return total


def sample_moments(
    features: FeatureMap, samples: tuple[Array, ...], lengthscales: Array, tick: Tick | None = None
) -> list[Moments]:
    """Moments of the features of each sample, (n, D) in the units of the data.

    `tick` is called with the number of rows just done, for progress bars.
    """

    def of_part(task: tuple[int, tuple[int, int]]) -> Moments:
        sample, part = samples[task[0]], task[1]
        shape = len(lengthscales), features.count
        return _over(part, lambda block: features.values(sample[block], lengthscales), shape)

    tasks = [(number, part) for number, rows in enumerate(samples) for part in _parts(len(rows))]
    parts: list[list[Moments]] = [[] for _ in samples]
    results = in_order(of_part, tasks) if len(tasks) > len(samples) else map(of_part, tasks)
    for (number, (first, last)), moments in zip(tasks, results, strict=True):
        parts[number].append(moments)
        if tick is not None:
            tick(last - first)
    return [reduce(Moments.merge, moments) for moments in parts]


def stack_moments(
    features: StackFeatures, x: Array, y: Array, *, paired: bool = False
) -> tuple[Moments | None, Moments | None, Moments | None]:
    """Moments for a stack of tests: of x and of y, or of pairs those of the differences, (P·m, s) and (P·m, s, s).

    Rows are (n, D) in the units of the data. The tests are worked on a few at a time, so that their features stay in
    the cache, in threads where there are many.
    """
    rows = min(BLOCK_ROWS, max(len(x), len(y), 1))
    size = max(1, _STACK_VALUES // (rows * features.count))
    tasks = [slice(first, first + size) for first in range(0, len(features.points), size)]

    def of_tests(tests: slice) -> list[Moments]:
        chosen = features.select(tests)
        return [_stacked(chosen, rows) for rows in ([(x, y)] if paired else [(x,), (y,)])]

    found = [joined(moments) for moments in zip(*in_order(of_tests, tasks), strict=True)]
    return (None, None, found[0]) if paired else (found[0], found[1], None)


def weighted_sums(
    features: FeatureMap | StackFeatures,
    samples: tuple[Array, ...],
    lengthscales: Array,
    weights: Callable[[slice], Array],
    center: Array | None = None,
) -> Array:
    """Weighted sums of the features over the rows, for B weights of each row, (m, B, s).

    `samples` are rows (n, D) in the units of the data, or both rows of every pair, whose differences of features are
    summed; the lengthscales of a stack are those of all its tests. `weights` gives those of a block of the rows,
    (B, rows), and `center`, (m, s), is subtracted from the features of single rows.
    """
    stack = (len(features.points),) if isinstance(features, StackFeatures) else ()
    shape = (*stack, len(lengthscales) // math.prod(stack))
    centers = None if center is None else center.reshape(*shape, 1, -1)
    sums: Array | None = None
    for start in range(0, len(samples[0]), _WEIGHTED_ROWS):
        block = slice(start, min(start + _WEIGHTED_ROWS, len(samples[0])))
        of_rows = weights(block)
        if sums is None:
            sums = np.zeros((*shape, len(of_rows), features.count))
        each = [
            features.values(rows[block])
            if isinstance(features, StackFeatures)
            else features.values(rows[block], lengthscales)
            for rows in samples
        ]
        for (index, values), *others in zip(*each, strict=True):
            if others:
                values = values - others[0][1]
            elif centers is not None:
                values = values - centers[..., index, :, :]
            sums[..., index, :, :] += of_rows @ values
    assert sums is not None
    return sums.reshape(len(lengthscales), -1, features.count)


def column_moments(ranks: Ranks, rows: Array, others: Array | None = None) -> Moments:
    """Moments of the normal scores and of the levels of every column, (2, D, 1), or of pairs those of differences.

    Of categories those of each code.
    """
    total = Moments(0, np.zeros((2, ranks.width, 1)), np.zeros((2, ranks.width, 1, 1)))
    for part in _blocks(0, len(rows)):
        values = np.stack([ranks.apply(rows[part]), ranks.shares(rows[part])])
        if others is not None:
            values -= np.stack([ranks.apply(others[part]), ranks.shares(others[part])])
        mean = values.mean(axis=1)
        scatter = np.square(values - mean[:, np.newaxis]).sum(axis=1)
        total = total.merge(Moments(values.shape[1], mean[..., np.newaxis], scatter[..., np.newaxis, np.newaxis]))
    return total


def _stacked(features: StackFeatures, samples: tuple[Array, ...]) -> Moments:
    """Moments of the rows of a sample, or of the differences of two, for all tests."""

    def found(block: slice) -> Iterator[tuple[int, Array]]:
        for (index, values), *others in zip(*(features.values(rows[block]) for rows in samples), strict=True):
            yield index, values - others[0][1] if others else values

    s = features.count
    total = _over((0, len(samples[0])), found, (len(features.points), len(features.multiples), s))
    return Moments(total.count, total.mean.reshape(-1, s), total.scatter.reshape(-1, s, s))


def joined(parts: Sequence[Moments]) -> Moments:
    """Moments of the same rows for all tests together."""
    if len(parts) == 1:
        return parts[0]
    mean, scatter = (np.concatenate([getattr(part, name) for part in parts]) for name in ("mean", "scatter"))
    return Moments(parts[0].count, mean, scatter)


def _blocks(first: int, last: int) -> list[slice]:
    return [slice(start, min(start + BLOCK_ROWS, last)) for start in range(first, last, BLOCK_ROWS)]


@dataclass(frozen=True, eq=False)
class Volumes:
    """Which volumes of Jacobians to add up: those of the flagged pairs (n,), or upper bounds, which are cheaper."""

    usable: NDArray[np.bool_]
    bounds: bool = False

    def of(self, jacobians: Any, rows: slice) -> Callable[[float, tuple[Array, Array]], float]:
        """The sum over a block of the pairs, at a lengthscale and of features of both rows."""
        find = jacobians.log_volume_bounds if self.bounds else jacobians.log_volumes
        return lambda lengthscale, features: float(find(lengthscale, features)[self.usable[rows]].sum())


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Moments of the differences of pairs, and of their halves; the sum of log volumes (m,), 0 if not wanted."""

    differences: Moments
    x: Moments | None
    y: Moments | None
    log_volume: Array


def pair_moments(
    features: FeatureMap,
    x: Array,
    y: Array,
    lengthscales: Array,
    volumes: Volumes | None = None,
    tick: Tick | None = None,
    *,
    halves: bool = True,
) -> PairMoments:
    """Moments of paired rows (n, D) each, also of their `halves` where these are wanted; `tick` as for samples."""
    kinds = 3 if halves else 1

    def of_part(part: tuple[int, int]) -> tuple[Moments, Array]:
        log_volume = np.zeros(len(lengthscales))

        def found(block: slice) -> Iterator[tuple[int, Array]]:
            volume = None if volumes is None else volumes.of(features.jacobians(x[block], y[block]), block)
            both = zip(features.values(x[block], lengthscales), features.values(y[block], lengthscales), strict=True)
            for (index, values), (_, other) in both:
                if volume is not None:
                    log_volume[index] += volume(float(lengthscales[index]), (values, other))
                yield index, np.stack((values - other, values, other)[:kinds])

        return _over(part, found, (kinds, len(lengthscales), features.count)), log_volume

    tasks = _parts(len(x))
    total, log_volumes = Moments(0, np.zeros(0), np.zeros(0)), np.zeros(len(lengthscales))
    for (first, last), (moments, log_volume) in zip(tasks, in_order(of_part, tasks), strict=True):
        total, log_volumes = total.merge(moments), log_volumes + log_volume
        if tick is not None:
            tick(2 * (last - first))
    differences, *of_halves = (Moments(total.count, *one) for one in zip(total.mean, total.scatter, strict=True))
    of_x, of_y = of_halves or (None, None)
    return PairMoments(differences, of_x, of_y, log_volumes)


def _parts(n: int) -> list[tuple[int, int]]:
    """Ranges of rows to work on at the same time; the same on every machine, so that the answer is too."""
    blocks = -(-n // BLOCK_ROWS)
    count = _PARTS if blocks >= 4 * _PARTS else 1
    bounds = [min(n, BLOCK_ROWS * (blocks * part // count)) for part in range(count + 1)]
    return list(pairwise(bounds))
