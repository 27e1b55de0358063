"""One test a column: the share that differs, false discoveries, the table, its forms, and what is refused."""

import dataclasses
import json
import math
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import mannwhitneyu

import twosample as ts
from twosample import each
from twosample.each import learn_share, posterior, q_values
from twosample.errors import DroppedDataWarning, DuplicateRowsWarning, InputError, InputTypeError, MissingExtraError
from twosample.result import verdict

EVIDENCE = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e4, 1e4))
MIRRORED = {
    "larger in x": "larger in y", "larger in y": "larger in x",
    "more spread in x": "more spread in y", "more spread in y": "more spread in x",
    "different shape": "different shape",
}  # fmt: skip


def draw(n_columns=6, n_x=40, n_y=30, seed=0):
    """Columns of noise; the last is shifted, and the one before it wider."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y, n_columns))
    y[:, -1] += 2.0
    y[:, -2] *= 4.0
    return x, y


@pytest.fixture
def quick(monkeypatch):
    """Evidence that takes no time, for tests of what is done with it; keeps what it was given."""
    calls = []

    def evidence(x, y, *, paired, model, counter):
        assert not np.isnan(x).any() and not np.isnan(y).any()
        calls.append((x, y))
        counter((len(x) + len(y)) * x.shape[1])
        areas = [mannwhitneyu(*pair).statistic / (len(x) * len(y)) for pair in zip(x.T, y.T, strict=True)]
        return 4.0 * np.square(4.0 * np.array(areas) - 2.0) - 1.0

    monkeypatch.setattr(each, "single_columns", evidence)
    return calls


@pytest.fixture(scope="module")
def result():
    return ts.test_each(*draw(), groups={"noise": ["0", "1"], "signal": ["1", "5"]})


def by_name(result):
    return {row.column: row for row in result}


# ---- the share of columns that differ


@given(EVIDENCE)
def test_the_share_is_where_em_stands_still(log_bf10):
    share = learn_share(log_bf10)
    assert 0.0 < share < 1.0
    stepped = (1.0 + posterior(log_bf10, share).sum()) / (2.0 + len(log_bf10))
    assert_allclose(stepped, share, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_what_many_steps_of_em_come_to(seed):
    rng = np.random.default_rng(seed)
    log_bf10 = rng.normal(-1.0, 2.0, 30)
    share = 0.5
    for _ in range(20_000):
        odds = share * np.exp(log_bf10)
        share = (1.0 + np.sum(odds / (odds + 1.0 - share))) / 32.0
    assert_allclose(learn_share(log_bf10), share, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_the_most_probable_one(seed):
    """The log posterior of the share, with a Beta(2, 2) prior, by a search that knows nothing of EM."""
    log_bf10 = np.random.default_rng(seed).normal(-0.5, 3.0, 12)

    def minus_log_posterior(share):
        terms = np.log(share * np.exp(log_bf10) + 1.0 - share)
        return -(np.log(share) + np.log1p(-share) + terms.sum())

    found = minimize_scalar(minus_log_posterior, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12})
    # A minimum is found to the root of the rounding error of the function.
    assert_allclose(learn_share(log_bf10), found.x, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("log_bf10", "share"),
    [
        ([], 0.5),
        ([0.0], 0.5),
        ([1e4], 2 / 3),
        ([-1e4], 1 / 3),
        ([math.inf, -math.inf], 0.5),
        ([1e4] * 30 + [-1e4] * 70, 31 / 102),
        ([0.0] * 20_000, 0.5),
    ],
)
def test_shares_that_are_known(log_bf10, share):
    assert_allclose(learn_share(log_bf10), share, rtol=0, atol=1e-10)


def test_the_share_comes_near_the_truth():
    """Exact Bayes factors of N(0, 1) against N(0, 10); the standard error is below 0.01."""
    log_bf10, differs = exact_evidence(np.random.default_rng(1), 20_000, 0.2)
    assert abs(learn_share(log_bf10) - differs.mean()) < 0.03


def exact_evidence(rng, count, share, variance=10.0):
    differs = rng.random(count) < share
    z = rng.normal(size=count) * np.where(differs, math.sqrt(variance), 1.0)
    return 0.5 * np.square(z) * (1.0 - 1.0 / variance) - 0.5 * math.log(variance), differs


# ---- probabilities and q-values


@given(EVIDENCE, st.floats(1e-6, 1 - 1e-6))
def test_posterior_is_the_prior_times_the_evidence(log_bf10, share):
    expected = expit(log_bf10 + math.log(share / (1.0 - share)))
    assert_allclose(posterior(log_bf10, share), expected, rtol=1e-9, atol=1e-300)


@given(arrays(np.float64, st.integers(1, 20), elements=st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.8 + 1e-9, 1.0])))
def test_q_is_the_mean_chance_of_an_error(prob):
    expected = [np.mean([1.0 - other for other in prob if other >= own]) for own in prob]
    assert_allclose(q_values(prob), expected, rtol=1e-12, atol=1e-15)


@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)))
def test_q_never_falls_with_less_evidence(prob):
    q = q_values(np.sort(prob)[::-1])
    assert (np.diff(q) >= -1e-15).all()
    assert q[-1] == pytest.approx(np.mean(1.0 - prob))


@pytest.mark.parametrize("fdr", [0.05, 0.2])
def test_false_discoveries_are_as_many_as_said(fdr):
    """Where the Bayes factors are those of the data, the mean share of false discoveries over data sets is fdr.

    Of 200 data sets with some 25 discoveries each, its standard error is below 0.006.
    """
    rng, shares = np.random.default_rng(2), []
    for _ in range(200):
        log_bf10, differs = exact_evidence(rng, 400, 0.15, variance=25.0)
        chosen = q_values(posterior(log_bf10, learn_share(log_bf10))) <= fdr
        shares.append(np.mean(~differs[chosen]) if chosen.any() else 0.0)
    assert 0.5 * fdr < np.mean(shares) < fdr + 0.02


def test_nothing_is_found_where_nothing_is():
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(50):
        log_bf10, _ = exact_evidence(rng, 400, 0.0)
        found += np.any(q_values(posterior(log_bf10, learn_share(log_bf10))) <= 0.05)
    assert found <= 6


def test_the_columns_that_differ_are_found_and_no_others():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 50, 40))
    y[:, :4] += 1.5
    y[:, 4:8] *= 4.0
    result = ts.test_each(x, y)
    assert set(map(str, range(8))) <= set(result.discoveries)
    assert len(result.discoveries) <= 9
    ways = {name: row.direction for name, row in by_name(result).items()}
    assert {ways[str(column)] for column in range(4)} == {"larger in y"}
    assert {ways[str(column)] for column in range(4, 8)} == {"more spread in y"}


# ---- the table


def test_each_row_is_the_test_of_its_column(result):
    x, y = draw()
    rows = by_name(result)
    assert set(rows) == {*map(str, range(6)), "noise", "signal"}
    for column in range(6):
        row = rows[str(column)]
        expected = ts.test(x[:, column], y[:, column])
        assert row.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-3, rel=1e-3)
        assert (row.n_x, row.n_y, row.columns) == (40, 30, (str(column),))
        assert row.auc == mannwhitneyu(x[:, column], y[:, column]).statistic / 1200
        assert row.verdict == verdict(row.log_bf10)
    for name, columns in {"noise": [0, 1], "signal": [1, 5]}.items():
        row = rows[name]
        assert row.log_bf10 == ts.test(x[:, columns], y[:, columns]).log_bf10
        assert row.columns == tuple(map(str, columns))
        assert math.isnan(row.auc) and row.direction == ""


def test_rows_are_sorted_and_columns_and_groups_learn_apart(result):
    assert (np.diff(result.log_bf10) <= 0).all()
    is_group = np.isin(result.column, list(result.groups))
    for rows, share in ((~is_group, result.share), (is_group, result.group_share)):
        assert share == learn_share(result.log_bf10[rows])
        assert_array_equal(result.prob_h1[rows], posterior(result.log_bf10[rows], share))
        assert_array_equal(result.q[rows], q_values(result.prob_h1[rows]))
    assert result.discoveries == tuple(row.column for row in result if row.q <= 0.05)
    assert {"4", "5", "signal"} == set(result.discoveries)
    assert dataclasses.replace(result, fdr=1e-300).discoveries == ()


def test_one_column():
    x, y = draw()
    result = ts.test_each(x[:, -1], list(y[:, -1]))
    assert (len(result), result.column, result.group_share) == (1, ("0",), None)
    assert result.share == pytest.approx((1 + result.prob_h1[0]) / 3)


def test_pairs(quick):
    rng = np.random.default_rng(6)
    base = rng.normal(size=(50, 2))
    x, y = base + 0.05 * rng.normal(size=base.shape), base + 0.05 * rng.normal(size=base.shape)
    y[:, 1] += 0.08
    assert by_name(ts.test_each(x, y))["1"].direction == "different shape"
    assert by_name(ts.test_each(x, y, paired=True))["1"].direction == "larger in y"
    with pytest.raises(InputError, match="x has 49 rows and y has 50"):
        ts.test_each(x[1:], y, paired=True)


def test_pairs_and_the_model_reach_the_tests():
    x, y = draw(2, 20, 20)
    result = ts.test_each(x, y, paired=True, model="paper", groups={"both": ["0", "1"]})
    rows = by_name(result)
    assert result.model.name == "paper"
    assert rows["1"].log_bf10 == pytest.approx(ts.test(x[:, 1], y[:, 1], paired=True, model="paper").log_bf10, abs=1e-3)
    assert rows["both"].log_bf10 == ts.test(x, y, paired=True, model="paper").log_bf10


@settings(max_examples=30)
@given(order=st.permutations(range(6)), seed=st.integers(0, 5))
def test_the_order_of_columns_does_not_matter(order, seed):
    x, y = (pd.DataFrame(rows, columns=list("abcdef")) for rows in draw(seed=seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "single_columns", lambda x, y, **_: np.square(x.mean(axis=0) - y.mean(axis=0)))
        first, second = ts.test_each(x, y), ts.test_each(x.iloc[:, order], y)
    rows, others = by_name(first), by_name(second)
    assert rows.keys() == others.keys()
    for name, row in rows.items():
        # Sums over columns are rounded in the order of the columns.
        assert_allclose(row[1:7], others[name][1:7], rtol=1e-10)
        assert row[7:] == others[name][7:]
    assert first.discoveries == second.discoveries


@settings(max_examples=30)
@given(
    arrays(np.float64, (12, 4), elements=st.integers(-4, 4).map(float)),
    arrays(np.float64, (9, 4), elements=st.integers(-4, 4).map(float)),
)
def test_swapped_samples_and_other_units(x, y):
    x[0], x[1] = -5.0, 5.0  # so that no column is constant
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "single_columns", lambda x, y, **_: np.abs(x.mean(axis=0) - y.mean(axis=0)))
        patch.setattr(each, "copied_rows", lambda x, y: ())
        rows, swapped, stretched = (
            by_name(ts.test_each(*pair)) for pair in ((x, y), (y, x), (np.exp(3 * x), np.exp(3 * y)))
        )
    for name, row in rows.items():
        assert swapped[name].auc == pytest.approx(1.0 - row.auc, abs=1e-15)
        assert swapped[name].direction == MIRRORED[row.direction]
        assert (stretched[name].auc, stretched[name].direction) == (row.auc, row.direction)


# ---- missing values and columns that cannot be tested


def test_missing_values_are_refused_by_name():
    x, y = (pd.DataFrame(rows, columns=list("abcdef")) for rows in draw())
    y.loc[7, "c"] = np.nan
    with pytest.raises(
        InputError, match=r"y has 1 missing .* \(first: row 7, column 'c'\); remove them or pass nan_pol"
    ):
        ts.test_each(x, y)
    with pytest.raises(InputError, match="nan_policy must be"):
        ts.test_each(x, y, nan_policy="drop")


def with_holes(missing=0.2):
    x, y = draw(20)
    rng = np.random.default_rng(7)
    x[rng.random(x.shape) < missing] = np.nan
    y[rng.random(y.shape) < missing] = np.inf
    return x, y


@pytest.mark.parametrize("paired", [False, True])
def test_values_are_left_out_column_by_column(quick, paired):
    x, y = with_holes()
    x, y = (x[:30], y) if paired else (x, y)
    with pytest.warns(DroppedDataWarning, match=r"Left out \d+ (missing|pairs with a missing) .* in 20 of 20 columns"):
        result = ts.test_each(x, y, nan_policy="omit", paired=paired)
    rows = by_name(result)
    for column in range(20):
        keep_x, keep_y = np.isfinite(x[:, column]), np.isfinite(y[:, column])
        if paired:
            keep_x = keep_y = keep_x & keep_y
        own, other = x[keep_x, column], y[keep_y, column]
        row = rows[str(column)]
        assert (row.n_x, row.n_y) == (len(own), len(other))
        assert row.auc == mannwhitneyu(own, other).statistic / (len(own) * len(other))
        # Each was given to the evidence as it is, in the order of its rows.
        assert any((own == a).all() and (other == b).all() for part in quick for a, b in columns_like(part, own, other))
    assert result.notes and "Left out" in result.notes[0]


def columns_like(part, own, other):
    x, y = part
    return zip(x.T, y.T, strict=True) if (len(x), len(y)) == (len(own), len(other)) else ()


def test_columns_of_one_size_go_together(quick):
    x, y = draw(9)
    x[0, 3], x[1, 7], y[:2, 5] = np.nan, np.nan, np.nan
    with pytest.warns(DroppedDataWarning, match="Left out 4 missing"):
        ts.test_each(x, y, nan_policy="omit")
    assert sorted((len(a), len(b), a.shape[1]) for a, b in quick) == [(39, 30, 2), (40, 28, 1), (40, 30, 6)]


def test_a_column_with_holes_is_tested_as_without_those_rows():
    x, y = draw()
    x[3:9, 5] = np.nan
    with pytest.warns(DroppedDataWarning):
        row = by_name(ts.test_each(x, y, nan_policy="omit"))["5"]
    expected = ts.test(np.delete(x[:, 5], range(3, 9)), y[:, 5])
    assert row.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-3, rel=1e-3)


def test_columns_that_cannot_be_tested_are_listed(quick):
    x, y = draw(8)
    x[:, 1] = y[:, 1] = 3.0
    x[:, 2], y[:, 2] = 1.0, 2.0
    x[1:, 3] = np.nan
    y[:, 4] = np.nan
    x[:, 5] = 1.0  # only one of the samples
    with pytest.warns(DroppedDataWarning) as caught:
        result = ts.test_each(
            x, y, nan_policy="omit", groups={"constant": ["1"], "few": ["0", "3"], "some": ["0", "1"]}
        )
    assert result.skipped == {
        "1": "one value throughout",
        "2": "one value in each sample",
        "3": "fewer than 2 values in x",
        "4": "fewer than 2 values in y",
        "constant": "one value throughout",
        "few": "fewer than 2 complete rows in x",
    }
    assert {*result.column} == {"0", "5", "6", "7", "some"}
    assert [str(one.message).split()[0] for one in caught] == ["Left", "Did"]
    assert "'3' (fewer than 2 values in x)" in str(caught[1].message)
    assert "and 1 more" in str(caught[1].message)
    assert "'2' (one value in each sample)" in result.summary()
    assert by_name(result)["some"].log_bf10 == ts.test(x[:, 0], y[:, 0]).log_bf10


def test_nothing_to_test_is_refused():
    with pytest.raises(InputError, match=r"nothing can be tested: '0' \(one value throughout\)"):
        ts.test_each([1.0, 1.0], [1.0, 1.0])


def test_values_whose_differences_overflow_are_refused():
    x, y = draw()
    x[0, 2] = 1e308
    with pytest.raises(InputError, match="column '2' of x holds values beyond"):
        ts.test_each(x, y)


def test_copied_rows_are_warned_of(quick):
    x, y = draw()
    with pytest.warns(DuplicateRowsWarning, match="40 of 80 rows of x repeat"):
        result = ts.test_each(np.concatenate((x, x)), y)
    assert "repeat an earlier row" in result.summary()


# ---- arguments


@pytest.mark.parametrize("fdr", [0.0, 1.0, -0.1, math.nan, "0.1", True, None])
def test_fdr_is_between_0_and_1(fdr):
    with pytest.raises(InputError, match="fdr: must be a number between 0 and 1") as caught:
        ts.test_each(*draw(), fdr=fdr)
    assert caught.value.argument == "fdr"


@pytest.mark.parametrize(
    ("groups", "kind", "message"),
    [
        ([["0", "1"]], InputTypeError, "expected a dictionary, got list"),
        ({"a": "01"}, InputTypeError, "'a' is str; pass a list"),
        ({"a": 3}, InputTypeError, "'a' is int; pass a list"),
        ({"a": []}, InputError, "'a' has no columns"),
        ({"a": ["0", "9"]}, InputError, "there is no column '9', which 'a' names"),
        ({"a": ["0", 0]}, InputError, "'a' names a column twice"),
        ({"3": ["0", "1"]}, InputError, "'3' is also the name of a column"),
        ({"a": ["0"], "b\x1b": ["\x1b"]}, InputError, r"no column '\\x1b', which 'b\\x1b' names"),
    ],
)
def test_groups_that_are_refused(groups, kind, message):
    with pytest.raises(kind, match=message) as caught:
        ts.test_each(*draw(), groups=groups)
    assert caught.value.argument == "groups"


def test_frames_go_by_name(quick):
    x, y = draw()
    left = pl.DataFrame(x, schema=list("abcdef"))
    right = pd.DataFrame(y, columns=list("abcdef"))[list("fbdace")]
    result = ts.test_each(left, right, groups={"g": ["a", "f"]})
    assert by_name(result)["f"].auc == by_name(ts.test_each(x, y))["5"].auc
    with pytest.raises(InputError, match="y has no column 'f'"):
        ts.test_each(left, right.drop(columns="f"))
    with pytest.raises(InputError, match="x has two columns of the same name"):
        ts.test_each(pd.DataFrame(x, columns=list("abcdee")), right)


def test_many_columns_in_another_order_are_quick(quick, monkeypatch):
    """Names are looked up, not searched for: 20,000 names would take 200 million comparisons."""
    monkeypatch.setattr(each, "single_columns", lambda x, y, **_: np.square(x.mean(axis=0) - y.mean(axis=0)))
    names = [f"gene {number}" for number in range(20_000)]
    x, y = np.random.default_rng(8).normal(size=(2, 8, 20_000))
    left, right = pl.DataFrame(x, schema=names), pl.DataFrame(y[:, ::-1], schema=names[::-1])
    result = ts.test_each(left, right)
    assert len(result) == 20_000
    row = by_name(result)["gene 17"]
    assert row.auc == mannwhitneyu(x[:, 17], y[:, 17]).statistic / 64
    assert len(result.summary()) < 2_000
    assert len(result.to_json()) < 4_000_000


def test_progress_reaches_the_end():
    shares = []
    ts.test_each(*draw(), groups={"g": ["0", "1"]}, progress=shares.append)
    assert len(shares) >= 8
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


# ---- text, frames and JSON


def test_summary(result):
    lines = result.summary().splitlines()
    assert lines[0] == "2 of 6 columns and 1 of 2 groups differ at a false discovery rate of 0.05."
    assert lines[1].split()[:3] == ["share", "that", "differs"]
    head = next(line for line in lines if line.split()[:2] == ["column", "n_x"])
    table = lines[lines.index(head) + 1 :]
    assert [line.split()[0] for line in table] == list(result.column)
    assert len({line.index("different") - line.index("strong") for line in table[:2]}) == 1
    first = next(iter(result))
    assert f"{first.log_bf10:+.2f}" in table[0] and first.direction in table[0]
    assert result.summary(top=3).endswith("\n  ... and 5 more")
    assert "column " not in result.summary(top=0).split("\n", 1)[1]
    assert str(result) == result.summary()
    assert repr(result) == "EachResult(8 rows, 3 discoveries at fdr=0.05)"


def test_names_cannot_steer_the_terminal(quick):
    x, y = draw()
    names = ["\x1b[31mred\n", "b\x07", "c" * 500, "d", "e", "f"]
    x[:, 1] = y[:, 1] = 0.0
    left, right = (pl.DataFrame(rows, schema=names) for rows in (x, y))
    with pytest.warns(DroppedDataWarning):
        result = ts.test_each(left, right, groups={"\x1b[0m": names[:1]})
    text = result.summary()
    assert all(line.isprintable() for line in text.splitlines())
    assert "\\x1b[31mred\\n" in text and "\\x1b[0m" in text and "b\\x07" in text
    assert max(map(len, text.splitlines())) < 200
    assert result.to_frame("polars")["column"].to_list() == list(result.column)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames(result, kind):
    frame = result.to_frame(kind)
    assert type(frame).__module__.split(".")[0] == kind
    rows = frame.to_pylist() if kind == "pyarrow" else pl.DataFrame(frame).to_dicts()
    assert list(rows[0]) == ["column", "n_x", "n_y", "log_bf10", "prob_h1", "q", "auc", "direction", "verdict"]
    for found, row in zip(rows, result, strict=True):
        expected = {name: getattr(row, name) for name in found}
        if row.column in result.groups:
            expected |= {"auc": None, "direction": None}
        assert found == expected


def test_frames_that_are_not_there(result, monkeypatch):
    with pytest.raises(InputError, match="kind: 'excel' is unknown; use one of 'pandas', 'polars', 'pyarrow'"):
        result.to_frame("excel")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtraError, match="to_frame needs pyarrow; install it with: pip install pyarrow"
    ) as caught:
        result.to_frame("pyarrow")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_json_comes_back(result, tmp_path):
    text = result.to_json(tmp_path / "each.json")
    again = ts.EachResult.from_json(tmp_path / "each.json")
    for one in (again, ts.EachResult.from_json(text), pickle.loads(pickle.dumps(result))):
        assert one.to_json() == text
        assert one.summary() == result.summary()
        assert list(one)[1] == list(result)[1]
        assert one.groups == result.groups == {"noise": ("0", "1"), "signal": ("1", "5")}
        assert one.model == result.model
    assert not again.q.flags.writeable and not result.q.flags.writeable
    content = json.loads(text)
    assert content["discoveries"] == list(result.discoveries)
    assert content["auc"].count(None) == 2


@given(st.lists(st.text(min_size=1, max_size=5), unique=True, min_size=1, max_size=5))
@settings(max_examples=25)
def test_json_comes_back_whatever_the_names(names):
    columns = np.random.default_rng(9).normal(size=(2, 6, len(names)))
    left, right = (pl.DataFrame(rows, schema=names) for rows in columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "single_columns", lambda x, y, **_: x.mean(axis=0) - y.mean(axis=0))
        result = ts.test_each(left, right)
    again = ts.EachResult.from_json(result.to_json())
    assert again.column == result.column
    assert set(again.column) == set(names)
    assert_array_equal(again.q, result.q)
    assert list(again) == list(result)
