"""Kernels: each is one class with its formula, of a distance and a lengthscale, for arrays of any library."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from twosample.arrays import namespace
from twosample.errors import InputError, InputTypeError, Setting

__all__ = ["RBF", "Kernel", "resolve", "squared_distances"]


def squared_distances(a: Any, b: Any) -> Any:
    """Squared Euclidean distances between the rows of `a` (..., n, D) and of `b` (..., s, D), as (..., n, s).

    Differences are squared directly: the shortcut |a|² + |b|² - 2ab loses the digits that small lengthscales need.

    Examples
    --------
    >>> squared_distances(np.array([[0.0], [3.0]]), np.array([[1.0]]))
    array([[1.],
           [4.]])
    """
    if isinstance(a, np.ndarray):
        with np.errstate(over="ignore"):  # an infinite distance is far enough
            return _squared_distances(a, b)
    return _squared_distances(a, b)


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

    A new kernel is a subclass with a `name` and a `value`. The other two are what the models `paper` and `published`
    need beyond that; a kernel without them works with all others.
    """

    name: ClassVar[str]
    #: Whether dividing ℓ by √2 squares the kernel, which spares exponentials on a geometric grid.
    squares: ClassVar[bool] = False

    def distances(self, rows: Any, points: Any) -> Any:
        """What the kernel is a function of, for rows (..., n, D) and points (..., s, D): here squared distances."""
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
            A NumPy array that the values may be written to, which spares an allocation in a loop.
        """
        raise NotImplementedError

    def self_convolution(self, distances: Any, lengthscale: Any) -> Any:
        """∫ k(a, u) k(u, b) du over the value at a = b, where that has a closed form."""
        raise self._refusal()

    def log_self_convolution(self, lengthscale: Any, n_columns: int) -> Any:
        """Log ∫ k(a, u)² du in so many dimensions."""
        raise self._refusal()

    def slope(self, distances: Any, lengthscale: float, values: Any) -> tuple[Any, float]:
        """g, where the gradient of k in a is -g (a - b), as an array and the logarithm of a factor on all of it.

        `values` are those of the kernel at these distances; g may underflow where `log_slope` does not.
        """
        raise self._refusal()

    def log_slope(self, distances: Any, lengthscale: float) -> Any:
        """Log g."""
        raise self._refusal()

    def to_plain(self) -> dict[str, Any]:
        """The kernel for JSON: its name and its constants."""
        return {"name": self.name, **asdict(self)}

    @classmethod
    def from_plain(cls, content: dict[str, Any]) -> Kernel:
        """The kernel that `to_plain` described; the class that has its name must have been imported."""
        constants = dict(content)
        name = constants.pop("name", None)
        known = _known()
        if name not in known:
            raise InputError(
                f"kernel: {name!r} is unknown here", argument="kernel", remedy="import the module that defines it first"
            )
        return known[name](**constants)

    def _refusal(self) -> InputError:
        return InputError(
            f"kernel: {self.name!r} has no closed form of what the models of the paper need",
            argument="kernel",
            remedy=("use ", Setting("model", "adaptive"), " or ", Setting("kernel", "rbf")),
        )


@dataclass(frozen=True)
class RBF(Kernel):
    """The Gaussian kernel exp(-‖a - b‖²/2ℓ²).

    Examples
    --------
    >>> RBF().value(np.array([0.0, 2.0]), 1.0).round(4)
    array([1.    , 0.3679])
    """

    name: ClassVar[str] = "rbf"
    squares: ClassVar[bool] = True

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """exp(-d²/2ℓ²)."""
        factor = -0.5 / lengthscale**2
        if out is not None:
            return np.exp(np.multiply(distances, factor, out=out), out=out)
        return namespace(distances).exp(distances * factor)

    def self_convolution(self, distances: Any, lengthscale: Any) -> Any:
        """exp(-d²/4ℓ²): a Gaussian again, √2 times as wide."""
        return self.value(distances, math.sqrt(2.0) * lengthscale)

    def log_self_convolution(self, lengthscale: Any, n_columns: int) -> Any:
        """Log of π^{D/2} ℓ^D, the factor in the paper's formula for r."""
        return n_columns * (0.5 * math.log(math.pi) + namespace(lengthscale).log(lengthscale))

    def slope(self, distances: Any, lengthscale: float, values: Any) -> tuple[Any, float]:
        """k/ℓ²."""
        return values, -2.0 * math.log(lengthscale)

    def log_slope(self, distances: Any, lengthscale: float) -> Any:
        """-d²/2ℓ² - 2 log ℓ."""
        return distances * (-0.5 / lengthscale**2) - 2.0 * math.log(lengthscale)


def resolve(kernel: str | Kernel) -> Kernel:
    """The kernel of that name, or the kernel itself.

    Examples
    --------
    >>> resolve("rbf")
    RBF()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        raise InputTypeError(f"kernel: expected a name or a Kernel, got {type(kernel).__name__}", argument="kernel")
    known = _known()
    if kernel not in known:
        several = "; gibbs has 'ard'" if kernel == "ard" else ""
        several += "; of objects it is for test" if kernel in ("kmer", "graph") else ""
        raise InputError(
            f"kernel: {kernel!r} is unknown",
            argument="kernel",
            remedy=f"use {' or '.join(map(repr, known))}{several}",
        )
    return known[kernel]()


def _known(of: type[Kernel] = Kernel) -> dict[str, type[Kernel]]:
    """The kernels that have been defined, by name."""
    own = {of.name: of} if hasattr(of, "name") else {}
    return own | {name: kind for child in of.__subclasses__() for name, kind in _known(child).items()}
