"""Small samples: the Bayes factor of `ts.test` beside those of other Bayesian tests, of 5 to 20 rows and unequal sizes.

Every cell is a pair of laws of one column and two sample sizes; half of its data sets have both samples from the first
law. A log score is the mean log probability that a test gives to what is true, at even prior odds; -0.693 is that of a
coin. Run with ``python -m benchmarks.small``; with 25 data sets a cell it takes six minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator, log_score, run_any
from twosample.errors import TwoSampleWarning

Law = Callable[[np.random.Generator, int], Array]
SIZES = ((5, 5), (8, 8), (12, 12), (20, 20), (6, 24), (5, 500))
PAIRS = (6, 10, 13, 20)
# Standard deviations between two normals.
APART = 4.0


def normal(mean: float = 0.0, sd: float = 1.0) -> Law:
    return lambda rng, n: rng.normal(mean, sd, n)


def mixed(share: float, first: Law, second: Law) -> Law:
    """Rows of the first law with this probability, else of the second."""
    return lambda rng, n: np.where(rng.random(n) < share, first(rng, n), second(rng, n))


def poisson(mean: float) -> Law:
    return lambda rng, n: rng.poisson(mean, n).astype(float)


def shifted(law: Law, size: float) -> Law:
    return lambda rng, n: size + law(rng, n)


def student(rng: np.random.Generator, n: int) -> Array:
    return rng.standard_t(2, n)


def cauchy(rng: np.random.Generator, n: int) -> Array:
    return rng.standard_cauchy(n)


def exponential(rng: np.random.Generator, n: int) -> Array:
    return rng.exponential(size=n)


def uniform(rng: np.random.Generator, n: int) -> Array:
    return rng.uniform(-1, 1, n)


def rounded(mean: float) -> Law:
    return lambda rng, n: np.round(rng.normal(mean, 1.0, n))


PROBLEMS: dict[str, tuple[Law, Law]] = {
    "normal by 1": (normal(), normal(1.0)),
    "normal by 2": (normal(), normal(2.0)),
    "normal by 4": (normal(), normal(APART)),
    "normal, spread 3": (normal(), normal(sd=3.0)),
    "normal, spread 10": (normal(), normal(sd=10.0)),
    "t₂ by 2": (student, shifted(student, 2.0)),
    "Cauchy by 3": (cauchy, shifted(cauchy, 3.0)),
    "exponential, times 4": (exponential, lambda rng, n: 4.0 * exponential(rng, n)),
    "lognormal by 1.5": (lambda rng, n: rng.lognormal(0, 1, n), lambda rng, n: rng.lognormal(1.5, 1, n)),
    "uniform by 0.6": (uniform, shifted(uniform, 0.6)),
    "two bumps": (normal(), mixed(0.5, normal(-3.0, 0.5), normal(3.0, 0.5))),
    "outliers on one side": (normal(), mixed(0.6, normal(), normal(8.0))),
    "zeros, 80 % against 20 %": (
        mixed(0.8, poisson(0.0), exponential),
        mixed(0.2, poisson(0.0), exponential),
    ),
    "Poisson 2 against 6": (poisson(2.0), poisson(6.0)),
    "rounded by 1.5": (rounded(0.0), rounded(1.5)),
    "yes, 20 % against 80 %": (
        lambda rng, n: (rng.random(n) < 0.2).astype(float),
        lambda rng, n: (rng.random(n) < 0.8).astype(float),
    ),
}
TESTS: dict[str, Callable[..., Any]] = {
    "ts.test": ts.test,
    "JZS": ts.baselines.jzs,
    "Holmes": ts.baselines.holmes,
    "Chen–Hanson": ts.baselines.chen_hanson,
}
# Name of the problem, rows of each sample, whether they are pairs, and data sets of each kind.
Cell = tuple[str, int, int, bool, int]


def draw(cell: Cell, run: int, different: bool) -> tuple[Array, Array]:
    """One data set; the members of a pair share a part of their variation, which is of the size of a row's own."""
    name, n_x, n_y, paired, _ = cell
    rng = generator("small", *cell[:4], run, different)
    first, second = PROBLEMS[name]
    x, y = first(rng, n_x), (second if different else first)(rng, n_y)
    if paired:
        shared = rng.normal(size=n_x)
        x, y = x + shared, y + shared
    return x, y


def log_bf10(test: Callable[..., Any], x: Array, y: Array, paired: bool) -> float:
    """Zero where a test refuses the samples, as all but one of them do if both are the same constant."""
    try:
        return float((partial(test, paired=True) if paired else test)(x, y).log_bf10)
    except ts.errors.InputError:
        return 0.0


def run_cell(cell: Cell) -> dict[str, Any]:
    """Mean BF10 over nulls, log score, and median log BF10 where the samples differ, of each test."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    *_, paired, runs = cell
    tests = {name: test for name, test in TESTS.items() if not paired or name in ("ts.test", "JZS")}
    logs: dict[str, list[list[float]]] = {name: [[], []] for name in tests}
    for run in range(runs):
        for different in (False, True):
            x, y = draw(cell, run, different)
            for name, test in tests.items():
                logs[name][different].append(log_bf10(test, x, y, paired))
    found = {}
    for name, (same, others) in logs.items():
        bf10 = np.exp(same)
        found[name] = {
            "log_score": float(
                np.concatenate([log_score(np.array(same), False), log_score(np.array(others), True)]).mean()
            ),
            "mean_null": float(bf10.mean()),
            "over_20": float((bf10 > 20).mean()),
            "median": float(np.median(others)),
        }
    return found


def main() -> None:
    """Run every cell, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    sizes = [*((*size, False) for size in SIZES), *((n, n, True) for n in PAIRS)]
    cells = [(name, *size, options.runs) for size in sizes for name in PROBLEMS]
    rows = []
    for cell, found in run_any(run_cell, cells, options.jobs):
        name, n_x, n_y, paired, runs = cell
        rows.append({"problem": name, "n_x": n_x, "n_y": n_y, "paired": paired, "runs": runs, "tests": found})
        print(rows[-1], flush=True)
    rows.sort(key=lambda row: cells.index((row["problem"], row["n_x"], row["n_y"], row["paired"], row["runs"])))
    (RESULTS / "small.json").write_text(json.dumps(rows, indent=0, ensure_ascii=False) + "\n")
    (RESULTS / "small.md").write_text(_text(rows))


def _text(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Small samples",
        "",
        f"Made by `benchmarks/small.py`: {len(PROBLEMS)} pairs of laws of one column, {rows[0]['runs']} data sets",
        "that differ and as many that do not in each cell. Mean log score at even prior odds (-0.693 is a coin), and",
        "over all nulls of a size the mean BF10 and the share above 20.",
        "",
        f"| rows | {' | '.join(TESTS)} | {' | '.join(f'{name}: null mean, > 20' for name in TESTS)} |",
        f"|---|{'---|' * (2 * len(TESTS))}",
    ]
    sizes = dict.fromkeys((row["n_x"], row["n_y"], row["paired"]) for row in rows)
    for size in sizes:
        of_size = [row["tests"] for row in rows if (row["n_x"], row["n_y"], row["paired"]) == size]
        cells = [f"{size[0]} pairs" if size[2] else f"{size[0]}, {size[1]}"]
        for what, form in (("log_score", "{:.3f}"), ("mean_null", "{:.2f}")):
            for test in TESTS:
                known = [one[test] for one in of_size if test in one]
                if not known:
                    cells.append("–")
                    continue
                text = form.format(np.mean([one[what] for one in known]))
                if what == "mean_null":
                    text += f", {np.mean([one['over_20'] for one in known]):.1%}"
                cells.append(text)
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"Median log BF10 of two normals {APART:g} standard deviations apart:", ""]
    lines += [f"| rows | {' | '.join(TESTS)} |", f"|---|{'---|' * len(TESTS)}"]
    for row in rows:
        if row["problem"] == f"normal by {APART:g}" and not row["paired"]:
            medians = " | ".join(f"{row['tests'][test]['median']:+.1f}" for test in TESTS)
            lines.append(f"| {row['n_x']}, {row['n_y']} | {medians} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
