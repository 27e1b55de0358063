"""The Gaussian kernel on many lengthscales at once, and the prior covariance of the witness that belongs to it.

Both depend on locations only through squared distances, so each function takes those.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Measure", "features", "log_prior_variance", "prior_covariance", "prior_variance", "squared_distances"]

Array = NDArray[np.float64]
Measure = Literal["lebesgue", "points"]

# Squaring a kernel matrix doubles its relative error: 2**8 roundings stay below 1e-13.
_MAX_SQUARINGS = 8


def squared_distances(a: Array, b: Array) -> Array:
    """Squared Euclidean distances between the rows of `a` (n, D) and of `b` (s, D), as (n, s).

    Differences are squared directly: the shortcut |a|² + |b|² - 2ab loses the digits that small lengthscales need.

    Examples
    --------
    >>> squared_distances(np.array([[0.0], [3.0]]), np.array([[1.0]]))
    array([[1.],
           [4.]])
    """
    total = np.subtract.outer(a[:, 0], b[:, 0])
    difference = np.empty_like(total)
    with np.errstate(over="ignore"):  # an infinite distance is far enough
        np.multiply(total, total, out=total)
        for column in range(1, a.shape[1]):
            np.subtract.outer(a[:, column], b[:, column], out=difference)
            np.multiply(difference, difference, out=difference)
            total += difference
    return total


def features(distances: Array, lengthscales: Array) -> Iterator[tuple[int, Array]]:
    """Kernel values exp(-d²/2ℓ²) for every lengthscale, one after the other.

    Dividing ℓ by √2 squares the kernel, so on a geometric grid of that ratio one exponential serves several nodes.

    Parameters
    ----------
    distances
        Squared distances, any shape.
    lengthscales
        Positive lengthscales (m,), in any order.

    Yields
    ------
    tuple
        Index into `lengthscales` and the kernel values. The array is overwritten by the next step.
    """
    buffer = np.empty_like(distances)
    for chain in _chains(lengthscales):
        for step, index in enumerate(chain):
            if step == 0:
                with np.errstate(over="ignore"):
                    np.multiply(distances, -0.5 / lengthscales[index] ** 2, out=buffer)
                np.exp(buffer, out=buffer)
            else:
                np.multiply(buffer, buffer, out=buffer)
            yield index, buffer


def _chains(lengthscales: Array) -> list[list[int]]:
    """Group the lengthscales into runs in which each is the one before divided by √2."""
    steps = 2.0 * np.log2(lengthscales)
    phase = np.round(steps - np.floor(steps), 12) % 1.0
    order = np.lexsort((-steps, phase))
    follows = np.abs(np.diff(steps[order]) + 1.0) < 1e-13
    chains: list[list[int]] = []
    for index, follow in zip(order.tolist(), [False, *follows.tolist()], strict=True):
        if follow and len(chains[-1]) <= _MAX_SQUARINGS:
            chains[-1].append(index)
        else:
            chains.append([index])
    return chains


def prior_covariance(measure: Measure, from_points: Array, between_points: Array, lengthscale: Array | float) -> Array:
    """Covariance of the witness's Gaussian-process prior between locations and evaluation points.

    The prior is r(z, z') = ∫ k(z, u) k(u, z') ν(du). With ν the Lebesgue measure that is exp(-d²/4ℓ²), up to a factor
    that `log_prior_variance` gives. With ν uniform on the evaluation points the witness is k applied to a signed
    measure on them, and that measure is held to a total of zero, as the difference of two probabilities has.

    Parameters
    ----------
    measure
        "lebesgue" or "points".
    from_points
        Squared distances of the locations from the points, (..., w, s).
    between_points
        Squared distances between the points, (..., s, s).
    lengthscale
        Broadcast against the distances.

    Returns
    -------
    ndarray
        (..., w, s).
    """
    if measure == "lebesgue":
        return _gaussian(from_points, np.sqrt(2.0) * lengthscale)
    values = _gaussian(from_points, lengthscale)
    values -= values.mean(axis=-1, keepdims=True)
    return np.asarray(values @ _gaussian(between_points, lengthscale) / between_points.shape[-1])


def prior_variance(measure: Measure, from_points: Array, lengthscale: float) -> Array:
    """Variance of the same prior at the locations, (w,)."""
    if measure == "lebesgue":
        return np.ones(len(from_points))
    return np.asarray(_gaussian(from_points, lengthscale).var(axis=1))


def _gaussian(distances: Array, lengthscale: Array | float) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(distances * (-0.5 / np.square(lengthscale))))


def log_prior_variance(lengthscale: Array, n_columns: int) -> Array:
    """Log of the factor π^{D/2} ℓ^D in the paper's formula for r, where ν is the Lebesgue measure."""
    return np.asarray(n_columns * (0.5 * np.log(np.pi) + np.log(lengthscale)))
