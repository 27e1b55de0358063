"""A Bayes factor as a probability and in words."""

from __future__ import annotations

import math
from typing import overload

import numpy as np

from twosample.common.arrays import Array

__all__ = ["CONCLUSIONS", "log_total", "probability", "strength", "verdict"]

# Kass and Raftery (1995): 2 log BF of 2, 6 and 10.
_STRENGTHS = ((1.0, ""), (3.0, "positive"), (5.0, "strong"), (math.inf, "very strong"))
# The conclusions from a large and from a small Bayes factor.
CONCLUSIONS = ("the samples differ", "the samples come from the same distribution")


def strength(log_bf10: float) -> str:
    """How strong the evidence is either way, on the scale of Kass and Raftery (1995); empty where it is not clear."""
    return next(words for limit, words in _STRENGTHS if abs(log_bf10) <= limit)


def verdict(log_bf10: float, *, flat: bool = False, conclusions: tuple[str, str] = CONCLUSIONS) -> str:
    """The Bayes factor in words, on the scale of Kass and Raftery (1995), in both directions.

    Where the features do not vary (`flat`) it says nothing, whatever it is. `conclusions` are what there is evidence
    for where it is large, and where it is small.
    """
    if flat:
        return "no clear evidence either way: the features do not vary"
    words = strength(log_bf10)
    if not words:
        return "no clear evidence either way"
    return f"{words} evidence that {conclusions[0] if log_bf10 > 0 else conclusions[1]}"


@overload
def probability(log_odds: float) -> float: ...
@overload
def probability(log_odds: Array) -> Array: ...
def probability(log_odds: float | Array) -> float | Array:
    """The probability at log odds of any size."""
    found = np.exp(-np.logaddexp(0.0, np.negative(log_odds)))
    return np.asarray(found) if isinstance(log_odds, np.ndarray) else float(found)


def log_total(log_values: Array) -> Array:
    """Log of the sum of exponentials over the last axis; for large arrays, of which it takes less than logaddexp.

    Examples
    --------
    >>> log_total(np.log([[1.0, 2.0], [3.0, 5.0]])).round(6).tolist() == np.log([3.0, 8.0]).round(6).tolist()
    True
    """
    top = log_values.max(axis=-1)
    return np.asarray(top + np.log(np.exp(log_values - top[..., np.newaxis]).sum(axis=-1)))
