"""Every public function with every keyword given nonsense: one of our errors that names it, or an answer."""

import inspect
import math
import warnings

import numpy as np
import pytest

import twosample as ts
from twosample.errors import InputError, InputTypeError, TwoSampleWarning

rng = np.random.default_rng(5)
X, Y = rng.normal(size=(12, 2)), rng.normal(0.5, 1.0, size=(12, 2))

NONSENSE = [
    None, "abc", "", math.nan, math.inf, -math.inf, -1, 0, -0.5, 1.5, [], {}, object(), True, 1 + 2j, 10**400, b"x",
    -(10**400), np.array([[1.0], [2.0]]), np.array(["a"]), np.datetime64("2020-01-01"), [math.nan],
    [[1.0], [1.0, 2.0]], ...
]  # fmt: skip

# Flags have their own tests.
LEFT_OUT = {"paired", "evidence", "aggregate"}
# With these the calls are quick, whatever the other arguments are.
QUICK = {"points": 6, "steps": 12, "burn_in": 4, "chains": 1, "permutations": 9}


def functions():
    plan = ts.plan(X, Y, points=6, subsets=None)
    statistics = plan.statistics(X, Y)
    result = ts.test(X, Y, points=6)
    each = ts.test_each(X, Y)
    witness = result.witness(X)
    return {
        "test": (ts.test, (X, Y)),
        "test_each": (ts.test_each, (X, Y)),
        "plan": (ts.plan, (X, Y)),
        "log_bf10": (ts.log_bf10, (X, Y, 1.0)),
        "gibbs": (ts.gibbs, (X, Y)),
        "holmes": (ts.baselines.holmes, (X[:, 0], Y[:, 0])),
        "chen_hanson": (ts.baselines.chen_hanson, (X, Y)),
        "jzs": (ts.baselines.jzs, (X[:, 0], Y[:, 0])),
        "mmd": (ts.baselines.mmd, (X, Y)),
        "Plan.test": (plan.test, (statistics,)),
        "Plan.statistics": (plan.statistics, (X, Y)),
        "FeatureStatistics.merge": (lambda others: statistics.merge(others), ()),
        "TwoSampleResult.witness": (result.witness, ()),
        "TwoSampleResult.effect.auc.exceeding": (result.effect.auc.exceeding, ()),
        "interval of the lengthscale": (result.lengthscale.interval, ()),
        "interval of the amplitude": (result.amplitude.interval, ()),
        "interval of the AUC": (result.effect.auc.interval, ()),
        "interval of the MMD": (result.effect.mmd.interval, ()),
        "given_different": (result.effect.auc.given_different, ()),
        "band": (witness.band, ()),
        "EachResult.to_frame": (each.to_frame, ()),
        "EachResult.summary": (each.summary, ()),
    }


FUNCTIONS = functions()


def keywords(name):
    """The arguments that are not given already."""
    function, given = FUNCTIONS[name]
    parameters = list(inspect.signature(function).parameters.values())
    return [one.name for one in parameters[len(given) :] if one.kind != one.VAR_KEYWORD and one.name not in LEFT_OUT]


CASES = [(name, keyword) for name in FUNCTIONS for keyword in keywords(name)]
CASES += [
    ("log_bf10", "lengthscale"),
    ("test", "x"),
    ("test", "y"),
    ("test_each", "x"),
    ("plan", "x"),
    ("Plan.test", "statistics"),
]


def attempt(name, keyword, value):
    function, given = FUNCTIONS[name]
    parameters = list(inspect.signature(function).parameters)
    arguments = dict(zip(parameters, given, strict=False))
    arguments |= {key: quick for key, quick in QUICK.items() if key in parameters} | {keyword: value}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TwoSampleWarning)
        return function(**arguments)


def numbers_of(result):
    return [value for value in vars(result).values() if isinstance(value, float)] if hasattr(result, "__dict__") else []


@pytest.mark.parametrize(
    ("name", "keyword"),
    [pytest.param(*case, marks=[pytest.mark.slow] if case[0] == "gibbs" else []) for case in CASES],  # compiles
)
def test_nonsense_is_refused_by_name_or_makes_sense(name, keyword):
    for value in NONSENSE:
        try:
            result = attempt(name, keyword, value)
        except (InputError, InputTypeError) as error:
            named = {"x", "y"} if keyword in ("x", "y") else {keyword}  # either where they do not fit together
            assert error.argument is not None and named & set(error.argument.split()), (value, error)
            assert keyword in str(error), (value, error)
        except Exception as error:
            raise AssertionError(f"{name}({keyword}={value!r}) leaks {type(error).__name__}: {error}") from error
        else:
            assert not any(math.isnan(number) for number in numbers_of(result)), (value, result)


@pytest.mark.parametrize("level", [None, "0.9", math.nan, math.inf, -1, 0, 1, 95, True, 1 + 2j, 10**400, [], b"x"])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if keywords(name) == ["level"]])
def test_levels_are_between_0_and_1(name, level):
    with pytest.raises(InputError, match=r"^level: must be a number between 0 and 1, not ") as refused:
        FUNCTIONS[name][0](level)
    assert refused.value.argument == "level"


def test_all_levels_are_looked_at():
    assert sum(keywords(name) == ["level"] for name in FUNCTIONS) == 6


@pytest.mark.parametrize(
    ("keyword", "value"),
    [(keyword, value) for keyword in ("prior_odds", "tolerance") for value in (-1, 0, math.nan, math.inf, "1", 10**400)]
    + [("rope", value) for value in (0.5, 0, -1, 1, 95, math.nan, "0.55", True, 10**400)],
)
def test_what_is_refused_by_test(keyword, value):
    with pytest.raises(InputError, match=rf"^{keyword}: must be ") as refused:
        ts.test(X, Y, points=6, **{keyword: value})
    assert refused.value.argument == keyword


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "gibbs" else [])
        for name, (_, given) in FUNCTIONS.items()
        if given
    ],
)
def test_the_call_makes_sense_without_nonsense(name):
    function, given = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwoSampleWarning)
        assert function(*given, **{key: quick for key, quick in QUICK.items() if key in parameters}) is not None
