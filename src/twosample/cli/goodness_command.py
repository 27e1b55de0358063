"""The command that compares one file with a distribution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from twosample.cli.inputs import Source
from twosample.cli.messages import notes, refusals
from twosample.cli.options import (
    json_option,
    nan_policy_option,
    one_sample_options,
    path_option,
    permutations_option,
    points_option,
    prior_odds_option,
    quiet_option,
    reading_options,
    report_option,
    rope_option,
    seed_option,
    subsets_option,
    tolerance_option,
)
from twosample.cli.output import check_outputs, deliver

__all__ = ["goodness"]

_EPILOG = """\b
Examples:
  twosample goodness residuals.csv --law "norm(0, 1)" --columns residual
  twosample goodness waits.csv --law "gamma(2, scale=3.5)" --simulations 999 --report waits.html
  twosample goodness pairs.csv --law "multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]])"

A law is a distribution of scipy.stats with its numbers: expon(), t(5), poisson(3), uniform(-1, 2) and so on. The text
is never run as Python. For simulators, which draw rows, use ts.goodness in Python.
"""


@click.command(epilog=_EPILOG)
@one_sample_options
@click.option("--law", required=True, metavar="LAW", help='The distribution, such as "norm(0, 1)".')
@permutations_option(0, 0, "Number of data sets to simulate for a p-value and an e-value.", name="--simulations")
@points_option
@subsets_option
@tolerance_option
@rope_option
@prior_odds_option()
@nan_policy_option("Refuse missing values, or leave out their rows.")
@seed_option("Seed of what is drawn.")
@json_option
@path_option("--plot", "plot_path", help="Write a picture: .png, .pdf or .svg.")
@report_option
@quiet_option
@reading_options
def goodness(
    source: Source,
    law: str,
    json_path: Path | None,
    plot_path: Path | None,
    report_path: Path | None,
    quiet: bool,
    seed: int,
    **options: Any,
) -> None:
    """Compare the file A with a distribution: does it come from there, and where does it differ."""
    from twosample.questions.goodness import goodness as run_goodness

    check_outputs(source.files, json_path, {"--plot": plot_path}, report=report_path)
    with notes():
        frame, said = source.read_one(options["nan_policy"])
    with refusals((str(source.files[0]),)), notes():
        result = run_goodness(frame, law, columns=source.columns, drop=source.drop, rng=seed, progress=True, **options)
    names = source.files[0].name, result.law
    result = replace(
        result, names=names, diagnostics=replace(result.diagnostics, notes=said + result.diagnostics.notes)
    )
    deliver(result, names, json_path, plot_path, report_path, quiet=quiet)
