"""Reads one input of any kind (lists, arrays, Series, data frames) into float64 rows and the names of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags, namespace, to_numpy
from twosample.common.versions import require
from twosample.common.words import shortened
from twosample.data.blocks import Blocks, dask_blocks, is_dask, whole
from twosample.data.categories import Levels, codes_of, numbers_of
from twosample.data.cells import MIXED, NUMBERS, OTHER, TEXT, TIMES, Cells, from_objects, from_series, from_times
from twosample.data.choosing import EVERYTHING, Choice, Labels, LeftOut, absent
from twosample.errors import InputError, InputTypeError, Remedy

__all__ = [
    "Table",
    "as_rows",
    "check_finite",
    "column_labels",
    "finite_rows",
    "from_numpy",
    "label_list",
    "needed_columns",
    "read",
    "takeable",
]

# Sparse matrices with more entries are not made dense: 16 GiB.
_MOST_VALUES = 1 << 31
_BLOCK_ROWS = 1 << 14
_NO_ROWS = np.empty((0, 0))


def as_rows(values: object, name: str, *, n_columns: int | None = None) -> tuple[Array, tuple[str, ...] | None]:
    """Float64 rows (n, D) of one input of any kind, with n, D >= 1, and the names of their columns, if there are any.

    1-D data is one column. The rows share memory with the input where that is float64 already. Missing entries become
    NaN and are not refused here: see `check_finite`.
    """
    table = read(values, name)
    given = table.rows.shape[1]
    if n_columns is not None and given != n_columns:
        raise InputError(
            f"{name} must have {n_columns} columns, not {given}",
            argument=name,
            remedy=f"pass shape (n, {n_columns}), one row per point",
        )
    return table.rows, table.columns


def check_finite(
    rows: Array, name: str, columns: tuple[str, ...] | None = None, *, remedy: Remedy = "remove them"
) -> None:
    """Refuse rows with a missing or infinite value."""
    count, first = 0, None
    for start in range(0, len(rows), _BLOCK_ROWS):
        bad = ~np.isfinite(rows[start : start + _BLOCK_ROWS])
        if bad.any():
            count += int(np.count_nonzero(bad))
            if first is None:
                row, column = np.argwhere(bad)[0]
                first = f"row {start + row}, column {columns[column] if columns else str(column)!r}"
    if first is not None:
        values = "value" if count == 1 else "values"
        raise InputError(
            f"{name} has {count} missing or infinite {values} (first: {first})", argument=name, remedy=remedy
        )


def finite_rows(rows: Any) -> Flags:
    """Which rows have no missing or infinite value."""
    if not isinstance(rows, np.ndarray):  # on a device
        xp = namespace(rows)
        return np.asarray(to_numpy(xp.all(xp.isfinite(rows), axis=1)))
    complete = np.empty(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        np.isfinite(rows[block]).all(axis=1, out=complete[block])
    return complete


class Table(NamedTuple):
    """One input as read."""

    rows: Array  # (n, D), NaN where missing
    columns: tuple[str, ...] | None = None  # names; None where there are none
    is_frame: bool = False  # whether the names identify columns, as a data frame's do
    left_out: tuple[LeftOut, ...] = ()  # columns that it also has; but not those that were not asked for
    times: tuple[str, ...] = ()  # columns of dates or times, which are now numbers of days
    present: tuple[str, ...] = ()  # all columns that it has
    levels: Levels = ()
    asked: tuple[str, ...] = ()  # the columns of categories that were asked for by name
    fixed: tuple[str, ...] = ()  # columns that hold categories even if they look like numbers
    were_text: tuple[str, ...] = ()  # columns of numbers that were given as text
    unread: tuple[str, ...] = ()  # values of these that are no numbers
    settled: bool = False  # whether the levels are those of both samples, and rare ones have no code of their own

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, or their places where they have none."""
        return tuple(map(str, range(self.rows.shape[1]))) if self.columns is None else self.columns

    def at(self, places: list[int]) -> Array:
        """The rows, of the columns at these places; without a copy where these are all."""
        return self.rows if places == list(range(self.rows.shape[1])) else self.rows[:, places]

    def levels_at(self, places: list[int]) -> Levels:
        """The levels of the columns at these places."""
        return tuple(self.levels[place] if self.levels else None for place in places)

    def split(self, labels: Labels, groups: Sequence[str]) -> list[Table]:
        """One table for the rows of each group."""
        return [self._replace(rows=self.rows[labels.rows(group)]) for group in groups]


def read(values: object, name: str, choice: Choice = EVERYTHING) -> Table:
    """Read one input, or those of its columns that are wanted; missing entries become NaN."""
    if isinstance(values, Table):
        return values
    if _is_sparse(values):
        table = _from_sparse(values, name, choice)
    elif isinstance(found := _frame_or_array(values, name), np.ndarray):
        table = _from_array(found, name, choice)
    else:
        table = (_from_frame if hasattr(found, "columns") else _from_series)(found, name, choice)
    if table.rows.size == 0:
        raise InputError(f"{name} is empty", argument=name, remedy="pass at least 2 rows and 1 column")
    return table


@contextmanager
def needed_columns(name: str, remedy: str) -> Iterator[None]:
    """Refuse an input for a lack of columns, rather than the columns that were asked for."""
    try:
        yield
    except InputError as error:
        if error.argument != "columns":
            raise
        raise InputError(error.message.removeprefix("columns: "), argument=name, remedy=remedy) from None


def takeable(values: Any, name: str) -> Any:
    """An input of any kind as an array, a narwhals frame or a Series, whose rows are taken with brackets."""
    return values.tocsr() if _is_sparse(values) else _frame_or_array(values, name)


def column_labels(values: Any, column: str, name: str = "x", argument: str = "by") -> list[Any]:
    """The values of one column, as they are."""
    found = _frame_or_array(values, name)
    if isinstance(found, np.ndarray) and found.ndim == 1:
        found = found[:, np.newaxis]
    present = tuple(map(str, range(found.shape[1]) if isinstance(found, np.ndarray) else found.columns))
    if column not in present:
        raise absent(column, present, f"{name} has no column", argument)
    return _listed(found[:, present.index(column)])


def label_list(values: Any, argument: str = "by") -> list[Any]:
    """Labels of rows, given as any one-dimensional thing."""
    found = _frame_or_array(values, argument)
    if len(found.shape) == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if len(found.shape) != 1:
        what = f"{len(found.columns)} columns" if hasattr(found, "columns") else f"{found.ndim} dimensions"
        raise InputError(f"{argument}: labels have {what}, not 1", argument=argument)
    return _listed(found)


def _listed(values: Any) -> list[Any]:
    """The values of an array or a Series."""
    if isinstance(values, np.ndarray) and values.dtype == np.dtype("M8[ns]"):  # which would become whole numbers
        values = values.astype("M8[us]")
    return list(values.tolist() if isinstance(values, np.ndarray) else values.to_list())


def from_numpy(array: NDArray[Any], name: str) -> Array:
    """Rows from an array with one or two dimensions; what is masked becomes NaN."""
    return _from_array(array, name, EVERYTHING).rows


def _frame_or_array(values: Any, name: str) -> Any:
    """An input of any kind as an array of NumPy or a narwhals frame or Series."""
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, list | tuple | range):
        return _from_sequence(values, name)
    if is_dask(values):
        values = dask_blocks(values)
    if isinstance(values, Blocks):
        return _frame_or_array(whole(values, name), name)
    if isinstance(values, int | float | complex | np.generic):
        return np.asarray(values)
    if _is_sparse(values):
        return _dense(values, name)

    if not hasattr(type(values), "columns"):  # data frames
        import array_api_compat

        if array_api_compat.is_array_api_obj(values):
            return to_numpy(values)

    require("narwhals")
    import narwhals as nw

    try:
        native = nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise _two_of_a_name(name) from error
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.DataFrame | nw.Series):
        return native
    if hasattr(values, "get_fragments") and hasattr(values, "to_table"):  # a dataset of Arrow
        return _frame_or_array(values.to_table(), name)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    raise InputTypeError(
        f"{name} is a {type(values).__name__}", argument=name, remedy="pass a list, an array, a Series or a data frame"
    )


def _from_sequence(values: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name} has rows of different lengths", argument=name, remedy="give every row one value per column"
        ) from error
    except OverflowError:
        array = np.asarray(values, dtype=object)
    return np.asarray(values, dtype=object) if array.dtype.kind in "SUO" else array


def _is_sparse(values: Any) -> bool:
    return type(values).__module__.startswith("scipy.sparse") and hasattr(values, "toarray")


def _from_sparse(matrix: Any, name: str, choice: Choice) -> Table:
    """Rows from a sparse matrix, whose columns are chosen before it is made dense."""
    if choice.categories:
        raise InputTypeError(
            f"{name} is a sparse matrix, which has no categories", argument=name, remedy="pass an array or a data frame"
        )
    if matrix.ndim != 2 or (choice.columns is None and not choice.unread):
        return _from_array(_dense(matrix, name), name, choice)
    present = tuple(map(str, range(matrix.shape[1])))
    places = choice.places(present, name)
    table = _from_array(_dense(matrix.tocsc()[:, places], name), name, EVERYTHING)
    return table._replace(
        columns=tuple(present[place] for place in places), left_out=choice.dropped(present), present=present
    )


def _dense(matrix: Any, name: str) -> NDArray[Any]:
    """A sparse matrix with all its zeros."""
    if math.prod(matrix.shape) > _MOST_VALUES:
        raise InputError(
            f"{name} is a sparse matrix of {' x '.join(map(str, matrix.shape))}, too many to hold with its zeros",
            argument=name,
            remedy="pass fewer rows or columns",
        )
    return np.asarray(matrix.toarray())


def _from_array(array: NDArray[Any], name: str, choice: Choice) -> Table:
    if array.ndim not in (1, 2):
        remedy = "pass at least 2 rows" if array.ndim == 0 else "reshape it to (rows, columns)"
        raise InputError(f"{name} has {array.ndim} dimensions, not 1 or 2", argument=name, remedy=remedy)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    present = tuple(map(str, range(array.shape[1])))
    places = choice.places(present, name)
    chosen = places != list(range(len(present)))
    if chosen:
        array = array[:, places]
    columns = tuple(map(str, places))
    numbers = [place for place, column in enumerate(columns) if column not in choice.categories]
    every = len(numbers) == len(columns)
    mask, values = np.ma.getmaskarray(array) if np.ma.is_masked(array) else None, np.ma.getdata(array)
    of_numbers = values if every else values[:, numbers]
    rows, times = _numbers(of_numbers, name, tuple(columns[place] for place in numbers))
    if mask is not None:
        rows = np.where(mask[:, numbers], np.nan, rows)
    about = Table(rows, columns if chosen else None, False, choice.dropped(present), times, present)
    if every:
        return about
    known = iter(rows.T)
    found = {
        column: _coded(
            np.ma.masked_array(values[:, place], False if mask is None else mask[:, place]).tolist()
        )._replace(is_category=True)
        if column in choice.categories
        else Cells(NUMBERS, next(known))
        for place, column in enumerate(columns)
    }
    return _with_columns(about, found, choice)


def _coded(values: list[Any]) -> Cells:
    """A column of categories."""
    codes, levels = codes_of(values)
    return Cells(TEXT, codes, levels=levels)


def _numbers(array: NDArray[Any], name: str, columns: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """The values as float64, (n, D), and which columns were dates or times."""
    # bfloat16 and its kin come from JAX with a kind that NumPy does not know.
    if array.dtype.kind in "fiub" or "float" in array.dtype.name:
        with np.errstate(over="ignore"):
            return np.asarray(array, dtype=np.float64), ()
    if array.dtype.kind in "Mm":
        try:
            return from_times(array), columns
        except TypeError:
            raise _refusal(name, columns[0], Cells(MIXED, value=array.flat[0])) from None  # months have no fixed length
    rows, times = np.empty(array.shape), []
    for place, column in enumerate(columns):
        cells = from_objects(array[:, place])
        if cells.values is None:
            raise _refusal(name, column, cells)
        rows[:, place] = cells.values
        if cells.content == TIMES:
            times.append(column)
    return rows, tuple(times)


def _refusal(name: str, column: str, cells: Cells) -> InputTypeError:
    shown = shortened(" ".join(repr(cells.value).split()))
    return InputTypeError(
        f"column {column!r} of {name} holds {cells.content} ({shown} in row {cells.row})",
        argument=name,
        remedy=cells.remedy,
    )


def _two_of_a_name(name: str) -> InputError:
    return InputError(f"{name} has two columns of the same name", argument=name, remedy="rename one")


def _from_series(series: Any, name: str, choice: Choice) -> Table:
    label = "0" if series.name in (None, "") else str(series.name)
    used = choice.places((label,), name)
    cells = _cells_of_series(series, label, choice)
    if cells.values is None:
        raise _refusal(name, label, cells)
    names = None if series.name in (None, "") else (label,)
    table = _with_columns(Table(_NO_ROWS, names, present=(label,)), {label: cells}, choice)
    return table._replace(rows=table.rows[:, used])


def _from_frame(frame: Any, name: str, choice: Choice) -> Table:
    about, wanted = _wanted_columns(frame, name, choice)
    names = about.names
    plain = [flag and column not in choice.categories for flag, column in zip(_are_plain(wanted), names, strict=True)]
    rows = _together(wanted, plain)
    if rows is not None and all(plain):
        return about._replace(rows=rows)
    one_by_one = [True] * len(plain) if rows is None else [not flag for flag in plain]
    others = wanted[:, np.flatnonzero(one_by_one).tolist()].iter_columns() if any(one_by_one) else iter(())
    known = iter(()) if rows is None else iter(rows.T)
    columns = {
        column: _cells_of_series(next(others), column, choice) if alone else Cells(NUMBERS, next(known))
        for column, alone in zip(names, one_by_one, strict=True)
    }
    _check_usable(columns, name, choice)
    return _with_columns(about, columns, choice)


def _wanted_columns(frame: Any, name: str, choice: Choice) -> tuple[Table, Any]:
    """The names of the columns to read, as a table without rows, and the data frame of these alone."""
    present = tuple(str(label) for label in frame.columns)
    if len(set(present)) < len(present):
        raise _two_of_a_name(name)
    places = choice.places(present, name)
    left_out = choice.dropped(present)
    if choice.columns is None and "" in present and "" not in choice.drop:
        places = [place for place in places if present[place] != ""]
        left_out += (LeftOut("", "has no name; it may number the rows"),)
    names = tuple(present[place] for place in places)
    about = Table(_NO_ROWS, names, is_frame=True, left_out=left_out, present=present)
    return about, frame if places == list(range(len(present))) else frame[:, places]


def _are_plain(frame: Any) -> list[bool]:
    """Whether each column of a narwhals frame holds numbers that NumPy has: none of 128 bits."""
    import narwhals as nw

    return [
        dtype == nw.Boolean or (dtype.is_numeric() and dtype not in (nw.Int128, nw.UInt128))
        for dtype in frame.schema.values()
    ]


def _together(frame: Any, plain: list[bool]) -> Array | None:
    """All columns of plain numbers at once, which is fast for thousands; None where they have no type in common."""
    if not any(plain):
        return np.empty((len(frame), 0)) if not plain else None
    numbers = frame if all(plain) else frame[:, np.flatnonzero(plain).tolist()]
    array = numbers.to_numpy()
    return np.asarray(array, dtype=np.float64) if array.dtype.kind in "fiub" else None


def _cells_of_series(series: Any, name: str, choice: Choice) -> Cells:
    """A column of a data frame as numbers or, where it holds text or is to, as categories."""
    cells = from_series(series)
    is_text = cells.content == TEXT and not cells.alone
    if name not in choice.categories and not is_text:
        return cells
    coded = _coded(series.to_list())
    if name in choice.categories or choice.texts:  # whether they are numbers, all samples together decide
        return coded._replace(is_category=cells.is_category or name in choice.categories)
    found = None if cells.is_category or coded.values is None else numbers_of(coded.levels or ())
    return cells if found is None else Cells(NUMBERS, found[0][np.asarray(coded.values, dtype=np.intp)], was_text=True)


def _check_usable(columns: dict[str, Cells], name: str, choice: Choice) -> None:
    """Refuse columns that cannot be used, unless they can be left out."""
    refusals = []
    for column, cells in columns.items():
        if cells.values is None:
            refusals.append(_refusal(name, column, cells))
            if choice.columns is not None or cells.alone or cells.content not in (TEXT, OTHER):
                raise refusals[-1]
    if refusals and len(refusals) == len(columns):
        words = f"{name} has no column of numbers: {refusals[0].message}"
        raise InputTypeError(words, argument=name, remedy=refusals[0].remedy)


def _with_columns(about: Table, columns: dict[str, Cells], choice: Choice) -> Table:
    """The table with these columns, and with the others that were wanted among those left out."""
    used = {column: cells for column, cells in columns.items() if cells.values is not None}
    unused = tuple(LeftOut(column, cells.content) for column, cells in columns.items() if cells.values is None)
    levels = tuple(cells.levels for cells in used.values())
    has_categories = any(known is not None for known in levels)
    return about._replace(
        rows=np.stack([cells.values for cells in used.values() if cells.values is not None], axis=1),
        columns=None if about.columns is None else tuple(used),
        left_out=about.left_out + unused,
        times=about.times + tuple(column for column, cells in used.items() if cells.content == TIMES),
        levels=levels if has_categories else (),
        fixed=tuple(column for column, cells in used.items() if cells.is_category),
        were_text=tuple(column for column, cells in used.items() if cells.was_text),
        asked=(*choice.categories, *(choice.columns or ())) if has_categories else (),
    )
