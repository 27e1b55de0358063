"""Copied rows are noticed, coarse values are not taken for them."""

import warnings

import numpy as np
import pytest

from twosample.data import Samples
from twosample.data.copies import copied_rows
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
    n_trials = 100 if n < 1000 else 5
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
    first, second = copied_rows(x, y)
    assert first.startswith("9 of 30 rows of x repeat an earlier row")
    assert second.startswith("15 of 50 rows of y repeat an earlier row")
    assert copied_rows(rng.normal(size=(30, 1)), rng.normal(size=(50, 1))) == ()
