"""The options that questions share: checked once, in one frozen record, and refused where they have no meaning."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from twosample import kernels, models
from twosample.common.arguments import Seed, count_of, flag_of, generator_of, is_one_of, positive, share_of
from twosample.common.calls import python_call
from twosample.data import Choice, Samples
from twosample.data.complete import check_policy
from twosample.errors import InputError, Setting
from twosample.features.domains.domain import KernelChoice
from twosample.kernels import Kernel
from twosample.models import LogUniform, Model
from twosample.plan import Plan, make_plan

__all__ = ["Options", "one_kernel", "recorded", "refuse_options_of_tables", "refusing"]

# Options for rows of a table, which objects do not have, with their defaults.
_OF_TABLES = {
    "by": None, "groups": None, "columns": None, "drop": None, "categories": None, "lengthscale": None,
    "subsets": "auto", "scale": "auto", "nan_policy": "raise", "tolerance": 1e-3, "engine": "auto", "keep_rows": False,
    "plan": None,
}  # fmt: skip
_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")


@dataclass(frozen=True, eq=False)
class Options:
    """What a question was asked with; names and meanings are those of `twosample.test`."""

    model: Model
    kernels: tuple[Kernel, ...]  # that are averaged over; of rows of a table
    objects: KernelChoice  # its `of_objects` says whether the samples are objects
    points: int | ArrayLike
    lengthscale: Any
    subsets: object
    scale: ArrayLike  # that of the model unless another one was given
    nan_policy: Literal["raise", "omit"]
    tolerance: float
    choice: Choice  # which columns are compared, and what a single table is split and rows are matched by
    prior_odds: float
    permutations: int
    rope: float | None
    paired: bool
    keep_rows: bool
    generator: np.random.Generator  # the source of everything random, made from `rng`
    rng: Seed

    @classmethod
    def checked(
        cls, asked: Mapping[str, Any] = MappingProxyType({}), /, *, pooled: bool = False, **more: Any
    ) -> Options:
        """Check the options of a question, which are those of `test` by name; all others have the defaults of `test`.

        `asked` may hold more than options, as the `locals()` of a public function do when it begins; `more` go before
        those. `pooled` is for questions whose model must pool the covariance of all rows.
        """
        given = {**asked, **more}
        option: Callable[..., Any] = given.get
        objects = KernelChoice(option("kernel", "rbf"), option("features"), option("parameters"))
        if objects.of_objects:
            refuse_options_of_tables(given)
        else:
            objects.check_table()
        model = (models.resolve_pooled if pooled else models.resolve)(option("model", "adaptive"))
        points, scale = option("points", 40), option("scale", "auto")
        if objects.of_objects:
            objects = replace(objects, points=count_of(points, "points", 1))
        rope = option("rope")
        names = ("by", "groups", "columns", "drop", "categories")
        check_policy(option("nan_policy", "raise"))
        choice = Choice.of(*map(option, names), texts=not model.needs_pairs, paired=option("paired", False))
        found = cls(
            model=model,
            kernels=() if objects.of_objects else kernels.resolve_several(objects.kernel),
            objects=objects,
            points=count_of(float(points), "points", 1) if isinstance(points, float | np.floating) else points,
            lengthscale=option("lengthscale"),
            subsets=option("subsets", "auto"),
            scale=model.scale if is_one_of(scale, ("auto",)) else scale,
            nan_policy=option("nan_policy", "raise"),
            tolerance=positive(option("tolerance", 1e-3), "tolerance"),
            choice=choice,
            prior_odds=positive(option("prior_odds", 1.0), "prior_odds"),
            permutations=count_of(option("permutations", 0), "permutations", 0),
            rope=None if rope is None else share_of(rope, "rope", 0.5),
            paired=choice.paired is not False,
            keep_rows=flag_of(option("keep_rows", False), "keep_rows"),
            generator=generator_of(option("rng", 0)),
            rng=option("rng", 0),
        )
        found._check_model()
        return found

    def _check_model(self) -> None:
        """Refuse what the model cannot answer."""
        model, adaptive = self.model, ("use ", Setting("model", "adaptive"))
        if self.objects.of_objects and (model.needs_pairs or not model.has_effect):
            raise InputError(f"model: {model.name!r} needs rows of numbers", argument="model", remedy=adaptive)
        if self.rope is not None and not model.has_effect:
            raise InputError(
                f"rope: model {model.name!r} does not say how much samples differ", argument="rope", remedy=adaptive
            )
        if self.permutations and not model.relabels:
            raise InputError(
                f"permutations: the p-value is for models with the noise of all rows, not {model.name!r}",
                argument="permutations",
                remedy=adaptive,
            )

    def plan(self, samples: Samples, **changes: Any) -> Plan:
        """The plan for checked samples, also with another `kernel`, `model` or number of `points`."""
        model = changes.get("model", self.model)
        # Only a prior that covers a known range has lengthscales that are fixed beforehand.
        mixes = model.ranks > 0.0 and isinstance(model.lengthscale, LogUniform)
        subsets = self.subsets
        if not mixes or self.lengthscale is not None:
            if not (subsets is None or is_one_of(subsets, ("auto",))):
                why = f"model {model.name!r} tests all columns together"
                if mixes:
                    why = "at a given lengthscale all columns are tested together"
                raise InputError(f"subsets: {why}", argument="subsets", remedy=("use ", Setting("subsets", "auto")))
            subsets = None
        return make_plan(
            samples,
            model,
            changes.get("kernel", self.kernels[0]),
            changes.get("points", self.points),
            self.lengthscale,
            nan_policy=self.nan_policy,
            tolerance=self.tolerance,
            subsets=subsets,
        )

    def plans(self, samples: Samples) -> list[Plan]:
        """The plans for checked samples, one for each kernel."""
        return [self.plan(samples, kernel=kernel) for kernel in self.kernels]

    def again(self) -> Options:
        """The same with a generator that starts anew."""
        return replace(self, generator=generator_of(self.rng))

    def without_texts(self) -> Options:
        """The same where columns of text are left out."""
        return replace(self, choice=replace(self.choice, texts=False))


def one_kernel(kernel: object) -> Kernel:
    """The kernel of a question that cannot average over several."""
    if isinstance(kernel, list | tuple):
        raise InputError(
            "kernel: there is one plan, and so one kernel", argument="kernel", remedy="test with each of them instead"
        )
    return kernels.resolve(kernel)  # type: ignore[arg-type]


def refuse_options_of_tables(given: dict[str, Any]) -> None:
    """Refuse options for rows of a table, unless they have their defaults."""
    for name, default in _OF_TABLES.items():
        value = given.get(name, default)
        if value is not default and not (isinstance(value, type(default)) and value == default):
            raise InputError(f"{name}: is for rows of a table, not for objects", argument=name, remedy="leave it out")


def refusing(**reasons: str) -> Callable[[Callable[_Arguments, _Returned]], Callable[_Arguments, _Returned]]:
    """Decorate a public function: refuse options of other questions that it does not have, and say why."""

    def decorate(function: Callable[_Arguments, _Returned]) -> Callable[_Arguments, _Returned]:
        @wraps(function)
        def asked(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Returned:
            for name, reason in reasons.items():
                if name in options:
                    raise InputError(f"{name}: {reason}", argument=name, remedy="leave it out")
            return function(*args, **options)

        return asked

    return decorate


def recorded(function: Callable[_Arguments, _Returned]) -> Callable[_Arguments, _Returned]:
    """Decorate a public function: its result remembers how it was called."""
    signature = inspect.signature(function)

    @wraps(function)
    def asked(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Returned:
        result = function(*args, **options)
        call = python_call(function.__name__, signature.bind(*args, **options))
        result.remember(call=call, copied=result)  # type: ignore[attr-defined]
        return result

    return asked
