"""How much the samples differ: the posterior of the maximum mean discrepancy, and of the AUC of the witness.

The witness is f = Σ w_j k(·, z_j), and given lengthscale ℓ and amplitude a its weights w are Gaussian with mean m and
covariance C. Its squared norm MMD² = wᵀKw is also the difference of its means over the samples, and wᵀΣw is the sum of
its variances in them, with Σ the sum of the covariances of the features. Were the values of f normal, the chance that f
is larger at a random row of x than at one of y would be AUC = Φ(wᵀKw / √(wᵀΣw)); a factor κ, found on some of the rows,
says how far they are from it. MMD² and (probit AUC)² are nearly quadratic in w, and Gamma laws with their first two
moments stand for them. What a result shows is the mixture of these over amplitudes, lengthscales and parts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arguments import check_level, finite_of
from twosample.common.arrays import Array
from twosample.common.constraints import SHARES, SORTED, Axes, Share
from twosample.common.records import Comparable
from twosample.data import Ranks
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference.evidence import (
    Difference,
    Evidence,
    Hypotheses,
    Spectrum,
    amplitudes,
    log_variances,
    witness_spectrum,
)

if TYPE_CHECKING:
    from twosample.features.maps import FeatureMap, StackFeatures
    from twosample.models import Model

__all__ = [
    "SMALL_AUC",
    "Effect",
    "OfColumns",
    "OfLabels",
    "PartEffect",
    "Quantity",
    "combine",
    "of_columns",
    "of_part",
    "size_in_words",
    "weighed",
]


# Number of lengthscales used, and what is neglected: mass at either end, amplitudes, components of the mixture.
_LENGTHSCALES = 8
_NEGLIGIBLE_TAIL = 5e-3
_NEGLIGIBLE_WEIGHT = 1e-2
_NEGLIGIBLE_COMPONENT = 5e-3
# The prior of an amplitude is multiplied by a to this power; less than 2, or a single direction would not bound it.
_TILT = 1.5
# Prior standard deviation of κ, whose mean is 1, and its smallest value.
_KAPPA_SD = 0.2
_SMALLEST_KAPPA = 0.1
# Number of values at which a distribution function is evaluated: evenly, and by what is known of it, first and then.
_VALUES = 33
_PLACED = (31, 63)
# Standard normal values at which the laws of a mixture are first evaluated.
_NORMAL_VALUES = np.linspace(-4.5, 4.5, 17)
_LARGEST_LOG_VARIANCE = 300.0
# Where all points are equal there is no witness; its squares count as this, and no law is narrower than that.
_SMALLEST = 1e-100
_SMALLEST_VARIANCE = 1e-10
# Beyond these a square is as good as infinite or unknown; their product must not overflow.
_LARGEST_SQUARE = _LARGEST_VARIANCE = 1e12

_SIZES = ("very small", "small", "medium", "large", "very large")
_COHENS_D = (0.2, 0.5, 0.8, 1.2)
_LARGEST_AUC = 1.0 - 1e-9
# How many values of a column stand for all of them where only differences of pairs are known.
_KNOTS = 256
# Where very small differences end.
SMALL_AUC = NormalDist().cdf(_COHENS_D[0] / math.sqrt(2.0))


def size_in_words(auc: float) -> str:
    """An AUC in words, those that Cohen (1988) and Sawilowsky (2009) have for the distance d of two normal samples.

    Their d of 0.2, 0.5, 0.8 and 1.2 standard deviations are an AUC = Φ(d/√2) of 0.556, 0.638, 0.714 and 0.802. From
    there on a difference is small, medium, large and very large.
    """
    return _SIZES[bisect_right(_COHENS_D, math.sqrt(2.0) * NormalDist().inv_cdf(min(auc, _LARGEST_AUC)))]


def weighed(auc: Array, prob: Array) -> Array:
    """AUCs of columns given that they differ, weighed with ½ by the probabilities that they do."""
    return np.asarray(0.5 + prob * (auc - 0.5))


@dataclass(frozen=True, eq=False, repr=False)
class Quantity(Comparable):
    """The posterior of a number that says how much the samples differ.

    It has one value where they do not, with the probability of that, and a distribution over larger ones where they do.

    Attributes
    ----------
    null
        The value where the samples are from one distribution: 0 of the MMD, 0.5 of the AUC.
    prob_h1
        Posterior probability that they are not.
    values
        Values, not decreasing, the first of them `null`, (G,).
    cumulative
        Probability of at most each value, given that the samples differ, (G,): from 0 to 1, linear in between.

    Examples
    --------
    >>> auc = Quantity(null=0.5, prob_h1=0.8, values=np.array([0.5, 0.6, 0.7]), cumulative=np.array([0.0, 0.5, 1.0]))
    >>> round(auc.mean, 3)
    0.58
    >>> low, high = auc.interval(0.9)
    >>> round(low, 4), round(high, 4)
    (0.5, 0.69)
    >>> round(auc.exceeding(0.6), 3)
    0.4
    >>> round(auc.given_different(0.95), 3)
    0.69
    """

    null: float
    prob_h1: Share
    values: Annotated[Array, Axes("values", least=2), SORTED]
    cumulative: Annotated[Array, Axes("values"), SHARES, SORTED]

    @property
    def mean(self) -> float:
        """Posterior mean."""
        middles = 0.5 * (self.values[1:] + self.values[:-1])
        return self.null + self.prob_h1 * (float(middles @ np.diff(self.cumulative)) - self.null)

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Central credible interval given that the samples differ, and from `null` on where they may well not.

        It starts there if the probability of the same distribution is more than that of the tail below the interval.
        """
        check_level(level)
        tail = 0.5 * (1.0 - level)
        return self._quantile(tail), self.given_different(1.0 - tail)

    def exceeding(self, threshold: float) -> float:
        """Posterior probability of more than a threshold."""
        threshold = finite_of(threshold, "threshold")
        if threshold < self.null:
            return 1.0
        return self.prob_h1 * (1.0 - float(np.interp(threshold, self.values, self.cumulative)))

    def given_different(self, level: float = 0.95) -> float:
        """Quantile of the number at that level, given that the samples differ."""
        check_level(level)
        return float(np.interp(level, self.cumulative, self.values))

    def _quantile(self, level: float) -> float:
        above = level - (1.0 - self.prob_h1)
        return self.null if above <= 0.0 else float(np.interp(above / self.prob_h1, self.cumulative, self.values))

    def __repr__(self) -> str:
        """Return mean and interval in one line."""
        low, high = self.interval(0.9)
        return f"Quantity(mean={self.mean:.4g}, 90 % between {low:.4g} and {high:.4g})"


@dataclass(frozen=True, eq=False, repr=False)
class Effect(Comparable):
    """How much the samples differ.

    Attributes
    ----------
    mmd
        The maximum mean discrepancy: the norm of the witness, from 0 to √2.
    auc
        The chance that the witness is larger at a random row of x than at a random row of y, from 0.5 where nothing
        tells the samples apart to 1 where the witness does so without error.
    """

    mmd: Quantity
    auc: Quantity


class Squares(NamedTuple):
    """Gamma laws of the squares of a number, each array (C,)."""

    shape: Array
    scale: Array

    @classmethod
    def of(cls, mean: Array, relative_variance: Array) -> Squares:
        """With these means, and these variances over the squared means."""
        relative_variance = np.clip(relative_variance, _SMALLEST_VARIANCE, _LARGEST_VARIANCE)
        return cls(1.0 / relative_variance, np.minimum(mean, _LARGEST_SQUARE) * relative_variance)


@dataclass(frozen=True, eq=False)
class PartEffect:
    """The effect in one part of the test, given that the samples differ there: a mixture of C components."""

    weights: Array  # their probabilities, (C,)
    mmd: Squares  # laws of MMD²
    probit: Squares  # laws of (probit AUC)²


def of_part(
    evidence: Evidence, shares: Array, features: FeatureMap, model: Model, rows_x: Array, rows_y: Array
) -> PartEffect:
    """The effect in one part, from the evidence at m increasing lengthscales and their shares of the posterior, (m,).

    The prior of the amplitude is flat where it is small, and so gives much weight to very small differences. Here its
    density is multiplied by a power of a, without which intervals are more often too low where the evidence is weak.
    The weights of lengthscales and parts are those of the test.

    `rows_x` and `rows_y` are some rows of each sample, taken without regard to their values, in the units of the data.
    """
    assert model.has_effect
    kept, weights = _thin(shares)
    evidence = evidence.select(kept)
    lengthscales = evidence.lengthscales
    kernels = features.between(lengthscales)
    spectra = witness_spectrum(evidence.delta, evidence.V, evidence.freedom + 1.0, model, features, lengthscales)
    given_lengthscale = _tilted(evidence.log_mixture, evidence.log_amplitudes)
    likely = (given_lengthscale > _NEGLIGIBLE_WEIGHT).any(axis=0)
    given_lengthscale = given_lengthscale[:, likely]
    given_lengthscale /= given_lengthscale.sum(axis=1, keepdims=True)
    log_variance = log_variances(model, features, lengthscales)[:, likely]
    variances = np.exp(np.minimum(log_variance, _LARGEST_LOG_VARIANCE))
    laws = _posteriors(spectra, kernels, variances)

    scores = (laws.basis @ (given_lengthscale[:, None] @ laws.mean)[:, 0, :, None])[..., 0]
    covariances, kappas = np.empty_like(kernels), np.empty((len(kernels), 2))
    rows, first = np.concatenate([rows_x, rows_y]), len(rows_x)
    for j, values in features.values(rows, lengthscales):
        covariances[j] = _covariance(values[:first]) + _covariance(values[first:])
        score = (values * scores[j]).sum(axis=1)  # a matrix product may round equal rows differently
        kappas[j] = _kappa(score[:first], score[first:])
    kappa, spread = kappas[:, 0, None], kappas[:, 1, None]

    mmd, of_norm, probit, of_probit = laws.squares(laws.within(kernels), laws.within(covariances))
    return PartEffect(
        (weights[:, None] * given_lengthscale).ravel(),
        Squares.of(mmd.ravel(), of_norm.ravel()),
        Squares.of((kappa**2 * probit).ravel(), (of_probit + 4.0 * (spread / kappa) ** 2).ravel()),
    )


class OfColumns(NamedTuple):
    """The effect in each of C columns, given that they differ: laws of (probit AUC)² at the likeliest lengthscale."""

    mean: Array  # (C,)
    relative_variance: Array

    @property
    def auc(self) -> Array:
        """Posterior medians of the AUC, (C,)."""
        from scipy.special import ndtr  # slow to load, and not needed before there are data

        # The cube root of a Gamma law is nearly normal (Wilson and Hilferty).
        cubes = np.maximum(1.0 - self.relative_variance / 9.0, 0.0)
        return np.asarray(ndtr(np.sqrt(self.mean * cubes**3)))

    def beyond(self, auc: float) -> Array:
        """Posterior probabilities of more than that AUC, (C,)."""
        from scipy.special import gammaincc, ndtri  # as above

        shape, scale = Squares.of(self.mean, self.relative_variance)
        return np.asarray(gammaincc(shape, ndtri(auc) ** 2 / np.maximum(scale, _SMALLEST)))


def of_columns(statistics: FeatureStatistics, evidence: Evidence, features: StackFeatures, model: Model) -> OfColumns:
    """The effect in each test of a stack of single columns, from the evidence at the lengthscales of all of them.

    As in `of_part`, but for the likeliest lengthscale and the mean of the posterior over amplitudes, and without κ:
    that of normal scores is near 1. So little is added to the work of the evidence.
    """
    count = len(features.points)
    best = evidence.log_bf10.reshape(count, -1).argmax(axis=1) + np.arange(count) * len(features.multiples)
    lengthscales = statistics.lengthscales[best]
    x, y, differences = (
        None if one is None or not one.count else Moments(one.count, one.mean[best], one.scatter[best])
        for one in (statistics.x, statistics.y, statistics.differences)
    )
    difference = Difference.of(FeatureStatistics(lengthscales, x, y, differences), model)
    given = Hypotheses.of(difference, model, features, lengthscales)
    kernels = features.between(lengthscales)
    laws = _posteriors(given.of_witness, kernels, np.exp(np.minimum(given.log_variance, _LARGEST_LOG_VARIANCE)))
    weights = _tilted(evidence.log_mixture[best], evidence.log_amplitudes)
    weights /= weights.sum(axis=1, keepdims=True)
    laws = replace(laws, mean=weights[:, None] @ laws.mean, variance=weights[:, None] @ laws.variance)
    if x is not None and y is not None:
        covariances = (x.scatter + y.scatter) * (2.0 / (x.count + y.count))
    else:  # of pairs of which only differences are known, that of all rows less what is between the samples
        between = difference.delta[:, :, None] * difference.delta[:, None, :]
        covariances = 2.0 * _of_all_rows(features, lengthscales) - 0.5 * between
    _, _, probit, of_probit = laws.squares(laws.within(kernels), laws.within(covariances))
    return OfColumns(probit[:, 0], of_probit[:, 0])


def _of_all_rows(features: StackFeatures, lengthscales: Array) -> Array:
    """Covariances of the features of single columns over all rows, (P, s, s), from the knots of their ranks."""
    assert isinstance(features.view, Ranks)
    scores = features.view.select(features.columns[:, 0]).scores
    scores = scores[:: -(-len(scores) // _KNOTS)].T[:, :, None]
    values = features.kernel.value(features.kernel.distances(scores, features.points), lengthscales[:, None, None])
    centered = values - values.mean(axis=1, keepdims=True)
    return np.asarray(np.swapaxes(centered, 1, 2) @ centered / values.shape[1])


@dataclass(frozen=True, eq=False)
class OfLabels:
    """The same where columns differ in their labels alone, at each lengthscale.

    Of N rows the noise within the samples is V = V₀ - ΔΔᵀ/N, V₀ that of all rows. By the formulas of Sherman and
    Morrison the mean of the weights grows by 1/(1 - q/N) over that with V₀, q = Δᵀ(a²R + V₀)⁻¹Δ, and their covariance
    is less by a term of rank one.
    """

    given: Hypotheses  # of all rows, with Δ = 0

    @cached_property
    def _of_one(self) -> tuple[_Posteriors, Array, Array, Array]:
        """The posterior with V₀ for scores of one, what multiplies their squares in q, and K and Σ in its basis."""
        given = self.given
        spectra, kernels = given.of_witness, given.features.between(given.lengthscales)
        variances = np.exp(np.minimum(given.log_variance, _LARGEST_LOG_VARIANCE))
        laws = _posteriors(replace(spectra, scores=np.ones_like(spectra.scores)), kernels, variances)
        not_signal = 1.0 / (1.0 + variances[..., None] * spectra.eigenvalues[:, None])
        return laws, not_signal, laws.within(kernels), laws.within(given.difference.size * given.difference.noise)

    def at(self, index: int, deltas: Array, log_mixture: Array) -> OfColumns:
        """At one of the lengthscales, from Δ (C, s) and log (prior weight × Bayes factor) of amplitudes (C, A)."""
        given, (of_one, not_signal, kernels, covariances) = self.given, self._of_one
        size, share = given.difference.size, 1.0 / given.difference.rows
        weights = _tilted(log_mixture, amplitudes(given.model, given.features)[0])
        weights /= weights.sum(axis=1, keepdims=True)
        scores = deltas @ given.of_witness.basis[index]
        left = np.maximum(1.0 - share * np.square(scores) @ not_signal[index].T, np.finfo(np.float64).eps)  # (C, A)
        laws = _Posteriors(
            of_one.basis[index],
            mean=((weights / left) @ of_one.mean[index] * scores[:, :0:-1])[:, None],
            variance=(weights @ of_one.variance[index])[:, None],
            loss=share * (weights * left).sum(axis=1, keepdims=True),
        )
        # The covariance of all rows, less what is between the samples.
        between = deltas @ of_one.basis[index]
        covariance = (-size * share * between)[:, :, None] * between[:, None, :]
        covariance += covariances[index]
        _, _, probit, of_probit = laws.squares(kernels[index], covariance)
        return OfColumns(probit[:, 0], of_probit[:, 0])


def combine(parts: Sequence[PartEffect], weights: Array, prob_h1: float) -> Effect:
    """The effect from those of the parts, and their posterior probabilities given that the samples differ, (P,)."""
    from scipy.special import ndtr  # slow to load, and not needed before there are data

    of_components = np.concatenate([weight * part.weights for weight, part in zip(weights, parts, strict=True)])
    kept = of_components > _NEGLIGIBLE_COMPONENT * of_components.max()
    of_components = of_components[kept] / of_components[kept].sum()
    mmd = Squares(*(np.concatenate(arrays)[kept] for arrays in zip(*(part.mmd for part in parts), strict=True)))
    probit = Squares(*(np.concatenate(arrays)[kept] for arrays in zip(*(part.probit for part in parts), strict=True)))
    values, cumulative = _distribution(of_components, mmd)
    probits, of_probits = _distribution(of_components, probit)
    return Effect(
        Quantity(0.0, prob_h1, values, cumulative), Quantity(0.5, prob_h1, np.asarray(ndtr(probits)), of_probits)
    )


@dataclass(frozen=True, eq=False)
class _Posteriors:
    """The posterior of the weights w at m lengthscales and A amplitudes, in bases where its covariance is diagonal."""

    basis: Array  # orthonormal, of weights that add up to zero, (m, s, s - 1)
    mean: Array  # of w in it, (m, A, s - 1)
    variance: Array
    # What is to go off the covariance, as a multiple of the square of the mean, (m, A).
    loss: Array | float = 0.0

    def within(self, matrices: Array) -> Array:
        """Matrices (m, s, s) in the basis."""
        return np.asarray(np.swapaxes(self.basis, -1, -2) @ matrices @ self.basis)

    def expectation(self, X: Array) -> Array:
        """Expectation of wᵀXw, for X in the basis, (m, A)."""
        diagonal = np.diagonal(X, axis1=-2, axis2=-1)[..., None]
        of_mean = (self.mean * (self.mean @ X)).sum(axis=-1)
        return np.asarray((1.0 - self.loss) * of_mean + (self.variance @ diagonal)[..., 0])

    def covariance(self, X: Array, Y: Array) -> Array:
        """Covariance of wᵀXw with wᵀYw, (m, A): 2 tr(XCYC) + 4 mᵀXCYm."""
        of_variance = (self.variance * (self.variance @ (X * Y))).sum(axis=-1)
        of_x, of_y = self.mean @ X, self.mean @ Y
        of_mean = (1.0 - self.loss) * (self.variance * of_x * of_y).sum(axis=-1)
        found = 2.0 * of_variance + 4.0 * of_mean
        if np.any(self.loss):
            found -= (
                (4.0 - 2.0 * self.loss) * self.loss * (self.mean * of_x).sum(axis=-1) * (self.mean * of_y).sum(axis=-1)
            )
        return np.asarray(found)

    def squares(self, norm: Array, variance: Array) -> tuple[Array, Array, Array, Array]:
        """Mean and relative variance of wᵀKw and of (probit AUC)², (m, A), for K and Σ in the basis."""
        mmd, within = (np.maximum(self.expectation(X), _SMALLEST) for X in (norm, variance))
        of_norm = self.covariance(norm, norm) / mmd**2
        of_both = self.covariance(norm, variance) / (mmd * within)
        of_variance = self.covariance(variance, variance) / within**2
        # Of (wᵀKw)² / wᵀΣw, to second order; exact where w has one direction only.
        probit = mmd**2 / within * (1.0 + of_norm - 2.0 * of_both + of_variance)
        return mmd, of_norm, probit, np.maximum(4.0 * (of_norm - of_both) + of_variance, 0.0)


def _tilted(log_mixture: Array, log_amplitudes: Array) -> Array:
    """Posterior of the amplitudes, up to a factor, with the prior of the effect."""
    logs = log_mixture + _TILT * log_amplitudes
    return np.asarray(np.exp(logs - logs.max(axis=-1, keepdims=True)))


def _posteriors(spectra: Spectrum, kernels: Array, variances: Array) -> _Posteriors:
    """The posteriors for prior variances a², (m, A).

    A priori w has covariance a²/s in all directions that add up to zero. With W = HK basis/s, whose columns are
    orthogonal and of length √(λ/s), it has mean W (a²u/(1 + a²λ)), and a²/s becomes a²/(s(1 + a²λ)) along them.
    """
    s = kernels.shape[-1]
    W = (kernels - kernels.mean(axis=-2, keepdims=True)) @ spectra.basis / s
    W, eigenvalues, scores = (array[..., :0:-1] for array in (W, spectra.eigenvalues, spectra.scores))
    # Columns that are rounding only are replaced by any that are orthogonal to the rest.
    basis, triangle = np.linalg.qr(np.concatenate([np.ones((len(W), s, 1)), W], axis=-1))
    lengths = np.diagonal(triangle, axis1=-2, axis2=-1)[:, None, 1:]
    gain = variances[..., None] / (1.0 + variances[..., None] * eigenvalues[:, None])
    return _Posteriors(basis[..., 1:], lengths * gain * scores[:, None], gain / s)


def _kappa(x: Array, y: Array) -> tuple[float, float]:
    """How the probit of the AUC of scores differs from that of normal ones: κ = Φ⁻¹(A)/d, with its uncertainty.

    With A the Mann–Whitney estimate and d the difference of the means over its standard deviation, Φ⁻¹(A) = κd + e,
    where the variance of e follows from the influence of each row. Returned are the posterior mean and standard
    deviation of κ. Scores without overlap say nothing of it.
    """
    below, above = _placements(x, y), 1.0 - _placements(y, x)
    auc, pairs = float(below.mean()), len(x) * len(y)
    spread = math.sqrt(float(x.var() + y.var()))
    if spread == 0.0 or not 0.0 < auc < 1.0:
        return 1.0, _KAPPA_SD
    probit = NormalDist().inv_cdf(auc)
    density = math.exp(-0.5 * probit**2) / math.sqrt(2.0 * math.pi)
    distance = float(x.mean() - y.mean()) / spread
    kappa, precision = 1.0, _KAPPA_SD**-2
    for _ in range(2):
        of_x, of_y = below / density - kappa * x / spread, above / density + kappa * y / spread
        noise = float(of_x.var() / len(x) + of_y.var() / len(y)) + auc * (1.0 - auc) / (pairs * density**2)
        precision = _KAPPA_SD**-2 + distance**2 / noise
        kappa = (_KAPPA_SD**-2 + distance * probit / noise) / precision
    return max(kappa, _SMALLEST_KAPPA), precision**-0.5


def _placements(scores: Array, others: Array) -> Array:
    """The share of others below each score; ties count one half."""
    ordered = np.sort(others)
    sides = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return np.asarray(sides / (2.0 * len(others)))


def _covariance(values: Array) -> Array:
    centered = values - values.mean(axis=0)
    return np.asarray(centered.T @ centered / len(values))


def _thin(shares: Array) -> tuple[NDArray[np.intp], Array]:
    """A few lengthscales, evenly spread over the posterior, and the probability that each stands for."""
    cumulative = np.cumsum(shares) / shares.sum()
    first, last = np.searchsorted(cumulative, [_NEGLIGIBLE_TAIL, 1.0 - _NEGLIGIBLE_TAIL])
    step = -(-(last + 1 - first) // _LENGTHSCALES)
    starts = np.arange(first, last + 1, step)
    weights = np.add.reduceat(shares[: last + 1], starts)
    return np.minimum(starts + step // 2, last), weights / weights.sum()


def _distribution(weights: Array, squares: Squares) -> tuple[Array, Array]:
    """Values of a number whose square has the mixture of these laws, and the probability of at most each."""
    mean = squares.shape * squares.scale
    largest = math.sqrt(float((mean + 8.0 * np.sqrt(mean * squares.scale) + 20.0 * squares.scale).max()))
    first = np.minimum(_rough_quantiles(_levels(_PLACED[0]), weights, squares), largest)
    values = np.sort(np.concatenate([np.linspace(0.0, largest, _VALUES), first]))
    cumulative = np.maximum.accumulate(_at_most(values, weights, squares))
    further = np.interp(_levels(_PLACED[1]), cumulative, values)
    cumulative = np.concatenate([cumulative, _at_most(further, weights, squares)])
    values = np.concatenate([values, further])
    order = np.argsort(values, kind="stable")
    values, cumulative = values[order], np.maximum.accumulate(cumulative[order])
    cumulative[-1] = 1.0
    return values, cumulative


def _levels(count: int) -> Array:
    """Probabilities at even angles: closer in the tails."""
    return np.asarray(0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, count + 2)[1:-1]))


def _rough_quantiles(levels: Array, weights: Array, squares: Squares) -> Array:
    """Quantiles of the root of a mixture: cube roots of Gamma laws are nearly normal (Wilson and Hilferty)."""
    of_root = 1.0 / (9.0 * squares.shape[:, None])
    cubes = np.maximum(1.0 - of_root + np.sqrt(of_root) * _NORMAL_VALUES, 0.0) ** 3
    values = np.sqrt((squares.shape * squares.scale)[:, None] * cubes).ravel()
    order = np.argsort(values)
    cumulative = np.cumsum(np.outer(weights, np.exp(-0.5 * _NORMAL_VALUES**2)).ravel()[order])
    return np.asarray(values[order][np.searchsorted(cumulative, levels * cumulative[-1])])


def _at_most(values: Array, weights: Array, squares: Squares) -> Array:
    from scipy.special import gammainc  # as above

    return np.asarray(weights @ gammainc(squares.shape[:, None], values**2 / squares.scale[:, None]))
