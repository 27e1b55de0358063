"""Several groups: calibration of the Bayes factor, accuracy of the partition, and power against other tests.

Run with ``python -m benchmarks.ksample``; it takes a quarter of an hour on one core.
"""

from __future__ import annotations

import json
import os
import warnings
from itertools import product
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import twosample as ts
from benchmarks.suite import NULLS, RESULTS, generator
from twosample.errors import TwoSampleWarning

LAWS = ("gaussian", "t2", "exponential", "rounded")
SIZES = (10, 20, 50, 200)
NULL_RUNS = {3: 100, 5: 30}
PARTITION_SIZES, PARTITION_RUNS = (50, 100, 200, 400, 800), 15
TRUTH, SHIFTS = (0, 0, 1, 0, 2), (0.0, 0.0, 0.6, 0.0, 1.0)
POWER_RUNS, POWER_ROWS, PERMUTATIONS = 60, 50, 99
# What becomes of the third of three groups of standard normal rows.
PROBLEMS = {
    "the same": lambda rows: rows,
    "shift 0.6": lambda rows: rows + 0.6,
    "spread times 1.7": lambda rows: 1.7 * rows,
    "two bumps": lambda rows: 0.6 * rows + np.where(np.arange(len(rows)) % 2, 0.8, -0.8),
    "skewed": lambda rows: (np.exp(0.8 * rows) - np.exp(0.32)) / 1.3,
}


def nulls() -> list[dict[str, Any]]:
    """Mean Bayes factor and share above 20 where all groups are alike."""
    found = []
    for k, law, n in product(NULL_RUNS, LAWS, SIZES):
        logs = []
        for run in range(NULL_RUNS[k]):
            rng = generator("ksample null", k, law, n, run)
            logs.append(ts.ksample([NULLS[law](rng, n, 1) for _ in range(k)]).log_bf10)
        bf10 = np.exp(logs)
        found.append({"k": k, "law": law, "n": n, "runs": len(logs), "mean_bf10": float(bf10.mean())})
        found[-1] |= {"above_20": float((bf10 > 20).mean()), "median_log_bf10": float(np.median(logs))}
        print(found[-1], flush=True)
    return found


def partitions() -> list[dict[str, Any]]:
    """How often the likeliest partition is the true one, and how likely the true one is."""
    found = []
    truth = tuple(tuple(str(g) for g in range(5) if TRUTH[g] == block) for block in range(3))
    for n in PARTITION_SIZES:
        first, posterior = [], []
        for run in range(PARTITION_RUNS):
            rng = generator("ksample partition", n, run)
            result = ts.ksample([rng.normal(shift, 1, n) for shift in SHIFTS])
            first.append(result.partitions[0].groups == truth)
            posterior += [row.posterior for row in result.partitions if row.groups == truth]
        found.append({"n": n, "runs": PARTITION_RUNS, "likeliest": float(np.mean(first))})
        found[-1]["mean_posterior"] = float(np.mean(posterior))
        print(found[-1], flush=True)
    return found


def power() -> list[dict[str, Any]]:
    """Share of data sets with a p-value up to 0.05, of three groups of which one may differ."""
    found = []
    for name, change in PROBLEMS.items():
        pvalues: dict[str, list[float]] = {"ksample": [], "Anderson-Darling": [], "Kruskal": []}
        sure = []
        for run in range(POWER_RUNS):
            rng = generator("ksample power", name, run)
            groups = list(rng.normal(size=(3, POWER_ROWS)))
            groups[2] = change(groups[2])
            result = ts.ksample(groups, permutations=PERMUTATIONS)
            pvalues["ksample"].append(result.pvalue)
            sure.append(result.prob_h1)
            pvalues["Anderson-Darling"].append(_anderson(groups))
            pvalues["Kruskal"].append(float(stats.kruskal(*groups).pvalue))
        shares = {test: float(np.mean(np.array(values) <= 0.05)) for test, values in pvalues.items()}
        found.append({"problem": name, "n": POWER_ROWS, "runs": POWER_RUNS, "power": shares})
        found[-1]["median_prob_h1"] = float(np.median(sure))
        print(found[-1], flush=True)
    return found


def _anderson(groups: list[np.ndarray]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # beyond its table, and of a change to come
        return float(stats.anderson_ksamp(groups).pvalue)


def _text(found: dict[str, Any]) -> str:
    lines = [
        "# Several groups",
        "",
        "Made by `benchmarks/ksample.py`. Groups of n rows that are all alike:",
        "",
        "| groups | law | n | data sets | mean BF10 | share of BF10 > 20 | median log BF10 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["nulls"]:
        cells = (row["k"], row["law"], row["n"], row["runs"], f"{row['mean_bf10']:.2f}", f"{row['above_20']:.1%}")
        lines.append(f"| {' | '.join(map(str, cells))} | {row['median_log_bf10']:.2f} |")
    lines += [
        "",
        "Five groups of n standard normal rows, of which three are alike, one is shifted by 0.6 and one by 1. How",
        "often the likeliest of the 52 partitions is the true one, and the mean of the probability of the true one:",
        "",
        "| n | data sets | likeliest is true | P(true one) |",
        "|---|---|---|---|",
    ]
    for row in found["partitions"]:
        lines.append(f"| {row['n']} | {row['runs']} | {row['likeliest']:.2f} | {row['mean_posterior']:.2f} |")
    lines += [
        "",
        f"Three groups of {POWER_ROWS} rows, of which one may differ: share of {POWER_RUNS} data sets with p up to",
        f"0.05 ({PERMUTATIONS} permutations), and the median of P(not all alike):",
        "",
        "| the third group | `ksample` | Anderson–Darling | Kruskal–Wallis | P(not all alike) |",
        "|---|---|---|---|---|",
    ]
    for row in found["power"]:
        shares = " | ".join(f"{row['power'][test]:.2f}" for test in ("ksample", "Anderson-Darling", "Kruskal"))
        lines.append(f"| {row['problem']} | {shares} | {row['median_prob_h1']:.3f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    found = {"partitions": partitions(), "power": power(), "nulls": nulls()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ksample.json").write_text(json.dumps(found, indent=0) + "\n")
    (RESULTS / "ksample.md").write_text(_text(found))


if __name__ == "__main__":
    main()
