"""One file against a distribution, through the command line."""

import json
from pathlib import Path

import polars as pl
import pytest

import twosample as ts


def test_the_answer_is_that_of_the_library(run, files, first):
    status, out, err = run("goodness", "a.csv", "--law", "norm(0, 1)", "--columns", "u")
    assert (status, err) == (0, "")
    result = ts.goodness(first, "norm(0, 1)", columns=["u"])
    assert f"{result.log_bf10:+.2f}" in out and "x is 'a.csv', y is 'norm(0, 1)'." in out
    assert "against norm(0, 1)" in out


def test_outputs_and_options(run, files, first):
    options = ("--law", "t(3)", "--drop", "v,label", "--simulations", "19", "--points", "12", "--prior-odds", "0.5")
    outputs = ("--json", "o.json", "--plot", "o.png", "--report", "o.html", "-q", "--seed", "4")
    status, out, err = run("goodness", "a.csv", *options, *outputs)
    assert (status, err) == (0, "")
    result = ts.goodness(first.select("u"), "t(3)", simulations=19, points=12, prior_odds=0.5, rng=4)
    assert out == f"{result.prob_h1:.6g} {result.log_bf10:.6g}\n"
    content = json.loads(Path("o.json").read_text())
    assert (content["law"], content["pvalue"], content["columns"]) == ("t(3)", result.pvalue, ["u"])
    assert Path("o.png").stat().st_size > 1000 and "t(3)" in Path("o.html").read_text()


def test_missing_values(run, refused, files):
    pl.DataFrame({"u": [0.1, None, -0.4, 1.2, 0.3]}).write_csv("m.csv")
    assert "--nan-policy omit" in refused("goodness", "m.csv", "--law", "norm(0, 1)")
    status, _, err = run("goodness", "m.csv", "--law", "norm(0, 1)", "--nan-policy", "omit")
    assert status == 0 and "Dropped 1 of 5 rows" in err


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("__import__('os').getcwd()", "--law: \"__import__('os').getcwd()\" is not a distribution"),
        ("nrm(0, 1)", "--law: scipy.stats has no distribution 'nrm'"),
        ("norm(0, 1)", "--law: it has 1 column and x has 2"),
    ],
)
def test_refusals(refused, files, law, message):
    assert refused("goodness", "a.csv", "--law", law, "--drop", "label").startswith(message)
