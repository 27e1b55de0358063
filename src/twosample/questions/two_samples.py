"""The public functions: they only string the stages together; what `test` does without is imported when it is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample import kernels, models
from twosample.common.arguments import Seed, count_of, flag_of, generator_of, is_one_of, positive, share_of
from twosample.common.arrays import Array, on_device
from twosample.common.progress import Progress, Report, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.common.words import log_bf10_text, probability_in_words
from twosample.data import Choice, Samples, are_blocks
from twosample.data.blocks import is_dask
from twosample.data.sketch import Sketch
from twosample.errors import DroppedDataWarning, InputError, InputTypeError, Remedy, Setting, collected_warnings, warn
from twosample.features.statistics import FeatureStatistics
from twosample.features.subsets import multiples_of
from twosample.inference import grid, relabelling
from twosample.inference.evidence import Evidence, evaluate
from twosample.inference.mixture import evaluate_parts
from twosample.kernels import Fourier, Kernel
from twosample.models import LogUniform, Model
from twosample.paper import passes
from twosample.paper.jacobian_pairs import Pairs
from twosample.places import streaming
from twosample.places.streaming import Cluster, Stream
from twosample.plan import Plan, make_plan
from twosample.results import assembly, robustness
from twosample.results.two_sample_result import TwoSampleResult

if TYPE_CHECKING:
    from twosample.paper.gibbs_result import GibbsResult
    from twosample.questions.monitor import Monitor
    from twosample.results.each_result import EachResult

__all__ = ["gibbs", "log_bf10", "plan", "test", "test_each"]


# How many lengthscales an integration in several passes usually takes, for progress bars.
_EXPECTED_LENGTHSCALES = 97


def test(
    x: object,
    y: object = None,
    *,
    by: object = None,
    groups: Sequence[object] | None = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    categories: Sequence[str | int] | None = None,
    model: str | Model = "adaptive",
    paired: bool = False,
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
    engine: str = "auto",
    rng: Seed = 0,
    progress: Progress = False,
    keep_rows: bool = False,
) -> TwoSampleResult:
    """Test whether two samples come from the same distribution.

    Parameters
    ----------
    x, y
        The samples: lists, arrays or data frames of any library, (n_x, D) and (n_y, D); 1-D input is one column. Or one
        table `x` with the rows of both, and `by`. Memory maps, lazy frames of polars, Arrow datasets and `blocks` are
        read block by block and may be larger than memory; Dask arrays and data frames are worked on where their
        partitions are.
    by
        What splits `x`: the name of the column that says which sample a row is in, or a label for each row.
    groups
        The two labels to compare, first that of the sample called x; None where there are just two.
    columns, drop
        Names of the columns to compare, or of those to leave out; of arrays their places. Without them, all columns
        that hold numbers, dates, times or, in data frames, text and categories are compared, and the result says which
        were left out: text that is different in nearly every row.
    categories
        Names of columns of numbers that are categories too, such as codes of places.
    model
        "adaptive" (the default), "paper", "published", or a `Model` of your own.
    paired
        Whether row i of `x` belongs with row i of `y`.
    kernel
        "rbf", the Gaussian kernel; "laplace", "matern12", "matern32", "matern52" or "rational_quadratic"; or a kernel
        of `twosample.kernels`, a sum or product of these, or a `Kernel` of your own. A list of kernels averages the
        Bayes factors over them. Or that of objects, with lists of them for `x` and `y`: "kmer" for strings, "graph" for
        graphs, a class of `twosample.domains` with options, or a function k(some, others, parameter) that returns a
        matrix, which is divided by the roots of k(a, a) and k(b, b).
    parameters
        Of a kernel of objects, the parameters that are averaged over, each as likely beforehand.
    features
        A function from a list of n objects to an array (n, p), to test whether the means of these features differ.
    lengthscale
        None infers it, a number fixes it, "median" fixes it at the median heuristic. A number is in the units of the
        data where there is one column or the columns are not scaled, else relative to the scale of the columns.
    points
        Number of evaluation points, or the points themselves (s, D) in the units of the data.
    subsets
        Which columns may differ, for models that mix over that: "auto" is all columns together, each alone and, up to
        12 columns, each pair; "all" is every subset of up to 10 columns; a list of tuples of columns is those. Sizes of
        subsets have equal prior weight. None tests all columns together as scaled, and nothing else, as does a given
        `lengthscale`.
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
    rope
        An AUC of the witness, between 0.5 and 1, that counts as no difference that matters; the result then has
        P(AUC > `rope`).
    tolerance
        Wanted error of log BF10, relative where that is more than 1. One pass over the data is usually enough for the
        default; a smaller tolerance takes more lengthscales.
    engine
        Who goes over the rows: "auto" goes where they are, to the cores of this machine ("threads") or to the device of
        torch, CuPy or JAX arrays; "torch:cuda", "cupy", "jax" and the like take blocks of rows to a device.
        Dask collections are worked on by the active scheduler of Dask, and "dask" sends parts of other data to it.
    rng
        Seed of the permutations, and of the random pairs that "paper" and "published" need where n_x ≠ n_y; nothing
        else is random.
    progress
        True shows a progress bar on a terminal, and elsewhere a line on stderr every half minute; a function is called
        with the share of work done.
    keep_rows
        Whether the result, and with it JSON and pickles, holds rows of the samples: up to 500 of each, 2,000 of one
        column, for pictures, and all of the witness. Otherwise it has what pictures need of them in aggregate, and JSON
        holds no rows.

    Returns
    -------
    TwoSampleResult
        Bayes factor, probabilities, verdict, posteriors of lengthscale and witness; of objects an `ObjectsResult`,
        which is one without columns.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> result = ts.test(rng.normal(0, 1, 200), rng.normal(0, 2.5, 200))
    >>> result.verdict
    'very strong evidence of a large difference'
    >>> [column.words for column in result.by_column]
    ['more spread in y, 2 times']
    >>> ts.test([4.1, 5.2, 4.7, 5.9, 5.0], [6.3, 7.1, 6.9, 7.8, 6.6], permutations=99).pvalue <= 0.05
    True

    One table with both samples, and a column that tells them apart:

    >>> import polars as pl
    >>> trial = pl.DataFrame({"arm": ["a", "b"] * 30, "dose": rng.normal(size=60), "age": rng.normal(40, 9, size=60)})
    >>> result = ts.test(trial, by="arm", columns=["dose"])
    >>> result.names, result.columns
    (('a', 'b'), ('dose',))
    """
    if (
        parameters is not None
        or features is not None
        or not (isinstance(kernel, Kernel) or is_one_of(kernel, ("rbf",)))
    ):
        from twosample.questions.kernel_values import Question
        from twosample.questions.objects import concerns, refuse, test_objects

        if concerns(kernel, features):
            _refuse_options_of_tables(
                by=by,
                groups=groups,
                columns=columns,
                drop=drop,
                categories=categories,
                paired=paired,
                lengthscale=lengthscale,
                subsets=subsets,
                scale=scale,
                nan_policy=nan_policy,
                tolerance=tolerance,
                engine=engine,
                keep_rows=keep_rows,
            )
            question = Question.of(model, prior_odds, permutations, rope, rng)
            return test_objects(  # type: ignore[return-value]  # has no columns, but all else
                x,
                y,
                kernel=kernel,
                features=features,
                parameters=parameters,
                points=points,
                question=question,
                progress=progress,
            )
        refuse(parameters, features)
    chosen = models.resolve(model)
    choice = Choice.of(by, groups, columns, drop, categories, texts=not chosen.needs_pairs)
    several = kernels.resolve_several(kernel)
    prior_odds, generator = positive(prior_odds, "prior_odds"), generator_of(rng)
    permutations, keep_rows = count_of(permutations, "permutations", 0), flag_of(keep_rows, "keep_rows")
    rope = None if rope is None else share_of(rope, "rope", 0.5)
    move, cluster = _move(engine), _cluster(engine, x, y)
    choice = _without_texts(choice, x, y)
    if rope is not None and not chosen.has_effect:
        raise InputError(
            f"rope: model {chosen.name!r} does not say how much samples differ",
            argument="rope",
            remedy=("use ", Setting("model", "adaptive")),
        )
    if permutations and chosen.needs_pairs:
        raise InputError(
            f"permutations: the p-value is for models without pairs, not {chosen.name!r}",
            argument="permutations",
            remedy=("use ", Setting("model", "adaptive")),
        )
    plan_of = partial(
        _plan,
        model=chosen,
        points=points,
        lengthscale=lengthscale,
        nan_policy=nan_policy,
        tolerance=tolerance,
        subsets=subsets,
    )
    with progress_bar(progress) as report:
        stream: Stream | None = None
        if are_blocks(x, y) or move is not None or cluster is not None:
            refusal = _needs_all(chosen, lengthscale, permutations)
            stream = _stream(x, y, chosen, paired, scale, nan_policy, choice, report, refusal, move, cluster)
            samples = stream.samples
        else:
            samples = _samples(x, y, chosen, paired, scale, nan_policy, choice, say_copies=False)
        on_a_device = move is not None or any(map(on_device, (x, y)))
        if on_a_device and any(isinstance(one, Fourier) for one in several):
            raise InputError(
                "kernel: random features are for rows in the memory of this machine or a cluster",
                argument="kernel",
                remedy=("use ", Setting("kernel", "rbf")),
            )
        plans = [plan_of(samples, kernel=one) for one in several]
        with one_thread():
            tests = relabelling.tests_of(*plans) if permutations else []
            rows = samples.n_x + (0 if samples.paired else samples.n_y)
            counter = WorkCounter(report, relabelling.work(tests, rows, permutations))
            in_memory = stream is None or stream.whole
            if stream is None or (in_memory and not _elsewhere(x, y, engine)):
                results = [_answer(one, samples, prior_odds, generator, counter, keep_rows) for one in plans]
            else:
                how: dict[str, Any] = {"prior_odds": prior_odds, "counter": counter, "keep_rows": keep_rows}
                results = [_in_parts(stream, one, **how) for one in plans]
            result = assembly.average(results)
            if samples.copies:
                once = ""
                if not samples.copies.in_place:
                    once = _with_each_once(
                        samples,
                        lambda fewer: [plan_of(fewer, kernel=one) for one in several],
                        _scale(scale, chosen),
                        prior_odds,
                        generator_of(rng),
                        counter,
                    )
                notes = samples.with_copies_said(once).notes[len(samples.notes) :]
                diagnostics = replace(result.diagnostics, notes=result.diagnostics.notes + notes)
                result = replace(result, diagnostics=diagnostics)
            if permutations:
                drawn = relabelling.of_samples(samples, chosen)
                relabelled = relabelling.compare(drawn, tests, permutations, generator, counter)
                diagnostics = replace(result.diagnostics, permutations=permutations)
                result = replace(result, **relabelled._asdict(), diagnostics=diagnostics)
            counter.finish()
    result = replace(result, rope=rope, left_out=samples.left_out, names=samples.names)
    if in_memory:
        look = partial(robustness.look, plans, samples, plan_of, result.log_bf10)
        result.remember(look, partial(_sequence, samples), partial(_votes, plans, samples))
    if result.diagnostics.flat:
        sketches = Sketch.of(samples.x), Sketch.of(samples.y)
        likeliest = next(one for one in plans if one.kernel.label == result.kernel)
        warn(assembly.flat_features(likeliest, (result.n_x, result.n_y), sketches))
    if not result.diagnostics.converged:
        warn(assembly.inaccurate(result, "the likelihood of the lengthscale is rough"))
    return result


test.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it where it is imported


def test_each(
    x: object,
    y: object = None,
    *,
    by: object = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    categories: Sequence[str | int] | None = None,
    fdr: float = 0.05,
    groups: Mapping[str, Sequence[str]] | Sequence[object] | None = None,
    model: str | Model = "adaptive",
    paired: bool = False,
    nan_policy: Literal["raise", "omit"] = "raise",
    progress: Progress = False,
) -> EachResult:
    """Test each column by itself, and say which ones differ with few false ones among them.

    A column is tested by its pooled normal scores, as in `by_column` of `test`: monotone maps of it hardly matter.

    Parameters
    ----------
    x, y
        The samples, as in `test`, with any number of columns. They may be larger than memory, or Dask collections; of
        more rows than a pilot has, ranks are those of a pilot, which the notes say.
    by, columns, drop, categories
        What splits one table `x`, which of its columns are tested, and which of them hold categories, as in `test`.
    fdr
        The false discovery rate: what share of the columns in `discoveries` may be expected to be the same.
    groups
        Names of groups with lists of columns that are also tested together, one more row each; or, as in `test`, the
        two labels of `by` to compare.
    model
        "adaptive" or a `Model` of your own that mixes over columns; "paper" and "published" do not.
    paired, progress
        As in `test`.
    nan_policy
        "raise" refuses missing and infinite values; "omit" leaves them out, column by column, or the pair of each.

    Returns
    -------
    EachResult
        A table sorted by evidence: Bayes factor, probability, q-value, P(x > y) and direction of each column; and the
        share of columns that differ, learnt from all of them, which is the prior probability of each.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(2, 60, 5))
    >>> y[:, 3] += 1.5
    >>> result = ts.test_each(x, y, groups={"first two": ["0", "1"]})
    >>> result.discoveries
    ('3',)
    >>> first = next(iter(result))
    >>> first.direction, first.auc < 0.2
    ('larger in y', True)
    """
    of_rows = None if groups is None or isinstance(groups, Mapping) or by is None else groups
    cluster = _cluster("auto", x, y)
    run: Callable[..., EachResult]
    if cluster is not None or are_blocks(x, y):
        from twosample.questions import each_stream

        run = partial(each_stream.run, cluster=cluster)
    else:
        from twosample.questions import each

        run = each.run
    return run(
        x,
        y,
        choice=_without_texts(Choice.of(by, of_rows, columns, drop, categories, texts=True), x, y),
        fdr=fdr,
        groups=groups if of_rows is None else None,
        model=models.resolve(model),
        paired=paired,
        nan_policy=nan_policy,
        progress=progress,
        joint=test,
    )


test_each.__test__ = False  # type: ignore[attr-defined]


def plan(
    x: object,
    y: object = None,
    *,
    model: str | Model = "adaptive",
    paired: bool = False,
    kernel: str | Kernel = "rbf",
    lengthscale: float | Literal["median"] | None = None,
    points: int | ArrayLike = 40,
    subsets: str | Iterable[Iterable[str | int]] | None = "auto",
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    tolerance: float = 1e-3,
    by: object = None,
    groups: Sequence[object] | None = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    categories: Sequence[str | int] | None = None,
) -> Plan:
    """Fix everything about a test that must not look at which row is in which sample.

    Parameters
    ----------
    x, y
        The samples, or a pilot of each, as in `test`; or one pilot of rows of both, and no `y`.
    model, paired, kernel, lengthscale, points, subsets, scale, nan_policy, tolerance
        As in `test`.
    by, groups, columns, drop
        As in `test`.
    categories
        As in `test`.

    Returns
    -------
    Plan
        With `statistics` for parts of the data, wherever they are, and `test` for what they add up to.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> the_plan = ts.plan(rng.normal(size=200))  # a pilot
    >>> days = [the_plan.statistics(rng.normal(0, 1, 300), rng.normal(0.3, 1, 300)) for _ in range(3)]
    >>> the_plan.test(days[0].merge(*days[1:])).verdict
    'very strong evidence of a small difference'
    """
    chosen = models.resolve(model)
    choice = Choice.of(by, groups, columns, drop, categories, texts=not chosen.needs_pairs)
    cluster, choice = _cluster("auto", x, y), _without_texts(choice, x, y)
    in_parts = cluster is not None or are_blocks(x, y)
    if in_parts and y is None and by is None:
        scale, paired = _scale(scale, chosen), flag_of(paired, "paired")
        samples = streaming.open_pilot(x, choice, paired=paired, scale=scale, nan_policy=nan_policy, cluster=cluster)
    elif in_parts:
        stream = _stream(x, y, chosen, paired, scale, nan_policy, choice, cluster=cluster)
        samples = stream.samples.with_copies_said()
    elif y is None and by is None:
        scale = _scale(scale, chosen)
        samples = Samples.from_pilot(x, paired=paired, scale=scale, nan_policy=nan_policy, choice=choice)
    else:
        samples = _samples(x, y, chosen, paired, scale, nan_policy, choice)
    return _plan(samples, chosen, kernel, points, lengthscale, nan_policy, tolerance, subsets)


def log_bf10(
    x: object,
    y: object,
    lengthscale: ArrayLike,
    *,
    points: int | ArrayLike = 40,
    model: str | Model = "adaptive",
    paired: bool = False,
    kernel: str | Kernel | Sequence[str | Kernel] = "rbf",
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
) -> float | Array:
    """Log Bayes factor at given lengthscales.

    Parameters
    ----------
    x, y
        The samples, as in `test`.
    lengthscale
        One or several positive lengthscales, or "median".
    points, model, paired, kernel, scale, nan_policy, columns, drop
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
    chosen = models.resolve(model)
    choice = _without_texts(Choice.of(columns=columns, drop=drop, texts=not chosen.needs_pairs), x, y)
    cluster = _cluster("auto", x, y)
    stream: Stream | None = None
    if cluster is not None or are_blocks(x, y):
        stream = _stream(x, y, chosen, paired, scale, nan_policy, choice, cluster=cluster)
        samples = stream.samples.with_copies_said()
    else:
        samples = _samples(x, y, chosen, paired, scale, nan_policy, choice)
    found, doubts = [], []
    for one in kernels.resolve_several(kernel):
        the_plan = _plan(samples, chosen, one, points, None, nan_policy)
        lengthscales = the_plan.standardised(lengthscale)
        with one_thread():
            if stream is None or stream.whole:
                [evidence] = passes.Passes(samples, the_plan.features, (chosen,), None).evidence(lengthscales)
            else:
                evidence = _evidence_at(stream, the_plan, lengthscales)
            doubts.append(assembly.flat_lengthscales(the_plan, samples, lengthscales))
        found.append(evidence.log_bf10)
    if doubts[0] is not None:
        warn(doubts[0])
    total = found[0] if len(found) == 1 else np.logaddexp.reduce(found, axis=0) - math.log(len(found))
    shape = () if isinstance(lengthscale, str) else np.shape(lengthscale)
    return total.reshape(shape) if shape else float(total[0])


def gibbs(
    x: object,
    y: object = None,
    *,
    by: object = None,
    groups: Sequence[object] | None = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    model: str | Model = "adaptive",
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
    >>> x, y = rng.normal(0, 1, 30), rng.normal(1.2, 1, 30)
    >>> result = ts.gibbs(x, y, points=10, chains=2, steps=800, burn_in=200)
    >>> exact = ts.test(x, y, points=10, subsets=None)
    >>> bool(abs(result.prob_h1 - exact.prob_h1) < 5 * result.prob_h1_error)
    True
    """
    from twosample.paper import sampling
    from twosample.paper.chains import Settings

    settings = Settings.checked(steps, burn_in, thinning, hmc_steps, adapt_steps, chains, early_stop)
    if not is_one_of(kernel, ("rbf", "ard")):
        raise InputError(f"kernel: {kernel!r} is unknown to gibbs", argument="kernel", remedy="use 'rbf' or 'ard'")
    wanted = kernel == "ard" if evidence is None else flag_of(evidence, "evidence")
    chosen = models.resolve(model)
    samples = _samples(x, y, chosen, paired, scale, nan_policy, Choice.of(by, groups, columns, drop))
    the_plan = _plan(samples, chosen, "rbf", points, None, nan_policy)
    prior_odds, generator = positive(prior_odds, "prior_odds"), generator_of(rng)
    pairs = _pairs(samples, the_plan, generator) if chosen.needs_pairs else None
    if pairs is None and chosen.needs_pairs:
        raise InputError(
            "x and y: all rows are equal, so that there is nothing to sample", argument="x and y", remedy="use test"
        )

    first, second = (int(seed) for seed in generator.integers(2**32, size=2))
    question = sampling.Question(the_plan, samples, pairs, several=kernel == "ard")
    with progress_bar(progress) as report:
        result = sampling.run(question, settings, prior_odds, (first, second), evidence=wanted, report=report)
    doubts = list(sampling.doubts(result))
    for doubt in doubts:
        warn(doubt)
    notes = result.diagnostics.notes + tuple(str(doubt) for doubt in doubts)
    return replace(result, diagnostics=replace(result.diagnostics, notes=notes))


def _refuse_options_of_tables(**given: object) -> None:
    """Refuse what is not for objects, unless it is left at its default."""
    for name, value in given.items():
        default = signature(test).parameters[name].default
        if value is not default and not (isinstance(value, type(default)) and value == default):
            raise InputError(f"{name}: is for rows of a table, not for objects", argument=name, remedy="leave it out")


def _sequence(samples: Samples, *, batches: int, **options: Any) -> Monitor:
    """The samples in their order, in so many batches."""
    from twosample.questions import monitor

    if samples.levels:
        raise InputError(
            "sequential: a monitor compares numbers, and some columns are categories",
            remedy="test the columns of numbers alone",
        )
    started = monitor.Monitor(**{"paired": samples.paired, **options})
    return monitor.in_order(samples.x, samples.y, samples.columns, batches=batches, monitor=started)


def _votes(plans: Sequence[Plan], samples: Samples, count: int, *, progress: Progress) -> Array:
    """Log BF10 of blocks of the samples."""
    from twosample.results import votes

    return votes.by_blocks(plans, samples, count, progress=progress)


def _samples(
    x: object,
    y: object,
    model: Model,
    paired: bool,
    scale: ArrayLike,
    nan_policy: Literal["raise", "omit"],
    choice: Choice,
    *,
    say_copies: bool = True,
) -> Samples:
    return Samples.from_data(
        x,
        y,
        paired=paired,
        scale=_scale(scale, model),
        nan_policy=nan_policy,
        choice=choice,
        say_copies=say_copies,
    )


def _stream(
    x: object,
    y: object,
    model: Model,
    paired: bool,
    scale: ArrayLike,
    nan_policy: Literal["raise", "omit"],
    choice: Choice,
    report: Report | None = None,
    refusal: InputError | None = None,
    move: Callable[[Array], Any] | None = None,
    cluster: Cluster | None = None,
) -> Stream:
    return streaming.open_stream(
        x,
        y,
        choice,
        paired=flag_of(paired, "paired"),
        scale=_scale(scale, model),
        nan_policy=nan_policy,
        report=report,
        refusal=refusal,
        move=move,
        cluster=cluster,
    )


def _needs_all(model: Model, lengthscale: object, permutations: int) -> InputError | None:
    """The refusal of a question that takes all rows in memory, if it does."""
    few: Remedy = "take a sample of the rows that fits in memory"
    if permutations:
        message = "permutations: these rows are read in blocks, and labels can be permuted only in memory"
        return InputError(message, argument="permutations", remedy=few)
    if model.needs_pairs or (lengthscale is None and not isinstance(model.lengthscale, LogUniform)):
        message = f"model: these rows are read in blocks, and {model.name!r} needs all of them in memory"
        return InputError(message, argument="model", remedy=("use ", Setting("model", "adaptive"), f", or {few}"))
    return None


def _move(engine: object) -> Callable[[Array], Any] | None:
    """What takes rows to the device that an engine names; None for the engines of this machine's cores and for Dask."""
    if is_one_of(engine, ("auto", "dask", "threads")):
        return None
    if not isinstance(engine, str):
        raise InputTypeError(f"engine: expected a name, got {type(engine).__name__}", argument="engine")
    from twosample.places.libraries import mover

    return mover(engine)


def _cluster(engine: object, x: object, y: object) -> Cluster | None:
    """Who goes over the rows, where that is not this process."""
    if engine != "dask" and not (is_dask(x) or is_dask(y)):
        return None
    from twosample.places.dask import cluster_for

    return cluster_for(engine, x, y)


def _without_texts(choice: Choice, x: object, y: object) -> Choice:
    """Of collections of Dask, whose partitions are read apart, only numbers are compared."""
    if not (is_dask(x) or is_dask(y)):
        return choice
    if choice.categories:
        raise InputError(
            "categories: of Dask collections only numbers are compared",
            argument="categories",
            remedy="pass what their compute() returns, or a lazy frame of polars",
        )
    return replace(choice, texts=False)


def _elsewhere(x: object, y: object, engine: str) -> bool:
    """Whether the statistics are collected on a device or a cluster, also those of few rows."""
    return not is_one_of(engine, ("auto", "threads")) or any(map(on_device, (x, y)))


def _scale(scale: ArrayLike, model: Model) -> ArrayLike:
    """The scale that the model says, unless another one was given."""
    return model.scale if isinstance(scale, str) and scale == "auto" else scale


def _plan(
    samples: Samples,
    model: Model,
    kernel: Any,
    points: int | ArrayLike,
    lengthscale: float | str | None,
    nan_policy: Literal["raise", "omit"],
    tolerance: float = 1e-3,
    subsets: object = None,
) -> Plan:
    kernel = kernels.resolve(kernel)
    if isinstance(points, float | np.floating):
        points = count_of(float(points), "points", 1)
    # Only a prior that covers a known range has lengthscales that are fixed beforehand.
    mixes = model.ranks > 0.0 and isinstance(model.lengthscale, LogUniform)
    if not mixes or lengthscale is not None:
        if not (subsets is None or (isinstance(subsets, str) and subsets == "auto")):
            why = f"model {model.name!r} tests all columns together"
            if mixes:
                why = "at a given lengthscale all columns are tested together"
            raise InputError(f"subsets: {why}", argument="subsets", remedy=("use ", Setting("subsets", "auto")))
        subsets = None
    return make_plan(
        samples,
        model,
        kernel,
        points,
        lengthscale,
        nan_policy=nan_policy,
        tolerance=positive(tolerance, "tolerance"),
        subsets=subsets,
    )


def _pairs(samples: Samples, the_plan: Plan, generator: np.random.Generator) -> Pairs | None:
    """The pairs of the pseudo-likelihood; what has to be left out is warned about."""
    pairs = Pairs.choose(samples, the_plan.features, the_plan.model, generator)
    for note in () if pairs is None else pairs.notes:
        warn(DroppedDataWarning(note))
    return pairs


def _answer(
    the_plan: Plan,
    samples: Samples,
    prior_odds: float,
    generator: np.random.Generator,
    counter: WorkCounter,
    keep_rows: bool = False,
) -> TwoSampleResult:
    """The answer, in as many passes as the model needs."""
    if the_plan.lengthscales is not None:
        return _in_one_pass(the_plan, samples, prior_odds, counter, keep_rows)
    pairs = _pairs(samples, the_plan, generator) if the_plan.model.needs_pairs else None
    return _in_several_passes(the_plan, samples, pairs, prior_odds, counter, keep_rows)


def _with_each_once(
    samples: Samples,
    plans_of: Callable[[Samples], list[Plan]],
    scale: ArrayLike,
    prior_odds: float,
    generator: np.random.Generator,
    counter: WorkCounter,
) -> str:
    """What the answer is with each copied row kept once, in words."""
    how = "With each kept once" if not samples.copies or not samples.copies.shared_x.any() else "Without them"
    try:
        with collected_warnings():  # which the whole samples have given
            fewer = samples.without_copies(scale)
            result = assembly.average([_answer(one, fewer, prior_odds, generator, counter) for one in plans_of(fewer)])
    except InputError:
        return f"{how} too few rows are left for an answer."
    return (
        f"{how} log BF10 is {log_bf10_text(result.log_bf10)} and P(different) {probability_in_words(result.prob_h1)}, "
        f"from {fewer.n_x} and {fewer.n_y} rows."
    )


def _in_one_pass(
    the_plan: Plan, samples: Samples, prior_odds: float, counter: WorkCounter, keep_rows: bool
) -> TwoSampleResult:
    """The answer from one pass over the rows, and from another one where that was not accurate enough."""
    statistics: FeatureStatistics | None = None
    statistics_of = partial(the_plan.statistics_of, samples)
    parts: tuple[Array, ...] = ()
    if the_plan.parts:
        of_test = (samples.n_x + samples.n_y) * len(multiples_of(the_plan.model))
        counter.expect(of_test * sum(len(part.points) for part in the_plan.parts))
        parts = evaluate_parts(the_plan, statistics_of, lambda tests: counter(of_test * tests))
    while True:
        assert the_plan.lengthscales is not None
        done = 0 if statistics is None else len(statistics.lengthscales)
        counter.expect((samples.n_x + samples.n_y) * (len(the_plan.lengthscales) - done))
        statistics = the_plan.collect(samples, counter, known=statistics, parts=False)
        result = the_plan.answer(statistics, parts, statistics_of, prior_odds=prior_odds, keep_rows=keep_rows)
        if result.diagnostics.converged or the_plan.level >= grid.LAST_LEVEL:
            return result
        the_plan = the_plan.refined()


def _in_several_passes(
    the_plan: Plan, samples: Samples, pairs: Pairs | None, prior_odds: float, counter: WorkCounter, keep_rows: bool
) -> TwoSampleResult:
    """The answer of a model whose lengthscales have to be looked for."""
    n_pairs = 0 if pairs is None else len(pairs.x)
    counter.expect((samples.n_x + samples.n_y + 2 * n_pairs) * _EXPECTED_LENGTHSCALES)
    work = passes.Passes(samples, the_plan.features, (the_plan.model,), pairs, counter)
    evidence, posterior = passes.infer(work, math.log(prior_odds), the_plan.tolerance)
    return assembly.result(
        the_plan,
        evidence,
        posterior,
        prior_odds=prior_odds,
        sizes=(samples.n_x, samples.n_y),
        sketches=(Sketch.of(samples.x), Sketch.of(samples.y)),
        pairs=n_pairs,
        notes=samples.notes + (() if pairs is None else pairs.notes),
        keep_rows=keep_rows,
    )


def _evidence_at(stream: Stream, plan: Plan, lengthscales: Array) -> Evidence:
    """The evidence for the test of all columns at given lengthscales, from a second pass over the rows."""
    plan = replace(plan, lengthscales=lengthscales, fixed=True, ranks=None, parts=())
    return evaluate(stream.collect(plan, WorkCounter(None, 1)), plan.features, plan.model)


def _in_parts(
    stream: Stream, plan: Plan, *, prior_odds: float, counter: WorkCounter, keep_rows: bool = False
) -> TwoSampleResult:
    """The answer from a second pass over the rows, and from a third where that was not accurate enough."""
    statistics: FeatureStatistics | None = None
    while True:
        counter.expect(sum(stream.sizes))
        statistics = stream.collect(plan, counter, statistics)
        of_x, of_y = (
            found if len(found.rows) else known  # those of rows on a device are known from the first pass
            for found, known in zip((statistics.sketch_x, statistics.sketch_y), stream.sketches, strict=True)
        )
        statistics = replace(statistics, sketch_x=of_x, sketch_y=of_y, notes=stream.samples.notes)
        result = plan.answer(statistics, prior_odds=prior_odds, keep_rows=keep_rows)
        if result.diagnostics.converged or plan.fixed or plan.level >= grid.LAST_LEVEL:
            return result
        plan = plan.refined()
