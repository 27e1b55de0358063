"""Gaussian graphical models that differ in some links: random ones of 5 nodes, and hubs of 7."""

from functools import partial

from experiments.curves import experiment
from twosample.paper.simulate import SimulatedPair, correlated_gaussian, hub_network, random_network


def random_pair(n: int, seed: int, *, nodes: int, links: int) -> SimulatedPair:
    """Samples of two networks whose random links are those of the seed `links`, in every run."""
    return correlated_gaussian(n, seed, *random_network(nodes, links))


def hub_pair(n: int, seed: int, *, nodes: int) -> SimulatedPair:
    """Samples of two networks of three hubs, one of which only the second has."""
    return correlated_gaussian(n, seed, *hub_network(nodes))


EXPERIMENT = experiment(
    "networks",
    "Gaussian graphical models with different links",
    "the figures of section 6.1",
    {
        "random, 5 nodes, 4 of 5 links shared": partial(random_pair, nodes=5, links=0),
        "hubs, 7 nodes, 1 of 3 hubs differs": partial(hub_pair, nodes=7),
    },
)
