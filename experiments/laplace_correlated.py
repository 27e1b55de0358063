"""N(0, 1) against Laplace laws, in pairs joined by a Gaussian copula with correlation 0.5.

`paper` and `adaptive` take the pairs into account in the covariance of Δ (Method 2). `published` does so for the
lengthscale only, as the released code does: its Bayes factor has the covariance of independent samples.
"""

from functools import partial

from experiments.curves import experiment
from experiments.laplace import SCALES
from twosample.paper.simulate import laplace

EXPERIMENT = experiment(
    "laplace_correlated",
    "N(0, 1) against a Laplace law, pairs with correlation 0.5",
    "the second of the additional figures (appendix G)",
    {label: partial(laplace, scale=scale, correlation=0.5) for label, scale in SCALES.items()},
    paired=True,
)
