"""How many rows are needed: the evidence of samples of each size, foreseen from a pilot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import Seed, count_of, positive
from twosample.common.arrays import Array, Indices, to_numpy
from twosample.common.floating import own_errors
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.errors import InputError, InputTypeError
from twosample.features.statistics import FeatureStatistics
from twosample.inference import laws, relabelling
from twosample.inference.foreseen import Pilot, foresee
from twosample.inference.relabelling import LevelTest, WeightedTest
from twosample.kernels import Kernel
from twosample.models import Model
from twosample.plan import Plan, plan_of_objects
from twosample.questions.given import read_rows
from twosample.questions.objects import objects_of_both, rows_of
from twosample.questions.options import Options, recorded, refusing
from twosample.results.design_result import DesignResult

__all__ = ["design"]

_SIZES = (20, 50, 100, 200, 500, 1000, 2000)
# Of fewer rows a test compares all labellings, and V says little of the noise.
_FEWEST = 10
# Rows that are drawn from a law, and the most that are resampled, of each sample.
_DRAWN, _MOST = 1000, 2000
# Options that a saved plan leaves open.
_OF_PLANS = ("x", "y", "sizes", "ratio", "threshold", "draws", "rng", "progress")


@own_errors
@refusing(
    prior_odds="the chances are of Bayes factors, which do not depend on it",
    permutations="the chances are of Bayes factors; a p-value has its own power",
    rope="the chances are of Bayes factors for any difference",
    tolerance="a fixed set of lengthscales is averaged over",
    keep_rows="a design holds no rows",
    engine="the rows of a pilot are few, and resampled in memory",
)
@recorded
def design(
    x: object,
    y: object = None,
    *,
    sizes: int | Iterable[int] | None = None,
    ratio: float = 1.0,
    threshold: float = 10.0,
    draws: int = 300,
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
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    rng: Seed = 0,
    progress: Progress = False,
) -> DesignResult:
    """Foresee what samples of each size would say, from a pilot, and so how many rows are needed.

    No samples are simulated and tested. If there is a difference, it is drawn from its posterior given the pilot, so
    that what the pilot leaves open is part of the chances. The noise of new samples is that of resampled rows.

    Parameters
    ----------
    x, y
        The pilot: two samples, as in `test`, of which up to 2,000 rows each are resampled. Or a `Plan` and its
        `FeatureStatistics`, which hold 500 rows each, or 2,000 of one column. Or two laws, as in `goodness`: frozen
        distributions of `scipy.stats`, their text, or functions of a size and a generator, of which 1,000 rows each
        are drawn.
    sizes
        Numbers of rows of x, or of pairs, at least 10; 20 to 2,000 if None.
    ratio
        Rows of y for each row of x.
    threshold
        The Bayes factor that counts as found. Its inverse counts as "the same".
    draws
        Number of samples of each size; a chance of one half is then known to about 0.5/√draws.
    by, groups, columns, drop, categories, model, paired, kernel, parameters, features, lengthscale, points, subsets
        As in `test`.
    scale, nan_policy, progress
        As in `test`.
    rng
        Seed of what is drawn.

    Returns
    -------
    DesignResult
        For each size the distribution of log BF10, if the samples differ as the pilot says and if they do not; the
        chance of each verdict; and `size_for(0.9)`.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> pilot = rng.normal(0, 1, 60), rng.normal(0.7, 1, 60)
    >>> found = ts.design(*pilot, sizes=[20, 50, 100, 200])
    >>> 50 < found.size_for(0.9) < 200, found.at(200).found > 0.9, found.at(20).found < 0.5
    (True, True, True)

    What a law differs by from another, with twice as many rows of the second:

    >>> ts.design("norm(0, 1)", "norm(0, 2)", sizes=[30, 100], ratio=2.0).at(100).n_y
    200
    """
    asked = locals()
    wanted = _sizes_of(sizes, ratio, paired=x.paired if isinstance(x, Plan) else paired is not False)
    threshold, draws = positive(threshold, "threshold"), count_of(draws, "draws", 10)
    if threshold <= 1.0:
        raise InputError(f"threshold: must be more than 1, not {threshold:g}", argument="threshold")
    with progress_bar(progress) as report, one_thread():
        if isinstance(x, Plan):
            _check_plan(asked)
            options = Options.checked(rng=rng)
            given = _of_statistics(x, y, options.generator)
        else:
            options = Options.checked(asked, pooled=True)
            given = _of_objects(x, y, options) if options.objects.of_objects else _of_rows(x, y, options)
        tests, notes = given.tests()
        counter = WorkCounter(report, len(tests))
        different, same = foresee(given.pilot, tests, given.plans[0].model, wanted, draws, options.generator, counter)
        counter.finish()
    return DesignResult(
        sizes=np.array([size for size, _ in wanted]),
        sizes_y=np.array([size for _, size in wanted]),
        different=np.sort(different, axis=1),
        same=np.sort(same, axis=1),
        threshold=threshold,
        n_x=len(given.pilot.x),
        n_y=len(given.pilot.y),
        columns=given.plans[0].columns,
        names=given.names,
        paired=given.pilot.paired,
        model=given.plans[0].model,
        notes=(*given.notes, *notes),
    )


def _sizes_of(sizes: object, ratio: float, *, paired: bool) -> list[tuple[int, int]]:
    """Rows of x and of y, increasing; of pairs their number, twice."""
    if isinstance(sizes, str) or (sizes is not None and not isinstance(sizes, Iterable | int | np.integer)):
        raise InputTypeError(f"sizes: expected whole numbers, got {type(sizes).__name__}", argument="sizes")
    several: Iterable[Any] = _SIZES if sizes is None else sizes if isinstance(sizes, Iterable) else (sizes,)
    of_x = sorted({count_of(size, "sizes", _FEWEST) for size in several})
    if not of_x:
        raise InputError("sizes: none is given", argument="sizes", remedy="name numbers of rows, such as [50, 100]")
    ratio = positive(ratio, "ratio")
    if paired and ratio != 1.0:
        raise InputError("ratio: pairs have a row in each sample", argument="ratio", remedy="leave it out")
    found = [(size, round(size * ratio)) for size in of_x]
    if found[0][1] < _FEWEST:
        raise InputError(
            f"ratio: {found[0][0]} rows of x would go with {found[0][1]} of y, and {_FEWEST} are needed",
            argument="ratio",
            remedy="use larger sizes",
        )
    return found


def _check_plan(asked: dict[str, Any]) -> None:
    """Refuse options that a plan has settled."""
    for name, option in signature(design).parameters.items():
        value = asked[name]
        same = value is option.default or (isinstance(value, str | bool | int) and value == option.default)
        if name not in _OF_PLANS and not same:
            raise InputError(f"{name}: the plan has settled that", argument=name, remedy="leave it out")


@dataclass(frozen=True, eq=False)
class _Given:
    """The rows of a pilot, and the plans of its test, one for each kernel."""

    pilot: Pilot
    plans: Sequence[Plan]
    names: tuple[str, str] = ("x", "y")
    notes: tuple[str, ...] = ()

    def tests(self) -> tuple[list[WeightedTest], tuple[str, ...]]:
        """The tests that are averaged, with prior weights that add up to one, and what is to be said of them."""
        found = relabelling.tests_of(*self.plans)
        kept = [test for test in found if not isinstance(test, LevelTest)]
        total = np.logaddexp.reduce(np.concatenate([test.log_weights for test in kept]))
        note = "Of columns with more than 31 levels, the others count as one level in what is foreseen."
        return (
            [replace(test, log_weights=test.log_weights - total) for test in kept],
            (note,) if len(kept) < len(found) else (),
        )


def _of_rows(x: object, y: object, options: Options) -> _Given:
    """A pilot of rows of a table."""
    read = read_rows(*_drawn(x, y, options), options, all_at_once=False)
    samples = read.samples
    pilot, said = _pilot(to_numpy(samples.x), to_numpy(samples.y), options.generator, paired=samples.paired)
    notes = (*samples.notes, *samples.column_notes, *said)
    return _Given(pilot, options.plans(samples), samples.names, notes)


def _of_objects(x: object, y: object, options: Options) -> _Given:
    """A pilot of objects, by their kernel values at points."""
    objects, notes = objects_of_both(*_drawn(x, y, options), options)
    domain, rows = rows_of(objects, options)
    plan = plan_of_objects(domain, options.model, paired=options.paired)
    pilot, said = _pilot(rows["x"], rows["y"], options.generator, paired=options.paired)
    return _Given(pilot, [plan], notes=(*notes, *plan.notes, *said))


def _of_statistics(plan: Plan, statistics: object, generator: np.random.Generator) -> _Given:
    """A pilot of which the statistics hold some rows."""
    if not isinstance(statistics, FeatureStatistics):
        raise InputTypeError(
            f"y: expected the FeatureStatistics of the plan, got {type(statistics).__name__}", argument="y"
        )
    if statistics.plan != plan.key:
        raise InputError(
            "y: these statistics belong to another plan", argument="y", remedy="collect them with this one"
        )
    if not plan.model.relabels or plan.lengthscales is None:
        raise InputError(f"x: model {plan.model.name!r} has not the noise of all rows", argument="x")
    rows, sizes = (statistics.sketch_x.rows, statistics.sketch_y.rows), (statistics.n_x, statistics.n_y)
    pilot, said = _pilot(*rows, generator, sizes, paired=plan.paired)
    return _Given(pilot, [plan], notes=(*plan.notes, *statistics.notes, *said))


def _drawn(x: object, y: object, options: Options) -> tuple[Any, Any]:
    """The samples, those of laws drawn."""
    x, y = (laws.drawn(one, _DRAWN, options.generator) if laws.is_law(one) else one for one in (x, y))
    return x, y


def _pilot(
    x: Array, y: Array, generator: np.random.Generator, sizes: tuple[int, int] | None = None, *, paired: bool
) -> tuple[Pilot, tuple[str, ...]]:
    """The rows that are resampled, some of a large pilot, and what is to be said of that; `sizes` are those of all."""
    sizes = (len(x), len(y)) if sizes is None else sizes
    if min(len(x), len(y)) < _FEWEST:
        raise InputError(
            f"x: a pilot of {len(x)} and {len(y)} rows says too little; {_FEWEST} of each are needed", argument="x"
        )
    # In an order that does not change with that of the data, or with units.
    if paired:
        order = _some(np.lexsort([*y.T[::-1], *x.T[::-1]]), generator)
        x, y = x[order], y[order]
    else:
        x, y = (rows[_some(np.lexsort(rows.T[::-1]), generator)] for rows in (x, y))
    whole = (len(x), len(y)) == sizes
    said = f"Of the pilot's {sizes[0]:,} and {sizes[1]:,} rows, {len(x):,} and {len(y):,} are resampled."
    return Pilot(x.astype(np.float64), y.astype(np.float64), paired), () if whole else (said,)


def _some(order: Indices, generator: np.random.Generator) -> Indices:
    """Random ones of the rows in this order, where they are many."""
    return order if len(order) <= _MOST else order[np.sort(generator.choice(len(order), _MOST, replace=False))]
