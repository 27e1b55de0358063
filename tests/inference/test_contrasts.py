"""Bayes factors of partitions against Gaussian densities written out in full."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from twosample.data import View
from twosample.features.maps import PointFeatures
from twosample.features.statistics import Moments
from twosample.inference.contrasts import Contrasts
from twosample.inference.partitions import all_partitions
from twosample.inference.prior import covariances
from twosample.kernels import RBF
from twosample.models import PRESETS
from twosample.places import local

MODEL = PRESETS["adaptive"]
POINTS = np.array([[-1.0], [0.1], [0.9]])
FEATURES = PointFeatures(RBF(), View.none(1), POINTS, 1.0)
LENGTHSCALES = np.array([0.7, 1.5])


def contrasts(groups, model=MODEL):
    moments = local.sample_moments(FEATURES, tuple(groups), LENGTHSCALES)
    return Contrasts.of(moments, FEATURES, LENGTHSCALES, model), moments


def written_out(moments, partition, index, amplitude, model, student):
    """Log density ratio of all contrasts of the group means, as one vector with one covariance matrix."""
    k, s = len(moments), len(POINTS)
    sizes = np.array([one.count for one in moments], dtype=float)
    means = np.stack([one.mean[index] for one in moments])
    within = sum(one.scatter[index] for one in moments) / sizes.sum()
    pooled = moments[0]
    for one in moments[1:]:
        pooled = pooled.merge(one)
    n = k / np.sum(1 / sizes)
    floor = 1500.0 / n**3 * np.trace(pooled.scatter[index]) / s / sizes.sum() * n / 2
    V = within + floor * np.eye(s)
    R = covariances(model, FEATURES, LENGTHSCALES[[index]])[0]
    together = np.equal.outer(partition, partition).astype(float)
    differences = np.eye(k)[1:] - np.eye(k)[0]  # of every group from the first
    delta = (differences @ means).ravel()
    noise = np.kron(differences @ np.diag(1 / sizes) @ differences.T, V)
    signal = np.kron(differences @ together @ differences.T, amplitude**2 * R / 2)
    if not student:
        h1, h0 = (stats.multivariate_normal(cov=C, allow_singular=False) for C in (noise + signal, noise))
        return h1.logpdf(delta) - h0.logpdf(delta)
    freedom = k / 2 * (n - 1)
    d = np.trace(np.linalg.solve(V, within)) * (k - 1)

    def log_density(C):
        q = delta @ np.linalg.solve(C, delta)
        return -0.5 * np.linalg.slogdet(C)[1] - 0.5 * (freedom + d) * math.log1p(q / freedom)

    return log_density(noise + signal) - log_density(noise)


@pytest.mark.parametrize("student", [False, True])
def test_against_densities_written_out(student):
    rng = np.random.default_rng(0)
    groups = [rng.normal(shift, 1, (n, 1)) for shift, n in ((0, 30), (0.4, 45), (-0.3, 25), (0.8, 60))]
    model = replace(MODEL, amplitude=None, student=student)
    found, moments = contrasts(groups, model)
    partitions = all_partitions(4)
    log_bf = found.log_bf(partitions)
    for index in range(len(LENGTHSCALES)):
        for row, partition in zip(log_bf[index, 0], partitions, strict=True):
            expected = written_out(moments, partition, index, 1.0, model, student)
            assert row == pytest.approx(expected, abs=1e-9)


def test_amplitudes_are_averaged():
    rng = np.random.default_rng(1)
    found, moments = contrasts([rng.normal(size=(20, 1)) for _ in range(3)])
    log_amplitude, log_weight = MODEL.amplitude.nodes()
    partition = np.array([0, 1, 0])
    expected = [written_out(moments, partition, 1, math.exp(one), MODEL, True) for one in log_amplitude]
    assert found.log_bf(partition[np.newaxis])[1, 0, 0] == pytest.approx(
        np.logaddexp.reduce(np.array(expected) + log_weight), abs=1e-8
    )


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
    rng = np.random.default_rng(3)
    model = replace(MODEL, amplitude=None, student=False)
    found, moments = contrasts([rng.normal(shift, 1, (40, 1)) for shift in (0.0, 0.2, 1.0, 5.0)], model)
    union = moments[0].merge(moments[1])
    log_bf = found.log_bf_of_two(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 0]))
    for index in range(len(LENGTHSCALES)):
        basis = found.hypotheses.spectra.basis[index]
        noise = np.linalg.inv(basis @ basis.T) * (1 / 80 + 1 / 40)
        delta = union.mean[index] - moments[2].mean[index]
        R = covariances(model, FEATURES, LENGTHSCALES[[index]])[0]
        h1, h0 = (stats.multivariate_normal(cov=C).logpdf(delta) for C in (noise + R, noise))
        assert log_bf[index] == pytest.approx(h1 - h0, abs=1e-8)


def test_equal_means_are_evidence_for_all_alike():
    moments = [Moments(5, np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))) for _ in range(3)]
    found = Contrasts.of(moments, FEATURES, LENGTHSCALES, MODEL)
    assert (found.log_bf(all_partitions(3)[1:]) < 0).all()
