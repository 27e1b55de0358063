"""Progress of long work: the caller's function, or a bar on the terminal that appears once the work has lasted."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Progress", "Report", "WorkCounter", "progress_bar"]

Progress = bool | Callable[[float], object]

_BAR_AFTER_SECONDS = 1.5
_REDRAWN_AFTER_SECONDS = 0.1
_WIDTH = 30
_LABEL = "twosample"


class Report(Protocol):
    """Is told the share of work done, and words to show beside it."""

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
    """What to report the share of work done to: the caller's function, a bar on the terminal, or nothing.

    The bar appears once the work has lasted a while; it also shows the words that it is given.
    """
    if callable(progress):
        yield lambda share, words="": progress(share)
        return
    if not progress or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.clear()


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
        left = (now - self._started) * (1.0 - share) / share if share > 0 else 0.0
        line = f"{_LABEL} [{'#' * filled}{'-' * (_WIDTH - filled)}] {share:4.0%}  {_clock(left)} left  {words}".rstrip()
        import shutil

        sys.stderr.write(f"\r\x1b[2K{line[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar away, so that the answer stands alone."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def _clock(seconds: float) -> str:
    """A duration as minutes and seconds, with hours where there are any.

    Examples
    --------
    >>> _clock(75.2), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
