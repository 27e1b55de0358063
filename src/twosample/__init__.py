"""Bayesian kernel two-sample tests: are two samples from the same distribution, and where do they differ.

>>> import twosample as ts
>>> before = [4.1, 5.2, 4.7, 5.9, 5.0, 4.4, 5.5, 4.9, 5.3, 4.6, 5.1, 4.8]
>>> after = [6.3, 7.1, 6.9, 7.8, 6.6, 7.3, 8.0, 6.1, 7.0, 6.7, 7.5, 6.8]
>>> result = ts.test(before, after)
>>> result.verdict
'strong evidence of a very large difference'
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from twosample import errors, kernels
from twosample.api import gibbs, log_bf10, plan, test, test_each
from twosample.data.blocks import Blocks, blocks
from twosample.models import Model
from twosample.plan import Plan
from twosample.result import TwoSampleResult
from twosample.robustness import Robustness
from twosample.statistics import FeatureStatistics

if _TYPE_CHECKING:
    from twosample import baselines, checks, chemistry, datasets, domains, plots, simulate
    from twosample.dependence import IndependenceResult, independence
    from twosample.domains.gram import test_gram
    from twosample.each_result import EachResult
    from twosample.gibbs_result import GibbsResult
    from twosample.goodness_result import GoodnessResult
    from twosample.groups_result import GroupsResult
    from twosample.ksample_result import KSampleResult
    from twosample.mixing import Mixing
    from twosample.monitor import Monitor, sequential
    from twosample.objects_result import ObjectsResult
    from twosample.one_sample import goodness
    from twosample.reference import Reference
    from twosample.several import ksample

__version__ = "0.1.0"
__all__ = [
    "Blocks",
    "EachResult",
    "FeatureStatistics",
    "GibbsResult",
    "GoodnessResult",
    "GroupsResult",
    "IndependenceResult",
    "KSampleResult",
    "Mixing",
    "Model",
    "Monitor",
    "ObjectsResult",
    "Plan",
    "Reference",
    "Robustness",
    "TwoSampleResult",
    "baselines",
    "blocks",
    "checks",
    "chemistry",
    "datasets",
    "domains",
    "errors",
    "gibbs",
    "goodness",
    "independence",
    "kernels",
    "ksample",
    "log_bf10",
    "plan",
    "plots",
    "sequential",
    "simulate",
    "test",
    "test_each",
    "test_gram",
]


_LATER = {
    "EachResult": "each_result",
    "GibbsResult": "gibbs_result",
    "GoodnessResult": "goodness_result",
    "GroupsResult": "groups_result",
    "IndependenceResult": "dependence",
    "Mixing": "mixing",
    "KSampleResult": "ksample_result",
    "Monitor": "monitor",
    "independence": "dependence",
    "sequential": "monitor",
    "ObjectsResult": "objects_result",
    "Reference": "reference",
    "test_gram": "domains.gram",
    "goodness": "one_sample",
    "ksample": "several",
}


def __getattr__(name: str) -> _Any:
    """Import what most programs do without, such as the baselines and with them SciPy, when it is first used."""
    if name in ("baselines", "checks", "chemistry", "datasets", "domains", "plots", "simulate"):
        return _import_module(f"twosample.{name}")
    if name in _LATER:
        value = globals()[name] = getattr(_import_module(f"twosample.{_LATER[name]}"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names alone, also those not yet imported."""
    return sorted(__all__)
