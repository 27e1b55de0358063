"""The answers are those that were recorded before the structure of the package changed."""

import pytest
from tests.reference import answers


def test_there_are_many_of_all_kinds():
    assert len(answers.CASES) >= 200 and list(answers.recorded()) == list(answers.CASES)


@pytest.mark.parametrize("name", answers.CASES)
def test_the_answer_is_the_same(name):
    tolerance = answers.ROUNDED_TOLERANCE if name in answers.DECIDED_BY_ROUNDING else answers.TOLERANCE
    assert answers.differences(answers.answer(name), answers.recorded()[name], tolerance=tolerance) == []


def test_a_difference_is_seen():
    before = answers.recorded()["lists"]
    assert answers.differences(before | {"log_bf10": before["log_bf10"] + 1e-8}, before) == [
        f".log_bf10 is {before['log_bf10'] + 1e-8}, not {before['log_bf10']}"
    ]
