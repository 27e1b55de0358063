"""twosample test --kernel kmer."""

import json

import numpy as np
import pytest

import twosample as ts

RNG = np.random.default_rng(1)
X, Y = (["".join(RNG.choice(list(letters), 20)) for _ in range(30)] for letters in ("ACGT", "AACG"))


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "a.txt", tmp_path / "b.fasta"
    paths[0].write_text("\n".join(X) + "\n")
    paths[1].write_text("".join(f">{place}\n{one[:7]}\n{one[7:]}\n" for place, one in enumerate(Y)))
    return paths


def test_the_answer_is_that_of_the_library(run, files, tmp_path):
    out = tmp_path / "out.json"
    status, said, _ = run(
        "test", *files, "--kernel", "kmer", "--parameters", "1,3", "--permutations", 20, "--json", out
    )
    expected = ts.test(X, Y, kernel="kmer", parameters=[1, 3], permutations=20)
    assert status == 0
    assert said.splitlines()[0] == "x is 'a.txt', y is 'b.fasta'."
    assert said.splitlines()[1:] == expected.summary().splitlines()
    written = json.loads(out.read_text())
    assert (written["log_bf10"], written["pvalue"]) == (expected.log_bf10, expected.pvalue)
    assert written["names"] == ["a.txt", "b.fasta"]
    assert X[0] not in out.read_text()


def test_plot_and_report(run, files, tmp_path):
    picture, page = tmp_path / "out.png", tmp_path / "out.html"
    status, said, _ = run("test", *files, "--kernel", "kmer", "-q", "--plot", picture, "--report", page)
    assert status == 0 and len(said.split()) == 2
    assert picture.read_bytes().startswith(b"\x89PNG") and "a.txt" in page.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parameters", "2"], "--parameters: they are those of a kernel of objects; pass such a kernel too"),
        (["--kernel", "kmer", "--parameters", "0"], "--parameters: must be at least 1, not 0"),
        (["--kernel", "kmer", "--parameters", "a"], "Invalid value for '--parameters': 'a' is not a list of whole"),
        (["--kernel", "kmer", "--columns", "a"], "--columns: is for tables, not for strings"),
        (["--kernel", "kmer", "--lengthscale", "2"], "--lengthscale: is for rows of a table, not for objects"),
        (["--kernel", "kmer", "--stream"], "--kernel: strings are read whole"),
        (["--kernel", "kmer", "--model", "paper"], "--model: 'paper' needs rows of numbers; use --model adaptive"),
    ],
)
def test_refusals(refused, files, options, message):
    assert refused("test", *files, *options).startswith(message)


def test_by_is_refused(refused, files):
    assert refused("test", files[0], "--kernel", "kmer", "--by", "a").startswith("--by: is for tables, not for strings")


def test_text_without_the_kernel_names_it(refused, tmp_path):
    for name, lines in (("a.txt", X), ("b.txt", Y)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    assert "--kernel kmer" in refused("test", tmp_path / "a.txt", tmp_path / "b.txt", "--no-header")
