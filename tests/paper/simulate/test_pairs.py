"""What all generators have in common: shapes, seeds, fresh points, independence, refusals."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import twosample as ts
from twosample import simulate
from twosample.errors import InputError, InputTypeError

N = 50_000
SEED = 20_240_711

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
def test_points_do_not_follow_the_samples(name, halves, assert_uncorrelated):
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
def test_samples_are_independent(name, assert_uncorrelated):
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
