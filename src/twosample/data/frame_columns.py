"""Columns of data frames as numbers, through narwhals: all plain ones at once, others by their type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.data.categories import codes_of
from twosample.data.cells import NUMBERS, TEXT, TIMES, Cells, from_objects, from_times

__all__ = ["are_plain", "cells_of_series", "codes_of_series", "together"]


def are_plain(frame: Any) -> list[bool]:
    """Whether each column of a narwhals frame holds numbers that NumPy has: none of 128 bits."""
    import narwhals as nw

    return [
        dtype == nw.Boolean or (dtype.is_numeric() and dtype not in (nw.Int128, nw.UInt128))
        for dtype in frame.schema.values()
    ]


def together(frame: Any, plain: list[bool]) -> Array | None:
    """All columns of plain numbers at once, which is fast for thousands; None where they have no type in common."""
    if not any(plain):
        return np.empty((len(frame), 0)) if not plain else None
    numbers = frame if all(plain) else frame[:, np.flatnonzero(plain).tolist()]
    array = numbers.to_numpy()
    return np.asarray(array, dtype=np.float64) if array.dtype.kind in "fiub" else None


def cells_of_series(series: Any) -> Cells:
    """The values of one column as numbers, or why they are none."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        try:
            return Cells(NUMBERS, np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
        except ValueError:  # Arrow refuses whole numbers that a float rounds
            return from_objects(_objects(series))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        present = series.drop_nulls()
        value = present[0] if len(present) else None
        return Cells(TEXT, row=int(series.is_null().arg_min() or 0), value=value)
    if dtype.is_temporal():
        if dtype == nw.Datetime and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        array = series.to_numpy()
        if array.dtype.kind in "Mm":
            return Cells(TIMES, from_times(array))
    return from_objects(_objects(series))


def codes_of_series(series: Any) -> tuple[Array, tuple[str, ...]]:
    """The values of one column of categories as codes, and the levels."""
    return codes_of(series.to_list())


def _objects(series: Any) -> NDArray[Any]:
    return np.fromiter(series.to_list(), dtype=object, count=len(series))
