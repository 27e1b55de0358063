import numpy as np
import pytest
from scipy.spatial.distance import pdist

import twosample as ts
from twosample.features.points import REPRESENTATIVES, choose, choose_among_codes, median_heuristic, thin


def test_thin_keeps_everything_that_fits_in_lexicographic_order():
    x, y = np.array([[2.0, 1.0], [1.0, 5.0]]), np.array([[1.0, 3.0], [0.0, 9.0]])
    assert thin(x, y).tolist() == [[0, 9], [1, 3], [1, 5], [2, 1]]


def test_thin_spreads_evenly_and_ignores_order_and_labels():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5000, 2))
    found = thin(rows[:3000], rows[3000:], limit=100)
    assert found.shape == (100, 2)
    ranks = [np.sort(np.searchsorted(np.sort(column), some)) for column, some in zip(rows.T, found.T, strict=True)]
    expected = np.concatenate([25 + 50 * np.arange(50), 2524 + 50 * np.arange(50)])  # the same from either end
    assert sum(np.array_equal(expected, one) for one in ranks) == 1
    shuffled = rng.permutation(rows)
    np.testing.assert_array_equal(thin(shuffled[:10], shuffled[10:], limit=100), found)


def test_thin_breaks_ties_by_the_other_columns():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, size=(400, 3)).astype(float)
    np.testing.assert_array_equal(thin(rows, limit=50), thin(rng.permutation(rows), limit=50))


def test_choose_takes_quantiles_in_one_dimension():
    rows = np.sort(np.random.default_rng(2).normal(size=(400, 1)), axis=0)
    found = choose(rows, 40)
    assert found.shape == (40, 1)
    # One point for each tenth of a quarter: cells of ten neighbours.
    assert (np.searchsorted(rows[:, 0], found[:, 0]) // 10).tolist() == list(range(40))


def halved(values, count):
    """The published choice in one column: halve from the lower end, in plain Python; the value nearest to the mean."""
    if count == 1:
        mean = sum(values) / len(values)
        nearest = min(abs(value - mean) for value in values)
        return [next(value for value in values if abs(value - mean) <= nearest * (1 + 1e-9))]
    left = (count + 1) // 2
    split = len(values) * left // count
    return halved(values[:split], left) + halved(values[split:], count - left)


@pytest.mark.parametrize("model", ["paper", "published"])
def test_the_published_models_choose_as_they_did(model):
    x, y = np.random.default_rng(6).normal(size=(2, 45))
    points = ts.test(x, y, model=model, points=7, lengthscale=1.0).points[:, 0]
    np.testing.assert_allclose(points, halved(sorted([*x, *y]), 7), rtol=1e-14)
    assert not np.array_equal(points, ts.test(x, y, points=7, lengthscale=1.0).points[:, 0])


def test_the_published_models_keep_the_rows_that_they_kept():
    rows = np.arange(2048.0)[:, np.newaxis]
    np.testing.assert_array_equal(thin(rows, oriented=False)[:, 0], 1.0 + 2.0 * np.arange(1024))
    wide = np.random.default_rng(7).normal(size=(300, 3))
    np.testing.assert_array_equal(thin(wide, limit=100, oriented=False), wide[np.argsort(wide[:, 0])][1::3])


@pytest.mark.parametrize("n_columns", [2, 5, 20])
def test_choose_returns_distinct_rows_of_the_data(n_columns):
    rows = thin(np.random.default_rng(3).normal(size=(300, n_columns)))
    found = choose(rows, 40)
    assert found.shape == (40, n_columns)
    assert {tuple(row) for row in found} <= {tuple(row) for row in rows}
    assert len({tuple(row) for row in found}) == 40


def test_choose_covers_separate_clusters():
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [0, 50], [50, 0], [50, 50]])
    rows = thin(np.concatenate([centre + rng.normal(size=(100, 2)) for centre in centres]))
    found = choose(rows, 40)
    counts = [(np.abs(found - centre).max(axis=1) < 10).sum() for centre in centres]
    assert counts == [10, 10, 10, 10]


@pytest.mark.parametrize("count", [1, 3, 7, 40, 100])
def test_choose_with_few_or_tied_rows(count):
    assert len(choose(np.array([[0.0], [1.0], [2.0]]), count)) == min(count, 3)
    tied = np.repeat([[0.0], [1.0]], 50, axis=0)
    assert 1 <= len(choose(tied, count)) <= 2


def test_median_heuristic_equals_the_median_distance():
    rows = np.random.default_rng(5).normal(size=(301, 3))
    assert median_heuristic(rows) == pytest.approx(np.median(pdist(rows)) / np.sqrt(2), rel=1e-13)


def test_median_heuristic_ignores_equal_rows():
    rows = np.array([[0.0]] * 50 + [[3.0]])
    assert median_heuristic(rows) == pytest.approx(3 / np.sqrt(2))
    assert median_heuristic(np.ones((5, 2))) == 1.0


def test_table_recipe_needs_the_whole_sample():
    """Appendix table 1 uses the exact median over 1,000 pooled values."""
    assert REPRESENTATIVES >= 1000


def test_among_codes_all_rows_are_points_where_few_are_different():
    rows = np.array([[0.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    assert choose_among_codes(rows, 5).tolist() == [[0.0, 2.0], [2.0, 0.0]]
