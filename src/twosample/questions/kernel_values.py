"""The answer from kernel values at points: evidence, posterior of the parameters, witness, effect and permutations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twosample.common.arguments import Seed, count_of, generator_of, positive, share_of
from twosample.common.arrays import Array, Flags, Indices
from twosample.common.progress import WorkCounter
from twosample.common.threads import one_thread
from twosample.errors import AccuracyWarning, FlatFeaturesWarning, InputError, Setting, warn
from twosample.features.domains.precomputed import BlockFeatures
from twosample.features.statistics import FeatureStatistics
from twosample.inference import evidence, relabelling
from twosample.inference.effect import Effect, combine, of_part
from twosample.inference.lengthscale import H1, Curves, LengthscalePosterior
from twosample.inference.witness import WitnessMixture
from twosample.models import Model, resolve
from twosample.places import local
from twosample.results.objects_result import ObjectsResult
from twosample.results.result_parts import Amplitude, Diagnostics

__all__ = ["Pool", "Question", "answer"]

# Parameters, and objects of a sample, that the effect is computed from.
_PARAMETERS, _OBJECTS = 8, 2000
# Values of the witness that a result holds of a sample, and places of objects.
_SHOWN, _TELLING = 500, 20
# Kernel values that differ by less are the same, where objects are put in order.
_DIGITS = 9
# Relative size of a negative eigenvalue that rounding explains, also in single precision.
_ROUNDED_EIGENVALUE = 1e-5


@dataclass(frozen=True)
class Question:
    """What is asked of two samples of objects: the options of `twosample.test` that are not about tables."""

    model: Model
    prior_odds: float
    permutations: int
    rope: float | None
    generator: np.random.Generator

    @classmethod
    def of(cls, model: str | Model, prior_odds: float, permutations: int, rope: float | None, rng: Seed) -> Question:
        """The checked options."""
        chosen = resolve(model)
        if chosen.needs_pairs or not chosen.has_effect:
            raise InputError(
                f"model: {chosen.name!r} needs rows of numbers",
                argument="model",
                remedy=("use ", Setting("model", "adaptive")),
            )
        return cls(
            chosen,
            positive(prior_odds, "prior_odds"),
            count_of(permutations, "permutations", 0),
            None if rope is None else share_of(rope, "rope", 0.5),
            generator_of(rng),
        )


@dataclass(frozen=True, eq=False)
class Pool:
    """Objects of both samples, and the kernel of them at the points.

    Attributes
    ----------
    x, y
        The objects.
    block
        Kernel values of those of x and then of y at the points, (m, n, s).
    between
        Those between the points, (m, s, s).
    read
        Kernel values of other objects at the points, (m, n, s).
    """

    x: Sequence[Any]
    y: Sequence[Any]
    block: Array
    between: Array
    read: Callable[[object], Array]

    @property
    def scale(self) -> Array:
        """The mean of k(z, z), (m, 1, 1), by which the kernel is divided: after that its units do not matter."""
        typical = np.einsum("mss->m", self.between) / self.between.shape[1]
        return np.where(typical > 0.0, typical, 1.0)[:, None, None]

    def ordered(self) -> tuple[BlockFeatures, Indices]:
        """Features of the objects in an order that does not depend on the one they were given in, and that order."""
        block = self.block / self.scale
        keys = [(np.round(one, _DIGITS) + 0.0).tobytes() for one in np.swapaxes(block, 0, 1)]
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
        return BlockFeatures(block[:, order], self.between / self.scale), order


def answer(
    pool: Pool,
    parameters: tuple[str, ...],
    kernel: str,
    question: Question,
    counter: WorkCounter,
    notes: tuple[str, ...] = (),
) -> ObjectsResult:
    """The answer from kernel values at points."""
    features, order = pool.ordered()
    n_x, model = len(pool.x), question.model
    from_x = order < n_x
    lowest = _indefinite(features.at_points)
    if lowest:
        doubt = AccuracyWarning(
            f"kernel: it is not positive semidefinite at the points (eigenvalues from {lowest:.2g} on, relative to the "
            "largest); the Bayes factor and the p-value hold, but MMD and AUC may not",
            argument="kernel",
        )
        warn(doubt)
        notes = (*notes, str(doubt))
    if features.flat:
        flat = FlatFeaturesWarning(
            "kernel: its values at the points are the same for all objects, so that nothing follows from them",
            argument="kernel",
            remedy="use another kernel or other parameters",
        )
        warn(flat)
        notes = (*notes, str(flat))
    with one_thread():
        rows_x, rows_y = features.rows(from_x), features.rows(~from_x)
        numbers = features.parameters
        x, y = local.sample_moments(features, (rows_x, rows_y), numbers)
        by_parameter = evidence.evaluate(FeatureStatistics(numbers, x, y), features, model)
        curves = Curves(coherent=True, log_prior_odds=math.log(question.prior_odds))
        posterior = LengthscalePosterior.given(by_parameter, curves)
        mass = posterior.mass[:, H1]
        mixture = WitnessMixture.of_each(by_parameter, mass, features, model)
        scores, _ = mixture.through(features, features.rows())
        relabelled: dict[str, Any] = {"pvalue": None}
        if question.permutations:
            relabelled = _relabelled(features, from_x, question, counter)._asdict()
    log_amplitudes, _ = evidence.amplitudes(model)
    given_parameter = np.exp(by_parameter.log_mixture - by_parameter.log_bf10[:, None])
    result = ObjectsResult(
        log_bf10=posterior.log_bf10,
        prior_odds=question.prior_odds,
        amplitude=Amplitude(np.exp(log_amplitudes), mass @ given_parameter, fixed=model.amplitude is None),
        n_x=len(rows_x),
        n_y=len(rows_y),
        paired=False,
        kernel=kernel,
        model=model,
        diagnostics=Diagnostics(
            evaluations=len(numbers),
            quadrature_error=0.0,
            pairs=0,
            permutations=question.permutations,
            notes=notes,
            points=features.count,
            flat=features.flat,
        ),
        **relabelled,
        rope=question.rope,
        parameters=parameters,
        parameter_log_bf10=by_parameter.log_bf10,
        parameter_posterior=mass,
        witness_x=_quantiles(scores[from_x]),
        witness_y=_quantiles(scores[~from_x]),
        telling_x=_largest(scores[from_x], order[from_x]),
        telling_y=_largest(-scores[~from_x], order[~from_x] - n_x),
    )
    rows = _some(rows_x), _some(rows_y)
    result = replace(result, effect=_effect(by_parameter, mass, features, model, rows, result.prob_h1))

    def witness(at: object) -> tuple[Array, Array]:
        there = BlockFeatures(pool.read(at) / pool.scale, features.at_points)
        with one_thread():
            return mixture.through(there, there.rows())

    result.remember_objects(pool.x, pool.y, witness)
    counter.finish()
    return result


def _relabelled(
    features: BlockFeatures, from_x: Flags, question: Question, counter: WorkCounter
) -> relabelling.Relabelled:
    """What log BF10 is worth among its values for relabelled objects."""
    observed = from_x if 2 * int(from_x.sum()) <= len(from_x) else ~from_x
    numbers = features.parameters
    log_weights = np.full(len(numbers), -math.log(len(numbers)))
    test = relabelling.WeightedTest(numbers, log_weights, slice(None), lambda: features)
    counter.expect(relabelling.work([test], len(observed), question.permutations))
    drawn = relabelling.Labels(features.rows(), observed, question.model)
    return relabelling.compare(drawn, [test], question.permutations, question.generator, counter)


def _effect(
    by_parameter: evidence.Evidence,
    mass: Array,
    features: BlockFeatures,
    model: Model,
    rows: tuple[Array, Array],
    prob_h1: float,
) -> Effect:
    """How much the samples differ, by the likeliest parameters."""
    kept = np.sort(np.argsort(-mass, kind="stable")[:_PARAMETERS])
    with one_thread():
        part = of_part(by_parameter.select(kept), mass[kept] / mass[kept].sum(), features, model, *rows)
    return combine([part], np.ones(1), prob_h1)


def _some(rows: Array) -> Array:
    """At most so many rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, _OBJECTS).round().astype(np.intp))]


def _quantiles(values: Array) -> Array:
    """All values in order, or so many quantiles of them."""
    ordered = np.sort(values)
    if len(ordered) <= _SHOWN:
        return ordered
    return np.asarray(np.quantile(ordered, (np.arange(_SHOWN) + 0.5) / _SHOWN))


def _largest(values: Array, places: Indices) -> tuple[int, ...]:
    """Places of the largest values, the largest first; of equal ones the first place."""
    order = np.lexsort([places, -values.round(_DIGITS)])[:_TELLING]
    return tuple(places[order].tolist())


def _indefinite(between: Array) -> float:
    """The smallest eigenvalue over the largest, where that is negative and more than rounding; else 0."""
    values = np.linalg.eigvalsh(between)
    lowest = float((values[:, 0] / np.maximum(np.abs(values).max(axis=1), np.finfo(np.float64).tiny)).min())
    return lowest if lowest < -_ROUNDED_EIGENVALUE else 0.0
