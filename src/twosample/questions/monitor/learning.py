"""What a monitor has learnt from the batches so far: the plan, sums for the statistic, and statistics of everything."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from twosample import kernels, models
from twosample.common.arrays import Array
from twosample.data import Samples, some
from twosample.data.categories import Levels
from twosample.data.reading import Table
from twosample.errors import TwoSampleWarning
from twosample.features.statistics import FeatureStatistics
from twosample.plan import Plan, make_plan
from twosample.questions.monitor import evalues
from twosample.questions.monitor.components import Component, Learnt, components_of

__all__ = ["Learning", "Method", "Rows"]

Rows = tuple[Array, Array]

# The plan is rebuilt when the row count grows by `_GROWTH`, for the last time at `_SETTLED` rows.
# Statistics are collected again then.
_GROWTH = 1.25
_SETTLED = 400


@dataclass(frozen=True)
class Method:
    """How batches are judged."""

    paired: bool  # whether row i of x belongs with row i of y
    labellings: int  # number of relabellings, the observed one among them
    points: int
    subsets: object  # which columns may differ: "columns" is all together and each alone, else as in `twosample.test`
    memory: float  # what share of the past is remembered from batch to batch
    columns: tuple[str, ...]
    levels: Levels = ()
    kernel: str = "rbf"


@dataclass(frozen=True, eq=False)
class Learning:
    """After some batches; frozen, so that a batch that fails or is interrupted changes nothing."""

    method: Method
    plan: Plan | None = None  # the plan; None before the first batch
    # The rows of all batches so far, as long as the plan may change; None once it is settled.
    young: tuple[Rows, ...] | None = ()
    learnt: tuple[Learnt, ...] = ()  # what the components of the plan have learnt
    statistics: FeatureStatistics | None = None  # of everything so far, for the descriptive answer
    planned: int = 0  # how many rows the plan was made of

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The tests whose Bayes factors are averaged."""
        return () if self.plan is None else components_of(self.plan)

    def after(self, x: Array, y: Array, generator: np.random.Generator) -> tuple[float, Learning]:
        """The log e-value of a batch, and what is known after it."""
        ready, young = self._planned(x, y), self.young
        assert ready.plan is not None
        if young is not None:
            young = (*young, (x, y))
            young = None if sum(map(_size, young)) >= _SETTLED else young
        x, y = ready._watched(x), ready._watched(y)
        statistics = ready._collect(x, y)
        new = ready._new(statistics)
        batch = evalues.Batch(x, y, self.method.labellings, self.method.paired, generator)
        values = evalues.log_statistics(ready.components, ready.learnt, new, batch, ready.plan.model)
        return evalues.log_evalue(values, batch.observed), replace(ready._with(statistics, new), young=young)

    @classmethod
    def started(cls, method: Method, plan: Plan) -> Learning:
        """With a plan, and nothing learnt."""
        ready = cls(method, plan, young=None)
        return replace(ready, learnt=tuple(map(Learnt.nothing, ready.components)))

    def _planned(self, x: Array, y: Array) -> Learning:
        """With a plan for this batch; where it is a new one, earlier batches are gone over again."""
        if self.young is None:
            return self
        batches = (*self.young, (x, y))
        total = sum(map(_size, batches))
        if self.plan is not None and total < min(_GROWTH * self.planned, _SETTLED):
            return self
        plan = _plan(np.concatenate([rows for batch in batches for rows in batch]), self.method)
        ready = replace(Learning.started(self.method, plan), young=self.young, planned=total)
        for earlier in self.young:
            statistics = ready._collect(*map(ready._watched, earlier))
            ready = ready._with(statistics, ready._new(statistics))
        return ready

    def _watched(self, rows: Array) -> Array:
        """The columns that the plan is of; of a given plan they were read alone."""
        assert self.plan is not None
        if self.plan.domain is not None:
            return rows
        return rows if rows.shape[1] == len(self.plan.columns) else rows[:, self.plan.kept]

    def _collect(self, x: Array, y: Array) -> FeatureStatistics:
        plan = self.plan
        assert plan is not None
        return plan.collect(
            Samples(x, y, plan.columns, plan.view, plan.kept, self.method.paired, (), levels=plan.levels)
        )

    def _new(self, statistics: FeatureStatistics) -> tuple[Learnt, ...]:
        return tuple(Learnt.of(component.moments(statistics)) for component in self.components)

    def _with(self, statistics: FeatureStatistics, new: tuple[Learnt, ...]) -> Learning:
        """After a batch with these statistics, from which that was learnt."""
        share = self.method.memory
        return replace(
            self,
            learnt=tuple(before.add(here, share) for before, here in zip(self.learnt, new, strict=True)),
            statistics=statistics if self.statistics is None else self.statistics.merge(statistics),
        )


def _size(batch: Rows) -> int:
    return len(batch[0]) + len(batch[1])


def _plan(rows: Array, method: Method) -> Plan:
    """The plan for rows of both samples, whichever they are of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwoSampleWarning)
        table = Table(rows, method.columns, levels=method.levels, settled=True)
        samples = Samples.from_pilot(table, paired=method.paired)
    columns = tuple(np.array(method.columns, dtype=object)[samples.kept].tolist())
    notes: tuple[str, ...] = ()
    if not samples.kept.all():
        constant = [name for name, kept in zip(method.columns, samples.kept, strict=True) if not kept]
        notes = (f"Columns that held one value throughout when the plan was made are not watched: {some(constant)}.",)
    samples = replace(samples, columns=columns, column_notes=notes)
    subsets = method.subsets
    if isinstance(subsets, str) and subsets == "columns":
        subsets = [*((name,) for name in columns), columns]
    model, kernel = models.resolve("adaptive"), kernels.resolve(method.kernel)
    return make_plan(samples, model, kernel, method.points, subsets=subsets)
