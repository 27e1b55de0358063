"""What the pages of results say: a function for each kind, which the class of the result names as its `page`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import (
    columns_in_words,
    count_in_words,
    odds_in_words,
    pairs_in_words,
    printable,
    probability_in_words,
    short,
    with_names,
)
from twosample.inference import discoveries
from twosample.inference.bayes_factor import probability
from twosample.inference.witness import Driver
from twosample.show import question_panels, sample_panels
from twosample.show.content import DataTable
from twosample.show.numbers import is_or_sign, number
from twosample.show.plots.labels import (
    beyond_in_words,
    column_labels,
    outside_in_words,
    prior_and_posterior,
    shown_drivers,
)
from twosample.show.report import witness_charts
from twosample.show.report.page import (
    MOST_PICTURES,
    Page,
    all_columns,
    chart_section,
    compared,
    model_in_words,
    numerics_of,
    some,
    table_section,
)
from twosample.show.report.panel_charts import of_panel, small_column
from twosample.show.report.svg import Chart

if TYPE_CHECKING:
    from twosample.questions.independence import IndependenceResult
    from twosample.questions.monitor import Monitor
    from twosample.results.comparison import Comparison
    from twosample.results.each_result import EachResult
    from twosample.results.ksample_result import KSampleResult
    from twosample.results.objects_result import ObjectsResult
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = [
    "any_page",
    "columns_page",
    "groups_page",
    "independence_page",
    "objects_page",
    "stream_page",
    "two_samples_page",
]

_MOST_SKIPPED = 200
_BRIEF_OF_COLUMNS = ("column", "prob_h1", "q", "log_bf10", "auc", "size", "direction", "prob_beyond_rope")
_MOST_CELLS = 12
_TELLING = 10
# Prior odds in the table beside the slider.
_ODDS = (0.001, 0.01, 0.1, 1 / 3, 1.0, 3.0, 10.0, 100.0, 1000.0)
_NOT_OF_OBJECTS = ("The lengthscale", "Columns are", "The Bayes factor is an average over the columns")
_PAIRS = ("real pairs", "shuffled pairs")


def any_page(result: Any) -> Page:
    """The page of any result: its panels and tables."""
    facts = result.facts()
    sections = [table_section(name, table) for name, table in result.tables().items() if len(table)]
    drawn = [of_panel(panel) for panel in result.panels().values() if panel.kind != "map"]
    if drawn:
        sections.insert(0, chart_section("pictures", "In pictures", drawn))
    numerics = [(fact.label or "and", f"{fact.value}{fact.detail}") for fact in facts.lines if not fact.large]
    title = "" if facts.verdict.startswith(facts.title) else f"{facts.title}:"
    found = [f"{name.capitalize()}: {facts[name]}." for name in ("data", "model") if facts[name]]
    return Page(compared=title, found=[facts.answer, *found], sections=sections, numerics=numerics)


def two_samples_page(result: TwoSampleResult) -> Page:
    """The page of two samples of rows, or of one and a law."""
    named = result.changed(names=_names(result))
    samples, witness = _pictures(named)
    posteriors = _posteriors(result)
    columns, found, compact = _columns(named)
    first, second = named.names
    rows = "Pairs of rows are independent of each other" if result.paired else "Rows are independent of each other"
    fixed = result.lengthscale.fixed
    given = [f"The lengthscale was given: {result.lengthscale.grid[0]:.4g}."] if fixed else []
    where = (
        f"The witness is positive where {first} has more of its rows and negative where {second} has. It is surely not "
        "zero where its 95\N{NO-BREAK SPACE}% band leaves zero out."
    )
    sizes = f"n = {result.n_x}" if hasattr(result, "law") else f"n = {result.n_x} and {result.n_y}"
    if result.paired:
        sizes = f"n = {pairs_in_words(result.n_x, result.paired_by)}"
    return Page(
        compared=compared(" with ".join(map(printable, result.names)), sizes, result.columns),
        found=[_model_sentence(result), *found],
        sections=[
            columns,
            chart_section("samples", "The samples", samples),
            chart_section("witness", "Where they differ, if they do", witness, lead=where),
        ],
        learnt=[
            chart_section(
                "posteriors",
                "What was learnt of the prior’s parameters",
                posteriors,
                lead="" if posteriors else "Lengthscale and amplitude were fixed, not inferred.",
            )
        ],
        assumed=[f"{rows}; their order does not matter.", *model_in_words(result.model), *given],
        numerics=numerics_of(result),
        inputs=f"The samples are {first} and {second}.",
        holds="the result as JSON, "
        + ("and no rows of the data" if result.shown_x is None else "with some rows of the data"),
        more={"slider": _slider(result), "compact": compact},
    )


def objects_page(result: ObjectsResult) -> Page:
    """The page of two samples of objects."""
    first, second = _names(result)
    several = len(result.parameters) > 1
    drawn = list(map(of_panel, question_panels.objects(result, (first, second))))
    telling = [
        f"{name}: {', '.join(map(str, places[:_TELLING]))}"
        for name, places in ((first, result.telling_x), (second, result.telling_y))
    ]
    title = "The most telling objects, by their places in the samples"
    values = ", ".join(map(printable, result.parameters))
    averaged = f" The kernel is averaged over its parameters {values}." if several else ""
    return Page(
        compared=compared(" with ".join(map(printable, result.names)), f"n = {result.n_x} and {result.n_y} objects"),
        found=[f"{_model_sentence(result)}{averaged}"],
        sections=[
            chart_section("witness", "Which objects tell them apart", drawn),
            chart_section("telling", title, [], "Places are counted from 0.", list=telling),
            *([table_section("parameters", result.tables()["by_parameter"])] if several else []),
        ],
        assumed=[
            "Objects are independent of each other; their order does not matter.",
            "All parameters of the kernel have equal prior weight.",
            *(words for words in model_in_words(result.model) if not words.startswith(_NOT_OF_OBJECTS)),
        ],
        numerics=numerics_of(result),
        inputs=f"The samples are the objects of {first} and {second}.",
        holds="the result as JSON, and none of the objects",
        more={"slider": _slider(result)},
    )


def columns_page(result: EachResult) -> Page:
    """The page of one test a column."""
    table = result.tables()["columns"]
    headings = table.columns
    table = replace(
        table,
        brief=tuple(name for name in _BRIEF_OF_COLUMNS if name in headings),
        note="q is the expected share of false discoveries, were this column and all with as much evidence taken as "
        "different.",
    )
    more: dict[str, Any] = {}
    content: Any = result.to_dict() if len(result) <= MOST_PICTURES * 20 else {}
    order = np.argsort(-result.log_bf10, kind="stable")
    names = [result.column[place] for place in order]
    compact, room = all_columns(
        names,
        result.log_bf10[order],
        result.auc[order],
        [result.direction[place] for place in order],
        share=result.share,
        group_share=result.group_share,
        groups=[place for place, name in enumerate(names) if name in result.groups],
        fdr=result.fdr,
    )
    if len(result) > MOST_PICTURES:
        table = replace(table, title=f"The first {MOST_PICTURES} columns")
        more["all"] = {"count": len(result), "room": room, "with_q": True}
    discovered = result.log_bf10[result.found]
    evidence = question_panels.evidence_of_columns(
        result.log_bf10, float(discovered.min()) if len(discovered) else None
    )
    n_x, n_y = int(result.n_x.max(initial=0)), int(result.n_y.max(initial=0))
    sizes = f"n = {pairs_in_words(n_x, result.paired_by)}" if result.paired else f"n = {n_x} and {n_y}"
    method = "a Bayesian kernel two-sample test of normal scores (Zhang et al., 2022)"
    skipped = [f"{len(result.skipped)} could not be tested."] if result.skipped else []
    found = [f"Those that differ: {some(result.discoveries)}."] if result.discoveries else []
    return Page(
        compared=compared("each column of two samples", sizes, by=f"{method}, with model {result.model.name}"),
        found=[result.facts().answer, *found, *skipped],
        sections=[
            table_section("columns", table, brief=True, **more),
            chart_section("evidence", "How much evidence there is", [of_panel(evidence)]),
        ],
        assumed=[
            "Rows are independent of each other; a column is tested by its normal scores, so that monotone maps of it "
            "hardly matter.",
            "The share of columns that differ is learnt from all of them, and is the prior probability of each.",
            *model_in_words(result.model)[:5],
        ],
        left_out=[(printable(name), why) for name, why in list(result.skipped.items())[:_MOST_SKIPPED]],
        left_out_more=max(len(result.skipped) - _MOST_SKIPPED, 0),
        content=content,
        holds="the table of columns as JSON, and no rows of the data",
        more={"compact": compact, "fdr": result.fdr, "found": len(result.discoveries)},
    )


def groups_page(result: KSampleResult) -> Page:
    """The page of several groups."""
    tables = result.tables()
    alike = f"Groups between two bars share a distribution. {tables['partitions'].note}".strip()
    *first, last = [f"{n:,}" for n in result.n.tolist()]
    method = (
        "the Bayes factors of their partitions into blocks that share a distribution, with the "
        f"{result.model.name} model of a Bayesian kernel two-sample test (Zhang et al., 2022)"
    )
    sizes = f"n = {', '.join(first)} and {last}; {columns_in_words(len(result.columns))}"
    return Page(
        compared=compared(f"{len(result.names)} groups", sizes, by=method),
        found=[result.facts().answer],
        sections=[
            table_section(name, table, 6 * MOST_PICTURES, note=alike if name == "partitions" else "")
            for name, table in tables.items()
        ],
        assumed=[
            "Rows are independent of each other, within groups and between them.",
            "If not all groups are alike, all numbers of different distributions have equal prior weight, and so have "
            "all partitions of the groups with the same number.",
            "The distributions of any two blocks of a partition differ as those of two samples do.",
            *model_in_words(result.model)[:5],
        ],
        numerics=numerics_of(result),
    )


def independence_page(result: IndependenceResult) -> Page:
    """The page of a test of independence."""
    where, several = "Where they depend on each other", result.pairs.size > 1
    picture, sections = result.picture, []
    if picture is not None and not (picture.levels_x or picture.levels_y):
        driver = Driver((0, 1), np.stack([picture.at_x, picture.at_y]), picture.mean, picture.sd)
        shuffled = (
            "Shuffled pairs are what independence would give. The witness is the density of the pairs over that of "
            "shuffled pairs, less 1."
        )
        drawn = witness_charts.witness_map(driver, None, _PAIRS, result.labels)
        sections.append(chart_section("where", where, [drawn], shuffled))
    elif picture is not None:
        headings = {"x": "x", "y": "y", "mass": "mass over that of independence, less 1", "sd": "± sd"}
        sections.append(table_section("where", DataTable(where, headings, _cells(picture))))
    if several:
        sections.append(table_section("columns", result.tables()["by_pair"]))
    columns = f"{columns_in_words(len(result.x))} and {columns_in_words(len(result.y))}"
    return Page(
        compared=f"We tested whether {result.labels[0]} and {result.labels[1]} are independent (n = {result.n}; "
        f"{columns}) with a Bayesian kernel test of independence, after Zhang et al. (2022).",
        sections=sections,
        assumed=[
            "Rows are independent of each other; row i of x belongs with row i of y.",
            "A column of numbers counts by its normal scores, so that monotone maps of it do not matter; of categories "
            "it counts whether they are the same.",
            "If x and y are dependent, a few functions of x are correlated with a few functions of y; smooth ones are "
            "likelier, at lengthscales that have equal prior weight for x and for y.",
            "If they are independent, all pairings of the rows have equal probability, which says how much such "
            "correlations vary.",
            *(["All columns together have half of the prior weight, and the pairs of columns share the other half."]
              if several else []),
        ],
    )  # fmt: skip


def _cells(picture: Any) -> list[tuple[str, ...]]:
    """Where the witness of a category is farthest from zero, beside how well it is known."""
    clear = np.abs(picture.mean) / np.maximum(picture.sd, np.finfo(float).tiny)
    found = []
    for place in np.argsort(-clear, axis=None, kind="stable")[:_MOST_CELLS]:
        cell = np.unravel_index(place, clear.shape)
        sides = zip(cell, ((picture.at_x, picture.levels_x), (picture.at_y, picture.levels_y)), strict=True)
        names = (printable(levels[i]) if levels else number(float(at[i])) for i, (at, levels) in sides)
        found.append((*names, f"{picture.mean[cell]:+.2f}", f"{picture.sd[cell]:.2f}"))
    return found


def stream_page(monitor: Monitor) -> Page:
    """The page of a monitor."""
    state, history = monitor.state, monitor.history
    sections = []
    if history:
        note = (
            "The e-value may be looked at after every batch. The run length falls back where nothing changes; if "
            "nothing ever does, it takes at least as many batches on average to reach the limit as the limit says."
        )
        chart = of_panel(question_panels.evidence_over_time(history, state.alpha))
        sections.append(chart_section("evidence", "Batch by batch", [chart], note))
    tables = state.tables()
    if len(state.columns) > 1 and "by_column" in tables:
        table = replace(tables["by_column"], title="Which columns differ, given everything so far")
        note = f"Descriptive, without a guarantee. {table.note}"
        sections.append(table_section("columns", table, note=note, brief=True))
    batches = "1 batch" if state.batches == 1 else f"{state.batches} batches"
    rows = count_in_words(state.n_x, "pair") if state.paired else f"{state.n_x} and {state.n_y} rows"
    return Page(
        compared=f"We watched two streams in {batches} ({rows}; {columns_in_words(len(state.columns))}) "
        "with the product of batch e-values of a Bayesian kernel two-sample test (Zhang et al., 2022).",
        found=[state.facts().answer],
        sections=sections,
        warnings=["The reference is spent: no evidence can be added without fresh rows."] if state.spent else [],
        assumed=[
            "Rows of a batch are independent of each other, or at least exchangeable if nothing differs.",
            "The e-value of a batch is relative to relabellings of its own rows; what was learnt before may depend on "
            "earlier batches only.",
            *([] if state.plan is None else model_in_words(state.plan.model)[:5]),
        ],
        inputs="Batches are those of the streams, in their order; the same batches give the same numbers.",
        content={**state.to_dict(), "history": [row._asdict() for row in history]},
        holds="the history as JSON, and no rows of the data",
    )


def _names(result: Comparison) -> tuple[str, str]:
    return short(result.names[0]), short(result.names[1])


def _slider(result: Comparison) -> dict[str, Any]:
    """The range of the slider, in powers of ten, and P(H1) at some odds."""
    start = math.log10(result.prior_odds)
    table = [
        (odds_in_words(odds), probability_in_words(probability(result.log_bf10 + math.log(odds))))
        for odds in sorted({*_ODDS, result.prior_odds})
    ]
    return {
        "log_bf10": repr(result.log_bf10),
        "start": repr(start),
        "reach": max(3.0, math.ceil(abs(start))),
        "rows": table,
        "prior": odds_in_words(result.prior_odds),
        "prob": probability_in_words(result.prob_h1),
        "share": result.prob_h1,
    }


def _model_sentence(result: Comparison) -> str:
    count = result.diagnostics.points
    points = count_in_words(count, "evaluation point") if count else "given evaluation points"
    assumed = [words for words in model_in_words(result.model) if words.startswith(("The lengthscale", "The ampl"))]
    fixed = getattr(getattr(result, "lengthscale", None), "fixed", None)
    if fixed is None or fixed:
        assumed = assumed[1:]
    if fixed:
        assumed.insert(0, f"The lengthscale was fixed at {result.lengthscale.grid[0]:.3g}.")  # type: ignore[attr-defined]
    kernel = dict(numerics_of(result))["kernel"]
    return " ".join([f"The model was {result.model.name} (kernel: {kernel}; {points}).", *assumed])


def _columns(result: TwoSampleResult) -> tuple[dict[str, Any], list[str], str]:
    """The section on the columns, what a paragraph says of them, and all of them for the script."""
    title = "Which columns differ"
    if result.by_subset is None:
        lead = "The model, as it was used, tests all columns together and does not say which of them differ."
        return chart_section("columns", title, [], lead=lead), [], ""
    together, compact = "", ""
    more: dict[str, Any] = {}
    if result.together is not None:
        first, second = map(printable, result.together)
        together = f"The samples differ in how {first} and {second} go together, rather than in either of them alone."
    if len(result.columns) > MOST_PICTURES:
        order = np.argsort(-result.by_subset.log_bf10, kind="stable")
        compact, room = all_columns(
            [result.columns[place] for place in order],
            result.by_subset.log_bf10[order],
            result.by_subset.auc[order],
            [with_names(result.by_subset.direction[place], result.names) for place in order],
            share=discoveries.learn_share(result.by_subset.log_bf10),
        )
        more["all"] = {"count": len(result.columns), "room": room, "with_q": False}
    pictures = {
        result.columns[one.column]: small_column(
            one,
            result.picture.rows,
            f"{printable(result.columns[one.column])} in {result.names[0]} and {result.names[1]}",
        )
        for one in result.picture.columns
    }
    table = result.tables()["by_column"]
    section = table_section("columns", table, pictures=pictures, brief=True, lead=together, **more)
    likely = [
        f"{row.column} (P {is_or_sign(probability_in_words(row.prob))}; {row.words})"
        for row in result.by_column
        if row.prob > 0.5
    ]
    found = [f"The columns that differ: {some(likely)}."] if likely else [together]
    if not likely and not together:
        found = ["No single column was more likely to differ than not."]
    return section, found if len(result.columns) > 1 else [], compact


def _pictures(result: TwoSampleResult) -> tuple[list[Chart], list[Chart]]:
    """The samples, and where they differ."""
    picture, labels, names = result.picture, column_labels(result), result.names
    levels = {shown.column: shown.labels for shown in picture.columns}
    samples = []
    for shown in picture.columns:
        beyond = "; ".join(filter(None, (beyond_in_words(result, shown.outside[:, i], names, i) for i in range(2))))
        panel = sample_panels.samples_of_column(shown, picture.rows, names, labels[shown.column], beyond)
        samples.append(of_panel(panel, f"The samples: {panel.title}"))
    plane = picture.plane
    witness = [
        _witness(driver, plane, names, [labels[i] for i in driver.columns], [levels[i] for i in driver.columns])
        for driver in shown_drivers(result)
    ]
    if plane is not None:
        axes = [f"principal axis {place + 1} ({share:.0%})" for place, share in enumerate(plane.shares)]
        first, second = [labels[place] for place in plane.columns] or axes
        both = (levels[plane.columns[0]], levels[plane.columns[1]]) if plane.columns else ((), ())
        outside = outside_in_words(result, plane.outside, names)
        samples.append(witness_charts.samples_in_plane(plane, picture.rows, names, (first, second), outside, both))
        if plane.witness is not None:
            witness.append(witness_charts.witness_cells(plane, names, (first, second)))
    return samples, witness


def _witness(
    driver: Driver, plane: Any, names: tuple[str, str], labels: Sequence[str], levels: Sequence[tuple[str, ...]]
) -> Chart:
    """The witness of one column of numbers or categories, or of two."""
    if len(driver.columns) == 2:
        there = plane if plane is not None and plane.columns == driver.columns else None
        return witness_charts.witness_map(driver, there, names, (labels[0], labels[1]), (levels[0], levels[1]))
    panel = sample_panels.witness_of_column(driver, names, labels[0], levels[0])
    return of_panel(panel, f"Where they differ: {panel.title}")


def _posteriors(result: TwoSampleResult) -> list[Chart]:
    found = []
    if not result.lengthscale.fixed:
        found.append(sample_panels.lengthscale_posterior(*prior_and_posterior(result)))
    if result.model.amplitude is not None and not result.amplitude.fixed:
        found.append(sample_panels.amplitude_posterior(result.amplitude, result.model.amplitude))
    return list(map(of_panel, found))
