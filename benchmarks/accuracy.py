"""How accurate one pass over the data is: log BF10 from a grid of lengthscales against one eight times as fine.

For every law of the suite, the same and different, 30 to 20,000 rows: the error of 43 lengthscales on the geometric
grid with local polynomials, of 33 Chebyshev nodes with one polynomial, and how often the estimated error asks for a
second pass or misses that one was needed. Run with ``python -m benchmarks.accuracy`` (ten minutes of two cores).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import math

import numpy as np

from benchmarks.suite import ALTERNATIVES, CHANGES, NULLS, RESULTS, generator, run_all
from twosample.common.threads import cores, one_thread
from twosample.data import Samples
from twosample.inference import grid
from twosample.inference.intervals import Panel, lobatto, masses
from twosample.inference.lengthscale import Curves, LengthscalePosterior
from twosample.kernels import RBF
from twosample.models import PRESETS
from twosample.paper.passes import Passes
from twosample.plan import make_plan

MODEL = PRESETS["adaptive"]
TOLERANCE = 1e-3
FINE_LEVEL = 3
CHEBYSHEV_ORDER = 32
SIZES = {30: 12, 100: 12, 1_000: 8, 20_000: 2}
Cell = tuple[str, int, int]


def draw(cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    """The data set of a cell."""
    name, n, _ = cell
    rng = generator("accuracy", *cell)
    if name in ALTERNATIVES:
        return ALTERNATIVES[name](rng, n)
    law, n_columns, changed = name.split(", ")
    x, y = (NULLS[law](rng, n, int(n_columns)) for _ in range(2))
    if changed == "different":
        y[:, 0] = CHANGES[law](rng, y[:, 0])
    return x, y


def measure(cell: Cell) -> dict[str, float]:
    """Log BF10 by the fine grid, and the errors of the others, relative where it is more than 1."""
    samples = Samples.from_data(*draw(cell))
    plan = make_plan(samples, MODEL, RBF(), 40)
    low, high = np.log(plan.bounds)
    fine = grid.lengthscale_grid(*plan.bounds, FINE_LEVEL)
    nodes = lobatto(low, high, CHEBYSHEV_ORDER)
    curves = Curves(coherent=True)
    with one_thread():
        [evidence] = Passes(samples, plan.features, (MODEL,), None).evidence(np.concatenate([fine, np.exp(nodes)]))
    values = Curves.of(evidence, MODEL.lengthscale)
    on_grid, on_nodes = values[: len(fine)], values[len(fine) :]

    def by_grid(level: int) -> LengthscalePosterior:
        stride = 1 << (FINE_LEVEL - level)
        rule = grid.integrate(
            np.log(fine[::stride]), on_grid[::stride], low, integrands=curves.integrands, tolerance=1e-9
        )
        return LengthscalePosterior(rule, curves)

    best, coarse = by_grid(FINE_LEVEL), by_grid(0)
    truth = best.log_bf10
    scale = max(1.0, abs(truth))
    panel = Panel(low, high, on_nodes)
    log_integrals = masses([panel], curves.integrands)[1]
    pieces, _ = panel.pieces(curves.integrands, log_integrals, 1e-9)
    by_chebyshev = curves.log_bf10(np.logaddexp.reduce(panel.log_masses(curves.integrands, pieces), axis=0))
    return {
        "log_bf10": truth,
        "reference": best.rule.error / scale,
        "grid": abs(coarse.log_bf10 - truth) / scale,
        "estimated": coarse.rule.error / scale,
        "second": abs(by_grid(1).log_bf10 - truth) / scale,
        "chebyshev": abs(by_chebyshev - truth) / scale,
    }


def main() -> None:
    """Measure, print and write."""
    laws = [f"{law}, {d}, {what}" for law in NULLS for d in (1, 2, 10) for what in ("same", "different")]
    cells = [
        (name, n, run)
        for n, runs in SIZES.items()
        for name in [*laws, *ALTERNATIVES]
        for run in range(max(1, runs // 2) if "different" in name else runs)
    ]
    rows = [row for _, row in run_all(measure, cells, cores())]
    errors = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    kept = errors["reference"] < 0.1 * TOLERANCE
    grid_error, estimated = errors["grid"][kept], errors["estimated"][kept]
    again = estimated > TOLERANCE

    def quantiles(values: np.ndarray) -> list[float]:
        return [float(f"{q:.2g}") for q in np.quantile(values, [0.5, 0.9, 0.99, 1.0])]

    results = {
        "data_sets": len(rows),
        "with_a_sure_reference": int(kept.sum()),
        "tolerance": TOLERANCE,
        "quantiles": [0.5, 0.9, 0.99, 1.0],
        "grid_43": quantiles(grid_error),
        "chebyshev_33": quantiles(errors["chebyshev"][kept]),
        "share_beyond_tolerance": {
            "grid_43": round(float((grid_error > TOLERANCE).mean()), 4),
            "chebyshev_33": round(float((errors["chebyshev"][kept] > TOLERANCE).mean()), 4),
        },
        "second_passes": round(float(again.mean()), 4),
        "beyond_tolerance_unnoticed": int((~again & (grid_error > TOLERANCE)).sum()),
        "largest_unnoticed_error": float(f"{grid_error[~again].max():.2g}"),
        "after_the_second_pass": quantiles(errors["second"][kept][again]),
    }
    assert math.isfinite(results["largest_unnoticed_error"])
    print(json.dumps(results, indent=1))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "accuracy.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
