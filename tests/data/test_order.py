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


def by_value(effect, noise=1.0):
    """Independent rows, sorted by the first column."""

    def law(rng, n):
        key = np.sort(rng.normal(size=n))
        return np.column_stack([key, effect(key) + noise * rng.normal(size=n), rng.normal(size=n)])

    return law


def by_year(n_years, effect):
    def law(rng, n):
        year = np.sort(rng.integers(0, n_years, n))
        shifted = effect(rng, np.arange(n_years))[year] + rng.normal(size=n)
        return np.column_stack([2000.0 + year, shifted, rng.exponential(np.exp(0.1 * year))])

    return law


def by_group_and_value(rng, n):
    group, value = np.sort(rng.integers(0, 4, n)), rng.normal(size=n)
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    shift = np.array([0.0, 3.0, 1.0, -2.0])[group]
    return np.column_stack([np.array([2.0, 0.0, 3.0, 1.0])[group], value, shift + value + rng.normal(size=n)])


SORTED = {
    "a line": by_value(lambda key: 2.0 * key),
    "an exponential": by_value(np.exp),
    "waves": by_value(lambda key: 2.0 * np.sin(3.0 * key)),
    "hardly any noise": by_value(np.abs, 0.05),
    "a function": by_value(lambda key: key, 0.0),
    "years with a trend": by_year(10, lambda rng, years: 0.5 * years),
    "years with effects": by_year(10, lambda rng, years: 2.0 * rng.normal(size=years.size)),
    "many years": by_year(60, lambda rng, years: 0.1 * years),
    "a group, and a value in it": by_group_and_value,
    "two tables, each sorted": lambda rng, n: np.vstack([SORTED["a line"](rng, n // 2) for _ in range(2)]),
    "months of years": lambda rng, n: np.column_stack(
        [np.arange(n) // 12, np.arange(n) % 12, np.sin(np.arange(n) % 12 / 2) + rng.normal(size=n)]
    ),
}


@pytest.mark.parametrize("n", [40, 123, 500])
@pytest.mark.parametrize("law", SORTED)
def test_independent_rows_that_are_sorted_are_not_noticed(law, n):
    for seed in range(20):
        rng = np.random.default_rng([seed, n])
        x, y = SORTED[law](rng, n), SORTED[law](rng, n)
        assert said(x, y) == ()
        assert said(-x[::-1], y[::-1]) == ()


def calendar(rng, n):
    """Twelve rows a year: the year, and the date in days, which does not go on in steps of one size."""
    return np.column_stack([2000.0 + np.arange(n) // 12, np.cumsum(rng.integers(28, 32, n))])


@pytest.mark.parametrize(("phi", "n"), [(1.0, 123), (0.9, 123), (0.9, 500), (0.6, 500), (0.3, 1000)])
@pytest.mark.parametrize("kept", [[0, 1], [1], [0]])
def test_sorted_dates_do_not_hide_a_series(phi, n, kept):
    rng = np.random.default_rng([n, len(kept)])
    x, y = (
        np.column_stack([rng.normal(size=n), autoregression(rng, n, phi), calendar(rng, n)[:, kept]]) for _ in range(2)
    )
    notes = said(x, y)
    assert len(notes) == 2
    for note in notes:
        assert "in column '1', beside what sorting by '" in note
        assert f"of {n:,} rows at most about" in note


def test_the_correlation_that_is_said_is_that_of_the_series():
    """Residuals have a smaller correlation than what they are of, for which the estimate makes up."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(40):
        x = np.column_stack([np.arange(300.0), autoregression(rng, 300, 0.6)])
        [note] = said(x, rng.normal(size=(300, 2)))
        found.append(float(note.split("autocorrelation ")[1].split(" ")[0]))
    assert np.mean(found) == pytest.approx(0.6, abs=0.05)


def test_rows_that_are_grouped_by_a_category_are_not_noticed_and_a_series_in_them_is():
    rng = np.random.default_rng(12)
    n = 400
    codes = np.repeat([1.0, 0.0, 3.0, 2.0], n // 4)  # in an order of their own
    shift = 2.0 * codes[:, np.newaxis]

    def found(values):
        x, y = np.column_stack([codes, values + shift]), np.column_stack([codes[::-1], values[::-1] + shift[::-1]])
        return serial_dependence(x, y, ("site", "value"), find_copies(x, y), (("a", "b", "c", "d"), None))

    assert found(rng.normal(size=(n, 1))) == ()
    assert all("sorting by 'site' explains" in note for note in found(autoregression(rng, n, 0.8)))
    assert len(said(rng.normal(size=(n, 1)) + shift, rng.normal(size=(n, 1)) + shift)) == 2  # without the sites


def test_of_pairs_the_order_of_either_sample_explains():
    rng = np.random.default_rng(13)
    year = np.sort(rng.integers(0, 10, 300))[:, np.newaxis]
    x = np.hstack([2000.0 + year, rng.normal(size=(300, 1))])
    y = np.hstack([2000.0 + year, year + rng.normal(size=(300, 1))])
    assert said(x, y, paired=True) == ()
    assert len(said(x[:, 1:], y[:, 1:], paired=True)) == 1
    y[:, 1] += autoregression(rng, 300, 0.9)[:, 0]
    [note] = said(x, y, paired=True)
    assert "in column '1', beside what sorting by '0' explains" in note


def test_missing_values_in_the_column_that_sorts_are_no_order():
    rng = np.random.default_rng(14)
    x = SORTED["a line"](rng, 200)
    x[3, 0] = np.nan
    assert len(said(x, rng.normal(size=(200, 3)))) == 1


def test_effects_of_thirty_years_are_taken_out():
    for seed in range(5):
        rng = np.random.default_rng([15, seed])
        x, y = (by_year(30, lambda rng, years: 4.0 * rng.normal(size=years.size))(rng, 500) for _ in range(2))
        assert said(x, y) == ()


def test_a_state_that_changes_now_and_then_is_a_series():
    rng = np.random.default_rng(16)
    state = (np.cumsum(rng.random(500) < 0.05) % 2).astype(float)[:, np.newaxis]
    assert len(said(state, rng.normal(size=(500, 1)))) == 1


def test_rows_are_not_sorted_by_a_few_values_at_their_end():
    rng = np.random.default_rng(17)
    flag = (np.arange(100.0) >= 97)[:, np.newaxis].astype(float)
    [note] = said(np.hstack([flag, autoregression(rng, 100, 0.95)]), rng.normal(size=(100, 2)))
    assert "sorting" not in note
