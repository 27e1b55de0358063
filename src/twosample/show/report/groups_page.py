"""What the page of several groups says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twosample.common.words import printable
from twosample.show.report.paragraph import groups_paragraph as paragraph
from twosample.show.report.paragraph import model_in_words
from twosample.show.report.sections import fitting, table_section

if TYPE_CHECKING:
    from twosample.results.ksample_result import KSampleResult

__all__ = ["TEMPLATE", "page", "paragraph"]

TEMPLATE = "any_result"

_MOST_PAIRS = 300


def page(result: KSampleResult) -> dict[str, Any]:
    """Everything that the template needs."""
    options = [f"by={result.by!r}"] if result.by else []
    if result.prior_odds != 1.0:
        options.append(f"prior_odds={result.prior_odds:g}")
    if result.pvalue is not None:
        options.append(f"permutations={result.diagnostics.permutations}")
    tables = result.tables()
    same = (
        "P(same) is from the partitions of all groups, so that how many groups there are is taken into account; log "
        "BF10 is of the two groups alone, with the covariance within all groups."
    )
    alike = f"Groups between two bars share a distribution. {tables['partitions'].note}".strip()
    sections = [
        table_section("partitions", tables["partitions"], note=alike),
        table_section("pairs", tables["pairs"], _MOST_PAIRS, note=same),
        *(table_section("columns", tables[name]) for name in ("by_column",) if name in tables),
        table_section("sizes", tables["groups"], _MOST_PAIRS),
    ]
    return {
        "sections": sections,
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
        "json": fitting(result.to_dict()),
        "footer": "This page holds the result as JSON, and no rows of the data.",
    }
