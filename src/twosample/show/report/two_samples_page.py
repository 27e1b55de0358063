"""What the page of a test says, in the order in which it says it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.words import (
    log_bf10_text,
    odds_in_words,
    printable,
    probability_in_words,
    short,
    with_names,
)
from twosample.data import DROPPED
from twosample.inference import discoveries
from twosample.inference.bayes_factor import probability
from twosample.show.plots.labels import beyond_in_words, column_labels, outside_in_words, unit_in_words
from twosample.show.report import charts, witness_charts
from twosample.show.report.paragraph import is_or_sign, model_in_words, paragraph
from twosample.show.report.sections import MOST_PICTURES, call_in_words, fitting, options_of_all, table_of_columns
from twosample.show.report.svg import Chart

if TYPE_CHECKING:
    from twosample.results.comparison import Comparison
    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["TEMPLATE", "page", "paragraph", "slider"]

TEMPLATE = "two_samples"

_DEFAULT_POINTS = 40
# Prior odds in the table beside the slider.
_ODDS = (0.001, 0.01, 0.1, 1 / 3, 1.0, 3.0, 10.0, 100.0, 1000.0)


def page(result: TwoSampleResult) -> dict[str, Any]:
    """Everything that the template needs."""
    names = _names(result)
    samples, witness = _pictures(result, names)
    columns = _columns(result, names, MOST_PICTURES)
    rest = None
    if len(result.columns) > MOST_PICTURES and result.by_subset is not None:
        order = np.argsort(-result.by_subset.log_bf10, kind="stable")
        rest = table_of_columns(
            [result.columns[place] for place in order],
            result.by_subset.log_bf10[order],
            result.by_subset.auc[order],
            [with_names(result.by_subset.direction[place], names) for place in order],
            share=discoveries.learn_share(result.by_subset.log_bf10),
        )
    function, other, _ = result.call
    call = call_in_words(function, _options(result), other)
    return {
        "names": names,
        "prob": result.prob_h1,
        "slider": slider(result),
        "columns": columns,
        "pictured": any(row["picture"] for row in columns),
        "columns_count": len(result.columns),
        "rest": rest,
        "together": _together(result),
        "samples": samples,
        "witness": witness,
        "posteriors": _posteriors(result),
        "assumed": _assumed(result),
        "left_out": [(printable(one.column), one.reason) for one in result.left_out],
        "notes": [printable(note) for note in result.diagnostics.notes],
        "numerics": _numerics(result),
        "code": ["import twosample as ts", f'{call}.report("report.html")'],
        "code_note": f"x and {other} are {names[0]} and {names[1]}"
        + ("; model is the one described above." if "model" in _options(result).values() else "."),
        "json": fitting(result.to_dict()),
        "holds_rows": result.shown_x is not None,
    }


def _names(result: Comparison) -> tuple[str, str]:
    return short(result.names[0]), short(result.names[1])


def slider(result: Comparison) -> dict[str, Any]:
    """The range of the slider, in powers of ten, and P(H1) at some odds."""
    start = math.log10(result.prior_odds)
    reach = max(3.0, math.ceil(abs(start)))
    table = [
        (
            odds_in_words(odds),
            probability_in_words(probability(result.log_bf10 + math.log(odds))),
        )
        for odds in sorted({*_ODDS, result.prior_odds})
    ]
    now = {"prior": odds_in_words(result.prior_odds), "prob": probability_in_words(result.prob_h1)}
    return {"log_bf10": repr(result.log_bf10), "start": repr(start), "reach": reach, "rows": table, **now}


def _columns(result: TwoSampleResult, names: tuple[str, str], most: int) -> list[dict[str, str]]:
    """The columns with the most evidence, with a picture of those that the result shows."""
    if result.by_subset is None:
        return []
    shown = {one.column: one for one in result.picture.columns}
    places = np.argsort(-result.by_subset.log_bf10, kind="stable")
    rows = []
    for place, row in list(zip(places.tolist(), result.columns_with(names), strict=True))[:most]:
        name, prob = printable(row.column), probability_in_words(row.prob)
        picture = ""
        if place in shown:
            title = f"{name} in {names[0]} and {names[1]}"
            picture = charts.small_column(shown[place], result.picture.rows, title)
        rows.append(
            {
                "column": name,
                "prob": prob,
                "bar": charts.probability_bar(row.prob, f"P(differs) {is_or_sign(prob)}"),
                "log_bf10": log_bf10_text(row.log_bf10),
                "words": row.words if row.prob > 0.5 else "–",
                "picture": picture,
            }
        )
    return rows


def _together(result: TwoSampleResult) -> str:
    """A sentence where two columns differ in how they go together."""
    if result.together is None:
        return ""
    first, second = map(printable, result.together)
    return f"{first} and {second} differ in how they go together, rather than each by itself."


def _pictures(result: TwoSampleResult, names: tuple[str, str]) -> tuple[list[Chart], list[Chart]]:
    """The samples, and where they differ."""
    picture, labels = result.picture, column_labels(result)
    samples = []
    for shown in picture.columns:
        beyond = [beyond_in_words(result, shown.outside[:, side], names, side) for side in range(2)]
        label = labels[shown.column]
        samples.append(
            charts.samples_of_column(shown, picture.rows, names, label, "; ".join(words for words in beyond if words))
        )
    witness = []
    plane = picture.plane
    own = result.witness_picture
    levels = {shown.column: shown.labels for shown in picture.columns}
    for driver in result.drivers if own is None else (own,):
        if len(driver.columns) == 1 and levels[driver.columns[0]]:
            (column,) = driver.columns
            witness.append(witness_charts.witness_levels(driver, names, labels[column], levels[column]))
        elif len(driver.columns) == 1:
            witness.append(witness_charts.witness_curve(driver, names, labels[driver.columns[0]]))
        else:
            first, second = (labels[place] for place in driver.columns)
            there = plane if plane is not None and plane.columns == driver.columns else None
            both = levels[driver.columns[0]], levels[driver.columns[1]]
            witness.append(witness_charts.witness_map(driver, there, names, (first, second), both))
    if plane is not None:
        first, second = (
            (labels[place] for place in plane.columns)
            if plane.columns
            else (f"principal axis {place + 1} ({share:.0%})" for place, share in enumerate(plane.shares))
        )
        outside = outside_in_words(result, plane.outside, names)
        both = (levels[plane.columns[0]], levels[plane.columns[1]]) if plane.columns else ((), ())
        samples.append(witness_charts.samples_in_plane(plane, picture.rows, names, (first, second), outside, both))
        if plane.witness is not None:
            witness.append(witness_charts.witness_cells(plane, names, (first, second)))
    return samples, witness


def _posteriors(result: TwoSampleResult) -> list[Chart]:
    found = []
    if not result.lengthscale.fixed:
        unit = float(result.scale[0]) if len(result.columns) == 1 else 1.0
        words = unit_in_words(result)
        found.append(charts.lengthscale_posterior(result.lengthscale, result.model.lengthscale, unit, words))
    if result.model.amplitude is not None and not result.amplitude.fixed:
        found.append(charts.amplitude_posterior(result.amplitude, result.model.amplitude))
    return found


def _assumed(result: TwoSampleResult) -> list[str]:
    rows = "Pairs of rows are independent of each other" if result.paired else "Rows are independent of each other"
    said = [f"{rows}; their order does not matter.", *model_in_words(result.model)]
    if result.lengthscale.fixed:
        said.append(f"The lengthscale was given: {result.lengthscale.grid[0]:.4g}.")
    return said


def _numerics(result: TwoSampleResult) -> list[tuple[str, str]]:
    found = result.diagnostics
    said = [
        ("kernel", _kernels_in_words(result)),
        ("evaluation points", f"{found.points}{', given' if result.points_given else ''}"),
        ("lengthscales evaluated", str(found.evaluations)),
        ("error of log BF10 from integration", f"{found.quadrature_error:.1g}"),
    ]
    if found.permutations:
        said.append((result.relabelled_words, str(found.permutations)))
    return said


def _kernels_in_words(result: TwoSampleResult) -> str:
    if not result.kernels:
        return result.kernel
    shares = ", ".join(f"{one.name} {probability_in_words(one.posterior)}" for one in result.kernels)
    return f"the average over {len(result.kernels)}, with these probabilities given a difference: {shares}"


def _options(result: TwoSampleResult) -> dict[str, Any]:
    """The options of `test` that are not the default ones, as far as a result knows them."""
    found = options_of_all(result)
    if result.kernels:
        found["kernel"] = [one.name for one in result.kernels]
    elif result.kernel != "rbf":
        found["kernel"] = result.kernel
    if result.lengthscale.fixed:
        found["lengthscale"] = float(f"{result.lengthscale.grid[0]:.6g}")
    points = result.diagnostics.points
    if points and points != _DEFAULT_POINTS and not result.points_given and points < result.n_x + result.n_y:
        found["points"] = points
    if result.model.ranks and result.by_subset is None:
        found["subsets"] = None
    if result.prior_odds != 1.0:
        found["prior_odds"] = result.prior_odds
    if result.diagnostics.permutations:
        found[result.call[2]] = result.diagnostics.permutations
    if result.rope is not None:
        found["rope"] = result.rope
    dropped = [one.column for one in result.left_out if one.reason == DROPPED]
    if dropped:
        found["drop"] = dropped
    if result.shown_x is not None:
        found["keep_rows"] = True
    return found
