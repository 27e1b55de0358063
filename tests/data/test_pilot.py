"""The pilot: which rows it has, by a hash that is computed here once more, and that it does not see the labels."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from twosample.data import pilot as module
from twosample.data.pilot import Pilot, place_hashes


def splitmix64(place):
    """As in the reference implementation by Vigna, with whole numbers of any size."""
    mask = (1 << 64) - 1
    z = ((place + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def chosen_places(n_x, n_y, limit):
    """The places whose hashes are below the one that is too many."""
    hashes = sorted([splitmix64(place) for n in (n_x, n_y) for place in range(n)])
    below = hashes[limit]
    return [[place for place in range(n) if splitmix64(place) < below] for n in (n_x, n_y)]


def filled(x, y, cuts=()):
    pilot = Pilot(x.shape[1])
    for sample, rows in ((0, x), (1, y)):
        for part in np.split(rows, [cut for cut in sorted(cuts) if cut < len(rows)]):
            if len(part):
                pilot.add(sample, part)
    return pilot


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(module, "PILOT_ROWS", 100)
    monkeypatch.setattr(module, "HEAD_ROWS", 100)


def test_hashes_are_those_of_splitmix64():
    places = np.array([0, 1, 2, 1000, 10**12])
    assert place_hashes(places).tolist() == [splitmix64(place) for place in places.tolist()]


def test_up_to_the_limit_it_is_all_rows_in_order(few):
    x, y = np.random.default_rng(0).normal(size=(2, 50, 2))
    pilot = filled(x, y, cuts=(3, 3, 17))
    assert pilot.whole and pilot.counts == [50, 50]
    np.testing.assert_array_equal(pilot.rows(0), x)
    np.testing.assert_array_equal(pilot.rows(1), y)
    pilot.add(1, y[:1])
    assert not pilot.whole


@settings(max_examples=30, deadline=None)
@given(st.integers(60, 400), st.integers(60, 400), st.lists(st.integers(1, 400), max_size=6))
def test_beyond_it_the_rows_with_the_smallest_hashes(n_x, n_y, cuts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PILOT_ROWS", 100)
        rng = np.random.default_rng(n_x)
        x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
        pilot = filled(x, y, cuts)
        of_x, of_y = chosen_places(n_x, n_y, 100)
        np.testing.assert_array_equal(pilot.rows(0), x[of_x])
        np.testing.assert_array_equal(pilot.rows(1), y[of_y])
        assert len(of_x) + len(of_y) <= 100


@settings(max_examples=30, deadline=None)
@given(st.integers(60, 1500), st.integers(60, 1500), st.lists(st.integers(1, 1500), max_size=9))
def test_joined_pilots_have_the_same_rows(n_x, n_y, cuts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PILOT_ROWS", 100)
        patch.setattr(module, "HEAD_ROWS", 70)
        rng = np.random.default_rng(n_x)
        x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
        pilots, first = [], [0, 0]
        for sample, rows in ((0, x), (1, y)):
            for part in np.split(rows, [cut for cut in sorted(cuts) if cut < len(rows)]):
                pilots.append(Pilot(2).beginning(first, n_x + n_y))
                first[sample] += len(part)
                if len(part):
                    pilots[-1].add(sample, part)
        pilots = [pickle.loads(pickle.dumps(pilot)) for pilot in pilots]
        half = len(pilots) // 2
        joined = Pilot.joined([Pilot.joined(some) for some in (pilots[:half], pilots[half:]) if some])
        of_x, of_y = chosen_places(n_x, n_y, 100)
        np.testing.assert_array_equal(joined.rows(0), x[of_x])
        np.testing.assert_array_equal(joined.rows(1), y[of_y])
        np.testing.assert_array_equal(joined.head(0), x[:70])
        np.testing.assert_array_equal(joined.head(1), y[:70])
        assert joined.counts == [n_x, n_y]
        np.testing.assert_array_equal(joined.limits.y_high, y.max(axis=0))
        np.testing.assert_array_equal(joined.limits.x_low, x.min(axis=0))
        pooled = pickle.loads(pickle.dumps(joined)).pooled()
        both = np.concatenate([x, y])
        np.testing.assert_array_equal(pooled.min(axis=0), both.min(axis=0))
        np.testing.assert_array_equal(pooled.max(axis=0), both.max(axis=0))


def test_pilots_do_without_most_rows_of_very_many(few):
    """A pilot of some of 100,000 rows keeps about as many as it has in the end."""
    pilot = Pilot(1).beginning((50_000, 0), 100_000)
    pilot.add(0, np.zeros((10_000, 1)))
    assert 0 < len(pilot.rows(0)) < 60
    assert len(pickle.dumps(pilot)) < 10_000 + 8 * 100 * 3


def test_which_sample_is_called_x_does_not_matter(few):
    rng = np.random.default_rng(1)
    # Coarse values, so that many rows have the smallest one.
    x, y = rng.integers(0, 3, (900, 3)).astype(float), rng.integers(0, 3, (1500, 3)).astype(float)
    pooled = [filled(x, y, (400,)).pooled(), filled(y, x, (400,)).pooled()]
    first, second = (rows[np.lexsort(rows.T)] for rows in pooled)
    np.testing.assert_array_equal(first, second)


def test_each_row_is_as_likely_as_any_other(monkeypatch):
    """Counts in 40 stretches of both samples, against equal chances."""
    monkeypatch.setattr(module, "PILOT_ROWS", 4000)
    n_x, n_y = 60_000, 20_000
    pilot = filled(np.arange(n_x, dtype=float)[:, None], np.arange(n_y, dtype=float)[:, None], range(0, n_x, 5000))
    counts = np.concatenate(
        [np.histogram(pilot.rows(sample)[:, 0], bins=n // 2000, range=(0, n))[0] for sample, n in ((0, n_x), (1, n_y))]
    )
    assert len(counts) == 40 and counts.sum() > 3990
    assert stats.chisquare(counts).pvalue > 1e-4
    assert stats.chisquare(counts).pvalue < 1 - 1e-4


def test_it_holds_no_more_than_it_needs(few):
    tracemalloc.start()
    pilot = Pilot(2)
    block = np.zeros((5000, 2))
    pilot.add(0, block)
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for _ in range(100):
        pilot.add(0, block)
        pilot.add(1, block)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pilot.counts == [505_000, 500_000] and len(pilot.pooled()) <= 100
    assert after - before < 10_000  # rows of y at its head, and no others
    assert peak - before < 10 * block.nbytes


def test_many_columns_have_fewer_rows(monkeypatch):
    monkeypatch.setattr(module, "_PILOT_VALUES", 3000)
    pilot = Pilot(30)
    pilot.add(0, np.zeros((101, 30)))
    assert not pilot.whole and len(pilot.rows(0)) == 100


def test_the_smallest_and_largest_values_are_in_it(few):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(5000, 3)), rng.normal(size=(5000, 3))
    x[1234, 0], y[4321, 0], y[77, 2] = 50.0, -60.0, 70.0
    pilot = filled(x, y, (1000, 2000))
    both = np.concatenate([x, y])
    pooled = pilot.pooled()
    np.testing.assert_array_equal(pooled.min(axis=0), both.min(axis=0))
    np.testing.assert_array_equal(pooled.max(axis=0), both.max(axis=0))
    for row in (x[1234], y[4321], y[77]):
        assert (pooled == row).all(axis=1).any()
    assert len(pooled) <= 100 + 6
    limits = pilot.limits
    for found, expected in zip(limits, (x.min(0), x.max(0), y.min(0), y.max(0)), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_first_rows(monkeypatch):
    monkeypatch.setattr(module, "HEAD_ROWS", 10)
    x, y = np.arange(30.0)[:, None], np.arange(4.0)[:, None]
    pilot = filled(x, y, (7,))
    np.testing.assert_array_equal(pilot.head(0), x[:10])
    np.testing.assert_array_equal(pilot.head(1), y)


def test_a_sample_with_few_rows_in_the_pilot_is_shown_by_its_first(few, monkeypatch):
    monkeypatch.setattr(module, "_FEW_ROWS", 20)
    x, y = np.arange(20_000.0)[:, None], np.arange(40.0)[:, None]
    pilot = filled(x, y)
    np.testing.assert_array_equal(pilot.some(1), y)
    monkeypatch.setattr(module, "HEAD_ROWS", 10)
    pilot = filled(x, x)
    np.testing.assert_array_equal(pilot.some(0), pilot.rows(0))
