"""How often the two of six columns that differ are ranked first, by the sampler and by the test.

The sampler has a lengthscale for each column and ranks the columns in `relevance`; the test weighs subsets of columns
and ranks them in `by_column`. Chains are short. Run with ``python -m benchmarks.relevance``, or with the names of
models: ``paper`` takes half an hour.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, generator
from twosample.errors import TwoSampleWarning

COLUMNS, ROWS = 6, 200
DATA_SETS = {"adaptive": 20, "paper": 8}
KINDS = {"shift by 1": lambda y: y + 1.0, "spread times 2": lambda y: 2.0 * y}


def one(case: tuple[str, str, int]) -> tuple[bool, bool, bool]:
    """Whether `relevance` and `by_column` each have the two columns first, and whether they have the same two first."""
    model, kind, seed = case
    warnings.simplefilter("ignore", TwoSampleWarning)
    rng = generator("relevance", kind, seed)
    x, y = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    changed = rng.choice(COLUMNS, 2, replace=False)
    y[:, changed] = KINDS[kind](y[:, changed])
    result = ts.gibbs(
        x, y, model=model, kernel="ard", chains=1, steps=150, burn_in=50, hmc_steps=3, thinning=1, early_stop=False
    )
    truth = {str(column) for column in changed}
    sampled = set(result.relevance.columns[:2])
    tested = {row.column for row in ts.test(x, y).by_column[:2]}
    return sampled == truth, tested == truth, sampled == tested


def keep_to_one_core(queue: object) -> None:
    """Before JAX starts its threads."""
    os.sched_setaffinity(0, {queue.get()})


def main() -> None:
    """Measure, print and write; what is known of models that are not asked for is kept."""
    asked = tuple(sys.argv[1:]) or ("adaptive",)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "relevance.json"
    rows = [row for row in json.loads(path.read_text()) if row["model"] not in asked] if path.exists() else []
    cores, context = sorted(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")
    queue = context.Queue()
    for core in cores:
        queue.put(core)
    with ProcessPoolExecutor(len(cores), context, keep_to_one_core, (queue,)) as pool:
        for model, kind in product(asked, KINDS):
            found = list(pool.map(one, [(model, kind, seed) for seed in range(DATA_SETS[model])]))
            sampled, tested, agree = np.sum(found, axis=0).tolist()
            rows.append({"model": model, "kind": kind, "data_sets": len(found), "both_first": sampled})
            rows[-1] |= {"both_first_by_column": tested, "orders_agree": agree}
            print(rows[-1], flush=True)
            path.write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
