"""twosample check and twosample reference: exit statuses, what is written, and what is refused."""

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import twosample as ts

SCRIPT = 'set -u\nstatus() { code=0; "$@" || code=$?; echo "$code" >> statuses; }\n'


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Yesterday, a day like it, another, and a broken file, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("yesterday", 0.0), ("same", 0.0), ("other", 0.8)):
        rows = rng.normal(size=(120, 2)) + np.array([0.0, shift])
        pl.DataFrame(rows, schema=["u", "v"]).write_csv(f"{name}.csv")
    Path("broken.csv").write_text("u,v\n1,2\n3\n")
    return tmp_path


@pytest.fixture
def answer(days):
    return lambda name, **options: ts.test(pl.read_csv("yesterday.csv"), pl.read_csv(f"{name}.csv"), **options)


def cases(path):
    """Counts of a JUnit file, checked against its cases; and the cases by name."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites" and [suite.get("name") for suite in root] == ["twosample"]
    (suite,) = root
    found = suite.findall("testcase")
    # The order and the names of the form that Jenkins and GitLab read.
    assert [child.tag for child in suite] == ["properties"] + ["testcase"] * len(found)
    for element in (root, suite):
        assert int(element.get("tests")) == len(found)
        assert int(element.get("failures")) == sum(case.find("failure") is not None for case in found)
        assert element.get("errors") == "0" and float(element.get("time")) >= 0
    for case in found:
        assert case.get("name") and case.get("classname") and float(case.get("time")) >= 0
        assert {child.tag for child in case} <= {"failure", "system-out"}
        assert all(failure.get("message") and failure.get("type") for failure in case.findall("failure"))
    return {case.get("name"): case for case in found}


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_pass_fail_and_bad_input_in_a_script(days):
    """Three jobs, as a CI system runs them."""
    command = f"{shlex.quote(sys.executable)} -m twosample check yesterday.csv"
    rule = '--fail-if "prob_h1 > 0.95 and auc > 0.55"'
    Path("jobs.sh").write_text(
        SCRIPT
        + f"status {command} same.csv {rule} --junit same.xml > same.txt\n"
        + f"status {command} other.csv {rule} --junit other.xml --json other.json > other.txt\n"
        + f"status {command} broken.csv --junit broken.xml > broken.txt 2> broken.err\n"
    )
    subprocess.run(["sh", "jobs.sh"], check=True, timeout=120)
    assert Path("statuses").read_text().split() == ["0", "1", "2"]
    passed, failed = cases("same.xml"), cases("other.xml")
    assert all(case.find("failure") is None for case in passed.values())
    rule = failed["prob_h1 > 0.95 and auc > 0.55"].find("failure")
    first = Path("other.txt").read_text().splitlines()[0]
    assert first == f"FAIL: {rule.get('message')}"
    assert failed["v"].find("failure") is not None and failed["u"].find("failure") is None
    assert Path("same.txt").read_text().startswith("pass: prob_h1 > 0.95 and auc > 0.55 does not hold: prob_h1 = ")
    assert json.loads(Path("other.json").read_text())["outcome"] == "fail"
    # Of bad input there is one line, and no file.
    assert Path("broken.txt").read_text() == "" and not Path("broken.xml").exists()
    assert re.fullmatch(r"twosample: error: .*broken\.csv.*\n", Path("broken.err").read_text())


def test_a_nightly_job_with_a_reference(run, days):
    """Yesterday's rows are gone when today's come."""
    assert run("reference", "yesterday.csv", "--out", "ref.npz")[0] == 0
    expected = {name: ts.Reference.load("ref.npz").test(pl.read_csv(f"{name}.csv")) for name in ("same", "other")}
    Path("yesterday.csv").unlink()
    for name, status in (("same", 0), ("other", 1)):
        ended, out, _ = run("check", "--reference", "ref.npz", f"{name}.csv", "--json", "-")
        content = json.loads(out)
        assert ended == status
        assert content["values"]["prob_h1"] == expected[name].prob_h1
        assert content["result"]["names"] == ["yesterday.csv", f"{name}.csv"]


def test_the_default_rule(run, answer):
    assert run("check", "yesterday.csv", "same.csv", "-q")[0] == 0
    status, out, _ = run("check", "yesterday.csv", "other.csv", "-q")
    assert status == 1 and answer("other").prob_h1 > 0.95
    assert out.count("\n") == 1 and out.startswith("FAIL: prob_h1 > 0.95 holds: prob_h1 ")


def test_the_answer_is_that_of_test(run, answer):
    _, out, _ = run("check", "yesterday.csv", "other.csv", "--rope", "0.55", "--prior-odds", "0.5", "--json", "o.json")
    expected = answer("other", rope=0.55, prior_odds=0.5)
    assert out.splitlines()[1] == "x is 'yesterday.csv', y is 'other.csv'."
    named = dataclasses.replace(expected, names=("yesterday.csv", "other.csv"))
    assert "\n".join(out.splitlines()[2:]) == named.summary()
    content = json.loads(Path("o.json").read_text())
    assert ts.TwoSampleResult.from_json(json.dumps(content["result"])).log_bf10 == expected.log_bf10
    assert content["rule"] == "prob_h1 > 0.95" and content["values"] == {"prob_h1": expected.prob_h1}
    assert out.splitlines()[0] == f"FAIL: {content['reason']}"


def test_json_on_stdout_is_nothing_else(run, days):
    status, out, err = run("check", "yesterday.csv", "other.csv", "--json", "-")
    assert status == 1 and json.loads(out)["outcome"] == "fail"
    assert err.startswith("FAIL: ")


def test_numbers_beyond_the_range_are_still_json(run, days):
    rows = np.linspace(0, 1, 4000)
    pl.DataFrame({"u": rows}).write_csv("low.csv")
    pl.DataFrame({"u": rows + 50}).write_csv("high.csv")
    status, out, _ = run(
        "check", "low.csv", "high.csv", "--fail-if", "bf10 > 1e300", "--json", "-", "--subsets", "none"
    )
    content = json.loads(out)
    assert status == 1 and content["result"]["log_bf10"] > 710 and content["values"] == {"bf10": None}


def test_one_file_that_is_split(run, days):
    both = pl.concat([pl.read_csv(f"{n}.csv").with_columns(day=pl.lit(n)) for n in ("yesterday", "other")])
    both.write_csv("both.csv")
    assert run("check", "both.csv", "--by", "day", "--groups", "yesterday,other", "-q")[0] == 1
    assert run("check", "both.csv", "--by", "day", "--columns", "u", "-q")[0] == 0
    rule = 'prob_column["v"] > 0.9 and prob_column["u"] < 0.5 and columns_differing == 1'
    assert run("check", "both.csv", "--by", "day", "--fail-if", rule, "-q")[0] == 1


def test_permutations(run, days):
    status, out, _ = run(
        "check", "yesterday.csv", "other.csv", "--permutations", "99", "--fail-if", "pvalue < 0.05 or evalue > 20", "-q"
    )
    assert status == 1 and "pvalue = 0.01" in out


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("prob_h2 > 1", "--fail-if: 'prob_h2' is not a name that rules know (character 1); did you mean 'prob_h1'?"),
        ("auc", "--fail-if: a number by itself is neither true nor false (character 1)"),
        ("auc >", "--fail-if: it cannot be read (character 5); use numbers"),
        ("open('x') > 1", "--fail-if: a call of a function is not of its language (character 1); use numbers"),
        ("pvalue < 0.05", "--fail-if: pvalue is not computed without permutations; pass --permutations 999"),
        ("prob_beyond_rope > 0.5", "--fail-if: prob_beyond_rope is not computed without rope; pass --rope 0.55"),
        ("prob_column['zz'] > 1", "--fail-if: there is no column 'zz' among those compared; there are 'u', 'v'"),
        ("", "--fail-if: it is empty"),
    ],
)
def test_bad_rules_are_refused(refused, days, rule, said):
    files = sorted(days.iterdir())
    assert refused("check", "yesterday.csv", "same.csv", "--fail-if", rule, "--junit", "o.xml").startswith(said)
    assert sorted(days.iterdir()) == files


def test_rules_are_read_before_the_files(refused, days):
    assert refused("check", "no.csv", "none.csv", "--fail-if", "x > 1").startswith("--fail-if")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["no.csv", "same.csv"], "no.csv"),
        (["yesterday.csv"], "pass two files"),
        (["yesterday.csv", "same.csv", "--junit", "same.csv"], "--junit: 'same.csv' is read as 'same.csv'"),
        (["yesterday.csv", "same.csv", "--json", "yesterday.csv"], "--json: 'yesterday.csv' is read as"),
        (["yesterday.csv", "same.csv", "--junit", "o", "--json", "o"], "are the same file"),
        (["yesterday.csv", "same.csv", "--junit", "no/o.xml"], "--junit: there is no folder"),
        (["yesterday.csv", "same.csv", "--junit", "-"], "--junit: needs a file"),
        (["yesterday.csv", "same.csv", "--report", "o.pdf"], "--report: 'o.pdf' must end in .html"),
        (["--reference", "ref.npz"], "--reference: needs one file to compare, not 0"),
        (["--reference", "ref.npz", "same.csv", "other.csv"], "--reference: needs one file to compare, not 2"),
        (["--reference", "same.csv", "other.csv"], "--reference: 'same.csv' does not hold a reference of twosample"),
        (["--reference", "none.npz", "other.csv"], "No such file or directory: 'none.npz'"),
        (["--reference", "ref.npz", "same.csv", "--columns", "u"], "--columns: not with --reference"),
        (
            ["--reference", "ref.npz", "same.csv", "--permutations", "9"],
            "--permutations: not with --reference; there are",
        ),
        (["--reference", "ref.npz", "same.csv", "--json", "ref.npz"], "--json: 'ref.npz' is read as 'ref.npz'"),
        (["--reference", "ref.npz", "one.csv"], "y lacks columns of the reference: 'v'"),
        (
            ["--reference", "ref.npz", "same.csv", "--fail-if", "prob_column['w'] > 1"],
            "--fail-if: there is no column 'w'",
        ),
    ],
)
def test_refused(run, refused, days, args, said):
    run("reference", "yesterday.csv", "--out", "ref.npz")
    pl.read_csv("same.csv").select("u").write_csv("one.csv")
    files = {path: path.read_bytes() for path in days.iterdir()}
    assert said in refused("check", *args)
    assert {path: path.read_bytes() for path in days.iterdir()} == files


def test_names_are_data_in_junit(run, days):
    rng = np.random.default_rng(0)
    name = "<b>&\"'\x1b\ud7ff\u2028é"
    for file, shift in (("p.parquet", 0.0), ("q.parquet", 2.0)):
        pl.DataFrame({name: rng.normal(size=50) + shift, "w": rng.normal(size=50)}).write_parquet(file)
    status, _, _ = run("check", "p.parquet", "q.parquet", "--junit", "o.xml", "--fail-if", "prob_h1 > 0.5 and n_x < 99")
    assert status == 1
    found = cases("o.xml")
    (shown,) = [case for case in found if case.startswith("<b>")]
    assert shown.isprintable() and shown.startswith("<b>&\"'\\x1b") and "\x1b" not in Path("o.xml").read_text("utf-8")
    assert "prob_h1 > 0.5 and n_x < 99" in found


def test_junit_tells_the_columns(run, days, answer):
    run("check", "yesterday.csv", "other.csv", "--junit", "o.xml", "-q")
    found = cases("o.xml")
    for row in answer("other").by_column:
        assert found[row.column].find("system-out").text.startswith(f"P(column differs) {row.prob:.6g},")
    properties = {p.get("name"): p.get("value") for p in ElementTree.parse("o.xml").getroot().iter("property")}
    assert float(properties["prob_h1"]) == answer("other").prob_h1 and properties["y"] == "other.csv"


def test_a_report(run, days):
    run("reference", "yesterday.csv", "--out", "ref.npz")
    for args in (["yesterday.csv", "other.csv"], ["--reference", "ref.npz", "other.csv"]):
        assert run("check", *args, "--report", "o.html", "-q")[0] == 1
        assert "other.csv" in Path("o.html").read_text("utf-8")
        os.unlink("o.html")


def test_reference_says_what_it_holds(run, days):
    status, out, _ = run("reference", "yesterday.csv", "--out", "ref.npz", "--drop", "v")
    assert status == 0 and out.startswith("Reference 'yesterday.csv': 120 rows, 1 column.")
    assert "120 rows for pictures, and values that are repeated in a column" in out
    assert ts.Reference.load("ref.npz").columns == ("u",)


def test_reference_refuses(refused, days):
    assert "is read as" in refused("reference", "yesterday.csv", "--out", "yesterday.csv")
    assert "Missing option '--out'" in refused("reference", "yesterday.csv")
    assert "broken.csv" in refused("reference", "broken.csv", "--out", "o.npz")
    assert "--out: needs a file" in refused("reference", "yesterday.csv", "--out", "-")
    assert "no column 'zz'" in refused("reference", "yesterday.csv", "--out", "o.npz", "--columns", "zz")
    assert not Path("o.npz").exists()


def test_bad_cells_of_today_are_named(run, refused, days):
    run("reference", "yesterday.csv", "--out", "ref.npz")
    Path("today.csv").write_text("u,v\n" + "0.1,0.2\n-0.3,0.4\n5,oops\n0.6,-0.7\n")
    said = refused("check", "--reference", "ref.npz", "today.csv")
    assert "today.csv" in said and "line 4" in said and "oops" in said
    status, out, err = run("check", "--reference", "ref.npz", "today.csv", "--nan-policy", "omit")
    assert status == 0 and "oops" in err and "120 and 3 rows" in out


def test_columns_in_another_order_and_more_of_them(run, days):
    run("reference", "yesterday.csv", "--out", "ref.npz")
    today = pl.read_csv("other.csv")
    _, expected, _ = run("check", "--reference", "ref.npz", "other.csv", "-q")
    today.select("v", pl.lit(1).alias("new"), "u").write_csv("today.csv")
    status, out, err = run("check", "--reference", "ref.npz", "today.csv", "-q")
    assert (status, out) == (1, expected) and "does not have: 'new'" in err
