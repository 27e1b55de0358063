"""All tests on the same data sets, half of them nulls: power at 5 % where they have p-values, scores of P(H1) else.

In each of the problems (`benchmarks/problems.py`), for as many pairs of samples that differ as of pairs that do not:
the share with p ≤ 0.05 (power, and level in the nulls), and for Bayesian tests the log score and the Brier score of
P(H1) at even prior odds, and how often the samples did differ when P(H1) was in each fifth of [0, 1]. Run with
``python -m benchmarks.power``.

What every test says of every data set goes to a file of JSON lines at once, and the results are made from that:

- ``--resume`` goes on with a run that was cut off;
- ``--reuse`` runs the default model anew, and keeps what is known of the other tests, from that file or, where the data
  sets are as many, from the results; ``--reuse --resume`` goes on with such a run;
- ``--shard 2/8 --raw two.jsonl`` does every eighth data set; ``cat`` merges the files of shards, in any order;
- ``--draw`` makes results, page and figure from the file (from the results, where there is no such file).
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import twosample as ts
from benchmarks.problems import ROWS, columns_of, problems
from benchmarks.suite import RESULTS, RUNS, Array, generator, lines_of, log_score, run_any, write_lines
from twosample.errors import InputError, TwoSampleWarning
from twosample.inference.evidence import probability

PERMUTATIONS, LEVEL = 199, 0.05
# One data set that is sure of the wrong answer must not be the whole score.
WORST_LOG_SCORE = -20.0
# What is wanted of the default: mean power and mean log score in problems with one column and with several, and power
# beside the aggregated MMD test, in every problem and on average.
WANTED = {"one column": (0.84, -0.29), "several columns": (0.76, -0.37)}
ALLOWED_LOSS, WANTED_GAIN = 0.05, 0.05

Values = dict[str, float]
Cell = tuple[str, bool, int]
# What is known: of a problem, different or not, and the number of the data set, by test; None where it was refused.
Known = dict[Cell, dict[str, Values | None]]


def default(x: Array, y: Array, paired: bool) -> Values:
    """Bayes factor, p-value and e-value of the default model."""
    result = ts.test(x, y, paired=paired, permutations=PERMUTATIONS)
    found = {"log_bf10": result.log_bf10, "p": result.pvalue}
    if (evalue := getattr(result, "evalue", None)) is not None:
        found["log_e"] = float(np.log(max(evalue, 1e-300)))
    return found


def mmd(x: Array, y: Array, paired: bool, aggregate: bool) -> Values:
    """P-value of the MMD test."""
    return {"p": ts.baselines.mmd(x, y, permutations=PERMUTATIONS, aggregate=aggregate, paired=paired).pvalue}


def preset(x: Array, y: Array, paired: bool, model: str) -> Values:
    """Bayes factor of another model of the package."""
    return {"log_bf10": ts.test(x, y, model=model, paired=paired).log_bf10}


class Test(NamedTuple):
    """What runs it, up to how many columns it is run, and whether it is for pairs too."""

    run: Callable[[Array, Array, bool], Values]
    most_columns: float = np.inf
    for_pairs: bool = True

    def fits(self, name: str) -> bool:
        """Whether a problem can have it, in reasonable time."""
        return columns_of(name) <= self.most_columns and (self.for_pairs or not problems()[name].paired)


TESTS = {
    "adaptive": Test(default),
    "mmd, median": Test(partial(mmd, aggregate=False)),
    "mmd, aggregated": Test(partial(mmd, aggregate=True)),
    # With 20 columns the volumes of the Jacobians take a minute for every data set.
    "paper": Test(partial(preset, model="paper"), most_columns=10),
    "published": Test(partial(preset, model="published"), most_columns=10),
    "holmes": Test(lambda x, y, _: {"log_bf10": ts.baselines.holmes(x, y).log_bf10}, most_columns=1, for_pairs=False),
    "chen_hanson": Test(
        lambda x, y, _: {"log_bf10": ts.baselines.chen_hanson(x, y).log_bf10}, most_columns=20, for_pairs=False
    ),
    "jzs": Test(lambda x, y, paired: {"log_bf10": ts.baselines.jzs(x, y, paired=paired).log_bf10}, most_columns=1),
}
DEFAULT, RIVAL = "adaptive", "mmd, aggregated"
P_VALUES = ("adaptive", "mmd, median", "mmd, aggregated")
BAYESIAN = ("adaptive", "paper", "published", "holmes", "chen_hanson", "jzs")


def run_cell(work: tuple[Cell, tuple[str, ...]]) -> dict[str, Values | None]:
    """What these tests say of one data set."""
    cell, tests = work
    name, different, _ = cell
    warnings.simplefilter("ignore", TwoSampleWarning)
    problem = problems()[name]
    x, y = (problem.different if different else problem.same)(generator("power", *cell), problem.rows)
    found: dict[str, Values | None] = {}
    for test in tests:
        try:
            values = TESTS[test].run(x, y, problem.paired)
        except InputError:  # too few distinct points for the volumes, say
            if test == DEFAULT:
                raise
            found[test] = None
        else:
            found[test] = {kind: round(float(value), 4) for kind, value in values.items()}
    return found


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


def summarise(name: str, known: Known, runs: int, stored: dict[str, Any]) -> dict[str, Any] | None:
    """One row of the results, None if that takes more data sets; tests that are not known are as in the stored row."""
    row: dict[str, Any] = {
        "problem": name,
        "group": problems()[name].group,
        "columns": columns_of(name),
        "rows": problems()[name].rows,
        "runs": runs,
        "rejected": {},
        "scores": {},
    }
    for test in TESTS:
        same, different = (
            [known.get((name, truth, run), {}).get(test) for run in range(runs)] for truth in (False, True)
        )
        if None in same + different:
            if test != DEFAULT:
                row["rejected"] |= {test: stored["rejected"][test]} if test in stored.get("rejected", {}) else {}
                row["scores"] |= {test: stored["scores"][test]} if test in stored.get("scores", {}) else {}
            continue
        if test in P_VALUES:
            row["rejected"][test] = {
                kind: round(float(np.mean([values["p"] <= LEVEL for values in found])), 3)
                for kind, found in (("level", same), ("power", different))
            }
        if test in BAYESIAN:
            row["scores"][test] = scores(
                *(np.array([values["log_bf10"] for values in found]) for found in (same, different))
            )
        if all("log_e" in values for values in same):
            evalues = np.exp([values["log_e"] for values in same])
            row["null_evalue"] = {
                "mean": round(float(evalues.mean()), 4),
                "se": round(float(evalues.std(ddof=min(1, runs - 1)) / np.sqrt(runs)), 4),
            }
    return row if all(test in row["rejected"] for test in P_VALUES) else None


def read(path: Path) -> Known:
    """The file of JSON lines; of two values of a test the later one counts."""
    known: Known = {}
    for line in lines_of(path):
        known.setdefault((line["problem"], line["different"], line["run"]), {}).update(line["tests"])
    return known


def as_line(cell: Cell, tests: dict[str, Values | None]) -> dict[str, Any]:
    return dict(zip(("problem", "different", "run"), cell, strict=True)) | {"tests": tests}


def measure(arguments: argparse.Namespace, stored: dict[str, dict[str, Any]]) -> None:
    """Run what is asked for and not known, every data set written down when it is done."""
    names = [name for name in problems() if not arguments.only or name in arguments.only]
    chosen = {
        (name, different, run): tuple(test for test in arguments.tests if TESTS[test].fits(name))
        for run in range(arguments.runs)
        for name in names
        for different in (False, True)
    }
    part, parts = (int(number) for number in arguments.shard.split("/"))
    cells = list(chosen)[part - 1 :: parts]
    known = read(arguments.raw)
    if not arguments.resume:
        for cell in cells:
            forgotten = set(chosen[cell]) & {DEFAULT} if arguments.reuse else chosen[cell]
            known[cell] = {test: values for test, values in known.get(cell, {}).items() if test not in forgotten}
    write_lines(arguments.raw, (as_line(cell, tests) for cell, tests in known.items() if tests))
    work = []
    for cell in cells:
        have = set(known.get(cell, {}))
        if arguments.reuse:
            row = stored.get(cell[0], {"rejected": (), "scores": ()})
            have |= {*row["rejected"], *row["scores"]} - {DEFAULT}
        if left := tuple(test for test in chosen[cell] if test not in have):
            work.append((cell, left))
    print(f"{len(work)} of {len(cells)} data sets to do", flush=True)
    with arguments.raw.open("a") as file:
        for number, ((cell, _), found) in enumerate(run_any(run_cell, work, arguments.jobs), 1):
            file.write(json.dumps(as_line(cell, found), ensure_ascii=False) + "\n")
            file.flush()
            if number % 200 == 0:
                print(f"{number} done", flush=True)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50, help="data sets that differ, and as many that do not")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=problems(), help="these problems")
    parser.add_argument("--tests", nargs="+", metavar="NAME", choices=TESTS, default=tuple(TESTS), help="these tests")
    parser.add_argument("--shard", default="1/1", metavar="I/K", help="every K-th data set, from the I-th on")
    parser.add_argument("--raw", type=Path, default=RUNS / "power.jsonl", help="the file of JSON lines")
    parser.add_argument("--into", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--resume", action="store_true", help="keep all that the file has")
    parser.add_argument("--reuse", action="store_true", help="keep what is known of all tests but the default")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    # The results that there are may have values of the other tests; those of other numbers of data sets do not count.
    rows = json.loads((RESULTS / "power.json").read_text()) if (RESULTS / "power.json").exists() else []
    stored = {row["problem"]: row for row in rows if row["runs"] == arguments.runs}
    if not arguments.draw:
        measure(arguments, stored)
    if arguments.raw.exists():
        known = read(arguments.raw)
        made = {name: summarise(name, known, arguments.runs, stored.get(name, {})) for name in problems()}
        rows = [row for row in made.values() if row]
        without = [name for name, row in made.items() if not row]
        if without:
            print(f"{len(without)} problems are not complete: {', '.join(without)}")
        if not rows or (without and not arguments.draw):
            print("No results are written; --resume goes on, --draw writes those of the complete problems")
            return
        arguments.into.mkdir(parents=True, exist_ok=True)
        (arguments.into / "power.json").write_text(json.dumps(rows, indent=0) + "\n")
    text = page(rows)
    (arguments.into / "power.md").write_text(text)
    print(text)
    figure(rows, arguments.into / "power.png")


def mean(rows: list[dict], test: str, kind: str) -> float:
    """Mean level, power, log score or Brier score of a test."""
    field = "rejected" if kind in ("level", "power") else "scores"
    return float(np.mean([row[field][test][kind] for row in rows]))


def goals(rows: list[dict]) -> list[str]:
    """What is wanted of the default, and what it does."""
    groups = {
        "one column": [row for row in rows if columns_of(row["problem"]) == 1],
        "several columns": [row for row in rows if columns_of(row["problem"]) > 1],
        "all": rows,
    }
    lines = [
        "## Goals",
        "",
        "| | problems | power | wanted | aggregated MMD | wanted | log score | wanted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    missed = []
    for group, there in groups.items():
        if not there:
            continue
        power, rival, score = (
            mean(there, DEFAULT, "power"),
            mean(there, RIVAL, "power"),
            mean(there, DEFAULT, "log_score"),
        )
        least_power, least_score = WANTED.get(group, (None, None))
        entries = [
            f"{power:.3f}",
            "" if least_power is None else f"≥ {least_power:.2f}",
            f"{rival:.3f}",
            f"≤ {power - WANTED_GAIN:.3f}" if group == "all" else "",
            f"{score:.3f}",
            "" if least_score is None else f"≥ {least_score:.2f}",
        ]
        lines.append(f"| {group} | {len(there)} | " + " | ".join(entries) + " |")
        if least_power is not None and power < least_power:
            missed.append(f"mean power with {group}: {power:.3f}, not {least_power:.2f}")
        if least_score is not None and score < least_score:
            missed.append(f"mean log score with {group}: {score:.3f}, not {least_score:.2f}")
        if group == "all" and power < rival + WANTED_GAIN:
            missed.append(f"mean power above aggregated MMD: by {power - rival:.3f}, not {WANTED_GAIN:.2f}")
    for row in rows:
        power, rival = (row["rejected"][test]["power"] for test in (DEFAULT, RIVAL))
        if round(rival - power, 3) > ALLOWED_LOSS:
            missed.append(
                f"power at most {ALLOWED_LOSS:.2f} below MMD's, {row['problem']}: {power:.2f} against {rival:.2f}"
            )
    lines += ["", "Missed:" if missed else "All are met.", ""]
    return lines + [f"- {goal}" for goal in missed] + [""] * bool(missed)


def page(rows: list[dict]) -> str:
    """The results as a page: goals, where the default falls short, averages, and all rows."""
    log_score = {row["problem"]: {label: row["scores"][label]["log_score"] for label in row["scores"]} for row in rows}
    power = {row["problem"]: {label: row["rejected"][label]["power"] for label in P_VALUES} for row in rows}
    best = [name for name, found in log_score.items() if found[DEFAULT] >= max(found.values())]
    ahead = [name for name, found in power.items() if found[DEFAULT] >= found[RIVAL]]
    runs = rows[0]["runs"]
    lines = [
        "# Power and scores, all tests on the same data",
        "",
        f"{len(rows)} problems, n = {ROWS} where the name does not say otherwise, {runs} data sets that differ and as",
        "many that do not for each. Power and level are shares with p ≤ 0.05, with a standard error of up to",
        f"{0.5 / np.sqrt(runs):.2f} each. Scores are of P(H1): the mean log score is 0 if perfect and -0.693 for a",
        f"coin; a data set counts at worst {WORST_LOG_SCORE:g}. Made by `benchmarks/power.py`.",
        "",
        *goals(rows),
        "## Where others are better",
        "",
        f"`{DEFAULT}` has the best log score of all Bayesian tests on {len(best)} of {len(rows)} problems, and with",
        f"its p-value at least the power of the aggregated MMD test on {len(ahead)}. Where not:",
        "",
        "| problem | log score | best | |",
        "|---|---|---|---|",
    ]
    for name, found in sorted(log_score.items(), key=lambda item: item[1][DEFAULT] - max(item[1].values())):
        winner = max(found, key=found.__getitem__)
        if found[DEFAULT] < found[winner]:
            lines.append(f"| {name} | {found[DEFAULT]:.2f} | {found[winner]:.2f} | {winner} |")
    lines += ["", "| problem | power | aggregated MMD |", "|---|---|---|"]
    for name, found in sorted(power.items(), key=lambda item: item[1][DEFAULT] - item[1][RIVAL]):
        if found[DEFAULT] < found[RIVAL]:
            lines.append(f"| {name} | {found[DEFAULT]:.2f} | {found[RIVAL]:.2f} |")
    lines += ["", "## Means", "", "| | " + " | ".join(P_VALUES) + " |", "|---|" + "---|" * len(P_VALUES)]
    for kind in ("level", "power"):
        lines.append(f"| {kind} | " + " | ".join(f"{mean(rows, label, kind):.3f}" for label in P_VALUES) + " |")
    lines += [
        "",
        f"| | problems | log score | of `{DEFAULT}` there | Brier score | of `{DEFAULT}` there |",
        "|---|---|---|---|---|---|",
    ]
    shown = [label for label in BAYESIAN if any(label in row["scores"] for row in rows)]
    for label in shown:
        there = [row for row in rows if label in row["scores"]]
        means = [mean(there, which, kind) for kind in ("log_score", "brier") for which in (label, DEFAULT)]
        lines.append(f"| {label} | {len(there)} | " + " | ".join(f"{value:.3f}" for value in means) + " |")
    lines += ["", *evalues(rows)]
    lines += [
        "## Calibration",
        "",
        "How often the samples did differ, when P(H1) was in this fifth of [0, 1] (of how many data sets).",
        "",
        "| | 0 to 0.2 | to 0.4 | to 0.6 | to 0.8 | to 1 |",
        "|---|---|---|---|---|---|",
    ]
    for label in shown:
        curve = calibration(rows, label)
        lines.append(f"| {label} | " + " | ".join(f"{k / n:.2f} ({n})" if n else "" for n, k in curve) + " |")
    lines += [
        "",
        "## All problems",
        "",
        "Level / power of the tests with p-values, then log scores of the Bayesian tests.",
        "",
        "| | " + " | ".join(f"p: {label}" for label in P_VALUES) + " | " + " | ".join(shown) + " |",
        "|---|" + "---|" * (len(P_VALUES) + len(shown)),
    ]
    for row in rows:
        shares = [
            f"{row['rejected'][label]['level']:.2f} / {row['rejected'][label]['power']:.2f}" for label in P_VALUES
        ]
        found = log_score[row["problem"]]
        scored = [f"{found[label]:.2f}" if label in found else "" for label in shown]
        lines.append(f"| {row['problem']} | " + " | ".join(shares + scored) + " |")
    return "\n".join(lines) + "\n"


def evalues(rows: list[dict]) -> list[str]:
    """The e-values of the default where the samples do not differ."""
    there = {row["problem"]: row["null_evalue"] for row in rows if "null_evalue" in row}
    if not there:
        return []
    overall = np.mean([found["mean"] for found in there.values()])
    error = np.sqrt(np.sum([found["se"] ** 2 for found in there.values()])) / len(there)
    largest = max(there, key=lambda name: there[name]["mean"])
    return [
        f"The mean e-value of `{DEFAULT}` over all data sets that do not differ is {overall:.3f} ± {error:.3f}",
        f"(standard error; 1 or less is wanted). Of the {len(there)} problems it is largest in {largest}:",
        f"{there[largest]['mean']:.2f} ± {there[largest]['se']:.2f}.",
        "",
    ]


def calibration(rows: list[dict], label: str) -> Array:
    """Over all problems: data sets in each fifth, and how many of them differ, (5, 2)."""
    curves = [row["scores"][label]["of_and_different_in_each_fifth"] for row in rows if label in row["scores"]]
    return np.sum(curves, axis=0)


def figure(rows: list[dict], path: Path) -> None:
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
        if not there:
            continue
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
        if not any(label in row["scores"] for row in rows):
            continue
        shares = [k / n if n else np.nan for n, k in calibration(rows, label)]
        right.plot(np.arange(0.1, 1, 0.2), shares, "o-", color=colours[label], label=label)
    right.set(xlabel="P(H1)", ylabel="share of the data sets that do differ", xlim=(0, 1), ylim=(0, 1.02))
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main()
