"""The plan of a test: every choice that must not look at the labels, made once and good for any number of parts."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample import places
from twosample.common.arguments import flag_of, is_one_of, lengthscales_of, positive
from twosample.common.arrays import Array
from twosample.common.constraints import INCREASING, POSITIVE, Axes, Count, Positive, Share
from twosample.common.progress import WorkCounter
from twosample.common.records import DIGESTED_IF_SET, NOT_DIGESTED, Record, digest
from twosample.common.threads import one_thread
from twosample.common.words import columns_in_words, count_in_words
from twosample.data import Ranks, Samples, View, are_blocks
from twosample.data.categories import Levels, many_levels, sizes_of, without_many
from twosample.data.sketch import sketches
from twosample.errors import InputError, InputTypeError, Setting, warn
from twosample.features.domains.domain import Domain
from twosample.features.maps import PointFeatures, StackFeatures
from twosample.features.points import evaluation_points, thin, typical_lengthscale
from twosample.features.statistics import FeatureStatistics, merged_parts
from twosample.features.subsets import Part, chosen_subsets, make_parts, multiples_of
from twosample.inference import evidence, grid
from twosample.inference.all_levels import counted
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import Curves, LengthscalePosterior, wanted_error
from twosample.inference.mixture import Mixture, StatisticsOf, evaluate_parts
from twosample.inference.relabelling import EveryLabelling
from twosample.kernels import RBF, Fourier, Kernel
from twosample.models import LogUniform, Model
from twosample.results import assembly
from twosample.results.objects_assembly import objects_result
from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["Plan", "make_plan", "plan_of_objects"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Record):
    """All choices of a test that are blind to which row is in which sample. Made by `twosample.plan`.

    Whoever has the plan can collect statistics of a part of the data, anywhere; those merge, and the plan turns them
    into the answer. A plan is frozen and goes through JSON (`to_json`, `from_json`).

    Attributes
    ----------
    columns
        Names of the columns used.
    kept
        Which columns of the data these are.
    center, scale
        What is subtracted from each column and what it is divided by, (D,).
    points
        Evaluation points (s, D), standardised; with categories (s, K), in the coordinates of the view.
    typical
        The median heuristic, standardised.
    kernel
        The kernel.
    lengthscales
        The lengthscales of the statistics, increasing, (m,): a grid over the prior's support, or the one given.
        None where the model needs several passes to find them (`paper` and `published`).
    fixed
        Whether the lengthscale was given rather than inferred.
    level
        How often the grid has been refined.
    model
        The model with all its constants.
    paired
        Whether the rows are pairs.
    nan_policy
        What to do with missing and infinite values.
    tolerance
        Wanted error of log BF10.
    notes
        One sentence for every column that was left out.
    prior
        Prior probability of the test of all columns as scaled, among those of the mixture, given that the samples
        differ.
    ranks
        The map of the columns to normal scores, or None where there is no mixture.
    parts
        The other tests of the mixture.
    points_given
        Whether the evaluation points were given rather than chosen among the rows.
    levels
        The levels of columns of categories, most common first; all others count as one more. None for each column of
        numbers, and empty where there are no categories. Where a column has more than 31, these have coordinates of
        their own, and all of them are compared by their counts.
    domain
        Of objects that are no rows of a table, the kernel and the points; then `lengthscales` number the parameters of
        that kernel, there are no columns, and `points` are the kernel values between the points. Else None.
    paired_by
        The column that identifies pairs, by which the rows of each part are matched; None where row i of x belongs with
        row i of y, and "" where identifiers were given apart, which those of other parts cannot be.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(0, 1, 500), rng.normal(0.5, 1, 400)
    >>> plan = ts.plan(x, y)
    >>> here, there = plan.statistics(x[:300], y[:100]), plan.statistics(x[300:], y[100:])
    >>> result = plan.test(here.merge(there))
    >>> abs(result.log_bf10 - ts.test(x, y).log_bf10) < 1e-9
    True
    """

    _oldest: ClassVar[int] = 3  # the default model was another one before

    columns: Annotated[tuple[str, ...], Axes("D")]
    kept: NDArray[np.bool_]
    center: Annotated[Array, Axes("D")]
    scale: Annotated[Array, Axes("D"), POSITIVE]
    points: Annotated[Array, Axes("s", "K", least=1)]
    typical: Positive
    kernel: Kernel
    lengthscales: Annotated[Array, Axes("m", least=1), POSITIVE, INCREASING] | None
    fixed: bool
    level: Count
    model: Model
    paired: bool
    nan_policy: Literal["raise", "omit"]
    tolerance: Positive
    notes: tuple[str, ...]
    prior: Share = 1.0
    ranks: Ranks | None = None
    parts: tuple[Part, ...] = ()
    points_given: bool = field(default=False, metadata=NOT_DIGESTED)
    levels: Annotated[Levels, Axes("D", optional=True)] = field(default=(), metadata=DIGESTED_IF_SET)
    domain: Domain | None = field(default=None, metadata=NOT_DIGESTED)
    paired_by: str | None = field(default=None, metadata=DIGESTED_IF_SET)

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if self.kept.ndim != 1 or self.kept.sum() != len(self.columns):
            yield f"kept has {self.kept.sum()} columns, and columns names {len(self.columns)}"
        if self.points.shape[1] != self.view.width:
            yield f"points have {self.points.shape[1]} coordinates, and the columns {self.view.width}"
        if self.parts and self.ranks is None:
            yield "ranks are missing, and parts need them"
        if self.ranks is None:
            return
        if not np.array_equal(View(self.center, self.scale, self.ranks.sizes).codes, self.view.codes):
            yield "ranks and levels have other categories"
        for part in self.parts:
            width = self.ranks.places(part.columns).shape[1]
            if part.points.shape[2] != width:
                yield f"parts have points of {part.points.shape[2]} coordinates, and their columns have {width}"

    @property
    def view(self) -> View:
        """What is done to the columns."""
        return View(self.center, self.scale, sizes_of(self.levels))

    @cached_property
    def many(self) -> tuple[int, ...]:
        """The places of the columns with more levels than coordinates, which have a test of all levels too."""
        return many_levels(self.levels)

    @cached_property
    def features(self) -> PointFeatures:
        """From rows to features."""
        if self.domain is not None:
            return self.domain.features  # type: ignore[return-value]  # all that questions need of features
        return PointFeatures(self.kernel, self.view, self.points, self.typical)

    @cached_property
    def key(self) -> str:
        """What tells this plan from others: statistics carry it, and merge only with those that have the same."""
        return digest(replace(self, notes=(), tolerance=1.0))[:32]

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest lengthscale of the prior's support, standardised."""
        return self.model.lengthscale.bounds(self.typical)

    def summary(self) -> str:
        """The plan in a few lines of text."""
        columns = columns_in_words(len(self.columns))
        count = "several passes" if self.lengthscales is None else f"{len(self.lengthscales)} in one pass"
        return "\n".join(
            [
                f"Plan of a test of {columns}{' of pairs' if self.paired else ''}.",
                f"  model                {self.model.name}, kernel {self.kernel.label}",
                f"  points               {len(self.points)}",
                f"  lengthscales         {'1, given' if self.fixed else count}",
                *(f"  note                 {note}" for note in self.notes),
            ]
        )

    def __repr__(self) -> str:
        """Return the plan in one line."""
        return (
            f"Plan({columns_in_words(len(self.columns))}, {count_in_words(len(self.points), 'point')}, "
            f"model {self.model.name!r}, key {self.key!r})"
        )

    def statistics(self, x: object = None, y: object = None) -> FeatureStatistics:
        """Go once over some rows and collect all that the test needs of them.

        Parameters
        ----------
        x, y
            Rows of the first and of the second sample, as for `twosample.test`: any number of them, or None. Of pairs
            both, as many of one as of the other, or those that have a partner in this part by the column of the plan.

        Returns
        -------
        FeatureStatistics
            To be merged with those of other rows (`merge`), saved (`save`), or tested.
        """
        pairs = self.paired_by or self.paired
        how: dict[str, Any] = {"paired": pairs, "nan_policy": self.nan_policy, "levels": self.levels}
        if not are_blocks(x, y):
            samples = Samples.of_part(x, y, self.columns, self.kept, self.view, **how)
            with one_thread():
                return self.collect(samples)
        nothing = Samples.of_part(None, None, self.columns, self.kept, self.view, **how)
        with one_thread():
            return self.collect_parts(
                chain([nothing], Samples.of_parts(x, y, self.columns, self.kept, self.view, **how))
            )

    def collect(
        self,
        samples: Samples,
        counter: WorkCounter | None = None,
        known: FeatureStatistics | None = None,
        *,
        parts: bool = True,
    ) -> FeatureStatistics:
        """Statistics of checked samples; of those that are known at some lengthscales, the rest is added.

        Those of the other tests of the mixture can be left out and computed where they are needed (`statistics_of`).
        """
        if self.lengthscales is None:
            raise InputError(
                f"model: {self.model.name!r} finds its lengthscales in several passes over the data",
                argument="model",
                remedy="use test, or give the lengthscale",
            )
        lengthscales = self.lengthscales
        if known is not None:
            lengthscales = np.setdiff1d(lengthscales, known.lengthscales)
        new = self.collect_at(samples, lengthscales, counter)
        if known is not None:
            return replace(known.with_lengthscales(new), plan=self.key)
        engine = places.of(samples.x)
        if self.ranks is not None:
            columns = [engine.column_moments(self.ranks, rows) for rows in (samples.x, samples.y)]
            of_pairs = engine.column_moments(self.ranks, samples.x, samples.y) if self.paired else None
            new = replace(new, columns_x=columns[0], columns_y=columns[1], columns_differences=of_pairs)
        if self.many:
            new = replace(new, levels_x=counted(samples.x, self.levels), levels_y=counted(samples.y, self.levels))
        if parts:
            collected = tuple(self.statistics_of(samples, part) for part in range(len(self.parts)))
            new = replace(new, parts=collected)
        if isinstance(samples.x, np.ndarray):  # rows on a device stay there
            of_x, of_y = sketches(samples.x, samples.y, paired=self.paired)
            new = replace(new, sketch_x=of_x, sketch_y=of_y)
        return replace(new, notes=samples.notes)

    def collect_parts(
        self,
        parts: Iterable[Samples],
        counter: WorkCounter | None = None,
        known: FeatureStatistics | None = None,
    ) -> FeatureStatistics:
        """The same of samples in parts, on all cores, each of which has one part in memory; counts rows."""
        return self.completed(known, merged_parts(partial(self.collect_part, self.missing(known)), parts, counter))

    def missing(self, known: FeatureStatistics | None) -> Array | None:
        """The lengthscales that some statistics lack; None without any."""
        if known is None or self.lengthscales is None:
            return None
        return np.setdiff1d(self.lengthscales, known.lengthscales)

    def collect_part(self, missing: Array | None, samples: Samples) -> FeatureStatistics:
        """Statistics of a part of the rows, or what is missing of them."""
        return self.collect(samples) if missing is None else self.collect_at(samples, missing)

    def completed(self, known: FeatureStatistics | None, found: FeatureStatistics) -> FeatureStatistics:
        """Those that were known, with what was missing."""
        return found if known is None else replace(known.with_lengthscales(found), plan=self.key)

    def collect_at(
        self, samples: Samples, lengthscales: Array, counter: WorkCounter | None = None
    ) -> FeatureStatistics:
        """Statistics of checked samples for the test of all columns at these lengthscales, and nothing else."""
        engine = places.of(samples.x)
        tick = None if counter is None else (lambda rows: counter(rows * len(lengthscales)))
        if self.model.takes_differences_alone(self.paired):
            pairs = engine.pair_moments(self.features, samples.x, samples.y, lengthscales, tick=tick, halves=False)
            return FeatureStatistics(lengthscales, None, None, pairs.differences, plan=self.key)
        x, y = engine.sample_moments(self.features, (samples.x, samples.y), lengthscales, tick)
        return FeatureStatistics(lengthscales, x, y, plan=self.key)

    def features_of(self, part: int) -> StackFeatures:
        """From rows to features, for a stack of tests."""
        assert self.ranks is not None
        stack = self.parts[part]
        return StackFeatures(
            self.kernel, self.ranks, stack.columns, stack.points, stack.typical, multiples_of(self.model)
        )

    def statistics_of(self, samples: Samples, part: int, tests: slice = slice(None)) -> FeatureStatistics:
        """Statistics of checked samples for some tests of a stack."""
        features = self.features_of(part).select(tests)
        paired = self.model.takes_differences_alone(self.paired)
        x, y, differences = places.of(samples.x).stack_moments(features, samples.x, samples.y, paired=paired)
        return FeatureStatistics(features.lengthscales, x, y, differences, plan=self.key)

    def test(
        self, statistics: FeatureStatistics, *, prior_odds: float = 1.0, keep_rows: bool = False
    ) -> TwoSampleResult:
        """The answer from the statistics of all rows.

        Parameters
        ----------
        statistics
            Of this plan, merged from all parts.
        prior_odds
            Prior odds of "different" against "the same".
        keep_rows
            As in `twosample.test`.

        Returns
        -------
        TwoSampleResult
            As from `twosample.test`, without a p-value but for few rows. Where the estimated error of log BF10 is
            larger than the tolerance of the plan, an `AccuracyWarning` says so: `refined` is the plan for a second
            pass.
        """
        if not isinstance(statistics, FeatureStatistics):
            raise InputTypeError(
                f"statistics: expected FeatureStatistics, got {type(statistics).__name__}", argument="statistics"
            )
        prior_odds = positive(prior_odds, "prior_odds")
        keep_rows = flag_of(keep_rows, "keep_rows")
        with one_thread():
            every = self.every(statistics)
            result = self.answer(statistics, every=every, prior_odds=prior_odds, keep_rows=keep_rows)
        if result.diagnostics.flat:
            sizes, sketches = (result.n_x, result.n_y), (statistics.sketch_x, statistics.sketch_y)
            warn(assembly.flat_features(self, sizes, sketches))
        if not result.diagnostics.converged:
            warn(assembly.inaccurate(result, "collect statistics with plan.refined() for a smaller one"))
        return result

    def answer(
        self,
        statistics: FeatureStatistics,
        parts: tuple[tuple[Array, ...], Array | None] | None = None,
        statistics_of: StatisticsOf | None = None,
        *,
        every: EveryLabelling | None = None,
        prior_odds: float = 1.0,
        keep_rows: bool = False,
    ) -> TwoSampleResult:
        """The same, without a check of the arguments and without a warning.

        Where the statistics lack those of the other tests of the mixture, `parts` is what `evaluate_parts` found, and
        `statistics_of` has the statistics of some of these tests. Of few rows `every` has all labellings.
        """
        self.check_fit(statistics)
        if min(statistics.n_x, statistics.n_y) < 2:
            raise InputError(
                f"statistics: they hold {statistics.n_x} rows of x and {statistics.n_y} of y",
                argument="statistics",
                remedy="merge those of more rows, at least 2 of each",
            )
        by_lengthscale = evidence.evaluate(statistics, self.features, self.model)
        if every is not None:
            by_lengthscale = by_lengthscale.over(every.log_means[0])
        posterior = self.posterior(by_lengthscale, prior_odds)
        sizes, sketches = (statistics.n_x, statistics.n_y), (statistics.sketch_x, statistics.sketch_y)
        if self.domain is not None:
            rows, notes = (sketches[0].rows, sketches[1].rows), statistics.notes
            return objects_result(  # type: ignore[return-value]  # has no columns, but all else
                self, by_lengthscale, posterior, rows, sizes=sizes, prior_odds=prior_odds, notes=notes
            )
        mixture = None
        if self.parts:
            if statistics_of is None:
                statistics_of = self._collected(statistics)
            logs, of_columns = evaluate_parts(self, statistics_of) if parts is None else parts
            log_means = () if every is None else every.of_parts(self)
            if log_means:
                logs = tuple(part - mean for part, mean in zip(logs, log_means[:-1], strict=True))
            mixture = Mixture(self, posterior.log_bf10, logs, statistics, statistics_of, log_means, of_columns)
        result = assembly.result(
            self,
            by_lengthscale,
            posterior,
            mixture=mixture,
            prior_odds=prior_odds,
            sizes=sizes,
            sketches=sketches,
            statistics=statistics,
            notes=statistics.notes,
            keep_rows=keep_rows,
        )
        return result if every is None else assembly.with_every(result, every)

    def check_fit(self, statistics: FeatureStatistics) -> None:
        """Refuse statistics that were collected with another plan, or cannot have been collected with this one."""
        if statistics.plan != self.key:
            raise InputError(
                "statistics: they belong to another plan", argument="statistics", remedy="collect them with this one"
            )
        if not all(self._fits(statistics)):
            raise InputError(
                "statistics: they do not fit the plan that they name", argument="statistics", remedy="collect them anew"
            )

    def _fits(self, statistics: FeatureStatistics) -> Iterator[bool]:
        """Whether the arrays of statistics have the sizes that this plan gives them."""
        yield self.lengthscales is None or np.array_equal(statistics.lengthscales, self.lengthscales)
        yield statistics.features_count == self.features.count
        if self.domain is not None:
            return
        sketches = (statistics.sketch_x.rows, statistics.sketch_y.rows)
        yield all(rows.shape[1] == len(self.columns) for rows in sketches if len(rows))
        yield len(statistics.parts) <= len(self.parts)  # `_collected` says which are lacking
        for part, found in enumerate(statistics.parts[: len(self.parts)]):
            yield found.features_count == self.parts[part].points.shape[1]
            yield np.array_equal(found.lengthscales, self.features_of(part).lengthscales)
        if statistics.columns_x is not None and self.ranks is not None:
            yield statistics.columns_x.mean.shape == (2, self.ranks.width, 1)
        if statistics.levels_x is not None:
            yield len(statistics.levels_x) == sum(len(self.levels[place] or ()) + 1 for place in self.many)

    def every(self, statistics: FeatureStatistics) -> EveryLabelling | None:
        """All labellings of the rows behind the statistics, which have them all where they are few, or None."""
        x, y = statistics.sketch_x.rows, statistics.sketch_y.rows
        if self.domain is not None or (len(x), len(y)) != (statistics.n_x, statistics.n_y):
            return None
        return EveryLabelling.of(self, x, y)

    def _collected(self, statistics: FeatureStatistics) -> StatisticsOf:
        """Where the statistics of the other tests of the mixture are: in those of the plan."""
        if len(statistics.parts) != len(self.parts) or (self.many and statistics.levels_x is None):
            raise InputError(
                "statistics: they lack those of some columns",
                argument="statistics",
                remedy="collect them with this plan",
            )
        return lambda part, tests: statistics.parts[part].select(tests, len(self.parts[part].points))

    def posterior(self, by_lengthscale: Evidence, prior_odds: float = 1.0) -> LengthscalePosterior:
        """The posterior of the lengthscale from the evidence at the lengthscales of the plan."""
        curves = Curves(self.model.coherent, math.log(prior_odds))
        if self.fixed:
            return LengthscalePosterior.given(by_lengthscale, curves)
        rule = grid.integrate(
            np.log(by_lengthscale.lengthscales),
            Curves.of(by_lengthscale, self.model.lengthscale),
            math.log(self.bounds[0]),
            integrands=curves.integrands,
            tolerance=lambda log_integrals: wanted_error(curves.log_bf10(log_integrals), self.tolerance),
        )
        return LengthscalePosterior(rule, curves)

    def refined(self) -> Plan:
        """The same plan with twice as many lengthscales, for a second pass where the first was not accurate enough."""
        if self.fixed or self.lengthscales is None:
            raise InputError("refined: this plan has no grid of lengthscales that could be refined")
        level = self.level + 1
        return replace(self, level=level, lengthscales=grid.lengthscale_grid(*self.bounds, level))

    def standardised(self, lengthscale: ArrayLike) -> Array:
        """Lengthscales as the user gives them, as a 1-D array in standardised units."""
        if isinstance(lengthscale, str) and lengthscale == "median":
            return np.array([self.typical])
        return lengthscales_of(lengthscale, self.view.unit)


def plan_of_objects(domain: Domain, model: Model, *, paired: bool = False, tolerance: float = 1e-3) -> Plan:
    """The plan for objects: all parameters of their kernel have equal prior weight."""
    between = domain.features.at_points
    return Plan(
        columns=(),
        kept=np.ones(0, dtype=bool),
        center=np.zeros(0),
        scale=np.ones(0),
        points=between[0] if len(between) == 1 else np.concatenate(list(between), axis=1),
        typical=1.0,
        kernel=RBF(),
        lengthscales=domain.features.parameters,
        fixed=True,
        level=0,
        model=model,
        paired=paired,
        nan_policy="raise",
        tolerance=tolerance,
        notes=domain.notes,
        domain=domain,
    )


def make_plan(
    samples: Samples,
    model: Model,
    kernel: Kernel,
    points: int | ArrayLike,
    lengthscale: ArrayLike | None = None,
    *,
    nan_policy: Literal["raise", "omit"] = "raise",
    tolerance: float = 1e-3,
    subsets: object = None,
) -> Plan:
    """The plan for checked samples; it depends on their rows as one set."""
    oriented = not model.needs_pairs  # what has been published stays as it is
    pooled = thin(samples.x, samples.y, oriented=oriented)
    rows = samples.view.apply(pooled)
    plan = Plan(
        columns=samples.columns,
        kept=samples.kept,
        center=samples.view.center,
        scale=samples.view.scale,
        points=evaluation_points(points, samples, rows, oriented=oriented),
        typical=typical_lengthscale(rows, kernel, samples.view.codes),
        kernel=kernel,
        lengthscales=None,
        fixed=lengthscale is not None,
        level=grid.first_level(tolerance),
        model=model,
        paired=samples.paired,
        paired_by=samples.paired_by,
        nan_policy=nan_policy,
        tolerance=tolerance,
        notes=samples.without_many().column_notes,
        points_given=not isinstance(points, numbers.Number),
        levels=without_many(samples.levels),
    )
    if lengthscale is not None:
        given = plan.standardised(lengthscale)
        if len(given) != 1:
            raise InputError(
                "lengthscale: test takes one number", argument="lengthscale", remedy="use log_bf10 for several"
            )
        return replace(plan, lengthscales=given)
    if isinstance(model.lengthscale, LogUniform) and not model.needs_pairs:
        plan = replace(plan, lengthscales=grid.lengthscale_grid(*plan.bounds, plan.level))
        if isinstance(kernel, Fourier) and is_one_of(subsets, ("auto",)):
            subsets = None
        if subsets is None:
            return plan
        if isinstance(kernel, Fourier):
            raise InputError(
                "subsets: with random features all columns are tested together",
                argument="subsets",
                remedy=("use ", Setting("subsets", "auto")),
            )
        count = len(plan.points) if plan.points_given else int(points)  # type: ignore[arg-type]
        return _with_parts(plan, samples, pooled, subsets, count)
    return plan


def _with_parts(plan: Plan, samples: Samples, pooled: Array, subsets: object, count: int) -> Plan:
    """The plan with the other tests of the mixture, at that many points or fewer."""
    groups = chosen_subsets(subsets, plan.columns, plan.kept)
    ranks = Ranks.of(samples.x, samples.y, samples.view.sizes)
    if not samples.paired:  # all levels are compared by their counts
        plan = replace(plan, levels=samples.levels, notes=samples.column_notes)
    whole = sum(group.weight for group in groups if group.columns.shape[1] == len(plan.columns))
    return replace(
        plan,
        prior=whole * (1.0 - plan.model.ranks),
        ranks=ranks,
        parts=make_parts(groups, ranks, pooled, plan.model, count, plan.kernel),
    )
