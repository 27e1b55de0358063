"""A few rows for pictures: the same whatever the order of rows and of merging, and like the sample they stand for."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twosample.data import sketch
from twosample.data.sketch import Sketch


def assert_same(found, expected):
    np.testing.assert_array_equal(found.priorities, expected.priorities)
    np.testing.assert_array_equal(found.rows, expected.rows)


def merged(parts):
    total = Sketch.empty()
    for part in parts:
        total = total.merge(part)
    return total


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 1500), st.sampled_from(["distinct", "coarse", "mixed"]))
def test_order_of_rows_does_not_matter(seed, n, kind):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2))
    if kind != "distinct":
        rows = rows.round(0 if kind == "coarse" else 1)
    assert_same(Sketch.of(rng.permutation(rows)), Sketch.of(rows))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_chunks_of_distinct_rows_give_the_same_in_any_order(draw):
    n = draw.draw(st.integers(1, 1500))
    rng = np.random.default_rng(draw.draw(st.integers(0, 10**6)))
    rows = rng.normal(size=(n, 2))
    cuts = sorted(draw.draw(st.lists(st.integers(0, n), max_size=5)))
    parts = [Sketch.of(rows[a:b]) for a, b in itertools.pairwise([0, *cuts, n])]
    assert_same(merged(draw.draw(st.permutations(parts))), Sketch.of(rows))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_order_of_merging_does_not_matter(draw):
    """Of coarse rows too, which are repeated within and between the parts."""
    rng = np.random.default_rng(draw.draw(st.integers(0, 10**6)))
    sizes = draw.draw(st.lists(st.integers(0, 700), min_size=3, max_size=3))
    a, b, c = (Sketch.of(rng.poisson(3.0, size=(size, 1)).astype(float)) for size in sizes)
    left = a.merge(b).merge(c)
    assert_same(a.merge(b.merge(c)), left)
    assert_same(c.merge(a).merge(b), left)
    assert_same(b.merge(a).merge(c), left)


def test_empty_is_neutral():
    rows = Sketch.of(np.arange(6.0).reshape(3, 2))
    assert_same(rows.merge(Sketch.empty()), rows)
    assert_same(Sketch.empty().merge(rows), rows)
    assert len(Sketch.empty().merge(Sketch.empty()).rows) == 0
    assert len(Sketch.of(np.empty((0, 2))).rows) == 0


@pytest.mark.parametrize(
    ("n", "n_columns", "expected"),
    [(0, 1, 0), (3, 2, 3), (2000, 1, 2000), (2001, 1, 2000), (501, 2, 500), (3000, 200, 500), (700, 400, 250)],
)
def test_number_of_rows(n, n_columns, expected):
    """All that fit, at most 500 (2,000 of one column), of many columns at most 100,000 values, but at least 50 rows."""
    rows = np.random.default_rng(0).normal(size=(n, n_columns))
    assert Sketch.of(rows).rows.shape == (expected, n_columns)


def test_fewest_rows():
    rows = np.random.default_rng(0).normal(size=(60, 3000))
    assert len(Sketch.of(rows).rows) == 50
    assert len(Sketch.of(rows[:30]).merge(Sketch.of(rows[30:])).rows) == 50


@pytest.mark.parametrize("n", [20, 500])
def test_small_samples_are_shown_whole(n):
    """Repeated rows as often as they occur."""
    rows = np.random.default_rng(1).poisson(2.0, size=(n, 1)).astype(float)
    np.testing.assert_array_equal(np.sort(Sketch.of(rows).rows, axis=0), np.sort(rows, axis=0))


def shares(rows, values):
    return np.array([(rows == value).mean() for value in values])


@pytest.mark.parametrize("n_parts", [1, 4, 600])
def test_discrete_values_keep_their_proportions(n_parts):
    """Of 2,000 rows at random the share of a value has a standard error of √(p(1-p)/2000); five of them are allowed.

    Parts hold the same values, and must not all choose the same ones of them.
    """
    rows = np.random.default_rng(2).poisson(3.0, size=(20_000, 1)).astype(float)
    values = np.arange(9.0)
    found = merged([Sketch.of(part) for part in np.array_split(rows, n_parts)])
    expected = shares(rows, values)
    assert len(found.rows) == 2000
    error = 5 * np.sqrt(expected * (1 - expected) / 2000)
    assert (np.abs(shares(found.rows, values) - expected) < error).all()
    assert len(np.unique(found.rows)) >= 7


@pytest.mark.parametrize("n_parts", [1, 40])
def test_a_value_among_continuous_ones_keeps_its_proportion(n_parts):
    """Amounts that are mostly zero; five standard errors."""
    rng = np.random.default_rng(5)
    rows = np.where(rng.random((20_000, 1)) < 0.6, 0.0, rng.normal(size=(20_000, 1)))
    found = merged([Sketch.of(part) for part in np.array_split(rows, n_parts)])
    assert abs((found.rows == 0.0).mean() - 0.6) < 5 * np.sqrt(0.24 / 2000)


def test_a_sketch_is_like_the_sample():
    """Distinct rows: mean and standard deviation within five standard errors."""
    rows = np.random.default_rng(3).normal(size=(50_000, 1))
    shown = Sketch.of(rows).rows
    assert abs(shown.mean()) < 5 / np.sqrt(2000)
    assert abs(shown.std() - 1) < 5 / np.sqrt(2 * 2000)
    # Rows in order have no part in the choice: each fifth of the sample has about a fifth of the sketch.
    places = np.searchsorted(np.sort(rows[:, 0]), shown[:, 0]) // 10_000
    assert (np.abs(np.bincount(places, minlength=5) - 400) < 5 * np.sqrt(320)).all()


def test_priorities_increase_and_go_with_their_rows():
    rows = np.random.default_rng(4).normal(size=(800, 2))
    found = Sketch.of(rows)
    assert (np.diff(found.priorities.astype(object)) > 0).all()
    alone = {Sketch.of(row[None]).priorities[0]: tuple(row) for row in rows}
    assert [alone[priority] for priority in found.priorities] == [tuple(row) for row in found.rows]
    assert set(found.priorities.tolist()) == set(sorted(int(priority) for priority in alone)[:500])


@pytest.mark.parametrize("value", [0.0, -0.0])
def test_zero_has_no_sign(value):
    np.testing.assert_array_equal(Sketch.of(np.array([[value]])).priorities, Sketch.of(np.zeros((1, 1))).priorities)


def test_many_rows_are_sketched_block_by_block(monkeypatch):
    rows = np.random.default_rng(6).normal(size=(9000, 2))
    whole = Sketch.of(rows)
    monkeypatch.setattr(sketch, "_BLOCK_ROWS", 1000)
    blocked = Sketch.of(rows)
    np.testing.assert_array_equal(blocked.rows, whole.rows)
    np.testing.assert_array_equal(blocked.priorities, whole.priorities)
