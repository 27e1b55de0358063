"""Pictures of tests of independence: the values that are drawn, and names."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import twosample as ts
from twosample import plots
from twosample.errors import InputError


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x**2 + rng.normal(size=n), rng


def test_map_shows_the_witness():
    x, y, _ = data()
    result = ts.independence(x, y)
    axes, bar = result.plot().axes
    mesh = axes.collections[0]
    picture = result.picture
    assert_allclose(mesh.get_array(), picture.mean.T)
    i, j = 10, 40
    found = result.witness([picture.at_x[i]], [picture.at_y[j]])
    assert_allclose([picture.mean[i, j], picture.sd[i, j]], [found.mean[0], found.sd[0]], rtol=1e-5)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    assert "less 1" in bar.get_ylabel()
    assert "very strong evidence" in axes.figure.get_suptitle().lower()
    low, high = np.quantile(x, [0.02, 0.98])
    assert low - 0.3 < picture.at_x[0] < picture.at_x[-1] < high + 0.3


def test_levels_are_named():
    x, y, _ = data()
    result = ts.independence(x, np.where(y > 1, "$high$", "low"))
    axes = result.plot().axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["$high$", "low"]
    assert not any(text.get_parse_math() for text in axes.get_yticklabels())


def test_pairs_of_columns_are_bars():
    x, y, rng = data()
    result = ts.independence(np.c_[x, rng.normal(size=200)], np.c_[y, rng.normal(size=(200, 11))])
    axes = plots.plot_independence(result, figsize=(5, 4)).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [row.log_bf10 for row in result.by_pair[:20]]
    assert axes.get_yticklabels()[0].get_text() == "x0 and y0"
    assert "20 with the most evidence of 24" in axes.get_xlabel()


def test_size_is_checked():
    with pytest.raises(InputError, match="figsize"):
        ts.independence(*data()[:2]).plot(figsize=(0, 1))
