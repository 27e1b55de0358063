"""Panels by themselves, and pictures of data as they are."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import twosample as ts
from twosample import plots
from twosample.errors import InputError, InputTypeError


def ax():
    return Figure().subplots()


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


# ---- panels


@pytest.mark.parametrize("name", ["one", "two", "five", "correlated", "together", "with_rows"])
@pytest.mark.parametrize("panel", ["samples", "witness", "lengthscale"])
def test_every_panel_is_a_function_that_returns_its_axes(name, panel, request, tmp_path):
    result, draw = request.getfixturevalue(name), getattr(ts.plots, panel)
    mine = ax()
    assert draw(result, ax=mine) is mine and mine.has_data()
    own = draw(result)
    assert own.figure is not mine.figure and own.has_data()
    assert own.get_title(loc="left") == mine.get_title(loc="left") != ""
    own.figure.savefig(tmp_path / "panel.png", dpi=40)


@pytest.mark.parametrize("name", ["one", "two"])
def test_panels_are_those_of_the_whole_picture(name, request):
    result = request.getfixturevalue(name)
    figure = result.plot()
    for axes, panel in zip(figure.axes, (plots.samples, plots.witness, plots.lengthscale), strict=False):
        own = panel(result)
        assert own.get_title(loc="left") == axes.get_title(loc="left")
        assert (own.get_xlim(), own.get_ylim()) == (axes.get_xlim(), axes.get_ylim())
        for one, other in zip(own.lines, axes.lines, strict=True):
            np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
    assert plots.samples(result).get_xlabel() == figure.axes[1].get_xlabel()


def test_columns_by_themselves(five, together):
    axes = plots.columns(five, ax())
    assert [bar.get_width() for bar in axes.patches] == [row.prob for row in five.by_column]
    with pytest.raises(InputError, match=r"^result: .* tests all columns together.*; test with subsets='auto'"):
        plots.columns(together)


def test_columns_of_a_result_of_two(two):
    assert len(plots.columns(two).patches) == 2


def test_a_column_by_name_or_place():
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in rng.normal(size=(2, 80, 3)))
    y[["a", "c"]] += 1.5
    result = ts.test(x, y)
    for column, name in (("a", "a"), (0, "a"), ("c", "c"), (2, "c")):
        for panel in (plots.samples, plots.witness):
            assert panel(result, column=column).get_xlabel() == name
    driver = next(driver for driver in result.drivers if driver.columns == (2,))
    np.testing.assert_array_equal(plots.witness(result, column="c").lines[0].get_ydata(), driver.mean)
    for column in ("b", 1, "d", 7):
        with pytest.raises(InputError, match=rf"^column: {column!r} is not shown; use one of "):
            plots.samples(result, column=column)


def test_one_of_two_columns(two, together):
    assert plots.samples(two, column=1).get_xlabel() == "column 1"
    with pytest.raises(InputError, match=r"^column: the witness is known for both columns together"):
        plots.witness(two, column=1)
    with pytest.raises(InputError, match=r"^column: 0 is not shown, as no column is by itself"):
        plots.samples(together, column=0)


def test_panels_are_of_results(one):
    with pytest.raises(InputTypeError, match=r"^result: expected what test returns, got EachResult"):
        plots.samples(ts.test_each([1.0, 2.0, 3.0], [2.0, 3.0, 5.0]))
    with pytest.raises(InputError, match=r"^names: need one name for each"):
        plots.samples(one, names=("x",))


@pytest.mark.parametrize("name", ["one", "two", "five", "correlated"])
def test_the_size_of_a_figure(name, request):
    figure = request.getfixturevalue(name).plot(figsize=(9, 7))
    assert figure.get_size_inches().tolist() == [9.0, 7.0]


def test_the_size_of_figures_of_chains(chains):
    for figure in (chains.plot(figsize=(9, 7)), chains.plot_trace(figsize=(9, 7))):
        assert figure.get_size_inches().tolist() == [9.0, 7.0]
    holmes = ts.baselines.holmes([0.1, 0.4, 0.7, 0.9, 1.2], [2.1, 2.4, 2.6, 2.9, 0.8])
    assert holmes.plot(figsize=(9, 7)).get_size_inches().tolist() == [9.0, 7.0]


@pytest.mark.parametrize("figsize", [3, (3,), (3, 0), (3, -1), (np.nan, 2), ("a", "b"), (1e9, 2)])
def test_a_size_that_is_none(figsize, one):
    with pytest.raises(InputError, match=r"^figsize: .* is no width and height") as refused:
        one.plot(figsize=figsize)
    assert refused.value.argument == "figsize"


def test_plots_are_public_and_lazy():
    program = (
        "import sys, twosample as ts; assert 'plots' in ts.__all__ and 'plots' in dir(ts); "
        "assert 'twosample.show.plots' not in sys.modules; ts.plots.samples; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# ---- data as they are


@pytest.mark.parametrize("kind", [bool, int])
def test_boolean_columns_have_bars(kind):
    rng = np.random.default_rng(0)
    x, y = (rng.random(80) < 0.3).astype(kind), (rng.random(60) < 0.6).astype(kind)
    figure = ts.test(x, y).plot()
    samples, witness = figure.axes[:2]
    expected = [1 - x.mean(), x.mean(), 1 - y.mean(), y.mean()]
    np.testing.assert_allclose([bar.get_height() for bar in samples.patches], expected)
    # x to the left of the value, y to the right, and they do not overlap.
    middles = [bar.get_x() + 0.5 * bar.get_width() for bar in samples.patches]
    assert middles[0] < 0 < middles[2] < middles[1] < 1 < middles[3]
    assert all(bar.get_width() <= middles[2] - middles[0] for bar in samples.patches)
    figure.canvas.draw()
    assert [text.get_text() for text in witness.get_xticklabels()] == ["0", "1"]
    assert samples.get_ylabel() == "share of the rows"
    assert not samples.lines[1:]  # no density


def test_discrete_columns_among_others():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 120, 4))
    x[:, 1], y[:, 1] = rng.integers(1, 6, 120), np.clip(rng.integers(1, 9, 120), 1, 5)
    y[:, 2] += 1.5
    result = ts.test(x, y)
    assert {driver.columns for driver in result.drivers} >= {(1,), (2,)}
    assert len(plots.samples(result, column=1).patches) == 10
    assert len(plots.samples(result, column=2).patches) == 0
    labels = {axes.get_ylabel() for axes in result.plot().axes}
    assert {"share of the rows", "density"} <= labels


def test_point_masses_are_bars_with_their_share():
    rng = np.random.default_rng(0)
    x, y = (np.where(rng.random(200) < share, 0.0, rng.lognormal(size=200)) for share in (0.4, 0.1))
    samples = plots.samples(ts.test(x, y), names=("before", "after"))
    bars = samples.patches
    assert len(bars) == 2
    assert bars[0].get_height() / bars[1].get_height() == pytest.approx((x == 0).sum() / (y == 0).sum())
    first, second = (100 * (values == 0).mean() for values in (x, y))
    words = [text for text in texts_of(samples) if "at 0" in text]
    assert words == [f"{first:.0f} % of before, {second:.2g} % of after at 0"]


def test_rows_beyond_the_edges_are_counted_there():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    x[:3], y[0], y[1] = 1e6, 1e5, -1e9
    samples = plots.samples(ts.test(x, y))
    places = {text.get_text(): text.get_position()[0] for text in samples.texts}
    assert places == {"← 1 of y beyond": 0.01, "3 of x, 1 of y beyond →": 0.99}
    assert -8 < samples.get_xlim()[0] < samples.get_xlim()[1] < 8


def test_of_many_rows_the_share_beyond_an_edge_is_said():
    x, y = np.random.default_rng(0).standard_cauchy(size=(2, 9000))
    result = ts.test(x, y)
    assert result.shown.rows == (2000, 2000)
    share = 100 * result.shown.columns[0].outside[:, 1] / 2000
    words = f"{share[0]:.2g} % of x, {share[1]:.2g} % of y beyond →"
    assert words in texts_of(plots.samples(result))
    high = result.shown.columns[0].limits[1]
    assert share[0] == pytest.approx(100 * (x > high).mean(), abs=1.5)


def test_quantiles_are_drawn_where_there_are_no_rows(one, result_of):
    axes = plots.samples(one)
    shown = one.shown.columns[0]
    assert axes.lines[2].get_xdata() == pytest.approx(shown.quantiles[0][[0, 4]])
    assert axes.lines[3].get_xdata() == pytest.approx(shown.quantiles[0][[1, 3]])
    assert axes.lines[4].get_xdata() == pytest.approx(shown.quantiles[0][[2]])
    kept = result_of(1, keep_rows=True)
    np.testing.assert_array_equal(plots.samples(kept).lines[2].get_xdata(), kept.shown_x[:, 0])


def test_a_sample_of_one_value():
    result = ts.test(np.ones(30), np.random.default_rng(0).normal(1, 1, 40))
    samples = plots.samples(result)
    assert "100 % of x at 1" in texts_of(samples)
    result.plot()
