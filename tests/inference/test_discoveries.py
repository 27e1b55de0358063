"""The share of columns that differ, the probability of each, and false discoveries among those taken as different."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import expit

from twosample.inference.discoveries import learn_share, posterior, q_values

EVIDENCE = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e4, 1e4))


# ---- the share of columns that differ


@given(EVIDENCE)
def test_the_share_is_where_em_stands_still(log_bf10):
    share = learn_share(log_bf10)
    assert 0.0 < share < 1.0
    stepped = (1.0 + posterior(log_bf10, share).sum()) / (2.0 + len(log_bf10))
    assert_allclose(stepped, share, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_what_many_steps_of_em_come_to(seed):
    rng = np.random.default_rng(seed)
    log_bf10 = rng.normal(-1.0, 2.0, 30)
    share = 0.5
    for _ in range(20_000):
        odds = share * np.exp(log_bf10)
        share = (1.0 + np.sum(odds / (odds + 1.0 - share))) / 32.0
    assert_allclose(learn_share(log_bf10), share, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_the_most_probable_one(seed):
    """The log posterior of the share, with a Beta(2, 2) prior, by a search that knows nothing of EM."""
    log_bf10 = np.random.default_rng(seed).normal(-0.5, 3.0, 12)

    def minus_log_posterior(share):
        terms = np.log(share * np.exp(log_bf10) + 1.0 - share)
        return -(np.log(share) + np.log1p(-share) + terms.sum())

    found = minimize_scalar(minus_log_posterior, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12})
    # A minimum is found to the root of the rounding error of the function.
    assert_allclose(learn_share(log_bf10), found.x, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("log_bf10", "share"),
    [
        ([], 0.5),
        ([0.0], 0.5),
        ([1e4], 2 / 3),
        ([-1e4], 1 / 3),
        ([math.inf, -math.inf], 0.5),
        ([1e4] * 30 + [-1e4] * 70, 31 / 102),
        ([0.0] * 20_000, 0.5),
    ],
)
def test_shares_that_are_known(log_bf10, share):
    assert_allclose(learn_share(log_bf10), share, rtol=0, atol=1e-10)


def test_the_share_comes_near_the_truth():
    """Exact Bayes factors of N(0, 1) against N(0, 10); the standard error is below 0.01."""
    log_bf10, differs = exact_evidence(np.random.default_rng(1), 20_000, 0.2)
    assert abs(learn_share(log_bf10) - differs.mean()) < 0.03


def exact_evidence(rng, count, share, variance=10.0):
    differs = rng.random(count) < share
    z = rng.normal(size=count) * np.where(differs, math.sqrt(variance), 1.0)
    return 0.5 * np.square(z) * (1.0 - 1.0 / variance) - 0.5 * math.log(variance), differs


# ---- probabilities and q-values


@given(EVIDENCE, st.floats(1e-6, 1 - 1e-6))
def test_posterior_is_the_prior_times_the_evidence(log_bf10, share):
    expected = expit(log_bf10 + math.log(share / (1.0 - share)))
    assert_allclose(posterior(log_bf10, share), expected, rtol=1e-9, atol=1e-300)


@given(arrays(np.float64, st.integers(1, 20), elements=st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.8 + 1e-9, 1.0])))
def test_q_is_the_mean_chance_of_an_error(prob):
    expected = [np.mean([1.0 - other for other in prob if other >= own]) for own in prob]
    assert_allclose(q_values(prob), expected, rtol=1e-12, atol=1e-15)


@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)))
def test_q_never_falls_with_less_evidence(prob):
    q = q_values(np.sort(prob)[::-1])
    assert (np.diff(q) >= -1e-15).all()
    assert q[-1] == pytest.approx(np.mean(1.0 - prob))


@pytest.mark.parametrize("fdr", [0.05, 0.2])
def test_false_discoveries_are_as_many_as_said(fdr):
    """Where the Bayes factors are those of the data, the mean share of false discoveries over data sets is fdr.

    Of 200 data sets with some 25 discoveries each, its standard error is below 0.006.
    """
    rng, shares = np.random.default_rng(2), []
    for _ in range(200):
        log_bf10, differs = exact_evidence(rng, 400, 0.15, variance=25.0)
        chosen = q_values(posterior(log_bf10, learn_share(log_bf10))) <= fdr
        shares.append(np.mean(~differs[chosen]) if chosen.any() else 0.0)
    assert 0.5 * fdr < np.mean(shares) < fdr + 0.02


def test_nothing_is_found_where_nothing_is():
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(50):
        log_bf10, _ = exact_evidence(rng, 400, 0.0)
        found += np.any(q_values(posterior(log_bf10, learn_share(log_bf10))) <= 0.05)
    assert found <= 6
