"""Views: the pooled center and robust scale, and normal scores, against formulas, at any magnitude."""

import math
import warnings
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

from twosample.data import Ranks, Samples, View
from twosample.errors import InputError, InputTypeError

# The scale is at least that of the interquartile range over this.
BOUND = 5

X = np.array([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
Y = np.array([[3.0, 40.0], [5.0, 10.0]])


def test_a_view_and_back():
    rng = np.random.default_rng(5)
    view = View(rng.normal(size=3), rng.gamma(2.0, size=3))
    rows = rng.normal(size=(7, 3))
    np.testing.assert_allclose(view.apply(rows), (rows - view.center) / view.scale, rtol=1e-15)
    np.testing.assert_allclose(view.undo(view.apply(rows)), rows, rtol=1e-12)
    assert view.apply(rows) is not rows


def test_unit_is_the_scale_of_the_only_column():
    assert View(np.zeros(1), np.array([2.5])).unit == 2.5
    assert View(np.zeros(2), np.array([2.5, 3.0])).unit == 1.0


def quarter_of_distances(values):
    """The distance within which a quarter of all pairs lie, over that of a standard normal column."""
    distances = sorted(abs(a - b) for a, b in combinations(np.ravel(values).tolist(), 2))
    return distances[math.ceil(len(distances) / 4) - 1] / (math.sqrt(2.0) * NormalDist().inv_cdf(0.625))


def interquartile_range(values):
    first, third = np.quantile(values, [0.25, 0.75])
    return (third - first) / (2.0 * NormalDist().inv_cdf(0.75))


def test_robust_scale_is_the_pooled_distance_of_a_quarter_of_the_pairs():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(31, 3)), rng.gamma(2.0, size=(20, 3))
    samples = Samples.from_data(x, y)
    pooled = np.vstack([x, y])
    median = np.median(pooled, axis=0)
    np.testing.assert_allclose(samples.view.center, median, rtol=1e-15)
    np.testing.assert_allclose(samples.view.scale, [quarter_of_distances(column) for column in pooled.T], rtol=1e-3)
    np.testing.assert_allclose(samples.view.apply(x), (x - median) / samples.view.scale, rtol=1e-12, atol=1e-15)


def test_robust_scale_of_many_rows():
    x, y = np.random.default_rng(2).normal(size=(2, 800, 1))
    np.testing.assert_allclose(Samples.from_data(x, y).view.scale, quarter_of_distances([x, y]), rtol=0.03)


def test_robust_scale_of_clusters_is_not_the_distance_between_them():
    rng = np.random.default_rng(3)
    near, far = (rng.normal(size=300) + distance * rng.integers(0, 2, 300) for distance in (10, 1000))
    scale = Samples.from_data(near[:100], near[100:]).view.scale
    assert 1.5 < scale < 2.7
    np.testing.assert_allclose(
        Samples.from_data(far[:100], far[100:]).view.scale, interquartile_range(far) / BOUND, rtol=1e-3
    )


def test_a_spike_does_not_set_the_scale():
    rng = np.random.default_rng(4)
    values = np.where(rng.random(200) < 0.6, 1e-6 * rng.normal(size=200), rng.exponential(size=200))
    np.testing.assert_allclose(
        Samples.from_data(values[:90], values[90:]).view.scale, interquartile_range(values) / BOUND, rtol=1e-3
    )


@pytest.mark.parametrize("values", [[0.0, 1.0] * 20, [0.0] * 22 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 3])
def test_interquartile_range_where_a_quarter_of_the_pairs_are_equal(values):
    np.testing.assert_allclose(
        Samples.from_data(values[:25], values[25:]).view.scale, interquartile_range(values), rtol=1e-3
    )


def test_standard_deviation_where_the_interquartile_range_is_zero():
    x, y = [0.0] * 9 + [3.0], [0.0] * 9 + [-7.0]
    samples = Samples.from_data(x, y)
    np.testing.assert_allclose(samples.view.scale, np.std(x + y), rtol=1e-15)


def test_raw_scale():
    assert_array_equal(Samples.from_data(X, Y, scale="raw").view.scale, [1.0, 1.0])


def test_given_scale():
    assert_array_equal(Samples.from_data(X, Y, scale=[2, 3]).view.scale, [2.0, 3.0])


@pytest.mark.parametrize(
    "scale",
    ["robusto", [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], 1.0, [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]],
)
def test_invalid_scale(scale):
    with pytest.raises(InputError, match=r"^scale must be"):
        Samples.from_data(X, Y, scale=scale)


def test_non_numeric_scale():
    with pytest.raises(InputTypeError, match="of scale holds text"):
        Samples.from_data(X, Y, scale=["a", "b"])


@pytest.mark.parametrize("magnitude", [1e-320, 1e-300, 1.0, 1e300, 1e307])
@pytest.mark.parametrize(
    "values",
    [
        [-3.0, -1.0, 1.0, 4.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0],
        [-4.0, 4.0],
        [-4.4, 0.0, 4.4],
        [-4.4, -1.1, 1.1, 4.4],
    ],
)
def test_any_magnitude_gives_positive_finite_scale(magnitude, values):
    x = np.array(values) * magnitude
    samples = Samples.from_data(x, x)
    assert (
        np.isfinite(samples.view.center).all()
        and np.isfinite(samples.view.scale).all()
        and (samples.view.scale > 0).all()
    )
    assert (np.abs(samples.view.apply(samples.x)) <= 8).all()


def test_squares_stay_finite_when_one_column_spans_all_magnitudes():
    x = np.array([1e-300, 2e-300, 3e-300, 4e-300, 1e300])
    standardized = Samples.from_data(x, x[:4]).view.apply(x[:, np.newaxis])
    assert np.isfinite(standardized**2).all()


finite = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)
two_samples = st.tuples(st.integers(2, 12), st.integers(2, 12), st.integers(1, 3)).flatmap(
    lambda sizes: st.tuples(
        arrays(np.float64, (sizes[0], sizes[2]), elements=finite),
        arrays(np.float64, (sizes[1], sizes[2]), elements=finite),
    )
)


def from_any(x, y):
    """Validate, without warnings; None where the samples are two different constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Samples.from_data(x, y)
        except InputError:
            return None


@given(two_samples, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(pair, random):
    x, y = pair
    shuffled = from_any(*(rows[random.sample(range(len(rows)), len(rows))] for rows in (x, y)))
    samples = from_any(x, y)
    if samples is None:
        assert shuffled is None
    else:
        assert_array_equal(shuffled.view.center, samples.view.center)
        assert_array_equal(shuffled.view.scale, samples.view.scale)
        assert (shuffled.columns, shuffled.column_notes) == (samples.columns, samples.column_notes)


@given(two_samples)
def test_swapping_the_samples_changes_nothing_pooled(pair):
    samples, swapped = from_any(*pair), from_any(*pair[::-1])
    if samples is None:
        assert swapped is None
    else:
        assert_array_equal(swapped.view.center, samples.view.center)
        assert_array_equal(swapped.view.scale, samples.view.scale)
        assert swapped.columns == samples.columns


# Integers keep the products above the subnormal numbers, where a power of two is no longer exact.
@given(
    st.lists(st.integers(-1000, 1000), min_size=2),
    st.lists(st.integers(-1000, 1000), min_size=2),
    st.integers(-900, 900),
)
def test_powers_of_two_scale_exactly(x, y, exponent):
    samples, scaled = from_any(x, y), from_any(np.ldexp(x, exponent), np.ldexp(y, exponent))
    if samples is not None and len(set(x + y)) > 1:
        assert_array_equal(scaled.view.scale, np.ldexp(samples.view.scale, exponent))
        assert_array_equal(scaled.view.center, np.ldexp(samples.view.center, exponent))


@given(two_samples)
def test_standardized_samples_are_finite(pair):
    samples = from_any(*pair)
    if samples is not None:
        assert np.isfinite(samples.view.apply(samples.x)).all()


# ---- normal scores


def levels_of(rows):
    """(rank - ½)/N, where equal values share the mean of their ranks."""
    return (rankdata(rows, axis=0) - 0.5) / len(rows)


@given(two_samples)
def test_scores_are_normal_quantiles_of_mean_ranks(pair):
    rows = np.concatenate(pair)
    ranks = Ranks.of(*pair)
    assert_allclose(ranks.shares(rows), levels_of(rows), rtol=1e-14)
    assert_allclose(ranks.apply(rows), norm.ppf(levels_of(rows)), rtol=1e-12, atol=1e-12)
    assert_array_equal(ranks.knots, np.sort(rows, axis=0))
    assert_allclose(ranks.scores, np.sort(norm.ppf(levels_of(rows)), axis=0), rtol=1e-12, atol=1e-12)


@given(two_samples, st.randoms(use_true_random=False))
def test_scores_know_neither_order_nor_labels(pair, random):
    rows = np.concatenate(pair)
    mixed = rows[random.sample(range(len(rows)), len(rows))]
    first = random.randrange(1, len(rows))
    ranks, again = Ranks.of(*pair), Ranks.of(mixed[:first], mixed[first:])
    assert_array_equal(again.knots, ranks.knots)
    assert_array_equal(again.levels, ranks.levels)


@pytest.mark.parametrize("decimals", [None, 2, 0])
@pytest.mark.parametrize("n", [1024, 1025, 2000, 50_001])
def test_scores_of_many_rows(n, decimals):
    """Knots are thinned: at them the levels are exact, and between two of them off by no more than they are apart."""
    rng = np.random.default_rng(n)
    rows = rng.gamma(2.0, size=(n, 2))
    rows = rows if decimals is None else np.round(rows, decimals)
    ranks = Ranks.of(rows[: n // 3], rows[n // 3 :])
    assert ranks.knots.shape == (1024, 2)
    expected, found = levels_of(rows), ranks.shares(rows)
    at_knots = np.stack([np.isin(rows[:, column], ranks.knots[:, column]) for column in range(2)], axis=1)
    assert at_knots.sum(axis=0).min() >= 1024
    assert_allclose(found[at_knots], expected[at_knots], rtol=0, atol=1e-13)
    assert_allclose(ranks.apply(rows)[at_knots], norm.ppf(expected[at_knots]), rtol=1e-9, atol=1e-9)
    if decimals is None:
        assert np.abs(found - expected).max() <= (math.ceil((n - 1) / 1023) - 1) / n + 1e-13
    for column in range(2):
        above = np.searchsorted(ranks.knots[:, column], rows[:, column])  # the first knot that is not smaller
        low, high = ranks.levels[np.maximum(above - 1, 0), column], ranks.levels[above, column]
        for levels in (found, expected):
            assert (levels[:, column] >= low - 1e-13).all() and (levels[:, column] <= high + 1e-13).all()
    assert_array_equal(ranks.knots[[0, -1]], [rows.min(axis=0), rows.max(axis=0)])


@pytest.mark.parametrize("n", [9, 3000])
def test_values_beyond_the_knots_have_the_scores_of_the_last(n):
    rows = np.random.default_rng(n).normal(size=(n, 1))
    ranks = Ranks.of(rows[:4], rows[4:])
    low, high = ranks.apply(np.array([[-1e300], [1e300]])).ravel()
    assert low == pytest.approx(norm.ppf(0.5 / n)) and high == pytest.approx(-norm.ppf(0.5 / n))
    assert_allclose(ranks.shares(np.array([[-50.0], [50.0]])).ravel(), [0.5 / n, 1 - 0.5 / n])


def test_between_the_knots_scores_are_linear():
    ranks = Ranks.of(np.array([[0.0], [1.0]]), np.array([[1.0], [5.0]]))
    middle, top = norm.ppf([0.5, 0.875])
    assert_allclose(ranks.apply(np.array([[1.0], [2.0], [4.0]])).ravel(), [middle, top / 4, 3 * top / 4], atol=1e-15)


MAPS = {
    "cube": lambda v: v**3,
    "exp": np.exp,
    "sinh": lambda v: np.sinh(9 * v),
    "root": lambda v: np.sign(v) * abs(v) ** 0.2,
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("decimals", [None, 1])
def test_monotone_maps_leave_the_scores(name, decimals):
    x, y = np.random.default_rng(0).normal(size=(2, 300, 2))
    x, y = (rows if decimals is None else np.round(rows, decimals) for rows in (x, y))
    seen, ranks = MAPS[name], Ranks.of(x, y)
    mapped = Ranks.of(seen(x), seen(y))
    assert_array_equal(mapped.levels, ranks.levels)
    assert_array_equal(mapped.apply(seen(x)), ranks.apply(x))


def test_some_columns_of_ranks():
    x, y = np.random.default_rng(0).normal(size=(2, 30, 4))
    ranks, chosen = Ranks.of(x, y), np.array([3, 1])
    some = ranks.select(chosen)
    again = Ranks.of(x[:, chosen], y[:, chosen])
    for found in (some, some.select(np.array([0, 1]))):
        for name in ("knots", "levels", "scores"):
            assert_array_equal(getattr(found, name), getattr(again, name))
    assert_array_equal(some.apply(x[:, chosen]), ranks.apply(x)[:, chosen])


@pytest.mark.parametrize("magnitude", [1e-320, 1e-300, 1e300])
def test_scores_at_any_magnitude(magnitude):
    rows = np.array([[-3.0], [1.0], [2.0], [2.0], [6.0]]) * magnitude
    ranks = Ranks.of(rows[:2], rows[2:])
    assert_allclose(ranks.apply(rows), norm.ppf(levels_of(rows)), atol=1e-15)


def test_some_columns_of_a_view():
    view = View(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])).select(np.array([2, 0]))
    assert_array_equal(view.center, [3.0, 1.0])
    assert_array_equal(view.scale, [6.0, 4.0])
