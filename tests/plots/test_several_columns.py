"""Rows in a plane, and the witness as colours."""

import numpy as np
from matplotlib.colors import to_rgba

import twosample as ts
from twosample.plots import plot_result


def test_map_outlines_where_the_witness_is_clear(two, legend_texts):
    witness = plot_result(two).axes[1]
    filled, outline = witness.collections[:2]
    assert filled.norm.vmin == -filled.norm.vmax
    assert legend_texts(witness) == ["inside: more than 2 sd from zero"]
    corners = np.concatenate([path.vertices for path in outline.get_paths()])
    found = two.witness(corners)
    # On the outline |mean| = 2 sd; the grid has 90 steps a side.
    np.testing.assert_allclose(np.abs(found.mean) / found.sd, 2.0, rtol=0.1)


def test_map_of_equal_samples_has_no_outline(legend_texts):
    rng = np.random.default_rng(0)
    witness = plot_result(ts.test(rng.normal(size=(60, 2)), rng.normal(size=(60, 2)))).axes[1]
    assert legend_texts(witness) == ["nowhere 2 sd from zero"]


def test_colour_scale_says_which_end_is_which(two):
    figure = plot_result(two, names=("a$", "$b"))
    figure.canvas.draw()
    labels = figure.axes[3].get_yticklabels()
    assert [text.get_text() for text in labels] == ["more\n$b", "0", "more\na$"]
    assert not any(text.get_parse_math() for text in labels)


def test_rows_are_coloured_by_the_witness(together):
    figure = plot_result(together)
    drawn = figure.axes[1].collections
    np.testing.assert_array_equal(drawn[0].get_array(), together.witness(together.shown_x).mean)
    np.testing.assert_array_equal(drawn[1].get_array(), together.witness(together.shown_y).mean)
    assert figure.axes[0].get_xlabel().startswith("principal axis 1 of 5")
    assert figure.axes[0].get_ylabel().startswith("principal axis 2 of 5")


def test_principal_axes_are_those_of_standardised_rows():
    """A column in units a million times smaller does not take over the picture."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    y[:, 0] += 2.0
    drawn = []
    for factor in (1, 1e6):
        result = ts.test(x * [1, 1, factor], y * [1, 1, factor], subsets=None)
        rows = plot_result(result).axes[0].collections[0].get_offsets()
        assert len(rows) == 80
        drawn.append(np.abs(rows)[np.argsort(result.shown_x[:, 0])])  # rows are shown in any order
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-6, atol=1e-9)


def test_samples_have_different_colours_and_markers(two):
    x, y = plot_result(two).axes[0].collections
    assert tuple(x.get_facecolor()[0][:3]) == to_rgba("#0072B2")[:3]
    assert tuple(y.get_facecolor()[0][:3]) == to_rgba("#D55E00")[:3]
    assert len(x.get_paths()[0].vertices) != len(y.get_paths()[0].vertices)
