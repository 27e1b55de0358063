import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample import models
from twosample.data import Ranks, View
from twosample.data.sketch import Sketch
from twosample.errors import InputError, InputTypeError
from twosample.features.jacobian import Jacobians
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference import evidence
from twosample.inference.evidence import Difference
from twosample.kernels import RBF
from twosample.places import local
from twosample.places.local import Volumes, column_moments, pair_moments, sample_moments, stack_moments


def log_volumes(x, y, points, lengthscale):
    """Log vol J_i of each pair of rows at one lengthscale, (n,)."""
    jacobians = Jacobians(x, y, points, RBF())
    return jacobians.log_volumes(lengthscale, jacobians.values(lengthscale))


LENGTHSCALES = np.array([2.0, np.sqrt(2.0), 0.9, 0.3])


def data(seed, n_x, n_y, n_columns=2, s=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y, n_columns)), rng.normal(size=(s, n_columns))


def features_at(points):
    return PointFeatures(RBF(), View.none(points.shape[1]), points, typical=1.0)


def of_samples(x, y, points, lengthscales=LENGTHSCALES, plan=""):
    return FeatureStatistics(lengthscales, *sample_moments(features_at(points), (x, y), lengthscales), plan=plan)


def of_pairs(x, y, points, lengthscales=LENGTHSCALES):
    found = pair_moments(features_at(points), x, y, lengthscales, Volumes(np.ones(len(x), bool)))
    return FeatureStatistics(lengthscales, found.x, found.y, found.differences, found.log_volume)


def kernel(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def test_moments_equal_brute_force():
    x, y, points = data(0, 40, 31)
    of_x, of_y = sample_moments(features_at(points), (x, y), LENGTHSCALES)
    pairs = pair_moments(features_at(points), x[:31], y, LENGTHSCALES)
    delta = Difference.of_samples(of_x, of_y).delta
    for index, lengthscale in enumerate(LENGTHSCALES):
        feature_x, feature_y = kernel(x, points, lengthscale), kernel(y, points, lengthscale)
        difference = feature_x[:31] - feature_y
        for moments, values in (
            (of_x, feature_x),
            (of_y, feature_y),
            (pairs.x, feature_x[:31]),
            (pairs.y, feature_y),
            (pairs.differences, difference),
        ):
            assert moments.count == len(values)
            np.testing.assert_allclose(moments.mean[index], values.mean(axis=0), rtol=1e-12, atol=1e-15)
            scatter = len(values) * np.cov(values.T, bias=True)
            np.testing.assert_allclose(moments.scatter[index], scatter, rtol=1e-9, atol=1e-13)
            np.testing.assert_allclose(moments.covariance[index], scatter / len(values), rtol=1e-9, atol=1e-15)
            np.testing.assert_allclose(moments.second_moment[index], values.T @ values, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(delta[index], feature_x.mean(0) - feature_y.mean(0), rtol=1e-10, atol=1e-14)


def test_difference_scatter_is_method_2():
    """The scatter of φ(x_i) - φ(y_i) is C_xx + C_yy - C_xy - C_xyᵀ."""
    x, y, points = data(1, 25, 25)
    pairs = pair_moments(features_at(points), x, y, LENGTHSCALES[:1]).differences
    a, b = kernel(x, points, LENGTHSCALES[0]), kernel(y, points, LENGTHSCALES[0])
    a, b = a - a.mean(0), b - b.mean(0)
    np.testing.assert_allclose(pairs.scatter[0], a.T @ a + b.T @ b - a.T @ b - b.T @ a, atol=1e-13)


def test_log_volume_is_the_sum_over_the_pairs_asked_for(monkeypatch):
    monkeypatch.setattr(local, "BLOCK_ROWS", 7)
    x, y, points = data(2, 20, 20)
    wanted = np.arange(20) % 3 > 0
    found = pair_moments(features_at(points), x, y, LENGTHSCALES, Volumes(wanted))
    expected = [log_volumes(x[wanted], y[wanted], points, value).sum() for value in LENGTHSCALES]
    np.testing.assert_allclose(found.log_volume, expected, rtol=1e-12)
    bounds = pair_moments(features_at(points), x, y, LENGTHSCALES, Volumes(wanted, bounds=True)).log_volume
    assert (bounds > found.log_volume).all()
    assert pair_moments(features_at(points), x, y, LENGTHSCALES).log_volume.tolist() == [0.0] * 4


@pytest.mark.parametrize("rows", [1, 3, 10**6])
def test_block_size_does_not_matter(monkeypatch, rows):
    x, y, points = data(3, 50, 37)
    whole = sample_moments(features_at(points), (x, y), LENGTHSCALES)
    monkeypatch.setattr(local, "BLOCK_ROWS", rows)
    blocked = sample_moments(features_at(points), (x, y), LENGTHSCALES)
    for first, second in zip(whole, blocked, strict=True):
        np.testing.assert_allclose(second.scatter, first.scatter, rtol=1e-11, atol=1e-14)


def test_parts_in_threads_give_the_same(monkeypatch):
    x, y, points = data(7, 400, 333)
    volumes = Volumes(np.arange(333) % 5 > 0)

    def moments(tick=None):
        of_x, of_y = sample_moments(features_at(points), (x, y), LENGTHSCALES, tick)
        return of_x, of_y, pair_moments(features_at(points), x[:333], y, LENGTHSCALES, volumes, tick)

    whole = moments()
    monkeypatch.setattr(local, "BLOCK_ROWS", 4)
    assert len(local._parts(333)) > 1
    assert local._parts(333)[0][0] == 0
    assert local._parts(333)[-1][1] == 333
    done = []
    parts = moments(done.append)
    for first, second in zip(
        (*whole[:2], whole[2].x, whole[2].y, whole[2].differences),
        (*parts[:2], parts[2].x, parts[2].y, parts[2].differences),
        strict=True,
    ):
        assert first.count == second.count
        np.testing.assert_allclose(second.mean, first.mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(second.scatter, first.scatter, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(parts[2].log_volume, whole[2].log_volume, rtol=1e-12)
    assert sum(done) == 400 + 333 + 2 * 333


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_chunks_merge_in_any_order_to_the_same_evidence(draw):
    x, y, points = data(draw.draw(st.integers(0, 10**6)), 60, 60)
    cuts = sorted(draw.draw(st.lists(st.integers(0, 60), max_size=5)))
    bounds = list(itertools.pairwise([0, *cuts, 60]))
    parts = [of_pairs(x[a:b], y[a:b], points) for a, b in draw.draw(st.permutations(bounds))]
    whole = of_pairs(x, y, points)
    merged = parts[0].merge(*parts[1:])
    for name in models.PRESETS:
        expected = evidence.evaluate(whole, features_at(points), models.resolve(name))
        found = evidence.evaluate(merged, features_at(points), models.resolve(name))
        np.testing.assert_allclose(found.log_bf10, expected.log_bf10, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.log_h1, expected.log_h1, rtol=1e-10, atol=1e-10)


def test_merging_is_accurate_where_raw_moments_cancel():
    """Features that are all nearly one: the scatter is 1e-12 of the raw second moment."""
    rng = np.random.default_rng(4)
    x = 1e-3 * rng.normal(size=(1000, 1))
    points = np.array([[0.5], [-0.3]])
    parts = [of_samples(c, c, points, np.array([10.0])) for c in np.array_split(x, 7)]
    values = kernel(x, points, 10.0)
    values = values - values.mean(axis=0)
    np.testing.assert_allclose(parts[0].merge(*parts[1:]).x.scatter[0], values.T @ values, rtol=1e-8)


def test_empty_is_neutral():
    x, y, points = data(5, 8, 9)
    found, empty = sample_moments(features_at(points), (x, y[:0]), LENGTHSCALES)
    assert empty.count == 0
    assert empty.merge(found) is found
    assert found.merge(empty) is found
    assert not np.isnan(empty.covariance).any()


def test_merging_other_plans_is_refused():
    x, y, points = data(6, 8, 9)
    first = of_samples(x, y, points, plan="one")
    with pytest.raises(InputError, match="belong to different plans"):
        first.merge(of_samples(x, y, points + 1, plan="another"))
    with pytest.raises(InputError, match="belong to different plans"):
        first.merge(of_samples(x, y, points, 2 * LENGTHSCALES, plan="one"))
    pairs = of_pairs(x, y[:8], points)
    for other in (pairs, replace(pairs, log_volume=None), replace(pairs, x=None, y=None, log_volume=None)):
        with pytest.raises(InputError, match=r"one of the statistics has (x|differences|log_volume) and the other"):
            replace(first, plan="").merge(other)


def test_lengthscales_of_two_passes_are_joined_in_order():
    x, y, points = data(8, 12, 12)
    whole = of_pairs(x, y, points)
    order = np.argsort(LENGTHSCALES)
    joined = of_pairs(x, y, points, LENGTHSCALES[[2, 0]]).with_lengthscales(
        of_pairs(x, y, points, LENGTHSCALES[[3, 1]])
    )
    np.testing.assert_array_equal(joined.lengthscales, np.sort(LENGTHSCALES))
    np.testing.assert_allclose(joined.log_volume, whole.log_volume[order], rtol=1e-12)
    for name in ("x", "y", "differences"):
        found, expected = getattr(joined, name), getattr(whole, name)
        assert found.count == expected.count
        np.testing.assert_allclose(found.mean, expected.mean[order], rtol=1e-12)
        np.testing.assert_allclose(found.scatter, expected.scatter[order], rtol=1e-11, atol=1e-14)
    with pytest.raises(InputError, match="other data"):
        whole.with_lengthscales(of_pairs(x[:5], y[:5], points, np.array([3.0])))


@pytest.mark.parametrize("alone", [False, True])
def test_saved_statistics_come_back_whole(tmp_path, alone):
    x, y, points = data(9, 12, 12)
    pairs = of_pairs(x, y, points)
    if alone:
        pairs = replace(pairs, x=None, y=None, log_volume=None)
    saved = replace(pairs, plan="key", notes=("größe",), sketch_x=Sketch.of(x))
    saved.save(tmp_path / "part.npz")
    found = FeatureStatistics.load(tmp_path / "part.npz")
    assert (found.plan, found.notes, found.n_x, found.n_y) == ("key", ("größe",), 12, 12)
    np.testing.assert_array_equal(found.lengthscales, LENGTHSCALES)
    for name in ("x", "y", "differences"):
        before, after = getattr(saved, name), getattr(found, name)
        assert (before is None) == (after is None)
        if before is not None:
            assert before.count == after.count
            np.testing.assert_array_equal(after.mean, before.mean)
            np.testing.assert_array_equal(after.scatter, before.scatter)
    if alone:
        assert found.log_volume is None
    else:
        np.testing.assert_array_equal(found.log_volume, saved.log_volume)
    for name in ("sketch_x", "sketch_y"):
        np.testing.assert_array_equal(getattr(found, name).rows, getattr(saved, name).rows)
        np.testing.assert_array_equal(getattr(found, name).priorities, getattr(saved, name).priorities)
    assert found.merge(saved).n_x == 24


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 but not a zip file", b"x,y\n1,2\n"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "part.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"^path: .*part\.npz' does not hold statistics"):
        FeatureStatistics.load(path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(InputError, match="does not hold statistics"):
        FeatureStatistics.load(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(InputError, match="does not hold statistics"):
        FeatureStatistics.load(path)
    with pytest.raises(FileNotFoundError):
        FeatureStatistics.load(tmp_path / "none.npz")


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(1, 12))
def test_moments_of_rows_and_of_their_parts(seed, first, second):
    rows = np.random.default_rng(seed).normal(size=(first + second, 3))
    parts = [Moments.of(rows[first:])]
    if first:
        parts.append(Moments.of(rows[:first]))
    for found in (Moments.of(rows), parts[0].merge(parts[-1]) if first else parts[0]):
        assert found.count == len(rows)
        np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.scatter, len(rows) * np.cov(rows.T, bias=True), rtol=1e-10, atol=1e-12)


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    x, y, points = data(10, 9, 9)
    path = tmp_path / "part.npz"
    of_samples(x, y, points).save(path)
    content = path.read_bytes()
    for size in (len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match="does not hold statistics"):
            FeatureStatistics.load(path)


# ---- stacks of tests, and single columns


COLUMNS = {1: [[0], [2], [3]], 2: [[0, 2], [1, 3]], 3: [[0, 1, 3], [1, 2, 3]]}
MULTIPLES = 2.0 ** (np.arange(7) / 2) / 4


def stack(size, n_x, n_y):
    rng = np.random.default_rng([size, n_x, n_y])
    x, y = rng.normal(size=(n_x, 4)), rng.exponential(size=(n_y, 4))
    columns = np.array(COLUMNS[size])
    points, typical = rng.normal(size=(len(columns), 5, size)), rng.uniform(0.5, 2.0, len(columns))
    return x, y, StackFeatures(RBF(), Ranks.of(x, y), columns, points, typical, MULTIPLES)


def one_by_one(features, x, y, paired):
    """The moments of each test by itself, one after the other: of x, of y, and of the differences of pairs."""
    found = []
    for test, columns in enumerate(features.columns):
        alone, lengthscales = features.alone(test), features.typical[test] * MULTIPLES
        rows = x[:, columns], y[:, columns]
        if paired:
            found.append([pair_moments(alone, *rows, lengthscales, halves=False).differences])
        else:
            found.append(sample_moments(alone, rows, lengthscales))
    return [
        (of_tests[0].count, *(np.concatenate([getattr(one, name) for one in of_tests]) for name in ("mean", "scatter")))
        for of_tests in zip(*found, strict=True)
    ]


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("block", [1, 7, 2048])
@pytest.mark.parametrize("size", COLUMNS)
def test_moments_of_a_stack_are_those_of_its_tests(monkeypatch, size, block, paired):
    x, y, features = stack(size, 40, 40 if paired else 23)
    expected = one_by_one(features, x, y, paired)
    monkeypatch.setattr(local, "BLOCK_ROWS", block)
    # As many tests at a time as they are, and one.
    for values in (1 << 17, 1):
        monkeypatch.setattr(local, "_STACK_VALUES", values)
        of_x, of_y, differences = stack_moments(features, x, y, paired=paired)
        assert [of_x is None, of_y is None, differences is None] == [paired, paired, not paired]
        for moments, (count, mean, scatter) in zip([differences] if paired else [of_x, of_y], expected, strict=True):
            assert moments.count == count
            np.testing.assert_allclose(moments.mean, mean, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(moments.scatter, scatter, rtol=1e-10, atol=1e-13)


def test_moments_of_a_stack_without_rows():
    x, y, features = stack(2, 20, 10)
    empty, of_y, _ = stack_moments(features, x[:0], y)
    assert (empty.count, of_y.count) == (0, 10)
    assert empty.mean.shape == of_y.mean.shape and empty.scatter.shape == of_y.scatter.shape
    assert stack_moments(features, x[:0], y[:0], paired=True)[2].count == 0


@pytest.mark.parametrize("block", [1, 7, 2048])
def test_moments_of_columns(monkeypatch, block):
    """Means and sums of squares of scores and of levels, each column by itself."""
    x, _, features = stack(1, 50, 30)
    ranks = features.view
    monkeypatch.setattr(local, "BLOCK_ROWS", block)
    found = column_moments(ranks, x)
    assert (found.count, found.mean.shape, found.scatter.shape) == (50, (2, 4, 1), (2, 4, 1, 1))
    for kind, values in enumerate((ranks.apply(x), ranks.shares(x))):
        np.testing.assert_allclose(found.mean[kind, :, 0], values.mean(axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.scatter[kind, :, 0, 0], 50 * values.var(axis=0), rtol=1e-11)
    parts = [column_moments(ranks, part) for part in (x[:0], x[:17], x[17:18], x[18:])]
    merged = parts[2].merge(parts[0]).merge(parts[3]).merge(parts[1])
    np.testing.assert_allclose(merged.mean, found.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(merged.scatter, found.scatter, rtol=1e-11)


@pytest.mark.parametrize("paired", [False, True])
def test_statistics_of_some_tests_of_a_stack(paired):
    x, y, features = stack(1, 12, 12)
    whole = FeatureStatistics(features.lengthscales, *stack_moments(features, x, y, paired=paired), plan="key")
    for tests in (slice(0, 1), slice(1, 3), slice(2, 99)):
        found = whole.select(tests, 3)
        chosen = features.select(tests)
        expected = stack_moments(chosen, x, y, paired=paired)
        np.testing.assert_array_equal(found.lengthscales, chosen.lengthscales)
        assert found.plan == "key"
        for one, other in zip((found.x, found.y, found.differences), expected, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one.mean, other.mean, rtol=1e-13)
                np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-11, atol=1e-14)


def test_saved_stacks_and_columns_come_back_whole(tmp_path):
    x, y, features = stack(2, 12, 9)
    part = FeatureStatistics(features.lengthscales, *stack_moments(features, x, y), plan="key")
    columns = [column_moments(features.view, rows) for rows in (x, y)]
    saved = replace(part, columns_x=columns[0], columns_y=columns[1], parts=(part, part.select(slice(0, 1), 2)))
    saved.save(tmp_path / "part.npz")
    found = FeatureStatistics.load(tmp_path / "part.npz")
    assert len(found.parts) == 2
    for before, after in zip((saved, *saved.parts), (found, *found.parts), strict=True):
        np.testing.assert_array_equal(after.lengthscales, before.lengthscales)
        assert after.plan == "key"
        for name in ("x", "y", "columns_x", "columns_y"):
            one, other = getattr(before, name), getattr(after, name)
            assert (one is None) == (other is None)
            if one is not None:
                assert one.count == other.count
                np.testing.assert_array_equal(other.mean, one.mean)
                np.testing.assert_array_equal(other.scatter, one.scatter)
    # Of a file and of the memory.
    merged = saved.merge(found)
    assert [one.n_x for one in (merged, *merged.parts)] == [24] * 3
    assert merged.columns_y.count == 18


def test_bytes_are_those_of_a_file(tmp_path):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 50, 2))
    plan = ts.plan(x, y)
    statistics = plan.statistics(x, y)
    (tmp_path / "sent.npz").write_bytes(statistics.to_bytes())
    assert FeatureStatistics.load(tmp_path / "sent.npz") == statistics
    assert FeatureStatistics.from_bytes(statistics.to_bytes()) == statistics
    with pytest.raises(InputError, match="content: these bytes do not hold statistics of twosample"):
        FeatureStatistics.from_bytes(b"something else")
    with pytest.raises(InputTypeError, match="content: expected bytes, got str"):
        FeatureStatistics.from_bytes("text")
