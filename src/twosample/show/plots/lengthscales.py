"""The picture of sampled lengthscales: their posteriors, and which columns matter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.inference.pictures import kernel_density
from twosample.show.plots.axes import (
    DIFFER_COLOR,
    FAINT,
    GRID_1D,
    INK,
    MOST_PANELS,
    as_text,
    headline,
    lengthscale_unit,
    median_heuristic,
    new_figure,
    number_log_axis,
)
from twosample.show.plots.labels import column_labels, sampled_answer_in_words, unit_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.paper.gibbs_result import GibbsResult

__all__ = ["plot_lengthscales"]

_FEWEST_DRAWS = 20


def plot_lengthscales(result: GibbsResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the posterior of every lengthscale under each hypothesis, and for kernel "ard" which columns matter.

    Parameters
    ----------
    result
        What `twosample.gibbs` returned. Of more than 12 columns the 12 most relevant are shown.
    figsize
        Width and height in inches, if not those that the panels need.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("lengthscales.png")``. It belongs to no window and no global state.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    shown = list(range(result.lengthscales.shape[-1]))[:MOST_PANELS]
    if result.relevance is not None:
        shown = [result.columns.index(name) for name in result.relevance.columns[:MOST_PANELS]]
    n_columns = len(shown) if len(shown) < 4 else math.ceil(math.sqrt(len(shown)))
    n_rows = math.ceil(len(shown) / n_columns)
    if result.relevance is not None:
        figure = new_figure(2.9 * n_columns + 5.0, max(2.2 * n_rows + 1.8, 5.0), figsize)
        grid = figure.add_gridspec(n_rows, n_columns + 1, width_ratios=[1.0] * n_columns + [1.5])
    else:
        figure = new_figure(max(2.9 * n_columns, 7.5), max(2.2 * n_rows + 1.8, 5.0), figsize)
        grid = figure.add_gridspec(n_rows, n_columns)
    handles: dict[str, Any] = {}
    for place, index in enumerate(shown):
        axes = figure.add_subplot(grid[divmod(place, n_columns)])
        handles |= _draw_draws(axes, result, index)
        if place % n_columns == 0:
            axes.set_ylabel("density of log lengthscale" if n_rows == 1 else "density")
        if result.kernel == "ard":
            title = column_labels(result)[index]
            if result.relevance is not None:
                value, error = result.relevance.shortening[place], result.relevance.error[place]
                words = "shorter" if value >= 0.0 else "longer"
                title = f"{place + 1}. {title}\n{words} by {abs(value):.2f} ± {error:.2f} if they differ"
            as_text(axes.set_title(title, loc="left", color=INK, fontsize="medium"))
            if place >= len(shown) - n_columns:
                axes.set_xlabel("lengthscale\n(in the units of the column)")
        else:
            axes.set_title("At what scale they differ, if they do", loc="left", color=INK)
            as_text(axes.set_xlabel(f"lengthscale\n{unit_in_words(result)}"))
    if result.relevance is not None:
        _draw_relevance(figure.add_subplot(grid[:, -1]), result, len(shown))
    ncols = 4 if figure.get_figwidth() > 8.5 else 2
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=ncols, frameon=False)
    headline(figure, result, *sampled_answer_in_words(result))
    return figure


def _draw_draws(axes: Axes, result: GibbsResult, index: int) -> dict[str, Any]:
    """Densities of a log lengthscale under each hypothesis; returns what the legend needs."""
    draws = {hypothesis: np.log(result.lengthscale_draws(hypothesis)[:, index]) for hypothesis in (1, 0)}
    unit, median = lengthscale_unit(result, index), median_heuristic(result, index)
    ends = [np.log(median), *(np.quantile(one, q) for one in draws.values() if len(one) for q in (0.002, 0.998))]
    at = np.linspace(min(ends) - 0.15, max(ends) + 0.15, GRID_1D)
    density = {which: kernel_density(one, at) for which, one in draws.items() if len(one) >= _FEWEST_DRAWS}
    grid = np.exp(at)
    handles: dict[str, Any] = {}
    if 1 in density:
        differ = axes.fill_between(grid, density[1], color=DIFFER_COLOR, alpha=0.3, linewidth=0)
        axes.plot(grid, density[1], color=DIFFER_COLOR, linewidth=1.8)
        handles["posterior if they differ"] = differ
    if 0 in density:
        (handles["posterior if they are the same"],) = axes.plot(grid, density[0], color=FAINT, linewidth=0.9)

    prior = result.model.lengthscale
    low, high = prior.bounds(median / unit)
    inside = (grid >= low * unit) & (grid <= high * unit)
    expected = np.where(inside, np.exp(prior.log_density(at - np.log(unit))), 0.0)
    (handles["prior"],) = axes.plot(grid, expected, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)))
    handles["median heuristic"] = axes.axvline(median, color=INK, linewidth=1.0, linestyle=":")

    few = [
        f"only {len(draws[which])} draws {words}"
        for which, words in ((1, "if they differ"), (0, "if they are the same"))
        if which not in density
    ]
    axes.text(
        0.03, 0.97, "\n".join(few), transform=axes.transAxes, va="top", color=FAINT, fontsize="small",
        backgroundcolor="white",
    )  # fmt: skip
    top = max((float(one.max()) for one in (*density.values(), expected)), default=1.0)
    axes.set(xscale="log", xlim=(grid[0], grid[-1]), ylim=(0.0, 1.08 * top), yticks=[])
    number_log_axis(axes.xaxis)
    return handles


def _draw_relevance(axes: Axes, result: GibbsResult, n_shown: int) -> None:
    """How much evidence is lost without each column, the strongest on top."""
    relevance = result.relevance
    assert relevance is not None
    places, value = np.arange(n_shown), relevance.loss[:n_shown]
    axes.axvline(0.0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.errorbar(
        value, places, xerr=2.0 * relevance.loss_error[:n_shown], fmt="o", color=DIFFER_COLOR, markersize=5, capsize=2
    )
    names = dict(zip(result.columns, column_labels(result), strict=True))
    axes.set_yticks(places, [names[column] for column in relevance.columns[:n_shown]])
    for text in axes.get_yticklabels():
        as_text(text)
    axes.set(ylim=(n_shown - 0.5, -0.5))
    axes.set_xlabel("log BF10 that is lost without the column\n(mean ± 2 Monte Carlo errors)")
    of = f" ({n_shown} of {len(relevance.columns)})" if n_shown < len(relevance.columns) else ""
    axes.set_title(f"Which columns drive the difference, if any{of}", loc="left", color=INK)
