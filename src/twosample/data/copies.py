"""Notices rows that were copied: they repeat within a sample more often than coarse values do."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["copied_rows", "row_hashes"]

_BLOCK_ROWS = 1 << 14
_SCREENED_ROWS = 1 << 15
_MIN_REPEATS = 5
_MIN_REPEATS_SHARE = 0.05
_MIN_REPEATED_ROWS = 4
_MIN_DISTINCT_SHARE = 0.25


def copied_rows(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[str, ...]:
    """Describe the samples whose rows look copied, in a sentence each.

    Rows of coarse data (rounded, counts, categories) repeat by themselves. Copies are told from these twice over: a
    coarse value that comes back in its own sample comes back as often in the other one, and where the samples do not
    overlap, distinct coarse values still lie on a grid, or are few.

    Examples
    --------
    >>> x, y = np.random.default_rng(0).normal(size=(2, 40, 1))
    >>> copied_rows(x, y)
    ()
    >>> x[20:] = x[:20]
    >>> print(*copied_rows(x, y))
    20 of 40 rows of x repeat an earlier row, more than coarse values explain; copies are not independent observations
    and overstate the evidence: keep one of each.
    """
    x_hashes, y_hashes = row_hashes(x), row_hashes(y)
    notes = []
    for name, rows, hashes, others in (("x", x, x_hashes, y_hashes), ("y", y, y_hashes, x_hashes)):
        if not _repeats_stay_within(hashes, others):
            continue
        _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
        n_repeated = np.count_nonzero(counts > 1)
        if n_repeated < _MIN_REPEATED_ROWS or len(first) < _MIN_DISTINCT_SHARE * len(rows):
            continue
        if any(_grid_share(column[first]) < n_repeated / len(first) / 4 for column in rows.T):
            notes.append(
                f"{len(rows) - len(first)} of {len(rows)} rows of {name} repeat an earlier row, more than coarse "
                "values explain; copies are not independent observations and overstate the evidence: keep one of each."
            )
    return tuple(notes)


def row_hashes(rows: NDArray[np.float64]) -> NDArray[np.uint64]:
    """A hash of the values of each row, (n,): equal for equal rows."""
    hashes = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = hashes[start : start + _BLOCK_ROWS]
        for column in rows[start : start + _BLOCK_ROWS].T:
            block ^= (column + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
            block *= np.uint64(0xD6E8FEB86659FD93)
            block ^= block >> np.uint64(32)
    return hashes


def _repeats_stay_within(hashes: NDArray[np.uint64], others: NDArray[np.uint64]) -> bool:
    """Return whether rows repeat, and a pair of equal rows is less than a quarter as likely across samples as within.

    Of large samples only the rows in one bucket of the hash are looked at, which keeps equal rows together.
    """
    n_own, n_other = len(hashes), len(others)
    bits = (max(n_own, n_other) // _SCREENED_ROWS).bit_length()
    if bits:
        hashes, others = (h[h < np.uint64(1 << (64 - bits))] for h in (hashes, others))
    own = np.sort(hashes)
    n_repeats = np.count_nonzero(own[1:] == own[:-1])
    if n_repeats < max(_MIN_REPEATS, _MIN_REPEATS_SHARE * len(own)):
        return False
    values, counts = np.unique(own, return_counts=True)
    other = np.sort(others)
    other_counts = np.searchsorted(other, values, side="right") - np.searchsorted(other, values, side="left")
    within = float(counts @ (counts - 1)) / (n_own * (n_own - 1))
    across = float(counts @ other_counts) / (n_own * n_other)
    return across < within / 4


def _grid_share(values: NDArray[np.float64]) -> float:
    """Return the share of gaps between sorted values that look like those of a grid.

    Such gaps equal another smallest gap or the gap before them. If many are within a tenth of the gap before them, they
    count too (a grid seen through a logarithm, say). On a grid so coarse that a share of the values repeats, the share
    returned is of that size or larger; for continuous values it is near 0.
    """
    values = np.sort(values)
    gaps = np.diff(values)
    changes = np.abs(np.diff(gaps))
    rounding = 4 * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))
    equal = gaps <= 1.05 * gaps.min(where=gaps > rounding, initial=np.inf)
    equal[1:] |= changes <= 1e-3 * gaps[1:]
    n_equal = np.count_nonzero(equal) - 1  # one gap is the smallest in any case
    n_alike = np.count_nonzero(changes <= 0.1 * gaps[1:]) - 0.15 * len(gaps)  # chance makes 0.05 of them alike
    return float(max(n_equal, n_alike) / len(gaps))
