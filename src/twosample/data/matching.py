"""Rows of two samples that belong together: matched by identifiers, or in place, where these must agree."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twosample.common.arrays import Indices
from twosample.common.words import shortened
from twosample.data.cells import as_text, is_missing
from twosample.data.choosing import Choice, Labels, some
from twosample.data.identifiers import named_like_one
from twosample.data.reading import column_labels, label_list, takeable
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Setting, TwoSampleWarning

__all__ = ["Matched", "in_pairs", "matched", "matched_as_given", "split_in_pairs"]

# A column of text that names this many rows or more, and the same in both samples, does so by no chance.
_FEWEST_NAMES = 6
_SCREENED_ROWS = 32
_WHOLE = re.compile(r"-?[0-9]{1,18}")


class Matched(NamedTuple):
    """Which rows of either sample belong together, in the order of their identifiers, and what to say of the others."""

    x: Indices
    y: Indices
    warnings: tuple[TwoSampleWarning, ...] = ()


def in_pairs(x: Any, y: Any, choice: Choice) -> tuple[Any, Any, Choice, list[TwoSampleWarning]]:
    """Two samples with rows that are matched as the choice says.

    Returned are also the choice without the column that identifies the pairs, and what to say of rows and columns that
    are left out. Rows that are paired by their place are refused where a column says that they are others.
    """
    if choice.paired is False:
        return x, y, choice, []
    if choice.paired is True:
        _check_index(x, y)
        return x, y, *_identified(_names(x, None), _names(y, None), choice)
    x, y = takeable(x, "x"), takeable(y, "y")
    column = choice.pair_column
    if column is None:
        found = matched_as_given(choice.paired, (x.shape[0], y.shape[0]))
    else:
        found = matched(_identifiers(x, column, "x"), _identifiers(y, column, "y"), _what(column))
    return x[found.x], y[found.y], choice, list(found.warnings)


def split_in_pairs(x: Any, labels: Labels, choice: Choice) -> tuple[Any, Labels, Choice, list[TwoSampleWarning]]:
    """The same of one table whose rows have labels: the rows of both groups that are matched, with their labels."""
    if choice.paired is False:
        return x, labels, choice, []
    groups = labels.two(choice.groups)
    rows = [labels.rows(group) for group in groups]
    if choice.paired is True:
        return x, labels, *_identified(_names(x, rows[0]), _names(x, rows[1]), choice)
    x = takeable(x, "x")
    column = choice.pair_column
    every = _given(choice.paired, "x", labels.count) if column is None else _identifiers(x, column, "x")
    found = matched([every[row] for row in rows[0]], [every[row] for row in rows[1]], _what(column))
    pairs = len(found.x)
    split = Labels([groups[0]] * pairs + [groups[1]] * pairs)
    return x[np.concatenate([rows[0][found.x], rows[1][found.y]])], split, choice, list(found.warnings)


def matched(of_x: Sequence[str | None], of_y: Sequence[str | None], what: str) -> Matched:
    """Match rows by identifiers, None for those that are missing; `what` says where these are.

    Examples
    --------
    >>> found = matched(["b", "a", "c"], ["c", "d", "b"], "column 'id'")
    >>> found.x, found.y
    (array([0, 2]), array([2, 0]))
    >>> str(found.warnings[0])
    "Left out rows without a partner by column 'id': 1 of 3 rows of x ('a') and 1 of 3 rows of y ('d')."
    """
    in_x, in_y = (_places(own, name, what) for own, name in ((of_x, "x"), (of_y, "y")))
    both = _in_order(in_x.keys() & in_y.keys())
    if len(both) < 2:
        examples = [f"{name} has {next(iter(own))!r:.40}" for name, own in (("x", in_x), ("y", in_y)) if own]
        raise InputError(
            f"paired: {len(both)} values of {what} are in both samples, and at least 2 pairs are needed",
            argument="paired",
            remedy=f"they must be written alike: {', '.join(examples)}" if examples else None,
        )
    warnings = []
    alone = [
        f"{len(own) - len(both)} of {len(rows)} rows of {name} ({_shown(own.keys() - other.keys())})"
        for name, own, other, rows in (("x", in_x, in_y, of_x), ("y", in_y, in_x, of_y))
        if len(own) > len(both)
    ]
    if alone:
        warnings.append(f"Left out rows without a partner by {what}: {' and '.join(alone)}.")
    missing = [
        f"{len(rows) - len(own)} of {len(rows)} rows of {name}"
        for name, own, rows in (("x", in_x, of_x), ("y", in_y, of_y))
        if len(own) < len(rows)
    ]
    if missing:
        warnings.append(f"Left out rows without a value in {what}: {' and '.join(missing)}.")
    x, y = (np.array([own[one] for one in both], dtype=np.int64) for own in (in_x, in_y))
    return Matched(x, y, tuple(DroppedDataWarning(words, argument="paired") for words in warnings))


def matched_as_given(identifiers: Any, sizes: tuple[int, int]) -> Matched:
    """Match rows, of which each sample has so many, by the identifiers of either, or refuse what is none."""
    if len(identifiers) != 2 or any(isinstance(one, str) or not hasattr(one, "__len__") for one in identifiers):
        raise InputTypeError(
            "paired: expected identifiers of the rows of both samples",
            argument="paired",
            remedy="give (those of x, those of y), or name one column of a table",
        )
    of_x, of_y = map(_given, identifiers, ("x", "y"), sizes)
    return matched(of_x, of_y, _what(None))


def _places(identifiers: Sequence[str | None], name: str, what: str) -> dict[str, int]:
    """The row of each identifier; refuses one that is there twice."""
    found: dict[str, int] = {}
    for row, one in enumerate(identifiers):
        if one is not None and found.setdefault(one, row) != row:
            raise InputError(
                f"paired: {shortened(one)!r} is twice in {what} of {name}, in rows {found[one]} and {row}",
                argument="paired",
                remedy="keep one of these rows, or their mean",
            )
    return found


def _in_order(identifiers: set[str]) -> list[str]:
    """Identifiers by increasing number where they are whole numbers, else by the alphabet, as ISO dates are in time."""
    if all(map(_WHOLE.fullmatch, identifiers)):
        return sorted(sorted(identifiers), key=int)
    return sorted(identifiers)


def _shown(identifiers: set[str]) -> str:
    return some([shortened(one) for one in _in_order(identifiers)])


def _what(column: str | None) -> str:
    return "the identifiers" if column is None else f"column {column!r}"


def _identifiers(values: Any, column: str, name: str) -> list[str | None]:
    """The identifiers of the rows of one sample, in one of its columns."""
    return _as_texts(column_labels(values, column, name, "paired"))


def _given(values: Any, name: str, count: int) -> list[str | None]:
    """The identifiers of the rows of one sample, given apart."""
    labels = label_list(values, "paired")
    if len(labels) != count:
        raise InputError(
            f"paired: has {len(labels)} identifiers for {count} rows of {name}",
            argument="paired",
            remedy="give one for each row",
        )
    return _as_texts(labels)


def _as_texts(values: list[Any]) -> list[str | None]:
    """Identifiers as text; quickly where all are text, or whole numbers."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return values
    return list(map(str if kinds == {int} else _identifier, values))


def _identifier(value: Any) -> str | None:
    """A value as text, alike whatever its type; None for a missing one.

    Examples
    --------
    >>> _identifier(1.0), _identifier(datetime.datetime(2024, 5, 1)), _identifier(datetime.date(2024, 5, 1))
    ('1', '2024-05-01', '2024-05-01')
    """
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return str(value.isoformat()).removesuffix("T00:00:00")
    return as_text(value)


def _names(values: Any, rows: Indices | None) -> dict[str, list[str | None]]:
    """The columns of a data frame that may name its rows, or some of its rows: by what they are called, or by text."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return {}
    frame = takeable(values, "x")
    if not hasattr(frame, "columns"):
        return {}
    import narwhals as nw

    found = {}
    for column, dtype in frame.schema.items():
        text = dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) or dtype.is_temporal()
        if text or named_like_one(str(column)):
            series = frame[:, frame.columns.index(column)]
            series = series if rows is None else series[rows]
            first = _as_texts(series[:_SCREENED_ROWS].to_list())
            if len(set(first) - {None}) == len(first) - first.count(None):
                found[str(column)] = first + _as_texts(series[_SCREENED_ROWS:].to_list())
    return found


def _identified(
    of_x: dict[str, list[str | None]], of_y: dict[str, list[str | None]], choice: Choice
) -> tuple[Choice, list[TwoSampleWarning]]:
    """Pairs by place: the choice without a column that names them; refuses those of which a column names others."""
    others = []
    for column in [one for one in of_x if one in of_y]:
        in_x, in_y = of_x[column], of_y[column]
        if not _are_names(column, in_x, in_y):
            continue
        if in_x != in_y:
            others.append(column)
            continue
        if column in choice.drop or (choice.columns is not None):
            return choice, []
        said = DroppedDataWarning(
            f"Left out column {column!r}, which identifies the pairs: it is the same in both samples, row by row",
            argument="columns",
            remedy=("to match rows by it, whatever their order, pass ", Setting("paired", column), "."),
        )
        return replace(choice, paired=column), [said]
    if not others:
        return choice, []
    column = others[0]
    in_x, in_y = of_x[column], of_y[column]
    row = next((row for row, (one, other) in enumerate(zip(in_x, in_y, strict=False)) if one != other), None)
    where = f"x has {len(in_x)} rows and y has {len(in_y)}"
    if row is not None:
        where = f"by column {column!r} row {row} of x is {in_x[row]!r:.40} and row {row} of y is {in_y[row]!r:.40}"
    raise InputError(
        f"paired: {where}",
        argument="paired",
        remedy=("match rows by that column with ", Setting("paired", column), ", or take it out of both tables"),
    )


def _check_index(x: Any, y: Any) -> None:
    """Refuse pairs by place of data frames or Series of pandas with the same index in another order."""
    first: Any = getattr(x, "index", None)
    second: Any = getattr(y, "index", None)
    if not all(getattr(one, "is_unique", False) for one in (first, second)) or first.equals(second):
        return
    if len(first) == len(second) == len(first.intersection(second)):
        raise InputError(
            "paired: x and y have the same index, in different orders",
            argument="paired",
            remedy="match rows by it with paired=(x.index, y.index), or pair them by their order with "
            "reset_index(drop=True)",
        )


def _are_names(column: str, in_x: list[str | None], in_y: list[str | None]) -> bool:
    """Whether a column names the rows of both samples, so that they can be matched by it.

    All its values are different in each. A name of the column that says so takes half of the rows to be in both
    samples; without one they must be the same, and more than categories could be by chance.
    """
    names_x, names_y = set(in_x) - {None}, set(in_y) - {None}
    if len(names_x) < len(in_x) - in_x.count(None) or len(names_y) < len(in_y) - in_y.count(None):
        return False
    if named_like_one(column):
        return len(names_x & names_y) >= max(2, 0.5 * max(len(in_x), len(in_y)))
    return names_x == names_y and len(names_x) >= _FEWEST_NAMES
