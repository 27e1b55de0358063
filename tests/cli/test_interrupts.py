"""Ctrl-C in the middle of the work: status 130, no file, and no process left."""

import importlib.util
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="needs the signals and process groups of POSIX"),
]

# What does the work of each command; it says so, and goes on with it for longer than anyone waits.
WORK = {
    "test": ("twosample.places.local", "sample_moments"),
    "permuted": ("twosample.results.assembly", "compare"),
    "check": ("twosample.places.local", "sample_moments"),
    "reference": ("twosample.places.local", "sample_moments"),
    "each": ("twosample.questions.each", "run"),
    "gibbs": ("twosample.paper.sampling", "run"),
}
ARGS = {
    "test": ["test", "a.csv", "b.csv", "--json", "o.json", "--plot", "o.png", "--report", "o.html"],
    "permuted": ["test", "a.csv", "b.csv", "--permutations", "2000", "--json", "o.json"],
    "check": ["check", "a.csv", "b.csv", "--json", "o.json", "--junit", "o.xml", "--report", "o.html"],
    "reference": ["reference", "a.csv", "--out", "o.npz"],
    "each": ["each", "a.csv", "b.csv", "--json", "o.json", "--csv", "o.csv", "--report", "o.html"],
    "gibbs": ["gibbs", "a.csv", "b.csv", "--json", "o.json", "--trace", "o.png", "--steps", "600", "--burn-in", "100"],
}
SCRIPT = """
import importlib, os, sys
from twosample import cli
module, name = sys.argv[1:3]
module = importlib.import_module(module)
work = getattr(module, name)
def on_and_on(*args, **options):
    os.write(1, b"working")
    while True:
        work(*args, **options)
setattr(module, name, on_and_on)
cli.main(sys.argv[3:])
"""


# The other commands end in the same way.
FAST = ("permuted", "each")


def commands():
    for name in WORK:
        marks = [] if name in FAST else [pytest.mark.slow]
        if name == "gibbs":
            missing = importlib.util.find_spec("blackjax") is None
            marks.append(pytest.mark.skipif(missing, reason="needs the extra mcmc"))
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("command", list(commands()))
def test_an_interrupt_leaves_nothing(command, files):
    before = sorted(files.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *WORK[command], *ARGS[command]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said = os.read(process.stdout.fileno(), 7)
            assert said == b"working", process.communicate()
            time.sleep(0.5)
            # As a terminal does: to all processes of the group.
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=240)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out.replace(b"working", b"") == b""
    assert b"Traceback" not in err
    assert sorted(files.iterdir()) == before
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
