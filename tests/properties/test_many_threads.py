"""Many tests at the same time, in one process: the answers of one after the other, and the process as it was."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import twosample as ts
from twosample.common import threads
from twosample.errors import collected_warnings


def streamed(x, y):
    monitor = ts.Monitor(permutations=9, points=6)
    monitor.update(x, y)
    return monitor.update(y, x)


ASKED = (
    lambda x, y: ts.test(x, y, points=6),
    lambda x, y: ts.test(x, y, points=6, lengthscale=1.0, permutations=19),
    lambda x, y: ts.test_each(x, y),
    lambda x, y: ts.ksample([x, y, x + y], points=6),
    lambda x, y: ts.test(x, y, points=6, paired=True, lengthscale="median"),
    lambda x, y: ts.independence(x, y, points=6, permutations=19),
    lambda x, y: ts.goodness(x[:, 0], "norm(0, 1)", points=6, subsets=None),
    lambda x, y: ts.baselines.mmd(x, y, permutations=19),
    lambda x, y: ts.Reference.of(x, points=6).test(y),
    streamed,
)  # fmt: skip


def asked(number):
    """The answer to a question of small samples, and what was warned of: not too few, and not all of the same kind."""
    rng = np.random.default_rng(number)
    x, y = rng.normal(size=(2, 16, 2)) + np.array([0.0, number % 3]).reshape(2, 1, 1)
    with collected_warnings() as said:
        result = ASKED[number % len(ASKED)](x, y)
    return result.to_json(), list(map(str, said)), np.geterr()


@pytest.fixture
def two_threads():
    """Libraries of linear algebra that have two threads, to be looked at."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    before = [library.num_threads for library in libraries]
    for library in libraries:
        threads._set(library, 2)
    yield libraries
    for library, count in zip(libraries, before, strict=True):
        threads._set(library, count)


@pytest.mark.parametrize(
    ("count", "workers"), [(20, 8), pytest.param(200, 16, marks=pytest.mark.slow)], ids=["few", "200"]
)
def test_tests_on_many_threads_answer_as_one_after_the_other(count, workers, two_threads):
    alone = [asked(number) for number in range(count)]
    limits = [library.num_threads for library in two_threads]
    filters, shown, errors = list(warnings.filters), warnings.showwarning, np.geterr()
    with ThreadPoolExecutor(workers) as pool:
        together = list(pool.map(asked, range(count)))
    assert together == alone
    assert [library.num_threads for library in two_threads] == limits
    assert (list(warnings.filters), warnings.showwarning, np.geterr()) == (filters, shown, errors)


def test_refusals_on_many_threads_leave_the_process_as_it_was(two_threads):
    limits, filters = [library.num_threads for library in two_threads], list(warnings.filters)

    def refused(table):
        with pytest.raises(ts.errors.InputError):
            ts.test(*table, points=6, columns=["0"], nan_policy="raise")
        with collected_warnings():
            ts.test(np.arange(6.0), np.arange(5.0) ** 2, points=6, lengthscale=1.0)

    broken = [([[0.0]], [[1.0]]), ([[np.nan], [1.0]], [[1.0], [2.0]]), ([[1e308], [1.0]], [[1.0], [2.0]])]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(refused, islice(cycle(broken), 24)))
    assert [library.num_threads for library in two_threads] == limits
    assert list(warnings.filters) == filters
