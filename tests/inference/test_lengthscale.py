"""From an integration rule to the Bayes factor and the posterior of the lengthscale that a result shows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from scipy.special import expit, logsumexp

import twosample as ts
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import H0, H1, Curves, LengthscalePosterior, wanted_error
from twosample.inference.quadrature import Quadrature
from twosample.models import Gamma, LogUniform


def posterior_of(log_h0, log_h1, log_bf10=None, *, coherent=True, log_prior_odds=0.0, grid=None):
    """On a grid of equal weights."""
    grid = np.linspace(0, 1, len(log_h0)) if grid is None else grid
    given = np.zeros(len(grid)) if log_bf10 is None else log_bf10
    curves = np.stack([log_h0, log_h1, given], axis=1)
    rule = Quadrature(grid, np.full(len(grid), 1 / len(grid)), curves, 0.0, 0)
    return LengthscalePosterior(rule, Curves(coherent, log_prior_odds))


def evidence_at(lengthscales, log_bf10, log_h0, log_h1):
    some = np.zeros((len(lengthscales), 1))
    return Evidence(np.array(lengthscales), *map(np.array, (log_bf10, log_h0, log_h1)), some, some, some, np.zeros(1))


# ---- the Bayes factor


@pytest.mark.parametrize("log_prior_odds", [0.0, 2.0])
def test_bayes_factor_is_the_ratio_of_integrals_even_beyond_floats(log_prior_odds):
    log_h0, log_h1 = np.array([-5000.0, -5001.0]), np.array([-2000.0, -1990.0])
    expected = logsumexp(log_h1) - logsumexp(log_h0)
    found = posterior_of(log_h0, log_h1, np.array([3.0, 4.0]), log_prior_odds=log_prior_odds)
    assert found.log_bf10 == pytest.approx(expected, abs=1e-9)


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
    found = posterior_of(log_h0, log_h1, log_bf, coherent=False, log_prior_odds=np.log(odds)).log_bf10
    assert found == pytest.approx(np.log(stationary[1] / stationary[0] / odds), abs=1e-9)


def test_stationary_law_equals_a_chain_that_is_run():
    """Draw ℓ given the hypothesis and then the hypothesis given ℓ, 100,000 times."""
    rng = np.random.default_rng(2)
    log_h0, log_h1, log_bf = rng.normal(size=(3, 5))
    odds, steps = 1.7, 100_000
    cumulative = [np.cumsum(np.exp(curve - logsumexp(curve))) for curve in (log_h0, log_h1)]
    prob_h1 = expit(log_bf + np.log(odds))
    label, visits = 0, 0
    for first, second in rng.random((steps, 2)):
        index = min(int(np.searchsorted(cumulative[label], first)), 4)
        label = int(second < prob_h1[index])
        visits += label
    posterior = posterior_of(log_h0, log_h1, log_bf, coherent=False, log_prior_odds=np.log(odds))
    expected = expit(posterior.log_bf10 + np.log(odds))
    assert 0.2 < expected < 0.8
    # As a chain of two states that moves up with probability α and down with β.
    alpha, beta = (np.exp(curve - logsumexp(curve)) @ p for curve, p in ((log_h0, prob_h1), (log_h1, 1 - prob_h1)))
    error = np.sqrt(expected * (1 - expected) * (2 - alpha - beta) / (alpha + beta) / steps)
    assert visits / steps == pytest.approx(expected, abs=4 * error)


def test_both_laws_agree_where_there_is_a_joint_one():
    """If the two weighings differ by BF10(ℓ), the alternating sampler is a Gibbs sampler of their joint law."""
    rng = np.random.default_rng(3)
    log_h0, log_bf = rng.normal(size=(2, 7))
    for log_odds in (-1.0, 0.0, 3.0):
        one, other = (
            posterior_of(log_h0, log_h0 + log_bf, log_bf, coherent=coherent, log_prior_odds=log_odds).log_bf10
            for coherent in (True, False)
        )
        assert other == pytest.approx(one, abs=1e-12)


def test_integrands():
    curves = np.array([[1.0, 2.0, 0.5], [-800.0, 3.0, 900.0]])
    assert_allclose(Curves(True, 1.0).integrands(curves), curves[:, :2])
    found = Curves(False, 1.0).integrands(curves)
    log_odds = curves[:, 2] + 1.0
    assert_allclose(found[:, :2], curves[:, :2])
    assert_allclose(found[:, 2], curves[:, 0] - np.log1p(np.exp(-log_odds)))
    assert found[0, 3] == pytest.approx(2.0 - np.log1p(np.exp(1.5)))
    assert found[1, 3] == pytest.approx(3.0 - 901.0)  # where exp overflows


@pytest.mark.parametrize("prior", [LogUniform(0.1, 9.0), Gamma(2.0, 2.0)])
def test_curves_of_the_evidence(prior):
    lengthscales = [0.5, 1.0, 3.0]
    found = Curves.of(evidence_at(lengthscales, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]), prior)
    log_prior = prior.log_density(np.log(lengthscales))
    assert_allclose(
        found, np.array([[4.0, 7.0, 1.0], [5.0, 8.0, 2.0], [6.0, 9.0, 3.0]]) + log_prior[:, None] * [1, 1, 0]
    )


@pytest.mark.parametrize("coherent", [True, False])
def test_a_given_lengthscale(coherent):
    """Its Bayes factor is the answer, whatever weighs other lengthscales."""
    evidence = evidence_at([2.0], [1.3], [-50.0], [70.0])
    posterior = LengthscalePosterior.given(evidence, Curves(coherent, np.log(3.0)))
    assert posterior.log_bf10 == pytest.approx(1.3)
    assert posterior.prob_h1 == pytest.approx([expit(1.3 + np.log(3.0))])
    assert_allclose(posterior.mass, np.ones((1, 2)))
    assert_allclose(posterior.rule.grid, [np.log(2.0)])
    assert_allclose(posterior.shares(np.array([2.0])), [1.0])


@pytest.mark.parametrize(
    ("log_bf10", "expected"), [(0.0, 1e-3), (-0.9, 1e-3), (1.0, 1e-3), (-20.0, 2e-2), (300.0, 0.3)]
)
def test_wanted_error(log_bf10, expected):
    assert wanted_error(log_bf10, 1e-3) == pytest.approx(expected)


# ---- densities and masses


def test_densities_integrate_to_one():
    posterior = posterior_of(np.linspace(0, 3, 50), np.linspace(2, -1, 50))
    assert_allclose(posterior.mass.sum(axis=0), 1.0)
    assert_allclose((posterior.density / 50).sum(axis=0), 1.0)
    assert posterior.density[-1, H0] > posterior.density[0, H0]
    assert posterior.density[-1, H1] < posterior.density[0, H1]


def test_locations_without_weight_have_a_density_and_no_mass():
    grid = np.array([0.0, 0.5, 1.0])
    rule = Quadrature(grid, np.array([0.5, 0.5, 0.0]), np.zeros((3, 3)), 0.0, 0)
    posterior = LengthscalePosterior(rule, Curves(True))
    assert_allclose(posterior.density, np.ones((3, 2)))
    assert_allclose(posterior.mass, [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]])


def samples():
    rng = np.random.default_rng(5)
    return rng.normal(size=60), 1.6 * rng.normal(size=60) + 0.4


@pytest.mark.parametrize("model", ["adaptive", "paper", "published"])
def test_densities_of_a_result(model):
    """The density of log ℓ by the trapezoidal rule on its own grid; the mass is that of this density times weights."""
    result = ts.test(*samples(), model=model, points=20, tolerance=1e-6, subsets=None)
    found, log_grid = result.lengthscale, np.log(result.lengthscale.grid)
    densities, masses = (found.density_h0, found.density_h1), (found.mass_h0, found.mass_h1)
    assert (np.diff(log_grid) > 0).all()
    for density, mass in zip(densities, masses, strict=True):
        # The grid is fine beside the width of the density, but not without end.
        assert trapezoid(density, log_grid) == pytest.approx(1.0, abs=5e-3)
        assert mass.sum() == pytest.approx(1.0, abs=1e-12)
    # One rule with positive weights serves both hypotheses.
    seen = np.minimum(*masses) > 1e-200
    assert seen.sum() > 20
    of_h0, of_h1 = (mass[seen] / density[seen] for mass, density in zip(masses, densities, strict=True))
    assert_allclose(of_h0, of_h1, rtol=1e-9)
    assert of_h0.sum() <= 1.01 * (log_grid[-1] - log_grid[0])
    # And the hypotheses are not exchanged: where they belong to one law, BF10(ℓ) over BF10 is the ratio of the two.
    if model != "published":
        certain = seen & (np.abs(found.prob_h1 - 0.5) < 0.5 - 1e-6)
        log_odds = np.log(found.prob_h1[certain]) - np.log1p(-found.prob_h1[certain])
        log_ratio = np.log(found.density_h1[certain] / found.density_h0[certain])
        assert certain.sum() > 20
        assert_allclose(log_ratio, log_odds - result.log_bf10, atol=1e-6)


@pytest.mark.parametrize("model", ["adaptive", "paper"])
def test_densities_are_those_of_the_bayes_factors(model):
    """Under a uniform prior H1 weighs log ℓ by its Bayes factor, and H0 leaves it uniform."""
    x, y = samples()
    result = ts.test(x, y, model=model, points=20, tolerance=1e-6, subsets=None)
    lengthscale = result.lengthscale
    places = np.linspace(0, len(lengthscale.grid) - 1, 9).astype(int)
    given = ts.log_bf10(x, y, lengthscale.grid[places], model=model, points=20)
    assert_allclose(lengthscale.prob_h1[places], expit(given), atol=1e-6)
    if model == "adaptive":
        assert_allclose(lengthscale.density_h0, 1.0 / np.log(128.0), rtol=1e-9)
        expected = np.exp(given - result.log_bf10) / np.log(128.0)
        assert_allclose(lengthscale.density_h1[places], expected, rtol=1e-4)


# ---- shares


def test_shares_divide_the_mass_between_neighbours():
    grid = np.log(np.array([1.0, 1.5, 2.0, 3.0]))
    posterior = posterior_of(np.zeros(4), np.zeros(4), grid=grid)
    share = np.log(1.5) / np.log(2)
    expected = np.array([0.25 + 0.25 * (1 - share), 0.25 + 0.25 * share, 0.25])
    assert_allclose(posterior.shares(np.array([1.0, 2.0, 3.0])), expected)


def test_shares_of_mass_beyond_the_lengthscales():
    posterior = posterior_of(np.zeros(4), np.log([0.1, 0.2, 0.3, 0.4]), grid=np.log([0.5, 1.0, 4.0, 9.0]))
    assert_allclose(posterior.shares(np.array([1.0, 4.0])), [0.3, 0.7])
    assert_allclose(posterior.shares(np.array([2.0])), [1.0])


def test_the_amplitude_is_weighed_by_the_shares_of_the_lengthscales():
    x, y = samples()
    result = ts.test(x, y, points=20)
    assert result.amplitude.mass.sum() == pytest.approx(1.0, abs=1e-9)
    assert (result.amplitude.mass >= 0).all()


def test_in_a_mixture_lengthscale_and_amplitude_are_those_of_all_columns_as_scaled():
    x, y = samples()
    mixed, alone = (ts.test(x, y, points=20, subsets=subsets) for subsets in ("auto", None))
    assert abs(mixed.log_bf10 - alone.log_bf10) > 1e-3
    for name in ("grid", "density_h0", "density_h1", "mass_h0", "mass_h1", "prob_h1"):
        assert_allclose(getattr(mixed.lengthscale, name), getattr(alone.lengthscale, name), rtol=1e-12, err_msg=name)
    assert_allclose(mixed.amplitude.mass, alone.amplitude.mass, rtol=1e-12)
