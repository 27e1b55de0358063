"""What the page of several groups says, and the head of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twosample.common.words import (
    columns_in_words,
    log_bf10_text,
    printable,
    probability_in_words,
    pvalue_text,
    sentence,
)
from twosample.show.report import charts
from twosample.show.report.paragraph import groups_paragraph, is_or_sign, model_in_words
from twosample.show.report.sections import MOST_PICTURES, fitting

if TYPE_CHECKING:
    from twosample.results.ksample_result import KSampleResult

__all__ = ["head", "page"]

_HEAD_ROWS = 5
_MOST_PAIRS = 300


def page(result: KSampleResult) -> dict[str, Any]:
    """Everything that the template needs."""
    options = [f"by={result.by!r}"] if result.by else []
    if result.prior_odds != 1.0:
        options.append(f"prior_odds={result.prior_odds:g}")
    if result.pvalue is not None:
        options.append(f"permutations={result.diagnostics.permutations}")
    columns = [(printable(row.column), log_bf10_text(row.log_bf10)) for row in result.by_column[:MOST_PICTURES]]
    return {
        **head(result),
        "partitions": [
            {
                "groups": _words(row.groups),
                "prob": (prob := probability_in_words(row.posterior)),
                "bar": charts.probability_bar(row.posterior, f"P {is_or_sign(prob)}"),
                "log_bf10": log_bf10_text(row.log_bf10),
                "prior": f"{row.prior:.3g}",
            }
            for row in result.partitions[:MOST_PICTURES]
        ],
        "partitions_count": len(result.assignments),
        "all_listed": result.all_listed,
        "pairs": [
            {
                "first": printable(row.first),
                "second": printable(row.second),
                "prob": (prob := probability_in_words(row.prob_same)),
                "bar": charts.probability_bar(row.prob_same, f"P(alike) {is_or_sign(prob)}"),
                "log_bf10": log_bf10_text(row.log_bf10),
            }
            for row in result.pairs[:_MOST_PAIRS]
        ],
        "pairs_count": len(result.pair_log_bf10),
        "columns": columns if len(result.columns) > 1 else [],
        "sizes": list(zip(map(printable, result.names), (f"{n:,}" for n in result.n.tolist()), strict=True)),
        "assumed": [
            "Rows are independent of each other, within groups and between them.",
            "If not all groups are alike, all numbers of different distributions are as likely beforehand, and so are "
            "all partitions of the groups with the same number.",
            "The distributions of any two blocks of a partition differ as those of two samples do.",
            *model_in_words(result.model)[:5],
        ],
        "left_out": [(printable(one.column), one.reason) for one in result.left_out],
        "notes": [printable(note) for note in result.diagnostics.notes],
        "numerics": [("error of log BF10", f"{result.diagnostics.quadrature_error:.1g}")],
        "code": ["import twosample as ts", f'ts.ksample({", ".join(["groups", *options])}).report("report.html")'],
        "code_note": "groups is the table." if result.by else "groups holds the samples, by name.",
        "paragraph": groups_paragraph(result),
        "json": fitting(result.to_dict()),
    }


def head(result: KSampleResult) -> dict[str, Any]:
    """The answer, the numbers and the likeliest partitions."""
    likeliest = result.partitions[0]
    prob = probability_in_words(likeliest.posterior)
    facts = [
        ("P(not all alike | data)", probability_in_words(result.prob_h1)),
        ("log BF10", f"{log_bf10_text(result.log_bf10)}{'' if result.all_listed else ' or more'}"),
    ]
    if result.pvalue is not None:
        facts.append(("p-value", pvalue_text(result.pvalue)))
    if result.evalue is not None:
        facts.append(("e-value", f"{result.evalue:.3g}"))
    return {
        "title": f"{len(result.names)} groups",
        "verdict": f"{sentence(result.verdict)}.",
        "answer": f"Likeliest: {_words(likeliest.groups)} (probability {prob}). A bar stands between groups that "
        "differ.",
        "warnings": [],
        "facts": facts,
        "size": "",
        "data": f"{len(result.names)} groups, {int(result.n.sum()):,} rows, {columns_in_words(len(result.columns))}",
        "model_name": result.model.name,
        "bar": "",
        "head": ("partition", "probability", "log BF10"),
        "rows": [
            (_words(row.groups), probability_in_words(row.posterior), log_bf10_text(row.log_bf10))
            for row in result.partitions[:_HEAD_ROWS]
        ],
        "more": max(len(result.assignments) - _HEAD_ROWS, 0),
    }


def _words(groups: tuple[tuple[str, ...], ...]) -> str:
    return " | ".join(", ".join(map(printable, block)) for block in groups)
