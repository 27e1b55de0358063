"""Every option of the command line, declared once, and the factory that makes a command of some of them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import fields
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from twosample.cli.inputs import Source
from twosample.cli.output import GIVEN, Outputs
from twosample.data.files.dialect import Reading

__all__ = ["OPTIONS", "command"]

_MOST_PERMUTATIONS = 1_000_000
_PATH = click.Path(path_type=Path)


_Callback = Callable[[click.Context, click.Parameter, Any], Any]


def _parsed(parse: Callable[[str], Any], otherwise: str) -> _Callback:
    """What makes something else of the text of an option; where that raises ValueError, it says what the text is."""

    def callback(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is {otherwise}.") from None

    return callback


_WHOLE_NUMBERS = _parsed(
    lambda value: tuple(map(int, value.split(","))), "not a list of whole numbers separated by commas"
)


def _between_commas(value: str) -> list[str]:
    """Quotes protect a comma within a name, as in CSV."""
    return next(csv.reader([value], skipinitialspace=True), [])


def _names(value: str) -> tuple[str, ...]:
    names = tuple(_between_commas(value))
    if not names or not all(names):
        raise ValueError
    return names


def _tokens(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Tokens of all the times that the option was given, each a list between commas."""
    return tuple(token for value in values for token in _between_commas(value))


def _kernels(context: click.Context, parameter: click.Parameter, value: str) -> str | list[str]:
    names = [name.strip() for name in value.split(",")]
    return names[0] if len(names) == 1 else names


def _one_file(context: click.Context, parameter: click.Parameter, value: Path) -> tuple[Path]:
    return (value,)


_Declared = Callable[..., Callable[[Any], Any]]


def _option(*flags: str, help: str, **about: Any) -> _Declared:
    """An option that a command may take with other words or another default."""
    return partial(click.option, *flags, help=help, **about)


def _default(*flags: str, default: Any, help: str, **about: Any) -> _Declared:
    """An option whose default is shown."""
    return _option(*flags, help=help, default=default, show_default=True, **about)


def _columns(flag: str, help: str, metavar: str = "NAMES", **about: Any) -> _Declared:
    return _option(
        flag, help=help, metavar=metavar, callback=_parsed(_names, "not a list of names separated by commas"), **about
    )


def _file(flag: str, help: str, **about: Any) -> _Declared:
    return _option(flag, help=help, **{"metavar": "OUT", "type": _PATH, **about})


def _count(flag: str, default: int, help: str) -> _Declared:
    """An option for a whole number, which the library checks."""
    return _default(flag, default=default, help=help)


def _choice(flag: str, choices: list[str], help: str, **about: Any) -> _Declared:
    return _default(flag, default=choices[0], type=click.Choice(choices), help=help, **about)


def _permutations(flag: str, help: str) -> _Declared:
    return _default(flag, default=0, type=click.IntRange(0, _MOST_PERMUTATIONS), help=help)


OPTIONS: dict[str, _Declared] = {
    # What is read
    "files": partial(click.argument, "files", nargs=-1, metavar="A [B]", type=_PATH),
    "file": partial(click.argument, "files", nargs=1, metavar="A", type=_PATH, callback=_one_file),
    "by": _option("--by", metavar="COLUMN", help="Split the one file A by the values of this column."),
    "groups": _columns("--groups", "The two values of the --by column to compare.", "U,V"),
    "columns": _columns("--columns", "Columns to compare, with commas [all that can be]."),
    "drop": _columns("--drop", "Columns to leave out, with commas."),
    "categories": _columns("--categories", "Columns of numbers that are categories, with commas."),
    "paired": _option("--paired", is_flag=True, help="Row i of the first sample belongs with row i of the second."),
    "pair_by": _option(
        "--pair-by", metavar="COLUMN", help="Rows with the same value in this column are pairs, in whatever order."
    ),
    "nan_policy": _choice("--nan-policy", ["raise", "omit"], "Refuse missing values, or leave out their rows."),
    "x": _columns("--x", "Columns of one side, with commas.", required=True),
    "y": _columns("--y", "Columns of the other side, with commas.", required=True),
    "reference": _option(
        "--reference",
        metavar="VALUE",
        help="With --by: compare every other group with this one [more than two groups: all at once].",
    ),
    "known": _option(
        "--reference",
        "known",
        metavar="FILE",
        type=_PATH,
        help='Compare the one file A with this reference of "twosample reference".',
    ),
    "law": _option("--law", metavar="LAW", required=True, help='The distribution, such as "norm(0, 1)".'),
    "follow": _file("--follow", "Follow this text file as it grows, and wait for more.", metavar="B"),
    "stream": _option(
        "--stream/--no-stream",
        default=None,
        help="Read Parquet files block by block, or whole [by block where they are large beside the free memory].",
    ),
    # How files are read
    "missing": _option(
        "--missing",
        metavar="TOKENS",
        multiple=True,
        callback=_tokens,
        help="More texts that stand for a missing value, with commas; may be repeated [NA, NaN, null, empty, ...].",
    ),
    "decimal": _option("--decimal", metavar="SIGN", help="The decimal sign: . or , [auto-detected]."),
    "thousands": _option("--thousands", metavar="SIGN", help="The sign between thousands, as in 1,234.5 [none]."),
    "encoding": _option(
        "--encoding", metavar="NAME", help="The encoding of text [UTF-8, UTF-16 or cp1252, auto-detected]."
    ),
    "comment": _option("--comment", metavar="SIGN", help="Skip lines that begin with this, such as '#'."),
    "header": _option(
        "--header/--no-header", default=None, help="The first line holds names, or data [auto-detected]."
    ),
    "delimiter": _option(
        "--delimiter",
        metavar="SIGN",
        help="Field delimiter; also tab, and space for any blanks [auto-detected].",
    ),
    "unpacked_limit": _option(
        "--unpacked-limit",
        type=float,
        metavar="MB",
        help="To how many megabytes a compressed file may unpack [the free memory].",
    ),
    # The test
    "model": _choice("--model", ["adaptive", "paper", "published"], "Prior and noise model."),
    "kernel": _option(
        "--kernel",
        metavar="NAMES",
        default="rbf",
        show_default=True,
        callback=_kernels,
        help="rbf, laplace, matern12, matern32, matern52 or rational_quadratic, or sums and products such as "
        "'rbf + laplace'; of several, with commas, the Bayes factors are averaged. Or kmer for strings, one a line of "
        "A and B, or one a record of .fasta or .fa files.",
    ),
    "parameters": _option(
        "--parameters",
        metavar="K,K",
        callback=_WHOLE_NUMBERS,
        help="With --kernel kmer: lengths of the runs of letters, which are averaged over [1,2,3,4].",
    ),
    "lengthscale": _option(
        "--lengthscale",
        metavar="NUMBER|median",
        callback=_parsed(lambda value: value if value == "median" else float(value), "neither a number nor 'median'"),
        help="Fix the lengthscale [inferred].",
    ),
    "points": _count("--points", 40, "Number of evaluation points."),
    "subsets": _choice(
        "--subsets",
        ["auto", "all", "none"],
        "Which columns may differ: all together, each alone and each pair (auto); all subsets of up to 10 columns "
        "(all); all together as scaled, and nothing else (none).",
        callback=lambda context, parameter, value: None if value == "none" else value,
    ),
    "tolerance": _default(
        "--tolerance",
        default=1e-3,
        metavar="ERROR",
        help="Maximum error of log BF10, relative where that is more than 1.",
    ),
    "permutations": _permutations("--permutations", "Number of permutations for a p-value and an e-value."),
    "simulations": _permutations("--simulations", "Number of data sets to simulate for a p-value and an e-value."),
    "rope": _option(
        "--rope",
        type=float,
        metavar="AUC",
        help="Also print P(AUC > this), that there is a difference that matters; between 0.5 and 1, such as 0.55.",
    ),
    "prior_odds": _default(
        "--prior-odds",
        default=1.0,
        metavar="ODDS",
        help='Prior odds of "different" against "the same".',
    ),
    "scale": _choice(
        "--scale",
        ["auto", "robust", "raw"],
        "Whether columns are divided by their spread; auto does what the model says.",
    ),
    "seed": _default("--seed", type=click.IntRange(min=0), default=0, help="Seed of everything random."),
    "fdr": _default(
        "--fdr",
        default=0.05,
        metavar="SHARE",
        help="False discovery rate: the expected share of columns that are the same among those found to differ.",
    ),
    "sort": _choice("--sort", ["evidence", "size"], "Order of the columns: most evidence first, or largest AUC."),
    "fail_if": _default("--fail-if", default="prob_h1 > 0.95", metavar="RULE", help="The rule to fail by."),
    "sizes": _option(
        "--sizes",
        metavar="N,N",
        callback=_WHOLE_NUMBERS,
        help="Numbers of rows of the first sample, or of pairs, with commas [20 to 2,000].",
    ),
    "ratio": _default(
        "--ratio", default=1.0, metavar="NUMBER", help="Rows of the second sample for each of the first."
    ),
    "threshold": _default(
        "--threshold", default=10.0, metavar="BF", help='The Bayes factor that counts as found; its inverse as "same".'
    ),
    "draws": _count("--draws", 300, "Number of samples of each size."),
    # Chains
    "steps": _count("--steps", 2000, "Gibbs steps of each chain, the burn-in included; at most."),
    "burn_in": _count("--burn-in", 500, "How many of the first steps are dropped."),
    "thinning": _count("--thinning", 2, "One in how many of the others is kept."),
    "hmc_steps": _count("--hmc-steps", 9, "No-U-Turn transitions in a Gibbs step."),
    "adapt_steps": _count("--adapt-steps", 3, "How many of them tune the step size, during the burn-in."),
    "chains": _count("--chains", 4, "Number of chains."),
    "evidence": _option(
        "--evidence/--no-evidence",
        default=None,
        help="Also estimate log BF10 in a way that works if the hypothesis never changes [for kernel ard].",
    ),
    "early_stop": _option(
        "--early-stop/--no-early-stop",
        default=True,
        show_default=True,
        help="Stop once the chains have converged, or run all steps.",
    ),
    # Streams
    "batch": _count("--batch", 100, "Rows of B in a batch."),
    "alpha": _default("--alpha", default=0.05, metavar="SHARE", help="The alarm is at an e-value of 1/alpha."),
    "exit_on_alarm": _option("--exit-on-alarm", is_flag=True, help="Stop at the first alarm, with exit status 1."),
    "window": _option("--window", type=int, metavar="BATCHES", help="Take the e-value over the last batches only."),
    "forget": _option(
        "--forget", type=float, metavar="SHARE", help="Forget this share of what was learnt with every batch."
    ),
    # What is written
    "json": _file("--json", "Write the whole result to this file; - prints it instead."),
    "csv": _file("--csv", "Write the table of all columns to this file; - prints it instead."),
    "keep_rows": _option(
        "--keep-rows",
        is_flag=True,
        help="Let --json, --plot and --report have some rows of the data, not only counts and densities.",
    ),
    "plot": _file("--plot", "Write a picture: .png, .pdf or .svg."),
    "trace": _file("--trace", "Write a picture of the chains: .png, .pdf or .svg."),
    "report": _file("--report", "Write a page to send round or print, which needs nothing else: .html."),
    "junit": _file("--junit", "Write the outcome as JUnit XML, with a case for each column."),
    "out": _file("--out", "Write the reference to this file.", required=True),
    "state": _file(
        "--state",
        "Keep the state in this file after every batch, and go on from it where it is there.",
        metavar="FILE",
    ),
    "next_file": _option(
        "--next-file", is_flag=True, help="Read a file that the state has not read, from its first row."
    ),
    "top": _default("--top", type=click.IntRange(min=0), default=10, metavar="N", help="How many columns to show."),
    "quiet": _option("-q", "--quiet", is_flag=True, help="Print one line: P(different | data) and log BF10."),
}

# Options that name files to read, beside the arguments.
_READ = ("known", "follow")
_Function = Callable[..., int | None]


class _Command(click.Command):
    """A command that knows what it was called with."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse them, and keep them for pages."""
        ctx.meta[GIVEN] = (str(ctx.info_name), *args)
        return super().parse_args(ctx, args)


def command(takes: str, epilog: str, **changed: dict[str, Any]) -> Callable[[_Function], click.Command]:
    """Make a command of a function.

    It takes the options of these names in `OPTIONS`, in the order of the help, with what is `changed` in their
    declarations; those of how files are read follow. The function gets what says where the samples are as one `source`,
    the files to write as `outputs`, which are checked before it is called, and every other option by its own name. The
    help ends with the `epilog`: examples.
    """
    reading = [field.name for field in fields(Reading)]
    order = [*takes.split(), *(name for name in OPTIONS if name in reading)]

    def made(function: _Function) -> click.Command:
        @wraps(function)
        def run(**options: Any) -> int | None:
            how = Reading(**{name: options.pop(name) for name in reading})
            where = {field.name: options.pop(field.name, None) for field in fields(Source) if field.name != "reading"}
            written = {field.name: options.pop(field.name, None) for field in fields(Outputs)}
            if where["pair_by"] is not None:
                options["paired"] = where["pair_by"]
            source, outputs = Source(**where, reading=how), Outputs(**{**written, "quiet": bool(written["quiet"])})
            outputs.check((*source.files, *(options[name] for name in _READ if options.get(name) is not None)))
            return function(source=source, outputs=outputs, **options)

        for name in reversed(order):
            run = OPTIONS[name](**changed.get(name, {}))(run)
        return click.command(cls=_Command, epilog=epilog)(run)

    return made
