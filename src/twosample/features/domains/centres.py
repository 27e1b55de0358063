"""Points among objects: kernel k-centres, the same whatever the order of the objects and the sample they are in."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twosample.common.arrays import Array, Indices

__all__ = ["farthest_points", "own_order", "sorted_places"]

# Squared distances that differ by less than this share are tied, and those below it are rounding.
_TIED = 1e-9


def own_order(objects: Sequence[Any]) -> Indices | None:
    """An order of objects that depends on what they are and not on where they stand; None where they do not say.

    Objects that can be pickled have one: that of a digest of the pickle. Nothing is ever read back from it.
    """
    try:
        keys = [hashlib.sha256(pickle.dumps(one, protocol=5)).digest() for one in objects]
    except Exception:  # whatever an object of somebody else may raise
        return None
    return sorted_places(keys)


def sorted_places(keys: Sequence[bytes]) -> Indices:
    """The places of the keys in their order."""
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)


def farthest_points(
    first: int, count: int, column: Callable[[int], Array], self_similarity: Array
) -> tuple[Indices, Array]:
    """Choose centres one after the other, each the object that is farthest from those before it.

    `column` gives the kernel values of all objects with the one at a place, for every parameter, (m, n), and
    `self_similarity` is k(a, a) of every object, (m, n). Returned are the places of the centres, (s,), and the kernel
    values of all objects with them, (m, n, s); s is less than `count` where all other objects are equal to a centre.
    """
    places, columns = [first], [column(first)]
    nearest = np.full(self_similarity.shape[1], np.inf)
    typical = np.maximum(self_similarity.mean(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    while True:
        last = places[-1]
        # The mean over parameters of the squared distance in the space of the kernel.
        squares = self_similarity + self_similarity[:, [last]] - 2.0 * columns[-1]
        nearest = np.minimum(nearest, (squares / typical).mean(axis=0))
        nearest[last] = 0.0
        largest = nearest.max()
        if len(places) == count or largest <= _TIED:
            return np.array(places, dtype=np.intp), np.stack(columns, axis=-1)
        places.append(int(np.argmax(nearest >= largest * (1.0 - _TIED))))
        columns.append(column(places[-1]))
