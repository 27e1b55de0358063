"""Options: that each reaches the test, and what is refused."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import twosample as ts

NUMBERS = ["u", "v"]


def test_columns(run, refused, files, first, second, agrees):
    status, out, err = run("test", "a.csv", "b.csv", "--columns", "v", "-q")
    assert (status, err) == (0, "")
    agrees(out, ts.test(first["v"], second["v"]))
    assert "no column 'w'" in refused("test", "a.csv", "b.csv", "--columns", "u,w")
    assert "column 'label' of x holds text or categories ('p' in row 0)" in refused(
        "test", "a.csv", "b.csv", "--columns", "u,label", "--model", "paper"
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
        (["--subsets", "none"], {"subsets": None}),
        (["--prior-odds", "0.25"], {"prior_odds": 0.25}),
        (["--scale", "raw"], {"scale": "raw"}),
        (["--scale", "robust", "--model", "paper"], {"scale": "robust", "model": "paper"}),
    ],
)
def test_options_reach_the_test(args, options, run, files, expected, first, second, agrees):
    status, out, _ = run("test", "a.csv", "b.csv", "-q", *args)
    result = ts.test(first.select(NUMBERS), second.select(NUMBERS), **options)
    assert status == 0
    agrees(out, result)
    assert (result.prob_h1, result.log_bf10) != (expected.prob_h1, expected.log_bf10)


def test_subsets(run, files, first, second, agrees):
    rng = np.random.default_rng(0)
    x, y = (sample.with_columns(w=pl.Series(rng.normal(size=len(sample)))) for sample in (first, second))
    x, y = (sample.with_columns(z=pl.Series(rng.normal(size=len(sample)))) for sample in (x, y))
    for name, sample in (("a.csv", x), ("b.csv", y)):
        sample.drop("label").write_csv(name)
    answers = set()
    for word, subsets in (("auto", "auto"), ("all", "all"), ("none", None)):
        status, out, err = run("test", "a.csv", "b.csv", "-q", "--subsets", word)
        assert (status, err) == (0, "")
        result = ts.test(x.drop("label"), y.drop("label"), subsets=subsets)
        agrees(out, result)
        answers.add(result.log_bf10)
    assert len(answers) == 3
    assert run("test", "a.csv", "b.csv", "-q")[1] == run("test", "a.csv", "b.csv", "-q", "--subsets", "auto")[1]


def test_rope(run, files, first, second):
    status, out, _ = run("test", "a.csv", "b.csv", "--columns", "v", "--rope", "0.55", "--json", "out.json")
    expected = ts.test(first["v"], second["v"], rope=0.55)
    assert status == 0
    assert f"  P(AUC > 0.55)        {expected.prob_beyond_rope:.4f}\n" in out
    back = ts.TwoSampleResult.from_json(Path("out.json"))
    assert (back.rope, back.prob_beyond_rope) == (0.55, expected.prob_beyond_rope)
    assert "P(AUC > " not in run("test", "a.csv", "b.csv", "--columns", "v")[1]


def test_paired(run, refused, files, first):
    first.head(30).write_csv("a.csv")
    status, out, _ = run("test", "a.csv", "b.csv", "--paired")
    assert status == 0
    assert "30 pairs" in out
    first.write_csv("a.csv")
    line = refused("test", "a.csv", "b.csv", "--paired")
    assert "x has 40 rows and y has 30; --paired needs" in line
    assert "x is 'a.csv'" in line


@pytest.fixture
def shuffled(files, first):
    """Files of pairs in different orders, by names and by names that are numbers but for one; the tables that match."""
    x = first.head(30).with_columns(
        name=pl.Series([f"P{i}" for i in range(30)]), nr=pl.Series([str(i) if i else "none" for i in range(30)])
    )
    y = x.with_columns(pl.col("v") + 0.4)[np.random.default_rng(1).permutation(30)]
    for name, table in (("a.csv", x), ("b.csv", y)):
        table.select("name", "nr", *NUMBERS).write_csv(name)
    both = pl.concat([x.with_columns(arm=pl.lit("a")), y.with_columns(arm=pl.lit("b"))])
    both.select("name", "nr", "arm", *NUMBERS).write_csv("both.csv")
    return x, y


@pytest.mark.parametrize("samples", [["a.csv", "b.csv"], ["both.csv", "--by", "arm"]])
@pytest.mark.parametrize("key", ["name", "nr"])
def test_pairs_by_a_column(samples, key, run, refused, shuffled, agrees):
    x, y = (one.select(key, *NUMBERS) for one in shuffled)
    status, out, err = run("test", *samples, "--columns", "u,v", "--pair-by", key, "-q")
    assert (status, err) == (0, "")
    agrees(out, ts.test(x, y, paired=key))
    line = refused("test", *samples, "--columns", "u,v", "--paired")
    assert line.startswith("--paired: by column 'name' row 0 of x is 'P0'") and "with --pair-by name" in line
    assert "--pair-by: x has no column 'nome'" in refused("test", *samples, "--columns", "u,v", "--pair-by", "nome")


@pytest.mark.parametrize("command", ["each", "check", "compare"])
def test_every_command_of_pairs_matches_them(command, run, shuffled):
    x, y = (one.select("name", *NUMBERS) for one in shuffled)
    status, out, _ = run(command, "a.csv", "b.csv", "--columns", "v", "--pair-by", "name")
    expected = ts.test(x, y, paired="name", columns=["v"])
    if command == "each":
        assert "30 pairs matched by 'name'" in out
    elif command == "check":
        assert status == 1 and f"{expected.log_bf10:+.2f}" in out
    else:
        assert f"{expected.log_bf10:+.2f}" in out and out.count("takes independent samples, not pairs") == 2


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "null", " NA "])
def test_missing_values(missing, run, refused, files, second, quiet_answer):
    text = Path("a-plain.csv").read_text()
    Path("a.csv").write_text(f"u,v\n1.0,{missing}\n{text}")
    second.select(NUMBERS).write_csv("b.csv")
    line = refused("test", "a.csv", "b.csv")
    assert line.startswith("'a.csv', line 2, column 'v': the cell is missing; ")
    assert "--nan-policy omit" in line
    status, out, err = run("test", "a.csv", "b.csv", "--nan-policy", "omit", "-q")
    assert status == 0
    assert quiet_answer(out)
    assert err.startswith("note: 'a.csv': left out 1 cell that is missing: line 2, column 'v' (missing).\n")
    assert "note: Dropped 1 of 41 rows of x" in err
    assert "Warning" not in err


@pytest.mark.parametrize(
    "args, message",
    [
        (["--lengthscale", "wide"], "neither a number nor 'median'"),
        (["--lengthscale", "-1"], "--lengthscale: must be positive"),
        (["--lengthscale", "nan"], "--lengthscale: must be positive"),
        (["--points", "0"], "--points: need at least 1"),
        (["--points", "many"], "--points"),
        (["--subsets", "pairs"], "'pairs'"),
        (
            ["--subsets", "all", "--model", "paper"],
            "--subsets: model 'paper' tests all columns together; use --subsets",
        ),
        (["--subsets", "all", "--lengthscale", "1"], "--subsets: at a given lengthscale"),
        (["--rope", "0.4"], "--rope: must be a number between 0.5 and 1"),
        (["--rope", "1.2"], "--rope: must be a number between 0.5 and 1"),
        (["--rope", "nan"], "--rope: must be a number between 0.5 and 1"),
        (["--rope", "small"], "--rope"),
        (["--rope", "0.6", "--model", "paper"], "use --model adaptive"),
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
