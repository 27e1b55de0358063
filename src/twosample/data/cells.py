"""Values of any type as numbers: which types are numbers, missing, times or something else, and what they become."""

from __future__ import annotations

import datetime
import math
import numbers
from collections import Counter
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.errors import Remedy, Setting

__all__ = [
    "MIXED",
    "NUMBERS",
    "OTHER",
    "TEXT",
    "TIMES",
    "Cells",
    "as_text",
    "from_objects",
    "from_series",
    "from_times",
    "is_missing",
]

# What a column may hold.
NUMBERS = "numbers"
TIMES = "dates or times"
TEXT = "text or categories"
COMPLEX = "complex numbers"
OTHER = "objects that are not numbers"
MIXED = "values that do not go together"
_MISSING = "missing values"
_REMEDIES: dict[str, Remedy] = {
    COMPLEX: "pass the real and imaginary parts as two columns",
    TEXT: (
        "encode them as numbers, such as one 0/1 column per category, or leave the column out; text in data frames is "
        "taken for categories by test, test_each and plan with model 'adaptive', and strings as such are compared by "
        "test with ",
        Setting("kernel", "kmer"),
    ),
    TIMES: "convert them to numbers, such as days since a start, or leave the column out",
    MIXED: "give the column values of one kind, or leave it out",
    OTHER: "convert them to floats, float('nan') where missing, or leave the column out",
}
# What arrays hold that are neither of numbers nor of objects.
_CONTENT_OF_KIND = {"c": COMPLEX, "S": TEXT, "T": TEXT, "U": TEXT}

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_DAY = datetime.timedelta(days=1)


class Cells(NamedTuple):
    """One column as read, and if it cannot be used the first row that shows why not, and what is there."""

    content: str  # `NUMBERS`, `TIMES`, or something that cannot be used, unless as categories
    values: Array | None = None  # as float64, NaN where missing, (n,); None where they cannot be used
    row: int = 0
    value: object = None
    alone: bool = False  # whether it is an exception: most values of the column can be used
    levels: tuple[str, ...] | None = None  # of categories, whose values are codes
    is_category: bool = False  # whether the type of the column says that it holds categories
    was_text: bool = False  # whether the numbers were given as text

    @property
    def remedy(self) -> Remedy:
        """What to do with a column that cannot be used."""
        return _REMEDIES[self.content]


def from_objects(column: NDArray[Any]) -> Cells:
    """Numbers from objects of any types, (n,); an array of text or the like has none.

    The values that most of them are decide what the column holds; where those can be used, one that is of another kind
    is the column's first bad one.

    Examples
    --------
    >>> from_objects(np.array([1, None, True, Decimal("2.5")], dtype=object)).values
    array([1. , nan, 1. , 2.5])
    >>> from_objects(np.array([1, 2, "three"], dtype=object))[:4]
    ('text or categories', None, 2, 'three')
    """
    if column.dtype.kind != "O":
        return _of_other_type(column)
    kinds = {kind: _kind(kind) for kind in set(map(type, column))}
    if set(kinds.values()) <= {NUMBERS, _MISSING}:
        return Cells(NUMBERS, _floats([None if kinds[type(value)] == _MISSING else value for value in column]))
    values = [None if is_missing(value) else value for value in column]
    of_each = [_MISSING if value is None else kinds[type(value)] for value in values]
    counts = Counter(of_each)
    del counts[_MISSING]
    if set(counts) <= {NUMBERS}:
        return Cells(NUMBERS, _floats(values))
    most = counts.most_common(1)[0][0]
    if len(counts) == 1 and most.startswith(TIMES):
        return Cells(TIMES, np.array([math.nan if value is None else _days(value) for value in values]))
    return _unusable(column, of_each, most)


def from_series(series: Any) -> Cells:
    """Numbers from a Series of narwhals."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        try:
            return Cells(NUMBERS, np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
        except ValueError:  # Arrow refuses whole numbers that a float rounds
            pass
    elif dtype in (nw.String, nw.Categorical, nw.Enum):
        present = series.drop_nulls()
        value = present[0] if len(present) else None
        row = int(series.is_null().arg_min() or 0)
        return Cells(TEXT, row=row, value=value, is_category=dtype != nw.String)
    elif dtype.is_temporal():
        if dtype == nw.Datetime and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        array = series.to_numpy()
        if array.dtype.kind in "Mm":
            return Cells(TIMES, from_times(array))
    return from_objects(np.fromiter(series.to_list(), dtype=object, count=len(series)))


def _of_other_type(column: NDArray[Any]) -> Cells:
    value = column[0].item() if len(column) and hasattr(column[0], "item") else None
    return Cells(_CONTENT_OF_KIND.get(column.dtype.kind, OTHER), value=value)


def _unusable(column: NDArray[Any], of_each: list[str], most: str) -> Cells:
    """A column that cannot be used, with the first row that shows why, where most values are of one content."""
    usable = most == NUMBERS or most.startswith(TIMES)
    row = next(row for row, kind in enumerate(of_each) if kind != _MISSING and (kind != most) == usable)
    content = of_each[row].split(";")[0]
    mixed = usable and (content == NUMBERS or most.startswith(content))  # a number among dates, a duration among them
    return Cells(MIXED if mixed else content, None, row, column[row], usable)


def from_times(column: NDArray[Any]) -> Array:
    """Days since 1970-01-01 of NumPy's dates, and days of its durations; NaN where missing."""
    durations = column - np.datetime64(0, "D") if column.dtype.kind == "M" else column
    return np.asarray(durations / np.timedelta64(1, "D"), dtype=np.float64)


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, NaT or pandas.NA.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, False, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


def as_text(value: Any) -> str:
    """A label as text; whole numbers alike whatever their type.

    Examples
    --------
    >>> as_text("red"), as_text(3.0), as_text(b"a")
    ('red', '3', 'a')
    """
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float | np.floating | Decimal) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def _kind(kind: type) -> str:
    """What values of a type are; times in three kinds that do not go together."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return _MISSING
    # NumPy's durations call themselves whole numbers.
    if issubclass(kind, np.timedelta64 | datetime.timedelta):
        return f"{TIMES}; durations"
    if issubclass(kind, datetime.date | np.datetime64):
        return f"{TIMES}; dates"
    if issubclass(kind, datetime.time):
        return f"{TIMES}; times of day"
    if issubclass(kind, numbers.Real | Decimal | np.bool_):
        return NUMBERS
    if issubclass(kind, str | bytes):
        return TEXT
    return COMPLEX if issubclass(kind, numbers.Complex) else OTHER


def _floats(values: list[Any]) -> Array:
    try:
        return np.array(values, dtype=np.float64)
    except (OverflowError, ValueError, TypeError):
        return np.array([_float(value) for value in values], dtype=np.float64)


def _float(value: Any) -> float:
    """A number as a float; infinite where it is too large for one."""
    if value is None:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (ValueError, TypeError):  # a signalling NaN
        return math.nan


def _days(value: Any) -> float:
    """Days since 1970-01-01 of a date, days of a duration, the share of the day of a time of day."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(from_times(np.array([value]))[0])
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return float((value - _EPOCH) / _DAY)
    if isinstance(value, datetime.date):
        return float(value.toordinal() - _EPOCH_ORDINAL)
    if isinstance(value, datetime.time):
        seconds = 60.0 * (60.0 * value.hour + value.minute) + value.second + 1e-6 * value.microsecond
        return seconds / 86400.0
    return float(value / _DAY)
