"""Options are checked once, mean the same in every question, and are refused with a reason where they have none."""

import inspect

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.errors import InputError
from twosample.questions.options import Options, refusing

ROWS = np.random.default_rng(1).normal(size=(30, 2))
FRAME = pl.DataFrame(ROWS, schema=["a", "b"], orient="row")
QUESTIONS = {
    "each": lambda **options: ts.test_each(FRAME, FRAME, **options),
    "ksample": lambda **options: ts.ksample([FRAME, FRAME, FRAME], **options),
    "goodness": lambda **options: ts.goodness(ROWS[:, 0], "norm(0, 1)", **options),
    "independence": lambda **options: ts.independence(ROWS[:, 0], ROWS[:, 1], **options),
    "design": lambda **options: ts.design(FRAME, FRAME, **options),
    "Monitor": ts.Monitor,
    "Reference": lambda **options: ts.Reference.of(FRAME, **options),
}
FUNCTIONS = {
    "each": ts.test_each, "ksample": ts.ksample, "goodness": ts.goodness, "independence": ts.independence,
    "design": ts.design, "Monitor": ts.Monitor, "Reference": ts.Reference.of,
}  # fmt: skip
# What a reference is asked with when a sample is tested against it, and options that are those of `test` alone.
OF_TEST = {"Reference": {"prior_odds", "rope", "keep_rows", "progress"}}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_option_of_the_test_is_taken_or_refused_with_a_reason(question):
    of_test = set(inspect.signature(ts.test).parameters) - {"x", "y"}
    taken = set(inspect.signature(FUNCTIONS[question]).parameters) | OF_TEST.get(question, set())
    for name in sorted(of_test - taken):
        with pytest.raises(InputError, match=f"^{name}: .*; leave it out") as refusal:
            QUESTIONS[question](**{name: 1})
        assert refusal.value.argument == name and len(refusal.value.message) > len(name) + 15


@pytest.mark.parametrize("question", QUESTIONS)
def test_misspelled_options_are_type_errors(question):
    with pytest.raises(TypeError, match="permutation_count"):
        QUESTIONS[question](permutation_count=3)


def test_defaults_are_those_of_the_test():
    options, parameters = Options.checked(), inspect.signature(ts.test).parameters
    for name in ("points", "subsets", "prior_odds", "permutations", "rope", "tolerance", "nan_policy", "paired"):
        assert getattr(options, name) == parameters[name].default
    assert (options.model.name, [kernel.label for kernel in options.kernels]) == ("adaptive", ["rbf"])


def test_a_refusal_leaves_the_function_as_it_was():
    @refusing(rope="there is no size")
    def ask(x: int, *, twice: bool = False) -> int:
        """Ask."""
        return 2 * x if twice else x

    assert (
        ask(3, twice=True) == 6 and ask.__doc__ == "Ask." and list(inspect.signature(ask).parameters) == ["x", "twice"]
    )
