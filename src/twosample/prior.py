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
    from twosample.features import FeatureMap
    from twosample.models import Measure, Model


__all__ = ["covariances", "cross_covariance", "factors", "variance", "zero_sum"]


def zero_sum(values: Any) -> Any:
    """F of kernel values (..., w, s) between locations and points: r of two locations is the product of their rows."""
    xp = namespace(values)
    return (values - xp.mean(values, axis=-1, keepdims=True)) / values.shape[-1] ** 0.5


def covariances(model: Model, features: FeatureMap, lengthscales: Array) -> Array:
    """R at unit amplitude for every lengthscale, (m, s, s), with the nugget of the model."""
    if model.measure == "points":
        factor = zero_sum(features.between(lengthscales))
        R = factor @ np.swapaxes(factor, -1, -2)
    else:
        R = features.convolved_between(lengthscales)
    return np.asarray(R + model.prior_nugget * np.eye(R.shape[-1]))


def factors(model: Model, features: FeatureMap, lengthscales: Array) -> Array:
    """F with R = FFᵀ for every lengthscale, (m, s, s), to full relative accuracy where ν is on the points.

    A product of two rounded matrices hides what is small beside its largest entries. F keeps it.
    """
    if model.measure == "points" and model.prior_nugget == 0.0:
        return np.asarray(zero_sum(features.between(lengthscales)))
    values, vectors = np.linalg.eigh(covariances(model, features, lengthscales))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


def cross_covariance(measure: Measure, features: FeatureMap, rows: Array, lengthscale: float) -> Array:
    """R between locations, in the units of the data, and the points, (w, s)."""
    at = np.array([lengthscale])
    if measure == "lebesgue":
        return features.convolved(rows, lengthscale)
    return np.asarray(zero_sum(features.at(rows, lengthscale)) @ zero_sum(features.between(at)[0]).T)


def variance(measure: Measure, features: FeatureMap, rows: Array, lengthscale: float) -> Array:
    """r(w, w) at the locations, (w,)."""
    if measure == "lebesgue":
        return np.ones(len(rows))
    return np.asarray(np.square(zero_sum(features.at(rows, lengthscale))).sum(axis=1))
