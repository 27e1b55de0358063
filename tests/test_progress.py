"""Progress: a bar only on a terminal and only if the work lasts, with share and time left, and gone at the end."""

from types import SimpleNamespace

import pytest

from twosample import progress
from twosample.progress import WorkCounter, progress_bar

CLEAR = "\r\x1b[2K"


class Terminal:
    """A stderr that keeps what is written."""

    def __init__(self, is_terminal=True):
        self.text, self._is_terminal = "", is_terminal

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return self._is_terminal

    def lines(self):
        return self.text.split(CLEAR)[1:]


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    return terminal


@pytest.fixture
def clock(monkeypatch):
    """A clock that only moves when told to."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_nothing_is_shown_of_short_work(terminal, clock):
    with progress_bar(True) as report:
        for share in (0.1, 0.5, 1.0):
            report(share)
            clock.now += 0.4
    assert terminal.text == ""


def test_the_bar_appears_after_a_while_with_share_and_time_left(terminal, clock):
    with progress_bar(True) as report:
        report(0.1)
        assert terminal.text == ""
        clock.now += 30.0
        report(0.25, "burn-in")
        # A quarter in half a minute: three more of them.
        assert terminal.lines() == ["twosample [#######-----------------------]  25%  1:30 left  burn-in"]
        clock.now += 30.0
        report(0.5)
        assert terminal.lines()[-1] == "twosample [###############---------------]  50%  1:00 left"
    assert terminal.text.endswith(CLEAR)


def test_the_bar_is_not_drawn_more_often_than_anyone_can_see(terminal, clock):
    with progress_bar(True) as report:
        clock.now += 10.0
        for step in range(100):
            clock.now += 0.001
            report(step / 100)
        assert len(terminal.lines()) == 1


def test_the_bar_is_cleared_after_an_error_too(terminal, clock):
    with pytest.raises(KeyboardInterrupt), progress_bar(True) as report:
        clock.now += 10.0
        report(0.5)
        raise KeyboardInterrupt
    assert terminal.text.endswith(CLEAR)


def test_odd_shares_and_narrow_terminals(terminal, clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    with progress_bar(True) as report:
        for share in (0.0, 1.5, -0.5):
            clock.now += 10.0
            report(share, "words that do not fit in")
    assert all(len(line) < 40 for line in terminal.lines())


@pytest.mark.parametrize(("wanted", "is_terminal"), [(True, False), (False, True), (False, False)])
def test_nothing_is_shown_elsewhere(wanted, is_terminal, monkeypatch):
    terminal = Terminal(is_terminal)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    with progress_bar(wanted) as report:
        assert report is None
    assert terminal.text == ""


def test_a_function_is_told_the_share_only(terminal):
    shares = []
    with progress_bar(shares.append) as report:
        report(0.25)
        report(0.5, "words")
    assert shares == [0.25, 0.5]
    assert terminal.text == ""


def test_work_is_counted():
    shares = []
    work = WorkCounter(lambda share, words="": shares.append(share), 8)
    work(2)
    work.expect(8)
    work(2)
    work(20)
    assert shares == [0.25, 0.25, 1.0]
    WorkCounter(None, 0)(5)


def test_the_share_never_falls_and_ends_at_one():
    shares = []
    work = WorkCounter(lambda share, words="": shares.append(share), 0)
    work.expect(4)
    work(3)
    work.expect(96)  # more came up
    work(7)
    work.finish()
    assert shares == [0.75, 0.75, 1.0]
    WorkCounter(None, 4).finish()


def test_expected_work_is_all_of_it():
    shares = []
    work = WorkCounter(lambda share, words="": shares.append(share), 0)
    work.expect(2)
    work(1)
    work(1)
    assert shares == [0.5, 1.0]
