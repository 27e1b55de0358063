"""How often the 90 % interval of the AUC covers the truth: the AUC of the best score, known for these samples.

The best score is the density ratio, and the witness orders rows nearly as it does. `coverage` is of the interval with
its spike at 0.5, and `given_different` of the one between the same quantiles without it.
Run with ``python -m benchmarks.effect``.
"""

from __future__ import annotations

import json
import math
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.special import ndtr

import twosample as ts
from benchmarks.suite import RESULTS, Array, Pair, generator, run_all, scale, shift
from twosample.inference import effect

RUNS = 100
SIZES = (50, 200, 1000, 5000)


def stretched(factor: float) -> Pair:
    """Exponential against the same times a factor."""
    return lambda rng, n: (rng.exponential(size=(n, 1)), factor * rng.exponential(size=(n, 1)))


def of_shift(size: float) -> float:
    return float(ndtr(size / math.sqrt(2.0)))


CASES: dict[str, tuple[Pair, float]] = {
    **{f"shift {size:g}": (shift(size), of_shift(size)) for size in (0.0, 0.2, 0.5, 1.0)},
    "scale 1.5": (scale(1.5), 2.0 / math.pi * math.atan(1.5)),
    "exponential 1.5": (stretched(1.5), 0.6),
    "5-D, one column by 0.5": (shift(0.5, 5), of_shift(0.5)),
    "5-D, one column by 1": (shift(1.0, 5), of_shift(1.0)),
}


def effect_of(x: Array, y: Array) -> effect.Effect:
    """What the test says."""
    found = ts.test(x, y).effect
    assert found is not None
    return found


def measure(cell: tuple[str, int]) -> dict[str, object]:
    """One kind of samples at one size."""
    name, n = cell
    draw, truth = CASES[name]
    rows = []
    for run in range(RUNS):
        auc = effect_of(*draw(generator("effect", name, n, run), n)).auc
        low, high = auc.interval(0.9)
        if_different = auc.given_different(0.05) <= truth <= auc.given_different(0.95)
        rows.append((low <= truth <= high, if_different, low > truth, high < truth, auc.mean, high - low, auc.prob_h1))
    names = ("coverage", "given_different", "too_high", "too_low", "mean", "width", "prob_h1")
    means = np.mean(rows, axis=0).tolist()
    return {"case": name, "n": n, "truth": round(truth, 4)} | {
        name: round(value, 3) for name, value in zip(names, means, strict=True)
    }


def main() -> None:
    """Measure, print and write."""
    cells = [(name, n) for name in CASES for n in SIZES]
    rows = []
    for _, row in run_all(measure, cells, jobs=len(os.sched_getaffinity(0))):
        rows.append(row)
        print(row, flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "effect.json").write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    main()
