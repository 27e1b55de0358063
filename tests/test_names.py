"""What a user sees: the names of the package and of a result, and what pytest collects where they are imported."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import twosample as ts

SEEN = {
    "log_bf10", "bf10", "prob_h1", "prob_h0", "verdict", "by_column", "witness", "effect", "plot", "report", "text",
    "to_json", "from_json", "summary", "robustness", "sequential", "mixture", "pvalue", "columns", "names",
    "lengthscale", "diagnostics",
}  # fmt: skip


def test_dir_shows_the_public_names_alone():
    importlib.import_module("twosample.places.streaming")
    assert dir(ts) == sorted(ts.__all__)
    assert {"kernels", "domains", "baselines", "simulate", "datasets", "checks", "plots"} <= set(dir(ts))
    assert not {"streaming", "places", "api", "np"} & set(dir(ts))
    assert all(hasattr(ts, name) for name in dir(ts))


@pytest.mark.parametrize("make", [
    lambda x, y: ts.test(x, y),
    lambda x, y: ts.goodness(x, "norm(0, 1)"),
    lambda x, y: ts.test_gram(np.exp(-np.abs(x[:, None] - y[:5])), np.exp(-np.abs(y[:, None] - y[:5])),
                              np.exp(-np.abs(y[:5, None] - y[:5]))),
    lambda x, y: ts.ksample([x, y, x + 1]),
    lambda x, y: ts.ksample([x, y, x + 1], reference=0),
    lambda x, y: ts.independence(x, y),
    lambda x, y: ts.plan(x, y),
    lambda x, y: ts.design(x, y, sizes=20, draws=10),
], ids=["test", "goodness", "gram", "ksample", "reference", "independence", "plan", "design"])  # fmt: skip
def test_dir_of_a_result_shows_what_users_need(make):
    rng = np.random.default_rng(1)
    result = make(rng.normal(size=30), rng.normal(size=30))
    shown = set(dir(result))
    assert not any(name.startswith("_") for name in shown)
    assert not {"remember", "remember_objects", "changed", "of_files", "shown", "witness_picture"} & shown
    assert "to_json" in shown and "summary" in shown
    if type(result) is ts.TwoSampleResult:
        assert shown >= SEEN
    for name in shown:
        assert hasattr(type(result), name) or name in result.__dict__


def test_pytest_collects_no_function_of_the_package(tmp_path):
    for function in (ts.test, ts.test_each, ts.test_gram):
        assert function.__test__ is False
    path = tmp_path / "test_mine.py"
    path.write_text(
        "from twosample import test, test_each, test_gram\n\n\n"
        "def test_own():\n    assert test([1.0, 2.0, 3.0], [2.0, 4.0, 5.0]).n_x == 3\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
