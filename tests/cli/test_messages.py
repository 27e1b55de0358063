"""Errors and warnings in the words of the command line."""

import warnings

import pytest
from click import ClickException

from twosample.cli import messages
from twosample.cli.commands import command_line
from twosample.cli.messages import in_options, notes, refusals
from twosample.errors import AccuracyWarning, ConvergenceWarning, InputError, InputTypeError, Setting


def test_every_option_is_one_of_a_command():
    known = {name for command in command_line.commands.values() for option in command.params for name in option.opts}
    assert set(messages._OPTIONS.values()) <= known


@pytest.mark.parametrize("kind", [InputError, InputTypeError, AccuracyWarning])
@pytest.mark.parametrize(
    ("argument", "message", "text"),
    [
        ("points", "points: too few", "--points: too few"),
        ("burn_in", "burn_in must be larger", "--burn-in must be larger"),
        ("rng", "rng: odd", "--seed: odd"),
        ("x", "x is odd", "x is odd"),
        ("scale", "column 'scale' of x is odd", "column 'scale' of x is odd"),
        ("points", "points: equal (scale)", "--points: equal (scale)"),
    ],
)
def test_arguments_become_options(kind, argument, message, text):
    assert in_options(kind(message, argument=argument)) == text


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("nan_policy", "omit"), "--nan-policy omit"),
        (Setting("paired", True), "--paired"),
        (Setting("evidence", False), "--no-evidence"),
        (Setting("rng", 3), "--seed 3"),
        (Setting("model", "my own"), "--model 'my own'"),
        (Setting("variant", "conditional"), "variant='conditional'"),
    ],
)
def test_settings_become_options(setting, text):
    assert in_options(InputError("odd", remedy=("pass ", setting, "."))) == f"odd; pass {text}."


@pytest.mark.parametrize(
    "message",
    [
        "points: too few; use model='adaptive'",
        "points are few: add some",
        "there is no file 'points: a'",
    ],
)
def test_messages_without_fields_are_left_alone(message):
    assert in_options(InputError(message)) == message


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (InputError("x has 1 row", argument="x"), True),
        (InputTypeError("column 'a' of y holds text", argument="y"), True),
        (InputError("x and y: equal", argument="x and y"), True),
        (InputError("x and y: equal"), False),
        (InputError("points: x is no number", argument="points"), False),
        (InputError("y is not blamed"), False),
    ],
)
def test_refusals_name_the_samples_to_blame(error, named):
    with pytest.raises(ClickException) as refused, refusals(("a.csv", "b.csv")):
        raise error
    assert refused.value.message.endswith(" (x is 'a.csv', y is 'b.csv')") == named


def test_notes_are_printed_once_in_options_even_before_a_refusal(capsys):
    with pytest.raises(InputError), notes():
        for _ in range(2):
            warnings.warn(ConvergenceWarning("stuck", remedy=("try ", Setting("evidence", True))), stacklevel=1)
            warnings.warn("\x1b[31mother", stacklevel=1)
            warnings.warn("unseen", DeprecationWarning, stacklevel=1)
        raise InputError("odd")
    assert capsys.readouterr().err == "note: stuck; try --evidence\nnote: \\x1b[31mother\n"
