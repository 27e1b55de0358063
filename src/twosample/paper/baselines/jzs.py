"""The default Bayesian t-test: a Jeffreys prior on the variance and a Cauchy prior on the standardised difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from twosample.common.arguments import positive
from twosample.common.constraints import Positive
from twosample.common.floating import own_errors
from twosample.data import Samples
from twosample.errors import InputError
from twosample.paper.baselines.results import BayesResult, check_one_column, described

__all__ = ["JzsResult", "jzs"]

# Trapezoidal rule in log g. The integrand is analytic for |Im log g| < π/2, so the error is about exp(-π²/step). It
# vanishes doubly exponentially to the left, because of exp(-1/2g), and like 1/g beyond its last peak.
_STEP = 0.1
_LOWEST = -8.0
_BEYOND_PEAK = 45.0


@dataclass(frozen=True, eq=False, repr=False)
class JzsResult(BayesResult):
    """Result of `jzs`; see `BayesResult` for the fields that all Bayesian tests have.

    Attributes
    ----------
    t
        Student's t statistic: positive where `x` has the larger mean.
    cauchy_scale
        Scale of the Cauchy prior on the standardised difference.
    """

    test: ClassVar[str] = "JZS t-test (Rouder et al. 2009): only means"

    t: float
    cauchy_scale: Positive

    def _details(self) -> list[tuple[str, str]]:
        return [("t", f"{self.t:.4g}"), ("prior", f"Cauchy of scale {self.cauchy_scale:.3g}")]


@own_errors
def jzs(
    x: object,
    y: object,
    *,
    paired: object = False,
    cauchy_scale: float = math.sqrt(0.5),
    prior_odds: float = 1.0,
    nan_policy: Literal["raise", "omit"] = "raise",
) -> JzsResult:
    """The default Bayesian t-test of Rouder, Speckman, Sun, Morey and Iverson (2009).

    It compares means of one column, for normal samples of equal variance, and sees no other difference.

    Parameters
    ----------
    x, y
        The samples, one column each, as in `twosample.test`.
    paired
        Whether rows are pairs, as in `twosample.test`: a one-sample test of the differences.
    cauchy_scale
        Scale of the Cauchy prior on the difference of the means in standard deviations.
    prior_odds, nan_policy
        As in `twosample.test`.

    Returns
    -------
    JzsResult
        Bayes factor and t statistic.

    Examples
    --------
    >>> import twosample as ts
    >>> result = ts.baselines.jzs([4.1, 5.2, 4.7, 5.9, 5.0], [6.3, 7.1, 6.9, 7.8, 6.6])
    >>> round(result.t, 3), result.verdict
    (-5.027, 'strong evidence that the samples differ')
    """
    samples = Samples.from_data(x, y, paired=paired, nan_policy=nan_policy)
    check_one_column(samples, "jzs")
    prior_odds = positive(prior_odds, "prior_odds")
    cauchy_scale = positive(cauchy_scale, "cauchy_scale")
    t, size, freedom = _t_statistic(samples)
    return JzsResult(
        log_bf10=_log_bf10(t, size, freedom, cauchy_scale),
        prior_odds=prior_odds,
        **described(samples),
        t=t,
        cauchy_scale=cauchy_scale,
    )


def _t_statistic(samples: Samples) -> tuple[float, float, int]:
    """Student's t, the effective sample size and the degrees of freedom."""
    x, y = samples.view.apply(samples.x)[:, 0], samples.view.apply(samples.y)[:, 0]
    if samples.paired:
        differences = x - y
        size, freedom = float(len(x)), len(x) - 1
        mean, scatter = float(differences.mean()), float(np.square(differences - differences.mean()).sum())
    else:
        size, freedom = len(x) * len(y) / (len(x) + len(y)), len(x) + len(y) - 2
        mean = float(x.mean() - y.mean())
        scatter = float(np.square(x - x.mean()).sum() + np.square(y - y.mean()).sum())
    spread = math.sqrt(scatter / freedom)
    largest = max(float(np.abs(part).max()) for part in (samples.x, samples.y))
    rounding = 4.0 * float(np.finfo(np.float64).eps) * largest / float(samples.view.scale[0])
    if spread <= rounding:
        if abs(mean) <= rounding:
            return 0.0, size, freedom
        what = "the differences of the pairs" if samples.paired else "the values of each sample"
        raise InputError(
            f"x and y: {what} do not vary, so that t is infinite",
            argument="x and y",
            remedy="jzs needs some variation",
        )
    return mean / spread * math.sqrt(size), size, freedom


def _log_bf10(t: float, size: float, freedom: int, cauchy_scale: float) -> float:
    """Log of the integral over g ~ inverse gamma(1/2, 1/2) of Rouder et al. (2009), equation 1."""
    log_size = math.log(size) + 2.0 * math.log(cauchy_scale)
    log_ratio = 2.0 * math.log(abs(t)) - math.log(freedom) if t else -math.inf  # of t² to the degrees of freedom
    power = 0.5 * (freedom + 1)
    highest = max(0.0, 2.0 * math.log(abs(t)) - log_size if t else 0.0) + _BEYOND_PEAK
    log_g = np.arange(_LOWEST, highest, _STEP)
    log_shrinkage = np.logaddexp(0.0, log_size + log_g)  # 1 + N g r²
    integrand = (
        -0.5 * log_shrinkage
        - power * np.logaddexp(0.0, log_ratio - log_shrinkage)
        - 0.5 * log_g
        - 0.5 * np.exp(-log_g)
        - 0.5 * math.log(2.0 * math.pi)
    )
    return float(np.logaddexp.reduce(integrand) + math.log(_STEP) + power * np.logaddexp(0.0, log_ratio))
