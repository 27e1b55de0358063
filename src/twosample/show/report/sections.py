"""What the pages of all results have in common: JSON that is safe within a page, and the table of all columns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from twosample.common.arrays import Array
from twosample.common.words import printable
from twosample.models import PRESETS
from twosample.show.content import DataTable
from twosample.show.report import charts
from twosample.show.report.paragraph import is_or_sign
from twosample.show.report.svg import Chart

__all__ = [
    "MOST_PICTURES",
    "call_in_words",
    "chart_section",
    "embedded",
    "fitting",
    "options_of_all",
    "table_of_columns",
    "table_section",
]

# Columns that have a picture and a line in the page itself.
MOST_PICTURES = 50
# Bytes of the result as JSON, and of the table of all columns: a page stays below a megabyte.
_MOST_JSON, _MOST_TABLE = 400_000, 780_000


def embedded(content: Any) -> str:
    r"""JSON that can stand within a script element, whatever the names in it.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fitting(content: Any) -> str | None:
    """The same, or None where that is too large for a page."""
    text = embedded(content)
    return text if len(text) <= _MOST_JSON else None


def table_of_columns(
    names: Iterable[str], log_bf10: Array, auc: Array, ways: Iterable[str], **more: Any
) -> tuple[str, int]:
    """All columns for the script, sorted by evidence and to four digits, and how many of them there is room for.

    Examples
    --------
    >>> import numpy as np
    >>> table_of_columns(["a"], np.array([1.23456]), np.array([0.5]), ["larger in y"], share=0.5)
    ('{"share":0.5,"ways":["larger in y"],"name":["a"],"log_bf10":[1.235],"auc":[0.5],"way":[0]}', 1)
    """
    shown = [printable(name) for name in names]
    said = list(ways)
    kinds = list(dict.fromkeys(said))
    place = {words: number for number, words in enumerate(kinds)}
    evidence = [float(f"{value:.4g}") for value in log_bf10.tolist()]
    sizes = [None if value != value else round(value, 3) for value in auc.tolist()]
    count = len(shown)
    while True:
        content = {
            **more,
            "ways": kinds,
            "name": shown[:count],
            "log_bf10": [int(value) if value == int(value) else value for value in evidence[:count]],
            "auc": sizes[:count],
            "way": [place[words] for words in said[:count]],
        }
        text = embedded(content)
        if len(text) <= _MOST_TABLE:
            return text, count
        count = int(count * min(0.95, _MOST_TABLE / len(text)))


def table_section(identity: str, table: DataTable, most: int = MOST_PICTURES, note: str = "") -> dict[str, Any]:
    """A section of the page with the first rows of a table, and bars beside probabilities.

    Examples
    --------
    >>> table = DataTable("Columns", {"column": "column", "prob": "P(differs)"}, [("dose", 0.9)] * 3)
    >>> section = table_section("columns", table, most=2)
    >>> section["head"], section["note"]
    (('column', 'P(differs)'), 'The first 2 of 3 rows.')
    """
    head, texts = table.shown(most)
    names = list(table.columns)
    rows = []
    for values, cells in zip(table.rows, texts, strict=False):
        row = []
        for name, heading, value, text in zip(names, head, values, cells, strict=False):
            kind = "text" if isinstance(value, str | tuple) else "number"
            bar = ""
            if name.startswith("prob") or name == "posterior":
                kind, bar = "prob", charts.probability_bar(float(value), f"{heading} {is_or_sign(text)}")
            row.append((kind, text, bar))
        rows.append(row)
    more = f"The first {len(rows):,} of {len(table):,} rows." if len(table) > len(rows) else ""
    words = " ".join(filter(None, (note or table.note, more)))
    return {"identity": identity, "title": table.title, "head": head, "rows": rows, "note": words}


def chart_section(identity: str, title: str, shown: list[Chart], note: str = "") -> dict[str, Any]:
    """A section of the page with pictures."""
    return {"identity": identity, "title": title, "charts": shown, "note": note}


def options_of_all(result: Any) -> dict[str, Any]:
    """The options that the tests have in common and that are not the default ones."""
    found: dict[str, Any] = {}
    if PRESETS.get(result.model.name) != result.model:
        found["model"] = "model"
    elif result.model.name != "adaptive":
        found["model"] = result.model.name
    if result.paired:
        found["paired"] = True
    return found


def call_in_words(function: str, options: dict[str, Any], other: str = "y") -> str:
    """The call that makes a result, with the options that are not the default ones.

    Examples
    --------
    >>> call_in_words("test", {"paired": True})
    'ts.test(x, y, paired=True)'
    """
    said = [
        f"{name}={value if name == 'model' and value == 'model' else repr(value)}" for name, value in options.items()
    ]
    return f"ts.{function}({', '.join(['x', other, *said])})"
