"""Samples that look like measurements of bolts."""

import numpy as np
from scipy import stats

from twosample import simulate

N = 50_000


def test_each_column_has_its_law_and_two_columns_go_together_before(halves, assert_has_law):
    pair = simulate.bolts(N, 20_240_711, points=2 * N)
    for rows, length, together in zip(
        (pair.x, pair.y, *halves(pair.points)), (60, 60.25, 60, 60.25), (0.8, 0, 0.8, 0), strict=True
    ):
        laws = [stats.norm(length, 0.5), stats.norm(42, 0.8), stats.norm(33, 1.5), stats.norm(21, 1.2)]
        for column, law in zip(rows.T, laws, strict=True):
            assert_has_law(column, law.cdf)
        found, expected = np.corrcoef(rows.T), np.eye(4)
        expected[1, 2] = expected[2, 1] = together
        np.testing.assert_allclose(found, expected, atol=5 / np.sqrt(N))
