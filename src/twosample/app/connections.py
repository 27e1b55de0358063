"""Connections that end when the other side does not go on: with a request it began, or with reading the answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Connection"]

# How long the other side may take: for the whole head of a request, from one piece of its body to the next, and from
# one piece of the answer to the next.
_SECONDS = {"head": 20.0, "body": 30.0, "answer": 30.0}
_LOOKED_AFTER_SECONDS = 1.0


class Connection(H11Protocol):
    """A connection of uvicorn, which itself ends those that are idle between requests, and no others."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._received = 0
        self._seen: tuple[str, int] | None = None
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look after it."""
        super().connection_made(transport)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look after it no longer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        self._received += len(data)
        super().data_received(data)

    def _look(self) -> None:
        waiting, now = self._waiting(), self.loop.time()
        if waiting != self._seen:
            self._seen, self._since = waiting, now
        elif waiting is not None and now - self._since > _SECONDS[waiting[0]]:
            self.transport.abort()
            return
        self._timer = self.loop.call_later(_LOOKED_AFTER_SECONDS, self._look)

    def _waiting(self) -> tuple[str, int] | None:
        """What the other side is waited for, with a number that changes when it goes on; None while the app works."""
        if unread := self.transport.get_write_buffer_size():
            return "answer", unread
        if self.cycle is None or self.cycle.response_complete:
            return "head", id(self.cycle)
        return ("body", self._received) if self.cycle.more_body else None
