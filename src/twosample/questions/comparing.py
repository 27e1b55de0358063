"""From two samples that were read to the answer: plan, statistics, evidence, copies and relabellings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.common.words import log_bf10_text, probability_in_words
from twosample.data import Samples
from twosample.data.sketch import Sketch
from twosample.errors import DroppedDataWarning, InputError, Setting, collected_warnings, warn
from twosample.features.statistics import FeatureStatistics
from twosample.features.subsets import multiples_of
from twosample.inference import relabelling
from twosample.inference.mixture import evaluate_parts
from twosample.inference.refinement import refinements
from twosample.inference.relabelling import EveryLabelling
from twosample.kernels import Fourier
from twosample.paper import passes
from twosample.paper.jacobian_pairs import Pairs
from twosample.places.streaming import Stream
from twosample.plan import Plan
from twosample.questions.given import Given, read_rows
from twosample.questions.options import Options
from twosample.results import assembly, robustness
from twosample.results.two_sample_result import TwoSampleResult

if TYPE_CHECKING:
    from twosample.questions.monitor import Monitor

__all__ = ["compare", "pairs_of"]

# How many lengthscales an integration in several passes usually takes, for progress bars.
_EXPECTED_LENGTHSCALES = 97


def compare(x: object, y: object, options: Options, engine: object, progress: Progress) -> TwoSampleResult:
    """Compare two samples of rows; `twosample.test` says what the options are."""
    with progress_bar(progress) as report:
        given = read_rows(x, y, options, engine=engine, report=report)
        samples = given.samples
        if given.elsewhere and engine != "dask" and any(isinstance(kernel, Fourier) for kernel in options.kernels):
            raise InputError(
                "kernel: random features are for rows in the memory of this machine or a cluster",
                argument="kernel",
                remedy=("use ", Setting("kernel", "rbf")),
            )
        plans = options.plans(samples)
        with one_thread():
            tests = relabelling.tests_of(*plans) if options.permutations else []
            rows = samples.n_x + (0 if samples.paired else samples.n_y)
            counter = WorkCounter(report, relabelling.work(tests, rows, options.permutations))
            result = _average(plans, given, options, counter)
            if samples.copies:
                result = _with_copies_noted(result, samples, options, counter)
            if result.diagnostics.largest is None:
                drawn = partial(relabelling.of_rows, samples.x, samples.y, options.model, paired=samples.paired)
                result = assembly.with_pvalue(result, drawn, tests, options.permutations, options.generator, counter)
            counter.finish()
    result = replace(result, rope=options.rope, left_out=samples.left_out, names=samples.names)
    if given.in_memory:
        result = assembly.with_units(result, samples.x, samples.y)
        look = partial(robustness.look, plans, samples, options.plan, result.log_bf10)
        result.remember(look, partial(_sequence, samples), partial(_votes, plans, samples))
    _warn_of(result, plans, samples)
    return result


def _average(plans: Sequence[Plan], given: Given, options: Options, counter: WorkCounter) -> TwoSampleResult:
    """The average of the answers of all kernels."""
    parts, samples = given.parts, given.samples
    found, few = [], []
    for plan in plans:
        every = None
        if parts is None or parts.whole:
            every = EveryLabelling.of(plan, samples.x, samples.y, counter)
        if every is not None:
            few.append(every)
        if parts is None:
            found.append(_answer(plan, samples, every, options, counter))
        else:
            found.append(_in_parts(parts, plan, every, options, counter))
    result = assembly.average(found)
    return assembly.with_every(result, EveryLabelling.average(few)) if len(few) == len(plans) > 1 else result


def _answer(
    plan: Plan, samples: Samples, every: EveryLabelling | None, options: Options, counter: WorkCounter
) -> TwoSampleResult:
    """The answer, in as many passes as the model needs."""
    if plan.lengthscales is not None:
        return _in_one_pass(plan, samples, every, options, counter)
    pairs = pairs_of(samples, plan, options.generator) if plan.model.needs_pairs else None
    return _in_several_passes(plan, samples, pairs, options, counter)


def _in_one_pass(
    plan: Plan, samples: Samples, every: EveryLabelling | None, options: Options, counter: WorkCounter
) -> TwoSampleResult:
    """The answer from one pass over the rows, and from further ones where that was not accurate enough."""
    statistics: FeatureStatistics | None = None
    statistics_of = partial(plan.statistics_of, samples)
    parts: tuple[tuple[Array, ...], Array | None] = ((), None)
    rows = samples.n_x + samples.n_y
    if plan.parts:
        of_test = rows * len(multiples_of(plan.model))
        counter.expect(of_test * sum(len(part.points) for part in plan.parts))
        parts = evaluate_parts(plan, statistics_of, lambda tests: counter(of_test * tests))
    for refined in refinements(plan):
        assert refined.lengthscales is not None
        done = 0 if statistics is None else len(statistics.lengthscales)
        counter.expect(rows * (len(refined.lengthscales) - done))
        statistics = refined.collect(samples, counter, known=statistics, parts=False)
        result = refined.answer(
            statistics, parts, statistics_of, every=every, prior_odds=options.prior_odds, keep_rows=options.keep_rows
        )
        if result.diagnostics.converged:
            break
    return result


def _in_parts(
    stream: Stream, plan: Plan, every: EveryLabelling | None, options: Options, counter: WorkCounter
) -> TwoSampleResult:
    """The answer from a second pass over parts of the rows, and from further ones where that was not accurate."""
    statistics: FeatureStatistics | None = None
    for refined in refinements(plan):
        counter.expect(sum(stream.sizes))
        statistics = stream.collect(refined, counter, statistics)
        of_x, of_y = (
            found if len(found.rows) else known  # those of rows on a device are known from the first pass
            for found, known in zip((statistics.sketch_x, statistics.sketch_y), stream.sketches, strict=True)
        )
        statistics = replace(statistics, sketch_x=of_x, sketch_y=of_y, notes=stream.samples.notes)
        result = refined.answer(statistics, every=every, prior_odds=options.prior_odds, keep_rows=options.keep_rows)
        if result.diagnostics.converged:
            break
    return result


def _in_several_passes(
    plan: Plan, samples: Samples, pairs: Pairs | None, options: Options, counter: WorkCounter
) -> TwoSampleResult:
    """The answer of a model whose lengthscales have to be searched for."""
    n_pairs = 0 if pairs is None else len(pairs.x)
    counter.expect((samples.n_x + samples.n_y + 2 * n_pairs) * _EXPECTED_LENGTHSCALES)
    work = passes.Passes(samples, plan.features, (plan.model,), pairs, counter)
    evidence, posterior = passes.infer(work, math.log(options.prior_odds), plan.tolerance)
    return assembly.result(
        plan,
        evidence,
        posterior,
        prior_odds=options.prior_odds,
        sizes=(samples.n_x, samples.n_y),
        sketches=(Sketch.of(samples.x), Sketch.of(samples.y)),
        pairs=n_pairs,
        notes=samples.notes + (() if pairs is None else pairs.notes),
        keep_rows=options.keep_rows,
    )


def pairs_of(samples: Samples, plan: Plan, generator: np.random.Generator) -> Pairs | None:
    """The pairs of the pseudo-likelihood; warns of what has to be left out."""
    pairs = Pairs.choose(samples, plan.features, plan.model, generator)
    for note in () if pairs is None else pairs.notes:
        warn(DroppedDataWarning(note))
    return pairs


def _with_copies_noted(
    result: TwoSampleResult, samples: Samples, options: Options, counter: WorkCounter
) -> TwoSampleResult:
    """With notes of copied rows, and of the answer with each kept once."""
    assert samples.copies is not None
    once = "" if samples.copies.in_place else _with_each_once(samples, options, counter)
    notes = samples.with_copies_said(once).notes[len(samples.notes) :]
    return replace(result, diagnostics=replace(result.diagnostics, notes=result.diagnostics.notes + notes))


def _with_each_once(samples: Samples, options: Options, counter: WorkCounter) -> str:
    """The answer with each copied row kept once, in words."""
    how = "With each kept once" if not samples.copies or not samples.copies.shared_x.any() else "Without them"
    try:
        with collected_warnings():  # which the whole samples have given
            fewer = samples.without_copies(options.scale)
            found = _average(options.plans(fewer), Given(fewer), options.again(), counter)
    except InputError:
        return f"{how} too few rows are left for an answer."
    return (
        f"{how} log BF10 is {log_bf10_text(found.log_bf10)} and P(different) {probability_in_words(found.prob_h1)}, "
        f"from {fewer.n_x} and {fewer.n_y} rows."
    )


def _warn_of(result: TwoSampleResult, plans: Sequence[Plan], samples: Samples) -> None:
    """Warn of features that do not vary, and of an integration that fell short of its tolerance."""
    if result.diagnostics.flat:
        sketches = Sketch.of(samples.x), Sketch.of(samples.y)
        likeliest = next(plan for plan in plans if plan.kernel.label == result.kernel)
        warn(assembly.flat_features(likeliest, (result.n_x, result.n_y), sketches))
    if not result.diagnostics.converged:
        warn(assembly.inaccurate(result, "the likelihood of the lengthscale is rough"))


def _sequence(samples: Samples, *, batches: int, **options: Any) -> Monitor:
    """A monitor of the samples in their order, in `batches` batches."""
    from twosample.questions import monitor

    started = monitor.Monitor(**{"paired": samples.paired, **options})
    return monitor.in_order(samples.x, samples.y, samples.columns, samples.levels, batches=batches, monitor=started)


def _votes(plans: Sequence[Plan], samples: Samples, count: int, *, progress: Progress) -> Array:
    """Log BF10 of blocks of the samples."""
    from twosample.results import votes

    return votes.by_blocks(plans, samples, count, progress=progress)
