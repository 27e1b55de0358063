import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twosample import evidence, models, statistics
from twosample.errors import InputError
from twosample.jacobian import log_volumes
from twosample.statistics import FeatureStatistics, Moments

LENGTHSCALES = np.array([2.0, np.sqrt(2.0), 0.9, 0.3])


def data(seed, n_x, n_y, n_columns=2, s=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y, n_columns)), rng.normal(size=(s, n_columns))


def kernel(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def test_moments_equal_brute_force():
    x, y, points = data(0, 40, 31)
    found = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES, pairs=(x[:31], y))
    for index, lengthscale in enumerate(LENGTHSCALES):
        feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
        difference = feature_x[:31] - feature_y
        for moments, values in ((found.x, feature_x), (found.y, feature_y), (found.pairs, difference)):
            np.testing.assert_allclose(moments.mean[index], values.mean(axis=0), rtol=1e-12, atol=1e-15)
            scatter = len(values) * np.cov(values.T, bias=True)
            np.testing.assert_allclose(moments.scatter[index], scatter, rtol=1e-9, atol=1e-13)
            np.testing.assert_allclose(moments.covariance[index], scatter / len(values), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(found.delta[index], feature_x.mean(0) - feature_y.mean(0), rtol=1e-10, atol=1e-14)


def test_difference_scatter_is_method_2():
    """The scatter of φ(x_i) - φ(y_i) is C_xx + C_yy - C_xy - C_xyᵀ."""
    x, y, points = data(1, 25, 25)
    pairs = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES[:1], pairs=(x, y)).pairs
    a, b = kernel(x, points, LENGTHSCALES[0]), kernel(y, points, LENGTHSCALES[0])
    a, b = a - a.mean(0), b - b.mean(0)
    np.testing.assert_allclose(pairs.scatter[0], a.T @ a + b.T @ b - a.T @ b - b.T @ a, atol=1e-13)


def test_log_volume_is_the_sum_over_the_pairs_asked_for(monkeypatch):
    monkeypatch.setattr(statistics, "BLOCK_ROWS", 7)
    x, y, points = data(2, 20, 20)
    wanted = np.arange(20) % 3 > 0
    found = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES, pairs=(x, y), volumes=wanted)
    expected = [log_volumes(x[wanted], y[wanted], points, value).sum() for value in LENGTHSCALES]
    np.testing.assert_allclose(found.log_volume, expected, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 10**6])
def test_block_size_does_not_matter(monkeypatch, rows):
    x, y, points = data(3, 50, 37)
    whole = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES)
    monkeypatch.setattr(statistics, "BLOCK_ROWS", rows)
    blocked = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES)
    np.testing.assert_allclose(blocked.x.scatter, whole.x.scatter, rtol=1e-11, atol=1e-14)


def test_parts_in_threads_give_the_same(monkeypatch):
    x, y, points = data(7, 400, 333)
    options = {"pairs": (x[:333], y), "volumes": np.arange(333) % 5 > 0}
    whole = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES, **options)
    monkeypatch.setattr(statistics, "BLOCK_ROWS", 4)
    assert len(statistics._parts(333)) > 1
    assert statistics._parts(333)[0][0] == 0
    assert statistics._parts(333)[-1][1] == 333
    done = []
    parts = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES, **options, tick=done.append)
    for name in ("x", "y", "pairs"):
        first, second = getattr(whole, name), getattr(parts, name)
        assert first.count == second.count
        np.testing.assert_allclose(second.mean, first.mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(second.scatter, first.scatter, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(parts.log_volume, whole.log_volume, rtol=1e-12)
    assert sum(done) == 400 + 333 + 2 * 333


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_chunks_merge_in_any_order_to_the_same_evidence(draw):
    x, y, points = data(draw.draw(st.integers(0, 10**6)), 60, 60)
    cuts = sorted(draw.draw(st.lists(st.integers(0, 60), max_size=5)))
    bounds = list(itertools.pairwise([0, *cuts, 60]))
    parts = [
        FeatureStatistics.from_samples(
            x[a:b], y[a:b], points, LENGTHSCALES, pairs=(x[a:b], y[a:b]), volumes=np.ones(b - a, bool)
        )
        for a, b in draw.draw(st.permutations(bounds))
    ]
    whole = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES, pairs=(x, y), volumes=np.ones(60, bool))
    merged = parts[0].merge(*parts[1:])
    for name in models.PRESETS:
        expected = evidence.evaluate(whole, models.resolve(name))
        found = evidence.evaluate(merged, models.resolve(name))
        np.testing.assert_allclose(found.log_bf10, expected.log_bf10, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.log_h1, expected.log_h1, rtol=1e-10, atol=1e-10)


def test_merging_is_accurate_where_raw_moments_cancel():
    """Features that are all nearly one: the scatter is 1e-12 of the raw second moment."""
    rng = np.random.default_rng(4)
    x = 1e-3 * rng.normal(size=(1000, 1))
    points = np.array([[0.5], [-0.3]])
    parts = [FeatureStatistics.from_samples(c, c, points, np.array([10.0])) for c in np.array_split(x, 7)]
    values = kernel(x, points, 10.0)
    values = values - values.mean(axis=0)
    np.testing.assert_allclose(parts[0].merge(*parts[1:]).x.scatter[0], values.T @ values, rtol=1e-8)


def test_empty_is_neutral():
    x, y, points = data(5, 8, 9)
    found = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES).x
    empty = Moments.empty(len(LENGTHSCALES), len(points))
    assert empty.merge(found) is found
    assert found.merge(empty) is found


def test_merging_different_points_is_refused():
    x, y, points = data(6, 8, 9)
    first = FeatureStatistics.from_samples(x, y, points, LENGTHSCALES)
    with pytest.raises(InputError, match="different points or lengthscales"):
        first.merge(FeatureStatistics.from_samples(x, y, points + 1, LENGTHSCALES))
    with pytest.raises(InputError, match="different points or lengthscales"):
        first.merge(FeatureStatistics.from_samples(x, y, points, 2 * LENGTHSCALES))
    with pytest.raises(InputError, match="has pairs"):
        first.merge(FeatureStatistics.from_samples(x, y, points, LENGTHSCALES, pairs=(x, y[:8])))
