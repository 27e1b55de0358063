"""Dask collections as partitions: which rows they have, and how those of both samples go together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from twosample.common.frames import needed
from twosample.data import Choice
from twosample.data.blocks import Blocks, as_blocks, block_rows, is_dask
from twosample.data.complete import check_pairs
from twosample.data.parts import Counts, Sources
from twosample.errors import InputError, InputTypeError
from twosample.places.dask.tasks import compute_all, height, lend, task

__all__ = [
    "Piece", "cut_alike", "given", "in_order", "known_counts", "lent", "partitions_of", "pieces",
    "without_labels",
]  # fmt: skip

# Blocks in a part of an array that is sent whole.
_SENT_BLOCKS = 32


@dataclass(frozen=True, eq=False)
class Piece:
    """A partition of x, one of y, or one of each where they are pairs; all delayed."""

    partitions: tuple[Any, Any]
    number: int  # for messages
    labels: Any = None  # those of its rows, where they were given as a list


def given(source: Blocks) -> Any:
    """What was given as a sample."""
    return source.source[0] if isinstance(source.source, tuple) and not source.by_caller else source


def _is_array(values: Any) -> bool:
    return is_dask(values) and type(values).__module__.startswith("dask.array")


def partitions_of(values: Any, sources: Sources, name: str) -> list[Any]:
    """The partitions, delayed; of an array each has all columns."""
    if _is_array(values):
        whole = values.rechunk(dict.fromkeys(range(1, values.ndim), -1)) if values.ndim > 1 else values
        return list(whole.to_delayed().ravel().tolist())
    if is_dask(values):
        if not type(values).__module__.startswith(("dask.dataframe", "dask_expr")):
            raise InputTypeError(
                f"{name}: expected a Dask array or data frame, got {type(values).__name__} of Dask",
                argument=name,
                remedy="make it one, as with its to_dataframe",
            )
        names, used = list(getattr(values, "columns", ())), sources.choice.needed
        if names and used is not None and all(isinstance(column, str) for column in names):
            values = values[needed(names, used)]
        return list(values.to_delayed())
    if as_blocks(values) is not None:
        raise InputTypeError(
            f"{name} is in blocks and the other sample is a Dask collection",
            argument=name,
            remedy="make both Dask collections",
        )
    if isinstance(values, np.ndarray) and values.ndim and not sources.paired:
        size = _SENT_BLOCKS * block_rows(values.shape[1] if values.ndim > 1 else 1)
        return [lend(values[start : start + size]) for start in range(0, max(len(values), 1), size)]
    return [lend(values)]


def cut_alike(x: Any, y: Any) -> list[Any]:
    """Two samples of pairs, the second cut where the first is, if that can be done."""
    cuts = _known_heights(x), _known_heights(y)
    if None in cuts or cuts[0] == cuts[1] or len(x) != len(y):
        return [x, y]
    return [x, y.rechunk({0: x.chunks[0]})]


def pieces(samples: list[Any], parts: list[list[Any]], sources: Sources) -> list[Piece]:
    """The partitions of both samples, in the order of their rows."""
    labels = sources.choice.by if sources.choice.by_column is None else None
    if sources.paired and len(parts) == 2:
        x_heights, y_heights = map(_heights, samples, parts)
        check_pairs(sum(x_heights), sum(y_heights))
        if x_heights != y_heights:
            raise InputError(
                "paired: the partitions of x and y have different numbers of rows",
                argument="paired",
                remedy="give both the same partitions",
            )
        return [Piece(both, number) for number, both in enumerate(zip(*parts, strict=True))]
    of_labels: list[Any] = [None] * len(parts[0])
    if isinstance(labels, list):
        heights = _heights(samples[0], parts[0])
        starts = list(accumulate(heights, initial=0))
        if starts[-1] != len(labels):
            raise InputError(
                f"by: has {len(labels)} labels for {starts[-1]} rows", argument="by", remedy="give one for each row"
            )
        of_labels = [lend(labels[start : start + height]) for start, height in zip(starts, heights, strict=False)]
    return [
        Piece((None, partition) if sample else (partition, None), number, None if sample else of_labels[number])
        for sample, partitions in enumerate(parts)
        for number, partition in enumerate(partitions)
    ]


def lent(sources: Sources) -> Sources:
    """What tasks need to know, without data."""
    nothing = Blocks((), by_caller=False)
    y = None if sources.y is None else nothing
    return replace(sources, x=nothing, y=y, choice=without_labels(sources.choice))


def without_labels(choice: Choice) -> Choice:
    """The choice without the labels of all rows; each partition is given its own."""
    return replace(choice, by=[]) if isinstance(choice.by, list) else choice


def _heights(values: Any, partitions: list[Any]) -> list[int]:
    """How many rows the partitions have."""
    known = _known_heights(values)
    return compute_all([task(height)(partition) for partition in partitions]) if known is None else known


def _known_heights(values: Any) -> list[int] | None:
    """The sizes of the chunks of an array that has such."""
    if not _is_array(values) or values.ndim not in (1, 2) or np.isnan(values.chunks[0]).any():
        return None
    return [int(size) for size in values.chunks[0]]


def known_counts(samples: list[Any], paired: bool) -> list[Counts] | None:
    """What is known of arrays before they are read; rows that lack a value are refused later."""
    counts = []
    for sample, values in enumerate(samples[:1] if paired else samples):
        known = _known_heights(values)
        if known is None:
            return None
        counts += [Counts([n, n] if paired else [0, n] if sample else [n, 0], [0, 0], 0, {}) for n in known]
    return counts


def in_order(counts: list[Counts], choice: Choice) -> list[Counts]:
    """The counts with the groups in one order: where they were not named, each partition has them in its own."""
    if choice.by is None or choice.groups is not None:
        return counts
    order = dict.fromkeys(group for found in counts for group in found.groups)
    first = list(order)[:2]
    placed = []
    for found in counts:
        here = [list(found.groups).index(group) if group in list(found.groups)[:2] else None for group in first]
        rows, dropped = ([0 if k is None else some[k] for k in here] for some in (found.rows, found.dropped))
        placed.append(replace(found, rows=rows, dropped=dropped))
    return placed
