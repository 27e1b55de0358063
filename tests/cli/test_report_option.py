"""The option --report: what it writes, and what it refuses before the work."""

import numpy as np
import polars as pl
import pytest

import twosample as ts


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    for name, shift in (("a.csv", 0.0), ("b.csv", 1.0)):
        rows = rng.normal(size=(40, 2)) + shift
        pl.DataFrame(rows, schema=["u", "<script>alert(1)</script>"]).write_csv(tmp_path / name)
    return tmp_path / "a.csv", tmp_path / "b.csv"


@pytest.mark.parametrize("command", ["test", "each"])
def test_a_report_is_written_beside_the_answer(run, files, tmp_path, command):
    status, out, _ = run(command, *files, "--report", tmp_path / "out.html")
    assert status == 0 and "log BF10" in out
    text = (tmp_path / "out.html").read_text("utf-8")
    assert text.startswith("<!doctype html>") and text.endswith("</html>\n" if text.endswith("\n") else "</html>")
    assert "<script>alert(1)" not in text and "&lt;script&gt;alert(1)" in text


def test_the_report_names_the_files_and_holds_the_answer(run, files, tmp_path):
    run("test", *files, "--report", tmp_path / "out.html", "--json", tmp_path / "out.json")
    text = (tmp_path / "out.html").read_text("utf-8")
    result = ts.TwoSampleResult.from_json(tmp_path / "out.json")
    assert f'data-log-bf10="{result.log_bf10!r}"' in text
    assert f"{result.names[0]} and {result.names[1]} come from different distributions" in text


@pytest.mark.parametrize("command", ["test", "each"])
def test_outputs_are_refused_before_the_work(refused, files, tmp_path, command):
    assert "must end in .html" in refused(command, *files, "--report", tmp_path / "out.pdf")
    assert "there is no folder" in refused(command, *files, "--report", tmp_path / "no" / "out.html")
    page = files[0].rename(tmp_path / "a.html")
    before = page.read_bytes()
    assert "would be overwritten" in refused(command, page, files[1], "--report", page)
    assert page.read_bytes() == before


def test_a_report_and_json_are_two_files(refused, files, tmp_path):
    said = refused("test", *files, "--report", tmp_path / "o.html", "--json", tmp_path / "o.html")
    assert "are the same file" in said


def test_groups_against_one_of_them_have_a_report(run, tmp_path):
    rng = np.random.default_rng(0)
    pl.DataFrame({"arm": ["a", "b", "c"] * 20, "u": rng.normal(size=60)}).write_csv(tmp_path / "g.csv")
    status, _, _ = run("test", tmp_path / "g.csv", "--by", "arm", "--reference", "a", "--report", tmp_path / "o.html")
    page = (tmp_path / "o.html").read_text("utf-8")
    assert status == 0 and page.startswith("<!doctype html>") and ">b<" in page and ">c<" in page


def test_without_jinja_the_install_line_is_said(refused, files, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    said = refused("test", *files, "--report", tmp_path / "o.html")
    assert said == "--report needs jinja2; install it with: pip install 'twosample[report]'"
