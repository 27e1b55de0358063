"""The results as a page."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

Row = dict[str, Any]
# In the documentation, around what `summary` writes.
MARKS = ("<!-- measured: written by benchmarks.peers -->", "<!-- end of what was measured -->")


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table."""
    return [
        "| " + " | ".join(head) + " |",
        "|---" * len(head) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def words(text: str) -> list[str]:
    """A paragraph."""
    return [*textwrap.wrap(text.strip(), 120, break_on_hyphens=False), ""]


def seconds(value: float) -> str:
    """In the unit that suits."""
    if value < 0.001:
        return f"{1e6 * value:.0f} µs"
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def multiple(ratio: float) -> str:
    """Of the time of the test."""
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"


def keys(rows: list[Row]) -> list[tuple[str, str]]:
    """Programs and tests, in their order."""
    return list(dict.fromkeys((row["peer"], row["test"]) for row in rows))


def page(results: dict[str, Any]) -> str:
    """All tables."""
    lines = [
        "# twosample beside other programs",
        "",
        *words(
            f"Every program in an environment of its own, on the same data, with Python {results['python']}. "
            f"{results['note']} Made by `python -m benchmarks.peers`; what was measured is in `peers.json`."
        ),
        *installed(results["peers"]),
        *powers(results["power"]),
        *bayesian(results["power"]),
        *timings(results),
        *reports(results["reports"]),
        *what(results["peers"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def summary(results: dict[str, Any]) -> list[str]:
    """What the documentation shows: a row for each test, the report, and what was not measured."""
    rows, timed = results["power"], results["times"]
    body = []
    order = {name: place for place, name in enumerate(peer["peer"] for peer in results["peers"])}
    for key in sorted(keys([*timed, *rows]), key=lambda key: order[key[0]]):
        there = [row for row in rows if (row["peer"], row["test"]) == key and "power" in row]
        one, several = ([row for row in there if (row["columns"] == 1) == alone] for alone in (True, False))
        clock = {(row["n"], row["columns"]): row for row in timed if (row["peer"], row["test"]) == key}
        times = [
            f"{seconds(row['seconds'])} ({multiple(row['ratio'])})" if "ratio" in (row := clock.get(case, {})) else ""
            for case in ((200, 1), (20_000, 1), (200, 10))
        ]
        most = [largest({n: row for (n, columns), row in clock.items() if columns == wanted}) for wanted in (1, 10)]
        powers = [mean(part, "power") if part else "" for part in (one, several)]
        level = mean(there, "level") if there else ""
        body.append([" ".join(key), *powers, level, *times, " / ".join(most) if clock else ""])
    head = [
        "",
        "power, one column",
        "power, several",
        "level",
        "200 rows",
        "20,000 rows",
        "200 rows, 10 columns",
        "most rows",
    ]
    versions = [f"{n} {v}" for peer in results["peers"] for n, v in peer.get("versions", {}).items()]
    missing = [f"{peer['peer']} ({peer['missing']})" for peer in results["peers"] if "missing" in peer]
    runs = rows[0]["runs"] if rows else 0
    single, wide = ({row["problem"] for row in rows if (row["columns"] == 1) == alone} for alone in (True, False))
    return [
        *words(
            f"Power and level at 5 % are means over {len(single)} problems with one column and {len(wide)} with "
            f"several, 100 rows in each sample, {runs} data sets that "
            f"differ and {runs} that do not for each, ± their standard error. Times are of one core's processor, in "
            "brackets as a multiple of that of `ts.test(x, y)`. Most rows: the largest of 200, 2,000, 20,000 and "
            f"1,000,000 that took at most {results['seconds']:g} s and {results['megabytes'] / 1024:g} GB, with "
            "one column / with ten."
        ),
        *table(head, body),
        *words(f"{results['note']} Versions: Python {results['python']}, {', '.join(versions)}."),
        *(
            words(f"Not measured, because they did not install on the machine of this run: {'; '.join(missing)}.")
            if missing
            else []
        ),
        *reports(results["reports"])[2:],
    ]


def largest(clock: dict[int, Row]) -> str:
    """The most rows that were timed."""
    done = [n for n, row in clock.items() if "seconds" in row]
    return f"{max(done):,}" if done else f"fewer than {min(clock):,}" if clock else "-"


def into(document: str, lines: list[str]) -> str:
    """The document with these lines between its two marks."""
    before, rest = document.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    return f"{before}{MARKS[0]}\n\n" + "\n".join(lines).strip() + f"\n\n{MARKS[1]}{after}"


def installed(peers: list[Row]) -> list[str]:
    rows = []
    for peer in peers:
        versions = ", ".join(f"{name} {version}" for name, version in peer.get("versions", {}).items())
        rows.append([peer["peer"], versions or f"not measured: {peer['missing']}", peer["note"]])
    calls = [f"- {peer['peer']}, {test}: {call}" for peer in peers for test, call in peer["tests"].items()]
    return ["## Programs", "", *table(["program", "versions", ""], rows), "How they are called:", "", *calls, ""]


def share(row: Row | None, kind: str) -> str:
    """A share of rejections, with a star where some data sets got no answer."""
    if row is None or kind not in row:
        return ""
    return f"{row[kind]:.2f}" + ("\\*" if row.get("no_answer") else "")


def powers(rows: list[Row]) -> list[str]:
    """Power by problem, and the mean power and level."""
    decided = [row for row in rows if "power" in row]
    if not decided:
        return []
    runs = rows[0]["runs"]
    names = list(dict.fromkeys(row["problem"] for row in rows))
    found = {(row["peer"], row["test"], row["problem"]): row for row in decided}
    columns = {row["problem"]: row["columns"] for row in rows}
    lines = [
        "## Power and level",
        "",
        *words(
            f'Share of the data sets in which "the same" is rejected at 5 %: {runs} data sets that differ and '
            f"{runs} that do not for each of {len(names)} problems, {rows[0]['rows']} rows in each sample. "
            f"A share has a standard error of up to {0.5 / np.sqrt(runs):.2f}; means have theirs beside them. "
            "In bold: the largest power at a "
            "problem, and what is within its standard error, among tests whose mean level is at most 0.05 and two "
            "standard errors. A star: some data sets got no answer, which counts as not rejected."
        ),
    ]
    for title, chosen in (
        ("One column", [name for name in names if columns[name] == 1]),
        ("Several columns", [name for name in names if columns[name] > 1]),
    ):
        tests = [key for key in keys(decided) if chosen and all((*key, name) in found for name in chosen)]
        if not tests:
            continue
        limit = 0.05 + 2 * np.sqrt(0.05 * 0.95 / (runs * len(chosen)))
        fair = {key for key in tests if np.mean([found[*key, name]["level"] for name in chosen]) <= limit}
        best = {name: max((found[*key, name]["power"] for key in fair), default=1.0) for name in chosen}
        body = []
        for key in tests:
            there = [found[*key, name] for name in chosen]
            cells = []
            for row in there:
                most = best[row["problem"]]
                near = key in fair and row["power"] >= most - np.sqrt(most * (1 - most) / runs)
                cells.append(f"**{share(row, 'power')}**" if near else share(row, "power"))
            body.append([" ".join(key), *cells, mean(there, "power"), mean(there, "level")])
        lines += [f"### {title}", "", *table(["", *chosen, "mean power", "mean level"], body)]
    refused = [row for row in decided if row.get("no_answer")]
    for row in refused:
        lines.append(
            f"- \\* {row['peer']} {row['test']}, {row['problem']}: {row['no_answer']} of {2 * runs}: {row['error']}"
        )
    for row in rows:
        if "stopped" in row:
            lines.append(f"- {row['peer']} {row['test']}, {row['problem']}: {row['stopped']}")
    return [*lines, ""] if refused else lines


def mean(rows: list[Row], kind: str) -> str:
    """Over problems, with its standard error."""
    error = np.linalg.norm([row[f"{kind}_se"] for row in rows]) / len(rows)
    return f"{np.mean([row[kind] for row in rows]):.3f} ± {error:.3f}"


def bayesian(rows: list[Row]) -> list[str]:
    """Log scores of those that give a Bayes factor."""
    scored = [row for row in rows if "log_score" in row]
    if not scored:
        return []
    names = list(dict.fromkeys(row["problem"] for row in scored))
    tests = keys(scored)
    found = {(row["peer"], row["test"], row["problem"]): row for row in scored}
    body = [
        [name]
        + [
            f"{row['log_score']:.2f} ± {row['log_score_se']:.2f}" if (row := found.get((*key, name))) else ""
            for key in tests
        ]
        for name in names
    ]
    return [
        "## Probabilities",
        "",
        *words(
            "Mean log score of the probability that the samples differ, over data sets that differ and as many that do "
            "not: 0 is perfect, -0.69 a coin; a data set counts at worst -20."
        ),
        *table(["", *(" ".join(key) for key in tests)], body),
    ]


def timings(results: dict[str, Any]) -> list[str]:
    """Times and ratios by size."""
    rows = results["times"]
    if not rows:
        return []
    sizes = sorted({row["n"] for row in rows})
    lines = [
        "## Time and memory",
        "",
        *words(
            "Time of one core's processor, after a first call on 100 rows (imports do not count), on normal data "
            "without a difference, n rows in each sample. In brackets: as a multiple of the time of `ts.test(x, y)`; "
            f"below 1 the other is faster. Each is taken as far as {results['seconds']:g} s and "
            f"{results['megabytes'] / 1024:g} GB allow; memory is the most that the process had, at the last size, "
            "with libraries and data."
        ),
    ]

    def cell(row: Row | None) -> str:
        if row is None:
            return ""
        if "stopped" in row:
            return row["stopped"]
        return seconds(row["seconds"]) + (f" ({multiple(row['ratio'])})" if "ratio" in row else "")

    for columns in sorted({row["columns"] for row in rows}):
        there = {(row["peer"], row["test"], row["n"]): row for row in rows if row["columns"] == columns}
        body = []
        for key in keys([row for row in rows if row["columns"] == columns]):
            done = [row for size in sizes if (row := there.get((*key, size))) and "seconds" in row]
            memory = f"{done[-1]['megabytes']:,} MB" if done else ""
            body.append([" ".join(key), *(cell(there.get((*key, size))) for size in sizes), memory])
        title = "One column" if columns == 1 else f"{columns} columns"
        lines += [f"### {title}", "", *table(["", *(f"n = {size:,}" for size in sizes), "memory"], body)]
    return lines


def reports(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    body = [
        [row["peer"], f"{row['file_megabytes']:.2g} MB", seconds(row["seconds"]), f"{row['megabytes']:,.0f} MB"]
        if "seconds" in row
        else [row["peer"], row["stopped"], "", ""]
        for row in rows
    ]
    return [
        "## Reports",
        "",
        *words(
            f"A page of {rows[0]['columns']} columns, {rows[0]['rows']:,} rows in each sample, from data to file, "
            "with imports."
        ),
        *table(["", "size of the file", "time", "memory"], body),
    ]


def what(peers: list[Row]) -> list[str]:
    fields = ("answers", "which columns", "where", "how much", 'says "the same"', "may be looked at any time")
    body = [[peer["peer"], *(peer[name] for name in fields)] for peer in peers]
    return ["## What they answer", "", *table(["", *fields], body)]
