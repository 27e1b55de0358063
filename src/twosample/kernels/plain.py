"""The kernels that have a name: Gaussian, Laplace, Matérn and rational quadratic; and kernels by their names."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from twosample.common.arguments import positive
from twosample.common.arrays import namespace
from twosample.errors import InputError, InputTypeError
from twosample.kernels.base import Kernel, absolute_distances, known_kernels, squared_distances

__all__ = ["NAMES", "RBF", "Laplace", "Matern", "RationalQuadratic", "resolve", "resolve_several"]

# exp(-this) is zero; a polynomial of it is not infinite.
_FAR = 750.0


@dataclass(frozen=True)
class RBF(Kernel):
    """The Gaussian kernel exp(-‖a - b‖²/2ℓ²).

    Examples
    --------
    >>> RBF().value(np.array([0.0, 2.0]), 1.0).round(4)
    array([1.    , 0.3679])
    """

    name: ClassVar[str] = "rbf"
    degree: ClassVar[int] = 2

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """exp(-d²/2ℓ²)."""
        return _exponential(distances, -0.5 / lengthscale**2, out)

    def self_convolution(self, distances: Any, lengthscale: Any, n_columns: int) -> Any:
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

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Draws from a normal distribution."""
        return generator.normal(size=(count, n_columns))


@dataclass(frozen=True)
class Laplace(Kernel):
    """The Laplace kernel exp(-‖a - b‖₁/ℓ), of the sum of absolute differences: a product over the columns.

    Examples
    --------
    >>> Laplace().value(np.array([0.0, 2.0]), 2.0).round(4)
    array([1.    , 0.3679])
    """

    name: ClassVar[str] = "laplace"
    degree: ClassVar[int] = 1
    metric: ClassVar[Literal["euclidean", "l1"]] = "l1"

    def distances(self, rows: Any, points: Any) -> Any:
        """Sums of absolute differences."""
        return absolute_distances(rows, points)

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """exp(-d/ℓ)."""
        return _exponential(distances, -1.0 / lengthscale, out)

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Draws from a Cauchy distribution, independent in every column."""
        return generator.standard_cauchy(size=(count, n_columns))


@dataclass(frozen=True)
class Matern(Kernel):
    """The Matérn kernel of Euclidean distances r, for a smoothness ν of ½, 3/2 or 5/2.

    With t = √(2ν) r/ℓ it is e⁻ᵗ, (1 + t) e⁻ᵗ or (1 + t + t²/3) e⁻ᵗ. In one column ν = ½ is the Laplace kernel; larger ν
    come nearer to the Gaussian of the same ℓ.

    Examples
    --------
    >>> Matern(1.5).value(np.array([0.0, 1.0]), 1.0).round(4)
    array([1.    , 0.4834])
    """

    name: ClassVar[str] = "matern"
    nu: float = 1.5

    def __post_init__(self) -> None:
        """Check ν."""
        if self.nu not in (0.5, 1.5, 2.5):
            raise InputError(f"nu: must be 0.5, 1.5 or 2.5, not {self.nu!r:.40}", argument="nu")
        object.__setattr__(self, "nu", float(self.nu))

    @property
    def label(self) -> str:
        """The name with the smoothness, as in matern32 for 3/2."""
        return f"matern{2.0 * self.nu:.0f}2"

    @property
    def degree(self) -> int:  # type: ignore[override]
        """1 for ν = ½, a plain exponential."""
        return int(self.nu == 0.5)

    def distances(self, rows: Any, points: Any) -> Any:
        """Euclidean distances."""
        squares = squared_distances(rows, points)
        return np.sqrt(squares, out=squares) if isinstance(squares, np.ndarray) else namespace(squares).sqrt(squares)

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """exp(-t) times a polynomial of t = √(2ν) r/ℓ."""
        rate = math.sqrt(2.0 * self.nu) / lengthscale
        if self.nu == 0.5:
            return _exponential(distances, -rate, out)
        t = np.multiply(distances, rate, out=out) if isinstance(distances, np.ndarray) else distances * rate
        t = _at_most(t, _FAR)
        decay = namespace(t).exp(-t)
        if self.nu == 2.5:
            t = t * (1.0 + t / 3.0)
        t += 1.0
        t *= decay
        return t

    def self_convolution(self, distances: Any, lengthscale: Any, n_columns: int) -> Any:
        """2¹⁻ᵐ tᵐ Kₘ(t)/Γ(m) with m = 2ν + D/2: squaring the spectral density gives a Matérn kernel again."""
        from scipy.special import kve

        order = 2.0 * self.nu + 0.5 * n_columns
        t = np.asarray(distances * (math.sqrt(2.0 * self.nu) / lengthscale))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            log_found = (1.0 - order) * math.log(2.0) - math.lgamma(order) + order * np.log(t)
            found = np.exp(log_found + np.log(kve(order, t)) - t)
            # Where Kₘ overflows t is small, and three terms of the series are enough.
            square = 0.25 * t**2 / (order - 1.0)
            near = 1.0 - square + 0.5 * square**2 * (order - 1.0) / max(order - 2.0, 0.5)
        return np.where(np.isfinite(found), found, np.where(t < 1.0, near, 0.0))

    def log_self_convolution(self, lengthscale: Any, n_columns: int) -> Any:
        """Log of 2ᴰ π^{D/2} (Γ(ν + D/2)/Γ(ν))² Γ(2ν + D/2)/Γ(2ν + D) (ℓ/√(2ν))ᴰ, from the squared spectral density."""
        half, nu = 0.5 * n_columns, self.nu
        constant = 2.0 * (math.lgamma(nu + half) - math.lgamma(nu)) + math.lgamma(2.0 * nu + half)
        constant += n_columns * (math.log(2.0) + 0.5 * math.log(math.pi) - 0.5 * math.log(2.0 * nu))
        return constant - math.lgamma(2.0 * nu + n_columns) + n_columns * namespace(lengthscale).log(lengthscale)

    def slope(self, distances: Any, lengthscale: float, values: Any) -> tuple[Any, float]:
        """e⁻ᵗ over rℓ, e⁻ᵗ times 3/ℓ², or (1 + t) e⁻ᵗ times 5/3ℓ²; of ν = ½, which has a kink there, 0 at r = 0."""
        t = _at_most(distances * (math.sqrt(2.0 * self.nu) / lengthscale), _FAR)
        if self.nu == 0.5:
            apart = distances > 0.0
            return np.where(apart, np.exp(-t) / np.where(apart, distances, 1.0), 0.0), -math.log(lengthscale)
        return (1.0 if self.nu == 1.5 else 1.0 + t) * np.exp(-t), self._log_factor - 2.0 * math.log(lengthscale)

    def log_slope(self, distances: Any, lengthscale: float) -> Any:
        """The logarithm of the slope."""
        t = _at_most(distances * (math.sqrt(2.0 * self.nu) / lengthscale), 1e300)
        if self.nu == 0.5:
            with np.errstate(divide="ignore"):
                return -np.log(distances) - t - math.log(lengthscale)
        return (0.0 if self.nu == 1.5 else np.log1p(t)) - t + self._log_factor - 2.0 * math.log(lengthscale)

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Draws from a multivariate Student's t distribution with 2ν degrees of freedom."""
        normal = generator.normal(size=(count, n_columns))
        return normal / np.sqrt(generator.chisquare(2.0 * self.nu, size=(count, 1)) / (2.0 * self.nu))

    @property
    def _log_factor(self) -> float:
        return math.log(3.0 if self.nu == 1.5 else 5.0 / 3.0)


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """The rational quadratic kernel (1 + ‖a - b‖²/2αℓ²)^-α: Gaussians of many lengthscales, the more the smaller α.

    Examples
    --------
    >>> RationalQuadratic(alpha=1.0).value(np.array([0.0, 2.0]), 1.0)
    array([1. , 0.5])
    """

    name: ClassVar[str] = "rational_quadratic"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        """Check that α is a positive number."""
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """(1 + d²/2αℓ²)^-α."""
        factor = 0.5 / (self.alpha * lengthscale**2)
        total = np.multiply(distances, factor, out=out) if out is not None else distances * factor
        total += 1.0
        if isinstance(total, np.ndarray):  # exponents such as -1 are not taken as powers
            total **= -self.alpha
            return total
        return total**-self.alpha

    def frequencies(self, count: int, n_columns: int, generator: np.random.Generator) -> Any:
        """Draws from normal distributions with Gamma variances: the kernel is the mean of Gaussian ones over these."""
        variances = generator.gamma(self.alpha, 1.0 / self.alpha, size=(count, 1))
        return generator.normal(size=(count, n_columns)) * np.sqrt(variances)


def _exponential(distances: Any, factor: Any, out: Any) -> Any:
    """exp(factor × distances)."""
    if out is not None:
        return np.exp(np.multiply(distances, factor, out=out), out=out)
    return namespace(distances).exp(distances * factor)


def _at_most(values: Any, largest: float) -> Any:
    """The values clipped at `largest`; NumPy arrays in place."""
    if isinstance(values, np.ndarray):
        return np.minimum(values, largest, out=values)
    return namespace(values).where(values < largest, values, largest)


#: Kernels that have a name for the command line and for ``kernel=``.
NAMES = {kernel.label: kernel for kernel in (RBF(), Laplace(), Matern(0.5), Matern(1.5), Matern(2.5))} | {
    "rational_quadratic": RationalQuadratic()
}


def resolve(kernel: str | Kernel) -> Kernel:
    """The kernel of that name or label, or the kernel itself.

    A label is what results call a kernel, such as "rbf + laplace" or "rational_quadratic(alpha=2)".
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        several = "test and log_bf10 average over several" if isinstance(kernel, list | tuple) else None
        raise InputTypeError(
            f"kernel: expected a name or a Kernel, got {type(kernel).__name__}", argument="kernel", remedy=several
        )
    own = {name: kind for name, kind in known_kernels().items() if not kind.__module__.startswith("twosample.kernels.")}
    if kernel in own:
        return own[kernel]()
    try:
        return _of_expression(ast.parse(kernel.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        several = "; gibbs has 'ard'" if kernel == "ard" else ""
        several += "; of objects it is for test" if kernel in ("kmer", "graph") else ""
        raise InputError(
            f"kernel: {kernel!r:.60} is unknown",
            argument="kernel",
            remedy=f"use {' or '.join(map(repr, [*NAMES, *own]))}{several}",
        ) from None


def _of_expression(node: ast.expr) -> Kernel:
    """The kernel of a label, parsed as a Python expression; other expressions raise an error."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _of_expression(node.left), _of_expression(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        constants = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
        return Kernel.from_plain({"name": node.func.id, **constants})
    if isinstance(node, ast.Name):
        return NAMES[node.id]
    raise ValueError("no kernel")


def resolve_several(kernel: object) -> tuple[Kernel, ...]:
    """The kernel as a tuple, or several kernels to average over.

    Examples
    --------
    >>> resolve_several(["rbf", Laplace()])
    (RBF(), Laplace())
    """
    if not isinstance(kernel, list | tuple):
        return (resolve(kernel),)  # type: ignore[arg-type]
    found = tuple(map(resolve, kernel))
    if not found or len(set(found)) < len(found):
        why = "one of them is there twice" if found else "there is none to average over"
        raise InputError(f"kernel: {why}", argument="kernel", remedy="give different kernels")
    return found
