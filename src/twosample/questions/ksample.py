"""Several groups at once: are they all alike, and if not, which of them are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import Seed
from twosample.common.arrays import Array, Indices
from twosample.common.floating import own_errors
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.data.groups import Groups, named_groups
from twosample.errors import InputError, warn
from twosample.features.domains.domain import objects_of
from twosample.features.statistics import Moments
from twosample.features.subsets import multiples_of
from twosample.inference import evidence, partitions, relabelling
from twosample.inference.all_levels import by_column, counted, log_bf_of_partitions
from twosample.inference.contrasts import Contrasts
from twosample.inference.evidence import Evidence
from twosample.inference.lengthscale import LengthscalePosterior, wanted_error
from twosample.inference.mixture import log_mean, prior_weights, with_all_levels
from twosample.inference.refinement import refinements
from twosample.kernels import Kernel
from twosample.models import Model
from twosample.places import local
from twosample.plan import Plan, plan_of_objects
from twosample.questions.objects import rows_of, samples_of
from twosample.questions.options import Options, recorded, refusing
from twosample.results import assembly
from twosample.results.groups_result import GroupsResult
from twosample.results.ksample_result import KSampleResult
from twosample.results.result_parts import Diagnostics
from twosample.results.robustness import robustness_of, variations_of

__all__ = ["ksample"]

# For progress bars: a partition at a lengthscale takes as long as this many rows.
_ROWS_PER_PARTITION = 100


@overload
def ksample(groups: object, *, reference: None = None, **options: Any) -> KSampleResult: ...
@overload
def ksample(groups: object, *, reference: str | float, **options: Any) -> GroupsResult: ...
@own_errors  # type: ignore[misc]
@refusing(
    paired="rows of several groups have no partners",
    keep_rows="a result of several groups holds no rows",
    engine="the rows are read into the memory of this machine",
)
@recorded
def ksample(
    groups: object,
    *,
    by: object = None,
    reference: object = None,
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
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    permutations: int = 0,
    rope: float | None = None,
    tolerance: float = 1e-3,
    rng: Seed = 0,
    progress: Progress = False,
) -> KSampleResult | GroupsResult:
    """Test whether several groups come from one distribution, and tell which of them share one.

    For two groups it is `test`. Given that not all groups are alike, all numbers of different distributions from 2 to k
    have equal prior weight, and so have all partitions of the groups with the same number. Up to 6 groups all
    partitions are looked at; of more, those on the way from all different to all alike, two blocks made one at a time,
    and those near the best of these: then log BF10 is a lower bound.

    With a `reference`, such as a placebo, each other group is compared with that one by `test`, and nothing else. Then
    probabilities are those of each comparison by itself, with the given prior odds: they are not adjusted for how many
    there are, and the comparisons share rows.

    Parameters
    ----------
    groups
        A dictionary or a list of 2 to 50 samples, each as in `test`; or one table with the rows of all, and `by`.
    by
        What splits a table: the name of the column that says which group a row is in, or a label for each row.
    reference
        The name of the group that each other one is compared with; None compares all of them.
    columns, drop, categories, kernel, points, subsets, scale, nan_policy, tolerance
        As in `test`; a list of kernels only with a reference.
    lengthscale, rope
        As in `test`, with a reference only.
    model
        "adaptive", or a `Model` of your own that weighs lengthscales by their evidence and pools the covariance; with
        a reference any model.
    prior_odds
        Prior odds of "not all alike" against "all alike".
    permutations
        Number of permutations of the labels for a p-value and an e-value, none if 0. Their statistic is log BF10 with
        the covariance of all rows in the place of that within groups, which is the same for all labels; of more than 4
        groups it has the partitions "all different" and "this one and the others" alone.
    rng
        Seed of the permutations.
    progress
        True shows a progress bar on a terminal; a function is called with the share of work done.

    Returns
    -------
    KSampleResult
        P(not all alike), the partitions by probability, and for each two groups the probability that they are alike.
        With a reference a `GroupsResult`: a line for each other group, and `results`, the whole result of each.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> doses = {"none": rng.normal(0, 1, 80), "low": rng.normal(0, 1, 90), "high": rng.normal(1.2, 1, 70)}
    >>> result = ts.ksample(doses)
    >>> result.prob_h1 > 0.99
    True
    >>> result.partitions[0].groups
    (('none', 'low'), ('high',))
    >>> [(pair.first, pair.second) for pair in result.pairs if pair.prob_same > 0.5]
    [('none', 'low')]
    >>> [(row.group, row.prob_h1 > 0.5) for row in ts.ksample(doses, reference="none")]
    [('low', False), ('high', True)]
    """
    given = locals()
    if reference is not None:
        from twosample.questions.against_reference import against

        return against(**given)
    if rope is not None:
        raise InputError(
            "rope: several groups have no single size of a difference",
            argument="rope",
            remedy="pass reference to compare each with one of them, or leave it out",
        )
    options = Options.checked(given, pooled=True, groups=None)
    with progress_bar(progress) as report, one_thread():
        several, plans = _read(groups, options)
        tests = relabelling.tests_of(*plans) if options.permutations else []
        work = relabelling.work(tests, _rows(several), options.permutations)
        counter = WorkCounter(report, work + sum(_rows(several) * _count(plan) for plan in plans))
        every = _every(plans, several)
        found = _answer(plans, several, options, counter, every)
        if every:
            found = assembly.with_every(found, relabelling.EveryLabelling.average(every))
        else:
            drawn = partial(relabelling.GroupLabels.of, several.rows, options.model)
            found = assembly.with_pvalue(found, drawn, tests, options.permutations, options.generator, counter)
        counter.finish()
    if not options.objects.of_objects:
        again = partial(_again, plans, several, options)
        found.remember(partial(robustness_of, found.log_bf10, variations_of(plans[0]), again))
        if found.diagnostics.flat:
            warn(assembly.out_of_reach())
    if not found.diagnostics.converged:
        warn(assembly.inaccurate(found, "the likelihood of the lengthscale is rough"))
    return found


def _read(groups: object, options: Options) -> tuple[Groups, list[Plan]]:
    """The groups, and a plan for each kernel."""
    if not options.objects.of_objects:
        given = Groups.of(groups, options.choice, scale=options.scale, nan_policy=options.nan_policy)
        return given, [options.plan(given.samples, kernel=kernel) for kernel in options.kernels]
    lists = {name: objects_of(sample, f"group {name!r}") for name, sample in named_groups(groups).items()}
    domain, rows = rows_of(lists, options)
    first, *others = rows.values()
    samples = samples_of(first, np.concatenate(others))
    given = Groups(tuple(rows), tuple(rows.values()), samples, by="", left_out=(), notes=domain.notes)
    return given, [plan_of_objects(domain, options.model, tolerance=options.tolerance)]


def _every(plans: Sequence[Plan], given: Groups) -> list[relabelling.EveryLabelling]:
    """All labellings of few rows of two groups, by each plan; none where there are too many, or more groups."""
    if len(given.rows) > 2:
        return []
    x, y = given.rows
    found = [relabelling.EveryLabelling.of(plan, x, y) for plan in plans]
    return [one for one in found if one is not None]


def _again(plans: Sequence[Plan], given: Groups, options: Options, changes: Sequence[dict[str, Any]]) -> list[float]:
    """Log BF10 of the same groups with other models or numbers of points."""
    replanned = ([options.plan(given.samples, kernel=plan.kernel, **change) for plan in plans] for change in changes)
    return [
        _answer(others, given, options, WorkCounter(None, 1), _every(others, given)).log_bf10 for others in replanned
    ]


@dataclass(frozen=True, eq=False)
class _Tests:
    """All tests of a plan, for several groups."""

    plan: Plan  # says which tests these are
    main: Contrasts  # of all columns as scaled
    stacks: tuple[Contrasts, ...]  # the others, at the lengthscales of one test after the other
    log_means: Array  # of Bayes factors over all labellings of few rows, by which they are divided, (T,); else zeros
    levels: tuple[Array, ...]  # the rows of each group with each level of columns that have many, (k, L) each

    @property
    def weights(self) -> Array:
        """Prior probability of each test given that not all groups are alike, (T,)."""
        return prior_weights(self.plan)

    def log_bf(self, chosen: Indices, counter: WorkCounter) -> tuple[Array, list[LengthscalePosterior]]:
        """Log Bayes factors of partitions by each test, (T, P), and what was integrated for the first."""
        lengthscales = sum(len(one.scores) for one in (self.main, *self.stacks))
        counter.expect(_ROWS_PER_PARTITION * len(chosen) * lengthscales)

        def tick(partitions: int) -> None:
            counter(_ROWS_PER_PARTITION * partitions)

        curves = self.main.log_bf(chosen, tick)[:, 0]
        posteriors = [self._posterior(curve) for curve in curves.T]
        found = [np.array([[posterior.log_bf10 + self.log_means[0] for posterior in posteriors]])]
        found += [self._mean(stack.log_bf(chosen, tick)[:, 0]) for stack in self.stacks]
        found += [log_bf_of_partitions(counts, chosen, self.plan.model)[np.newaxis] for counts in self.levels]
        return np.concatenate(found) - self.log_means[:, np.newaxis], posteriors

    def log_bf_of_two(self, first: Indices, second: Indices, *, rough: bool = False) -> float:
        """Log BF10 of two unions of groups, by all tests together."""
        curve = self.main.log_bf_of_two(first, second)
        main = float(np.logaddexp.reduce(curve) - math.log(len(curve)))
        if not rough:
            main = self._posterior(curve).log_bf10 + self.log_means[0]
        others = [self._mean(stack.log_bf_of_two(first, second)[:, np.newaxis])[:, 0] for stack in self.stacks]
        two, both = np.array([[0, 1]]), np.stack([first, second])
        others += [log_bf_of_partitions(both @ counts, two, self.plan.model) for counts in self.levels]
        return log_mean(np.concatenate([[main], *others]) - self.log_means, self.weights)

    def _posterior(self, curve: Array) -> LengthscalePosterior:
        """Integrate log Bayes factors at the lengthscales of the plan, as for two samples."""
        assert self.plan.lengthscales is not None
        nothing, curve = np.empty((len(curve), 0)), curve - self.log_means[0]
        return self.plan.posterior(
            Evidence(self.plan.lengthscales, curve, np.zeros_like(curve), curve, nothing, nothing, nothing, nothing)
        )

    def _mean(self, log_bf: Array) -> Array:
        """The mean over the lengthscales of each test of a stack, (P·m, K) to (P, K)."""
        count = len(multiples_of(self.plan.model))
        by_test = log_bf.reshape(-1, count, log_bf.shape[1])
        return np.asarray(np.logaddexp.reduce(by_test, axis=1) - math.log(count))

    def coarse(self) -> _Tests:
        """The same with fewer amplitudes, where log BF10 is only compared."""
        return replace(self, main=self.main.coarse(), stacks=tuple(stack.coarse() for stack in self.stacks))


class _Judge(NamedTuple):
    """What judges several groups with one kernel."""

    plan: Plan
    stacks: tuple[Contrasts, ...]  # as in `_Tests`
    log_means: Array  # as in `_Tests`


class _OfKernel(NamedTuple):
    """What the tests with one kernel say."""

    by_partition: Array  # log Bayes factors of the partitions, (P,)
    log_bf10: float  # of all of them together
    pairs: Array  # log Bayes factors of each two groups
    by_column: Array  # those of each column by itself
    # The error of the integration over the lengthscale, and whether it is small enough.
    error: float
    converged: bool
    evaluations: int  # number of lengthscales
    flat: bool  # whether no feature varies


def _answer(
    plans: Sequence[Plan],
    given: Groups,
    options: Options,
    counter: WorkCounter,
    every: Sequence[relabelling.EveryLabelling],
) -> KSampleResult:
    """The answer, averaged over the kernels of the plans; `every` has all labellings of few rows for each of them."""
    k, judges = len(given.names), _judges(plans, given, every)
    chosen = _partitions(judges, given, counter)
    found = [_of_kernel(judge, given, chosen, counter) for judge in judges]
    logs = np.array([one.log_bf10 for one in found])
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    by_partition = _mean_of([one.by_partition for one in found])
    log_prior = partitions.log_prior(chosen)
    return KSampleResult(
        log_bf10=float(np.logaddexp.reduce(log_prior + by_partition)),
        prior_odds=options.prior_odds,
        names=given.names,
        n=np.array([len(rows) for rows in given.rows]),
        assignments=np.concatenate([np.zeros((1, k), dtype=np.int64), chosen]),
        partition_log_bf10=np.concatenate([[0.0], by_partition]),
        partition_log_prior=np.concatenate([[0.0], log_prior]),
        pair_log_bf10=_mean_of([one.pairs for one in found]),
        column_log_bf10=_mean_of([one.by_column for one in found]),
        columns=plans[0].columns,
        left_out=given.left_out,
        by=given.by,
        model=options.model,
        diagnostics=Diagnostics(
            evaluations=sum(one.evaluations for one in found),
            quadrature_error=float(shares @ [one.error for one in found]),
            converged=all(one.converged for one in found),
            pairs=0,
            permutations=0,
            notes=tuple(dict.fromkeys((*given.notes, *plans[0].notes))),
            points=len(plans[0].points),
            flat=all(one.flat for one in found),
        ),
    )


def _judges(plans: Sequence[Plan], given: Groups, every: Sequence[relabelling.EveryLabelling]) -> list[_Judge]:
    """What judges the groups, for each kernel."""
    stacks = [tuple(_stack(plan, given, part) for part in range(len(plan.parts))) for plan in plans]
    means = [one.log_means for one in every] or [np.zeros(len(prior_weights(plan))) for plan in plans]
    return list(map(_Judge, plans, stacks, means))


def _partitions(judges: Sequence[_Judge], given: Groups, counter: WorkCounter) -> Indices:
    """The partitions that are evaluated, without "all alike": all of them, or those near the best for any kernel."""
    k = len(given.names)
    if k <= partitions.MOST_LISTED:
        return partitions.all_partitions(k)[1:]
    near = [_near_best(_tests(judge, given, counter)[0], k, counter) for judge in judges]
    return np.array(list(dict.fromkeys(map(tuple, np.concatenate(near).tolist()))), dtype=np.int64)


def _mean_of(logs: Sequence[Array]) -> Array:
    """Logarithms of the means of Bayes factors over kernels."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - math.log(len(logs))) if len(logs) > 1 else logs[0]


def _of_kernel(judge: _Judge, given: Groups, chosen: Indices, counter: WorkCounter) -> _OfKernel:
    """What one kernel says of these partitions, from as many lengthscales as its accuracy needs."""
    plan, log_prior = judge.plan, partitions.log_prior(chosen)
    for refined in refinements(plan):
        tests, moments = _tests(judge._replace(plan=refined), given, counter)
        by_test, posteriors = tests.log_bf(chosen, counter)
        by_partition = np.array([log_mean(column, tests.weights) for column in by_test.T])
        log_bf10 = float(np.logaddexp.reduce(log_prior + by_partition))
        # How much of the answer is the first test, whose integral over the lengthscale has an error.
        shares = np.exp(log_prior + by_test[0] - log_bf10) * plan.prior
        error = float(shares @ np.array([posterior.rule.error for posterior in posteriors]))
        converged = all(posterior.rule.converged for posterior in posteriors)
        converged = converged or error <= wanted_error(log_bf10, plan.tolerance)
        if converged:
            break
        counter.expect(_rows(given) * 2 * _count(refined))
    k = len(given.names)
    alone = [np.eye(k)[group] for group in range(k)]
    pairs = [tests.log_bf_of_two(alone[first], alone[second]) for first, second in combinations(range(k), 2)]
    varies = any((rows != given.rows[0][0]).any() for rows in given.rows)
    rest = reduce(Moments.merge, moments[1:])
    return _OfKernel(
        by_partition,
        log_bf10,
        np.array(pairs),
        _by_column(plan, by_test, log_prior, log_bf10),
        error,
        converged,
        _count(refined),
        bool(varies and evidence.are_flat(moments[0], rest, plan.model).all()),
    )


def _tests(judge: _Judge, given: Groups, counter: WorkCounter) -> tuple[_Tests, list[Moments]]:
    """All tests of a plan, and the moments of all columns of each group."""
    plan = judge.plan
    features, lengthscales = plan.features, plan.lengthscales
    assert lengthscales is not None
    moments = local.sample_moments(features, given.rows, lengthscales, lambda rows: counter(rows * _count(plan)))
    main = Contrasts.of(moments, features, lengthscales, plan.model)
    levels = by_column([counted(rows, plan.levels) for rows in given.rows], plan.levels)
    return _Tests(plan, main, judge.stacks, judge.log_means, levels), moments


def _by_column(plan: Plan, by_test: Array, log_prior: Array, log_bf10: float) -> Array:
    """Log BF10 of each column by itself, (D,); empty where the model does not say."""
    if not plan.parts:
        return np.empty(0)
    if len(plan.columns) == 1:
        return np.array([log_bf10])
    found = np.empty(len(plan.columns))
    of_test = np.logaddexp.reduce(by_test + log_prior, axis=1)
    start = 1
    for part in plan.parts:
        if part.columns.shape[1] == 1:
            found[part.columns[:, 0]] = of_test[start : start + len(part.columns)]
        start += len(part.columns)
    for place, of_levels in zip(plan.many, of_test[start:].tolist(), strict=True):
        found[place] = with_all_levels(found[place], of_levels)
    return found


def _rows(given: Groups) -> int:
    return sum(map(len, given.rows))


def _stack(plan: Plan, given: Groups, part: int) -> Contrasts:
    """The tests of a stack, whose moments are collected two groups at a time."""
    features = plan.features_of(part)
    found: list[Any] = []
    nothing = given.rows[0][:0]
    for first in range(0, len(given.rows), 2):
        both = (*given.rows[first : first + 2], nothing)
        found += local.stack_moments(features, both[0], both[1])[:2]
    return Contrasts.of(found[: len(given.rows)], features, features.lengthscales, plan.model)


def _near_best(tests: _Tests, k: int, counter: WorkCounter) -> Indices:
    """Partitions from all different to two blocks, the two blocks most alike made one each time; and near the best."""
    rough = tests.coarse()
    current = tuple(range(k))
    path = [current]
    known: dict[tuple[frozenset[int], frozenset[int]], float] = {}
    while max(current) > 1:
        blocks = [frozenset(block) for block in partitions.blocks_of(current)]
        for one, other in combinations(blocks, 2):
            if (one, other) not in known:
                flags = (np.isin(np.arange(k), list(block)).astype(np.int64) for block in (one, other))
                known[one, other] = rough.log_bf_of_two(*flags, rough=True)
        likest = min(combinations(range(len(blocks)), 2), key=lambda pair: known[blocks[pair[0]], blocks[pair[1]]])
        current = partitions.merged(current, *likest)
        path.append(current)
    on_path = np.array(path)
    found = rough.log_bf(on_path, counter)[0]
    total = [log_mean(column, tests.weights) for column in found.T] + partitions.log_prior(on_path)
    best = path[int(np.argmax(total))]
    near = [one for one in partitions.neighbours(best) if max(one) > 0]
    return np.array(list(dict.fromkeys([*path, *near])), dtype=np.int64)


def _count(plan: Plan) -> int:
    """Number of lengthscales."""
    assert plan.lengthscales is not None
    return len(plan.lengthscales)
