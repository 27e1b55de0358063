"""Options and arguments that the commands share, and how their values are read."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import fields
from functools import reduce, wraps
from pathlib import Path
from typing import Any, cast

import click

from twosample.cli.inputs import Source
from twosample.data.files.dialect import Reading

__all__ = [
    "categories_option",
    "choice_options",
    "count_option",
    "json_option",
    "keep_rows_option",
    "kernel_options",
    "lengthscale_option",
    "model_option",
    "names_option",
    "nan_policy_option",
    "one_sample_options",
    "path_option",
    "permutations_option",
    "points_option",
    "prior_odds_option",
    "question_options",
    "quiet_option",
    "reading_options",
    "reference_option",
    "report_option",
    "rope_option",
    "sample_options",
    "seed_option",
    "stream_option",
    "subsets_option",
    "tolerance_option",
]

Decorator = Callable[[Any], Any]

_MOST_PERMUTATIONS = 1_000_000


def _lengthscale(context: click.Context, parameter: click.Parameter, value: str | None) -> float | str | None:
    if value is None or value == "median":
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor 'median'.") from None


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Names between commas; quotes protect a comma within a name, as in CSV."""
    if value is None:
        return None
    names = tuple(next(csv.reader([value], skipinitialspace=True), ()))
    if not names or not all(names):
        raise click.BadParameter(f"{value!r} is not a list of names separated by commas.")
    return names


def _tokens(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Tokens of all the times that the option was given, each a list between commas."""
    return tuple(token for value in values for token in next(csv.reader([value], skipinitialspace=True), ()))


def _parameters(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Whole numbers between commas."""
    if value is None:
        return None
    try:
        return tuple(int(one) for one in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of whole numbers separated by commas.") from None


def _together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of the help text."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def path_option(*names: str, help: str) -> Decorator:
    """An option for a file to write."""
    return click.option(*names, metavar="OUT", type=click.Path(path_type=Path), help=help)


def model_option(default: str) -> Decorator:
    """The option for the model."""
    return click.option(
        "--model",
        type=click.Choice(["adaptive", "paper", "published"]),
        default=default,
        show_default=True,
        help="What is assumed.",
    )


def _kernels(context: click.Context, parameter: click.Parameter, value: str) -> str | list[str]:
    names = [name.strip() for name in value.split(",")]
    return names[0] if len(names) == 1 else names


def seed_option(help: str) -> Decorator:
    """The option for the seed."""
    return click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help=help)


def count_option(name: str, default: int, help: str) -> Decorator:
    """An option for a whole number, which the library checks."""
    return click.option(name, type=int, default=default, show_default=True, help=help)


def permutations_option(lowest: int, default: int, help: str, name: str = "--permutations") -> Decorator:
    """The option for the number of permutations, or of what takes their place."""
    kind = click.IntRange(lowest, _MOST_PERMUTATIONS)
    return click.option(name, type=kind, default=default, show_default=True, help=help)


def nan_policy_option(help: str) -> Decorator:
    """The option for missing values."""
    kind = click.Choice(["raise", "omit"])
    return click.option("--nan-policy", type=kind, default="raise", show_default=True, help=help)


def names_option(name: str, help: str) -> Decorator:
    """An option for names of columns, which must be there."""
    return click.option(name, metavar="NAMES", callback=_names, required=True, help=help)


def prior_odds_option(help: str = 'Prior odds of "different" against "the same".') -> Decorator:
    """The option for the prior odds."""
    return click.option("--prior-odds", type=float, default=1.0, show_default=True, metavar="ODDS", help=help)


choice_options = _together(
    click.option(
        "--columns", metavar="NAMES", callback=_names, help="Columns to compare, with commas [all that can be]."
    ),
    click.option("--drop", metavar="NAMES", callback=_names, help="Columns to leave out, with commas."),
)
categories_option = click.option(
    "--categories", metavar="NAMES", callback=_names, help="Columns of numbers that are categories, with commas."
)
sample_options = _together(
    click.argument("files", nargs=-1, metavar="A [B]", type=click.Path(path_type=Path)),
    click.option("--by", metavar="COLUMN", help="Split the one file A by the values of this column."),
    click.option("--groups", metavar="U,V", callback=_names, help="The two values of the --by column to compare."),
    choice_options,
    click.option("--paired", is_flag=True, help="Row i of the first sample belongs with row i of the second."),
)
one_sample_options = _together(
    click.argument("files", nargs=1, metavar="A", type=click.Path(path_type=Path), callback=lambda c, p, v: (v,)),
    choice_options,
)
reference_option = click.option(
    "--reference",
    metavar="VALUE",
    help="With --by: compare every other group with this one [more than two groups: all at once].",
)
question_options = _together(
    prior_odds_option(),
    click.option(
        "--scale",
        type=click.Choice(["auto", "robust", "raw"]),
        default="auto",
        show_default=True,
        help="Whether columns are divided by their spread; auto does what the model says.",
    ),
    nan_policy_option("Refuse missing values, or leave out their rows."),
)
lengthscale_option = click.option(
    "--lengthscale", metavar="NUMBER|median", callback=_lengthscale, help="Fix the lengthscale [inferred]."
)
tolerance_option = click.option(
    "--tolerance",
    type=float,
    default=1e-3,
    show_default=True,
    metavar="ERROR",
    help="Wanted error of log BF10, relative where that is more than 1.",
)
subsets_option = click.option(
    "--subsets",
    type=click.Choice(["auto", "all", "none"]),
    default="auto",
    show_default=True,
    callback=lambda context, parameter, value: None if value == "none" else value,
    help="Which columns may differ: all together, each alone and each pair (auto); all subsets of up to 10 columns "
    "(all); all together as scaled, and nothing else (none).",
)
rope_option = click.option(
    "--rope",
    type=float,
    metavar="AUC",
    help="Also print P(AUC > this), that there is a difference that matters; between 0.5 and 1, such as 0.55.",
)
kernel_options = _together(
    click.option(
        "--kernel",
        metavar="NAMES",
        default="rbf",
        show_default=True,
        callback=_kernels,
        help="rbf, laplace, matern12, matern32, matern52 or rational_quadratic, or sums and products such as "
        "'rbf + laplace'; of several, with commas, the Bayes factors are averaged. Or kmer for strings, one a line of "
        "A and B, or one a record of .fasta or .fa files.",
    ),
    click.option(
        "--parameters",
        metavar="K,K",
        callback=_parameters,
        help="With --kernel kmer: lengths of the runs of letters, which are averaged over [1,2,3,4].",
    ),
)
points_option = count_option("--points", 40, "Number of evaluation points.")
json_option = path_option("--json", "json_path", help="Write the whole result to this file; - prints it instead.")
report_option = path_option(
    "--report", "report_path", help="Write a page to send round or print, which needs nothing else: .html."
)
keep_rows_option = click.option(
    "--keep-rows",
    is_flag=True,
    help="Let --json, --plot and --report have some rows of the data, not only counts and densities.",
)
stream_option = click.option(
    "--stream/--no-stream",
    default=None,
    help="Read Parquet files block by block, or whole [by block beyond 4 million values, where that can be].",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print one line: P(different | data) and log BF10.")

_READING = (
    click.option(
        "--missing",
        metavar="TOKENS",
        multiple=True,
        callback=_tokens,
        help="More texts that stand for a missing value, with commas; may be repeated [NA, NaN, null, empty, ...].",
    ),
    click.option("--decimal", metavar="SIGN", help="The decimal sign: . or , [found out]."),
    click.option("--thousands", metavar="SIGN", help="The sign between thousands, as in 1,234.5 [none]."),
    click.option("--encoding", metavar="NAME", help="The encoding of text [UTF-8, UTF-16 or cp1252, found out]."),
    click.option("--comment", metavar="SIGN", help="Skip lines that begin with this, such as '#'."),
    click.option("--header/--no-header", default=None, help="The first line holds names, or data [found out]."),
    click.option(
        "--delimiter",
        metavar="SIGN",
        help="What stands between values; also tab, and space for any blanks [found out].",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for how files are read; the command gets them and those of `sample_options` as one `source`."""

    @wraps(command)
    def with_source(**options: Any) -> Any:
        reading = Reading(**{field.name: options.pop(field.name) for field in fields(Reading)})
        said = {field.name: options.pop(field.name, None) for field in fields(Source) if field.name != "reading"}
        return command(source=Source(**said, reading=reading), **options)

    return cast("Callable[..., Any]", _together(*_READING)(with_source))
