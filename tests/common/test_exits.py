"""How the command ends, whatever breaks."""

import os
import subprocess
import sys

import pytest

from twosample.common import exits

IMPORT = """
import sys
sys.argv = {argv}
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            {act}
sys.meta_path.insert(0, Broken())
import twosample
"""


def imported(argv, act):
    """What becomes of a process that imports the package under this name, in the middle of the imports."""
    done = subprocess.run([sys.executable, "-c", IMPORT.format(argv=argv, act=act)], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", ["/usr/bin/twosample", "-m", "twosample.exe"])
@pytest.mark.parametrize(
    "error", ["ImportError('no\\nroom')", "MemoryError('no\\nroom')", "BaseException('no\\nroom')"]
)
def test_the_command_that_cannot_be_loaded_says_so_in_a_line(name, error):
    status, said = imported([name], f"raise {error}")
    assert status == exits.FAILED
    assert said == f"twosample: error: the program cannot be loaded: {error.split('(')[0]}: no room\n"


def test_other_programs_get_the_error_itself():
    status, said = imported(["program.py"], "raise ImportError('no room')")
    assert status == 1 and said.startswith("Traceback")


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
def test_an_interrupt_of_the_imports():
    interrupt = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    assert imported(["-m"], interrupt) == (130, "")
    status, said = imported(["program.py"], interrupt)
    assert status == -2 and said.endswith("KeyboardInterrupt\n")


def test_other_programs_keep_their_interrupts():
    """Also one that is called as the command is, once the package is imported."""
    code = (
        "import signal, sys; sys.argv = [sys.argv[1]]; before = signal.getsignal(signal.SIGINT); import twosample; "
        "sys.exit(signal.getsignal(signal.SIGINT) is not before)"
    )
    for name in ("program.py", "twosample"):
        subprocess.run([sys.executable, "-c", code, name], check=True)


def test_words_of_a_fault():
    assert exits.fault(MemoryError()) == "not enough memory for these data"
    assert exits.fault(KeyError("x")) == "the program has a fault, and could not do this: KeyError: 'x'"


@pytest.mark.skipif("CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()), reason="needs glibc")
@pytest.mark.parametrize("thread", [False, True])
def test_a_library_that_ends_the_process_fails_it(thread):
    """As OpenBLAS does, in any of its threads; what ends afterwards ends as it does."""
    code = (
        "import ctypes, sys, threading; from twosample.common.exits import ended_by_us\n"
        "def leave():\n    ctypes.CDLL(None).exit(1)\n"
        "with ended_by_us():\n    if {inside}: {act}\n"
        "if not {inside}: sys.exit(1)"
    )
    act = "one = threading.Thread(target=leave); one.start(); one.join()" if thread else "leave()"
    for inside, status in ((True, exits.FAILED), (False, 1)):
        done = subprocess.run(
            [sys.executable, "-c", code.format(inside=inside, act=act)], capture_output=True, text=True
        )
        assert done.returncode == status
        assert done.stderr == "twosample: error: a library has ended the program; memory may be short\n" * inside


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(("status", "expected"), [(0, 3), (1, 3), (2, 2), (130, 130)])
def test_what_cannot_be_written_at_the_end_fails(status, expected):
    code = f"from twosample.common.exits import end; print('verdict'); end({status})"
    with open("/dev/full", "w") as full:
        buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, env=buffered)
    assert (done.returncode, done.stderr) == (expected, b"")


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX, if other tests have loaded it
@pytest.mark.skipif(os.name == "nt", reason="needs the descriptors of POSIX")
@pytest.mark.parametrize(("number", "name"), [*enumerate(["stdin", "stdout", "stderr"])])
def test_no_file_takes_the_place_of_a_closed_stream(number, name):
    code = (
        "import os, sys; from twosample.common.exits import fill_standard_streams as fill; "
        "found = fill(); file = open(os.devnull); sys.exit(not (found == [sys.argv[1]] and file.fileno() > 2))"
    )
    subprocess.run([sys.executable, "-c", code, name], preexec_fn=lambda: os.close(number), check=True)
