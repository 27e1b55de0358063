"""Checks of a monitor that was read from a file: what cannot have become of any stream is refused by its name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from twosample.common.arrays import Array
from twosample.data.categories import Levels
from twosample.questions.monitor.evalues import Component, Learnt
from twosample.questions.monitor.memory import LONGEST_HISTORY, SETTLED, Learning, Memory
from twosample.questions.monitor.state import HistoryRow, RunLength

__all__ = ["checked", "rows_of", "texts_of", "whole"]

# Fields of the memory that the history calls something else.
_FIELDS = {"batch": "batches"}
# Relative error of sums that another machine has rounded otherwise.
_ROUNDING = 1e-9
_LARGEST = 2**53


def _require(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise ValueError(f"{what}: does not fit the rest")


def whole(value: Any, name: str, lowest: int = 0, highest: int = _LARGEST) -> int:
    """The value, if it is a whole number between these."""
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise ValueError(f"{name}: expected a whole number from {lowest} to {highest:,}, got {value!r:.40}")
    return value


def texts_of(value: Any, name: str) -> tuple[str, ...]:
    """The value, if it is a list of different texts."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise TypeError(f"{name}: expected texts")
    if len(set(value)) < len(value):
        raise ValueError(f"{name}: one of them is there twice")
    return tuple(value)


def rows_of(arrays: dict[str, Any], name: str, width: int | None) -> Array:
    """Rows of finite numbers in that many columns; none at all where there are no columns yet."""
    rows = np.asarray(arrays[name])
    if rows.dtype != np.float64 or rows.ndim != 2 or (len(rows) and rows.shape[1] != width):
        raise ValueError(f"{name}: expected rows of {width} numbers, got {rows.dtype} {rows.shape}")
    _require(np.isfinite(rows).all(), name)
    return rows


def checked(memory: Memory) -> Memory:
    """The memory, if its parts belong together."""
    _check_counts(memory)
    _check_columns(memory)
    _check_history(memory)
    _check_learning(memory)
    mark = memory.bookmark
    if mark is not None:
        _require(isinstance(mark.name, str), "bookmark.name")
        for name in ("device", "inode"):
            whole(getattr(mark, name), f"bookmark.{name}", 0, 2**128)
        whole(mark.rows, "bookmark.rows", 0, memory.received[1])
        _require(isinstance(mark.digest, str) and len(mark.digest) == 64, "bookmark.digest")
    return memory


def _check_counts(memory: Memory) -> None:
    batches, settings = whole(memory.batches, "batches"), memory.settings
    counts = whole(memory.n_x, "n_x", 2 * batches), whole(memory.n_y, "n_y", 2 * batches)
    _require(bool(batches) == bool(counts[0]) == bool(counts[1]), "batches")
    _require(not settings.paired or counts[0] == counts[1], "n_x and n_y")
    received = memory.received
    _require(isinstance(received, tuple) and len(received) == 2, "received")
    for number, rows in enumerate(memory.waiting):
        used = 0 if number == 0 and settings.with_reference else counts[number] + len(rows)
        whole(received[number], "received", used)
    _require(settings.with_reference == (memory.reference is not None), "reference")
    whole(memory.refills, "refills", settings.with_reference, _LARGEST if settings.with_reference else 0)
    waiting = min(map(len, memory.waiting))
    _require(waiting < 2 and (not settings.with_reference or not len(memory.waiting[0])), "waiting")


def _check_columns(memory: Memory) -> None:
    """Columns and levels, and rows that have codes for them."""
    learning = memory.learning
    names, levels, plan = learning.columns or (), learning.levels, learning.plan
    _require(len(levels) in (0, len(names)), "levels")
    if plan is not None:
        _require(bool(names) and plan.domain is None and len(plan.levels) in (0, len(plan.columns)), "columns")
        if plan.columns != names:  # some were left out
            right = plan.kept.dtype == bool and plan.kept.shape == (len(names),)
            _require(right and plan.columns == tuple(np.array(names, dtype=object)[plan.kept].tolist()), "plan")
    young = (rows for both in learning.young or () for rows in both)
    held: Iterable[Array | None] = (*memory.waiting, memory.reference, *young)
    for rows in held:
        if rows is not None and len(rows):
            _check_codes(rows, levels)


def _check_codes(rows: Array, levels: Levels) -> None:
    """The codes of columns that have levels."""
    for codes, known in zip(rows.T, levels, strict=False):
        if known is not None:
            _require(((codes == np.floor(codes)) & (codes >= 0) & (codes <= len(known))).all(), "levels")


def _check_history(memory: Memory) -> None:
    """The numbers of the batches, and those of the memory that follow from them."""
    history, batches, settings = memory.history, memory.batches, memory.settings
    right = history.dtype == np.float64 and history.shape[1:] == (len(HistoryRow._fields),)
    _require(right and len(history) <= batches and bool(len(history)) == bool(batches), "history")
    _require(len(history) == batches or batches > LONGEST_HISTORY >= len(history), "history")
    _require(np.isfinite(history).all() and (history[:, :3] == np.floor(history[:, :3])).all(), "history")
    steps = np.diff(history[:, :3], axis=0, prepend=np.zeros((1, 3)))
    _require((steps[:, 0] >= 1).all() and (steps[:, 1:] >= 2 * steps[:, :1]).all(), "history")
    most = math.log(settings.permutations + 1) + _ROUNDING
    _require((history[:, 3] <= most).all(), "history")
    _check_recent(memory, most)
    last = [0, 0, 0, 0.0, 0.0, -math.inf] if not batches else history[-1].tolist()
    for name, found in zip(HistoryRow._fields, last, strict=True):
        stored = memory.run_length.log_value if name == "log_run_length" else getattr(memory, _FIELDS.get(name, name))
        _require(isinstance(stored, int | float) and stored == found, name)
    _check_alarm(memory, memory.crossed_at, "crossed_at", 4)
    _check_alarm(memory, memory.run_length.alarm_at, "run_length_alarm_at", 5)
    if len(history) == batches:
        _replay(memory)


def _check_recent(memory: Memory, most: float) -> None:
    """The e-values of the last batches, where only these count; the log of none is more than `most`."""
    kept = min(memory.batches, memory.settings.window or 0)
    _require(isinstance(memory.recent, tuple) and len(memory.recent) == kept, "recent")
    _require(all(isinstance(one, float) and -math.inf < one <= most for one in memory.recent), "recent")


def _check_alarm(memory: Memory, at: Any, name: str, place: int) -> None:
    """The first batch at which a column of the history reached its limit."""
    history = memory.history
    first = next(iter(history[history[:, place] >= -math.log(memory.settings.alpha), 0].tolist()), None)
    if len(history) == memory.batches:
        _require(at == first and type(at) is not float, name)
    else:  # the first one may have been dropped
        _require(at is None or 1 <= whole(at, name) <= (first or memory.batches), name)
        _require(at is not None or first is None, name)


def _replay(memory: Memory) -> None:
    """Compute anew what follows from the e-values of all batches."""
    history, window = memory.history, memory.settings.window
    total = np.cumsum(history[:, 3])
    log_evalues = total.copy()
    if window is not None:
        log_evalues[window:] -= total[:-window]
        _require(memory.recent == tuple(history[-window:, 3].tolist()) or not len(history), "recent")
    scale = _ROUNDING * (1.0 + np.abs(total).max(initial=0.0))
    _require((np.abs(history[:, 4] - log_evalues) <= scale).all(), "log_evalue")
    length = RunLength()
    for batch, log_evalue, stored in history[:, [0, 3, 5]].tolist():
        length = length.after(int(batch), log_evalue, memory.settings.alpha)
        _require(math.isclose(length.log_value, stored, rel_tol=_ROUNDING, abs_tol=_ROUNDING), "run_length")


def _check_learning(memory: Memory) -> None:
    learning, batches, total = memory.learning, memory.batches, memory.n_x + memory.n_y
    whole(learning.planned, "planned", 0, total)
    if learning.young is not None:
        _check_young(memory, learning.young)
    if learning.plan is None:
        _require(not batches and learning.young == () and not learning.planned, "plan")
        return
    _require((learning.young is None) or learning.planned > 0, "planned")
    statistics = learning.statistics
    _require((statistics is None) == (not batches), "statistics")
    if statistics is not None:
        _require((statistics.n_x, statistics.n_y) == (memory.n_x, memory.n_y), "statistics")
        assert learning.plan.lengthscales is not None
        _require(np.array_equal(statistics.lengthscales, learning.plan.lengthscales), "statistics")
    rows = memory.n_x if memory.settings.paired else total
    for number, (component, learnt) in enumerate(zip(learning.components, learning.learnt, strict=True)):
        _check_learnt(component, learnt, rows, learning, f"learnt.{number}")


def _check_young(memory: Memory, young: Sequence[tuple[Array, Array]]) -> None:
    """The rows of the first batches, as long as the plan may change."""
    total = memory.n_x + memory.n_y
    _require(len(young) == memory.batches and (total < SETTLED or not memory.batches), "young")
    counts = [sum(len(rows[side]) for rows in young) for side in range(2)]
    _require(counts == [memory.n_x, memory.n_y] and all(min(map(len, both)) >= 2 for both in young), "young")


def _check_learnt(component: Component, learnt: Learnt, rows: int, learning: Learning, name: str) -> None:
    """Sums that batches of that many rows may have taught about a component."""
    m, s, paired = len(component.lengthscales), component.features.count, learning.settings.paired
    shapes = {"weight": (), "shift": (m, s), "rows": (), "scatter": (m, s, s)}
    for part, shape in shapes.items():
        array = np.asarray(getattr(learnt, part))
        _require(array.dtype == np.float64 and array.shape == shape and np.isfinite(array).all(), f"{name}.{part}")
    most = rows * (1.0 + _ROUNDING)
    _require(learnt.rows == rows if not learning.settings.forget else 0.0 <= learnt.rows <= most, f"{name}.rows")
    _require((learnt.rows > 0.0) == (learnt.weight > 0.0) == (rows > 0), f"{name}.weight")
    share = 1.0 if paired else 0.25
    _require(learnt.weight <= learnt.rows * share * (1.0 + _ROUNDING), f"{name}.weight")
    spread = np.sqrt(np.maximum(np.einsum("mss->ms", learnt.scatter), 0.0))
    bound = (1.0 + _ROUNDING) * spread[:, :, np.newaxis] * spread[:, np.newaxis, :] + _ROUNDING
    _require((np.abs(learnt.scatter) <= bound).all(), f"{name}.scatter")
    swapped = np.abs(learnt.scatter - learnt.scatter.swapaxes(1, 2))
    _require((swapped <= _ROUNDING * bound).all(), f"{name}.scatter")
