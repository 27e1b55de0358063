"""Which columns are compared, and which rows are in which sample: what the caller says, looked up in a table."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twosample.common.arguments import is_one_of
from twosample.common.arrays import Indices
from twosample.common.words import count_in_words
from twosample.data.cells import as_text, is_missing
from twosample.errors import InputError, InputTypeError, Remedy, Setting

__all__ = ["DROPPED", "EVERYTHING", "IDENTIFIES", "NAMES_ROWS", "Choice", "Labels", "LeftOut", "absent", "some"]

_SHOWN = 8
# Why a column was left out, where the caller said so.
DROPPED = "dropped as asked"
# What to do where the groups have one row each.
NAMES_ROWS = "groups of one row cannot be compared: split by a column whose values several rows share"
# Why the column that pairs of rows were matched by is not compared.
IDENTIFIES = "identifies the pairs"


@dataclass(frozen=True)
class LeftOut:
    """A column that was not used, and why."""

    column: str
    reason: str


@dataclass(frozen=True, eq=False)
class Choice:
    """What the caller says of columns and groups."""

    by: object = None  # the column that says which sample a row is in, or a label for each row; None of two samples
    groups: tuple[str, str] | None = None  # the two to compare, as text; None where there are no others
    columns: tuple[str, ...] | None = None  # those to compare, in this order; None for all that can be
    drop: tuple[str, ...] = ()  # columns to leave out
    categories: tuple[str, ...] = ()  # columns that hold categories whatever they look like
    texts: bool = False  # whether columns of text are categories too, rather than left out
    # Whether row i of x belongs with row i of y; or what rows are matched by, the name of a column or identifiers.
    paired: object = False

    @classmethod
    def of(
        cls,
        by: object = None,
        groups: object = None,
        columns: object = None,
        drop: object = None,
        categories: object = None,
        *,
        texts: bool = False,
        paired: object = False,
    ) -> Choice:
        """Check what the caller gave.

        Examples
        --------
        >>> Choice.of(columns=["dose", 2], drop="id").columns
        ('dose', '2')
        """
        pair = None if groups is None else _pair(by, groups)
        wanted = None if columns is None else _names(columns, "columns")
        dropped = () if drop is None else _names(drop, "drop")
        both = [name for name in dropped if wanted is not None and name in wanted]
        if both:
            raise InputError(f"drop: {both[0]!r} is also among the columns to compare", argument="drop")
        if isinstance(by, bool):
            raise InputTypeError("by: expected a column or labels, got bool", argument="by")
        named = () if categories is None else _names(categories, "categories")
        for name in named:
            if name in dropped or (wanted is not None and name not in wanted):
                raise InputError(f"categories: {name!r} is not among the columns to compare", argument="categories")
        if named and not texts:
            raise InputError(
                "categories: this model compares numbers only",
                argument="categories",
                remedy=("use ", Setting("model", "adaptive")),
            )
        return cls(by, pair, wanted, dropped, named, texts).with_pairs(paired)

    def with_pairs(self, paired: object) -> Choice:
        """The same for pairs, unless it has those already; what says how rows are paired is checked."""
        if self.paired is not False:
            return self
        found = replace(self, paired=_pairing(paired))
        column = found.pair_column
        if column is not None and column == self.by_column:
            raise InputError(f"paired: column {column!r} splits the rows", argument="paired")
        if column in self.categories:
            raise InputError(f"categories: {column!r} identifies the pairs", argument="categories")
        return found

    @property
    def pair_column(self) -> str | None:
        """The column that identifies pairs, if there is one."""
        return self.paired if isinstance(self.paired, str) else None

    @property
    def paired_by(self) -> str | None:
        """What rows are matched by: a column, or "" for identifiers given apart; None for pairs by place."""
        return None if isinstance(self.paired, bool) else (self.pair_column or "")

    @property
    def by_column(self) -> str | None:
        """The name of the column that splits the table, or None where the labels were given."""
        return str(self.by) if isinstance(self.by, str | int | np.integer) else None

    @property
    def needed(self) -> tuple[str, ...] | None:
        """The columns that must be read, those that split the table included; None for all."""
        if self.columns is None or self.drop:
            return None
        return self.columns if self.by_column is None else (*self.columns, self.by_column)

    @property
    def unread(self) -> set[str | None]:
        """The columns that are not compared."""
        return {*self.drop, self.by_column, self.pair_column} - {None}

    def places(self, present: tuple[str, ...], name: str) -> list[int]:
        """The places of the columns to read, among those that a table has."""
        if self.columns is None:
            unread = self.unread
            return [place for place, column in enumerate(present) if column not in unread]
        place_of = {column: place for place, column in enumerate(present)}
        for column in self.columns:
            if column == self.by_column:
                raise InputError(f"columns: {column!r} says which sample a row is in", argument="columns")
            if column == self.pair_column:
                raise InputError(f"columns: {column!r} identifies the pairs", argument="columns")
            if column not in place_of:
                raise absent(column, present, f"{name} has no column", "columns")
        return [place_of[column] for column in self.columns]

    def dropped(self, present: tuple[str, ...]) -> tuple[LeftOut, ...]:
        """What the caller leaves out of the columns that a table has, and what identifies its rows."""
        reasons = {column: DROPPED for column in self.drop} | {self.pair_column: IDENTIFIES}
        return tuple(LeftOut(column, reasons[column]) for column in present if column in reasons)

    def check_drop(self, present: Iterable[tuple[str, ...]], name: str = "x") -> None:
        """Refuse to leave out columns, or to take them for categories, that no table has; the first has that name."""
        tables = list(present)
        known = {column for columns in tables for column in columns}
        for argument, names in (("drop", self.drop), ("categories", self.categories)):
            for column in names:
                if column not in known:
                    raise absent(column, tables[0], f"{name} has no column", argument)


EVERYTHING = Choice()


class Labels:
    """Which group each row is in; the groups in the order of their first rows."""

    def __init__(self, values: Iterable[Any], what: str = "by") -> None:
        places: dict[str, list[int]] = {}
        texts: dict[Any, str] = {}
        self.missing = 0
        self.count = 0
        for value in values:
            if is_missing(value):
                self.missing += 1
            else:
                try:
                    text = texts.get((type(value), value))
                    if text is None:
                        text = texts.setdefault((type(value), value), as_text(value))
                except TypeError:
                    raise InputTypeError(
                        f"by: {what} holds {type(value).__name__}, not single values", argument="by"
                    ) from None
                places.setdefault(text, []).append(self.count)
            self.count += 1
        self._places: Mapping[str, Sequence[int]] = places
        self._what = what

    @classmethod
    def counted(cls, counts: dict[str, int], what: str = "by") -> Labels:
        """Groups of which only the numbers of rows are known.

        Examples
        --------
        >>> Labels.counted({"a": 3, "b": 2}).two(None)
        ('a', 'b')
        """
        labels = cls((), what)
        labels._places = {group: range(count) for group, count in counts.items()}
        return labels

    @property
    def counts(self) -> dict[str, int]:
        """The groups, and how many rows each has."""
        return {group: len(rows) for group, rows in self._places.items()}

    def rows(self, group: str) -> Indices:
        """The rows of a group."""
        return np.array(self._places[group], dtype=np.int64)

    def find(self, group: str, argument: str) -> str:
        """The group of that name; True and False in any spelling."""
        if group in self._places:
            return group
        if group.capitalize() in ("True", "False") and group.capitalize() in self._places:
            return group.capitalize()
        raise absent(group, tuple(self._places), f"{self._what} has no value", argument)

    def two(self, groups: tuple[str, str] | None) -> tuple[str, str]:
        """The two groups to compare."""
        if groups is not None:
            return self.find(groups[0], "groups"), self.find(groups[1], "groups")
        present = tuple(self._places)
        if len(present) == 2:
            return present[0], present[1]
        if not present:
            raise InputError(f"by: {self._what} holds 0 values, not 2: none", argument="by")
        remedy: Remedy = "there is nothing to compare it with"
        if len(present) > 2:
            large = [group for group, rows in self.counts.items() if rows > 1]
            rest = ", or compare all of them (ksample, twosample test)"
            remedy = ("choose two with ", Setting("groups", tuple(large[:2])), rest) if len(large) > 1 else NAMES_ROWS
        counted = some(
            [f"{group!r} ({count_in_words(rows, 'row')})" for group, rows in self.counts.items()], quote=False
        )
        values = "value" if len(present) == 1 else "different values"
        raise InputError(
            f"by: {self._what} holds {len(present)} {values}, not 2: {counted}", argument="by", remedy=remedy
        )


def absent(wanted: str, present: Sequence[str], what: str, argument: str) -> InputError:
    """The refusal of a column or group that is not there; `what` says where, and which of the two it is."""
    near = difflib.get_close_matches(wanted, present, n=1)
    return InputError(
        f"{argument}: {what} {wanted!r}; it has {some(present)}",
        argument=argument,
        remedy=f"did you mean {near[0]!r}?" if near else None,
    )


def some(names: Sequence[str], *, shown: int = _SHOWN, quote: bool = True) -> str:
    """The first few of the names, and how many there are more."""
    listed = ", ".join(repr(name) if quote else name for name in names[:shown])
    rest = len(names) - shown
    return f"{listed} and {rest} more" if rest > 0 else listed


def _pair(by: object, groups: object) -> tuple[str, str]:
    """The two groups to compare, of those that `by` makes."""
    if by is None:
        raise InputError("groups: needs the column that they are groups of", argument="groups", remedy="give by too")
    pair = _names(groups, "groups")
    if len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(
            f"groups: needs two different values, such as U,V, not {', '.join(map(repr, pair))}", argument="groups"
        )
    return pair[0], pair[1]


def _pairing(paired: object) -> object:
    """What says how rows are paired, if it is True or False, the name of a column, or identifiers of the rows."""
    if isinstance(paired, bool | np.bool_):
        return bool(paired)
    if isinstance(paired, bytes | dict | set) or not hasattr(paired, "__len__") or is_one_of(paired, ("",)):
        raise InputTypeError(
            f"paired: must be True, False, the name of a column or identifiers of the rows, not {paired!r:.40}",
            argument="paired",
            remedy="name a column as text, that of an array by its place ('0'), or give (those of x, those of y)",
        )
    return paired


def _names(value: object, argument: str) -> tuple[str, ...]:
    """Names or places of columns, or labels, as text."""
    if isinstance(value, str | int | float | np.generic):
        value = [value]
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise InputTypeError(f"{argument}: expected a list of names, got {type(value).__name__}", argument=argument)
    names = []
    for name in value:
        if isinstance(name, np.ndarray | list | dict | set) or name is None:
            raise InputTypeError(f"{argument}: {name!r:.40} is not a name", argument=argument)
        names.append(as_text(name))
    if not names:
        raise InputError(f"{argument}: names nothing", argument=argument, remedy="name at least one, or leave it out")
    if argument != "groups" and len(set(names)) < len(names):
        raise InputError(f"{argument}: names a column twice", argument=argument, remedy="name it once")
    return tuple(names)
