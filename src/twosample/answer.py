"""From evidence and posterior to the result that a user sees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from twosample.drivers import TestOf, drivers
from twosample.effect import Effect, combine, of_part
from twosample.errors import AccuracyWarning
from twosample.evidence import Evidence, amplitudes, probability
from twosample.mixture import Mixture, OneTest
from twosample.posterior.lengthscale import H0, H1, LengthscalePosterior, wanted_error
from twosample.result import Amplitude, Diagnostics, Lengthscale, TwoSampleResult, strength
from twosample.witness import Driver, WitnessPosterior

if TYPE_CHECKING:
    from twosample.plan import Plan
    from twosample.sketch import Sketch

__all__ = ["inaccurate", "result"]

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
        kernel=plan.kernel.name,
        model=plan.model,
        diagnostics=Diagnostics(
            evaluations=rule.evaluations,
            quadrature_error=error,
            converged=converged,
            pairs=pairs,
            permutations=0,
            notes=(*plan.notes, *notes),
            points=len(plan.points),
        ),
        witness_posterior=WitnessPosterior.of(evidence, posterior, plan.features, plan.model),
        pvalue=None,
        by_subset=by_subset,
        effect=_effect(plan, evidence, posterior, mixture, test_of, log_bf10, prior_odds, sketches),
        drivers=shown,
        shown_x=sketches[0].rows,
        shown_y=sketches[1].rows,
        points_given=plan.points_given,
    )
    found = replace(found, shown=found.picture)
    return found if keep_rows else replace(found, shown_x=None, shown_y=None)


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


def inaccurate(answer: TwoSampleResult, why: str) -> AccuracyWarning:
    """The warning that the integration over the lengthscale fell short of its tolerance."""
    error = answer.diagnostics.quadrature_error
    return AccuracyWarning(
        f"the integration over the lengthscale stopped at an estimated error of {error:.1g} in log BF10; {why}"
    )
