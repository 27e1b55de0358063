"""The p-value and the e-value of several groups from permuted labels.

The covariance is that of all rows, whatever the labels, so that one decomposition serves all relabellings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Indices
from twosample.features.maps import FeatureMap
from twosample.inference import partitions, permutation
from twosample.inference.contrasts import Contrasts
from twosample.inference.evidence import mean_diagonal
from twosample.inference.permutation import Relabelled
from twosample.models import Model
from twosample.places import local

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = ["test"]

# The statistic of so many groups has all partitions.
_MOST_GROUPS = 4
# Relabellings that are worked on at the same time.
_LABELLINGS = 64


def test(
    plan: Plan,
    groups: tuple[Array, ...],
    permutations: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> Relabelled:
    """Compare log BF10 with its values for random relabellings of the rows, in an order of their own.

    Groups are numbered by size: those of one size are exchangeable, so that their order does not matter.
    """
    k = len(groups)
    by_size = sorted(groups, key=len)
    rows = np.concatenate(by_size)
    labels = np.repeat(np.arange(k, dtype=np.int8), [len(one) for one in by_size])
    order = np.lexsort(rows.T[::-1])
    rows, observed = rows[order], labels[order]
    chosen = partitions.all_partitions(k)[1:] if k <= _MOST_GROUPS else _one_and_others(k)
    log_prior = partitions.log_prior(chosen)
    log_prior = log_prior - np.logaddexp.reduce(log_prior)
    statistics = np.full(1 + permutations, -np.inf)
    draws = np.stack([observed, *(generator.permutation(labels) for _ in range(permutations))])
    for features, at, log_weight, own in permutation.tests_of(plan):
        blind = _Blind.of(rows[:, own], labels, features, at, plan.model)
        for start in range(0, len(draws), _LABELLINGS):
            block = slice(start, start + _LABELLINGS)
            by_partition = blind.log_bf(draws[block], chosen)  # (m, B, P)
            both = by_partition + log_prior + log_weight[:, np.newaxis, np.newaxis]
            statistics[block] = np.logaddexp(statistics[block], np.logaddexp.reduce(both, axis=(0, 2)))
            count(len(draws[block]) * len(at))
    return Relabelled.of(statistics)


def _one_and_others(k: int) -> Indices:
    """Partitions that depend on nothing: all different, and each group against all others."""
    alone = [partitions.normalised(int(group == other) for other in range(k)) for group in range(k)]
    return np.array([tuple(range(k)), *alone], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Blind:
    """One test of several groups, for any labels of the pooled rows; its covariance is that of all rows."""

    rows: Array
    features: FeatureMap
    lengthscales: Array
    mean: Array  # (m, s)
    contrasts: Contrasts

    @classmethod
    def of(
        cls, rows: Array, labels: NDArray[np.int8], features: FeatureMap, lengthscales: Array, model: Model
    ) -> _Blind:
        """Go once over the rows."""
        [pooled] = local.sample_moments(features, (rows,), lengthscales)
        variance = mean_diagonal(pooled.covariance)
        sizes = np.bincount(labels).astype(np.float64)
        contrasts = Contrasts.around(sizes, pooled.covariance, variance, features, lengthscales, model).coarse()
        return cls(rows, features, lengthscales, pooled.mean, contrasts)

    def log_bf(self, labels: NDArray[np.int8], chosen: Indices) -> Array:
        """Log Bayes factors of partitions for labels (B, N) of the rows, (m, B, P)."""
        sizes = self.contrasts.sizes
        groups = np.arange(len(sizes))[:, np.newaxis]

        def weights(block: slice) -> Array:
            member = labels[:, np.newaxis, block] == groups
            return np.asarray((member / sizes[:, np.newaxis]).reshape(len(labels) * len(sizes), -1))

        means = local.weighted_sums(self.features, (self.rows,), self.lengthscales, weights, self.mean)
        shaped = means.reshape(len(means), len(labels), len(sizes), -1)
        return self.contrasts.with_means(shaped).log_bf(chosen)
