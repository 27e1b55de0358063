"""What the commands print and write: summaries, JSON, tables, pictures and pages."""

from __future__ import annotations

import glob
import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twosample.cli.extras import require
from twosample.cli.messages import notes, printable, quoted
from twosample.common.calls import Call, command_line
from twosample.common.records import to_json, write_whole
from twosample.common.words import aligned, log_bf10_text, probability_in_words, pvalue_text
from twosample.data.from_files import who_is_who
from twosample.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

__all__ = [
    "GIVEN",
    "STDOUT",
    "Outputs",
    "echo",
    "save_csv",
    "save_plot",
    "save_tables",
    "show_comparison",
    "this_command",
]

# Where the context keeps what the command was called with.
GIVEN = "twosample.given"

STDOUT = Path("-")
# Kinds of files by the option that writes them, where there are a few; and what they need.
_PICTURE = (".png", ".pdf", ".svg")
_KINDS = {"plot": _PICTURE, "trace": _PICTURE, "report": (".html",)}
_NEEDS = {"plot": ("plot", "matplotlib", "plot"), "report": ("--report", "jinja2", "report")}
_NEEDS["trace"] = _NEEDS["plot"]
# Options that may print what they would write.
_PRINTED = ("json", "csv")


@dataclass(frozen=True)
class Outputs:
    """What a command is to write, each as the path that its option was given, and whether it prints only a line."""

    json: Path | None = None
    plot: Path | None = None
    trace: Path | None = None
    csv: Path | None = None
    junit: Path | None = None
    out: Path | None = None
    state: Path | None = None
    report: Path | None = None
    quiet: bool = False

    def check(self, inputs: tuple[Path, ...]) -> None:
        """Refuse, before the work, outputs that cannot be written after it, and those that would destroy something."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "quiet"}
        asked: dict[str, Path] = {name: path for name, path in given.items() if path is not None}
        for name, path in asked.items():
            _check_kind(name, path)
        outputs = {f"--{name}": path for name, path in asked.items() if path != STDOUT}
        for option, path in outputs.items():
            _check_place(option, path, inputs)
        for (one, first), (other, second) in itertools.combinations(outputs.items(), 2):
            where = {os.path.normcase(os.path.realpath(path)) for path in (first, second)}
            if len(where) == 1 or (first.is_file() and second.is_file() and first.samefile(second)):
                raise InputError(f"{one} and {other}: {quoted(first)} and {quoted(second)} are the same file; name two")
        if self.json == self.csv == STDOUT:
            raise InputError("--json and --csv: only one of them can be printed; give the other a file")
        for name in asked:
            if name in _NEEDS:
                require(*_NEEDS[name])

    def deliver(
        self,
        result: Any,
        names: tuple[str, str] | None = None,
        *,
        lead: str = "",
        short: str = "",
        text: str = "",
        content: Any = None,
        draw: Callable[[], Figure] | None = None,
    ) -> None:
        """Print the answer, or what is to be printed in its place, and write every file that was asked for.

        The `lead` is the first line, also where the JSON is printed, beside it. In place of what the result has,
        `short` is what `quiet` leaves, `text` the summary, `content` what the JSON holds, and `draw` what draws.
        """
        write = result.to_json if content is None else partial(to_json, content)
        if self.json == STDOUT:
            click.echo(write(None))
        if STDOUT in (self.json, self.csv):
            click.echo(lead, err=True, nl=bool(lead))
        elif self.quiet:
            click.echo(lead or short or f"{result.prob_h1:.6g} {result.log_bf10:.6g}")
        else:
            who = "" if names is None else f"{who_is_who(names)}."
            echo("\n".join(filter(None, (lead, who, text or result.summary()))))
        if self.json not in (None, STDOUT):
            write(self.json)
        if self.csv is not None:
            save_csv(self.csv, result)
        if self.plot is not None:
            save_plot(self.plot, draw or result.plot)
        if self.trace is not None:
            save_plot(self.trace, result.plot_trace)
        if self.report is not None:
            result.remember(call=this_command(), copied=result)
            with notes():
                result.report(self.report, progress=True)


def this_command() -> Call:
    """The command that is run."""
    return command_line(click.get_current_context().meta[GIVEN])


def _check_kind(name: str, path: Path) -> None:
    kinds = _KINDS.get(name)
    if kinds is not None and path.suffix.lower() not in kinds:
        words = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
        raise InputError(f"--{name}: {quoted(path)} must end in {words}")
    if path == STDOUT and name not in _PRINTED:
        raise InputError(f"--{name}: needs a file")


def _check_place(option: str, path: Path, inputs: tuple[Path, ...]) -> None:
    """Refuse a file that is read, or in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option}: there is no folder {quoted(path.absolute().parent)}")
    read = next((source for source in inputs if _holds(source, path)), None) if path.is_file() else None
    if read is not None:
        raise InputError(
            f"{option}: {quoted(path)} is read as {quoted(read)}, and would be overwritten; name another file"
        )


def _holds(source: Path, path: Path) -> bool:
    """Whether an input is this file, by whatever name, or a folder or pattern that it belongs to."""
    if source.exists():
        return source.samefile(path) or (source.is_dir() and path.resolve().is_relative_to(source.resolve()))
    return any(path.samefile(one) for one in glob.iglob(str(source), recursive=True) if os.path.exists(one))


def echo(text: str) -> None:
    """Print lines that cannot steer the terminal whatever names they hold."""
    click.echo("\n".join(map(printable, text.splitlines())))


def save_csv(path: Path, result: Any) -> None:
    """Write the table of a result as CSV, or print it."""
    table = result.to_frame("polars").write_csv()
    if path == STDOUT:
        # On a terminal, as data are shown there; a file or program gets the names as they are.
        shown = "\n".join(map(printable, table.split("\n"))) if sys.stdout.isatty() else table
        click.echo(shown, nl=False, color=True)  # nothing is taken out of names
    else:
        write_whole(path, lambda file: file.write(table.encode()))


def save_plot(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw and write a picture, of the kind that the end of its name says."""
    with notes():
        figure = draw()
        write_whole(path, lambda file: figure.savefig(file, dpi=150, format=path.suffix[1:].lower()))


def save_tables(tables: dict[Path, DataFrame]) -> None:
    """Write tables as CSV, all of them, unless one of the files is there already."""
    for path in tables:
        if path.exists():
            raise InputError(f"{quoted(path)} is there already", remedy="choose another folder with --out")
    for path, table in tables.items():
        write_whole(path, table.write_csv)


def show_comparison(results: dict[str, Any], names: tuple[str, str]) -> None:
    """Print a table with a line for each test: its result, or a text that says why there is none."""
    rows = [("test", "log BF10", "P(H1)", "p-value", "verdict")]
    rows += [_row(test, result) for test, result in results.items()]
    click.echo(f"{who_is_who(names)}.")
    for line in aligned(rows, "<<<<<"):
        click.echo(printable(line.removeprefix("  ")))


def _row(test: str, result: Any) -> tuple[str, str, str, str, str]:
    """One line of the comparison: a Bayes factor, a p-value, both, or why there is neither."""
    if isinstance(result, str):
        return test, "-", "-", "-", result
    log_bf10, pvalue = getattr(result, "log_bf10", None), getattr(result, "pvalue", None)
    return (
        test,
        "-" if log_bf10 is None else log_bf10_text(log_bf10),
        "-" if log_bf10 is None else probability_in_words(result.prob_h1),
        "-" if pvalue is None else pvalue_text(pvalue),
        result.verdict,
    )
