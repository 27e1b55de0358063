"""Frozen records to JSON and back: dataclasses of numbers, strings, tuples, arrays and other such records."""

from __future__ import annotations

import json
import types
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from twosample.errors import InputError

__all__ = ["Record", "freeze", "from_json", "to_json", "to_plain"]

_Record = TypeVar("_Record")


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """What a result is: frozen, arrays included, prints its summary, and has a JSON form that can be read back."""

    _derived: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Make the arrays as unchangeable as the record."""
        freeze(self)

    def summary(self) -> str:
        """The answer in a few lines of text."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries: the derived quantities first, then every field."""
        return {**{name: getattr(self, name) for name in self._derived}, **to_plain(self)}

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text, also written to `path` if one is given."""
        return to_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, source: str | Path) -> Self:
        """Read a result back, from JSON text or from a file (a `Path`).

        Examples
        --------
        >>> import twosample as ts
        >>> result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9])
        >>> ts.TwoSampleResult.from_json(result.to_json()).log_bf10 == result.log_bf10
        True
        """
        return from_json(cls, source)


def freeze(record: Any) -> None:
    """Make the arrays of a record, and of the records in it, read-only."""
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif is_dataclass(value):
            freeze(value)


def to_plain(value: Any) -> Any:
    """Plain numbers, strings, lists and dictionaries."""
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    return value


def to_json(content: dict[str, Any], path: str | Path | None) -> str:
    """JSON text, also written to `path` if one is given."""
    text = json.dumps(content, allow_nan=False)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def from_json(kind: type[_Record], source: str | Path) -> _Record:
    """The record that `to_json` wrote, from JSON text or from a file (a `Path`)."""
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"source: not JSON ({error}); pass the text of to_json or a pathlib.Path") from None
    try:
        return kind(**_arguments(kind, content))
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"source: not a result of twosample ({error})") from None


def _arguments(kind: Any, content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise InputError(f"source: not a result of twosample ({kind.__name__} is {type(content).__name__})")
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in content:
            raise InputError(
                f"source: not a result of this version of twosample ({kind.__name__} lacks {field.name!r})"
            )
    return {field.name: _restore(hints[field.name], content[field.name]) for field in fields(kind)}


def _restore(hint: Any, value: Any) -> Any:
    """A value of the type that the hint says, from what `to_plain` made of it."""
    choices = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None and types.NoneType in choices:
        return None
    records = [choice for choice in choices if is_dataclass(choice)]
    if records:
        # Of several records the one with these fields.
        kind = next(
            (k for k in records if isinstance(value, dict) and {f.name for f in fields(k)} == set(value)), records[0]
        )
        return kind(**_arguments(kind, value))  # type: ignore[operator]
    for choice in choices:
        if get_origin(choice) is np.ndarray:
            return np.asarray(value, dtype=get_args(get_args(choice)[1])[0])
    return tuple(value) if isinstance(value, list) else value
