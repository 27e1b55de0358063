"""Threads: tasks in order on several of them, and linear algebra on one."""

import contextlib
import threading
import time

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from twosample.common import threads
from twosample.common.threads import as_they_come, cores, in_order, one_thread
from twosample.errors import TwoSampleWarning, collected_warnings, warn


def test_answers_come_in_the_order_of_the_tasks(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 4)

    def work(task):
        time.sleep(0.02 * (3 - task))
        return task * task

    assert list(in_order(work, range(4))) == [0, 1, 4, 9]
    assert list(in_order(work, iter([3]))) == [9]
    assert list(in_order(work, [])) == []


def test_several_tasks_run_at_the_same_time(monkeypatch):
    """Each task waits for the other two: in one thread, none would end."""
    monkeypatch.setattr(threads, "cores", lambda: 3)
    together = threading.Barrier(3)

    def work(task):
        together.wait(timeout=30)
        return threading.get_ident()

    identities = set(in_order(work, range(3)))
    assert len(identities) == 3
    assert threading.get_ident() not in identities


def test_one_task_runs_where_it_is():
    assert list(in_order(lambda task: threading.get_ident(), [0])) == [threading.get_ident()]


def test_errors_reach_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda task: 1 / task, [1, 0, 2]))


def test_tasks_are_taken_as_cores_are_free(monkeypatch):
    """No more tasks are taken than run, wait, and are being handed over."""
    monkeypatch.setattr(threads, "cores", lambda: 2)
    taken, done, most = 0, 0, 0

    def tasks():
        nonlocal taken, most
        for task in range(40):
            taken += 1
            most = max(most, taken - done)
            yield task

    answers = []
    for answer in as_they_come(lambda task: task * task, tasks()):
        done += 1
        answers.append(answer)
    assert answers == [task * task for task in range(40)]
    assert 2 <= most <= 4


def test_work_on_a_core_of_its_own_starts_no_threads(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)

    def work(task):
        return {threading.get_ident(), *in_order(lambda _: threading.get_ident(), range(5))}

    assert all(len(identities) == 1 for identities in as_they_come(work, range(6)))
    assert len(work(0)) > 1


def test_what_was_not_begun_is_given_up(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)
    before = set(threading.enumerate())
    begun = []

    def work(task):
        begun.append(task)
        return 1 / (task - 3)

    with pytest.raises(ZeroDivisionError):
        list(as_they_come(work, iter(range(1000))))
    assert max(begun) < 10
    assert set(threading.enumerate()) == before


def test_cores():
    assert cores() >= 1


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return [library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"]


def test_linear_algebra_is_kept_to_one_thread():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        if set(before) != {2}:
            pytest.skip("the linear algebra here has only one thread")
        with one_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
        with pytest.raises(ValueError, match="inside"), one_thread():
            raise ValueError("inside")
        assert blas_threads() == before


@pytest.mark.parametrize("first_out", [0, 1])
@pytest.mark.parametrize("fails", [False, True])
def test_the_last_to_leave_sets_the_threads_of_linear_algebra_back(first_out, fails):
    """Each in a thread of its own: the libraries have one number of threads for all of them."""
    gates = [threading.Event(), threading.Event()]
    entered = threading.Barrier(2)

    def work(number):
        with contextlib.suppress(ZeroDivisionError), one_thread():
            if number == 0:
                entered.wait(timeout=30)
                inside.append(blas_threads())
            else:
                inside.append(blas_threads())
                entered.wait(timeout=30)
            assert gates[number].wait(timeout=30)
            assert not fails or 1 / 0

    before, inside = blas_threads(), []
    for library in (libraries := ThreadpoolController().select(user_api="blas").lib_controllers):
        threads._set(library, 2)
    try:
        if set(blas_threads()) != {2}:
            pytest.skip("the linear algebra here has only one thread")
        both = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in both:
            thread.start()
        gates[first_out].set()
        both[first_out].join(timeout=30)
        assert set(blas_threads()) == {1}
        gates[1 - first_out].set()
        both[1 - first_out].join(timeout=30)
        assert set(blas_threads()) == {2}
        assert [set(one) for one in inside] == [{1}, {1}]
    finally:
        for library, count in zip(libraries, before, strict=True):
            threads._set(library, count)


class OwnNumber:
    """A library that has a number of threads for each thread."""

    def __init__(self):
        self._of = threading.local()

    @property
    def num_threads(self):
        return getattr(self._of, "count", 4)

    def set_num_threads(self, count):
        self._of.count = count


def test_a_library_with_a_number_for_each_thread_is_set_back_in_each(monkeypatch):
    library, inside, after = OwnNumber(), [], []
    monkeypatch.setattr(threads, "_libraries", lambda *loaded: ([], [library]))

    def work():
        with one_thread():
            inside.append(library.num_threads)
        after.append(library.num_threads)

    with one_thread():
        other = threading.Thread(target=work)
        other.start()
        other.join()
        work()
        assert (inside, after) == ([1, 1], [4, 1])
    assert library.num_threads == 4


def test_warnings_of_the_threads_are_those_of_the_caller(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    with collected_warnings() as said:
        list(in_order(lambda task: warn(TwoSampleWarning(str(task))), range(3)))
    assert sorted(map(str, said)) == ["0", "1", "2"]
