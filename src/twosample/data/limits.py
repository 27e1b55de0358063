"""The smallest and largest values of columns: whether they are finite, vary, and can be subtracted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.errors import InputError

__all__ = ["Limits"]

# Differences of values below this cannot overflow.
_LARGEST = 2.0**1022


class Limits(NamedTuple):
    """The smallest and largest value of each column of each sample, which also show whether all values are finite."""

    x_low: Array
    x_high: Array
    y_low: Array
    y_high: Array

    @classmethod
    def of(cls, x: Array, y: Array) -> Limits:
        """Those of these rows."""
        return cls(x.min(axis=0), x.max(axis=0), y.min(axis=0), y.max(axis=0))

    @classmethod
    def of_present(cls, x: Array, y: Array) -> Limits:
        """Those of the values that are not NaN; NaN where there are none.

        Examples
        --------
        >>> Limits.of_present(np.array([[np.nan], [2.0]]), np.array([[np.nan]])).x_low
        array([2.])
        """
        return cls(*(limit.reduce(rows, axis=0) for rows in (x, y) for limit in (np.fmin, np.fmax)))

    def finite(self) -> bool:
        """Whether all values are."""
        return all(bool(np.isfinite(limit).all()) for limit in self)

    def is_label(self, column: int) -> bool:
        """Whether a column has one value in each sample, and another one in the other."""
        x_low, x_high, y_low, y_high = (float(limit[column]) for limit in self)
        return x_low == x_high and y_low == y_high and x_low != y_low

    def select(self, keep: Flags) -> Limits:
        """Those of some of the columns."""
        return Limits(*(limit[keep] for limit in self))

    def check_size(self, columns: tuple[str, ...], roles: tuple[str, str] = ("x", "y")) -> None:
        """Refuse values whose differences overflow."""
        for name, low, high in zip(roles, (self.x_low, self.y_low), (self.x_high, self.y_high), strict=True):
            too_large = np.flatnonzero(np.maximum(-low, high) >= _LARGEST)
            if too_large.size:
                raise InputError(
                    f"column {columns[too_large[0]]!r} of {name} holds values beyond {_LARGEST:.1e}, whose differences "
                    "overflow",
                    argument=name,
                    remedy="change its unit, or remove them if they stand for missing values",
                )

    def columns_to_keep(self) -> Flags:
        """Return which columns vary over the pooled sample; all, if none does."""
        varies = (np.minimum(self.x_low, self.y_low) < np.maximum(self.x_high, self.y_high)).astype(bool)
        if not varies.any():
            return ~varies
        if (self.x_low == self.x_high).all() and (self.y_low == self.y_high).all():
            raise InputError(
                "x and y each hold one row repeated, and the two rows differ",
                argument="x and y",
                remedy="without variation within the samples there is nothing to judge the difference by",
            )
        return varies
