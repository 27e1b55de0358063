"""Columns of categories in tables: one dictionary for both samples, of the levels that rows share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twosample.data.categories import MISSING, Levels, kept_levels, recoded
from twosample.data.choosing import LeftOut, some
from twosample.data.limits import Limits
from twosample.data.reading import Table
from twosample.errors import InputError, InputTypeError, Setting

__all__ = ["in_both", "levels_of", "settled", "settled_table", "united"]


def united(x: Table, y: Table) -> tuple[Table, Table]:
    """Both tables with one dictionary for each column of categories.

    A column that holds text in one and numbers in the other is left out of both.
    """
    if not x.levels and not y.levels:
        return x, y
    x, y = in_both(x, y)
    by_name = x.is_frame and y.is_frame
    of = [_by_key(table, by_name) for table in (x, y)]
    rows, levels = [x.rows.copy(), y.rows.copy()], [_levels(x), _levels(y)]
    mixed: list[LeftOut] = []
    for key in [key for key in of[0] if key in of[1]]:
        places = of[0][key], of[1][key]
        found = [known[place] for known, place in zip(levels, places, strict=True)]
        if found == [None, None]:
            continue
        for sample, (known, place) in enumerate(zip(found, places, strict=True)):
            if known is None and np.isnan(rows[sample][:, place]).all():  # nothing but missing values
                rows[sample][:, place], found[sample] = 0.0, (MISSING,)
        first, second = found
        if first is None or second is None:
            texts, numbers = ("x", "y") if second is None else ("y", "x")
            mixed.append(LeftOut(str(key), f"text in {texts} and numbers in {numbers}"))
            continue
        both = tuple(sorted({*first, *second}))
        for sample, (known, place) in enumerate(((first, places[0]), (second, places[1]))):
            rows[sample][:, place] = recoded(rows[sample][:, place], known, both)
            levels[sample][place] = both
    if mixed and not by_name:
        raise InputTypeError(
            f"x and y: a column holds {mixed[0].reason}", argument="x and y", remedy="give both in the same way"
        )
    asked = tuple({*x.asked, *y.asked})
    first_table, second_table = (
        table._replace(rows=one, levels=tuple(known), asked=asked, left_out=table.left_out + tuple(mixed))
        for table, one, known in zip((x, y), rows, levels, strict=True)
    )
    return _without(first_table), _without(second_table)


def in_both(x: Table, y: Table) -> tuple[Table, Table]:
    """Two data frames without columns of categories that only one of them has."""
    if not (x.is_frame and y.is_frame):
        return x, y
    found = []
    for table, other, name in ((x, y, "x"), (y, x, "y")):
        named = zip(table.columns or (), table.levels, strict=False)
        alone = [column for column, levels in named if levels is not None and column not in (other.columns or ())]
        alone = [column for column in alone if column not in {one.column for one in other.left_out}]
        left_out = tuple(LeftOut(column, f"text in {name} only") for column in alone)
        found.append(_without(table._replace(left_out=table.left_out + left_out)) if alone else table)
    return found[0], found[1]


def _levels(table: Table) -> list[tuple[str, ...] | None]:
    return list(table.levels) if table.levels else [None] * table.rows.shape[1]


def _by_key(table: Table, by_name: bool) -> dict[str | int, int]:
    """The place of each column by its name, or by its place."""
    keys: Sequence[str | int] = (table.columns or ()) if by_name else range(table.rows.shape[1])
    return {key: place for place, key in enumerate(keys)}


def _without(table: Table) -> Table:
    """The table without columns that were left out after it was read."""
    unused = {one.column for one in table.left_out}
    kept = [place for place, column in enumerate(table.columns or ()) if column not in unused]
    if table.columns is None or len(kept) == len(table.columns):
        return table
    return table._replace(
        rows=table.rows[:, kept],
        columns=tuple(table.columns[place] for place in kept),
        levels=tuple(table.levels[place] for place in kept),
    )


def levels_of(table: Table, columns: tuple[str, ...]) -> Levels:
    """The levels of the columns of a table after it was aligned with another one."""
    if not table.levels:
        return ()
    if table.columns is None or not set(columns) <= set(table.columns):
        return table.levels
    known = dict(zip(table.columns, table.levels, strict=True))
    return tuple(known[column] for column in columns)


def settled(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    columns: tuple[str, ...],
    levels: Levels,
    asked: tuple[str, ...] = (),
    limits: Limits | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...], Levels, tuple[LeftOut, ...]]:
    """Rows with codes for common levels only, without columns of text that names the rows; and which these are.

    Parameters
    ----------
    x, y
        Rows of both samples, which have one dictionary, (n, D).
    columns, levels
        Names of the columns, and their dictionaries.
    asked
        Columns of categories that are not left out, however many levels they have.
    limits
        The smallest and largest codes of each sample, where `x` has rows of both and `y` none.
    """
    if not any(level is not None for level in levels):
        return x, y, columns, (), ()
    x, y = x.copy(), y.copy()
    if limits is None and len(x) and len(y):
        limits = Limits.of(x, y)
    found: list[tuple[str, ...] | None] = []
    left_out: list[LeftOut] = []
    for place, (column, old) in enumerate(zip(columns, levels, strict=True)):
        if old is None:
            found.append(None)
            continue
        new, reason = kept_levels(np.concatenate([x[:, place], y[:, place]]), old)
        if limits is not None and limits.is_label(place):
            reason = "one value in each sample, as a label has"
        if reason is not None and column in asked and not new:
            raise InputError(
                f"column {column!r} holds {reason}",
                argument="columns and categories",
                remedy="leave it out, it has no categories",
            )
        if reason is not None and column not in asked:
            left_out.append(LeftOut(column, reason))
        found.append(new)
        x[:, place], y[:, place] = recoded(x[:, place], old, new), recoded(y[:, place], old, new)
    unused = {one.column for one in left_out}
    kept = [place for place, column in enumerate(columns) if column not in unused]
    if not kept:
        listed = some([f"{one.column!r} ({one.reason})" for one in left_out], quote=False)
        raise InputTypeError(
            f"x and y: no column holds numbers or categories: {listed}",
            argument="x and y",
            remedy=("compare strings as such with ", Setting("kernel", "kmer")),
        )
    names = tuple(columns[place] for place in kept)
    return x[:, kept], y[:, kept], names, tuple(found[place] for place in kept), tuple(left_out)


def settled_table(table: Table) -> Table:
    """One table with rows of both samples, with the levels that have codes of their own."""
    if not table.levels or table.settled:
        return table
    columns = table.columns or tuple(map(str, range(table.rows.shape[1])))
    rows, _, columns, levels, nameless = settled(table.rows, table.rows[:0], columns, table.levels, table.asked)
    names = columns if table.columns is not None or nameless else None
    return table._replace(rows=rows, columns=names, levels=levels, left_out=table.left_out + nameless, settled=True)
