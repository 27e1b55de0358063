"""Panels: interpolation at Chebyshev–Lobatto nodes, the integrals of exponentials, and their estimated errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from twosample.inference.intervals import Panel, lobatto, masses, refine

LOW, HIGH = -2.5, 2.0


def same(curves):
    return curves


def panel_of(curve, order, low=LOW, high=HIGH):
    return Panel(low, high, curve(lobatto(low, high, order))[:, None])


def dense_log_integral(curve, low=LOW, high=HIGH, pieces=400):
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(low, high, pieces + 1)
    half = 0.5 * np.diff(edges)[:, None]
    return logsumexp(curve((edges[:-1, None] + half * (1.0 + nodes)).ravel()), b=(half * weights).ravel())


def random_curve(seed, narrowest, widest, size):
    """A sum of steps and humps of various widths."""
    rng = np.random.default_rng(seed)
    count = rng.integers(2, 6)
    centers, heights = rng.uniform(LOW, HIGH, size=count), size * rng.normal(size=count)
    widths = np.exp(rng.uniform(np.log(narrowest), np.log(widest), size=count))
    steps = rng.random(count) < 0.5

    def curve(t):
        u = (t[:, None] - centers) / widths
        return np.where(steps, np.tanh(u), np.exp(-0.5 * u**2)) @ heights

    return curve


def test_lobatto_nodes():
    nodes = lobatto(-1.0, 3.0, 4)
    assert_allclose(nodes, 1.0 + 2.0 * np.array([-1.0, -np.sqrt(0.5), 0.0, np.sqrt(0.5), 1.0]), atol=1e-15)
    assert nodes[0] == -1.0 and nodes[-1] == 3.0
    assert_allclose(lobatto(-1.0, 3.0, 8)[::2], nodes, atol=1e-15)


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_polynomials_of_the_order_are_interpolated_exactly(stride):
    polynomial = np.polynomial.Chebyshev(np.random.default_rng(0).normal(size=12 // stride + 1), domain=[LOW, HIGH])
    panel = panel_of(polynomial, 12)
    for pieces in ((-1.0, 1.0), (-1.0, 0.0, 1.0), tuple(np.linspace(-1.0, 1.0, 14))):
        at, weights = panel.fine(pieces)
        assert (np.diff(at) > 0).all() and LOW < at[0] and at[-1] < HIGH
        assert weights.sum() == pytest.approx(HIGH - LOW, rel=1e-13)
        assert_allclose(panel.interpolate(stride, pieces)[:, 0], polynomial(at), atol=1e-12)


def test_masses_of_all_panels_together():
    def curve(t):
        return -0.5 * (t / 0.7) ** 2 + 3.0

    parts = [panel_of(curve, 12, low, high) for low, high in ((LOW, -0.3), (-0.3, 0.9), (0.9, HIGH))]
    shares, log_integrals = masses(parts, same)
    assert log_integrals[0] == pytest.approx(dense_log_integral(curve), abs=1e-12)
    assert sum(share.sum() for share in shares) == pytest.approx(1.0, abs=1e-12)
    assert shares[1].sum() == pytest.approx(np.exp(dense_log_integral(curve, -0.3, 0.9) - log_integrals[0]), abs=1e-12)


@pytest.mark.parametrize(
    ("order", "narrowest", "widest", "size"),
    [(24, 0.4, 1.0, 0.1), (48, 0.15, 0.5, 0.1), (48, 0.15, 0.5, 1.0), (96, 0.08, 0.25, 0.1)],
)
def test_the_error_is_on_the_safe_side(order, narrowest, widest, size):
    """For 99 of 100 curves that the order just about resolves the true error is less than the estimate."""
    shares, errors = [], []
    for seed in range(400):
        curve = random_curve(seed, narrowest, widest, size)
        panel = panel_of(curve, order)
        [share], log_integrals = masses([panel], same)
        error = abs(log_integrals[0] - dense_log_integral(curve))
        if error > 1e-11:  # below that the rounding of the reference counts
            errors.append(error)
            shares.append(error / panel.error(share, order, same))
    assert len(shares) > 200
    assert np.quantile(shares, 0.99) < 1.0
    # And not by orders of magnitude.
    assert np.median(shares) > 0.003


def test_convergence_is_extrapolated():
    """An order that is more than enough is known to be, although the half of it is not enough."""

    def curve(t):
        return np.sin(4.0 * t)

    panel = panel_of(curve, 48)
    [share], log_integrals = masses([panel], same)
    coarse = panel.interpolate(2)[:, 0] - panel.interpolate()[:, 0]
    assert panel.error(share, 48, same) < 1e-3 * np.abs(coarse).max()
    assert abs(log_integrals[0] - dense_log_integral(curve)) < 1e-12


def test_low_orders_are_not_trusted():
    panel = panel_of(np.zeros_like, 24)
    [share], _ = masses([panel], same)
    assert panel.error(share, 24, same) == 0.0
    assert panel.error(share, 48, same) == np.inf


def test_reach():
    """Where no integrand comes within 25 nats of its best, there is no mass; a wide margin costs little."""
    panel = panel_of(lambda t: -0.5 * (t / 0.1) ** 2, 48)
    [(low, high)] = panel.reach(np.zeros(1), same)
    edge = 0.1 * np.sqrt(50.0)
    assert -1.2 * edge < low < -edge and edge < high < 1.2 * edge
    two = Panel(
        LOW, HIGH, np.stack([-0.5 * ((panel.nodes + 1.5) / 0.05) ** 2, -0.5 * ((panel.nodes - 1.0) / 0.05) ** 2], 1)
    )
    first, second = two.reach(np.zeros(2), same)
    assert first[0] < -1.5 < first[1] < second[0] < 1.0 < second[1]


def test_pieces_become_as_small_as_the_integrand_needs():
    """A step of width 1e-4 in the integrand, none in the curves: pieces shrink around it, and nowhere else."""

    def integrands(curves):
        return -np.logaddexp(0.0, -1e4 * (curves - 0.3))

    panel = panel_of(lambda t: t, 12)
    log_integrals = masses([panel], integrands)[1]
    edges, change = panel.pieces(integrands, log_integrals, 1e-9)
    assert change <= 1e-9
    widths = np.diff(edges)
    assert widths.min() < 5e-3 and widths.max() > 0.2
    found = logsumexp(panel.log_masses(integrands, edges))
    # The integral of a logistic function.
    assert found == pytest.approx(np.log(1e-4 * np.logaddexp(0.0, 1e4 * (HIGH - 0.3))), abs=1e-9)
    plain, change = panel.pieces(same, masses([panel], same)[1], 1e-9)
    assert len(plain) == 5 and change < 1e-12


def test_refining_keeps_what_is_known():
    asked = []

    def values(t):
        asked.extend(t)
        return np.sin(t)[:, None]

    panel = Panel(LOW, HIGH, values(lobatto(LOW, HIGH, 12)))
    asked.clear()
    [finer] = refine(panel, values)
    assert (finer.low, finer.high, finer.order) == (LOW, HIGH, 24)
    assert len(asked) == 12
    assert_array_equal(finer.values[::2], panel.values)
    assert_allclose(finer.values[:, 0], np.sin(finer.nodes), atol=1e-15)


def test_panels_of_a_high_order_are_split():
    def values(t):
        return np.sin(t)[:, None]

    left, right = refine(Panel(LOW, HIGH, values(lobatto(LOW, HIGH, 192))), values)
    assert (left.low, left.high, right.low, right.high) == (LOW, -0.25, -0.25, HIGH)
    assert left.order == right.order == 48
    assert_allclose(right.values[:, 0], np.sin(right.nodes), atol=1e-15)
