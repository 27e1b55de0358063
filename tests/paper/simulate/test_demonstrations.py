"""Invented data: samples that look like rings, and like measurements of bolts."""

import numpy as np
import pytest
from scipy import stats

from twosample import simulate

N = 50_000
SEED = 20_240_711


def test_rings_look_like_rings(halves):
    pair = simulate.rings_like(N, SEED, points=2 * N)
    points_x, points_y = halves(pair.points)
    for rows, share in ((pair.x, 0.06), (points_x, 0.06), (pair.y, 0.26), (points_y, 0.26)):
        assert (rows[:, 0] >= 0).all()
        boats = (rows[:, 0] > 0.55) & (np.abs(rows[:, 1]) < 0.3)
        # 4 standard errors of a share, and the few half-chairs in the same region.
        assert boats.mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / N) + 0.005)


def test_each_column_has_its_law_and_two_columns_go_together_before(halves, assert_has_law):
    pair = simulate.bolts(N, SEED, points=2 * N)
    for rows, length, together in zip(
        (pair.x, pair.y, *halves(pair.points)), (60, 60.25, 60, 60.25), (0.8, 0, 0.8, 0), strict=True
    ):
        laws = [stats.norm(length, 0.5), stats.norm(42, 0.8), stats.norm(33, 1.5), stats.norm(21, 1.2)]
        for column, law in zip(rows.T, laws, strict=True):
            assert_has_law(column, law.cdf)
        found, expected = np.corrcoef(rows.T), np.eye(4)
        expected[1, 2] = expected[2, 1] = together
        np.testing.assert_allclose(found, expected, atol=5 / np.sqrt(N))
