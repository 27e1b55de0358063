"""Sizes that `ts.design` foresees: predicted against realised log BF10, and milliseconds a size.

Every cell is a pair of laws. The prediction is the mean over several large pilots; realised is the median of new
samples of that size, each tested by `ts.test` on its own. Run with ``python -m benchmarks.design``; it takes about ten
minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator
from twosample.errors import TwoSampleWarning

Law = Callable[[np.random.Generator, int], Array]
PILOTS, LARGE, NULLS = 16, 2000, 80
# New samples of a cell of one column, and of several.
RUNS, RUNS_OF_SEVERAL = 200, 80
SMALL, SMALL_PILOTS, SMALL_SIZES = 50, 30, (50, 100, 200, 400)
LIMIT = math.log(10.0)
PARTS = ("time", "cells", "small")


def normal(mean: float = 0.0, sd: float = 1.0) -> Law:
    return lambda rng, n: rng.normal(mean, sd, n)


def columns(means: list[float]) -> Law:
    return lambda rng, n: rng.normal(means, 1.0, (n, len(means)))


def correlated(correlation: float) -> Law:
    return lambda rng, n: rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], n)


def two_bumps(rng: np.random.Generator, n: int) -> Array:
    return np.where(rng.random(n) < 0.5, -0.9, 0.9) + rng.normal(0, 0.45, n)


@dataclass(frozen=True)
class Cell:
    """Two laws, or one of pairs, and a size."""

    x: Law
    y: Law | None  # None where x draws the two columns of pairs
    n: int
    ratio: float = 1.0
    runs: int = RUNS

    def draw(self, rng: np.random.Generator, n: int, n_y: int, *, same: bool = False) -> tuple[Array, Array]:
        """Samples of these sizes; or from one law, that of both in the shares of the sizes, and pairs swapped."""
        if self.y is None:
            pairs = self.x(rng, n)
            swapped = same & (rng.random(n) < 0.5)
            return np.where(swapped, pairs[:, 1], pairs[:, 0]), np.where(swapped, pairs[:, 0], pairs[:, 1])
        if not same:
            return self.x(rng, n), self.y(rng, n_y)
        first = rng.random(n + n_y) < n / (n + n_y)
        x, y = self.x(rng, n + n_y), self.y(rng, n + n_y)
        rows = np.where(first if x.ndim == 1 else first[:, np.newaxis], x, y)
        return rows[:n], rows[n:]


def of_pairs(shift: float) -> Law:
    def draw(rng: np.random.Generator, n: int) -> Array:
        return rng.normal(size=(n, 1)) + rng.normal([0.0, shift], 0.6, (n, 2))

    return draw


def poisson(mean: float) -> Law:
    return lambda rng, n: rng.poisson(mean, n).astype(float)


def exponential(mean: float) -> Law:
    return lambda rng, n: rng.exponential(mean, n)


def yes(share: float) -> Law:
    return lambda rng, n: (rng.random(n) < share).astype(float)


def student(shift: float) -> Law:
    return lambda rng, n: shift + rng.standard_t(2, n)


CELLS = {
    "shift 0.5": Cell(normal(), normal(0.5), 150),
    "spread times 1.5": Cell(normal(), normal(0.0, 1.5), 100),
    "t₂ by 0.6": Cell(student(0.0), student(0.6), 150),
    "two bumps against a normal": Cell(normal(), two_bumps, 150),
    "exponential, times 1.6": Cell(exponential(1.0), exponential(1.6), 120),
    "Poisson 2 against 2.8": Cell(poisson(2.0), poisson(2.8), 120),
    "yes, 20 % against 40 %": Cell(yes(0.2), yes(0.4), 120),
    "correlation 0 against 0.6": Cell(correlated(0.0), correlated(0.6), 200, runs=RUNS_OF_SEVERAL),
    "one of 5 columns by 0.6": Cell(columns([0.0] * 5), columns([0.0, 0.6, 0.0, 0.0, 0.0]), 150, runs=RUNS_OF_SEVERAL),
    "all of 5 columns by 0.35": Cell(columns([0.0] * 5), columns([0.35] * 5), 120, runs=RUNS_OF_SEVERAL),
    "pairs by 0.4": Cell(of_pairs(0.4), None, 100),
    "shift 0.6, 80 and 160 rows": Cell(normal(), normal(0.6), 80, ratio=2.0),
}


def of_cell(name: str, cell: Cell) -> dict[str, Any]:
    """Predicted and realised medians and chances of one cell."""
    n_y, paired = round(cell.n * cell.ratio), cell.y is None
    predicted, seconds = [], []
    for pilot in range(PILOTS):
        samples = cell.draw(generator("design pilot", name, pilot), LARGE, LARGE)
        start = time.process_time()
        row = ts.design(*samples, sizes=cell.n, ratio=cell.ratio, paired=paired, rng=pilot).at(cell.n)
        seconds.append(time.process_time() - start)
        predicted.append((row.log_bf10, row.found, row.log_bf10_same, row.confirmed_same, row.false_alarm))
    new = {
        same: [cell.draw(generator("design", name, same, run), cell.n, n_y, same=same) for run in range(count)]
        for same, count in ((False, cell.runs), (True, NULLS))
    }
    logs, nulls = (np.array([ts.test(*one, paired=paired).log_bf10 for one in sets]) for sets in new.values())
    means = np.mean(predicted, axis=0).tolist()
    middle = np.quantile(logs, 0.5)
    return {
        "cell": name,
        "n": [cell.n, n_y],
        "runs": cell.runs,
        "median": [means[0], float(middle)],
        "error_of_median": float(1.25 * logs.std() / math.sqrt(cell.runs)),
        "between_pilots": float(np.std([one[0] for one in predicted], ddof=1)),
        "found": [means[1], float((logs > LIMIT).mean())],
        "median_same": [means[2], float(np.median(nulls))],
        "confirmed_same": [means[3], float((nulls < -LIMIT).mean())],
        "false_alarm": [means[4], float((nulls > LIMIT).mean())],
        "seconds": float(np.mean(seconds)),
    }


def cells() -> list[dict[str, Any]]:
    """All cells."""
    found = []
    for name, cell in CELLS.items():
        found.append(of_cell(name, cell))
        print(found[-1], flush=True)
    return found


def small_pilots() -> list[dict[str, Any]]:
    """The chances that small pilots foresee, beside those there are."""
    found = []
    for shift in (0.0, 0.25, 0.5, 1.0):
        cell = Cell(normal(), normal(shift), 0)
        pilots = [cell.draw(generator("design small", shift, pilot), SMALL, SMALL) for pilot in range(SMALL_PILOTS)]
        chances = np.array([[row.found for row in ts.design(*pilot, sizes=SMALL_SIZES)] for pilot in pilots])
        for place, n in enumerate(SMALL_SIZES):
            new = [cell.draw(generator("design real", shift, n, run), n, n) for run in range(NULLS)]
            realised = float(np.mean([ts.test(*one).log_bf10 > LIMIT for one in new]))
            quartiles = np.quantile(chances[:, place], [0.25, 0.5, 0.75]).tolist()
            row = {"shift": shift, "n": n, "predicted": quartiles, "mean": float(chances[:, place].mean())}
            found.append({**row, "realised": realised})
            print(found[-1], flush=True)
    return found


def milliseconds() -> list[dict[str, Any]]:
    """Processor time of a size, for pilots of 100 + 100 rows."""
    found = []
    for count in (1, 2, 5, 20):
        samples = generator("design time", count).normal(size=(2, 100, count))
        ts.design(*samples, sizes=50)
        several = []
        for sizes in ((50,), (50, 100, 150, 200, 250)):
            start = time.process_time()
            ts.design(*samples, sizes=sizes)
            several.append(time.process_time() - start)
        found.append({"columns": count, "first": 1e3 * several[0], "each_more": 250.0 * (several[1] - several[0])})
        print(found[-1], flush=True)
    return found


def _pair(values: list[float]) -> str:
    return " / ".join(f"{value:.2f}" for value in values)


def _line(row: dict[str, Any]) -> str:
    """One cell of the first table."""
    n = " and ".join(map(str, dict.fromkeys(row["n"])))
    cells = (
        row["cell"],
        n,
        row["runs"],
        f"{_pair(row['median'])} ± {row['error_of_median']:.2f}",
        f"{row['between_pilots']:.2f}",
        *(_pair(row[name]) for name in ("found", "median_same", "false_alarm")),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _text(found: dict[str, Any]) -> str:
    lines = [
        "# How many rows",
        "",
        f"Made by `benchmarks/design.py`. What `ts.design` foresees (mean over {PILOTS} pilots of {LARGE:,} rows a",
        "sample) / what came of new samples of that size; ± is the standard error of what came, and the spread that of",
        "the median that one pilot foresees.",
        "",
        "| laws | n | data sets | median log BF10 | spread | P(BF10 > 10) | median if the same | P(BF10 > 10) then |",
        "|---|---|---|---|---|---|---|---|",
        *map(_line, found["cells"]),
        "",
        f"Small pilots, of {SMALL} rows a sample, of two normals: the chance of BF10 > 10 that {SMALL_PILOTS} pilots",
        "foresee, and what it is:",
        "",
        "| shift | n | foreseen: quartiles | mean | realised |",
        "|---|---|---|---|---|",
    ]
    for row in found["small"]:
        quartiles = ", ".join(f"{value:.2f}" for value in row["predicted"])
        lines.append(f"| {row['shift']:g} | {row['n']} | {quartiles} | {row['mean']:.2f} | {row['realised']:.2f} |")
    lines += [
        "",
        "Processor time with a pilot of 100 rows a sample, 300 samples of each size:",
        "",
        "| columns | the first size | each one more |",
        "|---|---|---|",
        *(f"| {row['columns']} | {row['first']:.0f} ms | {row['each_more']:.0f} ms |" for row in found["time"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=PARTS, nargs="+", default=PARTS, help="leave the others as they were")
    warnings.simplefilter("ignore", TwoSampleWarning)
    measure = {"time": milliseconds, "cells": cells, "small": small_pilots}
    new = {part: measure[part]() for part in parser.parse_args().part}
    path = RESULTS / "design.json"
    found: dict[str, Any] = {**(json.loads(path.read_text()) if path.exists() else {}), **new}
    path.write_text(json.dumps(found, indent=0) + "\n")
    path.with_suffix(".md").write_text(_text(found))


if __name__ == "__main__":
    main()
