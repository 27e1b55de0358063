"""What the commands print and write: summaries, JSON, pictures and the table of the comparison."""

from __future__ import annotations

import glob
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twosample.cli.extras import require
from twosample.cli.messages import notes, printable, quoted
from twosample.common.records import write_whole
from twosample.data.from_files import who_is_who
from twosample.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from polars import DataFrame

    from twosample.results.each_result import EachResult
    from twosample.results.result import Result

__all__ = [
    "STDOUT",
    "check_outputs",
    "deliver",
    "save_plot",
    "save_tables",
    "show",
    "show_comparison",
    "show_each",
]

STDOUT = Path("-")
_PLOT_KINDS = (".png", ".pdf", ".svg")


def check_outputs(
    inputs: tuple[Path, ...],
    json_path: Path | None,
    pictures: dict[str, Path | None],
    tables: dict[str, Path | None] | None = None,
    report: Path | None = None,
) -> None:
    """Refuse, before the work, outputs that cannot be written after it, and those that would destroy something."""
    for option, path in pictures.items():
        if path is not None and path.suffix.lower() not in _PLOT_KINDS:
            raise InputError(f"{option}: {quoted(path)} must end in {', '.join(_PLOT_KINDS[:-1])} or {_PLOT_KINDS[-1]}")
    if report is not None and report.suffix.lower() != ".html":
        raise InputError(f"--report: {quoted(report)} must end in .html")
    outputs = {
        option: path
        for option, path in {"--json": json_path, **pictures, **(tables or {}), "--report": report}.items()
        if path is not None and path != STDOUT
    }
    for option, path in outputs.items():
        if not path.absolute().parent.is_dir():
            raise InputError(f"{option}: there is no folder {quoted(path.absolute().parent)}")
        if path.is_file() and (read := next((one for one in inputs if _holds(one, path)), None)) is not None:
            raise InputError(
                f"{option}: {quoted(path)} is read as {quoted(read)}, and would be overwritten; name another file"
            )
    for (one, first), (other, second) in itertools.combinations(outputs.items(), 2):
        if _place(first) == _place(second) or (first.is_file() and second.is_file() and first.samefile(second)):
            raise InputError(f"{one} and {other}: {quoted(first)} and {quoted(second)} are the same file; name two")
    if any(path is not None for path in pictures.values()):
        require("plot", "matplotlib", "plot")
    if report is not None:
        require("--report", "jinja2", "report")


def _holds(source: Path, path: Path) -> bool:
    """Whether an input is this file, by whatever name, or a folder or pattern that it belongs to."""
    if source.exists():
        return source.samefile(path) or (source.is_dir() and path.resolve().is_relative_to(source.resolve()))
    return any(path.samefile(one) for one in glob.iglob(str(source), recursive=True) if os.path.exists(one))


def _place(path: Path) -> str:
    """Where a file is or would be, without links."""
    return os.path.normcase(os.path.realpath(path))


def show(
    result: Result, names: tuple[str, str] | None, json_path: Path | None, *, quiet: bool, short: str | None = None
) -> None:
    """Print the answer, or all of it as JSON if the path is `STDOUT`; else write that if a path is given.

    Parameters
    ----------
    result
        Of any question.
    names
        What the two samples are called, where there are two.
    json_path
        Where the JSON goes.
    quiet
        Whether to print `short` only: by default probability and log BF10.
    """
    if json_path == STDOUT:
        click.echo(result.to_json())
        return
    if quiet:
        click.echo(_numbers(result) if short is None else short)
    else:
        if names is not None:
            click.echo(f"{who_is_who(names)}.")
        click.echo("\n".join(printable(line) for line in result.summary().splitlines()))
    if json_path is not None:
        result.to_json(json_path)


def deliver(
    result: Result,
    names: tuple[str, str] | None,
    json_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    *,
    quiet: bool,
    short: str | None = None,
) -> None:
    """Print the answer, and write the JSON, the picture and the page that are asked for."""
    show(result, names, json_path, quiet=quiet, short=short)
    if plot_path is not None:
        save_plot(plot_path, result.plot)
    if report_path is not None:
        with notes():
            result.report(report_path, progress=True)


def _numbers(result: Any) -> str:
    return f"{result.prob_h1:.6g} {result.log_bf10:.6g}"


def show_each(
    result: EachResult, names: tuple[str, str], json_path: Path | None, csv_path: Path | None, top: int
) -> None:
    """Print the table, or what is asked for instead, and write the files that are asked for."""
    if STDOUT not in (json_path, csv_path):
        click.echo(f"{who_is_who(names)}.")
        click.echo("\n".join(printable(line) for line in result.summary(top).splitlines()))
    if json_path == STDOUT:
        click.echo(result.to_json())
    elif json_path is not None:
        result.to_json(json_path)
    if csv_path is not None:
        table = result.to_frame("polars").write_csv()
        if csv_path == STDOUT:
            # On a terminal, as data are shown there; a file or program gets the names as they are.
            shown = "\n".join(map(printable, table.split("\n"))) if sys.stdout.isatty() else table
            click.echo(shown, nl=False, color=True)  # nothing is taken out of names
        else:
            write_whole(csv_path, lambda file: file.write(table.encode()))


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
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for *cells, words in rows:
        padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
        click.echo(printable("  ".join([*padded, words])))


def _row(test: str, result: Any) -> tuple[str, str, str, str, str]:
    """One line of the comparison: a Bayes factor, a p-value, both, or why there is neither."""
    if isinstance(result, str):
        return test, "-", "-", "-", result
    from twosample.common.words import log_bf10_text, probability_in_words, pvalue_text

    log_bf10, pvalue = getattr(result, "log_bf10", None), getattr(result, "pvalue", None)
    return (
        test,
        "-" if log_bf10 is None else log_bf10_text(log_bf10),
        "-" if log_bf10 is None else probability_in_words(result.prob_h1),
        "-" if pvalue is None else pvalue_text(pvalue),
        result.verdict,
    )
