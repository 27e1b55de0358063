"""How programs are asked, by SciPy's answers and by one that there is not; nothing is downloaded."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("resource", reason="the worker limits memory as Unix does")

from benchmarks.peers import measure
from benchmarks.peers.__main__ import DOCUMENT, install
from benchmarks.peers.catalogue import PEERS, Peer, answers
from benchmarks.peers.environments import DidNotInstall, Environment, last_line, prepare
from benchmarks.peers.page import into, page, summary
from benchmarks.peers.worker import TESTS
from benchmarks.suite import RESULTS

PEER = {peer.name: peer for peer in PEERS}
HERE = Environment(sys.executable, {})
OURS = replace(PEER["twosample"], tests={"test": "", "test with p-value": ""}, slow=())
TTEST = replace(PEER["SciPy"], tests={"ttest_ind": "a call"})
GONE = Peer("gone", {}, answers("nothing"), module="no_such_module", here=True)


@pytest.fixture
def data(tmp_path):
    """Three data sets of two columns, of which the second differs in the last."""
    x, y = np.random.default_rng(0).normal(size=(2, 3, 40, 2))
    y[2, :, 1] += 2.0
    path = tmp_path / "data.npz"
    np.savez(path, x=x, y=y)
    return path, x, y


@pytest.fixture(scope="module")
def scipy():
    return prepare(PEER["SciPy"], None)


def test_scipy_answers_as_a_direct_call_does_by_column_and_corrected(scipy, data):
    path, x, y = data
    lines, why = scipy.ask(tests=["ks_2samp", "ttest_ind"], data=[str(path)])
    assert not why
    assert [(line["test"], line["number"]) for line in lines] == [
        (t, k) for t in ("ks_2samp", "ttest_ind") for k in range(3)
    ]
    for line in lines:
        test, k = getattr(stats, line["test"]), line["number"]
        smallest = min(test(x[k, :, column], y[k, :, column]).pvalue for column in range(2))
        assert line["p"] == pytest.approx(min(1.0, 2 * smallest))
    assert scipy.versions == {"scipy": __import__("scipy").__version__}


def test_times_and_memory_are_given_where_asked_for(scipy, data):
    path, *_ = data
    (line,), why = scipy.ask(tests=["ttest_ind"], data=[str(path)], timed=True)
    assert not why
    assert 1e-6 < line["seconds"] < 1
    assert 10 < line["megabytes"] < 4096


def test_too_long_is_said(data):
    path, *_ = data
    lines, why = HERE.ask(tests=["test with p-value"], data=[str(path)], seconds=0.01)
    assert lines == []
    assert why == "more than 0.01 s"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_too_large_is_said(tmp_path):
    path = tmp_path / "large.npz"
    np.savez(path, **{name: np.zeros((1, 10**7, 1)) for name in "xy"})
    # The samples have 160 MB, and the test sorts copies of them, puts these together and searches them.
    lines, why = HERE.ask(tests=["ks_2samp"], data=[str(path)], megabytes=400)
    assert not why
    assert [line["error"] for line in lines] == ["more than 0.39 GB"]


def test_an_error_of_a_test_is_its_answer_and_counts_as_not_rejected(data, tmp_path):
    constant = tmp_path / "constant.npz"
    np.savez(constant, x=np.zeros((2, 30, 1)), y=np.zeros((2, 30, 1)))
    lines, why = HERE.ask(tests=["epps_singleton_2samp"], data=[str(constant)])
    assert not why
    assert all("error" in line and "p" not in line for line in lines)
    row = measure.summarise({False: lines, True: lines}, "p")
    assert (row["level"], row["power"], row["no_answer"]) == (0.0, 0.0, 4)


def test_one_that_does_not_import_says_why(tmp_path):
    broken = Peer("broken", {}, answers("nothing"), module="no_such_module", here=True)
    with pytest.raises(DidNotInstall, match="does not import: ModuleNotFoundError: No module named 'no_such_module'"):
        prepare(broken, tmp_path)


@pytest.mark.slow
def test_one_that_does_not_install_says_why_without_addresses(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    missing = Peer("nobody has it", {}, answers("nothing"), requirements=("twosample-no-such-program",), module="none")
    with pytest.raises(DidNotInstall, match="No matching distribution found for twosample-no-such-program"):
        prepare(missing, tmp_path)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("WARNING: x\nERROR: No matching distribution found for a\n\n", "ERROR: No matching distribution found for a"),
        (
            "fatal: unable to access 'https://host.example.com/a.git/': no\nhint\n",
            "fatal: unable to access '(address)': no",
        ),
        ("ERROR: Could not resolve host: files.example.org", "ERROR: Could not resolve host: (address)"),
        ("ImportError: no 'a' (/home/somebody/lib/a.py)", "ImportError: no 'a' ((folder))"),
        ("", "it ended without a message"),
    ],
)
def test_reasons_have_neither_addresses_nor_folders(said, kept):
    assert last_line(said) == kept


def test_every_test_of_the_catalogue_is_one_of_the_worker():
    assert {test for peer in PEERS for test in peer.tests} == set(TESTS)


def test_the_documentation_has_what_was_measured():
    results = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))
    document = DOCUMENT.read_text(encoding="utf-8")
    assert into(document, summary(results)) == document
    assert (RESULTS / "peers.md").read_text(encoding="utf-8") == page(results)


@pytest.mark.slow
def test_a_small_run_and_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "PEERS", (OURS, TTEST, GONE))
    monkeypatch.setattr(measure, "COLUMNS", (1,))
    monkeypatch.setattr("benchmarks.peers.__main__.PEERS", (OURS, TTEST, GONE))
    environments, about = install(["twosample", "SciPy", "gone"], tmp_path)
    assert set(environments) == {"twosample", "SciPy"}
    results = {
        "peers": about,
        "python": "3",
        "seconds": 60,
        "megabytes": 4096,
        "note": "On a quiet machine.",
        "power": measure.power(environments, tmp_path, 4, ("shift 0.5",)),
        "times": measure.times(environments, tmp_path, (30,), 60, 4096),
        "reports": [],
    }
    text = page(json.loads(json.dumps(results)))
    assert "gone (installed, but does not import: ModuleNotFoundError" in " ".join(summary(results))
    assert "not measured: installed, but does not import: ModuleNotFoundError" in text
    rows = {row["test"]: row for row in results["power"]}
    x, y = (np.load(tmp_path / "0-different.npz")[name] for name in "xy")
    shares = [stats.ttest_ind(a[:, 0], b[:, 0]).pvalue <= 0.05 for a, b in zip(x, y, strict=True)]
    assert rows["ttest_ind"]["power"] == np.mean(shares)
    assert rows["test with p-value"]["log_score"] < 0
    ours = {row["columns"]: row for row in results["times"] if row["test"] == "test"}
    assert ours[1]["ratio"] == 1.0
    ttest = next(row for row in results["times"] if row["test"] == "ttest_ind")
    assert ttest["ratio"] == pytest.approx(ttest["seconds"] / ours[1]["seconds"], rel=0.02)
    assert f"| SciPy ttest_ind | {'**' if rows['ttest_ind']['power'] else ''}" in text
