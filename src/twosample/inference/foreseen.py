"""Log BF10 of samples of any size that are yet to be drawn, from the rows of a pilot: no rows are simulated.

In each test, at every lengthscale, the difference of the laws has the posterior that the test gives it: along the
directions in which V and a²R are diagonal, the scores u of the pilot's Δ become gu, and the posterior variance is g,
with g = a²λ/(1 + a²λ) averaged over the posterior of the amplitude a. Resampled rows of the pilot have the noise e of a
pilot, in all tests at once, so that gu + √g e is drawn from that posterior. Rows that are resampled once more have the
noise of new samples; the sum is their Δ. A difference is not in all tests and at all lengthscales at once: which have
one is drawn from their posterior too, given that one of them has.

These are judged by the noise V within the pilot's samples. New samples estimate it from their own N rows, Δ included:
with q = ΔᵀV⁻¹Δ, and d directions above the floor, they have q/(1 + q/N), q being N/(N - 1 - d) times as large on
average (Hotelling's T²). What a pilot of few rows does not know of V, as its features are more, is what the floor says
for its size: larger samples than the pilot have that noise of a row too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array, Indices
from twosample.common.threads import in_order
from twosample.inference import evidence
from twosample.inference.bayes_factor import log_total
from twosample.inference.evidence import Difference, Hypotheses
from twosample.places import local

if TYPE_CHECKING:
    from twosample.inference.relabelling import WeightedTest
    from twosample.models import Model

__all__ = ["Foreseen", "Pilot", "foresee", "posterior_differences", "unknown_noise", "which_are_true"]

# Every second amplitude is enough, as for all labellings of few rows.
_EVERY = 2


@dataclass(frozen=True, eq=False)
class Foreseen:
    """Log BF10 of new samples of one size by one test, from their Δ."""

    hypotheses: Hypotheses  # with the noise within samples, and no Δ

    def log_bf10(self, deltas: Array) -> Array:
        """Log BF10 at every lengthscale for Δ of many samples, (m, B, s), as (m, B)."""
        return np.stack([self._at(index, delta) for index, delta in enumerate(deltas)])

    def _at(self, index: int, delta: Array) -> Array:
        given = self.hypotheses
        basis, rows = given.spectra.basis[index], given.noise.rows
        directions = float(np.sum(basis * (given.difference.noise[index] @ basis)))
        larger = rows / max(rows - 1.0 - directions, 1.0)
        log_variance, log_weight = given.amplitudes(_EVERY)
        shares, log_determinants = evidence.signal_shares(given.spectra.eigenvalues[index], log_variance[index])
        squares = larger * np.square(delta @ basis)
        before = squares.sum(axis=1)[:, np.newaxis]
        after = before - squares @ shares.T  # (B, A)
        # Of V + ΔΔᵀ/N and a²R + V + ΔΔᵀ/N, by Sherman and Morrison.
        explained = rows * (before / (rows + before) - after / (rows + after))
        cost = log_determinants + np.log1p(after / rows) - np.log1p(before / rows)
        given_amplitude = evidence.compare(explained, cost, rows, given.noise.even)
        return log_total(given_amplitude + log_weight)


def unknown_noise(pilot: Difference, new: Difference, model: Model) -> Array:
    """The noise of new samples beyond that in their covariance and floor, which the pilot does not know, (m,)."""
    own, later = (model.floor.at(one.size, one.variances.mean(axis=-1)) for one in (pilot, new))
    return np.asarray(np.maximum(own * (pilot.size / new.size) - later, 0.0))


def which_are_true(
    log_bf10: Sequence[Array], tests: Sequence[WeightedTest], draws: int, generator: np.random.Generator
) -> list[Array]:
    """In which tests, at which lengthscales, there is a difference, (m, B) for each test, given that there is one.

    One of them, from their posterior given the pilot, has it. So have those with more evidence, which see it too, and
    each other one with its own posterior probability.
    """
    evidences, priors = np.concatenate(log_bf10), np.concatenate([test.log_weights for test in tests])
    log_odds = priors + evidences
    chosen = generator.choice(len(log_odds), draws, p=np.exp(log_odds - np.logaddexp.reduce(log_odds)))
    alone = generator.random(draws) < evidence.probability(log_odds)[:, np.newaxis]
    holds = (evidences[:, np.newaxis] >= evidences[chosen]) | alone
    return np.split(holds, np.cumsum([len(one) for one in log_bf10])[:-1])


def posterior_differences(pilot: Hypotheses, noise: Array) -> Array:
    """Differences of mean features from their posterior given a pilot, (m, B, s), from the noise of pilots like it."""
    log_mixture, spectra = pilot.log_mixture(), pilot.spectra
    posterior = np.exp(log_mixture - np.logaddexp.reduce(log_mixture, axis=1, keepdims=True))
    shares, _ = evidence.signal_shares(spectra.eigenvalues, pilot.log_variance)
    gain = (posterior[:, np.newaxis] @ shares)[:, 0]  # (m, s)
    scores = (gain * spectra.scores)[:, np.newaxis] + np.sqrt(gain)[:, np.newaxis] * (noise @ spectra.basis)
    return np.asarray(scores @ np.swapaxes(pilot.noise.V @ spectra.basis, -1, -2))


@dataclass(frozen=True, eq=False)
class Pilot:
    """The rows of a pilot, (n_x, D) and (n_y, D) in the units of the data, in an order of their own."""

    x: Array
    y: Array
    paired: bool

    @property
    def count(self) -> int:
        """Number of rows of both samples, or of pairs."""
        return len(self.x) if self.paired else len(self.x) + len(self.y)

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of rows of each sample; of pairs their number, twice."""
        return len(self.x), len(self.y)

    def rows(self, test: WeightedTest) -> tuple[Array, ...]:
        """All rows, or both rows of every pair, in the columns of a test."""
        if self.paired:
            return self.x[:, test.columns], self.y[:, test.columns]
        return (np.concatenate([self.x, self.y])[:, test.columns],)

    def resampled(self, sizes: tuple[int, int], draws: int, generator: np.random.Generator) -> Array:
        """What each row counts in Δ of samples of these sizes that are drawn from the pilot's, (B, N)."""
        (n_x, n_y), count = sizes, self.count
        if self.paired:
            return self._times(generator.integers(0, count, (draws, n_x))) / n_x
        x, y = generator.integers(0, len(self.x), (draws, n_x)), generator.integers(len(self.x), count, (draws, n_y))
        return self._times(x) / n_x - self._times(y) / n_y

    def without_difference(self, sizes: tuple[int, int], draws: int, generator: np.random.Generator) -> Array:
        """The same of samples from one law, that of both together in the shares of the sizes; pairs are swapped."""
        (n_x, n_y), count = sizes, self.count
        if self.paired:
            times = self._times(generator.integers(0, count, (draws, n_x)))
            return (2.0 * generator.binomial(times, 0.5) - times) / n_x

        def of_both(n: int) -> Array:
            x, y = generator.integers(0, len(self.x), (draws, n)), generator.integers(len(self.x), count, (draws, n))
            return self._times(np.where(generator.random((draws, n)) < n_x / (n_x + n_y), x, y)) / n

        return of_both(n_x) - of_both(n_y)

    def _times(self, chosen: Indices) -> Indices:
        """How often each row is among those chosen (B, n), (B, N)."""
        draws, count = len(chosen), self.count
        places = chosen + count * np.arange(draws)[:, np.newaxis]
        return np.bincount(places.ravel(), minlength=draws * count).reshape(draws, count)

    @property
    def contrast(self) -> Array:
        """What each row counts in Δ of the pilot, (N,)."""
        if self.paired:
            return np.full(self.count, 1.0 / self.count)
        return np.repeat([1.0 / len(self.x), -1.0 / len(self.y)], self.sizes)

    def log_bf10(self, test: WeightedTest, model: Model) -> Array:
        """Log BF10 of the pilot by a test, at every lengthscale, (m,)."""
        features, lengthscales, contrast = test.features, test.lengthscales, self.contrast[np.newaxis]
        delta = local.weighted_sums(features, self.rows(test), lengthscales, lambda block: contrast[:, block])
        own = self.noises(test)(self.sizes)[0]._replace(delta=delta[:, 0])
        return log_total(Hypotheses.of(own, model, features, lengthscales).log_mixture())

    def noises(self, test: WeightedTest) -> Callable[[tuple[int, int]], tuple[Difference, Difference]]:
        """No Δ with the noise of samples of some sizes: within the pilot's samples, and where there is no difference.

        The rows are scanned once for all sizes. Where there is no difference rows are from both samples, in the shares
        of the sizes.
        """
        rows, features, lengthscales = self.rows(test), test.features, test.lengthscales
        if self.paired:
            x, y = rows
            own = local.pair_moments(features, x, y, lengthscales, halves=False).differences
            none = np.zeros_like(own.mean)
            between = own.mean[..., :, np.newaxis] * own.mean[..., np.newaxis, :]

            def of_pairs(sizes: tuple[int, int]) -> tuple[Difference, Difference]:
                n = float(sizes[0])
                within = own.covariance / n
                return Difference(none, within, n, n), Difference(none, within + between / n, n, n)

            return of_pairs
        first = len(self.x)
        of_x, of_y = local.sample_moments(features, (rows[0][:first], rows[0][first:]), lengthscales)
        shift = of_x.mean - of_y.mean

        def of_samples(sizes: tuple[int, int]) -> tuple[Difference, Difference]:
            share, both = sizes[0] / sum(sizes), 1.0 / sizes[0] + 1.0 / sizes[1]
            within = both * (share * of_x.covariance + (1.0 - share) * of_y.covariance)
            between = both * share * (1.0 - share) * (shift[..., :, np.newaxis] * shift[..., np.newaxis, :])
            none = np.zeros_like(of_x.mean)
            return Difference.of_counts(none, within, *sizes), Difference.of_counts(none, within + between, *sizes)

        return of_samples


def foresee(
    pilot: Pilot,
    tests: Sequence[WeightedTest],
    model: Model,
    sizes: Sequence[tuple[int, int]],
    draws: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> tuple[Array, Array]:
    """Log BF10 of new samples of these sizes, (S, B) each: with the difference of the pilot, and with none.

    Parameters
    ----------
    pilot
        Its rows.
    tests, model
        The tests whose Bayes factors are averaged, with their prior weights, and the model of all of them.
    sizes
        Rows of either sample; of pairs their number, twice.
    draws
        Number of samples of each size, B.
    generator
        The source of what is drawn.
    count
        Is called with the number of tests done.
    """
    # The differences are the same for all sizes, so that curves over sizes are smooth.
    weights = [pilot.contrast[np.newaxis], pilot.resampled(pilot.sizes, draws, generator) - pilot.contrast]
    for size in sizes:
        weights += [pilot.resampled(size, draws, generator) - pilot.contrast]
        weights += [pilot.without_difference(size, draws, generator)]
    stacked, ends = np.concatenate(weights), np.cumsum([len(one) for one in weights])[:-1]

    true = which_are_true([pilot.log_bf10(test, model) for test in tests], tests, draws, generator)

    def of_test(task: tuple[WeightedTest, Array, np.random.Generator]) -> Array:
        test, holds, own_generator = task
        features, lengthscales = test.features, test.lengthscales
        given = partial(Hypotheses.of, model=model, features=features, lengthscales=lengthscales)
        sums = local.weighted_sums(features, pilot.rows(test), lengthscales, lambda block: stacked[:, block])
        delta, noise, *noises = np.split(sums, ends, axis=1)
        judges, found = pilot.noises(test), []
        of_pilot = judges(pilot.sizes)[0]
        differences = posterior_differences(given(of_pilot._replace(delta=delta[:, 0])), noise) * holds[..., np.newaxis]
        for number, size in enumerate(sizes):
            for difference, shift, drawn in zip(
                judges(size), (differences, np.zeros(1)), noises[2 * number :], strict=False
            ):
                more = unknown_noise(of_pilot, difference, model)[:, np.newaxis, np.newaxis]
                judged = difference._replace(noise=difference.noise + more * np.eye(features.count))
                deltas = shift + drawn + np.sqrt(more) * own_generator.standard_normal(drawn.shape)
                found.append(test.sum(Foreseen(given(judged)).log_bf10(deltas)))
        return np.stack(found)

    total = np.full((2 * len(sizes), draws), -np.inf)
    for found in in_order(of_test, zip(tests, true, generator.spawn(len(tests)), strict=True)):
        total = np.logaddexp(total, found)
        count(1)
    return total[::2], total[1::2]
