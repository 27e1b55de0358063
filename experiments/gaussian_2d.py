"""Two normal laws in the plane that differ in the mean or in one variance: the seven columns of the paper's table."""

from functools import partial

from experiments.curves import Law, experiment
from twosample.paper.simulate import gaussian_2d

LAWS: dict[str, Law] = {
    "N((10, 10), I), the same": gaussian_2d,
    "N((11.5, 11.5), I)": partial(gaussian_2d, mean=(11.5, 11.5)),
    "N((12, 10), I)": partial(gaussian_2d, mean=(12.0, 10.0)),
    **{f"N((10, 10), Σ({epsilon:g}))": partial(gaussian_2d, epsilon=epsilon) for epsilon in (2.0, 6.0, 10.0, 20.0)},
}

EXPERIMENT = experiment(
    "gaussian_2d",
    "N((10, 10), I) against N(mean, Σ(ε)), Σ(ε) = diag(1, ε)",
    "the figure of appendix F and the third of the additional figures (appendix G)",
    LAWS,
)
