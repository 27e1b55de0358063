from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

import twosample as ts
from twosample.inference.grid import LAST_LEVEL
from twosample.inference.refinement import refinements


@dataclass(frozen=True)
class _Counted:
    made: list[int]
    level: int = 0
    fixed: bool = False

    def refined(self) -> _Counted:
        self.made.append(self.level + 1)
        return replace(self, level=self.level + 1)


def test_all_levels_up_to_the_last():
    assert [plan.level for plan in refinements(_Counted([]))] == list(range(LAST_LEVEL + 1))
    assert [plan.level for plan in refinements(_Counted([], level=LAST_LEVEL))] == [LAST_LEVEL]


def test_a_given_lengthscale_is_answered_once():
    plan = _Counted([], fixed=True)
    assert list(refinements(plan)) == [plan]
    assert plan.made == []


def test_a_refinement_is_made_only_when_it_is_asked_for():
    plan = _Counted([])
    for one in refinements(plan):
        if one.level == 1:
            break
    assert plan.made == [1]


def test_grids_of_a_plan_are_nested():
    rng = np.random.default_rng(1)
    plans = list(refinements(ts.plan(rng.normal(size=50), rng.normal(size=50), subsets=None)))
    assert [plan.level for plan in plans] == list(range(LAST_LEVEL + 1))
    for coarse, fine in pairwise(plans):
        assert np.isin(coarse.lengthscales, fine.lengthscales).all()
        assert len(fine.lengthscales) == 2 * len(coarse.lengthscales) - 1


def test_a_plan_with_a_given_lengthscale():
    rng = np.random.default_rng(1)
    plan = ts.plan(rng.normal(size=50), rng.normal(size=50), lengthscale=1.0)
    assert list(refinements(plan)) == [plan]
