from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

import twosample as ts
from twosample import models
from twosample.data import View
from twosample.features.maps import PointFeatures
from twosample.features.statistics import FeatureStatistics
from twosample.inference import evidence
from twosample.inference import prior as priors
from twosample.inference.evidence import Difference
from twosample.kernels import RBF
from twosample.places.local import Volumes, pair_moments, sample_moments

PAPER, PUBLISHED, ADAPTIVE = (models.resolve(name) for name in ("paper", "published", "adaptive"))


def problem(seed, n_x, n_y, n_columns, s):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, n_columns)), 0.4 + rng.normal(size=(n_y, n_columns))
    return x, y, rng.normal(size=(s, n_columns))


def features_at(points):
    return PointFeatures(RBF(), View.none(points.shape[1]), points, typical=1.0)


def evaluate(x, y, points, lengthscales, model, paired=None):
    """Evidence of two samples, with the pseudo-likelihood of the pairs (x_i, y_i) where `paired` is not None."""
    features, lengthscales = features_at(points), np.asarray(lengthscales)
    if paired is None:
        statistics = FeatureStatistics(lengthscales, *sample_moments(features, (x, y), lengthscales))
    else:
        found = pair_moments(features, x, y, lengthscales, Volumes(np.ones(len(x), bool)))
        of_x, of_y = (None, None) if paired else (found.x, found.y)
        statistics = FeatureStatistics(lengthscales, of_x, of_y, found.differences, found.log_volume)
    return evidence.evaluate(statistics, features, model)


def kernel(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def prior(points, lengthscale, *, unit=True):
    r = kernel(points, points, np.sqrt(2) * lengthscale)
    return r if unit else r * np.pi ** (points.shape[1] / 2) * lengthscale ** points.shape[1]


def log_volume_sum(x, y, points, lengthscale):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        left = -kernel(a[None], points, lengthscale).T * (a - points) / lengthscale**2
        right = kernel(b[None], points, lengthscale).T * (b - points) / lengthscale**2
        total += np.log(np.linalg.svd(np.hstack([left, right]), compute_uv=False)).sum()
    return total


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("n", "s", "n_columns"), [(2, 3, 1), (5, 4, 1), (7, 6, 2), (12, 4, 1), (9, 8, 3)])
def test_pseudo_likelihood_equals_the_kronecker_form(n, s, n_columns, paired):
    """Both hypotheses against the ns × ns Gaussian of the paper's appendix."""
    x, y, points = problem(n, n, n, n_columns, s)
    lengthscales = np.array([0.6, 1.7])
    found = evaluate(x, y, points, lengthscales, PAPER, paired=paired)
    for index, lengthscale in enumerate(lengthscales):
        features = [kernel(rows, points, lengthscale) for rows in (x, y)]
        G = (features[0] - features[1]).T
        if paired:
            sigma = np.cov(G, bias=True)
        else:
            sigma = sum(np.cov(values.T, bias=True) for values in features)
        sigma = sigma + 0.1 * np.eye(s)
        R = prior(points, lengthscale, unit=False)
        noise = np.kron(np.eye(n), sigma)
        vector = G.T.ravel()
        volume = log_volume_sum(x, y, points, lengthscale)
        log_h0 = multivariate_normal.logpdf(vector, cov=noise) + volume
        log_h1 = multivariate_normal.logpdf(vector, cov=noise + np.kron(np.ones((n, n)), R)) + volume
        assert found.log_h0[index] == pytest.approx(log_h0, rel=1e-10, abs=1e-10)
        assert found.log_h1[index] == pytest.approx(log_h1, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 30), (12, 50)])
@pytest.mark.parametrize("model", [PAPER, PUBLISHED])
def test_bayes_factor_equals_the_ratio_of_gaussian_densities(model, n_x, n_y):
    x, y, points = problem(3, n_x, n_y, 2, 6)
    lengthscales = np.array([0.4, 1.0, 2.5])
    found = evaluate(x, y, points, lengthscales, model)
    for index, lengthscale in enumerate(lengthscales):
        feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
        delta = feature_x.mean(0) - feature_y.mean(0)
        V = np.cov(feature_x.T, bias=True) / n_x + np.cov(feature_y.T, bias=True) / n_y
        floor = 0.1 * (1 / n_x + 1 / n_y) / 2 if model is PAPER else 1e-8
        V = V + floor * np.eye(6)
        R = prior(points, lengthscale, unit=model is PUBLISHED) + (1e-8 if model is PUBLISHED else 0) * np.eye(6)
        expected = multivariate_normal.logpdf(delta, cov=V + R) - multivariate_normal.logpdf(delta, cov=V)
        assert found.log_bf10[index] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def zero_sum_prior(points, lengthscale):
    """K H K / s: the kernel applied to white noise on the points that adds up to zero."""
    K, s = kernel(points, points, lengthscale), len(points)
    return K @ (np.eye(s) - 1 / s) @ K / s


def pooled_covariance(feature_x, feature_y):
    """That of the deviations of all rows from the means of their samples."""
    deviations = np.concatenate([feature_x - feature_x.mean(0), feature_y - feature_y.mean(0)])
    return deviations.T @ deviations / len(deviations)


@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (25, 60)])
def test_adaptive_bayes_factor_is_a_ratio_of_student_densities(n_x, n_y):
    """With hardly any floor every direction is noise, and the ratio is one of multivariate t densities of Δ.

    The half-Cauchy prior of the amplitude is integrated by substituting a = scale·tan(πt/2).
    """
    s, lengthscale = 5, 0.4
    x, y, _ = problem(4, n_x, n_y, 1, s)
    points = np.linspace(-1.5, 1.5, s)[:, None]
    model = replace(ADAPTIVE, floor=models.NoiseFloor(1e-11, power=0))
    found = evaluate(x, y, points, [lengthscale], model)
    feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    delta = feature_x.mean(0) - feature_y.mean(0)
    V = pooled_covariance(feature_x, feature_y) * (1 / n_x + 1 / n_y)
    freedom = 2 / (1 / n_x + 1 / n_y) - 1
    R = zero_sum_prior(points, lengthscale)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    null = multivariate_t.logpdf(delta, shape=V, df=freedom)
    total = 0.0
    for quantile, weight in zip(0.5 * (nodes + 1), 0.5 * weights, strict=True):
        a = 0.3 * np.tan(np.pi * quantile / 2)
        total += weight * np.exp(multivariate_t.logpdf(delta, shape=V + a**2 * R, df=freedom) - null)
    assert found.log_bf10[0] == pytest.approx(np.log(total), abs=1e-6)


@pytest.mark.parametrize(("n_x", "n_y"), [(40, 40), (80, 25)])
def test_directions_that_are_all_floor_do_not_count_as_estimated(n_x, n_y):
    """tr V⁻¹(V - floor) dimensions enter the exponent of Student's t."""
    n, s, lengthscale = 2 / (1 / n_x + 1 / n_y), 6, 1.0
    x, y, points = problem(8, n_x, n_y, 1, s)
    found = evaluate(x, y, points, [lengthscale], ADAPTIVE)
    feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    delta = feature_x.mean(0) - feature_y.mean(0)
    noise = pooled_covariance(feature_x, feature_y) * 2 / n
    V = noise + 1500 / n**3 * np.concatenate([feature_x, feature_y]).var(axis=0).mean() * np.eye(s)
    dimensions, freedom = np.trace(np.linalg.solve(V, noise)), n - 1
    log_a, log_weight = ADAPTIVE.amplitude.nodes()
    terms = []
    for a, weight in zip(np.exp(log_a), np.exp(log_weight), strict=True):
        total = V + a**2 * zero_sum_prior(points, lengthscale)
        q0, q1 = delta @ np.linalg.solve(V, delta), delta @ np.linalg.solve(total, delta)
        log_ratio = (freedom + dimensions) * np.log((1 + q0 / freedom) / (1 + q1 / freedom))
        log_ratio -= np.linalg.slogdet(total)[1] - np.linalg.slogdet(V)[1]
        terms.append(weight * np.exp(0.5 * log_ratio))
    assert found.log_bf10[0] == pytest.approx(np.log(sum(terms)), abs=1e-9)


# ---- the difference of the means: its noise, and the variance that the floor is relative to


def differences_of(x, y, points, lengthscales, shrinkage=None):
    return Difference.of_samples(*sample_moments(features_at(points), (x, y), lengthscales), shrinkage)


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 30), (12, 50)])
def test_the_variance_of_two_samples_is_that_of_all_rows(n_x, n_y):
    """At each lengthscale the mean of the variances of the features about their common means."""
    x, y, points = problem(14, n_x, n_y, 2, 7)
    lengthscales = np.array([0.3, 1.0, 4.0])
    found = differences_of(x, y, points, lengthscales)
    for index, lengthscale in enumerate(lengthscales):
        features = kernel(np.concatenate([x, y]), points, lengthscale)
        assert found.variance[index] == pytest.approx(features.var(axis=0).mean(), rel=1e-12)


def test_the_variance_of_pairs_is_that_within_pairs():
    """Unbiased variances of the two rows of a pair are half their squared difference."""
    x, y, points = problem(15, 20, 20, 2, 7)
    found = Difference.of_pairs(pair_moments(features_at(points), x, y, np.array([0.8])).differences)
    both = np.stack([kernel(rows, points, 0.8) for rows in (x, y)])
    assert found.variance[0] == pytest.approx(both.var(axis=0, ddof=1).mean(), rel=1e-12)


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 30), (12, 50)])
def test_the_floor_does_not_change_with_the_labels(n_x, n_y):
    x, y, points = problem(16, n_x, n_y, 1, 5)
    lengthscales = np.array([0.3, 2.0])
    expected = ADAPTIVE.floor.at(*floor_arguments(differences_of(x, y, points, lengthscales)))
    rng, pooled = np.random.default_rng(17), np.concatenate([x, y])
    for _ in range(3):
        mixed = rng.permutation(pooled)
        for first in (n_x, n_y):
            other = differences_of(mixed[:first], mixed[first:], points, lengthscales)
            np.testing.assert_allclose(ADAPTIVE.floor.at(*floor_arguments(other)), expected, rtol=1e-12)
    assert (expected > 0).all() and expected[0] != expected[1]


def floor_arguments(difference):
    return difference.size, difference.variance


def test_the_floor_of_pairs_does_not_change_where_members_are_swapped():
    x, y, points = problem(18, 25, 25, 1, 5)
    lengthscales, rng, found = np.array([0.3, 2.0]), np.random.default_rng(19), []
    for swapped in (np.zeros(25, bool), np.ones(25, bool), rng.random(25) < 0.5):
        one, other = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
        moments = pair_moments(features_at(points), one, other, lengthscales).differences
        found.append(ADAPTIVE.floor.at(*floor_arguments(Difference.of_pairs(moments))))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-12)


@pytest.mark.parametrize(("shrinkage", "n_x", "n_y"), [(None, 12, 50), (None, 30, 30), (0.0, 12, 50), (40.0, 12, 50)])
def test_noise_of_unequal_samples(shrinkage, n_x, n_y):
    """The covariance of all deviations (None), of each sample's own (0), or of so many observations of the former."""
    x, y, points = problem(20, n_x, n_y, 2, 6)
    found = differences_of(x, y, points, np.array([0.9]), shrinkage)
    feature_x, feature_y = (kernel(rows, points, 0.9) for rows in (x, y))
    pooled = pooled_covariance(feature_x, feature_y)
    expected = 0.0
    for features in (feature_x, feature_y):
        n, own = len(features), np.cov(features.T, bias=True)
        covariance = pooled if shrinkage is None else (n * own + shrinkage * pooled) / (n + shrinkage)
        expected = expected + covariance / n
    np.testing.assert_allclose(found.noise[0], expected, rtol=1e-12, atol=1e-16)


def test_v_is_pooled_for_the_evidence_and_each_samples_own_for_the_witness():
    x, y, points = problem(21, 12, 50, 1, 5)
    found = evaluate(x, 3.0 * y, points, [0.9], ADAPTIVE)
    feature_x, feature_y = (kernel(rows, points, 0.9) for rows in (x, 3.0 * y))
    n = 2 / (1 / 12 + 1 / 50)
    floor = 1500 / n**3 * np.concatenate([feature_x, feature_y]).var(axis=0).mean()
    own = np.cov(feature_x.T, bias=True) / 12 + np.cov(feature_y.T, bias=True) / 50
    np.testing.assert_allclose(found.V[0], own + floor * np.eye(5), rtol=1e-12)
    assert found.density == pytest.approx(62 / 12)


def test_degrees_of_freedom():
    x, y, points = problem(9, 20, 60, 1, 4)
    lengthscales = np.array([1.0])
    independent = Difference.of_samples(*sample_moments(features_at(points), (x, y), lengthscales))
    assert (independent.size, independent.freedom) == (pytest.approx(30.0), pytest.approx(29.0))
    pairs = Difference.of_pairs(pair_moments(features_at(points), x, y[:20], lengthscales).differences)
    assert (pairs.size, pairs.freedom) == (20.0, pytest.approx(9.5))


def test_shrinkage_changes_nothing_for_equal_sizes():
    x, y, points = problem(5, 20, 20, 1, 5)
    moments = sample_moments(features_at(points), (x, y), np.array([1.0]))
    np.testing.assert_array_equal(
        Difference.of_samples(*moments, shrinkage=20.0).noise, Difference.of_samples(*moments, shrinkage=0.0).noise
    )


def test_published_likelihoods_equal_the_formulas():
    n, s = 15, 6
    x, y, points = problem(6, n, n, 1, s)
    lengthscale = 0.9
    found = evaluate(x, y, points, [lengthscale], PUBLISHED, paired=False)
    G = (kernel(x, points, lengthscale) - kernel(y, points, lengthscale)).T
    H = np.eye(n) - 1 / n
    R = prior(points, lengthscale) + 1e-8 * np.eye(s)
    scatter = G @ H @ G.T
    sigma = scatter / n + 0.1 * np.eye(s)
    volume = log_volume_sum(x, y, points, lengthscale)
    constant = -0.5 * n * s * np.log(2 * np.pi)
    log_det = np.linalg.slogdet(sigma)[1]
    h0 = constant - n / 2 * log_det - np.trace(np.linalg.inv(sigma) @ G @ G.T) / 2 + volume
    trace = np.trace(n * np.linalg.inv(scatter + n**2 * R) @ (G @ G.T + n**2 * R))
    h1 = constant - np.linalg.slogdet(sigma + n * R)[1] / 2 - (n - 1) / 2 * log_det - trace / 2 + volume
    assert found.log_h0[0] == pytest.approx(h0, rel=1e-10)
    assert found.log_h1[0] == pytest.approx(h1, rel=1e-8)  # the reference inverts a matrix of condition 1e8


@pytest.mark.parametrize("floor", [1e-12, 1e-3])
def test_spectrum_diagonalises_both_matrices(floor):
    rng = np.random.default_rng(7)
    factor, root, delta = rng.normal(size=(5, 5)), rng.normal(size=(5, 5)), rng.normal(size=5)
    root[:, 3:] = 0.0
    V, R = factor @ factor.T + 0.1 * np.eye(5), root @ root.T
    found = evidence.spectrum(delta, V, root, exact=floor < 1e-9)
    np.testing.assert_allclose(found.basis.T @ V @ found.basis, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(found.basis.T @ R @ found.basis, np.diag(found.eigenvalues), atol=1e-9)
    np.testing.assert_allclose(found.scores, found.basis.T @ delta)
    assert (found.eigenvalues >= 0).all()
    assert (np.diff(found.eigenvalues) >= 0).all()


@pytest.mark.parametrize("freedom", [np.inf, 11.0])
@pytest.mark.parametrize("log_variance", [-40.0, -3.0, 0.0, 9.0])
def test_bayes_factor_without_the_spectrum(log_variance, freedom):
    """Against mpmath, as small Bayes factors would be lost in a difference of two quadratic forms."""
    rng = np.random.default_rng(11)
    factor, root, delta = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=4)
    V, R = factor @ factor.T + 0.1 * np.eye(4), root @ root.T
    found = evidence.log_bayes_factor(delta[None], V[None], R[None], np.array([log_variance]), freedom, 0.1)
    with mpmath.workdps(60):
        total = mpmath.matrix(V) + mpmath.exp(log_variance) * mpmath.matrix(R)
        column, noise = mpmath.matrix(delta), mpmath.matrix(V)
        q0, q1 = ((column.T * mpmath.inverse(matrix) * column)[0] for matrix in (noise, total))
        gain = q0 - q1
        if np.isfinite(freedom):
            inverse = mpmath.inverse(noise)
            dimensions = 4 - mpmath.mpf(0.1) * mpmath.fsum(inverse[i, i] for i in range(4))
            gain = (freedom + dimensions) * mpmath.log((freedom + q0) / (freedom + q1))
        expected = float((gain - mpmath.log(mpmath.det(total) / mpmath.det(noise))) / 2)
    assert found[0] == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_prior_variances_that_drown_the_noise_take_the_spectrum():
    """At ℓ = 10⁵ in 8 columns the prior variance is 10⁴²; rounding in R would make a²R + V indefinite."""
    x, y, points = problem(12, 20, 20, 8, 17)
    lengthscales = np.array([1e5, 1.0])
    found = evaluate(x, y, points, lengthscales, PAPER)
    alone = evaluate(x, y, points, lengthscales[1:], PAPER)
    assert np.isfinite(found.log_bf10).all()
    assert found.log_bf10[1] == pytest.approx(alone.log_bf10[0], rel=1e-9)
    features = features_at(points)
    spectra = evidence.spectrum(found.delta, found.V, priors.factors(PAPER, features, lengthscales), exact=False)
    log_variance = 8 * (0.5 * np.log(np.pi) + np.log(lengthscales))[:, None]
    np.testing.assert_allclose(found.log_bf10, evidence.spectral_log_bayes_factor(spectra, log_variance)[:, 0])


def test_matrices_that_lapack_gives_up_on(monkeypatch):
    """A few rows of sparse binary data made the divide-and-conquer eigensolver fail; the fallback must not matter."""
    rng = np.random.default_rng(10)
    factors, delta = rng.normal(size=(3, 6, 6)), rng.normal(size=(3, 6))
    factors[:, :, 4:] = 0.0
    V = np.broadcast_to(np.eye(6), (3, 6, 6))
    expected = evidence.spectrum(delta, V, factors, exact=False)

    def fails(matrices):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(np.linalg, "eigh", fails)
    found = evidence.spectrum(delta, V, factors, exact=False)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-12)
    for a in (0.1, 2.0):
        inverses = [
            s.basis @ (s.basis.transpose(0, 2, 1) / (1 + a**2 * s.eigenvalues)[:, :, None]) for s in (found, expected)
        ]
        np.testing.assert_allclose(inverses[0], inverses[1], atol=1e-12)


def test_huge_bayes_factors_stay_finite():
    x, y, points = np.zeros((50, 1)), np.full((50, 1), 3.0), np.array([[0.0], [3.0]])
    x[0], y[0] = 0.01, 3.01
    found = evaluate(x, y, points, [0.5], PUBLISHED)
    assert np.isfinite(found.log_bf10).all()
    assert found.log_bf10[0] > 1e4


def ill_conditioned():
    """What large samples make of neighbouring points: noise that is nearly singular above a floor of 1e-12."""
    rng, s, n, lengthscale = np.random.default_rng(13), 12, 10**6, 2.0
    points = np.linspace(-2.0, 2.0, s)[:, None]
    x, y = rng.normal(size=(300, 1)), rng.laplace(scale=np.sqrt(0.5), size=(300, 1))
    feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    V = (np.cov(feature_x.T, bias=True) + np.cov(feature_y.T, bias=True)) / n + 1e-12 * np.eye(s)
    factor = priors.factors(ADAPTIVE, features_at(points), np.array([lengthscale]))[0]
    return 0.1 * (feature_x.mean(0) - feature_y.mean(0)), V, factor


def test_spectrum_keeps_small_values_over_a_small_floor():
    """Against mpmath with 50 digits, at amplitudes up to those that large samples make likely.

    Singular values of L⁻¹F give it to 1e-11. Eigenvalues of L⁻¹RL⁻ᵀ have errors of 1e-16 of the largest, which
    a² = e¹⁶ multiplies, and give it to 1e-7.
    """
    delta, V, factor = ill_conditioned()
    log_amplitudes = np.array([-4.0, 0.0, 4.0, 6.0, 8.0])
    spectra = evidence.spectrum(delta, V, factor)
    found = evidence.spectral_log_bayes_factor(spectra, 2.0 * log_amplitudes, floor=1e-12)
    students = evidence.spectral_log_bayes_factor(spectra, 2.0 * log_amplitudes, 500.0, floor=1e-12)
    with mpmath.workdps(50):
        F, noise, column = mpmath.matrix(factor), mpmath.matrix(V), mpmath.matrix(delta)
        q0 = (column.T * mpmath.lu_solve(noise, column))[0]
        inverse = mpmath.inverse(noise)
        dimensions = len(delta) - mpmath.mpf(1e-12) * mpmath.fsum(inverse[i, i] for i in range(len(delta)))
        for index, log_amplitude in enumerate(log_amplitudes):
            total = noise + mpmath.exp(2.0 * log_amplitude) * F * F.T
            q1 = (column.T * mpmath.lu_solve(total, column))[0]
            cost = mpmath.log(mpmath.det(total) / mpmath.det(noise))
            assert found[index] == pytest.approx(float((q0 - q1 - cost) / 2), rel=1e-9)
            gain = (500 + dimensions) * mpmath.log((500 + q0) / (500 + q1))
            assert students[index] == pytest.approx(float((gain - cost) / 2), rel=1e-9)


def test_bayes_factors_of_large_samples_are_smooth_in_the_lengthscale():
    """100,000 rows of each have a noise floor of 1e-12, under which rounding must not show.

    The curve has slopes of up to 4e3 a unit of log ℓ, which are 0.004 a step; beyond slope there is next to nothing.
    """
    rng, n = np.random.default_rng(0), 100_000
    x, y = rng.normal(size=n), rng.laplace(scale=np.sqrt(0.5), size=n)
    plan = ts.plan(x, y)
    lengthscales = plan.typical * plan.view.unit * np.geomspace(0.1, 7.0, 8)
    steps = lengthscales[:, None] * (1.0 + 1e-6 * np.array([-1, 0, 1]))
    found = ts.log_bf10(x, y, steps)
    assert (np.abs(np.diff(found, axis=1)) < 0.01).all()
    assert (np.abs(np.diff(found, n=2, axis=1)) < 0.001).all()
