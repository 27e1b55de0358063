"""Time of the sampler beside quadrature, which gives the same answer for one lengthscale, in one run.

For each size the two are taken in turns on the same data, with the paper's options (2,000 Gibbs steps, of which a part
is timed), the paper's model and 40 evaluation points. Run with ``python -m benchmarks.gibbs``.
"""

from __future__ import annotations

import json
import os
import statistics
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import twosample as ts
from benchmarks.suite import RESULTS, generator, seconds
from twosample.errors import TwoSampleWarning

STEPS, SHORT, LONG, ROUNDS = 2000, 40, 140, 3
SIZES = [(n, columns) for n in (200, 800) for columns in (1, 2)]


def measure(n: int, columns: int) -> dict[str, float]:
    """Seconds of a Gibbs step of one chain, of a whole test, of the compilation, and of quadrature."""
    rng = generator("gibbs", n, columns)
    x, y = rng.normal(size=(n, columns)), 1.3 * rng.normal(size=(n, columns))

    def run(steps: int, chains: int) -> None:
        ts.gibbs(x, y, model="paper", chains=chains, steps=steps, burn_in=20, early_stop=False)

    compilation = seconds(lambda: run(SHORT, 1))
    one, four, exact = [], [], []
    for _ in range(ROUNDS):
        for chains, found in ((1, one), (4, four)):
            # The difference of two lengths leaves out what every run costs.
            short, long = (seconds(lambda: run(steps, chains)) for steps in (SHORT, LONG))  # noqa: B023
            found.append((long - short) / (LONG - SHORT))
        exact.append(seconds(lambda: ts.test(x, y, model="paper")))
    step, steps_of_four, quadrature = (statistics.median(found) for found in (one, four, exact))
    return {
        "n": n,
        "columns": columns,
        "seconds_per_step_one_chain": round(step, 5),
        "seconds_per_step_four_chains": round(steps_of_four, 5),
        "seconds_first_call": round(compilation, 2),
        "seconds_per_test_one_chain": round(step * STEPS, 2),
        "seconds_per_test_four_chains": round(steps_of_four * STEPS, 2),
        "seconds_quadrature": round(quadrature, 4),
        "one_chain_over_quadrature": round(step * STEPS / quadrature, 1),
    }


def main() -> None:
    """Measure, print and write."""
    warnings.simplefilter("ignore", TwoSampleWarning)
    rows = []
    for size in SIZES:
        rows.append(measure(*size))
        print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "gibbs.json").write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
