"""Rows in a plane, and the witness as colours."""

import numpy as np
from matplotlib.colors import to_rgba

import twosample as ts
from twosample.show.plots import plot_result


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


def test_cells_are_coloured_by_the_witness(together):
    figure = plot_result(together)
    (drawn,) = figure.axes[1].collections
    plane = together.shown.plane
    np.testing.assert_array_equal(drawn.get_array(), plane.witness[0])
    np.testing.assert_array_equal(drawn.get_offsets(), plane.centers)
    assert figure.axes[0].get_xlabel().startswith("principal axis 1 of 5")
    assert figure.axes[0].get_ylabel().startswith("principal axis 2 of 5")


def test_principal_axes_are_those_of_standardised_rows():
    """A column in units a million times smaller does not take over the picture."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    y[:, 0] += 2.0
    planes = [ts.test(x * [1, 1, f], y * [1, 1, f], subsets=None).shown.plane for f in (1, 2.0**20)]
    for name in ("cells", "counts", "outside", "shares"):
        np.testing.assert_array_equal(getattr(planes[0], name), getattr(planes[1], name))
    assert planes[0].counts.sum() + sum(planes[0].outside) == 160


def test_samples_have_different_colours_and_markers(with_rows):
    x, y = plot_result(with_rows).axes[0].collections
    assert tuple(x.get_facecolor()[0][:3]) == to_rgba("#0072B2")[:3]
    assert tuple(y.get_facecolor()[0][:3]) == to_rgba("#D55E00")[:3]
    assert len(x.get_paths()[0].vertices) != len(y.get_paths()[0].vertices)


def test_rows_that_are_kept_are_drawn(with_rows):
    for axes, first in ((plot_result(with_rows).axes[0], 0), (plot_result(with_rows).axes[1], 2)):
        drawn = axes.collections[first:]
        np.testing.assert_array_equal(drawn[0].get_offsets(), with_rows.shown_x)
        np.testing.assert_array_equal(drawn[1].get_offsets(), with_rows.shown_y)


def test_without_rows_a_dot_is_as_large_as_the_count_of_its_cell(two):
    x, y = plot_result(two).axes[0].collections
    plane = two.shown.plane
    for dots, counts, color in ((x, plane.counts[0], "#0072B2"), (y, plane.counts[1], "#D55E00")):
        assert tuple(dots.get_facecolor()[0][:3]) == to_rgba(color)[:3]
        areas, there = dots.get_sizes(), counts > 0
        assert len(areas) == there.sum() and counts.sum() == {"#0072B2": two.n_x, "#D55E00": two.n_y}[color]
        np.testing.assert_allclose(areas / areas.max(), counts[there] / counts.max())
        # Within the cell, to the left for x and to the right for y.
        width = np.diff(plane.first[:2])[0]
        aside = dots.get_offsets() - plane.centers[there]
        assert (np.abs(aside[:, 0]) < 0.5 * width).all() and (aside[:, 1] == 0.0).all()


def test_discrete_columns_have_ticks_at_their_values():
    rng = np.random.default_rng(0)
    x, y = rng.integers(1, 6, (100, 2)), rng.integers(1, 6, (90, 2))
    figure = plot_result(ts.test(x, y))
    for axes in figure.axes[:2]:
        for axis in (axes.xaxis, axes.yaxis):
            assert [text.get_text() for text in axis.get_ticklabels()] == ["1", "2", "3", "4", "5"]


def test_rows_out_of_view_are_counted():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200, 2))
    x[:3], y[0, 1] = 1e5, -1e6
    samples = plot_result(ts.test(x, y), names=("before", "after")).axes[0]
    assert samples.get_title(loc="right") == "3 of before, 1 of after out of view"
    assert -10 < samples.get_xlim()[0] < samples.get_xlim()[1] < 10
