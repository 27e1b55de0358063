"""Checks of arguments that several functions take: each returns the value in one form, or refuses it by name."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arrays import Array
from twosample.errors import InputError, InputTypeError

__all__ = [
    "LARGEST_LENGTHSCALE",
    "Seed",
    "check_level",
    "choice_of",
    "count_of",
    "finite_of",
    "flag_of",
    "generator_of",
    "is_one_of",
    "lengthscales_of",
    "positive",
    "share_of",
]

Seed = int | np.random.SeedSequence | np.random.Generator | None

LARGEST_LENGTHSCALE = 1e150
_LARGEST_COUNT = 10**9


def count_of(value: float, name: str, lowest: int, highest: int = _LARGEST_COUNT) -> int:
    """The value, if it is a whole number, of whatever type, and neither too small nor too large."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        got = f"{value}" if isinstance(value, float | np.floating) else type(value).__name__
        raise InputTypeError(f"{name}: expected a whole number, got {got}", argument=name)
    if value < lowest:
        raise InputError(f"{name}: must be at least {lowest}, not {value}", argument=name)
    if value > highest:
        raise InputError(f"{name}: must be at most {highest:,}, not {value!s:.40}", argument=name)
    return int(value)


def flag_of(value: bool, name: str) -> bool:
    """The value, if it is True or False; text such as "no" is neither."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name}: must be True or False, not {value!r:.40}", argument=name)
    return bool(value)


def choice_of(value: object, name: str, choices: Sequence[str]) -> str:
    """The value, if it is one of these words."""
    if not isinstance(value, str) or value not in choices:
        words = " or ".join([", ".join(map(repr, choices[:-1])), repr(choices[-1])])
        raise InputError(f"{name}: {value!r} is unknown", argument=name, remedy=f"use {words}")
    return value


def is_one_of(value: object, choices: Iterable[str]) -> bool:
    """Whether the value is one of these words; anything else, such as an array, is not."""
    return isinstance(value, str) and value in tuple(choices)


def lengthscales_of(lengthscale: ArrayLike, unit: float) -> Array:
    """Positive lengthscales in units of `unit`, as a 1-D array."""
    if isinstance(lengthscale, str):
        raise InputError(
            f"lengthscale: {lengthscale!r} is unknown",
            argument="lengthscale",
            remedy="use a positive number or 'median'",
        )
    try:
        values = np.atleast_1d(np.asarray(lengthscale))
    except ValueError:
        raise InputError(
            "lengthscale: has rows of different lengths",
            argument="lengthscale",
            remedy="pass a number or a plain array",
        ) from None
    if values.dtype.kind not in "fiu":
        raise InputTypeError(
            f"lengthscale: expected positive numbers, got {type(lengthscale).__name__}", argument="lengthscale"
        )
    if not (values.size and (np.isfinite(values) & (values > 0)).all()):
        raise InputError(f"lengthscale: must be positive and finite, not {lengthscale!r}", argument="lengthscale")
    # Beyond these limits the kernel no longer changes.
    with np.errstate(over="ignore"):
        relative = values.ravel().astype(np.float64) / unit
    return np.clip(relative, 1.0 / LARGEST_LENGTHSCALE, LARGEST_LENGTHSCALE)


def _between(value: object, low: float, high: float, name: str, words: str) -> float:
    """The value as a float, if it is a number between these, which the words say."""
    number = math.nan
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not low < number < high:
        raise InputError(f"{name}: must be {words}, not {value!r:.40}", argument=name)
    return number


def positive(value: float, name: str) -> float:
    """The value as a float, if it is positive and finite."""
    return _between(value, 0.0, math.inf, name, "a positive, finite number")


def finite_of(value: float, name: str) -> float:
    """The value as a float, if it is a finite number."""
    return _between(value, -math.inf, math.inf, name, "a finite number")


def share_of(value: float, name: str, low: float = 0.0) -> float:
    """The value as a float, if it is between 0, or another lowest value, and 1."""
    return _between(value, low, 1.0, name, f"a number between {low:g} and 1")


def check_level(level: float) -> None:
    """Refuse a probability of an interval that is not a number between 0 and 1."""
    share_of(level, "level")


def generator_of(rng: Seed) -> np.random.Generator:
    """The generator, or a new one with that seed; None seeds it afresh each time."""
    kinds = int | np.integer | np.random.SeedSequence | np.random.Generator | None
    if isinstance(rng, bool) or not isinstance(rng, kinds):
        raise InputTypeError(
            f"rng: expected an int, a SeedSequence, a Generator or None, got {type(rng).__name__}", argument="rng"
        )
    try:
        return np.random.default_rng(rng)
    except ValueError as error:
        raise InputError(f"rng: {error}", argument="rng") from None
