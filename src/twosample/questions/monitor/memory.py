"""What a monitor was told and what it remembers, as frozen records."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from twosample.common.arguments import count_of, flag_of, generator_of, positive, share_of
from twosample.common.arrays import Array
from twosample.data import Choice
from twosample.data.categories import Levels
from twosample.data.complete import check_policy
from twosample.errors import InputError, InputTypeError, Setting
from twosample.features.domains.domain import Domain
from twosample.plan import Plan
from twosample.questions.monitor.learning import Learning, Method, Rows
from twosample.questions.monitor.state import HistoryRow, RunLength

__all__ = ["Memory", "Settings"]

# Of longer histories every second batch is dropped.
_LONGEST_HISTORY = 10_000


@dataclass(frozen=True)
class Settings:
    """What a monitor was told, and the seed of all that is random."""

    alpha: float
    paired: bool
    permutations: int
    points: int
    subsets: object
    window: int | None
    forget: float
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

    @classmethod
    def checked(cls, **given: Any) -> Settings:
        """The settings, if they make sense; names are those of `Monitor`."""
        paired, subsets = flag_of(given["paired"], "paired"), given["subsets"]
        check_policy(given["nan_policy"])
        if paired and given["with_reference"]:
            raise InputError(
                "reference: its rows are spent in a random order, and have no partners",
                argument="reference",
                remedy=("leave it out, or use ", Setting("paired", False)),
            )
        if not isinstance(subsets, str):
            if not isinstance(subsets, Iterable):
                raise InputTypeError(
                    f"subsets: expected text or tuples, got {type(subsets).__name__}", argument="subsets"
                )
            subsets = tuple(one if isinstance(one, str) else tuple(one) for one in subsets)
        choice = Choice.of(columns=given["columns"], drop=given["drop"], categories=given["categories"], texts=True)
        window, forget = given["window"], given["forget"]
        return cls(
            alpha=share_of(given["alpha"], "alpha"),
            paired=paired,
            permutations=count_of(given["permutations"], "permutations", 1),
            points=count_of(given["points"], "points", 1),
            subsets=subsets,
            window=None if window is None else count_of(window, "window", 1),
            forget=0.0 if forget is None else share_of(forget, "forget"),
            prior_odds=positive(given["prior_odds"], "prior_odds"),
            nan_policy=given["nan_policy"],
            with_reference=given["with_reference"],
            columns=choice.columns,
            drop=choice.drop,
            seed=int(generator_of(given["rng"]).integers(2**63)),
            categories=choice.categories,
            kernel=given["kernel"],
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
        if plan.lengthscales is None or plan.model.needs_pairs:
            raise InputError(
                f"plan: a monitor takes no model {plan.model.name!r}",
                argument="plan",
                remedy=("make it with ", Setting("model", "adaptive")),
            )

    def method_for(self, columns: tuple[str, ...], levels: Levels = ()) -> Method:
        """How batches with these columns are judged."""
        return Method(
            paired=self.paired,
            labellings=self.permutations + 1,
            points=self.points,
            subsets=self.subsets,
            memory=1.0 - self.forget,
            columns=columns,
            levels=levels,
            kernel=self.kernel,
        )


@dataclass(frozen=True, eq=False)
class Memory:
    """All of a monitor that changes, in one frozen record: a batch that fails or is interrupted changes nothing."""

    columns: tuple[str, ...] | None = None  # names of the columns of the data; None before the first rows
    levels: Levels = ()  # the levels of columns of categories: those of the first rows, all others count as one more
    # Of objects, the points and the kernel at them; None before the first ones, and for rows of a table.
    domain: Domain | None = None
    learning: Learning | None = None  # what was learnt from the batches; None before the first rows
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

    def after(self, settings: Settings, learning: Learning, log_e: float, n_x: int, n_y: int) -> Memory:
        """After a batch of n_x and n_y rows with that log e-value, from which that was learnt."""
        batch = self.batches + 1
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
        if len(history) >= _LONGEST_HISTORY:
            history = history[1::2]
        row = HistoryRow(batch, self.n_x + n_x, self.n_y + n_y, log_e, log_evalue, run_length.log_value)
        return replace(
            self,
            learning=learning,
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
