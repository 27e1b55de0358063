"""The refinement loop: answer on a grid of lengthscales, look at the error, and refine the grid until it is small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from twosample.inference.grid import LAST_LEVEL

if TYPE_CHECKING:
    from twosample.plan import Plan

__all__ = ["refinements"]


def refinements(plan: Plan) -> Iterator[Plan]:
    """Yield the plan and then its refinements, up to the finest grid; the caller stops at an accurate answer.

    A refinement is made only when the caller asks for it. Each grid contains the one before it, so that what is known
    at the lengthscales of one plan can be kept for the next.
    """
    yield plan
    while not plan.fixed and plan.level < LAST_LEVEL:
        plan = plan.refined()
        yield plan
