"""Checks of the numbers of rows of samples, and the rows that have a value in every column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twosample.common.arguments import is_one_of
from twosample.common.arrays import Array
from twosample.common.words import count_in_words
from twosample.data.choosing import some
from twosample.data.reading import check_finite, finite_rows
from twosample.errors import InputError, Setting

__all__ = ["check_left", "check_pairs", "check_policy", "check_sizes", "complete", "dropped_in_words"]

_TWO = ("x", "y")


def check_sizes(n_x: int, n_y: int, paired: bool) -> None:
    """Refuse samples that are too small, and pairs of which one is missing."""
    for name, rows in zip(_TWO, (n_x, n_y), strict=True):
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


def check_policy(nan_policy: str) -> None:
    """Refuse an unknown policy for missing values."""
    if not is_one_of(nan_policy, ("raise", "omit")):
        raise InputError(f'nan_policy must be "raise" or "omit", not {nan_policy!r}', argument="nan_policy")


def complete(
    rows: Sequence[Array],
    columns: tuple[str, ...],
    nan_policy: str,
    *,
    roles: Sequence[str] = _TWO,
    paired: bool = False,
    fewest: int = 2,
) -> tuple[tuple[Array, ...], str | None]:
    """The rows of samples without those that lack a value, and how many these were, in words; None for none.

    "raise" refuses missing and infinite values. Of pairs, a row that lacks a value takes the other one with it. At
    least `fewest` rows must be left of each sample.
    """
    keep = [finite_rows(one) for one in rows]
    if all(flags.all() for flags in keep):
        return tuple(rows), None
    if nan_policy == "raise":
        for one, role in zip(rows, roles, strict=True):
            check_finite(one, role, columns, remedy=("remove them or pass ", Setting("nan_policy", "omit")))
    if paired:
        keep = [np.logical_and.reduce(keep)] * len(keep)
    sizes, dropped = [len(one) for one in rows], [int(np.count_nonzero(~flags)) for flags in keep]
    check_left(sizes, dropped, fewest, roles)
    left = tuple(one[flags] for one, flags in zip(rows, keep, strict=True))
    return left, dropped_in_words(sizes, dropped, paired, roles)


def dropped_in_words(
    rows: Sequence[int], dropped: Sequence[int], paired: bool = False, roles: Sequence[str] = _TWO
) -> str:
    """The numbers of rows of each sample, or of pairs, that were left out; of many samples those that lost some."""
    if paired:
        what = f"{dropped[0]} of {count_in_words(rows[0], 'pair')}"
    else:
        by_sample = zip(roles, rows, dropped, strict=True)
        lost = [
            f"{gone} of {count_in_words(count, 'row')} of {role}"
            for role, count, gone in by_sample
            if gone or (len(rows) == 2 and count)
        ]
        what = " and ".join(lost) if len(rows) == 2 else some(lost, quote=False)
    return f"Dropped {what} with a missing or infinite value."


def check_left(rows: Sequence[int], dropped: Sequence[int], fewest: int, roles: Sequence[str] = _TWO) -> None:
    """Refuse samples of which too few rows are left."""
    for role, count, gone in zip(roles, rows, dropped, strict=True):
        if count - gone < fewest:
            raise InputError(
                f"{role} has fewer than {count_in_words(fewest, 'row')} left after dropping {gone} of {count} "
                "with a missing or infinite value",
                argument=role,
                remedy="drop the columns that are mostly missing instead",
            )
