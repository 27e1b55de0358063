"""Are two samples from the same distribution, with what probability, and where do they differ?

>>> import twosample as ts
>>> ts.test([4.1, 5.2, 4.7, 5.9, 5.0, 4.4], [4.3, 5.1, 4.9, 5.8, 4.6, 5.3]).verdict
'positive evidence that the samples come from the same distribution'
"""

from twosample import errors
from twosample.api import log_bf10, test
from twosample.models import Model
from twosample.result import TwoSampleResult
from twosample.statistics import FeatureStatistics

__version__ = "0.1.0"
__all__ = ["FeatureStatistics", "Model", "TwoSampleResult", "errors", "log_bf10", "test"]
