"""Reads samples, or one table that is split into samples, into rows with the same columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from twosample.common.arrays import Array
from twosample.data.categories import Levels
from twosample.data.cells import TEXT
from twosample.data.choosing import DROPPED, EVERYTHING, IDENTIFIES, Choice, Labels, LeftOut, some
from twosample.data.copies import find_copies
from twosample.data.identifiers import are_shared, identifiers
from twosample.data.levels import (
    about_texts,
    category_columns,
    reasons,
    settled,
    settled_table,
    united,
    used_places,
    with_numbers,
)
from twosample.data.matching import in_pairs, split_in_pairs
from twosample.data.order import serial_dependence
from twosample.data.reading import Table, column_labels, label_list, read
from twosample.errors import (
    DatesWarning,
    DependentRowsWarning,
    DroppedDataWarning,
    IdentifierWarning,
    InputError,
    InputTypeError,
    Role,
    Setting,
    TwoSampleWarning,
    emit,
)

__all__ = [
    "Tables",
    "about_identifiers",
    "about_rows",
    "align",
    "no_second_sample",
    "read_all",
    "read_groups",
    "read_one",
    "read_split",
    "read_two",
    "row_labels",
    "without_label",
]

# Samples that a message lists.
_SHOWN = 8
# What is said of a column that looks like an identifier, and of several.
_TELLS = (
    ": it tells samples apart whatever else they hold, and will decide the answer",
    ": they tell samples apart whatever else they hold, and will decide the answer",
)
_SAYS_NOTHING = (
    ", with the same values in both samples: it says nothing of a difference",
    ", with the same values in both samples: they say nothing of a difference",
)


class Tables(NamedTuple):
    """The rows of samples with the same columns."""

    rows: tuple[Array, ...]  # of each sample, (n, D), NaN where values are missing
    columns: tuple[str, ...]
    names: tuple[str, ...] = ("x", "y")  # what the samples are called
    roles: tuple[str, ...] = ("x", "y")  # what messages call them
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()  # one sentence for everything that was warned about
    levels: Levels = ()  # most common first
    named: bool = True  # whether the columns have names in the data

    def with_identifiers_noted(self) -> Tables:
        """The same, with a note of columns that look like identifiers, after a warning of them."""
        first, *others = self.rows
        rest = others[0] if len(others) == 1 else np.concatenate(others)
        found = identifiers(first, rest, self.columns if self.named else None)
        return self._replace(notes=self.notes + _said(about_identifiers(self._replace(rows=(first, rest)), found)))

    def levels_at(self, places: Iterable[int]) -> Levels:
        """The levels of the columns at these places."""
        return tuple(self.levels[place] if self.levels else None for place in places)

    @property
    def x(self) -> Array:
        """The rows of the first sample."""
        return self.rows[0]

    @property
    def y(self) -> Array:
        """The rows of the second sample."""
        return self.rows[1]


def read_two(x: object, y: object, choice: Choice = EVERYTHING) -> Tables:
    """Read two samples, or one table that is split in two; warns about what is left out or looks wrong.

    Rows are matched as the choice says, before anything else is seen of them.
    """
    if choice.by is None:
        if y is None:
            raise no_second_sample()
        x, y, choice, warnings = in_pairs(x, y, choice)
        return read_all({"x": x, "y": y}, choice, warnings=warnings).with_identifiers_noted()
    if y is not None:
        raise InputError("by: splits x, so there must be no y", argument="by", remedy="pass one table, or no by")
    table, labels, warnings = _read_labelled(x, choice)
    names = labels.two(choice.groups)
    return _together(table.split(labels, names), names, ("x", "y"), choice, warnings).with_identifiers_noted()


def read_all(
    samples: Mapping[str, object],
    choice: Choice = EVERYTHING,
    roles: Sequence[str] = ("x", "y"),
    warnings: Sequence[TwoSampleWarning] = (),
) -> Tables:
    """Read samples by name, which messages call by their roles; warns about what is left out or looks wrong."""
    tables = [read(values, role, choice) for role, values in zip(roles, samples.values(), strict=True)]
    return _together(tables, tuple(samples), tuple(roles), choice, list(warnings))


def read_split(x: object, choice: Choice) -> Tables:
    """Read one table and split it into its groups; warns about what is left out or looks wrong."""
    table, labels, warnings = _read_labelled(x, choice)
    names = tuple(labels.counts)
    roles = tuple(Role(f"group {name!r}", "by") for name in names)
    return _together(table.split(labels, names), names, roles, choice, warnings)


def _together(
    tables: Sequence[Table],
    names: tuple[str, ...],
    roles: tuple[str, ...],
    choice: Choice,
    warnings: list[TwoSampleWarning],
) -> Tables:
    """The tables with the same columns and levels; warns about what is left out or looks wrong."""
    choice.check_drop([table.present for table in tables], roles[0])
    known = all(table.settled for table in tables)
    tables = tables if known else category_columns(with_numbers(tables), roles)
    _check_times(tables, roles)
    places, columns = align(tables, roles)
    rows = tuple(table.at(own) for table, own in zip(tables, places, strict=True))
    found = Tables(rows, columns, names, roles, named=any(table.columns is not None for table in tables))
    if known:
        found = found._replace(levels=tables[0].levels)
    elif any(table.levels for table in tables):
        found = _with_levels(found, tables, places)
    left_out = [one for table in tables for one in table.left_out] + list(found.left_out)
    left_out = list({one.column: one for one in left_out}.values())
    warnings += _about(left_out, tuple(dict.fromkeys(column for table in tables for column in table.times)))
    warnings += about_texts(tables)
    return found._replace(left_out=tuple(left_out), notes=_said(warnings))


def _with_levels(found: Tables, tables: Sequence[Table], places: list[list[int]]) -> Tables:
    """Samples with one dictionary for each column of categories, as read at these places of tables."""
    argument = _all_of(found.roles)
    of_each = [table.levels_at(own) for table, own in zip(tables, places, strict=True)]
    rows, levels, mixed = united(found.rows, of_each, found.columns, found.roles)
    if mixed and not all(table.is_frame for table in tables):
        raise InputTypeError(
            f"{argument}: a column holds {mixed[0].reason}", argument=argument, remedy="give both in the same way"
        )
    kept = used_places(found.columns, mixed)
    if not kept:
        raise _no_common_column(found.roles, [*(one for table in tables for one in table.left_out), *mixed])
    columns, levels = tuple(found.columns[place] for place in kept), tuple(levels[place] for place in kept)
    asked = tuple({column for table in tables for column in table.asked})
    rows, columns, levels, nameless = settled([one[:, kept] for one in rows], columns, levels, asked, argument=argument)
    return found._replace(rows=tuple(rows), columns=columns, levels=levels, left_out=(*mixed, *nameless))


def read_one(x: object, choice: Choice = EVERYTHING) -> tuple[Table, tuple[str, ...]]:
    """Read one table with rows of both samples; returns also what was warned about."""
    return _alone(read(x, "x", choice), choice, [])


def read_groups(x: object, choice: Choice) -> tuple[Table, Labels, tuple[str, ...]]:
    """Read a table of any number of groups; returns also which row is in which, and what was warned about."""
    table, labels, warnings = _read_labelled(x, choice)
    table, notes = _alone(table, choice, warnings)
    return table, labels, notes


def _alone(table: Table, choice: Choice, warnings: list[TwoSampleWarning]) -> tuple[Table, tuple[str, ...]]:
    choice.check_drop([table.present])
    [table] = with_numbers([table])
    table = settled_table(table)
    return table, _said(warnings + _about(table.left_out, table.times) + about_texts([table]))


def row_labels(x: Any, by: object) -> Labels:
    """Which group each row of a table is in, by the name of a column or by labels."""
    column = Choice(by).by_column
    return Labels(label_list(by)) if column is None else Labels(column_labels(x, column), f"column {column!r}")


def align(tables: Sequence[Table], roles: Sequence[str]) -> tuple[list[list[int]], tuple[str, ...]]:
    """The places of the columns of each table that all of them have, in one order, and their names.

    Columns of data frames are matched by name, in the order of the first, and those that one of them left out are left
    out of the others too; columns of other tables are matched by place.
    """
    frames = [table for table in tables if table.is_frame]
    of_frames = [role for table, role in zip(tables, roles, strict=True) if table.is_frame]
    common = _common_columns(frames, of_frames) if frames else ()
    places = []
    for table in tables:
        place_of = {column: place for place, column in enumerate(table.names)}
        places.append([place_of[column] for column in common] if table.is_frame else list(place_of.values()))
    for own, role in zip(places, roles, strict=True):
        if len(own) != len(places[0]):
            raise InputError(
                f"{roles[0]} has {len(places[0])} columns and {role} has {len(own)}",
                argument=roles[0],
                remedy="they must have the same columns",
            )
    names = {common} if frames else {table.columns for table in tables if table.columns is not None}
    return places, names.pop() if len(names) == 1 else tuple(map(str, range(len(places[0]))))


def _common_columns(frames: Sequence[Table], roles: Sequence[str]) -> tuple[str, ...]:
    """The columns that all data frames have, in the order of the first; refuses those that some lack."""
    left_out = [one for table in frames for one in table.left_out]
    used = [[table.names[place] for place in used_places(table.names, left_out)] for table in frames]
    every = tuple(dict.fromkeys(chain.from_iterable(used)))
    absent = [[column for column in every if column not in columns] for columns in map(set, used)]
    if any(absent):
        missing = [f"{role} has no column {some(names)}" for role, names in zip(roles, absent, strict=True) if names]
        common = [column for column in every if not any(column in names for names in absent)]
        raise InputError(
            f"{_all_of(roles)} must have the same columns: {'; '.join(missing[:_SHOWN])}",
            argument=_all_of(roles),
            remedy=("name those to compare, such as ", Setting("columns", tuple(common[:8]))) if common else None,
        )
    if not every:
        raise _no_common_column(roles, left_out)
    return every


def _no_common_column(roles: Sequence[str], left_out: Sequence[LeftOut]) -> InputTypeError:
    where = "both" if len(roles) == 2 else "all"
    return InputTypeError(
        f"{_all_of(roles)}: no column holds numbers in {where}: {reasons(left_out)}", argument=_all_of(roles)
    )


def _all_of(roles: Sequence[str]) -> str:
    """What messages call all samples together: "x and y", or the argument that all of them came in."""
    return " and ".join(dict.fromkeys(role.argument if isinstance(role, Role) else role for role in roles))


def _said(warnings: list[TwoSampleWarning]) -> tuple[str, ...]:
    """Issue warnings; returns what the result keeps of them: a sentence each, without what to do."""
    emit(warnings)
    return tuple(f"{warning.message.rstrip('.')}." for warning in warnings)


def _read_labelled(x: Any, choice: Choice) -> tuple[Table, Labels, list[TwoSampleWarning]]:
    """One table, the groups of its rows, and what to say of rows without one."""
    if hasattr(x, "collect") and not hasattr(x, "to_dict"):  # a lazy frame, which is read twice
        import narwhals as nw

        x = nw.from_native(x, pass_through=True)
        x = x.collect().to_native() if isinstance(x, nw.LazyFrame) else x
    labels = row_labels(x, choice.by)
    warnings: list[TwoSampleWarning] = [without_label(labels.missing, choice)] if labels.missing else []
    x, labels, choice, of_pairs = split_in_pairs(x, labels, choice)
    table = read(x, "x", choice)
    if len(table.rows) != labels.count:
        raise InputError(
            f"by: has {labels.count} labels for {len(table.rows)} rows", argument="by", remedy="give one for each row"
        )
    return table, labels, warnings + of_pairs


def no_second_sample() -> InputTypeError:
    """The refusal of a sample alone."""
    return InputTypeError(
        "y: there is no second sample", argument="y", remedy="pass one, or split x by a column with by"
    )


def without_label(count: int, choice: Choice) -> DroppedDataWarning:
    """The warning of rows that belong to no group."""
    where = f"a value in column {choice.by_column!r}" if choice.by_column is not None else "a label"
    rows = "1 row" if count == 1 else f"{count} rows"
    return DroppedDataWarning(f"Left out {rows} without {where}.", argument="by")


def _check_times(tables: Sequence[Table], roles: Sequence[str]) -> None:
    """Refuse a column of data frames that is times in one sample and numbers in another one."""
    frames = [(table, role) for table, role in zip(tables, roles, strict=True) if table.is_frame]
    for table, role in frames:
        for column in table.times:
            for other, other_role in frames:
                if column in other.names and column not in other.times:
                    raise InputTypeError(
                        f"column {column!r} holds dates or times in {role} and numbers in {other_role}",
                        argument=_all_of(roles),
                        remedy="give both in the same way, or leave the column out",
                    )


def _about(left_out: Sequence[LeftOut], times: tuple[str, ...]) -> list[TwoSampleWarning]:
    """What to say of columns that were left out, and of dates."""
    warnings: list[TwoSampleWarning] = []
    others = [one for one in left_out if one.column != "" and one.reason not in (DROPPED, IDENTIFIES)]
    if others:
        what, how = (
            "numbers or categories",
            "name it among the columns to compare, or encode it as categories that rows share",
        )
        if any(one.reason == TEXT for one in others):  # categories were not asked for
            what, how = "numbers", "encode it as numbers, such as one 0/1 column per category"
        message = f"Left out columns that do not hold {what}: {reasons(others)}"
        warnings.append(DroppedDataWarning(message, argument="columns", remedy=f"to include one, {how}."))
    if any(one.column == "" for one in left_out):
        message = "Left out a column without a name; it may number the rows."
        warnings.append(DroppedDataWarning(message, argument="columns"))
    if times:
        message = "Read dates as days since 1970-01-01 in UTC, durations as days and times of day as shares of a day"
        warnings.append(DatesWarning(f"{message}: {some(times)}.", argument="columns"))
    return warnings


def about_rows(tables: Tables, paired: bool) -> list[TwoSampleWarning]:
    """Warnings of rows of two samples that look copied, and of rows that depend on those before them."""
    copies = find_copies(tables.x, tables.y, paired=paired)
    dependent = serial_dependence(tables.x, tables.y, tables.columns, copies, tables.levels)
    return [*copies.warnings(), *(DependentRowsWarning(note, argument="x and y") for note in dependent)]


def about_identifiers(two: Tables, places: Iterable[int]) -> list[TwoSampleWarning]:
    """What to say of columns of two samples, at these places, that look like identifiers."""
    of_numbers = [place for place in places if not two.levels or two.levels[place] is None]
    shared = are_shared(two.x[:, of_numbers], two.y[:, of_numbers])
    apart, alike = (
        [two.columns[place] for place, is_shared in zip(of_numbers, shared, strict=True) if is_shared == wanted]
        for wanted in (False, True)
    )
    found: list[TwoSampleWarning] = []
    for columns, says in ((apart, _TELLS), (alike, _SAYS_NOTHING)):
        one = len(columns) == 1
        looks = "looks like an identifier or a row number" if one else "look like identifiers or row numbers"
        message = f"Column{'s' * (not one)} {some(columns)} {looks}{says[not one]}"
        remedy = (f"if so, leave {'it' if one else 'them'} out with ", Setting("drop", columns[:8]), ".")
        if columns:
            found.append(IdentifierWarning(message, argument="columns", remedy=remedy))
    return found
