"""Posterior of the lengthscale for models with a pseudo-likelihood, found in several passes over the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from twosample.common.arguments import LARGEST_LENGTHSCALE
from twosample.common.arrays import Array
from twosample.data import Samples
from twosample.features.maps import FeatureMap
from twosample.features.statistics import FeatureStatistics
from twosample.inference import evidence
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import Curves, LengthscalePosterior, wanted_error
from twosample.inference.quadrature import integrate
from twosample.models import Model
from twosample.paper.jacobian_pairs import Pairs
from twosample.places import local

__all__ = ["Passes", "infer", "infer_together"]

# Of 180 answers of `paper` and `published` one missed the tolerance, and three without this factor. With a coarse
# tolerance few nodes seem accurate by chance more often, so that they must reach a finer one.
_CAUTION = 10.0
_CAUTIOUS_TOLERANCE = 1e-6
# Largest number of lengthscales, smaller where each takes long: volumes may have sharp dips in ℓ that no number of
# lengthscales resolves.
_LIMIT, _ROUGH_LIMIT, _ROUGH_ROWS = 1000, 250, 50_000
# Bounds of volumes are cheaper than volumes from this number of columns on.
_COSTLY_COLUMNS = 2


@dataclass(frozen=True, eq=False)
class Passes:
    """Evidence by one or more models at any lengthscales, each time from one pass over the same checked samples."""

    samples: Samples
    features: FeatureMap
    models: Sequence[Model]  # with the same prior of the lengthscale
    pairs: Pairs | None  # those of the pseudo-likelihood; None for the Bayes factor alone
    tick: Callable[[int], object] | None = None  # called with the work done, rows × lengthscales

    def evidence(self, lengthscales: Array, *, bounds: bool = False) -> list[Evidence]:
        """The evidence of every model; with upper bounds of the volumes if `bounds`."""
        alone = [model.takes_differences_alone(self.samples.paired) for model in self.models]
        statistics = self._statistics(lengthscales, bounds, alone)
        differences = replace(statistics, x=None, y=None)
        return [
            evidence.evaluate(differences if is_alone else statistics, self.features, model)
            for model, is_alone in zip(self.models, alone, strict=True)
        ]

    def _statistics(self, lengthscales: Array, bounds: bool, alone: list[bool]) -> FeatureStatistics:
        x, y, features = self.samples.x, self.samples.y, self.features
        count = self.tick
        tick = None if count is None else (lambda rows: count(rows * len(lengthscales)))
        if self.pairs is None and not any(alone):
            moments_x, moments_y = local.sample_moments(features, (x, y), lengthscales, tick)
            return FeatureStatistics(lengthscales, moments_x, moments_y)
        left, right = (x, y) if self.pairs is None else (self.pairs.x, self.pairs.y)
        volumes = None if self.pairs is None else local.Volumes(self.pairs.usable, bounds)
        drawn = left is not x or right is not y  # from samples of unequal size
        halves = not drawn and not all(alone)
        of_pairs = local.pair_moments(features, left, right, lengthscales, volumes, tick, halves=halves)
        log_volume = None if volumes is None else of_pairs.log_volume
        statistics = FeatureStatistics(lengthscales, of_pairs.x, of_pairs.y, of_pairs.differences, log_volume)
        if drawn:
            moments_x, moments_y = local.sample_moments(features, (x, y), lengthscales, tick)
            return replace(statistics, x=moments_x, y=moments_y)
        return statistics

    @property
    def spread(self) -> float:
        """Length of the diagonal of the box around all rows, standardised."""
        x, y = self.samples.x, self.samples.y
        ranges = np.maximum(x.max(axis=0), y.max(axis=0)) - np.minimum(x.min(axis=0), y.min(axis=0))
        return min(math.hypot(*(ranges / self.samples.view.scale)), LARGEST_LENGTHSCALE)


def infer(passes: Passes, log_prior_odds: float, tolerance: float) -> tuple[Evidence, LengthscalePosterior]:
    """The posterior of the lengthscale by one model, and the evidence at the lengthscales it was built from."""
    seen: list[Evidence] = []
    caution = max(_CAUTION, tolerance / _CAUTIOUS_TOLERANCE)
    [posterior] = infer_together(passes, log_prior_odds, tolerance, caution=caution, keep=seen.extend)
    return Evidence.concatenate(seen), posterior


def infer_together(
    passes: Passes,
    log_prior_odds: float = 0.0,
    tolerance: float = 1e-6,
    caution: float = 1.0,
    keep: Callable[[list[Evidence]], object] | None = None,
) -> list[LengthscalePosterior]:
    """The posterior of the lengthscale by each model, from the same passes and with one estimate of the error.

    The evidence of all models at new lengthscales is given to `keep`.
    """
    prior = passes.models[0].lengthscale
    meanings = [Curves(model.coherent, log_prior_odds) for model in passes.models]

    def curves(log_lengthscales: Array, bounds: bool = False) -> Array:
        new = passes.evidence(np.exp(log_lengthscales), bounds=bounds)
        if keep is not None and not bounds:
            keep(new)
        return np.concatenate([Curves.of(one, prior) for one in new], axis=1)

    def integrands(stacked: Array) -> Array:
        parts = zip(meanings, np.split(stacked, len(meanings), axis=1), strict=True)
        return np.concatenate([meaning.integrands(part) for meaning, part in parts], axis=1)

    ends = np.cumsum([2 if meaning.coherent else 4 for meaning in meanings])[:-1]

    def wanted(log_integrals: Array) -> float:
        parts = zip(meanings, np.split(log_integrals, ends), strict=True)
        return min(wanted_error(meaning.log_bf10(part), tolerance) for meaning, part in parts)

    low, high = np.log(prior.bounds(passes.features.typical, passes.spread))
    pairs, costly = passes.pairs, passes.samples.n_columns >= _COSTLY_COLUMNS
    rule = integrate(
        curves,
        low,
        high,
        integrands=integrands,
        tolerance=wanted,
        caution=caution,
        limit=_LIMIT if pairs is None else min(_LIMIT, max(_ROUGH_LIMIT, _ROUGH_ROWS // len(pairs.x))),
        look_first=partial(curves, bounds=True) if costly and pairs is not None else pairs is not None,
    )
    return [
        LengthscalePosterior(replace(rule, curves=part), meaning)
        for meaning, part in zip(meanings, np.split(rule.curves, len(meanings), axis=1), strict=True)
    ]
