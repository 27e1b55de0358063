"""Samples of very unequal sizes: the mean of BF10 over relabellings of the same rows, which must be at most 1.

Rare labellings decide that mean: one of 2,000 may have a Bayes factor of millions, which hundreds of data sets do not
show. Run with ``python -m benchmarks.unequal``; it takes ten minutes on one core.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator, run_any
from twosample.errors import TwoSampleWarning

SIZES = ((10, 100), (10, 1000), (20, 200), (20, 4000), (50, 1000))
DIMENSIONS, DATA_SETS, LABELLINGS = (1, 3), 3, 2000
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "gaussian": lambda rng, shape: rng.normal(size=shape),
    "t(3)": lambda rng, shape: rng.standard_t(3, shape),
    "t(1.5)": lambda rng, shape: rng.standard_t(1.5, shape),
    "lognormal, σ = 2": lambda rng, shape: rng.lognormal(0, 2, shape),
    "Poisson(0.4)": lambda rng, shape: rng.poisson(0.4, shape).astype(float),
    "3 % ones": lambda rng, shape: (rng.random(shape) < 0.03).astype(float),
}
# Law, columns, rows of each sample.
Cell = tuple[str, int, int, int]


def run_cell(cell: Cell) -> list[float]:
    """Mean of BF10 over labellings, of every data set; it is what BF10 is divided by in the e-value."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    name, n_columns, n_x, n_y = cell
    means = []
    for run in range(DATA_SETS):
        rng = generator("unequal", *cell, run)
        x, y = (LAWS[name](rng, (n, n_columns)) for n in (n_x, n_y))
        result = ts.test(x, y, permutations=LABELLINGS)
        means.append(float(np.exp(result.log_bf10 - np.log(result.evalue))))
    return means


def main() -> None:
    """Run every cell, and write the table."""
    cells = [(name, d, *sizes) for name, d, sizes in product(LAWS, DIMENSIONS, SIZES)]
    found = {}
    for cell, means in run_any(run_cell, cells, len(os.sched_getaffinity(0))):
        found[cell] = means
        print(cell, means, flush=True)
    rows = [{"law": c[0], "columns": c[1], "n_x": c[2], "n_y": c[3], "means": found[c]} for c in cells]
    (RESULTS / "unequal.json").write_text(json.dumps(rows, indent=0, ensure_ascii=False) + "\n")
    (RESULTS / "unequal.md").write_text(_text(found))


def _text(found: dict[Cell, list[float]]) -> str:
    every = [mean for means in found.values() for mean in means]
    above = f"{sum(one > 1 for one in every)} of {len(every)}"
    lines = [
        "# Samples of very unequal sizes",
        "",
        f"Made by `benchmarks/unequal.py`: BF10 averaged over {LABELLINGS:,} relabellings of the rows; at most 1 is",
        f"wanted. The mean of {DATA_SETS} data sets, and the largest of them. {above} data sets are above 1.",
        "",
        f"| law | columns | {' | '.join(f'{a} against {b:,}' for a, b in SIZES)} |",
        f"|---|---|{'---|' * len(SIZES)}",
    ]
    for name, n_columns in product(LAWS, DIMENSIONS):
        means = [found[name, n_columns, *sizes] for sizes in SIZES]
        texts = (f"{np.mean(one):.2f}, {max(one):.2f}" for one in means)
        lines.append(f"| {name} | {n_columns} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
