"""From a result to a page: the template of its kind, filled with what `two_samples` or `many_columns` says of it."""

from __future__ import annotations

import html
import platform
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.records import write_whole
from twosample.errors import InputError, InputTypeError, MissingExtraError
from twosample.show.report import (
    columns_page,
    groups_page,
    independence_page,
    objects_page,
    stream_page,
    two_samples_page,
)
from twosample.show.report.paragraph import CITATION, version

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["head", "render", "script", "style", "write"]

_FOLDER = Path(__file__).parent
_ENDINGS = (".html", ".htm")


def render(result: Any, robustness: Any = None) -> str:
    """The page of a result as text.

    Parameters
    ----------
    result
        What `twosample.test`, `twosample.test_each` or `twosample.independence` returned, or a `twosample.Monitor`.
    robustness
        Of the former, what its `robustness()` returned, if that is to be shown: a `sentence`, and `curves`, each with
        label, values, log_bf10 and default.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.
    """
    environment = _environment("report")
    if hasattr(result, "by_parameter"):
        name, content = "objects", objects_page.page(result)
    elif hasattr(result, "by_subset"):
        name, content = "two_samples", two_samples_page.page(result, robustness)
    elif hasattr(result, "discoveries"):
        name, content = "many_columns", columns_page.page(result)
    elif hasattr(result, "history"):
        name, content = "streams", stream_page.page(result)
    elif hasattr(result, "by_pair"):
        name, content = "dependence", independence_page.page(result)
    elif hasattr(result, "assignments"):
        name, content = "several_groups", groups_page.page(result)
    else:
        raise InputTypeError(
            f"result: expected what test or test_each returns, or a Monitor, got {type(result).__name__}",
            argument="result",
        )
    # Style and script are our own files, not data.
    own = {"style": style(), "script": script(), "versions": _versions(), "citation": CITATION}
    return environment.get_template(f"{name}.html.j2").render(**content, **own)


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
    if hasattr(result, "by_parameter"):
        content = objects_page.head(result)
    elif hasattr(result, "by_subset"):
        content = two_samples_page.head(result)
    elif hasattr(result, "discoveries"):
        content = columns_page.head(result)
    elif hasattr(result, "crossed_at"):
        content = stream_page.head(result)
    elif hasattr(result, "by_pair"):
        content = independence_page.head(result)
    elif hasattr(result, "assignments"):
        content = groups_page.head(result)
    elif hasattr(result, "group"):
        content = columns_page.groups_head(result)
    else:
        content = two_samples_page.sampled_head(result)
    return environment.get_template("head.html.j2").render(**content)


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
