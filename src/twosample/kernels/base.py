"""The base class of kernels, sums and products of them, and the distances that kernels are functions of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from twosample.common.arrays import namespace
from twosample.common.records import to_plain
from twosample.errors import InputError, Setting

__all__ = ["Kernel", "Product", "Sum", "absolute_distances", "known_kernels", "squared_distances"]


def squared_distances(a: Any, b: Any) -> Any:
    """Squared Euclidean distances between the rows of `a` (..., n, D) and of `b` (..., s, D), as (..., n, s).

    Differences are squared directly: the shortcut |a|² + |b|² - 2ab loses the digits that small lengthscales need.
    """
    if isinstance(a, np.ndarray):
        with np.errstate(over="ignore"):  # an infinite distance is far enough
            return _squared_distances(a, b)
    return _squared_distances(a, b)


def absolute_distances(a: Any, b: Any) -> Any:
    """Sums of absolute differences (L1) between the rows of `a` (..., n, D) and of `b` (..., s, D), as (..., n, s)."""
    total = a[..., :, None, 0] - b[..., None, :, 0]
    xp = namespace(total)
    total = xp.abs(total)
    for column in range(1, a.shape[-1]):
        total += xp.abs(a[..., :, None, column] - b[..., None, :, column])
    return total


def _squared_distances(a: Any, b: Any) -> Any:
    total = a[..., :, None, 0] - b[..., None, :, 0]
    total *= total
    for column in range(1, a.shape[-1]):
        difference = a[..., :, None, column] - b[..., None, :, column]
        difference *= difference
        total += difference
    return total


@dataclass(frozen=True)
class Kernel:
    """A kernel k(a, b) that depends on the distance of a and b in units of a lengthscale ℓ.

    A new kernel is a subclass with a `name` and a `value`. Self-convolution and slope are what the models `paper` and
    `published` need beyond that; a kernel without them works with all others. ``+`` and ``*`` make kernels of kernels.
    """

    name: ClassVar[str]
    #: p where log k is a function of the rows over ℓᵖ: then dividing ℓ by the p-th root of 2 squares the kernel, which
    #: spares exponentials on a geometric grid. 0 where it is not.
    degree: ClassVar[int] = 0
    #: Which distances have the median that lengthscales are relative to.
    metric: ClassVar[Literal["euclidean", "l1"]] = "euclidean"
    #: Kinds of distances that it needs; where there are several, `distances` has them in a first dimension.
    kinds: ClassVar[int] = 1
    #: The number of terms of a sum, products multiplied out: k(a, a) before it is made 1.
    at_zero: ClassVar[float] = 1.0

    @property
    def label(self) -> str:
        """Name of the kernel in results, with its constants."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        constants = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value!r}" for name, value in values.items()
        )
        return f"{self.name}({constants})" if constants else self.name

    @property
    def leaves(self) -> list[Kernel]:
        """The kernels that it is made of by sums and products: here itself."""
        return [self]

    def combined(self, value: Callable[[Kernel], Any]) -> Any:
        """The kernel from the values of its `leaves`."""
        return value(self)

    def distances(self, rows: Any, points: Any) -> Any:
        """Distances of rows (..., n, D) and points (..., s, D), which the kernel is a function of: here squared."""
        return squared_distances(rows, points)

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """The kernel at these distances; k(a, a) = 1.

        Parameters
        ----------
        distances
            As `distances` returns them, of any shape.
        lengthscale
            A number, or an array that is broadcast against the distances.
        out
            A NumPy array that the values may be written to, which saves an allocation in a loop.
        """
        raise NotImplementedError

    def self_convolution(self, distances: Any, lengthscale: Any, n_columns: int) -> Any:
        """∫ k(a, u) k(u, b) du over the value at a = b, in `n_columns` dimensions, where it has a closed form."""
        raise self._refusal()

    def log_self_convolution(self, lengthscale: Any, n_columns: int) -> Any:
        """Log ∫ k(a, u)² du in `n_columns` dimensions."""
        raise self._refusal()

    def slope(self, distances: Any, lengthscale: float, values: Any) -> tuple[Any, float]:
        """g, where the gradient of k in a is -g (a - b), as an array and the logarithm of a factor on all of it.

        `values` are those of the kernel at these distances; g may underflow where `log_slope` does not.
        """
        raise self._refusal()

    def log_slope(self, distances: Any, lengthscale: float) -> Any:
        """Log g."""
        raise self._refusal()

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Draws from the spectral density at ℓ = 1, (count, D): k(a, b) is the mean of cos ω·(a - b) over them."""
        raise InputError(
            f"kernel: {self.label!r} has no spectral density that random features could be drawn from",
            argument="kernel",
            remedy=("use ", Setting("kernel", "rbf")),
        )

    def to_plain(self) -> dict[str, Any]:
        """The kernel for JSON: its name, and its constants or parts."""
        return {"name": self.name, **{field.name: to_plain(getattr(self, field.name)) for field in fields(self)}}

    @classmethod
    def from_plain(cls, content: dict[str, Any]) -> Kernel:
        """The kernel that `to_plain` described; the class that has its name must have been imported."""
        constants = dict(content)
        name = constants.pop("name", None)
        known = known_kernels()
        if name not in known:
            raise InputError(
                f"kernel: {name!r} is unknown here", argument="kernel", remedy="import the module that defines it first"
            )
        return known[name]._of_constants(constants)

    @classmethod
    def _of_constants(cls, constants: dict[str, Any]) -> Kernel:
        return cls(**constants)

    def __add__(self, other: object) -> Kernel:
        """Return the sum of two kernels."""
        return Sum.of(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        """Return the product of two kernels."""
        return Product.of(self, other) if isinstance(other, Kernel) else NotImplemented

    def _refusal(self) -> InputError:
        return InputError(
            f"kernel: {self.label!r} has no closed form of what the models of the paper need",
            argument="kernel",
            remedy=("use ", Setting("model", "adaptive"), " or ", Setting("kernel", "rbf")),
        )


def known_kernels(of: type[Kernel] = Kernel) -> dict[str, type[Kernel]]:
    """The kernels that have been defined, by name."""
    own = {of.name: of} if hasattr(of, "name") else {}
    return own | {name: kind for child in of.__subclasses__() for name, kind in known_kernels(child).items()}


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
