"""The paper's sampler of the hypothesis and the lengthscales, as a question of two samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from numpy.typing import ArrayLike

from twosample.common.arguments import Seed, flag_of, is_one_of
from twosample.common.floating import own_errors
from twosample.common.progress import Progress, progress_bar
from twosample.data import Samples
from twosample.errors import InputError, emit
from twosample.models import Model
from twosample.paper import sampling
from twosample.paper.chains import Settings
from twosample.paper.gibbs_result import GibbsResult
from twosample.questions.comparing import pairs_of
from twosample.questions.options import Options

__all__ = ["gibbs"]


@own_errors
def gibbs(
    x: object,
    y: object = None,
    *,
    by: object = None,
    groups: Sequence[object] | None = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    model: str | Model = "adaptive",
    paired: object = False,
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
    early_stop: bool = True,
    rng: Seed = 0,
    progress: Progress = False,
) -> GibbsResult:
    """Sample the hypothesis and the lengthscales together: the paper's Algorithm 1 (needs the `mcmc` extra).

    All columns are tested together, as scaled. For one lengthscale ``test(..., subsets=None)`` computes the same answer
    without sampling error, in a small part of the time. Sampling is for several lengthscales, one a column, and for the
    chain itself.

    Parameters
    ----------
    x, y
        The samples, as in `test`.
    model
        "adaptive" (the default), which needs no Jacobians and so takes any number of columns; to reproduce the paper
        "paper" or "published", whose two conditionals belong to no joint law; or a `Model` of your own.
    by, groups, columns, drop, paired, points, prior_odds, scale, nan_policy
        As in `test`.
    kernel
        "rbf" has one lengthscale, "ard" one for each column, with independent priors.
    steps, burn_in, thinning
        Gibbs steps of each chain in all, at most; how many of them are dropped, and one in how many of the others is
        kept.
    hmc_steps, adapt_steps
        No-U-Turn transitions in a Gibbs step, and how many of them tune the step size during the burn-in.
    chains
        Number of chains, run at the same time.
    evidence
        Whether to also estimate log BF10 from chains that keep to one hypothesis each, which takes two more runs but
        works where the hypothesis never changes. None does so for kernel "ard".
    early_stop
        Whether the chains stop once they have converged: R-hat at most 1.01 and 400 effective draws of P(H1) and of
        every log lengthscale, and an error of P(H1) below 0.01. False runs all `steps`, as the paper does.
    rng
        Seed of everything random.
    progress
        True shows a bar with the running P(H1) on a terminal, and elsewhere a line on stderr every half minute; a
        function is called with the share of work done.

    Returns
    -------
    GibbsResult
        The chains, P(H1) and log BF10 with their Monte Carlo errors, diagnostics, and for "ard" the relevant columns.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(0, 1, 30), rng.normal(0.8, 1, 30)
    >>> result = ts.gibbs(x, y, points=10, chains=2, steps=800, burn_in=200)
    >>> exact = ts.test(x, y, points=10, subsets=None)
    >>> bool(abs(result.prob_h1 - exact.prob_h1) < 5 * result.prob_h1_error)
    True
    """
    settings = Settings.checked(steps, burn_in, thinning, hmc_steps, adapt_steps, chains, early_stop)
    if not is_one_of(kernel, ("rbf", "ard")):
        raise InputError(f"kernel: {kernel!r} is unknown to gibbs", argument="kernel", remedy="use 'rbf' or 'ard'")
    wanted = kernel == "ard" if evidence is None else flag_of(evidence, "evidence")
    options = Options.checked(locals(), kernel="rbf", subsets=None).without_texts()
    samples = Samples.from_data(
        x, y, paired=options.paired, scale=options.scale, nan_policy=options.nan_policy, choice=options.choice
    )
    if len(samples.columns) == 1:
        options = replace(options, model=options.model.alone())
    the_plan = options.plan(samples)
    pairs = pairs_of(samples, the_plan, options.generator) if options.model.needs_pairs else None
    if pairs is None and options.model.needs_pairs:
        raise InputError(
            "x and y: all rows are equal, so that there is nothing to sample", argument="x and y", remedy="use test"
        )

    first, second = (int(seed) for seed in options.generator.integers(2**32, size=2))
    question = sampling.Question(the_plan, samples, pairs, several=kernel == "ard")
    with progress_bar(progress) as report:
        result = sampling.run(question, settings, options.prior_odds, (first, second), evidence=wanted, report=report)
    notes = result.diagnostics.notes + emit(sampling.doubts(result))
    return replace(result, diagnostics=replace(result.diagnostics, notes=notes))
