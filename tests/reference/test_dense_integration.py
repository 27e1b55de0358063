"""P(H1) of every model against an independent, dense integration written from the formulas."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, logsumexp
from scipy.stats import gamma
from tests import default_model

import twosample as ts

POINTS = 12


def draw(name, n):
    rng = np.random.default_rng([n, *name.encode()])
    if name == "null":
        x, y = rng.normal(size=(2, n, 1))
    elif name == "scale":
        x, y = rng.normal(size=(n, 1)), 1.3 * rng.normal(size=(n, 1))
    elif name == "plane":
        x, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 0.2
    elif name == "two scales":
        # A coarse and a fine difference: lengthscales near 5 and near 0.05 both tell the samples apart.
        x, y = (
            np.where(rng.random((n, 1)) < 0.5, 0.1 * rng.normal(size=(n, 1)), 8 + 3 * rng.normal(size=(n, 1)))
            for _ in "xy"
        )
        y = np.where(y < 3, np.where(rng.random((n, 1)) < 0.5, -0.15, 0.15) + 0.3 * y, y + 0.9)
    points = np.concatenate([x[: POINTS // 2], y[: POINTS // 2]])
    return x, y, points


def kernel(rows, points, lengthscale):
    distances = sum(np.subtract.outer(rows[:, d], points[:, d]) ** 2 for d in range(rows.shape[1]))
    return np.exp(-distances / (2 * lengthscale**2))


def panels(low, high, count, order=8):
    """Composite Gauss–Legendre nodes and weights."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    edges = np.linspace(low, high, count + 1)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


def log_volume(x, y, points, lengthscale):
    blocks = []
    for rows in (x, y):
        weight = kernel(rows, points, lengthscale)[:, :, None]
        blocks.append(weight * (rows[:, None, :] - points) / lengthscale**2)
    J = np.concatenate([blocks[0], -blocks[1]], axis=2)
    with np.errstate(divide="ignore"):  # underflows at small lengthscales, where there is no mass
        return np.log(np.linalg.svd(J, compute_uv=False)).sum()


def adaptive_log_bf(x, y, points, lengthscale, scale, paired=False):
    features = [kernel(rows / scale, points / scale, lengthscale) for rows in (x, y, points)]
    return default_model.log_bf10(*features, paired=paired, scale=0.5 if x.shape[1] == 1 else 0.3)


def paper_curves(x, y, points, lengthscale):
    a, b = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    (n, s), G = a.shape, (a - b).T
    sigma = np.cov(a.T, bias=True) + np.cov(b.T, bias=True) + 0.1 * np.eye(s)
    R = np.pi ** (x.shape[1] / 2) * lengthscale ** x.shape[1] * kernel(points, points, np.sqrt(2) * lengthscale)
    delta = G.mean(axis=1)
    log_bf = log_normal(delta, sigma / n + R) - log_normal(delta, sigma / n)
    quadratic = np.trace(np.linalg.solve(sigma, G @ G.T))
    h0 = -n / 2 * np.linalg.slogdet(sigma)[1] - quadratic / 2 + log_volume(x, y, points, lengthscale)
    return h0, h0 + log_bf, log_bf


def published_curves(x, y, points, lengthscale):
    a, b = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
    (n, s), G = a.shape, (a - b).T
    R = kernel(points, points, np.sqrt(2) * lengthscale) + 1e-8 * np.eye(s)
    V = (np.cov(a.T, bias=True) + np.cov(b.T, bias=True)) / n + 1e-8 * np.eye(s)
    delta = G.mean(axis=1)
    log_bf = log_normal(delta, V + R) - log_normal(delta, V)
    scatter = n * np.cov(G, bias=True)
    sigma = scatter / n + 0.1 * np.eye(s)
    volume = log_volume(x, y, points, lengthscale)
    log_det = np.linalg.slogdet(sigma)[1]
    h0 = -n / 2 * log_det - np.trace(np.linalg.solve(sigma, G @ G.T)) / 2 + volume
    # tr(n A⁻¹(A + nΔΔᵀ)) with A = GHGᵀ + n²R; the trace as printed loses six digits at n = 5,000.
    trace = n * s + n**2 * delta @ cho_solve(cho_factor(scatter + n**2 * R), delta)
    h1 = -np.linalg.slogdet(sigma + n * R)[1] / 2 - (n - 1) / 2 * log_det - trace / 2 + volume
    return h0, h1, log_bf


def log_normal(value, covariance):
    factor = cho_factor(covariance, lower=True)
    return -np.log(np.diag(factor[0])).sum() - value @ cho_solve(factor, value) / 2


def posterior_range(curves, low, high):
    """Where, on a coarse grid refined twice, either density is within e^-40 of its maximum."""
    for _ in range(3):
        grid = np.linspace(low, high, 60)
        values = np.array([curves(t) for t in grid])[:, :2]
        kept = np.flatnonzero((values > values.max(axis=0) - 40).any(axis=1))
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, 59)]
    return low, high


@pytest.mark.parametrize(
    ("name", "n_x", "n_y", "paired", "count"),
    [
        ("null", 20, 20, False, 60),
        ("null", 200, 200, False, 60),
        ("scale", 20, 20, False, 60),
        ("scale", 200, 200, False, 60),
        ("scale", 200, 35, False, 60),
        ("scale", 200, 200, True, 60),
        ("scale", 5000, 5000, False, 40),
        ("plane", 200, 200, False, 60),
        ("plane", 80, 200, False, 60),
        ("two scales", 200, 200, False, 100),
    ],
)
def test_adaptive(name, n_x, n_y, paired, count):
    """All columns together, as scaled: the part of the default test that is integrated over the lengthscale."""
    x, y, points = draw(name, max(n_x, n_y))
    x, y = x[:n_x], y[:n_y]
    result = ts.test(x, y, points=points, tolerance=1e-6, subsets=None, paired=paired)
    scale = result.scale
    unit = scale[0] if x.shape[1] == 1 else 1.0
    median = result.lengthscale.median_heuristic / unit
    t, w = panels(np.log(median / 16), np.log(8 * median), count)
    values = [adaptive_log_bf(x, y, points, np.exp(node), scale, paired) for node in t]
    expected = logsumexp(values, b=w / np.log(128))
    assert result.log_bf10 == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert result.diagnostics.quadrature_error < 1e-6 * max(1.0, abs(expected))
    # The posterior mean of the lengthscale, from the same nodes; log BF10 has an error of 1e-4 where it is 100.
    mass = w * np.exp(np.array(values) - max(values))
    tolerance = 1e-5 * max(1.0, 0.1 * abs(expected))
    assert result.lengthscale.mean == pytest.approx(mass @ np.exp(t) / mass.sum() * unit, rel=tolerance)
    # The default is less accurate, and says by how much.
    default = ts.test(x, y, points=points, subsets=None, paired=paired)
    assert abs(default.log_bf10 - expected) <= default.diagnostics.quadrature_error + 1e-6 * max(1.0, abs(expected))
    assert default.diagnostics.quadrature_error <= 1e-3 * max(1.0, abs(expected))


@pytest.mark.parametrize(
    ("name", "n", "count"),
    [
        ("null", 20, 40),
        ("scale", 20, 40),
        ("null", 200, 40),
        ("scale", 200, 40),
        ("plane", 200, 30),
        ("two scales", 100, 60),
        pytest.param("scale", 5000, 12, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("model", ["paper", "published"])
def test_pseudo_likelihood_models(model, name, n, count):
    x, y, points = draw(name, n)
    formulas = paper_curves if model == "paper" else published_curves
    # Rows that are evaluation points have a zero in J, which neither side minds.

    def curves(t):
        h0, h1, log_bf = formulas(x, y, points, np.exp(t))
        log_prior = gamma.logpdf(np.exp(t), 2, scale=0.5) + t
        return h0 + log_prior, h1 + log_prior, log_bf

    low, high = posterior_range(curves, np.log(0.05), np.log(60.0))
    t, w = panels(low, high, count)
    values = np.array([curves(node) for node in t])
    if model == "paper":
        expected = logsumexp(values[:, 1], b=w) - logsumexp(values[:, 0], b=w)
    else:
        mass = [np.exp(values[:, k] - logsumexp(values[:, k], b=w)) * w for k in (0, 1)]
        expected = np.log(mass[0] @ expit(values[:, 2])) - np.log(mass[1] @ expit(-values[:, 2]))
    result = ts.test(x, y, points=points, model=model, tolerance=1e-6)
    assert result.log_bf10 == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert result.prob_h1 == pytest.approx(expit(expected), abs=1e-6)


def test_two_modes_are_found():
    """The data set of the tests above has a lengthscale posterior with two modes under `adaptive`."""
    x, y, points = draw("two scales", 200)
    density = ts.test(x, y, points=points).lengthscale.density_h1
    peaks = (density[1:-1] > density[:-2]) & (density[1:-1] > density[2:]) & (density[1:-1] > 0.01 * density.max())
    assert peaks.sum() >= 2


def test_published_equals_a_table_of_300_nodes():
    """The stationary probability of the released sampler, summed over an even table of the formulas."""
    x, y, points = draw("scale", 100)
    t = np.linspace(np.log(0.3), np.log(12), 300)
    table = np.array([published_curves(x, y, points, np.exp(node)) for node in t])
    log_prior = gamma.logpdf(np.exp(t), 2, scale=0.5) + t
    weights = [np.exp(table[:, k] + log_prior - logsumexp(table[:, k] + log_prior)) for k in (0, 1)]
    alpha, beta = weights[0] @ expit(table[:, 2]), weights[1] @ expit(-table[:, 2])
    result = ts.test(x, y, points=points, model="published", tolerance=1e-6)
    assert result.prob_h1 == pytest.approx(alpha / (alpha + beta), abs=1e-6)
    odds = ts.test(x, y, points=points, model="published", prior_odds=3.0, tolerance=1e-6)
    alpha, beta = weights[0] @ expit(table[:, 2] + np.log(3)), weights[1] @ expit(-table[:, 2] - np.log(3))
    assert odds.prob_h1 == pytest.approx(alpha / (alpha + beta), abs=1e-6)
