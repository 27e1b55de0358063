"""Where two sides depend on each other: how much more, or less, mass the pairs have than independence would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.common.records import Comparable
from twosample.data.ranks import normal_quantiles
from twosample.inference.pictures import rounded
from twosample.questions.independence.pairing import Coefficients
from twosample.questions.independence.sides import Axis, Side

__all__ = ["PairsWitness", "Picture"]

# Pairs of lengthscales that are kept, at most, and the least posterior probability of one.
_MOST_PAIRS = 8
_LEAST = 1e-3
# Number of places of a picture along a column of numbers, between these quantiles.
_PLACES = 48
_SHOWN = (0.02, 0.98)


@dataclass(frozen=True, eq=False, repr=False)
class Picture(Comparable):
    """The witness at all pairs of some places of a column of x and of one of y."""

    # The places, (G,) and (H,); of a category the numbers of its levels.
    at_x: Array
    at_y: Array
    # The levels of categories.
    levels_x: tuple[str, ...]
    levels_y: tuple[str, ...]
    # Posterior mean and standard deviation of the witness, (G, H).
    mean: Array
    sd: Array


@dataclass(frozen=True, eq=False, repr=False)
class PairsWitness(Comparable):
    """The posterior of the witness, a mixture over the likeliest pairs of lengthscales."""

    axes_x: tuple[Axis, ...]
    axes_y: tuple[Axis, ...]
    x: Side
    y: Side
    places: Indices  # which lengthscales of x and y each member of the mixture has, (J, 2)
    weights: Array  # their posterior probabilities, (J,)
    # Posterior of the coefficients of the products of the functions, (J, k_x, k_y).
    mean: Array
    variance: Array

    @classmethod
    def of(
        cls, axes: tuple[Sequence[Axis], Sequence[Axis]], x: Side, y: Side, log_bf10: Array, found: Coefficients
    ) -> PairsWitness:
        """From the evidence at every pair of lengthscales (m_x, m_y), and the coefficients there."""
        mass = np.exp(log_bf10 - log_bf10.max())
        mass /= mass.sum()
        order = np.argsort(-mass, axis=None, kind="stable")[:_MOST_PAIRS]
        order = order[mass.ravel()[order] >= _LEAST * mass.max()]
        places = np.stack(np.unravel_index(order, mass.shape), axis=1).astype(np.int64)
        chosen = tuple(places.T)
        weights = mass[chosen] / mass[chosen].sum()
        return cls(tuple(axes[0]), tuple(axes[1]), x, y, places, weights, found.mean[chosen], found.variance[chosen])

    def at(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at pairs of coordinates (w, d_x) and (w, d_y), each (w,)."""
        return self._of_functions(self.x.functions(x), self.y.functions(y))

    def _of_functions(self, values_x: Array, values_y: Array) -> tuple[Array, Array]:
        """Mean and standard deviation from values of the functions, (m_x, w, k_x) and (m_y, w, k_y)."""
        mean, square = np.zeros((2, values_x.shape[1]))
        for (i, j), weight, coefficients, variance in zip(
            self.places.tolist(), self.weights.tolist(), self.mean, self.variance, strict=True
        ):
            f, g = values_x[i], values_y[j]
            value = ((f @ coefficients) * g).sum(axis=1)
            mean += weight * value
            square += weight * (value**2 + ((f**2 @ variance) * g**2).sum(axis=1))
        # A density is not negative.
        return np.maximum(mean, -1.0), np.sqrt(np.maximum(square - mean**2, 0.0))

    def picture(self) -> Picture | None:
        """For one column on either side; None for more."""
        if len(self.axes_x) > 1 or len(self.axes_y) > 1:
            return None
        (at_x, rows_x), (at_y, rows_y) = (_places(axis) for axis in (self.axes_x[0], self.axes_y[0]))
        values_x, values_y = self.x.functions(rows_x), self.y.functions(rows_y)
        mean, sd = self._of_functions(np.repeat(values_x, len(rows_y), axis=1), np.tile(values_y, (1, len(rows_x), 1)))
        shape = (len(at_x), len(at_y))
        mean, sd = (rounded(values).reshape(shape) for values in (mean, sd))
        return Picture(at_x, at_y, self.axes_x[0].levels, self.axes_y[0].levels, mean, sd)


def _places(axis: Axis) -> tuple[Array, Array]:
    """Places along a column, and their coordinates."""
    if axis.levels:
        return np.arange(float(len(axis.levels))), np.eye(len(axis.levels))
    limits = np.interp(normal_quantiles(np.array(_SHOWN)), axis.scores, axis.knots)
    if limits[0] == limits[1]:
        limits = axis.knots[[0, -1]]
    at = np.linspace(float(limits[0]), float(limits[1]), _PLACES)
    return at, axis.coordinates(at.tolist())
