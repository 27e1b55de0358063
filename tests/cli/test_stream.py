"""Large Parquet files are read block by block: when, with what answer, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.cli import inputs
from twosample.data import pilot
from twosample.data.blocks import Blocks
from twosample.data.files import parquet as parquet_files

posix = pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")


@pytest.fixture
def few(monkeypatch):
    """A pilot and blocks smaller than the files."""
    monkeypatch.setattr(pilot, "PILOT_ROWS", 200)
    monkeypatch.setattr(parquet_files, "_MOST_ROWS", 64)


@pytest.fixture
def parquet(tmp_path, monkeypatch):
    """Two samples as files, in parts, and in one file with a column that splits it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = pl.DataFrame({"u": rng.normal(size=400), "v": rng.normal(size=400), "text": "t"})
    y = pl.DataFrame({"u": rng.normal(size=300) + 0.4, "v": rng.normal(size=300), "text": "t"})
    x.write_parquet("x.parquet")
    y.write_parquet("y.parquet")
    y.write_csv("y.csv")
    Path("x").mkdir()
    for number in range(4):
        x[100 * number : 100 * number + 100].write_parquet(f"x/{number}.parquet")
    arms = pl.Series("arm", ["a"] * 400 + ["b"] * 300)
    pl.concat([x, y]).with_columns(arms).sample(fraction=1.0, shuffle=True, seed=1).write_parquet("both.parquet")
    pl.concat([x, y]).with_columns(pl.Series("arm", ["a", "b", "c", None] * 175)).write_parquet("three.parquet")
    return x.drop("text"), y.drop("text")


@pytest.mark.parametrize(
    "files", [["x.parquet", "y.parquet"], ["x", "y.parquet"], ["x/*.parquet", "y.parquet"], ["x.parquet", "y.csv"]]
)
def test_the_answer_is_that_of_the_blocks(run, parquet, few, monkeypatch, files):
    monkeypatch.setattr(inputs, "available_memory", lambda: 64 * 1000)
    status, out, err = run("test", *files, "--json", "-")
    assert status == 0 and "columns that hold one value throughout: 'text'" in err
    found = json.loads(out)
    x, y = parquet
    expected = ts.test(ts.blocks([x]), ts.blocks([y]))
    assert found["log_bf10"] == pytest.approx(expected.log_bf10, abs=1e-9)
    assert (found["n_x"], found["n_y"], found["columns"]) == (400, 300, ["u", "v"])
    assert any("The plan was made from a pilot" in note for note in found["diagnostics"]["notes"])


def test_files_of_few_values_are_read_whole_unless_asked(run, parquet, few):
    for option, is_streamed in ((), False), (("--no-stream",), False), (("--stream",), True):
        status, out, _ = run("test", "x.parquet", "y.parquet", *option)
        assert status == 0
        assert ("The plan was made from a pilot" in out) == is_streamed


@pytest.mark.parametrize("options", [["--permutations", "9"], ["--model", "paper", "--columns", "u"]])
def test_what_needs_all_rows_is_not_streamed_by_itself(run, refused, parquet, few, monkeypatch, options):
    monkeypatch.setattr(inputs, "available_memory", lambda: 64 * 1000)
    status, out, _ = run("test", "x.parquet", "y.parquet", "--drop", "v", *options[:2])
    assert status == 0 and "The plan was made from a pilot" not in out
    line = refused("test", "x.parquet", "y.parquet", "--stream", *options)
    assert line.startswith(options[0]) and "take a sample of the rows" in line


def test_a_column_splits_a_file(run, parquet, few):
    status, out, _ = run("test", "both.parquet", "--by", "arm", "--groups", "a,b", "--stream", "--json", "-")
    assert status == 0
    found = json.loads(out)
    assert found["names"] == ["a", "b"] and (found["n_x"], found["n_y"]) == (400, 300)
    both = pl.read_parquet("both.parquet")
    expected = ts.test(ts.blocks([both.drop("text")]), by="arm", groups=("a", "b"))
    assert found["log_bf10"] == pytest.approx(expected.log_bf10, abs=1e-9)


def test_more_than_two_groups(run, refused, parquet, few, monkeypatch):
    line = refused("test", "three.parquet", "--by", "arm", "--stream")
    assert "holds 3 different values, not 2: 'a' (175 rows), 'b' (175 rows), 'c' (175 rows)" in line
    assert "--groups a,b" in line
    status, out, err = run("test", "three.parquet", "--by", "arm", "--groups", "a,b", "--stream")
    assert status == 0 and "Left out 175 rows without a value in column 'arm'" in err
    assert "--reference: needs all rows in memory" in refused(
        "test", "three.parquet", "--by", "arm", "--reference", "a", "--stream"
    )
    monkeypatch.setattr(inputs, "available_memory", lambda: 64 * 1000)
    status, out, _ = run("test", "three.parquet", "--by", "arm", "--subsets", "none")
    assert status == 0 and "525 rows" in out and "c" in out.split()  # whole, all at once
    assert "column 'arms'" in refused("test", "three.parquet", "--by", "arms", "--stream")


def test_each_column_is_streamed_too(run, refused, parquet, few, monkeypatch):
    x, y = parquet
    expected = ts.test_each(ts.blocks([x]), ts.blocks([y]))
    monkeypatch.setattr(inputs, "available_memory", lambda: 64 * 1000)
    for files in (["x.parquet", "y.parquet"], ["x", "y.csv"]):
        status, out, err = run("each", *files, "--json", "-")
        found = json.loads(out)
        assert status == 0 and "'text'" in err and found["column"] == list(expected.column)
        assert found["log_bf10"] == pytest.approx(expected.log_bf10.tolist(), abs=1e-9)
        assert "The plan was made from a pilot" in found["notes"][-1]
    _, out, _ = run("each", "x.parquet", "y.parquet", "--no-stream")
    assert "pilot" not in out and ts.test_each(x, y).summary().splitlines()[-1] in out
    status, out, _ = run("each", "both.parquet", "--by", "arm", "--groups", "b,a", "--stream", "--json", "-")
    both = ts.test_each(pl.scan_parquet("both.parquet").drop("text"), by="arm", groups=["b", "a"])
    assert json.loads(out)["log_bf10"] == pytest.approx(both.log_bf10.tolist(), abs=1e-9)
    assert "--stream: 'y.csv' is not a Parquet file" in refused("each", "x.parquet", "y.csv", "--stream")


def test_missing_values_of_each_column_are_left_out(run, refused, parquet, few):
    y = pl.read_parquet("y.parquet").with_columns(u=pl.when(pl.int_range(pl.len()) == 150).then(None).otherwise("u"))
    y.write_parquet("y.parquet")
    assert "y has a missing or infinite value (row 150, column 'u')" in refused(
        "each", "x.parquet", "y.parquet", "--stream"
    )
    status, out, err = run("each", "x.parquet", "y.parquet", "--stream", "--nan-policy", "omit", "--json", "-")
    found = json.loads(out)
    assert status == 0 and "Left out 1 missing or infinite value in 1 of 3 columns" in err
    assert dict(zip(found["column"], found["n_y"], strict=True)) == {"u": 299, "v": 300}


def test_what_cannot_be_streamed_is_refused(refused, parquet):
    assert "--stream: 'y.csv' is not a Parquet file" in refused("test", "x.parquet", "y.csv", "--stream")
    assert "there is no file 'z.parquet'" in refused("test", "x.parquet", "z.parquet", "--stream")
    Path("x/2.parquet").write_bytes(Path("x/2.parquet").read_bytes()[:200])
    assert "its part 'x/2.parquet' is damaged" in refused("test", "x", "y.parquet", "--stream")
    pl.DataFrame({"u": [1.0], "v": ["no"], "text": ["t"]}).write_parquet("x/2.parquet")
    assert "column 'v' is String, not Float64" in refused("test", "x", "y.parquet", "--stream")


def test_the_place_of_a_missing_value(refused, run, parquet, few):
    y = pl.read_parquet("y.parquet").with_columns(u=pl.when(pl.int_range(pl.len()) == 150).then(None).otherwise("u"))
    y.write_parquet("y.parquet")
    line = refused("test", "x.parquet", "y.parquet", "--stream")
    assert "y has a missing or infinite value (row 150, column 'u')" in line
    assert "--nan-policy omit" in line and "y is 'y.parquet'" in line
    status, _, err = run("test", "x.parquet", "y.parquet", "--stream", "--nan-policy", "omit")
    assert status == 0 and "Dropped 0 of 400 rows of x and 1 of 300 rows of y" in err


def test_parquet_files_come_in_blocks(parquet, few):
    table = parquet_files.Parquet.at(Path("x"))
    assert table.height == 400 and [height for _, height, _ in table.parts] == [100] * 4
    frames = list(table.blocks())
    assert max(frame.height for frame in frames) == 64
    assert pl.concat(frames).equals(pl.read_parquet("x.parquet"))
    assert {tuple(frame.columns) for frame in table.blocks(("v",))} == {("v",)}
    assert {tuple(frame.columns) for frame in table.blocks(("v", "z"))} == {("u", "v", "text")}
    assert parquet_files.Parquet.at(Path("y.csv")) is None
    assert table.groups("text").rows() == [("t", 400)]


def test_a_source_gives_blocks(parquet, monkeypatch):
    monkeypatch.setattr(inputs, "available_memory", lambda: 64 * 1000)
    source = inputs.Source((Path("x.parquet"), Path("y.csv")), None, None, None, None, inputs.Reading())
    given = source.read("raise", stream=None)
    assert isinstance(given.x, Blocks) and isinstance(given.y, pl.DataFrame)
    assert given.names == ("x.parquet", "y.csv")


@posix
@pytest.mark.slow
def test_an_interrupt_leaves_no_half_file(tmp_path):
    """Ctrl-C in the second pass: status 130, soon, and no file."""
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        pl.DataFrame(rng.normal(size=(1_000_000, 10))).write_parquet(tmp_path / f"{name}.parquet")
    command = [sys.executable, "-m", "twosample", "test", "a.parquet", "b.parquet", "--json", "out.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(8)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130 and out == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]
