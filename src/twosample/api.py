"""The public functions: they only string the stages together."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twosample import evidence, models
from twosample.arguments import LARGEST_LENGTHSCALE, Seed, as_generator, check_lengthscales, check_positive
from twosample.data import Samples, as_rows, check_finite
from twosample.errors import AccuracyWarning, DroppedDataWarning, InputError, InputTypeError
from twosample.evidence import Evidence
from twosample.jacobian import log_volume_bounds, log_volumes
from twosample.models import Model
from twosample.points import choose, median_heuristic, thin
from twosample.posterior.marginals import H0, H1, component_weights, densities, log_bayes_factor, representatives
from twosample.posterior.quadrature import Quadrature, integrate
from twosample.result import Amplitude, Diagnostics, Lengthscale, TwoSampleResult
from twosample.statistics import FeatureStatistics
from twosample.witness import WitnessPosterior

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["log_bf10", "test"]

Array = NDArray[np.float64]
Progress = bool | Callable[[float], object]

_TOLERANCE = 1e-6
_SHOWN_ROWS = 500
# How many lengthscales an integration usually takes, for progress bars.
_EXPECTED_LENGTHSCALES = 97
# The witness keeps this many lengthscales, amplitudes with more than this share of the likeliest one's weight, and
# directions in which the prior has more than this share of the noise.
_WITNESS_LENGTHSCALES = 12
_NEGLIGIBLE_WEIGHT = 1e-3
_NEGLIGIBLE_SIGNAL = 1e-6
_LARGEST_LOG_VARIANCE = 300.0


def test(
    x: object,
    y: object,
    *,
    model: str | Model = "adaptive",
    paired: bool = False,
    kernel: Literal["rbf"] = "rbf",
    lengthscale: float | Literal["median"] | None = None,
    points: int | ArrayLike = 40,
    prior_odds: float = 1.0,
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
    rng: Seed = 0,
    progress: Progress = False,
) -> TwoSampleResult:
    """Test whether two samples come from the same distribution.

    Parameters
    ----------
    x, y
        The samples: lists, arrays or data frames of any library, (n_x, D) and (n_y, D); 1-D input is one column.
    model
        "adaptive" (the default), "paper", "published", or a `Model` of your own.
    paired
        Whether row i of `x` belongs with row i of `y`.
    kernel
        Only "rbf", the Gaussian kernel.
    lengthscale
        None infers it, a number fixes it, "median" fixes it at the median heuristic. A number is in the units of the
        data where there is one column or the columns are not scaled, else relative to the scale of the columns.
    points
        Number of evaluation points, or the points themselves (s, D) in the units of the data.
    prior_odds
        Prior odds of "different" against "the same".
    scale
        "auto" does what the model says; "robust" divides each column by its pooled interquartile range, "raw" leaves
        the columns alone, and D positive numbers divide the columns by those.
    nan_policy
        "raise" refuses missing and infinite values; "omit" drops their rows and says how many.
    rng
        Seed of the random pairs that "paper" and "published" need where n_x ≠ n_y; nothing else is random.
    progress
        True shows a progress bar on a terminal; a function is called with the share of work done.

    Returns
    -------
    TwoSampleResult
        Bayes factor, probabilities, verdict, posteriors of lengthscale and witness.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> result = ts.test(rng.normal(0, 1, 200), rng.normal(0, 3, 200))
    >>> result.verdict
    'very strong evidence that the samples differ'
    """
    problem = _Problem.prepare(x, y, model, paired, kernel, points, scale, nan_policy)
    prior_odds, generator = check_positive(prior_odds, "prior_odds"), as_generator(rng)
    fixed = None if lengthscale is None else problem.internal(lengthscale)
    if fixed is not None and len(fixed) != 1:
        raise InputError("lengthscale: test takes one number; use log_bf10 for several")

    pairs = _Pairs.choose(problem, generator) if fixed is None and problem.model.needs_pairs else None
    for note in () if pairs is None else pairs.notes:
        warnings.warn(note, DroppedDataWarning, stacklevel=2)

    with _progress_bar(progress) as report, _one_thread():
        show = _Show(report, problem.samples.n_x + problem.samples.n_y + (0 if pairs is None else 2 * len(pairs.x)))
        if fixed is None:
            found, rule = problem.integrate(show, pairs)
        else:
            found = problem.evidence(fixed, show)
            curves = np.stack([np.zeros(1), found.log_bf10], axis=1)
            rule = Quadrature(np.log(fixed), np.ones(1), curves, error=0.0, evaluations=1)
    if rule.error > _TOLERANCE:
        warnings.warn(
            f"the integration over the lengthscale stopped at an estimated error of {rule.error:.1g} in log BF10; "
            "the likelihood of the lengthscale is rough",
            AccuracyWarning,
            stacklevel=2,
        )
    return _result(problem, found, rule, prior_odds, fixed is not None, pairs)


def log_bf10(
    x: object,
    y: object,
    lengthscale: ArrayLike,
    *,
    points: int | ArrayLike = 40,
    model: str | Model = "adaptive",
    paired: bool = False,
    kernel: Literal["rbf"] = "rbf",
    scale: ArrayLike = "auto",
    nan_policy: Literal["raise", "omit"] = "raise",
) -> float | Array:
    """Log Bayes factor at given lengthscales.

    Parameters
    ----------
    x, y
        The samples, as in `test`.
    lengthscale
        One or several positive lengthscales, or "median".
    points, model, paired, kernel, scale, nan_policy
        As in `test`.

    Returns
    -------
    float or ndarray
        Log BF10, of the shape of `lengthscale`.

    Examples
    --------
    >>> import twosample as ts
    >>> ts.log_bf10([0.1, 0.4, 0.7, 0.9], [2.1, 2.4, 2.6, 2.9], [0.5, 1.0, 2.0]).shape
    (3,)
    """
    problem = _Problem.prepare(x, y, model, paired, kernel, points, scale, nan_policy)
    with _one_thread():
        found = problem.evidence(problem.internal(lengthscale), _Show(None, 1)).log_bf10
    shape = () if isinstance(lengthscale, str) else np.shape(lengthscale)
    return found.reshape(shape) if shape else float(found[0])


@dataclass(frozen=True, eq=False)
class _Problem:
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
    ) -> _Problem:
        model = models.resolve(model)
        if kernel != "rbf":
            raise InputError(f"kernel: {kernel!r} is unknown; use 'rbf'")
        if isinstance(scale, str) and scale == "auto":
            scale = model.scale
        samples = Samples.from_data(x, y, paired=paired, scale=scale, nan_policy=nan_policy)
        rows = samples.standardize(thin(samples.x, samples.y))
        median = median_heuristic(rows)
        if not 1.0 / LARGEST_LENGTHSCALE < median < LARGEST_LENGTHSCALE:
            raise InputError("scale: squares of these values overflow or vanish; use scale='robust' or other units")
        return cls(samples, model, _points(points, samples, rows), median, kernel)

    @property
    def unit(self) -> float:
        """What a standardised lengthscale is multiplied by when it is shown."""
        return float(self.samples.scale[0]) if self.samples.n_columns == 1 else 1.0

    def internal(self, lengthscale: ArrayLike) -> Array:
        """Lengthscales as the user gives them, as a 1-D array in standardised units."""
        if isinstance(lengthscale, str) and lengthscale == "median":
            return np.array([self.median])
        return check_lengthscales(lengthscale, self.unit)

    def evidence(
        self, lengthscales: Array, show: _Show, pairs: _Pairs | None = None, *, bound: bool = False
    ) -> Evidence:
        """Go once over the data and evaluate the model at these lengthscales, volumes only bounded if so wanted."""
        x, y = self.samples.x, self.samples.y
        likelihood = None if pairs is None else (pairs.x, pairs.y)
        if self.samples.paired and self.model.weighing != "published":
            x, y, likelihood = x[:0], y[:0], (x, y)  # Δ and V come from the differences alone
        statistics = FeatureStatistics.from_samples(
            x,
            y,
            self.points,
            lengthscales,
            pairs=likelihood,
            volumes=None if pairs is None else pairs.usable,
            log_volumes=log_volume_bounds if bound else log_volumes,
            prepare=self.samples.standardize,
            tick=lambda rows: show(rows * len(lengthscales)),
        )
        return evidence.evaluate(statistics, self.model)

    def integrate(self, show: _Show, pairs: _Pairs | None) -> tuple[Evidence, Quadrature]:
        """Infer the lengthscale: the integration rule, and the evidence at the lengthscales it was built from."""
        prior = self.model.lengthscale
        found: list[Evidence] = []

        def target(log_lengthscales: Array, bound: bool = False) -> Array:
            new = self.evidence(np.exp(log_lengthscales), show, pairs, bound=bound)
            if not bound:
                found.append(new)
            log_prior = prior.log_density(log_lengthscales)
            curves = [new.log_h0 + log_prior, new.log_h1 + log_prior]
            if self.model.weighing == "published":
                curves.append(new.log_bf10)
            return np.stack(curves, axis=1)

        low, high = np.log(prior.bounds(self.median))
        rule = integrate(
            target,
            low,
            high,
            densities=2,
            tolerance=_TOLERANCE,
            bound=(lambda t: target(t, bound=True)) if self.model.needs_pairs else None,
        )
        everything = reduce(Evidence.concatenate, found)
        return everything.select(np.unique(everything.lengthscales, return_index=True)[1]), rule


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
class _Pairs:
    """The pairs of the pseudo-likelihood, and which of them have a Jacobian of full rank."""

    x: Array
    y: Array
    usable: NDArray[np.bool_]

    @classmethod
    def choose(cls, problem: _Problem, generator: np.random.Generator) -> _Pairs | None:
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
        left_out = len(self.usable) - int(self.usable.sum())
        if not left_out:
            return ()
        return (
            f"{left_out} of {len(self.usable)} pairs have equal rows or a Jacobian without full rank; "
            "the pseudo-likelihood leaves out their volume factor.",
        )


def _result(
    problem: _Problem,
    found: Evidence,
    rule: Quadrature,
    prior_odds: float,
    fixed: bool,
    pairs: _Pairs | None,
) -> TwoSampleResult:
    samples, model = problem.samples, problem.model
    notes = samples.notes + (() if pairs is None else pairs.notes)
    density, mass = densities(rule)
    given_lengthscale = rule.curves[:, -1] - (rule.curves[:, H0] if rule.curves.shape[1] == 2 else 0.0)
    weights = component_weights(rule, found)
    log_amplitudes, _ = evidence.amplitudes(model)
    return TwoSampleResult(
        log_bf10=log_bayes_factor(rule, np.log(prior_odds)),
        prior_odds=prior_odds,
        lengthscale=Lengthscale(
            grid=np.exp(rule.grid) * problem.unit,
            density_h0=density[:, H0],
            density_h1=density[:, H1],
            mass_h0=mass[:, H0],
            mass_h1=mass[:, H1],
            prob_h1=1.0 / (1.0 + np.exp(-np.clip(given_lengthscale + np.log(prior_odds), -700.0, 700.0))),
            median_heuristic=problem.median * problem.unit,
            fixed=fixed,
        ),
        amplitude=Amplitude(np.exp(log_amplitudes), weights.sum(axis=0), fixed=model.amplitude is None),
        points=problem.points * samples.scale + samples.center,
        n_x=samples.n_x,
        n_y=samples.n_y,
        columns=samples.columns,
        center=samples.center,
        scale=samples.scale,
        paired=samples.paired,
        kernel=problem.kernel,
        model=model,
        diagnostics=Diagnostics(
            evaluations=rule.evaluations,
            quadrature_error=rule.error,
            pairs=0 if pairs is None else len(pairs.x),
            notes=notes,
        ),
        shown_x=thin(samples.x, limit=_SHOWN_ROWS),
        shown_y=thin(samples.y, limit=_SHOWN_ROWS),
        witness_posterior=_witness(problem, found, rule),
    )


def _witness(problem: _Problem, found: Evidence, rule: Quadrature) -> WitnessPosterior:
    """The mixture with what does not matter left out: close lengthscales, unlikely amplitudes, flat directions."""
    found = found.select(representatives(rule, found.lengthscales, _WITNESS_LENGTHSCALES))
    weights = component_weights(rule, found)
    log_amplitudes, _ = evidence.amplitudes(problem.model)
    likely = weights.sum(axis=0) > _NEGLIGIBLE_WEIGHT * weights.sum(axis=0).max()
    log_scale = problem.model.log_prior_variance(found.lengthscales, problem.samples.n_columns)
    log_variances = np.minimum(2.0 * log_amplitudes[likely] + log_scale[:, None], _LARGEST_LOG_VARIANCE)
    signal = np.exp(log_variances.max(axis=1))[:, None] * found.eigenvalues  # eigenvalues increase
    first = int((signal < _NEGLIGIBLE_SIGNAL).all(axis=0).sum())
    return WitnessPosterior(
        points=problem.points,
        measure=problem.model.measure,
        lengthscales=found.lengthscales,
        basis=found.basis[:, :, first:],
        eigenvalues=found.eigenvalues[:, first:],
        scores=found.scores[:, first:],
        log_variances=log_variances,
        weights=weights[:, likely] / weights[:, likely].sum(),
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep the linear algebra to one thread: its matrices are small, and threads that wait for a busy core stall it."""
    with _thread_pools().limit(limits=1, user_api="blas"):
        yield


@cache
def _thread_pools() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Show:
    """Counts the work done (rows × lengthscales) and reports its share of what is expected."""

    def __init__(self, report: Callable[[float], object] | None, rows: int) -> None:
        self.report, self.done, self.expected = report, 0, rows * _EXPECTED_LENGTHSCALES

    def __call__(self, work: int) -> None:
        self.done += work
        if self.report is not None:
            self.report(min(1.0, self.done / self.expected))


@contextmanager
def _progress_bar(progress: Progress) -> Iterator[Callable[[float], object] | None]:
    """What to report the share of work done to: the caller's function, a bar on the terminal, or nothing."""
    if callable(progress):
        yield progress
    elif not progress or not sys.stderr.isatty():
        yield None
    else:
        import click

        with click.progressbar(length=1000, label="twosample", file=sys.stderr) as bar:
            yield lambda share: bar.update(int(1000 * share) - bar.pos)
