"""Checks of arguments that several functions take: each returns the value in one form, or refuses it by name."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.errors import InputError, InputTypeError

__all__ = ["LARGEST_LENGTHSCALE", "Seed", "count_of", "generator_of", "lengthscales_of", "positive"]

Array = NDArray[np.float64]
Seed = int | np.random.SeedSequence | np.random.Generator

LARGEST_LENGTHSCALE = 1e150


def count_of(value: int, name: str, lowest: int) -> int:
    """The value, if it is a whole number and large enough."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(f"{name}: expected a whole number, got {type(value).__name__}")
    if value < lowest:
        raise InputError(f"{name}: must be at least {lowest}, not {value}")
    return int(value)


def lengthscales_of(lengthscale: ArrayLike, unit: float) -> Array:
    """Positive lengthscales in units of `unit`, as a 1-D array."""
    if isinstance(lengthscale, str):
        raise InputError(f"lengthscale: {lengthscale!r} is unknown; use a positive number or 'median'")
    try:
        values = np.atleast_1d(np.asarray(lengthscale))
    except ValueError:
        raise InputError("lengthscale: has rows of different lengths; pass a number or a plain array") from None
    if values.dtype.kind not in "fiu":
        raise InputTypeError(f"lengthscale: expected positive numbers, got {type(lengthscale).__name__}")
    if not (values.size and (np.isfinite(values) & (values > 0)).all()):
        raise InputError(f"lengthscale: must be positive and finite, not {lengthscale!r}")
    # Beyond these limits the kernel no longer changes.
    return np.clip(values.ravel().astype(np.float64) / unit, 1.0 / LARGEST_LENGTHSCALE, LARGEST_LENGTHSCALE)


def positive(value: float, name: str) -> float:
    """The value as a float, if it is positive and finite."""
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        number = np.inf
    if not 0.0 < number < np.inf:
        raise InputError(f"{name}: must be a positive, finite number, not {value!r:.40}")
    return number


def generator_of(rng: Seed) -> np.random.Generator:
    """The generator, or a new one with that seed."""
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer | np.random.SeedSequence | np.random.Generator):
        raise InputTypeError(f"rng: expected an int, a SeedSequence or a Generator, got {type(rng).__name__}")
    try:
        return np.random.default_rng(rng)
    except ValueError as error:
        raise InputError(f"rng: {error}") from None
