"""Puckering coordinates of rings by Cremer and Pople's definition: amplitudes, phases and heights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.common.arrays import Array
from twosample.errors import InputError, InputTypeError

__all__ = ["Puckering", "cremer_pople", "faults", "puckering_of"]


# Relative to the radius of the ring: atoms this close coincide, an area this small spans no plane, and the phase of an
# amplitude this small is rounding.
_SAME_PLACE = 1e-9
_NO_AREA = 1e-8
_NO_DIRECTION = 1e-12


@dataclass(frozen=True, eq=False)
class Puckering:
    """How rings of N atoms depart from their mean planes (Cremer and Pople, 1975).

    Leading axes ``...`` are those of the coordinates; there are none for a single ring.

    Attributes
    ----------
    amplitudes
        q_2, ..., q_⌊N/2⌋ in the units of the coordinates, shape (..., ⌊N/2⌋ - 1). All are at least 0, except the last
        one for even N, which has no phase and carries a sign. For six-membered rings these are (q2, q3).
    phases
        φ_2, φ_3, ... of the amplitudes without a sign, in radians, in [0, 2π), shape (..., ⌈N/2⌉ - 2). A phase is 0
        where its amplitude is 0 but for rounding.
    displacements
        Height z_j of each atom above the mean plane, shape (..., N).

    Examples
    --------
    >>> around = np.pi * np.arange(6) / 3
    >>> twist = [0.0, 0.4, -0.4, 0.0, 0.4, -0.4]
    >>> twist_boat = cremer_pople(np.column_stack([1.4 * np.cos(around), -1.4 * np.sin(around), twist]))
    >>> twist_boat.columns, twist_boat.folded.round(3), twist_boat.phases_degrees.round(3)
    (('q2', 'q3'), array([0.8, 0. ]), array([270.]))
    """

    amplitudes: Array
    phases: Array
    displacements: Array

    @property
    def size(self) -> int:
        """Number of atoms of a ring, N."""
        return int(self.displacements.shape[-1])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the amplitudes: "q2", "q3", ..."""
        return tuple(f"q{m}" for m in range(2, 2 + self.amplitudes.shape[-1]))

    @property
    def phase_columns(self) -> tuple[str, ...]:
        """Names of the phases: "phi2", "phi3", ..."""
        return tuple(f"phi{m}" for m in range(2, 2 + self.phases.shape[-1]))

    @property
    def total(self) -> Array:
        """Total puckering amplitude Q, the root of the sum of the squared amplitudes, shape (...)."""
        return np.asarray(np.linalg.norm(self.amplitudes, axis=-1))

    @property
    def phases_degrees(self) -> Array:
        """The phases in degrees, in [0, 360)."""
        return np.degrees(self.phases)

    @property
    def folded(self) -> Array:
        """The amplitudes without the sign of the last one: they do not depend on how the atoms are numbered."""
        return np.abs(self.amplitudes)

    @property
    def polar(self) -> Array:
        """(Q, θ, φ) of six-membered rings, angles in degrees, shape (..., 3): q2 = Q sin θ and q3 = Q cos θ.

        Chairs are at θ = 0 and 180, boats and twist-boats at 90, half-chairs in between.
        """
        if self.size != 6:
            raise InputError(f"polar is for six-membered rings, and these have {self.size} atoms; use amplitudes")
        theta = np.degrees(np.arctan2(self.amplitudes[..., 0], self.amplitudes[..., 1]))
        return np.stack([self.total, theta, self.phases_degrees[..., 0]], axis=-1)


def cremer_pople(coordinates: ArrayLike) -> Puckering:
    """Compute the puckering coordinates of rings of four or more atoms.

    Parameters
    ----------
    coordinates
        Positions of the N atoms of a ring, in their order around it, shape (N, 3); or many rings, (..., N, 3).

    Returns
    -------
    Puckering
        Amplitudes, phases and the height of each atom above the mean plane.

    Raises
    ------
    InputError, InputTypeError
        If the coordinates cannot be used: fewer than 4 atoms, missing values, two atoms in one place, or atoms that
        span no mean plane, such as those on a line.

    Notes
    -----
    With R_j the position of atom j = 0, ..., N - 1 about the centroid, the mean plane is that of Σ R_j sin(2πj/N) and
    Σ R_j cos(2πj/N), its normal their cross product, and z_j = R_j · normal. Then

        q_m exp(iφ_m) = √(2/N) Σ z_j exp(-2πi mj/N) for 2 ≤ m < N/2, and q_{N/2} = N^(-1/2) Σ (-1)^j z_j for even N.

    Where the numbering starts and which way it goes matters: from atom k on, φ_m grows by 2πmk/N and q_{N/2} is
    multiplied by (-1)^k; the other way round from the same atom, φ_m becomes π - φ_m and q_{N/2} changes its sign. The
    mirror image has φ_m + π and -q_{N/2}.

    References
    ----------
    D. Cremer and J. A. Pople (1975). A general definition of ring puckering coordinates. *Journal of the American
    Chemical Society* 97, 1354-1358.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pentagon = np.array([[1.2, 0.0, 0.2], [0.4, -1.1, 0.1], [-1.0, -0.7, -0.2], [-1.0, 0.7, 0.1], [0.4, 1.1, 0.0]])
    >>> puckering = cremer_pople(pentagon + rng.normal(0, 0.05, size=(1000, 5, 3)))
    >>> puckering.amplitudes.shape, puckering.phases.shape, puckering.displacements.shape
    ((1000, 1), (1000, 1), (1000, 5))
    """
    rings = _as_rings(coordinates)
    size = rings.shape[-2]
    flat = rings.reshape(-1, size, 3)
    for fault, faulty in faults(flat):
        if faulty.any():
            which = f"ring {np.flatnonzero(faulty)[0]}" if rings.ndim > 2 else "the ring"
            raise InputError(f"coordinates: {which} {fault}; leave it out or correct it")
    return puckering_of(flat, rings.shape[:-2])


def _as_rings(coordinates: ArrayLike) -> Array:
    try:
        given = np.asarray(coordinates)
    except ValueError:
        raise InputError("coordinates has rows of different lengths; pass shape (N, 3) or (..., N, 3)") from None
    if given.dtype.kind not in "fiub":
        raise InputTypeError(f"coordinates must hold real numbers, not {given.dtype}")
    if given.ndim < 2 or given.shape[-1] != 3:
        raise InputError(f"coordinates has shape {given.shape}; pass (N, 3) for a ring or (..., N, 3) for many")
    if given.shape[-2] < 4:
        raise InputError(f"coordinates has {given.shape[-2]} atoms a ring; pass 4 or more, as fewer are always flat")
    return given.astype(np.float64)


def faults(rings: Array) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The possible faults of rings of shape (n, N, 3), and flags of the rings that have them."""
    missing = np.asarray(~np.isfinite(rings).all(axis=(1, 2)))
    yield "has missing or infinite coordinates", missing
    centred = _centred(np.where(missing[:, np.newaxis, np.newaxis], 0.0, rings))[0]
    radius = _radius(centred)
    same = radius == 0.0
    for step in range(1, rings.shape[1] // 2 + 1):
        gaps = np.linalg.norm(centred - np.roll(centred, step, axis=1), axis=2).min(axis=1)
        same |= gaps <= _SAME_PLACE * radius
    same &= ~missing
    yield "has two atoms in one place", same
    area = np.linalg.norm(_normal(centred), axis=1)
    flat = area <= _NO_AREA * (rings.shape[1] * radius) ** 2
    yield "has no mean plane, as if its atoms were on a line", flat & ~same & ~missing


def puckering_of(rings: Array, batch: tuple[int, ...]) -> Puckering:
    """Cremer and Pople's coordinates of faultless rings of shape (n, N, 3)."""
    size = rings.shape[1]
    centred, exponent = _centred(rings)
    normal = _normal(centred)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    heights = np.einsum("njc,nc->nj", centred, normal)
    spectrum = np.fft.rfft(heights, axis=1)[:, 2:] / np.sqrt(size)  # Σ z_j exp(-2πi mj/N), m = 2, ..., ⌊N/2⌋
    n_phases = (size - 1) // 2 - 1
    directed, alternating = np.sqrt(2.0) * spectrum[:, :n_phases], spectrum[:, n_phases:].real
    length = np.abs(directed)
    phases = np.mod(np.angle(directed), 2.0 * np.pi)
    phases[(length <= _NO_DIRECTION * _radius(centred)[:, np.newaxis]) | (phases >= 2.0 * np.pi)] = 0.0
    amplitudes = np.ldexp(np.concatenate([length, alternating], axis=1), exponent)
    return Puckering(
        amplitudes=amplitudes.reshape(*batch, amplitudes.shape[1]),
        phases=phases.reshape(*batch, n_phases),
        displacements=np.ldexp(heights, exponent).reshape(*batch, size),
    )


def _centred(rings: Array) -> tuple[Array, NDArray[np.int32]]:
    """Positions about the centroids, over a power of two so that no square over- or underflows, and its exponent."""
    exponent = np.frexp(np.abs(rings).max(axis=(1, 2), initial=0.0))[1]
    scaled = np.ldexp(rings, -exponent[:, np.newaxis, np.newaxis])
    return scaled - scaled.mean(axis=1, keepdims=True), exponent[:, np.newaxis]


def _radius(centred: Array) -> Array:
    return np.asarray(np.linalg.norm(centred, axis=2).max(axis=1, initial=0.0))


def _normal(centred: Array) -> Array:
    """R' × R'', shape (n, 3): normal to the mean plane."""
    angle = 2.0 * np.pi * np.arange(centred.shape[1]) / centred.shape[1]
    return np.cross(np.einsum("njc,j->nc", centred, np.sin(angle)), np.einsum("njc,j->nc", centred, np.cos(angle)))
