"""The commands of the questions: which options each takes, and which function of the library it asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import click

from twosample.cli.flags import command
from twosample.cli.inputs import Source
from twosample.cli.messages import notes, option_of, printable, refusals
from twosample.cli.output import Outputs
from twosample.errors import InputError

__all__ = ["ask", "design", "each", "gibbs", "goodness", "independence", "test"]


def ask(names: tuple[str, ...], function: Callable[..., Any], *data: Any, **options: Any) -> Any:
    """What the library answers, with its warnings as notes and its errors in the words of the command line."""
    with refusals(names), notes():
        return function(*data, progress=True, **options)


def _taken(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options that a function for several groups takes; any other that was given is refused."""
    known = inspect.signature(function).parameters
    for name, value in options.items():
        if name not in known and value not in (None, False):
            raise InputError(f"{option_of(name)}: is for two samples; choose two groups with --groups")
    return {name: value for name, value in options.items() if name in known}


def _check_reference(source: Source, reference: str | None, *, strings: bool, stream: bool) -> None:
    """Refuse a reference group, strings and blocks where they do not go together."""
    if reference is not None and (source.by is None or source.groups is not None):
        raise InputError("--reference: needs --by COLUMN, one of whose values it is, and no --groups")
    if strings and (reference is not None or stream):
        raise InputError("--kernel: strings are read whole, as two samples; leave --reference and --stream out")
    if stream and reference is not None:
        raise InputError("--reference: needs all rows in memory; leave --stream out")


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
  twosample test a.csv b.csv --pair-by id            rows with the same id are pairs
  twosample test a.csv b.csv --rope 0.55             also whether there is a difference that matters
  twosample test a.csv b.csv --plot answer.pdf --json answer.json
  twosample test a.csv b.csv --report answer.html    a page to send round
  twosample test big_a.parquet big_b.parquet         larger than memory, read block by block
  twosample test a.txt b.txt --kernel kmer           strings, one a line, or a record of .fasta files
"""


@command(
    "files by groups columns drop paired pair_by categories reference model kernel parameters lengthscale points "
    "subsets tolerance permutations rope prior_odds scale nan_policy seed json keep_rows plot report quiet stream",
    _TEST_EPILOG,
    seed={"help": "Seed of random pairs and permutations, where they are needed."},
)
def test(source: Source, outputs: Outputs, *, reference: str | None, stream: bool | None, **options: Any) -> None:
    """Test two samples: the files A and B, or the file A split by a column.

    Where the column has more than two values, it tells whether all groups are alike, and which are; or tests each
    group against --reference.
    """
    from twosample.questions import ksample, two_samples

    strings = options["kernel"] == "kmer"
    _check_reference(source, reference, strings=strings, stream=bool(stream))
    if stream is None and (reference is not None or options["permutations"] or options["model"] != "adaptive"):
        stream = False  # these need all rows in memory
    options["rng"] = options.pop("seed")
    with notes():
        given = source.read_strings() if strings else source.read(options["nan_policy"], several=True, stream=stream)
    if reference is None and given.groups <= 2:
        result = ask(given.names, two_samples.test, given.x, given.y, **given.choice, **options)
        outputs.deliver(result.of_files(given.names, given.notes), given.names)
        return
    given.choice.pop("groups", None)
    result = ask(
        (), ksample.ksample, given.x, reference=reference, **_taken(ksample.ksample, {**given.choice, **options})
    )
    lines = [f"{printable(row.group)} {row.prob_h1:.6g} {row.log_bf10:.6g}" for row in result] if reference else []
    outputs.deliver(result.with_notes(given.notes), short="\n".join(lines))


_EACH_EPILOG = """\b
Examples:
  twosample each before.csv after.csv                    the columns with the most evidence
  twosample each genes.parquet --by arm --csv genes.csv  all columns, into a file
  twosample each a.csv b.csv --fdr 0.01 --csv -          all columns, as CSV on the terminal or to a program
  twosample each a.csv b.csv --rope 0.6 --sort size      which differences matter, the largest first
  twosample each genes.parquet --by arm --report genes.html --plot genes.png  a page to send round, and a picture
  twosample each big_a.parquet big_b.parquet             larger than memory, read block by block
"""


@command(
    "files by groups columns drop paired pair_by categories fdr rope sort model nan_policy top csv json plot report "
    "stream",
    _EACH_EPILOG,
    nan_policy={"help": "Refuse missing values, or leave them out, column by column."},
    plot={"help": "Write a picture of all columns: .png, .pdf or .svg."},
)
def each(source: Source, outputs: Outputs, *, stream: bool | None, top: int, **options: Any) -> None:
    """Test each column by itself, and tell which ones differ with few false ones among them."""
    from twosample.questions.two_samples import test_each

    with notes():
        given = source.read(options["nan_policy"], stream=stream)
    result = ask(given.names, test_each, given.x, given.y, **given.choice, **options)
    outputs.deliver(result, given.names, text=result.summary(top), draw=partial(result.plot, names=given.names))


_GIBBS_EPILOG = """\b
Examples:
  twosample gibbs before.csv after.csv --trace chains.png
  twosample gibbs trial.csv --by arm --kernel ard --plot columns.png
  twosample gibbs a.csv b.csv --columns dose --chains 2 --steps 4000 --evidence

It needs the extra "mcmc": pip install 'twosample[mcmc]'
"""


@command(
    "files by groups columns drop paired pair_by model kernel points prior_odds scale nan_policy steps burn_in "
    "thinning hmc_steps adapt_steps chains evidence early_stop seed json plot trace quiet",
    _GIBBS_EPILOG,
    kernel={
        "type": click.Choice(["rbf", "ard"]),
        "callback": None,
        "metavar": None,
        "help": "One lengthscale, or one for each column.",
    },
    plot={"help": "Write a picture of the lengthscales: .png, .pdf or .svg."},
)
def gibbs(source: Source, outputs: Outputs, *, seed: int, **options: Any) -> None:
    """Sample the hypothesis and the lengthscales, by the paper's algorithm.

    All columns are tested together. Sampling is for one lengthscale a column (--kernel ard), which tells the columns
    that matter, and for the chains themselves; for everything else use "twosample test", which takes a small part of
    the time. Models paper and published are for reproducing the paper.
    """
    from twosample.questions import gibbs as sampled

    with notes():
        given = source.read(options["nan_policy"])
    result = ask(given.names, sampled.gibbs, given.x, given.y, rng=seed, **given.choice, **options)
    outputs.deliver(result, given.names)


_INDEPENDENCE_EPILOG = """\b
Examples:
  twosample independence trial.csv --x dose --y response
  twosample independence trial.csv --x dose,age --y response,arm --permutations 999
  twosample independence trial.csv --x dose --y response --plot where.png --report answer.html

Columns may hold numbers, dates, Booleans or text. Rows are observations: what is in one row was measured together.
"""


@command(
    "file x y permutations points prior_odds nan_policy seed json plot report quiet",
    _INDEPENDENCE_EPILOG,
    file={"metavar": "FILE"},
    permutations={"help": "Number of permutations of the pairing for a p-value and an e-value."},
    points={"default": 16, "help": "Number of evaluation points on either side."},
    prior_odds={"help": 'Prior odds of "dependent" against "independent".'},
    seed={"help": "Seed of the permutations."},
    quiet={"help": "Print one line: P(dependent | data) and log BF10."},
)
def independence(
    source: Source, outputs: Outputs, *, x: tuple[str, ...], y: tuple[str, ...], seed: int, **options: Any
) -> None:
    """Test whether some columns of FILE are independent of others, and tell where they are not."""
    from twosample.questions.independence import independence as run_independence

    with notes():
        frame, said = source.read_one(options["nan_policy"], (*x, *y))
    result = ask((), run_independence, frame, x=x, y=y, rng=seed, **options)
    outputs.deliver(result.with_notes(said))


_GOODNESS_EPILOG = """\b
Examples:
  twosample goodness residuals.csv --law "norm(0, 1)" --columns residual
  twosample goodness waits.csv --law "gamma(2, scale=3.5)" --simulations 999 --report waits.html
  twosample goodness pairs.csv --law "multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]])"

A law is a distribution of scipy.stats with its numbers: expon(), t(5), poisson(3), uniform(-1, 2) and so on. The text
is never run as Python. For simulators, which draw rows, use ts.goodness in Python.
"""


@command(
    "file columns drop law simulations points subsets tolerance rope prior_odds nan_policy seed json plot report quiet",
    _GOODNESS_EPILOG,
    seed={"help": "Seed of what is drawn."},
)
def goodness(source: Source, outputs: Outputs, *, law: str, seed: int, **options: Any) -> None:
    """Compare the file A with a distribution: does it come from there, and where does it differ."""
    from twosample.questions.goodness import goodness as run_goodness

    with notes():
        frame, said = source.read_one(options["nan_policy"])
    chosen = {"columns": source.columns, "drop": source.drop}
    result = ask((str(source.files[0]),), run_goodness, frame, law, rng=seed, **chosen, **options)
    names = source.files[0].name, result.law
    outputs.deliver(result.of_files(names, said), names)


_DESIGN_EPILOG = """\b
Examples:
  twosample design pilot_a.csv pilot_b.csv --sizes 20,50,100,200
  twosample design pilot.csv --by arm --columns dose --ratio 2
  twosample design before.csv after.csv --paired --threshold 20 --plot sizes.png

Where there is no pilot, draw one from two laws: ts.design in Python takes distributions and simulators.
"""


@command(
    "files by groups columns drop paired pair_by categories sizes ratio threshold draws kernel parameters lengthscale "
    "points subsets scale nan_policy seed csv json plot report quiet",
    _DESIGN_EPILOG,
    csv={"help": "Write the table of all sizes to this file; - prints it instead."},
    quiet={"help": "Print one line: the number of rows that is enough, or - where none of the sizes is."},
    seed={"help": "Seed of what is drawn."},
)
def design(source: Source, outputs: Outputs, *, seed: int, **options: Any) -> None:
    """Tell how many rows are needed, from a pilot: the files A and B, or the file A split by a column."""
    from twosample.questions.design import design as run_design

    strings = options["kernel"] == "kmer"
    with notes():
        given = source.read_strings() if strings else source.read(options["nan_policy"])
    result = ask(given.names, run_design, given.x, given.y, rng=seed, **given.choice, **options)
    enough = result.size_for()
    outputs.deliver(replace(result, names=given.names).with_notes(given.notes), short=f"{enough or '-'}")
