"""From evidence and posterior to the result that a user sees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from twosample.data.sketch import Sketch
from twosample.errors import AccuracyWarning, FlatFeaturesWarning, Setting
from twosample.inference.bayes_factor import strength
from twosample.inference.drivers import TestOf, drivers, witness_of
from twosample.inference.effect import Effect, combine, of_part
from twosample.inference.evidence import Evidence, amplitudes, are_flat, probability
from twosample.inference.lengthscale import H0, H1, LengthscalePosterior, wanted_error
from twosample.inference.mixture import Mixture, OneTest, log_mean
from twosample.inference.witness import Driver
from twosample.places import local
from twosample.results.result_parts import Amplitude, Diagnostics, KernelEvidence, Lengthscale
from twosample.results.two_sample_result import TwoSampleResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twosample.common.arrays import Array
    from twosample.data import Samples
    from twosample.features.statistics import FeatureStatistics
    from twosample.plan import Plan
    from twosample.results.ksample_result import KSampleResult

__all__ = [
    "average",
    "features_are_flat",
    "flat_at",
    "flat_features",
    "flat_lengthscales",
    "inaccurate",
    "out_of_reach",
    "result",
]

# Of many lengthscales, so many are enough to see whether features vary at any of them.
_LOOKED_AT = 5
# Lengthscales that differ by this factor from the median heuristic are a mistake rather than a choice.
_FAR_FROM_TYPICAL = 1000.0
# Tests with less posterior probability do not count in the effect.
_LIKELY = 0.02


def result(
    plan: Plan,
    evidence: Evidence,
    posterior: LengthscalePosterior,
    *,
    mixture: Mixture | None = None,
    prior_odds: float,
    sizes: tuple[int, int],
    sketches: tuple[Sketch, Sketch],
    statistics: FeatureStatistics | None = None,
    pairs: int = 0,
    notes: tuple[str, ...] = (),
    keep_rows: bool = False,
) -> TwoSampleResult:
    """The record of an answer.

    Parameters
    ----------
    plan
        What was fixed beforehand.
    evidence
        At the lengthscales that were looked at, increasing.
    posterior
        Of the lengthscale.
    mixture
        What the other tests of the plan say, where there are any.
    prior_odds
        Of "different" against "the same".
    sizes
        How many rows there were of each sample.
    sketches
        A few of them.
    statistics
        What was collected at these lengthscales, where it was kept.
    pairs
        Number of pairs in the pseudo-likelihood.
    notes
        What to say of the rows; what there is to say of the columns is in the plan.
    keep_rows
        Whether the record holds the rows of the sketches.
    """
    rule, unit = posterior.rule, plan.view.unit
    given_lengthscale = np.exp(evidence.log_mixture - evidence.log_bf10[:, None])
    log_amplitudes, _ = amplitudes(plan.model)
    log_bf10, error, converged = posterior.log_bf10, rule.error, rule.converged
    by_subset, test_of = None, None
    shown: tuple[Driver, ...] = ()
    flat = features_are_flat(plan, evidence.lengthscales, sizes, sketches, statistics)
    if flat:
        notes = (*notes, str(flat_features(plan, sizes, sketches)))
    if mixture is not None:
        log_bf10, error = mixture.log_bf10, mixture.share_of_main * rule.error
        converged = rule.converged or error <= wanted_error(log_bf10, plan.tolerance)
        by_subset, test_of = mixture.by_subset(), cache(mixture.test)
        rows = sketches[0].rows, sketches[1].rows
        shown = drivers(plan, by_subset, log_bf10 > 0.0 and strength(log_bf10) != "", test_of, rows)
    found = TwoSampleResult(
        log_bf10=log_bf10,
        prior_odds=prior_odds,
        lengthscale=Lengthscale(
            grid=np.exp(rule.grid) * unit,
            density_h0=posterior.density[:, H0],
            density_h1=posterior.density[:, H1],
            mass_h0=posterior.mass[:, H0],
            mass_h1=posterior.mass[:, H1],
            prob_h1=posterior.prob_h1,
            median_heuristic=plan.typical * unit,
            fixed=plan.fixed,
        ),
        amplitude=Amplitude(
            np.exp(log_amplitudes),
            posterior.shares(evidence.lengthscales) @ given_lengthscale,
            fixed=plan.model.amplitude is None,
        ),
        points=plan.view.undo(plan.points),
        n_x=sizes[0],
        n_y=sizes[1],
        columns=plan.columns,
        center=plan.center,
        scale=plan.scale,
        paired=plan.paired,
        kernel=plan.kernel.label,
        model=plan.model,
        diagnostics=Diagnostics(
            evaluations=rule.evaluations,
            quadrature_error=error,
            converged=converged,
            pairs=pairs,
            permutations=0,
            notes=(*plan.notes, *notes),
            points=len(plan.points),
            flat=flat,
        ),
        witness_posterior=witness_of(evidence, posterior, plan.features, plan, tuple(range(len(plan.columns)))),
        pvalue=None,
        by_subset=by_subset,
        effect=_effect(plan, evidence, posterior, mixture, test_of, log_bf10, prior_odds, sketches),
        drivers=shown,
        shown_x=sketches[0].rows,
        shown_y=sketches[1].rows,
        points_given=plan.points_given,
        levels=plan.levels,
    )
    found = replace(found, shown=found.picture)
    return found if keep_rows else replace(found, shown_x=None, shown_y=None)


def average(results: Sequence[TwoSampleResult]) -> TwoSampleResult:
    """Of answers with different kernels that are equally likely beforehand; all but the evidence is the likeliest's."""
    if len(results) == 1:
        return results[0]
    logs = np.array([one.log_bf10 for one in results])
    log_bf10 = log_mean(logs, np.full(len(logs), 1.0 / len(logs)))
    posterior = np.exp(logs - np.logaddexp.reduce(logs))
    order: list[int] = np.argsort(-logs, kind="stable").tolist()
    best = results[order[0]]
    kernels = tuple(KernelEvidence(results[i].kernel, results[i].log_bf10, float(posterior[i])) for i in order)
    found = replace(best, log_bf10=log_bf10, kernels=kernels)
    if best.effect is not None:
        sizes = (replace(one, prob_h1=found.prob_h1) for one in (best.effect.mmd, best.effect.auc))
        found = replace(found, effect=Effect(*sizes))
    diagnostics = [one.diagnostics for one in results]
    return replace(
        found,
        diagnostics=replace(
            best.diagnostics,
            evaluations=sum(one.evaluations for one in diagnostics),
            quadrature_error=float(posterior @ [one.quadrature_error for one in diagnostics]),
            converged=all(one.converged for one in diagnostics),
            notes=tuple(dict.fromkeys(note for one in diagnostics for note in one.notes)),
        ),
    )


def _effect(
    plan: Plan,
    evidence: Evidence,
    posterior: LengthscalePosterior,
    mixture: Mixture | None,
    test_of: TestOf | None,
    log_bf10: float,
    prior_odds: float,
    sketches: tuple[Sketch, Sketch],
) -> Effect | None:
    """How much the samples differ, by all tests that are likely; None where the model has no such answer."""
    model = plan.model
    if not model.has_effect:
        return None
    columns = tuple(range(len(plan.columns)))
    weighed = [(1.0, OneTest(columns, evidence, posterior, plan.features))]
    if mixture is not None and test_of is not None:
        weighed = [(mixture.share_of_main, weighed[0][1])]
        weighed += [(weight, test_of(part, number)) for weight, part, number in mixture.likely(_LIKELY)]
        weighed = [test for test in weighed if test[0] >= _LIKELY] or weighed[:1]
    x, y = (sketch.rows for sketch in sketches)
    parts = [
        of_part(
            test.evidence,
            test.posterior.shares(test.evidence.lengthscales),
            test.features,
            model,
            x[:, test.columns],
            y[:, test.columns],
        )
        for _, test in weighed
    ]
    weights = np.array([weight for weight, _ in weighed])
    prob_h1 = float(probability(np.asarray(log_bf10 + math.log(prior_odds))))
    return combine(parts, weights / max(weights.sum(), _LIKELY), prob_h1)


def features_are_flat(
    plan: Plan,
    lengthscales: Array,
    sizes: tuple[int, int],
    sketches: tuple[Sketch, Sketch],
    statistics: FeatureStatistics | None = None,
) -> bool:
    """Whether at no lengthscale the features of the test of all columns vary, though the rows do."""
    rows = sketches[0].rows, sketches[1].rows
    if not np.concatenate(rows).size or not np.ptp(np.concatenate(rows), axis=0).any():
        return False
    if statistics is not None and statistics.x is not None and statistics.y is not None:
        return bool(are_flat(statistics.x, statistics.y, plan.model).all())
    few = np.unique(np.linspace(0, len(lengthscales) - 1, _LOOKED_AT).astype(int))[::-1]
    return all(flat_at(plan, rows, sizes, lengthscales[[index]])[0] for index in few)


def flat_at(plan: Plan, rows: tuple[Array, Array], sizes: tuple[int, int], lengthscales: Array) -> Array:
    """Whether the features of these rows, a part of so many of each sample, do not vary at each lengthscale, (m,)."""
    x, y = local.sample_moments(plan.features, rows, lengthscales)
    return are_flat(x, y, plan.model, sum(sizes) / max(x.count + y.count, 1))


def flat_features(plan: Plan, sizes: tuple[int, int], sketches: tuple[Sketch, Sketch]) -> FlatFeaturesWarning:
    """The warning that features do not vary, which blames the points or the lengthscale."""
    rows = sketches[0].rows, sketches[1].rows
    if plan.fixed and plan.lengthscales is not None and not flat_at(plan, rows, sizes, np.array([plan.typical]))[0]:
        given = float(plan.lengthscales[0])
        short = "the points have hardly a row within reach" if given < plan.typical else "all rows look the same"
        return FlatFeaturesWarning(
            f"lengthscale: at {given * plan.view.unit:.3g} the features do not vary ({short}), so that nothing follows "
            "from them",
            argument="lengthscale",
            remedy=("leave it out, or use ", Setting("lengthscale", "median")),
        )
    return out_of_reach()


def out_of_reach() -> FlatFeaturesWarning:
    """The warning that blames the points."""
    return FlatFeaturesWarning(
        "points: the features do not vary (they have hardly a row within reach), so that nothing follows from them",
        argument="points",
        remedy="leave them out, or choose points among the rows",
    )


def flat_lengthscales(plan: Plan, samples: Samples, lengthscales: Array) -> FlatFeaturesWarning | None:
    """The warning that features do not vary at these lengthscales, or at one that is far from all that make sense."""
    sketches, sizes = (Sketch.of(samples.x), Sketch.of(samples.y)), (samples.n_x, samples.n_y)
    if not np.ptp(np.concatenate([sketch.rows for sketch in sketches]), axis=0).any():
        return None
    flat = lengthscales[flat_at(plan, (sketches[0].rows, sketches[1].rows), sizes, lengthscales)]
    # Lengthscales that are looked at for comparison may end where there is nothing to see.
    beyond = flat[np.abs(np.log(flat / plan.typical)) > math.log(_FAR_FROM_TYPICAL)]
    flat = flat if len(flat) == len(lengthscales) else beyond
    if not flat.size:
        return None
    return flat_features(replace(plan, fixed=True, lengthscales=flat), sizes, sketches)


def inaccurate(answer: TwoSampleResult | KSampleResult, why: str) -> AccuracyWarning:
    """The warning that the integration over the lengthscale fell short of its tolerance."""
    error = answer.diagnostics.quadrature_error
    return AccuracyWarning(
        f"the integration over the lengthscale stopped at an estimated error of {error:.1g} in log BF10; {why}"
    )
