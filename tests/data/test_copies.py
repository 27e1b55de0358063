"""Copied rows are noticed, coarse values are not taken for them."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

from twosample.data import Samples
from twosample.data.copies import _tail, find_copies
from twosample.errors import DuplicateRowsWarning


def with_copies(rng, n, share=0.3, n_columns=1):
    rows = rng.normal(size=(n, n_columns))
    n_copies = int(share * n)
    rows[-n_copies:] = rows[:n_copies]
    return rng.permutation(rows)


@pytest.mark.parametrize("n", [20, 2000, 100_000])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("name", ["x", "y"])
def test_copies_are_noticed(n, n_columns, name):
    rng = np.random.default_rng(n)
    arguments = {"x": rng.normal(size=(n, n_columns)), "y": rng.normal(size=(n, n_columns))}
    arguments[name] = with_copies(rng, n, n_columns=n_columns)
    with pytest.warns(DuplicateRowsWarning, match=f"^{int(0.3 * n)} of {n} rows of {name} repeat") as caught:
        samples = Samples.from_data(**arguments)
    assert samples.notes == tuple(str(warning.message) for warning in caught)
    assert len(samples.notes) == 1


def test_copies_that_differ_in_the_sign_of_zero_are_noticed():
    rng = np.random.default_rng(3)
    x = with_copies(rng, 50, n_columns=2)
    x[:, 1] = np.where(rng.random(50) < 0.5, 0.0, -0.0)
    with pytest.warns(DuplicateRowsWarning):
        Samples.from_data(x, rng.normal(size=(50, 2)))


def test_copies_beside_a_binary_column_are_noticed():
    rng = np.random.default_rng(4)
    x, y = with_copies(rng, 100, n_columns=2), rng.normal(size=(100, 2))
    x[:, 1], y[:, 1] = x[:, 1] > 0, y[:, 1] > 0
    with pytest.warns(DuplicateRowsWarning):
        Samples.from_data(x, y)


COARSE = {
    "rounded": lambda rng, n, shift: np.round(rng.normal(shift, 1, n)),
    "one decimal": lambda rng, n, shift: np.round(rng.normal(shift, 1, n), 1),
    "two decimals": lambda rng, n, shift: np.round(rng.normal(shift, 1, n), 2),
    "binary": lambda rng, n, shift: (rng.random(n) < 0.3) + np.round(shift),
    "counts": lambda rng, n, shift: rng.poisson(3 + 10 * shift, n),
    "half zeros": lambda rng, n, shift: np.where(rng.random(n) < 0.5, shift, rng.normal(shift, 1, n)),
    "two columns": lambda rng, n, shift: np.round(rng.normal(shift, 1, (n, 2)), 1),
}


@pytest.mark.parametrize("shift", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("n", [20, 40, 100, 1000, 10_000])
@pytest.mark.parametrize("kind", COARSE)
def test_coarse_values_are_not_taken_for_copies(kind, n, shift):
    n_trials = 40 if n < 1000 else 5
    n_noticed = 0
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        x, y = COARSE[kind](rng, n, 0.0), COARSE[kind](rng, n, shift)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Samples.from_data(x, y)
        n_noticed += bool(caught)
    # The smallest samples allow a few: the worst rate found by simulation is 1 %.
    assert n_noticed <= 0.03 * n_trials


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("mean", [3, 20, 100])
def test_logarithms_of_counts_are_not_taken_for_copies(n, mean):
    rng = np.random.default_rng(5)
    x, y = np.log1p(rng.poisson(mean, n)), np.log1p(rng.poisson(20 * mean, n))
    assert Samples.from_data(x, y).notes == ()


def test_what_is_said_of_copies():
    rng = np.random.default_rng(6)
    x, y = with_copies(rng, 30), with_copies(rng, 50)
    first, second = find_copies(x, y).warnings("So it is.")
    assert str(first).startswith("9 of 30 rows of x repeat an earlier row")
    assert str(second).startswith("15 of 50 rows of y repeat an earlier row")
    assert str(first).endswith("keep one of each. So it is.")
    assert find_copies(rng.normal(size=(30, 1)), rng.normal(size=(50, 1))).warnings() == ()


# ---- the laws of which copies and coarse values are told apart

LAWS = {
    "gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "integers": lambda rng, n, d: np.round(rng.normal(50, 15, (n, d))),
    "likert": lambda rng, n, d: rng.integers(1, 6, (n, d)).astype(float),
    "binary": lambda rng, n, d: rng.integers(0, 2, (n, d)).astype(float),
    "one decimal": lambda rng, n, d: np.round(rng.normal(size=(n, d)), 1),
    "money": lambda rng, n, d: np.round(rng.lognormal(3, 1, (n, d)), 2),
    "log of money": lambda rng, n, d: np.log(np.round(rng.lognormal(3, 1, (n, d)), 2)),
    "geometric": lambda rng, n, d: rng.geometric(0.05, (n, d)).astype(float),
    "root of counts": lambda rng, n, d: np.sqrt(rng.poisson(30, (n, d))),
    "half zeros": lambda rng, n, d: np.where(rng.random((n, d)) < 0.5, 0.0, rng.normal(size=(n, d))),
}
CELLS = [(law, d) for law in LAWS for d in (1, 3)]


def found(trials, make):
    return np.mean([bool(make(np.random.default_rng([seed, 17]))) for seed in range(trials)])


@pytest.mark.parametrize(("law", "d"), CELLS)
def test_independent_rows_are_not_accused(law, d):
    def null(rng):
        n = int(rng.choice([20, 50, 100, 300]))
        return find_copies(LAWS[law](rng, n, d), LAWS[law](rng, n, d))

    assert found(100, null) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("law", "d"), CELLS)
def test_at_most_one_in_a_hundred_is_accused(law, d):
    def null(rng):
        n = int(rng.choice([20, 50, 100, 300, 1000]))
        return find_copies(LAWS[law](rng, n, d), LAWS[law](rng, n, d))

    assert found(1000, null) <= 0.01


# Rows of few values can hardly be told from copies: two of them for instance come 50 times each by themselves.
TELLABLE = [cell for cell in CELLS if cell not in (("likert", 1), ("binary", 1), ("binary", 3))]


@pytest.mark.parametrize("k", [2, 5, 20, 40])
@pytest.mark.parametrize(("law", "d"), TELLABLE)
def test_rows_repeated_k_times_are_found(law, d, k):
    def repeated(rng):
        x = np.repeat(LAWS[law](rng, 60, d), k, axis=0)
        copies = find_copies(rng.permutation(x), LAWS[law](rng, 200, d))
        return copies.repeated_x.any() and not copies.repeated_y.any()

    assert found(100, repeated) >= 0.99


@pytest.mark.parametrize(("law", "d", "k"), [("likert", 1, 40), ("binary", 3, 20), ("binary", 3, 40)])
def test_even_rows_of_few_values_are_found_if_repeated_often(law, d, k):
    def repeated(rng):
        return find_copies(np.repeat(LAWS[law](rng, 60, d), k, axis=0), LAWS[law](rng, 200, d)).repeated_x.any()

    assert found(100, repeated) >= 0.99


@pytest.mark.parametrize(("rows", "n"), [(30, 300), (100, 100), (100, 1000)])
@pytest.mark.parametrize("law", ["gaussian", "money", "log of money"])
@pytest.mark.parametrize("d", [1, 4])
def test_bootstraps_are_found(law, d, rows, n):
    def bootstrap(rng):
        x = LAWS[law](rng, rows, d)[rng.integers(0, rows, n)]
        return find_copies(x, LAWS[law](rng, n, d)).repeated_x.any()

    assert found(100, bootstrap) >= 0.99


@pytest.mark.parametrize("n", [10, 100, 40_000])
@pytest.mark.parametrize(("law", "d"), CELLS)
def test_the_same_rows_in_the_same_order_are_found(law, d, n):
    x = LAWS[law](np.random.default_rng(n), n, d)
    copies = find_copies(x, x.copy())
    # Ten rows of yes or no are the same by chance once in 1,000 times.
    assert (copies.shared_x.all() and copies.shared_y.all()) or ((law, n) == ("binary", 10) and not copies)


@pytest.mark.parametrize(("law", "d"), [cell for cell in TELLABLE if cell != ("half zeros", 3)])
def test_the_same_rows_in_another_order_are_found(law, d):
    rng = np.random.default_rng(3)
    x = LAWS[law](rng, 200, d)
    [warning] = find_copies(x, rng.permutation(x)).warnings()
    assert str(warning).startswith("x and y hold the same rows, as if one sample was given twice")


@pytest.mark.parametrize(
    ("law", "n"),
    [("gaussian", 20), ("gaussian", 100_000), ("money", 20), ("money", 10_000), ("integers", 20), ("integers", 200)],
)
def test_rows_shared_by_both_are_found(law, n):
    rng = np.random.default_rng(n)
    x, y = LAWS[law](rng, n, 3), LAWS[law](rng, 2 * n, 3)
    y[-n // 2 :] = x[: n // 2]
    copies = find_copies(x, rng.permutation(y))
    assert copies.shared_x.sum() == pytest.approx(n // 2, rel=0.02) and not copies.repeated_x.any()
    [warning] = copies.warnings()
    assert str(warning).startswith(f"{copies.shared_x.sum()} of {n} rows of x are also rows of y")
    assert "pass paired=True" in str(warning)
    keep_x, keep_y = copies.kept()
    assert not set(map(tuple, x[keep_x])) & set(map(tuple, y[keep_y]))


def test_coarse_rows_at_the_same_place_are_found():
    rng = np.random.default_rng(8)
    x, y = rng.integers(1, 6, (2, 200, 1)).astype(float)
    y[:100] = x[:100]
    copies = find_copies(x, y)
    assert copies.in_place and (copies.shared_x == (x == y)[:, 0]).all()
    assert "at the same place" in str(copies.warnings()[0])


@pytest.mark.parametrize("law", LAWS)
def test_sorted_samples_are_not_accused_of_sharing_rows(law):
    def ordered(rng):
        return find_copies(*(np.sort(LAWS[law](rng, 200, 1), axis=0) for _ in range(2)))

    assert found(50, ordered) <= 0.02


def test_a_design_is_not_accused():
    doses = np.repeat(np.arange(1.0, 25.0), 10)[:, None]
    crossed = np.stack(np.meshgrid([0.0, 1.0], [1.0, 2.0, 3.0], [5.0, 10.0, 25.0]), axis=-1).reshape(-1, 3)
    for rows in (doses, np.repeat(crossed, 8, axis=0)):
        assert not find_copies(rows, np.random.default_rng(0).permutation(rows))


def test_equal_pairs_are_no_copies_unless_all_are():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 60, 1))
    y[:40] = x[:40]
    assert not find_copies(x, y, paired=True)
    assert find_copies(x, y)
    assert find_copies(x, x, paired=True).shared_x.all()


def test_pairs_of_which_either_row_is_a_copy_are_left_out():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 60, 1))
    x[40:], y[30:50] = x[:20], y[:20]
    keep_x, keep_y = find_copies(x, y, paired=True).kept()
    assert (keep_x == keep_y).all()
    assert (np.flatnonzero(keep_x) == np.arange(30)).all()


@pytest.mark.parametrize(("count", "n", "share"), [(9, 10, 0.5), (10, 10, 0.5), (30, 200, 0.1), (3, 10, 0.5)])
def test_the_bound_is_not_below_the_tail(count, n, share):
    assert binom.sf(count - 1, n, share) <= _tail(count, n, share) <= 1.0
