"""Commands for pipelines: a check that fails by a rule, and the reference that it may be made against."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import click
from click.core import ParameterSource

from twosample.cli.flags import command
from twosample.cli.inputs import Source
from twosample.cli.messages import notes, option_of, printable, refusals
from twosample.cli.output import Outputs, echo
from twosample.cli.question_commands import ask
from twosample.common.exits import VERDICT
from twosample.common.records import write_whole
from twosample.errors import InputError
from twosample.results.rules import Outcome, Rule

if TYPE_CHECKING:
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["check", "reference"]

# Options of `check` that a reference has settled.
_SETTLED = "by groups columns drop categories paired pair_by model points subsets scale permutations".split()

_CHECK_EPILOG = """\b
Examples:
  twosample check yesterday.csv today.csv                          fails if P(different) > 0.95
  twosample check a.csv b.csv --fail-if "prob_h1 > 0.95 and auc > 0.55" --junit check.xml
  twosample check a.csv b.csv --fail-if 'prob_column["dose"] > 0.99 or columns_differing >= 3'
  twosample check --reference yesterday.npz today.csv              needs no rows of yesterday

A rule has numbers, < <= > >= == !=, and, or, not, parentheses, and the names prob_h1, prob_h0, log_bf10, bf10, bf01,
auc, auc_low, auc_high (90 %), prob_beyond_rope (with --rope), pvalue and evalue (with --permutations), n_x, n_y,
columns_differing (those more likely than not to differ) and prob_column["name of a column"].

\b
Exit status:
  0    pass: the rule does not hold
  1    fail: the rule holds; the first line says why
  2    refused: one line on stderr says what is wrong, and no file is written
  3    broken: the check could not be made; so is every other status
"""


@command(
    "files by groups columns drop paired pair_by categories known fail_if model points subsets permutations rope "
    "prior_odds scale nan_policy seed junit json report quiet",
    _CHECK_EPILOG,
    seed={"help": "Seed of permutations."},
    json={"help": "Write rule, outcome and the whole result to this file; - prints it instead."},
    quiet={"help": "Print one line: the outcome and the reason."},
)
def check(source: Source, outputs: Outputs, *, known: Path | None, fail_if: str, seed: int, **options: Any) -> int:
    """Check two samples by a rule: exit status 0 if it does not hold, 1 if it does.

    The samples are the files A and B, the file A split by a column, or a reference and the file A.
    """
    from twosample.questions.two_samples import test

    start = time.monotonic()
    rule = Rule.of(fail_if)
    rule.check_settings(permutations=options["permutations"], rope=options["rope"])
    if known is None:
        with notes():
            given = source.read(options["nan_policy"])
        answer = ask(given.names, test, given.x, given.y, rng=seed, **given.choice, **options)
        result: TwoSampleResult = answer.of_files(given.names, given.notes)
    else:
        result = _of_reference(source, known, rule, **options)
    outcome = rule.outcome(result)
    content = {
        "rule": rule.text,
        "outcome": "fail" if outcome.holds else "pass",
        "reason": outcome.reason,
        # A Bayes factor may be beyond the floating-point range; its logarithm is in the result.
        "values": {name: value if math.isfinite(value) else None for name, value in outcome.values.items()},
        "result": result.to_dict(),
    }
    if outputs.junit is not None:
        document = junit(result, outcome, rule, time.monotonic() - start)
        write_whole(outputs.junit, lambda file: file.write(document))
    lead = f"{'FAIL' if outcome.holds else 'pass'}: {printable(outcome.reason)}"
    outputs.deliver(result, result.names, lead=lead, content=content)
    return VERDICT if outcome.holds else 0


def _of_reference(source: Source, path: Path, rule: Rule, **options: Any) -> TwoSampleResult:
    """The answer for a reference and one file."""
    from twosample.questions.reference import Reference

    context = click.get_current_context()
    for name in _SETTLED:
        if context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
            why = "there are no rows to permute" if name == "permutations" else "the reference has settled that"
            raise InputError(f"{option_of(name)}: not with --reference; {why}")
    if len(source.files) != 1:
        raise InputError(f"--reference: needs one file to compare, not {len(source.files)}")
    known = Reference.load(path)
    rule.check_columns(known.columns)
    with notes():
        frame, said = source.read_one(options["nan_policy"], known.about.columns)
    names = (known.about.name, source.files[0].name)
    kept = {name: options[name] for name in ("prior_odds", "rope", "nan_policy")}
    with refusals(names), notes():
        result = known.test(frame, **kept)
    return result.of_files(names, said)


def junit(result: TwoSampleResult, outcome: Outcome, rule: Rule, seconds: float) -> bytes:
    """The outcome as JUnit XML: a case for the rule, and one for each column with its probability.

    Where the rule holds, columns that are more likely than not to differ count as failures too.
    """
    columns = result.by_column
    failing = [outcome.holds and row.prob > 0.5 for row in columns]
    failures = int(outcome.holds) + sum(failing)
    counts = {"tests": str(1 + len(columns)), "failures": str(failures), "errors": "0", "time": f"{seconds:.3f}"}
    root = ElementTree.Element("testsuites", {"name": "twosample", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "twosample", **counts, "skipped": "0"})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in {**outcome.values, "x": result.names[0], "y": result.names[1]}.items():
        ElementTree.SubElement(properties, "property", name=printable(name), value=printable(str(value)))
    case = _case(suite, "twosample.check", rule.text, seconds)
    said = "\n".join(printable(part) for part in result.summary().splitlines())
    if outcome.holds:
        _fail(case, outcome.reason, said)
    else:
        ElementTree.SubElement(case, "system-out").text = said
    for row, failed in zip(columns, failing, strict=True):
        case = _case(suite, "twosample.inference.columns", row.column, 0.0)
        words = f"P(column differs) {row.prob:.6g}, log BF10 {row.log_bf10:.4g}"
        if failed:
            _fail(case, words, row.words)
        ElementTree.SubElement(case, "system-out").text = words
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _case(suite: ElementTree.Element, group: str, name: str, seconds: float) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=group, name=printable(name) or "(no name)", time=f"{seconds:.3f}"
    )


def _fail(case: ElementTree.Element, message: str, text: str) -> None:
    ElementTree.SubElement(case, "failure", message=printable(message), type="difference").text = text


_REFERENCE_EPILOG = """\b
Examples:
  twosample reference yesterday.csv --out yesterday.npz
  twosample check --reference yesterday.npz today.csv

The file holds counts, means and scatter matrices, and some of the data: rows for pictures (500, 2,000 of one column),
and values that are repeated in a column. How many rows is printed.
"""


@command("file columns drop out points subsets scale nan_policy", _REFERENCE_EPILOG)
def reference(source: Source, outputs: Outputs, **options: Any) -> None:
    """Keep what a check needs of the file A, so that later samples are compared with it without its rows."""
    from twosample.questions.reference import Reference

    (path,) = source.files
    with notes():
        frame, _ = source.read_one(options["nan_policy"])
    with refusals((str(path),)), notes():
        made = Reference.of(frame, columns=source.columns, drop=source.drop, name=path.name, **options)
    made.save(outputs.out)  # type: ignore[arg-type]  # which is required
    echo(made.summary())
