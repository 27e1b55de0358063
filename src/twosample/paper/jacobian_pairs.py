"""The pairs of rows in the pseudo-likelihood, and which of them have a Jacobian of full rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twosample.common.arrays import Array
from twosample.data import Samples
from twosample.errors import InputError, Setting
from twosample.features.maps import FeatureMap
from twosample.models import Model

__all__ = ["Pairs"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of rows (n, D), in the units of the data, and which of them have a Jacobian of full rank, (n,)."""

    x: Array
    y: Array
    usable: NDArray[np.bool_]

    @classmethod
    def choose(
        cls, samples: Samples, features: FeatureMap, model: Model, generator: np.random.Generator
    ) -> Pairs | None:
        """The rows as given where there are as many of x as of y, else random pairs; None if all rows are equal."""
        if all((rows == samples.x[0]).all() for rows in (samples.x, samples.y)):
            return None
        if features.count < 2 * samples.n_columns:
            raise InputError(
                f"points: model {model.name!r} needs at least twice as many distinct evaluation points as "
                f"columns, and has {features.count} for {samples.n_columns}",
                argument="points",
                remedy=("pass more points or use ", Setting("model", "adaptive")),
            )
        x, y = samples.x, samples.y
        if len(x) != len(y):
            count = min(len(x), len(y))
            x, y = (rows[generator.permutation(len(rows))[:count]] for rows in (x, y))
        jacobians = features.jacobians(x, y)
        usable = np.isfinite(jacobians.log_volumes(features.typical, jacobians.values(features.typical)))
        if usable.sum() < 2:
            raise InputError(
                f"x and y: fewer than 2 pairs of rows can be used by the pseudo-likelihood of model "
                f"{model.name!r} (equal rows, or too few distinct points)",
                argument="x and y",
                remedy=("use ", Setting("model", "adaptive")),
            )
        return cls(x, y, usable)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the pairs that were left out, if any."""
        left_out = len(self.usable) - int(self.usable.sum())
        if not left_out:
            return ()
        return (
            f"{left_out} of {len(self.usable)} pairs have equal rows or a Jacobian without full rank; "
            "the pseudo-likelihood leaves out their volume factor.",
        )
