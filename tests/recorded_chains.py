"""Chains of the sampler in a file, for tests of what is said, drawn and written of them.

``python -m tests.recorded_chains`` samples them anew.
"""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import twosample as ts
from twosample.errors import ConvergenceWarning

FILE = Path(__file__).with_suffix(".json")
HOSTILE = "[red]x$\\frac{1}{0}$"
PAPER = {"model": "paper", "points": 8, "chains": 2, "steps": 160, "burn_in": 40, "hmc_steps": 3}
SHORT = {"model": "adaptive", "points": 8, "chains": 2, "steps": 60, "burn_in": 20}
# Columns, shift of the second sample, options.
CHAINS = {
    "one": (["0"], 1.0, PAPER),
    "several": (["0", "1"], 1.6, PAPER | {"kernel": "ard", "prior_odds": 2.0}),
    "adaptive": (["0"], 1.0, PAPER | {"model": "adaptive"}),
    "short": (["$u"], 1.0, SHORT),
    "short of several": ([HOSTILE, "v" * 99, "\x1b[31m\n$"], 1.0, SHORT | {"kernel": "ard"}),
}


def recorded(name: str) -> ts.GibbsResult:
    """The result of that name, with its evaluation points, which JSON leaves out."""
    content = json.loads(FILE.read_text("utf-8"))[name]
    return replace(ts.GibbsResult.from_json(json.dumps(content["result"])), points=np.array(content["points"]))


def record() -> None:
    import polars as pl

    contents = {}
    for name, (columns, shift, options) in CHAINS.items():
        rng = np.random.default_rng([1, len(columns)])
        x, y = (pl.DataFrame(rng.normal(size=(24, len(columns))) + by, schema=columns) for by in (0.0, shift))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = ts.gibbs(x, y, **options)
        contents[name] = {"result": json.loads(result.to_json()), "points": result.points.tolist()}
    FILE.write_text(json.dumps(contents, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    record()
