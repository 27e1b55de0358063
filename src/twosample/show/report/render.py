"""From a result to a page or a paragraph: its facts, with what the function that it names as its `page` adds."""

from __future__ import annotations

import html
import platform
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.records import write_whole
from twosample.common.words import odds_in_words, printable
from twosample.errors import InputError, InputTypeError, MissingExtraError
from twosample.show import question_panels
from twosample.show.numbers import is_or_sign
from twosample.show.report import pages
from twosample.show.report.page import Page, chart_section, fitting
from twosample.show.report.panel_charts import of_panel

if TYPE_CHECKING:
    from jinja2 import Environment

    from twosample.show.content import Facts

__all__ = ["head", "head_of", "paragraph", "render", "script", "style", "write"]

_FOLDER = Path(__file__).parent
_ENDINGS = (".html", ".htm")
_HEAD_ROWS = 5
_CITATION = (
    "Q. Zhang, V. Wild, S. Filippi, S. Flaxman and D. Sejdinovic (2022). Bayesian Kernel Two-Sample Testing. "
    "Journal of Computational and Graphical Statistics."
)
_LEFT_OUT = 5


def render(result: Any, robustness: Any = None) -> str:
    """The page of a result, or of what else has `facts()`, `tables()` and `panels()` and names its `page`, as text.

    It shows what `robustness()` returned, if that is given.
    """
    environment = _environment("report")
    page, top = _page_of(result), head_of(result)
    learnt = list(page.learnt)
    if robustness is not None:
        charted = list(map(of_panel, question_panels.sensitivity(robustness.curves)))
        title = "Does the answer depend on the prior?"
        learnt.insert(0, chart_section("robustness", title, charted, lead=robustness.sentence))
    content = {
        **{name: value for name, value in vars(page).items() if name not in ("compared", "found", "more")},
        **top,
        **page.more,
        "sections": [*page.sections, *learnt],
        "call": getattr(result, "made_by", None),
        "warnings": [*top["warnings"], *page.warnings],
        "left_out": page.left_out or _left_out(result),
        "notes": list(map(printable, result.facts().notes)),
        "paragraph": _paragraph(result, page),
        "json": fitting(result.to_dict() if page.content is None else page.content) if page.content != {} else None,
    }
    # Style and script are our own files, not data.
    own = {"style": style(), "script": script(), "versions": _versions(), "citation": _CITATION}
    return environment.get_template("page.html.j2").render(**content, **own)


def paragraph(result: Any) -> str:
    """The answer as a paragraph for a paper."""
    return _paragraph(result, _page_of(result))


def _paragraph(result: Any, page: Page) -> str:
    """What was compared, the verdict with its numbers, and what the page adds."""
    facts: Facts = result.facts()
    numbers = [f"{fact.label} {is_or_sign(fact.value)}{fact.detail}" for fact in facts.lines if fact.large]
    if hasattr(result, "prior_odds"):
        numbers.append(f"prior odds of {odds_in_words(result.prior_odds)}")
    verdict = (facts.headline or facts.verdict).removesuffix(".")
    left_out = [f"{name} ({why})" for name, why in _left_out(result)]
    more = f" and {len(left_out) - _LEFT_OUT} more" if len(left_out) > _LEFT_OUT else ""
    said = [
        page.compared,
        f"Result: {verdict} ({'; '.join(numbers)})." if numbers else f"Result: {verdict}.",
        *page.found,
        getattr(result, "disagreement", None),
        f"Left out: {', '.join(left_out[:_LEFT_OUT])}{more}." if left_out else "",
        f"Computed with twosample {_versions()['twosample']}. Reference: {_CITATION}",
    ]
    return " ".join(filter(None, said))


def _left_out(result: Any) -> list[tuple[str, str]]:
    return [(printable(one.column), one.reason) for one in getattr(result, "left_out", ())]


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


def _page_of(result: Any) -> Page:
    """What the page of a result says beside its facts, by the function that the result names."""
    name = getattr(result, "page", None)
    if not isinstance(name, str):
        raise InputTypeError(f"result: expected a result or a Monitor, got {type(result).__name__}", argument="result")
    found: Page = getattr(pages, name)(result)
    return found


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
    package = import_module("twosample")
    return {"twosample": str(package.__version__), "Python": platform.python_version(), "NumPy": np.__version__}


def _environment(caller: str) -> Environment:
    try:
        return _loaded()
    except ImportError:
        raise MissingExtraError(caller, "jinja2", "report") from None


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
