"""From tables of files to what the functions of the library take: two tables, or one that a column splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from twosample.data import Blocks, Choice
from twosample.data.files.dialect import quoted
from twosample.data.two_tables import row_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from twosample.data.files.table import FileTable

__all__ = ["Given", "group_labels", "is_usable", "split_table", "two_files", "used_columns", "who_is_who"]


class Given(NamedTuple):
    """Tables of files, as the functions of the library take them; in blocks where they may be larger than memory."""

    x: pl.DataFrame | Blocks
    y: pl.DataFrame | Blocks | None  # None where x holds all rows
    choice: dict[str, Any]  # what to say of them: by, groups, columns, drop and categories
    names: tuple[str, str]  # what the two samples are called
    notes: tuple[str, ...]  # what was said of their cells
    groups: int = 2  # how many there are


def two_files(
    x: FileTable,
    y: FileTable,
    names: tuple[str, str],
    *,
    nan_policy: Literal["raise", "omit"],
    key: str | None = None,
    **chosen: Sequence[str] | None,
) -> Given:
    """Two tables, with the columns that were chosen as in `test`, and a `key` that identifies pairs.

    A cell without a number where one is needed is refused, or left out with a note.
    """
    choice: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    used = used_columns([x.frame, y.frame], Choice.of(**choice, texts=True, paired=key or False))
    notes = tuple(note for table in (x, y) for note in table.check(used, nan_policy))
    texts = [*choice.get("categories", ()), *_listed(key)]
    return Given(_with_texts(x, texts), _with_texts(y, texts), choice, names, notes)


def split_table(
    table: FileTable,
    groups: Sequence[str] | None,
    *,
    by: str,
    nan_policy: Literal["raise", "omit"],
    several: bool = False,
    key: str | None = None,
    **chosen: Sequence[str] | None,
) -> Given:
    """One table that a column splits into two groups, or more where there may be `several`.

    Of the rows of other groups nothing is asked.
    """
    choice: dict[str, Any] = {"by": by} | {name: value for name, value in chosen.items() if value is not None}
    pair = Choice.of(by, groups).groups
    frame = _with_texts(table, [by, *choice.get("categories", ()), *_listed(key)])
    labels = row_labels(frame, by)
    many = several and pair is None and len(labels.counts) > 2
    names = ("", "") if many else labels.two(pair)
    used = used_columns([frame], Choice.of(**choice, texts=True, paired=key or False))
    if pair is not None:
        choice["groups"] = pair
    rows = np.zeros(frame.height, dtype=bool)
    for group in labels.counts if many else names:
        rows[labels.rows(group)] = True
    notes = table.check(used, nan_policy, rows)
    return Given(frame, None, choice, names, notes, len(labels.counts) if many else 2)


def group_labels(table: FileTable, by: str) -> dict[str, int]:
    r"""The groups that a column splits a table into, with how many rows each has."""
    import polars as pl

    sizes = _with_texts(table, [by]).group_by(by, maintain_order=True).agg(pl.len().alias(f"{by} rows"))
    labels = row_labels(sizes, by)
    return {group: int(sizes[f"{by} rows"].gather(labels.rows(group)).sum()) for group in labels.counts}


def is_usable(column: str, kind: pl.DataType) -> bool:
    """Whether a column holds numbers, or what is read as numbers, and has a name."""
    import polars as pl

    return bool(column) and (kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean)


def who_is_who(names: Sequence[str]) -> str:
    """Which sample is x and which is y, where there are two."""
    return ", ".join(f"{sample} is {quoted(name)}" for sample, name in zip(("x", "y"), names, strict=False))


def _listed(key: str | None) -> list[str]:
    return [] if key is None else [key]


def _with_texts(table: FileTable, columns: Sequence[str]) -> pl.DataFrame:
    """The table, with columns of labels or categories as the file has them, also where most of them are numbers."""
    return table.frame.with_columns(table.labels(column) for column in dict.fromkeys(columns) if column in table.texts)


def used_columns(frames: list[pl.DataFrame], choice: Choice) -> list[str]:
    """The columns of numbers that can be used in all tables and are to be compared."""
    usable = [{column for column, kind in frame.schema.items() if is_usable(column, kind)} for frame in frames]
    present = tuple(frames[0].columns)
    wanted = [present[place] for place in choice.places(present, "x")]
    return [name for name in wanted if name not in choice.categories and all(name in one for one in usable)]
