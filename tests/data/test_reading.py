"""Reading: every kind of input gives the same rows, and what is refused, in which words."""

import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.sparse import csr_matrix

from twosample.data import Choice, Samples, as_rows, check_finite
from twosample.data.reading import finite_rows, read
from twosample.errors import InputError, InputTypeError

X = np.array([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
Y = np.array([[3.0, 40.0], [5.0, 10.0]])


def assert_same_samples(first, second):
    assert first.columns == second.columns
    for field in ("x", "y"):
        assert_array_equal(getattr(first, field), getattr(second, field))
    assert_array_equal(first.view.center, second.view.center)
    assert_array_equal(first.view.scale, second.view.scale)


def test_numpy_arrays():
    samples = Samples.from_data(X, Y)
    assert (samples.n_x, samples.n_y, samples.n_columns) == (3, 2, 2)
    assert samples.columns == ("0", "1")
    assert samples.notes == ()
    assert samples.paired is False
    assert_array_equal(samples.view.center, [3.0, 20.0])


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
        np.array([1, 2, 3], dtype=object),
        [1, Decimal(2), Fraction(3)],
        [True, np.int8(2), np.float32(3)],
        pd.Series([1, Decimal(2), 3.0], dtype=object),
        pd.DataFrame({"0": pd.array([1, 2, 3], dtype="Float64")}),
        pl.Series([Decimal("1"), Decimal("2"), Decimal("3")]),
        pa.array([Decimal("1"), Decimal("2"), Decimal("3")]),
        pd.DataFrame({"0": pd.arrays.SparseArray([1, 2, 3])}),
        csr_matrix([[1], [2], [3]]),
        sparse.coo_array([[1.0], [2.0], [3.0]]),
        sparse.lil_matrix([[1], [2], [3]]),
        sparse.coo_array([1, 2, 3]),
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
    assert_array_equal(samples.view.center, expected.view.center)
    assert_array_equal(samples.view.scale, expected.view.scale)


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
        [1, None, 3],
        [1, pd.NA, 3],
        [1.0, float("nan"), Decimal(3)],
        np.array([1, pd.NaT, 3], dtype=object),
        pd.Series([1, None, 3], dtype=object),
        pd.DataFrame({"a": pd.array([1, None, 3], dtype="Float64")}),
        pd.DataFrame({"a": pd.array([True, None, True], dtype="boolean")}) * np.array([[1], [1], [3]]),
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


def test_numbers_too_large_for_a_float_are_infinite():
    assert_array_equal(as_rows([10**400, -(10**400), 1, 2**63], "x")[0].ravel(), [np.inf, -np.inf, 1.0, 2.0**63])
    assert_array_equal(as_rows(pa.table({"a": [2**53 + 1, 0]}), "x")[0].ravel(), [2.0**53, 0.0])


def test_columns_of_a_sparse_matrix_are_chosen_before_it_is_made_dense():
    matrix = sparse.coo_array(([2.5, 4.0], ([3, 5], [7, 99_999])), shape=(50_000, 100_000))
    with pytest.raises(InputError, match="too many"):
        read(matrix, "x")
    table = read(matrix, "x", Choice.of(columns=[99_999, 7]))
    assert table.columns == ("99999", "7")
    assert np.argwhere(table.rows).tolist() == [[3, 1], [5, 0]]
    assert table.rows.max() == 4.0


# ---- dates and times

EAST = timezone(timedelta(hours=3))
MOMENTS = [datetime(1970, 1, 2, 12), None, datetime(2000, 2, 29, 6)]
DAYS = [1.5, np.nan, (date(2000, 2, 29) - date(1970, 1, 1)).days + 0.25]


@pytest.mark.parametrize(
    "moments",
    [
        MOMENTS,
        [None if moment is None else moment.replace(tzinfo=UTC).astimezone(EAST) for moment in MOMENTS],
        np.array(MOMENTS, dtype="M8[s]"),
        pd.Series(pd.to_datetime(MOMENTS)),
        pd.Series(pd.to_datetime(MOMENTS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pd.Series(MOMENTS, dtype=object),
        pl.Series(MOMENTS),
        pl.Series(MOMENTS).dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York"),
        pa.array(MOMENTS, pa.timestamp("ns", "Europe/Berlin")),
        pa.array(MOMENTS),
    ],
    ids=lambda x: f"{type(x).__module__}.{type(x).__name__}.{getattr(x, 'dtype', '')}",
)
def test_moments_are_days_since_1970_in_utc(moments):
    table = read(moments, "x")
    assert_array_equal(table.rows.ravel(), DAYS)
    assert len(table.times) == 1


@pytest.mark.parametrize(
    ("values", "days"),
    [
        ([date(1970, 1, 3), date(1969, 12, 31)], [2.0, -1.0]),
        ([timedelta(hours=36), timedelta(days=-1)], [1.5, -1.0]),
        ([time(6), time(18, 30)], [0.25, 18.5 / 24]),
    ],
)
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_dates_durations_and_times_of_day_are_days(values, days, make):
    table = read(make(values), "x")
    np.testing.assert_allclose(table.rows.ravel(), days, rtol=1e-15)
    assert len(table.times) == 1


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
        ("text", InputTypeError, "{} is a str; pass a list"),
        ({"a": [1, 2]}, InputTypeError, "{} is a dict; pass a list"),
        (np.array([[1.0, 2.0], [3.0, 4j]]), InputTypeError, "column '0' of {} holds complex numbers .*real and imagin"),
        ([[1.0, 2j], [3.0, 4.0]], InputTypeError, "column '0' of {} holds complex numbers"),
        ([[1.0, "a"], [2.0, "b"]], InputTypeError, "column '1' of {} holds text .*encode them as numbers"),
        (np.array([["1", "a"]]), InputTypeError, "column '0' of {} holds text"),
        ([[1.0, {}], [2.0, 3.0]], InputTypeError, r"column '1' of {} holds objects .*float\('nan'\)"),
        ([[1.0, None], [2.0, 3.0]], InputError, "{} has 1 missing or infinite value"),
        (np.array([1.0, "v", 3], dtype=object), InputTypeError, r"column '0' of {} holds text .*\('v' in row 1\)"),
        ([1, 2, date(2020, 1, 1)], InputTypeError, r"holds dates or times \(datetime.date\(2020, 1, 1\) in row 2\)"),
        ([date(2020, 1, 1), date(2020, 1, 2), 3], InputTypeError, r"do not go together \(3 in row 2\)"),
        (np.array([1, 2], dtype="m8[M]"), InputTypeError, "column '0' of {} holds values that do not go together"),
        (csr_matrix((10**6, 10**6)), InputError, "{} is a sparse matrix of 1000000 x 1000000, too many to hold"),
        (np.zeros(3, dtype=[("a", float)]), InputTypeError, "column '0' of {} holds objects"),
        (pd.DataFrame({"a": [1, 2, "v"]}), InputTypeError, r"column 'a' of {} holds text .*\('v' in row 2\)"),
        (pd.DataFrame({"a": ["u", "v"]}), InputTypeError, "{} has no column of numbers: column 'a' of {} holds text"),
        (pd.DataFrame({"a": [1j, 2]}), InputTypeError, "column 'a' of {} holds complex numbers"),
        (pd.Series(["u", "v"], name="c").astype("category"), InputTypeError, "column 'c' of {} holds text or categor"),
        (pd.Series([1, "v"], dtype=object), InputTypeError, "column '0' of {} holds text"),
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
    with pytest.raises(error, match=message.replace("{}", name)):
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


def test_whole_numbers_of_128_bits_beside_booleans():
    frame = pl.DataFrame(
        {"a": [0, -(2**63) - 1, None], "b": [True, False, True]}, schema={"a": pl.Int128, "b": pl.Boolean}
    )
    rows, columns = as_rows(frame, "x")
    np.testing.assert_array_equal(rows, [[0.0, 1.0], [-(2.0**63), 0.0], [np.nan, 1.0]])
    assert columns == ("a", "b")
