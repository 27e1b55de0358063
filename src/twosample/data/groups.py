"""From what the caller gave to the rows of several groups, checked, with the same columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.data.choosing import Choice, LeftOut, some
from twosample.data.copies import find_copies
from twosample.data.identifiers import identifiers
from twosample.data.order import serial_dependence
from twosample.data.reading import Table, check_finite, finite_rows, read
from twosample.data.samples import Samples, check_policy
from twosample.data.two_tables import about_identifiers, align, read_groups
from twosample.errors import (
    DependentRowsWarning,
    DroppedDataWarning,
    InputError,
    InputTypeError,
    Setting,
    TwoSampleWarning,
    warn,
)

__all__ = ["Groups"]

_MOST_GROUPS = 50


@dataclass(frozen=True, eq=False)
class Groups:
    """Validated rows of several groups.

    Attributes
    ----------
    names
        What the groups are called, (k,).
    rows
        The rows of each, (n_g, D), all finite, in the units of the data.
    samples
        The first group and all others, for what depends on the pooled rows alone.
    by
        The column that says which group a row is in; empty where there was none.
    left_out
        Columns that were not used, and why.
    notes
        One sentence for everything that was left out or warned about.

    Examples
    --------
    >>> groups = Groups.of({"a": [1.0, 2.0], "b": [3.0, 5.0, 4.0], "c": [1.0, 9.0]})
    >>> groups.names, [len(rows) for rows in groups.rows], groups.samples.n_y
    (('a', 'b', 'c'), [2, 3, 2], 5)
    """

    names: tuple[str, ...]
    rows: tuple[NDArray[np.float64], ...]
    samples: Samples
    by: str
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, groups: object, choice: Choice | None = None, *, scale: ArrayLike = "robust", nan_policy: str = "raise"
    ) -> Groups:
        """Read and check: a dictionary or list of samples, or one table and what it is split by."""
        check_policy(nan_policy)
        choice = Choice() if choice is None else choice
        by, what = choice.by_column or "", "groups" if choice.by is None else "by"
        if choice.by is None:
            groups, labels_given = _stacked(groups, choice)
            choice = replace(choice, by=labels_given)
        table, labels, notes = read_groups(groups, choice)
        columns = table.columns or tuple(map(str, range(table.rows.shape[1])))
        found = {name: table.rows[labels.rows(name)] for name in labels.counts}
        found, dropped = _finite(found, columns, nan_policy)
        alone = [name for name, rows in found.items() if len(rows) < 2]
        if alone:
            note = f"Left out groups with fewer than 2 rows: {some(alone)}."
            found = {name: rows for name, rows in found.items() if len(rows) > 1}
            dropped.append(note)
        if not 2 <= len(found) <= _MOST_GROUPS:
            many = f"{len(found)} group{'s' * (len(found) != 1)} with 2 rows or more"
            raise InputError(
                f"{what}: there {'is' if len(found) == 1 else 'are'} {many}",
                argument=what,
                remedy=f"needs 2 to {_MOST_GROUPS}",
            )
        for note in dropped:
            warn(DroppedDataWarning(note, argument=what))
        rows = tuple(found.values())
        rest = np.concatenate(rows[1:])
        samples = _pooled(rows[0], rest, columns, scale)
        rows = tuple(one[:, samples.kept] for one in rows)
        if all((one == one[0]).all() for one in rows) and any((one[0] != rows[0][0]).any() for one in rows):
            raise InputError(
                "groups: each holds one row repeated, and these differ",
                argument="groups",
                remedy="without variation within the groups there is nothing to judge the difference by",
            )
        named = columns if table.columns is not None else None
        said: list[TwoSampleWarning] = about_identifiers([columns[place] for place in identifiers(*_two(found), named)])
        said += _about_rows(dict(zip(found, rows, strict=True)), samples.columns)
        for warning in said:
            warn(warning)
        constant = (name for name, kept in zip(columns, samples.kept, strict=True) if not kept)
        return cls(
            names=tuple(found),
            rows=rows,
            samples=samples,
            by=by,
            left_out=table.left_out + tuple(LeftOut(name, "one value throughout") for name in constant),
            notes=(*notes, *dropped, *samples.column_notes, *(f"{one.message.rstrip('.')}." for one in said)),
        )


def _stacked(groups: object, choice: Choice) -> tuple[Table, list[str]]:
    """A dictionary or list of samples as one table and the labels of its rows."""
    if isinstance(groups, Mapping):
        named = [(str(name), value) for name, value in groups.items()]
    elif isinstance(groups, list | tuple):
        named = [(str(place), value) for place, value in enumerate(groups)]
    else:
        raise InputTypeError(
            f"groups: expected a dictionary or a list of samples, got {type(groups).__name__}",
            argument="groups",
            remedy="pass a table with by, the column that says which group a row is in",
        )
    if len({name for name, _ in named}) < len(named):
        raise InputError("groups: two of them have the same name", argument="groups")
    if len(named) < 2:
        raise InputError(f"groups: there are {len(named)}", argument="groups", remedy=f"needs 2 to {_MOST_GROUPS}")
    tables = [_read(value, name, choice) for name, value in named]
    base = tables[0]
    for (name, _), table in zip(named[1:], tables[1:], strict=True):
        try:
            rows, _, columns = align(base, table)
        except (InputError, InputTypeError) as error:
            words = f"groups: {error.message} (x is {named[0][0]!r}, y is {name!r})"
            raise type(error)(words, argument="groups", remedy=error.remedy) from None
        base = base._replace(rows=rows, columns=columns, left_out=base.left_out + table.left_out)
    pooled = np.concatenate([base.rows, *(align(base, table)[1] for table in tables[1:])])
    labels = [name for (name, _), table in zip(named, tables, strict=True) for _ in range(len(table.rows))]
    left_out = tuple({one.column: one for one in base.left_out}.values())
    times = tuple(dict.fromkeys(column for table in tables for column in table.times if column in (base.columns or ())))
    columns_known = base.columns if any(table.columns is not None for table in tables) else None
    present = tuple(dict.fromkeys(column for table in tables for column in table.present))
    return Table(pooled, columns_known, base.is_frame, left_out, times, present), labels


def _read(value: object, name: str, choice: Choice) -> Table:
    try:
        return read(value, f"group {name!r}", choice)
    except (InputError, InputTypeError) as error:
        if error.argument in ("columns", "drop"):
            raise
        raise type(error)(error.message, argument="groups", remedy=error.remedy) from None


def _finite(
    groups: dict[str, NDArray[np.float64]], columns: tuple[str, ...], nan_policy: str
) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    """The groups without rows that lack a value, and a sentence that says so; or a refusal."""
    keep = {name: finite_rows(rows) for name, rows in groups.items()}
    if all(flags.all() for flags in keep.values()):
        return groups, []
    if nan_policy == "raise":
        for name, rows in groups.items():
            remedy = ("remove them or pass ", Setting("nan_policy", "omit"))
            check_finite(rows, f"group {name!r}", columns, remedy=remedy)
    lost = [f"{np.sum(~flags)} of {len(flags)} rows of {name!r}" for name, flags in keep.items() if not flags.all()]
    note = f"Dropped {some(lost, quote=False)} with a missing or infinite value."
    return {name: rows[keep[name]] for name, rows in groups.items()}, [note]


def _pooled(
    first: NDArray[np.float64], rest: NDArray[np.float64], columns: tuple[str, ...], scale: ArrayLike
) -> Samples:
    """The first group and all others as two samples, in the order that their rows are given."""
    try:
        return Samples.checked(first, rest, columns, False, scale, "raise", look=False)
    except InputError as error:
        if error.argument not in ("x", "y", "x and y"):
            raise
        words = f"groups: {error.message} (x is the first group, y all others)"
        raise InputError(words, argument="groups", remedy=error.remedy) from None


def _two(groups: dict[str, NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, *others = groups.values()
    return first, np.concatenate(others)


def _about_rows(groups: dict[str, NDArray[np.float64]], columns: tuple[str, ...]) -> list[TwoSampleWarning]:
    """What to say of copied rows, and of rows that are like those before them, group by group."""
    said: list[TwoSampleWarning] = []
    for name, rows in groups.items():
        others = np.concatenate([other for key, other in groups.items() if key != name])
        # Groups one after the other that differ are no series.
        others = others[np.random.default_rng(0).permutation(len(others))]
        copies = find_copies(rows, others)
        for warning in copies.warnings():
            if "of x" in warning.message:
                said.append(type(warning)(_named(warning.message, name), argument="groups", remedy="keep one of each"))
        for note in serial_dependence(rows, others, columns, copies):
            if "of x" in note:
                said.append(DependentRowsWarning(_named(note, name), argument="groups"))
    return said


def _named(words: str, name: str) -> str:
    """What is said of x and y, of a group and the others."""
    return re.sub(r"\b[xy]\b", lambda found: repr(name) if found[0] == "x" else "other groups", words)
