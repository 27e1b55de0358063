"""A pair of simulated samples with evaluation points, and the helpers of its generators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import Seed, count_of, generator_of
from twosample.common.arrays import Array
from twosample.errors import InputError

__all__ = ["Law", "SimulatedPair", "clusters", "draw_pair", "finite", "normals", "numbered"]

Law = Callable[[np.random.Generator, int], Array]
JointLaw = Callable[[np.random.Generator, int], tuple[Array, Array]]


class SimulatedPair(NamedTuple):
    """Two samples, their names, and evaluation points.

    Attributes
    ----------
    x, y
        Rows of the samples, each (n, D).
    names
        Names of the samples.
    columns
        Names of the D columns.
    points
        Evaluation points, (s, D), drawn afresh: first half from the law of x, then half from the law of y. When s is
        odd, the law of x gives one more.
    """

    x: Array
    y: Array
    names: tuple[str, str]
    columns: tuple[str, ...]
    points: Array


def draw_pair(
    n: int,
    rng: Seed,
    points: int,
    law_x: Law,
    law_y: Law,
    *,
    joint: JointLaw | None = None,
    names: tuple[str, str],
    columns: tuple[str, ...],
) -> SimulatedPair:
    """Draw x and y, independently unless they have a joint law, and after them the points."""
    n, points = count_of(n, "n", 1), count_of(points, "points", 0)
    generator = generator_of(rng)
    x, y = joint(generator, n) if joint else (law_x(generator, n), law_y(generator, n))
    fresh = np.concatenate([law_x(generator, points - points // 2), law_y(generator, points // 2)])
    return SimulatedPair(x, y, names, columns, fresh)


def clusters(centres: Array, factor: Array, noise: int = 0) -> Law:
    """Normal clusters with covariance A Aᵀ, A the factor; rows cycle through the clusters; then columns of noise."""
    dimension = len(factor)

    def draw(generator: np.random.Generator, count: int) -> Array:
        rows = generator.normal(size=(count, dimension + noise))
        rows[:, :dimension] = centres[np.arange(count) % len(centres)] + rows[:, :dimension] @ factor.T
        return rows

    return draw


def normals(shares: Sequence[float], centres: Array, spreads: Array) -> Law:
    """A mixture of normals with these probabilities, means and, in each column, standard deviations."""

    def draw(generator: np.random.Generator, count: int) -> Array:
        kind = generator.choice(len(centres), size=count, p=shares)
        return generator.normal(centres[kind], spreads[kind])

    return draw


def numbered(stem: str, count: int) -> tuple[str, ...]:
    """Names of columns: the stem, with numbers where there are several."""
    return (stem,) if count == 1 else tuple(f"{stem} {number}" for number in range(1, count + 1))


def finite(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    """The value as an array, if it has this shape and is finite."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise InputError(f"{name}: must be {shape[0]} finite numbers, not {value!r:.40}")
    return array.astype(np.float64)
