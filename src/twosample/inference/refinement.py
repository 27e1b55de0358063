"""The refinement loop: answer on a grid of lengthscales, look at the error, and refine the grid until it is small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self, TypeVar

from twosample.inference.grid import LAST_LEVEL

__all__ = ["Refinable", "refinements"]

_Plan = TypeVar("_Plan", bound="Refinable")


class Refinable(Protocol):
    """A plan with a grid of lengthscales that can be refined."""

    @property
    def fixed(self) -> bool:
        """Whether the lengthscale was given, so that there is no grid."""
        ...

    @property
    def level(self) -> int:
        """How often the grid has been refined."""
        ...

    def refined(self) -> Self:
        """The same plan with the next grid."""
        ...


def refinements(plan: _Plan) -> Iterator[_Plan]:
    """Yield the plan and then its refinements, up to the finest grid; the caller stops at an accurate answer.

    A refinement is made only when the caller asks for it. Each grid contains the one before it, so that what is known
    at the lengthscales of one plan can be kept for the next.

    Examples
    --------
    >>> import numpy as np, twosample as ts
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(2, 200))
    >>> for plan in refinements(ts.plan(x, y)):
    ...     result = plan.test(plan.statistics(x, y))
    ...     if result.diagnostics.converged:
    ...         break
    >>> plan.level
    0
    """
    yield plan
    while not plan.fixed and plan.level < LAST_LEVEL:
        plan = plan.refined()
        yield plan
