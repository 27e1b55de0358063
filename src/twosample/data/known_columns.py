"""Rows with columns and levels that are known already: those of a plan or of a result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twosample.data.categories import Levels, recoded
from twosample.data.choosing import Choice
from twosample.data.reading import as_rows, read
from twosample.errors import InputError, InputTypeError

__all__ = ["columns_of", "located"]


def columns_of(
    values: object, name: str, columns: tuple[str, ...], kept: NDArray[np.bool_], levels: Levels = ()
) -> NDArray[np.float64]:
    """The rows of one input with the columns that are wanted, by name where both have names, else by place.

    Columns of categories get the codes of known levels.
    """
    if values is None or _is_empty(values):
        return np.empty((0, len(columns)))
    if levels:
        return _coded_columns(values, name, columns, kept, levels)
    nameless = columns == tuple(map(str, np.flatnonzero(kept)))
    if not nameless and (hasattr(type(values), "columns") or hasattr(type(values), "column_names")):
        try:
            return read(values, name, Choice(columns=columns)).rows
        except InputError as error:
            if error.argument != "columns":
                raise
            raise InputError(
                error.message.removeprefix("columns: "), argument=name, remedy="the plan needs all of its columns"
            ) from None
    table = read(values, name)
    if table.rows.shape[1] == len(kept):
        return table.rows if kept.all() else table.rows[:, kept]
    if table.rows.shape[1] != len(columns):
        if all(column.isdecimal() and int(column) < table.rows.shape[1] for column in columns):  # chosen by place
            return table.rows[:, [int(column) for column in columns]]
        raise InputError(
            f"{name} has {table.rows.shape[1]} columns",
            argument=name,
            remedy=f"the plan is for {len(columns)}",
        )
    return table.rows


def _coded_columns(
    values: object, name: str, columns: tuple[str, ...], kept: NDArray[np.bool_], levels: Levels
) -> NDArray[np.float64]:
    named = hasattr(type(values), "columns") or hasattr(type(values), "column_names")
    if named or hasattr(type(values), "name"):
        names, given = columns, Choice(columns=columns) if named else Choice()
    else:
        names, given = tuple(map(str, np.flatnonzero(kept))), Choice()
    categories = tuple(column for column, level in zip(names, levels, strict=True) if level is not None)
    try:
        table = read(values, name, replace(given, categories=categories))
    except InputError as error:
        if error.argument != "columns":
            raise
        raise InputError(
            error.message.removeprefix("columns: "), argument=name, remedy="the plan needs all of its columns"
        ) from None
    rows, of_rows = table.rows, table.levels or (None,) * table.rows.shape[1]
    if rows.shape[1] == len(kept) and rows.shape[1] != len(columns):
        places = np.flatnonzero(kept).tolist()
        rows, of_rows = rows[:, places], tuple(of_rows[place] for place in places)
    if rows.shape[1] != len(columns):
        raise InputError(
            f"{name} has {table.rows.shape[1]} columns", argument=name, remedy=f"the plan is for {len(columns)}"
        )
    found = rows.copy()
    for place, (known, own) in enumerate(zip(levels, of_rows, strict=True)):
        if known is not None and own is not None:
            found[:, place] = recoded(rows[:, place], own, known)
        elif (known is None) != (own is None):
            raise InputTypeError(
                f"column {columns[place]!r} of {name} holds {'numbers' if own is None else 'text or categories'}",
                argument=name,
                remedy=f"the plan has {'numbers' if known is None else 'categories'} there",
            )
    return found


def located(at: object, name: str, columns: tuple[str, ...], levels: Levels) -> NDArray[np.float64]:
    """Locations in the units of the data, with codes for the levels of categories; codes may be given as they are.

    Examples
    --------
    >>> located([2.0, 1.0], "at", ("dose",), ())
    array([[2.],
           [1.]])
    """
    is_frame = hasattr(at, "columns") or hasattr(at, "column_names") or hasattr(at, "to_frame")
    if not levels or not is_frame:
        return as_rows(at, name, n_columns=len(columns))[0]
    return _coded_columns(at, name, columns, np.ones(len(columns), dtype=bool), levels)


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0
    except TypeError:  # a lazy frame, or nothing that has rows
        return False
