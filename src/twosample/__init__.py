"""Bayesian kernel two-sample tests: are two samples from the same distribution, and where do they differ.

>>> import twosample as ts
>>> before = [4.1, 5.2, 4.7, 5.9, 5.0, 4.4, 5.5, 4.9, 5.3, 4.6, 5.1, 4.8]
>>> after = [6.3, 7.1, 6.9, 7.8, 6.6, 7.3, 8.0, 6.1, 7.0, 6.7, 7.5, 6.8]
>>> result = ts.test(before, after)
>>> result.verdict
'very strong evidence of a very large difference'
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from twosample.common.exits import is_command as _is_command
from twosample.common.exits import loading as _loading

with _loading(as_command=_is_command()):
    from twosample import errors
    from twosample.common.versions import require as _require

    _refused: errors.OldPackageError | None = None
    try:
        _require("numpy")
    except errors.OldPackageError as _error:  # whatever is asked of the package says so, and the command in its way
        _refused = _error
    else:
        from twosample import kernels
        from twosample.data.blocks import Blocks, blocks
        from twosample.features.statistics import FeatureStatistics
        from twosample.models import Model
        from twosample.plan import Plan
        from twosample.questions.two_samples import log_bf10, plan, test, test_each
        from twosample.results.robustness import Robustness
        from twosample.results.two_sample_result import TwoSampleResult

if _TYPE_CHECKING:
    from twosample import checks
    from twosample.features import domains
    from twosample.paper import baselines, chemistry, datasets, simulate
    from twosample.paper.gibbs_result import GibbsResult
    from twosample.questions.design import design
    from twosample.questions.gibbs import gibbs
    from twosample.questions.goodness import goodness
    from twosample.questions.gram import test_gram
    from twosample.questions.independence import IndependenceResult, independence
    from twosample.questions.ksample import ksample
    from twosample.questions.monitor import Monitor, sequential
    from twosample.questions.reference import Reference
    from twosample.results.design_result import DesignResult
    from twosample.results.each_result import EachResult
    from twosample.results.goodness_result import GoodnessOfObjectsResult, GoodnessResult
    from twosample.results.groups_result import GroupsResult
    from twosample.results.ksample_result import KSampleResult
    from twosample.results.mixing import Mixing
    from twosample.results.objects_result import ObjectsResult
    from twosample.show import plots

__version__ = "0.1.0"
__all__ = [
    "Blocks",
    "DesignResult",
    "EachResult",
    "FeatureStatistics",
    "GibbsResult",
    "GoodnessOfObjectsResult",
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
    "design",
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


_MODULES = {
    "baselines": "paper.baselines",
    "checks": "checks",
    "chemistry": "paper.chemistry",
    "datasets": "paper.datasets",
    "domains": "features.domains",
    "plots": "show.plots",
    "simulate": "paper.simulate",
}
_LATER = {
    "DesignResult": "results.design_result",
    "EachResult": "results.each_result",
    "GibbsResult": "paper.gibbs_result",
    "GoodnessOfObjectsResult": "results.goodness_result",
    "GoodnessResult": "results.goodness_result",
    "GroupsResult": "results.groups_result",
    "IndependenceResult": "questions.independence",
    "Mixing": "results.mixing",
    "KSampleResult": "results.ksample_result",
    "Monitor": "questions.monitor",
    "independence": "questions.independence",
    "sequential": "questions.monitor",
    "ObjectsResult": "results.objects_result",
    "Reference": "questions.reference",
    "test_gram": "questions.gram",
    "design": "questions.design",
    "gibbs": "questions.gibbs",
    "goodness": "questions.goodness",
    "ksample": "questions.ksample",
}


def __getattr__(name: str) -> _Any:
    """Import what most programs do without, such as the baselines and with them SciPy, when it is first used."""
    if _refused is not None and name in __all__:
        raise _refused
    if name in _MODULES:
        return _import_module(f"twosample.{_MODULES[name]}")
    if name in _LATER:
        value = globals()[name] = getattr(_import_module(f"twosample.{_LATER[name]}"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names alone, also those not yet imported."""
    return sorted(__all__)
