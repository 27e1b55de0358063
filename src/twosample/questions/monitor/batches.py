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
from twosample.questions.monitor.memory import Memory

__all__ = ["with_objects", "with_reference", "with_reference_objects", "with_rows"]

# Objects that points are chosen among, and how many times as many as points a reference sets aside for these.
_FEWEST_OBJECTS, _ASIDE = 4, 10


def with_rows(memory: Memory, x: object, y: object) -> Memory:
    """With new rows among those that wait."""
    if memory.learning.columns is None:
        given = [values is not None and _height(values) != 0 for values in (x, y)]
        if not any(given):
            return memory
        if all(given):
            two = read_two(x, y, memory.settings.choice)
            x, y = (Table(rows, two.columns, levels=two.levels, settled=True) for rows in two.rows)
            memory = memory.of_columns(two.columns, two.levels)
        else:
            memory, table = _with_columns_of(memory, x if given[0] else y)
            x, y = (table if here else None for here in given)
    x_rows, y_rows = _checked(memory, x, y)
    return _waiting(memory, (x_rows, y_rows), (_length(x, x_rows), _length(y, y_rows)))


def with_objects(memory: Memory, choice: KernelChoice, x: object, y: object) -> Memory:
    """With new objects among those that wait; the points are among the first ones, whichever stream they are of."""
    lists = [[] if values is None else objects_of(values, name, 0) for values, name in ((x, "x"), (y, "y"))]
    if memory.settings.paired:
        check_pairs(*map(len, lists))
    if memory.learning.domain is None:
        if len(lists[0]) + len(lists[1]) < _FEWEST_OBJECTS:
            raise InputError(
                f"x and y: {len(lists[0]) + len(lists[1])} objects are too few to choose points among",
                argument="x and y",
                remedy=f"pass at least {_FEWEST_OBJECTS} the first time",
            )
        memory = _with_domain(memory, choice, [*lists[0], *lists[1]])
    domain = memory.learning.domain
    assert domain is not None
    with one_thread():
        rows = [domain.rows_of(one) if one else np.empty((0, domain.width)) for one in lists]
    return _waiting(memory, (rows[0], rows[1]), (len(lists[0]), len(lists[1])))


def _with_domain(memory: Memory, choice: KernelChoice, objects: list[Any]) -> Memory:
    """With points among some objects, and a plan for them, which stays."""
    settings = memory.settings
    choice = replace(choice, points=settings.points)
    domain, _ = Domain.of({"x": objects}, choice, np.random.default_rng(settings.seed))
    plan = plan_of_objects(domain, models.resolve("adaptive"), paired=settings.paired)
    return replace(memory, learning=replace(memory.learning, columns=()).started(plan))


def with_reference(memory: Memory, reference: object) -> Memory:
    """With more rows in the reference, in a random order."""
    if memory.learning.columns is None:
        memory, reference = _with_columns_of(memory, reference)
    rows, _ = _checked(memory, reference, None)
    return _spent_later(memory, rows)


def with_reference_objects(memory: Memory, choice: KernelChoice, reference: object) -> Memory:
    """With more objects in the reference; those that the points are chosen among are not compared."""
    settings, domain = memory.settings, memory.learning.domain
    objects = objects_of(reference, "reference", 0 if domain else 2 * _FEWEST_OBJECTS)
    if domain is None:
        order = np.random.default_rng([settings.seed, 0]).permutation(len(objects))
        aside = min(len(objects) // 4, _ASIDE * settings.points)
        memory = _with_domain(memory, choice, [objects[place] for place in order[:aside]])
        objects, domain = [objects[place] for place in order[aside:]], memory.learning.domain
    assert domain is not None
    with one_thread():
        return _spent_later(memory, domain.rows_of(objects))


def _spent_later(memory: Memory, rows: Array) -> Memory:
    rows = rows[np.random.default_rng([memory.settings.seed, 0, memory.refills]).permutation(len(rows))]
    return replace(
        memory,
        reference=rows if memory.reference is None else _joined(memory.reference, rows),
        refills=memory.refills + 1,
    )


def _waiting(memory: Memory, rows: tuple[Array, Array], received: tuple[int, int]) -> Memory:
    """With these rows among those that wait."""
    return replace(
        memory,
        waiting=(_joined(memory.waiting[0], rows[0]), _joined(memory.waiting[1], rows[1])),
        received=(memory.received[0] + received[0], memory.received[1] + received[1]),
    )


def _with_columns_of(memory: Memory, values: object) -> tuple[Memory, Table]:
    """With the columns of one table, which has codes for the levels of categories."""
    table, _ = read_one(values, memory.settings.choice)
    return memory.of_columns(table.names, table.levels), table._replace(columns=table.names, settled=True)


def _checked(memory: Memory, x: object, y: object) -> tuple[Array, Array]:
    """Finite rows of the columns that are watched."""
    settings, columns, plan = memory.settings, memory.learning.columns, memory.learning.plan
    assert columns is not None
    kept = np.ones(len(columns), dtype=bool)
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
        levels=memory.learning.levels,
    )
    return part.x, part.y


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
