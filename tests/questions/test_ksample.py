"""Several groups at once: for two groups it is the test; partitions, pairs, permutations, and refusals."""

import json
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample.errors import (
    DependentRowsWarning,
    DroppedDataWarning,
    DuplicateRowsWarning,
    FlatFeaturesWarning,
    IdentifierWarning,
    InputError,
    InputTypeError,
)

RNG = np.random.default_rng(0)
THREE = {"a": RNG.normal(0, 1, (50, 2)), "b": RNG.normal(0, 1, (60, 2)), "c": RNG.normal(1.2, 1, (40, 2))}


@pytest.fixture(scope="module")
def three():
    return ts.ksample(THREE, points=20)


# ---- two groups


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("sizes", [(40, 40), (15, 90)])
@pytest.mark.parametrize("shift", [0.0, 0.6, 3.0])
def test_of_two_groups_it_is_the_test(columns, sizes, shift):
    rng = np.random.default_rng(columns)
    x, y = rng.normal(size=(sizes[0], columns)), rng.normal(shift, 1.3, size=(sizes[1], columns))
    expected = ts.test(x, y, prior_odds=0.3)
    result = ts.ksample([x, y], prior_odds=0.3)
    assert result.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    assert result.prob_h1 == pytest.approx(expected.prob_h1, abs=1e-9)
    assert result.pairs[0].log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    assert result.pairs[0].prob_same == pytest.approx(expected.prob_h0, abs=1e-9)
    own = {row.column: row.log_bf10 for row in expected.by_column}
    assert {row.column: pytest.approx(row.log_bf10, abs=1e-9) for row in result.by_column} == own


@pytest.mark.parametrize(
    "options",
    [{"points": 12}, {"subsets": None}, {"subsets": [("0",)]}, {"scale": "raw"}, {"tolerance": 1e-7}, {"columns": [1]}],
)
def test_options_are_those_of_the_test(options):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(30, 2)), rng.normal(0.5, 1, size=(35, 2))
    if options.get("columns"):
        options = {"columns": ["1"]}
    expected = ts.test(x, y, **options)
    assert ts.ksample({"x": x, "y": y}, **options).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)


# ---- partitions and pairs


def test_partitions_are_probabilities(three):
    assert len(three.partitions) == 5
    assert sum(row.posterior for row in three.partitions) == pytest.approx(1.0)
    assert sum(row.prior for row in three.partitions) == pytest.approx(1.0)
    assert [row.posterior for row in three.partitions] == sorted(row.posterior for row in three.partitions)[::-1]
    assert three.partitions[0].groups == (("a", "b"), ("c",))
    same = next(row for row in three.partitions if len(row.groups) == 1)
    assert (same.log_bf10, same.prior) == (0.0, 0.5)
    assert same.posterior == pytest.approx(three.prob_h0)
    for row in three.partitions:  # Bayes
        expected = row.prior * math.exp(row.log_bf10) / (same.prior / same.posterior)
        assert row.posterior == pytest.approx(expected, rel=1e-6)


def test_pairs_add_up_partitions(three):
    for pair in three.pairs:
        together = [
            row.posterior
            for row in three.partitions
            if any({pair.first, pair.second} <= set(block) for block in row.groups)
        ]
        assert pair.prob_same == pytest.approx(sum(together))
    assert [(pair.first, pair.second) for pair in three.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert three.pairs[0].prob_same > 0.5 > three.pairs[1].prob_same


def test_prior_odds_are_of_not_all_alike(three):
    other = ts.ksample(THREE, points=20, prior_odds=0.1)
    assert other.log_bf10 == three.log_bf10
    assert other.prob_h1 == pytest.approx(1 / (1 + 10 * math.exp(-three.log_bf10)))
    assert sum(row.prior for row in other.partitions if len(row.groups) > 1) == pytest.approx(0.1 / 1.1)


def test_evidence_for_all_alike_grows():
    rng = np.random.default_rng(3)
    found = [ts.ksample([rng.normal(size=n) for _ in range(3)], points=16).log_bf10 for n in (20, 200, 2000)]
    assert found[0] > found[1] > found[2]
    assert found[2] < -2


def test_three_of_five_are_found():
    rng = np.random.default_rng(4)
    groups = {name: rng.normal(shift, 1, 150) for name, shift in zip("pqrst", (0, 0, 1, 0, 2), strict=True)}
    assert ts.ksample(groups, points=16).partitions[0].groups == (("p", "q", "s"), ("r",), ("t",))


def test_more_than_six_groups_say_what_was_looked_at():
    rng = np.random.default_rng(6)
    groups = {str(number): rng.normal(2.0 * (number % 3 == 0), 1, 60) for number in range(8)}
    result = ts.ksample(groups, points=12, permutations=19)
    assert result.partitions[0].groups == (("0", "3", "6"), ("1", "2", "4", "5", "7"))
    assert not result.all_listed
    assert "or more" in result.summary() and "not all partitions were looked at" in result.summary()
    assert result.pvalue == pytest.approx(0.05)
    assert result.prob_h1 > 0.99
    # A lower bound: with every partition that was looked at as likely as it is among all of them.
    assert sum(row.prior for row in result.partitions) < 1.0


@pytest.mark.slow
def test_the_path_of_seven_is_near_all_partitions(monkeypatch):
    """What is found without looking at all partitions is most of what there is."""
    rng = np.random.default_rng(7)
    groups = [rng.normal(1.5 * (number > 4), 1, 80) for number in range(7)]
    few = ts.ksample(groups, points=5, subsets=None)
    monkeypatch.setattr("twosample.inference.partitions.MOST_LISTED", 7)
    everything = ts.ksample(groups, points=5, subsets=None)
    assert few.log_bf10 <= everything.log_bf10 + 1e-9
    assert few.log_bf10 > everything.log_bf10 - 2.0
    assert few.partitions[0].groups == everything.partitions[0].groups


# ---- what must not matter


@settings(max_examples=8, deadline=None)
@given(st.permutations(range(3)), st.integers(0, 2**31), st.floats(0.01, 1000), st.floats(-100, 100))
def test_order_of_groups_rows_and_units_do_not_matter(order, seed, unit, shift):
    names = ["abc"[place] for place in order]
    rng = np.random.default_rng(seed)
    moved = {name: rng.permutation(THREE[name][:25, :1]) * unit + shift for name in names}
    plain = ts.ksample({name: rows[:25, :1] for name, rows in THREE.items()}, points=12, permutations=9)
    result = ts.ksample(moved, points=12, permutations=9)
    assert result.log_bf10 == pytest.approx(plain.log_bf10, abs=1e-6)
    assert result.pvalue == plain.pvalue
    for row in result.partitions:
        same = next(
            one for one in plain.partitions if set(map(frozenset, one.groups)) == set(map(frozenset, row.groups))
        )
        assert row.posterior == pytest.approx(same.posterior, abs=1e-6)


def test_ways_to_give_groups(three):
    frame = pl.concat(
        [pl.DataFrame(rows, schema=["u", "v"]).with_columns(arm=pl.lit(name)) for name, rows in THREE.items()]
    )
    by_column = ts.ksample(frame, by="arm", points=20)
    assert by_column.log_bf10 == pytest.approx(three.log_bf10, abs=1e-9)
    assert (by_column.by, by_column.names, by_column.columns) == ("arm", ("a", "b", "c"), ("u", "v"))
    labels = np.repeat(["a", "b", "c"], [50, 60, 40])
    given = ts.ksample(np.concatenate(list(THREE.values())), by=labels, points=20)
    assert given.log_bf10 == pytest.approx(three.log_bf10, abs=1e-9)
    assert ts.ksample(list(THREE.values()), points=20).names == ("0", "1", "2")
    frames = [pd.DataFrame(rows, columns=["u", "v"]) for rows in THREE.values()]
    frames[1] = frames[1][["v", "u"]]
    assert ts.ksample(frames, points=20).log_bf10 == pytest.approx(three.log_bf10, abs=1e-9)


# ---- permutations


def test_the_pvalue_has_its_level():
    rng = np.random.default_rng(8)
    options = {"points": 8, "permutations": 19, "subsets": None}
    found = [ts.ksample([rng.standard_t(3, n) for n in (8, 12, 10)], **options) for _ in range(40)]
    pvalues = np.array([result.pvalue for result in found])
    # Of 40 uniform p-values the share up to 0.2 has standard error 0.06.
    assert abs((pvalues <= 0.2).mean() - 0.2) < 0.2
    assert np.mean([result.evalue for result in found]) < 2.0


def test_the_pvalue_finds_a_difference(three):
    result = ts.ksample(THREE, points=20, permutations=99)
    assert result.pvalue == 0.01 and result.evalue > 50
    assert "0.01 (99 permutations)" in result.summary()
    assert ts.ksample(THREE, points=20, permutations=99, rng=0) == result
    assert three.pvalue is None


# ---- the record


def test_summary(three):
    text = str(three)
    assert text.startswith("Very strong evidence that not all groups come from one distribution.")
    assert "a, b | c" in text and "P(not all alike)" in text
    for row in three.pairs:
        assert f"{row.log_bf10:+.2f}" in text
    assert repr(three).startswith("KSampleResult(log_bf10=")


def test_json(three, tmp_path):
    three.to_json(tmp_path / "out.json")
    assert ts.KSampleResult.from_json(tmp_path / "out.json") == three
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["partitions"][0]["groups"] == [["a", "b"], ["c"]]
    assert content["prob_h1"] == three.prob_h1
    assert three.pairs.to_frame("polars").shape == (3, 4)


def test_plot(three):
    figure = three.plot()
    bars, matrix = figure.axes
    assert [patch.get_width() for patch in bars.patches] == [row.posterior for row in three.partitions]
    alike = matrix.images[0].get_array()
    assert alike[0, 1] == alike[1, 0] == three.pairs[0].prob_same


def test_report_and_paragraph(three, tmp_path):
    page = three.report(tmp_path / "groups.html").read_text()
    assert "a, b | c" in page and "P(same)" in page and f"{three.log_bf10:+.2f}" in page
    hostile = ts.ksample({"<script>": THREE["a"], "b": THREE["b"], "c": THREE["c"]}, points=8)
    page = hostile.report(tmp_path / "hostile.html").read_text()
    assert "<script>," not in page and "&lt;script&gt;" in page
    assert "<script>," not in hostile._repr_html_()
    assert "We compared 3 groups (n = 50, 60 and 40; 2 columns)" in three.text()


def test_progress():
    shares = []
    ts.ksample(THREE, points=8, permutations=5, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0


# ---- what is refused, left out or warned about


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ({"a": [1.0, 2.0]}, {}, "groups: there are 1; needs 2 to 50"),
        ({}, {}, "groups: there are 0; needs 2 to 50"),
        ({"a": [1.0, 2.0], "b": []}, {}, "group 'b' is empty"),
        ({"a": [1.0, 2.0], "b": [1.0, math.nan, 2.0]}, {}, "group 'b' has 1 missing .*nan_policy='omit'"),
        ({"a": [[1.0, 2.0]] * 2, "b": [1.0, 2.0]}, {}, "group 'a' has 2 columns and group 'b' has 1"),
        ([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], {}, "each holds one row repeated"),
        ({1: [1.0, 2.0], "1": [1.0, 2.0]}, {}, "the same name"),
        (THREE, {"model": "paper"}, "model: 'paper' is for two samples; use model='adaptive'"),
        (THREE, {"prior_odds": 0}, "prior_odds"),
        (THREE, {"permutations": -1}, "permutations"),
        (THREE, {"subsets": "some"}, "subsets: 'some' is unknown"),
        (THREE, {"nan_policy": "drop"}, "nan_policy"),
        (THREE, {"columns": ["w"]}, "columns: .*no column 'w'"),
        ([[float(number)] * 2 for number in range(60)], {}, "there are 60 groups"),
    ],
)
def test_refusals(groups, options, message):
    with pytest.raises(InputError, match=message):
        ts.ksample(groups, **options)


def test_too_few_or_many_groups_of_a_table():
    for labels, count in ((["a"] * 20, "is 1 group"), (np.repeat(np.arange(60), 2), "are 60 groups")):
        with pytest.raises(InputError, match=f"^by: there {count} with 2 rows or more; needs 2 to 50"):
            ts.ksample(np.arange(float(len(labels))), by=labels)


def test_groups_of_one_row_each_are_explained():
    rows, labels = np.arange(20.0), [f"s{row}" for row in range(20)]
    names_rows = "groups of one row cannot be compared: split by a column whose values several rows share"
    with pytest.raises(InputError, match=f"^by: there are 0 groups with 2 rows or more among 20; {names_rows}$"):
        ts.ksample(rows, by=labels)
    with pytest.raises(InputError, match=rf"^by: by holds 20 different values, not 2: 's0' \(1 row\).*; {names_rows}$"):
        ts.test(rows, by=labels)
    with pytest.raises(InputError, match=r"choose two with groups=\('s0', 's3'\)"):  # those with rows enough
        ts.test(np.arange(5.0), by=["s0", "s0", "s1", "s3", "s3"])


def test_what_is_no_groups():
    with pytest.raises(InputTypeError, match=r"expected a dictionary or a list of samples, got ndarray; .*by"):
        ts.ksample(np.zeros((4, 2)))


def test_missing_values_and_single_rows_are_left_out():
    groups = {**THREE, "d": np.array([[1.0, 2.0]]), "e": np.array([[np.nan, 1.0], [0.0, 1.0], [1.0, 0.5]])}
    with pytest.warns(DroppedDataWarning) as caught:
        result = ts.ksample(groups, nan_policy="omit", points=8)
    assert result.names == ("a", "b", "c", "e")
    assert [re.sub(" with.*", "", str(one.message)) for one in caught] == [
        "Dropped 1 of 3 rows of group 'e'",
        "Left out groups",
    ]
    assert len(result.diagnostics.notes) == 2


def test_columns_left_out():
    frames = {name: pd.DataFrame(rows, columns=["u", "v"]).assign(one=1.0, t="x") for name, rows in THREE.items()}
    with pytest.warns(DroppedDataWarning):
        result = ts.ksample(frames, points=8, drop=["v"])
    assert {one.column: one.reason for one in result.left_out} == {
        "v": "dropped as asked",
        "t": "one value throughout",
        "one": "one value throughout",
    }


def of_words(rng, shares, n=60):
    return pd.DataFrame({"u": rng.normal(size=n), "word": rng.choice(["north", "south", "west"], n, p=shares)})


def test_text_columns_are_compared():
    rng = np.random.default_rng(3)
    even, most = [0.4, 0.3, 0.3], [0.05, 0.05, 0.9]
    frames = {"a": of_words(rng, even), "b": of_words(rng, even), "c": of_words(rng, most)}
    result = ts.ksample(frames, points=20)
    assert result.prob_h1 > 0.99 and result.partitions[0].groups == (("a", "b"), ("c",))
    assert result.columns == ("u", "word") and result.column_log_bf10[1] > 10 > 0 > result.column_log_bf10[0]
    table = pd.concat([frame.assign(arm=name) for name, frame in frames.items()])
    assert ts.ksample(table, by="arm", points=20).log_bf10 == result.log_bf10
    numbers = {name: frame.replace({"north": 7, "south": 3, "west": 5}) for name, frame in frames.items()}
    assert ts.ksample(numbers, categories=["word"], points=20).log_bf10 == pytest.approx(result.log_bf10, abs=1e-9)


def test_two_groups_of_text_are_those_of_a_test():
    rng = np.random.default_rng(4)
    x, y = of_words(rng, [0.4, 0.3, 0.3]), of_words(rng, [0.2, 0.2, 0.6])
    assert ts.ksample([x, y]).log_bf10 == pytest.approx(ts.test(x, y).log_bf10, abs=1e-6)


def test_columns_of_text_that_groups_do_not_share():
    rng = np.random.default_rng(5)
    frames = {name: of_words(rng, [0.4, 0.3, 0.3], 30) for name in "abc"}
    frames["b"] = frames["b"].assign(only="p")
    frames["c"] = frames["c"].assign(u=["v", "w"] * 15)
    with pytest.warns(DroppedDataWarning, match="'only'.*'u'"):
        result = ts.ksample(frames, points=8)
    assert {one.column: one.reason for one in result.left_out} == {
        "only": "text in group 'b' only",
        "u": "text in group 'c' and numbers in group 'a', group 'b'",
    }
    swapped = {**frames, "c": frames["a"].rename(columns={"u": "v"})}
    with pytest.raises(InputError, match=r"groups must have the same columns: group 'a' has no column 'v'; .*'word'"):
        ts.ksample(swapped)
    with pytest.raises(InputError, match="drop: group 'a' has no column 'z'") as caught:
        ts.ksample(frames, drop=["z"])
    assert caught.value.argument == "drop"
    with pytest.raises(InputError) as caught:
        ts.ksample({"a": [1.0, 2.0], "b": []})
    assert caught.value.argument == "groups"


def test_copied_rows_series_and_identifiers_are_said_by_group():
    rng = np.random.default_rng(9)
    copied = {"a": rng.normal(size=40), "b": np.repeat(rng.normal(size=20), 2), "c": rng.normal(size=40)}
    with pytest.warns(DuplicateRowsWarning, match="20 of 40 rows of group 'b' repeat an earlier row"):
        ts.ksample(copied, points=8)
    walk = {"a": rng.normal(size=100), "b": np.cumsum(rng.normal(size=100)), "c": rng.normal(size=100)}
    with pytest.warns(DependentRowsWarning, match="Rows of group 'b' are not independent"):
        ts.ksample(walk, points=8)
    numbered = {"a": np.arange(30.0), "b": np.arange(30.0, 60.0), "c": np.arange(60.0, 90.0)}
    with pytest.warns((IdentifierWarning, DependentRowsWarning)):
        ts.ksample(numbered, points=8)


def test_points_out_of_reach():
    with pytest.warns(FlatFeaturesWarning):
        result = ts.ksample(THREE, points=[[1e6, 1e6], [2e6, 2e6]], subsets=None)
    assert "do not vary" in result.verdict


def test_all_rows_equal_are_the_same():
    result = ts.ksample([[1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0]])
    assert result.prob_h1 < 0.6
    assert np.isfinite(result.log_bf10)


def test_groups_one_after_the_other_are_no_series():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"arm": np.repeat(["a", "b", "c"], 60), "u": rng.normal(np.repeat([0.0, 5.0, 10.0], 60))})
    assert ts.ksample(table, by="arm", points=10).diagnostics.notes == ()
