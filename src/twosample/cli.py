"""The command line: reads tables, runs the test, the sampler or the comparison, and prints the answer."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from twosample import __version__
from twosample.errors import InputError, InputTypeError, MissingExtraError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from twosample.gibbs_result import GibbsResult
    from twosample.result import TwoSampleResult

__all__ = ["main"]

_BAD_INPUT = 2
_INTERRUPTED = 130
_PLOT_KINDS = (".png", ".pdf", ".svg")
_MISSING = ["", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None"]
_SHOWN_VALUES = 8
_SNIFFED_BYTES = 1 << 20
# Permutation tests of more rows take longer than a command should.
_MOST_PERMUTED_ROWS = 5_000
_MOST_PERMUTATIONS = 1_000_000
# Arguments of the library that errors start with or name in brackets, and that are options here.
_ARGUMENTS = (
    "lengthscale points permutations prior_odds scale model steps burn_in thinning hmc_steps adapt_steps chains"
).split()


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command and exit: 0 with the answer on stdout, 2 with one line on stderr, 130 when interrupted.

    Where the reader of stdout has left (``| head``) click ends the process quietly, with status 1.
    """
    try:
        status = cli.main(args, prog_name="twosample", standalone_mode=False) or 0
    except (InputError, InputTypeError, MissingExtraError) as error:
        status = _fail(_in_options(str(error)))
    except click.ClickException as error:
        status = _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        status = _INTERRUPTED
    except OSError as error:
        status = _fail(f"{error.strerror or error}{f': {_quoted(error.filename)}' if error.filename else ''}")
    except MemoryError:
        status = _fail("not enough memory for these data")
    sys.exit(status)


def _fail(message: str) -> int:
    """Say what went wrong, in one line that cannot steer the terminal whatever names it holds."""
    click.echo(f"twosample: error: {_printable(' '.join(message.split()))}", err=True)
    return _BAD_INPUT


def _printable(text: str) -> str:
    from twosample.plots import printable

    return printable(text)


def _quoted(name: object) -> str:
    """A name of a file or column, as data: quoted, with everything unprintable escaped."""
    return repr(os.fspath(name) if isinstance(name, os.PathLike) else str(name))


def _in_options(message: str) -> str:
    """An error of the library with the options of the command in place of its arguments."""
    message = re.sub(r"\bpass (\w+)=[\"']?([\w.]+)[\"']?", r"pass \1=\2", message)
    message = message.replace("paired=True", "--paired").replace("nan_policy=omit", "--nan-policy omit")
    message = message.replace("evidence=True", "--evidence")
    message = re.sub(r"\bmodel='(\w+)'", r"--model \1", message)
    message = re.sub(r"^rng:", "--seed:", message)
    named = "|".join(_ARGUMENTS)
    return re.sub(rf"^({named})\b|(?<=\()({named})(?=\))", lambda m: f"--{m[0].replace('_', '-')}", message)


_EPILOG = """\b
Examples:
  twosample demo
  twosample test before.csv after.csv
  twosample test trial.csv --by arm --columns dose,weight --plot trial.png
  twosample test trial.parquet --by arm --groups placebo,high --json trial.json
  twosample gibbs before.csv after.csv --kernel ard --plot columns.png
  twosample compare before.csv after.csv

Files are CSV, TSV or text with ',', tab or ';' between values, or Parquet. Rows are observations and columns are
variables; a first line of numbers is data, not names.
"""


@click.group(
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell whether two samples come from the same distribution, with what probability, and where they differ."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command(epilog="\b\nExample:\n  twosample demo --out pictures")
@click.option(
    "--out",
    default=".",
    show_default=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the two pictures.",
)
def demo(out: Path) -> None:
    """Run two built-in examples; no files are needed."""
    import polars as pl

    from twosample import simulate

    out.mkdir(parents=True, exist_ok=True)
    examples = (
        ("gaussian", "Equal means, different spreads", simulate.gaussian(200, 0, sd=3.0)),
        ("rings", "Shapes of six-membered rings (invented numbers)", simulate.rings_like(500, 0)),
    )
    hint = ""
    for name, title, pair in examples:
        x, y = (pl.DataFrame(rows, schema=list(pair.columns)) for rows in (pair.x, pair.y))
        result = _run(x, y)
        click.echo(f"{title}: {pair.names[0]} (x) against {pair.names[1]} (y)")
        click.echo(result.summary())
        picture = out / f"twosample-demo-{name}.png"
        try:
            _save_plot(picture, partial(result.plot, names=pair.names))
            click.echo(f"  picture              {_printable(str(picture))}")
        except MissingExtraError as error:
            hint = f"note: no pictures: {error}"
        click.echo()
    if hint:
        click.echo(hint, err=True)
    click.echo("next:")
    click.echo("  twosample test A.csv B.csv --plot answer.png     two files, one sample each")
    click.echo("  twosample test ALL.csv --by COLUMN               one file, COLUMN says which sample a row is in")
    click.echo("  twosample test --help                            everything else")


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


# Options that commands share.


def _together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, in the order of the help text."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def _path_option(*names: str, help: str) -> Callable[[Any], Any]:
    return click.option(*names, metavar="OUT", type=click.Path(path_type=Path), help=help)


def _model_option(default: str) -> Callable[[Any], Any]:
    return click.option(
        "--model",
        type=click.Choice(["adaptive", "paper", "published"]),
        default=default,
        show_default=True,
        help="What is assumed.",
    )


def _seed_option(help: str) -> Callable[[Any], Any]:
    return click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help=help)


def _count_option(name: str, default: int, help: str) -> Callable[[Any], Any]:
    return click.option(name, type=int, default=default, show_default=True, help=help)


def _permutations_option(lowest: int, default: int, help: str) -> Callable[[Any], Any]:
    kind = click.IntRange(lowest, _MOST_PERMUTATIONS)
    return click.option("--permutations", type=kind, default=default, show_default=True, help=help)


_sample_options = _together(
    click.argument("files", nargs=-1, metavar="A [B]", type=click.Path(path_type=Path)),
    click.option("--by", metavar="COLUMN", help="Split the one file A by the two values of this column."),
    click.option("--groups", metavar="U,V", callback=_names, help="The two values of the --by column to compare."),
    click.option(
        "--columns", metavar="NAMES", callback=_names, help="Columns to compare, with commas [all that hold numbers]."
    ),
    click.option("--paired", is_flag=True, help="Row i of the first sample belongs with row i of the second."),
)
_question_options = _together(
    click.option(
        "--prior-odds",
        type=float,
        default=1.0,
        show_default=True,
        metavar="ODDS",
        help='Prior odds of "different" against "the same".',
    ),
    click.option(
        "--scale",
        type=click.Choice(["auto", "robust", "raw"]),
        default="auto",
        show_default=True,
        help="Whether columns are divided by their spread; auto does what the model says.",
    ),
    click.option(
        "--nan-policy",
        type=click.Choice(["raise", "omit"]),
        default="raise",
        show_default=True,
        help="Refuse missing values, or leave out their rows.",
    ),
)
_points_option = _count_option("--points", 40, "Number of evaluation points.")
_json_option = _path_option("--json", "json_path", help="Write the whole result to this file.")
_quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print one line: P(different | data) and log BF10.")


# Commands on files.

_TEST_EPILOG = """\b
Examples:
  twosample test before.csv after.csv                two files, one sample each
  twosample test trial.csv --by arm                  one file; column "arm" holds two values
  twosample test trial.csv --by arm --groups a,c     one file, two of its groups
  twosample test a.csv b.csv --columns dose,weight   only these columns
  twosample test a.csv b.csv --plot answer.pdf --json answer.json
"""


@cli.command(epilog=_TEST_EPILOG)
@_sample_options
@_model_option("adaptive")
@click.option("--lengthscale", metavar="NUMBER|median", callback=_lengthscale, help="Fix the lengthscale [inferred].")
@_points_option
@_permutations_option(0, 0, "Number of permutations for a p-value.")
@_question_options
@_seed_option("Seed of random pairs and permutations, where they are needed.")
@_json_option
@_path_option("--plot", "plot_path", help="Write a picture: .png, .pdf or .svg.")
@_quiet_option
def test(
    files: tuple[Path, ...],
    by: str | None,
    groups: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    json_path: Path | None,
    plot_path: Path | None,
    quiet: bool,
    seed: int,
    **options: Any,
) -> None:
    """Test two samples: the files A and B, or the file A split by a column."""  # fmt: skip
    _check_outputs(json_path, {"--plot": plot_path})
    pair = _read_pair(files, by, groups)
    x, y = _numeric(pair, columns)
    with _naming(pair):
        result = _run(x, y, rng=seed, **options)
    _show(result, pair, json_path, quiet)
    if plot_path is not None:
        _save_plot(plot_path, partial(result.plot, names=pair.names))


_GIBBS_EPILOG = """\b
Examples:
  twosample gibbs before.csv after.csv --trace chains.png
  twosample gibbs trial.csv --by arm --kernel ard --model adaptive --plot columns.png
  twosample gibbs a.csv b.csv --columns dose --chains 2 --steps 4000 --evidence

It needs the extra "mcmc": pip install 'twosample[mcmc]'
"""


@cli.command(epilog=_GIBBS_EPILOG)
@_sample_options
@_model_option("paper")
@click.option(
    "--kernel",
    type=click.Choice(["rbf", "ard"]),
    default="rbf",
    show_default=True,
    help="One lengthscale, or one for each column.",
)
@_points_option
@_question_options
@_count_option("--steps", 2000, "Gibbs steps of each chain, the burn-in included.")
@_count_option("--burn-in", 500, "How many of the first steps are dropped.")
@_count_option("--thinning", 2, "One in how many of the others is kept.")
@_count_option("--hmc-steps", 9, "No-U-Turn transitions in a Gibbs step.")
@_count_option("--adapt-steps", 3, "How many of them tune the step size, during the burn-in.")
@_count_option("--chains", 4, "Number of chains.")
@click.option(
    "--evidence/--no-evidence",
    default=None,
    help="Also estimate log BF10 in a way that works if the hypothesis never changes [for kernel ard].",
)
@_seed_option("Seed of everything random.")
@_json_option
@_path_option("--plot", "plot_path", help="Write a picture of the lengthscales: .png, .pdf or .svg.")
@_path_option("--trace", "trace_path", help="Write a picture of the chains: .png, .pdf or .svg.")
@_quiet_option
def gibbs(
    files: tuple[Path, ...],
    by: str | None,
    groups: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    json_path: Path | None,
    plot_path: Path | None,
    trace_path: Path | None,
    quiet: bool,
    seed: int,
    **options: Any,
) -> None:
    """Sample the hypothesis and the lengthscales, as the paper does.

    For one lengthscale "twosample test" gives the same answer without sampling, in a small part of the time. Sampling
    is for one lengthscale a column (--kernel ard), which tells the columns that matter, and for the chains themselves.
    """
    from twosample.api import gibbs as run_gibbs

    _check_outputs(json_path, {"--plot": plot_path, "--trace": trace_path})
    pair = _read_pair(files, by, groups)
    x, y = _numeric(pair, columns)
    with _naming(pair), _notes():
        result = run_gibbs(x, y, rng=seed, progress=True, **options)
    _show(result, pair, json_path, quiet)
    for path, draw in ((plot_path, result.plot), (trace_path, result.plot_trace)):
        if path is not None:
            _save_plot(path, draw)


_COMPARE_EPILOG = """\b
Examples:
  twosample compare before.csv after.csv
  twosample compare trial.csv --by arm --columns dose
"""


@cli.command(epilog=_COMPARE_EPILOG)
@_sample_options
@_question_options
@_permutations_option(1, 1000, "Number of permutations behind p-values.")
@_seed_option("Seed of everything random.")
def compare(
    files: tuple[Path, ...],
    by: str | None,
    groups: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    paired: bool,
    prior_odds: float,
    scale: str,
    nan_policy: str,
    seed: int,
    permutations: int,
) -> None:
    """Put two samples to this test and to the tests it is compared with, side by side."""
    pair = _read_pair(files, by, groups)
    x, y = _numeric(pair, columns)
    data: dict[str, Any] = {"nan_policy": nan_policy}
    bayes: dict[str, Any] = {"prior_odds": prior_odds, **data}
    few = x.height + y.height <= _MOST_PERMUTED_ROWS
    with _naming(pair):
        ours = _run(x, y, paired=paired, scale=scale, permutations=permutations if few else 0, rng=seed, **bayes)

    from twosample import baselines

    kernel: dict[str, Any] = {"paired": paired, "scale": scale, "permutations": permutations, "rng": seed, **data}
    tree: dict[str, Any] = {"permutations": permutations if few else 0, "rng": seed, **bayes}
    estimator: Any = "quadratic" if few else "linear"
    no_pairs = "does not apply: it takes independent samples, not pairs"
    too_many = f"left out: slow for more than {_MOST_PERMUTED_ROWS:,} rows"
    tests: list[tuple[str, Callable[[], Any] | str]] = [
        ("Holmes et al.", no_pairs if paired else lambda: baselines.holmes(x, y, **bayes)),
        ("Chen & Hanson", no_pairs if paired else lambda: baselines.chen_hanson(x, y, **tree)),
        ("JZS t-test", lambda: baselines.jzs(x, y, paired=paired, **bayes)),
        (f"MMD{'' if few else ', linear time'}", lambda: baselines.mmd(x, y, estimator=estimator, **kernel)),
        ("MMD, aggregated", (lambda: baselines.mmd(x, y, aggregate=True, **kernel)) if few else too_many),
    ]
    rows = [("test", "log BF10", "P(H1)", "p-value", "verdict"), _row("twosample", ours)]
    rows += [_row(name, run if isinstance(run, str) else _attempt(run)) for name, run in tests]
    click.echo(f"{_who_is_who(pair)}.")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for *cells, words in rows:
        padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
        click.echo(_printable("  ".join([*padded, words])))


def _attempt(run: Callable[[], Any]) -> Any:
    """The result of a test, or why it refuses; what it warns about, ours has warned about already."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except InputError as error:
        return f"does not apply: {error}"


def _row(name: str, result: Any) -> tuple[str, str, str, str, str]:
    """One line of the comparison: a Bayes factor, a p-value, both, or why there is neither."""
    if isinstance(result, str):
        return name, "-", "-", "-", result
    from twosample.words import log_bf10_text, probability_in_words, pvalue_text

    log_bf10, pvalue = getattr(result, "log_bf10", None), getattr(result, "pvalue", None)
    return (
        name,
        "-" if log_bf10 is None else log_bf10_text(log_bf10),
        "-" if log_bf10 is None else probability_in_words(result.prob_h1),
        "-" if pvalue is None else pvalue_text(pvalue),
        result.verdict,
    )


# Running.


def _check_outputs(json_path: Path | None, pictures: dict[str, Path | None]) -> None:
    """Refuse, before the work, outputs that cannot be written after it."""
    for option, path in pictures.items():
        if path is not None and path.suffix.lower() not in _PLOT_KINDS:
            raise InputError(
                f"{option}: {_quoted(path)} must end in {', '.join(_PLOT_KINDS[:-1])} or {_PLOT_KINDS[-1]}"
            )
    for option, path in {"--json": json_path, **pictures}.items():
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(f"{option}: there is no folder {_quoted(path.absolute().parent)}")
    if any(path is not None for path in pictures.values()):
        _require_matplotlib()


def _run(x: object, y: object, **options: Any) -> TwoSampleResult:
    from twosample.api import test as run_test

    with _notes():
        return run_test(x, y, progress=True, **options)


def _who_is_who(pair: _Pair) -> str:
    return f"x is {_quoted(pair.names[0])}, y is {_quoted(pair.names[1])}"


@contextmanager
def _naming(pair: _Pair) -> Iterator[None]:
    """Say in errors about x or y which sample that is."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        if not re.search(r"\b[xy]\b", str(error)):
            raise
        raise type(error)(f"{error} ({_who_is_who(pair)})") from None


@contextmanager
def _notes() -> Iterator[None]:
    """Print warnings as notes on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"note: {_printable(_in_options(message))}", err=True)


def _require_matplotlib() -> None:
    from importlib.util import find_spec

    try:
        found = find_spec("matplotlib") is not None
    except ValueError:
        found = False
    if not found:
        raise MissingExtraError("plot", "matplotlib", "plot")


def _show(result: TwoSampleResult | GibbsResult, pair: _Pair, json_path: Path | None, quiet: bool) -> None:
    if quiet:
        click.echo(f"{result.prob_h1:.6g} {result.log_bf10:.6g}")
    else:
        click.echo(f"{_who_is_who(pair)}.")
        click.echo("\n".join(_printable(line) for line in result.summary().splitlines()))
    if json_path is not None:
        result.to_json(json_path)


def _save_plot(path: Path, draw: Callable[[], Figure]) -> None:
    with _notes():
        draw().savefig(path, dpi=150)


# Reading.


class _Pair(NamedTuple):
    """Two tables as read, and what to call them."""

    x: pl.DataFrame
    y: pl.DataFrame
    names: tuple[str, str]


def _read_pair(files: tuple[Path, ...], by: str | None, groups: tuple[str, ...] | None) -> _Pair:
    return _split(files, by, groups) if by is not None else _two_files(files, groups)


def _two_files(files: tuple[Path, ...], groups: tuple[str, ...] | None) -> _Pair:
    if groups is not None:
        raise InputError("--groups: needs --by COLUMN, whose values it names")
    if len(files) == 1:
        raise InputError("pass two files, or one file and --by COLUMN")
    if len(files) != 2:
        raise InputError(f"pass two files, not {len(files)}; or one file and --by COLUMN")
    x, y = (_read_table(path) for path in files)
    first, second = (str(path) if files[0].name == files[1].name else path.name for path in files)
    return _Pair(x, y, (first, second))


def _split(files: tuple[Path, ...], by: str, groups: tuple[str, ...] | None) -> _Pair:
    """One table into two by the values of a column; in the order of `groups`, else of the first row of each."""
    import polars as pl

    if len(files) != 1:
        raise InputError(f"--by: needs one file, not {len(files)}")
    if groups is not None and (len(groups) != 2 or groups[0] == groups[1]):
        raise InputError(f"--groups: needs two different values, such as U,V, not {', '.join(map(repr, groups))}")
    table = _read_table(files[0])
    _check_columns(table, (by,), files[0])
    label = table[by]
    if label.dtype.is_nested():
        raise InputError(f"--by: column {by!r} holds {label.dtype}, not single values")
    labels = label.cast(pl.String)
    present = labels.drop_nulls().unique(maintain_order=True).to_list()
    if groups is None:
        if len(present) != 2:
            shown = ", ".join(map(repr, present[:_SHOWN_VALUES])) + (", ..." if len(present) > _SHOWN_VALUES else "")
            values = "value" if len(present) == 1 else "different values"
            advice = f"; choose two with --groups {_joined(present[:2])}" if len(present) > 2 else ""
            raise InputError(f"--by: column {by!r} holds {len(present)} {values}, not 2: {shown or 'none'}{advice}")
        if labels.null_count():
            click.echo(f"note: Left out {labels.null_count()} rows without a value in column {by!r}.", err=True)
        groups = tuple(present)
    for group in groups:
        if group not in present:
            shown = ", ".join(map(repr, present[:_SHOWN_VALUES])) + (", ..." if len(present) > _SHOWN_VALUES else "")
            raise InputError(f"--groups: column {by!r} has no value {group!r}; it has {shown}")
    x, y = (table.filter(labels == group).drop(by) for group in groups)
    return _Pair(x, y, (groups[0], groups[1]))


def _joined(values: list[str]) -> str:
    """Values as --groups takes them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return shlex.quote(line.getvalue())


def _check_columns(table: pl.DataFrame, columns: tuple[str, ...], source: object) -> None:
    for column in columns:
        if column not in table.columns:
            present = ", ".join(map(repr, table.columns[:_SHOWN_VALUES]))
            more = ", ..." if len(table.columns) > _SHOWN_VALUES else ""
            raise InputError(f"{_quoted(source)} has no column {column!r}; it has {present}{more}")


def _numeric(pair: _Pair, columns: tuple[str, ...] | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns to compare: those asked for, else all that hold numbers in both tables."""
    if columns is not None:
        if len(set(columns)) < len(columns):
            raise InputError("--columns: names a column twice")
        for table, name in zip((pair.x, pair.y), pair.names, strict=True):
            _check_columns(table, columns, name)
        for table, name in zip((pair.x, pair.y), pair.names, strict=True):
            for column in columns:
                if not _holds_numbers(table[column]):
                    example = next((value for value in table[column].drop_nulls().to_list()), None)
                    raise InputError(
                        f"--columns: column {column!r} of {_quoted(name)} does not hold numbers (such as {example!r})"
                    )
        return _as_numbers(pair.x.select(columns)), _as_numbers(pair.y.select(columns))

    left_out = [
        column
        for column in pair.x.columns
        if column in pair.y.columns and not (_holds_numbers(pair.x[column]) and _holds_numbers(pair.y[column]))
    ]
    if left_out:
        click.echo(f"note: Left out columns that do not hold numbers: {', '.join(map(repr, left_out))}.", err=True)
    if "" in pair.x.columns and "" in pair.y.columns and "" not in left_out:
        click.echo("note: Left out a column without a name; it may number the rows.", err=True)
        left_out.append("")
    x, y = pair.x.drop(left_out), pair.y.drop(left_out)
    if left_out and not x.columns:
        raise InputError("no column holds numbers in both samples")
    for source, other, name, other_name in ((x, y, *pair.names), (y, x, *pair.names[::-1])):
        absent = [column for column in source.columns if column not in other.columns]
        if absent:
            raise InputError(
                f"{_quoted(name)} has columns that {_quoted(other_name)} lacks: {', '.join(map(repr, absent[:8]))}; "
                "name the columns to compare with --columns"
            )
    return _as_numbers(x), _as_numbers(y)


def _holds_numbers(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _as_numbers(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return table.cast(pl.Float64)


def _read_table(path: Path) -> pl.DataFrame:
    """Read a file of any supported kind; text columns are kept."""
    import polars as pl

    name = _quoted(path)
    if path.is_dir():
        raise InputError(f"{name} is a folder; pass a CSV, TSV or Parquet file")
    try:
        if not path.exists():
            raise InputError(f"there is no file {name}")
        is_parquet = path.suffix.lower() in (".parquet", ".pq")
        table = pl.read_parquet(path, glob=False) if is_parquet else _read_text(path, name)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(f"{name} cannot be read as a table: {reason}") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except pl.exceptions.PanicException:
        raise InputError(f"{name} cannot be read as a table: it is damaged") from None
    if table.is_empty():
        raise InputError(f"{name} has no rows")
    return table


def _read_text(path: Path, name: str) -> pl.DataFrame:
    import polars as pl

    content = path.read_bytes()
    if content.startswith(b"PAR1"):
        return pl.read_parquet(content)
    if b"\0" in content[:_SNIFFED_BYTES]:
        raise InputError(f"{name} is not text; pass a CSV, TSV or Parquet file")
    content = content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    start = content[:_SNIFFED_BYTES].decode("utf-8", errors="replace")
    if not start.strip():
        raise InputError(f"{name} is empty")
    separator = _separator(start)
    decimal_comma = (
        separator != "," and re.search(rf"(^|{separator})-?\d+,\d+({separator}|\r?$)", start, re.M) is not None
    )
    cells = [cell.strip() for cell in next(csv.reader(io.StringIO(start), delimiter=separator))]
    numbers = [cell.replace(",", ".") if decimal_comma else cell for cell in cells]
    has_header = not (any(map(_is_number, numbers)) and all(_is_number(cell) or cell in _MISSING for cell in numbers))
    if has_header and len(set(cells)) < len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise InputError(f"{name} has two columns named {twice!r}; rename one")
    table = pl.read_csv(
        content,
        separator=separator,
        has_header=has_header,
        null_values=_MISSING,
        infer_schema_length=None,
        decimal_comma=decimal_comma,
        glob=False,
    )
    table.columns = cells if has_header else [str(index) for index in range(table.width)]
    return table.with_columns(_unpadded(table[column]) for column in table.columns if table[column].dtype == pl.String)


def _separator(start: str) -> str:
    """What stands between the values of the first line, not counting what is in quotes."""
    line = re.sub(r'"[^"]*"', "", start).splitlines()[0]
    return next((separator for separator in ("\t", ";") if separator in line), ",")


def _unpadded(column: pl.Series) -> pl.Series:
    """Text without surrounding blanks, as numbers where all of it is numbers."""
    import polars as pl

    text = column.str.strip_chars()
    text = text.set(text.is_in(_MISSING), None)
    for kind in (pl.Int64, pl.Float64):
        numbers = text.cast(kind, strict=False)
        if numbers.null_count() == text.null_count() < len(text):
            return numbers
    return text


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
