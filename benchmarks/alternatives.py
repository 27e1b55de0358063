"""What each model says of samples that do differ, side by side on the same data sets, and how it compares on the score.

For every alternative and sample size: the median log BF10 and the share of data sets with log BF10 > log 3, for the
three presets and for the starting point of the default model (its `first` version: stationary prior, amplitude scale
0.2, floor 4/n², 20 + 20 random points). The log score takes half nulls and half alternatives. A last table shows how
far log BF10 moves with the choice of points. Run with ``python -m benchmarks.alternatives``.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import ALTERNATIVES, NULLS, RESULTS, generator, log_score, run_all
from twosample.models import PRESETS, HalfCauchy, LogUniform, NoiseFloor

SIZES = (50, 200, 800)
# The pseudo-likelihood models take seconds a test; they see only this share of the data sets.
SHARE_OF_SLOW = 3
FIRST = replace(
    PRESETS["adaptive"],
    name="first",
    lengthscale=LogUniform(0.03, 4.0),
    amplitude=HalfCauchy(0.2),
    measure="lebesgue",
    floor=NoiseFloor(4.0, power=2),
    student=False,
    shrinkage=20.0,
)
MODELS = {"adaptive": "adaptive", "first": FIRST, "paper": "paper", "published": "published"}
SEEDS = 50
Cell = tuple[str, str, int, int]


def random_points(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Twenty rows of each sample."""
    return np.concatenate([rng.choice(x, 20, replace=False), rng.choice(y, 20, replace=False)])


def run_cell(cell: Cell) -> dict[str, list[float]]:
    """Log BF10 of every data set, for every model (for nulls only of the default and its starting point)."""
    kind, name, n, runs = cell
    values: dict[str, list[float]] = {model: [] for model in MODELS}
    for run in range(runs):
        rng = generator(*cell[:3], run)
        if kind == "null":
            family, n_columns = name.rsplit(" ", 1)
            x, y = (NULLS[family](rng, n, int(n_columns)) for _ in range(2))
        else:
            x, y = ALTERNATIVES[name](rng, n)
        points = random_points(rng, x, y)
        for label, model in MODELS.items():
            if label in ("paper", "published") and (kind == "null" or run % SHARE_OF_SLOW):
                continue
            chosen = points if label in ("first", "published", "paper") else 40
            values[label].append(ts.test(x, y, model=model, points=chosen).log_bf10)
    return values


def run_spread(name: str) -> dict[str, float]:
    """Spread of log BF10 over 50 draws of random points, beside what the default choice gives."""
    x, y = ALTERNATIVES[name](generator("spread", name), 200)
    draws = [ts.test(x, y, points=random_points(generator("points", seed), x, y)).log_bf10 for seed in range(SEEDS)]
    default = [ts.test(x, y, rng=seed).log_bf10 for seed in range(SEEDS)]
    return {
        "alternative": name,
        "default": round(default[0], 2),
        "default_sd_over_seeds": round(float(np.std(default)), 6),
        "random_mean": round(float(np.mean(draws)), 2),
        "random_sd": round(float(np.std(draws)), 2),
        "random_low": round(min(draws), 2),
        "random_high": round(max(draws), 2),
    }


def main() -> None:
    """Run every cell, print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    cells: list[Cell] = [("alternative", name, n, options.runs) for name in ALTERNATIVES for n in SIZES]
    cells += [("null", f"{family} {d}", n, options.runs) for family in NULLS for d in (1, 10) for n in SIZES]
    cells.sort(key=lambda cell: -cell[2])
    rows = []
    for (kind, name, n, _), values in run_all(run_cell, cells, options.jobs):
        for label, logs in values.items():
            if logs:
                rows.append(
                    {
                        "kind": kind,
                        "data": name,
                        "n": n,
                        "model": label,
                        "median_log_bf10": round(float(np.median(logs)), 2),
                        "share_over_3": round(float(np.mean(np.array(logs) > np.log(3))), 3),
                        "log_score": round(float(log_score(np.array(logs), kind == "alternative").mean()), 4),
                    }
                )
        print(kind, name, n, flush=True)
    spread = [row for _, row in run_all(run_spread, list(ALTERNATIVES), options.jobs)]
    RESULTS.mkdir(exist_ok=True)
    content = {"runs": options.runs, "cells": rows, "points": spread}
    (RESULTS / "alternatives.json").write_text(json.dumps(content, indent=0) + "\n")
    text = _report(rows, spread, options.runs)
    (RESULTS / "alternatives.md").write_text(text)
    print(text)


def _report(rows: list[dict], spread: list[dict], runs: int) -> str:
    table = {(row["data"], row["n"], row["model"]): row for row in rows}
    lines = [
        "# Alternatives",
        "",
        f"Median log BF10 and, in brackets, the share of data sets with log BF10 > log 3, over {runs} data sets",
        "a cell, the same for every model. `first` is where the default model started; it, `paper` and `published`",
        f"have 20 random rows of each sample as points; the last two see one in {SHARE_OF_SLOW} of the data sets.",
        "Made by `benchmarks/alternatives.py`.",
        "",
        "| data | n | " + " | ".join(MODELS) + " |",
        "|---|---|" + "---|" * len(MODELS),
    ]
    for name in ALTERNATIVES:
        for n in SIZES:
            entries = [table[name, n, label] for label in MODELS]
            shown = (f"{row['median_log_bf10']:+.1f} ({row['share_over_3'] * 100:.0f} %)" for row in entries)
            lines.append(f"| {name} | {n} | " + " | ".join(shown) + " |")
    lines += [
        "",
        "## Log score",
        "",
        "Mean log P(truth) at prior odds 1; half nulls, half alternatives.",
        "",
    ]
    lines += ["| model | alternatives | nulls | together |", "|---|---|---|---|"]
    for label in ("adaptive", "first"):
        scores = [
            np.mean([row["log_score"] for row in rows if row["kind"] == kind and row["model"] == label])
            for kind in ("alternative", "null")
        ]
        lines.append(f"| {label} | {scores[0]:.3f} | {scores[1]:.3f} | {np.mean(scores):.3f} |")
    lines += [
        "",
        "## How far log BF10 moves with the points",
        "",
        f"One data set each, n = 200: the default points, which no seed changes, and {SEEDS} random choices.",
        "",
        "| data | default points | sd over 50 seeds | random points: mean | sd | range |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['alternative']} | {row['default']:+.2f} | {row['default_sd_over_seeds']:g} "
        f"| {row['random_mean']:+.2f} | {row['random_sd']:.2f} "
        f"| {row['random_low']:+.1f} to {row['random_high']:+.1f} |"
        for row in spread
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
