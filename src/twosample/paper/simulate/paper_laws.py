"""Gaussians, Laplace laws and mixtures in one column, Gaussians in two, and grids of these with columns of noise."""

from __future__ import annotations

import numpy as np

from twosample.common.arguments import Seed, count_of, finite_of, positive
from twosample.common.arrays import Array
from twosample.errors import InputError
from twosample.paper.simulate.pairs import SimulatedPair, clusters, draw_pair, finite, normals, numbered

__all__ = ["blobs", "gaussian", "gaussian_2d", "laplace", "mixture"]


def gaussian(
    n: int, rng: Seed, *, mean: float = 0.0, sd: float = 1.0, dimension: int = 1, points: int = 40
) -> SimulatedPair:
    """Draw from N(0, I) and N(mean · 1, sd² I): every column of y has this mean and standard deviation.

    The defaults give samples of the same law. The paper has, in one dimension, `sd` 2 and 3, and `mean` 1, 1.5, 2 and
    3; and samples of the same law in 1, 3 and 5 dimensions. A comparison of means cannot tell N(0, 1) from N(0, 9).

    Parameters
    ----------
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.
    mean, sd
        Mean and standard deviation of each column of y.
    dimension
        Number of columns.

    Examples
    --------
    >>> pair = gaussian(200, 0, sd=3)
    >>> pair.x.shape, pair.points.shape, pair.names
    ((200, 1), (40, 1), ('N(0, 1)', 'N(0, 9)'))
    """
    mean, sd = finite_of(mean, "mean"), positive(sd, "sd")
    dimension = count_of(dimension, "dimension", 1)
    kind = "" if dimension == 1 else f", {dimension} columns"
    return draw_pair(
        n,
        rng,
        points,
        lambda generator, count: generator.normal(size=(count, dimension)),
        lambda generator, count: generator.normal(mean, sd, size=(count, dimension)),
        names=(f"N(0, 1){kind}", f"N({mean:g}, {sd * sd:g}){kind}"),
        columns=numbered("value", dimension),
    )


def laplace(n: int, rng: Seed, *, scale: float, correlation: float = 0.0, points: int = 40) -> SimulatedPair:
    """Draw from N(0, 1) and Laplace(0, scale), independently or as pairs joined by a Gaussian copula.

    The density of y is ``exp(-|y| / scale) / (2 scale)``; its variance is 2 scale². The paper has `scale` 1.5, 0.4 and
    √½ (the variance of x), and `correlation` 0 and 0.5.

    Parameters
    ----------
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.
    scale
        Scale of the Laplace law.
    correlation
        Correlation, from -1 to 1, of the standard normals behind x and y, of which x is one itself: y is the quantile,
        under the Laplace law, of the other's probability. Between x and y themselves it is a little weaker. The
        evaluation points are independent of each other.

    Examples
    --------
    >>> pair = laplace(1000, 0, scale=0.4, correlation=0.5)
    >>> pair.names
    ('N(0, 1)', 'Laplace(0, 0.4)')
    >>> bool(0.4 < np.corrcoef(pair.x[:, 0], pair.y[:, 0])[0, 1] < 0.55)
    True
    """
    scale = positive(scale, "scale")
    correlation = finite_of(correlation, "correlation")
    if abs(correlation) > 1.0:
        raise InputError(f"correlation: must lie between -1 and 1, not {correlation:g}")

    def joint(generator: np.random.Generator, count: int) -> tuple[Array, Array]:
        x, other = generator.normal(size=(2, count, 1))
        return x, _laplace_quantile(correlation * x + np.sqrt(1.0 - correlation**2) * other, scale)

    return draw_pair(
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
    from scipy.special import erfc  # the rest of the package does without SciPy, which is slow to load

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
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.
    means
        Means of the two components of y.
    sd
        Standard deviation of both components of y.

    Examples
    --------
    >>> mixture(100, 0, means=(-4, 8), sd=2).names
    ('0.5 N(0, 1) + 0.5 N(4, 1)', '0.5 N(-4, 4) + 0.5 N(8, 4)')
    """
    centres_x, centres_y = np.array([0.0, 4.0]), finite(means, "means", (2,))
    sd = positive(sd, "sd")
    return draw_pair(
        n,
        rng,
        points,
        normals((0.5, 0.5), centres_x[:, None], np.ones((2, 1))),
        normals((0.5, 0.5), centres_y[:, None], np.full((2, 1), sd)),
        names=(_mixture_name(centres_x, 1.0), _mixture_name(centres_y, sd)),
        columns=("value",),
    )


def _mixture_name(means: Array, sd: float) -> str:
    return " + ".join(f"0.5 N({mean:g}, {sd * sd:g})" for mean in means)


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
    n, rng, points
        Rows of each sample; seed or generator; number of evaluation points.
    mean
        Mean of y.
    epsilon
        The variance of y along the first of its own axes; along the second it is 1.
    angle
        By how much the axes of y are turned, in radians. The text of the paper says π/2, which makes Σ diagonal:
        diag(1, epsilon). Its released code has `angle=45`, in radians too.

    Examples
    --------
    >>> pair = gaussian_2d(100_000, 0, epsilon=20)
    >>> pair.names
    ('N((10, 10), I)', 'N((10, 10), Σ(20))')
    >>> np.round(np.var(pair.y, axis=0))
    array([ 1., 20.])
    """
    centre = finite(mean, "mean", (2,))
    epsilon = positive(epsilon, "epsilon")
    factor = _stretched(epsilon, finite_of(angle, "angle"))
    return draw_pair(
        n,
        rng,
        points,
        clusters(np.array([[10.0, 10.0]]), np.eye(2)),
        clusters(centre[None, :], factor),
        names=("N((10, 10), I)", f"N(({centre[0]:g}, {centre[1]:g}), {'I' if epsilon == 1 else f'Σ({epsilon:g})'})"),
        columns=numbered("value", 2),
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
    n, rng, points
        Rows of each sample, in all blobs together; seed or generator; number of evaluation points.
    epsilon
        The variance of the blobs of y along the first of their own axes; along the second it is 1.
    shift
        By how much the blobs of y lie aside: (-1, -1) in the text of the paper, (0, 0) in its released code.
    angle
        By how much the axes of the blobs of y are turned, in radians; see `gaussian_2d`.
    noise
        Number of further columns, all standard normal in both samples.

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
    offset = finite(shift, "shift", (2,))
    epsilon = positive(epsilon, "epsilon")
    factor = _stretched(epsilon, finite_of(angle, "angle"))
    noise = count_of(noise, "noise", 0)
    return draw_pair(
        n,
        rng,
        points,
        clusters(centres, np.eye(2), noise),
        clusters(centres + offset, factor, noise),
        names=("round blobs", f"stretched blobs, ε = {epsilon:g}"),
        columns=numbered("value", 2) + numbered("noise", noise),
    )


def _stretched(epsilon: float, angle: float) -> Array:
    """A factor A of the covariance A Aᵀ = Q diag(epsilon, 1) Qᵀ."""
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return rotation * np.sqrt([epsilon, 1.0])
