"""What the page of a test of independence says, and its head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import (
    columns_in_words,
    log_bf10_text,
    printable,
    probability_in_words,
    pvalue_text,
    sentence,
)
from twosample.inference.witness import Driver
from twosample.show.report import charts, witness_charts
from twosample.show.report.paragraph import CITATION, is_or_sign, odds_in_words, version
from twosample.show.report.sections import MOST_PICTURES, fitting
from twosample.show.report.svg import number

if TYPE_CHECKING:
    from twosample.questions.independence import IndependenceResult

__all__ = ["head", "page"]

_HEAD_ROWS = 5
_MOST_CELLS = 12
_PAIRS = ("real pairs", "shuffled pairs")


def page(result: IndependenceResult) -> dict[str, Any]:
    """Everything that the template needs."""
    return {
        **head(result),
        "pairs": _pairs(result, MOST_PICTURES),
        "pairs_count": result.pairs.size,
        "where": _map(result),
        "cells": _cells(result),
        "assumed": _assumed(result),
        "left_out": [],
        "notes": [printable(note) for note in result.notes],
        "numerics": [],
        "code": ["import twosample as ts", f'{_call(result)}.report("report.html")'],
        "code_note": "x and y are the two sides, row by row together.",
        "paragraph": _paragraph(result),
        "json": fitting(result.to_dict()),
    }


def head(result: IndependenceResult) -> dict[str, Any]:
    """The verdict, the numbers and the first pairs of columns."""
    first, second = result.labels
    prob = probability_in_words(result.prob_h1)
    rows = _pairs(result, _HEAD_ROWS) if result.pairs.size > 1 else []
    return {
        "title": f"{first} and {second}",
        "verdict": f"{sentence(result.verdict)}.",
        "answer": f"P(dependent | data) {is_or_sign(prob)}, at prior odds of {odds_in_words(result.prior_odds)}.",
        "warnings": [],
        "facts": [
            ("P(dependent | data)", prob),
            ("log BF10", log_bf10_text(result.log_bf10)),
            ("size, if dependent", f"{result.size:.2f}"),
            *([] if result.pvalue is None else [("p-value", pvalue_text(result.pvalue))]),
            *([] if result.evalue is None else [("e-value", f"{result.evalue:.3g}")]),
        ],
        "size": "The size is that of a correlation: where both are normal and dependent, it is the correlation.",
        "data": f"{result.n:,} rows, {columns_in_words(len(result.x))} and {columns_in_words(len(result.y))}",
        "model_name": "independence",
        "bar": "",
        "head": ("x", "y", "P(dependent)", "log BF10", "how, if they are"),
        "rows": [(row["x"], row["y"], row["prob"], row["log_bf10"], row["words"]) for row in rows],
        "more": max(result.pairs.size - len(rows), 0) if rows else 0,
    }


def _pairs(result: IndependenceResult, most: int) -> list[dict[str, str]]:
    found = []
    for row in result.by_pair[:most]:
        prob = probability_in_words(row.prob)
        found.append(
            {
                "x": printable(row.x),
                "y": printable(row.y),
                "prob": prob,
                "bar": charts.probability_bar(row.prob, f"P(dependent) {is_or_sign(prob)}"),
                "log_bf10": log_bf10_text(row.log_bf10),
                "words": row.words if row.prob > 0.5 else "–",
            }
        )
    return found


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


def _paragraph(result: IndependenceResult) -> str:
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
