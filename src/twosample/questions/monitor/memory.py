"""What a monitor was told, what the batches have taught it, and what it remembers, as frozen records."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from twosample import kernels, models
from twosample.common.arguments import choice_of, count_of, flag_of, generator_of, positive, share_of
from twosample.common.arrays import Array
from twosample.common.threads import one_thread
from twosample.data import Choice, Samples, some
from twosample.data.categories import Levels
from twosample.data.complete import check_policy
from twosample.data.files.bookmark import Bookmark
from twosample.data.reading import Table
from twosample.errors import InputError, InputTypeError, Setting, collected_warnings
from twosample.features.domains.domain import Domain
from twosample.features.statistics import FeatureStatistics
from twosample.plan import Plan, make_plan
from twosample.questions.monitor import evalues
from twosample.questions.monitor.evalues import Component, Learnt, components_of
from twosample.questions.monitor.state import HistoryRow, RunLength

__all__ = ["LONGEST_HISTORY", "SETTLED", "Learning", "Memory", "Rows", "Settings"]

Rows = tuple[Array, Array]

# The plan is rebuilt when the row count grows by `_GROWTH`, for the last time at `SETTLED` rows.
# Statistics are collected again then.
_GROWTH = 1.25
SETTLED = 400
# More labellings, points or batches of a window take hours and gigabytes, and tell nothing more.
_MOST_PERMUTATIONS, _MOST_POINTS, _LONGEST_WINDOW = 100_000, 1_000, 100_000
# Of longer histories every second batch is dropped.
LONGEST_HISTORY = 10_000


@dataclass(frozen=True)
class Settings:
    """What a monitor was told, and the seed of all that is random."""

    alpha: float
    paired: bool
    permutations: int
    points: int
    subsets: object
    window: int | None
    forget: float  # 0 for not at all
    prior_odds: float
    nan_policy: Literal["raise", "omit"]
    with_reference: bool
    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    seed: int
    categories: tuple[str, ...] = ()
    kernel: str = "rbf"

    @property
    def choice(self) -> Choice:
        """Which columns are watched."""
        return Choice(columns=self.columns, drop=self.drop, categories=self.categories, texts=True)

    def __post_init__(self) -> None:
        """Refuse what makes no sense, whether it was passed or stored."""
        if isinstance(self.paired, str | list | tuple):
            raise InputError(
                "paired: rows are paired within a batch, and a partner in another one would be missed",
                argument="paired",
                remedy=("put the rows of each batch in the same order and pass ", Setting("paired", True)),
            )
        drop, categories = (None if names == () else names for names in (self.drop, self.categories))
        choice = Choice.of(columns=self.columns, drop=drop, categories=categories, texts=True)
        checked = {
            "alpha": share_of(self.alpha, "alpha"),
            "paired": flag_of(self.paired, "paired"),
            "permutations": count_of(self.permutations, "permutations", 1, _MOST_PERMUTATIONS),
            "points": count_of(self.points, "points", 1, _MOST_POINTS),
            "subsets": _subsets(self.subsets),
            "window": None if self.window is None else count_of(self.window, "window", 1, _LONGEST_WINDOW),
            "forget": 0.0 if self.forget in (None, 0.0) else share_of(self.forget, "forget"),
            "prior_odds": positive(self.prior_odds, "prior_odds"),
            "with_reference": flag_of(self.with_reference, "with_reference"),
            "columns": choice.columns,
            "drop": choice.drop,
            "seed": count_of(self.seed, "seed", 0, 2**63 - 1),
            "categories": choice.categories,
        }
        check_policy(self.nan_policy)
        kernels.resolve(self.kernel)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.paired and self.with_reference:
            raise InputError(
                "reference: its rows are spent in a random order, and have no partners",
                argument="reference",
                remedy=("leave it out, or use ", Setting("paired", False)),
            )

    @classmethod
    def of(cls, given: Mapping[str, Any], *, kernel: str) -> Settings:
        """The settings that `Monitor` was given; names are those of its arguments, and there may be more of them."""
        passed = {field.name: given[field.name] for field in fields(cls) if field.name in given}
        return cls(
            **{
                **passed,
                "with_reference": given["reference"] is not None,
                "seed": int(generator_of(given["rng"]).integers(2**63)),
                "kernel": kernel,
            }
        )

    def check(self, plan: Plan) -> None:
        """Refuse a plan that these settings cannot have."""
        if not isinstance(plan, Plan):
            raise InputTypeError(f"plan: expected a Plan, got {type(plan).__name__}", argument="plan")
        if plan.paired != self.paired:
            raise InputError(
                f"plan: it is {'' if plan.paired else 'not '}for pairs",
                argument="plan",
                remedy=("make it with ", Setting("paired", self.paired)),
            )
        if plan.lengthscales is None or not plan.model.relabels:
            raise InputError(
                f"plan: a monitor takes no model {plan.model.name!r}",
                argument="plan",
                remedy=("make it with ", Setting("model", "adaptive")),
            )


def _subsets(subsets: object) -> object:
    """A word, or tuples of names or numbers of columns."""
    if isinstance(subsets, str):
        return choice_of(subsets, "subsets", ("columns", "auto", "all"))
    if not isinstance(subsets, Iterable):
        raise InputTypeError(f"subsets: expected text or tuples, got {type(subsets).__name__}", argument="subsets")
    found = tuple(subsets)
    for one in found:
        if isinstance(one, str) or not isinstance(one, Iterable):
            raise InputTypeError(
                f"subsets: {one!r:.40} is not a tuple of columns",
                argument="subsets",
                remedy="use tuples, as in [('a',), ('a', 'b')]",
            )
    return tuple(tuple(map(_column, one)) for one in found)


def _column(name: object) -> str | int:
    if isinstance(name, bool) or not isinstance(name, str | numbers.Integral):
        raise InputTypeError(
            f"subsets: expected names or numbers of columns, got {type(name).__name__}", argument="subsets"
        )
    return name if isinstance(name, str) else int(name)


@dataclass(frozen=True, eq=False)
class Learning:
    """What batches have taught."""

    settings: Settings
    columns: tuple[str, ...] | None = None  # names of the columns of the data; None before the first rows
    levels: Levels = ()  # the levels of columns of categories: those of the first rows, all others count as one more
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

    @property
    def domain(self) -> Domain | None:
        """Of objects, the points and the kernel at them; None before the first ones, and for rows of a table."""
        return None if self.plan is None else self.plan.domain

    def after(self, x: Array, y: Array, generator: np.random.Generator) -> tuple[float, Learning]:
        """The log e-value of a batch, and what is known after it."""
        ready, young = self, self.young
        if young is not None:
            young = (*young, (x, y))
            total = sum(len(rows) for batch in young for rows in batch)
            if self.plan is None or total >= min(_GROWTH * self.planned, SETTLED):
                ready = self._planned(young, total)
            young = None if total >= SETTLED else young
        assert ready.plan is not None
        x, y = ready._watched(x), ready._watched(y)
        new, taught = ready._taught_by(x, y)
        batch = evalues.Batch(x, y, self.settings.permutations + 1, self.settings.paired, generator)
        values = evalues.log_statistics(ready.components, ready.learnt, new, batch, ready.plan.model)
        return evalues.log_evalue(values, batch.observed), replace(taught, young=young)

    def started(self, plan: Plan) -> Learning:
        """With a plan that stays, and nothing learnt."""
        ready = Learning(self.settings, self.columns, self.levels, plan, young=None)
        return replace(ready, learnt=tuple(map(Learnt.nothing, ready.components)))

    def _planned(self, batches: tuple[Rows, ...], total: int) -> Learning:
        """With a new plan for batches of that many rows in all; all but the last one are gone over again."""
        ready = self.started(self._plan(np.concatenate([rows for batch in batches for rows in batch])))
        for earlier in batches[:-1]:
            _, ready = ready._taught_by(*map(ready._watched, earlier))
        return replace(ready, planned=total)

    def _plan(self, rows: Array) -> Plan:
        """The plan for rows of both samples, whichever they are of."""
        settings, names = self.settings, self.columns
        assert names is not None
        with collected_warnings():
            table = Table(rows, names, levels=self.levels, settled=True)
            samples = Samples.from_pilot(table, paired=settings.paired)
        columns = tuple(np.array(names, dtype=object)[samples.kept].tolist())
        notes: tuple[str, ...] = ()
        if not samples.kept.all():
            constant = some([name for name, kept in zip(names, samples.kept, strict=True) if not kept])
            notes = (f"Columns that held one value throughout when the plan was made are not watched: {constant}.",)
        samples = replace(samples, columns=columns, column_notes=notes).without_many()
        subsets = settings.subsets
        if isinstance(subsets, str) and subsets == "columns":
            subsets = [*((name,) for name in columns), columns]
        model, kernel = models.resolve("adaptive"), kernels.resolve(settings.kernel)
        return make_plan(samples, model, kernel, settings.points, subsets=subsets)

    def _watched(self, rows: Array) -> Array:
        """The columns that the plan is of; of a given plan they were read alone."""
        assert self.plan is not None
        if self.plan.domain is not None:
            return rows
        return rows if rows.shape[1] == len(self.plan.columns) else rows[:, self.plan.kept]

    def _taught_by(self, x: Array, y: Array) -> tuple[tuple[Learnt, ...], Learning]:
        """What a batch of watched rows has taught, and what is known with it."""
        plan, share = self.plan, 1.0 - self.settings.forget
        assert plan is not None
        statistics = plan.collect(
            Samples(x, y, plan.columns, plan.view, plan.kept, self.settings.paired, (), levels=plan.levels)
        )
        new = tuple(Learnt.of(component.moments(statistics)) for component in self.components)
        learnt = tuple(before.add(here, share) for before, here in zip(self.learnt, new, strict=True))
        if self.statistics is not None:
            statistics = self.statistics.merge(statistics)
        return new, replace(self, learnt=learnt, statistics=statistics)


@dataclass(frozen=True, eq=False)
class Memory:
    """All of a monitor that changes, in one frozen record: a batch that fails or is interrupted changes nothing."""

    learning: Learning
    waiting: Rows = (np.empty((0, 0)), np.empty((0, 0)))  # rows of each sample that wait
    reference: Array | None = None  # rows of the reference that are not yet spent, in the order in which they will be
    refills: int = 0  # how often rows were added to the reference
    received: tuple[int, int] = (0, 0)  # rows of each sample that were passed, dropped ones included
    batches: int = 0
    # Rows in batches.
    n_x: int = 0
    n_y: int = 0
    recent: tuple[float, ...] = ()  # log e-values of the batches in the window
    # As in the state.
    log_evalue: float = 0.0
    log_batch_evalue: float = 0.0
    crossed_at: int | None = None
    run_length: RunLength = field(default_factory=RunLength)
    # One row a batch, as in `HistoryRow`, (B, 6).
    history: Array = field(default_factory=lambda: np.empty((0, len(HistoryRow._fields))))
    bookmark: Bookmark | None = None  # how far the file was read that the rows of the stream came from

    @property
    def settings(self) -> Settings:
        """What the monitor was told."""
        return self.learning.settings

    def of_columns(self, columns: tuple[str, ...], levels: Levels) -> Memory:
        """With names of the columns, and the levels of those of categories, before the first rows."""
        return replace(self, learning=replace(self.learning, columns=columns, levels=levels))

    def after(self, x: Array, y: Array) -> Memory:
        """After a batch of these rows, which are all that wait; those of a reference are spent."""
        batch, settings, nothing = self.batches + 1, self.settings, np.empty((0, x.shape[1]))
        with one_thread():
            log_e, learning = self.learning.after(x, y, np.random.default_rng([settings.seed, batch]))
        if settings.window is None:
            recent, log_evalue = self.recent, self.log_evalue + log_e
        else:
            recent = (*self.recent, log_e)[-settings.window :]
            log_evalue = math.fsum(recent)
        crossed = self.crossed_at
        if crossed is None and log_evalue >= -math.log(settings.alpha):
            crossed = batch
        run_length = self.run_length.after(batch, log_e, settings.alpha)
        history = self.history
        if len(history) >= LONGEST_HISTORY:
            history = history[1::2]
        row = HistoryRow(batch, self.n_x + len(x), self.n_y + len(y), log_e, log_evalue, run_length.log_value)
        return replace(
            self,
            learning=learning,
            waiting=(nothing, nothing),
            reference=None if self.reference is None else self.reference[len(x) :],
            batches=batch,
            n_x=row.n_x,
            n_y=row.n_y,
            recent=recent,
            log_evalue=log_evalue,
            log_batch_evalue=log_e,
            crossed_at=crossed,
            run_length=run_length,
            history=np.concatenate([history, [row]]),
        )
