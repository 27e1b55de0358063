"""`Monitor`: evidence against "the same" that may be looked at after every batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from twosample.common.arguments import Seed
from twosample.common.calls import Call, python_call
from twosample.common.floating import own_errors
from twosample.common.records import load_arrays, write_whole
from twosample.common.stored import packed
from twosample.data.categories import Levels
from twosample.data.files.bookmark import Bookmark
from twosample.errors import DroppedDataWarning, InputError, warn
from twosample.features.domains.domain import KernelChoice
from twosample.inference.columns import Table
from twosample.kernels import Kernel
from twosample.plan import Plan
from twosample.questions.monitor import batches
from twosample.questions.monitor.memory import Learning, Memory, Settings
from twosample.questions.monitor.state import HistoryRow, MonitorState
from twosample.questions.options import one_kernel, refuse_options_of_tables, refusing
from twosample.show.content import DataTable, Facts, Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Monitor"]

# Fewest rows of each sample in a batch.
_FEWEST = 2


@own_errors
class Monitor:
    """Watch two streams, batch by batch, for a difference; the evidence may be looked at at any time.

    A batch has an e-value: the Bayes factor of everything so far over its mean for relabellings of this batch. Where
    the rows of a batch are exchangeable (independent, and of one distribution in both streams) its mean is 1 whatever
    that distribution is, and whatever was seen before. Hence the probability that the product of the e-values of all
    batches ever reaches 1/alpha is at most alpha. That holds for every number of rows and also where both streams drift
    in the same way; it does not hold for rows that depend on each other, such as copies or a slow time series.

    Parameters
    ----------
    alpha
        The alarm is at an e-value of 1/alpha: the probability of an alarm, ever, where there is no difference.
    reference
        Rows that a single stream is compared with. Each is spent once, in a random order that is fixed at the start, as
        many with every batch as that has rows, as the guarantee does not survive using them again. The state says how
        many are left.
    paired
        Whether row i of x belongs with row i of y. Then members of pairs are swapped, not labels permuted.
    permutations
        Number of random relabellings of a batch. Its e-value is at most one more than that, so that the log e-value
        grows by at most log(permutations + 1), or 5.3, a batch; the time goes with it. Where a batch has fewer
        labellings in all they are all used.
    subsets
        Which columns may differ: "columns" is all together and each alone; "auto" also has each pair of up to 12
        columns, which takes several times as long; others as in `twosample.test`.
    points
        Number of evaluation points.
    window
        Take the e-value over this many batches, the last ones, so that evidence of long ago does not count. That gives
        up the guarantee over time: for each batch the probability of an e-value of 1/alpha is at most alpha, but over
        many batches one will come. `run_length` is for streams that change, and keeps a guarantee.
    forget
        The share of what was learnt that is forgotten with every batch, between 0 and 1, for differences that come and
        go. The guarantee holds. It gives up power: a small difference that lasts is never known better than from about
        1/forget batches.
    prior_odds
        Prior odds of "different" against "the same", for the descriptive `prob_h1`.
    nan_policy
        "raise" refuses missing and infinite values; "omit" drops their rows and says how many.
    columns, drop, categories
        The columns to watch, those to leave out, and columns of numbers that are categories, as in `twosample.test`.
        The levels of a category are those of the first rows; all others count as one more.
    kernel, parameters, features
        As in `twosample.test`, also for objects, but only one kernel. Points of objects are among the first of them;
        a monitor of objects cannot be saved.
    plan
        A plan of `twosample.plan`, from a pilot whose rows are not used again, to be kept to. By default the plan is
        made of the rows of the first batches, whichever stream they are of, anew as they become more, and stays once
        there are 400 rows.
    rng
        Seed of the relabellings and of the order of the reference.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> monitor = ts.Monitor(alpha=0.05)
    >>> for day in range(8):
    ...     state = monitor.update(rng.normal(0, 1, 50), rng.normal(0.6, 1, 60))
    >>> state.alarm, state.crossed_at
    (True, 2)
    >>> state.n_x, state.n_y, len(monitor.history)
    (400, 480, 8)

    One stream against a reference, whose rows are spent:

    >>> monitor = ts.Monitor(reference=rng.normal(0, 1, 1000))
    >>> monitor.update(rng.normal(0, 1, 100)).reference_left
    900
    """

    page: ClassVar[str] = "stream_page"
    made_by: Call | None = None  # None for one that was read from a file

    @refusing(
        by="the rows of a stream come one batch after the other, not in one table",
        groups="the rows of a stream come one batch after the other, not in one table",
        model="the statistic is that of model 'adaptive'; pass a `plan` that was made with another",
        lengthscale="it is inferred; pass a `plan` that was made with one",
        scale="columns are divided by the spread of the rows so far; pass a `plan` that was made with another scale",
        tolerance="a few fixed lengthscales are enough for an e-value",
        rope="a guarantee at any time is about any difference; see state.result.effect for its size",
        keep_rows="the few rows that pictures need are kept in any case",
        progress="it is for one long computation, and a stream comes batch by batch",
        engine="batches are held in the memory of this machine",
    )
    def __init__(
        self,
        *,
        alpha: float = 0.05,
        reference: object = None,
        paired: bool = False,
        permutations: int = 199,
        subsets: str | Iterable[Iterable[str | int]] = "columns",
        points: int = 40,
        window: int | None = None,
        forget: float | None = None,
        prior_odds: float = 1.0,
        nan_policy: Literal["raise", "omit"] = "raise",
        columns: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
        categories: Sequence[str | int] | None = None,
        kernel: str | Kernel | Callable[[Sequence[Any], Sequence[Any], Any], Any] = "rbf",
        parameters: Sequence[Any] | None = None,
        features: Callable[[Sequence[Any]], Any] | None = None,
        plan: Plan | None = None,
        rng: Seed = 0,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        self._objects = KernelChoice(kernel, features, parameters)
        if self._objects.of_objects:
            refuse_options_of_tables({"columns": columns, "drop": drop, "categories": categories, "plan": plan})
        else:
            self._objects.check_table()
        label = "rbf" if self._objects.of_objects else one_kernel(kernel).label
        learning = Learning(Settings.of(given, kernel=label))
        if plan is not None:
            learning.settings.check(plan)
            learning = replace(learning, columns=plan.columns, levels=plan.levels).started(plan)
        self._memory = Memory(learning)
        self._state: MonitorState | None = None
        self.made_by = _lines(given)
        if reference is not None:
            self.refill(reference)

    def __repr__(self) -> str:
        """Return where it stands, in one line."""
        return repr(self.state).replace("MonitorState", "Monitor", 1)

    @property
    def plan(self) -> Plan | None:
        """The plan; None before the first batch."""
        return self._memory.learning.plan

    @property
    def settings(self) -> Settings:
        """What it was told."""
        return self._memory.settings

    def expect(self, columns: tuple[str, ...], levels: Levels = ()) -> None:
        """Name the columns of rows to come that have no names, and the levels of those of categories."""
        self._memory = self._memory.of_columns(columns, levels)

    @property
    def watches_objects(self) -> bool:
        """Whether the streams are of objects rather than rows of a table."""
        return self._objects.of_objects

    @property
    def received(self) -> tuple[int, int]:
        """Rows of each stream that were passed so far, dropped and waiting ones included."""
        return self._memory.received

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Names of the columns of rows that are passed, before any is left out; none before the first rows."""
        return self._memory.learning.columns or ()

    @property
    def bookmark(self) -> Bookmark | None:
        """How far the file was read that the rows of the stream came from, where `mark` said so."""
        return self._memory.bookmark

    def mark(self, bookmark: Bookmark | None) -> None:
        """Remember, and save, how far the file was read that the rows of the stream came from."""
        self._memory = replace(self._memory, bookmark=bookmark)

    @property
    def state(self) -> MonitorState:
        """Where it stands."""
        if self._state is None:
            self._state = self._new_state()
        return self._state

    @property
    def history(self) -> Table[HistoryRow]:
        """The batches, a `HistoryRow` each; `to_frame` makes a data frame of it.

        Of more than 10,000 batches every second one is dropped, again and again: it holds 5,000 to 10,000.
        """
        rows = [HistoryRow(int(a), int(b), int(c), *rest) for a, b, c, *rest in self._memory.history.tolist()]
        return Table(rows, HistoryRow._fields)

    def update(self, x: object = None, y: object = None) -> MonitorState:
        """Add a batch.

        Parameters
        ----------
        x, y
            New rows of each stream, as in `twosample.test`: any number of them, or None. They are one batch as soon as
            there are 2 rows of each; until then they wait, and are pooled with what comes next. With a reference only
            the rows of the stream.

        Returns
        -------
        MonitorState
            Where the monitor stands.

        Raises
        ------
        InputError
            Also where the reference is spent: no evidence can be added then.

        Examples
        --------
        >>> import twosample as ts
        >>> monitor = ts.Monitor()
        >>> monitor.update([1.2, 0.4, 2.2], None).waiting
        (3, 0)
        >>> monitor.update(None, [3.1, 1.7]).batches
        1
        """
        memory = self._memory
        if self.settings.with_reference:
            if y is not None and x is not None:
                raise InputError("y: a monitor with a reference takes one stream", argument="y", remedy="pass its rows")
            x, y = None, x if y is None else y
            if self.state.spent:
                raise InputError(
                    f"reference: it is spent ({memory.n_x} rows), so that no evidence can be added; what was found "
                    "stays true",
                    argument="reference",
                    remedy="add rows that were not used before with refill, or start another monitor with such rows",
                )
        if self._objects.of_objects:
            memory = batches.with_objects(memory, self._objects, x, y)
        else:
            memory = batches.with_rows(memory, x, y)
        x_rows, y_rows = memory.waiting
        if memory.reference is not None:
            x_rows = memory.reference[: len(y_rows)]
        if min(len(x_rows), len(y_rows)) < _FEWEST:
            return self._remember(memory)
        young, memory = memory.learning.young, memory.after(x_rows, y_rows)
        state, learning = self._remember(memory), memory.learning
        if young is not None and learning.young is None and learning.plan is not None:  # the plan stays from now on
            for note in learning.plan.notes:
                warn(DroppedDataWarning(note, argument="x and y"))
        return state

    def refill(self, reference: object) -> None:
        """Add rows to the reference that were not used before; the guarantee goes on.

        Examples
        --------
        >>> import numpy as np, twosample as ts
        >>> rng = np.random.default_rng(0)
        >>> monitor = ts.Monitor(reference=rng.normal(size=30))
        >>> monitor.update(rng.normal(size=50)).spent
        True
        >>> monitor.refill(rng.normal(size=100))
        >>> monitor.state.reference_left
        100
        """
        if not self.settings.with_reference:
            raise InputError("reference: this monitor watches two streams", argument="reference")
        if self._objects.of_objects:
            memory = batches.with_reference_objects(self._memory, self._objects, reference)
        else:
            memory = batches.with_reference(self._memory, reference)
        self._remember(memory)

    def began_as(self, other: Monitor) -> bool:
        """Whether this is what the other one, which has seen no batch, may have become."""
        mine, whole = self._memory.reference, other._memory.reference
        if self.settings != other.settings or (mine is None) != (whole is None):
            return False
        columns, others = self._memory.learning.columns, other._memory.learning.columns
        if mine is None or whole is None:
            return columns in (None, others)
        return columns == others and np.array_equal(mine, whole[self._memory.n_x :])

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw the log e-value over time, with the limit and the first crossing, and the run-length detector.

        It needs the `plot` extra. Save the figure with ``monitor.plot().savefig("monitor.png")``.
        """
        from twosample.show.plots import plot_monitor

        return plot_monitor(self.history, self.state, figsize=figsize)

    def report(self, path: str | Path) -> Path:
        """Write one page that needs nothing else, to be sent round (extra `report`); returns the path, in .html.

        It shows the evidence over time, and the columns that differ given everything so far.
        """
        from twosample.show import report

        return report.write(self, path)

    def facts(self) -> Facts:
        """Where it stands, in words and numbers."""
        return self.state.facts()

    def tables(self) -> dict[str, DataTable]:
        """Tables of plain values by name: `history`, a row for each batch, and those of the state."""
        headings = {name: name.replace("_", " ") for name in HistoryRow._fields}
        return {"history": DataTable("Batch by batch", headings, self.history), **self.state.tables()}

    def panels(self) -> dict[str, Panel]:
        """The data of pictures: evidence over time, and those of the state."""
        batches = np.array([row.batch for row in self.history], dtype=np.float64)
        series = {
            words: (batches, np.array([getattr(row, name) for row in self.history]))
            for words, name in (("log e-value", "log_evalue"), ("log run length", "log_run_length"))
        }
        return {"evidence": Panel("Batch by batch", "batch", "log e-value", series), **self.state.panels()}

    def text(self) -> str:
        """Where it stands as a paragraph for a paper."""
        from twosample.show.report import paragraph

        return paragraph(self)

    def _repr_html_(self) -> str:
        """Return the head of the report, for notebooks."""
        return self.state._repr_html_()

    def save(self, path: str | Path) -> None:
        """Write the monitor to a file (npz, without pickle), whole or not at all.

        The file holds rows: those of the reference that are left, those that wait, those of the first batches as long
        as the plan may change, and up to 500 of each stream (2,000 of one column) for pictures.

        Examples
        --------
        >>> import pathlib, tempfile, twosample as ts
        >>> monitor = ts.Monitor()
        >>> state = monitor.update([0.3, 1.2, 2.5], [2.2, 4.1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "monitor.npz")
        ...     monitor.save(path)
        ...     ts.Monitor.load(path).state.log_evalue == state.log_evalue
        True
        """
        from twosample.questions.monitor import saving

        content = packed(saving.to_arrays(self._memory))
        write_whole(Path(path), lambda file: file.write(content))

    @classmethod
    def load(cls, path: str | Path) -> Monitor:
        """Read a monitor back that `save` wrote; it goes on as if it had never stopped, to the last digit."""
        from twosample.questions.monitor import saving

        found = cls.__new__(cls)
        found._memory, found._state = load_arrays(path, saving.from_arrays, "a monitor of twosample"), None
        found._objects = KernelChoice(found.settings.kernel)
        return found

    def _remember(self, memory: Memory) -> MonitorState:
        self._memory, self._state = memory, None
        return self.state

    def _new_state(self) -> MonitorState:
        memory, settings, learning = self._memory, self.settings, self._memory.learning
        return MonitorState(
            alpha=settings.alpha,
            batches=memory.batches,
            n_x=memory.n_x,
            n_y=memory.n_y,
            waiting=(len(memory.waiting[0]), len(memory.waiting[1])),
            log_evalue=memory.log_evalue,
            log_batch_evalue=memory.log_batch_evalue,
            crossed_at=memory.crossed_at,
            run_length=memory.run_length,
            reference_left=None if memory.reference is None else len(memory.reference),
            window=settings.window,
            prior_odds=settings.prior_odds,
            paired=settings.paired,
            columns=learning.columns or () if learning.plan is None else learning.plan.columns,
            plan=learning.plan,
            statistics=learning.statistics,
        )


def _lines(given: dict[str, Any]) -> Call:
    """The lines that make a monitor with these arguments and go through its batches."""
    call = python_call("Monitor", signature(Monitor).bind(**given), ending="")
    first, made = call.lines
    rows = "x, y" if given["reference"] is None else "y"
    return call._replace(lines=(first, f"monitor = {made}", f"for {rows} in batches: monitor.update({rows})"))
