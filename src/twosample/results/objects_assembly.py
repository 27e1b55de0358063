"""From evidence about objects to the result that a user sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.threads import one_thread
from twosample.inference.effect import Effect, combine, of_part
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import H1, LengthscalePosterior
from twosample.inference.witness import WitnessMixture
from twosample.results.objects_result import ObjectsResult
from twosample.results.result_parts import Amplitude, Diagnostics

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = ["objects_result"]

# Parameters, and objects of a sample, that the effect is computed from.
_PARAMETERS, _OBJECTS = 8, 2000
# Values of the witness that a result holds of a sample, and places of objects.
_SHOWN, _TELLING = 500, 20
# Values of the witness that differ by less are tied.
_DIGITS = 9


def objects_result(
    plan: Plan,
    by_parameter: Evidence,
    posterior: LengthscalePosterior,
    rows: tuple[Array, Array],
    *,
    sizes: tuple[int, int],
    prior_odds: float,
    notes: tuple[str, ...] = (),
) -> ObjectsResult:
    """The record of an answer about objects, from the evidence with each parameter of the kernel and their posterior.

    `rows` are kernel values of the objects of each sample at the points, or of some of as many objects as `sizes` says.
    """
    assert plan.domain is not None
    features, model = plan.domain.features, plan.model
    mass = posterior.mass[:, H1]
    mixture = WitnessMixture.of_each(by_parameter, mass, features, model)
    scores = [mixture.through(features, one)[0] for one in rows]
    complete = tuple(map(len, rows)) == sizes
    result = ObjectsResult(
        log_bf10=posterior.log_bf10,
        prior_odds=prior_odds,
        amplitude=Amplitude.of(by_parameter, mass, model),
        n_x=sizes[0],
        n_y=sizes[1],
        paired=plan.paired,
        paired_by=plan.paired_by,
        kernel=plan.domain.kernel,
        model=model,
        diagnostics=Diagnostics(
            evaluations=len(by_parameter.lengthscales),
            quadrature_error=0.0,
            pairs=0,
            permutations=0,
            notes=(*plan.notes, *notes),
            points=features.count,
            flat=features.are_flat(np.concatenate(rows)),
        ),
        pvalue=None,
        parameters=plan.domain.parameters,
        parameter_log_bf10=by_parameter.log_bf10,
        parameter_posterior=mass,
        witness_x=_quantiles(scores[0]),
        witness_y=_quantiles(scores[1]),
        telling_x=_largest(scores[0]) if complete else (),
        telling_y=_largest(-scores[1]) if complete else (),
    )
    domain = plan.domain

    def witness(at: object) -> tuple[Array, Array]:
        with one_thread():
            return mixture.through(features, domain.rows_of(at))

    effect = _effect(by_parameter, mass, plan, rows, result.prob_h1)
    return result.changed(effect=effect).remember(objects=((), (), witness))


def _effect(by_parameter: Evidence, mass: Array, plan: Plan, rows: tuple[Array, Array], prob_h1: float) -> Effect:
    """How much the samples differ, by the likeliest parameters."""
    kept = np.sort(np.argsort(-mass, kind="stable")[:_PARAMETERS])
    likeliest, weights = by_parameter.select(kept), mass[kept] / mass[kept].sum()
    part = of_part(likeliest, weights, plan.features, plan.model, *map(_some, rows))
    return combine([part], np.ones(1), prob_h1)


def _some(rows: Array) -> Array:
    """At most `_OBJECTS` rows, evenly spread in the order of their first values."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return rows[np.unique(np.linspace(0, len(rows) - 1, _OBJECTS).round().astype(np.intp))]


def _quantiles(values: Array) -> Array:
    """All values in order, or `_SHOWN` quantiles of them."""
    ordered = np.sort(values)
    if len(ordered) <= _SHOWN:
        return ordered
    return np.asarray(np.quantile(ordered, (np.arange(_SHOWN) + 0.5) / _SHOWN))


def _largest(values: Array) -> tuple[int, ...]:
    """Places of the largest values, the largest first; of equal ones the first place."""
    order = np.argsort(-values.round(_DIGITS), kind="stable")[:_TELLING]
    return tuple(order.tolist())
