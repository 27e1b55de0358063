"""Reads one input of any kind (lists, arrays, Series, data frames) into float64 rows and the names of columns."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.errors import InputError, InputTypeError, Remedy

__all__ = ["Table", "as_rows", "check_finite", "finite_rows", "from_numpy", "read"]

_REMEDIES = {
    "complex numbers": "pass the real and imaginary parts as two columns",
    "text or categories": "encode them as numbers, such as one 0/1 column per category, or leave the column out",
    "dates or times": "convert them to numbers, such as days since a start, or leave the column out",
    "objects that are not numbers": "convert them to floats, float('nan') where missing, or leave the column out",
}
_CONTENT_OF_KIND = {
    "c": "complex numbers",
    "M": "dates or times",
    "m": "dates or times",
    "S": "text or categories",
    "T": "text or categories",
    "U": "text or categories",
}
_BLOCK_ROWS = 1 << 14


def as_rows(
    values: object, name: str, *, n_columns: int | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Turn one input of any supported kind into float64 rows.

    Missing entries become NaN and are not refused here: see `check_finite`.

    Parameters
    ----------
    values
        Nested lists, an array, a Series or a data frame; 1-D data is one column.
    name
        The argument's name, for error messages.
    n_columns
        The number of columns that is required, if any.

    Returns
    -------
    rows
        Shape (n, D) with n, D >= 1; shares memory with `values` where that is float64 already.
    columns
        The names of the columns, or None where they have none.

    Examples
    --------
    >>> as_rows([1, 2], "points")
    (array([[1.],
           [2.]]), None)
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
    rows: NDArray[np.float64], name: str, columns: tuple[str, ...] | None = None, *, remedy: Remedy = "remove them"
) -> None:
    """Refuse rows with a missing or infinite value.

    Examples
    --------
    >>> check_finite(np.array([[0.0], [np.nan]]), "points")
    Traceback (most recent call last):
    twosample.errors.InputError: points has 1 missing or infinite value (first: row 1, column '0'); remove them
    """
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


def finite_rows(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows have no missing or infinite value.

    Examples
    --------
    >>> finite_rows(np.array([[0.0, 1.0], [np.nan, 2.0]]))
    array([ True, False])
    """
    complete = np.empty(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        np.isfinite(rows[block]).all(axis=1, out=complete[block])
    return complete


class Table(NamedTuple):
    """One input as read: its rows, its column names, and whether the names identify columns (a data frame's do)."""

    rows: NDArray[np.float64]
    columns: tuple[str, ...] | None = None
    is_frame: bool = False


def read(values: object, name: str) -> Table:
    """Read one input; missing entries become NaN."""
    table = Table(from_numpy(values, name)) if isinstance(values, np.ndarray) else _from_other(values, name)
    if table.rows.size == 0:
        raise InputError(f"{name} is empty", argument=name, remedy="pass at least 2 rows and 1 column")
    return table


def _from_other(values: Any, name: str) -> Table:
    if isinstance(values, list | tuple | range):
        return Table(_from_sequence(values, name))
    if isinstance(values, int | float | complex | np.generic):
        return Table(from_numpy(np.asarray(values), name))

    import array_api_compat

    if array_api_compat.is_array_api_obj(values):
        return Table(from_numpy(_to_host(values), name))

    import narwhals as nw

    try:
        native = nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise _two_of_a_name(name) from error
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.DataFrame):
        return _from_frame(native, name)
    if isinstance(native, nw.Series):
        column = _numeric_column(native, str(native.name or "0"), name)
        return Table(column[:, np.newaxis], (str(native.name),) if native.name not in (None, "") else None)
    if hasattr(values, "__array__"):
        return Table(from_numpy(np.asarray(values), name))
    raise InputTypeError(
        f"{name} is a {type(values).__name__}", argument=name, remedy="pass a list, an array, a Series or a data frame"
    )


def _from_sequence(values: Any, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name} has rows of different lengths", argument=name, remedy="give every row one value per column"
        ) from error
    if array.dtype.kind in "UO":
        array = np.asarray(values, dtype=object)
    return from_numpy(array, name)


def from_numpy(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Rows from an array with one or two dimensions; what is masked becomes NaN."""
    if array.ndim not in (1, 2):
        remedy = "pass at least 2 rows" if array.ndim == 0 else "reshape it to (rows, columns)"
        raise InputError(f"{name} has {array.ndim} dimensions, not 1 or 2", argument=name, remedy=remedy)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    # bfloat16 and its kin come from JAX with a kind that NumPy does not know.
    if array.dtype.kind not in "fiub" and "float" not in array.dtype.name:
        column, content = _first_refused_column(array)
        raise _refusal(name, str(column), str(array.dtype), content)
    mask = np.ma.getmask(array)
    if mask is not np.ma.nomask:
        return np.where(mask, np.nan, np.ma.getdata(array).astype(np.float64))
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=np.float64)


def _first_refused_column(array: NDArray[Any]) -> tuple[int, str]:
    if array.dtype.kind == "O":
        for index, column in enumerate(array.T):
            for value in column:
                kind = np.asarray(value).dtype.kind
                if kind not in "fiub":
                    return index, _CONTENT_OF_KIND.get(kind, "objects that are not numbers")
    return 0, _CONTENT_OF_KIND.get(array.dtype.kind, "objects that are not numbers")


def _refusal(name: str, column: str, dtype: str, content: str) -> InputTypeError:
    return InputTypeError(
        f"column {column!r} of {name} holds {content} (type {dtype})", argument=name, remedy=_REMEDIES[content]
    )


def _two_of_a_name(name: str) -> InputError:
    return InputError(f"{name} has two columns of the same name", argument=name, remedy="rename one")


def _to_host(values: Any) -> NDArray[Any]:
    import array_api_compat

    if array_api_compat.is_torch_array(values):
        values = values.detach().cpu()
        # NumPy has no bfloat16; a float64 tensor is left where it is.
        return np.asarray(values.double() if values.is_floating_point() else values)
    if array_api_compat.is_cupy_array(values):
        return np.asarray(values.get())
    return np.asarray(values)


def _from_frame(frame: Any, name: str) -> Table:
    import narwhals as nw

    columns = tuple(str(label) for label in frame.columns)
    if len(set(columns)) < len(columns):
        raise _two_of_a_name(name)
    if set(frame.schema.values()) == {nw.Float64}:
        return Table(np.asarray(frame.to_numpy(), dtype=np.float64), columns, is_frame=True)
    rows = np.empty(frame.shape)
    for index, column in enumerate(columns):
        rows[:, index] = _numeric_column(frame[:, index], column, name)
    return Table(rows, columns, is_frame=True)


def _numeric_column(series: Any, column: str, name: str) -> NDArray[np.float64]:
    import narwhals as nw

    dtype = series.dtype
    if not dtype.is_numeric() and dtype != nw.Boolean:
        native_dtype = getattr(series.to_native(), "dtype", dtype)
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            content = "text or categories"
        elif dtype.is_temporal():
            content = "dates or times"
        else:
            content = _CONTENT_OF_KIND.get(getattr(native_dtype, "kind", ""), "objects that are not numbers")
        raise _refusal(name, column, str(native_dtype), content)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
