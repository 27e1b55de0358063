import numpy as np
import pytest
from scipy.special import logsumexp

import twosample as ts
from twosample.errors import InputError


def kernel(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def stationary(first, second, points, lengthscale):
    return kernel(first, second, np.sqrt(2) * lengthscale)


def zero_sum(first, second, points, lengthscale):
    s = len(points)
    return kernel(first, points, lengthscale) @ (np.eye(s) - 1 / s) @ kernel(second, points, lengthscale).T / s


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


def test_mixture_over_lengthscale_and_amplitude():
    """Against a dense mixture over both: twelve lengthscales come within a few per cent of the posterior sd."""
    x, y, points, at = data()
    result = ts.test(x, y, points=points, scale="raw")
    median = result.lengthscale.median_heuristic
    logs, means, seconds = [], [], []
    n, s, freedom = 60, 9, 59
    for lengthscale in np.geomspace(median / 16, 8 * median, 120):
        a, b = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
        delta = a.mean(0) - b.mean(0)
        noise = (np.cov(a.T, bias=True) + np.cov(b.T, bias=True)) / n
        V = noise + 50 / n**3 * np.eye(s)
        dimensions = np.trace(np.linalg.solve(V, noise))
        q0 = delta @ np.linalg.solve(V, delta)
        for amplitude in 0.3 * np.exp(np.arange(-5, 5, 0.25)):
            total = V + amplitude**2 * zero_sum(points, points, points, lengthscale)
            q1 = delta @ np.linalg.solve(total, delta)
            log_bf = 0.5 * (freedom + dimensions) * np.log((freedom + q0) / (freedom + q1))
            log_bf -= 0.5 * (np.linalg.slogdet(total)[1] - np.linalg.slogdet(V)[1])
            logs.append(log_bf + np.log(amplitude / (1 + (amplitude / 0.3) ** 2)))
            mean, covariance = gaussian_process(x, y, points, at, lengthscale, amplitude**2, 50 / n**3, zero_sum)
            means.append(mean)
            seconds.append(mean**2 + np.diag(covariance))
    weights = np.exp(np.array(logs) - logsumexp(logs))
    mean = weights @ np.array(means)
    sd = np.sqrt(weights @ np.array(seconds) - mean**2)
    found = result.witness(at)
    assert np.abs(found.mean - mean).max() < 0.04 * sd.max()
    np.testing.assert_allclose(found.sd, sd, rtol=0.04)


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


def test_band_covers_the_true_witness_mostly():
    """The coverage of the 90 % band on data whose witness is known, pooled over data sets and locations.

    V is estimated and the prior shrinks, so the band covers less than its nominal probability, as the docs say.
    """
    rng = np.random.default_rng(5)
    at, lengthscale, inside = np.linspace(-2, 3, 11), 1.0, []
    spread = np.sqrt(lengthscale**2 + 1)
    truth = (np.exp(-(at**2) / (2 * spread**2)) - np.exp(-((at - 0.7) ** 2) / (2 * spread**2))) * lengthscale / spread
    for _ in range(40):
        result = ts.test(rng.normal(size=300), rng.normal(0.7, 1, 300), lengthscale=lengthscale)
        low, high = result.witness(at).band(0.9)
        inside.append((low <= truth) & (truth <= high))
    assert 0.75 < np.mean(inside) < 0.97


@pytest.mark.parametrize(("at", "message"), [([[1.0, 2.0]], "at"), ([np.nan], "at"), ([], "at")])
def test_bad_locations_are_refused(at, message):
    x, y, _, _ = data()
    with pytest.raises(InputError, match=message):
        ts.test(x, y).witness(at)
