"""Two-sample test with finite Pólya trees in any dimension, each centred at a Gaussian fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from scipy.special import ndtr

from twosample.common.arguments import Seed, choice_of, count_of, generator_of, positive
from twosample.common.arrays import Array, Indices
from twosample.common.constraints import Count, Positive, Share
from twosample.common.floating import own_errors
from twosample.common.words import pvalue_text
from twosample.data import Samples
from twosample.errors import InputError
from twosample.features.points import in_order
from twosample.inference.relabelling import as_extreme, as_pvalue
from twosample.paper.baselines.results import BayesResult, described
from twosample.paper.baselines.special import log_rising

__all__ = ["ChenHansonResult", "chen_hanson"]


_C_GRID = np.exp(14.0 * np.arange(20) / 19.0 - 7.0)
_DEEPEST = 50
# A column with at most this share of its variance left unexplained by the others is a linear combination of them.
_SMALLEST_SHARE = 1e-10
# A column that varies by less than this share of its largest value is constant up to rounding.
_ROUNDING = 1e-14
_BITS_AT_ONCE = 40
# Beyond this many columns the number of children of a cell counts as infinite.
_MOST_HALVINGS = 200


@dataclass(frozen=True, eq=False, repr=False)
class ChenHansonResult(BayesResult):
    """Result of `chen_hanson`; see `BayesResult` for the fields that all Bayesian tests have.

    Attributes
    ----------
    c_x, c_y, c_pooled
        Precision of each tree; None where it was averaged over.
    depth
        Number of levels.
    centering
        "own" or "pooled".
    permutations
        Number of permutations behind `pvalue`.
    pvalue
        Permutation p-value of the Bayes factor, None without permutations.
    """

    test: ClassVar[str] = "multivariate Pólya tree (Chen and Hanson 2014)"

    c_x: Positive | None
    c_y: Positive | None
    c_pooled: Positive | None
    depth: Count
    centering: str
    permutations: Count
    pvalue: Share | None

    def _details(self) -> list[tuple[str, str]]:
        values = (self.c_x, self.c_y, self.c_pooled)
        c = ", ".join("averaged" if value is None else f"{value:.3g}" for value in dict.fromkeys(values))
        details = [("prior", f"{self.centering} centering, c = {c}, {self.depth} levels")]
        if self.pvalue is not None:
            details.insert(0, ("p-value", f"{pvalue_text(self.pvalue)} ({self.permutations} permutations)"))
        return details


@own_errors
def chen_hanson(
    x: object,
    y: object,
    *,
    c: Literal["max", "mean"] | float = "max",
    centering: Literal["own", "pooled"] = "own",
    depth: int | None = None,
    permutations: int = 0,
    prior_odds: float = 1.0,
    nan_policy: Literal["raise", "omit"] = "raise",
    rng: Seed = 0,
) -> ChenHansonResult:
    """The Pólya-tree test of Chen and Hanson (2014), for any number of columns.

    Each sample, and the pooled one, has a Pólya tree on the cells that repeatedly halve each whitened column of a
    Gaussian fit; at level j the 2^D children of a cell share its rows with Dirichlet weights c·j². As the fits and
    c are chosen with the data, the Bayes factor leans towards "different", the more so the more columns there are;
    its permutation p-value does not.

    Parameters
    ----------
    x, y
        The samples, as in `twosample.test`; not pairs.
    c
        Precision of the trees: "max" chooses the most likely of 20 values for each tree, "mean" averages over them,
        and a number is used as it is.
    centering
        Whether each sample's tree has its "own" Gaussian fit or all have the "pooled" one.
    depth
        Number of levels; ⌈log2(n_x + n_y)⌉ if None.
    permutations
        Number of permutations for a p-value of the Bayes factor; none are made if 0.
    prior_odds, nan_policy
        As in `twosample.test`.
    rng
        Seed of the permutations; None for a fresh one.

    Returns
    -------
    ChenHansonResult
        Bayes factor and, with permutations, p-value.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> result = ts.baselines.chen_hanson(rng.normal(0, 1, (50, 2)), rng.normal(0, 3, (50, 2)), permutations=99)
    >>> result.verdict, result.pvalue
    ('very strong evidence that the samples differ', 0.01)
    """
    choice_of(centering, "centering", ("own", "pooled"))
    if isinstance(c, str) and c not in ("max", "mean"):
        raise InputError(f"c: {c!r} is unknown", argument="c", remedy="use 'max', 'mean' or a positive number")
    prior_odds = positive(prior_odds, "prior_odds")
    permutations = count_of(permutations, "permutations", 0)
    generator = generator_of(rng)
    samples = Samples.from_data(x, y, nan_policy=nan_policy)
    n_rows = samples.n_x + samples.n_y
    depth = math.ceil(math.log2(n_rows)) if depth is None else count_of(depth, "depth", 1)
    if depth > _DEEPEST:
        raise InputError(f"depth: must be at most {_DEEPEST}, not {depth}", argument="depth")
    grid = _C_GRID if isinstance(c, str) else np.array([positive(c, "c")])

    # Scaled, so that squares do not overflow; sorted, so that the permutations depend on the pooled rows as a set.
    rows = [samples.view.apply(part) for part in (samples.x, samples.y)]
    pooled = in_order(np.concatenate(rows))
    shared = _Fit.of(pooled)
    shared.check("x and y", samples.columns)
    if centering == "own":
        for part, name in zip(rows, "xy", strict=True):
            _Fit.of(part).check(name, samples.columns)
    likelihood = partial(_log_likelihood, shared if centering == "pooled" else None, depth, grid, c == "mean")
    in_x, in_y, in_both = map(likelihood, (*rows, pooled))

    permuted, smaller = np.empty(permutations), min(samples.n_x, samples.n_y)
    for index in range(permutations):
        order = generator.permutation(n_rows)
        parts = pooled[order[:smaller]], pooled[order[smaller:]]
        permuted[index] = sum(likelihood(part)[0] for part in parts) - in_both[0]
    log_bf10 = in_x[0] + in_y[0] - in_both[0]
    return ChenHansonResult(
        log_bf10=log_bf10,
        prior_odds=prior_odds,
        **described(samples),
        c_x=in_x[1],
        c_y=in_y[1],
        c_pooled=in_both[1],
        depth=depth,
        centering=centering,
        permutations=permutations,
        pvalue=as_pvalue(as_extreme(log_bf10, permuted), permutations) if permutations else None,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """A Gaussian by maximum likelihood; its Cholesky factor has a zero on the diagonal where it is singular."""

    center: Array
    factor: Array  # (D, D), lower triangular
    n_rows: int

    @classmethod
    def of(cls, rows: Array) -> _Fit:
        center = rows.mean(axis=0)
        deviations = rows - center
        sds = np.sqrt(np.square(deviations).mean(axis=0))
        units = np.where(sds > _ROUNDING * np.abs(rows).max(axis=0), sds, np.inf)
        deviations /= units
        # R of the QR factorisation is the Cholesky factor, more accurate than from the covariance.
        triangle = np.zeros((rows.shape[1], rows.shape[1]))
        upper = np.linalg.qr(deviations / math.sqrt(len(rows)), mode="r")
        triangle[: len(upper)] = upper * np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)[:, np.newaxis]
        pivots = np.diagonal(triangle)
        triangle[np.diag_indices(len(pivots))] = np.where(np.square(pivots) < _SMALLEST_SHARE, 0.0, pivots)
        return cls(center, triangle.T * sds[:, np.newaxis], len(rows))

    @property
    def singular(self) -> bool:
        return not np.diagonal(self.factor).all()

    def check(self, name: str, columns: tuple[str, ...]) -> None:
        if self.n_rows <= len(columns):
            raise InputError(
                f"{name}: {self.n_rows} rows and {len(columns)} columns",
                argument=name,
                remedy="chen_hanson fits a covariance matrix, which needs more rows than columns: choose columns, or "
                "use mmd or twosample.test",
            )
        if self.singular:
            column = columns[int(np.argmin(np.diagonal(self.factor)))]
            raise InputError(
                f"{name}: column {column!r} is constant or a linear combination of the columns before it, so that "
                "chen_hanson cannot invert the covariance matrix",
                argument=name,
                remedy="leave the column out",
            )


def _log_likelihood(
    shared: _Fit | None, depth: int, grid: Array, average: bool, rows: Array
) -> tuple[float, float | None]:
    """Log marginal likelihood of rows by a tree around a shared or their own fit, and its precision c, if it has one.

    It is averaged over the grid of c, or that of the most likely c.
    """
    fit = shared or _Fit.of(rows)
    if fit.singular:
        return math.inf, None
    whitened = np.asarray(np.linalg.solve(fit.factor, (rows - fit.center).T).T, dtype=np.float64)
    log_normal = -0.5 * float(np.square(whitened).sum()) - len(rows) * (
        0.5 * rows.shape[1] * math.log(2.0 * math.pi) + float(np.log(np.diagonal(fit.factor)).sum())
    )
    counts = _cell_counts(_finest_cells(whitened, depth), depth)
    found = log_normal + _log_dirichlet(counts, rows.shape[1], grid)
    if average:
        return float(np.logaddexp.reduce(found)) - math.log(len(found)), None
    return float(found.max()), float(grid[found.argmax()])


def _finest_cells(whitened: Array, depth: int) -> Indices:
    """Number of the cell of each value among 2^depth equally probable ones; precise in the upper tail too."""
    size = 2.0**depth
    from_end = np.minimum(np.floor(size * ndtr(-np.abs(whitened))), size / 2.0 - 1.0).astype(np.int64)
    return np.asarray(np.where(whitened < 0.0, from_end, 2**depth - 1 - from_end))


def _cell_counts(finest: Indices, depth: int) -> list[Indices]:
    """Number of rows in each occupied cell, for levels 0 to depth."""
    cell = np.zeros(len(finest), dtype=np.int64)
    counts = [np.array([len(finest)])]
    for level in range(1, depth + 1):
        halves = (finest >> (depth - level)) & 1
        for start in range(0, finest.shape[1], _BITS_AT_ONCE):
            bits = halves[:, start : start + _BITS_AT_ONCE]
            code = bits @ (1 << np.arange(bits.shape[1]))
            _, cell = np.unique((cell << bits.shape[1]) | code, return_inverse=True)
        counts.append(np.bincount(cell))
    return counts


def _log_dirichlet(counts: list[Indices], n_columns: int, grid: Array) -> Array:
    """Log probability of the counts in the children of every cell, relative to equal shares, for each c."""
    total = np.zeros(len(grid))
    halvings = min(n_columns, _MOST_HALVINGS)
    n_rows = int(counts[0][0])
    for level in range(1, len(counts)):
        weight = grid[:, np.newaxis] * level**2
        parents, n_parents = np.unique(counts[level - 1], return_counts=True)
        children, n_children = np.unique(counts[level], return_counts=True)
        total += log_rising(weight, children) @ n_children + n_rows * halvings * math.log(2.0)
        total -= log_rising(np.ldexp(weight, halvings), parents) @ n_parents
    return total
