"""Checks of arguments: what each takes, in which form it returns it, and how it refuses the rest."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import twosample as ts
from twosample.common.arguments import (
    LARGEST_LENGTHSCALE,
    choice_of,
    count_of,
    flag_of,
    generator_of,
    is_one_of,
    lengthscales_of,
    positive,
    share_of,
)
from twosample.errors import InputError, InputTypeError


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), 3.0, np.float32(3)])
def test_counts_become_ints(value):
    count = count_of(value, "points", 1)
    assert count == 3 and type(count) is int


@pytest.mark.parametrize("value", [True, np.True_, "3", None, [3]])
def test_counts_are_whole_numbers(value):
    with pytest.raises(InputTypeError, match=r"^points: expected a whole number, got ") as refused:
        count_of(value, "points", 1)
    assert refused.value.argument == "points"


@pytest.mark.parametrize("value", [2.5, np.nan, np.inf])
def test_counts_are_not_broken_numbers(value):
    with pytest.raises(InputTypeError, match=rf"^points: expected a whole number, got {value}$"):
        count_of(value, "points", 1)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_flags_become_bools(value):
    assert flag_of(value, "paired") is bool(value)


@pytest.mark.parametrize("value", ["yes", "no", 1, 0, None, 1.0, [True]])
def test_flags_are_true_or_false(value):
    with pytest.raises(InputTypeError, match=r"^paired: must be True or False, not ") as refused:
        flag_of(value, "paired")
    assert refused.value.argument == "paired"


X, Y = np.random.default_rng(0).normal(size=(2, 20, 1))
PUBLIC = [
    (ts.test, "paired"),
    (ts.test_each, "paired"),
    (ts.plan, "paired"),
    (partial(ts.log_bf10, lengthscale=1.0), "paired"),
    (ts.gibbs, "paired"),
    (ts.gibbs, "evidence"),
    (ts.baselines.mmd, "paired"),
    (ts.baselines.mmd, "aggregate"),
    (ts.baselines.jzs, "paired"),
]


@pytest.mark.parametrize(("function", "name"), PUBLIC)
def test_every_function_refuses_numbers_for_flags(function, name):
    with pytest.raises(InputTypeError, match=f"^{name}: must be True( or |, )False.*, not 1"):
        function(X, Y, **{name: 1})


def test_points_may_be_a_whole_float():
    assert ts.test(X, Y, points=12.0).log_bf10 == ts.test(X, Y, points=12).log_bf10
    assert ts.test(X, Y, points=np.float64(12)).log_bf10 == ts.test(X, Y, points=12).log_bf10
    with pytest.raises(InputTypeError, match=r"^points: expected a whole number, got 12.5"):
        ts.test(X, Y, points=12.5)


def test_seeds_may_be_none():
    expected = ts.test(X, Y, subsets=None)
    assert ts.test(X, Y, subsets=None, rng=None).log_bf10 == expected.log_bf10
    results = [ts.baselines.mmd(X, Y, permutations=99, rng=None) for _ in range(2)]
    assert all(0 < result.pvalue <= 1 for result in results)
    assert 0 < ts.test(X, Y, permutations=19, rng=None).pvalue <= 1
    assert ts.baselines.chen_hanson(X, Y, permutations=19, rng=None).pvalue > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::twosample.errors.ConvergenceWarning")
def test_the_sampler_takes_no_seed():
    result = ts.gibbs(X, Y, points=5, chains=2, steps=400, burn_in=200, rng=None)
    assert 0 < result.prob_h1 < 1


def test_words_and_shares():
    assert choice_of("own", "centering", ("own", "pooled")) == "own"
    assert is_one_of("omit", ("raise", "omit")) and not is_one_of(np.zeros(2), ("raise", "omit"))
    assert share_of(0.05, "fdr") == 0.05


def test_counts_are_large_enough():
    assert count_of(0, "burn_in", 0) == 0
    with pytest.raises(InputError, match=r"^burn_in: must be at least 0, not -1$") as refused:
        count_of(-1, "burn_in", 0)
    assert refused.value.argument == "burn_in"


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int16(2), Fraction(2)])
def test_positive_numbers_become_floats(value):
    number = positive(value, "prior_odds")
    assert number == 2.0 and type(number) is float


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, 10**400, True, "1", None, 1j, [1.0]])
def test_numbers_that_are_not_positive(value):
    with pytest.raises(InputError, match=r"^prior_odds: must be a positive, finite number, not ") as refused:
        positive(value, "prior_odds")
    assert refused.value.argument == "prior_odds"
    assert len(str(refused.value)) < 100


@pytest.mark.parametrize(
    ("lengthscale", "expected"), [(3, [1.5]), ([1.0, 4.0], [0.5, 2.0]), (np.array([[2], [6]]), [1.0, 3.0])]
)
def test_lengthscales_in_their_unit(lengthscale, expected):
    values = lengthscales_of(lengthscale, 2.0)
    assert values.dtype == np.float64
    assert_array_equal(values, expected)


def test_extreme_lengthscales_are_brought_within_limits():
    assert_array_equal(lengthscales_of([1e-320, 1e308], 1.0), [1.0 / LARGEST_LENGTHSCALE, LARGEST_LENGTHSCALE])


@pytest.mark.parametrize(
    ("lengthscale", "error"),
    [
        ("wide", InputError),
        (0.0, InputError),
        ([1.0, -1.0], InputError),
        (np.nan, InputError),
        (np.inf, InputError),
        ([], InputError),
        ([[1.0], [1.0, 2.0]], InputError),
        (True, InputTypeError),
        (1j, InputTypeError),
        ([None], InputTypeError),
    ],
)
def test_lengthscales_that_are_refused(lengthscale, error):
    with pytest.raises(error, match=r"^lengthscale: ") as refused:
        lengthscales_of(lengthscale, 1.0)
    assert refused.value.argument == "lengthscale"


def test_seeds():
    """Equal seeds give equal generators, and a generator is taken as it is."""
    for seed in (5, np.int64(5), np.random.SeedSequence(5)):
        assert generator_of(seed).integers(1 << 40) == np.random.default_rng(5).integers(1 << 40)
    generator = np.random.default_rng(0)
    assert generator_of(generator) is generator


def test_no_seed_is_a_fresh_one():
    assert generator_of(None).integers(1 << 62) != generator_of(None).integers(1 << 62)
    assert 0 < ts.test([1.0, 2.0, 4.0], [2.0, 3.0, 7.0], permutations=9, rng=None).pvalue <= 1
    assert not np.array_equal(ts.simulate.gaussian(5, None).x, ts.simulate.gaussian(5, None).x)


@pytest.mark.parametrize("rng", ["seed", 1.0, True, [1], np.random.RandomState(0)])
def test_seeds_of_another_kind(rng):
    with pytest.raises(InputTypeError, match=r"^rng: expected an int, a SeedSequence, a Generator or None") as refused:
        generator_of(rng)
    assert refused.value.argument == "rng"


def test_negative_seeds():
    with pytest.raises(InputError, match=r"^rng: ") as refused:
        generator_of(-1)
    assert refused.value.argument == "rng"
