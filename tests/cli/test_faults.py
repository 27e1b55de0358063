"""Commands under faults: what docs/guide/faults.md promises of exit status, files and messages, as own processes."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

resource = pytest.importorskip("resource", reason="needs the signals and limits of POSIX")
# Other tests of this process may have loaded JAX, which warns of every fork.
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
THOROUGH = [pytest.mark.slow, pytest.mark.exhaustive]

COMMANDS = {
    "test": ["test", "a.csv", "b.csv", "--json", "o.json"],
    "check": ["check", "a.csv", "b.csv", "--json", "o.json", "--junit", "o.xml"],
    "each": ["each", "a.csv", "b.csv", "--csv", "o.csv", "--json", "o.json"],
    "reference": ["reference", "a.csv", "--out", "o.npz"],
    "monitor": ["monitor", "a.csv", "b.csv", "--batch", "5", "--state", "o.npz"],
    "goodness": ["goodness", "a.csv", "--law", "norm(0, 1)", "--columns", "u", "--json", "o.json"],
    "independence": ["independence", "a.csv", "--x", "u", "--y", "v", "--json", "o.json"],
    "compare": ["compare", "a.csv", "b.csv", "--columns", "u"],
}
# The statuses of commands that end by themselves: the samples differ.
STATUS = {"check": 1}
# As pip's script does; it says when the imports of the package have begun.
SCRIPT = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.write(3, b"r")
            sys.meta_path.remove(self)
sys.meta_path.insert(0, Watch())
from twosample.cli import main
main()
"""


@pytest.fixture
def script(tmp_path):
    """The command by a script of its name, as it is installed."""
    path = tmp_path / "bin" / "twosample"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    return [sys.executable, str(path)]


def ended(script, *args, cwd, before=None, timeout=120, **streams):
    """Run the command to its end; returns exit status, stdout and stderr."""

    def prepare():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 3)
        if before is not None:
            before()

    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    done = subprocess.run(
        [*script, *args], cwd=cwd, preexec_fn=prepare, pass_fds=[3], timeout=timeout, text=True, **streams
    )
    return done.returncode, done.stdout, done.stderr


def stopped(script, name, cwd, number, delay):
    """Send a signal so long after the imports began; returns exit status, stdout and stderr."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*script, *COMMANDS[name]], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: os.dup2(writing, 3), pass_fds=[3],
    )  # fmt: skip
    os.close(writing)
    assert os.read(reading, 1) == b"r"
    os.close(reading)
    time.sleep(delay)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def made(folder, before):
    """What has been written, by name; files beside their place are ours, and no others are left."""
    new = {path.name: path for path in folder.iterdir() if path not in before}
    for name, path in new.items():
        if name.endswith(".part"):
            assert name.startswith(".o.")
        elif name.endswith(".json"):
            json.loads(path.read_text())
        elif name.endswith(".npz"):
            assert len(np.load(path).files) > 1
    return sorted(new)


def one_line(err):
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    return len(lines) == 1 and lines[0].startswith("twosample: error: ")


# ---- signals

MOMENTS = 10


def moments():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for name in ("check", "reference", "monitor"):
            for moment in range(MOMENTS):
                fast = name == "check" and moment == (0 if number == signal.SIGINT else 8)
                yield pytest.param(number, name, moment, marks=[] if fast else THOROUGH)


@pytest.fixture(scope="module")
def seconds():
    """How long each command takes from its imports on, measured once."""
    return {}


@pytest.mark.parametrize(("number", "name", "moment"), list(moments()))
def test_a_signal_at_any_moment(number, name, moment, script, files, seconds):
    before = set(files.iterdir())
    if name not in seconds:
        start = time.monotonic()
        assert ended(script, *COMMANDS[name], cwd=files)[0] == STATUS.get(name, 0)
        seconds[name] = time.monotonic() - start
        for path in set(files.iterdir()) - before:
            path.unlink()
    status, out, err = stopped(script, name, files, number, seconds[name] * moment / MOMENTS)
    found = made(files, before)
    if number == signal.SIGINT:
        # While Python itself ends it has no handler: then the signal ends it, which a shell shows as 130, too.
        assert status in (130, -number, STATUS.get(name, 0)), (out, err)
        assert all(line.startswith("note: ") for line in err.split("\n") if line)
        assert not any(one.endswith(".part") for one in found)
    else:
        assert status in (-number, STATUS.get(name, 0))
        assert sum(one.endswith(".part") for one in found) <= 1
    if status == 130 and name != "monitor":
        assert "FAIL" not in out or found  # what is printed comes last but for files
    for path in set(files.iterdir()) - before:
        if not path.name.endswith(".part"):
            path.unlink()
    if any(one.endswith(".part") for one in found):
        assert ended(script, *COMMANDS[name], cwd=files)[0] == STATUS.get(name, 0)
        assert not any(one.endswith(".part") for one in made(files, before))


# ---- nowhere to write


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("name", ["check", *(pytest.param(one, marks=THOROUGH) for one in COMMANDS if one != "check")])
def test_a_full_disk(name, script, files):
    """No file may grow beyond some bytes: what is written is refused as on a full disk; nothing is left."""
    before = set(files.iterdir())
    status, _, err = ended(script, *COMMANDS[name], cwd=files, before=limited(100))
    if name == "compare":  # which writes no files
        assert status == 0
        return
    assert status == 3 and one_line(err)
    assert "File too large: 'o." in err
    assert made(files, before) == []


@pytest.mark.parametrize("name", ["check", *(pytest.param(one, marks=THOROUGH) for one in COMMANDS if one != "check")])
def test_stdout_is_full_or_closed(name, script, files):
    with open("/dev/full", "w") as full:
        status, _, err = ended(script, *COMMANDS[name], cwd=files, stdout=full)
    assert status == 3 and one_line(err) and err.endswith("twosample: error: No space left on device\n")
    before = set(files.iterdir())
    status, _, err = ended(script, *COMMANDS[name], cwd=files, before=lambda: os.close(1), stdout=None)
    assert (status, err) == (3, "twosample: error: standard output is closed, where the answer would be\n")
    assert set(files.iterdir()) == before


def test_stdin_is_closed(script, files):
    status, out, err = ended(script, "check", "-", "b.csv", cwd=files, before=lambda: os.close(0))
    assert (status, out, err) == (2, "", "twosample: error: standard input is closed; name a file\n")
    status, out, err = ended(script, "test", "-", "b.csv", "--kernel", "kmer", cwd=files, before=lambda: os.close(0))
    assert (status, err) == (2, "twosample: error: standard input is closed; name a file\n")
    assert ended(script, *COMMANDS["check"], cwd=files, before=lambda: os.close(0))[0] == 1


def test_stderr_is_closed(script, files):
    """There is nobody to tell; the status is the same, and no file takes the place of stderr."""
    closed = {"before": lambda: os.close(2), "stderr": None}
    assert ended(script, "check", "a.csv", "none.csv", cwd=files, **closed)[0] == 2
    status, out, _ = ended(script, *COMMANDS["check"], cwd=files, **closed)
    assert status == 1 and out.startswith("FAIL: ")
    assert json.loads(Path("o.json").read_text())["outcome"] == "fail"


def without_privileges():
    """What root may do besides others is taken from the process: writing where nobody may."""
    import ctypes

    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform != "linux", reason="needs the capabilities of Linux")
def test_a_folder_that_is_not_to_be_written(script, files):
    folder = files / "kept"
    folder.mkdir()
    (folder / "o.json").write_text("old")
    folder.chmod(0o555)
    before = set(folder.iterdir())
    for name in ("new.json", "o.json"):
        status, out, err = ended(
            script, "check", "a.csv", "b.csv", "--json", f"kept/{name}", cwd=files, before=without_privileges
        )
        assert status == 2 and one_line(err) and err.endswith(f"Permission denied: 'kept/{name}'\n")
    assert set(folder.iterdir()) == before and (folder / "o.json").read_text() == "old"
    for place in ("a.csv/o.json", "none/o.json"):
        status, out, err = ended(script, "check", "a.csv", "b.csv", "--json", place, cwd=files)
        assert (status, out) == (2, "") and one_line(err) and "there is no folder" in err


# ---- memory

# The limit is what is used so far, once everything is loaded and the files are read.
LITTLE_MEMORY = """
import resource, sys
import numpy as np, scipy.linalg, scipy.special, scipy.stats
from twosample.questions import two_samples
real = two_samples.test
def limited(*args, **options):
    np.ones((300, 300)) @ np.ones((300, 300))
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmSize:"))
    resource.setrlimit(resource.RLIMIT_AS, (int(line.split()[1]) * 1024, -1))
    return real(*args, **options)
two_samples.test = limited
from twosample.cli import main
main()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_too_little_memory_for_the_work(files):
    rng = np.random.default_rng(0)
    for name in ("c", "d"):
        pl.DataFrame(rng.normal(size=(60_000, 8)).round(3)).write_csv(f"{name}.csv")
    before = set(files.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, "check", "c.csv", "d.csv", "--json", "o.json"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[-1].startswith("twosample: error: ")  # libraries may have said something, too
    assert set(files.iterdir()) == before


@pytest.mark.parametrize("megabytes", [60, 100, *(pytest.param(one, marks=THOROUGH) for one in (150, 200, 300, 500))])
def test_too_little_memory_for_the_program(megabytes, script, files):
    """Compiled libraries end the process by a signal; what is never seen is the status of an answer or of a verdict."""
    size = megabytes << 20
    before = set(files.iterdir())
    try:
        status, out, _ = ended(
            script, *COMMANDS["check"], cwd=files, timeout=20,
            before=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:  # a library waits for a thread that it could not start
        status, out = 3, ""
    # 130: OpenBLAS interrupts the process itself where it cannot start its threads. 127: Python cannot be loaded.
    assert (status in (3, 127, 130) or status < 0) and out == ""
    assert set(files.iterdir()) == before


# ---- inputs that change


def test_an_input_that_shrinks_or_is_replaced_between_passes(files, refused, monkeypatch):
    from twosample.data.files import parquet

    rng = np.random.default_rng(0)
    for name, shift in (("x", 0.0), ("y", 0.3), ("z", 5.0)):
        pl.DataFrame({"u": rng.normal(shift, 1, 400), "v": rng.normal(0, 1, 400)}).write_parquet(f"{name}.parquet")
    pl.read_parquet("z.parquet").head(7).write_parquet("few.parquet")
    original = Path("x.parquet").read_bytes()
    real = parquet.Parquet.blocks
    monkeypatch.setattr(parquet, "_MOST_ROWS", 64)

    def changes(how):
        def blocks(self, columns=None):
            for frame in real(self, columns):
                yield frame
                how()

        return blocks

    changed = "'x.parquet' has changed while it was read; try again once it is written"
    hows = {
        lambda: os.replace("z.parquet", "x.parquet") if Path("z.parquet").exists() else None: changed,
        lambda: Path("x.parquet").write_bytes(Path("few.parquet").read_bytes()): changed,
        lambda: Path("x.parquet").write_bytes(original[:100]): changed,
        lambda: Path("x.parquet").unlink(missing_ok=True): "No such file or directory: 'x.parquet'",
    }
    for change, said in hows.items():
        with monkeypatch.context() as patch:
            patch.setattr(parquet.Parquet, "blocks", changes(change))
            assert refused("test", "x.parquet", "y.parquet", "--stream", "--json", "o.json") == said
        assert not Path("o.json").exists()
        Path("x.parquet").write_bytes(original)


def test_an_input_that_is_replaced_while_a_block_is_read(files, refused, monkeypatch):
    from twosample.data.files import parquet

    for name in "xyz":
        pl.read_csv("a.csv").select("u", "v").write_parquet(f"{name}.parquet")
    real, done = parquet.damage, []

    @contextmanager
    def then_replaced(part, name):
        with real(part, name):
            yield
        done.append(name)
        if len(done) == 3:  # after both files were looked at, and a block of the first was read
            os.replace("z.parquet", "x.parquet")

    monkeypatch.setattr(parquet, "damage", then_replaced)
    line = refused("test", "x.parquet", "y.parquet", "--stream")
    assert line == "'x.parquet' has changed while it was read; try again once it is written"
    assert len(done) == 3


def test_an_input_that_is_replaced_while_it_is_read_through_a_pipe(script, files):
    """What was read of the file that was named is what counts; the process keeps it open."""
    os.mkfifo("pipe.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "twosample", "check", "pipe.csv", "b.csv", "--columns", "u,v"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with open("pipe.csv", "w") as pipe:
        os.replace("a-plain.csv", "pipe.csv")
        pipe.write("u,v\n1,2\n")  # and the writer leaves in the middle
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "") and one_line(err)


# ---- two writers


@pytest.mark.parametrize("times", [2, pytest.param(6, marks=THOROUGH)])
def test_two_writers_of_one_output(times, script, files):
    """Both end well; the file is one of theirs, whole, and nothing else is left."""
    before = set(files.iterdir())
    for _ in range(times // 2):
        writers = [
            subprocess.Popen([sys.executable, "-m", "twosample", "check", *pair, "--json", "o.json", "--quiet"])
            for pair in (("a.csv", "b.csv"), ("a.csv", "a.csv"))
        ]
        assert [one.wait(120) for one in writers] == [1, 0]
        assert json.loads(Path("o.json").read_text())["outcome"] in ("pass", "fail")
        assert made(files, before) == ["o.json"]


# ---- faults of the program


@pytest.mark.parametrize(
    "error", [KeyError("x"), RecursionError("deep"), EOFError(), MemoryError(), BaseException("panic")]
)
def test_a_fault_is_said_in_a_line(error, run, files, monkeypatch):
    def broken(*args, **options):
        raise error

    monkeypatch.setattr("twosample.questions.two_samples.test", broken)
    status, out, err = run("check", "a.csv", "b.csv", "--json", "o.json")
    assert (status, out) == (3, "") and one_line(err)
    words = "the program has a fault, and could not do this: "
    assert ("not enough memory for these data" if isinstance(error, MemoryError) else words) in err
    assert isinstance(error, MemoryError) or type(error).__name__ in err
    assert not Path("o.json").exists()
