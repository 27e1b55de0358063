"""From a result to a page: the template that the page of its kind names, filled with what that page says."""

from __future__ import annotations

import html
import platform
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.records import write_whole
from twosample.errors import InputError, InputTypeError, MissingExtraError
from twosample.show.report import charts
from twosample.show.report.paragraph import CITATION, version

if TYPE_CHECKING:
    from jinja2 import Environment

    from twosample.show.content import Facts

__all__ = ["head", "head_of", "paragraph", "render", "script", "style", "write"]

_FOLDER = Path(__file__).parent
_ENDINGS = (".html", ".htm")
_HEAD_ROWS = 5


def render(result: Any, robustness: Any = None) -> str:
    """The page of a result as text.

    Parameters
    ----------
    result
        A result, or a `twosample.Monitor`: what has `facts()`, `tables()` and `panels()`, and names its `page`.
    robustness
        What its `robustness()` returned, if that is to be shown: a `sentence`, and `curves`, each with
        label, values, log_bf10 and default.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.
    """
    environment = _environment("report")
    page = _page_of(result)
    # Style and script are our own files, not data.
    own = {"style": style(), "script": script(), "versions": _versions(), "citation": CITATION}
    content = {**head_of(result), "paragraph": page.paragraph(result), "robustness": None, **page.page(result)}
    if robustness is not None:
        charted = [charts.sensitivity(one.label, one.values, one.log_bf10, one.default) for one in robustness.curves]
        content["robustness"] = {"sentence": robustness.sentence, "charts": charted}
    return environment.get_template(f"{page.TEMPLATE}.html.j2").render(**content, **own)


def paragraph(result: Any) -> str:
    """The answer as a paragraph for a paper."""
    return str(_page_of(result).paragraph(result))


def head_of(result: Any) -> dict[str, Any]:
    """What the head of the page says: the facts, and the first rows of the main table."""
    facts: Facts = result.facts()
    name, table = next(iter(result.tables().items()), ("facts", None))
    heading: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = []
    if table is not None and name != "facts" and len(table) > 1:
        heading, rows = table.shown(table.printed or _HEAD_ROWS, brief=True)
    return {
        "title": facts.title,
        "verdict": facts.headline or facts.verdict,
        "answer": facts.answer,
        "warnings": facts.warnings,
        "facts": facts.large,
        "size": facts.remark,
        "data": " · ".join([facts["data"], *([f"model {facts['model']}"] if facts["model"] else [])]),
        "head": heading,
        "rows": rows,
        "more": len(table) - len(rows) if table is not None and rows else 0,
    }


def _page_of(result: Any) -> ModuleType:
    """The module that says what the page of a result shows, which the result names."""
    name = getattr(result, "page", None)
    if not isinstance(name, str):
        raise InputTypeError(f"result: expected a result or a Monitor, got {type(result).__name__}", argument="result")
    return import_module(f"{__package__}.{name}")


def style() -> str:
    """The style of the page."""
    return (_FOLDER / "style.css").read_text("utf-8")


def script() -> str:
    """The script of the page, as it stands there: a policy of which scripts may run can name it."""
    return f"\n{(_FOLDER / 'script.js').read_text('utf-8')}"


def write(result: Any, path: str | Path, robustness: Any = None) -> Path:
    """Write the page of a result to a file, whole or not at all; returns its path."""
    target = Path(path)
    if target.suffix.lower() not in _ENDINGS:
        raise InputError(f"path: {str(path)!r} must end in .html", argument="path")
    page = render(result, robustness).encode()
    write_whole(target, lambda file: file.write(page))
    return target


def head(result: Any) -> str:
    """The head of the page as a piece of HTML with a style of its own, for notebooks; the summary without Jinja2."""
    try:
        environment = _environment("_repr_html_")
    except MissingExtraError:
        return f"<pre>{html.escape(result.summary())}</pre>"
    return environment.get_template("head.html.j2").render(**head_of(result))


def _versions() -> dict[str, str]:
    return {"twosample": version(), "Python": platform.python_version(), "NumPy": np.__version__}


def _environment(caller: str) -> Environment:
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingExtraError(caller, "jinja2", "report") from None
    return _loaded()


@cache
def _loaded() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
