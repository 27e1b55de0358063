"""Progress of long work: the caller's function; a bar on the terminal once the work has lasted; lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from twosample.errors import InputTypeError

__all__ = ["Progress", "Report", "WorkCounter", "announce", "duration", "progress_bar"]

Progress = bool | Callable[[float], object]

_BAR_AFTER_SECONDS = 1.5
_REDRAWN_AFTER_SECONDS = 0.1
_LINE_EVERY_SECONDS = 30.0
_WIDTH = 30
_LABEL = "twosample"


class Report(Protocol):
    """Is called with the share of work done, and words to show beside it."""

    def __call__(self, share: float, words: str = "", /) -> object:
        """Show them."""


class WorkCounter:
    """Counts the work done (rows × lengthscales) and reports its share of what is expected."""

    def __init__(self, report: Report | None, expected: int) -> None:
        self._report, self._done, self._expected, self._share = report, 0, expected, 0.0

    def expect(self, more: int) -> None:
        """Expect that much more work than before."""
        self._expected += more

    def __call__(self, work: int) -> None:
        """Count that much more as done."""
        self._done += work
        self._show(self._done / max(self._expected, 1))

    def finish(self) -> None:
        """Report that all is done, however much work it was."""
        self._show(1.0)

    def _show(self, share: float) -> None:
        """Report the share; it never falls, also where more work came up than was expected."""
        self._share = min(1.0, max(self._share, share))
        if self._report is not None:
            self._report(self._share)


@contextmanager
def progress_bar(progress: Progress) -> Iterator[Report | None]:
    """What to report the share of work done to: the caller's function, a bar or lines on stderr, or nothing.

    On a terminal it is a bar that appears once the work has lasted a while. Elsewhere, as in a pipe or a log, a line
    every half minute tells how far the work is. Both also show the words that they are given.
    """
    if callable(progress):
        yield lambda share, words="": progress(share)
        return
    if not isinstance(progress, bool | np.bool_):
        raise InputTypeError(
            f"progress: expected True, False or a function, got {type(progress).__name__}", argument="progress"
        )
    if not progress or sys.stderr is None:
        yield None
        return
    shown = _Bar() if sys.stderr.isatty() else _Lines()
    try:
        yield shown
    finally:
        shown.clear()


def announce(report: Report | None, words: str) -> None:
    """Say something once, on a line of its own, where there is a bar or there are lines."""
    if isinstance(report, _Bar | _Lines):
        report.say(words)


class _Lines:
    """A line on stderr every half minute, whether or not anything was reported in it."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._share, self._words = 0.0, ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write_now_and_then, daemon=True)
        self._thread.start()

    def __call__(self, share: float, words: str = "") -> None:
        self._share, self._words = min(max(share, 0.0), 1.0), words

    def say(self, words: str) -> None:
        """Write a line; where nobody reads it that does not matter."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{_LABEL}: {words}\n")
            sys.stderr.flush()

    def line(self) -> str:
        """How far the work is."""
        share, words = self._share, self._words
        left = (time.monotonic() - self._started) * (1.0 - share) / share if share > 0 else 0.0
        parts = (f"{math.floor(100 * share)} % done", f"about {duration(left)} left" if share > 0 else "", words)
        return ", ".join(part for part in parts if part)

    def _write_now_and_then(self) -> None:
        while not self._ended.wait(_LINE_EVERY_SECONDS):
            self.say(self.line())

    def clear(self) -> None:
        """End with the last line that was written."""
        self._ended.set()
        self._thread.join()


class _Bar:
    """One line on stderr that is drawn anew, and gone at the end."""

    def __init__(self) -> None:
        self._started, self._drawn = time.monotonic(), -math.inf
        self._shown = False

    def __call__(self, share: float, words: str = "") -> None:
        now = time.monotonic()
        if now - self._started < _BAR_AFTER_SECONDS or now - self._drawn < _REDRAWN_AFTER_SECONDS:
            return
        self._drawn, self._shown = now, True
        share = min(max(share, 0.0), 1.0)
        filled = int(_WIDTH * share)
        left = f"{_clock((now - self._started) * (1.0 - share) / share)} left" if share > 0 else ""
        parts = (f"{_LABEL} [{'#' * filled}{'-' * (_WIDTH - filled)}] {share:4.0%}", left, words)
        line = "  ".join(part for part in parts if part)
        import shutil

        sys.stderr.write(f"\r\x1b[2K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()

    def say(self, words: str) -> None:
        """Write a line that stays above the bar."""
        self.clear()
        sys.stderr.write(f"{_LABEL}: {words}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar away, so that the answer stands alone."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """A duration in words, as rough as an estimate is."""
    if seconds < 90.0:
        return f"{max(round(seconds, -1), 10):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def _clock(seconds: float) -> str:
    """A duration as minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
