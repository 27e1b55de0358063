"""What a page says of how to run it again gives the same answer, for results of every kind."""

import html
import json
import re
import shlex

import numpy as np
import polars as pl
import pytest

import twosample as ts
from twosample.app.form import Question
from twosample.app.work import Upload, compare
from twosample.results.result import Result
from twosample.show import report

pytestmark = pytest.mark.filterwarnings("ignore::twosample.errors.TwoSampleWarning")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.normal((0.8, 0.0, 0.0), size=(35, 3))
WITH_GAPS = np.where(RNG.random((40, 3)) < 0.05, np.nan, X)
TABLE = pl.DataFrame(
    {
        "arm": ["a", "b", "c"] * 20,
        "dose": RNG.normal(size=60) + np.tile([0.0, 1.0, 0.3], 20),
        "age": RNG.normal(40, 9, size=60),
        "site": RNG.integers(0, 3, 60),
        "id": RNG.permutation(60),
    }
)
WORDS, OTHERS = (["".join(RNG.choice(list(letters), 12)) for _ in range(20)] for letters in ("acgt", "aacgt"))
MODEL = ts.models.PRESETS["adaptive"]

CALLS = {
    "the default": ("ts.test", (X, Y), {}),
    "missing values": ("ts.test", (WITH_GAPS, Y), {"nan_policy": "omit"}),
    "columns by place": ("ts.test", (X, Y), {"columns": [0, np.int64(2)], "rng": 5, "permutations": 20}),
    "pairs": ("ts.test", (X[:35], Y), {"paired": True, "prior_odds": 0.25, "tolerance": 1e-4}),
    "several kernels": ("ts.test", (X, Y), {"kernel": ["rbf", "laplace"], "points": 25}),
    "a kernel as an object": ("ts.test", (X, Y), {"kernel": ts.kernels.Matern(1.5), "subsets": [[0, 1]]}),
    "points": ("ts.test", (X, Y), {"points": X[:20], "scale": [1.0, 2.0, 3.0], "subsets": None}),
    "a lengthscale": ("ts.test", (X, Y), {"lengthscale": 0.7123456789012345, "model": "paper"}),
    "two of three groups": ("ts.test", (TABLE,), {"by": "arm", "groups": ("a", "c"), "categories": ["site"]}),
    "labels": ("ts.test", (TABLE[:, 1:3],), {"by": np.arange(60) % 2, "drop": "age"}),
    "strings": ("ts.test", (WORDS, OTHERS), {"kernel": "kmer", "parameters": [2, 3]}),
    "kernel values": ("ts.test_gram", (X @ X[:9].T, Y @ X[:9].T, X[:9] @ X[:9].T), {"prior_odds": 2.0}),
    "each column": ("ts.test_each", (X, Y), {"groups": {"both": ["0", "1"]}, "rope": 0.6, "fdr": 0.1}),
    "each column of a group": ("ts.test_each", (TABLE,), {"by": "arm", "groups": ("a", "b"), "drop": ["id"]}),
    "several groups": ("ts.ksample", (TABLE,), {"by": "arm", "columns": ["dose", "age"], "permutations": 9}),
    "a dictionary of groups": ("ts.ksample", ({"x": X, "y": Y, "z": X[:20]},), {"scale": "raw"}),
    "against one group": ("ts.ksample", (TABLE,), {"by": "arm", "reference": "b", "drop": ["id", "site"]}),
    "a law by name": ("ts.goodness", (X[:, 0], "norm(0, 1.5)"), {"simulations": 9, "draws": None}),
    "a law as a function": ("ts.goodness", (X, lambda n, rng: rng.normal(size=(n, 3))), {"draws": 1000, "rng": 3}),
    "independence": ("ts.independence", (X, X[:, :1] + Y[:1, 1:]), {"points": 12}),
    "columns of one table": ("ts.independence", (TABLE,), {"x": "dose", "y": ["age", "arm"], "permutations": 9}),
    "sides by name": ("ts.independence", (), {"x": X[:, 0], "y": X[:, 1]}),
}


def evidence(result):
    return np.atleast_1d(result.log_bf10)


def lines_of(page):
    return html.unescape(re.search(r"<code>(.*?)</code>", page, re.DOTALL)[1]).strip().splitlines()


@pytest.mark.parametrize("case", CALLS)
def test_the_lines_of_a_call_make_it_again(case):
    name, data, options = CALLS[case]
    result = getattr(ts, name.removeprefix("ts."))(*data, **options)
    imported, line = lines_of(report.render(result))
    assert imported == "import twosample as ts"
    expression = line.removesuffix('.report("report.html")')
    names = [word for word in expression.split("(", 1)[1].rstrip(")").split(", ") if word.isidentifier()]
    literal = [value for value in data if isinstance(value, str)]
    known = dict(zip(names, [value for value in data if not isinstance(value, str)], strict=True))
    assert len(names) + len(literal) == len(data)
    again = eval(expression, {"ts": ts, **options, **known})
    np.testing.assert_array_equal(evidence(again), evidence(result))
    assert getattr(again, "pvalue", None) == getattr(result, "pvalue", None)


def test_objects_are_named_beside_the_lines():
    result = ts.test(X, Y, points=X[:20], model=MODEL)
    assert result.made_by.lines[1] == 'ts.test(x, y, model=model, points=points).report("report.html")'
    assert "model and points are what the call had." in report.render(result)
    assert ts.TwoSampleResult.from_json(result.to_json()).made_by is None
    assert "<code>" not in report.render(ts.TwoSampleResult.from_json(result.to_json()))


@pytest.mark.parametrize("options", [{"alpha": 0.2, "window": 2, "rng": 4}, {"reference": X, "points": 12}])
def test_the_lines_of_a_monitor_make_it_again(options):
    monitor = ts.Monitor(**options)
    batches = [Y[:12], Y[12:24]] if "reference" in options else [(X[:12], Y[:12]), (X[12:24], Y[12:24])]
    for batch in batches:
        monitor.update(*(batch if isinstance(batch, tuple) else (batch,)))
    again = {"batches": batches, **options}
    exec("\n".join(lines_of(report.render(monitor))), again)
    assert again["monitor"].state.log_evalue == monitor.state.log_evalue != 0.0


COMMANDS = [
    "test first.csv second.csv --missing=-9,x --decimal , --delimiter ; --nan-policy omit --drop id,arm --rope 0.6",
    "test all.csv --by arm --groups a,c --columns dose,age --permutations 20 --seed 3",
    "test all.csv --by arm --drop id --categories site",
    "each all.csv --by arm --groups 'a,b' --fdr 0.2 --drop id",
    "independence all.csv --x dose --y age,arm",
    "goodness all.csv --columns dose --law 'norm(0, 2)'",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Result, "has_robustness", False)  # which takes longer than the test
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("all.csv")
    for name, rows in (("first", TABLE[:30]), ("second", TABLE[30:])):
        text = rows.write_csv(separator=";", include_header=True).replace(".", ",").splitlines()
        text[5] = re.sub(r"^(\w);[^;]*;", r"\1;-9;", text[5])
        (tmp_path / f"{name}.csv").write_text("\n".join([*text, ""]))
    return tmp_path


def run(words):
    from twosample import cli

    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 0


def numbers(content):
    return content["log_bf10"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_on_a_page_makes_it_again(folder, command):
    run([*shlex.split(command), "--json", "first.json", "--report", "page.html"])
    [line] = lines_of((folder / "page.html").read_text())
    program, *words = shlex.split(line)
    assert program == "twosample"
    expected = json.loads((folder / "first.json").read_text())
    (folder / "first.json").unlink()
    run(words)
    assert numbers(json.loads((folder / "first.json").read_text())) == numbers(expected)


ASKED = [
    {"test": "test", "nan_policy": "omit", "columns": ["dose", "age"], "prior_odds": "2", "paired": True},
    {"test": "each", "nan_policy": "omit", "fdr": "0.1"},
    {"test": "test", "by": "arm", "groups": ["a", "c"], "columns": ["dose", "age"]},
    {"test": "test", "by": "arm", "permutations": "9"},
    {"test": "independence", "columns": None, "y": ["arm"]},
    {"test": "goodness", "columns": ["dose"], "law": "norm(0, 2)", "permutations": "9"},
]


@pytest.mark.parametrize("asked", ASKED)
def test_the_command_on_a_page_of_the_app_makes_it_again(folder, asked):
    two = "by" not in asked and asked["test"] in ("test", "each")
    reading = {"missing": "-9", "decimal": ",", "delimiter": ";"} if two else {}
    uploads = [
        Upload(name, (folder / name).read_bytes()) for name in (["first.csv", "second.csv"] if two else ["all.csv"])
    ]
    answer = compare(uploads, Question.of({**asked, "reading": reading}), lambda share, words: None)
    [line] = lines_of(answer.page)
    program, *words = shlex.split(line)
    run([*words, "--json", "again.json"])
    assert program == "twosample" and (folder / "report.html").exists()
    assert numbers(json.loads((folder / "again.json").read_text())) == numbers(json.loads(answer.result))
