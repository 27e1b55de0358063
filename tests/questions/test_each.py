"""One test a column: its evidence, the table, its forms, and what is refused."""

import dataclasses
import json
import math
import pickle
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from scipy.special import logsumexp
from scipy.stats import mannwhitneyu, norm, rankdata
from tests import default_model

import twosample as ts
from twosample.common.progress import WorkCounter
from twosample.errors import DroppedDataWarning, DuplicateRowsWarning, InputError, InputTypeError, MissingExtraError
from twosample.inference import mixture
from twosample.inference.bayes_factor import verdict
from twosample.inference.discoveries import learn_share, posterior, q_values
from twosample.models import PRESETS, Gamma, HalfCauchy
from twosample.questions import each

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
        return 4.0 * np.square(4.0 * np.array(areas) - 2.0) - 1.0, None

    monkeypatch.setattr(each, "single_columns", evidence)
    return calls


@pytest.fixture(scope="module")
def result():
    return ts.test_each(*draw(), groups={"noise": ["0", "1"], "signal": ["1", "5"]})


def by_name(result):
    return {row.column: row for row in result}


# ---- which columns differ


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


# ---- the evidence of a column


def kernel(rows, points, lengthscale):
    return np.exp(-(np.subtract.outer(rows, points) ** 2) / (2 * lengthscale**2))


def log_bf10_of_normal_scores(x, y, paired=False):
    """Of one column, from the formulas: the mean of 15 Bayes factors, with the amplitude integrated by substitution.

    The points are the means of 16 intervals of the sorted scores that hold as many of them; one that is on the border
    of two is in both.
    """
    n_x, n_y = len(x), len(y)
    scores = norm.ppf((rankdata(np.concatenate([x, y])) - 0.5) / (n_x + n_y))
    ordered, edges = np.sort(scores), [Fraction(place * len(scores), 16) for place in range(17)]
    points = np.array([ordered[math.floor(a) : math.ceil(b)].mean() for a, b in pairwise(edges)])
    distances = pdist(points[:, None])
    typical = np.median(distances[distances > 1e-12]) / np.sqrt(2)
    found = [
        log_bf10_at(scores[:n_x], scores[n_x:], points, typical * 2.0 ** (step / 2 - 4), paired) for step in range(15)
    ]
    return logsumexp(found) - np.log(15)


def log_bf10_at(x, y, points, lengthscale, paired):
    return default_model.log_bf10(*(kernel(rows, points, lengthscale) for rows in (x, y, points)), paired=paired)


def kinds_of_columns(n_x, n_y, seed=1):
    """Without ties the first two, of few values the next two, of one value in one of the samples the last two."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_x, 6)), rng.normal(size=(n_y, 6))
    y[:, 1] += 1.0
    x[:, 2], y[:, 2] = np.round(x[:, 2]), np.round(1.5 * y[:, 2])
    x[:, 3], y[:, 3] = x[:, 3] > 0, y[:, 3] > 1
    x[:, 4], y[:, 5] = 0.25, 0.25
    return x, y


def evidence_of(x, y, paired=False):
    return each.single_columns(x, y, paired=paired, model=PRESETS["adaptive"], counter=WorkCounter(None, 1))[0]


@pytest.mark.parametrize(("n_x", "n_y", "paired"), [(40, 40, False), (25, 60, False), (40, 40, True), (9, 12, False)])
def test_a_column_is_tested_by_its_normal_scores(n_x, n_y, paired):
    """Of the two integrals over the amplitude, by different rules, neither is better than about 1e-6."""
    x, y = kinds_of_columns(n_x, n_y)
    expected = [log_bf10_of_normal_scores(*pair, paired) for pair in zip(x.T, y.T, strict=True)]
    assert_allclose(evidence_of(x, y, paired), expected, rtol=0, atol=1e-5)


def test_columns_without_ties_have_the_noise_of_their_model():
    """They share a decomposition only where V is that of all rows."""
    x, y = kinds_of_columns(25, 60)
    own = dataclasses.replace(PRESETS["adaptive"], noise="samples")
    expected = {row.column: row.log_bf10 for row in ts.test(x, y, model=own).by_column}
    assert expected["1"] != pytest.approx(evidence_of(x, y)[1], abs=0.1)
    for row in ts.test_each(x, y, model=own):
        assert row.log_bf10 == pytest.approx(expected[row.column], abs=1e-9)


@pytest.mark.parametrize(("n_x", "n_y"), [(40, 40), (25, 60), (60, 25), (2, 2), (2, 9)])
def test_columns_without_ties_share_a_spectrum_and_change_nothing(n_x, n_y, monkeypatch):
    x, y = kinds_of_columns(n_x, n_y)
    calls = []
    own = each._one_by_one
    monkeypatch.setattr(each, "_one_by_one", lambda x, *others: calls.append(x.shape[1]) or own(x, *others))
    shared = evidence_of(x, y)
    monkeypatch.setattr(each, "MOST_KNOTS", 0)
    assert_allclose(evidence_of(x, y), shared, rtol=0, atol=1e-9)
    assert calls == [4, 6]


@pytest.mark.parametrize(
    ("n_x", "n_y", "paired"), [(40, 40, False), (25, 60, False), (40, 40, True), (600, 500, False)]
)
def test_columns_are_those_of_the_default_test(n_x, n_y, paired):
    """Also where there are more rows than knots, between which scores are interpolated."""
    x, y = (rows[:, 1:5] for rows in kinds_of_columns(n_x, n_y))
    mixed = {row.column: row.log_bf10 for row in ts.test(x, y, paired=paired).by_column}
    found = ts.test_each(x, y, paired=paired)
    assert len(found) == len(mixed) == 4
    for row in found:
        assert row.log_bf10 == pytest.approx(mixed[row.column], rel=1e-10, abs=1e-9)


def test_increasing_maps_and_swapped_samples_do_not_matter():
    x, y = kinds_of_columns(30, 45)
    expected = evidence_of(x, y)
    assert_allclose(evidence_of(np.exp(3 * x) - 7.0, np.exp(3 * y) - 7.0), expected, rtol=0, atol=1e-12)
    assert_allclose(evidence_of(y, x), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("paired", [False, True])
def test_blocks_do_not_matter(paired, monkeypatch):
    """Neither how many columns are ranked at a time, nor how many labels or tests are; sums are rounded otherwise."""
    x, y = (np.concatenate([kinds_of_columns(30, 30, seed)[part] for seed in range(6)], axis=1) for part in (0, 1))
    expected = evidence_of(x, y, paired)
    assert_array_equal(evidence_of(x, y, paired), expected)
    for module, name, value in ((mixture, "_TESTS", 2), (each, "_LABELLED_BYTES", 1), (each, "_BLOCK_VALUES", 5 * 60)):
        monkeypatch.setattr(module, name, value)
        assert_allclose(evidence_of(x, y, paired), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("paper", "paper"),
        ("published", "published"),
        (dataclasses.replace(PRESETS["adaptive"], name="own", ranks=0.0), "own"),
        (dataclasses.replace(PRESETS["adaptive"], name="own", lengthscale=Gamma(2.0, 2.0)), "own"),
    ],
)
def test_models_without_ranks_are_refused(model, name):
    with pytest.raises(
        InputError, match=f"^model: '{name}' has no test of single columns .* model='adaptive'"
    ) as caught:
        ts.test_each(*draw(), model=model)
    assert caught.value.argument == "model"


def test_a_model_of_ones_own_is_used():
    x, y = draw(2)
    own = dataclasses.replace(PRESETS["adaptive"], name="own", amplitude_of_one=HalfCauchy(0.01))
    found = ts.test_each(x, y, model=own)
    assert found.model == own
    assert found.log_bf10[0] < ts.test_each(x, y).log_bf10[0] - 0.5  # a prior of small differences


# ---- the table


def test_rows_are_those_of_columns_and_groups(result):
    x, y = draw()
    rows = by_name(result)
    assert set(rows) == {*map(str, range(6)), "noise", "signal"}
    expected = {row.column: row.log_bf10 for row in ts.test(x, y).by_column}
    for column in range(6):
        row = rows[str(column)]
        assert row.log_bf10 == pytest.approx(expected[str(column)], abs=1e-9)
        assert (row.n_x, row.n_y, row.columns) == (40, 30, (str(column),))
        assert row.prob_larger == mannwhitneyu(x[:, column], y[:, column]).statistic / 1200
        assert row.verdict == verdict(row.log_bf10)
    for name, columns in {"noise": [0, 1], "signal": [1, 5]}.items():
        row = rows[name]
        assert row.log_bf10 == ts.test(x[:, columns], y[:, columns]).log_bf10
        assert row.columns == tuple(map(str, columns))
        effect = ts.test(x[:, columns], y[:, columns]).effect
        assert row.auc == pytest.approx(0.5 + row.prob_h1 * (effect.auc.given_different(0.5) - 0.5))
        assert math.isnan(row.prob_larger) and row.direction == ""


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


def test_pairs_reach_the_tests():
    x, y = draw(2, 20, 20)
    y = x + 0.2 * y
    rows = by_name(ts.test_each(x, y, paired=True, groups={"both": ["0", "1"]}))
    for column in range(2):
        expected = log_bf10_of_normal_scores(x[:, column], y[:, column], paired=True)
        assert rows[str(column)].log_bf10 == pytest.approx(expected, abs=1e-5)
        assert abs(log_bf10_of_normal_scores(x[:, column], y[:, column]) - expected) > 0.1
    assert rows["both"].log_bf10 == ts.test(x, y, paired=True).log_bf10


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(6)), seed=st.integers(0, 5))
def test_the_order_of_columns_does_not_matter(order, seed):
    x, y = (pd.DataFrame(rows, columns=list("abcdef")) for rows in draw(seed=seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "single_columns", lambda x, y, **_: (np.square(x.mean(axis=0) - y.mean(axis=0)), None))
        first, second = ts.test_each(x, y), ts.test_each(x.iloc[:, order], y)
    rows, others = by_name(first), by_name(second)
    assert rows.keys() == others.keys()
    for name, row in rows.items():
        # Sums over columns are rounded in the order of the columns.
        assert_allclose(row[1:7], others[name][1:7], rtol=1e-10)
        assert row[7:] == others[name][7:]
    assert first.discoveries == second.discoveries


@pytest.mark.filterwarnings("ignore::twosample.errors.DuplicateRowsWarning")
@settings(max_examples=30, deadline=None)
@given(
    arrays(np.float64, (12, 4), elements=st.integers(-4, 4).map(float)),
    arrays(np.float64, (9, 4), elements=st.integers(-4, 4).map(float)),
)
def test_swapped_samples_and_other_units(x, y):
    x[0], x[1] = -5.0, 5.0  # so that no column is constant
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "single_columns", lambda x, y, **_: (np.abs(x.mean(axis=0) - y.mean(axis=0)), None))
        rows, swapped, stretched = (
            by_name(ts.test_each(*pair)) for pair in ((x, y), (y, x), (np.exp(3 * x), np.exp(3 * y)))
        )
    for name, row in rows.items():
        assert swapped[name].prob_larger == pytest.approx(1.0 - row.prob_larger, abs=1e-15)
        assert swapped[name].direction == MIRRORED[row.direction]
        assert (stretched[name].prob_larger, stretched[name].direction) == (row.prob_larger, row.direction)


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
        assert row.prob_larger == mannwhitneyu(own, other).statistic / (len(own) * len(other))
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


@pytest.mark.parametrize("paired", [False, True])
def test_a_column_with_holes_is_tested_as_without_those_rows(paired):
    x, y = draw(n_x=30)
    x[3:9, 5], x[0, 4], y[1, 4] = np.nan, np.nan, np.inf
    with pytest.warns(DroppedDataWarning):
        rows = by_name(ts.test_each(x, y, nan_policy="omit", paired=paired))
    for column, lost_x, lost_y in ((5, range(3, 9), []), (4, [0], [1]), (2, [], [])):
        if paired:
            lost_x = lost_y = [*lost_x, *lost_y]
        own, other = np.delete(x[:, column], list(lost_x)), np.delete(y[:, column], list(lost_y))
        expected = log_bf10_of_normal_scores(own, other, paired)
        assert rows[str(column)].log_bf10 == pytest.approx(expected, abs=1e-5)


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
    assert by_name(result)["f"].prob_larger == by_name(ts.test_each(x, y))["5"].prob_larger
    with pytest.raises(InputError, match="y has no column 'f'"):
        ts.test_each(left, right.drop(columns="f"))
    with pytest.raises(InputError, match="x has two columns of the same name"):
        ts.test_each(pd.DataFrame(x, columns=list("abcdee")), right)


def test_many_columns_in_another_order_are_quick(quick, monkeypatch):
    """Names are looked up, not searched for: 20,000 names would take 200 million comparisons."""
    monkeypatch.setattr(each, "single_columns", lambda x, y, **_: (np.square(x.mean(axis=0) - y.mean(axis=0)), None))
    names = [f"gene {number}" for number in range(20_000)]
    x, y = np.random.default_rng(8).normal(size=(2, 8, 20_000))
    left, right = pl.DataFrame(x, schema=names), pl.DataFrame(y[:, ::-1], schema=names[::-1])
    result = ts.test_each(left, right)
    assert len(result) == 20_000
    row = by_name(result)["gene 17"]
    assert row.prob_larger == mannwhitneyu(x[:, 17], y[:, 17]).statistic / 64
    assert len(result.summary()) < 2_000
    assert len(result.to_json()) < 4_000_000


@pytest.mark.parametrize("paired", [False, True])
def test_progress_reaches_the_end(paired, monkeypatch):
    """After every few tests, and with no more work than was expected: the end is reached with the last test."""
    monkeypatch.setattr(mixture, "_TESTS", 2)
    monkeypatch.setattr(each, "_LABELLED_BYTES", 1)
    x, y = kinds_of_columns(30, 30)
    x[:5, 1], y[:5, 1] = np.nan, np.nan
    shares = []
    with pytest.warns(DroppedDataWarning):
        ts.test_each(x, y, groups={"g": ["0", "2"]}, nan_policy="omit", paired=paired, progress=shares.append)
    assert shares == sorted(shares)
    assert len(set(shares)) >= 5
    assert shares[-3] < shares[-2] == pytest.approx(1.0) and shares[-1] == 1.0


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
    assert list(rows[0]) == [
        "column", "n_x", "n_y", "log_bf10", "prob_h1", "q", "auc", "size", "direction", "prob_larger", "verdict"
    ]  # fmt: skip
    for found, row in zip(rows, result, strict=True):
        expected = {name: getattr(row, name) for name in found}
        if row.column in result.groups:
            expected |= {"prob_larger": None, "direction": None}
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
        assert one == result
        assert one.groups == result.groups == {"noise": ("0", "1"), "signal": ("1", "5")}
        assert one.model == result.model
    assert not again.q.flags.writeable and not result.q.flags.writeable
    content = json.loads(text)
    assert content["discoveries"] == list(result.discoveries)
    assert content["prob_larger"].count(None) == 2 and content["prob_beyond_rope"] == [None] * 8


@given(st.lists(st.text(min_size=1, max_size=5), unique=True, min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_json_comes_back_whatever_the_names(names):
    columns = np.random.default_rng(9).normal(size=(2, 6, len(names)))
    left, right = (pl.DataFrame(rows, schema=names) for rows in columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each, "single_columns", lambda x, y, **_: (x.mean(axis=0) - y.mean(axis=0), None))
        result = ts.test_each(left, right)
    again = ts.EachResult.from_json(result.to_json())
    assert again.column == result.column
    assert set(again.column) == set(names)
    assert_array_equal(again.q, result.q)
    assert again == result


def test_the_sign_of_a_column_does_not_matter():
    rng = np.random.default_rng(3)
    x, y = np.round(rng.normal(size=(37, 2)), 1), rng.normal(0.4, 1, size=(50, 2))
    y[:, 0] = np.round(y[:, 0], 1)  # with ties, and without
    flipped = {row.column: row for row in ts.test_each(-x, -y)}
    for row in ts.test_each(x, y):
        assert flipped[row.column].log_bf10 == pytest.approx(row.log_bf10, abs=1e-9)
        assert flipped[row.column].auc == pytest.approx(row.auc, abs=1e-9)
        assert flipped[row.column].prob_larger == pytest.approx(1.0 - row.prob_larger, abs=1e-12)
