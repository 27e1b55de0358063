"""What other priors than the default's would gain on some differences, and lose on others.

Variants of the default model, on seeds that no other benchmark uses: the log score of P(H1), half nulls and half
alternatives, and the power of log BF10 at the level at which 5 % of the nulls are rejected. Run with
``python -m benchmarks.tradeoff``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from dataclasses import replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import ALTERNATIVES, RESULTS, Array, generator, log_score, run_all
from twosample.models import PRESETS, HalfCauchy, LogUniform, NoiseFloor

ROWS = 100
_ADAPTIVE = PRESETS["adaptive"]
VARIANTS = {
    "default": _ADAPTIVE,
    "amplitude scale 0.1": replace(_ADAPTIVE, amplitude=HalfCauchy(0.1)),
    "amplitude scale 1": replace(_ADAPTIVE, amplitude=HalfCauchy(1.0)),
    "floor 5/n³": replace(_ADAPTIVE, floor=NoiseFloor(5.0, power=3)),
    "floor 500/n³": replace(_ADAPTIVE, floor=NoiseFloor(500.0, power=3)),
    "lengthscales 1/4 to 32": replace(_ADAPTIVE, lengthscale=LogUniform(1 / 4, 32.0)),
}
NAMES = (
    "shift 0.3",
    "shift 0.5",
    "shift 1",
    "scale 1.5",
    "Laplace 0.707",
    "Laplace 1.5",
    "blobs 6",
    "10-D, one column by 0.5",
)
Cell = tuple[str, bool, int]


def run_cell(cell: Cell) -> dict[str, float]:
    """Log BF10 of one data set by every variant."""
    name, different, _ = cell
    warnings.simplefilter("ignore", ts.errors.TwoSampleWarning)
    rng = generator("tradeoff", *cell)
    x, y = ALTERNATIVES[name](rng, ROWS)
    if not different:
        y = ALTERNATIVES[name](rng, ROWS)[0]
    return {label: ts.test(x, y, model=model).log_bf10 for label, model in VARIANTS.items()}


def judge(h0: Array, h1: Array) -> tuple[float, float]:
    """Log score, and power at the 5 % quantile of the nulls."""
    score = 0.5 * (log_score(h0, False).mean() + log_score(h1, True).mean())
    return round(float(score), 3), round(float((h1 > np.quantile(h0, 0.95)).mean()), 3)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    cells = [(name, different, run) for name in NAMES for different in (False, True) for run in range(arguments.runs)]
    found: dict[tuple[str, bool], list[dict[str, float]]] = {}
    for (name, different, _), values in run_all(run_cell, cells, arguments.jobs):
        found.setdefault((name, different), []).append(values)
    table = {
        label: {
            name: judge(*(np.array([run[label] for run in found[name, truth]]) for truth in (False, True)))
            for name in NAMES
        }
        for label in VARIANTS
    }
    lines = [
        f"Log score / power of variants of the default model, n = {ROWS}, {arguments.runs} nulls and alternatives.",
        "",
        "| | " + " | ".join(NAMES) + " | mean |",
        "|---|" + "---|" * (len(NAMES) + 1),
    ]
    for label, row in table.items():
        values = [*row.values(), tuple(np.mean(list(row.values()), axis=0))]
        lines.append(f"| {label} | " + " | ".join(f"{score:.2f} / {power:.2f}" for score, power in values) + " |")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "tradeoff.json").write_text(json.dumps(table, indent=0) + "\n")
    (RESULTS / "tradeoff.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
