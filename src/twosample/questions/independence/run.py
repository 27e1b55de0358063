"""From two sides to the answer: all columns together and each pair of columns, averaged; and permuted pairings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from twosample.common.arguments import Seed, count_of, generator_of, positive
from twosample.common.arrays import Array, Indices
from twosample.common.floating import own_errors
from twosample.common.progress import Progress, WorkCounter, progress_bar
from twosample.common.threads import one_thread
from twosample.errors import InputError
from twosample.features.domains.domain import KernelChoice
from twosample.inference import relabelling
from twosample.inference.relabelling import Statistic
from twosample.questions.independence.independence_result import IndependenceResult, Scales
from twosample.questions.independence.pairing import AMPLITUDE, Pairing, PairsWitness, log_mean, permuted, products
from twosample.questions.independence.sides import MULTIPLES, Axis, Column, Side
from twosample.questions.independence.two_sides import Sides, read_sides
from twosample.questions.options import recorded, refusing
from twosample.results.robustness import AMPLITUDE_SCALES, POINT_COUNTS, WIDTHS, Variation, robustness_of

__all__ = ["independence"]

# Pairs of columns, at most.
_MOST_PAIRS = 10_000
# For progress bars: finding the functions of a side takes as long as this many tests.
_WORK_OF_A_SIDE = 2


@own_errors
@refusing(
    by="nothing is split: row i of x belongs with row i of y",
    groups="nothing is split: row i of x belongs with row i of y",
    columns="name those of either side as x and y",
    drop="name the columns of either side as x and y",
    categories="columns of text are categories; pass numbers that are categories as text",
    model="independence has a prior and noise of its own",
    paired="row i of x always belongs with row i of y",
    lengthscale="each side has lengthscales of its own, and these are averaged over",
    subsets="all columns together and each pair of them are tested",
    scale="columns are compared by their normal scores",
    tolerance="a fixed set of lengthscales is averaged over",
    rope="two sides have no AUC; `size` says how strongly they depend on each other",
    keep_rows="a result holds what pictures need in aggregate",
    engine="the rows are read into the memory of this machine",
)
@recorded
def independence(
    first: object = None,
    second: object = None,
    /,
    *,
    x: object = None,
    y: object = None,
    prior_odds: float = 1.0,
    permutations: int = 0,
    points: int = 16,
    kernel: str | Callable[[Sequence[Any], Sequence[Any], Any], Any] | None = None,
    parameters: Sequence[Any] | None = None,
    features: Callable[[Sequence[Any]], Any] | None = None,
    nan_policy: Literal["raise", "omit"] = "raise",
    rng: Seed = 0,
    progress: Progress = False,
) -> IndependenceResult:
    """Test whether two things that were measured together are independent.

    Parameters
    ----------
    first, second
        What was measured, row by row together: lists, arrays, Series or data frames, of numbers, dates, Booleans or
        text; 1-D input is one column. Or one table, and the names of its columns as `x` and `y`.
    x, y
        Names of the columns of the one table on either side; or, without a table, the two things themselves.
    prior_odds
        Prior odds of "dependent" against "independent".
    permutations
        Number of permutations for a p-value and an e-value of the Bayes factor, none if 0. The pairing is permuted, and
        nothing else depends on it, so that the level is exact.
    points
        Number of evaluation points on either side, at most.
    kernel, parameters, features
        Of objects such as strings or graphs, in a list in the place of the first thing, as in `test`: these enter by
        the three leading principal components of their kernel. Rows of tables have a Gaussian kernel of normal scores.
    nan_policy
        "raise" refuses missing and infinite values; "omit" drops their rows and says how many.
    rng
        Seed of the permutations; nothing else is random.
    progress
        As in `test`.

    Returns
    -------
    IndependenceResult
        Bayes factor, probabilities, verdict, which columns depend on each other, and where.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> angle = rng.uniform(0, 2 * np.pi, 300)
    >>> result = ts.independence(np.cos(angle) + rng.normal(0, 0.3, 300), np.sin(angle) + rng.normal(0, 0.3, 300))
    >>> result.verdict
    'very strong evidence that x and y are dependent'

    One table, with numbers and text:

    >>> import polars as pl
    >>> trial = pl.DataFrame({"arm": ["a", "b"] * 50, "dose": rng.normal(size=100), "age": rng.normal(size=100)})
    >>> result = ts.independence(trial, x="arm", y=["dose", "age"])
    >>> sorted((row.x, row.y, row.prob < 0.5) for row in result.by_pair)
    [('arm', 'age', True), ('arm', 'dose', True)]
    """
    prior_odds, generator = positive(prior_odds, "prior_odds"), generator_of(rng)
    permutations, points = count_of(permutations, "permutations", 0), count_of(points, "points", 2)
    sides = read_sides(first, second, x, y, nan_policy, _objects(kernel, parameters, features))
    if len(sides.x) * len(sides.y) > _MOST_PAIRS:
        raise InputError(
            f"x and y: {len(sides.x)} and {len(sides.y)} columns have more than {_MOST_PAIRS:,} pairs",
            argument="x and y",
            remedy="pass fewer columns",
        )
    with progress_bar(progress) as report, one_thread():
        counter = WorkCounter(report, _work(sides, 1 + permutations))
        tests = _Tests.of(sides, points, counter)
        observed = tests.observed(counter)
        relabelled = None
        if permutations:
            numbers = range(len(tests.which))
            relabelled = relabelling.compare(_Pairings.of(tests), numbers, permutations, generator, counter)
        counter.finish()
    log_bf10 = [float(log_mean(one.log_bf10)) for one in observed]
    pairs = np.array(log_bf10 if len(log_bf10) == 1 else log_bf10[1:]).reshape(len(sides.x), len(sides.y))
    main, side_x, side_y = observed[0], tests.sides_x[0], tests.sides_y[0]
    mass = np.exp(main.log_bf10 - np.logaddexp.reduce(main.log_bf10, axis=None))
    found = tests.pairings[0].coefficients(main.scores)
    contingency = float((mass[..., None, None] * (found.mean**2 + found.variance)).sum())
    axes = [Axis.of(column) for column in sides.x], [Axis.of(column) for column in sides.y]
    witness = PairsWitness.of(axes, side_x, side_y, mass, found)
    result = IndependenceResult(
        log_bf10=tests.log_bf10(observed),
        prior_odds=prior_odds,
        n=sides.count,
        x=tuple(column.name for column in sides.x),
        y=tuple(column.name for column in sides.y),
        pairs=pairs,
        correlations=tuple(tuple(_correlation(one, other) for other in sides.y) for one in sides.x),
        joint=log_bf10[0],
        lengthscale=Scales(side_x.lengthscales, side_y.lengthscales, mass, main.log_bf10),
        size=math.sqrt(contingency / (1.0 + contingency)),
        pvalue=None if relabelled is None else relabelled.pvalue,
        evalue=None if relabelled is None else relabelled.evalue,
        permutations=permutations,
        points=points,
        notes=sides.notes,
        picture=witness.picture(),
        witness_posterior=witness,
    )
    return result.remember(partial(robustness_of, result.log_bf10, _variations(points), partial(_again, sides, points)))


def _objects(kernel: Any, parameters: Any, features: Any) -> KernelChoice | None:
    """How objects are compared; None for rows of tables."""
    if kernel is None and parameters is None and features is None:
        return None
    found = KernelChoice("rbf" if kernel is None else kernel, features, parameters)
    if not found.of_objects and kernel is not None:
        raise InputError(
            f"kernel: {kernel!r:.40} is not one of objects",
            argument="kernel",
            remedy="leave it out: columns are compared by a Gaussian kernel of their normal scores",
        )
    if not found.of_objects:
        found.check_table()
    return found


def _variations(points: int) -> list[Variation]:
    """The variations of `robustness`: scale of the amplitude, number of points, and range of lengthscales."""
    scales = {scale: {"amplitude": scale} for scale in AMPLITUDE_SCALES if scale != AMPLITUDE}
    counts = {float(count): {"points": count} for count in POINT_COUNTS if count != points}
    middle = MULTIPLES[len(MULTIPLES) // 2]
    widths = {width: {"multiples": middle * (MULTIPLES / middle) ** width} for width in WIDTHS}
    return [
        Variation("amplitude", "scales of the amplitude", AMPLITUDE, scales),
        Variation("points", "numbers of points", float(points), counts),
        Variation("lengthscale", "widths of the range of lengthscales", 1.0, widths),
    ]


def _again(sides: Sides, points: int, changes: Sequence[dict[str, Any]]) -> list[float]:
    """Log BF10 of the same sides with other amplitudes, numbers of points or lengthscales."""
    found = []
    tests: _Tests | None = None
    for change in changes:
        amplitude = change.get("amplitude", AMPLITUDE)
        if tests is None or "amplitude" not in change:
            multiples = change.get("multiples", MULTIPLES)
            tests = _Tests.of(sides, change.get("points", points), lambda work: None, multiples)
        tests = replace(tests, amplitude=amplitude)
        found.append(tests.log_bf10(tests.observed(lambda work: None)))
    return found


class _Observed(NamedTuple):
    """One test with the pairs as they are: the u_ij, and log BF10 at every pair of lengthscales."""

    scores: Array
    log_bf10: Array


@dataclass(frozen=True, eq=False)
class _Tests:
    """All columns of x with all of y and, where there are several, each of x with each of y."""

    # Coordinates of all columns together and, where there are several, of each.
    rows_x: list[Array]
    rows_y: list[Array]
    # Functions of these.
    sides_x: list[Side]
    sides_y: list[Side]
    which: Indices  # places in these of the two sides of every test, (T, 2)
    keys: Array  # a number for every row of x and of y, which does not depend on the order of rows and columns, (2, n)
    amplitude: float = AMPLITUDE  # scale of the prior of the correlations

    @classmethod
    def of(cls, sides: Sides, points: int, count: Callable[[int], object], multiples: Array = MULTIPLES) -> _Tests:
        """Return the tests of two sides; `count` is called with the work done."""
        each = [[column.coordinates() for column in columns] for columns in (sides.x, sides.y)]
        rows = [some if len(some) == 1 else [np.concatenate(some, axis=1), *some] for some in each]
        single = [(0, 0)]
        if len(sides.x) * len(sides.y) > 1:
            first_x, first_y = (int(len(columns) > 1) for columns in (sides.x, sides.y))
            single += [(i + first_x, j + first_y) for i in range(len(sides.x)) for j in range(len(sides.y))]
        keys = np.stack([sum(column.key for column in columns) for columns in (sides.x, sides.y)])

        def side_of(one: Array) -> Side:
            found = Side.of(one, points, multiples)
            count(_WORK_OF_A_SIDE)
            return found

        sides_x, sides_y = ([side_of(one) for one in some] for some in rows)
        return cls(rows[0], rows[1], sides_x, sides_y, np.array(single), keys)

    @property
    def log_weights(self) -> Array:
        """Logs of the prior weights of the tests given a dependence: half for all columns, half for the pairs."""
        if len(self.which) == 1:
            return np.zeros(1)
        return np.log([0.5, *[0.5 / (len(self.which) - 1)] * (len(self.which) - 1)])

    @property
    def pairings(self) -> list[Pairing]:
        """The tests without the pairs."""
        count = self.keys.shape[1]
        return [Pairing(self.sides_x[i], self.sides_y[j], count, self.amplitude) for i, j in self.which.tolist()]

    def observed(self, count: Callable[[int], object]) -> list[_Observed]:
        """Every test with the pairs as they are."""
        found = []
        for (i, j), pairing in zip(self.which.tolist(), self.pairings, strict=True):
            scores = pairing.scores(products(pairing.x, pairing.y, self.rows_x[i], self.rows_y[j]))
            found.append(_Observed(scores, pairing.log_bf10(scores)))
            count(1)
        return found

    def log_bf10(self, observed: Sequence[_Observed]) -> float:
        """Log BF10 of all tests together."""
        return float(np.logaddexp.reduce(self.log_weights + [float(log_mean(one.log_bf10)) for one in observed]))


@dataclass(frozen=True, eq=False)
class _Pairings:
    """Permuted pairings of the rows of two sides; a test is its place among all of them.

    The rows are in an order of their own, and the side that is permuted is chosen by the data, so that the same
    pairings come whatever the order of the rows, and whichever side is called x.
    """

    tests: _Tests
    functions: tuple[list[Array], list[Array]]  # values of the functions of each x and of each y, (n, m, k)
    swapped: bool  # whether it is x that is permuted

    @classmethod
    def of(cls, tests: _Tests) -> _Pairings:
        """Go once over the rows."""
        order, swapped = _arranged(*tests.keys)

        def values(side: Side, rows: Array) -> Array:
            return np.ascontiguousarray(np.swapaxes(side.functions(rows[order]), 0, 1))

        functions = list(map(values, tests.sides_x, tests.rows_x)), list(map(values, tests.sides_y, tests.rows_y))
        return cls(tests, functions, swapped)

    @property
    def observed(self) -> Indices:
        """The rows as they are, (n,)."""
        return np.arange(self.tests.keys.shape[1])

    @property
    def identity(self) -> tuple[Array, ...]:
        """The pairs themselves, whichever side is x: without them, the ranks of all data sets are the same."""
        key_x, key_y = self.tests.keys[:, :, np.newaxis]
        return relabelling.pair_symmetric(key_x, key_y)

    def draw(self, generator: np.random.Generator) -> Indices:
        """A random order of the rows of y, (n,)."""
        drawn = generator.permutation(self.tests.keys.shape[1])
        return np.argsort(drawn) if self.swapped else drawn

    def statistic(self, test: int) -> Statistic:
        """Log BF10 of orders (B, n)."""
        i, j = self.tests.which[test].tolist()
        pairing, log_weight = self.tests.pairings[test], float(self.tests.log_weights[test])

        def log_bf10(orders: Indices) -> Array:
            scores = pairing.scores(permuted(self.functions[0][i], self.functions[1][j], orders))
            return log_weight + log_mean(pairing.log_bf10(scores))

        return log_bf10

    def bytes_of(self, test: int) -> int:
        """Memory of one pairing."""
        values = (functions[at].shape[2] for functions, at in zip(self.functions, self.tests.which[test], strict=True))
        return 32 * len(MULTIPLES) ** 2 * int(math.prod(values))

    def work_of(self, test: int) -> int:
        """Work of one pairing."""
        return 1


def _arranged(key_x: Array, key_y: Array) -> tuple[Indices, bool]:
    """An order of the rows, and whether y comes before x: the same whatever their order, and if they change places."""
    by_x, by_y = np.lexsort((key_y, key_x)), np.lexsort((key_x, key_y))
    one, other = np.stack([key_x[by_x], key_y[by_x]], axis=1), np.stack([key_y[by_y], key_x[by_y]], axis=1)
    differ = np.flatnonzero(one.ravel() != other.ravel())
    swapped = bool(differ.size and one.ravel()[differ[0]] > other.ravel()[differ[0]])
    return by_y if swapped else by_x, swapped


def _work(sides: Sides, pairings: int) -> int:
    """Work of all tests of some pairings, in tests of one."""
    columns = [len(sides.x), len(sides.y)]
    tests = 1 if columns == [1, 1] else 1 + math.prod(columns)
    return sum(count + (count > 1) for count in columns) * _WORK_OF_A_SIDE + tests * pairings


def _correlation(x: Column, y: Column) -> float | None:
    if x.levels or y.levels:
        return None
    return float(np.clip(np.corrcoef(x.key, y.key)[0, 1], -1.0, 1.0))
