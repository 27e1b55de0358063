"""Pairs by sums alone: scores are bounded, and the mean of the e-value over all swaps is at most 1."""

import copy
import itertools
import math

import numpy as np
import pytest

import twosample as ts
from twosample.features.statistics import Moments
from twosample.questions.monitor.betting import BETS, log_growth, weights


def started(seed=0, columns=2, batches=3):
    rng = np.random.default_rng(seed)
    monitor = ts.Monitor(paired=True, method="sums", points=10)
    for _ in range(batches):
        x = rng.normal(size=(30, columns))
        monitor.update(x, x + rng.normal(0.4, 0.6, size=x.shape))
    return monitor, rng


def test_scores_of_all_pairs_are_between_minus_one_and_one():
    monitor, rng = started()
    learning = monitor._memory.learning
    rows = np.concatenate([rng.normal(size=(400, 2)) * scale for scale in (0.3, 1, 3, 30)])
    largest = 0.0
    for component, past in zip(learning.components, learning.learnt, strict=True):
        w = weights(component, past, learning.plan.model)
        phi = component.shifts((rows,), np.eye(len(rows), dtype=bool), np.zeros_like(past.shift))  # (m, n, s)
        scores = np.einsum("ms,mns->mn", w, phi)
        reach = scores.max(axis=1) - scores.min(axis=1)
        assert (reach <= 1.0).all()
        largest = max(largest, reach.max())
    assert largest > 0.3  # the bound is not idle


def test_mean_over_all_swaps_is_at_most_one():
    monitor, rng = started()
    x, y = rng.normal(size=(7, 2)), rng.normal(0.5, 1.0, size=(7, 2))
    found = []
    for swaps in itertools.product((False, True), repeat=7):
        swapped = np.array(swaps)[:, None]
        state = copy.copy(monitor).update(np.where(swapped, y, x), np.where(swapped, x, y))
        found.append(math.exp(state.log_batch_evalue))
    assert np.mean(found) <= 1.0 + 1e-12
    assert np.mean(found) > 0.7 and np.std(found) > 0.05


def test_growth_is_that_of_each_pair_in_turn():
    rng = np.random.default_rng(3)
    d, w = rng.uniform(-1, 1, (12, 4)), np.array([0.3, -0.2, 0.4, 0.1])
    one = Moments.of(d)
    found = log_growth(w[None], Moments(12, one.mean[None], one.scatter[None]))[0]
    expected = [sum(bet * xi - (-math.log(1 - bet) - bet) * xi**2 for xi in d @ w) for bet in BETS]
    assert found == pytest.approx(expected, abs=1e-12)


def test_each_factor_is_below_one_plus_the_bet():
    xi, bets = np.linspace(-1, 1, 2001)[:, None], BETS[None]
    assert (np.exp(bets * xi - (-np.log1p(-bets) - bets) * xi**2) <= 1 + bets * xi + 1e-12).all()


def test_sums_collected_elsewhere_are_as_good_as_rows():
    monitor, rng = started()
    other = copy.copy(monitor)
    x, y = rng.normal(size=(2, 40, 2))
    statistics = monitor.plan.statistics(x[:25], y[:25]).merge(monitor.plan.statistics(x[25:], y[25:]))
    by_sums, by_rows = monitor.update(statistics), other.update(x, y)
    assert by_sums.log_evalue == pytest.approx(by_rows.log_evalue, abs=1e-9)
    assert by_sums.n_x == by_rows.n_x == 130
    assert by_sums.log_bf10 == pytest.approx(by_rows.log_bf10, abs=1e-6)


def test_the_first_batch_adds_no_evidence_and_a_difference_is_found():
    rng = np.random.default_rng(5)
    monitor = ts.Monitor(paired=True, method="sums")
    x = rng.normal(size=(50, 1))
    assert monitor.update(x, x + 1.0).log_evalue == 0.0
    for _ in range(8):
        x = rng.normal(size=(50, 1))
        state = monitor.update(x, x + rng.normal(0.6, 0.5, size=x.shape))
    assert state.alarm


@pytest.mark.parametrize(
    ("options", "words"),
    [({"method": "sums"}, "is for pairs"), ({"paired": True, "method": "no"}, "is unknown")],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(ts.errors.InputError, match=words):
        ts.Monitor(**options)


def test_statistics_of_another_plan_or_method_are_refused():
    monitor, rng = started()
    x, y = rng.normal(size=(2, 20, 2))
    other = ts.plan(x, y, paired=True).statistics(x, y)
    with pytest.raises(ts.errors.InputError, match="another plan"):
        monitor.update(other)
    with pytest.raises(ts.errors.InputTypeError, match="method='sums' only"):
        ts.Monitor(paired=True).update(other)
    with pytest.raises(ts.errors.InputError, match="no plan yet"):
        ts.Monitor(paired=True, method="sums").update(other)
