"""Which mixture of parts the default model should be: the Bayes factor of each part once, any mixture of them after.

The parts are tests of their own: all columns jointly (J), single columns (S), pairs of columns (P), each with the
columns as they are or in a second view of them (Jr, Sr, Pr). On the problems of the power benchmark, but on development
seeds, which no other benchmark uses, ``python -m benchmarks.mixture`` writes down log BF10 of every part; it goes on
where it was cut off. Then ``python -m benchmarks.mixture --judge`` says what mixtures of them would do, and
``--judge "J + 2 Jr" ...`` what these would.

A mixture is a sum of parts, each with a weight in front (1 if there is none). What is in brackets counts as one part:
``2 (J + Jr) + (S + Sr)`` gives a third to J and Jr each, and a sixth to S and Sr. Parts that a problem does not have
(there are no pairs in one column) leave their weight to the others in their brackets, and empty brackets to the other
brackets.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import warnings
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.special import logsumexp

import twosample as ts
from benchmarks.power import WORST_LOG_SCORE
from benchmarks.problems import columns_of, problems
from benchmarks.suite import RESULTS, RUNS, Array, generator, lines_of, log_score, run_any, write_lines
from twosample.data import Ranks, Samples
from twosample.errors import TwoSampleWarning
from twosample.features import subsets
from twosample.features.maps import StackFeatures
from twosample.features.orientation import Orientation
from twosample.features.points import thin
from twosample.features.statistics import FeatureStatistics
from twosample.inference.mixture import log_mean, stack_log_bf10
from twosample.kernels import RBF
from twosample.models import PRESETS
from twosample.places import local

DEVELOPMENT_SEED = 987_654_321
MODEL, POINTS = PRESETS["adaptive"], 40
PARTS = ("J", "Jr", "S", "Sr", "P", "Pr")
MIXTURES = (
    *PARTS,
    "J + S",
    "J + S + P",
    "Jr + Sr + Pr",
    "J + Jr",
    "(J + Jr) + Sr + Pr",
    "(J + Jr) + Sr",
    "J + Jr + Sr + Pr",
    "J + Sr + Pr",
    "(J + Jr) + (S + Sr) + (P + Pr)",
    "2 (J + Jr) + (S + Sr) + (P + Pr)",
    "(J + Jr) + 2 (S + Sr) + (P + Pr)",
    "(J + 2 Jr) + (S + 2 Sr) + (P + 2 Pr)",
    "(2 J + Jr) + (2 S + Sr) + (2 P + Pr)",
    "2 (J + 2 Jr) + (S + 2 Sr) + (P + 2 Pr)",
)
Cell = tuple[str, bool, int]
Parsed = list[tuple[float, "str | Parsed"]]


def parts_of(x: Array, y: Array, paired: bool) -> dict[str, float]:
    """Log BF10 of every part that such data can have; S and Sr are averages over columns, P and Pr over pairs."""
    samples = Samples.from_data(x, y, paired=paired)
    found = {"J": ts.test(x, y, paired=paired, subsets=None).log_bf10}
    ranks, rows, count = Ranks.of(samples.x, samples.y), thin(samples.x, samples.y), samples.n_columns
    views = {"r": (ranks, ranks.apply(rows)), "": (samples.view, samples.view.apply(rows))}
    for group in subsets.chosen_subsets("auto", samples.columns):
        size = group.columns.shape[1]
        for suffix, (view, seen) in views.items():
            if size == count and suffix == "":
                continue  # J
            if size == 1:
                points = subsets._points_of_one(np.sort(seen, axis=0), subsets.POINTS_OF_ONE)
            else:
                points = subsets._points(seen, group.columns, Orientation.of(seen), POINTS)
            typical, multiples = subsets.typical_of_points(points), subsets.multiples_of(MODEL)
            features = StackFeatures(RBF(), view, group.columns, points, typical, multiples)
            moments = local.stack_moments(features, samples.x, samples.y, paired=paired)
            collected = FeatureStatistics(features.lengthscales, *moments)
            [log_bf10] = stack_log_bf10(features, partial(collected.select, count=len(points)), (MODEL,))
            part = "S" if size == 1 else "J" if size == count else "P"
            found[f"{part}{suffix}"] = log_mean(log_bf10, np.full(len(log_bf10), 1.0 / len(log_bf10)))
    return found


def run_cell(cell: Cell) -> dict[str, float]:
    """Log BF10 of the parts on one data set."""
    name, different, _ = cell
    warnings.simplefilter("ignore", TwoSampleWarning)
    problem = problems()[name]
    rng = generator(*cell, root=DEVELOPMENT_SEED)
    x, y = (problem.different if different else problem.same)(rng, problem.rows)
    return {part: round(float(value), 4) for part, value in parts_of(x, y, problem.paired).items()}


def parse(text: str) -> Parsed:
    """A mixture as a list of weights and parts, or lists of the same kind.

    >>> parse("J + 2 (S + 1/2 Sr)")
    [(1.0, 'J'), (2.0, [(1.0, 'S'), (0.5, 'Sr')])]
    """
    tokens = re.findall(r"\d+/\d+|\d*\.?\d+|[A-Za-z]+|\S", text)

    def terms() -> Parsed:
        found: Parsed = []
        while True:
            weight = float(Fraction(tokens.pop(0))) if tokens and re.match(r"[\d.]", tokens[0]) else 1.0
            token = tokens.pop(0) if tokens else "its end"
            if token == "(":
                found.append((weight, terms()))
                if not tokens or tokens.pop(0) != ")":
                    raise SystemExit(f"{text!r}: a bracket is not closed")
            elif token in PARTS:
                found.append((weight, token))
            else:
                raise SystemExit(f"{text!r}: a part ({', '.join(PARTS)}) or a bracket belongs where {token} is")
            if not tokens or tokens[0] != "+":
                return found
            tokens.pop(0)

    found = terms()
    if tokens:
        raise SystemExit(f"{text!r}: + belongs before {tokens[0]}")
    return found


def weights(mixture: Parsed, present: set[str]) -> dict[str, float]:
    """The weight of every part, if only these are there; they add up to 1, and are none where no part is there.

    >>> weights(parse("2 (J + Jr) + (S + Sr) + P"), {"J", "Jr", "S"})
    {'J': 0.3333333333333333, 'Jr': 0.3333333333333333, 'S': 0.3333333333333333}
    """
    members = []
    for weight, member in mixture:
        inner = weights(member, present) if isinstance(member, list) else {member: 1.0} if member in present else {}
        if inner:
            members.append((weight, inner))
    total = sum(weight for weight, _ in members)
    found: dict[str, float] = {}
    for weight, inner in members:
        for part, share in inner.items():
            found[part] = found.get(part, 0.0) + share * weight / total
    return found


class Verdict(NamedTuple):
    """What a mixture does in one problem."""

    power: float
    log_score: float
    null_mean: float


Parts = dict[str, tuple[Array, Array]]


def judge(mixture: Parsed, parts: Parts) -> Verdict | None:
    """Of the log BF10 of parts in nulls and alternatives; None where the mixture has none of the parts."""
    shares = weights(mixture, set(parts))
    if not shares:
        return None
    h0, h1 = (
        logsumexp([parts[part][truth] for part in shares], axis=0, b=np.array(list(shares.values()))[:, None])
        for truth in (0, 1)
    )
    score = np.concatenate([log_score(h0, False), log_score(h1, True)])
    return Verdict(
        float((h1 > np.quantile(h0, 0.95)).mean()),
        float(np.maximum(score, WORST_LOG_SCORE).mean()),
        float(np.exp(h0).mean()),
    )


def read(path: Path) -> dict[str, Parts]:
    """Log BF10 of the parts that all data sets of a problem have, in nulls and alternatives, by problem."""
    found: dict[str, tuple[dict[int, dict], dict[int, dict]]] = {}
    for line in lines_of(path):
        found.setdefault(line["problem"], ({}, {}))[line["different"]][line["run"]] = line["parts"]
    read: dict[str, Parts] = {}
    for name in problems():
        same, different = (list(runs.values()) for runs in found.get(name, ({}, {})))
        common = [part for part in PARTS if all(part in run for run in same + different)]
        if same and different and common:
            read[name] = {
                part: tuple(np.array([run[part] for run in runs]) for runs in (same, different)) for part in common
            }
    return read


def table(mixtures: list[str], data: dict[str, Parts]) -> list[str]:
    """A row for every mixture, once for one column and once for several."""
    lines = [
        "Power is that at the 95 % quantile of the problem's own nulls. It is lost against the best part in each",
        "problem, which profits from being the best of several.",
        "",
    ]
    for group in ("one column", "several columns"):
        names = [name for name in data if (columns_of(name) == 1) == (group == "one column")]
        best = {name: max(judge([(1.0, part)], data[name]).power for part in data[name]) for name in names}
        lines += [
            f"## {group[0].upper()}{group[1:]}, {len(names)} problems",
            "",
            "| mixture | problems | power | log score | worst null mean BF10 | power lost: mean | largest | where |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for text in mixtures:
            judged = {name: judge(parse(text), data[name]) for name in names}
            found = {name: verdict for name, verdict in judged.items() if verdict}
            if not found:
                continue
            lost = {name: best[name] - verdict.power for name, verdict in found.items()}
            power, score, _ = np.mean(list(found.values()), axis=0)
            worst = max(verdict.null_mean for verdict in found.values())
            where = max(lost, key=lost.__getitem__)
            lines.append(
                f"| {text} | {len(found)} | {power:.3f} | {score:.3f} | {worst:.2f} "
                f"| {np.mean(list(lost.values())):.3f} | {lost[where]:.2f} | {where} |"
            )
        lines.append("")
    return lines


def by_problem(mixtures: list[str], data: dict[str, Parts]) -> list[str]:
    """Power, log score and null mean of every mixture in every problem."""
    lines = [
        "Power / log score / mean BF10 of the nulls.",
        "",
        "| problem | " + " | ".join(mixtures) + " |",
        "|---|" + "---|" * len(mixtures),
    ]
    for name, parts in data.items():
        found = (judge(parse(text), parts) for text in mixtures)
        shown = (f"{it.power:.2f} / {it.log_score:.2f} / {it.null_mean:.2f}" if it else "" for it in found)
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return lines


def main() -> None:
    """Measure, or judge what has been measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="data sets that differ, and as many that do not")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=problems(), help="these problems")
    parser.add_argument("--raw", type=Path, default=RUNS / "mixture.jsonl", help="the file of JSON lines")
    parser.add_argument("--fresh", action="store_true", help="forget what the file has of these data sets")
    parser.add_argument("--judge", nargs="*", metavar="MIXTURE", help="measure nothing; say what mixtures do")
    parser.add_argument("--by-problem", action="store_true", help="with --judge: every problem")
    arguments = parser.parse_args()
    if arguments.judge is not None:
        data = read(arguments.raw)
        if arguments.only:
            data = {name: parts for name, parts in data.items() if name in arguments.only}
        show = by_problem if arguments.by_problem else table
        text = "\n".join(show(arguments.judge or list(MIXTURES), data))
        print(text)
        if not (arguments.judge or arguments.by_problem or arguments.only):
            (RESULTS / "mixture.md").write_text(f"# Mixtures of parts, on development seeds\n\n{text}\n")
        return
    names = arguments.only or list(problems())
    cells = [(name, different, run) for run in range(arguments.runs) for name in names for different in (False, True)]
    lines = {(line["problem"], line["different"], line["run"]): line for line in lines_of(arguments.raw)}
    if arguments.fresh:
        lines = {cell: line for cell, line in lines.items() if cell not in set(cells)}
    write_lines(arguments.raw, lines.values())
    left = [cell for cell in cells if cell not in lines]
    print(f"{len(left)} of {len(cells)} data sets to do", flush=True)
    with arguments.raw.open("a") as file:
        for number, (cell, parts) in enumerate(run_any(run_cell, left, arguments.jobs), 1):
            line = dict(zip(("problem", "different", "run"), cell, strict=True)) | {"parts": parts}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            if number % 200 == 0:
                print(f"{number} done", flush=True)


if __name__ == "__main__":
    main()
