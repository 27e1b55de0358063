"""The public functions for two samples: they check the options and string the stages together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample import kernels
from twosample.common.arguments import Seed
from twosample.common.arrays import Array
from twosample.common.floating import own_errors
from twosample.common.progress import Progress
from twosample.common.threads import one_thread
from twosample.data import are_blocks
from twosample.errors import warn
from twosample.inference.evidence import evaluate
from twosample.kernels import Kernel
from twosample.models import Model
from twosample.paper import passes
from twosample.plan import Plan
from twosample.questions.comparing import compare
from twosample.questions.given import cluster_of, pilot_of, read_rows, without_texts
from twosample.questions.options import Options, recorded, refusing
from twosample.results import assembly
from twosample.results.two_sample_result import TwoSampleResult

if TYPE_CHECKING:
    from twosample.places.streaming import Cluster
    from twosample.results.each_result import EachResult

__all__ = ["log_bf10", "plan", "test", "test_each"]


@own_errors
@recorded
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
    paired: object = False,
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
    engine: str | Cluster = "auto",
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
        Whether rows are pairs. True says that row i of `x` belongs with row i of `y`, and is refused where a column
        that identifies the rows says otherwise. Or what identifies them, in whatever order the rows are: the name of a
        column, also with `by`, or identifiers given apart, `(those of x, those of y)`, with `by` one for each row of
        the table. Rows without a partner are left out, and named.
    kernel
        "rbf", the Gaussian kernel; "laplace", "matern12", "matern32", "matern52" or "rational_quadratic"; or a kernel
        of `twosample.kernels`, a sum or product of these, or a `Kernel` of your own. A list of kernels averages the
        Bayes factors over them. Or that of objects, with lists of them for `x` and `y`: "kmer" for strings, "graph" for
        graphs, a class of `twosample.domains` with options, or a function k(some, others, parameter) that returns a
        matrix, which is divided by the roots of k(a, a) and k(b, b).
    parameters
        Of a kernel of objects, the parameters that are averaged over, with equal prior weight.
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
        Number of permutations for a p-value of the Bayes factor, none if 0; for models with the noise of all rows, such
        as "adaptive". Labels of the pooled rows are permuted or, for pairs, members of random pairs swapped. The level
        is exact, unless given `points`, `scale` or `lengthscale` were chosen with a look at the labels. The statistic
        is log BF10 by one fixed rule of lengthscales, the same for all labels. Where rows are so few that they have up
        to 13,000 labellings, all of these are compared in any case, without a seed.
    rope
        An AUC of the witness, between 0.5 and 1, that counts as no difference that matters; the result then has
        P(AUC > `rope`).
    tolerance
        Wanted error of log BF10, relative where that is more than 1. One pass over the data is usually enough for the
        default; a smaller tolerance takes more lengthscales.
    engine
        Compute backend: "auto" works where the rows are, on the cores of this machine ("threads") or on the device of
        torch, CuPy or JAX arrays; "torch:cuda", "cupy", "jax" and the like copy blocks of rows to a device.
        Dask collections are worked on by the active scheduler of Dask, and "dask" sends parts of other data to it. Or
        a backend of your own, with the methods of `twosample.places.streaming.Cluster`.
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

    Pairs, such as patients before and after, that are matched by a column:

    >>> before = pl.DataFrame({"patient": range(40), "dose": rng.normal(size=40)})
    >>> after = before.with_columns(pl.col("dose") + rng.normal(0.5, 0.3, 40)).sample(40, shuffle=True, seed=1)
    >>> ts.test(before, after, paired="patient").verdict
    'very strong evidence of a small difference'
    """
    options = Options.checked(locals())
    if options.objects.of_objects:
        from twosample.questions.objects import test_objects

        return test_objects(x, y, options, progress)  # type: ignore[return-value]  # has no columns, but all else
    return compare(x, y, options, engine, progress)


test.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it where it is imported


@own_errors
@refusing(
    kernel="columns are compared by a Gaussian kernel of their normal scores, the same for all of them",
    parameters="columns are compared by a Gaussian kernel of their normal scores; objects have no columns",
    features="columns are compared by their normal scores; objects have no columns",
    lengthscale="it is averaged over, for each column",
    points="each column has 16",
    subsets="each column is tested by itself; name `groups` of columns to test them together too",
    prior_odds="the share of columns that differ is learnt from all of them",
    permutations="false discoveries are counted by their probabilities; test single columns for a p-value",
    scale="normal scores do not depend on it",
    tolerance="a fixed set of lengthscales is averaged over",
    rng="nothing is random",
    engine="rows are read where they are: in memory, in blocks, or on Dask",
    keep_rows="the table holds no rows",
)
@recorded
def test_each(
    x: object,
    y: object = None,
    *,
    by: object = None,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] | None = None,
    categories: Sequence[str | int] | None = None,
    fdr: float = 0.05,
    rope: float | None = None,
    sort: Literal["evidence", "size"] = "evidence",
    groups: Mapping[str, Sequence[str]] | Sequence[object] | None = None,
    model: str | Model = "adaptive",
    paired: object = False,
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
        The false discovery rate: what share of the columns in `discoveries` may be expected to be the same. Each of
        them is also likelier to differ than not.
    rope
        An AUC between 0.5 and 1 that counts as no difference that matters; each row then has P(AUC > `rope`).
    sort
        The order of the rows: by decreasing "evidence", or by decreasing "size", which is the AUC.
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
        A table: Bayes factor, probability, q-value, AUC, size in words and direction of each column; and the share of
        columns that differ, learnt from all of them, which is the prior probability of each.

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
    >>> first.direction, first.size, first.prob_larger < 0.2
    ('larger in y', 'very large', True)
    """
    of_rows = None if groups is None or isinstance(groups, Mapping) or by is None else groups
    options = Options.checked(locals(), groups=of_rows)
    cluster = cluster_of("auto", x, y)
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
        choice=without_texts(options, x, y).choice,
        fdr=fdr,
        groups=groups if of_rows is None else None,
        model=options.model,
        paired=options.paired,
        paired_by=options.choice.paired_by,
        nan_policy=nan_policy,
        progress=progress,
        rope=options.rope,
        sort=sort,
        joint=test,
    )


test_each.__test__ = False  # type: ignore[attr-defined]


@own_errors
def plan(
    x: object,
    y: object = None,
    *,
    model: str | Model = "adaptive",
    paired: object = False,
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
    by, groups, columns, drop, categories
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
    options = Options.checked(locals(), kernel=kernels.resolve(kernel))
    if y is None and by is None:
        return options.plan(pilot_of(x, options))
    return options.plan(read_rows(x, y, options, all_at_once=False).samples.with_copies_said())


@own_errors
def log_bf10(
    x: object,
    y: object,
    lengthscale: ArrayLike,
    *,
    points: int | ArrayLike = 40,
    model: str | Model = "adaptive",
    paired: object = False,
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
    options = Options.checked(locals(), lengthscale=None, subsets=None)
    given = read_rows(x, y, options, all_at_once=False)
    samples = given.samples.with_copies_said()
    found, doubts = [], []
    for the_plan in options.plans(samples):
        lengthscales = the_plan.standardised(lengthscale)
        with one_thread():
            if given.in_memory:
                [evidence] = passes.Passes(samples, the_plan.features, (options.model,), None).evidence(lengthscales)
            else:
                statistics = given.evidence_statistics(the_plan, lengthscales)
                evidence = evaluate(statistics, the_plan.features, options.model)
            doubts.append(assembly.flat_lengthscales(the_plan, samples, lengthscales))
        found.append(evidence.log_bf10)
    if doubts[0] is not None:
        warn(doubts[0])
    total = found[0] if len(found) == 1 else np.logaddexp.reduce(found, axis=0) - math.log(len(found))
    shape = () if isinstance(lengthscale, str) else np.shape(lengthscale)
    return total.reshape(shape) if shape else float(total[0])
