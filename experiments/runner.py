"""Runs experiments: every run from a seed of its own, on disk before it counts, and nothing computed twice.

Finished runs are lines of ``runs/NAME.jsonl``, which one process appends to; a run that was stopped in any way goes on
from there. What is kept of them is ``results/NAME.json``, whose bytes depend on the experiment alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import twosample as ts
from twosample.common.records import write_whole
from twosample.common.threads import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Experiment", "Log", "Refusal", "compute", "load_results", "run", "seed_of"]

HERE = Path(__file__).parent
SEED = 20_220_612
_DIGITS = 6

Cell = tuple[Any, ...]
Record = dict[str, Any]
# (name of the experiment, cell, number of the run) -> seed
Seeds = Callable[[str, Cell, int], int]


class Refusal(Exception):
    """Something that the person who runs the experiment must decide or repair."""


def nothing() -> None:
    """What an experiment lacks that lacks nothing."""


def seed_of(name: str, cell: Cell, run: int) -> int:
    """The seed of a run: it depends on nothing else."""
    return int.from_bytes(hashlib.sha256(json.dumps([SEED, name, cell, run]).encode()).digest()[:8], "big")


@dataclass(frozen=True)
class Experiment:
    """What is computed how often, and how it is drawn.

    Attributes
    ----------
    name, title, paper
        The name of its files, what it is about, and which figure or table of the paper it makes again.
    cells
        Tuples of a setting's label and whatever else (the number of rows) a run depends on; plain JSON values.
    models
        What is compared.
    work
        A function of a module, or a partial one: work(cell, seed) gives the numbers (or lists of them) of one run by
        name. Under "warnings" it may give numbers of warnings instead, which are added up.
    draw
        Makes the figure from what `load_results` returns.
    settings
        Everything else that the numbers depend on, as JSON: runs made with other settings are not mixed.
    runs
        How many runs each cell has.
    missing
        Says what the experiment lacks on this machine, if anything.
    seeds
        What gives a run its seed, where that is not `seed_of`; it too is a function of a module.
    """

    name: str
    title: str
    paper: str
    cells: tuple[Cell, ...]
    models: tuple[str, ...]
    work: Callable[[Cell, int], Record]
    draw: Callable[[dict[str, Any]], Figure]
    settings: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 100
    missing: Callable[[], str | None] = nothing
    seeds: Seeds = seed_of

    @property
    def identity(self) -> dict[str, Any]:
        """What all runs in a file have in common."""
        return {"experiment": self.name, "version": ts.__version__, "seed": SEED, "settings": dict(self.settings)}


def compute(name: str, work: Callable[[Cell, int], Record], cell: Cell, run: int, seeds: Seeds = seed_of) -> Record:
    """Do one run, in whatever process, and return its record."""
    started = time.process_time()
    with one_thread():
        values = dict(work(cell, seeds(name, cell, run)))
    warned = dict(values.pop("warnings", {}))
    try:
        rounded = {key: _rounded(value) for key, value in values.items()}
    except ValueError as error:
        raise ValueError(f"{name}, {cell}, run {run}: {error}") from None
    seconds = round(time.process_time() - started, 4)
    return {"cell": list(cell), "run": run, "values": rounded, "warnings": warned, "seconds": seconds}


def _rounded(value: Any) -> Any:
    """Numbers with as many digits as are worth keeping."""
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, int):
        return value
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    return float(f"{value:.{_DIGITS}g}")


class Log:
    """The finished runs of an experiment: a file with a line of their identity and a line for each.

    A line counts when it is complete. Only one process at a time can have the file open.
    """

    def __init__(self, path: Path, identity: dict[str, Any], *, fresh: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            _lock(self._file.fileno(), path)
            if fresh:
                self._file.truncate(0)
            self.done = self._read(path, identity)
        except BaseException:
            self._file.close()
            raise

    def _read(self, path: Path, identity: dict[str, Any]) -> dict[tuple[Cell, int], Record]:
        self._file.seek(0)
        text = self._file.read()
        complete = text[: text.rfind(b"\n") + 1]
        if len(complete) < len(text):
            self._file.truncate(len(complete))
        if not complete:
            self._append(identity)
            return {}
        done = {}
        for number, line in enumerate(complete.splitlines()):
            try:
                record = json.loads(line)
                if number:
                    done[tuple(record["cell"]), record["run"]] = record
            except (ValueError, KeyError, TypeError):
                raise Refusal(f"{path}: line {number + 1} is damaged; repair it, or start again with --fresh") from None
            if number == 0:
                _check_identity(record, identity, path)
        return done

    def add(self, record: Record) -> None:
        """Count the run, once it is on disk."""
        self._append(record)
        self.done[tuple(record["cell"]), record["run"]] = record

    def _append(self, record: Record) -> None:
        self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Log:
        """Nothing to do: it is open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()


def _check_identity(found: Any, expected: dict[str, Any], path: Path) -> None:
    expected = json.loads(json.dumps(expected))
    if found == expected:
        return
    found = found if isinstance(found, dict) else {}
    words = [
        f"{key} {found.get(key)!r:.60} instead of {value!r:.60}" if key != "settings" else "other settings"
        for key, value in expected.items()
        if found.get(key) != value
    ]
    raise Refusal(
        f"{path}: these runs were made with {', '.join(words)}; they are not mixed with new ones. "
        "Start again with --fresh, or move the file away to keep it."
    )


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system: then it is up to the user
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal(f"{path}: another process is running this experiment") from None


def run(
    experiment: Experiment,
    pool: Executor,
    slots: int,
    *,
    runs: int | None = None,
    only: str = "",
    fresh: bool = False,
    folder: Path = HERE,
) -> str:
    """Do the runs that are missing, write the results, and say so in words.

    Parameters
    ----------
    experiment
        What to run.
    pool, slots
        Where to compute, and how many runs to hand out at a time.
    runs
        How many runs each cell should have; the experiment's own number if None. More than that may be on disk.
    only
        Restricts the cells to those whose setting contains this text.
    fresh
        Whether to forget the runs on disk.
    folder
        Where ``runs`` and ``results`` are.
    """
    runs = experiment.runs if runs is None else runs
    cells = [cell for cell in experiment.cells if only in str(cell[0])]
    with Log(folder / "runs" / f"{experiment.name}.jsonl", experiment.identity, fresh=fresh) as log:
        # Run by run, so that all cells advance alike and the time left can be told; the last cells of a list are the
        # largest, and come first.
        tasks = [(cell, number) for number in range(runs) for cell in reversed(cells) if (cell, number) not in log.done]
        calls = ((compute, experiment.name, experiment.work, *task, experiment.seeds) for task in tasks)
        with _bar(experiment.name, len(tasks)) as advance:
            for record in _completed(pool, slots, calls):
                log.add(record)
                advance(1)
        results = _results(experiment, log.done)
    path = folder / "results" / f"{experiment.name}.json"
    if not fresh and _total(path) > sum(cell["runs"] for cell in results["cells"]):
        return f"{experiment.name}: done, but {path} has more runs and is kept; --fresh replaces it"
    _write(path, results)
    return f"{experiment.name}: {len(tasks)} new runs, results in {path}"


def _completed(pool: Executor, slots: int, calls: Iterable[tuple[Any, ...]]) -> Iterator[Record]:
    """The records in the order in which they are finished."""
    waiting: set[Future[Record]] = set()

    def finished(at_most: int) -> Iterator[Record]:
        nonlocal waiting
        while len(waiting) > at_most:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            # What was computed is saved before an error ends everything.
            yield from (future.result() for future in sorted(done, key=lambda future: future.exception() is not None))

    for call in calls:
        yield from finished(slots - 1)
        waiting.add(pool.submit(*call))
    yield from finished(0)


@contextlib.contextmanager
def _bar(label: str, length: int) -> Iterator[Callable[[int], object]]:
    """What to report finished runs to: a bar with the time left on a terminal, else nothing."""
    if not length or not sys.stderr.isatty():
        yield lambda _: None
        return
    import click

    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        yield bar.update


def _results(experiment: Experiment, done: Mapping[tuple[Cell, int], Record]) -> dict[str, Any]:
    """The runs of each cell from the first one on, without gaps."""
    cells: list[dict[str, Any]] = []
    for cell in experiment.cells:
        keys = takewhile(lambda key: key in done, ((cell, number) for number in count()))
        records = [done[key] for key in keys]
        if not records:
            continue
        warned: Counter[str] = Counter()
        for record in records:
            warned.update(record["warnings"])
        values = {name: [record["values"][name] for record in records] for name in sorted(records[0]["values"])}
        cells.append(
            {"cell": list(cell), "runs": len(records), "values": values, "warnings": dict(sorted(warned.items()))}
        )
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "version": ts.__version__,
        "seed": SEED,
        "models": list(experiment.models),
        "runs": min((cell["runs"] for cell in cells), default=0),
        "cells": cells,
    }


def load_results(path: Path) -> dict[str, Any]:
    """Read what `run` wrote."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def _total(path: Path) -> int:
    """How many runs the results there have."""
    return sum(cell["runs"] for cell in load_results(path)["cells"]) if path.exists() else 0


def _write(path: Path, results: dict[str, Any]) -> None:
    """Put the results there all at once, a line a cell."""

    def text(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    head = [f"{text(key)}: {text(value)}" for key, value in results.items() if key != "cells"]
    body = '"cells": [\n' + ",\n".join(map(text, results["cells"])) + "\n]"
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = "{\n" + ",\n".join([*head, body]) + "\n}\n"
    write_whole(path, lambda file: file.write(whole.encode()))
