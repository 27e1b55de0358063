"""Shapes of six-membered rings in crystals and in the gas phase: random parts of the paper's real data."""

from __future__ import annotations

from functools import cache

import numpy as np

import twosample as ts
from experiments.curves import experiment
from twosample.errors import DownloadError, InputError, MissingExtraError

_POINTS = 40
_data = cache(ts.datasets.rings)


def rings(n: int, seed: int) -> ts.simulate.SimulatedPair:
    """Draw n rows of each kind without replacement, and half of the points from the other rows of each."""
    data, rng = _data(), np.random.default_rng(seed)
    (x, points_x), (y, points_y) = (
        np.split(rng.permutation(rows)[: n + _POINTS // 2], [n]) for rows in (data.crystal, data.gas_phase)
    )
    return ts.simulate.SimulatedPair(x, y, data.names, data.columns, np.concatenate([points_x, points_y]))


def missing() -> str | None:
    """What is wrong with the data files, if anything."""
    try:
        _data()
    except (DownloadError, InputError, MissingExtraError) as error:
        return f"the data files of the rings are not there: {error}"
    return None


EXPERIMENT = experiment(
    "rings",
    "Six-membered rings (q2, q3): crystal structures against the gas phase",
    "the first figure of section 6.2",
    {"crystal against gas phase": rings},
    (25, 50, 100, 200, 400, 600, 800),
    missing=missing,
)
