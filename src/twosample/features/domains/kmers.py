"""The k-mer spectrum of strings: how often each run of k letters, or k words, occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from twosample.common.arguments import count_of, is_one_of
from twosample.common.arrays import Indices
from twosample.errors import InputError, InputTypeError, Setting
from twosample.features.domains.counts import CountKernel, count_parts

__all__ = ["KMer"]


@dataclass(frozen=True)
class KMer(CountKernel):
    """The k-mer spectrum kernel: the cosine of the counts of all runs of k letters, or of k words.

    All runs are counted, none is hashed. A string that is shorter than k is one run by itself. The parameters are
    values of k; unless others are given they are 1, 2, 3 and 4.

    Attributes
    ----------
    unit
        "letters", or "words": what stands between blanks. Strings may also be lists of words of any kind.
    ignore_case
        Whether "A" and "a" are the same.

    Examples
    --------
    >>> KMer()(["ACGT", "acgt"], ["ACGA"], 2).round(3)
    array([[0.667],
           [0.   ]])
    >>> KMer(unit="words")(["disk is full"], ["disk is on"], 1).round(3)
    array([[0.667]])
    """

    name: ClassVar[str] = "kmer"
    parameters: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)

    unit: Literal["letters", "words"] = "letters"
    ignore_case: bool = False

    def __post_init__(self) -> None:
        """Check the unit."""
        if not is_one_of(self.unit, ("letters", "words")):
            raise InputError(
                f"unit: {self.unit!r} is unknown", argument="unit", remedy=("use ", Setting("unit", "letters"))
            )

    def check(self, parameter: object) -> int:
        """The parameter as a length of runs."""
        return count_of(parameter, "parameters", 1)  # type: ignore[arg-type]

    def read(self, objects: Sequence[Any], argument: str) -> list[Any]:
        """The strings as strings of letters or as lists of words."""
        return [self._one(one, argument, place) for place, one in enumerate(objects)]

    def _one(self, one: Any, argument: str, place: int) -> Any:
        if isinstance(one, str):
            one = one.casefold() if self.ignore_case else one
            return one.split() if self.unit == "words" else one
        if isinstance(one, list | tuple) and all(isinstance(word, str | int) for word in one):
            return [word.casefold() if self.ignore_case and isinstance(word, str) else word for word in one]
        raise InputTypeError(
            f"{argument}: expected strings, or lists of words, but object {place} is {_kind(one)}", argument=argument
        )

    def counts(self, objects: Sequence[Any], parameters: Sequence[int]) -> list[Any]:
        """Counts of runs for every length."""
        numbered = _numbered(objects)
        return [_runs(numbered, length) for length in parameters]


def _kind(one: object) -> str:
    return "None" if one is None else f"of type {type(one).__name__}"


def _numbered(strings: Sequence[Any]) -> list[Indices]:
    """Strings as numbers from 1 on, one for each letter or word that occurs, in an order that is theirs."""
    if all(isinstance(one, str) for one in strings):
        codes = [np.frombuffer(one.encode("utf-32-le", "surrogatepass"), dtype=np.uint32) for one in strings]
        numbers = np.unique(np.concatenate([*codes, np.zeros(0, np.uint32)]), return_inverse=True)[1]
        ends = np.cumsum([len(one) for one in codes])[:-1]
        return list(np.split(numbers.ravel() + 1, ends))
    words = sorted({(type(word).__name__, word) for one in strings for word in one})
    number = {word: place for place, (_, word) in enumerate(words, 1)}
    return [np.array([number[word] for word in one], dtype=np.intp) for one in strings]


def _runs(strings: list[Indices], length: int) -> Any:
    """Counts of runs of that length; zeros at the end make a short string as long as that."""
    lengths = np.array([max(len(one), length) for one in strings])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    pooled = np.zeros(lengths.sum(), dtype=np.int64)
    for start, one in zip(starts.tolist(), strings, strict=True):
        pooled[start : start + len(one)] = one
    base = int(pooled.max(initial=0)) + 1
    runs = pooled
    for step in range(1, length):
        # Runs are numbered anew each time, so that their numbers stay small.
        runs = np.unique(runs[:-1] * base + pooled[step:], return_inverse=True)[1].ravel()
    owners = np.repeat(np.arange(len(strings)), lengths)
    within = np.arange(len(pooled)) - starts[owners] <= lengths[owners] - length
    kept = np.flatnonzero(within)
    return count_parts(owners[kept], runs[kept], len(strings))
