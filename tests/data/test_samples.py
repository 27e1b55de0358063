"""The checked pair: columns that are matched, what is dropped, and what is left unchanged."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from twosample.data import Samples
from twosample.errors import DroppedDataWarning, InputError

X = np.array([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
Y = np.array([[3.0, 40.0], [5.0, 10.0]])


def assert_same_samples(first, second):
    assert first.columns == second.columns
    for field in ("x", "y"):
        assert_array_equal(getattr(first, field), getattr(second, field))
    assert_array_equal(first.view.center, second.view.center)
    assert_array_equal(first.view.scale, second.view.scale)


def test_different_column_counts():
    with pytest.raises(InputError, match="x has 2 columns and y has 1"):
        Samples.from_data(X, Y[:, :1])


def test_paired_needs_equal_numbers_of_rows_before_any_is_omitted():
    x = np.array([1.0, np.nan, 3.0])
    with pytest.raises(InputError, match="x has 3 rows and y has 2; paired=True"):
        Samples.from_data(x, [1.0, 2.0], paired=True, nan_policy="omit")


def test_unknown_nan_policy():
    with pytest.raises(InputError, match="nan_policy must be"):
        Samples.from_data(X, Y, nan_policy="drop")


# ---- names of columns


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_matched_by_name(make):
    x = make({"a": X[:, 0], "b": X[:, 1]})
    y = make({"b": Y[:, 1], "a": Y[:, 0]})
    samples = Samples.from_data(x, y)
    assert samples.columns == ("a", "b")
    assert_array_equal(samples.y, Y)


def test_frames_of_two_libraries_are_matched_by_name():
    samples = Samples.from_data(pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame({"b": Y[:, 1], "a": Y[:, 0]}))
    assert_array_equal(samples.y, Y)


def test_different_names_list_what_is_missing_where():
    x, y = pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "c"])
    with pytest.raises(InputError, match="x has no column 'c'; y has no column 'b'"):
        Samples.from_data(x, y)


def test_frame_against_array_goes_by_position():
    frame = pd.DataFrame(Y, columns=["a", "b"])
    for samples in (Samples.from_data(X, frame), Samples.from_data(frame, X)):
        assert samples.columns == ("a", "b")
    assert_array_equal(Samples.from_data(X, frame).y, Y)


@pytest.mark.parametrize(
    ("x_name", "y_name", "columns"),
    [("a", "a", ("a",)), ("a", None, ("a",)), ("before", "after", ("0",)), (None, None, ("0",))],
)
def test_names_of_series(x_name, y_name, columns):
    samples = Samples.from_data(pd.Series([1.0, 2.0], name=x_name), pd.Series([1.0, 3.0], name=y_name))
    assert samples.columns == columns


def test_frame_against_series_takes_the_name_of_the_frame():
    samples = Samples.from_data(pd.Series([1.0, 2.0], name="b"), pd.DataFrame({"a": [1.0, 3.0]}))
    assert samples.columns == ("a",)


# ---- missing and infinite values


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["x", "y"])
def test_raise_gives_count_and_place(bad, name):
    arguments = {"x": X.copy(), "y": np.vstack([Y, Y + 1])}
    arguments[name][2, 1] = arguments[name][1, 1] = bad
    with pytest.raises(
        InputError, match=rf"^{name} has 2 missing or infinite values \(first: row 1, column '1'\).*omit"
    ):
        Samples.from_data(**arguments)


def test_raise_names_the_column_of_a_frame():
    with pytest.raises(InputError, match=r"x has 1 missing or infinite value .*column 'b'"):
        Samples.from_data(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}), Y)


def test_omit_drops_rows():
    x, y = np.vstack([X, [np.nan, 1.0], [1.0, np.inf]]), np.vstack([Y, [-np.inf, 1.0]])
    with pytest.warns(DroppedDataWarning, match="Dropped 2 of 5 rows of x and 1 of 3 rows of y"):
        samples = Samples.from_data(x, y, nan_policy="omit")
    assert_same_samples(samples, Samples.from_data(X, Y))
    assert samples.notes == ("Dropped 2 of 5 rows of x and 1 of 3 rows of y with a missing or infinite value.",)


def test_omit_drops_pairs_whole():
    x, y = [1.0, np.nan, 3.0, 4.0], [5.0, 6.0, np.nan, 8.0]
    with pytest.warns(DroppedDataWarning, match="Dropped 2 of 4 pairs"):
        samples = Samples.from_data(x, y, nan_policy="omit", paired=True)
    assert_array_equal(samples.x, [[1.0], [4.0]])
    assert_array_equal(samples.y, [[5.0], [8.0]])
    assert samples.paired is True


def test_omit_without_anything_to_omit_is_silent():
    assert Samples.from_data(X, Y, nan_policy="omit").notes == ()


@pytest.mark.parametrize("name", ["x", "y"])
def test_omit_must_leave_two_rows(name):
    arguments = {"x": X, "y": X + 1, name: np.array([[1.0, 2.0], [np.nan, 2.0]])}
    with pytest.raises(InputError, match=f"{name} has fewer than 2 rows left after dropping 1 of 2"):
        Samples.from_data(**arguments, nan_policy="omit")


# ---- constant columns


def test_constant_columns_are_dropped():
    x, y = np.insert(X, 1, 7.0, axis=1), np.insert(Y, 1, 7.0, axis=1)
    with pytest.warns(DroppedDataWarning, match="Dropped 1 of 3 columns .*: '1'"):
        samples = Samples.from_data(x, y, scale=[2.0, 3.0, 4.0])
    assert samples.columns == ("0", "2")
    assert_array_equal(samples.x, X)
    assert_array_equal(samples.view.scale, [2.0, 4.0])
    assert samples.notes == ()
    assert samples.column_notes == ("Dropped 1 of 3 columns that hold one value throughout: '1'.",)


def test_a_column_constant_in_each_sample_but_not_pooled_is_kept():
    x, y = np.column_stack([X, np.zeros(3)]), np.column_stack([Y, np.ones(2)])
    assert Samples.from_data(x, y).n_columns == 3


def test_the_same_constant_is_kept():
    samples = Samples.from_data(np.full((3, 2), 5.0), np.full((4, 2), 5.0))
    assert samples.columns == ("0", "1")
    assert_array_equal(samples.view.center, [5.0, 5.0])
    assert_array_equal(samples.view.scale, [1.0, 1.0])
    assert samples.notes == ()
    assert samples.column_notes == ()


def test_two_different_constants_are_refused():
    with pytest.raises(InputError, match=r"x and y each hold one row repeated.*nothing to judge the difference by"):
        Samples.from_data([[1.0, 5.0]] * 3, [[2.0, 5.0]] * 3)


# ---- memory


def test_extra_memory_is_a_few_columns():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100_000, 10)), rng.normal(size=(100_000, 10))
    tracemalloc.start()
    Samples.from_data(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * x[:, 0].nbytes
