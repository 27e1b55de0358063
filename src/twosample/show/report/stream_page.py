"""What the page of a monitor says, and the head of where it stands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import columns_in_words, log_bf10_text, printable, probability_in_words, sentence
from twosample.show.report import charts
from twosample.show.report.paragraph import CITATION, is_or_sign, model_in_words, version
from twosample.show.report.sections import MOST_PICTURES, fitting

if TYPE_CHECKING:
    from twosample.questions.monitor import Monitor, MonitorState

__all__ = ["head", "page"]

_HEAD_ROWS = 5


def page(monitor: Monitor) -> dict[str, Any]:
    """Everything that the template needs."""
    state, history = monitor.state, monitor.history
    batches, evalues, lengths = (
        np.array([getattr(row, name) for row in history], dtype=float)
        for name in ("batch", "log_evalue", "log_run_length")
    )
    return {
        **head(state),
        "evidence": charts.evidence_over_time(batches, evalues, lengths, -math.log(state.alpha)) if history else None,
        "columns": _columns(state, MOST_PICTURES),
        "columns_count": len(state.columns),
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
        "paragraph": _paragraph(state),
        "json": fitting({**state.to_dict(), "history": [row._asdict() for row in history]}),
    }


def head(state: MonitorState) -> dict[str, Any]:
    """What is guaranteed, the numbers and the first columns."""
    facts = [
        ("e-value", _number(state.log_evalue)),
        ("limit", f"{1.0 / state.alpha:g}"),
        ("batches", f"{state.batches:,}"),
        ("P(different | data), descriptive", probability_in_words(state.prob_h1)),
    ]
    rows = _columns(state, _HEAD_ROWS)
    short, _, said = state.verdict.partition(": ")
    return {
        "title": "A stream, batch by batch",
        "verdict": f"{sentence(short)}.",
        "answer": f"{sentence(said)}." if said else "",
        "warnings": [] if not state.spent else ["The reference is spent: no evidence can be added without fresh rows."],
        "facts": facts,
        "size": f"Everything so far has log BF10 {log_bf10_text(state.log_bf10)}. That is descriptive: who looks again "
        "and again will see large Bayes factors by chance."
        if state.batches
        else "",
        "data": f"{state.n_x:,} {'pairs' if state.paired else f'and {state.n_y:,} rows'}, "
        f"{columns_in_words(len(state.columns))}",
        "model_name": "none yet" if state.plan is None else state.plan.model.name,
        "bar": "",
        "head": ("column", "P(differs)", "log BF10", "how, if it does"),
        "rows": [(row["column"], row["prob"], row["log_bf10"], row["words"]) for row in rows],
        "more": max(len(state.columns) - len(rows), 0) if rows else 0,
    }


def _columns(state: MonitorState, most: int) -> list[dict[str, str]]:
    if len(state.columns) < 2:
        return []
    found = []
    for row in state.by_column[:most]:
        prob = probability_in_words(row.prob)
        found.append(
            {
                "column": printable(row.column),
                "prob": prob,
                "bar": charts.probability_bar(row.prob, f"P(differs) {is_or_sign(prob)}"),
                "log_bf10": log_bf10_text(row.log_bf10),
                "words": row.words if row.prob > 0.5 else "–",
            }
        )
    return found


def _paragraph(state: MonitorState) -> str:
    rows = f"{state.n_x} pairs" if state.paired else f"{state.n_x} and {state.n_y} rows"
    reached = f"reached {1.0 / state.alpha:g} at batch {state.crossed_at}" if state.alarm else "did not reach its limit"
    return (
        f"We watched two streams in {state.batches} batches ({rows}; {columns_in_words(len(state.columns))}) with the "
        f"product of batch e-values of a Bayesian kernel two-sample test (Zhang et al., 2022). If the streams are the "
        f"same, the probability that it ever reaches {1.0 / state.alpha:g} is at most {state.alpha:g}. It {reached} "
        f"(log e-value {log_bf10_text(state.log_evalue)} at the end). The monitor was that of twosample {version()}. "
        f"Reference: {CITATION}"
    )


def _number(log_value: float) -> str:
    return f"{math.exp(log_value):.3g}" if log_value < 500.0 else f"e^{log_value:.0f}"
