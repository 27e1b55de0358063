"""Bayes factors of partitions against quadratic forms written out in full."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from tests import default_model

from twosample.data import View
from twosample.features.maps import PointFeatures
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference import evidence
from twosample.inference.contrasts import Contrasts
from twosample.inference.partitions import all_partitions
from twosample.kernels import RBF
from twosample.models import PRESETS
from twosample.places import local

MODEL = PRESETS["adaptive"]
# With an amplitude of 1.
GIVEN = replace(MODEL, amplitude=None, amplitude_of_one=None)
POINTS = np.array([[-1.0], [0.1], [0.9]])
FEATURES = PointFeatures(RBF(), View.none(1), POINTS, 1.0)
LENGTHSCALES = np.array([0.7, 1.5])


def kernel(rows, lengthscale):
    return np.exp(-((rows - POINTS.T) ** 2) / (2 * lengthscale**2))


def contrasts(groups, model=MODEL):
    moments = local.sample_moments(FEATURES, tuple(groups), LENGTHSCALES)
    return Contrasts.of(moments, FEATURES, LENGTHSCALES, model), moments


def noise_and_prior(groups, index):
    """V of the features of a row, and R."""
    a, K = [kernel(rows, LENGTHSCALES[index]) for rows in (np.concatenate(groups), POINTS)]
    sizes = np.array([len(group) for group in groups])
    n, few, many = len(groups) / np.sum(1 / sizes), sizes.min(), sizes.max()
    C = np.cov(a.T, bias=True)
    added = np.full(len(POINTS), min(150 / n**3, 0.2 / n) * n / 2 * np.diag(C).mean())
    if few < many:  # one row of the smallest group, beside the noise of its difference from the largest one
        one_row = ((1 / few - 1 / many) * np.ptp(K, axis=1)) ** 2 / (1 / few + 1 / many)
        added += one_row / (1 + np.diag(C) / one_row)
    return C + np.diag(added), default_model.prior(C, added, 2, K)


def written_out(groups, partition, index, amplitude):
    """Log Bayes factor from all contrasts of the group means, as one vector with one covariance matrix."""
    k, sizes = len(groups), np.array([len(group) for group in groups])
    V, R = noise_and_prior(groups, index)
    means = np.stack([kernel(rows, LENGTHSCALES[index]).mean(axis=0) for rows in groups])
    together = np.equal.outer(partition, partition).astype(float)
    differences = np.eye(k)[1:] - np.eye(k)[0]  # of every group from the first
    delta = (differences @ means).ravel()
    noise = np.kron(differences @ np.diag(1 / sizes) @ differences.T, V)
    total = noise + np.kron(differences @ together @ differences.T, amplitude**2 * R / 2)
    e = delta @ np.linalg.solve(noise, delta) - delta @ np.linalg.solve(total, delta)
    explained = default_model.growth(e, sizes.sum(), default_model.welch(sizes), k - 1)
    return 0.5 * (explained - np.linalg.slogdet(total)[1] + np.linalg.slogdet(noise)[1])


@pytest.mark.parametrize("sizes", [(30, 45, 25, 60), (25, 25, 25, 25), (5, 40, 9, 300)])
def test_against_matrices_written_out(sizes):
    rng = np.random.default_rng(0)
    groups = [rng.normal(shift, 1, (n, 1)) for shift, n in zip((0, 0.4, -0.3, 0.8), sizes, strict=True)]
    found, _ = contrasts(groups, GIVEN)
    partitions = all_partitions(4)
    log_bf = found.log_bf(partitions)
    for index in range(len(LENGTHSCALES)):
        for row, partition in zip(log_bf[index, 0], partitions, strict=True):
            assert row == pytest.approx(written_out(groups, partition, index, 1.0), abs=1e-9)


def test_amplitudes_are_averaged():
    rng = np.random.default_rng(1)
    groups = [rng.normal(size=(20, 1)) for _ in range(3)]
    found, _ = contrasts(groups)
    log_amplitude, log_weight = MODEL.amplitude_of_one.nodes()
    partition = np.array([0, 1, 0])
    expected = [written_out(groups, partition, 1, amplitude) for amplitude in np.exp(log_amplitude)]
    assert found.log_bf(partition[np.newaxis])[1, 0, 0] == pytest.approx(logsumexp(expected + log_weight), abs=1e-8)


@pytest.mark.parametrize("sizes", [(40, 40), (12, 70)])
def test_two_groups_are_two_samples(sizes):
    rng = np.random.default_rng(4)
    found, moments = contrasts([rng.normal(shift, 1, (n, 1)) for shift, n in zip((0.0, 1.5), sizes, strict=True)])
    expected = evidence.evaluate(FeatureStatistics(LENGTHSCALES, *moments), FEATURES, MODEL).log_bf10
    assert np.abs(expected).min() > 1.0
    np.testing.assert_allclose(found.log_bf(np.array([[0, 1]]))[:, 0, 0], expected, rtol=1e-9)
    for first, second in ((np.array([1, 0]), np.array([0, 1])), (np.array([0, 1]), np.array([1, 0]))):
        np.testing.assert_allclose(found.log_bf_of_two(first, second), expected, rtol=1e-9)


def test_labellings_are_those_one_by_one():
    rng = np.random.default_rng(2)
    found, _ = contrasts([rng.normal(size=(20, 1)) for _ in range(3)])
    means = rng.normal(size=(2, 5, 3, 3)) * 0.05
    means -= means.mean(axis=2, keepdims=True)
    together = found.with_means(means).log_bf(all_partitions(3))
    for number in range(5):
        alone = found.with_means(means[:, [number]]).log_bf(all_partitions(3))
        np.testing.assert_allclose(together[:, [number]], alone, atol=1e-12)


def test_two_unions_of_groups_alone():
    """V is from the rows of all groups, whichever are compared."""
    rng = np.random.default_rng(3)
    groups = [rng.normal(shift, 1, (n, 1)) for shift, n in ((0.0, 30), (0.2, 40), (1.0, 50), (5.0, 40))]
    found, moments = contrasts(groups, GIVEN)
    union = moments[0].merge(moments[1])
    log_bf = found.log_bf_of_two(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 0]))
    for index in range(len(LENGTHSCALES)):
        V, R = noise_and_prior(groups, index)
        noise, delta = V * (1 / 70 + 1 / 50), union.mean[index] - moments[2].mean[index]
        e = delta @ np.linalg.solve(noise, delta) - delta @ np.linalg.solve(noise + R, delta)
        cost = np.linalg.slogdet(noise + R)[1] - np.linalg.slogdet(noise)[1]
        expected = 0.5 * (default_model.growth(e, 160, default_model.welch([70, 50])) - cost)
        assert log_bf[index] == pytest.approx(expected, abs=1e-8)


def test_equal_means_are_evidence_for_all_alike():
    moments = [Moments(5, np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))) for _ in range(3)]
    found = Contrasts.of(moments, FEATURES, LENGTHSCALES, MODEL)
    assert (found.log_bf(all_partitions(3)[1:]) < 0).all()
