"""The evidence of a pairing against brute force over all subsets of correlations, and its permutation moments."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from twosample.questions.independence import pairing
from twosample.questions.independence.pairing import EXPECTED, Pairing, log_mean, permuted, products
from twosample.questions.independence.sides import Column, Side


def pair(n=40, seed=0, slope=0.7, levels=3):
    """A side of few functions each, and their rows."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, levels, n).astype(float)
    y = (slope * x + rng.normal(size=n)).round()
    rows = [Column("a", values).coordinates() for values in (x, np.clip(y, 0, 2))]
    sides = [Side.of(one, 16) for one in rows]
    return Pairing(*sides, n), rows


def amplitudes():
    log_a = np.arange(-4.0, 5.0)
    weights = 1.0 / np.cosh(log_a)
    return 0.4 * np.exp(log_a), weights / weights.sum()


def brute_force(of, scores, i, j):
    """BF10 at one pair of lengthscales: a sum over which of the correlations are not zero, of normal densities."""
    shares = np.multiply.outer(of.x.shares[i], of.y.shares[j]).ravel()
    variance = 1.0 + np.multiply.outer(of.x.kurtosis[i], of.y.kurtosis[j]).ravel() / of.count
    u = scores[i, j].ravel()
    there = shares > 0
    shares, variance, u = shares[there], variance[there], u[there]
    total = 0.0
    for a, weight in zip(*amplitudes(), strict=True):
        for expected in EXPECTED:
            prob = np.minimum(0.5, expected * shares)
            sums = np.zeros(2)
            for active in product([False, True], repeat=len(u)):
                active = np.array(active)
                if not active.any():
                    continue
                prior = np.prod(np.where(active, prob, 1.0 - prob))
                sd = np.sqrt(variance + active * a**2 * (of.count - 1))
                ratio = np.exp((stats.norm.logpdf(u, 0, sd) - stats.norm.logpdf(u, 0, np.sqrt(variance))).sum())
                sums += prior * np.array([1.0, ratio])
            total += weight / len(EXPECTED) * sums[1] / sums[0]
    return total


def test_bayes_factor_is_the_sum_over_all_subsets():
    of, rows = pair()
    scores = of.scores(products(of.x, of.y, *rows))
    found = of.log_bf10(scores)
    assert np.count_nonzero(of.x.shares[0]) * np.count_nonzero(of.y.shares[0]) == 4
    for i, j in ((0, 0), (1, 3), (4, 2)):
        assert_allclose(found[i, j], math.log(brute_force(of, scores, i, j)), rtol=1e-9)


def test_amplitude_nodes_stand_for_a_half_cauchy_prior():
    nodes, weights = amplitudes()
    for power in (0.3, 0.5):
        exact, _ = integrate.quad(
            lambda a, power=power: a**power * 2 / (math.pi * 0.4 * (1 + (a / 0.4) ** 2)), 0, math.inf
        )
        assert_allclose(weights @ nodes**power, exact, rtol=0.12)  # nine nodes, without the tails
    found = list(pair()[0]._amplitudes())
    assert_allclose([a for a, _ in found], nodes)
    assert_allclose(np.exp([log for _, log in found]), weights)


def test_scores_are_correlations():
    of, rows = pair(levels=5)
    scores = of.scores(products(of.x, of.y, *rows))
    f, g = of.x.functions(rows[0])[2][:, 0], of.y.functions(rows[1])[3][:, 1]
    assert_allclose(scores[2, 3, 0, 1], math.sqrt(of.count - 1) * np.corrcoef(f, g)[0, 1], rtol=1e-6)


def test_over_all_pairings_scores_have_mean_0_and_variance_1():
    rng = np.random.default_rng(3)
    rows = [Column("a", rng.normal(size=6)).coordinates() for _ in range(2)]
    of = Pairing(*(Side.of(one, 16) for one in rows), 6)
    functions = [np.swapaxes(side.functions(one), 0, 1) for side, one in zip((of.x, of.y), rows, strict=True)]
    scores = of.scores(permuted(*functions, [np.array(order) for order in permutations(range(6))]))
    there = np.multiply.outer(of.x.shares, of.y.shares).swapaxes(1, 2) > 0
    assert_allclose(scores.mean(axis=0)[there], 0.0, atol=1e-6)
    assert_allclose((scores**2).mean(axis=0)[there], 1.0, atol=1e-5)


def test_coefficients_against_brute_force():
    of, rows = pair(n=25)
    scores = of.scores(products(of.x, of.y, *rows))
    found = of.coefficients(scores)
    i, j = 1, 2
    shares = np.multiply.outer(of.x.shares[i], of.y.shares[j]).ravel()
    variance = 1.0 + np.multiply.outer(of.x.kurtosis[i], of.y.kurtosis[j]).ravel() / of.count
    u, there = scores[i, j].ravel(), shares > 0
    total, first, second = 0.0, np.zeros(there.sum()), np.zeros(there.sum())
    for a, weight in zip(*amplitudes(), strict=True):
        for expected in EXPECTED:
            prob = np.minimum(0.5, expected * shares[there])
            rest = 1.0 - np.prod(1.0 - prob)
            for active in product([False, True], repeat=int(there.sum())):
                active = np.array(active)
                if not active.any():
                    continue
                sd = np.sqrt(variance[there] + active * a**2 * (of.count - 1))
                mass = (
                    weight * np.prod(np.where(active, prob, 1 - prob)) / rest * np.prod(stats.norm.pdf(u[there], 0, sd))
                )
                shrunk = a**2 * (of.count - 1) / (a**2 * (of.count - 1) + variance[there])
                mean = active * shrunk * u[there] / math.sqrt(of.count - 1)
                total += mass
                first += mass * mean
                second += mass * (mean**2 + active * a**2 * (1 - shrunk))
    assert_allclose(found.mean[i, j].ravel()[there], first / total, rtol=1e-8)
    assert_allclose(found.variance[i, j].ravel()[there], second / total - (first / total) ** 2, rtol=1e-6)


def test_huge_evidence_stays_finite_and_grows():
    x = np.linspace(-1, 1, 4000)
    rows = Column("a", x).coordinates()
    side = Side.of(rows, 16)
    of = Pairing(side, side, 4000)
    scores = of.scores(products(side, side, rows, rows))
    found = of.log_bf10(scores)
    assert np.isfinite(found).all()
    assert log_mean(found) > 5000
    coefficients = of.coefficients(scores)
    assert np.isfinite(coefficients.mean).all() and np.isfinite(coefficients.variance).all()
    assert_allclose(coefficients.mean[2, 2].diagonal()[:3], 1.0, atol=0.05)


def test_rare_values_that_coincide_once_prove_little():
    x = np.zeros(100)
    x[17] = 1.0
    rows = Column("a", x).coordinates()
    side = Side.of(rows, 16)
    of = Pairing(side, side, 100)
    # Without the fourth moments it would be e^45, and by chance it happens once in a hundred times.
    assert math.exp(log_mean(of.log_bf10(of.scores(products(side, side, rows, rows))))) < 20


def test_mean_over_lengthscales():
    assert_allclose(log_mean(np.log([[[1.0, 2.0], [3.0, 6.0]]])), [math.log(3.0)])


@pytest.mark.parametrize("rows", [3, 8192])
def test_products_are_sums_over_pairs(rows, monkeypatch):
    of, both = pair()
    monkeypatch.setattr("twosample.questions.independence.sides._BLOCK_ROWS", rows)
    f, g = of.x.functions(both[0]), of.y.functions(both[1])
    assert_allclose(products(of.x, of.y, *both), np.einsum("anb,cnd->abcd", f, g), atol=1e-10)
    assert pairing.EXPECTED == (1.0, 3.0, 10.0)
