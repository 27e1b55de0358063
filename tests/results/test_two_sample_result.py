"""The record that a test returns: words, probabilities, text, JSON and the small posteriors it holds."""

import dataclasses
import itertools
import json
import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import twosample as ts
from twosample import models
from twosample.errors import DroppedDataWarning, InputError
from twosample.inference.bayes_factor import verdict
from twosample.inference.effect import Effect, Quantity
from twosample.results.result_parts import Amplitude, Lengthscale
from twosample.results.units_in_words import in_units

MODELS = ("adaptive", "paper", "published")
SAME = "evidence that the samples come from the same distribution"
DIFFER = "evidence that the samples differ"
UNCLEAR = "no clear evidence either way"


def draw(n=30, n_columns=1, shift=0.3):
    rng = np.random.default_rng([n, n_columns])
    return rng.normal(size=(n, n_columns)), shift + rng.normal(size=(n, n_columns))


@pytest.fixture(scope="module")
def result():
    return ts.test(*draw())


def effect_between(middle, high, prob_h1=0.5):
    """An effect with this median and 95 % quantile of the AUC, given that the samples differ."""
    auc = Quantity(
        0.5, prob_h1, np.array([0.5, middle - 0.01, middle, high, 1.0]), np.array([0.0, 0.0, 0.5, 0.95, 1.0])
    )
    mmd = Quantity(0.0, prob_h1, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    return Effect(mmd=mmd, auc=auc)


# ---- verdicts and probabilities


@pytest.mark.parametrize(
    ("size", "strength"),
    [
        (0.0, None),
        (0.999, None),
        (1.0, None),
        (math.nextafter(1.0, 2.0), "positive"),
        (3.0, "positive"),
        (math.nextafter(3.0, 4.0), "strong"),
        (5.0, "strong"),
        (math.nextafter(5.0, 6.0), "very strong"),
        (1e6, "very strong"),
        (math.inf, "very strong"),
    ],
)
def test_verdict_at_the_boundaries_of_kass_and_raftery(result, size, strength):
    """2 log BF of 2, 6 and 10."""
    for_difference = f"{strength} {DIFFER}" if strength else UNCLEAR
    for_sameness = f"{strength} {SAME}" if strength else UNCLEAR
    assert verdict(size) == for_difference
    assert verdict(-size) == for_sameness
    # Without an effect, as from the models of the paper, the result says no more.
    without = dataclasses.replace(result, effect=None)
    assert dataclasses.replace(without, log_bf10=size).verdict == for_difference
    assert dataclasses.replace(without, log_bf10=-size).verdict == for_sameness
    if strength:
        for_difference = f"{strength} evidence of a medium difference"
        for_sameness += ", with no difference larger than AUC 0.75"
    known = dataclasses.replace(result, effect=effect_between(0.65, 0.75))
    assert dataclasses.replace(known, log_bf10=size).verdict == for_difference
    assert dataclasses.replace(known, log_bf10=-size).verdict == for_sameness


@pytest.mark.parametrize(
    ("auc", "words"),
    [(0.52, "very small"), (0.6, "small"), (0.68, "medium"), (0.75, "large"), (0.9, "very large"), (1.0, "very large")],
)
def test_the_verdict_says_how_large_the_median_difference_is(result, auc, words):
    """By the median given that the samples differ; the rest of the posterior is elsewhere."""
    skewed = Quantity(0.5, 0.9, np.array([0.5, auc, auc, 1.0]), np.array([0.0, 0.45, 0.55, 1.0]))
    changed = dataclasses.replace(result, log_bf10=9.0, effect=Effect(mmd=skewed, auc=skewed))
    assert changed.verdict == f"very strong evidence of a {words} difference"


def test_a_verdict_for_sameness_says_what_could_have_been_missed():
    """What lies below is 95 of 100, given that there is a difference; more data leave less room for one."""
    few, many = (ts.test(*draw(n, shift=0.0)) for n in (200, 5000))
    for result in (few, many):
        assert result.log_bf10 < -1
        limit = float(result.verdict.rpartition("AUC ")[2])
        assert result.verdict == f"{verdict(result.log_bf10)}, with no difference larger than AUC {limit:.2f}"
        auc = result.effect.auc
        assert np.interp(limit, auc.values, auc.cumulative) == pytest.approx(0.95, abs=0.1)  # of two digits
    assert few.effect.auc.given_different(0.95) > many.effect.auc.given_different(0.95)


# ---- effect and rope


@pytest.mark.parametrize("shift", [0.0, 0.4, 1.5])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_effect(n_columns, shift):
    result = ts.test(*draw(60, n_columns, shift))
    for quantity, null, most in ((result.effect.auc, 0.5, 1.0), (result.effect.mmd, 0.0, math.sqrt(2.0))):
        assert quantity.null == null and quantity.prob_h1 == pytest.approx(result.prob_h1, abs=1e-12)
        assert null <= quantity.mean <= most
        intervals = [quantity.interval(level) for level in (0.5, 0.8, 0.9, 0.99)]
        for low, high in intervals[1:]:
            assert null <= low <= quantity.mean <= high <= most
        for (low, high), (wider_low, wider_high) in itertools.pairwise(intervals):
            assert wider_low <= low <= high <= wider_high


def test_the_effect_of_a_shift():
    """Of normal samples, the AUC of the best score is Φ(shift/√2), and nothing can be larger."""
    result = ts.test(*draw(1000, shift=0.8))
    low, high = result.effect.auc.interval(0.99)
    assert low < NormalDist().cdf(0.8 / math.sqrt(2.0)) < high
    assert high - low < 0.1


def test_the_probability_beyond_a_rope_falls_with_it():
    x, y = draw(60, shift=0.5)
    result = ts.test(x, y)
    ropes = [0.5001, 0.55, 0.6, 0.65, 0.7, 0.8, 0.999]
    found = [dataclasses.replace(result, rope=rope).prob_beyond_rope for rope in ropes]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(result.prob_h1, abs=1e-2)
    assert found[-1] == pytest.approx(0.0, abs=1e-2)
    assert max(found) <= result.prob_h1
    assert len(set(found)) > 4


def test_the_rope_is_printed_with_its_probability(result):
    assert "P(AUC > " not in result.summary()
    text = dataclasses.replace(result, rope=0.55, effect=effect_between(0.6, 0.7, prob_h1=0.8125)).summary()
    assert "\n  P(AUC > 0.55)        0.8125\n" in text
    assert "\n  AUC of the witness   " in text
    assert dataclasses.replace(result, rope=0.55, effect=None).prob_beyond_rope is None
    assert "AUC" not in dataclasses.replace(result, rope=0.55, effect=None).summary()


# ---- p-values that disagree

COMMON, RARE = "is common among relabelled data", "is rare among relabelled data"


@pytest.mark.parametrize(
    ("log_bf10", "pvalue", "words"),
    [
        # For a difference, but not by the p-value.
        (1.01, 0.051, COMMON),
        (8.0, 0.6, COMMON),
        (8.0, 0.05, None),
        (8.0, 0.001, None),
        # For the same distribution, but not by the p-value.
        (-1.01, 0.05, RARE),
        (-3.0, 0.001, RARE),
        (-3.0, 0.051, None),
        (-3.0, 0.9, None),
        # For neither: only a p-value that is very small disagrees.
        (1.0, 0.9, None),
        (0.5, 0.05, None),
        (-0.99, 0.0101, None),
        (-0.99, 0.01, RARE),
        (0.99, 0.01, RARE),
        (0.99, 0.0101, None),
        (8.0, None, None),
        (-8.0, None, None),
    ],
)
def test_a_pvalue_that_disagrees_is_pointed_out(result, log_bf10, pvalue, words):
    changed = dataclasses.replace(result, log_bf10=log_bf10, pvalue=pvalue)
    if words is None:
        assert changed.disagreement is None
        assert "does not agree" not in changed.summary()
    else:
        assert words in changed.disagreement
        assert changed.disagreement.startswith(f"The p-value of {pvalue:.3g}")
        assert changed.summary().splitlines()[1] == changed.disagreement


def test_pvalues_and_evalues_are_printed():
    x, y = draw(shift=1.0)
    result = ts.test(x, y, permutations=99)
    assert result.pvalue == 0.01 and 10 < result.evalue <= 100  # of 99 permutations, the largest is 100
    assert result.disagreement is None
    lines = result.summary().splitlines()
    assert "  p-value              0.01 (99 permutations)" in lines
    assert f"  e-value              {result.evalue:.3g}" in lines
    assert "e-value" not in dataclasses.replace(result, evalue=None).summary()
    assert "random swaps" in ts.test(x, y, permutations=9, paired=True).summary()
    assert "-value" not in ts.test(x, y).summary()


def test_the_verdict_does_not_depend_on_the_prior(result):
    """It speaks of the evidence; the probability is what the prior goes into."""
    assert dataclasses.replace(result, prior_odds=1e6).verdict == result.verdict


@pytest.mark.parametrize("log_bf10", [-800.0, -40.0, -3.0, -1e-9, 0.0, 0.5, 20.0, 800.0])
@pytest.mark.parametrize("prior_odds", [1.0, 1e-3, 1e5])
def test_probabilities(result, log_bf10, prior_odds):
    changed = dataclasses.replace(result, log_bf10=log_bf10, prior_odds=prior_odds)
    assert changed.prob_h1 + changed.prob_h0 == pytest.approx(1.0, abs=1e-15)
    log_odds = log_bf10 + math.log(prior_odds)
    # The smaller one has all its digits, which one minus the larger would not.
    smaller = min(changed.prob_h1, changed.prob_h0)
    assert smaller == pytest.approx(math.exp(-abs(log_odds)) / (1 + math.exp(-abs(log_odds))), rel=1e-13)
    assert (changed.prob_h1 >= changed.prob_h0) == (log_odds >= 0)


@pytest.mark.parametrize("prior_odds", [1.0, 5e-324, 1e308])
def test_extremes(result, prior_odds):
    certain = dataclasses.replace(result, log_bf10=5000.0, prior_odds=prior_odds, effect=None)
    assert (certain.bf10, certain.prob_h1, certain.prob_h0) == (math.inf, 1.0, 0.0)
    opposite = dataclasses.replace(result, log_bf10=-5000.0, prior_odds=prior_odds, effect=None)
    assert (opposite.bf10, opposite.prob_h1, opposite.prob_h0) == (0.0, 0.0, 1.0)
    for extreme in (certain, opposite):
        assert f"{extreme.log_bf10:+.2f}" in extreme.summary()
        assert ts.TwoSampleResult.from_json(extreme.to_json()).log_bf10 == extreme.log_bf10
    assert "> 0.9999" in certain.summary()
    assert "< 0.0001" in opposite.summary()


@pytest.mark.parametrize("log_bf10", [-700.0, -1.0, 0.0, 2.5, 708.0])
def test_bf10_is_the_exponential(result, log_bf10):
    assert dataclasses.replace(result, log_bf10=log_bf10).bf10 == pytest.approx(math.exp(log_bf10), rel=1e-15)


# ---- frozen, and how it prints


def test_frozen(result):
    for record in (result, result.lengthscale, result.amplitude, result.diagnostics, result.model):
        for field in dataclasses.fields(record):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(record, field.name, None)
    for name in ("prob_h1", "verdict", "anything"):
        with pytest.raises(AttributeError):
            setattr(result, name, None)


def test_summary(result):
    lines = result.summary().splitlines()
    assert str(result) == result.summary()
    assert lines[0] == f"{result.verdict[0].upper()}{result.verdict[1:]}."
    text = dict(line.strip().split("  ", 1) for line in lines[1:])
    text = {key: value.strip() for key, value in text.items()}
    low, high = result.lengthscale.interval(0.9)
    low_auc, high_auc = result.effect.auc.interval(0.9)
    assert text == {
        "P(different | data)": f"{result.prob_h1:.4f}",
        "log BF10": f"{result.log_bf10:+.2f}",
        "AUC of the witness": f"{result.effect.auc.mean:.3f} (90 % between {low_auc:.3f} and {high_auc:.3f})",
        "difference": in_units(result.by_column[0], ("x", "y")),
        "lengthscale": f"{result.lengthscale.mean:.3g} (90 % between {low:.3g} and {high:.3g})",
        "data": "30 and 30 rows, 1 column",
        "model": "adaptive, 40 evaluation points",
    }


def test_summary_of_other_settings():
    x, y = draw(n_columns=2)
    text = ts.test(x, y, paired=True, lengthscale=0.5, prior_odds=0.25, points=7, model="paper").summary()
    for part in ("30 pairs, 2 columns", "fixed at 0.5", "prior odds", "0.25", "paper, 7 evaluation points"):
        assert part in text
    x[0] = np.nan
    with pytest.warns(DroppedDataWarning):
        omitted = ts.test(x, y, nan_policy="omit")
    (note,) = omitted.diagnostics.notes
    assert omitted.summary().endswith(note)
    assert "29 and 30 rows" in omitted.summary()


def test_repr_is_one_line(result):
    text = repr(result)
    assert "\n" not in text
    assert text.startswith("TwoSampleResult(") and result.verdict in text and f"{result.log_bf10:.4g}" in text


# ---- JSON


def assert_plain(value):
    assert type(value) in (dict, list, str, int, float, bool, type(None)), type(value)
    if isinstance(value, dict):
        for key, item in value.items():
            assert type(key) is str
            assert_plain(item)
    elif isinstance(value, list):
        for item in value:
            assert_plain(item)


def assert_equal_records(first, second):
    """Field by field, arrays with their shapes and types."""
    assert type(first) is type(second)
    for field in dataclasses.fields(first):
        left, right = getattr(first, field.name), getattr(second, field.name)
        assert type(left) is type(right), field.name
        if dataclasses.is_dataclass(left):
            assert_equal_records(left, right)
        elif isinstance(left, tuple) and any(map(dataclasses.is_dataclass, left)):
            for one, other in zip(left, right, strict=True):
                assert_equal_records(one, other)
        elif isinstance(left, np.ndarray):
            assert left.dtype == right.dtype and left.dtype in (np.float64, np.int64)
            assert_array_equal(left, right, strict=True, err_msg=field.name)
        else:
            assert left == right, field.name


@pytest.mark.parametrize("lengthscale", [None, 0.8])
@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_json_round_trip(tmp_path, model, n_columns, lengthscale):
    x, y = draw(n_columns=n_columns)
    result = ts.test(x, y, model=model, lengthscale=lengthscale, prior_odds=0.3, keep_rows=True)
    content = result.to_dict()
    assert_plain(content)
    assert json.loads(json.dumps(content, allow_nan=False)) == content

    path = tmp_path / "result – ü.json"
    text = result.to_json(path)
    assert path.read_text(encoding="utf-8") == text == result.to_json() == result.to_json(str(path))
    for source in (text, path, str(path), f" \n{text}"):
        back = ts.TwoSampleResult.from_json(source)
        assert_equal_records(result, back)
        assert back == result
        assert back.model == result.model == models.PRESETS[model]
        at = np.linspace(-3, 3, 5 * n_columns).reshape(5, n_columns)
        for name in ("at", "mean", "sd"):
            assert_array_equal(getattr(back.witness(at), name), getattr(result.witness(at), name))
        assert back.summary() == result.summary()
        assert back.to_json() == text


def test_json_round_trip_of_everything_that_is_optional():
    x, y = (pd.DataFrame(rows, columns=list("abc")) for rows in draw(40, 3, shift=0.5))
    result = ts.test(x, y, permutations=19, rope=0.6, subsets="all", keep_rows=True)
    assert None not in (result.pvalue, result.evalue, result.effect, result.by_subset, result.rope)
    back = ts.TwoSampleResult.from_json(result.to_json())
    assert_equal_records(result, back)
    assert list(back.by_column) == list(result.by_column)
    assert list(back.subsets) == list(result.subsets)
    assert all(type(row.columns) is tuple for row in back.subsets)
    assert back.prob_beyond_rope == result.prob_beyond_rope is not None
    assert back.effect.auc.interval(0.8) == result.effect.auc.interval(0.8)
    assert back.summary() == result.summary() and back.verdict == result.verdict
    content = result.to_dict()
    assert_plain(content)
    assert content["prob_beyond_rope"] == result.prob_beyond_rope
    assert content["by_column"][0]["column"] == result.by_column[0].column


NEW = ("evalue", "by_subset", "effect", "rope", "prob_beyond_rope", "by_column", "subsets")


def test_results_of_older_versions_are_read():
    """They lack columns, effect and e-value, and their model has no ranks and no relative floor."""
    content = ts.test(*draw(40, 2, shift=0.8), permutations=19, rope=0.6, keep_rows=True).to_dict()
    for name in NEW:
        del content[name]
    del content["model"]["ranks"], content["model"]["floor"]["relative"]
    old = ts.TwoSampleResult.from_json(json.dumps(content))
    assert old.log_bf10 == content["log_bf10"] > 5 and old.pvalue == content["pvalue"]
    assert (old.evalue, old.effect, old.rope, old.by_subset, old.prob_beyond_rope) == (None,) * 5
    assert len(old.by_column) == len(old.subsets) == 0
    assert old.verdict == f"very strong {DIFFER}"
    assert old.model.ranks == 0.0 and not old.model.floor.relative
    for part in ("AUC", "column differs", "e-value"):
        assert part not in old.summary()
    assert_equal_records(old, ts.TwoSampleResult.from_json(old.to_json()))


@pytest.mark.parametrize("name", NEW)
def test_each_of_the_newer_fields_may_be_missing(result, name):
    content = result.to_dict()
    del content[name]
    back = ts.TwoSampleResult.from_json(json.dumps(content))
    assert back.log_bf10 == result.log_bf10 and back.summary()


def test_json_keeps_notes_names_and_models_of_ones_own():
    x, y = (pd.DataFrame(rows, columns=["<b>größe", "b\nc"]) for rows in draw(n_columns=2))
    x.iloc[0, 0] = np.nan
    own = dataclasses.replace(
        models.PRESETS["adaptive"], name="own", lengthscale=models.Gamma(3.0, 2.0), amplitude=None
    )
    with pytest.warns(DroppedDataWarning):
        result = ts.test(x, y, model=own, nan_policy="omit", keep_rows=True)
    back = ts.TwoSampleResult.from_json(result.to_json())
    assert back.columns == ("<b>größe", "b\nc")
    assert back.diagnostics.notes == result.diagnostics.notes != ()
    assert back.model == own
    assert_equal_records(result, back)


def test_dict_has_the_derived_numbers_too(result):
    content = result.to_dict()
    assert content["prob_h1"] == result.prob_h1
    assert content["prob_h0"] == result.prob_h0
    assert content["verdict"] == result.verdict
    assert {field.name for field in dataclasses.fields(result)} <= content.keys()


@pytest.mark.parametrize("text", ["", "garbage", "{", "result.json", "{}", "[]", "[1, 2]", '"text"', '{"log_bf10": 1}'])
def test_text_that_is_no_result(text):
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(text)


@pytest.mark.parametrize("text", ["3", "null", "true", "1.5"])
def test_json_that_is_no_object(text):
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(text)


@pytest.mark.parametrize(
    ("field", "value"), [("lengthscale", 3), ("model", "adaptive"), ("points", ["a"]), ("points", [[1.0], [1.0, 2.0]])]
)
def test_result_with_a_field_of_another_kind(result, field, value):
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(json.dumps({**result.to_dict(), field: value}))


@pytest.mark.parametrize("part", ["lengthscale", "model", "witness_posterior"])
def test_result_that_lacks_a_field_of_a_part(part):
    content = ts.test(*draw(), points=5, keep_rows=True).to_dict()
    del content[part][next(iter(content[part]))]
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(json.dumps(content))


def test_file_that_is_no_result(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("not json", encoding="utf-8")
    with pytest.raises(InputError, match=r"^source"):
        ts.TwoSampleResult.from_json(path)
    with pytest.raises(InputError, match=r"^source: .*there is no such file"):
        ts.TwoSampleResult.from_json(Path(tmp_path / "missing.json"))


# ---- posteriors of lengthscale and amplitude


@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("model", MODELS)
def test_lengthscale_posterior(model, shift):
    posterior = ts.test(*draw(100, shift=shift), model=model).lengthscale
    assert (np.diff(posterior.grid) > 0).all()
    for mass, density in ((posterior.mass_h0, posterior.density_h0), (posterior.mass_h1, posterior.density_h1)):
        assert (mass >= 0).all() and (density >= 0).all()
        assert mass.sum() == pytest.approx(1.0, abs=1e-12)
        # The grid is fine where the mass is, so that a plain trapezoid of the density comes close to one. It stops at
        # the outermost Gauss nodes, some 1e-4 inside the ends of the integral.
        assert np.trapezoid(density, np.log(posterior.grid)) == pytest.approx(1.0, abs=1e-2)
    assert ((posterior.prob_h1 >= 0) & (posterior.prob_h1 <= 1)).all()
    assert posterior.grid[0] < posterior.mean < posterior.grid[-1]
    assert posterior.mean == pytest.approx((posterior.mass_h1 * posterior.grid).sum())


LEVELS = (0.01, 0.3, 0.5, 0.9, 0.99)


@pytest.mark.parametrize("model", MODELS)
def test_lengthscale_intervals_are_nested_and_hold_their_mass(model):
    posterior = ts.test(*draw(100, shift=2.0), model=model).lengthscale
    intervals = [posterior.interval(level) for level in LEVELS]
    lows, highs = zip(*intervals, strict=True)
    assert list(lows) == sorted(lows, reverse=True) and list(highs) == sorted(highs)
    assert lows[0] <= highs[0]
    assert posterior.interval() == posterior.interval(0.9)
    for level, (low, high) in zip(LEVELS, intervals, strict=True):
        inside = (posterior.grid >= low) & (posterior.grid <= high)
        # Each end may be off by the mass of one grid value.
        assert posterior.mass_h1[inside].sum() == pytest.approx(level, abs=2 * posterior.mass_h1.max())
        assert posterior.mass_h1[posterior.grid < low].sum() == pytest.approx(
            (1 - level) / 2, abs=posterior.mass_h1.max()
        )


def test_interval_of_a_known_distribution():
    grid = np.linspace(0.0, 1.0, 2001)
    mass = np.full(2001, 1 / 2001)
    zeros = np.zeros(2001)
    posterior = Lengthscale(grid, zeros, zeros, mass[::-1], mass, zeros, 1.0, False)
    assert posterior.interval(0.8) == pytest.approx((0.1, 0.9), abs=1e-3)
    assert posterior.mean == pytest.approx(0.5)
    amplitude = Amplitude(grid, mass, False)
    assert amplitude.interval(0.5) == pytest.approx((0.25, 0.75), abs=1e-3)
    assert amplitude.median == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, -0.1, 1.5, 90, math.nan])
def test_level_outside_the_unit_interval(result, level):
    for posterior in (result.lengthscale, result.amplitude):
        with pytest.raises(InputError, match=r"^level"):
            posterior.interval(level)


def test_amplitude(result):
    amplitude = result.amplitude
    assert not amplitude.fixed
    assert (np.diff(amplitude.grid) > 0).all() and (amplitude.mass >= 0).all()
    assert amplitude.mass.sum() == pytest.approx(1.0, abs=1e-9)
    intervals = [amplitude.interval(level) for level in LEVELS]
    for (low, high), (wider_low, wider_high) in itertools.pairwise(intervals):
        assert wider_low <= low <= amplitude.median <= high <= wider_high
    low, high = amplitude.interval()
    inside = (amplitude.grid >= low) & (amplitude.grid <= high)
    assert amplitude.mass[inside].sum() == pytest.approx(0.9, abs=2 * amplitude.mass.max())


def test_larger_differences_have_larger_amplitudes():
    small, large = (ts.test(*draw(300, shift=shift)).amplitude for shift in (0.3, 3.0))
    assert large.median > small.median


@pytest.mark.parametrize("model", ["paper", "published"])
def test_fixed_amplitude(model):
    amplitude = ts.test(*draw(), model=model).amplitude
    assert amplitude.fixed
    assert_array_equal(amplitude.grid, [1.0])
    assert amplitude.mass == pytest.approx([1.0])
    assert amplitude.median == 1.0
    assert amplitude.interval(0.5) == (1.0, 1.0)


@pytest.mark.parametrize("model", MODELS)
def test_fixed_lengthscale(model):
    posterior = ts.test(*draw(), model=model, lengthscale=0.6).lengthscale
    assert posterior.fixed
    assert posterior.mean == pytest.approx(0.6, rel=1e-14)
    assert posterior.interval(0.5) == pytest.approx((0.6, 0.6), rel=1e-14)
    assert_array_equal(posterior.mass_h1, [1.0])


# ---- witness


def test_witness_of_a_result(result):
    found = result.witness([-1.0, 0.0, 1.0])
    assert found.at.shape == (3, 1)
    assert found.mean.shape == found.sd.shape == (3,)
    assert (found.sd > 0).all()
    low, high = found.band(0.9)
    assert ((low < found.mean) & (found.mean < high)).all()


@pytest.mark.parametrize("at", [[[0.0, 1.0]], [np.nan], [], ["a"], None])
def test_bad_locations(result, at):
    with pytest.raises((InputError, ts.errors.InputTypeError), match=r"\bat\b"):
        result.witness(at)
