"""Where the kernel of pooled objects comes from: counts, a function of two lists of objects, or explicit features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.errors import InputError, InputTypeError
from twosample.features.domains.centres import own_order, sorted_places
from twosample.features.domains.counts import CountKernel, cosines, unit_rows

__all__ = ["Counted", "Evaluated", "Explicit", "FeaturesOfObjects", "KernelOfObjects", "Source"]

KernelOfObjects = Callable[[Sequence[Any], Sequence[Any], Any], Any]
FeaturesOfObjects = Callable[[Sequence[Any]], Any]

# Features that differ by less are the same, where objects are put in order.
_DIGITS = 9


class Source(ABC):
    """What the kernel of the pooled objects is computed from."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of them."""
        return ()

    @abstractmethod
    def order(self, generator: np.random.Generator) -> Indices:
        """An order of the objects, their own as far as they have one."""

    @abstractmethod
    def scores(self) -> Array:
        """What the first point has the most of, (n,)."""

    @abstractmethod
    def diagonal(self) -> Array:
        """k(a, a), (m, n)."""

    @abstractmethod
    def column(self, place: int) -> Array:
        """The kernel of all objects with one of them, (m, n)."""

    @abstractmethod
    def between(self, objects: list[Any], places: Indices) -> Array:
        """The kernel of other objects with those at these places, (m, n, s)."""


@dataclass(frozen=True, eq=False)
class Counted(Source):
    """Objects whose kernel is the cosine of counts."""

    kernel: CountKernel
    pool: list[Any]
    parameters: tuple[int, ...]

    @cached_property
    def _rows(self) -> list[Any]:
        return [unit_rows(counts) for counts in self.kernel.counts(self.pool, self.parameters)]

    def order(self, generator: np.random.Generator) -> Indices:
        """An order of the objects, their own."""
        return sorted_places(
            [b"".join(_row_bytes(rows, place) for rows in self._rows) for place in range(len(self.pool))]
        )

    def scores(self) -> Array:
        """The mean cosine with all objects."""
        total = np.zeros(len(self.pool))
        for rows in self._rows:
            total += rows @ np.asarray(rows.mean(axis=0)).ravel()
        return total

    def diagonal(self) -> Array:
        """k(a, a), (m, n)."""
        return np.ones((len(self.parameters), len(self.pool)))

    def column(self, place: int) -> Array:
        """The kernel of all objects with one of them, (m, n)."""
        return np.stack([np.minimum(rows @ _dense_row(rows, place), 1.0) for rows in self._rows])

    def between(self, objects: list[Any], places: Indices) -> Array:
        """The kernel of other objects with those at these places, (m, n, s)."""
        new, points = self.kernel.read(objects, "at"), [self.pool[place] for place in places]
        both = [unit_rows(counts) for counts in self.kernel.counts([*new, *points], self.parameters)]
        return np.stack([cosines(rows[: len(new)], rows[len(new) :]) for rows in both])


def _dense_row(rows: Any, place: int) -> Array:
    """One row of a sparse array; its own indexing takes ten times as long."""
    here = slice(rows.indptr[place], rows.indptr[place + 1])
    dense = np.zeros(rows.shape[1])
    dense[rows.indices[here]] = rows.data[here]
    return dense


def _row_bytes(rows: Any, place: int) -> bytes:
    here = slice(rows.indptr[place], rows.indptr[place + 1])
    return bytes(rows.indices[here].tobytes() + rows.data[here].round(_DIGITS).tobytes() + b"|")


@dataclass(frozen=True, eq=False)
class Evaluated(Source):
    """Objects whose kernel is a function of somebody else's, divided by the roots of k(a, a) and k(b, b)."""

    kernel: KernelOfObjects
    pool: list[Any]
    parameters: tuple[Any, ...]

    @cached_property
    def _own_order(self) -> Indices | None:
        return own_order(self.pool)

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of them."""
        if self._own_order is not None:
            return ()
        return (
            "The objects have no order of their own (they cannot be pickled), so that the first point, and a little of "
            "the answer, depends on the order they were given in.",
        )

    def order(self, generator: np.random.Generator) -> Indices:
        """An order of the objects, their own as far as they have one."""
        own: Indices | None = self._own_order
        return np.asarray(generator.permutation(len(self.pool))) if own is None else own

    def scores(self) -> Array:
        """What the first point has the most of: here nothing."""
        return np.zeros(len(self.pool))

    @cached_property
    def _lengths(self) -> Array:
        """Roots of k(a, a), (m, n)."""
        return self._roots(self.pool, "object")

    def _roots(self, objects: list[Any], what: str) -> Array:
        found = np.array(
            [[self._values([one], [one], parameter)[0, 0] for one in objects] for parameter in self.parameters]
        )
        if not (found > 0.0).all():
            parameter, place = np.argwhere(~(found > 0.0))[0]
            raise InputError(
                f"kernel: k(a, a) must be positive, but is {found[parameter, place]:g} for {what} {place} of both "
                "samples together",
                argument="kernel",
                remedy="leave such objects out, or use test_gram with values of your own",
            )
        return np.asarray(np.sqrt(found))

    def diagonal(self) -> Array:
        """k(a, a), (m, n)."""
        return np.ones_like(self._lengths)

    def column(self, place: int) -> Array:
        """The kernel of all objects with one of them, (m, n)."""
        return self._scaled(self.pool, self._lengths, np.array([place]))[:, :, 0]

    def between(self, objects: list[Any], places: Indices) -> Array:
        """The kernel of other objects with those at these places, (m, n, s)."""
        return self._scaled(objects, self._roots(objects, "new object"), places)

    def _scaled(self, objects: list[Any], roots: Array, places: Indices) -> Array:
        points = [self.pool[place] for place in places]
        values = np.stack([self._values(objects, points, parameter) for parameter in self.parameters])
        return np.asarray(values / (roots[:, :, None] * self._lengths[:, None, places]))

    def _values(self, some: list[Any], others: list[Any], parameter: Any) -> Array:
        values = _numbers(self.kernel(some, others, parameter), "kernel", "it must return")
        if values.shape != (len(some), len(others)):
            raise InputError(
                f"kernel: of {len(some)} and {len(others)} objects it must return an array of shape "
                f"{(len(some), len(others))}, not {values.shape}",
                argument="kernel",
            )
        if not np.isfinite(values).all():
            raise InputError("kernel: it returned values that are missing or infinite", argument="kernel")
        return values


@dataclass(frozen=True, eq=False)
class Explicit(Source):
    """Objects with explicit features, standardised without regard to the labels; the kernel is their product."""

    features: FeaturesOfObjects
    center: Array
    scale: Array
    rows: Array

    @classmethod
    def of(cls, pool: list[Any], features: FeaturesOfObjects) -> Explicit:
        """Compute and standardise the features."""
        rows = _feature_rows(features, pool)
        size = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
        scaled = rows / size  # so that no square overflows
        spread = scaled.std(axis=0)
        varies = spread > 1e-12
        scale = np.where(varies, np.where(varies, spread, 1.0) * size, np.inf)
        return cls(features, rows.mean(axis=0), scale, (scaled - scaled.mean(axis=0)) / (scale / size))

    def order(self, generator: np.random.Generator) -> Indices:
        """An order of the objects, their own."""
        return sorted_places([(row.round(_DIGITS) + 0.0).tobytes() for row in self.rows])

    def scores(self) -> Array:
        """The nearer to the mean the more."""
        return np.asarray(-np.square(self.rows).sum(axis=1))

    def diagonal(self) -> Array:
        """k(a, a), (m, n)."""
        return np.asarray(np.square(self.rows).sum(axis=1))[None]

    def column(self, place: int) -> Array:
        """The kernel of all objects with one of them, (m, n)."""
        return np.asarray(np.einsum("np,p->n", self.rows, self.rows[place]))[None]

    def between(self, objects: list[Any], places: Indices) -> Array:
        """The kernel of other objects with those at these places, (m, n, s)."""
        new = _feature_rows(self.features, objects)
        if new.shape[1] != self.rows.shape[1]:
            raise InputError(
                f"features: they were {self.rows.shape[1]} for the samples, and are {new.shape[1]} now",
                argument="features",
            )
        return np.asarray((new - self.center) / self.scale @ self.rows[places].T)[None]


def _feature_rows(features: FeaturesOfObjects, objects: list[Any]) -> Array:
    """Explicit features as (n, p), finite."""
    given = features(objects)
    rows = _numbers(given.toarray() if hasattr(given, "toarray") else given, "features", "they must be")
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or len(rows) != len(objects) or not rows.shape[1]:
        raise InputError(
            f"features: of {len(objects)} objects they must be an array ({len(objects)}, p), not {rows.shape}",
            argument="features",
        )
    if not np.isfinite(rows).all():
        place = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise InputError(f"features: object {place} has values that are missing or infinite", argument="features")
    return rows


def _numbers(given: Any, name: str, must: str) -> Array:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name}: {must} an array of numbers, not {type(given).__name__}", argument=name) from None
