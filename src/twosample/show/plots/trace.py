"""The picture of chains, draw by draw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.inference.evidence import probability
from twosample.show.plots.axes import (
    DIFFER_COLOR,
    FAINT,
    INK,
    MOST_PANELS,
    as_text,
    headline,
    median_heuristic,
    new_figure,
    number_log_axis,
)
from twosample.show.plots.labels import column_labels, sampled_answer_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.paper.gibbs_result import GibbsResult

__all__ = ["plot_trace"]


def plot_trace(result: GibbsResult, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the chains draw by draw: P(different), the hypothesis, and the lengthscales.

    Parameters
    ----------
    result
        What `twosample.gibbs` returned. Of more than 12 lengthscales the 12 whose chains agree least are shown.
    figsize
        Width and height in inches, if not those that the panels need.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("trace.png")``. It belongs to no window and no global state.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    diagnostics = result.diagnostics
    shown = sorted(np.argsort(-diagnostics.r_hat_lengthscales, kind="stable")[:MOST_PANELS].tolist())
    n_columns = 1 if len(shown) <= 3 else 2
    n_rows = math.ceil(len(shown) / n_columns)
    strip = 0.25 + 0.12 * len(result.labels)
    figure = new_figure(11.0, 3.6 + strip + 1.6 * n_rows, figsize)
    grid = figure.add_gridspec(2 + n_rows, n_columns, height_ratios=[2.0, strip] + [1.3] * n_rows)

    chains = _chain_colors(len(result.labels))
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
        axes.axhline(median_heuristic(result, index), color=INK, linewidth=1.0, linestyle=":")
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


def _chain_colors(n_chains: int) -> list[Any]:
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.0, 0.85, n_chains)))


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
