"""Notices rows that were copied: they repeat, within a sample or across both, more than coarse values do."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags, Indices
from twosample.errors import DuplicateRowsWarning, Setting

__all__ = ["Copies", "find_copies", "row_hashes"]

_BLOCK_ROWS = 1 << 14
_SCREENED_ROWS = 1 << 15
# Fewer rows, or a smaller share of all, do little harm.
_MIN_REPEATS = 5
_MIN_REPEATS_SHARE = 0.05
_MIN_SHARED_SHARE = 0.1
_MIN_REPEATED_ROWS = 4
# Fewer distinct values can be a scale of their own, however they lie.
_MIN_DISTINCT = 8
# Chance explains what is more likely than this.
_UNLIKELY = 1e-3
# Exponentials of more would leave no digits to see a grid by.
_LARGEST_EXPONENT = 25.0
# Gaps of a column's values to either side that tell how full its grid is there.
_NEIGHBOURS = 7

_Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows that look copied; none where coarse values explain that they are alike."""

    repeated_x: Flags  # which rows of the sample repeat an earlier one of it
    repeated_y: Flags
    shared_x: Flags  # which rows of the sample are in the other one too
    shared_y: Flags
    in_place: bool = False  # whether only rows at the same place count as shared: others can be equal by chance
    paired: bool = False

    def __bool__(self) -> bool:
        """Whether there are any."""
        return any(flags.any() for flags in (self.repeated_x, self.repeated_y, self.shared_x, self.shared_y))

    def kept(self) -> tuple[Flags, Flags]:
        """The rows that are left with each kept once, and those in both samples in neither."""
        keep_x, keep_y = ~(self.repeated_x | self.shared_x), ~(self.repeated_y | self.shared_y)
        return (keep_x & keep_y, keep_x & keep_y) if self.paired else (keep_x, keep_y)

    def warnings(self, answer: str = "", roles: tuple[str, str] = ("x", "y")) -> tuple[DuplicateRowsWarning, ...]:
        """One for each sample with copies and one for rows in both, and what the answer is without them."""
        found: list[tuple[str, tuple[str | Setting, ...]]] = []
        for name, flags in zip(roles, (self.repeated_x, self.repeated_y), strict=True):
            if flags.any():
                message = (
                    f"{np.sum(flags)} of {len(flags)} rows of {name} repeat an earlier row, more than coarse values "
                    "explain; copies are not independent observations and overstate the evidence"
                )
                found.append((message, ("keep one of each",)))
        if self.shared_x.any():
            found.append(self._shared_in_words(*roles))
        end = f". {answer}" if answer else "."
        return tuple(DuplicateRowsWarning(text, argument="x and y", remedy=(*remedy, end)) for text, remedy in found)

    def _shared_in_words(self, x: str, y: str) -> tuple[str, tuple[str | Setting, ...]]:
        if self.shared_x.all() and self.shared_y.all():
            said = f"{x} and {y} hold the same rows, as if one sample was given twice"
            return said, ("pass the other sample, unless this is meant",)
        some = f"{np.sum(self.shared_x)} of {len(self.shared_x)} rows of {x} are also rows of {y}"
        if self.in_place:
            some += " at the same place"
        remedy = ("leave them out or, if these are the same units measured twice, pass ", Setting("paired", True))
        return f"{some}, more than coarse values explain; the samples are not independent", remedy


def find_copies(x: Array, y: Array, *, paired: bool = False) -> Copies:
    """Find the rows that look copied.

    Rows of coarse data (rounded, counts, categories) repeat by themselves. Copies within a sample are told from these
    in three ways. A coarse value that comes back in its own sample comes back as often in the other one. Where the
    samples do not overlap, coarse values still lie on a grid, and how full that is says how many should repeat. And
    where every row is there 2, or 3, … times, chance cannot have done that. Independent samples share a row at most as
    often as one of them repeats it, whatever the distributions; shared rows are those beyond. Of pairs the same row in
    both is no wonder, unless all of them are.
    """
    x_hashes, y_hashes = row_hashes(x), row_hashes(y)
    x_values, y_values = (_Values.of(hashes, max(len(x), len(y))) for hashes in (x_hashes, y_hashes))
    across = _Across.of(x_values, y_values)
    repeated_x = _repeated(x, x_hashes, x_values, y_values)
    repeated_y = _repeated(y, y_hashes, y_values, x_values)
    in_place = False
    if paired:
        vary = len(x_values.hashes) > 1  # one row throughout is no copy of itself
        same = len(x) >= _MIN_REPEATS and vary and bool((x_hashes == y_hashes).all())
        shared_x = shared_y = np.full(len(x), same)
    elif _are_shared(x_values, y_values, across) or _are_the_same(x_values, y_values, x):
        shared_x, shared_y = np.isin(x_hashes, y_hashes), np.isin(y_hashes, x_hashes)
    elif _meet_in_place(x_hashes, y_hashes, across):
        in_place = True
        shared_x = shared_y = x_hashes == y_hashes
    else:
        shared_x, shared_y = np.zeros(len(x), dtype=bool), np.zeros(len(y), dtype=bool)
    return Copies(repeated_x, repeated_y, shared_x, shared_y, in_place, paired)


def row_hashes(rows: Array) -> _Hashes:
    """A hash of the values of each row, (n,): equal for equal rows."""
    hashes = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = hashes[start : start + _BLOCK_ROWS]
        for column in rows[start : start + _BLOCK_ROWS].T:
            block ^= (column + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
            block *= np.uint64(0xD6E8FEB86659FD93)
            block ^= block >> np.uint64(32)
    return hashes


class _Values(NamedTuple):
    """The distinct rows of a sample of n and how often each is there; of large samples those in a bucket of the hash.

    A bucket keeps equal rows together, in both samples.
    """

    hashes: _Hashes
    counts: Indices
    n: int

    @classmethod
    def of(cls, hashes: _Hashes, largest: int) -> "_Values":
        """The distinct rows behind hashes, where the larger sample has this number of rows."""
        bits = (largest // _SCREENED_ROWS).bit_length()
        looked_at = hashes[hashes < np.uint64(1 << (64 - bits))] if bits else hashes
        values, counts = np.unique(looked_at, return_counts=True)
        return cls(values, counts, len(hashes))

    def without_most_common(self) -> "_Values":
        """All but one of them."""
        most = int(np.argmax(self.counts))
        return _Values(np.delete(self.hashes, most), np.delete(self.counts, most), self.n)

    @property
    def pairs(self) -> float:
        """Pairs of equal rows."""
        return float(self.counts @ (self.counts - 1)) / 2

    @property
    def share(self) -> float:
        """What share of all pairs of rows these are."""
        return self.pairs / (self.n * (self.n - 1) / 2)

    def repeat(self) -> bool:
        """Whether enough rows repeat."""
        n_seen = int(self.counts.sum())
        return n_seen - len(self.counts) >= max(_MIN_REPEATS, _MIN_REPEATS_SHARE * n_seen)


class _Across(NamedTuple):
    """Rows that two samples have in common: pairs of them, as a share of all pairs, and the smaller number of rows."""

    pairs: float
    share: float
    rows: int

    @classmethod
    def of(cls, x: _Values, y: _Values) -> "_Across":
        _, x_places, y_places = np.intersect1d(x.hashes, y.hashes, assume_unique=True, return_indices=True)
        x_counts, y_counts = x.counts[x_places], y.counts[y_places]
        pairs = float(x_counts @ y_counts)
        return cls(pairs, pairs / (x.n * y.n), int(min(x_counts.sum(), y_counts.sum())))


def _repeated(rows: Array, hashes: _Hashes, values: _Values, others: _Values) -> Flags:
    """Which rows repeat an earlier one, if they were copied."""
    none = np.zeros(len(rows), dtype=bool)
    if not values.repeat():
        return none
    _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    n_repeated = int(np.count_nonzero(counts > 1))
    if not _are_multiples(counts, rows[first]):
        unlike = n_repeated >= _MIN_REPEATED_ROWS and _stay_within(values, others)
        if not unlike or all(_explained(column[first], n_repeated) for column in rows.T):
            return none
    repeated = ~none
    repeated[first] = False
    return repeated


def _are_multiples(counts: Indices, distinct: Array) -> bool:
    """Whether every distinct row is there k, 2k, 3k … times, which neither chance nor a design explains."""
    k = int(np.gcd.reduce(counts))
    if k < 2 or (len(counts) - 1) * math.log(k) < -math.log(_UNLIKELY):
        return False
    return bool((counts > k).any()) or not _is_design(distinct)


def _is_design(distinct: Array) -> bool:
    """Whether the rows are all combinations of the values of their columns, and these few or evenly spaced."""
    combinations = 1
    for column in distinct.T:
        levels = np.unique(column)
        combinations *= len(levels)
        if combinations > len(distinct):
            return False
        steps = np.diff(levels)
        if len(levels) >= _MIN_DISTINCT and not np.allclose(steps, steps[0], rtol=1e-3, atol=0.0):
            return False
    return combinations == len(distinct)


def _stay_within(values: _Values, others: _Values) -> bool:
    """Whether equal rows are less than a quarter as likely across samples, and few that repeat are there at all.

    The most common row is left out: it may be one that comes often, such as zero, among others that should not repeat.
    """
    values = values.without_most_common()
    repeated = values.hashes[values.counts > 1]
    there = np.isin(repeated, others.hashes, assume_unique=True)
    return _Across.of(values, others).share < values.share / 4 and bool(2 * np.count_nonzero(there) < len(repeated))


def _explained(values: Array, n_repeated: int) -> bool:
    """Whether that many of the values of a column, one for each distinct row, would repeat on a grid as full as theirs.

    Of cells with a rate λ of values each, the share o = 1 - exp(-λ) is occupied, and of these 1 - λ(1 - o)/o hold more
    than one. How full the grid is, is seen from the gaps around a value. Instead of the values their logarithms may be
    on a grid, or the values are logarithms of ones that are.
    """
    distinct, places = np.unique(values[np.isfinite(values)], return_inverse=True)
    if len(distinct) < _MIN_DISTINCT:
        return True
    expected = _expected_repeats(distinct)
    if distinct[0] > 0:
        expected = np.maximum(expected, _expected_repeats(np.log(distinct)))
    for base in (2.0, math.e, 10.0):
        if max(-distinct[0], distinct[-1]) * math.log(base) < _LARGEST_EXPONENT:
            expected = np.maximum(expected, _expected_repeats(base**distinct))
    likely = float(expected[places].sum())
    return n_repeated <= 1.5 * likely + 4.0 * math.sqrt(likely)


def _expected_repeats(distinct: Array) -> Array:
    """The probability that an occupied cell of the grid holds more than one value, at each of increasing values."""
    gaps = _on_grid(distinct).astype(np.float64)
    window = 2 * _NEIGHBOURS
    sums = np.concatenate([[0.0], np.cumsum(gaps)])
    starts = np.clip(np.arange(len(distinct)) - _NEIGHBOURS, 0, max(len(gaps) - window, 0))
    ends = np.minimum(starts + window, len(gaps))
    full = np.minimum((sums[ends] - sums[starts]) / (ends - starts), 1.0 - 1e-9)
    rate = -np.log1p(-full)
    return np.where(full > 0, 1.0 - rate * (1.0 - full) / np.where(full > 0, full, 1.0), 0.0)


def _on_grid(distinct: Array) -> Flags:
    """Which gaps between increasing values look like a step of a grid: they equal the smallest one, or the one before.

    If many are within a tenth of the gap before them, those count too (a grid seen through a smooth map, say).
    """
    gaps = np.diff(distinct)
    rounding = 4 * np.finfo(np.float64).eps * max(abs(distinct[0]), abs(distinct[-1]))
    changes = np.abs(np.diff(gaps))
    smallest = gaps.min(where=gaps > rounding, initial=np.inf)
    steps: Flags = gaps <= 1.05 * smallest
    if np.count_nonzero(steps) == 1:
        steps[:] = False  # one gap is the smallest in any case
    steps[1:] |= changes <= 1e-3 * gaps[1:]
    alike = changes <= 0.1 * gaps[1:]
    if np.count_nonzero(alike) > 0.3 * len(gaps):  # chance makes 0.05 of them alike
        steps[1:] |= alike
    return steps


def _are_shared(x: _Values, y: _Values, across: _Across) -> bool:
    """Whether the samples share more rows than they could by chance, seen from how often each repeats a row.

    Equal pairs across are a share Σ pq of all, those within Σ p² and Σ q², whose mean is not less: of all equal pairs
    at most about that share is across which it has of all pairs of rows.
    """
    if across.rows < max(_MIN_REPEATS, _MIN_SHARED_SHARE * min(x.counts.sum(), y.counts.sum())):
        return False
    if across.share < 4 * max(x.share, y.share):
        return False
    expected = x.n * y.n / ((x.n + y.n) * (x.n + y.n - 1) / 2)
    return _tail(int(across.pairs), int(across.pairs + x.pairs + y.pairs), expected) < _UNLIKELY


def _are_the_same(x: _Values, y: _Values, rows: Array) -> bool:
    """Whether the samples hold the same rows equally often, which neither chance nor a design explains.

    That two counts with a mean c are equal has a probability of about 1/√(4πc), or less than 1.
    """
    if x.n != y.n or not (np.array_equal(x.hashes, y.hashes) and np.array_equal(x.counts, y.counts)):
        return False
    unlikely = 0.5 * np.log(np.maximum(4 * math.pi * x.counts, math.e))
    return float(unlikely.sum() - unlikely.max()) > -math.log(_UNLIKELY) and not _is_design(np.unique(rows, axis=0))


def _meet_in_place(x: _Hashes, y: _Hashes, across: _Across) -> bool:
    """Whether rows at the same place are equal, far more than rows one or two places apart or anywhere."""
    if len(x) != len(y) or len(x) < _MIN_REPEATS:
        return False
    n_equal = int(np.count_nonzero(x == y))
    if n_equal < max(_MIN_REPEATS, _MIN_SHARED_SHARE * len(x)):
        return False
    near = max(float((x[lag:] == y[:-lag]).mean()) for lag in (1, 2))
    far = max(float((x[:-lag] == y[lag:]).mean()) for lag in (1, 2))
    share = max(near, far, across.share, 1.0 / len(x))
    return _tail(n_equal, len(x), share) < _UNLIKELY


def _tail(count: int, n: int, share: float) -> float:
    """Chernoff's bound of the probability of at least `count` of n events, each with a probability `share`."""
    found = count / n
    if found <= share:
        return 1.0
    rest = (1 - found) * math.log((1 - found) / (1 - share)) if found < 1 else 0.0
    return math.exp(-n * (found * math.log(found / share) + rest))
