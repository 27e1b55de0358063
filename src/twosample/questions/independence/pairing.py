"""The evidence that two sides depend on each other, from the correlations between functions of one and of the other.

With f_i the functions of x and g_j those of y, the density of the pairs relative to the product of the margins is
1 + Σ c_ij f_i(x) g_j(y), and c_ij is the correlation of f_i and g_j. Under independence all are zero. Under H1 a few
are not: each with a probability that falls with the shares of its two functions in the kernel, and then normal with a
standard deviation a. At least one of them is, so that H1 is never H0.

What is observed is u_ij = √(n-1) × the correlation in the sample. If the pairing is random its variance is 1, exactly;
how far it is from normal is said by its fourth moment, about κ_i κ_j/n, which is added to the variance: functions that
are zero but for a few rows prove little when they coincide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.common.constraints import NONNEGATIVE, Axes, Ones
from twosample.common.records import Comparable
from twosample.data.ranks import normal_quantiles
from twosample.inference.pictures import rounded
from twosample.questions.independence.sides import Axis, Side, blocks_of

__all__ = [
    "AMPLITUDE",
    "EXPECTED",
    "Coefficients",
    "Pairing",
    "PairsWitness",
    "Picture",
    "log_mean",
    "permuted",
    "products",
]

# Scale of the half-Cauchy prior of a, and the values of log a, relative to it, that stand for the prior.
AMPLITUDE = 0.4
_OFFSETS = np.arange(-4.0, 5.0)
# Expected numbers of correlations that are not zero, with equal prior weight.
EXPECTED = (1.0, 3.0, 10.0)
_LARGEST_PROBABILITY = 0.5
# Beyond this the logarithm of a Bayes factor is added instead of multiplying, so that a few factors do not overflow.
_LARGEST_LOG = 80.0
_FACTORS = 8
# Pairs of lengthscales that are kept, at most, and the least posterior probability of one.
_MOST_PAIRS = 8
_LEAST = 1e-3
# Number of places of a picture along a column of numbers, between these quantiles.
_PLACES = 48
_SHOWN = (0.02, 0.98)


class Coefficients(NamedTuple):
    """Posterior means and variances of the c_ij, given that there is a dependence, at every pair of lengthscales."""

    # (m_x, m_y, k_x, k_y) each.
    mean: Array
    variance: Array


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two sides and how many pairs there are, without the pairs."""

    x: Side
    y: Side
    count: int  # number of pairs n
    amplitude: float = AMPLITUDE  # scale of the half-Cauchy prior of a

    def scores(self, sums: Array) -> Array:
        """The u_ij from Σ f_i g_j over the pairs (..., m_x, k_x, m_y, k_y), as (..., m_x, m_y, k_x, k_y)."""
        return np.swapaxes(sums, -3, -2) * (math.sqrt(self.count - 1.0) / self.count)

    def log_bf10(self, scores: Array) -> Array:
        """Log BF10 at every pair of lengthscales, (..., m_x, m_y)."""
        squares = np.square(scores) / self._variance
        found = np.full(scores.shape[:-2], -np.inf)
        for amplitude, log_weight in self._amplitudes():
            gains = self._gains(squares, amplitude)
            for given, _ in self._given(gains):
                np.logaddexp(found, given + (log_weight - math.log(len(EXPECTED))), out=found)
        return found

    def coefficients(self, scores: Array) -> Coefficients:
        """The posterior of the c_ij, by Bayes' rule: which are not zero, and how large they are then."""
        squares = np.square(scores) / self._variance
        log_bf10 = self.log_bf10(scores)
        mean, square = np.zeros_like(scores), np.zeros_like(scores)
        for amplitude, log_weight in self._amplitudes():
            gains = self._gains(squares, amplitude)
            share = self._share(amplitude)
            size = share * scores / math.sqrt(self.count - 1.0)
            spread = share * self._variance / (self.count - 1.0)
            for prior, (given, not_empty) in zip(self._active, self._given(gains), strict=True):
                log_weights = given + (log_weight - math.log(len(EXPECTED))) - log_bf10 - not_empty
                with np.errstate(divide="ignore"):
                    log_odds = np.log(prior) - np.log1p(-prior) + gains
                active = np.exp(np.minimum(log_weights[..., None, None] - np.logaddexp(0.0, -log_odds), 0.0))
                mean += active * size
                square += active * (size**2 + spread)
        return Coefficients(mean, np.maximum(square - mean**2, 0.0))

    def _amplitudes(self) -> Iterator[tuple[float, float]]:
        """Values of a, and logarithms of their prior weights: the density of log a is sech(log a - log scale)/π."""
        log_weights = -np.logaddexp(_OFFSETS, -_OFFSETS)
        log_weights -= np.logaddexp.reduce(log_weights)
        return zip((self.amplitude * np.exp(_OFFSETS)).tolist(), log_weights.tolist(), strict=True)

    @cached_property
    def _variance(self) -> Array:
        """Variance of the u_ij under independence, with their fourth moments, (m_x, m_y, k_x, k_y)."""
        return 1.0 + self.x.kurtosis[:, None, :, None] * self.y.kurtosis[None, :, None, :] / self.count

    @cached_property
    def _active(self) -> Array:
        """Prior probability of each correlation that it is not zero, (E, m_x, m_y, k_x, k_y)."""
        shares = self.x.shares[:, None, :, None] * self.y.shares[None, :, None, :]
        return np.minimum(np.multiply.outer(EXPECTED, shares), _LARGEST_PROBABILITY)

    @cached_property
    def _log_empty(self) -> Array:
        """Log prior probability that all are zero, were that possible, (E, m_x, m_y)."""
        return np.asarray(np.log1p(-self._active).sum(axis=(-2, -1)))

    def _share(self, amplitude: float) -> Array:
        """Which part of u_ij is signal if it is not all noise: a²(n-1)/(a²(n-1) + variance)."""
        signal = amplitude**2 * (self.count - 1.0)
        return np.asarray(signal / (signal + self._variance))

    def _gains(self, squares: Array, amplitude: float) -> Array:
        """Log Bayes factor of each correlation alone."""
        share = self._share(amplitude)
        return np.asarray(0.5 * (squares * share + np.log1p(-share)))

    def _given(self, gains: Array) -> Iterator[tuple[Array, Array]]:
        """For every expected number, log BF10 given that not all are zero, and log P(that | data) without, (..., m, m).

        Without that, the Bayes factor is the product over the correlations of 1 - π + π BF.
        """
        gains = gains.reshape(*gains.shape[:-2], -1)
        bounded = np.minimum(gains, _LARGEST_LOG)
        beyond = (gains - bounded).sum(axis=-1)
        growth = np.expm1(bounded)
        for prior, empty in zip(self._active.reshape(len(EXPECTED), *gains.shape[-3:]), self._log_empty, strict=True):
            terms = prior * growth
            terms += 1.0
            # One logarithm for a few factors.
            total = np.log(np.multiply.reduceat(terms, range(0, terms.shape[-1], _FACTORS), axis=-1)).sum(axis=-1)
            total += beyond
            not_empty = np.log(-np.expm1(np.minimum(empty - total, -np.finfo(np.float64).tiny)))
            yield total + not_empty - np.log(-np.expm1(empty)), not_empty


def products(x: Side, y: Side, rows_x: Array, rows_y: Array) -> Array:
    """Σ f_i g_j over the pairs, (m_x, k_x, m_y, k_y), some rows at a time."""
    total: Array | float = 0.0
    for some_x, some_y in zip(blocks_of(rows_x), blocks_of(rows_y), strict=True):
        total = total + np.tensordot(x.functions(some_x), y.functions(some_y), axes=(1, 1))
    return np.asarray(total)


def log_mean(log_bf10: Array) -> Array:
    """Log of the mean Bayes factor over pairs of lengthscales with equal prior weight, (...)."""
    count = log_bf10.shape[-1] * log_bf10.shape[-2]
    return np.asarray(np.logaddexp.reduce(log_bf10.reshape(*log_bf10.shape[:-2], count), axis=-1) - math.log(count))


def permuted(functions_x: Array, functions_y: Array, orders: Indices) -> Array:
    """Σ f_i g_j with the rows of y in other orders (B, n), (B, m_x, k_x, m_y, k_y); functions are (n, m, k)."""
    n, m_x, k_x = functions_x.shape
    _, m_y, k_y = functions_y.shape
    left, right = functions_x.reshape(n, -1).T.copy(), functions_y.reshape(n, -1)
    return np.stack([left @ right[order] for order in orders]).reshape(-1, m_x, k_x, m_y, k_y)


@dataclass(frozen=True, eq=False, repr=False)
class Picture(Comparable):
    """The witness at all pairs of some places of a column of x and of one of y."""

    # The places, (G,) and (H,); of a category the numbers of its levels.
    at_x: Annotated[Array, Axes("G", least=1)]
    at_y: Annotated[Array, Axes("H", least=1)]
    # The levels of categories.
    levels_x: Annotated[tuple[str, ...], Axes("G", optional=True)]
    levels_y: Annotated[tuple[str, ...], Axes("H", optional=True)]
    # Posterior mean and standard deviation of the witness, (G, H).
    mean: Annotated[Array, Axes("G", "H")]
    sd: Annotated[Array, Axes("G", "H"), NONNEGATIVE]


@dataclass(frozen=True, eq=False, repr=False)
class PairsWitness(Comparable):
    """The posterior of the witness, a mixture over the likeliest pairs of lengthscales."""

    axes_x: tuple[Axis, ...]
    axes_y: tuple[Axis, ...]
    x: Side
    y: Side
    # Which lengthscales of x and y each member of the mixture has, (J, 2)
    places: Annotated[Indices, Axes("J", 2, least=1), NONNEGATIVE]
    weights: Annotated[Array, Axes("J"), Ones()]  # their posterior probabilities, (J,)
    # Posterior of the coefficients of the products of the functions, (J, k_x, k_y).
    mean: Annotated[Array, Axes("J", "k of x", "k of y")]
    variance: Annotated[Array, Axes("J", "k of x", "k of y"), NONNEGATIVE]

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if (self.places.max(axis=0) >= (len(self.x.lengthscales), len(self.y.lengthscales))).any():
            yield "places are of lengthscales that it does not have"
        if self.mean.shape[1:] != (self.x.maps.shape[2], self.y.maps.shape[2]):
            yield "has other numbers of functions than x and y"

    @classmethod
    def of(
        cls, axes: tuple[Sequence[Axis], Sequence[Axis]], x: Side, y: Side, mass: Array, found: Coefficients
    ) -> PairsWitness:
        """From the posterior of the pairs of lengthscales (m_x, m_y), and the coefficients there."""
        order = np.argsort(-mass, axis=None, kind="stable")[:_MOST_PAIRS]
        order = order[mass.ravel()[order] >= _LEAST * mass.max()]
        places = np.stack(np.unravel_index(order, mass.shape), axis=1).astype(np.int64)
        chosen = tuple(places.T)
        weights = mass[chosen] / mass[chosen].sum()
        return cls(tuple(axes[0]), tuple(axes[1]), x, y, places, weights, found.mean[chosen], found.variance[chosen])

    def at(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at pairs of coordinates (w, d_x) and (w, d_y), each (w,)."""
        values_x, values_y = self.x.functions(x), self.y.functions(y)
        mean, square = np.zeros((2, len(x)))
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
        mean, sd = self.at(np.repeat(rows_x, len(rows_y), axis=0), np.tile(rows_y, (len(rows_x), 1)))
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
