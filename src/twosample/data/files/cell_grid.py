"""What every kind of file becomes before its cells are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from twosample.data.files.header import Kind

__all__ = ["Grid"]


@dataclass(frozen=True, eq=False)
class Grid:
    """Rows of cells, some of them still text.

    Attributes
    ----------
    frame
        The rows of data.
    numbers
        For each row, the number of its line or row in the file, from 1.
    unit
        What they number: "line" or "row".
    parts
        For a file in parts, the name of each and how many of the rows are in it.
    first, first_number, kind
        The cells of the first line, its number, and what they are, where that may be asked about.
    decimal
        The decimal sign.
    has_types
        Whether the file says which columns are text.
    """

    frame: pl.DataFrame
    numbers: NDArray[np.int64]
    unit: str = "row"
    parts: tuple[tuple[str, int], ...] = ()
    first: Sequence[str] = ()
    first_number: int = 1
    kind: Kind = "names"
    decimal: str = "."
    has_types: bool = False
