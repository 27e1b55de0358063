"""Wheel and sdist, tried where a user would have them: in clean environments, with pip and nothing else."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import twosample

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STEM = f"twosample-{twosample.__version__}"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
ROWS = "u,v\n" + "".join(f"{row % 7}.5,{row * row % 11}.25\n" for row in range(20))


def call(*command, folder, ok=True, **settings):
    """What a program prints, without what would lead it to this clone."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment | {name: str(value) for name, value in settings.items()},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert not ok or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """A folder with the sdist, and the wheel that was built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--outdir", folder, ROOT, folder=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    return dist / f"{STEM}-py3-none-any.whl"


class Environment:
    """A virtual environment with the wheel and some extras, and an empty folder to work in."""

    def __init__(self, folder, wheel, extras=""):
        venv.create(folder / "venv", with_pip=True)
        self.prefix, self.folder = folder / "venv", folder / "empty"
        self.folder.mkdir()
        self.python = self.prefix / SCRIPTS / "python"
        options = ["--quiet", "--disable-pip-version-check", "--prefer-binary"]
        call(self.python, "-m", "pip", "install", *options, f"{wheel}{extras}", folder=self.folder)

    def run(self, code):
        return call(self.python, "-c", code, folder=self.folder).stdout

    def command(self, *words, ok=True):
        return call(self.prefix / SCRIPTS / "twosample", *words, folder=self.folder, ok=ok)


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("bare"), wheel)


@pytest.fixture(scope="module")
def usual(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("usual"), wheel, "[cli,plot]")


def test_both_are_there_and_their_metadata_is_whole(dist, wheel):
    pytest.importorskip("twine")
    assert {path.name for path in dist.iterdir()} == {wheel.name, f"{STEM}.tar.gz"}
    call(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir(), folder=dist)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = message_from_bytes(archive.read(f"{STEM}.dist-info/METADATA"))
    assert {name.partition("/")[0] for name in names} == {"twosample", f"{STEM}.dist-info", f"{STEM}.data"}
    assert {"twosample/py.typed", f"{STEM}.dist-info/licenses/LICENSE"} <= names
    assert f"{STEM}.data/data/share/man/man1/twosample.1" in names
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= names
    assert metadata["Version"] == twosample.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_without_extras_it_imports_and_tests(bare):
    said = bare.run(
        "import twosample as ts; print(ts.__file__); print(ts.test([1.0, 2.0, 4.0, 3.0], [2.0, 3.0, 7.0, 9.0]).prob_h1)"
    )
    place, probability = said.split("\n")[:2]
    assert Path(place).is_relative_to(bare.prefix)
    assert 0 < float(probability) < 1
    for name in ("click", "polars", "matplotlib", "pandas"):
        assert bare.run(f"from importlib.util import find_spec; print(find_spec({name!r}))").strip() == "None"
    assert (bare.prefix / "share/man/man1/twosample.1").exists()


# For each extra what asks for it: Python, or words of the command. None: the wheel has nothing that does.
NEEDS = {
    "app": ["app"],
    "arviz": """
from twosample.paper.gibbs_result import GibbsResult
GibbsResult.to_arviz(object.__new__(GibbsResult))""",
    "chemistry": "open('a.pdb', 'w').close(); ts.chemistry.read_rings('a.pdb')",
    "cli": ["test", "a.csv", "b.csv"],
    "dask": "ts.test([1.0, 2.0, 4.0, 3.0], [2.0, 3.0, 7.0, 9.0], engine='dask')",
    "data": "ts.datasets.rings()",
    "excel": ["test", "a.xlsx", "b.xlsx"],
    "mcmc": "ts.gibbs([1.0, 2.0, 4.0, 3.0], [2.0, 3.0, 7.0, 9.0], points=3)",
    "plot": "ts.test([1.0, 2.0, 4.0, 3.0], [2.0, 3.0, 7.0, 9.0]).plot()",
    "report": "ts.test([1.0, 2.0, 4.0, 3.0], [2.0, 3.0, 7.0, 9.0]).report('answer.html')",
}


def test_every_extra_is_tried():
    assert set(NEEDS) == set(PROJECT["optional-dependencies"]) - {"all"}


@pytest.mark.parametrize("extra", [name for name, needs in NEEDS.items() if needs is not None])
def test_a_missing_extra_gives_its_install_line(extra, request):
    needs = NEEDS[extra]
    line = f"install it with: pip install 'twosample[{extra}]'"
    if isinstance(needs, list):
        environment = request.getfixturevalue("bare" if extra == "cli" else "usual")
        for name in ("a", "b"):
            with zipfile.ZipFile(environment.folder / f"{name}.xlsx", "w") as book:
                book.writestr("[Content_Types].xml", name)
        done = environment.command(*needs, ok=False)
        assert (done.returncode, done.stdout) == (2, "")
        (said,) = done.stderr.splitlines()
        assert said.endswith(line)
        return
    said = request.getfixturevalue("bare").run(f"""
import warnings, twosample as ts
warnings.simplefilter("ignore")
try:
    exec({needs!r})
except ts.errors.MissingExtraError as error:
    print(error)
""")
    assert said.strip().endswith(line)


def test_with_cli_and_plot_the_demo_works(usual):
    said = usual.command("demo")
    assert said.stderr == ""
    assert said.stdout.count("P(different | data)") == 2
    for name in ("gaussian", "rings"):
        assert (usual.folder / f"twosample-demo-{name}.png").read_bytes().startswith(b"\x89PNG")


def test_with_cli_and_plot_files_are_tested(usual):
    for name in ("a.csv", "b.csv"):
        (usual.folder / name).write_text(ROWS)
    said = usual.command("test", "a.csv", "b.csv", "--plot", "answer.svg", "--json", "answer.json")
    assert "x is 'a.csv', y is 'b.csv'" in said.stdout
    assert "<svg" in (usual.folder / "answer.svg").read_text(encoding="utf-8")


def test_the_sdist_has_tests_that_run(dist, tmp_path):
    with tarfile.open(dist / f"{STEM}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    inside = tmp_path / STEM
    found = {}
    for folder in (inside, ROOT):
        collected = pytest_in(folder, "--collect-only", "-q", "tests").stdout.splitlines()
        found[folder] = {line for line in collected if "::" in line}
    assert found[inside] == found[ROOT] != set()
    pytest_in(inside, "-q", "tests/test_release.py", "tests/common/test_words.py")


def pytest_in(folder, *words):
    """Run pytest on the sources in that folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return call(*command, folder=folder, PYTHONPATH=folder / "src")
