"""Whatever two tables hold, and whatever they are, there is an answer without NaN or one of our refusals."""

import datetime
import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import twosample as ts
from twosample.errors import InputError, InputTypeError, TwoSampleWarning

NUMBERS = st.one_of(
    st.floats(-5, 5),
    st.floats(),
    st.integers(-3, 3),
    st.integers(-(10**25), 10**25),
    st.booleans(),
)
TIMES = st.one_of(
    st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
)
KINDS = {
    "floats": st.floats(-5, 5),
    "any floats": st.floats(),
    "ints": st.integers(-3, 3),
    "large ints": st.integers(-(2**63), 2**63 - 1),
    "bools": st.booleans(),
    "strings": st.text(max_size=3),
    "none": st.none(),
    "dates": st.dates(),
    "datetimes": TIMES,
    "numbers or none": st.one_of(NUMBERS, st.none()),
    "floats or none": st.one_of(st.floats(-5, 5), st.none()),
    "anything": st.one_of(NUMBERS, TIMES, st.text(max_size=2), st.none()),
}
CONTAINERS = ("lists", "array", "pandas", "polars", "pyarrow")


@st.composite
def tables(draw, kinds):
    rows = draw(st.integers(2, 12))
    return [draw(st.lists(KINDS[kind], min_size=rows, max_size=rows)) for kind in kinds]


@st.composite
def two_tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    x = draw(tables(kinds))
    y = draw(tables(kinds if draw(st.integers(0, 4)) else kinds[::-1]))
    return x, y


def contained(columns, container):
    """The columns in a container of that kind; what it does not take itself, in the way its users would."""
    if container == "lists":
        return [list(row) for row in zip(*columns, strict=True)]
    if container == "array":
        values = [list(row) for row in zip(*columns, strict=True)]
        try:
            return np.array(values)
        except (OverflowError, ValueError, TypeError):
            return np.array(values, dtype=object)
    named = {f"c{place}": values for place, values in enumerate(columns)}
    if container == "pandas":
        return pd.DataFrame(named)
    if container == "polars":
        try:
            return pl.DataFrame(named, strict=False)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            return pl.DataFrame({name: pl.Series(map(str, values)) for name, values in named.items()})
    try:
        return pa.table(named)
    except (pa.ArrowException, OverflowError, TypeError):
        return pa.table({name: list(map(str, values)) for name, values in named.items()})


def numbers_in(content):
    """Every number in plain data."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for value in content:
            yield from numbers_in(value)
    elif isinstance(content, float):
        yield content


any_question = given(
    two_tables(),
    st.sampled_from(CONTAINERS),
    st.sampled_from(CONTAINERS),
    st.sampled_from(["raise", "omit", "omit", "omit"]),
    st.sampled_from([None, None, None, "auto"]),
    st.booleans(),
)


def examples(count):
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@examples(250)
@any_question
def test_any_two_tables_have_an_answer_or_are_refused(pair, x_container, y_container, nan_policy, subsets, paired):
    check(pair, x_container, y_container, nan_policy, subsets, paired)


@pytest.mark.slow
@examples(1500)
@any_question
def test_more_of_them(pair, x_container, y_container, nan_policy, subsets, paired):
    check(pair, x_container, y_container, nan_policy, subsets, paired)


def check(pair, x_container, y_container, nan_policy, subsets, paired):
    x, y = contained(pair[0], x_container), contained(pair[1], y_container)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TwoSampleWarning)
        try:
            result = ts.test(x, y, points=5, nan_policy=nan_policy, subsets=subsets, paired=paired)
        except (InputError, InputTypeError) as refused:
            assert refused.argument in ("x", "y", "x and y", "scale")
            return
        content = json.loads(result.to_json())
    assert all(map(math.isfinite, numbers_in(content)))
    assert 0.0 <= result.prob_h1 <= 1.0
    assert math.isclose(result.prob_h0 + result.prob_h1, 1.0)
    assert result.summary()
