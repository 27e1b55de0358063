"""Public functions, methods and properties work with floating-point errors of their own."""

import warnings
from functools import cached_property

import numpy as np
import pytest

import twosample as ts
from twosample.common.floating import own_errors


def tiny():
    return float(np.array(5e-324) / 2)


@own_errors
class Public:
    """One of each kind of member."""

    def __init__(self, value=0.0):
        self.made = tiny() + value

    def method(self):
        """What it does."""
        return tiny()

    @property
    def value(self):
        """What it is."""
        return tiny()

    @cached_property
    def kept(self):
        return tiny()

    @classmethod
    def of_class(cls):
        return cls().made

    @staticmethod
    def alone(value):
        return tiny() * value

    def __repr__(self):
        return str(tiny())

    def _own(self):
        return tiny()


def test_all_public_members_are_covered():
    with np.errstate(all="raise"):
        public = Public()
        found = [public.made, public.method(), public.value, public.kept, Public.of_class(), Public.alone(2.0)]
        assert found == [0.0] * 6 and repr(public) == "0.0"
        with pytest.raises(FloatingPointError):
            public._own()
        with pytest.raises(FloatingPointError):
            tiny()
    assert (Public.method.__doc__, Public.value.__doc__) == ("What it does.", "What it is.")


def test_what_should_not_happen_still_warns():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            own_errors(lambda: np.float64(0.0) / 0.0)()


def test_errors_of_the_caller_are_as_before():
    with np.errstate(all="raise"):
        own_errors(tiny)()
        assert set(np.geterr().values()) == {"raise"}
        with pytest.raises(ZeroDivisionError):
            own_errors(lambda: 1 / 0)()
        assert set(np.geterr().values()) == {"raise"}


@pytest.mark.parametrize("name", [name for name in ts.__all__ if name[0].islower() and name != "blocks"])
def test_no_public_function_is_forgotten(name):
    public = getattr(ts, name)
    functions = [getattr(public, one) for one in public.__all__] if name == "baselines" else [public]
    for function in functions:
        if callable(function) and not isinstance(function, type):
            assert function.__code__.co_filename.endswith("floating.py"), function
