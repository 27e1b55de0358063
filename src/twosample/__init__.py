"""Bayesian kernel two-sample tests: are two samples from the same distribution, and where do they differ.

>>> import twosample as ts
>>> result = ts.test([4.1, 5.2, 4.7, 5.9, 5.0, 4.4, 5.5, 4.9], [6.3, 7.1, 6.9, 7.8, 6.6, 7.3, 8.0, 6.1])
>>> result.verdict
'positive evidence that the samples differ'
"""

from twosample import errors
from twosample.api import gibbs, log_bf10, test
from twosample.gibbs_result import GibbsResult
from twosample.models import Model
from twosample.result import TwoSampleResult
from twosample.statistics import FeatureStatistics

__version__ = "0.1.0"
__all__ = ["FeatureStatistics", "GibbsResult", "Model", "TwoSampleResult", "errors", "gibbs", "log_bf10", "test"]
