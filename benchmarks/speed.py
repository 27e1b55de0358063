"""Speed and memory of the default test, as ratios measured side by side in one run, on one core of a Linux machine.

Run with ``python -m benchmarks.speed`` (``--large`` adds n = 10⁶, which takes a minute and 0.4 GB). With
``--against FOLDER``, the ``src`` folder of another version, that version is timed in turns with this one.
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
from twosample.features.points import choose, thin
from twosample.kernels import squared_distances

ALL_CORES = os.sched_getaffinity(0)
ONE_CORE = {min(ALL_CORES)}
BLOCK = 2048


def bare_statistics(rows: np.ndarray, points: np.ndarray, lengthscales: np.ndarray) -> np.ndarray:
    """The kernel values and the s×s products of their deviations, block by block, and nothing else."""
    s = len(points)
    scatter = np.zeros((len(lengthscales), s, s))
    for start in range(0, len(rows), BLOCK):
        distances = squared_distances(rows[start : start + BLOCK], points)
        features = np.empty_like(distances)
        for index, lengthscale in enumerate(lengthscales):
            np.exp(np.multiply(distances, -0.5 / lengthscale**2, out=features), out=features)
            features -= features.mean(axis=0)
            scatter[index] += features.T @ features
    return scatter


def bare_arithmetic(x: np.ndarray, y: np.ndarray, points: np.ndarray, lengthscales: np.ndarray) -> None:
    """The same, and the decompositions that the model needs."""
    s = len(points)
    V = 1e-4 * np.eye(s) + sum(bare_statistics(rows, points, lengthscales) / len(rows) ** 2 for rows in (x, y))
    K = np.exp(-0.5 * squared_distances(points, points) / lengthscales[:, None, None] ** 2)
    R = K @ K
    inverse = np.linalg.inv(np.linalg.cholesky(V))
    np.linalg.eigh(inverse @ R @ np.swapaxes(inverse, 1, 2))


def small() -> dict[str, float]:
    """The default test at n = 200, s = 40, D = 1 against the bare arithmetic, taken in turns."""
    test_times, bare_times, evaluations = [], [], []
    for run in range(25):
        x, y = generator("speed", run).normal(size=(2, 200, 1))
        evaluations.append(ts.test(x, y).diagnostics.evaluations)
        points, lengthscales = choose(thin(x, y), 40), np.geomspace(0.1, 10.0, evaluations[-1])
        test_times.append(seconds(lambda x=x, y=y: ts.test(x, y), 5))
        bare_times.append(seconds(lambda x=x, y=y, p=points, ls=lengthscales: bare_arithmetic(x, y, p, ls), 5))
    return {
        "test_ms": round(1e3 * statistics.median(test_times), 1),
        "bare_ms": round(1e3 * statistics.median(bare_times), 1),
        "ratio": round(statistics.median(a / b for a, b in zip(test_times, bare_times, strict=True)), 2),
        "evaluations": statistics.median(evaluations),
        "second_passes": sum(count > min(evaluations) for count in evaluations),
        "runs": len(evaluations),
    }


def large(n: int) -> dict[str, float]:
    """The default test of many rows against the bare loop over the same rows and lengthscales, in turns."""
    x, y = generator("large", n).normal(size=(2, n, 1))
    points = choose(thin(x, y), 40)
    rows = []
    for _ in range(3):
        start = time.perf_counter()
        evaluations = ts.test(x, y).diagnostics.evaluations
        middle = time.perf_counter()
        for sample in (x, y):
            bare_statistics(sample, points, np.geomspace(0.1, 10.0, evaluations))
        rows.append((middle - start, time.perf_counter() - middle))
    return {
        "n": n,
        "evaluations": evaluations,
        "test_seconds": round(statistics.median(test for test, _ in rows), 2),
        "bare_seconds": round(statistics.median(bare for _, bare in rows), 2),
        "ratio": round(statistics.median(test / bare for test, bare in rows), 2),
    }


_COST = """
import statistics, sys, time, numpy as np, twosample as ts
n, columns, runs, which = *map(int, sys.argv[1:4]), sys.argv[4]
options = {"subsets": None} if which == "joint" else {}
times = []
for run in range(runs + 1):
    x, y = np.random.default_rng([n, columns, run]).normal(size=(2, n, columns))
    start = time.perf_counter()
    ts.test(x, y, **options)
    times.append(time.perf_counter() - start)
print(statistics.median(times[1:]))
"""


def cost(folder: str | None = None, n: int = 200, runs: int = 15) -> list[dict[str, float]]:
    """The default test in multiples of its joint part (`subsets=None`), and of the test of another version, in turns.

    Each of them runs in processes of its own, on the same data; the first run there does not count.
    """
    rows: list[dict[str, float]] = []
    for columns in (1, 10):
        found: dict[str, list[float]] = {"default": [], "joint": [], **({"other": []} if folder else {})}
        for _ in range(5):
            for which, times in found.items():
                environment = {**os.environ, "PYTHONPATH": folder} if which == "other" and folder else dict(os.environ)
                command = [sys.executable, "-c", _COST, str(n), str(columns), str(runs), which]
                times.append(float(subprocess.check_output(command, text=True, env=environment)))
        row: dict[str, float] = {"n": n, "columns": columns}
        row |= {f"{which}_ms": round(1e3 * statistics.median(times), 1) for which, times in found.items()}
        for which in list(found)[1:]:
            ratios = (a / b for a, b in zip(found["default"], found[which], strict=True))
            row[f"of_{which}"] = round(statistics.median(ratios), 2)
        rows.append(row)
    return rows


def permutations(count: int = 999) -> list[dict[str, float | str]]:
    """The default test at n = 200, s = 40 with a permutation p-value against the same without, in turns."""
    rows: list[dict[str, float | str]] = []
    settings = (
        ("200 and 200", 1, 200, False, 9),
        ("200 pairs", 1, 200, True, 9),
        ("200 and 300", 1, 300, False, 9),
        ("200 and 200", 10, 200, False, 3),
        ("200 and 300", 10, 300, False, 3),
    )
    for name, columns, n_y, paired, runs in settings:
        plain, permuted = [], []
        for run in range(runs):
            rng = generator("permutations", name, run)
            x, y = rng.normal(size=(200, columns)), rng.normal(size=(n_y, columns))
            test = partial(ts.test, x, y, paired=paired)
            plain.append(seconds(test, 3))
            permuted.append(seconds(partial(test, permutations=count), 1))
        rows.append(
            {
                "rows": name,
                "columns": columns,
                "permutations": count,
                "plain_ms": round(1e3 * statistics.median(plain), 1),
                "permuted_ms": round(1e3 * statistics.median(permuted), 1),
                "ratio": round(statistics.median(b / a for a, b in zip(plain, permuted, strict=True)), 1),
            }
        )
    return rows


_EACH = """
import resource, sys, time, numpy as np
from scipy.stats import ks_2samp
columns, n, decimals, which = *map(int, sys.argv[1:4]), sys.argv[4]
x, y = np.random.default_rng([columns, n]).normal(size=(2, n, columns))
if decimals >= 0:
    x, y = x.round(decimals), y.round(decimals)
if which == "each":
    import twosample as ts
    test = ts.test_each
else:
    def test(x, y):
        return [ks_2samp(x[:, column], y[:, column]).pvalue for column in range(x.shape[1])]
test(x[:, :20], y[:, :20])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
test(x, y)
print(time.perf_counter() - start, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def each(columns: int = 20_000, n: int = 100) -> list[dict[str, float | str]]:
    """`test_each` against a loop of SciPy's test of Kolmogorov and Smirnov, with and without ties, in turns.

    Memory is what they need beyond the data and the libraries, at its peak, each in processes of its own.
    """
    unit = 1024 if sys.platform != "darwin" else 1024**2
    rows: list[dict[str, float | str]] = []
    for values, decimals in (("all different", -1), ("one decimal", 1)):
        found: dict[str, list[tuple[float, ...]]] = {"each": [], "ks_2samp": []}
        for _ in range(3):
            for which, answers in found.items():
                command = [sys.executable, "-c", _EACH, str(columns), str(n), str(decimals), which]
                printed = subprocess.check_output(command, text=True)
                answers.append(tuple(float(word) for word in printed.split()))
        times = {which: [answer[0] for answer in answers] for which, answers in found.items()}
        ratios = (a / b for a, b in zip(times["each"], times["ks_2samp"], strict=True))
        rows.append(
            {
                "columns": columns,
                "rows": f"{n} and {n}",
                "values": values,
                "data_mb": 2 * n * columns * 8 // 10**6,
                **{f"{which}_seconds": round(statistics.median(of), 2) for which, of in times.items()},
                "ratio": round(statistics.median(ratios), 3),
                **{
                    f"{which}_extra_mb": max(int(after - before) // unit for _, before, after in answers)
                    for which, answers in found.items()
                },
            }
        )
    return rows


def threads(n: int) -> dict[str, float]:
    """One core against all of them, in turns, for a large sample."""
    x, y = generator("threads", n).normal(size=(2, n, 1))
    times: dict[str, list[float]] = {"one": [], "all": []}
    for _ in range(3):
        for name, cores in (("one", ONE_CORE), ("all", ALL_CORES)):
            os.sched_setaffinity(0, cores)
            times[name].append(seconds(lambda: ts.test(x, y), 1))
    os.sched_setaffinity(0, ONE_CORE)
    return {
        "n": n,
        "cores": len(ALL_CORES),
        "all_cores_seconds": round(statistics.median(times["all"]), 2),
        "speed_up": round(statistics.median(times["one"]) / statistics.median(times["all"]), 2),
    }


_TIMED = """
import sys, time, warnings, numpy as np, twosample as ts
rng = np.random.default_rng(7)
n = int(sys.argv[2])
x = rng.laplace(0, 0.5**0.5, (n, 1)) if sys.argv[1] == "laplace" else rng.normal(size=(n, 1))
y = rng.normal(size=(n, 1))
warnings.simplefilter("ignore")
ts.test(x[:100], y[:100])
start = time.perf_counter()
result = ts.test(x, y)
print(time.perf_counter() - start, result.diagnostics.evaluations, result.log_bf10)
"""


def against(folder: str, cases: tuple[tuple[str, int], ...]) -> list[dict[str, float | str]]:
    """This version and another one on the same data, in processes of their own, in turns."""
    rows: list[dict[str, float | str]] = []
    for name, n in cases:
        found: dict[str, list[list[float]]] = {"this": [], "other": []}
        for _ in range(3 if n < 10**5 else 1):
            for version, answers in found.items():
                environment = {**os.environ, "PYTHONPATH": folder} if version == "other" else dict(os.environ)
                command = [sys.executable, "-c", _TIMED, name, str(n)]
                printed = subprocess.check_output(command, text=True, env=environment)
                answers.append([float(word) for word in printed.split()])
        times = {version: statistics.median(row[0] for row in answers) for version, answers in found.items()}
        rows.append(
            {
                "data": name,
                "n": n,
                **{f"{version}_seconds": round(value, 2) for version, value in times.items()},
                **{f"{version}_evaluations": answers[0][1] for version, answers in found.items()},
                **{f"{version}_log_bf10": round(answers[0][2], 4) for version, answers in found.items()},
                "ratio": round(times["this"] / times["other"], 3),
            }
        )
        print(rows[-1], flush=True)
    return rows


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
    parser.add_argument("--against", metavar="FOLDER", help="src folder of another version, to be timed in turns")
    options = parser.parse_args()
    os.sched_setaffinity(0, ONE_CORE)
    sizes = (10**4, 10**5, 10**6) if options.large else (10**4, 10**5)
    results: dict[str, object] = {}
    parts = {
        "import": import_time,
        "small": small,
        "large": lambda: [large(n) for n in sizes],
        "threads": lambda: threads(sizes[-1]),
        "cost": lambda: cost(options.against),
        "permutations": permutations,
        "each": each,
        "memory": lambda: memory(sizes[-1], 10),
    }
    if options.against:
        cases = (
            ("normal", 200),
            ("normal", 10**5),
            ("laplace", 10**5),
            *((("normal", 10**6),) if options.large else ()),
        )
        parts["against"] = lambda: against(options.against, cases)
    for name, measure in parts.items():
        results[name] = measure()
        print(name, results[name], flush=True)
    RESULTS.mkdir(exist_ok=True)
    file = "speed.json" if options.large else "speed-quick.json"
    (RESULTS / file).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
