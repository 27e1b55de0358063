"""How to run something again: a call of Python, or a command, as lines of text."""

from __future__ import annotations

import inspect
import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Call", "command_line", "python_call"]

# Values of a list that are written out.
_MOST_VALUES = 20


class Call(NamedTuple):
    """What was called."""

    lines: tuple[str, ...]  # which make the result and its page
    objects: tuple[str, ...] = ()  # options whose values are no plain ones: their names stand for them

    @property
    def note(self) -> str:
        """What to put in place of the names of objects."""
        if not self.objects:
            return ""
        *others, last = self.objects
        names = f"{', '.join(others)} and {last}" if others else last
        return f"{names} {'are' if others else 'is'} what the call had."


def python_call(name: str, given: inspect.BoundArguments, *, ending: str = '.report("report.html")') -> Call:
    """The call of a public function with the arguments that were given; data stand there by their names.

    Examples
    --------
    >>> given = inspect.signature(lambda x, y=None, *, rng=0: ...).bind([1.0, 2.0], [3.0, 4.0], rng=7)
    >>> python_call("test", given).lines
    ('import twosample as ts', 'ts.test(x, y, rng=7).report("report.html")')
    """
    words, objects = [], []
    for argument, value in given.arguments.items():
        parameter = given.signature.parameters[argument]
        plain = _is_plain(value)
        if parameter.kind is not parameter.KEYWORD_ONLY:
            if value is not parameter.default:
                words.append(repr(value) if isinstance(value, str) else argument)
        elif argument != "progress" and not (plain and _is_plain(parameter.default) and value == parameter.default):
            words.append(f"{argument}={_literal(value) if plain else argument}")
            objects += [] if plain else [argument]
    return Call(("import twosample as ts", f"ts.{name}({', '.join(words)}){ending}"), tuple(objects))


def command_line(arguments: Sequence[str]) -> Call:
    """The command `twosample` with these arguments.

    Examples
    --------
    >>> command_line(["test", "a b.csv", "c.csv"]).lines
    ("twosample test 'a b.csv' c.csv",)
    """
    return Call((shlex.join(["twosample", *arguments]),))


def _is_plain(value: object) -> bool:
    """Whether what `_literal` writes means the value in any program."""
    if isinstance(value, float | np.floating):
        return math.isfinite(value)
    if value is None or isinstance(value, str | bool | int | np.integer | np.bool_):
        return True
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return len(value) <= _MOST_VALUES and all(map(_is_plain, value))
    return type(value) is dict and len(value) <= _MOST_VALUES and all(map(_is_plain, [*value, *value.values()]))


def _literal(value: Any) -> str:
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_literal(key)}: {_literal(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    return repr(value)
