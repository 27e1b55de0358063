"""The lengthscale where N(0, 1) is compared with N(0, 9)."""

from functools import partial

from experiments.lengthscales import experiment
from twosample.paper.simulate import gaussian

EXPERIMENT = experiment(
    "lengthscales_1d",
    "Which lengthscales tell N(0, 1) from N(0, 9)",
    "Figure 2 (section 5.1)",
    "N(0, 1) against N(0, 9)",
    partial(gaussian, sd=3.0),
    200,
    (0.01, 100.0),
)
