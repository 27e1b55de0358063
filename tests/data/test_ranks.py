"""Ranks, area under the curve and directions, against SciPy and by their symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import mannwhitneyu, norm, rankdata

from twosample.data.ranks import direction, interpolated, mid_ranks, normal_scores, probability_larger

# Few different values, so that many are equal, and some that are missing.
COLUMNS = arrays(
    np.float64, st.tuples(st.integers(4, 12), st.integers(1, 4)), elements=st.sampled_from([-1, 0, 0.5, 3])
)
HOLES = arrays(np.float64, (9, 5), elements=st.sampled_from([np.nan, -2.0, 0.0, 1.0, 1e300]))
MIRRORED = {
    "larger in x": "larger in y", "larger in y": "larger in x",
    "more spread in x": "more spread in y", "more spread in y": "more spread in x",
    "different shape": "different shape",
}  # fmt: skip


@given(HOLES)
def test_ranks_are_those_of_scipy(columns):
    assert_array_equal(mid_ranks(columns), rankdata(columns, axis=0, nan_policy="omit"))


def test_signed_zeros_are_equal():
    assert mid_ranks(np.array([[0.0], [-0.0]])).tolist() == [[1.5], [1.5]]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_area_is_that_of_mann_and_whitney(missing):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 6, (25, 40)).astype(float), rng.integers(1, 8, (33, 40)).astype(float)
    x[rng.random(x.shape) < missing] = np.nan
    y[rng.random(y.shape) < missing] = np.nan
    found = probability_larger(mid_ranks(np.concatenate((x, y))), len(x))
    for column, area in enumerate(found):
        own, other = (rows[:, column][~np.isnan(rows[:, column])] for rows in (x, y))
        assert area == mannwhitneyu(own, other).statistic / (len(own) * len(other))


@given(COLUMNS, st.integers(1, 3))
def test_area_mirrors_exactly(columns, rows):
    area = probability_larger(mid_ranks(columns), rows)
    swapped = probability_larger(mid_ranks(np.concatenate((columns[rows:], columns[:rows]))), len(columns) - rows)
    assert_allclose(area + swapped, 1.0, rtol=0, atol=1e-15)
    assert_allclose(probability_larger(mid_ranks(-columns), rows), swapped, rtol=0, atol=1e-15)


def test_normal_scores_count_only_what_is_there():
    ranks = mid_ranks(np.array([[3.0, 1.0], [1.0, 1.0], [np.nan, 5.0]]))
    expected = norm.ppf([[0.75, 1 / 3], [0.25, 1 / 3], [np.nan, 5 / 6]])
    assert_allclose(normal_scores(ranks), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("shift", "ratio", "words"),
    [
        (2.1, 1.0, "larger in x"),
        (-2.1, 1.0, "larger in y"),
        (0.0, 2.1, "more spread in x"),
        (0.0, -2.1, "more spread in y"),
        (1.9, -1.9, "different shape"),
        (3.0, 3.5, "more spread in x"),
        (-3.5, 3.0, "larger in y"),
    ],
)
def test_the_clearer_of_shift_and_spread_is_said(shift, ratio, words):
    """Sizes so that the standard errors are simple: 0.2 of the log ratio, and of the means what the variances say."""
    n, log_ratio = 101, 0.2 * ratio
    x_variance, y_variance = np.exp(0.5 * log_ratio), np.exp(-0.5 * log_ratio)
    mean = shift * np.sqrt((x_variance + y_variance) / n)
    assert direction(mean, 0.0, x_variance, y_variance, n, n) == words


def test_pairs_see_a_shift_that_independent_samples_do_not():
    assert direction(0.1, 0.0, 1.0, 1.0, 50, 50) == "different shape"
    assert direction(0.1, 0.0, 1.0, 1.0, 50, 50, covariance=0.98) == "larger in x"
    assert direction(0.0, 0.0, 1.2, 1.0, 50, 50) == "different shape"
    assert direction(0.0, 0.0, 1.2, 1.0, 50, 50, covariance=0.98 * np.sqrt(1.2)) == "more spread in x"


def test_a_sample_of_one_value_has_less_spread():
    assert direction([0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], 9, 9).tolist() == [
        "more spread in y",
        "more spread in x",
    ]
    assert direction(0.0, 0.0, 0.0, 0.0, 9, 9) == "different shape"
    assert direction(1.0, 1.0, 1.0, 1.0, 9, 9, covariance=1.0) == "different shape"


@given(arrays(np.float64, (2, 2, 3), elements=st.floats(0.1, 3.0)), st.integers(2, 60), st.integers(2, 60))
def test_direction_mirrors(moments, n_x, n_y):
    (mean_x, mean_y), (variance_x, variance_y) = moments
    words = direction(mean_x, mean_y, variance_x, variance_y, n_x, n_y)
    swapped = direction(mean_y, mean_x, variance_y, variance_x, n_y, n_x)
    assert [MIRRORED[one] for one in words] == swapped.tolist()


@pytest.mark.parametrize("exponent", [-1066, -1040, 0, 1000])
def test_interpolation_knows_no_smallest_gap(exponent):
    """Whole numbers below 2⁸ are exact in all these units, and slopes between the smallest ones overflow."""
    rng = np.random.default_rng(0)
    knots = np.sort(rng.integers(-200, 200, 12)).astype(float)
    knots[5] = knots[4]
    values, at = np.sort(rng.normal(size=12)), np.arange(-255.0, 256.0)
    values[5] = values[4]
    found = interpolated(np.ldexp(at, exponent), np.ldexp(knots, exponent), values)
    assert_allclose(found, np.interp(at, knots, values), rtol=1e-14, atol=1e-15)
    ends = np.array([-np.inf, np.inf])
    assert_array_equal(interpolated(ends, np.ldexp(knots, exponent), values), values[[0, -1]])
