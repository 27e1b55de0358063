"""A monitor as arrays and back, for its file: numbers to the last digit, and no pickle."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from twosample.data.files.bookmark import Bookmark
from twosample.features.statistics import FeatureStatistics
from twosample.plan import Plan
from twosample.questions.monitor.evalues import Learnt
from twosample.questions.monitor.memory import Learning, Memory, Settings
from twosample.questions.monitor.state import RunLength
from twosample.questions.monitor.validity import checked, rows_of, texts_of, whole

__all__ = ["from_arrays", "to_arrays"]

# The form of the files; it grows when older versions would misread them, or what is in them has another meaning.
_SCHEMA = 3
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
        "bookmark": None if memory.bookmark is None else asdict(memory.bookmark),
        "columns": learning.columns,
        "levels": learning.levels,
        "plan": None if learning.plan is None else learning.plan.to_dict(),
        "planned": learning.planned,
        "young": None if learning.young is None else len(learning.young),
    }
    arrays: dict[str, Any] = {
        "history": memory.history,
        "run_length": np.array(memory.run_length.log_value),
        "waiting.x": memory.waiting[0],
        "waiting.y": memory.waiting[1],
    }
    if memory.reference is not None:
        arrays["reference"] = memory.reference
    for number, rows in enumerate(learning.young or ()):
        arrays[f"young.{number}.x"], arrays[f"young.{number}.y"] = rows
    for number, learnt in enumerate(learning.learnt):
        arrays |= {f"learnt.{number}.{part.name}": np.asarray(getattr(learnt, part.name)) for part in fields(learnt)}
    if learning.statistics is not None:
        arrays |= {f"statistics.{name}": array for name, array in learning.statistics.to_arrays().items()}
    arrays["monitor"] = np.array(json.dumps(words))
    return arrays


def from_arrays(arrays: dict[str, Any]) -> Memory:
    """What `to_arrays` described; anything else is refused with a KeyError, TypeError or ValueError.

    The checksum of the file tells damage from data. As anyone can compute it, the fields are checked all the same.
    """
    words = json.loads(str(arrays["monitor"]))
    if not isinstance(words, dict):
        raise TypeError("its words are no table of names and values")
    if whole(words["schema"], "schema", 1) > _SCHEMA:
        raise ValueError("a newer version of twosample wrote it; update twosample")
    if words["schema"] < _SCHEMA:
        raise ValueError("an older version of twosample wrote it, whose sums meant something else")
    learning = _learning(words, arrays)
    columns = None if learning.columns is None else len(learning.columns)
    return checked(
        Memory(
            **{name: _tuples(words[name]) for name in _PLAIN},
            learning=learning,
            waiting=(rows_of(arrays, "waiting.x", columns), rows_of(arrays, "waiting.y", columns)),
            reference=rows_of(arrays, "reference", columns) if "reference" in arrays else None,
            run_length=RunLength(_number(arrays["run_length"]), words["run_length_alarm_at"]),
            history=np.asarray(arrays["history"]),
            bookmark=None if words["bookmark"] is None else Bookmark(**words["bookmark"]),
        )
    )


def _learning(words: dict[str, Any], arrays: dict[str, Any]) -> Learning:
    settings = Settings(**{name: _tuples(value) for name, value in dict(words["settings"]).items()})
    columns = None if words["columns"] is None else texts_of(words["columns"], "columns")
    levels = tuple(None if one is None else texts_of(one, "levels") for one in _tuples(words["levels"]))
    young: tuple[Any, ...] | None = None
    if words["young"] is not None:
        width = None if columns is None else len(columns)
        young = tuple(
            (rows_of(arrays, f"young.{number}.x", width), rows_of(arrays, f"young.{number}.y", width))
            for number in range(whole(words["young"], "young"))
        )
    learning = Learning(settings, columns, levels, young=young, planned=words["planned"])
    if words["plan"] is None:
        return learning
    plan = Plan.from_json(json.dumps(dict(words["plan"])))
    settings.check(plan)
    learning = replace(learning, plan=plan)
    learnt = tuple(
        Learnt(*(_part(arrays[f"learnt.{number}.{part.name}"]) for part in fields(Learnt)))
        for number in range(len(learning.components))
    )
    statistics = None
    if "statistics.words" in arrays:
        prefix = "statistics."
        statistics = FeatureStatistics.from_arrays(
            {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        )
        if statistics.plan != plan.key:
            raise ValueError("its statistics belong to another plan")
    return replace(learning, learnt=learnt, statistics=statistics)


def _tuples(value: Any) -> Any:
    """Lists of JSON as the tuples that they were."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _number(array: Any) -> float:
    if np.asarray(array).shape or np.asarray(array).dtype != np.float64:
        raise ValueError("an array is where a number should be")
    return float(array)


def _part(array: Any) -> Any:
    """A part of what was learnt: a number or an array of them."""
    found = np.asarray(array)
    return found if found.shape else _number(found)
