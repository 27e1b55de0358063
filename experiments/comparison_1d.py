"""N(0, 1) against N(μ, 1) by this test and by the two tests with Pólya trees."""

from functools import partial

from experiments.curves import MODELS, experiment
from twosample.paper.simulate import gaussian

EXPERIMENT = experiment(
    "comparison_1d",
    "N(0, 1) against N(μ, 1), and other Bayesian tests",
    "Figure 7 (section 5.4)",
    {
        "μ = 0, the same": gaussian,
        "μ = 1.5": partial(gaussian, mean=1.5),
        "μ = 3": partial(gaussian, mean=3.0),
    },
    (200,),
    models=(*MODELS, "chen_hanson", "holmes"),
)
