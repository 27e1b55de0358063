"""A Bayes factor, what follows from it, and what it is called."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from twosample.common.records import Record

__all__ = ["BayesFactor", "probability", "strength", "verdict"]

# Kass and Raftery (1995): 2 log BF of 2, 6 and 10.
_STRENGTHS = ((1.0, ""), (3.0, "positive"), (5.0, "strong"), (math.inf, "very strong"))


def strength(log_bf10: float) -> str:
    """How strong the evidence is either way, on the scale of Kass and Raftery (1995); empty where it is not clear.

    Examples
    --------
    >>> strength(-4.0), strength(0.3)
    ('strong', '')
    """
    return next(words for limit, words in _STRENGTHS if abs(log_bf10) <= limit)


def verdict(log_bf10: float, *, flat: bool = False) -> str:
    """The Bayes factor in words, on the scale of Kass and Raftery (1995), in both directions.

    Where the features do not vary (`flat`) it says nothing, whatever it is.

    Examples
    --------
    >>> verdict(8.6)
    'very strong evidence that the samples differ'
    >>> verdict(-2.0)
    'positive evidence that the samples come from the same distribution'
    >>> verdict(0.3)
    'no clear evidence either way'
    """
    if flat:
        return "no clear evidence either way: the features do not vary"
    words = strength(log_bf10)
    if not words:
        return "no clear evidence either way"
    conclusion = "the samples differ" if log_bf10 > 0 else "the samples come from the same distribution"
    return f"{words} evidence that {conclusion}"


@dataclass(frozen=True, eq=False, repr=False)
class BayesFactor(Record):
    """A log Bayes factor and what follows from it.

    Attributes
    ----------
    log_bf10
        Natural logarithm of the Bayes factor: positive for different, negative for the same. All else follows.
    prior_odds
        Prior odds of "different" against "the same".
    """

    _derived: ClassVar[tuple[str, ...]] = ("prob_h1", "prob_h0", "verdict")

    log_bf10: float
    prior_odds: float

    @property
    def bf10(self) -> float:
        """Bayes factor of "different" over "the same"; infinite where it exceeds the floating-point range."""
        try:
            return math.exp(self.log_bf10)
        except OverflowError:
            return math.inf

    @property
    def prob_h1(self) -> float:
        """Posterior probability that the samples come from different distributions."""
        return probability(self.log_bf10 + math.log(self.prior_odds))

    @property
    def prob_h0(self) -> float:
        """Posterior probability that the samples come from the same distribution."""
        return probability(-self.log_bf10 - math.log(self.prior_odds))

    @property
    def verdict(self) -> str:
        """The Bayes factor in words; see `verdict`."""
        return verdict(self.log_bf10)

    def __repr__(self) -> str:
        """Return the answer in one line."""
        return (
            f"{type(self).__name__}(log_bf10={self.log_bf10:.4g}, prob_h1={self.prob_h1:.4g}, verdict={self.verdict!r})"
        )


def probability(log_odds: float) -> float:
    """The probability that log odds of any size stand for.

    Examples
    --------
    >>> probability(0.0), probability(-1e6), probability(1e6)
    (0.5, 0.0, 1.0)
    """
    if log_odds >= 0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)
