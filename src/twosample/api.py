"""The public functions: they only string the stages together."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample import evidence as evidences
from twosample import permutation, sampling
from twosample.arguments import Seed, count_of, generator_of, positive
from twosample.errors import AccuracyWarning, DroppedDataWarning, InputError
from twosample.evidence import Evidence
from twosample.gibbs_result import GibbsResult
from twosample.models import Model
from twosample.points import thin
from twosample.posterior.chains import Settings
from twosample.posterior.marginals import H0, H1, component_weights, densities, log_bayes_factor, representatives
from twosample.posterior.quadrature import Quadrature
from twosample.problem import Pairs, Problem, Show
from twosample.progress import Progress, progress_bar
from twosample.result import Amplitude, Diagnostics, Lengthscale, TwoSampleResult
from twosample.threads import one_thread
from twosample.witness import WitnessPosterior

__all__ = ["gibbs", "log_bf10", "test"]

Array = NDArray[np.float64]

_SHOWN_ROWS = 500
# The witness keeps this many lengthscales, amplitudes with more than this share of the likeliest one's weight, and
# directions in which the prior has more than this share of the noise.
_WITNESS_LENGTHSCALES = 12
_NEGLIGIBLE_WEIGHT = 1e-3
_NEGLIGIBLE_SIGNAL = 1e-6
_LARGEST_LOG_VARIANCE = 300.0


def test(
    x: object,
    y: object,
    *,
    model: str | Model = "adaptive",
    paired: bool = False,
    kernel: Literal["rbf"] = "rbf",
    lengthscale: float | Literal["median"] | None = None,
    points: int | ArrayLike = 40,
    prior_odds: float = 1.0,
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    permutations: int = 0,
    rng: Seed = 0,
    progress: Progress = False,
) -> TwoSampleResult:
    """Test whether two samples come from the same distribution.

    Parameters
    ----------
    x, y
        The samples: lists, arrays or data frames of any library, (n_x, D) and (n_y, D); 1-D input is one column.
    model
        "adaptive" (the default), "paper", "published", or a `Model` of your own.
    paired
        Whether row i of `x` belongs with row i of `y`.
    kernel
        Only "rbf", the Gaussian kernel.
    lengthscale
        None infers it, a number fixes it, "median" fixes it at the median heuristic. A number is in the units of the
        data where there is one column or the columns are not scaled, else relative to the scale of the columns.
    points
        Number of evaluation points, or the points themselves (s, D) in the units of the data.
    prior_odds
        Prior odds of "different" against "the same".
    scale
        "auto" does what the model says; "robust" divides each column by its spread, the distance within which a quarter
        of all pairs of pooled rows lie; "raw" leaves the columns alone, and D positive numbers divide the columns by
        those.
    nan_policy
        "raise" refuses missing and infinite values; "omit" drops their rows and says how many.
    permutations
        Number of permutations for a p-value of the Bayes factor, none if 0; for models without pairs, such as
        "adaptive". Labels of the pooled rows are permuted or, for pairs, members of random pairs swapped. The level is
        exact, unless given `points`, `scale` or `lengthscale` were chosen with a look at the labels. The statistic is
        log BF10 by one fixed rule of lengthscales, the same for all labels.
    rng
        Seed of the permutations, and of the random pairs that "paper" and "published" need where n_x ≠ n_y; nothing
        else is random.
    progress
        True shows a progress bar on a terminal; a function is called with the share of work done.

    Returns
    -------
    TwoSampleResult
        Bayes factor, probabilities, verdict, posteriors of lengthscale and witness.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> result = ts.test(rng.normal(0, 1, 200), rng.normal(0, 3, 200))
    >>> result.verdict
    'very strong evidence that the samples differ'
    >>> ts.test([4.1, 5.2, 4.7, 5.9, 5.0], [6.3, 7.1, 6.9, 7.8, 6.6], permutations=99).pvalue <= 0.05
    True
    """
    problem = Problem.prepare(x, y, model, paired, kernel, points, scale, nan_policy)
    prior_odds, generator = positive(prior_odds, "prior_odds"), generator_of(rng)
    permutations = count_of(permutations, "permutations", 0)
    if permutations and problem.model.needs_pairs:
        raise InputError(
            f"permutations: the p-value is for models without pairs, not {problem.model.name!r}; use model='adaptive'"
        )
    fixed = None if lengthscale is None else problem.internal(lengthscale)
    if fixed is not None and len(fixed) != 1:
        raise InputError("lengthscale: test takes one number; use log_bf10 for several")

    pairs = Pairs.choose(problem, generator) if fixed is None and problem.model.needs_pairs else None
    for note in () if pairs is None else pairs.notes:
        warnings.warn(note, DroppedDataWarning, stacklevel=2)

    with progress_bar(progress) as report, one_thread():
        rows = problem.samples.n_x + problem.samples.n_y + (0 if pairs is None else 2 * len(pairs.x))
        show = Show(report, rows, permutation.work(problem, fixed, permutations) if permutations else 0)
        if fixed is None:
            found, rule = problem.integrate(show, pairs, np.log(prior_odds))
        else:
            found = problem.evidence(fixed, show)
            curves = np.stack([np.zeros(1), found.log_bf10], axis=1)
            rule = Quadrature(np.log(fixed), np.ones(1), curves, error=0.0, evaluations=1)
        pvalue = permutation.pvalue(problem, fixed, permutations, generator, show) if permutations else None
    if not rule.converged:
        warnings.warn(
            f"the integration over the lengthscale stopped at an estimated error of {rule.error:.1g} in log BF10; "
            "the likelihood of the lengthscale is rough",
            AccuracyWarning,
            stacklevel=2,
        )
    return _result(problem, found, rule, prior_odds, fixed is not None, pairs, permutations, pvalue)


def log_bf10(
    x: object,
    y: object,
    lengthscale: ArrayLike,
    *,
    points: int | ArrayLike = 40,
    model: str | Model = "adaptive",
    paired: bool = False,
    kernel: Literal["rbf"] = "rbf",
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
) -> float | Array:
    """Log Bayes factor at given lengthscales.

    Parameters
    ----------
    x, y
        The samples, as in `test`.
    lengthscale
        One or several positive lengthscales, or "median".
    points, model, paired, kernel, scale, nan_policy
        As in `test`.

    Returns
    -------
    float or ndarray
        Log BF10, of the shape of `lengthscale`.

    Examples
    --------
    >>> import twosample as ts
    >>> ts.log_bf10([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9], [0.5, 1.0, 2.0]).shape
    (3,)
    """
    problem = Problem.prepare(x, y, model, paired, kernel, points, scale, nan_policy)
    with one_thread():
        found = problem.evidence(problem.internal(lengthscale), Show(None, 1)).log_bf10
    shape = () if isinstance(lengthscale, str) else np.shape(lengthscale)
    return found.reshape(shape) if shape else float(found[0])


def gibbs(
    x: object,
    y: object,
    *,
    model: str | Model = "paper",
    paired: bool = False,
    kernel: Literal["rbf", "ard"] = "rbf",
    points: int | ArrayLike = 40,
    prior_odds: float = 1.0,
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    steps: int = 2000,
    burn_in: int = 500,
    thinning: int = 2,
    hmc_steps: int = 9,
    adapt_steps: int = 3,
    chains: int = 4,
    evidence: bool | None = None,
    rng: Seed = 0,
    progress: Progress = False,
) -> GibbsResult:
    """Sample the hypothesis and the lengthscales together: the paper's Algorithm 1 (needs the `mcmc` extra).

    For one lengthscale `test` computes the same answer without sampling error, in a small part of the time. Sampling is
    for several lengthscales, one a column, and for the chain itself.

    Parameters
    ----------
    x, y
        The samples, as in `test`.
    model
        "paper", "published", whose two conditionals belong to no joint law, or "adaptive", the default of `test`, which
        needs no Jacobians and so takes any number of columns; or a `Model` of your own.
    paired, points, prior_odds, scale, nan_policy
        As in `test`.
    kernel
        "rbf" has one lengthscale, "ard" one for each column, with independent priors.
    steps, burn_in, thinning
        Gibbs steps of each chain in all, how many of them are dropped, and one in how many of the others is kept.
    hmc_steps, adapt_steps
        No-U-Turn transitions in a Gibbs step, and how many of them tune the step size during the burn-in.
    chains
        Number of chains, run at the same time.
    evidence
        Whether to also estimate log BF10 from chains that keep to one hypothesis each, which takes two more runs but
        works where the hypothesis never changes. None does so for kernel "ard".
    rng
        Seed of everything random.
    progress
        True shows a bar with the running P(H1) on a terminal; a function is called with the share of work done.

    Returns
    -------
    GibbsResult
        The chains, P(H1) and log BF10 with their Monte Carlo errors, diagnostics, and for "ard" the relevant columns.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(0, 1, 30), rng.normal(1.2, 1, 30)
    >>> result = ts.gibbs(x, y, points=10, chains=2, steps=800, burn_in=200)
    >>> exact = ts.test(x, y, points=10, model="paper")
    >>> bool(abs(result.prob_h1 - exact.prob_h1) < 5 * result.prob_h1_error)
    True
    """
    settings = Settings(
        *(
            count_of(value, name, lowest)
            for value, name, lowest in (
                (steps, "steps", 8),
                (burn_in, "burn_in", 0),
                (thinning, "thinning", 1),
                (hmc_steps, "hmc_steps", 1),
                (adapt_steps, "adapt_steps", 0),
                (chains, "chains", 1),
            )
        )
    )
    if evidence not in (True, False, None):
        raise InputError(f"evidence: must be True, False or None, not {evidence!r}")
    if (settings.steps - settings.burn_in) // settings.thinning < 4:
        raise InputError("steps: fewer than 4 draws are left after the burn-in and thinning; run more steps")
    if settings.adapt_steps > settings.hmc_steps:
        raise InputError(f"adapt_steps: only {settings.hmc_steps} transitions are there to tune (hmc_steps)")
    problem = Problem.prepare(x, y, model, paired, kernel, points, scale, nan_policy, kernels=("rbf", "ard"))
    prior_odds, generator = positive(prior_odds, "prior_odds"), generator_of(rng)
    pairs = Pairs.choose(problem, generator) if problem.model.needs_pairs else None
    if pairs is None and problem.model.needs_pairs:
        raise InputError("x and y: all rows are equal, so that there is nothing to sample; use test")
    for note in () if pairs is None else pairs.notes:
        warnings.warn(note, DroppedDataWarning, stacklevel=2)

    wanted = kernel == "ard" if evidence is None else bool(evidence)
    first, second = (int(seed) for seed in generator.integers(2**32, size=2))
    with progress_bar(progress) as report:
        result = sampling.run(problem, pairs, settings, prior_odds, (first, second), evidence=wanted, report=report)
    doubts = list(sampling.doubts(result))
    for note, category in doubts:
        warnings.warn(note, category, stacklevel=2)
    notes = result.diagnostics.notes + tuple(note for note, _ in doubts)
    return replace(result, diagnostics=replace(result.diagnostics, notes=notes))


def _result(
    problem: Problem,
    found: Evidence,
    rule: Quadrature,
    prior_odds: float,
    fixed: bool,
    pairs: Pairs | None,
    permutations: int,
    pvalue: float | None,
) -> TwoSampleResult:
    samples, model = problem.samples, problem.model
    notes = samples.notes + (() if pairs is None else pairs.notes)
    density, mass = densities(rule)
    given_lengthscale = rule.curves[:, -1] - (rule.curves[:, H0] if rule.curves.shape[1] == 2 else 0.0)
    weights = component_weights(rule, found)
    log_amplitudes, _ = evidences.amplitudes(model)
    return TwoSampleResult(
        log_bf10=log_bayes_factor(rule, np.log(prior_odds)),
        prior_odds=prior_odds,
        lengthscale=Lengthscale(
            grid=np.exp(rule.grid) * samples.unit,
            density_h0=density[:, H0],
            density_h1=density[:, H1],
            mass_h0=mass[:, H0],
            mass_h1=mass[:, H1],
            prob_h1=evidences.probability(given_lengthscale + np.log(prior_odds)),
            median_heuristic=problem.median * samples.unit,
            fixed=fixed,
        ),
        amplitude=Amplitude(np.exp(log_amplitudes), weights.sum(axis=0), fixed=model.amplitude is None),
        points=problem.points * samples.scale + samples.center,
        n_x=samples.n_x,
        n_y=samples.n_y,
        columns=samples.columns,
        center=samples.center,
        scale=samples.scale,
        paired=samples.paired,
        kernel=problem.kernel,
        model=model,
        diagnostics=Diagnostics(
            evaluations=rule.evaluations,
            quadrature_error=rule.error,
            pairs=0 if pairs is None else len(pairs.x),
            permutations=permutations,
            notes=notes,
        ),
        shown_x=thin(samples.x, limit=_SHOWN_ROWS),
        shown_y=thin(samples.y, limit=_SHOWN_ROWS),
        witness_posterior=_witness(problem, found, rule),
        pvalue=pvalue,
    )


def _witness(problem: Problem, found: Evidence, rule: Quadrature) -> WitnessPosterior:
    """The mixture with what does not matter left out: close lengthscales, unlikely amplitudes, flat directions."""
    found = found.select(representatives(rule, found.lengthscales, _WITNESS_LENGTHSCALES))
    weights = component_weights(rule, found)
    log_amplitudes, _ = evidences.amplitudes(problem.model)
    likely = weights.sum(axis=0) > _NEGLIGIBLE_WEIGHT * weights.sum(axis=0).max()
    log_scale = problem.model.log_prior_variance(found.lengthscales, problem.samples.n_columns)
    log_variances = np.minimum(2.0 * log_amplitudes[likely] + log_scale[:, None], _LARGEST_LOG_VARIANCE)
    spectra = found.spectrum(problem.model, problem.points)
    signal = np.exp(log_variances.max(axis=1))[:, None] * spectra.eigenvalues  # eigenvalues increase
    first = int((signal < _NEGLIGIBLE_SIGNAL).all(axis=0).sum())
    return WitnessPosterior(
        points=problem.points,
        measure=problem.model.measure,
        lengthscales=found.lengthscales,
        basis=spectra.basis[:, :, first:],
        eigenvalues=spectra.eigenvalues[:, first:],
        scores=spectra.scores[:, first:],
        log_variances=log_variances,
        weights=weights[:, likely] / weights[:, likely].sum(),
    )
