"""Two-sample test with Pólya-tree priors in one dimension, with the contribution of each node of the tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import betaln, gammaln, ndtri, polygamma

from twosample.common.arguments import choice_of, positive
from twosample.common.arrays import Array, Flags, Indices
from twosample.common.constraints import NONNEGATIVE, SORTED, Axes, Count, Positive, Within
from twosample.common.floating import own_errors
from twosample.data import Samples
from twosample.errors import InputError
from twosample.paper.baselines.results import BayesResult, check_one_column, described
from twosample.paper.baselines.special import log_rising

__all__ = ["HolmesResult", "holmes"]

Variant = Literal["subjective", "empirical", "conditional"]

_C_GRID = np.array([0.01, 0.1, 1.0, 10.0, 100.0, 1000.0])
_IQR_OF_STANDARD_NORMAL = 1.349
_OCTILES = np.arange(1, 8) / 8
# Trapezoidal rules over log odds: steps of at most this, and this many in a standard deviation of the integrand, leave
# an error of exp(-2π²/step); what is below exp(-45) of the peak is left out.
_LARGEST_STEP = 0.25
_STEPS_IN_SD = 1.5
_NEGLIGIBLE_LOG = 45.0
_LEAST_NODES = 256
_COARSE = 16
_SMALLEST_CONDITIONAL_C = 1e-3
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class HolmesResult(BayesResult):
    """Result of `holmes`; see `BayesResult` for the fields that all Bayesian tests have.

    Its `plot` shows what each node contributes: at which quantile and depth the samples differ.

    Attributes
    ----------
    variant
        "subjective", "empirical" or "conditional".
    c_h0, c_h1
        Precision of the tree under each hypothesis.
    depth
        Number of levels.
    levels, cells
        The nodes that contribute, (m,): node `cells[i]` of the 2^`levels[i]` nodes of its level, from left to right;
        the root is node 0 of level 0. A node is split into its halves.
    contributions
        Contribution of each node to log BF10, (m,): positive where the samples divide differently into the halves.
    octiles
        The values of the data between the 8 nodes of level 3, (7,).

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.baselines.holmes([0.1, 0.4, 0.7, 0.9, 1.2], [2.1, 2.4, 2.6, 2.9, 0.8])
    >>> result.plot().axes[0].get_ylabel()
    'level of the split'
    """

    test: ClassVar[str] = "Pólya tree (Holmes et al. 2015)"
    figure: ClassVar[str] = "plot_tree"

    variant: str
    c_h0: Positive
    c_h1: Positive
    depth: Count
    levels: Annotated[Indices, Axes("nodes"), Within(0, 62)]
    cells: Annotated[Indices, Axes("nodes"), NONNEGATIVE]
    contributions: Annotated[Array, Axes("nodes")]
    octiles: Annotated[Array, Axes(7), SORTED]

    def _details(self) -> list[tuple[str, str]]:
        c = f"{self.c_h0:g}" if self.c_h0 == self.c_h1 else f"{self.c_h0:g} if the same, {self.c_h1:g} if different"
        return [("prior", f"{self.variant}, c = {c}, {self.depth} levels")]


@own_errors
def holmes(
    x: object,
    y: object,
    *,
    c: float = 1.0,
    variant: Variant = "subjective",
    prior_odds: float = 1.0,
    nan_policy: Literal["raise", "omit"] = "raise",
) -> HolmesResult:
    """The Pólya-tree test of Holmes, Caron, Griffin and Stephens (2015), for one column.

    The line is halved repeatedly; the share of a node's rows that fall into its left half has a symmetric Beta prior of
    parameter c·m² at level m, one draw for both samples under H0 and one for each under H1.

    Parameters
    ----------
    x, y
        The samples, one column each, as in `twosample.test`; not pairs.
    c
        Precision of the tree; larger for smoother distributions. "empirical" does not use it.
    variant
        "subjective" halves a normal distribution that is scaled to the pooled median and interquartile range.
        "empirical" also chooses c under each hypothesis, as the most likely of 0.01, 0.1, …, 1000; that is not a Bayes
        factor of any prior. "conditional" halves the ranks of the pooled sample and conditions on how many rows fall
        into each half, so that monotone transformations of the data change nothing.
    prior_odds, nan_policy
        As in `twosample.test`.

    Returns
    -------
    HolmesResult
        Bayes factor, and what each node of the tree contributes to it.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> result = ts.baselines.holmes(rng.normal(0, 1, 200), rng.normal(0, 3, 200))
    >>> result.verdict
    'very strong evidence that the samples differ'
    >>> int(result.levels[result.contributions.argmax()])  # the halves are alike, the quarters are not
    1
    """
    choice_of(variant, "variant", get_args(Variant))
    c, prior_odds = positive(c, "c"), positive(prior_odds, "prior_odds")
    if variant == "conditional" and c < _SMALLEST_CONDITIONAL_C:
        raise InputError(
            f"c: must be at least {_SMALLEST_CONDITIONAL_C} for variant='conditional', not {c}", argument="c"
        )
    samples = Samples.from_data(x, y, nan_policy=nan_policy)
    check_one_column(samples, "holmes")
    depth = (samples.n_x + samples.n_y).bit_length() - 1
    c_h0 = c_h1 = c
    finest, octiles = (_rank_cells if variant == "conditional" else _normal_cells)(samples, depth)
    nodes = _Nodes.of(finest, samples.n_x, depth)
    if variant == "conditional":
        contributions = _conditional(nodes, c)
    else:
        if variant == "empirical":
            c_h0, c_h1 = _most_likely(nodes.log_likelihood_h0), _most_likely(nodes.log_likelihood_h1)
        contributions = nodes.log_likelihood_h1(c_h1) - nodes.log_likelihood_h0(c_h0)
    # Where one sample has no rows the hypotheses agree, unless they differ in c.
    kept = ~nodes.one_sample if c_h0 == c_h1 else np.ones(len(contributions), dtype=bool)
    return HolmesResult(
        log_bf10=math.fsum(contributions[kept]),
        prior_odds=prior_odds,
        **described(samples),
        variant=variant,
        c_h0=c_h0,
        c_h1=c_h1,
        depth=depth,
        levels=nodes.levels[kept],
        cells=nodes.cells[kept],
        contributions=contributions[kept],
        octiles=octiles,
    )


def _normal_cells(samples: Samples, depth: int) -> tuple[Indices, Array]:
    """Cell of the finest level of each row, x before y, and the octiles.

    Cells are (Φ⁻¹(k/2^depth), Φ⁻¹((k+1)/2^depth)] of the data scaled by their median and raw interquartile range.
    """
    pooled = np.concatenate([samples.x[:, 0], samples.y[:, 0]])
    first, median, third = np.quantile(pooled, (0.25, 0.5, 0.75), method="hazen")
    width = third - first
    if width == 0.0:  # most values are equal; the validator then scales by the standard deviation
        width = samples.view.scale[0] * _IQR_OF_STANDARD_NORMAL
    with np.errstate(over="ignore"):  # infinity is in the outermost cell
        standardized = (pooled - median) / width
    cells = np.searchsorted(ndtri(np.arange(1, 2**depth) / 2**depth), standardized, side="left")
    return cells.astype(np.int64), median + width * ndtri(_OCTILES)


def _rank_cells(samples: Samples, depth: int) -> tuple[Indices, Array]:
    """The same for cells that hold equal shares of the pooled ranks; equal values share their mean rank."""
    pooled = np.concatenate([samples.x[:, 0], samples.y[:, 0]])
    _, inverse, counts = np.unique(pooled, return_inverse=True, return_counts=True)
    twice_rank = 2 * np.cumsum(counts) - counts  # 2 (mean rank - 1/2), in integers so that no rounding moves a row
    cells = -((-twice_rank[inverse] << depth) // (2 * len(pooled))) - 1  # ⌈2^depth (rank - 1/2) / n⌉ - 1
    return cells.astype(np.int64), np.quantile(pooled, _OCTILES, method="hazen")


class _Nodes(NamedTuple):
    """The nodes that hold rows, level by level: the counts of either sample in the left and right half, (m, 2, 2)."""

    levels: Indices
    cells: Indices
    counts: Indices

    @classmethod
    def of(cls, finest: Indices, n_x: int, depth: int) -> _Nodes:
        """From the cell of the finest level of each row, the rows of x before those of y."""
        levels, cells, counts = [], [], []
        for level in range(depth):
            halves = finest >> (depth - level - 1)
            both = np.stack(
                [np.bincount(part, minlength=2 << level).reshape(-1, 2) for part in (halves[:n_x], halves[n_x:])],
                axis=1,
            )
            cells.append(np.flatnonzero(both.any(axis=(1, 2))))
            counts.append(both[cells[-1]])
            levels.append(np.full(len(cells[-1]), level))
        return cls(*(np.concatenate(parts).astype(np.int64) for parts in (levels, cells, counts)))

    @property
    def one_sample(self) -> Flags:
        """Nodes where one of the samples has no rows."""
        return np.asarray((self.counts.sum(axis=2) == 0).any(axis=1))

    def weight(self, c: float) -> Array:
        """Parameter c·m² of the Beta prior, m the level of the halves."""
        return np.asarray(c * np.square(self.levels + 1.0))

    def log_likelihood_h0(self, c: float) -> Array:
        """Log likelihood of the counts of both samples together."""
        return _beta_binomial(self.weight(c), self.counts.sum(axis=1))

    def log_likelihood_h1(self, c: float) -> Array:
        """Log likelihood of the counts of each sample by itself."""
        return _beta_binomial(self.weight(c), self.counts[:, 0]) + _beta_binomial(self.weight(c), self.counts[:, 1])


def _beta_binomial(weight: Array, halves: Indices) -> Array:
    """Log of B(a + left, a + right) / B(a, a), a the weight."""
    left, right = halves.T
    return np.asarray(log_rising(weight, left) + log_rising(weight, right) - log_rising(2.0 * weight, left + right))


def _most_likely(log_likelihood: Callable[[float], Array]) -> float:
    return float(max(_C_GRID, key=lambda c: math.fsum(log_likelihood(float(c)))))


# Conditional on the total numbers of rows in each half.


def _conditional(nodes: _Nodes, c: float) -> Array:
    """Log BF10 of every node: the odds ratio of its halves is 1 under H0 and has a prior under H1."""
    contributions = np.zeros(len(nodes.levels))
    # Rows of x, of y, in the left half, in the right half; rows of x in the left half.
    counts = np.column_stack([nodes.counts.sum(axis=2), nodes.counts.sum(axis=1), nodes.counts[:, 0, 0]])
    for level in np.unique(nodes.levels):
        here = np.flatnonzero((nodes.levels == level) & ~nodes.one_sample)
        if len(here):
            distinct, inverse = np.unique(counts[here], axis=0, return_inverse=True)
            smallest, largest = int(distinct[:, :4].min(axis=1).max()), int(distinct[:, :2].sum(axis=1).max())
            grid = _log_odds_grid(float(nodes.weight(c)[here[0]]), smallest, largest)
            values = [
                _log_bf10_given_margins(n_x, n_y, n_left, left, *grid)
                for n_x, n_y, n_left, _, left in distinct.tolist()
            ]
            contributions[here] = np.array(values)[inverse.ravel()]
    return contributions


def _log_odds_grid(weight: float, smallest_margin: int, n_rows: int) -> tuple[Array, Array]:
    """Equidistant log odds ratios, fine enough for nodes with that smallest margin, and logs of their prior masses.

    Both the prior and the likelihood, whose curvature is the variance of a hypergeometric count, are log-concave. The
    range ends where the likelihood no longer changes; prior mass beyond it goes to the ends.
    """
    step = min(_LARGEST_STEP, 1.0 / (_STEPS_IN_SD * math.sqrt(0.25 * smallest_margin + 0.25 / polygamma(1, weight))))
    reach = 2.0 * math.log(n_rows) + _NEGLIGIBLE_LOG
    half = step * np.arange(math.ceil(reach / step) + 1, dtype=np.float64)
    log_mass = _log_odds_density(half, weight) + math.log(step)
    if weight * reach < _NEGLIGIBLE_LOG:
        inside = 2.0 * float(np.exp(log_mass).sum()) - math.exp(log_mass[0])
        log_mass[-1] = np.logaddexp(log_mass[-1], math.log(max(0.5 * (1.0 - inside), np.finfo(np.float64).tiny)))
    return np.concatenate([-half[:0:-1], half]), np.concatenate([log_mass[:0:-1], log_mass])


def _log_odds_density(log_odds: Array, weight: float) -> Array:
    """Log density of the log odds ratio of two independent Beta(a, a) probabilities.

    The log odds t of one have the density (2 cosh(t/2))^-2a / B(a, a); their difference d has, with u = t - d/2, the
    density ∫ (2 cosh u + 2 cosh(d/2))^-2a du / B(a, a)².
    """
    density = np.empty(len(log_odds))
    log_drop = _NEGLIGIBLE_LOG / (2.0 * weight)
    most = math.ceil(2.0 * (log_drop + 0.5 * float(np.max(log_odds)) + 1.0))
    share = np.linspace(0.0, 1.0, max(_LEAST_NODES, most))
    rows = max(1, _BLOCK // len(share))
    for start in range(0, len(log_odds), rows):
        log_cosh = _log_cosh(0.5 * log_odds[start : start + rows])
        # From here on the integrand is less than exp(-45) of its peak.
        log_cosh_end = np.logaddexp(log_drop, log_drop + math.log(-math.expm1(-log_drop)) + log_cosh)
        end = log_cosh_end + np.log1p(np.sqrt(-np.expm1(-2.0 * log_cosh_end)))
        terms = np.logaddexp(_log_cosh(np.multiply.outer(end, share)), log_cosh[:, np.newaxis])
        terms += math.log(2.0)
        terms *= -2.0 * weight
        terms[:, 0] -= math.log(2.0)  # half of the peak, which the other side of it shares
        density[start : start + rows] = np.logaddexp.reduce(terms, axis=1) + np.log(2.0 * end * share[1])
    return density - 2.0 * float(betaln(weight, weight))


def _log_cosh(values: Array) -> Array:
    return np.asarray(values + np.log1p(np.exp(-2.0 * values)) - math.log(2.0))


def _log_bf10_given_margins(n_x: int, n_y: int, n_left: int, left_x: int, log_odds: Array, log_mass: Array) -> float:
    """Fisher's noncentral hypergeometric probability averaged over the prior, over the central one, in logs."""
    support = np.arange(max(0, n_left - n_y), min(n_x, n_left) + 1)
    if len(support) == 1:
        return 0.0
    log_ways = -(
        gammaln(support + 1.0)
        + gammaln(n_x - support + 1.0)
        + gammaln(n_left - support + 1.0)
        + gammaln(n_y - n_left + support + 1.0)
    )
    log_central = log_ways - np.logaddexp.reduce(log_ways)
    rows = max(1, _BLOCK // len(support))

    def integrand(places: Indices) -> Array:
        values = np.empty(len(places))
        for start in range(0, len(places), rows):
            block = places[start : start + rows]
            terms = log_central + np.multiply.outer(log_odds[block], support - left_x)
            peak = terms.max(axis=1)
            terms -= peak[:, np.newaxis]
            values[start : start + rows] = log_mass[block] - peak - np.log(np.exp(terms, out=terms).sum(axis=1))
        return values

    # The integrand is log-concave: where a coarse look finds it negligible on both sides, it is so beyond.
    coarse = np.arange(0, len(log_odds), _COARSE)
    seen = integrand(coarse)
    relevant = coarse[seen > seen.max() - 2.0 * _NEGLIGIBLE_LOG]
    first, last = max(0, relevant[0] - _COARSE), min(len(log_odds), relevant[-1] + _COARSE + 1)
    ends = (0, len(log_odds) - 1)  # which hold the mass beyond them
    return float(np.logaddexp.reduce(integrand(np.union1d(ends, np.arange(first, last)))))
