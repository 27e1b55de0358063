"""Files that are written beside their place and then moved there, and what writers that were killed have left."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["opened_beside"]

_LONGEST_NAME = 40


@contextmanager
def opened_beside(target: Path, mode: int) -> Iterator[BinaryIO]:
    """Open a file that takes the place of the target at the end, or is removed where the work raises.

    Its writer has it locked, so that it can be told from what a writer that was killed has left beside this target,
    which is removed. Without locks (on Windows) it stays.
    """
    _sweep(target)
    part, file = _created(target, mode)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode:
                os.chmod(part, mode)
            if fcntl is None:
                file.close()  # an open file cannot be moved there; elsewhere an unlocked one may be swept
            os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _created(target: Path, mode: int) -> tuple[Path, BinaryIO]:
    """A new file, locked."""
    import secrets

    while True:
        part = target.with_name(f".{target.name[:_LONGEST_NAME]}.{secrets.token_hex(8)}.part")
        file = open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode or 0o666))
        if fcntl is None:
            return part, file
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(file, fcntl.LOCK_EX)
        if part.exists():
            return part, file
        file.close()  # another writer has swept it before it was locked


def _sweep(target: Path) -> None:
    """Remove what writers of this file have left that are no more."""
    if fcntl is None:
        return
    ours = re.compile(rf"\.{re.escape(target.name[:_LONGEST_NAME])}\.[0-9a-f]{{16}}\.part")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
    finally:
        os.close(descriptor)
