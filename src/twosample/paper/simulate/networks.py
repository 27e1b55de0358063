"""Gaussian graphical models: covariances of two networks, and samples with given covariances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arguments import Seed, count_of, generator_of
from twosample.common.arrays import Array
from twosample.errors import InputError
from twosample.paper.simulate.pairs import SimulatedPair, clusters, draw_pair, finite, numbered

__all__ = ["correlated_gaussian", "hub_network", "random_network"]


# Weights of links, in both networks and in one only.
_SHARED = 0.9
_DIFFERING = 0.8


def hub_network(p: int, *, hubs: int = 3, differing: int = 1) -> tuple[Array, Array]:
    """Covariances of two Gaussian graphical models made of hubs, some of which exist in the second only.

    The p nodes form consecutive blocks of equal size, the last p mod `hubs` of them one larger. In a block the first
    node is the hub, which is linked to all others and to itself, with weight 0.9. The first `differing` blocks have no
    links in the first network, and weight 0.8 in the second. With B the weights of all links and
    ``K = B + (|λ| + 0.1) I``, where λ is the least eigenvalue of B, the covariance is K⁻¹ scaled to a unit diagonal.
    This is the construction of Städler and Mukherjee; the paper has p = 7, and its released material 9, 11 and 15
    besides.

    Parameters
    ----------
    p
        Number of nodes, at least two for each hub.
    hubs
        Number of hubs.
    differing
        Number of hubs that only the second network has; with 0 the networks are the same.

    Returns
    -------
    first, second
        The covariance matrices, (p, p), for `correlated_gaussian`.

    Examples
    --------
    >>> first, second = hub_network(7)
    >>> np.round(first[:2, :2], 3), np.round(second[:2, :2], 3)
    (array([[1., 0.],
            [0., 1.]]), array([[ 1.   , -0.596],
            [-0.596,  1.   ]]))
    """
    hubs, differing = count_of(hubs, "hubs", 1), count_of(differing, "differing", 0)
    p = count_of(p, "p", 2)
    if p < 2 * hubs:
        raise InputError(f"p: must be at least {2 * hubs}, two nodes for each of {hubs} hubs, not {p}")
    if differing > hubs:
        raise InputError(f"differing: must be at most {hubs}, the number of hubs, not {differing}")
    size, larger = divmod(p, hubs)
    sizes = np.array([size] * (hubs - larger) + [size + 1] * larger)
    ends = np.cumsum(sizes)
    first, second = np.zeros((2, p, p))
    for block, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        weights = (0.0, _DIFFERING) if block < differing else (_SHARED, _SHARED)
        for links, weight in zip((first, second), weights, strict=True):
            links[start, start:end] = links[start:end, start] = weight
    return _covariance(first), _covariance(second)


def random_network(p: int, rng: Seed) -> tuple[Array, Array]:
    """Covariances of two Gaussian graphical models with random links, most of which are in both.

    Each network has p links, all equally probable; ⌈0.8 p⌉ of them, with weight 0.9, are in both, and the others, with
    weight 0.8, in one only. Weights become a covariance as in `hub_network`. The paper has p = 5. Networks of 3 or 4
    nodes have all links in common: the covariances are the same.

    Parameters
    ----------
    p
        Number of nodes.
    rng
        Seed or generator, for the links.

    Returns
    -------
    first, second
        The covariance matrices, (p, p), for `correlated_gaussian`.

    Examples
    --------
    >>> covariances = random_network(5, 0)
    >>> [int((abs(np.linalg.inv(covariance)) > 1e-9).sum() - 5) // 2 for covariance in covariances]  # links
    [5, 5]
    """
    p = count_of(p, "p", 3)
    possible = np.array(list(combinations(range(p), 2)))
    n_differing = p // 5  # p - ⌈0.8 p⌉
    shared, only_first, only_second = np.split(
        generator_of(rng).permutation(possible)[: p + n_differing], [p - n_differing, p]
    )
    first, second = np.zeros((2, p, p))
    for links, own in ((first, only_first), (second, only_second)):
        for ends, weight in ((shared, _SHARED), (own, _DIFFERING)):
            links[ends[:, 0], ends[:, 1]] = links[ends[:, 1], ends[:, 0]] = weight
    return _covariance(first), _covariance(second)


def _covariance(weights: Array) -> Array:
    """The correlation matrix of a Gaussian graphical model with these weights of links."""
    concentration = weights + (abs(np.linalg.eigvalsh(weights)[0]) + 0.1) * np.eye(len(weights))
    covariance = np.linalg.inv(concentration)
    sd = np.sqrt(np.diag(covariance))
    correlation = (covariance + covariance.T) / (2.0 * np.outer(sd, sd))
    np.fill_diagonal(correlation, 1.0)
    return correlation


def correlated_gaussian(n: int, rng: Seed, first: ArrayLike, second: ArrayLike, *, points: int = 40) -> SimulatedPair:
    """Draw from N(0, first) and N(0, second).

    Parameters
    ----------
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.
    first, second
        Covariances of x and y, (D, D), such as those of two networks.

    Examples
    --------
    >>> pair = correlated_gaussian(200, 0, *hub_network(7))
    >>> pair.x.shape, pair.names, pair.columns[0]
    ((200, 7), ('network 1', 'network 2'), 'node 1')
    """
    factors = _factor(first, "first"), _factor(second, "second")
    dimension = len(factors[0])
    if len(factors[1]) != dimension:
        raise InputError(f"second: must be {dimension} × {dimension} like first, not {len(factors[1])} rows")
    return draw_pair(
        n,
        rng,
        points,
        *(clusters(np.zeros((1, dimension)), factor) for factor in factors),
        names=("network 1", "network 2"),
        columns=numbered("node", dimension),
    )


def _factor(covariance: ArrayLike, name: str) -> Array:
    """The Cholesky factor, if there is one."""
    try:
        size = len(np.asarray(covariance))
        matrix = finite(covariance, name, (max(size, 1),) * 2)
        if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
            raise ValueError
        return np.linalg.cholesky(matrix).astype(np.float64, copy=False)
    except (TypeError, ValueError, np.linalg.LinAlgError):
        raise InputError(f"{name}: must be a symmetric, positive definite matrix of finite numbers") from None
