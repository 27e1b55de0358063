"""Pictures of results: the samples, where they differ, at what scale; and chains. They read a result, infer nothing."""

from twosample.plots.answer import plot_result
from twosample.plots.lengthscales import plot_lengthscales
from twosample.plots.trace import plot_trace
from twosample.plots.tree import plot_tree
from twosample.words import printable

__all__ = ["plot_lengthscales", "plot_result", "plot_trace", "plot_tree", "printable"]
