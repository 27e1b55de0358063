"""Comparison with quantiles that were found by an independent simulation."""

import pytest
from scipy.stats import betabinom

# Of 20 comparisons one fails by chance in one of 2,500 choices of the seeds.
CONFIDENCE = 0.99998
QUOTED_RUNS = 100


@pytest.fixture(scope="session")
def assert_quantile():
    """Refuse values whose share below a quantile quoted from 100 runs is not explained by chance.

    The share of the population below the k-th of n order statistics is Beta(k, n + 1 - k), so the number of new values
    below it is beta-binomial. The quantile may be anything that is rounded to what is quoted.
    """

    def assert_quantile(values, quoted, rounding, level):
        rank = round(level * QUOTED_RUNS)
        low, high = betabinom.interval(CONFIDENCE, len(values), rank, QUOTED_RUNS + 1 - rank)
        assert sum(value <= quoted + rounding for value in values) >= low
        assert sum(value < quoted - rounding for value in values) <= high

    return assert_quantile
