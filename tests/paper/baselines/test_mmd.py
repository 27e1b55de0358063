"""The kernel tests against double loops, enumeration of all permutations, and their own nominal level."""

import importlib
import itertools
import math
import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom

import twosample as ts
from twosample.errors import InputError, InputTypeError
from twosample.features.points import median_heuristic
from twosample.paper.baselines.mmd import _aggregate

mmd = ts.baselines.mmd
mmd_module = importlib.import_module("twosample.paper.baselines.mmd")  # the function has the same name
NULLS = 1000


def draw(seed, n_x, n_y, n_columns, shift=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, n_columns)), shift + rng.exponential(size=(n_y, n_columns))


def kernel(a, b, lengthscale):
    return math.exp(-sum((u - v) ** 2 for u, v in zip(a, b, strict=True)) / (2 * lengthscale**2))


def double_loop(x, y, lengthscale):
    def mean(a, b, different):
        values = [
            kernel(a[i], b[j], lengthscale) for i in range(len(a)) for j in range(len(b)) if i != j or not different
        ]
        return math.fsum(values) / len(values)

    return mean(x, x, True) + mean(y, y, True) - 2 * mean(x, y, False)


def double_loop_of_pairs(x, y, lengthscale):
    n = len(x)
    terms = [
        kernel(x[i], x[j], lengthscale)
        + kernel(y[i], y[j], lengthscale)
        - kernel(x[i], y[j], lengthscale)
        - kernel(y[i], x[j], lengthscale)
        for i, j in itertools.permutations(range(n), 2)
    ]
    return math.fsum(terms) / (n * (n - 1))


@pytest.mark.parametrize("block", [1, 7, 1024])
@pytest.mark.parametrize("n_x, n_y, n_columns", [(2, 2, 1), (13, 9, 1), (9, 20, 3)])
def test_statistic_is_the_double_loop(n_x, n_y, n_columns, block, monkeypatch):
    monkeypatch.setattr(mmd_module, "_BLOCK_ROWS", block)
    x, y = draw(1, n_x, n_y, n_columns)
    lengthscales = [0.1, 1.0, 7.0]
    result = mmd(x, y, lengthscale=lengthscales, scale="raw", permutations=3)
    expected = [double_loop(x.tolist(), y.tolist(), lengthscale) for lengthscale in lengthscales]
    assert result.statistics == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("block", [1, 7, 1024])
@pytest.mark.parametrize("n, n_columns", [(2, 1), (15, 1), (10, 3)])
def test_statistic_of_pairs_is_the_double_loop(n, n_columns, block, monkeypatch):
    monkeypatch.setattr(mmd_module, "_BLOCK_ROWS", block)
    x, y = draw(2, n, n, n_columns)
    lengthscales = [0.1, 1.0, 7.0]
    result = mmd(x, y, lengthscale=lengthscales, scale="raw", permutations=3, paired=True)
    expected = [double_loop_of_pairs(x.tolist(), y.tolist(), lengthscale) for lengthscale in lengthscales]
    assert result.statistics == pytest.approx(expected, abs=1e-13)


def test_large_lengthscales_compare_means_without_loss_of_digits():
    # For ℓ → ∞ the kernel is 1 - d²/2ℓ², and ℓ² MMD² the unbiased estimate of the squared difference of the means.
    x, y = draw(3, 30, 40, 1)
    expected = (x.mean() - y.mean()) ** 2 - x.var(ddof=1) / 30 - y.var(ddof=1) / 40
    for lengthscale in (1e6, 1e12):
        result = mmd(x, y, lengthscale=lengthscale, scale="raw", permutations=99)
        assert result.statistic * lengthscale**2 == pytest.approx(expected, rel=1e-9)
        assert result.pvalue <= 0.05


def test_default_lengthscale_is_the_median_heuristic_in_units_of_the_data():
    x, y = draw(4, 30, 40, 1)
    result = mmd(1000 * x, 1000 * y, permutations=9)
    assert result.lengthscale == pytest.approx(median_heuristic(1000 * np.concatenate([x, y])), rel=1e-9)
    assert result.statistic == pytest.approx(mmd(x, y, lengthscale=result.lengthscale / 1000, permutations=9).statistic)


def test_columns_are_scaled_unless_told_otherwise():
    x, y = draw(5, 30, 40, 2)
    unit = np.array([1000.0, 1.0])
    assert mmd(x * unit, y * unit, permutations=9).statistic == pytest.approx(mmd(x, y, permutations=9).statistic)
    assert mmd(x * unit, y * unit, scale="raw", permutations=9).statistic != pytest.approx(
        mmd(x, y, scale="raw", permutations=9).statistic, rel=1e-3
    )
    given = mmd(x * unit, y * unit, scale=unit, permutations=9).statistic
    assert given == pytest.approx(mmd(x, y, scale="raw", permutations=9).statistic)


# P-values.


def test_pvalue_agrees_with_all_splits():
    x, y = draw(6, 4, 5, 1, shift=1.0)
    pooled = np.concatenate([x, y]).tolist()
    values = []
    for split in itertools.combinations(range(9), 4):
        rest = [i for i in range(9) if i not in split]
        values.append(double_loop([pooled[i] for i in split], [pooled[i] for i in rest], 0.8))
    exact = np.mean(np.array(values) >= values[0] - 1e-12)
    result = mmd(x, y, lengthscale=0.8, scale="raw", permutations=4999)
    low, high = binom.interval(0.9999, 4999, exact)
    assert (1 + low) / 5000 <= result.pvalue <= (1 + high) / 5000


def test_pvalue_of_pairs_agrees_with_all_swaps():
    x, y = draw(7, 7, 7, 1, shift=1.0)
    values = []
    for swaps in itertools.product([False, True], repeat=7):
        first, second = np.where(np.array(swaps)[:, None], y, x), np.where(np.array(swaps)[:, None], x, y)
        values.append(double_loop_of_pairs(first.tolist(), second.tolist(), 0.8))
    exact = np.mean(np.array(values) >= values[0] - 1e-12)
    result = mmd(x, y, lengthscale=0.8, scale="raw", permutations=4999, paired=True)
    low, high = binom.interval(0.9999, 4999, exact)
    assert (1 + low) / 5000 <= result.pvalue <= (1 + high) / 5000


def test_smallest_pvalue_counts_the_data():
    x, y = draw(8, 30, 30, 1, shift=10.0)
    for options in ({}, {"paired": True}, {"aggregate": True}):
        assert mmd(x, y, permutations=99, **options).pvalue == 0.01


def correlated_pairs(rng, n):
    """Pairs with equal distributions whose members are exchangeable and correlated."""
    common = rng.normal(size=(n, 2))
    return common + rng.normal(size=(n, 2)), common + rng.normal(size=(n, 2))


@pytest.mark.parametrize(
    "options, n_x, n_y",
    [
        ({}, 12, 9),
        ({"aggregate": True}, 12, 9),
        ({"paired": True}, 12, 12),
        ({"paired": True, "aggregate": True}, 12, 12),
        pytest.param({"estimator": "linear"}, 300, 250, marks=pytest.mark.slow),
    ],
)
def test_level_is_five_percent(options, n_x, n_y):
    rng = np.random.default_rng(9)
    rejected = 0
    for seed in range(NULLS):
        x, y = correlated_pairs(rng, n_x) if "paired" in options else (rng.normal(size=(n, 2)) for n in (n_x, n_y))
        rejected += mmd(x, y, permutations=99, rng=seed, **options).pvalue <= 0.05
    low, high = binom.interval(0.999, NULLS, 0.05)
    assert low <= rejected <= high


def test_the_pairing_is_used():
    """A small shift within closely correlated pairs is seen when the pairs are known, and only then."""
    rng = np.random.default_rng(10)
    for n, shift, options in ((60, 0.15, {"permutations": 199}), (2000, 0.05, {"estimator": "linear"})):
        x = rng.normal(size=n)
        y = x + shift + 0.1 * rng.normal(size=n)
        assert mmd(x, y, paired=True, **options).pvalue <= 0.01
        assert mmd(x, y, **options).pvalue > 0.05


# Aggregation.


@pytest.mark.parametrize("n_lengthscales", [1, 5])
def test_aggregated_pvalue_is_exact(n_lengthscales):
    """Of the data and B permutations each gets another p-value when it takes the place of the data: 1/(B+1) to 1."""
    simulated = np.random.default_rng(11).normal(size=(n_lengthscales, 40)).cumsum(axis=0)
    pvalues = [_aggregate(np.roll(simulated, -column, axis=1))[0] for column in range(40)]
    assert sorted(pvalues) == pytest.approx(np.arange(1, 41) / 40)


def test_aggregated_pvalue_never_exceeds_its_rank_with_ties():
    simulated = np.random.default_rng(12).integers(0, 4, size=(3, 40)).astype(float)
    pvalues = np.array([_aggregate(np.roll(simulated, -column, axis=1))[0] for column in range(40)])
    for level in np.arange(1, 41) / 40:
        assert np.mean(pvalues <= level + 1e-12) <= level + 1e-12


def test_pvalues_of_each_lengthscale_are_those_of_the_single_tests():
    x, y = draw(13, 20, 25, 2, shift=0.2)
    several = mmd(x, y, lengthscale=[0.3, 3.0], permutations=199)
    for index, lengthscale in enumerate([0.3, 3.0]):
        single = mmd(x, y, lengthscale=lengthscale, permutations=199)
        assert several.pvalues[index] == single.pvalue
        assert several.statistics[index] == pytest.approx(single.statistic, rel=1e-12)
    assert several.pvalues[several.lengthscales == several.lengthscale] == several.pvalues.min()
    assert several.pvalue >= several.pvalues.min()


def test_aggregate_adds_multiples_of_one_lengthscale():
    x, y = draw(14, 20, 25, 1)
    alone, several = (mmd(x, y, aggregate=aggregate, permutations=9) for aggregate in (False, True))
    assert several.lengthscales == pytest.approx(alone.lengthscale * 2.0 ** np.arange(-5, 3))
    assert mmd(x, y, lengthscale=2.0, aggregate=True, permutations=9).lengthscales == pytest.approx(
        2.0 ** np.arange(-4, 4)
    )
    assert len(mmd(x, y, lengthscale=[1.0, 2.0], aggregate=True, permutations=9).lengthscales) == 2


def test_aggregation_finds_differences_at_small_scales():
    rng = np.random.default_rng(15)
    found = {False: 0, True: 0}
    for seed in range(20):
        comb = rng.integers(0, 16, size=(150, 1)) + rng.normal(0.5, 0.12, size=(150, 1))
        flat = rng.uniform(0, 16, size=(150, 1))
        for aggregate in found:
            found[aggregate] += mmd(comb, flat, aggregate=aggregate, permutations=99, rng=seed).pvalue <= 0.05
    assert found[True] >= 15
    assert found[False] <= 5


# Large samples.


def test_memory_is_for_blocks(monkeypatch):
    monkeypatch.setattr(mmd_module, "_BLOCK_ROWS", 256)
    x, y = draw(16, 2000, 2000, 2)
    tracemalloc.start()
    mmd(x, y, permutations=9)
    mmd(x, y, permutations=9, paired=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A 4,000 × 4,000 matrix has 128 MB; the median heuristic looks at 1,024 rows.
    assert peak < 45e6


def test_linear_statistic_is_unbiased():
    x, y = draw(17, 120, 120, 1, shift=0.0)
    exact = mmd(x, y, permutations=1).statistic
    values = [mmd(x, y, estimator="linear", rng=seed).statistic for seed in range(600)]
    assert abs(np.mean(values) - exact) < 4 * np.std(values) / math.sqrt(600)


def test_linear_estimator_finds_differences_in_large_samples():
    rng = np.random.default_rng(18)
    x, y = rng.normal(size=20_000), rng.normal(0, 1.2, 30_000)
    result = mmd(x, y, estimator="linear")
    assert result.pvalue < 1e-4
    assert (result.permutations, result.estimator, result.n_y) == (0, "linear", 30_000)
    pairs = mmd(x, y[:20_000], estimator="linear", paired=True)
    assert pairs.pvalue < 1e-4


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"aggregate": True}, {"estimator": "linear"}])
def test_constant_samples_do_not_differ(options):
    assert mmd([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], permutations=19, **options).pvalue == 1.0


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"estimator": "linear"}])
def test_rounding_errors_are_no_differences(options):
    """Where all kernel values vanish there is nothing to compare, and permutations must not be told apart."""
    x, y = draw(21, 40, 40, 10)
    result = mmd(x, y, lengthscale=1e-3, permutations=99, **options)
    assert (result.statistic, result.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_extreme_magnitudes(magnitude):
    x, y = draw(19, 12, 14, 1)
    expected = mmd(x, y, permutations=19)
    found = mmd(x * magnitude, y * magnitude, permutations=19)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert found.pvalue == expected.pvalue


def test_refusals():
    x, y = draw(20, 5, 6, 1)
    for options, message in [
        ({"estimator": "cubic"}, "estimator: 'cubic' is unknown"),
        ({"estimator": "linear", "aggregate": True}, "estimator: 'linear' takes one lengthscale"),
        ({"lengthscale": "mean"}, "lengthscale: 'mean' is unknown"),
        ({"lengthscale": [1.0, 0.0]}, "lengthscale: must be positive"),
        ({"permutations": 0}, "permutations: must be at least 1"),
        ({"paired": True}, "x has 5 rows and y has 6"),
        ({"scale": "unit"}, "scale must be"),
    ]:
        with pytest.raises(InputError, match=message):
            mmd(x, y, **options)
    with pytest.raises(InputError, match="scale: squares of these values"):
        mmd(x * 1e200, y * 1e200, scale="raw")
    with pytest.raises(InputTypeError, match="permutations: expected a whole number"):
        mmd(x, y, permutations="many")
