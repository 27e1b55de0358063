"""Runs the sampler for a question, checks the chains and builds the `GibbsResult`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from twosample.common.arrays import Array
from twosample.common.progress import Report
from twosample.common.threads import one_thread
from twosample.data import Samples
from twosample.errors import AccuracyWarning, ConvergenceWarning, MissingExtraError, Setting, TwoSampleWarning
from twosample.inference.evidence import Evidence, probability
from twosample.paper.chains import Chains, Settings, bridge, effective_size, r_hat
from twosample.paper.gibbs_result import BridgeEstimate, GibbsDiagnostics, GibbsResult, Relevance
from twosample.paper.jacobian_pairs import Pairs
from twosample.paper.passes import Passes
from twosample.paper.watching import Progress, converged, converged_apart, log_draws, prob_h1_error, rarer
from twosample.plan import Plan
from twosample.results import assembly

if TYPE_CHECKING:
    from twosample.paper.density import Data, Target

__all__ = ["Question", "doubts", "run"]


# The sampler's density is checked against another computation at this many draws, with this tolerance.
_CHECKED_DRAWS = 16
_DENSITY_TOLERANCE = 1e-4
# Limits for warnings: R-hat, effective draws, overlap of the posteriors, share of divergent transitions.
_LARGEST_R_HAT = 1.05
_FEWEST_EFFECTIVE_DRAWS = 100
_SMALLEST_OVERLAP = 0.01
_MANY_DIVERGENCES = 0.01


@dataclass(frozen=True, eq=False)
class Question:
    """Input of the sampler: plan, samples, pairs of the pseudo-likelihood, and one lengthscale or several."""

    plan: Plan
    samples: Samples
    pairs: Pairs | None
    several: bool

    @cached_property
    def target(self) -> tuple[Target, Data]:
        """The posterior that is sampled, and the data that it depends on."""
        from twosample.paper.density import Data, Target

        plan, samples, pairs = self.plan, self.samples, self.pairs
        view = plan.view
        same = pairs is None or (pairs.x is samples.x and pairs.y is samples.y)
        data = Data.from_rows(
            view.apply(samples.x),
            view.apply(samples.y),
            plan.points,
            None if pairs is None or same else (view.apply(pairs.x), view.apply(pairs.y)),
            None if pairs is None else pairs.usable,
            plan.typical,
        )
        only_pairs = plan.model.takes_differences_alone(samples.paired)
        return Target(plan.model, plan.kernel, samples.n_columns if self.several else 1, only_pairs), data

    def shown(self, chains: Chains) -> Array:
        """The lengthscales of all draws, in the units in which results have them."""
        target, data = self.target
        unit = self.plan.scale if self.several else self.plan.view.unit
        return target.lengthscales_of(chains.positions, data) * unit

    def some_draws(self, chains: Chains) -> tuple[Array, Array]:
        """Positions of a few draws, spread over the chains, (m, P), and each column's lengthscale there, (m, D)."""
        target, data = self.target
        positions = chains.positions.reshape(-1, chains.positions.shape[-1])
        positions = positions[np.linspace(0, len(positions) - 1, min(len(positions), _CHECKED_DRAWS)).astype(int)]
        shape = len(positions), self.samples.n_columns
        return positions, np.broadcast_to(target.lengthscales_of(positions, data), shape)

    def evidence_at(self, lengthscales: Array) -> Evidence:
        """The evidence at one lengthscale for each column, (D,)."""
        plan, overall = self._with_one(lengthscales)
        passes = Passes(self.samples, plan.features, (plan.model,), self.pairs)
        return passes.evidence(np.array([overall]))[0]

    def is_flat_at(self, lengthscales: Array) -> bool:
        """Whether the features do not vary at one lengthscale for each column, (D,), though the rows do."""
        if not np.ptp(np.concatenate([self.samples.x, self.samples.y]), axis=0).any():
            return False
        plan, overall = self._with_one(lengthscales)
        sizes = self.samples.n_x, self.samples.n_y
        return bool(assembly.flat_at(plan, (self.samples.x, self.samples.y), sizes, np.array([overall]))[0])

    def _with_one(self, lengthscales: Array) -> tuple[Plan, float]:
        """An equivalent plan with one lengthscale: their geometric mean ℓ, with columns divided by ℓ_d/ℓ.

        It has the same kernel, volume and prior variance at ℓ.
        """
        overall = float(np.exp(np.log(lengthscales).mean()))
        share = lengthscales / overall
        return replace(self.plan, scale=self.plan.scale * share, points=self.plan.points / share), overall


def run(
    question: Question,
    settings: Settings,
    prior_odds: float,
    seeds: tuple[int, int],
    *,
    evidence: bool,
    report: Report | None,
) -> GibbsResult:
    """Run the chains, and if `evidence` is wanted as many again under each hypothesis alone."""
    try:
        from twosample.paper.kernel_steps import sample
    except ImportError as error:
        raise MissingExtraError("gibbs", error.name or "blackjax", "mcmc") from None

    target, data = question.target
    log_prior_odds = float(np.log(prior_odds))
    apart = replace(settings, chains=2 * settings.chains)
    progress = Progress(report, settings, apart if evidence else None)
    stop, stop_apart = None, None
    if settings.early_stop:
        stop = partial(converged, target, data, settings, log_prior_odds, evidence)
        stop_apart = partial(converged_apart, target, data, question.plan.model.coherent, log_prior_odds)
    with one_thread():
        chains = sample(
            target, data, settings, seeds[0], log_prior_odds=log_prior_odds, report=progress.mixed, enough=stop
        )
        kept_apart = None
        if evidence:
            kept_apart = sample(
                target, data, apart, seeds[1], hypotheses=np.repeat([0, 1], settings.chains),
                report=progress.apart, enough=stop_apart,
            )  # fmt: skip
        progress.finish()
        return _result(question, settings, prior_odds, chains, kept_apart)


def _result(
    question: Question, settings: Settings, prior_odds: float, chains: Chains, kept_apart: Chains | None
) -> GibbsResult:
    plan, samples = question.plan, question.samples
    log_odds = chains.log_bf10 + np.log(prior_odds)
    lengthscales = question.shown(chains)
    estimate, relevance = None, None
    if kept_apart is not None:
        estimate, relevance = _of_apart(question, prior_odds, kept_apart)
    return GibbsResult(
        labels=chains.labels,
        given=chains.given,
        lengthscales=lengthscales,
        amplitudes=None if plan.model.amplitude is None else np.exp(chains.positions[:, :, -1]),
        log_bf10_given=chains.log_bf10,
        prob_h1_error=prob_h1_error(chains, log_odds),
        prior_odds=prior_odds,
        evidence=estimate,
        relevance=relevance,
        median_heuristic=plan.typical * plan.view.unit,
        points=plan.view.undo(plan.points),
        n_x=samples.n_x,
        n_y=samples.n_y,
        columns=samples.columns,
        scale=plan.scale,
        paired=samples.paired,
        paired_by=samples.paired_by,
        kernel="ard" if question.several else plan.kernel.label,
        model=plan.model,
        settings=settings,
        diagnostics=_diagnostics(question, settings, chains, [rarer(log_odds), *log_draws(lengthscales)]),
        points_given=plan.points_given,
    )


def _of_apart(question: Question, prior_odds: float, chains: Chains) -> tuple[BridgeEstimate, Relevance | None]:
    """The bridge estimate, and the relevance of several columns, from chains of H0 and then as many of H1."""
    coherent = question.plan.model.coherent
    h0, h1 = (slice(start, start + len(chains.log_bf10) // 2) for start in (0, len(chains.log_bf10) // 2))
    log_bf10, error, overlap = bridge(
        chains.log_bf10[h0], chains.log_bf10[h1], None if coherent else float(np.log(prior_odds))
    )
    lengthscales = question.shown(chains)
    estimate = BridgeEstimate(log_bf10, error, overlap, lengthscales[h0], lengthscales[h1], chains.steps)
    if not question.several:
        return estimate, None
    log_ratio = chains.log_bf10 - log_bf10 if coherent else None
    losses = _losses(*question.target, chains.positions[h1], chains.log_bf10[h1])
    return estimate, _relevance(question.samples.columns, lengthscales[h0], lengthscales[h1], log_ratio, losses)


def _diagnostics(question: Question, settings: Settings, chains: Chains, quantities: list[Array]) -> GibbsDiagnostics:
    """Diagnostics of the chains; `quantities` are draws of P(H1) and of each log lengthscale."""
    pairs = question.pairs
    ess_prob_h1, *ess_lengthscales = map(effective_size, quantities)
    r_hat_prob_h1, *r_hat_lengthscales = map(r_hat, quantities)
    return GibbsDiagnostics(
        ess_prob_h1=ess_prob_h1,
        ess_lengthscales=np.array(ess_lengthscales),
        r_hat_prob_h1=r_hat_prob_h1,
        r_hat_lengthscales=np.array(r_hat_lengthscales),
        switches=chains.switches,
        divergences=chains.divergences,
        acceptance=chains.acceptance,
        leapfrogs=chains.leapfrogs,
        step_sizes=chains.step_sizes,
        density_error=_density_error(question, chains),
        pairs=0 if pairs is None else len(pairs.x),
        notes=question.plan.notes + question.samples.notes + (() if pairs is None else pairs.notes),
        points=len(question.plan.points),
        steps=chains.steps,
        stopped="converged" if chains.steps < settings.steps else "steps",
        flat=all(map(question.is_flat_at, question.some_draws(chains)[1])),
    )


def _losses(target: Target, data: Data, positions: Array, log_bf10: Array) -> Array:
    """Decrease of log BF10 at draws given H1 when the kernel does not see a column, (D, chains, draws)."""
    from twosample.paper.kernel_steps import evaluate

    without = [evaluate(target, positions, data.without(column), ("log_bf10",)) for column in range(data.x.shape[1])]
    return log_bf10 - np.stack(without)[..., 0]


def _relevance(columns: tuple[str, ...], h0: Array, h1: Array, log_ratio: Array | None, losses: Array) -> Relevance:
    """Loss of evidence without each column, and how much shorter its lengthscale is given H1 than given H0.

    Losses are (D, chains, draws), draws of the lengthscales under each hypothesis (chains, draws, D).

    Where the densities of the two posteriors are known to have the ratio exp(`log_ratio`), all draws count for both: as
    draws of the even mixture of the two, weighted with σ(log_ratio) for H1 and the rest for H0. The difference is then
    taken on the same draws, and so with less noise.
    """
    pooled = np.log(np.concatenate([h0, h1]))
    shares = np.zeros(pooled.shape[:2])
    shares[len(h0) :] = 1.0
    if log_ratio is not None:
        shares = probability(log_ratio)
    weight_h1, weight_h0 = shares / shares.mean(), (1.0 - shares) / (1.0 - shares).mean()
    means = [(weight[:, :, None] * pooled).mean(axis=(0, 1)) for weight in (weight_h0, weight_h1)]
    error, shorter = [], []
    for index in range(len(columns)):
        values = pooled[:, :, index]
        # Influence of each draw on the difference of the two weighted means.
        influence = weight_h0 * (values - means[0][index]) - weight_h1 * (values - means[1][index])
        parts = influence[: len(h0)], influence[len(h0) :]
        error.append(np.sqrt(sum(part.var() / effective_size(part) for part in parts)) / 2.0)
        order = np.argsort(values, axis=None)
        mass_h0, mass_h1 = (weight.ravel()[order] / weight.size for weight in (weight_h0, weight_h1))
        shorter.append(float(mass_h0 @ (np.cumsum(mass_h1) - 0.5 * mass_h1)))
    shortening = means[0] - means[1]
    loss = losses.mean(axis=(1, 2))
    loss_error = np.array([one.std() / np.sqrt(effective_size(one)) for one in losses])
    ranking = np.argsort(-loss, kind="stable")
    return Relevance(
        columns=tuple(columns[i] for i in ranking),
        loss=loss[ranking],
        loss_error=loss_error[ranking],
        shortening=shortening[ranking],
        error=np.array(error)[ranking],
        probability=np.array(shorter)[ranking],
    )


def _density_error(question: Question, chains: Chains) -> float:
    """Largest difference, at draws spread over the chains, between the sampled evidence and that of `evaluate`.

    Differences between draws are compared: a constant would not matter. Only Jacobians can lose digits, where the
    kernel values of a row differ by more than floating point can tell.
    """
    if question.pairs is None:
        return 0.0
    from twosample.paper.kernel_steps import evaluate

    target, data = question.target
    positions, lengthscales = question.some_draws(chains)
    sampled = evaluate(target, positions, data)
    exact = np.array([[one.log_h0[0], one.log_h1[0]] for one in map(question.evidence_at, lengthscales)])
    difference = sampled - exact
    return float(np.abs(difference - difference.mean(axis=0)).max())


def doubts(result: GibbsResult) -> Iterator[TwoSampleWarning]:
    """The warnings that the diagnostics of a result call for."""
    diagnostics, settings = result.diagnostics, result.settings
    if diagnostics.flat:
        yield assembly.out_of_reach()
    disagreement = diagnostics.largest_r_hat
    if disagreement > _LARGEST_R_HAT:
        yield ConvergenceWarning(
            f"the chains disagree (R-hat is {disagreement:.2f}, not below {_LARGEST_R_HAT})",
            remedy=f"run more steps{' or use test, which needs no chain' if result.kernel == 'rbf' else ''}",
        )
    fewest = diagnostics.smallest_ess
    if fewest < _FEWEST_EFFECTIVE_DRAWS:
        yield ConvergenceWarning(
            f"the chains are worth only {fewest:.0f} independent draws, so that errors are rough",
            remedy="run more steps",
        )
    if result.evidence is None and not 0 < result.given.sum() < result.given.size:
        other = "the same distribution" if result.given.any() else "different distributions"
        yield ConvergenceWarning(
            f"no draw is of {other}: its probability is a guess",
            remedy=(Setting("evidence", True), " estimates log BF10 without such draws"),
        )
    steps = (diagnostics.steps or settings.steps) - settings.burn_in
    transitions = settings.chains * steps * settings.hmc_steps
    diverged = int(diagnostics.divergences.sum())
    if diverged > _MANY_DIVERGENCES * transitions:
        yield ConvergenceWarning(
            f"{diverged} of {transitions} transitions diverged: parts of the posterior may be missing from the chains"
        )
    if result.evidence is not None and result.evidence.overlap < _SMALLEST_OVERLAP:
        overlap = result.evidence.overlap
        yield ConvergenceWarning(
            f"the two hypotheses' posteriors hardly overlap ({overlap:.1g}): log BF10 may be worse than its error"
        )
    if diagnostics.density_error > _DENSITY_TOLERANCE:
        error = diagnostics.density_error
        yield AccuracyWarning(
            f"the sampled log density is off by up to {error:.1g}: kernels underflow where it is short"
        )
