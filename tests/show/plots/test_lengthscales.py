"""Posteriors of sampled lengthscales, and which columns matter."""

import dataclasses

import numpy as np
import pytest

from twosample.show.plots import plot_lengthscales


def test_sampled_densities_are_those_of_the_draws(chains):
    # As if every other draw had been under H0, so that there are enough of both.
    chains = dataclasses.replace(chains, given=np.arange(40).reshape(2, 20) % 2)
    (axes,) = plot_lengthscales(chains).axes
    assert axes.get_xscale() == "log"
    differ, same, prior, median = axes.lines
    for line, hypothesis in ((differ, 1), (same, 0)):
        at, density = line.get_data()
        draws = np.log(chains.lengthscale_draws(hypothesis))
        # Smoothing with a bandwidth of about half a standard deviation, cut at the edges of the picture.
        mass = np.trapezoid(density, np.log(at))
        assert mass == pytest.approx(1.0, abs=0.15)
        assert np.trapezoid(density * np.log(at), np.log(at)) / mass == pytest.approx(draws.mean(), abs=0.2)
    low, high = (factor * chains.median_heuristic for factor in (1 / 16, 8.0))
    at, density = prior.get_data()
    inside = (at > low) & (at < high)
    np.testing.assert_allclose(density, np.where(inside, 1.0 / np.log(128.0), 0.0))
    assert median.get_xdata()[0] == chains.median_heuristic
    assert "$u" in axes.get_xlabel()


def test_hypothesis_with_few_draws_is_said_in_words(chains, texts):
    (axes,) = plot_lengthscales(dataclasses.replace(chains, given=np.ones_like(chains.given))).axes
    assert texts(axes) == ["only 0 draws if they are the same"]
    assert len(axes.lines) == 3


def test_columns_are_in_the_order_of_their_relevance(several, panels, hostile):
    figure = plot_lengthscales(several)
    relevance = several.relevance
    names = {hostile: hostile, "v" * 99: f"{'v' * 14}...{'v' * 11}", "\x1b[31m\n$": "\\x1b[31m\\n$"}
    for place, (column, title) in enumerate(zip(relevance.columns, panels(figure), strict=False)):
        words = "shorter" if relevance.shortening[place] >= 0 else "longer"
        size, error = abs(relevance.shortening[place]), relevance.error[place]
        assert title == f"{place + 1}. {names[column]}\n{words} by {size:.2f} ± {error:.2f} if they differ"
        shown = figure.axes[place].lines[-1].get_xdata()[0]
        scale = several.scale[several.columns.index(column)]
        assert shown == pytest.approx(several.median_heuristic * scale)
    ranking = figure.axes[-1]
    assert [text.get_text() for text in ranking.get_yticklabels()] == [names[column] for column in relevance.columns]
    np.testing.assert_array_equal(ranking.containers[0].lines[0].get_xdata(), relevance.loss)
    shown = [*ranking.get_yticklabels(), *(axes._left_title for axes in figure.axes[:-1])]
    assert not any(text.get_parse_math() or text.get_usetex() for text in shown)


def test_columns_without_relevance_are_in_their_own_order(several, panels, hostile):
    figure = plot_lengthscales(dataclasses.replace(several, relevance=None))
    assert list(panels(figure))[::2] == [hostile, "\\x1b[31m\\n$"]
    assert len(figure.axes) == 3


def test_of_many_columns_the_twelve_most_relevant_are_shown(many):
    *columns, ranking = plot_lengthscales(many).axes
    assert [axes.get_title(loc="left").split("\n")[0] for axes in columns] == [
        f"{place + 1}. column {14 - place}" for place in range(12)
    ]
    assert "(12 of 15)" in ranking.get_title(loc="left")


def test_result_plot_is_this_plot(chains, panels):
    assert list(panels(chains.plot())) == list(panels(plot_lengthscales(chains)))
