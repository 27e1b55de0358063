"""Few columns of very many: whether a difference in two of 500 is found, and which columns it is in.

In every table two columns of the second sample are moved by 1.5 standard deviations. P(different) is to be above 0.99,
and the two columns first in `by_column`; with labels drawn at random, P(different) is to be below 0.5. Run with
``python -m benchmarks.columns``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, generator, run_all
from twosample.errors import TwoSampleWarning

COLUMNS, CHANGED, ROWS, SHIFT = 500, 2, 200, 1.5
SURE, UNSURE = 0.99, 0.5


def run_seed(seed: int) -> dict:
    """One table, with its labels and with random ones."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    rng = generator("columns", seed)
    x, y = rng.normal(size=(2, ROWS, COLUMNS))
    changed = sorted(rng.choice(COLUMNS, CHANGED, replace=False).tolist())
    y[:, changed] += SHIFT
    start = time.perf_counter()
    result = ts.test(x, y)
    seconds = time.perf_counter() - start
    named = list(result.by_column)[:CHANGED]
    shuffled = rng.permutation(np.concatenate([x, y]))
    random = ts.test(shuffled[:ROWS], shuffled[ROWS:])
    row = {
        "seed": seed,
        "changed": changed,
        "prob": round(float(result.prob_h1), 6),
        "log_bf10": round(float(result.log_bf10), 3),
        "named": [{"column": str(found.column), "prob": round(float(found.prob), 4)} for found in named],
        "prob_random_labels": round(float(random.prob_h1), 6),
        "log_bf10_random_labels": round(float(random.log_bf10), 3),
        "seconds": round(seconds, 3),
    }
    row["as_wanted"] = (
        row["prob"] > SURE
        and {found["column"] for found in row["named"]} == {str(column) for column in changed}
        and row["prob_random_labels"] < UNSURE
    )
    return row


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    rows = []
    for _, row in run_all(run_seed, list(range(arguments.seeds)), arguments.jobs):
        rows.append(row)
        print(row, flush=True)
    content = {
        "columns": COLUMNS,
        "changed": CHANGED,
        "rows": ROWS,
        "shift": SHIFT,
        "seeds": len(rows),
        "as_wanted": sum(row["as_wanted"] for row in rows),
        "smallest_prob": min(row["prob"] for row in rows),
        "largest_prob_random_labels": max(row["prob_random_labels"] for row in rows),
        "tables": rows,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "columns.json").write_text(json.dumps(content, indent=0) + "\n")
    print(f"{content['as_wanted']} of {len(rows)} tables as wanted")


if __name__ == "__main__":
    main()
