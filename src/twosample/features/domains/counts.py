"""Kernels of counts: an object is what it is made of, and how often each part occurs in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from twosample.common.arrays import Array, Indices

__all__ = ["CountKernel", "cosines", "count_parts", "unit_rows"]


@dataclass(frozen=True)
class CountKernel(ABC):
    """A kernel that is the cosine of the angle between two vectors of counts.

    It is called as every kernel of objects is, with some objects, others and a parameter.
    """

    name: ClassVar[str]
    #: The parameters that are averaged over unless others are given.
    parameters: ClassVar[tuple[int, ...]]

    @abstractmethod
    def read(self, objects: Sequence[Any], argument: str) -> list[Any]:
        """The objects in the one form that `counts` takes; others are refused, by the name of the argument."""

    @abstractmethod
    def counts(self, objects: Sequence[Any], parameters: Sequence[int]) -> list[Any]:
        """Sparse counts (n, parts) of objects that `read` returned, for every parameter."""

    @abstractmethod
    def check(self, parameter: object) -> int:
        """The parameter, or a refusal."""

    def __call__(self, some: Sequence[Any], others: Sequence[Any], parameter: int) -> Array:
        """The kernel between some objects and others, (len(some), len(others))."""
        both = [*self.read(some, "some"), *self.read(others, "others")]
        [counts] = self.counts(both, [self.check(parameter)])
        rows = unit_rows(counts)
        return cosines(rows[: len(some)], rows[len(some) :])


def count_parts(owners: Indices, parts: Indices, n_objects: int) -> Any:
    """Sparse counts (n_objects, parts) of parts, each given with the place of the object that it is a part of.

    Columns are in the order of the numbers of the parts.
    """
    from scipy import sparse  # slow to load, and not needed for numbers

    kinds, columns = np.unique(parts, return_inverse=True)
    ones = np.ones(len(owners))
    counts = sparse.coo_array((ones, (owners, columns.ravel())), shape=(n_objects, len(kinds))).tocsr()
    counts.sum_duplicates()
    return counts


def unit_rows(counts: Any) -> Any:
    """Counts divided by the length of their row; no row may be zero."""
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    scaled = counts.copy()
    scaled.data = counts.data / np.repeat(lengths, np.diff(counts.indptr))
    return scaled


def cosines(rows: Any, others: Any) -> Array:
    """Products of unit rows (n, parts) with others (s, parts), (n, s), and never more than 1."""
    return np.asarray(np.minimum((rows @ others.T).toarray(), 1.0))
