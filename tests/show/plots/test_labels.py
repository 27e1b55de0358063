"""Names that try to be more than names, and the numbers of an answer."""

import dataclasses

import numpy as np
import pytest

import twosample as ts
from twosample.show.plots import plot_lengthscales, plot_result, plot_trace


@pytest.mark.parametrize("n_columns", [1, 2])
def test_names_are_data_and_not_markup(n_columns, tmp_path, frame, hostile):
    rng = np.random.default_rng(0)
    columns = [hostile, "\x1b[31m\n$"][:n_columns]
    x, y = (frame(rng.normal(size=(30, n_columns)) + shift, *columns) for shift in (0, 1))
    figure = plot_result(ts.test(x, y), names=("_hidden $", "$\\alpha$"))
    figure.savefig(tmp_path / "picture.svg")
    figure.savefig(tmp_path / "picture.png", dpi=40)

    labels = [figure.axes[1].xaxis.label, *([figure.axes[1].yaxis.label] if n_columns == 2 else [])]
    assert [label.get_text() for label in labels] == [hostile, "\\x1b[31m\\n$"][:n_columns]
    legend = figure.axes[0].get_legend().get_texts()
    assert [text.get_text() for text in legend][:2] == ["_hidden $ (30 rows)", "$\\alpha$ (30 rows)"]
    shown = [*labels, *legend, *figure.axes[1].texts, figure.axes[2].xaxis.label]
    assert not any(text.get_parse_math() or text.get_usetex() for text in shown)


def test_names_are_data_even_if_tex_is_on(one):
    import matplotlib

    with matplotlib.rc_context({"text.usetex": True}):
        figure = plot_result(one, names=("$", "\\input{x}"))
    assert not any(text.get_usetex() for text in figure.axes[0].get_legend().get_texts())


def test_long_names_are_shortened(one, legend_texts):
    (first, *_) = legend_texts(plot_result(one, names=("n" * 200, "y")).axes[0])
    assert len(first) < 50
    assert "..." in first


def test_legend_says_how_many_rows_are_shown(legend_texts):
    rng = np.random.default_rng(0)
    figure = plot_result(ts.test(rng.normal(size=3000), rng.normal(size=100)))
    assert legend_texts(figure.axes[0])[:2] == ["x (2,000 of 3,000 rows)", "y (100 rows)"]


def test_columns_without_names_go_by_position(one, two):
    assert plot_result(one).axes[1].get_xlabel() == "value"
    assert plot_result(two).axes[1].get_ylabel() == "column 1"


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
