"""Frozen records to JSON and back: dataclasses of numbers, strings, tuples, arrays and other such records."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
import types
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self, TypeVar, get_args, get_origin

import numpy as np

from twosample.common.constraints import FieldError, alternatives, checked, hints_of, item_type, items_of_tuple
from twosample.common.floating import own_errors
from twosample.common.partial_files import opened_beside
from twosample.common.stored import CHECKSUM, json_checksum, read_arrays, read_json
from twosample.common.words import shortened
from twosample.errors import InputError, InputTypeError

__all__ = [
    "DIGESTED_IF_SET",
    "NOT_DIGESTED",
    "Comparable",
    "Record",
    "digest",
    "freeze",
    "load_arrays",
    "to_json",
    "to_plain",
    "write_whole",
]

_Record = TypeVar("_Record")

# The form of the files; it grows when older versions would misread them. Files without a number are of the first.
_SCHEMA = 3
# Numbers that follow from others may be off by this share in a file, which is more than rounding.
_ROUNDED = 1e-6
# More links than this, one behind the other, are a circle.
_MOST_LINKS = 40

# Of a text within a short form.
_LONGEST_TEXT = 40
# Of a path in an error message.
_LONGEST_PATH = 200
# Fields with this metadata do not tell records apart for `digest`.
NOT_DIGESTED = {"digest": False}
# And those with this do only where they are neither None nor empty.
DIGESTED_IF_SET = {"digest": "if set"}


class Comparable:
    """What results and their parts are: equal where they hold the same, and short when printed.

    Examples
    --------
    >>> @dataclass(frozen=True, eq=False, repr=False)
    ... class Curve(Comparable):
    ...     name: str
    ...     heights: np.ndarray
    >>> Curve("c", np.arange(3.0)) == Curve("c", np.arange(3.0)), Curve("c", np.arange(3.0)) == Curve("c", np.ones(3))
    (True, False)
    >>> Curve("c", np.ones((500, 2)))
    Curve(name='c', heights=(500, 2) array)
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Work with our own floating-point errors in all public methods."""
        super().__init_subclass__(**options)
        own_errors(cls)

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same kind and holds the same, arrays by value."""
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        """Return a hash of the numbers and texts, and of the shapes of the arrays."""
        return hash((type(self).__name__, *(_key(getattr(self, field.name)) for field in fields(self))))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """Return numbers and texts, and of what is longer how long it is."""
        shown = (f"{field.name}={_short(getattr(self, field.name))}" for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(shown)})"


def _equal(one: Any, other: Any) -> bool:
    if hasattr(one, "shape") or hasattr(other, "shape"):
        if one is None or other is None:
            return False
        return bool(np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _key(value: Any) -> Any:
    """What equal values have in common, to be hashed."""
    return value.shape if hasattr(value, "shape") else value if isinstance(value, int | float | str) else None


def _short(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"{value.shape} array"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return repr(shortened(value, _LONGEST_TEXT))
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})" if _is_small(value) else f"{len(value)} items"
    return f"{type(value).__name__}(...)" if is_dataclass(value) else repr(value)


def _is_small(items: tuple[Any, ...]) -> bool:
    return len(items) <= 3 and all(isinstance(item, int | float | str) for item in items)


@dataclass(frozen=True, eq=False, repr=False)
class Record(Comparable):
    """What a result is: frozen, arrays included, prints its summary, and has a JSON form that can be read back."""

    _derived: ClassVar[tuple[str, ...]] = ()
    # The oldest form of the files whose content means the same today.
    _oldest: ClassVar[int] = 1
    # Names that other modules use and users need not see.
    _internal: ClassVar[tuple[str, ...]] = ()

    def __dir__(self) -> list[str]:
        """List what users need."""
        return sorted(name for name in super().__dir__() if not name.startswith("_") and name not in self._internal)

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
        """Read a result back: from JSON text, or from the path of a file, as `to_json` takes it.

        A string that starts with a brace is JSON text, any other is a path.

        Examples
        --------
        >>> import twosample as ts
        >>> result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9])
        >>> ts.TwoSampleResult.from_json(result.to_json()).log_bf10 == result.log_bf10
        True
        """
        is_text = isinstance(source, str) and source.lstrip()[:1] == "{"
        name = "source" if is_text else f"source: {str(source)!r}"
        try:
            content = read_json(source if is_text else _text_of(source))  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError | InputTypeError):
                raise
            raise InputError(
                f"{name}: not JSON ({error})", argument="source", remedy="pass what to_json returned or its path"
            ) from None
        try:
            return cls._from_content(content)
        except _Refused as error:
            raise InputError(f"{name}: {error}", argument="source", remedy=error.remedy) from None
        except (TypeError, ValueError, AttributeError, KeyError, IndexError, ArithmeticError, RecursionError) as error:
            found = error.message if isinstance(error, InputError) else error
            raise InputError(
                f"{name}: not a result of this version of twosample ({found})", argument="source"
            ) from None

    @classmethod
    def _from_content(cls, content: Any) -> Self:
        """The record of a file, with every field checked, and with numbers that follow from others compared."""
        schema = _schema_of(content, cls._oldest)
        if not isinstance(content, dict):
            raise _Refused(f"not a result of twosample ({cls.__name__} is {type(content).__name__})")
        if CHECKSUM in content and content[CHECKSUM] != json_checksum(content):
            raise _Refused(
                "its content is not what was written: the checksum differs",
                f"write the file again; or, if it was changed on purpose, remove {CHECKSUM!r} from it",
            )
        record = checked(cls(**restored(cls, cls._from_older(content))))
        if schema == _SCHEMA:
            for name in cls._derived:
                value = getattr(record, name)
                if name in content and isinstance(value, float) and not _is_near(content[name], value):
                    raise FieldError(name, f"is {content[name]!r:.40}, and {value:.6g} follows from the rest")
        return record

    @classmethod
    def _from_older(cls, content: dict[str, Any]) -> dict[str, Any]:
        """The fields of this version, from the content of a file that an older one may have written."""
        return content


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
                wanted, inner = field.metadata.get("digest", True), getattr(value, field.name)
                empty = inner is None or (isinstance(inner, tuple) and not inner)
                if wanted is True or (wanted and not empty):
                    total.update(f"{field.name}:".encode())
                    add(inner)
        elif isinstance(value, tuple):
            total.update(f"({len(value)}".encode())
            for item in value:
                add(item)
        else:
            total.update(f"{json.dumps(to_plain(value))};".encode())

    add(record)
    return total.hexdigest()


def to_json(content: dict[str, Any], path: str | Path | None) -> str:
    """JSON text with a checksum, also written to `path` if one is given."""
    text = json.dumps({**content, CHECKSUM: json_checksum(content)}, allow_nan=False)
    if path is not None:
        write_whole(Path(path), lambda file: file.write(text.encode()))
    return text


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place and move it there: at any moment the old file is there, or the whole new one.

    A link stays, and the file behind it is replaced. What writers that were killed left beside it is removed. What
    cannot be replaced (a pipe, a terminal, a folder, a file that is not to be written) is written to directly, or
    refused as always.
    """
    target = _replaceable(path)
    if target is None:
        with path.open("wb") as file:
            write(file)
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0
    try:
        with opened_beside(target, mode) as file:
            write(file)
    except OSError as error:
        if error.errno is None:
            raise
        # About the file that was asked for, not about the one that stands in for it.
        raise OSError(error.errno, error.strerror, str(path)) from None


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


def load_arrays(path: str | Path | bytes, build: Callable[[dict[str, Any]], _Record], what: str) -> _Record:
    """What `build` makes of the arrays in a file (npz, without pickle), or in its bytes; `what` says what it is.

    What `build` raises of the kinds that damaged content leads to becomes a refusal of the file.
    """
    import struct
    import zlib
    from zipfile import BadZipFile

    try:
        opened: BinaryIO = io.BytesIO(path) if isinstance(path, bytes) else Path(path).open("rb")
        with opened as file:
            arrays = read_arrays(file)
        return build(arrays)
    except FileNotFoundError:
        raise
    except (
        ValueError, LookupError, TypeError, AttributeError, EOFError, OSError, RuntimeError, ArithmeticError,
        MemoryError, BadZipFile, zlib.error, struct.error,
    ) as error:  # fmt: skip
        why = f"it lacks {error}" if type(error) is KeyError else str(error) or type(error).__name__
        if isinstance(error, InputError):
            why = error.message.removeprefix("source: ")
        if isinstance(path, bytes):
            raise InputError(f"content: these bytes do not hold {what} ({why})", argument="content") from None
        raise InputError(f"path: {str(path)!r} does not hold {what} ({why})", argument="path") from None


def _text_of(path: object) -> str:
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(
            f"source: expected JSON text or a path, got {type(path).__name__}",
            argument="source",
            remedy="pass what to_json returned or its path",
        )
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        why = "there is no such file"
    except UnicodeDecodeError:
        why = "not JSON (it is no text in UTF-8)"
    except (OSError, ValueError) as error:  # a folder, a file that is not to be read, no path at all
        why = getattr(error, "strerror", None) or str(error)
    shown = str(path) if len(str(path)) <= _LONGEST_PATH else f"{str(path)[:_LONGEST_PATH]}..."
    raise InputError(f"source: {shown!r}: {why}", argument="source", remedy="pass what to_json returned or its path")


class _Refused(ValueError):
    """Why a file is refused, and what to do."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


def _schema_of(content: Any, oldest: int) -> int:
    """The form of a file, which this version and this kind of record can read."""
    schema = content.get("schema", 1) if isinstance(content, dict) else 1
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise _Refused(f"not a result of twosample (its schema is {schema!r:.40})")
    if schema > _SCHEMA:
        raise _Refused(
            f"written by a newer version of twosample (schema {schema!s:.20}; this version reads {_SCHEMA})",
            "update twosample",
        )
    if schema < oldest:
        raise _Refused(
            f"written by an older version of twosample (schema {schema}), whose models were others", "make it anew"
        )
    return schema


def _is_near(stored: Any, value: float) -> bool:
    """Whether a stored number is the one that follows from the others, but for rounding."""
    is_number = isinstance(stored, float | int) and not isinstance(stored, bool)
    return is_number and math.isclose(stored, value, rel_tol=_ROUNDED, abs_tol=_ROUNDED)


def restored(kind: Any, content: Any) -> dict[str, Any]:
    """The fields of a record that the content has; what it lacks must have a default."""
    if not isinstance(content, dict):
        raise FieldError("", f"{kind.__name__} is {type(content).__name__}")
    hints = hints_of(kind)
    for name in _required(kind):
        if name not in content:
            raise FieldError("", f"{kind.__name__} lacks {name!r}")
    return {
        field.name: _restore(hints[field.name], content[field.name], field.name)
        for field in fields(kind)
        if field.name in content
    }


def _required(kind: Any) -> list[str]:
    """The fields without a default."""
    return [field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING]


def _fitting(records: list[Any], content: Any) -> Any:
    """The record that the content is of: one with no other fields, else one whose required fields it has."""
    given = set(content) if isinstance(content, dict) else set()
    complete = [record for record in records if given.issuperset(_required(record))]
    exact = [record for record in complete if given <= {field.name for field in fields(record)}]
    return [*exact, *complete, *records][0]


def _restore(hint: Any, value: Any, where: str) -> Any:
    """A value of the type that the hint says, from what `to_plain` made of it; `checked` says whether it fits."""
    choices = alternatives(hint)
    if value is None and types.NoneType in choices:
        return None
    records = [choice for choice in choices if is_dataclass(choice)]
    try:
        for choice in choices:
            if hasattr(choice, "from_plain"):
                return choice.from_plain(value)
        if records:
            kind = _fitting(records, value)
            return kind(**restored(kind, value))
    except FieldError as error:
        raise error.within(where) from None
    for choice in choices:
        if get_origin(alternatives(choice)[0]) is np.ndarray:
            return _array(item_type(alternatives(choice)[0]), value, where)
    return _restore_items(choices, value, where)


def _restore_items(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    """A tuple from a list, and a dictionary, of restored items; anything else as it is."""
    if isinstance(value, list):
        kinds = next((get_args(choice) for choice in choices if get_origin(choice) is tuple), (Any, ...))
        return tuple(_restore(kind, item, name) for kind, item, name in items_of_tuple(kinds, value, where))
    if isinstance(value, dict):
        inner = next((get_args(choice)[1] for choice in choices if get_origin(choice) is dict), Any)
        return {name: _restore(inner, item, where) for name, item in value.items()}
    return value


def _array(kind: Any, value: Any, where: str) -> Any:
    """An array of numbers of that type, from lists of numbers; of None, where a number is not known, NaN."""
    if not isinstance(value, list):
        raise FieldError(where, f"is {type(value).__name__}, not a list")
    try:
        found = np.asarray(value)
    except (ValueError, OverflowError):
        raise FieldError(where, "holds lists of different lengths") from None
    wanted = np.dtype(kind)
    if found.dtype.kind == "O" and wanted.kind == "f":
        if not all(item is None or type(item) in (int, float) for item in found.flat):
            raise FieldError(where, "holds what is not a number")
        found = found.astype(np.float64)
    if found.size and found.dtype.kind not in {"f": "fiu", "i": "i", "u": "iu", "b": "b"}[wanted.kind]:
        raise FieldError(where, f"holds {found.dtype}, not {wanted}")
    return found.astype(wanted)
