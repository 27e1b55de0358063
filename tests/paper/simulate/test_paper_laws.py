"""Laws of one column, or more of the same, against SciPy's; Gaussians and blobs, shifted, turned and scaled back."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from twosample import simulate
from twosample.errors import InputError

N = 50_000
SEED = 20_240_711
STANDARD = stats.norm(0, 1).cdf


def mixture_cdf(first, second, variance):
    laws = [stats.norm(mean, np.sqrt(variance)) for mean in (first, second)]
    return lambda at: (laws[0].cdf(at) + laws[1].cdf(at)) / 2


GRID = mixture_cdf(0, 4, 1)
ONE_DIMENSIONAL = {
    # The paper's notation, with variances: how to draw it, and the laws of x and y.
    "N(0, 1)": (simulate.gaussian, STANDARD, STANDARD),
    "N(0, 4)": (partial(simulate.gaussian, sd=2), STANDARD, stats.norm(0, 2).cdf),
    "N(0, 9)": (partial(simulate.gaussian, sd=3), STANDARD, stats.norm(0, 3).cdf),
    "N(1, 1)": (partial(simulate.gaussian, mean=1), STANDARD, stats.norm(1, 1).cdf),
    "N(1.5, 1)": (partial(simulate.gaussian, mean=1.5), STANDARD, stats.norm(1.5, 1).cdf),
    "N(2, 1)": (partial(simulate.gaussian, mean=2), STANDARD, stats.norm(2, 1).cdf),
    "N(3, 1)": (partial(simulate.gaussian, mean=3), STANDARD, stats.norm(3, 1).cdf),
    **{
        f"Laplace(0, {scale:.3g}){kind}": (
            partial(simulate.laplace, scale=scale, correlation=correlation),
            STANDARD,
            stats.laplace(0, scale).cdf,
        )
        for scale in (1.5, 0.4, np.sqrt(0.5))
        for kind, correlation in (("", 0.0), (", pairs", 0.5))
    },
    **{
        f"0.5 N({first}, {variance}) + 0.5 N({second}, {variance})": (
            partial(simulate.mixture, means=(first, second), sd=np.sqrt(variance)),
            GRID,
            mixture_cdf(first, second, variance),
        )
        for first, second, variance in (
            (0, 4, 1),
            (0, 4, 4),
            (0, 8, 1),
            (0, 8, 4),
            (2, 6, 1),
            (2, 8, 4),
            (-4, 8, 1),
            (-4, 8, 4),
        )
    },
}


@pytest.mark.parametrize("name", ONE_DIMENSIONAL)
def test_one_dimensional_laws(name, halves, assert_has_law):
    draw, law_x, law_y = ONE_DIMENSIONAL[name]
    pair = draw(N, SEED, points=2 * N)
    assert pair.names[1] == name.removesuffix(", pairs")
    points_x, points_y = halves(pair.points)
    for rows, law in ((pair.x, law_x), (points_x, law_x), (pair.y, law_y), (points_y, law_y)):
        assert_has_law(rows[:, 0], law)


def test_one_dimensional_laws_are_told_apart(pvalue, least_pvalue):
    # The checks above would notice a spread that is 3 % off, and a mean that is off by 0.03.
    for options in ({"sd": 1.03}, {"mean": 0.03}):
        assert pvalue(simulate.gaussian(N, SEED, **options).y[:, 0], STANDARD) < least_pvalue


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_null_in_more_dimensions(dimension, halves, assert_standard_normal):
    pair = simulate.gaussian(N, SEED, dimension=dimension, points=2 * N)
    for rows in (pair.x, pair.y, *halves(pair.points)):
        assert rows.shape == (N, dimension)
        assert_standard_normal(rows)


def test_shift_of_every_column(assert_standard_normal):
    pair = simulate.gaussian(N, SEED, mean=-2.0, sd=0.5, dimension=3)
    assert_standard_normal((pair.y + 2.0) / 0.5)


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 1.0])
def test_latent_correlation_of_laplace_pairs(correlation, assert_standard_normal):
    pair = simulate.laplace(N, SEED, scale=0.4, correlation=correlation)
    latent = stats.norm.ppf(stats.laplace(0, 0.4).cdf(pair.y[:, 0]))
    # The standard error of a normal correlation r: (1 - r²) / √n.
    error = (1 - correlation**2) / np.sqrt(N)
    assert np.corrcoef(pair.x[:, 0], latent)[0, 1] == pytest.approx(correlation, abs=4 * error + 1e-6)
    if abs(correlation) < 1:
        assert_standard_normal(
            np.column_stack([pair.x[:, 0], (latent - correlation * pair.x[:, 0]) / np.sqrt(1 - correlation**2)])
        )


def test_laplace_tails_are_exact():
    # x = y in probability when the copula is degenerate, however far out.
    pair = simulate.laplace(N, SEED, scale=1.5, correlation=1.0)
    assert_allclose(pair.y, stats.laplace(0, 1.5).isf(stats.norm.sf(pair.x)), rtol=1e-9)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (partial(simulate.gaussian, 10, 0, sd=0), "sd: must be a positive"),
        (partial(simulate.gaussian, 10, 0, mean=np.nan), "mean: must be a finite number, not nan"),
        (partial(simulate.gaussian, 10, 0, mean="high"), "mean: must be a finite number, not 'high'"),
        (partial(simulate.gaussian, 10, 0, dimension=0), "dimension: must be at least 1"),
        (partial(simulate.laplace, 10, 0, scale=-1), "scale: must be a positive"),
        (partial(simulate.laplace, 10, 0, scale=1, correlation=1.1), "correlation: must lie between -1 and 1, not 1.1"),
        (partial(simulate.mixture, 10, 0, means=(1, 2, 3)), "means: must be 2 finite numbers, not (1, 2, 3)"),
        (partial(simulate.mixture, 10, 0, means=((1,), (2, 3))), "means: must be 2 finite numbers"),
        (partial(simulate.mixture, 10, 0, sd=np.inf), "sd: must be a positive"),
    ],
)
def test_refusals(draw, words):
    with pytest.raises(InputError) as caught:
        draw()
    assert str(caught.value).startswith(words)


# ---- two columns


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
def test_refusals_in_two_dimensions(draw, words):
    with pytest.raises(InputError) as caught:
        draw()
    assert str(caught.value).startswith(words)
