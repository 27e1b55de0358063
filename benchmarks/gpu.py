"""Statistics on a GPU: torch, CuPy and JAX beside a plain loop of torch, in one run; and a billion rows in each sample.

    python -m benchmarks.gpu                 # all of it; needs a card with fast float64
    python -m benchmarks.gpu --largest 1e8   # a smaller headline

Rows have 10 columns and are made on the card. The pass is at 40 points and the 43 lengthscales of the default; the
plain loop has 14 lengthscales, each of which is √2 times the next, so that it too squares kernel values. Rates are
rows times lengthscales a second, so that both can be compared.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

import twosample as ts
from twosample.places import device
from twosample.places.libraries import mover

RESULTS = Path(__file__).parent / "results" / "gpu.json"
COLUMNS, POINTS = 10, 40
ENGINES = {"torch": "torch:cuda", "cupy": "cupy", "jax": "jax"}
REPEATS = 3
PLAIN_LENGTHSCALES = 14


def make(library: str, rows: int, seed: int, shift: float = 0.0):
    """Rows of a normal law on the card; the last column is shifted."""
    if library == "torch":
        import torch

        generator = torch.Generator("cuda").manual_seed(seed)
        found = torch.randn(rows, COLUMNS, dtype=torch.float64, device="cuda", generator=generator)
        found[:, -1] += shift
        return found
    if library == "cupy":
        import cupy

        found = cupy.random.Generator(cupy.random.XORWOW(seed)).standard_normal((rows, COLUMNS))
        found[:, -1] += shift
        return found
    import jax

    with jax.enable_x64(True):
        found = jax.random.normal(jax.random.key(seed), (rows, COLUMNS), dtype="float64")
        return found.at[:, -1].add(shift).block_until_ready()


def wait(library: str) -> None:
    if library == "torch":
        import torch

        torch.cuda.synchronize()
    elif library == "cupy":
        import cupy

        cupy.cuda.Device().synchronize()


def plain_loop(rows: int, block: int = 1 << 20) -> float:
    """Seconds of a loop as one would write it first: mean and FᵀF of the features, lengthscale by lengthscale."""
    import torch

    x, points = make("torch", block, 0), make("torch", POINTS, 1)

    def one_block() -> None:
        squares = (x**2).sum(1)[:, None] + (points**2).sum(1) - 2.0 * x @ points.T
        values = torch.exp(squares * (-0.5 / 25.0**2))
        for index in range(PLAIN_LENGTHSCALES):
            if index:
                values = values * values
            totals[index] += values.T @ values
            sums[index] += values.sum(0)

    totals = torch.zeros(PLAIN_LENGTHSCALES, POINTS, POINTS, dtype=torch.float64, device="cuda")
    sums = torch.zeros(PLAIN_LENGTHSCALES, POINTS, dtype=torch.float64, device="cuda")
    one_block()
    wait("torch")
    start = time.perf_counter()
    for _ in range(rows // block):
        one_block()
    wait("torch")
    return (time.perf_counter() - start) * rows / (rows // block * block)


def rate(library: str, rows: int) -> dict[str, float]:
    """How fast our own pass over one sample is, after the first one, which compiles."""
    pilot = np.random.default_rng(1).normal(size=(2000, COLUMNS))
    plan = ts.plan(pilot[::2], pilot[1::2], subsets=None)
    x = make(library, rows, 0)
    seconds = []
    for _ in range(1 + REPEATS):
        wait(library)
        start = time.perf_counter()
        device.sample_moments(plan.features, (x,), plan.lengthscales)
        seconds.append((time.perf_counter() - start) / rows)
    first, best = seconds[0] * rows, min(seconds[1:])
    m = len(plan.lengthscales)
    return {
        "first_seconds": first,
        "rows_times_lengthscales_per_second": m / best,
        "seconds_of_1e8_rows_at_14_lengthscales": 1e8 * best * 14 / m,
        "teraflops_in_the_product": 2.0 * POINTS**2 * m / best / 1e12,
    }


def agreement(library: str, rows: int = 100_000) -> dict[str, float]:
    """By how much log BF10 of the default test, all its parts included, differs from that of NumPy."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(rows, 4)), rng.normal(size=(rows, 4)) * [1.0, 1.02, 1.0, 1.0]
    x[: rows // 50, 2] = y[: rows // 40, 2] = 0.0
    to = mover(ENGINES[library])
    expected = ts.test(ts.blocks([x]), ts.blocks([y]))
    there = ts.test(to(x), to(y))
    taken = ts.test(ts.blocks([x]), ts.blocks([y]), engine=ENGINES[library])
    return {
        "log_bf10": expected.log_bf10,
        "on_the_card_differs_by": abs(there.log_bf10 - expected.log_bf10),
        "taken_there_differs_by": abs(taken.log_bf10 - expected.log_bf10),
        "columns_differ_by": max(
            abs(row.log_bf10 - other.log_bf10)
            for row, other in zip(sorted(there.by_column), sorted(expected.by_column), strict=True)
        ),
    }


def headline(rows: int, shift: float, block: int = 1 << 22) -> dict[str, object]:
    """The test of all columns, exact, on very many rows that are made on the card each time they are read."""

    def blocks(first_seed: int, by: float):
        for number, start in enumerate(range(0, rows, block)):
            yield make("torch", min(block, rows - start), first_seed + number, by)

    start = time.perf_counter()
    result = ts.test(ts.blocks(partial(blocks, 10, 0.0)), ts.blocks(partial(blocks, 10**6, shift)), subsets=None)
    seconds = time.perf_counter() - start
    return {
        "rows_of_each_sample": result.n_x,
        "shift_of_one_column": shift,
        "seconds_in_all": seconds,
        "log_bf10": result.log_bf10,
        "verdict": result.verdict,
        "lengthscales": result.diagnostics.evaluations,
    }


def of_library(library: str) -> dict[str, object]:
    """All that is measured with one library."""
    version = __import__(library).__version__
    return {"version": version, **rate(library, 1 << 26), **agreement(library)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=float, default=1e9, help="rows of each sample in the headline")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", choices=ENGINES, help="one library, as JSON on stdout")
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(of_library(arguments.only)))
        return
    import torch

    plain = plain_loop(10**8)
    found: dict[str, object] = {
        "card": torch.cuda.get_device_name(),
        "versions": {"Python": platform.python_version(), "NumPy": np.__version__, "twosample": ts.__version__},
        "plain_loop": {
            "seconds_of_1e8_rows_at_14_lengthscales": plain,
            "teraflops_in_the_product": 2.0 * POINTS**2 * PLAIN_LENGTHSCALES * 1e8 / plain / 1e12,
        },
    }
    torch.cuda.empty_cache()

    def keep(name: str, value: object) -> None:
        found[name] = value
        print(name, json.dumps(value, indent=1), flush=True)
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")

    keep("plain_loop", found["plain_loop"])
    for library in ENGINES:  # each in a process of its own, as JAX takes most of the memory of the card
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.gpu", "--only", library], capture_output=True, text=True, check=False
        )
        if done.returncode:
            keep(library, {"failed": (done.stderr.strip().splitlines() or ["without a word"])[-1]})
            continue
        one = json.loads(done.stdout.splitlines()[-1])
        keep(library, {**one, "times_the_plain_loop": plain / one["seconds_of_1e8_rows_at_14_lengthscales"]})
    keep("headline", headline(int(arguments.largest), 1e-3))


if __name__ == "__main__":
    main()
