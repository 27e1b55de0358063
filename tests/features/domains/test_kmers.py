from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twosample.errors import InputError, InputTypeError
from twosample.features.domains import KMer


def runs(string, length):
    """All runs of that length, counted one by one; a shorter string is one run."""
    if len(string) < length:
        return Counter([("short", tuple(string))])
    return Counter(tuple(string[start : start + length]) for start in range(len(string) - length + 1))


def cosine(one, other):
    product_of = sum(count * other[run] for run, count in one.items())
    return product_of / np.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))


def brute_force(some, others, length):
    return [[cosine(runs(a, length), runs(b, length)) for b in others] for a in some]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("abç😀", max_size=9), min_size=1, max_size=5),
    st.lists(st.text("abç😀", max_size=9), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_it_is_the_cosine_of_counted_runs(some, others, length):
    np.testing.assert_allclose(KMer()(some, others, length), brute_force(some, others, length), atol=1e-12)


def test_counts_are_those_of_all_runs_and_of_no_run_across_two_strings():
    strings = ["abab", "ba", "", "bbb"]
    [counts] = KMer().counts(strings, [2])
    assert counts.sum(axis=1).tolist() == [3, 1, 1, 2]
    assert counts.shape[1] == len(set.union(*(set(runs(one, 2)) for one in strings)))


def test_long_runs_of_many_letters_do_not_overflow():
    rng = np.random.default_rng(0)
    letters = [chr(0x4E00 + code) for code in range(3000)]
    strings = ["".join(rng.choice(letters, 70)) for _ in range(4)]
    strings.append(strings[0][1:] + "x")
    np.testing.assert_allclose(KMer()(strings, strings, 60), brute_force(strings, strings, 60), atol=1e-12)


def test_words_and_lists_of_words():
    lines = ["disk is  full", "disk is on", "on"]
    split = [line.split() for line in lines]
    for length in (1, 2, 3):
        expected = brute_force(split, split, length)
        np.testing.assert_allclose(KMer(unit="words")(lines, lines, length), expected, atol=1e-12)
        np.testing.assert_allclose(KMer()(split, split, length), expected, atol=1e-12)
    numbers = [[1, 2, 1], [1, 2]]
    np.testing.assert_allclose(KMer()(numbers, numbers, 2), brute_force(numbers, numbers, 2), atol=1e-12)


def test_a_word_and_a_number_that_look_alike_are_two():
    assert KMer()([["1"]], [[1]], 1)[0, 0] == 0.0


def test_case():
    assert KMer()(["AC"], ["ac"], 1)[0, 0] == 0.0
    assert KMer(ignore_case=True)(["AC"], ["ac"], 1)[0, 0] == pytest.approx(1.0)


def test_it_is_positive_semidefinite():
    strings = ["".join(one) for one in product("ab", repeat=5)]
    for length in (1, 2, 3, 4):
        assert np.linalg.eigvalsh(KMer()(strings, strings, length))[0] > -1e-10


def test_refusals():
    with pytest.raises(InputError, match="unit: 'syllables' is unknown; use unit='letters'"):
        KMer(unit="syllables")
    with pytest.raises(InputTypeError, match="some: expected strings, or lists of words, but object 1 is None"):
        KMer()(["a", None], ["a"], 1)
    with pytest.raises(InputTypeError, match="object 0 is of type float"):
        KMer()([1.5], ["a"], 1)
    with pytest.raises(InputError, match="parameters: must be at least 1, not 0"):
        KMer()(["a"], ["a"], 0)
