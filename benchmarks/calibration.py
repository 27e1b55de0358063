"""Calibration of the default model: what the Bayes factor does when the two samples are from one distribution.

Every cell is a family, a number of columns and two sample sizes. A Bayes factor that means what it says has mean at
most 1 there, and exceeds 20 in at most 5 % of the data sets. Run with ``python -m benchmarks.calibration``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import NULLS, RESULTS, gaussian, generator, run_all

DIMENSIONS = (1, 2, 5, 10, 20)
EQUAL = tuple((n, n) for n in (10, 20, 50, 200, 1000))
UNEQUAL = ((10, 100), (20, 200), (50, 500), (100, 1000))
Cell = tuple[str, int, int, int, int]


def run_cell(cell: Cell) -> list[float]:
    """Log BF10 of every data set of a cell."""
    family, n_columns, n_x, n_y, runs = cell
    values = []
    for run in range(runs):
        rng = generator(*cell[:4], run)
        if family == "gaussian pairs":
            shared = gaussian(rng, n_x, n_columns)
            x, y = (np.sqrt(0.5) * (shared + gaussian(rng, n_x, n_columns)) for _ in range(2))
        else:
            x, y = NULLS[family](rng, n_x, n_columns), NULLS[family](rng, n_y, n_columns)
        with warnings.catch_warnings():
            # A binary column may happen to be constant in a small sample; that is what is being tested.
            warnings.simplefilter("ignore", ts.errors.DroppedDataWarning)
            try:
                values.append(ts.test(x, y, paired=family == "gaussian pairs").log_bf10)
            except ts.errors.InputError:
                # The two samples are two different constants: refused.
                values.append(-np.inf)
    return values


def main() -> None:
    """Run every cell, print the table and write it to the results folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--resume", action="store_true", help="keep the cells that the results already have")
    options = parser.parse_args()
    families = [(name, sizes) for sizes in (EQUAL, UNEQUAL) for name in NULLS] + [("gaussian pairs", EQUAL)]
    cells = [
        (family, n_columns, n_x, n_y, _runs(options.runs, n_columns, n_x, n_y))
        for family, sizes in families
        for n_columns in DIMENSIONS
        for n_x, n_y in sizes
    ]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "calibration.json"
    rows = json.loads(path.read_text()) if options.resume and path.exists() else []
    rows = [row for row in rows if _key(row) in cells]
    done = {_key(row) for row in rows}
    cells = sorted((cell for cell in cells if cell not in done), key=lambda cell: -(cell[2] + cell[3]))
    for (family, n_columns, n_x, n_y, runs), values in run_all(run_cell, cells, options.jobs):
        bf10 = np.exp(values)
        rows.append(
            {
                "family": family,
                "columns": n_columns,
                "n_x": n_x,
                "n_y": n_y,
                "runs": runs,
                "mean_bf10": round(float(bf10.mean()), 4),
                "share_over_20": round(float((bf10 > 20).mean()), 4),
                "median_log_bf10": round(float(np.median(values)), 3),
                "largest_log_bf10": round(float(np.max(values)), 3),
            }
        )
        print(rows[-1], flush=True)
        path.write_text(json.dumps(rows, indent=0) + "\n")
    rows.sort(key=lambda row: (row["family"], row["columns"], row["n_x"] + row["n_y"], row["n_x"]))
    failed = [row for row in rows if row["mean_bf10"] > 1 or row["share_over_20"] > 0.05]
    path.write_text(json.dumps(rows, indent=0) + "\n")
    (RESULTS / "calibration.md").write_text(_table(rows))
    print(f"{len(rows)} cells, {len(failed)} outside the limits: {failed}")


def _runs(runs: int, n_columns: int, n_x: int, n_y: int) -> int:
    """Five times as many for small samples of one or two columns: there rare data sets decide the mean."""
    return 5 * runs if n_x + n_y <= 100 and n_columns <= 2 else runs


def _key(row: dict) -> Cell:
    return row["family"], row["columns"], row["n_x"], row["n_y"], row["runs"]


def _table(rows: list[dict[str, object]]) -> str:
    lines = [
        "# Calibration of the default model",
        "",
        "Both samples from one distribution. Mean BF10 (at most 1 is wanted) and, where it is not 0, the share of",
        f"BF10 > 20 in per cent (at most 5), over {min(row['runs'] for row in rows)} data sets a cell,",
        f"{max(row['runs'] for row in rows)} for one or two columns and at most 50 rows a sample, where rare data sets",
        "decide the mean. Made by `benchmarks/calibration.py`.",
        "",
    ]
    sizes = sorted({(row["n_x"], row["n_y"]) for row in rows}, key=lambda pair: (pair[0] != pair[1], pair))
    lines.append("| family | columns | " + " | ".join(f"{a}" if a == b else f"{a} vs {b}" for a, b in sizes) + " |")
    lines.append("|---|---|" + "---|" * len(sizes))
    table = {(row["family"], row["columns"], row["n_x"], row["n_y"]): row for row in rows}
    for family in dict.fromkeys(row["family"] for row in rows):
        for n_columns in DIMENSIONS:
            entries = []
            for n_x, n_y in sizes:
                row = table.get((family, n_columns, n_x, n_y))
                share = f" ({row['share_over_20'] * 100:.1f} %)" if row and row["share_over_20"] else ""
                entries.append(f"{row['mean_bf10']:.2f}{share}" if row else "")
            lines.append(f"| {family} | {n_columns} | " + " | ".join(entries) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
