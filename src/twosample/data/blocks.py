"""Data that are read block by block, as often as needed, and never held whole."""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import on_device
from twosample.common.frames import needed
from twosample.errors import InputError, InputTypeError

__all__ = ["Block", "Blocks", "as_blocks", "block_rows", "blocks", "dask_blocks", "is_dask", "whole"]

# Rows and values of a block: its rows as float64 are at most 8 MB.
_MOST_ROWS = 1 << 16
_MOST_VALUES = 1 << 20
# Values of a table that a question which needs all rows at once reads into memory: 1 GiB of float64.
_MOST_VALUES_WHOLE = 1 << 27


def block_rows(n_columns: int) -> int:
    """The number of rows of a block, for a table with this number of columns.

    Examples
    --------
    >>> block_rows(10), block_rows(1024)
    (65536, 1024)
    """
    return max(1, min(_MOST_ROWS, _MOST_VALUES // max(n_columns, 1)))


class Block(NamedTuple):
    """Some rows: what holds them, how many rows of the caller's block come before, and the number of that.

    The number is None where the caller did not make blocks.
    """

    values: Any
    first: int
    number: int | None


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table in blocks, which may be larger than memory. Made by `twosample.blocks`.

    Attributes
    ----------
    source
        A function that returns the blocks, or a tuple of them.
    by_caller
        Whether the caller made the blocks.
    takes_columns
        Whether the function takes the names of the columns that are needed (`columns`), so that others are not read.
    """

    source: Callable[..., Iterable[object]] | tuple[object, ...]
    by_caller: bool = field(default=True, repr=False)
    takes_columns: bool = field(default=False, repr=False)

    def __iter__(self) -> Iterator[Any]:
        """The blocks, from the first on."""
        return iter(self.source() if callable(self.source) else self.source)

    def only(self, columns: tuple[str, ...]) -> Blocks:
        """The same, without a need for other columns."""
        if not self.takes_columns or not callable(self.source):
            return self
        return replace(self, source=partial(self.source, columns=columns))

    def pieces(self) -> Iterator[Block]:
        """The rows, in pieces that fit in memory."""
        first = 0
        for number, block in enumerate(self):
            first = 0 if self.by_caller else first
            inner = None
            if not on_device(block):
                inner = as_blocks(Path(block) if isinstance(block, str) else block, paths=True)
            for values in (block,) if inner is None else (piece.values for piece in inner.pieces()):
                for rows, height in _sliced(values):
                    yield Block(rows, first, number if self.by_caller else None)
                    first += height


def blocks(source: object) -> Blocks:
    """A sample in blocks, for `test`, `test_each`, `log_bf10` and `plan` of data that are larger than memory.

    Parameters
    ----------
    source
        A function that returns the blocks one after the other, and is called once for each pass over the data; or a
        list of blocks. A block is whatever `test` takes: an array, a data frame of any library, a lazy frame, a
        memory map; or the path of a file, of a folder of Parquet parts, or a pattern of these.

    Returns
    -------
    Blocks
        To be given to one of them in place of a sample.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> def days(month, shift):
    ...     for day in range(30):
    ...         yield np.random.default_rng([month, day]).normal(shift, 1, size=(20, 2))
    >>> result = ts.test(ts.blocks(lambda: days(5, 0.0)), ts.blocks(lambda: days(6, 0.5)))
    >>> result.n_x, result.log_bf10 > 10
    (600, True)
    """
    if isinstance(source, Blocks):
        return source
    if isinstance(source, str | Path):
        return Blocks((source,))
    if isinstance(source, list | tuple):
        if not source:
            raise InputError("source: there are no blocks", argument="source", remedy="pass at least one")
        return Blocks(tuple(source))
    if hasattr(source, "__next__"):
        raise InputTypeError(
            f"source: a {type(source).__name__} can be read only once, and the data are read at least twice",
            argument="source",
            remedy="pass the function that makes it, as in blocks(lambda: make_blocks())",
        )
    if callable(source):
        return Blocks(source)
    raise InputTypeError(
        f"source: expected a function that returns blocks, or a list of them, got {type(source).__name__}",
        argument="source",
    )


def is_dask(values: Any) -> bool:
    """Whether something is a collection of Dask, which is not imported for that."""
    if type(values).__module__.partition(".")[0] not in ("dask", "dask_expr"):
        return False
    from dask.base import is_dask_collection

    return bool(is_dask_collection(values))


def dask_blocks(values: Any) -> Blocks:
    """The partitions of a Dask collection as blocks, each computed when it is read."""
    if hasattr(values, "partitions"):
        return Blocks(lambda: (part.compute() for part in values.partitions), by_caller=False)
    rows = values if values.ndim < 2 else values.rechunk({1: -1})
    return Blocks(lambda: (rows.blocks[number].compute() for number in range(rows.numblocks[0])), by_caller=False)


def whole(source: Blocks, name: str) -> Any:
    """All rows of a table in blocks as one array or data frame, for questions that need all of them at once."""
    found: list[Any] = []
    count = 0
    for piece in source.pieces():
        values = piece.values if hasattr(piece.values, "shape") else np.asarray(piece.values)
        count += math.prod(values.shape)
        if count > _MOST_VALUES_WHOLE:
            raise InputError(
                f"{name} has more than {_MOST_VALUES_WHOLE:,} values, and this question needs all rows in memory",
                argument=name,
                remedy="pass a sample of the rows; test, test_each, log_bf10 and plan read them block by block",
            )
        found.append(values)
    if not found:
        raise InputError(f"{name} has no rows", argument=name)
    if isinstance(found[0], np.ndarray) or on_device(found[0]):
        return np.concatenate([np.asarray(one) for one in found])
    import narwhals as nw

    return nw.concat([nw.from_native(one, eager_only=True) for one in found]).to_native()


def as_blocks(values: Any, *, paths: bool = False) -> Blocks | None:
    """What is read block by block: blocks, memory maps, arrays on a device, lazy frames of polars, Arrow datasets.

    None for others; a path is only where `paths` says so.
    """
    if isinstance(values, Blocks):
        return values
    kind = type(values)
    made: Callable[[], Iterator[Any]]
    if on_device(values):
        return Blocks((values,), by_caller=False)
    if isinstance(values, np.ndarray):
        if _mapping(values) is None:
            return None
        made = partial(_of_memory_map, values)
    elif isinstance(values, Path) and paths:
        from twosample.data.files.parquet import blocks_of

        made = partial(blocks_of, values)
    elif kind.__module__.startswith("polars.") and kind.__name__ == "LazyFrame":
        made = partial(_of_lazy_frame, values)
    elif kind.__module__.startswith("narwhals.") and kind.__name__ == "LazyFrame":
        return as_blocks(values.to_native())
    elif kind.__module__.startswith("pyarrow.") and hasattr(values, "get_fragments"):
        made = partial(_of_dataset, values)
    else:
        return None
    return Blocks(made, by_caller=False, takes_columns=not isinstance(values, np.ndarray | Path))


def _of_lazy_frame(frame: Any, columns: tuple[str, ...] | None = None) -> Iterator[Any]:
    """Batches of a lazy frame of polars; before polars had these, slices."""
    names = needed(frame.collect_schema().names(), columns)
    size, frame = block_rows(len(names)), frame.select(names)
    if hasattr(frame, "collect_batches"):
        yield from frame.collect_batches(chunk_size=size)
        return
    import polars as pl

    for start in range(0, frame.select(pl.len()).collect().item(), size):
        yield frame.slice(start, size).collect()


def _of_dataset(dataset: Any, columns: tuple[str, ...] | None = None) -> Iterator[Any]:
    names = needed(dataset.schema.names, columns)
    # Reading further ahead, as is the default, takes hundreds of megabytes.
    how = {"batch_size": block_rows(len(names)), "batch_readahead": 0, "fragment_readahead": 0}
    if getattr(getattr(dataset, "format", None), "default_extname", "") == "parquet":
        from pyarrow.dataset import ParquetFragmentScanOptions

        how["fragment_scan_options"] = ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    yield from dataset.to_batches(columns=names, **how)


def _mapping(array: NDArray[Any]) -> mmap.mmap | None:
    """The mapped file that an array is a view of."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _of_memory_map(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Its rows, copied block by block, each out of memory again before the next is read."""
    mapping = _mapping(array)
    # Pages of a private copy would lose what was written to them.
    may_go = hasattr(mmap, "MADV_DONTNEED") and getattr(array, "mode", "c") != "c"
    size = block_rows(array.shape[1] if array.ndim > 1 else 1)
    for start in range(0, len(array), size) if array.ndim else (0,):
        yield np.array(array[start : start + size] if array.ndim else array)
        if may_go and mapping is not None:
            mapping.madvise(mmap.MADV_DONTNEED)


def _sliced(values: Any) -> Iterator[tuple[Any, int]]:
    """A block with the number of its rows; one without any is nothing, and a long array several."""
    if type(values).__name__ == "RecordBatch":
        import pyarrow as pa

        values = pa.Table.from_batches([values])
    shape = getattr(values, "shape", None)
    height = shape[0] if shape else len(values) if hasattr(values, "__len__") else 1
    size = block_rows(shape[1] if shape and len(shape) > 1 else 1)
    if isinstance(values, np.ndarray) and height > size:
        for start in range(0, height, size):
            rows = values[start : start + size]
            yield rows, len(rows)
    elif height:
        yield values, height
