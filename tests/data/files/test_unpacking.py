"""Compressed files are unpacked up to the limit and no further, whatever they are compressed with."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import zipfile

import polars as pl
import pytest
import zstandard

from twosample.data.files.dialect import Reading
from twosample.data.files.strings import read_strings
from twosample.data.files.table import read_table
from twosample.errors import InputError


def zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", content)
    return file.getvalue()


def arrow(rows):
    file = io.BytesIO()
    pl.select(pl.repeat(1.5, rows).alias("a")).write_ipc(file, compression="zstd")
    return file.getvalue()


def parquet(rows):
    file = io.BytesIO()
    pl.select(pl.repeat(1.5, rows).alias("a")).write_parquet(file)
    return file.getvalue()


PACKED = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped,
    "zst": zstandard.ZstdCompressor().compress,
    "zst in frames": lambda content: b"".join(
        zstandard.ZstdCompressor().compress(content[start : start + 700]) for start in range(0, len(content), 700)
    ),
}  # fmt: skip
TABLE = b"a,b\n" + b"1,2\n" * 1000  # 4,004 bytes


@pytest.mark.parametrize("kind", PACKED)
def test_up_to_the_limit_and_no_further(kind):
    content = PACKED[kind](TABLE)
    assert read_table(("a.csv", content), Reading(unpacked_limit=0.004004)).frame.shape == (1000, 2)
    with pytest.raises(InputError, match=r"'a.csv' unpacks to more than 0.004003 MB, which is the limit") as refused:
        read_table(("a.csv", content), Reading(unpacked_limit=0.004003))
    assert refused.value.argument == "unpacked_limit" and "unpacked_limit=" in str(refused.value)
    with pytest.raises(InputError, match="which is the limit"):
        read_strings(("a.txt", content), Reading(unpacked_limit=0.004003))


@pytest.mark.parametrize("kind", PACKED)
def test_what_is_cut_short_is_told(kind):
    content = PACKED[kind](TABLE)
    for end in (len(content) - 1, len(content) // 2):
        with pytest.raises(InputError, match=r"cannot be (unpacked|read)"):
            read_table(("a.csv", content[:end]), Reading(unpacked_limit=1.0))


@pytest.mark.parametrize("write", [parquet, arrow])
def test_tables_with_more_values_than_the_limit(write, tmp_path):
    content, path = write(100_000), tmp_path / "table.bin"
    path.write_bytes(content)
    for source in (path, ("table", content)):
        assert read_table(source, Reading(unpacked_limit=0.8)).frame.height == 100_000
        with pytest.raises(InputError, match=r"unpacks to more than 0.79 MB, which is the limit"):
            read_table(source, Reading(unpacked_limit=0.79))


def test_workbooks(tmp_path):
    pytest.importorskip("xlsxwriter", reason="writes workbooks")
    path = tmp_path / "book.xlsx"
    pl.DataFrame({"a": [1.0] * 2000}).write_excel(path)
    assert read_table(path, Reading(unpacked_limit=1.0)).frame.height == 2000
    with pytest.raises(InputError, match="which is the limit"):
        read_table(path, Reading(unpacked_limit=0.02))


def test_the_limit_is_the_free_memory_where_none_is_given(monkeypatch):
    monkeypatch.setattr("twosample.data.files.unpacking.available_memory", lambda: 3000)
    read_table(("a.csv", gzip.compress(TABLE)))  # at least a gigabyte
    monkeypatch.setattr("twosample.data.files.unpacking._LEAST_LIMIT", 2000)
    with pytest.raises(InputError, match=r"more than 0.003 MB, which is the limit"):
        read_table(("a.csv", gzip.compress(TABLE)))


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_limits_that_are_none(limit):
    with pytest.raises(InputError, match=r"^unpacked_limit"):
        Reading(unpacked_limit=limit)


READ = """
import json, resource, sys
from twosample.data.files.dialect import Reading
from twosample.data.files.table import read_table
from twosample.errors import InputError

def peak():  # of this process alone, in MB
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024

def now():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) / 1024

read_table(("a.csv", b"a\\n1\\n"))
before = now()
try:
    read_table(sys.argv[1], Reading(unpacked_limit=50))
except InputError as error:
    print(json.dumps([str(error), peak() - before, now() - before]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux says of the process")
@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip", "zst", "parquet"])
def test_a_bomb_takes_no_more_memory_than_the_limit(kind, tmp_path):
    """300 MB in less than 1 MB, with a limit of 50 MB."""
    path = tmp_path / "bomb"
    if kind == "parquet":
        path.write_bytes(parquet(37_500_000))
    elif kind in ("gz", "zip"):
        path.write_bytes(PACKED[kind](bytes(300_000_000)))
    else:  # one block of these is enough, many times
        one = PACKED[kind](bytes(15_000_000))
        path.write_bytes(one * 20)
    assert path.stat().st_size < 1_000_000
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", READ, path], env=environment, capture_output=True, text=True, check=True
    )
    message, peak, after = json.loads(done.stdout)
    assert "unpacks to more than 50 MB, which is the limit" in message
    assert peak < 100 and after < 30
