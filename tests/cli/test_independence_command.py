"""The command `independence`: what it prints, writes and refuses."""

import json

import numpy as np
import polars as pl
import pytest

import twosample as ts


@pytest.fixture
def trial(tmp_path):
    rng = np.random.default_rng(0)
    dose = rng.uniform(0, 10, 120).round(3)
    frame = pl.DataFrame(
        {
            "dose": dose,
            "age": rng.integers(20, 80, 120),
            "arm": rng.choice(["a", "b"], 120),
            "response": (np.sin(dose) + 0.4 * rng.normal(size=120)).round(4),
        }
    )
    frame.write_csv(tmp_path / "trial.csv")
    return tmp_path / "trial.csv", frame


def test_answer_is_that_of_the_library(run, trial):
    path, frame = trial
    status, out, err = run("independence", path, "--x", "dose,age", "--y", "response,arm", "--permutations", 19)
    assert (status, err) == (0, "")
    result = ts.independence(frame, x=["dose", "age"], y=["response", "arm"], permutations=19)
    assert out == f"{result.summary()}\n"
    assert "dose and response: > 0.9999" in out


def test_outputs(run, trial, tmp_path):
    path, frame = trial
    outputs = [tmp_path / name for name in ("r.json", "r.png", "r.html")]
    options = [part for pair in zip(("--json", "--plot", "--report"), outputs, strict=True) for part in pair]
    status, out, _ = run("independence", path, "--x", "dose", "--y", "response", "-q", *options)
    assert status == 0
    result = ts.IndependenceResult.from_json(outputs[0])
    assert result == ts.independence(frame["dose"], frame["response"])
    assert out == f"{result.prob_h1:.6g} {result.log_bf10:.6g}\n"
    assert outputs[1].read_bytes().startswith(b"\x89PNG")
    assert "dose and response are dependent" in outputs[2].read_text("utf-8")


def test_json_on_stdout_and_options(run, trial):
    path, _ = trial
    options = ("--prior-odds", 0.1, "--points", 8, "--seed", 3, "--permutations", 9)
    status, out, _ = run("independence", path, "--x", "age", "--y", "arm", "--json", "-", *options)
    content = json.loads(out)
    assert status == 0
    assert (content["prior_odds"], content["points"], content["permutations"]) == (0.1, 8, 9)


def test_missing_cells(run, refused, tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("u,v\n" + "\n".join(f"{number},{number * 7 % 11}" for number in range(20)) + "\n5,\n")
    line = refused("independence", path, "--x", "u", "--y", "v")
    assert "line 22, column 'v': the cell is missing" in line
    assert "--nan-policy omit" in line
    status, out, err = run("independence", path, "--x", "u", "--y", "v", "--nan-policy", "omit")
    assert status == 0
    assert "20 rows" in out
    assert "left out 1 cell that is missing" in out
    assert "note: " in err


def test_refusals(refused, trial, tmp_path):
    path, _ = trial
    assert refused("independence", path, "--x", "dosis", "--y", "arm") == (
        "--x: the table has no column 'dosis'; it has 'dose', 'age', 'arm', 'response'; did you mean 'dose'?"
    )
    assert (
        refused("independence", path, "--x", "dose", "--y", "dose") == "--y: column 'dose' is also in x; name it once"
    )
    assert refused("independence", path, "--x", "dose") == "Missing option '--y'."
    assert "--prior-odds: must be a positive" in refused(
        "independence", path, "--x", "dose", "--y", "arm", "--prior-odds", -1
    )
    assert "would be overwritten" in refused("independence", path, "--x", "dose", "--y", "arm", "--json", path)
    (tmp_path / "one.csv").write_text("u,v\n" + "1,2\n" * 9)
    assert "independent of everything" in refused("independence", tmp_path / "one.csv", "--x", "u", "--y", "v")
