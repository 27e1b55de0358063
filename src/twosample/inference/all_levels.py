"""All levels of a column of categories, however many there are: a test by their counts, its effect, and what is new.

Of the c rows of a level in both samples k are in x. If the laws are the same, every row is in x with the chance
w = n_x/(n_x + n_y), whatever its level. If not, each level has a chance of its own, with a Beta(wτ, (1-w)τ) law whose
concentration τ = 1/a² is that of an amplitude a. So k is binomial under H0 and beta-binomial under H1, and

    BF10(τ) = Π_l [B(k + wτ, c - k + (1-w)τ) / B(wτ, (1-w)τ)] / [wᵏ (1-w)ᶜ⁻ᵏ].

A level of one row counts nothing. The mean of this over binomial k is 1. Over labellings, of which n_x rows are in x, it
is the chance of Σ k = n_x under H1 over that under H0: as Σ k varies more under H1, and about n_x, less than 1 but for
samples of a few rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twosample.common.arrays import Array, Indices, to_numpy
from twosample.data.categories import Levels, many_levels
from twosample.inference.effect import PartEffect, Squares

if TYPE_CHECKING:
    from twosample.models import Model

__all__ = ["Lacking", "LevelCounts", "counted", "counts_of_columns", "log_bayes_factors"]

# Concentrations: factors of 4 between levels that occur in one sample only and differences that no data would show.
_CONCENTRATIONS = 4.0 ** np.arange(-1, 11)
# Counts of levels that are evaluated at the same time.
_AT_ONCE = 1 << 17
# Of the rows whose levels one sample lacks, how large a share chance may explain; and how rarely it may do so.
_BY_CHANCE, _RARELY = 0.1, 1e-3
# Digits in which scores are compared.
_DIGITS = 12


def counted(rows: Any, levels: Levels) -> Array:
    """How many rows (n, D) have each level, in the columns with more levels than codes, one after the other, (K,)."""
    found = [np.zeros(0)]
    for place in many_levels(levels):
        size = len(levels[place] or ()) + 1
        codes = np.clip(np.rint(to_numpy(rows[:, place])), 0, size - 1).astype(np.intp)
        found.append(np.bincount(codes, minlength=size).astype(np.float64))
    return np.concatenate(found)


def counts_of_columns(x: Array, y: Array, levels: Levels) -> tuple[LevelCounts, ...]:
    """What `counted` found in both samples, column by column."""
    ends = np.cumsum([len(levels[place] or ()) + 1 for place in many_levels(levels)])
    return tuple(map(LevelCounts, np.split(x, ends)[:-1], np.split(y, ends)[:-1]))


def _prior(model: Model) -> tuple[Array, Array]:
    """Concentrations τ and the logs of their weights: those of the model's prior of the amplitude 1/√τ."""
    if model.amplitude is None:
        return np.ones(1), np.zeros(1)
    relative = np.sqrt(_CONCENTRATIONS) * model.amplitude.scale
    log_weights = -np.log(relative + 1.0 / relative)
    return _CONCENTRATIONS, log_weights - np.logaddexp.reduce(log_weights)


def log_bayes_factors(in_x: Array, total: Array, share: float, model: Model) -> Array:
    """Log of prior weight × BF10 of each concentration, (A, B).

    Parameters
    ----------
    in_x
        The rows of x with each level, for B labellings of the same rows, (B, L).
    total
        The rows of both samples with each level, (L,).
    share
        The share of all rows that are in x.
    model
        Has the prior of the amplitude.
    """
    concentrations, log_weights = _prior(model)
    size = max(1, _AT_ONCE // max(len(total), 1))
    parts = [in_x[first : first + size] for first in range(0, len(in_x), size)]
    found = np.concatenate([_log_ratios(part, total, share, concentrations) for part in parts], axis=1)
    return np.asarray(found + log_weights[:, np.newaxis])


def _log_ratios(in_x: Array, total: Array, share: float, concentrations: Array) -> Array:
    """Log BF10 at each concentration, (A, B): a sum over levels of what k, c - k and c contribute."""
    of_total = _log_rising(total, 1.0, concentrations).sum(axis=-1)
    of_x = _log_rising(in_x, share, concentrations).sum(axis=-1)
    of_y = _log_rising(total - in_x, 1.0 - share, concentrations).sum(axis=-1)
    return np.asarray(of_x + of_y - of_total[:, np.newaxis])


def _log_rising(counts: Array, share: float, concentrations: Array) -> Array:
    """Log Γ(k + wτ)/(Γ(wτ) wᵏ) of counts k, (A, ...), once for each different count."""
    from scipy.special import gammaln  # slow to load, and not needed before there are data

    values, places = np.unique(counts, return_inverse=True)
    start = share * concentrations[:, np.newaxis]
    table = gammaln(values + start) - gammaln(start) - values * math.log(share)
    return np.asarray(table[:, places.reshape(counts.shape)])


class Lacking(NamedTuple):
    """Levels of one sample that the other one lacks."""

    rows: int  # that have them
    places: Indices  # most frequent first


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """How many rows of x and of y have each level of a column, (L,); the last is that of rare and unknown levels."""

    x: Array
    y: Array

    @property
    def share(self) -> float:
        """The share of all rows that are in x."""
        return float(self.x.sum() / (self.x.sum() + self.y.sum()))

    def log_bf10(self, model: Model) -> float:
        """Log BF10 of the test of all levels."""
        return float(np.logaddexp.reduce(self._log_mixture(model)))

    def _log_mixture(self, model: Model) -> Array:
        return log_bayes_factors(self.x[np.newaxis], self.x + self.y, self.share, model)[:, 0]

    def _posterior(self, model: Model) -> tuple[Array, Array]:
        """Concentrations and their posterior probabilities given that the samples differ."""
        logs = self._log_mixture(model)
        return _prior(model)[0], np.exp(logs - np.logaddexp.reduce(logs))

    @cached_property
    def _known(self) -> LevelCounts:
        """Those of levels that more than one row has."""
        known = (self.x + self.y)[:-1] > 1
        return LevelCounts(self.x[:-1][known], self.y[:-1][known])

    def auc(self, model: Model) -> float:
        """The chance that a row of x rather than one of y has the level that is more common in x; ½ or more."""
        concentrations, weights = self._posterior(model)
        found = [self._known.auc_at(one, self.share) for one in concentrations.tolist()]
        return max(0.5, float(weights @ np.array(found)))

    def auc_at(self, concentration: float, share: float) -> float:
        """The AUC of the posterior mean of the chance that a row with its level is in x.

        Neither of the two rows that are compared counts in what they are compared by, so that the mean over labellings
        is ½ exactly. Rows with the same level are ties.
        """
        n_x, n_y = float(self.x.sum()), float(self.y.sum())
        if not n_x or not n_y:
            return 0.5
        others = self.x + self.y - 1.0 + concentration
        prior = share * concentration
        of_x, of_y = (self.x - 1.0 + prior) / others, (self.x + prior) / others
        values, places = np.unique(np.round(np.concatenate([of_x, of_y]), _DIGITS), return_inverse=True)
        x = np.bincount(places[: len(of_x)], self.x, len(values))
        y = np.bincount(places[len(of_x) :], self.y, len(values))
        larger = float(x @ (np.cumsum(y) - 0.5 * y))
        # Of rows with the same level that of x has the smaller value.
        return (larger + 0.5 * float(self.x @ self.y)) / (n_x * n_y)

    def effect(self, model: Model) -> PartEffect:
        """How much the samples differ in all levels: a component for each concentration.

        MMD² is that of a kernel which is 1 at equal levels and else 0, Σ (p - q)²; its law follows from that of the
        chances of the levels. The AUC is the one above, with the largest variance that it can have.
        """
        concentrations, weights = self._posterior(model)
        tau, w, total = concentrations[:, np.newaxis], self.share, self.x + self.y
        mean = (self.x + w * tau) / (total + tau)
        variance = mean * (1.0 - mean) / (total + tau + 1.0)
        scale = np.square(total / (total.sum() * w * (1.0 - w)))
        square = np.square(mean - w)
        mmd = ((square + variance) * scale).sum(axis=1)
        of_mmd = ((4.0 * square + 2.0 * variance) * variance * np.square(scale)).sum(axis=1)
        known = self._known
        rows = float(min(known.x.sum(), known.y.sum()))
        laws = [_probit(known.auc_at(one, w), rows) for one in concentrations.tolist()]
        probit, of_probit = np.array(laws).T
        return PartEffect(weights, Squares.of(mmd, of_mmd / mmd**2), Squares.of(probit, of_probit))

    def lacking(self) -> tuple[Lacking, Lacking]:
        """Levels of x that y lacks, and the other way round, where chance does not explain it."""
        return _lacking(self.x[:-1], self.y[:-1], self.share), _lacking(self.y[:-1], self.x[:-1], 1.0 - self.share)


def _probit(auc: float, rows: float) -> tuple[float, float]:
    """Mean of (probit AUC)² and its relative variance, of an AUC found in that many rows of either sample or more.

    One more row, of which nothing is known, keeps it from 1. No AUC has a larger variance than A(1-A)/n.
    """
    auc = (auc * rows + 0.5) / (rows + 1.0)
    normal = NormalDist()
    probit = normal.inv_cdf(auc)
    variance = auc * (1.0 - auc) / ((rows + 1.0) * normal.pdf(probit) ** 2)
    square = max(probit, 0.0) ** 2
    return square + variance, (4.0 * square + 2.0 * variance) * variance / (square + variance) ** 2


def _lacking(own: Array, other: Array, share: float) -> Lacking:
    """Levels that the other sample lacks, down to the smallest number of rows where that is no chance.

    Dealt at random, all c rows of a level are in the sample with chance wᶜ. The levels of at least so many rows are
    those by which at most a tenth of the rows found can be expected, and so many levels in one of a thousand cases.
    """
    from scipy.special import gammainc  # as above

    total = own + other
    sizes, places = np.unique(total, return_inverse=True)
    chance = np.bincount(places, minlength=len(sizes)) * share**sizes
    missing = (other == 0) & (own > 1)
    found = np.bincount(places[missing], minlength=len(sizes)).astype(np.float64)

    def at_least(values: Array) -> Array:
        return np.cumsum(values[::-1])[::-1]

    rows, levels = at_least(found * sizes), at_least(found)
    enough = (levels > 0) & (at_least(chance * sizes) <= _BY_CHANCE * rows)
    enough[enough] = gammainc(levels[enough], at_least(chance)[enough]) <= _RARELY
    if not enough.any():
        return Lacking(0, np.zeros(0, dtype=np.intp))
    first = int(np.argmax(enough))
    chosen = np.flatnonzero(missing & (total >= sizes[first]))
    return Lacking(int(rows[first]), chosen[np.argsort(-own[chosen], kind="stable")])
