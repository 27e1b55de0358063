"""Plans: statistics of any parts of the data, merged in any order, give the answer of the whole."""

import dataclasses
import json
import os
import pickle
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample import models
from twosample.data import Ranks
from twosample.errors import AccuracyWarning, DroppedDataWarning, InputError, InputTypeError
from twosample.features import statistics
from twosample.features.subsets import Part
from twosample.kernels import Kernel

# Derandomized: the same examples in every run, as with a fixed seed.
some = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
# Sums in another order differ by rounding, 1e-16, times the condition of the covariances, 1e5 or less.
ROUNDING = 1e-10


def draw(n_x=30, n_y=40, n_columns=1, shift=0.4, seed=0):
    rng = np.random.default_rng([seed, n_columns])
    return rng.normal(size=(n_x, n_columns)), rng.normal(shift, 1.2, size=(n_y, n_columns))


def same(first, second):
    """Two results that tell the same."""
    assert first.log_bf10 == pytest.approx(second.log_bf10, rel=ROUNDING, abs=ROUNDING)
    assert first.prob_h1 == pytest.approx(second.prob_h1, abs=ROUNDING)
    assert (first.n_x, first.n_y, first.columns, first.paired) == (
        second.n_x,
        second.n_y,
        second.columns,
        second.paired,
    )
    assert first.model == second.model and first.prior_odds == second.prior_odds
    np.testing.assert_array_equal(first.points, second.points)
    np.testing.assert_allclose(first.lengthscale.mass_h1, second.lengthscale.mass_h1, rtol=1e-8, atol=1e-12)
    at = first.points[::5]
    np.testing.assert_allclose(first.witness(at).mean, second.witness(at).mean, rtol=1e-7, atol=1e-10)
    assert (first.by_subset is None) == (second.by_subset is None)
    if first.by_subset is not None:
        one, other = first.by_subset, second.by_subset
        assert (one.direction, one.subsets) == (other.direction, other.subsets)
        for name in ("log_bf10", "auc", "spread", "prior", "subset_log_bf10", "probabilities", "posterior"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name)
    assert (first.effect is None) == (second.effect is None)
    for name in ("mmd", "auc") if first.effect is not None else ():
        one, other = getattr(first.effect, name), getattr(second.effect, name)
        np.testing.assert_allclose([one.mean, *one.interval()], [other.mean, *other.interval()], atol=1e-9)
    assert first.shown.rows == second.shown.rows and first.shown_x is second.shown_x is None
    for one, other in zip(first.shown.columns, second.shown.columns, strict=True):
        assert one.column == other.column and one.limits == other.limits
        for name in ("values", "counts", "quantiles", "outside"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def cut(rows, places):
    return np.split(rows, sorted(places))


def in_any_order(draw_from, parts):
    """Merge two that are drawn at random until one is left: any order, any tree."""
    parts = list(parts)
    while len(parts) > 1:
        first = parts.pop(draw_from(st.integers(0, len(parts) - 1)))
        second = parts.pop(draw_from(st.integers(0, len(parts) - 1)))
        parts.append(first.merge(second))
    return parts[0]


def through_a_file(part):
    with tempfile.TemporaryDirectory() as folder:
        part.save(Path(folder, "part.npz"))
        return ts.FeatureStatistics.load(Path(folder, "part.npz"))


# ---- parts and the whole


@some
@given(st.data())
def test_any_parts_merged_in_any_order_give_the_answer_of_the_whole(data):
    n_x, n_y = (data.draw(st.integers(8, 40)) for _ in "xy")
    x, y = draw(n_x, n_y, data.draw(st.integers(1, 3)), seed=data.draw(st.integers(0, 99)))
    odds = data.draw(st.sampled_from([1.0, 0.03, 7.5]))
    places = st.integers(1, 6).flatmap(
        lambda n: st.tuples(*(st.lists(st.integers(0, size), min_size=n, max_size=n) for size in (n_x, n_y)))
    )
    plan = ts.plan(x, y)
    parts = [plan.statistics(*part) for part in zip(*map(cut, (x, y), data.draw(places)), strict=True)]
    parts = [through_a_file(part) if data.draw(st.booleans()) else part for part in parts]
    merged = in_any_order(data.draw, parts)
    assert (merged.n_x, merged.n_y) == (n_x, n_y)
    same(plan.test(merged, prior_odds=odds), ts.test(x, y, prior_odds=odds))


@some
@given(st.data())
def test_any_parts_of_pairs(data):
    n = data.draw(st.integers(8, 40))
    x, y = draw(n, n, data.draw(st.integers(1, 3)), seed=data.draw(st.integers(0, 99)))
    places = data.draw(st.lists(st.integers(0, n), max_size=5))
    plan = ts.plan(x, y, paired=True)
    parts = [plan.statistics(*part) for part in zip(cut(x, places), cut(y, places), strict=True)]
    parts = [through_a_file(part) if data.draw(st.booleans()) else part for part in parts]
    same(plan.test(in_any_order(data.draw, parts)), ts.test(x, y, paired=True))


@pytest.mark.parametrize("k", [0, 1, 2, 30])
@pytest.mark.parametrize("m", [0, 1, 39, 40])
def test_two_parts_one_of_them_empty_or_tiny(k, m):
    x, y = draw()
    plan = ts.plan(x, y)
    merged = plan.statistics(x[:k], y[:m]).merge(plan.statistics(x[k:], y[m:]))
    same(plan.test(merged), ts.test(x, y))


def test_one_sample_at_a_time():
    x, y = draw()
    plan = ts.plan(x, y)
    for of_x, of_y, nothing in (
        (plan.statistics(x), plan.statistics(y=y), plan.statistics()),
        (plan.statistics(x, []), plan.statistics(None, y), plan.statistics([], np.empty((0, 1)))),
    ):
        assert (of_x.n_x, of_x.n_y, of_y.n_x, of_y.n_y) == (30, 0, 0, 40)
        same(plan.test(nothing.merge(of_y, nothing, of_x)), ts.test(x, y))


def test_single_rows_and_lists():
    x, y = draw(9, 11)
    plan = ts.plan(x, y)
    rows = [plan.statistics([value], None) for value in x.ravel().tolist()]
    rows += [plan.statistics(y=pd.Series([value])) for value in y.ravel()]
    same(plan.test(rows[0].merge(*rows[1:])), ts.test(x, y))


@pytest.mark.parametrize("options", [{"paired": True}, {"lengthscale": 0.7}, {"lengthscale": "median"}, {"points": 7}])
@pytest.mark.parametrize("model", ["adaptive", "own"])
def test_options(options, model):
    x, y = draw(40, 40, 2)
    if model == "own":
        model = dataclasses.replace(
            models.PRESETS["adaptive"], name="own", lengthscale=models.LogUniform(0.3, 3.0), amplitude=None
        )
    plan = ts.plan(x, y, model=model, **options)
    merged = plan.statistics(x[:13], y[:13]).merge(plan.statistics(x[13:], y[13:]))
    same(plan.test(merged), ts.test(x, y, model=model, **options))


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("model", ["paper", "published"])
def test_models_of_the_paper_at_a_given_lengthscale(model, paired):
    x, y = draw(40, 40, 2)
    plan = ts.plan(x, y, model=model, lengthscale=0.9, paired=paired)
    merged = plan.statistics(x[:13], y[:13]).merge(plan.statistics(x[13:], y[13:]))
    same(plan.test(merged), ts.test(x, y, model=model, lengthscale=0.9, paired=paired))


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda rows: pl.DataFrame(rows).lazy()], ids=["pandas", "polars lazy"])
def test_frames_go_by_the_names_of_their_columns(frame):
    x, y = draw(30, 40, 3)
    names = ["größe", "b", "c"]

    def as_frame(rows, order=names, **more):
        return frame(
            {name: rows[:, names.index(name)] for name in order} | {k: v[: len(rows)] for k, v in more.items()}
        )

    plan = ts.plan(as_frame(x), as_frame(y))
    parts = [
        plan.statistics(as_frame(x[:9], ["c", "größe", "b"]), as_frame(y[:9])),
        plan.statistics(as_frame(x[9:], extra=np.ones(40)), as_frame(y[9:30], ["b", "c", "größe"])),
        plan.statistics(None, y[30:]),  # an array goes by the places of its columns
    ]
    same(plan.test(parts[2].merge(*parts[:2])), ts.test(as_frame(x), as_frame(y)))


def test_columns_that_the_plan_left_out_may_be_there_or_not():
    x, y = draw(30, 40, 2)
    wide = [np.insert(rows, 1, 3.0, axis=1) for rows in (x, y)]
    with pytest.warns(DroppedDataWarning, match="1 of 3 columns"):
        plan = ts.plan(*wide)
    # Elsewhere the column that held one value may hold others: it is not a column of the plan.
    other = np.insert(x[:10], 1, np.arange(10.0), axis=1)
    merged = plan.statistics(other, wide[1]).merge(plan.statistics(x[10:], None))
    found = plan.test(merged)
    assert found.log_bf10 == pytest.approx(ts.test(x, y).log_bf10, abs=ROUNDING)
    assert found.columns == ("0", "2")
    assert [note for note in found.diagnostics.notes if "1 of 3 columns" in note] == list(plan.notes)


def test_more_data_are_more_evidence():
    """The statistics of every day add up; the plan is of the first day."""
    days = [draw(60, 60, shift=0.5, seed=seed) for seed in range(4)]
    plan = ts.plan(*days[0])
    running, found = None, []
    for day in days:
        part = plan.statistics(*day)
        running = part if running is None else running.merge(part)
        found.append(plan.test(running).log_bf10)
    assert found[-1] > found[0] + 5


# ---- a plan of a pilot


def test_a_plan_from_a_pilot_works_on_other_data():
    x, y = draw(200, 150, 2, shift=0.6)
    pilot = np.random.default_rng(5).permutation(np.concatenate(draw(100, 100, 2, shift=0.6, seed=9)))
    plan = ts.plan(pilot, subsets=None)
    found = plan.test(plan.statistics(x[:90], y).merge(plan.statistics(x[90:])))
    assert (found.n_x, found.n_y) == (200, 150)
    assert found.log_bf10 == pytest.approx(ts.test(x, y, subsets=None).log_bf10, rel=0.2)
    # With all that was fixed beforehand given, it is the plain test.
    expected = ts.test(x, y, points=found.points, scale=plan.scale, lengthscale=float(plan.lengthscales[20]))
    given = dataclasses.replace(plan, lengthscales=plan.lengthscales[[20]], fixed=True)
    assert given.test(given.statistics(x, y)).log_bf10 == pytest.approx(expected.log_bf10, abs=1e-8)


def test_a_mixture_from_a_pilot_works_on_other_data():
    x, y = draw(200, 150, 3, shift=0.6)
    plan = ts.plan(np.random.default_rng(5).permutation(np.concatenate(draw(100, 100, 3, shift=0.6, seed=9))))
    found = plan.test(plan.statistics(x[:90], y).merge(plan.statistics(x[90:])))
    expected = ts.test(x, y)
    # Points and ranks of another sample of the same law: another test, of nearly the same power.
    assert found.log_bf10 == pytest.approx(expected.log_bf10, rel=0.2)
    np.testing.assert_allclose(found.by_subset.auc, expected.by_subset.auc, atol=0.03)


def test_a_plan_depends_on_the_pilot_as_one_set_of_rows():
    x, y = draw(40, 60, 2)
    pooled = np.concatenate([x, y])
    plan = ts.plan(pooled)
    for other in (ts.plan(x, y), ts.plan(y, x), ts.plan(pooled[np.random.default_rng(0).permutation(100)])):
        assert other.key == plan.key
        np.testing.assert_array_equal(other.points, plan.points)


@pytest.mark.parametrize("pilot", [np.tile([0.0, 1.0], 10), np.repeat([0.0, 1.0], 10), [0.0, 0.0, 0.0, 1.0]])
def test_a_pilot_of_two_values_in_any_order(pilot):
    plan = ts.plan(pilot)
    assert "differ" in plan.test(plan.statistics(np.zeros(50), np.tile([0.0, 1.0], 25))).verdict


def test_a_pilot_with_missing_values():
    pilot = np.arange(20.0)
    pilot[3] = np.nan
    with pytest.raises(InputError, match=r"^the pilot has 1 missing or infinite value \(first: row 3,"):
        ts.plan(pilot)
    with pytest.warns(DroppedDataWarning, match=r"^Dropped 1 of 20 rows of the pilot"):
        plan = ts.plan(pilot, nan_policy="omit")
    assert plan.key == dataclasses.replace(ts.plan(np.delete(pilot, 3)), nan_policy="omit").key


@pytest.mark.parametrize(
    ("pilot", "options", "match"),
    [
        ([1.0, 2.0, 3.0], {}, r"^x has 3 rows; a pilot needs at least 4"),
        ([1.0, np.nan, 3.0, np.inf, 4.0], {"nan_policy": "omit"}, r"^x has 3 rows; a pilot needs at least 4"),
        ([1.0, 1e308, 2.0, -1e308], {}, r"^column '0' of x holds values beyond"),
        ([1.0, 2.0, 3.0, 4.0], {"nan_policy": "drop"}, r"^nan_policy"),
        ([1.0, 2.0, 3.0, 4.0], {"tolerance": 0.0}, r"^tolerance"),
        ([1.0, 2.0, 3.0, 4.0], {"lengthscale": [1.0, 2.0]}, r"^lengthscale: test takes one number"),
    ],
)
def test_refused_pilots(pilot, options, match):
    with pytest.raises(InputError, match=match):
        ts.plan(pilot, **options)


# ---- JSON


def equal(one, other):
    """Equal to the last bit, with records in records."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, (Ranks, Part)):
        for field in dataclasses.fields(one):
            equal(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple):
        for first, second in zip(one, other, strict=True):
            equal(first, second)
    else:
        assert one == other


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"paired": True},
        {"lengthscale": 0.8},
        {"model": "paper"},
        {"model": "published", "lengthscale": "median"},
        {"points": 5, "scale": "raw", "nan_policy": "omit", "tolerance": 1e-5},
        {"model": dataclasses.replace(models.PRESETS["adaptive"], amplitude=None, name="größe")},
    ],
    ids=lambda options: ", ".join(options) or "default",
)
def test_json_round_trip(tmp_path, options):
    x, y = (pd.DataFrame(rows, columns=["a", "<b>\n"]) for rows in draw(30, 30, 2))
    plan = ts.plan(x, y, **options)
    path = tmp_path / "plan.json"
    text = plan.to_json(path)
    for source in (text, path):
        back = ts.Plan.from_json(source)
        assert back.key == plan.key
        assert back.to_json() == text
        for field in dataclasses.fields(plan):
            equal(getattr(plan, field.name), getattr(back, field.name))
        if plan.lengthscales is not None:
            merged = plan.statistics(x[:9], y[:9]).merge(back.statistics(x[9:], y[9:]))
            assert back.test(merged).log_bf10 == plan.test(merged).log_bf10


def test_plans_of_kernels_of_ones_own():
    class Cauchy(Kernel):
        name = "cauchy of test_plan"

        def value(self, distances, lengthscale, out=None):
            return 1.0 / (1.0 + distances / lengthscale**2)

    x, y = draw()
    plan = ts.plan(x, y, kernel=Cauchy())
    back = ts.Plan.from_json(plan.to_json())
    assert back.key == plan.key != ts.plan(x, y).key
    assert back.test(back.statistics(x, y)).log_bf10 == ts.test(x, y, kernel=Cauchy()).log_bf10
    content = plan.to_dict()
    content["kernel"]["name"] = "nobody knows"
    with pytest.raises(InputError, match=r"kernel: 'nobody knows' is unknown here"):
        ts.Plan.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "{}", "[]", "3", '{"columns": ["a"]}'])
def test_text_that_is_no_plan(text):
    with pytest.raises(InputError, match=r"^source"):
        ts.Plan.from_json(text)


def test_a_result_is_no_plan():
    with pytest.raises(InputError, match=r"^source"):
        ts.Plan.from_json(ts.test(*draw()).to_json())


# ---- frozen, with a key


def test_a_plan_is_frozen():
    points = np.linspace(-1.0, 1.0, 5)[:, None]
    plan = ts.plan(*draw(), points=points, scale=np.array([2.0]))
    assert points.flags.writeable  # what the caller passed is the caller's
    for field in dataclasses.fields(plan):
        value = getattr(plan, field.name)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(plan, field.name, value)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0


CHANGES = {
    "subsets": {"subsets": None},
    "other subsets": {"subsets": [("0",)]},
    "ranks": {"model": dataclasses.replace(models.PRESETS["adaptive"], ranks=0.25)},
    "points": {"points": 11},
    "lengthscale": {"lengthscale": 1.0},
    "paired": {"paired": True},
    "model": {"model": dataclasses.replace(models.PRESETS["adaptive"], components=0.25)},
    "scale": {"scale": "raw"},
    "a finer grid": {"tolerance": 1e-6},
    "nan_policy": {"nan_policy": "omit"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_statistics_of_another_plan_are_refused(change):
    x, y = draw(30, 30, 2)
    plan, other = ts.plan(x, y), ts.plan(x, y, **CHANGES[change])
    ours, theirs = plan.statistics(x, y), other.statistics(x, y)
    assert plan.key != other.key
    with pytest.raises(InputError, match=r"^merge: the statistics belong to different plans; collect all .* one plan"):
        ours.merge(theirs)
    with pytest.raises(InputError, match=r"^statistics: they belong to another plan; collect them with this one"):
        plan.test(theirs)
    with pytest.raises(InputError, match=r"^statistics: they belong to another plan"):
        other.test(ours)


def test_a_plan_of_other_data_is_another_plan():
    x, y = draw()
    moved = x.copy()
    moved[0] += 1e-9
    assert ts.plan(moved, y, points=99).key != ts.plan(x, y, points=99).key  # every row is a point
    renamed = [pd.DataFrame(rows, columns=["a"]) for rows in (x, y)]
    assert ts.plan(*renamed).key != ts.plan(x, y).key


def test_statistics_that_lack_parts_are_refused(tmp_path):
    x, y = draw(30, 40, 3)
    plan = ts.plan(x, y)
    whole = plan.statistics(x, y)
    assert len(whole.parts) == 3
    for kept in (0, 1, 2):
        lacking = dataclasses.replace(whole, parts=whole.parts[:kept])
        with pytest.raises(InputError, match=r"^statistics: they lack those of some columns; collect them with this"):
            plan.test(lacking)
        for one, other in ((whole, lacking), (lacking, whole)):
            with pytest.raises(InputError, match=r"^merge: one of the statistics has parts that the other has not"):
                one.merge(other)
    for name in ("columns_x", "columns_y"):
        with pytest.raises(InputError, match=rf"^merge: one of the statistics has {name} and the other has not"):
            whole.merge(dataclasses.replace(whole, **{name: None}))


def test_the_tolerance_alone_does_not_make_another_plan():
    """It is about the answer, not about the statistics, as long as the lengthscales are the same."""
    x, y = draw()
    strict = ts.plan(x, y, tolerance=5e-4)
    assert strict.test(ts.plan(x, y).statistics(x, y)).log_bf10 == ts.test(x, y).log_bf10


@pytest.mark.parametrize("other", [3, None, "part.npz", np.zeros(3)])
def test_what_are_no_statistics(other):
    plan = ts.plan(*draw())
    with pytest.raises(InputTypeError, match=r"^statistics: expected FeatureStatistics"):
        plan.test(other)
    with pytest.raises(InputTypeError, match=r"^others: expected FeatureStatistics"):
        plan.statistics().merge(other)


# ---- refusals


@pytest.mark.parametrize(("n_x", "n_y"), [(0, 0), (1, 30), (30, 1), (0, 30), (1, 1)])
def test_too_few_rows_in_all(n_x, n_y):
    x, y = draw()
    plan = ts.plan(x, y)
    with pytest.raises(
        InputError, match=rf"^statistics: they hold {n_x} rows of x and {n_y} of y; merge those of more"
    ):
        plan.test(plan.statistics(x[:n_x], y[:n_y]))


def test_one_pair_is_too_few():
    x, y = draw(9, 9)
    plan = ts.plan(x, y, paired=True)
    with pytest.raises(InputError, match=r"^statistics: they hold 1 rows of x and 1 of y"):
        plan.test(plan.statistics(x[:1], y[:1]))


@pytest.mark.parametrize(
    ("part", "match"),
    [
        (
            pd.DataFrame({"a": [1.0], "c": [2.0]}),
            r"^x has no column 'b'; it has 'a', 'c'; the plan needs all of its columns",
        ),
        (pd.DataFrame({"c": [2.0]}), r"^x has no column 'a'; it has 'c'; the plan needs"),
        ([[1.0], [2.0]], r"^x has 1 columns; the plan is for 2"),
        (np.ones((2, 3)), r"^x has 3 columns; the plan is for 2"),
        ([1.0, 2.0], r"^x has 1 columns; the plan is for 2"),
        (np.array(1.0), r"^x has 0 dimensions"),
        (5.0, r"^x has 0 dimensions"),
        (np.ones((1, 2, 2)), r"^x has 3 dimensions"),
        ("a text", r"^x is a str"),
        ([["a", "b"]], "of x holds text"),
        ([[1.0, np.nan]], r"^x has 1 missing or infinite value"),
    ],
)
def test_refused_parts(part, match):
    plan = ts.plan(*(pd.DataFrame(rows, columns=["a", "b"]) for rows in draw(30, 30, 2)))
    with pytest.raises((InputError, InputTypeError), match=match):
        plan.statistics(part)
    with pytest.raises((InputError, InputTypeError), match=match.replace("^x", "^y").replace("of x", "of y")):
        plan.statistics(None, part)


@pytest.mark.parametrize(("n_x", "n_y"), [(3, 2), (0, 1), (30, 0)])
def test_unequal_pairs(n_x, n_y):
    x, y = draw(30, 30)
    plan = ts.plan(x, y, paired=True)
    with pytest.raises(InputError, match=rf"^x has {n_x} rows and y has {n_y}; paired=True needs one row of y"):
        plan.statistics(x[:n_x], y[:n_y])


@pytest.mark.parametrize("model", ["paper", "published"])
def test_models_that_look_for_their_lengthscales(model):
    x, y = draw(30, 30)
    plan = ts.plan(x, y, model=model)
    assert plan.lengthscales is None
    assert "several passes" in plan.summary()
    with pytest.raises(InputError, match=rf"^model: '{model}' .* several passes .*; use test, or give the lengthscale"):
        plan.statistics(x, y)
    with pytest.raises(InputError, match="no grid of lengthscales"):
        plan.refined()


@pytest.mark.parametrize("odds", [0, -1.0, np.nan, True, "1"])
def test_bad_prior_odds(odds):
    x, y = draw()
    plan = ts.plan(x, y)
    with pytest.raises(InputError, match=r"^prior_odds"):
        plan.test(plan.statistics(x, y), prior_odds=odds)


# ---- rows that are left out


@pytest.mark.parametrize("paired", [False, True])
def test_missing_values_in_parts_are_dropped_and_noted(paired):
    x, y = draw(30, 30)
    plan = ts.plan(x, y, paired=paired, nan_policy="omit")
    holes = x.copy(), y.copy()
    holes[0][4], holes[1][20], holes[1][21] = np.nan, np.inf, np.nan
    words = "1 of 10 pairs" if paired else "1 of 10 rows of x and 0 of 10 rows of y"
    with pytest.warns(DroppedDataWarning, match=f"^Dropped {words} with"):
        first = plan.statistics(holes[0][:10], holes[1][:10])
    with pytest.warns(DroppedDataWarning, match="^Dropped "):
        second = plan.statistics(holes[0][10:], holes[1][10:])
    assert [note[:12] for note in second.notes] == ["Dropped 2 of" if paired else "Dropped 0 of"]
    result = plan.test(through_a_file(first).merge(second))
    assert result.diagnostics.notes == (*first.notes, *second.notes)
    assert all(note in result.summary() for note in result.diagnostics.notes)
    if paired:
        kept = np.delete(x, [4, 20, 21], axis=0), np.delete(y, [4, 20, 21], axis=0)
    else:
        kept = np.delete(x, 4, axis=0), np.delete(y, [20, 21], axis=0)
    assert (result.n_x, result.n_y) == tuple(map(len, kept))
    assert result.log_bf10 == pytest.approx(plan.test(plan.statistics(*kept)).log_bf10, abs=ROUNDING)


def test_a_part_may_be_missing_altogether():
    x, y = draw()
    plan = ts.plan(x, y, nan_policy="omit")
    with pytest.warns(DroppedDataWarning, match="2 of 2 rows of x"):
        empty = plan.statistics([np.nan, np.inf])
    assert empty.n_x == 0
    same(plan.test(empty.merge(plan.statistics(x, y))), ts.test(x, y))


# ---- accuracy

# One pass of the usual lengthscales leaves an estimated error of 7e-5, and one of twice as many of 2e-6.
ROUGH = np.random.default_rng(0).normal(size=(2, 200))
STRICT = 1e-5


def test_a_refined_plan_has_twice_as_many_lengthscales_and_converges_where_the_first_did_not():
    x, y = ROUGH
    plan = ts.plan(x, y, tolerance=STRICT)
    refined = plan.refined()
    assert len(refined.lengthscales) == 2 * len(plan.lengthscales) - 1
    np.testing.assert_allclose(refined.lengthscales[::2], plan.lengthscales, rtol=1e-14)
    assert refined.level == plan.level + 1
    assert refined.key != plan.key
    with pytest.warns(AccuracyWarning, match=r"collect statistics with plan\.refined\(\)"):
        rough = plan.test(plan.statistics(x, y))
    assert not rough.diagnostics.converged
    fine = refined.test(refined.statistics(x[:50], y[:50]).merge(refined.statistics(x[50:], y[50:])))
    assert fine.diagnostics.converged
    assert fine.diagnostics.quadrature_error <= STRICT < rough.diagnostics.quadrature_error
    assert abs(fine.log_bf10 - rough.log_bf10) <= rough.diagnostics.quadrature_error
    # What `test` does by itself.
    assert ts.test(x, y, tolerance=STRICT).log_bf10 == pytest.approx(fine.log_bf10, abs=ROUNDING)


def test_the_first_pass_is_finer_for_smaller_tolerances():
    x, y = draw()
    lengths = [len(ts.plan(x, y, tolerance=tolerance).lengthscales) for tolerance in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)]
    assert lengths[0] == lengths[1] == lengths[2] < lengths[3] == lengths[4]


def test_lengthscales_of_the_plan_cover_the_prior():
    x, y = draw()
    plan = ts.plan(x, y)
    low, high = plan.bounds
    assert (low, high) == pytest.approx((plan.typical / 16, plan.typical * 8))
    assert plan.lengthscales[0] <= low * (1 + 1e-12) < plan.lengthscales[1]
    assert plan.lengthscales[-1] == pytest.approx(high)


def test_plans_without_a_grid_are_not_refined():
    with pytest.raises(InputError, match="no grid of lengthscales"):
        ts.plan(*draw(), lengthscale=1.0).refined()


def test_the_accuracy_warning_points_at_the_caller():
    x, y = ROUGH
    plan = ts.plan(x, y, tolerance=STRICT)
    part = plan.statistics(x, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        plan.test(part)
    assert [(warning.category, warning.filename, warning.lineno) for warning in caught] == [
        (AccuracyWarning, __file__, line)
    ]


# ---- files


@pytest.fixture
def part():
    return ts.plan(*draw(), points=3, lengthscale=1.0).statistics(*draw())


class Bomb:
    """Makes a folder where it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("kind", ["pickle", "npy", "npz", "words", "mean"])
def test_nothing_is_unpickled(tmp_path, part, kind):
    bomb, path = Bomb(tmp_path / "exploded"), tmp_path / "part.npz"
    array = np.empty(1, dtype=object)
    array[0] = bomb
    if kind == "pickle":
        path.write_bytes(pickle.dumps(bomb))
    elif kind == "npy":
        with path.open("wb") as file:
            np.save(file, array)
    elif kind == "npz":
        np.savez(path, array)
    else:
        part.save(path)
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored if name != "checksum"}
        np.savez(path, **{**arrays, "words" if kind == "words" else "x.mean": array})
    with pytest.raises(InputError, match=r"^path: .* does not hold statistics of twosample"):
        ts.FeatureStatistics.load(path)
    assert not bomb.folder.exists()


def test_damaged_files_are_refused_or_tell_the_same(tmp_path, part):
    path = tmp_path / "part.npz"
    part.save(path)
    content = path.read_bytes()
    refused = 0
    rng = np.random.default_rng(0)
    places = rng.integers(0, len(content), 300)
    # The flag of an encrypted member is in none of those.
    header = content.index(b"PK\x01\x02") + 8
    for place in (*places, header):
        damaged = bytearray(content)
        damaged[place] ^= 1 + int(rng.integers(255)) if place != header else 1
        path.write_bytes(bytes(damaged))
        try:
            found = ts.FeatureStatistics.load(path)
        except InputError as error:
            assert "part.npz' does not hold statistics of twosample" in str(error)
            refused += 1
        else:  # the date of a member of the archive, say
            np.testing.assert_array_equal(found.x.scatter, part.x.scatter)
            assert found.plan == part.plan
    assert refused > 150


def test_arrays_that_do_not_belong_together(tmp_path, part):
    path = tmp_path / "part.npz"
    part.save(path)
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored if name != "checksum"}
    words = json.loads(str(arrays["words"]))

    def refuse(match, **changes):
        np.savez(path, **{name: value for name, value in {**arrays, **changes}.items() if value is not None})
        with pytest.raises(InputError, match=rf"^path: .* does not hold statistics of twosample \(.*{match}"):
            ts.FeatureStatistics.load(path)

    refuse("lacks 'words'", words=None)
    refuse("lacks 'x.mean'", **{"x.mean": None})
    refuse("lacks 'lengthscales'", lengthscales=None)
    refuse("lacks 'sketch_x.rows'", **{"sketch_x.rows": None})
    refuse("a sample is missing", **{"x.count": None})
    refuse("a sample is missing", **{"x.count": None, "y.count": None})
    refuse("other shapes than the lengthscales", lengthscales=np.ones(2))
    refuse("y has means of the shape", **{"y.mean": arrays["y.mean"][:, :2]})
    refuse("x has means of the shape", **{"x.scatter": arrays["x.scatter"][0]})
    refuse("log_volume has the shape", log_volume=np.zeros(7))
    refuse("x.mean holds <U1, not numbers", **{"x.mean": np.array([["a", "b", "c"]])})
    refuse("a newer version of twosample", words=np.array(json.dumps({**words, "schema": 2})))
    refuse("lacks 'plan'", words=np.array(json.dumps({"schema": 1, "notes": []})))
    refuse("", words=np.array("not json"))
    refuse("", words=np.array("[1]"))


def test_arrays_of_a_mixture_that_do_not_belong_together(tmp_path):
    x, y = draw(9, 8, 3)
    path = tmp_path / "part.npz"
    ts.plan(x, y, points=4).statistics(x, y).save(path)
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored if name != "checksum"}
    for name, value in {
        "parts.1.x.count": np.array(8),
        "parts.2.lengthscales": np.ones(3),
        "parts.0.y.mean": arrays["parts.0.y.mean"][:, :2],
        "columns_x.mean": arrays["columns_x.mean"][:, :2],
        "columns_y.count": None,
    }.items():
        changed = {key: array for key, array in {**arrays, name: value}.items() if array is not None}
        np.savez(path, **changed)
        with pytest.raises(InputError, match=r"^path: .* does not hold statistics .*(parts|columns_)"):
            ts.FeatureStatistics.load(path)


def test_another_kind_of_file(tmp_path):
    text = tmp_path / "plan.json"
    ts.plan(*draw()).to_json(text)
    for path in (text, tmp_path):
        with pytest.raises(InputError, match=r"^path: .* does not hold statistics of twosample"):
            ts.FeatureStatistics.load(path)
    with pytest.raises(FileNotFoundError):
        ts.FeatureStatistics.load(tmp_path / "none.npz")


def test_the_file_has_the_name_that_was_given(tmp_path, part):
    part.save(str(tmp_path / "no suffix"))
    assert [path.name for path in tmp_path.iterdir()] == ["no suffix"]
    assert ts.FeatureStatistics.load(str(tmp_path / "no suffix")).n_x == part.n_x


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_save_leaves_no_partial_file(tmp_path, part, monkeypatch, error):
    def interrupted(file, **arrays):
        file.write(b"PK\x03\x04 the first few bytes")
        raise error

    part.save(tmp_path / "old.npz")
    before = (tmp_path / "old.npz").read_bytes()
    monkeypatch.setattr(statistics.np, "savez", interrupted)
    for name in ("old.npz", "new.npz"):
        with pytest.raises(error):
            part.merge(part).save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old.npz"]
    assert (tmp_path / "old.npz").read_bytes() == before


# ---- how it prints


def test_summary_and_repr():
    x, y = draw(30, 30, 2)
    plan = ts.plan(x, y)
    assert str(plan) == plan.summary()
    assert "43 in one pass" in plan.summary() and "2 columns" in plan.summary()
    assert "1, given" in ts.plan(x, y, lengthscale=1.0).summary()
    assert "of pairs" in ts.plan(x, y, paired=True).summary()
    assert repr(plan) == f"Plan(2 columns, 40 points, model 'adaptive', key '{plan.key}')"


def test_frames_go_by_place_where_the_plan_has_no_names():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, 60, 3))
    plan = ts.plan(x, y)
    frames = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (x, y))
    assert plan.test(plan.statistics(*frames)).log_bf10 == plan.test(plan.statistics(x, y)).log_bf10


def test_plans_and_statistics_print_in_short():
    plan = ts.plan([1.0, 2.0, 4.0, 7.0])
    assert str(plan).startswith("Plan of a test of 1 column.\n")
    collected = plan.statistics([1.0, 3.0], [2.0])
    assert repr(collected) == f"FeatureStatistics(2 and 1 rows, 43 lengthscales, plan '{plan.key}')"
