"""The command line: every option, every refusal, and names that try to be more than names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import twosample as ts
from twosample import cli, progress

HOSTILE = "[red]x$\\frac{1}{0}$"
ESCAPES = "\x1b[31mred\x07\n"


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


def table(n, shift, label, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"u": rng.normal(size=n) + shift, "v": rng.normal(size=n), "label": [label] * n})


X, Y = table(40, 0.0, "p", 1), table(30, 1.5, "q", 2)
NUMBERS = ["u", "v"]


@pytest.fixture(scope="module")
def expected():
    return ts.test(X.select(NUMBERS), Y.select(NUMBERS))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the samples in every kind of file, which is also the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, sample in (("a", X), ("b", Y)):
        sample.write_csv(f"{name}.csv")
        sample.write_csv(f"{name}.tsv", separator="\t")
        sample.write_csv(f"{name}.txt", separator=";")
        sample.write_parquet(f"{name}.parquet")
        sample.select(NUMBERS).write_csv(f"{name}-plain.csv", include_header=False)
    pl.concat([X, Y]).write_csv("all.csv")
    return tmp_path


def quiet_answer(out):
    (line,) = out.splitlines()
    probability, log_bf10 = map(float, line.split())
    return probability, log_bf10


def agrees(out, result):
    # Six digits are printed.
    probability, log_bf10 = quiet_answer(out)
    assert probability == pytest.approx(result.prob_h1, rel=1e-5)
    assert log_bf10 == pytest.approx(result.log_bf10, rel=1e-5)


# The command as a whole.


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_help_shows_examples(args):
    shown = CliRunner().invoke(cli.cli, args, prog_name="twosample")
    assert shown.exit_code == 0
    assert "twosample test before.csv after.csv" in shown.output


def test_help_of_test_shows_every_option():
    shown = CliRunner().invoke(cli.cli, ["test", "--help"])
    assert shown.exit_code == 0
    for option in (
        "--by --groups --columns --paired --model --lengthscale --points --prior-odds --scale --nan-policy --seed "
        "--json --plot --quiet --permutations"
    ).split():
        assert option in shown.output


def test_version(run):
    assert run("--version") == (0, f"twosample {ts.__version__}\n", "")


def test_unknown_command_and_option(refused):
    assert "'tset'" in refused("tset")
    assert "--quite" in refused("test", "--quite")
    assert "\\x1b[31m" in refused("test", f"--{ESCAPES}")


def test_module_runs(files, expected):
    done = subprocess.run(
        [sys.executable, "-m", "twosample", "test", "a.csv", "b.csv", "-q"], capture_output=True, text=True, check=True
    )
    agrees(done.stdout, expected)
    assert done.stderr == "note: Left out columns that do not hold numbers: 'label'.\n"


def test_help_imports_neither_the_table_reader_nor_matplotlib():
    code = (
        "import sys; from twosample.cli import cli; cli.main(['--help'], standalone_mode=False); "
        "sys.exit(any(name in sys.modules for name in ('polars', 'matplotlib', 'narwhals')))"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_reader_that_leaves_early_gets_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "twosample", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


def test_interrupt_exits_130_quietly(run, files, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("twosample.api.test", interrupted)
    status, out, err = run("test", "a.csv", "b.csv", "--columns", "u")
    assert (status, out, err.strip()) == (130, "", "")


# The demo.


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


def test_demo_into_a_file_is_refused(refused, tmp_path):
    path = tmp_path / "file"
    path.touch()
    assert repr(str(path)) in refused("demo", "--out", path)


@pytest.fixture
def no_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


# Files.


@pytest.mark.parametrize(
    "x, y",
    [("a.csv", "b.csv"), ("a.tsv", "b.parquet"), ("a.txt", "b.csv"), ("a-plain.csv", "b-plain.csv")],
)
def test_kinds_of_files_give_the_same_answer(x, y, run, files, expected):
    status, out, err = run("test", x, y, "--quiet")
    assert status == 0
    agrees(out, expected)
    assert ("'label'" in err) == ("plain" not in x)


def test_summary_names_the_samples(run, files, expected):
    status, out, _ = run("test", "a.csv", "b.csv")
    assert status == 0
    assert out == f"x is 'a.csv', y is 'b.csv'.\n{expected.summary()}\n"


def test_blanks_quotes_and_a_byte_order_mark(run, files, expected):
    rows = "\n".join(f'"{u!r}",  {v!r} ' for u, v in X.select(NUMBERS).rows())
    Path("a.csv").write_text(f"\ufeff\r\nu, v\n{rows}\n", encoding="utf-8")
    status, out, _ = run("test", "a.csv", "b.csv", "-q", "--columns", "u,v")
    assert status == 0
    agrees(out, expected)


def test_decimal_commas(run, files, expected):
    for name in ("a", "b"):
        text = Path(f"{name}.txt").read_text()
        Path(f"{name}.txt").write_text(text.replace(".", ","))
    status, out, _ = run("test", "a.txt", "b.txt", "-q")
    assert status == 0
    agrees(out, expected)


def test_order_of_columns_does_not_matter(run, files, expected):
    Y.select("v", "label", "u").write_csv("b.csv")
    agrees(run("test", "a.csv", "b.csv", "-q")[1], expected)


def test_row_numbers_are_left_out(run, files, expected):
    for name, sample in (("a", X), ("b", Y)):
        sample.select(NUMBERS).with_row_index("").write_csv(f"{name}.csv")
    _, out, err = run("test", "a.csv", "b.csv", "-q")
    agrees(out, expected)
    assert "column without a name" in err


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"u,v\n", "has no rows"),
        (b"u,v\n1,2\n1,2,3\n", "cannot be read as a table"),
        (b"u,u\n1,2\n", "two columns named 'u'"),
        (b"u\0v", "is not text"),
        (b"PAR1 and no more", "cannot be read as a table"),
        (b"u,w\n1,2\n3,4\n", "has columns that 'b.csv' lacks: 'w'"),
        (b"u,v\nred,blue\nred,green\n", "no column holds numbers"),
    ],
)
def test_unusable_content_is_refused(content, message, refused, files):
    Y.select(NUMBERS).write_csv("b.csv")
    Path("bad.csv").write_bytes(content)
    line = refused("test", "bad.csv", "b.csv")
    assert message in line


def test_damaged_parquet_is_refused(refused, files):
    Path("bad.parquet").write_bytes(b"nonsense")
    assert "'bad.parquet' cannot be read" in refused("test", "bad.parquet", "b.csv")


def test_missing_file_folder_and_wrong_number_of_files(refused, files):
    assert refused("test", "none.csv", "b.csv") == "there is no file 'none.csv'"
    assert "is a folder" in refused("test", files, "b.csv")
    assert "--by COLUMN" in refused("test", "a.csv")
    assert "not 0" in refused("test")
    assert "not 3" in refused("test", "a.csv", "a.csv", "b.csv")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_unreadable_file_is_refused(refused, files):
    Path("a.csv").chmod(0)
    assert "cannot be read" in refused("test", "a.csv", "b.csv")


# One file and a column.


def test_by_splits_a_file(run, files, expected):
    status, out, err = run("test", "all.csv", "--by", "label", "-q")
    assert (status, err) == (0, "")
    agrees(out, expected)


def test_groups_choose_two_and_their_order(run, files, expected):
    pl.concat([table(9, 5.0, "r, s", 3), Y, X]).write_csv("all.csv")
    agrees(run("test", "all.csv", "--by", "label", "--groups", "p,q", "-q")[1], expected)
    assert run("test", "all.csv", "--by", "label", "--groups", '"r, s",p')[1].startswith("x is 'r, s', y is 'p'.\n")


def test_by_a_column_of_numbers(run, files):
    pl.concat([X, Y]).select("u", arm=pl.Series([1] * 40 + [2] * 30)).write_csv("all.csv")
    status, out, _ = run("test", "all.csv", "--by", "arm", "--groups", "2,1")
    assert status == 0
    assert out.startswith("x is '2', y is '1'.\n")
    assert "1 column" in out


def test_by_leaves_out_rows_without_a_label(run, files, expected):
    pl.concat([X, table(5, 9.0, None, 4), Y], how="vertical_relaxed").write_csv("all.csv")
    _, out, err = run("test", "all.csv", "--by", "label", "-q")
    agrees(out, expected)
    assert "5 rows without a value" in err


def test_by_with_other_than_two_values_lists_them(refused, files):
    pl.concat([X, Y, table(3, 0.0, "r", 3)]).write_csv("all.csv")
    line = refused("test", "all.csv", "--by", "label")
    assert "3 different values" in line
    assert "'p', 'q', 'r'" in line
    assert "--groups p,q" in line
    X.write_csv("all.csv")
    assert "holds 1 value, not 2: 'p'" in refused("test", "all.csv", "--by", "label")


def test_by_refusals(refused, files):
    assert "no column 'arm'; it has 'u', 'v', 'label'" in refused("test", "all.csv", "--by", "arm")
    assert "no value 'z'" in refused("test", "all.csv", "--by", "label", "--groups", "p,z")
    assert "two different values" in refused("test", "all.csv", "--by", "label", "--groups", "p,p")
    assert "two different values" in refused("test", "all.csv", "--by", "label", "--groups", "p")
    assert "needs one file" in refused("test", "a.csv", "b.csv", "--by", "label")
    assert "needs --by" in refused("test", "a.csv", "b.csv", "--groups", "p,q")


# Options.


def test_columns(run, refused, files):
    status, out, err = run("test", "a.csv", "b.csv", "--columns", "v", "-q")
    assert (status, err) == (0, "")
    agrees(out, ts.test(X["v"], Y["v"]))
    assert "no column 'w'" in refused("test", "a.csv", "b.csv", "--columns", "u,w")
    assert "column 'label' of 'a.csv' does not hold numbers" in refused(
        "test", "a.csv", "b.csv", "--columns", "u,label"
    )
    assert "twice" in refused("test", "a.csv", "b.csv", "--columns", "u,u")
    assert "separated by commas" in refused("test", "a.csv", "b.csv", "--columns", "u,,v")


@pytest.mark.parametrize(
    "args, options",
    [
        (["--model", "paper"], {"model": "paper"}),
        (["--model", "published", "--seed", "5"], {"model": "published", "rng": 5}),
        (["--lengthscale", "0.7"], {"lengthscale": 0.7}),
        (["--lengthscale", "median"], {"lengthscale": "median"}),
        (["--points", "12"], {"points": 12}),
        (["--prior-odds", "0.25"], {"prior_odds": 0.25}),
        (["--scale", "raw"], {"scale": "raw"}),
        (["--scale", "robust", "--model", "paper"], {"scale": "robust", "model": "paper"}),
    ],
)
def test_options_reach_the_test(args, options, run, files, expected):
    status, out, _ = run("test", "a.csv", "b.csv", "-q", *args)
    result = ts.test(X.select(NUMBERS), Y.select(NUMBERS), **options)
    assert status == 0
    agrees(out, result)
    assert (result.prob_h1, result.log_bf10) != (expected.prob_h1, expected.log_bf10)


def test_paired(run, refused, files):
    X.head(30).write_csv("a.csv")
    status, out, _ = run("test", "a.csv", "b.csv", "--paired")
    assert status == 0
    assert "30 pairs" in out
    X.write_csv("a.csv")
    line = refused("test", "a.csv", "b.csv", "--paired")
    assert "x has 40 rows and y has 30; --paired needs" in line
    assert "x is 'a.csv'" in line


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "null", " NA "])
def test_missing_values(missing, run, refused, files):
    text = Path("a-plain.csv").read_text()
    Path("a.csv").write_text(f"u,v\n1.0,{missing}\n{text}")
    Y.select(NUMBERS).write_csv("b.csv")
    line = refused("test", "a.csv", "b.csv")
    assert "x has 1 missing or infinite value (first: row 0, column 'v')" in line
    assert "--nan-policy omit" in line
    assert "x is 'a.csv'" in line
    status, out, err = run("test", "a.csv", "b.csv", "--nan-policy", "omit", "-q")
    assert status == 0
    assert quiet_answer(out)
    assert err.startswith("note: Dropped 1 of 41 rows of x")
    assert "Warning" not in err


@pytest.mark.parametrize(
    "args, message",
    [
        (["--lengthscale", "wide"], "neither a number nor 'median'"),
        (["--lengthscale", "-1"], "--lengthscale: must be positive"),
        (["--lengthscale", "nan"], "--lengthscale: must be positive"),
        (["--points", "0"], "--points: need at least 1"),
        (["--points", "many"], "--points"),
        (["--points", "3", "--model", "paper"], "use --model adaptive"),
        (["--prior-odds", "0"], "--prior-odds: must be a positive"),
        (["--model", "best"], "'best'"),
        (["--scale", "log"], "'log'"),
        (["--nan-policy", "ignore"], "'ignore'"),
        (["--seed", "-1"], "--seed"),
        (["--plot", "out.gif"], "must end in .png, .pdf or .svg"),
        (["--plot", "none/out.png"], "there is no folder"),
        (["--json", "none/out.json"], "there is no folder"),
    ],
)
def test_bad_options_are_refused(args, message, refused, files):
    assert message in refused("test", "a.csv", "b.csv", *args)


def test_json_holds_the_whole_result(run, files, expected):
    status, _, _ = run("test", "a.csv", "b.csv", "--json", "out.json")
    assert status == 0
    assert json.loads(Path("out.json").read_text())["prob_h1"] == expected.prob_h1
    result = ts.TwoSampleResult.from_json(Path("out.json"))
    assert result.log_bf10 == expected.log_bf10
    assert result.columns == ("u", "v")
    assert result.summary() == expected.summary()


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


# Names that try to be more.


@pytest.mark.parametrize("name", [HOSTILE, ESCAPES, "a,b", "--by", "x" * 300, "\u202egnp.exe"])
def test_hostile_column_names(name, run, files):
    for path, sample in (("a.csv", X), ("b.csv", Y)):
        sample.select(pl.col("u").alias(name), pl.col("label").alias(f"{name}!")).write_csv(path)
    status, out, err = run("test", "a.csv", "b.csv", "--plot", "o.png", "--json", "o.json")
    assert status == 0
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert repr(f"{name}!") in err
    assert ts.TwoSampleResult.from_json(Path("o.json")).columns == (name.strip(),)


@pytest.mark.parametrize("name", [HOSTILE, ESCAPES, "$(touch pwned)", "*.csv"])
def test_hostile_file_names(name, run, refused, files):
    path = Path(f"{name}.csv".replace("/", "|"))
    assert repr(str(path)) in refused("test", path, "b.csv")
    X.write_csv(path)
    status, out, err = run("test", path, "b.csv", "--plot", "o.png")
    assert status == 0
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert f"x is {str(path)!r}" in out
    assert not Path("pwned").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names that are not text")
def test_file_name_that_is_not_text(run, files):
    path = os.fsdecode(b"\xff.csv")
    X.write_csv(path.encode("utf-8", "surrogateescape").decode("latin-1"))
    os.rename(os.fsencode("ÿ.csv"), b"\xff.csv")
    status, out, _ = run("test", path, "b.csv", "--columns", "u", "--plot", "o.png")
    assert status == 0
    assert "\\udcff.csv" in out


def test_hostile_groups(run, files):
    pl.concat([table(20, 0.0, ESCAPES, 1), table(20, 1.0, HOSTILE, 2)]).write_csv("all.csv")
    status, out, err = run("test", "all.csv", "--by", "label", "--plot", "o.svg")
    assert status == 0
    assert all(line.isprintable() for line in (out + err).splitlines())


# Permutations.


def test_permutations_print_the_pvalue(run, files):
    options = ["test", "a.csv", "b.csv", "--columns", "u"]
    expected = ts.test(X["u"], Y["u"], permutations=99, rng=3)
    status, out, err = run(*options, "--permutations", "99", "--seed", "3", "--json", "out.json")
    assert (status, err) == (0, "")
    (line,) = (line for line in out.splitlines() if "p-value" in line)
    assert line in expected.summary().splitlines()
    assert ts.TwoSampleResult.from_json(Path("out.json")).pvalue == expected.pvalue
    assert "p-value" not in run(*options)[1]
    assert run(*options, "-q", "--permutations", "9")[1] == run(*options, "-q")[1]


def test_permutations_of_models_with_pairs_are_refused(refused, files):
    message = refused("test", "a.csv", "b.csv", "--model", "paper", "--permutations", "9")
    assert "--permutations: " in message and "--model adaptive" in message


# Comparing.


def compared(out):
    """The lines of the table by test, and the widths of its columns."""
    _, header, *lines = out.splitlines()
    starts = [header.index(name) for name in ("test", "log BF10", "P(H1)", "p-value", "verdict")]
    ends = [*starts[1:], None]
    cells = [[line[a:b].rstrip() for a, b in zip(starts, ends, strict=True)] for line in lines]
    return {name: rest for name, *rest in cells}


def test_compare_shows_all_tests_side_by_side(run, files):
    status, out, err = run("compare", "a.csv", "b.csv", "--columns", "u", "--permutations", "99")
    assert (status, err) == (0, "")
    assert out.startswith("x is 'a.csv', y is 'b.csv'.\n")
    x, y = X.select("u"), Y.select("u")
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


def test_compare_says_what_does_not_apply(run, files):
    table = compared(run("compare", "a.csv", "b.csv", "--permutations", "19")[1])
    for name in ("Holmes et al.", "JZS t-test"):
        assert table[name][:3] == ["-", "-", "-"]
        assert table[name][3].startswith("does not apply: x and y have 2 columns")
    X.head(30).write_csv("first.csv")
    table = compared(run("compare", "first.csv", "b.csv", "--paired", "--columns", "u", "--permutations", "19")[1])
    for name in ("Holmes et al.", "Chen & Hanson"):
        assert table[name][3] == "does not apply: it takes independent samples, not pairs"
    assert table["JZS t-test"][0] == f"{ts.baselines.jzs(X['u'].head(30), Y['u'], paired=True).log_bf10:+.2f}"


def test_compare_many_rows_without_permutations(run, files, monkeypatch):
    monkeypatch.setattr(cli, "_MOST_PERMUTED_ROWS", 60)
    table = compared(run("compare", "a.csv", "b.csv", "--columns", "u")[1])
    assert table["twosample"][2] == table["Chen & Hanson"][2] == "-"
    assert table["MMD, aggregated"][3] == "left out: slow for more than 60 rows"
    expected = ts.baselines.mmd(X["u"], Y["u"], estimator="linear").pvalue
    assert float(table["MMD, linear time"][2].lstrip("< ")) == pytest.approx(expected, rel=0.01, abs=1e-4)


def test_compare_takes_the_options_of_test(run, refused, files):
    options = ["--by", "label", "--groups", "q,p", "--columns", "u", "--prior-odds", "3", "--seed", "2"]
    table = compared(run("compare", "all.csv", *options, "--permutations", "19")[1])
    expected = ts.test(Y["u"], X["u"], prior_odds=3.0)
    assert float(table["twosample"][1].lstrip("<> ")) == pytest.approx(expected.prob_h1, abs=1e-4)
    pl.DataFrame({"u": [1.0, None, 3.0, 2.5], "v": [2.0, 1.0, 4.0, 3.0]}).write_csv("gaps.csv")
    assert "(x is 'gaps.csv', y is 'b.csv')" in refused("compare", "gaps.csv", "b.csv", "--columns", "u,v")
    status, _, err = run(
        "compare", "gaps.csv", "b.csv", "--columns", "u", "--nan-policy", "omit", "--permutations", "19"
    )
    assert status == 0
    assert err.count("Dropped") == 1


# Progress.


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
def test_progress_bar_is_shown_on_a_terminal_if_the_work_lasts(after, shown, run, files, monkeypatch):
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


# The sampler.

SHORT = {"columns": ["u"], "points": 8, "steps": 60, "burn_in": 20, "chains": 2}
SHORT_ARGS = "--columns u --points 8 --steps 60 --burn-in 20 --chains 2".split()


def sampled(columns, **options):
    with pytest.warns(ts.errors.ConvergenceWarning):
        return ts.gibbs(X.select(columns), Y.select(columns), **options)


def test_help_of_gibbs_shows_every_option():
    shown = CliRunner().invoke(cli.cli, ["gibbs", "--help"], prog_name="twosample")
    assert shown.exit_code == 0
    for option in (
        "--by --groups --columns --paired --model --kernel --points --prior-odds --scale --nan-policy --steps "
        "--burn-in --thinning --hmc-steps --adapt-steps --chains --evidence --no-evidence --seed --json --plot --trace "
        "--quiet"
    ).split():
        assert option in shown.output
    assert "twosample gibbs before.csv after.csv" in shown.output


def test_gibbs_prints_the_summary_and_writes_files(run, files):
    status, out, err = run(
        "gibbs", "a.csv", "b.csv", *SHORT_ARGS, "--json", "o.json", "--plot", "o.png", "--trace", "o.svg"
    )
    result = sampled(**SHORT)
    assert status == 0
    assert out == f"x is 'a.csv', y is 'b.csv'.\n{result.summary()}\n"
    assert err.startswith("note: the chains")
    assert "Warning" not in err
    assert ts.GibbsResult.from_json(Path("o.json")).prob_h1 == result.prob_h1
    assert Path("o.png").read_bytes().startswith(b"\x89PNG")
    assert "row a chain" in Path("o.svg").read_text()


def test_gibbs_by_column_with_a_lengthscale_each(run, files):
    args = ["--by", "label", "--kernel", "ard", "--model", "adaptive", "--seed", "5", "-q"]
    status, out, _ = run("gibbs", "all.csv", *SHORT_ARGS[2:], *args)
    assert status == 0
    agrees(out, sampled(**SHORT | {"columns": NUMBERS}, kernel="ard", model="adaptive", rng=5))


DEFAULTS = {
    "paired": False, "model": "paper", "kernel": "rbf", "points": 40, "prior_odds": 1.0, "scale": "auto",
    "nan_policy": "raise", "steps": 2000, "burn_in": 500, "thinning": 2, "hmc_steps": 9, "adapt_steps": 3, "chains": 4,
    "evidence": None, "rng": 0, "progress": True,
}  # fmt: skip


@pytest.mark.parametrize(
    "args, options",
    [
        ([], {}),
        (["--evidence"], {"evidence": True}),
        (["--no-evidence", "--kernel", "ard"], {"evidence": False, "kernel": "ard"}),
        (["--thinning", "1", "--hmc-steps", "5"], {"thinning": 1, "hmc_steps": 5}),
        (["--model", "published", "--paired", "--seed", "7"], {"model": "published", "paired": True, "rng": 7}),
    ],
)
def test_options_reach_the_sampler(args, options, refused, files, monkeypatch):
    def record(x, y, **given):
        reached.update(given)
        raise ts.errors.InputError("enough")

    reached = {}
    monkeypatch.setattr("twosample.api.gibbs", record)
    assert refused("gibbs", "a.csv", "b.csv", *args) == "enough"
    assert reached == DEFAULTS | options


@pytest.mark.parametrize(
    "args, message",
    [
        (["--steps", "7"], "--steps: must be at least 8"),
        (["--steps", "20", "--burn-in", "20"], "--steps: fewer than 4 draws"),
        (["--burn-in", "-1"], "--burn-in: must be at least 0"),
        (["--thinning", "0"], "--thinning: must be at least 1"),
        (["--chains", "0"], "--chains: must be at least 1"),
        (["--adapt-steps", "10"], "--adapt-steps: only 9 transitions are there to tune (--hmc-steps)"),
        (["--points", "3", "--kernel", "ard"], "use --model adaptive"),
        (["--kernel", "linear"], "'linear'"),
        (["--trace", "out.gif"], "--trace: 'out.gif' must end in .png, .pdf or .svg"),
        (["--trace", "none/out.png"], "--trace: there is no folder"),
        (["--nan-policy", "omit", "--paired"], "--paired needs"),
    ],
)
def test_bad_options_of_gibbs_are_refused(args, message, refused, files):
    assert message in refused("gibbs", "a.csv", "b.csv", *args)


def test_notes_name_the_option_for_evidence():
    assert cli._in_options("no chain moved; evidence=True estimates") == "no chain moved; --evidence estimates"


def test_gibbs_without_its_packages_says_how_to_get_them(refused, files, monkeypatch):
    monkeypatch.delitem(sys.modules, "twosample.posterior.gibbs", raising=False)
    monkeypatch.setitem(sys.modules, "blackjax", None)
    line = refused("gibbs", "a.csv", "b.csv", *SHORT_ARGS)
    assert line == "gibbs needs blackjax; install it with: pip install 'twosample[mcmc]'"


def test_trace_without_matplotlib_is_refused_before_the_work(refused, files, no_matplotlib):
    assert "pip install 'twosample[plot]'" in refused("gibbs", "a.csv", "b.csv", "--trace", "out.png")
