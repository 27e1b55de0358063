"""A question in the form that every answer starts from: validated samples, a model, evaluation points, pairs."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample import evidence, models
from twosample.arguments import LARGEST_LENGTHSCALE, lengthscales_of
from twosample.data import Samples, as_rows, check_finite
from twosample.errors import InputError, InputTypeError
from twosample.evidence import Evidence
from twosample.jacobian import log_volumes
from twosample.models import Model
from twosample.points import choose, median_heuristic, thin
from twosample.posterior import marginals
from twosample.posterior.quadrature import Quadrature, integrate
from twosample.statistics import FeatureStatistics

if TYPE_CHECKING:
    from twosample.posterior.density import Data, Target

__all__ = ["Pairs", "Problem", "Show", "typical_lengthscale"]

Array = NDArray[np.float64]

# Of log BF10 in the integration over the lengthscale: its error, or its relative error where it is larger than 1.
_TOLERANCE = 1e-6
# Of 180 answers of `paper` and `published` one was less accurate than that, and three without this caution.
_CAUTION = 10.0
# After how many lengthscales to stop. Volumes may have sharp dips in ℓ that no number of them resolves; where each
# lengthscale takes long, it is not tried for as long.
_LIMIT, _ROUGH_LIMIT, _ROUGH_ROWS = 1000, 250, 50_000
# Volumes in one dimension are as cheap as their bounds.
_COSTLY_COLUMNS = 2
# How many lengthscales an integration usually takes, for progress bars.
_EXPECTED_LENGTHSCALES = 97


@dataclass(frozen=True, eq=False)
class Problem:
    """Validated input: everything that the evidence at a lengthscale depends on."""

    samples: Samples
    model: Model
    points: Array  # (s, D), standardised
    median: float  # median heuristic, standardised
    kernel: str

    @classmethod
    def prepare(
        cls,
        x: object,
        y: object,
        model: str | Model,
        paired: bool,
        kernel: str,
        points: int | ArrayLike,
        scale: ArrayLike,
        nan_policy: Literal["raise", "omit"],
        kernels: tuple[str, ...] = ("rbf",),
    ) -> Problem:
        """Check the arguments and choose the evaluation points."""
        model = models.resolve(model)
        if kernel not in kernels:
            several = "; gibbs has 'ard'" if kernel == "ard" else ""
            raise InputError(f"kernel: {kernel!r} is unknown; use {' or '.join(map(repr, kernels))}{several}")
        if isinstance(scale, str) and scale == "auto":
            scale = model.scale
        samples = Samples.from_data(x, y, paired=paired, scale=scale, nan_policy=nan_policy)
        rows = samples.standardize(thin(samples.x, samples.y))
        median = typical_lengthscale(rows)
        return cls(samples, model, _points(points, samples, rows), median, kernel)

    @property
    def spread(self) -> float:
        """Length of the diagonal of the box around all rows, standardised."""
        x, y = self.samples.x, self.samples.y
        ranges = np.maximum(x.max(axis=0), y.max(axis=0)) - np.minimum(x.min(axis=0), y.min(axis=0))
        return min(float(np.linalg.norm(ranges / self.samples.scale)), LARGEST_LENGTHSCALE)

    def internal(self, lengthscale: ArrayLike) -> Array:
        """Lengthscales as the user gives them, as a 1-D array in standardised units."""
        if isinstance(lengthscale, str) and lengthscale == "median":
            return np.array([self.median])
        return lengthscales_of(lengthscale, self.samples.unit)

    def evidence(self, lengthscales: Array, show: Show, pairs: Pairs | None = None) -> Evidence:
        """Go once over the data and evaluate the model at these lengthscales."""
        return self._evidence((self.model,), lengthscales, show, pairs)[0]

    def _evidence(
        self, models: Sequence[Model], lengthscales: Array, show: Show, pairs: Pairs | None, *, bound: bool = False
    ) -> list[Evidence]:
        """Evidence by several models from one pass over the data, volumes only bounded if so wanted."""
        x, y = self.samples.x, self.samples.y
        likelihood = None if pairs is None else (pairs.x, pairs.y)
        # Of pairs that belong together, Δ and V come from the differences alone.
        differences_alone = [self.samples.paired and model.weighing != "published" for model in models]
        if any(differences_alone):
            likelihood = (x, y)
        if all(differences_alone):
            x, y = x[:0], y[:0]
        statistics = FeatureStatistics.from_samples(
            x,
            y,
            self.points,
            lengthscales,
            pairs=likelihood,
            volumes=None if pairs is None else pairs.usable,
            bound_volumes=bound,
            prepare=self.samples.standardize,
            tick=lambda rows: show(rows * len(lengthscales)),
        )
        return [
            evidence.evaluate(statistics.differences_alone() if alone else statistics, model)
            for model, alone in zip(models, differences_alone, strict=True)
        ]

    def target(self, pairs: Pairs | None) -> tuple[Target, Data]:
        """What the sampler samples from."""
        from twosample.posterior.density import Data, Target

        samples, standardize = self.samples, self.samples.standardize
        same = pairs is None or (pairs.x is samples.x and pairs.y is samples.y)
        data = Data.from_rows(
            standardize(samples.x),
            standardize(samples.y),
            self.points,
            None if pairs is None or same else (standardize(pairs.x), standardize(pairs.y)),
            None if pairs is None else pairs.usable,
            self.median,
        )
        only_pairs = samples.paired and self.model.weighing != "published"
        return Target(self.model, samples.n_columns if self.kernel == "ard" else 1, only_pairs), data

    def evidence_at(self, lengthscales: Array, pairs: Pairs | None) -> Evidence:
        """The evidence at one lengthscale for each column, (D,).

        Columns divided by their share of the geometric mean ℓ of these lengthscales have the same kernel, volume and
        prior variance at the one lengthscale ℓ.
        """
        overall = float(np.exp(np.log(lengthscales).mean()))
        share = lengthscales / overall
        samples = replace(self.samples, scale=self.samples.scale * share)
        return replace(self, samples=samples, points=self.points / share).evidence(
            np.array([overall]), Show(None, 1), pairs
        )

    def integrate(self, show: Show, pairs: Pairs | None, log_prior_odds: float = 0.0) -> tuple[Evidence, Quadrature]:
        """Infer the lengthscale: the integration rule, and the evidence at the lengthscales it was built from."""
        found: list[Evidence] = []
        [rule] = self.integrate_together(
            (self.model,), show, pairs, log_prior_odds, caution=_CAUTION, keep=found.extend
        )
        everything = Evidence.concatenate(found)
        return everything.select(np.unique(everything.lengthscales, return_index=True)[1]), rule

    def integrate_together(
        self,
        models: Sequence[Model],
        show: Show,
        pairs: Pairs | None,
        log_prior_odds: float = 0.0,
        tolerance: float = _TOLERANCE,
        caution: float = 1.0,
        keep: Callable[[list[Evidence]], object] | None = None,
    ) -> list[Quadrature]:
        """Infer the lengthscale by several models that have its prior in common, from the same passes over the data.

        All models have one estimate of the error. The evidence of all models at new lengthscales is given to `keep`.
        """
        prior = self.model.lengthscale
        # The curves of a model are its two weighings and, where their ratio is not that, the Bayes factor given ℓ.
        incompatible = [model.weighing == "published" for model in models]
        curve_ends = np.cumsum([3 if one else 2 for one in incompatible])[:-1]
        integrand_ends = np.cumsum([4 if one else 2 for one in incompatible])[:-1]

        def target(log_lengthscales: Array, bound: bool = False) -> Array:
            new = self._evidence(models, np.exp(log_lengthscales), show, pairs, bound=bound)
            if keep is not None and not bound:
                keep(new)
            log_prior = prior.log_density(log_lengthscales)
            curves = []
            for one, given in zip(new, incompatible, strict=True):
                curves += [one.log_h0 + log_prior, one.log_h1 + log_prior, *([one.log_bf10] if given else [])]
            return np.stack(curves, axis=1)

        def integrands(curves: Array) -> Array:
            parts = np.split(curves, curve_ends, axis=1)
            return np.concatenate([marginals.integrands(part, log_prior_odds) for part in parts], axis=1)

        def wanted(log_integrals: Array) -> float:
            parts = np.split(log_integrals, integrand_ends)
            return tolerance * max(1.0, min(abs(marginals.log_ratio(part, log_prior_odds)) for part in parts))

        low, high = np.log(prior.bounds(self.median, self.spread))
        rule = integrate(
            target,
            low,
            high,
            integrands=integrands,
            tolerance=wanted,
            caution=caution,
            limit=_LIMIT if pairs is None else min(_LIMIT, max(_ROUGH_LIMIT, _ROUGH_ROWS // len(pairs.x))),
            scan=pairs is not None,
            bound=(lambda t: target(t, bound=True)) if self.samples.n_columns >= _COSTLY_COLUMNS else None,
        )
        return [replace(rule, curves=curves) for curves in np.split(rule.curves, curve_ends, axis=1)]


def _points(points: int | ArrayLike, samples: Samples, rows: Array) -> Array:
    """Evaluation points in standardised units: chosen among the rows, or as given."""
    if isinstance(points, numbers.Integral) and not isinstance(points, bool):
        if points < 1:
            raise InputError(f"points: need at least 1 evaluation point, not {points}")
        return choose(rows, int(points))
    if np.ndim(points) == 0 and not hasattr(points, "columns"):
        raise InputTypeError(f"points: expected a count or an array of points, not {points!r}")
    given, names = as_rows(points, "points")
    if names is not None and set(samples.columns) <= set(names):
        given = given[:, [names.index(column) for column in samples.columns]]
    elif given.shape[1] == len(samples.kept):
        given = given[:, samples.kept]
    if given.shape[1] != samples.n_columns:
        raise InputError(f"points: must have {samples.n_columns} columns like the samples, not {given.shape[1]}")
    check_finite(given, "points")
    return samples.standardize(given)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of the pseudo-likelihood, and which of them have a Jacobian of full rank."""

    x: Array
    y: Array
    usable: NDArray[np.bool_]

    @classmethod
    def choose(cls, problem: Problem, generator: np.random.Generator) -> Pairs | None:
        """The rows as given where there are as many of x as of y, else random pairs; None if all rows are equal."""
        samples, s = problem.samples, len(problem.points)
        if all((rows == samples.x[0]).all() for rows in (samples.x, samples.y)):
            return None
        if s < 2 * samples.n_columns:
            raise InputError(
                f"points: model {problem.model.name!r} needs at least twice as many distinct evaluation points as "
                f"columns, and has {s} for {samples.n_columns}; pass more points or use model='adaptive'"
            )
        x, y = samples.x, samples.y
        if len(x) != len(y):
            count = min(len(x), len(y))
            x, y = (rows[generator.permutation(len(rows))[:count]] for rows in (x, y))
        usable = np.isfinite(
            log_volumes(samples.standardize(x), samples.standardize(y), problem.points, problem.median)
        )
        if usable.sum() < 2:
            raise InputError(
                f"x and y: fewer than 2 pairs of rows can be used by the pseudo-likelihood of model "
                f"{problem.model.name!r} (equal rows, or too few distinct points); use model='adaptive'"
            )
        return cls(x, y, usable)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        left_out = len(self.usable) - int(self.usable.sum())
        if not left_out:
            return ()
        return (
            f"{left_out} of {len(self.usable)} pairs have equal rows or a Jacobian without full rank; "
            "the pseudo-likelihood leaves out their volume factor.",
        )


def typical_lengthscale(rows: Array) -> float:
    """The median heuristic, if it can be squared."""
    median = median_heuristic(rows)
    if not 1.0 / LARGEST_LENGTHSCALE < median < LARGEST_LENGTHSCALE:
        raise InputError("scale: squares of these values overflow or vanish; use scale='robust' or other units")
    return median


class Show:
    """Counts the work done (rows × lengthscales) and reports its share of what is expected."""

    def __init__(self, report: Callable[[float], object] | None, rows: int, more: int = 0) -> None:
        self.report, self.done, self.expected = report, 0, rows * _EXPECTED_LENGTHSCALES + more

    def __call__(self, work: int) -> None:
        """Count that much more."""
        self.done += work
        if self.report is not None:
            self.report(min(1.0, self.done / self.expected))
