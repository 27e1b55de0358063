"""Answers to data sets of many kinds are those that were given before the lengthscale was integrated in one pass."""

import json
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import twosample as ts
from twosample.data import views
from twosample.features import points

HERE = Path(__file__).parent
BEFORE = json.loads((HERE / "before.json").read_text(encoding="utf-8"))["log_bf10"]
# Number 101 has a likelihood of the lengthscale that looks resolved by chance.
SOME = [number for number in (*range(60), 101) if number % 3]  # the default model has changed since
OTHERS = [number for number in range(len(BEFORE)) if number % 3 and number not in SOME]


@pytest.fixture(scope="module")
def case():
    """The module beside this one that draws the data sets."""
    spec = spec_from_file_location("fuzz", HERE / "fuzz.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.case


@pytest.fixture
def points_of_then(monkeypatch):
    """Rows are chosen as they were: columns count in the order and the direction that they have."""
    plan = import_module("twosample.plan")  # `twosample.plan` is a function
    for name in ("thin", "evaluation_points"):
        of_now = getattr(points, name)
        monkeypatch.setattr(
            plan, name, lambda *given, of_now=of_now, **options: of_now(*given, **{**options, "oriented": False})
        )
    monkeypatch.setattr(views, "evenly_spread", lambda n, count: ((np.arange(count) + 0.5) * (n / count)).astype(int))


def test_there_are_many():
    assert len(BEFORE) == 201


# The numbers from before have an estimated error of 1e-6 themselves.
@pytest.mark.parametrize("options", [{"tolerance": 1e-6}, {}], ids=["fine", "default"])
@pytest.mark.parametrize("numbers", [SOME, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["some", "others"])
@pytest.mark.filterwarnings("ignore::twosample.errors.DependentRowsWarning")
@pytest.mark.usefixtures("points_of_then")
def test_answers_are_what_they_were(case, numbers, options):
    wanted = options.get("tolerance", 1e-3)
    wrong = {}
    for number in numbers:
        x, y, others = case(number)
        found = ts.test(x, y, **options, **others)
        assert found.diagnostics.converged
        if found.log_bf10 != pytest.approx(BEFORE[number], rel=wanted, abs=wanted):
            wrong[number] = found.log_bf10, BEFORE[number]
    assert wrong == {}
