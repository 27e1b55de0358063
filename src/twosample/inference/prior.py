"""The prior of the witness: the covariance r(z, z') = ∫ k(z, u) k(u, z') ν(du) of its Gaussian process.

With ν the Lebesgue measure (the paper's) it is the self-convolution of the kernel, up to a factor that the amplitude of
the model takes up. With ν uniform on the evaluation points the witness is k applied to a signed measure on them, and
that measure is held to a total of zero, as the difference of two probabilities has. Then R = FFᵀ, F = K(I - 11ᵀ/s)/√s.

The Bayes factor of the default model has half of its prior from there, and half along the principal components of the
features of all rows: differences are to be expected where rows differ from each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array, namespace

if TYPE_CHECKING:
    from twosample.features.maps import FeatureMap, PointKernel
    from twosample.models import Measure, Model


__all__ = ["along_components", "at_locations", "covariances", "factors", "witness_factors", "zero_sum"]

# Points may be copies of each other, or nearly so.
_JITTER = 1e-8
# Of the prior along principal components, the shares that grow as the variance of a component and as its square.
_AS_VARIANCE, _AS_SQUARE = 0.3, 0.7
_NO_VARIANCE = 1e-300


def zero_sum(values: Any) -> Any:
    """F of kernel values (..., w, s) between locations and points: r of two locations is the product of their rows."""
    xp = namespace(values)
    return (values - xp.mean(values, axis=-1, keepdims=True)) / values.shape[-1] ** 0.5


def covariances(model: Model, features: PointKernel, lengthscales: Array) -> Array:
    """R at unit amplitude for every lengthscale, (m, s, s), with the nugget of the model."""
    if model.measure == "points":
        factor = zero_sum(features.between(lengthscales))
        R = factor @ np.swapaxes(factor, -1, -2)
    else:
        R = features.convolved_between(lengthscales)
    return np.asarray(R + model.prior_nugget * np.eye(R.shape[-1]))


def factors(model: Model, features: PointKernel, lengthscales: Array) -> Array:
    """F with R = FFᵀ for every lengthscale, (m, s, s), to full relative accuracy where ν is on the points.

    A product of two rounded matrices hides what is small beside its largest entries. F keeps it.
    """
    if model.measure == "points" and model.prior_nugget == 0.0:
        return np.asarray(zero_sum(features.between(lengthscales)))
    values, vectors = np.linalg.eigh(covariances(model, features, lengthscales))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


def along_components(covariance: Any, inverse: Any, size: float) -> Any:
    """F with FFᵀ = 0.3 C(C + D)⁻¹C + 0.7 C²/v, (..., s, 2s), for the covariance C of the features of a row.

    v is the mean variance of the components, weighed by their variances. D is what the noise of the difference has
    beside that of the rows: where that is more than C no difference is to be expected. `inverse` is L⁻¹ of the noise
    V = LLᵀ = 2(C + D)/`size`.
    """
    xp = namespace(covariance)
    square = xp.sum(covariance**2, axis=(-2, -1))
    trace = xp.sum(xp.linalg.diagonal(covariance), axis=-1)
    linear = covariance @ xp.linalg.matrix_transpose(inverse) * (2.0 * _AS_VARIANCE / size) ** 0.5
    weight = xp.sqrt(_AS_SQUARE * trace / xp.maximum(square, xp.full_like(square, _NO_VARIANCE)))
    return xp.concat([linear, weight[..., None, None] * covariance], axis=-1)


def witness_factors(model: Model, features: FeatureMap, lengthscales: Array) -> Array:
    """As `factors`, but differences need not add up to zero: what lies beyond the reach of the points is missing."""
    if model.measure == "points":
        return np.asarray(features.between(lengthscales) / features.count**0.5)
    return factors(model, features, lengthscales)


def at_locations(measure: Measure, features: FeatureMap, rows: Array, lengthscale: float) -> tuple[Array, Array, Array]:
    """Prior of the witness: covariance of locations with the points, (w, s), variance at them, and residual, each (w,).

    With ν on the points a location far from them has no variance. If it were one more point, that would add the square
    of the residual 1 - k(w,Z)K⁻¹k(Z,w) to s times the variance, whatever is known at the other points.
    """
    if measure == "lebesgue":
        return features.convolved(rows, lengthscale), np.ones(len(rows)), np.zeros(len(rows))
    values, between = features.at(rows, lengthscale), features.between(np.array([lengthscale]))[0]
    solved = np.linalg.solve(between + _JITTER * np.eye(len(between)), values.T)
    residual = np.clip(1.0 - np.sum(values.T * solved, axis=0), 0.0, 1.0)
    return np.asarray(values @ between / len(between)), np.square(values).mean(axis=1), np.asarray(residual)
