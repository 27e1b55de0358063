"""From what the caller gave to the rows of two samples, split and with the same columns; what to say of the columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.data.categories import Levels
from twosample.data.cells import TEXT
from twosample.data.choosing import DROPPED, EVERYTHING, Choice, Labels, LeftOut, some
from twosample.data.identifiers import identifiers
from twosample.data.levels import levels_of, settled, settled_table, united
from twosample.data.reading import Table, column_labels, label_list, read
from twosample.errors import (
    DatesWarning,
    DroppedDataWarning,
    IdentifierWarning,
    InputError,
    InputTypeError,
    Setting,
    TwoSampleWarning,
    warn,
)

__all__ = [
    "TwoTables",
    "align",
    "no_second_sample",
    "read_groups",
    "read_one",
    "read_two",
    "row_labels",
    "without_label",
]


class TwoTables(NamedTuple):
    """The rows of two samples.

    Attributes
    ----------
    x, y
        The rows, (n_x, D) and (n_y, D), NaN where values are missing.
    columns
        The names of the columns.
    names
        What the samples are called.
    left_out
        Columns of the data that these are not, and why.
    notes
        One sentence for everything that was warned about.
    levels
        The levels of columns of categories, most common first; nothing where there are only numbers.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    columns: tuple[str, ...]
    names: tuple[str, str] = ("x", "y")
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    levels: Levels = ()


def read_two(x: object, y: object, choice: Choice = EVERYTHING) -> TwoTables:
    """Read two samples, or one table that is split in two; warns about what is left out or looks wrong.

    Parameters
    ----------
    x, y
        The samples; the table and None, where it is split.
    choice
        The columns that are compared, and what the table is split by.

    Examples
    --------
    >>> two = read_two([[1.0, 0], [2.0, 0], [3.0, 1]], None, Choice.of(by=1))
    >>> two.x.ravel(), two.y.ravel(), two.names
    (array([1., 2.]), array([3.]), ('0', '1'))
    """
    warnings: list[TwoSampleWarning] = []
    names = ("x", "y")
    if choice.by is None:
        if y is None:
            raise no_second_sample()
        tables = read(x, "x", choice), read(y, "y", choice)
    else:
        if y is not None:
            raise InputError("by: splits x, so there must be no y", argument="by", remedy="pass one table, or no by")
        table, labels, warnings = _read_labelled(x, choice)
        names = labels.two(choice.groups)
        first, second = (table._replace(rows=table.rows[labels.rows(group)]) for group in names)
        tables = first, second
    choice.check_drop([table.present for table in tables])
    nameless: tuple[LeftOut, ...] = ()
    if all(table.settled for table in tables):
        x_rows, y_rows, columns = align(*tables)
        levels = tables[0].levels
    else:
        tables = united(*tables)
        aligned = align(*tables)
        x_rows, y_rows, columns, levels, nameless = settled(*aligned, levels_of(tables[0], aligned[2]), tables[0].asked)
    left_out = tuple({one.column: one for table in tables for one in table.left_out}.values()) + nameless
    times = tuple(dict.fromkeys(column for table in tables for column in table.times))
    _same_kind(tables)
    warnings += _about(left_out, times)
    named = columns if any(table.columns is not None for table in tables) else None
    of_numbers = [place for place in identifiers(x_rows, y_rows, named) if not levels or levels[place] is None]
    warnings += about_identifiers([columns[place] for place in of_numbers])
    for warning in warnings:
        warn(warning)
    return TwoTables(x_rows, y_rows, columns, names, left_out, _notes(warnings), levels)


def read_one(x: object, choice: Choice = EVERYTHING) -> tuple[Table, tuple[str, ...]]:
    """Read one table with rows of both samples; returns also what was warned about."""
    table = read(x, "x", choice)
    choice.check_drop([table.present])
    table = settled_table(table)
    warnings = _about(table.left_out, table.times)
    for warning in warnings:
        warn(warning)
    return table, _notes(warnings)


def read_groups(x: object, choice: Choice) -> tuple[Table, Labels, tuple[str, ...]]:
    """Read a table of any number of groups; returns also which row is in which, and what was warned about."""
    table, labels, warnings = _read_labelled(x, choice)
    choice.check_drop([table.present])
    table = settled_table(table)
    warnings += _about(table.left_out, table.times)
    for warning in warnings:
        warn(warning)
    return table, labels, _notes(warnings)


def row_labels(x: Any, by: object) -> Labels:
    """Which group each row of a table is in, by the name of a column or by labels."""
    column = Choice(by).by_column
    if column is not None:
        try:
            return Labels(column_labels(x, column, "x"), f"column {column!r}")
        except InputError as error:
            if error.argument != "columns":
                raise
            raise InputError(f"by{error.message.removeprefix('columns')}", argument="by", remedy=error.remedy) from None
    return Labels(label_list(by), "by")


def align(x: Table, y: Table) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Return the rows of both with the columns of y in the order of those of x, and the names of the columns.

    Columns that one of them left out are left out of the other too.
    """
    if x.is_frame and y.is_frame:
        assert x.columns is not None and y.columns is not None
        if x.columns == y.columns and x.columns:
            return x.rows, y.rows, x.columns
        unused = {one.column for table in (x, y) for one in table.left_out}
        places = [
            {column: place for place, column in enumerate(table.columns or ()) if column not in unused}
            for table in (x, y)
        ]
        missing = [
            f"{name} has no column {some(absent)}"
            for name, absent in (
                ("x", [column for column in places[1] if column not in places[0]]),
                ("y", [column for column in places[0] if column not in places[1]]),
            )
            if absent
        ]
        if missing:
            common = tuple(column for column in places[0] if column in places[1])
            raise InputError(
                "x and y must have the same columns: " + "; ".join(missing),
                argument="x and y",
                remedy=("name those to compare, such as ", Setting("columns", common[:8])) if common else None,
            )
        if not places[0]:
            reasons = {one.column: one.reason for table in (x, y) for one in table.left_out}
            listed = some([f"{column!r} ({why})" for column, why in reasons.items()], quote=False)
            raise InputTypeError(f"x and y: no column holds numbers in both: {listed}", argument="x and y")
        columns = tuple(places[0])
        return x.rows[:, list(places[0].values())], y.rows[:, [places[1][column] for column in columns]], columns

    n_columns = x.rows.shape[1]
    if n_columns != y.rows.shape[1]:
        raise InputError(
            f"x has {n_columns} columns and y has {y.rows.shape[1]}",
            argument="x",
            remedy="they must have the same columns",
        )
    frames = [table for table in (x, y) if table.is_frame]
    names = {table.columns for table in frames or (x, y) if table.columns is not None}
    return x.rows, y.rows, names.pop() if len(names) == 1 else tuple(map(str, range(n_columns)))


def _notes(warnings: list[TwoSampleWarning]) -> tuple[str, ...]:
    """What the result keeps of warnings: a sentence each, without what to do."""
    return tuple(f"{warning.message.rstrip('.')}." for warning in warnings)


def _read_labelled(x: Any, choice: Choice) -> tuple[Table, Labels, list[TwoSampleWarning]]:
    """One table, the groups of its rows, and what to say of rows without one."""
    if hasattr(x, "collect") and not hasattr(x, "to_dict"):  # a lazy frame, which is read twice
        import narwhals as nw

        x = nw.from_native(x, pass_through=True)
        x = x.collect().to_native() if isinstance(x, nw.LazyFrame) else x
    labels = row_labels(x, choice.by)
    table = read(x, "x", choice)
    if len(table.rows) != labels.count:
        raise InputError(
            f"by: has {labels.count} labels for {len(table.rows)} rows", argument="by", remedy="give one for each row"
        )
    if not labels.missing:
        return table, labels, []
    return table, labels, [without_label(labels.missing, choice)]


def no_second_sample() -> InputTypeError:
    """The refusal of a sample alone."""
    return InputTypeError(
        "y: there is no second sample", argument="y", remedy="pass one, or split x by a column with by"
    )


def without_label(count: int, choice: Choice) -> DroppedDataWarning:
    """The warning that so many rows belong to no group."""
    where = f"a value in column {choice.by_column!r}" if choice.by_column is not None else "a label"
    rows = "1 row" if count == 1 else f"{count} rows"
    return DroppedDataWarning(f"Left out {rows} without {where}.", argument="by")


def _same_kind(tables: tuple[Table, Table]) -> None:
    """Refuse a column that is times in one sample and numbers in the other."""
    x, y = tables
    if not (x.is_frame and y.is_frame):
        return
    for table, other, name, other_name in ((x, y, "x", "y"), (y, x, "y", "x")):
        for column in table.times:
            if column in (other.columns or ()) and column not in other.times:
                raise InputTypeError(
                    f"column {column!r} holds dates or times in {name} and numbers in {other_name}",
                    argument="x and y",
                    remedy="give both in the same way, or leave the column out",
                )


def _about(left_out: tuple[LeftOut, ...], times: tuple[str, ...]) -> list[TwoSampleWarning]:
    """What to say of columns that were left out, and of dates."""
    warnings: list[TwoSampleWarning] = []
    nameless = [one for one in left_out if one.column == ""]
    others = [one for one in left_out if one.column != "" and one.reason != DROPPED]
    if others:
        listed = some([f"{one.column!r} ({one.reason})" for one in others], quote=False)
        only_numbers = any(one.reason == TEXT for one in others)
        remedy = "to include one, encode it as numbers, such as one 0/1 column per category."
        if not only_numbers:
            remedy = "to include one, name it among the columns to compare, or encode it as categories that rows share."
        warnings.append(
            DroppedDataWarning(
                f"Left out columns that do not hold numbers{'' if only_numbers else ' or categories'}: {listed}",
                argument="columns",
                remedy=remedy,
            )
        )
    if nameless:
        warnings.append(
            DroppedDataWarning("Left out a column without a name; it may number the rows.", argument="columns")
        )
    if times:
        warnings.append(
            DatesWarning(
                "Read dates as days since 1970-01-01 in UTC, durations as days and times of day as shares of a day: "
                f"{some(times)}.",
                argument="columns",
            )
        )
    return warnings


def about_identifiers(columns: list[str]) -> list[TwoSampleWarning]:
    """What to say of columns that look like identifiers."""
    if not columns:
        return []
    one = len(columns) == 1
    looks = "looks like an identifier or a row number" if one else "look like identifiers or row numbers"
    return [
        IdentifierWarning(
            f"Column{'' if one else 's'} {some(columns)} {looks}: {'it tells' if one else 'they tell'} samples apart "
            "whatever else they hold, and will decide the answer",
            argument="columns",
            remedy=(f"if so, leave {'it' if one else 'them'} out with ", Setting("drop", columns[:8]), "."),
        )
    ]
