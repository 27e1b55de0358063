"""Bayes factors and pseudo-likelihoods, as pure functions of the statistics, for all lengthscales at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twosample.kernels import prior_covariance, squared_distances

if TYPE_CHECKING:
    from twosample.models import Model
    from twosample.statistics import FeatureStatistics, Moments

__all__ = [
    "Evidence",
    "Spectrum",
    "direct_log_bayes_factor",
    "effective_size",
    "evaluate",
    "log_bayes_factor",
    "log_determinants",
    "log_pseudo_likelihood",
    "noise_covariance",
    "prior_covariances",
    "probability",
    "published_log_pseudo_likelihoods",
    "spectrum",
]

Array = NDArray[np.float64]

# Eight factors 1 + a²λ must not overflow.
_LARGEST_LOG_SIGNAL = 80.0
# Rounding in a²R beyond this share of the noise floor could make a²R + V indefinite.
_SAFE_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Spectrum:
    """V and R brought to diagonal form together, after which every amplitude is free.

    With V = LLᵀ and L⁻¹RL⁻ᵀ = Q diag(λ) Qᵀ.

    Attributes
    ----------
    eigenvalues
        λ, (..., s), not negative.
    scores
        u = QᵀL⁻¹Δ, (..., s).
    basis
        L⁻ᵀQ, (..., s, s): (a²R + V)⁻¹ = basis diag(1/(1 + a²λ)) basisᵀ.
    """

    eigenvalues: Array
    scores: Array
    basis: Array


def spectrum(delta: Array, V: Array, R: Array) -> Spectrum:
    """Diagonalise R in the metric of V; leading dimensions are independent problems.

    V must be positive definite (its noise floor sees to that); R may be singular: eigenvalues that rounding made
    negative are set to zero.
    """
    inverse = np.linalg.inv(np.linalg.cholesky(V))
    transposed = np.swapaxes(inverse, -1, -2)
    eigenvalues, vectors = _eigh(inverse @ R @ transposed)
    basis = transposed @ vectors
    return Spectrum(np.maximum(eigenvalues, 0.0), np.einsum("...ij,...i->...j", basis, delta), basis)


def _eigh(matrices: Array) -> tuple[Array, Array]:
    """Eigenvalues, increasing, and eigenvectors of symmetric positive semi-definite matrices.

    LAPACK's divide and conquer gives up on rare, harmless matrices with many equal eigenvalues. Of a positive
    semi-definite matrix the singular value decomposition is the same decomposition by another algorithm.
    """
    try:
        found = np.linalg.eigh(matrices)
        return found.eigenvalues, found.eigenvectors
    except np.linalg.LinAlgError:
        if matrices.ndim == 2:
            vectors, values, _ = np.linalg.svd(matrices)
            return values[::-1], vectors[:, ::-1]
        parts = [_eigh(matrix) for matrix in matrices]
        return np.stack([values for values, _ in parts]), np.stack([vectors for _, vectors in parts])


def log_bayes_factor(
    eigenvalues: Array,
    scores: Array,
    log_variance: Array,
    freedom: float = np.inf,
    dimensions: Array | float = 0.0,
) -> Array:
    """Log BF10 for prior variances a², given by their logarithms.

    For known V it is ½ Σ [u² a²λ/(1+a²λ) - log(1+a²λ)], the ratio of two Gaussian densities of Δ. For V estimated with
    `freedom` degrees of freedom, Student's t takes the place of the Gaussian.

    Parameters
    ----------
    eigenvalues, scores
        Of a `Spectrum`, (m, s).
    log_variance
        Log a² of A amplitudes, (m, A).
    freedom
        Degrees of freedom of V; infinite where it counts as known.
    dimensions
        Number of dimensions of Δ in which V is estimated rather than floor, (m, 1).

    Returns
    -------
    ndarray
        (m, A).
    """
    squares = np.square(scores)
    with np.errstate(divide="ignore"):
        log_eigenvalues = np.log(eigenvalues)
    if log_variance.max() + log_eigenvalues.max() < _LARGEST_LOG_SIGNAL:
        signal = np.exp(log_variance)[:, :, None] * eigenvalues[:, None]
        total = 1.0 + signal
        # One logarithm for eight factors.
        log_determinant = np.log(np.multiply.reduceat(total, range(0, total.shape[-1], 8), axis=-1)).sum(axis=-1)
        signal /= total
    else:
        log_signal = log_variance[:, :, None] + log_eigenvalues[:, None]
        log_determinant = np.logaddexp(0.0, log_signal).sum(axis=-1)
        signal = np.exp(-np.logaddexp(0.0, -log_signal))
    explained = (signal @ squares[:, :, None])[:, :, 0]
    if np.isfinite(freedom):
        # (ν + d) log[(1 + q0/ν) / (1 + q1/ν)], with q0 - q1 what the signal explains of q0 = Σ u².
        whole = freedom + squares.sum(axis=1, keepdims=True)
        explained = -(freedom + dimensions) * np.log1p(-explained / whole)
    return np.asarray(0.5 * (explained - log_determinant))


def probability(log_odds: Array) -> Array:
    """The probability of H1 at these log odds, never quite 0."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -700.0, 700.0))))


def effective_size(statistics: FeatureStatistics) -> float:
    """Harmonic mean of the sample sizes; the number of pairs where there are only pairs."""
    if statistics.x.count == 0 and statistics.pairs is not None:
        return float(statistics.pairs.count)
    return 2.0 / (1.0 / statistics.x.count + 1.0 / statistics.y.count)


def degrees_of_freedom(statistics: FeatureStatistics) -> float:
    """Half those of the estimate of V, as kernel features are not Gaussian: n - 1 for two samples of size n.

    For unequal sizes n is their harmonic mean; for n pairs it is (n - 1)/2.
    """
    pairs_only = statistics.x.count == 0
    return (0.5 if pairs_only else 1.0) * (effective_size(statistics) - 1.0)


def noise_covariance(statistics: FeatureStatistics, shrinkage: float = 0.0) -> Array:
    """Covariance of Δ without its floor, (m, s, s): from the pairs where only they were kept, else by Method 1.

    Each sample's covariance is shrunk towards the pooled within-sample one, as if `shrinkage` more observations
    had it. With equal sample sizes that changes nothing.
    """
    x, y, pairs = statistics.x, statistics.y, statistics.pairs
    if x.count == 0 and pairs is not None:
        return pairs.covariance / pairs.count
    if shrinkage == 0.0 or x.count == y.count:
        return x.covariance / x.count + y.covariance / y.count
    within = (x.scatter + y.scatter) / (x.count + y.count)

    def shrunk(sample: Moments) -> Array:
        return (sample.scatter + shrinkage * within) / ((sample.count + shrinkage) * sample.count)

    return shrunk(x) + shrunk(y)


def direct_log_bayes_factor(delta: Array, V: Array, R: Array, log_variance: Array) -> Array:
    """Log BF10 at one prior variance a² each, (m,), for known V and without its spectrum.

    With A = a²R + V it is ½ [Δᵀ V⁻¹ a²R A⁻¹ Δ - log det A + log det V].
    """
    signal = np.exp(log_variance)[:, None, None] * R
    total = signal + V
    under_h0, under_h1 = (np.linalg.solve(matrix, delta[:, :, None]) for matrix in (V, total))
    explained = (np.swapaxes(under_h0, 1, 2) @ signal @ under_h1)[:, 0, 0]
    return np.asarray(0.5 * (explained - log_determinants(total) + log_determinants(V)))


def log_determinants(matrices: Array) -> Array:
    """Of positive definite matrices, (m,)."""
    return np.asarray(2.0 * np.log(np.einsum("mii->mi", np.linalg.cholesky(matrices))).sum(axis=1))


def log_pseudo_likelihood(sigma: Array, pairs: Moments, log_volume: Array) -> Array:
    """Log p(D | ℓ, H0) = Σ_i log N(g_i; 0, Σ) + Σ_i log vol J_i for each lengthscale, (m,)."""
    n, s = pairs.count, sigma.shape[-1]
    second_moment = pairs.scatter + n * pairs.mean[:, :, None] * pairs.mean[:, None, :]
    quadratic = np.einsum("mij,mij->m", np.linalg.inv(sigma), second_moment)
    return np.asarray(-0.5 * (n * (s * np.log(2 * np.pi) + log_determinants(sigma)) + quadratic) + log_volume)


def published_log_pseudo_likelihoods(pairs: Moments, R: Array, log_volume: Array) -> tuple[Array, Array]:
    """Log p(D | ℓ, M) under H0 and H1 as the paper's released code has them, each (m,).

    Σ is the covariance of the differences plus 0.1·I. Under H1 the trace is the simplified one of the paper's remark,
    with the scatter that lacks the 0.1, which is why the two are not of one joint model.
    """
    n, s = pairs.count, R.shape[-1]
    sigma = pairs.covariance + 0.1 * np.eye(s)
    log_h0 = log_pseudo_likelihood(sigma, pairs, log_volume)
    # tr(n (GHGᵀ + n²R)⁻¹ (GGᵀ + n²R)) with GGᵀ = GHGᵀ + n ΔΔᵀ, so that nothing is lost where R is nearly singular.
    solved = np.linalg.solve(pairs.scatter / n**2 + R, pairs.mean[:, :, None])[:, :, 0]
    trace = n * s + (pairs.mean * solved).sum(axis=1)
    log_determinant = log_determinants(sigma + n * R) + (n - 1) * log_determinants(sigma)
    log_h1 = -0.5 * (n * s * np.log(2 * np.pi) + log_determinant + trace) + log_volume
    return log_h0, np.asarray(log_h1)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the data say at each of m lengthscales, in the order the lengthscales were asked for.

    Attributes
    ----------
    lengthscales
        (m,).
    log_bf10
        Log Bayes factor of H1 given the lengthscale, amplitude integrated out, (m,).
    log_h0, log_h1
        Log of what weighs the lengthscale under each hypothesis, without its prior, (m,).
    log_mixture
        Log of prior weight × Bayes factor of every amplitude, (m, A).
    delta, V
        Difference of the mean features and its noise covariance, (m, s) and (m, s, s).
    """

    lengthscales: Array
    log_bf10: Array
    log_h0: Array
    log_h1: Array
    log_mixture: Array
    delta: Array
    V: Array

    def spectrum(self, model: Model, points: Array) -> Spectrum:
        """The spectra at all lengthscales."""
        return spectrum(self.delta, self.V, prior_covariances(model, points, self.lengthscales))

    def select(self, indices: NDArray[np.intp]) -> Evidence:
        """Evidence at some of the lengthscales."""
        return Evidence(*(getattr(self, f.name)[indices] for f in fields(self)))

    @staticmethod
    def concatenate(parts: Sequence[Evidence]) -> Evidence:
        """Evidence at the lengthscales of all parts."""
        return Evidence(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Evidence)))


def amplitudes(model: Model) -> tuple[Array, Array]:
    """Values of log a and their log prior weights."""
    if model.amplitude is None:
        return np.zeros(1), np.zeros(1)
    return model.amplitude.nodes()


def prior_covariances(model: Model, points: Array, lengthscales: Array) -> Array:
    """R at unit variance for every lengthscale, (m, s, s)."""
    distances = squared_distances(points, points)
    R = prior_covariance(model.measure, distances, distances, lengthscales[:, None, None])
    return R + model.prior_nugget * np.eye(len(points))


def evaluate(statistics: FeatureStatistics, model: Model) -> Evidence:
    """The evidence at every lengthscale of the statistics."""
    points, lengthscales = statistics.points, statistics.lengthscales
    s, n_columns = points.shape
    n = effective_size(statistics)
    R = prior_covariances(model, points, lengthscales)
    log_scale = model.log_prior_variance(lengthscales, n_columns)
    floor = model.floor.at(n)
    V = noise_covariance(statistics, model.shrinkage) + floor * np.eye(s)
    delta = statistics.delta

    log_amplitude, log_weight = amplitudes(model)
    log_variance = 2.0 * log_amplitude + log_scale[:, None]
    largest = np.log(_SAFE_ROUNDING * floor / (s * np.finfo(np.float64).eps))
    if model.amplitude is None and not model.student and log_scale.max() < largest:
        given_amplitude = direct_log_bayes_factor(delta, V, R, log_variance[:, 0])[:, None]
    else:
        spectra = spectrum(delta, V, R)
        freedom, dimensions = np.inf, np.zeros((1, 1))
        if model.student:
            freedom = degrees_of_freedom(statistics)
            dimensions = s - floor * np.square(spectra.basis).sum(axis=(1, 2))[:, None]  # tr V⁻¹(V - floor)
        given_amplitude = log_bayes_factor(spectra.eigenvalues, spectra.scores, log_variance, freedom, dimensions)
    log_mixture = given_amplitude + log_weight
    log_bf10 = np.logaddexp.reduce(log_mixture, axis=1)

    if statistics.pairs is None or statistics.log_volume is None:
        log_h0, log_h1 = np.zeros_like(log_bf10), log_bf10
    elif model.weighing == "published":
        log_h0, log_h1 = published_log_pseudo_likelihoods(statistics.pairs, R, statistics.log_volume)
    else:
        # Σ is the covariance of one pair's difference: n V for equal sizes, S_x + S_y + floor in general.
        sigma = V * n
        log_h0 = log_pseudo_likelihood(sigma, statistics.pairs, statistics.log_volume)
        log_h1 = log_h0 + log_bf10
    return Evidence(lengthscales, log_bf10, log_h0, log_h1, log_mixture, delta, V)
