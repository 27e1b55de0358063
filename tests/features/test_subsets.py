"""Which columns are tested together, with what weight, and at which points: against brute force."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

import twosample as ts
from twosample.data import Ranks
from twosample.errors import InputError, InputTypeError
from twosample.features import subsets
from twosample.features.points import thin
from twosample.features.subsets import chosen_subsets, make_parts, single_part, typical_of_points
from twosample.models import PRESETS

# Derandomized: the same examples in every run, as with a fixed seed.
some = settings(max_examples=15, deadline=None, derandomize=True)
# Means of up to a thousand numbers of size 1, in another order.
ROUNDING = 1e-12


def names(count):
    return tuple("abcdefghijklmnopqrst"[:count])


def draw(n_x, n_y, n_columns, decimals=None, seed=0):
    rng = np.random.default_rng([seed, n_x, n_y, n_columns])
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(0.3, 1.5, size=(n_y, n_columns))
    y[:, 0] += 0.5 * y[:, -1]
    return (x, y) if decimals is None else (np.round(x, decimals), np.round(y, decimals))


def scores_of(rows):
    return norm.ppf((rankdata(rows, axis=0) - 0.5) / len(rows))


# ---- which subsets, and their weights


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_auto_is_all_columns_each_column_and_each_pair(count):
    groups = chosen_subsets("auto", names(count))
    sizes = sorted({1, min(2, count), count})
    assert [group.columns.shape[1] for group in groups] == sizes
    for group, size in zip(groups, sizes, strict=True):
        assert_array_equal(group.columns, list(combinations(range(count), size)))
        assert group.weight == pytest.approx(1 / len(sizes), rel=1e-15)


def test_auto_has_no_pairs_of_many_columns():
    assert [group.columns.shape for group in chosen_subsets("auto", names(13))] == [(13, 1), (1, 13)]


@pytest.mark.parametrize("count", [1, 2, 4, 10])
def test_all_is_every_subset(count):
    groups = chosen_subsets("all", names(count))
    found = [tuple(columns) for group in groups for columns in group.columns.tolist()]
    assert found == [subset for size in range(1, count + 1) for subset in combinations(range(count), size)]
    assert {group.weight for group in groups} == {1 / count}


def test_named_subsets():
    groups = chosen_subsets([("c", "a"), (0, "c"), ["b"], ("a", "b", "c"), {2}], names(3))
    assert [group.columns.tolist() for group in groups] == [[[0]], [[1], [2]], [[0, 2]], [[0, 1, 2]]]
    assert [group.weight for group in groups] == pytest.approx([0] + [1 / 3] * 3)


def test_single_columns_are_always_there_if_need_be_without_weight():
    single, pair = chosen_subsets([("a", "b")], names(3))
    assert_array_equal(single.columns, [[0], [1], [2]])
    assert (single.weight, pair.weight) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ("some", InputError, r"^subsets: 'some' is unknown; use 'auto', 'all', or a list"),
        (3, InputError, r"^subsets: 3 is unknown"),
        ([], InputError, r"^subsets: none is given"),
        ([()], InputError, r"^subsets: a subset is empty"),
        (["a"], InputTypeError, r"^subsets: 'a' is not a tuple of columns; use tuples"),
        ([0], InputTypeError, r"^subsets: 0 is not a tuple of columns"),
        ([("a", "z")], InputError, r"^subsets: there is no column 'z'; the columns are 'a', 'b'$"),
        ([(2,)], InputError, r"^subsets: there is no column 2"),
        ([(-1,)], InputError, r"^subsets: there is no column -1"),
    ],
)
def test_refused_subsets(given, error, match):
    with pytest.raises(error, match=match):
        chosen_subsets(given, names(2))


def test_all_subsets_of_many_columns_are_refused():
    with pytest.raises(
        InputError, match=r"^subsets: 'all' is for up to 10 columns, and here are 11; use subsets='auto'"
    ):
        chosen_subsets("all", names(11))


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("given", ["auto", "all", [("a",), ("a", "c")], [("b", "c"), ("a", "b", "c")]])
def test_prior_probabilities_add_up_to_one(given, share):
    from dataclasses import replace

    x, y = draw(20, 25, 3)
    plan = ts.plan(*map(frame, (x, y)), subsets=given, model=replace(PRESETS["adaptive"], ranks=share))
    assert plan.prior + sum(part.prior.sum() for part in plan.parts) == pytest.approx(1.0, rel=1e-14)
    whole = [part.prior.sum() for part in plan.parts if part.columns.shape[1] == 3]
    assert len(whole) == (0 if given == [("a",), ("a", "c")] else 1)
    if whole:
        assert whole[0] / (plan.prior + whole[0]) == pytest.approx(share, rel=1e-14)
    else:
        assert plan.prior == 0.0


def frame(rows):
    import pandas as pd

    return pd.DataFrame(rows, columns=list("abc"[: rows.shape[1]]))


# ---- points


def parts_of(x, y, count=40):
    groups = chosen_subsets("auto", names(x.shape[1]))
    return make_parts(groups, Ranks.of(x, y), thin(x, y), PRESETS["adaptive"], count)


def cells(ordered, count):
    """Runs of rows that cover all of an even share of the places each; a row on the border of two is in both."""
    n = len(ordered)
    starts = [math.floor(cell * n / count + 1e-9) for cell in range(count)]
    ends = [math.ceil((cell + 1) * n / count - 1e-9) for cell in range(count)]
    return [ordered[start:end] for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (3, 4), (8, 8), (16, 17), (90, 60)])
def test_points_of_one_column_are_means_of_sixteenths_of_its_scores(n_x, n_y, decimals):
    x, y = draw(n_x, n_y, 3, decimals)
    part = parts_of(x, y)[0]
    scores = scores_of(np.concatenate([x, y]))
    assert part.points.shape == (3, 16, 1)
    assert_array_equal(part.columns, [[0], [1], [2]])
    for column in range(3):
        expected = [np.mean(cell) for cell in cells(np.sort(scores[:, column]), 16)]
        assert_allclose(part.points[column, :, 0], expected, rtol=ROUNDING, atol=ROUNDING)
    alone = single_part(Ranks.of(x, y))
    assert_array_equal(alone.points, part.points)
    assert_array_equal(alone.prior, [1 / 3] * 3)


def cell_means_of_two(scores, first, second, count=5):
    """Sort by one column, cut, sort each piece by the other, cut, average: row by row, in plain Python."""
    rows = sorted((float(row[first]), float(row[second])) for row in scores)
    points = []
    for slab in cells(rows, count):
        for cell in cells(sorted(slab, key=lambda row: row[1]), count):
            points.append(np.mean(cell, axis=0))
    return np.array(points)


def as_set(points):
    """Rows in lexicographic order, rounded so that rounding does not decide the order."""
    rounded = np.round(points, 9)
    return points[np.lexsort(rounded.T[::-1])]


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (3, 4), (12, 13), (90, 60)])
@pytest.mark.parametrize("n_columns", [3, 4])
def test_points_of_two_columns_are_means_of_cells(n_x, n_y, n_columns, decimals):
    x, y = draw(n_x, n_y, n_columns, decimals)
    part = parts_of(x, y)[1]
    scores = scores_of(np.concatenate([x, y]))
    assert_array_equal(part.columns, list(combinations(range(n_columns), 2)))
    assert part.points.shape == (len(part.columns), 25, 2)
    for (first, second), points in zip(part.columns.tolist(), part.points, strict=True):
        # Whichever comes first, from whichever end.
        expected = []
        for signs in product((1.0, -1.0), repeat=2):
            turned = scores[:, [first, second]] * signs
            expected += [cell_means_of_two(turned, 0, 1) * signs, cell_means_of_two(turned, 1, 0)[:, ::-1] * signs]
        found = as_set(points)
        assert any(np.allclose(found, as_set(one), rtol=ROUNDING, atol=ROUNDING) for one in expected)


def test_fewer_points_where_fewer_are_asked_for():
    x, y = draw(30, 30, 3)
    shapes = {count: [part.points.shape for part in ts.plan(x, y, points=count).parts] for count in (1, 5, 16, 90)}
    assert shapes == {
        1: [(3, 1, 1), (3, 1, 2), (1, 1, 3)],
        5: [(3, 5, 1), (3, 4, 2), (1, 5, 3)],
        16: [(3, 16, 1), (3, 16, 2), (1, 16, 3)],
        90: [(3, 16, 1), (3, 25, 2), (1, 60, 3)],  # no more of the joint test than there are rows
    }


@pytest.mark.parametrize("n_columns", [2, 3, 4])
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_points_of_all_columns_are_rows(n_columns, decimals):
    x, y = draw(40, 50, n_columns, decimals)
    part = ts.plan(x, y, scale="raw").parts[-1]
    scores = {tuple(row) for row in scores_of(np.concatenate([x, y])).round(9)}
    assert part.columns.tolist() == [list(range(n_columns))]
    assert {tuple(point) for point in part.points[0].round(9)} <= scores


@some
@given(st.integers(0, 99), st.integers(2, 30), st.integers(2, 30), st.sampled_from([None, 1, 0]), st.integers(1, 4))
def test_points_depend_on_the_rows_as_one_set(seed, n_x, n_y, decimals, n_columns):
    x, y = draw(n_x, n_y, n_columns, decimals, seed)
    mixed = np.random.default_rng(seed).permutation(np.concatenate([x, y]))
    parts, again = parts_of(x, y), parts_of(mixed[:n_y], mixed[n_y:])
    for one, other in zip(parts, again, strict=True):
        assert_array_equal(one.points, other.points)
        assert_array_equal(one.typical, other.typical)


@some
@given(st.integers(0, 99), st.integers(2, 30), st.integers(2, 30), st.sampled_from([None, 1, 0]), st.integers(2, 4))
def test_points_of_the_same_columns_in_another_order(seed, n_x, n_y, decimals, n_columns):
    """With and without ties: they are those of the columns, moved with them."""
    x, y = draw(n_x, n_y, n_columns, decimals, seed)
    scores = scores_of(np.concatenate([x, y]))
    leading = np.sort(scores.T @ np.square(scores.sum(axis=1)))
    if np.diff(leading).min() < 1e-9 * np.abs(leading).max():
        return  # rounding may decide which of two columns comes first
    found = {tuple(columns): points for part in parts_of(x, y) for columns, points in each_test(part)}
    for order in list(permutations(range(n_columns)))[:: 5 if n_columns > 3 else 1]:
        for part in parts_of(x[:, order], y[:, order]):
            for columns, points in each_test(part):
                before = [order[column] for column in columns]
                expected = found[tuple(sorted(before))][:, np.argsort(np.argsort(before))]
                assert_allclose(as_set(points), as_set(expected), rtol=ROUNDING, atol=ROUNDING)


def each_test(part):
    return zip(part.columns.tolist(), part.points, strict=True)


def test_points_of_many_rows_are_those_of_representatives():
    x, y = draw(3000, 2000, 3)
    part = parts_of(x, y)[1]
    scores = Ranks.of(x, y).apply(thin(x, y))
    assert len(scores) == 1024
    leading = scores.T @ np.square(scores.sum(axis=1))
    for (first, second), points in each_test(part):
        swapped = leading[first] > leading[second]
        expected = cell_means_of_two(scores, *((second, first) if swapped else (first, second)))
        assert_allclose(points, expected[:, ::-1] if swapped else expected, rtol=ROUNDING, atol=ROUNDING)


def test_columns_of_one_value_are_left_out_and_samples_of_one_value_are_the_same():
    x, y = draw(20, 25, 3)
    x[:, 1] = y[:, 1] = 4.0
    with pytest.warns(match="1 of 3 columns"):
        plan = ts.plan(x, y)
    assert [part.columns.tolist() for part in plan.parts] == [[[0], [1]], [[0, 1]]]
    expected = ts.plan(np.delete(x, 1, axis=1), np.delete(y, 1, axis=1))
    for one, other in zip(plan.parts, expected.parts, strict=True):
        assert_array_equal(one.points, other.points)
    same = ts.plan(np.ones((5, 2)), np.ones((4, 2)))
    for part in same.parts:
        assert_array_equal(part.points, np.zeros_like(part.points))  # the middle of a standard normal
        assert_array_equal(part.typical, 1.0)
    assert ts.test(np.ones((5, 2)), np.ones((4, 2))).log_bf10 <= 0.0


def test_two_rows_of_each():
    result = ts.test([[0.0, 1.0, 2.0], [3.0, 1.0, 7.0]], [[5.0, 2.0, 2.0], [4.0, 0.0, 9.0]])
    assert math.isfinite(result.log_bf10)
    assert np.isfinite(result.by_subset.log_bf10).all() and np.isfinite(result.by_subset.subset_log_bf10).all()


# ---- the median heuristic


def median_of_distances(points):
    distances = [math.dist(one, other) for one, other in combinations(points.tolist(), 2)]
    distances = [distance for distance in distances if distance > 0]
    return np.median(distances) / math.sqrt(2) if distances else 1.0


@some
@given(st.integers(0, 999), st.integers(1, 5), st.integers(1, 12), st.integers(1, 3), st.sampled_from([None, 0]))
def test_median_heuristic_of_many_tests(seed, tests, count, size, decimals):
    points = np.random.default_rng(seed).normal(size=(tests, count, size))
    points = points if decimals is None else np.round(points)
    assert_allclose(typical_of_points(points), [median_of_distances(one) for one in points], rtol=1e-14)


def test_equal_points_have_the_lengthscale_one():
    assert_array_equal(typical_of_points(np.full((2, 5, 3), 0.7)), 1.0)
    assert_array_equal(typical_of_points(np.zeros((2, 1, 3))), 1.0)


def test_lengthscales_of_a_stack():
    """Two in a factor of 2, from 1/16 to 8."""
    multiples = subsets.multiples_of(PRESETS["adaptive"])
    assert len(multiples) == 15
    assert_allclose(multiples, [2 ** (step / 2) / 16 for step in range(15)], rtol=1e-15)
