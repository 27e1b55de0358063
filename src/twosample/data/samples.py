"""The one validator: two samples of any kind become two finite float64 arrays with a pooled center and scale."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import flag_of
from twosample.common.arrays import Array, Flags
from twosample.common.words import count_in_words
from twosample.data.blocks import Block
from twosample.data.categories import Levels, many_in_words, sizes_of, unknown_in_words, without_many
from twosample.data.choosing import EVERYTHING, Choice, LeftOut, some
from twosample.data.complete import check_pairs, check_policy, check_sizes, complete
from twosample.data.copies import Copies, find_copies
from twosample.data.known_columns import columns_of
from twosample.data.limits import Limits
from twosample.data.matching import in_pairs
from twosample.data.order import serial_dependence
from twosample.data.parts import Pass, Sources
from twosample.data.two_tables import Tables, read_one, read_two
from twosample.data.views import View, given_scale
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, Role, emit, warn

__all__ = ["Samples", "check_policy", "read_columns"]


@dataclass(frozen=True, eq=False)
class Samples:
    """Two validated samples, in the caller's units, with what is needed to standardize them.

    The rows share memory with the caller's data wherever that already was float64 and nothing was dropped.
    """

    x: Array  # (n_x, D), all finite
    y: Array  # (n_y, D)
    columns: tuple[str, ...]  # "0", "1", ... by position where the data has no names
    view: View
    kept: Flags  # which columns of the data these are; the others hold one value throughout
    paired: bool  # whether row i of x belongs with row i of y
    notes: tuple[str, ...]  # a sentence for everything said of the rows: dropped, copied, or not independent
    column_notes: tuple[str, ...] = ()  # the same of columns: left out, read in another way, or suspicious
    left_out: tuple[LeftOut, ...] = ()  # columns of the data that are not among these
    names: tuple[str, str] = ("x", "y")  # what the samples are called
    copies: Copies | None = None  # the rows that look copied, where they were looked for
    levels: Levels = ()
    paired_by: str | None = None  # what rows were matched by: a column, or "" for identifiers given apart

    @property
    def n_x(self) -> int:
        """Number of rows of `x`."""
        return len(self.x)

    @property
    def n_y(self) -> int:
        """Number of rows of `y`."""
        return len(self.y)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @classmethod
    def from_data(
        cls,
        x: object,
        y: object,
        *,
        paired: object = False,
        scale: ArrayLike = "robust",
        nan_policy: Literal["raise", "omit"] = "raise",
        choice: Choice = EVERYTHING,
        say_copies: bool = True,
    ) -> "Samples":
        """Validate two samples, or one table `x` that `choice` splits, without columns that hold one value throughout.

        The scale "robust" divides each column by its pooled spread, the distance within which a quarter of all pairs of
        rows lie, over 0.4506; that is not less than a fifth of the interquartile range over 1.349, which takes its
        place where it is 0, as the standard deviation takes that of the range. "raw" leaves the units alone, and D
        positive numbers are used as they are. Copied rows are warned of unless `with_copies_said` is to do that, once
        the answer without them is known.
        """
        check_policy(nan_policy)
        choice = choice.with_pairs(paired)
        two = read_two(x, y, choice)
        is_paired = choice.paired is not False
        samples = cls.checked(two.x, two.y, two.columns, is_paired, scale, nan_policy, levels=two.levels)
        samples = replace(
            samples,
            paired_by=choice.paired_by,
            column_notes=two.notes + samples.column_notes,
            left_out=two.left_out + samples.left_out,
            names=(two.names[0], two.names[1]),
        )
        return samples.with_copies_said() if say_copies else samples

    @classmethod
    def from_pilot(
        cls,
        pilot: object,
        *,
        paired: bool = False,
        scale: ArrayLike = "robust",
        nan_policy: Literal["raise", "omit"] = "raise",
        choice: Choice = EVERYTHING,
    ) -> "Samples":
        """Rows of both samples together, shared out to both: for what depends on the pooled rows alone.

        Examples
        --------
        >>> Samples.from_pilot([1.0, 2.0, 3.0, 4.0, 9.0]).view.center
        array([3.])
        """
        check_policy(nan_policy)
        table, notes = read_one(pilot, choice)
        columns = table.names
        [rows], note = complete([table.rows], columns, nan_policy, roles=[Role("the pilot", "x")], fewest=0)
        if len(rows) < 4:
            raise InputError(
                f"x has {count_in_words(len(rows), 'row')}", argument="x", remedy="a pilot needs at least 4"
            )
        Limits.of(rows, rows).check_size(columns)
        if note is not None:
            warn(DroppedDataWarning(note, argument="x"))
        ordered = rows[np.lexsort(rows.T[::-1])]  # so that both have whatever values there are
        samples = cls.checked(
            ordered[::2], ordered[1::2], columns, False, scale, nan_policy, look=False, levels=table.levels
        )
        return replace(
            samples,
            paired=flag_of(paired, "paired"),
            paired_by=choice.paired_by,
            column_notes=notes + samples.column_notes + unknown_in_words(samples.columns, samples.levels),
            left_out=table.left_out,
        )

    @classmethod
    def checked(
        cls,
        x_rows: Array,
        y_rows: Array,
        columns: tuple[str, ...],
        paired: bool,
        scale: ArrayLike,
        nan_policy: Literal["raise", "omit"],
        look: bool = True,
        levels: Levels = (),
    ) -> "Samples":
        """The samples from rows as read; `look` says whether to look at how rows repeat and follow each other."""
        check_sizes(len(x_rows), len(y_rows), paired)
        divisors = given_scale(scale, len(columns))

        dropped_rows: tuple[str, ...] = ()
        dropped_columns: tuple[str, ...] = ()
        left_out: tuple[LeftOut, ...] = ()
        limits = Limits.of(x_rows, y_rows)
        if not limits.finite():
            (x_rows, y_rows), note = complete([x_rows, y_rows], columns, nan_policy, paired=paired)
            dropped_rows = () if note is None else (note,)
            limits = Limits.of(x_rows, y_rows)
        limits.check_size(columns)
        keep = limits.columns_to_keep()
        if not keep.all():
            constant = list(compress(columns, ~keep))
            left_out = tuple(LeftOut(name, "one value throughout") for name in constant)
            dropped_columns = (
                f"Dropped {len(constant)} of {len(keep)} columns that hold one value throughout: {some(constant)}.",
            )
            x_rows, y_rows, limits = x_rows[:, keep], y_rows[:, keep], limits.select(keep)
            columns, levels = tuple(compress(columns, keep)), tuple(compress(levels, keep))
            divisors = None if divisors is None else divisors[keep]

        sizes = sizes_of(levels)
        view = View.robust(x_rows, y_rows, limits, sizes)
        emit(DroppedDataWarning(note, argument="x and y") for note in (*dropped_rows, *dropped_columns))
        copies = find_copies(x_rows, y_rows, paired=paired) if look else None
        dependent = serial_dependence(x_rows, y_rows, columns, copies, levels) if copies is not None else ()
        emit(DependentRowsWarning(note, argument="x and y") for note in dependent)
        return cls(
            x=x_rows,
            y=y_rows,
            columns=columns,
            view=view if divisors is None else replace(view, scale=divisors),
            kept=keep,
            paired=paired,
            notes=dropped_rows + dependent,
            column_notes=dropped_columns,
            left_out=left_out,
            copies=copies,
            levels=() if sizes is None else levels,
        )

    def with_copies_said(self, answer: str = "") -> "Samples":
        """Warn of rows that look copied, and say what the answer is without them."""
        return self if self.copies is None else replace(self, notes=self.notes + emit(self.copies.warnings(answer)))

    def without_copies(self, scale: ArrayLike) -> "Samples":
        """The samples with each row kept once, and rows in both samples in neither; scaled anew, as that says."""
        keep_x, keep_y = (slice(None), slice(None)) if self.copies is None else self.copies.kept()
        scale = scale if isinstance(scale, str) else self.view.scale
        fewer = self.checked(
            self.x[keep_x], self.y[keep_y], self.columns, self.paired, scale, "raise", look=False, levels=self.levels
        )
        kept = self.kept.copy()
        kept[self.kept] = fewer.kept
        return replace(fewer, kept=kept)

    def without_many(self) -> "Samples":
        """The same with no more levels than have coordinates, and a note of each column that has more."""
        notes = many_in_words(self.columns, self.levels)
        return replace(self, levels=without_many(self.levels), column_notes=self.column_notes + notes)

    @classmethod
    def of_part(
        cls,
        x: object,
        y: object,
        columns: tuple[str, ...],
        kept: Flags,
        view: View,
        *,
        paired: bool | str,
        nan_policy: Literal["raise", "omit"],
        levels: Levels = (),
    ) -> "Samples":
        """Validate a part of two samples whose columns and view are known: any number of rows, or None for none.

        Pairs are those of the same place, or with the same value in the column of that name.

        Examples
        --------
        >>> part = Samples.of_part(
        ...     [1.0], None, ("0",), np.array([True]), View.none(1), paired=False, nan_policy="raise"
        ... )
        >>> part.n_x, part.n_y
        (1, 0)
        """
        choice, notes = Choice(paired=paired), list[str]()
        if x is not None and y is not None:
            x, y, _, said = in_pairs(x, y, choice)
            notes += emit(said if choice.paired_by else ())
        x_rows, y_rows = (columns_of(values, name, columns, kept, levels) for values, name in ((x, "x"), (y, "y")))
        if paired:
            check_pairs(len(x_rows), len(y_rows))
        (x_rows, y_rows), note = complete([x_rows, y_rows], columns, nan_policy, paired=bool(paired), fewest=0)
        if note is not None:
            notes += emit([DroppedDataWarning(note, argument="x and y")])
        return cls(
            x_rows, y_rows, columns, view, kept, bool(paired), tuple(notes), levels=levels, paired_by=choice.paired_by
        )

    @classmethod
    def of_parts(
        cls,
        x: object,
        y: object,
        columns: tuple[str, ...],
        kept: Flags,
        view: View,
        *,
        paired: bool | str,
        nan_policy: Literal["raise", "omit"],
        levels: Levels = (),
    ) -> Iterator["Samples"]:
        """The same of rows that are read block by block, one part after the other; warns of what was left out."""
        sources = Sources.of(x, y, Choice(paired=paired), paired=bool(paired), nan_policy=nan_policy)
        rows = Pass(sources, _OfPlan(columns, kept, levels))
        for x_rows, y_rows in rows:
            yield cls(x_rows, y_rows, columns, view, kept, bool(paired), (), levels=levels)
        if rows.note is not None:
            warn(DroppedDataWarning(rows.note, argument="x and y"))
            nothing = np.empty((0, len(columns)))
            yield cls(nothing, nothing, columns, view, kept, bool(paired), (rows.note,), levels=levels)


@dataclass(frozen=True, eq=False)
class _OfPlan:
    """Reads the columns of a plan from blocks."""

    columns: tuple[str, ...]
    kept: Flags
    levels: Levels = ()

    def rows(self, block: Block, sample: int) -> Array:
        return columns_of(block.values, "xy"[sample], self.columns, self.kept, self.levels)


def read_columns(
    x: object, y: object, *, paired: bool, nan_policy: Literal["raise", "omit"], choice: Choice = EVERYTHING
) -> tuple[Tables, Limits]:
    """Validate two samples whose columns are looked at one by one, so that missing values may stay where they are.

    The arguments are those of `Samples.from_data`, but "omit" leaves values as NaN, in both values of a pair. Returned
    are also the smallest and largest value of each column, NaN where it has none.

    Examples
    --------
    >>> tables, _ = read_columns([[1.0, 2.0], [3.0, float("inf")]], np.eye(2), paired=False, nan_policy="omit")
    >>> tables.x, tables.columns
    (array([[ 1.,  2.],
           [ 3., nan]]), ('0', '1'))
    """
    check_policy(nan_policy)
    tables = read_two(x, y, choice.with_pairs(paired))
    (x_rows, y_rows), columns = tables.rows, tables.columns
    check_sizes(len(x_rows), len(y_rows), paired)
    limits = Limits.of(x_rows, y_rows)
    if not limits.finite():
        if nan_policy == "raise":
            complete([x_rows, y_rows], columns, nan_policy)  # refuses the first
        x_present, y_present = np.isfinite(x_rows), np.isfinite(y_rows)
        if paired:
            x_present = y_present = x_present & y_present
        x_rows, y_rows = np.where(x_present, x_rows, np.nan), np.where(y_present, y_rows, np.nan)
        limits = Limits.of_present(x_rows, y_rows)
    limits.check_size(columns)
    return tables._replace(rows=(x_rows, y_rows)), limits
