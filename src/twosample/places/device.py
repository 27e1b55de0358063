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
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from twosample.common.arrays import Array, Indices, doubles, float64, library_of, namespace, to_numpy
from twosample.data import Ranks, View
from twosample.data.categories import expanded
from twosample.features.maps import PointFeatures, StackFeatures, chains_of
from twosample.features.statistics import Moments
from twosample.kernels import Kernel
from twosample.places.libraries import constant, free_memory
from twosample.places.local import PairMoments, Tick, Volumes, joined

__all__ = ["column_moments", "pair_moments", "sample_moments", "stack_moments"]

# Rows of one product; the products of many such groups are one call.
_GROUP = 4096
# Features are padded to a multiple of this: the tiles of float64 products.
_TILE = 4
# Compiling pays from this number of features on; below, torch works step by step.
_WORTH_COMPILING = 1 << 30
# Rows whose mean is taken from the features first.
_CENTER_ROWS = 128
# Features that one piece of code writes, where more are slower.
_MOST_AT_ONCE = {"jax": 4}
# Of more columns the distances are added up one column after the other.
_MOST_FUSED_COLUMNS = 16
_MOST_ROWS, _FEWEST_ROWS = 1 << 22, 1 << 12


# ---- features of a block


def _distances(kernel: Kernel, rows: Any, points: Any, used: Any) -> Any:
    """What the kernel is a function of, (n, S); `used` is 0 beyond the points."""
    return kernel.distances(rows, points) * used


def _run(kernel: Kernel, distances: Any, lengthscale: Any, *centers: Any) -> tuple[Any, ...]:
    """The kernel at a lengthscale and at those that follow by squaring, less the centers, each (n, S)."""
    values = kernel.value(distances, lengthscale)
    found = [values - centers[0]]
    for center in centers[1:]:
        values = values * values
        found.append(values - center)
    return tuple(found)


class _Columns:
    """Columns of rows or points that stand for the whole of them in a function that CuPy compiles."""

    def __init__(self, columns: Sequence[Any]) -> None:
        self.shape, self._columns = (1, len(columns)), columns

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        return self._columns[key[-1]]


class _Code(NamedTuple):
    """What is worked on by the compiler of a library: `_distances`, `_run` and `_product`."""

    distances: Callable[..., Any]
    run: Callable[..., Any]
    product: Callable[[Any], Any]


def _step_by_step(kernel: Kernel, k: int) -> _Code:
    return _Code(partial(_distances, kernel), partial(_run, kernel), _product)


def _compiled_by_torch(kernel: Kernel, k: int) -> _Code:
    import torch

    compiled = partial(torch.compile, dynamic=False)
    return _Code(compiled(partial(_distances, kernel)), compiled(partial(_run, kernel)), _product)


def _compiled_by_jax(kernel: Kernel, k: int) -> _Code:
    # Features that leave a function are written in one go; those that are used within it are made one by one.
    import jax

    return _Code(jax.jit(partial(_distances, kernel)), jax.jit(partial(_run, kernel)), jax.jit(_product))


def _compiled_by_cupy(kernel: Kernel, k: int) -> _Code:
    """For CuPy, whose compiler takes arrays that are broadcast, and no parts of them."""
    import cupy

    @cupy.fuse()  # type: ignore[untyped-decorator]
    def of_columns(*columns: Any) -> Any:
        return _distances(kernel, _Columns(columns[:k]), _Columns(columns[k:-1]), columns[-1])

    @cupy.fuse()  # type: ignore[untyped-decorator]
    def run(distances: Any, lengthscale: Any, *centers: Any) -> Any:
        return _run(kernel, distances, lengthscale, *centers)

    def distances(rows: Any, points: Any, used: Any) -> Any:
        columns = [column[:, None] for column in cupy.ascontiguousarray(rows.T)]
        return of_columns(*columns, *(column[None, :] for column in points.T), used)

    return _Code(distances, run, _product)


_COMPILERS = {"torch": _compiled_by_torch, "cupy": _compiled_by_cupy, "jax": _compiled_by_jax}


@cache
def _code(kernel: Kernel, columns: int, library: str) -> _Code:
    """Code that is compiled once for all blocks."""
    if library == "cupy" and kernel.kinds > 1:  # CuPy does not stack arrays in what it compiles
        library = "other"
    code = _COMPILERS.get(library, _step_by_step)(kernel, columns)
    if columns > _MOST_FUSED_COLUMNS:
        code = code._replace(distances=partial(_distances, kernel))
    return code


def _product(features: Any) -> Any:
    """FᵀF, (S, S), of features (n, S), in groups of rows: one long product would leave most of the device idle."""
    xp = namespace(features)
    rows, width = features.shape
    whole = rows - rows % _GROUP
    parts = []
    if whole:
        first = features if whole == rows else features[:whole, :]  # JAX copies what is sliced
        parts.append(_gram(xp.reshape(first, (whole // _GROUP, _GROUP, width))))
    if whole < rows:
        parts.append(_gram(features[whole:, :][None, ...]))
    sums = [xp.sum(one, axis=0, dtype=xp.float64) for one in parts]
    return sums[0] + sums[1] if len(sums) > 1 else sums[0]


def _gram(groups: Any) -> Any:
    """FᵀF of every group, (G, S, S), of features (G, c, S)."""
    if library_of(groups) != "cupy":
        xp = namespace(groups)
        return xp.matmul(xp.matrix_transpose(groups), groups)
    # CuPy's own product would copy the transposed groups.
    import cupy
    from cupy_backends.cuda.libs import cublas

    count, rows, width = groups.shape
    found = cupy.empty((count, width, width), dtype=groups.dtype)
    one, zero = np.ones(1, dtype=groups.dtype), np.zeros(1, dtype=groups.dtype)
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
        self._kernel, self._library = kernel, library
        chains = chains_of(kernel, lengthscales)
        most = _MOST_AT_ONCE.get(library, len(lengthscales))
        self._runs = [tuple(run[first : first + most]) for run in chains for first in range(0, len(run), most)]
        place = np.arange(self.width)
        padded = np.zeros((self.width, points.shape[1]))
        padded[: self.count] = points
        self._points = constant(padded, like)
        self._used = constant(1.0 * (place < self.count), like)
        self._ones = constant(1.0 * (place == self.count), like)
        # CuPy compiles code for numbers, the others for arrays of one number.
        self._lengthscales = lengthscales.tolist() if library_of(like) == "cupy" else constant(lengthscales, like)
        # The column of ones has distance 0 and so value 1; the others beyond the points lose theirs.
        self._centers = np.zeros((len(lengthscales), self.width))
        self._centers[:, self.count + 1 :] = 1.0
        self._on_device = constant(self._centers, like)
        self._rows = 0
        self._total: list[Any] = [None] * len(lengthscales)  # FᵀF for every lengthscale

    @property
    def values_at_once(self) -> int:
        """Numbers that a row takes on the device while it is worked on."""
        return self.width * (max(8, *map(len, self._runs)) + 3)

    def add(self, rows: Any, others: Any = None, *, compiled: bool = True) -> None:
        """Take in rows (n, k) as a view shows them, or pairs; `compiled` or step by step."""
        if not self._rows and others is None:
            self._find_centers(rows[: min(_CENTER_ROWS, rows.shape[0]), :])
        code = _code(self._kernel, rows.shape[1], self._library if compiled else "other")
        values = self._features(code, rows)
        if others is not None:  # the difference has lost the column of ones
            pairs = zip(values, self._features(code, others), strict=True)
            values = ((index, one - other + self._ones) for (index, one), (_, other) in pairs)
        for index, of_rows in values:
            found = code.product(of_rows)
            self._total[index] = found if self._total[index] is None else self._total[index] + found
        self._rows += rows.shape[0]

    def _features(self, code: _Code, rows: Any) -> Iterator[tuple[int, Any]]:
        """Features (n, S) of rows less their centers, with the index of the lengthscale."""
        distances = code.distances(rows, self._points, self._used)
        for run in self._runs:
            values = code.run(distances, self._lengthscales[run[0]], *(self._on_device[index, :] for index in run))
            yield from zip(run, values if isinstance(values, tuple | list) else (values,), strict=True)

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
    """The number of rows of a block: a power of two for which `values` numbers each fit in the free memory."""
    fits = max(_FEWEST_ROWS, min(_MOST_ROWS, free_memory(rows) // (8 * values), rows.shape[0]))
    return int(1 << (fits.bit_length() - 1))


def _compiler(rows: Any, features: int) -> str:
    """Whose compiler to use: none where there is too little to do, as to compile takes seconds."""
    return library_of(rows) if rows.shape[0] * features >= _WORTH_COMPILING else "other"


def sample_moments(
    features: PointFeatures, samples: tuple[Any, ...], lengthscales: Array, tick: Tick | None = None
) -> list[Moments]:
    """As that of `local`, for rows on a device."""
    return [_moments(features, rows, None, lengthscales, tick) for rows in samples]


def _moments(features: PointFeatures, rows: Any, others: Any, lengthscales: Array, tick: Tick | None) -> Moments:
    with doubles(rows):
        compiler = _compiler(rows, len(lengthscales) * features.count)
        test = _Test(features.kernel, features.points, lengthscales, rows, compiler)
        _collect([(test, slice(None))], features.view, rows, others, tick)
        return test.moments()


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
            return joined([test.moments() for test in tests])

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
    differences = _moments(features, x, y, lengthscales, tick and (lambda rows: tick(2 * rows)))
    return PairMoments(differences, None, None, np.zeros(len(lengthscales)))


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
