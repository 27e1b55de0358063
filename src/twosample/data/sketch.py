"""A few rows that stand for a sample in pictures, chosen by a hash of their values, so that sketches merge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.common.constraints import Axes
from twosample.common.records import Comparable
from twosample.data import row_hashes

__all__ = ["Sketch", "mixed", "sketches"]


# One column gets more, as its density is drawn from them.
_MOST_ROWS, _MOST_OF_ONE_COLUMN = 500, 2000
_MOST_VALUES = 100_000
_FEWEST_ROWS = 50
_BLOCK_ROWS = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class Sketch(Comparable):
    """Rows with the smallest priorities: a random subset that depends neither on their order nor on that of merging.

    Where rows are repeated and there are very many, which of the repeated ones are shown depends on the order.
    """

    rows: Annotated[Array, Axes("rows", "coordinates")]  # (k, D), in the units of the data
    # Hashes of each row and of how often it has occurred before, increasing, (k,); where rows are repeated, of all rows
    # of that part too.
    priorities: Annotated[NDArray[np.uint64], Axes("rows")]

    @classmethod
    def empty(cls) -> Sketch:
        """The sketch of no rows: the neutral element of `merge`."""
        return cls(np.empty((0, 0)), np.empty(0, dtype=np.uint64))

    @classmethod
    def of(cls, rows: Array, by: Array | None = None) -> Sketch:
        """The sketch of some rows (n, D), block by block where there are many; `by` is hashed in place of the rows."""
        by = rows if by is None else by
        if len(rows) > _BLOCK_ROWS:
            blocks = (slice(first, first + _BLOCK_ROWS) for first in range(0, len(rows), _BLOCK_ROWS))
            return reduce(cls.merge, (cls.of(rows[block], by[block]) for block in blocks))
        hashes = row_hashes(by)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)])
        earlier = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
        if len(starts) < len(rows):
            # Other parts are likely to hold the same rows, and are to choose other ones of them.
            ordered = ordered ^ mixed(hashes.sum(keepdims=True), np.zeros(1, dtype=np.uint64))
        return _smallest(rows, order, mixed(ordered, earlier.astype(np.uint64)))

    def merge(self, other: Sketch) -> Sketch:
        """The sketch of both sets of rows together."""
        if not len(self.rows) or not len(other.rows):
            return self if len(self.rows) else other
        rows = np.concatenate([self.rows, other.rows])
        priorities = np.concatenate([self.priorities, other.priorities])
        return _smallest(rows, np.arange(len(rows)), priorities)


def sketches(x: Array, y: Array, *, paired: bool = False) -> tuple[Sketch, Sketch]:
    """The sketches of both samples; of pairs, of both members of the same ones."""
    if not paired:
        return Sketch.of(x), Sketch.of(y)
    pairs = np.concatenate([x, y], axis=1)
    return Sketch.of(x, pairs), Sketch.of(y, pairs)


def _smallest(rows: Array, places: NDArray[np.intp], priorities: NDArray[np.uint64]) -> Sketch:
    """The rows at the places that have the smallest priorities."""
    most = _MOST_OF_ONE_COLUMN if rows.shape[1] == 1 else _MOST_ROWS
    limit = min(most, max(_FEWEST_ROWS, _MOST_VALUES // max(rows.shape[1], 1)))
    if len(priorities) > limit:
        first = np.argpartition(priorities, limit - 1)[:limit]
        places, priorities = places[first], priorities[first]
    order = np.argsort(priorities, kind="stable")
    return Sketch(rows[places[order]], priorities[order])


def mixed(hashes: NDArray[np.uint64], earlier: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One hash of two whole numbers; of zero and 1, 2, ... it is the sequence of SplitMix64."""
    state = hashes ^ (earlier * np.uint64(0x9E3779B97F4A7C15))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    return np.asarray(state ^ (state >> np.uint64(31)))
