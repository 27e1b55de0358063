"""Sums and products of kernels, with one lengthscale for all parts."""

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
    """A sum or product of parts, all with the same lengthscale."""

    parts: tuple[Kernel, ...]

    @classmethod
    def of(cls, *kernels: Kernel) -> Self:
        """The sum or product of these kernels, where those of the same kind are replaced by their parts."""
        return cls(tuple(part for one in kernels for part in (one.parts if isinstance(one, cls) else (one,))))

    @property
    def leaves(self) -> list[Kernel]:
        """The leaves of all parts."""
        return [leaf for part in self.parts for leaf in part.leaves]

    @property
    def metric(self) -> Literal["euclidean", "l1"]:  # type: ignore[override]
        """The sum of absolute differences if all parts have that metric."""
        return "l1" if all(part.metric == "l1" for part in self.parts) else "euclidean"

    @property
    def kinds(self) -> int:  # type: ignore[override]
        """Number of kinds of distances that the parts need."""
        return len(self._by_kind)

    @cached_property
    def _by_kind(self) -> dict[object, Kernel]:
        """A kernel for each kind of distances."""
        return {_kind(leaf): leaf for leaf in self.leaves}

    def distances(self, rows: Any, points: Any) -> Any:
        """Distances of all parts, each kind once; several kinds are stacked along a first dimension."""
        found = [leaf.distances(rows, points) for leaf in self._by_kind.values()]
        return found[0] if len(found) == 1 else namespace(found[0]).stack(found)

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """The kernel; `out` is not used."""
        places = {kind: place for place, kind in enumerate(self._by_kind)}

        def of(leaf: Kernel) -> Any:
            return leaf.value(distances[places[_kind(leaf)], ...] if len(places) > 1 else distances, lengthscale)

        return self.combined(of)

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
        """Labels of the parts with a plus between them."""
        return " + ".join(part.label for part in self.parts)

    @property
    def at_zero(self) -> float:  # type: ignore[override]
        """The number of terms, products multiplied out."""
        return sum(part.at_zero for part in self.parts)

    def combined(self, value: Callable[[Kernel], Any]) -> Any:
        """The weighted sum of the values of the parts."""
        return sum((part.combined(value) * (part.at_zero / self.at_zero) for part in self.parts), start=0.0)

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Frequencies of randomly chosen parts, with probabilities given by their weights."""
        shares = np.array([part.at_zero for part in self.parts]) / self.at_zero
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
        """Labels of the parts with a star between them."""
        return " * ".join(f"({part.label})" if isinstance(part, Sum) else part.label for part in self.parts)

    @property
    def degree(self) -> int:  # type: ignore[override]
        """The degree of the parts, if it is the same."""
        degrees = {part.degree for part in self.parts}
        return degrees.pop() if len(degrees) == 1 else 0

    @property
    def at_zero(self) -> float:  # type: ignore[override]
        """The number of terms of its sums, multiplied out."""
        return math.prod(part.at_zero for part in self.parts)

    def combined(self, value: Callable[[Kernel], Any]) -> Any:
        """The product of the values of the parts."""
        return math.prod((part.combined(value) for part in self.parts), start=1.0)

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Sums of frequencies of all parts."""
        return sum(part.frequencies(count, n_columns, generator) for part in self.parts)


def _kind(leaf: Kernel) -> object:
    """A key that kernels with the same distances share; distances of users' kernels may depend on their constants."""
    function = type(leaf).distances
    return function if function.__module__.startswith("twosample.kernels.") else leaf
