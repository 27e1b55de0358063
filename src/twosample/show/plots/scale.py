"""At what scale samples differ: the posterior of the lengthscale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, add_legend, as_text, number_log_axis
from twosample.show.plots.labels import unit_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from twosample.results.two_sample_result import TwoSampleResult

__all__ = ["draw_lengthscale"]

_PROBABILITY_COLOR = "#7B3294"


def draw_lengthscale(axes: Axes, result: TwoSampleResult) -> None:
    """Draw the posterior of the lengthscale under each hypothesis, and P(different) at each lengthscale."""
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
