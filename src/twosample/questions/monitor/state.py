"""Where a monitor stands: a frozen record that keeps apart what is guaranteed and what is descriptive."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from twosample.common.records import freeze, to_json, to_plain
from twosample.common.threads import one_thread
from twosample.common.words import columns_in_words, log_bf10_text, probability_in_words, sentence
from twosample.data.categories import many_in_words
from twosample.errors import InputError
from twosample.features.statistics import FeatureStatistics
from twosample.inference.columns import ColumnEvidence, Table
from twosample.inference.witness import Witness
from twosample.plan import Plan
from twosample.results.objects_result import ObjectsResult
from twosample.results.result import Result
from twosample.results.result_parts import column_facts
from twosample.results.two_sample_result import TwoSampleResult
from twosample.show.content import DataTable, Fact, Facts, Panel

__all__ = ["HistoryRow", "MonitorState", "RunLength"]

# Fields that JSON does not hold, or in another form.
_NOT_PLAIN = ("run_length", "plan", "statistics", "answered")


class HistoryRow(NamedTuple):
    """One batch in the history of a monitor.

    Attributes
    ----------
    batch
        Its number, from 1.
    n_x, n_y
        Rows so far, this batch included.
    log_batch_evalue
        Log e-value of this batch alone.
    log_evalue
        Log e-value after it.
    log_run_length
        Log of the run-length detector after it.
    """

    batch: int
    n_x: int
    n_y: int
    log_batch_evalue: float
    log_evalue: float
    log_run_length: float


@dataclass(frozen=True)
class RunLength:
    """A detector of changes: M = e (M + 1) with every batch, whose value falls back where nothing changes.

    Where the streams are the same throughout, the mean number of batches until it first reaches 1/alpha is at least
    1/alpha.

    Attributes
    ----------
    log_value
        Log M; minus infinity before the first batch.
    alarm_at
        The batch at which M first reached 1/alpha, or None.
    """

    log_value: float = -math.inf
    alarm_at: int | None = None

    @property
    def alarm(self) -> bool:
        """Whether it has ever reached 1/alpha."""
        return self.alarm_at is not None

    def after(self, batch: int, log_evalue: float, alpha: float) -> RunLength:
        """After a batch with that log e-value.

        Examples
        --------
        >>> after = RunLength().after(1, math.log(8.0), 0.05).after(2, math.log(3.0), 0.05)
        >>> round(math.exp(after.log_value), 9), after.alarm_at
        (27.0, 2)
        """
        top = max(self.log_value, 0.0)
        log_value = log_evalue + top + math.log(math.exp(self.log_value - top) + math.exp(-top))
        reached = batch if log_value >= -math.log(alpha) else None
        return RunLength(log_value, self.alarm_at if self.alarm else reached)


@dataclass(frozen=True, eq=False, repr=False)
class MonitorState(Result):
    """Where a monitor stands after a batch.

    Attributes
    ----------
    alpha
        The alarm is at an e-value of 1/alpha.
    batches
        Number of batches so far.
    n_x, n_y
        Rows in them.
    waiting
        Rows of each sample that wait for the other one.
    log_evalue
        Log e-value: where the streams are the same, the probability that it ever reaches log(1/alpha) is at most alpha.
        With a `window` that is so for each batch alone.
    log_batch_evalue
        Log e-value of the last batch alone.
    crossed_at
        The batch at which the e-value first reached 1/alpha, or None.
    run_length
        The detector of changes.
    reference_left
        Rows of the reference that are not yet spent; None without one.
    window
        Over how many batches the e-value is taken; None for all.
    prior_odds
        Prior odds of "different" against "the same", for `prob_h1`.
    paired
        Whether the rows are pairs.
    columns
        Names of the columns that are watched.
    plan, statistics
        Behind the descriptive answer; None before the first batch, and in what was read from JSON.
    answered
        That answer, in what was read from JSON; else None.
    """

    _no_look: ClassVar[tuple[str, str]] = (
        "the state of a stream has no data to test again: a monitor keeps statistics of its batches, and no rows",
        "call it on what test returns for rows that were kept",
    )

    alpha: float
    batches: int
    n_x: int
    n_y: int
    waiting: tuple[int, int]
    log_evalue: float
    log_batch_evalue: float
    crossed_at: int | None
    run_length: RunLength
    reference_left: int | None
    window: int | None
    prior_odds: float
    paired: bool
    columns: tuple[str, ...]
    plan: Plan | None
    statistics: FeatureStatistics | None
    answered: TwoSampleResult | ObjectsResult | None = None

    def __post_init__(self) -> None:
        """Make the arrays as unchangeable as the record."""
        if self.statistics is not None:
            freeze(self.statistics)

    @property
    def evalue(self) -> float:
        """The e-value; the largest number there is where it is larger."""
        return math.exp(min(self.log_evalue, math.log(sys.float_info.max)))

    @property
    def alarm(self) -> bool:
        """Whether the e-value has ever reached 1/alpha."""
        return self.crossed_at is not None

    @property
    def spent(self) -> bool:
        """Whether too few rows of the reference are left for another batch."""
        return self.reference_left is not None and self.reference_left < 2

    @cached_property
    def result(self) -> TwoSampleResult | ObjectsResult | None:
        """The answer of `twosample.test` for everything so far, at the points of the plan; None before the first batch.

        It is descriptive: who looks again and again will see large Bayes factors by chance. It is computed when it is
        first asked for.
        """
        if self.plan is None or self.statistics is None:
            return self.answered
        with one_thread():
            return self.plan.answer(self.statistics, prior_odds=self.prior_odds)

    @property
    def log_bf10(self) -> float:
        """Log Bayes factor of everything so far, without forgetting: descriptive, 0 before the first batch."""
        return 0.0 if self.result is None else self.result.log_bf10

    @property
    def prob_h1(self) -> float:
        """Probability that the streams differ, given everything so far: descriptive."""
        return self.prior_odds / (1.0 + self.prior_odds) if self.result is None else self.result.prob_h1

    @property
    def by_column(self) -> Table[ColumnEvidence]:
        """Which columns differ, given everything so far: a `ColumnEvidence` for each, likeliest first."""
        if not isinstance(self.result, TwoSampleResult):  # before the first batch, or of objects
            return Table((), ColumnEvidence._fields)
        return self.result.by_column

    def witness(self, at: object) -> Witness:
        """Where the streams differ, given everything so far: the witness at locations (m, D), in the units of the data.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(0)
        >>> state = ts.Monitor().update(rng.normal(0, 1, 50), rng.normal(2, 1, 50))
        >>> (state.witness([-0.5, 2.5]).mean > 0).tolist()
        [True, False]
        """
        if self.result is None:
            raise InputError("witness: there has been no batch yet")
        return self.result.witness(at)

    @property
    def verdict(self) -> str:
        """The guarantee in words."""
        limit, when = f"{1.0 / self.alpha:g}", "however long they are watched"
        if self.window is not None:
            when = "at any one batch, and sooner or later at some"
        if self.alarm:
            return (
                f"alarm at batch {self.crossed_at}: the e-value reached {limit}; if the streams are the same, that "
                f"happens with a probability of at most {self.alpha:g}, {when}"
            )
        if not self.batches:
            return "no batch yet"
        return (
            f"no alarm: the e-value has not reached {limit} in {_counted(self.batches, 'batch', 'batches')}; "
            "that is no evidence that the streams are the same"
        )

    def _run_length_fact(self) -> Fact:
        change = f", first reached 1/alpha at batch {self.run_length.alarm_at}" if self.run_length.alarm else ""
        limit = 1.0 / self.alpha
        length = f"{_number(self.run_length.log_value)} of {limit:g}"
        if self.run_length.log_value >= math.log(limit):
            length = f"at least {limit:g}, the limit"
        return Fact("run length", length, change)

    def facts(self) -> Facts:
        """The state in words and numbers, in the order in which they are read."""
        over = "" if self.window is None else f", over the last {_counted(self.window, 'batch', 'batches')}"
        batches = _counted(self.batches, "batch", "batches")
        unit = "objects" if isinstance(self.result, ObjectsResult) else "rows"
        rows = f"{self.n_x:,} pairs" if self.paired else f"{self.n_x:,} and {self.n_y:,} {unit}"
        lines: list[Fact] = []
        if self.batches:
            log_evalue = f" (log {log_bf10_text(self.log_evalue)}){over}"
            lines = [
                Fact("e-value", _number(self.log_evalue), log_evalue, large=True),
                self._run_length_fact(),
                Fact(
                    "log BF10", log_bf10_text(self.log_bf10), " for everything so far: descriptive, without a guarantee"
                ),
                Fact("P(different | data)", probability_in_words(self.prob_h1), ", likewise"),
                *(column_facts(self.by_column, ("x", "y")) if len(self.columns) > 1 else []),
            ]
        lines += [
            Fact("limit", f"{1.0 / self.alpha:g}", large=True),
            Fact("data", f"{batches}, {rows}{f', {columns_in_words(len(self.columns))}' if self.columns else ''}"),
        ]
        if self.reference_left is not None:
            spent = "; it is spent, and no evidence can be added without fresh rows (refill)" if self.spent else ""
            lines.append(Fact("reference", f"{_counted(self.reference_left, 'row', 'rows')} left{spent}"))
        if any(self.waiting):
            lines.append(Fact("waiting", f"{self.waiting[0]} and {self.waiting[1]} rows"))
        behind = self.answered if self.plan is None else self.plan
        if behind is not None:
            lines.append(Fact("model", behind.model.name))
        short, _, guarantee = self.verdict.partition(": ")
        return Facts(
            title="A stream, batch by batch",
            verdict=f"{sentence(self.verdict)}.",
            lines=tuple(lines),
            headline=f"{sentence(short)}.",
            answer=f"{sentence(guarantee)}." if guarantee else "",
            remark=f"Everything so far has log BF10 {log_bf10_text(self.log_bf10)}. That is descriptive: who looks "
            "again and again will see large Bayes factors by chance."
            if self.batches
            else "",
            notes=self._notes,
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        """What the descriptive answer says of the rows; before there is one, what its plan does."""
        about = self.result
        if isinstance(about, ObjectsResult):
            return about.diagnostics.notes
        if about is not None:
            return about.diagnostics.notes + many_in_words(about.columns, about.levels)
        return () if self.plan is None else self.plan.notes + many_in_words(self.plan.columns, self.plan.levels)

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `by_column`, given everything so far; the facts before the first batch."""
        return super().tables() if self.result is None else self.result.tables()

    def panels(self) -> dict[str, Panel]:
        """The data of pictures, given everything so far; none before the first batch."""
        return {} if self.result is None else self.result.panels()

    def __repr__(self) -> str:
        """Return the state in one line."""
        return (
            f"MonitorState(batches={self.batches}, log_evalue={self.log_evalue:.4g}, alarm={self.alarm}, "
            f"crossed_at={self.crossed_at})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings: what is guaranteed, and how much was seen."""
        length = None if math.isinf(self.run_length.log_value) else self.run_length.log_value
        plain = {
            field.name: to_plain(getattr(self, field.name)) for field in fields(self) if field.name not in _NOT_PLAIN
        }
        return {
            "schema": 2,
            **plain,
            "alarm": self.alarm,
            "log_run_length": length,
            "run_length_alarm_at": self.run_length.alarm_at,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The state as JSON text with the descriptive answer, also written to `path` if one is given.

        What is read back says the same, but no batch can be added to it: that is for `Monitor.save`.
        """
        answered = None if self.result is None else self.result.to_dict()
        return to_json({**self.to_dict(), "answered": answered}, path)

    @classmethod
    def _from_older(cls, content: dict[str, Any]) -> dict[str, Any]:
        length = content.get("log_run_length")
        run_length = {
            "log_value": -math.inf if length is None else length,
            "alarm_at": content.get("run_length_alarm_at"),
        }
        return {**content, "run_length": run_length, "plan": None, "statistics": None}


def _number(log_value: float) -> str:
    """A positive number of any size, from its logarithm."""
    if abs(log_value) < math.log(1e6):
        return f"{math.exp(log_value):.3g}"
    exponent = math.floor(log_value / math.log(10.0))
    return f"{math.exp(log_value - exponent * math.log(10.0)):.1f}e{exponent:+d}"


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
