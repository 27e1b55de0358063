"""Cells: a column is what most of its cells are, and the others keep their text."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from twosample.data.files.casting import typed
from twosample.data.files.dialect import Reading


def one(cells, how=None, decimal="."):
    frame, texts = typed(pl.DataFrame({"u": cells}, schema={"u": pl.String}), how or Reading(), decimal)
    return frame["u"], texts


@pytest.mark.parametrize(
    "cells, dtype, values",
    [
        (["1", " 2 ", "-3"], pl.Int64, [1, 2, -3]),
        (["1", "2.5", "1e3"], pl.Float64, [1.0, 2.5, 1000.0]),
        (["1", "NA", " null", ""], pl.Int64, [1, None, None, None]),
        (["99999999999999999999", "1"], pl.Float64, [1e20, 1.0]),
        (["true", "False", None], pl.Boolean, [True, False, None]),
        (["2024-02-29", "2024-03-01"], pl.Date, [dt.date(2024, 2, 29), dt.date(2024, 3, 1)]),
        (["2024-02-29 00:00:00", "2024-03-01"], pl.Date, [dt.date(2024, 2, 29), dt.date(2024, 3, 1)]),
        (
            ["2024-02-29T10:30", "2024-03-01 11:00:00.5"],
            pl.Datetime("us"),
            [dt.datetime(2024, 2, 29, 10, 30), dt.datetime(2024, 3, 1, 11, 0, 0, 500_000)],
        ),
        (
            ["2024-02-29T10:30Z", "2024-02-29T12:30:00+02:00"],
            pl.Datetime("us", "UTC"),
            [dt.datetime(2024, 2, 29, 10, 30, tzinfo=dt.UTC)] * 2,
        ),
        (["9:30", "10:00:01.5"], pl.Duration("us"), [dt.timedelta(hours=9.5), dt.timedelta(hours=10, seconds=1.5)]),
        (["red", "blue", "3"], pl.String, ["red", "blue", "3"]),
        (["01/02/2024", "02/02/2024"], pl.String, ["01/02/2024", "02/02/2024"]),
        (["", "NA"], pl.String, [None, None]),
    ],
)
def test_a_column_is_what_all_of_it_is(cells, dtype, values):
    column, texts = one(cells)
    assert column.dtype == dtype
    assert column.to_list() == values
    assert dtype.is_temporal() or not texts


@pytest.mark.parametrize("kind, good", [("number", "1.5"), ("date", "2024-05-01")])
def test_half_is_enough_and_less_is_text(kind, good):
    column, texts = one([good] * 3 + ["a", "b", "c", "NA"])
    assert column.dtype == (pl.Float64 if kind == "number" else pl.Date)
    assert column.null_count() == 4
    assert texts["u"].to_list() == [good] * 3 + ["a", "b", "c", None]
    column, texts = one([good] * 3 + ["a", "b", "c", "d", "NA"])
    assert column.dtype == pl.String
    assert not texts


def test_thousands_and_decimal_commas_make_a_column_of_numbers_that_cannot_be_read():
    for cells in (["1,234.5", "2,000"], ["1,5", "2,25"]):
        column, texts = one(cells)
        assert column.dtype.is_numeric()
        assert column.null_count() == 2
        assert texts["u"].to_list() == cells


@pytest.mark.parametrize(
    "how, decimal, cells, values",
    [
        (Reading(thousands=","), ".", ["1,234,567.25", "-12.5", "1,234"], [1234567.25, -12.5, 1234.0]),
        (Reading(thousands="."), ",", ["1.234,5", "12,5", "1.234"], [1234.5, 12.5, 1234.0]),
        (Reading(thousands=" "), ".", ["1 234.5", "1\u00a0234", "1\u202f000"], [1234.5, 1234.0, 1000.0]),
        (Reading(thousands="'"), ".", ["1'234.5", "7"], [1234.5, 7.0]),
        (Reading(thousands=","), ".", ["1,23", "12,345.5", "7"], [None, 12345.5, 7.0]),
        (Reading(thousands="."), ",", ["1.5", "1.000,5", "7"], [None, 1000.5, 7.0]),
        (Reading(), ",", ["1,5", "1.5", "2"], [1.5, None, 2.0]),
    ],
)
def test_signs_of_numbers(how, decimal, cells, values):
    assert one(cells, how, decimal)[0].cast(pl.Float64).to_list() == values


def test_tokens_for_missing_values_are_texts_and_numbers():
    frame = pl.DataFrame(
        {"t": ["1", "nd", "-999.0"], "i": [1, -999, 3], "f": [0.5, -999.0, 2.0], "b": [True, None, False]}
    )
    read, texts = typed(frame, Reading(missing=("nd", "-999")))
    assert read["i"].to_list() == [1, None, 3]
    assert read["f"].to_list() == [0.5, None, 2.0]
    assert read["b"].to_list() == [True, None, False]
    assert read["t"].to_list()[:2] == [1, None]
    assert not texts


def test_columns_known_to_be_text_stay_text():
    frame = pl.DataFrame({"u": ["1", "2"]})
    read, texts = typed(frame, Reading(), has_types=True)
    assert read.equals(frame)
    assert not texts


def test_many_columns_are_typed_like_each_by_itself():
    rng = np.random.default_rng(1)
    kinds = [
        ["1", "2", "x"],
        ["1.5", "2", ""],
        ["a", "b", "c"],
        ["2024-01-01", "2024-01-02", "?"],
        ["true", "false", "true"],
    ]
    cells = {f"c{at}": list(rng.permutation(kinds[at % len(kinds)])) for at in range(40)}
    read, texts = typed(pl.DataFrame(cells), Reading())
    for name, column in cells.items():
        alone, text = typed(pl.DataFrame({name: column}), Reading())
        assert read[name].equals(alone[name], check_dtypes=True)
        assert (name in texts) == (name in text)
