"""The picture of how log BF10 depends on what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, as_text, new_figure, number_log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from twosample.results.robustness import Robustness, Sensitivity

__all__ = ["plot_robustness"]

# Kass and Raftery's limits of log BF, and what is beyond them.
_LIMITS = ((1.0, "positive"), (3.0, "strong"), (5.0, "very strong"))


def plot_robustness(robustness: Robustness, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw log BF10 against each assumption, with the limits of the verdicts.

    Parameters
    ----------
    robustness
        What `TwoSampleResult.robustness` returned.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("robustness.png")``.
    """
    curves = robustness.curves
    figure = new_figure(4.2 * len(curves) + 0.6, 4.0, figsize)
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, curve in zip(panels, curves, strict=True):
        _draw(axes, curve)
    panels[0].set_ylabel("log BF10")
    low, high = panels[0].get_ylim()
    for axes in panels:
        _draw_limits(axes, low, high, labelled=axes is panels[-1])
    as_text(figure.suptitle(robustness.sentence, fontsize="medium", color=INK, wrap=True))
    return figure


def _draw(axes: Axes, curve: Sensitivity) -> None:
    own = int(np.argmin(np.abs(curve.values - curve.default)))
    axes.plot(curve.values, curve.log_bf10, color=DIFFER_COLOR, linewidth=1.8, marker="o", markersize=4)
    axes.plot(curve.values[own], curve.log_bf10[own], "o", color=INK, markersize=8)
    axes.set_xscale("log")
    number_log_axis(axes.xaxis)
    as_text(axes.set_xlabel(curve.label))


def _draw_limits(axes: Axes, low: float, high: float, *, labelled: bool) -> None:
    """Lines where a verdict begins, as far as they are in view, and the words at the right."""
    low, high = min(low, -1.5), max(high, 1.5)
    axes.set_ylim(low, high)
    axes.axhline(0.0, color=INK, linewidth=0.8)
    for side in (1.0, -1.0):
        for limit, words in _LIMITS:
            if low < side * limit < high:
                axes.axhline(side * limit, color=FAINT, linewidth=0.7, linestyle=":")
                if labelled:
                    text = f"{words}: {'different' if side > 0 else 'the same'}"
                    axes.annotate(
                        text, (1.0, side * limit), (3, 0), xycoords=("axes fraction", "data"),
                        textcoords="offset points", va="center", fontsize="small", color=FAINT,
                    )  # fmt: skip
