"""The one-dimensional Pólya tree against evaluations by hand, by recursion and by brute-force integration."""

import itertools
import math
from bisect import bisect_right
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import twosample as ts
from twosample.errors import InputError

holmes = ts.baselines.holmes


def beta(a, b):
    return Fraction(math.factorial(a - 1) * math.factorial(b - 1), math.factorial(a + b - 1))


def bf10(weight, left_x, right_x, left_y, right_y):
    """One node by the formula, in exact fractions."""
    separate = beta(weight + left_x, weight + right_x) * beta(weight + left_y, weight + right_y)
    return separate / (beta(weight, weight) * beta(weight + left_x + left_y, weight + right_x + right_y))


def by_node(result):
    return dict(zip(zip(result.levels.tolist(), result.cells.tolist(), strict=True), result.contributions, strict=True))


def test_eight_values_by_hand():
    # Median 0.35, Hazen quartiles -0.1 and 1.15, so the edges are at 0.35 + 1.25 Φ⁻¹(k/8):
    # -1.088, -0.493, -0.048, 0.35, 0.748, 1.193, 1.788. Cells of x: 0 2 3 5, of y: 3 4 6 7.
    result = holmes([-1.2, -0.3, 0.1, 0.8], [0.2, 0.5, 1.5, 2.1])
    expected = {
        (0, 0): bf10(1, 3, 1, 1, 3),
        (1, 0): bf10(4, 1, 2, 0, 1),
        (1, 1): bf10(4, 1, 0, 1, 2),
        (2, 1): bf10(9, 1, 1, 0, 1),
        (2, 2): bf10(9, 0, 1, 1, 0),
    }
    found = by_node(result)
    assert result.depth == 3
    assert found.keys() == expected.keys()
    for node, value in expected.items():
        assert found[node] == pytest.approx(math.log(value), abs=1e-12)
    assert result.log_bf10 == pytest.approx(math.log(math.prod(expected.values())), abs=1e-12)
    assert result.octiles[[1, 3, 5]] == pytest.approx([-0.4931, 0.35, 1.1931], abs=1e-4)


def test_cells_are_closed_on_the_right():
    # Median 1, quartiles 0.75 and 2.25: both ones are in the left half, and 0 is just right of the quarter at -0.012.
    result = holmes([0.0, 1.0], [1.0, 2.0, 3.0], c=2)
    assert by_node(result) == {
        (0, 0): pytest.approx(math.log(bf10(2, 2, 0, 1, 2)), abs=1e-12),
        (1, 0): pytest.approx(math.log(bf10(8, 0, 2, 0, 1)), abs=1e-12),
    }


def log_urn(weight, left, right):
    """Log probability of the halves of a node, one row after the other: each makes its half likelier for the next."""
    separate = itertools.chain(range(left), range(right))
    return sum(math.log(weight + i) for i in separate) - sum(math.log(2 * weight + i) for i in range(left + right))


def by_recursion(values, c, depth, edges, level=0, low=0, high=None):
    """Log marginal likelihood of sorted standardised values in a node, and in everything below it."""
    high = 2**depth if high is None else high
    if level == depth or not values:
        return 0.0
    middle = (low + high) // 2
    split = bisect_right(values, edges[middle])
    left, right, weight = values[:split], values[split:], c * (level + 1) ** 2
    here = log_urn(weight, len(left), len(right))
    below = by_recursion(left, c, depth, edges, level + 1, low, middle)
    return here + below + by_recursion(right, c, depth, edges, level + 1, middle, high)


def hypotheses(x, y, c):
    """Log marginal likelihoods under H0 and H1, with nothing shared with the package."""
    pooled = sorted([*x, *y])
    n = len(pooled)

    def hazen(level):
        place = n * level - 0.5
        rank = math.floor(place)
        return pooled[rank] + (place - rank) * (pooled[min(rank + 1, n - 1)] - pooled[rank])

    median, width = hazen(0.5), hazen(0.75) - hazen(0.25)
    depth = math.floor(math.log2(n))
    edges = {k: median + width * NormalDist().inv_cdf(k / 2**depth) for k in range(1, 2**depth)}
    h0 = by_recursion(pooled, c, depth, edges)
    return h0, sum(by_recursion(sorted(sample), c, depth, edges) for sample in (x, y))


@pytest.mark.parametrize("n_x, n_y, shift, c", [(7, 9, 0.0, 1.0), (30, 21, 1.0, 0.3), (64, 64, 0.2, 5.0)])
def test_subjective_agrees_with_recursion(n_x, n_y, shift, c):
    rng = np.random.default_rng(n_x)
    x, y = rng.normal(size=n_x).tolist(), rng.normal(shift, 1.3, n_y).tolist()
    h0, h1 = hypotheses(x, y, c)
    assert holmes(x, y, c=c).log_bf10 == pytest.approx(h1 - h0, abs=1e-9)


@pytest.mark.parametrize("seed, shift, alike", [(1, 0.0, False), (2, 0.8, False), (3, 5.0, True)])
def test_empirical_maximises_each_hypothesis(seed, shift, alike):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=40).tolist(), rng.exponential(1.0, 25).tolist()
    y = [value + shift for value in y]
    grid = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    both = [hypotheses(x, y, c) for c in grid]
    result = holmes(x, y, variant="empirical")
    assert result.c_h0 == grid[int(np.argmax([h0 for h0, _ in both]))]
    assert result.c_h1 == grid[int(np.argmax([h1 for _, h1 in both]))]
    assert (result.c_h0 == result.c_h1) == alike  # unlike precisions make nodes count that hold one sample only
    expected = max(h1 for _, h1 in both) - max(h0 for h0, _ in both)
    assert result.log_bf10 == pytest.approx(expected, abs=1e-9)


def averaged_over_betas(weight, n_x, n_y, n_left, left_x):
    """Conditional BF10 of a node by a product rule over the log odds of both samples; no use of their difference."""
    t = np.arange(-60.0 / min(weight, 1.5), 60.0 / min(weight, 1.5), 0.08 if weight > 20 else 0.2)
    density = np.exp(weight * t - 2 * weight * np.logaddexp(0, t))
    density /= density.sum()
    log_odds = np.subtract.outer(t, t)
    ways = {
        k: math.comb(n_x, k) * math.comb(n_y, n_left - k) for k in range(max(0, n_left - n_y), min(n_x, n_left) + 1)
    }
    total = sum(ways.values())
    inverse = sum(count / total * np.exp(np.clip((k - left_x) * log_odds, -700, 700)) for k, count in ways.items())
    return math.log(density @ (1 / inverse) @ density)


def test_conditional_by_hand():
    # Ranks of x: 1 3 4 8, of y: 2 5 6 7. Nodes with both samples: ranks 1-8, 1-4, 5-8, 1-2 and 7-8.
    result = holmes([1.0, 3.0, 4.0, 8.0], [2.0, 5.0, 6.0, 7.0], variant="conditional")
    expected = {
        (0, 0): averaged_over_betas(1, 4, 4, 4, 3),
        (1, 0): averaged_over_betas(4, 3, 1, 2, 1),
        (1, 1): averaged_over_betas(4, 1, 3, 2, 0),
        (2, 0): averaged_over_betas(9, 1, 1, 1, 1),
        (2, 3): averaged_over_betas(9, 1, 1, 1, 0),
    }
    assert by_node(result) == {node: pytest.approx(value, abs=1e-9) for node, value in expected.items()}
    assert result.log_bf10 == pytest.approx(sum(expected.values()), abs=1e-9)


@pytest.mark.parametrize("c", [0.3, 1.0, 30.0])
@pytest.mark.parametrize("n_x, n_y", [(3, 3), (20, 20), (30, 6)])
def test_conditional_of_separate_samples(n_x, n_y, c):
    # All of x lies below all of y: only the root holds both samples where the sizes are equal.
    result = holmes(np.arange(n_x), 100.0 + np.arange(n_y), variant="conditional", c=c)
    n_left = (n_x + n_y + 1) // 2
    assert by_node(result)[0, 0] == pytest.approx(averaged_over_betas(c, n_x, n_y, n_left, min(n_x, n_left)), abs=1e-8)
    assert (n_x != n_y) or len(result.levels) == 1


def test_conditional_keeps_equal_values_together():
    # Four of the six values are equal, with mean rank 3.5: they go right together, as 3.5 - 0.5 = 3 is not above 3.
    result = holmes([0.0, 1.0, 1.0], [1.0, 1.0, 2.0], variant="conditional")
    assert by_node(result)[0, 0] == pytest.approx(averaged_over_betas(1, 3, 3, 5, 3), abs=1e-9)


def test_conditional_ignores_monotone_transformations():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=50), rng.normal(0.5, 1, 60)
    plain, cubed = (holmes(f(x), f(y), variant="conditional") for f in (lambda v: v, lambda v: np.exp(3 * v)))
    assert plain.log_bf10 == cubed.log_bf10


@pytest.mark.parametrize("c", [0.001, 1.0, 1000.0])
def test_conditional_prior_adds_up(c):
    """The average over the data of the Bayes factor under H0 is 1: all ways to divide 5 and 4 rows into 6 and 3."""
    from twosample.paper.baselines.holmes import _log_bf10_given_margins, _log_odds_grid

    grid = _log_odds_grid(c, 3, 9)
    expected = sum(
        math.comb(5, k) * math.comb(4, 6 - k) / math.comb(9, 6) * math.exp(_log_bf10_given_margins(5, 4, 6, k, *grid))
        for k in range(2, 6)
    )
    assert expected == pytest.approx(1.0, abs=1e-10)


QUOTED = {0.0: [(0.0008, 5e-5), (0.008, 5e-4), (0.16, 5e-3)], 1.5: [(1.0, 5e-4)] * 3, 3.0: [(1.0, 5e-4)] * 3}
QUOTED_LOG_BF01 = {1.5: -76.0, 3.0: -188.0}


@pytest.mark.parametrize("mean", QUOTED)
def test_quoted_quantiles(mean, assert_quantile):
    rng = np.random.default_rng(int(10 * mean))
    results = [holmes(rng.normal(size=200), rng.normal(mean, 1.0, 200)) for _ in range(400)]
    for (quoted, rounding), level in zip(QUOTED[mean], (0.05, 0.5, 0.95), strict=True):
        assert_quantile([result.prob_h1 for result in results], quoted, rounding, level)
    if mean in QUOTED_LOG_BF01:
        assert_quantile([-result.log_bf10 for result in results], QUOTED_LOG_BF01[mean], 0.5, 0.5)


def test_most_values_equal():
    result = holmes([0.0] * 9 + [1.0], [0.0] * 8 + [2.0, 3.0])
    assert math.isfinite(result.log_bf10)
    assert holmes([1.0, 1.0], [1.0, 1.0]).log_bf10 <= 0.0


@pytest.mark.parametrize("variant", ["subjective", "empirical", "conditional"])
def test_extreme_magnitudes(variant):
    x, y = np.array([1.0, 2.0, 4.0, 4.5]), np.array([3.0, 5.0, 5.5, 9.0, 7.0])
    expected = holmes(x, y, variant=variant).log_bf10
    for magnitude in (1e-300, 1e300):
        assert holmes(x * magnitude, y * magnitude, variant=variant).log_bf10 == pytest.approx(expected, abs=1e-9)


def test_outliers_beyond_the_range_of_floats_in_standard_units():
    result = holmes([0.0, 1e-300, 2e-300, 3e-300, 1e300], [1e-300, 2e-300, 3e-300, -1e300])
    assert math.isfinite(result.log_bf10)


def test_plot_shows_every_node():
    rng = np.random.default_rng(6)
    result = holmes(rng.normal(size=60), rng.normal(0, 3, 60))
    axes = result.plot().axes[0]
    (boxes,) = axes.collections
    assert boxes.get_array().tolist() == result.contributions.tolist()
    for path, level, cell in itertools.islice(zip(boxes.get_paths(), result.levels, result.cells, strict=True), 9):
        low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)
        assert (low[0], high[0]) == (cell / 2**level, (cell + 1) / 2**level)
        assert (low[1], high[1]) == (level + 0.5, level + 1.5)


def test_refusals():
    with pytest.raises(InputError, match="x and y have 2 columns; holmes compares a single one"):
        holmes([[1, 2], [3, 5]], [[1, 2], [4, 4]])
    with pytest.raises(InputError, match="variant: 'bayes' is unknown"):
        holmes([1, 2], [3, 4], variant="bayes")
    with pytest.raises(InputError, match="c: must be a positive"):
        holmes([1, 2], [3, 4], c=0.0)
    with pytest.raises(InputError, match=r"c: must be at least 0\.001"):
        holmes([1, 2], [3, 4], c=1e-5, variant="conditional")
