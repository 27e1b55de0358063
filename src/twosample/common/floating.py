"""What NumPy does where a number overflows or underflows is ours to say in the package, whatever the caller has set."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np

__all__ = ["own_errors"]

_Public = TypeVar("_Public", bound=Callable[..., Any])
# Those of NumPy: what underflows is zero, and the rest is a warning, which no input should bring about.
_OWN: dict[str, Any] = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
_SPECIAL = ("__init__", "__repr__", "_repr_html_")


def own_errors(public: _Public) -> _Public:
    """Decorate a public function, or a class for all its public methods and properties: `np.errstate` is our own there.

    Examples
    --------
    >>> @own_errors
    ... def half_of_the_smallest():
    ...     return float(np.array(5e-324) / 2)
    >>> with np.errstate(all="raise"):
    ...     half_of_the_smallest()
    0.0
    """
    if not isinstance(public, type):
        decorated: _Public = _decorated(public)
        return decorated
    for name, member in list(vars(public).items()):
        if name.startswith("_") and name not in _SPECIAL:
            continue
        if isinstance(member, cached_property):
            member.func = _decorated(member.func)
        elif isinstance(member, property) and member.fget is not None:
            setattr(public, name, property(_decorated(member.fget)))
        elif isinstance(member, classmethod | staticmethod):
            setattr(public, name, type(member)(_decorated(member.__func__)))
        elif callable(member) and hasattr(member, "__code__"):
            setattr(public, name, _decorated(member))
    return public


def _decorated(function: Any) -> Any:
    @wraps(function)
    def with_own_errors(*args: Any, **options: Any) -> Any:
        with np.errstate(**_OWN):
            return function(*args, **options)

    return with_own_errors
