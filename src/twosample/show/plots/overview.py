"""The picture of an answer: the samples, where they differ, and at what scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twosample.common.words import short
from twosample.show.plots.axes import add_figure_legend, figure_docs, headline, new_figure
from twosample.show.plots.labels import (
    LONGEST_WITHIN,
    answer_in_words,
    column_in_words,
    column_labels,
    pair_in_words,
    sample_labels,
)
from twosample.show.plots.one_column import STRIP_LABEL, WITNESS_LABELS, draw_samples, draw_witness_curve
from twosample.show.plots.panels import add_titles, columns, lengthscale, sample_names, samples, witness
from twosample.show.plots.several_columns import draw_plane, draw_witness_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["plot_result"]

# Inches: the height, the width of the panels of a column and what of it the axes have, of a pair, and of the rest.
_HEIGHT, _COLUMN, _AXES, _PAIR, _REST = 6.8, 4.2, 3.4, 10.0, 5.6


@figure_docs
def plot_result(
    result: TwoSampleResult, *, names: tuple[str, str] | None = None, figsize: tuple[float, float] | None = None
) -> Figure:
    """Draw a result: the two samples, the witness function, and the posterior of the lengthscale.

    Of three columns or more it shows up to three columns, or two together, that drive the difference, and the columns
    that are the likeliest to differ; for models that test all columns together only, the first two principal axes.

    Parameters
    ----------
    result
        What `twosample.test` returned.
    names
        What to call the two samples, if not as in the result.
    {figure}

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9])
    >>> figure = plot_result(result, names=("before", "after"))
    >>> [axes.get_title(loc="left") for axes in figure.axes[:3]]
    ['The samples', 'Where they differ, if they do', 'At what scale they differ, if they do']
    """
    labels = sample_names(result, names)
    figure, scale = (_draw_drivers if result.drivers else _draw_all)(result, labels, figsize)
    lengthscale(result, scale)
    headline(figure, result, *answer_in_words(result))
    return figure


def _draw_all(
    result: TwoSampleResult, names: tuple[str, str], figsize: tuple[float, float] | None
) -> tuple[Figure, Axes]:
    """All columns at once, as one or two need it; returns the axes left free too."""
    one_column = len(result.columns) == 1
    figure = new_figure(*((11.0, 6.2) if one_column else (15.0, 5.2)), figsize)
    if one_column:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.45, 1.0))
        above = figure.add_subplot(grid[0, 0])
        below = figure.add_subplot(grid[1, 0], sharex=above)
        scale = figure.add_subplot(grid[:, 1])
    else:
        above, below, scale = figure.subplots(1, 3)
    samples(result, above, names=names)
    if one_column:
        above.set_xlabel("")
        above.tick_params(labelbottom=False)
    witness(result, below, names=names)
    return figure, scale


def _draw_drivers(
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
    ranking, scale = (right.add_subfigure(grid[place, 0]).subplots() for place in range(2))
    columns(result, ranking)
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
    for driver, above, below in zip(result.drivers, *panels, strict=True):
        (column,) = driver.columns
        drawn = draw_samples(above, result, shown[column], within)
        above.tick_params(labelbottom=False)
        handles = handles if len(handles) > len(drawn) else drawn
        curve = draw_witness_curve(below, driver, within, labels[column], shown[column], _AXES)
    add_titles(panels[0], [labels[driver.columns[0]] for driver in result.drivers], words)
    for first, *others in panels:
        for axes in others:
            if axes.get_ylabel() == first.get_ylabel():
                axes.set_ylabel("")
    legend = [*sample_labels(result, names), STRIP_LABEL][: len(handles)]
    add_figure_legend(figure, handles + curve, [*legend, *WITNESS_LABELS], _COLUMN * len(result.drivers))


def _draw_pair(figure: SubFigure, result: TwoSampleResult, names: tuple[str, str]) -> None:
    """The rows in these two columns, and the witness there."""
    left, right = figure.subplots(1, 2)
    plane = result.picture.plane
    assert plane is not None
    draw_plane(left, result, plane, names)
    draw_witness_plane(right, result, plane, result.drivers[0], names)
    titles = ["Two columns that differ together", "Where they differ, if they do"]
    add_titles([left, right], titles, [pair_in_words(result, result.drivers[0].columns), []])
