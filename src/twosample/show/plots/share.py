"""The picture of the posterior of the weight in the mixture of hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twosample.show.plots.axes import DIFFER_COLOR, FAINT, INK, as_text, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.results.mixing import Mixing

__all__ = ["plot_mixing"]

# The density may be infinite at 0 and 1; so far from there it is drawn.
_EDGE = 1e-3


def plot_mixing(mixing: Mixing, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Draw the posterior density of the share of H1, its mean, and the prior.

    Parameters
    ----------
    mixing
        What `TwoSampleResult.mixture` is, or its `over_blocks` returned.
    figsize
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``figure.savefig("mixture.png")``.
    """
    figure = new_figure(6.4, 3.6, figsize)
    axes = figure.subplots()
    share = np.linspace(_EDGE, 1.0 - _EDGE, 999)
    axes.plot(share, mixing.density(share), color=DIFFER_COLOR, linewidth=1.8, label="posterior")
    prior = 1.0 / (np.pi * np.sqrt(share * (1.0 - share)))
    axes.plot(share, prior, color=FAINT, linewidth=1.0, linestyle=":", label="prior")
    axes.axvline(mixing.mean, color=INK, linewidth=0.8, label="mean")
    axes.set_xlim(0.0, 1.0)
    inner = mixing.density(share[10:-10])
    axes.set_ylim(0.0, 1.15 * max(float(inner.max()), 1.0))
    as_text(axes.set_xlabel("share of H1"))
    as_text(axes.set_ylabel("density"))
    axes.legend(frameon=False)
    return figure
