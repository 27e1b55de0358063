"""Where the mass is: the scan, bounds in place of curves, and the intervals that are left."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twosample.inference.search import brackets, intervals_of, refine_bounds, runs, scan, widened

STEP = 0.5 * np.log(2.0)


def same(curves):
    return curves


def flags(text):
    return np.array([letter == "x" for letter in text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", []), ("...", []), ("x", [(0, 1)]), ("xx..x", [(0, 2), (4, 5)]), (".xx.x.", [(1, 3), (4, 5)])],
)
def test_runs(text, expected):
    assert [(run.start, run.stop) for run in runs(flags(text))] == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("....", "...."), ("x...", "xx.."), (".x..x", "xxxxx"), ("...x...", "..xxx..")]
)
def test_widened(text, expected):
    before = flags(text)
    assert_array_equal(widened(before), flags(expected))
    assert_array_equal(before, flags(text))


def test_intervals():
    nodes = np.array([0.0, 1.0, 3.0, 4.0, 8.0])
    assert intervals_of(nodes, flags("xx.xx")) == [(0.0, 1.0), (4.0, 8.0)]


# ---- the scan


def test_the_scan_ends_where_curves_have_long_been_falling():
    def curve(t):
        return -0.5 * ((t[:, None] - 1.0) / 0.05) ** 2

    nodes, values = scan(curve, -40.0, 3.0, same)
    assert_allclose(3.0 - nodes[::-1], STEP * np.arange(len(nodes)), atol=1e-12)
    assert_array_equal(values, curve(nodes))
    # 1,000 nats are 2.2 away, and the part of five nodes that is wholly beyond that ends it.
    assert 1.0 - 2.3 - 9 * STEP < nodes[0] < 1.0 - 2.2


def test_the_scan_does_not_end_while_curves_rise():
    """A second mode far below a valley of thousands of nats."""

    def curve(t):
        return np.maximum(-0.5 * ((t - 3.0) / 0.02) ** 2, 50.0 - 0.5 * ((t + 4.0) / 0.05) ** 2)[:, None]

    nodes, values = scan(curve, -6.0, 4.0, same)
    assert nodes[0] == -6.0
    assert abs(nodes[np.argmax(values)] + 4.0) < STEP


def test_the_scan_ends_at_the_lower_bound_and_passes_over_what_is_impossible():
    def curve(t):
        return np.where(t < 0.0, -np.inf, -t)[:, None]

    nodes, values = scan(lambda t: -t[:, None], -1.0, 2.0, same)
    assert nodes[0] == -1.0 and nodes[-1] == 2.0
    assert_allclose(np.diff(nodes)[1:], STEP)
    assert 0.0 < nodes[1] - nodes[0] <= STEP
    nodes, values = scan(curve, -1.0, 2.0, same)
    assert (nodes >= 0.0).all() and np.isfinite(values).all()


@pytest.mark.parametrize("octaves", [0.2, 3.0, 3.5, 4.1])
def test_the_scan_of_any_range_has_no_two_nodes_in_one_place(octaves):
    nodes, _ = scan(lambda t: -t[:, None], 0.3 - octaves * np.log(2.0), 0.3, same)
    assert nodes[0] == pytest.approx(0.3 - octaves * np.log(2.0), abs=1e-9) and nodes[-1] == 0.3
    assert len(nodes) == np.ceil(round(2 * octaves, 9)) + 1
    assert np.diff(nodes).min() > 0.1 * STEP


# ---- bounds


def test_curves_take_the_place_of_bounds_where_there_may_be_mass():
    nodes = np.linspace(-5.0, 5.0, 41)
    asked = []

    def curve(t):
        asked.extend(t)
        return -0.5 * (t[:, None] / 0.15) ** 2

    # Too high by 30 nats, and by thousands at one end.
    bounds = curve(nodes) + 30.0 + 3000.0 * (nodes > 4.1)[:, None]
    asked.clear()
    found, known = refine_bounds(nodes, bounds, curve, same)
    assert sorted(asked) == nodes[known].tolist()  # each once
    assert_array_equal(found[known], curve(nodes[known]))
    assert_array_equal(found[~known], bounds[~known])
    # Every node that may hold mass by its bound is known, and those beside it.
    possible = widened((bounds[:, 0] > -25.0) & (nodes < 4.1))
    assert known[possible].all()
    assert known.sum() < 25


def test_the_highest_bounds_are_looked_at_first():
    """So that a bound that leaves no room beside the best value found is never looked at."""
    nodes = np.linspace(0.0, 10.0, 101)
    asked = []

    def curve(t):
        asked.extend(t)
        return -10.0 * np.abs(t[:, None] - 4.0)

    refine_bounds(nodes, curve(nodes) + 1.0, curve, same)
    asked = asked[len(nodes) :]
    assert abs(asked[0] - 4.0) <= 0.2
    assert max(np.abs(np.array(asked) - 4.0)) < 3.2


# ---- brackets


def test_brackets_hold_all_mass():
    nodes = np.linspace(-4.0, 4.0, 33)
    curve = np.logaddexp(-0.5 * ((nodes + 2.0) / 0.1) ** 2, -0.5 * ((nodes - 2.0) / 0.1) ** 2)[:, None]
    left, right = brackets([(nodes, curve)])
    # Seven widths of each peak and some of the nodes beside them, but not all that lies between.
    for (low, high), center in ((left, -2.0), (right, 2.0)):
        assert low < center - 0.7 and high > center + 0.7
        assert high - low < 3.5


def test_a_peak_between_two_nodes_is_not_lost():
    """The nodes beside it are 50 nats lower than another peak, on which a node happens to lie."""
    nodes = np.linspace(-4.0, 4.0, 33)
    hidden = 2.125  # in the middle of two nodes
    curve = np.maximum(-0.5 * ((nodes + 2.0) / 0.2) ** 2, -0.5 * ((nodes - hidden) / 0.0125) ** 2)[:, None]
    assert curve[nodes > 1.0].max() == pytest.approx(-50.0)
    intervals = brackets([(nodes, curve)])
    assert any(low < hidden < high for low, high in intervals)


def test_brackets_of_several_integrands_and_pieces():
    """Every integrand has its own best value; no interval crosses from one piece to the next."""
    left, right = np.linspace(-3.0, -1.0, 21), np.linspace(1.0, 3.0, 21)

    def values(nodes):
        return np.stack([-0.5 * ((nodes + 2.0) / 0.1) ** 2, -1e4 - 0.5 * ((nodes - 2.0) / 0.1) ** 2], axis=1)

    first, second = brackets([(left, values(left)), (right, values(right))])
    assert -3.0 <= first[0] < -2.7 and -1.3 < first[1] <= -1.0
    assert 1.0 <= second[0] < 1.3 and 2.7 < second[1] <= 3.0
