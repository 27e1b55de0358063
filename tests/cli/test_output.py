"""What the commands write: JSON and pictures, and outputs that are refused before the work."""

import json
import os
import tempfile
from pathlib import Path

import pytest

import twosample as ts


def test_json_holds_the_whole_result(run, files, expected, first, second):
    status, _, _ = run("test", "a.csv", "b.csv", "--json", "out.json")
    assert status == 0
    assert json.loads(Path("out.json").read_text())["prob_h1"] == expected.prob_h1
    result = ts.TwoSampleResult.from_json(Path("out.json"))
    assert result.log_bf10 == expected.log_bf10
    assert result.columns == ("u", "v")
    assert [(one.column, one.reason) for one in result.left_out] == [("label", "text or categories")]
    assert result.names == ("a.csv", "b.csv")
    with pytest.warns(ts.errors.DroppedDataWarning):
        assert result.summary() == ts.test(first, second).summary()


@pytest.mark.parametrize("name, start", [("o.png", b"\x89PNG"), ("o.PDF", b"%PDF"), ("o.svg", b"<?xml")])
def test_plot(name, start, run, files):
    status, _, err = run("test", "a.csv", "b.csv", "--columns", "u", "--plot", name)
    assert (status, err) == (0, "")
    assert Path(name).read_bytes().startswith(start)


def test_plot_names_the_samples(run, files):
    run("test", "all.csv", "--by", "label", "--columns", "u", "--plot", "o.svg")
    assert "more p here" in Path("o.svg").read_text()


def test_plot_without_matplotlib_is_refused_before_the_work(refused, files, no_matplotlib):
    assert "pip install 'twosample[plot]'" in refused("test", "a.csv", "b.csv", "--plot", "out.png")


def test_output_that_cannot_be_written(run, files):
    Path("out.json").mkdir()
    status, _, err = run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")
    assert status == 2
    assert err == "twosample: error: Is a directory: 'out.json'\n"
    assert list(files.glob(".out*")) == []


def test_errors_name_the_file_that_was_asked_for(run, files, monkeypatch):
    """Files are written under another name first, which is nothing to the user."""

    def full(*arguments, **options):
        raise OSError(28, "No space left on device", str(files / ".out.json.1234"))

    for module, name in ((os, "replace"), (tempfile, "mkstemp")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, full)
            status, _, err = run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")
        assert status == 2
        assert err == "twosample: error: No space left on device: 'out.json'\n"
        assert list(files.glob("*out.json*")) == []


def test_a_link_is_written_through(run, files):
    """Pipes and /dev/stdout too: to put a file in their place would be no output there."""
    Path("target.json").write_text("old")
    Path("out.json").symlink_to("target.json")
    assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")[0] == 0
    assert Path("out.json").is_symlink()
    assert json.loads(Path("target.json").read_text())["columns"] == ["u"]


def test_output_takes_the_place_of_an_older_file(run, files):
    Path("out.json").write_text("old" * 10**6)
    assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")[0] == 0
    assert json.loads(Path("out.json").read_text())["columns"] == ["u"]
    assert list(files.glob(".out*")) == []
