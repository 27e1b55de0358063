"""Rows of streams as they come: read, checked, and kept until both samples have some."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from twosample import models
from twosample.common.arrays import Array
from twosample.common.threads import one_thread
from twosample.data import Samples, View
from twosample.data.complete import check_pairs
from twosample.data.reading import Table
from twosample.data.two_tables import read_one, read_two
from twosample.errors import InputError
from twosample.features.domains.domain import Domain, KernelChoice, objects_of
from twosample.plan import plan_of_objects
from twosample.questions.monitor.learning import Learning
from twosample.questions.monitor.memory import Memory, Settings

__all__ = ["with_objects", "with_reference", "with_reference_objects", "with_rows"]

# Objects that points are chosen among, and how many times as many as points a reference sets aside for these.
_FEWEST_OBJECTS, _ASIDE = 4, 10


def with_rows(memory: Memory, settings: Settings, x: object, y: object) -> Memory:
    """With new rows among those that wait."""
    given = [not _is_nothing(values) for values in (x, y)]
    if memory.columns is None:
        if not any(given):
            return memory
        if all(given):
            two = read_two(x, y, settings.choice)
            x, y = (Table(rows, two.columns, levels=two.levels, settled=True) for rows in two.rows)
            memory = replace(memory, columns=two.columns, levels=two.levels)
        else:
            table = _one_table(x if given[0] else y, settings)
            x, y = (table if here else None for here in given)
            memory = replace(memory, columns=table.names, levels=table.levels)
    x_rows, y_rows = _checked(memory, settings, x, y)
    return _waiting(_ready(memory, settings), (x_rows, y_rows), (_length(x, x_rows), _length(y, y_rows)))


def with_objects(memory: Memory, settings: Settings, choice: KernelChoice, x: object, y: object) -> Memory:
    """With new objects among those that wait; the points are among the first ones, whichever stream they are of."""
    lists = [[] if values is None else objects_of(values, name, 0) for values, name in ((x, "x"), (y, "y"))]
    if settings.paired:
        check_pairs(*map(len, lists))
    if memory.domain is None:
        if len(lists[0]) + len(lists[1]) < _FEWEST_OBJECTS:
            raise InputError(
                f"x and y: {len(lists[0]) + len(lists[1])} objects are too few to choose points among",
                argument="x and y",
                remedy=f"pass at least {_FEWEST_OBJECTS} the first time",
            )
        memory = _with_domain(memory, settings, choice, [*lists[0], *lists[1]])
    assert memory.domain is not None
    with one_thread():
        rows = [memory.domain.rows_of(one) if one else np.empty((0, memory.domain.width)) for one in lists]
    return _waiting(memory, (rows[0], rows[1]), (len(lists[0]), len(lists[1])))


def _with_domain(memory: Memory, settings: Settings, choice: KernelChoice, objects: list[Any]) -> Memory:
    """With points among some objects, and a plan for them, which stays."""
    choice = replace(choice, points=settings.points)
    domain, _ = Domain.of({"x": objects}, choice, np.random.default_rng(settings.seed))
    plan = plan_of_objects(domain, models.resolve("adaptive"), paired=settings.paired)
    return replace(memory, columns=(), domain=domain, learning=Learning.started(settings.method_for(()), plan))


def with_reference(memory: Memory, settings: Settings, reference: object) -> Memory:
    """With more rows in the reference, in a random order."""
    if memory.columns is None:
        table = _one_table(reference, settings)
        memory, reference = replace(memory, columns=table.names, levels=table.levels), table
    rows, _ = _checked(memory, settings, reference, None)
    return _spent_later(_ready(memory, settings), settings, rows)


def with_reference_objects(memory: Memory, settings: Settings, choice: KernelChoice, reference: object) -> Memory:
    """With more objects in the reference; those that the points are chosen among are not compared."""
    objects = objects_of(reference, "reference", 0 if memory.domain else 2 * _FEWEST_OBJECTS)
    if memory.domain is None:
        order = np.random.default_rng([settings.seed, 0]).permutation(len(objects))
        aside = min(len(objects) // 4, _ASIDE * settings.points)
        memory = _with_domain(memory, settings, choice, [objects[place] for place in order[:aside]])
        objects = [objects[place] for place in order[aside:]]
    assert memory.domain is not None
    with one_thread():
        return _spent_later(memory, settings, memory.domain.rows_of(objects))


def _spent_later(memory: Memory, settings: Settings, rows: Array) -> Memory:
    rows = rows[np.random.default_rng([settings.seed, 0, memory.refills]).permutation(len(rows))]
    return replace(
        memory,
        reference=rows if memory.reference is None else _joined(memory.reference, rows),
        refills=memory.refills + 1,
    )


def _ready(memory: Memory, settings: Settings) -> Memory:
    assert memory.columns is not None
    return replace(memory, learning=memory.learning or Learning(settings.method_for(memory.columns, memory.levels)))


def _waiting(memory: Memory, rows: tuple[Array, Array], received: tuple[int, int]) -> Memory:
    """With these rows among those that wait."""
    return replace(
        memory,
        waiting=(_joined(memory.waiting[0], rows[0]), _joined(memory.waiting[1], rows[1])),
        received=(memory.received[0] + received[0], memory.received[1] + received[1]),
    )


def _one_table(values: object, settings: Settings) -> Table:
    """One table with codes for the levels of categories."""
    table, _ = read_one(values, settings.choice)
    return table._replace(columns=table.names, settled=True)


def _checked(memory: Memory, settings: Settings, x: object, y: object) -> tuple[Array, Array]:
    """Finite rows of the columns that are watched."""
    columns = memory.columns
    assert columns is not None
    kept = np.ones(len(columns), dtype=bool)
    plan = None if memory.learning is None else memory.learning.plan
    if plan is not None and plan.columns == columns:  # a given plan may have left out columns of the data
        kept = plan.kept
    part = Samples.of_part(
        x,
        y,
        columns,
        kept,
        View.none(len(columns)),
        paired=settings.paired,
        nan_policy=settings.nan_policy,
        levels=memory.levels,
    )
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
    if isinstance(values, Table):
        return len(values.rows)
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and shape and isinstance(shape[0], int):
        return shape[0]
    return len(values) if hasattr(values, "__len__") else None
