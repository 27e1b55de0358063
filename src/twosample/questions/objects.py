"""The test of two samples of objects of any kind, through their kernel values at points that are some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.data import Samples, View
from twosample.data.complete import check_pairs
from twosample.data.matching import matched_as_given
from twosample.errors import emit
from twosample.features.domains.domain import Domain, objects_of
from twosample.inference import relabelling
from twosample.inference.evidence import evaluate
from twosample.plan import Plan, plan_of_objects
from twosample.questions.options import Options
from twosample.results import assembly
from twosample.results.objects_assembly import objects_result
from twosample.results.objects_result import ObjectsResult

__all__ = ["answer", "objects_of_both", "rows_of", "samples_of", "test_objects"]


def rows_of(
    samples: dict[str, list[Any]], options: Options, count: Any = lambda points: None
) -> tuple[Domain, dict[str, Array]]:
    """The domain of samples of objects, and the rows of each; `count` is called with the number of points done."""
    with one_thread():
        return Domain.of(samples, options.objects, options.generator, count)


def samples_of(x: Array, y: Array, *, paired: bool = False) -> Samples:
    """Rows of objects as checked samples without columns."""
    return Samples(x, y, (), View.none(0), np.ones(0, dtype=bool), paired, ())


def test_objects(x: object, y: object, options: Options, progress: Progress) -> ObjectsResult:
    """Test two samples of objects; `twosample.test` says what the options are."""
    objects, notes = objects_of_both(x, y, options)
    with progress_bar(progress) as report:
        counter = WorkCounter(report, options.objects.points + 1)
        domain, rows = rows_of(objects, options, counter)
        plan = plan_of_objects(domain, options.model, paired=options.paired, tolerance=options.tolerance)
        plan = replace(plan, paired_by=options.choice.paired_by, notes=notes + plan.notes)
        samples = samples_of(rows["x"], rows["y"], paired=options.paired)
        return answer(plan, samples, options, counter, (objects["x"], objects["y"]))


def objects_of_both(x: object, y: object, options: Options) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    """The objects of two samples, in pairs where they are; returns also what was said of those that are left out."""
    objects = {"x": objects_of(x, "x"), "y": objects_of(y, "y")}
    if options.choice.paired_by is not None:
        return _in_pairs(objects, options.choice.paired)
    if options.paired:
        check_pairs(*map(len, objects.values()))
    return objects, ()


def _in_pairs(objects: dict[str, list[Any]], identifiers: object) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    """Objects that are matched by identifiers; returns also what was said of those that are left out."""
    found = matched_as_given(identifiers, (len(objects["x"]), len(objects["y"])))
    kept = {name: [objects[name][row] for row in rows] for name, rows in (("x", found.x), ("y", found.y))}
    return kept, emit(found.warnings)


def answer(
    plan: Plan,
    samples: Samples,
    options: Options,
    counter: WorkCounter,
    objects: tuple[Sequence[Any], Sequence[Any]],
) -> ObjectsResult:
    """The answer from rows of kernel values at the points of a plan; it remembers the objects of both samples."""
    assert plan.lengthscales is not None
    with one_thread():
        every = relabelling.EveryLabelling.of(plan, samples.x, samples.y, counter)
        by_parameter = evaluate(plan.collect_at(_in_order(samples), plan.lengthscales), plan.features, plan.model)
        if every is not None:
            by_parameter = by_parameter.over(every.log_means[0])
        result = objects_result(
            plan,
            by_parameter,
            plan.posterior(by_parameter, options.prior_odds),
            (samples.x, samples.y),
            sizes=(samples.n_x, samples.n_y),
            prior_odds=options.prior_odds,
        )
        result = result.changed(rope=options.rope)
        if every is not None:
            result = assembly.with_every(result, every)
        elif options.permutations:
            tests, drawn = (
                relabelling.tests_of(plan),
                partial(relabelling.of_rows, samples.x, samples.y, plan.model, paired=plan.paired),
            )
            rows = samples.n_x + (0 if plan.paired else samples.n_y)
            counter.expect(relabelling.work(tests, rows, options.permutations))
            result = assembly.with_pvalue(result, drawn, tests, options.permutations, options.generator, counter)
    result.remember_objects(*objects)
    counter.finish()
    return result


def _in_order(samples: Samples) -> Samples:
    """The samples with rows in an order of their own, so that sums are the same whatever the order they came in."""
    if samples.paired:
        first, second = samples.x[:, 0], samples.y[:, 0]
        order = np.lexsort([np.abs(first - second), first + second])
        return replace(samples, x=samples.x[order], y=samples.y[order])
    x, y = (rows[np.argsort(rows[:, 0])] for rows in (samples.x, samples.y))
    return replace(samples, x=x, y=y)
