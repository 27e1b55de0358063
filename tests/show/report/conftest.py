"""Results to report, and a page taken apart."""

from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import twosample as ts

HOSTILE = "<script>alert(1)</script>"
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(HTMLParser):
    """Elements in order, with attributes, their text, and whether each is closed where it must be."""

    def __init__(self, text):
        super().__init__()
        self.source, self.elements, self.open, self.unclosed = text, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        element = SimpleNamespace(tag=tag, attributes=dict(attributes), text="", parents=[one.tag for one in self.open])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        last = self.open.pop()
        if last.tag != tag:
            self.unclosed.append((last.tag, tag))

    def handle_data(self, data):
        for element in self.open:
            element.text += data

    def all(self, tag, **wanted):
        return [
            one
            for one in self.elements
            if one.tag == tag and all(one.attributes.get(name) == value for name, value in wanted.items())
        ]

    def one(self, tag, **wanted):
        (found,) = self.all(tag, **wanted)
        return found


@pytest.fixture(scope="session")
def page_of():
    return Page


def _frame(rows, names):
    return pl.DataFrame(rows, schema=names, orient="row")


def _pair(seed, names, shift):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(150, len(names))), rng.normal(size=(160, len(names)))
    shift(y)
    return _frame(x, names), _frame(y, names)


@pytest.fixture(scope="session")
def one():
    x, y = _pair(1, ["weight"], lambda y: np.multiply(y, 2.5, out=y))
    return replace(ts.test(x, y, permutations=99, rope=0.55), names=("before", "after"))


@pytest.fixture(scope="session")
def mild():
    """Little evidence, so that prior odds matter."""
    x, y = _pair(6, ["weight"], lambda y: np.add(y, 0.3, out=y))
    return ts.test(x, y, prior_odds=0.5)


@pytest.fixture(scope="session")
def two():
    def shift(y):
        y[:, 1] = 0.9 * y[:, 0] + 0.4 * y[:, 1]

    x, y = _pair(2, ["height", "weight"], shift)
    return ts.test(x, y)


@pytest.fixture(scope="session")
def five():
    def shift(y):
        y[:, 2] += 1.0
        y[:, 3] += 0.8

    x, y = (
        one.with_columns(pl.col("visits").round()) for one in _pair(3, ["age", HOSTILE, "dose", "visits", "a&b"], shift)
    )
    return replace(ts.test(x, y), names=('pla"cebo', "high & </script><b>"))


@pytest.fixture(scope="session")
def together():
    x, y = _pair(4, ["a", "b", "c"], lambda y: np.add(y, 0.5, out=y))
    return ts.test(x, y, subsets=None)


@pytest.fixture(scope="session")
def each():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(50, 80)), rng.normal(size=(50, 80))
    y[:, :10] += 1.2
    names = [f"gene {number}" for number in range(79)] + [HOSTILE]
    return ts.test_each(_frame(x, names), _frame(y, names))


@pytest.fixture(scope="session")
def robustness():
    """What `TwoSampleResult.robustness()` has."""
    curves = tuple(
        SimpleNamespace(
            name=name, label=label, values=values, log_bf10=3.0 - np.log(values / default) ** 2, default=default
        )
        for name, label, values, default in (
            ("amplitude", "scale of the amplitude", np.geomspace(0.05, 2.0, 9), 0.3),
            ("points", "number of points", np.array([10.0, 20.0, 40.0, 80.0]), 40.0),
            ("lengthscale", "range of the lengthscale", np.geomspace(2.0, 32.0, 5), 8.0),
        )
    )
    return SimpleNamespace(curves=curves, sentence="The verdict holds for scales from 0.05 to 1.")
