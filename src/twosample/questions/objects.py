"""The test of two samples of objects of any kind, through their kernel values at points that are some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.data import Samples, View
from twosample.data.complete import check_pairs
from twosample.features.domains.domain import Domain, objects_of
from twosample.inference import evidence, relabelling
from twosample.inference.effect import Effect, combine, of_part
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import H1
from twosample.inference.witness import WitnessMixture
from twosample.plan import Plan, plan_of_objects
from twosample.questions.options import Options
from twosample.results.objects_result import ObjectsResult
from twosample.results.result_parts import Amplitude, Diagnostics

__all__ = ["answer", "rows_of", "samples_of", "test_objects"]

# Parameters, and objects of a sample, that the effect is computed from.
_PARAMETERS, _OBJECTS = 8, 2000
# Values of the witness that a result holds of a sample, and places of objects.
_SHOWN, _TELLING = 500, 20
# Values of the witness that differ by less are tied.
_DIGITS = 9


def rows_of(
    samples: dict[str, list[Any]], options: Options, count: Any = lambda points: None
) -> tuple[Domain, dict[str, Array]]:
    """The domain of samples of objects, and the rows of each; `count` is called with the number of points done."""
    with one_thread():
        return Domain.of(samples, options.objects, options.generator, count)


def samples_of(x: Array, y: Array, *, paired: bool = False) -> Samples:
    """Rows of objects as checked samples without columns."""
    return Samples(x, y, (), View.none(0), np.ones(0, dtype=bool), paired, ())


def test_objects(x: object, y: object, options: Options, progress: Progress) -> ObjectsResult:
    """Test two samples of objects; `twosample.test` says what the options are."""
    objects = {"x": objects_of(x, "x"), "y": objects_of(y, "y")}
    if options.paired:
        check_pairs(*map(len, objects.values()))
    with progress_bar(progress) as report:
        counter = WorkCounter(report, options.objects.points + 1)
        domain, rows = rows_of(objects, options, counter)
        plan = plan_of_objects(domain, options.model, paired=options.paired, tolerance=options.tolerance)
        samples = samples_of(rows["x"], rows["y"], paired=options.paired)
        return answer(plan, samples, options, counter, (objects["x"], objects["y"]))


def answer(
    plan: Plan,
    samples: Samples,
    options: Options,
    counter: WorkCounter,
    objects: tuple[Sequence[Any], Sequence[Any]],
) -> ObjectsResult:
    """The answer from rows of kernel values at the points of a plan; it remembers the objects of both samples."""
    assert plan.lengthscales is not None and plan.domain is not None
    features, model = plan.domain.features, plan.model
    with one_thread():
        by_parameter = evidence.evaluate(plan.collect_at(samples, plan.lengthscales), features, model)
        posterior = plan.posterior(by_parameter, options.prior_odds)
        mass = posterior.mass[:, H1]
        mixture = WitnessMixture.of_each(by_parameter, mass, features, model)
        scores = [mixture.through(features, rows)[0] for rows in (samples.x, samples.y)]
        relabelled: dict[str, Any] = {"pvalue": None}
        if options.permutations:
            tests, drawn = relabelling.tests_of(plan), relabelling.of_samples(samples, model)
            rows = samples.n_x + (0 if plan.paired else samples.n_y)
            counter.expect(relabelling.work(tests, rows, options.permutations))
            found = relabelling.compare(drawn, tests, options.permutations, options.generator, counter)
            relabelled = found._asdict()
    log_amplitudes, _ = evidence.amplitudes(model)
    given_parameter = np.exp(by_parameter.log_mixture - by_parameter.log_bf10[:, None])
    result = ObjectsResult(
        log_bf10=posterior.log_bf10,
        prior_odds=options.prior_odds,
        amplitude=Amplitude(np.exp(log_amplitudes), mass @ given_parameter, fixed=model.amplitude is None),
        n_x=samples.n_x,
        n_y=samples.n_y,
        paired=plan.paired,
        kernel=plan.domain.kernel,
        model=model,
        diagnostics=Diagnostics(
            evaluations=len(plan.lengthscales),
            quadrature_error=0.0,
            pairs=0,
            permutations=options.permutations,
            notes=plan.notes,
            points=features.count,
            flat=features.are_flat(np.concatenate([samples.x, samples.y])),
        ),
        **relabelled,
        rope=options.rope,
        parameters=plan.domain.parameters,
        parameter_log_bf10=by_parameter.log_bf10,
        parameter_posterior=mass,
        witness_x=_quantiles(scores[0]),
        witness_y=_quantiles(scores[1]),
        telling_x=_largest(scores[0]),
        telling_y=_largest(-scores[1]),
    )
    result = replace(result, effect=_effect(by_parameter, mass, plan, samples, result.prob_h1))
    domain = plan.domain

    def witness(at: object) -> tuple[Array, Array]:
        with one_thread():
            return mixture.through(features, domain.rows_of(at))

    result.remember_objects(*objects, witness)
    counter.finish()
    return result


def _effect(by_parameter: Evidence, mass: Array, plan: Plan, samples: Samples, prob_h1: float) -> Effect:
    """How much the samples differ, by the likeliest parameters."""
    kept = np.sort(np.argsort(-mass, kind="stable")[:_PARAMETERS])
    likeliest, weights = by_parameter.select(kept), mass[kept] / mass[kept].sum()
    rows = _some(samples.x), _some(samples.y)
    with one_thread():
        part = of_part(likeliest, weights, plan.features, plan.model, *rows)
    return combine([part], np.ones(1), prob_h1)


def _some(rows: Array) -> Array:
    """At most so many rows, evenly spread in the order of the objects' own."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return rows[np.unique(np.linspace(0, len(rows) - 1, _OBJECTS).round().astype(np.intp))]


def _quantiles(values: Array) -> Array:
    """All values in order, or so many quantiles of them."""
    ordered = np.sort(values)
    if len(ordered) <= _SHOWN:
        return ordered
    return np.asarray(np.quantile(ordered, (np.arange(_SHOWN) + 0.5) / _SHOWN))


def _largest(values: Array) -> tuple[int, ...]:
    """Places of the largest values, the largest first; of equal ones the first place."""
    order = np.argsort(-values.round(_DIGITS), kind="stable")[:_TELLING]
    return tuple(order.tolist())
