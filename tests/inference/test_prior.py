"""The covariance of the witness: ∫ k(z, u) k(u, z') ν(du) for both measures ν, against its definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from twosample import models
from twosample.data import View
from twosample.features.maps import PointFeatures
from twosample.inference import prior
from twosample.kernels import RBF

ADAPTIVE, PAPER, PUBLISHED = (models.resolve(name) for name in ("adaptive", "paper", "published"))
CENTER, SCALE = np.array([1.0, -2.0]), np.array([3.0, 0.1])
LENGTHSCALES = np.array([0.5, 2.0, 0.9])


def gaussian(rows, points, lengthscale):
    return np.exp(-((rows[:, None] - points) ** 2).sum(-1) / (2 * lengthscale**2))


def problem(s=7, w=5):
    """Locations in the units of the data, the same standardised, and features."""
    rng = np.random.default_rng(2)
    locations, points = rng.normal(size=(w, 2)), rng.normal(size=(s, 2))
    return locations * SCALE + CENTER, locations, PointFeatures(RBF(), View(CENTER, SCALE), points, typical=1.0)


def of_signed_measures(first, second, points, lengthscale):
    """E of Σ_j k(z, z_j) f_j · Σ_j k(z', z_j) f_j, f white noise of variance 1/s less its mean."""
    s = len(points)
    noise = np.eye(s) - np.ones((s, s)) / s  # covariance of √s (f_j less their mean)
    return gaussian(first, points, lengthscale) @ noise @ gaussian(second, points, lengthscale).T / s


def test_zero_sum_factor_of_any_matrix():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(3, 4, 6))
    factor = prior.zero_sum(K)
    assert factor.shape == (3, 4, 6)
    for F, one in zip(factor, K, strict=True):
        np.testing.assert_allclose(F, one @ (np.eye(6) - 1 / 6) / np.sqrt(6), atol=1e-15)
        np.testing.assert_allclose(F @ F.T, one @ (np.eye(6) - 1 / 6) @ one.T / 6, atol=1e-14)
    np.testing.assert_allclose(factor.sum(axis=-1), 0.0, atol=1e-14)


@pytest.mark.parametrize("nugget", [0.0, 0.25])
def test_covariances_on_the_points(nugget):
    _, _, features = problem()
    found = prior.covariances(replace(ADAPTIVE, prior_nugget=nugget), features, LENGTHSCALES)
    assert found.shape == (3, 7, 7)
    for R, lengthscale in zip(found, LENGTHSCALES, strict=True):
        expected = of_signed_measures(features.points, features.points, features.points, lengthscale)
        np.testing.assert_allclose(R, expected + nugget * np.eye(7), atol=1e-15)


def test_constant_differences_have_no_prior():
    """A measure of total zero moves nothing where the kernel is flat: R is as good as zero at long lengthscales."""
    _, _, features = problem()
    [R] = prior.covariances(ADAPTIVE, features, np.array([1e4]))
    assert np.abs(R).max() < 1e-15


def test_lebesgue_covariance_is_an_integral_over_the_plane():
    """In units in which r(z, z) = 1, by quadrature; the published model has a nugget of 1e-8."""
    _, _, features = problem()
    lengthscale = 0.8
    [of_paper] = prior.covariances(PAPER, features, np.array([lengthscale]))
    first, second = features.points[:2]

    def product(v, u):
        place = np.array([[u, v]])
        values = (gaussian(place, point[None], lengthscale)[0, 0] for point in (first, second))
        return np.prod(list(values))

    integral, _ = dblquad(product, -9, 9, -9, 9, epsabs=1e-9)
    assert of_paper[0, 1] * np.pi * lengthscale**2 == pytest.approx(integral, abs=1e-7)
    np.testing.assert_array_equal(np.diag(of_paper), 1.0)
    [of_published] = prior.covariances(PUBLISHED, features, np.array([lengthscale]))
    np.testing.assert_allclose(of_published - of_paper, 1e-8 * np.eye(7), atol=1e-15)


def test_lebesgue_variance_is_the_integral_of_the_squared_kernel():
    lengthscale = 0.6
    features = PointFeatures(RBF(), View.none(1), np.array([[0.0], [0.4]]), typical=1.0)
    integral, _ = quad(lambda u: np.exp(-(u**2) / lengthscale**2), -10, 10)
    found = PAPER.log_prior_variance(features, np.array([lengthscale, 3.0]))
    assert found[0] == pytest.approx(np.log(integral), rel=1e-10)
    for model in (ADAPTIVE, PUBLISHED):
        assert model.log_prior_variance(features, np.array([lengthscale, 3.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "model",
    [ADAPTIVE, PAPER, PUBLISHED, replace(ADAPTIVE, prior_nugget=0.25)],
    ids=["adaptive", "paper", "published", "nugget"],
)
def test_factors_reproduce_the_covariances(model):
    _, _, features = problem()
    F = prior.factors(model, features, LENGTHSCALES)
    assert F.shape == (3, 7, 7)
    np.testing.assert_allclose(F @ F.transpose(0, 2, 1), prior.covariances(model, features, LENGTHSCALES), atol=1e-13)


def test_factors_on_the_points_keep_what_the_covariance_hides():
    """Points 1e-6 apart: the difference of the witness between them has a variance of 1e-12 of that at either."""
    points = np.array([[0.0], [1e-6], [1.0]])
    features = PointFeatures(RBF(), View.none(1), points, typical=1.0)
    [F] = prior.factors(ADAPTIVE, features, np.array([1.0]))
    contrast = F[1] - F[0]
    # k'(u) at 0 is 0, and at distance 1 it is -u exp(-u²/2): of three values only the last changes.
    slope = np.array([0.0, 0.0, 1e-6 * np.exp(-0.5)])
    np.testing.assert_allclose(contrast, (slope - slope.mean()) / np.sqrt(3), rtol=1e-5)


def test_cross_covariance_and_variance_on_the_points():
    """Of the witness: differences on the points are white noise of variance 1/s that need not add up to zero."""
    rows, locations, features = problem()
    cross, variance, residual = prior.at_locations("points", features, rows, 0.7)
    of_locations, between = (gaussian(places, features.points, 0.7) for places in (locations, features.points))
    np.testing.assert_allclose(cross, of_locations @ between / 7, atol=1e-15)
    np.testing.assert_allclose(variance, np.diag(of_locations @ of_locations.T) / 7, atol=1e-15)
    unexplained = 1.0 - np.diag(of_locations @ np.linalg.solve(between, of_locations.T))
    np.testing.assert_allclose(residual, unexplained, atol=1e-5)  # equal points would make K singular


def test_cross_covariance_and_variance_of_lebesgue():
    rows, locations, features = problem()
    expected = gaussian(locations, features.points, np.sqrt(2) * 0.7)
    np.testing.assert_allclose(prior.at_locations("lebesgue", features, rows, 0.7)[0], expected, rtol=1e-13)
    assert prior.at_locations("lebesgue", features, rows, 0.7)[1].tolist() == [1.0] * 5


@pytest.mark.parametrize("measure", ["points", "lebesgue"])
def test_at_the_points_themselves_both_agree_with_the_covariance(measure):
    _, _, features = problem()
    model = replace(ADAPTIVE, measure=measure)
    rows = features.view.undo(features.points)
    [F] = prior.witness_factors(model, features, np.array([0.7]))
    R = F @ F.T
    np.testing.assert_allclose(prior.at_locations(measure, features, rows, 0.7)[0], R, atol=1e-13)
    np.testing.assert_allclose(prior.at_locations(measure, features, rows, 0.7)[1], np.diag(R), atol=1e-13)
