"""A table to try things with: measurements of bolts, before and after a change of the machine."""

from __future__ import annotations

import math

import numpy as np

from twosample.common.arguments import Seed
from twosample.common.arrays import Array
from twosample.paper.simulate.pairs import Law, SimulatedPair, draw_pair

__all__ = ["bolts"]

_MEAN = np.array([60.0, 42.0, 33.0, 21.0])
_SD = np.array([0.5, 0.8, 1.5, 1.2])
# In standard deviations.
_SHIFT = 0.5
_CORRELATION = 0.8


def bolts(n: int, rng: Seed, *, points: int = 40) -> SimulatedPair:
    """Draw two samples that look like measurements of bolts, before and after a change of the machine.

    All numbers are invented. Lengths have grown by half a standard deviation. Before the change heavier bolts were
    harder (a correlation of 0.8), after it they are not, though weights by themselves are distributed as before, and so
    is hardness. The temperature of the hall is the same. All columns are normal.

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    points
        Number of evaluation points.

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
        _law(0.0, _CORRELATION),
        _law(_SHIFT, 0.0),
        names=("before", "after"),
        columns=("length", "weight", "hardness", "temperature"),
    )


def _law(shift: float, correlation: float) -> Law:
    def draw(generator: np.random.Generator, count: int) -> Array:
        rows = generator.normal(size=(count, len(_MEAN)))
        rows[:, 0] += shift
        rows[:, 2] = correlation * rows[:, 1] + math.sqrt(1.0 - correlation**2) * rows[:, 2]
        return np.asarray(_MEAN + _SD * rows)

    return draw
