"""How the answer depends on what was assumed: log BF10 with other priors and other numbers of evaluation points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twosample.common.arrays import Array
from twosample.common.frames import FrameKind, to_frame
from twosample.common.progress import Progress, progress_bar
from twosample.common.records import Comparable, Record
from twosample.common.threads import one_thread
from twosample.common.words import log_bf10_text
from twosample.data import Samples
from twosample.errors import InputError, Setting
from twosample.features.statistics import FeatureStatistics
from twosample.inference import evidence
from twosample.inference.bayes_factor import verdict
from twosample.inference.mixture import StatisticsOf, log_mean, stack_log_bf10
from twosample.models import HalfCauchy, LogUniform, Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.plan import Plan

__all__ = ["Robustness", "Sensitivity", "by_models", "look"]

_SCALES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0)
_COUNTS = (10, 20, 40, 80)
# The range of log ℓ, relative to that of the model.
_WIDTHS = (0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Comparable):
    """Log BF10 as one assumption changes.

    Attributes
    ----------
    name
        "amplitude", "points" or "lengthscale".
    label
        What the values are.
    values
        Increasing, (m,).
    log_bf10
        At each of them, (m,).
    default
        The value that the test has.
    """

    name: str
    label: str
    values: Array
    log_bf10: Array
    default: float

    @property
    def holds(self) -> tuple[float, float]:
        """The smallest and the largest value, with the test's own between them, up to which the verdict is the same."""
        words = [verdict(value) for value in self.log_bf10.tolist()]
        own = int(np.argmin(np.abs(self.values - self.default)))
        low = high = own
        while low > 0 and words[low - 1] == words[own]:
            low -= 1
        while high + 1 < len(words) and words[high + 1] == words[own]:
            high += 1
        return float(self.values[low]), float(self.values[high])


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Record):
    """How log BF10 depends on the scale of the amplitude's prior, the number of points and the range of lengthscales.

    Attributes
    ----------
    log_bf10
        Of the test.
    curves
        One for each assumption that was varied.
    """

    log_bf10: float
    curves: tuple[Sensitivity, ...]

    @property
    def sentence(self) -> str:
        """What they say, in a sentence."""
        parts = []
        for curve in self.curves:
            low, high = curve.holds
            whole = (low, high) == (curve.values[0], curve.values[-1])
            parts.append(f"{curve.label} from {low:g} to {high:g}{' (all that were tried)' if whole else ''}")
        return f"The verdict holds for {'; '.join(parts)}."

    def summary(self) -> str:
        """A table, and the sentence."""
        lines = [self.sentence]
        for curve in self.curves:
            lines.append(f"  {curve.label}")
            for value, log_bf10 in zip(curve.values.tolist(), curve.log_bf10.tolist(), strict=True):
                own = " (the test)" if value == curve.default else ""
                lines.append(f"    {value:<8g} log BF10 {log_bf10_text(log_bf10):>8}  {verdict(log_bf10)}{own}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the sentence."""
        return f"Robustness({self.sentence!r})"

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """A data frame, of pandas, polars or pyarrow, with a row for each value of each assumption."""
        rows = [
            (curve.name, value, log_bf10, verdict(log_bf10))
            for curve in self.curves
            for value, log_bf10 in zip(curve.values.tolist(), curve.log_bf10.tolist(), strict=True)
        ]
        names = ("assumption", "value", "log_bf10", "verdict")
        return to_frame({name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}, kind)

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw log BF10 against each assumption (needs the `plot` extra)."""
        from twosample.show.plots import plot_robustness

        return plot_robustness(self, figsize=figsize)


def look(
    plans: Sequence[Plan],
    samples: Samples,
    remake: Callable[..., Plan],
    log_bf10: float,
    *,
    progress: Progress = False,
) -> Robustness:
    """Test the same samples again with other assumptions.

    Parameters
    ----------
    plans
        Of the test, or of tests with different kernels whose Bayes factors are averaged.
    samples
        The samples.
    remake
        Makes the plan for them with a `kernel` and another `model` or other `points`.
    log_bf10
        What the test found.
    progress
        As in `twosample.test`.
    """
    plan, model = plans[0], plans[0].model
    if plan.lengthscales is None or model.amplitude is None:
        raise InputError(
            f"robustness: model {model.name!r} fixes what would be varied",
            argument="model",
            remedy=("use ", Setting("model", "adaptive")),
        )
    variations = list(_variations(plan, model))
    curves = []
    with progress_bar(progress) as report, one_thread():
        for number, (name, label, values, default, changes) in enumerate(variations):
            if report is not None:
                report(number / len(variations))
            if name == "amplitude":
                by_kernel = [by_models(one, samples, [change["model"] for change in changes]) for one in plans]
            else:
                by_kernel = []
                for one in plans:
                    others = [remake(samples, kernel=one.kernel, **change) for change in changes]
                    by_kernel.append(np.concatenate([by_models(other, samples, [other.model]) for other in others]))
            found = np.logaddexp.reduce(by_kernel, axis=0) - np.log(len(plans))
            curves.append(_with_own(Sensitivity(name, label, values, found, default), log_bf10))
    return Robustness(log_bf10, tuple(curves))


def _variations(plan: Plan, model: Model) -> Iterator[tuple[str, str, Array, float, list[dict[str, Any]]]]:
    """What is varied: name, label, the values beside the model's own, that one, and what each changes."""
    assert model.amplitude is not None
    own = model.amplitude.scale
    scales = np.array([scale for scale in _SCALES if scale != own])
    changes = [{"model": replace(model, amplitude=HalfCauchy(scale))} for scale in scales.tolist()]
    yield "amplitude", "scales of the amplitude", scales, own, changes
    if not plan.points_given:
        count = len(plan.points)
        counts = [other for other in _COUNTS if other != count]
        yield "points", "numbers of points", np.array(counts, float), float(count), [{"points": n} for n in counts]
    if not plan.fixed and isinstance(model.lengthscale, LogUniform):
        low, high, widths = model.lengthscale.low, model.lengthscale.high, [one for one in _WIDTHS if one != 1.0]
        changes = [{"model": replace(model, lengthscale=LogUniform(low**one, high**one))} for one in widths]
        yield "lengthscale", "widths of the range of lengthscales", np.array(widths), 1.0, changes


def _with_own(curve: Sensitivity, log_bf10: float) -> Sensitivity:
    """The curve with the value of the test in its place."""
    place = int(np.searchsorted(curve.values, curve.default))
    values, found = np.insert(curve.values, place, curve.default), np.insert(curve.log_bf10, place, log_bf10)
    return replace(curve, values=values, log_bf10=found)


def by_models(plan: Plan, samples: Samples, models: Sequence[Model]) -> Array:
    """Log BF10 by models that differ in what follows the statistics, from one pass over the rows, (M,)."""
    statistics: FeatureStatistics = plan.collect(samples, parts=False)
    statistics_of: StatisticsOf = partial(plan.statistics_of, samples)
    main = [
        replace(plan, model=model).posterior(evidence.evaluate(statistics, plan.features, model)).log_bf10
        for model in models
    ]
    if not plan.parts:
        return np.array(main)
    parts = np.concatenate(
        [
            stack_log_bf10(plan.features_of(part), partial(statistics_of, part), models)
            for part in range(len(plan.parts))
        ],
        axis=1,
    )
    weights = np.concatenate([[plan.prior], *(part.prior for part in plan.parts)])
    return np.array([log_mean(np.append(one, rest), weights) for one, rest in zip(main, parts, strict=True)])
