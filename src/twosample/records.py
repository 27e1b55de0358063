"""Frozen records to JSON and back: dataclasses of numbers, strings, tuples, arrays and other such records."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from twosample.errors import InputError

__all__ = ["Record", "digest", "freeze", "from_json", "to_json", "to_plain", "write_whole"]

_Record = TypeVar("_Record")

# The form of the files; it grows when older versions would misread them. Files without a number are of the first.
_SCHEMA = 1
# More links than this, one behind the other, are a circle.
_MOST_LINKS = 40


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
        """Plain numbers, strings, lists and dictionaries: schema, derived quantities, and every field."""
        return {"schema": _SCHEMA, **{name: to_plain(getattr(self, name)) for name in self._derived}, **to_plain(self)}

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
        elif isinstance(value, tuple):
            for item in value:
                if is_dataclass(item):
                    freeze(item)


def to_plain(value: Any) -> Any:
    """Plain numbers, strings, lists and dictionaries; a record with a method of this name knows better."""
    if hasattr(value, "to_plain"):
        return value.to_plain()
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    return value


def digest(record: Any) -> str:
    """A hash of all that a record holds: equal for equal records, on every machine.

    Examples
    --------
    >>> digest(("a", 1.0)) == digest(("a", 1.0)), digest(("a", 1.0)) == digest(("a", 1.5))
    (True, False)
    """
    total = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, np.ndarray):
            total.update(f"{value.shape}{value.dtype.str};".encode())
            total.update(value.tobytes())
        elif is_dataclass(value) and not hasattr(value, "to_plain"):
            for field in fields(value):
                total.update(f"{field.name}:".encode())
                add(getattr(value, field.name))
        elif isinstance(value, tuple):
            total.update(f"({len(value)}".encode())
            for item in value:
                add(item)
        else:
            total.update(f"{json.dumps(to_plain(value))};".encode())

    add(record)
    return total.hexdigest()


def to_json(content: dict[str, Any], path: str | Path | None) -> str:
    """JSON text, also written to `path` if one is given."""
    text = json.dumps(content, allow_nan=False)
    if path is not None:
        write_whole(Path(path), lambda file: file.write(text.encode()))
    return text


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place and move it there: at any moment the old file is there, or the whole new one.

    A link stays, and the file behind it is replaced. What cannot be replaced (a pipe, a terminal, a folder, a file that
    is not to be written) is written to directly, or refused as always.
    """
    target = _replaceable(path)
    if target is None:
        with path.open("wb") as file:
            write(file)
        return
    import secrets

    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0
    beside = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode or 0o666)) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if mode:
            os.chmod(beside, mode)
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and error.errno is not None:
            # About the file that was asked for, not about the one that stands in for it.
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _replaceable(path: Path) -> Path | None:
    """The file, behind all links, that a new one can take the place of; None for anything else."""
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        return None
    for _ in range(_MOST_LINKS):
        path = path.absolute()
        if path.parts[1:2] in (("dev",), ("proc",)):  # a link such as /dev/stdout is to what others write to as well
            return None
        if not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    return None


def from_json(kind: type[_Record], source: str | Path) -> _Record:
    """The record that `to_json` wrote, from JSON text or from a file (a `Path`)."""
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"source: not JSON ({error})", argument="source", remedy="pass the text of to_json or a pathlib.Path"
        ) from None
    _check_schema(content)
    try:
        return kind(**_arguments(kind, content))
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"source: not a result of twosample ({error})", argument="source") from None


def _check_schema(content: Any) -> None:
    schema = content.get("schema", 1) if isinstance(content, dict) else 1
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise InputError(f"source: not a result of twosample (its schema is {schema!r:.40})", argument="source")
    if schema > _SCHEMA:
        raise InputError(
            f"source: written by a newer version of twosample (schema {schema}; this version reads {_SCHEMA})",
            argument="source",
            remedy="update twosample",
        )


def _arguments(kind: Any, content: Any) -> dict[str, Any]:
    """Every field that the content has; what it lacks must have a default."""
    if not isinstance(content, dict):
        raise InputError(
            f"source: not a result of twosample ({kind.__name__} is {type(content).__name__})", argument="source"
        )
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in content and _is_required(field):
            raise InputError(
                f"source: not a result of this version of twosample ({kind.__name__} lacks {field.name!r})",
                argument="source",
            )
    return {
        field.name: _restore(hints[field.name], content[field.name]) for field in fields(kind) if field.name in content
    }


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _has_fields_of(kind: Any, content: Any) -> bool:
    """Whether the content has no other fields than the record, and all that have no default."""
    names = {field.name for field in fields(kind)}
    required = {field.name for field in fields(kind) if _is_required(field)}
    return isinstance(content, dict) and required <= content.keys() <= names


def _restore(hint: Any, value: Any) -> Any:
    """A value of the type that the hint says, from what `to_plain` made of it."""
    choices = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None and types.NoneType in choices:
        return None
    records = [choice for choice in choices if is_dataclass(choice)]
    for choice in choices:
        if hasattr(choice, "from_plain"):
            return choice.from_plain(value)
    if records:
        kind = next((record for record in records if _has_fields_of(record, value)), records[0])
        return kind(**_arguments(kind, value))  # type: ignore[operator]
    for choice in choices:
        if get_origin(choice) is np.ndarray:
            return np.asarray(value, dtype=get_args(get_args(choice)[1])[0])
    if isinstance(value, list):
        inner = next((get_args(choice)[0] for choice in choices if get_origin(choice) is tuple), None)
        return tuple(value if inner is None else (_restore(inner, item) for item in value))
    return value
