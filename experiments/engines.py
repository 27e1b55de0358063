"""Where runs are computed: processes of this machine or a Dask cluster, each as an `Executor`, with equal results."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

import twosample as ts
from experiments.runner import Refusal
from twosample.errors import MissingExtraError

__all__ = ["dask", "processes"]

# Runs handed out for each process, so that none waits for the next while a result is written.
_AHEAD = 2


@contextmanager
def processes(jobs: int) -> Iterator[tuple[Executor, int]]:
    """A pool of processes, and how many runs to hand out; they end at once when this process does, in any way."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_follow_parent)
    try:
        yield pool, _AHEAD * jobs
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_parent() -> None:
    """Leave interrupts to the parent, and end with it even when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def dask(jobs: int, scheduler: str | None = None) -> Iterator[tuple[Executor, int]]:
    """The workers of a Dask scheduler, or of one started here, and how many runs to hand out."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("the engine dask", "dask and distributed", "dask") from None

    with _cluster(LocalCluster, jobs, scheduler) as address, Client(address, timeout="30s") as client:
        try:
            versions = set(client.run(_version).values())
        except ImportError as error:
            raise Refusal(
                f"the workers lack a module ({error}); start them in the folder that has experiments/"
            ) from None
        if versions - {ts.__version__}:
            raise Refusal(f"the workers have twosample {', '.join(sorted(versions))}, and this is {ts.__version__}")
        threads = sum(client.nthreads().values())
        if not threads:
            raise Refusal(f"the scheduler at {scheduler} has no workers")
        yield client.get_executor(pure=False), _AHEAD * threads


@contextmanager
def _cluster(local: type, jobs: int, scheduler: str | None) -> Iterator[object]:
    if scheduler is not None:
        yield scheduler
        return
    with local(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def _version() -> str:
    return ts.__version__
