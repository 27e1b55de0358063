"""The e-value of a batch: the Bayes factor of everything so far over its mean for relabellings of this batch.

Let T be positive and depend on the labels of this batch, on its rows as one set, and on earlier batches in any way.
Where the rows of the batch are exchangeable, each labelling is as likely to be the one observed, so that
e = T(observed) / mean T(labellings) has mean 1 given the past, for every distribution and every size. Products of such
e-values are a test martingale.

T is the Bayes factor of all batches so far, with the labels of this one in question. It is the Bayes factor of the
earlier ones, which cancels, times the predictive Bayes factor of this one given them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from twosample.common.arrays import Array, Flags
from twosample.inference.relabelling import RankOne, pairs_in_order, pool_in_order
from twosample.models import Model
from twosample.questions.monitor.components import Component, Learnt

__all__ = ["AMPLITUDES", "Batch", "log_evalue", "log_statistics"]

# One in this many amplitudes of the test is used: the integral over them is off by less than a thousandth.
AMPLITUDES = 4


class Batch:
    """The rows of a batch in an order that does not know the labels, and labellings of them.

    Parameters
    ----------
    x, y
        Rows of both samples.
    count
        How many labellings there are to be, the observed one among them. Where there are no more in all, all are taken.
    paired
        Whether labels are changed by swaps within pairs.
    generator
        Draws them.

    Attributes
    ----------
    rows
        The pooled rows, or both sides of the pairs.
    flags
        (n, L): which rows are in the first sample, or which pairs change places.
    observed
        Which labelling is that of the data.
    mirrored
        Whether every labelling also stands for the one with x and y exchanged.
    sign
        -1 where the first sample is y.
    """

    def __init__(self, x: Array, y: Array, count: int, paired: bool, generator: np.random.Generator) -> None:
        self.rows: tuple[Array, ...]
        if paired:
            self.rows = pairs_in_order(x, y)
            observed = np.zeros(len(x), dtype=bool)
            few, size = len(x) < 60 and 2 ** len(x) <= count, 0
        else:
            rows, observed = pool_in_order(x, y)
            self.rows, size = (rows,), min(len(x), len(y))
            few = math.comb(len(rows), size) <= count
        self.sign = 1.0 if paired or len(x) <= len(y) else -1.0
        self.mirrored = not few and (paired or len(x) == len(y))
        if few:
            self.flags = _all_swaps(len(x)) if paired else _all_splits(len(observed), size)
            self.observed = int(np.flatnonzero((self.flags == observed[:, np.newaxis]).all(axis=0))[0])
        else:
            drawn = count // 2 if self.mirrored else count
            self.flags = np.empty((len(observed), drawn), dtype=bool)
            self.flags[:, 0], self.observed = observed, 0
            for column in range(1, drawn):
                self.flags[:, column] = (
                    generator.random(len(observed)) < 0.5 if paired else generator.permutation(observed)
                )


def _all_splits(n: int, size: int) -> Flags:
    """All ways to choose `size` of n rows, (n, L)."""
    chosen = list(combinations(range(n), size))
    flags = np.zeros((n, len(chosen)), dtype=bool)
    for column, places in enumerate(chosen):
        flags[list(places), column] = True
    return flags


def _all_swaps(n: int) -> Flags:
    """All choices among n pairs, (n, 2**n)."""
    return np.array(list(product((False, True), repeat=n))).T


def log_evalue(log_values: Array, observed: int) -> float:
    """Log of the value observed over the mean of all."""
    return float(math.log(len(log_values)) - np.logaddexp.reduce(log_values - log_values[observed]))


def log_statistics(
    components: Sequence[Component], past: Sequence[Learnt], new: Sequence[Learnt], batch: Batch, model: Model
) -> Array:
    """Log of the Bayes factor of everything so far for every labelling of the batch, (L,); mirrored ones last, (2L,).

    Parameters
    ----------
    components
        The tests whose Bayes factors are averaged, with their prior weights.
    past, new
        What earlier batches, and this one, have taught about each.
    batch
        The rows of this one and its labellings.
    model
        The model of the plan.
    """
    paired = len(batch.rows) == 2
    total = np.full(batch.flags.shape[1] * (1 + batch.mirrored), -np.inf)
    for component, before, here in zip(components, past, new, strict=True):
        after = before.add(here.blind())
        if paired:
            center = np.zeros_like(here.shift)
        else:
            center = _pooled_mean(component, batch)
        shifts = batch.sign * component.shifts(batch.rows, batch.flags, center)
        if batch.mirrored:
            shifts = np.concatenate([shifts, -shifts], axis=1)
        bayes_factor = RankOne(component.hypotheses(after.difference(paired), model), 0.0, AMPLITUDES)
        found = bayes_factor.log_bf10((before.shift[:, np.newaxis] + shifts) / after.weight)
        total = np.logaddexp(total, np.logaddexp.reduce(component.log_prior[:, np.newaxis] + found, axis=0))
    return total


def _pooled_mean(component: Component, batch: Batch) -> Array:
    """The mean of the features of all rows, (m, s), whatever the labels."""
    everything = np.ones((len(batch.flags), 1), dtype=bool)
    nothing = np.zeros((len(component.lengthscales), component.features.count))
    return np.asarray(component.shifts(batch.rows, everything, nothing)[:, 0] / len(batch.flags))
