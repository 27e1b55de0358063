"""Tables of numbers and categories: against one-hot columns by brute force, and whatever the levels are called."""

import datetime
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import twosample as ts
from twosample import kernels
from twosample.data.categories import distance_of_levels, expanded, name_rows, places_of
from twosample.errors import DatesWarning, DroppedDataWarning, DuplicateRowsWarning, InputError, InputTypeError
from twosample.inference.pictures import share_intervals

COLOURS = ("red", "green", "blue")


def table(seed, n, blue=0.2, columns=3):
    rng = np.random.default_rng(seed)
    found = {f"n{place}": rng.normal(size=n) for place in range(columns)}
    found |= {f"c{place}": rng.choice(["a", "b", "c", "d"], p=(0.4, 0.3, 0.2, 0.1), size=n) for place in range(columns)}
    found["colour"] = rng.choice(COLOURS, p=(0.7 * (1 - blue), 0.3 * (1 - blue), blue), size=n)
    return pl.DataFrame(found)


X, Y = table(1, 60), table(2, 50, blue=0.5)


# ---- the same as one-hot columns


def one_hot(frames, columns):
    """Codes as explicit coordinates: √(1/q) at the one that a row has, so that two levels are √(2/q) apart."""
    pooled = pl.concat(frames)
    coordinates = []
    for column in columns:
        values = pooled[column].to_numpy()
        if pooled[column].dtype != pl.String:
            coordinates.append(values.astype(float)[:, None])
            continue
        names = sorted(set(values))
        shares = np.array([(values == name).mean() for name in names])
        height = math.sqrt(1.0 / max(1.0 - (shares**2).sum(), 0.25))
        coordinates.append(height * (values[:, None] == np.array(names)[None, :]))
    rows = np.concatenate(coordinates, axis=1)
    return np.split(rows, [len(frames[0])])


@pytest.mark.parametrize("columns", [("colour",), ("colour", "c0"), ("n0", "colour", "c1")])
def test_a_category_is_its_one_hot_columns(columns):
    """At the same points and lengthscale, log BF10 is that of the explicit coordinates."""
    x, y = X.select(columns), Y.select(columns)
    scale = np.array([1.0 if column.startswith("n") else 0.0 for column in columns])
    found = ts.test(x, y, lengthscale=1.3, subsets="auto")
    rows = one_hot([x, y], columns)
    for place, column in enumerate(columns):
        if column.startswith("n"):  # scaled as the test does it
            for sample in rows:
                sample[:, place] = (sample[:, place] - found.center[place]) / found.scale[place]
            scale[place] = found.scale[place]
    points = np.unique(np.concatenate(rows), axis=0)
    plan = ts.plan(x, y, lengthscale=1.3)
    chosen = plan.points  # the same coordinates but for the order of levels, and one for others
    assert len(chosen) <= 40
    kernel = np.exp(-0.5 * np.square(points[:, None] - points).sum(axis=-1) / 1.3**2)
    own = np.exp(-0.5 * np.square(chosen[:, None] - chosen).sum(axis=-1) / 1.3**2)
    assert set(np.round(own.ravel(), 9)) <= set(np.round(kernel.ravel(), 9))
    # Points among the explicit coordinates: those rows that the plan chose.
    undone = plan.view.undo(chosen)
    pooled = pl.concat([x, y])
    rows_of = {tuple(row): place for place, row in enumerate(coded(pooled, plan).round(9).tolist())}
    places = [rows_of[tuple(row)] for row in undone.round(9).tolist()]
    lengthscale = plan.lengthscales[0]  # of a column alone in its units, as the rows are here
    explicit = ts.log_bf10(*rows, lengthscale, points=np.concatenate(rows)[places], scale="raw")
    assert found.log_bf10 == pytest.approx(explicit, abs=1e-9)


def coded(frame, plan):
    """Rows with the codes of a plan."""
    columns = []
    for column, levels in zip(plan.columns, plan.levels, strict=True):
        values = frame[column].to_list()
        columns.append(values if levels is None else [levels.index(value) for value in values])
    return np.array(columns, dtype=float).T


def test_features_are_products_of_kernels():
    """RBF of the numbers × exp(-γ) for each mismatch, γ = c²/2ℓ²."""
    columns = ("n0", "c0", "colour")
    plan = ts.plan(X.select(columns), Y.select(columns))
    rows = coded(pl.concat([X, Y]).select(columns), plan)
    points = plan.view.undo(plan.points)
    number = ((rows[:, None, 0] - points[None, :, 0]) / plan.scale[0]) ** 2
    mismatch = [(rows[:, None, place] != points[None, :, place]) / plan.scale[place] ** 2 for place in (1, 2)]
    for lengthscale in (0.4, 1.0, 5.0):
        expected = np.exp(-0.5 * (number + sum(mismatch)) / lengthscale**2)
        assert plan.features.at(rows, lengthscale) == pytest.approx(expected, rel=1e-12)
    for part in range(len(plan.parts)):
        features = plan.features_of(part)
        for index, values in features.values(rows):
            if index % 7:
                continue
            for test, of_test in enumerate(values):
                alone = features.alone(test)
                lengthscale = float(features.typical[test] * features.multiples[index])
                expected = alone.at(rows[:, features.columns[test]], lengthscale)
                assert of_test == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.25, 0.25, 0.5), (0.999, 0.001)])
def test_levels_are_as_far_apart_as_normal_numbers(shares):
    codes = np.repeat(np.arange(len(shares)), np.rint(np.array(shares) * 1000).astype(int)).astype(float)
    differ = (codes[:, None] != codes).mean()
    distance = distance_of_levels(codes, len(shares))
    if differ >= 0.25:
        assert distance**2 * differ == pytest.approx(2.0)  # E(a - b)² of standard normal a, b
    else:
        assert distance == pytest.approx(math.sqrt(8.0))


def test_a_category_of_two_levels_is_a_column_of_zeros_and_ones():
    """Alone and of equal sizes, where no scale matters: it has the evidence of 0 and 1 for its levels."""
    rng = np.random.default_rng(4)
    x, y = rng.random(80) < 0.3, rng.random(80) < 0.5
    frames = [pl.DataFrame({"flag": np.where(flags, "yes", "no")}) for flags in (x, y)]
    found = ts.test(*frames)
    # As numbers their points are means of intervals; at the two values themselves the evidence is the same.
    explicit = ts.test(x.astype(float), y.astype(float), points=np.array([0.0, 1.0]), subsets=None)
    assert found.log_bf10 == pytest.approx(explicit.log_bf10, abs=2e-3)


def test_numbers_beside_categories_are_tested_as_without_them():
    columns = ["n0", "n1", "c0"]
    beside = {row.column: row.log_bf10 for row in ts.test(X.select(columns), Y.select(columns)).by_column}
    for row in ts.test(X.select(columns[:2]), Y.select(columns[:2])).by_column:
        assert beside[row.column] == pytest.approx(row.log_bf10, abs=1e-9)


# ---- whatever levels, columns and rows are called and in which order they come


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)), st.permutations(range(3)))
def test_names_of_levels_and_orders_do_not_matter(seed, names, columns):
    rng = np.random.default_rng(seed)
    x, y = (
        pl.DataFrame(
            {
                "number": rng.normal(size=n),
                "kind": rng.choice(["a", "b", "c", "d"], p=(0.4, 0.3, 0.2, 0.1), size=n),
                "flag": rng.choice(["u", "v"], size=n),
            }
        )
        for n in (25, 30)
    )
    expected = ts.test(x, y)
    renamed = [
        f.with_columns(pl.col("kind").replace(dict(zip("abcd", [f"n{k}" for k in names], strict=True)))) for f in (x, y)
    ]
    assert ts.test(*renamed).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-7)
    arranged = [f.select([f.columns[place] for place in columns]) for f in (x, y)]
    assert ts.test(*arranged).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-7)
    shuffled = [f.sample(fraction=1.0, shuffle=True, seed=seed) for f in (x, y)]
    assert ts.test(*shuffled).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    swapped = ts.test(y, x)
    assert swapped.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    for row, other in zip(expected.by_column, swapped.by_column, strict=True):
        assert (row.column, row.log_bf10) == (other.column, pytest.approx(other.log_bf10, abs=1e-9))
        assert row.words.count(" in x") == other.words.count(" in y")
    scaled = [f.with_columns(pl.col("number") * 1000 + 5) for f in (x, y)]
    assert ts.test(*scaled).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-7)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_libraries_agree(make):
    def made(frame):
        return make(frame.to_dict(as_series=False))

    expected = ts.test(X, Y)
    found = ts.test(made(X), made(Y))
    assert found.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    assert found.levels == expected.levels and found.columns == tuple(X.columns)


def test_kinds_of_categories_agree():
    expected = ts.test(X.select("n0", "colour"), Y.select("n0", "colour")).log_bf10
    for dtype in (pl.Categorical, pl.Enum(COLOURS)):
        x, y = (frame.select("n0", pl.col("colour").cast(dtype)) for frame in (X, Y))
        assert ts.test(x, y).log_bf10 == pytest.approx(expected, abs=1e-9)
    x, y = (frame.select("n0", "colour").to_pandas().astype({"colour": "category"}) for frame in (X, Y))
    assert ts.test(x, y).log_bf10 == pytest.approx(expected, abs=1e-9)
    series = [frame["colour"] for frame in (X, Y)]
    alone = ts.test(X.select("colour"), Y.select("colour")).log_bf10
    assert ts.test(*series).log_bf10 == pytest.approx(alone, abs=1e-9)


def test_booleans_and_dates_stay_numbers():
    day = datetime.date(2026, 1, 1)
    rng = np.random.default_rng(0)
    x, y = (
        pl.DataFrame(
            {
                "ok": rng.random(30) < 0.5,
                "day": [day + datetime.timedelta(days=int(step)) for step in rng.integers(0, 90, 30)],
                "kind": rng.choice(["p", "q"], size=30),
                "whole": rng.integers(0, 5, size=30),
            }
        )
        for _ in range(2)
    )
    with pytest.warns(DatesWarning):
        result = ts.test(x, y)
    assert result.columns == ("ok", "day", "kind", "whole")
    assert [level is None for level in result.levels] == [True, True, False, True]


# ---- which columns


def test_numbers_can_be_categories():
    rng = np.random.default_rng(5)
    x, y = (
        pl.DataFrame({"zip": rng.choice([10115, 20095, 80331], p=p, size=90)})
        for p in ((0.6, 0.2, 0.2), (0.2, 0.2, 0.6))
    )
    found = ts.test(x, y, categories=["zip"])
    as_text = ts.test(x.cast(pl.String).cast(pl.Categorical), y.cast(pl.String).cast(pl.Categorical))
    assert found.log_bf10 == as_text.log_bf10 and found.levels == as_text.levels
    assert found.by_column[0].words.startswith("more '80331' in y")
    array = ts.test(x.to_numpy(), y.to_numpy(), categories=[0])
    assert array.log_bf10 == found.log_bf10
    [row] = ts.test_each(x, y, categories=["zip"])
    assert row.direction == found.by_column[0].words
    plan = ts.plan(x, y, categories=["zip"])
    assert plan.test(plan.statistics(x, y)).log_bf10 == pytest.approx(found.log_bf10, abs=1e-9)
    with pytest.raises(InputError, match="categories: x has no column 'zap'"):
        ts.test(x, y, categories=["zap"])
    with pytest.raises(InputError, match="categories: this model compares numbers only; use model='adaptive'"):
        ts.test(x, y, categories=["zip"], model="paper")
    with pytest.raises(InputError, match="'zip' is not among the columns"):
        ts.test(x, y, categories=["zip"], drop=["zip"])


def test_free_text_is_left_out_and_long_lists_of_levels_are_not():
    rng = np.random.default_rng(6)
    cities = [f"city {place}" for place in range(150)]
    x, y = (
        pl.DataFrame(
            {
                "id": [f"{name}{row}" for row in range(400)],
                "city": rng.choice(cities, size=400),
                "value": rng.normal(size=400),
            }
        )
        for name in "xy"
    )
    with pytest.warns(DroppedDataWarning, match=r"'id' \(text that is different in 800 of 800 rows\); .*name it among"):
        result = ts.test(x, y)
    assert result.columns == ("city", "value")
    names = result.levels[0]
    counts = pl.concat([x, y])["city"].value_counts(sort=True)
    assert len(names) == 31 and counts["count"][30] >= counts.filter(~pl.col("city").is_in(list(names)))["count"].max()
    with pytest.raises(InputError, match="column 'id' holds text that is different in 800 of 800 rows"):
        ts.test(x, y, columns=["id", "value"])


@pytest.mark.parametrize(
    ("different", "rows", "names"), [(40, 60, False), (101, 150, True), (101, 300, False), (20, 20, True)]
)
def test_text_that_names_the_rows(different, rows, names):
    assert name_rows(different, rows) == names


def test_coordinates_of_codes():
    sizes = np.array([0, 2])
    assert expanded(np.array([[0.5, 1.0], [0.7, 0.0]]), sizes, np.array([1.0, 3.0])).tolist() == [
        [0.5, 0.0, 3.0],
        [0.7, 3.0, 0.0],
    ]
    assert places_of(np.array([[0], [1]]), sizes).tolist() == [[0, 3], [1, 2]]


def test_a_label_of_the_samples_is_left_out():
    x, y = X.with_columns(arm=pl.lit("p")), Y.with_columns(arm=pl.lit("q"))
    with pytest.warns(DroppedDataWarning, match=r"'arm' \(one value in each sample, as a label has\)"):
        assert "arm" not in ts.test(x, y).columns
    with pytest.warns(DroppedDataWarning, match="'arm'"):
        in_blocks = ts.test(ts.blocks([x[:20], x[20:]]), ts.blocks([y]))
    assert "arm" not in in_blocks.columns
    with pytest.warns(DroppedDataWarning, match="'arm'"):
        assert ts.test_each(x, y).skipped == {"arm": "one value in each sample, as a label has"}


def test_missing_values_are_a_level():
    rng = np.random.default_rng(7)
    x, y = (
        pl.DataFrame({"kind": rng.choice(np.array(["p", "q", None]), p=p, size=120)}, schema={"kind": pl.String})
        for p in ((0.5, 0.45, 0.05), (0.3, 0.25, 0.45))
    )
    result = ts.test(x, y)
    assert "(missing)" in result.levels[0] and result.n_x == 120
    assert result.by_column[0].words.startswith("more '(missing)' in y")
    as_text = ts.test(x.fill_null("(missing)"), y.fill_null("(missing)"))
    assert result.log_bf10 == as_text.log_bf10
    nothing = pl.DataFrame({"kind": [None] * 30}, schema={"kind": pl.String})
    assert ts.test(x, nothing).by_column[0].words.startswith("more '(missing)' in y")


def test_lists_of_text_are_refused_with_a_way_out():
    with pytest.raises(InputTypeError, match=r"holds text or categories .*text in data frames is taken for categories"):
        ts.test(["a", "b", "c"], ["a", "b", "b"])
    x = pl.DataFrame({"u": [1.0, 2.0, 3.0, 4.0], "t": ["a", "b", "a", "b"]})
    with pytest.warns(DroppedDataWarning, match=r"'t' \(text in x and numbers in y\)"):
        assert ts.test(x, x.with_columns(t=pl.col("u") * 2)).columns == ("u",)


def test_points_are_chosen_not_given():
    with pytest.raises(InputError, match="points: of tables with categories they are chosen among the rows"):
        ts.test(X, Y, points=np.zeros((3, 7)))


# ---- what moved


def test_the_level_that_moved_is_named():
    """Ten columns of numbers and categories, one level of one of them from 20 % to 35 %."""
    x, y = table(11, 300, 0.2, 5).drop("c4"), table(12, 300, 0.35, 5).drop("c4")
    result = ts.test(x, y)
    assert len(result.columns) == 10 and result.prob_h1 > 0.9
    first = result.by_column[0]
    share_x, share_y = ((frame["colour"] == "blue").mean() for frame in (x, y))
    assert first.column == "colour" and first.prob > 0.9
    assert first.words == f"more 'blue' in y: {share_x:.0%} → {share_y:.0%}".replace("%", " %")
    assert f"colour: {first.prob:.4f}, {first.words}" in result.summary()
    [row, *_] = ts.test_each(x, y)
    assert (row.column, row.direction) == ("colour", first.words)
    assert row.log_bf10 == pytest.approx(first.log_bf10, abs=1e-9)
    # Of all three levels, where that of having blue is .58.
    assert 0.5 + 0.5 * (share_y - share_x) - 0.03 < row.prob_larger < 0.65
    assert row.auc == pytest.approx(0.5 + row.prob_h1 * (row.prob_larger - 0.5))
    alone = ts.test(x.select("colour"), y.select("colour"))
    assert f"  column               {first.words}\n" in alone.summary()
    named = ts.test(pl.concat([x.with_columns(arm=pl.lit("old")), y.with_columns(arm=pl.lit("new"))]), by="arm")
    assert "more 'blue' in new: " in named.summary()


def test_the_clearest_level_is_that_of_the_largest_z():
    rng = np.random.default_rng(8)
    x, y = (
        pl.DataFrame({"k": rng.choice(list("abcde"), p=p, size=n)})
        for p, n in (((0.3, 0.3, 0.2, 0.1, 0.1), 150), ((0.3, 0.2, 0.2, 0.1, 0.2), 90))
    )
    z = {}
    for level in "abcde":
        k, m = ((frame["k"] == level).sum() for frame in (x, y))
        statistic = stats.chi2_contingency([[k, 150 - k], [m, 90 - m]], correction=False).statistic
        z[level] = statistic
    best = max(z, key=z.get)
    assert ts.test(x, y).by_column[0].words.startswith(f"more {best!r} in ")


def test_pairs_have_the_error_of_pairs():
    rng = np.random.default_rng(9)
    before = rng.choice(["p", "q", "r"], size=200)
    after = np.where(rng.random(200) < 0.4, rng.choice(["p", "q", "r"], p=(0.1, 0.1, 0.8), size=200), before)
    x, y = pl.DataFrame({"k": before}), pl.DataFrame({"k": after})
    paired = ts.test(x, y, paired=True)
    with pytest.warns(DuplicateRowsWarning, match="paired=True"):
        apart = ts.test(x, y)
    assert paired.log_bf10 > apart.log_bf10 + 2
    assert paired.by_column[0].words.startswith("more 'r' in y")
    [row] = ts.test_each(x, y, paired=True)
    assert row.log_bf10 == pytest.approx(paired.log_bf10, abs=1e-2) and row.direction == paired.by_column[0].words


def test_dependence_of_two_categories_is_found():
    rng = np.random.default_rng(10)
    a, b = rng.choice(["u", "v"], size=300), rng.choice(["p", "q"], size=300)
    c = rng.choice(["u", "v"], size=300)
    d = np.where(rng.random(300) < 0.6, np.where(c == "u", "p", "q"), rng.choice(["p", "q"], size=300))
    noise = rng.normal(size=(600, 2))
    x = pl.DataFrame({"first": a, "second": b, "n": noise[:300, 0], "m": noise[:300, 1]})
    y = pl.DataFrame({"first": c, "second": d, "n": noise[300:, 0], "m": noise[300:, 1]})
    result = ts.test(x, y)
    assert result.prob_h1 > 0.99 and result.subsets[0].columns == ("first", "second")
    assert result.drivers[0].columns == (0, 1)


def test_witness_of_a_category_is_the_difference_of_shares():
    result = ts.test(X.select("colour"), Y.select("colour"))
    witness = result.witness(pl.DataFrame({"colour": [*COLOURS, "unseen"]}))
    for name, mean, sd in zip(COLOURS, witness.mean, witness.sd, strict=False):
        shares = [(frame["colour"] == name).mean() for frame in (X, Y)]
        assert abs(mean - (shares[0] - shares[1])) < 0.02
        assert sd == pytest.approx(
            math.sqrt(sum(p * (1 - p) / n for p, n in zip(shares, (60, 50), strict=True))), rel=0.25
        )
    assert abs(witness.mean[3]) < 1e-6
    codes = result.witness([[float(place)] for place in range(3)])
    by_name = dict(zip([*COLOURS], witness.mean, strict=False))
    assert codes.mean.tolist() == [by_name[name] for name in result.levels[0]]


# ---- rows in parts


def test_parts_add_up_and_unseen_levels_are_others():
    plan = ts.plan(X, Y)
    whole = plan.test(plan.statistics(X, Y))
    parts = plan.statistics(X[:20], None).merge(plan.statistics(X[20:], Y[:30]), plan.statistics(None, Y[30:]))
    assert plan.test(parts).log_bf10 == pytest.approx(whole.log_bf10, abs=1e-9)
    assert whole.log_bf10 == pytest.approx(ts.test(X, Y).log_bf10, abs=1e-9)
    again = ts.Plan.from_json(plan.to_json())
    assert again.key == plan.key and again.levels == plan.levels
    assert again.test(plan.statistics(X, Y)).log_bf10 == whole.log_bf10
    strange = Y.with_columns(colour=pl.when(pl.col("colour") == "blue").then(pl.lit("mauve")).otherwise("colour"))
    found = plan.test(plan.statistics(X, strange))
    row = {row.column: row for row in found.by_column}["colour"]
    assert row.words.startswith("more '(other)' in y")
    with pytest.raises(InputError, match="x has no column 'colour'"):
        plan.statistics(X.drop("colour"), None)
    with pytest.raises(InputTypeError, match="column 'n0' of y holds text"):
        plan.statistics(None, Y.with_columns(n0=pl.lit("x")))


def test_plans_with_other_levels_have_other_keys():
    x, y = X.select("colour"), Y.select("colour")
    other = [frame.with_columns(pl.col("colour").replace("red", "rot")) for frame in (x, y)]
    assert ts.plan(x, y).key != ts.plan(*other).key


def test_blocks_lazy_frames_and_files_agree(tmp_path, monkeypatch):
    x, y = table(21, 300), table(22, 200, 0.4)
    expected = ts.test(x, y)
    in_blocks = ts.test(
        ts.blocks([x[:7], x[7:]]), ts.blocks(lambda: (y[first : first + 50] for first in (0, 50, 100, 150)))
    )
    lazy = ts.test(x.lazy(), y.lazy())
    for result in (in_blocks, lazy):
        assert result.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9) and result.levels == expected.levels
    one = pl.concat([x.with_columns(arm=pl.lit("p")), y.with_columns(arm=pl.lit("q"))])
    assert ts.test(one.lazy(), by="arm").log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    # Too many rows to hold: levels are those of the pilot.
    monkeypatch.setattr("twosample.data.pilot.PILOT_ROWS", 128)
    for frame, name in ((x, "a"), (y, "b")):
        frame.with_columns(note=pl.Series([f"{name}{row}" for row in range(len(frame))])).write_parquet(tmp_path / name)
    with pytest.warns(DroppedDataWarning, match="'note'"):
        few = ts.test(ts.blocks([str(tmp_path / "a")]), ts.blocks([str(tmp_path / "b")]))
    assert (few.n_x, few.n_y) == (300, 200) and few.columns == expected.columns
    assert "pilot of" in few.summary()
    alone = {row.column: row for row in expected.by_column}
    for row in few.by_column:
        if row.column[0] == "c":
            assert row.log_bf10 == pytest.approx(alone[row.column].log_bf10, abs=1e-9)
            assert row.words == alone[row.column].words
    with pytest.raises(InputTypeError, match="column 'c0' holds text in x and numbers in y"):
        ts.test(x.lazy(), y.with_columns(c0=pl.lit(1.0)).lazy())


def test_dask_collections_leave_text_out():
    dask = pytest.importorskip("dask.dataframe")
    x, y = (dask.from_pandas(frame.to_pandas(), npartitions=2) for frame in (X, Y))
    with pytest.warns(DroppedDataWarning, match="'colour' .text or categories"):
        assert ts.test(x, y).columns == ("n0", "n1", "n2")
    with pytest.raises(InputError, match="categories: of Dask collections only numbers"):
        ts.test(x, y, categories=["n0"])


def test_arrays_of_a_device_agree():
    """The same lines of the engine of devices, on torch tensors in memory."""
    torch = pytest.importorskip("torch")
    from twosample.places import device, local

    plan = ts.plan(X, Y)
    rows = coded(X, plan)
    tensor = torch.asarray(rows)
    lengthscales = plan.lengthscales[::9]
    [found], [expected] = (
        engine.sample_moments(plan.features, (given,), lengthscales)
        for engine, given in ((device, tensor), (local, rows))
    )
    assert found.mean == pytest.approx(expected.mean, abs=1e-10)
    for part in range(len(plan.parts)):
        features = plan.features_of(part)
        found, expected = (
            engine.stack_moments(features, given, given)[0] for engine, given in ((device, tensor), (local, rows))
        )
        assert found.scatter == pytest.approx(expected.scatter, abs=1e-8)
    found, expected = (engine.column_moments(plan.ranks, given) for engine, given in ((device, tensor), (local, rows)))
    assert found.mean == pytest.approx(expected.mean, abs=1e-10)


def test_references_and_monitors_compare_text():
    x, y = X.select("n0", "colour"), Y.select("n0", "colour")
    assert ts.Reference.of(x).columns == ts.Monitor().update(x, y).columns == ("n0", "colour")
    assert ts.test(x, y).sequential(batches=2, permutations=9).state.columns == ("n0", "colour")


# ---- level


def test_level_of_permutations_is_exact():
    """All splits of eight rows: the p-values of all 70 labellings are as a permutation p-value must be."""
    pvalues = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        x, y = (pl.DataFrame({"k": rng.choice(["p", "q", "r"], size=12), "n": rng.normal(size=12)}) for _ in range(2))
        pvalues.append(ts.test(x, y, permutations=39, rng=seed, subsets=[("k",), ("k", "n")]).pvalue)
    for level in (0.1, 0.25, 0.5):
        assert sum(p <= level for p in pvalues) <= stats.binom.ppf(0.9999, len(pvalues), level)
    assert min(pvalues) <= 0.25


def test_evalue_has_mean_one():
    values = []
    for seed in range(30):
        rng = np.random.default_rng([1, seed])
        x, y = (pl.DataFrame({"k": rng.choice(["p", "q", "r"], size=15)}) for _ in range(2))
        values.append(ts.test(x, y, permutations=19, rng=seed).evalue)
    assert abs(np.mean(values) - 1.0) < 4 * np.std(values) / math.sqrt(len(values))


# ---- pictures and files


@pytest.mark.parametrize(
    ("columns", "keep_rows"),
    [(("colour",), False), (("n0", "colour"), True), (("c0", "colour"), False), (None, True)],
)
def test_pictures_reports_and_json(columns, keep_rows, tmp_path):
    result = ts.test(X, Y, columns=columns, keep_rows=keep_rows)
    again = ts.TwoSampleResult.from_json(result.to_json())
    assert again.levels == result.levels
    assert [row.words for row in again.by_column] == [row.words for row in result.by_column]
    for one in (result, again):
        one.plot()
        page = tmp_path / "page.html"
        one.report(page)
        assert "blue" in page.read_text()
    json.loads(result.to_json())


def test_bars_have_names_and_intervals():
    result = ts.test(X.select("colour"), Y.select("colour"))
    axes = ts.plots.samples(result)
    assert [text.get_text() for text in axes.get_xticklabels()] == list(result.levels[0])
    shares = [[(frame["colour"] == name).mean() for name in result.levels[0]] for frame in (X, Y)]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(np.ravel(shares))
    [low_x, *_] = axes.containers[2].lines[2][0].get_segments() if len(axes.containers) > 2 else [None]
    ends = share_intervals(result.picture.columns[0].counts, (60, 50))
    k = int(result.picture.columns[0].counts[0, 0])
    assert ends[:, 0, 0] == pytest.approx(stats.beta(k + 0.5, 60 - k + 0.5).ppf((0.05, 0.95)))
    assert low_x is None or low_x[:, 1] == pytest.approx(ends[:, 0, 0])
    curve = ts.plots.witness(result)
    assert [text.get_text() for text in curve.get_xticklabels()] == list(result.levels[0])


def test_names_of_levels_are_data(tmp_path):
    evil = "<script>alert(1)</script>\x1b[31m"
    x, y = (frame.select(pl.col("colour").replace("blue", evil)) for frame in (X, Y))
    result = ts.test(x, y)
    assert "\x1b" not in result.summary() and "\x1b" not in result.by_column[0].words
    result.report(tmp_path / "page.html")
    assert "<script>alert(1)" not in (tmp_path / "page.html").read_text()
    result.plot()


def test_other_kernels_take_categories():
    class Wide(kernels.RBF):
        name = "wide"

        def value(self, distances, lengthscale, out=None):
            return super().value(distances, 2.0 * lengthscale, out)

    assert math.isfinite(ts.test(X, Y, kernel=Wide()).log_bf10)


def test_each_column_of_blocks(monkeypatch):
    x, y = table(31, 300), table(32, 200, 0.4)
    expected = ts.test_each(x, y)
    blocks = [ts.blocks([frame[:90], frame[90:]]) for frame in (x, y)]
    whole = ts.test_each(*blocks)
    assert whole.column == expected.column and whole.direction == expected.direction
    assert whole.log_bf10 == pytest.approx(expected.log_bf10, abs=1e-9)
    monkeypatch.setattr("twosample.data.pilot.PILOT_ROWS", 128)
    monkeypatch.setattr("twosample.places.streaming.MOST_KNOTS", 64)
    few = {row.column: row for row in ts.test_each(*blocks)}
    for row in expected:
        if row.column.startswith("c"):  # categories need no ranks
            assert few[row.column].log_bf10 == pytest.approx(row.log_bf10, abs=1e-9)
            assert few[row.column].direction == row.direction


def test_text_in_one_table_only_is_left_out_of_it():
    extra = Y.with_columns(shop=pl.Series(["p", "q"] * 25))
    expected = ts.test(X, Y).log_bf10
    for x, y in ((X, extra), (X.lazy(), extra.lazy())):
        with pytest.warns(DroppedDataWarning, match=r"'shop' \(text in y only\)"):
            assert ts.test(x, y).log_bf10 == pytest.approx(expected, abs=1e-9)
    with pytest.raises(InputError, match="x has no column 'shop'"):
        ts.test(X, extra, columns=["shop", "n0"])


def test_plans_do_not_see_the_labels():
    """Whichever rows are in which sample, the plan is the same: so the level of permutations is exact."""
    pooled = pl.concat([X, Y])
    expected = ts.plan(X, Y)
    for seed in range(3):
        shuffled = pooled.sample(fraction=1.0, shuffle=True, seed=seed)
        assert ts.plan(shuffled[: len(X)], shuffled[len(X) :]).key == expected.key
