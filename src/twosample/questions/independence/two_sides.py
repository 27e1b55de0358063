"""Reads the two sides of a test of independence: numbers and categories, row by row together, checked once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.common.words import count_in_words
from twosample.data import Choice, read, serial_dependence, some
from twosample.data.categories import MISSING
from twosample.data.cells import TEXT, from_objects
from twosample.data.complete import check_policy
from twosample.data.copies import Copies
from twosample.data.levels import about_texts, with_numbers
from twosample.data.limits import Limits
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, InputTypeError, Setting, emit, warn
from twosample.features.domains.domain import Domain, KernelChoice, objects_of
from twosample.questions.independence.sides import MOST_LEVELS, OTHER_LEVELS, Column

__all__ = ["COMPONENTS", "Sides", "read_sides"]

# Number of leading components of the kernel of objects that are columns.
COMPONENTS = 3
FEWEST_ROWS = 5
# What messages call the one table that has both sides.
_TABLE = "the table"


@dataclass(frozen=True, eq=False)
class Sides:
    """Two lists of columns with as many rows, which vary and have no missing values."""

    x: tuple[Column, ...]
    y: tuple[Column, ...]
    notes: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.x[0].values)


def read_sides(
    first: object,
    second: object,
    x: object,
    y: object,
    nan_policy: Literal["raise", "omit"],
    objects: KernelChoice | None = None,
) -> Sides:
    """Read two tables, or one table and the names of its columns on either side; or objects and a table."""
    check_policy(nan_policy)
    both = _both(first, second, x, y, objects)
    sizes = [len(columns[0].values) for columns in both]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"x has {sizes[0]} rows and y has {sizes[1]}",
            argument="x and y",
            remedy="pass what was measured together: row i of x belongs with row i of y",
        )
    complete = _complete(both, nan_policy)
    if (rows := int(complete.sum())) < FEWEST_ROWS:
        raise InputError(
            f"x and y have {count_in_words(rows, 'complete row')}",
            argument="x and y",
            remedy=f"pass at least {FEWEST_ROWS}",
        )
    notes: list[str] = []
    if not complete.all():
        notes.append(f"Dropped {np.sum(~complete)} of {len(complete)} rows with a missing or infinite value.")
    both = [[column.select(complete) for column in columns] for columns in both]
    _check_sizes(both)
    kept = [_varying(columns, side) for columns, side in zip(both, "xy", strict=True)]
    constant = [one.name for columns in both for one in columns if not one.varies]
    if constant:
        notes.append(f"Dropped columns that hold one value throughout: {some(constant)}.")
    for note in notes:
        warn(DroppedDataWarning(note, argument="x and y"))
    kept = [[_pooled(column, notes) for column in columns] for columns in kept]
    if all(map(_is_serial, kept)):
        notes.append(
            "Rows of x and of y are both like the rows before them, in the order given: such series look dependent by "
            "chance, and the evidence is overstated, unless rows that are independent were put in this order."
        )
        warn(DependentRowsWarning(notes[-1], argument="x and y"))
    return Sides(tuple(kept[0]), tuple(kept[1]), tuple(notes))


def _check_sizes(both: list[list[Column]]) -> None:
    """Refuse values whose differences overflow."""
    for side, columns in zip("xy", both, strict=True):
        values = np.column_stack([column.values for column in columns])
        Limits.of(values, values).check_size(tuple(column.name for column in columns), (side, side))


def _complete(both: list[list[Column]], nan_policy: str) -> NDArray[np.bool_]:
    """Which rows have all values, (n,); the first column that lacks some is refused where that is the policy."""
    complete = np.ones(len(both[0][0].values), dtype=bool)
    for side, columns in zip("xy", both, strict=True):
        for column in columns:
            there = np.isfinite(column.values)
            if nan_policy == "raise" and not there.all():
                missing = int(np.count_nonzero(~there))
                raise InputError(
                    f"column {column.name!r} of {side} has {count_in_words(missing, 'missing or infinite value')} "
                    f"(first: row {int(np.argmin(there))})",
                    argument=side,
                    remedy=("remove them or pass ", Setting("nan_policy", "omit")),
                )
            complete &= there
    return complete


def _both(first: object, second: object, x: object, y: object, objects: KernelChoice | None) -> list[list[Column]]:
    if objects is not None:
        return _of_objects(x if first is None else first, y if second is None else second, objects)
    if second is not None:
        if x is not None or y is not None:
            raise InputError(
                "x and y: name columns of one table, or pass two tables, not both",
                argument="x and y",
                remedy="leave one of them out",
            )
        return [_columns(first, "x"), _columns(second, "y")]
    if x is None or y is None:
        raise InputError(
            "x and y: two things are needed",
            argument="x and y",
            remedy="pass two tables, or one table and the names of its columns as x and y",
        )
    if first is None:
        return [_columns(x, "x"), _columns(y, "y")]
    names = [_names(one, side) for one, side in ((x, "x"), (y, "y"))]
    shared = [name for name in names[0] if name in names[1]]
    if shared:
        raise InputError(f"y: column {shared[0]!r} is also in x", argument="y", remedy="name it once")
    return [_columns(first, "x", names[0]), _columns(first, "y", names[1])]


def _of_objects(x: object, y: object, choice: KernelChoice) -> list[list[Column]]:
    """Objects, whose columns are the leading components of their kernel, and a table."""
    if x is None or y is None:
        raise InputError("x and y: two things are needed", argument="x and y", remedy="pass objects and a table")
    domain, rows = Domain.of({"x": objects_of(x, "x")}, choice, np.random.default_rng(0))
    components = domain.components(rows["x"], COMPONENTS)
    if not components.shape[1]:
        raise InputError("x: all objects are equal to the kernel, and so independent of everything", argument="x")
    named = [Column(f"component {number} of x", values) for number, values in enumerate(components.T, 1)]
    return [named, _columns(y, "y")]


def _names(names: object, side: str) -> tuple[str, ...]:
    with _naming(side):
        found = Choice.of(columns=names).columns
    assert found is not None
    return found


@contextmanager
def _naming(side: str) -> Iterator[None]:
    """Within it, refusals of the columns and of their table name the side, which callers pass the columns as."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        if error.argument not in ("columns", _TABLE):
            raise
        message = error.message.replace("columns", side, 1) if error.argument == "columns" else error.message
        raise type(error)(message, argument=side, remedy=error.remedy) from None


def _columns(values: Any, side: str, names: tuple[str, ...] | None = None) -> list[Column]:
    """The columns of one input, or those of these names."""
    choice, source = Choice(columns=names, texts=True), side if names is None else _TABLE
    with _naming(side):
        try:
            table = read(values, source, choice)
        except InputTypeError:
            texts = _texts_of_array(values)
            if not texts:
                raise
            table = read(values, source, replace(choice, categories=texts))
    [table] = with_numbers([table])
    emit(about_texts([table]))
    for one in table.left_out:
        if one.column:  # one without a name may number the rows
            raise InputTypeError(
                f"column {one.column!r} of {side} holds {one.reason}",
                argument=side,
                remedy="pass numbers, dates, Booleans or text, or leave the column out",
            )
    count = table.rows.shape[1]
    labels = names or table.columns or ((side,) if count == 1 else tuple(f"{side}{place}" for place in range(count)))
    levels = table.levels or (None,) * count
    return [_column(*one) for one in zip(labels, table.rows.T, levels, strict=True)]


def _texts_of_array(values: Any) -> tuple[str, ...]:
    """Places of the columns of an array or of lists that hold text, as names of columns."""
    cells = np.asarray(values, dtype=object) if isinstance(values, np.ndarray | list | tuple) else np.empty(0)
    if cells.ndim not in (1, 2) or not cells.size:
        return ()
    kinds = map(from_objects, cells.reshape(len(cells), -1).T)
    return tuple(str(place) for place, kind in enumerate(kinds) if kind.content == TEXT and not kind.alone)


def _column(name: str, values: Array, levels: tuple[str, ...] | None) -> Column:
    """A column as read; a missing value is no level."""
    if levels is None:
        return Column(name, values)
    if MISSING in levels:
        gone = levels.index(MISSING)
        values = np.where(values == gone, np.nan, values - (values > gone))
    return Column(name, values, tuple(level for level in levels if level != MISSING) or ("",))


def _varying(columns: list[Column], side: str) -> list[Column]:
    kept = [column for column in columns if column.varies]
    if not kept:
        what = f"column {columns[0].name!r} of {side} holds" if len(columns) == 1 else f"all columns of {side} hold"
        raise InputError(
            f"{what} one value throughout, which is independent of everything",
            argument=side,
            remedy="pass a column that varies",
        )
    return kept


def _pooled(column: Column, notes: list[str]) -> Column:
    """A category with only the levels that it has: the most frequent ones, the others taken together."""
    if not column.levels:
        return column
    counts = Counter(column.values.astype(int).tolist())
    kept = sorted(counts, key=lambda place: (-counts[place], place))
    others = kept[MOST_LEVELS:] if len(kept) > MOST_LEVELS + 1 else []
    chosen = sorted(place for place in kept if place not in set(others))
    levels = tuple(column.levels[place] for place in chosen)
    if others:
        notes.append(f"The {len(others)} rarest levels of column {column.name!r} were taken together.")
        levels = (*levels, OTHER_LEVELS)
    place_of: NDArray[np.float64] = np.full(len(column.levels), float(len(chosen)))
    place_of[chosen] = np.arange(len(chosen))
    return Column(column.name, place_of[column.values.astype(int)], levels)


def _is_serial(columns: Iterable[Column]) -> bool:
    """Whether rows are like those before them in some column of numbers."""
    numbers = [column for column in columns if not column.levels]
    if not numbers:
        return False
    rows: Array = np.stack([column.values for column in numbers], axis=1)
    none, one = np.zeros(len(rows), dtype=bool), np.zeros(1, dtype=bool)
    return bool(
        serial_dependence(rows, rows[:1], tuple(column.name for column in numbers), Copies(none, one, none, one))
    )
