"""How log BF10 depends on what was assumed: each value is that of a test with that assumption."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import twosample as ts
from twosample import models
from twosample.errors import InputError
from twosample.results.robustness import Robustness, Sensitivity

ADAPTIVE = models.PRESETS["adaptive"]


def draw(n=60, d=1, shift=0.6, seed=0):
    rng = np.random.default_rng([seed, n, d])
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)) + shift


@pytest.fixture(scope="module", params=[(1, False), (3, False), (2, True)], ids=["one", "three", "pairs"])
def case(request):
    d, paired = request.param
    x, y = draw(d=d)
    result = ts.test(x, y, paired=paired)
    return x, y, paired, result, result.robustness()


def curve(robustness, name):
    return next(one for one in robustness.curves if one.name == name)


def at(curve, value):
    return curve.log_bf10[list(curve.values).index(value)]


@pytest.mark.parametrize("scale", [0.05, 0.5, 2.0])
def test_scales_of_the_amplitude(case, scale):
    x, y, paired, _, found = case
    alone = models.HalfCauchy(scale if x.shape[1] == 1 else scale * 0.5 / 0.3)  # of each column among several
    model = replace(ADAPTIVE, amplitude=models.HalfCauchy(scale), amplitude_of_one=alone)
    expected = ts.test(x, y, paired=paired, model=model).log_bf10
    assert at(curve(found, "amplitude"), scale) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("points", [10, 80])
def test_numbers_of_points(case, points):
    x, y, paired, _, found = case
    expected = ts.test(x, y, paired=paired, points=points).log_bf10
    assert at(curve(found, "points"), points) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("width", [0.5, 2.0])
def test_ranges_of_lengthscales(case, width):
    x, y, paired, _, found = case
    model = replace(ADAPTIVE, lengthscale=models.LogUniform(16.0**-width, 8.0**width))
    expected = ts.test(x, y, paired=paired, model=model).log_bf10
    assert at(curve(found, "lengthscale"), width) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_shares_along_components(case, share):
    x, y, paired, _, found = case
    expected = ts.test(x, y, paired=paired, model=replace(ADAPTIVE, components=share)).log_bf10
    assert at(curve(found, "components"), share) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("times", [0.01, 100.0])
def test_multiples_of_the_noise_floor(case, times):
    x, y, paired, _, found = case
    floor = models.NoiseFloor(150.0 * times, power=3, relative=True, most=0.2 * times)
    expected = ts.test(x, y, paired=paired, model=replace(ADAPTIVE, floor=floor)).log_bf10
    assert at(curve(found, "floor"), times) == pytest.approx(expected, abs=1e-9)


def test_the_test_itself_is_on_every_curve(case):
    *_, result, found = case
    assert [one.name for one in found.curves] == ["amplitude", "points", "lengthscale", "components", "floor"]
    for one in found.curves:
        assert (np.diff(one.values) > 0).all()
        assert at(one, one.default) == result.log_bf10 == found.log_bf10
    assert (curve(found, "amplitude").values[0], curve(found, "amplitude").values[-1]) == (0.05, 2.0)


def test_what_was_given_is_not_varied():
    x, y = draw()
    names = [one.name for one in ts.test(x, y, points=x[::6], lengthscale=1.0).robustness().curves]
    assert names == ["amplitude", "components", "floor"]
    own = replace(ADAPTIVE, amplitude_of_one=models.HalfCauchy(0.4))
    assert 0.4 in curve(ts.test(x, y, model=own).robustness(), "amplitude").values


def test_up_to_where_the_verdict_holds():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    rising = Sensitivity("amplitude", "scales", values, np.array([0.5, 2.0, 2.5, 2.9, 4.0]), 3.0)
    assert rising.holds == (2.0, 4.0)
    there_and_back = Sensitivity("amplitude", "scales", values, np.array([2.0, 0.0, 2.5, 2.9, 2.0]), 4.0)
    assert there_and_back.holds == (3.0, 5.0)
    sentence = Robustness(2.5, (rising, replace(rising, label="ranges", log_bf10=np.full(5, 2.0)))).sentence
    assert sentence == "The verdict holds for scales from 2 to 4; ranges from 1 to 5 (all that were tried)."


def test_it_needs_the_data():
    x, y = draw()
    result = ts.test(x, y)
    for without in (pickle.loads(pickle.dumps(result)), ts.TwoSampleResult.from_json(result.to_json())):
        with pytest.raises(InputError, match="no data to look at again; call it on what test returned"):
            without.robustness()
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.changed(names=("u", "v")).robustness() == result.robustness()
    with pytest.raises(InputError, match="model 'paper' fixes what would be varied; use model='adaptive'"):
        ts.test(x, y, model="paper").robustness()


def test_it_goes_through_json_prints_and_reports_progress(case):
    *_, result, found = case
    assert Robustness.from_json(found.to_json()) == found
    assert found.sentence in str(found) and "(the test)" in str(found)
    frame = found.to_frame("polars")
    assert frame.height == sum(len(one.values) for one in found.curves)
    assert frame["log_bf10"].to_list() == [value for one in found.curves for value in one.log_bf10.tolist()]
    shares = []
    result.robustness(progress=shares.append)
    assert shares == sorted(shares) and len(shares) == len(found.curves)


def test_the_picture_has_a_panel_for_each_assumption(case):
    *_, found = case
    figure = found.plot(figsize=(12, 4))
    assert [axes.get_xlabel() for axes in figure.axes] == [one.label for one in found.curves]
    for axes, one in zip(figure.axes, found.curves, strict=True):
        line = max(axes.lines, key=lambda line: len(line.get_xdata()))
        np.testing.assert_array_equal(line.get_ydata(), one.log_bf10)
    assert found.sentence in figure.get_suptitle()
