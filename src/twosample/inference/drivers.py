"""The drivers of a difference: the few columns, or the pair of columns, that a picture of many columns shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from twosample.inference.columns import BySubset
from twosample.inference.mixture import OneTest
from twosample.inference.pictures import driver_within, levels_at, limits_of
from twosample.inference.witness import Driver

if TYPE_CHECKING:
    from twosample.common.arrays import Array
    from twosample.plan import Plan

__all__ = ["TestOf", "choose", "drivers"]

# A test of a stack, from the number of the stack and its own.
TestOf = Callable[[int, int], OneTest]

# One and two columns need no choice.
_FEWEST_COLUMNS = 3
# Columns that are shown if they are likelier to differ than not; the likeliest always is.
_MOST_DRIVERS = 3
_LIKELY = 0.5
# Places along a column shown alone, and along each of a pair.
_PLACES = {1: 120, 2: 28}


def choose(by_subset: BySubset, differ: bool) -> list[tuple[int, ...]]:
    """The places of the columns to show, likeliest first: a pair, or up to three columns.

    `differ` says whether there is clear evidence that the samples differ.
    """
    pair = by_subset.together() if differ else None
    if pair is not None:
        return [pair]
    order = np.argsort(-by_subset.log_bf10, kind="stable").tolist()
    probabilities = by_subset.probabilities
    likely = [place for place in order[:_MOST_DRIVERS] if probabilities[place] > _LIKELY]
    return [(place,) for place in likely or order[:1]]


def drivers(
    plan: Plan, by_subset: BySubset, differ: bool, test_of: TestOf, rows: tuple[Array, Array]
) -> tuple[Driver, ...]:
    """The witness of each, over the range that is shown; none where there are only one or two columns.

    `rows` are of x and of y, (n, D) each, in the units of the data.
    """
    if len(plan.columns) < _FEWEST_COLUMNS:
        return ()
    return tuple(_driver(plan, test_of(*_number_of(plan, columns)), rows) for columns in choose(by_subset, differ))


def _number_of(plan: Plan, columns: tuple[int, ...]) -> tuple[int, int]:
    """The stack with the test of these columns, and its number there."""
    for number, part in enumerate(plan.parts):
        if part.columns.shape[1] == len(columns):
            found = np.flatnonzero((part.columns == columns).all(axis=1))
            if found.size:
                return number, int(found[0])
    raise AssertionError(f"no test of {columns}")


def _driver(plan: Plan, test: OneTest, rows: tuple[Array, Array]) -> Driver:
    x, y = rows
    limits = [limits_of(x[:, column], y[:, column], levels_at(plan.levels, column)) for column in test.columns]
    witness, view = test.witness(plan), test.features.view
    count = _PLACES[len(test.columns)]
    return driver_within(limits, test.columns, plan.levels, count, lambda at: witness.at(view.apply(at)))
