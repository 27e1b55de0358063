"""Every cell of the table of questions, data, places, options and outputs has the outcome that its page shows."""

import json

import pytest
from tests.contract import table

RECORDED = json.loads(table.FILE.read_text("utf-8"))


@pytest.mark.parametrize("cell", list(table.cells()), ids="/".join)
def test_the_cell_has_the_outcome_of_the_page(cell):
    assert table.outcome(*cell) == RECORDED["/".join(cell)]


def test_no_cell_misses_the_planted_difference():
    assert "not seen" not in RECORDED.values() and len(RECORDED) == len(list(table.cells()))


def test_the_page_is_written_from_the_record():
    assert table.PAGE.read_text("utf-8") == table.page(RECORDED)
