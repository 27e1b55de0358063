"""Threads: how many, whose, and what runs in them."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import LibController

__all__ = ["as_they_come", "cores", "in_order", "one_of_many", "one_thread"]

_Task = TypeVar("_Task")
_Answer = TypeVar("_Answer")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[_Task], _Answer], tasks: Iterable[_Task]) -> Iterator[_Answer]:
    """What `work` makes of each task, in their order; on all cores where there are several tasks.

    Threads of its own have the context of the caller, so that their warnings are collected where the caller's are.
    """
    tasks = list(tasks)
    if len(tasks) == 1 or getattr(_this_thread, "is_one_of_many", False):
        yield from map(work, tasks)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, min(len(tasks), cores()))) as pool:
        contexts = [copy_context() for _ in tasks]
        yield from pool.map(lambda context, task: context.run(work, task), contexts, tasks)


_this_thread = threading.local()


@contextmanager
def one_of_many() -> Iterator[None]:
    """Where others work on other tasks at the same time: what would be spread over cores stays on this one."""
    before = getattr(_this_thread, "is_one_of_many", False)
    _this_thread.is_one_of_many = True
    try:
        yield
    finally:
        _this_thread.is_one_of_many = before


def as_they_come(work: Callable[[_Task], _Answer], tasks: Iterable[_Task]) -> Iterator[_Answer]:
    """As `in_order`, but a task is taken only when a core is free for it, so that no more of them are in memory.

    What `work` itself would spread over cores stays on its own.
    """
    if cores() == 1:
        yield from map(work, tasks)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    running: deque[Future[_Answer]] = deque()
    with ThreadPoolExecutor(cores(), initializer=setattr, initargs=(_this_thread, "is_one_of_many", True)) as pool:
        try:
            for task in tasks:
                running.append(pool.submit(copy_context().run, work, task))
                del task  # it is the worker's alone
                if len(running) > cores():
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


# Who is in `one_thread`, and which libraries had how many threads before; the lock is for both.
_entering = threading.Lock()
_inside = 0
_before: list[tuple[LibController, int]] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra to one thread: its matrices are small, and threads that wait for a busy core stall it.

    Most libraries have one number of threads for the process: the last to leave sets back what the first one found.
    Others have one for each thread, which sets its own back.
    """
    global _inside
    shared, own = _libraries("jax" in sys.modules, "scipy.linalg" in sys.modules)
    with _entering:
        _inside += 1
        _before.extend(_set_to_one(shared))
    mine = _set_to_one(own)
    try:
        yield
    finally:
        _set_back(mine)
        with _entering:
            _inside -= 1
            if not _inside:
                _set_back(_before)
                _before.clear()


def _set_to_one(libraries: Iterable[LibController]) -> list[tuple[LibController, int]]:
    """Set these to one thread; returns those that had more and now do not, and how many they had."""
    had = [(library, library.num_threads or 1) for library in libraries]
    more = [(library, count) for library, count in had if count > 1]
    for library, _ in more:
        _set(library, 1)
    return [(library, count) for library, count in more if library.num_threads == 1]


def _set_back(before: list[tuple[LibController, int]]) -> None:
    for library, count in reversed(before):
        _set(library, count)


def _set(library: LibController, count: int) -> None:
    """Set the number of threads, and let another thread set it later, which threadpoolctl 3.8 would not."""
    library.set_num_threads(count)
    getattr(library, "clear_controlling_thread", lambda: None)()


@cache
def _libraries(*loaded: bool) -> tuple[list[LibController], list[LibController]]:
    """Those of linear algebra with one number of threads for the process, and with one for each thread.

    Some packages bring one of their own, so that they are looked for again with these.
    """
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    own = [one for one in found if one.internal_api == "mkl" or getattr(one, "threading_layer", None) == "openmp"]
    return [one for one in found if one not in own], own
