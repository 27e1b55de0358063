"""The e-value of a batch: mean 1 over all labellings, whatever was seen before; and what its statistic is."""

import copy
import itertools
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests import default_model

import twosample as ts
from twosample import models
from twosample.data import View
from twosample.features.maps import PointFeatures
from twosample.features.statistics import Moments
from twosample.kernels import RBF
from twosample.questions.monitor import evalues
from twosample.questions.monitor.evalues import Batch, Component, Learnt, log_evalue, log_statistics


def evalues_of_all_splits(monitor, rows, n_x):
    """E-values of a batch for each choice of which rows are of x."""
    found = []
    for chosen in itertools.combinations(range(len(rows)), n_x):
        in_x = np.isin(np.arange(len(rows)), chosen)
        found.append(math.exp(copy.copy(monitor).update(rows[in_x], rows[~in_x]).log_batch_evalue))
    return np.array(found)


def evalues_of_all_swaps(monitor, x, y):
    found = []
    for swaps in itertools.product((False, True), repeat=len(x)):
        swapped = np.array(swaps)[:, None]
        found.append(
            math.exp(copy.copy(monitor).update(np.where(swapped, y, x), np.where(swapped, x, y)).log_batch_evalue)
        )
    return np.array(found)


def batches(rng, n_x, n_y, columns=2, shift=0.8):
    return rng.normal(size=(n_x, columns)), rng.normal(size=(n_y, columns)) + shift


@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (5, 2)])
@pytest.mark.parametrize("earlier", [0, 3])
def test_mean_over_all_labellings_is_one_whatever_was_seen_before(sizes, earlier):
    rng = np.random.default_rng(sum(sizes) + earlier)
    monitor = ts.Monitor(points=8)
    for _ in range(earlier):
        monitor.update(*batches(rng, 12, 9))
    rows = rng.standard_cauchy((sum(sizes), 2))
    found = evalues_of_all_splits(monitor, rows, sizes[0])
    assert found.mean() == pytest.approx(1.0, abs=1e-12)
    assert found.std() > (0.05 if earlier else 1e-4)  # the noise floor is large for a few rows


def test_mean_is_one_once_the_plan_is_settled_and_with_forgetting():
    rng = np.random.default_rng(3)
    monitor = ts.Monitor(points=8, forget=0.2)
    for _ in range(3):
        monitor.update(*batches(rng, 80, 90))
    assert monitor._memory.learning.young is None
    found = evalues_of_all_splits(monitor, rng.integers(0, 3, (6, 2)).astype(float), 3)  # with ties
    assert found.mean() == pytest.approx(1.0, abs=1e-12)


def test_mean_is_one_for_a_plan_that_is_given():
    rng = np.random.default_rng(4)
    monitor = ts.Monitor(plan=ts.plan(rng.normal(size=(60, 2)), points=8))
    monitor.update(*batches(rng, 15, 15))
    assert evalues_of_all_splits(monitor, rng.normal(size=(6, 2)), 2).mean() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("earlier", [0, 2])
def test_mean_over_all_swaps_is_one(earlier):
    rng = np.random.default_rng(earlier)
    monitor = ts.Monitor(paired=True, points=8)
    for _ in range(earlier):
        monitor.update(*batches(rng, 20, 20))
    found = evalues_of_all_swaps(monitor, *batches(rng, 5, 5))
    assert found.mean() == pytest.approx(1.0, abs=1e-12)
    assert found.std() > (0.05 if earlier else 1e-4)  # the noise floor is large for a few rows


def test_random_labellings_have_mean_one_over_all_that_could_be_drawn():
    rng = np.random.default_rng(0)
    statistic = rng.normal(0, 2, 6)  # of each labelling
    drawn = [log_evalue(statistic[list(which)], 0) for which in itertools.product(range(6), repeat=4)]
    assert np.exp(drawn).mean() == pytest.approx(1.0, abs=1e-12)


def test_mirrored_labellings_have_mean_one_over_all_that_could_be_drawn():
    rng = np.random.default_rng(1)
    statistic = rng.normal(0, 2, 6)  # labelling k and 5 - k mirror each other
    drawn = []
    for which in itertools.product(range(6), repeat=3):
        chosen = np.array(which)
        drawn.append(log_evalue(np.concatenate([statistic[chosen], statistic[5 - chosen]]), 0))
    assert np.exp(drawn).mean() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("n_x", "n_y"), [(20, 20), (15, 25), (25, 15)])
def test_labellings_keep_the_sizes_and_begin_with_the_observed_one(n_x, n_y):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(n_x, 1)), rng.normal(5.0, 1.0, size=(n_y, 1))
    batch = Batch(x, y, 50, False, rng)
    assert (batch.flags.sum(axis=0) == min(n_x, n_y)).all()
    first = batch.rows[0][batch.flags[:, batch.observed]]
    assert np.array_equal(np.sort(first.ravel()), np.sort((x if n_x <= n_y else y).ravel()))
    assert batch.mirrored == (n_x == n_y)
    assert batch.flags.shape[1] == (25 if n_x == n_y else 50)
    assert batch.sign == (1.0 if n_x <= n_y else -1.0)


@pytest.mark.parametrize("paired", [False, True])
def test_labellings_are_other_ones_for_other_data(paired):
    """Also where the ranks are the same; whichever sample is called x."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20, 1)), rng.normal(size=(20 if paired else 25, 1))
    data = [(x, y), (x**3, y**3), (x**5, y**5)]
    seen = [Batch(*both, 50, paired, np.random.default_rng(0)).flags[:, 1:].tobytes() for both in data]
    assert len(set(seen)) == 3
    assert [Batch(*both[::-1], 50, paired, np.random.default_rng(0)).flags[:, 1:].tobytes() for both in data] == seen


@pytest.mark.parametrize(("n_y", "paired"), [(20, False), (25, False), (20, True)])
def test_labellings_that_are_worked_on_in_blocks_give_the_same_evalue(monkeypatch, n_y, paired):
    def watched():
        rng = np.random.default_rng(7)
        monitor = ts.Monitor(points=6, permutations=99, paired=paired)
        return [monitor.update(*batches(rng, 20, n_y)).log_batch_evalue for _ in range(2)]

    whole = watched()
    monkeypatch.setattr(evalues, "_VALUES", 300)
    np.testing.assert_allclose(watched(), whole, rtol=1e-9)  # other blocks are rounded otherwise


def test_an_evalue_is_at_most_the_number_of_labellings():
    rng = np.random.default_rng(5)
    monitor = ts.Monitor(permutations=19)
    for _ in range(3):
        state = monitor.update(rng.normal(0, 1, 40), rng.normal(9, 1, 40))
    assert math.exp(state.log_batch_evalue) == pytest.approx(20.0, rel=1e-6)


POINTS = np.array([[-1.2], [-0.3], [0.4], [1.5]])
LENGTHSCALES = np.array([0.6, 1.4])
WEIGHTS = np.array([0.3, 0.7])
# With an amplitude of 1, and with V known besides.
GIVEN = replace(models.PRESETS["adaptive"], amplitude=None, amplitude_of_one=None)
GAUSSIAN = replace(GIVEN, noise="samples", components=0.0)


def kernel(a, b, lengthscale):
    return np.exp(-((a[:, None, 0] - b[None, :, 0]) ** 2) / (2 * lengthscale**2))


def example(seed=6, paired=False):
    """Earlier and new rows, the component that the code works with, and what is known of the earlier ones."""
    rng = np.random.default_rng(seed)
    sizes = [(9, 9), (7, 7)] if paired else [(9, 12), (7, 5)]
    earlier = [(rng.normal(size=(a, 1)), rng.normal(0.5, 1.2, size=(b, 1))) for a, b in sizes]
    new = (rng.normal(size=(4, 1)), rng.normal(0.3, 1, size=(4 if paired else 3, 1)))
    features = PointFeatures(RBF(), View.none(1), POINTS, 1.0)
    return earlier, new, Component(features, LENGTHSCALES, np.log(WEIGHTS), None, slice(None), 1)


def learnt_of(x, y, paired=False):
    def moments(values):
        each = [Moments.of(values(one)) for one in LENGTHSCALES]
        return Moments(each[0].count, np.stack([one.mean for one in each]), np.stack([one.scatter for one in each]))

    if paired:
        return Learnt.of((moments(lambda one: kernel(x, POINTS, one) - kernel(y, POINTS, one)),))
    return Learnt.of(tuple(moments(lambda one, rows=rows: kernel(rows, POINTS, one)) for rows in (x, y)))


def reference_log_predictive(earlier, x, y, density):
    """Log Σ P(ℓ | earlier) N(Δ; m, V + S)/N(Δ; 0, V), up to nothing: from rows, kernels and densities alone."""
    pooled = np.concatenate([x, y])
    log_before, log_ratio = [], []
    for lengthscale, weight in zip(LENGTHSCALES, WEIGHTS, strict=True):
        K = kernel(POINTS, POINTS, lengthscale)
        H = np.eye(4) - 0.25
        R = K @ H @ K / 4
        phi = lambda rows: kernel(rows, POINTS, lengthscale)  # noqa: B023, E731
        batches = [*map(np.concatenate, earlier), pooled]
        within = sum(len(rows) * np.cov(phi(rows).T, bias=True) for rows in batches)
        total = sum(map(len, batches))
        h = [1 / (1 / len(a) + 1 / len(b)) for a, b in [*earlier, (x, y)]]
        deltas = [phi(a).mean(axis=0) - phi(b).mean(axis=0) for a, b in [*earlier, (x, y)]]
        sigma = within / total
        n = 2 * sum(h)
        sigma = sigma + sum(h) * min(150 / n**3, 0.2 / n) * np.trace(sigma) / 4 * np.eye(4)  # the noise floor
        H_before = sum(h[:-1])
        D = sum(one * delta for one, delta in zip(h[:-1], deltas[:-1], strict=True)) / H_before
        gain = R @ np.linalg.inv(R + sigma / H_before)
        m, S = gain @ D, R - gain @ R
        log_before.append(
            math.log(weight) + density(D, 0 * D, R + sigma / H_before) - density(D, 0 * D, sigma / H_before)
        )
        V = sigma / h[-1]
        log_ratio.append(density(deltas[-1], m, V + S) - density(deltas[-1], 0 * m, V))
    log_before = np.array(log_before) - np.logaddexp.reduce(log_before)
    return float(np.logaddexp.reduce(log_before + log_ratio))


def by_scipy(value, mean, covariance):
    return multivariate_normal.logpdf(value, mean, covariance)


def by_mpmath(value, mean, covariance):
    with mpmath.workdps(50):
        difference = mpmath.matrix((value - mean).tolist())
        matrix = mpmath.matrix(covariance.tolist())
        quadratic = (difference.T * mpmath.inverse(matrix) * difference)[0]
        return float(-(quadratic + mpmath.log(mpmath.det(matrix)) + len(value) * mpmath.log(2 * mpmath.pi)) / 2)


@pytest.mark.parametrize("density", [by_scipy, by_mpmath])
def test_the_statistic_is_the_predictive_bayes_factor_given_the_witness_learnt_so_far(density):
    earlier, (x, y), component = example()
    past = learnt_of(*earlier[0]).add(learnt_of(*earlier[1]))
    batch = Batch(x, y, 10**6, False, np.random.default_rng(0))
    found = log_statistics([component], [past], [learnt_of(x, y)], batch, GAUSSIAN)
    rows = batch.rows[0]
    expected = []
    for flags in batch.flags.T:
        first, second = (rows[flags], rows[~flags])
        if batch.sign < 0:
            first, second = second, first
        expected.append(reference_log_predictive(earlier, first, second, density))
    # The Bayes factor of the earlier batches is the same for all labellings.
    assert found - found[0] == pytest.approx(np.array(expected) - expected[0], abs=1e-9)
    assert np.ptp(expected) > 1.0
    assert log_evalue(found, batch.observed) == pytest.approx(
        expected[batch.observed] - np.logaddexp.reduce(expected) + math.log(len(expected)), abs=1e-9
    )


def test_the_first_batch_is_judged_by_its_own_bayes_factor():
    _, (x, y), component = example()
    batch = Batch(x, y, 10**6, False, np.random.default_rng(0))
    new = learnt_of(x, y)
    found = log_statistics([component], [Learnt.nothing(component)], [new], batch, GAUSSIAN)
    expected = []
    pooled = np.concatenate([x, y])
    for flags in batch.flags.T:
        first, second = batch.rows[0][flags], batch.rows[0][~flags]
        log = []
        for lengthscale, weight in zip(LENGTHSCALES, WEIGHTS, strict=True):
            K = kernel(POINTS, POINTS, lengthscale)
            R = K @ (np.eye(4) - 0.25) @ K / 4
            sigma = np.cov(kernel(pooled, POINTS, lengthscale).T, bias=True)
            h = len(x) * len(y) / len(pooled)
            n = 2 * h
            V = sigma / h + min(150 / n**3, 0.2 / n) * np.trace(sigma) / 4 * np.eye(4)
            delta = (kernel(first, POINTS, lengthscale)).mean(axis=0) - kernel(second, POINTS, lengthscale).mean(axis=0)
            log.append(math.log(weight) + by_scipy(delta, None, R + V) - by_scipy(delta, None, V))
        expected.append(np.logaddexp.reduce(log))
    assert found == pytest.approx(np.array(expected), abs=1e-9)


def by_definition(batches, lengthscale, paired):
    """Log BF10 of all batches by the default model given an amplitude of 1: each is compared with itself alone."""
    phi = [[kernel(rows, POINTS, lengthscale) for rows in batch] for batch in batches]
    if paired:
        h, rows = [len(a) for a, _ in phi], sum(len(a) for a, _ in phi)
        C = sum((a - b).T @ (a - b) for a, b in phi) / (2 * rows)
    else:
        h, rows = [1 / (1 / len(a) + 1 / len(b)) for a, b in phi], sum(len(a) + len(b) for a, b in phi)
        C = sum((len(a) + len(b)) * np.cov(np.concatenate([a, b]).T, bias=True) for a, b in phi) / rows
    n = sum(h) * (1 if paired else 2)
    delta = sum(one * (a.mean(axis=0) - b.mean(axis=0)) for one, (a, b) in zip(h, phi, strict=True)) / sum(h)
    added = np.full(4, min(150 / n**3, 0.2 / n) * np.diag(C).mean())
    V, R = 2 / n * C + np.diag(added), default_model.prior(C, added, n, kernel(POINTS, POINTS, lengthscale))
    e = delta @ np.linalg.solve(V, delta) - delta @ np.linalg.solve(V + R, delta)
    cost = np.linalg.slogdet(V + R)[1] - np.linalg.slogdet(V)[1]
    return 0.5 * (default_model.growth(e, rows, 2 * n) - cost)


@pytest.mark.parametrize("paired", [False, True])
def test_the_statistic_of_the_default_is_its_bayes_factor_of_all_batches(paired):
    earlier, (x, y), component = example(paired=paired)
    past = learnt_of(*earlier[0], paired).add(learnt_of(*earlier[1], paired))
    batch = Batch(x, y, 10**6, paired, np.random.default_rng(0))
    found = log_statistics([component], [past], [learnt_of(x, y, paired)], batch, GIVEN)
    expected = []
    for flags in batch.flags.T:
        if paired:
            left, right = batch.rows
            swapped = flags[:, None]
            new = np.where(swapped, right, left), np.where(swapped, left, right)
        else:
            new = (batch.rows[0][flags], batch.rows[0][~flags])[:: int(batch.sign)]
        log = [by_definition([*earlier, new], lengthscale, paired) for lengthscale in LENGTHSCALES]
        expected.append(np.logaddexp.reduce(np.log(WEIGHTS) + log))
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    assert np.ptp(expected) > 0.3


@pytest.mark.parametrize("paired", [False, True])
def test_the_first_batch_of_the_default_is_a_test_of_its_own(paired):
    """With every fourth amplitude, which is some thousandths off."""
    rng = np.random.default_rng(7)
    x, y, (*_, component) = rng.normal(size=(12, 1)), rng.normal(1.0, 1.0, (12, 1)), example()
    batch = Batch(x, y, 2, paired, rng)
    new = learnt_of(x, y, paired)
    found = log_statistics([component], [Learnt.nothing(component)], [new], batch, models.PRESETS["adaptive"])
    log = [
        default_model.log_bf10(*(kernel(rows, POINTS, one) for rows in (x, y, POINTS)), paired=paired)
        for one in LENGTHSCALES
    ]
    assert np.abs(log).min() > 0.1
    assert found[0] == pytest.approx(np.logaddexp.reduce(np.log(WEIGHTS) + log), abs=5e-3)
