"""Appendix tables 1 and 2 of the paper, to every printed digit, through the public API.

The recipe (seeds, order of the draws, what "BF" averages) is the released experiment's; experiments/tables.py has it.
"""

import numpy as np
import pytest
from experiments import table_1, table_2
from experiments.tables import draw_sets, fixed_log_bf10, legacy_seed, log_mean, prob_h0, scientific

RUNS = range(100)


def log_bf10(label, lengthscales):
    return np.array([fixed_log_bf10(label, legacy_seed("", (), run), lengthscales) for run in RUNS])


@pytest.mark.parametrize("label", [label for label in table_1.PRINTED if label != "N(3, 1)"])
def test_table_1(label):
    printed = table_1.PRINTED[label]
    log_bf = float(log_mean(log_bf10(label, table_1.LENGTHSCALES)))
    assert f"{np.exp(log_bf):.2e}" == scientific(log_bf) == printed.bayes_factor
    # The table's P(H0) is BF/(1 + BF) of the averaged factor, cut (not rounded) to three digits where it nears one.
    probability = 1 / (1 + np.exp(-log_bf))
    assert prob_h0(log_bf) == f"{probability:.2e}"
    assert prob_h0(log_bf) == printed.prob_h0 or (printed.prob_h0 == "9.99e-01" and probability > 0.999)


def test_table_1_underflow():
    """The table prints 0 for N(3,1): every Bayes factor underflows, and their geometric mean is 10^-883."""
    values = -log_bf10("N(3, 1)", table_1.LENGTHSCALES)
    assert np.exp(values).max() == 0.0
    assert round(values.mean() / np.log(10)) == -883


@pytest.mark.slow
@pytest.mark.parametrize("label", table_2.PRINTED)
def test_table_2(label):
    log_bf = log_mean(log_bf10(label, table_2.LENGTHSCALES))
    best = log_bf.argmin()
    found = f"{np.exp(log_bf[best]):.2e}", f"{table_2.LENGTHSCALES[best]:.2f}"
    assert found == (table_2.PRINTED[label].bayes_factor, table_2.PRINTED[label].lengthscale)


def test_data_do_not_touch_the_global_generator():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    x, y, points = draw_sets("N(0, 4)", 12231)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert (x.shape, y.shape, points.shape) == ((500,), (500,), (40,))
