"""The files and answers of each opened page: in memory, by an identity that nobody can guess, while they are needed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twosample.app.jobs import Job
    from twosample.app.work import Upload

__all__ = ["SLOTS", "FullError", "RefusalError", "Session", "Sessions"]

SLOTS = ("first", "second")
_MOST_SESSIONS = 1_000


class RefusalError(Exception):
    """A request that is not answered as it wishes, with why; the text is for people."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class FullError(RefusalError):
    """There is no room for more."""

    def __init__(self, message: str) -> None:
        super().__init__(507, message)


class Session:
    """One opened page."""

    def __init__(self, now: float) -> None:
        self.identity = secrets.token_urlsafe(24)
        self.uploads: dict[str, Upload] = {}  # by slot
        self.job: Job | None = None  # the last one; None before the first
        self.used = now

    @property
    def size(self) -> int:
        """How many bytes its files and answer have."""
        answer = None if self.job is None else self.job.answer
        found = 0 if answer is None else len(answer.page) + len(answer.result)
        return found + sum(len(upload.content) for upload in self.uploads.values())


class Sessions:
    """All opened pages, which hold not more bytes than that together; one is idle after so many seconds."""

    def __init__(self, most_bytes: int, idle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._all: dict[str, Session] = {}
        self._most, self._idle, self._clock = most_bytes, idle, clock
        self._arriving = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._all)

    def new(self) -> Session:
        """A new one."""
        if len(self._all) >= _MOST_SESSIONS:
            raise FullError(f"{_MOST_SESSIONS:,} pages are open; close some and load this one anew")
        session = Session(self._clock())
        self._all[session.identity] = session
        return session

    def find(self, identity: str) -> Session | None:
        """The one with this identity, which is in use now."""
        session = self._all.get(identity)
        if session is not None:
            session.used = self._clock()
        return session

    def drop(self, identity: str) -> Session | None:
        """Let go of one."""
        return self._all.pop(identity, None)

    def idle(self) -> list[str]:
        """Those that nobody has asked for in a while."""
        now = self._clock()
        return [identity for identity, session in self._all.items() if now - session.used > self._idle]

    def reserve(self, size: int) -> None:
        """Count bytes that arrive, before a session has them, or refuse them where there is no room."""
        if self._arriving + size + sum(session.size for session in self._all.values()) > self._most:
            raise FullError(
                f"all opened pages together hold as much as they may ({self._most / 1e6:,.0f} MB); close those that "
                "are not needed, or start the app with a larger --max-size"
            )
        self._arriving += size

    def release(self, size: int) -> None:
        """Count no longer what a session has now, or what is not wanted."""
        self._arriving -= size
