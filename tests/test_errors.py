"""Errors and warnings: their fields and texts, that they travel between processes, and whom a warning points at."""

import copy
import inspect
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import twosample as ts
from twosample import errors
from twosample.data import Samples
from twosample.errors import InputError, InputTypeError, MissingExtraError, Setting, TwoSampleWarning, warn

EXPLAINED = [
    InputError,
    InputTypeError,
    *(kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, TwoSampleWarning)),
]
REMEDIES = [None, "pass more", ("drop them or pass ", Setting("nan_policy", "omit"), ".")]


def test_settings_print_as_in_a_call():
    assert str(Setting("nan_policy", "omit")) == "nan_policy='omit'"
    assert str(Setting("paired", True)) == "paired=True"
    assert str(Setting("points", 80)) == "points=80"


@pytest.mark.parametrize("kind", EXPLAINED)
def test_text_is_message_and_remedy(kind):
    assert str(kind("x is odd")) == "x is odd"
    assert str(kind("x is odd", remedy="pass more")) == "x is odd; pass more"
    explained = kind("x is odd", argument="x", remedy=("pass ", Setting("paired", True), " or ", Setting("points", 9)))
    assert str(explained) == "x is odd; pass paired=True or points=9"
    assert explained.render(lambda setting: setting.name.upper()) == "x is odd; pass PAIRED or POINTS"
    assert (explained.message, explained.argument) == ("x is odd", "x")


def test_fields_are_given_by_keyword():
    with pytest.raises(TypeError):
        InputError("x is odd", "x")


def test_kinds():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(TwoSampleWarning, UserWarning)
    assert issubclass(MissingExtraError, ImportError)


@pytest.mark.parametrize("remedy", REMEDIES)
@pytest.mark.parametrize("kind", EXPLAINED)
def test_they_can_be_pickled_and_copied(kind, remedy):
    explained = kind("x is odd", argument="x", remedy=remedy)
    for again in (pickle.loads(pickle.dumps(explained)), copy.copy(explained), copy.deepcopy(explained)):
        assert type(again) is kind
        assert (again.message, again.argument, again.remedy) == ("x is odd", "x", remedy)
        assert str(again) == str(explained)


def test_a_missing_extra_can_be_pickled():
    error = MissingExtraError("plot", "matplotlib", "plot")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is MissingExtraError
    assert str(again) == str(error) == "plot needs matplotlib; install it with: pip install 'twosample[plot]'"
    assert again.name == error.name == "matplotlib"


def test_refusals_of_the_library_have_fields():
    with pytest.raises(InputError) as refused:
        ts.test([1.0, np.nan, 2.0], [1.0, 2.0])
    assert refused.value.argument == "x"
    assert refused.value.remedy == ("remove them or pass ", Setting("nan_policy", "omit"))
    assert str(refused.value).endswith("; remove them or pass nan_policy='omit'")
    with pytest.raises(InputTypeError) as refused:
        ts.test([1.0, 2.0], [1.0, 2.0], prior_odds=2.0, permutations=1.5)
    assert refused.value.argument == "permutations"


# ---- whom a warning points at


@pytest.fixture
def caught():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def assert_only_warning(caught, kind, line):
    (warning,) = caught
    assert warning.category is kind
    assert (warning.filename, warning.lineno) == (__file__, line)


def line_here():
    return inspect.currentframe().f_back.f_lineno


def test_warn_points_at_the_first_line_outside_the_package(caught):
    def helper():
        warn(errors.AccuracyWarning("rough"))

    line = inspect.getsourcelines(helper)[1] + 1
    helper()
    assert_only_warning(caught, errors.AccuracyWarning, line)


def test_dropped_rows_point_at_the_caller(caught):
    line = line_here() + 1
    ts.test([1.0, np.nan, 2.0, 3.0], [1.0, 2.5, 4.0], nan_policy="omit")
    assert_only_warning(caught, errors.DroppedDataWarning, line)


@pytest.mark.parametrize("call", [ts.test, ts.baselines.jzs, Samples.from_data])
def test_copied_rows_point_at_the_caller_however_deep(call, caught):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    x[20:] = x[:20]
    line = line_here() + 1
    call(x, rng.normal(size=40))
    assert_only_warning(caught, errors.DuplicateRowsWarning, line)


def test_the_same_warning_from_two_lines_is_shown_twice():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            Samples.from_data([1.0, np.nan, 2.0], [1.0, 2.0], nan_policy="omit")
        Samples.from_data([1.0, np.nan, 2.0], [1.0, 2.0], nan_policy="omit")
    assert len(caught) == 2


# ---- collected for one thread


def test_collected_warnings_are_not_issued_and_others_are():
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        with errors.collected_warnings() as said:
            warn(TwoSampleWarning("first"))
            with errors.collected_warnings() as inner:
                warn(TwoSampleWarning("inner"))
            warn(TwoSampleWarning("second"))
        warn(TwoSampleWarning("after"))
    assert [str(one) for one in said] == ["first", "second"]
    assert [str(one) for one in inner] == ["inner"]
    assert [str(one.message) for one in issued] == ["after"]


def test_threads_collect_their_own_warnings():
    together = threading.Barrier(2)

    def work(name):
        with errors.collected_warnings() as said:
            together.wait(10)
            warn(TwoSampleWarning(name))
            together.wait(10)
        return [str(one) for one in said]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, ("a", "b"))) == [["a"], ["b"]]


def test_what_is_said_of_copies_does_not_change_who_hears_warnings():
    """The second test, with each row once, is silent for its own thread only."""
    rows = np.random.default_rng(0).normal(size=40)
    filters = list(warnings.filters)
    with errors.collected_warnings() as said:
        ts.test(np.repeat(rows, 2), rows[:20] + 9.0)
    assert [type(one) for one in said] == [errors.DuplicateRowsWarning]
    assert warnings.filters == filters
