import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.distance import cdist

from twosample.kernels import (
    _chains,
    features,
    log_prior_variance,
    prior_covariance,
    prior_variance,
    squared_distances,
)


@pytest.mark.parametrize("n_columns", [1, 2, 7])
def test_squared_distances_equal_scipy(n_columns):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, n_columns)), rng.normal(size=(11, n_columns))
    np.testing.assert_allclose(squared_distances(a, b), cdist(a, b, "sqeuclidean"), rtol=1e-13)


def test_squared_distances_keep_small_differences_far_from_the_origin():
    a, b = np.array([[1e8, 1e8]]), np.array([[1e8 + 2**-20, 1e8]])
    assert squared_distances(a, b)[0, 0] == 2.0**-40


@pytest.mark.parametrize(
    "lengthscales",
    [4 * 2.0 ** (-np.arange(14) / 2), np.geomspace(0.1, 3, 9), 2.0 ** (-np.arange(20) / 4), np.array([0.7])],
)
def test_features_equal_the_formula_on_any_grid(lengthscales):
    rng = np.random.default_rng(1)
    lengthscales = rng.permutation(lengthscales)
    distances = rng.exponential(size=(50, 6))
    seen = {}
    for index, values in features(distances, lengthscales):
        seen[index] = values.copy()
    assert sorted(seen) == list(range(len(lengthscales)))
    for index, lengthscale in enumerate(lengthscales):
        np.testing.assert_allclose(seen[index], np.exp(-distances / (2 * lengthscale**2)), rtol=2e-12, atol=1e-300)


def test_geometric_grid_needs_few_exponentials():
    assert len(_chains(4 * 2.0 ** (-np.arange(14) / 2))) == 2
    assert len(_chains(np.geomspace(0.1, 3, 9))) == 9


def test_lebesgue_prior_is_the_kernel_convolved_with_itself():
    """r(z,z') = ∫ k(z,u) k(u,z') du, in one dimension by quadrature."""
    lengthscale, z, other = 0.8, 0.3, 1.1
    integral, _ = quad(lambda u: np.exp(-((z - u) ** 2 + (u - other) ** 2) / (2 * lengthscale**2)), -20, 20)
    variance = np.exp(log_prior_variance(np.array(lengthscale), 1))
    distances = np.array([[(z - other) ** 2]])
    covariance = variance * prior_covariance("lebesgue", distances, np.zeros((1, 1)), lengthscale)
    assert covariance[0, 0] == pytest.approx(integral, rel=1e-10)
    assert prior_variance("lebesgue", distances, lengthscale).tolist() == [1.0]


def test_points_prior_is_the_law_of_a_random_signed_measure():
    """Its covariance is that of Σ_j k(z, z_j) f_j / √s with f white noise made to add up to zero."""
    rng = np.random.default_rng(2)
    points, locations, lengthscale = rng.normal(size=(6, 2)), rng.normal(size=(4, 2)), 0.7
    kernel = [np.exp(-cdist(rows, points, "sqeuclidean") / (2 * lengthscale**2)) for rows in (locations, points)]
    projection = np.eye(6) - 1 / 6
    between, from_points = cdist(points, points, "sqeuclidean"), cdist(locations, points, "sqeuclidean")
    np.testing.assert_allclose(
        prior_covariance("points", from_points, between, lengthscale),
        kernel[0] @ projection @ kernel[1].T / 6,
        atol=1e-15,
    )
    expected = np.diag(kernel[0] @ projection @ kernel[0].T / 6)
    np.testing.assert_allclose(prior_variance("points", from_points, lengthscale), expected, atol=1e-15)
