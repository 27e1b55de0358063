"""What is foreseen from a pilot: its formulas against dense matrices, and what it says against new samples."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import twosample as ts
from twosample.inference import evidence, prior, relabelling
from twosample.inference.evidence import Hypotheses
from twosample.inference.foreseen import Foreseen, Pilot, posterior_differences, unknown_noise, which_are_true
from twosample.models import PRESETS

MODEL = PRESETS["adaptive"]
RNG = np.random.default_rng(4)
X, Y = np.sort(RNG.normal(0, 1, (30, 1)), axis=0), np.sort(RNG.normal(2.0, 1, (20, 1)), axis=0)


def pilot_and_test(paired=False):
    x, y = (X[:20], Y) if paired else (X, Y)
    plan = ts.plan(x, y, points=6, paired=paired, subsets=None)
    [test] = relabelling.tests_of(plan)
    return Pilot(x, y, paired), replace(test, lengthscales=test.lengthscales[[8, 20]], log_weights=test.log_weights[:2])


def prior_covariance(given, index):
    """R of the test: that of the kernel, and what is along the principal components."""
    factor = prior.factors(given.model, given.features, given.lengthscales)
    mixed = evidence.mixed(factor, given.model, given.difference, evidence.inverse_factor(given.noise.V))
    return mixed[index] @ mixed[index].T


@pytest.mark.parametrize("paired", [False, True])
def test_log_bf10_is_that_of_the_covariance_that_new_samples_estimate(paired):
    pilot, test = pilot_and_test(paired)
    sizes = (40, 40) if paired else (40, 70)
    within, _ = pilot.noises(test)(sizes)
    given = Hypotheses.of(within, MODEL, test.features, test.lengthscales)
    deltas = 0.2 * RNG.normal(size=(2, 3, 6))
    found = Foreseen(given).log_bf10(deltas)
    log_variance, log_weight = given.amplitudes(2)
    for index in range(2):
        V, R, rows = given.noise.V[index], prior_covariance(given, index), given.noise.rows
        directions = np.trace(np.linalg.solve(V, within.noise[index]))
        for number in range(3):
            delta = deltas[index, number] * np.sqrt(rows / (rows - 1 - directions))
            V_new = V + np.outer(delta, delta) / rows
            total = []
            for a2, weight in zip(np.exp(log_variance[index]), log_weight, strict=True):
                with_signal = V_new + a2 * R
                explained = delta @ np.linalg.solve(V_new, delta) - delta @ np.linalg.solve(with_signal, delta)
                cost = np.linalg.slogdet(with_signal)[1] - np.linalg.slogdet(V_new)[1]
                total.append(weight + evidence.compare(explained, cost, rows, given.noise.even))
            assert found[index, number] == pytest.approx(np.logaddexp.reduce(total), rel=1e-7, abs=1e-7)


def test_differences_have_the_posterior_of_a_gaussian_process():
    pilot, test = pilot_and_test()
    within, _ = pilot.noises(test)(pilot.sizes)
    delta = 0.3 * RNG.normal(size=(2, 6))
    alone = replace(MODEL, amplitude=None, amplitude_of_one=None)
    given = Hypotheses.of(within._replace(delta=delta), alone, test.features, test.lengthscales)
    for index in range(2):
        V, a2 = given.noise.V[index], np.exp(given.log_variance[index, 0])
        signal = a2 * prior_covariance(given, index)
        half = np.linalg.cholesky(V)
        noise = np.zeros((2, 7, 6))
        noise[index, 1:] = half.T
        found = posterior_differences(given, noise)[index]
        mean = signal @ np.linalg.solve(signal + V, delta[index])
        np.testing.assert_allclose(found[0], mean, rtol=1e-7, atol=1e-10)
        around = found[1:] - found[0]
        left = signal - signal @ np.linalg.solve(signal + V, signal)
        np.testing.assert_allclose(around.T @ around, left, rtol=1e-6, atol=1e-9)


def test_one_test_has_the_difference_and_those_with_more_evidence_have_it_too():
    _, test = pilot_and_test()
    tests = [replace(test, log_weights=np.log([0.1, 0.4])), replace(test, log_weights=np.log([0.3, 0.2]))]
    bayes_factors, priors = np.array([5.0, 1.0, 0.2, 30.0]), np.array([0.1, 0.4, 0.3, 0.2])
    drawn = which_are_true(list(np.log(bayes_factors).reshape(2, 2)), tests, 40_000, np.random.default_rng(1))
    posterior = priors * bayes_factors / (priors @ bayes_factors)
    alone = priors * bayes_factors / (1.0 + priors * bayes_factors)
    for number, of_one in enumerate(bayes_factors):
        seen = posterior[bayes_factors <= of_one].sum()  # that one with no more evidence is chosen
        expected = seen + (1.0 - seen) * alone[number]
        # Five standard errors.
        assert np.concatenate(drawn)[number].mean() == pytest.approx(expected, abs=5 * 0.5 / 200)


def test_the_noise_of_a_row_is_not_known_better_than_the_floor_of_the_pilot():
    pilot, test = pilot_and_test()
    own, few, many = (pilot.noises(test)(sizes)[0] for sizes in (pilot.sizes, (18, 12), (300, 200)))
    for size in (own, few):
        np.testing.assert_allclose(unknown_noise(own, size, MODEL), 0.0, atol=1e-15)
    of_own, of_many = (MODEL.floor.at(one.size, one.variances.mean(axis=1)) for one in (own, many))
    total = of_many + unknown_noise(own, many, MODEL)
    # The noise of a difference is 2/n times that of a row.
    np.testing.assert_allclose(total * many.size, of_own * own.size, rtol=1e-12)


def test_a_small_pilot_foresees_no_certainty_in_directions_that_it_has_not_seen():
    rng = np.random.default_rng(2)
    pairs = rng.normal(0, 1, 15)
    row = ts.design(pairs, pairs + 0.7 + rng.normal(0, 1, 15), paired=True, sizes=200, draws=60).at(200)
    # New pairs of these laws have a log BF10 of about 37; without that noise several hundreds were foreseen.
    assert row.high < 120


@pytest.mark.parametrize("paired", [False, True])
def test_resampled_rows_have_the_mean_and_the_noise_of_new_samples(paired):
    pilot, test = pilot_and_test(paired)
    features = pilot_features(pilot, test)
    sizes = (25, 25) if paired else (25, 60)
    within, none = (noise.noise[1] for noise in pilot.noises(test)(sizes))
    if not paired:  # the model pools the covariances; what is drawn has that of each sample
        first, second = features[:30], features[30:]
        within = np.cov(first.T, bias=True) / 25 + np.cov(second.T, bias=True) / 60
    weights = pilot.resampled(sizes, 20_000, np.random.default_rng(1))
    without = pilot.without_difference(sizes, 20_000, np.random.default_rng(2))
    # Standard errors of means are 1/√20,000 of a standard deviation, those of variances 1/100.
    spread = np.sqrt(np.diag(within))
    assert np.all(np.abs(weights.mean(axis=0) @ features - pilot.contrast @ features) < 5 * spread / np.sqrt(20_000))
    assert np.all(np.abs(without.mean(axis=0) @ features) < 8 * spread / np.sqrt(20_000))
    for drawn, noise in ((weights, within), (without, none)):
        np.testing.assert_allclose(np.cov((drawn @ features).T, bias=True), noise, rtol=0.06, atol=0.06 * noise.max())


def pilot_features(pilot, test):
    """Features at the second lengthscale, by the kernel itself; of pairs their differences."""
    found = [test.features.at(rows, test.lengthscales[1]) for rows in (pilot.x, pilot.y)]
    return found[0] - found[1] if pilot.paired else np.concatenate(found)


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("shift", lambda rng, n: (rng.normal(0, 1, n), rng.normal(0.7, 1, n))),
        ("counts", lambda rng, n: (rng.poisson(2, n).astype(float), rng.poisson(3.2, n).astype(float))),
    ],
)
def test_what_is_foreseen_comes_true(name, draw):
    rng = np.random.default_rng(7)
    row = ts.design(*draw(rng, 2000), sizes=80).at(80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logs = np.array([ts.test(*draw(rng, 80)).log_bf10 for _ in range(40)])
    # Two standard errors of 40 samples, and what a pilot of 2,000 rows leaves open: a fifth of the median.
    assert abs(row.log_bf10 - np.median(logs)) < 2.5 * logs.std() / np.sqrt(40) + 0.2 * abs(row.log_bf10), name
    assert abs(row.found - (logs > np.log(10)).mean()) < 0.25, name
    assert row.false_alarm < 0.03
