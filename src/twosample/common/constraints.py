"""What fields of records must hold, declared beside them with `Annotated`, and checked in one place on load."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from twosample.common.words import shortened

__all__ = [
    "GAPS",
    "INCREASING",
    "NONNEGATIVE",
    "POSITIVE",
    "SHARES",
    "SORTED",
    "Axes",
    "Count",
    "FieldError",
    "Nonnegative",
    "Ones",
    "Ordered",
    "Places",
    "Positive",
    "SampleSize",
    "Share",
    "Size",
    "Within",
    "alternatives",
    "checked",
    "hints_of",
    "item_type",
    "items_of_tuple",
]  # fmt: skip

_Checked = TypeVar("_Checked")
_Axes = dict[str, int]

# Sums of probabilities may be off by this much, which is more than rounding.
_ROUNDED_SUM = 1e-6
# And upper ends of ranges by this share.
_ROUNDED = 1e-9
_LARGEST_INTEGER = 2**63 - 1


class FieldError(ValueError):
    """A field holds what it cannot: its name, dotted within records, and what is wrong."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}" if field else problem)
        self.field, self.problem = field, problem

    def within(self, outer: str) -> FieldError:
        """The same, of a record that is in this field of another."""
        if not outer or not self.field or self.field.startswith("["):
            return FieldError(f"{outer}{self.field}", self.problem)
        return FieldError(f"{outer}.{self.field}", self.problem)


@dataclass(frozen=True)
class Within:
    """Numbers from `low` to `high`; `above` excludes `low` itself."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False

    def problem(self, value: Any, axes: _Axes) -> str | None:
        """What is wrong with a value, or None; `axes` are the sizes of the axes of the record."""
        numbers = np.asarray(value)
        bad = (numbers > self.high * (1.0 + _ROUNDED)) | ((numbers <= self.low) if self.above else (numbers < self.low))
        if not bad.any():
            return None
        first = numbers[bad].flat[0]
        return f"{'holds' if numbers.ndim else 'is'} {first:.6g}, and must be {self._words}"

    @property
    def _words(self) -> str:
        if math.isinf(self.high):
            return "positive" if self.above and self.low == 0.0 else f"at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Axes:
    """The names of the axes of an array or tuple, or their sizes; axes of one name have one size in a record.

    Names in capitals hold for the records in a record too. `optional` allows no items at all.
    """

    names: tuple[str | int, ...]
    least: int
    optional: bool

    def __init__(self, *names: str | int, least: int = 0, optional: bool = False) -> None:
        for name, value in (("names", names), ("least", least), ("optional", optional)):
            object.__setattr__(self, name, value)

    def problem(self, value: Any, axes: _Axes) -> str | None:
        """As that of `Within`; fixes the sizes of axes that are not known yet."""
        shape = np.shape(value) if hasattr(value, "shape") else (len(value),)
        if 0 in shape and self.optional:
            return None
        if len(shape) != len(self.names):
            if self.least == 0 and 0 in shape[: len(self.names)]:  # JSON does not tell more of these
                return None
            return f"has the shape {shape}, and must have {len(self.names)} axes"
        if min(shape, default=0) < self.least:
            return "is empty"
        return self._differs(shape, axes)

    def _differs(self, shape: tuple[int, ...], axes: _Axes) -> str | None:
        """What is wrong with a shape of as many axes; fixes the sizes of those that are not known yet."""
        wanted = tuple(name if isinstance(name, int) else axes.get(name) for name in self.names)
        if any(size not in (None, found) for size, found in zip(wanted, shape, strict=True)):
            expected = "(" + ", ".join("any" if size is None else str(size) for size in wanted) + ")"
            return f"has the shape {shape}, which does not go with the rest: {expected} is expected"
        for name, size in zip(self.names, shape, strict=True):
            if isinstance(name, str) and axes.setdefault(name, size) != size:
                return f"has the shape {shape}, and must be square"
        return None


@dataclass(frozen=True)
class Size:
    """A whole number that is the size of the axis of that name."""

    name: str

    def problem(self, value: Any, axes: _Axes) -> str | None:
        """As that of `Axes`."""
        found = axes.setdefault(self.name, value)
        return None if found == value else f"is {value}, and there are {found}"


@dataclass(frozen=True)
class Places:
    """Whole numbers that are places along the axis of that name."""

    name: str

    def problem(self, value: Any, axes: _Axes) -> str | None:
        """As that of `Axes`."""
        return Within(0, axes.get(self.name, _LARGEST_INTEGER) - 1).problem(value, axes)


@dataclass(frozen=True)
class Ordered:
    """Increasing along the last axis, or along the one given; not `strictly`, equal values are allowed."""

    strictly: bool = False
    axis: int = -1

    def problem(self, value: Any, axes: _Axes) -> str | None:
        """As that of `Within`."""
        numbers = np.asarray(value)
        steps = np.diff(numbers, axis=self.axis)
        wrong = (steps <= 0) if self.strictly else (steps < -_ROUNDED * np.abs(numbers).max(initial=0.0))
        return f"is not {'increasing' if self.strictly else 'sorted'}" if wrong.any() else None


@dataclass(frozen=True)
class Ones:
    """Numbers that add up to one; unless `signed` they are shares."""

    signed: bool = False

    def problem(self, value: Any, axes: _Axes) -> str | None:
        """As that of `Within`."""
        numbers = np.asarray(value)
        total = float(numbers.sum())
        wrong = (not self.signed and numbers.min(initial=0.0) < -_ROUNDED_SUM) or abs(total - 1.0) > _ROUNDED_SUM
        return f"adds up to {total:.6g}, and must hold shares that add up to 1" if wrong else None


class _Gaps:
    """Numbers that may be unknown: NaN, and None in JSON."""

    def problem(self, value: Any, axes: _Axes) -> str | None:
        return None


GAPS = _Gaps()
INCREASING, SORTED = Ordered(strictly=True), Ordered(strictly=False)
NONNEGATIVE, POSITIVE, SHARES = Within(0), Within(0, above=True), Within(0, 1)

Count = Annotated[int, NONNEGATIVE]
SampleSize = Annotated[int, Within(1)]
Share = Annotated[float, SHARES]
Nonnegative = Annotated[float, NONNEGATIVE]
Positive = Annotated[float, POSITIVE]


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields of a record, with what they are annotated with."""
    return get_type_hints(kind, include_extras=True)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types that a hint allows."""
    if get_origin(hint) is Annotated:
        return alternatives(get_args(hint)[0])
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def item_type(hint: Any) -> Any:
    """The type of the numbers in an array."""
    return get_args(get_args(hint)[1])[0]


def checked(record: _Checked) -> _Checked:
    """The record, with every field of it and of the records in it checked; raises a `FieldError`.

    A field must have its type, finite numbers, and what it is annotated with; a record with a method `_problems` says
    what else does not go together. A field that has its default is not looked at.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Sample:
    ...     size: Count
    ...     pvalue: Share | None
    >>> checked(Sample(12, None))
    Sample(size=12, pvalue=None)
    >>> checked(Sample(12, -5.0))
    Traceback (most recent call last):
    twosample.common.constraints.FieldError: pvalue is -5, and must be between 0 and 1
    """
    _check_record(record, {}, "")
    return record


def _check_record(record: Any, axes: _Axes, where: str) -> None:
    """Fields first, so that the sizes of all axes are known, then the records in them."""
    kind: Any = type(record)
    axes, hints = dict(axes), hints_of(kind)
    inner: list[tuple[Any, str]] = []
    for field in fields(record):
        value = getattr(record, field.name)
        if not _is_default(field, value):
            inner += _check(hints[field.name], value, axes, f"{where}{field.name}")
    shared = {name: size for name, size in axes.items() if name.isupper()}
    for value, name in inner:
        _check_record(value, shared, f"{name}.")
    if hasattr(record, "_problems"):
        for problem in record._problems():
            raise FieldError(where.removesuffix("."), problem)


def _is_default(field: Field[Any], value: Any) -> bool:
    if isinstance(value, np.ndarray) or field.default is MISSING:
        return False
    return value is field.default or (type(value) is float and value == field.default)


def _check(hint: Any, value: Any, axes: _Axes, where: str, gaps: bool = False) -> Iterator[tuple[Any, str]]:
    """Check a value against a hint; returns the records in it, and their names."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        yield from _check(arguments[0], value, axes, where, gaps or GAPS in arguments)
        for constraint in arguments[1:] if value is not None else ():
            if (problem := constraint.problem(value, axes)) is not None:
                raise FieldError(where, problem)
    elif origin in (Union, types.UnionType):
        yield from _check_any(arguments, value, axes, where)
    elif origin in (tuple, dict):
        for kind, item, place in _items(origin, arguments, value, where):
            yield from _check(kind, item, axes, place)
    elif origin is np.ndarray:
        _check_array(item_type(hint), value, where, gaps)
    elif origin is Literal:
        _check_choice(arguments, value, where)
    elif hint is not Any:
        _check_plain(hint, value, where)
        if is_dataclass(value):
            yield value, where


def _items(origin: Any, arguments: tuple[Any, ...], value: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    """The hint, the value and the name of each item of a tuple or a dictionary."""
    if not isinstance(value, origin):
        raise FieldError(where, f"is {_kind(value)}, not a {'list' if origin is tuple else 'table'}")
    if origin is dict:
        for key, item in value.items():
            _check_plain(str, key, where)
            yield arguments[1], item, f"{where}[{shortened(key)!r}]"
        return
    yield from items_of_tuple(arguments, value, where)


def items_of_tuple(kinds: tuple[Any, ...], items: Sequence[Any], where: str) -> Iterator[tuple[Any, Any, str]]:
    """The hint, the value and the name of each item of a tuple whose hint has these arguments."""
    each = kinds[:1] * len(items) if kinds[1:] == (...,) else kinds
    if len(each) != len(items):
        raise FieldError(where, f"has {len(items)} items, not {len(each)}")
    for number, (kind, item) in enumerate(zip(each, items, strict=True)):
        yield kind, item, f"{where}[{number}]"


def _check_any(choices: tuple[Any, ...], value: Any, axes: _Axes, where: str) -> list[tuple[Any, str]]:
    """Check a value against any of several hints; what is wrong by the first of them counts."""
    first: FieldError | None = None
    for choice in choices:
        if choice is types.NoneType:
            if value is None:
                return []
            continue
        try:
            return list(_check(choice, value, axes, where))
        except FieldError as error:
            first = first or error
    assert first is not None
    raise first


def _check_choice(choices: tuple[Any, ...], value: Any, where: str) -> None:
    if not any(type(value) is type(one) and value == one for one in choices):
        raise FieldError(where, f"is {_shown(value)}, not one of {', '.join(map(repr, choices))}")


def _check_array(kind: Any, value: Any, where: str, gaps: bool) -> None:
    if not isinstance(value, np.ndarray):
        raise FieldError(where, f"is {_kind(value)}, not an array")
    if value.dtype != np.dtype(kind):
        raise FieldError(where, f"holds {value.dtype}, not {np.dtype(kind)}")
    if value.dtype.kind == "f" and not (np.isfinite(value) | (gaps & np.isnan(value))).all():
        raise FieldError(where, "holds what is not a finite number")


def _check_plain(kind: Any, value: Any, where: str) -> None:
    """Check a single value."""
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise FieldError(where, f"is {_kind(value)}, not a number")
        if not math.isfinite(value):
            raise FieldError(where, f"is {value}, not a finite number")
    elif kind is int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise FieldError(where, f"is {_shown(value)}, not a whole number")
        if abs(value) > _LARGEST_INTEGER:
            raise FieldError(where, "is a whole number of more than 64 bits")
    elif kind is str:
        if not isinstance(value, str):
            raise FieldError(where, f"is {_kind(value)}, not text")
        if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
            raise FieldError(where, "is text with half a character")
    elif not isinstance(value, kind):
        raise FieldError(where, f"is {_kind(value)}, not {getattr(kind, '__name__', kind)}")


def _kind(value: Any) -> str:
    return type(value).__name__


def _shown(value: Any) -> str:
    return shortened(repr(value)) if isinstance(value, str | int | float) else _kind(value)
