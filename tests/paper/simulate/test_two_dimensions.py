"""Gaussians and blobs, against laws of their own columns once they are shifted, turned and scaled back."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from twosample import simulate
from twosample.errors import InputError

N = 50_000
SEED = 20_240_711
STANDARD = stats.norm(0, 1).cdf


@pytest.mark.parametrize(
    ("mean", "epsilon"),
    [
        ((10, 10), 1),
        ((11.5, 11.5), 1),
        ((12, 10), 1),
        ((10, 10), 2),
        ((10, 10), 6),
        ((10, 10), 10),
        ((10, 10), 20),
    ],
)
def test_two_dimensional_gaussians(mean, epsilon, halves, assert_standard_normal):
    pair = simulate.gaussian_2d(N, SEED, mean=mean, epsilon=epsilon, points=2 * N)
    points_x, points_y = halves(pair.points)
    for rows in (pair.x, points_x):
        assert_standard_normal(rows - 10)
    for rows in (pair.y, points_y):
        # A quarter turn exchanges the axes.
        assert_standard_normal((rows - mean) / np.sqrt([1, epsilon]))


def test_angle_turns_the_long_axis(assert_has_law):
    for angle in (0.3, 45.0):
        rows = simulate.gaussian_2d(N, SEED, epsilon=20, angle=angle).y - 10
        axis = np.linalg.eigh(np.cov(rows.T))[1][:, 1]
        # Q maps (1, 0), along which the variance is 20, to (cos, -sin).
        assert abs(axis @ [np.cos(angle), -np.sin(angle)]) == pytest.approx(1.0, abs=1e-3)
        assert_has_law(rows @ [np.cos(angle), -np.sin(angle)] / np.sqrt(20), STANDARD)
        assert_has_law(rows @ [np.sin(angle), np.cos(angle)], STANDARD)


CENTRES = np.array([(10, 10), (10, 30), (30, 10), (30, 30)])


@pytest.mark.parametrize(
    ("epsilon", "noise"), [(1, 0), (2, 0), (6, 0), (10, 0), (20, 0), *((6, k) for k in range(1, 7))]
)
def test_blobs(epsilon, noise, halves, assert_standard_normal):
    pair = simulate.blobs(N, SEED, epsilon=epsilon, noise=noise, points=N)
    assert len(pair.columns) == 2 + noise
    points_x, points_y = halves(pair.points)
    stretch = np.sqrt([1, epsilon] + [1] * noise)
    for rows, shift, sd in ((pair.x, 0, 1), (points_x, 0, 1), (pair.y, -1, stretch), (points_y, -1, stretch)):
        # Rows go through the blobs in turn.
        within = rows.copy()
        within[:, :2] -= np.resize(CENTRES, (len(rows), 2)) + shift
        within /= sd
        assert_standard_normal(within)
        for blob in range(4):
            assert_standard_normal(within[blob::4, :2])


@pytest.mark.parametrize("n", [1, 6, 7, 101, 400])
def test_blobs_are_as_equal_as_possible(n, halves):
    pair = simulate.blobs(n, 0, epsilon=2, points=2 * n)
    points_x, points_y = halves(pair.points)
    for rows, shift in ((pair.x, 0), (points_x, 0), (pair.y, -1), (points_y, -1)):
        # The nearest centre: the middle between two is 7 standard deviations away.
        blob = np.linalg.norm(rows[:, None, :] - shift - CENTRES, axis=2).argmin(axis=1)
        counts = np.bincount(blob, minlength=4)
        assert counts.sum() == n
        assert counts.max() - counts.min() <= 1


def test_blobs_of_the_released_code(assert_standard_normal):
    pair = simulate.blobs(N, SEED, epsilon=6, shift=(0, 0), angle=45)
    within = pair.y - np.resize(CENTRES, (N, 2))
    # Eigenvectors of a covariance with eigenvalues 6 and 1, turned by 45 radians.
    long, short = np.array([np.cos(45), -np.sin(45)]), np.array([np.sin(45), np.cos(45)])
    assert_standard_normal(np.column_stack([within @ long / np.sqrt(6), within @ short]))


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (partial(simulate.gaussian_2d, 10, 0, mean=(0, np.inf)), "mean: must be 2 finite numbers"),
        (partial(simulate.gaussian_2d, 10, 0, epsilon=0), "epsilon: must be a positive"),
        (partial(simulate.gaussian_2d, 10, 0, angle=np.inf), "angle: must be a finite number"),
        (partial(simulate.blobs, 10, 0, epsilon=-2), "epsilon: must be a positive"),
        (partial(simulate.blobs, 10, 0, epsilon=2, shift=-1), "shift: must be 2 finite numbers, not -1"),
        (partial(simulate.blobs, 10, 0, epsilon=2, noise=-1), "noise: must be at least 0, not -1"),
    ],
)
def test_refusals(draw, words):
    with pytest.raises(InputError) as caught:
        draw()
    assert str(caught.value).startswith(words)
