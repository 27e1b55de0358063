"""What all baselines share: records that are frozen, print well and come back from JSON, and one way to be called."""

import dataclasses
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.errors import DroppedDataWarning, InputError
from twosample.paper.baselines.results import BayesResult, PValueResult

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=40), RNG.normal(1.0, 1.0, 30)
RESULTS = {
    "holmes": ts.baselines.holmes(X, Y, prior_odds=0.5),
    "chen_hanson": ts.baselines.chen_hanson(X, Y, permutations=19),
    "chen_hanson mean": ts.baselines.chen_hanson(X, Y, c="mean"),
    "jzs": ts.baselines.jzs(X, Y),
    "mmd": ts.baselines.mmd(X, Y, permutations=99, aggregate=True),
}
NAMES = ["holmes", "chen_hanson", "jzs", "mmd"]


@pytest.mark.parametrize("name", RESULTS)
def test_round_trip_through_json(name, tmp_path):
    result = RESULTS[name]
    result.to_json(tmp_path / "result.json")
    restored = type(result).from_json(tmp_path / "result.json")
    for field in dataclasses.fields(result):
        before, after = getattr(result, field.name), getattr(restored, field.name)
        assert type(before) is type(after)
        assert np.array_equal(before, after)
        assert getattr(before, "dtype", None) == getattr(after, "dtype", None)
    assert restored.summary() == result.summary()


@pytest.mark.parametrize("name", RESULTS)
def test_frozen(name):
    result = RESULTS[name]
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.notes = ()
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        assert not (isinstance(value, np.ndarray) and value.flags.writeable)


def test_json_of_another_test_is_refused():
    with pytest.raises(InputError, match="lacks 't'"):
        ts.baselines.JzsResult.from_json(RESULTS["holmes"].to_json())


@pytest.mark.parametrize("name", RESULTS)
def test_prints_the_verdict_and_the_data(name):
    result = RESULTS[name]
    first, *rest = str(result).splitlines()
    assert first.rstrip(".").lower() == result.verdict.lower()
    assert "40 and 30 rows, 1 column" in str(result)
    assert all(line.startswith("  ") and line[21:23] == "  " for line in rest)
    assert result.verdict in repr(result)
    assert len(repr(result)) < 160


def test_bayes_factors_follow_one_rule():
    for name in ("holmes", "chen_hanson", "jzs"):
        result = RESULTS[name]
        assert isinstance(result, BayesResult)
        odds = result.prob_h1 / result.prob_h0
        assert odds == pytest.approx(np.exp(result.log_bf10) * result.prior_odds, rel=1e-9)
    assert "prior odds" in str(RESULTS["holmes"])
    assert "prior odds" not in str(RESULTS["jzs"])


@pytest.mark.parametrize(
    "pvalue, words",
    [(0.0005, "at the 0.1 % level"), (0.01, "at the 1 % level"), (0.05, "at the 5 % level"), (0.051, "no significant")],
)
def test_pvalue_in_words(pvalue, words):
    result = dataclasses.replace(RESULTS["mmd"], pvalue=pvalue)
    assert isinstance(result, PValueResult)
    assert words in result.verdict


@pytest.mark.parametrize("name", NAMES)
def test_same_validator(name):
    test = getattr(ts.baselines, name)
    with pytest.raises(InputError, match="y has 1 missing or infinite value"):
        test(X, [*Y, np.nan])
    with pytest.warns(DroppedDataWarning, match="Dropped 0 of 40 rows of x and 1 of 31"):
        assert test(X, [*Y, np.nan], nan_policy="omit").notes
    with pytest.raises(InputError, match="y has 1 row"):
        test(X, [1.0])
    with pytest.raises(TypeError):
        test(X, Y, 3)
    frame = test(pl.DataFrame({"a": X}), pl.DataFrame({"a": Y}))
    assert frame.columns == ("a",)
    assert frame.verdict == test(X.tolist(), Y.tolist()).verdict


@pytest.mark.parametrize("name", ["chen_hanson", "mmd"])
def test_same_rules_for_seeds(name):
    test = getattr(ts.baselines, name)
    x, y = X, X[:30] + 0.1
    kinds = [5, np.random.SeedSequence(5), np.random.default_rng(5)]
    first, *others = (test(x, y, permutations=99, rng=rng).pvalue for rng in kinds)
    assert [first, first] == others
    assert test(x, y, permutations=99).pvalue == test(x, y, permutations=99, rng=0).pvalue
    assert len({test(x, y, permutations=99, rng=seed).pvalue for seed in range(9)}) > 1


def test_scipy_is_loaded_when_baselines_are_used():
    code = (
        "import sys, twosample as ts\n"
        "assert 'scipy' not in sys.modules and 'baselines' in dir(ts)\n"
        "assert callable(ts.baselines.holmes) and 'scipy' in sys.modules\n"
        "try:\n    ts.nonsense\nexcept AttributeError as error:\n    print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "module 'twosample' has no attribute 'nonsense'\n"
