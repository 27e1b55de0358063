"""Published comparisons of small samples: `ts.test` beside the t-test, rank tests and two Bayesian tests.

Two rules are judged. Where the t-test has p < 0.001, P(H1) is at least 0.9, or the summary says why not; where the
Bayes factor of the JZS t-test is below 1/2, P(H1) is at most 0.6. Run with ``python -m benchmarks.published_tables``,
which takes seconds; ``--model NAME`` prints what another model says, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats
from scipy.special import expit

import twosample as ts
from benchmarks.published_data import PUBLISHED, Published
from benchmarks.suite import RESULTS, Array
from twosample.errors import TwoSampleWarning

CLEAR_PVALUE, WANTED_PROBABILITY = 0.001, 0.9
CLEAR_NULL_BF10, ALLOWED_PROBABILITY = 0.5, 0.6


def rank_sum_pvalue(x: Array, y: Array) -> float:
    """Exact two-sided p-value of the Wilcoxon–Mann–Whitney test given the ties, over all labellings of the rows."""
    doubled = np.rint(2.0 * stats.rankdata(np.concatenate([x, y]))).astype(int)
    counts = np.zeros((len(x) + 1, doubled.sum() + 1))  # of the subsets of this size with this sum
    counts[0, 0] = 1.0
    for rank in doubled:
        counts[1:, rank:] += counts[:-1, : counts.shape[1] - rank]
    return _two_sided(counts[-1], doubled[: len(x)].sum(), len(x) * doubled.mean())


def signed_rank_pvalue(differences: Array) -> float:
    """Exact two-sided p-value of Wilcoxon's signed-rank test given the ties, without the differences of zero."""
    known = differences[differences != 0.0]
    doubled = np.rint(2.0 * stats.rankdata(np.abs(known))).astype(int)
    counts = np.zeros(doubled.sum() + 1)  # of the signs with this sum of positive ranks
    counts[0] = 1.0
    for rank in doubled:
        counts[rank:] += counts[: len(counts) - rank]
    return _two_sided(counts, doubled[known > 0.0].sum(), 0.5 * doubled.sum())


def _two_sided(counts: Array, found: int, mean: float) -> float:
    """Share of the sums, counted from 0, at least as far from their mean as what was found."""
    distances = np.abs(np.arange(len(counts)) - mean)
    return float(counts[distances >= abs(found - mean) - 1e-9].sum() / counts.sum())


def reasons(result: ts.TwoSampleResult) -> list[str]:
    """What the summary says against its verdict: a p-value that disagrees, or that P(H1) could not be as wanted."""
    said, largest = [result.disagreement] * bool(result.disagreement), largest_probability(result)
    if largest is not None and largest < WANTED_PROBABILITY:
        said.append(f"largest possible P {largest:.4f}")
    return said


def largest_probability(result: ts.TwoSampleResult) -> float | None:
    """The largest P(H1) of all labellings of few rows, None of many."""
    largest = result.diagnostics.largest
    return None if largest is None else float(expit(largest))


def compare(table: Published, **options: Any) -> dict[str, Any]:
    """What every test says of two published samples."""
    x, y, paired = table.x, table.y, table.paired
    # Rounded, because differences of decimals that are equal on paper have to be tied.
    differences = np.round(x - y, 9) if paired else None
    classical = stats.ttest_rel(x, y) if paired else stats.ttest_ind(x, y, equal_var=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwoSampleWarning)
        result = ts.test(x, y, paired=paired, **options)
        jzs = ts.baselines.jzs(x, y, paired=paired)
        holmes = None if paired else ts.baselines.holmes(x, y)
    rounded = {
        "t_pvalue": classical.pvalue,
        "rank_pvalue": rank_sum_pvalue(x, y) if differences is None else signed_rank_pvalue(differences),
        "jzs_bf10": jzs.bf10,
        "holmes_bf10": holmes and holmes.bf10,
        "log_bf10": result.log_bf10,
        "prob_h1": result.prob_h1,
        "largest_prob_h1": largest_probability(result),
        "pvalue": result.pvalue,
    }
    return {
        "table": table.title,
        "n_x": len(x),
        "n_y": len(y),
        "paired": paired,
        **{name: None if value is None else float(f"{value:.5g}") for name, value in rounded.items()},
        "verdict": result.verdict,
        "reasons": reasons(result),
    }


def judge(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The comparisons that each rule is about, and those that break it."""
    clear = [row for row in rows if row["t_pvalue"] < CLEAR_PVALUE]
    null = [row for row in rows if row["jzs_bf10"] < CLEAR_NULL_BF10]
    missed = [row for row in clear if row["prob_h1"] < WANTED_PROBABILITY]
    return {
        "clear": clear,
        "missed": missed,
        "missed_unsaid": [row for row in missed if not row["reasons"]],
        "null": null,
        "alarmed": [row for row in null if row["prob_h1"] > ALLOWED_PROBABILITY],
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table, what the rules say, and the sources."""
    judged = judge(rows)
    counts = {rule: len(found) for rule, found in judged.items()}
    lines = [
        "# Published tables",
        "",
        f"Made by `benchmarks/published_tables.py`: {len(rows)} comparisons of 5 to 25 rows a group. P-values of the",
        "t-test (Welch's, or that of pairs) and of the rank test (Wilcoxon–Mann–Whitney, or Wilcoxon's signed ranks of",
        "pairs; exact, given the ties); BF10 of the JZS t-test and of the Pólya tree of Holmes et al., which takes no",
        "pairs; and of `ts.test` log BF10, P(H1) and the verdict. Of rows with few labellings, it also gives the",
        "largest P(H1) of all of them and the exact p-value.",
        "",
        "| comparison | rows | t-test p | rank p | JZS | Holmes | log BF10 | P(H1) | largest P | p-value | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        size = f"{row['n_x']} pairs" if row["paired"] else f"{row['n_x']}, {row['n_y']}"
        numbers = [
            _shown(row[name], form)
            for name, form in (
                ("t_pvalue", ".2g"),
                ("rank_pvalue", ".2g"),
                ("jzs_bf10", ".3g"),
                ("holmes_bf10", ".3g"),
                ("log_bf10", "+.2f"),
                ("prob_h1", ".3f"),
                ("largest_prob_h1", ".3f"),
                ("pvalue", ".2g"),
            )
        ]
        lines.append(f"| {' | '.join([row['table'], size, *numbers, row['verdict']])} |")
    lines += [
        "",
        f"Of the {counts['clear']} comparisons whose t-test has p < {CLEAR_PVALUE:g}, {counts['missed']} have P(H1) <",
        f"{WANTED_PROBABILITY:g}, {counts['missed_unsaid']} of them without a reason in the summary. Of the",
        f"{counts['null']} with a JZS BF10 below {CLEAR_NULL_BF10:g}, {counts['alarmed']} have P(H1) >",
        f"{ALLOWED_PROBABILITY:g}.",
        "",
    ]
    broken = [row for rule in ("missed", "alarmed") for row in judged[rule]]
    lines += [f"- {row['table']}: P(H1) {row['prob_h1']:.3f}. {_said(row['reasons'])}" for row in broken]
    lines += [""] * bool(broken) + ["| comparison | source |", "|---|---|"]
    lines += [f"| {table.title} | {table.source} |" for table in PUBLISHED]
    return "\n".join(lines) + "\n"


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _said(sentences: list[str]) -> str:
    return f"The summary says: {'; '.join(sentences).rstrip('.')}." if sentences else "The summary gives no reason."


def main() -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="print what this model says, and write nothing")
    arguments = parser.parse_args()
    rows = [compare(table, **({"model": arguments.model} if arguments.model else {})) for table in PUBLISHED]
    text = markdown(rows)
    print(text)
    if not arguments.model:
        judged = {name: [row["table"] for row in found] for name, found in judge(rows).items()}
        content = {"rules": judged, "comparisons": rows}
        (RESULTS / "published_tables.json").write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n")
        (RESULTS / "published_tables.md").write_text(text)


if __name__ == "__main__":
    main()
