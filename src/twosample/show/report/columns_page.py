"""What the page of one test a column says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from twosample.common.words import log_bf10_text, printable, probability_in_words
from twosample.show.report import charts
from twosample.show.report.paragraph import each_paragraph as paragraph
from twosample.show.report.paragraph import is_or_sign, model_in_words
from twosample.show.report.sections import MOST_PICTURES, call_in_words, fitting, options_of_all, table_of_columns

if TYPE_CHECKING:
    from twosample.results.each_result import EachResult, EachRow

__all__ = ["TEMPLATE", "page", "paragraph"]

TEMPLATE = "many_columns"

_MOST_SKIPPED = 200


def page(result: EachResult) -> dict[str, Any]:
    """Everything that the template needs."""
    found = result.log_bf10[result.q <= result.fdr]
    least = float(found.min()) if len(found) else None
    compact, room = table_of_columns(
        result.column,
        result.log_bf10,
        result.auc,
        result.direction,
        share=result.share,
        group_share=result.group_share,
        groups=[place for place, name in enumerate(result.column) if name in result.groups],
        fdr=result.fdr,
    )
    options = options_of_all(result)
    if result.fdr != 0.05:
        options["fdr"] = result.fdr
    if result.groups:
        options["groups"] = {name: list(columns) for name, columns in list(result.groups.items())[:3]}
    return {
        "found": len(result.discoveries),
        "fdr": result.fdr,
        "columns": [_line(row) for row in list(result)[:MOST_PICTURES]],
        "count": len(result),
        "compact": compact,
        "room": room,
        "evidence": charts.columns_evidence(result.log_bf10, least),
        "assumed": [
            "Rows are independent of each other; a column is tested by its normal scores, so that monotone maps of it "
            "hardly matter.",
            "The share of columns that differ is learnt from all of them, and is the prior probability of each.",
            *model_in_words(result.model)[:5],
        ],
        "left_out": [(printable(name), why) for name, why in list(result.skipped.items())[:_MOST_SKIPPED]],
        "left_out_more": max(len(result.skipped) - _MOST_SKIPPED, 0),
        "notes": [printable(note) for note in result.notes],
        "numerics": [],
        "code": ["import twosample as ts", f'{call_in_words("test_each", options)}.report("report.html")'],
        "code_note": "x and y are the two samples.",
        "json": fitting(result.to_dict()) if len(result) <= MOST_PICTURES * 20 else None,
    }


def _line(row: EachRow) -> dict[str, str]:
    prob = probability_in_words(row.prob_h1)
    return {
        "column": printable(row.column),
        "prob": prob,
        "bar": charts.probability_bar(row.prob_h1, f"P(differs) {is_or_sign(prob)}"),
        "q": probability_in_words(row.q),
        "log_bf10": log_bf10_text(row.log_bf10),
        "auc": "–" if math.isnan(row.auc) else f"{row.auc:.3f}",
        "words": row.direction if row.direction and row.log_bf10 > 0.0 else "–",
    }
