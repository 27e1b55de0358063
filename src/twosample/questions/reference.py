"""A reference sample kept as a plan and its statistics, so that tomorrow's rows are tested without today's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.common.arguments import flag_of, positive, share_of
from twosample.common.constraints import Axes
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.records import Comparable, Record, load_arrays, write_whole
from twosample.common.stored import packed
from twosample.common.threads import one_thread
from twosample.common.words import columns_in_words, count_in_words, printable
from twosample.data import Choice, LeftOut, Limits, Samples, View, finite_rows, read, some
from twosample.data.categories import Levels
from twosample.data.complete import complete
from twosample.data.known_columns import columns_of
from twosample.data.levels import settled_table
from twosample.data.reading import Table
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Setting, warn
from twosample.features.domains.centres import own_order
from twosample.features.domains.domain import KernelChoice, objects_of
from twosample.features.statistics import FeatureStatistics
from twosample.kernels import Kernel
from twosample.models import Model
from twosample.plan import Plan, plan_of_objects
from twosample.questions.given import pilot_of
from twosample.questions.objects import rows_of
from twosample.questions.options import Options, one_kernel, refusing
from twosample.results import assembly
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["Reference"]

# Of objects, how many times as many as points are set aside for these.
_ASIDE = 10
_NOTE = "x is a reference: points, scales and ranks are its own, and its rows were not looked at again."


@dataclass(frozen=True, eq=False, repr=False)
class _About(Record):
    """What a reference knows of its table, beside the statistics."""

    _oldest: ClassVar[int] = Plan._oldest

    plan: Plan
    # The columns that were read, those with one value throughout too.
    columns: Annotated[tuple[str, ...], Axes("read")]
    values: Annotated[NDArray[np.float64], Axes("read")]  # what constant columns hold; 0 for others
    present: tuple[str, ...]  # all columns that the table had
    named: bool  # whether columns are matched by their names, as those of data frames are
    times: tuple[str, ...]  # the columns of dates or times
    left_out: tuple[LeftOut, ...]  # columns that are not compared, and why
    name: str  # what the sample is called
    levels: Annotated[Levels, Axes("read", optional=True)] = ()  # of columns of categories, as in a plan, but of all

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        chosen = tuple(name for name, kept in zip(self.columns, self.plan.kept, strict=False) if kept)
        if len(self.plan.kept) != len(self.columns) or (self.columns and chosen != self.plan.columns):
            yield "columns and plan.columns do not belong together"


@dataclass(frozen=True, eq=False, repr=False)
class Reference(Comparable):
    """A sample that others are tested against, without its rows: a plan made from it, and its statistics.

    Made by `Reference.of`. The plan is made from the rows of the reference moved about a little, so that its points are
    rows of neither sample, and some of them are where a sample that is spread more has rows.

    Attributes
    ----------
    statistics
        Of the reference, as x.
    about
        The plan, and what there is to know of the columns.

    Examples
    --------
    >>> import numpy as np, tempfile, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> reference = ts.Reference.of(rng.normal(size=(300, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reference.save(f"{folder}/yesterday.npz")
    ...     again = ts.Reference.load(f"{folder}/yesterday.npz")
    >>> again.test(rng.normal(size=(200, 2))).prob_h1 < 0.5
    True
    >>> again.test(rng.normal(0.5, 1.0, size=(200, 2))).verdict
    'very strong evidence of a large difference'
    """

    statistics: FeatureStatistics
    about: _About

    @classmethod
    @refusing(
        by="a reference is one sample",
        groups="a reference is one sample",
        paired="rows of a reference have no partners",
        permutations="there are no rows of the reference to permute",
        rng="nothing is random",
        engine="the rows are read into the memory of this machine",
    )
    def of(
        cls,
        x: object,
        *,
        columns: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
        categories: Sequence[str | int] | None = None,
        model: str | Model = "adaptive",
        kernel: str | Kernel | Callable[[Sequence[Any], Sequence[Any], Any], Any] = "rbf",
        parameters: Sequence[Any] | None = None,
        features: Callable[[Sequence[Any]], Any] | None = None,
        lengthscale: float | Literal["median"] | None = None,
        points: int | ArrayLike = 40,
        subsets: str | Iterable[Iterable[str | int]] | None = "auto",
        scale: ArrayLike = "auto",
        nan_policy: Literal["raise", "omit"] = "raise",
        tolerance: float = 0.01,
        name: str = "reference",
    ) -> Reference:
        """Make a reference of a sample.

        Parameters
        ----------
        x
            The sample, as in `twosample.test`; at least 4 rows, or 8 objects. Of objects a quarter, at most, is set
            aside for the evaluation points, so that these are in neither sample.
        columns, drop, categories, parameters, features, lengthscale, points, subsets, scale, nan_policy
            As in `twosample.test`.
        model
            A model that needs only one pass over the data, such as "adaptive".
        kernel
            As in `twosample.test`, but only one.
        tolerance
            Wanted error of log BF10, as in `twosample.test`; below 0.001 there are twice as many lengthscales.
        name
            What results call the sample.
        """
        if isinstance(kernel, list | tuple):
            one_kernel(kernel)  # refuses
        if tolerance == 0.01 and KernelChoice(kernel, features).of_objects:
            tolerance = 0.001
        options = Options.checked(locals())
        if options.objects.of_objects:
            return cls._of_objects(objects_of(x, "x", 8), options, str(name))
        return cls._of_rows(settled_table(read(x, "x", options.choice)), options, str(name))

    @classmethod
    def _of_rows(cls, table: Table, options: Options, name: str) -> Reference:
        """Of the rows of a table."""
        rows, notes = table.rows, tuple[str, ...]()
        complete = finite_rows(rows)
        if options.nan_policy == "omit" and not complete.all():
            note = f"Dropped {np.sum(~complete)} of {len(rows)} rows of the reference with a missing or infinite value."
            warn(DroppedDataWarning(note, argument="x"))
            rows, notes = rows[complete], (note,)
        if len(rows) < 4:
            raise InputError(
                f"x has {count_in_words(len(rows), 'row')}", argument="x", remedy="a reference needs at least 4"
            )
        if (rows == rows[0]).all():
            raise InputError(
                "x: all rows are equal", argument="x", remedy="without variation there is nothing to judge others by"
            )
        # The levels are those of x, which has more rows of them than others from the same law would.
        plan = options.plan(pilot_of(table._replace(rows=_moved(rows, table.levels)), options).without_many())
        constant = tuple(name for name, kept in zip(table.names, plan.kept, strict=True) if not kept)
        left_out = (*table.left_out, *(LeftOut(name, "one value throughout") for name in constant))
        values = np.where(plan.kept, 0.0, rows[0])
        about = _About(
            plan, table.names, values, table.present, table.is_frame, table.times, left_out, name, table.levels
        )
        with one_thread():
            statistics = plan.collect(_part(plan, rows[:, plan.kept], None))
        return cls(replace(statistics, notes=notes + statistics.notes), about)

    @classmethod
    def _of_objects(cls, objects: list[Any], options: Options, name: str) -> Reference:
        """Of objects; those that the points are chosen among are not in its statistics."""
        order = own_order(objects)
        order = options.generator.permutation(len(objects)) if order is None else order
        aside = min(len(objects) // 4, _ASIDE * options.objects.points)
        domain, _ = rows_of({"x": [objects[place] for place in order[:aside]]}, options)
        plan = plan_of_objects(domain, options.model)
        about = _About(plan, (), np.empty(0), (), False, (), (), name)
        with one_thread():
            rows = domain.rows_of([objects[place] for place in order[aside:]])
            statistics = plan.collect(_part(plan, rows, None))
        note = f"{aside} of {len(objects)} objects of the reference were set aside for the evaluation points."
        return cls(replace(statistics, notes=(note,)), about)

    @property
    def plan(self) -> Plan:
        """The plan that the statistics belong to."""
        return self.about.plan

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are compared."""
        return self.plan.columns

    @property
    def n(self) -> int:
        """Number of rows that it was made from."""
        return self.statistics.n_x

    def summary(self) -> str:
        """What it is of, and what it holds, in a few lines."""
        shown, points = len(self.statistics.sketch_x.rows), count_in_words(len(self.plan.points), "evaluation point")
        return "\n".join(
            [
                f"Reference {printable(self.about.name)!r}: {self.n} rows, {columns_in_words(len(self.columns))}.",
                f"  columns              {printable(some(self.columns, quote=False))}",
                f"  model                {self.plan.model.name}, {points}",
                f"  holds of the data    {shown} rows for pictures, and values that are repeated in a column",
                *(f"  note                 {printable(note)}" for note in (*self.plan.notes, *self.statistics.notes)),
            ]
        )

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    def __repr__(self) -> str:
        """Return the reference in one line."""
        return f"Reference({self.about.name!r}, {self.n} rows, {columns_in_words(len(self.columns))})"

    def test(
        self,
        y: object,
        *,
        prior_odds: float = 1.0,
        rope: float | None = None,
        nan_policy: Literal["raise", "omit"] = "raise",
        keep_rows: bool = False,
        progress: Progress = False,
    ) -> TwoSampleResult:
        """Test whether a sample comes from the distribution of the reference.

        Parameters
        ----------
        y
            The sample. Columns of data frames are matched by name, others by place.
        prior_odds, rope, nan_policy, keep_rows, progress
            As in `twosample.test`.

        Returns
        -------
        TwoSampleResult
            As from `twosample.test`, with the reference as x; without a p-value, as there are no rows to permute. Of
            objects an `ObjectsResult`.
        """
        prior_odds, keep_rows = positive(prior_odds, "prior_odds"), flag_of(keep_rows, "keep_rows")
        rope = None if rope is None else share_of(rope, "rope", 0.5)
        if rope is not None and not self.plan.model.has_effect:
            raise InputError(
                f"rope: model {self.plan.model.name!r} does not say how much samples differ", argument="rope"
            )
        plan = self.plan
        with progress_bar(progress) as report, one_thread():
            if plan.domain is None:
                rows, notes = self._rows_of(y, nan_policy)
            else:
                rows, notes = plan.domain.rows_of(objects_of(y, "y")), ()
            if len(rows) < 2:
                raise InputError(f"y has {count_in_words(len(rows), 'row')}", argument="y", remedy="pass at least 2")
            counter = WorkCounter(report, len(rows) * (0 if plan.lengthscales is None else len(plan.lengthscales)))
            statistics = self.statistics.merge(plan.collect(_part(plan, None, rows), counter))
            statistics = replace(statistics, notes=(_NOTE, *statistics.notes, *notes))
            result = plan.answer(statistics, prior_odds=prior_odds, keep_rows=keep_rows)
            counter.finish()
        result = result.changed(rope=rope, names=(self.about.name, "y"))
        if plan.domain is not None:
            return result
        if result.diagnostics.flat:
            warn(assembly.flat_features(plan, (result.n_x, result.n_y), (statistics.sketch_x, statistics.sketch_y)))
        if not result.diagnostics.converged:
            warn(assembly.inaccurate(result, "a reference that is made with a smaller tolerance is more accurate"))
        return result.changed(left_out=self.about.left_out)

    def _rows_of(self, y: object, nan_policy: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """The rows of a sample with the columns of the plan, and what was left out."""
        about = self.about
        notes: tuple[str, ...] = ()
        if about.named and (hasattr(type(y), "columns") or hasattr(type(y), "column_names")):
            table = self._matched(y)
            extra = [column for column in table.present if column not in about.present]
            if extra:
                notes = (f"Left out columns of y that the reference does not have: {some(extra)}.",)
                warn(DroppedDataWarning(notes[0], argument="y"))
        else:
            table = read(y, "y", replace(self._choice, columns=None))
        rows: NDArray[np.float64] = table.rows
        if about.levels:
            rows = columns_of(y, "y", about.columns, np.ones(len(about.columns), dtype=bool), about.levels)
        if rows.shape[1] != len(about.columns):
            raise InputError(
                f"y has {columns_in_words(rows.shape[1])}",
                argument="y",
                remedy=f"the reference was made from {len(about.columns)}: {some(about.columns)}",
            )
        finite = np.where(np.isfinite(rows), rows, 0.0)
        Limits.of(np.zeros((1, rows.shape[1])), finite).check_size(about.columns)
        self._check_constant(rows)
        [rows], note = complete([rows[:, self.plan.kept]], self.plan.columns, nan_policy, roles=["y"], fewest=0)
        if note is not None:
            warn(DroppedDataWarning(note, argument="y"))
            notes = (*notes, note)
        return rows, notes

    @property
    def _choice(self) -> Choice:
        """How samples are read: with the columns of the reference, and its categories."""
        about = self.about
        named = zip(about.columns, about.levels, strict=False)
        categories = tuple(name for name, levels in named if levels is not None)
        return Choice(columns=about.columns, categories=categories, texts=bool(about.levels))

    def _matched(self, y: object) -> Any:
        """The columns of a data frame that have the names of those of the reference."""
        about = self.about
        try:
            table = read(y, "y", self._choice)
        except InputError as error:
            if error.argument != "columns":
                raise
            present = read(y, "y").present
            raise InputError(
                f"y lacks columns of the reference: {some([c for c in about.columns if c not in present])}",
                argument="y",
                remedy="add them, or make a reference without them",
            ) from None
        for column in about.columns:
            if (column in table.times) != (column in about.times):
                which = ("the reference", "y") if column in about.times else ("y", "the reference")
                raise InputTypeError(
                    f"column {column!r} holds dates or times in {which[0]} and numbers in {which[1]}",
                    argument="y",
                    remedy="give both in the same way",
                )
        return table

    def _check_constant(self, rows: NDArray[np.float64]) -> None:
        """Refuse other values in columns that hold one value in the reference: they are not compared otherwise."""
        for place in np.flatnonzero(~self.plan.kept):
            other = np.flatnonzero(np.isfinite(rows[:, place]) & (rows[:, place] != self.about.values[place]))
            if len(other):
                column, levels = self.about.columns[place], self.about.levels and self.about.levels[place]
                held, first = self.about.values[place], rows[other[0], place]
                shown = (f"{held:g}", f"{first:g}") if not levels else (repr(levels[int(held)]), "another one")
                raise InputError(
                    f"column {column!r} holds {shown[0]} throughout the reference and other values "
                    f"in {count_in_words(len(other), 'row')} of y (first: {shown[1]})",
                    argument="y",
                    remedy=("make a reference from more rows, or one with ", Setting("drop", [column])),
                )

    def save(self, path: str | Path) -> None:
        """Write the reference to a file (npz, without pickle), whole or not at all.

        It holds some rows of the sample, for pictures; `summary` says how many. Points and ranks are of rows that were
        moved about, but for values that are repeated in a column.
        """
        arrays = {**self.statistics.to_arrays(), "reference": np.array(self.about.to_json())}
        content = packed(arrays, compressed=True)
        write_whole(Path(path), lambda file: file.write(content))

    @classmethod
    def load(cls, path: str | Path) -> Reference:
        """Read a reference back that `save` wrote."""

        def build(arrays: dict[str, Any]) -> Reference:
            about = _About.from_json(str(arrays["reference"]))
            statistics = FeatureStatistics.from_arrays(arrays)
            about.plan.check_fit(statistics)
            return cls(statistics, about)

        return load_arrays(path, build, "a reference of twosample")


def _part(plan: Plan, x: NDArray[np.float64] | None, y: NDArray[np.float64] | None) -> Samples:
    """Checked rows of one of the samples, with the columns of the plan."""
    width = next(rows.shape[1] for rows in (x, y) if rows is not None)
    none = np.empty((0, width))
    x, y = (none if rows is None else rows for rows in (x, y))
    return Samples(x, y, plan.columns, plan.view, plan.kept, False, (), levels=plan.levels)


def _moved(rows: NDArray[np.float64], levels: Levels) -> NDArray[np.float64]:
    """The rows, moved about by as much as their columns are spread; values that are repeated and categories stay.

    A plan from the rows themselves has points that are rows of x and of no other sample: where y has many more rows
    that makes them look different. And it has no points, and one rank for all, where a sample that is spread more has
    rows.
    """
    if not np.isfinite(rows).all():
        return rows  # to be refused
    ordered = rows[np.lexsort(rows.T[::-1])]
    limits = Limits.of(ordered, ordered)
    limits.check_size(tuple(map(str, range(rows.shape[1]))))
    moves = np.random.default_rng(0).normal(size=ordered.shape)
    for column, values in enumerate(ordered.T):
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        if levels and levels[column] is not None:
            moves[:, column] = 0.0
        moves[counts[places] > 1, column] = 0.0
    return ordered + moves * View.robust(ordered, ordered[:0], limits).scale
