"""Independence: level and calibration where there is none, power and log score where there is, beside other tests.

Power is at 5 %: the share of data sets whose statistic is above the 95 % quantile of data sets with the same margins
and a random pairing. Log scores are mean log probabilities of what is true, at even prior odds, over dependent data
sets and the same with a random pairing.

``python -m benchmarks.independence`` runs all of it, on one thread, and writes the tables into the results folder;
``--runs 10 --into look`` is a quick look.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import special, stats

import twosample as ts
from benchmarks.suite import RESULTS, Array, generator, log_score

SIZES = (50, 100, 200, 400, 800)
NULL_SIZES = (10, 20, 50, 100, 200)
# Random pairings of each data set.
PAIRINGS = 3
LEVEL, LEVEL_PERMUTATIONS, LEVEL_SIZE = 0.05, 19, 50

Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]


def circle(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """A ring with noise."""
    angle, noise = rng.uniform(0.0, 2.0 * np.pi, n), 0.4 * rng.normal(size=(2, n))
    return np.cos(angle) + noise[0], np.sin(angle) + noise[1]


def checkerboard(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Every other cell of 4 × 4, with noise."""
    column = rng.integers(0, 4, n)
    row = 2 * rng.integers(0, 2, n) + column % 2
    noise = rng.uniform(size=(2, n)) + 0.3 * rng.normal(size=(2, n))
    return column + noise[0], row + noise[1]


def two_parabolas(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """One opens up and one down."""
    x = rng.uniform(-1.0, 1.0, n)
    noise = rng.normal(size=(2, n))
    return x + 0.1 * noise[0], (x**2 + 0.1) * rng.choice([-1.0, 1.0], n) + 0.5 * noise[1]


def spiral(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Two turns."""
    t, noise = rng.uniform(0.1, 1.0, n), 0.1 * rng.normal(size=(2, n))
    return t * np.cos(4.0 * np.pi * t) + noise[0], t * np.sin(4.0 * np.pi * t) + noise[1]


def curve(mean: Callable[[Array], Array], sd: float, low: float = -1.0) -> Draw:
    """Uniform x, and a function of it with normal noise."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x = rng.uniform(low, 1.0, n)
        return x, mean(x) + sd * rng.normal(size=n)

    return draw


def linear(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Normal, with a correlation of 0.29."""
    x, noise = rng.normal(size=(2, n))
    return x, 0.3 * x + noise


def heteroscedastic(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """The spread of y grows with the distance of x from 0."""
    x = rng.uniform(-1.0, 1.0, n)
    return x, rng.normal(size=n) * (0.5 + 1.2 * np.abs(x))


PROBLEMS: dict[str, Draw] = {
    "linear": linear,
    "quadratic": curve(lambda x: x**2, 0.6),
    "W": curve(lambda x: 4.0 * (x**2 - 0.5) ** 2, 0.6),
    "sine, two periods": curve(lambda x: np.sin(4.0 * np.pi * x), 1.2, low=0.0),
    "circle": circle,
    "checkerboard 4 × 4": checkerboard,
    "two parabolas": two_parabolas,
    "spiral": spiral,
    "heteroscedastic": heteroscedastic,
}

NULLS: dict[str, Draw] = {
    "normal × exponential": lambda rng, n: (rng.normal(size=n), rng.exponential(size=n)),
    "t2 × t2": lambda rng, n: tuple(rng.standard_t(2, size=(2, n))),
    "integers × integers": lambda rng, n: tuple(np.round(rng.normal(scale=2.0, size=(2, n)))),
    "Cauchy × Cauchy": lambda rng, n: tuple(rng.standard_cauchy((2, n))),
    "0/1 (0.1) × 0/1 (0.1)": lambda rng, n: tuple(_binary(rng, n, 0.1) for _ in range(2)),
    "5 categories × normal": lambda rng, n: (rng.choice(list("aaabbbccde"), n), rng.normal(size=n)),
    "3 × 2 normal columns": lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(n, 2))),
}


def _binary(rng: np.random.Generator, n: int, share: float) -> Array:
    """Zeros and ones, at least one of them one."""
    found = (rng.random(n) < share).astype(float)
    if not found.any():
        found[rng.integers(n)] = 1.0
    return found


Statistic = Callable[[Array], float]


def hsic(x: Array, y: Array) -> Statistic:
    """HSIC with Gaussian kernels at the median distance, for the rows of y in any order."""
    centred = []
    for values in (x, y):
        distances = np.abs(np.subtract.outer(values, values))
        median = np.median(distances[np.tri(len(values), k=-1, dtype=bool)])
        centred.append(_centred(np.exp(-0.5 * (distances / median) ** 2)))
    return _paired(*centred)


def distance_correlation(x: Array, y: Array) -> Statistic:
    """The squared distance correlation, likewise, up to a factor that is the same for every order."""
    return _paired(*(_centred(np.abs(np.subtract.outer(values, values))) for values in (x, y)))


def _centred(matrix: Array) -> Array:
    return np.asarray(matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean())


def _paired(a: Array, b: Array) -> Statistic:
    size = np.sqrt((a * a).mean() * (b * b).mean())
    return lambda order: float(np.vdot(a, b[np.ix_(order, order)]) / (a.size * size))


def _of_rows(statistic: Callable[[Array, Array], float]) -> Callable[[Array, Array], Statistic]:
    return lambda x, y: lambda order: statistic(x, y[order])


def xi(x: Array, y: Array) -> float:
    """Chatterjee's ξ, the larger of both directions."""
    return max(float(stats.chatterjeexi(*pair).statistic) for pair in ((x, y), (y, x)))


def bayes_correlation(x: Array, y: Array) -> float:
    """Log BF10 of Pearson's correlation with a uniform prior (Ly et al. 2016)."""
    n, r = len(x), float(np.corrcoef(x, y)[0, 1])
    half = 0.5 * (n - 1.0)
    ratio = special.gammaln(0.5 * (n + 1.0)) - special.gammaln(0.5 * (n + 2.0))
    return float(
        0.5 * math.log(math.pi) - math.log(2.0) + ratio + np.log(special.hyp2f1(half, half, half + 1.5, r * r))
    )


def bayes_table(x: Array, y: Array, bins: int = 4) -> float:
    """Log BF10 of dependence in a table of quartiles, with uniform Dirichlet priors."""
    places = [
        np.minimum(bins * (stats.rankdata(values) - 0.5) / len(values), bins - 1).astype(int) for values in (x, y)
    ]
    counts = np.zeros((bins, bins))
    np.add.at(counts, tuple(places), 1.0)

    def log_evidence(cells: Array) -> float:
        return float(
            special.gammaln(1.0 + cells).sum() - special.gammaln(cells.size + cells.sum()) + special.gammaln(cells.size)
        )

    return log_evidence(counts) - log_evidence(counts.sum(axis=0)) - log_evidence(counts.sum(axis=1))


TESTS: dict[str, Callable[[Array, Array], Statistic]] = {
    "twosample": _of_rows(lambda x, y: ts.independence(x, y).log_bf10),
    "HSIC": hsic,
    "distance correlation": distance_correlation,
    "ξ": _of_rows(xi),
    "Bayesian correlation": _of_rows(bayes_correlation),
    "Bayesian table 4 × 4": _of_rows(bayes_table),
}
BAYESIAN = ("twosample", "Bayesian correlation", "Bayesian table 4 × 4")


def power_cell(problem: str, n: int, runs: int) -> dict[str, Any]:
    """Power and log scores of all tests."""
    found: dict[str, list[float]] = {name: [] for name in TESTS}
    shuffled: dict[str, list[float]] = {name: [] for name in TESTS}
    for run in range(runs):
        rng = generator("independence", problem, n, run)
        x, y = PROBLEMS[problem](rng, n)
        pairings = [rng.permutation(n) for _ in range(PAIRINGS)]
        for name, test in TESTS.items():
            statistic = test(x, y)
            found[name].append(statistic(np.arange(n)))
            shuffled[name] += [statistic(order) for order in pairings]
    power = {name: float(np.mean(np.array(found[name]) > np.quantile(shuffled[name], 1.0 - LEVEL))) for name in TESTS}
    scores = {
        name: [
            float(log_score(np.array(values[name]), truth).mean())
            for values, truth in ((found, True), (shuffled, False))
        ]
        for name in BAYESIAN
    }
    return {
        "problem": problem,
        "n": n,
        "runs": runs,
        "power": power,
        "log_score": scores,
        "median_log_bf10": float(np.median(found["twosample"])),
        "prob_independent_if_so": float(np.mean(1.0 / (1.0 + np.exp(shuffled["twosample"])))),
    }


def null_cell(law: str, n: int, runs: int) -> dict[str, Any]:
    """Bayes factors of independent data."""
    values = []
    for run in range(runs):
        x, y = NULLS[law](generator("independence", "null", law, n, run), n)
        values.append(ts.independence(x, y).log_bf10)
    log_bf10 = np.array(values)
    bf10 = np.exp(log_bf10)
    return {
        "law": law,
        "n": n,
        "runs": runs,
        "mean_bf10": float(bf10.mean()),
        "se": float(bf10.std() / math.sqrt(runs)),
        "above_20": float(np.mean(bf10 > 20.0)),
        "median_log_bf10": float(np.median(log_bf10)),
        "prob_independent": float(np.mean(1.0 / (1.0 + bf10))),
    }


def level_cell(law: str, runs: int) -> dict[str, Any]:
    """How often the p-value of independent data is at most 5 %, and the mean e-value."""
    found = []
    for run in range(runs):
        x, y = NULLS[law](generator("independence", "level", law, run), LEVEL_SIZE)
        found.append(ts.independence(x, y, permutations=LEVEL_PERMUTATIONS, rng=run))
    evalues = [result.evalue for result in found]
    return {
        "law": law,
        "n": LEVEL_SIZE,
        "runs": runs,
        "level": float(np.mean([result.pvalue <= LEVEL for result in found])),
        "mean_evalue": float(np.mean(evalues)),
        "se": float(np.std(evalues) / math.sqrt(runs)),
    }


def main() -> None:
    """Run everything, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60, help="dependent data sets of each problem and size")
    parser.add_argument("--nulls", type=int, default=200, help="independent data sets of each law and size")
    parser.add_argument("--part", choices=("power", "nulls"), help="only these; what is known of the other is kept")
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    path = options.into / "independence.json"
    found = json.loads(path.read_text()) if path.exists() else {"power": [], "nulls": [], "levels": []}
    if options.part != "power":
        found["nulls"] = [null_cell(law, n, options.nulls) for law in NULLS for n in NULL_SIZES]
        found["levels"] = [level_cell(law, options.nulls) for law in NULLS]
    if options.part != "nulls":
        found["power"] = [power_cell(problem, n, options.runs) for n in SIZES for problem in PROBLEMS]
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    if not (found["power"] and found["nulls"]):
        return
    text = _text(found)
    (options.into / "independence.md").write_text(text)
    print(text)


def _text(found: dict[str, Any]) -> str:
    power, runs = found["power"], found["power"][0]["runs"]
    lines = [
        "# Independence",
        "",
        f"Made by `benchmarks/independence.py`. Power at 5 %, {runs} data sets of each problem and size; the limit is",
        f"the 95 % quantile of {runs * PAIRINGS} random pairings of the same data sets. Mean over the problems:",
        "",
        f"| n | {' | '.join(TESTS)} |",
        f"|---|{'---|' * len(TESTS)}",
    ]
    for n in SIZES:
        cells = [row for row in power if row["n"] == n]
        lines.append(f"| {n} | {' | '.join(_best([_mean(cells, 'power', name) for name in TESTS]))} |")
    lines += ["", f"By problem, mean over n = {', '.join(map(str, SIZES))}:", ""]
    lines += [f"| problem | {' | '.join(TESTS)} |", f"|---|{'---|' * len(TESTS)}"]
    for problem in PROBLEMS:
        cells = [row for row in power if row["problem"] == problem]
        lines.append(f"| {problem} | {' | '.join(_best([_mean(cells, 'power', name) for name in TESTS]))} |")
    lines += [
        "",
        "Log scores of the Bayesian tests, mean of dependent data sets and of random pairings; and the mean",
        "probability of independence that `twosample` gives to the latter:",
        "",
        f"| n | {' | '.join(BAYESIAN)} | P(independent) |",
        f"|---|{'---|' * len(BAYESIAN)}---|",
    ]
    for n in SIZES:
        cells = [row for row in power if row["n"] == n]
        scores = [float(np.mean([row["log_score"][name] for row in cells])) for name in BAYESIAN]
        sure = float(np.mean([row["prob_independent_if_so"] for row in cells]))
        lines.append(f"| {n} | {' | '.join(_best(scores))} | {sure:.2f} |")
    nulls = found["nulls"][0]["runs"]
    lines += [
        "",
        f"Independent data, {nulls} data sets of each law and size: mean BF10 ± its standard error, and how many are",
        f"above 20. The level is the share of p-values of at most 5 % ({LEVEL_PERMUTATIONS} permutations,",
        f"n = {LEVEL_SIZE}).",
        "",
        f"| law | {' | '.join(f'n = {n}' for n in NULL_SIZES)} | above 20 | level | mean e-value |",
        f"|---|{'---|' * len(NULL_SIZES)}---|---|---|",
    ]
    for level in found["levels"]:
        cells = [row for row in found["nulls"] if row["law"] == level["law"]]
        means = [f"{row['mean_bf10']:.2f} ± {row['se']:.2f}" for row in cells]
        above = f"{np.mean([row['above_20'] for row in cells]):.2%}"
        evalue = f"{level['mean_evalue']:.2f} ± {level['se']:.2f}"
        lines.append(f"| {level['law']} | {' | '.join(means)} | {above} | {level['level']:.3f} | {evalue} |")
    return "\n".join(lines) + "\n"


def _mean(cells: list[dict[str, Any]], kind: str, name: str) -> float:
    return float(np.mean([row[kind][name] for row in cells]))


def _best(values: list[float]) -> list[str]:
    """Numbers with two digits, the largest in bold."""
    shown = [f"{value:.2f}" for value in values]
    largest = f"{max(values):.2f}"
    return [f"**{one}**" if one == largest else one for one in shown]


if __name__ == "__main__":
    main()
