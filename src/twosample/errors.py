"""The errors and warnings of the package: each names the argument, what was wrong and what to do."""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = [
    "AccuracyWarning",
    "ConvergenceWarning",
    "DatesWarning",
    "DependentRowsWarning",
    "DownloadError",
    "DroppedDataWarning",
    "DuplicateRowsWarning",
    "FlatFeaturesWarning",
    "IdentifierWarning",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "OldPackageError",
    "ReadingWarning",
    "Remedy",
    "Role",
    "Setting",
    "TwoSampleWarning",
    "collected_warnings",
    "emit",
    "warn",
]

_PACKAGE_FOLDER = os.path.join(os.path.dirname(__file__), "")


@dataclass(frozen=True)
class Setting:
    """An argument and the value to give it, in a remedy; it prints as in Python, and other interfaces reword it.

    Examples
    --------
    >>> print(Setting("nan_policy", "omit"))
    nan_policy='omit'
    """

    name: str
    value: object

    def __str__(self) -> str:
        """Return the setting as an argument in a call."""
        return f"{self.name}={self.value!r}"


Remedy = str | tuple[str | Setting, ...]


class Role(str):
    """What messages call an input, such as "group 'a'", and the argument that it came in: errors name that one.

    Examples
    --------
    >>> role = Role("group 'a'", "groups")
    >>> InputError(f"{role} is empty", argument=role).argument
    'groups'
    """

    argument: str

    def __new__(cls, label: str, argument: str) -> "Role":
        """Make the label."""
        role = super().__new__(cls, label)
        role.argument = argument
        return role


class _Explained(Exception):
    """What was wrong, with which argument, and what to do about it."""

    message: str  # what was wrong; starts with the name of the argument where one is to blame
    argument: str | None  # the name of that argument ("x and y" where it takes both to be wrong)
    remedy: Remedy | None  # what to do: text, or a tuple of text and settings

    def __init__(self, message: str, *, argument: str | None = None, remedy: Remedy | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument.argument if isinstance(argument, Role) else argument
        self.remedy = remedy

    def render(self, setting: Callable[[Setting], str] = str) -> str:
        """Message and remedy in one line, with each setting as that function words it.

        Examples
        --------
        >>> error = InputError("x is short", argument="x", remedy=("add rows or pass ", Setting("paired", True)))
        >>> error.render()
        'x is short; add rows or pass paired=True'
        >>> error.render(lambda setting: f"--{setting.name}")
        'x is short; add rows or pass --paired'
        """
        if self.remedy is None:
            return self.message
        parts = (self.remedy,) if isinstance(self.remedy, str) else self.remedy
        return f"{self.message}; {''.join(part if isinstance(part, str) else setting(part) for part in parts)}"

    def __str__(self) -> str:
        """Return message and remedy."""
        return self.render()


class InputError(_Explained, ValueError):
    """An argument has the right type but an unusable value."""


class InputTypeError(_Explained, TypeError):
    """An argument has a type that cannot be used."""


class MissingExtraError(ImportError):
    """An optional dependency is needed and not installed; without an extra, it is installed by its own name."""

    def __init__(self, caller: str, package: str, extra: str | None) -> None:
        wanted = package if extra is None else f"'twosample[{extra}]'"
        super().__init__(f"{caller} needs {package}; install it with: pip install {wanted}", name=package)
        self._arguments: tuple[str | None, ...] = (caller, package, extra)

    def __reduce__(self) -> tuple[type, tuple[str | None, ...]]:
        """Return what pickle makes the error anew from."""
        return type(self), self._arguments


class OldPackageError(MissingExtraError):
    """A package that is always needed is too old."""

    def __init__(self, package: str, found: str, lowest: str) -> None:
        message = f"twosample needs {package} {lowest} or newer, and {found} is installed"
        ImportError.__init__(self, f"{message}; replace it with: pip install '{package}>={lowest}'", name=package)
        self._arguments = package, found, lowest


class DownloadError(OSError):
    """A data file could not be downloaded, or what came is not the file expected."""


class TwoSampleWarning(_Explained, UserWarning):
    """Base of every warning of the package."""


class DroppedDataWarning(TwoSampleWarning):
    """Rows, columns, pairs or records were left out of the analysis."""


class ReadingWarning(TwoSampleWarning):
    """A file, or text in a table, does not say how it is to be read, and was read in the likeliest way."""


class DuplicateRowsWarning(TwoSampleWarning):
    """Rows are repeated, within a sample or across both, more often than the values' own coarseness explains."""


class DependentRowsWarning(TwoSampleWarning):
    """Rows are like the ones before them, so that they say less than as many independent rows would."""


class DatesWarning(TwoSampleWarning):
    """Columns of dates or times were read as numbers of days."""


class IdentifierWarning(TwoSampleWarning):
    """A column looks as if it numbers the rows; where its values differ between samples, it would decide the answer."""


class FlatFeaturesWarning(TwoSampleWarning):
    """The features hardly vary from row to row, so that nothing follows from them."""


class AccuracyWarning(TwoSampleWarning):
    """A numerical result did not reach the accuracy asked for."""


class ConvergenceWarning(TwoSampleWarning):
    """The chains of a sampler disagree, hardly move, or are too short for what was asked of them."""


_collecting: ContextVar[list[TwoSampleWarning] | None] = ContextVar("collecting", default=None)


@contextmanager
def collected_warnings() -> Iterator[list[TwoSampleWarning]]:
    """Keep the warnings of the package in a list in place of issuing them, in this thread and for its own work only.

    What `warnings.catch_warnings` does is for all threads: there the warnings of one would reach another.

    Examples
    --------
    >>> with collected_warnings() as said:
    ...     warn(AccuracyWarning("the integral is rough"))
    >>> print(*said)
    the integral is rough
    """
    said: list[TwoSampleWarning] = []
    token = _collecting.set(said)
    try:
        yield said
    finally:
        _collecting.reset(token)


def warn(warning: TwoSampleWarning) -> None:
    """Issue the warning for the line outside the package that called into it, or add it to those being collected.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn(AccuracyWarning("the integral is rough", remedy="use more points"))
    >>> print(caught[0].message)
    the integral is rough; use more points
    """
    said = _collecting.get()
    if said is not None:
        said.append(warning)
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def emit(warnings: Iterable[TwoSampleWarning]) -> tuple[str, ...]:
    """Issue the warnings; returns their texts, for the notes of a result."""
    found = tuple(warnings)
    for warning in found:
        warn(warning)
    return tuple(map(str, found))
