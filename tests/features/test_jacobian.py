import itertools

import mpmath
import numpy as np
import pytest

from twosample.features.jacobian import Jacobians
from twosample.kernels import RBF


def log_volumes(x, y, points, lengthscale):
    """Log vol J_i of each pair of rows at one lengthscale, (n,)."""
    jacobians = Jacobians(x, y, points, RBF())
    return jacobians.log_volumes(lengthscale, jacobians.values(lengthscale))


def jacobian(x, y, points, lengthscale):
    kernel_x = np.exp(-((x - points) ** 2).sum(1) / (2 * lengthscale**2))[:, None]
    kernel_y = np.exp(-((y - points) ** 2).sum(1) / (2 * lengthscale**2))[:, None]
    return np.hstack([-kernel_x * (x - points), kernel_y * (y - points)]) / lengthscale**2


def exact_log_volume(x, y, points, lengthscale):
    """By the Cauchy–Binet formula: the root of the sum of all squared minors, in 60 digits."""
    with mpmath.workdps(60):
        scale = mpmath.mpf(float(lengthscale))

        def exact(row):
            return [mpmath.mpf(float(value)) for value in row]

        def block(row, sign):
            result = []
            for point in points:
                difference = [a - b for a, b in zip(exact(row), exact(point), strict=True)]
                weight = mpmath.exp(-mpmath.fsum(d * d for d in difference) / (2 * scale**2)) / scale**2
                result.append([sign * weight * d for d in difference])
            return result

        def determinant(matrix):
            if len(matrix) == 1:
                return matrix[0][0]
            minors = ([row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix)))
            return mpmath.fsum((-1) ** j * matrix[0][j] * determinant(minor) for j, minor in enumerate(minors))

        rows = [a + b for a, b in zip(block(x, -1), block(y, 1), strict=True)]
        minors = (
            determinant([rows[i] for i in chosen]) for chosen in itertools.combinations(range(len(rows)), 2 * len(x))
        )
        return float(mpmath.log(mpmath.fsum(minor**2 for minor in minors)) / 2)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 5])
@pytest.mark.parametrize("lengthscale", [0.5, 1.0, 3.0])
def test_equal_to_singular_values(n_columns, lengthscale):
    rng = np.random.default_rng(n_columns)
    x, y, points = rng.normal(size=(20, n_columns)), rng.normal(size=(20, n_columns)), rng.normal(size=(30, n_columns))
    expected = [
        np.log(np.linalg.svd(jacobian(a, b, points, lengthscale), compute_uv=False)).sum()
        for a, b in zip(x, y, strict=True)
    ]
    np.testing.assert_allclose(log_volumes(x, y, points, lengthscale), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("lengthscale", [0.001, 0.01, 0.1, 1.0, 20.0])
def test_equal_to_high_precision_at_any_lengthscale(n_columns, lengthscale):
    """Down to a thousandth of the data's spread, where kernel values underflow and columns are nearly parallel."""
    rng = np.random.default_rng(7)
    x, y, points = rng.normal(size=(6, n_columns)), rng.normal(size=(6, n_columns)), rng.normal(size=(8, n_columns))
    y[:2] = x[:2] + 0.02 * rng.normal(size=(2, n_columns))
    expected = [exact_log_volume(a, b, points, lengthscale) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(log_volumes(x, y, points, lengthscale), expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_outlier_forty_lengthscales_away(n_columns):
    rng = np.random.default_rng(8)
    points = rng.normal(size=(8, n_columns))
    x, y = np.full((1, n_columns), 40.0), rng.normal(size=(1, n_columns))
    np.testing.assert_allclose(log_volumes(x, y, points, 1.0), [exact_log_volume(x[0], y[0], points, 1.0)], rtol=1e-12)


def test_two_nearest_points_shared_by_both_rows():
    """The heaviest rows of J must be divided between x and y, or the small terms that matter are rounded away."""
    points = np.array([[0.0, 0.0], [0.6, 0.1], [3.0, 0.2], [0.1, 3.5], [-4.0, 1.0]])
    x, y = np.array([[0.2, -0.3]]), np.array([[-0.1, 0.4]])
    expected = exact_log_volume(x[0], y[0], points, 1e-3)
    np.testing.assert_allclose(log_volumes(x, y, points, 1e-3), [expected], rtol=1e-12)


def test_equal_rows_have_no_volume():
    points = np.arange(5.0)[:, None]
    x = np.array([[0.5], [1.5]])
    assert log_volumes(x, x, points, 1.0).tolist() == [-np.inf, -np.inf]


def test_points_on_a_line_through_both_rows_have_no_volume():
    points = np.outer(np.linspace(-1, 1, 9), [1.0, 2.0])
    volumes = log_volumes(np.array([[0.05, 0.1]]), np.array([[0.7, 1.4]]), points, 1.0)
    assert volumes.tolist() == [-np.inf]


@pytest.mark.parametrize("lengthscale", [0.7, 0.02])
def test_given_kernel_values_change_nothing(lengthscale):
    rng = np.random.default_rng(9)
    x, y, points = rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), rng.normal(size=(6, 2))
    distances = [((rows[:, None] - points) ** 2).sum(-1) for rows in (x, y)]
    kernel = [np.exp(-d / (2 * lengthscale**2)) for d in distances]
    jacobians = Jacobians(x, y, points, RBF())
    for own, given in zip(jacobians.values(lengthscale), kernel, strict=True):
        np.testing.assert_allclose(own, given, rtol=1e-13)
    expected = log_volumes(x, y, points, lengthscale)
    np.testing.assert_allclose(jacobians.log_volumes(lengthscale, tuple(kernel)), expected, rtol=1e-13)
    np.testing.assert_allclose(jacobians.log_volumes(lengthscale, jacobians.values(lengthscale)), expected, rtol=1e-13)


def test_lattice_points_at_a_lengthscale_that_underflows():
    """The nearest points of a lattice lie along one column, whose other entries are zero; the next underflow."""
    grid = np.array([(a, b) for a in range(-3, 4) for b in range(-3, 4)], dtype=float)
    x, y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[2.0, -1.0], [-3.0, 2.0]])
    for lengthscale in (0.02, 0.05, 1.0):
        jacobians = Jacobians(x, y, grid, RBF())
        values = jacobians.values(lengthscale)
        bounds, volumes = (find(lengthscale, values) for find in (jacobians.log_volume_bounds, jacobians.log_volumes))
        assert np.isfinite(bounds).all()
        assert (bounds >= volumes - 1e-9).all()


def log_volume_from_gram_matrix(x, y, points, lengthscale):
    """½ log det JᵀJ with so many digits that nothing is lost."""
    with mpmath.workdps(1000):
        columns = []
        for row, sign in ((x, -1), (y, 1)):
            differences = [
                [mpmath.mpf(float(a)) - mpmath.mpf(float(b)) for a, b in zip(row, point, strict=True)]
                for point in points
            ]
            scale = mpmath.mpf(lengthscale)
            weights = [mpmath.exp(-mpmath.fsum(d * d for d in row) / (2 * scale**2)) / scale**2 for row in differences]
            columns += [[sign * w * d[k] for w, d in zip(weights, differences, strict=True)] for k in range(len(row))]
        gram = mpmath.matrix([[mpmath.fdot(a, b) for a in columns] for b in columns])
        return float(mpmath.log(mpmath.det(gram)) / 2)


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("lengthscale", [1.0, 2.5, 40.0])
@pytest.mark.parametrize("n_columns", [2, 5, 8])
def test_rows_of_very_different_sizes(n_columns, lengthscale, permuted):
    """Most points are in other blobs than the pair, with kernel values down to e⁻⁸⁰⁰."""
    rng = np.random.default_rng(0)
    centres = np.array([(10, 10), (10, 30), (30, 10), (30, 30)])[np.arange(40) % 4]
    points, x, y = rng.normal(size=(3, 40, n_columns))
    for rows in (points, x, y):
        rows[:, :2] += centres
    y = y[::-1] if permuted else y
    expected = [log_volume_from_gram_matrix(a, b, points, lengthscale) for a, b in zip(x[:2], y[:2], strict=True)]
    np.testing.assert_allclose(log_volumes(x[:2], y[:2], points, lengthscale), expected, rtol=0, atol=1e-8)
