"""Rows that follow from the ones before them are noticed; independent ones, in any order of values, are not."""

import warnings

import numpy as np
import pytest

from twosample.data import Samples, find_copies, serial_dependence
from twosample.errors import DependentRowsWarning


def autoregression(rng, n, phi, d=1):
    steps = rng.normal(size=(n, d))
    rows = np.zeros((n, d))
    for row in range(1, n):
        rows[row] = phi * rows[row - 1] + steps[row]
    return rows


def said(x, y, paired=False):
    columns = tuple(map(str, range(x.shape[1])))
    return serial_dependence(x, y, columns, find_copies(x, y, paired=paired))


LAWS = {
    "gaussian": lambda rng, n: rng.normal(size=(n, 3)),
    "likert": lambda rng, n: rng.integers(1, 6, (n, 3)).astype(float),
    "binary": lambda rng, n: rng.integers(0, 2, (n, 3)).astype(float),
    "rare": lambda rng, n: (rng.random((n, 3)) < 0.03).astype(float),
    "cauchy": lambda rng, n: rng.standard_cauchy((n, 3)),
    "half zeros": lambda rng, n: np.where(rng.random((n, 3)) < 0.5, 0.0, rng.normal(size=(n, 3))),
    "alternating": lambda rng, n: rng.normal(size=(n, 3)) + 3.0 * (np.arange(n) % 2)[:, None],
    "constant": lambda rng, n: np.ones((n, 3)),
}


@pytest.mark.parametrize("n", [2, 19, 20, 60, 500])
@pytest.mark.parametrize("law", LAWS)
def test_independent_rows_are_not_noticed(law, n):
    for seed in range(50):
        rng = np.random.default_rng([seed, n])
        assert said(LAWS[law](rng, n), LAWS[law](rng, n)) == ()


@pytest.mark.parametrize(("phi", "n"), [(0.95, 100), (0.95, 500), (0.8, 100), (0.5, 500)])
@pytest.mark.parametrize("column", [0, 2])
def test_autoregressions_are_noticed(phi, n, column):
    rng = np.random.default_rng([n, column])
    x, y = rng.normal(size=(2, n, 3))
    y[:, column] = autoregression(rng, n, phi)[:, 0]
    [note] = said(x, y)
    assert note.startswith("Rows of y are not independent")
    assert f"in column '{column}'" in note


def test_how_many_rows_count_is_said():
    """For an autoregression n(1 - φ)/(1 + φ) independent rows have a mean as certain."""
    rng = np.random.default_rng(4)
    [note] = said(autoregression(rng, 10_000, 0.6), rng.normal(size=(10_000, 1)))
    worth = int(note.split("about ")[1].split(" count")[0].replace(",", ""))
    assert worth == pytest.approx(2_500, rel=0.15)


def test_outliers_do_not_hide_it():
    rng = np.random.default_rng(5)
    x = autoregression(rng, 300, 0.9)
    x[::30] = 1e9
    assert said(x, rng.normal(size=(300, 1)))


def test_sorted_rows_say_nothing():
    rng = np.random.default_rng(6)
    x, y = (np.sort(rng.normal(size=(200, 1)), axis=0) for _ in range(2))
    assert said(x, y) == ()
    assert said(-x, y) == ()
    together = np.column_stack([x, x + 0.1 * rng.normal(size=(200, 1))])  # sorted by the first column
    assert said(together, together[::-1]) == ()


def test_a_column_that_numbers_the_rows_does_not_hide_a_series():
    rng = np.random.default_rng(7)
    x, y = (np.column_stack([np.arange(300.0), autoregression(rng, 300, 0.9)]) for _ in range(2))
    notes = said(x, y)
    assert len(notes) == 2 and all("column '1'" in note for note in notes)


def test_of_pairs_the_differences_count():
    rng = np.random.default_rng(8)
    walk = np.cumsum(rng.normal(size=(300, 1)), axis=0)
    x, y = walk + rng.normal(size=(300, 1)), walk + rng.normal(size=(300, 1))
    assert len(said(x, y)) == 2
    assert said(x, y, paired=True) == ()
    [note] = said(x, rng.normal(size=(300, 1)), paired=True)
    assert note.startswith("Rows of x - y are")


def test_copies_are_not_said_twice():
    rng = np.random.default_rng(9)
    assert said(np.repeat(rng.normal(size=(50, 1)), 5, axis=0), rng.normal(size=(200, 1))) == ()


def test_it_is_a_warning_and_a_note_and_changes_nothing():
    rng = np.random.default_rng(10)
    x, y = autoregression(rng, 200, 0.9), rng.normal(size=(200, 1))
    with pytest.warns(DependentRowsWarning, match="not independent in the order given") as caught:
        samples = Samples.from_data(x, y)
    assert samples.notes == tuple(str(warning.message) for warning in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shuffled = Samples.from_data(rng.permutation(x), y)
    assert shuffled.notes == ()
    np.testing.assert_array_equal(samples.view.scale, shuffled.view.scale)
