"""Two samples of N(0, I) in 1, 3 and 5 dimensions, by this test and by that of Chen and Hanson."""

from functools import partial

from experiments.curves import MODELS, experiment
from twosample.paper.simulate import gaussian

EXPERIMENT = experiment(
    "comparison_nd",
    "N(0, I) against the same in D dimensions, and another Bayesian test",
    "Figure 8 (section 5.4)",
    {f"D = {dimension}": partial(gaussian, dimension=dimension) for dimension in (1, 3, 5)},
    (100,),
    models=(*MODELS, "chen_hanson"),
)
