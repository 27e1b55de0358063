"""Checks of large samples against a law, with fixed seeds."""

import numpy as np
import pytest
from scipy import stats


@pytest.fixture(scope="session")
def least_pvalue():
    """Under the right law one check in 10,000 would fail; but seeds are fixed, so a check fails always or never."""
    return 1e-4


@pytest.fixture(scope="session")
def halves():
    """Split points into those of the law of x and those of the law of y."""

    def halves(points):
        middle = (len(points) + 1) // 2
        return points[:middle], points[middle:]

    return halves


@pytest.fixture(scope="session")
def pvalue():
    """Of two Kolmogorov–Smirnov tests, one of them folded at the median, which is sharper for spreads."""

    def pvalue(values, cdf):
        probability = cdf(values)
        return min(stats.kstest(kind, "uniform").pvalue for kind in (probability, np.abs(2 * probability - 1)))

    return pvalue


@pytest.fixture(scope="session")
def assert_has_law(pvalue, least_pvalue):
    """Refuse values that are not explained by a law."""

    def assert_has_law(values, cdf):
        assert pvalue(values, cdf) > least_pvalue

    return assert_has_law


@pytest.fixture(scope="session")
def assert_standard_normal(assert_has_law, assert_uncorrelated):
    """Refuse rows whose columns are not standard normal, or are correlated."""

    def assert_standard_normal(rows):
        for column in rows.T:
            assert_has_law(column, stats.norm(0, 1).cdf)
        for last in range(1, rows.shape[1]):
            assert_uncorrelated(rows[:, :last], rows[:, last:])

    return assert_standard_normal


@pytest.fixture(scope="session")
def assert_uncorrelated():
    """Refuse two samples whose columns are correlated."""

    def assert_uncorrelated(first, second):
        count = min(len(first), len(second))
        correlations = np.corrcoef(first[:count], second[:count], rowvar=False)[: first.shape[1], first.shape[1] :]
        # The standard error of a correlation of 0 is 1 / √n; beyond 4.5 of them lie 7 of a million.
        assert np.abs(correlations).max() < 4.5 / np.sqrt(count)

    return assert_uncorrelated
