"""What is done to a partition by whoever has it, and how tasks are given to Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from twosample import places
from twosample.common.threads import one_of_many
from twosample.data import Choice, Samples
from twosample.data.blocks import Block, Blocks
from twosample.data.parts import Counts, Layout, Pass, Sources, first_table
from twosample.data.pilot import Pilot
from twosample.data.reading import Table
from twosample.errors import InputError, InputTypeError, MissingExtraError
from twosample.features.statistics import Mergeable
from twosample.places.streaming import Collector, samples_of

__all__ = [
    "compute_all", "compute_tree", "counted", "first_tables", "height", "import_dask", "keyed", "lend",
    "merged", "pilot", "statistics", "statistics_of_samples", "task",
]  # fmt: skip

_T = TypeVar("_T")
_M = TypeVar("_M", bound=Mergeable)

# How many results a task joins.
_FAN_IN = 8


def import_dask() -> Any:
    """Dask, where it is installed."""
    try:
        import dask
    except ImportError:
        raise MissingExtraError("the engine dask", "dask", "dask") from None
    return dask


def lend(values: Any) -> Any:
    """An object that tasks share, sent once to each worker."""
    return import_dask().delayed(values, traverse=False)


def task(work: Callable[..., Any]) -> Any:
    """A function that is done by a worker; a refusal is its answer, so that the first one of all can be raised."""
    return import_dask().delayed(_Careful(work), pure=False)


@dataclass(frozen=True)
class _Careful:
    work: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return f"twosample_{self.work.__name__}"

    def __call__(self, *arguments: Any) -> Any:
        try:
            with one_of_many():
                return self.work(*arguments)
        except (InputError, InputTypeError) as error:
            return error


def compute_all(tasks: list[Any]) -> list[Any]:
    """What the tasks return; the first refusal is raised."""
    found = list(import_dask().compute(*tasks))
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found


def compute_tree(tasks: list[Any], join: Callable[[list[_T]], _T]) -> _T:
    """What `join` makes of all, eight at a time and in their order."""
    do = import_dask().delayed(_Join(join), pure=False)
    while len(tasks) > 1:
        tasks = [do(tasks[start : start + _FAN_IN]) for start in range(0, len(tasks), _FAN_IN)]
    [found] = compute_all(tasks)
    assert found is not None
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Join:
    join: Callable[[list[Any]], Any]

    __name__ = "twosample_join"

    def __call__(self, found: list[Any]) -> Any:
        found = [one for one in found if one is not None]
        refused = [one for one in found if isinstance(one, Exception)]
        if refused:
            return refused[0]
        return self.join(found) if found else None


# ---- what is done to a partition


def _opened(partition: Any, number: int) -> Iterator[Block]:
    for block in () if partition is None else Blocks((partition,), by_caller=False).pieces():
        yield block._replace(number=number)


def _pass(x: Any, y: Any, number: int, labels: list[Any] | None, sources: Sources, layout: Layout) -> Pass:
    """The pass over one piece."""
    if labels is not None:
        sources = replace(sources, choice=replace(sources.choice, by=labels))
    return Pass(sources, layout, [_opened(partition, number) for partition in (x, y)][: 1 if sources.y is None else 2])


def first_tables(partition: Any, names: str, choice: Choice) -> list[Table]:
    """The columns of a partition, under each of these names; nothing where it has no rows."""
    for block in _opened(partition, 0):
        return [first_table(block.values, name, choice, places.stays) for name in names]
    return []


def height(partition: Any) -> int:
    """How many rows a partition has."""
    return sum(len(block.values) for block in _opened(partition, 0))


def counted(*piece: Any) -> Counts:
    """Go over the rows of a piece, and count."""
    rows = _pass(*piece)
    for _ in rows:
        pass
    return Counts(rows.rows, rows.dropped, rows.unlabelled, rows.groups)


def pilot(x: Any, y: Any, number: int, labels: Any, sources: Sources, layout: Layout, *start: Any) -> Pilot:
    """What a piece has of the pilot; `start` is an empty one, the rows before these, and the number of all."""
    empty, first, total = start
    pilot: Pilot = empty.beginning(first, total)
    for part in _pass(x, y, number, labels, sources, layout):
        for sample, rows in enumerate(part):
            if rows.shape[0]:
                pilot.add(sample, rows)
    return pilot


def statistics(*arguments: Any) -> Any:
    """Of a piece; None where it has no rows."""
    *piece, plan, like, missing = arguments
    total: Any = None
    for samples in samples_of(_pass(*piece), like):
        found = plan.collect_part(missing, samples)
        total = found if total is None else total.merge(found)
    return total


def statistics_of_samples(samples: Samples, plan: Collector[_M], missing: Any) -> _M:
    """Of a part that was sent."""
    return plan.collect_part(missing, samples)


def merged(found: list[_M]) -> _M:
    """Statistics of several pieces as one."""
    return found[0].merge(*found[1:])


def keyed(plan: Collector[_M]) -> Collector[_M]:
    """The plan with its key, which each task would otherwise find again."""
    assert plan.key
    return plan
