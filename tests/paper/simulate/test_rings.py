"""Samples that look like rings."""

import numpy as np
import pytest

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
