"""Numbers as axes and tables of pictures show them, and round numbers along an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["is_or_sign", "log_ticks", "number", "numbers", "ticks"]


def number(value: float) -> str:
    """A number as axes and tables show it.

    Examples
    --------
    >>> number(0.5), number(-0.0), number(1234567.0), number(2e-7)
    ('0.5', '0', '1.23e+06', '2e-07')
    """
    return f"{value + 0.0:.4g}" if 1e-3 <= abs(value) < 1e5 or value == 0.0 else f"{value:.3g}"


def is_or_sign(words: str) -> str:
    """A number that may begin with < or >, after a sign that it is.

    Examples
    --------
    >>> is_or_sign("0.5"), is_or_sign("> 0.9999")
    ('= 0.5', '> 0.9999')
    """
    return words if words[0] in "<>" else f"= {words}"


def numbers(values: Iterable[float], digits: int = 4) -> list[str]:
    """Numbers with as many digits, or more where they would look alike.

    Examples
    --------
    >>> numbers([0.5, 2.0]), numbers([1.0000002, 1.0000004])
    (['0.5', '2'], ['1.0000002', '1.0000004'])
    """
    wanted = [float(value) + 0.0 for value in values]
    for enough in range(digits, 17):
        words = [f"{value:.{enough}g}" for value in wanted]
        if len(set(words)) == len(set(wanted)):
            return words
    return list(map(repr, wanted))


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round numbers within a range, up to a maximal count.

    Examples
    --------
    >>> ticks(-0.3, 3.3)
    [0.0, 1.0, 2.0, 3.0]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0.0):
        return []
    unit = 10.0 ** math.floor(math.log10(span / count))
    step = next(unit * one for one in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if span / (unit * one) <= count - 1)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Far from zero the range may be narrower than the numbers are exact.
    return [
        round(place * step, 12) if step > 1e-9 else place * step for place in range(first, min(last, first + 50) + 1)
    ]


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers of a logarithmic axis.

    Examples
    --------
    >>> log_ticks(0.04, 2.5), log_ticks(0.9, 1.3)
    ([0.05, 0.1, 0.2, 0.5, 1.0, 2.0], [0.9, 1.0, 1.1, 1.2, 1.3])
    """
    decades = math.log10(high / low)
    if decades < 0.6:
        return ticks(low, high)
    among = (1.0, 2.0, 5.0) if decades < 2.2 else (1.0, 3.0) if decades < 3.2 else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = max(1, round(decades / 6.0))
    found = [float(f"{one}e{power}") for power in powers if power % every == 0 for one in among]
    return [one for one in found if low * (1 - 1e-9) <= one <= high * (1 + 1e-9)]
