"""The page of any result, from its facts, tables and panels alone."""

from __future__ import annotations

from typing import Any

from twosample.common.words import printable
from twosample.show.content import Facts
from twosample.show.report.panel_charts import of_panel
from twosample.show.report.paragraph import CITATION, version
from twosample.show.report.sections import chart_section, fitting, table_section

__all__ = ["TEMPLATE", "page", "paragraph"]

TEMPLATE = "any_result"


def page(result: Any) -> dict[str, Any]:
    """Everything that the template needs besides the head."""
    facts: Facts = result.facts()
    sections = [table_section(name, table) for name, table in result.tables().items() if len(table)]
    drawn = [of_panel(panel) for panel in result.panels().values() if panel.kind != "map"]
    if drawn:
        sections.insert(0, chart_section("pictures", "In pictures", drawn))
    return {
        "sections": sections,
        "assumed": [],
        "left_out": [],
        "notes": [printable(note) for note in facts.notes],
        "numerics": [(fact.label or "and", f"{fact.value}{fact.detail}") for fact in facts.lines if not fact.large],
        "code": [],
        "code_note": "",
        "json": fitting(result.to_dict()),
        "footer": "This page holds the result as JSON, and no rows of the data.",
    }


def paragraph(result: Any) -> str:
    """Verdict and facts in sentences."""
    facts: Facts = result.facts()
    numbers = "; ".join(f"{label} {value}" for label, value in facts.large)
    title = "" if facts.verdict.startswith(facts.title) else f"{facts.title}: "
    said = [f"{title}{facts.headline or facts.verdict}", facts.answer, f"({numbers})." if numbers else ""]
    said += [f"Data: {facts['data']}."] if facts["data"] else []
    said += [f"Model: {facts['model']}."] if facts["model"] else []
    return " ".join(filter(None, [*said, f"It was computed with twosample {version()}. Reference: {CITATION}"]))
