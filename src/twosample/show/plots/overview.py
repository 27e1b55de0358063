"""The picture of an answer: the samples, where they differ, and at what scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twosample.show.plots.axes import headline, new_figure
from twosample.show.plots.driver_panels import draw_drivers
from twosample.show.plots.labels import answer_in_words
from twosample.show.plots.panels import lengthscale, sample_names, samples, witness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["plot_result"]


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
    figsize
        Width and height in inches, if not those that the panels need.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("result.png")``. It belongs to no window and no global state.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.test([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9])
    >>> figure = plot_result(result, names=("before", "after"))
    >>> [axes.get_title(loc="left") for axes in figure.axes[:3]]
    ['The samples', 'Where they differ, if they do', 'At what scale they differ, if they do']
    """
    labels = sample_names(result, names)
    figure, scale = (draw_drivers if result.drivers else _draw_all)(result, labels, figsize)
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
