"""One sample against a law: whether a distribution or a simulator matches the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample import kernels, models
from twosample.common.arguments import Seed, count_of, generator_of, positive, share_of
from twosample.common.arrays import Array
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.common.words import columns_in_words
from twosample.data import Choice, Samples, check_finite, finite_rows
from twosample.data.samples import check_policy
from twosample.data.sketch import Sketch
from twosample.data.two_tables import read_one
from twosample.errors import DroppedDataWarning, InputError, Setting, warn
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference import grid, relabelling
from twosample.inference.evidence import Difference, Hypotheses, mean_diagonal
from twosample.inference.laws import Law, normal_moments
from twosample.inference.relabelling import RankOne, Statistic, WeightedTest
from twosample.kernels import RBF, Kernel
from twosample.models import Model
from twosample.places import local
from twosample.plan import Plan, make_plan
from twosample.results import assembly
from twosample.results.goodness_result import GoodnessResult

__all__ = ["goodness"]

# A law whose features are known counts as so many rows.
_KNOWN = 1 << 40
_FEWEST_DRAWS = 1000


def goodness(
    x: object,
    law: Any,
    *,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    model: str | Model = "adaptive",
    kernel: str | Kernel = "rbf",
    points: int | ArrayLike = 40,
    subsets: str | Iterable[Iterable[str | int]] | None = "auto",
    prior_odds: float = 1.0,
    nan_policy: Literal["raise", "omit"] = "raise",
    simulations: int = 0,
    draws: int = 20_000,
    rope: float | None = None,
    tolerance: float = 1e-3,
    rng: Seed = 0,
    progress: Progress = False,
) -> GoodnessResult:
    """Test whether a sample comes from a given law: a distribution, or a simulator.

    It is the test of two samples in the limit of a second sample that is all of the law. Points, scale and noise are
    those of the law: nothing that is fixed beforehand depends on the data.

    Parameters
    ----------
    x
        The sample, as in `test`.
    law
        A frozen distribution of `scipy.stats`, such as ``norm(0, 1)`` or ``multivariate_normal(...)``, or its text,
        such as ``"norm(0, 1)"``; or a function of a size and a `numpy.random.Generator` that returns rows, (size, D). A
        distribution of one column is known by 8,192 of its quantiles, and all columns of a normal law together
        exactly. Of everything else `draws` rows are drawn once, and their noise is taken into account.
    columns, drop, model, kernel, subsets, prior_odds, nan_policy, rope, tolerance
        As in `test`; the columns of the law are those of the data, in their order.
    points
        Number of evaluation points, which are chosen among rows of the law, or the points themselves.
    simulations
        Number of data sets of the same size that are simulated from the law for a p-value of the Bayes factor and an
        e-value, none if 0. The level is exact. Their statistic is log BF10 with the noise of the law, by one fixed rule
        of lengthscales.
    draws
        Number of rows that are drawn from a law that cannot be computed.
    rng
        Seed of all that is drawn.
    progress
        True shows a progress bar on a terminal; a function is called with the share of work done.

    Returns
    -------
    GoodnessResult
        As from `test`, with the law in the place of y.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> from scipy import stats
    >>> x = np.random.default_rng(1).standard_t(2, 300)
    >>> ts.goodness(x, stats.norm(0, 1)).prob_h1 > 0.99
    True
    >>> ts.goodness(x, "t(2)").prob_h1 < 0.5
    True

    A simulator:

    >>> result = ts.goodness(x, lambda size, rng: rng.standard_t(2, size), draws=5000)
    >>> result.verdict[:45]
    'positive evidence that the sample comes from '
    """
    chosen, generator = models.resolve_pooled(model), generator_of(rng)
    prior_odds = positive(prior_odds, "prior_odds")
    simulations, draws = count_of(simulations, "simulations", 0), count_of(draws, "draws", _FEWEST_DRAWS)
    rope = None if rope is None else share_of(rope, "rope", 0.5)
    if isinstance(points, float | np.floating):
        points = count_of(float(points), "points", 1)
    rows, names, left_out, notes = _read(x, Choice.of(columns=columns, drop=drop), nan_policy)
    known = Law.of(law, draws, generator)
    samples = _as_samples(known, rows, names, notes)
    plan = make_plan(
        samples,
        chosen,
        kernels.resolve(kernel),
        points,
        nan_policy=nan_policy,
        tolerance=positive(tolerance, "tolerance"),
        subsets=subsets if chosen.ranks > 0.0 else None,
    )
    both = replace(samples, x=rows, y=known.rows)
    with progress_bar(progress) as report, one_thread():
        counter = WorkCounter(report, _work(plan, len(rows), simulations))
        while True:
            statistics = _with_law(plan, plan.collect(both, counter), known)
            result = plan.answer(statistics, prior_odds=prior_odds)
            if result.diagnostics.converged or plan.level >= grid.LAST_LEVEL:
                break
            plan = plan.refined()
        found = GoodnessResult.of(
            result,
            n_y=len(known.rows),
            names=("x", known.name),
            left_out=left_out,
            rope=rope,
            law=known.name,
            exact=known.exact,
        )
        if simulations:
            drawn, tests = _Draws(rows, known, plan), relabelling.tests_of(plan)
            relabelled = relabelling.compare(drawn, tests, simulations, generator, counter)
            diagnostics = replace(found.diagnostics, permutations=simulations)
            found = replace(found, **relabelled._asdict(), diagnostics=diagnostics)
        counter.finish()
    if found.diagnostics.flat:
        warn(assembly.flat_features(plan, (len(rows), len(known.rows)), (Sketch.of(rows), Sketch.of(known.rows))))
    if not found.diagnostics.converged:
        warn(assembly.inaccurate(found, "the likelihood of the lengthscale is rough"))
    return found


def _read(x: object, choice: Choice, nan_policy: str) -> tuple[Array, tuple[str, ...], Any, tuple[str, ...]]:
    """The rows of the sample, the names of its columns, those left out, and what was said."""
    check_policy(nan_policy)
    table, notes = read_one(x, choice)
    names = table.columns or tuple(map(str, range(table.rows.shape[1])))
    keep = finite_rows(table.rows)
    rows = table.rows
    if not keep.all():
        if nan_policy == "raise":
            check_finite(rows, "x", names, remedy=("remove them or pass ", Setting("nan_policy", "omit")))
        note = f"Dropped {np.sum(~keep)} of {len(keep)} rows with a missing or infinite value."
        warn(DroppedDataWarning(note, argument="x"))
        rows, notes = rows[keep], (*notes, note)
    if len(rows) < 2:
        raise InputError(f"x has {len(rows)} row{'s' * (len(rows) != 1)}", argument="x", remedy="pass at least 2")
    return rows, names, table.left_out, notes


def _as_samples(law: Law, rows: Array, names: tuple[str, ...], notes: tuple[str, ...]) -> Samples:
    """The rows of the law, shared out to two samples: for what is fixed beforehand."""
    if law.rows.shape[1] != rows.shape[1]:
        raise InputError(
            f"law: it has {columns_in_words(law.rows.shape[1])} and x has {rows.shape[1]}",
            argument="law",
            remedy="they must have the same; choose those of x with columns",
        )
    ordered = law.rows[np.lexsort(law.rows.T[::-1])]
    constant = np.flatnonzero(ordered.max(axis=0) == ordered.min(axis=0))
    if constant.size:
        raise InputError(
            f"law: it has one value throughout in column {names[constant[0]]!r}",
            argument="law",
            remedy="leave that column out, or compare it by eye",
        )
    samples = Samples.checked(ordered[::2], ordered[1::2], names, False, "robust", "raise", look=False)
    return replace(samples, notes=notes)


def _with_law(plan: Plan, statistics: FeatureStatistics, law: Law) -> FeatureStatistics:
    """The statistics with what is known of the law."""
    assert statistics.y is not None and plan.lengthscales is not None
    columns = statistics.columns_y
    return replace(
        statistics,
        y=_all_columns(plan, law, plan.lengthscales, statistics.y),
        columns_y=None if columns is None else _known(law, columns),
        parts=tuple(part if part.y is None else replace(part, y=_known(law, part.y)) for part in statistics.parts),
    )


def _all_columns(plan: Plan, law: Law, lengthscales: Array, of_rows: Moments) -> Moments:
    """Moments of the law for the test of all columns as scaled; of a normal law without its rows."""
    if law.normal is None or type(plan.kernel) is not RBF:
        return _known(law, of_rows)
    mean, covariance = law.normal
    scaled = (mean - plan.center) / plan.scale, covariance / plan.scale / plan.scale[:, np.newaxis]
    return normal_moments(plan.points, lengthscales, *scaled, _KNOWN)


def _known(law: Law, moments: Moments) -> Moments:
    """Moments of the rows of a law: where these are its quantiles, as if of very many."""
    if not law.exact:
        return moments
    return Moments(_KNOWN, moments.mean, moments.scatter * (_KNOWN / moments.count))


def _work(plan: Plan, n: int, simulations: int) -> int:
    """All that is counted, in rows × lengthscales."""
    assert plan.lengthscales is not None
    tests = relabelling.tests_of(plan) if simulations else []
    return n * (len(plan.lengthscales) + (1 + simulations) * sum(len(test.lengthscales) for test in tests))


@dataclass(frozen=True, eq=False)
class _Draws:
    """Data sets drawn from a law, all judged with the noise of the law.

    Attributes
    ----------
    observed
        The rows of the sample, (n, D).
    law
        The law.
    plan
        The plan of the test.
    """

    observed: Array
    law: Law
    plan: Plan

    def draw(self, generator: np.random.Generator) -> Array:
        """As many rows from the law, (n, D)."""
        return self.law.draw(len(self.observed), generator)

    def statistic(self, test: WeightedTest) -> Statistic:
        """Log BF10 of data sets (B, n, D)."""
        n, features, lengthscales = len(self.observed), test.features, test.lengthscales
        [of_law] = local.sample_moments(features, (self.law.rows[:, test.columns],), lengthscales)
        if features is self.plan.features:
            of_law = _all_columns(self.plan, self.law, lengthscales, of_law)
        else:
            of_law = _known(self.law, of_law)
        size = 2.0 / (1.0 / n + 1.0 / of_law.count)
        noise, variance = of_law.covariance * (2.0 / size), mean_diagonal(of_law.covariance)
        difference = Difference(np.zeros_like(of_law.mean), noise, size, size - 1.0, variance)
        rank_one = RankOne(Hypotheses.of(difference, self.plan.model, features, lengthscales), 0.0)
        mean = np.full((1, n), 1.0 / n)

        def delta(rows: Array) -> Array:
            own = (rows[:, test.columns],)
            return local.weighted_sums(features, own, lengthscales, lambda block: mean[:, block], of_law.mean)

        return lambda sets: test.sum(rank_one.log_bf10(np.concatenate([delta(rows) for rows in sets], axis=1)))

    def bytes_of(self, test: WeightedTest) -> int:
        """Memory of one data set."""
        return 8 * (self.observed.size + len(test.lengthscales) * test.features.count)

    def work_of(self, test: WeightedTest) -> int:
        """Work of one data set, whose features are not known beforehand."""
        return len(self.observed) * len(test.lengthscales)
