"""Numbers and sizes in words: enough digits, no more, at the edges too."""

import pytest

from twosample.common.words import (
    aligned,
    columns_in_words,
    data_in_words,
    log_bf10_text,
    odds_in_words,
    printable,
    probability_in_words,
    pvalue_text,
    sentence,
    share_in_words,
    short,
    with_names,
)


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


@pytest.mark.parametrize(
    ("function", "value", "words"),
    [
        (odds_in_words, 1.0, "1 : 1"),
        (odds_in_words, 0.25, "1 : 4"),
        (odds_in_words, 10.0, "10 : 1"),
        (columns_in_words, 1, "1 column"),
        (columns_in_words, 3, "3 columns"),
        (share_in_words, 0.4, "40 %"),
        (share_in_words, 0.0025, "0.25 %"),
        (share_in_words, 0.0, "0 %"),
    ],
)
def test_odds_counts_and_shares(function, value, words):
    assert function(value) == words


def test_long_names_lose_their_middle():
    assert short("before the operation", 15) == "before ...ation"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("larger in y, small (AUC 0.61)", "larger in after, small (AUC 0.61)"),
        ("more spread in x", "more spread in before"),
        ("more 'blue' in y: 20 % → 35 %", "more 'blue' in after: 20 % → 35 %"),
        ("no clear direction", "no clear direction"),
    ],
)
def test_names_of_the_samples_take_the_place_of_x_and_y(words, expected):
    assert with_names(words, ("before", "after")) == expected


def test_tables_are_aligned():
    assert aligned([("group", "n"), ("a", "120")], "<>") == ["  group    n", "  a      120"]
