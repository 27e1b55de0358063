"""Chains that stop when they have converged: the answer is the exact one, within the error that they report."""

import warnings

import numpy as np
import pytest

import twosample as ts
from twosample.errors import ConvergenceWarning


@pytest.mark.slow
def test_stopping_early_leaves_the_answer_alone():
    deviations, steps = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=15), rng.normal(rng.choice([0.0, 0.5, 0.9]), 1.0, size=15)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = ts.gibbs(x, y, points=8, steps=4000, burn_in=200, hmc_steps=4, rng=seed)
        exact = ts.test(x, y, points=8, subsets=None, tolerance=1e-5)
        assert found.prob_h1_error <= 0.01 or found.diagnostics.stopped == "steps"
        deviations.append((found.prob_h1 - exact.prob_h1) / found.prob_h1_error)
        steps.append(found.diagnostics.steps)
    assert sum(count < 4000 for count in steps) >= 18
    assert np.abs(deviations).max() < 4.5
    assert np.abs(np.mean(deviations)) < 3.0 / np.sqrt(20)  # no bias that 20 data sets could show
    assert np.sqrt(np.mean(np.square(deviations))) < 1.7
