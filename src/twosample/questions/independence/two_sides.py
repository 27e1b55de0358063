"""Reads the two sides of a test of independence: numbers and categories, row by row together, checked once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from twosample.common.arguments import is_one_of
from twosample.common.arrays import Array
from twosample.data import Choice, read, serial_dependence, some
from twosample.data.cells import TEXT, from_objects, is_missing
from twosample.data.copies import Copies
from twosample.data.frame_columns import cells_of_series
from twosample.errors import DependentRowsWarning, DroppedDataWarning, InputError, InputTypeError, Setting, warn
from twosample.questions.independence.sides import MOST_LEVELS, OTHER_LEVELS, Column

__all__ = ["Sides", "read_sides"]

FEWEST_ROWS = 5


@dataclass(frozen=True, eq=False)
class Sides:
    """Two lists of columns with as many rows, which vary and have no missing values.

    Attributes
    ----------
    x, y
        The columns of either side.
    notes
        One sentence for everything that was dropped or warned about.
    """

    x: tuple[Column, ...]
    y: tuple[Column, ...]
    notes: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.x[0].values)


def read_sides(first: object, second: object, x: object, y: object, nan_policy: Literal["raise", "omit"]) -> Sides:
    """Read two tables, or one table and the names of its columns on either side.

    Examples
    --------
    >>> sides = read_sides([1, 2, 3, 4, 5], ["a", "b", "a", "b", "b"], None, None, "raise")
    >>> sides.x[0].values, sides.y[0].levels
    (array([1., 2., 3., 4., 5.]), ('a', 'b'))
    """
    if not is_one_of(nan_policy, ("raise", "omit")):
        raise InputError(f'nan_policy must be "raise" or "omit", not {nan_policy!r}', argument="nan_policy")
    both = _both(first, second, x, y)
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
            f"x and y have {rows} complete row{'s' * (rows != 1)}",
            argument="x and y",
            remedy=f"pass at least {FEWEST_ROWS}",
        )
    notes: list[str] = []
    if not complete.all():
        notes.append(f"Dropped {np.sum(~complete)} of {len(complete)} rows with a missing or infinite value.")
    both = [[column.select(complete) for column in columns] for columns in both]
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


def _complete(both: list[list[Column]], nan_policy: str) -> NDArray[np.bool_]:
    """Which rows have all values, (n,); the first column that lacks some is refused where that is the policy."""
    complete = np.ones(len(both[0][0].values), dtype=bool)
    for side, columns in zip("xy", both, strict=True):
        for column in columns:
            there = np.isfinite(column.values)
            if nan_policy == "raise" and not there.all():
                missing = int(np.count_nonzero(~there))
                raise InputError(
                    f"column {column.name!r} of {side} has {missing} missing or infinite value{'s' * (missing != 1)} "
                    f"(first: row {int(np.argmin(there))})",
                    argument=side,
                    remedy=("remove them or pass ", Setting("nan_policy", "omit")),
                )
            complete &= there
    return complete


def _both(first: object, second: object, x: object, y: object) -> list[list[Column]]:
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


def _names(names: object, side: str) -> tuple[str, ...]:
    with _naming(side):
        found = Choice.of(columns=names).columns
    assert found is not None
    return found


@contextmanager
def _naming(side: str) -> Iterator[None]:
    """Within it, refusals of `columns` name the side, which is what callers pass the names as."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        if error.argument != "columns":
            raise
        message = error.message.replace("columns", side, 1)
        raise type(error)(message, argument=side, remedy=error.remedy) from None


def _columns(values: Any, side: str, names: tuple[str, ...] | None = None) -> list[Column]:
    """The columns of one input, or those of these names."""
    import narwhals as nw

    found = values
    if not isinstance(values, np.ndarray | list | tuple | range):
        try:
            found = nw.from_native(values, pass_through=True, allow_series=True)
        except nw.exceptions.DuplicateError:
            raise InputError(f"{side} has two columns of the same name", argument=side, remedy="rename one") from None
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if isinstance(found, nw.Series):
        columns = [(str(found.name or side), found)]
    elif isinstance(found, nw.DataFrame):
        present = tuple(str(label) for label in found.columns)
        columns = [(present[place], found[:, place]) for place in _places(names, present, side)]
        if names is None:
            columns = [(name, column) for name, column in columns if name]  # one without a name may number the rows
    else:
        return _of_array(values, side, names)
    if not columns or not len(columns[0][1]):
        raise InputError(f"{side} is empty", argument=side, remedy=f"pass at least {FEWEST_ROWS} rows and 1 column")
    return [_of_series(name, series, side) for name, series in columns]


def _places(names: tuple[str, ...] | None, present: tuple[str, ...], side: str) -> Sequence[int]:
    """Places of the columns of these names, or of all."""
    if names is None:
        return range(len(present))
    with _naming(side):
        return Choice(columns=names).places(present, "the table")


def _of_series(name: str, series: Any, side: str) -> Column:
    cells = cells_of_series(series)
    if cells.values is not None:
        return Column(name, cells.values)
    if cells.content == TEXT and not cells.alone:
        return _category(name, series.to_list())
    raise InputTypeError(
        f"column {name!r} of {side} holds {cells.content}",
        argument=side,
        remedy="pass numbers, dates, Booleans or text, or leave the column out",
    )


def _of_array(values: Any, side: str, names: tuple[str, ...] | None) -> list[Column]:
    """Columns of an array or of lists: numbers where they are, else text column by column."""
    try:
        with _naming(side):
            rows = read(values, side, Choice() if names is None else Choice(columns=names)).rows
    except InputTypeError:
        columns = _texts(values, side, names)
        if columns is None:
            raise
        return columns
    labels = _labels(rows.shape[1], side, names)
    return [Column(label, column) for label, column in zip(labels, rows.T, strict=True)]


def _texts(values: Any, side: str, names: tuple[str, ...] | None) -> list[Column] | None:
    """Columns of objects, of which some are text; None where there is anything else."""
    cells = np.asarray(values, dtype=object)
    if cells.ndim not in (1, 2):
        return None
    cells = cells.reshape(len(cells), -1)
    places = _places(names, tuple(map(str, range(cells.shape[1]))), side)
    found = []
    for label, place in zip(_labels(len(places), side, names), places, strict=True):
        kind = from_objects(cells[:, place])
        if kind.values is not None:
            found.append(Column(label, kind.values))
        elif kind.content == TEXT and not kind.alone:
            found.append(_category(label, cells[:, place].tolist()))
        else:
            return None
    return found


def _labels(count: int, side: str, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """What columns without names are called: x, or x0 and x1."""
    if names is not None:
        return names
    return (side,) if count == 1 else tuple(f"{side}{place}" for place in range(count))


def _category(name: str, labels: Iterable[object]) -> Column:
    texts = [
        None if is_missing(label) else label.decode(errors="replace") if isinstance(label, bytes) else str(label)
        for label in labels
    ]
    levels = tuple(sorted({text for text in texts if text is not None}))
    places = {level: float(number) for number, level in enumerate(levels)}
    return Column(name, np.array([np.nan if text is None else places[text] for text in texts]), levels or ("",))


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
