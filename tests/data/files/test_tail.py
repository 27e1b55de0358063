"""Text files that grow: rows come in batches, once each, whatever becomes of the file, with the lines they stand on."""

import os
import shutil
import threading
import time
from itertools import count, islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twosample.data.files import following
from twosample.data.files.dialect import Reading
from twosample.data.files.table import read_table
from twosample.data.files.tail import Tail
from twosample.data.files.whole import WholeFile
from twosample.errors import InputError, ReadingWarning

posix = pytest.mark.skipif(os.name == "nt", reason="an open file cannot be renamed there")


def first(tail, number):
    tables = tail.tables()
    return [next(tables)[0] for _ in range(number)]


def test_rows_come_in_batches_with_their_lines(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("u,v\n1,2\n3,4\n\n5,6\n7,8\n9,1\n")
    one, two = first(Tail(path, Reading(), 2), 2)
    assert one.frame.rows() == [(1, 2), (3, 4)] and two.frame.rows() == [(5, 6), (7, 8)]
    assert one.grid.numbers.tolist() == [2, 3] and two.grid.numbers.tolist() == [5, 6]
    assert one.frame.columns == ["u", "v"]


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


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "b.csv"
    path.write_bytes("u\n1\n".encode("utf-16"))
    with pytest.raises(InputError, match="cannot be followed"):
        next(Tail(path, Reading(), 2).tables())


class Stop(Exception):
    """The last step is done."""


class Script:
    """Steps, one whenever the reader has read all there is and would wait."""

    def __init__(self, monkeypatch):
        self.steps = []
        monkeypatch.setattr(following.time, "sleep", self.next_step)

    def next_step(self, seconds):
        if not self.steps:
            raise Stop
        self.steps.pop(0)()

    def read(self, tail, steps=()):
        """The values of the first column in all batches of the steps, and where the last of these ended."""
        self.steps, values, mark = list(steps), [], None
        with pytest.raises(Stop):
            for table, mark in tail.tables():  # noqa: B007
                values += table.frame.to_series(0).to_list()
        return values, mark


@pytest.fixture
def script(monkeypatch):
    return Script(monkeypatch)


def lines(first, last):
    return "".join(f"{k}.5,{k}\n" for k in range(first, last))


class Writer:
    """Writes rows with the numbers 0, 1, 2, ... to a log, of which nothing else is left alone."""

    def __init__(self, folder, names):
        self.log, self.names = folder / "log", names
        self.written, self.half, self.moved = 0, "", count()
        self.log.write_text(names + self.rows(3))

    def rows(self, number):
        self.written += number
        return lines(self.written - number, self.written)

    def add(self, number, path=None):
        with (path or self.log).open("a") as file:
            file.write(self.half + self.rows(number))
        self.half = ""

    def add_half(self, number):
        text = self.half + self.rows(number + 1)
        self.half = text[-2:]
        with self.log.open("a") as file:
            file.write(text[:-2])

    def rename(self, number, late=False):
        (self.add_half if late else self.add)(number)  # not read before it is moved
        away = self.log.with_name(f"log.{next(self.moved)}")
        self.log.rename(away)
        if late:
            yield
            self.add(1, away)
            yield
            self.log.touch()  # the writer has not yet turned to it
            yield
            self.add(2, away)
        self.log.write_text(self.names + self.rows(number + 1))

    def replace(self, number, same):
        self.add(number)
        before = self.log.read_text() if same else self.names
        beside = self.log.with_name("beside")
        beside.write_text(before + self.rows(number + 1))
        os.replace(beside, self.log)

    def truncate(self, number, copied):
        if self.half:
            self.add(0)
            yield
        if copied:  # as logrotate does: the writer goes on, and names nothing
            shutil.copy(self.log, self.log.with_name(f"log.{next(self.moved)}"))
            os.truncate(self.log, 0)
            if number % 2:
                yield
            self.add(number)
        else:
            self.log.write_text(self.names + self.rows(number))

    def rewrite(self, number):
        before = self.log.read_text() + self.half
        self.half = ""
        with self.log.open("w") as file:
            file.write(before[: len(before) // 2])
            file.flush()
            yield
            file.write(before[len(before) // 2 :] + self.rows(number))

    def steps(self, what, number):
        """What to do, in one or several steps with looks between them."""
        kinds = {
            "add": self.add, "half": self.add_half, "rename": self.rename, "late": lambda n: self.rename(n, late=True),
            "replace": lambda n: self.replace(n, same=False), "copy": lambda n: self.replace(n, same=True),
            "truncate": lambda n: self.truncate(n, copied=False), "rewrite": self.rewrite,
            "copytruncate": lambda n: self.truncate(n, copied=True),
        }  # fmt: skip
        done = kinds[what](number)
        return done or iter(())


KINDS = ["add", "half", "rename", "late", "replace", "copy", "truncate", "copytruncate", "rewrite"]


def check_plan(folder, script, plan, names, batch):
    """Every row is read once, in order, and the last bookmark is one from which nothing is read again."""
    writer = Writer(folder, names)

    def go_on():
        for what, number in [*plan, ("add", batch)]:
            yield from writer.steps(what, number)
            yield

    going = go_on()
    steps = [lambda: next(going, None)] * (5 * len(plan) + 5)
    columns = ["u", "v"] if names else ["0", "1"]
    values, mark = script.read(Tail(writer.log, Reading(), batch, columns), steps)
    assert next(going, "done") == "done"
    read = writer.written - writer.written % batch
    assert values == [k + 0.5 for k in range(read)]
    if not writer.log.read_text().startswith(names):  # they were lost when it was truncated
        return
    more = [lambda: writer.add(2 * batch)]
    again, _ = script.read(Tail(writer.log, Reading(), batch, columns, mark), more)
    assert again == [k + 0.5 for k in range(read, read + 2 * batch)]


PLANS = {
    "plan": st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 40)), max_size=8),
    "names": st.sampled_from(["u,v\n", ""]),
    "batch": st.sampled_from([2, 3, 7]),
}
how = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@posix
@settings(max_examples=25, **how)
@given(**PLANS)
def test_every_row_is_read_once_whatever_becomes_of_the_file(tmp_path_factory, script, plan, names, batch):
    check_plan(tmp_path_factory.mktemp("logs"), script, plan, names, batch)


@posix
@pytest.mark.exhaustive
@pytest.mark.slow
@settings(max_examples=400, **how)
@given(**PLANS)
def test_every_row_is_read_once_in_many_plans(tmp_path_factory, script, plan, names, batch):
    check_plan(tmp_path_factory.mktemp("logs"), script, plan, names, batch)


def test_a_file_that_is_rewritten_shorter_is_waited_for(tmp_path, script):
    path = tmp_path / "b.csv"
    path.write_text("u,v\n" + lines(0, 4))
    steps = [lambda: path.write_text("u,v\n" + lines(0, 2)), lambda: path.write_text("u,v\n" + lines(0, 8))]
    assert script.read(Tail(path, Reading(), 2), steps)[0] == [k + 0.5 for k in range(8)]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("u,v\n" + lines(0, 20) + lines(30, 50), "was changed in the part that was read"),
        ("u,v\n" + lines(0, 20001).replace("\n9000.5", "\n9000.55"), "was changed in the part that was read"),
        ("u,v\n" + lines(0, 19999).replace("\n9000.5", "\n9000.6") + lines(0, 9), "was changed in the part that was"),
        ("u,w\n" + lines(90, 99), "begins with 'u,w', where the names were 'u,v'"),
        ("0.5\n" * 3000, "has 1 cell"),
        ("u\0v\n", "cannot be followed"),
    ],
)
@pytest.mark.parametrize("place", ["same", "other"])
def test_what_cannot_be_the_same_stream_is_refused(tmp_path, script, content, why, place):
    path, beside = tmp_path / "b.csv", tmp_path / "c.csv"
    path.write_text("u,v\n" + lines(0, 20000))
    beside.write_text(content)
    change = path.write_text if place == "same" else lambda content: os.replace(beside, path)
    with pytest.raises(InputError, match=why):
        script.read(Tail(path, Reading(), 2000), [lambda: change(content)])


@posix
@pytest.mark.parametrize("before", ["", "u,v\n" + lines(0, 4)])
def test_rows_that_come_between_two_looks_are_read_before_the_new_file(tmp_path, script, monkeypatch, before):
    path, opened = tmp_path / "b.csv", following.opened
    path.write_text(before)
    more, ready = ("" if before else "u,v\n" + lines(0, 4)) + lines(4, 6), [False]

    def late(place):
        if ready.pop():  # the old file was read to its end
            with path.open("a") as file:
                file.write(more + "6.5,6")
            path.rename(tmp_path / "b.csv.1")
            path.write_text("u,v\n" + lines(7, 10))
        ready.append(False)
        return opened(place)

    tail = Tail(path, Reading(), 2)
    monkeypatch.setattr(following, "opened", late)
    values, _ = script.read(tail, [lambda: ready.append(True), lambda: None])
    assert values == [k + 0.5 for k in range(10)]


def test_a_change_long_ago_is_seen_when_it_goes_on(tmp_path, script):
    path = tmp_path / "b.csv"
    path.write_text("u,v\n" + lines(0, 2000))
    change = "u,v\n" + lines(0, 2002).replace("\n99.5", "\n99.6")
    values, mark = script.read(Tail(path, Reading(), 2, ["u"]), [lambda: path.write_text(change)])
    assert values == [k + 0.5 for k in range(2002)] and not Tail(path, Reading(), 2, ["u"], mark).found


def test_from_a_file_whose_names_were_truncated_away_it_cannot_go_on(tmp_path, script):
    path = tmp_path / "b.csv"
    path.write_text("u,v\n" + lines(0, 2))
    values, mark = script.read(Tail(path, Reading(), 2, ["u"]), [lambda: path.write_text(lines(2, 6))])
    assert values == [k + 0.5 for k in range(6)] and mark.rows == 4
    assert not Tail(path, Reading(), 2, ["u"], mark).found


def test_names_where_there_were_none_are_refused(tmp_path, script):
    path = tmp_path / "b.csv"
    path.write_text(lines(0, 20))
    with pytest.raises(InputError, match="begins with 'u,v', where there were no names"):
        script.read(Tail(path, Reading(), 2), [lambda: path.write_text("u,v\n" + lines(20, 22))])


def test_truncated_in_the_middle_of_a_line_it_is_refused(tmp_path, script):
    path = tmp_path / "b.csv"
    path.write_text("u,v\n" + lines(0, 4) + "4.")
    with pytest.raises(InputError, match="truncated in the middle of line 6"):
        script.read(Tail(path, Reading(), 2), [lambda: path.write_text("5,4\n" + lines(5, 9))])


def test_rows_of_text_alone_and_marks_of_byte_order_are_no_names(tmp_path, script):
    path = tmp_path / "b.csv"
    path.write_bytes(b"u,v\na,b\nc,d\ne,f\n")
    steps = [lambda: path.write_bytes(b"\xef\xbb\xbfu,v\ng,h\n"), lambda: path.write_text("i,j\nk,l\nm,n\n")]
    assert script.read(Tail(path, Reading(), 2), steps)[0] == ["a", "c", "e", "g", "i", "k"]


TABLE = "u,v,w,t\n1,a,2024-01-01,true\n2,b,2024-01-02,True\n,3,2024-01-03,false\n4.5,NA,no,true\n5,b,2024-01-05,maybe\n"


@pytest.mark.parametrize("kind", [Tail, WholeFile])
def test_a_bookmark_knows_the_rows_however_they_are_cut_and_written(tmp_path, kind):
    path, columns = tmp_path / "b.csv", ["u", "v", "w", "t"]
    path.write_text(TABLE)
    pieces = [next(cut(path, Reading(), 4, columns).tables())[1] for cut in (Tail, WholeFile)]
    steps = list(islice(Tail(path, Reading(), 2, columns).tables(), 2))
    assert pieces[0] == pieces[1] == steps[-1][1] and pieces[0].rows == 4
    mark = pieces[0]
    grown = TABLE + "6,c,2024-01-06,false\n7,c,2024-01-07,false\n"
    lines_of = TABLE.splitlines(keepends=True)
    cases = {
        "the same": (TABLE, True), "grown": (grown, True), "other line ends": (grown.replace("\n", "\r\n"), True),
        "other digits": (grown.replace("4.5", "4.50"), True), "edited later": (grown.replace("5,b,", "5,x,"), True),
        "a number edited": (grown.replace("4.5", "4.6"), False), "text edited": (grown.replace("1,a", "1,b"), False),
        "a date edited": (grown.replace("01-03", "01-04"), False), "filled in": (grown.replace("\n,3", "\n9,3"), False),
        "shorter": ("".join(lines_of[:4]), False), "other names": (grown.replace("u,v", "u,x"), False),
        "other order": ("".join([lines_of[0], lines_of[2], lines_of[1], *lines_of[3:]]), False),
        "other text": ("one\ntwo\n", False),
    }  # fmt: skip
    for name, (content, same) in cases.items():
        other = tmp_path / "copy.csv"
        other.write_text(content, newline="")
        assert kind(other, Reading(), 1, columns, mark).found == same, name
    other.write_text(grown)
    table, after = next(kind(other, Reading(), 2, columns, mark).tables())
    assert table.frame["u"].to_list() == [5, 6] and after.rows == 6


def test_values_of_a_table_with_types_are_those_of_text(tmp_path):
    (tmp_path / "b.csv").write_text("u,v\n1,a\n-0.0,B\n2.5,\n")
    read_table(tmp_path / "b.csv").frame.write_parquet(tmp_path / "b.parquet")
    marks = [
        next(WholeFile(tmp_path / f"b.{kind}", Reading(), 3, ["u", "v"]).tables())[1] for kind in ("csv", "parquet")
    ]
    assert marks[0].digest == marks[1].digest


@posix
def test_the_rest_of_a_file_that_was_moved_is_read_first(tmp_path, script):
    path = tmp_path / "log"
    path.write_text("u,v\n" + lines(0, 5))
    values, mark = script.read(Tail(path, Reading(), 2, ["u", "v"]))
    path.rename(tmp_path / "log.1")
    path.write_text("u,v\n" + lines(5, 8))
    with pytest.warns(ReadingWarning, match="is another file than before; the rest of '.*log.1' is read first"):
        tail = Tail(path, Reading(), 2, ["u", "v"], mark)
    more, mark = script.read(tail)
    assert tail.found and values + more == [k + 0.5 for k in range(8)] and mark.rows == 3
    (tmp_path / "log.1").write_text("u,v\n9.5,9\n")
    path.unlink()
    path.write_text("u,v\n" + lines(9, 11))
    tail = Tail(path, Reading(), 2, ["u", "v"], mark)
    assert not tail.found and script.read(tail)[0] == [9.5, 10.5]
