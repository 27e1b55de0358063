"""The command line as a whole: the commands, the demo, the comparison of tests, the app, and how errors end it."""

from __future__ import annotations

import errno
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from twosample import __version__
from twosample.cli.check_command import check, reference
from twosample.cli.extras import require
from twosample.cli.flags import command
from twosample.cli.inputs import Source, two_tables
from twosample.cli.messages import in_options, notes, printable, quoted, refusals, say_error
from twosample.cli.monitor_command import monitor
from twosample.cli.output import Outputs, save_plot, save_tables, show_comparison
from twosample.cli.question_commands import ask, design, each, gibbs, goodness, independence, test
from twosample.common.exits import FAILED, INTERRUPTED, REFUSED, fault, raised
from twosample.common.progress import progress_bar
from twosample.errors import InputError, InputTypeError, MissingExtraError

__all__ = ["command_line", "run"]

# Permutation tests of more rows take longer than a command should.
_MOST_PERMUTED_ROWS = 5_000


# Of the file system, what is a matter of the names that were given; everything else may pass.
_BAD_NAMES = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_BAD_PLACES = (errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)


class _ReaderLeftError(Exception):
    """Nobody reads stdout any more."""


class _Commands(click.Group):
    """A group that lets all errors out: click itself takes some for the end of the work."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Parse the arguments."""
        with _out_of_click():
            return super().make_context(*args, **options)

    def invoke(self, context: click.Context) -> Any:
        """Run the command that they name."""
        with _out_of_click():
            return super().invoke(context)


@contextmanager
def _out_of_click() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # click would end with status 1
        raise _ReaderLeftError from None
    except EOFError as error:  # and take this for an interrupt
        raise RuntimeError(f"EOFError: {error}") from error


def run(args: list[str] | None = None) -> int:
    """Run the command that the arguments name; returns the exit status."""
    try:
        with raised():
            return command_line.main(args, prog_name="twosample", standalone_mode=False) or 0
    except (InputError, InputTypeError) as error:
        say_error(in_options(error))
    except MissingExtraError as error:
        say_error(str(error))
    except click.ClickException as error:
        say_error(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # the panics of compiled libraries are no Exceptions
        return _broken(error)
    return REFUSED


def _broken(error: BaseException) -> int:
    """Say what broke; returns the exit status, which is never that of a verdict."""
    if isinstance(error, _ReaderLeftError):  # as in "| head", where nobody wants to hear of it
        return FAILED
    if not isinstance(error, OSError):
        say_error(fault(error))
        return FAILED
    say_error(f"{error.strerror or error}{f': {quoted(error.filename)}' if error.filename else ''}")
    return REFUSED if isinstance(error, _BAD_NAMES) or error.errno in _BAD_PLACES else FAILED


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
  twosample design pilot_a.csv pilot_b.csv --sizes 50,100,200
  twosample check yesterday.csv today.csv --fail-if "prob_h1 > 0.95 and auc > 0.55"
  twosample app
  twosample monitor reference.csv --follow log.csv

Files are text with ',', tab, ';', '|' or blanks between values (also .gz, .zst, .zip), Parquet (also a folder of parts,
or a quoted pattern such as 'parts/*.parquet'), Arrow/Feather or Excel; - is standard input. Rows are observations and
columns are variables; a first line of numbers is data, not names, unless --header says so.

\b
Exit status:
  0    the answer is on stdout, and every file that was asked for is written
  1    "check": the rule holds; "monitor --exit-on-alarm": an alarm; never anything else
  2    refused: one line on stderr says what is wrong with what was asked
  3    broken: one line on stderr says what failed (memory, a full disk, a fault); no line if the reader of stdout left
  130  interrupted (Ctrl-C)

Notes and progress go to stderr. A file is written whole or not at all, and never over a file that is read.
"""


@click.group(
    cls=_Commands,
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
    from twosample.questions import two_samples

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
        result = ask((), two_samples.test, x, y)
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


_COMPARE_EPILOG = """\b
Examples:
  twosample compare before.csv after.csv
  twosample compare trial.csv --by arm --columns dose
"""


@command(
    "files by groups columns drop paired pair_by prior_odds scale nan_policy permutations seed",
    _COMPARE_EPILOG,
    permutations={
        "type": click.IntRange(1, 1_000_000),
        "default": 1000,
        "help": "Number of permutations behind p-values.",
    },
)
def compare(source: Source, outputs: Outputs, *, prior_odds: float, nan_policy: str, **options: Any) -> None:
    """Put two samples to this test and to the tests it is compared with, side by side."""
    from twosample.paper import baselines
    from twosample.questions import two_samples

    with notes():
        given = source.read(nan_policy)  # type: ignore[arg-type]
    names = given.names
    with refusals(names), notes():
        x, y = two_tables(given, options["paired"])
    options["paired"] = options["paired"] is not False
    few = x.height + y.height <= _MOST_PERMUTED_ROWS
    paired, seed, permutations = options["paired"], options.pop("seed"), options.pop("permutations")
    bayes: dict[str, Any] = {"prior_odds": prior_odds, "nan_policy": nan_policy}
    kernel: dict[str, Any] = {**options, "permutations": permutations, "rng": seed, "nan_policy": nan_policy}
    tree: dict[str, Any] = {"permutations": permutations if few else 0, "rng": seed, **bayes}
    ours = ask(names, two_samples.test, x, y, **options, **tree)
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


def _attempt(run: Callable[[], Any]) -> Any:
    """The result of a test, or why it refuses; what it warns about, ours has warned about already."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except InputError as error:
        return f"does not apply: {in_options(error)}"


_APP_EPILOG = """\b
Examples:
  twosample app                            a free port, and the page in the browser
  twosample app --port 8765 --no-browser   on another machine, to be reached through ssh -L 8765:127.0.0.1:8765

It needs the extra "app": pip install 'twosample[app]'
"""


@click.command(epilog=_APP_EPILOG)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    metavar="NUMBER",
    help="Where to listen, on this computer only.",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in the browser.")
@click.option(
    "--max-size",
    type=click.FloatRange(min=0, min_open=True),
    default=100.0,
    show_default=True,
    metavar="MB",
    help="The largest file that is taken, in megabytes; ten times that is held for all pages together.",
)
@click.option(
    "--unpacked-limit",
    type=click.FloatRange(min=0, min_open=True),
    show_default="a quarter of the free memory",
    metavar="MB",
    help="To how many megabytes a compressed file may unpack.",
)
def app(port: int, browser: bool, max_size: float, unpacked_limit: float | None) -> None:
    """Compare files on a page in the browser, until Ctrl-C.

    Files are read in the memory of this process and never written. Whoever has the address, of which a part is secret,
    can use the page, from this computer.
    """
    for package in ("starlette", "uvicorn", "jinja2"):
        require("the app", package, "app")
    from twosample.app import serve

    def say(address: str) -> None:
        click.echo(f"twosample is at {address}")
        click.echo("Ctrl-C ends it.", err=True)

    serve(port, max_size=max_size, unpacked_limit=unpacked_limit, say=say, browser=browser)


for one in (test, each, gibbs, independence, check, reference, compare, goodness, design, app, monitor):
    command_line.add_command(one)
