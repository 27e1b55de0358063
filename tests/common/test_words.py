"""Numbers and sizes in words: enough digits, no more, at the edges too."""

import pytest

from twosample.common.words import data_in_words, log_bf10_text, printable, probability_in_words, pvalue_text, sentence


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "< 0.0001"),
        (0.000099, "< 0.0001"),
        (0.0001, "0.0001"),
        (0.5, "0.5000"),
        (0.98765, "0.9877"),
        (0.9999, "0.9999"),
        (0.99991, "> 0.9999"),
        (1.0, "> 0.9999"),
    ],
)
def test_probabilities_are_told_from_0_and_1(value, words):
    assert probability_in_words(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(1e-12, "< 0.0001"), (0.0001, "0.0001"), (0.012345, "0.0123"), (0.09999, "0.1"), (0.1, "0.100"), (1.0, "1.000")],
)
def test_pvalues(value, words):
    assert pvalue_text(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "+0.00"), (-0.0, "+0.00"), (-0.004, "+0.00"), (-0.006, "-0.01"), (4.437, "+4.44"), (-1234.5, "-1234.50")],
)
def test_log_bayes_factors_have_a_sign_unless_they_are_zero(value, words):
    assert log_bf10_text(value) == words


def test_sizes():
    assert data_in_words(20, 30, 1, paired=False) == "20 and 30 rows, 1 column"
    assert data_in_words(2, 2, 3, paired=True) == "2 pairs, 3 columns"


def test_sentences():
    assert sentence("strong evidence that x differs from Y") == "Strong evidence that x differs from Y"
    assert sentence("a") == "A"


def test_printable_keeps_what_can_be_printed():
    assert printable("naïve Ω 中文 $x$") == "naïve Ω 中文 $x$"
    assert printable("a\tb\x9b\u202e\udcff") == "a\\tb\\x9b\\u202e\\udcff"
