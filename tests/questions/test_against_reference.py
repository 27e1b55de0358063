"""More than two groups: each comparison is that of the test, in one table."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError, InputTypeError

RNG = np.random.default_rng(0)
ARMS = ["a", "b", "c"] * 30
TRIAL = pl.DataFrame({"arm": ARMS, "u": RNG.normal(size=90) + 2.0 * (np.array(ARMS) == "c"), "v": RNG.normal(size=90)})


def rows(*arms):
    return TRIAL.filter(pl.col("arm").is_in(arms)).drop("arm")


@pytest.fixture(scope="module")
def against_b():
    return ts.ksample(TRIAL, by="arm", reference="b", points=10)


def test_each_group_against_a_reference():
    result = ts.ksample(TRIAL, by="arm", reference="b", points=10, prior_odds=0.5, columns=["u"])
    assert [row.group for row in result] == ["a", "c"]
    for row in result:
        expected = ts.test(rows(row.group), rows("b"), points=10, prior_odds=0.5, columns=["u"])
        assert (row.log_bf10, row.prob_h1) == (expected.log_bf10, expected.prob_h1)
        assert row.auc == expected.effect.auc.mean
        assert (row.n, row.n_other, row.verdict) == (30, 30, expected.verdict)
        names = (row.group, "b")
        assert result.results[row.group].summary() == dataclasses.replace(expected, names=names).summary()
        assert result.results[row.group].names == names
    assert result.columns == ("u",)
    assert "each against 'b'" in result.summary() and "0.5, of each comparison" in result.summary()


def test_the_summary_is_a_table_and_says_that_rows_are_shared(against_b):
    text = str(against_b)
    assert "columns used         u, v" in text
    assert "share rows" in text and "not adjusted" in text
    head = next(line for line in text.splitlines() if line.startswith("  group"))
    assert head.split() == ["group", "n", "against", "log", "BF10", "P(different)", "AUC", "verdict"]
    for row in against_b:
        assert f"{row.log_bf10:+.2f}" in text and row.verdict in text


def test_table_frame_and_json(against_b, tmp_path):
    assert len(against_b.table) == len(against_b) == 2
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        made = against_b.to_frame(kind)
        assert isinstance(made, frame)
        assert list(made["log_bf10"]) == against_b.log_bf10.tolist()
    against_b.to_json(tmp_path / "out.json")
    content = json.loads((tmp_path / "out.json").read_text())
    assert "results" not in content and content["group"] == ["a", "c"]
    assert (tmp_path / "out.json").stat().st_size < 20_000
    read_back = ts.GroupsResult.from_json(Path(tmp_path / "out.json"))
    assert read_back.summary() == against_b.summary()
    assert read_back.results == {}


def test_models_without_an_effect_have_no_auc():
    result = ts.ksample(TRIAL.drop("v"), by="arm", reference="a", model="paper", points=5)
    assert np.isnan(result.auc).all()
    assert json.loads(result.to_json())["auc"] == [None] * 2


def test_columns_left_out_are_said_once(recwarn):
    frame = TRIAL.with_columns(pl.lit("t").alias("text"), one=pl.lit(1.0))
    result = ts.ksample(frame, by="arm", reference="a", points=5)
    assert [one.column for one in result.left_out] == ["text", "one"]
    assert sum("'text'" in str(warning.message) for warning in recwarn) == 1
    assert "columns left out     text (one value throughout), one (one value throughout)" in result.summary()


def test_groups_of_one_row_are_not_compared():
    frame = pl.concat([TRIAL, TRIAL[:1].with_columns(arm=pl.lit("z"))])
    with pytest.warns(DroppedDataWarning, match="1 row: 'z'"):
        result = ts.ksample(frame, by="arm", reference="a", points=5)
    assert result.group == ("b", "c")
    assert any("'z'" in note for note in result.notes)


def test_labels_and_progress():
    shares = []
    result = ts.ksample(TRIAL["u"].to_numpy(), by=ARMS, reference="a", points=5, progress=shares.append)
    assert result.by == ""
    assert shares == pytest.approx([1 / 2, 1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "arm", "reference": "bb"}, r"reference: column 'arm' has no value 'bb'; it has 'a', 'b', 'c'"),
        ({"by": "amr", "reference": "a"}, r"by: x has no column 'amr'; .*did you mean 'arm'\?"),
        ({"by": ["p"] * 90, "reference": "p", "drop": ["arm"]}, "by: there are 0 groups to compare with 'p'; needs 1"),
        ({"by": "arm", "reference": "a", "drop": ["w"]}, "drop: x has no column 'w'"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        ts.ksample(TRIAL, **options)


def test_dictionaries_and_lists_of_samples():
    groups = {arm: rows(arm) for arm in "abc"}
    by_name = ts.ksample(groups, reference="b", points=10)
    for group in ("a", "c"):
        expected = ts.test(groups[group], groups["b"], points=10)
        assert by_name.results[group].log_bf10 == expected.log_bf10
    by_place = ts.ksample(list(groups.values()), reference=1, points=10)
    assert by_place.group == ("0", "2") and by_place.reference == "1"
    np.testing.assert_array_equal(by_place.log_bf10, by_name.log_bf10)


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        (TRIAL, {"reference": "a"}, "groups: expected a dictionary or a list of samples, got DataFrame; pass .* by"),
        ([[1.0, 2.0]], {"reference": 0}, "groups: there are 0 groups to compare with '0'"),
        ({"1": [1.0], 1: [2.0]}, {"reference": 1}, "groups: two of them have the same name"),
        ({"a": [1.0, 2.0], "b": [1.0]}, {"reference": "c"}, "reference: there is no group 'c'; use one of 'a', 'b'"),
        ({"a": [1.0], "b": [1.0, 2.0]}, {"reference": "b"}, r"\(x is 'a', y is 'b'\)"),
        ({"a": [1.0, 2.0], "b": [1.0, 3.0]}, {"rope": 0.6}, "rope: several groups have no single size of a diff"),
    ],
)
def test_refusals_of_samples(groups, options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        ts.ksample(groups, **options)


def test_refusals_of_a_comparison_say_which():
    frame = TRIAL.with_columns(u=pl.when(arm="b").then(None).otherwise("u"))
    with pytest.raises(InputError, match=r"y has 30 missing .*\(x is 'a', y is 'b'\); .*nan_policy='omit'"):
        ts.ksample(frame, by="arm", reference="b")
