"""Files that a process writes when it is killed or interrupted: the old one is there, or the whole new one."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from twosample.common import partial_files
from twosample.common.partial_files import opened_beside
from twosample.common.records import write_whole
from twosample.features.statistics import FeatureStatistics

KILLED = -9
posix = pytest.mark.skipif(os.name == "nt", reason="needs the signals and pipes of POSIX")

# Each writes a file of about a megabyte in a loop, the number of the turn in every part of it.
WRITERS = {
    "text": """
        from twosample.common.records import write_whole
        def write(turn):
            write_whole(path, lambda file: [file.write(b"%08d" % turn * 1000) for _ in range(120)])
    """,
    "to_json": """
        from dataclasses import dataclass
        from twosample.common.records import Record
        @dataclass(frozen=True, eq=False, repr=False)
        class Some(Record):
            turns: tuple
        def write(turn):
            Some((turn,) * 100_000).to_json(path)
    """,
    "save": """
        import numpy as np
        from twosample.features.statistics import FeatureStatistics, Moments
        def write(turn):
            moments = Moments(5, np.full((6, 150), 1.0 * turn), np.full((6, 150, 150), 1.0 * turn))
            FeatureStatistics(np.arange(1.0, 7.0), moments, moments).save(path)
    """,
    "plot": """
        from matplotlib.figure import Figure
        from twosample.cli.output import save_plot
        def write(turn):
            figure = Figure(figsize=(2, 2), facecolor=(turn % 256 / 255.0,) * 3)
            save_plot(path, lambda: figure)
    """,
    "table": """
        import sys
        import numpy as np
        import polars as pl
        import twosample as ts
        from twosample.cli import output
        class Result:
            def to_frame(self, kind):
                return pl.DataFrame({"turn": np.full(120_000, turn)})
        def write(number):
            global turn
            turn = number
            output.save_csv(path, Result())
    """,
}


def turns_of_text(content):
    assert len(content) == 8 * 1000 * 120
    return {int(content[i : i + 8]) for i in range(0, len(content), 8)}


def turns_of_picture(content):
    from PIL import Image

    assert content.endswith(b"IEND\xaeB`\x82")
    with Image.open(io.BytesIO(content)) as image:
        pixels = np.asarray(image.convert("RGB"))
    return set(pixels.ravel().tolist())


def turns_of_statistics(path):
    statistics = FeatureStatistics.load(path)
    assert statistics.x.scatter.shape == (6, 150, 150)
    return {*statistics.x.scatter.ravel().tolist(), *statistics.y.mean.ravel().tolist()}


def turns_of_table(content):
    name, *turns = content.decode().splitlines()
    assert name == "turn" and len(turns) == 120_000 and content.endswith(b"\n")
    return set(turns)


READERS = {
    "text": lambda path: turns_of_text(path.read_bytes()),
    "to_json": lambda path: set(json.loads(path.read_text())["turns"]),
    "save": turns_of_statistics,
    "plot": lambda path: turns_of_picture(path.read_bytes()),
    "table": lambda path: turns_of_table(path.read_bytes()),
}


def start(path, code, after=""):
    """A process that says "ready" once it has written the first turn, and then writes on."""
    script = (
        f"import pathlib, sys\npath = pathlib.Path({str(path)!r})\n" + textwrap.dedent(code) + textwrap.dedent(after)
    )
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


LOOP = """
    import os
    write(1)
    os.write(1, b"ready")
    for number in range(2, 10**6):
        write(number)
"""


@posix
@pytest.mark.parametrize("kind", WRITERS)
def test_a_kill_at_any_moment_leaves_a_whole_file(kind, tmp_path):
    chance = random.Random(kind)
    path = tmp_path / ("o.png" if kind == "plot" else "o.dat")
    process = start(path, WRITERS[kind], LOOP)
    said = b""
    while b"ready" not in said:
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        assert chunk, process.communicate()
        said += chunk
    # It is killed several times at once: stopped, looked at as a kill would leave it, and sent on.
    for _ in range(12):
        time.sleep(chance.uniform(0.0, 0.02))
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        assert len(READERS[kind](path)) == 1
        process.send_signal(signal.SIGCONT)
    time.sleep(chance.uniform(0.0, 0.02))
    process.kill()
    process.communicate()
    assert process.returncode == KILLED
    assert len(READERS[kind](path)) == 1


@posix
@pytest.mark.parametrize("before", ["old", None])
@pytest.mark.parametrize("moment", ["half", "written", "fsync", "replace", "after"])
def test_a_kill_at_each_step(moment, before, tmp_path):
    path = tmp_path / "o.txt"
    if before is not None:
        path.write_text(before)
    process = start(
        path,
        f"""
        import os, signal
        from twosample.common.records import write_whole
        def kill(*arguments):
            os.kill(os.getpid(), signal.SIGKILL)
        def write(file):
            file.write(b"new" * 50_000)
            if {moment!r} == "half":
                file.flush()
                kill()
            file.write(b"new" * 50_000)
            if {moment!r} == "written":
                kill()
        if {moment!r} in ("fsync", "replace"):
            setattr(os, {moment!r}, kill)
        write_whole(path, write)
        kill()
        """,
    )
    process.communicate()
    assert process.returncode == KILLED
    if moment == "after":
        assert path.read_text() == "new" * 100_000
        assert list(tmp_path.iterdir()) == [path]
    elif before is None:
        assert not path.exists()
    else:
        assert path.read_text() == before
    write_whole(path, lambda file: file.write(b"next"))
    assert path.read_text() == "next"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_an_interrupt_leaves_neither_half_a_file_nor_another_one(error, tmp_path, monkeypatch):
    path = tmp_path / "o.txt"
    path.write_text("old")

    def fail(*arguments):
        raise error

    def half(file):
        file.write(b"new" * 50_000)
        file.flush()
        raise error

    with pytest.raises(error):
        write_whole(path, half)
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch, pytest.raises(error):
            patch.setattr(os, name, fail)
            write_whole(path, lambda file: file.write(b"new"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_just_after_the_file_is_there(tmp_path, monkeypatch):
    path = tmp_path / "o.txt"
    replace = os.replace

    def interrupted(*arguments):
        replace(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, lambda file: file.write(b"new"))
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_data_are_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    path, calls = tmp_path / "o.txt", []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (calls.append(os.fstat(number).st_size), fsync(number)))
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("renamed"), replace(*names)))
    write_whole(path, lambda file: file.write(b"new"))
    assert calls == [3, "renamed"]


@posix
def test_what_is_no_file_is_written_to_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_whole(pipe, lambda file: file.write(b"through"))
    assert reader.communicate()[0] == b"through"
    assert pipe.is_fifo()
    script = "import pathlib; from twosample.common.records import write_whole as w; print('before', flush=True); "
    script += "w(pathlib.Path('/dev/stdout'), lambda file: file.write(b'within')); print('after')"
    with (tmp_path / "o.txt").open("a") as file:  # to which all of it is added
        subprocess.run([sys.executable, "-c", script], stdout=file, check=True)
    assert "after" in (tmp_path / "o.txt").read_text()
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


@posix
def test_only_what_a_dead_writer_of_this_file_left_is_removed(tmp_path):
    path, identity = tmp_path / "o.txt", "0123456789abcdef"
    (tmp_path / f".o.txt.{identity}.part").write_text("of a dead writer")
    names = (f".other.txt.{identity}.part", f".o.txt.{identity}.part.gz", ".o.txt.mine.part", f"o.txt.{identity}.part")
    others = [tmp_path / name for name in names]
    for other in others:
        other.write_text("of somebody else")
    folder, link, pipe = (tmp_path / f".o.txt.{digit * 16}.part" for digit in "123")
    folder.mkdir()
    os.mkfifo(pipe)
    link.symlink_to(others[0])
    with opened_beside(path, 0) as file:
        file.write(b"half")
        file.flush()
        write_whole(path, lambda file: file.write(b"second writer"))
        assert path.read_text() == "second writer"
        file.write(b" and half")
    assert path.read_text() == "half and half"
    assert sorted(tmp_path.iterdir()) == sorted([path, *others, folder, link, pipe])


@posix
def test_a_file_that_is_swept_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    path, real = tmp_path / "o.txt", partial_files.fcntl.flock
    swept = []

    def flock(file, how):
        if not swept:
            swept.extend(one for one in tmp_path.iterdir() if one.name.endswith(".part"))
            swept[0].unlink()
        real(file, how)

    monkeypatch.setattr(partial_files.fcntl, "flock", flock)
    write_whole(path, lambda file: file.write(b"new"))
    assert path.read_text() == "new" and len(swept) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(partial_files, "fcntl", None)
    left = tmp_path / ".o.txt.0123456789abcdef.part"
    left.write_text("of whoever")
    write_whole(tmp_path / "o.txt", lambda file: file.write(b"new"))
    assert (tmp_path / "o.txt").read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [left, tmp_path / "o.txt"]
