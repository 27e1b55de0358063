"""All levels of a column of categories, however many there are: a test by their counts, its effect, and what is new.

Of the c rows of a level in both samples k are in x. If the laws are the same, every row is in x with the chance
w = n_x/(n_x + n_y), whatever its level. If not, each level has a chance of its own, with a Beta(wτ, (1-w)τ) law whose
concentration τ = 1/a² is that of an amplitude a. So k is binomial under H0 and beta-binomial under H1, and

    BF10(τ) = Π_l [B(k + wτ, c - k + (1-w)τ) / B(wτ, (1-w)τ)] / [wᵏ (1-w)ᶜ⁻ᵏ].

A level of one row counts nothing. The mean of this over binomial k is 1. Over labellings, which have n_x rows in x, it
is the chance of Σ k = n_x under H1 over that under H0. As Σ k varies more under H1, and about n_x too, that is less
than 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array, Indices, to_numpy
from twosample.data.categories import OTHER, Levels, many_levels
from twosample.inference.columns import OnlyInOne, moved_level
from twosample.inference.effect import PartEffect, Squares

if TYPE_CHECKING:
    from twosample.models import Model

__all__ = ["LevelCounts", "by_column", "counted", "log_bayes_factors", "log_bf_of_partitions"]

# Concentrations: factors of 4 between levels that occur in one sample only and shares that hardly differ.
_CONCENTRATIONS: Array = 4.0 ** np.arange(-1.0, 9.0)
# Of the rows whose levels one sample lacks, how large a share chance may explain; and how rarely it may do so.
_BY_CHANCE, _RARELY = 0.1, 1e-3
# Levels that are named; so few that one of them says all; and the rows of a level that is not rare.
_NAMED, _TWO, _SHARED = 5, 2, 2
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


def by_column(groups: Sequence[Array], levels: Levels) -> tuple[Array, ...]:
    """What `counted` found in each of G groups, column by column, (G, L) each."""
    ends = np.cumsum([len(levels[place] or ()) + 1 for place in many_levels(levels)])
    return tuple(np.split(np.stack(groups), ends, axis=1)[:-1])


def _prior(model: Model) -> tuple[Array, Array]:
    """Concentrations τ and the logs of their weights: those of the model's prior of the amplitude 1/√τ."""
    if model.amplitude is None:
        return np.ones(1), np.zeros(1)
    relative: Array = np.sqrt(_CONCENTRATIONS) * model.amplitude.scale
    log_weights: Array = -np.log(relative + 1.0 / relative)
    return _CONCENTRATIONS, np.asarray(log_weights - np.logaddexp.reduce(log_weights))


def log_bayes_factors(counts: Array, model: Model) -> Array:
    """Log of prior weight × BF10 of each concentration, (A,), for the rows of each group that have each level, (G, L).

    Of more than two groups the chances of a level are those of a Dirichlet law, and k is multinomial under H0.
    """
    concentrations, log_weights = _prior(model)
    shares = counts.sum(axis=1) / counts.sum()
    found = log_weights - _log_rising(counts.sum(axis=0), 1.0, concentrations)
    for share, of_group in zip(shares.tolist(), counts, strict=True):
        found += _log_rising(of_group, share, concentrations)
    return np.asarray(found)


def log_bf_of_partitions(counts: Array, partitions: Indices, model: Model) -> Array:
    """Log Bayes factors of partitions (P, G) of groups against "all alike", (P,), from counts (G, L) of levels."""
    found = np.empty(len(partitions))
    for number, blocks in enumerate(partitions):
        together = np.zeros((int(blocks.max()) + 1, counts.shape[1]))
        np.add.at(together, blocks, counts)
        found[number] = np.logaddexp.reduce(log_bayes_factors(together, model))
    return found


def _log_rising(counts: Array, share: float, concentrations: Array) -> Array:
    """The sum of log Γ(k + wτ)/(Γ(wτ) wᵏ) over counts k, (A,); each different count is evaluated once."""
    from scipy.special import gammaln  # slow to load, and not needed before there are data

    values, times = np.unique(counts, return_counts=True)
    start = share * concentrations[:, np.newaxis]
    return np.asarray((gammaln(values + start) - gammaln(start) - values * math.log(share)) @ times)


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
        return log_bayes_factors(np.stack([self.x, self.y]), model)

    def _posterior(self, model: Model) -> tuple[Array, Array]:
        """Concentrations and their posterior probabilities given that the samples differ."""
        logs = self._log_mixture(model)
        return _prior(model)[0], np.exp(logs - np.logaddexp.reduce(logs))

    @cached_property
    def _shared(self) -> tuple[Array, Array]:
        """The same of levels that more than one row has; all other rows come last."""
        rare = (self.x + self.y) < _SHARED
        rare[-1] = True
        x, y = (np.append(counts[~rare], counts[rare].sum()) for counts in (self.x, self.y))
        return x, y

    @property
    def _unknown(self) -> float:
        """The share of pairs of a row of x and one of y whose levels are both rare."""
        x, y = self._shared
        return float(x[-1] * y[-1] / (x.sum() * y.sum()))

    def auc(self, model: Model) -> float:
        """The chance that a row of x rather than one of y has the level that is more common in x; ½ or more."""
        concentrations, weights = self._posterior(model)
        return min(max(0.5, float(weights @ [self.auc_at(one) for one in concentrations.tolist()])), 1.0)

    def auc_at(self, concentration: float) -> float:
        """The AUC of the posterior mean of the chance that a row with its level is in x.

        Neither of the two rows that are compared counts in what they are compared by, so that the mean over labellings
        is ½ exactly. Rows with the same level are ties, but for two rows of rare levels, of which nothing is known:
        they are taken to be told apart as all others are.
        """
        x, y = self._shared
        known = _auc(x[:-1], y[:-1], self.share, concentration)
        return _auc(x, y, self.share, concentration) + self._unknown * (known - 0.5)

    def effect(self, model: Model) -> PartEffect:
        """How much the samples differ in all levels: a component for each concentration.

        MMD² is that of a kernel which is 1 at equal levels and else 0, Σ (p - q)²; its law follows from that of the
        chances of the levels. The AUC is the one above.
        """
        concentrations, weights = self._posterior(model)
        tau, w, total = concentrations[:, np.newaxis], self.share, self.x + self.y
        mean = (self.x + w * tau) / (total + tau)
        variance = mean * (1.0 - mean) / (total + tau + 1.0)
        scale = np.square(total / (total.sum() * w * (1.0 - w)))
        square = np.square(mean - w)
        mmd = ((square + variance) * scale).sum(axis=1)
        of_mmd = ((4.0 * square + 2.0 * variance) * variance * np.square(scale)).sum(axis=1)
        fewest, known = (min(one.sum() for one in part) for part in ((self.x, self.y), (x[:-1] for x in self._shared)))
        rows = fewest - self._unknown * (fewest - known)
        laws = [_probit(self.auc_at(one), rows) for one in concentrations.tolist()]
        probit, of_probit = np.array(laws).T
        return PartEffect(weights, Squares.of(mmd, of_mmd / mmd**2), Squares.of(probit, of_probit))

    def moved(self, names: tuple[str, ...], model: Model, variance: Array | None = None) -> tuple[str, float]:
        """Which level moved most clearly, in words, and the AUC; of two levels that of having the one which moved.

        As `moved_level`, whose `variance` is that of pairs.
        """
        n_x, n_y = self.x.sum(), self.y.sum()
        words, auc = moved_level((*names, OTHER), self.x / n_x, self.y / n_y, int(n_x), int(n_y), variance)
        return words, auc if np.count_nonzero(self.x + self.y) <= _TWO else self.auc(model)

    def only_in_one(self, column: str, names: tuple[str, ...]) -> list[OnlyInOne]:
        """The levels that one of the samples has and the other has not, of each sample, where there are any."""
        found, share = [], self.share
        for sample, (own, other, chance) in enumerate(((self.x, self.y, share), (self.y, self.x, 1.0 - share))):
            places = _lacking(own[:-1], other[:-1], chance)
            if len(places):
                rows, shown = float(own[places].sum()), tuple(names[place] for place in places[:_NAMED])
                found.append(OnlyInOne(column, sample, int(rows), rows / float(own.sum()), shown, len(places)))
        return found


def _auc(x: Array, y: Array, share: float, concentration: float) -> float:
    """The AUC of the chances of levels from their counts, with ties for rows of the same level; ½ of no rows."""
    n_x, n_y = float(x.sum()), float(y.sum())
    if not n_x or not n_y:
        return 0.5
    others, prior = x + y - 1.0 + concentration, share * concentration
    # Levels without a row have no weight, and no posterior.
    of_x, of_y = ((own + prior) / np.where(x + y > 0.0, others, 1.0) for own in (x - 1.0, x))
    values, places = np.unique(np.round(np.concatenate([of_x, of_y]), _DIGITS), return_inverse=True)
    in_x = np.bincount(places[: len(of_x)], x, len(values))
    in_y = np.bincount(places[len(of_x) :], y, len(values))
    larger = float(in_x @ (np.cumsum(in_y) - 0.5 * in_y))
    # Of rows with the same level that of x has the smaller value.
    return (larger + 0.5 * float(x @ y)) / (n_x * n_y)


def _probit(auc: float, rows: float) -> tuple[float, float]:
    """Mean of (probit AUC)² and its relative variance, of an AUC found in that many rows of either sample or more.

    One more row, of which nothing is known, keeps it from 1. No AUC of known scores has a larger variance than
    A(1-A)/n; here it is twice that, as the scores of a level are found from its rows.
    """
    auc = (auc * rows + 0.5) / (rows + 1.0)
    normal = NormalDist()
    probit = normal.inv_cdf(auc)
    variance = 2.0 * auc * (1.0 - auc) / ((rows + 1.0) * normal.pdf(probit) ** 2)
    square = max(probit, 0.0) ** 2
    return square + variance, (4.0 * square + 2.0 * variance) * variance / (square + variance) ** 2


def _lacking(own: Array, other: Array, share: float) -> Indices:
    """The places of levels that the other sample lacks, most common first, where chance does not explain it.

    As `OnlyInOne` has it: down to the smallest number of rows at which a tenth of the rows found, or less, could be
    expected, and as many levels in one of a thousand cases.
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
    fewest = sizes[np.argmax(enough)] if enough.any() else np.inf
    chosen = np.flatnonzero(missing & (total >= fewest))
    return np.asarray(chosen[np.argsort(-own[chosen], kind="stable")])
