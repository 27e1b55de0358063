"""The log-volume term of the pseudo-likelihood: Jacobians of (x, y) ↦ φ(x) - φ(y) at each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags
from twosample.kernels import Kernel

__all__ = ["Jacobians"]


# A normalised column that keeps less than this share of its squared length has lost too many digits.
_SAFE_PIVOT = 1e-5
# Squares of shorter columns underflow.
_SAFE_LENGTH = 1e-145
# Log volumes of two decompositions that agree to this are both right.
_SAFE_DIFFERENCE = 1e-9
# Nats to which two blocks of columns are balanced before pivots are chosen.
_BALANCED = 0.05
# A difference smaller than this share of its terms is rounding noise: the column is linearly dependent.
_CANCELLED = 1e-13


class Jacobians:
    """The s × 2D Jacobians J_i of φ(x) - φ(y) at pairs of rows (n, D), for one lengthscale after the other.

    There are s ≥ 2D evaluation points (s, D), and the kernel has a slope.
    """

    def __init__(self, x: Array, y: Array, points: Array, kernel: Kernel) -> None:
        self._x, self._y, self._points, self._kernel = x, y, points, kernel
        with np.errstate(over="ignore"):
            self._distances = kernel.distances(x, points), kernel.distances(y, points)
        # Up to signs and the kernel's factor, the columns of J, (n, 2D, s): these do not depend on the lengthscale.
        self._differences = np.empty((len(x), 2 * x.shape[1], len(points)))
        for part, rows in zip(np.split(self._differences, 2, axis=1), (x, y), strict=True):
            np.subtract(rows[:, :, None], points.T, out=part)
        self._equal = (x == y).all(axis=1)
        self._columns, self._copy = np.empty_like(self._differences), np.empty_like(self._differences)

    def values(self, lengthscale: float) -> tuple[Array, Array]:
        """Kernel values (n, s) of the rows of x and of y, which the other methods take."""
        with np.errstate(over="ignore"):
            value_x, value_y = (np.asarray(self._kernel.value(d, lengthscale)) for d in self._distances)
        return value_x, value_y

    def log_volumes(self, lengthscale: float, values: tuple[Array, Array]) -> Array:
        """Log vol J_i = ½ log det(J_iᵀJ_i), (n,); -inf where J_i has not full rank, as when x_i = y_i.

        `values` are those of `values` at this lengthscale.
        """
        log_factor = self._weigh(lengthscale, values)
        np.copyto(self._copy, self._columns)  # a product of two different arrays is faster than one with itself
        result, safe = _gram_volumes(self._columns @ np.swapaxes(self._copy, 1, 2))
        if not safe.all():
            doubtful = np.flatnonzero(~safe)
            columns, log_weights, log_scale = self._scaled(lengthscale, doubtful, log_factor)
            result[doubtful], safe = _qr_volumes(columns)
            if not safe.all():
                rest = ~safe
                pairs = doubtful[rest]
                log_weight_x, log_weight_y = (weight[rest] for weight in log_weights)
                result[pairs] = _log_elimination(
                    self._x[pairs], self._y[pairs], self._points, log_weight_x, log_weight_y
                )
            result[doubtful] += log_scale
        result[self._equal] = -np.inf
        return np.asarray(result + self._differences.shape[1] * log_factor)

    def log_volume_bounds(self, lengthscale: float, values: tuple[Array, Array]) -> Array:
        """Upper bounds of `log_volumes` that are cheap at any lengthscale: the product of the columns' lengths."""
        log_factor = self._weigh(lengthscale, values)
        squares = np.einsum("nks,nks->nk", self._columns, self._columns)
        safe = (squares > _SAFE_LENGTH**2).all(axis=1)
        squares[~safe] = 1.0
        result = 0.5 * np.log(squares).sum(axis=1)
        if not safe.all():
            columns, _, log_scale = self._scaled(lengthscale, np.flatnonzero(~safe), log_factor)
            # Zeros may have underflowed.
            squares = np.maximum(np.square(columns).sum(axis=1), np.finfo(np.float64).tiny)
            result[~safe] = 0.5 * np.log(squares).sum(axis=1) + log_scale
        return np.asarray(result + self._differences.shape[1] * log_factor)

    def _weigh(self, lengthscale: float, values: tuple[Array, Array]) -> float:
        """Multiply the differences by the slopes of the kernel, which may underflow; return the common log factor."""
        n, n_columns, s = self._differences.shape
        shape = n, 2, n_columns // 2, s
        for side, (distances, value) in enumerate(zip(self._distances, values, strict=True)):
            slope, log_factor = self._kernel.slope(distances, lengthscale, value)
            np.multiply(
                self._differences.reshape(shape)[:, side],
                slope[:, None],
                out=self._columns.reshape(shape)[:, side],
            )
        return log_factor

    def _scaled(
        self, lengthscale: float, pairs: NDArray[np.intp], log_factor: float
    ) -> tuple[Array, list[Array], Array]:
        """J of some pairs, (k, s, 2D), scaled so that its largest rows cannot underflow; log weights; log scale.

        A point that equals the row has a zero row in J whatever its slope; its log weight is -inf.
        """
        columns = np.swapaxes(self._differences[pairs], 1, 2)
        n_columns = columns.shape[2] // 2
        log_weights = []
        log_scale = np.zeros(len(pairs))
        for distances, part in zip(self._distances, np.split(columns, 2, axis=2), strict=True):
            with np.errstate(over="ignore"):
                log_weight = self._kernel.log_slope(distances[pairs], lengthscale) - log_factor
            log_weight[distances[pairs] == 0.0] = -np.inf
            largest = log_weight.max(axis=1, keepdims=True)
            largest[np.isneginf(largest)] = 0.0  # no point is elsewhere, or all are too far to say
            log_weight -= largest
            log_scale += n_columns * largest[:, 0]
            log_weights.append(log_weight)
            part *= np.exp(log_weight)[:, :, None]
        return columns, log_weights, log_scale


def _gram_volumes(gram: Array) -> tuple[Array, Flags]:
    """Log volumes from Cholesky pivots of the columns' Gram matrices (n, 2D, 2D), and where they can be trusted."""
    gram = np.ascontiguousarray(gram.transpose(1, 2, 0))
    lengths = np.sqrt(np.einsum("kkn->kn", gram))
    safe = (lengths > _SAFE_LENGTH).all(axis=0)
    lengths[:, ~safe] = 1.0
    gram /= lengths[:, None]
    gram /= lengths
    for k in range(len(gram)):
        pivot = gram[k, k]
        safe &= pivot > _SAFE_PIVOT
        pivot = np.where(safe, pivot, 1.0)
        lengths[k] *= np.sqrt(pivot)
        row = gram[k, k + 1 :]
        gram[k + 1 :, k + 1 :] -= row[:, None] * (row / pivot)
    return np.log(lengths).sum(axis=0), safe


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
    difference = np.concatenate([x[:, None, :] - points, points - y[:, None, :]], axis=2)
    log_weight = np.repeat(np.stack([log_weight_x, log_weight_y], axis=2), x.shape[1], axis=2)
    with np.errstate(divide="ignore"):
        log_entry, sign = log_weight + np.log(np.abs(difference)), np.sign(difference)
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
    return np.asarray(np.where(np.isfinite(total), total + _gram_volumes(np.swapaxes(lower, 1, 2) @ lower)[0], -np.inf))


def _balance(log_weight_x: Array, log_weight_y: Array, n_columns: int) -> Array:
    """Log factor between the two blocks of columns for which the 2D heaviest rows belong half to x and half to y.

    Such a factor scales the best assignment of rows to columns to the largest entries (it is the dual variable of
    that assignment problem); found by bisection for all pairs at once.
    """
    log_weight_x, log_weight_y = _finite(log_weight_x), _finite(log_weight_y)
    low = (log_weight_y - log_weight_x).min(axis=1) - 1.0
    high = (log_weight_y - log_weight_x).max(axis=1) + 1.0
    while (high - low > _BALANCED).any():
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
