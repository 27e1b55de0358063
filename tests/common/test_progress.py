"""Progress: a bar only on a terminal and only if the work lasts, with share and time left, and gone at the end."""

import time
from types import SimpleNamespace

import pytest

from twosample.common import progress
from twosample.common.progress import WorkCounter, announce, duration, progress_bar

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


def test_where_no_share_is_known_there_is_no_time_left(terminal, clock):
    with progress_bar(True) as report:
        clock.now += 30.0
        report(0.0, "first pass: 65,536 rows")
        assert terminal.lines() == ["twosample [------------------------------]   0%  first pass: 65,536 rows"]


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


@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_is_shown_where_it_is_not_wanted(is_terminal, monkeypatch):
    terminal = Terminal(is_terminal)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    with progress_bar(False) as report:
        assert report is None
    assert terminal.text == ""


def test_no_stderr_at_all(monkeypatch):
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=None))
    with progress_bar(True) as report:
        assert report is None


# ---- lines where there is no terminal


@pytest.fixture
def log(monkeypatch):
    log = Terminal(is_terminal=False)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=log))
    return log


def wait_for(condition):
    ends = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.002)


def test_a_line_tells_share_and_time_left(log, clock):
    with progress_bar(True) as report:
        assert report.line() == "0 % done"
        clock.now += 129.0
        report(0.35)
        # The other 65 % take 129 × 65 / 35 seconds.
        assert report.line() == "35 % done, about 4 min left"
        report(0.35, "burn-in")
        assert report.line() == "35 % done, about 4 min left, burn-in"
        report(1.0)
        assert report.line() == "100 % done, about 10 s left"
    assert log.text == ""


def test_a_line_every_half_minute_also_where_nothing_is_reported(log, clock, monkeypatch):
    assert progress._LINE_EVERY_SECONDS == 30.0
    monkeypatch.setattr(progress, "_LINE_EVERY_SECONDS", 0.02)
    with progress_bar(True) as report:
        wait_for(lambda: log.text.count("\n") == 2)
        clock.now += 60.0
        report(0.5)
        wait_for(lambda: log.text.count("\n") >= 6)
    lines = log.text.splitlines()
    assert lines[:2] == ["twosample: 0 % done"] * 2
    assert lines[-1] == "twosample: 50 % done, about 60 s left"
    after = log.text
    time.sleep(0.1)
    assert log.text == after


def test_nothing_is_said_of_work_shorter_than_half_a_minute(log):
    with progress_bar(True) as report:
        report(0.5)
    assert log.text == ""


def test_lines_end_with_an_error_too_and_need_no_reader(log, monkeypatch):
    def broken(text):
        log.tried = True
        raise BrokenPipeError

    monkeypatch.setattr(progress, "_LINE_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(log, "write", broken)
    with pytest.raises(KeyboardInterrupt), progress_bar(True) as report:
        wait_for(lambda: hasattr(log, "tried"))
        raise KeyboardInterrupt
    assert not report._thread.is_alive()


def test_announcements(terminal, clock):
    with progress_bar(True) as report:
        clock.now += 30.0
        report(0.25)
        announce(report, "about 6 min for at most 2,000 steps")
        assert terminal.text.endswith(CLEAR + "twosample: about 6 min for at most 2,000 steps\n")
    announce(None, "nobody listens")
    announce(lambda share, words="": None, "nor here")


def test_announcements_in_a_log(log):
    with progress_bar(True) as report:
        announce(report, "about 6 min")
    assert log.text == "twosample: about 6 min\n"


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


def test_durations_are_as_rough_as_an_estimate_is():
    assert [duration(seconds) for seconds in (3.0, 42.0, 250.0, 9000.0)] == ["10 s", "40 s", "4 min", "2.5 h"]


def test_the_clock_has_hours_where_there_are_any():
    assert [progress._clock(seconds) for seconds in (75.2, 3700)] == ["1:15", "1:01:40"]
