"""The commands as a whole: what they print and write, and names that try to be more than names."""

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import twosample as ts
from twosample.cli import commands
from twosample.cli.commands import command_line
from twosample.common import progress
from twosample.common.words import probability_in_words

HOSTILE = "[red]x$\\frac{1}{0}$"
ESCAPES = "\x1b[31mred\x07\n"


# ---- the command as a whole


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_help_shows_examples(args):
    shown = CliRunner().invoke(command_line, args, prog_name="twosample")
    assert shown.exit_code == 0
    assert "twosample test before.csv after.csv" in shown.output


def test_help_of_test_shows_every_option():
    shown = CliRunner().invoke(command_line, ["test", "--help"])
    assert shown.exit_code == 0
    for option in (
        "--by --groups --columns --paired --model --kernel --lengthscale --points --prior-odds --scale --nan-policy "
        "--seed --json --plot --quiet --permutations --subsets --rope --tolerance"
    ).split():
        assert option in shown.output


def test_version(run):
    assert run("--version") == (0, f"twosample {ts.__version__}\n", "")


def test_unknown_command_and_option(refused):
    assert "'tset'" in refused("tset")
    assert "--quite" in refused("test", "--quite")
    assert "\\x1b[31m" in refused("test", f"--{ESCAPES}")


def test_help_imports_neither_the_table_reader_nor_matplotlib():
    code = (
        "import sys; from twosample.cli.commands import run; run(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('polars', 'matplotlib', 'narwhals')))"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_interrupt_exits_130_quietly(run, files, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("twosample.questions.two_samples.test", interrupted)
    status, out, err = run("test", "a.csv", "b.csv", "--columns", "u")
    assert (status, out, err.strip()) == (130, "", "")


# ---- the demo


def test_demo_writes_two_pictures_and_says_what_is_next(run, tmp_path):
    status, out, err = run("demo", "--out", tmp_path / "new")
    assert (status, err) == (0, "")
    assert out.count("P(different | data)") == 2
    assert "next:\n  twosample test A.csv B.csv" in out
    for name in ("gaussian", "rings"):
        assert (tmp_path / "new" / f"twosample-demo-{name}.png").read_bytes().startswith(b"\x89PNG")


def test_demo_without_matplotlib_says_how_to_get_it(run, tmp_path, no_matplotlib):
    status, out, err = run("demo", "--out", tmp_path)
    assert status == 0
    assert out.count("P(different | data)") == 2
    assert "pip install 'twosample[plot]'" in err
    assert list(tmp_path.iterdir()) == []


def test_demo_writes_files_to_try(run, refused, tmp_path):
    status, out, err = run("demo", "--files", "--out", tmp_path)
    assert (status, err) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after.csv", "before.csv"]
    command = out.split("next:\n  twosample ")[1].split()
    status, out, err = run(*command)
    assert (status, err) == (0, "")
    # What was put into them.
    assert "weight and hardness differ in how they go together" in out
    assert re.search(r"length: 0\.99\d+, larger in ", out)
    before = (tmp_path / "before.csv").read_bytes()
    (tmp_path / "after.csv").unlink()
    assert "is there already; choose another folder with --out" in refused("demo", "--files", "--out", tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_demo_into_a_file_is_refused(refused, tmp_path):
    path = tmp_path / "file"
    path.touch()
    assert repr(str(path)) in refused("demo", "--out", path)


# ---- permutations


def test_permutations_print_the_pvalue_and_the_evalue(run, files, first, second):
    options = ["test", "a.csv", "b.csv", "--columns", "u"]
    expected = ts.test(first["u"], second["u"], permutations=99, rng=3)
    status, out, err = run(*options, "--permutations", "99", "--seed", "3", "--json", "out.json")
    assert (status, err) == (0, "")
    (pvalue,) = (line for line in out.splitlines() if "p-value" in line)
    (evalue,) = (line for line in out.splitlines() if "e-value" in line)
    assert pvalue.split()[1:] == [f"{expected.pvalue:.3g}", "(99", "permutations)"]
    assert evalue.split()[1:] == [f"{expected.evalue:.3g}"]
    back = ts.TwoSampleResult.from_json(Path("out.json"))
    assert (back.pvalue, back.evalue) == (expected.pvalue, expected.evalue)
    assert "-value" not in run(*options)[1]
    assert run(*options, "-q", "--permutations", "9")[1] == run(*options, "-q")[1]


def test_a_pvalue_that_disagrees_is_pointed_out(run, files, monkeypatch):
    real = ts.test
    monkeypatch.setattr(
        "twosample.questions.two_samples.test",
        lambda *args, **options: dataclasses.replace(real(*args, **options), pvalue=0.4),
    )
    _, verdict, disagreement, *_ = run("test", "a.csv", "b.csv", "--columns", "u")[1].splitlines()
    assert verdict.startswith("Very strong evidence of a ")
    assert disagreement.startswith("The p-value of 0.400 does not agree: ")


# ---- columns and effect


def test_columns_and_effect_are_printed(run, files, expected):
    """Column u is shifted by 1.5 standard deviations, and v is not."""
    status, out, _ = run("test", "a.csv", "b.csv")
    assert status == 0
    lines = out.splitlines()
    assert lines[1] == "Very strong evidence of a very large difference."
    (start,) = (place for place, line in enumerate(lines) if line.startswith("  P(column differs)"))
    first, second = expected.by_column
    assert (
        lines[start][23:]
        == f"u: {probability_in_words(first.prob)}, {first.words.replace('larger in y', 'larger in b.csv')}"
    )
    assert first.words.startswith("larger in y, very large (AUC 0.8")  # Φ(1.5/√2) = 0.86
    words = f", {second.words}" if second.prob > 0.5 else ""
    assert lines[start + 1] == f"{'':23}v: {probability_in_words(second.prob)}{words}"
    (effect,) = (line for line in lines if line.startswith("  AUC of the witness"))
    assert f"{expected.effect.auc.mean:.3f} (90 % between" in effect
    alone = run("test", "a.csv", "b.csv", "--columns", "u")[1]
    assert "column differs" not in alone and "AUC of the witness" in alone
    joint = run("test", "a.csv", "b.csv", "--subsets", "none")[1]
    assert "column differs" not in joint and "AUC of the witness" in joint


@pytest.mark.parametrize("name", [HOSTILE, ESCAPES, "\u202egnp.exe"])
def test_hostile_names_of_columns_that_differ(name, run, files, first, second):
    for path, sample in (("a.csv", first), ("b.csv", second)):
        sample.select(pl.col("u").alias(name), "v").write_csv(path)
    status, out, _ = run("test", "a.csv", "b.csv")
    assert status == 0
    assert all(line.isprintable() for line in out.splitlines())
    assert "P(column differs)" in out


def test_permutations_of_models_with_pairs_are_refused(refused, files):
    message = refused("test", "a.csv", "b.csv", "--model", "paper", "--permutations", "9")
    assert "--permutations: " in message and "--model adaptive" in message


# ---- comparing


def compared(out):
    """The lines of the table by test, and the widths of its columns."""
    _, header, *lines = out.splitlines()
    starts = [header.index(name) for name in ("test", "log BF10", "P(H1)", "p-value", "verdict")]
    ends = [*starts[1:], None]
    cells = [[line[a:b].rstrip() for a, b in zip(starts, ends, strict=True)] for line in lines]
    return {name: rest for name, *rest in cells}


def test_compare_shows_all_tests_side_by_side(run, files, first, second):
    status, out, err = run("compare", "a.csv", "b.csv", "--columns", "u", "--permutations", "99")
    assert (status, err) == (0, "")
    assert out.startswith("x is 'a.csv', y is 'b.csv'.\n")
    x, y = first.select("u"), second.select("u")
    table = compared(out)
    for name, result in (
        ("twosample", ts.test(x, y, permutations=99)),
        ("Holmes et al.", ts.baselines.holmes(x, y)),
        ("Chen & Hanson", ts.baselines.chen_hanson(x, y, permutations=99)),
        ("JZS t-test", ts.baselines.jzs(x, y)),
    ):
        log_bf10, probability, pvalue, verdict = table.pop(name)
        assert float(log_bf10) == pytest.approx(result.log_bf10, abs=0.005)
        assert float(probability.lstrip("<> ")) == pytest.approx(result.prob_h1, abs=1e-4)
        expected = getattr(result, "pvalue", None)
        assert (pvalue == "-") if expected is None else float(pvalue) == pytest.approx(expected, rel=0.01)
        assert verdict == result.verdict
    for name, options in (("MMD", {}), ("MMD, aggregated", {"aggregate": True})):
        result = ts.baselines.mmd(x, y, permutations=99, **options)
        log_bf10, probability, pvalue, verdict = table.pop(name)
        assert (log_bf10, probability, verdict) == ("-", "-", result.verdict)
        assert float(pvalue) == pytest.approx(result.pvalue, rel=0.01)
    assert not table


def test_compare_says_what_does_not_apply(run, files, first, second):
    table = compared(run("compare", "a.csv", "b.csv", "--permutations", "19")[1])
    for name in ("Holmes et al.", "JZS t-test"):
        assert table[name][:3] == ["-", "-", "-"]
        assert table[name][3].startswith("does not apply: x and y have 2 columns")
    first.head(30).write_csv("first.csv")
    table = compared(run("compare", "first.csv", "b.csv", "--paired", "--columns", "u", "--permutations", "19")[1])
    for name in ("Holmes et al.", "Chen & Hanson"):
        assert table[name][3] == "does not apply: it takes independent samples, not pairs"
    assert table["JZS t-test"][0] == f"{ts.baselines.jzs(first['u'].head(30), second['u'], paired=True).log_bf10:+.2f}"


def test_compare_many_rows_without_permutations(run, files, monkeypatch, first, second):
    monkeypatch.setattr(commands, "_MOST_PERMUTED_ROWS", 60)
    table = compared(run("compare", "a.csv", "b.csv", "--columns", "u")[1])
    assert table["twosample"][2] == table["Chen & Hanson"][2] == "-"
    assert table["MMD, aggregated"][3] == "left out: slow for more than 60 rows"
    expected = ts.baselines.mmd(first["u"], second["u"], estimator="linear").pvalue
    assert float(table["MMD, linear time"][2].lstrip("< ")) == pytest.approx(expected, rel=0.01, abs=1e-4)


def test_compare_takes_the_options_of_test(run, refused, files, first, second):
    options = ["--by", "label", "--groups", "q,p", "--columns", "u", "--prior-odds", "3", "--seed", "2"]
    table = compared(run("compare", "all.csv", *options, "--permutations", "19")[1])
    expected = ts.test(second["u"], first["u"], prior_odds=3.0)
    assert float(table["twosample"][1].lstrip("<> ")) == pytest.approx(expected.prob_h1, abs=1e-4)
    pl.DataFrame({"u": [1.0, None, 3.0, 2.5], "v": [2.0, 1.0, 4.0, 3.0]}).write_csv("gaps.csv")
    assert "'gaps.csv', line 3, column 'u': the cell is missing" in refused(
        "compare", "gaps.csv", "b.csv", "--columns", "u,v"
    )
    status, _, err = run(
        "compare", "gaps.csv", "b.csv", "--columns", "u", "--nan-policy", "omit", "--permutations", "19"
    )
    assert status == 0
    assert err.count("Dropped") == 1


# ---- progress


class Terminal:
    """A stderr that says it is a terminal and keeps what is written."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("after, shown", [(0.0, True), (60.0, False)])
def test_progress_bar_is_shown_on_a_terminal_if_the_work_lasts(after, shown, run, files, monkeypatch, quiet_answer):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_BAR_AFTER_SECONDS", after)
    status, out, _ = run("test", "a.csv", "b.csv", "--columns", "u", "-q")
    assert status == 0
    assert quiet_answer(out)
    assert ("twosample" in terminal.text and "%" in terminal.text) == shown


def test_no_progress_bar_elsewhere(run, files, monkeypatch):
    monkeypatch.setattr(progress, "_BAR_AFTER_SECONDS", 0.0)
    assert run("test", "a.csv", "b.csv", "--columns", "u", "-q")[2] == ""


# ---- names that try to be more


@pytest.mark.parametrize("name", [HOSTILE, ESCAPES, "a,b", "--by", "x" * 300, "\u202egnp.exe"])
def test_hostile_column_names(name, run, files, first, second):
    for path, sample in (("a.csv", first), ("b.csv", second)):
        sample.select(pl.col("u").alias(name), pl.col("label").alias(f"{name}!")).write_csv(path)
    plot = ["--plot", "o.png"] if name in (HOSTILE, ESCAPES) else []
    status, out, err = run("test", "a.csv", "b.csv", *plot, "--json", "o.json")
    assert status == 0
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert repr(f"{name}!") in err
    assert ts.TwoSampleResult.from_json(Path("o.json")).columns == (name.strip(),)


@pytest.mark.parametrize("name", [HOSTILE, ESCAPES, "$(touch pwned)", "*.csv"])
def test_hostile_file_names(name, run, refused, files, first):
    path = Path(f"{name}.csv".replace("/", "|"))
    assert repr(str(path)) in refused("test", path, "b.csv")
    first.write_csv(path)
    status, out, err = run("test", path, "b.csv", "--plot", "o.png")
    assert status == 0
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert f"x is {str(path)!r}" in out
    assert not Path("pwned").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names that are not text")
def test_file_name_that_is_not_text(run, files, first):
    path = os.fsdecode(b"\xff.csv")
    first.write_csv(path.encode("utf-8", "surrogateescape").decode("latin-1"))
    os.rename(os.fsencode("ÿ.csv"), b"\xff.csv")
    status, out, _ = run("test", path, "b.csv", "--columns", "u", "--plot", "o.png")
    assert status == 0
    assert "\\udcff.csv" in out


def test_hostile_groups(run, files, table):
    pl.concat([table(20, 0.0, ESCAPES, 1), table(20, 1.0, HOSTILE, 2)]).write_csv("all.csv")
    status, out, err = run("test", "all.csv", "--by", "label", "--plot", "o.svg")
    assert status == 0
    assert all(line.isprintable() for line in (out + err).splitlines())


def test_kernels_by_name(files, first, second, run, refused, quiet_answer):
    numbers = [sample.select("u", "v") for sample in (first, second)]
    for text, kernel in (
        ("laplace", "laplace"),
        ("rbf * matern52", "rbf * matern52"),
        ("rbf, laplace", ["rbf", "laplace"]),
    ):
        status, out, _ = run("test", "a.csv", "b.csv", "-q", "--kernel", text)
        assert status == 0
        assert quiet_answer(out)[1] == pytest.approx(ts.test(*numbers, kernel=kernel).log_bf10, abs=0.01)
    assert refused("test", "a.csv", "b.csv", "--kernel", "linear").startswith(
        "--kernel: 'linear' is unknown; use 'rbf'"
    )
    assert "--kernel: one of them is there twice" in refused("test", "a.csv", "b.csv", "--kernel", "rbf,rbf")
    assert "--kernel: 'laplace' has no closed form" in refused(
        "test", "a.csv", "b.csv", "--kernel", "laplace", "--model", "paper"
    )
