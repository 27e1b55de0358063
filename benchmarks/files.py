"""How long files take to read: typed tables with places of bad cells, against bare pandas and polars, in turns.

    python -m benchmarks.files

Times are of the processor (user and system, all threads), medians of three turns; ratios are of turns side by side.
Wide files have 200 rows, as tables of genes do; 5,000 against 20,000 columns shows whether time grows in proportion.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

from twosample.data.files.table import read_table

RESULTS = Path(__file__).parent / "results"


def write(path: Path, n: int, width: int, padding: str = "", bad: bool = False) -> None:
    """A CSV file of numbers with two decimals, with a cell that is none in the last row, if asked for."""
    rows = np.round(np.random.default_rng(n).normal(0, 10, (n, width)), 2).astype(str)
    if bad:
        rows[-1, 0] = "<0.1"
    lines = [[f"g{column}" for column in range(width)], *rows.tolist()]
    path.write_text("\n".join(f",{padding}".join(line) for line in lines) + "\n")


def seconds(read: Callable[[], object]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    read()
    return time.process_time() - start


def main() -> None:
    """Measure, print and write everything."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for case, n, width, padding, bad in (
            ("plain", 200, 5_000, "", False),
            ("plain", 200, 20_000, "", False),
            ("a blank after each comma", 200, 20_000, " ", False),
            ("one cell that is no number", 200, 20_000, "", True),
            ("plain", 1_000_000, 10, "", False),
        ):
            write(path, n, width, padding, bad)
            readers: dict[str, Callable[[], object]] = {
                "twosample": lambda: read_table(path),
                "polars": lambda: pl.read_csv(path, infer_schema_length=None),
                "pandas": lambda: pd.read_csv(path),
            }
            turns = [{name: seconds(read) for name, read in readers.items()} for _ in range(3)]
            row: dict[str, object] = {"case": case, "rows": n, "columns": width}
            row |= {f"{name}_seconds": round(statistics.median(turn[name] for turn in turns), 2) for name in readers}
            for other in ("polars", "pandas"):
                ratios = (turn["twosample"] / turn[other] for turn in turns)
                row[f"ratio_to_{other}"] = round(statistics.median(ratios), 2)
            results.append(row)
            print(row, flush=True)
    (RESULTS / "files.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
