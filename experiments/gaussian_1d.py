"""N(0, 1) against normal laws of another mean or variance."""

from functools import partial

from experiments.curves import experiment
from twosample.paper.simulate import gaussian

EXPERIMENT = experiment(
    "gaussian_1d",
    "N(0, 1) against another normal law",
    "Figure 1 (section 5.1) and the first of the additional figures (appendix G)",
    {
        "N(0, 1), the same": gaussian,
        "N(0, 4)": partial(gaussian, sd=2.0),
        "N(0, 9)": partial(gaussian, sd=3.0),
        "N(1, 1)": partial(gaussian, mean=1.0),
        "N(2, 1)": partial(gaussian, mean=2.0),
        "N(3, 1)": partial(gaussian, mean=3.0),
    },
)
