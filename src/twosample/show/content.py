"""What every result offers and every output renders: facts, tables and panels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from twosample.common.arrays import Array
from twosample.common.frames import FrameKind, to_frame
from twosample.common.words import aligned, log_bf10_text, printable, probability_in_words, shortened

__all__ = ["DataTable", "Fact", "Facts", "Mark", "Panel", "cell_text", "text_of_facts", "text_of_table"]

# Label and value of a fact, and rows of a table, on a terminal.
_LABEL_WIDTH = 21
_PRINTED_ROWS = 10
_LONGEST_CELL = 60
# Columns of a table that hold probabilities, and those that say how rows differ, which is shown where that is likely.
_PROBABILITIES = ("prob", "prob_h1", "prob_same", "prob_beyond_rope", "posterior", "q", "probability")
_WAYS = ("words", "direction", "size")
# Columns of our own words, which are not cut.
_WORDS = (*_WAYS, "verdict")
_NOTHING = "–"


class Fact(NamedTuple):
    """One line of an answer."""

    label: str  # empty where it goes on with the line before
    value: str
    detail: str = ""  # what follows the value where there is room for a line: an interval, how it was found
    large: bool = False  # whether it is one of the few numbers at the head of a page


@dataclass(frozen=True)
class Facts:
    """An answer in words and numbers.

    Examples
    --------
    >>> facts = Facts("a and b", "They differ.", (Fact("log BF10", "+3.20", large=True), Fact("data", "20 rows")))
    >>> facts["data"], facts.large, [fact.label for fact in facts]
    ('20 rows', [('log BF10', '+3.20')], ['log BF10', 'data'])
    """

    title: str  # what was compared
    verdict: str  # the answer in one sentence
    lines: tuple[Fact, ...]  # in the order in which they are read
    headline: str = ""  # the verdict in a few words, where it is long
    answer: str = ""  # once more, as a probability and in a whole sentence
    remark: str = ""  # what to make of the size of a difference, or of the numbers
    warnings: tuple[str, ...] = ()  # sentences to be read with the verdict
    notes: tuple[str, ...] = ()  # a sentence for everything that was dropped or warned about

    def __iter__(self) -> Iterator[Fact]:
        """Labels and values, in the order in which they are read."""
        return iter(self.lines)

    def __getitem__(self, label: str) -> str:
        """Return the value with this label; empty where there is none."""
        return next((fact.value for fact in self.lines if fact.label == label), "")

    @property
    def large(self) -> list[tuple[str, str]]:
        """Label and value of the few numbers at the head of a page."""
        return [(fact.label, fact.value) for fact in self.lines if fact.large]


@dataclass(frozen=True)
class DataTable:
    """A table of plain values.

    Examples
    --------
    >>> table = DataTable("Columns", {"column": "column", "log_bf10": "log BF10"}, [("dose", 3.2), ("age", -1.0)])
    >>> table.shown()
    (('column', 'log BF10'), [('dose', '+3.20'), ('age', '-1.00')])
    """

    title: str
    columns: Mapping[str, str]  # the name of each, with its heading
    rows: Sequence[tuple[Any, ...]]  # a value for each column: numbers, texts, None, or tuples of texts
    note: str = ""  # a sentence on how to read it
    brief: tuple[str, ...] = ()  # names of the columns that a short form shows; all where it is empty
    printed: int = 0  # how many rows a summary shows
    # By the name of a column, a function of a row (its values by name) that writes the cell, where the value and the
    # name of the column do not say how.
    texts: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def shown(self, most: int | None = None, *, brief: bool = False) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings, and the first rows as texts."""
        wanted = self.brief if brief and self.brief else tuple(self.columns)
        rows = [
            tuple(self.texts[name](row) if name in self.texts else cell_text(name, row[name], row) for name in wanted)
            for row in (dict(zip(self.columns, values, strict=False)) for values in self.rows[:most])
        ]
        return tuple(self.columns[name] for name in wanted), rows

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """The table as a data frame of "pandas", "polars" or "pyarrow"; numbers that are not known are missing."""
        cells = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return to_frame(
            {name: [_plain(value) for value in values] for name, values in zip(self.columns, cells, strict=False)}, kind
        )


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


class Mark(NamedTuple):
    """One mark of a panel."""

    # "line"; "area", from `low` up to y; "bars", `size` wide, up to y; "steps" of a histogram, whose x are the edges;
    # "dots"; "rug", short strokes; "text", the label at a place; "level", a line across with the label at its end;
    # "across" and "upright", straight lines through the whole panel; "span", the range between two places; "interval",
    # from `low` up to y; "strip", five quantiles; "corner", words in a corner; "none", for the legend.
    kind: str
    # Whose colours: "x", "y", "differ", "same", "ink", "prior", "median", "zero", "chosen", "unclear", "band-95",
    # "band-50", "x-sure", "y-sure", "x-text" or "y-text".
    style: str
    x: Array
    y: Array
    label: str = ""  # what it stands for, in the legend; empty for none
    low: Array | float = 0.0  # where an area or interval begins
    size: float = 2.4  # the width of a bar, or of a dot in points


@dataclass(frozen=True)
class Panel:
    """The data of a picture."""

    title: str
    across: str  # what the axis across is, as `up` is of the other
    up: str
    # By name, the values across and up; of "bar" the values across are names, and a third tuple may give the styles of
    # bars; of a "map" the places across and up, a value for each pair of them, and perhaps their sd; of a "matrix" the
    # names across and up, and the values.
    series: Mapping[str, tuple[Array | tuple[str, ...], ...]] = field(default_factory=dict)
    kind: Literal["line", "point", "bar", "map", "matrix"] = "line"  # how the series are drawn
    marks: tuple[Mark, ...] = ()  # what is drawn in place of the series
    limits: tuple[float, float] | None = None  # the range of the axis across; found out where it is None
    heights: tuple[float, float] | None = None  # the same of the axis up
    log: bool = False  # whether the axis across is logarithmic
    # Whether heights are shares, or square roots of what the axis up counts, or have no numbers.
    counted: Literal["", "percent", "root", "none"] = ""
    names: tuple[str, ...] = ()  # of the places 0, 1, ... across
    names_up: tuple[str, ...] = ()
    places: tuple[float, ...] = ()  # where ticks across are; round numbers where it is empty
    said: str = ""  # what is to be seen, for readers that do not see it
    note: str = ""  # what stands below the picture
    head: tuple[str, ...] = ()  # of the table that says the same; made of the series where there is none
    rows: Sequence[tuple[str, ...]] = ()

    @classmethod
    def bars(cls, title: str, across: str, up: str, names: Sequence[str], values: Sequence[float] | Array) -> Panel:
        """A bar for each name."""
        shown = tuple(map(printable, names))
        return cls(title, across, up, {up: (shown, np.asarray(values, dtype=np.float64))}, "bar")

    def number_up(self, height: float) -> str:
        """What a height stands for, as text."""
        if self.counted == "root":
            return f"{round(height * height):,}"
        return f"{100.0 * height:.4g} %" if self.counted else f"{height:g}"

    @property
    def drawn(self) -> tuple[Mark, ...]:
        """The marks, or a line or dots for each of the series."""
        if self.marks:
            return self.marks
        kind = "line" if self.kind == "line" else "dots"
        styles = ("differ", "x", "y", "ink", "same")
        return tuple(
            Mark(kind, styles[place % len(styles)], *_finite(*values[:2]), label=printable(name))
            for place, (name, values) in enumerate(self.series.items())
        )


def _finite(across: Any, up: Any) -> tuple[Array, Array]:
    """The places where both are known."""
    first, second = np.asarray(across, dtype=np.float64), np.asarray(up, dtype=np.float64)
    known = np.isfinite(first) & np.isfinite(second)
    return first[known], second[known]


def cell_text(name: str, value: Any, row: Mapping[str, Any] | None = None) -> str:
    """A cell of a table as text, by the name of its column.

    Examples
    --------
    >>> cell_text("log_bf10", 3.14159), cell_text("prob", 0.99999), cell_text("auc", float("nan")), cell_text("n", 1200)
    ('+3.14', '> 0.9999', '–', '1,200')
    >>> cell_text("groups", (("a", "c"), ("b",))), cell_text("words", "larger in y", {"prob": 0.2})
    ('a, c | b', '–')
    """
    if _is_missing(value) or (name in _WAYS and row is not None and not _is_likely(row)):
        return _NOTHING
    if isinstance(value, tuple):
        return (" | " if value and isinstance(value[0], tuple) else ", ").join(cell_text("", one) for one in value)
    if isinstance(value, bool | str):
        return printable(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    if name.startswith("log_"):
        return log_bf10_text(value)
    if name in _PROBABILITIES:
        return probability_in_words(value)
    return f"{value:.3g}" if name == "prior" else f"{value:.3f}"


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _is_likely(row: Mapping[str, Any]) -> bool:
    return float(row.get("prob", row.get("log_bf10", 0.0) + 0.5)) > 0.5


def text_of_facts(facts: Facts) -> list[str]:
    """The lines of a summary.

    Examples
    --------
    >>> text_of_facts(Facts("a and b", "They differ.", (Fact("log BF10", "+3.20"),), notes=("a note",)))
    ['They differ.', '  log BF10             +3.20', '  note                 a note']
    """
    lines = [f"  {fact.label:<{_LABEL_WIDTH}}{fact.value}{fact.detail}" for fact in facts.lines]
    notes = [f"  {'note':<{_LABEL_WIDTH}}{printable(note)}" for note in facts.notes]
    return [facts.verdict, *facts.warnings, *lines, *notes]


def text_of_table(table: DataTable, most: int | None = None) -> list[str]:
    """The first rows of a table as aligned lines, numbers to the right."""
    most = (table.printed or _PRINTED_ROWS) if most is None else most
    head, rows = table.shown(most, brief=True)
    if not rows:
        return []
    names = table.brief or tuple(table.columns)
    cells = [head, *(tuple(map(_short, names, row)) for row in rows)]
    places = [list(table.columns).index(name) for name in names]
    sides = "".join(
        "<" if any(isinstance(row[place], str | tuple) for row in table.rows[:_PRINTED_ROWS]) else ">"
        for place in places
    )
    more = len(table) - len(rows)
    return [*aligned(cells, sides), *([f"  ... and {more} more"] if more else [])]


def _short(name: str, cell: str) -> str:
    return cell if name in _WORDS else shortened(cell, _LONGEST_CELL)
