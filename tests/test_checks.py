"""Assertions: when they fail, and what they say."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import twosample as ts
from twosample.checks import assert_same_distribution
from twosample.errors import InputError


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(100, 2)), rng.normal(size=(100, 2)), rng.normal([0.0, 0.9], 1.0, size=(100, 2))


def test_it_fails_just_where_the_probability_is_larger(samples):
    x, same, other = samples
    for y in (same, other):
        expected = ts.test(x, y)
        assert (
            assert_same_distribution(x, y, prob=min(expected.prob_h1 + 1e-9, 1 - 1e-12)).log_bf10 == expected.log_bf10
        )
        with pytest.raises(AssertionError):
            assert_same_distribution(x, y, prob=expected.prob_h1 - 1e-9)


def test_the_message_is_the_reason_and_the_summary(samples):
    x, _, other = samples
    with pytest.raises(AssertionError) as error:
        assert_same_distribution(x, other)
    reason, *summary = str(error.value).splitlines()
    assert reason.startswith("prob_h1 > 0.95 holds: prob_h1 ")
    assert "\n".join(summary) == ts.test(x, other).summary()
    assert any("P(column differs)    1: > 0.99" in line for line in summary)


def test_a_rule_and_options(samples):
    x, _, other = samples
    assert_same_distribution(x, other, fail_if="prob_h1 > 0.95 and auc > 0.95")
    with pytest.raises(AssertionError, match=r"pvalue < 0\.05 holds: pvalue = 0\.0"):
        assert_same_distribution(x, other, fail_if="pvalue < 0.05", permutations=99)
    with pytest.raises(InputError, match="not computed without permutations"):
        assert_same_distribution(x, other, fail_if="pvalue < 0.05")
    assert_same_distribution(x, other, columns=["0"])
    with pytest.raises(InputError, match="fail_if: takes the place of prob"):
        assert_same_distribution(x, other, 0.5, fail_if="auc > 0.6")


@pytest.mark.parametrize("prob", [0, 1, 1.5, float("nan"), "0.5", None])
def test_no_probability(samples, prob):
    with pytest.raises(InputError, match=r"^prob: "):
        assert_same_distribution(*samples[:2], prob)


def test_a_reference(samples):
    x, same, other = samples
    kept = ts.Reference.of(x)
    assert assert_same_distribution(kept, same).log_bf10 == kept.test(same).log_bf10
    with pytest.raises(AssertionError):
        assert_same_distribution(kept, other)


def test_one_table_that_is_split(samples):
    x, same, _ = samples
    assert_same_distribution(np.concatenate([x, same]), by=["a"] * 100 + ["b"] * 100)


def test_it_needs_no_pytest_and_is_imported_late():
    code = """
        import sys, twosample as ts
        assert "twosample.checks" not in sys.modules and "twosample.questions.reference" not in sys.modules
        ts.checks.assert_same_distribution([1.0, 2.0, 4.0, 3.0], [1.5, 2.5, 3.5, 4.5])
        assert "pytest" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_pytest_shows_the_line_of_the_caller(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import numpy as np\nfrom twosample.checks import assert_same_distribution\n"
        "def test_it():\n    rng = np.random.default_rng(0)\n"
        "    assert_same_distribution(rng.normal(size=90), rng.normal(2, 1, size=90))\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 1
    assert "P(different | data)" in done.stdout and "test_it.py:5: AssertionError" in done.stdout
