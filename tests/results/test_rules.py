"""Rules: what they say against Python's own evaluation, and what is not of their language."""

import random

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.errors import InputError, InputTypeError
from twosample.results.rules import NAMES, Rule


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    x, y = (pl.DataFrame({"dose": rng.normal(shift, 1, 80), 'a"b': rng.normal(size=80)}) for shift in (0.0, 0.8))
    return ts.test(x, y, permutations=99, rope=0.55)


def values_of(result):
    """Every name, from the public fields of the result."""
    low, high = result.effect.auc.interval(0.9)
    return {
        "prob_h1": result.prob_h1,
        "prob_h0": result.prob_h0,
        "log_bf10": result.log_bf10,
        "bf10": result.bf10,
        "bf01": result.bf01,
        "auc": result.effect.auc.mean,
        "auc_low": low,
        "auc_high": high,
        "prob_beyond_rope": result.prob_beyond_rope,
        "pvalue": result.pvalue,
        "evalue": result.evalue,
        "n_x": 80,
        "n_y": 80,
        "columns_differing": sum(1 for row in result.by_column if row.prob > 0.5),
        "prob_column": {row.column: row.prob for row in result.by_column},
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_what_the_result_says(name, result):
    expected = values_of(result)[name]
    outcome = Rule.of(f"{name} >= -1").outcome(result)
    assert outcome.holds and outcome.values == {name: expected}


def test_no_name_is_left_untested(result):
    assert {*NAMES, "prob_column"} == set(values_of(result))
    assert values_of(result)["columns_differing"] == 1


def expression(chance, depth):
    """A random rule."""
    if depth:
        kind = chance.choice(["and", "or", "not", "compare"])
        if kind in ("and", "or"):
            parts = [expression(chance, depth - 1) for _ in range(chance.choice([2, 3]))]
            return "(" + f" {kind} ".join(parts) + ")" if chance.random() < 0.6 else f" {kind} ".join(parts)
        if kind == "not":
            return f"not ({expression(chance, depth - 1)})"
    numbers = [*NAMES, 'prob_column["dose"]', "prob_column['a\"b']", "0.5", "-1", "+2.5e1", "1", ".95", "0"]
    parts = chance.choices(numbers, k=chance.choice([2, 2, 3]))
    return parts[0] + "".join(f" {chance.choice(['<', '<=', '>', '>=', '==', '!='])} {part}" for part in parts[1:])


def test_random_rules_say_what_python_says(result):
    values, chance, held = values_of(result), random.Random(0), 0
    for _ in range(500):
        text = expression(chance, chance.choice([0, 1, 2, 3]))
        outcome = Rule.of(text).outcome(result)
        assert outcome.holds is bool(eval(text, {"__builtins__": {}}, values)), text
        held += outcome.holds
    assert 100 < held < 400


def test_the_reason_names_the_rule_and_the_numbers(result):
    outcome = Rule.of("n_x  > 100\n and auc < 1").outcome(result)
    assert outcome.reason == f"n_x > 100 and auc < 1 does not hold: n_x = 80, auc = {result.effect.auc.mean:.6g}"
    assert not outcome.holds
    outcome = Rule.of('prob_column["dose"] > 0.2 and n_y == 80').outcome(result)
    assert outcome.reason.startswith("prob_column[\"dose\"] > 0.2 and n_y == 80 holds: prob_column['dose'] ")
    assert "\n" not in outcome.reason


def test_a_probability_is_never_said_to_be_one():
    result = ts.test(np.arange(90.0), np.arange(90.0) + 1e3)
    assert Rule.of("prob_h1 > 0.5").outcome(result).reason.endswith("prob_h1 > 0.999999")


@pytest.mark.parametrize(
    ("text", "why", "place"),
    [
        ("prob_h2 > 0.5", "'prob_h2' is not a name", 1),
        ("n_x > 1 and foo < 2", "'foo' is not a name", 13),
        ("prob_h1 > '0.5'", "a text", 11),
        ("'é' < 1 or nope > 1", "a text", 1),
        ("prob_column['é'] < 1 or nope > 1", "'nope' is not a name", 25),
        ("prob_h1 > True", "a text or other value", 11),
        ("prob_h1 > 1j", "a text or other value", 11),
        ("abs(auc) > 1", "a call", 1),
        ("__import__('os').system('true') > 0", "a call", 1),
        ("auc.real > 1", "an attribute", 1),
        ("().__class__ > 1", "an attribute", 1),
        ("auc + 1 > 2", "arithmetic", 1),
        ("auc > -auc", "this is not", 7),
        ("9**9**9 > 1", "arithmetic", 1),
        ("prob_column[0] > 1", "an index", 1),
        ("prob_column > 1", "needs a column", 1),
        ("auc['x'] > 1", "an index", 1),
        ("prob_h1", "neither true nor false", 1),
        ("n_x > 1 and prob_h1", "neither true nor false", 13),
        ("not auc", "neither true nor false", 5),
        ("1", "neither true nor false", 1),
        ("(auc > 1) > 0", "a condition cannot be compared", 2),
        ("auc in (1, 2)", "'is' and 'in'", 8),
        ("auc is 1", "'is' and 'in'", 8),
        ("[auc > 1]", "this is not", 1),
        ("(lambda: 1) > 0", "a function", 2),
        ("(a := 1) > 0", "an assignment", 2),
        ("f'{auc}' > 1", "a text", 1),
        ("prob_h1 = 1", "cannot be read", 9),
        ("prob_h1 > 1 && auc > 1", "cannot be read", 14),
        ("auc >", "cannot be read", 5),
        ("auc > 1; n_x", "cannot be read", 8),
        ("import os", "cannot be read", 1),
        ("(auc > 1", "cannot be read", 1),
    ],
)
def test_refused_with_the_place(text, why, place):
    with pytest.raises(InputError) as error:
        Rule.of(text)
    assert error.value.argument == "rule" and why in error.value.message
    assert f"(character {place})" in error.value.message
    assert error.value.remedy


@pytest.mark.parametrize(("text", "meant"), [("probh1 > 1", "prob_h1"), ("p_value > 1", "pvalue"), ("ACU > 1", None)])
def test_did_you_mean(text, meant):
    with pytest.raises(InputError) as error:
        Rule.of(text)
    assert error.value.remedy == f"did you mean {meant!r}?" if meant else "use numbers" in error.value.remedy


@pytest.mark.parametrize(
    "text", ["", "  \n", "auc > 1" + " or auc > 1" * 200, "auc\0 > 1", "(" * 300 + "auc > 1" + ")" * 300]
)
def test_no_rule_at_all(text):
    with pytest.raises(InputError, match=r"^rule: "):
        Rule.of(text)


def test_deep_rules_are_read_or_refused():
    try:
        assert Rule.of("not " * 240 + "n_x > 1")
    except InputError as error:
        assert error.argument == "rule"


@pytest.mark.parametrize("text", [None, 3, b"auc > 1", True])
def test_not_text(text):
    with pytest.raises(InputTypeError, match="rule: expected text"):
        Rule.of(text)


def test_what_was_not_computed_is_said_before_and_after(result):
    for name, option in (
        ("pvalue", "permutations=999"),
        ("evalue", "permutations=999"),
        ("prob_beyond_rope", "rope=0.55"),
    ):
        rule = Rule.of(f"n_x > 1 or {name} < 1")
        with pytest.raises(InputError, match=f"{name} is not computed without .*{option}"):
            rule.check_settings(permutations=0, rope=None)
        rule.check_settings(permutations=9, rope=0.6)
        with pytest.raises(InputError, match=f"{name} is not computed"):
            rule.outcome(ts.test(np.arange(20.0), np.arange(20.0) + 0.5))  # of few rows there is a p-value


def test_columns_that_are_not_there(result):
    with pytest.raises(InputError, match=r"no column 'doze'.*did you mean 'dose'\?"):
        Rule.of("prob_column['doze'] > 1").outcome(result)
    with pytest.raises(InputError, match="there are 'dose', "):
        Rule.of("prob_column['zzz'] > 1").outcome(result)


@pytest.mark.parametrize("text", ["auc > 1", "columns_differing > 1", "prob_column['0'] > 1"])
def test_models_that_do_not_say(text):
    result = ts.test(*np.random.default_rng(0).normal(size=(2, 20)), model="paper")
    with pytest.raises(InputError, match="model 'paper' as asked for has no"):
        Rule.of(text).outcome(result)
