"""Time per row and memory of the default test as n grows, from memory and from Parquet, and the machine's own rates.

    python -m benchmarks.scale                  # 10³ … 10⁶ rows in each sample, ten columns
    python -m benchmarks.scale --largest 1e7    # up to 10⁷: 1.6 GB on disk, half an hour on two cores

From memory it is measured up to 10⁶ rows.

Every measurement is a process of its own, on all cores, and begins after a small test, so that imports do not count.
Beside it, in the same process and threads, the machine says how many exponentials and how many operations of a matrix
product it does in a second: `share_of_machine` is the time that those of the pass would take, over the time it took.
What n = 10³ takes is mostly what does not depend on n; the ratios of time per row are of processor time beyond it,
which other work on the machine changes least.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, generator
from twosample.common.threads import cores, in_order
from twosample.features.maps import chains
from twosample.features.subsets import multiples_of
from twosample.plan import Plan

COLUMNS = 10
BLOCK = 1 << 17
MOST_IN_MEMORY = 10**6
NAMES = [f"c{column}" for column in range(COLUMNS)]


def blocks(sample: int, n: int):
    """The rows of a sample, block by block; the second has a little more spread in one column."""
    for number, start in enumerate(range(0, n, BLOCK)):
        rows = generator("scale", sample, number).normal(size=(min(BLOCK, n - start), COLUMNS))
        rows[:, 0] *= 1.0 + 0.002 * sample
        yield rows


def write(folder: Path, n: int) -> None:
    """Two folders of Parquet parts."""
    import polars as pl

    for sample, name in enumerate("xy"):
        (folder / name).mkdir(exist_ok=True)
        for number, rows in enumerate(blocks(sample, n)):
            pl.DataFrame(rows, schema=NAMES).write_parquet(folder / name / f"{number:05}.parquet", compression="lz4")


def work(plan: Plan) -> tuple[float, float]:
    """Exponentials and operations of matrix products that the pass needs for a row."""
    assert plan.lengthscales is not None
    points = len(plan.points)
    exps, flops = float(len(chains(plan.lengthscales)) * points), 2.0 * len(plan.lengthscales) * points**2
    multiples = multiples_of(plan.model)
    for part in plan.parts:
        tests, points, _ = part.points.shape
        exps += len(chains(multiples)) * tests * points
        flops += 2.0 * len(multiples) * tests * points**2
    return exps, flops


def rates(seconds: float = 0.5) -> tuple[float, float]:
    """Exponentials and operations of products a second, of blocks in the cache, on all cores."""
    values = np.random.default_rng(0).uniform(-5.0, 0.0, size=(2048, 40))

    def timed(run) -> float:
        def until(_: int) -> int:
            count, end = 0, time.perf_counter() + seconds
            while time.perf_counter() < end:
                run()
                count += 1
            return count

        return sum(in_order(until, range(cores()))) / seconds

    scratch = threading.local()

    def exp() -> None:
        if not hasattr(scratch, "out"):
            scratch.out = np.empty_like(values)
        np.exp(values, out=scratch.out)

    return timed(exp) * values.size, timed(lambda: values.T @ values) * 2.0 * values.size * values.shape[1]


def resident() -> float:
    """Memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def measure(kind: str, n: int, folder: str) -> dict[str, float]:
    """One test; runs in a process of its own."""
    small = [next(iter(blocks(sample, 200))) for sample in (0, 1)]
    if kind == "parquet":
        ts.test(*(ts.blocks([rows]) for rows in small))
        next(ts.blocks(Path(folder) / "x").pieces())
        samples = [ts.blocks(Path(folder) / name) for name in "xy"]
    else:
        ts.test(*small)
        samples = [np.concatenate(list(blocks(sample, n))) for sample in (0, 1)]
    exp_rate, flop_rate = rates()
    before, most, ended = resident(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(0.01):
            most = max(most, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    cpu, start = time.process_time(), time.perf_counter()
    result = ts.test(*samples)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    ended.set()
    watcher.join()
    later = rates()
    exp_rate, flop_rate = 0.5 * (exp_rate + later[0]), 0.5 * (flop_rate + later[1])
    plan = ts.plan(*(ts.blocks([rows]) for rows in small))
    exps, flops = work(plan)
    rows = result.n_x + result.n_y
    return {
        "seconds": round(seconds, 2),
        "microseconds_per_row": round(1e6 * seconds / rows, 2),
        "processor_microseconds_per_row": round(1e6 * cpu / rows, 2),
        "resident_mb": round(most - before, 1),
        "exps_per_row": exps,
        "flops_per_row": flops,
        "machine_exps_per_second": float(f"{exp_rate:.3g}"),
        "machine_flops_per_second": float(f"{flop_rate:.3g}"),
        "share_of_machine": round(rows * (exps / exp_rate + flops / flop_rate) / seconds, 3),
        "log_bf10": result.log_bf10,
    }


def relative(rows: list[dict]) -> dict[int, float]:
    """Processor time of a row, beyond what the smallest test takes, over that of the largest."""
    count, time_of = (lambda row: 2 * row["n"]), (lambda row: 2 * row["n"] * row["processor_microseconds_per_row"])
    first, *others = rows
    per_row = {row["n"]: (time_of(row) - time_of(first)) / (count(row) - count(first)) for row in others}
    return {n: round(one / per_row[rows[-1]["n"]], 3) for n, one in per_row.items()}


def main() -> None:
    """Measure, print and write everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=float, default=1e6)
    parser.add_argument("--smallest", type=float, default=1e3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RESULTS / "scale.json")
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measure(given.one[0], int(given.one[1]), given.one[2])))
        return
    results: list[dict[str, object]] = []
    n = int(given.smallest)
    while n <= given.largest:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), n)
            for kind in ("memory", "parquet") if n <= MOST_IN_MEMORY else ("parquet",):
                command = [sys.executable, "-m", "benchmarks.scale", "--one", kind, str(n), folder]
                row = {"n": n, "from": kind, **json.loads(subprocess.check_output(command, text=True))}
                results.append(row)
                print(row, flush=True)
        n *= 10
    summary: dict[str, object] = {"columns": COLUMNS, "cores": cores()}
    for kind in ("memory", "parquet"):
        rows = [row for row in results if row["from"] == kind]
        summary[f"time_per_row_over_that_of_the_largest_{kind}"] = relative(rows)
    print(summary)
    given.out.write_text(json.dumps({"summary": summary, "runs": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
