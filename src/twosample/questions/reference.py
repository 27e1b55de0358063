"""A reference sample kept as a plan and its statistics, so that tomorrow's rows are tested without today's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.common.arguments import flag_of, positive, share_of
from twosample.common.records import Comparable, Record, load_arrays, write_whole
from twosample.common.threads import one_thread
from twosample.common.words import columns_in_words, printable
from twosample.data import Choice, LeftOut, Limits, Samples, View, finite_rows, read, some
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Setting, warn
from twosample.features.statistics import FeatureStatistics
from twosample.models import Model
from twosample.plan import Plan
from twosample.questions import two_samples
from twosample.results import assembly
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["Reference"]

_SEED = 0
_NOTE = "x is a reference: points, scales and ranks are its own, and its rows were not looked at again."


@dataclass(frozen=True, eq=False, repr=False)
class _About(Record):
    """What a reference knows of its table, beside the statistics.

    Attributes
    ----------
    plan
        The plan.
    columns
        The columns that were read, those with one value throughout too.
    values
        What constant columns hold throughout, (D,); 0 for the others.
    present
        All columns that the table had.
    named
        Whether columns are matched by their names, as those of data frames are.
    times
        The columns of dates or times.
    left_out
        Columns that are not compared, and why.
    name
        What the sample is called.
    """

    plan: Plan
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    present: tuple[str, ...]
    named: bool
    times: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    name: str


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
    def of(
        cls,
        x: object,
        *,
        columns: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
        model: str | Model = "adaptive",
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
            The sample, as in `twosample.test`; at least 4 rows.
        columns, drop, model, points, subsets, scale, nan_policy
            As in `twosample.test`; a model that needs only one pass over the data, such as "adaptive".
        tolerance
            Wanted error of log BF10, as in `twosample.test`; below 0.001 there are twice as many lengthscales.
        name
            What results call the sample.
        """
        table = read(x, "x", Choice.of(columns=columns, drop=drop))
        rows, notes = table.rows, tuple[str, ...]()
        complete = finite_rows(rows)
        if nan_policy == "omit" and not complete.all():
            note = f"Dropped {np.sum(~complete)} of {len(rows)} rows of the reference with a missing or infinite value."
            warn(DroppedDataWarning(note, argument="x"))
            rows, notes = rows[complete], (note,)
        if len(rows) < 4:
            raise InputError(
                f"x has {len(rows)} row{'s' * (len(rows) != 1)}", argument="x", remedy="a reference needs at least 4"
            )
        if (rows == rows[0]).all():
            raise InputError(
                "x: all rows are equal", argument="x", remedy="without variation there is nothing to judge others by"
            )
        plan = two_samples.plan(
            table._replace(rows=_moved(rows)),
            model=model,
            points=points,
            subsets=subsets,
            scale=scale,
            nan_policy=nan_policy,
            tolerance=tolerance,
            columns=columns,
            drop=drop,
        )
        names = table.columns or tuple(map(str, range(rows.shape[1])))
        constant = tuple(name for name, kept in zip(names, plan.kept, strict=True) if not kept)
        left_out = (*table.left_out, *(LeftOut(name, "one value throughout") for name in constant))
        values = np.where(plan.kept, 0.0, rows[0])
        about = _About(plan, names, values, table.present, table.is_frame, table.times, left_out, str(name))
        statistics = plan.statistics(rows)
        return cls(replace(statistics, notes=notes + statistics.notes), about)

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
        shown = len(self.statistics.sketch_x.rows)
        return "\n".join(
            [
                f"Reference {printable(self.about.name)!r}: {self.n} rows, {columns_in_words(len(self.columns))}.",
                f"  columns              {printable(some(self.columns, quote=False))}",
                f"  model                {self.plan.model.name}, {len(self.plan.points)} evaluation points",
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
    ) -> TwoSampleResult:
        """Test whether a sample comes from the distribution of the reference.

        Parameters
        ----------
        y
            The sample. Columns of data frames are matched by name, others by place.
        prior_odds, rope, nan_policy, keep_rows
            As in `twosample.test`.

        Returns
        -------
        TwoSampleResult
            As from `twosample.test`, with the reference as x; without a p-value, as there are no rows to permute.
        """
        prior_odds, keep_rows = positive(prior_odds, "prior_odds"), flag_of(keep_rows, "keep_rows")
        rope = None if rope is None else share_of(rope, "rope", 0.5)
        if rope is not None and not self.plan.model.has_effect:
            raise InputError(
                f"rope: model {self.plan.model.name!r} does not say how much samples differ", argument="rope"
            )
        rows, notes = self._rows_of(y)
        plan = self.plan
        samples = Samples.of_part(None, rows, plan.columns, plan.kept, plan.view, paired=False, nan_policy=nan_policy)
        if samples.n_y < 2:
            raise InputError(
                f"y has {samples.n_y} row{'s' * (samples.n_y != 1)}", argument="y", remedy="pass at least 2"
            )
        with one_thread():
            statistics = self.statistics.merge(plan.collect(samples))
            statistics = replace(statistics, notes=(_NOTE, *statistics.notes, *notes))
            result = plan.answer(statistics, prior_odds=prior_odds, keep_rows=keep_rows)
        if result.diagnostics.flat:
            warn(assembly.flat_features(plan, (result.n_x, result.n_y), (statistics.sketch_x, statistics.sketch_y)))
        if not result.diagnostics.converged:
            warn(assembly.inaccurate(result, "a reference that is made with a smaller tolerance is more accurate"))
        return replace(result, rope=rope, left_out=self.about.left_out, names=(self.about.name, "y"))

    def _rows_of(self, y: object) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """The rows of a sample with the columns that the reference was read with, and what was left out."""
        about = self.about
        notes: tuple[str, ...] = ()
        if about.named and (hasattr(type(y), "columns") or hasattr(type(y), "column_names")):
            table = self._matched(y)
            extra = [column for column in table.present if column not in about.present]
            if extra:
                notes = (f"Left out columns of y that the reference does not have: {some(extra)}.",)
                warn(DroppedDataWarning(notes[0], argument="y"))
        else:
            table = read(y, "y")
        rows: NDArray[np.float64] = table.rows
        if rows.shape[1] != len(about.columns):
            raise InputError(
                f"y has {columns_in_words(rows.shape[1])}",
                argument="y",
                remedy=f"the reference was made from {len(about.columns)}: {some(about.columns)}",
            )
        finite = np.where(np.isfinite(rows), rows, 0.0)
        Limits.of(np.zeros((1, rows.shape[1])), finite).check_size(about.columns)
        self._check_constant(rows)
        return rows, notes

    def _matched(self, y: object) -> Any:
        """The columns of a data frame that have the names of those of the reference."""
        about = self.about
        try:
            table = read(y, "y", Choice(columns=about.columns))
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
                column = self.about.columns[place]
                raise InputError(
                    f"column {column!r} holds {self.about.values[place]:g} throughout the reference and other values "
                    f"in {len(other)} row{'s' * (len(other) != 1)} of y (first: {rows[other[0], place]:g})",
                    argument="y",
                    remedy=("make a reference from more rows, or one with ", Setting("drop", [column])),
                )

    def save(self, path: str | Path) -> None:
        """Write the reference to a file (npz, without pickle), whole or not at all.

        It holds some rows of the sample, for pictures; `summary` says how many. Points and ranks are of rows that were
        moved about, but for values that are repeated in a column.
        """
        arrays = {**self.statistics.to_arrays(), "reference": np.array(self.about.to_json())}
        write_whole(Path(path), lambda file: np.savez_compressed(file, **arrays))

    @classmethod
    def load(cls, path: str | Path) -> Reference:
        """Read a reference back that `save` wrote."""

        def build(arrays: dict[str, Any]) -> Reference:
            about = _About.from_json(str(arrays["reference"]))
            statistics = FeatureStatistics.from_arrays(arrays)
            if statistics.plan != about.plan.key or len(about.values) != len(about.plan.kept):
                raise ValueError("its plan and its statistics do not belong together")
            return cls(statistics, about)

        return load_arrays(path, build, "a reference of twosample")


def _moved(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows, moved about by as much as their columns are spread; values that are repeated stay.

    A plan from the rows themselves has points that are rows of x and of no other sample: where y has many more rows
    that makes them look different. And it has no points, and one rank for all, where a sample that is spread more has
    rows.
    """
    if not np.isfinite(rows).all():
        return rows  # to be refused
    ordered = rows[np.lexsort(rows.T[::-1])]
    limits = Limits.of(ordered, ordered)
    limits.check_size(tuple(map(str, range(rows.shape[1]))))
    moves = np.random.default_rng(_SEED).normal(size=ordered.shape)
    for column, values in enumerate(ordered.T):
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        moves[counts[places] > 1, column] = 0.0
    return ordered + moves * View.robust(ordered, ordered[:0], limits).scale
