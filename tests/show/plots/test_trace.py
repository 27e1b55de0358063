"""Chains, draw by draw."""

import numpy as np
import pytest

from twosample.show.plots import plot_trace


def test_trace_shows_every_kept_draw(several, panels, hostile):
    figure = plot_trace(several)
    probability, labels, *lengthscales = figure.axes
    given = 1.0 / (1.0 + np.exp(-several.log_bf10_given))
    for chain in range(2):
        dots, mean = probability.lines[2 * chain : 2 * chain + 2]
        np.testing.assert_array_equal(dots.get_xdata(), np.arange(1, 21))
        np.testing.assert_allclose(dots.get_ydata(), given[chain])
        assert mean.get_ydata()[-1] == pytest.approx(given[chain].mean())
        for index, axes in enumerate(lengthscales):
            np.testing.assert_array_equal(axes.lines[chain].get_ydata(), several.lengthscales[chain, :, index])
    np.testing.assert_array_equal(labels.images[0].get_array(), several.labels)
    assert labels.get_title(loc="right") == f"{several.diagnostics.switches.sum()} changes"
    assert list(panels(figure))[2:] == [hostile, f"{'v' * 14}...{'v' * 11}", "\\x1b[31m\\n$"]
    found = several.diagnostics
    for axes, r_hat, size in (
        (probability, found.r_hat_prob_h1, found.ess_prob_h1),
        (lengthscales[2], found.r_hat_lengthscales[2], found.ess_lengthscales[2]),
    ):
        assert axes.get_title(loc="right") == f"R-hat {r_hat:.3f}, {size:.0f} effective draws"


def test_of_many_lengthscales_the_twelve_that_agree_least_are_shown(many, panels):
    assert list(panels(plot_trace(many)))[2:] == [f"column {i}" for i in range(3, 15)]


def test_result_plot_trace_is_this_plot(chains, panels):
    assert list(panels(chains.plot_trace())) == list(panels(plot_trace(chains)))
