"""The picture of an answer: the samples, where they differ, and at what scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.errors import InputError
from twosample.plots.common import DIFFER_COLOR, FAINT, INK, add_legend, as_text, headline, new_figure, number_log_axis
from twosample.plots.drivers import draw_drivers
from twosample.plots.labels import answer_in_words, short, unit_in_words
from twosample.plots.one_column import draw_column
from twosample.plots.several_columns import draw_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.result import TwoSampleResult

__all__ = ["plot_result"]

_PROBABILITY_COLOR = "#7B3294"


def plot_result(result: TwoSampleResult, *, names: tuple[str, str] = ("x", "y")) -> Figure:
    """Draw a result: the two samples, the witness function, and the posterior of the lengthscale.

    Of three columns or more it shows up to three columns, or two together, that drive the difference, and the columns
    that are the likeliest to differ; for models that test all columns together only, the first two principal axes.

    Parameters
    ----------
    result
        What `twosample.test` returned.
    names
        What to call the two samples.

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
    if len(names) != 2:
        raise InputError(f"names: need one name for each of the two samples, not {len(names)}")
    labels = (short(names[0]), short(names[1]))

    if result.drivers:
        figure, scale = draw_drivers(result, labels)
        scale.set_title("At what scale, all columns together", loc="left", color=INK)
    else:
        figure, scale = _draw_all(result, labels)
    _draw_lengthscale(scale, result)
    headline(figure, result, *answer_in_words(result))
    return figure


def _draw_all(result: TwoSampleResult, names: tuple[str, str]) -> tuple[Figure, Axes]:
    """All columns at once, as one or two need it; returns the axes left free too."""
    one_column = len(result.columns) == 1
    figure = new_figure(11.0, 6.2) if one_column else new_figure(15.0, 5.2)
    if one_column:
        grid = figure.add_gridspec(2, 2, width_ratios=(1.45, 1.0))
        samples = figure.add_subplot(grid[0, 0])
        witness = figure.add_subplot(grid[1, 0], sharex=samples)
        scale = figure.add_subplot(grid[:, 1])
        draw_column(samples, witness, result, names)
    else:
        samples, witness, scale = figure.subplots(1, 3)
        draw_columns(samples, witness, result, names)
    for axes, text in (
        (samples, "The samples"),
        (witness, "Where they differ, if they do"),
        (scale, "At what scale they differ, if they do"),
    ):
        axes.set_title(text, loc="left", color=INK)
    return figure, scale


def _draw_lengthscale(axes: Axes, result: TwoSampleResult) -> None:
    posterior = result.lengthscale
    if posterior.fixed:
        axes.set_axis_off()
        words = (
            f"The lengthscale was given, not inferred:\n{posterior.grid[0]:.4g}\n\n"
            f"{unit_in_words(result)}\n\nmedian heuristic: {posterior.median_heuristic:.4g}"
        )
        as_text(axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=INK))
        return

    from matplotlib.lines import Line2D

    grid = posterior.grid
    differ = axes.fill_between(grid, posterior.density_h1, color=DIFFER_COLOR, alpha=0.3, linewidth=0)
    axes.plot(grid, posterior.density_h1, color=DIFFER_COLOR, linewidth=1.8)
    (same,) = axes.plot(grid, posterior.density_h0, color=FAINT, linewidth=0.9)
    median = axes.axvline(posterior.median_heuristic, color=INK, linewidth=1.0, linestyle=":")
    axes.set(xscale="log", ylim=(0.0, 1.08 * float(max(posterior.density_h1.max(), posterior.density_h0.max()))))
    axes.set(ylabel="density of log lengthscale")
    axes.set_xlim(*_lengthscale_range(result))
    as_text(axes.set_xlabel(f"lengthscale\n{unit_in_words(result)}"))
    number_log_axis(axes.xaxis)

    probability = axes.twinx()
    probability.plot(grid, posterior.prob_h1, color=_PROBABILITY_COLOR, linewidth=1.4, linestyle="--")
    probability.set(ylim=(0.0, 1.08), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    probability.set_ylabel("P(different | data, lengthscale)", color=_PROBABILITY_COLOR)
    probability.tick_params(axis="y", colors=_PROBABILITY_COLOR)
    alone = Line2D([], [], color=_PROBABILITY_COLOR, linewidth=1.4, linestyle="--")
    handles = {
        "posterior if they differ": differ,
        "posterior if they are the same": same,
        "P(different) at that lengthscale": alone,
        "median heuristic": median,
    }
    add_legend(axes, list(handles.values()), list(handles))


def _lengthscale_range(result: TwoSampleResult) -> tuple[float, float]:
    """Where either posterior has mass, and the median heuristic."""
    posterior = result.lengthscale
    ends = [posterior.median_heuristic]
    for mass in (posterior.mass_h0, posterior.mass_h1):
        inside = posterior.grid[(np.cumsum(mass) > 1e-3) & (np.cumsum(mass[::-1])[::-1] > 1e-3)]
        ends += [float(inside[0]), float(inside[-1])] if len(inside) else []
    return min(ends) / 1.15, max(ends) * 1.15
