"""Columns of categories in tables: one dictionary for all samples, of the levels that rows share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np

from twosample.common.arrays import Array
from twosample.data.categories import MISSING, Levels, kept_levels, numbers_of, recoded
from twosample.data.choosing import LeftOut, some
from twosample.data.reading import Table
from twosample.errors import InputError, InputTypeError, ReadingWarning, Setting, TwoSampleWarning

__all__ = [
    "about_texts",
    "category_columns",
    "reasons",
    "settled",
    "settled_table",
    "united",
    "used_places",
    "with_numbers",
]


def with_numbers(tables: Sequence[Table]) -> list[Table]:
    """The tables where text that stands for numbers is numbers, in all of them or in none.

    Columns of data frames are matched by name, others by place. What stands for no number is missing. Tables without
    rows, of which only the levels are known, count as having one row of each level.
    """
    found = list(tables)
    if not any(table.levels for table in tables) or any(table.settled for table in tables):
        return found
    for places in _common_places(tables):
        texts = [number for number, place in enumerate(places) if tables[number].levels_at([place]) != (None,)]
        if not texts or any(tables[number].names[places[number]] in tables[number].fixed for number in texts):
            continue
        counts: Counter[str] = Counter()
        for number in texts:
            counts.update(_rows_of_levels(tables[number], places[number]))
        seen = [level for level, count in counts.items() if count]
        numbers = numbers_of(seen, [counts[level] for level in seen])
        if numbers is not None:
            value_of = dict(zip(seen, numbers[0].tolist(), strict=True))
            for number in texts:
                found[number] = _with_numbers(found[number], places[number], value_of, numbers[1])
    return found


def _common_places(tables: Sequence[Table]) -> Iterator[list[int]]:
    """The places of each column that all tables have: by name in data frames, else by place."""
    by_name = all(table.is_frame for table in tables)
    labels = [table.names if by_name else tuple(map(str, range(table.rows.shape[1]))) for table in tables]
    for label in dict.fromkeys(chain.from_iterable(labels)):
        if all(label in names for names in labels):
            yield [names.index(label) for names in labels]


def _rows_of_levels(table: Table, place: int) -> dict[str, int]:
    """How many rows have each level of a column; one each in a table without rows."""
    levels = table.levels_at([place])[0] or ()
    codes = table.rows[:, place].astype(np.intp)
    rows = np.bincount(codes, minlength=len(levels)) if len(codes) else np.ones(len(levels), dtype=np.intp)
    return dict(zip(levels, rows.tolist(), strict=True))


def _with_numbers(table: Table, place: int, value_of: dict[str, float], unread: tuple[str, ...]) -> Table:
    """A table with numbers in place of the codes of one column."""
    [levels] = table.levels_at([place])
    values = np.array([value_of.get(level, np.nan) for level in levels or ()])
    rows = table.rows.copy()
    rows[:, place] = values[rows[:, place].astype(np.intp)]
    others = tuple(None if at == place else known for at, known in enumerate(table.levels))
    return table._replace(
        rows=rows,
        levels=others if any(known is not None for known in others) else (),
        were_text=(*table.were_text, table.names[place]),
        unread=(*table.unread, *(f"{level!r} in {table.names[place]!r}" for level in unread)),
    )


def about_texts(tables: Sequence[Table]) -> list[TwoSampleWarning]:
    """What to say of text that was read as numbers."""
    columns = list(dict.fromkeys(chain.from_iterable(table.were_text for table in tables)))
    if not columns:
        return []
    unread = list(dict.fromkeys(chain.from_iterable(table.unread for table in tables)))
    missing = f"; what is no number counts as missing ({some(unread, quote=False)})" if unread else ""
    return [
        ReadingWarning(
            f"Read text as numbers: {some(columns)}{missing}",
            argument="columns",
            remedy=("to compare values as categories, pass ", Setting("categories", columns[:8]), "."),
        )
    ]


def category_columns(tables: Sequence[Table], roles: Sequence[str]) -> list[Table]:
    """The tables without columns of categories that another data frame lacks; arrays are matched by place."""
    if not all(table.is_frame for table in tables):
        return list(tables)
    known = [{*(table.columns or ()), *(one.column for one in table.left_out)} for table in tables]
    everywhere = set.intersection(*known)
    found = []
    for table in tables:
        named = list(zip(table.columns or (), table.levels, strict=False))
        left_out = []
        for column in (column for column, levels in named if levels is not None and column not in everywhere):
            holders = [role for other, role in zip(tables, roles, strict=True) if column in (other.columns or ())]
            left_out.append(LeftOut(column, f"text in {some(holders, quote=False)} only"))
        kept = used_places(table.names, left_out)
        found.append(
            table._replace(
                rows=table.at(kept),
                columns=tuple(table.names[place] for place in kept),
                levels=table.levels_at(kept),
                left_out=(*table.left_out, *left_out),
            )
            if left_out
            else table
        )
    return found


def used_places(columns: tuple[str, ...], left_out: Sequence[LeftOut]) -> list[int]:
    """The places of the columns that were not left out."""
    unused = {one.column for one in left_out}
    return [place for place, column in enumerate(columns) if column not in unused]


def reasons(left_out: Sequence[LeftOut]) -> str:
    """Columns that were left out with the reasons, for a message."""
    by_column = {one.column: one.reason for one in left_out}
    return some([f"{column!r} ({reason})" for column, reason in by_column.items()], quote=False)


def united(
    rows: Sequence[Array], levels: Sequence[Levels], columns: tuple[str, ...], roles: Sequence[str]
) -> tuple[list[Array], Levels, list[LeftOut]]:
    """Rows of samples with the same columns and levels of their own, with one dictionary for each column of categories.

    Columns that hold text in some samples and numbers in others keep their codes, and are returned as well.
    """
    rows, common = [one.copy() for one in rows], list[tuple[str, ...] | None]()
    mixed: list[LeftOut] = []
    for place, (column, *of_each) in enumerate(zip(columns, *levels, strict=True)):
        common.append(None)
        if all(known is None for known in of_each):
            continue
        for sample, known in enumerate(of_each):
            if known is None and np.isnan(rows[sample][:, place]).all():  # nothing but missing values
                rows[sample][:, place], of_each[sample] = 0.0, (MISSING,)
        texts = [role for role, known in zip(roles, of_each, strict=True) if known is not None]
        if len(texts) < len(roles):
            numbers = [role for role in roles if role not in texts]
            mixed.append(
                LeftOut(column, f"text in {some(texts, quote=False)} and numbers in {some(numbers, quote=False)}")
            )
            continue
        together = tuple(sorted(set().union(*of_each)))
        for one, known in zip(rows, of_each, strict=True):
            one[:, place] = recoded(one[:, place], known, together)
        common[place] = together
    return rows, tuple(common), mixed


def settled(
    rows: Sequence[Array],
    columns: tuple[str, ...],
    levels: Levels,
    asked: tuple[str, ...] = (),
    *,
    is_label: Callable[[int], bool] | None = None,
    argument: str = "x and y",
) -> tuple[list[Array], tuple[str, ...], Levels, tuple[LeftOut, ...]]:
    """Rows with codes for common levels only, without columns of text that names the rows; and which these are.

    The rows (n, D) are those of each sample, or of all samples together: `is_label` then tells whether the column at a
    place has one value in each sample, as a label has. Columns that were asked for stay, however many levels they have.
    """
    if not any(level is not None for level in levels):
        return list(rows), columns, (), ()
    rows = [one.copy() for one in rows]
    found, left_out = list(levels), list[LeftOut]()
    for place, old in enumerate(levels):
        if old is None:
            continue
        codes = [one[:, place] for one in rows]
        new, reason = kept_levels(np.concatenate(codes), old)
        if is_label(place) if is_label is not None else _are_labels(codes):
            reason = "one value in each sample, as a label has"
        if reason is not None:
            left_out += _nameless(columns[place], reason, columns[place] in asked, new)
        found[place] = new
        for one in codes:
            one[:] = recoded(one, old, new)
    kept = used_places(columns, left_out)
    if not kept:
        listed = reasons(left_out)
        raise InputTypeError(
            f"{argument}: no column holds numbers or categories: {listed}",
            argument=argument,
            remedy=("compare strings as such with ", Setting("kernel", "kmer")),
        )
    names = tuple(columns[place] for place in kept)
    return [one[:, kept] for one in rows], names, tuple(found[place] for place in kept), tuple(left_out)


def _nameless(column: str, reason: str, asked: bool, levels: tuple[str, ...]) -> list[LeftOut]:
    """A column of text that says nothing as one that is left out, unless it was asked for and has levels."""
    if not asked:
        return [LeftOut(column, reason)]
    if levels:
        return []
    raise InputError(
        f"column {column!r} holds {reason}",
        argument="columns and categories",
        remedy="leave it out, it has no categories",
    )


def _are_labels(codes: Sequence[Array]) -> bool:
    """Whether the values of a column are the same within every sample, and not in all of them."""
    if len(codes) < 2 or not all(map(len, codes)):
        return False
    return all((one == one[0]).all() for one in codes) and any(one[0] != codes[0][0] for one in codes)


def settled_table(table: Table) -> Table:
    """One table with rows of all samples, with the levels that have codes of their own."""
    if not table.levels or table.settled:
        return table
    [rows], columns, levels, nameless = settled([table.rows], table.names, table.levels, table.asked)
    names = columns if table.columns is not None or nameless else None
    return table._replace(rows=rows, columns=names, levels=levels, left_out=table.left_out + nameless, settled=True)
