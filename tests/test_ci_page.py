"""What the page about CI says: its tests pass, its workflows are YAML, and their commands are known."""

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from twosample.cli.commands import command_line
from twosample.results.rules import NAMES

PAGE = (Path(__file__).parents[1] / "docs/guide/ci.md").read_text(encoding="utf-8")


def parsed(name, args):
    """The arguments as the command takes them, under the settings of the group, which commands remember."""
    top = click.Context(command_line, **command_line.context_settings)
    return command_line.commands[name].make_context(name, args, parent=top)


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.M | re.S)


def test_the_tests_of_the_page_pass(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(r"{code-cell} python"):
        code = "\n".join(line for line in block.splitlines() if not line.startswith(":"))
        exec(compile(code, "ci.md", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()


def test_the_commands_are_known():
    workflows = [yaml.safe_load(block) for block in blocks("yaml")]
    lines = [step["run"] for step in workflows[0]["jobs"]["drift"]["steps"] if "twosample check" in step.get("run", "")]
    lines += [line for line in workflows[1]["drift"]["script"] if line.startswith("twosample ")]
    assert len(lines) == 2
    for line in lines:
        name, *args = shlex.split(line)[1:]
        parsed(name, args)


def test_every_name_is_in_the_table():
    table = PAGE.split("| name | what it is |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) >= set(NAMES)
    assert 'prob_column["dose"]' in table


def test_an_unknown_option_would_be_found():
    with pytest.raises(click.NoSuchOption):
        parsed("check", ["a", "b", "--fail-when", "x"])
