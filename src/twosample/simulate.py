"""Synthetic pairs of samples with a known answer: every law of the paper's experiments, and one for demonstrations.

Each generator draws both samples and then, from the same two laws, evaluation points that are not in the samples. Its
`rng` is an int, a SeedSequence or a Generator; the same seed gives the same samples, whatever the number of points.

>>> import twosample as ts
>>> pair = ts.simulate.gaussian(200, 0, sd=3)
>>> ts.test(pair.x, pair.y, points=pair.points).verdict
'very strong evidence that the samples differ'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample.arguments import Seed, count_of, generator_of, positive
from twosample.errors import InputError

__all__ = [
    "SimulatedPair",
    "blobs",
    "correlated_gaussian",
    "gaussian",
    "gaussian_2d",
    "hub_network",
    "laplace",
    "mixture",
    "random_network",
    "rings_like",
]

Array = NDArray[np.float64]
Law = Callable[[np.random.Generator, int], Array]
JointLaw = Callable[[np.random.Generator, int], tuple[Array, Array]]


class SimulatedPair(NamedTuple):
    """Two samples, what to call them, and points to compare them at.

    Attributes
    ----------
    x, y
        Rows of the samples, each (n, D).
    names
        What the samples are called.
    columns
        What the D columns are called.
    points
        Evaluation points, (s, D), drawn afresh: first half from the law of x, then half from the law of y. When s is
        odd, the law of x gives one more.
    """

    x: Array
    y: Array
    names: tuple[str, str]
    columns: tuple[str, ...]
    points: Array


# One dimension, or more of the same.


def gaussian(
    n: int, rng: Seed, *, mean: float = 0.0, sd: float = 1.0, dimension: int = 1, points: int = 40
) -> SimulatedPair:
    """Draw from N(0, I) and N(mean · 1, sd² I): every column of y has this mean and standard deviation.

    The defaults give samples of the same law. The paper has, in one dimension, `sd` 2 and 3, and `mean` 1, 1.5, 2 and
    3; and samples of the same law in 1, 3 and 5 dimensions. A comparison of means cannot tell N(0, 1) from N(0, 9).

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    mean, sd
        Mean and standard deviation of each column of y.
    dimension
        Number of columns.
    points
        Number of evaluation points.

    Examples
    --------
    >>> pair = gaussian(200, 0, sd=3)
    >>> pair.x.shape, pair.points.shape, pair.names
    ((200, 1), (40, 1), ('N(0, 1)', 'N(0, 9)'))
    """
    mean, sd = float(_finite(mean, "mean", ())), positive(sd, "sd")
    dimension = count_of(dimension, "dimension", 1)
    kind = "" if dimension == 1 else f", {dimension} columns"
    return _draw(
        n,
        rng,
        points,
        lambda generator, count: generator.normal(size=(count, dimension)),
        lambda generator, count: generator.normal(mean, sd, size=(count, dimension)),
        names=(f"N(0, 1){kind}", f"N({mean:g}, {sd * sd:g}){kind}"),
        columns=_numbered("value", dimension),
    )


def laplace(n: int, rng: Seed, *, scale: float, correlation: float = 0.0, points: int = 40) -> SimulatedPair:
    """Draw from N(0, 1) and Laplace(0, scale), independently or as pairs joined by a Gaussian copula.

    The density of y is exp(-|y| / scale) / (2 scale); its variance is 2 scale². The paper has `scale` 1.5, 0.4 and √½
    (the variance of x), and `correlation` 0 and 0.5.

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    scale
        Scale of the Laplace law.
    correlation
        Correlation, from -1 to 1, of the standard normals behind x and y, of which x is one itself: y is the quantile,
        under the Laplace law, of the other's probability. Between x and y themselves it is a little weaker. The
        evaluation points are independent of each other.
    points
        Number of evaluation points.

    Examples
    --------
    >>> pair = laplace(1000, 0, scale=0.4, correlation=0.5)
    >>> pair.names
    ('N(0, 1)', 'Laplace(0, 0.4)')
    >>> bool(0.4 < np.corrcoef(pair.x[:, 0], pair.y[:, 0])[0, 1] < 0.55)
    True
    """
    scale = positive(scale, "scale")
    correlation = float(_finite(correlation, "correlation", ()))
    if abs(correlation) > 1.0:
        raise InputError(f"correlation: must lie between -1 and 1, not {correlation:g}")

    def joint(generator: np.random.Generator, count: int) -> tuple[Array, Array]:
        x, other = generator.normal(size=(2, count, 1))
        return x, _laplace_quantile(correlation * x + np.sqrt(1.0 - correlation**2) * other, scale)

    return _draw(
        n,
        rng,
        points,
        lambda generator, count: generator.normal(size=(count, 1)),
        lambda generator, count: generator.laplace(scale=scale, size=(count, 1)),
        joint=joint,
        names=("N(0, 1)", f"Laplace(0, {scale:.3g})"),
        columns=("value",),
    )


def _laplace_quantile(normal: Array, scale: float) -> Array:
    """Values of Laplace(0, scale) that are as probable to exceed as these of N(0, 1) are."""
    from scipy.special import erfc  # the rest of the module does without SciPy, which is slow to load

    # Both laws are symmetric: P(|z| > t) = erfc(t / √2) is to equal P(|y| > u) = exp(-u / scale).
    quantile: Array = -np.sign(normal) * scale * np.log(erfc(np.abs(normal) / np.sqrt(2.0)))
    return quantile


def mixture(
    n: int, rng: Seed, *, means: tuple[float, float] = (0.0, 4.0), sd: float = 1.0, points: int = 40
) -> SimulatedPair:
    """Draw from 0.5 N(0, 1) + 0.5 N(4, 1) and 0.5 N(means[0], sd²) + 0.5 N(means[1], sd²).

    Each row falls into either component with probability ½. The defaults give samples of the same law. The paper has
    seven others:

    =======  ==
    means    sd
    =======  ==
    (0, 4)   2
    (0, 8)   1
    (0, 8)   2
    (2, 6)   1
    (2, 8)   2
    (-4, 8)  1
    (-4, 8)  2
    =======  ==

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    means
        Means of the two components of y.
    sd
        Standard deviation of both components of y.
    points
        Number of evaluation points.

    Examples
    --------
    >>> mixture(100, 0, means=(-4, 8), sd=2).names
    ('0.5 N(0, 1) + 0.5 N(4, 1)', '0.5 N(-4, 4) + 0.5 N(8, 4)')
    """
    centres_x, centres_y = np.array([0.0, 4.0]), _finite(means, "means", (2,))
    sd = positive(sd, "sd")
    return _draw(
        n,
        rng,
        points,
        _normals((0.5, 0.5), centres_x[:, None], np.ones((2, 1))),
        _normals((0.5, 0.5), centres_y[:, None], np.full((2, 1), sd)),
        names=(_mixture_name(centres_x, 1.0), _mixture_name(centres_y, sd)),
        columns=("value",),
    )


def _mixture_name(means: Array, sd: float) -> str:
    return " + ".join(f"0.5 N({mean:g}, {sd * sd:g})" for mean in means)


# Two dimensions, and noise in others.


def gaussian_2d(
    n: int,
    rng: Seed,
    *,
    mean: tuple[float, float] = (10.0, 10.0),
    epsilon: float = 1.0,
    angle: float = np.pi / 2,
    points: int = 40,
) -> SimulatedPair:
    """Draw from N((10, 10), I) and N(mean, Σ), where Σ has the variances epsilon and 1 along rotated axes.

    Σ = Q diag(epsilon, 1) Qᵀ with Q = [[cos angle, sin angle], [-sin angle, cos angle]]. The defaults give samples of
    the same law. The paper has `mean` (11.5, 11.5) and (12, 10) with `epsilon` 1, and the default mean with `epsilon`
    2, 6, 10 and 20.

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    mean
        Mean of y.
    epsilon
        The variance of y along the first of its own axes; along the second it is 1.
    angle
        By how much the axes of y are turned, in radians. The text of the paper says π/2, which makes Σ diagonal:
        diag(1, epsilon). Its released code has `angle=45`, in radians too.
    points
        Number of evaluation points.

    Examples
    --------
    >>> pair = gaussian_2d(100_000, 0, epsilon=20)
    >>> pair.names
    ('N((10, 10), I)', 'N((10, 10), Σ(20))')
    >>> np.round(np.var(pair.y, axis=0))
    array([ 1., 20.])
    """
    centre = _finite(mean, "mean", (2,))
    epsilon = positive(epsilon, "epsilon")
    factor = _stretched(epsilon, _finite(angle, "angle", ()))
    return _draw(
        n,
        rng,
        points,
        _clusters(np.array([[10.0, 10.0]]), np.eye(2)),
        _clusters(centre[None, :], factor),
        names=("N((10, 10), I)", f"N(({centre[0]:g}, {centre[1]:g}), {'I' if epsilon == 1 else f'Σ({epsilon:g})'})"),
        columns=_numbered("value", 2),
    )


def blobs(
    n: int,
    rng: Seed,
    *,
    epsilon: float,
    shift: tuple[float, float] = (-1.0, -1.0),
    angle: float = np.pi / 2,
    noise: int = 0,
    points: int = 40,
) -> SimulatedPair:
    """Draw from two 2 × 2 grids of Gaussians: round ones, and stretched ones a little aside.

    The blobs of x are N(c, I) with the centres c = (10, 10), (10, 30), (30, 10) and (30, 30), those of y are
    N(c + shift, Σ) with Σ as in `gaussian_2d`. Blobs have equal numbers of rows; when n is not a multiple of 4, the
    first ones have one more. The paper has `epsilon` 2, 6, 10 and 20, and, with `epsilon` 6, `noise` 1 to 6. Both laws
    are the same when `epsilon` is 1 and `shift` (0, 0).

    Parameters
    ----------
    n
        Rows of each sample, in all blobs together.
    rng
        Seed or generator.
    epsilon
        The variance of the blobs of y along the first of their own axes; along the second it is 1.
    shift
        By how much the blobs of y lie aside: (-1, -1) in the text of the paper, (0, 0) in its released code.
    angle
        By how much the axes of the blobs of y are turned, in radians; see `gaussian_2d`.
    noise
        Number of further columns, all standard normal in both samples.
    points
        Number of evaluation points.

    Notes
    -----
    Rows go through the blobs in turn, so row i of x and row i of y are in the same blob, as they are in the paper's
    released code. What forms pairs of rows (`paired=True`, and the models `paper` and `published`) sees this; permute
    the rows of one sample to avoid it.

    Examples
    --------
    >>> pair = blobs(400, 0, epsilon=6, noise=1)
    >>> pair.x.shape, pair.columns
    ((400, 3), ('value 1', 'value 2', 'noise'))
    >>> np.round(pair.x[:4, :2] / 10)
    array([[1., 1.],
           [1., 3.],
           [3., 1.],
           [3., 3.]])
    """
    centres = np.array([(10.0, 10.0), (10.0, 30.0), (30.0, 10.0), (30.0, 30.0)])
    offset = _finite(shift, "shift", (2,))
    epsilon = positive(epsilon, "epsilon")
    factor = _stretched(epsilon, _finite(angle, "angle", ()))
    noise = count_of(noise, "noise", 0)
    return _draw(
        n,
        rng,
        points,
        _clusters(centres, np.eye(2), noise),
        _clusters(centres + offset, factor, noise),
        names=("round blobs", f"stretched blobs, ε = {epsilon:g}"),
        columns=_numbered("value", 2) + _numbered("noise", noise),
    )


def _stretched(epsilon: float, angle: Array) -> Array:
    """A factor A of the covariance A Aᵀ = Q diag(epsilon, 1) Qᵀ."""
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return rotation * np.sqrt([epsilon, 1.0])


# Networks.


def hub_network(p: int, *, hubs: int = 3, differing: int = 1) -> tuple[Array, Array]:
    """Covariances of two Gaussian graphical models made of hubs, some of which exist in the second only.

    The p nodes form consecutive blocks of equal size, the last p mod `hubs` of them one larger. In a block the first
    node is the hub, which is linked to all others and to itself, with weight 0.9. The first `differing` blocks have no
    links in the first network, and weight 0.8 in the second. With B the weights of all links and
    K = B + (|λ| + 0.1) I, where λ is the least eigenvalue of B, the covariance is K⁻¹ scaled to a unit diagonal. This
    is the construction of Städler and Mukherjee; the paper has p = 7, and its released material 9, 11 and 15 besides.

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


# Weights of links, in both networks and in one only.
_SHARED = 0.9
_DIFFERING = 0.8


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
    n
        Rows of each sample.
    rng
        Seed or generator.
    first, second
        Covariances of x and y, (D, D), such as those of two networks.
    points
        Number of evaluation points.

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
    return _draw(
        n,
        rng,
        points,
        *(_clusters(np.zeros((1, dimension)), factor) for factor in factors),
        names=("network 1", "network 2"),
        columns=_numbered("node", dimension),
    )


def _factor(covariance: ArrayLike, name: str) -> Array:
    """The Cholesky factor, if there is one."""
    try:
        size = len(np.asarray(covariance))
        matrix = _finite(covariance, name, (max(size, 1),) * 2)
        if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
            raise ValueError
        return np.linalg.cholesky(matrix).astype(np.float64, copy=False)
    except (TypeError, ValueError, np.linalg.LinAlgError):
        raise InputError(f"{name}: must be a symmetric, positive definite matrix of finite numbers") from None


# A picture of real data.


class _Shape(NamedTuple):
    """A cluster of ring conformations: its share of each sample, where it is (q2, q3) and how far it spreads."""

    share_x: float
    share_y: float
    centre: tuple[float, float]
    spread: tuple[float, float]


_CHAIR = _Shape(0.44, 0.34, (0.05, 0.57), (0.03, 0.03))
_INVERTED_CHAIR = _Shape(0.36, 0.28, (0.05, -0.57), (0.03, 0.03))
_TWIST_BOAT = _Shape(0.06, 0.26, (0.70, 0.0), (0.06, 0.06))
_HALF_CHAIR = _Shape(0.07, 0.08, (0.42, 0.32), (0.06, 0.05))
_PLANAR = _Shape(0.07, 0.04, (0.06, 0.0), (0.05, 0.04))
_SHAPES = (_CHAIR, _INVERTED_CHAIR, _TWIST_BOAT, _HALF_CHAIR, _PLANAR)

# Against the crystal, clusters of the gas phase are this much wider and lie this much further out in |q3|.
_GAS_SPREAD = 1.15
_GAS_SHIFT = 0.008


def rings_like(n: int, rng: Seed, *, points: int = 40) -> SimulatedPair:
    """Draw two samples that look like puckering coordinates of six-membered rings, in a crystal and in the gas phase.

    All numbers are invented: they imitate the look of such data (tight clusters of chairs near q3 = ±0.57, looser ones
    of twist-boats, half-chairs and nearly planar rings), not any measurement. The samples differ mostly in how common
    the twist-boats are, and a little in where the chairs lie and how much everything spreads. Clusters are normal,
    folded at q2 = 0 because q2 is a length.

    Parameters
    ----------
    n
        Rows of each sample.
    rng
        Seed or generator.
    points
        Number of evaluation points.

    Examples
    --------
    >>> pair = rings_like(100, 0)
    >>> pair.x.shape, pair.columns
    ((100, 2), ('q2', 'q3'))
    >>> bool((pair.x[:, 0] >= 0).all())
    True
    """
    centres = np.array([shape.centre for shape in _SHAPES])
    spreads = np.array([shape.spread for shape in _SHAPES])
    gas_centres = centres + [0.0, _GAS_SHIFT] * np.sign(centres)
    return _draw(
        n,
        rng,
        points,
        _folded(_normals([shape.share_x for shape in _SHAPES], centres, spreads)),
        _folded(_normals([shape.share_y for shape in _SHAPES], gas_centres, _GAS_SPREAD * spreads)),
        names=("crystal", "gas phase"),
        columns=("q2", "q3"),
    )


def _folded(law: Law) -> Law:
    def draw(generator: np.random.Generator, count: int) -> Array:
        rows = law(generator, count)
        rows[:, 0] = np.abs(rows[:, 0])
        return rows

    return draw


# What generators have in common.


def _draw(
    n: int,
    rng: Seed,
    points: int,
    law_x: Law,
    law_y: Law,
    *,
    joint: JointLaw | None = None,
    names: tuple[str, str],
    columns: tuple[str, ...],
) -> SimulatedPair:
    """Draw x and y, independently unless they have a joint law, and after them the points."""
    n, points = count_of(n, "n", 1), count_of(points, "points", 0)
    generator = generator_of(rng)
    x, y = joint(generator, n) if joint else (law_x(generator, n), law_y(generator, n))
    fresh = np.concatenate([law_x(generator, points - points // 2), law_y(generator, points // 2)])
    return SimulatedPair(x, y, names, columns, fresh)


def _clusters(centres: Array, factor: Array, noise: int = 0) -> Law:
    """Normal clusters with covariance A Aᵀ, A the factor, which rows go through in turn; then columns of noise."""
    dimension = len(factor)

    def draw(generator: np.random.Generator, count: int) -> Array:
        rows = generator.normal(size=(count, dimension + noise))
        rows[:, :dimension] = centres[np.arange(count) % len(centres)] + rows[:, :dimension] @ factor.T
        return rows

    return draw


def _normals(shares: Sequence[float], centres: Array, spreads: Array) -> Law:
    """A mixture of normals with these probabilities, means and, in each column, standard deviations."""

    def draw(generator: np.random.Generator, count: int) -> Array:
        kind = generator.choice(len(centres), size=count, p=shares)
        return generator.normal(centres[kind], spreads[kind])

    return draw


def _numbered(stem: str, count: int) -> tuple[str, ...]:
    return (stem,) if count == 1 else tuple(f"{stem} {number}" for number in range(1, count + 1))


def _finite(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    """The value as an array, if it has this shape and is finite."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        wanted = f"{shape[0]} finite numbers" if shape else "a finite number"
        raise InputError(f"{name}: must be {wanted}, not {value!r:.40}")
    return array.astype(np.float64)
