"""Tests that run in threads, as many at a time as there are cores; each tells how far it is, and can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from twosample.app.work import Answer, RefusedError, Tell
from twosample.common.exits import fault
from twosample.common.threads import cores

__all__ = ["Job", "Jobs"]


class _CancelledError(Exception):
    """The job is not wanted any more."""


class Job:
    """A test, whose state is "waiting", "running", "done", "refused" (by the data), "failed" (a fault) or "cancelled".

    It has the share that is done and words for what it does, its answer, and a message where there will be none.
    """

    def __init__(self, work: Callable[[Tell], Answer]) -> None:
        self._work: Callable[[Tell], Answer] | None = work
        self._unwanted = threading.Event()
        self.state, self.share, self.words, self.message = "waiting", 0.0, "", ""
        self.answer: Answer | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")

    def cancel(self) -> None:
        """End it: at once as far as anybody can see, and its thread when it next tells how far it is."""
        self._unwanted.set()
        if self.state == "waiting":
            self._work = None
        if not self.is_over:
            self.state = "cancelled"

    def run(self) -> None:
        """Do the work, and keep what came of it."""
        work, self._work = self._work, None  # the files are let go with the work
        if work is None or self._unwanted.is_set():
            return
        self.state = "running"
        try:
            answer = work(self._tell)
        except _CancelledError:
            self._end("cancelled")
        except RefusedError as error:
            self._end("refused", str(error))
        except BaseException as error:  # the panics of compiled libraries are no Exceptions
            self._end("failed", fault(error))
        else:
            self.answer = None if self._unwanted.is_set() else answer
            self._end("done")

    def _end(self, state: str, message: str = "") -> None:
        self.message = message
        self.state = "cancelled" if self._unwanted.is_set() else state

    def _tell(self, share: float, words: str) -> None:
        if self._unwanted.is_set():
            raise _CancelledError
        self.share, self.words = share, words


class Jobs:
    """Runs jobs in the order they come."""

    def __init__(self, at_a_time: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(at_a_time or cores(), thread_name_prefix="test")
        self._all: list[Job] = []
        self._lock = threading.Lock()

    def start(self, work: Callable[[Tell], Answer]) -> Job:
        """Run the work when its turn comes; `work` receives a progress callback."""
        job = Job(work)
        with self._lock:
            self._all.append(job)
        self._pool.submit(job.run).add_done_callback(lambda _: self._remove(job))
        return job

    def place(self, job: Job) -> int:
        """How many jobs begin before this one, which waits."""
        with self._lock:
            waiting = [one for one in self._all if one.state == "waiting"]
        return waiting.index(job) if job in waiting else 0

    def end(self, cancel: bool = False) -> None:
        """Wait for all jobs, or cancel them and wait for the ends of those that run."""
        if cancel:
            with self._lock:
                jobs = list(self._all)
            for job in jobs:
                job.cancel()
        self._pool.shutdown(wait=True)

    def _remove(self, job: Job) -> None:
        with self._lock:
            self._all.remove(job)
