"""The values that the picture of an answer draws, not their pixels."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

import twosample as ts
from twosample.errors import InputError
from twosample.show.plots import plot_result


@pytest.mark.parametrize("name, n_axes", [("one", 4), ("two", 5), ("together", 5)])
def test_has_three_panels_a_probability_axis_and_a_colour_scale(name, n_axes, request):
    figure = plot_result(request.getfixturevalue(name))
    assert isinstance(figure, Figure)
    assert len(figure.axes) == n_axes
    assert [axes.get_title(loc="left").split(",")[0] for axes in figure.axes[:3]] == [
        "The samples",
        "Where they differ",
        "At what scale they differ",
    ]


@pytest.mark.parametrize(
    "name, suffix, start",
    [
        ("one", "png", b"\x89PNG"),
        ("two", "png", b"\x89PNG"),
        ("five", "png", b"\x89PNG"),
        ("correlated", "png", b"\x89PNG"),
        ("together", "png", b"\x89PNG"),
        ("two", "svg", b"<?xml"),
        ("five", "svg", b"<?xml"),
    ],
)
def test_can_be_saved(name, suffix, start, request, tmp_path):
    path = tmp_path / f"picture.{suffix}"
    plot_result(request.getfixturevalue(name)).savefig(path, dpi=40)
    assert path.read_bytes().startswith(start)


def test_title_is_the_verdict_and_the_probability(one):
    title = plot_result(one).get_suptitle()
    assert title.splitlines()[0].lower() == one.verdict
    assert "P(different | data) > 0.9999" in title
    doubtful = dataclasses.replace(one, log_bf10=0.5)
    assert f"P(different | data) = {doubtful.prob_h1:.4f}" in plot_result(doubtful).get_suptitle()
    same = dataclasses.replace(one, log_bf10=-20.0)
    assert "P(different | data) < 0.0001" in plot_result(same).get_suptitle()


@pytest.mark.parametrize("name", ["one", "two", "five", "correlated"])
def test_long_verdict_fits(name, request):
    same = dataclasses.replace(request.getfixturevalue(name), log_bf10=-2.0)
    assert len(same.verdict) > 95
    figure = plot_result(same)
    assert " ".join(figure.get_suptitle().splitlines()[:-1]).lower() == same.verdict.lower()
    figure.canvas.draw()
    title = figure._suptitle.get_window_extent()
    assert 0 < title.x0 < title.x1 < figure.bbox.width
    assert title.y1 < figure.bbox.height
    top = max(axes.get_window_extent().y1 for axes in figure.axes)
    assert title.y0 > top


def test_does_not_show_a_negative_zero(one):
    assert "log BF10 = +0.00" in plot_result(dataclasses.replace(one, log_bf10=-0.001)).get_suptitle()


@pytest.mark.parametrize(("unit", "n_columns"), [(1e6, 1), (1e-150, 1), (1e-150, 2), (1e6, 3)])
def test_any_unit(unit, n_columns, tmp_path):
    rng = np.random.default_rng(0)
    x, y = unit * rng.normal(size=(40, n_columns)), unit * (rng.normal(size=(40, n_columns)) + 1)
    figure = plot_result(ts.test(x, y))
    figure.savefig(tmp_path / "picture.png", dpi=40)
    if n_columns == 1:
        low, high = figure.axes[0].get_xlim()
        assert 3 * unit < high - low < 9 * unit


def test_lengthscale_panel_shows_the_posterior(one):
    figure = plot_result(one)
    scale, probability = figure.axes[2], figure.axes[3]
    assert scale.get_xscale() == "log"
    curves = [line.get_ydata() for line in scale.lines]
    np.testing.assert_array_equal(curves[0], one.lengthscale.density_h1)
    np.testing.assert_array_equal(curves[1], one.lengthscale.density_h0)
    assert scale.lines[2].get_xdata()[0] == one.lengthscale.median_heuristic
    np.testing.assert_array_equal(probability.lines[0].get_ydata(), one.lengthscale.prob_h1)
    assert probability.get_ylim()[0] == 0.0
    assert probability.get_ylim()[1] == pytest.approx(1.0, abs=0.1)
    low, high = scale.get_xlim()
    assert low < one.lengthscale.median_heuristic < high


@pytest.mark.parametrize("n_columns, unit", [(1, "of the data"), (2, "spread of a column")])
def test_lengthscale_panel_names_the_unit(n_columns, unit, result_of):
    assert unit in plot_result(result_of(n_columns)).axes[2].get_xlabel()


def test_unscaled_columns_keep_their_unit(result_of):
    assert "units of the columns" in plot_result(result_of(2, scale="raw")).axes[2].get_xlabel()


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_fixed_lengthscale_is_said_in_words(n_columns, result_of, texts):
    figure = plot_result(result_of(n_columns, lengthscale=1.25))
    (words,) = texts(figure.axes[2])
    assert "given, not inferred" in words
    assert "1.25" in words
    assert not figure.axes[2].lines


def test_two_names_are_needed(one):
    with pytest.raises(InputError, match="names: need one name for each"):
        plot_result(one, names=("x", "y", "z"))


def test_result_plot_is_this_plot(one):
    assert one.plot().get_suptitle() == plot_result(one).get_suptitle()
