"""Power and level, times, and sizes of reports: the same data for every program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.catalogue import PEERS, Peer
from benchmarks.peers.environments import Environment
from benchmarks.problems import columns_of, problems
from benchmarks.suite import generator, log_score

LEVEL = 0.05
# Shifts, spread, shape, two bumps, tails, counts and zeros; few or all of several columns, and how they go together.
PROBLEMS = (
    "shift 0.5",
    "scale 1.5",
    "Laplace 0.707",
    "mixture at 0 and 4, sd 2",
    "lognormal, σ = 2, times e",
    "Cauchy by 0.7",
    "Poisson against negative binomial",
    "zeros, 80 % against 60 %",
    "correlation 0.5, 2-D",
    "blobs 6",
    "correlation 0.7 in one pair of 5-D",
    "10-D, one column by 0.5",
    "1 of 10 columns, scale 1.7",
    "all of 10 columns by 0.15",
)
SIZES, COLUMNS = (200, 2_000, 20_000, 1_000_000), (1, 10)
REPORT_ROWS, REPORT_COLUMNS = 10_000, 20
# One data set that is sure of the wrong answer must not be the whole score (as in `benchmarks.power`).
WORST_LOG_SCORE = -20.0

Row = dict[str, Any]
Environments = dict[str, Environment]


def available(environments: Environments) -> list[Peer]:
    return [peer for peer in PEERS if peer.name in environments]


def draw(folder: Path, name: str, different: bool, runs: int) -> Path:
    """A file with the data sets of a problem; its seeds are used nowhere else."""
    problem = problems()[name]
    pairs = [
        (problem.different if different else problem.same)(generator("peers", name, different, run), problem.rows)
        for run in range(runs)
    ]
    path = folder / f"{PROBLEMS.index(name)}-{'different' if different else 'same'}.npz"
    np.savez(path, x=np.stack([x for x, _ in pairs]), y=np.stack([y for _, y in pairs]))
    return path


def rejected(line: Row, kind: str) -> float:
    """Whether a test rejects; one that gives no answer does not."""
    if kind == "p" and "p" in line:
        return float(line["p"] <= LEVEL)
    return float(line.get(kind, 0.0))


def summarise(found: dict[bool, list[Row]], kind: str) -> Row:
    """Level and power with their standard errors, and how often there was no answer."""
    row: Row = {}
    for what, different in (("level", False), ("power", True)):
        shares = [rejected(line, kind) for line in found[different]]
        row[what] = round(float(np.mean(shares)), 3)
        row[f"{what}_se"] = round(float(np.std(shares) / np.sqrt(len(shares))), 3)
    refused = [line["error"] for lines in found.values() for line in lines if "error" in line]
    return row | ({"no_answer": len(refused), "error": refused[0]} if refused else {})


def scores(found: dict[bool, list[Row]]) -> Row:
    """Mean log score of P(H1) at even prior odds, over data sets that differ and as many that do not."""
    values = [
        np.maximum(log_score(np.array([line["log_bf10"] for line in lines]), different), WORST_LOG_SCORE)
        for different, lines in found.items()
    ]
    pooled = np.concatenate(values)
    return {
        "log_score": round(float(pooled.mean()), 3),
        "log_score_se": round(float(pooled.std() / np.sqrt(len(pooled))), 3),
    }


def power(environments: Environments, folder: Path, runs: int, names: tuple[str, ...] = PROBLEMS) -> list[Row]:
    """One row for every problem, test and way to decide."""
    files = {
        (name, different): str(draw(folder, name, different, runs)) for name in names for different in (False, True)
    }
    rows: list[Row] = []
    for peer in available(environments):
        tests = [
            test
            for test in peer.tests
            if test not in peer.slow
            and (peer.name, test) != ("twosample", "test")  # the one with a p-value says the same, and more
        ]
        for test in tests:
            fitting = [name for name in names if columns_of(name) == 1 or test not in peer.one_column]
            data = [files[name, different] for name in fitting for different in (False, True)]
            lines, why = environments[peer.name].ask(tests=[test], data=data) if data else ([], "")
            for name in fitting:
                found = {
                    different: [line for line in lines if line["data"] == files[name, different]]
                    for different in (False, True)
                }
                about = {"problem": name, "columns": columns_of(name), "rows": problems()[name].rows, "runs": runs}
                about |= {"peer": peer.name, "test": test}
                complete = min(map(len, found.values())) == runs
                rows += decisions(about, found) if complete else [about | {"stopped": why or "it ended early"}]
            print(f"power: {peer.name} {test}", flush=True)
    return rows


def decisions(about: Row, found: dict[bool, list[Row]]) -> list[Row]:
    """A row for the answer of a test, and one for another way to read it, where there is one."""
    lines = found[False] + found[True]
    kinds = [kind for kind in ("p", "rejects", "any_column") if any(kind in line for line in lines)]
    row = about | (scores(found) if all("log_bf10" in line for line in lines) else {})
    rows = [row | (summarise(found, kinds[0]) if kinds else {})]
    return rows + [about | {"test": f"{about['test']}, any column"} | summarise(found, kind) for kind in kinds[1:]]


def times(
    environments: Environments, folder: Path, sizes: tuple[int, ...], seconds: float, megabytes: int
) -> list[Row]:
    """Every test on growing data of one law, until it takes too long or too much memory; ratios to `ts.test`."""
    rows: list[Row] = []
    for columns in COLUMNS:
        files = {}
        for n in sizes:
            path = folder / f"{n}-{columns}.npz"
            np.savez(path, **{name: generator("times", name, n, columns).normal(size=(1, n, columns)) for name in "xy"})
            files[str(path)] = n
        ours: dict[int, float] = {}
        for peer in available(environments):
            for test in peer.tests:
                if columns > 1 and test in peer.one_column:
                    continue
                lines, why = environments[peer.name].ask(
                    tests=[test], data=list(files), timed=True, seconds=seconds, megabytes=megabytes
                )
                for line in lines:
                    row: Row = {"peer": peer.name, "test": test, "columns": columns, "n": files[line["data"]]}
                    if "error" in line:
                        why = line["error"]
                        break
                    if (peer.name, test) == ("twosample", "test"):
                        ours[row["n"]] = line["seconds"]
                    row |= {"seconds": float(f"{line['seconds']:.3g}"), "megabytes": line["megabytes"]}
                    if row["n"] in ours:
                        row["ratio"] = float(f"{line['seconds'] / ours[row['n']]:.3g}")
                    rows.append(row)
                done = sum(
                    row["peer"] == peer.name and row["test"] == test and row["columns"] == columns for row in rows
                )
                if done < len(sizes):
                    about = {"peer": peer.name, "test": test, "columns": columns, "n": sizes[done]}
                    rows.append(about | {"stopped": why or "it ended early"})
                print(
                    f"times: {peer.name} {test}, {columns} columns, to n = {sizes[done - 1] if done else 0}", flush=True
                )
        for path in files:
            Path(path).unlink()
    return rows


def reports(environments: Environments, folder: Path) -> list[Row]:
    """How long a report of 20 columns takes, and how large it is."""
    path = folder / "report.npz"
    x, y = generator("report").normal(size=(2, 1, REPORT_ROWS, REPORT_COLUMNS))
    y[..., :5] += 0.2
    np.savez(path, x=x, y=y)
    rows = []
    for peer in available(environments):
        if peer.name not in ("twosample", "evidently"):
            continue
        lines, why = environments[peer.name].ask(
            report=peer.name, data=[str(path)], into=str(folder / f"{peer.name}.html"), tests=[], seconds=600
        )
        found = {name: float(f"{value:.3g}") for name, value in lines[0].items()} if lines else {"stopped": why}
        rows.append({"peer": peer.name, "rows": REPORT_ROWS, "columns": REPORT_COLUMNS} | found)
    return rows
