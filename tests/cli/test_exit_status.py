"""Exit statuses as the help and the README say them, of the command as its own process."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "twosample"]
posix = pytest.mark.skipif(os.name == "nt", reason="needs the signals and pipes of POSIX")


def ended(*args):
    done = subprocess.run([*COMMAND, *args], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_help_and_readme_tell_every_status():
    statuses = ["0", "1", "2", "3", "130"]
    status, out, err = ended("--help")
    assert (status, err) == (0, "")
    assert re.findall(r"^ +(\d+) ", out.split("Exit status:")[1], re.M) == statuses
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"exit status is.*?\n\n", readme, re.S)
    assert re.findall(r"\b\d+\b", sentence) == statuses


def test_0_with_the_answer(files):
    status, out, err = ended("test", "a.csv", "b.csv", "--columns", "u", "--json", "o.json")
    assert (status, err) == (0, "")
    assert "P(different | data)" in out
    assert json.loads(Path("o.json").read_text())["columns"] == ["u"]


def test_2_with_one_line(files):
    status, out, err = ended("test", "a.csv", "none.csv")
    assert (status, out) == (2, "")
    assert err.startswith("twosample: error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["test", "a.csv", "b.csv", "--no-such-option"],
        ["test", "a.csv", "b.csv", "--json", "a.csv"],
        ["test", "a.csv", "b.csv", "--columns", "u", "--tolerance", "nan"],
        ["test", "a.csv", "b.csv", "--columns", "label"],
        ["no-such-command"],
    ],
)
def test_2_in_this_process(args, refused, files):
    assert refused(*args)


@posix
@pytest.mark.parametrize("args", [["check", "a.csv", "b.csv", "--columns", "u"], ["check", "--help"]])
def test_3_where_the_reader_left(args, files):
    """Not 1, which is the verdict of a check."""
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == 3
    process.stderr.close()


@posix
def test_130_where_interrupted(files):
    """While it waits for what the pipe will say; then nothing is left behind."""
    os.mkfifo("pipe.csv")
    before = sorted(files.iterdir())
    process = subprocess.Popen(
        [*COMMAND, "test", "pipe.csv", "b.csv", "--columns", "u", "--json", "o.json", "--plot", "o.png"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with open("pipe.csv", "w") as pipe:  # opens once the command reads
        pipe.write("u\n1\n")
        pipe.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "")
    assert sorted(files.iterdir()) == before


@posix
def test_130_in_the_middle_of_writing(files):
    """An interrupt while a picture is being written leaves no file, and no other one either."""
    before = sorted(files.iterdir())
    script = (
        "import os, signal, sys, matplotlib.figure as f; from twosample import cli\n"
        "def savefig(self, file, **options):\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGINT)\n"
        "f.Figure.savefig = savefig\n"
        "sys.argv[1:] = ['test', 'a.csv', 'b.csv', '--columns', 'u', '--plot', 'o.png', '-q']\n"
        "cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr.strip()) == (130, "")
    assert sorted(files.iterdir()) == before
