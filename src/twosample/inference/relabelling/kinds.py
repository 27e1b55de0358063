"""The kinds of relabelling: permuted labels of two samples or of several groups, and swaps within pairs.

Rows are put in an order that does not depend on their labels, so that the order of the data does not matter. A
relabelling only changes the weights of the features of the rows, so that one pass over them serves all relabellings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags, Indices
from twosample.features.maps import FeatureMap
from twosample.features.statistics import Moments
from twosample.inference import evidence, partitions
from twosample.inference.all_levels import log_bf_of_partitions
from twosample.inference.bayes_factor import log_total
from twosample.inference.contrasts import Contrasts
from twosample.inference.effect import OfColumns, OfLabels
from twosample.inference.evidence import Difference, Hypotheses
from twosample.inference.relabelling.engine import LevelTest, Statistic, WeightedTest, work_of
from twosample.models import Model
from twosample.places import local

__all__ = [
    "Blind",
    "GroupLabels",
    "Labels",
    "RowLabels",
    "Signs",
    "Splits",
    "of_rows",
    "pair_symmetric",
    "pairs_in_order",
    "pool_in_order",
]

# The largest number of groups of which the statistic has all partitions.
_MOST_GROUPS = 4


def pool_in_order(x: Array, y: Array) -> tuple[Array, Flags]:
    """The pooled rows in lexicographic order, and which of them are of the smaller sample (of x if none is).

    Random labels then meet the same rows whatever the order of the rows and of the samples.

    Examples
    --------
    >>> rows, in_smaller = pool_in_order(np.array([[3.0], [1.0]]), np.array([[2.0]]))
    >>> rows.ravel(), in_smaller
    (array([1., 2., 3.]), array([False,  True, False]))
    """
    rows = np.concatenate([x, y])
    in_smaller = (np.arange(len(rows)) < len(x)) == (len(x) <= len(y))
    order = np.lexsort(rows.T[::-1])
    return rows[order], in_smaller[order]


def pairs_in_order(x: Array, y: Array) -> tuple[Array, Array]:
    """The pairs in an order that is the same if members of pairs change places.

    Examples
    --------
    >>> left, right = pairs_in_order(np.array([[3.0], [1.0]]), np.array([[2.0], [0.0]]))
    >>> left.ravel(), right.ravel()
    (array([1., 3.]), array([0., 2.]))
    """
    sums, distances = pair_symmetric(x, y)
    order = np.lexsort([*distances.T[::-1], *sums.T[::-1]])
    return x[order], y[order]


def pair_symmetric(x: Array, y: Array) -> tuple[Array, Array]:
    """What is the same if members of pairs change places: their sums, and their distances, in each column."""
    return x + y, np.abs(x - y)


def of_rows(x: Array, y: Array, model: Model, *, paired: bool = False, every: int = 1) -> Labels | Signs:
    """The relabelling of the rows of two samples, by a model that judges other labels too.

    Every `every`-th amplitude is used.
    """
    if paired:
        left, right = pairs_in_order(x, y)
        return Signs(left, np.zeros(len(left), dtype=bool), model, right, every=every)
    return Labels(*pool_in_order(x, y), model, every=every)


@dataclass(frozen=True, eq=False)
class RowLabels:
    """The base of all kinds: a label for each row, or for each pair, and the model that judges the labels.

    Attributes
    ----------
    rows
        Rows that are labelled, (N, D), in an order that does not depend on the labels.
    observed
        The observed label of each, (N,).
    model
        The model of the tests.
    every
        Every how many-th amplitude is used.
    """

    rows: Array
    observed: NDArray[Any]
    model: Model
    every: int = field(default=1, kw_only=True)

    @property
    def identity(self) -> tuple[Array, ...]:
        """The rows, whichever label they have."""
        return (self.rows,)

    def log_bf10(self, test: WeightedTest) -> Callable[[NDArray[Any]], Array]:
        """Log BF10 at every lengthscale of a test, (m, B), as a function of labels (B, N)."""
        raise NotImplementedError

    def statistic(self, test: WeightedTest) -> Statistic:
        """Log of prior weight × BF10 of a test, (B,), as a function of labels (B, N)."""
        log_bf10 = self.log_bf10(test)
        return lambda labels: test.sum(log_bf10(labels))

    def _of_levels(self, test: LevelTest, chosen: Indices) -> Callable[[NDArray[Any]], Array]:
        """Log BF10 of a test of all levels, averaged over partitions (P, k) of k labels, (1, B)."""
        codes = np.minimum(self.rows[:, test.place], test.size - 1.0).astype(np.intp)
        count, log_prior = chosen.shape[1], partitions.log_prior(chosen)
        log_prior = log_prior - np.logaddexp.reduce(log_prior)

        def log_bf10(labels: NDArray[Any]) -> Array:
            found = np.empty((1, len(labels)))
            for number, one in enumerate(labels):
                places = one.astype(np.intp) * test.size + codes
                counts = np.bincount(places, minlength=count * test.size).reshape(count, -1).astype(np.float64)
                found[0, number] = np.logaddexp.reduce(log_bf_of_partitions(counts, chosen, self.model) + log_prior)
            return found

        return log_bf10

    @property
    def _means(self) -> int:
        """How many vectors of features are held for a relabelling."""
        return 1

    def bytes_of(self, test: WeightedTest) -> int:
        """Memory of one relabelling."""
        return len(self.rows) + 8 * self._means * len(test.lengthscales) * test.count

    def work_of(self, test: WeightedTest) -> int:
        """Work of one relabelling."""
        return work_of(len(self.rows), test)


class Labels(RowLabels):
    """Permuted labels of the pooled rows of two samples: which of them are in the first sample."""

    def draw(self, generator: np.random.Generator) -> Flags:
        """Random labels, (N,)."""
        return generator.permutation(np.arange(len(self.rows)) < self.observed.sum())

    def log_bf10(self, test: WeightedTest) -> Callable[[Flags], Array]:
        """Log BF10 at every lengthscale of a test, (m, B), as a function of labels (B, N)."""
        if isinstance(test, LevelTest):
            return self._of_levels(test, np.array([[0, 1]]))
        first = int(self.observed.sum())
        splits = Splits.of(self.rows[:, test.columns], first, test.features, test.lengthscales, self.model, self.every)
        return lambda labels: splits.log_bf10(labels.T)


@dataclass(frozen=True, eq=False)
class Signs(RowLabels):
    """Swaps within pairs, which change the signs of the differences of features; the label says who is swapped.

    Attributes
    ----------
    partners
        The other row of each pair, (n, D).
    """

    partners: Array

    @property
    def identity(self) -> tuple[Array, ...]:
        """The sums of the pairs, and how far apart their members are."""
        return pair_symmetric(self.rows, self.partners)

    def draw(self, generator: np.random.Generator) -> Flags:
        """Random swaps, (n,)."""
        return generator.random(len(self.rows)) < 0.5

    def log_bf10(self, test: WeightedTest) -> Callable[[Flags], Array]:
        """Log BF10 at every lengthscale of a test, (m, B), as a function of swaps (B, n)."""
        features, lengthscales = test.features, test.lengthscales
        x, y = self.rows[:, test.columns], self.partners[:, test.columns]
        moments = local.pair_moments(features, x, y, lengthscales, halves=False).differences
        n = moments.count
        # The signs cancel in the sum of squares.
        squares = Moments(n, np.zeros_like(moments.mean), moments.second_moment)
        blind = Blind(Hypotheses.of(Difference.of_pairs(squares), self.model, features, lengthscales), self.every)

        def log_bf10(swapped: Flags) -> Array:
            sums = local.weighted_sums(
                features, (x, y), lengthscales, lambda block: 1.0 - 2.0 * swapped[:, block].astype(np.float64)
            )
            return blind.log_bf10(sums / n)

        return log_bf10


@dataclass(frozen=True, eq=False)
class GroupLabels(RowLabels):
    """Permuted labels of the pooled rows of several groups: the number of the group of each row.

    The covariance is that of all rows, whatever the labels, so that one decomposition serves all relabellings.

    Attributes
    ----------
    labels
        The numbers of the groups of all rows, increasing, (N,).
    """

    labels: NDArray[np.int8]

    @classmethod
    def of(cls, groups: Sequence[Array], model: Model) -> GroupLabels:
        """Return the labels of the rows of each group.

        Groups are numbered by size: those of one size are exchangeable, so that their order does not matter.
        """
        by_size = sorted(groups, key=len)
        rows = np.concatenate(by_size)
        labels = np.repeat(np.arange(len(groups), dtype=np.int8), [len(one) for one in by_size])
        order = np.lexsort(rows.T[::-1])
        return cls(rows[order], labels[order], model, labels)

    @cached_property
    def sizes(self) -> Array:
        """Number of rows of each group, (k,)."""
        return np.bincount(self.labels).astype(np.float64)

    def draw(self, generator: np.random.Generator) -> NDArray[np.int8]:
        """Random labels, (N,)."""
        return generator.permutation(self.labels)

    def log_bf10(self, test: WeightedTest) -> Callable[[NDArray[np.int8]], Array]:
        """Log BF10 at every lengthscale of a test, averaged over partitions, (m, B), as a function of labels (B, N)."""
        chosen = _fixed_partitions(len(self.sizes))
        if isinstance(test, LevelTest):
            return self._of_levels(test, chosen)
        rows, features, lengthscales, sizes = self.rows[:, test.columns], test.features, test.lengthscales, self.sizes
        [pooled] = local.sample_moments(features, (rows,), lengthscales)
        contrasts = Contrasts.around(sizes, pooled.covariance, features, lengthscales, self.model).coarse()
        log_prior = partitions.log_prior(chosen)
        log_prior = log_prior - np.logaddexp.reduce(log_prior)
        groups = np.arange(len(sizes))[:, np.newaxis]

        def log_bf10(labels: NDArray[np.int8]) -> Array:
            def weights(block: slice) -> Array:
                member = labels[:, np.newaxis, block] == groups
                return np.asarray((member / sizes[:, np.newaxis]).reshape(len(labels) * len(sizes), -1))

            means = local.weighted_sums(features, (rows,), lengthscales, weights, pooled.mean)
            shaped = means.reshape(len(means), len(labels), len(sizes), -1)
            by_partition = contrasts.with_means(shaped).log_bf(chosen)  # (m, B, P)
            return np.asarray(np.logaddexp.reduce(by_partition + log_prior, axis=2))

        return log_bf10

    @property
    def _means(self) -> int:
        return 2 * len(self.sizes)


def _fixed_partitions(k: int) -> Indices:
    """The partitions of the statistic, which depend on nothing but k: all, or for many groups those of one and others.

    Of many groups they are all different, and each group against all others.
    """
    if k <= _MOST_GROUPS:
        return partitions.all_partitions(k)[1:]
    alone = [partitions.normalised(int(group == other) for other in range(k)) for group in range(k)]
    return np.array([tuple(range(k)), *alone], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Splits:
    """Log BF10 of two independent samples for any labels of the pooled rows.

    V is that of all rows, whichever sample they are of, which is what the default model has.

    Attributes
    ----------
    deltas
        Δ at every lengthscale, (m, B, s), as a function of labels (N, B) that say which rows are in the first one.
    blind
        What judges them.
    bytes_each
        Memory of one relabelling.
    """

    deltas: Callable[[Flags], Array]
    blind: Blind
    bytes_each: int

    @classmethod
    def of(
        cls, rows: Array, n_first: int, features: FeatureMap, lengthscales: Array, model: Model, every: int = 1
    ) -> Splits:
        """Go once over the pooled rows (N, D); every `every`-th amplitude is used."""
        [pooled] = local.sample_moments(features, (rows,), lengthscales)
        n_second = len(rows) - n_first
        both = 1.0 / n_first + 1.0 / n_second
        difference = Difference.of_counts(np.zeros_like(pooled.mean), pooled.covariance * both, n_first, n_second)
        blind = Blind(Hypotheses.of(difference, model, features, lengthscales), every)

        def deltas(is_first: Flags) -> Array:
            def weights(block: slice) -> Array:
                return is_first[block].T.astype(np.float64)

            sums = local.weighted_sums(features, (rows,), lengthscales, weights, pooled.mean)
            # The centered features add up to zero.
            return np.asarray(both * sums)

        return cls(deltas, blind, len(rows) + 8 * len(lengthscales) * features.count)

    def log_bf10(self, is_first: Flags) -> Array:
        """Log BF10 at every lengthscale, (m, B), for labels (N, B)."""
        return self.blind.log_bf10(self.deltas(is_first))

    def with_sizes(self, is_first: Flags) -> tuple[Array, OfColumns | None]:
        """The same, and the effect of each labelling, for models that say."""
        deltas = self.deltas(is_first)
        log_bf10 = self.blind.log_bf10(deltas)
        if not self.blind.hypotheses.model.has_effect:
            return log_bf10, None
        return log_bf10, self.blind.sizes(deltas, log_bf10.argmax(axis=0))


@dataclass(frozen=True, eq=False)
class Blind:
    """Log BF10 where V does not know the labels, so that one decomposition of V and R serves all relabellings."""

    hypotheses: Hypotheses
    every: int = 1  # every how many-th amplitude is used

    def log_bf10(self, deltas: Array) -> Array:
        """Log BF10 at every lengthscale for Δ of every relabelling, (m, B, s), as (m, B)."""
        return np.stack([log_total(self._at(index, delta)) for index, delta in enumerate(deltas)])

    @cached_property
    def _effects(self) -> OfLabels:
        return OfLabels(self.hypotheses)

    def sizes(self, deltas: Array, likeliest: Indices) -> OfColumns:
        """The effect of every relabelling at its likeliest lengthscale, given by its number, (B,)."""
        found = np.empty((2, len(likeliest)))
        for index in np.unique(likeliest).tolist():
            here = np.flatnonzero(likeliest == index)
            delta = deltas[index, here]
            found[:, here] = self._effects.at(index, delta, self._at(index, delta))
        return OfColumns(*found)

    def _at(self, index: int, delta: Array) -> Array:
        """Log of prior weight × BF10 of every amplitude, (B, A)."""
        given = self.hypotheses
        log_variance, log_weight = given.amplitudes(self.every)
        shares, log_determinants = evidence.signal_shares(given.spectra.eigenvalues[index], log_variance[index])
        explained = np.square(delta @ given.spectra.basis[index]) @ shares.T  # (B, A)
        given_amplitude = evidence.compare(explained, log_determinants, given.noise.rows, given.noise.even)
        return np.asarray(given_amplitude + log_weight)
