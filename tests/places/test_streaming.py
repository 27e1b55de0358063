"""Data larger than memory: however the rows come, the answer is that of the same rows in memory."""

import dataclasses
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from functools import cache
from pathlib import Path

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.test_pilot import chosen_places

import twosample as ts
from twosample import places
from twosample.data import blocks as blocks_module
from twosample.data import pilot
from twosample.errors import (
    DependentRowsWarning,
    DroppedDataWarning,
    DuplicateRowsWarning,
    IdentifierWarning,
    InputError,
    InputTypeError,
)
from twosample.places import local

NAMES = ["u", "v", "w"]
LIMIT = 200


def samples(n_x=700, n_y=500, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, 3)), rng.normal(size=(n_y, 3))
    y[:, 1] += 0.4
    x[:, 2], y[:, 2] = x[:, 2].round(1), y[:, 2].round(1)
    return x, y


def frame(rows):
    return pl.DataFrame(rows, schema=NAMES, orient="row")


def cut(rows, size):
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def mapped(rows, path):
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


def in_files(rows, folder):
    folder.mkdir()
    for number, part in enumerate(cut(frame(rows), 170)):
        part.write_parquet(folder / f"{number:03}.parquet")
    return folder


KINDS = {
    "list of arrays": lambda rows, path: ts.blocks(cut(rows, 90)),
    "function": lambda rows, path: ts.blocks(lambda: iter(cut(rows, 33))),
    "list of frames": lambda rows, path: ts.blocks(cut(frame(rows), 111)),
    "frames of pandas": lambda rows, path: ts.blocks([pd.DataFrame(part, columns=NAMES) for part in cut(rows, 400)]),
    "memory map": lambda rows, path: mapped(rows, path / "rows.npy"),
    "lazy frame": lambda rows, path: frame(rows).lazy(),
    "Arrow dataset": lambda rows, path: pyarrow.dataset.dataset(in_files(rows, path / "parts")),
    "folder": lambda rows, path: ts.blocks(in_files(rows, path / "parts")),
}


@pytest.fixture(params=KINDS)
def kind(request, tmp_path):
    """Makes a source of one kind from rows."""
    count = iter(range(9))

    def make(rows):
        folder = tmp_path / str(next(count))
        folder.mkdir()
        return KINDS[request.param](rows, folder)

    return make


@pytest.fixture
def few(monkeypatch):
    """A pilot that is smaller than the data, and blocks too."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", LIMIT)
    monkeypatch.setattr(pilot, "HEAD_ROWS", 150)
    monkeypatch.setattr(blocks_module, "_MOST_ROWS", 64)


def brute_pilot(x, y):
    """The rows that the plan is made from, chosen here once more."""
    of_x, of_y = chosen_places(len(x), len(y), LIMIT)
    rows, both = np.concatenate([x[of_x], y[of_y]]), np.concatenate([x, y])
    for column in range(x.shape[1]):
        low, high = both[:, column].min(), both[:, column].max()
        if low < rows[:, column].min():
            rows = np.vstack([rows, both[both[:, column] == low][:1]])
        if high > rows[:, column].max():
            rows = np.vstack([rows, both[both[:, column] == high][:1]])
    return rows


def assert_same(found, expected, tolerance=1e-9):
    """All of the answer, not only its number."""
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=tolerance)
    assert (found.n_x, found.n_y) == (expected.n_x, expected.n_y)
    np.testing.assert_allclose(found.points, expected.points, rtol=1e-12)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-12)
    np.testing.assert_allclose(found.lengthscale.density_h1, expected.lengthscale.density_h1, rtol=1e-7, atol=1e-9)
    if expected.by_column is not None:
        for one, other in zip(found.by_column, expected.by_column, strict=True):
            assert one.log_bf10 == pytest.approx(other.log_bf10, abs=tolerance)
            assert one.prob == pytest.approx(other.prob, abs=tolerance)
            assert one.words == other.words
        for one, other in zip(found.subsets, expected.subsets, strict=True):
            assert one.posterior == pytest.approx(other.posterior, abs=tolerance)
            assert one.prior == other.prior
    assert found.effect.auc.mean == pytest.approx(expected.effect.auc.mean, abs=1e-7)
    assert found.effect.mmd.mean == pytest.approx(expected.effect.mmd.mean, abs=1e-7)


# Few rows: the answer of the rows in memory.


def test_few_rows_are_tested_as_in_memory(kind):
    x, y = samples()
    found, expected = ts.test(kind(x), kind(y)), ts.test(frame(x), frame(y))
    assert_same(found, expected)
    assert found.diagnostics == expected.diagnostics
    assert ts.plan(kind(x), kind(y)).key in (ts.plan(x, y).key, ts.plan(frame(x), frame(y)).key)


def test_few_rows_may_be_asked_anything():
    x, y = samples(40, 40)
    in_blocks = ts.blocks(cut(x, 7)), ts.blocks(cut(y, 11))
    assert ts.test(*in_blocks, permutations=49).pvalue == ts.test(x, y, permutations=49).pvalue
    paper = ts.test(*in_blocks, model="paper", columns=[0])
    assert paper.log_bf10 == pytest.approx(ts.test(x, y, model="paper", columns=[0]).log_bf10, abs=1e-9)
    assert ts.test(*in_blocks, subsets=None).robustness().log_bf10 == ts.test(x, y, subsets=None).log_bf10


def test_one_sample_may_be_in_memory(few):
    x, y = samples()
    expected = ts.test(ts.blocks([x]), ts.blocks([y]))
    assert_same(ts.test(x, ts.blocks([y])), expected)
    assert_same(ts.test(ts.blocks([x]), y), expected)


def test_the_order_of_blocks_does_not_matter_where_all_rows_are_in_the_plan():
    x, y = samples()
    expected = ts.test(x, y, subsets=None).log_bf10
    found = ts.test(ts.blocks(cut(x, 90)[::-1]), ts.blocks(cut(y, 70)[::-1]), subsets=None).log_bf10
    assert found == pytest.approx(expected, abs=1e-9)


# Many rows: the plan is that of the pilot, and the answer that of all rows.


@cache
def of_many(paired=False):
    """Samples, the plan of their pilot, and its answer of all rows in memory."""
    x, y = samples(600, 600) if paired else samples()
    if paired:
        y += x
    plan = ts.plan(brute_pilot(x, y), paired=paired)
    return x, y, plan, plan.test(plan.statistics(x, y))


def test_many_rows_have_the_plan_of_the_pilot_and_the_answer_of_all(kind, few):
    x, y, plan, expected = of_many()
    sources = kind(x), kind(y)
    assert len(plan.parts) == 3
    np.testing.assert_array_equal(ts.plan(*sources).points, plan.points)
    assert_same(ts.test(*sources), expected)
    assert_same(plan.test(plan.statistics(*sources)), expected)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(0, 150), max_size=8),
    st.lists(st.integers(0, 120), max_size=8),
    st.integers(1, 50),
    st.booleans(),
)
def test_any_split_into_blocks(x_cuts, y_cuts, size, paired):
    x, y = samples(150, 150 if paired else 120, seed=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pilot, "PILOT_ROWS", 100)
        patch.setattr(blocks_module, "_MOST_ROWS", size)
        how = {"subsets": None, "points": 8, "paired": paired}
        sources = [ts.blocks(np.split(rows, sorted(cuts))) for rows, cuts in ((x, x_cuts), (y, y_cuts))]
        found = ts.test(*sources, **how)
        plan = ts.plan(ts.blocks([x]), ts.blocks([y]), **how)
        expected = plan.test(plan.statistics(x, y))
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)


def test_swapping_the_samples_changes_nothing_but_the_sign(few):
    x, y = samples()
    x[:, 0], y[:, 0] = x[:, 0].round(), y[:, 0].round()
    first, second = (ts.plan(ts.blocks(cut(a, 90)), ts.blocks(cut(b, 50))) for a, b in ((x, y), (y, x)))
    assert first.key == second.key
    results = [ts.test(ts.blocks([a]), ts.blocks([b])) for a, b in ((x, y), (y, x))]
    assert results[0].log_bf10 == pytest.approx(results[1].log_bf10, abs=1e-9)


def test_a_pilot_of_both_samples_in_one(few):
    x, y = samples()
    both = np.concatenate([x, y])
    assert ts.plan(ts.blocks(cut(both, 90))).key == ts.plan(brute_pilot(both, both[:0]) + 0.0).key  # no -0.0


def test_the_result_says_what_the_plan_is_from(few):
    x, y = samples()
    result = ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None)
    assert any("The plan was made from a pilot of 20" in note for note in result.diagnostics.notes)
    assert "of 1,200 rows" in result.summary()


@pytest.mark.parametrize("kind", ["function", "list of frames", "memory map", "folder"], indirect=True)
def test_pairs(kind, few):
    x, y, plan, expected = of_many(paired=True)
    assert_same(ts.test(kind(x), kind(y), paired=True), expected)
    assert_same(plan.test(plan.statistics(kind(x), kind(y))), expected)


@pytest.mark.parametrize(("n_x", "n_y"), [(600, 550), (550, 600), (600, 599), (64, 128)])
def test_pairs_of_which_one_is_missing(n_x, n_y, few):
    x, y = samples(n_x, n_y)
    with pytest.raises(InputError, match=f"x has {n_x} rows and y has {n_y}; paired=True needs"):
        ts.test(ts.blocks(cut(x, 90)), ts.blocks(cut(y, 70)), paired=True)


# One table with both samples.


def labelled(x, y, seed=0):
    rows = pl.concat([frame(x).with_columns(arm=pl.lit("a")), frame(y).with_columns(arm=pl.lit("b"))])
    return rows.sample(fraction=1.0, shuffle=True, seed=seed)


@pytest.mark.parametrize("lazy", [True, False])
def test_a_column_splits_the_table(few, lazy):
    table = labelled(*samples())
    x, y = (table.filter(arm=arm).drop("arm").to_numpy() for arm in "ab")
    plan = ts.plan(pl.DataFrame(brute_pilot(x, y), schema=NAMES))
    source = table.lazy() if lazy else ts.blocks(cut(table, 130))
    found = ts.test(source, by="arm", groups=("a", "b"))
    expected = plan.test(plan.statistics(frame(x), frame(y)))
    assert_same(found, dataclasses.replace(expected, names=("a", "b")))
    assert found.names == ("a", "b") and found.columns == ("u", "v", "w")
    first = table["arm"][0]
    assert ts.test(source, by="arm", subsets=None).names == (first, "b" if first == "a" else "a")


def test_labels_split_the_table(few):
    table = labelled(*samples())
    expected = ts.test(ts.blocks([table]), by="arm", subsets=None)
    found = ts.test(ts.blocks(cut(table.drop("arm"), 77)), by=table["arm"].to_list(), subsets=None)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    with pytest.raises(InputError, match="by: has 1199 labels for more rows"):
        ts.test(ts.blocks(cut(table.drop("arm"), 77)), by=table["arm"].to_list()[:-1])


def test_a_column_of_an_array_splits_it(few):
    x, y = samples()
    rows = np.column_stack([np.concatenate([x, y]), np.repeat([0.0, 1.0], [700, 500])])
    found = ts.test(ts.blocks(cut(rows, 90)), by=3, subsets=None)
    assert found.log_bf10 == pytest.approx(ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None).log_bf10, abs=1e-9)


def test_rows_of_no_group_are_left_out(few):
    table = labelled(*samples()).with_columns(arm=pl.when(pl.col("u") > 1.5).then(None).otherwise("arm"))
    missing = table["arm"].null_count()
    with pytest.warns(DroppedDataWarning, match=f"Left out {missing} rows without a value in column 'arm'"):
        result = ts.test(ts.blocks(cut(table, 100)), by="arm", subsets=None)
    assert result.n_x + result.n_y == 1200 - missing


@pytest.mark.parametrize(
    ("arms", "options", "message"),
    [
        (["a", "b", "c"], {}, r"holds 3 different values, not 2: 'a' \(400 rows\), 'b' \(400 rows\).*groups="),
        (["a"], {}, r"holds 1 value, not 2: 'a' \(1200 rows\)"),
        (["a", "b"], {"groups": ("a", "z")}, "has no value 'z'; it has 'a', 'b'"),
    ],
)
def test_groups_that_cannot_be_compared(few, arms, options, message):
    table = frame(np.concatenate(samples())).with_columns(arm=pl.Series(arms * (1200 // len(arms))))
    with pytest.raises(InputError, match=message):
        ts.test(ts.blocks(cut(table, 100)), by="arm", **options)


def test_pairs_of_a_split_table(few, monkeypatch):
    x, y = samples(300, 300)
    table = pl.concat([frame(x), frame(y)]).with_columns(arm=pl.Series(["a"] * 300 + ["b"] * 300))
    expected = ts.test(ts.blocks([x]), ts.blocks([y]), paired=True, subsets=None)
    found = ts.test(ts.blocks(cut(table, 100)), by="arm", paired=True, subsets=None)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    monkeypatch.setattr("twosample.data.parts._MOST_WAITING", 500)
    with pytest.raises(InputError, match=r"by: too many rows of one group come before.*two samples"):
        ts.test(ts.blocks(cut(table, 100)), by="arm", paired=True)


# Columns and cells.


def test_columns_are_chosen_dropped_and_put_in_order(few):
    x, y = samples()
    other = frame(y).select("w", "v", "u").with_columns(text=pl.lit("t"))
    with pytest.warns(DroppedDataWarning, match=r"Left out columns.*'text'"):
        found = ts.test(ts.blocks(cut(frame(x), 90)), ts.blocks(cut(other, 90)), drop=["w"], subsets=None)
    assert found.columns == ("u", "v") and {one.column for one in found.left_out} == {"w", "text"}
    expected = ts.test(ts.blocks([x[:, :2]]), ts.blocks([y[:, :2]]), subsets=None)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    chosen = ts.test(ts.blocks([x]), ts.blocks([y]), columns=[0, 1], subsets=None)
    assert chosen.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    assert chosen.columns == ("0", "1")
    with pytest.raises(InputError, match="drop: x has no column 'z'"):
        ts.test(ts.blocks([frame(x)]), ts.blocks([frame(y)]), drop=["z"])
    with pytest.raises(InputError, match="x and y must have the same columns"):
        ts.test(ts.blocks([frame(x)]), ts.blocks([frame(y).drop("u")]))


@pytest.mark.parametrize("by", [None, "arm"])
def test_columns_that_are_not_needed_are_not_read(few, by):
    """A column that cannot be computed does no harm where it is not asked for."""
    table = labelled(*samples())
    lazy = table.lazy().with_columns(bad=pl.col("arm").cast(pl.Int64))
    if by is None:
        parts = [lazy.filter(pl.col("arm") == arm) for arm in "ab"]
    else:
        parts = [lazy]
    with pytest.raises(pl.exceptions.InvalidOperationError):
        ts.test(*parts, by=by, groups=by and ("a", "b"), drop=["w"], subsets=None)
    found = ts.test(*parts, by=by, groups=by and ("a", "b"), columns=["u", "v"], subsets=None)
    x, y = (table.filter(arm=arm).select("u", "v") for arm in "ab")
    expected = ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    with pytest.raises(InputError, match="columns: x has no column 'z'; it has 'u', 'v', 'w', 'arm'"):
        ts.test(table.lazy(), table.lazy(), columns=["u", "z"])


@pytest.mark.parametrize("n", [90, 700])
def test_the_place_of_a_missing_value_is_named(few, n):
    x, y = samples(n, n)
    y[57, 2] = np.nan
    with pytest.raises(InputError, match=r"y has a missing or infinite value \(row 7 of block 1, column 'w'\).*'omit'"):
        ts.test(ts.blocks(cut(frame(x), 50)), ts.blocks(cut(frame(y), 50)))
    with pytest.raises(InputError, match=r"y has a missing or infinite value \(row 57, column 'w'\)"):
        ts.test(frame(x).lazy(), frame(y).lazy())
    table = pl.concat([frame(x), frame(y)]).with_columns(arm=pl.Series(["a"] * n + ["b"] * n))
    with pytest.raises(InputError, match=rf"y has a missing .* \(row {n + 57}, column 'w'\)"):
        ts.test(table.lazy(), by="arm")


@pytest.mark.parametrize("paired", [False, True])
def test_rows_with_missing_values_are_left_out(few, paired):
    x, y = samples(500, 500)
    complete_x, complete_y = np.ones(500, bool), np.ones(500, bool)
    for chosen, rows, complete in (([3, 70, 71], x, complete_x), ([400], y, complete_y)):
        rows[chosen, 1] = [np.nan, np.inf, -np.inf][: len(chosen)]
        complete[chosen] = False
    what = r"4 of 500 pairs" if paired else r"3 of 500 rows of x and 1 of 500 rows of y"
    if paired:
        complete_x = complete_y = complete_x & complete_y
    with pytest.warns(DroppedDataWarning, match=f"Dropped {what} with a missing") as caught:
        found = ts.test(ts.blocks(cut(x, 90)), ts.blocks(cut(y, 33)), nan_policy="omit", paired=paired, subsets=None)
    assert len(caught) == 1 and any("Dropped" in note for note in found.diagnostics.notes)
    kept = ts.blocks([x[complete_x]]), ts.blocks([y[complete_y]])
    expected = ts.test(*kept, paired=paired, subsets=None)
    assert (found.n_x, found.n_y) == (expected.n_x, expected.n_y)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    with pytest.warns(DroppedDataWarning, match=f"Dropped {what} with a missing"):
        plan = ts.plan(*kept, paired=paired, subsets=None, nan_policy="omit")
        statistics = plan.statistics(ts.blocks(cut(x, 90)), ts.blocks(cut(y, 33)))
    assert plan.test(statistics).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)


def test_too_few_rows(few):
    x, y = samples()
    x[:, 0] = np.nan
    with pytest.raises(InputError, match="x has fewer than 2 rows left after dropping 700 of 700"):
        ts.test(ts.blocks([x]), ts.blocks([y]), nan_policy="omit")
    with pytest.raises(InputError, match="x has 1 row; pass at least 2"):
        ts.test(ts.blocks([y[:1]]), ts.blocks([y]))
    for nothing in (ts.blocks([y[:0]]), ts.blocks(lambda: [])):
        with pytest.raises(InputError, match="y is empty"):
            ts.test(ts.blocks([y]), nothing)
    with pytest.raises(InputTypeError, match="there is no second sample"):
        ts.test(ts.blocks([y]))


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        ([np.zeros((3, 2)), np.zeros((3, 3))], InputError, "x: block 1 is of 3 columns, and the first one has 2"),
        (
            [np.zeros((3, 3)), frame(np.zeros((3, 3)))],
            InputError,
            "x: block 1 is a data frame, and the first one is an",
        ),
        (
            [frame(np.zeros((3, 3))), np.zeros((3, 3))],
            InputError,
            "x has no column 'u'; it has '0', '1', '2', in block 1; every",
        ),
        (
            [frame(np.zeros((3, 3))), frame(np.zeros((3, 3))).drop("v")],
            InputError,
            "x has no column 'v'; it has 'u', 'w', in block 1; every block needs",
        ),
        (
            [frame(np.zeros((3, 3))), frame(np.zeros((3, 3))).with_columns(v=pl.lit("no"))],
            InputTypeError,
            "column 'v' of x holds text or categories.*in block 1",
        ),
        (
            [frame(np.zeros((3, 3))), frame(np.zeros((3, 3))).with_columns(v=pl.date(2020, 1, 2))],
            InputError,
            "x: block 1 is with dates or times in column 'v', and the first one has numbers",
        ),
    ],
)
def test_blocks_that_are_unlike_the_first(blocks, error, message):
    with pytest.raises(error, match=message):
        ts.test(ts.blocks(blocks), ts.blocks([blocks[0]]))


def test_dates_are_days(few):
    x, y = samples()
    days = [pl.from_epoch(pl.Series("u", (rows[:, 0] * 100).astype(int)), time_unit="d") for rows in (x, y)]
    frames = [pl.DataFrame({"u": one, "v": rows[:, 1]}) for one, rows in zip(days, (x, y), strict=True)]
    with pytest.warns(ts.errors.DatesWarning, match="'u'"):
        found = ts.test(*(ts.blocks(cut(one, 90)) for one in frames), subsets=None)
    numbers = [np.column_stack([(rows[:, 0] * 100).astype(int), rows[:, 1]]) for rows in (x, y)]
    expected = ts.test(*(ts.blocks([rows]) for rows in numbers), subsets=None)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)


def test_a_column_of_one_value_is_left_out(few):
    x, y = samples()
    x[:, 0] = y[:, 0] = 3.0
    with pytest.warns(DroppedDataWarning, match="Dropped 1 of 3 columns that hold one value throughout: '0'"):
        found = ts.test(ts.blocks(cut(x, 90)), ts.blocks([y]), subsets=None)
    assert found.columns == ("1", "2")
    assert [one.column for one in found.left_out] == ["0"]
    x[:], y[:] = 1.0, 2.0
    with pytest.raises(InputError, match="each hold one row repeated, and the two rows differ"):
        ts.test(ts.blocks([x]), ts.blocks([y]))


def test_a_column_that_varies_in_one_row_only(few, monkeypatch):
    x, y = samples()
    x[:, 0] = y[:, 0] = 3.0
    x[places_outside(x, y), 0] = 4.0
    assert ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None).columns == ("0", "1", "2")
    monkeypatch.setattr(pilot, "_MOST_WITH_EXTREMES", 2)
    with pytest.warns(DroppedDataWarning, match="one value throughout"):
        found = ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None)
    assert found.columns == ("1", "2")
    assert [one.reason for one in found.left_out] == ["one value throughout the pilot"]


def places_outside(x, y):
    """A row of x that is not in the pilot."""
    return next(place for place in range(len(x)) if place not in chosen_places(len(x), len(y), LIMIT)[0])


def test_values_whose_differences_overflow(few):
    x, y = samples()
    x[places_outside(x, y), 1] = 1e308
    with pytest.raises(InputError, match="column '1' of x holds values beyond"):
        ts.test(ts.blocks([x]), ts.blocks([y]))


def test_what_is_seen_of_the_first_rows(few):
    x, y = samples()
    x[75:150] = x[:75]
    with pytest.warns(DuplicateRowsWarning, match="Of the first rows of each sample: 75 of 150 rows of x repeat"):
        result = ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None)
    assert any("repeat" in note for note in result.diagnostics.notes)
    x, y = samples()
    y[:, 0] = np.cumsum(y[:, 0])
    with pytest.warns(DependentRowsWarning, match=r"Of the first rows of each sample: Rows of y are not independent"):
        ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None)
    x[:, 0], y[:, 0] = np.arange(700), np.arange(700, 1200)
    with pytest.warns(IdentifierWarning, match="Column 'u' looks like an identifier"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentRowsWarning)
        ts.test(ts.blocks([frame(x)]), ts.blocks([frame(y)]), subsets=None)


# Arguments.


@pytest.mark.parametrize(
    "options",
    [
        {"scale": "raw"},
        {"scale": [1.0, 2.0, 0.5]},
        {"lengthscale": 0.7},
        {"lengthscale": "median"},
        {"points": 7},
        {"points": [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]},
        {"prior_odds": 0.1},
        {"subsets": [("0",), (0, 1)]},
        {"tolerance": 1e-2},
        {"keep_rows": True},
        {"engine": "threads"},
    ],
    ids=str,
)
def test_options(few, options):
    x, y = samples()
    found = ts.test(ts.blocks(cut(x, 90)), ts.blocks(cut(y, 90)), **options)
    of_plan = {name: value for name, value in options.items() if name not in ("prior_odds", "keep_rows", "engine")}
    of_test = {name: value for name, value in options.items() if name in ("prior_odds", "keep_rows")}
    plan = ts.plan(brute_pilot(x, y), **of_plan)
    assert_same(found, plan.test(plan.statistics(x, y), **of_test))
    assert found.prior_odds == options.get("prior_odds", 1.0)


def test_rope(few):
    x, y = samples()
    found = ts.test(ts.blocks([x]), ts.blocks([y]), rope=0.55)
    assert found.rope == 0.55 and 0.0 < found.prob_beyond_rope < 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permutations": 9}, "permutations: these rows are read in blocks.*take a sample of the rows"),
        ({"model": "paper"}, "model: these rows are read in blocks, and 'paper'.*model='adaptive', or take a sample"),
        ({"model": "published", "columns": [0]}, "model: these rows are read in blocks, and 'published'"),
        ({"engine": "gpu"}, "engine: 'gpu' is unknown; use 'auto', 'threads', 'dask'"),
        ({"nan_policy": "drop"}, "nan_policy must be"),
        ({"scale": "odd"}, "scale must be"),
        ({"by": "arm"}, "by: splits x, so there must be no y"),
        ({"paired": "no"}, "paired: rows can be matched by identifiers only where all of them are in the memory"),
    ],
    ids=str,
)
def test_what_takes_all_rows_in_memory_is_refused_and_so_is_nonsense(few, options, message):
    x, y = samples()
    with pytest.raises((InputError, InputTypeError), match=message):
        ts.test(ts.blocks(cut(x, 90)), ts.blocks(cut(y, 90)), **options)


def test_robustness_needs_the_rows(few):
    x, y = samples()
    result = ts.test(ts.blocks([x]), ts.blocks([y]), subsets=None)
    with pytest.raises(InputError, match=r"robustness: this result has no data.*read in blocks are not kept"):
        result.robustness()


# Passes.


class Counted:
    """Counts how often its blocks are asked for."""

    def __init__(self, rows):
        self.rows, self.calls, self.read = rows, 0, 0

    def __call__(self):
        self.calls += 1
        for part in cut(self.rows, 50):
            self.read += len(part)
            yield part


def test_a_source_is_read_once_for_each_pass(few, monkeypatch):
    x, y = map(Counted, samples(400, 300, seed=9))
    ts.test(ts.blocks(x), ts.blocks(y), subsets=None)
    assert (x.calls, x.read, y.calls, y.read) == (2, 800, 2, 600)
    monkeypatch.setattr(pilot, "PILOT_ROWS", 700)
    x, y = map(Counted, samples(400, 300, seed=9))
    ts.test(ts.blocks(x), ts.blocks(y), subsets=None)
    assert (x.calls, x.read, y.calls, y.read) == (1, 400, 1, 300)


def test_a_third_pass_where_the_second_was_not_accurate_enough(monkeypatch):
    """The answer of all rows in memory takes a second pass too."""
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(400, 2)), rng.normal(size=(300, 2))
    in_memory = ts.test(x, y, subsets=None, tolerance=1e-4)
    assert in_memory.diagnostics.evaluations == 85
    monkeypatch.setattr(pilot, "PILOT_ROWS", 699)
    of_x, of_y = Counted(x), Counted(y)
    found = ts.test(ts.blocks(of_x), ts.blocks(of_y), subsets=None, tolerance=1e-4)
    assert (of_x.calls, of_y.calls) == (3, 3)
    assert found.diagnostics.evaluations == 85 and found.diagnostics.converged
    plan = ts.plan(ts.blocks([x]), ts.blocks([y]), subsets=None, tolerance=1e-4).refined()
    assert_same(found, plan.test(plan.statistics(x, y)))


def test_rows_that_change_between_passes_are_refused(few):
    x, y = samples()
    lengths = iter([700, 650])
    with pytest.raises(InputError, match=r"x has 650 rows in the second pass and had 700 in the first.*the same each"):
        ts.test(ts.blocks(lambda: [x[: next(lengths)]]), ts.blocks([y]), subsets=None)
    once = iter(cut(x, 90))
    with pytest.raises(InputError, match="x has 0 rows in the second pass and had 700"):
        ts.test(ts.blocks(lambda: once), ts.blocks([y]), subsets=None)


def test_progress(few):
    x, y = samples()
    shares = []
    ts.test(ts.blocks(cut(x, 90)), ts.blocks(cut(y, 90)), subsets=None, progress=shares.append)
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == 1.0
    assert len({share for share in shares if 0.0 < share < 1.0}) > 10  # one for each part


def test_parts_are_in_memory_for_a_core_each(few, monkeypatch):
    """Every block is counted while something holds it."""
    import weakref

    from twosample.common import threads

    monkeypatch.setattr(threads, "cores", lambda: 2)
    alive, most = [], 0

    class Rows(np.ndarray):
        pass

    def make(seed):
        nonlocal most
        for number in range(60):
            rows = np.random.default_rng([seed, number]).normal(size=(64, 2)).view(Rows)
            alive.append(weakref.ref(rows))
            most = max(most, sum(one() is not None for one in alive))
            yield rows

    ts.test(ts.blocks(lambda: make(0)), ts.blocks(lambda: make(1)), subsets=None, points=4)
    assert most <= 2 + 4  # those of two workers, those that wait, the one being read


def test_an_interrupt_leaves_no_thread(few):
    x, y = samples()
    before = set(threading.enumerate())
    reads = 0

    def make():
        nonlocal reads
        reads += 1
        yield from cut(x[:300], 64)
        if reads == 2:
            raise KeyboardInterrupt
        yield from cut(x[300:], 64)

    with pytest.raises(KeyboardInterrupt):
        ts.test(ts.blocks(make), ts.blocks([y]))
    assert set(threading.enumerate()) == before


# Arrays of another library stay where they are.


class Elsewhere:
    """An engine for arrays of array-api-strict, which counts what it is given."""

    def __init__(self):
        self.rows = 0

    def __getattr__(self, name):
        def run(*arguments, **options):
            def here(value):
                if isinstance(value, tuple):
                    return tuple(map(here, value))
                if type(value).__module__.startswith("array_api_strict"):
                    self.rows += value.shape[0]
                    return np.asarray(value)
                assert not (isinstance(value, np.ndarray) and value.ndim == 2), "rows were copied to NumPy"
                return value

            return getattr(local, name)(*map(here, arguments), **options)

        return run


@pytest.mark.parametrize("paired", [False, True])
def test_arrays_elsewhere_are_not_copied(few, monkeypatch, paired):
    def is_elsewhere(values):
        return type(values).__module__.startswith("array_api_strict")

    elsewhere = Elsewhere()
    monkeypatch.setattr(places, "stays", is_elsewhere)
    monkeypatch.setattr(places, "of", lambda rows: elsewhere if is_elsewhere(rows) else local)
    x, y = samples(400, 400)
    x[:, 0] = y[:, 0] = 1.0
    x[7, 1] = np.nan
    how = {"paired": paired, "nan_policy": "omit", "columns": [2, 0, 1], "keep_rows": True}
    sources = [ts.blocks([array_api_strict.asarray(part) for part in cut(rows, 90)]) for rows in (x, y)]
    with pytest.warns(DroppedDataWarning):
        found = ts.test(*sources, **how)
    assert elsewhere.rows > 800 and 0.5 < found.effect.auc.mean < 0.8
    monkeypatch.undo()
    monkeypatch.setattr(pilot, "PILOT_ROWS", LIMIT)
    with pytest.warns(DroppedDataWarning):
        expected = ts.test(ts.blocks([x]), ts.blocks([y]), **how)
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    assert found.columns == expected.columns == ("2", "1")


def test_arrays_of_other_libraries_without_an_engine_are_copied():
    x, y = samples(100, 90)
    sources = [ts.blocks([array_api_strict.asarray(part) for part in cut(rows, 40)]) for rows in (x, y)]
    assert ts.test(*sources, subsets=None) == ts.test(x, y, subsets=None)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads its memory from /proc")
def test_memory_stays_flat(tmp_path):
    """A memory map of 400 MB, with less than 150 MB more than after the import and a small test."""
    program = """
    import sys, threading, time
    import numpy as np, twosample as ts

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6

    how = {"points": 4, "lengthscale": 5.0}
    ts.test(*np.random.default_rng(0).normal(size=(2, 50, 20)), **how)
    before, most = resident(), 0.0
    def watch():
        global most
        while True:
            most = max(most, resident())
            time.sleep(0.005)
    threading.Thread(target=watch, daemon=True).start()
    rows = np.load(sys.argv[1], mmap_mode="r")
    result = ts.test(rows[:1_250_000], rows[1_250_000:], **how)
    print(result.n_x, result.n_y, most - before)
    """
    path = tmp_path / "rows.npy"
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(2_500_000, 20))
    rng = np.random.default_rng(0)
    for start in range(0, len(rows), 50_000):
        rows[start : start + 50_000] = rng.normal(size=(50_000, 20))
    rows.flush()
    del rows
    assert path.stat().st_size >= 400e6
    command = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout.split()
    assert output[:2] == ["1250000", "1250000"]
    assert float(output[2]) < 150.0
