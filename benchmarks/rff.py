"""Random Fourier features against evaluation points: error, cost and power of the test of all columns together.

Error is the root mean square difference of log BF10 from that of the kernel itself, at the same 40 points. Cost is the
processor time of the pass over the rows, over that of 40 points. Power is the share of data sets with BF10 > 3, and the
mean log score of P(different) at even odds. Calibration is as in `benchmarks.calibration`. Run with
``python -m benchmarks.rff``.
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
from benchmarks.problems import problems
from benchmarks.suite import NULLS, RESULTS, generator, run_any
from twosample.data import Samples
from twosample.kernels import RBF, Fourier
from twosample.results.robustness import by_models

PROBLEMS = problems()
NAMES = ("shift 0.5", "scale 1.5", "gaussian, 5-D", "correlation 0.5, 2-D")
POINTS = (10, 20, 40)
FEATURES = (10, 20, 40, 100, 200, 400)
COST_ROWS, COST_COLUMNS, COST_REPEATS = 5_000, 5, 3
# "points" or "features" and how many of them: of features, at 40 points.
Way = tuple[str, int]
WAYS: tuple[Way, ...] = (*(("points", s) for s in POINTS), *(("features", m) for m in FEATURES))
# Problem, whether the samples differ, run.
Cell = tuple[str, bool, int]
# Both samples of one law: the law, columns, rows, features, data sets.
NullCell = tuple[str, int, int, int, int]
NULL_FAMILIES, NULL_COLUMNS, NULL_ROWS, NULL_FEATURES = ("gaussian", "rounded"), (1, 5), (10, 20, 50, 200), (10, 200)


def plan_of(x: np.ndarray, y: np.ndarray, way: Way, seed: int) -> ts.Plan:
    """The plan of the test of all columns together."""
    kind, count = way
    kernel = RBF() if kind == "points" else Fourier(count, RBF(), seed)
    return ts.plan(x, y, kernel=kernel, subsets=None, points=count if kind == "points" else max(POINTS))


def run_cell(cell: Cell) -> list[float]:
    """Log BF10 of one data set in every way."""
    name, different, run = cell
    problem, rng = PROBLEMS[name], generator("rff", *cell)
    x, y = (problem.different if different else problem.same)(rng, problem.rows)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
        for way in WAYS:
            plan = plan_of(x, y, way, run)
            samples = Samples.from_data(x, y, paired=False, scale=plan.model.scale)
            found.append(float(by_models(plan, samples, [plan.model])[0]))
    return found


def run_nulls(cell: NullCell) -> list[float]:
    """Log BF10 of data sets of one law."""
    family, n_columns, n, count, runs = cell
    found = []
    for run in range(runs):
        rng = generator("rff", "null", *cell[:3], run)
        x, y = NULLS[family](rng, n, n_columns), NULLS[family](rng, n, n_columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
            plan = plan_of(x, y, ("features", count), run)
            samples = Samples.from_data(x, y, paired=False, scale=plan.model.scale)
            found.append(float(by_models(plan, samples, [plan.model])[0]))
    return found


def nulls(runs: int, jobs: int) -> list[dict]:
    """Mean of BF10 and share of large ones in every cell."""
    cells = [
        (family, n_columns, n, count, runs)
        for family in NULL_FAMILIES
        for n_columns in NULL_COLUMNS
        for n in NULL_ROWS
        for count in NULL_FEATURES
    ]
    rows = []
    for (family, n_columns, n, count, _), values in run_any(run_nulls, cells, jobs):
        bf10 = np.exp(values)
        row = {"family": family, "columns": n_columns, "n": n, "features": count, "runs": runs}
        row |= {"mean_bf10": round(float(bf10.mean()), 4), "share_over_20": round(float((bf10 > 20).mean()), 4)}
        rows.append(row)
        print(row, flush=True)
    return sorted(rows, key=lambda row: (row["family"], row["columns"], row["n"], row["features"]))


def costs() -> dict[str, float]:
    """Processor time of one pass over that with the most points; the ways take turns."""
    rng = generator("rff", "cost")
    x, y = rng.normal(size=(2, COST_ROWS, COST_COLUMNS))
    plans = {f"{kind} {count}": plan_of(x, y, (kind, count), 0) for kind, count in WAYS}
    seconds: dict[str, list[float]] = {name: [] for name in plans}
    for _ in range(COST_REPEATS):
        for name, plan in plans.items():
            start = time.process_time()
            plan.statistics(x, y)
            seconds[name].append(time.process_time() - start)
    reference = np.array(seconds[f"points {max(POINTS)}"])
    return {name: round(float(np.median(np.array(taken) / reference)), 2) for name, taken in seconds.items()}


def main() -> None:
    """Run all, and write the table to the results folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=15, help="data sets that differ, and as many that do not, of each problem"
    )
    parser.add_argument(
        "--null-runs", type=int, default=40, help="data sets of one law in each cell of the calibration"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--only", choices=["nulls", "ways"], help="one part; the other is kept as it is")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    path = options.into / "rff.json"
    results = json.loads(path.read_text()) if path.exists() else {"ways": [], "nulls": []}
    if options.only != "ways":
        results["nulls"] = nulls(options.null_runs, options.jobs)
    if options.only != "nulls":
        results["ways"] = ways(options.runs, options.jobs)
    path.write_text(json.dumps(results, indent=0) + "\n")
    (options.into / "rff.md").write_text(_table(results["ways"], results["nulls"]))


def ways(runs: int, jobs: int) -> list[dict]:
    """Cost, error and power of every way."""
    cost = costs()
    cells = [(name, different, run) for name in NAMES for different in (False, True) for run in range(runs)]
    values = dict(run_any(run_cell, cells, jobs))
    reference = WAYS.index(("points", max(POINTS)))
    rows = []
    for place, (kind, count) in enumerate(WAYS):
        row = {"kind": kind, "count": count, "runs": runs, "cost": cost[f"{kind} {count}"]}
        errors = [found[place] - found[reference] for found in values.values()]
        row["error"] = round(float(np.sqrt(np.mean(np.square(errors)))), 3)
        same = np.array([found[place] for cell, found in values.items() if not cell[1]])
        others = np.array([found[place] for cell, found in values.items() if cell[1]])
        row["mean_bf10_of_nulls"] = round(float(np.exp(same).mean()), 3)
        row["found"] = round(float((others > np.log(3.0)).mean()), 3)
        row["log_score"] = round(float(-np.logaddexp(0, np.concatenate([same, -others])).mean()), 3)
        rows.append(row)
        print(row, flush=True)
    return rows


def _table(rows: list[dict], nulls: list[dict]) -> str:
    lines = [
        "# Random Fourier features",
        "",
        f"All columns together, on {len(NAMES)} problems ({'; '.join(NAMES)}) with {rows[0]['runs']} data sets that",
        f"differ and as many that do not. Features are of the Gaussian kernel, at {max(POINTS)} points. Cost:",
        f"processor time of a pass over 2 × {COST_ROWS:,} rows of {COST_COLUMNS} columns, over that of",
        f"{max(POINTS)} points. Error: of log BF10 against {max(POINTS)} points. Made by `benchmarks/rff.py`.",
        "",
        "| | cost | error | mean BF10 of nulls | BF10 > 3 where they differ | log score |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['count']} {row['kind']} | {row['cost']:.2f} | {row['error']:.2f} | {row['mean_bf10_of_nulls']:.2f} | "
        f"{row['found']:.2f} | {row['log_score']:.2f} |"
        for row in rows
    ]
    mean, share = (max(row[kind] for row in nulls) for kind in ("mean_bf10", "share_over_20"))
    lines += [
        "",
        f"Both samples of one law ({', '.join(NULL_FAMILIES)}; {' or '.join(map(str, NULL_COLUMNS))} columns;",
        f"{', '.join(map(str, NULL_ROWS))} rows; {' or '.join(map(str, NULL_FEATURES))} features), {nulls[0]['runs']}",
        f"data sets each: the largest mean of BF10 is {mean:.2f}, the largest share of BF10 > 20 {share * 100:g} %.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
