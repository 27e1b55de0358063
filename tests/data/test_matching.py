"""Rows that are matched by identifiers: which rows meet, what is said of the others, and what is refused."""

import datetime
import html
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import twosample as ts
from twosample.data.choosing import Choice
from twosample.data.matching import matched
from twosample.data.samples import Samples, read_columns
from twosample.data.two_tables import read_two
from twosample.errors import DroppedDataWarning, InputError, InputTypeError

NAMES = [f"P{number}" for number in range(12)]


def tables(names_x=NAMES, names_y=NAMES, seed=1):
    """Two tables whose rows of one identifier have values that say so: `v` is its place, and y has 100 more."""
    rng = np.random.default_rng(seed)
    place = {name: float(number) for number, name in enumerate(NAMES)}
    made = []
    for names, more in ((names_x, 0.0), (names_y, 100.0)):
        noise = pl.Series(rng.normal(size=len(names)))
        made.append(pl.DataFrame({"id": names, "v": [place[name] + more for name in names], "noise": noise}))
    return made


def shuffled(table, seed=2):
    return table[np.random.default_rng(seed).permutation(len(table))]


@given(st.lists(st.integers(0, 40) | st.none(), max_size=30), st.lists(st.integers(0, 40) | st.none(), max_size=30))
def test_matches_are_those_of_a_join(in_x, in_y):
    of_each = [list(dict.fromkeys(ids)) for ids in (in_x, in_y)]
    frames = [pd.DataFrame({"id": np.array(ids, dtype=float), "row": range(len(ids))}).dropna() for ids in of_each]
    joined = frames[0].merge(frames[1], on="id").sort_values("id")
    texts = [[None if one is None else str(one) for one in ids] for ids in of_each]
    if len(joined) < 2:
        with pytest.raises(InputError, match=f"{len(joined)} values of the identifiers are in both samples"):
            matched(*texts, "the identifiers")
        return
    found = matched(*texts, "the identifiers")
    assert found.x.tolist() == joined["row_x"].tolist() and found.y.tolist() == joined["row_y"].tolist()
    without = [len(frame) - len(joined) for frame in frames]
    said = " ".join(map(str, found.warnings))
    assert ("without a partner" in said) == any(without)
    assert ("without a value" in said) == any(None in ids for ids in of_each)
    for ids, missing, name in zip(of_each, without, "xy", strict=True):
        assert (f"{missing} of {len(ids)} rows of {name} (" in said) == (missing > 0)


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(12)), st.permutations(range(12)), st.booleans())
def test_the_order_of_rows_changes_nothing_to_the_last_bit(order_x, order_y, in_one_table):
    x, y = tables()
    x, y = (one.with_columns(kind=pl.Series(["a", "b", "c"] * 4)) for one in (x, y))
    expected = read_two(x, y, Choice.of(paired="id", texts=True))
    if in_one_table:
        both = pl.concat([x.with_columns(arm=pl.lit("x")), y.with_columns(arm=pl.lit("y"))])
        order = np.argsort([*order_x, *order_y], kind="stable")
        found = read_two(both[order], None, Choice.of("arm", ["x", "y"], paired="id", texts=True))
    else:
        found = read_two(x[order_x], y[order_y], Choice.of(paired="id", texts=True))
    for one, other in zip(found.rows, expected.rows, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (found.columns, found.levels, found.notes) == (expected.columns, expected.levels, expected.notes)


def test_an_answer_does_not_depend_on_the_order_of_rows():
    x, y = tables(NAMES[:11], NAMES[1:])
    with pytest.warns(DroppedDataWarning, match=r"1 of 11 rows of x \('P0'\) and 1 of 11 rows of y \('P11'\)"):
        first = ts.test(x, y, paired="id")
    with pytest.warns(DroppedDataWarning, match="without a partner"):
        again = ts.test(shuffled(x), shuffled(y), paired="id")
    assert again.to_json() == first.to_json() and first.n_x == 10
    assert "without a partner by column 'id'" in " ".join(first.diagnostics.notes)
    assert "10 pairs matched by 'id', 2 columns" in first.summary() and "id (identifies the pairs)" in first.summary()


@pytest.mark.parametrize(
    "made", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, lambda one: one.to_numpy(), lambda one: one.rows()]
)
def test_every_kind_of_table_is_matched(made):
    x, y = tables()
    key = "id" if hasattr(type(made(x)), "columns") else "0"
    samples = Samples.from_data(made(shuffled(x)), made(shuffled(y, 3)), paired=key)
    np.testing.assert_array_equal(samples.y[:, 0] - samples.x[:, 0], 100.0)
    assert samples.paired and samples.paired_by == key and key not in samples.columns


def test_rows_of_arrays_and_sparse_matrices_are_matched_by_numbers():
    numbers = np.random.default_rng(5).permutation(12)
    x = np.column_stack([np.arange(12.0), np.arange(12.0)])
    y = np.column_stack([numbers, numbers + 100.0])
    for of_x, of_y in ((x, y), (sparse.coo_array(x), sparse.csc_array(y)), (np.ma.masked_array(x), y)):
        samples = Samples.from_data(of_x, of_y, paired="0")
        np.testing.assert_array_equal(samples.y[:, 0] - samples.x[:, 0], 100.0)
        assert np.all(np.diff(samples.x[:, 0]) > 0)  # in the order of the numbers, 2 before 10
    samples = Samples.from_data(x[:, 1], y[:, 1], paired=(x[:, 0], y[:, 0].astype(int)))
    np.testing.assert_array_equal(samples.y - samples.x, 100.0)
    assert samples.paired_by == ""


DAYS = [datetime.date(2024, 5, day) for day in range(1, 13)]


@pytest.mark.parametrize(
    "in_x, in_y",
    [
        (list(range(12)), [float(one) for one in range(12)]),
        (list(range(12)), [str(one) for one in range(12)]),
        (list(range(12)), pl.Series(range(12), dtype=pl.Decimal(10, 2))),
        (DAYS, pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        (DAYS, np.array(DAYS, dtype="M8[ns]")),
        ([str(one) for one in DAYS], np.array(DAYS, dtype="M8[D]")),
    ],
)
def test_identifiers_match_whatever_their_type(in_x, in_y):
    values = np.arange(12.0)
    order = np.random.default_rng(3).permutation(12)
    moved = in_y[order] if not isinstance(in_y, list) else [in_y[place] for place in order]
    samples = Samples.from_data(values, values[order] + 1.0, paired=(in_x, moved))
    np.testing.assert_array_equal(samples.y - samples.x, 1.0)


def test_rows_without_identifiers_are_left_out():
    x, y = tables()
    x = x.with_columns(id=pl.when(pl.col("v") < 2).then(None).otherwise(pl.col("id")))
    with pytest.warns(DroppedDataWarning) as said:
        samples = Samples.from_data(x, y, paired="id")
    assert samples.n_x == 10
    assert [str(one.message) for one in said] == [
        "Left out rows without a partner by column 'id': 2 of 12 rows of y ('P0', 'P1').",
        "Left out rows without a value in column 'id': 2 of 12 rows of x.",
    ]


def test_a_row_that_is_left_out_is_not_looked_at():
    x, y = tables()
    bad = pl.DataFrame({"id": ["Q"], "v": [float("nan")], "noise": [float("inf")]})
    with pytest.warns(DroppedDataWarning, match="'Q'"):
        samples = Samples.from_data(pl.concat([bad, x]), y, paired="id")
    assert samples.n_x == 12


def test_labels_of_one_table_are_identifiers_of_its_rows():
    x, y = tables()
    both = shuffled(pl.concat([x.with_columns(arm=pl.lit("a")), y.with_columns(arm=pl.lit("b"))]))
    both = both.with_columns(arm=pl.when(pl.col("id") == "P3").then(None).otherwise(pl.col("arm")))
    choice = Choice.of("arm", ["a", "b"], drop=["id"])
    both = both.filter((pl.col("id") != "P5") | (pl.col("arm") == "a"))
    with pytest.warns(DroppedDataWarning) as said:
        samples = Samples.from_data(both, None, paired=both["id"].to_list(), choice=choice)
    assert [str(one.message).split(":")[0] for one in said] == [
        "Left out 2 rows without a value in column 'arm'.",
        "Left out rows without a partner by the identifiers",
    ]
    assert "1 of 11 rows of x ('P5')" in samples.column_notes[1]
    np.testing.assert_array_equal(samples.y[:, 0] - samples.x[:, 0], 100.0)
    assert samples.names == ("a", "b") and samples.n_x == 10


@pytest.mark.parametrize(
    "paired, message",
    [
        ("name", "x has no column 'name'"),
        ((NAMES, NAMES[:5]), "has 5 identifiers for 12 rows of y"),
        ((NAMES, [*NAMES[:11], "P0"]), "'P0' is twice in the identifiers of y, in rows 0 and 11"),
        ((NAMES, [one.lower() for one in NAMES]), "0 values of the identifiers are in both samples.*'P0', y has 'p0'"),
        (["id", "v"], "expected identifiers of the rows of both samples"),
        (NAMES, "expected identifiers of the rows of both samples"),
        (1, "not 1; name a column as text"),
        (None, "must be True, False"),
        ("", "must be True, False"),
    ],
)
def test_what_identifies_nothing_is_refused(paired, message):
    with pytest.raises((InputError, InputTypeError), match=f"paired: .*{message}|paired: {message}") as refused:
        Samples.from_data(*tables(), paired=paired)
    assert refused.value.argument == "paired"


def test_the_identifier_is_not_compared():
    with pytest.raises(InputError, match="columns: 'id' identifies the pairs"):
        Samples.from_data(*tables(), paired="id", choice=Choice.of(columns=["id"]))
    with pytest.raises(InputError, match="categories: 'id' identifies"):
        Choice.of(categories=["id"], texts=True, paired="id")
    with pytest.raises(InputError, match="paired: column 'id' splits"):
        Choice.of("id", paired="id")


# Pairs by place, where a column may say that they are wrong


def test_pairs_by_place_are_refused_where_identifiers_are_in_another_order():
    x, y = tables()
    both = pl.concat([x.with_columns(arm=pl.lit("a")), shuffled(y).with_columns(arm=pl.lit("b"))])
    for samples, choice in (
        ((x, shuffled(y)), Choice()),
        ((x, shuffled(y)), Choice.of(drop=["id"])),
        ((x.to_pandas(), shuffled(y).to_pandas()), Choice.of(columns=["v"])),
        ((x.rename({"id": "name"}), shuffled(y).rename({"id": "name"})), Choice()),
        ((both, None), Choice.of("arm")),
    ):
        with pytest.raises(InputError, match=r"row . of x is 'P.*match rows by that column with paired='(id|name)'"):
            Samples.from_data(*samples, paired=True, choice=choice)
    with pytest.raises(InputError, match="x has 12 rows and y has 11; match rows by that column with paired='id'"):
        Samples.from_data(x, y[:11], paired=True)


def test_pairs_by_place_are_refused_where_the_index_is_in_another_order():
    x, y = (one.to_pandas().set_index("id") for one in tables())
    moved = y.sample(frac=1.0, random_state=1)
    for of_x, of_y in ((x, moved), (x["v"], moved["v"])):
        with pytest.raises(
            InputError, match=r"same index, in different orders; match rows by it with paired=\(x.index"
        ):
            Samples.from_data(of_x, of_y, paired=True)
        samples = Samples.from_data(of_x, of_y, paired=(of_x.index, of_y.index))
        np.testing.assert_array_equal(samples.y[:, 0] - samples.x[:, 0], 100.0)
    for of_y in (y, moved.reset_index(drop=True), moved.rename(lambda name: f"{name}b"), moved.to_numpy()):
        assert Samples.from_data(x, of_y, paired=True).n_x == 12


def test_pairs_by_place_with_the_same_identifiers_are_taken_without_them():
    x, y = (one.with_columns(id=np.arange(12)) for one in tables())
    with pytest.warns(DroppedDataWarning, match="Left out column 'id', which identifies the pairs"):
        samples = Samples.from_data(x[::-1], y[::-1], paired=True)
    assert samples.columns == ("v", "noise") and samples.x[0, 0] == 11.0 and samples.paired_by is None
    assert any("identifies the pairs" in note for note in samples.column_notes)
    # Where one column agrees, another one in another order is no reason to refuse them.
    orders = [np.random.default_rng(seed).permutation(12) for seed in (1, 2)]
    x, y = (one.with_columns(lab_no=order) for one, order in zip((x, y), orders, strict=True))
    assert Samples.from_data(x, y, paired=True, choice=Choice.of(columns=["v", "noise"])).n_x == 12


@pytest.mark.parametrize(
    "name, in_x, in_y",
    [
        ("rank", np.arange(12), np.arange(12)[::-1]),  # numbers that are no names
        ("kind", ["a", "b", "c"] * 4, ["c", "a", "b"] * 4),  # categories
        ("id", np.arange(12), np.arange(12) + 12),  # rows that are numbered through
        ("id", np.arange(12), np.arange(12)[::-1] + 8),  # names of other things: few are shared
        ("note", NAMES, [*NAMES[:0:-1], "Q"]),  # text of which some is the same
    ],
)
def test_columns_that_name_no_pairs_are_no_reason(name, in_x, in_y):
    x, y = (one.drop("id").with_columns(pl.Series(name, own)) for one, own in zip(tables(), (in_x, in_y), strict=True))
    assert Samples.from_data(x, y, paired=True, choice=Choice.of(drop=[name])).n_x == 12


def test_few_rows_with_the_same_categories_are_no_names():
    x = pl.DataFrame({"kind": ["a", "b", "c"], "v": [1.0, 2.0, 4.0]})
    assert Samples.from_data(x, x[::-1], paired=True, choice=Choice.of(columns=["v"])).n_x == 3


# Questions and places


def test_each_column_of_matched_rows():
    x, y = tables()
    expected = ts.test_each(x.drop("id"), y.drop("id"), paired=True)
    found = ts.test_each(shuffled(x), shuffled(y), paired="id")
    by_column = dict(zip(expected.column, expected.log_bf10, strict=True))
    assert found.paired_by == "id" and "12 pairs matched by 'id'" in found.summary()
    for column, log_bf10 in zip(found.column, found.log_bf10, strict=True):
        assert log_bf10 == pytest.approx(by_column[column], abs=1e-9)  # rows are added in another order
    tables_, _ = read_columns(shuffled(x), shuffled(y), paired="id", nan_policy="omit")
    np.testing.assert_array_equal(tables_.y[:, 0] - tables_.x[:, 0], 100.0)


def test_baselines_and_fixed_lengthscales_of_matched_rows():
    x, y = tables()
    x, y = x[["id", "noise"]], y[["id", "noise"]]
    ids = x["id"].to_list()
    plain = x["noise"].to_numpy(), y["noise"].to_numpy()
    assert ts.baselines.jzs(shuffled(x), y, paired="id").t == pytest.approx(ts.baselines.jzs(*plain, paired=True).t)
    first = ts.baselines.mmd(x, shuffled(y), paired="id").statistic
    assert first == pytest.approx(ts.baselines.mmd(*plain, paired=True).statistic)
    labelled = ts.log_bf10(plain[0], shuffled(y)["noise"], 1.0, paired=(ids, shuffled(y)["id"]))
    assert labelled == pytest.approx(ts.log_bf10(*plain, 1.0, paired=True))


@pytest.mark.slow  # the sampler is compiled
@pytest.mark.filterwarnings("ignore::twosample.errors.ConvergenceWarning")
def test_the_sampler_takes_matched_rows():
    pytest.importorskip("blackjax")
    rng = np.random.default_rng(2)
    x = pl.DataFrame({"day": [datetime.date(2024, 1, day + 1) for day in range(24)], "v": rng.normal(size=24)})
    y = x.with_columns(pl.col("v") + rng.normal(size=24))
    how = {"points": 8, "steps": 12, "burn_in": 4, "chains": 1, "hmc_steps": 3, "early_stop": False}
    found = ts.gibbs(shuffled(x), shuffled(y, 3), paired="day", **how)
    expected = ts.gibbs(x["v"], y["v"], paired=True, **how)
    assert found.paired_by == "day" and "24 pairs matched by 'day'" in found.summary()
    assert found.prob_h1 == expected.prob_h1


def test_a_plan_matches_the_rows_of_every_part():
    x, y = tables()
    plan = ts.Plan.from_json(ts.plan(x, shuffled(y), paired="id").to_json())
    assert plan.paired_by == "id"
    parts = [plan.statistics(shuffled(x[rows]), shuffled(y[rows], 4)) for rows in (slice(0, 5), slice(5, 12))]
    result = plan.test(parts[0].merge(parts[1]))
    assert result.paired_by == "id"
    assert result.log_bf10 == pytest.approx(ts.test(x, y, paired="id").log_bf10, abs=1e-9)
    with pytest.warns(DroppedDataWarning, match="1 of 12 rows of y"):
        assert any("without a partner" in note for note in plan.statistics(x[1:], y).notes)
    with pytest.raises(InputError, match="only where all of them are in the memory"):
        plan.statistics(x.lazy(), y.lazy())
    of_pilot = ts.plan(x, paired="id")
    assert of_pilot.columns == ("v", "noise") and of_pilot.paired_by == "id"
    by_place = ts.plan(x.drop("id"), y.drop("id"), paired=True)
    with pytest.raises(InputError, match="match rows by that column with paired='id'"):
        by_place.statistics(x, shuffled(y))


def test_objects_are_matched_by_identifiers():
    x = ["ACGT" * number for number in range(2, 12)]
    y = ["AGGT" * number for number in range(2, 12)]
    order = np.random.default_rng(1).permutation(10)
    found = ts.test(x, [y[place] for place in order], kernel="kmer", paired=(range(10), order))
    assert found.log_bf10 == ts.test(x, y, kernel="kmer", paired=True).log_bf10
    with pytest.warns(DroppedDataWarning, match="1 of 10 rows of y"):
        fewer = ts.test(x[1:], y, kernel="kmer", paired=(range(1, 10), range(10)))
    assert fewer.n_x == 9 and "without a partner" in " ".join(fewer.diagnostics.notes)
    with pytest.raises(InputTypeError, match="expected identifiers"):
        ts.test(x, y, kernel="kmer", paired="id")


def on_dask(table):
    import dask.array as da

    return da.from_array(table.drop("id").to_numpy(), chunks=(6, 2))


@pytest.mark.parametrize("ask", [ts.test, ts.test_each])
@pytest.mark.parametrize("put", [pl.DataFrame.lazy, lambda one: ts.blocks([one[:6], one[6:]]), on_dask])
def test_rows_that_are_not_in_memory_are_not_matched(ask, put):
    if put is on_dask:
        pytest.importorskip("dask")
    x, y = tables()
    with pytest.raises(InputError, match="only where all of them are in the memory of this machine"):
        ask(put(x), put(y), paired=(NAMES, NAMES) if put is on_dask else "id")


def test_rows_on_a_device_are_not_matched():
    pytest.importorskip("jax")
    with pytest.raises(InputError, match="only where all of them are in the memory of this machine"):
        ts.test(*tables(), paired="id", engine="jax")


def test_batches_are_not_matched():
    with pytest.raises(InputError, match="a partner in another one would be missed"):
        ts.Monitor(paired="id")


@pytest.mark.parametrize("ask", [ts.test, ts.test_each])
@pytest.mark.parametrize("said", ["paired='id'", "paired=paired"])
def test_the_lines_of_a_page_make_the_result_again(ask, said, tmp_path):
    x, y = tables()
    y = shuffled(y)
    paired = (x["id"], y["id"]) if said == "paired=paired" else "id"
    ask(x, y, paired=paired, columns=["v"]).report(tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text("utf-8"))
    [call] = re.findall(rf"ts\.{ask.__name__}\(x, y, .*", page)
    assert said in call and "12 pairs matched by" in page
