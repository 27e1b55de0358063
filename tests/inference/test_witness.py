import numpy as np
import pytest
from scipy.special import logsumexp
from tests import default_model

import twosample as ts
from twosample.errors import InputError


def kernel(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def stationary(first, second, points, lengthscale):
    return kernel(first, second, np.sqrt(2) * lengthscale)


def on_points(first, second, points, lengthscale):
    return kernel(first, points, lengthscale) @ kernel(second, points, lengthscale).T / len(points)


def gaussian_process(x, y, points, at, lengthscale, variance, floor, prior=stationary, nugget=0.0):
    """Posterior mean and covariance of δ at `at` by the textbook formulas."""
    a, b = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    V = np.cov(a.T, bias=True) / len(x) + np.cov(b.T, bias=True) / len(y) + floor * np.eye(len(points))
    R = variance * prior(points, points, points, lengthscale) + nugget * np.eye(len(points))
    cross = variance * prior(at, points, points, lengthscale)
    gain = np.linalg.solve(R + V, cross.T).T
    mean = gain @ (a.mean(0) - b.mean(0))
    return mean, variance * prior(at, at, points, lengthscale) - gain @ cross.T


def data(n_columns=1):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, n_columns)), rng.normal(size=(60, n_columns)) + 0.8
    return x, y, rng.normal(size=(9, n_columns)), rng.normal(size=(20, n_columns))


@pytest.mark.parametrize(("model", "floor"), [("paper", 0.1 / 60), ("published", 1e-8)])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_fixed_lengthscale_equals_the_gaussian_process(model, floor, n_columns):
    x, y, points, at = data(n_columns)
    lengthscale = 1.3
    variance = np.pi ** (n_columns / 2) * lengthscale**n_columns if model == "paper" else 1.0
    found = ts.test(x, y, model=model, lengthscale=lengthscale, points=points).witness(at)
    nugget = 1e-8 if model == "published" else 0.0
    mean, covariance = gaussian_process(x, y, points, at, lengthscale, variance, floor, nugget=nugget)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.sd, np.sqrt(np.diag(covariance)), rtol=1e-4, atol=1e-6)


def adaptive_witness(x, y, points, at, lengthscale):
    """Log BF10, and mean and variance of the witness, of the adaptive model at one lengthscale."""
    scale = 0.5 if x.shape[1] == 1 else 0.3
    log_amplitudes = np.log(scale) + np.arange(-12, 8, 0.25)
    log_prior = -np.log(np.cosh(log_amplitudes - np.log(scale)))
    a, b, K = (kernel(rows, points, lengthscale) for rows in (x, y, points))
    logs = default_model.log_bf10_given(a, b, K, np.exp(log_amplitudes)) + log_prior - logsumexp(log_prior)
    s, n = len(points), 2 / (1 / len(x) + 1 / len(y))
    floor = min(150 / n**3, 0.2 / n) * np.concatenate([a, b]).var(axis=0).mean()
    estimated = (n - 1) / (n - 3)
    V = np.cov(a.T, bias=True) / len(x) + np.cov(b.T, bias=True) / len(y) + floor * np.eye(s)
    cross = on_points(at, points, points, lengthscale)
    gain = cross @ np.linalg.inv(on_points(points, points, points, lengthscale) + estimated * V)
    variance = np.diag(on_points(at, at, points, lengthscale) - gain @ cross.T)
    amplitude = np.exp(np.exp(logs - logsumexp(logs)) @ log_amplitudes)
    largest = (1 + max(len(x), len(y)) / min(len(x), len(y))) / np.sqrt(s)
    values = kernel(at, points, lengthscale)
    inverse = np.linalg.pinv(K, rcond=1e-9, hermitian=True)
    unseen = 1 - np.diag(values @ inverse @ values.T)
    return logsumexp(logs), gain @ (a.mean(0) - b.mean(0)), variance + min(amplitude, largest) ** 2 / s * unseen**2


@pytest.mark.parametrize("n_y", [60, 25])
@pytest.mark.parametrize(("n_columns", "shift"), [(1, 0.0), (1, 4.0), (2, 0.0)])
def test_adaptive_at_a_fixed_lengthscale(n_columns, shift, n_y):
    """Hardly shrunk, with V estimated from each sample by itself, and unsure of what the points cannot show."""
    x, y, points, at = data(n_columns)
    y = 1.5 * y[:n_y] + shift  # with a shift of 4 the learned amplitude is above its bound
    at = np.concatenate([at, np.full((1, n_columns), 30.0)])
    found = ts.test(x, y, lengthscale=0.4, points=points, scale="raw").witness(at)
    _, mean, variance = adaptive_witness(x, y, points, at, 0.4)
    np.testing.assert_allclose(found.mean, mean, atol=1e-9)
    np.testing.assert_allclose(found.sd, np.sqrt(variance), rtol=1e-3)
    assert found.mean[-1] == 0.0
    assert found.sd[-1] > 0.01


def test_mixture_over_the_lengthscale():
    """Against a dense mixture: twelve lengthscales come within a few per cent of the posterior sd."""
    x, y, points, at = data()
    result = ts.test(x, y, points=points, scale="raw", subsets=None)
    median = result.lengthscale.median_heuristic
    grid = np.geomspace(median / 16, 8 * median, 200)
    logs, means, variances = map(
        np.array, zip(*(adaptive_witness(x, y, points, at, lengthscale) for lengthscale in grid), strict=True)
    )
    weights = np.exp(logs - logsumexp(logs))
    mean = weights @ means
    sd = np.sqrt(weights @ (variances + means**2) - mean**2)
    found = result.witness(at)
    assert np.abs(found.mean - mean).max() < 0.04 * sd.max()
    np.testing.assert_allclose(found.sd, sd, rtol=0.04)


def test_the_witness_of_the_default_is_that_of_all_columns_as_scaled():
    x, y, _, at = data(2)
    mixed, alone = (ts.test(x, y, subsets=subsets).witness(at) for subsets in ("auto", None))
    np.testing.assert_allclose(mixed.mean, alone.mean, rtol=1e-12)
    np.testing.assert_allclose(mixed.sd, alone.sd, rtol=1e-12)


def test_no_more_is_known_of_few_rows_than_the_prior_says():
    """V has no degrees of freedom to speak of there."""
    witness = ts.test([1.0, 2.0], [3.0, 4.0]).witness([1.0, 2.5, 9.0])
    assert np.isfinite(witness.mean).all()
    assert ((witness.sd > 0) & (witness.sd < 1)).all()


def test_sign_says_which_sample_has_more_mass():
    rng = np.random.default_rng(4)
    result = ts.test(rng.normal(-2, 1, 200), rng.normal(2, 1, 200))
    witness = result.witness([-2.0, 2.0])
    assert witness.mean[0] > 3 * witness.sd[0]
    assert witness.mean[1] < -3 * witness.sd[1]


def test_band_has_the_normal_width():
    x, y, _, at = data()
    witness = ts.test(x, y).witness(at)
    low, high = witness.band(0.95)
    np.testing.assert_allclose((high - low) / 2, 1.959964 * witness.sd, rtol=1e-6)
    np.testing.assert_allclose((high + low) / 2, witness.mean, atol=1e-15)


def mean_kernel(at, mean, lengthscale, power):
    """Mean of a power of the kernel between a location and N(mean, 1)."""
    squared = lengthscale**2 / power
    return np.sqrt(squared / (squared + 1)) * np.exp(-((at - mean) ** 2) / (2 * (squared + 1)))


@pytest.mark.parametrize(("n", "widest"), [(30, 1.3), (300, 1.05)])
def test_band_covers_the_true_witness(n, widest):
    """The 90 % band on data whose witness is known, pooled over data sets and locations, and its width.

    Forty data sets of about three independent locations each: the coverage has a standard error of 0.03. The standard
    deviation of the empirical witness is what no honest band can be much narrower than.
    """
    rng = np.random.default_rng(5)
    at, lengthscale, inside, widths = np.linspace(-2, 3, 11), 1.0, [], []
    first, second = (np.array([mean_kernel(at, mean, lengthscale, power) for power in (1, 2)]) for mean in (0.0, 0.7))
    truth = first[0] - second[0]
    empirical = np.sqrt((first[1] - first[0] ** 2 + second[1] - second[0] ** 2) / n)
    for _ in range(40):
        result = ts.test(rng.normal(size=n), rng.normal(0.7, 1, n), lengthscale=lengthscale)
        witness = result.witness(at)
        low, high = witness.band(0.9)
        inside.append((low <= truth) & (truth <= high))
        widths.append(witness.sd.mean() / empirical.mean())
    assert np.mean(inside) > 0.85
    assert 0.95 < np.mean(widths) < widest


@pytest.mark.parametrize(("at", "message"), [([[1.0, 2.0]], "at"), ([np.nan], "at"), ([], "at")])
def test_bad_locations_are_refused(at, message):
    x, y, _, _ = data()
    with pytest.raises(InputError, match=message):
        ts.test(x, y).witness(at)
