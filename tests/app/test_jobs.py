"""Jobs in threads: their order, their ends, and that nothing of them stays."""

import gc
import threading
import weakref

import pytest

from twosample.app.jobs import Jobs
from twosample.app.work import Answer, RefusedError

ANSWER = Answer("page", "{}", "the same", ("x", "y"), ())


@pytest.fixture
def jobs():
    jobs = Jobs(1)
    yield jobs
    jobs.end(cancel=True)


def test_an_answer_a_refusal_and_a_fault(jobs):
    def refused(tell):
        raise RefusedError("not these")

    def broken(tell):
        raise ZeroDivisionError("oh")

    def heavy(tell):
        raise MemoryError

    def panicking(tell):  # as compiled libraries do
        raise BaseException("out of luck")

    done = [jobs.start(work) for work in (lambda tell: ANSWER, refused, broken, heavy, panicking)]
    jobs.end()
    assert [job.state for job in done] == ["done", "refused", "failed", "failed", "failed"]
    assert done[0].answer == ANSWER and all(job.answer is None for job in done[1:])
    assert [job.message for job in done] == [
        "",
        "not these",
        "the program has a fault, and could not do this: ZeroDivisionError: oh",
        "not enough memory for these data",
        "the program has a fault, and could not do this: BaseException: out of luck",
    ]


def test_one_after_the_other_and_cancelled_before_it_begins(jobs):
    go, order = threading.Event(), []

    def work(number):
        def run(tell):
            go.wait(10)
            order.append(number)
            return ANSWER

        return run

    waiting = [jobs.start(work(number)) for number in range(4)]
    while waiting[0].state != "running":
        pass
    assert [jobs.place(job) for job in waiting] == [0, 0, 1, 2]
    waiting[1].cancel()
    assert [jobs.place(job) for job in waiting[2:]] == [0, 1]
    go.set()
    jobs.end()
    assert order == [0, 2, 3]
    assert [job.state for job in waiting] == ["done", "cancelled", "done", "done"]


def test_a_job_that_is_cancelled_as_it_ends_has_no_answer(jobs):
    entered, go = threading.Event(), threading.Event()

    def work(tell):
        entered.set()
        go.wait(10)
        return ANSWER

    job = jobs.start(work)
    entered.wait(10)
    job.cancel()
    go.set()
    jobs.end()
    assert (job.state, job.answer) == ("cancelled", None)


def test_files_are_let_go_with_the_work(jobs):
    """Whether it has run, waits no longer, or was cancelled."""

    class File:
        pass

    files = [File() for _ in range(3)]
    known = [weakref.ref(file) for file in files]
    entered, go = threading.Event(), threading.Event()

    def with_file(file, wait):
        def work(tell):
            entered.set()
            assert file is not None and (not wait or go.wait(10))
            return ANSWER

        return work

    kept = [jobs.start(with_file(file, wait)) for file, wait in zip(files, (False, True, False), strict=True)]
    kept[2].cancel()
    files.clear()
    go.set()
    jobs.end()
    gc.collect()
    assert [one() for one in known] == [None, None, None]
