"""Samples of many columns: those columns that drive the difference, and how likely each column differs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from twosample.common.words import short
from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, add_figure_legend, as_text, new_figure
from twosample.show.plots.labels import (
    LONGEST_WITHIN,
    column_in_words,
    column_labels,
    pair_in_words,
    probability_label,
    sample_labels,
)
from twosample.show.plots.one_column import STRIP_LABEL, WITNESS_LABELS, draw_samples, draw_witness_curve
from twosample.show.plots.several_columns import draw_plane, draw_witness_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["draw_drivers", "draw_list"]

# Columns in the list.
_LISTED = 10
_LIKELY = 0.5
_LONGEST = 22
# Inches: the height, the width of the panels of a column and what of it the axes have, of a pair, and of the rest.
_HEIGHT, _COLUMN, _AXES, _PAIR, _REST = 6.8, 4.2, 3.4, 10.0, 5.6
# Characters in a line below a title.
_WIDEST = 60


def draw_drivers(
    result: TwoSampleResult, names: tuple[str, str], figsize: tuple[float, float] | None = None
) -> tuple[Figure, Axes]:
    """Draw the columns or the pair that drive the difference, and the list of columns; returns the axes left free too.

    The three of them are laid out each by itself, so that long names in one take no room from the others.
    """
    pair = len(result.drivers[0].columns) == 2
    width = _PAIR if pair else _COLUMN * len(result.drivers)
    figure = new_figure(width + _REST, _HEIGHT, figsize)
    grid = figure.add_gridspec(1, 2, width_ratios=(width, _REST))
    left, right = (figure.add_subfigure(grid[0, side]) for side in range(2))
    (_draw_pair if pair else _draw_single)(left, result, names)
    grid = right.add_gridspec(2, 1, height_ratios=(1.0, 1.35))
    columns, scale = (right.add_subfigure(grid[place, 0]).subplots() for place in range(2))
    draw_list(columns, result)
    return figure, scale


def _draw_single(figure: SubFigure, result: TwoSampleResult, names: tuple[str, str]) -> None:
    """A column of panels for each: densities, and below them the witness."""
    labels = column_labels(result)
    within = (short(names[0], LONGEST_WITHIN), short(names[1], LONGEST_WITHIN))
    rows = {row.column: row for row in result.columns_with(within)}
    words = [column_in_words(rows[result.columns[driver.columns[0]]]) for driver in result.drivers]
    panels = figure.subplots(2, len(result.drivers), sharex="col", squeeze=False)
    shown = {one.column: one for one in result.picture.columns}
    handles: list[Any] = []
    for driver, samples, witness in zip(result.drivers, *panels, strict=True):
        (column,) = driver.columns
        drawn = draw_samples(samples, result, shown[column], within)
        samples.tick_params(labelbottom=False)
        handles = handles if len(handles) > len(drawn) else drawn
        curve = draw_witness_curve(witness, driver, within, labels[column], shown[column], _AXES)
    _titles(panels[0], [labels[driver.columns[0]] for driver in result.drivers], words)
    for first, *others in panels:
        for axes in others:
            if axes.get_ylabel() == first.get_ylabel():
                axes.set_ylabel("")
    legend = [*sample_labels(result, names), STRIP_LABEL][: len(handles)]
    add_figure_legend(figure, handles + curve, [*legend, *WITNESS_LABELS], _COLUMN * len(result.drivers))


def _draw_pair(figure: SubFigure, result: TwoSampleResult, names: tuple[str, str]) -> None:
    """The rows in these two columns, and the witness there."""
    samples, witness = figure.subplots(1, 2)
    plane = result.picture.plane
    assert plane is not None
    draw_plane(samples, result, plane, names)
    draw_witness_plane(witness, result, plane, result.drivers[0], names)
    titles = ["Two columns that differ together", "Where they differ, if they do"]
    _titles([samples, witness], titles, [pair_in_words(result, result.drivers[0].columns), []])


def draw_list(axes: Axes, result: TwoSampleResult) -> None:
    """How likely each column differs, the likeliest on top."""
    rows = result.by_column[:_LISTED]
    labels = dict(zip(result.columns, column_labels(result, _LONGEST), strict=True))
    places = list(range(len(rows)))
    axes.barh(places, [row.prob for row in rows], color=[_bar_color(row.prob) for row in rows], height=0.7)
    for place, row in zip(places, rows, strict=True):
        inside = row.prob > _LIKELY
        axes.text(
            row.prob, place, f" {probability_label(row.prob)} ", ha="right" if inside else "left", va="center",
            color="white" if inside else INK, fontsize="small",
        )  # fmt: skip
    axes.set_yticks(places, [labels[row.column] for row in rows], fontsize="small")
    for text in axes.get_yticklabels():
        as_text(text)
    axes.set(xlim=(0.0, 1.0), ylim=(max(len(rows), 4) - 0.4, -0.6), xlabel="P(column differs by itself)")
    of = f" ({len(rows)} of {len(result.columns)})" if len(rows) < len(result.columns) else ""
    words = []
    if result.drivers and len(result.drivers[0].columns) == 1 and result.prob_h1 > _LIKELY and rows[0].prob <= _LIKELY:
        words = ["the samples differ, but no column clearly by itself"]
    _titles([axes], [f"Which columns differ, if any{of}"], [words])


def _bar_color(probability: float) -> str:
    return DIFFER_COLOR if probability > _LIKELY else "#B0B0B0"


def _titles(axes: Iterable[Axes], titles: list[str], words: list[list[str]]) -> None:
    """Titles at one height, with smaller words below, all in one line each if they fit."""
    breaks = any(len(", ".join(phrases)) > _WIDEST for phrases in words)
    below = [("\n" if breaks else ", ").join(phrases) for phrases in words]
    pad = 6.0 + 12.0 * max(1 + text.count("\n") if text else 0 for text in below)
    for one, title, text in zip(axes, titles, below, strict=True):
        as_text(one.set_title(title, loc="left", color=INK, pad=pad))
        if text:
            as_text(
                one.annotate(
                    text, (0.0, 1.0), xytext=(0.0, pad - 4.0), xycoords="axes fraction", textcoords="offset points",
                    color=FAINT, fontsize="small", va="top", in_layout=False,
                )
            )  # fmt: skip
