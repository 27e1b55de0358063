"""Prints every message of the package, with the place it is made at: python -m tests.messages > messages.txt.

What is between braces is filled in when the message is made. Texts that are no sentences (names, formats) are left out.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "twosample"
FEWEST_WORDS = 2


def text_of(node: ast.AST) -> str | None:
    """A literal with what is filled in between braces; None for what is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (
            one.value if isinstance(one, ast.Constant) else "{" + ast.unparse(one.value) + "}" for one in node.values
        )
        return "".join(map(str, parts))
    return None


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each literal of a module that is no docstring, and holds words."""
    tree = ast.parse(path.read_text("utf-8"))
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):  # docstrings, and strings that say what an attribute is
            left_out |= {one.value for one in body if isinstance(one, ast.Expr)}
        if isinstance(node, ast.JoinedStr):
            left_out |= set(ast.walk(node)) - {node}
    for node in ast.walk(tree):
        text = None if node in left_out else text_of(node)
        if text is not None and len(text.split()) >= FEWEST_WORDS:
            yield node.lineno, text


def every() -> Iterator[tuple[str, str]]:
    """The place and the text of every message, module by module."""
    for path in sorted(SOURCE.rglob("*.py")):
        for line, text in messages(path):
            yield f"{path.relative_to(SOURCE)}:{line}", text


if __name__ == "__main__":
    for place, text in every():
        print(f"{place}: {text!r}")
