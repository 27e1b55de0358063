"""One sample against a law: calibration and level, and power against Kolmogorov–Smirnov and a Stein discrepancy.

Run with ``python -m benchmarks.goodness``; it takes half an hour on one core.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator
from twosample.errors import TwoSampleWarning

LAWS = {"norm(0, 1)": stats.norm(0, 1), "t(3)": stats.t(3), "expon()": stats.expon(), "poisson(3)": stats.poisson(3)}
# Rare Bayes factors above 20 are counted where there are most rows.
NULL_RUNS = {10: 80, 20: 80, 50: 80, 200: 200}
# Heavy tails, and what few rows have: there rare data sets decide the mean.
HARD_RUNS = 600
HARD: dict[tuple[str, int], Any] = {
    ("t(3)", 20): stats.t(3),
    ("t(3)", 100): stats.t(3),
    ("poisson(0.4)", 20): stats.poisson(0.4),
    ("poisson(0.4)", 80): stats.poisson(0.4),
    ("lognorm(2)", 50): stats.lognorm(2),
    ("two exponential columns, simulated", 80): lambda n, rng: rng.exponential(size=(n, 2)),
    ("two lognormal columns, simulated", 40): lambda n, rng: rng.lognormal(0, 2, (n, 2)),
}
LEVEL_SIZES, LEVEL_RUNS = (20, 100), 100
SIZES, RUNS, SIMULATIONS, NULLS_OF_STEIN = (20, 50, 200, 500), 30, 99, 999
PROBLEMS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "t(5), variance 1": lambda rng, n: rng.standard_t(5, n) * np.sqrt(0.6),
    "Laplace, variance 1": lambda rng, n: rng.laplace(scale=np.sqrt(0.5), size=n),
    "shift 0.3": lambda rng, n: rng.normal(0.3, 1, n),
    "spread times 1.3": lambda rng, n: rng.normal(0, 1.3, n),
    "two bumps, variance 1": lambda rng, n: rng.normal(0, 0.6, n) + np.where(rng.random(n) < 0.5, 0.8, -0.8),
}


def rows_of(law: Any, n: int, rng: np.random.Generator) -> Array:
    """Rows of a distribution, or of a simulator."""
    return np.asarray(law.rvs(n, random_state=rng) if hasattr(law, "rvs") else law(n, rng))


def nulls() -> list[dict[str, Any]]:
    """Mean Bayes factor and share above 20 where the law is right."""
    found = []
    usual = [(name, law, n, NULL_RUNS[n]) for (name, law), n in product(LAWS.items(), NULL_RUNS)]
    hard = [(name, law, n, HARD_RUNS) for (name, n), law in HARD.items()]
    for name, law, n, runs in usual + hard:
        logs = []
        for run in range(runs):
            rng = generator("goodness null", name, n, run)
            logs.append(ts.goodness(rows_of(law, n, rng), law, draws=5000).log_bf10)
        bf10 = np.exp(logs)
        found.append({"law": name, "n": n, "runs": len(logs), "mean_bf10": float(bf10.mean())})
        found[-1] |= {"above_20": float((bf10 > 20).mean()), "median_log_bf10": float(np.median(logs))}
        print(found[-1], flush=True)
    return found


def levels() -> list[dict[str, Any]]:
    """Share of p-values up to 0.05 where the law is right: a distribution, and a simulator."""
    found = []
    laws: dict[str, Any] = {"norm(0, 1)": LAWS["norm(0, 1)"], "a simulator": lambda n, rng: rng.gamma(2.0, size=n)}
    for (name, law), n in product(laws.items(), LEVEL_SIZES):
        pvalues = []
        for run in range(LEVEL_RUNS):
            rng = generator("goodness level", name, n, run)
            x = rows_of(law, n, rng)
            pvalues.append(ts.goodness(x, law, simulations=19, draws=2000, rng=run).pvalue)
        share = float(np.mean(np.array(pvalues) <= 0.05))
        found.append({"law": name, "n": n, "runs": LEVEL_RUNS, "level": share})
        print(found[-1], flush=True)
    return found


def stein(x: Array) -> float:
    """The kernel Stein discrepancy from N(0, 1), with the kernel (1 + d²)^(-1/2), as a V-statistic."""
    d = x[:, np.newaxis] - x
    base = 1.0 + d * d
    kernel = base**-0.5
    slope = d * base**-1.5  # by the second argument; less that by the first
    second = base**-1.5 - 3.0 * d * d * base**-2.5
    scores = -x
    total = np.outer(scores, scores) * kernel + scores[:, np.newaxis] * slope - scores * slope + second
    return float(total.mean())


def power() -> list[dict[str, Any]]:
    """Share of data sets with a p-value up to 0.05, against N(0, 1)."""
    found = []
    law = LAWS["norm(0, 1)"]
    for n in SIZES:
        rng = generator("goodness stein", n)
        of_nulls = np.array([stein(rng.normal(size=n)) for _ in range(NULLS_OF_STEIN)])
        for name, draw in PROBLEMS.items():
            pvalues: dict[str, list[float]] = {"goodness": [], "Kolmogorov-Smirnov": [], "Stein": []}
            sure = []
            for run in range(RUNS):
                x = draw(generator("goodness power", name, n, run), n)
                result = ts.goodness(x, law, simulations=SIMULATIONS, rng=run)
                pvalues["goodness"].append(result.pvalue)
                sure.append(result.prob_h1)
                pvalues["Kolmogorov-Smirnov"].append(float(stats.kstest(x, law.cdf).pvalue))
                above = int((of_nulls >= stein(x)).sum())
                pvalues["Stein"].append((1 + above) / (1 + NULLS_OF_STEIN))
            shares = {test: float(np.mean(np.array(values) <= 0.05)) for test, values in pvalues.items()}
            found.append({"problem": name, "n": n, "runs": RUNS, "power": shares})
            found[-1]["median_prob_h1"] = float(np.median(sure))
            print(found[-1], flush=True)
    return found


def _text(found: dict[str, Any]) -> str:
    lines = [
        "# One sample against a law",
        "",
        "Made by `benchmarks/goodness.py`. Samples of n rows from the law itself:",
        "",
        "| law | n | data sets | mean BF10 | share of BF10 > 20 | median log BF10 |",
        "|---|---|---|---|---|---|",
    ]
    for row in found["nulls"]:
        cells = (row["law"], row["n"], row["runs"], f"{row['mean_bf10']:.2f}", f"{row['above_20']:.1%}")
        lines.append(f"| {' | '.join(map(str, cells))} | {row['median_log_bf10']:.2f} |")
    lines += [
        "",
        "The share of p-values up to 0.05 there (19 simulated data sets):",
        "",
        "| law | n | data sets | share |",
        "|---|---|---|---|",
        *(f"| {row['law']} | {row['n']} | {row['runs']} | {row['level']:.3f} |" for row in found["levels"]),
        "",
        f"Share of {RUNS} samples that are not from N(0, 1) with p up to 0.05 ({SIMULATIONS} simulated data sets; the",
        "kernel Stein discrepancy has 999), and the median of P(different):",
        "",
        "| sample | n | `goodness` | Kolmogorov–Smirnov | Stein | P(different) |",
        "|---|---|---|---|---|---|",
    ]
    for row in sorted(found["power"], key=lambda row: (list(PROBLEMS).index(row["problem"]), row["n"])):
        shares = " | ".join(f"{row['power'][test]:.2f}" for test in ("goodness", "Kolmogorov-Smirnov", "Stein"))
        lines.append(f"| {row['problem']} | {row['n']} | {shares} | {row['median_prob_h1']:.3f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    found = {"nulls": nulls(), "levels": levels(), "power": power()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "goodness.json").write_text(json.dumps(found, indent=0) + "\n")
    (RESULTS / "goodness.md").write_text(_text(found))


if __name__ == "__main__":
    main()
