"""The bridge estimate on draws whose Bayes factor is known."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from twosample.paper.chains import bridge


def gaussians(seed, distance, log_bf10, shape=(2, 400)):
    """Log BF10(θ) at draws θ | H0 ~ N(0, 1) and θ | H1 ~ N(distance, 1): the ratio of their densities, times BF10."""
    rng = np.random.default_rng(seed)

    def given(position):
        return log_bf10 + distance * position - 0.5 * distance**2

    return given(rng.normal(size=shape)), given(distance + rng.normal(size=shape))


@pytest.mark.parametrize("log_bf10", [-30.0, 0.0, 2.5])
@pytest.mark.parametrize("distance", [0.3, 1.0, 3.0])
def test_known_ratio(distance, log_bf10):
    found, error, _ = bridge(*gaussians(1, distance, log_bf10), None)
    assert 0 < error < 0.5
    assert abs(found - log_bf10) < 4 * error


def test_different_numbers_of_draws():
    given_h0, given_h1 = gaussians(2, 1.0, 0.7)
    found, error, _ = bridge(given_h0, given_h1[:, :150])
    assert abs(found - 0.7) < 4 * error


@pytest.mark.parametrize("distance", [0.5, 2.0])
def test_errors_are_honest(distance):
    """Two errors cover the truth 95 times in 100."""
    runs = [bridge(*gaussians([3, seed], distance, 1.0)) for seed in range(200)]
    found, error, _ = np.array(runs).T
    covered = (np.abs(found - 1.0) < 2 * error).mean()
    assert 0.9 <= covered <= 0.99
    assert error.mean() == pytest.approx(found.std(), rel=0.2)
    # And no bias worth mentioning beside them.
    assert abs(found.mean() - 1.0) < 4 * found.std() / math.sqrt(200)


def test_errors_of_correlated_draws():
    """Every draw three times over: the error is that of the draws without their copies."""
    given_h0, given_h1 = gaussians(4, 1.0, 0.0)
    found, error, overlap = bridge(given_h0, given_h1)
    copies = bridge(np.repeat(given_h0, 3, axis=1), np.repeat(given_h1, 3, axis=1))
    assert copies[0] == pytest.approx(found, abs=1e-8)
    assert copies[2] == pytest.approx(overlap, abs=1e-8)
    assert copies[1] == pytest.approx(error, rel=0.25)


def test_the_order_of_the_hypotheses():
    given_h0, given_h1 = gaussians(5, 1.3, -2.0)
    found, error, overlap = bridge(given_h0, given_h1)
    reverse = bridge(-given_h1, -given_h0)
    assert_allclose(reverse, (-found, error, overlap), rtol=1e-6)


@pytest.mark.parametrize("log_odds", [-1.5, 0.0, 2.0])
def test_form_for_conditionals_that_belong_to_no_joint_law(log_odds):
    """Log odds of the alternating chain, α/β, without the prior odds."""
    rng = np.random.default_rng(6)
    given_h0, given_h1 = rng.normal(-1.0, 2.0, size=(2, 300)), rng.normal(0.5, 1.0, size=(2, 300))
    found, error, _ = bridge(given_h0, given_h1, log_odds)
    alpha, beta = expit(given_h0 + log_odds).mean(), expit(-given_h1 - log_odds).mean()
    assert found == pytest.approx(math.log(alpha) - math.log(beta) - log_odds, rel=1e-9)
    # The draws are independent, so that the delta method gives the error.
    expected = math.hypot(
        expit(given_h0 + log_odds).std() / alpha / math.sqrt(600),
        expit(-given_h1 - log_odds).std() / beta / math.sqrt(600),
    )
    assert error == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize("log_odds", [-1.5, 2.0])
def test_both_forms_agree_on_a_joint_law(log_odds):
    given = gaussians(7, 1.0, 0.4)
    best, fixed = bridge(*given), bridge(*given, log_odds)
    assert abs(best[0] - fixed[0]) < 4 * math.hypot(best[1], fixed[1])
    assert best[2] == fixed[2]


@pytest.mark.parametrize("log_odds", [None, 0.0])
@pytest.mark.parametrize("log_bf10", [-1e4, 1e4])
def test_huge_bayes_factors_do_not_overflow(log_bf10, log_odds):
    found, error, overlap = bridge(*gaussians(8, 1.0, log_bf10), log_odds)
    assert 0 < error < 0.5
    assert abs(found - log_bf10) < 4 * error
    assert 0 < overlap <= 1


@pytest.mark.parametrize(("distance", "low", "high"), [(0.0, 1.0, 1.0), (0.1, 0.99, 1.0), (12.0, 0.0, 1e-6)])
def test_overlap(distance, low, high):
    given_h0, given_h1 = gaussians(9, distance, 3.0)
    if distance == 0.0:
        given_h0 = given_h1 = given_h0 + 1e-13 * np.arange(400)
    assert low - 1e-9 <= bridge(given_h0, given_h1)[2] <= high


def test_overlap_falls_with_the_distance():
    overlaps = [bridge(*gaussians(10, distance, 0.0))[2] for distance in (0.2, 1.0, 2.0, 4.0, 8.0)]
    assert overlaps == sorted(overlaps, reverse=True)


def test_no_difference_at_all():
    """A Bayes factor that does not depend on the parameters is known without error."""
    found, error, overlap = bridge(np.full((2, 50), 1.7), np.full((2, 50), 1.7))
    assert found == pytest.approx(1.7, abs=1e-9)
    assert error < 1e-12
    assert overlap == pytest.approx(1.0)


def test_chains_that_are_stuck():
    """No error can be told from chains that never move, but that is no reason to fail."""
    stuck = np.repeat([[0.0], [1.0]], 50, axis=1)
    found, error, _ = bridge(stuck, stuck)
    assert np.isfinite(found)
    assert error > 0.3
