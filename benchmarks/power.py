"""All tests on the same data sets, half of them nulls: power at 5 % where they have p-values, else scores of P(H1).

For every alternative of the suite, and for as many pairs of samples of its first law: the share with p ≤ 0.05 (power,
and level in the nulls), and for Bayesian tests the log score and the Brier score of P(H1) at even prior odds, and how
often the samples did differ when P(H1) was in each fifth of [0, 1]. Run with ``python -m benchmarks.power``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import ALTERNATIVES, RESULTS, generator, run_all
from twosample.errors import TwoSampleWarning

ROWS, PERMUTATIONS, LEVEL = 100, 199, 0.05
P_VALUES = {
    "adaptive": lambda x, y: ts.test(x, y, permutations=PERMUTATIONS).pvalue,
    "mmd, median": lambda x, y: ts.baselines.mmd(x, y, permutations=PERMUTATIONS).pvalue,
    "mmd, aggregated": lambda x, y: ts.baselines.mmd(x, y, permutations=PERMUTATIONS, aggregate=True).pvalue,
}
BAYESIAN = {
    "adaptive": lambda x, y: ts.test(x, y).log_bf10,
    "paper": lambda x, y: ts.test(x, y, model="paper").log_bf10,
    "published": lambda x, y: ts.test(x, y, model="published").log_bf10,
    "chen_hanson": lambda x, y: ts.baselines.chen_hanson(x, y).log_bf10,
    "holmes": lambda x, y: ts.baselines.holmes(x, y).log_bf10,
    "jzs": lambda x, y: ts.baselines.jzs(x, y).log_bf10,
}
ONE_COLUMN = ("holmes", "jzs")
Cell = tuple[str, bool, int]


def run_cell(cell: Cell) -> dict[str, dict[str, list[float]]]:
    """P-values and log Bayes factors of every data set of an alternative, or of its null."""
    name, different, runs = cell
    warnings.simplefilter("ignore", TwoSampleWarning)
    found: dict[str, dict[str, list[float]]] = {"p": {}, "log_bf10": {}}
    for run in range(runs):
        rng = generator("power", name, different, run)
        x, y = ALTERNATIVES[name](rng, ROWS)
        if not different:
            y = ALTERNATIVES[name](rng, ROWS)[0]
        for kind, methods in (("p", P_VALUES), ("log_bf10", BAYESIAN)):
            for label, method in methods.items():
                if label not in ONE_COLUMN or x.shape[1] == 1:
                    found[kind].setdefault(label, []).append(float(method(x, y)))
    return found


def scores(h0: list[float], h1: list[float]) -> dict[str, object]:
    """Mean log score and Brier score of P(H1), and the calibration in fifths."""
    log_bf10, truth = np.concatenate([h0, h1]), np.repeat([0.0, 1.0], [len(h0), len(h1)])
    log_prob = np.where(truth == 1.0, -np.logaddexp(0.0, -log_bf10), -np.logaddexp(0.0, log_bf10))
    prob = np.exp(-np.logaddexp(0.0, -log_bf10))
    fifth = np.minimum((5 * prob).astype(int), 4)
    curve = [[int((fifth == k).sum()), int(truth[fifth == k].sum())] for k in range(5)]
    # One data set that is sure of the wrong answer must not be the whole score.
    return {
        "log_score": round(float(np.maximum(log_prob, -20.0).mean()), 3),
        "brier": round(float(np.square(prob - truth).mean()), 3),
        "of_and_different_in_each_fifth": curve,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    cells = [(name, different, arguments.runs) for name in ALTERNATIVES for different in (False, True)]
    found = {cell[:2]: values for cell, values in run_all(run_cell, cells, arguments.jobs)}
    rows = []
    for name in ALTERNATIVES:
        null, alternative = found[name, False], found[name, True]
        rejected = {
            label: {
                "level": round(float(np.mean(np.array(null["p"][label]) <= LEVEL)), 3),
                "power": round(float(np.mean(np.array(alternative["p"][label]) <= LEVEL)), 3),
            }
            for label in P_VALUES
        }
        scored = {label: scores(null["log_bf10"][label], alternative["log_bf10"][label]) for label in null["log_bf10"]}
        rows.append({"alternative": name, "n": ROWS, "runs": arguments.runs, "rejected": rejected, "scores": scored})
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "power.json").write_text(json.dumps(rows, indent=0) + "\n")
    write_table(rows)


def write_table(rows: list[dict]) -> None:
    """The same as a page."""
    lines = [
        f"Share with p ≤ 0.05 of {rows[0]['runs']} data sets with n = {ROWS} (level / power), and log score of",
        "P(H1) over as many nulls and alternatives (0 is perfect, -0.693 is a coin; at worst -20 a data set).",
        "",
        "| | " + " | ".join(f"p: {label}" for label in P_VALUES) + " | " + " | ".join(BAYESIAN) + " |",
        "|---|" + "---|" * (len(P_VALUES) + len(BAYESIAN)),
    ]
    for row in rows:
        rejected = [
            f"{row['rejected'][label]['level']:.2f} / {row['rejected'][label]['power']:.2f}" for label in P_VALUES
        ]
        scored = [f"{row['scores'][label]['log_score']:.2f}" if label in row["scores"] else "" for label in BAYESIAN]
        lines.append(f"| {row['alternative']} | " + " | ".join(rejected + scored) + " |")
    text = "\n".join(lines) + "\n"
    (RESULTS / "power.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
