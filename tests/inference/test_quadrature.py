"""Adaptive integration of log curves of any width, with many modes, and of steps in what is integrated."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gammaln, logsumexp

from twosample.inference.quadrature import integrate


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
    expected = gammaln(1e6) - 1e6 * np.log(1e6) - np.log(2)
    assert log_integral(rule) == pytest.approx(expected, abs=1e-6)


def test_bounds_find_the_mass_where_the_curve_is_steep():
    calls = []

    def curve(t):
        calls.extend(t)
        return (-np.exp(-4 * t) - 0.5 * (t / 0.1) ** 2)[:, None]

    rule = integrate(curve, -9.0, 4.0, look_first=lambda t: 5.0 - 0.5 * (t[:, None] / 0.1) ** 2)
    expected, _ = quad(lambda t: np.exp(-np.exp(-4 * t) - 0.5 * (t / 0.1) ** 2), -1, 1, epsabs=0, epsrel=1e-12)
    assert log_integral(rule) == pytest.approx(np.log(expected), abs=1e-6)
    assert min(calls) > -3.0
    assert rule.evaluations >= len(calls)


def test_bounds_may_be_far_too_high_where_there_is_no_mass():
    def curve(t):
        return (-0.5 * ((t - 2) / 0.05) ** 2)[:, None]

    def bound(t):
        return curve(t) + 1e5 * (t < 0)[:, None] + 10.0

    rule = integrate(curve, -9.0, 4.0, look_first=bound)
    assert log_integral(rule) == pytest.approx(np.log(0.05 * np.sqrt(2 * np.pi)), abs=1e-6)


def test_a_scan_passes_over_what_is_impossible():
    def curve(t):
        return np.where(t < -1.0, -np.inf, -0.5 * (t / 0.05) ** 2)[:, None]

    rule = integrate(curve, -3.0, 4.0, look_first=True)
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


@pytest.mark.parametrize("look_first", [False, True])
def test_an_integrand_may_have_its_mass_where_no_density_has(look_first):
    """P(H1 | θ) grows by hundreds of orders of magnitude away from the bulk of θ."""

    def curves(t):
        return np.stack([-0.5 * (t / 0.1) ** 2, 600.0 * t - 4000.0], axis=1)

    def integrands(curves):
        return np.stack([curves[:, 0], curves[:, 0] - np.logaddexp(0.0, -curves[:, 1])], axis=1)

    rule = integrate(curves, -2.0, 9.0, look_first=look_first, integrands=integrands)
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


# ---- caution


def test_caution_is_a_factor_on_the_errors_of_low_orders():
    """Of a curve whose panel is of order 24 at the end, for a tolerance that either error meets."""
    first, second = (
        integrate(lambda t: (2.0 * np.sin(12.0 * t))[:, None], -1.0, 1.0, look_first=True, tolerance=1e6, caution=c)
        for c in (1.0, 10.0)
    )
    assert first.evaluations == second.evaluations
    assert second.error == pytest.approx(10.0 * first.error, rel=1e-6)
    assert first.error > 1e-6


def test_caution_asks_for_more_where_the_error_is_near_the_tolerance():
    def curve(t):
        return (2.0 * np.sin(12.0 * t))[:, None]

    first = integrate(curve, -1.0, 1.0, look_first=True, tolerance=1e6)
    plain, cautious = (
        integrate(curve, -1.0, 1.0, look_first=True, tolerance=1.5 * first.error, caution=caution)
        for caution in (1.0, 10.0)
    )
    assert first.evaluations == plain.evaluations < cautious.evaluations
    assert cautious.converged and cautious.error < plain.error
    expected, _ = quad(lambda t: np.exp(2.0 * np.sin(12.0 * t)), -1.0, 1.0, epsabs=0, epsrel=1e-12, limit=200)
    assert log_integral(cautious) == pytest.approx(np.log(expected), abs=cautious.error + 1e-12)


def test_high_orders_need_no_caution():
    first, second = (
        integrate(lambda t: (3.0 / (1.0 + 8.0 * t**2))[:, None], -2.0, 2.0, tolerance=1e-3, caution=caution)
        for caution in (1.0, 10.0)
    )
    assert first.error == second.error > 0.0
    assert first.evaluations == second.evaluations


@pytest.mark.parametrize("look_first", [False, True])
@pytest.mark.parametrize("low", [-1.0, -0.3, 0.5])
def test_mass_at_the_ends_is_cut_off_there(look_first, low):
    """Also where the coarse grid of the first look does not end at the lower bound."""
    rule = integrate(lambda t: -3.0 * t[:, None], low, 2.0, look_first=look_first)
    assert rule.grid[0] >= low and rule.grid[-1] <= 2.0
    expected = np.log((np.exp(-3.0 * low) - np.exp(-6.0)) / 3.0)
    assert log_integral(rule) == pytest.approx(expected, abs=1e-6)
