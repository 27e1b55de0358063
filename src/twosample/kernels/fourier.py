"""Random Fourier features: a kernel by a few frequencies, drawn from its spectral density (Rahimi and Recht, 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from twosample.common.arguments import count_of
from twosample.common.arrays import Array
from twosample.errors import InputError
from twosample.kernels.base import Kernel
from twosample.kernels.plain import RBF, resolve

__all__ = ["Fourier"]

# Angles are clipped here, because cosines of infinite angles are NaN.
_LARGEST_ANGLE = 1e300


@dataclass(frozen=True)
class Fourier(Kernel):
    """The kernel φ(a)·φ(b) of m random features φ: cosines and sines of ω·a/ℓ, for m/2 frequencies ω, over √(m/2).

    Its mean over frequencies is the kernel that they are drawn for, and its error falls as 1/√m. It is for comparison:
    slower than that kernel and no more powerful, with all columns tested together. It is a kernel itself, whatever m:
    the witness is φ(·)·w with weights w = Σ ν_i φ(z_i) of the points z, so that the prior covariance of w is
    Φ(Z)ᵀHΦ(Z)/s, and draws lie in its space.

    Attributes
    ----------
    m
        Number of features, even.
    kernel
        The kernel whose spectral density the frequencies are drawn from, or its name.
    seed
        Of the frequencies.

    Examples
    --------
    >>> rows, points = np.array([[0.0], [1.0]]), np.array([[0.0]])
    >>> kernel = Fourier(2000, "rbf")
    >>> np.allclose(kernel.value(kernel.distances(rows, points), 1.0).ravel(), [1.0, np.exp(-0.5)], atol=0.05)
    True
    """

    name: ClassVar[str] = "fourier"
    m: int = 200
    kernel: Kernel = RBF()  # noqa: RUF009 - it is frozen
    seed: int = 0

    def __post_init__(self) -> None:
        """Check that the number of features is even, and that the spectral density of the kernel is known."""
        object.__setattr__(self, "m", count_of(self.m, "m", 2))
        if self.m % 2:
            raise InputError(
                f"m: features come in pairs, and {self.m} is odd", argument="m", remedy=f"use {self.m + 1}"
            )
        object.__setattr__(self, "seed", count_of(self.seed, "seed", 0))
        object.__setattr__(self, "kernel", resolve(self.kernel))
        self.kernel.frequencies(1, 1, np.random.default_rng(0))

    @property
    def label(self) -> str:
        """The label with all constants, from which `resolve` makes the kernel."""
        return f"fourier(m={self.m}, kernel={self.kernel.label!r}, seed={self.seed})"

    @property
    def metric(self) -> Literal["euclidean", "l1"]:  # type: ignore[override]
        """The metric of the kernel."""
        return self.kernel.metric

    def drawn(self, n_columns: int) -> Array:
        """The frequencies at ℓ = 1 for rows of D columns, (m/2, D)."""
        return _drawn(self.kernel, self.m // 2, n_columns, self.seed)

    def distances(self, rows: Any, points: Any) -> Any:
        """Projections of rows (..., n, m/2) and of points (..., s, m/2) on the frequencies; the kernel is of both."""
        drawn = self.drawn(points.shape[-1])
        with np.errstate(over="ignore", invalid="ignore"):
            return rows @ drawn.T, points @ drawn.T

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """Mean of cos ω·(a - b)/ℓ over the frequencies, by products of cosines and sines; `out` is not used."""
        if np.ndim(lengthscale):
            return np.stack([self.value(distances, float(one)) for one in np.ravel(lengthscale)])
        rows, points = (_angles(one, lengthscale) for one in distances)
        values = np.cos(rows) @ np.cos(points).swapaxes(-1, -2)
        values += np.sin(rows) @ np.sin(points).swapaxes(-1, -2)
        values /= self.m // 2
        return values

    @classmethod
    def _of_constants(cls, constants: dict[str, Any]) -> Kernel:
        kernel = constants["kernel"]  # by its label, or as JSON has it
        return cls(**{**constants, "kernel": kernel if isinstance(kernel, str) else Kernel.from_plain(kernel)})


@cache
def _drawn(kernel: Kernel, count: int, n_columns: int, seed: int) -> Array:
    drawn = kernel.frequencies(count, n_columns, np.random.default_rng(seed))
    return np.asarray(drawn, dtype=np.float64)


def _angles(projections: Array, lengthscale: float) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        angles = projections / lengthscale
    if not np.isfinite(angles).all():
        angles = np.nan_to_num(angles, posinf=_LARGEST_ANGLE, neginf=-_LARGEST_ANGLE)
    return np.asarray(angles)
