"""The public functions: every option, what they refuse and in which words, and what must work."""

import contextlib
import dataclasses
import math
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import twosample as ts
from twosample import models
from twosample.errors import (
    AccuracyWarning,
    ConvergenceWarning,
    DependentRowsWarning,
    DroppedDataWarning,
    DuplicateRowsWarning,
    InputError,
    InputTypeError,
)

MODELS = ("adaptive", "paper", "published")
PAIR_MODELS = ("paper", "published")
REFUSALS = (InputError, InputTypeError)


def draw(n_x, n_y=None, n_columns=1, shift=0.0, seed=0):
    rng = np.random.default_rng([seed, n_x, n_columns])
    return rng.normal(size=(n_x, n_columns)), shift + rng.normal(size=(n_y or n_x, n_columns))


def assert_finite(value, where="result"):
    """Every number in what `to_dict` returned, however deep."""
    if isinstance(value, dict):
        for key, item in value.items():
            assert_finite(item, f"{where}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            assert_finite(item, f"{where}[{index}]")
    elif isinstance(value, float):
        assert math.isfinite(value), where


def finite_test(x, y, **options):
    """The result, after a look at all its numbers and at its witness."""
    result = ts.test(x, y, **options)
    assert_finite(result.to_dict())
    found = result.witness(result.points)
    assert np.isfinite(found.mean).all() and np.isfinite(found.sd).all()
    return result


# ---- models, pairs and random pairs


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_every_model_paired_and_not(model, paired, n_columns):
    x, y = draw(30, n_columns=n_columns, shift=0.3)
    result = finite_test(x, y, model=model, paired=paired)
    assert result.model == models.PRESETS[model]
    assert result.paired is paired
    assert result.diagnostics.pairs == (0 if model == "adaptive" else 30)
    assert (result.n_x, result.n_y, result.columns) == (30, 30, tuple("01"[:n_columns]))
    assert 0 < result.prob_h1 < 1


@pytest.mark.parametrize("model", MODELS)
def test_pairing_matters_for_correlated_rows(model):
    """y is x plus a small shift: invisible between samples of this size, plain in the differences."""
    x, noise = draw(60, shift=0.0)
    y = x + 0.25 + 0.05 * noise
    together, apart = ts.test(x, y, model=model, paired=True), ts.test(x, y, model=model)
    if model == "published":  # its Bayes factor uses Method 1 whether or not the rows are pairs
        assert together.log_bf10 == apart.log_bf10
    else:
        assert together.log_bf10 > apart.log_bf10 + 2


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("n_x", "n_y"), [(20, 35), (35, 20)])
def test_unequal_sizes(model, n_x, n_y):
    x, y = draw(n_x, n_y, n_columns=2)
    result = finite_test(x, y, model=model)
    assert (result.n_x, result.n_y) == (n_x, n_y)
    assert result.diagnostics.pairs == (0 if model == "adaptive" else 20)


@pytest.mark.parametrize("model", PAIR_MODELS)
def test_random_pairs_follow_the_seed(model):
    x, y = draw(20, 35)
    answers = {seed: ts.test(x, y, model=model, rng=seed).log_bf10 for seed in range(4)}
    assert ts.test(x, y, model=model).log_bf10 == answers[0]
    assert ts.test(x, y, model=model, rng=3).log_bf10 == answers[3]
    assert len(set(answers.values())) > 1
    for same in (np.int64(3), np.random.SeedSequence(3), np.random.default_rng(3)):
        assert ts.test(x, y, model=model, rng=same).log_bf10 == answers[3]


@pytest.mark.parametrize("model", PAIR_MODELS)
def test_equal_sizes_need_no_randomness(model):
    x, y = draw(20)
    assert ts.test(x, y, model=model, rng=1).log_bf10 == ts.test(x, y, model=model, rng=2).log_bf10


@pytest.mark.parametrize("bad", [True, "0", 1.5])
def test_bad_rng_type(bad):
    with pytest.raises(InputTypeError, match=r"^rng"):
        ts.test(*draw(20, 35), model="paper", rng=bad)


def test_negative_seed():
    with pytest.raises(InputError, match=r"^rng"):
        ts.test(*draw(20, 35), model="paper", rng=-1)


@pytest.mark.parametrize("model", MODELS)
def test_the_global_random_state_is_neither_read_nor_changed(model):
    x, y = draw(20, 35)
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(1)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        first = ts.test(x, y, model=model).log_bf10
        assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
        np.random.seed(2)  # noqa: NPY002
        assert ts.test(x, y, model=model).log_bf10 == first
    finally:
        np.random.set_state(state)  # noqa: NPY002


@pytest.mark.parametrize("model", MODELS)
def test_the_data_are_not_changed(model):
    x, y = draw(20, 35, n_columns=2)
    copies = x.copy(), y.copy()
    ts.test(x, y, model=model)
    assert_array_equal(x, copies[0])
    assert_array_equal(y, copies[1])


# ---- lengthscale


def test_lengthscale_is_inferred_or_fixed():
    x, y = draw(40, shift=0.5)
    inferred, fixed, median = (ts.test(x, y, lengthscale=value) for value in (None, 0.8, "median"))
    assert not inferred.lengthscale.fixed and len(inferred.lengthscale.grid) > 20
    assert fixed.lengthscale.fixed and fixed.lengthscale.grid == pytest.approx([0.8], rel=1e-14)
    assert median.lengthscale.grid == pytest.approx([inferred.lengthscale.median_heuristic], rel=1e-14)
    assert inferred.lengthscale.median_heuristic == fixed.lengthscale.median_heuristic
    assert fixed.lengthscale.interval(0.9) == pytest.approx((0.8, 0.8))
    assert len({inferred.log_bf10, fixed.log_bf10, median.log_bf10}) == 3
    assert fixed.diagnostics.quadrature_error == 0.0


@pytest.mark.parametrize("model", MODELS)
def test_median_lengthscale_is_that_number(model):
    x, y = draw(40)
    median = ts.test(x, y, model=model, lengthscale="median")
    number = ts.test(x, y, model=model, lengthscale=median.lengthscale.median_heuristic)
    assert number.log_bf10 == pytest.approx(median.log_bf10, abs=1e-10)


@pytest.mark.parametrize("value", [1, np.float32(1.0), np.array(1.0), [1.0]])
def test_kinds_of_one_number(value):
    x, y = draw(20)
    assert ts.test(x, y, lengthscale=value).log_bf10 == ts.test(x, y, lengthscale=1.0).log_bf10


@pytest.mark.parametrize("factor", [10.0, 1e-3])
def test_lengthscale_is_in_the_units_of_one_column(factor):
    # 20 rows are their own evaluation points, so that nothing but rounding depends on the factor.
    x, y = draw(10)
    scaled = ts.test(factor * x, factor * y, lengthscale=0.7 * factor)
    assert scaled.log_bf10 == pytest.approx(ts.test(x, y, lengthscale=0.7).log_bf10, abs=1e-9)
    assert scaled.lengthscale.grid[0] == pytest.approx(0.7 * factor)


def test_lengthscale_is_relative_to_the_scale_of_several_columns():
    x, y = draw(10, n_columns=2)
    scaled = ts.test(10 * x, 10 * y, lengthscale=0.7)
    assert scaled.log_bf10 == pytest.approx(ts.test(x, y, lengthscale=0.7).log_bf10, abs=1e-9)
    raw = ts.test(10 * x, 10 * y, lengthscale=7, scale="raw")
    assert raw.log_bf10 == pytest.approx(ts.test(x, y, lengthscale=0.7, scale="raw").log_bf10, abs=1e-9)


@pytest.mark.parametrize("bad", [0, 0.0, -1, np.nan, np.inf, "mean", "", [1, 2], [], True, 1j, b"1", [[1], [2, 3]]])
def test_bad_lengthscale(bad):
    with pytest.raises(REFUSALS, match=r"^lengthscale"):
        ts.test(*draw(10), lengthscale=bad)


# ---- points


def test_points_as_a_count():
    x, y = draw(60, n_columns=2)
    assert len(ts.test(x, y).points) == 40
    for count in (1, np.int32(7), 30):
        result = finite_test(x, y, points=count)
        assert result.points.shape == (count, 2)
    assert len(ts.test(x, y, points=10**6).points) == 120


def test_chosen_points_are_rows_of_the_data():
    x, y = draw(60, n_columns=2)
    pooled = np.concatenate([x, y])
    for point in ts.test(x, y).points:
        assert np.abs(pooled - point).max(axis=1).min() < 1e-12


@pytest.mark.parametrize("model", MODELS)
def test_points_as_an_array_are_in_the_units_of_the_data(model):
    x, y = draw(30, n_columns=2)
    x, y = 5 + x * [1, 100], 5 + y * [1, 100]
    chosen = ts.test(x, y, model=model)
    given = ts.test(x, y, model=model, points=chosen.points)
    assert given.log_bf10 == pytest.approx(chosen.log_bf10, abs=1e-6)
    np.testing.assert_allclose(given.points, chosen.points, rtol=1e-12)
    assert ts.test(x, y, model=model, points=chosen.points.tolist()).log_bf10 == given.log_bf10
    moved = ts.test(x, y, model=model, points=chosen.points + np.array([1, 100]))
    assert abs(moved.log_bf10 - chosen.log_bf10) > 1e-3


def test_points_of_one_column_may_be_flat_and_repeated():
    x, y = draw(30)
    flat = ts.test(x, y, points=[-1.0, 0.0, 1.0])
    assert flat.points.shape == (3, 1)
    assert ts.test(x, y, points=np.array([[-1.0], [0.0], [1.0]])).log_bf10 == flat.log_bf10
    finite_test(x, y, points=[-1.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    "bad", [0, -3, True, 2.5, "many", [], [[0.0]], [[0.0, 1.0, 2.0]], [[0.0, np.nan]], [[np.inf, 0.0]], [["a", "b"]]]
)
def test_bad_points(bad):
    with pytest.raises(REFUSALS, match="points"):
        ts.test(*draw(10, n_columns=2), points=bad)


def test_points_have_the_columns_of_the_data_also_where_one_is_dropped():
    x, y = draw(10, n_columns=2)
    with_constant = [np.insert(rows, 1, 3.0, axis=1) for rows in (x, y, x[:6])]
    with pytest.warns(DroppedDataWarning):
        result = ts.test(*with_constant[:2], points=with_constant[2])
    assert result.log_bf10 == ts.test(x, y, points=x[:6]).log_bf10


def test_points_of_a_frame_go_by_the_names_of_its_columns():
    x, y = (pd.DataFrame(rows * [1, 100], columns=["a", "b"]) for rows in draw(10, n_columns=2))
    assert ts.test(x, y, points=x[["b", "a"]]).log_bf10 == ts.test(x, y, points=x).log_bf10


# ---- prior odds


@pytest.mark.parametrize("model", ["adaptive", "paper"])
@pytest.mark.parametrize("odds", [1e-6, 0.2, 1, 4.0, np.float32(1e6)])
def test_prior_odds_shift_the_probability_alone(model, odds):
    x, y = draw(30, shift=0.4)
    even, weighed = ts.test(x, y, model=model), ts.test(x, y, model=model, prior_odds=odds)
    assert weighed.log_bf10 == even.log_bf10
    assert weighed.prior_odds == odds
    assert weighed.prob_h1 / weighed.prob_h0 == pytest.approx(float(odds) * even.bf10, rel=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_prior_odds_and_the_probability_given_the_lengthscale(model):
    x, y = draw(30, shift=0.4)
    even, weighed = (ts.test(x, y, model=model, lengthscale=1.0, prior_odds=odds) for odds in (1.0, 5.0))
    assert even.lengthscale.prob_h1[0] == pytest.approx(even.prob_h1)
    assert weighed.lengthscale.prob_h1[0] == pytest.approx(weighed.prob_h1)
    assert weighed.prob_h1 / weighed.prob_h0 == pytest.approx(5 * even.prob_h1 / even.prob_h0)


def test_published_probability_is_what_its_sampler_visits_at_these_odds():
    """It is no joint model, so its Bayes factor depends on the odds; the probability still grows with them."""
    x, y = draw(30, shift=0.4)
    found = [ts.test(x, y, model="published", prior_odds=odds) for odds in (0.1, 1.0, 10.0)]
    assert found[0].prob_h1 < found[1].prob_h1 < found[2].prob_h1
    for result in found:
        log_odds = result.log_bf10 + math.log(result.prior_odds)
        assert result.prob_h1 == pytest.approx(1 / (1 + math.exp(-log_odds)))


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, True, "1", None, [1.0], 1j, pytest.param(10**400, id="huge")])
def test_bad_prior_odds(bad):
    with pytest.raises(REFUSALS, match=r"^prior_odds"):
        ts.test(*draw(10), prior_odds=bad)


# ---- subsets and rope


def named(n=40, names="abc", seed=0):
    return (pd.DataFrame(rows, columns=list(names)) for rows in draw(n, n_columns=len(names), seed=seed))


def subsets_of(result):
    return {row.columns for row in result.subsets}


def test_subsets_by_name_and_by_number():
    x, y = named()
    by_name = ts.test(x, y, subsets=[("a",), ("c", "b")])
    assert subsets_of(by_name) == {("a",), ("b", "c")}
    for same in (
        [(0,), (1, 2)],
        ((np.int64(0),), np.array([2, 1])),
        iter([["a"], {"b", "c"}]),
        [("a",), ("b", "c"), ("c", "b", "c")],
        [(0,), ("b", 2)],
    ):
        assert ts.test(x, y, subsets=same).log_bf10 == by_name.log_bf10
    assert ts.test(x, y, subsets=[("b",), (0, 1)]).log_bf10 != by_name.log_bf10


def test_numbers_of_subsets_are_those_of_the_columns_of_the_data():
    x, y = draw(40, n_columns=2)
    wide = [np.insert(rows, 1, 3.0, axis=1) for rows in (x, y)]
    with pytest.warns(DroppedDataWarning):
        result = ts.test(*wide, subsets=[(2,), ("0",)])
    assert subsets_of(result) == {("0",), ("2",)}
    assert result.log_bf10 == ts.test(x, y, subsets=[(0,), (1,)]).log_bf10
    with pytest.raises(InputError, match="no column 1"), pytest.warns(DroppedDataWarning):
        ts.test(*wide, subsets=[(1,)])


@pytest.mark.parametrize("function", [ts.test, ts.plan])
@pytest.mark.parametrize(
    ("bad", "match"),
    [
        ("none", "'none' is unknown"),
        ("", "'' is unknown"),
        (3, "3 is unknown"),
        ([], "none is given"),
        ([()], "a subset is empty"),
        (["ab"], "'ab' is not a tuple"),
        (["a", "b"], "'a' is not a tuple"),
        ([0, 1], "0 is not a tuple"),
        ([None], "None is not a tuple"),
        ([("a", "z")], "no column 'z'"),
        ([("A",)], "no column 'A'"),
        ([(3,)], "no column 3"),
        ([(-1,)], "no column -1"),
        ([(True,)], "no column True"),
        ([(1.0,)], "no column 1.0"),
        ([(None,)], "no column None"),
        ([(("a",),)], r"no column \('a',\)"),
    ],
)
def test_bad_subsets(function, bad, match):
    with pytest.raises(REFUSALS, match=f"^subsets: .*{match}") as refused:
        function(*named(), subsets=bad)
    assert refused.value.argument == "subsets" and refused.value.remedy


def test_unknown_columns_of_subsets_are_told_from_those_there_are():
    with pytest.raises(InputError, match=r"the columns are 'a', 'b', 'c'$"):
        ts.test(*named(), subsets=[("z",)])
    with pytest.raises(InputError, match=r"the columns are 'a', .*, 'h', \.\.\.$"):
        ts.test(*named(names="abcdefghijk"), subsets=[("z",)])


def test_all_subsets_of_ten_columns_and_no_more():
    ten = ts.plan(*named(12, "abcdefghij"), subsets="all")
    assert sum(len(part.columns) for part in ten.parts) == 2**10 - 1
    with pytest.raises(InputError, match=r"^subsets: 'all' is for up to 10 columns, and here are 11"):
        ts.plan(*named(12, "abcdefghijk"), subsets="all")


OWN = dataclasses.replace(models.PRESETS["adaptive"], name="own", lengthscale=models.Gamma(2.0, 2.0))


@pytest.mark.parametrize("subsets", ["all", [("a",)], [(0, 1)], np.array([[0, 1]])])
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"model": "paper"}, "model 'paper' tests all columns together"),
        ({"model": "published"}, "model 'published' tests all columns together"),
        ({"model": OWN}, "model 'own' tests all columns together"),
        ({"lengthscale": 1.0}, "at a given lengthscale all columns are tested together"),
        ({"lengthscale": "median"}, "at a given lengthscale all columns are tested together"),
        ({"model": "paper", "lengthscale": 1.0}, "model 'paper' tests all columns together"),
    ],
)
def test_subsets_where_all_columns_are_tested_together(options, why, subsets):
    with pytest.raises(InputError, match=f"^subsets: {why}; use subsets='auto'$"):
        ts.test(*named(), subsets=subsets, **options)


@pytest.mark.parametrize("options", [{"model": "paper"}, {"model": OWN}, {"lengthscale": 1.0}, {"subsets": None}])
def test_where_all_columns_are_tested_together_there_are_no_columns_to_name(options):
    result = finite_test(*named(), **options)
    assert result.by_subset is None
    assert len(result.by_column) == len(result.subsets) == 0
    assert "column differs" not in result.summary()


def test_without_subsets_it_is_the_mean_over_lengthscales_of_one_test():
    """A uniform prior of log ℓ between 1/16 and 8 times the median heuristic, by Gauss and Legendre."""
    x, y = draw(40, n_columns=2, shift=0.5)
    result = ts.test(x, y, subsets=None, tolerance=1e-8)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    lengthscales = result.lengthscale.median_heuristic * 2.0 ** (-0.5 + 3.5 * nodes)
    expected = np.log(0.5 * weights @ np.exp(ts.log_bf10(x, y, lengthscales)))
    assert result.log_bf10 == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("bad", [0.4, 0.5, 1.0, 1.2, 0, -1, True, "0.6", [0.6], np.nan, np.inf, 1j])
def test_bad_rope(bad):
    with pytest.raises(InputError, match=r"^rope: must be a number between 0.5 and 1"):
        ts.test(*draw(10), rope=bad)


@pytest.mark.parametrize("model", PAIR_MODELS)
def test_a_rope_is_for_models_that_say_how_much_samples_differ(model):
    with pytest.raises(InputError, match=rf"^rope: model '{model}' .*use model='adaptive'$"):
        ts.test(*draw(10), model=model, rope=0.6)


def test_a_rope_is_on_the_result_and_changes_nothing_else():
    x, y = draw(40, shift=0.5)
    plain = ts.test(x, y)
    assert plain.rope is None and plain.prob_beyond_rope is None
    for rope in (0.55, np.float32(0.75)):
        result = ts.test(x, y, rope=rope)
        assert result.rope == rope and type(result.rope) is float
        assert result.prob_beyond_rope == plain.effect.auc.exceeding(float(rope))
        assert result.log_bf10 == plain.log_bf10


@pytest.mark.parametrize("function", [np.log, np.exp, lambda column: column**3])
def test_an_increasing_map_of_a_column_leaves_its_normal_scores(function):
    """Only the test of the columns as scaled sees the units."""
    x, y = (10.0 + rows for rows in draw(60, 50, n_columns=3, shift=0.4))
    mapped = [np.column_stack([rows[:, 0], function(rows[:, 1]), rows[:, 2]]) for rows in (x, y)]
    before, after = ts.test(x, y), ts.test(*mapped)
    assert [row.column for row in after.by_column] == [row.column for row in before.by_column]
    for old, new in zip(before.by_column, after.by_column, strict=True):
        assert new.log_bf10 == pytest.approx(old.log_bf10, abs=1e-9)
        assert new.prob == pytest.approx(old.prob, abs=1e-9)
    old, new = ({row.columns: row.log_bf10 for row in result.subsets} for result in (before, after))
    for columns in (("0", "1"), ("1", "2"), ("0", "2")):
        assert new[columns] == pytest.approx(old[columns], abs=1e-9)
    # Half of "all columns" is the test as scaled; what is left of it are the scores.
    as_scaled = [math.exp(ts.test(*samples, subsets=None).log_bf10) for samples in ((x, y), mapped)]
    both = [math.exp(logs["0", "1", "2"]) for logs in (old, new)]
    assert abs(as_scaled[0] - as_scaled[1]) > 1e-3
    assert 2 * both[1] - as_scaled[1] == pytest.approx(2 * both[0] - as_scaled[0], rel=1e-8)


# ---- scale, kernel, model, nan_policy


def test_scale_options():
    x, y = (rows * [1, 1000] for rows in draw(30, n_columns=2, shift=0.5))
    auto, robust, raw = (ts.test(x, y, scale=scale) for scale in ("auto", "robust", "raw"))
    assert auto.log_bf10 == robust.log_bf10
    assert abs(raw.log_bf10 - robust.log_bf10) > 1e-3
    assert_array_equal(raw.scale, [1, 1])
    pooled = np.concatenate([x, y])
    distances = np.abs(pooled[:, None] - pooled)[np.triu_indices(len(pooled), 1)]
    np.testing.assert_allclose(robust.scale, np.quantile(distances, 0.25, axis=0, method="inverted_cdf") / 0.4506)
    given = ts.test(x, y, scale=robust.scale)
    assert given.log_bf10 == robust.log_bf10
    assert_array_equal(ts.test(x, y, scale=[1, 1]).log_bf10, raw.log_bf10)
    assert_array_equal(ts.test(x, y, scale=(2, 3)).scale, [2, 3])


@pytest.mark.parametrize("model", PAIR_MODELS)
def test_auto_scale_is_what_the_model_says(model):
    x, y = (rows * 3 for rows in draw(30))
    auto, raw, robust = (ts.test(x, y, model=model, scale=scale) for scale in ("auto", "raw", "robust"))
    assert auto.log_bf10 == raw.log_bf10 != robust.log_bf10


@pytest.mark.parametrize("bad", ["median", [1.0], [1, 2, 3], [1, 0], [1, -1], [1, np.nan], ["a", "b"], None])
def test_bad_scale(bad):
    with pytest.raises(REFUSALS, match="scale"):
        ts.test(*draw(10, n_columns=2), scale=bad)


@pytest.mark.parametrize("bad", ["matern", "", None, 1])
def test_unknown_kernel(bad):
    with pytest.raises(REFUSALS, match=r"^kernel"):
        ts.test(*draw(10), kernel=bad)


@pytest.mark.parametrize(("bad", "error"), [("bayes", InputError), (None, InputTypeError), (ts.Model, InputTypeError)])
def test_unknown_model(bad, error):
    with pytest.raises(error, match=r"^model"):
        ts.test(*draw(10), model=bad)


def test_a_model_of_ones_own():
    x, y = draw(30, shift=0.3)
    preset = models.PRESETS["adaptive"]
    narrow = dataclasses.replace(preset, name="narrow", lengthscale=models.LogUniform(0.5, 2.0))
    result = finite_test(x, y, model=narrow)
    assert result.model is narrow
    assert "narrow" in result.summary()
    median = result.lengthscale.median_heuristic
    assert result.lengthscale.grid[0] >= 0.5 * median * (1 - 1e-12)
    assert result.lengthscale.grid[-1] <= 2 * median * (1 + 1e-12)
    assert result.log_bf10 != ts.test(x, y).log_bf10
    assert ts.test(x, y, model=dataclasses.replace(preset, name="copy")).log_bf10 == ts.test(x, y).log_bf10


def test_a_model_with_fixed_amplitude():
    fixed = dataclasses.replace(models.PRESETS["adaptive"], amplitude=None, amplitude_of_one=None)
    result = finite_test(*draw(30), model=fixed)
    assert result.amplitude.fixed
    assert_array_equal(result.amplitude.grid, [1.0])


@pytest.mark.parametrize("paired", [False, True])
def test_omitted_rows_are_noted(paired):
    x, y = draw(30)
    x[3], y[5], y[6] = np.nan, np.inf, np.nan
    with pytest.raises(InputError, match=r"^x has 1 missing"):
        ts.test(x, y, paired=paired)
    with pytest.warns(DroppedDataWarning, match="Dropped"):
        result = ts.test(x, y, paired=paired, nan_policy="omit")
    kept_x, kept_y = np.ones((2, 30), dtype=bool)
    kept_x[3] = kept_y[[5, 6]] = False
    if paired:
        kept_x = kept_y = kept_x & kept_y
    assert (result.n_x, result.n_y) == (kept_x.sum(), kept_y.sum())
    assert result.log_bf10 == ts.test(x[kept_x], y[kept_y], paired=paired).log_bf10
    (note,) = result.diagnostics.notes
    assert ("3 of 30 pairs" if paired else "1 of 30 rows of x and 2 of 30 rows of y") in note
    assert note in result.summary()


def test_bad_nan_policy():
    with pytest.raises(InputError, match=r"^nan_policy"):
        ts.test(*draw(10), nan_policy="drop")


def test_options_are_keywords():
    with pytest.raises(TypeError):
        ts.test(*draw(10), "paper")


# ---- progress


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"paired": True},
        {"tolerance": 1e-6},
        {"lengthscale": 1.0},
        {"model": "paper"},
        {"model": "published"},
        {"model": "paper", "lengthscale": 1.0},
        {"permutations": 30},
        {"permutations": 30, "paired": True},
        {"permutations": 30, "lengthscale": "median"},
        {"permutations": 30, "tolerance": 1e-6},
    ],
    ids=lambda options: ", ".join(options) or "default",
)
def test_progress_is_called_with_growing_shares(options):
    shares = []
    reported = ts.test(*draw(30), progress=shares.append, **options)
    assert len(shares) >= 2 and 0 < shares[0]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert reported.log_bf10 == ts.test(*draw(30), **options).log_bf10


@pytest.mark.parametrize("options", [{}, {"lengthscale": 1.0}, {"permutations": 30}])
def test_progress_of_unequal_samples(options):
    shares = []
    ts.test(*draw(20, 50), progress=shares.append, **options)
    assert shares == sorted(shares) and shares[-1] == 1.0


def test_progress_tells_how_the_work_is_shared():
    """Half of the rows are half of the work, where that is known beforehand."""
    shares = []
    ts.test(*draw(30), progress=shares.append, lengthscale=1.0)
    assert shares == [0.5, 1.0, 1.0]


def test_progress_without_a_terminal_prints_nothing(capsys):
    ts.test(*draw(30), progress=True)
    assert capsys.readouterr() == ("", "")


# ---- tolerance


def test_the_default_tolerance_is_a_thousandth():
    x, y = draw(200, shift=0.3)
    assert ts.test(x, y).log_bf10 == ts.test(x, y, tolerance=1e-3).log_bf10


@pytest.mark.parametrize("model", MODELS)
def test_smaller_tolerances_take_more_lengthscales_and_differ_by_less_than_the_larger(model):
    x, y = draw(50, shift=0.3)
    rough, fine = (ts.test(x, y, model=model, tolerance=tolerance) for tolerance in (1e-3, 1e-8))
    # Convergence is geometric: what is accurate enough for the one may be so for the other.
    assert fine.diagnostics.evaluations >= rough.diagnostics.evaluations + (model == "adaptive")
    assert fine.diagnostics.quadrature_error <= 1e-8 * max(1.0, abs(fine.log_bf10))
    assert fine.diagnostics.converged and rough.diagnostics.converged
    assert rough.log_bf10 == pytest.approx(fine.log_bf10, rel=1e-3, abs=1e-3)


def test_the_tolerance_is_relative_where_the_bayes_factor_is_large():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=1000), rng.normal(0.3, 1, 1000)
    result = ts.test(x, y, subsets=None)
    assert result.log_bf10 > 20
    assert result.diagnostics.converged
    assert 1e-3 < result.diagnostics.quadrature_error <= 1e-3 * result.log_bf10
    assert result.diagnostics.evaluations == len(ts.plan(x, y).lengthscales)


def test_the_error_of_one_test_of_a_mixture_counts_by_its_share():
    """d log(Σ w BF) = Σ (w BF/Σ w BF) d log BF, and only the test of all columns as scaled has an error."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=1000), rng.normal(0.3, 1, 1000)
    alone, mixed = ts.test(x, y, subsets=None), ts.test(x, y)
    # Half of the weight is the column as scaled, the other half its normal scores.
    share = 0.5 * math.exp(alone.log_bf10 - mixed.log_bf10)
    assert mixed.diagnostics.quadrature_error == pytest.approx(share * alone.diagnostics.quadrature_error)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("tolerance", [1e-15, 1e-300])
def test_a_tolerance_out_of_reach_is_said_to_be(model, tolerance):
    """Pieces that are halved until rounding goes away would take all memory."""
    with pytest.warns(AccuracyWarning, match="estimated error of"):
        result = ts.test(*draw(100), model=model, tolerance=tolerance)
    assert not result.diagnostics.converged
    assert len(result.lengthscale.grid) < 200_000
    assert result.log_bf10 == pytest.approx(ts.test(*draw(100), model=model).log_bf10, abs=1e-3, rel=1e-3)


@pytest.mark.parametrize("bad", [0, -1e-3, np.nan, np.inf, True, "fine", None, [1e-3]])
@pytest.mark.parametrize("function", [ts.test, ts.plan])
def test_bad_tolerance(function, bad):
    with pytest.raises(InputError, match=r"^tolerance"):
        function(*draw(10), tolerance=bad)


# ---- log_bf10


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("paired", [False, True])
def test_log_bf10_agrees_with_test(model, paired):
    x, y = draw(30, n_columns=2, shift=0.2)
    lengthscales = np.array([[0.3, 1.0, 3.0], [0.5, 2.0, 9.0]])
    found = ts.log_bf10(x, y, lengthscales, model=model, paired=paired)
    assert found.shape == (2, 3) and found.dtype == np.float64
    for index, lengthscale in np.ndenumerate(lengthscales):
        options = {"model": model, "paired": paired}
        # One lengthscale at a time differs from all at once by rounding.
        alone = ts.log_bf10(x, y, lengthscale, **options)
        assert type(alone) is float
        assert found[index] == pytest.approx(alone, abs=1e-8)
        assert ts.test(x, y, lengthscale=lengthscale, **options).log_bf10 == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1, 2)])
def test_log_bf10_has_the_shape_of_the_lengthscales(shape):
    assert ts.log_bf10(*draw(10), np.ones(shape)).shape == shape
    assert np.shape(ts.log_bf10(*draw(10), np.ones(shape).tolist())) == shape


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.array(1.0), "median"])
def test_log_bf10_of_one_lengthscale_is_a_float(value):
    assert type(ts.log_bf10(*draw(10), value)) is float


def test_log_bf10_passes_its_options_on():
    x, y = (rows * [1, 50] for rows in draw(30, n_columns=2, shift=0.3))
    points = x[:9]
    for options in ({"points": 5}, {"points": points}, {"scale": "raw"}, {"scale": [2, 3]}, {"model": "paper"}):
        found = ts.log_bf10(x, y, "median", **options)
        assert found == pytest.approx(ts.test(x, y, lengthscale="median", **options).log_bf10, abs=1e-12)
        assert abs(found - ts.log_bf10(x, y, "median")) > 1e-4
    x[0, 0] = np.nan
    with pytest.warns(DroppedDataWarning):
        assert ts.log_bf10(x, y, 1.0, nan_policy="omit") == ts.log_bf10(x[1:], y, 1.0)


def test_log_bf10_at_one_lengthscale_needs_no_pairs():
    """The Bayes factor of the pseudo-likelihood models needs neither pairs nor many points."""
    x, y = draw(20, 35, n_columns=3)
    for model in PAIR_MODELS:
        assert math.isfinite(ts.log_bf10(x, y, 1.0, model=model, points=2))


@pytest.mark.parametrize("bad", [0, -1, [1.0, 0.0], [1.0, np.nan], [], "mean", None, True, [True], ["1"]])
def test_bad_lengthscale_of_log_bf10(bad):
    with pytest.raises(REFUSALS, match=r"^lengthscale"):
        ts.log_bf10(*draw(10), bad)


# ---- refusals of the data are passed on

GOOD = [[0.1, 1.0], [0.5, 2.0], [0.9, 4.0], [0.3, 3.0]]


@pytest.mark.parametrize(
    ("x", "y", "match"),
    [
        ([], GOOD, "^x is empty"),
        (GOOD, np.empty((0, 2)), "^y is empty"),
        (GOOD[:1], GOOD, "^x has 1 row"),
        (GOOD, GOOD[:1], "^y has 1 row"),
        (GOOD, [[1.0], [2.0]], "^x has 2 columns and y has 1"),
        (pd.DataFrame(GOOD, columns=["a", "b"]), pd.DataFrame(GOOD, columns=["a", "c"]), "^x and y must have the same"),
        ([["a", "b"], ["c", "d"]], GOOD, "of x holds text"),
        (GOOD, np.array(GOOD) * 1j, "of y holds complex"),
        ([[0.0, np.nan], [1.0, 2.0]], GOOD, "^x has 1 missing or infinite value"),
        (GOOD, [[0.0, np.inf], [1.0, -np.inf]], "^y has 2 missing or infinite values"),
        (np.zeros((2, 2, 2)), GOOD, "^x has 3 dimensions"),
        (1.0, GOOD, "^x has 0 dimensions"),
        (GOOD, None, "^y: there is no second sample"),
        (np.full((5, 2), 1.0), np.full((5, 2), 2.0), "^x and y each hold one row repeated"),
        (np.full((5, 2), 1e308), GOOD, "of x holds values beyond"),
    ],
)
def test_bad_data(x, y, match):
    with pytest.raises(REFUSALS, match=match):
        ts.test(x, y)
    with pytest.raises(REFUSALS, match=match):
        ts.log_bf10(x, y, 1.0)


@pytest.mark.parametrize("model", MODELS)
def test_pairs_need_equal_sizes(model):
    with pytest.raises(InputError, match=r"^x has 4 rows and y has 3; paired"):
        ts.test(GOOD, GOOD[:3], paired=True, model=model)


# So few points or rows that the volumes are not smooth in the lengthscale, which the result says.
@pytest.mark.filterwarnings("ignore::twosample.errors.AccuracyWarning")
@pytest.mark.parametrize("model", PAIR_MODELS)
def test_too_few_points_for_the_pseudo_likelihood(model):
    x, y = draw(30, n_columns=3)
    for points in (5, x[:5]):
        with pytest.raises(InputError, match=f"^points: model '{model}'"):
            ts.test(x, y, model=model, points=points)
    finite_test(x, y, model=model, points=6)


@pytest.mark.parametrize("model", PAIR_MODELS)
def test_pseudo_likelihood_without_a_usable_pair(model):
    x, _ = draw(30)
    with pytest.raises(InputError, match=r"^x and y: fewer than 2 pairs"):
        ts.test(x, x, model=model)


# ---- what must work


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, np.float16])
def test_numbers_of_any_type_are_their_float64_values(model, kind):
    x, y = (np.round(20 * rows + 100).astype(kind) for rows in draw(30))
    y[0] = x[0]
    with contextlib.nullcontext() if model == "adaptive" else pytest.warns(DroppedDataWarning):
        result = finite_test(x, y, model=model)
        assert result.log_bf10 == ts.test(x.astype(float), y.astype(float), model=model).log_bf10


@pytest.mark.parametrize("model", MODELS)
def test_booleans(model):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 200)) < [[0.2], [0.7]]
    with contextlib.nullcontext() if model == "adaptive" else pytest.warns(DroppedDataWarning):
        result = finite_test(x, y, model=model)
    assert result.log_bf10 > 5


@pytest.mark.parametrize("n_columns", [1, 3])
def test_binary_columns_of_one_distribution(n_columns):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, size=(2, 300, n_columns))
    assert finite_test(x, y).log_bf10 < 0


@pytest.mark.parametrize("magnitude", [1e300, 1e-300])
def test_extreme_magnitudes(magnitude):
    x, y = draw(10, n_columns=2, shift=1.0)  # 20 rows are their own evaluation points
    result = finite_test(magnitude * x, magnitude * y)
    assert result.log_bf10 == pytest.approx(ts.test(x, y).log_bf10, abs=1e-9)


@pytest.mark.parametrize("magnitude", [1e-310, 1e-320, 1e307])
def test_magnitudes_at_the_ends_of_the_range(magnitude):
    x, y = draw(40, n_columns=2, shift=1.0)
    finite_test(magnitude * x, magnitude * y)


def test_extreme_magnitudes_side_by_side():
    x, y = draw(10, n_columns=2, shift=1.0)
    factors = [1e300, 1e-300]
    assert finite_test(x * factors, y * factors).log_bf10 == pytest.approx(ts.test(x, y).log_bf10, abs=1e-9)


@pytest.mark.parametrize("outlier", [1e9, 1e60, 1e200, -1e300])
def test_one_value_of_another_magnitude(outlier):
    x, y = draw(40)
    x[0] = outlier
    assert finite_test(x, y).log_bf10 < 1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_offset(model, offset):
    x, y = draw(10)
    # Numbers near 1e9 are multiples of 1e-7; the pseudo-likelihood multiplies that by tens of volumes.
    expected = ts.test(x, y, model=model).log_bf10
    assert finite_test(x + offset, y + offset, model=model).log_bf10 == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("decimals", [0, 1])
def test_ties(decimals):
    x, y = (np.round(rows, decimals) for rows in draw(200))
    assert finite_test(x, y).log_bf10 < 0
    x, y = (np.round(rows, decimals) for rows in draw(200, n_columns=3, shift=1.0))
    assert "very strong" in finite_test(x, y).verdict


# So few points or rows that the volumes are not smooth in the lengthscale, which the result says.
@pytest.mark.filterwarnings("ignore::twosample.errors.AccuracyWarning")
@pytest.mark.parametrize("model", MODELS)
def test_more_columns_than_rows(model):
    x, y = draw(5, n_columns=30)
    if model == "adaptive":
        finite_test(x, y)
        finite_test(x, y, paired=True)
    else:
        with pytest.raises(InputError, match=r"^points"):
            ts.test(x, y, model=model)
        finite_test(x, y, model=model, points=np.random.default_rng(1).normal(size=(60, 30)))


# So few points or rows that the volumes are not smooth in the lengthscale, which the result says.
@pytest.mark.filterwarnings("ignore::twosample.errors.AccuracyWarning")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (2, 3), (2, 500), (500, 2)])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_two_rows(model, n_x, n_y, n_columns):
    finite_test(*draw(n_x, n_y, n_columns), model=model)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_two_rows_say_little(n_columns, paired):
    result = finite_test(*draw(2, n_columns=n_columns, shift=50.0), paired=paired)
    assert abs(result.log_bf10) < 3


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_the_same_constant_is_not_different(n_columns, paired):
    x, y = np.full((20, n_columns), 7.0), np.full((20, n_columns), 7.0)
    result = finite_test(x, y, paired=paired)
    assert result.log_bf10 <= 0
    assert np.abs(result.witness([[7.0] * n_columns]).mean).max() == pytest.approx(0, abs=1e-12)


def test_one_sample_constant():
    rng = np.random.default_rng(0)
    result = finite_test(np.zeros(100), rng.normal(size=100))
    assert result.log_bf10 > 5
    (column,) = result.by_column
    assert column.words == "more spread in y"  # how many times more cannot be said


@pytest.mark.parametrize("model", MODELS)
def test_a_constant_column_is_dropped(model):
    x, y = draw(30, n_columns=2)
    wide = [np.insert(rows, 1, 3.0, axis=1) for rows in (x, y)]
    with pytest.warns(DroppedDataWarning, match="1 of 3 columns"):
        result = finite_test(*wide, model=model)
    assert result.log_bf10 == ts.test(x, y, model=model).log_bf10
    assert result.columns == ("0", "2")
    assert any("1 of 3 columns" in note for note in result.diagnostics.notes)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("model", PAIR_MODELS)
def test_pairs_of_equal_rows_are_left_out_of_the_volumes(model, paired):
    x, y = draw(30)
    y[:4] = x[:4]
    with pytest.warns(DroppedDataWarning, match=r"^4 of 30 pairs"):
        result = finite_test(x, y, model=model, paired=paired)
    assert [note[:13] for note in result.diagnostics.notes] == ["4 of 30 pairs"]
    assert result.diagnostics.pairs == 30


@pytest.mark.filterwarnings("ignore:x and y hold the same rows")
def test_the_same_sample_twice():
    x, _ = draw(100, n_columns=2)
    assert finite_test(x, x).log_bf10 < -1
    # Differences that are all zero have no noise but the floor, and so nothing to overcome it.
    assert finite_test(x, x, paired=True).log_bf10 < 0


def with_holes():
    x, y = draw(30)
    x[3] = np.nan
    return {"x": x, "y": y, "nan_policy": "omit"}


def with_a_constant_column():
    x, y = (np.insert(rows, 1, 3.0, axis=1) for rows in draw(30))
    return {"x": x, "y": y}


def with_copied_rows():
    x, y = draw(300)
    return {"x": np.concatenate([x, x[:100]]), "y": y}


def with_equal_pairs():
    x, y = draw(30)
    y[:4] = x[:4]
    return {"x": x, "y": y, "model": "paper"}


def too_rough():
    x, y = draw(30)
    return {"x": x, "y": y, "tolerance": 1e-15}


@pytest.mark.parametrize(
    ("function", "arguments", "category"),
    [
        (ts.test, with_holes, DroppedDataWarning),
        (ts.test, with_a_constant_column, DroppedDataWarning),
        (ts.test, with_copied_rows, DuplicateRowsWarning),
        (ts.test, with_equal_pairs, DroppedDataWarning),
        (ts.test, too_rough, AccuracyWarning),
        (ts.log_bf10, lambda: {**with_holes(), "lengthscale": 1.0}, DroppedDataWarning),
        (ts.plan, with_holes, DroppedDataWarning),
        (ts.plan, with_a_constant_column, DroppedDataWarning),
        (ts.plan, with_copied_rows, DuplicateRowsWarning),
        (ts.plan, lambda: {"x": with_holes()["x"], "nan_policy": "omit"}, DroppedDataWarning),
        (lambda **given: ts.plan(*draw(9), nan_policy="omit").statistics(**given), lambda: {"x": [np.nan]}, None),
    ],
)
def test_warnings_point_at_the_caller(function, arguments, category):
    given = arguments()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        function(**given)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
    if category is not None:
        assert category in {warning.category for warning in caught}
        assert {warning.lineno for warning in caught} == {line}


@pytest.mark.slow
def test_warnings_of_the_sampler_point_at_the_caller():
    x, y = draw(60, shift=0.5)
    y[:4], y[34:58] = x[:4], y[10:34]
    x, y = (np.insert(rows, 1, 3.0, axis=1) for rows in (x, y))
    x[5, 0] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        ts.gibbs(x, y, points=5, steps=24, burn_in=8, chains=2, model="paper", paired=True, nan_policy="omit")
    assert {(warning.filename, warning.lineno) for warning in caught} == {(__file__, line)}
    said = {
        (warning.category, part)
        for warning in caught
        for part in ("missing", "column", "equal rows", "")
        if part in str(warning.message)
    }
    assert {(DroppedDataWarning, part) for part in ("missing", "column", "equal rows")} <= said
    assert {(DuplicateRowsWarning, ""), (ConvergenceWarning, "")} <= said


# ---- the right answer in plain cases


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("paired", [False, True])
def test_clearly_different_samples(model, paired):
    # The pseudo-likelihood models as in the paper: one column in units of its standard deviation.
    result = ts.test(*draw(500, shift=2.0), model=model, paired=paired)
    # The best AUC is Φ(2/√2) = 0.92, which is very large; the models of the paper do not say how large.
    what = "of a very large difference" if model == "adaptive" else "that the samples differ"
    assert result.verdict == f"very strong evidence {what}"
    assert result.prob_h1 > 0.999
    below, above = result.witness([-0.5, 2.5]).mean
    assert below > 0 > above


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_columns", [1, 3])
def test_the_same_distribution(seed, n_columns):
    x, y = draw(500, n_columns=n_columns, seed=seed)
    assert ts.test(x, y, subsets=None).log_bf10 < -1
    # A test that looks at every column and every pair has more chances to see something in noise.
    result = ts.test(x, y)
    assert result.log_bf10 < (-1 if n_columns == 1 else -0.5)
    assert result.prob_h1 < (0.27 if n_columns == 1 else 0.38)


@pytest.mark.parametrize("model", PAIR_MODELS)
def test_the_same_distribution_for_the_pseudo_likelihood_models(model):
    assert ts.test(*draw(500), model=model).log_bf10 < -1


@pytest.mark.parametrize("n_columns", [1, 2])
def test_equal_means_and_variances_but_another_shape(n_columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, n_columns))
    y = np.where(rng.random((1000, n_columns)) < 0.5, -1, 1) * np.sqrt(0.9) + np.sqrt(0.1) * x[::-1]
    result = ts.test(x, y)
    assert result.log_bf10 > 100
    assert result.verdict.startswith("very strong evidence of a ")


# ---- rows that are not independent


def heard(call):
    """The result of a call and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return call(), [warning.message for warning in caught]


@pytest.mark.parametrize("k", [2, 5, 20, 40])
@pytest.mark.parametrize("options", [{}, {"model": "paper"}, {"lengthscale": "median"}, {"scale": "raw"}])
def test_the_answer_with_each_copy_kept_once_is_said(k, options):
    rng = np.random.default_rng(k)
    once, y = rng.normal(size=(20, 2)), rng.normal(size=(60, 2))
    result, said = heard(lambda: ts.test(np.repeat(once, k, axis=0), y, **options))
    [warning] = [warning for warning in said if isinstance(warning, DuplicateRowsWarning)]
    assert str(warning).startswith(f"{20 * (k - 1)} of {20 * k} rows of x repeat an earlier row")
    wanted, _ = heard(lambda: ts.test(once, y, **options))
    assert f"With each kept once log BF10 is {wanted.log_bf10:+.2f} and P(different)" in str(warning)
    assert "from 20 and 60 rows" in str(warning)
    assert str(warning) in result.diagnostics.notes
    assert str(warning) in result.summary()


def test_without_rows_that_are_in_both_nothing_may_be_left():
    x = np.random.default_rng(0).normal(size=50)
    result, [warning] = heard(lambda: ts.test(x, x))
    assert str(warning).startswith("x and y hold the same rows")
    assert "too few rows are left for an answer" in str(warning)
    assert result.log_bf10 < 0


def test_the_answer_without_rows_in_both_is_said():
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 1, 80), rng.normal(2, 1, 80)
    y[::2] = x[40:]
    _, [warning] = heard(lambda: ts.test(x, y))
    wanted = ts.test(x[:40], y[1::2])
    assert f"Without them log BF10 is {wanted.log_bf10:+.2f}" in str(warning)


@pytest.mark.parametrize("seed", range(5))
def test_bootstrapped_rows_and_series_are_warned_of_in_null_data(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 4))
    _, said = heard(lambda: ts.test(rows[rng.integers(0, 30, 300)], rng.normal(size=(300, 4))))
    assert [type(warning) for warning in said] == [DuplicateRowsWarning]
    series = np.zeros((500, 2))
    for row in range(1, 500):
        series[row] = 0.95 * series[row - 1] + rng.normal(size=2)
    result, said = heard(lambda: ts.test(series[:, 0], series[:, 1]))
    assert [type(warning) for warning in said] == [DependentRowsWarning] * 2
    assert all(str(warning) in result.diagnostics.notes for warning in said)
    shuffled = ts.test(rng.permutation(series[:, 0]), rng.permutation(series[:, 1]))
    assert result.log_bf10 == pytest.approx(shuffled.log_bf10, abs=1e-9)


@pytest.mark.parametrize("function", [ts.test_each, ts.plan, partial(ts.log_bf10, lengthscale=1.0)])
def test_all_functions_warn_of_rows_that_are_not_independent(function):
    rng = np.random.default_rng(1)
    y = np.cumsum(rng.normal(size=(100, 2)), axis=0)
    _, said = heard(lambda: function(np.repeat(rng.normal(size=(25, 2)), 4, axis=0), y))
    assert {DuplicateRowsWarning, DependentRowsWarning} == {type(warning) for warning in said}
