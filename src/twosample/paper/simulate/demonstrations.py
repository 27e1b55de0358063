"""Invented data for demonstrations: samples that look like shapes of rings, and like measurements of bolts."""

from __future__ import annotations

import math

import numpy as np

from twosample.common.arguments import Seed
from twosample.common.arrays import Array
from twosample.paper.simulate.pairs import Law, SimulatedPair, draw_pair, normals

__all__ = ["bolts", "rings_like"]


# Clusters of ring conformations (chair, inverted chair, twist-boat, half-chair, planar): shares of each sample, centres
# (q2, q3) and standard deviations.
_SHARES_X = (0.44, 0.36, 0.06, 0.07, 0.07)
_SHARES_Y = (0.34, 0.28, 0.26, 0.08, 0.04)
_CENTRES = np.array([(0.05, 0.57), (0.05, -0.57), (0.70, 0.0), (0.42, 0.32), (0.06, 0.0)])
_SPREADS = np.array([(0.03, 0.03), (0.03, 0.03), (0.06, 0.06), (0.06, 0.05), (0.05, 0.04)])

# Relative to the crystal, clusters of the gas phase are wider by this factor and shifted outwards in |q3| by this.
_GAS_SPREAD = 1.15
_GAS_SHIFT = 0.008

_BOLTS_MEAN = np.array([60.0, 42.0, 33.0, 21.0])
_BOLTS_SD = np.array([0.5, 0.8, 1.5, 1.2])
# In standard deviations.
_BOLTS_SHIFT = 0.5
_BOLTS_CORRELATION = 0.8


def rings_like(n: int, rng: Seed, *, points: int = 40) -> SimulatedPair:
    """Draw two samples that look like puckering coordinates of six-membered rings, in a crystal and in the gas phase.

    All numbers are invented: they imitate the look of such data (tight clusters of chairs near q3 = ±0.57, looser ones
    of twist-boats, half-chairs and nearly planar rings), not any measurement. The samples differ mostly in how common
    the twist-boats are, and a little in where the chairs lie and how much everything spreads. Clusters are normal,
    folded at q2 = 0 because q2 is a length.

    Parameters
    ----------
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.

    Examples
    --------
    >>> pair = rings_like(100, 0)
    >>> pair.x.shape, pair.columns
    ((100, 2), ('q2', 'q3'))
    >>> bool((pair.x[:, 0] >= 0).all())
    True
    """
    gas_centres = _CENTRES + [0.0, _GAS_SHIFT] * np.sign(_CENTRES)
    return draw_pair(
        n,
        rng,
        points,
        _folded(normals(_SHARES_X, _CENTRES, _SPREADS)),
        _folded(normals(_SHARES_Y, gas_centres, _GAS_SPREAD * _SPREADS)),
        names=("crystal", "gas phase"),
        columns=("q2", "q3"),
    )


def _folded(law: Law) -> Law:
    def draw(generator: np.random.Generator, count: int) -> Array:
        rows = law(generator, count)
        rows[:, 0] = np.abs(rows[:, 0])
        return rows

    return draw


def bolts(n: int, rng: Seed, *, points: int = 40) -> SimulatedPair:
    """Draw two samples that look like measurements of bolts, before and after a change of the machine.

    All numbers are invented. Lengths have grown by half a standard deviation. Before the change heavier bolts were
    harder (a correlation of 0.8), after it they are not, though weights by themselves are distributed as before, and so
    is hardness. The temperature of the hall is the same. All columns are normal.

    Parameters
    ----------
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.

    Examples
    --------
    >>> pair = bolts(200, 0)
    >>> pair.names, pair.columns
    (('before', 'after'), ('length', 'weight', 'hardness', 'temperature'))
    """
    return draw_pair(
        n,
        rng,
        points,
        _bolts_law(0.0, _BOLTS_CORRELATION),
        _bolts_law(_BOLTS_SHIFT, 0.0),
        names=("before", "after"),
        columns=("length", "weight", "hardness", "temperature"),
    )


def _bolts_law(shift: float, correlation: float) -> Law:
    def draw(generator: np.random.Generator, count: int) -> Array:
        rows = generator.normal(size=(count, len(_BOLTS_MEAN)))
        rows[:, 0] += shift
        rows[:, 2] = correlation * rows[:, 1] + math.sqrt(1.0 - correlation**2) * rows[:, 2]
        return np.asarray(_BOLTS_MEAN + _BOLTS_SD * rows)

    return draw
