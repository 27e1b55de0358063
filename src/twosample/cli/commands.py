"""The commands: what each takes, which stages it runs, and what it prints."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from twosample import __version__
from twosample.cli.app_command import app
from twosample.cli.check_command import check, reference
from twosample.cli.goodness_command import goodness
from twosample.cli.independence_command import independence
from twosample.cli.inputs import Source, two_tables
from twosample.cli.messages import in_options, notes, printable, quoted, refusals, say_error
from twosample.cli.monitor_command import monitor
from twosample.cli.options import (
    categories_option,
    count_option,
    json_option,
    keep_rows_option,
    kernel_options,
    lengthscale_option,
    model_option,
    nan_policy_option,
    path_option,
    permutations_option,
    points_option,
    question_options,
    quiet_option,
    reading_options,
    reference_option,
    report_option,
    rope_option,
    sample_options,
    seed_option,
    stream_option,
    subsets_option,
    tolerance_option,
)
from twosample.cli.output import (
    STDOUT,
    check_outputs,
    deliver,
    save_plot,
    save_tables,
    show,
    show_comparison,
    show_each,
)
from twosample.common.progress import progress_bar
from twosample.errors import InputError, InputTypeError, MissingExtraError

if TYPE_CHECKING:
    from twosample.data.from_files import Given
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["command_line", "run"]

_BAD_INPUT = 2
_INTERRUPTED = 130
# Permutation tests of more rows take longer than a command should.
_MOST_PERMUTED_ROWS = 5_000


def run(args: list[str] | None = None) -> int:
    """Run the command that the arguments name; returns the exit status."""
    try:
        return command_line.main(args, prog_name="twosample", standalone_mode=False) or 0
    except (InputError, InputTypeError) as error:
        say_error(in_options(error))
    except MissingExtraError as error:
        say_error(str(error))
    except click.ClickException as error:
        say_error(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except OSError as error:
        say_error(f"{error.strerror or error}{f': {quoted(error.filename)}' if error.filename else ''}")
    except MemoryError:
        say_error("not enough memory for these data")
    return _BAD_INPUT


_EPILOG = """\b
Examples:
  twosample demo
  twosample test before.csv after.csv
  twosample test trial.csv --by arm --columns dose,weight --plot trial.png
  twosample test trial.parquet --by arm --groups placebo,high --json trial.json
  twosample each before.csv after.csv --csv columns.csv
  twosample gibbs before.csv after.csv --kernel ard --plot columns.png
  twosample independence trial.csv --x dose --y response
  twosample compare before.csv after.csv
  twosample goodness residuals.csv --law "norm(0, 1)"
  twosample check yesterday.csv today.csv --fail-if "prob_h1 > 0.95 and auc > 0.55"
  twosample app
  twosample monitor reference.csv --follow log.csv

Files are text with ',', tab, ';', '|' or blanks between values (also .gz, .zst, .zip), Parquet (also a folder of parts,
or a quoted pattern such as 'parts/*.parquet'), Arrow/Feather or Excel; - is standard input. Rows are observations and
columns are variables; a first line of numbers is data, not names, unless --header says so.

\b
Exit status:
  0    the answer is on stdout, and every file that was asked for is written
  1    "check": the rule holds; monitor --exit-on-alarm: an alarm; or the reader of stdout left (as in "| head")
  2    refused: one line on stderr says what is wrong
  130  interrupted (Ctrl-C)

Notes and progress go to stderr. A file is written whole or not at all, and never over a file that is read.
"""


@click.group(
    epilog=_EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def command_line(context: click.Context) -> None:
    """Tell whether two samples come from the same distribution, with what probability, and where they differ."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_DEMO_EPILOG = """\b
Examples:
  twosample demo --out pictures
  twosample demo --files
"""


@command_line.command(epilog=_DEMO_EPILOG)
@click.option(
    "--out",
    default=".",
    show_default=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for what is written.",
)
@click.option("--files", is_flag=True, help="Instead write two tables to try the other commands with, as CSV.")
def demo(out: Path, files: bool) -> None:
    """Run two built-in examples, and draw them; no files are needed."""
    import polars as pl

    from twosample.paper import simulate

    out.mkdir(parents=True, exist_ok=True)
    if files:
        pair = simulate.bolts(200, 0)
        before, after = (out / f"{name}.csv" for name in pair.names)
        tables = (pl.DataFrame(rows.round(2), schema=list(pair.columns)) for rows in (pair.x, pair.y))
        save_tables(dict(zip((before, after), tables, strict=True)))
        click.echo("Measurements of 200 bolts each, before and after a change of the machine (invented numbers):")
        click.echo(f"  {printable(str(before))}\n  {printable(str(after))}")
        click.echo(f"next:\n  twosample test {printable(shlex.join(map(str, (before, after))))}")
        return
    examples = (
        ("gaussian", "Equal means, different spreads", simulate.gaussian(200, 0, sd=3.0)),
        ("rings", "Shapes of six-membered rings (invented numbers)", simulate.rings_like(500, 0)),
    )
    hint = ""
    for name, title, pair in examples:
        x, y = (pl.DataFrame(rows, schema=list(pair.columns)) for rows in (pair.x, pair.y))
        result = _test(x, y)
        click.echo(f"{title}: {pair.names[0]} (x) against {pair.names[1]} (y)")
        click.echo(result.summary())
        picture = out / f"twosample-demo-{name}.png"
        try:
            save_plot(picture, partial(result.plot, names=pair.names))
            click.echo(f"  picture              {printable(str(picture))}")
        except MissingExtraError as error:
            hint = f"note: no pictures: {error}"
        click.echo()
    if hint:
        click.echo(hint, err=True)
    click.echo("next:")
    click.echo("  twosample test A.csv B.csv --plot answer.png     two files, one sample each")
    click.echo("  twosample test ALL.csv --by COLUMN               one file, COLUMN says which sample a row is in")
    click.echo("  twosample test --help                            everything else")


_TEST_EPILOG = """\b
Examples:
  twosample test before.csv after.csv                two files, one sample each
  twosample test trial.csv --by arm                  one file; column "arm" holds two values
  twosample test trial.csv --by centre               more values: are all groups alike, and which are
  twosample test trial.csv --by arm --groups a,c     one file, two of its groups
  twosample test trial.csv --by arm --reference a    every other group against "a", in one table
  twosample test a.csv b.csv --columns dose,weight   only these columns
  twosample test a.csv b.csv --drop id               all columns but this one
  twosample test a.csv b.csv --categories zip        numbers that are categories
  twosample test a.csv b.csv --rope 0.55             also whether there is a difference that matters
  twosample test a.csv b.csv --plot answer.pdf --json answer.json
  twosample test a.csv b.csv --report answer.html    a page to send round
  twosample test big_a.parquet big_b.parquet         larger than memory, read block by block
  twosample test a.txt b.txt --kernel kmer           strings, one a line, or a record of .fasta files
"""


@command_line.command(epilog=_TEST_EPILOG)
@sample_options
@categories_option
@reference_option
@model_option("adaptive")
@kernel_options
@lengthscale_option
@points_option
@subsets_option
@tolerance_option
@permutations_option(0, 0, "Number of permutations for a p-value and an e-value.")
@rope_option
@question_options
@seed_option("Seed of random pairs and permutations, where they are needed.")
@json_option
@keep_rows_option
@path_option("--plot", "plot_path", help="Write a picture: .png, .pdf or .svg.")
@report_option
@quiet_option
@stream_option
@reading_options
def test(
    source: Source,
    reference: str | None,
    stream: bool | None,
    json_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    quiet: bool,
    seed: int,
    **options: Any,
) -> None:
    """Test two samples: the files A and B, or the file A split by a column.

    Where the column has more than two values, it tells whether all groups are alike, and which are; or tests each
    group against --reference.
    """
    check_outputs(source.files, json_path, {"--plot": plot_path}, report=report_path)
    if reference is not None and (source.by is None or source.groups is not None):
        raise InputError("--reference: needs --by COLUMN, one of whose values it is, and no --groups")
    parameters = options.pop("parameters")
    if options["kernel"] == "kmer":
        if reference is not None or stream:
            raise InputError("--kernel: strings are read whole, as two samples; leave --reference and --stream out")
        with notes():
            strings = source.read_strings()
        with refusals(strings.names):
            result = _test(strings.x, strings.y, parameters=parameters, rng=seed, **options)
        deliver(result.of_files(strings.names, ()), strings.names, json_path, plot_path, report_path, quiet=quiet)
        return
    if parameters is not None:
        raise InputError("--parameters: is for --kernel kmer")
    if stream is None and (reference is not None or options["permutations"] or options["model"] != "adaptive"):
        stream = False  # these need all rows in memory
    if stream and reference is not None:
        raise InputError("--reference: needs all rows in memory; leave --stream out")
    with notes():
        given = source.read(options["nan_policy"], several=True, stream=stream)
    if reference is not None:
        _against(given, reference, json_path, plot_path, report_path, quiet, rng=seed, **options)
        return
    if given.groups > 2:
        _ksample(given, json_path, plot_path, report_path, quiet, rng=seed, **options)
        return
    with refusals(given.names):
        result = _test(given.x, given.y, rng=seed, **given.choice, **options)
    deliver(result.of_files(given.names, given.notes), given.names, json_path, plot_path, report_path, quiet=quiet)


def _ksample(
    given: Given,
    json_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    quiet: bool,
    *,
    paired: bool,
    keep_rows: bool,
    lengthscale: float | str | None,
    rope: float | None,
    **options: Any,
) -> None:
    """More than two groups, all at once."""
    from twosample.questions.ksample import ksample

    unused = {"--paired": paired, "--keep-rows": keep_rows, "--lengthscale": lengthscale, "--rope": rope}
    for option, used in unused.items():
        if used:
            raise InputError(f"{option}: is for two samples; choose two groups with --groups")
    choice = {name: value for name, value in given.choice.items() if name != "groups"}
    with refusals(()), notes():
        result = ksample(given.x, progress=True, **choice, **options)
    diagnostics = replace(result.diagnostics, notes=given.notes + result.diagnostics.notes)
    result = replace(result, diagnostics=diagnostics)
    deliver(result, None, json_path, plot_path, report_path, quiet=quiet)


def _against(
    given: Given,
    reference: str,
    json_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    quiet: bool,
    *,
    paired: bool,
    keep_rows: bool,
    **options: Any,
) -> None:
    """Every other group against one of them, in one table."""
    from twosample.questions.ksample import ksample

    for option, used in {"--paired": paired, "--keep-rows": keep_rows}.items():
        if used:
            raise InputError(f"{option}: is for two samples; choose two groups with --groups")
    choice = {name: value for name, value in given.choice.items() if name != "groups"}
    with refusals(()), notes():
        result = ksample(given.x, reference=reference, progress=True, **choice, **options)
    lines = [f"{printable(row.group)} {row.prob_h1:.6g} {row.log_bf10:.6g}" for row in result]
    deliver(result, None, json_path, plot_path, report_path, quiet=quiet, short="\n".join(lines))


_EACH_EPILOG = """\b
Examples:
  twosample each before.csv after.csv                    the columns with the most evidence
  twosample each genes.parquet --by arm --csv genes.csv  all columns, into a file
  twosample each a.csv b.csv --fdr 0.01 --csv -          all columns, as CSV on the terminal or to a program
  twosample each genes.parquet --by arm --report genes.html --plot genes.png  a page to send round, and a picture
  twosample each big_a.parquet big_b.parquet             larger than memory, read block by block
"""


@command_line.command(epilog=_EACH_EPILOG)
@sample_options
@categories_option
@click.option(
    "--fdr",
    type=float,
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="False discovery rate: what share of the columns found may be expected to be the same.",
)
@model_option("adaptive")
@nan_policy_option("Refuse missing values, or leave them out, column by column.")
@click.option(
    "--top", type=click.IntRange(min=0), default=10, show_default=True, metavar="N", help="How many columns to show."
)
@path_option("--csv", "csv_path", help="Write the table of all columns to this file; - prints it instead.")
@json_option
@path_option("--plot", "plot_path", help="Write a picture of all columns: .png, .pdf or .svg.")
@report_option
@stream_option
@reading_options
def each(
    source: Source,
    stream: bool | None,
    json_path: Path | None,
    csv_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    top: int,
    **options: Any,
) -> None:
    """Test each column by itself, and tell which ones differ with few false ones among them."""
    from twosample.questions.two_samples import test_each

    check_outputs(source.files, json_path, {"--plot": plot_path}, {"--csv": csv_path}, report_path)
    if json_path == csv_path == STDOUT:
        raise InputError("--json and --csv: only one of them can be printed; give the other a file")
    with notes():
        given = source.read(options["nan_policy"], stream=stream)
    with refusals(given.names), notes():
        result = test_each(given.x, given.y, progress=True, **given.choice, **options)
    show_each(result, given.names, json_path, csv_path, top)
    if plot_path is not None:
        save_plot(plot_path, partial(result.plot, names=given.names))
    if report_path is not None:
        result.report(report_path)


_GIBBS_EPILOG = """\b
Examples:
  twosample gibbs before.csv after.csv --trace chains.png
  twosample gibbs trial.csv --by arm --kernel ard --plot columns.png
  twosample gibbs a.csv b.csv --columns dose --chains 2 --steps 4000 --evidence

It needs the extra "mcmc": pip install 'twosample[mcmc]'
"""


@command_line.command(epilog=_GIBBS_EPILOG)
@sample_options
@model_option("adaptive")
@click.option(
    "--kernel",
    type=click.Choice(["rbf", "ard"]),
    default="rbf",
    show_default=True,
    help="One lengthscale, or one for each column.",
)
@points_option
@question_options
@count_option("--steps", 2000, "Gibbs steps of each chain, the burn-in included; at most.")
@count_option("--burn-in", 500, "How many of the first steps are dropped.")
@count_option("--thinning", 2, "One in how many of the others is kept.")
@count_option("--hmc-steps", 9, "No-U-Turn transitions in a Gibbs step.")
@count_option("--adapt-steps", 3, "How many of them tune the step size, during the burn-in.")
@count_option("--chains", 4, "Number of chains.")
@click.option(
    "--evidence/--no-evidence",
    default=None,
    help="Also estimate log BF10 in a way that works if the hypothesis never changes [for kernel ard].",
)
@click.option(
    "--early-stop/--no-early-stop",
    default=True,
    show_default=True,
    help="Stop once the chains have converged, or run all steps.",
)
@seed_option("Seed of everything random.")
@json_option
@path_option("--plot", "plot_path", help="Write a picture of the lengthscales: .png, .pdf or .svg.")
@path_option("--trace", "trace_path", help="Write a picture of the chains: .png, .pdf or .svg.")
@quiet_option
@reading_options
def gibbs(
    source: Source,
    json_path: Path | None,
    plot_path: Path | None,
    trace_path: Path | None,
    quiet: bool,
    seed: int,
    **options: Any,
) -> None:
    """Sample the hypothesis and the lengthscales, by the paper's algorithm.

    All columns are tested together. Sampling is for one lengthscale a column (--kernel ard), which tells the columns
    that matter, and for the chains themselves; for everything else use "twosample test", which takes a small part of
    the time. Models paper and published are for reproducing the paper.
    """
    from twosample.questions.gibbs import gibbs as run_gibbs

    check_outputs(source.files, json_path, {"--plot": plot_path, "--trace": trace_path})
    with notes():
        given = source.read(options["nan_policy"])
    with refusals(given.names), notes():
        result = run_gibbs(given.x, given.y, rng=seed, progress=True, **given.choice, **options)
    show(result, given.names, json_path, quiet=quiet)
    for path, draw in ((plot_path, result.plot), (trace_path, result.plot_trace)):
        if path is not None:
            save_plot(path, draw)


command_line.add_command(independence)
command_line.add_command(check)
command_line.add_command(reference)

_COMPARE_EPILOG = """\b
Examples:
  twosample compare before.csv after.csv
  twosample compare trial.csv --by arm --columns dose
"""


@command_line.command(epilog=_COMPARE_EPILOG)
@sample_options
@question_options
@permutations_option(1, 1000, "Number of permutations behind p-values.")
@seed_option("Seed of everything random.")
@reading_options
def compare(
    source: Source,
    paired: bool,
    prior_odds: float,
    scale: str,
    nan_policy: Literal["raise", "omit"],
    seed: int,
    permutations: int,
) -> None:
    """Put two samples to this test and to the tests it is compared with, side by side."""
    with notes():
        given = source.read(nan_policy)
    names = given.names
    with refusals(names), notes():
        x, y = two_tables(given)
    data: dict[str, Any] = {"nan_policy": nan_policy}
    bayes: dict[str, Any] = {"prior_odds": prior_odds, **data}
    few = x.height + y.height <= _MOST_PERMUTED_ROWS
    with refusals(names):
        ours = _test(x, y, paired=paired, scale=scale, permutations=permutations if few else 0, rng=seed, **bayes)

    from twosample.paper import baselines

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
    results: dict[str, Any] = {"twosample": ours}
    with progress_bar(True) as report:
        for number, (name, run) in enumerate(tests):
            if report is not None:
                report(number / len(tests), name)
            results[name] = run if isinstance(run, str) else _attempt(run)
    show_comparison(results, names)


command_line.add_command(goodness)
command_line.add_command(app)
command_line.add_command(monitor)


def _attempt(run: Callable[[], Any]) -> Any:
    """The result of a test, or why it refuses; what it warns about, ours has warned about already."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except InputError as error:
        return f"does not apply: {in_options(error)}"


def _test(x: object, y: object, **options: Any) -> TwoSampleResult:
    from twosample.questions.two_samples import test as run_test

    with notes():
        return run_test(x, y, progress=True, **options)
