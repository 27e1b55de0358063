"""Bayes factors and pseudo-likelihoods as pure functions of the statistics, for all lengthscales at once.

Leading axes are lengthscales. The formulas are written for arrays of any library: NumPy for the test, JAX with its
gradients for the sampler.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twosample.common.arrays import Array, namespace, solve_lower
from twosample.features.maps import of_one_column
from twosample.inference import prior
from twosample.inference.bayes_factor import probability

if TYPE_CHECKING:
    from twosample.features.maps import PointKernel
    from twosample.features.statistics import FeatureStatistics, Moments
    from twosample.models import Model

__all__ = [
    "Difference",
    "Evidence",
    "Hypotheses",
    "Noise",
    "Spectrum",
    "amplitudes",
    "are_flat",
    "compare",
    "evaluate",
    "even_rows",
    "inverse_factor",
    "is_exact",
    "log_bayes_factor",
    "log_determinant",
    "log_likelihoods",
    "log_pseudo_likelihood",
    "log_variances",
    "mixed",
    "probability",
    "published_log_pseudo_likelihoods",
    "signal_shares",
    "skew_of",
    "spectral_log_bayes_factor",
    "spectrum",
    "witness_spectrum",
]


# Where the noise floor is smaller, at a typical variance of features, small singular values must keep their digits.
_SAFE_FLOOR = 1e-9
_TYPICAL_VARIANCE = 1 / 30
# Rounding in a²R beyond this share of the noise floor could make a²R + V indefinite.
_SAFE_ROUNDING = 1e-3
# Lengthscales that are evaluated at the same time.
_PART = 16
# Features say nothing where a point has so little of a row within reach, or one row alone and so little of others. Nor
# where they vary less than rounding, or by a small share of what the noise floor takes for noise.
_LITTLE_IN_REACH = 0.05
_ALONE = 1.5
_ROUNDED_VARIANCE = 1e-20
_HIDDEN_SHARE = 1e-6
# Eight factors 1 + a²λ must not overflow.
_LARGEST_LOG_SIGNAL = 80.0
# Rounding must not explain all of Δ; and sizes that differ by less count as equal.
_MOST_EXPLAINED = 1.0 - 1e-12
_UNEVEN = 1e-9
_NO_REACH = 1e-200


class Noise(NamedTuple):
    """The noise of Δ as a model has it."""

    V: Any  # its covariance with the noise floor on its diagonal, (..., s, s)
    floor: Any  # the floor, (...)
    rows: float  # number of rows that V is from, infinite where it counts as known
    even: float  # number of rows of samples of equal size that are as good, by `even_rows`


class Difference(NamedTuple):
    """The difference of the mean features, and how well it is known."""

    delta: Any  # Δ, (..., s)
    noise: Any  # its covariance as within the samples, without the floor, (..., s, s)
    size: float  # harmonic mean of the sample sizes, or the number of pairs
    rows: float  # number of all rows, or of pairs
    even: float = math.inf  # number of rows by `even_rows`, infinite where that is not asked
    skew: float = 0.0  # (1/n_x - 1/n_y)², by `skew_of`; zero for equal sizes and for pairs
    share: float = 1.0  # the noise of what is looked at over that of the difference of two samples of this size

    @classmethod
    def of_samples(cls, x: Moments, y: Moments) -> Difference:
        """Return the difference of independent samples, the paper's Method 1, with the noise of each."""
        noise = x.covariance / x.count + y.covariance / y.count
        return cls.of_counts(x.mean - y.mean, noise, x.count, y.count)

    @classmethod
    def of_pooled(cls, x: Moments, y: Moments) -> Difference:
        """Return the same with one covariance of both samples, as they have if they are from one distribution."""
        within = (x.scatter + y.scatter) * ((1.0 / x.count + 1.0 / y.count) / (x.count + y.count))
        return cls.of_counts(x.mean - y.mean, within, x.count, y.count)

    @classmethod
    def between(cls, x: Moments, y: Moments, model: Model) -> Difference:
        """Return the difference of independent samples with the noise that the model gives them."""
        return cls.of_samples(x, y) if model.noise == "samples" else cls.of_pooled(x, y)

    @classmethod
    def of_counts(cls, delta: Any, noise: Any, n_x: int, n_y: int) -> Difference:
        """Return the difference of samples of these sizes."""
        size = 2.0 / (1.0 / n_x + 1.0 / n_y)
        return cls(delta, noise, size, float(n_x + n_y), even_rows(n_x, n_y), skew_of(n_x, n_y))

    @classmethod
    def of_pairs(cls, differences: Moments) -> Difference:
        """Return the difference of pairs, the paper's Method 2."""
        n = differences.count
        return cls(differences.mean, differences.covariance / n, float(n), float(n))

    @classmethod
    def of(cls, statistics: FeatureStatistics, model: Model) -> Difference:
        """Return the difference of the samples, or of pairs of which only the differences are known."""
        if statistics.x is not None and statistics.y is not None:
            return cls.between(statistics.x, statistics.y, model)
        assert statistics.differences is not None
        return cls.of_pairs(statistics.differences)

    @property
    def blind(self) -> Any:
        """The noise as all rows have it, whichever sample they are of: it is what relabelling them makes of Δ."""
        return self.noise + self.delta[..., :, None] * self.delta[..., None, :] / self.rows

    @property
    def covariance(self) -> Any:
        """The covariance C of the features of a row, whichever sample it is of, (..., s, s): `blind` is 2C/size."""
        return (0.5 * self.size / self.share) * self.blind

    @property
    def variances(self) -> Any:
        """The variances of the features, the diagonal of C, (..., s): relabelling rows does not change them."""
        within = namespace(self.noise).linalg.diagonal(self.noise)
        return (0.5 * self.size / self.share) * (within + self.delta**2 / self.rows)

    def with_floor(self, model: Model, between: Any = None) -> Noise:
        """The noise as the model has it, with its floor.

        The difference of two means is as skewed as the rows are where one sample is much smaller than the other: a
        feature that few rows have is then no Gaussian, and one row of the smaller sample that has it would be many
        standard deviations. So what is rare has at least the noise that one such row contributes, without a kink at
        any lengthscale; how much a row can contribute is the range of the features, from their values at the points,
        `between`, (..., s, s).
        """
        xp = namespace(self.noise)
        variances = self.variances
        floor = self.share * model.floor.at(self.size, xp.mean(variances, axis=-1))
        known = model.noise == "samples"
        added = floor[..., None]
        if self.skew and not known:
            reach = xp.max(between, axis=-1) - xp.min(between, axis=-1)
            one_row = self.share * self.skew * xp.maximum(reach**2, xp.full_like(reach, _NO_REACH))
            added = added + one_row / (1.0 + (2.0 * self.share / self.size) * variances / one_row)
        noise = self.noise if known else self.blind
        V = noise + added[..., None] * xp.eye(self.noise.shape[-1], dtype=self.noise.dtype)
        return Noise(V, floor, math.inf if known else self.rows, self.even)


def even_rows(*sizes: float) -> float:
    """Number of rows of samples of equal size that know the difference of the means of these as well.

    It is Welch's and Satterthwaite's, (Σ 1/n)²/Σ 1/n³: all rows where the sizes are equal, and those of the smaller
    sample where the other one is large.

    Examples
    --------
    >>> [round(even_rows(*sizes), 6) for sizes in [(20, 20), (5, 10**9), (7, 7, 7)]]
    [40.0, 5.0, 21.0]
    """
    total = math.fsum(1.0 / n for n in sizes)
    return total * total / math.fsum(1.0 / n / n / n for n in sizes)


def skew_of(n_x: float, n_y: float) -> float:
    """(1/n_x - 1/n_y)², what one row of the smaller sample contributes to Δ² beyond one row of the larger.

    The third cumulant of the difference of two means is that of a row times 1/n_x² - 1/n_y².

    Examples
    --------
    >>> skew_of(10, 10), round(skew_of(10, 10**9), 6)
    (0.0, 0.01)
    """
    return (1.0 / n_x - 1.0 / n_y) ** 2


def are_flat(x: Moments, y: Moments, model: Model, each: float = 1.0) -> Array:
    """Whether the features of all rows together do not vary, so that they cannot tell the samples apart, (...).

    Σ φ and Σ φ² are how many rows are within reach of a point: the kernel is 1 at the point itself, and 0 far from it.
    They are the same where it is one or the other. A row may stand for several, `each`.
    """
    variance = Difference.of_pooled(x, y).variances.mean(axis=-1)
    total = sum(one.count * one.mean for one in (x, y)) * each
    squares = sum(np.diagonal(one.scatter, 0, -2, -1) + one.count * one.mean**2 for one in (x, y)) * each
    reach, partly = squares.mean(axis=-1), np.abs(total - squares).mean(axis=-1)
    unseen = (reach < _LITTLE_IN_REACH) | ((reach < _ALONE) & (partly < _LITTLE_IN_REACH))
    size = 2.0 / (1.0 / x.count + 1.0 / y.count)
    hidden = _HIDDEN_SHARE * size * model.floor.at(size, variance)
    return np.asarray(unseen | (variance <= np.maximum(hidden, _ROUNDED_VARIANCE)))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """V and R brought to diagonal form together, after which every amplitude is free.

    With V = LLᵀ and L⁻¹RL⁻ᵀ = Q diag(λ) Qᵀ.

    Attributes
    ----------
    eigenvalues
        λ, (..., s), not negative, increasing.
    scores
        u = QᵀL⁻¹Δ, (..., s).
    basis
        L⁻ᵀQ, (..., s, s): (a²R + V)⁻¹ = basis diag(1/(1 + a²λ)) basisᵀ.
    """

    eigenvalues: Array
    scores: Array
    basis: Array

    def select(self, indices: Any) -> Spectrum:
        """Some of the lengthscales."""
        return Spectrum(self.eigenvalues[indices], self.scores[indices], self.basis[indices])


def spectrum(delta: Array, inverse: Array, factor: Array, *, exact: bool = True) -> Spectrum:
    """Diagonalise R = FFᵀ, F (..., s, f), in the metric of V; leading dimensions are independent problems.

    `inverse` is L⁻¹ of V = LLᵀ, which must be positive definite (its noise floor sees to that). λ are the squared
    singular values of L⁻¹F. To form L⁻¹RL⁻ᵀ would lose digits to rounding in R as soon as the floor is small: a floor
    of 1e-12 turns rounding of 1e-16 into λ of 1e-4, and large samples that differ have amplitudes that make it 1e3.
    Where the floor is large, `exact` can be spared.
    """
    eigenvalues, vectors = _squared_singular_values(inverse @ factor, exact)
    basis = np.swapaxes(inverse, -1, -2) @ vectors
    scores = (np.swapaxes(basis, -1, -2) @ delta[..., None])[..., 0]
    return Spectrum(eigenvalues, scores, basis)


def _squared_singular_values(matrices: Array, exact: bool) -> tuple[Array, Array]:
    """Squared singular values, increasing, and left singular vectors, (..., s) and (..., s, s).

    An eigendecomposition of the square takes half the time of a singular value decomposition. It loses the digits of
    small values, and LAPACK's divide and conquer gives up on rare, harmless matrices with many equal eigenvalues.
    """
    if not exact:
        try:
            eigenvalues, vectors = np.linalg.eigh(matrices @ np.swapaxes(matrices, -1, -2))
            return np.maximum(eigenvalues, 0.0), vectors
        except np.linalg.LinAlgError:
            pass
    vectors, singular, _ = np.linalg.svd(matrices, full_matrices=False)
    return np.square(singular[..., ::-1]), vectors[..., ::-1]


def signal_shares(eigenvalues: Array, log_variance: Array) -> tuple[Array, Array]:
    """a²λ/(1 + a²λ) and Σ log(1 + a²λ) for prior variances a², given by their logarithms.

    Parameters
    ----------
    eigenvalues
        λ, (..., s).
    log_variance
        Log a² of A amplitudes, (..., A).

    Returns
    -------
    tuple
        (..., A, s) and (..., A).
    """
    with np.errstate(divide="ignore"):
        log_eigenvalues = np.log(eigenvalues)
    if log_variance.max() + log_eigenvalues.max() < _LARGEST_LOG_SIGNAL:
        signal = np.exp(log_variance)[..., None] * eigenvalues[..., None, :]
        total = 1.0 + signal
        # One logarithm for eight factors.
        log_determinants = np.log(np.multiply.reduceat(total, range(0, total.shape[-1], 8), axis=-1)).sum(axis=-1)
        signal /= total
        return signal, log_determinants
    log_signal = log_variance[..., None] + log_eigenvalues[..., None, :]
    return np.exp(-np.logaddexp(0.0, -log_signal)), np.logaddexp(0.0, log_signal).sum(axis=-1)


def compare(explained: Any, log_determinant: Any, rows: float, even: float, contrasts: int = 1) -> Any:
    """Log BF10 from what H1 explains of Δ and what that costs.

    Parameters
    ----------
    explained
        e = q₀ - q₁, with q = Δᵀ(covariance)⁻¹Δ under each hypothesis.
    log_determinant
        Log |a²R + V| / |V|.
    rows
        Number N of rows that V is from, whichever sample they are of; infinite where V counts as known.
    even
        As many rows, or fewer where the sizes differ: see `even_rows`.
    contrasts
        Number of differences that Δ has: one less than there are groups.
    """
    if math.isfinite(rows):
        # What differs is also in V, so that e is at most N: -N log(1 - e/N) is what it is without that. Where one
        # sample is small, it says no more than `even` rows can, however many the other one has.
        whole, fewer = rows * contrasts, (1.0 / even - 1.0 / rows) / contrasts
        xp = namespace(explained)
        explained = -whole * xp.log1p(-xp.minimum(explained / whole, xp.full_like(explained, _MOST_EXPLAINED)))
        if fewer * rows > _UNEVEN:
            explained = xp.log1p(fewer * explained) / fewer
    return 0.5 * (explained - log_determinant)


def spectral_log_bayes_factor(
    spectra: Spectrum, log_variance: Array, rows: float = math.inf, even: float = math.inf
) -> Array:
    """Log BF10 for A prior variances each, given by their logarithms (m, A), as (m, A).

    For known V it is ½ Σ [u² a²λ/(1+a²λ) - log(1+a²λ)], the ratio of two Gaussian densities of Δ.
    """
    if len(log_variance) > _PART:  # a part stays in the cache
        parts = (slice(first, first + _PART) for first in range(0, len(log_variance), _PART))
        return np.concatenate(
            [spectral_log_bayes_factor(spectra.select(part), log_variance[part], rows, even) for part in parts]
        )
    shares, log_determinants = signal_shares(spectra.eigenvalues, log_variance)
    explained = (shares @ np.square(spectra.scores)[..., None])[..., 0]
    return np.asarray(compare(explained, log_determinants, rows, even))


def log_bayes_factor(
    delta: Any, V: Any, R: Any, log_variance: Any, rows: float = math.inf, even: float = math.inf
) -> Any:
    """Log BF10 at one prior variance a² each, without a spectrum: by Cholesky factors, which also have gradients.

    With S = a²L⁻¹RL⁻ᵀ and w = L⁻¹Δ what H1 explains is wᵀ(I + S)⁻¹Sw, at the cost of log |I + S|.
    """
    xp = namespace(V)
    identity = xp.eye(V.shape[-1], dtype=V.dtype)
    inverse = inverse_factor(V)
    transposed = xp.linalg.matrix_transpose(inverse)
    signal = xp.exp(log_variance)[..., None, None] * (inverse @ R @ transposed)
    scores = inverse @ delta[..., None]
    total = xp.linalg.cholesky(identity + signal)
    halves = solve_lower(total, xp.concat([scores, signal @ scores], axis=-1))
    explained = xp.sum(halves[..., 0] * halves[..., 1], axis=-1)
    return compare(explained, _log_determinant_of_factor(total), rows, even)


def inverse_factor(V: Any) -> Any:
    """L⁻¹ of V = LLᵀ, (..., s, s)."""
    xp = namespace(V)
    return solve_lower(xp.linalg.cholesky(V), xp.eye(V.shape[-1], dtype=V.dtype))


def log_determinant(matrices: Any) -> Any:
    """Log determinants of positive definite matrices, (...)."""
    return _log_determinant_of_factor(namespace(matrices).linalg.cholesky(matrices))


def _log_determinant_of_factor(lower: Any) -> Any:
    """Log |LLᵀ|, (...)."""
    xp = namespace(lower)
    return 2.0 * xp.sum(xp.log(xp.linalg.diagonal(lower)), axis=-1)


def log_pseudo_likelihood(sigma: Any, pairs: Moments, log_volume: Any) -> Any:
    """Log p(D | ℓ, H0) = Σ_i log N(g_i; 0, Σ) + Σ_i log vol J_i for each lengthscale, (...)."""
    xp = namespace(sigma)
    n, s = pairs.count, sigma.shape[-1]
    lower = xp.linalg.cholesky(sigma)
    inverse = solve_lower(lower, xp.eye(s, dtype=sigma.dtype))
    quadratic = xp.sum((inverse @ pairs.second_moment) * inverse, axis=(-2, -1))
    return -0.5 * (n * (s * math.log(2 * math.pi) + _log_determinant_of_factor(lower)) + quadratic) + log_volume


def published_log_pseudo_likelihoods(pairs: Moments, R: Any, log_volume: Any) -> tuple[Any, Any]:
    """Log p(D | ℓ, M) under H0 and H1 as the paper's released code has them, each (...).

    Σ is the covariance of the differences plus 0.1·I. Under H1 the trace is the simplified one of the paper's remark,
    with the scatter that lacks the 0.1, which is why the two are not of one joint model.
    """
    xp = namespace(R)
    n, s = pairs.count, R.shape[-1]
    sigma = pairs.covariance + 0.1 * xp.eye(s, dtype=R.dtype)
    log_h0 = log_pseudo_likelihood(sigma, pairs, log_volume)
    # tr(n (GHGᵀ + n²R)⁻¹ (GGᵀ + n²R)) with GGᵀ = GHGᵀ + n ΔΔᵀ, so that nothing is lost where R is nearly singular.
    solved = xp.linalg.solve(pairs.scatter / n**2 + R, pairs.mean[..., None])[..., 0]
    trace = n * s + xp.sum(pairs.mean * solved, axis=-1)
    log_determinants = log_determinant(sigma + n * R) + (n - 1) * log_determinant(sigma)
    return log_h0, -0.5 * (n * s * math.log(2 * math.pi) + log_determinants + trace) + log_volume


def log_likelihoods(
    model: Model, pairs: Moments | None, log_volume: Any, V: Any, R: Any, size: float, log_bf10: Any
) -> tuple[Any, Any]:
    """Log of what weighs the lengthscale under H0 and under H1, without its prior, each (...)."""
    if pairs is None or log_volume is None:
        return 0.0 * log_bf10, log_bf10
    if not model.coherent:
        return published_log_pseudo_likelihoods(pairs, R, log_volume)
    # Σ is the covariance of one pair's difference: n V for equal sizes, S_x + S_y + floor in general.
    log_h0 = log_pseudo_likelihood(V * size, pairs, log_volume)
    return log_h0, log_h0 + log_bf10


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence at each of m lengthscales, in the order in which the lengthscales were given.

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
        Difference of the mean features and its noise covariance for the witness, (m, s) and (m, s, s): not pooled, as
        samples that differ may have different covariances.
    log_amplitudes
        Log a of the amplitudes, (A,).
    freedom
        Degrees of freedom of V, half of what they are for Gaussian rows; infinite where it counts as known.
    density
        Largest density that a sample can have relative to all N rows together: N/min(n_x, n_y), so 2 or more.
    """

    lengthscales: Array
    log_bf10: Array
    log_h0: Array
    log_h1: Array
    log_mixture: Array
    delta: Array
    V: Array
    log_amplitudes: Array
    freedom: float = math.inf
    density: float = 2.0

    def select(self, indices: Any) -> Evidence:
        """Evidence at some of the lengthscales."""
        return replace(self, **{name: getattr(self, name)[indices] for name in _ARRAYS})

    def over(self, log_mean: float) -> Evidence:
        """The evidence where Bayes factors are divided by what they are to be expected under H0, given as a log."""
        log_bf10, log_h1, log_mixture = (one - log_mean for one in (self.log_bf10, self.log_h1, self.log_mixture))
        return replace(self, log_bf10=log_bf10, log_h1=log_h1, log_mixture=log_mixture)

    @staticmethod
    def concatenate(parts: list[Evidence]) -> Evidence:
        """Evidence at the lengthscales of all parts, increasing, each once."""
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
        joined = replace(parts[0], **arrays)
        return joined.select(np.unique(joined.lengthscales, return_index=True)[1])


_ARRAYS = [field.name for field in fields(Evidence) if field.name not in {"log_amplitudes", "freedom", "density"}]


def amplitudes(model: Model, features: PointKernel) -> tuple[Array, Array]:
    """Values of log a and their log prior weights."""
    amplitude = (model.alone() if of_one_column(features) else model).amplitude
    return (np.zeros(1), np.zeros(1)) if amplitude is None else amplitude.nodes()


def log_variances(model: Model, features: PointKernel, lengthscales: Array) -> Array:
    """Log a² r(z, z), the prior variances of the witness at every lengthscale and amplitude, (m, A)."""
    return np.asarray(2.0 * amplitudes(model, features)[0] + model.log_prior_variance(features, lengthscales)[:, None])


def is_exact(model: Model, size: float) -> bool:
    """Whether the floor for samples of that size is so small that small singular values must keep their digits."""
    return bool(model.floor.at(size, _TYPICAL_VARIANCE) < _SAFE_FLOOR)


def witness_spectrum(
    delta: Array, V: Array, size: float, model: Model, features: PointKernel, lengthscales: Array
) -> Spectrum:
    """The spectrum of V and of the prior of the witness at every lengthscale, for samples of that size."""
    factor = prior.factors(model, features, lengthscales)
    return spectrum(delta, inverse_factor(V), factor, exact=is_exact(model, size))


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """Both hypotheses at m lengthscales: Δ has covariance V under H0, and a²R + V under H1.

    What the data and all relabellings of them are judged by.

    Attributes
    ----------
    difference
        Δ and how well it is known; Δ may be zero where others are judged.
    model, features, lengthscales
        What R follows from.
    noise
        V and its floor.
    log_variance
        Log a² of the amplitudes, (m, A).
    log_weight
        Their log prior weights, (A,).
    """

    difference: Difference
    model: Model
    features: PointKernel
    lengthscales: Array
    noise: Noise
    log_variance: Array
    log_weight: Array

    @classmethod
    def of(cls, difference: Difference, model: Model, features: PointKernel, lengthscales: Array) -> Hypotheses:
        """With the noise of that difference."""
        between = features.between(lengthscales) if difference.skew else None
        return cls(
            difference,
            model,
            features,
            lengthscales,
            noise=difference.with_floor(model, between),
            log_variance=log_variances(model, features, lengthscales),
            log_weight=amplitudes(model, features)[1],
        )

    @cached_property
    def spectra(self) -> Spectrum:
        """V and R in diagonal form, with the scores of Δ."""
        difference, inverse = self.difference, inverse_factor(self.noise.V)
        factor = prior.factors(self.model, self.features, self.lengthscales)
        factor = mixed(factor, self.model, difference, inverse)
        return spectrum(difference.delta, inverse, factor, exact=is_exact(self.model, difference.size))

    @cached_property
    def of_witness(self) -> Spectrum:
        """The noise within the samples, with the floor, and R of the witness in diagonal form, with the scores of Δ."""
        difference = self.difference
        V = difference.noise + self.noise.floor[:, None, None] * np.eye(self.features.count)
        return witness_spectrum(difference.delta, V, difference.size, self.model, self.features, self.lengthscales)

    def amplitudes(self, every: int = 1) -> tuple[Array, Array]:
        """Log a² (m, A) and the log prior weights (A,) of every `every`-th amplitude, with the same total weight."""
        if every == 1:
            return self.log_variance, self.log_weight
        weight = self.log_weight[::every]
        return self.log_variance[:, ::every], weight - np.logaddexp.reduce(weight)

    def log_mixture(self, every: int = 1) -> Array:
        """Log of prior weight × Bayes factor of every amplitude, (m, A)."""
        log_variance, log_weight = self.amplitudes(every)
        noise = self.noise
        return spectral_log_bayes_factor(self.spectra, log_variance, noise.rows, noise.even) + log_weight


def mixed(factor: Any, model: Model, difference: Difference, inverse: Any) -> Any:
    """F of the prior of the Bayes factor, from that of the witness and what is along the principal components."""
    if not model.components:
        return factor
    size = difference.size / difference.share
    along = prior.along_components(difference.covariance, inverse, size)
    shares = ((1.0 - model.components) ** 0.5 * factor, model.components**0.5 * along)
    return namespace(inverse).concat(shares, axis=-1)


def evaluate(statistics: FeatureStatistics, features: PointKernel, model: Model) -> Evidence:
    """The evidence at every lengthscale of the statistics."""
    lengthscales = statistics.lengthscales
    difference = Difference.of(statistics, model)
    given = Hypotheses.of(difference, model, features, lengthscales)
    V, floor, rows, even = given.noise
    largest = math.log(_SAFE_ROUNDING * floor.min() / (features.count * np.finfo(np.float64).eps))
    direct = model.amplitude is None and not model.components and given.log_variance.max() < largest
    R = prior.covariances(model, features, lengthscales) if direct or not model.coherent else None
    if direct:
        log_bf10 = log_bayes_factor(difference.delta, V, R, given.log_variance[:, 0], rows, even)
        log_mixture = log_bf10[:, None] + given.log_weight
    else:
        log_mixture = given.log_mixture()
    log_bf10 = np.logaddexp.reduce(log_mixture, axis=1)
    log_h0, log_h1 = log_likelihoods(
        model, statistics.differences, statistics.log_volume, V, R, difference.size, log_bf10
    )
    density, freedom, x, y = 2.0, math.inf, statistics.x, statistics.y
    if model.noise == "rows":  # for the witness, each sample has a covariance of its own
        own = difference if x is None or y is None else Difference.of_samples(x, y)
        V = own.noise + floor[:, None, None] * np.eye(features.count)
        freedom = 0.5 * (difference.size - 1.0) if x is None else difference.size - 1.0
    if x is not None and y is not None and x.count != y.count:
        density = (x.count + y.count) / min(x.count, y.count)
    return Evidence(
        lengthscales,
        log_bf10,
        log_h0,
        log_h1,
        log_mixture,
        difference.delta,
        V,
        amplitudes(model, features)[0],
        freedom,
        density,
    )
