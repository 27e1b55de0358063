from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from twosample import evidence, models
from twosample.errors import InputError, InputTypeError
from twosample.statistics import FeatureStatistics

PAPER, PUBLISHED, ADAPTIVE = (models.resolve(name) for name in ("paper", "published", "adaptive"))


def problem(seed, n_x, n_y, n_columns, s):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, n_columns)), 0.4 + rng.normal(size=(n_y, n_columns))
    return x, y, rng.normal(size=(s, n_columns))


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
    empty = x[:0]
    statistics = FeatureStatistics.from_samples(
        empty if paired else x, empty if paired else y, points, lengthscales, pairs=(x, y), volumes=np.ones(n, bool)
    )
    found = evidence.evaluate(statistics, PAPER)
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
    found = evidence.evaluate(FeatureStatistics.from_samples(x, y, points, lengthscales), model)
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


@pytest.mark.parametrize(("n_x", "n_y"), [(60, 60), (25, 60)])
def test_adaptive_bayes_factor_is_a_ratio_of_student_densities(n_x, n_y):
    """With hardly any floor every direction is noise, and the ratio is one of multivariate t densities of Δ.

    The half-Cauchy prior of the amplitude is integrated by substituting a = scale·tan(πt/2).
    """
    s, lengthscale = 5, 0.4
    x, y, _ = problem(4, n_x, n_y, 1, s)
    points = np.linspace(-1.5, 1.5, s)[:, None]
    model = replace(ADAPTIVE, floor=models.NoiseFloor(1e-11, power=0))
    found = evidence.evaluate(FeatureStatistics.from_samples(x, y, points, np.array([lengthscale])), model)
    feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    delta = feature_x.mean(0) - feature_y.mean(0)
    S_x, S_y = np.cov(feature_x.T, bias=True), np.cov(feature_y.T, bias=True)
    within = (n_x * S_x + n_y * S_y) / (n_x + n_y)
    V = (n_x * S_x + 100 * within) / (n_x + 100) / n_x + (n_y * S_y + 100 * within) / (n_y + 100) / n_y
    freedom = 2 / (1 / n_x + 1 / n_y) - 1
    R = zero_sum_prior(points, lengthscale)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    null = multivariate_t.logpdf(delta, shape=V, df=freedom)
    total = 0.0
    for quantile, weight in zip(0.5 * (nodes + 1), 0.5 * weights, strict=True):
        a = 0.3 * np.tan(np.pi * quantile / 2)
        total += weight * np.exp(multivariate_t.logpdf(delta, shape=V + a**2 * R, df=freedom) - null)
    assert found.log_bf10[0] == pytest.approx(np.log(total), abs=1e-6)


def test_directions_that_are_all_floor_do_not_count_as_estimated():
    """tr V⁻¹(V - floor) dimensions enter the exponent of Student's t."""
    n, s, lengthscale = 40, 6, 1.0
    x, y, points = problem(8, n, n, 1, s)
    found = evidence.evaluate(FeatureStatistics.from_samples(x, y, points, np.array([lengthscale])), ADAPTIVE)
    feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    delta = feature_x.mean(0) - feature_y.mean(0)
    noise = (np.cov(feature_x.T, bias=True) + np.cov(feature_y.T, bias=True)) / n
    V = noise + 50 / n**3 * np.eye(s)
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


def test_degrees_of_freedom():
    x, y, points = problem(9, 20, 60, 1, 4)
    lengthscales = np.array([1.0])
    independent = FeatureStatistics.from_samples(x, y, points, lengthscales)
    assert evidence.degrees_of_freedom(independent) == pytest.approx(29.0)
    pairs = FeatureStatistics.from_samples(x[:0], y[:0], points, lengthscales, pairs=(x, y[:20]))
    assert evidence.degrees_of_freedom(pairs) == pytest.approx(9.5)


def test_shrinkage_changes_nothing_for_equal_sizes():
    x, y, points = problem(5, 20, 20, 1, 5)
    statistics = FeatureStatistics.from_samples(x, y, points, np.array([1.0]))
    np.testing.assert_array_equal(
        evidence.noise_covariance(statistics, 20.0), evidence.noise_covariance(statistics, 0.0)
    )


def test_published_likelihoods_equal_the_formulas():
    n, s = 15, 6
    x, y, points = problem(6, n, n, 1, s)
    lengthscale = 0.9
    statistics = FeatureStatistics.from_samples(
        x, y, points, np.array([lengthscale]), pairs=(x, y), volumes=np.ones(n, bool)
    )
    found = evidence.evaluate(statistics, PUBLISHED)
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


def test_spectrum_diagonalises_both_matrices():
    rng = np.random.default_rng(7)
    factor, root, delta = rng.normal(size=(5, 5)), rng.normal(size=(5, 3)), rng.normal(size=5)
    V, R = factor @ factor.T + 0.1 * np.eye(5), root @ root.T
    found = evidence.spectrum(delta, V, R)
    np.testing.assert_allclose(found.basis.T @ V @ found.basis, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(found.basis.T @ R @ found.basis, np.diag(found.eigenvalues), atol=1e-9)
    np.testing.assert_allclose(found.scores, found.basis.T @ delta)
    assert (found.eigenvalues >= 0).all()


@pytest.mark.parametrize("log_variance", [-40.0, -3.0, 0.0, 9.0])
def test_bayes_factor_without_the_spectrum(log_variance):
    """Against mpmath, as small Bayes factors would be lost in a difference of two quadratic forms."""
    rng = np.random.default_rng(11)
    factor, root, delta = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=4)
    V, R = factor @ factor.T + 0.1 * np.eye(4), root @ root.T
    found = evidence.direct_log_bayes_factor(delta[None], V[None], R[None], np.array([log_variance]))
    with mpmath.workdps(60):
        total = mpmath.matrix(V) + mpmath.exp(log_variance) * mpmath.matrix(R)
        column = mpmath.matrix(delta)
        h0, h1 = (
            -(mpmath.log(mpmath.det(matrix)) + (column.T * mpmath.inverse(matrix) * column)[0]) / 2
            for matrix in (mpmath.matrix(V), total)
        )
        expected = float(h1 - h0)
    assert found[0] == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_prior_variances_that_drown_the_noise_take_the_spectrum():
    """At ℓ = 10⁵ in 8 columns the prior variance is 10⁴²; rounding in R would make a²R + V indefinite."""
    x, y, points = problem(12, 20, 20, 8, 17)
    lengthscales = np.array([1e5, 1.0])
    statistics = FeatureStatistics.from_samples(x, y, points, lengthscales)
    found = evidence.evaluate(statistics, PAPER)
    alone = evidence.evaluate(FeatureStatistics.from_samples(x, y, points, lengthscales[1:]), PAPER)
    assert np.isfinite(found.log_bf10).all()
    assert found.log_bf10[1] == pytest.approx(alone.log_bf10[0], rel=1e-9)
    spectra = found.spectrum(PAPER, points)
    log_variance = PAPER.log_prior_variance(lengthscales, 8)[:, None]
    np.testing.assert_allclose(
        found.log_bf10, evidence.log_bayes_factor(spectra.eigenvalues, spectra.scores, log_variance)[:, 0]
    )


def test_matrices_that_lapack_gives_up_on(monkeypatch):
    """A few rows of sparse binary data made the divide-and-conquer eigensolver fail; the fallback must not matter."""
    rng = np.random.default_rng(10)
    factors = rng.normal(size=(3, 6, 4))
    V, R, delta = np.broadcast_to(np.eye(6), (3, 6, 6)), factors @ factors.transpose(0, 2, 1), rng.normal(size=(3, 6))
    expected = evidence.spectrum(delta, V, R)
    original = np.linalg.eigh

    def fails_on_the_second(matrices):
        if matrices.ndim == 3 or np.array_equal(matrices, V[1] @ R[1] @ V[1]):
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return original(matrices)

    monkeypatch.setattr(np.linalg, "eigh", fails_on_the_second)
    found = evidence.spectrum(delta, V, R)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-12)
    for a in (0.1, 2.0):
        inverses = [
            s.basis @ (s.basis.transpose(0, 2, 1) / (1 + a**2 * s.eigenvalues)[:, :, None]) for s in (found, expected)
        ]
        np.testing.assert_allclose(inverses[0], inverses[1], atol=1e-12)


def test_huge_bayes_factors_stay_finite():
    x, y, points = np.zeros((50, 1)), np.full((50, 1), 3.0), np.array([[0.0], [3.0]])
    x[0], y[0] = 0.01, 3.01
    found = evidence.evaluate(FeatureStatistics.from_samples(x, y, points, np.array([0.5])), PUBLISHED)
    assert np.isfinite(found.log_bf10).all()
    assert found.log_bf10[0] > 1e4


@pytest.mark.parametrize(("model", "error"), [("magic", InputError), (3, InputTypeError)])
def test_unknown_model_is_refused(model, error):
    with pytest.raises(error, match="model"):
        models.resolve(model)


def test_priors_are_normalised():
    from scipy.integrate import quad
    from scipy.stats import gamma

    grid = np.linspace(-9, 4, 7)
    expected = gamma.logpdf(np.exp(grid), 2, scale=0.5) + grid
    np.testing.assert_allclose(models.Gamma(2.0, 2.0).log_density(grid), expected, rtol=1e-10)
    prior_ = models.LogUniform(0.05, 7.0)
    low, high = np.log(prior_.bounds(3.0))
    assert quad(lambda t: np.exp(prior_.log_density(np.array([t]))[0]), low, high)[0] == pytest.approx(1.0)
    log_a, log_weight = models.HalfCauchy(0.05).nodes()
    assert np.exp(log_weight).sum() == pytest.approx(1.0, abs=5e-6)
    # E[1/(1 + a²/b²)] of a half-Cauchy of scale g is b/(b + g).
    assert np.exp(log_weight) @ (1 / (1 + np.exp(2 * log_a) / 0.7**2)) == pytest.approx(0.7 / 0.75, abs=1e-8)
