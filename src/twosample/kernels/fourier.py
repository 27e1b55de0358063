"""Random Fourier features: a kernel by a few frequencies, drawn from its spectral density (Rahimi and Recht, 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from twosample.common.arguments import count_of
from twosample.common.arrays import Array
from twosample.errors import InputError
from twosample.kernels.base import Kernel

__all__ = ["Fourier"]

# Cosines of infinite angles are no numbers; those of so large ones mean nothing, but are.
_LARGEST_ANGLE = 1e300


class Projections(NamedTuple):
    """Rows and points along the frequencies, (..., n, m/2) and (..., s, m/2)."""

    rows: Array
    points: Array


@dataclass(frozen=True)
class Fourier(Kernel):
    """The kernel φ(a)·φ(b) of m random features φ: cosines and sines of ω·a/ℓ, for m/2 frequencies ω, over √(m/2).

    Its mean over frequencies is the kernel that they are drawn for, and its error falls as 1/√m. It is a kernel itself,
    whatever m: the witness is φ(·)·w with weights w = Σ ν_i φ(z_i) of the points z, so that the prior covariance of w
    is Φ(Z)ᵀHΦ(Z)/s, and draws lie in its space.

    Attributes
    ----------
    kernel
        The kernel whose spectral density the frequencies are drawn from.
    m
        Number of features, even.
    n_columns
        Number of columns of the rows.
    seed
        Of the frequencies.

    Examples
    --------
    >>> from twosample.kernels import RBF
    >>> rows, points = np.array([[0.0], [1.0]]), np.array([[0.0]])
    >>> kernel = Fourier(RBF(), m=2000, n_columns=1)
    >>> np.allclose(kernel.value(kernel.distances(rows, points), 1.0).ravel(), [1.0, np.exp(-0.5)], atol=0.05)
    True
    """

    name: ClassVar[str] = "rff"
    kernel: Kernel
    m: int = 200
    n_columns: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse an odd number of features, and kernels without a known spectral density."""
        object.__setattr__(self, "m", count_of(self.m, "m", 2))
        if self.m % 2:
            raise InputError(
                f"m: features come in pairs, and {self.m} is odd", argument="m", remedy=f"use {self.m + 1}"
            )
        self.kernel.frequencies(1, 1, np.random.default_rng(0))

    @property
    def label(self) -> str:
        """With the kernel and the number of features."""
        return f"rff({self.kernel.label}, m={self.m})"

    @property
    def metric(self) -> Literal["euclidean", "l1"]:  # type: ignore[override]
        """That of the kernel."""
        return self.kernel.metric

    @cached_property
    def drawn(self) -> Array:
        """The frequencies at ℓ = 1, (m/2, D)."""
        drawn = self.kernel.frequencies(self.m // 2, self.n_columns, np.random.default_rng(self.seed))
        return np.asarray(drawn, dtype=np.float64)

    def distances(self, rows: Any, points: Any) -> Any:
        """Rows and points along the frequencies: what the kernel is a function of is not one number for each two."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Projections(rows @ self.drawn.T, points @ self.drawn.T)

    def value(self, distances: Any, lengthscale: Any, out: Any = None) -> Any:
        """Mean of cos ω·(a - b)/ℓ over the frequencies, by products of cosines and sines; `out` is not used."""
        if np.ndim(lengthscale):
            return np.stack([self.value(distances, float(one)) for one in np.ravel(lengthscale)])
        rows, points = (_angles(one, lengthscale) for one in distances)
        values = np.cos(rows) @ np.cos(points).swapaxes(-1, -2)
        values += np.sin(rows) @ np.sin(points).swapaxes(-1, -2)
        values /= self.m // 2
        return values

    def to_plain(self) -> dict[str, Any]:
        """The kernel for JSON."""
        return {**super().to_plain(), "kernel": self.kernel.to_plain()}

    @classmethod
    def _of_constants(cls, constants: dict[str, Any]) -> Kernel:
        return cls(**{**constants, "kernel": Kernel.from_plain(constants["kernel"])})


def _angles(projections: Array, lengthscale: float) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        angles = projections / lengthscale
    if not np.isfinite(angles).all():
        angles = np.nan_to_num(angles, posinf=_LARGEST_ANGLE, neginf=-_LARGEST_ANGLE)
    return np.asarray(angles)
