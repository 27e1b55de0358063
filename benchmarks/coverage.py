"""How often the witness's 90 % band covers the truth, and how wide it is, for laws whose witness is known.

Pointwise, at about eleven locations. With the lengthscale fixed the truth is the witness at that lengthscale. With the
lengthscale inferred it is a function of the lengthscale, and the band is to cover that at a lengthscale drawn from the
posterior. Widths are relative to the oracle's: 1.645 standard deviations of the difference of the mean kernel values of
the samples, which knows both laws (and, where the lengthscale is inferred, of the truth over its posterior).
Run with ``python -m benchmarks.coverage``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator

LENGTHSCALES = (0.5, 1.0, 2.0)
RUNS = 100
RUNS_INFERRED = 30
# Of the law of a column: quantiles at even ranks. Of the posterior of the lengthscale: likewise.
RANKS = (np.arange(2000) + 0.5) / 2000
DRAWS = (np.arange(20) + 0.5) / 20
# How strongly the members of a pair are correlated.
CORRELATION = 0.5


@dataclass(frozen=True)
class Laws:
    """Two laws with independent columns, as quantile functions of each column, and where to look at the witness."""

    x: tuple[Callable[[Array], Array], ...]
    y: tuple[Callable[[Array], Array], ...]
    at: Array
    paired: bool = False

    def draw(self, rng: np.random.Generator, n_x: int, n_y: int) -> tuple[Array, Array]:
        """Two samples, (n_x, D) and (n_y, D)."""
        first, second = rng.normal(size=(n_x, len(self.x))), rng.normal(size=(n_y, len(self.y)))
        if self.paired:
            second = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * second
        return _quantiles(self.x, stats.norm.cdf(first)), _quantiles(self.y, stats.norm.cdf(second))

    def truth(self, lengthscales: Array, n_x: int, n_y: int) -> tuple[Array, Array]:
        """The witness at the locations with one lengthscale a column, and the variance of its empirical estimate."""
        mean_x, square_x = self._embedding(self.x, lengthscales)
        mean_y, square_y = self._embedding(self.y, lengthscales)
        variance = (square_x - mean_x**2) / n_x + (square_y - mean_y**2) / n_y
        if self.paired:
            variance -= 2 * (self._cross(lengthscales) - mean_x * mean_y) / n_x
        return mean_x - mean_y, variance

    def _embedding(self, law: tuple[Callable[[Array], Array], ...], lengthscales: Array) -> tuple[Array, Array]:
        """Mean of the kernel and of its square."""
        values = [
            _kernel(column[:, None] - quantile(RANKS), lengthscale)
            for column, quantile, lengthscale in zip(self.at.T, law, lengthscales, strict=True)
        ]
        return np.prod([v.mean(1) for v in values], axis=0), np.prod([(v**2).mean(1) for v in values], axis=0)

    def _cross(self, lengthscales: Array) -> Array:
        """Mean of the product of the kernels of both members of a pair, of one column."""
        normal, weights = np.polynomial.hermite_e.hermegauss(60)
        partner = CORRELATION * normal[:, None] + np.sqrt(1 - CORRELATION**2) * normal
        x, y = self.x[0](stats.norm.cdf(normal)), self.y[0](stats.norm.cdf(partner))
        kernel_x = _kernel(self.at - x, lengthscales[0])
        kernel_y = _kernel(self.at[:, :, None] - y, lengthscales[0])
        weights = weights / weights.sum()
        return (kernel_x * (kernel_y @ weights)) @ weights


def _quantiles(law: tuple[Callable[[Array], Array], ...], ranks: Array) -> Array:
    return np.stack([quantile(column) for quantile, column in zip(law, ranks.T, strict=True)], axis=1)


def _kernel(differences: Array, lengthscale: float) -> Array:
    return np.exp(-(differences**2) / (2 * lengthscale**2))


def _column(low: float, high: float) -> Array:
    return np.linspace(low, high, 11)[:, None]


NORMAL, SHIFTED = stats.norm.ppf, stats.norm(0.7).ppf
LAWS = {
    "shift": Laws((NORMAL,), (SHIFTED,), _column(-2, 3)),
    "scale": Laws((NORMAL,), (stats.norm(0, 2).ppf,), _column(-4, 4)),
    "exponential": Laws((stats.expon.ppf,), (stats.expon(scale=1.5).ppf,), _column(0, 5)),
    "t2": Laws((stats.t(2).ppf,), (stats.t(2, loc=0.7).ppf,), _column(-4, 5)),
    "two columns": Laws(
        (NORMAL, NORMAL),
        (SHIFTED, NORMAL),
        np.array([(first, second) for first in (-1.0, 0.0, 1.0, 2.0) for second in (-1.5, 0.0, 1.5)]),
    ),
    "pairs": Laws((NORMAL,), (SHIFTED,), _column(-2, 3), paired=True),
    "same": Laws((NORMAL,), (NORMAL,), _column(-2.5, 2.5)),
}
SIZES = {name: [(30, 30), (100, 100), (1000, 1000)] for name in LAWS}
SIZES["shift"] += [(300, 300), (30, 100)]
SIZES["scale"] += [(30, 100), (100, 30), (1000, 100)]


def look(laws: Laws, n_x: int, n_y: int, lengthscale: float | None, rng: np.random.Generator) -> tuple[float, ...]:
    """Of one pair of samples: share of locations that are covered, mean width, mean width of the oracle."""
    x, y = laws.draw(rng, n_x, n_y)
    result = ts.test(x, y, lengthscale=lengthscale, paired=laws.paired, scale="raw")
    posterior = result.lengthscale
    draws = np.interp(DRAWS, np.cumsum(posterior.mass_h1), posterior.grid)
    if lengthscale is not None:
        draws = np.array([lengthscale])
    truths, variances = zip(*(laws.truth(np.full(x.shape[1], draw), n_x, n_y) for draw in draws), strict=True)
    witness = result.witness(laws.at)
    low, high = witness.band(0.9)
    covered = np.mean((low <= truths) & (truths <= high))
    oracle = np.sqrt(np.mean(variances, axis=0) + np.var(truths, axis=0))
    return float(covered), float(witness.sd.mean()), float(oracle.mean())


def main() -> None:
    """Measure, print and write."""
    rows = []
    for name, laws in LAWS.items():
        for n_x, n_y in SIZES[name]:
            for lengthscale in (*LENGTHSCALES, None):
                seen = [
                    look(laws, n_x, n_y, lengthscale, generator("coverage", name, n_x, n_y, lengthscale, run))
                    for run in range(RUNS if lengthscale else RUNS_INFERRED)
                ]
                coverage, width, oracle = np.mean(seen, axis=0)
                cell = {"laws": name, "n_x": n_x, "n_y": n_y, "lengthscale": lengthscale}
                rows.append({**cell, "coverage": round(float(coverage), 3), "width": round(float(width / oracle), 3)})
                print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "coverage.json").write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    main()
