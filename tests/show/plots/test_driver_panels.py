"""The columns that drive the difference, and the list of columns."""

import dataclasses

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import twosample as ts
from twosample.show.plots import plot_result

SCALE, LIST = "At what scale, all columns together", "Which columns differ, if any"


def annotations(axes):
    return [text.get_text() for text in axes.texts if type(text).__name__ == "Annotation"]


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 80, 14))
    y[:, [2, 7, 11]] += [1.0, 1.5, 2.0]
    return ts.test(x, y)


def test_a_column_has_densities_witness_and_words(five, panels, legend_texts):
    figure = plot_result(five, names=("before", "after"))
    assert list(panels(figure)) == ["column 0", "", LIST, SCALE]
    samples, witness = figure.axes[:2]
    (driver,) = five.drivers
    row = five.by_column[0]
    assert row.words.startswith("larger in y")
    assert annotations(samples) == [f"P(differs) > 0.9999, {row.words.replace('in y', 'in after')}"]
    assert samples.get_xlim() == witness.get_xlim() == (driver.grid[0, 0], driver.grid[0, -1])
    np.testing.assert_array_equal(samples.lines[0].get_ydata(), five.shown.columns[0].density[0])
    at, mean = witness.lines[0].get_data()
    np.testing.assert_array_equal(at, driver.grid[0])
    np.testing.assert_array_equal(mean, driver.mean)
    assert witness.get_xlabel() == "column 0"
    labels = [text.get_text() for text in samples.figure.legends[0].get_texts()]
    expected = ["before (60 rows)", "after (70 rows)", "median, middle 50 % and 90 %"]
    assert labels == [*expected, "posterior mean", "95 % band", "50 % band"]


def test_bands_are_those_of_the_driver(five):
    witness = plot_result(five).axes[1]
    (driver,) = five.drivers
    for band, reach in zip(witness.collections[:2], (1.959964, 0.67449), strict=True):
        corners = band.get_paths()[0].vertices
        middle = driver.grid[0, 60]
        found = sorted({float(y) for x, y in corners if x == middle})
        expected = driver.mean[60] + reach * driver.sd[60] * np.array([-1, 1])
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_up_to_three_columns_are_side_by_side(three):
    figure = plot_result(three)
    titles = [axes.get_title(loc="left") for axes in figure.axes[:6]]
    assert titles == ["column 11", "column 7", "column 2", "", "", ""]
    for place, driver in enumerate(three.drivers):
        np.testing.assert_array_equal(figure.axes[3 + place].lines[0].get_ydata(), driver.mean)
        shown = three.shown.columns[place]
        assert (shown.column,) == driver.columns
        np.testing.assert_array_equal(figure.axes[place].lines[1].get_ydata(), shown.density[1])


def test_list_has_the_ten_likeliest_columns(three, panels):
    axes = panels(plot_result(three))[f"{LIST} (10 of 14)"]
    rows = three.by_column[:10]
    assert [bar.get_width() for bar in axes.patches] == [row.prob for row in rows]
    assert [text.get_text() for text in axes.get_yticklabels()] == [f"column {row.column}" for row in rows]
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert len(set(colors[:3])) == 1 and colors[0] not in colors[3:]
    assert axes.yaxis_inverted()
    assert axes.texts[0].get_text().strip() == "> 0.99"
    assert axes.texts[5].get_text().strip() == f"{rows[5].prob:.2f}"


def test_equal_samples_claim_nothing(panels):
    rng = np.random.default_rng(0)
    result = ts.test(*rng.normal(size=(2, 80, 4)))
    figure = plot_result(result)
    row = result.by_column[0]
    assert figure.axes[0].get_title(loc="left") == f"column {row.column}"
    assert annotations(figure.axes[0]) == [f"P(differs) = {row.prob:.4f}"]
    assert all(text.get_text().startswith("perhaps more ") for text in figure.axes[1].texts)
    assert annotations(panels(figure)[LIST]) == []


def test_says_if_no_column_differs_by_itself(five, panels):
    weak = dataclasses.replace(five.by_subset, log_bf10=np.full(5, -2.0))
    axes = panels(plot_result(dataclasses.replace(five, by_subset=weak)))[LIST]
    assert annotations(axes) == ["the samples differ, but no column clearly by itself"]
    assert annotations(panels(plot_result(five))[LIST]) == []


def test_a_pair_is_a_map(correlated, legend_texts, panels):
    figure = plot_result(correlated, names=("a", "b"))
    samples, witness = figure.axes[:2]
    (driver,) = correlated.drivers
    first = correlated.subsets[0]
    assert first.columns == ("1", "3")
    assert annotations(samples) == [f"log BF10 = {first.log_bf10:+.2f} of these two, in how they go together"]
    for axes in (samples, witness):
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("column 1", "column 3")
        assert axes.get_xlim() == (driver.grid[0, 0], driver.grid[0, -1])
        assert axes.get_ylim() == (driver.grid[1, 0], driver.grid[1, -1])
    assert correlated.shown.plane.columns == (1, 3)
    assert len(samples.collections[1].get_offsets()) == (correlated.shown.plane.counts[1] > 0).sum()
    assert legend_texts(witness) == ["inside: more than 2 sd from zero"]
    filled, outline = witness.collections[:2]
    assert filled.norm.vmax == pytest.approx(max(np.abs(driver.mean).max(), 2 * np.quantile(driver.sd, 0.9)))
    corners = np.concatenate([path.vertices for path in outline.get_paths()])
    # On the outline |mean| = 2 sd; its corners lie on the lines of the grid.
    clear = RegularGridInterpolator(tuple(driver.grid), np.abs(driver.mean) - 2.0 * driver.sd)
    np.testing.assert_allclose(clear(corners), 0.0, atol=1e-9)
    assert {LIST, SCALE} <= set(panels(figure))


def test_scale_panel_is_there_too(five, panels):
    scale = panels(plot_result(five))[SCALE]
    np.testing.assert_array_equal(scale.lines[0].get_ydata(), five.lengthscale.density_h1)


def test_names_are_data_and_short(frame, hostile, tmp_path):
    rng = np.random.default_rng(0)
    columns = [hostile, "\x1b[31m\n$", "v" * 99]
    x, y = (frame(rng.normal(size=(40, 3)) + shift, *columns) for shift in (0, 1.5))
    names = ("_hidden $" + "n" * 90, "$\\alpha$ after the operation")
    figure = plot_result(ts.test(x, y), names=names)
    figure.savefig(tmp_path / "picture.png", dpi=40)
    shown = {hostile, "\\x1b[31m\\n$", f"{'v' * 14}...{'v' * 11}"}
    assert {axes.get_title(loc="left") for axes in figure.axes[:3]} == shown
    ranking = figure.axes[6]
    texts = [text for axes in figure.axes for text in axes.texts]
    texts += [axes._left_title for axes in figure.axes[:3]] + [axes.xaxis.label for axes in figure.axes[3:6]]
    texts += [*ranking.get_yticklabels(), *figure.axes[0].figure.legends[0].get_texts()]
    named = [text for text in texts if "$" in text.get_text()]
    assert len(named) > 8
    assert not any(text.get_parse_math() or text.get_usetex() for text in named)
    assert all(len(text.get_text()) <= 22 for text in ranking.get_yticklabels())
    # Nothing that is written over a panel is wider than it.
    for axes in figure.axes[:6]:
        for text in axes.texts:
            assert text.get_window_extent().width < axes.get_window_extent().width + 2


def test_panels_do_not_overlap(three, correlated):
    for result in (three, correlated):
        figure = plot_result(result, names=("n" * 40, "m" * 40))
        figure.canvas.draw()
        boxes = [axes.get_tightbbox() for axes in figure.axes]
        twins = [axes.get_position().bounds for axes in figure.axes]
        for i, one in enumerate(boxes):
            assert one.x0 >= 0 and one.y0 >= 0 and one.x1 <= figure.bbox.width and one.y1 <= figure.bbox.height
            for j in range(i):
                if twins[i] != twins[j]:
                    assert not one.padded(-0.5).overlaps(boxes[j])
