"""What the commands write: JSON and pictures, and outputs that are refused before the work."""

import dataclasses
import json
import os
import stat
from pathlib import Path

import pytest
from tests.recorded_chains import recorded

import twosample as ts


def test_json_holds_the_whole_result(run, files, expected, first, second):
    status, _, _ = run("test", "a.csv", "b.csv", "--json", "out.json")
    assert status == 0
    assert json.loads(Path("out.json").read_text())["prob_h1"] == expected.prob_h1
    result = ts.TwoSampleResult.from_json(Path("out.json"))
    assert result.log_bf10 == expected.log_bf10
    assert result.columns == ("u", "v")
    assert [(one.column, one.reason) for one in result.left_out] == [
        ("label", "one value in each sample, as a label has")
    ]
    assert result.names == ("a.csv", "b.csv")
    with pytest.warns(ts.errors.DroppedDataWarning):
        expected = dataclasses.replace(ts.test(first, second), names=("a.csv", "b.csv"))
    assert result.summary() == expected.summary()
    assert "larger in b.csv" in result.summary()


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

    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            status, _, err = run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")
        assert status == 3
        assert err == "twosample: error: No space left on device: 'out.json'\n"
        assert list(files.glob("*out.json*")) == []


def test_a_link_stays_and_what_it_points_to_is_replaced(run, files):
    Path("folder").mkdir()
    Path("folder/target.json").write_text("old")
    Path("middle.json").symlink_to("folder/target.json")
    Path("out.json").symlink_to("middle.json")
    inode = Path("folder/target.json").stat().st_ino
    assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")[0] == 0
    assert Path("out.json").is_symlink() and Path("middle.json").is_symlink()
    assert json.loads(Path("folder/target.json").read_text())["columns"] == ["u"]
    assert Path("folder/target.json").stat().st_ino != inode  # a new file, whole before it came there
    assert sorted(path.name for path in Path("folder").iterdir()) == ["target.json"]


def test_a_link_to_a_file_that_is_not_there_yet(run, files):
    Path("out.json").symlink_to("new.json")
    assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")[0] == 0
    assert Path("out.json").is_symlink()
    assert json.loads(Path("new.json").read_text())["columns"] == ["u"]


def test_links_in_a_circle_are_refused(run, files):
    Path("out.json").symlink_to("other.json")
    Path("other.json").symlink_to("out.json")
    status, _, err = run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")
    assert status == 2
    assert "'out.json'" in err.splitlines()[-1]


def test_output_takes_the_place_of_an_older_file(run, files):
    Path("out.json").write_text("old" * 10**6)
    assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")[0] == 0
    assert json.loads(Path("out.json").read_text())["columns"] == ["u"]
    assert list(files.glob(".out*")) == []


def test_a_private_file_stays_private(run, files):
    Path("out.json").write_text("old")
    Path("out.json").chmod(0o600)
    assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "out.json")[0] == 0
    assert stat.S_IMODE(Path("out.json").stat().st_mode) == 0o600
    mask = os.umask(0o027)
    try:
        assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", "new.json")[0] == 0
    finally:
        os.umask(mask)
    assert stat.S_IMODE(Path("new.json").stat().st_mode) == 0o640


def test_names_as_long_as_a_name_can_be(run, files):
    for name in ("o" * 250 + ".json", "ö" * 120 + ".json"):
        assert run("test", "a.csv", "b.csv", "--columns", "u", "--json", name)[0] == 0
        assert json.loads(Path(name).read_text())["columns"] == ["u"]


# ---- nothing that is read is overwritten


def spoiled(files):
    return {path.name: path.read_bytes() for path in files.glob("*.csv")}


@pytest.mark.parametrize("name", ["a.csv", "./a.csv", "sub/../b.csv", "soft.csv", "hard.csv", "{folder}/b.csv"])
@pytest.mark.parametrize("args", [["test", "--json"], ["each", "--json"], ["each", "--csv"], ["gibbs", "--json"]])
def test_an_output_that_is_an_input_is_refused(name, args, refused, files, monkeypatch):
    Path("sub").mkdir()
    Path("soft.csv").symlink_to("a.csv")
    os.link("b.csv", "hard.csv")
    before = spoiled(files)
    monkeypatch.setattr("twosample.cli.inputs.Source.read", None)  # before any work
    name = name.format(folder=files)
    command, option = args
    line = refused(command, "a.csv", "b.csv", option, name)
    assert line.startswith(f"{option}: {str(Path(name))!r} is read as ")
    assert line.endswith("name another file")
    assert spoiled(files) == before


@pytest.mark.parametrize("option", ["--plot", "--trace"])
def test_a_picture_over_an_input_is_refused(option, refused, files):
    Path("a.csv").rename("a.png")
    command = "test" if option == "--plot" else "gibbs"
    assert f"{option}: 'a.png' is read as 'a.png'" in refused(command, "a.png", "b.csv", option, "a.png")


def test_an_input_under_another_name_of_the_output(refused, files):
    Path("link.csv").symlink_to("a.csv")
    assert "--json: 'a.csv' is read as 'link.csv'" in refused("test", "link.csv", "b.csv", "--json", "a.csv")
    assert "--json: 'all.csv' is read as" in refused("test", "all.csv", "--by", "label", "--json", "all.csv")


def test_files_of_a_folder_or_pattern_that_is_read(refused, files):
    Path("parts").mkdir()
    Path("a.parquet").rename("parts/one.parquet")
    for source in ("parts", "parts/*.parquet"):
        line = refused("test", source, "b.csv", "--json", "parts/one.parquet")
        assert line.startswith("--json: 'parts/one.parquet' is read as")


@pytest.mark.parametrize(
    "command, args",
    [
        ("test", ["--json", "o.png", "--plot", "o.png"]),
        ("test", ["--json", "o.svg", "--plot", "./sub/../o.svg"]),
        ("each", ["--json", "o.csv", "--csv", "link.csv"]),
        ("gibbs", ["--plot", "o.png", "--trace", "o.png"]),
        ("gibbs", ["--plot", "old.png", "--trace", "same.png"]),
    ],
)
def test_two_outputs_to_one_file_are_refused(command, args, refused, files):
    Path("sub").mkdir()
    Path("link.csv").symlink_to("o.csv")
    Path("old.png").write_text("old")
    os.link("old.png", "same.png")
    line = refused(command, "a.csv", "b.csv", *args)
    assert line.startswith(f"{args[0]} and {args[2]}: ")
    assert line.endswith("are the same file; name two")


# ---- JSON on stdout


def test_json_on_stdout_is_all_there_is(run, files, expected):
    for extra in ([], ["--quiet"], ["--plot", "o.png"]):
        status, out, err = run("test", "a.csv", "b.csv", "--json", "-", *extra)
        assert status == 0
        assert json.loads(out)["log_bf10"] == expected.log_bf10
        read = ts.TwoSampleResult.from_json(out.strip())
        assert (read.verdict, read.columns, read.names) == (expected.verdict, expected.columns, ("a.csv", "b.csv"))
        assert out.count("\n") == 1
        assert err.startswith("note: Left out columns that do not hold numbers or categories: 'label' (one value")
        assert err.count("\n") == 1
    assert Path("o.png").exists()
    assert not Path("-").exists()


def test_json_of_the_sampler_on_stdout(run, files, monkeypatch):
    chains = recorded("one")
    monkeypatch.setattr("twosample.questions.gibbs.gibbs", lambda *args, **options: chains)
    args = "--columns u --points 6 --steps 40 --burn-in 20 --chains 2 --json -".split()
    status, out, _ = run("gibbs", "a.csv", "b.csv", *args)
    assert status == 0
    assert ts.GibbsResult.from_json(out).prob_h1 == chains.prob_h1
