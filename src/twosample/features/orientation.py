"""Columns in an order and a direction of their own, so that points are the same however columns are given.

A choice among rows has to begin with some column and at one of its ends. Which these are is decided by the values: by
moments that are the same for rows in any order, for columns in any order, and whichever of the other columns are
reflected, each row with the weight of its size in all columns. Where these do not tell columns or directions apart, how
columns go together does, or else nothing, and it hardly matters what comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from twosample.common.arrays import Array, Indices

__all__ = ["Orientation"]

# Values are clipped here, so that their differences do not overflow.
_FARTHEST = 1e100
# Moments of values between -1 and 1 that differ by less are equal up to rounding.
_EQUAL = 1e-9
# Values of the pooled rows that are in memory at once; of more, a few columns at a time.
_MOST_VALUES = 1 << 23


@dataclass(frozen=True, eq=False)
class Orientation:
    """An order of the columns, and a direction of each."""

    order: Indices  # the columns, (D,)
    signs: Array  # 1 or -1 for each of these, (D,)

    @classmethod
    def given(cls, n_columns: int) -> Orientation:
        """The columns as they are."""
        return cls(np.arange(n_columns), np.ones(n_columns))

    @classmethod
    def of(cls, *samples: Array) -> Orientation:
        """The orientation of the pooled rows of the samples, (n, D) each."""
        n_columns, n_rows = samples[0].shape[1], sum(map(len, samples))
        width = max(1, _MOST_VALUES // max(n_rows, 1))
        starts = range(0, n_columns, width)

        def bounded() -> Iterator[Array]:
            return (_bounded([sample[:, start : start + width] for sample in samples]) for start in starts)

        blocks = list(bounded()) if len(starts) == 1 else None
        size = np.zeros(n_rows)
        for block in blocks or bounded():
            size += np.square(block).sum(axis=1)
        size /= n_columns
        weight = np.square(size)
        even, odd = np.empty(n_columns), np.empty((2, n_columns))
        for start, block in zip(starts, blocks or bounded(), strict=True):
            these = slice(start, start + width)
            even[these] = weight @ np.square(block)
            odd[:, these] = weight @ block, block.sum(axis=0)
        values = None if blocks is None else blocks[0]
        keys = [_classes(key / n_rows) for key in (even, *np.abs(odd))]
        if values is not None and len(np.unique(keys, axis=1).T) < n_columns:
            keys.append(_classes(np.square(values.T @ values / n_rows).mean(axis=0)))
        order = np.lexsort(keys[::-1])
        return cls(order, _signs(odd[:, order] / n_rows, values, order))

    def turn(self, rows: Array) -> Array:
        """Rows (n, D) with their columns in this order and direction."""
        turned: Array = rows[:, self.order] * self.signs
        return turned


def _bounded(parts: list[Array]) -> Array:
    """Values of pooled columns between -1 and 1, of both signs: robust, and the same in other units."""
    values = np.clip(np.concatenate(parts), -_FARTHEST, _FARTHEST)
    values -= np.median(values, axis=0)
    sizes = np.abs(values)
    scale = np.median(sizes, axis=0)
    scale = np.where(scale > 0.0, scale, sizes.mean(axis=0))
    sizes += np.where(scale > 0.0, scale, 1.0)
    values /= sizes
    return values


def _classes(key: Array) -> Indices:
    """Numbers that order the columns as the key does, equal where it is equal up to rounding."""
    order = np.argsort(key)
    steps = np.diff(key[order]) > _EQUAL
    found = np.empty(len(key), dtype=np.int64)
    found[order] = np.concatenate([[0], np.cumsum(steps)])
    return found


def _signs(odd: Array, values: Array | None, order: Indices) -> Array:
    """The direction of each column: that in which its first odd moment that is not 0 is positive, (D,).

    Where all are 0, it is the direction in which the column goes with those that have one already.
    """
    clear = np.where(np.abs(odd) > _EQUAL, np.sign(odd), 0.0)
    signs: Array = np.where(clear[0] != 0.0, clear[0], clear[1])
    unclear = np.flatnonzero(signs == 0.0)
    if values is None or not len(unclear):
        return np.asarray(np.where(signs == 0.0, 1.0, signs))
    places = np.arange(1.0, len(signs) + 1.0)
    together = values[:, order] @ (signs / places)
    for place in unclear.tolist():
        column = values[:, order[place]]
        signs[place] = -1.0 if column @ together < -_EQUAL * len(column) else 1.0
        together += column * (signs[place] / places[place])
    return signs
