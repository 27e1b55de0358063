"""References: the same answer as from the rows, calibrated without the labels' blindness, and files that are whole."""

import datetime as dt
import io
import json
import zipfile

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError, InputTypeError

NAMES = ["u", "v", "w"]


def frame(n, seed, shift=0.0):
    rows = np.random.default_rng(seed).normal(size=(n, 3))
    rows[:, 1] += shift
    return pl.DataFrame(rows, schema=NAMES)


@pytest.fixture(scope="module")
def kept():
    return ts.Reference.of(frame(200, 1), name="yesterday")


@pytest.fixture
def path(kept, tmp_path):
    kept.save(tmp_path / "kept.npz")
    return tmp_path / "kept.npz"


def test_the_answer_is_that_of_its_plan_with_all_rows(kept):
    x, y = frame(200, 1), frame(120, 2, 0.5)
    from_rows = kept.plan.test(kept.plan.statistics(x, y))
    result = kept.test(y)
    assert result.log_bf10 == pytest.approx(from_rows.log_bf10, abs=1e-9)
    assert [row.column for row in result.by_column] == [row.column for row in from_rows.by_column]
    assert result.diagnostics.notes[0].startswith("x is a reference") and not from_rows.diagnostics.notes
    assert (result.n_x, result.n_y, result.names) == (200, 120, ("yesterday", "y"))


def test_the_answer_is_near_that_of_the_test():
    for seed, shift in ((3, 0.0), (4, 0.4), (5, 0.8)):
        x, y = frame(200, seed), frame(200, seed + 50, shift)
        both = ts.Reference.of(x).test(y).log_bf10, ts.test(x, y).log_bf10
        assert abs(both[0] - both[1]) < 1.0 + 0.15 * abs(both[1])


def test_nothing_depends_on_the_order_of_the_rows():
    x, y = frame(90, 1), frame(80, 2)
    shuffled = x.sample(fraction=1.0, shuffle=True, seed=1)
    assert ts.Reference.of(shuffled).test(y).log_bf10 == pytest.approx(ts.Reference.of(x).test(y).log_bf10, abs=1e-9)


def test_points_that_are_rows_of_the_reference_do_not_tell_it_from_many_rows():
    """Nor has a plan from the rows themselves a mean BF10 above 1 here, where the tails are heavy."""
    rng = np.random.default_rng(0)
    values, alone = [], []
    for _ in range(8):
        x, y = rng.standard_cauchy(size=(40, 5)), rng.standard_cauchy(size=(800, 5))
        values.append(ts.Reference.of(x).test(y).log_bf10)
        plan = ts.plan(x)
        alone.append(plan.test(plan.statistics(x, y)).log_bf10)
    assert np.mean(np.exp(values)) < 0.8 and np.mean(np.exp(alone)) < 0.8


def test_samples_that_are_spread_more_are_seen_between_clusters():
    """A plan from the rows alone has no point where they would be, and finds one in ten of these."""
    rng = np.random.default_rng(0)
    centres = np.array([(10, 10), (10, 30), (30, 10), (30, 30)], dtype=float)[np.arange(100) % 4]
    found, alone = [], []
    for _ in range(6):
        x, y = rng.normal(size=(2, 100, 2))
        x, y = centres + x, centres + y * np.sqrt([1.0, 6.0])
        found.append(ts.Reference.of(x).test(y).log_bf10)
        plan = ts.plan(x)
        alone.append(plan.test(plan.statistics(x, y)).log_bf10)
    assert np.median(found) > np.median(alone) + 2.0


@pytest.mark.parametrize("law", ["normal", "standard_cauchy", "poisson"])
def test_nothing_is_found_where_there_is_nothing(law):
    """By Markov's inequality, and far below: a mean of BF10 of at most 1 is what it promises."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(30):
        x, y = (getattr(rng, law)(size=(n, 1)) * 1.0 for n in (60, 150))
        values.append(ts.Reference.of(x).test(y).log_bf10)
    assert np.mean(np.exp(values)) < 1.0 and max(values) < np.log(20)


def test_a_file_says_the_same(kept, path):
    y = frame(90, 7, 0.6)
    again = ts.Reference.load(path)
    assert again == kept and again.summary() == kept.summary()
    assert again.test(y).log_bf10 == kept.test(y).log_bf10
    # It is a file of statistics too.
    assert ts.FeatureStatistics.load(path).n_x == 200


def test_a_file_has_no_pickle_and_no_rows_but_those_it_says(kept, path):
    with np.load(path, allow_pickle=False) as arrays:
        content = dict(arrays)
    assert not any(array.dtype.hasobject for array in content.values())
    rows = {tuple(row) for row in frame(200, 1).rows()}
    assert f"{len(content['sketch_x.rows'])} rows for pictures" in kept.summary()
    with_rows = [name for name, array in content.items() if array.ndim == 2 and rows & {tuple(row) for row in array}]
    assert with_rows == ["sketch_x.rows"]
    # Nor single values, as none is repeated here.
    plan = json.loads(str(content["reference"]))["plan"]
    values = {value for row in rows for value in row}
    kept_values = np.array(plan["points"]) * np.array(plan["scale"]) + np.array(plan["center"])
    for held in (kept_values, np.array(plan["ranks"]["knots"]), json.loads(str(content["reference"]))["values"]):
        assert not values & set(np.ravel(held).tolist())
        assert np.abs(np.subtract.outer(np.ravel(held), sorted(values))).min() > 1e-9


def test_many_rows_are_few_in_the_file(tmp_path):
    kept = ts.Reference.of(np.random.default_rng(0).normal(size=(20_000, 1)))
    assert "2000 rows for pictures" in kept.summary()
    kept.save(tmp_path / "o.npz")
    assert (tmp_path / "o.npz").stat().st_size < 1_500_000


def without(path, name):
    """The file without one of its arrays."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.namelist():
            if entry != f"{name}.npy":
                new.writestr(entry, old.read(entry))
    return out.getvalue()


def test_other_files_are_refused(kept, path, tmp_path):
    other = tmp_path / "other.npz"
    whole = path.read_bytes()
    statistics = tmp_path / "statistics.npz"
    kept.statistics.save(statistics)
    contents = [b"", b"no", whole[:-500], statistics.read_bytes(), without(path, "x.mean"), without(path, "words")]
    for content in contents:
        other.write_bytes(content)
        with pytest.raises(InputError, match="does not hold a reference of twosample") as error:
            ts.Reference.load(other)
        assert error.value.argument == "path"
    with pytest.raises(FileNotFoundError):
        ts.Reference.load(tmp_path / "none.npz")


def test_a_plan_of_another_reference_is_refused(kept, tmp_path):
    from dataclasses import replace

    mixed = replace(kept, about=ts.Reference.of(frame(50, 9)).about)
    mixed.save(tmp_path / "o.npz")
    with pytest.raises(InputError, match="belong to another plan"):
        ts.Reference.load(tmp_path / "o.npz")


def test_columns_are_matched_by_name(kept):
    y = frame(80, 3, 0.7)
    expected = kept.test(y).log_bf10
    assert kept.test(y.select("w", "u", "v")).log_bf10 == expected
    assert kept.test(y.to_pandas()).log_bf10 == expected
    assert kept.test(y.to_numpy()).log_bf10 == expected
    with pytest.warns(DroppedDataWarning, match="Left out columns of y that the reference does not have: 'new', 't'"):
        result = kept.test(y.with_columns(new=pl.lit(1.0), t=pl.lit("a")))
    assert result.log_bf10 == expected
    assert any("'new', 't'" in note for note in result.diagnostics.notes)
    with pytest.raises(InputError, match="y lacks columns of the reference: 'u', 'w'"):
        kept.test(y.select("v"))
    with pytest.raises(InputError, match="y has 2 columns; the reference was made from 3: 'u', 'v', 'w'"):
        kept.test(np.zeros((5, 2)))


def test_columns_that_the_reference_left_out_are_no_news():
    names = pl.Series([f"row {number}" for number in range(60)])
    x = frame(60, 1).with_columns(t=names, id=pl.lit(1.5))
    with pytest.warns(DroppedDataWarning, match="'t'"):
        kept = ts.Reference.of(x, drop=["id"])
    result = kept.test(frame(50, 2).with_columns(t=pl.lit("b"), id=pl.lit(2.5)))
    assert {one.column for one in result.left_out} == {"t", "id"}


def test_constant_columns_may_not_change():
    x = frame(60, 1).with_columns(k=pl.lit(3.0))
    with pytest.warns(DroppedDataWarning, match="one value throughout: 'k'"):
        kept = ts.Reference.of(x)
    y = frame(50, 2).with_columns(k=pl.lit(3.0))
    assert kept.test(y).columns == tuple(NAMES)
    changed = y.with_columns(k=pl.Series([3.0] * 48 + [7.0, 4.0]))
    with pytest.raises(InputError, match=r"'k' holds 3 throughout .* in 2 rows of y \(first: 7\).*drop=\['k'\]"):
        kept.test(changed)
    with pytest.raises(InputError, match="y lacks columns of the reference: 'k'"):
        kept.test(y.drop("k"))


def test_columns_of_text_are_compared():
    def places(n, seed, south):
        found = np.random.default_rng(seed).choice(["north", "south", "west"], n, p=[0.8 - south, south, 0.2])
        return frame(n, seed).with_columns(place=pl.Series(found), country=pl.lit("no"))

    with pytest.warns(DroppedDataWarning, match="one value throughout: 'country'"):
        kept = ts.Reference.of(places(150, 1, 0.2))
    assert kept.columns == (*NAMES, "place")
    assert kept.test(places(80, 2, 0.2)).prob_h1 < 0.5
    found = kept.test(places(80, 2, 0.6))
    assert found.prob_h1 > 0.99 and found.by_column[0].column == "place"
    assert found.by_column[0].words.startswith("more 'south' in y")
    strange = places(80, 2, 0.6).with_columns(place=pl.lit("east"))
    assert kept.test(strange).prob_h1 > 0.99
    with pytest.raises(InputError, match="'country' holds 'no' throughout the reference and other values in 80 rows"):
        kept.test(places(80, 2, 0.2).with_columns(country=pl.lit("se")))


def test_text_goes_through_the_file(tmp_path):
    x, y = (frame(60, seed).with_columns(t=pl.Series(["a", "b", letter] * 20)) for seed, letter in ((1, "a"), (2, "b")))
    kept = ts.Reference.of(x)
    kept.save(tmp_path / "text.npz")
    assert ts.Reference.load(tmp_path / "text.npz").test(y) == kept.test(y)


def words(n, seed, p=(0.25, 0.25, 0.25, 0.25)):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), 20, p=p)) for _ in range(n)]


def test_objects_are_compared_at_points_that_are_in_neither_sample(tmp_path):
    reference = words(200, 1)
    kept = ts.Reference.of(reference, kernel="kmer", points=12, name="clean")
    assert kept.n == 150 and "50 of 200 objects of the reference were set aside" in str(kept)
    assert ts.Reference.of(reference[::-1], kernel="kmer", points=12).test(words(80, 2)).log_bf10 == pytest.approx(
        kept.test(words(80, 2)).log_bf10, abs=1e-9
    )
    assert kept.test(words(80, 2)).prob_h1 < 0.5
    found = kept.test(words(80, 3, (0.4, 0.1, 0.1, 0.4)), rope=0.6)
    assert found.prob_h1 > 0.99 and found.names == ("clean", "y") and found.prob_beyond_rope > 0.95
    with pytest.raises(InputError, match="kernel: 'kmer' is one of objects, which are not written to files"):
        kept.save(tmp_path / "objects.npz")
    nulls = [kept.test(words(20, seed)).bf10 for seed in range(100, 112)]
    assert np.mean(nulls) < 1.0 and max(nulls) < 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permutations": 9}, "permutations: there are no rows of the reference to permute; leave it out"),
        ({"by": "arm"}, "by: a reference is one sample; leave it out"),
        ({"kernel": ["rbf", "laplace"]}, "kernel: there is one plan, and so one kernel"),
    ],
)
def test_options_that_a_reference_does_not_have(options, message):
    with pytest.raises(InputError, match=message):
        ts.Reference.of(frame(60, 1), **options)


def test_dates_stay_dates():
    days = [dt.date(2026, 1, 1) + dt.timedelta(days=k) for k in range(40)]
    with pytest.warns(ts.errors.DatesWarning):
        kept = ts.Reference.of(pl.DataFrame({"day": days, "u": np.random.default_rng(0).normal(size=40)}))
    numbers = pl.DataFrame({"day": np.arange(20.0), "u": np.arange(20.0)})
    with pytest.raises(InputTypeError, match="'day' holds dates or times in the reference and numbers in y"):
        kept.test(numbers)
    assert kept.test(pl.DataFrame({"day": days[::2], "u": np.arange(20.0)})).n_y == 20


def test_missing_values():
    x = frame(60, 1).with_columns(u=pl.when(pl.int_range(60) < 3).then(None).otherwise(pl.col("u")))
    with pytest.raises(InputError, match="missing or infinite"):
        ts.Reference.of(x)
    with pytest.warns(DroppedDataWarning, match="Dropped 3 of 60 rows of the reference"):
        kept = ts.Reference.of(x, nan_policy="omit")
    assert kept.n == 57 and "Dropped 3 of 60" in kept.summary()
    assert kept.test(frame(50, 2)).log_bf10 == pytest.approx(ts.Reference.of(x[3:]).test(frame(50, 2)).log_bf10)
    with pytest.raises(InputError, match="y has 3 missing"):
        kept.test(x)
    with pytest.warns(DroppedDataWarning, match="3 of 60 rows of y"):
        assert kept.test(x, nan_policy="omit").n_y == 57


@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0], [5.0] * 20, [], "abc", None])
def test_what_is_no_reference(x):
    with pytest.raises((InputError, InputTypeError)):
        ts.Reference.of(x)


@pytest.mark.parametrize("y", [[1.0], np.full((5, 1), 1e308), [np.nan, 1.0], ["a", "b"]])
def test_what_is_no_sample(y):
    kept = ts.Reference.of(np.random.default_rng(0).normal(size=30))
    with pytest.raises((InputError, InputTypeError)):
        kept.test(y)


def test_options(kept):
    y = frame(80, 3, 0.5)
    even, odd = kept.test(y), kept.test(y, prior_odds=0.1, rope=0.55, keep_rows=True)
    assert odd.log_bf10 == even.log_bf10 and odd.prob_h1 < even.prob_h1
    assert odd.prob_beyond_rope == pytest.approx(odd.effect.auc.exceeding(0.55)) and odd.shown_x is not None
    with pytest.raises(InputError, match="rope"):
        kept.test(y, rope=2.0)
    with pytest.raises(InputError, match="several passes"):
        ts.Reference.of(frame(60, 1), model="paper")
    chosen = ts.Reference.of(frame(60, 1), columns=["w", "u"], points=10, subsets=None)
    assert chosen.columns == ("w", "u") and len(chosen.plan.points) == 10 and not chosen.plan.parts


def test_an_error_of_the_integration_is_said():
    rng = np.random.default_rng(1)
    kept = ts.Reference.of(rng.normal(size=300), tolerance=1e-12)
    with pytest.warns(ts.errors.AccuracyWarning, match="made with a smaller tolerance"):
        kept.test(rng.normal(0.4, 1, size=300))


def test_the_result_draws_reports_and_goes_through_json(kept, tmp_path):
    result = kept.test(frame(80, 3, 0.5))
    assert ts.TwoSampleResult.from_json(result.to_json()).log_bf10 == result.log_bf10
    result.report(tmp_path / "o.html")
    assert "yesterday" in (tmp_path / "o.html").read_text("utf-8")


def test_it_prints_short(kept):
    assert repr(kept) == "Reference('yesterday', 200 rows, 3 columns)"
    assert str(kept) == kept.summary() and "u, v, w" in str(kept)
