"""From evidence and posterior to the result that a user sees."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from twosample.data.categories import rows_without_many, without_many
from twosample.data.sketch import Sketch
from twosample.errors import AccuracyWarning, FlatFeaturesWarning, Setting
from twosample.inference.bayes_factor import probability, strength
from twosample.inference.drivers import TestOf, drivers
from twosample.inference.effect import Effect, PartEffect, combine
from twosample.inference.evidence import Evidence, are_flat
from twosample.inference.lengthscale import H0, H1, LengthscalePosterior, wanted_error
from twosample.inference.mixture import Mixture, OneTest, log_mean
from twosample.inference.relabelling import EveryLabelling, Relabelling, compare
from twosample.inference.units import InUnits
from twosample.inference.witness import Driver
from twosample.places import local
from twosample.results.result import BayesFactor
from twosample.results.result_parts import Amplitude, Diagnostics, KernelEvidence, Lengthscale
from twosample.results.two_sample_result import TwoSampleResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twosample.common.arrays import Array
    from twosample.data import Samples
    from twosample.features.statistics import FeatureStatistics
    from twosample.plan import Plan
    from twosample.results.ksample_result import KSampleResult

__all__ = [
    "Answer",
    "average",
    "features_are_flat",
    "flat_at",
    "flat_features",
    "flat_lengthscales",
    "inaccurate",
    "out_of_reach",
    "result",
    "with_every",
    "with_pvalue",
    "with_units",
]

_Result = TypeVar("_Result", bound=BayesFactor)
_Test = TypeVar("_Test")

# Number of lengthscales that is enough to see whether features vary at any of them.
_LOOKED_AT = 5
# Lengthscales that differ by this factor from the median heuristic are a mistake rather than a choice.
_FAR_FROM_TYPICAL = 1000.0
# Tests with less posterior probability do not count in the effect.
_LIKELY = 0.02


@dataclass(frozen=True, eq=False)
class Answer:
    """What was found, from which the record of an answer is made.

    Attributes
    ----------
    plan
        What was fixed beforehand.
    evidence
        At the lengthscales that were evaluated, increasing.
    posterior
        Of the lengthscale.
    prior_odds
        Of "different" against "the same".
    sizes
        Number of rows of each sample.
    sketches
        A few of the rows of each.
    mixture
        What the other tests of the plan say; None where there are none.
    statistics
        What was collected at these lengthscales; None where it was not kept.
    pairs
        Number of pairs in the pseudo-likelihood.
    notes
        What to say of the rows; what there is to say of the columns is in the plan.
    keep_rows
        Whether the record holds the rows of the sketches.
    """

    plan: Plan
    evidence: Evidence
    posterior: LengthscalePosterior
    prior_odds: float
    sizes: tuple[int, int]
    sketches: tuple[Sketch, Sketch]
    mixture: Mixture | None = None
    statistics: FeatureStatistics | None = None
    pairs: int = 0
    notes: tuple[str, ...] = ()
    keep_rows: bool = False

    @property
    def rows(self) -> tuple[Array, Array]:
        """The rows of the sketches."""
        return self.sketches[0].rows, self.sketches[1].rows

    @property
    def main(self) -> OneTest:
        """The test of all columns as scaled."""
        return OneTest(tuple(range(len(self.plan.columns))), self.evidence, self.posterior, self.plan.features)

    @cached_property
    def log_bf10(self) -> float:
        """Log BF10 of all tests together."""
        return self.posterior.log_bf10 if self.mixture is None else self.mixture.log_bf10

    def result(self) -> TwoSampleResult:
        """The record."""
        plan, by_subset = self.plan, None
        shown: tuple[Driver, ...] = ()
        test_of: TestOf | None = None
        if self.mixture is not None:
            by_subset, test_of = self.mixture.by_subset(), cache(self.mixture.test)
            by_subset = replace(by_subset, units=InUnits.of(*self.rows, paired=plan.paired, levels=plan.levels))
            differ = self.log_bf10 > 0.0 and strength(self.log_bf10) != ""
            shown = drivers(plan, by_subset, differ, test_of, self.rows)
        found = TwoSampleResult(
            log_bf10=self.log_bf10,
            prior_odds=self.prior_odds,
            lengthscale=self._lengthscale(),
            amplitude=Amplitude.of(self.evidence, self.posterior.shares(self.evidence.lengthscales), plan.model),
            points=plan.view.undo(plan.points),
            n_x=self.sizes[0],
            n_y=self.sizes[1],
            columns=plan.columns,
            center=plan.center,
            scale=plan.scale,
            paired=plan.paired,
            paired_by=plan.paired_by,
            kernel=plan.kernel.label,
            model=plan.model,
            diagnostics=self._diagnostics(),
            witness_posterior=self.main.witness(plan),
            pvalue=None,
            by_subset=by_subset,
            effect=self._effect(test_of) if plan.model.has_effect else None,
            drivers=shown,
            shown_x=rows_without_many(self.rows[0], plan.levels),
            shown_y=rows_without_many(self.rows[1], plan.levels),
            points_given=plan.points_given,
            levels=without_many(plan.levels),
            only_in_one=() if self.mixture is None else self.mixture.only_in_one(),
        )
        found = replace(found, shown=found.picture)
        return found if self.keep_rows else replace(found, shown_x=None, shown_y=None)

    def _lengthscale(self) -> Lengthscale:
        posterior, unit = self.posterior, self.plan.view.unit
        with np.errstate(over="ignore"):  # of values near the largest number
            grid = np.minimum(np.exp(posterior.rule.grid) * unit, np.finfo(np.float64).max)
        return Lengthscale(
            grid=grid,
            density_h0=posterior.density[:, H0],
            density_h1=posterior.density[:, H1],
            mass_h0=posterior.mass[:, H0],
            mass_h1=posterior.mass[:, H1],
            prob_h1=posterior.prob_h1,
            median_heuristic=self.plan.typical * unit,
            fixed=self.plan.fixed,
        )

    def _diagnostics(self) -> Diagnostics:
        plan, rule, notes = self.plan, self.posterior.rule, self.notes
        error, converged = rule.error, rule.converged
        if self.mixture is not None:
            error = self.mixture.share_of_main * rule.error
            converged = rule.converged or error <= wanted_error(self.log_bf10, plan.tolerance)
        flat = features_are_flat(plan, self.evidence.lengthscales, self.sizes, self.sketches, self.statistics)
        if flat:
            notes = (*notes, str(flat_features(plan, self.sizes, self.sketches)))
        return Diagnostics(
            evaluations=rule.evaluations,
            quadrature_error=error,
            converged=converged,
            pairs=self.pairs,
            permutations=0,
            notes=(*plan.notes, *notes),
            points=len(plan.points),
            flat=flat,
        )

    def _effect(self, test_of: TestOf | None) -> Effect:
        """How much the samples differ, by all tests that are likely."""
        weighed, of_levels = [(1.0, self.main)], list[tuple[float, PartEffect]]()
        if self.mixture is not None and test_of is not None:
            weighed = [(self.mixture.share_of_main, self.main)]
            weighed += [(weight, test_of(part, number)) for weight, part, number in self.mixture.likely(_LIKELY)]
            of_levels = self.mixture.effects_of_levels(_LIKELY)
            weighed = [test for test in weighed if test[0] >= _LIKELY] or weighed[: not of_levels]
        parts = [(weight, test.effect(self.plan.model, *self.rows)) for weight, test in weighed] + of_levels
        weights = np.array([weight for weight, _ in parts])
        prob_h1 = probability(self.log_bf10 + math.log(self.prior_odds))
        return combine([part for _, part in parts], weights / max(weights.sum(), _LIKELY), prob_h1)


def result(plan: Plan, evidence: Evidence, posterior: LengthscalePosterior, **found: Any) -> TwoSampleResult:
    """The record of an answer; the other arguments are those of `Answer`."""
    return Answer(plan, evidence, posterior, **found).result()


def average(results: Sequence[TwoSampleResult]) -> TwoSampleResult:
    """Average results over kernels with equal prior weight; all but the evidence is from the most probable kernel."""
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
    """Whether the features do not vary at each lengthscale, (m,), from some rows of samples of these sizes."""
    x, y = local.sample_moments(plan.features, rows, lengthscales)
    return are_flat(x, y, plan.model, sum(sizes) / max(x.count + y.count, 1))


def flat_features(plan: Plan, sizes: tuple[int, int], sketches: tuple[Sketch, Sketch]) -> FlatFeaturesWarning:
    """The warning that features do not vary, which blames the points or the lengthscale."""
    rows = sketches[0].rows, sketches[1].rows
    if plan.fixed and plan.lengthscales is not None and not flat_at(plan, rows, sizes, np.array([plan.typical]))[0]:
        given = float(plan.lengthscales[0])
        short = "almost no rows lie near the evaluation points" if given < plan.typical else "all rows look the same"
        return FlatFeaturesWarning(
            f"lengthscale: at {given * plan.view.unit:.3g} the features do not vary ({short}); the test is "
            "uninformative",
            argument="lengthscale",
            remedy=("leave it out, or use ", Setting("lengthscale", "median")),
        )
    return out_of_reach()


def out_of_reach() -> FlatFeaturesWarning:
    """The warning that blames the points."""
    return FlatFeaturesWarning(
        "points: the features do not vary (almost no rows lie near the evaluation points); the test is uninformative",
        argument="points",
        remedy="leave them out, or choose points among the rows",
    )


def flat_lengthscales(plan: Plan, samples: Samples, lengthscales: Array) -> FlatFeaturesWarning | None:
    """The warning that features do not vary at these lengthscales, or at one that is far from all that make sense."""
    sketches, sizes = (Sketch.of(samples.x), Sketch.of(samples.y)), (samples.n_x, samples.n_y)
    if not np.ptp(np.concatenate([sketch.rows for sketch in sketches]), axis=0).any():
        return None
    flat = lengthscales[flat_at(plan, (sketches[0].rows, sketches[1].rows), sizes, lengthscales)]
    # Lengthscales that are compared may reach into the range where the features do not vary.
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


def with_units(result: TwoSampleResult, x: Array, y: Array) -> TwoSampleResult:
    """The result with differences in the units of the data from all rows, where the sketches had some of them."""
    by_subset = result.by_subset
    if by_subset is None or (by_subset.units is not None and by_subset.units.rows == (len(x), len(y))):
        return result
    units = InUnits.of(x, y, paired=result.paired, levels=result.levels)
    return result.changed(by_subset=replace(by_subset, units=units))


def with_pvalue(
    result: _Result,
    relabelling: Callable[[], Relabelling[_Test]],
    tests: Sequence[_Test],
    permutations: int,
    generator: np.random.Generator,
    count: Callable[[int], object],
) -> _Result:
    """The result with the p-value and the e-value of that many relabellings, which are set up if there are any."""
    if not permutations:
        return result
    found = compare(relabelling(), tests, permutations, generator, count)
    diagnostics = replace(result.diagnostics, permutations=permutations)  # type: ignore[attr-defined]  # all have them
    return result.changed(**found._asdict(), diagnostics=diagnostics)


def with_every(result: _Result, every: EveryLabelling) -> _Result:
    """The result with the p-value and the e-value of all labellings of few rows, and the most they could have shown."""
    diagnostics = replace(
        result.diagnostics,  # type: ignore[attr-defined]  # all have them
        permutations=every.count,
        largest=max(every.largest, result.log_bf10),
    )
    return result.changed(pvalue=every.pvalue, evalue=every.evalue, diagnostics=diagnostics)
