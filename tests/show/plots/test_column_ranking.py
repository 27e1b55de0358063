"""One test a column, in a picture."""

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.show.plots import plot_each


@pytest.fixture(scope="module")
def each():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 60, 12))
    y[:, 4] += 2.0
    y[:, 7] *= 5.0
    columns = [f"gene{number}" for number in range(12)]
    columns[4], columns[7] = "$up\x1b", "w" * 60
    before, after = (pl.DataFrame(rows, schema=columns) for rows in (x, y))
    return ts.test_each(before, after, groups={"both": [columns[4], "gene0"]})


def test_every_column_is_where_its_shift_and_evidence_are_and_groups_are_left_out(each):
    axes = plot_each(each).axes[0]
    others, differ = (np.asarray(marks.get_offsets()) for marks in axes.collections)
    drawn = {tuple(place) for place in np.concatenate([others, differ])}
    rows = [row for row in each if row.column != "both"]
    assert drawn == {(row.prob_larger, row.log_bf10) for row in rows}
    assert len(rows) == 12
    assert {tuple(place) for place in differ} == {(row.prob_larger, row.log_bf10) for row in rows if row.q <= each.fdr}
    low, high = axes.get_xlim()
    assert low < min(row.prob_larger for row in rows) and max(row.prob_larger for row in rows) < high


def test_the_columns_that_differ_are_named_as_text(each):
    axes = plot_each(each).axes[0]
    assert [text.get_text() for text in axes.texts] == ["$up\\x1b", "w" * 21 + "..."]
    assert not any(text.get_parse_math() for text in axes.texts)
    assert [text.get_text() for text in plot_each(each, top=1).axes[0].texts] == ["$up\\x1b"]


def test_the_axis_says_which_way_a_column_is_larger(each):
    label = plot_each(each, names=("before", "after")).axes[0].get_xlabel()
    assert label.startswith("larger in after") and label.endswith("larger in before")
    (up,) = [row for row in each if row.column == "$up\x1b"]
    assert up.prob_larger < 0.5  # larger in y: at the left


def test_the_title_counts_columns(each):
    assert plot_each(each).get_suptitle() == "2 of 12 columns differ"


def test_method_of_the_result_draws_it(each):
    assert each.plot(top=0).axes[0].texts[:] == []
    with pytest.raises(ts.errors.InputError, match="top"):
        each.plot(top=-1)
