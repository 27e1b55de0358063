"""The prior of the witness: the covariance r(z, z') = ∫ k(z, u) k(u, z') ν(du) of its Gaussian process.

With ν the Lebesgue measure (the paper's) it is the self-convolution of the kernel, up to a factor that the amplitude of
the model takes up. With ν uniform on the evaluation points the witness is k applied to a signed measure on them, and
that measure is held to a total of zero, as the difference of two probabilities has. Then R = FFᵀ, F = K(I - 11ᵀ/s)/√s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.arrays import Array, namespace

if TYPE_CHECKING:
    from twosample.features import FeatureMap, PointKernel
    from twosample.models import Measure, Model


__all__ = ["at_locations", "covariances", "factors", "zero_sum"]


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


def at_locations(measure: Measure, features: FeatureMap, rows: Array, lengthscale: float) -> tuple[Array, Array]:
    """Covariance of locations, in the units of the data, with the points, (w, s), and variance at them, (w,)."""
    if measure == "lebesgue":
        return features.convolved(rows, lengthscale), np.ones(len(rows))
    factor = zero_sum(features.at(rows, lengthscale))
    between = zero_sum(features.between(np.array([lengthscale]))[0])
    return np.asarray(factor @ between.T), np.asarray(np.square(factor).sum(axis=1))
