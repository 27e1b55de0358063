"""The one pass over rows on a device: arrays of torch, CuPy and JAX stay where they are, and only moments come back.

What is written here once, for arrays of any library, is worked on by the library's own compiler of elementwise code
where there is one, as such code is bound by the memory of the device. Features have a few columns more than there are
points: the first is 1, so that the product of the features with themselves also holds their sums; the others are 0 and
fill the tiles of the product. From every feature a constant near its mean is taken first, which keeps the digits of
small variances.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from twosample.arrays import Array, Indices, doubles, float64, namespace, to_numpy
from twosample.data import Ranks, View
from twosample.data.categories import expanded
from twosample.engines.libraries import constant, free_memory, library_of
from twosample.engines.local import PairMoments, Tick, Volumes
from twosample.features import PointFeatures, StackFeatures, chains_of
from twosample.kernels import Kernel
from twosample.statistics import Moments

__all__ = ["column_moments", "pair_moments", "sample_moments", "stack_moments"]

# Rows of one product; the products of many such groups are one call.
_GROUP = 2048
# Features are padded to a multiple of this: the tiles of float64 products.
_TILE = 8
# From so many features on, to compile pays; below, torch works step by step.
_WORTH_COMPILING = 1 << 30
# Rows whose mean is taken from the features first.
_CENTER_ROWS = 128
# Of more columns the distances are added up one column after the other.
_MOST_FUSED_COLUMNS = 16
_MOST_ROWS, _FEWEST_ROWS = 1 << 22, 1 << 12


# ---- features of a block


def _run(values: Any, *centers: Any) -> tuple[Any, ...]:
    """The kernel at a lengthscale and at those that follow by division by √2, less the centers, each (n, S)."""
    found = [values - centers[0]]
    for center in centers[1:]:
        values = values * values
        found.append(values - center)
    return tuple(found)


def _from_rows(kernel: Kernel, rows: Any, points: Any, used: Any, *centers: Any) -> tuple[Any, ...]:
    """The same from rows (n, k) and points (S, k) in units of the first lengthscale; `used` is 0 beyond the points."""
    return _run(kernel.value(kernel.distances(rows, points) * used, 1.0), *centers)


class _Columns:
    """Columns of rows or points that stand for the whole of them in a function that CuPy compiles."""

    def __init__(self, columns: Sequence[Any]) -> None:
        self.shape, self._columns = (1, len(columns)), columns

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        return self._columns[key[-1]]


def _compiled_by_cupy(kernel: Kernel, k: int) -> Callable[..., Any]:
    """`_from_rows` for CuPy, whose compiler takes arrays that are broadcast, and no parts of them."""
    import cupy

    @cupy.fuse()  # type: ignore[untyped-decorator]
    def distances_of(*columns: Any) -> Any:
        return kernel.distances(_Columns(columns[:k]), _Columns(columns[k:-1])) * columns[-1]

    @cupy.fuse()  # type: ignore[untyped-decorator]
    def run_of(distances: Any, *centers: Any) -> Any:
        return _run(kernel.value(distances, 1.0), *centers)

    def from_rows(rows: Any, points: Any, used: Any, *centers: Any) -> Any:
        columns = [column[:, None] for column in cupy.ascontiguousarray(rows.T)]
        return run_of(distances_of(*columns, *(column[None, :] for column in points.T), used), *centers)

    return from_rows


def _compiled_by_torch(kernel: Kernel, k: int) -> Callable[..., Any]:
    import torch

    return torch.compile(partial(_from_rows, kernel), dynamic=False)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Block:
    """From a block of rows to the products FᵀF of its features, (m, S, S), for a kernel and runs of lengthscales."""

    kernel: Kernel
    columns: int
    runs: tuple[tuple[int, ...], ...]
    library: str

    @cached_property
    def _of_run(self) -> Callable[..., Any]:
        """`_from_rows`, made into one piece of code where the library can."""
        compiler = _COMPILERS.get(self.library)
        return partial(_from_rows, self.kernel) if compiler is None else compiler(self.kernel, self.columns)

    def features(self, rows: Any, points: Any, used: Any, lengthscales: Any, centers: Any) -> Iterator[tuple[int, Any]]:
        """Features (n, S) less their centers, with the index of the lengthscale."""
        few = self.columns <= _MOST_FUSED_COLUMNS
        distances = None if few else self.kernel.distances(rows, points) * used
        for run in self.runs:
            first, of_run = lengthscales[run[0]], [centers[index, :] for index in run]
            if few:
                values = self._of_run(rows / first, points / first, used, *of_run)
            else:
                values = _run(self.kernel.value(distances, first), *of_run)
            yield from zip(run, values, strict=True)

    def products(self, rows: Any, others: Any, ones: Any, *constants: Any) -> list[Any]:
        """Of the features of rows; or of pairs, of the differences of theirs, with the column of ones put back."""
        found: list[Any] = [None] * sum(map(len, self.runs))
        values = self.features(rows, *constants)
        if others is not None:
            pairs = zip(values, self.features(others, *constants), strict=True)
            values = ((index, one - other + ones) for (index, one), (_, other) in pairs)
        for index, of_rows in values:
            found[index] = _product(of_rows)
        return found


class _JaxBlock(_Block):
    """The same for JAX, which makes one piece of code of the features and the products of a run."""

    @cached_property
    def _products_of_run(self) -> Callable[..., Any]:
        import jax

        @jax.jit
        def of(rows: Any, points: Any, used: Any, *centers: Any) -> list[Any]:
            return [_product(values) for values in _from_rows(self.kernel, rows, points, used, *centers)]

        return of

    def products(self, rows: Any, others: Any, ones: Any, *constants: Any) -> list[Any]:
        """The products of a block."""
        if others is not None or self.columns > _MOST_FUSED_COLUMNS:
            return super().products(rows, others, ones, *constants)
        points, used, lengthscales, centers = constants
        found: list[Any] = [None] * sum(map(len, self.runs))
        for run in self.runs:
            first, of_run = lengthscales[run[0]], [centers[index, :] for index in run]
            products = self._products_of_run(rows / first, points / first, used, *of_run)
            for index, product in zip(run, products, strict=True):
                found[index] = product
        return found


_COMPILERS = {"torch": _compiled_by_torch, "cupy": _compiled_by_cupy}


@cache
def _block(kernel: Kernel, columns: int, runs: tuple[tuple[int, ...], ...], library: str) -> _Block:
    """A block whose code is compiled once for all."""
    return (_JaxBlock if library == "jax" else _Block)(kernel, columns, runs, library)


def _product(features: Any) -> Any:
    """FᵀF, (S, S), of features (n, S): of groups of rows, as one long product would leave most of the device idle."""
    xp = namespace(features)
    rows, width = features.shape
    whole = rows - rows % _GROUP
    parts = []
    if whole:
        first = features if whole == rows else features[:whole, :]  # JAX copies what is sliced
        parts.append(xp.sum(_gram(xp.reshape(first, (whole // _GROUP, _GROUP, width))), axis=0))
    if whole < rows:
        parts.append(_gram(features[whole:, :][None, ...])[0, ...])
    return parts[0] + parts[1] if len(parts) > 1 else parts[0]


def _gram(groups: Any) -> Any:
    """FᵀF of every group, (G, S, S), of features (G, c, S)."""
    if library_of(groups) != "cupy":
        xp = namespace(groups)
        return xp.matmul(xp.matrix_transpose(groups), groups)
    # CuPy's own product would copy the transposed groups.
    import cupy
    from cupy_backends.cuda.libs import cublas

    count, rows, width = groups.shape
    found, one, zero = cupy.empty((count, width, width)), np.ones(1), np.zeros(1)
    cublas.dgemmStridedBatched(
        cupy.cuda.device.get_cublas_handle(), cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T, width, width, rows,
        one.ctypes.data, groups.data.ptr, width, rows * width, groups.data.ptr, width, rows * width,
        zero.ctypes.data, found.data.ptr, width, width * width, count,
    )  # fmt: skip
    return found


# ---- moments


class _Test:
    """The moments of the features at given points, of rows that come in blocks."""

    def __init__(self, kernel: Kernel, points: Array, lengthscales: Array, like: Any, library: str) -> None:
        self.count, self.width = len(points), -(-(len(points) + 1) // _TILE) * _TILE
        self._given = points, lengthscales
        self._kernel, self._runs = kernel, tuple(map(tuple, chains_of(kernel, lengthscales)))
        self._library = library
        place = np.arange(self.width)
        padded = np.zeros((self.width, points.shape[1]))
        padded[: self.count] = points
        self._points, self._used, self._ones = (
            constant(values, like) for values in (padded, 1.0 * (place < self.count), 1.0 * (place == self.count))
        )
        self._lengthscales = constant(lengthscales, like)
        # The column of ones has distance 0 and so value 1; the others beyond the points lose theirs.
        self._centers = np.zeros((len(lengthscales), self.width))
        self._centers[:, self.count + 1 :] = 1.0
        self._on_device = constant(self._centers, like)
        self._rows, self._total = 0, list[Any]()

    @property
    def values_at_once(self) -> int:
        """Numbers that a row takes on the device while it is worked on."""
        return self.width * (max(map(len, self._runs)) + 3)

    def add(self, rows: Any, others: Any = None, *, compiled: bool = True) -> None:
        """Take in rows (n, k) as a view shows them, or pairs; `compiled` or step by step."""
        if not self._rows and others is None:
            self._find_centers(rows[: min(_CENTER_ROWS, rows.shape[0]), :])
        block = _block(self._kernel, rows.shape[1], self._runs, self._library if compiled else "other")
        found = block.products(rows, others, self._ones, self._points, self._used, self._lengthscales, self._on_device)
        self._total = [old + new for old, new in zip(self._total, found, strict=True)] if self._total else found
        self._rows += rows.shape[0]

    def _find_centers(self, rows: Any) -> None:
        """Take the means of a few rows, on the host, where that costs less than so many small steps on a device."""
        few = to_numpy(rows)
        features = PointFeatures(self._kernel, View.none(few.shape[1]), self._given[0], 1.0)
        for index, values in features.values(few, self._given[1]):
            self._centers[index, : self.count] = values.mean(axis=0)
        self._on_device = constant(self._centers, rows)

    def moments(self) -> Moments:
        """Of all rows so far, on the host, (m, s) and (m, s, s)."""
        n, s = self._rows, self.count
        if not n:
            return Moments(0, np.zeros((len(self._centers), s)), np.zeros((len(self._centers), s, s)))
        products = to_numpy(namespace(self._total[0]).stack(self._total))
        mean = products[:, :s, s] / n
        scatter = products[:, :s, :s] - n * (mean[:, :, None] * mean[:, None, :])
        return Moments(n, mean + self._centers[:, :s], scatter)


# Threads take turns: a device has its own ways to do many things at once, and memory for one block.
_turn = threading.Lock()


def _collect(
    tests: Sequence[tuple[_Test, Indices | slice]], view: View | Ranks, rows: Any, others: Any, tick: Tick | None
) -> None:
    """Go over rows (n, D), or pairs, block by block, for tests of some of the columns each."""
    library = library_of(rows)
    size = _rows_of_block(rows, max(test.values_at_once for test, _ in tests) * (1 if others is None else 2))
    for start in range(0, rows.shape[0], size):
        part = slice(start, min(start + size, rows.shape[0]))
        whole = part.stop - part.start == size  # code is compiled for this number of rows alone
        with _turn:
            block = [_seen(view, float64(one[part, :])) for one in (rows, others) if one is not None]
            for test, columns in tests:
                test.add(*(_columns_of(one, columns) for one in block), compiled=whole or library == "cupy")
        if tick is not None:
            tick(block[0].shape[0])


def _columns_of(rows: Any, columns: Indices | slice) -> Any:
    if isinstance(columns, slice):
        return rows[:, columns]
    return namespace(rows).stack([rows[:, int(column)] for column in columns], axis=1)


def _rows_of_block(rows: Any, values: int) -> int:
    """How many rows to work on at once: a power of two for which so many numbers each fit in the free memory."""
    fits = max(_FEWEST_ROWS, min(_MOST_ROWS, free_memory(rows) // (8 * values), rows.shape[0]))
    return int(1 << (fits.bit_length() - 1))


def _compiler(rows: Any, features: int) -> str:
    """Whose compiler to use: none where there is too little to do, as to compile takes seconds."""
    return library_of(rows) if rows.shape[0] * features >= _WORTH_COMPILING else "other"


def sample_moments(
    features: PointFeatures, samples: tuple[Any, ...], lengthscales: Array, tick: Tick | None = None
) -> list[Moments]:
    """As that of `local`, for rows on a device."""
    found = []
    for rows in samples:
        with doubles(rows):
            compiler = _compiler(rows, len(lengthscales) * features.count)
            test = _Test(features.kernel, features.points, lengthscales, rows, compiler)
            _collect([(test, slice(None))], features.view, rows, None, tick)
            found.append(test.moments())
    return found


def stack_moments(
    features: StackFeatures, x: Any, y: Any, *, paired: bool = False
) -> tuple[Moments | None, Moments | None, Moments | None]:
    """As that of `local`, for rows on a device."""

    def of(rows: Any, others: Any = None) -> Moments:
        with doubles(rows):
            compiler = _compiler(rows, len(features.multiples) * features.count * len(features.points))
            places = [features.view.places(columns[np.newaxis])[0] for columns in features.columns]
            tests = [
                _Test(features.kernel, points[:, : len(own)], typical * features.multiples, rows, compiler)
                for points, own, typical in zip(features.points, places, features.typical.tolist(), strict=True)
            ]
            _collect(list(zip(tests, places, strict=True)), features.view, rows, others, None)
            found = [test.moments() for test in tests]
        mean, scatter = (np.concatenate([getattr(one, name) for one in found]) for name in ("mean", "scatter"))
        return Moments(found[0].count, mean, scatter)

    return (None, None, of(x, y)) if paired else (of(x), of(y), None)


def pair_moments(
    features: PointFeatures,
    x: Any,
    y: Any,
    lengthscales: Array,
    volumes: Volumes | None = None,
    tick: Tick | None = None,
    *,
    halves: bool = True,
) -> PairMoments:
    """As that of `local`, for rows on a device, without halves and volumes, which only models with pairs need."""
    assert volumes is None and not halves
    with doubles(x):
        compiler = _compiler(x, len(lengthscales) * features.count)
        test = _Test(features.kernel, features.points, lengthscales, x, compiler)
        _collect([(test, slice(None))], features.view, x, y, tick and (lambda rows: tick(2 * rows)))
        return PairMoments(test.moments(), None, None, np.zeros(len(lengthscales)))


def column_moments(ranks: Ranks, rows: Any, others: Any = None) -> Moments:
    """As that of `local`, for rows on a device."""

    def seen(block: Any) -> Any:
        ones = None if ranks.heights is None else np.ones(len(ranks.heights))
        both = ((ranks.scores, ranks.heights), (ranks.levels, ones))
        return namespace(block).stack([_ranked(ranks, to, heights, block) for to, heights in both])

    shape = (2, ranks.width, 1)
    total = Moments(0, np.zeros(shape), np.zeros((*shape, 1)))
    with doubles(rows):
        size = _rows_of_block(rows, 8 * rows.shape[1])
        for start in range(0, rows.shape[0], size):
            part = slice(start, min(start + size, rows.shape[0]))
            first, *second = (float64(one[part, :]) for one in (rows, others) if one is not None)
            values = seen(first) - seen(second[0]) if second else seen(first)
            xp = namespace(values)
            mean = xp.mean(values, axis=1, keepdims=True)
            scatter = xp.sum((values - mean) ** 2, axis=1)
            found = Moments(first.shape[0], to_numpy(mean[:, 0, :])[..., None], to_numpy(scatter)[..., None, None])
            total = total.merge(found)
    return total


def _seen(view: View | Ranks, rows: Any) -> Any:
    """Rows (n, D) as a view shows them."""
    if isinstance(view, Ranks):
        return _ranked(view, view.scores, view.heights, rows)
    if view.sizes is None:
        return (rows - constant(view.center, rows)) / constant(view.scale, rows)
    scale = np.where(view.sizes == 0, view.scale, 1.0)
    return expanded(
        (rows - constant(view.center, rows)) / constant(scale, rows), view.sizes, view.heights, namespace(rows)
    )


def _ranked(ranks: Ranks, values: Array, heights: Array | None, rows: Any) -> Any:
    """Rows (n, D) as ranks show them, with these values at the knots and these heights of codes."""
    if ranks.sizes is None or heights is None:
        return _interpolated(ranks.knots, values, rows)
    xp, numbers = namespace(rows), np.flatnonzero(ranks.sizes == 0)
    columns = [rows[:, column] for column in range(rows.shape[1])]
    if numbers.size:
        found = _interpolated(
            ranks.knots[:, numbers], values[:, numbers], xp.stack([columns[at] for at in numbers], axis=1)
        )
        for place, column in enumerate(numbers.tolist()):
            columns[column] = found[:, place]
    return expanded(xp.stack(columns, axis=1), ranks.sizes, heights, xp)


def _interpolated(knots: Array, values: Array, rows: Any) -> Any:
    """Columns of rows (n, D) through piecewise linear maps with these knots (K, D); as NumPy's interp, (n, D)."""
    xp = namespace(rows)
    found = []
    for column in range(knots.shape[1]):
        at, to = constant(knots[:, column], rows), constant(values[:, column], rows)
        here = xp.asarray(rows[:, column], copy=True)  # one piece of memory
        right = xp.clip(xp.searchsorted(at, here, side="right"), 1, len(knots) - 1)
        left = right - 1
        low, high, start, end = (xp.take(one, place) for one in (at, to) for place in (left, right))
        wide = high > low
        share = xp.where(wide, (here - low) / xp.where(wide, high - low, 1.0), 1.0)
        found.append(start + xp.clip(share, 0.0, 1.0) * (end - start))
    return xp.stack(found, axis=1)
