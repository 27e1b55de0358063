"""One sample against a law: whether a distribution or a simulator matches the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import Seed, count_of
from twosample.common.arrays import Array
from twosample.common.floating import own_errors
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.common.words import columns_in_words, count_in_words
from twosample.data import LeftOut, Samples, finite_rows
from twosample.data.complete import complete
from twosample.data.known_columns import columns_of
from twosample.data.limits import Limits
from twosample.data.sketch import Sketch
from twosample.data.two_tables import Tables, read_all, read_one
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Role, warn
from twosample.features.domains.domain import objects_of
from twosample.features.statistics import FeatureStatistics, Moments
from twosample.inference import relabelling
from twosample.inference.evidence import Difference, Hypotheses
from twosample.inference.laws import Law, normal_moments, numbers_drawn
from twosample.inference.refinement import refinements
from twosample.inference.relabelling import Blind, Statistic, WeightedTest
from twosample.kernels import RBF, Kernel
from twosample.models import Model
from twosample.places import local
from twosample.plan import Plan, plan_of_objects
from twosample.questions.objects import answer as answer_objects
from twosample.questions.objects import rows_of, samples_of
from twosample.questions.options import Options, recorded, refusing
from twosample.results import assembly
from twosample.results.goodness_result import GoodnessOfObjectsResult, GoodnessResult
from twosample.results.robustness import robustness_of, variations_of
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["goodness"]

# Number of rows that a law with known features counts as.
_KNOWN = 1 << 40
_DRAWS, _FEWEST_DRAWS = 20_000, 1000
# At least one in this many rows of a law must be complete.
_MOST_DROPPED = 20


@own_errors
@refusing(
    by="a law is compared with one sample",
    groups="a law is compared with one sample",
    paired="what a law draws has no partners",
    scale="columns are divided by the spread of the law",
    permutations="data sets are drawn from the law instead, as many as `simulations` says",
    engine="the rows are read into the memory of this machine",
)
@recorded
def goodness(
    x: object,
    law: Any,
    *,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    categories: Sequence[str | int] | None = None,
    model: str | Model = "adaptive",
    kernel: str | Kernel | Sequence[str | Kernel] | Callable[[Sequence[Any], Sequence[Any], Any], Any] = "rbf",
    parameters: Sequence[Any] | None = None,
    features: Callable[[Sequence[Any]], Any] | None = None,
    lengthscale: float | Literal["median"] | None = None,
    points: int | ArrayLike = 40,
    subsets: str | Iterable[Iterable[str | int]] | None = "auto",
    prior_odds: float = 1.0,
    nan_policy: Literal["raise", "omit"] = "raise",
    simulations: int = 0,
    draws: int | None = None,
    rope: float | None = None,
    tolerance: float = 1e-3,
    rng: Seed = 0,
    progress: Progress = False,
    keep_rows: bool = False,
) -> GoodnessResult | GoodnessOfObjectsResult:
    """Test whether a sample comes from a given law: a distribution, or a simulator.

    It is the test of two samples in the limit of a second sample that is all of the law. Points, scale and noise are
    those of the law: nothing that is fixed beforehand depends on the data.

    Parameters
    ----------
    x
        The sample, as in `test`.
    law
        A frozen distribution of `scipy.stats`, such as ``norm(0, 1)`` or ``multivariate_normal(...)``, or its text,
        such as ``"norm(0, 1)"``; or a function of a size and a `numpy.random.Generator` that returns rows, (size, D), a
        data frame, or a list of objects. A distribution of one column is known by 8,192 of its quantiles, and all
        columns of a normal law together exactly. Of everything else `draws` rows are drawn once, and their noise is
        taken into account.
    columns, drop, categories, model, kernel, parameters, features, lengthscale, subsets, prior_odds, rope, tolerance
        As in `test`; the columns of the law are those of the data, in their order or, of data frames, by name.
    nan_policy
        "raise" refuses missing and infinite values, also those that a law draws; "omit" drops their rows.
    points
        Number of evaluation points, which are chosen among rows of the law, or the points themselves.
    simulations
        Number of data sets of the same size that are simulated from the law for a p-value of the Bayes factor and an
        e-value, none if 0. The level is exact. Their statistic is log BF10 with the noise of the law, by one fixed rule
        of lengthscales.
    draws
        Number of rows that are drawn from a law that cannot be computed; 20,000 if None.
    rng
        Seed of all that is drawn.
    progress, keep_rows
        As in `test`.

    Returns
    -------
    GoodnessResult
        As from `test`, with the law in the place of y; of objects a `GoodnessOfObjectsResult`.

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
    draws = count_of(_DRAWS if draws is None else draws, "draws", _FEWEST_DRAWS)
    options = Options.checked(locals(), pooled=True, permutations=count_of(simulations, "simulations", 0))
    with progress_bar(progress) as report, one_thread():
        read = _read_objects if options.objects.of_objects else _read_rows
        given = read(x, law, options, draws)
        counter = WorkCounter(report, _work(given, options.permutations))
        found = given.answer(options, counter)
        tests = relabelling.tests_of(*given.plans) if options.permutations else []
        found = assembly.with_pvalue(
            found, partial(_Draws, given), tests, options.permutations, options.generator, counter
        )
        counter.finish()
    if isinstance(found, GoodnessResult):
        variations = variations_of(given.plans[0])
        found.remember(partial(robustness_of, found.log_bf10, variations, partial(_again, given, options)))
        if found.diagnostics.flat:
            sketches = Sketch.of(given.rows), Sketch.of(given.law.rows)
            warn(assembly.flat_features(given.plans[0], (found.n_x, found.n_y), sketches))
        if not found.diagnostics.converged:
            warn(assembly.inaccurate(found, "the likelihood of the lengthscale is rough"))
    return found


@dataclass(frozen=True, eq=False)
class _Given:
    """A sample, the law, and the plans, one for each kernel."""

    rows: Array  # the rows of the sample, (n, D)
    law: Law
    samples: Samples  # the rows of the law, shared out to two samples: for what is fixed beforehand
    plans: list[Plan]
    left_out: tuple[LeftOut, ...] = ()  # columns that were not used, and why
    # The objects of the sample and of the law, where these are no rows of a table.
    objects: tuple[list[Any], list[Any]] | None = None

    def answer(self, options: Options, counter: WorkCounter) -> GoodnessResult | GoodnessOfObjectsResult:
        """The answer, without a p-value."""
        names, exact = ("x", self.law.name), self.law.exact
        if self.objects is not None:
            both = samples_of(self.rows, self.law.rows)
            alone = replace(options, permutations=0)
            of_objects = answer_objects(self.plans[0], both, alone, counter, self.objects)
            return GoodnessOfObjectsResult.of(of_objects, names=names, law=self.law.name, exact=exact)
        result = assembly.average([self._of_kernel(plan, options, counter) for plan in self.plans])
        return GoodnessResult.of(
            result,
            n_y=len(self.law.rows),
            names=names,
            left_out=self.left_out,
            rope=options.rope,
            law=self.law.name,
            exact=exact,
        )

    def _of_kernel(self, plan: Plan, options: Options, counter: WorkCounter) -> TwoSampleResult:
        """The answer with one kernel, from as many lengthscales as its accuracy needs."""
        both = replace(self.samples, x=self.rows, y=self.law.rows)
        for refined in refinements(plan):
            statistics = _with_law(refined, refined.collect(both, counter), self.law)
            result = refined.answer(statistics, prior_odds=options.prior_odds, keep_rows=options.keep_rows)
            if result.diagnostics.converged:
                break
        return result


def _again(given: _Given, options: Options, changes: Sequence[dict[str, Any]]) -> list[float]:
    """Log BF10 of the same sample with other models or numbers of points."""
    kernels = [plan.kernel for plan in given.plans]
    replanned = ([options.plan(given.samples, kernel=kernel, **change) for kernel in kernels] for change in changes)
    return [replace(given, plans=plans).answer(options, WorkCounter(None, 1)).log_bf10 for plans in replanned]


def _read_rows(x: object, law: Any, options: Options, draws: int) -> _Given:
    """A sample of rows of a table."""
    role = Role("what the law draws", "law")
    tables: Tables | None = None

    def read(drawn: Any, n: int) -> tuple[Array, Callable[[Any, int], Array]]:
        nonlocal tables
        if not hasattr(drawn, "columns"):
            rows, later = numbers_drawn(drawn, n, finite=options.nan_policy == "raise")
            return _enough(rows[finite_rows(rows)], n), later
        tables = read_all({"x": x, "law": drawn}, options.choice, ("x", role))
        columns, levels = tables.columns, tables.levels
        [rows], note = complete(tables.rows[1:], columns, options.nan_policy, roles=[role])
        if note is not None:
            warn(DroppedDataWarning(note, argument="law"))
        everything = np.ones(len(columns), dtype=bool)
        return _enough(rows, n), lambda again, size: columns_of(again, "law", columns, everything, levels)

    known = Law.of(law, draws, options.generator, read)
    if tables is None:
        if options.choice.categories:
            raise InputError(
                "categories: this law draws numbers", argument="categories", remedy="let it draw data frames with them"
            )
        table, notes = read_one(x, options.without_texts().choice)
        own = Tables((table.rows,), table.columns or tuple(map(str, range(table.rows.shape[1]))), ("x",), ("x",))
        tables = own._replace(left_out=table.left_out, notes=notes, levels=table.levels)
    [rows], note = complete(tables.rows[:1], tables.columns, options.nan_policy, roles=["x"])
    if note is not None:
        warn(DroppedDataWarning(note, argument="x"))
        tables = tables._replace(notes=(*tables.notes, note))
    if len(rows) < 2:
        raise InputError(f"x has {count_in_words(len(rows), 'row')}", argument="x", remedy="pass at least 2")
    samples = _as_samples(known, rows, tables)
    return _Given(rows, known, samples, options.plans(samples), tables.left_out)


def _enough(rows: Array, drawn: int) -> Array:
    """The complete rows, unless nearly all lack a value."""
    if _MOST_DROPPED * len(rows) < drawn:
        raise InputError("law: nearly all rows that it draws lack a value", argument="law")
    return rows


def _read_objects(x: object, law: Any, options: Options, draws: int) -> _Given:
    """A sample of objects; the points are among those that the law draws."""
    own, drawn, domain = objects_of(x, "x"), list[Any](), None

    def read(first: Any, n: int) -> tuple[Array, Callable[[Any, int], Array]]:
        nonlocal drawn, domain
        drawn = objects_of(first, "law")
        if len(drawn) != n:
            raise InputError(
                f"law: of {n} objects it draws {len(drawn)}", argument="law", remedy="it must draw all of them"
            )
        found, rows = rows_of({"law": drawn}, options)
        domain = found
        return rows["law"], lambda again, size: found.rows_of(again)

    known = Law.of(law, draws, options.generator, read)
    if domain is None:
        raise InputTypeError(
            "law: a distribution of numbers has no objects",
            argument="law",
            remedy="pass a function of size and rng that returns a list of objects",
        )
    plan = plan_of_objects(domain, options.model, tolerance=options.tolerance)
    rows = domain.rows_of(own)
    return _Given(rows, known, samples_of(known.rows[::2], known.rows[1::2]), [plan], (), (own, drawn))


def _as_samples(law: Law, rows: Array, tables: Tables) -> Samples:
    """The rows of the law, shared out to two samples: for what is fixed beforehand."""
    names = tables.columns
    if law.rows.shape[1] != rows.shape[1]:
        raise InputError(
            f"law: it has {columns_in_words(law.rows.shape[1])} and x has {rows.shape[1]}",
            argument="law",
            remedy="they must have the same; choose those of x with columns",
        )
    Limits.of(rows, law.rows).check_size(names, ("x", Role("the law", "law")))
    ordered = law.rows[np.lexsort(law.rows.T[::-1])]
    constant = np.flatnonzero(ordered.max(axis=0) == ordered.min(axis=0))
    if constant.size:
        raise InputError(
            f"law: it has one value throughout in column {names[constant[0]]!r}",
            argument="law",
            remedy="leave that column out, or compare it by eye",
        )
    samples = Samples.checked(
        ordered[::2], ordered[1::2], names, False, "robust", "raise", look=False, levels=tables.levels
    )
    return replace(samples, notes=tables.notes).without_many()


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


def _work(given: _Given, simulations: int) -> int:
    """All that is counted, in rows × lengthscales."""
    tests = relabelling.tests_of(*given.plans) if simulations else []
    own = sum(len(plan.lengthscales) for plan in given.plans if plan.lengthscales is not None)
    return len(given.rows) * (own + (1 + simulations) * sum(len(test.lengthscales) for test in tests))


@dataclass(frozen=True, eq=False)
class _Draws:
    """Data sets drawn from a law, all judged with the noise of the law."""

    given: _Given

    @property
    def observed(self) -> Array:
        """The rows of the sample, (n, D)."""
        return self.given.rows

    @property
    def identity(self) -> tuple[Array, ...]:
        """The rows."""
        return (self.observed,)

    def draw(self, generator: np.random.Generator) -> Array:
        """As many rows from the law, (n, D)."""
        return self.given.law.draw(len(self.observed), generator)

    def statistic(self, test: WeightedTest) -> Statistic:
        """Log BF10 of data sets (B, n, D)."""
        n, features, lengthscales = len(self.observed), test.features, test.lengthscales
        law, plans = self.given.law, self.given.plans
        [of_law] = local.sample_moments(features, (law.rows[:, test.columns],), lengthscales)
        of_all_columns = next((plan for plan in plans if plan.features is features), None)
        if of_all_columns is not None:
            of_law = _all_columns(of_all_columns, law, lengthscales, of_law)
        else:
            of_law = _known(law, of_law)
        noise = of_law.covariance * (1.0 / n + 1.0 / of_law.count)
        difference = Difference.of_counts(np.zeros_like(of_law.mean), noise, n, of_law.count)
        blind = Blind(Hypotheses.of(difference, plans[0].model, features, lengthscales))
        mean = np.full((1, n), 1.0 / n)

        def delta(rows: Array) -> Array:
            own = (rows[:, test.columns],)
            return local.weighted_sums(features, own, lengthscales, lambda block: mean[:, block], of_law.mean)

        return lambda sets: test.sum(blind.log_bf10(np.concatenate([delta(rows) for rows in sets], axis=1)))

    def bytes_of(self, test: WeightedTest) -> int:
        """Memory of one data set."""
        return 8 * (self.observed.size + len(test.lengthscales) * test.features.count)

    def work_of(self, test: WeightedTest) -> int:
        """Work of one data set, whose features are not known beforehand."""
        return len(self.observed) * len(test.lengthscales)
