"""What the tests of the command line share: samples in files, and ways to run the command."""

import sys

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample import cli

NUMBERS = ["u", "v"]


@pytest.fixture
def run(capsys):
    """Run the command as its entry point does; returns exit status, stdout and stderr."""

    def run(*args):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


@pytest.fixture
def refused(run):
    """Run the command, which must refuse in one line; returns that line."""

    def refused(*args):
        status, out, err = run(*args)
        lines = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert status == 2
        assert out == ""
        assert len(lines) == 1
        assert lines[0].startswith("twosample: error: ")
        assert lines[0].isprintable()
        return lines[0].removeprefix("twosample: error: ")

    return refused


@pytest.fixture(scope="session")
def table():
    """Make a table with two columns of numbers and one of labels."""

    def table(n, shift, label, seed):
        rng = np.random.default_rng(seed)
        return pl.DataFrame({"u": rng.normal(size=n) + shift, "v": rng.normal(size=n), "label": [label] * n})

    return table


@pytest.fixture(scope="session")
def first(table):
    """The sample in the files named a."""
    return table(40, 0.0, "p", 1)


@pytest.fixture(scope="session")
def second(table):
    """The sample in the files named b."""
    return table(30, 1.5, "q", 2)


@pytest.fixture(scope="session")
def expected(first, second):
    """What the test says of them."""
    return ts.test(first.select(NUMBERS), second.select(NUMBERS))


@pytest.fixture
def files(tmp_path, monkeypatch, first, second):
    """A folder with the samples in every kind of file, which is also the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, sample in (("a", first), ("b", second)):
        sample.write_csv(f"{name}.csv")
        sample.write_csv(f"{name}.tsv", separator="\t")
        sample.write_csv(f"{name}.txt", separator=";")
        sample.write_parquet(f"{name}.parquet")
        sample.select(NUMBERS).write_csv(f"{name}-plain.csv", include_header=False)
    pl.concat([first, second]).write_csv("all.csv")
    return tmp_path


@pytest.fixture(scope="session")
def quiet_answer():
    """Read what the command prints with --quiet: P(H1) and log BF10."""

    def quiet_answer(out):
        (line,) = out.splitlines()
        probability, log_bf10 = map(float, line.split())
        return probability, log_bf10

    return quiet_answer


@pytest.fixture(scope="session")
def agrees(quiet_answer):
    """Check what the command prints with --quiet against a result; six digits are printed."""

    def agrees(out, result):
        probability, log_bf10 = quiet_answer(out)
        assert probability == pytest.approx(result.prob_h1, rel=1e-5)
        assert log_bf10 == pytest.approx(result.log_bf10, rel=1e-5)

    return agrees


@pytest.fixture
def no_matplotlib(monkeypatch):
    """Make matplotlib impossible to import."""
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
