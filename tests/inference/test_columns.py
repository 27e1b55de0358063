"""Which columns differ: the mixture over subsets of columns, the table of columns, and their words."""

import dataclasses
import json
import math
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import mannwhitneyu, norm, rankdata

import twosample as ts
from twosample.common.words import shortened
from twosample.errors import InputError
from twosample.inference.columns import BySubset, ColumnEvidence, SubsetEvidence, Table


def draw(n_x, n_columns, shifts=None, n_y=None, seed=0):
    """Normal samples; `shifts` says by how much a column of y is shifted."""
    rng = np.random.default_rng([seed, n_x, n_columns])
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y or n_x, n_columns))
    for column, shift in (shifts or {}).items():
        y[:, column] += shift
    return x, y


def scores(x, y):
    """Pooled normal scores of each column of both samples, by SciPy."""
    pooled = np.concatenate([x, y])
    found = norm.ppf((rankdata(pooled, axis=0) - 0.5) / len(pooled))
    return found[: len(x)], found[len(x) :]


def row_of(result, column):
    return next(row for row in result.by_column if row.column == column)


# ---- the mixture


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(
    ("n_columns", "subsets"),
    [
        (1, "auto"),
        (2, "auto"),
        (3, "auto"),
        (5, "auto"),
        (13, "auto"),
        (1, "all"),
        (4, "all"),
        (3, [(0,), (0, 2), (1,)]),
    ],
)
def test_the_answer_is_the_mean_of_the_bayes_factors_of_the_subsets(n_columns, subsets, paired):
    result = ts.test(*draw(40, n_columns, {0: 0.6}), subsets=subsets, paired=paired)
    rows = list(result.subsets)
    terms = [row.prior * math.exp(row.log_bf10) for row in rows]
    assert math.fsum(row.prior for row in rows) == pytest.approx(1.0, abs=1e-12)
    assert result.log_bf10 == pytest.approx(math.log(math.fsum(terms)), abs=1e-10)
    assert math.fsum(row.posterior for row in rows) == pytest.approx(1.0, abs=1e-12)
    for row, term in zip(rows, terms, strict=True):
        assert row.posterior == pytest.approx(term / math.fsum(terms), rel=1e-9)
    assert [row.posterior for row in rows] == sorted((row.posterior for row in rows), reverse=True)
    assert len({row.columns for row in rows}) == len(rows)


def test_bayes_factors_beyond_the_range_of_numbers():
    result = ts.test(*draw(2000, 3, {0: 4.0}))
    assert result.log_bf10 > 800
    assert math.fsum(row.posterior for row in result.subsets) == pytest.approx(1.0, abs=1e-12)
    logs = [math.log(row.prior) + row.log_bf10 for row in result.subsets]
    assert result.log_bf10 == pytest.approx(np.logaddexp.reduce(logs), abs=1e-9)


@pytest.mark.parametrize(
    ("n_columns", "subsets", "sizes"),
    [
        (1, "auto", {1}),
        (2, "auto", {1, 2}),
        (3, "auto", {1, 2, 3}),
        (12, "auto", {1, 2, 12}),
        (13, "auto", {1, 13}),
        (1, "all", {1}),
        (5, "all", {1, 2, 3, 4, 5}),
    ],
)
def test_sizes_weigh_the_same_and_so_do_the_subsets_of_a_size(n_columns, subsets, sizes):
    priors = defaultdict(list)
    for row in ts.test(*draw(12, n_columns), subsets=subsets).subsets:
        priors[len(row.columns)].append(row.prior)
    assert priors.keys() == sizes
    for size, of_size in priors.items():
        assert len(of_size) == math.comb(n_columns, size)
        assert of_size == pytest.approx([1 / len(sizes) / len(of_size)] * len(of_size), rel=1e-12)


def test_sizes_of_given_subsets_weigh_the_same():
    rows = ts.test(*draw(20, 4), subsets=[(0,), (1, 2), (2, 3), (0, 1, 2, 3)]).subsets
    priors = {row.columns: row.prior for row in rows}
    third = 1 / 3
    assert priors == pytest.approx(
        {("0",): third, ("1", "2"): third / 2, ("2", "3"): third / 2, ("0", "1", "2", "3"): third}
    )


@pytest.mark.parametrize("n_columns", [2, 4])
def test_half_of_all_columns_is_the_test_of_the_columns_as_scaled(n_columns):
    """A scale that hides a column changes that half, and leaves the other, of normal scores, as it is."""
    x, y = draw(40, n_columns, {0: 1.0})
    everything = [range(n_columns)]
    mixed, scaled = (
        [
            math.exp(ts.test(x, y, subsets=subsets, scale=[first] + [1.0] * (n_columns - 1)).log_bf10)
            for first in (1, 99)
        ]
        for subsets in (everything, None)
    )
    assert scaled[0] > 2 * scaled[1]
    # log BF10 as scaled is accurate to a thousandth.
    assert 2 * (mixed[0] - mixed[1]) == pytest.approx(scaled[0] - scaled[1], rel=3e-3)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n", [14, 30, 200])
def test_a_column_alone_is_the_test_of_its_normal_scores(n, paired):
    """From SciPy's ranks: at means of 16 cells, over 15 lengthscales from 1/16 to 8 times the median heuristic."""
    x, y = draw(n, 3, {1: 0.7})
    result = ts.test(x, y, paired=paired)
    count = 16
    of_x, of_y = scores(x, y)
    for row in result.by_column:
        column = int(row.column)
        ordered = np.sort(np.concatenate([of_x, of_y])[:, column])
        edges = [(math.floor(cell * n / 8 + 1e-9), math.ceil((cell + 1) * n / 8 - 1e-9)) for cell in range(count)]
        points = np.array([ordered[a:b].mean() for a, b in edges])
        distances = np.abs(points[:, None] - points)[np.triu_indices(count, 1)]
        typical = np.median(distances[distances > 0]) / math.sqrt(2.0)
        logs = ts.log_bf10(
            of_x[:, column], of_y[:, column], typical * 2.0 ** np.arange(-4, 3.5, 0.5), points=points, paired=paired,
            scale="raw",
        )  # fmt: skip
        assert len(logs) == 15
        assert row.log_bf10 == pytest.approx(np.log(np.exp(logs).mean()), abs=1e-7)


@pytest.mark.parametrize("subsets", ["all", [(0,)], [(1,), (0, 2)], [(0, 1)], [(0, 1, 2)], [(0,), (1,), (2,)]])
def test_columns_are_the_same_whatever_the_subsets(subsets):
    x, y = draw(40, 3, {1: 0.8})
    for found, expected in zip(ts.test(x, y, subsets=subsets).by_column, ts.test(x, y).by_column, strict=True):
        assert (found.column, found.words) == (expected.column, expected.words)
        assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)  # rounding
        assert found.prob == pytest.approx(expected.prob, abs=1e-9)


@pytest.mark.parametrize("subsets", [[(0,)], [(0, 1)]])
def test_columns_that_are_only_shown_do_not_count(subsets):
    """Column 2 differs, and no subset has it."""
    result = ts.test(*draw(60, 3, {2: 2.0}), subsets=subsets, permutations=19)
    assert result.log_bf10 < 0 and result.pvalue > 0.05
    assert result.by_column[0].column == "2" and result.by_column[0].prob > 0.999
    assert all("2" not in row.columns for row in result.subsets)


# ---- columns


@pytest.mark.parametrize("n_columns", [2, 7, 60])
def test_probabilities_are_those_of_the_learnt_share(n_columns):
    """By the steps of EM, with one more column that differs and one that does not, until they stand still."""
    shifts = dict.fromkeys(range(0, n_columns, 3), 0.7)
    rows = list(ts.test(*draw(30, n_columns, shifts)).by_column)
    factors = [math.exp(row.log_bf10) for row in rows]
    share = 0.5
    for _ in range(20_000):
        prob = [share * factor / (share * factor + 1 - share) for factor in factors]
        share = (1 + math.fsum(prob)) / (2 + n_columns)
    assert [row.prob for row in rows] == pytest.approx(prob, abs=1e-9)
    assert 0.0 < min(prob) and max(prob) < 1.0
    assert [row.log_bf10 for row in rows] == sorted((row.log_bf10 for row in rows), reverse=True)
    assert [row.prob for row in rows] == sorted((row.prob for row in rows), reverse=True)
    assert sorted(int(row.column) for row in rows) == list(range(n_columns))


@pytest.mark.parametrize("prior_odds", [1.0, 0.1])
def test_one_column_differs_as_probably_as_the_samples(prior_odds):
    result = ts.test(*draw(30, 1, {0: 0.5}), prior_odds=prior_odds)
    (row,) = result.by_column
    assert (row.prob, row.log_bf10) == (result.prob_h1, result.log_bf10)
    ((columns, prior, log_bf10, posterior),) = result.subsets
    assert (columns, prior, posterior) == (("0",), pytest.approx(1.0), pytest.approx(1.0))
    assert log_bf10 == pytest.approx(result.log_bf10, abs=1e-12)
    assert "column differs" not in result.summary()


def test_two_of_many_columns_are_both_named():
    x, y = draw(60, 60, {17: 1.2, 42: -1.2})
    result = ts.test(x, y)
    first, second, *others = result.by_column
    assert {first.column, second.column} == {"17", "42"}
    assert min(first.prob, second.prob) > 0.9
    assert max(row.prob for row in others) < 0.5
    lines = result.summary().splitlines()
    (start,) = (place for place, line in enumerate(lines) if line.startswith("  P(column differs)"))
    assert lines[start][23:].startswith(f"{first.column}: ") and lines[start].endswith(first.words)
    assert lines[start + 1][23:].startswith(f"{second.column}: ") and lines[start + 1].endswith(second.words)
    # The third is shown, but not in which way it differs.
    assert lines[start + 2].split() == [f"{others[0].column}:", f"{others[0].prob:.4f}"]
    assert lines[start + 3].startswith(f"  difference           {first.column}: mean ")
    assert lines[start + 4].startswith("  lengthscale")


@pytest.mark.parametrize("seed", range(3))
def test_with_random_labels_no_column_is_named(seed):
    x, y = draw(60, 60, {17: 1.2, 42: -1.2}, seed=seed)
    pooled = np.random.default_rng(seed).permutation(np.concatenate([x, y]))
    result = ts.test(pooled[:60], pooled[60:])
    assert result.log_bf10 < 1
    assert max(row.prob for row in result.by_column) < 0.5


# ---- words


def test_words_for_shifts():
    x, y = draw(150, 3, {0: 1.5, 2: -0.7}, n_y=120)
    for swapped in (False, True):
        result = ts.test(y, x) if swapped else ts.test(x, y)
        for column, way, size in (("0", "y", "very large"), ("2", "x", "medium")):
            area = mannwhitneyu(x[:, int(column)], y[:, int(column)]).statistic / (150 * 120)
            sample = {"x": "y", "y": "x"}[way] if swapped else way
            row = row_of(result, column)
            auc = 0.5 + (row.auc - 0.5) / row.prob
            assert row.words == f"larger in {sample}, {size} (AUC {auc:.2f})"
            assert auc == pytest.approx(max(area, 1 - area), abs=0.02)


def test_words_for_spreads():
    x, y = draw(150, 2, n_y=200)
    x[:, 0] *= 2.0
    x[:, 1] *= 0.5
    of_x, of_y = scores(x, y)
    ratios = of_x.std(axis=0, ddof=1) / of_y.std(axis=0, ddof=1)
    for result, first, second in ((ts.test(x, y), "x", "y"), (ts.test(y, x), "y", "x")):
        assert row_of(result, "0").words == f"more spread in {first}, {ratios[0]:.2g} times"
        assert row_of(result, "1").words == f"more spread in {second}, {1 / ratios[1]:.2g} times"


def test_words_for_another_shape():
    """Two peaks with the mean and variance of one."""
    rng = np.random.default_rng(0)
    x, y = draw(400, 2)
    y[:, 0] = rng.choice([-1.0, 1.0], 400) * math.sqrt(0.9) + math.sqrt(0.1) * y[:, 0]
    row = row_of(ts.test(x, y), "0")
    assert row.prob > 0.99
    assert row.words == "different shape"


def test_words_for_pairs_look_at_the_differences():
    """Shift and spread are far below what independent samples of this size could show."""
    x, noise = draw(50, 2, seed=1)
    y = x + 0.1 * noise
    y[:, 0] += 0.2
    y[:, 1] *= 1.3
    result = ts.test(x, y, paired=True)
    assert row_of(result, "0").words.startswith("larger in y, ")
    assert row_of(result, "1").words.startswith("more spread in y, ")
    assert row_of(result, "0").prob > 0.9
    swapped = ts.test(y, x, paired=True)
    assert row_of(swapped, "0").words == row_of(result, "0").words.replace("in y", "in x")
    assert row_of(swapped, "1").words == row_of(result, "1").words.replace("in y", "in x")
    assert {row.words for row in ts.test(x, y).by_column} == {"different shape"}


def test_words_are_those_of_merged_parts_too():
    x, y = draw(60, 2, {0: 0.5})
    y = x + 0.2 * y
    for paired in (False, True):
        plan = ts.plan(x, y, paired=paired)
        merged = plan.statistics(x[:23], y[:23]).merge(plan.statistics(x[23:], y[23:]))
        together = ts.test(x, y, paired=paired)
        assert [row.words for row in plan.test(merged).by_column] == [row.words for row in together.by_column]


@pytest.mark.parametrize("n_columns", [1, 2])
def test_a_sample_of_one_value_has_no_spread_to_compare_with(n_columns):
    x, y = draw(40, n_columns)
    x[:, 0] = 0.1
    assert row_of(ts.test(x, y), "0").words == "more spread in y"
    assert row_of(ts.test(y, x), "0").words == "more spread in x"


# ---- how columns go together


def correlated(n=150, seed=0):
    """Four columns; the second and third are correlated in y, and each alone is standard normal in both samples."""
    x, y = draw(n, 4, seed=seed)
    y[:, 2] = 0.8 * y[:, 1] + 0.6 * y[:, 2]
    return (pd.DataFrame(rows, columns=["a", "b\x1b", "c", "d"]) for rows in (x, y))


def test_a_pair_that_differs_only_together_is_named():
    result = ts.test(*correlated())
    assert result.subsets[0].columns == ("b\x1b", "c")
    assert result.subsets[0].posterior > 0.99
    assert max(row_of(result, "b\x1b").prob, row_of(result, "c").prob) < 0.5
    (line,) = (line for line in result.summary().splitlines() if "together" in line)
    assert line == "  columns              b\\x1b and c differ in how they go together"
    # Each column has its line as well.
    assert sum(": 0." in line for line in result.summary().splitlines()) == 3


def test_without_evidence_no_pair_is_named():
    result = ts.test(*correlated())
    for log_bf10 in (-5.0, 0.0, 1.0):
        assert "together" not in dataclasses.replace(result, log_bf10=log_bf10).summary()
    assert "together" in dataclasses.replace(result, log_bf10=1.1).summary()


def test_a_pair_with_a_column_that_differs_alone_is_not_said_to_differ_together():
    x, y = draw(150, 3, {0: 2.0, 1: 2.0})
    result = ts.test(x, y)
    assert result.by_subset.together() is None
    assert "together" not in result.summary()


def by_subset(log_bf10, subsets, subset_log_bf10, prior=None):
    prior = np.full(len(subsets), 1 / len(subsets)) if prior is None else np.array(prior)
    return BySubset(
        log_bf10=np.array(log_bf10),
        auc=np.full(len(log_bf10), 0.7),
        spread=np.ones(len(log_bf10)),
        direction=("larger in x",) * len(log_bf10),
        subsets=subsets,
        prior=prior,
        subset_log_bf10=np.array(subset_log_bf10),
    )


SUBSETS = ((0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2))


@pytest.mark.parametrize(
    ("alone", "best", "found"),
    [
        ([-1.0, -1.0, -1.0], (0, 1), (0, 1)),
        ([-1.0, -1.0, 9.0], (0, 1), (0, 1)),
        ([-1.0, 9.0, -1.0], (0, 1), None),
        ([-1.0, -1.0, -1.0], (0, 1, 2), None),
        ([-1.0, -1.0, -1.0], (2,), None),
    ],
)
def test_which_pair_differs_together(alone, best, found):
    evidence = by_subset(alone, SUBSETS, [20.0 if subset == best else 0.0 for subset in SUBSETS])
    assert evidence.together() == found


def test_the_likeliest_subset_counts_by_its_prior():
    evidence = by_subset([-1.0] * 3, ((0, 1), (0, 2)), [2.0, 2.5], [0.9, 0.1])
    assert evidence.together() == (0, 1)
    first, second = evidence.by_subset(("a", "b", "c"))
    assert (first.columns, second.columns) == (("a", "b"), ("a", "c"))
    assert first.posterior == pytest.approx(0.9 / (0.9 + 0.1 * math.exp(0.5)))


def test_equal_columns_stay_in_order():
    rows = by_subset([0.5, 0.5, 0.5], ((0,), (1,), (2,)), [0.5] * 3).by_column(("c", "a", "b"), 0.5)
    assert [row.column for row in rows] == ["c", "a", "b"]


# ---- tables


@pytest.fixture(scope="module")
def result():
    return ts.test(*draw(40, 3, {1: 1.0}))


@pytest.mark.parametrize(
    ("kind", "native"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames(result, kind, native):
    for table, record in ((result.by_column, ColumnEvidence), (result.subsets, SubsetEvidence)):
        frame = table.to_frame(kind)
        assert type(frame) is native
        content = frame.to_dict("list") if kind == "pandas" else frame.to_pydict() if kind == "pyarrow" else None
        content = content or frame.to_dict(as_series=False)
        assert list(content) == list(record._fields)
        rows = zip(*content.values(), strict=True)
        tuples = [tuple(tuple(value) if isinstance(value, list) else value for value in row) for row in rows]
        assert tuples == [tuple(row) for row in table]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_without_rows(kind):
    table = ts.test(*draw(20, 2), subsets=None).by_column
    frame = table.to_frame(kind)
    assert frame.shape == (0, 14)
    names = frame.column_names if kind == "pyarrow" else frame.columns
    assert list(names) == list(ColumnEvidence._fields)


def test_pandas_is_the_default_and_others_are_refused(result):
    assert type(result.by_column.to_frame()) is pd.DataFrame
    with pytest.raises(InputError, match=r"^kind: 'excel' is unknown"):
        result.by_column.to_frame("excel")


def test_a_table_is_a_sequence(result):
    table = result.by_column
    assert isinstance(table, Table)
    assert len(table) == 3
    assert table[0] == next(iter(table))
    assert table[-1] == list(table)[-1]
    assert list(table[1:]) == list(table)[1:]
    assert table[0] in table and next(reversed(table)) == table[-1]
    assert repr(table).splitlines() == [shortened(repr(row), 160) for row in table]
    assert repr(Table((), ColumnEvidence._fields)) == "no rows"


def test_tables_are_plain_in_json(result):
    content = json.loads(result.to_json())
    assert content["by_column"] == [row._asdict() for row in result.by_column]
    assert content["subsets"] == [{**row._asdict(), "columns": list(row.columns)} for row in result.subsets]
    assert result.to_dict()["subsets"] == content["subsets"]
