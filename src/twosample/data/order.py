"""Notices rows that depend on those before them: neighbouring rows are alike, as in a time series."""

import math
from statistics import NormalDist

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.data.categories import Levels
from twosample.data.copies import Copies

__all__ = ["serial_dependence"]


_FEWEST_ROWS = 20
# One in this many independent data sets looks dependent by chance; less of a dependence does little harm.
_UNLIKELY = 1e-4
_SMALLEST = 0.2
_FEWEST_NEIGHBOURS = 6
# Values are clipped at this many scales from the centre.
_FARTHEST = 2.0
_MOST_ROWS = 1 << 14
_BLOCK_VALUES = 1 << 16


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
    the median. Rows that are sorted by a column say nothing, unless that column only numbers them. Columns with missing
    values and of categories do not count, nor do rows that were copied, which are alike for that reason. Of pairs the
    differences count.
    """
    notes = []
    if any(level is not None for level in levels):
        numbers = [place for place, level in enumerate(levels) if level is None]
        x, y, columns = x[:, numbers], y[:, numbers], tuple(columns[place] for place in numbers)
    if not columns:
        return ()
    if copies.paired:
        repeated = copies.repeated_x | copies.repeated_y
        samples = {" - ".join(roles): _first(x, repeated) - _first(y, repeated)}
    else:
        samples = {roles[0]: _first(x, copies.repeated_x), roles[1]: _first(y, copies.repeated_y)}
    limit = NormalDist().inv_cdf(1.0 - _UNLIKELY / (len(samples) * len(columns)))
    for name, rows in samples.items():
        n = len(rows)
        if n < _FEWEST_ROWS:
            continue
        found = _autocorrelations(rows)
        if found is None:
            continue
        place = int(np.argmax(found))
        most = float(found[place])
        if most > max(_SMALLEST, limit / math.sqrt(n)):
            worth = max(2, round(n * (1.0 - most) / (1.0 + most)))
            notes.append(
                f"Rows of {name} are not independent in the order given: neighbours are alike (autocorrelation "
                f"{most:.2f} in column {columns[place]!r}), so that of {n:,} rows about {worth:,} count; the "
                "evidence is overstated, unless rows that are independent were put in this order."
            )
    return tuple(notes)


def _first(rows: Array, repeated: Flags) -> Array:
    """The first rows, as many as are looked at, without copies."""
    rows, repeated = rows[:_MOST_ROWS], repeated[:_MOST_ROWS]
    return rows[~repeated] if repeated.any() else rows


def _autocorrelations(rows: Array) -> Array | None:
    """Of each column with itself one row later; 0 where there is nothing to see, None where the rows are sorted."""
    n, n_columns = rows.shape
    found = np.zeros(n_columns)
    width = max(1, _BLOCK_VALUES // n)
    for start in range(0, n_columns, width):
        block = slice(start, start + width)
        steps = np.diff(rows[:, block], axis=0)
        ordered = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
        # Steps of one size number the rows; a column with missing values is not looked at.
        counting = ordered & (np.abs(steps - steps[0]) <= 1e-6 * np.abs(steps[0])).all(axis=0)
        if (ordered & ~counting & (rows[0, block] != rows[-1, block])).any():
            return None
        values = _cut_off(rows[:, block])
        values -= values.mean(axis=0)
        squares = np.square(values).sum(axis=0)
        products = (values[1:] * values[:-1]).sum(axis=0)
        # A few rare values that happen to be neighbours are not enough.
        clear = ~ordered & (products >= _FEWEST_NEIGHBOURS * np.square(values).max(axis=0))
        found[block] = np.divide(products, squares, out=np.zeros_like(products), where=clear)
    return found


def _cut_off(rows: Array) -> Array:
    """Columns in units of their scales from their medians, cut off where they are far away."""
    first, middle, third = np.quantile(rows, (0.25, 0.5, 0.75), axis=0)
    with np.errstate(over="ignore"):
        scale = np.where(third > first, (third - first) / 1.349, np.abs(rows - middle).mean(axis=0))
        cut: Array = np.clip((rows - middle) / np.where(scale > 0, scale, 1.0), -_FARTHEST, _FARTHEST)
    return cut
