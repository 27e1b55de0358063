"""What is read from files that anyone may have written: JSON and arrays, with bounds before anything is unpacked."""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from typing import Any, BinaryIO

import numpy as np

__all__ = ["CHECKSUM", "array_checksum", "json_checksum", "packed", "read_arrays", "read_json"]

# The name of the checksum, in JSON and among arrays.
CHECKSUM = "checksum"
# Characters of a JSON text; its values take up to 25 times as many bytes.
_MOST_TEXT = 1 << 28
# Bytes of all arrays of a file: so many times those of the file, and some more. Deflate reaches 1,030 times.
_MOST_TIMES, _MOST_MORE = 100, 1 << 26
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 1024
_HEADER = re.compile(
    r"\{'descr': '([<>|](?:[fiu][1248]|b1|U\d{1,10}))', 'fortran_order': (True|False), 'shape': "
    r"\(((?:\d{1,18}, ?)*\d{0,18}),?\), \} *\n"
)


def read_json(text: str) -> Any:
    """The content of a JSON text; a ValueError for what only Python takes for JSON, or is too long or deep."""
    if len(text) > _MOST_TEXT:
        raise ValueError(f"it has {len(text):,} characters, and {_MOST_TEXT:,} are the most")
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repetition)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except MemoryError:
        raise ValueError("there is too little memory for it") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r:.60} is there twice")
    return content


def json_checksum(content: dict[str, Any]) -> str:
    """A hash of all but the checksum itself: of numbers the value, however they are written, and of tables the content.

    Examples
    --------
    >>> json_checksum({"a": 1.0, "b": [2, 0.5]}) == json_checksum({"b": [2.0, 0.5], "a": 1, "checksum": "..."})
    True
    """
    rest = {name: value for name, value in content.items() if name != CHECKSUM}
    numbers = json.loads(json.dumps(rest), parse_int=float)
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()


def array_checksum(arrays: dict[str, Any]) -> str:
    """A hash of names, types, shapes and numbers of all arrays but the checksum itself."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        if name != CHECKSUM:
            array = np.asarray(arrays[name])
            array = array.astype(array.dtype.newbyteorder("<"))
            total.update(f"{name!r}{array.shape}{array.dtype.str};".encode())
            total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def packed(arrays: dict[str, Any], *, compressed: bool = False) -> bytes:
    """The content of a file (npz, without pickle) that holds these arrays and their checksum."""
    file = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    save(file, allow_pickle=False, **{**arrays, CHECKSUM: np.array(array_checksum(arrays))})
    return file.getvalue()


def read_arrays(file: BinaryIO) -> dict[str, Any]:
    """The arrays of a file (npz, without pickle), by name; a ValueError for what NumPy would not have written.

    Sizes are checked before anything is unpacked, and no more is unpacked than was checked. A checksum is compared with
    the arrays; files of older versions have none.
    """
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        total, most = sum(member.file_size for member in members), _MOST_TIMES * length + _MOST_MORE
        if total > most:
            raise ValueError(f"it unpacks to {total:,} bytes, and {most:,} are the most for a file of {length:,}")
        arrays: dict[str, Any] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise ValueError(f"{name!r:.60} is there twice")
            arrays[name] = _read_array(archive, member, name)
    if CHECKSUM in arrays and str(arrays.pop(CHECKSUM)) != array_checksum(arrays):
        raise ValueError("its numbers are not those that were written: the checksum differs")
    return arrays


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Any:
    """One array: its header is to claim as many bytes as there are."""
    with archive.open(member) as stream:
        start = stream.read(len(_MAGIC) + 2)
        version_1 = start[len(_MAGIC) :] == b"\x01\x00"
        length = int.from_bytes(stream.read(2 if version_1 else 4), "little")
        if start[: len(_MAGIC)] != _MAGIC or length > _LONGEST_HEADER:
            raise ValueError(f"{name!r:.60} is no array")
        found = _HEADER.fullmatch(stream.read(length).decode("latin-1"))
        if found is None:
            raise ValueError(f"{name!r:.60} is no array of numbers or text")
        dtype, shape = np.dtype(found[1]), tuple(int(size) for size in found[3].replace(" ", "").split(",") if size)
        claimed = math.prod(shape) * dtype.itemsize
        if claimed != member.file_size - len(start) - (2 if version_1 else 4) - length:
            raise ValueError(f"{name!r:.60} claims {claimed:,} bytes, which it does not have")
        content = stream.read()  # to the end, where zipfile compares the sum of the bytes
    if len(content) != claimed:
        raise ValueError(f"{name!r:.60} is cut short")
    flat = np.frombuffer(content, dtype) if claimed else np.empty(0, dtype)
    array = flat.astype(dtype.newbyteorder("="), copy=True)
    if dtype.kind == "U":
        return _as_text(array.reshape(shape), name)
    return array.reshape(shape, order="F" if found[2] == "True" else "C")


def _as_text(array: Any, name: str) -> Any:
    """An array of text, if it is text: NumPy takes any 32 bits for a character."""
    try:
        array.tolist()
    except (ValueError, SystemError):
        raise ValueError(f"{name!r:.60} is no text") from None
    return array
