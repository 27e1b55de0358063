"""A few of very many rows, chosen without a look at which sample they are in: what a plan is made from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array, Flags, Indices, doubles, namespace, take_rows, to_numpy
from twosample.data.limits import Limits
from twosample.data.sketch import mixed

__all__ = ["HEAD_ROWS", "PILOT_ROWS", "Pilot", "place_hashes"]

# Rows of the pilot, and values where there are many columns.
PILOT_ROWS = 1 << 17
_PILOT_VALUES = 1 << 23
# Rows at the head of each sample, to see whether rows are copied or like the ones before them.
HEAD_ROWS = 1 << 15
_HEAD_VALUES = 1 << 20
# Up to this number of columns, the rows with the smallest and the largest value of each are in the pilot.
_MOST_WITH_EXTREMES = 256
_FEW_ROWS = 2000
_MOVED_ROWS = 1 << 12
# By how many times the root of their number those rows may be too few whose hashes are below a share of all hashes.
_SLACK = 16.0
# What has a room that is in use in part.
_ROOM = ("_rows", "_hashes", "_places", "_samples")


class Pilot:
    """Grows by parts of both samples; its memory does not.

    The pilot has the rows whose place within their sample has the smallest hashes, by one hash function for both
    samples: which sample is called x does not matter, and each row is as likely as any other. Up to `PILOT_ROWS` rows
    it has all of them. Where there are many columns it has fewer rows, but `fewest` of them.
    """

    def __init__(self, n_columns: int, fewest: int = 16) -> None:
        self.counts = [0, 0]  # how many rows of each sample there are
        self._limit = min(PILOT_ROWS, max(fewest, _PILOT_VALUES // max(n_columns, 1)))
        self._head_limit = max(2, min(HEAD_ROWS, _HEAD_VALUES // max(n_columns, 1)))
        self._empty(n_columns)

    def _empty(self, n_columns: int) -> None:
        self._below: int | None = None  # the rows kept have hashes below this; None is all
        # Rows with their hashes, places and samples; of the room for them, so much is in use.
        extremes = n_columns <= _MOST_WITH_EXTREMES
        room = self._limit + max(self._limit // 4, 2 * n_columns * extremes)
        self._rows = np.empty((room, n_columns))
        self._hashes = np.empty(room, dtype=np.uint64)
        self._places, self._samples = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int8)
        self._used = 0
        self._heads: tuple[list[Array], list[Array]] = ([], [])
        self._lows, self._highs = np.full((2, n_columns), np.inf), np.full((2, n_columns), -np.inf)
        self._extremes = _Extremes(n_columns) if extremes else None
        self.present = np.zeros((2, n_columns), dtype=np.int64)  # values: rows may lack some, as NaN

    def beginning(self, first: Sequence[int], total: int) -> Pilot:
        """An empty pilot of this size, for rows that follow `first` others of each sample, of `total` in all.

        It does without most rows that are sure to be left out of the pilot of all.
        """
        pilot = copy(self)
        pilot.counts = list(first)
        pilot._empty(self._rows.shape[1])
        likely = (self._limit + _SLACK * math.sqrt(self._limit)) / max(total, 1)
        if likely < 1.0:
            pilot._below = int(likely * 2.0**64)
        return pilot

    @classmethod
    def joined(cls, pilots: Sequence[Pilot]) -> Pilot:
        """The pilot of all rows together, of pilots each of which goes on where the one before it ends."""
        joined = copy(pilots[0])
        joined._empty(pilots[0]._rows.shape[1])
        known = [pilot._below for pilot in pilots if pilot._below is not None]
        joined._below = min(known) if known else None
        joined.counts = list(pilots[-1].counts)
        for pilot in pilots:
            joined.present += pilot.present
            joined._lows, joined._highs = np.minimum(joined._lows, pilot._lows), np.maximum(joined._highs, pilot._highs)
            for sample in (0, 1):
                joined._heads[sample].extend(pilot._heads[sample])
            if joined._extremes is not None and pilot._extremes is not None:
                joined._extremes.join(pilot._extremes)
            used = slice(pilot._used)
            joined._keep(pilot._rows[used], pilot._hashes[used], pilot._places[used], pilot._samples[used])
        return joined

    def __getstate__(self) -> dict[str, Any]:
        """All of it without the room that is not in use."""
        self._thin_out()
        return {**self.__dict__, **{name: getattr(self, name)[: self._used] for name in _ROOM}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make room again."""
        self._limit = state["_limit"]
        self._empty(state["_rows"].shape[1])
        for name in _ROOM:
            getattr(self, name)[: state["_used"]] = state[name]
        self.__dict__.update({name: value for name, value in state.items() if name not in _ROOM})

    @property
    def whole(self) -> bool:
        """Whether it has all rows."""
        return sum(self.counts) <= self._limit

    @property
    def limits(self) -> Limits:
        """The smallest and largest values of all rows; of a column without any, infinite."""
        return Limits(self._lows[0], self._highs[0], self._lows[1], self._highs[1])

    def add(self, sample: int, rows: Any) -> None:
        """Add the next rows (n, D) of x (0) or y (1), finite or, in arrays of NumPy, NaN; at least one."""
        with doubles(rows):
            self._add(sample, rows)

    def _add(self, sample: int, rows: Any) -> None:
        first = self.counts[sample]
        self.counts[sample] += rows.shape[0]
        xp = namespace(rows)
        low, high = (np.asarray(to_numpy(limit(rows, axis=0))) for limit in (xp.min, xp.max))
        absent = np.isnan(rows) if np.isnan(low).any() else None
        self.present[sample] += rows.shape[0]
        if absent is not None:
            self.present[sample] -= np.count_nonzero(absent, axis=0)
            low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
        self._lows[sample], self._highs[sample] = np.fmin(self._lows[sample], low), np.fmax(self._highs[sample], high)
        if self._extremes is not None:
            self._extremes.add(rows, absent)
        if first < self._head_limit:
            self._heads[sample].append(np.array(to_numpy(rows[: min(self._head_limit - first, rows.shape[0]), ...])))
        places = np.arange(first, first + rows.shape[0])
        self._keep(rows, place_hashes(places), places, np.full(len(places), sample, dtype=np.int8))

    def _keep(self, rows: Any, hashes: NDArray[np.uint64], places: Indices, samples: NDArray[np.int8]) -> None:
        """Take in those rows whose hashes are small enough."""
        while len(places):
            if self._below is not None:
                chosen = hashes < np.uint64(self._below)
                if not chosen.all():
                    hashes, places, samples = hashes[chosen], places[chosen], samples[chosen]
                    rows = take_rows(rows, chosen)
            count = min(len(places), len(self._rows) - self._used)
            new = slice(self._used, self._used + count)
            self._rows[new] = to_numpy(rows[:count, ...])
            self._hashes[new], self._places[new], self._samples[new] = hashes[:count], places[:count], samples[:count]
            self._used += count
            hashes, places, samples, rows = hashes[count:], places[count:], samples[count:], rows[count:, ...]
            if len(places):
                self._thin_out()

    def _thin_out(self) -> None:
        """Keep the rows with the smallest hashes; of two with the same one, both or none."""
        if self._used <= self._limit:
            return
        hashes = self._hashes[: self._used]
        self._below = int(np.partition(hashes, self._limit)[self._limit])
        chosen = hashes < np.uint64(self._below)
        self._used = 0
        for start in range(0, len(chosen), _MOVED_ROWS):  # forward and in place
            here = start + np.flatnonzero(chosen[start : start + _MOVED_ROWS])
            there = slice(self._used, self._used + len(here))
            for array in (getattr(self, name) for name in _ROOM):
                array[there] = array[here]
            self._used = there.stop

    def rows(self, sample: int) -> Array:
        """Its rows of one sample, in their order, without extremes."""
        self._thin_out()
        mine = np.flatnonzero(self._samples[: self._used] == sample)
        return np.asarray(self._rows[mine[np.argsort(self._places[mine])]])

    def pooled(self) -> Array:
        """Its rows of both samples, and those with the extremes."""
        self._thin_out()
        count = self._used
        if self._extremes is not None:
            extremes = self._extremes.beyond(self._rows[:count])
            self._rows[count : count + len(extremes)] = extremes
            count += len(extremes)
        rows = self._rows[:count]
        rows += 0.0  # turns -0.0 into 0.0: which of the two comes first must not matter
        return rows

    def recoded(self, kept: Sequence[int], codes: Mapping[int, Array]) -> Pilot:
        """The same of some of the columns only, with other codes in some of these: the new one of each old code.

        Examples
        --------
        >>> pilot = Pilot(2)
        >>> pilot.add(0, np.array([[7.0, 0.0], [8.0, 1.0]]))
        >>> pilot.recoded([1], {1: np.array([3.0, 4.0])}).rows(0).ravel()
        array([3., 4.])
        """
        found = copy(self)

        def of(rows: Array) -> Array:
            rows = rows[..., kept]
            for place, column in enumerate(kept):
                if column in codes:
                    table = codes[column]
                    old = np.clip(np.nan_to_num(rows[..., place]), 0, len(table) - 1)
                    rows[..., place] = table[old.astype(np.intp)]
            return rows

        found.present = self.present[:, list(kept)]
        found._rows = np.empty((len(self._rows), len(kept)))
        found._rows[: self._used] = of(self._rows[: self._used])
        found._heads = [of(part) for part in self._heads[0]], [of(part) for part in self._heads[1]]
        found._lows, found._highs = self._lows[:, kept], self._highs[:, kept]
        for place, column in enumerate(kept):
            if column in codes:
                for sample in (0, 1):
                    mine = found._rows[: self._used][self._samples[: self._used] == sample, place]
                    values = np.concatenate([mine, *(part[:, place] for part in found._heads[sample])])
                    found._lows[sample, place] = values.min(initial=np.inf)
                    found._highs[sample, place] = values.max(initial=-np.inf)
        if self._extremes is not None:
            found._extremes = self._extremes.recoded(list(kept), of)
        return found

    def some(self, sample: int) -> Array:
        """Rows of a sample that can stand for it in pictures, also where it has few of those in the pilot."""
        rows = self.rows(sample)
        few = len(rows) < _FEW_ROWS or self.counts[sample] <= self._head_limit
        return self.head(sample) if few else rows

    def head(self, sample: int) -> Array:
        """The first rows of a sample."""
        return np.concatenate(self._heads[sample])


class _Extremes:
    """For each column a row with its smallest value and one with its largest."""

    def __init__(self, n_columns: int) -> None:
        self._rows = np.full((2, n_columns, n_columns), np.nan)
        self._values = np.array([[np.inf], [-np.inf]]).repeat(n_columns, axis=1)

    def add(self, rows: Any, absent: Flags | None) -> None:
        xp = namespace(rows)
        for which, find, never in ((0, xp.argmin, np.inf), (1, xp.argmax, -np.inf)):
            places = find(rows if absent is None else np.where(absent, never, rows), axis=0)
            self._take(which, np.asarray(to_numpy(take_rows(rows, np.asarray(to_numpy(places))))))

    def join(self, other: _Extremes) -> None:
        for which in (0, 1):
            self._take(which, other._rows[which])

    def _take(self, which: int, found: Array) -> None:
        """Take in one row for each column, where it has a value there."""
        columns = np.arange(len(found))
        values, known = found[columns, columns], self._values[which]
        better = values < known if which == 0 else values > known
        for column in np.flatnonzero(values == known):  # the same row, whichever comes first
            here, there = (np.nan_to_num(rows[column], nan=np.inf).tolist() for rows in (found, self._rows[which]))
            better[column] = here < there
        self._rows[which, better] = found[better]
        self._values[which, better] = values[better]

    def recoded(self, kept: list[int], of: Callable[[Array], Array]) -> _Extremes:
        """The same of some of the columns, with other codes."""
        found = _Extremes(len(kept))
        found._rows = of(self._rows[:, kept])
        values = np.stack([np.diagonal(rows) for rows in found._rows])
        found._values = np.where(np.isnan(values), self._values[:, kept], values)
        return found

    def beyond(self, rows: Array) -> Array:
        """Those rows that have smaller or larger values than these, each once."""
        smaller = self._values[0] < np.fmin.reduce(rows, axis=0, initial=np.inf)
        larger = self._values[1] > np.fmax.reduce(rows, axis=0, initial=-np.inf)
        found = np.concatenate([self._rows[0, smaller], self._rows[1, larger]])
        _, first = np.unique(np.nan_to_num(found, nan=np.inf), axis=0, return_index=True)
        return np.asarray(found[first])


def place_hashes(places: Indices) -> NDArray[np.uint64]:
    """A hash of the place of each row, (n,)."""
    return mixed(np.zeros(len(places), dtype=np.uint64), places.astype(np.uint64) + np.uint64(1))
