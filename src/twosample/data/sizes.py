"""How many rows there are of each sample, and how many are left: refusals and words."""

from __future__ import annotations

from collections.abc import Sequence

from twosample.errors import InputError, Setting

__all__ = ["check_left", "check_pairs", "check_sizes", "dropped_in_words"]


def check_sizes(n_x: int, n_y: int, paired: bool) -> None:
    """Refuse samples that are too small, and pairs of which one is missing."""
    for name, rows in (("x", n_x), ("y", n_y)):
        if rows < 2:
            raise InputError(f"{name} has {rows} row", argument=name, remedy="pass at least 2")
    if paired:
        check_pairs(n_x, n_y)


def check_pairs(n_x: int, n_y: int) -> None:
    """Refuse pairs of which one is missing."""
    if n_x != n_y:
        raise InputError(
            f"x has {n_x} rows and y has {n_y}",
            argument="x",
            remedy=(Setting("paired", True), " needs one row of y for each row of x"),
        )


def dropped_in_words(rows: Sequence[int], dropped: Sequence[int], paired: bool) -> str:
    """How many rows of x and y, or pairs, were left out.

    Examples
    --------
    >>> dropped_in_words((8, 9), (2, 0), False)
    'Dropped 2 of 8 rows of x and 0 of 9 rows of y with a missing or infinite value.'
    """
    what = f"{dropped[0]} of {rows[0]} rows of x and {dropped[1]} of {rows[1]} rows of y"
    return f"Dropped {f'{dropped[0]} of {rows[0]} pairs' if paired else what} with a missing or infinite value."


def check_left(rows: Sequence[int], dropped: Sequence[int], fewest: int) -> None:
    """Refuse samples of which too few rows are left."""
    for name, count, without in zip(("x", "y"), rows, dropped, strict=True):
        if count - without < fewest:
            raise InputError(
                f"{name} has fewer than {fewest} rows left after dropping {without} of {count} "
                "with a missing or infinite value",
                argument=name,
                remedy="drop the columns that are mostly missing instead",
            )
