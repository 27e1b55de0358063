"""Every question where nothing differs: mean BF10 (at most 1 is wanted) and share above 20 (at most 0.5 %).

Laws with heavy tails, ties and rare values, few rows, and unequal sizes. Run with ``python -m benchmarks.null_cells``;
with 1,000 data sets a cell it takes an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl
from scipy import stats

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator, run_any
from twosample.errors import InputError, TwoSampleWarning

Rng = np.random.Generator
COLUMNS: dict[str, Callable[[Rng, int], Array]] = {
    "gaussian": lambda rng, n: rng.normal(size=n),
    "t(2)": lambda rng, n: rng.standard_t(2, n),
    "Poisson(0.4)": lambda rng, n: rng.poisson(0.4, n).astype(float),
    "3 % ones": lambda rng, n: (rng.random(n) < 0.03).astype(float),
}
LETTERS = np.array(list("acgt"))


def labels(levels: int) -> Callable[[Rng, int], Any]:
    """Text of so many levels, of which the first are more frequent."""
    shares = 1.0 / np.arange(1, levels + 1)
    names = [f"level {number}" for number in range(levels)]
    return lambda rng, n: pl.DataFrame({"kind": rng.choice(names, n, p=shares / shares.sum())})


def strings(rng: Rng, n: int) -> list[str]:
    """Random sequences."""
    return ["".join(rng.choice(LETTERS, 12)) for _ in range(n)]


def two(n_x: int, n_y: int, **options: Any) -> Callable[[Rng, Callable[[Rng, int], Any]], Any]:
    """Two samples."""
    return lambda rng, law: ts.test(law(rng, n_x), law(rng, n_y), **options)


def pairs(rng: Rng, law: Callable[[Rng, int], Any]) -> Any:
    """Pairs that share a part."""
    shared = rng.normal(size=20)
    return ts.test(shared + law(rng, 20), shared + law(rng, 20), paired=True)


def dependence(rng: Rng, law: Callable[[Rng, int], Any]) -> Any:
    """Two columns that have nothing to do with each other."""
    return ts.independence(law(rng, 40), law(rng, 40))


def groups(*sizes: int) -> Callable[[Rng, Callable[[Rng, int], Any]], Any]:
    """Several groups."""
    return lambda rng, law: ts.ksample([law(rng, n) for n in sizes])


def of_law(rng: Rng, law: Any) -> Any:
    """A sample against the distribution that it is from."""
    return ts.goodness(law.rvs(30, random_state=rng), law)


# Question, law, and how one data set is drawn and asked about.
CELLS: dict[tuple[str, str], tuple[Callable[[Rng, Any], Any], Any]] = {
    **{
        (question, name): (ask, law)
        for question, ask in {
            "6 against 9": two(6, 9),
            "30 against 30": two(30, 30),
            "15 against 300": two(15, 300),
            "20 pairs": pairs,
            "groups of 20, 20, 20": groups(20, 20, 20),
            "groups of 8, 20, 100": groups(8, 20, 100),
            "reference of 40, 40 new": lambda rng, law: ts.Reference.of(law(rng, 40)).test(law(rng, 40)),
            "independence, 40 rows": dependence,
        }.items()
        for name, law in COLUMNS.items()
    },
    **{
        (question, name): (ask, labels(levels))
        for question, ask in {
            "10 against 10, text": two(10, 10),
            "60 against 60, text": two(60, 60),
            "20 against 200, text": two(20, 200),
        }.items()
        for name, levels in {"4 levels": 4, "60 levels": 60}.items()
    },
    ("30 against a law", "norm(0, 1)"): (of_law, stats.norm(0, 1)),
    ("30 against a law", "t(2)"): (of_law, stats.t(2)),
    ("30 against a law", "poisson(0.4)"): (of_law, stats.poisson(0.4)),
    ("15 against 15, strings", "random letters"): (two(15, 15, kernel="kmer"), strings),
    ("5 columns, 20 against 20", "t(2)"): (two(20, 20), lambda rng, n: rng.standard_t(2, (n, 5))),
    ("5 columns, 20 against 20", "3 % ones"): (two(20, 20), lambda rng, n: (rng.random((n, 5)) < 0.03) * 1.0),
}


def run_cell(cell: tuple[str, str, int]) -> list[float]:
    """Log BF10 of every data set; 0 where the data are refused, as all but constant ones are."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    question, name, runs = cell
    ask, law = CELLS[question, name]
    logs = []
    for run in range(runs):
        try:
            logs.append(float(ask(generator("null", question, name, run), law).log_bf10))
        except InputError:
            logs.append(0.0)
    return logs


def main() -> None:
    """Run every cell, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    found = {}
    for cell, logs in run_any(run_cell, [(*cell, options.runs) for cell in CELLS], options.jobs):
        bf10 = np.exp(logs)
        found[cell[:2]] = {"mean_bf10": float(bf10.mean()), "above_20": float((bf10 > 20).mean())}
        found[cell[:2]]["largest_log_bf10"] = float(np.max(logs))
        print(cell, found[cell[:2]], flush=True)
    rows = [{"question": key[0], "law": key[1], "runs": options.runs, **found[key]} for key in CELLS]
    (RESULTS / "null_cells.json").write_text(json.dumps(rows, indent=0, ensure_ascii=False) + "\n")
    (RESULTS / "null_cells.md").write_text(_text(rows))


def _text(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Every question where nothing differs",
        "",
        "Made by `benchmarks/null_cells.py`. Wanted are a mean of at most 1, and at most 0.5 % above 20.",
        "",
        "| question | law | data sets | mean BF10 | share of BF10 > 20 | largest log BF10 |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        figures = f"{row['mean_bf10']:.2f} | {row['above_20']:.1%} | {row['largest_log_bf10']:.1f}"
        lines.append(f"| {row['question']} | {row['law']} | {row['runs']:,} | {figures} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
