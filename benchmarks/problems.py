"""The problems of the power benchmark: pairs of samples that differ, and pairs that do not.

They are the alternatives of the suite, the laws of the calibration benchmark with their first column changed, the
settings of the paper, and wider ones: many columns of which few or all differ, correlations, ties, tails and skew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from experiments.mixtures import COMPONENTS as MIXTURES

import twosample as ts
from benchmarks.suite import ALTERNATIVES, CHANGES, NULLS, Array, Pair, gaussian, generator

# In each sample, where a problem does not say otherwise.
ROWS = 100
Law = Callable[[np.random.Generator, int], Array]


class Problem(NamedTuple):
    """Samples of one law, and samples of two."""

    group: str
    same: Pair
    different: Pair
    paired: bool = False
    rows: int = ROWS


def twice(pair: Pair) -> Pair:
    """Both samples from the first law."""
    return lambda rng, n: (pair(rng, n)[0], pair(rng, n)[0])


def wider(different: Pair, rows: int = ROWS) -> Problem:
    """Two laws, of which the first is the null."""
    return Problem("wider", twice(different), different, rows=rows)


def some_columns(change: Callable[[Array], Array], n_changed: int, n_columns: int) -> Pair:
    """N(0, I) against the same with its first columns changed."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = rng.normal(size=(2, n, n_columns))
        y[:, :n_changed] = change(y[:, :n_changed])
        return x, y

    return draw


def correlated(correlation: float, n_columns: int) -> Pair:
    """N(0, I) against the same with its first two columns correlated."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = rng.normal(size=(2, n, n_columns))
        y[:, 1] = correlation * y[:, 0] + np.sqrt(1 - correlation**2) * y[:, 1]
        return x, y

    return draw


def one_column(first: Law, second: Law) -> Pair:
    """Two laws of one column."""
    return lambda rng, n: (first(rng, n)[:, None], second(rng, n)[:, None])


def zero_inflated(zeros: float) -> Law:
    """Zeros with this probability, else exponential."""
    return lambda rng, n: np.where(rng.random(n) < zeros, 0.0, rng.exponential(size=n))


def lognormal(mean: float, sd: float) -> Law:
    """Of this mean and standard deviation on the log scale."""
    return lambda rng, n: rng.lognormal(mean, sd, n)


def poisson(rng: np.random.Generator, n: int) -> Array:
    """Mean and variance 3."""
    return rng.poisson(3.0, n).astype(float)


def negative_binomial(rng: np.random.Generator, n: int) -> Array:
    """Mean 3, variance 7.5."""
    return rng.negative_binomial(2, 0.4, n).astype(float)


def skewed(rng: np.random.Generator, n: int) -> Array:
    """Gamma with shape 2, moved and scaled to mean 0 and variance 1; its skewness is √2."""
    return (rng.gamma(2.0, size=n) - 2.0) / np.sqrt(2.0)


def wider_problems() -> dict[str, Problem]:
    """Many columns of which few or all differ, correlations, and laws with ties, tails and skew."""
    found = {
        "correlation 0.5, 2-D": wider(correlated(0.5, 2)),
        "correlation 0.7 in one pair of 5-D": wider(correlated(0.7, 5)),
    }
    for n_changed, n_columns, size, rows in (
        (10, 10, 0.15, ROWS),
        (20, 20, 0.12, ROWS),
        (3, 20, 0.4, ROWS),
        (3, 50, 0.5, 150),
        (10, 200, 0.5, 200),
    ):
        which = "all" if n_changed == n_columns else n_changed
        name = f"{which} of {n_columns} columns by {size:g}" + (f", n = {rows}" if rows != ROWS else "")
        found[name] = wider(some_columns(partial(np.add, size), n_changed, n_columns), rows)
    found["all of 20 columns, scale 1.15"] = wider(some_columns(partial(np.multiply, 1.15), 20, 20))
    found["1 of 10 columns, scale 1.7"] = wider(some_columns(partial(np.multiply, 1.7), 1, 10))
    for name, first, second in (
        ("zeros, 80 % against 60 %", zero_inflated(0.8), zero_inflated(0.6)),
        ("lognormal, σ = 2, times e", lognormal(0, 2), lognormal(1, 2)),
        ("lognormal, σ = 2 against 3", lognormal(0, 2), lognormal(0, 3)),
        ("Cauchy by 0.7", lambda rng, n: rng.standard_cauchy(n), lambda rng, n: 0.7 + rng.standard_cauchy(n)),
        ("Poisson against negative binomial", poisson, negative_binomial),
        ("normal against skewed", lambda rng, n: rng.normal(size=n), skewed),
    ):
        found[name] = wider(one_column(first, second))
    return found


def changed(law: str, n_columns: int, rows_of_y: int = 1) -> Problem:
    """A law of the calibration benchmark, and the same with its first column changed."""

    def same(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return NULLS[law](rng, n // rows_of_y, n_columns), NULLS[law](rng, n * rows_of_y, n_columns)

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = same(rng, n)
        y[:, 0] = CHANGES[law](rng, y[:, 0])
        return x, y

    return Problem("calibration", same, different)


def pairs(n_columns: int, change: Callable[[Array], Array]) -> Problem:
    """Pairs of Gaussians with correlation 0.5, and the same with the second changed."""

    def same(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        shared = gaussian(rng, n, n_columns)
        x, y = (np.sqrt(0.5) * (shared + gaussian(rng, n, n_columns)) for _ in range(2))
        return x, y

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = same(rng, n)
        y[:, 0] = change(y[:, 0])
        return x, y

    return Problem("calibration", same, different, paired=True)


def paper(draw: Callable[..., ts.simulate.SimulatedPair], **options: object) -> Problem:
    """A setting of the paper."""

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return draw(n, rng, points=0, **options)[:2]

    return Problem("paper", twice(different), different)


def correlated_laplace(scale: float) -> Problem:
    """The paper's pairs of a normal and a Laplace variable; the null is pairs of normals as correlated."""

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return ts.simulate.laplace(n, rng, scale=scale, correlation=0.5, points=0)[:2]

    return Problem("paper", pairs(1, np.negative).same, different, paired=True)


@cache
def problems() -> dict[str, Problem]:
    """All of them, by name."""
    found = {name: Problem("suite", twice(pair), pair) for name, pair in ALTERNATIVES.items()}
    for law in NULLS:
        for n_columns in (1, 2, 5, 10, 20):
            found[f"{law}, {n_columns}-D"] = changed(law, n_columns)
        found[f"{law}, 50 against 200"] = changed(law, 1, rows_of_y=2)
    for n_columns in (1, 5):
        found[f"gaussian pairs, {n_columns}-D"] = pairs(n_columns, lambda column: column + 0.4)
    simulate = ts.simulate
    found["N(0, 2²)"] = paper(simulate.gaussian, sd=2)  # N(0, 3²) and N(1, 1), and blobs with ε = 2 and 6, are above
    for mean in (2, 3):
        found[f"N({mean}, 1)"] = paper(simulate.gaussian, mean=mean)
    for means, sd in MIXTURES:
        found[f"mixture at {means[0]:g} and {means[1]:g}, sd {sd:g}"] = paper(simulate.mixture, means=means, sd=sd)
    for mean in ((11.5, 11.5), (12, 10)):
        found[f"2-D Gaussian at {mean}"] = paper(simulate.gaussian_2d, mean=mean)
    for epsilon in (2, 6, 10, 20):
        found[f"2-D Gaussian, ε = {epsilon}"] = paper(simulate.gaussian_2d, epsilon=epsilon)
    for epsilon in (10, 20):
        found[f"paper's blobs, ε = {epsilon}"] = paper(simulate.blobs, epsilon=epsilon)
    for dimension in (4, 8):
        found[f"paper's blobs, ε = 6, {dimension}-D"] = paper(simulate.blobs, epsilon=6, noise=dimension - 2)
    for name, network in (("random", simulate.random_network(5, 0)), ("hub", simulate.hub_network(7))):
        found[f"{name} networks"] = paper(simulate.correlated_gaussian, first=network[0], second=network[1])
    for scale in (0.4, np.sqrt(0.5), 1.5):
        found[f"pairs, Laplace {scale:.3g}"] = correlated_laplace(scale)
    return found | wider_problems()


@cache
def columns_of(name: str) -> int:
    """How many columns the samples of a problem have."""
    return problems()[name].same(generator("columns"), ROWS)[0].shape[1]
