"""Monitors: how often streams without a difference ever give an alarm, and how soon a difference does.

Nulls: streams of 100 batches from one distribution, and the share whose e-value ever reaches 1/alpha, which is at most
alpha by theorem. Delays: rows of each stream until the alarm, beside other tests of the same rows. One is at a fixed n:
permutation p-values at 5 % of `twosample.test` and of the energy distance, and the n at which half, or 80 %, of the
streams are found, which nobody knows beforehand. The other is the energy distance looked at after 1, 2, 4, ... 64
batches, with a seventh of the level each.

- ``python -m benchmarks.monitor --streams 1000 --shard 2/8 --raw two.jsonl`` does every eighth stream, on one thread;
- ``python -m benchmarks.monitor --summarise one.jsonl two.jsonl`` writes the tables into the results folder.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator

ROWS, BATCHES, LONGEST = 25, 100, 64
ALPHAS = (0.05, 0.01)
LOOKS = (1, 2, 4, 8, 16, 32, 64)
FIXED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
PERMUTATIONS = 199

Law = Callable[[np.random.Generator, int], Array]
NULLS: dict[str, Law] = {
    "gaussian": lambda rng, n: rng.normal(size=(n, 1)),
    "cauchy": lambda rng, n: rng.standard_cauchy((n, 1)),
    "integers": lambda rng, n: rng.integers(0, 5, (n, 1)).astype(float),
    "unequal sizes": lambda rng, n: rng.normal(size=(n, 1)),
}


def _one_of_ten(rng: np.random.Generator, n: int) -> Array:
    rows = rng.normal(size=(n, 10))
    rows[:, 3] += 0.5
    return rows


PROBLEMS: dict[str, tuple[int, Law]] = {
    "shift 0.3": (1, lambda rng, n: rng.normal(0.3, 1.0, (n, 1))),
    "shift 0.5": (1, lambda rng, n: rng.normal(0.5, 1.0, (n, 1))),
    "scale 1.5": (1, lambda rng, n: rng.normal(0.0, 1.5, (n, 1))),
    "one column of 10 by 0.5": (10, _one_of_ten),
}


def null_stream(law: str, stream: int, batches: int) -> dict[str, Any]:
    """The largest e-value and run length of a stream without a difference, and how long it took."""
    rng, monitor = generator("monitor", "null", law, stream), ts.Monitor(rng=stream)
    started = time.perf_counter()
    for _ in range(batches):
        sizes = rng.integers(2, 60, 2).tolist() if law == "unequal sizes" else (ROWS, ROWS)
        monitor.update(*(NULLS[law](rng, size) for size in sizes))
    history = monitor.history
    return {
        "kind": "null",
        "name": law,
        "stream": stream,
        "batches": batches,
        "largest": max(row.log_evalue for row in history),
        "run_length": [_first(row.log_run_length >= -np.log(alpha) for row in history) for alpha in ALPHAS],
        "mean_evalue": float(np.mean([np.exp(row.log_batch_evalue) for row in history])),
        "seconds": (time.perf_counter() - started) / batches,
    }


def delay(problem: str, stream: int) -> dict[str, Any]:
    """Batches until each test finds the difference, None where it does not."""
    columns, law = PROBLEMS[problem]
    rng, monitor = generator("monitor", "delay", problem, stream), ts.Monitor(alpha=min(ALPHAS), rng=stream)
    x, y = rng.normal(size=(LONGEST * ROWS, columns)), law(rng, LONGEST * ROWS)
    started = time.perf_counter()
    for batch in range(LONGEST):
        rows = slice(batch * ROWS, (batch + 1) * ROWS)
        if monitor.update(x[rows], y[rows]).alarm:
            break
    history, seconds = monitor.history, time.perf_counter() - started
    energy = {look: energy_pvalue(x[: look * ROWS], y[: look * ROWS], rng) for look in FIXED}
    spending = None
    for look in LOOKS:
        pvalue = energy[look] if look in energy else energy_pvalue(x[: look * ROWS], y[: look * ROWS], rng)
        if pvalue <= ALPHAS[0] / len(LOOKS):
            spending = look
            break
    ours = {look: ts.test(x[: look * ROWS], y[: look * ROWS], permutations=99).pvalue for look in FIXED}
    level = ALPHAS[0]
    return {
        "kind": "delay",
        "name": problem,
        "stream": stream,
        "monitor": [_first(row.log_evalue >= -np.log(alpha) for row in history) for alpha in ALPHAS],
        "energy_spending": spending,
        "energy_fixed": [energy[look] <= level for look in FIXED],
        "ours_fixed": [bool(ours[look] <= level) for look in FIXED],
        "seconds": seconds / len(history),
    }


def _first(flags: Any) -> int | None:
    return next((number for number, flag in enumerate(flags, 1) if flag), None)


def energy_pvalue(x: Array, y: Array, rng: np.random.Generator) -> float:
    """Permutation p-value of the energy distance."""
    rows = np.concatenate([x, y])
    distances = np.sqrt(sum(np.subtract.outer(column, column) ** 2 for column in rows.T))
    weights = np.tile(np.r_[np.full(len(x), 1.0 / len(x)), np.full(len(y), -1.0 / len(y))], (PERMUTATIONS + 1, 1))
    weights[1:] = rng.permuted(weights[1:], axis=1)
    values = -np.einsum("bn,bn->b", weights @ distances, weights)
    return float(np.mean(values >= values[0] - 1e-12))


def main() -> None:
    """Run a shard, or make the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000, help="null streams of each law")
    parser.add_argument("--delays", type=int, default=200, help="streams of each problem")
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--shard", default="1/1", metavar="I/K", help="every K-th stream, from the I-th on")
    parser.add_argument("--raw", type=Path, help="where the streams are written, one a line; those there are kept")
    parser.add_argument("--summarise", type=Path, nargs="+", metavar="RAW", help="make the tables of these files")
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    if options.summarise:
        summarise([json.loads(line) for path in options.summarise for line in path.open()], options.into)
        return
    if options.raw is None:
        parser.error("--raw: say where the streams go")
    part, parts = (int(number) for number in options.shard.split("/"))
    tasks = [("null", law, stream) for stream in range(options.streams) for law in NULLS]
    tasks += [("delay", problem, stream) for stream in range(options.delays) for problem in PROBLEMS]
    done = set()
    if options.raw.exists():
        done = {(row["kind"], row["name"], row["stream"]) for row in map(json.loads, options.raw.open())}
    with options.raw.open("a") as file:
        for kind, name, stream in tasks[part - 1 :: parts]:
            if (kind, name, stream) in done:
                continue
            row = null_stream(name, stream, options.batches) if kind == "null" else delay(name, stream)
            print(json.dumps(row), file=file, flush=True)


def summarise(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write the tables of all streams as JSON and as text."""
    nulls = [_null_row(name, [row for row in rows if (row["kind"], row["name"]) == ("null", name)]) for name in NULLS]
    delays = [
        _delay_row(name, [row for row in rows if (row["kind"], row["name"]) == ("delay", name)]) for name in PROBLEMS
    ]
    found = {"nulls": [row for row in nulls if row], "delays": [row for row in delays if row]}
    (folder / "monitor.json").write_text(json.dumps(found, indent=1) + "\n")
    text = _text(found)
    (folder / "monitor.md").write_text(text)
    print(text)


def _null_row(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    if not rows:
        return {}
    largest = np.array([row["largest"] for row in rows])
    shares = {f"{alpha:g}": float(np.mean(largest >= -np.log(alpha))) for alpha in ALPHAS}
    means = [row["mean_evalue"] for row in rows]
    return {
        "law": name,
        "streams": len(rows),
        "batches": rows[0]["batches"],
        "ever": shares,
        "se": {alpha: float(np.sqrt(share * (1 - share) / len(rows))) for alpha, share in shares.items()},
        "mean_evalue": float(np.mean(means)),
        "se_mean_evalue": float(np.std(means) / np.sqrt(len(rows))),
        # Those without an alarm count as if it came at the end, so that the mean is too small.
        "run_length": {
            f"{alpha:g}": float(np.mean([row["run_length"][place] or row["batches"] for row in rows]))
            for place, alpha in enumerate(ALPHAS)
        },
        "seconds_per_batch": float(np.median([row["seconds"] for row in rows])),
    }


def _delay_row(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    if not rows:
        return {}

    def quantiles(batches: list[int | None]) -> list[float | None]:
        found = np.quantile([np.inf if one is None else one * ROWS for one in batches], (0.5, 0.8), method="higher")
        return [None if np.isinf(one) else float(one) for one in found]

    def fixed(kind: str) -> list[int | None]:
        power = np.mean([row[kind] for row in rows], axis=0)
        return [next((FIXED[i] * ROWS for i in np.flatnonzero(power >= share)), None) for share in (0.5, 0.8)]

    return {
        "problem": name,
        "streams": len(rows),
        "monitor": {f"{alpha:g}": quantiles([row["monitor"][i] for row in rows]) for i, alpha in enumerate(ALPHAS)},
        "energy_spending": quantiles([row["energy_spending"] for row in rows]),
        "ours_fixed": fixed("ours_fixed"),
        "energy_fixed": fixed("energy_fixed"),
        "seconds_per_batch": float(np.median([row["seconds"] for row in rows])),
    }


def _text(found: dict[str, Any]) -> str:
    lines = [
        "# Monitors",
        "",
        "Made by `benchmarks/monitor.py`. Streams without a difference: the share whose e-value ever reaches 1/alpha,",
        "± its standard error, the mean e-value of a batch, and the mean number of batches until the run-length",
        "detector first reaches 1/alpha (cut off at the end of the stream).",
        "",
        "| law | streams × batches | ever, alpha 0.05 | ever, alpha 0.01 | mean e-value | run length, 0.05 | 0.01 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["nulls"]:
        ever = [f"{row['ever'][alpha] * 100:.1f} ± {row['se'][alpha] * 100:.1f} %" for alpha in ("0.05", "0.01")]
        runs = [f"{row['run_length'][alpha]:.0f}" for alpha in ("0.05", "0.01")]
        mean = f"{row['mean_evalue']:.3f} ± {row['se_mean_evalue']:.3f}"
        cells = [row["law"], f"{row['streams']} × {row['batches']}", *ever, mean, *runs]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"Rows of each stream, in batches of {ROWS}, until half / 80 % of the streams are found. The test at a fixed n",
        "is that of somebody who knew this n beforehand; a dash is more than was tried.",
        "",
        "| problem | streams | monitor, 0.05 | monitor, 0.01 | energy, spending | `test`, fixed n | energy, fixed n |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["delays"]:
        pairs = [row["monitor"]["0.05"], row["monitor"]["0.01"]]
        pairs += [row[kind] for kind in ("energy_spending", "ours_fixed", "energy_fixed")]
        shown = [" / ".join("–" if one is None else f"{one:.0f}" for one in pair) for pair in pairs]
        lines.append(f"| {row['problem']} | {row['streams']} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
