"""At what scale samples differ: the posterior of the lengthscale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twosample.show.plots.axes import INK, add_legend, as_text
from twosample.show.plots.drawing import draw_marks
from twosample.show.plots.labels import prior_and_posterior, unit_in_words
from twosample.show.sample_panels import lengthscale_posterior

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

    panel = lengthscale_posterior(*prior_and_posterior(result))
    handles = draw_marks(panel, axes)
    as_text(axes.set_xlabel(f"lengthscale\n{unit_in_words(result)}"))
    beside = axes.twinx()
    dashed = {"color": _PROBABILITY_COLOR, "linewidth": 1.4, "linestyle": "--"}
    beside.plot(posterior.grid, posterior.prob_h1, **dashed)  # type: ignore[arg-type]
    beside.set(ylim=(0.0, 1.08), yticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    beside.set_ylabel("P(different | data, lengthscale)", color=_PROBABILITY_COLOR)
    beside.tick_params(axis="y", colors=_PROBABILITY_COLOR)
    handles["P(different) at that lengthscale"] = Line2D([], [], **dashed)  # type: ignore[arg-type]
    add_legend(axes, list(handles.values()), list(handles))
