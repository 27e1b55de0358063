"""Reads results: what the tables and claims of the gallery are about, as functions of the committed files alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import curves
from experiments.catalogue import EXPERIMENTS
from experiments.runner import Refusal, load_results
from twosample.inference.evidence import probability

__all__ = ["CERTAIN", "Reading", "is_null", "read_all"]

Array = NDArray[np.float64]

# A median P(H1 | D) above this counts as having found the difference.
CERTAIN = 0.95


@dataclass(frozen=True)
class Reading:
    """The results of one experiment.

    Attributes
    ----------
    results
        What the file has.
    """

    results: Mapping[str, Any]

    @property
    def models(self) -> list[str]:
        """What is compared."""
        return list(self.results["models"])

    @property
    def settings(self) -> list[str]:
        """Labels, in order."""
        return list(dict.fromkeys(cell["cell"][0] for cell in self.results["cells"]))

    def sizes(self, setting: str) -> list[int]:
        """Numbers of rows of a setting, in order."""
        return [cell["cell"][1] for cell in self.results["cells"] if cell["cell"][0] == setting]

    @property
    def is_curve(self) -> bool:
        """Whether it is about P(H1 | D) over many data sets."""
        return EXPERIMENTS[self.results["experiment"]].draw is curves.draw

    def log_bf10(self, setting: str, n: int, model: str) -> Array:
        """The runs of a cell."""
        for cell in self.results["cells"]:
            if cell["cell"] == [setting, n]:
                return np.asarray(cell["values"][model], dtype=float)
        raise KeyError(f"{self.results['experiment']}: there is no cell {setting}, {n}")

    def prob(self, setting: str, n: int, model: str) -> Array:
        """P(H1 | D) of the runs of a cell."""
        return probability(self.log_bf10(setting, n, model))

    def median(self, setting: str, n: int, model: str) -> float:
        """Median P(H1 | D) of a cell."""
        return float(np.median(self.prob(setting, n, model)))

    def medians(self, setting: str, model: str) -> list[float]:
        """Median P(H1 | D) at every size."""
        return [self.median(setting, n, model) for n in self.sizes(setting)]

    def reached(self, setting: str, model: str) -> int | None:
        """The least n from which on the median P(H1 | D) is above `CERTAIN`; None if it is not at the largest n."""
        found = None
        for n, median in zip(reversed(self.sizes(setting)), reversed(self.medians(setting, model)), strict=True):
            if median <= CERTAIN:
                break
            found = n
        return found


def is_null(experiment: str, setting: str) -> bool:
    """Whether both samples are of one law."""
    return "the same" in setting or experiment == "comparison_nd"


def read_all(folder: Path) -> dict[str, Reading]:
    """The results of all experiments, in the order of the paper."""
    paths = {name: folder / "results" / f"{name}.json" for name in EXPERIMENTS}
    lacking = [name for name, path in paths.items() if not path.exists()]
    if lacking:
        raise Refusal(
            f"{folder / 'results'} has no results of {', '.join(lacking)}; make them with: python -m experiments run"
        )
    return {name: Reading(load_results(path)) for name, path in paths.items()}
