import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logsumexp

from twosample.evidence import Evidence
from twosample.posterior.marginals import component_weights, densities, log_bayes_factor
from twosample.posterior.quadrature import Quadrature, integrate


def log_integral(rule, curve=0):
    return logsumexp(rule.curves[:, curve], b=rule.weights)


@pytest.mark.parametrize("width", [2.0, 0.3, 0.02, 1e-3, 1e-5])
@pytest.mark.parametrize("center", [-2.3, 0.01, 2.9])
def test_one_peak_of_any_width(width, center):
    rule = integrate(lambda t: -0.5 * ((t[:, None] - center) / width) ** 2, -4.0, 4.0)
    expected, _ = quad(
        lambda t: np.exp(-0.5 * ((t - center) / width) ** 2),
        max(-4, center - 12 * width),
        min(4, center + 12 * width),
        epsabs=0,
        epsrel=1e-12,
    )
    assert log_integral(rule) == pytest.approx(np.log(expected), abs=1e-6)
    assert rule.error <= 1e-6


@pytest.mark.parametrize("width", [0.3, 0.05, 0.01])
@pytest.mark.parametrize("drop", [0.0, 3.0, 12.0])
def test_two_separate_peaks(width, drop):
    """The log curve of a mixture bends sharply between its peaks, far below them."""

    def curve(t):
        first, second = -0.5 * ((t + 1.5) / width) ** 2, -drop - 0.5 * ((t - 2.0) / width) ** 2
        return np.logaddexp(first, second)[:, None]

    rule = integrate(curve, -4.0, 4.0)
    expected = np.log(width * np.sqrt(2 * np.pi)) + np.log1p(np.exp(-drop))
    assert log_integral(rule) == pytest.approx(expected, abs=2e-6)


def test_likelihood_of_many_observations():
    """n times a smooth curve, as pseudo-likelihoods are, over magnitudes of a million nats."""

    def curve(t):
        return (-1e6 * (np.exp(-2 * t) + 2 * t))[:, None]

    rule = integrate(curve, -4.0, 5.0)
    # Substituting u = e^{-2t}: a Gamma integral.
    from scipy.special import gammaln

    expected = gammaln(1e6) - 1e6 * np.log(1e6) - np.log(2)
    assert log_integral(rule) == pytest.approx(expected, abs=1e-6)


def test_bounds_find_the_mass_where_the_curve_is_steep():
    calls = []

    def curve(t):
        calls.extend(t)
        return (-np.exp(-4 * t) - 0.5 * (t / 0.1) ** 2)[:, None]

    rule = integrate(curve, -9.0, 4.0, scan=True, bound=lambda t: 5.0 - 0.5 * (t[:, None] / 0.1) ** 2)
    expected, _ = quad(lambda t: np.exp(-np.exp(-4 * t) - 0.5 * (t / 0.1) ** 2), -1, 1, epsabs=0, epsrel=1e-12)
    assert log_integral(rule) == pytest.approx(np.log(expected), abs=1e-6)
    assert min(calls) > -3.0
    assert rule.evaluations >= len(calls)


def test_bounds_may_be_far_too_high_where_there_is_no_mass():
    def curve(t):
        return (-0.5 * ((t - 2) / 0.05) ** 2)[:, None]

    def bound(t):
        return curve(t) + 1e5 * (t < 0)[:, None] + 10.0

    rule = integrate(curve, -9.0, 4.0, scan=True, bound=bound)
    assert log_integral(rule) == pytest.approx(np.log(0.05 * np.sqrt(2 * np.pi)), abs=1e-6)


def test_a_scan_passes_over_what_is_impossible():
    def curve(t):
        return np.where(t < -1.0, -np.inf, -0.5 * (t / 0.05) ** 2)[:, None]

    rule = integrate(curve, -3.0, 4.0, scan=True)
    assert log_integral(rule) == pytest.approx(np.log(0.05 * np.sqrt(2 * np.pi)), abs=1e-6)


def test_both_densities_and_the_extra_curve_are_resolved():
    def curves(t):
        return np.stack([-0.5 * ((t + 2) / 0.1) ** 2, -0.5 * ((t - 2) / 0.3) ** 2, np.sin(3 * t)], axis=1)

    def integrands(curves):
        return np.concatenate([curves[:, :2], curves[:, :2] + curves[:, 2:]], axis=1)

    rule = integrate(curves, -4.0, 4.0, integrands=integrands)
    for k, (center, width) in enumerate(((-2, 0.1), (2, 0.3))):
        mass = rule.weights * np.exp(rule.curves[:, k])
        assert np.log(mass.sum()) == pytest.approx(np.log(width * np.sqrt(2 * np.pi)), abs=1e-6)
        # E sin(3t) under a normal.
        expected = np.sin(3 * center) * np.exp(-4.5 * width**2)
        assert mass @ rule.curves[:, 2] / mass.sum() == pytest.approx(expected, abs=1e-6)
    assert (np.diff(rule.grid) > 0).all()
    assert (rule.weights >= 0).all()


@pytest.mark.parametrize("scan", [False, True])
def test_an_integrand_may_have_its_mass_where_no_density_has(scan):
    """P(H1 | θ) grows by hundreds of orders of magnitude away from the bulk of θ."""

    def curves(t):
        return np.stack([-0.5 * (t / 0.1) ** 2, 600.0 * t - 4000.0], axis=1)

    def integrands(curves):
        return np.stack([curves[:, 0], curves[:, 0] - np.logaddexp(0.0, -curves[:, 1])], axis=1)

    rule = integrate(curves, -2.0, 9.0, scan=scan, integrands=integrands)
    with np.errstate(divide="ignore"):
        logs = np.log(rule.weights)[:, None] + integrands(rule.curves)
    log_density, log_part = np.logaddexp.reduce(logs, axis=0)
    # The second is a normal integral, completed to a square.
    assert log_part - log_density == pytest.approx(60.0**2 / 2 - 4000.0, abs=1e-6)


def test_a_wanted_error_that_depends_on_the_integrals():
    def curves(t):
        return np.stack([np.zeros_like(t), 300.0 / (1.0 + 30.0 * t**2)], axis=1)

    exact, coarse = (
        integrate(curves, -1.0, 1.0, tolerance=wanted)
        for wanted in (1e-9, lambda log_integrals: 1e-5 * abs(log_integrals[1] - log_integrals[0]))
    )
    assert exact.converged
    assert coarse.converged
    assert coarse.evaluations < exact.evaluations
    assert 1e-9 < coarse.error < 3e-3
    first, second = (np.logaddexp.reduce(np.log(rule.weights) + rule.curves[:, 1]) for rule in (exact, coarse))
    assert second == pytest.approx(first, abs=3e-3)


@pytest.mark.parametrize("slope", [3.0, 200.0, 1e5])
def test_what_is_integrated_may_be_more_than_the_densities(slope):
    """A step that is far narrower than the density, of which only the smooth logit is interpolated."""

    def curves(t):
        return np.stack([-0.5 * t**2, slope * (t - 0.3)], axis=1)

    def integrands(curves):
        return np.stack([curves[:, 0], curves[:, 0] - np.logaddexp(0.0, -curves[:, 1])], axis=1)

    rule = integrate(curves, -8.0, 8.0, integrands=integrands)
    log_density, log_part = (np.logaddexp.reduce(np.log(rule.weights) + column) for column in integrands(rule.curves).T)
    around = [0.3 + step / slope for step in (-40, -9, -3, 0, 3, 9, 40)]
    expected, _ = quad(lambda t: np.exp(-0.5 * t**2) * expit(slope * (t - 0.3)), -15, 15, points=around, limit=200)
    assert log_density == pytest.approx(0.5 * np.log(2 * np.pi), abs=1e-6)
    assert log_part == pytest.approx(np.log(expected), abs=1e-6)
    assert rule.converged


def test_rough_curves_end_with_a_reported_error():
    rng = np.random.default_rng(0)
    rule = integrate(lambda t: rng.normal(size=(len(t), 1)), 0.0, 1.0)
    assert not rule.converged
    assert rule.error > 1e-6
    assert rule.evaluations < 3000


def rule_of(log_h0, log_h1, *extra):
    grid = np.linspace(0, 1, len(log_h0))
    return Quadrature(grid, np.full(len(grid), 1 / len(grid)), np.stack([log_h0, log_h1, *extra], axis=1), 0.0, 0)


def test_bayes_factor_is_the_ratio_of_integrals_even_beyond_floats():
    log_h0, log_h1 = np.array([-5000.0, -5001.0]), np.array([-2000.0, -1990.0])
    expected = logsumexp(log_h1) - logsumexp(log_h0)
    assert log_bayes_factor(rule_of(log_h0, log_h1)) == pytest.approx(expected, abs=1e-9)


def test_stationary_law_equals_a_simulated_transition_matrix():
    """The sampler alternates ℓ | M and M | ℓ; its law on (M, ℓ) is the eigenvector of that transition."""
    rng = np.random.default_rng(1)
    log_h0, log_h1, log_bf = rng.normal(size=(3, 6))
    odds = 2.5
    given = [np.exp(curve - logsumexp(curve)) for curve in (log_h0, log_h1)]
    prob_h1 = odds * np.exp(log_bf) / (1 + odds * np.exp(log_bf))
    transition = np.zeros((2, 2))
    for m in (0, 1):
        transition[m] = [given[m] @ (1 - prob_h1), given[m] @ prob_h1]
    stationary = np.linalg.matrix_power(transition, 200)[0]
    found = log_bayes_factor(rule_of(log_h0, log_h1, log_bf), np.log(odds))
    assert found == pytest.approx(np.log(stationary[1] / stationary[0] / odds), abs=1e-9)


def test_densities_integrate_to_one():
    density, mass = densities(rule_of(np.linspace(0, 3, 50), np.linspace(2, -1, 50)))
    np.testing.assert_allclose(mass.sum(axis=0), 1.0)
    np.testing.assert_allclose((density / 50).sum(axis=0), 1.0)


def test_component_weights_share_the_mass_between_neighbours():
    grid = np.log(np.array([1.0, 1.5, 2.0, 3.0]))
    rule = Quadrature(grid, np.full(4, 0.25), np.zeros((4, 2)), 0.0, 0)
    lengthscales = np.array([1.0, 2.0, 3.0])
    mixture = np.log(np.array([[0.2, 0.8]] * 3))
    evidence = Evidence(lengthscales, np.zeros(3), *[np.zeros(3)] * 2, mixture, *[np.zeros(3)] * 2)
    weights = component_weights(rule, evidence)
    share = np.log(1.5) / np.log(2)
    expected = np.array([0.25 + 0.25 * (1 - share), 0.25 + 0.25 * share, 0.25])
    np.testing.assert_allclose(weights, expected[:, None] * [0.2, 0.8])
