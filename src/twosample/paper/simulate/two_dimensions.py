"""Gaussians in two columns, and grids of them with columns of noise."""

from __future__ import annotations

import numpy as np

from twosample.common.arguments import Seed, count_of, positive
from twosample.common.arrays import Array
from twosample.paper.simulate.pairs import SimulatedPair, clusters, draw_pair, finite, numbered

__all__ = ["blobs", "gaussian_2d"]


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
    centre = finite(mean, "mean", (2,))
    epsilon = positive(epsilon, "epsilon")
    factor = _stretched(epsilon, finite(angle, "angle", ()))
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
    offset = finite(shift, "shift", (2,))
    epsilon = positive(epsilon, "epsilon")
    factor = _stretched(epsilon, finite(angle, "angle", ()))
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


def _stretched(epsilon: float, angle: Array) -> Array:
    """A factor A of the covariance A Aᵀ = Q diag(epsilon, 1) Qᵀ."""
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return rotation * np.sqrt([epsilon, 1.0])
