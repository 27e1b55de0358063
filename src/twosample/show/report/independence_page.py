"""What the page of a test of independence says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import (
    columns_in_words,
    log_bf10_text,
    odds_in_words,
    printable,
    probability_in_words,
    pvalue_text,
)
from twosample.inference.witness import Driver
from twosample.show.content import DataTable
from twosample.show.report import witness_charts
from twosample.show.report.paragraph import CITATION, is_or_sign, version
from twosample.show.report.sections import chart_section, fitting, table_section
from twosample.show.report.svg import number

if TYPE_CHECKING:
    from twosample.questions.independence import IndependenceResult

__all__ = ["TEMPLATE", "page", "paragraph"]

TEMPLATE = "any_result"

_MOST_CELLS = 12
_PAIRS = ("real pairs", "shuffled pairs")


def page(result: IndependenceResult) -> dict[str, Any]:
    """Everything that the template needs."""
    sections, witness, cells = [], _map(result), _cells(result)
    where = "Where they depend on each other"
    if witness is not None:
        shuffled = (
            "Shuffled pairs are what independence would give. The witness is the density of the pairs over that of "
            "shuffled pairs, less 1."
        )
        sections.append(chart_section("where", where, [witness], shuffled))
    if cells:
        headings = {"x": "x", "y": "y", "mass": "mass over that of independence, less 1", "sd": "± sd"}
        sections.append(table_section("where", DataTable(where, headings, cells)))
    if result.pairs.size > 1:
        sections.append(table_section("columns", result.tables()["by_pair"]))
    return {
        "sections": sections,
        "assumed": _assumed(result),
        "left_out": [],
        "notes": [printable(note) for note in result.notes],
        "numerics": [],
        "code": ["import twosample as ts", f'{_call(result)}.report("report.html")'],
        "code_note": "x and y are the two sides, row by row together.",
        "json": fitting(result.to_dict()),
        "footer": "This page holds the result as JSON, and no rows of the data.",
    }


def _map(result: IndependenceResult) -> Any:
    """The witness of two columns of numbers as a picture."""
    picture = result.picture
    if picture is None or picture.levels_x or picture.levels_y:
        return None
    driver = Driver((0, 1), np.stack([picture.at_x, picture.at_y]), picture.mean, picture.sd)
    return witness_charts.witness_map(driver, None, _PAIRS, result.labels)


def _cells(result: IndependenceResult) -> list[tuple[str, str, str, str]]:
    """Where the witness of a category is farthest from zero, beside how well it is known."""
    picture = result.picture
    if picture is None or not (picture.levels_x or picture.levels_y):
        return []
    clear = np.abs(picture.mean) / np.maximum(picture.sd, np.finfo(float).tiny)
    found = []
    for place in np.argsort(-clear, axis=None, kind="stable")[:_MOST_CELLS]:
        i, j = np.unravel_index(place, clear.shape)
        at_x = printable(picture.levels_x[i]) if picture.levels_x else number(float(picture.at_x[i]))
        at_y = printable(picture.levels_y[j]) if picture.levels_y else number(float(picture.at_y[j]))
        found.append((at_x, at_y, f"{picture.mean[i, j]:+.2f}", f"{picture.sd[i, j]:.2f}"))
    return found


def _assumed(result: IndependenceResult) -> list[str]:
    said = [
        "Rows are independent of each other; row i of x belongs with row i of y.",
        "A column of numbers counts by its normal scores, so that monotone maps of it do not matter; of categories it "
        "counts whether they are the same.",
        "If x and y are dependent, a few functions of x are correlated with a few functions of y; smooth ones are "
        "likelier, at lengthscales that are as likely beforehand for x and for y.",
        "If they are independent, every pairing of the rows is as likely, which says how much such correlations vary.",
    ]
    if result.pairs.size > 1:
        said.append(
            "All columns together have half of the prior weight, and the pairs of columns share the other half."
        )
    return said


def _call(result: IndependenceResult) -> str:
    options = [f"permutations={result.permutations}"] * bool(result.permutations)
    options += [f"prior_odds={result.prior_odds:g}"] * (result.prior_odds != 1.0)
    options += [f"points={result.points}"] * (result.points != 16)
    return f"ts.independence({', '.join(['x', 'y', *options])})"


def paragraph(result: IndependenceResult) -> str:
    """The answer as a paragraph for a paper."""
    first, second = result.labels
    permuted = ""
    if result.pvalue is not None:
        pvalue = is_or_sign(pvalue_text(result.pvalue))
        permuted = f" A permutation test of the same statistic has p {pvalue} ({result.permutations} permutations)."
    return (
        f"We tested whether {first} and {second} are independent (n = {result.n}; {columns_in_words(len(result.x))} "
        f"and {columns_in_words(len(result.y))}) with a Bayesian kernel test of independence, after Zhang et al. "
        "(2022). "
        f"There was {result.verdict} (log BF10 = {log_bf10_text(result.log_bf10)}; P(dependent | data) "
        f"{is_or_sign(probability_in_words(result.prob_h1))} at prior odds of {odds_in_words(result.prior_odds)})."
        f"{permuted} The test was that of twosample {version()}. Reference: {CITATION}"
    )
