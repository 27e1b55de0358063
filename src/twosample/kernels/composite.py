"""Kernels of kernels: sums and products, with one lengthscale for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from twosample.common.arrays import namespace
from twosample.kernels.base import Kernel

__all__ = ["Product", "Sum"]


@dataclass(frozen=True)
class _Composite(Kernel):
    """What sums and products have in common: parts, all with the same lengthscale."""

    parts: tuple[Kernel, ...]

    @classmethod
    def of(cls, *kernels: Kernel) -> Self:
        """Of these kernels, those of the same kind replaced by their parts."""
        return cls(tuple(part for one in kernels for part in (one.parts if isinstance(one, cls) else (one,))))

    @property
    def at_zero(self) -> float:
        """What k(a, a) is before it is made 1."""
        raise NotImplementedError

    def _combined(self, value: Callable[[Kernel], Any]) -> Any:
        """The kernel from the values of those that are no sums or products."""
        raise NotImplementedError

    @property
    def metric(self) -> Literal["euclidean", "l1"]:  # type: ignore[override]
        """That of the sum of absolute differences if all parts have it."""
        return "l1" if all(part.metric == "l1" for part in self.parts) else "euclidean"

    @property
    def kinds(self) -> int:  # type: ignore[override]
        """How many kinds of distances the parts need."""
        return len(self._by_kind)

    @cached_property
    def _by_kind(self) -> dict[object, Kernel]:
        """A kernel for each kind of distances that is needed."""
        return {_kind(leaf): leaf for leaf in _leaves(self)}

    def distances(self, rows: Any, points: Any) -> Any:
        """Those of all parts, each kind once: where there are several, one after the other in a first dimension."""
        found = [leaf.distances(rows, points) for leaf in self._by_kind.values()]
        return found[0] if len(found) == 1 else namespace(found[0]).stack(found)

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """The kernel; `out` is not used."""
        places = {kind: place for place, kind in enumerate(self._by_kind)}

        def of(leaf: Kernel) -> Any:
            return leaf.value(distances[places[_kind(leaf)], ...] if len(places) > 1 else distances, lengthscale)

        return self._combined(of)

    def to_plain(self) -> dict[str, Any]:
        """The kernel for JSON: its name and its parts."""
        return {"name": self.name, "parts": [part.to_plain() for part in self.parts]}

    @classmethod
    def _of_constants(cls, constants: dict[str, Any]) -> Kernel:
        return cls(tuple(Kernel.from_plain(part) for part in constants["parts"]))


@dataclass(frozen=True)
class Sum(_Composite):
    """The sum of kernels, over its value at a = b so that k(a, a) = 1; the model learns the amplitude. Made by ``+``.

    Examples
    --------
    >>> from twosample.kernels import RBF, Laplace
    >>> (RBF() + Laplace()).label
    'rbf + laplace'
    """

    name: ClassVar[str] = "sum"

    @property
    def label(self) -> str:
        """With a plus between the parts."""
        return " + ".join(part.label for part in self.parts)

    @property
    def at_zero(self) -> float:
        """The number of terms, products multiplied out."""
        return sum(map(_at_zero, self.parts))

    def _combined(self, value: Callable[[Kernel], Any]) -> Any:
        total: Any = 0.0
        for part in self.parts:
            total = total + _value(part, value) * (_at_zero(part) / self.at_zero)
        return total

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Of one of the parts, as often as they count."""
        shares = np.array([_at_zero(part) for part in self.parts]) / self.at_zero
        which = generator.choice(len(self.parts), size=count, p=shares)
        return np.stack([part.frequencies(count, n_columns, generator) for part in self.parts])[which, np.arange(count)]


@dataclass(frozen=True)
class Product(_Composite):
    """The product of kernels. Made by ``*``.

    Examples
    --------
    >>> from twosample.kernels import RBF, Matern
    >>> (RBF() * (RBF() + Matern(0.5))).label
    'rbf * (rbf + matern12)'
    """

    name: ClassVar[str] = "product"

    @property
    def label(self) -> str:
        """With a star between the parts."""
        return " * ".join(f"({part.label})" if isinstance(part, Sum) else part.label for part in self.parts)

    @property
    def degree(self) -> int:  # type: ignore[override]
        """That of the parts, if it is the same."""
        degrees = {part.degree for part in self.parts}
        return degrees.pop() if len(degrees) == 1 else 0

    @property
    def at_zero(self) -> float:
        """The number of terms of its sums, multiplied out."""
        return math.prod(map(_at_zero, self.parts))

    def _combined(self, value: Callable[[Kernel], Any]) -> Any:
        return math.prod((_value(part, value) for part in self.parts), start=1.0)

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """The sum of one of each part."""
        return sum(part.frequencies(count, n_columns, generator) for part in self.parts)


def _leaves(kernel: Kernel) -> list[Kernel]:
    if isinstance(kernel, _Composite):
        return [leaf for part in kernel.parts for leaf in _leaves(part)]
    return [kernel]


def _kind(leaf: Kernel) -> object:
    """What is the same for kernels of the same distances; those of others may depend on their constants."""
    function = type(leaf).distances
    return function if function.__module__.startswith("twosample.kernels.") else leaf


def _at_zero(kernel: Kernel) -> float:
    return kernel.at_zero if isinstance(kernel, _Composite) else 1.0


def _value(kernel: Kernel, value: Callable[[Kernel], Any]) -> Any:
    return kernel._combined(value) if isinstance(kernel, _Composite) else value(kernel)
