"""One test a column on the command line: its table, its files, its refusals."""

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import twosample as ts
from twosample.cli.commands import command_line

NUMBERS = ["u", "v"]
ESCAPES = "\x1b[31mred\x07"


@pytest.fixture(scope="module")
def expected(first, second):
    with pytest.warns(ts.errors.DroppedDataWarning, match="'label'"):
        return ts.test_each(first, second)


def test_help_of_each_shows_every_option():
    shown = CliRunner().invoke(command_line, ["each", "--help"], prog_name="twosample")
    assert shown.exit_code == 0
    for option in "--by --groups --columns --paired --model --nan-policy --fdr --top --csv --json".split():
        assert option in shown.output
    assert "twosample each before.csv after.csv" in shown.output


def test_each_prints_the_table(run, files, expected):
    status, out, err = run("each", "a.csv", "b.csv")
    assert status == 0
    assert out == f"x is 'a.csv', y is 'b.csv'.\n{expected.summary()}\n"
    assert err.startswith("note: Left out columns that do not hold numbers or categories: 'label' (one value")
    assert len(err.splitlines()) == 1
    assert "  not tested           'label' (one value in each sample, as a label has)\n" in out
    assert expected.discoveries == ("u",)
    assert "larger in y" in out


def test_one_file_split_by_a_column_shows_as_many_rows_as_asked_for(run, files, first, second):
    expected = ts.test_each(first.select(NUMBERS), second.select(NUMBERS))
    status, out, err = run("each", "all.csv", "--by", "label", "--groups", "p,q", "--top", "1")
    assert (status, err) == (0, "")
    assert out == f"x is 'p', y is 'q'.\n{expected.summary(top=1)}\n"
    assert out.endswith("  ... and 1 more\n")


def test_csv_and_json_files(run, files, expected):
    status, out, _ = run("each", "a.parquet", "b.parquet", "--csv", "o.csv", "--json", "o.json")
    assert status == 0
    assert expected.summary() in out
    assert pl.read_csv("o.csv").equals(expected.to_frame("polars"))
    assert ts.EachResult.from_json(Path("o.json")).to_json() == expected.to_json()
    assert list(files.glob(".o*")) == []


def test_csv_and_json_for_other_programs(run, files, expected):
    status, out, _ = run("each", "a.csv", "b.csv", "--csv", "-", "--json", "o.json")
    assert status == 0
    assert pl.read_csv(io.StringIO(out)).equals(expected.to_frame("polars"))
    assert Path("o.json").exists()
    status, out, _ = run("each", "a.csv", "b.csv", "--json", "-")
    assert status == 0
    assert json.loads(out) == json.loads(expected.to_json())
    assert not Path("-").exists()


DEFAULTS = {
    "fdr": 0.05, "rope": None, "sort": "evidence", "model": "adaptive", "paired": False, "nan_policy": "raise",
    "progress": True,
}  # fmt: skip


@pytest.mark.parametrize(
    "args, options",
    [
        ([], {}),
        (["--fdr", "0.2", "--rope", "0.6", "--sort", "size"], {"fdr": 0.2, "rope": 0.6, "sort": "size"}),
        (["--model", "paper", "--paired"], {"model": "paper", "paired": True}),
        (["--nan-policy", "omit"], {"nan_policy": "omit"}),
    ],
)
def test_options_reach_the_tests(args, options, refused, files, monkeypatch):
    def record(x, y, **given):
        reached.update(given)
        raise ts.errors.InputError("enough")

    reached = {}
    monkeypatch.setattr("twosample.questions.two_samples.test_each", record)
    assert refused("each", "a.csv", "b.csv", *args) == "enough"
    assert reached == DEFAULTS | options


@pytest.mark.parametrize(
    "args, message",
    [
        (["--fdr", "0"], "--fdr: must be a number between 0 and 1, not 0.0"),
        (["--fdr", "few"], "'few'"),
        (["--top", "-1"], "--top"),
        (["--model", "paper"], "--model: 'paper' has no test of single columns by their ranks; use --model adaptive"),
        (["--paired"], "x has 40 rows and y has 30; --paired needs"),
        (["--columns", "u,w"], "no column 'w'"),
        (["--csv", "none/o.csv"], "--csv: there is no folder"),
        (["--json", "none/o.json"], "--json: there is no folder"),
        (["--csv", "-", "--json", "-"], "--json and --csv: only one of them can be printed"),
    ],
)
def test_bad_options_of_each_are_refused(args, message, refused, files):
    assert message in refused("each", "a.csv", "b.csv", *args)


def test_missing_values(run, refused, files, first, second):
    row = pl.DataFrame({"u": [1.0], "v": [None]}, schema={"u": pl.Float64, "v": pl.Float64})
    for name, table in (("a.csv", pl.concat([row, first.select(NUMBERS)])), ("b.csv", second.select(NUMBERS))):
        table.with_columns(w=pl.lit(7)).write_csv(name)
    line = refused("each", "a.csv", "b.csv")
    assert line.startswith("'a.csv', line 2, column 'v': the cell is missing; ")
    assert "--nan-policy omit" in line
    status, out, err = run("each", "a.csv", "b.csv", "--nan-policy", "omit", "--csv", "-")
    assert status == 0
    assert {row["column"]: row["n_x"] for row in csv.DictReader(io.StringIO(out))} == {"u": "41", "v": "40"}
    assert err.splitlines() == [
        "note: 'a.csv': left out 1 cell that is missing: line 2, column 'v' (missing).",
        "note: Left out 1 missing or infinite value in 1 of 3 columns.",
        "note: Did not test 'w' (one value throughout).",
    ]


def test_names_cannot_steer_the_terminal(run, files, monkeypatch):
    rng = np.random.default_rng(3)
    for name in ("a.csv", "b.csv"):
        pl.DataFrame({ESCAPES: rng.normal(size=20), "v": rng.normal(size=20)}).write_csv(name)
    status, out, _ = run("each", "a.csv", "b.csv")
    assert status == 0
    assert all(line.isprintable() for line in out.splitlines())
    assert "\\x1b[31mred\\x07" in out
    # A program gets the name as it is, a terminal does not.
    _, out, _ = run("each", "a.csv", "b.csv", "--csv", "-")
    assert ESCAPES in out
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    _, out, _ = run("each", "a.csv", "b.csv", "--csv", "-")
    assert "\x1b" not in out and "\\x1b[31mred\\x07" in out


def test_thousands_of_columns_are_read_in_seconds(run, files, monkeypatch):
    monkeypatch.setattr(
        "twosample.questions.each.single_columns", lambda x, y, **_: (x.mean(axis=0) - y.mean(axis=0), None)
    )
    names = [f"gene {number}" for number in range(10_000)]
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        pl.DataFrame(np.random.default_rng(seed).normal(size=(4, len(names))), schema=names).write_csv(name)
    status, out, _ = run("each", "a.csv", "b.csv", "--top", "3")
    assert status == 0
    assert "of 10000 columns" in out
    assert out.endswith("... and 9997 more\n")


def test_each_writes_a_picture_of_all_columns(run, files):
    status, _, _ = run("each", "a.csv", "b.csv", "--columns", "u,v", "--plot", "columns.svg")
    assert status == 0
    assert "larger in a.csv" in Path("columns.svg").read_text("utf-8")  # matplotlib names the text beside its outlines
