"""What is assumed: a `Model` says every prior and every estimate of the test, and the presets are values of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from twosample.common.arrays import Array, namespace
from twosample.common.constraints import Count, Nonnegative, Positive, Share
from twosample.errors import InputError, InputTypeError, Setting

if TYPE_CHECKING:
    from twosample.features.maps import PointKernel

__all__ = [
    "PRESETS",
    "Gamma",
    "HalfCauchy",
    "LogUniform",
    "Measure",
    "Model",
    "NoiseFloor",
    "resolve",
    "resolve_pooled",
]

Measure = Literal["lebesgue", "points"]

# What rounding in R and V can hide, also where the features do not vary at all; and of a relative floor, beside the
# noise.
_SMALLEST_FLOOR = 1e-12
_SMALLEST_SHARE = 1e-9
# Features are rounded by 1e-13 or so; variances below the square of that say nothing.
_ROUNDED_SQUARE = 1e-24


@dataclass(frozen=True)
class LogUniform:
    """Lengthscale prior, uniform in log ℓ between two multiples of the median heuristic."""

    low: Positive
    high: Positive

    def _problems(self) -> Iterator[str]:
        """What does not go together."""
        if self.low >= self.high:
            yield f"goes from {self.low:g} to {self.high:g}, which is no range"

    def bounds(self, median: float, spread: float = 0.0) -> tuple[float, float]:
        """Smallest and largest lengthscale of the support."""
        return self.low * median, self.high * median

    def log_density(self, log_lengthscale: Array) -> Array:
        """Log density of log ℓ."""
        return np.full_like(log_lengthscale, -np.log(np.log(self.high / self.low)))

    @property
    def multiples(self) -> Array:
        """Multiples of the median heuristic that stand for the prior where few are enough: two in a factor of 2.

        Examples
        --------
        >>> LogUniform(0.5, 2.0).multiples.round(3)
        array([0.5  , 0.707, 1.   , 1.414, 2.   ])
        """
        count = max(1, round(2.0 * math.log2(self.high / self.low)))
        return np.asarray(self.low * np.exp2(np.arange(count + 1) / 2.0))


@dataclass(frozen=True)
class Gamma:
    """Lengthscale prior of the paper, in the units of the data."""

    shape: Positive
    rate: Positive

    def bounds(self, median: float, spread: float = 0.0) -> tuple[float, float]:
        """Range outside of which neither the prior nor the likelihood leaves any mass.

        The likelihood is flat beyond the largest distance between rows, `spread`, which one outlier makes large.
        """
        typical = self.shape / self.rate
        return 1e-4 * min(typical, median), max(40.0 * max(typical, median), spread)

    def log_density(self, log_lengthscale: Any) -> Any:
        """Log density of log ℓ, so with the Jacobian ℓ, for arrays of any library."""
        constant = self.shape * np.log(self.rate) - math.lgamma(self.shape)
        exponential = namespace(log_lengthscale).exp(log_lengthscale)
        return constant + self.shape * log_lengthscale - self.rate * exponential


@dataclass(frozen=True)
class HalfCauchy:
    """Prior of the amplitude a of the witness."""

    scale: Positive

    def nodes(self) -> tuple[Array, Array]:
        """Values of log a and log prior weights of a trapezoidal rule in log a.

        There the density is sech(log a - log scale)/π: analytic, with exponential tails. Mass above e¹² times the
        scale (4e-6) is left out, as Bayes factors vanish there; mass below e⁻¹² times it is at the lowest node, as they
        are 1 there.
        """
        step = 0.25
        offset = np.arange(-48, 49) * step
        weight = 2.0 * step / (np.pi * (np.exp(offset) + np.exp(-offset)))
        weight[0] += 2.0 / np.pi * np.arctan(np.exp(offset[0] - 0.5 * step))
        return np.log(self.scale) + offset, np.log(weight)


@dataclass(frozen=True)
class NoiseFloor:
    """What is added to the diagonal of V: factor / n**power, n the harmonic mean of the sample sizes, or most / n.

    A relative floor is that times the mean variance of the features at each lengthscale, whichever sample they are of.
    Kernel features vary less in many columns and at large lengthscales, and an absolute floor would drown them there.
    """

    factor: Nonnegative
    power: Count
    relative: bool = False
    most: Nonnegative | None = None

    def times(self, factor: float) -> NoiseFloor:
        """So many times this floor."""
        most = None if self.most is None else factor * self.most
        return replace(self, factor=factor * self.factor, most=most)

    def at(self, n: float, variance: Any) -> Any:
        """The floor for samples of size n, but at least what rounding in R and V can hide.

        Parameters
        ----------
        n
            Harmonic mean of the sample sizes.
        variance
            Mean variance of the features at each lengthscale, (...).
        """
        floor = self.factor / n**self.power
        if self.most is not None:
            floor = min(floor, self.most / n)
        if self.relative:
            least = _ROUNDED_SQUARE + _SMALLEST_FLOOR * (variance == 0.0)
            return max(floor, _SMALLEST_SHARE / n) * variance + least
        return max(floor, _SMALLEST_FLOOR) + 0.0 * variance


@dataclass(frozen=True, kw_only=True)
class Model:
    """Every assumption of the test.

    Attributes
    ----------
    name
        Shown in results.
    weighing
        What weighs the lengthscales: "evidence" (their Bayes factors), "pseudo-likelihood" (the paper's), or
        "published" (the released code's two incompatible conditionals).
    lengthscale
        Prior of the lengthscale.
    amplitude
        Prior of the amplitude of the witness; None fixes it at 1.
    amplitude_of_one
        That of tests of a single column of numbers or of two levels, if it is another one.
    measure
        The measure ν in the prior covariance r(z,z') = ∫ k(z,u) k(u,z') ν(du) of the witness: "lebesgue", as in the
        paper, or "points", uniform on the evaluation points and with differences that add up to zero.
    unit_variance
        Whether r has the scale that the measure gives it, or also the paper's factor π^{D/2} ℓ^D.
    prior_nugget
        Added to the diagonal of R.
    floor
        Added to the diagonal of V.
    noise
        Where V, the noise of the difference of the mean features, is from: "samples", the covariance in each sample,
        which counts as known; or "rows", that of all rows whichever sample they are of, as relabelling them has it, so
        that strong differences are also in V and count accordingly more.
    components
        The share of the prior of the Bayes factor that is along the principal components of the features of all rows.
    scale
        Columns are divided by a "robust" spread or left "raw".
    ranks
        Where this is not zero, the test is a mixture: of all columns as scaled and of their pooled normal scores, which
        have this share of the prior weight, and of the normal scores of subsets of columns.
    few
        Whether Bayes factors are divided by their mean over all labellings of the rows where that is more than 1, if
        the rows are so few that all labellings can be evaluated.
    """

    name: str
    weighing: Literal["evidence", "pseudo-likelihood", "published"]
    lengthscale: LogUniform | Gamma
    amplitude: HalfCauchy | None
    amplitude_of_one: HalfCauchy | None = None
    measure: Measure = "lebesgue"
    unit_variance: bool = True
    prior_nugget: Nonnegative = 0.0
    floor: NoiseFloor
    noise: Literal["samples", "rows"] = "samples"
    components: Share = 0.0
    scale: Literal["robust", "raw"]
    ranks: Share = 0.0
    few: bool = False

    def log_prior_variance(self, features: PointKernel, lengthscales: Array) -> Array:
        """Log r(z, z) at amplitude 1, (m,): zero, or the log of the paper's factor π^{D/2} ℓ^D."""
        return np.zeros_like(lengthscales) if self.unit_variance else features.log_self_convolution(lengthscales)

    def alone(self) -> Model:
        """The same for a single column of numbers."""
        return replace(self, amplitude=self.amplitude_of_one or self.amplitude, amplitude_of_one=None)

    def with_scale(self, scale: float) -> Model:
        """The same with this scale of the amplitude, and that of single columns in proportion."""
        assert self.amplitude is not None
        alone = self.amplitude_of_one and HalfCauchy(scale / self.amplitude.scale * self.amplitude_of_one.scale)
        return replace(self, amplitude=HalfCauchy(scale), amplitude_of_one=alone)

    @property
    def needs_pairs(self) -> bool:
        """Whether the pseudo-likelihood, and so pairs and Jacobians, are needed."""
        return self.weighing != "evidence"

    @property
    def relabels(self) -> bool:
        """Whether it judges other labels of the rows by the noise that it has for the observed ones."""
        return self.noise == "rows" and not self.needs_pairs

    @property
    def coherent(self) -> bool:
        """Whether what weighs the lengthscale under H0 and under H1 belongs to one joint law."""
        return self.weighing != "published"

    @property
    def has_effect(self) -> bool:
        """Whether it says how much samples differ."""
        return self.measure == "points" and self.prior_nugget == 0.0

    def caution(self, scaled: bool) -> str | None:
        """A sentence to go with answers of the paper's models, which do not learn the amplitude; None of others.

        Parameters
        ----------
        scaled
            Whether the columns were divided by something.

        Examples
        --------
        >>> print(PRESETS["paper"].caution(scaled=False))
        Model paper assumes a difference of amplitude 1 in raw units and is for reproducing the paper;
        use adaptive for other data.
        """
        if self.amplitude is not None or not self.needs_pairs:
            return None
        units = "scaled" if scaled else "raw"
        return (
            f"Model {self.name} assumes a difference of amplitude 1 in {units} units and is for reproducing the paper; "
            "use adaptive for other data."
        )

    def takes_differences_alone(self, paired: bool) -> bool:
        """Whether of pairs only the differences count: not in the released code, which treats them as two samples."""
        return paired and self.coherent


PRESETS = {
    "adaptive": Model(
        name="adaptive",
        weighing="evidence",
        lengthscale=LogUniform(1 / 16, 8.0),
        amplitude=HalfCauchy(0.3),
        amplitude_of_one=HalfCauchy(0.5),
        measure="points",
        floor=NoiseFloor(150.0, power=3, relative=True, most=0.2),
        noise="rows",
        components=0.5,
        scale="robust",
        ranks=0.5,
        few=True,
    ),
    "paper": Model(
        name="paper",
        weighing="pseudo-likelihood",
        lengthscale=Gamma(2.0, 2.0),
        amplitude=None,
        unit_variance=False,
        floor=NoiseFloor(0.1, power=1),
        scale="raw",
    ),
    "published": Model(
        name="published",
        weighing="published",
        lengthscale=Gamma(2.0, 2.0),
        amplitude=None,
        prior_nugget=1e-8,
        floor=NoiseFloor(1e-8, power=0),
        scale="raw",
    ),
}


def resolve(model: str | Model) -> Model:
    """The preset of that name, or the model itself.

    Examples
    --------
    >>> resolve("paper").lengthscale
    Gamma(shape=2.0, rate=2.0)
    """
    if isinstance(model, Model):
        return model
    if not isinstance(model, str):
        raise InputTypeError(f"model: expected a name or a Model, got {type(model).__name__}", argument="model")
    try:
        return PRESETS[model]
    except KeyError:
        raise InputError(
            f"model: {model!r} is unknown",
            argument="model",
            remedy=f"use one of {', '.join(map(repr, PRESETS))} or a Model",
        ) from None


def resolve_pooled(model: str | Model) -> Model:
    """The same, if it takes the covariance of all rows together, and so any number of samples.

    Examples
    --------
    >>> resolve_pooled("paper")
    Traceback (most recent call last):
    twosample.errors.InputError: model: 'paper' is for two samples; use model='adaptive'
    """
    found = resolve(model)
    if not (found.relabels and isinstance(found.lengthscale, LogUniform)):
        raise InputError(
            f"model: {found.name!r} is for two samples", argument="model", remedy=("use ", Setting("model", "adaptive"))
        )
    return found
