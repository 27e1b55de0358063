"""Where runs are computed: processes of this machine or a Dask cluster, each as an `Executor`, with equal results."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

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

    with _cluster(LocalCluster, jobs, scheduler) as address, _client(Client, address) as client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise Refusal(f"the scheduler at {scheduler} has no workers")
        try:
            client.submit(_version, pure=False).result()  # takes the way of a run, through the scheduler
            versions = set(client.run(_version).values())
        except Exception as error:
            raise Refusal(
                f"the cluster cannot run the experiments ({error.__cause__ or error}); its scheduler and its workers "
                "must run with the same packages, and with the folder that has experiments/ in PYTHONPATH"
            ) from error
        if versions - {ts.__version__}:
            raise Refusal(f"the workers have twosample {', '.join(sorted(versions))}, and this is {ts.__version__}")
        yield client.get_executor(pure=False), _AHEAD * threads


def _client(client: type, address: object) -> Any:
    try:
        return client(address, timeout="30s")
    except (OSError, ValueError) as error:
        raise Refusal(f"there is no Dask scheduler to be reached at {address}: {error}") from None


@contextmanager
def _cluster(local: type, jobs: int, scheduler: str | None) -> Iterator[object]:
    if scheduler is not None:
        yield scheduler
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the workers inherit it, and leave interrupts to this process
    try:
        cluster = local(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR)
    finally:
        signal.signal(signal.SIGINT, usual)
    with cluster:
        yield cluster


def _version() -> str:
    return ts.__version__
