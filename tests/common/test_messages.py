"""Numbers and words of messages: one of a thing, limits that round to nothing, samples without rows."""

from dataclasses import replace

import numpy as np
import pytest
from tests import messages

import twosample as ts
from twosample.common.words import auc_limit_text, count_in_words
from twosample.data.complete import dropped_in_words


def test_the_list_of_messages_has_errors_warnings_and_words():
    texts = [text for _, text in messages.every()]
    assert len(texts) > 1_000
    assert "{name} is a sparse matrix, which has no categories" in texts
    assert "Dropped {what} with a missing or infinite value." in texts
    assert not any("The one validator" in text for text in texts)  # docstrings


def test_a_limit_is_rounded_up_and_is_never_that_of_no_difference():
    for auc in np.linspace(0.5, 1.0, 501):
        shown = float(auc_limit_text(auc))
        assert shown >= auc - 1e-9 and shown >= 0.51 and (shown - auc <= 0.01 + 1e-9)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 1))
    result = ts.test(x, rng.permutation(x) + 1e-9)
    assert "AUC 0.50" not in result.verdict and "no difference larger than AUC 0.5" in result.verdict


def test_one_of_a_thing_is_in_the_singular():
    assert [count_in_words(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    x, y = np.random.default_rng(1).normal(size=(2, 30))
    assert ", 1 evaluation point\n" in f"{ts.test(x, y, points=1).summary()}\n"


@pytest.mark.parametrize(
    ("rows", "dropped", "paired", "expected"),
    [
        ([5, 1], [1, 1], False, "Dropped 1 of 5 rows of x and 1 of 1 row of y with a missing or infinite value."),
        ([5, 0], [1, 0], False, "Dropped 1 of 5 rows of x with a missing or infinite value."),
        ([5, 7], [1, 0], False, "Dropped 1 of 5 rows of x and 0 of 7 rows of y with a missing or infinite value."),
        ([1, 1], [1, 1], True, "Dropped 1 of 1 pair with a missing or infinite value."),
    ],
)
def test_samples_without_rows_have_dropped_none(rows, dropped, paired, expected):
    assert dropped_in_words(rows, dropped, paired) == expected


def test_a_spread_is_not_one_times_another():
    x = np.linspace(-1.0, 1.0, 201)
    found = ts.test(x, 2.001 * x + 1e-4).by_subset
    words = [replace(found, spread=np.array([spread])).words(0) for spread in (1.03, 1.0004, 1 / 1.03, 2.0)]
    assert words == [f"more spread in y{ratio}" for ratio in (", 1.03 times", "", ", 1.03 times", ", 2 times")]


def test_a_run_length_beyond_its_limit_says_so():
    rng = np.random.default_rng(3)
    monitor = ts.Monitor(alpha=0.05)
    for _ in range(12):
        state = monitor.update(rng.normal(size=60), rng.normal(3.0, 1.0, size=60))
    [line] = [line for line in str(state.summary()).splitlines() if "run length" in line]
    assert "at least 20, the limit, first reached 1/alpha at batch" in line
