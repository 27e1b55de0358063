"""Rows with columns and levels that are known already: those of a plan or of a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.data.categories import Levels, recoded
from twosample.data.choosing import Choice
from twosample.data.reading import as_rows, needed_columns, read
from twosample.errors import InputError, InputTypeError

__all__ = ["columns_of", "located"]


def columns_of(values: object, name: str, columns: tuple[str, ...], kept: Flags, levels: Levels = ()) -> Array:
    """The rows of one input with the columns that are wanted, by name where both have names, else by place.

    Columns of categories get the codes of known levels.
    """
    if values is None or _is_empty(values):
        return np.empty((0, len(columns)))
    places = tuple(map(str, np.flatnonzero(kept)))
    named = _is_frame(values) and (bool(levels) or columns != places)
    names = columns if named or (levels and hasattr(type(values), "name")) else places
    categories = tuple(column for column, level in zip(names, levels, strict=False) if level is not None)
    with needed_columns(name, "the plan needs all of its columns"):
        table = read(values, name, Choice(columns=columns if named else None, categories=categories))
    chosen = _places(name, table.rows.shape[1], columns, kept)
    rows = table.at(chosen)
    return _recoded(rows, table.levels_at(chosen), name, columns, levels) if levels else rows


def _places(name: str, count: int, columns: tuple[str, ...], kept: Flags) -> list[int]:
    """The places of the columns among `count` that were read; refuses an input that does not have them."""
    if count == len(columns):
        return list(range(count))
    if count == len(kept):
        return [int(place) for place in np.flatnonzero(kept)]
    if all(column.isdecimal() and int(column) < count for column in columns):
        return [int(column) for column in columns]
    raise InputError(f"{name} has {count} columns", argument=name, remedy=f"the plan is for {len(columns)}")


def _recoded(rows: Array, of_rows: Levels, name: str, columns: tuple[str, ...], levels: Levels) -> Array:
    """The rows with the codes of known levels."""
    found = rows.copy()
    for place, (known, own) in enumerate(zip(levels, of_rows, strict=True)):
        if known is not None and own is not None:
            found[:, place] = recoded(rows[:, place], own, known)
        elif known is not own:
            kinds = "text or categories", "numbers"
            raise InputTypeError(
                f"column {columns[place]!r} of {name} holds {kinds[own is None]}",
                argument=name,
                remedy=f"the plan has {'numbers' if known is None else 'categories'} there",
            )
    return found


def located(at: object, name: str, columns: tuple[str, ...], levels: Levels) -> Array:
    """Locations in the units of the data, with codes for the levels of categories; codes may be given as they are."""
    if not levels or _is_empty(at) or not (_is_frame(at) or hasattr(at, "to_frame")):
        return as_rows(at, name, n_columns=len(columns))[0]
    return columns_of(at, name, columns, np.ones(len(columns), dtype=bool), levels)


def _is_frame(values: object) -> bool:
    """Whether an input has columns by name."""
    return hasattr(type(values), "columns") or hasattr(type(values), "column_names")


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0
    except TypeError:  # a lazy frame, or nothing that has rows
        return False
