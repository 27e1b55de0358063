"""Tables split by a column, columns that are chosen or left out, and what is said of them."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import twosample as ts
from twosample.data import Choice
from twosample.data.two_tables import read_two
from twosample.errors import DatesWarning, DroppedDataWarning, InputError, InputTypeError

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=60)
OTHERS = RNG.normal(size=60)
ARMS = (["p"] * 2 + ["q"]) * 20
TRIAL = {"arm": ARMS, "dose": VALUES, "age": OTHERS}
IS_P = np.array(ARMS) == "p"
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame]


@pytest.fixture(scope="module")
def expected():
    both = np.stack([VALUES, OTHERS], axis=1)
    return ts.test(both[IS_P], both[~IS_P]).log_bf10


# ---- by


@pytest.mark.parametrize("make", FRAMES)
def test_by_splits_frames(make, expected):
    result = ts.test(make(TRIAL), by="arm")
    assert result.log_bf10 == expected
    assert result.names == ("p", "q")
    assert result.columns == ("dose", "age")


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series, pd.Categorical, pa.array])
def test_by_may_be_labels(make, expected):
    assert ts.test(pl.DataFrame(TRIAL).drop("arm"), by=make(ARMS)).log_bf10 == expected
    assert ts.test(np.stack([VALUES, OTHERS], axis=1), by=make(ARMS)).names == ("p", "q")


def test_by_may_be_a_place_in_an_array(expected):
    array = np.stack([VALUES, np.where(IS_P, 1.0, 2.0), OTHERS], axis=1)
    result = ts.test(array, by=1)
    assert (result.log_bf10, result.names, result.columns) == (expected, ("1", "2"), ("0", "2"))


@pytest.mark.parametrize("labels", [[1, 2], [1.0, 2.0], [True, False], [date(2020, 1, 1), date(2020, 1, 2)]])
def test_labels_of_any_kind(labels):
    column = [labels[0] if arm == "p" else labels[1] for arm in ARMS]
    frame = pl.DataFrame({"arm": column, "dose": VALUES})
    result = ts.test(frame, by="arm", groups=labels[::-1])
    assert result.names == tuple(str(label).removesuffix(".0") for label in labels[::-1])
    assert (result.n_x, result.n_y) == (20, 40)


def test_groups_choose_two_and_their_order():
    frame = pl.DataFrame({**TRIAL, "arm": (["p", "q", "r"]) * 20})
    result = ts.test(frame, by="arm", groups=("r", "p"))
    x, y = frame.filter(arm="r").drop("arm"), frame.filter(arm="p").drop("arm")
    assert result.names == ("r", "p")
    assert result.log_bf10 == ts.test(x, y).log_bf10


def test_other_numbers_of_groups_are_refused_with_what_to_do():
    frame = pl.DataFrame({**TRIAL, "arm": (["p", "q", "r", "p"]) * 15})
    with pytest.raises(
        InputError, match=r"^by: .*3 different values, not 2: 'p' \(30 rows\), 'q' \(15 rows\)"
    ) as refused:
        ts.test(frame, by="arm")
    assert refused.value.argument == "by"
    assert "groups=('p', 'q')" in str(refused.value) and "ksample" in str(refused.value)
    with pytest.raises(InputError, match="holds 1 value, not 2: 'p'"):
        ts.test(frame.filter(arm="p"), by="arm")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_rows_without_a_label_are_left_out(missing, expected):
    labels = [*ARMS, missing, missing]
    frame = pd.DataFrame({"dose": [*VALUES, 9.0, 9.0], "age": [*OTHERS, 9.0, 9.0]})
    with pytest.warns(DroppedDataWarning, match="Left out 2 rows without a label"):
        result = ts.test(frame, by=labels)
    assert result.log_bf10 == expected
    assert "Left out 2 rows without a label." in result.diagnostics.notes
    with pytest.warns(DroppedDataWarning, match="Left out 2 rows without a value in column 'arm'"):
        ts.test(frame.assign(arm=labels), by="arm")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "amr"}, r"by: x has no column 'amr'; it has 'arm', 'dose', 'age'; did you mean 'arm'\?"),
        ({"by": ["p", "q"]}, "by: has 2 labels for 60 rows"),
        ({"by": "arm", "groups": ("p", "z")}, "groups: column 'arm' has no value 'z'; it has 'p', 'q'"),
        ({"by": "arm", "groups": ("p", "p")}, "groups: needs two different values"),
        ({"by": "arm", "groups": ("p",)}, "groups: needs two different values"),
        ({"groups": ("p", "q")}, "groups: needs the column"),
        ({"by": "arm", "y": [1.0, 2.0]}, "by: splits x, so there must be no y"),
        ({"by": "arm", "columns": ["arm"]}, "columns: 'arm' says which sample a row is in"),
        ({"by": "arm", "columns": ["doze"]}, r"columns: x has no column 'doze'; .* did you mean 'dose'\?"),
        ({"by": "arm", "drop": ["ago"]}, r"drop: x has no column 'ago'; .* did you mean 'age'\?"),
        ({"by": "arm", "columns": ["dose", "dose"]}, "columns: names a column twice"),
        ({"by": "arm", "columns": []}, "columns: names nothing"),
        ({"by": "arm", "columns": ["dose"], "drop": "dose"}, "drop: 'dose' is also among"),
    ],
)
@pytest.mark.parametrize("function", [ts.test, ts.plan, ts.gibbs])
def test_mistakes_name_what_there_is(function, options, message):
    with pytest.raises(InputError, match=message) as refused:
        function(pl.DataFrame(TRIAL), **options)
    assert refused.value.argument == message.split(":")[0]


@pytest.mark.parametrize(("argument", "value"), [("by", True), ("columns", 3j), ("drop", b"x"), ("groups", 1j)])
def test_wrong_types(argument, value):
    with pytest.raises(InputTypeError, match=f"^{argument}: "):
        ts.test(pl.DataFrame(TRIAL), **{"by": "arm", argument: value})


def test_labels_must_be_single_values():
    with pytest.raises(InputTypeError, match=r"^by: column 'arm' holds list, not single values"):
        ts.test(pl.DataFrame({**TRIAL, "arm": [[1]] * 60}), by="arm")


def test_by_works_in_the_other_functions(expected):
    frame = pl.DataFrame(TRIAL)
    x, y = frame.filter(arm="p").drop("arm"), frame.filter(arm="q").drop("arm")
    each = ts.test_each(frame, by="arm")
    assert_array_equal(each.log_bf10, ts.test_each(x, y).log_bf10)
    three = frame.with_columns(arm=pl.Series(["p", "q", "r"] * 20))
    assert ts.test_each(three, by="arm", groups=("q", "r")).n_x.tolist() == [20, 20]
    assert "both" in ts.test_each(frame, by="arm", groups={"both": ["dose", "age"]}).column
    plan = ts.plan(frame, by="arm")
    assert plan.test(plan.statistics(x, y)).log_bf10 == pytest.approx(expected, rel=1e-9)
    assert ts.log_bf10(x, y, 1.0, columns=["age"]) == ts.log_bf10(x["age"], y["age"], 1.0)


# ---- columns


def test_columns_are_chosen_by_name_and_in_that_order():
    frame = pl.DataFrame({**TRIAL, "note": ["text"] * 60})
    assert ts.test(frame, by="arm", columns=["age", "dose"]).columns == ("age", "dose")
    result = ts.test(frame, by="arm", columns="dose")
    assert result.columns == ("dose",)
    assert result.log_bf10 == ts.test(VALUES[IS_P], VALUES[~IS_P]).log_bf10
    assert result.left_out == ()


def test_columns_of_two_frames_need_only_be_in_both():
    x, y = pl.DataFrame({"a": VALUES, "b": OTHERS}), pl.DataFrame({"c": OTHERS, "a": OTHERS})
    with pytest.raises(InputError, match=r"x has no column 'c'; y has no column 'b'; .*columns=\('a',\)"):
        ts.test(x, y)
    assert ts.test(x, y, columns=["a"]).columns == ts.test(x, y, drop=["b", "c"]).columns == ("a",)


def test_places_in_arrays():
    rows = RNG.normal(size=(80, 4))
    expected = ts.test(rows[:40, [3, 1]], rows[40:, [3, 1]]).log_bf10
    for options in ({"columns": [3, 1]}, {"columns": ["3", "1"]}, {"drop": [0, 2]}):
        result = ts.test(rows[:40], rows[40:], **options)
        assert result.log_bf10 == pytest.approx(expected, rel=1e-9)
        assert set(result.columns) == {"1", "3"}
    with pytest.raises(InputError, match="columns: x has no column '4'; it has '0', '1', '2', '3'"):
        ts.test(rows[:40], rows[40:], columns=[4])
    plan = ts.plan(rows[:40], rows[40:], columns=[3, 1])
    for x, y in ((rows[:40], rows[40:]), (rows[:40, [3, 1]], rows[40:, [3, 1]])):
        assert plan.test(plan.statistics(x, y)).log_bf10 == pytest.approx(expected, rel=1e-9)


def test_a_plan_takes_frames_with_more_columns():
    frame = pl.DataFrame({**TRIAL, "when": [datetime(2020, 1, 1) + timedelta(hours=7 * hour**2) for hour in range(60)]})
    with pytest.warns(DatesWarning):
        plan = ts.plan(frame, by="arm")
    statistics = plan.statistics(frame.filter(arm="p"), frame.filter(arm="q"))
    with pytest.warns(DatesWarning):
        expected = ts.test(frame, by="arm").log_bf10
    assert plan.test(statistics).log_bf10 == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InputError, match=r"x has no column 'when'; .*the plan needs all"):
        plan.statistics(frame.drop("when"), None)


# ---- text


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_is_left_out_by_name(make):
    frame = make({**TRIAL, "note": [f"n{row}" for row in range(60)], "empty": [[1]] * 60})
    with pytest.warns(DroppedDataWarning, match=r"'empty' \(.*\), 'note' \(.*\); .*categories that rows share"):
        result = ts.test(frame, by="arm")
    assert [one.column for one in result.left_out] == ["empty", "note"]
    assert (
        "  columns left out     empty (objects that are not numbers), note (text that is different in 60 of 60 rows)\n"
        in result.summary()
    )
    assert "  columns used         dose, age\n" in result.summary()
    read_back = ts.TwoSampleResult.from_json(result.to_json())
    assert (read_back.left_out, read_back.names) == (result.left_out, result.names)
    with pytest.raises(InputError, match="column 'note' holds text that is different in 60 of 60 rows; leave it out"):
        ts.test(frame, by="arm", columns=["dose", "note"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_is_left_out_where_a_model_takes_only_numbers(make):
    frame = make({**TRIAL, "city": ["Bonn", None] * 30})
    with pytest.warns(DroppedDataWarning, match=r"'city' \(text or categories\); .*0/1 column per category"):
        plan = ts.plan(frame, by="arm", model="paper")
    assert plan.columns == ("dose", "age")
    with pytest.raises(InputTypeError, match=r"column 'city' of x holds text or categories \('Bonn' in row 0\)"):
        ts.plan(frame, by="arm", columns=["dose", "city"], model="paper")


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["u", "v"])])
def test_categories_are_compared(dtype):
    frame = pl.DataFrame({"a": VALUES, "kind": pl.Series(["u", "v"] * 30, dtype=dtype)})
    assert ts.test(frame[:30], frame[30:]).columns == ("a", "kind")
    assert ts.test(frame.to_pandas()[:30], frame.to_pandas()[30:]).columns == ("a", "kind")


def test_text_in_one_sample_leaves_the_column_out_of_both():
    x, y = pl.DataFrame({"a": VALUES, "b": OTHERS}), pl.DataFrame({"a": OTHERS, "b": ["b1"] * 60})
    with pytest.warns(DroppedDataWarning, match="'b' .text in y and numbers in x"):
        result = ts.test(x, y)
    assert result.columns == ("a",) and result.left_out[0].column == "b"
    with pytest.raises(InputTypeError, match="no column holds numbers in both"):
        ts.test(x.with_columns(a=pl.lit("a1")), y)


def test_constant_and_dropped_columns_are_named_too():
    frame = pl.DataFrame({**TRIAL, "one": [1.0] * 60, "extra": OTHERS})
    with pytest.warns(DroppedDataWarning, match="one value throughout"):
        result = ts.test(frame, by="arm", drop=["extra"])
    assert {one.column: one.reason for one in result.left_out} == {
        "extra": "dropped as asked",
        "one": "one value throughout",
    }
    with pytest.warns(DroppedDataWarning):
        skipped = ts.test_each(frame.with_columns(t=pl.lit("t")), by="arm", drop=["extra"]).skipped
    assert skipped == {"extra": "dropped as asked", "t": "one value throughout", "one": "one value throughout"}


def test_many_columns_are_shortened():
    frame = pl.DataFrame({f"c{place}": RNG.normal(size=30) for place in range(40)})
    frame = frame.with_columns(pl.Series([f"s{row}" for row in range(30)]).alias(f"t{place}") for place in range(30))
    with pytest.warns(DroppedDataWarning, match="and 22 more"):
        result = ts.test(frame[:15], frame[15:], subsets=None)
    assert (
        "c7 and 32 more" in result.summary()
        and "t7 (text that is different in 30 of 30 rows) and 22 more" in result.summary()
    )
    assert len(result.left_out) == 30


# ---- dates


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_are_days_with_a_note(make):
    days = RNG.integers(0, 3000, 60)
    frame = make({"arm": ARMS, "when": [date(2020, 1, 1) + timedelta(int(day)) for day in days]})
    with pytest.warns(DatesWarning, match="days since 1970-01-01 .*'when'"):
        result = ts.test(frame, by="arm")
    assert any("'when'" in note for note in result.diagnostics.notes)
    start = (date(2020, 1, 1) - date(1970, 1, 1)).days
    expected = ts.test(start + days[IS_P], start + days[~IS_P])
    assert result.log_bf10 == expected.log_bf10
    with pytest.warns(DatesWarning):
        assert any("'when'" in note for note in ts.test_each(frame, by="arm").notes)


def test_dates_in_one_sample_and_numbers_in_the_other_are_refused():
    x = pl.DataFrame({"when": [date(2020, 1, day) for day in (1, 5, 9)]})
    with pytest.raises(InputTypeError, match="column 'when' holds dates or times in x and numbers in y"):
        ts.test(x, pl.DataFrame({"when": [1.0, 2.0, 3.0]}))


def test_arrays_of_dates_are_warned_about():
    days = np.array(["2020-01-01", "2020-02-09", "2021-01-01", "NaT"], dtype="M8[D]")
    with pytest.warns(DatesWarning, match="'0'"), pytest.raises(InputError, match="x has 1 missing"):
        ts.test(days, days)


def test_reading_two_tables_without_a_choice():
    two = read_two(VALUES, OTHERS, Choice.of())
    assert (two.columns, two.names, two.left_out, two.notes) == (("0",), ("x", "y"), (), ())
