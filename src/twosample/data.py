"""The one validator: two samples of any kind become two finite float64 arrays with a pooled center and scale."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.errors import DroppedDataWarning, DuplicateRowsWarning, InputError, InputTypeError

__all__ = ["Samples", "as_rows", "check_finite"]

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

# Differences of values below this cannot overflow.
_LARGEST = 2.0**1022
# A column is divided by at least this share of its largest deviation, so that squares of the result cannot overflow.
_SMALLEST_SHARE = 2.0**-500
# Of a standard normal column: the interquartile range, and the distance within which a quarter of all pairs lie.
_IQR_OF_NORMAL = 1.349
_QUARTER_OF_NORMAL = 0.4506
# A spike of nearly equal values must not set the scale: it is at least this share of what the quartiles say.
_SHARE_OF_IQR = 0.2
_PAIRED_VALUES = 128

_BLOCK_ROWS = 1 << 14
_SCREENED_ROWS = 1 << 15
_MIN_REPEATS = 5
_MIN_REPEATS_SHARE = 0.05
_MIN_REPEATED_ROWS = 4
_MIN_DISTINCT_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Samples:
    """Two validated samples, in the caller's units, with what is needed to standardize them.

    Attributes
    ----------
    x, y
        Rows of the samples, shapes (n_x, D) and (n_y, D), all finite. They share memory with the caller's data
        wherever that already was float64 and nothing was dropped.
    columns
        Names of the D columns kept; "0", "1", ... by position where the data has no names.
    center
        Pooled median of each column, shape (D,).
    scale
        What each column is divided by, shape (D,), all positive.
    kept
        Which columns of the data these are; the others hold one value throughout.
    paired
        Whether row i of `x` belongs with row i of `y`.
    notes
        One sentence for everything that was dropped or warned about.

    Examples
    --------
    >>> samples = Samples.from_data([1.0, 2.0, 4.0], [3, 5, 5, 9])
    >>> samples.n_x, samples.n_y, samples.n_columns
    (3, 4, 1)
    >>> samples.center
    array([4.])
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    columns: tuple[str, ...]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    kept: NDArray[np.bool_]
    paired: bool
    notes: tuple[str, ...]

    @property
    def n_x(self) -> int:
        """Number of rows of `x`."""
        return len(self.x)

    @property
    def n_y(self) -> int:
        """Number of rows of `y`."""
        return len(self.y)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def unit(self) -> float:
        """What a standardised lengthscale is multiplied by when it is shown."""
        return float(self.scale[0]) if self.n_columns == 1 else 1.0

    @classmethod
    def from_data(
        cls,
        x: object,
        y: object,
        *,
        paired: bool = False,
        scale: ArrayLike = "robust",
        nan_policy: Literal["raise", "omit"] = "raise",
    ) -> "Samples":
        """Validate two samples.

        Parameters
        ----------
        x, y
            Nested lists, NumPy, torch, JAX or CuPy arrays, or Series and data frames of any library. Rows are
            observations; 1-D data is one column. Two data frames must have the same column names, in any order.
        paired
            Whether row i of `x` belongs with row i of `y`.
        scale
            "robust" divides each column by its pooled spread, the distance within which a quarter of all pairs of rows
            lie, over 0.4506; that is not less than a fifth of the interquartile range over 1.349, which takes its place
            where it is 0, as the standard deviation takes that of the range. "raw" leaves the units alone, and D
            positive numbers are used as they are.
        nan_policy
            What to do with missing and infinite values: "raise" an error, or "omit" the row (the pair, if `paired`).

        Returns
        -------
        Samples
            Without the columns that hold one value throughout, unless there are no others.

        Raises
        ------
        InputError, InputTypeError
            If the samples cannot be used; the message names the argument.

        Warns
        -----
        DroppedDataWarning
            If rows or columns were left out.
        DuplicateRowsWarning
            If rows look copied: they repeat within a sample, and nothing suggests that the values are coarse.

        Examples
        --------
        >>> samples = Samples.from_data([[1.0, 20.0], [3.0, 50.0]], [[2.0, 10.0], [7.0, 40.0]], scale=[1, 10])
        >>> samples.standardize(samples.x)
        array([[-1.5, -1. ],
               [ 0.5,  2. ]])
        """
        if nan_policy not in ("raise", "omit"):
            raise InputError(f'nan_policy must be "raise" or "omit", not {nan_policy!r}')
        x_rows, y_rows, columns = _align(_read(x, "x"), _read(y, "y"))
        for name, rows in (("x", x_rows), ("y", y_rows)):
            if len(rows) < 2:
                raise InputError(f"{name} has 1 row; pass at least 2")
        if paired and len(x_rows) != len(y_rows):
            raise InputError(
                f"x has {len(x_rows)} rows and y has {len(y_rows)}; paired=True needs one row of y for each row of x"
            )
        given_scale = _check_scale(scale, len(columns))

        dropped: list[str] = []
        limits = _Limits.of(x_rows, y_rows)
        if not limits.finite():
            if nan_policy == "raise":
                for name, rows in (("x", x_rows), ("y", y_rows)):
                    check_finite(rows, name, columns, remedy='remove them or pass nan_policy="omit"')
            x_rows, y_rows, note = _omit(x_rows, y_rows, paired)
            dropped.append(note)
            limits = _Limits.of(x_rows, y_rows)
        limits.check_size(columns)
        keep = limits.columns_to_keep()
        if not keep.all():
            names = ", ".join(repr(name) for name, kept in zip(columns, keep, strict=True) if not kept)
            dropped.append(f"Dropped {np.sum(~keep)} of {len(keep)} columns that hold one value throughout: {names}.")
            x_rows, y_rows, limits = x_rows[:, keep], y_rows[:, keep], limits.select(keep)
            columns = tuple(name for name, kept in zip(columns, keep, strict=True) if kept)
            given_scale = None if given_scale is None else given_scale[keep]

        center, robust_scale = _center_and_scale(x_rows, y_rows, limits)
        copied = _copied_notes(x_rows, y_rows)
        for note in dropped:
            warnings.warn(note, DroppedDataWarning, stacklevel=3)
        for note in copied:
            warnings.warn(note, DuplicateRowsWarning, stacklevel=3)
        return cls(
            x=x_rows,
            y=y_rows,
            columns=columns,
            center=center,
            scale=robust_scale if given_scale is None else given_scale,
            kept=keep,
            paired=bool(paired),
            notes=(*dropped, *copied),
        )

    def standardize(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``(rows - center) / scale`` for rows of shape (m, D) in the units of the data.

        Examples
        --------
        >>> Samples.from_data([1.0, 2.0], [3.0, 4.0], scale="raw").standardize(np.array([[2.5], [4.5]]))
        array([[0.],
               [2.]])
        """
        standardized = rows - self.center
        standardized /= self.scale
        return standardized


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
    table = _read(values, name)
    found = table.rows.shape[1]
    if n_columns is not None and found != n_columns:
        raise InputError(
            f"{name} must have {n_columns} columns, not {found}; pass shape (n, {n_columns}), one row per point"
        )
    return table.rows, table.columns


def check_finite(
    rows: NDArray[np.float64], name: str, columns: tuple[str, ...] | None = None, *, remedy: str = "remove them"
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
        raise InputError(f"{name} has {count} missing or infinite {values} (first: {first}); {remedy}")


class _Table(NamedTuple):
    """One input as read: its rows, its column names, and whether the names identify columns (a data frame's do)."""

    rows: NDArray[np.float64]
    columns: tuple[str, ...] | None = None
    is_frame: bool = False


def _read(values: object, name: str) -> _Table:
    table = _Table(_from_numpy(values, name)) if isinstance(values, np.ndarray) else _from_other(values, name)
    if table.rows.size == 0:
        raise InputError(f"{name} is empty; pass at least 2 rows and 1 column")
    return table


def _from_other(values: Any, name: str) -> _Table:
    if isinstance(values, list | tuple | range):
        return _Table(_from_sequence(values, name))
    if isinstance(values, int | float | complex | np.generic):
        return _Table(_from_numpy(np.asarray(values), name))

    import array_api_compat

    if array_api_compat.is_array_api_obj(values):
        return _Table(_from_numpy(_to_host(values), name))

    import narwhals as nw

    try:
        native = nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"{name} has two columns of the same name; rename one") from error
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.DataFrame):
        return _from_frame(native, name)
    if isinstance(native, nw.Series):
        column = _numeric_column(native, str(native.name or "0"), name)
        return _Table(column[:, np.newaxis], (str(native.name),) if native.name not in (None, "") else None)
    if hasattr(values, "__array__"):
        return _Table(_from_numpy(np.asarray(values), name))
    raise InputTypeError(f"{name} is a {type(values).__name__}; pass a list, an array, a Series or a data frame")


def _from_sequence(values: Any, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} has rows of different lengths; give every row one value per column") from error
    if array.dtype.kind in "UO":
        array = np.asarray(values, dtype=object)
    return _from_numpy(array, name)


def _from_numpy(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.ndim not in (1, 2):
        remedy = "pass at least 2 rows" if array.ndim == 0 else "reshape it to (rows, columns)"
        raise InputError(f"{name} has {array.ndim} dimensions, not 1 or 2; {remedy}")
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
    return InputTypeError(f"column {column!r} of {name} holds {content} (type {dtype}); {_REMEDIES[content]}")


def _to_host(values: Any) -> NDArray[Any]:
    import array_api_compat

    if array_api_compat.is_torch_array(values):
        values = values.detach().cpu()
        # NumPy has no bfloat16; a float64 tensor is left where it is.
        return np.asarray(values.double() if values.is_floating_point() else values)
    if array_api_compat.is_cupy_array(values):
        return np.asarray(values.get())
    return np.asarray(values)


def _from_frame(frame: Any, name: str) -> _Table:
    import narwhals as nw

    columns = tuple(str(label) for label in frame.columns)
    if len(set(columns)) < len(columns):
        raise InputError(f"{name} has two columns of the same name; rename one")
    if set(frame.schema.values()) == {nw.Float64}:
        return _Table(np.asarray(frame.to_numpy(), dtype=np.float64), columns, is_frame=True)
    rows = np.empty(frame.shape)
    for index, column in enumerate(columns):
        rows[:, index] = _numeric_column(frame[:, index], column, name)
    return _Table(rows, columns, is_frame=True)


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


def _align(x: _Table, y: _Table) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Return the rows of both with the columns of y in the order of those of x, and the names of the columns."""
    if x.is_frame and y.is_frame:
        assert x.columns is not None and y.columns is not None
        if x.columns == y.columns:
            return x.rows, y.rows, x.columns
        missing = [
            f"{name} has no column " + ", ".join(map(repr, absent))
            for name, absent in (
                ("x", [column for column in y.columns if column not in x.columns]),
                ("y", [column for column in x.columns if column not in y.columns]),
            )
            if absent
        ]
        if missing:
            raise InputError("x and y must have the same columns: " + "; ".join(missing))
        return x.rows, y.rows[:, [y.columns.index(column) for column in x.columns]], x.columns

    n_columns = x.rows.shape[1]
    if n_columns != y.rows.shape[1]:
        raise InputError(f"x has {n_columns} columns and y has {y.rows.shape[1]}; they must have the same columns")
    frames = [table for table in (x, y) if table.is_frame]
    names = {table.columns for table in frames or (x, y) if table.columns is not None}
    return x.rows, y.rows, names.pop() if len(names) == 1 else tuple(map(str, range(n_columns)))


def _check_scale(scale: ArrayLike, n_columns: int) -> NDArray[np.float64] | None:
    """Return the divisors, or None where they are to be found from the data."""
    if isinstance(scale, str):
        if scale not in ("robust", "raw"):
            raise InputError(f'scale must be "robust", "raw" or {n_columns} positive numbers, not {scale!r}')
        return np.ones(n_columns) if scale == "raw" else None
    divisors = _from_numpy(np.atleast_1d(np.asarray(scale)), "scale")
    if divisors.shape != (n_columns, 1):
        raise InputError(f"scale must be one number for each of the {n_columns} columns, not {np.size(scale)}")
    divisors = divisors[:, 0].copy()
    if not (np.isfinite(divisors) & (divisors > 0)).all():
        raise InputError("scale must be positive, finite numbers")
    return divisors


def _omit(
    x: NDArray[np.float64], y: NDArray[np.float64], paired: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Drop the rows, or the pairs, with a missing or infinite value, and say so."""
    keep_x, keep_y = _complete_rows(x), _complete_rows(y)
    if paired:
        keep_x = keep_y = keep_x & keep_y
    for name, keep in (("x", keep_x), ("y", keep_y)):
        if np.count_nonzero(keep) < 2:
            raise InputError(
                f"{name} has fewer than 2 rows left after dropping {np.sum(~keep)} of {len(keep)} "
                "with a missing or infinite value; drop the columns that are mostly missing instead"
            )
    what = (
        f"{np.sum(~keep_x)} of {len(x)} pairs"
        if paired
        else f"{np.sum(~keep_x)} of {len(x)} rows of x and {np.sum(~keep_y)} of {len(y)} rows of y"
    )
    return x[keep_x], y[keep_y], f"Dropped {what} with a missing or infinite value."


def _complete_rows(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    complete = np.empty(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        np.isfinite(rows[block]).all(axis=1, out=complete[block])
    return complete


class _Limits(NamedTuple):
    """The smallest and largest value of each column of each sample, which also show whether all values are finite."""

    x_low: NDArray[np.float64]
    x_high: NDArray[np.float64]
    y_low: NDArray[np.float64]
    y_high: NDArray[np.float64]

    @classmethod
    def of(cls, x: NDArray[np.float64], y: NDArray[np.float64]) -> "_Limits":
        return cls(x.min(axis=0), x.max(axis=0), y.min(axis=0), y.max(axis=0))

    def finite(self) -> bool:
        return all(bool(np.isfinite(limit).all()) for limit in self)

    def select(self, keep: NDArray[np.bool_]) -> "_Limits":
        return _Limits(*(limit[keep] for limit in self))

    def check_size(self, columns: tuple[str, ...]) -> None:
        for name, low, high in (("x", self.x_low, self.x_high), ("y", self.y_low, self.y_high)):
            too_large = np.flatnonzero(np.maximum(-low, high) >= _LARGEST)
            if too_large.size:
                raise InputError(
                    f"column {columns[too_large[0]]!r} of {name} holds values beyond {_LARGEST:.1e}, whose differences "
                    "overflow; change its unit, or remove them if they stand for missing values"
                )

    def columns_to_keep(self) -> NDArray[np.bool_]:
        """Return which columns vary over the pooled sample; all, if none does."""
        varies = (np.minimum(self.x_low, self.y_low) < np.maximum(self.x_high, self.y_high)).astype(bool)
        if not varies.any():
            return ~varies
        if (self.x_low == self.x_high).all() and (self.y_low == self.y_high).all():
            raise InputError(
                "x and y each hold one row repeated, and the two rows differ; without variation within "
                "the samples there is nothing to judge the difference by"
            )
        return varies


def _center_and_scale(
    x: NDArray[np.float64], y: NDArray[np.float64], limits: _Limits
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the pooled median and the robust scale of each column, from order statistics only.

    Close pairs of a clustered column are in one cluster, and say how wide clusters are; quartiles, how far apart.
    """
    n_x = len(x)
    lows, highs = np.minimum(limits.x_low, limits.y_low), np.maximum(limits.x_high, limits.y_high)
    pooled = np.empty(n_x + len(y))
    center, scale = np.empty(x.shape[1]), np.empty(x.shape[1])
    for column, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        pooled[:n_x], pooled[n_x:] = x[:, column], y[:, column]
        pooled.sort()
        first, middle, third = (_quantile(pooled, level) for level in (0.25, 0.5, 0.75))
        if low == high:
            width = 1.0
        elif first < third:
            width = (third - first) / _IQR_OF_NORMAL
            distance = _distance_of_quarter(pooled)
            if distance > 0:
                width = max(distance / _QUARTER_OF_NORMAL, width * _SHARE_OF_IQR)
        else:
            width = _standard_deviation(pooled, middle)
        farthest = max(high - middle, middle - low)
        center[column] = middle
        scale[column] = max(width, farthest * _SMALLEST_SHARE, np.finfo(np.float64).tiny)
    return center, scale


def _quantile(ordered: NDArray[np.float64], level: float) -> float:
    place = (len(ordered) - 1) * level
    rank = math.floor(place)
    below = float(ordered[rank])
    above = float(ordered[min(rank + 1, len(ordered) - 1)])
    return below + (above - below) * (place - rank)


def _distance_of_quarter(ordered: NDArray[np.float64]) -> float:
    """Return the smallest distance within which a quarter of all pairs lie; of many values, those at even ranks.

    It is at most half the range: a third or more of all pairs have both values on one side of the middle.
    """
    if len(ordered) > _PAIRED_VALUES:
        ordered = ordered[((np.arange(_PAIRED_VALUES) + 0.5) * (len(ordered) / _PAIRED_VALUES)).astype(np.intp)]
    distances = np.subtract.outer(ordered, ordered)[np.tri(len(ordered), k=-1, dtype=bool)]
    rank = -(-len(distances) // 4) - 1
    distances.partition(rank)
    return float(distances[rank])


def _standard_deviation(pooled: NDArray[np.float64], middle: float) -> float:
    """Return the standard deviation of sorted values, at any magnitude; overwrites them."""
    pooled -= middle
    exponent = math.frexp(max(-pooled[0], pooled[-1]))[1]
    np.ldexp(pooled, -exponent, out=pooled)
    pooled -= pooled.mean()
    np.square(pooled, out=pooled)
    return math.ldexp(math.sqrt(pooled.mean()), exponent)


def _copied_notes(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[str, ...]:
    """Describe the samples whose rows look copied.

    Rows of coarse data (rounded, counts, categories) repeat by themselves. Copies are told from these twice over: a
    coarse value that comes back in its own sample comes back as often in the other one, and where the samples do not
    overlap, distinct coarse values still lie on a grid, or are few.
    """
    x_hashes, y_hashes = _row_hashes(x), _row_hashes(y)
    notes = []
    for name, rows, hashes, others in (("x", x, x_hashes, y_hashes), ("y", y, y_hashes, x_hashes)):
        if not _repeats_stay_within(hashes, others):
            continue
        _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        n_repeated = np.count_nonzero(counts > 1)
        if n_repeated < _MIN_REPEATED_ROWS or len(first) < _MIN_DISTINCT_SHARE * len(rows):
            continue
        if any(_grid_share(column[first]) < n_repeated / len(first) / 4 for column in rows.T):
            notes.append(
                f"{len(rows) - len(first)} of {len(rows)} rows of {name} repeat an earlier row, more than coarse "
                "values explain; copies are not independent observations and overstate the evidence: keep one of each."
            )
    return tuple(notes)


def _row_hashes(rows: NDArray[np.float64]) -> NDArray[np.uint64]:
    hashes = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = hashes[start : start + _BLOCK_ROWS]
        for column in rows[start : start + _BLOCK_ROWS].T:
            block ^= (column + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
            block *= np.uint64(0xD6E8FEB86659FD93)
            block ^= block >> np.uint64(32)
    return hashes


def _repeats_stay_within(hashes: NDArray[np.uint64], others: NDArray[np.uint64]) -> bool:
    """Return whether rows repeat, and a pair of equal rows is less than a quarter as likely across samples as within.

    Of large samples only the rows in one bucket of the hash are looked at, which keeps equal rows together.
    """
    n_own, n_other = len(hashes), len(others)
    bits = (max(n_own, n_other) // _SCREENED_ROWS).bit_length()
    if bits:
        hashes, others = (h[h < np.uint64(1 << (64 - bits))] for h in (hashes, others))
    own = np.sort(hashes)
    n_repeats = np.count_nonzero(own[1:] == own[:-1])
    if n_repeats < max(_MIN_REPEATS, _MIN_REPEATS_SHARE * len(own)):
        return False
    values, counts = np.unique(own, return_counts=True)
    other = np.sort(others)
    other_counts = np.searchsorted(other, values, side="right") - np.searchsorted(other, values, side="left")
    within = float(counts @ (counts - 1)) / (n_own * (n_own - 1))
    across = float(counts @ other_counts) / (n_own * n_other)
    return across < within / 4


def _grid_share(values: NDArray[np.float64]) -> float:
    """Return the share of gaps between sorted values that look like those of a grid.

    Such gaps equal another smallest gap or the gap before them. If many are within a tenth of the gap before them, they
    count too (a grid seen through a logarithm, say). On a grid so coarse that a share of the values repeats, the share
    returned is of that size or larger; for continuous values it is near 0.
    """
    values = np.sort(values)
    gaps = np.diff(values)
    changes = np.abs(np.diff(gaps))
    rounding = 4 * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))
    equal = gaps <= 1.05 * gaps.min(where=gaps > rounding, initial=np.inf)
    equal[1:] |= changes <= 1e-3 * gaps[1:]
    n_equal = np.count_nonzero(equal) - 1  # one gap is the smallest in any case
    n_alike = np.count_nonzero(changes <= 0.1 * gaps[1:]) - 0.15 * len(gaps)  # chance makes 0.05 of them alike
    return float(max(n_equal, n_alike) / len(gaps))
