"""Pages say what is so: their examples run and print what is shown, and their links lead somewhere."""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

import twosample as ts
from twosample.cli.commands import command_line, run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)])
DATA = Path(os.environ.get("TWOSAMPLE_DATA") or ROOT.parent / "shared/data").resolve()
# Pages whose examples take more than ten seconds.
SLOW = {"docs/guide/gibbs.md"}

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence) *$", re.MULTILINE | re.DOTALL)
# What a comment just before a block says of it:
#   <!-- needs: ray -->            the block is left out where this module is not installed; the-data-of-the-paper is
#                                  left out where its files are not at hand
#   <!-- warns: DatesWarning -->   it warns
REMARK = re.compile(r"<!-- (needs|warns): (.*?) -->\s*\Z")
# Blocks that are not run: what they show is no program, or makes the page (directives of the site).
SHOWN = re.compile(r"(text|json|toml|yaml|make|html|\{(?!code-cell).*\}.*)?")
# Commands that are shown but not run here: they install, build, use the network or the shell, or wait for a person.
NOT_RUN = re.compile(
    r"(python3? -m )?(pip|venv)\b|(make|git|cd|man|source|eval|open|xdg-open|ssh|mpiexec|conda|pixi|uv)\b"
    r"|python -m (experiments|benchmarks)\b|\. |_TWOSAMPLE_COMPLETE=|twosample app\b"
)
IN_A_SHELL = ("twosample", "python", "cat", "head", "ls", "wc")
EXPECTED = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@dataclass
class Block:
    """A fenced block of a page."""

    info: str
    body: str
    line: int
    follows: bool  # the block before it, with nothing between them
    remarks: dict[str, str] = field(default_factory=dict)


def blocks(text):
    """The fenced blocks of a page, with the remarks before them."""
    end = -1
    for found in FENCE.finditer(text):
        before, remarks = text[: found.start()], {}
        follows, end = end >= 0 and not text[end : found.start()].strip(), found.end()
        while remark := REMARK.search(before):
            remarks[remark[1]] = remark[2]
            before = before[: remark.start()]
        yield Block(found["info"].strip(), found["body"], text.count("\n", 0, found.start()) + 2, follows, remarks)


def run_page(text, name):
    """Run all blocks of a page in order, in this folder and one namespace; returns what could not be run, and why."""
    module = sys.modules["page"] = ModuleType("page")
    printed, left_out = None, []
    for block in blocks(text):
        place = f"{name}:{block.line}"
        missing = [need for need in block.remarks.get("needs", "").split() if not at_hand(need)]
        if missing:
            left_out.append(f"line {block.line} needs {', '.join(missing)}")
            printed = None
        elif block.info.startswith("{code-cell}") or block.info == "python":
            printed = run_python(block, module, place)
        elif block.info == "console":
            run_console(block, place)
            printed = None
        elif block.info == "text" and block.follows and printed is not None:
            compare(block.body, printed, place)
            printed = None
        else:
            assert SHOWN.fullmatch(block.info), f"{place}: what to do with a block of {block.info!r}?"
            printed = None
    return left_out


def at_hand(need):
    return DATA.is_dir() if need == "the-data-of-the-paper" else importlib.util.find_spec(need) is not None


def run_python(block, module, place):
    lines = ["" if line.startswith(":") else line for line in block.body.split("\n")]
    code = compile("\n" * (block.line - 1) + "\n".join(lines), place.partition(":")[0], "exec")
    expected = [getattr(ts.errors, name) for name in block.remarks.get("warns", "").split()]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.ExitStack() as stack:
        for category in expected:
            stack.enter_context(pytest.warns(category))
        exec(code, module.__dict__)
    return printed.getvalue()


def run_console(block, place):
    """Each line with a prompt is a command, the lines below it what it prints; a backslash continues a command.

    A command is refused, with status 2, where the page shows its error message, and nowhere else.
    """
    first, *parts = re.split(r"^\$ ", block.body.replace("\\\n", " "), flags=re.MULTILINE)
    assert not first.strip() and parts, f"{place}: a console block starts with '$ '"
    for part in parts:
        command, _, shown = part.partition("\n")
        if NOT_RUN.match(command):
            continue
        status, printed = run_command(command, place)
        expected = 2 if shown.startswith("twosample: error: ") else int(shown.startswith("FAIL: "))
        assert status == expected, f"{place}: {command} ends with {status}:\n{printed}"
        if shown.strip():
            compare(shown, printed, f"{place}: {command}")


def run_command(command, place):
    words = shlex.split(command, comments=True)
    assert words[0] in IN_A_SHELL, f"{place}: there is no rule for {words[0]}"
    if words[0] == "twosample" and not re.search(r"[|<>&;]", re.sub(r"'[^']*'|\"[^\"]*\"", "", command)):
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = run(words[1:])
        return status, output.buffer.getvalue().decode()
    if os.name == "nt":
        pytest.skip("needs a POSIX shell")
    script = re.sub(r"\btwosample (?=[a-z-])", f"{shlex.quote(sys.executable)} -m twosample ", command)
    script = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", script)
    done = subprocess.run(script, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def compare(expected, printed, place):
    """As doctest does, where ... stands for anything and blanks for any blanks."""
    checker = doctest.OutputChecker()
    if not checker.check_output(expected, printed, EXPECTED):
        difference = checker.output_difference(doctest.Example("", expected), printed, EXPECTED | doctest.REPORT_NDIFF)
        pytest.fail(f"{place}: the page shows something else\n{difference}", pytrace=False)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty folder to work in, and no windows."""
    import matplotlib

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TWOSAMPLE_DATA", str(DATA))
    monkeypatch.setitem(sys.modules, "page", None)
    with matplotlib.rc_context({"backend": "agg"}):
        yield tmp_path
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=name_of(page), marks=[pytest.mark.slow] * (name_of(page) in SLOW)) for page in PAGES],
)
def test_examples_run_and_print_what_is_shown(page, elsewhere):
    left_out = run_page(page.read_text(encoding="utf-8"), name_of(page))
    if left_out:
        pytest.skip(f"all else ran, but {'; '.join(left_out)}")


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```",
        "```{code-cell} python\n:tags: [remove-input]\n\nraise ValueError\n```",
        "```python\nprint('a  b')\n```\n\n```text\na c\n```",
        "```console\n$ twosample test nowhere.csv\n```",
        "```console\n$ twosample --version\ntwosample 99\n```",
        "```console\n$ twosample --version | cat\ntwosample 99\n```",
        "```console\n$ sudo rm nothing\n```",
        "```console\ntwosample --version\n```",
        "```console\n$ twosample --version\ntwosample: error: ...\n```",
        "<!-- warns: DatesWarning -->\n```python\n1 + 1\n```",
        "```ruby\nputs 1\n```",
    ],
)
def test_a_wrong_page_fails(text, elsewhere):
    with pytest.raises((Exception, pytest.fail.Exception)):
        run_page(text, "page.md")


def test_a_right_page_passes(elsewhere):
    text = """
```python
import pathlib
print("some   text, then more")
pathlib.Path("rows.csv").write_text("a\\n1\\n")
```

```text
some text, ... more
```

<!-- needs: no_such_module -->
```python
import no_such_module
```

```console
$ twosample test rows.csv \\
    nowhere.csv
twosample: error: ...
$ make nothing
$ head -1 rows.csv | cat
a
```

Words.

```text
anything
```

````text
```python
raise ValueError
```
````
"""
    assert run_page(text, "page.md") == ["line 14 needs no_such_module"]


# Links.

LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^]]+\]: (\S+)", re.MULTILINE)


def anchors(page):
    """The addresses of the headings of a page, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        found.add(next(name for number in range(99) if (name := f"{slug}-{number}" if number else slug) not in found))
    return found


def broken(page, text):
    """Links of a page to files and headings that are not there."""
    for link in ("".join(found) for found in LINK.findall(FENCE.sub("", text))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    assert list(broken(page, page.read_text(encoding="utf-8"))) == []


def test_broken_links_are_found():
    text = (
        "[a](CHANGELOG.md) [b](nowhere.md)\n[c](CHANGELOG.md#added) [d](CHANGELOG.md#nothing) [e](https://example.org)"
    )
    assert list(broken(ROOT / "README.md", text)) == ["nowhere.md", "CHANGELOG.md#nothing"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_code_are_in_blocks_that_are_run(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^ +```.*$", text, re.MULTILINE) == []
    assert (
        re.findall(r"^(?: {4}|\t)(?:twosample|pip|python|make|git|import) .*$", FENCE.sub("", text), re.MULTILINE) == []
    )


# The reference.


def public_names():
    for name in ts.__all__:
        value = getattr(ts, name)
        if isinstance(value, ModuleType):
            yield from (f"{name}.{inner}" for inner in value.__all__)
        else:
            yield name


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^ +([\w.]+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(set(listed))
    assert set(public_names()) <= set(listed)


def test_every_command_is_in_the_reference():
    headings = re.findall(r"^## (.*)$", (DOCS / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [f"twosample {name}" for name in command_line.commands]
