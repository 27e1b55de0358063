"""N(0, 1) against Laplace laws: wider, narrower, and of the same variance."""

from functools import partial
from math import sqrt

from experiments.curves import experiment
from twosample.paper.simulate import laplace

SCALES = {"Laplace(0, 1.5)": 1.5, "Laplace(0, 0.4)": 0.4, "Laplace(0, √½)": sqrt(0.5)}

EXPERIMENT = experiment(
    "laplace",
    "N(0, 1) against a Laplace law, independent samples",
    "Figure 3 (section 5.1)",
    {label: partial(laplace, scale=scale) for label, scale in SCALES.items()},
)
