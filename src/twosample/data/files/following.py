"""The lines of a text file that grows, whichever file has its name: each once, through rotation and truncation."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from twosample.data.files.dialect import quoted
from twosample.errors import InputError

__all__ = ["Follower", "Line", "opened"]

# Seconds between looks, and bytes read at a time.
_PAUSE = 0.2
_CHUNK = 1 << 20
# Bytes kept of the start of what was read, and of its end.
_HEAD, _LAST = 1 << 16, 1 << 12
# Two files that have this many bytes of rows in common at their start do not do so by chance.
_NO_CHANCE = 64
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Line:
    """A whole line that is neither blank nor a comment, and where it stands."""

    part: int  # grows by one with every new content
    number: int  # in its content, from 1
    content: bytes  # ends with a line feed
    device: int  # of the file that it was read from
    inode: int


class Follower:
    """The lines of the file of this name but blank ones and comments, for ever, beginning with those of an open file.

    New content (another file that takes the name, or the same one truncated) is read from its start, once the rest of
    the old one has been. New content that begins with everything that was read is the old one, which has grown.
    """

    def __init__(self, path: Path, file: FileIO, comment: str | None) -> None:
        self._path = path
        self._comment = None if comment is None else comment.encode()
        self._part = -1
        self._begin(file)

    def _begin(self, file: FileIO) -> None:
        """Start with new content."""
        self._take(file)
        self._part += 1
        self._offset = self._number = 0
        self._names_to: int | None = None  # bytes up to the end of the first line, which may hold names
        self._head = self._last = self._rest = b""
        self._hash = hashlib.sha256()

    def _take(self, file: FileIO) -> None:
        self._file, self._status = file, os.fstat(file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def lines(self) -> Iterator[Line]:
        """All lines, for ever; waits for those that are not there yet."""
        while True:
            yield from self.to_end()
            successor = self._successor()
            if successor is None:
                if os.fstat(self._file.fileno()).st_size <= self._offset:
                    time.sleep(_PAUSE)
                continue
            if successor is self._file:
                self._refuse_rest()
            else:
                yield from self.to_end()  # what was written until the other file took the name
                yield from self._split(b"\n" if self._rest else b"")
                self._file.close()
            self._begin(successor)

    def to_end(self) -> Iterator[Line]:
        """The lines up to the present end of the file."""
        while chunk := self._chunk():
            yield from self._split(chunk)

    def _chunk(self) -> bytes | None:
        """The next bytes, nothing at the end of the file; None where what was read last is no longer there."""
        self._file.seek(self._offset - len(self._last))
        found = self._file.read(len(self._last) + _CHUNK)
        if not found.startswith(self._last):
            return None
        chunk = found[len(self._last) :]
        if b"\0" in chunk:
            raise InputError(f"{quoted(self._path)} cannot be followed: it is no text in UTF-8 or the like")
        self._offset += len(chunk)
        self._head += chunk[: _HEAD - len(self._head)]
        self._last = found[-_LAST:]
        self._hash.update(chunk)
        return chunk

    def _split(self, chunk: bytes) -> Iterator[Line]:
        end = self._offset - len(chunk) - len(self._rest)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._number, end = self._number + 1, end + len(line) + 1
            content = line.removeprefix(_BOM) if self._number == 1 else line
            bare = content.strip()
            if not bare or (self._comment is not None and bare.startswith(self._comment)):
                continue
            if self._names_to is None:
                self._names_to = end
            yield Line(self._part, self._number, content + b"\n", self._status.st_dev, self._status.st_ino)

    def _successor(self) -> FileIO | None:
        """The file with new content, open; None where there is none yet, or the old one has only grown or moved."""
        if not self._is_there() and self._is_new(self._file):
            return self._file
        try:
            file = opened(self._path)
        except FileNotFoundError:  # it was moved, and the new one is not there yet
            return None
        with contextlib.ExitStack() as closing:
            closing.callback(file.close)
            if os.path.samestat(os.fstat(file.fileno()), self._status):
                return None
            new = self._is_new(file)
            if new is None:
                return None
            closing.pop_all()
        if new:
            return file
        self._file.close()
        self._take(file)  # a copy that goes on
        return None

    def _is_there(self) -> bool:
        """Whether the file still has what was read last, at its place."""
        self._file.seek(self._offset - len(self._last))
        return self._file.read(len(self._last)) == self._last

    def _is_new(self, file: FileIO) -> bool | None:
        """Whether a file has new content, rather than all that was read; None as long as it may become either."""
        file.seek(0)
        start = file.read(max(len(self._head), 1))
        length = min(len(start), len(self._head))
        if start[:length] != self._head[:length]:
            common = next(place for place in range(length) if start[place] != self._head[place])
            if self._names_to is not None and common - self._names_to >= _NO_CHANCE:
                raise self._edited()
            return True
        if not start or os.fstat(file.fileno()).st_size < self._offset:
            return None
        if not self._begins_with_all(file):
            raise self._edited()
        return not self._offset

    def _begins_with_all(self, file: FileIO) -> bool:
        file.seek(0)
        found, left = hashlib.sha256(), self._offset
        while left and (chunk := file.read(min(left, _CHUNK))):
            found.update(chunk)
            left -= len(chunk)
        return found.digest() == self._hash.digest()

    def _edited(self) -> InputError:
        return InputError(
            f"{quoted(self._path)} was changed in the part that was read", remedy="rows are to be added at its end"
        )

    def _refuse_rest(self) -> None:
        if self._rest.strip():
            raise InputError(
                f"{quoted(self._path)} was truncated in the middle of line {self._number + 1}, so that it cannot be "
                "known where rows end",
                remedy="rename the file and begin a new one, or write whole lines",
            )


def opened(path: Path) -> FileIO:
    """The file, open to be read without a buffer; refused where it cannot be, but for one that is not there."""
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{quoted(path)} cannot be read: {error.strerror or error}") from None
