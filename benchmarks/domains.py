"""Strings and graphs: what the Bayes factor does under the null, and what it finds that simple counts do not.

Nulls: a law, a kernel and a sample size; BF10 is to have mean at most 1 and to exceed 20 in at most 1 % of the data
sets. At n = 20 the level of the permutation p-value is measured too. Differences: DNA of two Markov chains that differ
in one transition, against tests of the composition; Erdős–Rényi graphs against a stochastic block model of the same
density, against tests of the number of edges. Run with ``python -m benchmarks.domains``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import twosample as ts
from benchmarks.suite import RESULTS, generator, run_any
from twosample.errors import TwoSampleWarning

SIZES = (10, 20, 50, 200)
LARGEST_MEAN, LARGEST_SHARE = 1.0, 0.01
PERMUTED_AT, PERMUTATIONS, LEVEL = 20, 99, 0.05
SURE = 0.95
LETTERS = np.array(list("ACGT"))
WORDS = np.array("disk full ok user login failed port open error host retry job".split())
EVEN = np.full((4, 4), 0.25)
# A more often before C and less often before G; and the same with T the other way round, so that letters stay as even.
ONE, BALANCED = EVEN.copy(), EVEN.copy()
ONE[0, 1:3] += (0.06, -0.06)
BALANCED[[0, 3], 1] += (0.06, -0.06)
BALANCED[[0, 3], 2] -= (0.06, -0.06)
NODES, DENSITY, EXCESS = 30, 0.2, 0.12


def chains(rng: np.random.Generator, lengths: np.ndarray, transitions: np.ndarray = EVEN) -> list[str]:
    """Strings of a Markov chain that starts with any letter."""
    states = np.empty((len(lengths), lengths.max()), dtype=int)
    states[:, 0] = rng.integers(4, size=len(lengths))
    upto = np.cumsum(transitions, axis=1)[:, :-1]
    for place in range(1, states.shape[1]):
        states[:, place] = (rng.random(len(states))[:, None] > upto[states[:, place - 1]]).sum(axis=1)
    return ["".join(LETTERS[row[:length]]) for row, length in zip(states, lengths, strict=True)]


def log_lines(rng: np.random.Generator, n: int) -> list[str]:
    """Lines of 2 to 8 words, some of them frequent."""
    shares = 1.0 / np.arange(1, len(WORDS) + 1)
    return [" ".join(rng.choice(WORDS, rng.integers(2, 9), p=shares / shares.sum())) for _ in range(n)]


def graphs(rng: np.random.Generator, n: int, nodes: int, probabilities: np.ndarray | float) -> list[np.ndarray]:
    """Graphs whose edges are there independently with these probabilities."""
    upper = np.triu(rng.random((n, nodes, nodes)) < probabilities, 1)
    return list((upper | np.swapaxes(upper, 1, 2)).astype(int))


def trees(rng: np.random.Generator, n: int) -> list[list[tuple[int, int]]]:
    """Random recursive trees of 5 to 29 nodes."""
    return [[(node, int(rng.integers(node))) for node in range(1, int(rng.integers(5, 30)))] for _ in range(n)]


def blocks() -> np.ndarray:
    """Two blocks of equal size, one denser and one thinner, with the same expected number of edges in all."""
    probabilities = np.full((NODES, NODES), DENSITY)
    half = NODES // 2
    probabilities[:half, :half] += EXCESS
    probabilities[half:, half:] -= EXCESS
    return probabilities


Sampler = Callable[[np.random.Generator, int], list[Any]]
NULLS: dict[str, tuple[Sampler, dict[str, Any]]] = {
    "DNA of 60 letters, k-mers": (lambda rng, n: chains(rng, np.full(n, 60)), {"kernel": "kmer"}),
    "DNA of 1 to 11 letters, k-mers": (lambda rng, n: chains(rng, rng.integers(1, 12, n)), {"kernel": "kmer"}),
    "log lines, runs of words": (log_lines, {"kernel": ts.domains.KMer(unit="words"), "parameters": [1, 2]}),
    "Erdős–Rényi, 30 nodes": (lambda rng, n: graphs(rng, n, NODES, DENSITY), {"kernel": "graph"}),
    "Erdős–Rényi, 12 nodes, thin": (lambda rng, n: graphs(rng, n, 12, 0.1), {"kernel": "graph"}),
    "recursive trees": (trees, {"kernel": "graph"}),
    "5 explicit features, t2": (lambda rng, n: list(rng.standard_t(2, (n, 5))), {"features": np.array}),
}


def null_runs(law: str, n: int, runs: int) -> list[tuple[float, float | None]]:
    """Log BF10 of every data set, and p-values where they are measured."""
    draw, options = NULLS[law]
    found = []
    for run in range(runs):
        rng = generator("domains", "null", law, n, run)
        permutations = PERMUTATIONS if n == PERMUTED_AT else 0
        result = ts.test(draw(rng, n), draw(rng, n), permutations=permutations, rng=run, **options)
        found.append((result.log_bf10, result.pvalue))
    return found


def composition(strings: list[str]) -> np.ndarray:
    return np.array([[one.count(letter) for letter in LETTERS] for one in strings])


def string_runs(problem: str, n: int, runs: int) -> list[dict[str, bool]]:
    """Which tests find a difference of two chains."""
    found = []
    for run in range(runs):
        rng = generator("domains", problem, n, run)
        x = chains(rng, np.full(n, 100))
        y = chains(rng, np.full(n, 100), ONE if problem == "one transition" else BALANCED)
        result = ts.test(x, y, kernel="kmer", permutations=PERMUTATIONS, rng=run)
        counts = [composition(one) for one in (x, y)]
        table = np.array([one.sum(axis=0) for one in counts])
        shares = ts.test(*(one / one.sum(axis=1, keepdims=True) for one in counts))
        found.append(
            {
                "k-mers, P > 0.95": result.prob_h1 > SURE,
                "k-mers, p ≤ 0.05": result.pvalue is not None and result.pvalue <= LEVEL,
                "chi-square of letters, p ≤ 0.05": stats.chi2_contingency(table).pvalue <= LEVEL,
                "ts.test of the four shares, P > 0.95": shares.prob_h1 > SURE,
            }
        )
    return found


def graph_runs(problem: str, n: int, runs: int) -> list[dict[str, bool]]:
    """Which tests find a difference of two laws of graphs."""
    found = []
    for run in range(runs):
        rng = generator("domains", problem, n, run)
        x, y = graphs(rng, n, NODES, DENSITY), graphs(rng, n, NODES, blocks())
        result = ts.test(x, y, kernel="graph", permutations=PERMUTATIONS, rng=run)
        edges = [np.array([one.sum() / 2 for one in sample]) for sample in (x, y)]
        found.append(
            {
                "Weisfeiler–Lehman, P > 0.95": result.prob_h1 > SURE,
                "Weisfeiler–Lehman, p ≤ 0.05": result.pvalue is not None and result.pvalue <= LEVEL,
                "t-test of edges, p ≤ 0.05": stats.ttest_ind(*edges).pvalue <= LEVEL,
                "ts.test of edges, P > 0.95": ts.test(*edges).prob_h1 > SURE,
            }
        )
    return found


PROBLEMS: dict[str, tuple[Callable[[str, int, int], list[dict[str, bool]]], tuple[int, ...]]] = {
    "one transition": (string_runs, (20, 40, 80)),
    "one transition, balanced": (string_runs, (20, 40, 80)),
    "block model": (graph_runs, (15, 30, 60)),
}


def run_cell(cell: tuple[str, str, int, int]) -> Any:
    """One cell."""
    kind, name, n, runs = cell
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwoSampleWarning)
        return null_runs(name, n, runs) if kind == "null" else PROBLEMS[name][0](name, n, runs)


def null_row(law: str, n: int, found: list[tuple[float, float | None]]) -> dict[str, Any]:
    log_bf10 = np.array([value for value, _ in found])
    pvalues = [pvalue for _, pvalue in found if pvalue is not None]
    return {
        "law": law,
        "n": n,
        "runs": len(found),
        "mean_bf10": round(float(np.exp(log_bf10).mean()), 4),
        "share_above_20": round(float((log_bf10 > np.log(20.0)).mean()), 4),
        "median_log_bf10": round(float(np.median(log_bf10)), 3),
        "level": round(float(np.mean(np.array(pvalues) <= LEVEL)), 4) if pvalues else None,
    }


def markdown(content: dict[str, Any]) -> str:
    lines = [
        "# Strings and graphs",
        "",
        "Under the null: the mean of BF10 (wanted: at most 1), the share above 20 (at most 1 %), and at n = 20 the "
        f"share of permutation p-values of at most {LEVEL}, with {PERMUTATIONS} permutations; its standard error is "
        f"about {np.sqrt(LEVEL * (1.0 - LEVEL) / content['nulls'][0]['runs']):.0%}.",
        "",
        "| law | n | data sets | mean BF10 | share above 20 | median log BF10 | p ≤ 0.05 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in content["nulls"]:
        level = "" if row["level"] is None else f"{row['level']:.1%}"
        lines.append(
            f"| {row['law']} | {row['n']} | {row['runs']} | {row['mean_bf10']:.2f} | {row['share_above_20']:.1%} | "
            f"{row['median_log_bf10']:+.2f} | {level} |"
        )
    lines += [
        "",
        "Differences found, share of the data sets. Strings have 100 letters; the chains are uniform but for A, which "
        "C follows with probability 0.31 and G with 0.19 in one of them; balanced: and after T the other way round, so "
        f"that the letters are as frequent. Graphs have {NODES} nodes and density {DENSITY}; in the block model one "
        f"half has {DENSITY + EXCESS:.2f} within and the other {DENSITY - EXCESS:.2f}.",
        "",
        "| difference | n | data sets | test | found |",
        "|---|---|---|---|---|",
    ]
    for row in content["differences"]:
        for test, share in row["found"].items():
            lines.append(f"| {row['problem']} | {row['n']} | {row['runs']} | {test} | {share:.0%} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    cells = [("null", law, n, arguments.runs) for law in NULLS for n in SIZES]
    cells += [("difference", name, n, arguments.runs // 2) for name, (_, sizes) in PROBLEMS.items() for n in sizes]
    found = {}
    for cell, result in run_any(run_cell, cells, arguments.jobs):
        found[cell] = result
        print(*cell, flush=True)
    nulls = [null_row(cell[1], cell[2], found[cell]) for cell in cells if cell[0] == "null"]
    differences = [
        {
            "problem": name,
            "n": n,
            "runs": runs,
            "found": {
                test: round(float(np.mean([row[test] for row in found[kind, name, n, runs]])), 4)
                for test in found[kind, name, n, runs][0]
            },
        }
        for kind, name, n, runs in cells
        if kind == "difference"
    ]
    content = {
        "largest_mean_bf10": max(row["mean_bf10"] for row in nulls),
        "largest_share_above_20": max(row["share_above_20"] for row in nulls),
        "as_wanted": all(row["mean_bf10"] <= LARGEST_MEAN and row["share_above_20"] <= LARGEST_SHARE for row in nulls),
        "nulls": nulls,
        "differences": differences,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "domains.json").write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n")
    (RESULTS / "domains.md").write_text(markdown(content))
    print(markdown(content))


if __name__ == "__main__":
    main()
