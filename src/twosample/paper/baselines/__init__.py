"""Other two-sample tests, for comparison, with one interface: Pólya trees, kernel permutation tests and the t-test.

>>> from twosample import baselines
>>> baselines.jzs([4.1, 5.2, 4.7, 5.9, 5.0], [6.3, 7.1, 6.9, 7.8, 6.6]).verdict
'strong evidence that the samples differ'
"""

from twosample.paper.baselines.chen_hanson import ChenHansonResult, chen_hanson
from twosample.paper.baselines.holmes import HolmesResult, holmes
from twosample.paper.baselines.jzs import JzsResult, jzs
from twosample.paper.baselines.mmd import MmdResult, mmd
from twosample.paper.baselines.results import BayesResult, PValueResult

__all__ = [
    "BayesResult",
    "ChenHansonResult",
    "HolmesResult",
    "JzsResult",
    "MmdResult",
    "PValueResult",
    "chen_hanson",
    "holmes",
    "jzs",
    "mmd",
]
