"""How the answer depends on what was assumed: log BF10 with other priors and other numbers of evaluation points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from twosample.common.arrays import Array
from twosample.common.constraints import INCREASING, Axes
from twosample.common.frames import FrameKind, to_frame
from twosample.common.progress import Progress, progress_bar
from twosample.common.records import Comparable, Record
from twosample.common.threads import one_thread
from twosample.common.words import log_bf10_text
from twosample.data import Samples
from twosample.errors import InputError, Setting
from twosample.features.maps import of_one_column
from twosample.features.statistics import FeatureStatistics
from twosample.inference import evidence
from twosample.inference.bayes_factor import CONCLUSIONS, verdict
from twosample.inference.mixture import StatisticsOf, level_counts, log_mean, prior_weights, stack_log_bf10
from twosample.inference.relabelling import EveryLabelling
from twosample.models import LogUniform, Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from twosample.plan import Plan

__all__ = [
    "AMPLITUDE_SCALES",
    "POINT_COUNTS",
    "WIDTHS",
    "Robustness",
    "Sensitivity",
    "Variation",
    "by_models",
    "look",
    "robustness_of",
    "variations_of",
]

# Other values of what is varied; widths of the range of log ℓ are relative to that of the test.
AMPLITUDE_SCALES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0)
POINT_COUNTS = (10, 20, 40, 80)
WIDTHS = (0.5, 2.0)
_COMPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_FLOORS = (0.01, 0.1, 10.0, 100.0)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Comparable):
    """Log BF10 as one assumption changes.

    Attributes
    ----------
    name
        "amplitude", "points", "lengthscale", "components" or "floor".
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
    values: Annotated[Array, Axes("values", least=1), INCREASING]
    log_bf10: Annotated[Array, Axes("values")]
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
    conclusions
        The conclusions from a large and from a small Bayes factor.
    """

    log_bf10: float
    curves: tuple[Sensitivity, ...]
    conclusions: tuple[str, str] = CONCLUSIONS

    @property
    def sentence(self) -> str:
        """The range of each assumption for which the verdict holds, in a sentence."""
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
                lines.append(f"    {value:<8g} log BF10 {log_bf10_text(log_bf10):>8}  {self._verdict(log_bf10)}{own}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the sentence."""
        return f"Robustness({self.sentence!r})"

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """A data frame, of pandas, polars or pyarrow, with a row for each value of each assumption."""
        rows = [
            (curve.name, value, log_bf10, self._verdict(log_bf10))
            for curve in self.curves
            for value, log_bf10 in zip(curve.values.tolist(), curve.log_bf10.tolist(), strict=True)
        ]
        names = ("assumption", "value", "log_bf10", "verdict")
        return to_frame({name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}, kind)

    def _verdict(self, log_bf10: float) -> str:
        return verdict(log_bf10, conclusions=self.conclusions)

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Draw log BF10 against each assumption (needs the `plot` extra)."""
        from twosample.show.plots import plot_robustness

        return plot_robustness(self, figsize=figsize)


class Variation(NamedTuple):
    """One assumption, and other values of it.

    Attributes
    ----------
    name, label
        As of `Sensitivity`.
    default
        The value that the test has.
    changes
        By each other value, what it changes: options of the test by name, such as `model` or `points`.
    """

    name: str
    label: str
    default: float
    changes: dict[float, dict[str, Any]]


def robustness_of(
    log_bf10: float,
    variations: Sequence[Variation],
    again: Callable[[Sequence[dict[str, Any]]], ArrayLike],
    *,
    progress: Progress = False,
) -> Robustness:
    """Test again with other assumptions. With the first three arguments filled in, it is what results remember.

    Parameters
    ----------
    log_bf10
        What the test found.
    variations
        What is varied.
    again
        Log BF10 of the same data with each of some changes, (m,).
    progress
        As in `twosample.test`.

    Examples
    --------
    >>> scales = Variation("amplitude", "scales", 1.0, {0.5: {"scale": 0.5}, 2.0: {"scale": 2.0}})
    >>> found = robustness_of(3.5, [scales], lambda changes: [3.0 + one["scale"] for one in changes])
    >>> found.curves[0].values, found.curves[0].log_bf10
    (array([0.5, 1. , 2. ]), array([3.5, 3.5, 5. ]))
    """
    curves = []
    with progress_bar(progress) as report, one_thread():
        for number, (name, label, default, changes) in enumerate(variations):
            if report is not None:
                report(number / len(variations))
            values, found = np.array([*changes, default]), np.append(again(list(changes.values())), log_bf10)
            order = np.argsort(values)
            curves.append(Sensitivity(name, label, values[order], found[order], default))
    return Robustness(log_bf10, tuple(curves))


def variations_of(plan: Plan) -> list[Variation]:
    """The variations that a plan allows, as changes of `model` and of `points`.

    They are of the scale of the amplitude, the number of points, the range of lengthscales, the share of the prior that
    is along principal components, and the noise floor.
    """
    model = plan.model
    if plan.lengthscales is None or model.amplitude is None:
        raise InputError(
            f"robustness: model {model.name!r} fixes what would be varied",
            argument="model",
            remedy=("use ", Setting("model", "adaptive")),
        )
    if of_one_column(plan.features):
        model = model.alone()
    assert model.amplitude is not None
    own, points = model.amplitude.scale, len(plan.points)
    scales = {one: {"model": model.with_scale(one)} for one in AMPLITUDE_SCALES if one != own}
    found = [Variation("amplitude", "scales of the amplitude", own, scales)]
    if not plan.points_given:
        counts = {float(count): {"points": count} for count in POINT_COUNTS if count != points}
        found.append(Variation("points", "numbers of points", float(points), counts))
    if not plan.fixed and isinstance(model.lengthscale, LogUniform):
        low, high = model.lengthscale.low, model.lengthscale.high
        widths = {one: {"model": replace(model, lengthscale=LogUniform(low**one, high**one))} for one in WIDTHS}
        found.append(Variation("lengthscale", "widths of the range of lengthscales", 1.0, widths))
    if model.components:
        shares = {one: {"model": replace(model, components=one)} for one in _COMPONENTS if one != model.components}
        found.append(Variation("components", "shares of the prior along components", model.components, shares))
    floors = {one: {"model": replace(model, floor=model.floor.times(one))} for one in _FLOORS}
    found.append(Variation("floor", "multiples of the noise floor", 1.0, floors))
    return found


def look(
    plans: Sequence[Plan],
    samples: Samples,
    remake: Callable[..., Plan],
    log_bf10: float,
    *,
    progress: Progress = False,
) -> Robustness:
    """Test the same two samples again with other assumptions.

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

    def of_kernel(plan: Plan, changes: Sequence[dict[str, Any]]) -> Array:
        models = [change["model"] for change in changes if "model" in change]
        if len(models) == len(changes) and all(one.lengthscale == plan.model.lengthscale for one in models):
            return by_models(plan, samples, models)  # the lengthscales stay, and so one pass serves all of them
        others = [remake(samples, kernel=plan.kernel, **change) for change in changes]
        return np.concatenate([by_models(other, samples, [other.model]) for other in others])

    def again(changes: Sequence[dict[str, Any]]) -> Array:
        logs = [of_kernel(plan, changes) for plan in plans]
        return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(plans)))

    return robustness_of(log_bf10, variations_of(plans[0]), again, progress=progress)


def by_models(plan: Plan, samples: Samples, models: Sequence[Model]) -> Array:
    """Log BF10 by models that differ in what follows the statistics, from one pass over the rows, (M,).

    Of few rows each test is divided by its mean over all labellings, by each model.
    """
    every = [EveryLabelling.of(replace(plan, model=model), samples.x, samples.y) for model in models]
    statistics: FeatureStatistics = plan.collect(samples, parts=False)
    statistics_of: StatisticsOf = partial(plan.statistics_of, samples)
    main = [
        replace(plan, model=model).posterior(evidence.evaluate(statistics, plan.features, model)).log_bf10
        for model in models
    ]
    parts = [
        stack_log_bf10(plan.features_of(part), partial(statistics_of, part), models) for part in range(len(plan.parts))
    ]
    of_levels = [[counts.log_bf10(model) for counts in level_counts(plan, statistics)] for model in models]
    by_model = np.concatenate([np.array(main)[:, np.newaxis], *parts, np.array(of_levels)], axis=1)
    for logs, one in zip(by_model, every, strict=True):
        if one is not None:
            logs -= one.log_means
    return np.array([log_mean(logs, prior_weights(plan)) for logs in by_model])
