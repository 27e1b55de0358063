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
    from threadpoolctl import ThreadpoolController

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


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra to one thread: its matrices are small, and threads that wait for a busy core stall it."""
    with _thread_pools("jax" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@cache
def _thread_pools(with_jax: bool) -> ThreadpoolController:
    """The libraries that are loaded: JAX brings one of its own, so that they are looked for again with it."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
