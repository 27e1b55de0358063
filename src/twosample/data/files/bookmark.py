"""How far a file was read, and which file it was."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bookmark"]


@dataclass(frozen=True)
class Bookmark:
    """How far a file was read: what counts are the rows, by their hash; device and inode find a file that was renamed.

    Of standard input, and where the system has none, these are 0.
    """

    name: str  # the whole path, or "standard input"
    device: int
    inode: int
    rows: int
    digest: str  # of these rows, as hexadecimal digits
