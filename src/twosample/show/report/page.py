"""What a page says of a result beside its facts, tables and panels, and the parts that pages are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from twosample.common.arrays import Array
from twosample.common.words import columns_in_words, printable, probability_in_words
from twosample.data import choosing
from twosample.models import PRESETS, LogUniform
from twosample.show.content import DataTable
from twosample.show.numbers import is_or_sign
from twosample.show.report.panel_charts import probability_bar
from twosample.show.report.svg import Chart

if TYPE_CHECKING:
    from twosample.models import Model

__all__ = [
    "MOST_PICTURES",
    "Page",
    "all_columns",
    "call_in_words",
    "chart_section",
    "compared",
    "embedded",
    "fitting",
    "model_in_words",
    "numerics_of",
    "options_of",
    "some",
    "table_section",
]

# Columns that have a picture and a line in the page itself.
MOST_PICTURES = 50
# Bytes of the result as JSON, and of the table of all columns: a page stays below a megabyte.
_MOST_JSON, _MOST_TABLE = 400_000, 780_000
_SHOWN_COLUMNS = 5
# What weighs lengthscales, where that is not their evidence.
_WEIGHED = {"published": "released code of the paper", "pseudo-likelihood": "pseudo-likelihood"}
_METHOD = "a Bayesian kernel two-sample test (Zhang et al., 2022)"


@dataclass(frozen=True)
class Page:
    """What a page and a paragraph say of a result beside its facts."""

    compared: str = ""  # a sentence on what was compared, and by which method
    found: Sequence[str] = ()  # sentences that a paragraph adds to the numbers
    sections: Sequence[Mapping[str, Any]] = ()  # between the head and the details
    learnt: Sequence[Mapping[str, Any]] = ()  # sections that follow the one on robustness
    assumed: Sequence[str] = ()  # a sentence each
    left_out: Sequence[tuple[str, str]] = ()  # names and reasons, as far as they are listed
    left_out_more: int = 0
    numerics: Sequence[tuple[str, str]] = ()  # names and values of how it was computed
    code: Sequence[str] = ()  # lines that give the same result
    inputs: str = ""  # what the names in them stand for
    content: Any = None  # what the page holds as JSON; None for the result itself
    holds: str = "the result as JSON, and no rows of the data"
    warnings: Sequence[str] = ()  # to be read with the verdict, beside those of the facts
    more: Mapping[str, Any] = field(default_factory=dict)  # for the template: `slider`, `fdr`, `found`, `compact`


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return choosing.some([printable(name) for name in names], shown=_SHOWN_COLUMNS, quote=False)


def compared(what: str, sizes: str, columns: Sequence[str] = (), by: str = _METHOD) -> str:
    """The first sentence of a paragraph."""
    named = "" if all(column.isdecimal() for column in columns) else f": {some(columns)}"
    said = f"; {columns_in_words(len(columns))}{named}" if columns else ""
    return f"We compared {what} ({sizes}{said}) by {by}."


def model_in_words(model: Model) -> list[str]:
    """Every assumption of a model, a sentence each."""
    prior = model.lengthscale
    lengthscale = (
        f"a prior that is uniform in its logarithm, from {prior.low:.4g} to {prior.high:.4g} times the median heuristic"
        if isinstance(prior, LogUniform)
        else f"a Gamma({prior.shape:g}, {prior.rate:g}) prior in the units of the data"
    )
    measure = (
        "uniform on the evaluation points, with differences that add up to zero"
        if model.measure == "points"
        else "Lebesgue measure, as in the paper"
    )
    scales = "" if model.amplitude is None else f"{model.amplitude.scale:g}"
    if model.amplitude_of_one is not None:
        scales += f", of single columns {model.amplitude_of_one.scale:g}"
    sentences = {
        f"Under H1 the witness is a Gaussian process; the measure of its prior covariance is {measure}.": True,
        f"The lengthscale of the kernel has {lengthscale}.": True,
        "The amplitude of the difference is fixed at 1."
        if model.amplitude is None
        else f"The amplitude of the difference has a half-Cauchy prior of scale {scales}.": True,
        f"In the Bayes factor a share of {model.components:g} of that prior is along the principal components of the "
        "features of all rows.": model.components > 0.0,
        "The noise of the features is that of all rows, whichever sample they are of.": model.noise == "rows",
        "The noise of the features is that of each sample, and counts as known.": model.noise == "samples",
        "Columns are divided by a robust measure of their spread.": model.scale == "robust",
        "Columns are left in their own units.": model.scale != "robust",
        "The Bayes factor is an average over the columns as scaled and their normal scores, which have a share of "
        f"{model.ranks:g} of the prior weight, all together and in subsets of columns.": model.ranks > 0.0,
        f"Lengthscales are weighed by the {_WEIGHED.get(model.weighing, '')}.": model.weighing in _WEIGHED,
    }
    return [words for words, holds in sentences.items() if holds]


def numerics_of(result: Any) -> list[tuple[str, str]]:
    """How a result was computed, by what its diagnostics hold."""
    found = result.diagnostics
    given = ", given" if getattr(result, "points_given", False) else ""
    values = {
        "kernel": _kernels(result),
        "evaluation points": f"{found.points}{given}",
        "lengthscales evaluated": str(found.evaluations),
        "error of log BF10 from integration": f"{found.quadrature_error:.1g}",
        getattr(result, "relabelled_words", "permutations"): str(found.permutations) if found.permutations else "",
    }
    return [(name, value) for name, value in values.items() if value]


def _kernels(result: Any) -> str:
    several = getattr(result, "kernels", ())
    if not several:
        return printable(getattr(result, "kernel", ""))
    shares = ", ".join(f"{one.name} {probability_in_words(one.posterior)}" for one in several)
    return f"the average over {len(several)}, whose probabilities given a difference are {shares}"


class Verbatim(str):
    """A name in a line of code, for what a page cannot hold."""

    __slots__ = ()
    __repr__ = str.__str__


def options_of(result: Any, permutations: int = 0, name: str = "permutations") -> dict[str, Any]:
    """The options that the questions have in common and that are not the default ones."""
    found: dict[str, Any] = {}
    model = getattr(result, "model", PRESETS["adaptive"])
    if PRESETS.get(model.name) != model:
        found["model"] = Verbatim("model")
    elif model.name != "adaptive":
        found["model"] = model.name
    if getattr(result, "paired", False):
        found["paired"] = Verbatim("identifiers") if result.paired_by == "" else result.paired_by or True
    if getattr(result, "prior_odds", 1.0) != 1.0:
        found["prior_odds"] = result.prior_odds
    if permutations:
        found[name] = permutations
    return found


def call_in_words(function: str, options: Mapping[str, Any], inputs: Sequence[str] = ("x", "y")) -> list[str]:
    """The lines that make a result and its page, with the options that are not the default ones."""
    said = [f"{name}={value!r}" for name, value in options.items()]
    return ["import twosample as ts", f'ts.{function}({", ".join([*inputs, *said])}).report("report.html")']


def embedded(content: Any) -> str:
    """JSON that can stand within a script element, whatever the names in it."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fitting(content: Any) -> str | None:
    """The same, or None where that is too large for a page."""
    text = embedded(content)
    return text if len(text) <= _MOST_JSON else None


def all_columns(names: Iterable[str], log_bf10: Array, auc: Array, ways: Iterable[str], **more: Any) -> tuple[str, int]:
    """All columns for the script, sorted by evidence and to four digits, and how many of them there is room for."""
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


def table_section(
    identity: str,
    table: DataTable,
    most: int = MOST_PICTURES,
    note: str = "",
    pictures: Mapping[str, str] | None = None,
    brief: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """A section of the page with the first rows of a table, and bars beside probabilities.

    It has all columns, or with `brief` those of the short form, and a column of small `pictures` (markup by the first
    cell of a row); the note stands in place of the table's own. `more` may hold a `lead`, a sentence before the table,
    and `all`, for the table of all columns.

    Examples
    --------
    >>> table = DataTable("Columns", {"column": "column", "prob": "P(differs)"}, [("dose", 0.9)] * 3)
    >>> section = table_section("columns", table, most=2)
    >>> section["head"], section["note"]
    (('column', 'P(differs)'), 'The first 2 of 3 rows.')
    """
    head, texts = table.shown(most, brief=brief)
    columns = list(table.columns)
    places = [columns.index(name) for name in (brief and table.brief) or columns]
    rows = []
    for values, cells in zip(table.rows, texts, strict=False):
        row = []
        for place, heading, text in zip(places, head, cells, strict=True):
            value = values[place]
            kind, bar = "text" if isinstance(value, str | tuple) or value is None else "number", ""
            if columns[place].startswith("prob") or columns[place] == "posterior":
                kind, bar = "prob", probability_bar(float(value), f"{heading} {is_or_sign(text)}")
            row.append((kind, text, bar))
        if pictures:
            row.append(("picture", "", pictures.get(values[0], "")))
        rows.append(row)
    cut = f"The first {len(rows):,} of {len(table):,} rows." if len(table) > len(rows) and "all" not in more else ""
    words = " ".join(filter(None, (note or table.note, cut)))
    heads = (*head, "samples") if pictures else head
    return {"identity": identity, "title": table.title, "head": heads, "rows": rows, "note": words, **more}


def chart_section(identity: str, title: str, shown: Sequence[Chart], note: str = "", **more: Any) -> dict[str, Any]:
    """A section of the page with pictures."""
    return {"identity": identity, "title": title, "charts": list(shown), "note": note, **more}
