"""How often the two of six columns that differ are ranked first by the sampler with a lengthscale for each column.

Twenty data sets of each kind and model, with short chains. Run with ``python -m benchmarks.relevance`` (about half an
hour on two cores).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, generator
from twosample.errors import TwoSampleWarning

COLUMNS, DATA_SETS, ROWS = 6, 20, 200
KINDS = {"shift by 1": lambda y: y + 1.0, "spread times 2": lambda y: 2.0 * y}


def one(case: tuple[str, str, int]) -> bool:
    model, kind, seed = case
    warnings.simplefilter("ignore", TwoSampleWarning)
    rng = generator("relevance", kind, seed)
    x, y = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    changed = rng.choice(COLUMNS, 2, replace=False)
    y[:, changed] = KINDS[kind](y[:, changed])
    result = ts.gibbs(x, y, model=model, kernel="ard", chains=1, steps=150, burn_in=50, hmc_steps=3, thinning=1)
    return {str(column) for column in changed} == set(result.relevance.columns[:2])


def keep_to_one_core(queue: object) -> None:
    """Before JAX starts its threads."""
    os.sched_setaffinity(0, {queue.get()})


def main() -> None:
    """Measure, print and write."""
    cores, context = sorted(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")
    queue = context.Queue()
    for core in cores:
        queue.put(core)
    rows = []
    with ProcessPoolExecutor(len(cores), context, keep_to_one_core, (queue,)) as pool:
        for model, kind in product(("paper", "adaptive"), KINDS):
            found = list(pool.map(one, [(model, kind, seed) for seed in range(DATA_SETS)]))
            rows.append({"model": model, "kind": kind, "data_sets": DATA_SETS, "both_first": int(np.sum(found))})
            print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "relevance.json").write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
