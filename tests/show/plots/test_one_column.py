"""Densities and the witness curve."""

import numpy as np
import pytest

import twosample as ts
from twosample import simulate
from twosample.show.plots import plot_result


def test_densities_integrate_to_one_over_the_shown_range(one):
    samples = plot_result(one).axes[0]
    for line in samples.lines[:2]:
        at, density = line.get_data()
        # Both samples lie in the central 99.5 % of the pool but for a few rows.
        assert np.trapezoid(density, at) / (at[-1] - at[0]) == pytest.approx(1.0, abs=0.05)


def test_density_finds_the_mode():
    pair = simulate.gaussian(500, 3, sd=3.0)
    curves = plot_result(ts.test(pair.x, pair.y)).axes[0].lines[:2]
    at = curves[0].get_xdata()
    peaks = [line.get_ydata().max() / (at[-1] - at[0]) for line in curves]
    # Densities of N(0, 1) and N(0, 9) at 0, flattened a little by smoothing.
    assert peaks[0] == pytest.approx(0.399, rel=0.15)
    assert peaks[1] == pytest.approx(0.133, rel=0.2)


def test_witness_curve_is_that_of_the_result(one):
    witness = plot_result(one).axes[1]
    at, mean = witness.lines[0].get_data()
    # Six digits are drawn.
    np.testing.assert_allclose(mean, one.witness(at).mean, rtol=1e-5)


def test_says_where_there_is_more_of_which_sample(one):
    witness = plot_result(one, names=("before", "after")).axes[1]
    labels = {text.get_text(): text for text in witness.texts}
    assert set(labels) == {"more before here", "more after here"}
    # y is shifted to the right.
    assert labels["more before here"].get_position()[0] < labels["more after here"].get_position()[0]


def test_does_not_claim_a_difference_that_is_not_clear(texts):
    rng = np.random.default_rng(0)
    witness = plot_result(ts.test(rng.normal(size=80), rng.normal(size=80))).axes[1]
    assert witness.texts
    assert all(words.startswith("perhaps more ") for words in texts(witness))


def test_outliers_do_not_set_the_limits(texts):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.normal(size=400)
    x[0] = 1e6
    figure = plot_result(ts.test(x, y))
    low, high = figure.axes[0].get_xlim()
    assert -10 < low < high < 10
    assert texts(figure.axes[0]) == ["1 of x beyond →"]


def test_constant_samples(tmp_path):
    """Two constant samples that are equal are an answer, and so a picture."""
    figure = plot_result(ts.test([1.0] * 6, [1.0] * 6))
    figure.savefig(tmp_path / "picture.png", dpi=40)
    low, high = figure.axes[0].get_xlim()
    assert low < 1.0 < high
