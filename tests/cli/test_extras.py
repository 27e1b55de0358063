"""The packages of the command line: without them it says how to get them, and the library does without."""

import subprocess
import sys

import pytest

from twosample.cli.extras import require
from twosample.errors import MissingExtraError

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""
ABSENT = "import sys\nfor name in {names!r}: sys.modules[name] = None\n"
CONSOLE_SCRIPT = (
    "from twosample.cli import main\nsys.argv = ['twosample', 'test', 'a.csv', 'b.csv']\nsys.exit(main())\n"
)
MODULE = "import runpy\nsys.argv = ['twosample']\nrunpy.run_module('twosample', run_name='__main__', alter_sys=True)\n"


@pytest.mark.parametrize(
    "names, without, start",
    [
        (["click"], BLOCKED, CONSOLE_SCRIPT),
        (["polars"], ABSENT, CONSOLE_SCRIPT),
        (["click", "polars"], ABSENT, MODULE),
        (["polars"], BLOCKED, MODULE),
    ],
    ids=["click, script", "polars, script", "click and polars, module", "polars, module"],
)
def test_without_its_packages_the_command_says_how_to_get_them(names, without, start):
    done = subprocess.run(
        [sys.executable, "-c", without.format(names=names) + start], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"twosample: error: the command line needs {names[0]}; install it with: pip install 'twosample[cli]'\n"
    )


OLD = "import sys, numpy\nnumpy.__version__ = '1.26.4'\n"
TOO_OLD = "twosample needs numpy 2 or newer, and 1.26.4 is installed; replace it with: pip install 'numpy>=2'"


@pytest.mark.parametrize("start", [CONSOLE_SCRIPT, MODULE], ids=["script", "module"])
def test_with_an_old_numpy_the_command_says_which_is_needed(start):
    done = subprocess.run([sys.executable, "-c", OLD + start], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"twosample: error: {TOO_OLD}\n")


@pytest.mark.parametrize("use", ["from twosample import test", "import twosample as ts; ts.Monitor", "test.ksample"])
def test_with_an_old_numpy_the_library_says_which_is_needed(use):
    use = use.replace("test.", "import twosample; twosample.")
    done = subprocess.run([sys.executable, "-c", OLD + use], capture_output=True, text=True, check=False)
    assert done.returncode and done.stderr.splitlines()[-1] == f"twosample.errors.OldPackageError: {TOO_OLD}"


def test_the_library_does_without_them():
    code = ABSENT.format(names=["click", "polars"]) + (
        "import twosample as ts, twosample.cli\nts.baselines, ts.datasets, ts.plots\n"
        "assert ts.test([1.0, 2.0, 4.0], [2.0, 3.0, 7.0]).prob_h1 > 0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_library_imports_neither():
    code = "import sys, twosample, twosample.cli; sys.exit(bool({'click', 'polars'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_require_imports_nothing():
    code = (
        "import sys; from twosample.cli.extras import require; require('plot', 'matplotlib', 'plot'); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(MissingExtraError, match=r"^gibbs needs blackjack; .*twosample\[mcmc\]"):
        require("gibbs", "blackjack", "mcmc")
