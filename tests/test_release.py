"""What a release says of itself: one version, the same dependencies and commands wherever they are written down."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import click
import pytest
import yaml

import twosample
from twosample.cli.commands import command_line
from twosample.common import versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
COMMAND = [sys.executable, "-m", "twosample"]


def test_one_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[([^]]+)\]", changelog, re.MULTILINE)
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/twosample/__init__.py"
    assert {str(CITATION["version"]), newest[1], RECIPE["context"]["version"]} == {twosample.__version__}
    said = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"twosample {twosample.__version__}\n"


def test_one_license_and_summary():
    about = RECIPE["about"]
    assert {CITATION["license"], about["license"], PROJECT["project"]["license"]} == {"BSD-3-Clause"}
    assert about["summary"] == PROJECT["project"]["description"]
    assert [about["license_file"]] == PROJECT["project"]["license-files"]


def test_what_is_too_old_is_what_pip_would_replace():
    needed = dict(line.split(">=") for line in PROJECT["project"]["dependencies"])
    assert versions.LOWEST.items() <= needed.items()


# Packages that conda-forge calls otherwise.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def requirements(lines):
    """Names and lowest versions, as conda writes them; an extra that has others needs what they need."""
    found = {}
    for line in lines:
        if line.startswith("twosample["):
            continue
        name, lowest = re.fullmatch(r"([\w-]+) *>= *([\w.]+)", line).groups()
        found[CONDA_NAMES.get(name, name)] = lowest
    return found


def test_conda_asks_for_what_pip_asks_for():
    extras = {name: lines for name, lines in PROJECT["project"]["optional-dependencies"].items() if name != "all"}
    cli = extras.pop("cli")
    asked, lowest = RECIPE["requirements"], RECIPE["context"]["python_min"]
    (python,) = (line for line in asked["run"] if line.startswith("python "))
    run = requirements(line for line in asked["run"] if line != python)
    assert run == requirements([*PROJECT["project"]["dependencies"], *cli])
    assert requirements(asked["run_constraints"]) == requirements(line for lines in extras.values() for line in lines)
    assert python == "python >=${{ python_min }}" and PROJECT["project"]["requires-python"] == f">={lowest}"
    assert requirements(PROJECT["build-system"]["requires"]).items() <= requirements(asked["host"][2:]).items()
    scripts = [f"{name} = {function}" for name, function in PROJECT["project"]["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == scripts


def test_all_means_all_extras():
    extras = dict(PROJECT["project"]["optional-dependencies"])
    (everything,) = extras.pop("all")
    assert everything == f"twosample[{','.join(sorted(extras))}]"


def test_classifiers_name_the_supported_versions_of_python():
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    versions = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    tried = WORKFLOW["jobs"]["all"]["strategy"]["matrix"]["python"]
    assert versions[0] == lowest == tried[0] and versions[-1] == tried[-1]


def steps(job):
    return [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_workflow_runs_what_the_local_check_runs():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    calls = [shlex.split(line) for line in re.findall(r"^make (.+)", script, re.MULTILINE)]
    targets = {call[0]: [word for word in call if "$" not in word] for call in calls}
    assert {"test", "test-slow", "lint", "demo"} <= set(targets)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    for target, call in targets.items():
        shown = subprocess.run(
            ["make", "--no-print-directory", "-n", "-o", ".venv/ready", *call],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        for line in shown:
            if line.startswith("mkdir"):
                continue
            settings = dict(re.findall(r"(\w+)=(\S+) ", line[: line.find(".venv/bin/")]))
            assert settings.items() <= WORKFLOW["env"].items()
            command = line[line.find(".venv/bin/") :].removeprefix(".venv/bin/").replace('"demo"', "demo")
            assert command in steps("all"), f"{target}: {command}"
    ready = (ROOT / "Makefile").read_text(encoding="utf-8").replace("--quiet --disable-pip-version-check ", "")
    installs = re.findall(r"\$\(BIN\)/(python -m pip install .*)", ready)
    assert installs == [step for step in steps("all") if "pip install" in step]


def test_the_workflow_covers_three_systems_and_the_oldest_dependencies():
    systems = WORKFLOW["jobs"]["all"]["strategy"]["matrix"]["os"]
    assert [system.partition("-")[0] for system in systems] == ["ubuntu", "macos", "windows"]
    assert any("--resolution lowest-direct" in step for step in steps("oldest"))
    for job in WORKFLOW["jobs"].values():
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])


@pytest.fixture(scope="module")
def man():
    """The script that writes the manual page."""
    spec = importlib.util.spec_from_file_location("man", ROOT / "packaging/man.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(
    tuple(map(int, metadata.version("click").split(".")[:2])) < (8, 2),
    reason="older versions of click word the help otherwise",
)
def test_the_manual_page_is_that_of_this_command(man):
    assert man.PAGE.read_text(encoding="utf-8") == man.page(), "stale; write it anew with: python packaging/man.py"


def test_the_manual_page_names_every_command_and_option(man):
    text = man.page().replace("\\-", "-")
    for name, command in command_line.commands.items():
        section = text.partition(f".SS twosample {name}\n")[2].partition(".SS ")[0]
        assert section
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert all(option in section for option in parameter.opts), (name, parameter.opts)


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_the_manual_page_can_be_shown(man):
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", str(man.PAGE)], capture_output=True, text=True, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("twosample test before.csv after.csv", "twosample gibbs [OPTIONS] A [B]", "--nan-policy [raise|omit]"):
        assert text in done.stdout


def test_text_in_a_manual_page_stays_text(man):
    assert man.roff(".so /etc/passwd\n'x \\n") == "\\&.so /etc/passwd\n\\&'x \\en"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell):
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("needs bash")
    done = subprocess.run(
        COMMAND, env={**os.environ, "_TWOSAMPLE_COMPLETE": f"{shell}_source"}, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert f"_TWOSAMPLE_COMPLETE={shell}_complete" in done.stdout
    assert re.search(r"^\s*(complete|compdef)\b.*\btwosample\b", done.stdout, re.MULTILINE)
    assert f"_TWOSAMPLE_COMPLETE={shell}_source" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "expected"), [("twosample gi", "gibbs"), ("twosample test --perm", "--permutations")]
)
def test_completion_knows_commands_and_options(words, expected):
    environment = {"_TWOSAMPLE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(COMMAND, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert done.stdout == f"plain,{expected}\n"
