"""twosample beside SciPy, hyppo, MMDAgg, alibi-detect, evidently and others: power, level, times, and what they answer.

    python -m benchmarks.peers [--runs 50] [--environments FOLDER]

Every program is installed into an environment of its own (some need gigabytes), which is kept for the next run, and is
asked by `worker.py` there. Those that do not install or do not import are listed with the reason. `--parts` measures a
part anew, `--draw` writes the page from the results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.environments import DidNotInstall, Environment, prepare
from benchmarks.peers.measure import PROBLEMS, SIZES, power, reports, times
from benchmarks.peers.page import into, page, summary
from benchmarks.suite import RESULTS

DOCUMENT = Path(__file__).parents[2] / "docs" / "comparison" / "peers.md"
PARTS = ("power", "times", "reports")


def cache() -> Path:
    """Where programs like this keep what they can make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "twosample-peers"


def install(names: list[str], folder: Path) -> tuple[dict[str, Environment], list[dict[str, Any]]]:
    """Environments by program, and what is to be said of each program."""
    environments, about = {}, []
    for peer in PEERS:
        if peer.name not in names:
            continue
        row: dict[str, Any] = {"peer": peer.name, "tests": peer.tests, "note": peer.note, **peer.answers}
        try:
            environments[peer.name] = prepare(peer, folder)
            row["versions"] = environments[peer.name].versions
        except DidNotInstall as reason:
            row["missing"] = str(reason)
        print(f"{peer.name}: {row.get('missing') or row['versions']}", flush=True)
        about.append(row)
    return environments, about


def main() -> None:
    """Install, measure, and write results and page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [peer.name for peer in PEERS]
    parser.add_argument("--runs", type=int, default=50, help="data sets that differ, and as many that do not")
    parser.add_argument(
        "--environments", type=Path, default=cache(), metavar="FOLDER", help="where programs are installed"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, default=names, help="these programs")
    parser.add_argument(
        "--problems", nargs="+", metavar="NAME", choices=PROBLEMS, default=PROBLEMS, help="these problems"
    )
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", default=SIZES, help="rows of a sample to time")
    parser.add_argument("--seconds", type=float, default=60, help="of the processor, that one test may take")
    parser.add_argument("--megabytes", type=int, default=4096, help="of memory, that one test may take")
    parser.add_argument("--into", type=Path, default=RESULTS, metavar="FOLDER", help="folder of the results")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="measure these, and keep the others")
    parser.add_argument("--note", default="", help="what else is to be known of this run")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    path = options.into / "peers.json"
    if not options.draw:
        environments, about = install(["twosample", *options.only], options.environments)
        results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {part: [] for part in PARTS}
        results |= {
            "peers": about,
            "python": platform.python_version(),
            "seconds": options.seconds,
            "megabytes": options.megabytes,
            "note": options.note,
        }
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if "power" in options.parts:
                results["power"] = power(environments, folder, options.runs, tuple(options.problems))
            if "times" in options.parts:
                sizes = tuple(sorted(options.sizes))
                results["times"] = times(environments, folder, sizes, options.seconds, options.megabytes)
            if "reports" in options.parts:
                results["reports"] = reports(environments, folder)
        options.into.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    results = json.loads(path.read_text(encoding="utf-8"))
    text = page(results)
    (options.into / "peers.md").write_text(text, encoding="utf-8")
    if options.into == RESULTS:
        DOCUMENT.write_text(into(DOCUMENT.read_text(encoding="utf-8"), summary(results)), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
