"""A test against a reference whose plan knows the reference alone: calibration, and power against the usual test.

The plan of ``ts.test`` comes from the pooled rows and cannot know the labels. That of ``ts.Reference`` comes from x:
its points, scales and ranks are those of x, so that it has to be measured that the Bayes factor still means what it
says. Nulls: mean BF10 at most 1, and BF10 > 20 in at most 1 % of the data sets. Alternatives: the same data sets to
both. Run with ``python -m benchmarks.reference``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.problems import ROWS, problems
from benchmarks.suite import RESULTS, Array, generator, run_any

SIZES = ((50, 50), (200, 200), (1000, 1000), (50, 1000), (1000, 50))
DIMENSIONS = (1, 5)
LAWS = {
    "gaussian": lambda rng, shape: rng.normal(size=shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "poisson": lambda rng, shape: rng.poisson(2.0, size=shape).astype(float),
}
BEYOND = "10 % beyond the range of x"
ALTERNATIVES = (
    "shift 0.5",
    "scale 1.5",
    "scale 3",
    "Laplace 0.4",
    "blobs 6",
    "gaussian, 5-D",
    "correlation 0.7 in one pair of 5-D",
    "zeros, 80 % against 60 %",
    "Poisson against negative binomial",
    "Cauchy by 0.7",
    BEYOND,
)


def against_reference(x: Array, y: Array) -> float:
    """Log BF10 with a plan from x alone."""
    return ts.Reference.of(x).test(y).log_bf10


def null(cell: tuple[str, int, int, int, int]) -> dict[str, object]:
    """What the Bayes factor does where there is nothing to find."""
    law, n_columns, n_x, n_y, runs = cell
    values = []
    for run in range(runs):
        rng = generator("reference", *cell[:4], run)
        values.append(against_reference(*(LAWS[law](rng, (n, n_columns)) for n in (n_x, n_y))))
    bf10 = np.exp(values)
    return {
        "law": law,
        "columns": n_columns,
        "n_x": n_x,
        "n_y": n_y,
        "runs": runs,
        "mean_bf10": round(float(bf10.mean()), 4),
        "share_over_20": round(float((bf10 > 20).mean()), 4),
        "median_log_bf10": round(float(np.median(values)), 3),
        "largest_log_bf10": round(float(np.max(values)), 3),
    }


def alternative(cell: tuple[str, int]) -> dict[str, object]:
    """Both ways on the same data sets."""
    name, runs = cell
    values = []
    for run in range(runs):
        rng = generator("reference", name, run)
        if name == BEYOND:
            x, y = rng.normal(size=(2, ROWS, 1))
            y[: ROWS // 10] += 8.0
        else:
            x, y = problems()[name].different(rng, ROWS)
        values.append((against_reference(x, y), ts.test(x, y).log_bf10))
    reference, pooled = np.array(values).T
    return {
        "problem": name,
        "rows": ROWS,
        "runs": runs,
        **{
            f"{what}_{how}": round(float(figure(log_bf10)), 3)
            for what, figure in (("median_log_bf10", np.median), ("found", lambda v: np.mean(v > np.log(19.0))))
            for how, log_bf10 in (("reference", reference), ("pooled", pooled))
        },
    }


def work(cell: tuple[object, ...]) -> dict[str, object]:
    """One cell of either kind."""
    warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
    return null(cell) if len(cell) == 5 else alternative(cell)  # type: ignore[arg-type]


def main() -> None:
    """Run every cell and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--resume", action="store_true", help="keep the cells that the results already have")
    options = parser.parse_args()
    cells: list[tuple[object, ...]] = [(name, options.runs) for name in ALTERNATIVES]
    cells += [(law, d, *sizes, options.runs) for sizes in SIZES for d in DIMENSIONS for law in LAWS]
    options.into.mkdir(parents=True, exist_ok=True)
    path = options.into / "reference.json"
    rows = json.loads(path.read_text()) if options.resume and path.exists() else {"nulls": [], "alternatives": []}
    done = {(row["law"], row["columns"], row["n_x"], row["n_y"]) for row in rows["nulls"]}
    done |= {(row["problem"],) for row in rows["alternatives"]}
    for cell, row in run_any(work, [cell for cell in cells if cell[:-1] not in done], options.jobs):
        rows["nulls" if len(cell) == 5 else "alternatives"].append(row)
        print(row, flush=True)
        path.write_text(json.dumps(rows, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
