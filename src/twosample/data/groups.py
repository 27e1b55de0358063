"""The rows of several groups, read and checked, with the same columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arrays import Array
from twosample.common.words import count_in_words
from twosample.data.choosing import EVERYTHING, NAMES_ROWS, Choice, LeftOut, some
from twosample.data.complete import check_policy, complete
from twosample.data.copies import find_copies
from twosample.data.limits import Limits
from twosample.data.order import serial_dependence
from twosample.data.samples import Samples
from twosample.data.two_tables import Tables, read_all, read_split
from twosample.errors import (
    DependentRowsWarning,
    DroppedDataWarning,
    InputError,
    InputTypeError,
    Role,
    TwoSampleWarning,
    emit,
)

__all__ = ["Groups", "named_groups"]

_MOST_GROUPS = 50


@dataclass(frozen=True, eq=False)
class Groups:
    """Validated rows of several groups."""

    names: tuple[str, ...]  # what the groups are called, (k,)
    rows: tuple[Array, ...]  # of each group, (n_g, D), all finite, in the units of the data
    samples: Samples  # the first group and all others, for what depends on the pooled rows alone
    by: str  # the column that says which group a row is in; empty where there was none
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]  # one sentence for everything that was left out or warned about

    @classmethod
    def of(
        cls, groups: object, choice: Choice = EVERYTHING, *, scale: ArrayLike = "robust", nan_policy: str = "raise"
    ) -> Groups:
        """Read and check a dictionary or list of samples, or one table and what it is split by."""
        check_policy(nan_policy)
        if choice.by is None:
            given = named_groups(groups)
            tables = read_all(given, choice, [Role(f"group {name!r}", "groups") for name in given])
        else:
            tables = read_split(groups, choice)
        tables, dropped = _large_enough(tables, nan_policy, "groups" if choice.by is None else "by")
        tables = tables.with_identifiers_noted()
        names, rows, columns = tables.names, tables.rows, tables.columns
        for one, role in zip(rows, tables.roles, strict=True):
            Limits.of(one, one).check_size(columns, (role, role))
        if all((one == one[0]).all() for one in rows) and any((one[0] != rows[0][0]).any() for one in rows):
            raise InputError(
                "groups: each holds one row repeated, and these differ",
                argument="groups",
                remedy="without variation within the groups there is nothing to judge the difference by",
            )
        rest = np.concatenate(rows[1:])
        samples = Samples.checked(rows[0], rest, columns, False, scale, "raise", look=False, levels=tables.levels)
        rows = tuple(one[:, samples.kept] for one in rows)
        warnings = _about_rows(tables._replace(rows=rows, columns=samples.columns, levels=samples.levels))
        emit(warnings)
        return cls(
            names=names,
            rows=rows,
            samples=samples,
            by=choice.by_column or "",
            left_out=tables.left_out + samples.left_out,
            notes=(*tables.notes, *dropped, *samples.column_notes, *(f"{one.message}." for one in warnings)),
        )


def named_groups(groups: object, fewest: int = 2) -> dict[str, Any]:
    """The samples of a dictionary or list by name."""
    if not isinstance(groups, Mapping | list | tuple):
        raise InputTypeError(
            f"groups: expected a dictionary or a list of samples, got {type(groups).__name__}",
            argument="groups",
            remedy="pass a table with by, the column that says which group a row is in",
        )
    named = groups.items() if isinstance(groups, Mapping) else enumerate(groups)
    samples = {str(name): value for name, value in named}
    if len(samples) < len(groups):
        raise InputError("groups: two of them have the same name", argument="groups")
    if len(samples) < fewest:
        raise InputError(f"groups: there are {len(samples)}", argument="groups", remedy=f"needs 2 to {_MOST_GROUPS}")
    return samples


def _large_enough(tables: Tables, nan_policy: str, argument: str) -> tuple[Tables, list[str]]:
    """The groups with 2 rows or more that lack no value, and notes of all that was left out."""
    rows, note = complete(tables.rows, tables.columns, nan_policy, roles=tables.roles, fewest=0)
    notes = [] if note is None else [note]
    kept = [place for place, one in enumerate(rows) if len(one) > 1]
    if len(kept) < len(rows):
        alone = [name for name, one in zip(tables.names, rows, strict=True) if len(one) < 2]
        notes.append(f"Left out groups with fewer than 2 rows: {some(alone)}.")
    if not 2 <= len(kept) <= _MOST_GROUPS:
        of_all = f" among {len(rows)}" if len(kept) < len(rows) else ""
        raise InputError(
            f"{argument}: there {'is' if len(kept) == 1 else 'are'} {count_in_words(len(kept), 'group')} with "
            f"2 rows or more{of_all}",
            argument=argument,
            remedy=NAMES_ROWS if len(kept) < 2 < len(rows) else f"needs 2 to {_MOST_GROUPS}",
        )
    emit(DroppedDataWarning(note, argument=argument) for note in notes)
    names, roles = (tuple(one[place] for place in kept) for one in (tables.names, tables.roles))
    return tables._replace(rows=tuple(rows[place] for place in kept), names=names, roles=roles), notes


def _about_rows(tables: Tables) -> list[TwoSampleWarning]:
    """Warnings of copied rows, and of rows that depend on those before them, group by group."""
    found: list[TwoSampleWarning] = []
    for place, (rows, role) in enumerate(zip(tables.rows, tables.roles, strict=True)):
        others = np.concatenate([*tables.rows[:place], *tables.rows[place + 1 :]])
        # Groups one after the other that differ are no series.
        others = others[np.random.default_rng(0).permutation(len(others))]
        roles = role, "other groups"
        copies = find_copies(rows, others)
        # The others have turns of their own.
        copies = replace(copies, repeated_y=np.zeros(0, dtype=bool))
        for warning in copies.warnings(roles=roles):
            found.append(type(warning)(warning.message, argument="groups", remedy="keep one of each"))
        for note in serial_dependence(rows, others[:0], tables.columns, copies, tables.levels, roles):
            found.append(DependentRowsWarning(note.rstrip("."), argument="groups"))
    return found
