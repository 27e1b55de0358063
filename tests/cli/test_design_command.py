"""How many rows are needed, through the command line."""

import json
from pathlib import Path

import twosample as ts

OPTIONS = ("--sizes", "20,60", "--draws", "40")


def test_the_answer_is_that_of_the_library(run, files, first, second):
    outputs = ("--json", "o.json", "--csv", "o.csv", "--plot", "o.png", "--report", "o.html", "--seed", "4")
    status, out, err = run("design", "a.csv", "b.csv", "--columns", "u", "--ratio", "2", *OPTIONS, *outputs)
    assert (status, err) == (0, "")
    result = ts.design(first, second, columns=["u"], sizes=[20, 60], draws=40, ratio=2.0, rng=4)
    assert result.facts().verdict.replace("of x", "of a.csv") == out.splitlines()[0]
    assert json.loads(Path("o.json").read_text())["different"] == result.different.tolist()
    assert Path("o.csv").read_text().splitlines()[1].startswith("20,40,")
    assert Path("o.png").stat().st_size > 1000 and "a.csv" in Path("o.html").read_text()


def test_one_line_and_pairs(run, files):
    status, out, _ = run("design", "a.csv", "b.csv", "--columns", "u", "-q", *OPTIONS)
    assert status == 0 and 20 <= int(out) <= 60
    status, out, _ = run("design", "a.csv", "a.tsv", "--paired", "--columns", "v", "-q", *OPTIONS)
    assert status == 0 and out == "-\n"


def test_refusals_are_in_options(refused, files):
    assert refused("design", "a.csv", "b.csv", "--sizes", "5").startswith("--sizes: must be at least 10")
    assert "'a' is not a list of whole numbers" in refused("design", "a.csv", "b.csv", "--sizes", "a")
