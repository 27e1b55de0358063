"""Synthetic pairs of samples with a known answer, for demonstrations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SimulatedPair", "gaussian_scale", "rings_like"]

Array = NDArray[np.float64]
Seed = int | np.random.SeedSequence | np.random.Generator


class SimulatedPair(NamedTuple):
    """Two samples and what to call them.

    Attributes
    ----------
    x, y
        Rows of the samples, each (n, D).
    names
        What the samples are called.
    columns
        What the D columns are called.
    """

    x: Array
    y: Array
    names: tuple[str, str]
    columns: tuple[str, ...]


def gaussian_scale(n: int, rng: Seed, *, sd: float = 3.0) -> SimulatedPair:
    """Draw from N(0, 1) and N(0, sd²): equal means, different spreads.

    With the default this is the first example of Zhang et al. (2022), N(0, 1) against N(0, 9), which a comparison of
    means cannot tell apart.

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    sd
        Standard deviation of the second sample.

    Examples
    --------
    >>> pair = gaussian_scale(200, 0)
    >>> pair.x.shape, pair.names
    ((200, 1), ('N(0, 1)', 'N(0, 9)'))
    """
    generator = np.random.default_rng(rng)
    x = generator.normal(0.0, 1.0, size=(n, 1))
    y = generator.normal(0.0, sd, size=(n, 1))
    return SimulatedPair(x, y, ("N(0, 1)", f"N(0, {sd**2:g})"), ("value",))


class _Shape(NamedTuple):
    """A cluster of ring conformations: its share of each sample, where it is (q2, q3) and how far it spreads."""

    share_x: float
    share_y: float
    center: tuple[float, float]
    spread: tuple[float, float]


_CHAIR = _Shape(0.44, 0.34, (0.05, 0.57), (0.03, 0.03))
_INVERTED_CHAIR = _Shape(0.36, 0.28, (0.05, -0.57), (0.03, 0.03))
_TWIST_BOAT = _Shape(0.06, 0.26, (0.70, 0.0), (0.06, 0.06))
_HALF_CHAIR = _Shape(0.07, 0.08, (0.42, 0.32), (0.06, 0.05))
_PLANAR = _Shape(0.07, 0.04, (0.06, 0.0), (0.05, 0.04))
_SHAPES = (_CHAIR, _INVERTED_CHAIR, _TWIST_BOAT, _HALF_CHAIR, _PLANAR)

# Against the crystal, clusters of the gas phase are this much wider and lie this much further out in |q3|.
_GAS_SPREAD = 1.15
_GAS_SHIFT = 0.008


def rings_like(n: int, rng: Seed) -> SimulatedPair:
    """Draw two samples that look like puckering coordinates of six-membered rings, in a crystal and in the gas phase.

    All numbers are invented: they imitate the look of such data (tight clusters of chairs near q3 = ±0.57, looser ones
    of twist-boats, half-chairs and nearly planar rings), not any measurement. The samples differ mostly in how common
    the twist-boats are, and a little in where the chairs lie and how much everything spreads.

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.

    Examples
    --------
    >>> pair = rings_like(100, 0)
    >>> pair.x.shape, pair.columns
    ((100, 2), ('q2', 'q3'))
    >>> bool((pair.x[:, 0] >= 0).all())
    True
    """
    generator = np.random.default_rng(rng)
    centers = np.array([shape.center for shape in _SHAPES])
    spreads = np.array([shape.spread for shape in _SHAPES])
    gas_centers = centers + [0.0, _GAS_SHIFT] * np.sign(centers)

    x = _mixture(generator, n, [shape.share_x for shape in _SHAPES], centers, spreads)
    y = _mixture(generator, n, [shape.share_y for shape in _SHAPES], gas_centers, _GAS_SPREAD * spreads)
    return SimulatedPair(x, y, ("crystal", "gas phase"), ("q2", "q3"))


def _mixture(generator: np.random.Generator, n: int, shares: list[float], centers: Array, spreads: Array) -> Array:
    """Draw n rows (q2, q3) from a mixture of normals, folded at q2 = 0 because q2 is a length."""
    kind = generator.choice(len(shares), size=n, p=shares)
    rows = generator.normal(centers[kind], spreads[kind])
    rows[:, 0] = np.abs(rows[:, 0])
    return rows
