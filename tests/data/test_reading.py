"""Reading: every kind of input gives the same rows, and what is refused, in which words."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from twosample.data import Samples, as_rows, check_finite
from twosample.data.reading import finite_rows
from twosample.errors import InputError, InputTypeError

X = np.array([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
Y = np.array([[3.0, 40.0], [5.0, 10.0]])


def assert_same_samples(first, second):
    assert first.columns == second.columns
    for field in ("x", "y", "center", "scale"):
        assert_array_equal(getattr(first, field), getattr(second, field))


def test_numpy_arrays():
    samples = Samples.from_data(X, Y)
    assert (samples.n_x, samples.n_y, samples.n_columns) == (3, 2, 2)
    assert samples.columns == ("0", "1")
    assert samples.notes == ()
    assert samples.paired is False
    assert_array_equal(samples.center, [3.0, 20.0])


def test_no_copy_of_finite_float64():
    samples = Samples.from_data(X, Y[::-1])
    assert np.shares_memory(samples.x, X) and np.shares_memory(samples.y, Y)
    assert np.shares_memory(Samples.from_data(X[:, 0], Y[:, 0]).x, X)


def test_no_copy_of_a_float64_pandas_frame():
    frame = pd.DataFrame(X)
    assert np.shares_memory(Samples.from_data(frame, Y).x, frame.to_numpy())


@pytest.mark.parametrize(
    "x",
    [
        [1, 2, 3],
        (1, 2, 3),
        range(1, 4),
        [[1], [2], [3]],
        [np.float64(1), 2, 3.0],
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1, 2, 3], dtype=np.float16),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([1, 2, 3], dtype=">f8"),
        np.array([1, 2, 3], dtype=np.longdouble),
        np.ma.masked_array([1.0, 2.0, 3.0]),
        pd.Series([1, 2, 3]),
        pd.Series([1, 2, 3], dtype="Int64"),
        pd.Series([1, 2, 3], dtype="int64[pyarrow]"),
        pd.Index([1, 2, 3]),
        pl.Series([1, 2, 3]),
        pl.LazyFrame({"0": [1, 2, 3]}),
        pa.chunked_array([[1, 2], [3]]),
        pa.array([1, 2, 3]),
    ],
    ids=lambda x: f"{type(x).__module__}.{type(x).__name__}.{getattr(x, 'dtype', '')}",
)
def test_every_kind_of_one_column_is_the_same(x):
    assert_same_samples(Samples.from_data(x, [2.0, 5.0]), Samples.from_data(np.array([1.0, 2.0, 3.0]), [2.0, 5.0]))


@pytest.mark.parametrize(
    "x", [[True, False], np.array([True, False]), pl.Series([True, False]), pa.chunked_array([[True, False]])]
)
def test_booleans_are_zeros_and_ones(x):
    assert_array_equal(Samples.from_data(x, [0, 1]).x, [[1.0], [0.0]])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_equal_arrays(make):
    names = ("a", "b")
    x, y = (make({name: rows[:, index] for index, name in enumerate(names)}) for rows in (X, Y))
    samples, expected = Samples.from_data(x, y), Samples.from_data(X, Y)
    assert samples.columns == names
    assert_array_equal(samples.x, expected.x)
    assert_array_equal(samples.y, expected.y)
    assert_array_equal(samples.center, expected.center)
    assert_array_equal(samples.scale, expected.scale)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_mixed_numeric_types(make):
    frame = make({"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, 1.5, 2.5]})
    rows, columns = as_rows(frame, "x")
    assert columns == ("a", "b", "c")
    assert_array_equal(rows, [[1, 1, 0.5], [2, 0, 1.5], [3, 1, 2.5]])


@pytest.mark.parametrize(
    "x",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
        pl.Series([1, None, 3]),
        pl.DataFrame({"a": [1.0, None, 3.0]}),
        pa.chunked_array([[1, None, 3]]),
        pa.table({"a": [1, None, 3]}),
        np.ma.masked_array([1, 2, 3], mask=[False, True, False]),
        np.ma.masked_array([1.0, np.inf, 3.0], mask=[False, True, False]),
    ],
    ids=lambda x: f"{type(x).__module__}.{type(x).__name__}",
)
def test_missing_entries_become_nan(x):
    assert_array_equal(as_rows(x, "x")[0], [[1.0], [np.nan], [3.0]])
    with pytest.raises(InputError, match=r"^x has 1 missing"):
        Samples.from_data(x, [2.0, 5.0])


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.tensor(X, requires_grad=True)
    samples = Samples.from_data(x, torch.tensor(Y, dtype=torch.float32))
    assert_same_samples(samples, Samples.from_data(X, Y))
    assert np.shares_memory(samples.x, x.detach().numpy())
    assert_array_equal(as_rows(torch.tensor([1, 2]), "x")[0], [[1.0], [2.0]])
    assert_array_equal(as_rows(torch.tensor([1, 2], dtype=torch.bfloat16), "x")[0], [[1.0], [2.0]])
    with pytest.raises(InputTypeError, match="of x holds complex"):
        as_rows(torch.tensor([1j, 2.0]), "x")


def test_jax_arrays():
    jax = pytest.importorskip("jax")
    assert_same_samples(Samples.from_data(jax.numpy.asarray(X), jax.numpy.asarray(Y)), Samples.from_data(X, Y))
    assert_array_equal(as_rows(jax.numpy.asarray([1, 2], dtype="bfloat16"), "x")[0], [[1.0], [2.0]])


def test_importing_and_using_arrays_loads_no_dataframe_library():
    program = (
        "import sys; from twosample.data import Samples; Samples.from_data([1.0, 2.0], [2.0, 5.0]); "
        "print(sorted({'narwhals', 'array_api_compat', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert output.stdout.strip() == "[]"


# ---- refusals


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ([], InputError, "{} is empty"),
        (np.empty((0, 2)), InputError, "{} is empty"),
        (pd.DataFrame({"a": []}), InputError, "{} is empty"),
        (pd.DataFrame(), InputError, "{} is empty"),
        ([[1.0, 2.0]], InputError, "{} has 1 row; pass at least 2"),
        (3.0, InputError, "{} has 0 dimensions"),
        (np.float64(3.0), InputError, "{} has 0 dimensions"),
        (np.ones((2, 2, 2)), InputError, "{} has 3 dimensions"),
        ([[1.0, 2.0], [3.0]], InputError, "{} has rows of different lengths"),
        (None, InputTypeError, "{} is a NoneType; pass a list"),
        ("text", InputTypeError, "{} is a str; pass a list"),
        ({"a": [1, 2]}, InputTypeError, "{} is a dict; pass a list"),
        (np.array([[1.0, 2.0], [3.0, 4j]]), InputTypeError, "column '0' of {} holds complex numbers .*real and imagin"),
        ([[1.0, 2j], [3.0, 4.0]], InputTypeError, "column '0' of {} holds complex numbers"),
        ([[1.0, "a"], [2.0, "b"]], InputTypeError, "column '1' of {} holds text .*encode them as numbers"),
        (np.array([["1", "a"]]), InputTypeError, "column '0' of {} holds text"),
        ([[1.0, None], [2.0, 3.0]], InputTypeError, r"column '1' of {} holds objects .*float\('nan'\)"),
        (np.array([1.0, 2.0], dtype=object), InputTypeError, "column '0' of {} holds objects"),
        (np.array(["2020-01-01"], dtype="M8[D]"), InputTypeError, "column '0' of {} holds dates or times .*days since"),
        (np.zeros(3, dtype=[("a", float)]), InputTypeError, "column '0' of {} holds objects"),
        (pd.DataFrame({"a": [1, 2], "b": ["u", "v"]}), InputTypeError, "column 'b' of {} holds text"),
        (pd.DataFrame({"a": [1j, 2]}), InputTypeError, "column 'a' of {} holds complex numbers"),
        (pd.Series(["u", "v"], name="c").astype("category"), InputTypeError, "column 'c' of {} holds text or categor"),
        (pd.Series([1, "v"], dtype=object), InputTypeError, "column '0' of {} holds objects"),
        (pd.DataFrame({"t": pd.to_datetime(["2020", "2021"])}), InputTypeError, "column 't' of {} holds dates"),
        (pl.DataFrame({"a": ["u", "v"]}), InputTypeError, "column 'a' of {} holds text"),
        (pl.DataFrame({"a": [[1], [2]]}), InputTypeError, "column 'a' of {} holds objects"),
        (pa.table({"a": ["u", "v"]}), InputTypeError, "column 'a' of {} holds text"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), InputError, "{} has two columns of the same name"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["1", 1]), InputError, "{} has two columns of the same name"),
        (pa.table([[1], [2]], names=["a", "a"]), InputError, "{} has two columns of the same name"),
        ([[1.0, 2.0], [3.0, 1.7e308]], InputError, "column '1' of {} holds values beyond"),
    ],
)
@pytest.mark.parametrize("name", ["x", "y"])
def test_refusals_name_the_argument(bad, error, message, name):
    arguments = {"x": X, "y": Y, name: bad}
    with pytest.raises(error, match=message.format(name)):
        Samples.from_data(**arguments)


def test_refusals_have_fields():
    for bad in ([], [[1.0, "a"]], [[1.0], [1.0, 2.0]], np.ones((2, 2, 2)), None):
        with pytest.raises((InputError, InputTypeError)) as refused:
            as_rows(bad, "points")
        assert refused.value.argument == "points"
        assert refused.value.remedy


# ---- rows of other arguments


def test_as_rows_checks_the_number_of_columns():
    assert as_rows([[1, 2]], "points", n_columns=2)[0].shape == (1, 2)
    with pytest.raises(InputError, match=r"points must have 2 columns, not 1; pass shape \(n, 2\)"):
        as_rows([1.0, 2.0], "points", n_columns=2)


def test_check_finite_passes_finite_rows_and_places_the_first_bad_value():
    rows = np.zeros((40_000, 2))
    check_finite(rows, "points")
    rows[[30_000, 35_000], 1] = np.nan
    with pytest.raises(InputError, match=r"points has 2 missing or infinite values \(first: row 30000, column '1'\)"):
        check_finite(rows, "points")


def test_finite_rows_in_several_blocks():
    rows = np.zeros((40_000, 2))
    rows[3, 0], rows[30_000, 1], rows[39_999, 0] = np.inf, np.nan, -np.inf
    assert np.flatnonzero(~finite_rows(rows)).tolist() == [3, 30_000, 39_999]
