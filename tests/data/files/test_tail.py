"""Text files that grow: rows come in batches, once each, with the lines that they stand on."""

import threading
import time

import pytest

from twosample.data.files.dialect import Reading
from twosample.data.files.tail import Tail
from twosample.errors import InputError


def first(tail, count):
    tables = tail.tables()
    return [next(tables) for _ in range(count)]


def test_rows_come_in_batches_with_their_lines(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("u,v\n1,2\n3,4\n\n5,6\n7,8\n9,1\n")
    one, two = first(Tail(path, Reading(), 2), 2)
    assert one.frame.rows() == [(1, 2), (3, 4)] and two.frame.rows() == [(5, 6), (7, 8)]
    assert one.grid.numbers.tolist() == [2, 3] and two.grid.numbers.tolist() == [5, 6]
    assert one.frame.columns == ["u", "v"]


@pytest.mark.parametrize("skip", [0, 1, 2, 3, 5])
def test_rows_that_were_seen_are_skipped(tmp_path, skip):
    path = tmp_path / "b.csv"
    path.write_text("u\n" + "".join(f"{k}.5\n" for k in range(9)))
    [table] = first(Tail(path, Reading(), 3, skip), 1)
    assert table.frame["u"].to_list() == [skip + 0.5, skip + 1.5, skip + 2.5]


def test_a_file_without_names(tmp_path):
    path = tmp_path / "b.txt"
    path.write_text("0.5 2.5\n1.5 7.5\n9.5 3.5\n2.5 0.5\n")
    one, two = first(Tail(path, Reading(), 2), 2)
    assert one.frame.rows() == [(0.5, 2.5), (1.5, 7.5)] and two.frame.rows() == [(9.5, 3.5), (2.5, 0.5)]


def test_comments_are_no_rows(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("u\n1.5\n# a pause\n2.5\n4.5\n5.5\n")
    [table] = first(Tail(path, Reading(comment="#"), 2), 1)
    assert table.frame["u"].to_list() == [1.5, 2.5] and table.grid.numbers.tolist() == [2, 4]


def test_it_waits_for_lines_and_takes_them_whole(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("u\n1.5\n2.")

    def write():
        time.sleep(0.3)
        with path.open("a") as file:
            file.write("25\n3.5\n")
            file.flush()
            time.sleep(0.3)
            file.write("4.5\n")

    writer = threading.Thread(target=write)
    writer.start()
    one, two = first(Tail(path, Reading(), 2), 2)
    writer.join()
    assert one.frame["u"].to_list() == [1.5, 2.25] and two.frame["u"].to_list() == [3.5, 4.5]


def test_a_bad_cell_is_named_by_its_line(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("u\n1.5\n2.5\n3.5\n4.5\n5.5\noops\n7.5\n8.5\n")
    tables = first(Tail(path, Reading(), 4), 2)
    with pytest.raises(InputError, match="line 7, column 'u': 'oops' is not a number"):
        tables[1].check(["u"], "raise")


def test_a_file_that_is_cut_and_one_that_is_no_text_are_refused(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("u\n1.5\n2.5\n3.5\n")
    tables = Tail(path, Reading(), 2).tables()
    next(tables)
    path.write_text("u\n")
    with pytest.raises(InputError, match="shorter than it was"):
        next(tables)
    path.write_bytes("u\n1\n".encode("utf-16"))
    with pytest.raises(InputError, match="cannot be followed"):
        next(Tail(path, Reading(), 2).tables())
