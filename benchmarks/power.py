"""All tests on the same data sets, half of them nulls: power at 5 % where they have p-values, scores of P(H1) else.

The problems are the alternatives of the suite, the laws of the calibration benchmark with their first column changed,
and the settings of the paper. In each, for as many pairs of samples that differ as of pairs that do not: the share with
p ≤ 0.05 (power, and level in the nulls), and for Bayesian tests the log score and the Brier score of P(H1) at even
prior odds, and how often the samples did differ when P(H1) was in each fifth of [0, 1]. Run with
``python -m benchmarks.power``, or ``python -m benchmarks.power --draw`` for the page and the figure alone.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from experiments.mixtures import COMPONENTS as MIXTURES

import twosample as ts
from benchmarks.suite import (
    ALTERNATIVES,
    CHANGES,
    NULLS,
    RESULTS,
    Array,
    Pair,
    gaussian,
    generator,
    log_score,
    run_all,
)
from twosample.errors import InputError, TwoSampleWarning
from twosample.evidence import probability

ROWS, PERMUTATIONS, LEVEL = 100, 199, 0.05
P_VALUES = ("adaptive", "mmd, median", "mmd, aggregated")
BAYESIAN = ("adaptive", "paper", "published", "holmes", "chen_hanson", "jzs")
# One data set that is sure of the wrong answer must not be the whole score.
WORST_LOG_SCORE = -20.0


class Problem(NamedTuple):
    """Samples of one law, and samples of two."""

    group: str
    same: Pair
    different: Pair
    paired: bool = False


def twice(pair: Pair) -> Pair:
    """Both samples from the first law."""
    return lambda rng, n: (pair(rng, n)[0], pair(rng, n)[0])


def changed(law: str, n_columns: int, rows_of_y: int = 1) -> Problem:
    """A law of the calibration benchmark, and the same with its first column changed."""

    def same(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return NULLS[law](rng, n // rows_of_y, n_columns), NULLS[law](rng, n * rows_of_y, n_columns)

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = same(rng, n)
        y[:, 0] = CHANGES[law](rng, y[:, 0])
        return x, y

    return Problem("calibration", same, different)


def pairs(n_columns: int, change: Callable[[Array], Array]) -> Problem:
    """Pairs of Gaussians with correlation 0.5, and the same with the second changed."""

    def same(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        shared = gaussian(rng, n, n_columns)
        x, y = (np.sqrt(0.5) * (shared + gaussian(rng, n, n_columns)) for _ in range(2))
        return x, y

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = same(rng, n)
        y[:, 0] = change(y[:, 0])
        return x, y

    return Problem("calibration", same, different, paired=True)


def paper(draw: Callable[..., ts.simulate.SimulatedPair], **options: object) -> Problem:
    """A setting of the paper."""

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return draw(n, rng, points=0, **options)[:2]

    return Problem("paper", twice(different), different)


def correlated_laplace(scale: float) -> Problem:
    """The paper's pairs of a normal and a Laplace variable; the null is pairs of normals as correlated."""

    def different(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return ts.simulate.laplace(n, rng, scale=scale, correlation=0.5, points=0)[:2]

    return Problem("paper", pairs(1, np.negative).same, different, paired=True)


def problems() -> dict[str, Problem]:
    """All of them, by name."""
    found = {name: Problem("suite", twice(pair), pair) for name, pair in ALTERNATIVES.items()}
    for law in NULLS:
        for n_columns in (1, 2, 5, 10, 20):
            found[f"{law}, {n_columns}-D"] = changed(law, n_columns)
        found[f"{law}, 50 against 200"] = changed(law, 1, rows_of_y=2)
    for n_columns in (1, 5):
        found[f"gaussian pairs, {n_columns}-D"] = pairs(n_columns, lambda column: column + 0.4)
    simulate = ts.simulate
    found["N(0, 2²)"] = paper(simulate.gaussian, sd=2)  # N(0, 3²) and N(1, 1), and blobs with ε = 2 and 6, are above
    for mean in (2, 3):
        found[f"N({mean}, 1)"] = paper(simulate.gaussian, mean=mean)
    for means, sd in MIXTURES:
        found[f"mixture at {means[0]:g} and {means[1]:g}, sd {sd:g}"] = paper(simulate.mixture, means=means, sd=sd)
    for mean in ((11.5, 11.5), (12, 10)):
        found[f"2-D Gaussian at {mean}"] = paper(simulate.gaussian_2d, mean=mean)
    for epsilon in (2, 6, 10, 20):
        found[f"2-D Gaussian, ε = {epsilon}"] = paper(simulate.gaussian_2d, epsilon=epsilon)
    for epsilon in (10, 20):
        found[f"paper's blobs, ε = {epsilon}"] = paper(simulate.blobs, epsilon=epsilon)
    for dimension in (4, 8):
        found[f"paper's blobs, ε = 6, {dimension}-D"] = paper(simulate.blobs, epsilon=6, noise=dimension - 2)
    for name, network in (("random", simulate.random_network(5, 0)), ("hub", simulate.hub_network(7))):
        found[f"{name} networks"] = paper(simulate.correlated_gaussian, first=network[0], second=network[1])
    for scale in (0.4, np.sqrt(0.5), 1.5):
        found[f"pairs, Laplace {scale:.3g}"] = correlated_laplace(scale)
    return found


def compare(x: Array, y: Array, paired: bool) -> dict[str, float]:
    """P-values, under "p NAME", and log Bayes factors, under NAME, of all tests that such data can have."""
    ours = ts.test(x, y, paired=paired, permutations=PERMUTATIONS)
    found = {"p adaptive": ours.pvalue, "adaptive": ours.log_bf10}
    for name, aggregate in (("mmd, median", False), ("mmd, aggregated", True)):
        test = ts.baselines.mmd(x, y, permutations=PERMUTATIONS, aggregate=aggregate, paired=paired)
        found[f"p {name}"] = test.pvalue
    bayesian = {}
    if x.shape[1] <= 10:  # with 20 columns the volumes of the Jacobians take a minute for every data set
        bayesian |= {model: partial(ts.test, model=model, paired=paired) for model in ("paper", "published")}
    if x.shape[1] == 1:
        bayesian["jzs"] = partial(ts.baselines.jzs, paired=paired)
    if not paired:
        bayesian["chen_hanson"] = ts.baselines.chen_hanson
        if x.shape[1] == 1:
            bayesian["holmes"] = ts.baselines.holmes
    for name, method in bayesian.items():
        with suppress(InputError):  # too few distinct points for the volumes, say
            found[name] = method(x, y).log_bf10
    return {name: round(float(value), 4) for name, value in found.items()}


def run_cell(cell: tuple[str, bool, int]) -> dict[str, float]:
    """What the tests say of one data set."""
    name, different, _ = cell
    warnings.simplefilter("ignore", TwoSampleWarning)
    problem = problems()[name]
    x, y = (problem.different if different else problem.same)(generator("power", *cell), ROWS)
    return compare(x, y, problem.paired)


def scores(h0: Array, h1: Array) -> dict[str, object]:
    """Mean log score and Brier score of P(H1), and in each fifth of [0, 1] how often it was there, and rightly."""
    log_bf10, truth = np.concatenate([h0, h1]), np.repeat([0.0, 1.0], [len(h0), len(h1)])
    log_prob = log_score(log_bf10, truth == 1.0)
    prob = probability(log_bf10)
    fifth = np.minimum((5 * prob).astype(int), 4)
    return {
        "log_score": round(float(np.maximum(log_prob, WORST_LOG_SCORE).mean()), 3),
        "brier": round(float(np.square(prob - truth).mean()), 3),
        "of_and_different_in_each_fifth": [[int((fifth == k).sum()), int(truth[fifth == k].sum())] for k in range(5)],
    }


def summarise(name: str, same: list[dict[str, float]], different: list[dict[str, float]]) -> dict:
    """One row of the results."""

    def values(runs: list[dict[str, float]], key: str) -> Array:
        return np.array([run[key] for run in runs])

    rejected = {
        label: {
            kind: round(float(np.mean(values(runs, f"p {label}") <= LEVEL)), 3)
            for kind, runs in (("level", same), ("power", different))
        }
        for label in P_VALUES
    }
    scored = {
        label: scores(values(same, label), values(different, label))
        for label in BAYESIAN
        if all(label in run for run in same + different)
    }
    return {
        "problem": name,
        "group": problems()[name].group,
        "runs": len(same),
        "rejected": rejected,
        "scores": scored,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--draw", action="store_true", help="make the page and the figure from what is there")
    arguments = parser.parse_args()
    path = RESULTS / "power.json"
    if not arguments.draw:
        cells = [
            (name, different, run)
            for name in problems()
            for different in (False, True)
            for run in range(arguments.runs)
        ]
        found: dict[tuple[str, bool], list[dict[str, float]]] = {}
        for (name, different, _), values in run_all(run_cell, cells, arguments.jobs):
            found.setdefault((name, different), []).append(values)
        rows = [summarise(name, found[name, False], found[name, True]) for name in problems()]
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(rows, indent=0) + "\n")
    rows = json.loads(path.read_text())
    text = page(rows)
    (RESULTS / "power.md").write_text(text)
    print(text)
    figure(rows)


def page(rows: list[dict]) -> str:
    """The results as a page: where the default falls short, averages, and all rows."""
    log_score = {row["problem"]: {label: row["scores"][label]["log_score"] for label in row["scores"]} for row in rows}
    power = {row["problem"]: {label: row["rejected"][label]["power"] for label in P_VALUES} for row in rows}
    best = [name for name, found in log_score.items() if found["adaptive"] >= max(found.values())]
    ahead = [name for name, found in power.items() if found["adaptive"] >= found["mmd, aggregated"]]
    lines = [
        "# Power and scores, all tests on the same data",
        "",
        f"{len(rows)} problems, n = {ROWS}, {rows[0]['runs']} data sets that differ and as many that do not for each.",
        "Power and level are shares with p ≤ 0.05. Scores are of P(H1): the mean log score is 0 if perfect and -0.693",
        f"for a coin; a data set counts at worst {WORST_LOG_SCORE:g}. Made by `benchmarks/power.py`.",
        "",
        f"`adaptive` has the best log score of all Bayesian tests on {len(best)} of {len(rows)} problems, and with its",
        f"p-value at least the power of the aggregated MMD test on {len(ahead)}. Where not:",
        "",
        "| problem | log score | best | |",
        "|---|---|---|---|",
    ]
    for name, found in sorted(log_score.items(), key=lambda item: item[1]["adaptive"] - max(item[1].values())):
        winner = max(found, key=found.__getitem__)
        if found["adaptive"] < found[winner]:
            lines.append(f"| {name} | {found['adaptive']:.2f} | {found[winner]:.2f} | {winner} |")
    lines += ["", "| problem | power | aggregated MMD |", "|---|---|---|"]
    for name, found in sorted(power.items(), key=lambda item: item[1]["adaptive"] - item[1]["mmd, aggregated"]):
        if found["adaptive"] < found["mmd, aggregated"]:
            lines.append(f"| {name} | {found['adaptive']:.2f} | {found['mmd, aggregated']:.2f} |")
    lines += ["", "## Means", "", "| | " + " | ".join(P_VALUES) + " |", "|---|" + "---|" * len(P_VALUES)]
    for kind in ("level", "power"):
        means = [np.mean([row["rejected"][label][kind] for row in rows]) for label in P_VALUES]
        lines.append(f"| {kind} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    lines += [
        "",
        "| | problems | log score | of `adaptive` there | Brier score | of `adaptive` there |",
        "|---|---|---|---|---|---|",
    ]
    for label in BAYESIAN:
        there = [row["scores"] for row in rows if label in row["scores"]]
        means = [
            np.mean([found[which][kind] for found in there])
            for kind in ("log_score", "brier")
            for which in (label, "adaptive")
        ]
        lines.append(f"| {label} | {len(there)} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    lines += [
        "",
        "## Calibration",
        "",
        "How often the samples did differ, when P(H1) was in this fifth of [0, 1] (of how many data sets).",
        "",
        "| | 0 to 0.2 | to 0.4 | to 0.6 | to 0.8 | to 1 |",
        "|---|---|---|---|---|---|",
    ]
    for label in BAYESIAN:
        curve = calibration(rows, label)
        lines.append(f"| {label} | " + " | ".join(f"{k / n:.2f} ({n})" if n else "" for n, k in curve) + " |")
    lines += [
        "",
        "## All problems",
        "",
        "Level / power of the tests with p-values, then log scores of the Bayesian tests.",
        "",
        "| | " + " | ".join(f"p: {label}" for label in P_VALUES) + " | " + " | ".join(BAYESIAN) + " |",
        "|---|" + "---|" * (len(P_VALUES) + len(BAYESIAN)),
    ]
    for row in rows:
        shares = [
            f"{row['rejected'][label]['level']:.2f} / {row['rejected'][label]['power']:.2f}" for label in P_VALUES
        ]
        found = log_score[row["problem"]]
        scored = [f"{found[label]:.2f}" if label in found else "" for label in BAYESIAN]
        lines.append(f"| {row['problem']} | " + " | ".join(shares + scored) + " |")
    return "\n".join(lines) + "\n"


def calibration(rows: list[dict], label: str) -> Array:
    """Over all problems: data sets in each fifth, and how many of them differ, (5, 2)."""
    curves = [row["scores"][label]["of_and_different_in_each_fifth"] for row in rows if label in row["scores"]]
    return np.sum(curves, axis=0)


def figure(rows: list[dict]) -> None:
    """Power, log scores and calibration in one picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    colours = dict(
        zip(("adaptive", "paper", "published", "holmes", "chen_hanson", "jzs"), plt.cm.tab10.colors, strict=False)
    )
    colours |= {"mmd, median": "0.65", "mmd, aggregated": "black"}
    figure, axes = plt.subplot_mosaic(
        [["power", "score", "curve"], ["power", "score", "."]],
        figsize=(15, 0.165 * len(rows) + 2),
        width_ratios=(1, 1, 0.9),
        height_ratios=(1, 2.4),
    )
    left, middle, right = axes["power"], axes["score"], axes["curve"]
    places = -np.arange(len(rows))
    for label in P_VALUES[::-1]:
        power = [row["rejected"][label]["power"] for row in rows]
        left.plot(power, places, "o", ms=5, color=colours[label], label=label, alpha=0.8)
    left.set_xlabel("power at the 5 % level")
    left.axvline(LEVEL, color="0.8", lw=1, zorder=0)
    for label in BAYESIAN[::-1]:
        there = [
            (max(row["scores"][label]["log_score"], -2.0), place)
            for row, place in zip(rows, places, strict=True)
            if label in row["scores"]
        ]
        middle.plot(*zip(*there, strict=True), "o", ms=5, color=colours[label], label=label, alpha=0.8)
    middle.set_xlim(-2.06, 0.03)
    middle.set_xlabel("log score of P(H1); left edge: -2 or worse")
    middle.axvline(np.log(0.5), color="0.8", lw=1, zorder=0)
    for panel in (left, middle):
        panel.set_yticks(places, [row["problem"] for row in rows] if panel is left else [], fontsize=7.5)
        panel.set_ylim(places[-1] - 1, 1)
        panel.hlines(places, *panel.get_xlim(), color="0.93", lw=0.6, zorder=0)
        panel.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    right.plot([0, 1], [0, 1], color="0.8", lw=1)
    for label in BAYESIAN:
        shares = [k / n if n else np.nan for n, k in calibration(rows, label)]
        right.plot(np.arange(0.1, 1, 0.2), shares, "o-", color=colours[label], label=label)
    right.set(xlabel="P(H1)", ylabel="share of the data sets that do differ", xlim=(0, 1), ylim=(0, 1.02))
    figure.tight_layout()
    figure.savefig(RESULTS / "power.png", dpi=80)


if __name__ == "__main__":
    main()
