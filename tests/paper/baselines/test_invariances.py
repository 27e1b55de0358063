"""What must leave the answers alone: which sample is called x, the order of rows, units and origins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twosample as ts

few = settings(max_examples=6, deadline=None, derandomize=True)

ONE_COLUMN = {
    "holmes": lambda x, y: ts.baselines.holmes(x, y),
    "holmes empirical": lambda x, y: ts.baselines.holmes(x, y, variant="empirical"),
    "holmes conditional": lambda x, y: ts.baselines.holmes(x, y, variant="conditional"),
    "jzs": lambda x, y: ts.baselines.jzs(x, y),
}
ANY_COLUMNS = {
    "chen_hanson": lambda x, y: ts.baselines.chen_hanson(x, y, permutations=9),
    "chen_hanson pooled": lambda x, y: ts.baselines.chen_hanson(x, y, c="mean", centering="pooled", permutations=9),
    "mmd": lambda x, y: ts.baselines.mmd(x, y, permutations=39),
    "mmd aggregated": lambda x, y: ts.baselines.mmd(x, y, permutations=39, aggregate=True),
}
PAIRS = {
    "jzs": lambda x, y: ts.baselines.jzs(x[:, 0], y[:, 0], paired=True),
    "mmd": lambda x, y: ts.baselines.mmd(x, y, permutations=39, paired=True),
}
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(8, 40)


@st.composite
def samples(draw, n_columns):
    rng = np.random.default_rng(draw(seeds))
    x, y = (rng.normal(size=(draw(sizes), n_columns)) + 0.3 * rng.exponential(size=n_columns) for _ in "xy")
    return x, y + draw(st.sampled_from([0.0, 0.5, 2.0])), rng


def same(first, second):
    for name in {"log_bf10", "statistic", "pvalue"} & vars(first).keys():
        assert getattr(first, name) == pytest.approx(getattr(second, name), rel=1e-9, abs=1e-9)


def check(test, x, y, rng):
    answer = test(x, y)
    same(answer, test(y, x))
    same(answer, test(x[rng.permutation(len(x))], y[rng.permutation(len(y))]))
    unit, origin = rng.uniform(0.1, 10.0, x.shape[1]), rng.normal(0, 10.0, x.shape[1])
    same(answer, test(origin + unit * x, origin + unit * y))


@pytest.mark.parametrize("name", ONE_COLUMN)
@few
@given(samples(1))
def test_one_column(name, drawn):
    check(ONE_COLUMN[name], *drawn)


@pytest.mark.parametrize("name", ANY_COLUMNS)
@few
@given(st.integers(1, 3).flatmap(samples))
def test_any_columns(name, drawn):
    check(ANY_COLUMNS[name], *drawn)


@pytest.mark.parametrize("name", PAIRS)
@few
@given(samples(2))
def test_pairs(name, drawn):
    x, y, rng = drawn
    n = min(len(x), len(y))
    x, y, order, test = x[:n], y[:n], rng.permutation(n), PAIRS[name]
    answer = test(x, y)
    same(answer, test(y, x))
    same(answer, test(x[order], y[order]))
    same(answer, test(3.0 * x + 7.0, 3.0 * y + 7.0))
