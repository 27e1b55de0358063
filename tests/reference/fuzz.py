"""Data sets of many kinds, to compare one engine with another: sizes, columns, ties, outliers, pairs, scales."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twosample.models import PRESETS

Array = NDArray[np.float64]


class Case(NamedTuple):
    """A data set and the options of the test that it is put to."""

    x: Array
    y: Array
    options: dict[str, Any]


def case(number: int) -> Case:
    """The data set of that number; every third one is for each of the three models."""
    rng = np.random.default_rng([20261116, number])
    name = ("adaptive", "paper", "published")[number % 3]
    n_columns = int(rng.choice([1, 1, 1, 2, 3, 6] if name == "adaptive" else [1, 1, 1, 2]))
    largest = {"adaptive": 1500, "paper": 150, "published": 150}[name]
    n_x, n_y = (int(np.exp(rng.uniform(np.log(12), np.log(largest)))) for _ in range(2))
    paired = bool(rng.random() < 0.25)
    if paired or rng.random() < 0.4:
        n_y = n_x
    x, y = _law(rng, n_x, n_columns), _law(rng, n_y, n_columns)
    change = rng.integers(5)
    size = rng.choice([0.2, 0.5, 1.5])
    if change == 1:
        y[:, 0] += size
    elif change == 2:
        y *= 1.0 + size
    elif change == 3:
        y[: len(y) // 3] += 2.0 * size
    elif change == 4:
        y = np.sign(y) * np.abs(y) ** (1.0 + size)
    if rng.random() < 0.15 and name == "adaptive":
        x, y = np.round(x, 1), np.round(y, 1)
    if rng.random() < 0.1:
        y[-1] += 50.0
    options: dict[str, Any] = {"model": PRESETS[name], "paired": paired, "points": int(rng.choice([16, 40, 40]))}
    if rng.random() < 0.2:
        options["prior_odds"] = float(np.exp(rng.normal(0.0, 1.5)))
    return Case(x, y, options)


def _law(rng: np.random.Generator, n: int, n_columns: int) -> Array:
    kind = rng.integers(5)
    shape = n, n_columns
    if kind == 1:
        return np.asarray(rng.standard_t(3, shape))
    if kind == 2:
        return np.asarray(rng.exponential(size=shape))
    if kind == 3:
        return np.asarray(rng.normal(size=shape) * 0.3 + 2.0 * rng.integers(-1, 2, size=shape))
    if kind == 4:
        return np.asarray(rng.laplace(size=shape) @ (np.eye(n_columns) + 0.3))
    return np.asarray(rng.normal(size=shape))
