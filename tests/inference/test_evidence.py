import mpmath
import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests import default_model

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


@pytest.mark.parametrize(
    ("n_x", "n_y", "n_columns", "paired"),
    [(30, 30, 1, None), (25, 60, 1, None), (80, 12, 2, None), (4, 90, 1, None), (30, 30, 2, True), (9, 9, 1, True)],
)
def test_adaptive_bayes_factor_equals_its_definition(n_x, n_y, n_columns, paired):
    """Given the amplitude, and over its prior, which is one of its own for a single column."""
    x, y, points = problem(4, n_x, n_y, n_columns, 6)
    lengthscales = np.array([0.3, 0.9, 2.5])
    found = evaluate(x, 1.5 * y, points, lengthscales, ADAPTIVE, paired)
    log_weight = evidence.amplitudes(ADAPTIVE, features_at(points))[1]
    some = np.flatnonzero(np.abs(found.log_amplitudes) < 4.0)[::5]
    for index, lengthscale in enumerate(lengthscales):
        a, b, K = (kernel(rows, points, lengthscale) for rows in (x, 1.5 * y, points))
        given = default_model.log_bf10_given(a, b, K, np.exp(found.log_amplitudes[some]), paired=bool(paired))
        np.testing.assert_allclose(found.log_mixture[index, some] - log_weight[some], given, rtol=1e-8, atol=1e-9)
        scale = 0.5 if n_columns == 1 else 0.3
        expected = default_model.log_bf10(a, b, K, paired=bool(paired), scale=scale)
        assert found.log_bf10[index] == pytest.approx(expected, abs=1e-6)


# ---- what H1 explains


def test_strong_differences_count_what_they_would_without_themselves_in_the_noise():
    """Of one feature that differs by d, V from all rows has d² once more; e is then that of V from other rows.

    -N log(1 - e/N) is N log(1 + t/N) with t = d²/(V without d²), as a likelihood ratio with unknown V has it.
    """
    n_x, n_y, d, within = 30, 50, 1.7, 0.4
    rows, both = n_x + n_y, 1 / n_x + 1 / n_y
    total = within + n_x * n_y / rows**2 * d**2  # of all rows
    explained = d**2 / (total * both)
    found = 2 * evidence.compare(np.array([explained]), 0.0, rows, rows)[0]
    assert found == pytest.approx(rows * np.log1p(d**2 / (within * both) / rows), rel=1e-12)


@pytest.mark.parametrize("even", [11.0, 40.0 * (1 - 1e-12), 40.0])
def test_all_that_can_be_explained_is_finite(even):
    """Rounding may explain more than all of it; nor does more explained count for less."""
    found = evidence.compare(np.array([-1e-17, 0.0, 1e-9, 1.0, 30.0, 39.9, 40.0, 40.0 + 1e-9]), 0.0, 40.0, even)
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()
    assert found[3] == pytest.approx(0.5, rel=0.05)


def test_the_larger_sample_without_end():
    """Of 10 rows beside ever more others the Bayes factor has a limit, of which 10⁵ are as good as 10⁷."""
    found = [evidence.compare(np.array([200.0]), 0.0, 10.0 + many, 4 / (1 / 10 + 1 / many))[0] for many in (1e5, 1e7)]
    assert found[0] == pytest.approx(found[1], rel=1e-2)
    assert found[1] == pytest.approx(20 * np.log1p(200 / 40), rel=1e-3)  # 40 = twice the harmonic mean


# ---- the difference of the means: its noise, and what is added to it


def differences_of(x, y, points, lengthscales):
    return Difference.of_pooled(*sample_moments(features_at(points), (x, y), lengthscales))


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 30), (12, 50)])
def test_the_covariance_of_two_samples_is_that_of_all_rows(n_x, n_y):
    """At each lengthscale that of the features about their common means."""
    x, y, points = problem(14, n_x, n_y, 2, 7)
    lengthscales = np.array([0.3, 1.0, 4.0])
    found = differences_of(x, y, points, lengthscales)
    for index, lengthscale in enumerate(lengthscales):
        features = kernel(np.concatenate([x, y]), points, lengthscale)
        np.testing.assert_allclose(found.covariance[index], np.cov(features.T, bias=True), rtol=1e-11, atol=1e-17)
        np.testing.assert_allclose(found.variances[index], features.var(axis=0), rtol=1e-12)


def test_the_covariance_of_pairs_is_that_within_pairs():
    """Unbiased variances of the two rows of a pair are half their squared difference."""
    x, y, points = problem(15, 20, 20, 2, 7)
    found = Difference.of_pairs(pair_moments(features_at(points), x, y, np.array([0.8])).differences)
    both = np.stack([kernel(rows, points, 0.8) for rows in (x, y)])
    np.testing.assert_allclose(found.variances[0], both.var(axis=0, ddof=1).mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 30), (12, 50)])
def test_the_noise_does_not_change_with_the_labels(n_x, n_y):
    x, y, points = problem(16, n_x, n_y, 1, 5)
    lengthscales = np.array([0.3, 2.0])
    between = features_at(points).between(lengthscales)
    expected = differences_of(x, y, points, lengthscales).with_floor(ADAPTIVE, between)
    rng, pooled = np.random.default_rng(17), np.concatenate([x, y])
    for _ in range(3):
        mixed = rng.permutation(pooled)
        for first in (n_x, n_y):
            other = differences_of(mixed[:first], mixed[first:], points, lengthscales).with_floor(ADAPTIVE, between)
            for one, same in zip(other, expected, strict=True):
                np.testing.assert_allclose(one, same, rtol=1e-11, atol=1e-16)
    assert (expected.floor > 0).all() and expected.floor[0] != expected.floor[1]


def test_the_noise_of_pairs_does_not_change_where_members_are_swapped():
    x, y, points = problem(18, 25, 25, 1, 5)
    lengthscales, rng, found = np.array([0.3, 2.0]), np.random.default_rng(19), []
    for swapped in (np.zeros(25, bool), np.ones(25, bool), rng.random(25) < 0.5):
        one, other = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
        moments = pair_moments(features_at(points), one, other, lengthscales).differences
        found.append(Difference.of_pairs(moments).with_floor(ADAPTIVE))
    for other in found[1:]:
        for one, same in zip(other, found[0], strict=True):
            np.testing.assert_allclose(one, same, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(("n_x", "n_y"), [(12, 50), (30, 30)])
def test_noise_of_unequal_samples(n_x, n_y):
    """The covariance of all deviations from the means of the samples, or of each sample's own."""
    x, y, points = problem(20, n_x, n_y, 2, 6)
    moments = sample_moments(features_at(points), (x, y), np.array([0.9]))
    groups = [kernel(rows, points, 0.9) for rows in (x, y)]
    own = sum(np.cov(features.T, bias=True) / len(features) for features in groups)
    deviations = np.concatenate([features - features.mean(0) for features in groups])
    pooled = np.cov(deviations.T, bias=True) * (1 / n_x + 1 / n_y)
    np.testing.assert_allclose(Difference.of_samples(*moments).noise[0], own, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(Difference.of_pooled(*moments).noise[0], pooled, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize(("n_x", "n_y"), [(6, 5000), (5000, 6)])
def test_what_is_rare_has_the_noise_of_one_row_of_the_smaller_sample(n_x, n_y):
    """Which is 1/6²: of a feature that no row has it is all, and what varies enough has next to none of it."""
    difference = Difference.of_counts(np.zeros(2), np.diag([0.0, 25.0]) * (1 / n_x + 1 / n_y), n_x, n_y)
    plain = difference._replace(skew=0.0)
    between = np.array([[1.0, 0.0], [0.25, 1.0]])  # the features have a range of 1 and of 0.75
    added = np.diag(difference.with_floor(ADAPTIVE, between).V - plain.with_floor(ADAPTIVE).V)
    assert added[0] == pytest.approx(1 / 36, rel=3e-3)
    assert 0 < added[1] < 1 / 36 / 100
    nothing = Difference.of_counts(np.zeros(2), np.zeros((2, 2)), n_x, n_y).with_floor(ADAPTIVE, between).V
    assert np.diag(nothing) == pytest.approx([1 / 36, 1 / 64], rel=3e-3)
    equal = Difference.of_counts(np.zeros(2), np.eye(2), 6, 6)
    assert equal.skew == 0.0


def test_v_is_of_all_rows_for_the_evidence_and_each_samples_own_for_the_witness():
    x, y, points = problem(21, 12, 50, 1, 5)
    found = evaluate(x, 3.0 * y, points, [0.9], ADAPTIVE)
    feature_x, feature_y = (kernel(rows, points, 0.9) for rows in (x, 3.0 * y))
    n = 2 / (1 / 12 + 1 / 50)
    floor = min(150 / n**3, 0.2 / n) * np.concatenate([feature_x, feature_y]).var(axis=0).mean()
    own = np.cov(feature_x.T, bias=True) / 12 + np.cov(feature_y.T, bias=True) / 50
    np.testing.assert_allclose(found.V[0], own + floor * np.eye(5), rtol=1e-12)
    assert found.density == pytest.approx(62 / 12)


def test_sizes_and_degrees_of_freedom():
    x, y, points = problem(9, 20, 60, 1, 4)
    lengthscales = np.array([1.0])
    independent = differences_of(x, y, points, lengthscales)
    even, skew = default_model.welch([20, 60]), (1 / 20 - 1 / 60) ** 2
    assert independent[2:] == (pytest.approx(30.0), 80.0, pytest.approx(even), pytest.approx(skew), 1.0)
    assert evaluate(x, y, points, lengthscales, ADAPTIVE).freedom == pytest.approx(29.0)
    pairs = Difference.of_pairs(pair_moments(features_at(points), x, y[:20], lengthscales).differences)
    assert pairs[2:] == (20.0, 20.0, np.inf, 0.0, 1.0)
    assert evaluate(x, y[:20], points, lengthscales, ADAPTIVE, paired=True).freedom == pytest.approx(9.5)


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
    found = evidence.spectrum(delta, evidence.inverse_factor(V), root, exact=floor < 1e-9)
    np.testing.assert_allclose(found.basis.T @ V @ found.basis, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(found.basis.T @ R @ found.basis, np.diag(found.eigenvalues), atol=1e-9)
    np.testing.assert_allclose(found.scores, found.basis.T @ delta)
    assert (found.eigenvalues >= 0).all()
    assert (np.diff(found.eigenvalues) >= 0).all()


def counted(explained, rows, even):
    """What H1 explains counts, with mpmath."""
    if np.isinf(rows):
        return explained
    whole = -rows * mpmath.log(1 - explained / rows)
    fewer = mpmath.mpf(1) / even - mpmath.mpf(1) / rows
    return mpmath.log(1 + fewer * whole) / fewer if fewer else whole


@pytest.mark.parametrize(("rows", "even"), [(np.inf, np.inf), (90, 90), (90, 40)])
@pytest.mark.parametrize("log_variance", [-40.0, -3.0, 0.0, 9.0])
def test_bayes_factor_without_the_spectrum(log_variance, rows, even):
    """Against mpmath, as small Bayes factors would be lost in a difference of two quadratic forms."""
    rng = np.random.default_rng(11)
    factor, root, delta = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=4)
    V, R = factor @ factor.T + 0.1 * np.eye(4), root @ root.T
    found = evidence.log_bayes_factor(delta[None], V[None], R[None], np.array([log_variance]), rows, even)
    with mpmath.workdps(60):
        total = mpmath.matrix(V) + mpmath.exp(log_variance) * mpmath.matrix(R)
        column, noise = mpmath.matrix(delta), mpmath.matrix(V)
        q0, q1 = ((column.T * mpmath.inverse(matrix) * column)[0] for matrix in (noise, total))
        gain = counted(q0 - q1, rows, even)
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
    inverse = evidence.inverse_factor(found.V)
    spectra = evidence.spectrum(found.delta, inverse, priors.factors(PAPER, features, lengthscales), exact=False)
    log_variance = 8 * (0.5 * np.log(np.pi) + np.log(lengthscales))[:, None]
    np.testing.assert_allclose(found.log_bf10, evidence.spectral_log_bayes_factor(spectra, log_variance)[:, 0])


def test_matrices_that_lapack_gives_up_on(monkeypatch):
    """A few rows of sparse binary data made the divide-and-conquer eigensolver fail; the fallback must not matter."""
    rng = np.random.default_rng(10)
    factors, delta = rng.normal(size=(3, 6, 6)), rng.normal(size=(3, 6))
    factors[:, :, 4:] = 0.0
    inverse = np.broadcast_to(np.eye(6), (3, 6, 6))
    expected = evidence.spectrum(delta, inverse, factors, exact=False)

    def fails(matrices):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(np.linalg, "eigh", fails)
    found = evidence.spectrum(delta, inverse, factors, exact=False)
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
    spectra = evidence.spectrum(delta, evidence.inverse_factor(V), factor)
    found = evidence.spectral_log_bayes_factor(spectra, 2.0 * log_amplitudes)
    rows, even = 2 * 10**6, 10**4
    of_rows = evidence.spectral_log_bayes_factor(spectra, 2.0 * log_amplitudes, rows, even)
    with mpmath.workdps(50):
        F, noise, column = mpmath.matrix(factor), mpmath.matrix(V), mpmath.matrix(delta)
        q0 = (column.T * mpmath.lu_solve(noise, column))[0]
        for index, log_amplitude in enumerate(log_amplitudes):
            total = noise + mpmath.exp(2.0 * log_amplitude) * F * F.T
            q1 = (column.T * mpmath.lu_solve(total, column))[0]
            cost = mpmath.log(mpmath.det(total) / mpmath.det(noise))
            assert found[index] == pytest.approx(float((q0 - q1 - cost) / 2), rel=1e-9)
            expected = float((counted(q0 - q1, rows, even) - cost) / 2)
            assert of_rows[index] == pytest.approx(expected, rel=1e-9)


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
