"""Numbers that were given as text are numbers in all samples or in none, with a warning; codes stay categories."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twosample as ts
from twosample.data.categories import MISSING, numbers_of
from twosample.errors import InputError, InputTypeError, ReadingWarning

RNG = np.random.default_rng(0)
MASS, OTHER = np.round(RNG.normal(70, 9, 80), 1), np.round(RNG.normal(78, 9, 70), 1)
X, Y = pl.DataFrame({"mass": MASS}), pl.DataFrame({"mass": OTHER})
EXPECTED = ts.test(X, Y).log_bf10


def text(frame, kind="polars"):
    found = frame.cast(pl.String)
    return found.to_pandas() if kind == "pandas" else found.to_pandas().astype(object) if kind == "object" else found


@pytest.mark.parametrize("kind", ["polars", "pandas", "object"])
def test_they_are_read_as_numbers_with_a_note(kind):
    with pytest.warns(ReadingWarning, match=r"^Read text as numbers: 'mass'; .* pass categories=\['mass'\]\.$"):
        result = ts.test(text(X, kind), text(Y, kind))
    assert result.log_bf10 == EXPECTED
    assert "Read text as numbers: 'mass'." in json.loads(result.to_json())["diagnostics"]["notes"]
    assert not result.levels or result.levels == (None,)


@pytest.mark.filterwarnings("ignore::twosample.errors.ReadingWarning")
def test_every_question_and_place_reads_them():
    both = pl.concat([X.with_columns(arm=pl.lit("u")), Y.with_columns(arm=pl.lit("v"))])
    as_text = both.cast(pl.String)
    assert ts.test(as_text, by="arm").log_bf10 == EXPECTED
    assert ts.test(text(X)["mass"], text(Y)["mass"]).log_bf10 == EXPECTED
    assert ts.test(X, text(Y)).log_bf10 == ts.test(text(X), Y).log_bf10 == EXPECTED
    assert ts.test_each(as_text, by="arm").log_bf10 == ts.test_each(X, Y).log_bf10
    assert ts.test(text(X), text(Y), model="paper").log_bf10 == ts.test(X, Y, model="paper").log_bf10
    assert ts.ksample(as_text, by="arm").log_bf10 == ts.ksample(both, by="arm").log_bf10
    blocks = [ts.blocks([text(one)[:40], text(one)[40:]]) for one in (X, Y)]
    assert ts.test(*blocks).log_bf10 == pytest.approx(EXPECTED, abs=1e-6)
    plan = ts.plan(text(X), text(Y))
    assert plan.test(plan.statistics(text(X), text(Y))).log_bf10 == pytest.approx(EXPECTED, abs=1e-9)
    assert plan.test(plan.statistics(X, Y)).log_bf10 == pytest.approx(EXPECTED, abs=1e-9)
    first, second = both[:70, :1], both[70:140, :1].rename({"mass": "other"})
    assert ts.independence(text(first), text(second)).log_bf10 == ts.independence(first, second).log_bf10
    assert ts.goodness(text(X), "norm(75, 9)").log_bf10 == ts.goodness(X, "norm(75, 9)").log_bf10


def test_both_samples_decide():
    words = pl.DataFrame({"mass": ["light", "heavy"] * 35})
    with pytest.raises(InputTypeError, match="text in y and numbers in x"):
        ts.test(X, words)
    result = ts.test(text(X)[:60], words.vstack(text(X)[60:]))  # text in both: categories in both
    assert result.levels[0] is not None


def test_the_ways_out():
    shares = (0.6, 0.2, 0.2), (0.3, 0.3, 0.4)
    grades = [pl.DataFrame({"grade": RNG.choice(["1", "2", "5"], p=p, size=80)}) for p in shares]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = ts.test(*grades, categories=["grade"])
        typed = ts.test(*(one.cast(pl.Categorical) for one in grades))
        by_type = ts.test(*(one.to_pandas().astype("category") for one in grades))
    assert asked.log_bf10 == typed.log_bf10 == by_type.log_bf10
    assert set(asked.levels[0]) == {"1", "2", "5"}
    with pytest.warns(ReadingWarning):
        assert ts.test(*grades).log_bf10 != asked.log_bf10


@pytest.mark.parametrize("codes", [["007", "012", "113"], ["02134", "10115", "80331"], ["1.0", "00"]])
def test_codes_with_leading_zeros_stay_categories(codes):
    x, y = (pl.DataFrame({"code": RNG.choice(codes, size=60)}) for _ in range(2))
    assert ts.test(x, y).levels[0] is not None


def test_a_few_that_are_no_numbers_count_as_missing_and_are_named():
    values = text(X)["mass"].to_list()
    values[3] = values[5] = "?"
    values[7] = "NA"
    cells = pl.DataFrame({"mass": values})
    kept = X.with_row_index().filter(~pl.col("index").is_in([3, 5, 7])).select("mass")
    with pytest.warns(ReadingWarning, match=r"what is no number counts as missing \('\?' in 'mass'\)"):
        with pytest.raises(InputError, match="3 missing or infinite values"):
            ts.test(cells, text(Y))
    with pytest.warns():
        assert ts.test(cells, text(Y), nan_policy="omit").log_bf10 == ts.test(kept, Y).log_bf10
    blocks = ts.blocks([text(X)[:40], cells])
    with pytest.warns(ReadingWarning), pytest.raises(InputTypeError, match=r"holds text .*in block 1"):
        ts.test(blocks, ts.blocks([text(Y)]))


def test_many_that_are_no_numbers_leave_the_column_categories():
    def frame(rows):
        return pl.DataFrame({"answer": RNG.choice(["1", "2", "3", "4+"], size=rows)})

    assert ts.test(frame(80), frame(80)).levels[0] is not None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(["", "NA", MISSING]))
def test_numbers_come_back_as_they_were(values, missing):
    levels = [repr(value) for value in values]
    found = numbers_of([*levels, missing])
    assert found is not None and found[1] == ()
    np.testing.assert_array_equal(found[0], [*values, np.nan])
    assert numbers_of([*levels, "x"]) is None


@pytest.mark.parametrize("level", ["1_000", "0x10", "inf", "nan1", "1,5", "٣", "1 2", "", "2020-01-01", "True"])
def test_what_is_no_number(level):
    assert numbers_of([level]) is None


def test_how_many_may_be_no_number():
    levels = [*map(str, range(1, 21)), "a", "b"]
    assert numbers_of(levels, [1] * 22)[1] == ("a", "b")
    assert numbers_of([*levels, "c"], [1] * 23) is None  # different values
    assert numbers_of(levels, [1] * 21 + [2]) is None  # rows
    assert pd.isna(numbers_of(levels, [1] * 22)[0]).sum() == 2
