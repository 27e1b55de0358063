"""Tests of the generators: every law against SciPy's or a formula of its own, on large samples with fixed seeds."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import twosample as ts
from twosample import simulate
from twosample.errors import InputError, InputTypeError

N = 50_000
SEED = 20_240_711
# Under the right law one check in 10,000 would fail; but seeds are fixed, so a check fails always or never.
LEAST_PVALUE = 1e-4
STANDARD = stats.norm(0, 1).cdf

GENERATORS = {
    "gaussian": simulate.gaussian,
    "gaussian in 3 dimensions": partial(simulate.gaussian, dimension=3),
    "laplace": partial(simulate.laplace, scale=1.5),
    "laplace pairs": partial(simulate.laplace, scale=1.5, correlation=0.5),
    "mixture": partial(simulate.mixture, means=(0, 8), sd=2),
    "gaussian_2d": partial(simulate.gaussian_2d, mean=(12, 10)),
    "blobs": partial(simulate.blobs, epsilon=2),
    "blobs with noise": partial(simulate.blobs, epsilon=6, noise=2),
    "correlated_gaussian": lambda n, rng, **options: simulate.correlated_gaussian(
        n, rng, *simulate.hub_network(7), **options
    ),
    "rings_like": simulate.rings_like,
}


@pytest.fixture(params=GENERATORS.values(), ids=GENERATORS.keys())
def generate(request):
    return request.param


def halves(points):
    middle = (len(points) + 1) // 2
    return points[:middle], points[middle:]


def pvalue(values, cdf):
    """Of two Kolmogorov–Smirnov tests, one of them folded at the median, which is sharper for spreads."""
    probability = cdf(values)
    return min(stats.kstest(kind, "uniform").pvalue for kind in (probability, np.abs(2 * probability - 1)))


def assert_has_law(values, cdf):
    assert pvalue(values, cdf) > LEAST_PVALUE


def assert_standard_normal(rows):
    """Columns standard normal, and uncorrelated."""
    for column in rows.T:
        assert_has_law(column, STANDARD)
    for last in range(1, rows.shape[1]):
        assert_uncorrelated(rows[:, :last], rows[:, last:])


def assert_uncorrelated(first, second):
    count = min(len(first), len(second))
    correlations = np.corrcoef(first[:count], second[:count], rowvar=False)[: first.shape[1], first.shape[1] :]
    # The standard error of a correlation of 0 is 1 / √n; beyond 4.5 of them lie 7 of a million.
    assert np.abs(correlations).max() < 4.5 / np.sqrt(count)


# ---- what all have in common


def test_shapes_and_defaults(generate):
    pair = generate(30, 0)
    dimension = len(pair.columns)
    assert pair.x.shape == pair.y.shape == (30, dimension)
    assert pair.points.shape == (40, dimension)
    assert len(set(pair.columns)) == dimension
    assert all(array.dtype == np.float64 and np.isfinite(array).all() for array in (pair.x, pair.y, pair.points))


def test_seeds_of_every_kind(generate):
    first = generate(10, 5)
    for rng in (np.int64(5), np.random.SeedSequence(5), np.random.default_rng(5)):
        other = generate(10, rng)
        for field in ("x", "y", "points"):
            assert_array_equal(getattr(first, field), getattr(other, field))
    assert not np.isin(first.x, generate(10, 6).x).any()


def test_a_generator_goes_on(generate):
    rng = np.random.default_rng(5)
    assert not np.isin(generate(10, rng).x, generate(10, rng).x).any()


def test_number_of_points_leaves_samples_as_they_are(generate):
    reference = generate(15, 3)
    for count in (0, 1, 7, 100):
        pair = generate(15, 3, points=count)
        assert_array_equal(pair.x, reference.x)
        assert_array_equal(pair.y, reference.y)
        assert pair.points.shape == (count, reference.x.shape[1])


def test_points_are_fresh(generate):
    pair = generate(400, 1, points=800)
    samples = np.concatenate([pair.x, pair.y])
    assert not np.isin(pair.points, samples).any()
    assert len(np.unique(pair.points, axis=0)) == 800


@pytest.mark.parametrize("name", ["gaussian", "laplace", "laplace pairs", "mixture", "gaussian_2d", "rings_like"])
def test_points_do_not_follow_the_samples(name):
    pair = GENERATORS[name](N // 2, SEED, points=N)
    points_x, points_y = halves(pair.points)
    for sample in (pair.x, pair.y):
        assert_uncorrelated(sample, points_x)
        assert_uncorrelated(sample, points_y)
    assert_uncorrelated(points_x, points_y)


def test_first_law_gives_the_odd_point():
    points = simulate.gaussian(5, 0, mean=1000, points=7).points[:, 0]
    assert_array_equal(points > 500, [False] * 4 + [True] * 3)


@pytest.mark.parametrize("name", [name for name in GENERATORS if name != "laplace pairs"])
def test_samples_are_independent(name):
    pair = GENERATORS[name](N, SEED)
    x, y = pair.x, pair.y
    if name.startswith("blobs"):  # rows share a blob, but nothing within it
        x, y = (np.concatenate([rows[start::4] - rows[start::4].mean(axis=0) for start in range(4)]) for rows in (x, y))
    assert_uncorrelated(x, y)


def test_samples_can_be_tested():
    pair = simulate.blobs(400, 0, epsilon=6)
    assert ts.test(pair.x, pair.y, points=pair.points).prob_h1 > 0.99
    null = simulate.blobs(400, 0, epsilon=1, shift=(0, 0))
    assert ts.test(null.x, null.y, points=null.points).prob_h1 < 0.5


def test_is_public():
    assert "simulate" in ts.__all__
    assert ts.simulate is simulate


# ---- one dimension


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
def test_one_dimensional_laws(name):
    draw, law_x, law_y = ONE_DIMENSIONAL[name]
    pair = draw(N, SEED, points=2 * N)
    assert pair.names[1] == name.removesuffix(", pairs")
    points_x, points_y = halves(pair.points)
    for rows, law in ((pair.x, law_x), (points_x, law_x), (pair.y, law_y), (points_y, law_y)):
        assert_has_law(rows[:, 0], law)


def test_one_dimensional_laws_are_told_apart():
    # The checks above would notice a spread that is 3 % off, and a mean that is off by 0.03.
    for options in ({"sd": 1.03}, {"mean": 0.03}):
        assert pvalue(simulate.gaussian(N, SEED, **options).y[:, 0], STANDARD) < LEAST_PVALUE


@pytest.mark.parametrize("dimension", [1, 3, 5])
def test_null_in_more_dimensions(dimension):
    pair = simulate.gaussian(N, SEED, dimension=dimension, points=2 * N)
    for rows in (pair.x, pair.y, *halves(pair.points)):
        assert rows.shape == (N, dimension)
        assert_standard_normal(rows)


def test_shift_of_every_column():
    pair = simulate.gaussian(N, SEED, mean=-2.0, sd=0.5, dimension=3)
    assert_standard_normal((pair.y + 2.0) / 0.5)


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 1.0])
def test_latent_correlation_of_laplace_pairs(correlation):
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


# ---- two dimensions and noise


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
def test_two_dimensional_gaussians(mean, epsilon):
    pair = simulate.gaussian_2d(N, SEED, mean=mean, epsilon=epsilon, points=2 * N)
    points_x, points_y = halves(pair.points)
    for rows in (pair.x, points_x):
        assert_standard_normal(rows - 10)
    for rows in (pair.y, points_y):
        # A quarter turn exchanges the axes.
        assert_standard_normal((rows - mean) / np.sqrt([1, epsilon]))


def test_angle_turns_the_long_axis():
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
def test_blobs(epsilon, noise):
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
def test_blobs_are_as_equal_as_possible(n):
    pair = simulate.blobs(n, 0, epsilon=2, points=2 * n)
    points_x, points_y = halves(pair.points)
    for rows, shift in ((pair.x, 0), (points_x, 0), (pair.y, -1), (points_y, -1)):
        # The nearest centre: the middle between two is 7 standard deviations away.
        blob = np.linalg.norm(rows[:, None, :] - shift - CENTRES, axis=2).argmin(axis=1)
        counts = np.bincount(blob, minlength=4)
        assert counts.sum() == n
        assert counts.max() - counts.min() <= 1


def test_blobs_of_the_released_code():
    pair = simulate.blobs(N, SEED, epsilon=6, shift=(0, 0), angle=45)
    within = pair.y - np.resize(CENTRES, (N, 2))
    # Eigenvectors of a covariance with eigenvalues 6 and 1, turned by 45 radians.
    long, short = np.array([np.cos(45), -np.sin(45)]), np.array([np.sin(45), np.cos(45)])
    assert_standard_normal(np.column_stack([within @ long / np.sqrt(6), within @ short]))


# ---- networks


def partial_correlations(covariance):
    """The concentration matrix scaled to a unit diagonal, with what is only rounding set to 0."""
    concentration = np.linalg.inv(covariance)
    sd = np.sqrt(np.diag(concentration))
    scaled = concentration / np.outer(sd, sd)
    return np.where(np.abs(scaled) > 1e-9, scaled, 0.0)


def links_of(covariance):
    rows, columns = np.nonzero(np.triu(partial_correlations(covariance), 1))
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def check_covariance(covariance, p):
    assert covariance.shape == (p, p)
    assert_array_equal(np.diag(covariance), np.ones(p))
    assert_array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance)[0] > 0


@pytest.mark.parametrize(
    ("p", "hubs", "differing", "blocks"),
    [
        (7, 3, 1, [range(0, 2), range(2, 4), range(4, 7)]),
        (9, 3, 1, [range(0, 3), range(3, 6), range(6, 9)]),
        (11, 3, 1, [range(0, 3), range(3, 7), range(7, 11)]),
        (15, 3, 1, [range(0, 5), range(5, 10), range(10, 15)]),
        (11, 4, 2, [range(0, 2), range(2, 5), range(5, 8), range(8, 11)]),
        (6, 1, 1, [range(0, 6)]),
        (6, 2, 0, [range(0, 3), range(3, 6)]),
        (8, 4, 4, [range(0, 2), range(2, 4), range(4, 6), range(6, 8)]),
    ],
)
def test_hub_networks(p, hubs, differing, blocks):
    for which, covariance in enumerate(simulate.hub_network(p, hubs=hubs, differing=differing)):
        check_covariance(covariance, p)
        if which == 0:
            weights = [0.0 if block < differing else 0.9 for block in range(hubs)]
        else:
            weights = [0.8 if block < differing else 0.9 for block in range(hubs)]
        # A hub of weight w with m others and itself has least eigenvalue w (1 - √(1 + 4 m)) / 2.
        ridge = 0.1 + max(
            weight * (np.sqrt(4 * len(nodes) - 3) - 1) / 2 for weight, nodes in zip(weights, blocks, strict=True)
        )
        expected = np.eye(p)
        for weight, nodes in zip(weights, blocks, strict=True):
            for node in nodes[1:]:
                expected[nodes[0], node] = expected[node, nodes[0]] = weight / np.sqrt((weight + ridge) * ridge)
        assert_allclose(partial_correlations(covariance), expected, atol=1e-12)


@pytest.mark.parametrize("p", [3, 4, 5, 7, 9, 11, 15, 40])
def test_random_networks(p):
    for seed in range(5):
        covariances = simulate.random_network(p, seed)
        links = [links_of(covariance) for covariance in covariances]
        assert [len(one) for one in links] == [p, p]
        assert len(links[0] & links[1]) == int(np.ceil(0.8 * p - 1e-9))
        for covariance, own in zip(covariances, links, strict=True):
            check_covariance(covariance, p)
            weights = np.zeros((p, p))
            for one, other in own:
                weights[one, other] = weights[other, one] = 0.9 if (one, other) in links[0] & links[1] else 0.8
            ridge = abs(np.linalg.eigvalsh(weights)[0]) + 0.1
            assert_allclose(partial_correlations(covariance), weights / ridge + np.eye(p), atol=1e-9)


def test_random_networks_use_all_links_alike():
    p, runs = 6, 600
    counts = np.zeros((2, p, p))
    for seed in range(runs):
        for count, covariance in zip(counts, simulate.random_network(p, seed), strict=True):
            for one, other in links_of(covariance):
                count[one, other] += 1
    for count in counts:
        # 15 possible links, each in 6/15 of the networks. Counts within a network exclude each other: variances are
        # those of draws without replacement, and the statistic, scaled by (15 - 1) / 15 / (1 - 6/15), is χ² with 14.
        observed = count[np.triu_indices(p, 1)]
        statistic = ((observed - 0.4 * runs) ** 2 / (0.4 * runs)).sum() * (14 / 15) / 0.6
        assert stats.chi2(14).sf(statistic) > LEAST_PVALUE


def test_random_networks_depend_on_the_seed():
    first, again, other = (simulate.random_network(9, seed)[0] for seed in (1, np.random.default_rng(1), 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_samples_of_networks():
    covariances = simulate.random_network(5, 0)
    pair = simulate.correlated_gaussian(N, SEED, *covariances, points=2 * N)
    points_x, points_y = halves(pair.points)
    for rows, covariance in zip((pair.x, points_x, pair.y, points_y), np.repeat(covariances, 2, axis=0), strict=True):
        # Not by the Cholesky factor that draws them, but by the symmetric square root.
        values, vectors = np.linalg.eigh(covariance)
        assert_standard_normal(rows @ (vectors / np.sqrt(values)) @ vectors.T)


@pytest.fixture(scope="module")
def networks():
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("TWOSAMPLE_DATA") or root.parent / "shared" / "data") / "networks"
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}: set TWOSAMPLE_DATA to a folder with the paper's networks")

    def read(name):
        return [np.loadtxt(folder / name / f"sigma{i}.csv", delimiter=",", skiprows=1) for i in (1, 2)]

    return read


@pytest.mark.parametrize("p", [7, 9, 11, 15])
def test_hub_networks_of_the_paper(networks, p):
    for ours, theirs in zip(simulate.hub_network(p), networks(f"p{p}"), strict=True):
        assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("p", [3, 5, 7, 9, 11, 15])
def test_random_networks_are_like_those_of_the_paper(networks, p):
    ours, theirs = (
        [links_of(covariance) for covariance in pair]
        for pair in (simulate.random_network(p, 0), networks(f"random_p{p}"))
    )
    for operation in (lambda first, second: first, lambda first, second: second, set.intersection):
        assert len(operation(*ours)) == len(operation(*theirs))
    for covariance, own in zip(networks(f"random_p{p}"), theirs, strict=True):
        weights = np.zeros((p, p))
        for one, other in own:
            weights[one, other] = weights[other, one] = 0.9 if (one, other) in theirs[0] & theirs[1] else 0.8
        assert_allclose(simulate._covariance(weights), covariance, rtol=0, atol=1e-12)


# ---- the demonstration


def test_rings_look_like_rings():
    pair = simulate.rings_like(N, SEED, points=2 * N)
    points_x, points_y = halves(pair.points)
    for rows, share in ((pair.x, 0.06), (points_x, 0.06), (pair.y, 0.26), (points_y, 0.26)):
        assert (rows[:, 0] >= 0).all()
        boats = (rows[:, 0] > 0.55) & (np.abs(rows[:, 1]) < 0.3)
        # 4 standard errors of a share, and the few half-chairs in the same region.
        assert boats.mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / N) + 0.005)


# ---- refusals


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n": 0}, InputError, "n: must be at least 1, not 0"),
        ({"n": 2.5}, InputTypeError, "n: expected a whole number"),
        ({"rng": "seed"}, InputTypeError, "rng: expected an int"),
        ({"rng": -1}, InputError, "rng: "),
        ({"points": -1}, InputError, "points: must be at least 0, not -1"),
    ],
)
def test_what_all_refuse(generate, options, error, words):
    arguments = {"n": 10, "rng": 0, **options}
    with pytest.raises(error) as caught:
        generate(arguments.pop("n"), arguments.pop("rng"), **arguments)
    assert str(caught.value).startswith(words)


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
        (partial(simulate.gaussian_2d, 10, 0, mean=(0, np.inf)), "mean: must be 2 finite numbers"),
        (partial(simulate.gaussian_2d, 10, 0, epsilon=0), "epsilon: must be a positive"),
        (partial(simulate.gaussian_2d, 10, 0, angle=np.inf), "angle: must be a finite number"),
        (partial(simulate.blobs, 10, 0, epsilon=-2), "epsilon: must be a positive"),
        (partial(simulate.blobs, 10, 0, epsilon=2, shift=-1), "shift: must be 2 finite numbers, not -1"),
        (partial(simulate.blobs, 10, 0, epsilon=2, noise=-1), "noise: must be at least 0, not -1"),
        (partial(simulate.hub_network, 5), "p: must be at least 6, two nodes for each of 3 hubs, not 5"),
        (partial(simulate.hub_network, 7, hubs=8), "p: must be at least 16, two nodes for each of 8 hubs, not 7"),
        (partial(simulate.hub_network, 7, hubs=0), "hubs: must be at least 1"),
        (partial(simulate.hub_network, 7, differing=4), "differing: must be at most 3, the number of hubs, not 4"),
        (partial(simulate.hub_network, 7, differing=-1), "differing: must be at least 0"),
        (partial(simulate.random_network, 2, 0), "p: must be at least 3, not 2"),
    ],
)
def test_refusals(draw, words):
    with pytest.raises(InputError) as caught:
        draw()
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    "covariance",
    [
        1.0,
        [],
        [[1.0, 0.5]],
        [[1.0], [0.5, 1.0]],
        [[1.0, 0.5], [0.4, 1.0]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[1.0, np.nan], [np.nan, 1.0]],
        [["a", "b"], ["b", "a"]],
    ],
)
def test_covariances_that_are_none(covariance):
    for name, pair in (("first", (covariance, np.eye(2))), ("second", (np.eye(2), covariance))):
        with pytest.raises(InputError) as caught:
            simulate.correlated_gaussian(10, 0, *pair)
        assert str(caught.value) == f"{name}: must be a symmetric, positive definite matrix of finite numbers"


def test_covariances_of_different_sizes():
    with pytest.raises(InputError, match=r"^second: must be 2 × 2 like first, not 3 rows$"):
        simulate.correlated_gaussian(10, 0, np.eye(2), np.eye(3))
