"""Pictures of results: the samples, where they differ, at what scale; and chains. They read a result, infer nothing.

Functions whose names begin with `plot_` draw whole figures, such as `plot_result`. `samples`, `witness`, `lengthscale`
and `columns` draw the panels of `plot_result`, each on axes of one's own (`ax`) or in a figure of its own, and return
the axes.

>>> import twosample as ts
>>> result = ts.test([4.1, 5.2, 4.7, 5.9, 5.0, 4.4], [6.3, 7.1, 6.9, 7.8, 6.6, 7.3])
>>> ts.plots.witness(result).get_ylabel()
'witness'
"""

from twosample.plots.answer import plot_result
from twosample.plots.each import plot_each
from twosample.plots.independence import plot_independence
from twosample.plots.ksample import plot_ksample
from twosample.plots.lengthscales import plot_lengthscales
from twosample.plots.mixing import plot_mixing
from twosample.plots.monitor import plot_monitor
from twosample.plots.objects import plot_objects
from twosample.plots.panels import columns, lengthscale, samples, witness
from twosample.plots.robustness import plot_robustness
from twosample.plots.trace import plot_trace
from twosample.plots.tree import plot_tree
from twosample.words import printable

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
    "plot_result",
    "plot_robustness",
    "plot_trace",
    "plot_tree",
    "printable",
    "samples",
    "witness",
]
