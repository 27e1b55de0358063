"""A monitor as arrays and back, for its file: numbers to the last digit, and no pickle."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from twosample.features.statistics import FeatureStatistics
from twosample.plan import Plan
from twosample.questions.monitor.evalues import Learnt
from twosample.questions.monitor.memory import Learning, Memory, Settings
from twosample.questions.monitor.state import RunLength

__all__ = ["from_arrays", "to_arrays"]

# The form of the files; it grows when older versions would misread them.
_SCHEMA = 2
# Numbers of the memory.
_PLAIN = ("refills", "received", "batches", "n_x", "n_y", "recent", "log_evalue", "log_batch_evalue", "crossed_at")


def to_arrays(memory: Memory) -> dict[str, Any]:
    """All that a file of it holds, by name."""
    settings, learning = memory.settings, memory.learning
    if learning.domain is not None:
        learning.domain.to_plain()  # refuses
    words: dict[str, Any] = {
        "schema": _SCHEMA,
        "settings": asdict(settings),
        **{name: getattr(memory, name) for name in _PLAIN},
        "run_length_alarm_at": memory.run_length.alarm_at,
        "columns": learning.columns,
        "levels": learning.levels,
    }
    arrays: dict[str, Any] = {
        "history": memory.history,
        "run_length": np.array(memory.run_length.log_value),
        "waiting.x": memory.waiting[0],
        "waiting.y": memory.waiting[1],
    }
    if memory.reference is not None:
        arrays["reference"] = memory.reference
    if learning.columns is not None:
        words["method"] = {  # for older versions, which keep this twice
            **{name: getattr(settings, name) for name in ("paired", "points", "subsets", "kernel")},
            "labellings": settings.permutations + 1,
            "memory": 1.0 - settings.forget,
            "columns": learning.columns,
            "levels": learning.levels,
        }
        words["plan"] = None if learning.plan is None else learning.plan.to_dict()
        words["planned"] = learning.planned
        words["young"] = None if learning.young is None else len(learning.young)
        for number, rows in enumerate(learning.young or ()):
            arrays[f"young.{number}.x"], arrays[f"young.{number}.y"] = rows
        for number, learnt in enumerate(learning.learnt):
            arrays |= {f"learnt.{number}.{part.name}": getattr(learnt, part.name) for part in fields(learnt)}
        if learning.statistics is not None:
            arrays |= {f"statistics.{name}": array for name, array in learning.statistics.to_arrays().items()}
    arrays["monitor"] = np.array(json.dumps(words))
    return arrays


def from_arrays(arrays: dict[str, Any]) -> Memory:
    """What `to_arrays` described; anything else is refused with a KeyError, TypeError or ValueError."""
    words = json.loads(str(arrays["monitor"]))
    if words["schema"] > _SCHEMA:
        raise ValueError("a newer version of twosample wrote it; update twosample")
    if words["settings"].pop("method", "permutations") != "permutations":  # of schema 1
        raise ValueError("its method 'sums' is no longer there; start another monitor")
    return Memory(
        **{name: _tuples(words[name]) for name in _PLAIN},
        learning=_learning(words, arrays),
        waiting=(_floats(arrays["waiting.x"]), _floats(arrays["waiting.y"])),
        reference=_floats(arrays["reference"]) if "reference" in arrays else None,
        run_length=RunLength(float(arrays["run_length"]), words["run_length_alarm_at"]),
        history=_floats(arrays["history"]),
    )


def _learning(words: dict[str, Any], arrays: dict[str, Any]) -> Learning:
    settings = Settings(**{name: _tuples(value) for name, value in words["settings"].items()})
    levels = _tuples(words.get("levels", []))  # older files have none
    learning = Learning(settings, _tuples(words["columns"]), levels)
    if "method" not in words:
        return learning
    young: tuple[Any, ...] | None = None
    if words["young"] is not None:
        young = tuple(
            (_floats(arrays[f"young.{number}.x"]), _floats(arrays[f"young.{number}.y"]))
            for number in range(words["young"])
        )
    if words["plan"] is None:
        return replace(learning, young=young)
    plan = Plan.from_json(json.dumps(words["plan"]))
    start = learning.started(plan)
    learnt = tuple(
        Learnt(*(_like(arrays[f"learnt.{number}.{part.name}"], getattr(empty, part.name)) for part in fields(empty)))
        for number, empty in enumerate(start.learnt)
    )
    statistics = None
    if "statistics.words" in arrays:
        prefix = "statistics."
        statistics = FeatureStatistics.from_arrays(
            {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        )
        if statistics.plan != plan.key:
            raise ValueError("its statistics belong to another plan")
    return replace(start, young=young, learnt=learnt, statistics=statistics, planned=words["planned"])


def _tuples(value: Any) -> Any:
    """Lists of JSON as the tuples that they were."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _floats(array: Any) -> Any:
    return np.asarray(array, dtype=np.float64)


def _like(array: Any, other: Any) -> Any:
    if array.shape != np.shape(other):
        raise ValueError("its arrays do not belong together")
    return _floats(array) if array.shape else float(array)
