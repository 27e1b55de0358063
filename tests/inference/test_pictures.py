"""What pictures need of the samples, against counts and densities of the rows themselves."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde

import twosample as ts
from twosample.inference import pictures
from twosample.inference.pictures import kernel_density, limits_of, of_rows


def column_of(x, y):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    (shown,) = of_rows(x[:, None], y[:, None], [(0,)]).columns
    return shown


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    "values", [[0, 1], [1, 2, 3, 4, 5], np.arange(20), [0.5, 1.0, 1.5], [1 / 3, 2 / 3, 1.0], [7.0]]
)
def test_discrete_columns_are_counted_by_value(values):
    draw = rng()
    x, y = draw.choice(values, 90), draw.choice(values, 70)
    shown = column_of(x, y)
    assert shown.density is None and shown.quantiles is None
    np.testing.assert_array_equal(shown.values, values)
    for sample, counts in ((x, shown.counts[0]), (y, shown.counts[1])):
        assert counts.tolist() == [np.sum(sample == value) for value in values]
    assert not shown.outside.any()
    assert shown.limits[0] < min(values) <= max(values) < shown.limits[1]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (rng().normal(size=60), rng().normal(size=70)),
        (rng().normal(size=5), rng().normal(size=5)),
        (np.arange(80), np.arange(80, 160)),  # an identifier
        (np.repeat(rng().normal(size=20), 20), np.repeat(rng().normal(size=20), 20)),  # copies of a few rows
        (np.repeat(rng().normal(size=6), 2), np.repeat(rng().normal(size=6), 2)),
        (rng().normal(size=300).round(2), rng().normal(1.0, 1.0, size=300).round(2)),
    ],
)
def test_other_columns_are_no_list_of_values(x, y):
    shown = column_of(x, y)
    assert shown.density is not None and len(shown.values) == 0
    stored = np.concatenate([shown.limits, shown.quantiles.ravel(), shown.density.ravel()])
    assert not np.isin(stored, np.unique(np.concatenate([x, y]))[1:-1]).any() or (x == x.round(2)).all()


def test_ends_and_quantiles_are_not_those_of_the_rows():
    x, y = rng().normal(size=(2, 101))
    shown = column_of(x, y)
    pooled = np.concatenate([x, y])
    low, high = shown.limits
    assert low < pooled.min() and high > pooled.max()
    # Neither the ends nor the ends without their margin.
    margin = (high - low) * 0.05 / 1.1
    assert np.abs(np.subtract.outer([low, high, low + margin, high - margin], pooled)).min() > 1e-6
    assert np.isin(shown.quantiles, shown.places).all()
    expected = np.quantile(x, pictures.QUANTILES)
    np.testing.assert_allclose(shown.quantiles[0], expected, atol=(high - low) / 300)


def test_density_is_that_of_scipy():
    """With Silverman's bandwidth, by default that of the smaller of two spreads."""
    x = rng().normal(2.0, 3.0, size=400)
    at = np.linspace(-8.0, 12.0, 200)
    spread = min(x.std(), np.subtract(*np.quantile(x, (0.75, 0.25))) / 1.349)
    reference = gaussian_kde(x, bw_method=0.9 * spread * 400**-0.2 / x.std(ddof=1))
    np.testing.assert_allclose(kernel_density(x, at), reference(at), atol=0.01 * reference(at).max())


def test_density_integrates_to_the_share_of_the_rows_in_view():
    draw = rng()
    x = np.concatenate([np.zeros(80), draw.normal(5, 1, size=120)])
    y = np.concatenate([draw.normal(5, 1, size=195), np.full(5, 1e6)])
    shown = column_of(x, y)
    areas = shown.density.mean(axis=1)
    np.testing.assert_allclose(areas, [0.6, 0.975], atol=0.02)
    assert shown.values.tolist() == [0.0] and shown.counts.tolist() == [[80], [0]]
    assert shown.outside.tolist() == [[0, 0], [0, 5]]


def test_point_masses_are_taken_out_of_the_density():
    draw = rng()
    x = np.where(draw.random(300) < 0.4, 0.0, draw.lognormal(size=300))
    y = np.where(draw.random(200) < 0.1, 0.0, draw.lognormal(size=200))
    y[:40] = 2.5
    shown = column_of(x, y)
    assert shown.values.tolist() == [0.0, 2.5]
    assert shown.counts.tolist() == [[(x == 0).sum(), 0], [(y == 0).sum(), 40]]
    # Without them the densities are as smooth as those of the rest alone.
    rest = column_of(x[x != 0], np.setdiff1d(y, [0.0, 2.5]))
    width, of_rest = (one.limits[1] - one.limits[0] for one in (shown, rest))
    assert shown.density.max() / width < 1.05 * rest.density.max() / of_rest


@pytest.mark.parametrize("n", [20, 200, 2000])
def test_the_range_is_that_of_the_bulk(n):
    draw = rng()
    x, y = draw.normal(size=n), draw.normal(1.0, 1.0, size=n)
    low, high = limits_of(x, y)
    assert low < min(x.min(), y.min()) and high > max(x.max(), y.max())  # nothing of it is far away
    far = max(1, n // 100)
    x[:far] = 1e9 * (1 + np.arange(far))
    y[0] = -1e12
    shown = column_of(x, y)
    assert -6 < shown.limits[0] < shown.limits[1] < 7
    assert shown.outside.tolist() == [[0, far], [1, 0]]


def test_the_range_of_categories_has_others_where_there_are_any():
    assert limits_of(np.array([0.0, 1.0]), np.array([1.0]), codes=4) == (-0.6, 2.6)
    assert limits_of(np.array([3.0]), np.array([0.0]), codes=4) == (-0.6, 3.6)
    assert limits_of(np.array([0.0]), np.array([0.0]), codes=2) == (-0.6, 1.6)


def test_heavy_tails_leave_the_bulk_readable():
    x, y = rng().standard_cauchy(size=(2, 500))
    shown = column_of(x, y)
    assert 10 < shown.limits[1] - shown.limits[0] < 60
    inside = [np.sum((one >= shown.limits[0]) & (one <= shown.limits[1])) for one in (x, y)]
    assert (500 - shown.outside.sum(axis=1)).tolist() == inside and min(inside) > 460


def test_a_few_rows_that_lie_elsewhere_are_shown():
    """Of ten rows against many the range is theirs too."""
    low, high = limits_of(rng().normal(50.0, 1.0, size=10), rng().normal(size=2000))
    assert low < -3 and high > 51


@pytest.mark.parametrize("discrete", [False, True])
def test_cells_of_a_plane_count_the_rows(discrete):
    draw = rng()
    x, y = draw.normal(size=(150, 3)), draw.normal(size=(140, 3))
    if discrete:
        x[:, 2], y[:, 2] = draw.integers(0, 4, 150), draw.integers(0, 4, 140)
    x[0, 0] = 1e7
    plane = of_rows(x, y, [(0, 2)]).plane
    assert plane.columns == (0, 2) and plane.outside == (1, 0)
    (low, high), (bottom, top) = plane.limits
    edges = np.linspace(low, high, len(plane.first) + 1)
    other = np.linspace(bottom, top, len(plane.second) + 1) if not discrete else np.arange(-0.5, 4)
    for rows, counts in ((x, plane.counts[0]), (y, plane.counts[1])):
        expected, _, _ = np.histogram2d(rows[:, 0], rows[:, 2], bins=(edges, other))
        found = np.zeros_like(expected)
        found[tuple(plane.cells.T)] = counts
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("n", "most"), [(5, 8), (50, 13), (5000, 40)])
def test_cells_are_coarse(n, most):
    x, y = rng().normal(size=(2, n, 2))
    plane = of_rows(x, y, [(0, 1)]).plane
    assert len(plane.first) == len(plane.second) <= most


def test_principal_axes_hold_the_average_of_the_witness():
    x, y = rng().normal(size=(2, 60, 4))
    y[:, 0] += 2.0
    result = ts.test(x, y, subsets=None, keep_rows=True)
    plane = result.shown.plane
    assert plane.columns == () and result.shown.columns == ()
    assert plane.counts.sum() == 120 - sum(plane.outside)
    found = result.witness(np.concatenate([result.shown_x, result.shown_y]))
    if not any(plane.outside):
        total = plane.counts.sum(axis=0)
        assert (plane.witness[0] * total).sum() == pytest.approx(found.mean.sum(), abs=1e-4)
        assert (plane.witness[1] * total).sum() == pytest.approx(found.sd.sum(), rel=1e-4)
    variances = np.sort(np.linalg.eigvalsh(np.cov(((np.concatenate([x, y]) - result.center) / result.scale).T)))[::-1]
    np.testing.assert_allclose(plane.shares, variances[:2] / variances.sum(), atol=0.01)


def test_six_digits_are_kept():
    assert pictures.rounded(np.array([[1 / 3, 2e10 / 3]])).tolist() == [[0.333333, 6.66667e9]]


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e200, 1e300])
def test_any_unit(unit):
    x, y = unit * rng().normal(size=(2, 50))
    shown = column_of(x, y)
    assert np.isfinite(shown.density).all() and shown.limits[0] < shown.limits[1]
    assert shown.density[0].mean() == pytest.approx(1.0, abs=0.05)
