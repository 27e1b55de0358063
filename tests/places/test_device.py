"""Statistics on a device, against sums written out in NumPy; here with the strict library of the standard and JAX."""

import json

import array_api_strict
import numpy as np
import pytest

import twosample as ts
from twosample.common.arrays import doubles, float64, to_numpy
from twosample.features.maps import PointFeatures
from twosample.kernels import RBF, Kernel
from twosample.places import device, libraries, local

jax = pytest.importorskip("jax", reason="JAX is not installed: the engine on devices is tested with one library less")

LIBRARIES = {"strict": array_api_strict.asarray, "jax": libraries.mover("jax")}


@pytest.fixture(params=["strict", "jax", "jax, compiled"])
def to(request, monkeypatch):
    """What takes rows to the library; small blocks, so that there are several and a rest."""
    monkeypatch.setattr(device, "_FEWEST_ROWS", 256)
    monkeypatch.setattr(device, "_MOST_ROWS", 256)
    monkeypatch.setattr(device, "_GROUP", 64)
    monkeypatch.setattr(device, "_CENTER_ROWS", 100)
    name, _, compiled = request.param.partition(", ")
    if compiled:
        monkeypatch.setattr(device, "_WORTH_COMPILING", 0)
    return LIBRARIES[name]


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(700, 3)), rng.normal(size=(610, 3)) * [1.0, 1.4, 1.0]
    x[:60, 2] = y[:90, 2] = 0.0  # ties
    return x, y


@pytest.fixture(scope="module")
def plan(samples):
    return ts.plan(*samples)


def gaussian(rows, points, lengthscale):
    """Features, written out."""
    return np.exp(-np.square(rows[:, None] - points).sum(axis=-1) / (2.0 * lengthscale**2))


def check(found, features):
    """Moments of one lengthscale, against features (n, s)."""
    count, mean, scatter = found
    assert count == len(features)
    np.testing.assert_allclose(mean, features.mean(axis=0), rtol=1e-12, atol=1e-15)
    expected = np.atleast_2d(np.cov(features.T, bias=True)) * len(features)
    assert np.abs(scatter - expected).max() < 1e-12 * np.trace(expected)


def test_moments_of_samples(to, samples, plan):
    x, y = samples
    ticks, lengthscales = [], plan.lengthscales[::7]
    for rows, found in zip(
        samples,
        device.sample_moments(plan.features, (to(x), to(y)), lengthscales, ticks.append),
        strict=True,
    ):
        assert isinstance(found.mean, np.ndarray) and found.scatter.shape == (7, 40, 40)
        seen = (rows - plan.center) / plan.scale
        for index in (0, 1, 3, 6):
            features = gaussian(seen, plan.points, lengthscales[index])
            check((found.count, found.mean[index], found.scatter[index]), features)
    assert sum(ticks) == 1310 and len(ticks) > 4


def test_moments_of_pairs(to, samples, plan):
    x, y = samples[0][:610], samples[1]
    ticks = []
    found = device.pair_moments(
        plan.features, to(x), to(y), plan.lengthscales[::9], tick=ticks.append, halves=False
    ).differences
    seen = [(rows - plan.center) / plan.scale for rows in (x, y)]
    for index, lengthscale in enumerate(plan.lengthscales[::9]):
        first, second = (gaussian(rows, plan.points, lengthscale) for rows in seen)
        check((found.count, found.mean[index], found.scatter[index]), first - second)
    assert sum(ticks) == 1220


@pytest.mark.parametrize(("part", "paired"), [(0, False), (1, True), (2, False), (2, True)])
def test_moments_of_stacks_of_tests(to, samples, plan, part, paired):
    x, y = samples[0][:610], samples[1]
    features = plan.features_of(part)
    found = device.stack_moments(features, to(x), to(y), paired=paired)
    assert [moments is None for moments in found] == [paired, paired, not paired]
    m = len(features.multiples)
    for test in range(len(features.points)):
        scores = [plan.ranks.apply(rows)[:, features.columns[test]] for rows in (x, y)]
        for multiple in (0, m - 1):
            lengthscale = features.typical[test] * features.multiples[multiple]
            first, second = (gaussian(rows, features.points[test], lengthscale) for rows in scores)
            for moments, expected in zip(found, (first, second, first - second), strict=True):
                if moments is not None:
                    place = test * m + multiple
                    check((moments.count, moments.mean[place], moments.scatter[place]), expected)


def test_moments_of_columns(to, samples, plan):
    x, y = samples[0][:610], samples[1]
    scores, levels = ([of(rows) for rows in (x, y)] for of in (plan.ranks.apply, plan.ranks.shares))
    for found, expected in (
        (device.column_moments(plan.ranks, to(x)), (scores[0], levels[0])),
        (device.column_moments(plan.ranks, to(x), to(y)), (scores[0] - scores[1], levels[0] - levels[1])),
    ):
        assert found.count == 610 and found.mean.shape == (2, 3, 1)
        for kind, values in enumerate(expected):
            np.testing.assert_allclose(found.mean[kind, :, 0], values.mean(axis=0), rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(found.scatter[kind, :, 0, 0], values.var(axis=0) * 610, rtol=1e-11)


def test_scores_beyond_and_between_knots_are_those_of_numpy(to):
    knots = np.array([[0.0], [1.0], [1.0], [4.0], [4.0]])
    values = np.array([[-2.0], [0.5], [0.5], [3.0], [3.0]])
    rows = np.array([[-1e300], [-1.0], [0.0], [0.25], [1.0], [2.0], [4.0], [5.0], [1e300]])
    with doubles(to(rows)):
        found = to_numpy(device._interpolated(knots, values, to(rows)))
    np.testing.assert_allclose(found[:, 0], np.interp(rows[:, 0], knots[:, 0], values[:, 0]), rtol=1e-15)


def test_large_lengthscales_keep_the_digits_of_small_variances(to, samples):
    """Features are within 1e-7 of 1: without a center their variances would have two digits."""
    rows, points = samples[0], samples[1][:5]
    view = ts.plan(*samples).view
    features = PointFeatures(RBF(), view, view.apply(points), 1.0)
    (found,) = device.sample_moments(features, (to(rows),), np.array([1e4]))
    seen, points = view.apply(rows), view.apply(points)
    exact = -np.expm1(-np.square(seen[:, None] - points).sum(axis=-1) / 2e8)  # 1 - φ, to all digits
    expected = np.cov(exact.T, bias=True) * len(rows)
    assert np.abs(found.scatter[0] - expected).max() < 1e-6 * np.trace(expected)


def test_many_columns_and_kernels_that_are_no_squares(to):
    class Cauchy(Kernel):
        name = "cauchy on a device"

        def value(self, distances, lengthscale, out=None):
            return 1.0 / (1.0 + distances / lengthscale**2)

    rng = np.random.default_rng(1)
    rows, points = rng.normal(size=(500, 40)), rng.normal(size=(6, 40))
    from twosample.data import View

    features = PointFeatures(Cauchy(), View.none(40), points, 1.0)
    (found,) = device.sample_moments(features, (to(rows),), np.array([3.0, 9.0]))
    distances = np.square(rows[:, None] - points).sum(axis=-1)
    for index, lengthscale in enumerate((3.0, 9.0)):
        values = 1.0 / (1.0 + distances / lengthscale**2)
        check((found.count, found.mean[index], found.scatter[index]), values)


def test_plans_saved_with_a_precision_are_read(samples):
    plan = ts.plan(*samples)
    again = ts.Plan.from_json(json.dumps({**plan.to_dict(), "precision": "mixed"}))
    assert again.key == plan.key  # statistics of both can be added


def test_no_rows(to, plan):
    none = to(np.empty((0, 3)))
    (found,) = device.sample_moments(plan.features, (none,), plan.lengthscales)
    (expected,) = local.sample_moments(plan.features, (np.empty((0, 3)),), plan.lengthscales)
    assert (
        found.count == 0 and found.mean.shape == expected.mean.shape and found.scatter.shape == expected.scatter.shape
    )


def test_float32_rows_become_float64():
    for to in LIBRARIES.values():
        rows = to(np.array([[0.5], [1.0]], dtype=np.float32))
        with doubles(rows):
            assert to_numpy(float64(rows)).dtype == np.float64


@pytest.mark.parametrize("name", ["cuda", "torch:", "numpy", "dusk", ""])
def test_unknown_engines_are_refused(name):
    with pytest.raises(ts.errors.InputError, match=r"^engine: .* is unknown; use 'auto'"):
        libraries.mover(name)


def test_missing_libraries_and_devices_are_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(ts.errors.InputError, match="engine: 'cupy' needs cupy, which is not installed here"):
        libraries.mover("cupy")
    with pytest.raises(ts.errors.InputError, match="engine: 'jax:nowhere' is not there: "):
        libraries.mover("jax:nowhere")
