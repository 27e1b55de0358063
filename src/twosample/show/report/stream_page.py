"""What the page of a monitor says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import columns_in_words, log_bf10_text, printable
from twosample.show.report import charts
from twosample.show.report.paragraph import CITATION, model_in_words, version
from twosample.show.report.sections import chart_section, fitting, table_section

if TYPE_CHECKING:
    from twosample.questions.monitor import Monitor

__all__ = ["TEMPLATE", "page", "paragraph"]

TEMPLATE = "any_result"

_LOOKED_AT = (
    "The e-value may be looked at after every batch. The run length falls back where nothing changes; if nothing ever "
    "does, it takes at least as many batches on average to reach the limit as the limit says."
)


def page(monitor: Monitor) -> dict[str, Any]:
    """Everything that the template needs."""
    state, history = monitor.state, monitor.history
    batches, evalues, lengths = (
        np.array([getattr(row, name) for row in history], dtype=float)
        for name in ("batch", "log_evalue", "log_run_length")
    )
    sections = []
    if history:
        chart = charts.evidence_over_time(batches, evalues, lengths, -math.log(state.alpha))
        sections.append(chart_section("evidence", "Batch by batch", [chart], _LOOKED_AT))
    tables = state.tables()
    if len(state.columns) > 1 and "by_column" in tables:
        table = replace(tables["by_column"], title="Which columns differ, given everything so far")
        sections.append(table_section("columns", table, note="Descriptive, without a guarantee."))
    return {
        "sections": sections,
        "warnings": ["The reference is spent: no evidence can be added without fresh rows."] if state.spent else [],
        "assumed": [
            "Rows of a batch are independent of each other, or at least exchangeable if nothing differs.",
            "What the e-value of a batch is compared with comes from relabelling its own rows; what was learnt before "
            "may depend on earlier batches only.",
            *([] if state.plan is None else model_in_words(state.plan.model)[:5]),
        ],
        "left_out": [],
        "notes": [] if state.plan is None else [printable(note) for note in state.plan.notes],
        "numerics": [],
        "code": [
            "monitor = ts.Monitor(...)  # with the same settings",
            "for x, y in batches: monitor.update(x, y)",
        ],
        "code_note": "Batches are those of the streams, in their order; the same batches give the same numbers.",
        "json": fitting({**state.to_dict(), "history": [row._asdict() for row in history]}),
        "footer": "This page holds the history as JSON, and no rows of the data.",
    }


def paragraph(monitor: Monitor) -> str:
    """Where it stands as a paragraph for a paper."""
    state = monitor.state
    rows = f"{state.n_x} pairs" if state.paired else f"{state.n_x} and {state.n_y} rows"
    reached = f"reached {1.0 / state.alpha:g} at batch {state.crossed_at}" if state.alarm else "did not reach its limit"
    return (
        f"We watched two streams in {state.batches} batches ({rows}; {columns_in_words(len(state.columns))}) with the "
        f"product of batch e-values of a Bayesian kernel two-sample test (Zhang et al., 2022). If the streams are the "
        f"same, the probability that it ever reaches {1.0 / state.alpha:g} is at most {state.alpha:g}. It {reached} "
        f"(log e-value {log_bf10_text(state.log_evalue)} at the end). The monitor was that of twosample {version()}. "
        f"Reference: {CITATION}"
    )
