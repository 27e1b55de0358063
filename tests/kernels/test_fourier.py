"""Random Fourier features: their frequencies, the kernel they make, and the test with it as m grows."""

import html
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import twosample as ts
from twosample.errors import InputError
from twosample.kernels import RBF, Fourier, Kernel, Laplace, Matern, RationalQuadratic
from twosample.models import PRESETS

KERNELS = [RBF(), Laplace(), Matern(0.5), Matern(1.5), Matern(2.5), RationalQuadratic(0.7), RBF() * Laplace(),
           RBF() + Laplace() * RBF()]  # fmt: skip


def named(kernel):
    return kernel.label


def samples(n=60, shift=1.0, n_columns=2):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, n, n_columns))
    y[:, 0] += shift
    return x, y


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
@pytest.mark.parametrize("n_columns", [1, 3])
def test_frequencies_have_the_kernel_as_their_mean(kernel, n_columns):
    """The mean of cosines over 200,000 frequencies has a standard deviation of at most 0.0016."""
    rng = np.random.default_rng(2)
    differences = rng.normal(size=(6, n_columns))
    drawn = kernel.frequencies(200_000, n_columns, np.random.default_rng(3))
    assert drawn.shape == (200_000, n_columns)
    origin = np.zeros((1, n_columns))
    expected = kernel.value(kernel.distances(differences, origin), 1.0)[:, 0]
    np.testing.assert_allclose(np.cos(drawn @ differences.T).mean(axis=0), expected, atol=0.008)


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=named)
def test_the_kernel_is_the_product_of_features(kernel):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(9, 2)), rng.normal(size=(5, 2))
    fourier = Fourier(40, kernel, seed=5)

    def features(rows, lengthscale):
        angles = rows @ fourier.drawn(2).T / lengthscale
        return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(20)

    for lengthscale in (0.2, 3.0):
        found = fourier.value(fourier.distances(a, b), lengthscale)
        np.testing.assert_allclose(found, features(a, lengthscale) @ features(b, lengthscale).T, atol=1e-13)
    several = fourier.value(fourier.distances(b, b), np.array([0.2, 3.0])[:, None, None])
    np.testing.assert_allclose(several[1], features(b, 3.0) @ features(b, 3.0).T, atol=1e-13)
    np.testing.assert_allclose(several.diagonal(axis1=1, axis2=2), 1.0, rtol=1e-12)


@settings(max_examples=20, deadline=None)
@given(kernel=st.sampled_from(KERNELS), m=st.sampled_from([2, 10, 60]), lengthscale=st.floats(0.01, 50))
def test_it_is_positive_definite(kernel, m, lengthscale):
    points = np.random.default_rng(6).normal(size=(12, 3))
    fourier = Fourier(m, kernel)
    K = fourier.value(fourier.distances(points, points), lengthscale)
    assert np.linalg.eigvalsh(K).min() > -1e-12 * len(K)


def test_far_rows_give_numbers():
    rows = np.array([[1e300, -1e300], [1e308, 1e308], [0.0, 0.0]])
    fourier = Fourier(50, "laplace")
    for lengthscale in (1e-150, 1.0, 1e150):
        values = fourier.value(fourier.distances(rows, rows[1:]), lengthscale)
        assert (np.abs(values) <= 1 + 1e-9).all()


def test_the_prior_of_the_weights():
    """The prior covariance of the witness at the points is Φ times that of the weights, Φ(Z)ᵀHΦ(Z)/s, times Φᵀ."""
    from twosample.inference import prior

    x, y = samples()
    fourier = Fourier(30, seed=7)
    plan = ts.plan(x, y, kernel=fourier, points=12)
    lengthscale = plan.lengthscales[20]
    angles = plan.points @ fourier.drawn(2).T / lengthscale
    features = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(15)
    s = len(features)
    weights = features.T @ (np.eye(s) - 1 / s) @ features / s
    found = prior.covariances(PRESETS["adaptive"], plan.features, np.array([lengthscale]))[0]
    np.testing.assert_allclose(found, features @ weights @ features.T, atol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=named)
def test_the_answer_comes_near_that_at_points_as_m_grows(kernel):
    x, y = samples()
    lengthscales = [0.7, 1.5, 4.0]
    expected = ts.log_bf10(x, y, lengthscales, kernel=kernel)

    def error(m):
        by_seed = [Fourier(m, kernel, seed) for seed in range(8)]
        found = [ts.log_bf10(x, y, lengthscales, kernel=one) for one in by_seed]
        return np.sqrt(np.mean((np.array(found) - expected) ** 2))

    errors = [error(m) for m in (20, 200, 2000)]
    assert errors[0] > 1.5 * errors[1] > 2 * errors[2]
    assert errors[2] < 0.25


def test_the_answer_follows_from_the_seed():
    x, y = samples()
    first = ts.test(x, y, kernel=Fourier(20))
    assert ts.test(x, y, kernel=Fourier(20), rng=1).log_bf10 == first.log_bf10
    assert ts.test(y, x, kernel=Fourier(20)).log_bf10 == pytest.approx(first.log_bf10, abs=1e-8)
    assert ts.test(x[::-1], y, kernel=Fourier(20)).log_bf10 == pytest.approx(first.log_bf10, abs=1e-8)
    assert ts.test(x, y, kernel=Fourier(20, seed=1)).log_bf10 != first.log_bf10
    assert first.kernel == "fourier(m=20, kernel='rbf', seed=0)"
    assert ts.test(x, y, kernel=first.kernel).log_bf10 == first.log_bf10
    assert first.by_subset is None


def test_all_else_works_too(tmp_path):
    x, y = samples()
    result = ts.test(x, y, kernel=Fourier(40), permutations=19, rope=0.55, keep_rows=True)
    assert result.pvalue == 0.05
    assert result.effect.auc.mean > 0.6
    restored = ts.TwoSampleResult.from_json(result.to_json())
    np.testing.assert_array_equal(restored.witness(x).mean, result.witness(x).mean)
    assert result.witness([[-1.0, 0.0]]).mean > 0 > result.witness([[1.5, 0.0]]).mean
    assert result.plot().axes
    page = restored.report(tmp_path / "a.html").read_text()
    assert result.kernel in html.unescape(page)
    several = [Fourier(40), Fourier(40, RBF() * RBF())]
    average = ts.test(x, y, kernel=several, lengthscale=1.0)
    assert {row.name for row in average.kernels} == {one.label for one in several}
    assert ts.test(x, y, kernel=Fourier(40), paired=True, lengthscale=1.0).log_bf10 > 1


def test_other_questions_take_it():
    x, y = samples()
    z = y + np.array([2.0, 0.0])
    found = ts.ksample({"a": x, "b": x[::-1] + 0.01, "c": z}, kernel=Fourier(100))
    assert found.partitions[0].groups == (("a", "b"), ("c",))
    normal = "norm(0, 1)"
    assert ts.goodness(x[:, 0], normal, kernel=Fourier(100)).prob_h1 < 0.5
    assert ts.goodness(z[:, 0], normal, kernel=Fourier(100)).prob_h1 > 0.99


def test_frequencies_are_drawn_for_the_columns_of_the_data():
    """Also where a column of text has more than one coordinate."""
    x, y = samples()
    frames = [
        {"a": rows[:, 0], "city": np.where(rows[:, 1] > shift, "Graz", "Wien")} for rows, shift in ((x, 0), (y, 1))
    ]
    result = ts.test(*map(pl.DataFrame, frames), kernel=Fourier(100))
    assert result.columns == ("a", "city") and result.prob_h1 > 0.99


def test_plans_merge_and_go_through_files():
    x, y = samples()
    kernel = Fourier(60, seed=9)
    assert Kernel.from_plain(json.loads(json.dumps(kernel.to_plain()))) == kernel
    plan = ts.Plan.from_json(ts.plan(x, y, kernel=kernel).to_json())
    assert plan.kernel == kernel
    merged = plan.statistics(x[:20], y[:50]).merge(plan.statistics(x[20:], y[50:]))
    assert plan.test(merged).log_bf10 == pytest.approx(ts.test(x, y, kernel=kernel).log_bf10, abs=1e-8)
    blocks = ts.test(ts.blocks(lambda: iter(np.split(x, 3))), ts.blocks(lambda: iter(np.split(y, 3))), kernel=kernel)
    assert blocks.log_bf10 == pytest.approx(ts.test(x, y, kernel=kernel).log_bf10, abs=1e-8)


def test_lengthscales_are_relative_to_the_distances_of_the_kernel():
    x, y = samples(n_columns=6)
    plan = ts.plan(x, y, kernel=Fourier(20, Laplace()), scale="raw")
    pooled = np.concatenate([x, y])
    expected = np.median(cdist(pooled, pooled, "cityblock")[np.tri(120, k=-1, dtype=bool)]) / np.sqrt(2)
    assert plan.typical == pytest.approx(expected, rel=1e-12)


def test_what_is_refused():
    x, y = samples(20)
    with pytest.raises(InputError, match=r"^features: 'fourier' is unknown; pass a function of a list of objects"):
        ts.test(x, y, features="fourier")
    with pytest.raises(InputError, match=r"^m: features come in pairs, and 7 is odd; use 8"):
        Fourier(7)
    with pytest.raises(InputError, match=r"^m: "):
        Fourier(0)
    with pytest.raises(InputError, match=r"^seed: "):
        Fourier(2, seed=-1)
    with pytest.raises(InputError, match="with random features all columns are tested together; use subsets='auto'"):
        ts.test(x, y, kernel=Fourier(20), subsets="all")
    with pytest.raises(InputError, match="with random features all columns are tested together; use subsets='auto'"):
        ts.ksample([x, y], kernel=Fourier(20), subsets="all")
    with pytest.raises(InputError, match="has no closed form of what the models of the paper need"):
        ts.test(x, y, kernel=Fourier(20), model="paper")
    with pytest.raises(InputError, match="random features are for rows in the memory"):
        ts.test(x, y, kernel=Fourier(20), engine="jax")
    with pytest.raises(InputError, match="has no spectral density that random features could be drawn from"):
        Fourier(kernel=_Own())


class _Own(RBF):
    name = "own kernel of test_fourier"

    def frequencies(self, count, n_columns, generator):
        return Kernel.frequencies(self, count, n_columns, generator)
