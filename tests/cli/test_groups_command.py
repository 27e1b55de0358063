"""Files with several groups, columns that are chosen, dropped or suspicious: through the command line."""

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import twosample as ts


@pytest.fixture
def three(files, first, second, table):
    frame = pl.concat([first, second, table(20, 0.5, "r", 3)])
    frame.write_csv("three.csv")
    return frame


def test_more_than_two_groups_are_one_table(run, three):
    status, out, err = run("test", "three.csv", "--by", "label")
    assert (status, err) == (0, "")
    assert out == f"{ts.ksample(three, by='label').summary()}\n"
    assert "P(not all alike)" in out and "P(same)" in out


def test_pictures_pages_and_json_of_several_groups(run, three):
    outputs = ("--plot", "o.png", "--report", "o.html", "--json", "o.json", "--permutations", "9")
    status, _, err = run("test", "three.csv", "--by", "label", *outputs, "--points", "12")
    assert (status, err) == (0, "")
    result = ts.ksample(three, by="label", permutations=9, points=12)
    assert ts.KSampleResult.from_json(Path("o.json")) == result
    assert Path("o.png").stat().st_size > 1000 and "Which groups are alike" in Path("o.html").read_text()


def test_a_reference(run, three, second):
    status, out, _ = run(
        "test", "three.csv", "--by", "label", "--reference", "q", "--json", "out.json", "--columns", "u"
    )
    assert status == 0
    result = ts.ksample(three, by="label", reference="q", columns=["u"])
    assert out == f"{result.summary()}\n"
    content = json.loads(Path("out.json").read_text())
    assert content == json.loads(result.to_json())
    assert content["group"] == ["p", "r"] and content["reference"] == "q"


def test_pictures_and_pages_of_groups_against_a_reference(run, three):
    status, _, err = run(
        "test", "three.csv", "--by", "label", "--reference", "q", "--plot", "o.png", "--report", "o.html"
    )
    assert (status, err) == (0, "")
    page = Path("o.html").read_text()
    assert Path("o.png").stat().st_size > 1000 and "Which groups differ" in page and "not independent" in page


def test_options_reach_several_groups(run, three):
    _, out, _ = run("test", "three.csv", "--by", "label", "-q", "--prior-odds", "0.25", "--points", "12")
    result = ts.ksample(three, by="label", prior_odds=0.25, points=12)
    assert out == f"{result.prob_h1:.6g} {result.log_bf10:.6g}\n"
    _, out, _ = run("test", "three.csv", "--by", "label", "-q", "--reference", "p", "--points", "12")
    result = ts.ksample(three, by="label", reference="p", points=12)
    assert out == "".join(f"{row.group} {row.prob_h1:.6g} {row.log_bf10:.6g}\n" for row in result)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (["--kernel", "rbf,laplace"], {"kernel": ["rbf", "laplace"]}),
        (["--lengthscale", "median"], {"lengthscale": "median"}),
        (["--subsets", "none"], {"subsets": None}),
    ],
)
def test_several_groups_take_the_options_of_two(args, options, run, three):
    status, out, _ = run("test", "three.csv", "--by", "label", "-q", "--points", "12", *args)
    result = ts.ksample(three, by="label", points=12, **options)
    assert (status, out) == (0, f"{result.prob_h1:.6g} {result.log_bf10:.6g}\n")


def test_categories_and_text_of_several_groups(run, three):
    rng = np.random.default_rng(4)
    zips, colours = rng.integers(1, 4, len(three)), rng.choice(["red", "blue"], len(three))
    frame = three.with_columns(pl.Series("zip", zips), pl.Series("colour", colours))
    frame.write_csv("more.csv")
    status, out, _ = run("test", "more.csv", "--by", "label", "--categories", "zip")
    assert (status, out) == (0, f"{ts.ksample(frame, by='label', categories=['zip']).summary()}\n")
    assert "colour" in out and "zip" in out


def test_two_of_several_groups(run, three, expected, agrees):
    agrees(run("test", "three.csv", "--by", "label", "--groups", "p,q", "-q")[1], expected)


def test_json_to_other_programs(run, three):
    status, out, _ = run("test", "three.csv", "--by", "label", "--json", "-")
    assert status == 0
    assert len(json.loads(out)["pairs"]) == 3


def test_refusals(refused, three):
    by = ("test", "three.csv", "--by", "label")
    assert refused(*by, "--reference", "z").startswith("--reference: column 'label' has no value 'z'; it has 'p', 'q'")
    assert "needs --by COLUMN" in refused("test", "a.csv", "b.csv", "--reference", "p")
    assert "no --groups" in refused(*by, "--groups", "p,q", "--reference", "p")
    for option in ("--paired", "--keep-rows"):
        assert refused(*by, option).startswith(f"{option}: is for two samples")
    assert refused(*by, "--rope", "0.6").startswith("--rope: several groups have no single size of a difference")
    assert "--model adaptive" in refused(*by, "--model", "paper")


# ---- columns


def test_drop(run, refused, files, first, second, agrees):
    result = ts.test(first.select("u"), second.select("u"))
    status, out, err = run("test", "a.csv", "b.csv", "--drop", "v,label", "-q")
    assert (status, err) == (0, "")
    agrees(out, result)
    line = refused("test", "a.csv", "b.csv", "--drop", "labl")
    assert line.startswith("--drop: x has no column 'labl'; it has 'u', 'v', 'label'; did you mean 'label'?")
    line = refused("test", "a.csv", "b.csv", "--columns", "w")
    assert line.startswith("--columns: x has no column 'w'; it has 'u', 'v', 'label'")
    assert line.endswith("(x is 'a.csv', y is 'b.csv')")
    for command in ("each", "compare"):
        status, out, _ = run(command, "a.csv", "b.csv", "--drop", "v")
        assert status == 0


def test_columns_left_out_are_named_in_the_json(run, files):
    run("test", "a.csv", "b.csv", "--drop", "v", "--json", "out.json")
    content = json.loads(Path("out.json").read_text())
    assert content["columns"] == ["u"]
    assert content["left_out"] == [
        {"column": "v", "reason": "dropped as asked"},
        {"column": "label", "reason": "one value in each sample, as a label has"},
    ]


@pytest.mark.parametrize("name", ["patient_id", "number"])
def test_identifiers_are_warned_about(name, run, files, first, second, agrees):
    for place, (file, sample) in enumerate((("a.csv", first), ("b.csv", second))):
        numbers = pl.Series(name, range(1 + 40 * place, 1 + 40 * place + len(sample)))
        sample.drop("label").with_columns(numbers).write_csv(file)
    status, out, err = run("test", "a.csv", "b.csv")
    assert status == 0
    assert f"'{name}' looks like an identifier" in err and f"--drop {name}" in err
    assert f"'{name}' looks like an identifier" in out
    _, out, err = run("test", "a.csv", "b.csv", "-q", "--drop", name)
    assert err == ""
    agrees(out, ts.test(first.drop("label"), second.drop("label")))


def test_dates_are_days_with_a_note(run, files):
    days = np.random.default_rng(0).integers(0, 2000, 60)
    frame = pl.DataFrame({"when": [date(2020, 1, 1) + timedelta(int(day)) for day in days]})
    frame[:30].write_parquet("a.parquet")
    frame[30:].write_parquet("b.parquet")
    status, out, err = run("test", "a.parquet", "b.parquet")
    assert status == 0
    assert err.startswith("note: Read dates as days since 1970-01-01") and "'when'" in err
    assert f"{ts.test(days[:30].tolist(), days[30:].tolist()).log_bf10:+.2f}" in out
