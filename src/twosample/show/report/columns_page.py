"""What the page of one test a column says, and the head of that and of a test of several groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from twosample.common.words import columns_in_words, log_bf10_text, printable, probability_in_words
from twosample.show.report import charts
from twosample.show.report.paragraph import each_paragraph, is_or_sign, model_in_words
from twosample.show.report.sections import MOST_PICTURES, call_in_words, fitting, options_of_all, table_of_columns

if TYPE_CHECKING:
    from twosample.results.each_result import EachResult, EachRow
    from twosample.results.groups_result import GroupsResult

__all__ = ["groups_head", "head", "page"]

_HEAD_ROWS = 5
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
        **head(result),
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
        "paragraph": each_paragraph(result),
        "json": fitting(result.to_dict()) if len(result) <= MOST_PICTURES * 20 else None,
    }


def head(result: EachResult) -> dict[str, Any]:
    """What was found, and the first columns."""
    found = result.discoveries
    tested = columns_in_words(len(result)) if not result.groups else f"{len(result)} columns and groups"
    share = f"{result.share:.1%}" if result.share >= 0.001 else f"{result.share:.2g}"
    return {
        "title": f"{tested}, one at a time",
        "verdict": f"{len(found):,} of {tested.replace(str(len(result)), f'{len(result):,}')} differ"
        f" at a false discovery rate of {result.fdr:g}.",
        "answer": f"About {share} of the columns differ, as learnt from all of them. Each was tested by itself, with "
        f"that share as its prior probability.",
        "warnings": [],
        "facts": [
            ("found to differ", f"{len(found):,}"),
            ("tested", f"{len(result):,}"),
            ("share that differs", share),
            *([("not tested", f"{len(result.skipped):,}")] if result.skipped else []),
        ],
        "size": "",
        "data": _sizes(result),
        "model_name": result.model.name,
        "bar": "",
        "head": ("column", "P(differs)", "log BF10", "AUC", "how, if it does"),
        "rows": [
            (one["column"], one["prob"], one["log_bf10"], one["auc"], one["words"])
            for one in map(_line, list(result)[:_HEAD_ROWS])
        ],
        "more": max(len(result) - _HEAD_ROWS, 0),
    }


def groups_head(result: GroupsResult) -> dict[str, Any]:
    """The table of several groups."""
    other = printable(result.reference)
    differ = sum(value > 0.5 for value in result.prob_h1.tolist())
    return {
        "title": f"{len(result)} groups against {other}",
        "verdict": f"{differ} of {len(result)} groups are more likely to differ from {other} than not.",
        "answer": "The comparisons share rows, so they are not independent; probabilities are not adjusted for how "
        "many there are.",
        "warnings": [],
        "facts": [],
        "size": "",
        "data": columns_in_words(len(result.columns)),
        "model_name": result.model.name,
        "bar": "",
        "head": ("group", "rows", "P(different)", "log BF10", "AUC", "verdict"),
        "rows": [
            (
                printable(row.group),
                f"{row.n:,}",
                probability_in_words(row.prob_h1),
                log_bf10_text(row.log_bf10),
                "–" if math.isnan(row.auc) else f"{row.auc:.3f}",
                row.verdict,
            )
            for row in result
        ],
        "more": 0,
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


def _sizes(result: EachResult) -> str:
    n_x, n_y = int(result.n_x.max(initial=0)), int(result.n_y.max(initial=0))
    few = int(result.n_x.min(initial=n_x)) < n_x or int(result.n_y.min(initial=n_y)) < n_y
    sizes = f"{n_x:,} pairs" if result.paired else f"{n_x:,} and {n_y:,} rows"
    return f"{sizes}{', or fewer where values are missing' if few else ''}, {columns_in_words(len(result))}"
