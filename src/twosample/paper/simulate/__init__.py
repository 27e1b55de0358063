"""Synthetic pairs of samples with a known answer: every law of the paper's experiments, and two for demonstrations.

Each generator draws both samples and then, from the same two laws, evaluation points that are not in the samples. Its
`rng` is an int, a SeedSequence or a Generator; the same seed gives the same samples, whatever the number of points.

>>> import twosample as ts
>>> pair = ts.simulate.gaussian(200, 0, sd=4)
>>> ts.test(pair.x, pair.y, points=pair.points).verdict
'very strong evidence of a very large difference'
"""

from twosample.paper.simulate.demonstrations import bolts, rings_like
from twosample.paper.simulate.networks import correlated_gaussian, hub_network, random_network
from twosample.paper.simulate.pairs import SimulatedPair
from twosample.paper.simulate.paper_laws import blobs, gaussian, gaussian_2d, laplace, mixture

__all__ = [
    "SimulatedPair",
    "blobs",
    "bolts",
    "correlated_gaussian",
    "gaussian",
    "gaussian_2d",
    "hub_network",
    "laplace",
    "mixture",
    "random_network",
    "rings_like",
]
