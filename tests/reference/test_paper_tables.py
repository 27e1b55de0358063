"""Appendix tables 1 and 2 of the paper, to every printed digit, through the public API.

The recipe (seeds, order of the draws, what "BF" averages) is the released experiment's; see docs of the model
`published`.
"""

# ruff: noqa: NPY002 (the legacy generator is part of the recipe)
import numpy as np
import pytest

import twosample as ts

RUNS = range(100)

# The alternative's law, and the Bayes factor (H0 over H1) and P(H0 | data) as printed.
TABLE_1 = {
    "N(0,1)": (lambda size: np.random.normal(0, 1, size), "1.79e+25", "1.00e+00"),
    "N(0,4)": (lambda size: np.random.normal(0, 2, size), "5.44e-05", "5.44e-05"),
    "N(0,9)": (lambda size: np.random.normal(0, 3, size), "2.12e-51", "2.12e-51"),
    "N(1,1)": (lambda size: np.random.normal(1, 1, size), "2.31e-13", "2.31e-13"),
    "N(2,1)": (lambda size: np.random.normal(2, 1, size), "3.55e-185", "3.55e-185"),
    "Laplace(0,0.707)": (lambda size: np.random.laplace(0, np.sqrt(0.5), size), "5.86e+22", "1.00e+00"),
    "Laplace(0,1.5)": (lambda size: np.random.laplace(0, 1.5, size), "2.13e+07", "9.99e-01"),
    "Laplace(0,0.4)": (lambda size: np.random.laplace(0, 0.4, size), "6.51e-02", "6.11e-02"),
}
TABLE_2 = {
    "Laplace(0,0.707)": ("4.64e+13", "31.19"),
    "Laplace(0,1.5)": ("2.13e-02", "4.75"),
    "Laplace(0,0.4)": ("3.12e-07", "2.04"),
}


def draw(run, alternative):
    # The tables were made with NumPy's legacy global generator; the state is restored afterwards.
    state = np.random.get_state()
    np.random.seed(12231 + run)
    x, points_x = np.random.normal(0, 1, 500), np.random.normal(0, 1, 20)
    y, points_y = alternative(500), alternative(20)
    np.random.set_state(state)
    return x, y, np.concatenate([points_x, points_y])


def log_mean_exp(values):
    return np.logaddexp.reduce(values) - np.log(len(values))


def log_bf01(alternative, lengthscale):
    values = []
    for run in RUNS:
        x, y, points = draw(run, alternative)
        values.append(-np.asarray(ts.log_bf10(x, y, lengthscale, points=points, model="published")))
    return np.array(values)


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(name):
    alternative, bayes_factor, prob_h0 = TABLE_1[name]
    log_bf = log_mean_exp(log_bf01(alternative, "median"))
    assert f"{np.exp(log_bf):.2e}" == bayes_factor
    # The table's P(H0) is BF/(1 + BF) of the averaged factor, cut (not rounded) to three digits where it nears one.
    probability = 1 / (1 + np.exp(-log_bf))
    assert f"{probability:.2e}" == prob_h0 or (prob_h0 == "9.99e-01" and probability > 0.999)


def test_table_1_underflow():
    """The table prints 0 for N(3,1): every Bayes factor underflows, and their geometric mean is 10^-883."""
    values = log_bf01(lambda size: np.random.normal(3, 1, size), "median")
    assert np.exp(values).max() == 0.0
    assert round(values.mean() / np.log(10)) == -883


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2(name):
    grid = np.linspace(0.01, 40, 60)
    log_bf = np.apply_along_axis(log_mean_exp, 0, log_bf01(TABLE_1[name][0], grid))
    best = log_bf.argmin()
    assert (f"{np.exp(log_bf[best]):.2e}", f"{grid[best]:.2f}") == TABLE_2[name]
