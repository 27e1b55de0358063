"""Notices rows that depend on those before them: neighbouring rows are alike, as in a time series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.data.categories import Levels
from twosample.data.choosing import some
from twosample.data.copies import Copies

__all__ = ["serial_dependence"]


_FEWEST_ROWS = 20
# One in this many independent data sets looks dependent by chance; less of a dependence does little harm.
_UNLIKELY = 1e-4
_SMALLEST = 0.2
_FEWEST_NEIGHBOURS = 6
# Values are clipped at this many scales from the centre.
_FARTHEST = 2.0
_WIDE = 6.0
_MOST_ROWS = 1 << 14
_BLOCK_VALUES = 1 << 16
# Columns that rows are sorted by, one within the other; the steps that say so, and the share that may go the other way.
_MOST_KEYS = 3
_FEWEST_STEPS = 12
_OTHER_WAY = 0.05
# A sorting column with at least this number of rows per value is a factor, others have an effect that is smooth.
_ROWS_PER_LEVEL = 8
# What p smooth functions leave of a random walk is a share of about 0.6/p of its variance. A column with less than this
# over p is a function of a sorting column, but for small errors.
_OWN_SHARE = 0.2


def serial_dependence(
    x: Array,
    y: Array,
    columns: tuple[str, ...],
    copies: Copies,
    levels: Levels = (),
    roles: tuple[str, str] = ("x", "y"),
) -> tuple[str, ...]:
    """Say, in a sentence for each sample, that its rows are not independent in the order given.

    What is looked at is the correlation of each column with itself one row later, of values cut off at two scales from
    the median. Where the rows are sorted by some columns, such as dates, these say nothing, and of the others what is
    looked at are the residuals from a regression on them. Columns with missing values and of categories are not looked
    at, nor are rows that were copied, which are alike for that reason. Of pairs the differences count.
    """
    numbers = np.array([not levels or levels[place] is None for place in range(len(columns))], dtype=bool)
    if not numbers.any():
        return ()
    samples: dict[str, tuple[Array, ...]]
    if copies.paired:
        repeated = copies.repeated_x | copies.repeated_y
        x, y = _first(x, repeated), _first(y, repeated)
        samples = {" - ".join(roles): (x - y, x, y)}
    else:
        samples = {roles[0]: (_first(x, copies.repeated_x),), roles[1]: (_first(y, copies.repeated_y),)}
    limit = NormalDist().inv_cdf(1.0 - _UNLIKELY / (len(samples) * int(numbers.sum())))
    notes = []
    for name, tables in samples.items():
        rows = tables[0]
        n = len(rows)
        if n < _FEWEST_ROWS:
            continue
        order = _Order.of(tables)
        found = np.where(numbers & ~order.ordered, _autocorrelations(rows, order), 0.0)
        place = int(np.argmax(found))
        most = float(found[place])
        if most > max(_SMALLEST, limit / math.sqrt(n)):
            keys = [columns[key] for key in dict.fromkeys(order.keys)]
            worth = max(2, round(n * (1.0 - most) / (1.0 + most)))
            beside = f", beside what sorting by {some(keys)} explains" if keys else ""
            notes.append(
                f"Rows of {name} are not independent in the order given: neighbours are alike (autocorrelation "
                f"{most:.2f} in column {columns[place]!r}{beside}), so that of {n:,} rows {'at most ' * bool(keys)}"
                f"about {worth:,} count; the evidence is overstated, unless rows that are independent were put in this "
                "order."
            )
    return tuple(notes)


def _first(rows: Array, repeated: Flags) -> Array:
    """The first rows, as many as are looked at, without copies."""
    rows, repeated = rows[:_MOST_ROWS], repeated[:_MOST_ROWS]
    return rows[~repeated] if repeated.any() else rows


def _in_blocks(rows: Array) -> Iterator[tuple[slice, Array]]:
    width = max(1, _BLOCK_VALUES // len(rows))
    for start in range(0, rows.shape[1], width):
        block = slice(start, start + width)
        yield block, rows[:, block]


class _Order(NamedTuple):
    """By which columns rows are sorted, if by any."""

    keys: tuple[int, ...]  # the columns, each sorting rows that are alike in those before it
    ordered: Flags  # (D,) of the first table: the columns whose order says nothing
    effects: Array  # (n, p) orthonormal: what columns may have in common with the keys
    n_factors: int  # how many of them, the first ones, are means of the values of keys

    @classmethod
    def of(cls, tables: Sequence[Array]) -> _Order:
        """Look for them in tables with the same columns, the first of which is judged."""
        n, n_columns = tables[0].shape
        ordered = np.zeros((len(tables), n_columns), dtype=bool)
        ends = np.zeros(n - 1, dtype=bool)  # after which rows a key has another value
        keys: list[int] = []
        factors, smooth = [np.ones((n, 1))], list[Array]()
        pieces = round(n ** (1 / 3))
        while len(keys) < _MOST_KEYS:
            runs = np.zeros((len(tables), n_columns), dtype=np.int64)
            for table, of_table in zip(tables, runs, strict=True):
                for block, values in _in_blocks(table):
                    of_table[block] = _runs(values, ends)
            ordered |= runs > 0
            if not runs.any():
                break
            at, key = divmod(int(np.where(runs > 0, runs, n + 1).argmin()), n_columns)
            values = tables[at][:, key]
            ends = ends | (values[1:] != values[:-1])
            keys.append(key)
            if _ROWS_PER_LEVEL * len(np.unique(values)) <= n:
                factors.append((values[:, np.newaxis] == np.unique(values)[1:]).astype(np.float64))
            else:
                smooth.append(_smooth(values, pieces))
        effects = np.linalg.qr(np.column_stack(factors + smooth))[0]
        return cls(tuple(keys), ordered[0], effects, sum(one.shape[1] for one in factors))


def _runs(values: Array, ends: Flags) -> Array:
    """Into how many runs each column (n, k) cuts rows that it sorts or groups between ends; 0 for other columns."""
    up = np.count_nonzero((values[1:] > values[:-1]) & ~ends[:, np.newaxis], axis=0)
    down = np.count_nonzero((values[1:] < values[:-1]) & ~ends[:, np.newaxis], axis=0)
    steps = up + down
    runs = steps + np.count_nonzero(ends) + 1
    complete = ~np.isnan(values).any(axis=0)
    found: Flags = complete & (steps >= _FEWEST_STEPS) & (np.minimum(up, down) <= _OTHER_WAY * steps)
    for place in np.flatnonzero(complete & ~found & (steps > 0) & (2 * runs <= len(values))):
        found[place] = _is_grouped(values[:, place], ends)
    return np.where(found, runs, 0)


def _is_grouped(values: Array, ends: Flags) -> bool:
    """Whether equal values between ends are neighbours, in far fewer runs than in a random order."""
    starts = np.flatnonzero(np.append(True, ends | (values[1:] != values[:-1])))
    block = np.append(0, np.cumsum(ends))[starts]
    if len(np.unique(np.column_stack([block, values[starts]]), axis=0)) < len(starts):
        return False
    lengths = np.diff(np.append(starts, len(values)))
    # In a random order a row is followed by another value with a probability of 1 - Σ shares².
    expected = len(values) - float((np.bincount(block, lengths**2.0) / np.bincount(block, lengths)).sum())
    return expected - (len(starts) - int(block[-1]) - 1) >= _FEWEST_STEPS


def _smooth(values: Array, pieces: int) -> Array:
    """Smooth functions of a column: cubic splines of its ranks, and a parabola of its values."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[codes] / (len(values) - 1)
    knots = np.linspace(0.0, 1.0, pieces, endpoint=False)
    seen = _cut_off(values[:, np.newaxis], _WIDE)
    return np.column_stack([ranks, ranks**2, np.maximum(ranks[:, np.newaxis] - knots, 0.0) ** 3, seen, seen**2])


def _autocorrelations(rows: Array, order: _Order) -> Array:
    """Of each column with itself one row later; 0 where there is nothing to see, as in one with missing values."""
    found = np.zeros(rows.shape[1])
    effects = order.effects
    # Residuals of independent values have a product of neighbours, on average, of minus the sum of those of effects.
    lost = float((effects[1:] * effects[:-1]).sum()) / (len(rows) - effects.shape[1]) if order.keys else 0.0
    for block, given in _in_blocks(rows):
        values, own = given, np.ones(given.shape[1], dtype=bool)
        if order.keys:
            values = _cut_off(given, _WIDE)
            parts = effects.T @ values
            of_factors, of_smooth = np.square(parts[: order.n_factors]), np.square(parts[order.n_factors :])
            varying = np.square(values).sum(axis=0) - of_factors.sum(axis=0)
            own = of_smooth.sum(axis=0) <= (1.0 - _OWN_SHARE / max(len(of_smooth), 1)) * varying
            values = values - effects @ parts
        values = _cut_off(values, _FARTHEST)
        values -= values.mean(axis=0)
        squares = np.square(values).sum(axis=0)
        products = (values[1:] * values[:-1]).sum(axis=0)
        # A few rare values that happen to be neighbours are not enough.
        clear = own & (products > 0) & (products >= _FEWEST_NEIGHBOURS * np.square(values).max(axis=0))
        found[block] = np.divide(products, squares, out=np.zeros_like(products), where=clear) + np.where(clear, lost, 0)
    return found


def _cut_off(rows: Array, farthest: float) -> Array:
    """Columns in units of their scales from their medians, cut off where they are far away."""
    first, middle, third = np.quantile(rows, (0.25, 0.5, 0.75), axis=0)
    with np.errstate(over="ignore"):
        scale = np.where(third > first, (third - first) / 1.349, np.abs(rows - middle).mean(axis=0))
        cut: Array = np.clip((rows - middle) / np.where(scale > 0, scale, 1.0), -farthest, farthest)
    return cut
