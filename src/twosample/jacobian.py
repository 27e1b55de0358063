"""The log-volume term of the pseudo-likelihood: how (x, y) ↦ φ(x) - φ(y) stretches space at each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twosample.kernels import squared_distances

__all__ = ["log_volume_bounds", "log_volumes"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# A normalised column that keeps less than this share of its squared length has lost too many digits.
_SAFE_PIVOT = 1e-5
# Gram matrices are the fastest way if they can be trusted for most of the first so many pairs.
_SAMPLE = 16
# Squares of shorter columns underflow.
_SAFE_LENGTH = 1e-145
# Log volumes of two decompositions that agree to this are both right.
_SAFE_DIFFERENCE = 1e-9
# A difference smaller than this share of its terms is rounding noise: the column is linearly dependent.
_CANCELLED = 1e-13


def log_volumes(
    x: Array,
    y: Array,
    points: Array,
    lengthscale: float,
    distances_x: Array | None = None,
    distances_y: Array | None = None,
) -> Array:
    """Log vol J_i = ½ log det(JᵀJ) for each pair (x_i, y_i), with J the s × 2D Jacobian of φ(x) - φ(y).

    Parameters
    ----------
    x, y
        Paired rows (n, D).
    points
        Evaluation points (s, D), s ≥ 2D.
    lengthscale
        Lengthscale of the kernel.
    distances_x, distances_y
        Squared distances to the points (n, s), where the caller has them already.

    Returns
    -------
    ndarray
        (n,); -inf where J has not full rank, as when x_i = y_i.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> log_volumes(np.array([[0.5]]), np.array([[2.0]]), points, 1.0).round(6)
    array([-0.572632])
    """
    columns, log_weights, log_scale = _scaled_columns(x, y, points, lengthscale, distances_x, distances_y)
    result, safe = np.empty(len(columns)), np.zeros(len(columns), dtype=bool)
    for part in (slice(None, _SAMPLE), slice(_SAMPLE, None)):
        result[part], safe[part] = _gram_volumes(columns[part])
        if 2 * np.count_nonzero(safe[part]) <= len(safe[part]):
            break
    doubtful = np.flatnonzero(~safe)
    if doubtful.size:
        result[doubtful], safe = _qr_volumes(columns[doubtful])
        doubtful = doubtful[~safe]
    if doubtful.size:
        log_weight_x, log_weight_y = (weight[doubtful] for weight in log_weights)
        result[doubtful] = _log_elimination(x[doubtful], y[doubtful], points, log_weight_x, log_weight_y)
    result[(x == y).all(axis=1)] = -np.inf
    return np.asarray(result + log_scale)


def log_volume_bounds(
    x: Array,
    y: Array,
    points: Array,
    lengthscale: float,
    distances_x: Array | None = None,
    distances_y: Array | None = None,
) -> Array:
    """Upper bounds of `log_volumes` that are cheap at any lengthscale: the product of the columns' lengths (Hadamard).

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> x, y = np.array([[0.5]]), np.array([[2.0]])
    >>> bool((log_volume_bounds(x, y, points, 1.0) >= log_volumes(x, y, points, 1.0)).all())
    True
    """
    columns, _, log_scale = _scaled_columns(x, y, points, lengthscale, distances_x, distances_y)
    squares = np.maximum((columns**2).sum(axis=1), np.finfo(np.float64).tiny)  # zeros may have underflowed
    return np.asarray(0.5 * np.log(squares).sum(axis=1) + log_scale)


def _scaled_columns(
    x: Array, y: Array, points: Array, lengthscale: float, distances_x: Array | None, distances_y: Array | None
) -> tuple[Array, list[Array], Array]:
    """The columns of J (n, s, 2D), each block scaled so that its largest rows cannot underflow; log weights; log scale.

    A point that equals the row has a zero row in J whatever its kernel value; its log weight is -inf.
    """
    n_columns = x.shape[1]
    columns = np.empty((len(x), len(points), 2 * n_columns))
    log_weights = []
    log_scale = np.full(len(x), -4.0 * n_columns * np.log(lengthscale))
    for rows, distances, first in ((x, distances_x, 0), (y, distances_y, n_columns)):
        distances = squared_distances(rows, points) if distances is None else distances
        nearest = distances.min(axis=1, keepdims=True)
        if not nearest.all():
            distances = np.where(distances == 0.0, np.inf, distances)
            nearest = distances.min(axis=1, keepdims=True)
        nearest[np.isinf(nearest)] = 0.0  # no point is elsewhere, or all are too far to say
        log_weight = nearest - distances
        with np.errstate(over="ignore"):
            log_weight *= 0.5 / lengthscale**2
            log_scale -= n_columns * 0.5 / lengthscale**2 * nearest[:, 0]
        log_weights.append(log_weight)
        weight = np.exp(log_weight)
        for d in range(n_columns):
            np.subtract.outer(rows[:, d], points[:, d], out=columns[:, :, first + d])
            columns[:, :, first + d] *= weight
    return columns, log_weights, log_scale


def _gram_volumes(columns: Array) -> tuple[Array, Flags]:
    """Log volumes from Cholesky pivots of the columns' Gram matrices (n, 2D, 2D), and where they can be trusted."""
    gram = np.swapaxes(columns, 1, 2) @ columns
    lengths = np.sqrt(np.einsum("nkk->nk", gram))
    safe = (lengths > _SAFE_LENGTH).all(axis=1)
    lengths[~safe] = 1.0
    gram /= lengths[:, :, None]
    gram /= lengths[:, None, :]
    total = np.log(lengths).sum(axis=1)
    for k in range(gram.shape[1]):
        pivot = gram[:, k, k]
        safe &= pivot > _SAFE_PIVOT
        pivot = np.where(safe, pivot, 1.0)
        total += 0.5 * np.log(pivot)
        row = gram[:, k, k + 1 :]
        gram[:, k + 1 :, k + 1 :] -= row[:, :, None] * (row / pivot[:, None])[:, None, :]
    return total, safe


def _qr_volumes(columns: Array) -> tuple[Array, Flags]:
    """Log volumes from QR decompositions, and where they can be trusted.

    With the largest rows first, reflections leave small rows accurate to their own size, however different the rows
    are, unless a pivot is nearly lost. What is lost depends on the order of the columns, so two orders are compared.
    """
    order = np.argsort(-np.abs(columns).max(axis=2), axis=1)
    largest_first = np.take_along_axis(columns, order[:, :, None], axis=1)
    pivots = [
        np.abs(np.einsum("nkk->nk", np.linalg.qr(matrices, mode="r")))
        for matrices in (largest_first, largest_first[:, :, ::-1])
    ]
    safe = np.logical_and(*((pivot > 0.0).all(axis=1) for pivot in pivots))
    forward, backward = (np.log(np.where(safe[:, None], pivot, 1.0)).sum(axis=1) for pivot in pivots)
    return forward, safe & (np.abs(forward - backward) < _SAFE_DIFFERENCE)


def _log_elimination(x: Array, y: Array, points: Array, log_weight_x: Array, log_weight_y: Array) -> Array:
    """Log volume where columns are nearly dependent or entries underflow.

    Gaussian elimination with complete pivoting, on logarithms and signs of the entries: J = L U up to permutations,
    L unit lower trapezoidal and well conditioned, so that log vol J = Σ log|u_kk| + log vol L over any range of
    magnitudes. Pivoting finds the leading terms only if the columns of x and of y are balanced first.
    """
    balance = _balance(log_weight_x, log_weight_y, x.shape[1])
    log_weight_y = log_weight_y - balance[:, None]
    with np.errstate(divide="ignore"):
        parts = [
            (log_weight[:, :, None] + np.log(np.abs(difference)), np.sign(difference))
            for difference, log_weight in (
                (x[:, None, :] - points, log_weight_x),
                (points - y[:, None, :], log_weight_y),
            )
        ]
    log_entry = np.concatenate([part[0] for part in parts], axis=2)
    sign = np.concatenate([part[1] for part in parts], axis=2)
    n, s, n_columns = log_entry.shape
    pairs = np.arange(n)
    total = x.shape[1] * balance
    lower = np.zeros((n, s, n_columns))
    for k in range(n_columns):
        flat = log_entry.reshape(n, -1).argmax(axis=1)
        row, column = np.divmod(flat, n_columns)
        pivot = log_entry[pairs, row, column]
        total += pivot
        full_rank = np.isfinite(pivot)
        pivot = np.where(full_rank, pivot, 0.0)
        log_ratio = log_entry[pairs, :, column] - pivot[:, None]
        ratio_sign = sign[pairs, :, column] * sign[pairs, row, column][:, None]
        lower[:, :, k] = ratio_sign * np.exp(log_ratio)
        log_entry, sign = _subtract(
            log_entry,
            sign,
            log_ratio[:, :, None] + log_entry[pairs, row][:, None, :],
            ratio_sign[:, :, None] * sign[pairs, row][:, None, :],
        )
        log_entry[pairs, row, :] = -np.inf
        log_entry[pairs, :, column] = -np.inf
    return np.asarray(np.where(np.isfinite(total), total + _gram_volumes(lower)[0], -np.inf))


def _balance(log_weight_x: Array, log_weight_y: Array, n_columns: int) -> Array:
    """Log factor between the two blocks of columns for which the 2D heaviest rows belong half to x and half to y.

    Such a factor scales the best assignment of rows to columns to the largest entries (it is the dual variable of
    that assignment problem); found by bisection for all pairs at once.
    """
    log_weight_x, log_weight_y = _finite(log_weight_x), _finite(log_weight_y)
    low = (log_weight_y - log_weight_x).min(axis=1) - 1.0
    high = (log_weight_y - log_weight_x).max(axis=1) + 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        shifted = log_weight_y - middle[:, None]
        heaviest = np.argpartition(-np.maximum(log_weight_x, shifted), 2 * n_columns - 1, axis=1)[:, : 2 * n_columns]
        of_y = np.take_along_axis(shifted > log_weight_x, heaviest, axis=1).sum(axis=1)
        low, high = np.where(of_y > n_columns, middle, low), np.where(of_y > n_columns, high, middle)
    return np.asarray(0.5 * (low + high))


def _finite(log_weight: Array) -> Array:
    """Log weights with those of zero rows replaced by less than any other."""
    zero = np.isneginf(log_weight)
    smallest = np.where(zero, np.inf, log_weight).min(axis=1, keepdims=True)
    return np.where(zero, np.where(np.isfinite(smallest), smallest, 0.0) - 1.0, log_weight)


def _subtract(log_a: Array, sign_a: Array, log_b: Array, sign_b: Array) -> tuple[Array, Array]:
    """Difference a - b of numbers given by log magnitude and sign."""
    larger = np.maximum(log_a, log_b)
    reference = np.where(np.isfinite(larger), larger, 0.0)
    difference = sign_a * np.exp(log_a - reference) - sign_b * np.exp(log_b - reference)
    magnitude = np.abs(difference)
    kept = magnitude > _CANCELLED
    log_magnitude = np.log(np.where(kept, magnitude, 1.0))
    return np.where(kept, reference + log_magnitude, -np.inf), np.sign(difference)
