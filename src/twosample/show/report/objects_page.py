"""What the page of a test of objects says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import printable, short
from twosample.show.report import two_samples_page
from twosample.show.report.panel_charts import of_panel
from twosample.show.report.paragraph import model_in_words
from twosample.show.report.paragraph import objects_paragraph as paragraph
from twosample.show.report.sections import call_in_words, chart_section, fitting, options_of_all, table_section
from twosample.show.report.svg import Canvas, Chart, number, ticks

if TYPE_CHECKING:
    from twosample.results.objects_result import ObjectsResult

__all__ = ["TEMPLATE", "page", "paragraph"]

TEMPLATE = "any_result"

_BINS = 24
_TELLING = 10


def page(result: ObjectsResult) -> dict[str, Any]:
    """Everything that the template needs."""
    names = short(result.names[0]), short(result.names[1])
    options = options_of_all(result) | {"kernel": result.kernel, "parameters": list(result.parameters)}
    if result.diagnostics.permutations:
        options["permutations"] = result.diagnostics.permutations
    places = zip(names, (result.telling_x, result.telling_y), strict=True)
    drawn = [_witness(result, names)]
    if len(result.parameters) > 1:
        drawn.append(of_panel(result.panels()["parameters"]))
    telling = {
        "identity": "telling",
        "title": "The most telling objects, by their places in the samples",
        "list": [f"{name}: {', '.join(map(str, some[:_TELLING]))}" for name, some in places],
        "note": "Places are counted from 0.",
    }
    return {
        "slider": two_samples_page.slider(result),
        "prob": result.prob_h1,
        "sections": [
            chart_section("witness", "Which objects tell them apart", drawn),
            telling,
            *([table_section("parameters", result.tables()["by_parameter"])] if len(result.parameters) > 1 else []),
        ],
        "assumed": [
            "Objects are independent of each other; their order does not matter.",
            "Each parameter of the kernel is as likely beforehand.",
            *(words for words in model_in_words(result.model) if not words.startswith(_NOT_OF_OBJECTS)),
        ],
        "left_out": [],
        "notes": [printable(note) for note in result.diagnostics.notes],
        "numerics": [("kernel", printable(result.kernel)), ("points", str(result.diagnostics.points))],
        "code": ["import twosample as ts", f'{call_in_words("test", options)}.report("report.html")'],
        "code_note": f"x and y are the objects of {names[0]} and {names[1]}; a kernel that is not of this package goes "
        "where its name stands, and so do its parameters.",
        "json": fitting(result.to_dict()),
        "footer": "This page holds the result as JSON, and none of the objects.",
    }


_NOT_OF_OBJECTS = ("The lengthscale", "Columns are", "The Bayes factor is an average over the columns")


def _witness(result: ObjectsResult, names: tuple[str, str]) -> Chart:
    """Histograms of the witness in both samples."""
    both = np.concatenate([result.witness_x, result.witness_y])
    low, high = float(both.min()), float(both.max())
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    shares = [np.histogram(values, edges)[0] / len(values) for values in (result.witness_x, result.witness_y)]
    top = 1.08 * float(np.max(shares))
    means = result.witness_x.mean(), result.witness_y.mean()
    said = f"The mean of the witness is {means[0]:.3g} in {names[0]} and {means[1]:.3g} in {names[1]}."
    canvas = Canvas("The witness at the objects", said, (edges[0], edges[-1]), (0.0, top), numbered=True)
    at = ticks(0.0, top, 5)
    canvas.up(at, [f"{100.0 * one:.4g} %" for one in at])
    for of_sample, kind in zip(shares, ("x", "y"), strict=True):
        across, heights = np.repeat(edges, 2)[1:-1], np.repeat(of_sample, 2)
        canvas.area(across, 0.0, heights, f"{kind}-area")
        canvas.line(across, heights, f"{kind}-line")
    canvas.across("witness", ticks(float(edges[0]), float(edges[-1])))
    sizes = result.n_x, result.n_y
    legend = tuple(
        (f"{kind}-area", f"{name} ({n:,} objects)") for kind, name, n in zip(("x", "y"), names, sizes, strict=True)
    )
    rows = [
        (f"{number(a)} to {number(b)}", f"{x:.1%}", f"{y:.1%}")
        for a, b, x, y in zip(edges[:-1], edges[1:], *shares, strict=True)
    ]
    head = ("witness", f"share of {names[0]}", f"share of {names[1]}")
    note = f"Positive where {names[0]} has more of such objects, negative where {names[1]} has."
    return Chart("The witness at the objects", canvas.markup(), legend, head, rows, note)
