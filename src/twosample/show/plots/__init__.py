"""Pictures of results: the samples, where they differ, at what scale; and chains. They read a result, infer nothing.

Functions whose names begin with `plot_` draw whole figures, such as `plot_result`. `samples`, `witness`, `lengthscale`
and `columns` draw the panels of `plot_result`, each on axes of one's own (`ax`) or in a figure of its own, and return
the axes.

>>> import twosample as ts
>>> result = ts.test([4.1, 5.2, 4.7, 5.9, 5.0, 4.4], [6.3, 7.1, 6.9, 7.8, 6.6, 7.3])
>>> ts.plots.witness(result).get_ylabel()
'witness'
"""

from twosample.common.words import printable
from twosample.show.plots.chain_plots import plot_lengthscales, plot_trace
from twosample.show.plots.overview import plot_result
from twosample.show.plots.panels import columns, lengthscale, samples, witness
from twosample.show.plots.questions import (
    plot_each,
    plot_independence,
    plot_ksample,
    plot_mixing,
    plot_monitor,
    plot_objects,
    plot_panels,
    plot_robustness,
)
from twosample.show.plots.tree import plot_tree

__all__ = [
    "columns",
    "lengthscale",
    "plot_each",
    "plot_independence",
    "plot_ksample",
    "plot_lengthscales",
    "plot_mixing",
    "plot_monitor",
    "plot_objects",
    "plot_panels",
    "plot_result",
    "plot_robustness",
    "plot_trace",
    "plot_tree",
    "printable",
    "samples",
    "witness",
]
