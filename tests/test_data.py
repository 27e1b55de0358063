"""Tests of the validator: what it accepts, what it refuses and in which words, and what it leaves unchanged."""

import math
import subprocess
import sys
import tracemalloc
import warnings
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from twosample.data import Samples, as_rows, check_finite
from twosample.errors import DroppedDataWarning, DuplicateRowsWarning, InputError, InputTypeError

# The scale is at least that of the interquartile range over this.
BOUND = 5

X = np.array([[1.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
Y = np.array([[3.0, 40.0], [5.0, 10.0]])


def assert_same_samples(first, second):
    assert first.columns == second.columns
    for field in ("x", "y", "center", "scale"):
        assert_array_equal(getattr(first, field), getattr(second, field))


# ---- kinds of input


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
    assert_array_equal(samples.scale, [2.0, 4.0])
    assert len(samples.notes) == 1


def test_a_column_constant_in_each_sample_but_not_pooled_is_kept():
    x, y = np.column_stack([X, np.zeros(3)]), np.column_stack([Y, np.ones(2)])
    assert Samples.from_data(x, y).n_columns == 3


def test_the_same_constant_is_kept():
    samples = Samples.from_data(np.full((3, 2), 5.0), np.full((4, 2), 5.0))
    assert samples.columns == ("0", "1")
    assert_array_equal(samples.center, [5.0, 5.0])
    assert_array_equal(samples.scale, [1.0, 1.0])
    assert samples.notes == ()


def test_two_different_constants_are_refused():
    with pytest.raises(InputError, match=r"x and y each hold one row repeated.*nothing to judge the difference by"):
        Samples.from_data([[1.0, 5.0]] * 3, [[2.0, 5.0]] * 3)


# ---- center and scale


def quarter_of_distances(values):
    """The distance within which a quarter of all pairs lie, over that of a standard normal column."""
    distances = sorted(abs(a - b) for a, b in combinations(np.ravel(values).tolist(), 2))
    return distances[math.ceil(len(distances) / 4) - 1] / (math.sqrt(2.0) * NormalDist().inv_cdf(0.625))


def interquartile_range(values):
    first, third = np.quantile(values, [0.25, 0.75])
    return (third - first) / (2.0 * NormalDist().inv_cdf(0.75))


def test_robust_scale_is_the_pooled_distance_of_a_quarter_of_the_pairs():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(31, 3)), rng.gamma(2.0, size=(20, 3))
    samples = Samples.from_data(x, y)
    pooled = np.vstack([x, y])
    median = np.median(pooled, axis=0)
    np.testing.assert_allclose(samples.center, median, rtol=1e-15)
    np.testing.assert_allclose(samples.scale, [quarter_of_distances(column) for column in pooled.T], rtol=1e-3)
    np.testing.assert_allclose(samples.standardize(x), (x - median) / samples.scale, rtol=1e-12, atol=1e-15)


def test_robust_scale_of_many_rows():
    x, y = np.random.default_rng(2).normal(size=(2, 800, 1))
    np.testing.assert_allclose(Samples.from_data(x, y).scale, quarter_of_distances([x, y]), rtol=0.03)


def test_robust_scale_of_clusters_is_not_the_distance_between_them():
    rng = np.random.default_rng(3)
    near, far = (rng.normal(size=300) + distance * rng.integers(0, 2, 300) for distance in (10, 1000))
    scale = Samples.from_data(near[:100], near[100:]).scale
    assert 1.5 < scale < 2.7
    np.testing.assert_allclose(
        Samples.from_data(far[:100], far[100:]).scale, interquartile_range(far) / BOUND, rtol=1e-3
    )


def test_a_spike_does_not_set_the_scale():
    rng = np.random.default_rng(4)
    values = np.where(rng.random(200) < 0.6, 1e-6 * rng.normal(size=200), rng.exponential(size=200))
    np.testing.assert_allclose(
        Samples.from_data(values[:90], values[90:]).scale, interquartile_range(values) / BOUND, rtol=1e-3
    )


@pytest.mark.parametrize("values", [[0.0, 1.0] * 20, [0.0] * 22 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 3])
def test_interquartile_range_where_a_quarter_of_the_pairs_are_equal(values):
    np.testing.assert_allclose(
        Samples.from_data(values[:25], values[25:]).scale, interquartile_range(values), rtol=1e-3
    )


def test_standard_deviation_where_the_interquartile_range_is_zero():
    x, y = [0.0] * 9 + [3.0], [0.0] * 9 + [-7.0]
    samples = Samples.from_data(x, y)
    np.testing.assert_allclose(samples.scale, np.std(x + y), rtol=1e-15)


def test_raw_scale():
    assert_array_equal(Samples.from_data(X, Y, scale="raw").scale, [1.0, 1.0])


def test_given_scale():
    assert_array_equal(Samples.from_data(X, Y, scale=[2, 3]).scale, [2.0, 3.0])


@pytest.mark.parametrize(
    "scale",
    ["robusto", [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], 1.0, [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]],
)
def test_invalid_scale(scale):
    with pytest.raises(InputError, match=r"^scale must be"):
        Samples.from_data(X, Y, scale=scale)


def test_non_numeric_scale():
    with pytest.raises(InputTypeError, match="of scale holds text"):
        Samples.from_data(X, Y, scale=["a", "b"])


@pytest.mark.parametrize("magnitude", [1e-320, 1e-300, 1.0, 1e300, 1e307])
@pytest.mark.parametrize(
    "values",
    [
        [-3.0, -1.0, 1.0, 4.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0],
        [-4.0, 4.0],
        [-4.4, 0.0, 4.4],
        [-4.4, -1.1, 1.1, 4.4],
    ],
)
def test_any_magnitude_gives_positive_finite_scale(magnitude, values):
    x = np.array(values) * magnitude
    samples = Samples.from_data(x, x)
    assert np.isfinite(samples.center).all() and np.isfinite(samples.scale).all() and (samples.scale > 0).all()
    assert (np.abs(samples.standardize(samples.x)) <= 8).all()


def test_squares_stay_finite_when_one_column_spans_all_magnitudes():
    x = np.array([1e-300, 2e-300, 3e-300, 4e-300, 1e300])
    standardized = Samples.from_data(x, x).standardize(x[:, np.newaxis])
    assert np.isfinite(standardized**2).all()


finite = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)
two_samples = st.tuples(st.integers(2, 12), st.integers(2, 12), st.integers(1, 3)).flatmap(
    lambda sizes: st.tuples(
        arrays(np.float64, (sizes[0], sizes[2]), elements=finite),
        arrays(np.float64, (sizes[1], sizes[2]), elements=finite),
    )
)


def from_any(x, y):
    """Validate, without warnings; None where the samples are two different constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Samples.from_data(x, y)
        except InputError:
            return None


@given(two_samples, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(pair, random):
    x, y = pair
    shuffled = from_any(*(rows[random.sample(range(len(rows)), len(rows))] for rows in (x, y)))
    samples = from_any(x, y)
    if samples is None:
        assert shuffled is None
    else:
        assert_array_equal(shuffled.center, samples.center)
        assert_array_equal(shuffled.scale, samples.scale)
        assert (shuffled.columns, shuffled.notes) == (samples.columns, samples.notes)


@given(two_samples)
def test_swapping_the_samples_changes_nothing_pooled(pair):
    samples, swapped = from_any(*pair), from_any(*pair[::-1])
    if samples is None:
        assert swapped is None
    else:
        assert_array_equal(swapped.center, samples.center)
        assert_array_equal(swapped.scale, samples.scale)
        assert swapped.columns == samples.columns


# Integers keep the products above the subnormal numbers, where a power of two is no longer exact.
@given(
    st.lists(st.integers(-1000, 1000), min_size=2),
    st.lists(st.integers(-1000, 1000), min_size=2),
    st.integers(-900, 900),
)
def test_powers_of_two_scale_exactly(x, y, exponent):
    samples, scaled = from_any(x, y), from_any(np.ldexp(x, exponent), np.ldexp(y, exponent))
    if samples is not None and len(set(x + y)) > 1:
        assert_array_equal(scaled.scale, np.ldexp(samples.scale, exponent))
        assert_array_equal(scaled.center, np.ldexp(samples.center, exponent))


@given(two_samples)
def test_standardized_samples_are_finite(pair):
    samples = from_any(*pair)
    if samples is not None:
        assert np.isfinite(samples.standardize(samples.x)).all()


# ---- copied rows


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


# ---- helpers shared with the other modules


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


# ---- memory


def test_extra_memory_is_a_few_columns():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100_000, 10)), rng.normal(size=(100_000, 10))
    tracemalloc.start()
    Samples.from_data(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * x[:, 0].nbytes
