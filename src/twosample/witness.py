"""The posterior of the witness function: where the samples differ, by how much, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from twosample.kernels import Measure, prior_covariance, prior_variance, squared_distances

__all__ = ["Witness", "WitnessPosterior"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Witness:
    """The witness function at m locations: positive where the first sample has more mass, negative where the second.

    Attributes
    ----------
    at
        Locations (m, D), in the units of the data.
    mean, sd
        Posterior mean and standard deviation there, (m,), given that the samples differ.
    """

    at: Array
    mean: Array
    sd: Array

    def band(self, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper end of the pointwise credible band of that probability (normal approximation)."""
        reach = NormalDist().inv_cdf(0.5 + 0.5 * level) * self.sd
        return self.mean - reach, self.mean + reach


@dataclass(frozen=True, eq=False)
class WitnessPosterior:
    """A mixture of Gaussian processes, one for each lengthscale and amplitude that has posterior mass.

    Attributes
    ----------
    points
        Evaluation points (s, D), in standardised units.
    measure
        Of the prior covariance r.
    lengthscales
        J lengthscales, (J,), in standardised units.
    basis, eigenvalues, scores
        Their spectra in the k directions that matter, (J, s, k), (J, k) and (J, k).
    log_variances
        Log a² of A amplitudes at each lengthscale, (J, A).
    weights
        Posterior probabilities, (J, A), adding up to one.
    """

    points: Array
    measure: Measure
    lengthscales: Array
    basis: Array
    eigenvalues: Array
    scores: Array
    log_variances: Array
    weights: Array

    def at(self, locations: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at locations (m, D) in standardised units.

        For one component the mean is a² r(w,Z)(a²R+V)⁻¹Δ and the variance a² r(w,w) - a⁴ r(w,Z)(a²R+V)⁻¹r(Z,w).
        """
        distances = squared_distances(locations, self.points)
        between = squared_distances(self.points, self.points)
        mean, second_moment = np.zeros(len(locations)), np.zeros(len(locations))
        for j, lengthscale in enumerate(self.lengthscales):
            projected = prior_covariance(self.measure, distances, between, lengthscale) @ self.basis[j]
            prior = prior_variance(self.measure, distances, lengthscale)
            variance = np.exp(self.log_variances[j])[:, None]
            gain = variance / (1.0 + variance * self.eigenvalues[j])
            means = projected @ (gain * self.scores[j]).T
            variances = np.outer(prior, variance) - projected**2 @ (variance * gain).T
            mean += means @ self.weights[j]
            second_moment += (np.maximum(variances, 0.0) + means**2) @ self.weights[j]
        return mean, np.sqrt(np.maximum(second_moment - mean**2, 0.0))
