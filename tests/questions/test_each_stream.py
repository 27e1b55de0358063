"""One test a column of data in parts: the answer of the same rows in memory, or of many rows by the pilot's ranks."""

import math
import weakref
from fractions import Fraction
from itertools import pairwise

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.special import logsumexp
from scipy.stats import mannwhitneyu, norm, rankdata
from tests.data.test_pilot import chosen_places
from tests.places.test_streaming import KINDS, NAMES, Counted, Elsewhere, cut, frame, samples
from tests.questions.test_each import MIRRORED, log_bf10_at

import twosample as ts
from twosample import places
from twosample.common import threads
from twosample.data import blocks as blocks_module
from twosample.data import pilot
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, InputTypeError
from twosample.places import local
from twosample.questions import each_stream

LIMIT = 200


@pytest.fixture
def few(monkeypatch):
    """A pilot that is smaller than the data, and blocks too."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", LIMIT)
    monkeypatch.setattr(pilot, "HEAD_ROWS", 150)
    monkeypatch.setattr(blocks_module, "_MOST_ROWS", 64)


@pytest.fixture(params=KINDS)
def kind(request, tmp_path):
    """Makes a source of one kind from rows."""
    count = iter(range(9))

    def make(rows):
        folder = tmp_path / str(next(count))
        folder.mkdir()
        return KINDS[request.param](rows, folder)

    return make


def blocks(rows, size=90):
    return ts.blocks(cut(rows, size))


def with_gaps(x, y, seed=3):
    """Values that are missing at random, and one that is infinite."""
    rng = np.random.default_rng(seed)
    for rows, share in ((x, (0.1, 0.0, 0.3)), (y, (0.2, 0.0, 0.0))):
        rows[rng.random(rows.shape) < share] = np.nan
    y[4, 0] = np.inf
    return x, y


def by_place(result):
    """Rows of the columns, in their order, whether they have names or places."""
    rows = {row.column: row for row in result}
    return [rows[column] for column in ("0", "1", "2", *NAMES) if column in rows]


def assert_same(found, expected, tolerance=1e-9):
    """All that the tables say, by column."""
    one, other = by_place(found), by_place(expected)
    assert len(one) == len(other) > 0
    for row, also in zip(one, other, strict=True):
        assert row.log_bf10 == pytest.approx(also.log_bf10, abs=tolerance)
        assert row.auc == pytest.approx(also.auc, abs=1e-4)
        assert row.prob_larger == pytest.approx(also.prob_larger, abs=1e-9)
        assert row.q == pytest.approx(also.q, abs=1e-8)
        assert (row.n_x, row.n_y, row.direction) == (also.n_x, also.n_y, also.direction)
    assert found.share == pytest.approx(expected.share, abs=1e-8)


# ---- independent references


def brute_pilot(x, y):
    """The rows that ranks are made from, chosen here once more; values that are not finite are NaN."""
    of_x, of_y = chosen_places(len(x), len(y), LIMIT)
    rows, both = np.concatenate([x[of_x], y[of_y]]), np.concatenate([x, y])
    beyond = []
    for column in range(x.shape[1]):
        for place, is_beyond in (
            (np.nanargmin(both[:, column]), np.nanmin(both[:, column]) < np.nanmin(rows[:, column])),
            (np.nanargmax(both[:, column]), np.nanmax(both[:, column]) > np.nanmax(rows[:, column])),
        ):
            beyond += [place] if is_beyond else []
    return np.vstack([rows, both[sorted(set(beyond))]])


def brute_log_bf10(x, y, pooled, paired=False):
    """Of one column by the normal scores of pooled values, from the formulas; all without missing values."""
    pooled = np.sort(pooled)
    knots = norm.ppf((rankdata(pooled) - 0.5) / len(pooled))
    x, y = (np.interp(values, pooled, knots) for values in (x, y))
    edges = [Fraction(place * len(knots), 16) for place in range(17)]
    points = np.array([knots[math.floor(a) : math.ceil(b)].mean() for a, b in pairwise(edges)])
    distances = pdist(points[:, None])
    typical = np.median(distances[distances > 0]) / np.sqrt(2)
    found = [log_bf10_at(x, y, points, typical * 2.0 ** (step / 2 - 4), paired) for step in range(15)]
    return logsumexp(found) - np.log(15)


def spread_out(n_x=700, n_y=500, seed=0):
    """Samples whose last column has few values, but no two rows with the smallest or the largest."""
    x, y = samples(n_x, n_y, seed)
    x[17, 2], y[33, 2] = -9.0, 9.0
    return x, y


# ---- few rows: the answer of the rows in memory


@pytest.mark.parametrize("paired", [False, True])
def test_few_rows_are_tested_as_in_memory(kind, paired):
    x, y = samples(600, 600 if paired else 500)
    found, expected = ts.test_each(kind(x), kind(y), paired=paired), ts.test_each(x, y, paired=paired)
    assert_same(found, expected)
    assert found.notes == expected.notes == ()


@pytest.mark.parametrize("paired", [False, True])
def test_few_rows_with_missing_values_are_tested_as_in_memory(paired):
    x, y = with_gaps(*samples(600, 600))
    how = {"nan_policy": "omit", "paired": paired, "groups": {"both": ["0", "2"]}}
    with pytest.warns(DroppedDataWarning, match="Left out"):
        expected = ts.test_each(x, y, **how)
    with pytest.warns(DroppedDataWarning, match="Left out"):
        found = ts.test_each(blocks(x), blocks(y, 77), **how)
    assert found == expected


def test_few_rows_have_everything_else_too():
    """Groups of columns, columns that are left out or cannot be tested, and a table that a column splits."""
    x, y = samples(60, 50)
    arms = pl.Series(["a"] * 60 + ["b"] * 49 + [None])
    both = frame(np.concatenate([x, y])).with_columns(arm=arms, one=pl.lit(1.0), t=pl.lit("t"))
    how = {"by": "arm", "groups": ["b", "a"], "drop": ["w"]}
    with pytest.warns(DroppedDataWarning) as said:
        expected = ts.test_each(both, **how)
    with pytest.warns(DroppedDataWarning) as also:
        found = ts.test_each(both.lazy(), **how)
    assert found == expected and {str(one.message) for one in said} == {str(one.message) for one in also}
    assert found.notes[0] == "Left out 1 row without a value in column 'arm'."
    assert found.skipped == {"t": "one value throughout", "w": "dropped as asked", "one": "one value throughout"}


# ---- many rows: the ranks of a pilot, and the evidence of all rows


def test_many_rows_have_one_answer_however_they_come(kind, few):
    x, y = spread_out()
    found, expected = ts.test_each(kind(x), kind(y)), ts.test_each(ts.blocks([x]), ts.blocks([y]))
    assert_same(found, expected)
    assert found.notes == expected.notes


def test_the_evidence_is_that_of_the_formulas(few):
    x, y = spread_out()
    found, pooled = ts.test_each(blocks(x), blocks(y)), brute_pilot(x, y)
    for column, row in enumerate(by_place(found)):
        expected = brute_log_bf10(x[:, column], y[:, column], pooled[:, column])
        assert row.log_bf10 == pytest.approx(expected, abs=1e-5)  # of the integrals over the amplitude
        area = mannwhitneyu(x[:, column], y[:, column]).statistic / (len(x) * len(y))
        assert row.prob_larger == pytest.approx(area, abs=0.005)
        assert (row.n_x, row.n_y) == (700, 500)
    assert found.notes == (f"The plan was made from a pilot of {len(pooled)} of 1,200 rows.",)
    assert ts.EachResult.from_json(found.to_json()) == found


@pytest.mark.parametrize("paired", [False, True])
def test_columns_are_those_of_the_default_test(few, paired):
    x, y = samples(600, 600)
    mixed = {row.column: row.log_bf10 for row in ts.test(blocks(x), blocks(y), paired=paired).by_column}
    found = ts.test_each(blocks(x, 33), blocks(y), paired=paired)
    for row in found:
        assert row.log_bf10 == pytest.approx(mixed[row.column], abs=1e-9)


@pytest.mark.parametrize("paired", [False, True])
def test_missing_values_are_left_out_column_by_column(few, paired):
    x, y = with_gaps(*spread_out(600, 600))
    with pytest.warns(DroppedDataWarning, match="Left out") as said:
        found = ts.test_each(blocks(x), blocks(y, 77), nan_policy="omit", paired=paired)
    y[4, 0] = np.nan
    if paired:
        gone = np.isnan(x) | np.isnan(y)
        x[gone] = y[gone] = np.nan
        expected = f"Left out {gone.sum()} pairs with a missing or infinite value in 2 of 3 columns."
    else:
        lost = np.isnan(x).sum() + np.isnan(y).sum()
        expected = f"Left out {lost} missing or infinite values in 2 of 3 columns."
    assert [str(one.message) for one in said] == [expected] and found.notes[0] == expected
    pooled = brute_pilot(x, y)
    for column, row in enumerate(by_place(found)):
        of_x, of_y, of_both = (rows[:, column][~np.isnan(rows[:, column])] for rows in (x, y, pooled))
        assert (row.n_x, row.n_y) == (len(of_x), len(of_y))
        assert row.log_bf10 == pytest.approx(brute_log_bf10(of_x, of_y, of_both, paired), abs=1e-5)
    assert len({row.n_x for row in found}) == 3


@settings(max_examples=8, deadline=None)
@given(
    cuts=st.lists(st.integers(1, 299), max_size=6),
    size=st.sampled_from([5, 64, 1000]),
    gaps=st.booleans(),
    paired=st.booleans(),
)
def test_any_split_into_blocks(cuts, size, gaps, paired):
    x, y = with_gaps(*samples(300, 300)) if gaps else samples(300, 300)
    how = {"nan_policy": "omit", "paired": paired}
    with pytest.MonkeyPatch.context() as patch, ts.errors.collected_warnings():
        patch.setattr(pilot, "PILOT_ROWS", LIMIT)
        expected = ts.test_each(ts.blocks([x]), ts.blocks([y]), **how)
        patch.setattr(blocks_module, "_MOST_ROWS", size)
        parts = [part for part in np.split(x, sorted(set(cuts))) if len(part)]
        found = ts.test_each(ts.blocks(parts), ts.blocks([y]), **how)
    assert_same(found, expected)
    assert found.notes == expected.notes


@pytest.mark.parametrize("gaps", [False, True])
def test_swapped_samples_and_other_units(few, gaps):
    """Beyond all knots a map does not matter; between those of the pilot it hardly does."""
    x, y = with_gaps(*samples()) if gaps else samples()
    with ts.errors.collected_warnings():
        found = ts.test_each(blocks(x), blocks(y), nan_policy="omit")
        swapped = ts.test_each(blocks(y), blocks(x), nan_policy="omit")
        scaled = ts.test_each(blocks(x * 4096.0 + 8192.0), blocks(y * 4096.0 + 8192.0), nan_policy="omit")
    for row, other, also in zip(*map(by_place, (found, swapped, scaled)), strict=True):
        assert row.log_bf10 == pytest.approx(other.log_bf10, abs=1e-9)
        assert row.prob_larger == pytest.approx(1.0 - other.prob_larger, abs=1e-12)
        assert row.direction == MIRRORED[other.direction]
        assert row.log_bf10 == pytest.approx(also.log_bf10, abs=1e-7)


def test_columns_are_tested_some_at_a_time(few, monkeypatch):
    x, y = samples()
    expected = ts.test_each(blocks(x), blocks(y))
    monkeypatch.setattr(each_stream, "_MOST_COLUMNS", 2)
    of_x, of_y = Counted(x), Counted(y)
    shares = []
    found = ts.test_each(ts.blocks(of_x), ts.blocks(of_y), progress=shares.append)
    assert_same(found, expected)
    assert (of_x.calls, of_y.calls) == (3, 3)  # the first pass, and two for two and for one column
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == 1.0
    assert len({share for share in shares if 0.0 < share < 1.0}) > 10


def test_parts_are_in_memory_for_a_core_each(few, monkeypatch):
    """Every block is counted while something holds it."""
    monkeypatch.setattr(threads, "cores", lambda: 2)
    alive, most = [], 0

    class Held(np.ndarray):
        pass

    def make(seed):
        nonlocal most
        for number in range(60):
            rows = np.random.default_rng([seed, number]).normal(size=(64, 2)).view(Held)
            alive.append(weakref.ref(rows))
            most = max(most, sum(one() is not None for one in alive))
            yield rows

    ts.test_each(ts.blocks(lambda: make(0)), ts.blocks(lambda: make(1)))
    assert most <= 2 + 4  # those of two workers, those that wait, the one being read


def test_a_column_or_labels_split_the_table(few):
    x, y = samples()
    order = np.random.default_rng(1).permutation(1200)
    rows, arms = np.concatenate([x, y])[order], np.array(["a"] * 700 + ["b"] * 500)[order]
    expected = ts.test_each(ts.blocks([rows[arms == "b"]]), ts.blocks([rows[arms == "a"]]))
    split = frame(rows).with_columns(arm=pl.Series(arms))
    for found in (
        ts.test_each(split.lazy(), by="arm", groups=["b", "a"]),
        ts.test_each(blocks(rows), by=list(arms), groups=["b", "a"]),
    ):
        assert_same(found, expected)
    with pytest.raises(InputError, match="groups"):
        ts.test_each(split.lazy(), by="arm", groups=["b", "c"])


def test_groups_of_columns_are_tested_together(few):
    x, y = samples()
    groups = {"first": ["0", "1"], "all": ["2", "0", "1"]}
    found = {row.column: row for row in ts.test_each(blocks(x), blocks(y), groups=groups)}
    for name, columns in groups.items():
        expected = ts.test(blocks(x), blocks(y), columns=[int(column) for column in columns])
        assert found[name].log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
        assert math.isnan(found[name].prob_larger) and (found[name].n_x, found[name].columns) == (700, tuple(columns))


def test_groups_of_columns_with_missing_values(few):
    """Of a group, the rows that have all of its values."""
    x, y = (frame(rows) for rows in with_gaps(*samples()))
    with pytest.warns(DroppedDataWarning) as said:
        found = ts.test_each(x.lazy(), y.lazy(), nan_policy="omit", groups={"vw": ["v", "w"]})
    assert len(said) == 1  # what is left out, once
    with ts.errors.collected_warnings():
        expected = ts.test(x.lazy(), y.lazy(), nan_policy="omit", columns=["v", "w"])
    row = next(row for row in found if row.column == "vw")
    assert (row.n_x, row.n_y) == (expected.n_x, expected.n_y) and row.n_x < 600
    assert row.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)


def test_groups_that_cannot_be_tested(few):
    x, y = samples()
    x[:, 0] = y[:, 0] = 1.0
    x[:, 2], y[:, 2] = 1.0, 2.0
    x[1:, 1] = np.nan
    names = {"same": ["0"], "apart": ["0", "2"], "gone": ["0", "1"]}
    with ts.errors.collected_warnings(), pytest.raises(InputError, match="nothing can be tested"):
        ts.test_each(blocks(x), blocks(y), nan_policy="omit", groups=names)
    x[:, 0] = np.random.default_rng(0).normal(size=700)
    with ts.errors.collected_warnings():
        found = ts.test_each(blocks(x), blocks(y), nan_policy="omit", groups={**names, "same": ["2"]})
    assert found.column == ("0", "apart") or found.column == ("apart", "0")
    assert found.skipped == {
        "1": "fewer than 2 values in x",
        "2": "one value in each sample",
        "same": "one value in each sample",
        "gone": found.skipped["gone"],
    }
    assert found.skipped["gone"].startswith("x has fewer than 2 rows left")
    with pytest.raises(InputError, match="groups: one of the samples has names of columns"):
        ts.test_each(frame(x[:, :1].repeat(3, axis=1)).lazy(), blocks(y), groups={"g": ["u"]})
    with pytest.raises(InputError, match="groups: there is no column 'z'"):
        ts.test_each(blocks(y), blocks(y + 0.1), groups={"g": ["z"]})


def test_columns_that_cannot_be_tested(few, monkeypatch):
    x, y = samples()
    x[:, 0] = y[:, 0] = 3.0
    odd = next(place for place in range(300, 700) if place not in chosen_places(700, 500, LIMIT)[0])
    x[odd, 0] = 4.0
    x[:, 1], y[:, 1] = 1.0, 2.0
    with pytest.warns(DroppedDataWarning, match="Did not test '1'"):
        found = ts.test_each(blocks(x), blocks(y))
    assert set(found.column) == {"0", "2"}  # the row that is unlike the others is in the pilot
    monkeypatch.setattr(pilot, "_MOST_WITH_EXTREMES", 2)
    with pytest.warns(DroppedDataWarning, match="Did not test"):
        found = ts.test_each(blocks(x), blocks(y))
    assert found.column == ("2",)
    assert found.skipped == {"0": "one value throughout the pilot", "1": "one value in each sample"}


def test_what_is_seen_of_the_first_rows(few):
    x, y = samples()
    x[:, 0] = np.cumsum(x[:, 0])
    with pytest.warns(DependentRowsWarning, match="^Of the first rows of each sample: "):
        found = ts.test_each(blocks(x), blocks(y))
    assert any(note.startswith("Of the first rows") for note in found.notes)


def test_what_is_refused(few):
    x, y = samples()
    lengths = iter([700, 650])
    with pytest.raises(InputError, match=r"x has 650 rows in the second pass and had 700 in the first"):
        ts.test_each(ts.blocks(lambda: [x[: next(lengths)]]), ts.blocks([y]))
    with pytest.raises(InputTypeError, match="y: there is no second sample"):
        ts.test_each(blocks(x))
    with pytest.raises(InputError, match="model: 'paper' has no test of single columns"):
        ts.test_each(blocks(x), blocks(y), model="paper")
    with pytest.raises(InputError, match="nan_policy must be"):
        ts.test_each(blocks(x), blocks(y), nan_policy="keep")
    with pytest.raises(InputError, match="y has 1 row"):
        ts.test_each(blocks(x), ts.blocks([y[:1]]))
    with pytest.raises(InputError, match=r"x has 700 rows and y has 500"):
        ts.test_each(blocks(x), blocks(y), paired=True)
    x[130, 1] = np.nan
    with pytest.raises(InputError, match=r"x has a missing .* \(row 40 of block 1, column '1'\); .*nan_policy='omit'"):
        ts.test_each(blocks(x), blocks(y))


def test_arrays_elsewhere_are_not_copied(few, monkeypatch):
    def is_elsewhere(values):
        return type(values).__module__.startswith("array_api_strict")

    x, y = samples()
    expected = ts.test_each(blocks(x), blocks(y))
    elsewhere = Elsewhere()
    monkeypatch.setattr(places, "stays", is_elsewhere)
    monkeypatch.setattr(places, "of", lambda rows: elsewhere if is_elsewhere(rows) else local)
    sources = [ts.blocks([array_api_strict.asarray(part) for part in cut(rows, 90)]) for rows in (x, y)]
    assert_same(ts.test_each(*sources), expected)
    assert elsewhere.rows >= 2 * 1200  # features and scores
    elsewhere.rows = 0
    with ts.errors.collected_warnings():  # where values may be missing, rows are copied
        assert_same(ts.test_each(*sources, nan_policy="omit"), expected)
    assert elsewhere.rows == 0


# ---- the pilot of columns with missing values


def test_a_pilot_with_missing_values(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_ROWS", 100)
    x, y = with_gaps(*samples())
    y[4, 0] = np.nan
    x[:650, 2] = np.nan  # no value in most blocks
    whole, pieces, first = pilot.Pilot(3), [], [0, 0]
    for sample, rows in enumerate((x, y)):
        for part in cut(rows, 90):
            whole.add(sample, part)
            pieces.append(pilot.Pilot(3).beginning(first, 1200))
            pieces[-1].add(sample, part)
            first[sample] += len(part)
    both = np.concatenate([x, y])
    for found in (whole, pilot.Pilot.joined(pieces)):
        pooled = found.pooled()
        np.testing.assert_array_equal(np.nanmin(pooled, axis=0), np.nanmin(both, axis=0))
        np.testing.assert_array_equal(np.nanmax(pooled, axis=0), np.nanmax(both, axis=0))
        np.testing.assert_array_equal(found.present, [(~np.isnan(rows)).sum(axis=0) for rows in (x, y)])
        np.testing.assert_array_equal(found.limits.x_high, np.nanmax(x, axis=0))
        np.testing.assert_array_equal(found.limits.y_low, np.nanmin(y, axis=0))
        assert len(pooled) <= 106


def test_pilots_of_very_many_columns():
    """Ranks need rows, also where there are many columns; room is not needed for extremes that are not kept."""
    wide = pilot.Pilot(5_000, 2048)
    for _ in range(2):
        wide.add(0, np.zeros((1024, 5_000)))
    assert wide.whole
    assert wide._rows.nbytes < 1.3 * 2048 * 5_000 * 8


# ---- the Bayes factor at given lengthscales


def test_log_bf10_of_blocks(kind, few):
    x, y = samples()
    found = ts.log_bf10(kind(x), kind(y), [2.0, 0.5, 0.5])
    for value, lengthscale in zip(found, (2.0, 0.5, 0.5), strict=True):
        expected = ts.test(blocks(x), blocks(y), lengthscale=lengthscale)
        assert value == pytest.approx(expected.log_bf10, abs=1e-9)
    assert isinstance(ts.log_bf10(kind(x), kind(y), "median"), float)


@pytest.mark.parametrize("model", ["adaptive", "paper"])
def test_log_bf10_of_few_rows_is_that_of_rows_in_memory(model):
    x, y = samples(60, 60)
    how = {"model": model, "columns": [1], "paired": True}
    expected = ts.log_bf10(x, y, [0.5, 2.0], **how)
    np.testing.assert_array_equal(ts.log_bf10(blocks(x, 7), blocks(y), [0.5, 2.0], **how), expected)


def test_log_bf10_of_a_model_of_pairs(few):
    """At a given lengthscale no pairs are needed, so that all models take blocks."""
    x, y = samples(600, 600)
    found = ts.log_bf10(blocks(x), blocks(y), 1.0, model="paper", points=12)
    plan = ts.plan(blocks(x), blocks(y), model="paper", points=12)
    points = plan.points * plan.scale + plan.center
    expected = ts.log_bf10(x, y, 1.0, model="paper", points=points, scale=plan.scale)
    assert found == pytest.approx(expected, abs=1e-7)


def test_pandas_frames_in_memory_are_not_streamed(few):
    x, y = (pd.DataFrame(rows, columns=NAMES) for rows in samples())
    assert ts.test_each(x, y).notes == ()
