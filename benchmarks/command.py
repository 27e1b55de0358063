"""How long the command takes to answer, beside what it cannot do without: SciPy, polars, and the two files.

    python -m benchmarks.command

Two CSV files of 1,000 rows and 2 columns. Each is a process of its own, in turns; times are of the processor (user and
system) and of the clock, and a ratio is of medians over all turns. What is compiled to bytecode is compiled before.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.suite import RESULTS, generator

TURNS = 15
BARE = "import scipy.linalg, scipy.special, polars; [polars.read_csv(path) for path in ('a.csv', 'b.csv')]"
COMMANDS = {
    "test": [sys.executable, "-m", "twosample", "test", "a.csv", "b.csv"],
    "bare": [sys.executable, "-c", BARE],
}


def seconds(command: list[str], folder: str, bytecode: str) -> tuple[float, float]:
    """Time by the clock, and of the processor, of a process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": bytecode, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Measure, print and write."""
    results: dict[str, float] = {"rows": 1000, "columns": 2, "turns": TURNS}
    with tempfile.TemporaryDirectory() as folder:
        for name, spread in (("a", 1.0), ("b", 1.2)):
            rows = generator("command", name).normal(scale=spread, size=(1000, 2))
            np.savetxt(Path(folder, f"{name}.csv"), rows, fmt="%.6f", delimiter=",", header="u,v", comments="")
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
        for turn in range(TURNS + 1):
            for name, command in COMMANDS.items():
                taken = seconds(command, folder, f"{folder}/bytecode")
                if turn:  # the first one compiles
                    times[name].append(taken)
    for index, kind in enumerate(("clock", "processor")):
        medians = {name: statistics.median(taken[index] for taken in of) for name, of in times.items()}
        results |= {f"{name}_{kind}_ms": round(1e3 * value) for name, value in medians.items()}
        results[f"{kind}_ratio"] = round(medians["test"] / medians["bare"], 2)
    print(results)
    (RESULTS / "command.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
