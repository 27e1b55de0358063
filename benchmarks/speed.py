"""Speed and memory of the default test, as ratios measured side by side in one run, on one core of a Linux machine.

Run with ``python -m benchmarks.speed`` (``--large`` adds n = 10⁶, which takes minutes and 0.4 GB).
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import statistics
import subprocess
import sys
import time
from functools import partial

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, generator, seconds
from twosample.kernels import squared_distances
from twosample.points import choose, thin

ALL_CORES = os.sched_getaffinity(0)
ONE_CORE = {min(ALL_CORES)}


def bare_arithmetic(x: np.ndarray, y: np.ndarray, points: np.ndarray, lengthscales: np.ndarray) -> None:
    """The kernel values, s×s products and decompositions that the model needs, and nothing else."""
    s = len(points)
    distances = [squared_distances(rows, points) for rows in (x, y)]
    V = np.empty((len(lengthscales), s, s))
    for index, lengthscale in enumerate(lengthscales):
        V[index] = 1e-4 * np.eye(s)
        for distance in distances:
            features = np.exp(distance * (-0.5 / lengthscale**2))
            features -= features.mean(axis=0)
            V[index] += features.T @ features / len(features) ** 2
    K = np.exp(-0.5 * squared_distances(points, points) / lengthscales[:, None, None] ** 2)
    R = K @ K
    inverse = np.linalg.inv(np.linalg.cholesky(V))
    np.linalg.eigh(inverse @ R @ np.swapaxes(inverse, 1, 2))


def small() -> dict[str, float]:
    """The default test at n = 200, s = 40, D = 1 against the bare arithmetic, taken in turns."""
    test_times, bare_times = [], []
    for run in range(15):
        x, y = generator("speed", run).normal(size=(2, 200, 1))
        evaluations = ts.test(x, y).diagnostics.evaluations
        points, lengthscales = choose(thin(x, y), 40), np.geomspace(0.1, 10.0, evaluations)
        test_times.append(seconds(lambda x=x, y=y: ts.test(x, y), 5))
        bare_times.append(seconds(lambda x=x, y=y, p=points, ls=lengthscales: bare_arithmetic(x, y, p, ls), 5))
    return {
        "test_ms": round(1e3 * statistics.median(test_times), 1),
        "bare_ms": round(1e3 * statistics.median(bare_times), 1),
        "ratio": round(statistics.median(a / b for a, b in zip(test_times, bare_times, strict=True)), 2),
    }


def permutations(count: int = 999) -> list[dict[str, float | str]]:
    """The default test at n = 200, s = 40, D = 1 with a permutation p-value against the same without, in turns."""
    rows: list[dict[str, float | str]] = []
    settings = (("200 and 200", 200, False, 9), ("200 pairs", 200, True, 9), ("200 and 300", 300, False, 3))
    for name, n_y, paired, runs in settings:
        plain, permuted = [], []
        for run in range(runs):
            rng = generator("permutations", name, run)
            x, y = rng.normal(size=200), rng.normal(size=n_y)
            test = partial(ts.test, x, y, paired=paired)
            plain.append(seconds(test, 3))
            permuted.append(seconds(partial(test, permutations=count), 1))
        rows.append(
            {
                "rows": name,
                "permutations": count,
                "plain_ms": round(1e3 * statistics.median(plain), 1),
                "permuted_ms": round(1e3 * statistics.median(permuted), 1),
                "ratio": round(statistics.median(b / a for a, b in zip(plain, permuted, strict=True)), 1),
            }
        )
    return rows


def growth(sizes: tuple[int, ...]) -> list[dict[str, float]]:
    """Time per row and lengthscale: constant if the test is linear in n."""
    rows = []
    for n in sizes:
        x, y = generator("growth", n).normal(size=(2, n, 1))
        start = time.perf_counter()
        evaluations = ts.test(x, y).diagnostics.evaluations
        elapsed = time.perf_counter() - start
        rows.append(
            {
                "n": n,
                "seconds": round(elapsed, 2),
                "evaluations": evaluations,
                "ns_per_row_and_lengthscale": round(1e9 * elapsed / (2 * n * evaluations), 1),
            }
        )
        print(rows[-1], flush=True)
    return rows


def threads(n: int) -> dict[str, float]:
    """One core against all of them, in turns, at one lengthscale's cost for a large sample."""
    x, y = generator("threads", n).normal(size=(2, n, 1))
    lengthscales = np.geomspace(0.1, 5.0, 20)
    times: dict[str, list[float]] = {"one": [], "all": []}
    for _ in range(3):
        for name, cores in (("one", ONE_CORE), ("all", ALL_CORES)):
            os.sched_setaffinity(0, cores)
            times[name].append(seconds(lambda: ts.log_bf10(x, y, lengthscales), 1))
    os.sched_setaffinity(0, ONE_CORE)
    return {
        "n": n,
        "cores": len(ALL_CORES),
        "speed_up": round(statistics.median(times["one"]) / statistics.median(times["all"]), 2),
    }


def memory(n: int, n_columns: int) -> dict[str, float]:
    """Peak resident memory of one test beyond the data, in a process of its own."""
    code = f"""
import resource, numpy as np, twosample as ts
rng = np.random.default_rng(0)
x, y = rng.normal(size=({n}, {n_columns})), rng.normal(size=({n}, {n_columns}))
ts.test(x[:100], y[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ts.test(x, y, lengthscale="median")
ts.test(x, y)
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    before, after = map(int, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    unit = 1024 if sys.platform != "darwin" else 1024**2
    return {
        "n": n,
        "columns": n_columns,
        "data_mb": 2 * n * n_columns * 8 // 10**6,
        "extra_mb": (after - before) // unit,
    }


def import_time() -> dict[str, float]:
    """`import twosample` against `import scipy.linalg`, each in fresh processes, in turns."""
    times: dict[str, list[float]] = {"twosample": [], "scipy.linalg": []}
    for _ in range(15):
        for module, values in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
            values.append(time.perf_counter() - start)
    medians = {module: statistics.median(values) for module, values in times.items()}
    return {
        "twosample_ms": round(1e3 * medians["twosample"]),
        "scipy_linalg_ms": round(1e3 * medians["scipy.linalg"]),
        "ratio": round(medians["twosample"] / medians["scipy.linalg"], 2),
    }


def main() -> None:
    """Measure everything, print it and write it to the results folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also n = 10⁶")
    options = parser.parse_args()
    os.sched_setaffinity(0, ONE_CORE)
    results: dict[str, object] = {"import": import_time(), "small": small(), "threads": threads(3 * 10**5)}
    print(results, flush=True)
    results["permutations"] = permutations()
    print(results["permutations"], flush=True)
    results["growth"] = growth((10**4, 10**5, 10**6) if options.large else (10**4, 10**5))
    results["memory"] = memory(10**6 if options.large else 10**5, 10)
    print(results["memory"])
    RESULTS.mkdir(exist_ok=True)
    name = "speed.json" if options.large else "speed-quick.json"
    (RESULTS / name).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
