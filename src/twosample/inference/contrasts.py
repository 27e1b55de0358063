"""Bayes factors of partitions of several groups: which of them share a mean embedding.

Group g has n_g rows and mean features m_g with covariance V/n_g, V that of the features of all rows. Groups of a block
b share one mean μ + δ_b, where μ is unknown (flat) and the δ_b are independent with covariance a²R/2, so that any two
blocks differ by a Gaussian process with a²R, as two samples do. V and R are brought to diagonal form once. In each
direction, with t = a²λ/2, N_b = Σ n_g, w_b = N_b/(1 + N_b t) and means ū_b of the scores,

    2 log BF = Σ_b N_b ū_b² - N ū² - [Σ_b w_b ū_b² - (Σ_b w_b ū_b)²/Σ_b w_b] - Σ_b log(1 + N_b t) - log(Σ_b w_b/N)

against "all alike", were V known; as it is not, what is explained, all but the logarithms, counts as in
`evidence.compare`. For two groups it is the Bayes factor of `evidence`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.common.threads import in_order
from twosample.inference import evidence
from twosample.inference.evidence import Difference, Hypotheses

if TYPE_CHECKING:
    from twosample.features.maps import PointKernel
    from twosample.features.statistics import Moments
    from twosample.models import Model

__all__ = ["Contrasts"]

# Values that are worked on at the same time.
_MOST_VALUES = 1 << 20
# More partitions are worked on in threads.
_FEW = 8
# Every fourth amplitude is enough where log BF10 is only compared.
_COARSE = 4


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Several groups in the directions in which V and R are diagonal, at every lengthscale."""

    sizes: Array  # rows of each group, (k,)
    scores: Array  # mean features of each group, less those of all rows, (m, B, k, s); B labellings of the same rows
    hypotheses: Hypotheses  # with V for one row, and no Δ
    every: int = 1  # every how many-th amplitude is used

    @classmethod
    def of(cls, groups: Sequence[Moments], features: PointKernel, lengthscales: Array, model: Model) -> Contrasts:
        """Return the contrasts of groups with these moments."""
        sizes = np.array([group.count for group in groups], dtype=np.float64)
        means = np.stack([group.mean for group in groups], axis=1)
        centered = means - (sizes / sizes.sum()) @ means[:, np.newaxis]
        within = sum(group.scatter for group in groups)
        between = np.swapaxes(centered, 1, 2) * sizes @ centered
        empty = cls.around(sizes, (within + between) / sizes.sum(), features, lengthscales, model)
        return empty.with_means(centered[:, np.newaxis])

    @classmethod
    def around(
        cls,
        sizes: Array,
        covariance: Array,
        features: PointKernel,
        lengthscales: Array,
        model: Model,
    ) -> Contrasts:
        """With the covariance of the features of all rows, (m, s, s), whichever group they are of; no labellings yet.

        The noise of one row is n/2 times that of the difference of two samples of size n, and so is its floor; n is
        the harmonic mean of the sizes. What is rare is so in the smallest group.
        """
        size = len(sizes) / float(np.sum(1.0 / sizes))
        few, many = float(sizes.min()), float(sizes.max())
        # As of one row: the noise of the difference of these two groups is 1/few + 1/many times that.
        skew = evidence.skew_of(few, many) / (0.5 * size * (1.0 / few + 1.0 / many))
        none = np.zeros(covariance.shape[:2])
        difference = Difference(none, covariance, size, float(sizes.sum()), skew=skew, share=0.5 * size)
        hypotheses = Hypotheses.of(difference, model, features, lengthscales)
        return cls(sizes, np.empty((len(lengthscales), 0, len(sizes), features.count)), hypotheses)

    def with_means(self, centered: Array) -> Contrasts:
        """With the mean features of the groups, less those of all rows, of each labelling, (m, B, k, s)."""
        return replace(self, scores=centered @ self.hypotheses.spectra.basis[:, np.newaxis])

    def coarse(self) -> Contrasts:
        """Return the same contrasts with fewer amplitudes."""
        return replace(self, every=_COARSE)

    def log_bf(self, partitions: Indices, tick: Callable[[int], object] | None = None) -> Array:
        """Log Bayes factors of partitions (P, k) against "all alike" at every lengthscale, (m, B, P).

        `tick` is called with the number of partitions just done, at each lengthscale.
        """
        log_variance, _ = self.hypotheses.amplitudes(self.every)
        size = max(1, _MOST_VALUES // (log_variance.shape[1] * self.scores.shape[-1]))
        parts = [partitions[start : start + size] for start in range(0, len(partitions), size)]

        def at(index: int) -> Array:
            return np.concatenate([self._at(index, part) for part in parts], axis=1)

        places = range(len(self.scores))
        found = []
        for values in in_order(at, places) if len(partitions) > _FEW else map(at, places):
            found.append(values)
            if tick is not None:
                tick(len(partitions))
        return np.stack(found)

    def _at(self, index: int, partitions: Indices) -> Array:
        """Log Bayes factors at one lengthscale, (B, P)."""
        k, given = partitions.shape[1], self.hypotheses
        log_variance, log_weight = given.amplitudes(self.every)
        member, places = _blocks(partitions)
        rows = member @ self.sizes  # (U,)
        of_block = member * self.sizes / rows[:, np.newaxis]  # (U, k): from groups to means of blocks
        in_partition = np.zeros((len(partitions), len(member)))
        np.put_along_axis(in_partition, places, 1.0, axis=1)
        t = 0.5 * np.exp(log_variance[index])[:, np.newaxis] * given.spectra.eigenvalues[index]  # (A, s)
        growth = 1.0 + rows[:, np.newaxis, np.newaxis] * t
        weights = rows[:, np.newaxis, np.newaxis] / growth  # (U, A, s)
        shape = weights.shape[1:]
        total = (in_partition @ weights.reshape(len(member), -1)).reshape(-1, *shape)  # (P, A, s)
        log_determinant = in_partition @ np.log(growth).sum(axis=2) + np.log(total / self.sizes.sum()).sum(axis=2)
        step = max(1, _MOST_VALUES // (len(partitions) * t.size))
        labellings = self.scores[index]
        found = []
        for start in range(0, len(labellings), step):
            scores = labellings[start : start + step]
            means = of_block @ scores  # (B, U, s)
            squares = np.square(means)
            weighed = weights * means[:, :, np.newaxis]
            weighed = (in_partition @ weighed.reshape(*means.shape[:2], -1)).reshape(len(scores), -1, *shape)
            before = (rows[:, np.newaxis] * squares).sum(axis=2) @ in_partition.T  # (B, P)
            after = in_partition @ (weights @ squares[..., np.newaxis])[..., 0] - (weighed**2 / total).sum(axis=3)
            explained = before[:, :, np.newaxis] - after
            even = evidence.even_rows(*self.sizes)
            given_amplitude = evidence.compare(explained, log_determinant, given.noise.rows, even, k - 1)
            found.append(np.logaddexp.reduce(given_amplitude + log_weight, axis=2))
        return np.concatenate(found)

    def log_bf_of_two(self, first: Indices, second: Indices) -> Array:
        """Log Bayes factors of "different" for two unions of groups (k,), flagged, and nothing else, (m,)."""
        means, rows = [], []
        for flags in (first, second):
            weights = self.sizes * flags
            rows.append(float(weights.sum()))
            means.append((weights / rows[-1]) @ self.scores[:, 0])
        noise, even = 1.0 / rows[0] + 1.0 / rows[1], evidence.even_rows(*rows)
        given = self.hypotheses
        log_variance, log_weight = given.amplitudes(self.every)
        # In the units of the noise of their difference.
        scores = (means[0] - means[1]) / math.sqrt(noise)
        spectra = replace(given.spectra, eigenvalues=given.spectra.eigenvalues / noise, scores=scores)
        log_bf10 = evidence.spectral_log_bayes_factor(spectra, log_variance, given.noise.rows, even)
        return np.asarray(np.logaddexp.reduce(log_bf10 + log_weight, axis=1))


def _blocks(partitions: Indices) -> tuple[Array, Indices]:
    """The different blocks of partitions (P, k) as flags (U, k), and which of them each partition has, (P, most)."""
    count = int(partitions.max()) + 1
    flags = partitions[:, np.newaxis, :] == np.arange(count)[:, np.newaxis]  # (P, most, k)
    member, places = np.unique(flags.reshape(-1, partitions.shape[1]), axis=0, return_inverse=True)
    places = places.reshape(len(partitions), count)
    empty = ~member.any(axis=1)
    if empty.any():  # partitions with fewer blocks: the first of theirs stands in
        number = int(np.flatnonzero(empty)[0])
        places = np.where(places == number, places[:, :1], places)
        places = places - (places > number)
        member = member[~empty]
    return member.astype(np.float64), places
