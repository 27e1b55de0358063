"""Networks against formulas of their own and the paper's matrices, and samples of them."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from twosample import simulate
from twosample.errors import InputError
from twosample.paper.simulate.networks import _covariance

N = 50_000
SEED = 20_240_711


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


def test_random_networks_use_all_links_alike(least_pvalue):
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
        assert stats.chi2(14).sf(statistic) > least_pvalue


def test_random_networks_depend_on_the_seed():
    first, again, other = (simulate.random_network(9, seed)[0] for seed in (1, np.random.default_rng(1), 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_samples_of_networks(halves, assert_standard_normal):
    covariances = simulate.random_network(5, 0)
    pair = simulate.correlated_gaussian(N, SEED, *covariances, points=2 * N)
    points_x, points_y = halves(pair.points)
    for rows, covariance in zip((pair.x, points_x, pair.y, points_y), np.repeat(covariances, 2, axis=0), strict=True):
        # Not by the Cholesky factor that draws them, but by the symmetric square root.
        values, vectors = np.linalg.eigh(covariance)
        assert_standard_normal(rows @ (vectors / np.sqrt(values)) @ vectors.T)


@pytest.fixture(scope="module")
def networks():
    root = Path(__file__).parents[3]
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
        assert_allclose(_covariance(weights), covariance, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
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
