"""The values that plots draw, not their pixels."""

import dataclasses
import sys

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import twosample as ts
from twosample import simulate
from twosample.errors import ConvergenceWarning, InputError, MissingExtraError
from twosample.plots import plot_lengthscales, plot_result, plot_trace, printable

HOSTILE = "[red]x$\\frac{1}{0}$"


def frame(rows, *columns):
    return pl.DataFrame(np.asarray(rows).reshape(len(rows), -1), schema=list(columns), orient="row")


def result_of(n_columns, *, shift=1.5, n=60, **options):
    rng = np.random.default_rng(n_columns)
    x, y = rng.normal(size=(n, n_columns)), rng.normal(size=(n + 10, n_columns))
    y[:, 0] += shift
    return ts.test(x, y, **options)


@pytest.fixture(scope="module")
def one():
    return result_of(1)


@pytest.fixture(scope="module")
def two():
    return result_of(2)


@pytest.fixture(scope="module")
def five():
    return result_of(5)


def legend_texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def texts(axes):
    return [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("name, n_axes", [("one", 4), ("two", 5), ("five", 5)])
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
    [("one", "png", b"\x89PNG"), ("two", "png", b"\x89PNG"), ("five", "png", b"\x89PNG"), ("two", "svg", b"<?xml")],
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


def test_does_not_show_a_negative_zero(one):
    assert "log BF10 = +0.00" in plot_result(dataclasses.replace(one, log_bf10=-0.001)).get_suptitle()


def test_leaves_global_state_alone(one):
    import matplotlib.pyplot as plt

    before = dict(plt.rcParams)
    plot_result(one)
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before


def test_densities_integrate_to_one_over_the_shown_range(one):
    samples = plot_result(one).axes[0]
    for line in samples.lines[:2]:
        at, density = line.get_data()
        # Both samples lie in the central 99.5 % of the pool but for a few rows.
        assert np.trapezoid(density, at) == pytest.approx(1.0, abs=0.05)


def test_density_finds_the_mode():
    pair = simulate.gaussian(500, 3, sd=3.0)
    curves = plot_result(ts.test(pair.x, pair.y)).axes[0].lines[:2]
    peaks = [line.get_ydata().max() for line in curves]
    # Densities of N(0, 1) and N(0, 9) at 0, flattened a little by smoothing.
    assert peaks[0] == pytest.approx(0.399, rel=0.15)
    assert peaks[1] == pytest.approx(0.133, rel=0.2)


def test_witness_curve_is_that_of_the_result(one):
    witness = plot_result(one).axes[1]
    at, mean = witness.lines[0].get_data()
    np.testing.assert_array_equal(mean, one.witness(at).mean)


def test_says_where_there_is_more_of_which_sample(one):
    witness = plot_result(one, names=("before", "after")).axes[1]
    labels = {text.get_text(): text for text in witness.texts}
    assert set(labels) == {"more before here", "more after here"}
    # y is shifted to the right.
    assert labels["more before here"].get_position()[0] < labels["more after here"].get_position()[0]


def test_does_not_claim_a_difference_that_is_not_clear():
    rng = np.random.default_rng(0)
    witness = plot_result(ts.test(rng.normal(size=80), rng.normal(size=80))).axes[1]
    assert witness.texts
    assert all(words.startswith("perhaps more ") for words in texts(witness))


def test_map_outlines_where_the_witness_is_clear(two):
    witness = plot_result(two).axes[1]
    filled, outline = witness.collections[:2]
    assert filled.norm.vmin == -filled.norm.vmax
    assert legend_texts(witness) == ["inside: more than 2 sd from zero"]
    corners = np.concatenate([path.vertices for path in outline.get_paths()])
    found = two.witness(corners)
    # On the outline |mean| = 2 sd; the grid has 90 steps a side.
    np.testing.assert_allclose(np.abs(found.mean) / found.sd, 2.0, rtol=0.1)


def test_map_of_equal_samples_has_no_outline():
    rng = np.random.default_rng(0)
    witness = plot_result(ts.test(rng.normal(size=(60, 2)), rng.normal(size=(60, 2)))).axes[1]
    assert legend_texts(witness) == ["nowhere 2 sd from zero"]


def test_colour_scale_says_which_end_is_which(two):
    figure = plot_result(two, names=("a$", "$b"))
    figure.canvas.draw()
    labels = figure.axes[3].get_yticklabels()
    assert [text.get_text() for text in labels] == ["more\n$b", "0", "more\na$"]
    assert not any(text.get_parse_math() for text in labels)


def test_rows_are_coloured_by_the_witness(five):
    figure = plot_result(five)
    drawn = figure.axes[1].collections
    np.testing.assert_array_equal(drawn[0].get_array(), five.witness(five.shown_x).mean)
    np.testing.assert_array_equal(drawn[1].get_array(), five.witness(five.shown_y).mean)
    assert figure.axes[0].get_xlabel().startswith("principal axis 1 of 5")
    assert figure.axes[0].get_ylabel().startswith("principal axis 2 of 5")


def test_principal_axes_are_those_of_standardised_rows():
    """A column in units a million times smaller does not take over the picture."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    y[:, 0] += 2.0
    small = plot_result(ts.test(x, y)).axes[0]
    large = plot_result(ts.test(x * [1, 1, 1e6], y * [1, 1, 1e6])).axes[0]
    np.testing.assert_allclose(
        np.abs(small.collections[0].get_offsets()), np.abs(large.collections[0].get_offsets()), rtol=1e-6, atol=1e-9
    )


def test_samples_have_different_colours_and_markers(two):
    x, y = plot_result(two).axes[0].collections
    assert tuple(x.get_facecolor()[0][:3]) == to_rgba("#0072B2")[:3]
    assert tuple(y.get_facecolor()[0][:3]) == to_rgba("#D55E00")[:3]
    assert len(x.get_paths()[0].vertices) != len(y.get_paths()[0].vertices)


def test_outliers_do_not_set_the_limits():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.normal(size=400)
    x[0] = 1e6
    figure = plot_result(ts.test(x, y))
    low, high = figure.axes[0].get_xlim()
    assert -10 < low < high < 10
    # A quarter of a percent at either end of the 800 rows, of which the largest is far away.
    assert [words for words in texts(figure.axes[0]) if "out of view" in words]


@pytest.mark.parametrize("unit", [1e6, 1e-150])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_any_unit(unit, n_columns, tmp_path):
    rng = np.random.default_rng(0)
    x, y = unit * rng.normal(size=(40, n_columns)), unit * (rng.normal(size=(40, n_columns)) + 1)
    figure = plot_result(ts.test(x, y))
    figure.savefig(tmp_path / "picture.png", dpi=40)
    if n_columns == 1:
        low, high = figure.axes[0].get_xlim()
        assert 3 * unit < high - low < 9 * unit


def test_constant_samples(tmp_path):
    """Two constant samples that are equal are an answer, and so a picture."""
    figure = plot_result(ts.test([1.0] * 6, [1.0] * 6))
    figure.savefig(tmp_path / "picture.png", dpi=40)
    low, high = figure.axes[0].get_xlim()
    assert low < 1.0 < high


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
def test_lengthscale_panel_names_the_unit(n_columns, unit):
    assert unit in plot_result(result_of(n_columns)).axes[2].get_xlabel()


def test_unscaled_columns_keep_their_unit():
    assert "units of the columns" in plot_result(result_of(2, scale="raw")).axes[2].get_xlabel()


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_fixed_lengthscale_is_said_in_words(n_columns):
    figure = plot_result(result_of(n_columns, lengthscale=1.25))
    (words,) = texts(figure.axes[2])
    assert "given, not inferred" in words
    assert "1.25" in words
    assert not figure.axes[2].lines


@pytest.mark.parametrize("n_columns", [1, 2])
def test_names_are_data_and_not_markup(n_columns, tmp_path):
    rng = np.random.default_rng(0)
    columns = [HOSTILE, "\x1b[31m\n$"][:n_columns]
    x, y = (frame(rng.normal(size=(30, n_columns)) + shift, *columns) for shift in (0, 1))
    figure = plot_result(ts.test(x, y), names=("_hidden $", "$\\alpha$"))
    figure.savefig(tmp_path / "picture.svg")
    figure.savefig(tmp_path / "picture.png", dpi=40)

    labels = [figure.axes[1].xaxis.label, *([figure.axes[1].yaxis.label] if n_columns == 2 else [])]
    assert [label.get_text() for label in labels] == [HOSTILE, "\\x1b[31m\\n$"][:n_columns]
    legend = figure.axes[0].get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["_hidden $ (30 rows)", "$\\alpha$ (30 rows)"]
    shown = [*labels, *legend, *figure.axes[1].texts, figure.axes[2].xaxis.label]
    assert not any(text.get_parse_math() or text.get_usetex() for text in shown)


def test_names_are_data_even_if_tex_is_on(one):
    import matplotlib

    with matplotlib.rc_context({"text.usetex": True}):
        figure = plot_result(one, names=("$", "\\input{x}"))
    assert not any(text.get_usetex() for text in figure.axes[0].get_legend().get_texts())


def test_long_names_are_shortened(one):
    (first, _) = legend_texts(plot_result(one, names=("n" * 200, "y")).axes[0])
    assert len(first) < 50
    assert "..." in first


def test_legend_says_how_many_rows_are_shown():
    rng = np.random.default_rng(0)
    figure = plot_result(ts.test(rng.normal(size=2000), rng.normal(size=100)))
    assert legend_texts(figure.axes[0]) == ["x (500 of 2,000 rows)", "y (100 rows)"]


def test_columns_without_names_go_by_position(one, two):
    assert plot_result(one).axes[1].get_xlabel() == "value"
    assert plot_result(two).axes[1].get_ylabel() == "column 1"


def test_two_names_are_needed(one):
    with pytest.raises(InputError, match="names: need one name for each"):
        plot_result(one, names=("x", "y", "z"))


def test_missing_matplotlib_names_the_extra(one, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"plot needs matplotlib.*twosample\[plot\]"):
        plot_result(one)


def test_result_plot_is_this_plot(one):
    assert one.plot().get_suptitle() == plot_result(one).get_suptitle()


def test_printable_keeps_what_can_be_printed():
    assert printable("naïve Ω 中文 $x$") == "naïve Ω 中文 $x$"
    assert printable("a\tb\x9b\u202e\udcff") == "a\\tb\\x9b\\u202e\\udcff"


# Chains.


def sampled(columns, **options):
    rng = np.random.default_rng(0)
    x, y = (frame(rng.normal(size=(20, len(columns))) + shift, *columns) for shift in (0, 1))
    with pytest.warns(ConvergenceWarning):
        return ts.gibbs(x, y, points=8, steps=60, burn_in=20, chains=2, model="adaptive", **options)


@pytest.fixture(scope="module")
def chains():
    return sampled(["$u"])


@pytest.fixture(scope="module")
def several():
    return sampled([HOSTILE, "v" * 99, "\x1b[31m\n$"], kernel="ard")


def panels(figure):
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


@pytest.mark.parametrize("draw", [plot_lengthscales, plot_trace])
@pytest.mark.parametrize("name", ["chains", "several"])
def test_chains_title_has_verdict_and_errors(draw, name, request, tmp_path):
    result = request.getfixturevalue(name)
    figure = draw(result)
    figure.savefig(tmp_path / "picture.png", dpi=40)
    verdict, numbers = figure.get_suptitle().splitlines()
    assert verdict.lower() == result.verdict
    assert f"± {result.prob_h1_error:.1g}  " in numbers
    assert numbers.endswith(f"{result.log_bf10:+.2f} ± {result.log_bf10_error:.2g}")
    certain = dataclasses.replace(result, log_bf10_given=np.full_like(result.log_bf10_given, -50.0))
    assert "P(different | data) < 0.0001  " in draw(certain).get_suptitle()


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


def test_hypothesis_with_few_draws_is_said_in_words(chains):
    (axes,) = plot_lengthscales(dataclasses.replace(chains, given=np.ones_like(chains.given))).axes
    assert texts(axes) == ["only 0 draws if they are the same"]
    assert len(axes.lines) == 3


def test_columns_are_in_the_order_of_their_relevance(several):
    figure = plot_lengthscales(several)
    relevance = several.relevance
    names = {HOSTILE: HOSTILE, "v" * 99: f"{'v' * 14}...{'v' * 11}", "\x1b[31m\n$": "\\x1b[31m\\n$"}
    for place, (column, title) in enumerate(zip(relevance.columns, panels(figure), strict=False)):
        words = "shorter" if relevance.shortening[place] >= 0 else "longer"
        size, error = abs(relevance.shortening[place]), relevance.error[place]
        assert title == f"{place + 1}. {names[column]}\n{words} by {size:.2f} ± {error:.2f} if they differ"
        shown = figure.axes[place].lines[-1].get_xdata()[0]
        scale = several.scale[several.columns.index(column)]
        assert shown == pytest.approx(several.median_heuristic * scale)
    ranking = figure.axes[-1]
    assert [text.get_text() for text in ranking.get_yticklabels()] == [names[column] for column in relevance.columns]
    np.testing.assert_array_equal(ranking.containers[0].lines[0].get_xdata(), relevance.shortening)
    shown = [*ranking.get_yticklabels(), *(axes._left_title for axes in figure.axes[:-1])]
    assert not any(text.get_parse_math() or text.get_usetex() for text in shown)


def test_columns_without_relevance_are_in_their_own_order(several):
    figure = plot_lengthscales(dataclasses.replace(several, relevance=None))
    assert list(panels(figure))[::2] == [HOSTILE, "\\x1b[31m\\n$"]
    assert len(figure.axes) == 3


def test_of_many_columns_twelve_are_shown(several):
    many = tuple(f"column {i}" for i in range(15))

    def wide(values):
        return np.concatenate([values] * 5, axis=-1)

    evidence = dataclasses.replace(
        several.evidence,
        lengthscales_h0=wide(several.evidence.lengthscales_h0),
        lengthscales_h1=wide(several.evidence.lengthscales_h1),
    )
    fields = ("shortening", "error", "probability")
    r_hat = np.arange(15.0)
    result = dataclasses.replace(
        several,
        columns=many,
        scale=np.ones(15),
        lengthscales=wide(several.lengthscales),
        evidence=evidence,
        relevance=dataclasses.replace(
            several.relevance, columns=many[::-1], **{name: wide(getattr(several.relevance, name)) for name in fields}
        ),
        diagnostics=dataclasses.replace(
            several.diagnostics, r_hat_lengthscales=r_hat, ess_lengthscales=wide(several.diagnostics.ess_lengthscales)
        ),
    )
    *columns, ranking = plot_lengthscales(result).axes
    assert [axes.get_title(loc="left").split("\n")[0] for axes in columns] == [
        f"{place + 1}. column {14 - place}" for place in range(12)
    ]
    assert "(12 of 15)" in ranking.get_title(loc="left")
    # The chains that agree least.
    assert list(panels(plot_trace(result)))[2:] == [f"column {i}" for i in range(3, 15)]


def test_trace_shows_every_kept_draw(several):
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
    assert list(panels(figure))[2:] == [HOSTILE, f"{'v' * 14}...{'v' * 11}", "\\x1b[31m\\n$"]
    found = several.diagnostics
    for axes, r_hat, size in (
        (probability, found.r_hat_prob_h1, found.ess_prob_h1),
        (lengthscales[2], found.r_hat_lengthscales[2], found.ess_lengthscales[2]),
    ):
        assert axes.get_title(loc="right") == f"R-hat {r_hat:.3f}, {size:.0f} effective draws"


def test_result_plots_are_these_plots(chains):
    assert list(panels(chains.plot())) == list(panels(plot_lengthscales(chains)))
    assert list(panels(chains.plot_trace())) == list(panels(plot_trace(chains)))
