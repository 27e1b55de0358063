"""Rows of streams as they come: read, checked, and kept until both samples have some."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.data import Samples, View
from twosample.data.two_tables import read_one, read_two
from twosample.questions.monitor.learning import Learning
from twosample.questions.monitor.memory import Memory, Settings

__all__ = ["with_reference", "with_rows"]


def with_rows(memory: Memory, settings: Settings, x: object, y: object) -> Memory:
    """With new rows among those that wait."""
    columns = memory.columns
    given = [not _is_nothing(values) for values in (x, y)]
    if columns is None:
        if not any(given):
            return memory
        if all(given):
            two = read_two(x, y, settings.choice)
            x, y, columns = two.x, two.y, two.columns
        else:
            rows, columns = _one_table(x if given[0] else y, settings)
            x, y = (rows if here else None for here in given)
    x_rows, y_rows = _checked(memory, settings, x, y, columns)
    return replace(
        memory,
        columns=columns,
        learning=memory.learning or Learning(settings.method_for(columns)),
        waiting=(_joined(memory.waiting[0], x_rows), _joined(memory.waiting[1], y_rows)),
        received=(memory.received[0] + _length(x, x_rows), memory.received[1] + _length(y, y_rows)),
    )


def with_reference(memory: Memory, settings: Settings, reference: object) -> Memory:
    """With more rows in the reference, in a random order."""
    columns = memory.columns
    if columns is None:
        reference, columns = _one_table(reference, settings)
    rows, _ = _checked(memory, settings, reference, None, columns)
    rows = rows[np.random.default_rng([settings.seed, 0, memory.refills]).permutation(len(rows))]
    return replace(
        memory,
        columns=columns,
        learning=memory.learning or Learning(settings.method_for(columns)),
        reference=rows if memory.reference is None else _joined(memory.reference, rows),
        refills=memory.refills + 1,
    )


def _one_table(values: object, settings: Settings) -> tuple[Array, tuple[str, ...]]:
    """The rows of one table, and the names of its columns."""
    table, _ = read_one(values, settings.choice)
    return table.rows, table.columns or tuple(map(str, range(table.rows.shape[1])))


def _checked(memory: Memory, settings: Settings, x: object, y: object, columns: tuple[str, ...]) -> tuple[Array, Array]:
    """Finite rows of these columns."""
    kept = np.ones(len(columns), dtype=bool)
    plan = None if memory.learning is None else memory.learning.plan
    if plan is not None and plan.columns == columns:  # a given plan may have left out columns of the data
        kept = plan.kept
    view = View.none(len(columns))
    part = Samples.of_part(x, y, columns, kept, view, paired=settings.paired, nan_policy=settings.nan_policy)
    return part.x, part.y


def _is_nothing(values: object) -> bool:
    """Whether there are no rows."""
    return values is None or _height(values) == 0


def _joined(old: Array, new: Array) -> Array:
    return np.concatenate([old, new]) if len(old) else new


def _length(values: object, rows: Array) -> int:
    """How many rows were passed, those that were dropped included."""
    if values is None:
        return 0
    height = _height(values)
    return len(rows) if height is None else height


def _height(values: Any) -> int | None:
    """The number of rows of a table that knows it; the length of a sparse matrix is not defined."""
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and shape and isinstance(shape[0], int):
        return shape[0]
    return len(values) if hasattr(values, "__len__") else None
