"""The posterior of the witness function: where the samples differ, by how much, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from twosample import prior
from twosample.arrays import Array
from twosample.data import View
from twosample.evidence import Evidence, amplitudes, spectrum
from twosample.features import FeatureMap, PointFeatures
from twosample.kernels import Kernel
from twosample.models import Measure, Model
from twosample.posterior.grid import local_polynomials
from twosample.posterior.lengthscale import H1, LengthscalePosterior

__all__ = ["Witness", "WitnessPosterior"]


# Kept are about so many lengthscales, amplitudes with more than this share of the likeliest one's weight, and
# directions in which the prior has more than this share of the noise.
_LENGTHSCALES = 12
_NEGLIGIBLE_TAIL = 1e-4
_NEGLIGIBLE_WEIGHT = 1e-3
_NEGLIGIBLE_SIGNAL = 1e-6
_LARGEST_LOG_VARIANCE = 300.0
# Between the lengthscales that are kept, means and variances are interpolated by polynomials of this degree.
_DEGREE = 3


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
    """A mixture of Gaussian processes, over the lengthscales and amplitudes that have posterior mass.

    Attributes
    ----------
    kernel
        The kernel.
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
    amplitude_weights
        Posterior probabilities of the amplitudes given each lengthscale, (J, A).
    weights, covariance
        Mean and covariance, over the posterior of the lengthscale, of the weights that interpolate between the J
        lengthscales, (J,) and (J, J).
    """

    kernel: Kernel
    points: Array
    measure: Measure
    lengthscales: Array
    basis: Array
    eigenvalues: Array
    scores: Array
    log_variances: Array
    amplitude_weights: Array
    weights: Array
    covariance: Array

    @classmethod
    def of(
        cls, evidence: Evidence, posterior: LengthscalePosterior, features: FeatureMap, model: Model
    ) -> WitnessPosterior:
        """The mixture with what does not matter left out: close lengthscales, unlikely amplitudes, flat directions."""
        kept = evidence.select(_representatives(posterior, evidence.lengthscales))
        mass = posterior.mass[:, H1]
        nodes = np.log(kept.lengthscales)
        interpolation = local_polynomials(nodes, np.clip(posterior.rule.grid, nodes[0], nodes[-1]), _DEGREE)
        weights = mass @ interpolation
        deviations = interpolation - weights
        given_lengthscale = np.exp(kept.log_mixture - kept.log_bf10[:, None])
        log_amplitudes, _ = amplitudes(model)
        likely = (given_lengthscale > _NEGLIGIBLE_WEIGHT * given_lengthscale.max(axis=1, keepdims=True)).any(axis=0)
        given_lengthscale = given_lengthscale[:, likely]
        log_scale = model.log_prior_variance(features, kept.lengthscales)
        log_variances = np.minimum(2.0 * log_amplitudes[likely] + log_scale[:, None], _LARGEST_LOG_VARIANCE)
        spectra = kept.spectra
        if spectra is None:
            spectra = spectrum(kept.delta, kept.V, prior.factors(model, features, kept.lengthscales))
        signal = np.exp(log_variances.max(axis=1))[:, None] * spectra.eigenvalues  # eigenvalues increase
        first = int((signal < _NEGLIGIBLE_SIGNAL).all(axis=0).sum())
        assert isinstance(features, PointFeatures)
        return cls(
            kernel=features.kernel,
            points=features.points,
            measure=model.measure,
            lengthscales=kept.lengthscales,
            basis=spectra.basis[:, :, first:],
            eigenvalues=spectra.eigenvalues[:, first:],
            scores=spectra.scores[:, first:],
            log_variances=log_variances,
            amplitude_weights=given_lengthscale / given_lengthscale.sum(axis=1, keepdims=True),
            weights=weights,
            covariance=(mass[:, None] * deviations).T @ deviations,
        )

    def at(self, locations: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at locations (m, D) in standardised units.

        For one component the mean is a² r(w,Z)(a²R+V)⁻¹Δ and the variance a² r(w,w) - a⁴ r(w,Z)(a²R+V)⁻¹r(Z,w).
        """
        features = PointFeatures(self.kernel, View.none(self.points.shape[1]), self.points, typical=1.0)
        means, variances = np.empty((2, len(self.lengthscales), len(locations)))
        for j, lengthscale in enumerate(self.lengthscales.tolist()):
            cross, prior_variance = prior.at_locations(self.measure, features, locations, lengthscale)
            projected = cross @ self.basis[j]
            variance = np.exp(self.log_variances[j])[:, None]
            gain = variance / (1.0 + variance * self.eigenvalues[j])
            of_amplitudes = projected @ (gain * self.scores[j]).T
            left = np.outer(prior_variance, variance)
            left -= projected**2 @ (variance * gain).T
            means[j] = of_amplitudes @ self.amplitude_weights[j]
            deviations = of_amplitudes - means[j][:, None]
            variances[j] = (np.maximum(left, 0.0) + deviations**2) @ self.amplitude_weights[j]
        within = np.maximum(self.weights @ variances, 0.0)
        between = np.einsum("jw,jk,kw->w", means, self.covariance, means)
        return self.weights @ means, np.sqrt(within + np.maximum(between, 0.0))


def _representatives(posterior: LengthscalePosterior, lengthscales: Array) -> NDArray[np.intp]:
    """Indices of some lengthscales, evenly spread in log ℓ over the posterior under H1, and of one beyond each end."""
    nodes = np.log(lengthscales)
    cumulative = np.cumsum(posterior.mass[:, H1])
    low, high = np.interp([_NEGLIGIBLE_TAIL, 1.0 - _NEGLIGIBLE_TAIL], cumulative, posterior.rule.grid)
    nearest = np.abs(nodes - np.linspace(low, high, _LENGTHSCALES)[:, None]).argmin(axis=1)
    beyond = [max(nearest[0] - 1, 0), min(nearest[-1] + 1, len(nodes) - 1)]
    return np.unique(np.concatenate([nearest, beyond]))
