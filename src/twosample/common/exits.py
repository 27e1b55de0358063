"""How the command ends: its exit statuses, what is said of a fault, and an interrupt at any moment."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import IO, NoReturn

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "REFUSED",
    "VERDICT",
    "end",
    "end_when_interrupted",
    "ended_by_us",
    "fault",
    "fill_standard_streams",
    "is_command",
    "loading",
    "raised",
    "say",
]

VERDICT = 1  # a rule holds, or there is an alarm; nothing that breaks ends with this status
REFUSED = 2  # what is asked cannot be done as it is asked
FAILED = 3  # it could have been done, and broke: no memory, a full disk, a fault of the program
INTERRUPTED = 130
# NumPy says a page of why it cannot be imported.
_LONGEST = 250


def is_command() -> bool:
    """Whether this process was started as the command, by its script or as ``python -m twosample``."""
    name: str = (getattr(sys, "argv", None) or [""])[0]
    # What `python -m` runs is "-m" while its package is imported.
    return name == "-m" or os.path.splitext(os.path.basename(name))[0] == "twosample"


def say(message: str) -> None:
    """Say what went wrong, in one line, where there is somebody to hear it."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(f"twosample: error: {message}\n")
            sys.stderr.flush()


def fault(error: BaseException) -> str:
    """What to say of an error that nobody has foreseen."""
    if isinstance(error, MemoryError):
        return "not enough memory for these data"
    return f"the program has a fault, and could not do this: {type(error).__name__}: {error}"


@contextmanager
def loading(as_command: bool) -> Iterator[None]:
    """Import what the command needs: what goes wrong is said in one line; an interrupt ends the process at once.

    In other programs, errors and interrupts come out as they do from any import.
    """
    if not as_command:
        yield
        return
    with _interrupts(_end_now), ended_by_us():
        try:
            yield
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # the panics of compiled libraries are no Exceptions
            why = " ".join(f"{type(error).__name__}: {error}".split())
            say(f"the program cannot be loaded: {why[:_LONGEST]}")
            raise SystemExit(FAILED) from None


@contextmanager
def ended_by_us() -> Iterator[None]:
    """Where a library ends the process, as OpenBLAS does without memory with status 1, end it as failed instead.

    That takes functions of glibc, which also forget what was registered; elsewhere nothing is done.
    """
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()):
        yield
        return
    import ctypes

    library, key, left = ctypes.CDLL(None), ctypes.create_string_buffer(1), False

    def at_exit(_: object) -> None:
        if not left:
            say("a library has ended the program; memory may be short")
            os._exit(FAILED)

    called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(at_exit)
    library["__cxa_atexit"](called, None, key)
    try:
        yield
    finally:
        left = True
        library["__cxa_finalize"](key)  # calls it, and forgets it


@contextmanager
def _interrupts(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle Ctrl-C in this way, unless the caller of the process has it ignored or this is not the main thread."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before not in (
        signal.default_int_handler, _end_now,
    ):  # fmt: skip
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_when_interrupted() -> None:
    """From here on an interrupt ends the process at once and without a word, but where it is `raised`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_now)


def fill_standard_streams() -> list[str]:
    """Open the null device in place of closed standard streams, lest a file takes their place; returns which."""
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            closed.append(name)
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    return closed


def raised() -> contextlib.AbstractContextManager[None]:
    """Raise interrupts as KeyboardInterrupt, so that what is half-written is removed."""
    return _interrupts(signal.default_int_handler)


def end(status: int) -> NoReturn:
    """Exit; where what was printed cannot be written, as failed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _discard(stream)
            status = FAILED if status in (0, VERDICT) else status
    sys.exit(status)


def _discard(stream: IO[str]) -> None:
    """Point a stream at the null device: at its end Python would try again to write what it still holds."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _end_now(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(INTERRUPTED)
