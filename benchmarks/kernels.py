"""Kernels beside the Gaussian one: calibration, power and cost of the default model with each of them.

Calibration is as in `benchmarks.calibration`: both samples are from one distribution, the mean of BF10 is to be at most
1 and the share of BF10 > 20 at most 1 %. Power is the share of data sets with BF10 > 3, and the mean of the log score
of P(different) at even odds. Cost is the processor time of a test over that of the Gaussian kernel. Run with
``python -m benchmarks.kernels``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.calibration import LARGEST_MEAN, LARGEST_SHARE
from benchmarks.problems import problems
from benchmarks.suite import NULLS, RESULTS, generator, run_any
from twosample.data import Samples
from twosample.results.robustness import by_models

KERNELS = (*ts.kernels.NAMES, "rbf + laplace")
EVERY = ("rbf", "laplace", "matern32", "rational_quadratic")  # that are averaged over
FAMILIES, DIMENSIONS, SIZES = ("gaussian", "t2", "rounded"), (1, 5), (10, 20, 50, 200)
PROBLEMS = problems()
POWER = (
    "shift 0.5",
    "Laplace 0.707",
    "blobs 6",
    "Cauchy by 0.7",
    "zeros, 80 % against 60 %",
    "correlation 0.7 in one pair of 5-D",
)
COST_ROWS, COST_COLUMNS, COST_REPEATS = 10_000, (1, 5), 3
FOUND = 3.0
# Kernel, "null" or "different", what the law is, columns, rows, data sets.
Cell = tuple[str, str, str, int, int, int]


def log_bf10(x: np.ndarray, y: np.ndarray, kernel: str) -> float:
    """Of the default test, without all else that it says; of "average", that of several kernels."""
    if kernel == "average":
        return float(np.logaddexp.reduce([log_bf10(x, y, one) for one in EVERY]) - np.log(len(EVERY)))
    plan = ts.plan(x, y, kernel=kernel)
    samples = Samples.from_data(x, y, paired=False, scale=plan.model.scale)
    return float(by_models(plan, samples, [plan.model])[0])


def run_cell(cell: Cell) -> list[float]:
    """Log BF10 of every data set."""
    kernel, kind, law, n_columns, n, runs = cell
    found = []
    for run in range(runs):
        rng = generator("kernels", *cell[1:5], run)  # the same data for all kernels
        if kind == "null":
            x, y = NULLS[law](rng, n, n_columns), NULLS[law](rng, n, n_columns)
        else:
            x, y = PROBLEMS[law].different(rng, n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
            found.append(log_bf10(x, y, kernel))
    return found


def costs() -> list[dict]:
    """Processor seconds of a test with each kernel, and over those of the Gaussian; the kernels take turns."""
    rows = []
    for n_columns in COST_COLUMNS:
        rng = generator("kernels", "cost", n_columns)
        x, y = rng.normal(size=(2, COST_ROWS, n_columns))
        seconds: dict[str, list[float]] = {name: [] for name in KERNELS}
        for _ in range(COST_REPEATS):
            for name in KERNELS:
                start = time.process_time()
                ts.test(x, y, kernel=name)
                seconds[name].append(time.process_time() - start)
        for name, taken in seconds.items():
            ratios = np.array(taken) / np.array(seconds["rbf"])
            rows.append(
                {
                    "kernel": name,
                    "columns": n_columns,
                    "rows": COST_ROWS,
                    "seconds": round(float(np.median(taken)), 3),
                    "ratio": round(float(np.median(ratios)), 2),
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Run all, print the tables and write them to the results folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=100, help="nulls a cell, twice as many of one column; half as many that differ"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--resume", action="store_true", help="keep the cells that the results already have")
    parser.add_argument("--only", choices=["cost", "cells"], help="one part; the other is kept as it is")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    path = options.into / "kernels.json"
    results = json.loads(path.read_text()) if path.exists() else {"cells": [], "cost": []}
    if options.only != "cells":
        results["cost"] = costs()
        path.write_text(json.dumps(results, indent=0) + "\n")
    if options.only != "cost":
        cells = _cells(options.runs)
        results["cells"] = [row for row in results["cells"] if options.resume and _key(row) in cells]
        done = set(map(_key, results["cells"]))
        for cell, values in run_any(run_cell, [cell for cell in cells if cell not in done], options.jobs):
            results["cells"].append(_row(cell, np.array(values)))
            print(results["cells"][-1], flush=True)
            path.write_text(json.dumps(results, indent=0) + "\n")
    results["cells"].sort(key=lambda row: (row["kind"], row["law"], row["columns"], row["n"], row["kernel"]))
    path.write_text(json.dumps(results, indent=0) + "\n")
    (options.into / "kernels.md").write_text(_table(results))


def _cells(runs: int) -> list[Cell]:
    different = [
        (kernel, "different", name, 0, PROBLEMS[name].rows, runs // 2)
        for name in POWER
        for kernel in (*KERNELS, "average")
    ]
    return different + [
        (kernel, "null", family, n_columns, n, runs * (2 if n_columns == 1 else 1))
        for n in SIZES
        for n_columns in DIMENSIONS
        for family in FAMILIES
        for kernel in KERNELS
    ]


def _key(row: dict) -> Cell:
    return row["kernel"], row["kind"], row["law"], row["columns"], row["n"], row["runs"]


def _row(cell: Cell, values: np.ndarray) -> dict:
    kernel, kind, law, n_columns, n, runs = cell
    row = {"kernel": kernel, "kind": kind, "law": law, "columns": n_columns, "n": n, "runs": runs}
    if kind == "null":
        bf10 = np.exp(values)
        row |= {"mean_bf10": round(float(bf10.mean()), 4), "share_over_20": round(float((bf10 > 20).mean()), 4)}
    else:
        row |= {
            "found": round(float((values > np.log(FOUND)).mean()), 3),
            "log_score": round(float(-np.logaddexp(0.0, -values).mean()), 3),
        }
    return row | {"median_log_bf10": round(float(np.median(values)), 3)}


def _table(results: dict) -> str:
    nulls = [row for row in results["cells"] if row["kind"] == "null"]
    runs = " or ".join(map(str, sorted({row["runs"] for row in nulls})))
    within = [row["mean_bf10"] <= LARGEST_MEAN and row["share_over_20"] <= LARGEST_SHARE for row in nulls]
    lines = [
        "# Kernels",
        "",
        "The default model with each kernel. Made by `benchmarks/kernels.py`.",
        "",
        f"Both samples from one distribution: the largest mean of BF10 over {len(FAMILIES)} laws",
        f"({', '.join(FAMILIES)}) and {' and '.join(map(str, DIMENSIONS))} columns, each of",
        f"{runs} data sets. {sum(within)} of {len(within)} cells",
        f"have a mean of at most {LARGEST_MEAN:g} and at most {LARGEST_SHARE * 100:g} % of BF10 > 20.",
        "",
        "| kernel | " + " | ".join(f"n = {n}" for n in SIZES) + " | largest share of BF10 > 20 |",
        "|---|" + "---|" * (len(SIZES) + 1),
    ]
    for kernel in KERNELS:
        rows = [row for row in nulls if row["kernel"] == kernel]
        means = [max((row["mean_bf10"] for row in rows if row["n"] == n), default=np.nan) for n in SIZES]
        share = max((row["share_over_20"] for row in rows), default=np.nan)
        lines.append(f"| {kernel} | " + " | ".join(f"{mean:.2f}" for mean in means) + f" | {share * 100:.1f} % |")
    lines += [
        "",
        f"Samples that differ: share of data sets with BF10 > {FOUND:g}, and mean log score of P(different).",
        f"`average` is the average over {', '.join(EVERY)}.",
        "",
        "| problem | " + " | ".join((*KERNELS, "average")) + " |",
        "|---|" + "---|" * (len(KERNELS) + 1),
    ]
    scores: dict[str, list[tuple[float, float]]] = {kernel: [] for kernel in (*KERNELS, "average")}
    for name in POWER:
        cells = {row["kernel"]: row for row in results["cells"] if row["kind"] == "different" and row["law"] == name}
        if len(cells) == len(scores):
            for kernel, found in scores.items():
                found.append((cells[kernel]["found"], cells[kernel]["log_score"]))
            lines.append(f"| {name} | " + " | ".join(_pair(scores[kernel][-1]) for kernel in scores) + " |")
    if all(scores.values()):
        lines.append("| mean | " + " | ".join(_pair(tuple(np.mean(found, axis=0))) for found in scores.values()) + " |")
    lines += [
        "",
        f"Processor time of a test of 2 × {COST_ROWS:,} normal rows, over that with the Gaussian kernel.",
        "",
        "| kernel | " + " | ".join(f"{n} column{'s' if n > 1 else ''}" for n in COST_COLUMNS) + " |",
        "|---|" + "---|" * len(COST_COLUMNS),
    ]
    for kernel in KERNELS:
        ratios = [row["ratio"] for row in results["cost"] if row["kernel"] == kernel]
        lines.append(f"| {kernel} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
    return "\n".join(lines) + "\n"


def _pair(values: tuple[float, ...]) -> str:
    return f"{values[0]:.2f}, {values[1]:.2f}"


if __name__ == "__main__":
    main()
