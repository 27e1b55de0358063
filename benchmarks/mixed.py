"""Tables of numbers and categories: calibration, level and power of the default test.

Nulls are tables of categories only, of numbers and categories, and of levels that few rows share; a Bayes factor has
mean at most 1 there, and at most 1 % should exceed 20. The level is that of the permutation p-value. The alternative is
a table of ten columns in which one level of one column moves from 20 % to 35 %: how often that is found, and named.
Run with ``python -m benchmarks.mixed``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

import twosample as ts
from benchmarks.suite import RESULTS, ROOT_SEED, generator, run_any

SIZES = ((10, 10), (20, 20), (50, 50), (200, 200), (20, 200))
# Data sets by the number of rows, and those with a p-value.
RUNS = {20: 150, 40: 100, 100: 60, 400: 30, 220: 40}
# Of one column, which is a column of one large table.
SINGLE_RUNS = 1000
LEVEL_RUNS, PERMUTATIONS = 200, 99
POWER_RUNS, POWER_ROWS = 20, 300
COMMON = ("red", "green", "blue", "white")
Draw = Callable[[np.random.Generator, int], list[Any]]


def _common(rng: np.random.Generator, n: int) -> list[str]:
    return rng.choice(COMMON, p=(0.4, 0.3, 0.2, 0.1), size=n).tolist()


def _zipf(rng: np.random.Generator, n: int) -> list[str]:
    weights = 1.0 / np.arange(1, 61)
    return [f"city {place}" for place in rng.choice(60, p=weights / weights.sum(), size=n)]


def _rare(rng: np.random.Generator, n: int) -> list[str | None]:
    return [None if value < 0.05 else "yes" if value < 0.1 else "no" for value in rng.random(n)]


def _singles(draw: Draw, rng: np.random.Generator, n: int, count: int) -> pl.DataFrame:
    """So many columns that have nothing to do with each other."""
    return pl.DataFrame({f"{place}": draw(rng, n) for place in range(count)})


def categories(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Four columns of categories, the second of which goes with the first."""
    first = _common(rng, n)
    second = np.where(rng.random(n) < 0.6, first, _common(rng, n)).tolist()
    return pl.DataFrame({"a": first, "b": second, "c": _rare(rng, n), "d": _common(rng, n)})


def mixed(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Three columns of numbers, one of heavy tails and one that goes with a category, and three of categories."""
    colour = _common(rng, n)
    shift = np.array([COMMON.index(level) for level in colour])
    return pl.DataFrame(
        {
            "height": rng.normal(size=n),
            "size": rng.standard_t(2, size=n),
            "weight": rng.normal(size=n) + shift,
            "colour": colour,
            "city": _zipf(rng, n),
            "flag": _rare(rng, n),
        }
    )


NULLS = {"categories": categories, "mixed": mixed}
SINGLES: dict[str, Draw] = {"one column": _common, "sparse levels": _zipf, "rare levels": _rare}


def moved(rng: np.random.Generator, n: int, blue: float) -> pl.DataFrame:
    """Ten columns, half of them numbers; the share of one level of one column is given."""
    table: dict[str, object] = {f"n{place}": rng.normal(size=n) for place in range(5)}
    table |= {f"c{place}": _common(rng, n) for place in range(4)}
    table["colour"] = rng.choice(
        ("red", "green", "blue"), p=(0.7 * (1 - blue), 0.3 * (1 - blue), blue), size=n
    ).tolist()
    return pl.DataFrame(table)


def run_cell(cell: tuple[str, str, int, int, int, int]) -> list[tuple[float, float]]:
    """Log BF10 and p-value of data sets of a cell; of the alternative log BF10, and 1 where the level is named."""
    kind, family, n_x, n_y, runs, root = cell
    if family in SINGLES:
        rng = generator("mixed", kind, family, n_x, n_y, root=root)
        x, y = (_singles(SINGLES[family], rng, n, runs) for n in (n_x, n_y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
            return [(row.log_bf10, np.nan) for row in ts.test_each(x, y)]
    found = []
    for run in range(runs):
        rng = generator("mixed", kind, family, n_x, n_y, run, root=root)
        with warnings.catch_warnings():
            # A column may happen to be constant, or to have no level twice, in a small sample.
            warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
            if kind == "power":
                result = ts.test(moved(rng, n_x, 0.2), moved(rng, n_y, 0.35))
                best = result.by_column[0]
                named = best.column == "colour" and best.prob > 0.5 and best.words.startswith("more 'blue' in y")
                found.append((result.log_bf10, float(named)))
                continue
            x, y = NULLS[family](rng, n_x), NULLS[family](rng, n_y)
            result = ts.test(x, y, permutations=PERMUTATIONS if kind == "level" else 0, rng=run)
            found.append((result.log_bf10, np.nan if result.pvalue is None else result.pvalue))
    return found


def main() -> None:
    """Run every cell, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=float, default=1.0, help="multiplies the numbers of data sets")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--root", type=int, default=ROOT_SEED, help="seed; another one for choices")
    options = parser.parse_args()
    cells = []
    for family in SINGLES:
        cells += [
            ("null", family, n_x, n_y, max(1, round(options.runs * SINGLE_RUNS)), options.root) for n_x, n_y in SIZES
        ]
    for family in NULLS:
        for n_x, n_y in SIZES:
            cells.append(("null", family, n_x, n_y, max(1, round(options.runs * RUNS[n_x + n_y])), options.root))
        cells.append(("level", family, 20, 30, max(1, round(options.runs * LEVEL_RUNS)), options.root))
    cells.append(("power", "one level", POWER_ROWS, POWER_ROWS, max(1, round(options.runs * POWER_RUNS)), options.root))
    rows = []
    for (kind, family, n_x, n_y, *_), values in run_any(run_cell, cells, options.jobs):
        log_bf10, other = np.array(values).T
        row: dict[str, object] = {"kind": kind, "family": family, "n_x": n_x, "n_y": n_y, "runs": len(values)}
        if kind == "null":
            bf10 = np.exp(log_bf10)
            row |= {"mean_bf10": round(float(bf10.mean()), 4), "share_over_20": round(float((bf10 > 20).mean()), 4)}
            row |= {"largest_log_bf10": round(float(log_bf10.max()), 3)}
        elif kind == "level":
            row |= {f"pvalue_at_most_{level}": round(float((other <= level).mean()), 4) for level in (0.05, 0.1, 0.2)}
        else:
            found = 1.0 / (1.0 + np.exp(-log_bf10)) > 0.5
            row |= {"found": round(float(found.mean()), 4), "named": round(float(other.mean()), 4)}
            row |= {"median_log_bf10": round(float(np.median(log_bf10)), 3)}
        rows.append(row)
        print(row, flush=True)
    rows.sort(key=lambda row: (str(row["kind"]), str(row["family"]), int(str(row["n_x"])), int(str(row["n_y"]))))
    options.into.mkdir(parents=True, exist_ok=True)
    (options.into / "mixed.json").write_text(json.dumps(rows, indent=0) + "\n")
    (options.into / "mixed.md").write_text(_table(rows))


def _table(rows: list[dict[str, object]]) -> str:
    lines = ["# Tables of numbers and categories", "", "Made by `python -m benchmarks.mixed`.", ""]
    lines += ["| the same law | rows | data sets | mean BF10 | share above 20 |", "|---|---|---|---|---|"]
    for row in rows:
        if row["kind"] == "null":
            sizes = f"{row['n_x']} and {row['n_y']}"
            lines.append(f"| {row['family']} | {sizes} | {row['runs']} | {row['mean_bf10']} | {row['share_over_20']} |")
    lines += ["", "| permutation p-value, the same law | data sets | ≤ 0.05 | ≤ 0.1 | ≤ 0.2 |", "|---|---|---|---|---|"]
    for row in rows:
        if row["kind"] == "level":
            shares = " | ".join(str(row[f"pvalue_at_most_{level}"]) for level in (0.05, 0.1, 0.2))
            lines.append(f"| {row['family']}, {row['n_x']} and {row['n_y']} rows | {row['runs']} | {shares} |")
    lines += ["", "| ten columns, one level from 20 % to 35 % | data sets | found | named | median log BF10 |"]
    lines += ["|---|---|---|---|---|"]
    for row in rows:
        if row["kind"] == "power":
            shown = f"{row['found']} | {row['named']} | {row['median_log_bf10']}"
            lines.append(f"| {row['n_x']} and {row['n_y']} rows | {row['runs']} | {shown} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
