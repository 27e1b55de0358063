"""Models: priors that are probabilities, floors, and what follows from how a model weighs lengthscales."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, halfcauchy

import twosample as ts
from twosample import models
from twosample.errors import InputError, InputTypeError
from twosample.models import Gamma, HalfCauchy, LogUniform, NoiseFloor

ADAPTIVE, PAPER, PUBLISHED = (models.resolve(name) for name in ("adaptive", "paper", "published"))


def density(prior, log_lengthscale):
    return float(np.exp(prior.log_density(np.array([log_lengthscale]))[0]))


# ---- priors of the lengthscale


@pytest.mark.parametrize(("low", "high", "median"), [(1 / 16, 8.0, 1.0), (0.05, 7.0, 3.0), (0.5, 0.6, 1e-9)])
def test_log_uniform_prior(low, high, median):
    prior = LogUniform(low, high)
    assert prior.bounds(median) == (low * median, high * median)
    assert prior.bounds(median, spread=1e9) == prior.bounds(median)
    first, last = np.log(prior.bounds(median))
    assert quad(lambda t: density(prior, t), first, last)[0] == pytest.approx(1.0, rel=1e-10)
    assert np.ptp(prior.log_density(np.linspace(first, last, 5))) == 0.0


@pytest.mark.parametrize(("low", "high"), [(1 / 16, 8.0), (0.05, 7.0), (0.5, 0.6), (1.0, 1.4)])
def test_few_multiples_stand_for_the_prior(low, high):
    """From the lower bound on, half an octave apart, to the half octave that is nearest to the upper one."""
    found = np.log2(LogUniform(low, high).multiples)
    assert found[0] == pytest.approx(math.log2(low))
    np.testing.assert_allclose(np.diff(found), 0.5)
    assert len(found) == 2 or abs(found[-1] - math.log2(high)) <= 0.25 + 1e-12


@pytest.mark.parametrize(("shape", "rate"), [(2.0, 2.0), (0.7, 5.0), (30.0, 0.1)])
def test_gamma_prior(shape, rate):
    prior = Gamma(shape, rate)
    grid = np.linspace(-9, 4, 7)
    # Of log ℓ: the density of ℓ times ℓ.
    expected = gamma.logpdf(np.exp(grid), shape, scale=1 / rate) + grid
    np.testing.assert_allclose(prior.log_density(grid), expected, rtol=1e-10)
    middle = math.log(shape / rate)
    parts = (
        quad(lambda t: density(prior, t), middle - 60, middle),
        quad(lambda t: density(prior, t), middle, middle + 9),
    )
    assert parts[0][0] + parts[1][0] == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("median", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("spread", [0.0, 1e5])
def test_gamma_bounds_leave_no_mass_outside(median, spread):
    """Below, less than 1e-7 of a Gamma(2, 2) prior; above, nothing of it, nor of likelihoods that end at `spread`."""
    low, high = Gamma(2.0, 2.0).bounds(median, spread)
    assert 0 < low <= 1e-4 * min(1.0, median)
    assert gamma.cdf(low, 2, scale=0.5) < 1e-7
    assert gamma.sf(high, 2, scale=0.5) < 1e-30
    assert high >= max(spread, 40 * median)
    assert high <= max(spread, 40 * max(1.0, median))


# ---- the prior of the amplitude


@pytest.mark.parametrize("scale", [0.3, 0.05, 4.0])
@pytest.mark.parametrize(
    "function",
    [
        lambda a: 1 / (1 + a**2 / 0.49),
        lambda a: np.exp(-a / 0.2),
        lambda a: np.exp(-0.5 * a**2),
        lambda a: (1 + 30 * a**2) ** -0.5 * np.exp(3.0 * a**2 / (1 + 30 * a**2)),
        lambda a: a / (1 + a) ** 3,
    ],
    ids=["1/(1 + a²)", "exp(-a)", "exp(-a²)", "a Bayes factor", "a hump"],
)
def test_nodes_integrate_over_the_amplitude(scale, function):
    """Expectations that vanish at large amplitudes, as Bayes factors do; SciPy in the scale of probability."""
    log_a, log_weight = HalfCauchy(scale).nodes()
    expected, _ = quad(
        lambda t: function(scale * np.tan(np.pi * t / 2)), 0, 1, limit=400, epsabs=1e-12, points=[0.5, 0.9, 0.99]
    )
    assert np.exp(log_weight) @ function(np.exp(log_a)) == pytest.approx(expected, abs=2e-6)


def test_nodes_of_the_amplitude_add_up_to_one():
    """The mass above e¹² times the scale, 2/π·e⁻¹² = 4e-6, is left out."""
    for scale in (0.05, 0.3):
        log_a, log_weight = HalfCauchy(scale).nodes()
        assert np.exp(log_weight).sum() == pytest.approx(1.0, abs=5e-6)
        for quantile in (0.01, 0.2, 0.5, 0.9, 0.999):
            # To within one node, of which none has more weight than that.
            below = log_a < np.log(halfcauchy.ppf(quantile, scale=scale))
            assert np.exp(log_weight[below]).sum() == pytest.approx(quantile, abs=0.25 / np.pi)
        assert log_a[len(log_a) // 2] == pytest.approx(np.log(scale), abs=1e-12)


def test_expectation_with_a_closed_form():
    """E[1/(1 + a²/b²)] of a half-Cauchy of scale g is b/(b + g)."""
    log_a, log_weight = HalfCauchy(0.05).nodes()
    assert np.exp(log_weight) @ (1 / (1 + np.exp(2 * log_a) / 0.7**2)) == pytest.approx(0.7 / 0.75, abs=1e-8)


def test_small_amplitudes_keep_their_mass():
    """A Bayes factor of 1 below e⁻¹² and 0 above integrates to the mass there."""
    log_a, log_weight = HalfCauchy(0.3).nodes()
    tiny = log_a < np.log(0.3) - 11.9
    assert tiny.sum() == 1
    mass = halfcauchy.cdf(0.3 * np.exp(-12.0 + 0.125), scale=0.3)
    assert np.exp(log_weight[tiny]).sum() == pytest.approx(mass, rel=0.01)


# ---- the floor


def test_noise_floor():
    assert NoiseFloor(50.0, power=3).at(100.0, 0.1) == pytest.approx(5e-5)
    assert NoiseFloor(0.1, power=1).at(30.0, 0.1) == pytest.approx(0.1 / 30)
    assert NoiseFloor(1e-8, power=0).at(10**6, 0.1) == pytest.approx(1e-8)
    # What rounding can hide of numbers near 1 is never less than 1e-16, and squares need some digits of it.
    assert NoiseFloor(50.0, power=3).at(1e9, 0.1) == 1e-12
    assert NoiseFloor(0.0, power=1).at(10.0, 0.1) == 1e-12


def test_relative_noise_floor():
    floor = NoiseFloor(1500.0, power=3, relative=True)
    np.testing.assert_allclose(floor.at(100.0, np.array([0.1, 1e-6])), [1.5e-4, 1.5e-9])
    # It never vanishes beside the noise, which is of the size of variance / n, nor where nothing varies.
    assert floor.at(1e9, 0.1) / (0.1 / 1e9) == pytest.approx(1e-9)
    assert floor.at(100.0, 0.0) > 0
    # Whatever the unit of the features, the same share of their variance.
    np.testing.assert_allclose(floor.at(30.0, np.array([1e-9, 1.0])) / [1e-9, 1.0], 1500 / 30**3, rtol=1e-9)


# ---- models


@pytest.mark.parametrize("name", ["adaptive", "paper", "published"])
def test_presets_by_name(name):
    model = models.resolve(name)
    assert model.name == name
    assert models.resolve(model) is model
    assert models.PRESETS[name] is model
    with pytest.raises(FrozenInstanceError):
        model.name = "other"


@pytest.mark.parametrize(("model", "error"), [("magic", InputError), (3, InputTypeError), (None, InputTypeError)])
def test_unknown_model_is_refused(model, error):
    with pytest.raises(error, match=r"^model: ") as refusal:
        models.resolve(model)
    assert refusal.value.argument == "model"
    if error is InputError:
        for name in ("'magic' is unknown", "'adaptive'", "'paper'", "'published'"):
            assert name in str(refusal.value)
    else:
        assert type(model).__name__ in str(refusal.value)


def test_what_a_model_needs():
    """Pairs for a pseudo-likelihood; one joint law unless the two conditionals are the published ones."""
    assert [model.needs_pairs for model in (ADAPTIVE, PAPER, PUBLISHED)] == [False, True, True]
    assert [model.coherent for model in (ADAPTIVE, PAPER, PUBLISHED)] == [True, True, False]
    assert [model.takes_differences_alone(True) for model in (ADAPTIVE, PAPER, PUBLISHED)] == [True, True, False]
    assert [model.takes_differences_alone(False) for model in (ADAPTIVE, PAPER, PUBLISHED)] == [False, False, False]


def test_only_the_default_is_a_mixture():
    assert [model.ranks > 0 for model in (ADAPTIVE, PAPER, PUBLISHED)] == [True, False, False]
    x, y = np.random.default_rng(1).normal(size=(2, 30, 2))
    for model in ("adaptive", "paper"):
        found = ts.test(x, y, model=model, points=12)
        assert (found.by_subset is not None) == (model == "adaptive")
    # Without ranks, it is the test of all columns as scaled.
    alone = ts.test(x, y, model=replace(ADAPTIVE, ranks=0.0))
    assert alone.log_bf10 == pytest.approx(ts.test(x, y, subsets=None).log_bf10, rel=1e-12)


def test_needs_follow_from_the_weighing_and_not_from_the_name():
    own = replace(PAPER, weighing="evidence")
    assert (own.needs_pairs, own.coherent) == (False, True)
    own = replace(ADAPTIVE, weighing="published")
    assert (own.needs_pairs, own.coherent, own.takes_differences_alone(True)) == (True, False, False)


def test_a_model_of_ones_own_is_used():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=40), rng.normal(size=40) + 1.0
    own = replace(ADAPTIVE, name="own", amplitude=HalfCauchy(0.01), floor=NoiseFloor(1.0, power=1))
    found = ts.test(x, y, model=own)
    assert found.model == own
    assert "own," in found.summary()
    assert found.log_bf10 < ts.test(x, y).log_bf10 - 1  # a larger floor and a prior of small differences
    assert ts.TwoSampleResult.from_json(found.to_json()).model == own
