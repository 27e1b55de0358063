"""Samples of objects that are no rows of numbers: strings, graphs, whatever has a kernel or features.

`twosample.test` takes lists of objects with ``kernel="kmer"``, ``kernel="graph"``, a kernel of these classes with
options of its own, or a function; `twosample.test_gram` takes kernel values that were computed elsewhere.

>>> import twosample as ts
>>> x, y = ["gat" * k + "taca" for k in range(20)], ["GTA" * k + "TACA" for k in range(20)]
>>> ts.test(x, y, kernel=ts.domains.KMer(ignore_case=True), parameters=[1, 2]).by_parameter[1].log_bf10 > 3
True
"""

from twosample.features.domains.counts import CountKernel
from twosample.features.domains.graphs import WeisfeilerLehman
from twosample.features.domains.kmers import KMer

__all__ = ["CountKernel", "KMer", "WeisfeilerLehman"]
