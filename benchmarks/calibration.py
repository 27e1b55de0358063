"""Calibration of the default model: what the Bayes factor does when the two samples are from one distribution.

Every cell is a family, a number of columns and two sample sizes. A Bayes factor that means what it says has mean at
most 1 there, and exceeds 20 in at most 5 % of the data sets; at most 1 % is wanted. In some cells the e-value that
permutations make of it, whose mean is at most 1 for any law, is measured too. Run with
``python -m benchmarks.calibration``.
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
from benchmarks.suite import NULLS, RESULTS, gaussian, generator, run_any

DIMENSIONS, DIMENSIONS_OF_UNEQUAL = (1, 2, 5, 10, 20, 50), (1, 5, 50)
EQUAL = tuple((n, n) for n in (10, 20, 50, 200, 1000))
UNEQUAL = ((10, 100), (20, 200), (50, 500), (100, 1000))
LARGEST_MEAN, LARGEST_SHARE = 1.0, 0.01
# Where e-values are measured, with so many permutations: dimensions, sizes.
EVALUES_IN, EVALUES_AT, PERMUTATIONS = (1, 5), ((20, 20), (50, 50)), 99
# Family, columns, rows of each sample, data sets, and of how many of them there is an e-value.
Cell = tuple[str, int, int, int, int, int]


def run_cell(cell: Cell) -> tuple[list[float], list[float]]:
    """Log BF10 of every data set of a cell, and e-values of the first ones."""
    family, n_columns, n_x, n_y, runs, with_evalue = cell
    values, evalues = [], []
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
                permutations = PERMUTATIONS if run < with_evalue else 0
                result = ts.test(x, y, paired=family == "gaussian pairs", permutations=permutations)
            except ts.errors.InputError:
                # The two samples are two different constants: refused.
                values.append(-np.inf)
                continue
        values.append(result.log_bf10)
        if permutations and (evalue := getattr(result, "evalue", None)) is not None:
            evalues.append(evalue)
    return values, evalues


def main() -> None:
    """Run every cell, print the table and write it to the results folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--resume", action="store_true", help="keep the cells that the results already have")
    options = parser.parse_args()
    cells = [
        (family, n_columns, n_x, n_y, *_runs(options.runs, n_columns, n_x, n_y))
        for families, dimensions, sizes in (
            ((*NULLS, "gaussian pairs"), DIMENSIONS, EQUAL),
            (tuple(NULLS), DIMENSIONS_OF_UNEQUAL, UNEQUAL),
        )
        for family in families
        for n_columns in dimensions
        for n_x, n_y in sizes
    ]
    options.into.mkdir(parents=True, exist_ok=True)
    path = options.into / "calibration.json"
    rows = json.loads(path.read_text()) if options.resume and path.exists() else []
    rows = [row for row in rows if _key(row) in cells]
    done = {_key(row) for row in rows}
    cells = sorted((cell for cell in cells if cell not in done), key=lambda cell: -cell[4] * (cell[2] + cell[3]))
    for (family, n_columns, n_x, n_y, runs, with_evalue), (values, evalues) in run_any(run_cell, cells, options.jobs):
        bf10 = np.exp(values)
        rows.append(
            {
                "family": family,
                "columns": n_columns,
                "n_x": n_x,
                "n_y": n_y,
                "runs": runs,
                "with_evalue": with_evalue,
                "mean_bf10": round(float(bf10.mean()), 4),
                "share_over_20": round(float((bf10 > 20).mean()), 4),
                "median_log_bf10": round(float(np.median(values)), 3),
                "largest_log_bf10": round(float(np.max(values)), 3),
            }
        )
        if evalues:
            spread = np.std(evalues, ddof=min(1, len(evalues) - 1))
            rows[-1]["mean_evalue"] = round(float(np.mean(evalues)), 4)
            rows[-1]["se_evalue"] = round(float(spread / np.sqrt(len(evalues))), 4)
        print(rows[-1], flush=True)
        path.write_text(json.dumps(rows, indent=0) + "\n")
    rows.sort(key=lambda row: (row["family"], row["columns"], row["n_x"] + row["n_y"], row["n_x"]))
    failed = [row for row in rows if not _within(row)]
    path.write_text(json.dumps(rows, indent=0) + "\n")
    (options.into / "calibration.md").write_text(_table(rows))
    print(f"{len(rows)} cells, {len(failed)} outside the limits: {failed}")


def _runs(runs: int, n_columns: int, n_x: int, n_y: int) -> tuple[int, int]:
    """Data sets, and how many of them with an e-value.

    More for small samples of one or two columns: there rare data sets decide the mean.
    """
    with_evalue = runs if n_columns in EVALUES_IN and (n_x, n_y) in EVALUES_AT else 0
    return runs * ({1: 10, 2: 4}.get(n_columns, 1) if n_x + n_y <= 100 else 1), with_evalue


def _within(row: dict) -> bool:
    """Whether a cell is within the limits."""
    return row["mean_bf10"] <= LARGEST_MEAN and row["share_over_20"] <= LARGEST_SHARE


def _key(row: dict) -> Cell:
    return row["family"], row["columns"], row["n_x"], row["n_y"], row["runs"], row.get("with_evalue", 0)


def _table(rows: list[dict]) -> str:
    mean, share = (max(row[kind] for row in rows) for kind in ("mean_bf10", "share_over_20"))
    runs, total = min(row["runs"] for row in rows), sum(row["runs"] for row in rows)
    over = sum(round(row["runs"] * row["share_over_20"]) for row in rows)
    lines = [
        "# Calibration of the default model",
        "",
        f"Both samples from one distribution. Mean BF10 (at most {LARGEST_MEAN:g} is wanted) and, where it is not 0,",
        f"the share of BF10 > 20 in per cent (at most {LARGEST_SHARE * 100:g}), over {runs} data sets a cell; with at",
        f"most 50 rows a sample, where rare data sets decide the mean, over {10 * runs} for one column and {4 * runs}",
        "for two. Made by `benchmarks/calibration.py`.",
        "",
        f"{sum(map(_within, rows))} of {len(rows)} cells are within the limits. The largest mean is {mean:.2f}, the",
        f"largest share {share * 100:.1f} %. Of all {total:,} data sets {over} have BF10 > 20.",
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
    return "\n".join(lines + _evalues(rows)) + "\n"


def _evalues(rows: list[dict]) -> list[str]:
    """The table of e-values."""
    table = {(row["family"], row["columns"], row["n_x"]): row for row in rows if "mean_evalue" in row}
    if not table:
        return []
    means, errors = ([row[f"{kind}_evalue"] for row in table.values()] for kind in ("mean", "se"))
    overall, error = np.mean(means), np.linalg.norm(errors) / len(errors)
    runs = max(row["with_evalue"] for row in table.values())
    cells = [(n_columns, n) for n_columns in EVALUES_IN for n, _ in EVALUES_AT]
    lines = [
        "",
        "## E-values",
        "",
        f"Mean e-value of {PERMUTATIONS} permutations ± its standard error, over {runs}",
        f"data sets a cell; at most 1 is wanted. Over all cells it is {overall:.3f} ± {error:.3f}.",
        "",
        "| family | " + " | ".join(f"D = {n_columns}, n = {n}" for n_columns, n in cells) + " |",
        "|---|" + "---|" * len(cells),
    ]
    for family in dict.fromkeys(family for family, _, _ in table):
        found = [table.get((family, *cell)) for cell in cells]
        shown = (f"{row['mean_evalue']:.2f} ± {row['se_evalue']:.2f}" if row else "" for row in found)
        lines.append(f"| {family} | " + " | ".join(shown) + " |")
    return lines


if __name__ == "__main__":
    main()
