"""Pictures of chains: the sampled lengthscales and which columns matter, and the chains draw by draw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.inference.evidence import probability
from twosample.inference.pictures import kernel_density
from twosample.show.plots.axes import (
    DIFFER_COLOR,
    FAINT,
    GRID_1D,
    INK,
    MOST_PANELS,
    as_text,
    figure_docs,
    headline,
    name_ticks,
    new_figure,
    number_log_axis,
)
from twosample.show.plots.labels import column_labels, sampled_answer_in_words, unit_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.paper.gibbs_result import GibbsResult

__all__ = ["plot_lengthscales", "plot_trace"]

_FEWEST_DRAWS = 20


@figure_docs
def plot_lengthscales(result: GibbsResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the posterior of every lengthscale under each hypothesis, and for kernel "ard" which columns matter.

    Parameters
    ----------
    result
        What `twosample.gibbs` returned. Of more than 12 columns the 12 most relevant are shown.
    {figure}
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
    unit, median = _unit_and_median(result, index)
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
    name_ticks(axes.yaxis, [names[column] for column in relevance.columns[:n_shown]])
    axes.set(ylim=(n_shown - 0.5, -0.5))
    axes.set_xlabel("log BF10 that is lost without the column\n(mean ± 2 Monte Carlo errors)")
    of = f" ({n_shown} of {len(relevance.columns)})" if n_shown < len(relevance.columns) else ""
    axes.set_title(f"Which columns drive the difference, if any{of}", loc="left", color=INK)


def _unit_and_median(result: GibbsResult, index: int) -> tuple[float, float]:
    """What a lengthscale was multiplied by for its unit, and the median heuristic in that unit."""
    single = len(result.columns) == 1
    unit = float(result.scale[index]) if result.kernel == "ard" or single else 1.0
    return unit, result.median_heuristic if single else result.median_heuristic * unit


@figure_docs
def plot_trace(result: GibbsResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the chains draw by draw: P(different), the hypothesis, and the lengthscales.

    Parameters
    ----------
    result
        What `twosample.gibbs` returned. Of more than 12 lengthscales the 12 whose chains agree least are shown.
    {figure}
    """
    diagnostics = result.diagnostics
    shown = sorted(np.argsort(-diagnostics.r_hat_lengthscales, kind="stable")[:MOST_PANELS].tolist())
    n_columns = 1 if len(shown) <= 3 else 2
    n_rows = math.ceil(len(shown) / n_columns)
    strip = 0.25 + 0.12 * len(result.labels)
    figure = new_figure(11.0, 3.6 + strip + 1.6 * n_rows, figsize)
    from matplotlib import colormaps

    grid = figure.add_gridspec(2 + n_rows, n_columns, height_ratios=[2.0, strip] + [1.3] * n_rows)

    chains = list(colormaps["viridis"](np.linspace(0.0, 0.85, len(result.labels))))
    probability = figure.add_subplot(grid[0, :])
    _draw_probability(probability, result, chains)
    labels = figure.add_subplot(grid[1, :], sharex=probability)
    _draw_labels(labels, result)
    drawn = [probability, labels]
    draws = np.arange(1, result.labels.shape[1] + 1)
    for place, index in enumerate(shown):
        axes = figure.add_subplot(grid[(2 + place // n_columns, place % n_columns)], sharex=probability)
        for series, color in zip(result.lengthscales[:, :, index], chains, strict=True):
            axes.plot(draws, series, color=color, linewidth=0.7, alpha=0.8)
        axes.axhline(_unit_and_median(result, index)[1], color=INK, linewidth=1.0, linestyle=":")
        axes.set(yscale="log", ylabel="lengthscale" if place % n_columns == 0 else "")
        number_log_axis(axes.yaxis)
        name = column_labels(result)[index] if result.kernel == "ard" else "Lengthscale"
        _trace_titles(
            axes, name, _agreement(diagnostics.r_hat_lengthscales[index], diagnostics.ess_lengthscales[index])
        )
        drawn.append(axes)
    for axes in drawn[:-n_columns]:
        axes.tick_params(labelbottom=False)
    thinning, burn_in = result.settings.thinning, result.settings.burn_in
    kept = "every Gibbs step" if thinning == 1 else f"one in {thinning} Gibbs steps"
    figure.supxlabel(f"kept draw ({kept} after the first {burn_in}); dotted: median heuristic", fontsize="medium")
    probability.set_xlim(0.5, len(draws) + 0.5)
    headline(figure, result, *sampled_answer_in_words(result))
    return figure


def _draw_probability(axes: Axes, result: GibbsResult, chains: list[Any]) -> None:
    """P(different | parameters) of every draw, and the mean of those so far."""
    log_odds = result.log_bf10_given + math.log(result.prior_odds)
    probabilities = probability(log_odds)
    draws = np.arange(1, probabilities.shape[1] + 1)
    for series, color in zip(probabilities, chains, strict=True):
        axes.plot(draws, series, ".", color=color, markersize=4, alpha=0.5, markeredgewidth=0)
        axes.plot(draws, np.cumsum(series) / draws, color=color, linewidth=1.6)
    axes.set(ylim=(-0.03, 1.03), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    agreement = _agreement(result.diagnostics.r_hat_prob_h1, result.diagnostics.ess_prob_h1)
    _trace_titles(axes, "P(different | parameters), and its mean so far in each chain", agreement)


def _draw_labels(axes: Axes, result: GibbsResult) -> None:
    """A strip a chain with the hypothesis of every draw."""
    from matplotlib.colors import ListedColormap

    n_chains, n_draws = result.labels.shape
    axes.imshow(
        result.labels, cmap=ListedColormap(["#D9D9D9", DIFFER_COLOR]), vmin=0, vmax=1, aspect="auto",
        extent=(0.5, n_draws + 0.5, n_chains + 0.5, 0.5), interpolation="nearest",
    )  # fmt: skip
    for chain in range(1, n_chains):
        axes.axhline(chain + 0.5, color="white", linewidth=1.0)
    axes.set(yticks=[])
    changes = int(result.diagnostics.switches.sum())
    words = "Hypothesis, a row a chain (green: they differ, grey: the same)"
    _trace_titles(axes, words, f"{changes:,} {'change' if changes == 1 else 'changes'}")


def _trace_titles(axes: Axes, name: str, agreement: str) -> None:
    as_text(axes.set_title(name, loc="left", color=INK, fontsize="medium"))
    axes.set_title(agreement, loc="right", color=FAINT, fontsize="medium")


def _agreement(r_hat: float, effective: float) -> str:
    return f"R-hat {r_hat:.3f}, {effective:,.0f} effective draws"
