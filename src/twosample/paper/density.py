"""The posterior that the sampler draws from: the evidence at a position, compiled by JAX, with its gradient.

Features, moments and evidence are the functions that the test uses; only the volumes of Jacobians have a form of their
own here, as those of `twosample.features.jacobian` choose between decompositions pair by pair, which does not compile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from twosample.features.statistics import Moments
from twosample.inference import evidence, prior
from twosample.inference.evidence import Difference
from twosample.kernels import Kernel, squared_distances
from twosample.models import Gamma, Model

__all__ = ["Curves", "Data", "Target", "log_volume"]

Rows = NDArray[np.float64]


class Data(NamedTuple):
    """Data that the densities depend on, standardised."""

    x: Array  # the samples (n, D) each; for pairs whose differences alone count, the two halves of the pairs
    y: Array
    points: Array  # (s, D)
    pairs: tuple[Array, Array] | None  # the halves of those of the pseudo-likelihood; None where they are x and y
    usable: Array  # which pairs have a Jacobian of full rank, (n,)
    median: float  # the median heuristic

    @classmethod
    def from_rows(
        cls,
        x: Rows,
        y: Rows,
        points: Rows,
        pairs: tuple[Rows, Rows] | None,
        usable: NDArray[np.bool_] | None,
        median: float,
    ) -> Data:
        """From NumPy arrays."""
        with jax.enable_x64(True):
            content: Any = (x, y, points, pairs, True if usable is None else usable, median)
            return cls(*jax.tree.map(jnp.asarray, content))

    def without(self, column: int) -> Data:
        """The data with that column set to 0 in all rows and points, so that the kernel does not see it."""
        with jax.enable_x64(True):
            x, y, points = (rows.at[:, column].set(0.0) for rows in (self.x, self.y, self.points))
        return self._replace(x=x, y=y, points=points)


class Curves(NamedTuple):
    """Log p(D | θ, H0) and log p(D | θ, H1), the likelihoods of θ, and log BF10 given θ."""

    log_h0: Array
    log_h1: Array
    log_bf10: Array


@dataclass(frozen=True)
class Target:
    """The posterior of hypothesis and parameters, as functions of an unconstrained position.

    A position holds one number a lengthscale, and one for the amplitude where the model has a prior of it: for a
    Gamma prior log ℓ, for a log-uniform one the logit of where log ℓ lies in its range; for the amplitude log a.
    """

    model: Model
    kernel: Kernel
    n_lengthscales: int  # 1, or the number of columns
    paired: bool  # whether only the differences within pairs count

    @property
    def flat_under_h0(self) -> bool:
        """Whether the likelihood is constant under H0: models without a pseudo-likelihood."""
        return not self.model.needs_pairs

    def start(self, data: Data) -> Array:
        """The position of the median heuristic, and of the prior median of the amplitude."""
        prior = self.model.lengthscale
        if isinstance(prior, Gamma):
            position = jnp.full(self.n_lengthscales, jnp.log(data.median))
        else:
            share = -math.log(prior.low) / math.log(prior.high / prior.low)
            position = jnp.full(self.n_lengthscales, math.log(share / (1.0 - share)))
        if self.model.amplitude is None:
            return position
        return jnp.append(position, math.log(self.model.amplitude.scale))

    def lengthscales_of(self, positions: Rows, data: Data) -> Rows:
        """`lengthscales` of draws, as a NumPy array."""
        with jax.enable_x64(True):
            return np.asarray(self.lengthscales(jnp.asarray(positions), data))

    def lengthscales(self, position: Array, data: Data) -> Array:
        """The lengthscales of positions (..., P), as (..., n_lengthscales)."""
        position = position[..., : self.n_lengthscales]
        prior = self.model.lengthscale
        if isinstance(prior, Gamma):
            return jnp.exp(position)
        low, high = math.log(prior.low), math.log(prior.high)
        return data.median * jnp.exp(low + (high - low) * jax.nn.sigmoid(position))

    def log_prior(self, position: Array) -> Array:
        """Log density of a position, with the Jacobian of its transformation."""
        prior, offsets = self.model.lengthscale, position[: self.n_lengthscales]
        if isinstance(prior, Gamma):
            total = jnp.sum(prior.log_density(offsets))
        else:
            total = jnp.sum(jax.nn.log_sigmoid(offsets) + jax.nn.log_sigmoid(-offsets))
        if self.model.amplitude is None:
            return total
        offset = position[-1] - math.log(self.model.amplitude.scale)
        return total + (math.log(2.0 / math.pi) - jnp.logaddexp(offset, -offset))

    def curves(self, position: Array, data: Data) -> Curves:
        """Log likelihoods of both hypotheses and log BF10 at a position, as `evidence.evaluate` has them.

        Columns divided by their lengthscales `scale` (D,) have the kernel at the lengthscale 1.
        """
        log_variance = jnp.zeros(()) if self.model.amplitude is None else 2.0 * position[-1]
        scale = jnp.broadcast_to(self.lengthscales(position, data), (data.points.shape[1],))
        model, kernel = self.model, self.kernel
        points = data.points / scale

        def features(rows: Array) -> Array:
            values: Array = kernel.value(kernel.distances(rows / scale, points), 1.0)
            return values

        feature_x, feature_y = features(data.x), features(data.y)
        if self.paired:
            difference = Difference.of_pairs(Moments.of(feature_x - feature_y))
        else:
            difference = Difference.between(Moments.of(feature_x), Moments.of(feature_y), model)
        between = kernel.value(kernel.distances(points, points), 1.0)
        V, _, rows, even = difference.with_floor(model, between)
        R = self._prior_covariance(points, between)
        if model.components:
            along = prior.along_components(difference.covariance, evidence.inverse_factor(V), difference.size)
            R = (1.0 - model.components) * R + model.components * along @ along.T
        if not model.unit_variance:
            log_variance += kernel.log_self_convolution(jnp.exp(jnp.log(scale).mean()), len(scale))
        log_bf10 = evidence.log_bayes_factor(difference.delta, V, R, log_variance, rows, even)
        pairs = volume = None
        if model.needs_pairs:
            if data.pairs is not None:
                feature_x, feature_y = (features(rows) for rows in data.pairs)
            pairs = Moments.of(feature_x - feature_y)
            left, right = (rows / scale for rows in data.pairs or (data.x, data.y))
            distances = squared_distances(points, left), squared_distances(points, right)
            volume = log_volume(jnp.log(scale), left.T, right.T, points.T, distances, data.usable)
        log_h0, log_h1 = evidence.log_likelihoods(model, pairs, volume, V, R, difference.size, log_bf10)
        return Curves(log_h0, log_h1, log_bf10)

    def _prior_covariance(self, points: Array, between: Array) -> Array:
        if self.model.measure == "points":
            factor = prior.zero_sum(between)
            R = factor @ factor.T
        else:
            R = self.kernel.self_convolution(self.kernel.distances(points, points), 1.0, points.shape[1])
        covariance: Array = R + self.model.prior_nugget * jnp.eye(len(points))
        return covariance


@jax.custom_vjp
def log_volume(
    log_scale: Array, x: Array, y: Array, points: Array, distances: tuple[Array, Array], usable: Array
) -> Array:
    """Σ_i log vol J_i over the usable pairs (n,), by the Gaussian kernel, as a function of the log lengthscales (D,).

    Pairs (D, n) and points (D, s) are already divided by the lengthscales; `distances` are the squared ones (s, n) of
    the points to x and to y. Rows come last, so that the compiled loops over them are contiguous.
    """
    return _log_volume(log_scale, x, y, points, distances, usable)[0]


def _log_volume(
    log_scale: Array, x: Array, y: Array, points: Array, distances: tuple[Array, Array], usable: Array
) -> tuple[Array, Array]:
    """The log volume and its gradient in the log lengthscales.

    Gaussian elimination with row pivoting gives J = L U with entries of L at most 1, so that
    log vol J = Σ log|u_kk| + log vol L keeps its digits however unequal the kernel values of the rows are. With
    P = J (JᵀJ)⁻¹ the derivative is Σ P ∘ dJ; an entry of J_x is w u_d with log w = -½ Σ u², u = (x - z)/ℓ, so that only
    the row sums of P ∘ J over the columns of x and over those of y are needed.
    """
    n_columns = len(x)
    columns, squares = [], []
    total = -2.0 * log_scale.sum() * jnp.ones(x.shape[1])
    for rows, distance, sign in ((x, distances[0], 1.0), (y, distances[1], -1.0)):
        log_weight = jnp.where(distance == 0.0, -jnp.inf, -0.5 * distance)
        largest = log_weight.max(axis=0)
        largest = jnp.where(jnp.isfinite(largest), largest, 0.0)
        total += n_columns * largest
        weight = sign * jnp.exp(log_weight - largest)
        for row, point in zip(rows, points, strict=True):
            difference = row - point[:, None]
            columns.append(weight * difference)
            squares.append(difference**2)

    lower, upper = [], []
    for k in range(2 * n_columns):
        size = jnp.abs(columns[k])
        largest_rows = size == size.max(axis=0)
        pivot_row = jnp.where(largest_rows, jnp.sign(columns[k]), 0.0)  # of the ties, if any, their sum
        eliminated = largest_rows & (largest_rows.sum(axis=0) == 1)
        upper.append([jnp.sum(pivot_row * column, axis=0) for column in columns[k:]])
        pivot = jnp.where(upper[k][0] == 0.0, jnp.nan, upper[k][0])
        lower.append(columns[k] / pivot)
        total += jnp.log(pivot)
        for j in range(k + 1, 2 * n_columns):
            columns[j] = jnp.where(eliminated, 0.0, columns[j] - lower[k] * upper[k][j - k])

    # Gram–Schmidt on L, then its transposed pseudo-inverse by back substitution.
    orthogonal, mixing, inverse = list(lower), {}, list(lower)
    for k in range(2 * n_columns):
        square = jnp.sum(orthogonal[k] ** 2, axis=0)
        total += 0.5 * jnp.log(square)
        inverse[k] = orthogonal[k] / square
        for j in range(k + 1, 2 * n_columns):
            mixing[k, j] = jnp.sum(inverse[k] * orthogonal[j], axis=0)
            orthogonal[j] = orthogonal[j] - mixing[k, j] * orthogonal[k]
    for k in reversed(range(2 * n_columns)):
        for j in range(k + 1, 2 * n_columns):
            inverse[k] = inverse[k] - mixing[k, j] * inverse[j]
    share_x, share_y = _row_shares(lower, upper, inverse)

    # Where kernel values underflow the volume is less than e⁻⁷⁰⁰ and no position to stay at.
    lost = jnp.isnan(total)
    total, counted = jnp.where(lost, -jnp.inf, total), usable & ~lost
    gradient = jnp.stack(
        [
            jnp.sum(jnp.where(counted, squares[d] * share_x + squares[n_columns + d] * share_y, 0.0))
            for d in range(n_columns)
        ]
    )
    # -2 from the two columns of J that each ℓ_d divides once more, -2 from u_d in them.
    return jnp.sum(jnp.where(usable, total, 0.0)), gradient - 4.0 * jnp.sum(usable)


def _row_shares(lower: list[Array], upper: list[list[Array]], inverse: list[Array]) -> tuple[Array, Array]:
    """Row sums (s, n) of P ∘ J over the columns of x and over those of y, from J = L U and the pseudo-inverse of L.

    The sum over all columns is that of pinv(L)ᵀ ∘ L; of it the columns of x have (A_x - A_y (U_yy⁻ᵀ U_xyᵀ)) ∘ L_x with
    A = pinv(L)ᵀ.
    """
    n_columns = len(lower) // 2
    solved = inverse[n_columns:]
    for k in reversed(range(n_columns)):
        for j in range(k + 1, n_columns):
            solved[k] = solved[k] - upper[n_columns + k][j - k] * solved[j]
        solved[k] = solved[k] / upper[n_columns + k][0]
    share_x = jnp.zeros_like(lower[0])
    for k in range(n_columns):
        crossed = sum(upper[k][n_columns + j - k] * solved[j] for j in range(n_columns))
        share_x += (inverse[k] - crossed) * lower[k]
    everything = sum(a * column for a, column in zip(inverse, lower, strict=True))
    return share_x, jnp.asarray(everything) - share_x


def _volume_backward(gradient: Array, cotangent: Array) -> tuple[Array | None, ...]:
    return cotangent * gradient, None, None, None, None, None


log_volume.defvjp(_log_volume, _volume_backward)
