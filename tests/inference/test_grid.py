"""Integration from one pass over a grid: against adaptive quadrature, and whether its errors can be believed."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import expit, logsumexp

from twosample.inference import grid
from twosample.inference.grid import first_level, integrate, lengthscale_grid, local_polynomials

LOW, HIGH = np.log(1 / 16), np.log(8.0)
NODES = np.log(lengthscale_grid(1 / 16, 8.0))


def log_integral(rule, logs=None):
    return logsumexp(rule.curves[:, 0] if logs is None else logs, b=rule.weights)


def reference(curve, low=LOW, high=HIGH, points=()):
    """Log of the integral of the exponential, by adaptive quadrature between the points."""
    edges = [low, *(point for point in points if low < point < high), high]
    parts = [
        quad(lambda t: np.exp(curve(np.array([t]))[0]), a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
        for a, b in pairwise(edges)
    ]
    return np.log(sum(parts))


# ---- the grid of lengthscales


@pytest.mark.parametrize(("low", "high"), [(1 / 16, 8.0), (0.3, 0.7), (1.0, 8.0), (0.02, 31.0), (1.0, 1.01)])
@pytest.mark.parametrize("level", [0, 1, 2, 4])
def test_grids_are_geometric_and_cover_the_bounds(low, high, level):
    found = lengthscale_grid(low, high, level)
    assert found[-1] == high
    # Up to rounding, where the bounds are a whole number of steps apart; beyond them lies less than a step of the
    # coarsest grid.
    assert found[0] <= low * (1 + 1e-9) and found[2**level] > low * (1 + 1e-9)
    steps = np.diff(np.log2(found))
    assert_allclose(steps, steps[0], rtol=1e-6)
    per_octave = 1 / steps[0] / 2**level
    assert per_octave == pytest.approx(round(per_octave), rel=1e-6) and per_octave > 6 - 1e-6
    assert len(found) - 1 >= 12 * 2**level


@pytest.mark.parametrize(("low", "high"), [(1 / 16, 8.0), (0.3, 0.7), (0.02, 31.0)])
def test_every_level_holds_the_one_before(low, high):
    """Exactly: statistics are kept from level to level, and looked up by their lengthscales."""
    levels = [lengthscale_grid(low, high, level) for level in range(grid.LAST_LEVEL + 1)]
    for coarse, fine in pairwise(levels):
        assert_array_equal(fine[::2], coarse)
        assert len(fine) == 2 * len(coarse) - 1


def test_most_steps_are_roots_of_two():
    """So that kernels are squares of others three steps before."""
    found = lengthscale_grid(0.05, 9.0)
    assert_allclose(found[3:] / found[:-3], np.sqrt(2.0), rtol=1e-12)


def test_small_tolerances_start_with_a_finer_grid():
    assert first_level(1e-3) == first_level(1e-4) == 0
    assert first_level(0.99e-4) == first_level(1e-6) == 1


# ---- local polynomials


def places(nodes, rng):
    return np.sort(np.concatenate([nodes, rng.uniform(nodes[0], nodes[-1], size=60)]))


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5, 7])
@pytest.mark.parametrize("equal", [True, False])
def test_polynomials_of_the_degree_are_reproduced(degree, equal):
    rng = np.random.default_rng(degree)
    nodes = np.linspace(-1.0, 1.0, 12) if equal else np.sort(rng.uniform(-1.0, 1.0, size=12))
    at = places(nodes, rng)
    matrix = local_polynomials(nodes, at, degree)
    polynomial = np.polynomial.Polynomial(rng.normal(size=degree + 1))
    # Rounding: weights of unequal nodes may be in the hundreds.
    assert_allclose(matrix @ polynomial(nodes), polynomial(at), atol=1e-14 * np.abs(matrix).sum(axis=1).max() * 10)
    if degree < 7:
        higher = at ** (degree + 1)
        assert np.abs(matrix @ nodes ** (degree + 1) - higher).max() > 1e-7


@pytest.mark.parametrize("degree", [1, 2, 3, 7])
def test_as_many_nodes_on_each_side_where_possible(degree):
    nodes = np.array([0.0, 1.0, 2.5, 3.0, 4.5, 5.0, 6.0, 7.5, 8.0, 9.0, 10.0, 11.5])
    at = np.array([0.3, 1.2, 4.0, 5.5, 7.0, 9.5, 11.0])
    for place, row in zip(at, local_polynomials(nodes, at, degree), strict=True):
        used = nodes[row != 0.0]
        assert len(used) == degree + 1
        assert (np.diff(np.flatnonzero(row)) == 1).all()
        below, above = (used < place).sum(), (used > place).sum()
        free = used[0] > nodes[0] and used[-1] < nodes[-1]
        assert min(below, above) >= 1
        if free:
            assert abs(below - above) <= 1
            assert below == above or degree % 2 == 0


def test_values_at_the_nodes_are_kept():
    nodes = np.array([0.0, 0.4, 1.0, 1.7, 2.0])
    assert_allclose(local_polynomials(nodes, nodes, 3), np.eye(5), atol=1e-15)


def test_fewer_nodes_than_the_degree_takes():
    nodes = np.array([1.0, 2.0, 4.0])
    assert_allclose(local_polynomials(nodes, np.array([3.0]), 7) @ nodes**2, [9.0])
    assert_array_equal(local_polynomials(np.array([1.0]), np.array([0.0, 5.0]), 7), np.ones((2, 1)))


# ---- integrals


SMOOTH = {
    "flat": lambda t: np.zeros_like(t),
    "line": lambda t: 3.0 * t - 1.0,
    "wave": lambda t: 2.0 * np.sin(2.0 * t),
    "step": lambda t: 5.0 * np.tanh(t / 0.6),
    "hump": lambda t: 8.0 * np.exp(-0.5 * ((t - 0.4) / 0.5) ** 2),
    "large": lambda t: 700.0 + 40.0 * np.cos(t),
    "tiny": lambda t: -4000.0 - t**2,
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_curves(name):
    curve = SMOOTH[name]
    shift = float(curve(np.array([0.4]))[0])  # beyond floats
    rule = integrate(NODES, curve(NODES)[:, None], LOW)
    expected = shift + reference(lambda t: curve(t) - shift)
    assert rule.converged and rule.error < 1e-3
    assert abs(log_integral(rule) - expected) <= rule.error + 1e-12 * abs(expected)
    assert rule.evaluations == len(NODES)
    assert (np.diff(rule.grid) > 0).all() and (rule.weights > 0).all()
    assert rule.grid[0] > LOW and rule.grid[-1] < HIGH
    assert rule.weights.sum() == pytest.approx(HIGH - LOW, rel=1e-12)


@pytest.mark.parametrize("width", [0.3, 0.03, 0.003, 1e-4])
@pytest.mark.parametrize("center", [-0.5, 0.123, 1.9])
def test_peaks_of_any_width(width, center):
    """Far narrower than a step of the grid: what is interpolated is the logarithm, here with a skew of its own."""

    def curve(t):
        return -0.5 * ((t - center) / width) ** 2 - 0.1 * ((t - center) / width ** (2 / 3)) ** 3 * (width < 0.1)

    around = center + width * np.array([-12.0, -4.0, 4.0, 12.0])
    rule = integrate(NODES, curve(NODES)[:, None], LOW, tolerance=1e-5)
    low, high = max(around[0], LOW), min(around[-1], HIGH)
    expected = reference(curve, low, high, around)
    assert rule.converged
    # The estimate of what pieces still change is that of a better rule than the one returned; and curves are rounded.
    rounding = 1e-15 * np.abs(curve(NODES)).max()
    assert abs(log_integral(rule) - expected) < min(2 * rule.error + rounding, 1e-5)


@pytest.mark.parametrize("width", [0.4, 0.25])
@pytest.mark.parametrize("drop", [0.0, 3.0, 12.0])
def test_two_peaks(width, drop):
    def curve(t):
        first, second = -0.5 * ((t + 1.4) / width) ** 2, -drop - 0.5 * ((t - 0.9) / width) ** 2
        return np.logaddexp(first, second)

    rule = integrate(NODES, curve(NODES)[:, None], LOW)
    expected = reference(curve, points=(-1.4, 0.0, 0.9))
    assert rule.converged
    assert abs(log_integral(rule) - expected) <= rule.error
    density = np.exp(rule.curves[:, 0] - log_integral(rule))
    right = rule.weights @ np.where(rule.grid > 0.0, density, 0.0)
    assert right == pytest.approx(np.exp(reference(curve, 0.0, points=(0.9,)) - expected), rel=1e-2)


@pytest.mark.parametrize("share", [0.0, 1e-6, 0.3, 0.5, 0.999, 1.0, 1.6, 7.0, 9.3, 41.9])
def test_the_range_may_start_between_two_nodes(share):
    """Nodes below it count for the interpolation alone."""
    low = NODES[0] + share * (NODES[1] - NODES[0])

    def curve(t):
        return -2.0 * t + np.sin(t)  # its mass is at the lower end

    rule = integrate(NODES, curve(NODES)[:, None], low)
    assert rule.weights.sum() == pytest.approx(HIGH - low, rel=1e-9)
    assert rule.grid[0] > low
    assert log_integral(rule) == pytest.approx(reference(curve, low), abs=1e-8)


@pytest.mark.parametrize("count", [2, 3, 5, 7, 8])
def test_few_nodes(count):
    """As many as there are decide the degree, and of two polynomials that differ the error is told."""
    nodes = np.linspace(0.0, 1.0, count)
    line, wave = 2.0 * nodes + 1.0, np.sin(5.0 * nodes)
    rule = integrate(nodes, line[:, None], 0.0)
    assert log_integral(rule) == pytest.approx(np.log((np.e**3 - np.e) / 2.0), abs=1e-6)
    rule = integrate(nodes, wave[:, None], 0.0)
    error = abs(log_integral(rule) - reference(lambda t: np.sin(5.0 * t), 0.0, 1.0))
    assert 1e-9 < error <= rule.error


def test_several_curves_and_what_is_integrated_of_them():
    """A step in the integrand that is far narrower than the grid, of which only the smooth logit is interpolated."""
    slope = 300.0

    def curves(t):
        return np.stack([-0.5 * t**2, slope * (t - 0.3)], axis=1)

    def integrands(curves):
        return np.stack([curves[:, 0], curves[:, 0] - np.logaddexp(0.0, -curves[:, 1])], axis=1)

    rule = integrate(NODES, curves(NODES), LOW, integrands=integrands, tolerance=1e-6)
    assert rule.converged and rule.curves.shape[1] == 2
    found = [log_integral(rule, logs) for logs in integrands(rule.curves).T]
    assert found[0] == pytest.approx(reference(lambda t: -0.5 * t**2), abs=1e-6)
    steep = 0.3 + np.array([-30.0, -3.0, 3.0, 30.0]) / slope
    expected = reference(lambda t: -0.5 * t**2 + np.log(np.maximum(expit(slope * (t - 0.3)), 1e-300)), points=steep)
    assert found[1] == pytest.approx(expected, abs=1e-6)


def test_a_wanted_error_that_depends_on_the_integrals():
    curve = (3.0 * np.exp(-0.5 * ((NODES - 0.1) / 0.25) ** 2))[:, None]
    rule = integrate(NODES, curve, LOW, tolerance=1e-4)
    assert not rule.converged and log_integral(rule) > 1.0
    for share, enough in ((0.9, False), (1.1, True)):
        factor = share * rule.error / log_integral(rule)
        found = integrate(NODES, curve, LOW, tolerance=lambda log_integrals, c=factor: c * log_integrals[0])
        assert found.converged == enough


# ---- errors


def random_curve(seed, narrowest, widest, size):
    """A sum of steps and humps of various widths."""
    rng = np.random.default_rng(seed)
    parts = [
        (rng.integers(2), rng.uniform(LOW, HIGH), np.exp(rng.uniform(np.log(narrowest), np.log(widest))), rng.normal())
        for _ in range(rng.integers(2, 6))
    ]

    def curve(t):
        shapes = ((np.tanh(u), np.exp(-0.5 * u**2)) for u in ((t - center) / width for _, center, width, _ in parts))
        return size * sum(part[3] * shape[part[0]] for part, shape in zip(parts, shapes, strict=True))

    return curve


def dense_log_integral(curve, pieces=400):
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(LOW, HIGH, pieces + 1)
    half = 0.5 * np.diff(edges)[:, None]
    return logsumexp(curve((edges[:-1, None] + half * (1.0 + nodes)).ravel()), b=(half * weights).ravel())


@pytest.mark.parametrize(
    ("narrowest", "widest", "size"),
    [
        # Slight, with mass everywhere: errors of either sign cancel in the integral, and in the change that tells them.
        (0.15, 0.5, 0.1),
        # Steep, with mass in few places, as the evidence of large samples: where it is rough, the next degree is no
        # better than the last.
        (0.25, 3.0, 30.0),
    ],
)
def test_the_error_is_on_the_safe_side(narrowest, widest, size):
    """The true error is less than 0.7 of the estimate for 99 of 100 curves that the grid just about resolves."""
    shares, errors = [], []
    for seed in range(400):
        curve = random_curve([seed, 0], narrowest, widest, size)
        rule = integrate(NODES, curve(NODES)[:, None], LOW)
        errors.append(abs(log_integral(rule) - dense_log_integral(curve)))
        shares.append(errors[-1] / rule.error)
    assert np.quantile(shares, 0.99) < 0.7
    # And not by orders of magnitude: then no grid would ever do.
    assert np.median(shares) > 0.005
    assert np.median(errors) > 1e-8


@pytest.mark.parametrize("size", [0.3, 5.0])
def test_rough_curves_do_not_pass(size):
    rng = np.random.default_rng(0)
    rule = integrate(NODES, size * rng.normal(size=(len(NODES), 1)), LOW)
    assert not rule.converged
    assert rule.error > 1e-3


def test_a_finer_grid_resolves_what_a_coarse_one_cannot():
    curve = random_curve(5, 0.08, 0.15, 3.0)
    expected = dense_log_integral(curve)
    rules = []
    for level in range(4):
        nodes = np.log(lengthscale_grid(1 / 16, 8.0, level))
        rules.append(integrate(nodes, curve(nodes)[:, None], LOW))
        assert abs(log_integral(rules[-1]) - expected) <= rules[-1].error
    assert not rules[0].converged and rules[-1].converged
    assert rules[-1].error < 1e-4 * rules[0].error


def test_only_small_matrices_are_kept():
    grid._kept_matrix.cache_clear()
    for level in (3, 4):
        nodes = np.log(lengthscale_grid(1 / 16, 8.0, level))
        integrate(nodes, np.zeros((len(nodes), 1)), LOW)
    assert grid._kept_matrix.cache_info().currsize == 0
    for _ in range(2):
        integrate(NODES, np.zeros((len(NODES), 1)), LOW)
    assert grid._kept_matrix.cache_info().hits > 0
