"""The command `independence`: do some columns of a file depend on others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from twosample.cli.inputs import Source
from twosample.cli.messages import notes, refusals
from twosample.cli.options import (
    count_option,
    json_option,
    names_option,
    nan_policy_option,
    path_option,
    permutations_option,
    prior_odds_option,
    reading_options,
    report_option,
    seed_option,
)
from twosample.cli.output import check_outputs, deliver
from twosample.errors import InputError

__all__ = ["independence"]

_EPILOG = """\b
Examples:
  twosample independence trial.csv --x dose --y response
  twosample independence trial.csv --x dose,age --y response,arm --permutations 999
  twosample independence trial.csv --x dose --y response --plot where.png --report answer.html

Columns may hold numbers, dates, Booleans or text. Rows are observations: what is in one row was measured together.
"""


@click.command(epilog=_EPILOG)
@click.argument("files", nargs=1, metavar="FILE", type=click.Path(path_type=Path), callback=lambda c, p, v: (v,))
@names_option("--x", "Columns of one side, with commas.")
@names_option("--y", "Columns of the other side, with commas.")
@permutations_option(0, 0, "Number of permutations of the pairing for a p-value and an e-value.")
@count_option("--points", 16, "Number of evaluation points on either side.")
@prior_odds_option('Prior odds of "dependent" against "independent".')
@nan_policy_option("Refuse missing values, or leave out their rows.")
@seed_option("Seed of the permutations.")
@json_option
@path_option("--plot", "plot_path", help="Write a picture: .png, .pdf or .svg.")
@report_option
@click.option("-q", "--quiet", is_flag=True, help="Print one line: P(dependent | data) and log BF10.")
@reading_options
def independence(
    source: Source,
    x: tuple[str, ...],
    y: tuple[str, ...],
    json_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    quiet: bool,
    seed: int,
    **options: Any,
) -> None:
    """Test whether some columns of FILE are independent of others, and tell where they are not."""
    from dataclasses import replace

    from twosample.questions.independence import independence as run_independence

    check_outputs(source.files, json_path, {"--plot": plot_path}, report=report_path)
    with notes():
        frame, said = source.read_one(options["nan_policy"], (*x, *y))
    with refusals(()), notes():
        try:
            result = run_independence(frame, x=x, y=y, rng=seed, progress=True, **options)
        except InputError as error:
            if error.argument in ("x", "y") and error.message.startswith(f"{error.argument}: "):
                raise InputError(f"--{error.message}", remedy=error.remedy) from None
            raise
    result = replace(result, notes=said + result.notes)
    deliver(result, None, json_path, plot_path, report_path, quiet=quiet)
