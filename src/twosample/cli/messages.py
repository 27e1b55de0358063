"""Errors, warnings and names in the words of the command line: arguments become options, names are quoted."""

from __future__ import annotations

import csv
import io
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from twosample.common.words import printable
from twosample.data.files.dialect import quoted
from twosample.data.from_files import who_is_who
from twosample.errors import InputError, InputTypeError, Setting, TwoSampleWarning

__all__ = ["in_options", "notes", "option_of", "printable", "quoted", "refusals", "say_error"]

_SAMPLES = ("x", "y", "x and y", "by", "columns", "drop", "groups", "categories", "paired")
# Arguments of the library that are options here.
_OPTIONS = {
    "rng": "--seed",
    "rule": "--fail-if",
    "path": "--reference",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "model paired kernel parameters lengthscale points subsets prior_odds scale nan_policy permutations rope "
            "tolerance steps burn_in thinning hmc_steps adapt_steps chains evidence early_stop fdr "
            "by groups columns drop categories reference keep_rows alpha window forget "
            "law simulations sizes ratio threshold draws missing decimal thousands encoding comment header delimiter "
            "unpacked_limit port"
        ).split()
    },
}


def say_error(message: str) -> None:
    """Say what went wrong, in one line that cannot steer the terminal whatever names it holds."""
    click.echo(f"twosample: error: {printable(' '.join(message.split()))}", err=True)


def in_options(explained: InputError | InputTypeError | TwoSampleWarning) -> str:
    """An error or warning of the library with the options of the command in place of its arguments."""
    text, argument = explained.render(_setting), explained.argument
    if argument in _OPTIONS and text.startswith(argument):
        return option_of(argument) + text.removeprefix(argument)
    context = click.get_current_context(silent=True)
    # The samples are options where a command has one for either.
    if (
        context is not None
        and argument in ("x", "y")
        and argument in context.params
        and text.startswith(f"{argument}:")
    ):
        return f"--{text}"
    return text


def option_of(argument: str) -> str:
    """The option that stands for an argument of the library."""
    context = click.get_current_context(silent=True)
    if argument == "paired" and context is not None and context.params.get("pair_by") is not None:
        return "--pair-by"
    return _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


def _setting(setting: Setting) -> str:
    if setting.name not in _OPTIONS:
        return str(setting)
    name = "--pair-by" if setting.name == "paired" and isinstance(setting.value, str) else _OPTIONS[setting.name]
    if isinstance(setting.value, bool):
        return name if setting.value else name.replace("--", "--no-", 1)
    value = [setting.value] if setting.name == "missing" else setting.value
    if isinstance(value, list | tuple):  # with commas between, and quotes around a comma within
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        value = line.getvalue()
    return f"{name} {shlex.quote(str(value))}"


@contextmanager
def refusals(names: tuple[str, ...]) -> Iterator[None]:
    """Turn errors of the library into those of the command; where x or y is to blame, say which sample that is."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        who = f" ({who_is_who(names)})" if names and error.argument in _SAMPLES else ""
        raise click.ClickException(in_options(error) + who) from None


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings as notes on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        try:
            yield
        finally:
            messages = [warning.message for warning in caught]
            texts = [in_options(one) if isinstance(one, TwoSampleWarning) else str(one) for one in messages]
            for text in dict.fromkeys(texts):
                click.echo(f"note: {printable(text)}", err=True)
