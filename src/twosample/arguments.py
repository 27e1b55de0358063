"""Checks of single arguments that several functions share: seeds, positive numbers and lengthscales."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.errors import InputError, InputTypeError

__all__ = ["LARGEST_LENGTHSCALE", "Seed", "as_generator", "check_count", "check_lengthscales", "check_positive"]

Seed = int | np.random.SeedSequence | np.random.Generator

# Beyond this, and below its inverse, the kernel of standardised rows no longer changes.
LARGEST_LENGTHSCALE = 1e150


def as_generator(rng: Seed) -> np.random.Generator:
    """The generator that a seed stands for; no global state is touched.

    Examples
    --------
    >>> as_generator(0).integers(100) == as_generator(np.random.SeedSequence(0)).integers(100)
    np.True_
    """
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer | np.random.SeedSequence | np.random.Generator):
        raise InputTypeError(f"rng: expected an int, a SeedSequence or a Generator, got {type(rng).__name__}")
    try:
        return np.random.default_rng(rng)
    except ValueError as error:
        raise InputError(f"rng: {error}") from None


def check_positive(value: float, name: str) -> float:
    """A positive, finite number as a float.

    Examples
    --------
    >>> check_positive(3, "prior_odds")
    3.0
    """
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    except OverflowError:
        number = np.inf
    if not 0.0 < number < np.inf:
        raise InputError(f"{name}: must be a positive, finite number, not {value!r:.40}")
    return number


def check_count(value: int, name: str, least: int, most: int) -> int:
    """A whole number within limits.

    Examples
    --------
    >>> check_count(np.int64(99), "permutations", 1, 1000)
    99
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(f"{name}: expected a whole number, got {type(value).__name__}")
    if not least <= value <= most:
        raise InputError(f"{name}: must be between {least:,} and {most:,}, not {value}")
    return int(value)


def check_lengthscales(lengthscale: ArrayLike, unit: float) -> NDArray[np.float64]:
    """Positive lengthscales in units of `unit`, as a 1-D array.

    Examples
    --------
    >>> check_lengthscales([1, 3], 2.0)
    array([0.5, 1.5])
    """
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
    return np.clip(values.ravel().astype(np.float64) / unit, 1.0 / LARGEST_LENGTHSCALE, LARGEST_LENGTHSCALE)
