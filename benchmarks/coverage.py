"""How often the witness's 90 % band covers the truth: N(0,1) against N(0.7,1), where the witness is known.

Pointwise, at eleven locations, with the lengthscale fixed (the witness is a different function at every lengthscale).
Run with ``python -m benchmarks.coverage``.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.suite import RESULTS, generator

AT = np.linspace(-2.0, 3.0, 11)
RUNS = 100


def true_witness(lengthscale: float) -> np.ndarray:
    """Difference of the two mean embeddings: Gaussians of variance ℓ² + 1."""
    variance = lengthscale**2 + 1.0
    embeddings = (np.exp(-((AT - mean) ** 2) / (2.0 * variance)) for mean in (0.0, 0.7))
    return (next(embeddings) - next(embeddings)) * lengthscale / np.sqrt(variance)


def main() -> None:
    """Measure, print and write."""
    rows = []
    for n in (30, 100, 300, 1000):
        for lengthscale in (0.5, 1.0, 2.0):
            truth, inside = true_witness(lengthscale), []
            for run in range(RUNS):
                rng = generator("coverage", n, lengthscale, run)
                result = ts.test(rng.normal(size=n), rng.normal(0.7, 1.0, n), lengthscale=lengthscale)
                low, high = result.witness(AT).band(0.9)
                inside.append((low <= truth) & (truth <= high))
            rows.append({"n": n, "lengthscale": lengthscale, "coverage": round(float(np.mean(inside)), 3)})
            print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "coverage.json").write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
