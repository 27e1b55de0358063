"""The multivariate Pólya tree against its urn form, evaluated row by row."""

import itertools
import math
import tracemalloc
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom, multivariate_normal

import twosample as ts
from twosample.errors import InputError, InputTypeError

chen_hanson = ts.baselines.chen_hanson
GRID = [math.exp(14 * (i - 1) / 19 - 7) for i in range(1, 21)]


def draw(seed, n_x, n_y, n_columns, shift=0.0):
    rng = np.random.default_rng(seed)
    mix = np.eye(n_columns) + 0.4 * rng.normal(size=(n_columns, n_columns))
    return rng.normal(size=(n_x, n_columns)) @ mix, shift + rng.standard_t(4, size=(n_y, n_columns)) @ mix


def log_urn(rows, fitted_to, depth, c):
    """Log likelihood of the rows one after the other: each makes the cells that it falls into likelier for the next."""
    n_columns = rows.shape[1]
    mean, covariance = fitted_to.mean(axis=0), np.cov(fitted_to.T, bias=True).reshape(n_columns, n_columns)
    z = np.linalg.solve(np.linalg.cholesky(covariance), (rows - mean).T).T
    total = float(multivariate_normal(mean, covariance).logpdf(rows).sum())
    seen = Counter()
    for row in z:
        place = [NormalDist().cdf(value) for value in row]
        parent = ()
        for level in range(1, depth + 1):
            child = (level, *(math.floor(2**level * p) for p in place))
            weight = c * level**2
            probability = (weight + seen[child]) / (2**n_columns * weight + seen[parent])
            total += math.log(probability) + n_columns * math.log(2)
            seen[parent] += 1
            parent = child
        seen[parent] += 1
    return total


def over_c(rows, fitted_to, depth, c):
    if not isinstance(c, str):
        return log_urn(rows, fitted_to, depth, c)
    values = [log_urn(rows, fitted_to, depth, value) for value in GRID]
    return max(values) if c == "max" else np.logaddexp.reduce(values) - math.log(20)


@pytest.mark.parametrize("c", [0.02, 1.0, 900.0, "max", "mean"])
@pytest.mark.parametrize("centering", ["own", "pooled"])
@pytest.mark.parametrize("n_columns, depth", [(1, None), (1, 11), (3, None), (3, 3), (10, None)])
def test_agrees_with_the_urn_form(n_columns, depth, centering, c):
    x, y = draw(n_columns, 15, 21, n_columns, shift=0.5)
    pooled = np.concatenate([x, y])
    levels = 6 if depth is None else depth  # ⌈log2 36⌉
    separate = [over_c(part, part if centering == "own" else pooled, levels, c) for part in (x, y)]
    expected = sum(separate) - over_c(pooled, pooled, levels, c)
    result = chen_hanson(x, y, c=c, centering=centering, depth=depth)
    assert result.depth == levels
    assert result.log_bf10 == pytest.approx(expected, abs=1e-10)


def test_reports_the_precision_of_each_tree():
    x, y = draw(4, 40, 30, 2)
    result = chen_hanson(x, y)
    pooled = np.concatenate([x, y])
    for found, rows in ((result.c_x, x), (result.c_y, y), (result.c_pooled, pooled)):
        assert found == pytest.approx(max(GRID, key=lambda c: log_urn(rows, rows, result.depth, c)), rel=1e-12)
    assert chen_hanson(x, y, c="mean").c_x is None
    assert chen_hanson(x, y, c=3).c_x == 3.0


QUOTED = {
    1: [(0.515, 5e-4), (0.673, 5e-4), (0.958, 5e-4)],
    3: [(0.812, 5e-4), (0.984, 5e-4), (0.9997, 5e-5)],
    5: [(0.996, 5e-4), (0.9999, 5e-5), (1.0, 5e-5)],
}


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", QUOTED)
def test_quoted_quantiles_of_nulls(n_columns, assert_quantile):
    rng = np.random.default_rng(n_columns)
    values = [
        chen_hanson(rng.normal(size=(100, n_columns)), rng.normal(size=(100, n_columns))).prob_h1 for _ in range(400)
    ]
    for (quoted, rounding), level in zip(QUOTED[n_columns], (0.05, 0.5, 0.95), strict=True):
        assert_quantile(values, quoted, rounding, level)


@pytest.mark.parametrize("n_columns", [10, 80])
def test_memory_is_for_occupied_cells_only(n_columns):
    # 2^(10·8) cells would be 10^24; a table of the first level alone would have 2^80 entries in the second case.
    x, y = draw(n_columns, 150, 100, n_columns)
    tracemalloc.start()
    result = chen_hanson(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert math.isfinite(result.log_bf10)
    assert peak < 4e6


def test_a_value_in_the_middle_belongs_to_the_right_half():
    x, y = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), np.array([[-3.0], [0.0], [3.0]])
    pooled = np.concatenate([x, y])
    expected = log_urn(x, x, 3, 1.0) + log_urn(y, y, 3, 1.0) - log_urn(pooled, pooled, 3, 1.0)
    assert chen_hanson(x, y, c=1.0).log_bf10 == pytest.approx(expected, abs=1e-10)


def test_values_far_in_either_tail():
    """The upper tail is as fine as the lower one: reflecting the data changes nothing."""
    x = np.concatenate([np.linspace(-1, 1, 60), [40.0, 60.0]])
    y = np.concatenate([np.linspace(-1.2, 1.1, 50), [50.0]])
    result = chen_hanson(x, y, c=1.0, depth=50, centering="pooled")
    assert math.isfinite(result.log_bf10)
    assert chen_hanson(-x, -y, c=1.0, depth=50, centering="pooled").log_bf10 == pytest.approx(result.log_bf10, abs=1e-9)


@pytest.mark.filterwarnings("ignore:x and y hold the same rows")
def test_ties_across_samples_end_at_the_depth():
    x = np.array([0.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    shallow, deep = (chen_hanson(x, x, c=1.0, centering="pooled", depth=depth).log_bf10 for depth in (4, 8))
    assert deep < shallow < 0.0  # equal rows fall into the same cells at every level, which speaks for H0


def test_pvalue_agrees_with_all_splits():
    x, y = np.array([0.3, 1.1, -0.4, 0.8]), np.array([1.9, 2.2, 0.9, 3.0])
    pooled = np.concatenate([x, y])
    splits = list(itertools.combinations(range(8), 4))

    def log_bf10(split):
        rest = [i for i in range(8) if i not in split]
        return chen_hanson(pooled[list(split)], pooled[rest]).log_bf10

    observed = log_bf10((0, 1, 2, 3))
    exact = np.mean([log_bf10(split) >= observed - 1e-9 for split in splits])
    result = chen_hanson(x, y, permutations=999, rng=3)
    low, high = binom.interval(0.9999, 999, exact)
    assert (1 + low) / 1000 <= result.pvalue <= (1 + high) / 1000
    assert result.permutations == 999


@pytest.mark.slow
def test_pvalue_is_not_biased_as_the_bayes_factor_is():
    rng = np.random.default_rng(8)
    nulls = [chen_hanson(rng.normal(size=(20, 4)), rng.normal(size=(20, 4)), permutations=19) for _ in range(200)]
    assert np.mean([result.prob_h1 > 0.5 for result in nulls]) > 0.9
    low, high = binom.interval(0.9999, 200, 0.05)
    assert low <= sum(result.pvalue <= 0.05 for result in nulls) <= high


def test_permutations_that_cannot_be_fitted_count_against_the_data():
    # Some splits leave a sample constant, whose likelihood is infinite.
    # All others are like the data: 1 and 3 are in different samples.
    result = chen_hanson([0.0, 0.0, 1.0], [0.0, 0.0, 3.0], permutations=99)
    assert result.pvalue == 1.0
    assert math.isfinite(result.log_bf10)


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_extreme_magnitudes(magnitude):
    x, y = draw(9, 12, 14, 2)
    expected = chen_hanson(x, y).log_bf10
    unit = np.array([magnitude, 1.0])
    assert chen_hanson(x * unit, y * unit).log_bf10 == pytest.approx(expected, abs=1e-8)


def test_refusals():
    x, y = draw(1, 10, 12, 3)
    with pytest.raises(InputError, match=r"x: 3 rows and 3 columns; .* needs more rows than columns"):
        chen_hanson(x[:3], y)
    collinear_x, collinear_y = (np.column_stack([part, part @ [1.0, 2.0, -1.0]]) for part in (x, y))
    with pytest.raises(InputError, match="x and y: column '3' is constant or a linear combination"):
        chen_hanson(collinear_x, collinear_y)
    flat = x.copy()
    flat[:, 1] = 2.0
    with pytest.raises(InputError, match="x: column '1' is constant"):
        chen_hanson(flat, y)
    assert math.isfinite(chen_hanson(flat, y, centering="pooled").log_bf10)
    for options, message in [
        ({"c": "best"}, "c: 'best' is unknown"),
        ({"c": -1.0}, "c: must be a positive"),
        ({"centering": "both"}, "centering: 'both' is unknown"),
        ({"depth": 0}, "depth: must be at least 1"),
        ({"depth": 51}, "depth: must be at most 50"),
        ({"permutations": -1}, "permutations: must be at least 0"),
    ]:
        with pytest.raises(InputError, match=message):
            chen_hanson(x, y, **options)
    with pytest.raises(InputTypeError, match="permutations: expected a whole number"):
        chen_hanson(x, y, permutations=9.5)
    with pytest.raises(InputTypeError, match="rng: expected"):
        chen_hanson(x, y, rng="0")
