"""Tables as data frames of the library that the caller wants."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Literal

from twosample.errors import InputError, MissingExtraError

__all__ = ["FrameKind", "needed", "to_frame"]

FrameKind = Literal["pandas", "polars", "pyarrow"]

_KINDS = ("pandas", "polars", "pyarrow")


def to_frame(content: dict[str, Any], kind: FrameKind) -> Any:
    """A data frame of that library with these columns."""
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(
            f"kind: {kind!r} is unknown", argument="kind", remedy=f"use one of {', '.join(map(repr, _KINDS))}"
        )
    try:
        import_module(kind)
    except ModuleNotFoundError:
        raise MissingExtraError("to_frame", kind, None) from None
    import narwhals as nw

    return nw.from_dict(content, backend=kind).to_native()


def needed(present: Iterable[str], columns: tuple[str, ...] | None) -> list[str]:
    """The columns to read; all of them where one that is needed is not there, which is refused later."""
    names = list(present)
    return names if columns is None or not set(columns) <= set(names) else [name for name in names if name in columns]
