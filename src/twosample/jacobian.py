"""The log-volume term of the pseudo-likelihood: how (x, y) ↦ φ(x) - φ(y) stretches space at each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twosample.kernels import squared_distances

__all__ = ["log_volumes"]

Array = NDArray[np.float64]

# A column that keeps less than this share of its length after orthogonalisation has lost too many digits.
_SAFE_REMAINDER = 1e-4
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
    array([-1.257893])
    """
    n_columns = x.shape[1]
    precision = 0.5 / lengthscale**2
    log_weights, columns = [], []
    nearest = np.zeros(len(x))
    for rows, distances in ((x, distances_x), (y, distances_y)):
        scaled = precision * (squared_distances(rows, points) if distances is None else distances)
        closest = scaled.min(axis=1)
        nearest += closest
        log_weight = closest[:, None] - scaled
        log_weights.append(log_weight)
        weight = np.exp(log_weight)
        columns += [weight * np.subtract.outer(rows[:, d], points[:, d]) for d in range(n_columns)]

    result, safe = _gram_schmidt(columns)
    if not safe.all():
        doubtful = np.flatnonzero(~safe)
        result[doubtful] = _log_elimination(
            x[doubtful], y[doubtful], points, log_weights[0][doubtful], log_weights[1][doubtful]
        )
    result[(x == y).all(axis=1)] = -np.inf
    return result - n_columns * nearest - 4 * n_columns * np.log(lengthscale)


def _gram_schmidt(columns: list[Array]) -> tuple[Array, Array]:
    """Log volume by modified Gram–Schmidt, vectorised over pairs, and where it can be trusted."""
    total = np.zeros(len(columns[0]))
    safe = np.ones(len(total), dtype=bool)
    before = [np.einsum("ij,ij->i", column, column) for column in columns]
    for k, column in enumerate(columns):
        remaining = np.einsum("ij,ij->i", column, column)
        safe &= remaining > _SAFE_REMAINDER**2 * before[k]
        positive = np.where(remaining > 0, remaining, 1.0)
        total += 0.5 * np.log(positive)
        for later in columns[k + 1 :]:
            later -= (np.einsum("ij,ij->i", column, later) / positive)[:, None] * column
    return total, safe


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
    finite = np.isfinite(total)
    volume_lower, _ = _gram_schmidt([lower[:, :, k] for k in range(n_columns)])
    return np.where(finite, total + volume_lower, -np.inf)


def _balance(log_weight_x: Array, log_weight_y: Array, n_columns: int) -> Array:
    """Log factor between the two blocks of columns for which the 2D heaviest rows belong half to x and half to y.

    Such a factor scales the best assignment of rows to columns to the largest entries (it is the dual variable of
    that assignment problem); found by bisection for all pairs at once.
    """
    low = (log_weight_y - log_weight_x).min(axis=1) - 1.0
    high = (log_weight_y - log_weight_x).max(axis=1) + 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        shifted = log_weight_y - middle[:, None]
        heaviest = np.argpartition(-np.maximum(log_weight_x, shifted), 2 * n_columns - 1, axis=1)[:, : 2 * n_columns]
        of_y = np.take_along_axis(shifted > log_weight_x, heaviest, axis=1).sum(axis=1)
        low, high = np.where(of_y > n_columns, middle, low), np.where(of_y > n_columns, high, middle)
    return np.asarray(0.5 * (low + high))


def _subtract(log_a: Array, sign_a: Array, log_b: Array, sign_b: Array) -> tuple[Array, Array]:
    """a - b for numbers given by log magnitude and sign."""
    larger = np.maximum(log_a, log_b)
    reference = np.where(np.isfinite(larger), larger, 0.0)
    difference = sign_a * np.exp(log_a - reference) - sign_b * np.exp(log_b - reference)
    magnitude = np.abs(difference)
    kept = magnitude > _CANCELLED
    log_magnitude = np.log(np.where(kept, magnitude, 1.0))
    return np.where(kept, reference + log_magnitude, -np.inf), np.sign(difference)
